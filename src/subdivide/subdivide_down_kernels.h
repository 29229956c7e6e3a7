/* The kernels of subdivide_down.c, the only file that includes this one. */

/* clang-format off */

/* ---- what is split --------------------------------------------------------------------------- */

/* Errors: the criterion's largest value on the edges of triangle t. */

TML_KERNEL_WITH(subdivide, float, subdiv_length,
                (tml_index t, tml_words halves, tml_words limits), {
    float worst = 0.0f;
    for (uint h = 3u * U(t); h < 3u * U(t) + 3u; h++) {
        vec3 a = loop_point(limits, loop_low_end(halves, h));
        vec3 b = loop_point(limits, loop_high_end(halves, h));
        worst = max(worst, length3(sub3(b, a)));
    }
    return worst;
})
/* subdiv_depth: w of a point in clip space. subdiv_nearest: the camera, whose word 18, the smallest
 * w that counts, becomes a 1000th of the largest w. */
TML_KERNEL_WITH(subdivide, float, subdiv_depth, (vec3 p, tml_words camera), {
    return loop_project(p, camera).w;
})
TML_KERNEL_WITH(subdivide, float, subdiv_nearest, (float word, tml_index i, tml_words farthest), {
    return U(i) == 18u ? max(tml_word_float(farthest, 0u) * 1e-3f, 1e-30f) : word;
})
TML_KERNEL_WITH(subdivide, float, subdiv_pixels,
                (tml_index t, tml_words halves, tml_words limits, tml_words camera), {
    float worst = 0.0f;
    for (uint h = 3u * U(t); h < 3u * U(t) + 3u; h++) {
        vec4 a = loop_project(loop_point(limits, loop_low_end(halves, h)), camera);
        vec4 b = loop_project(loop_point(limits, loop_high_end(halves, h)), camera);
        vec4 c = loop_project(loop_point(limits, loop_origin(halves, loop_prev(h))), camera);
        if (tml_word(camera, 19u) == 0u && loop_is_unseen(a, b, c))
            return 0.0f;
        worst = max(worst, loop_pixels(a, b, camera));
    }
    return worst;
})
/* The limit position of the vertex that would split the edge of each half-edge. kept: made by
 * subdiv_kept. */
TML_KERNEL_WITH(subdivide, vec3, subdiv_middle_ahead,
                (tml_index h, tml_words halves, tml_words positions, tml_words kept,
                 tml_params p), {
    uint first = loop_first(halves, U(h));
    return loop_xyz(loop_centre_limit(
        loop_centre_ahead(first, halves, positions, kept, 3u, p.u[2]), p.u[2]));
})
TML_KERNEL_WITH(subdivide, float, subdiv_distance,
                (tml_index t, tml_words halves, tml_words limits, tml_words middles), {
    float worst = 0.0f;
    for (uint h = 3u * U(t); h < 3u * U(t) + 3u; h++) {
        vec3 a = loop_point(limits, loop_low_end(halves, h));
        vec3 b = loop_point(limits, loop_high_end(halves, h));
        vec3 m = loop_above(a, b, loop_point(middles, h), loop_wings_at(h, halves, limits));
        worst = max(worst, loop_height(a, b, m));
    }
    return worst;
})
TML_KERNEL_WITH(subdivide, float, subdiv_angle,
                (tml_index t, tml_words halves, tml_words limits, tml_words middles), {
    float worst = 0.0f;
    for (uint h = 3u * U(t); h < 3u * U(t) + 3u; h++) {
        vec3 a = loop_point(limits, loop_low_end(halves, h));
        vec3 b = loop_point(limits, loop_high_end(halves, h));
        loop_wings wings = loop_wings_at(h, halves, limits);
        vec3 m = loop_above(a, b, loop_point(middles, h), wings);
        worst = max(worst, max(loop_turn(a, b, m), loop_angle(wings.left, wings.right)));
    }
    return worst;
})
/* The limit positions of an edge's ends. The lower vertex is first, so both half-edges give the
 * same result. subdiv_worst: the largest error of a triangle's edges. */
