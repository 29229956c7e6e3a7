/* The kernels of subdivide_up.c, the only file that includes this one. */

/* clang-format off */

/* ---- what comes out -------------------------------------------------------------------------- */

TML_KERNEL_WITH(subdivide, uint, subdiv_red,
                (uint want, uint place, tml_words next_halves, tml_words next_reds), {
    if (place == LOOP_NONE) /* also what is wanted, at a level that is not refined */
        return 0u;
    if (want != 0u)
        return 1u;
    for (uint h = 12u * place; h < 12u * place + 12u; h++) {
        uint twin = loop_twin(next_halves, h);
        if (loop_is_half(twin) && tml_word(next_reds, twin / 3u) != 0u)
            return 1u;
    }
    return 0u;
})
/* list, red_parents: of the level before. params.u[0]: the level. */
TML_KERNEL_WITH(subdivide, uint, subdiv_leaf,
                (tml_index t, tml_words list, tml_words red_parents, tml_words halves,
                 tml_words reds,
                 tml_params p), {
    bool is_there = tml_word(reds, U(t)) == 0u && loop_inherits(U(t), p.u[0], list, red_parents);
    return is_there ? loop_leaf_code(U(t), halves, reds) : 0u;
})
TML_KERNEL_WITH(subdivide, float, subdiv_leaf_error, (uint code, float error), {
    return code != 0u ? error : 0.0f;
})
TML_KERNEL_WITH(subdivide, uint, subdiv_leaf_count, (uint code), {
    return code == 0u ? 0u : 1u + popcount32(code & 7u);
})
TML_KERNEL_WITH(subdivide, uint, subdiv_used,
                (uint first, uint used, tml_words mesh_halves, tml_words reds), {
    if (!loop_is_half(first))
        return used;
    return loop_edge_touches(first, mesh_halves, reds) ? 1u : 0u;
})
TML_KERNEL_WITH(subdivide, uvec3, subdiv_green,
                (uint code, tml_index t, tml_rank k, tml_words halves, tml_words numbers), {
    uvec3 corners = loop_green(U(t), code, k, halves);
    return UVEC3(tml_word(numbers, corners.x), tml_word(numbers, corners.y),
                 tml_word(numbers, corners.z));
})
TML_KERNEL_WITH(subdivide, uvec3, subdiv_sliver,
                (uint code, tml_index t, tml_rank k, tml_words halves, tml_words numbers), {
    uvec3 corners = loop_sliver(U(t), code, k, halves);
    return UVEC3(tml_word(numbers, corners.x), tml_word(numbers, corners.y),
                 tml_word(numbers, corners.z));
})
/* The report of an enqueued call: vertices, triangles, and TML_SUBDIVIDE_SHORT_... bits. params.u:
 * room for vertices; room for triangles; whether a level was refined, so that the next one has
 * sizes. */
TML_KERNEL_WITH(subdivide, uint, subdiv_counts,
                (tml_index i, tml_words vertices, tml_words triangles, tml_words sizes,
                 tml_params p), {
    if (U(i) < 2u)
        return U(i) == 0u ? tml_word(vertices, 0u) : tml_word(triangles, 0u);
    uint is_short = p.u[2] != 0u && tml_word(sizes, LEVEL_SHORT) != 0u ? 4u : 0u;
    return (tml_word(vertices, 0u) > p.u[0] ? 1u : 0u) +
           (tml_word(triangles, 0u) > p.u[1] ? 2u : 0u) + is_short;
})
TML_KERNEL_WITH(subdivide, uint, subdiv_count_channel,
                (tml_index i, uint word, tml_words values, tml_params p), {
    return U(i) == 2u && tml_word(values, 0u) > p.u[0] ? word | 1u : word;
})
TML_KERNEL_WITH(subdivide, uint, subdiv_draw, (tml_index i, tml_words triangles, tml_params p), {
    uint count = min(tml_word(triangles, 0u), p.u[1]);
    return U(i) == 0u ? 3u * count : U(i) == 1u ? 1u : 0u;
})
TML_KERNEL_WITH(subdivide, uvec2, subdiv_origin, (uint code, uint origin, tml_params p), {
    return UVEC2(origin, p.u[0] + 0u * code);
})
/* clang-format on */
