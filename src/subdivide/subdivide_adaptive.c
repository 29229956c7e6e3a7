/* Subdivide: adaptive refinement, triangles as small as a criterion asks for.
 *
 * Going down, level by level: a triangle is wanted if its parent was, or at level 0, and one of its
 * edges exceeds the threshold. Selected are the wanted triangles and all that share a vertex with
 * them, which is what the masks of the next level's vertices read; selected triangles are refined.
 * The next level's wanted triangles are children of wanted ones, and two rings of triangles around
 * them are children of selected ones. So every mask finds its neighbours, and no value depends on
 * what is not at hand (LOOP_OUTSIDE).
 *
 * Going up again: a triangle is red, which means split in four, if it is wanted or if a triangle
 * across an edge of its children is red, so neighbours differ by one level at most. A triangle of
 * level 0 or child of a red one, not red itself, is a leaf and is written, divided by green
 * triangles where the other side of an edge is red.
 *
 * A vertex keeps its number through all levels. Its limit is computed when it arises, and again
 * only while semi-sharp creases there lose sharpness; so every triangle sees it at the same place.
 * Vertices that only masks needed are dropped at the end.
 *
 * Each step is a map, a scan, a compaction or an expansion of streams, whose lengths are counts of
 * earlier steps. A first run reads back each count where it is needed, which ends a program of
 * streams. On engines where this waits for the device, later runs leave the lengths on the device,
 * expect the last run's counts plus a margin as their bounds, and read all counts at their end. If
 * one exceeds what was expected, the run is repeated with exact sizes. An enqueued run is one
 * program, has its bounds from the caller and reads nothing. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/call.h"
#include "stream/program.h"
#include "subdivide/subdivide_internal.h"

#include "subdivide/subdivide_kernels.h"

/* Needs the formulas that subdivide_kernels.h includes. */
#include "subdivide/subdivide_adaptive_kernels.h"

#include "kernels/kernel_end.h"

#define FORMS(kernel)                                                                              \
    {                                                                                              \
        TML_USE(kernel##_1), TML_USE(kernel##_2), TML_USE(kernel##_3), TML_USE(kernel##_4)         \
    }
static const tml_kernel *const new_limit_kernels[4] = FORMS(subdiv_new_limit);
static const tml_kernel *const worn_limit_kernels[4] = FORMS(subdiv_worn_limit);
static const tml_kernel *const join_kernels[4] = FORMS(subdiv_join);

static const char call[] = "tml_subdivide_adaptive";
static const char enqueue_call[] = "tml_subdivide_adaptive_enqueue";

static const uint64_t max_triangles = 0xffffffffu / 12;

/* Most runs with other thresholds: to meet a budget (bisection of the threshold's logarithm), and
 * to meet a criterion that the parents met but their children do not. */
enum { BUDGET_RUNS = 24, REPEATED_RUNS = 3 };

/* The tally, all counts of a run as words: TALLY_LEVEL for each level, then those of the whole
 * mesh. */
enum {
    TALLY_SELECTED,
    TALLY_LEAVES,
    TALLY_WORST,    /* a float: the largest error of a leaf */
    TALLY_VERTICES, /* by topology */
    TALLY_LEVEL = TALLY_VERTICES + SUBDIVIDE_TOPOLOGIES,
    TALLY_USED = TALLY_LEVEL * (TML_SUBDIVIDE_MAX_LEVELS + 1), /* vertices, by topology */
    TALLY_WORDS = TALLY_USED + SUBDIVIDE_TOPOLOGIES,
};

/* The arrays of one level that the way up reads. Topology [0] is the mesh. */
typedef struct part_level {
    tml_buffer halves[SUBDIVIDE_TOPOLOGIES], firsts[SUBDIVIDE_TOPOLOGIES];
    tml_buffer errors, wants, places, list, origins, reds, codes;
    tml_buffer sizes; /* LEVEL_..., from level 1 on */
} part_level;

/* The arrays of a run. An enqueued run's are arrays of its program. A run that waits has several
 * programs; its arrays are buffers, which the subdivider keeps for the next call. All members are
 * of type tml_buffer: subdivide_adaptive_destroy reads the struct as one array. */
typedef struct adaptive_arrays {
    part_level levels[TML_SUBDIVIDE_MAX_LEVELS + 1];
    tml_buffer wearing, touched, selects, ranks, owns, numbers, want_ranks;
    tml_buffer vertices[SUBDIVIDE_TOPOLOGIES][2]; /* level l at [l % 2] */
    tml_buffer points[SUBDIVIDE_VALUES][2];
    tml_buffer limits[SUBDIVIDE_VALUES][2], fresh_limits[SUBDIVIDE_VALUES];
    tml_buffer worn_limits[SUBDIVIDE_VALUES];
    tml_buffer normals[2], fresh_normals, worn_normals, vertex_normals;
    tml_buffer used[SUBDIVIDE_TOPOLOGIES], used_numbers[SUBDIVIDE_TOPOLOGIES];
    tml_buffer kept, middles, low_ends, high_ends, edge_errors, leaf_errors, depths;
    tml_buffer counts[TALLY_WORDS]; /* one element each */
    tml_buffer count, worst, camera, tally, written;
} adaptive_arrays;

struct subdivide_adaptive {
    adaptive_arrays arrays;
    /* The tally of an earlier run with known_threshold, which is 0 before the first run. */
    float known_threshold;
    uint32_t known_depth;
    uint32_t known[TALLY_WORDS];
};

/* Of one level: its triangles, how many are selected, its vertices. In a run with lengths on the
 * device these are upper bounds. */
typedef struct level_counts {
    uint64_t triangles, selected;
    uint64_t vertices[SUBDIVIDE_TOPOLOGIES];
} level_counts;

typedef struct adaptive_run {
    program p; /* its status is the run's: after the first failure nothing more is done */
    tml_subdivider *subdivider;
    tml_context *tml;
    struct subdivide_adaptive *memory; /* of a run that waits, else NULL */
    adaptive_arrays *arrays;
    const tml_subdivide_adaptive_desc *desc;
    float threshold;   /* of this run */
    tml_buffer camera; /* PIXELS */
    uint32_t max_depth;
    uint32_t depth;      /* the finest level, or with expected sizes an upper bound */
    uint64_t leaf_bound; /* the run stops beyond so many triangles; 0: never */
    bool is_beyond;
    bool is_counted; /* lengths are on the device, with these bounds */
    uint32_t bounds[TALLY_WORDS];
    uint64_t level_room; /* enqueued: triangles of a level at most; else 0 */
    double progress;     /* the largest reported; further runs do not report less */
    uint32_t tally[TALLY_WORDS];
    uint32_t places[TALLY_WORDS], place_count; /* entries of tally that are still to be read */
    level_counts levels[TML_SUBDIVIDE_MAX_LEVELS + 1];
    bool has_middles[SUBDIVIDE_TOPOLOGIES]; /* level 0: else its half-edges are the mesh's */
    /* What the run made. */
    uint64_t triangle_count, vertex_count[SUBDIVIDE_TOPOLOGIES];
    uint64_t level_leaves[TML_SUBDIVIDE_MAX_LEVELS + 1];
    uint32_t finest;            /* level that has triangles */
    float error, deepest_error; /* the largest of leaves above max_depth; of leaves at it */
} adaptive_run;

/* ---- streams --------------------------------------------------------------------------------- */

/* Takes the steps so far. */
static void flush(adaptive_run *run)
{
    const tml_status status = program_run(run->p, (tml_buffer){0, 0});
    run->p = program_begin(run->tml, run->p.call);
    if (status != TML_OK)
        run->p.status = status;
}

/* Streams of fewer elements get no margin. */
enum { FEW = 1024 };

/* Gives *array room for count elements. A run that waits keeps the buffer that is there, or makes
 * one with room for a quarter more, since the next run's streams have other lengths. */
static tml_buffer room(adaptive_run *run, tml_buffer *array, tml_type type, uint64_t count)
{
    if (!run->memory)
        return *array = program_array(&run->p, type, count);
    const tml_slot *kept = tml_slot_of(run->tml, *array);
    if (kept && kept->type == type && kept->count >= count)
        return *array;
    if (kept) {
        flush(run); /* steps may have the old one */
        tml_buffer_destroy(run->tml, *array);
    }
    program_keep(&run->p, type, count + (count < FEW ? 0 : count / 4), "subdivision scratch",
                 array);
    return *array;
}

/* Maps length elements into an array of as many. */
static tml_buffer add_map(adaptive_run *run, tml_length length, tml_buffer *out,
                          const tml_map_desc *desc)
{
    tml_map_desc map = *desc;
    map.length = length;
    map.out = room(run, out, map.kernel->out_count ? map.kernel->outs[0] : map.kernel->result,
                   length.count);
    if (length.count)
        program_map(&run->p, &map);
    return map.out;
}

static tml_params with_flags(uint64_t count, uint32_t flags)
{
    return (tml_params){.u = {(uint32_t)count, 0, flags, 0}};
}

static void fill(adaptive_run *run, uint32_t word, tml_length length, tml_buffer out)
{
    if (length.count)
        program_map(&run->p, &(tml_map_desc){.kernel = TML_USE(subdiv_fill),
                                             .params = with_flags(word, 0),
                                             .length = length,
                                             .out = out});
}

/* ---- counts ---------------------------------------------------------------------------------- */

static uint32_t tally_place(uint32_t l, uint32_t which)
{
    return l * TALLY_LEVEL + which;
}

/* The one-element buffer on the device into which an operation counts entry place of the tally. */
static tml_buffer count_room(adaptive_run *run, uint32_t place, tml_type type)
{
    return room(run, &run->arrays->counts[place], type, 1);
}

/* Follows the operation that counts: reads the count, or with expected sizes leaves that to
 * read_tally. */
static void take_count(adaptive_run *run, uint32_t place)
{
    if (run->is_counted) {
        run->places[run->place_count++] = place;
        return;
    }
    program_read(&run->p, run->arrays->counts[place], &run->tally[place]);
    flush(run);
}

/* Entry place of the tally: exact, or with lengths on the device an upper bound. */
static uint64_t count_of(const adaptive_run *run, uint32_t place)
{
    return run->is_counted ? run->bounds[place] : run->tally[place];
}

/* Reads the counts that take_count left, all by one transfer: they are collected on the device
 * first. */
static void read_tally(adaptive_run *run)
{
    if (run->place_count == 0)
        return;
    tml_buffer tally = room(run, &run->arrays->tally, TML_U32, TALLY_WORDS);
    for (uint32_t i = 0; i < run->place_count; i += 3) {
        tml_map_desc desc = {.kernel = TML_USE(subdiv_note), .in = {tally}, .out = tally};
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t place = run->places[TML_MIN_OF(i + k, run->place_count - 1)];
            desc.in[1 + k] = run->arrays->counts[place];
            desc.params.u[k] = place;
        }
        program_map(&run->p, &desc);
    }
    program_read(&run->p, tally, run->tally);
    flush(run);
}