TML_KERNEL_WITH(subdivide, vec3, subdiv_low_end,
                (tml_index h, tml_words halves, tml_words limits), {
    return loop_point(limits, loop_low_end(halves, U(h)));
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_high_end,
                (tml_index h, tml_words halves, tml_words limits), {
    return loop_point(limits, loop_high_end(halves, U(h)));
})
TML_KERNEL_WITH(subdivide, float, subdiv_worst, (tml_index t, tml_words errors), {
    return max(tml_word_float(errors, 3u * U(t)),
               max(tml_word_float(errors, 3u * U(t) + 1u), tml_word_float(errors, 3u * U(t) + 2u)));
})
/* 1 for triangles at a vertex with a semi-sharp crease or corner, whose sharpness still
 * decreases. */
TML_KERNEL_WITH(subdivide, uint, subdiv_wearing,
                (tml_index t, tml_words halves, tml_words vertices), {
    for (uint h = 3u * U(t); h < 3u * U(t) + 3u; h++)
        if (loop_is_wearing(loop_origin(halves, h), halves, vertices))
            return 1u;
    return 0u;
})
/* Marks of wanted triangles.
 * list, wants  of the level before
 * params       f[0]: the threshold; u[0]: the level */
TML_KERNEL_WITH(subdivide, uint, subdiv_want,
                (tml_index t, float error, tml_words list, tml_words wants, tml_params p), {
    return error > p.f[0] && loop_inherits(U(t), p.u[0], list, wants) ? 1u : 0u;
})
TML_KERNEL_WITH(subdivide, uint, subdiv_want_wearing,
                (tml_index t, float error, uint wearing, tml_words list, tml_words wants,
                 tml_params p), {
    return (error > p.f[0] || wearing != 0u) && loop_inherits(U(t), p.u[0], list, wants) ? 1u : 0u;
})
TML_KERNEL_WITH(subdivide, uint, subdiv_touch,
                (tml_index i, tml_words halves, tml_words vertices, tml_words wants), {
    return loop_touches(U(i), halves, vertices, wants) ? 1u : 0u;
})
TML_KERNEL_WITH(subdivide, uint, subdiv_select,
                (tml_index t, tml_words halves, tml_words touched), {
    uint h = 3u * U(t);
    uint corners = tml_word(touched, loop_origin(halves, h)) +
                   tml_word(touched, loop_origin(halves, h + 1u)) +
                   tml_word(touched, loop_origin(halves, h + 2u));
    return corners > 0u ? 1u : 0u;
})
/* The LEVEL_... sizes of the next level. params.u[0]: room for selected triangles; if there are
 * more, the level is not refined. params.u[1]: 1 at level 0, which has no sizes. */
TML_KERNEL_WITH(subdivide, uint, subdiv_sizes,
                (tml_index i, tml_words selected, tml_words sizes, tml_params p), {
    uint count = tml_word(selected, 0u);
    bool is_short = count > p.u[0];
    if (U(i) == LEVEL_SHORT)
        return is_short || (p.u[1] == 0u && tml_word(sizes, LEVEL_SHORT) != 0u) ? 1u : 0u;
    return is_short ? 0u : (U(i) == LEVEL_HALVES ? 12u : 4u) * count;
})
/* The index of a triangle among the refined ones. */
TML_KERNEL_WITH(subdivide, uint, subdiv_place,
                (uint is_selected, uint rank, tml_words next_sizes), {
    return is_selected != 0u && tml_word(next_sizes, LEVEL_TRIANGLES) != 0u ? rank : LOOP_NONE;
})
TML_KERNEL_WITH(subdivide, bool, subdiv_is_marked, (uint mark), {
    return mark != 0u;
})

/* ---- the next level -------------------------------------------------------------------------- */

/* params.u: room for vertices, unused, flags. */

TML_KERNEL_WITH(subdivide, uint, subdiv_own,
                (tml_index h, tml_words halves, tml_words mesh_halves, tml_words places), {
    return loop_owns_middle(U(h), halves, mesh_halves, places) ? 1u : 0u;
})
TML_KERNEL_WITH(subdivide, uvec4, subdiv_middle,
                (tml_index h, uvec4 half_edge, tml_words owns, tml_words numbers, tml_params p), {
    uint first = min(U(h), half_edge.y);
    uint number = tml_word(numbers, first);
    uint vertex = number < p.u[0] ? number : 0u; /* else the run is repeated */
    uint middle = tml_word(owns, first) != 0u ? vertex : LOOP_NONE;
    return UVEC4(half_edge.x, half_edge.y, middle, half_edge.w);
})
TML_KERNEL_WITH(subdivide, uvec4, subdiv_part_half,
                (tml_index i, tml_words halves, tml_words list, tml_words places), {
    uint f = tml_word(list, U(i) / 12u);
    uint twin = loop_placed(loop_twin(halves, loop_child_side(U(i), f)), places);
    uvec4 child = loop_child_half(U(i), f, twin, halves, 0u, 0u);
    return UVEC4(child.x, child.y, LOOP_NONE, child.w);
})
TML_KERNEL_WITH(subdivide, uvec4, subdiv_part_vertex,
                (tml_index i, uint first, tml_words vertices, tml_words halves, tml_words places,
                 tml_params p), {
    uint at = 4u * U(i);
    if (loop_is_half(first))
        return loop_new_placed_vertex(first, halves, places, p.u[2]);
    return loop_placed_vertex(UVEC4(tml_word(vertices, at), tml_word(vertices, at + 1u),
                                    tml_word(vertices, at + 2u), tml_word(vertices, at + 3u)),
                              places);
})
/* A value that a triangle of the next level inherits from its parent. */
TML_KERNEL_WITH(subdivide, uint, subdiv_inherit, (tml_index i, tml_words list, tml_words marks), {
    return tml_word(marks, tml_word(list, U(i) / 4u));
})
TML_KERNEL_WITH(subdivide, uint, subdiv_position, (tml_index i), {
    return U(i);
})
/* The tally, where words params.u[0], [1] and [2] become the counts a, b and c. */
TML_KERNEL_WITH(subdivide, uint, subdiv_note,
                (uint word, tml_index i, tml_words a, tml_words b, tml_words c, tml_params p), {
    uint with_c = U(i) == p.u[2] ? tml_word(c, 0u) : word;
    uint with_b = U(i) == p.u[1] ? tml_word(b, 0u) : with_c;
    return U(i) == p.u[0] ? tml_word(a, 0u) : with_b;
})
/* The word params.u[0]. */
TML_KERNEL_WITH(subdivide, uint, subdiv_fill, (tml_params p), {
    return p.u[0];
})
TML_KERNEL_WITH(subdivide, uint, subdiv_copy_mark, (uint mark), {
    return mark;
})
/* Positions in the next level of the vertices that are in this level, too. */
TML_KERNEL_WITH(subdivide, vec3, subdiv_kept,
                (tml_index i, tml_words halves, tml_words vertices, tml_words positions,
                 tml_params p), {
    return loop_xyz(loop_vertex_point(U(i), halves, vertices, positions, 3u, p.u[2]));
})
TML_KERNEL_WITH(subdivide, float, subdiv_new_limit_1,
                (uint first, tml_words halves, tml_words values, tml_words next_values,
                 tml_params p), {
    return loop_new_limit(first, halves, values, next_values, 1u, p.u[2]).x;
})
TML_KERNEL_WITH(subdivide, vec2, subdiv_new_limit_2,
                (uint first, tml_words halves, tml_words values, tml_words next_values,
                 tml_params p), {
    vec4 v = loop_new_limit(first, halves, values, next_values, 2u, p.u[2]);
    return VEC2(v.x, v.y);
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_new_limit_3,
                (uint first, tml_words halves, tml_words values, tml_words next_values,
                 tml_params p), {
    vec4 v = loop_new_limit(first, halves, values, next_values, 3u, p.u[2]);
    return VEC3(v.x, v.y, v.z);
})
TML_KERNEL_WITH(subdivide, vec4, subdiv_new_limit_4,
                (uint first, tml_words halves, tml_words values, tml_words next_values,
                 tml_params p), {
    return loop_new_limit(first, halves, values, next_values, 4u, p.u[2]);
})
TML_KERNEL_WITH(subdivide, float, subdiv_worn_limit_1,
                (tml_index i, tml_words limits, tml_words halves, tml_words vertices,
                 tml_words next_values, tml_params p), {
    return loop_worn_limit(U(i), limits, halves, vertices, next_values, 1u, p.u[2]).x;
})
TML_KERNEL_WITH(subdivide, vec2, subdiv_worn_limit_2,
                (tml_index i, tml_words limits, tml_words halves, tml_words vertices,
                 tml_words next_values, tml_params p), {
    vec4 v = loop_worn_limit(U(i), limits, halves, vertices, next_values, 2u, p.u[2]);
    return VEC2(v.x, v.y);
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_worn_limit_3,
                (tml_index i, tml_words limits, tml_words halves, tml_words vertices,
                 tml_words next_values, tml_params p), {
    vec4 v = loop_worn_limit(U(i), limits, halves, vertices, next_values, 3u, p.u[2]);
    return VEC3(v.x, v.y, v.z);
})
TML_KERNEL_WITH(subdivide, vec4, subdiv_worn_limit_4,
                (tml_index i, tml_words limits, tml_words halves, tml_words vertices,
                 tml_words next_values, tml_params p), {
    return loop_worn_limit(U(i), limits, halves, vertices, next_values, 4u, p.u[2]);
})
/* Values of the next level. kept: of this level's vertices. fresh: of new vertices. */
TML_KERNEL_WITH(subdivide, float, subdiv_join_1,
                (tml_index i, uint first, tml_words kept, tml_words fresh), {
    return loop_joined(U(i), first, kept, fresh, 1u).x;
})
TML_KERNEL_WITH(subdivide, vec2, subdiv_join_2,
                (tml_index i, uint first, tml_words kept, tml_words fresh), {
    vec4 v = loop_joined(U(i), first, kept, fresh, 2u);
    return VEC2(v.x, v.y);
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_join_3,
                (tml_index i, uint first, tml_words kept, tml_words fresh), {
    vec4 v = loop_joined(U(i), first, kept, fresh, 3u);
    return VEC3(v.x, v.y, v.z);
})
TML_KERNEL_WITH(subdivide, vec4, subdiv_join_4,
                (tml_index i, uint first, tml_words kept, tml_words fresh), {
    return loop_joined(U(i), first, kept, fresh, 4u);
})
/* As subdiv_new_limit_3 of positions, with the normal there. */
TML_KERNEL_OUTS_WITH(subdivide, (vec3 limit, vec3 normal), subdiv_new_point,
                     (uint first, tml_words halves, tml_words positions, tml_words next_positions,
                      tml_params p), {
    subdiv_new_point_out o;
    o.limit = VEC3(0.0f, 0.0f, 0.0f);
    o.normal = o.limit;
    if (loop_is_half(first)) {
        loop_centre c = loop_centre_ahead(first, halves, positions, next_positions, 3u, p.u[2]);
        o.limit = loop_xyz(loop_centre_limit(c, p.u[2]));
        o.normal = loop_centre_normal(c, p.u[2]);
    }
    return o;
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_wearing_normal,
                (tml_index i, tml_words halves, tml_words vertices, tml_words next_positions,
                 tml_words turns), {
    if (!loop_wears_here(U(i), halves, vertices))
        return VEC3(0.0f, 0.0f, 0.0f);
    return loop_vertex_normal(U(i), halves, vertices, next_positions, turns, 0u, LOOP_REFINED);
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_worn_normal,
                (tml_index i, vec3 normal, tml_words worn, tml_words halves, tml_words vertices), {
    if (loop_wears_here(U(i), halves, vertices))
        return loop_point(worn, U(i));
    return normal;
})

/* clang-format on */
