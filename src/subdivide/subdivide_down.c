/* Adaptive refinement, the way down: a run's streams and counts, the wanted triangles of a level,
 * and the next level (subdivide_adaptive.c). */
#include <string.h>

#include "subdivide/subdivide_adaptive.h"
#include "subdivide/subdivide_kernels.h"

/* Requires the formulas that subdivide_kernels.h includes. */
#include "subdivide/subdivide_down_kernels.h"

#include "kernels/kernel_end.h"

#define FORMS(kernel)                                                                              \
    {                                                                                              \
        TML_USE(kernel##_1), TML_USE(kernel##_2), TML_USE(kernel##_3), TML_USE(kernel##_4)         \
    }
static const tml_kernel *const new_limit_kernels[4] = FORMS(subdiv_new_limit);
static const tml_kernel *const worn_limit_kernels[4] = FORMS(subdiv_worn_limit);
static const tml_kernel *const join_kernels[4] = FORMS(subdiv_join);

/* ---- streams --------------------------------------------------------------------------------- */

void adaptive_flush(adaptive_run *run)
{
    const tml_status status = program_run(run->p, (tml_buffer){0, 0});
    run->p = program_begin(run->tml, run->p.call);
    if (status != TML_OK)
        run->p.status = status;
}

/* Streams with fewer elements get no margin. */
enum { FEW = 1024 };

tml_buffer adaptive_room(adaptive_run *run, tml_buffer *array, tml_type type, uint64_t count)
{
    if (!run->memory)
        return *array = program_array(&run->p, type, count);
    const tml_slot *kept = tml_slot_of(run->tml, *array);
    if (kept && kept->type == type && kept->count >= count)
        return *array;
    if (kept) {
        adaptive_flush(run); /* steps may use the old one */
        tml_buffer_destroy(run->tml, *array);
    }
    program_keep(&run->p, type, count + (count < FEW ? 0 : count / 4), "subdivision scratch",
                 array);
    return *array;
}

tml_buffer adaptive_map(adaptive_run *run, tml_length length, tml_buffer *out,
                        const tml_map_desc *desc)
{
    tml_map_desc map = *desc;
    map.length = length;
    map.out[0] = adaptive_room(
        run, out, map.kernel->out_count ? map.kernel->outs[0] : map.kernel->result, length.count);
    if (length.count)
        program_map(&run->p, &map);
    return map.out[0];
}

tml_params adaptive_params(uint64_t count, uint32_t flags)
{
    return (tml_params){.u = {(uint32_t)count, 0, flags, 0}};
}

void adaptive_fill(adaptive_run *run, uint32_t word, tml_length length, tml_buffer out)
{
    if (length.count)
        program_map(&run->p, &(tml_map_desc){.kernel = TML_USE(subdiv_fill),
                                             .params = adaptive_params(word, 0),
                                             .length = length,
                                             .out = {out}});
}

/* ---- counts ---------------------------------------------------------------------------------- */

uint32_t adaptive_tally_place(uint32_t l, uint32_t which)
{
    return l * TALLY_LEVEL + which;
}

tml_buffer adaptive_count_room(adaptive_run *run, uint32_t place, tml_type type)
{
    return adaptive_room(run, &run->arrays->counts[place], type, 1);
}

void adaptive_take_count(adaptive_run *run, uint32_t place)
{
    if (run->is_counted) {
        run->places[run->place_count++] = place;
        return;
    }
    program_read(&run->p, run->arrays->counts[place], &run->tally[place]);
    adaptive_flush(run);
}

uint64_t adaptive_count_of(const adaptive_run *run, uint32_t place)
{
    return run->is_counted ? run->bounds[place] : run->tally[place];
}

void adaptive_read_tally(adaptive_run *run)
{
    if (run->place_count == 0)
        return;
    tml_buffer tally = adaptive_room(run, &run->arrays->tally, TML_U32, TALLY_WORDS);
    for (uint32_t i = 0; i < run->place_count; i += 3) {
        tml_map_desc desc = {.kernel = TML_USE(subdiv_note), .in = {tally}, .out = {tally}};
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t place = run->places[TML_MIN_OF(i + k, run->place_count - 1)];
            desc.in[1 + k] = run->arrays->counts[place];
            desc.params.u[k] = place;
        }
        program_map(&run->p, &desc);
    }
    program_read(&run->p, tally, run->tally);
    adaptive_flush(run);
}