/* The triangles of level l, or its half-edges. */
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

static tml_length triangles_of(const adaptive_run *run, uint32_t l)
{
    return level_length(run, l, LEVEL_TRIANGLES);
}

static tml_length halves_of(const adaptive_run *run, uint32_t l)
{
    return level_length(run, l, LEVEL_HALVES);
}

/* The count on the device of level l's vertices. */
static tml_buffer vertex_count(const adaptive_run *run, uint32_t l, uint32_t t)
{
    return run->arrays->counts[tally_place(l, TALLY_VERTICES + t)];
}

static tml_length vertices_of(const adaptive_run *run, uint32_t l, uint32_t t)
{
    tml_length length = tml_length_of(run->levels[l].vertices[t]);
    if (l > 0 && run->is_counted)
        length.device = vertex_count(run, l, t);
    return length;
}

/* out: the exclusive prefix sum of marks, each 0 or 1, from start on. Counts the end at place, and
 * returns it, or an upper bound (count_of). */
static uint64_t rank_marks(adaptive_run *run, tml_buffer marks, tml_length length, tml_buffer start,
                           tml_buffer *out, uint32_t place)
{
    const tml_buffer ranks = room(run, out, TML_U32, length.count);
    const tml_buffer counted = count_room(run, place, TML_U32);
    if (length.count == 0) {
        fill(run, 0, tml_length_of(1), counted);
        return 0;
    }
    program_scan(
        &run->p,
        &(tml_scan_desc){
            .in = marks, .length = length, .out = ranks, .start = start, .total = counted});
    take_count(run, place);
    return run->p.status == TML_OK ? count_of(run, place) : 0;
}

/* Writes the indices of the marks that are set into list, from element first on. */
static void list_marks(adaptive_run *run, tml_buffer marks, tml_length length, tml_buffer list,
                       tml_buffer first)
{
    if (length.count)
        program_compact(&run->p, &(tml_compact_desc){
                                     .keep = {.kernel = TML_USE(subdiv_is_marked), .in = {marks}},
                                     .length = length,
                                     .out_first = first,
                                     .indices = list});
}

static void reduce_max(adaptive_run *run, tml_buffer in, tml_length length, tml_buffer out)
{
    program_reduce(
        &run->p, &(tml_reduce_desc){.fold = TML_FOLD_MAX, .in = in, .length = length, .out = out});
}

static tml_buffer level_halves(const adaptive_run *run, uint32_t l, uint32_t t)
{
    if (l == 0 && !run->has_middles[t])
        return run->subdivider->topologies[t].levels[0].halves;
    return run->arrays->levels[l].halves[t];
}

/* Two levels' vertices and values are kept: those of level l at [l % 2]. */
static tml_buffer level_vertices(const adaptive_run *run, uint32_t l, uint32_t t)
{
    return l == 0 ? run->subdivider->topologies[t].levels[0].vertices
                  : run->arrays->vertices[t][l % 2];
}

static tml_buffer level_points(const adaptive_run *run, uint32_t l, uint32_t v)
{
    return l == 0 ? run->subdivider->values[v].base : run->arrays->points[v][l % 2];
}

static tml_buffer level_limits(const adaptive_run *run, uint32_t l, uint32_t v)
{
    return run->arrays->limits[v][l % 2];
}

static uint32_t flags_of(const adaptive_run *run, uint32_t v)
{
    return run->subdivider->topologies[run->subdivider->values[v].topology].flags;
}

