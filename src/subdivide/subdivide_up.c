/* Adaptive refinement, the way up: finds the triangles that are split and the leaves, and writes
 * the leaves (subdivide_adaptive.c). */
#include "subdivide/subdivide_adaptive.h"
#include "subdivide/subdivide_kernels.h"

/* Requires the formulas that subdivide_kernels.h includes. */
#include "subdivide/subdivide_up_kernels.h"

#include "kernels/kernel_end.h"

/* ---- up: what is split, and what leaves ------------------------------------------------------ */

/* Finds reds: marks of the triangles of level l that are split in four. The finest level has
 * none. */
static void redden(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_length length = adaptive_triangles(run, l);
    if (l == run->depth)
        adaptive_fill(run, 0, length, adaptive_room(run, &level->reds, TML_U32, length.count));
    else
        adaptive_map(run, length, &level->reds,
                     &(tml_map_desc){
                         .kernel = TML_USE(subdiv_red),
                         .in = {level->wants, level->places, level[1].halves[0], level[1].reds}});
}

/* Finds codes: loop_leaf_code for each leaf of level l, and 0 for other triangles. */
static void find_leaves(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_buffer halves = adaptive_halves(run, l, 0); /* for arrays that level 0 does not read */
    adaptive_map(run, adaptive_triangles(run, l), &level->codes,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_leaf),
                                 .params = (tml_params){.u = {l}},
                                 .in = {l == 0 ? halves : level[-1].list,
                                        l == 0 ? halves : level[-1].reds, halves, level->reds}});
}

/* Finds the largest error of level l's leaves, and the number of triangles that they make. */
static void count_leaves(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_length length = adaptive_triangles(run, l);
    adaptive_map(
        run, length, &run->arrays->leaf_errors,
        &(tml_map_desc){.kernel = TML_USE(subdiv_leaf_error), .in = {level->codes, level->errors}});
    if (length.count == 0)
        return;
    adaptive_reduce_max(run, run->arrays->leaf_errors, length,
                        adaptive_count_room(run, adaptive_tally_place(l, TALLY_WORST), TML_F32));
    adaptive_take_count(run, adaptive_tally_place(l, TALLY_WORST));
    tml_buffer total = adaptive_count_room(run, adaptive_tally_place(l, TALLY_LEAVES), TML_U32);
    program_expand(&run->p, &(tml_expand_desc){.count_kernel = TML_USE(subdiv_leaf_count),
                                               .in = {level->codes},
                                               .length = length,
                                               .total = total});
    adaptive_take_count(run, adaptive_tally_place(l, TALLY_LEAVES));
}

void adaptive_go_up(adaptive_run *run)
{
    for (uint32_t l = run->depth + 1; l-- > 0;)
        redden(run, l);
    for (uint32_t l = 0; l <= run->depth; l++) {
        find_leaves(run, l);
        if (!run->level_room)
            count_leaves(run, l);
    }
}