/* The length of level l's triangles or half-edges. */
static tml_length level_length(const adaptive_run *run, uint32_t l, uint32_t which)
{
    uint64_t each = which == LEVEL_HALVES ? 3 : 1;
    tml_length length = tml_length_of(each * run->levels[l].triangles);
    if (l > 0 && run->is_counted) {
        length.device = run->arrays->levels[l].sizes;
        length.device_index = which;
    }
    return length;
}

tml_length adaptive_triangles(const adaptive_run *run, uint32_t l)
{
    return level_length(run, l, LEVEL_TRIANGLES);
}

static tml_length halves_of(const adaptive_run *run, uint32_t l)
{
    return level_length(run, l, LEVEL_HALVES);
}

/* The number of level l's vertices, on the device. */
static tml_buffer vertex_count(const adaptive_run *run, uint32_t l, uint32_t t)
{
    return run->arrays->counts[adaptive_tally_place(l, TALLY_VERTICES + t)];
}

tml_length adaptive_vertices(const adaptive_run *run, uint32_t l, uint32_t t)
{
    tml_length length = tml_length_of(run->levels[l].vertices[t]);
    if (l > 0 && run->is_counted)
        length.device = vertex_count(run, l, t);
    return length;
}

uint64_t adaptive_rank_marks(adaptive_run *run, tml_buffer marks, tml_length length,
                             tml_buffer start, tml_buffer *out, uint32_t place)
{
    const tml_buffer ranks = adaptive_room(run, out, TML_U32, length.count);
    const tml_buffer counted = adaptive_count_room(run, place, TML_U32);
    if (length.count == 0) {
        adaptive_fill(run, 0, tml_length_of(1), counted);
        return 0;
    }
    program_scan(
        &run->p,
        &(tml_scan_desc){
            .in = marks, .length = length, .out = ranks, .start = start, .total = counted});
    adaptive_take_count(run, place);
    return run->p.status == TML_OK ? adaptive_count_of(run, place) : 0;
}

tml_keep adaptive_marked(tml_buffer marks)
{
    return (tml_keep){.kernel = TML_USE(subdiv_is_marked), .in = {marks}};
}

/* Writes the indices of the set marks to list, from element first on. */
static void list_marks(adaptive_run *run, tml_buffer marks, tml_length length, tml_buffer list,
                       tml_buffer first)
{
    if (length.count)
        program_compact(&run->p, &(tml_compact_desc){.keep = adaptive_marked(marks),
                                                     .length = length,
                                                     .out_first = first,
                                                     .indices = list});
}

void adaptive_reduce_max(adaptive_run *run, tml_buffer in, tml_length length, tml_buffer out)
{
    program_reduce(&run->p,
                   &(tml_reduce_desc){.in = in, .length = length, .folds = {{TML_FOLD_MAX, out}}});
}

tml_buffer adaptive_halves(const adaptive_run *run, uint32_t l, uint32_t t)
{
    if (l == 0 && !run->has_middles[t])
        return run->subdivider->topologies[t].levels[0].halves;
    return run->arrays->levels[l].halves[t];
}

/* The vertices and values of two levels are kept: those of level l at [l % 2]. */
static tml_buffer level_vertices(const adaptive_run *run, uint32_t l, uint32_t t)
{
    return l == 0 ? run->subdivider->topologies[t].levels[0].vertices
                  : run->arrays->vertices[t][l % 2];
}