/* Can level l have semi-sharp creases or corners, whose sharpness still decreases? */
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
        fill(run, (uint32_t)counts->vertices[t], tml_length_of(1),
             count_room(run, tally_place(0, TALLY_VERTICES + t), TML_U32));
    }
    for (uint32_t v = 0; v < subdivider->value_count; v++) {
        const subdivide_values *values = &subdivider->values[v];
        uint32_t t = values->topology;
        add_map(run, vertices_of(run, 0, t), &arrays->limits[v][0],
                &(tml_map_desc){
                    .kernel = subdivide_settle_kernels[values->components - 1],
                    .params = with_flags(0, flags_of(run, v)),
                    .in = {level_halves(run, 0, t), level_vertices(run, 0, t), values->base}});
    }
    if (run->desc->normals)
        add_map(run, vertices_of(run, 0, 0), &arrays->normals[0],
                &(tml_map_desc){.kernel = subdivide_vertex_normal,
                                .in = {level_halves(run, 0, 0), level_vertices(run, 0, 0),
                                       subdivider->values[0].base, subdivider->turns}});
    const bool has_origins = !tml_buffer_is_none(subdivider->triangle_origins);
    if (run->desc->origins)
        add_map(run, triangles_of(run, 0), &level->origins,
                &(tml_map_desc){.kernel = has_origins ? TML_USE(subdiv_copy_mark)
                                                      : TML_USE(subdiv_position),
                                .in = {subdivider->triangle_origins}});
}

/* ---- down: what is wanted -------------------------------------------------------------------- */

/* middles: for each half-edge of level l, the limit position of the vertex that would split its
 * edge. */
static void find_middles(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    tml_buffer halves = level_halves(run, l, 0), points = level_points(run, l, 0);
    tml_params params = with_flags(0, flags_of(run, 0));
    add_map(run, vertices_of(run, l, 0), &arrays->kept,
            &(tml_map_desc){.kernel = TML_USE(subdiv_kept),
                            .params = params,
                            .in = {halves, level_vertices(run, l, 0), points}});
    add_map(run, halves_of(run, l), &arrays->middles,
            &(tml_map_desc){.kernel = TML_USE(subdiv_middle_ahead),
                            .params = params,
                            .in = {halves, points, arrays->kept}});
}

static void measure_by_kernel(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    tml_length count = halves_of(run, l);
    tml_buffer halves = level_halves(run, l, 0), limits = level_limits(run, l, 0);
    add_map(run, count, &arrays->low_ends,
            &(tml_map_desc){.kernel = TML_USE(subdiv_low_end), .in = {halves, limits}});
    add_map(run, count, &arrays->high_ends,
            &(tml_map_desc){.kernel = TML_USE(subdiv_high_end), .in = {halves, limits}});
    add_map(run, count, &arrays->edge_errors,
            &(tml_map_desc){.kernel = run->desc->kernel,
                            .params = run->desc->params,
                            .in = {arrays->low_ends, arrays->high_ends, arrays->middles}});
    add_map(run, triangles_of(run, l), &arrays->levels[l].errors,
            &(tml_map_desc){.kernel = TML_USE(subdiv_worst), .in = {arrays->edge_errors}});
}

/* errors: for each triangle of level l, the largest value of the criterion on its edges. */
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
                        .in = {level_halves(run, l, 0), level_limits(run, l, 0)}};
    if (criterion != TML_SPLIT_LENGTH)
        map.in[2] = criterion == TML_SPLIT_PIXELS ? run->camera : run->arrays->middles;
    add_map(run, triangles_of(run, l), &run->arrays->levels[l].errors, &map);
}

/* Marks the wanted triangles of level l, and selects them and those that share a vertex with
 * them. */
static void select_triangles(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    part_level *level = &arrays->levels[l];
    tml_buffer halves = level_halves(run, l, 0), vertices = level_vertices(run, l, 0);
    const part_level *before = l == 0 ? NULL : level - 1;
    tml_buffer list = before ? before->list : halves; /* unread at level 0 */
    tml_buffer wants = before ? before->wants : halves;
    tml_length length = triangles_of(run, l);
    tml_map_desc want = {.kernel = TML_USE(subdiv_want),
                         .params = {.f = {run->threshold}, .u = {l}},
                         .in = {level->errors, list, wants}};
    if (is_wearing(run, l)) {
        add_map(run, length, &arrays->wearing,
                &(tml_map_desc){.kernel = TML_USE(subdiv_wearing), .in = {halves, vertices}});
        want.kernel = TML_USE(subdiv_want_wearing);
        memcpy(want.in, (tml_buffer[]){level->errors, arrays->wearing, list, wants},
               sizeof want.in);
    }
    add_map(run, length, &level->wants, &want);
    add_map(
        run, vertices_of(run, l, 0), &arrays->touched,
        &(tml_map_desc){.kernel = TML_USE(subdiv_touch), .in = {halves, vertices, level->wants}});
    add_map(run, length, &arrays->selects,
            &(tml_map_desc){.kernel = TML_USE(subdiv_select), .in = {halves, arrays->touched}});
    uint64_t selected = rank_marks(run, arrays->selects, length, (tml_buffer){0, 0}, &arrays->ranks,
                                   tally_place(l, TALLY_SELECTED));
    run->levels[l].selected = TML_MIN_OF(selected, length.count);
}

/* ---- down: the next level -------------------------------------------------------------------- */

/* The sizes of level l + 1 on the device. */
static void find_sizes(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_buffer selected = run->arrays->counts[tally_place(l, TALLY_SELECTED)];
    add_map(
        run, tml_length_of(LEVEL_SIZES), &level[1].sizes,
        &(tml_map_desc){.kernel = TML_USE(subdiv_sizes),
                        .params = (tml_params){.u = {(uint32_t)run->levels[l].selected, l == 0}},
                        .in = {selected, l == 0 ? selected : level->sizes}});
}

/* Numbers the vertices that split edges of the selected triangles, and writes the numbers into the
 * half-edges. */
static void make_middles(adaptive_run *run, uint32_t l, uint32_t t)
{
    adaptive_arrays *arrays = run->arrays;
    part_level *level = &arrays->levels[l];
    tml_length length = halves_of(run, l);
    tml_buffer halves = level_halves(run, l, t), before = vertex_count(run, l, t);
    add_map(run, length, &arrays->owns,
            &(tml_map_desc){.kernel = TML_USE(subdiv_own),
                            .in = {halves, level_halves(run, l, 0), level->places}});
    uint64_t end = rank_marks(run, arrays->owns, length, before, &arrays->numbers,
                              tally_place(l + 1, TALLY_VERTICES + t));
    run->levels[l + 1].vertices[t] = end;
    const tml_buffer firsts = room(run, &level->firsts[t], TML_U32, end);
    fill(run, LOOP_NONE, vertices_of(run, l, t), firsts);
    list_marks(run, arrays->owns, length, firsts, before);
    add_map(run, length, &level->halves[t],
            &(tml_map_desc){.kernel = TML_USE(subdiv_middle),
                            .params = with_flags(end, 0),
                            .in = {halves, arrays->owns, arrays->numbers}});
    run->has_middles[t] = true;
}