void adaptive_number_vertices(adaptive_run *run)
{
    adaptive_arrays *arrays = run->arrays;
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++) {
        tml_length length = adaptive_vertices(run, run->depth, t);
        const tml_buffer used = adaptive_room(run, &arrays->used[t], TML_U32, length.count);
        adaptive_fill(run, 1, adaptive_vertices(run, 0, t), used);
        for (uint32_t l = 0; l < run->depth; l++)
            if (run->levels[l + 1].vertices[t])
                program_map(&run->p, &(tml_map_desc){.kernel = TML_USE(subdiv_used),
                                                     .in = {arrays->levels[l].firsts[t], used,
                                                            adaptive_halves(run, l, 0),
                                                            arrays->levels[l].reds},
                                                     .length = adaptive_vertices(run, l + 1, t),
                                                     .out = {used}});
        run->vertex_count[t] = adaptive_rank_marks(run, used, length, (tml_buffer){0, 0},
                                                   &arrays->used_numbers[t], TALLY_USED + t);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

/* Writes the elements that emit makes from each leaf, beginning with the finest level. */
static void expand_leaves(adaptive_run *run, const tml_kernel *emit, uint32_t t, tml_buffer out)
{
    const part_level *levels = run->arrays->levels;
    bool is_origin = emit == TML_USE(subdiv_origin);
    tml_buffer written = adaptive_room(run, &run->arrays->written, TML_U32, 1), none = {0, 0};
    bool is_first = true;
    for (uint32_t l = run->depth + 1; l-- > 0;) {
        tml_length length = adaptive_triangles(run, l);
        if (length.count == 0 || (!run->is_counted && run->level_leaves[l] == 0))
            continue;
        tml_expand_desc desc = {.count_kernel = TML_USE(subdiv_leaf_count),
                                .emit_kernel = emit,
                                .params = adaptive_params(l, 0),
                                .in = {levels[l].codes},
                                .length = length,
                                .out = {out},
                                .out_first = is_first ? none : written,
                                .total = written};
        desc.in[1] = is_origin ? levels[l].origins : adaptive_halves(run, l, t);
        if (!is_origin)
            desc.in[2] = run->arrays->used_numbers[t];
        program_expand(&run->p, &desc);
        is_first = false;
    }
    if (is_first)
        adaptive_fill(run, 0, tml_length_of(1), written);
}

void adaptive_write_triangles(adaptive_run *run, const tml_subdivide_buffers *buffers)
{
    const tml_kernel *emit = run->desc->slivers ? TML_USE(subdiv_sliver) : TML_USE(subdiv_green);
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        expand_leaves(run, emit, t, subdivide_indices_of(run->subdivider, buffers, t));
    if (run->desc->origins)
        expand_leaves(run, TML_USE(subdiv_origin), 0, buffers->origins);
}

void adaptive_write_vertices(adaptive_run *run, const tml_subdivide_buffers *buffers)
{
    adaptive_arrays *arrays = run->arrays;
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++) {
        const tml_compact_desc none = {.keep = adaptive_marked(arrays->used[t]),
                                       .length = adaptive_vertices(run, run->depth, t)};
        tml_compact_desc desc = none;
        uint32_t payloads = 0;
        if (none.length.count == 0)
            continue;
        for (uint32_t v = 0; v < run->subdivider->value_count; v++) {
            if (run->subdivider->values[v].topology != t)
                continue;
            desc.payloads[payloads++] =
                (tml_payload){adaptive_limits(run, run->depth, v),
                              subdivide_output_of(run->subdivider, buffers, v)};
            if (payloads == TML_MAX_PAYLOADS) {
                program_compact(&run->p, &desc);
                desc = none;
                payloads = 0;
            }
        }
        if (t == 0 && run->desc->normals)
            desc.payloads[payloads++] =
                (tml_payload){arrays->normals[run->depth % 2], buffers->mesh.normals};
        if (payloads)
            program_compact(&run->p, &desc);
    }
}

/* ---- the report of an enqueued run ----------------------------------------------------------- */

static uint64_t room_of(const adaptive_run *run, tml_buffer buffer, uint64_t most)
{
    const tml_slot *slot = tml_slot_of(run->tml, buffer);
    return slot ? TML_MIN_OF(slot->count, most) : most;
}

/* The number of vertices that fit in every output of the mesh. */
static uint64_t vertex_room(const adaptive_run *run, const tml_subdivide_buffers *to)
{
    uint64_t most = room_of(run, to->mesh.positions, UINT32_MAX);
    most = room_of(run, to->mesh.normals, most);
    for (uint32_t a = 0; a < TML_SUBDIVIDE_MAX_ATTRIBUTES; a++)
        most = room_of(run, to->attributes[a], most);
    return most;
}

uint64_t adaptive_triangle_room(const adaptive_run *run, const tml_subdivide_buffers *to)
{
    uint64_t most = room_of(run, to->origins, room_of(run, to->mesh.indices, UINT32_MAX));
    for (uint32_t c = 0; c < TML_SUBDIVIDE_MAX_CHANNELS; c++)
        most = room_of(run, to->channel_indices[c], most);
    return most;
}

void adaptive_report(adaptive_run *run, const tml_subdivide_buffers *to)
{
    const tml_subdivide_adaptive_desc *desc = run->desc;
    const adaptive_arrays *arrays = run->arrays;
    tml_buffer triangles = arrays->written;
    tml_map_desc map = {.kernel = TML_USE(subdiv_counts),
                        .params.u = {(uint32_t)vertex_room(run, to),
                                     (uint32_t)adaptive_triangle_room(run, to), run->depth > 0},
                        .in = {arrays->counts[TALLY_USED], triangles,
                               run->depth ? arrays->levels[run->depth].sizes : triangles},
                        .length = tml_length_of(3),
                        .out = {desc->counts}};
    const bool has_counts = !tml_buffer_is_none(desc->counts);
    if (has_counts)
        program_map(&run->p, &map);
    for (uint32_t t = 1; t < run->subdivider->topology_count && has_counts; t++) {
        const uint32_t c = run->subdivider->channel_slots[t - 1];
        map.kernel = TML_USE(subdiv_count_channel);
        map.params.u[0] = (uint32_t)room_of(run, to->channel_values[c], UINT32_MAX);
        map.in[0] = desc->counts;
        map.in[1] = arrays->counts[TALLY_USED + t];
        map.in[2] = (tml_buffer){0, 0};
        program_map(&run->p, &map);
    }
    if (!tml_buffer_is_none(desc->draw))
        program_map(&run->p, &(tml_map_desc){.kernel = TML_USE(subdiv_draw),
                                             .params = map.params,
                                             .in = {triangles},
                                             .length = tml_length_of(5),
                                             .out = {desc->draw}});
}