static tml_buffer level_points(const adaptive_run *run, uint32_t l, uint32_t v)
{
    return l == 0 ? run->subdivider->values[v].base : run->arrays->points[v][l % 2];
}

tml_buffer adaptive_limits(const adaptive_run *run, uint32_t l, uint32_t v)
{
    return run->arrays->limits[v][l % 2];
}

static uint32_t flags_of(const adaptive_run *run, uint32_t v)
{
    return run->subdivider->topologies[run->subdivider->values[v].topology].flags;
}

/* Returns whether level l can have semi-sharp creases or corners, whose sharpness still
 * decreases. */
static bool is_wearing(const adaptive_run *run, uint32_t l)
{
    return run->subdivider->info.max_sharpness > (float)l;
}

/* ---- level 0 --------------------------------------------------------------------------------- */

static void start_level(adaptive_run *run)
{
    tml_subdivider *subdivider = run->subdivider;
    adaptive_arrays *arrays = run->arrays;
    part_level *level = &arrays->levels[0];
    level_counts *counts = &run->levels[0];
    counts->triangles = subdivider->info.triangle_count;
    for (uint32_t t = 0; t < subdivider->topology_count; t++) {
        counts->vertices[t] = subdivider->topologies[t].levels[0].vertex_count;
        run->has_middles[t] = false;
        adaptive_fill(
            run, (uint32_t)counts->vertices[t], tml_length_of(1),
            adaptive_count_room(run, adaptive_tally_place(0, TALLY_VERTICES + t), TML_U32));
    }
    for (uint32_t v = 0; v < subdivider->value_count; v++) {
        const subdivide_values *values = &subdivider->values[v];
        uint32_t t = values->topology;
        adaptive_map(run, adaptive_vertices(run, 0, t), &arrays->limits[v][0],
                     &(tml_map_desc){.kernel = subdivide_settle_kernels[values->components - 1],
                                     .params = adaptive_params(0, flags_of(run, v)),
                                     .in = {adaptive_halves(run, 0, t), level_vertices(run, 0, t),
                                            values->base}});
    }
    if (run->desc->normals)
        adaptive_map(run, adaptive_vertices(run, 0, 0), &arrays->normals[0],
                     &(tml_map_desc){.kernel = subdivide_vertex_normal,
                                     .in = {adaptive_halves(run, 0, 0), level_vertices(run, 0, 0),
                                            subdivider->values[0].base, subdivider->turns}});
    const bool has_origins = !tml_buffer_is_none(subdivider->triangle_origins);
    if (run->desc->origins)
        adaptive_map(run, adaptive_triangles(run, 0), &level->origins,
                     &(tml_map_desc){.kernel = has_origins ? TML_USE(subdiv_copy_mark)
                                                           : TML_USE(subdiv_position),
                                     .in = {subdivider->triangle_origins}});
}

/* ---- down: what is wanted -------------------------------------------------------------------- */

/* Finds middles: for each half-edge of level l, the limit position of the vertex that would split
 * its edge. */
static void find_middles(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    tml_buffer halves = adaptive_halves(run, l, 0), points = level_points(run, l, 0);
    tml_params params = adaptive_params(0, flags_of(run, 0));
    adaptive_map(run, adaptive_vertices(run, l, 0), &arrays->kept,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_kept),
                                 .params = params,
                                 .in = {halves, level_vertices(run, l, 0), points}});
    adaptive_map(run, halves_of(run, l), &arrays->middles,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_middle_ahead),
                                 .params = params,
                                 .in = {halves, points, arrays->kept}});
}

static void measure_by_kernel(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    tml_length count = halves_of(run, l);
    tml_buffer halves = adaptive_halves(run, l, 0), limits = adaptive_limits(run, l, 0);
    adaptive_map(run, count, &arrays->low_ends,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_low_end), .in = {halves, limits}});
    adaptive_map(run, count, &arrays->high_ends,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_high_end), .in = {halves, limits}});
    adaptive_map(run, count, &arrays->edge_errors,
                 &(tml_map_desc){.kernel = run->desc->kernel,
                                 .params = run->desc->params,
                                 .in = {arrays->low_ends, arrays->high_ends, arrays->middles}});
    adaptive_map(run, adaptive_triangles(run, l), &arrays->levels[l].errors,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_worst), .in = {arrays->edge_errors}});
}