static void make_part(adaptive_run *run, uint32_t l, uint32_t t)
{
    part_level *level = &run->arrays->levels[l], *next = &run->arrays->levels[l + 1];
    add_map(run, halves_of(run, l + 1), &next->halves[t],
            &(tml_map_desc){.kernel = TML_USE(subdiv_part_half),
                            .in = {level_halves(run, l, t), level->list, level->places}});
    add_map(run, vertices_of(run, l + 1, t), &run->arrays->vertices[t][(l + 1) % 2],
            &(tml_map_desc){.kernel = TML_USE(subdiv_part_vertex),
                            .params = with_flags(0, run->subdivider->topologies[t].flags),
                            .in = {level->firsts[t], level_vertices(run, l, t),
                                   level_halves(run, l, t), level->places}});
}

/* Limits and normals of level l + 1's new vertices. next: its positions. */
static void make_points(adaptive_run *run, uint32_t l, tml_buffer firsts, tml_buffer next)
{
    adaptive_arrays *arrays = run->arrays;
    const tml_length length = vertices_of(run, l + 1, 0);
    const tml_buffer normals = room(run, &arrays->fresh_normals, TML_VEC(TML_F32, 3), length.count);
    add_map(run, length, &arrays->fresh_limits[0],
            &(tml_map_desc){.kernel = TML_USE(subdiv_new_point),
                            .params = with_flags(0, flags_of(run, 0)),
                            .in = {firsts, level_halves(run, l, 0), level_points(run, l, 0), next},
                            .also = {normals}});
}

/* Values number v of level l + 1, and their limits. */
static void make_values(adaptive_run *run, uint32_t l, uint32_t v)
{
    adaptive_arrays *arrays = run->arrays;
    const subdivide_values *values = &run->subdivider->values[v];
    uint32_t t = values->topology, form = values->components - 1;
    tml_length length = vertices_of(run, l + 1, t);
    tml_buffer halves = level_halves(run, l, t), vertices = level_vertices(run, l, t);
    tml_buffer points = level_points(run, l, v), limits = level_limits(run, l, v);
    tml_buffer firsts = arrays->levels[l].firsts[t];
    tml_params params = with_flags(0, flags_of(run, v));
    tml_buffer *next = &arrays->points[v][(l + 1) % 2];
    add_map(run, length, next,
            &(tml_map_desc){.kernel = subdivide_child_kernels[form],
                            .params = params,
                            .in = {halves, vertices, firsts, points}});
    if (v == 0 && run->desc->normals)
        make_points(run, l, firsts, *next);
    else
        add_map(run, length, &arrays->fresh_limits[v],
                &(tml_map_desc){.kernel = new_limit_kernels[form],
                                .params = params,
                                .in = {firsts, halves, points, *next}});
    if (is_wearing(run, l)) {
        add_map(run, vertices_of(run, l, t), &arrays->worn_limits[v],
                &(tml_map_desc){.kernel = worn_limit_kernels[form],
                                .params = params,
                                .in = {limits, halves, vertices, *next}});
        limits = arrays->worn_limits[v];
    }
    add_map(run, length, &arrays->limits[v][(l + 1) % 2],
            &(tml_map_desc){.kernel = join_kernels[form],
                            .in = {firsts, limits, arrays->fresh_limits[v]}});
}

static void make_normals(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    tml_length kept = vertices_of(run, l, 0), length = vertices_of(run, l + 1, 0);
    tml_buffer halves = level_halves(run, l, 0), vertices = level_vertices(run, l, 0);
    tml_buffer next = arrays->points[0][(l + 1) % 2], old = arrays->normals[l % 2];
    tml_buffer firsts = arrays->levels[l].firsts[0];
    if (is_wearing(run, l)) {
        add_map(run, kept, &arrays->vertex_normals,
                &(tml_map_desc){.kernel = TML_USE(subdiv_wearing_normal),
                                .in = {halves, vertices, next, run->subdivider->turns}});
        add_map(run, kept, &arrays->worn_normals,
                &(tml_map_desc){.kernel = TML_USE(subdiv_worn_normal),
                                .in = {old, arrays->vertex_normals, halves, vertices}});
        old = arrays->worn_normals;
    }
    add_map(run, length, &arrays->normals[(l + 1) % 2],
            &(tml_map_desc){.kernel = join_kernels[2], .in = {firsts, old, arrays->fresh_normals}});
}

static void refine(adaptive_run *run, uint32_t l)
{
    adaptive_arrays *arrays = run->arrays;
    part_level *level = &arrays->levels[l], *next = &arrays->levels[l + 1];
    level_counts *counts = &run->levels[l], *after = &run->levels[l + 1];
    after->triangles = 4 * counts->selected;
    if (after->triangles > max_triangles && run->is_counted) {
        run->is_beyond = true; /* the upper bound is; exact sizes may not be */
        return;
    }
    if (after->triangles > max_triangles && run->p.status == TML_OK)
        run->p.status = tml_error(
            run->tml, TML_ERROR_UNSUPPORTED,
            "%s: level %u has %llu triangles, can be at most %llu; give a larger "
            "threshold, or a smaller desc.max_depth or budget",
            call, l + 1, (unsigned long long)after->triangles, (unsigned long long)max_triangles);
    find_sizes(run, l);
    tml_length length = triangles_of(run, l);
    add_map(run, length, &level->places,
            &(tml_map_desc){.kernel = TML_USE(subdiv_place),
                            .in = {arrays->selects, arrays->ranks, next->sizes}});
    list_marks(run, arrays->selects, length, room(run, &level->list, TML_U32, counts->selected),
               (tml_buffer){0, 0});
    /* The mesh comes first; channels read its half-edges afterwards, but only twins, which
     * make_middles keeps. */
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        make_middles(run, l, t);
    for (uint32_t v = 0; v < run->subdivider->value_count; v++)
        make_values(run, l, v);
    if (run->desc->normals)
        make_normals(run, l);
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        make_part(run, l, t);
    length = triangles_of(run, l + 1);
    if (run->desc->origins)
        add_map(run, length, &next->origins,
                &(tml_map_desc){.kernel = TML_USE(subdiv_inherit),
                                .in = {level->list, level->origins}});
}

/* Adds 3 leaves for each wanted triangle of level l, which is a lower bound, and compares with
 * leaf_bound. */
static void count_wanted(adaptive_run *run, uint32_t l, uint64_t *leaves)
{
    part_level *level = &run->arrays->levels[l];
    uint32_t wanted = 0;
    room(run, &run->arrays->want_ranks, TML_U32, run->levels[l].triangles);
    tml_buffer count = room(run, &run->arrays->count, TML_U32, 1);
    program_scan(&run->p, &(tml_scan_desc){.in = level->wants,
                                           .length = {.count = run->levels[l].triangles},
                                           .out = run->arrays->want_ranks,
                                           .total = count});
    program_read(&run->p, count, &wanted);
    flush(run);
    *leaves += (uint64_t)3 * wanted;
    run->is_beyond = *leaves > run->leaf_bound;
}

/* Refines until no triangle is wanted; run->depth is then the finest level. Stops early with
 * is_beyond if the wanted triangles alone make more than leaf_bound leaves. */