/* Finds errors: for each triangle of level l, the criterion's largest value on its edges. */
static void measure(adaptive_run *run, uint32_t l)
{
    static const tml_kernel *const kernels[] = {
        [TML_SPLIT_LENGTH] = TML_USE(subdiv_length),
        [TML_SPLIT_PIXELS] = TML_USE(subdiv_pixels),
        [TML_SPLIT_ANGLE] = TML_USE(subdiv_angle),
        [TML_SPLIT_DISTANCE] = TML_USE(subdiv_distance),
    };
    const tml_subdivide_criterion criterion = run->desc->criterion;
    if (criterion >= TML_SPLIT_ANGLE)
        find_middles(run, l);
    if (criterion == TML_SPLIT_KERNEL) {
        measure_by_kernel(run, l);
        return;
    }
    tml_map_desc map = {.kernel = kernels[criterion],
                        .in = {adaptive_halves(run, l, 0), adaptive_limits(run, l, 0)}};
    if (criterion != TML_SPLIT_LENGTH)
        map.in[2] = criterion == TML_SPLIT_PIXELS ? run->camera : run->arrays->middles;
    adaptive_map(run, adaptive_triangles(run, l), &run->arrays->levels[l].errors, &map);
}

/* Marks the wanted triangles of level l. Selects these, and those that share a vertex with one. */
static void select_triangles(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    part_level *level = &arrays->levels[l];
    tml_buffer halves = adaptive_halves(run, l, 0), vertices = level_vertices(run, l, 0);
    const part_level *before = l == 0 ? NULL : level - 1;
    tml_buffer list = before ? before->list : halves; /* not read at level 0 */
    tml_buffer wants = before ? before->wants : halves;
    tml_length length = adaptive_triangles(run, l);
    tml_map_desc want = {.kernel = TML_USE(subdiv_want),
                         .params = {.f = {run->threshold}, .u = {l}},
                         .in = {level->errors, list, wants}};
    if (is_wearing(run, l)) {
        adaptive_map(run, length, &arrays->wearing,
                     &(tml_map_desc){.kernel = TML_USE(subdiv_wearing), .in = {halves, vertices}});
        want.kernel = TML_USE(subdiv_want_wearing);
        memcpy(want.in, (tml_buffer[]){level->errors, arrays->wearing, list, wants},
               sizeof want.in);
    }
    adaptive_map(run, length, &level->wants, &want);
    adaptive_map(
        run, adaptive_vertices(run, l, 0), &arrays->touched,
        &(tml_map_desc){.kernel = TML_USE(subdiv_touch), .in = {halves, vertices, level->wants}});
    adaptive_map(
        run, length, &arrays->selects,
        &(tml_map_desc){.kernel = TML_USE(subdiv_select), .in = {halves, arrays->touched}});
    uint64_t selected =
        adaptive_rank_marks(run, arrays->selects, length, (tml_buffer){0, 0}, &arrays->ranks,
                            adaptive_tally_place(l, TALLY_SELECTED));
    run->levels[l].selected = TML_MIN_OF(selected, length.count);
}

/* ---- down: the next level -------------------------------------------------------------------- */

/* Computes the sizes of level l + 1, on the device. */
static void find_sizes(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_buffer selected = run->arrays->counts[adaptive_tally_place(l, TALLY_SELECTED)];
    adaptive_map(
        run, tml_length_of(LEVEL_SIZES), &level[1].sizes,
        &(tml_map_desc){.kernel = TML_USE(subdiv_sizes),
                        .params = (tml_params){.u = {(uint32_t)run->levels[l].selected, l == 0}},
                        .in = {selected, l == 0 ? selected : level->sizes}});
}

/* Numbers the vertices that split edges of the selected triangles, and writes these numbers into
 * the half-edges. */
static void make_middles(adaptive_run *run, uint32_t l, uint32_t t)
{
    adaptive_arrays *arrays = run->arrays;
    part_level *level = &arrays->levels[l];
    tml_length length = halves_of(run, l);
    tml_buffer halves = adaptive_halves(run, l, t), before = vertex_count(run, l, t);
    adaptive_map(run, length, &arrays->owns,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_own),
                                 .in = {halves, adaptive_halves(run, l, 0), level->places}});
    uint64_t end = adaptive_rank_marks(run, arrays->owns, length, before, &arrays->numbers,
                                       adaptive_tally_place(l + 1, TALLY_VERTICES + t));
    run->levels[l + 1].vertices[t] = end;
    const tml_buffer firsts = adaptive_room(run, &level->firsts[t], TML_U32, end);
    adaptive_fill(run, LOOP_NONE, adaptive_vertices(run, l, t), firsts);
    list_marks(run, arrays->owns, length, firsts, before);
    adaptive_map(run, length, &level->halves[t],
                 &(tml_map_desc){.kernel = TML_USE(subdiv_middle),
                                 .params = adaptive_params(end, 0),
                                 .in = {halves, arrays->owns, arrays->numbers}});
    run->has_middles[t] = true;
}

static void make_part(adaptive_run *run, uint32_t l, uint32_t t)
{
    part_level *level = &run->arrays->levels[l], *next = &run->arrays->levels[l + 1];
    adaptive_map(run, halves_of(run, l + 1), &next->halves[t],
                 &(tml_map_desc){.kernel = TML_USE(subdiv_part_half),
                                 .in = {adaptive_halves(run, l, t), level->list, level->places}});
    adaptive_map(run, adaptive_vertices(run, l + 1, t), &run->arrays->vertices[t][(l + 1) % 2],
                 &(tml_map_desc){.kernel = TML_USE(subdiv_part_vertex),
                                 .params = adaptive_params(0, run->subdivider->topologies[t].flags),
                                 .in = {level->firsts[t], level_vertices(run, l, t),
                                        adaptive_halves(run, l, t), level->places}});
}

/* Computes limits and normals of level l + 1's new vertices. next: the positions of level l + 1. */
static void make_points(adaptive_run *run, uint32_t l, tml_buffer firsts, tml_buffer next)
{
    adaptive_arrays *arrays = run->arrays;
    const tml_length length = adaptive_vertices(run, l + 1, 0);
    const tml_buffer normals =
        adaptive_room(run, &arrays->fresh_normals, TML_VEC(TML_F32, 3), length.count);
    adaptive_map(
        run, length, &arrays->fresh_limits[0],
        &(tml_map_desc){.kernel = TML_USE(subdiv_new_point),
                        .params = adaptive_params(0, flags_of(run, 0)),
                        .in = {firsts, adaptive_halves(run, l, 0), level_points(run, l, 0), next},
                        .out = {{0, 0}, normals}});
}