static void go_down(adaptive_run *run)
{
    uint64_t leaves = run->subdivider->info.triangle_count;
    start_level(run);
    for (run->depth = 0; run->p.status == TML_OK; run->depth++) {
        uint32_t l = run->depth;
        run->progress = TML_MAX_OF(run->progress, (double)l / (double)(run->max_depth + 1));
        if (!run->level_room && !tml_progress(run->tml, "refine", run->progress))
            run->p.status = tml_error(run->tml, TML_ERROR_CANCELLED, "%s: cancelled", call);
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

/* ---- up: what is split, and what leaves ------------------------------------------------------ */

/* reds: marks of the triangles of level l that are split in four; at the finest level none is. */
static void redden(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_length length = triangles_of(run, l);
    if (l == run->depth)
        fill(run, 0, length, room(run, &level->reds, TML_U32, length.count));
    else
        add_map(run, length, &level->reds,
                &(tml_map_desc){
                    .kernel = TML_USE(subdiv_red),
                    .in = {level->wants, level->places, level[1].halves[0], level[1].reds}});
}

/* codes: for each leaf of level l its loop_leaf_code, 0 for other triangles. */
static void find_leaves(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_buffer halves = level_halves(run, l, 0); /* stands for what level 0 does not read */
    add_map(run, triangles_of(run, l), &level->codes,
            &(tml_map_desc){.kernel = TML_USE(subdiv_leaf),
                            .params = (tml_params){.u = {l}},
                            .in = {l == 0 ? halves : level[-1].list,
                                   l == 0 ? halves : level[-1].reds, halves, level->reds}});
}

/* The largest error of level l's leaves, and how many triangles they give. */
static void count_leaves(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->arrays->levels[l];
    tml_length length = triangles_of(run, l);
    add_map(
        run, length, &run->arrays->leaf_errors,
        &(tml_map_desc){.kernel = TML_USE(subdiv_leaf_error), .in = {level->codes, level->errors}});
    if (length.count == 0)
        return;
    reduce_max(run, run->arrays->leaf_errors, length,
               count_room(run, tally_place(l, TALLY_WORST), TML_F32));
    take_count(run, tally_place(l, TALLY_WORST));
    tml_buffer total = count_room(run, tally_place(l, TALLY_LEAVES), TML_U32);
    program_expand(&run->p, &(tml_expand_desc){.count_kernel = TML_USE(subdiv_leaf_count),
                                               .in = {level->codes},
                                               .length = length,
                                               .total = total});
    take_count(run, tally_place(l, TALLY_LEAVES));
}

static void go_up(adaptive_run *run)
{
    for (uint32_t l = run->depth + 1; l-- > 0;)
        redden(run, l);
    for (uint32_t l = 0; l <= run->depth; l++) {
        find_leaves(run, l);
        if (!run->level_room)
            count_leaves(run, l);
    }
}

/* used: marks of the vertices that the result has: those of level 0, and those that split an edge
 * at which a triangle is red. used_numbers: their exclusive prefix sum, which is their number in
 * the result. */
static void number_vertices(adaptive_run *run)
{
    adaptive_arrays *arrays = run->arrays;
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++) {
        tml_length length = vertices_of(run, run->depth, t);
        const tml_buffer used = room(run, &arrays->used[t], TML_U32, length.count);
        fill(run, 1, vertices_of(run, 0, t), used);
        for (uint32_t l = 0; l < run->depth; l++)
            if (run->levels[l + 1].vertices[t])
                program_map(&run->p,
                            &(tml_map_desc){.kernel = TML_USE(subdiv_used),
                                            .in = {arrays->levels[l].firsts[t], used,
                                                   level_halves(run, l, 0), arrays->levels[l].reds},
                                            .length = vertices_of(run, l + 1, t),
                                            .out = used});
        run->vertex_count[t] = rank_marks(run, used, length, (tml_buffer){0, 0},
                                          &arrays->used_numbers[t], TALLY_USED + t);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

/* Writes what emit makes of each leaf, the finest levels' first. */
static void expand_leaves(adaptive_run *run, const tml_kernel *emit, uint32_t t, tml_buffer out)
{
    const part_level *levels = run->arrays->levels;
    bool is_origin = emit == TML_USE(subdiv_origin);
    tml_buffer written = room(run, &run->arrays->written, TML_U32, 1), none = {0, 0};
    bool is_first = true;
    for (uint32_t l = run->depth + 1; l-- > 0;) {
        tml_length length = triangles_of(run, l);
        if (length.count == 0 || (!run->is_counted && run->level_leaves[l] == 0))
            continue;
        tml_expand_desc desc = {.count_kernel = TML_USE(subdiv_leaf_count),
                                .emit_kernel = emit,
                                .params = with_flags(l, 0),
                                .in = {levels[l].codes},
                                .length = length,
                                .out = out,
                                .out_first = is_first ? none : written,
                                .total = written};
        desc.in[1] = is_origin ? levels[l].origins : level_halves(run, l, t);
        if (!is_origin)
            desc.in[2] = run->arrays->used_numbers[t];
        program_expand(&run->p, &desc);
        is_first = false;
    }
    if (is_first)
        fill(run, 0, tml_length_of(1), written);
}

static void write_triangles(adaptive_run *run, const tml_subdivide_buffers *buffers)
{
    const tml_kernel *emit = run->desc->slivers ? TML_USE(subdiv_sliver) : TML_USE(subdiv_green);
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        expand_leaves(run, emit, t, subdivide_indices_of(run->subdivider, buffers, t));
    if (run->desc->origins)
        expand_leaves(run, TML_USE(subdiv_origin), 0, buffers->origins);
}

static void write_vertices(adaptive_run *run, const tml_subdivide_buffers *buffers)
{
    adaptive_arrays *arrays = run->arrays;
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++) {
        const tml_compact_desc none = {
            .keep = {.kernel = TML_USE(subdiv_is_marked), .in = {arrays->used[t]}},
            .length = vertices_of(run, run->depth, t)};
        tml_compact_desc desc = none;
        uint32_t payloads = 0;
        if (none.length.count == 0)
            continue;
        for (uint32_t v = 0; v < run->subdivider->value_count; v++) {
            if (run->subdivider->values[v].topology != t)
                continue;
            desc.payloads[payloads++] = (tml_payload){
                level_limits(run, run->depth, v), subdivide_output_of(run->subdivider, buffers, v)};
            if (payloads == TML_MAX_PAYLOADS) {
                program_compact(&run->p, &desc);
                desc = none;
                payloads = 0;
            }
        }
        if (t == 0 && run->desc->normals)
            desc.payloads[payloads++] =
                (tml_payload){arrays->normals[run->depth % 2], buffers->normals};
        if (payloads)
            program_compact(&run->p, &desc);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

void subdivide_adaptive_destroy(tml_context *tml, struct subdivide_adaptive *adaptive)
{
    if (!adaptive)
        return;
    const tml_buffer *arrays = (const tml_buffer *)&adaptive->arrays;
    for (size_t i = 0; i < sizeof adaptive->arrays / sizeof *arrays; i++)
        tml_buffer_destroy(tml, arrays[i]);
    tml_free(tml, adaptive, sizeof *adaptive);
}

/* Makes what a subdivider keeps, unless it is there. */
static tml_status make_memory(tml_subdivider *subdivider)
{
    const size_t size = sizeof *subdivider->adaptive;
    if (subdivider->adaptive)
        return TML_OK;
    subdivider->adaptive = tml_alloc(subdivider->tml, size);
    if (!subdivider->adaptive)
        return tml_error(subdivider->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes",
                         call, size);
    memset(subdivider->adaptive, 0, size);
    return TML_OK;
}

static tml_status check_camera(tml_context *tml, const tml_subdivide_camera *camera)
{
    for (int i = 0; i < 16; i++)
        if (!isfinite(camera->matrix[i]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.camera.matrix[%d] is %g, needs a finite number", call, i,
                             (double)camera->matrix[i]);
    if (camera->width == 0 || camera->height == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.camera's picture is %u x %u pixels, needs at least 1 x 1", call,
                         camera->width, camera->height);
    if (!(camera->nearest >= 0.0f) || !isfinite(camera->nearest))
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.camera.nearest is %g, needs a positive number, or 0 for automatic", call,
            (double)camera->nearest);
    return TML_OK;
}

static tml_status adaptive_check_desc(const tml_subdivider *subdivider, const char *name,
                                      const tml_subdivide_adaptive_desc *desc)
{
    tml_context *tml = subdivider->tml;
    if ((unsigned)desc->criterion > TML_SPLIT_KERNEL)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.criterion is %d, needs 0 to 4",
                         name, (int)desc->criterion);
    bool is_default = desc->criterion == TML_SPLIT_KERNEL && desc->threshold == 0.0f;
    if (!is_default && (!(desc->threshold > 0.0f) || !isfinite(desc->threshold)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.threshold is %g, needs a positive number", name,
                         (double)desc->threshold);
    if (desc->max_depth > TML_SUBDIVIDE_MAX_LEVELS)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.max_depth is %u, needs at most %d", name, desc->max_depth,
                         TML_SUBDIVIDE_MAX_LEVELS);
    if (desc->budget && desc->budget < subdivider->info.triangle_count)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.budget is %llu, needs at least the mesh's own %llu triangles, or 0 for "
            "none",
            name, (unsigned long long)desc->budget,
            (unsigned long long)subdivider->info.triangle_count);
    const tml_kernel *kernel = desc->kernel;
    if (desc->criterion == TML_SPLIT_KERNEL) {
        const uint32_t point = TML_VEC(TML_F32, 3);
        bool fits = kernel && kernel->result == TML_F32 && kernel->param_count >= 3 &&
                    kernel->param_count <= 4 && kernel->params[0] == point &&
                    kernel->params[1] == point && kernel->params[2] == point &&
                    (kernel->param_count == 3 || kernel->params[3] == TML_PARAM_PARAMS);
        if (!fits)
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "%s: desc.kernel %s, needs float f(vec3 a, vec3 b, vec3 m) or with tml_params "
                "behind",
                name, kernel ? "has other parameters or another result" : "is NULL");
    }
    return TML_OK;
}

/* Sets the smallest w that counts, in the camera on the device, from the largest w of the mesh's
 * positions. */
static void set_nearest(adaptive_run *run, tml_buffer camera)
{
    adaptive_arrays *arrays = run->arrays;
    tml_length count = vertices_of(run, 0, 0);
    tml_buffer worst = room(run, &arrays->worst, TML_F32, 1);
    add_map(
        run, count, &arrays->depths,
        &(tml_map_desc){.kernel = TML_USE(subdiv_depth), .in = {level_points(run, 0, 0), camera}});
    reduce_max(run, arrays->depths, count, worst);
    program_map(
        &run->p,
        &(tml_map_desc){.kernel = TML_USE(subdiv_nearest), .in = {camera, worst}, .out = camera});
}

static void set_camera(adaptive_run *run)
{
    const tml_subdivide_camera *camera = &run->desc->camera;
    float words[20];
    memcpy(words, camera->matrix, sizeof camera->matrix);
    words[16] = (float)camera->width;
    words[17] = (float)camera->height;
    words[18] = camera->nearest;
    words[19] = camera->everywhere ? 1.0f : 0.0f;
    tml_buffer buffer = room(run, &run->arrays->camera, TML_F32, TML_ARRAY_SIZE(words));
    run->camera = buffer;
    TML_THEN(run->p.status, tml_buffer_write(run->tml, buffer, 0, TML_ARRAY_SIZE(words), words));
    if (camera->nearest == 0.0f)
        set_nearest(run, buffer);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Sums up the tally of a finished run. */
static void weigh(adaptive_run *run)
{
    run->error = run->deepest_error = 0.0f;
    run->triangle_count = 0;
    run->finest = 0;
    for (uint32_t l = 0; l <= run->depth; l++) {
        float worst;
        memcpy(&worst, &run->tally[tally_place(l, TALLY_WORST)], sizeof worst);
        if (l == run->max_depth)
            run->deepest_error = worst;
        else
            run->error = fmaxf(run->error, worst);
        run->level_leaves[l] = run->tally[tally_place(l, TALLY_LEAVES)];
        run->triangle_count += run->level_leaves[l];
        if (l > 0 && run->tally[tally_place(l - 1, TALLY_SELECTED)] > 0)
            run->finest = l;
    }
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        run->vertex_count[t] = run->tally[TALLY_USED + t];
}

/* One run, down and up. Expected sizes are checked only after it, so a run with them numbers the
 * vertices, too, before it is known whether it is the last. */
static void run_once(adaptive_run *run)
{
    run->is_beyond = false;
    run->place_count = 0;
    memset(run->tally, 0, sizeof run->tally);
    go_down(run);
    if (run->is_beyond)
        return;
    go_up(run);
    if (run->is_counted)
        number_vertices(run);
    read_tally(run);
}

/* Does no count exceed what was expected? */
static bool is_as_expected(const adaptive_run *run)
{
    for (uint32_t l = 0; l <= run->depth; l++) {
        uint32_t selected = tally_place(l, TALLY_SELECTED),
                 vertices = tally_place(l, TALLY_VERTICES);
        if (run->tally[selected] > count_of(run, selected))
            return false;
        for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
            if (run->tally[vertices + t] > count_of(run, vertices + t))
                return false;
    }
    return true;
}

/* Keeps this run's tally for further runs to expect, unless the tally kept so far is of a smaller
 * threshold and has at most twice the leaves: the next camera's runs try thresholds in the same
 * order. */
static void learn(adaptive_run *run)
{
    struct subdivide_adaptive *memory = run->memory;
    uint64_t known = 0;
    for (uint32_t l = 0; l <= memory->known_depth; l++)
        known += memory->known[tally_place(l, TALLY_LEAVES)];
    if (run->is_counted && run->threshold > memory->known_threshold &&
        run->triangle_count >= known / 2)
        return;
    memory->known_threshold = run->threshold;
    memory->known_depth = run->finest;
    memcpy(memory->known, run->tally, sizeof memory->known);
}

/* What an earlier run counted and a margin as bounds. */
static void expect(adaptive_run *run)
{
    for (uint32_t place = 0; place < TALLY_WORDS; place++) {
        /* 0 most likely stays 0: a margin here would add a level to every run. */
        uint64_t known = run->memory->known[place], most = known ? known + known / 8 + 64 : 0;
        run->bounds[place] = (uint32_t)TML_MIN_OF(most, (uint64_t)UINT32_MAX);
    }
}

static void try_threshold(adaptive_run *run, float threshold)
{
    float known = run->memory->known_threshold;
    run->threshold = threshold;
    run->is_counted = !run->tml->engine->is_host && known > 0.0f && threshold >= 0.9f * known;
    expect(run);
    run_once(run);
    if (run->is_counted && run->p.status == TML_OK && (run->is_beyond || !is_as_expected(run))) {
        run->is_counted = false;
        run_once(run);
    }
    if (run->p.status != TML_OK || run->is_beyond)
        return;
    weigh(run);
    learn(run);
}

/* Did the last run make more than the budget? */
static bool is_over_budget(const adaptive_run *run)
{
    return run->is_beyond || (run->desc->budget && run->triangle_count > run->desc->budget);
}

/* Finds the smallest threshold whose triangles are within the budget, by bisection between one that
 * makes too many and one that does not. The last run is with that threshold. */
static void meet_budget(adaptive_run *run, float threshold)
{
    float low = threshold, high = threshold;
    bool is_over = true;
    while (run->p.status == TML_OK && is_over && high < 1e30f) {
        high *= 4.0f;
        try_threshold(run, high);
        is_over = is_over_budget(run);
        if (is_over)
            low = high;
    }
    if (is_over && run->p.status == TML_OK)
        run->p.status =
            tml_error(run->tml, TML_ERROR_INVALID_ARGUMENT,
                      "%s: desc.budget of %llu triangles is too small for semi-sharp creases, "
                      "which are split whatever the threshold; give more, or a smaller max_depth",
                      call, (unsigned long long)run->desc->budget);
    for (int i = 0; run->p.status == TML_OK && i < BUDGET_RUNS && high > low * 1.0005f; i++) {
        float middle = sqrtf(low) * sqrtf(high);
        try_threshold(run, middle);
        if (is_over_budget(run))
            low = middle;
        else if (run->triangle_count == run->desc->budget)
            return;
        else
            high = middle;
    }
    if (run->p.status == TML_OK && run->threshold != high)
        try_threshold(run, high);
}

/* Runs until the criterion is met or the budget is spent. */
static void find_mesh(adaptive_run *run, float threshold, bool *is_within_budget)
{
    run->leaf_bound = run->desc->budget;
    *is_within_budget = true;
    try_threshold(run, threshold);
    if (run->p.status == TML_OK && is_over_budget(run)) {
        *is_within_budget = false;
        meet_budget(run, threshold);
        return;
    }
    /* Children of triangles that were split for their neighbours' sake were not measured on the way
     * down. Where they do not meet what their parents met, a smaller threshold splits them, too. */
    float smaller = threshold;
    for (int i = 0; run->p.status == TML_OK && i < REPEATED_RUNS && run->error > threshold; i++) {
        smaller *= 0.8f;
        try_threshold(run, smaller);
        if (run->p.status == TML_OK && is_over_budget(run)) {
            *is_within_budget = false;
            try_threshold(run, smaller / 0.8f);
            return;
        }
    }
}

/* Creates what the caller lacks of the buffers, and writes the mesh. */
static void deliver(adaptive_run *run, tml_subdivide_result *out)
{
    tml_subdivider *subdivider = run->subdivider;
    const tml_subdivide_adaptive_desc *desc = run->desc;
    subdivide_outputs outputs = {.created = {.positions = {0, 0}}};
    subdivide_counts counts = {.vertices = run->vertex_count[0], .triangles = run->triangle_count};
    for (uint32_t t = 1; t < subdivider->topology_count; t++) {
        counts.values[t - 1] = run->vertex_count[t];
        out->channel_counts[subdivider->channel_slots[t - 1]] = run->vertex_count[t];
    }
    run->p.status = subdivide_outputs_create(subdivider, call, &desc->buffers, desc->normals,
                                             desc->origins, &counts, &outputs);
    if (run->p.status != TML_OK)
        return;
    write_triangles(run, &outputs.buffers);
    write_vertices(run, &outputs.buffers);
    flush(run);
    if (run->p.status == TML_OK)
        subdivide_outputs_deliver(&outputs, out);
    else
        subdivide_buffers_destroy(subdivider->tml, &outputs.created);
}

static tml_status adapt(tml_subdivider *subdivider, const tml_subdivide_adaptive_desc *desc,
                        tml_subdivide_result *out)
{
    tml_status status =
        tml_refuse_recording(subdivider->tml, call, "record tml_subdivide_adaptive_enqueue");
    TML_THEN(status, adaptive_check_desc(subdivider, call, desc));
    if (status == TML_OK && desc->criterion == TML_SPLIT_PIXELS)
        status = check_camera(subdivider->tml, &desc->camera);
    TML_THEN(status, make_memory(subdivider));
    if (status != TML_OK)
        return status;
    adaptive_run run = {.p = program_begin(subdivider->tml, call),
                        .subdivider = subdivider,
                        .tml = subdivider->tml,
                        .memory = subdivider->adaptive,
                        .arrays = &subdivider->adaptive->arrays,
                        .desc = desc,
                        .max_depth = desc->max_depth ? desc->max_depth : TML_SUBDIVIDE_MAX_LEVELS};
    float threshold = desc->threshold > 0.0f ? desc->threshold : 1.0f;
    bool is_within_budget;
    if (desc->criterion == TML_SPLIT_PIXELS)
        set_camera(&run);
    find_mesh(&run, threshold, &is_within_budget);
    if (!run.is_counted)
        number_vertices(&run);
    if (run.p.status == TML_OK) {
        float worst = fmaxf(run.error, run.deepest_error);
        *out = (tml_subdivide_result){.vertex_count = run.vertex_count[0],
                                      .triangle_count = run.triangle_count,
                                      .depth = run.finest,
                                      .is_within_budget = is_within_budget,
                                      .is_within_depth = run.deepest_error <= threshold,
                                      .error = (double)worst / (double)threshold};
        deliver(&run, out);
    }
    return program_run(run.p, (tml_buffer){0, 0});
}

tml_status tml_subdivide_adaptive(tml_subdivider *subdivider,
                                  const tml_subdivide_adaptive_desc *desc,
                                  tml_subdivide_result *out)
{
    if (out)
        *out = (tml_subdivide_result){.vertex_count = 0};
    tml_status status = TML_ENTER_BY(subdivider, desc, out);
    return status ? status : tml_leave(subdivider->tml, adapt(subdivider, desc, out));
}

/* ---- enqueued -------------------------------------------------------------------------------- */

/* The bounds of a run whose levels have at most level_room triangles. An edge of a refined triangle
 * gives a vertex; in a channel, both sides of a seam do. */
static tml_status set_bounds(adaptive_run *run)
{
    const tml_subdivider *subdivider = run->subdivider;
    uint64_t triangles = subdivider->info.triangle_count, split = 0;
    uint64_t vertices[SUBDIVIDE_TOPOLOGIES];
    for (uint32_t t = 0; t < subdivider->topology_count; t++)
        vertices[t] = subdivider->topologies[t].levels[0].vertex_count;
    for (uint32_t l = 0; l < run->max_depth; l++, triangles = 4 * split) {
        split = TML_MIN_OF(triangles, run->level_room / 4);
        run->bounds[tally_place(l, TALLY_SELECTED)] = (uint32_t)split;
        for (uint32_t t = 0; t < subdivider->topology_count; t++) {
            vertices[t] += (t ? 6 : 3) * split;
            if (vertices[t] > UINT32_MAX)
                return tml_error(run->tml, TML_ERROR_UNSUPPORTED,
                                 "%s: %llu triangles in each of %u levels may have 2^32 vertices "
                                 "and more; give a smaller desc.level_triangles or max_depth",
                                 enqueue_call, (unsigned long long)run->level_room, run->max_depth);
            run->bounds[tally_place(l + 1, TALLY_VERTICES + t)] = (uint32_t)vertices[t];
        }
    }
    return TML_OK;
}

static uint64_t room_of(const adaptive_run *run, tml_buffer buffer, uint64_t most)
{
    const tml_slot *slot = tml_slot_of(run->tml, buffer);
    return slot ? TML_MIN_OF(slot->count, most) : most;
}

/* How many of the mesh's vertices, or triangles, have room in all of the outputs. */
static uint64_t vertex_room(const adaptive_run *run, const tml_subdivide_buffers *to)
{
    uint64_t most = room_of(run, to->positions, UINT32_MAX);
    most = room_of(run, to->normals, most);
    for (uint32_t a = 0; a < TML_SUBDIVIDE_MAX_ATTRIBUTES; a++)
        most = room_of(run, to->attributes[a], most);
    return most;
}

static uint64_t triangle_room(const adaptive_run *run, const tml_subdivide_buffers *to)
{
    uint64_t most = room_of(run, to->origins, room_of(run, to->indices, UINT32_MAX));
    for (uint32_t c = 0; c < TML_SUBDIVIDE_MAX_CHANNELS; c++)
        most = room_of(run, to->channel_indices[c], most);
    return most;
}

/* The bit of counts[2] for channel values that have no room is that of the vertices. */
static void adaptive_report(adaptive_run *run, const tml_subdivide_adaptive_enqueue_desc *desc,
                            const tml_subdivide_buffers *to)
{
    const adaptive_arrays *arrays = run->arrays;
    tml_buffer triangles = arrays->written;
    tml_map_desc map = {.kernel = TML_USE(subdiv_counts),
                        .params.u = {(uint32_t)vertex_room(run, to),
                                     (uint32_t)triangle_room(run, to), run->depth > 0},
                        .in = {arrays->counts[TALLY_USED], triangles,
                               run->depth ? arrays->levels[run->depth].sizes : triangles},
                        .length = tml_length_of(3),
                        .out = desc->counts};
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
                                             .out = desc->draw});
}