/* Computes values number v of level l + 1, and their limits. */
static void make_values(adaptive_run *run, uint32_t l, uint32_t v)
{
    adaptive_arrays *arrays = run->arrays;
    const subdivide_values *values = &run->subdivider->values[v];
    uint32_t t = values->topology, form = values->components - 1;
    tml_length length = adaptive_vertices(run, l + 1, t);
    tml_buffer halves = adaptive_halves(run, l, t), vertices = level_vertices(run, l, t);
    tml_buffer points = level_points(run, l, v), limits = adaptive_limits(run, l, v);
    tml_buffer firsts = arrays->levels[l].firsts[t];
    tml_params params = adaptive_params(0, flags_of(run, v));
    tml_buffer *next = &arrays->points[v][(l + 1) % 2];
    adaptive_map(run, length, next,
                 &(tml_map_desc){.kernel = subdivide_child_kernels[form],
                                 .params = params,
                                 .in = {halves, vertices, firsts, points}});
    if (v == 0 && run->desc->normals)
        make_points(run, l, firsts, *next);
    else
        adaptive_map(run, length, &arrays->fresh_limits[v],
                     &(tml_map_desc){.kernel = new_limit_kernels[form],
                                     .params = params,
                                     .in = {firsts, halves, points, *next}});
    if (is_wearing(run, l)) {
        adaptive_map(run, adaptive_vertices(run, l, t), &arrays->worn_limits[v],
                     &(tml_map_desc){.kernel = worn_limit_kernels[form],
                                     .params = params,
                                     .in = {limits, halves, vertices, *next}});
        limits = arrays->worn_limits[v];
    }
    adaptive_map(run, length, &arrays->limits[v][(l + 1) % 2],
                 &(tml_map_desc){.kernel = join_kernels[form],
                                 .in = {firsts, limits, arrays->fresh_limits[v]}});
}

static void make_normals(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    tml_length kept = adaptive_vertices(run, l, 0), length = adaptive_vertices(run, l + 1, 0);
    tml_buffer halves = adaptive_halves(run, l, 0), vertices = level_vertices(run, l, 0);
    tml_buffer next = arrays->points[0][(l + 1) % 2], old = arrays->normals[l % 2];
    tml_buffer firsts = arrays->levels[l].firsts[0];
    if (is_wearing(run, l)) {
        adaptive_map(run, kept, &arrays->vertex_normals,
                     &(tml_map_desc){.kernel = TML_USE(subdiv_wearing_normal),
                                     .in = {halves, vertices, next, run->subdivider->turns}});
        adaptive_map(run, kept, &arrays->worn_normals,
                     &(tml_map_desc){.kernel = TML_USE(subdiv_worn_normal),
                                     .in = {old, arrays->vertex_normals, halves, vertices}});
        old = arrays->worn_normals;
    }
    adaptive_map(
        run, length, &arrays->normals[(l + 1) % 2],
        &(tml_map_desc){.kernel = join_kernels[2], .in = {firsts, old, arrays->fresh_normals}});
}

static void refine(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    part_level *level = &arrays->levels[l], *next = &arrays->levels[l + 1];
    level_counts *counts = &run->levels[l], *after = &run->levels[l + 1];
    after->triangles = 4 * counts->selected;
    if (after->triangles > SUBDIVIDE_MAX_TRIANGLES && run->is_counted) {
        run->is_beyond = true; /* the bound exceeds it; exact sizes may not */
        return;
    }
    if (after->triangles > SUBDIVIDE_MAX_TRIANGLES && run->p.status == TML_OK)
        run->p.status =
            tml_error(run->tml, TML_ERROR_UNSUPPORTED,
                      "%s: level %u has %llu triangles, can be at most %llu; give a larger "
                      "threshold, or a smaller desc.max_depth or budget",
                      run->p.call, l + 1, (unsigned long long)after->triangles,
                      (unsigned long long)SUBDIVIDE_MAX_TRIANGLES);
    find_sizes(run, l);
    tml_length length = adaptive_triangles(run, l);
    adaptive_map(run, length, &level->places,
                 &(tml_map_desc){.kernel = TML_USE(subdiv_place),
                                 .in = {arrays->selects, arrays->ranks, next->sizes}});
    list_marks(run, arrays->selects, length,
               adaptive_room(run, &level->list, TML_U32, counts->selected), (tml_buffer){0, 0});
    /* The mesh comes first. Channels then read its half-edges, but only twins, which make_middles
     * preserves. */
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        make_middles(run, l, t);
    for (uint32_t v = 0; v < run->subdivider->value_count; v++)
        make_values(run, l, v);
    if (run->desc->normals)
        make_normals(run, l);
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        make_part(run, l, t);
    length = adaptive_triangles(run, l + 1);
    if (run->desc->origins)
        adaptive_map(run, length, &next->origins,
                     &(tml_map_desc){.kernel = TML_USE(subdiv_inherit),
                                     .in = {level->list, level->origins}});
}

/* Adds 3 leaves per wanted triangle of level l, which is a lower bound, and compares the sum with
 * leaf_bound. */
static void count_wanted(adaptive_run *run, uint32_t l, uint64_t *leaves)
{
    part_level *level = &run->arrays->levels[l];
    uint32_t wanted = 0;
    adaptive_room(run, &run->arrays->want_ranks, TML_U32, run->levels[l].triangles);
    tml_buffer count = adaptive_room(run, &run->arrays->count, TML_U32, 1);
    program_scan(&run->p, &(tml_scan_desc){.in = level->wants,
                                           .length = {.count = run->levels[l].triangles},
                                           .out = run->arrays->want_ranks,
                                           .total = count});
    program_read(&run->p, count, &wanted);
    adaptive_flush(run);
    *leaves += (uint64_t)3 * wanted;
    run->is_beyond = *leaves > run->leaf_bound;
}

void adaptive_go_down(adaptive_run *run)
{
    uint64_t leaves = run->subdivider->info.triangle_count;
    start_level(run);
    for (run->depth = 0; run->p.status == TML_OK; run->depth++) {
        uint32_t l = run->depth;
        run->progress = TML_MAX_OF(run->progress, (double)l / (double)(run->max_depth + 1));
        if (!run->level_room && !tml_progress(run->tml, "refine", run->progress))
            run->p.status = tml_error(run->tml, TML_ERROR_CANCELLED, "%s: cancelled", run->p.call);
        run->levels[l].selected = 0;
        if (l == run->max_depth && run->level_room)
            break;
        measure(run, l);
        if (l == run->max_depth)
            break;
        select_triangles(run, l);
        if (run->levels[l].selected == 0)
            break;
        if (run->leaf_bound && !run->is_counted)
            count_wanted(run, l, &leaves);
        if (!run->is_beyond)
            refine(run, l);
        if (run->is_beyond)
            break;
    }
}

/* ---- the camera ------------------------------------------------------------------------------ */

/* Sets the smallest w that counts, in the camera on the device: a fraction of the largest w of the
 * mesh's positions. */
static void set_nearest(adaptive_run *run, tml_buffer camera)
{
    adaptive_arrays *arrays = run->arrays;
    tml_length count = adaptive_vertices(run, 0, 0);
    tml_buffer worst = adaptive_room(run, &arrays->worst, TML_F32, 1);
    adaptive_map(
        run, count, &arrays->depths,
        &(tml_map_desc){.kernel = TML_USE(subdiv_depth), .in = {level_points(run, 0, 0), camera}});
    adaptive_reduce_max(run, arrays->depths, count, worst);
    program_map(
        &run->p,
        &(tml_map_desc){.kernel = TML_USE(subdiv_nearest), .in = {camera, worst}, .out = {camera}});
}

void adaptive_set_camera(adaptive_run *run)
{
    const tml_subdivide_camera *camera = &run->desc->camera;
    float words[TML_SUBDIVIDE_CAMERA_FLOATS];
    memcpy(words, camera->matrix, sizeof camera->matrix);
    words[16] = (float)camera->width;
    words[17] = (float)camera->height;
    words[18] = camera->nearest;
    words[19] = camera->measure_outside ? 1.0f : 0.0f;
    tml_buffer buffer = adaptive_room(run, &run->arrays->camera, TML_F32, TML_ARRAY_SIZE(words));
    run->camera = buffer;
    TML_THEN(run->p.status, tml_buffer_write(run->tml, buffer, 0, TML_ARRAY_SIZE(words), words));
    if (camera->nearest == 0.0f)
        set_nearest(run, buffer);
}