/* Checks the buffers of an enqueued call that the waiting one lacks. */
static tml_status check_enqueued(tml_subdivider *subdivider,
                                 const tml_subdivide_adaptive_enqueue_desc *desc)
{
    static const tml_type words[] = {TML_U32, TML_TYPE_NONE}, floats[] = {TML_F32, TML_TYPE_NONE};
    tml_context *tml = subdivider->tml;
    const bool has_camera = desc->adaptive->criterion == TML_SPLIT_PIXELS;
    const struct {
        const char *field;
        tml_buffer buffer;
        const tml_type *types;
        uint64_t count;
        bool is_needed;
    } buffers[] = {{"desc.camera", desc->camera, floats, TML_SUBDIVIDE_CAMERA_FLOATS, has_camera},
                   {"desc.counts", desc->counts, words, 3, false},
                   {"desc.draw", desc->draw, words, 5, false}};
    if (desc->adaptive->budget)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: desc.adaptive has a budget, which tml_subdivide_adaptive keeps by "
                         "trying; enqueued it is 0",
                         enqueue_call);
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++) {
        if (!buffers[i].is_needed && tml_buffer_is_none(buffers[i].buffer))
            continue;
        tml_status status = tml_check_buffer(tml, enqueue_call, buffers[i].field, buffers[i].buffer,
                                             buffers[i].types, buffers[i].count);
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

/* Resolves a desc into a run with its bounds. */
static tml_status enqueue_resolve(tml_subdivider *subdivider,
                                  const tml_subdivide_adaptive_enqueue_desc *desc,
                                  adaptive_run *run, tml_subdivide_buffers *to)
{
    tml_context *tml = subdivider->tml;
    const tml_subdivide_adaptive_desc *adaptive = desc->adaptive;
    if (!adaptive)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.adaptive is NULL, needs what tml_subdivide_adaptive takes",
                         enqueue_call);
    tml_status status = adaptive_check_desc(subdivider, enqueue_call, adaptive);
    TML_THEN(status, check_enqueued(subdivider, desc));
    TML_THEN(status, subdivide_outputs_given(subdivider, enqueue_call, &adaptive->buffers,
                                             adaptive->normals, adaptive->origins, desc, to));
    if (status != TML_OK)
        return status;
    *run = (adaptive_run){.subdivider = subdivider,
                          .tml = tml,
                          .desc = adaptive,
                          .threshold = adaptive->threshold > 0.0f ? adaptive->threshold : 1.0f,
                          .camera = desc->camera,
                          .is_counted = true,
                          .max_depth =
                              adaptive->max_depth ? adaptive->max_depth : TML_SUBDIVIDE_MAX_LEVELS};
    run->level_room = desc->level_triangles ? desc->level_triangles : triangle_room(run, to);
    if (run->level_room < 4 || run->level_room > max_triangles)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.level_triangles, or the room for triangles that stands for it, "
                         "is %llu, needs 4 to %llu",
                         enqueue_call, (unsigned long long)run->level_room,
                         (unsigned long long)max_triangles);
    return set_bounds(run);
}

static program adaptive_record(tml_subdivider *subdivider,
                               const tml_subdivide_adaptive_enqueue_desc *desc)
{
    adaptive_run run;
    adaptive_arrays arrays = {.camera = {0, 0}};
    tml_subdivide_buffers to;
    tml_status status = enqueue_resolve(subdivider, desc, &run, &to);
    run.arrays = &arrays;
    run.p = program_begin(subdivider->tml, enqueue_call);
    run.p.status = status ? status : run.p.status;
    if (run.p.status)
        return run.p;
    go_down(&run);
    go_up(&run);
    number_vertices(&run);
    write_triangles(&run, &to);
    write_vertices(&run, &to);
    adaptive_report(&run, desc, &to);
    return run.p;
}

size_t tml_subdivide_adaptive_enqueue_scratch_size(tml_subdivider *subdivider,
                                                   const tml_subdivide_adaptive_enqueue_desc *desc)
{
    return TML_ENTER_BY(subdivider, desc)
               ? 0
               : tml_leave_with(subdivider->tml,
                                program_scratch_size(adaptive_record(subdivider, desc)));
}

tml_status tml_subdivide_adaptive_enqueue(tml_subdivider *subdivider,
                                          const tml_subdivide_adaptive_enqueue_desc *desc)
{
    tml_status status = TML_ENTER_BY(subdivider, desc);
    return status ? status
                  : tml_leave(subdivider->tml, program_enqueue(adaptive_record(subdivider, desc),
                                                               (tml_buffer){0, 0}));
}
