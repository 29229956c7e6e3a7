/* Subdivide: triangles as small as a criterion wants them.
 *
 * Down, level by level: of the triangles at hand, want those with an edge beyond the threshold; select
 * these and all that touch them, which is what the masks of the next level's vertices need; refine what is
 * selected. What is wanted next lies among the children of what was wanted, and all that touches it,
 * twice over, among the children of what was selected; so every mask finds its neighbours, and what is
 * beyond them (LOOP_OUTSIDE) is never asked for.
 *
 * Up again: a triangle is red, split in four, if it is wanted or if one across an edge of its children is
 * red, so that neighbours differ by one level at most. What is there and is not red is a leaf, and leaves by
 * itself (green where the edge's other side is red).
 *
 * A vertex keeps its number through all levels; where it goes in the limit is found once, when it arises, so
 * every triangle sees it at the same place. Vertices that only masks needed are dropped at the end.
 *
 * Each step is a map, a scan, a compaction or an expansion of streams, whose sizes are counts of steps
 * before. A first run reads each of them back where it is needed. Later ones, on engines where that
 * means to wait, expect what the last one counted and somewhat more: places that are not taken are marked
 * as such (subdivide.k.h) and change no result, the whole run is enqueued, and all counts are read
 * at its end. If one is more than was expected, the run is made anew with exact sizes. */
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "subdivide/subdivide_internal.h"

static const char call[] = "tml_subdivide_adaptive";

static const uint64_t max_triangles = 0xffffffffu / 12;

/* Runs with other thresholds: to meet a budget (halving an interval of logarithms), and to meet a
 * criterion that was met by parents but not by children. */
enum { BUDGET_RUNS = 24, REPEATED_RUNS = 3 };

/* What a run counts, as words: of each level, then of the mesh. */
enum {
    TALLY_SELECTED,
    TALLY_LEAVES,
    TALLY_WORST, /* a float: the leaves' worst error */
    TALLY_FRESH, /* of each topology */
    TALLY_LEVEL = TALLY_FRESH + SUBDIVIDE_TOPOLOGIES,
    TALLY_VERTICES = TALLY_LEVEL * (TML_SUBDIVIDE_MAX_LEVELS + 1), /* of each topology */
    TALLY_WORDS = TALLY_VERTICES + SUBDIVIDE_TOPOLOGIES,
};

/* One level's arrays, kept for the next call. Of topologies [0] is the mesh. */
typedef struct part_level {
    subdivide_spare halves[SUBDIVIDE_TOPOLOGIES], owns[SUBDIVIDE_TOPOLOGIES];
    subdivide_spare ranks[SUBDIVIDE_TOPOLOGIES], firsts[SUBDIVIDE_TOPOLOGIES];
    subdivide_spare tree, errors, wearing, wants, touched, selects, select_ranks, want_ranks,
        places, list;
    subdivide_spare origins, reds, there, codes;
    /* Of this level: triangles, those selected, vertices that arose before it and those that arise. */
    uint64_t triangle_count, selected_count;
    uint64_t vertex_count[SUBDIVIDE_TOPOLOGIES], fresh_count[SUBDIVIDE_TOPOLOGIES];
} part_level;

struct subdivide_adaptive {
    part_level levels[TML_SUBDIVIDE_MAX_LEVELS + 1];
    subdivide_spare vertices[SUBDIVIDE_TOPOLOGIES][2];
    subdivide_spare points[SUBDIVIDE_VALUES][2]; /* of a level and the next */
    subdivide_spare limits[SUBDIVIDE_VALUES][2], fresh_limits[SUBDIVIDE_VALUES];
    subdivide_spare worn_limits[SUBDIVIDE_VALUES];
    subdivide_spare normals[2], fresh_normals, worn_normals, vertex_normals;
    subdivide_spare used[SUBDIVIDE_TOPOLOGIES][2], fresh_used, numbers[SUBDIVIDE_TOPOLOGIES];
    subdivide_spare triples[SUBDIVIDE_TOPOLOGIES][2], leaf_triples, pairs[2], leaf_pairs;
    subdivide_spare kept, middles, low_ends, high_ends, edge_errors, leaf_errors, depths;
    subdivide_spare counts[TALLY_WORDS]; /* one element each */
    tml_buffer count, camera, worst, tally;
    /* What a run at that threshold counted; none before the first: 0. */
    float known_threshold;
    uint32_t known_depth;
    uint32_t known[TALLY_WORDS];
};

typedef struct adaptive_run {
    tml_subdivider *subdivider;
    tml_context *tml;
    struct subdivide_adaptive *memory;
    const tml_subdivide_adaptive_desc *desc;
    float threshold; /* of this run */
    uint32_t max_depth;
    uint32_t depth;      /* the finest level, or the last that is expected */
    uint64_t leaf_bound; /* the run stops beyond so many triangles; 0: never */
    bool is_beyond;
    bool is_expected; /* sizes are expected, not read */
    double progress;  /* that was reported: another run does not go back */
    uint32_t tally[TALLY_WORDS];
    uint32_t places[TALLY_WORDS], place_count; /* what is to be read into it */
    /* Of what came out. */
    uint64_t triangle_count, vertex_count[SUBDIVIDE_TOPOLOGIES];
    uint64_t level_leaves[TML_SUBDIVIDE_MAX_LEVELS + 1];
    uint32_t finest;            /* level with triangles */
    float error, deepest_error; /* of leaves, and of leaves at max_depth */
} adaptive_run;

/* ---- streams --------------------------------------------------------------------------------- */

/* Room for count elements and, where it must grow, a quarter more. */
static tml_status room(adaptive_run *run, subdivide_spare *spare, tml_type type, uint64_t count)
{
    tml_buffer buffer;
    bool grows = tml_buffer_is_none(spare->buffer) || spare->type != type || spare->count < count;
    return subdivide_spare_get(run->subdivider, spare, type,
                               grows ? count + count / 4 + 64 : spare->count, &buffer);
}

typedef struct map_args {
    tml_buffer in[TML_MAX_INPUTS];
    tml_params params;
} map_args;

/* Maps count elements into a spare. */
static tml_status map_to(adaptive_run *run, const tml_kernel *kernel, const map_args *args,
                         uint64_t count, subdivide_spare *out)
{
    tml_status status = room(run, out, kernel->result, count);
    if (status != TML_OK || count == 0)
        return status;
    tml_map_desc desc = {
        .kernel = kernel, .params = args->params, .length = {.count = count}, .out = out->buffer};
    memcpy(desc.in, args->in, sizeof desc.in);
    return tml_map(run->tml, &desc);
}

#define MAP_ARGS(...) (&(const map_args){.in = {__VA_ARGS__}})

/* ---- counts ---------------------------------------------------------------------------------- */

static uint32_t tally_place(uint32_t l, uint32_t which)
{
    return l * TALLY_LEVEL + which;
}

/* What an operation counts goes to the buffer of its place. */
static tml_status count_room(adaptive_run *run, uint32_t place, tml_type type, tml_buffer *out)
{
    return subdivide_spare_get(run->subdivider, &run->memory->counts[place], type, 1, out);
}

/* Once the operation is enqueued: reads the count, or leaves that for the end. */
static tml_status take_count(adaptive_run *run, uint32_t place)
{
    if (run->is_expected) {
        run->places[run->place_count++] = place;
        return TML_OK;
    }
    return tml_buffer_read(run->tml, run->memory->counts[place].buffer, &run->tally[place]);
}

/* Room for what a place counts: as much as it is, or as is expected. */
static uint64_t count_of(const adaptive_run *run, uint32_t place)
{
    if (!run->is_expected)
        return run->tally[place];
    /* Where there was none there will be none, most likely: more would be a level more. */
    uint64_t known = run->memory->known[place];
    return known ? known + known / 8 + 64 : 0;
}

/* Reads what was left for the end, by one wait. */
static tml_status read_tally(adaptive_run *run)
{
    struct subdivide_adaptive *memory = run->memory;
    tml_status status = TML_OK;
    for (uint32_t i = 0; status == TML_OK && i < run->place_count; i += 3) {
        tml_map_desc desc = {.kernel = subdivide_note, .in = {memory->tally}, .out = memory->tally};
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t place = run->places[TML_MIN_OF(i + k, run->place_count - 1)];
            desc.in[1 + k] = memory->counts[place].buffer;
            desc.params.u[k] = place;
        }
        status = tml_map(run->tml, &desc);
    }
    return status != TML_OK || run->place_count == 0
               ? status
               : tml_buffer_read(run->tml, memory->tally, run->tally);
}

/* Running counts of marks (0 or 1) before each; *total of them all, or room for them. */
static tml_status rank_marks(adaptive_run *run, tml_buffer marks, uint64_t count,
                             subdivide_spare *ranks, uint32_t place, uint64_t *total)
{
    *total = 0;
    tml_buffer counted;
    tml_status status = room(run, ranks, TML_U32, count);
    if (status == TML_OK)
        status = count_room(run, place, TML_U32, &counted);
    if (status != TML_OK || count == 0)
        return status;
    status = tml_scan(run->tml, &(tml_scan_desc){.in = marks,
                                                 .length = {.count = count},
                                                 .out = ranks->buffer,
                                                 .total = counted});
    if (status == TML_OK)
        status = take_count(run, place);
    *total = TML_MIN_OF(count_of(run, place), count);
    return status;
}

/* The places of marks; LOOP_NONE behind the last, where there may be fewer than total. */
static tml_status list_marks(adaptive_run *run, tml_buffer marks, uint64_t count, uint64_t total,
                             subdivide_spare *list)
{
    tml_status status = run->is_expected
                            ? map_to(run, subdivide_none, MAP_ARGS({0, 0}), total, list)
                            : room(run, list, TML_U32, total);
    if (status != TML_OK || total == 0)
        return status;
    return tml_compact(run->tml,
                       &(tml_compact_desc){.keep = {.kernel = subdivide_is_marked, .in = {marks}},
                                           .length = {.count = count},
                                           .indices = list->buffer});
}

static tml_status reduce_max(adaptive_run *run, tml_buffer in, uint64_t count, uint32_t place)
{
    tml_buffer worst;
    tml_status status = count_room(run, place, TML_F32, &worst);
    if (status == TML_OK)
        status = tml_reduce(run->tml, &(tml_reduce_desc){.fold = TML_FOLD_MAX,
                                                         .in = in,
                                                         .length = {.count = count},
                                                         .out = worst});
    return status != TML_OK ? status : take_count(run, place);
}

static tml_buffer level_halves(const adaptive_run *run, uint32_t l, uint32_t t)
{
    return run->memory->levels[l].halves[t].buffer;
}

/* Tables and values of level l lie at [l % 2]. */
static tml_buffer level_vertices(const adaptive_run *run, uint32_t l, uint32_t t)
{
    return run->memory->vertices[t][l % 2].buffer;
}

static tml_buffer level_points(const adaptive_run *run, uint32_t l, uint32_t v)
{
    return l == 0 ? run->subdivider->values[v].base : run->memory->points[v][l % 2].buffer;
}

static tml_buffer level_limits(const adaptive_run *run, uint32_t l, uint32_t v)
{
    return run->memory->limits[v][l % 2].buffer;
}

static uint32_t flags_of(const adaptive_run *run, uint32_t v)
{
    return run->subdivider->topologies[run->subdivider->values[v].topology].flags;
}

/* Does anything still wear off at level l? */
static bool is_wearing(const adaptive_run *run, uint32_t l)
{
    return run->subdivider->info.max_sharpness > (float)l;
}

static tml_params with_flags(uint64_t count, uint32_t flags)
{
    return (tml_params){.u = {(uint32_t)count, 0, flags, 0}};
}

/* ---- level 0 --------------------------------------------------------------------------------- */

/* Copies words records of a level's table, which later levels write. */
static tml_status copy_records(adaptive_run *run, tml_buffer from, uint64_t count,
                               subdivide_spare *to)
{
    tml_status status = room(run, to, TML_VEC(TML_U32, 4), count);
    if (status != TML_OK || count == 0)
        return status;
    return tml_map(run->tml, &(tml_map_desc){.kernel = subdivide_copy_record,
                                             .in = {from},
                                             .length = {.count = count},
                                             .out = to->buffer});
}

static tml_status start_level(adaptive_run *run)
{
    tml_subdivider *subdivider = run->subdivider;
    struct subdivide_adaptive *memory = run->memory;
    part_level *level = &memory->levels[0];
    tml_status status = TML_OK;
    level->triangle_count = subdivider->info.triangle_count;
    for (uint32_t t = 0; status == TML_OK && t < subdivider->topology_count; t++) {
        const subdivide_level *base = &subdivider->topologies[t].levels[0];
        level->vertex_count[t] = base->vertex_count;
        status = copy_records(run, base->halves, 3 * base->triangle_count, &level->halves[t]);
        if (status == TML_OK)
            status = copy_records(run, base->vertices, base->vertex_count, &memory->vertices[t][0]);
        if (status == TML_OK)
            status = map_to(run, subdivide_one, MAP_ARGS({0, 0}), base->vertex_count,
                            &memory->used[t][0]);
    }
    for (uint32_t v = 0; status == TML_OK && v < subdivider->value_count; v++) {
        const subdivide_values *values = &subdivider->values[v];
        const subdivide_level *base = &subdivider->topologies[values->topology].levels[0];
        status = map_to(run, subdivide_settle_kernels[values->components - 1],
                        &(const map_args){.in = {base->halves, base->vertices, values->base},
                                          .params = with_flags(0, flags_of(run, v))},
                        base->vertex_count, &memory->limits[v][0]);
    }
    const subdivide_level *base = &subdivider->topologies[0].levels[0];
    if (status == TML_OK && run->desc->normals)
        status = map_to(run, subdivide_vertex_normal,
                        &(const map_args){.in = {base->halves, base->vertices,
                                                 subdivider->values[0].base, subdivider->turns}},
                        base->vertex_count, &memory->normals[0]);
    if (status == TML_OK)
        status = map_to(run, subdivide_one, MAP_ARGS({0, 0}), level->triangle_count, &level->tree);
    if (status == TML_OK && run->desc->origins && !tml_buffer_is_none(subdivider->triangle_origins))
        status = map_to(run, subdivide_copy_mark, MAP_ARGS(subdivider->triangle_origins),
                        level->triangle_count, &level->origins);
    else if (status == TML_OK && run->desc->origins)
        status = map_to(run, subdivide_position, MAP_ARGS({0, 0}), level->triangle_count,
                        &level->origins);
    return status;
}

/* ---- down: what is wanted -------------------------------------------------------------------- */

/* Limits in the middle of all edges of a level. */
static tml_status find_middles(adaptive_run *run, uint32_t l)
{
    struct subdivide_adaptive *memory = run->memory;
    const part_level *level = &memory->levels[l];
    tml_buffer halves = level_halves(run, l, 0), points = level_points(run, l, 0);
    tml_params params = with_flags(0, flags_of(run, 0));
    tml_status status = map_to(
        run, subdivide_kept,
        &(const map_args){.in = {halves, level_vertices(run, l, 0), points}, .params = params},
        level->vertex_count[0], &memory->kept);
    if (status == TML_OK)
        status =
            map_to(run, subdivide_middle_ahead,
                   &(const map_args){.in = {halves, points, memory->kept.buffer}, .params = params},
                   3 * level->triangle_count, &memory->middles);
    return status;
}

static tml_status measure_by_kernel(adaptive_run *run, uint32_t l)
{
    struct subdivide_adaptive *memory = run->memory;
    part_level *level = &memory->levels[l];
    uint64_t count = 3 * level->triangle_count;
    tml_buffer halves = level_halves(run, l, 0), limits = level_limits(run, l, 0);
    tml_status status =
        map_to(run, subdivide_low_end, MAP_ARGS(halves, limits), count, &memory->low_ends);
    if (status == TML_OK)
        status =
            map_to(run, subdivide_high_end, MAP_ARGS(halves, limits), count, &memory->high_ends);
    if (status == TML_OK)
        status = map_to(run, run->desc->kernel,
                        &(const map_args){.in = {memory->low_ends.buffer, memory->high_ends.buffer,
                                                 memory->middles.buffer},
                                          .params = run->desc->params},
                        count, &memory->edge_errors);
    if (status == TML_OK)
        status = map_to(run, subdivide_worst, MAP_ARGS(memory->edge_errors.buffer),
                        level->triangle_count, &level->errors);
    return status;
}

/* The worst that the criterion says of each triangle's edges. */
static tml_status measure(adaptive_run *run, uint32_t l)
{
    struct subdivide_adaptive *memory = run->memory;
    part_level *level = &memory->levels[l];
    tml_subdivide_criterion criterion = run->desc->criterion;
    tml_buffer halves = level_halves(run, l, 0), limits = level_limits(run, l, 0);
    uint64_t count = level->triangle_count;
    if (criterion == TML_SPLIT_LENGTH)
        return map_to(run, subdivide_length, MAP_ARGS(halves, limits), count, &level->errors);
    if (criterion == TML_SPLIT_PIXELS)
        return map_to(run, subdivide_pixels, MAP_ARGS(halves, limits, memory->camera), count,
                      &level->errors);
    tml_status status = find_middles(run, l);
    if (status != TML_OK)
        return status;
    if (criterion == TML_SPLIT_KERNEL)
        return measure_by_kernel(run, l);
    return map_to(run, criterion == TML_SPLIT_ANGLE ? subdivide_angle : subdivide_distance,
                  MAP_ARGS(halves, limits, memory->middles.buffer), count, &level->errors);
}

/* Marks what is wanted, and selects what touches it. */
static tml_status select_triangles(adaptive_run *run, uint32_t l)
{
    struct subdivide_adaptive *memory = run->memory;
    part_level *level = &memory->levels[l];
    tml_buffer halves = level_halves(run, l, 0), vertices = level_vertices(run, l, 0);
    tml_params threshold = {.f = {run->threshold}};
    uint64_t count = level->triangle_count;
    tml_status status = TML_OK;
    if (is_wearing(run, l)) {
        status = map_to(run, subdivide_wearing, MAP_ARGS(halves, vertices), count, &level->wearing);
        if (status == TML_OK)
            status = map_to(run, subdivide_want_wearing,
                            &(const map_args){.in = {level->tree.buffer, level->errors.buffer,
                                                     level->wearing.buffer},
                                              .params = threshold},
                            count, &level->wants);
    } else {
        status = map_to(run, subdivide_want,
                        &(const map_args){.in = {level->tree.buffer, level->errors.buffer},
                                          .params = threshold},
                        count, &level->wants);
    }
    if (status == TML_OK)
        status = map_to(run, subdivide_touch, MAP_ARGS(halves, vertices, level->wants.buffer),
                        level->vertex_count[0], &level->touched);
    if (status == TML_OK)
        status = map_to(run, subdivide_select, MAP_ARGS(halves, level->touched.buffer), count,
                        &level->selects);
    if (status == TML_OK)
        status = rank_marks(run, level->selects.buffer, count, &level->select_ranks,
                            tally_place(l, TALLY_SELECTED), &level->selected_count);
    return status;
}

/* ---- down: the next level -------------------------------------------------------------------- */

/* Gives the edges of refined triangles their middles. */
static tml_status make_middles(adaptive_run *run, uint32_t l, uint32_t t)
{
    part_level *level = &run->memory->levels[l];
    uint64_t halves = 3 * level->triangle_count;
    tml_status status =
        map_to(run, subdivide_own,
               MAP_ARGS(level_halves(run, l, t), level_halves(run, l, 0), level->places.buffer),
               halves, &level->owns[t]);
    if (status == TML_OK)
        status = rank_marks(run, level->owns[t].buffer, halves, &level->ranks[t],
                            tally_place(l, TALLY_FRESH + t), &level->fresh_count[t]);
    if (status == TML_OK)
        status = list_marks(run, level->owns[t].buffer, halves, level->fresh_count[t],
                            &level->firsts[t]);
    if (status == TML_OK)
        status =
            tml_map(run->tml, &(tml_map_desc){.kernel = subdivide_middle,
                                              .params = {.u = {(uint32_t)level->vertex_count[t],
                                                               (uint32_t)level->fresh_count[t]}},
                                              .in = {level_halves(run, l, t), level->owns[t].buffer,
                                                     level->ranks[t].buffer},
                                              .length = {.count = halves},
                                              .out = level_halves(run, l, t)});
    return status;
}

static tml_status make_part(adaptive_run *run, uint32_t l, uint32_t t)
{
    struct subdivide_adaptive *memory = run->memory;
    part_level *level = &memory->levels[l], *next = &memory->levels[l + 1];
    next->vertex_count[t] = level->vertex_count[t] + level->fresh_count[t];
    tml_status status =
        map_to(run, subdivide_part_half,
               MAP_ARGS(level_halves(run, l, t), level->list.buffer, level->places.buffer),
               3 * next->triangle_count, &next->halves[t]);
    if (status == TML_OK)
        status =
            map_to(run, subdivide_part_vertex,
                   &(const map_args){.in = {level_vertices(run, l, t), level_halves(run, l, t),
                                            level->firsts[t].buffer, level->places.buffer},
                                     .params = with_flags(level->vertex_count[t],
                                                          run->subdivider->topologies[t].flags)},
                   next->vertex_count[t], &memory->vertices[t][(l + 1) % 2]);
    return status;
}

/* The next level's values, and the limits of those that are new. */
static tml_status make_values(adaptive_run *run, uint32_t l, uint32_t v)
{
    struct subdivide_adaptive *memory = run->memory;
    const subdivide_values *values = &run->subdivider->values[v];
    uint32_t t = values->topology, form = values->components - 1;
    const part_level *level = &memory->levels[l];
    uint64_t kept = level->vertex_count[t], fresh = level->fresh_count[t];
    tml_buffer halves = level_halves(run, l, t), vertices = level_vertices(run, l, t);
    tml_buffer points = level_points(run, l, v), limits = level_limits(run, l, v);
    tml_params params = with_flags(kept, flags_of(run, v));
    subdivide_spare *next = &memory->points[v][(l + 1) % 2];
    tml_status status =
        map_to(run, subdivide_child_kernels[form],
               &(const map_args){.in = {halves, vertices, level->firsts[t].buffer, points},
                                 .params = params},
               kept + fresh, next);
    if (status == TML_OK)
        status =
            map_to(run, subdivide_new_limit_kernels[form],
                   &(const map_args){.in = {level->firsts[t].buffer, halves, points, next->buffer},
                                     .params = params},
                   fresh, &memory->fresh_limits[v]);
    if (status == TML_OK && is_wearing(run, l)) {
        status = map_to(
            run, subdivide_worn_limit_kernels[form],
            &(const map_args){.in = {limits, halves, vertices, next->buffer}, .params = params},
            kept, &memory->worn_limits[v]);
        limits = memory->worn_limits[v].buffer;
    }
    if (status == TML_OK)
        status = map_to(
            run, subdivide_join_kernels[form],
            &(const map_args){.in = {limits, memory->fresh_limits[v].buffer}, .params = params},
            kept + fresh, &memory->limits[v][(l + 1) % 2]);
    return status;
}

static tml_status make_normals(adaptive_run *run, uint32_t l)
{
    struct subdivide_adaptive *memory = run->memory;
    const part_level *level = &memory->levels[l];
    uint64_t kept = level->vertex_count[0], fresh = level->fresh_count[0];
    tml_buffer halves = level_halves(run, l, 0), vertices = level_vertices(run, l, 0);
    tml_buffer next = memory->points[0][(l + 1) % 2].buffer, old = memory->normals[l % 2].buffer;
    tml_params params = with_flags(0, flags_of(run, 0));
    tml_status status = map_to(
        run, subdivide_new_normal,
        &(const map_args){.in = {level->firsts[0].buffer, halves, level_points(run, l, 0), next},
                          .params = params},
        fresh, &memory->fresh_normals);
    if (status == TML_OK && is_wearing(run, l)) {
        status = map_to(run, subdivide_wearing_normal,
                        MAP_ARGS(halves, vertices, next, run->subdivider->turns), kept,
                        &memory->vertex_normals);
        if (status == TML_OK)
            status = map_to(run, subdivide_worn_normal,
                            MAP_ARGS(old, memory->vertex_normals.buffer, halves, vertices), kept,
                            &memory->worn_normals);
        old = memory->worn_normals.buffer;
    }
    if (status == TML_OK)
        status = map_to(run, subdivide_join_kernels[2],
                        &(const map_args){.in = {old, memory->fresh_normals.buffer},
                                          .params = with_flags(kept, 0)},
                        kept + fresh, &memory->normals[(l + 1) % 2]);
    return status;
}

static tml_status refine(adaptive_run *run, uint32_t l)
{
    struct subdivide_adaptive *memory = run->memory;
    part_level *level = &memory->levels[l], *next = &memory->levels[l + 1];
    next->triangle_count = 4 * level->selected_count;
    if (next->triangle_count > max_triangles && run->is_expected) {
        run->is_beyond = true; /* of what is expected, that is */
        return TML_OK;
    }
    if (next->triangle_count > max_triangles)
        return tml_error(
            run->tml, TML_ERROR_UNSUPPORTED,
            "%s: level %u has %llu triangles, can be at most %llu; give a larger threshold, "
            "or a smaller desc.max_depth or budget",
            call, l + 1, (unsigned long long)next->triangle_count,
            (unsigned long long)max_triangles);
    tml_status status =
        map_to(run, subdivide_place,
               &(const map_args){.in = {level->selects.buffer, level->select_ranks.buffer},
                                 .params = with_flags(level->selected_count, 0)},
               level->triangle_count, &level->places);
    if (status == TML_OK)
        status = list_marks(run, level->selects.buffer, level->triangle_count,
                            level->selected_count, &level->list);
    /* Channels look at the mesh's half-edges before these get their middles, which changes no twin. */
    for (uint32_t t = 0; status == TML_OK && t < run->subdivider->topology_count; t++)
        status = make_middles(run, l, t);
    for (uint32_t v = 0; status == TML_OK && v < run->subdivider->value_count; v++)
        status = make_values(run, l, v);
    if (status == TML_OK && run->desc->normals)
        status = make_normals(run, l);
    for (uint32_t t = 0; status == TML_OK && t < run->subdivider->topology_count; t++)
        status = make_part(run, l, t);
    if (status == TML_OK)
        status = map_to(run, subdivide_inherit, MAP_ARGS(level->list.buffer, level->wants.buffer),
                        next->triangle_count, &next->tree);
    if (status == TML_OK && run->desc->origins)
        status = map_to(run, subdivide_inherit, MAP_ARGS(level->list.buffer, level->origins.buffer),
                        next->triangle_count, &next->origins);
    return status;
}

/* Adds what splitting the wanted triangles of a level makes. */
static tml_status count_wanted(adaptive_run *run, uint32_t l, uint64_t *leaves)
{
    part_level *level = &run->memory->levels[l];
    uint64_t wanted = 0;
    tml_status status = room(run, &level->want_ranks, TML_U32, level->triangle_count);
    if (status == TML_OK)
        status = tml_scan(run->tml, &(tml_scan_desc){.in = level->wants.buffer,
                                                     .length = {.count = level->triangle_count},
                                                     .out = level->want_ranks.buffer,
                                                     .total = run->memory->count});
    if (status == TML_OK)
        status = tml_buffer_read_count(run->tml, run->memory->count, &wanted);
    *leaves += 3 * wanted;
    run->is_beyond = *leaves > run->leaf_bound;
    return status;
}

/* Goes down until nothing is wanted; run->depth is then the finest level. Stops as soon as the triangles
 * that are wanted make more than leaf_bound. */
static tml_status go_down(adaptive_run *run)
{
    uint64_t leaves = run->subdivider->info.triangle_count;
    tml_status status = start_level(run);
    for (run->depth = 0; status == TML_OK; run->depth++) {
        uint32_t l = run->depth;
        part_level *level = &run->memory->levels[l];
        run->progress = TML_MAX_OF(run->progress, (double)l / (double)(run->max_depth + 1));
        if (!tml_progress(run->tml, "refine", run->progress))
            return tml_error(run->tml, TML_ERROR_CANCELLED, "%s: cancelled", call);
        level->selected_count = 0;
        status = measure(run, l);
        if (status != TML_OK || l == run->max_depth)
            break;
        status = select_triangles(run, l);
        if (status != TML_OK || level->selected_count == 0)
            break;
        if (run->leaf_bound && !run->is_expected) {
            status = count_wanted(run, l, &leaves);
            if (status != TML_OK || run->is_beyond)
                break;
        }
        status = refine(run, l);
        if (run->is_beyond)
            break;
    }
    return status;
}

/* ---- up: what is split, and what leaves ------------------------------------------------------ */

/* Which triangles are red: those of the finest level are not. */
static tml_status redden(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->memory->levels[l];
    if (l == run->depth)
        return map_to(run, subdivide_zero, MAP_ARGS({0, 0}), level->triangle_count, &level->reds);
    const part_level *next = &run->memory->levels[l + 1];
    return map_to(run, subdivide_red,
                  MAP_ARGS(level->wants.buffer, level->places.buffer, next->halves[0].buffer,
                           next->reds.buffer),
                  level->triangle_count, &level->reds);
}

/* What leaves at a level, and how far it is from the criterion. */
static tml_status find_leaves(adaptive_run *run, uint32_t l)
{
    part_level *level = &run->memory->levels[l];
    const part_level *parent = l ? &run->memory->levels[l - 1] : NULL;
    uint64_t count = level->triangle_count;
    tml_status status =
        parent ? map_to(run, subdivide_inherit, MAP_ARGS(parent->list.buffer, parent->reds.buffer),
                        count, &level->there)
               : map_to(run, subdivide_one, MAP_ARGS({0, 0}), count, &level->there);
    if (status == TML_OK)
        status = map_to(run, subdivide_leaf,
                        MAP_ARGS(level->there.buffer, level->reds.buffer, level_halves(run, l, 0),
                                 level->reds.buffer),
                        count, &level->codes);
    if (status == TML_OK)
        status =
            map_to(run, subdivide_leaf_error, MAP_ARGS(level->codes.buffer, level->errors.buffer),
                   count, &run->memory->leaf_errors);
    if (status == TML_OK && count)
        status =
            reduce_max(run, run->memory->leaf_errors.buffer, count, tally_place(l, TALLY_WORST));
    return status;
}

/* Which vertices leaves use: those in the middle of a red triangle's edge, of each level. */
static tml_status find_used(adaptive_run *run, uint32_t l, uint32_t t)
{
    struct subdivide_adaptive *memory = run->memory;
    const part_level *level = &memory->levels[l];
    tml_status status =
        map_to(run, subdivide_used,
               MAP_ARGS(level->firsts[t].buffer, level_halves(run, l, 0), level->reds.buffer),
               level->fresh_count[t], &memory->fresh_used);
    if (status == TML_OK)
        status = map_to(
            run, subdivide_join_marks,
            &(const map_args){.in = {memory->used[t][l % 2].buffer, memory->fresh_used.buffer},
                              .params = with_flags(level->vertex_count[t], 0)},
            level->vertex_count[t] + level->fresh_count[t], &memory->used[t][(l + 1) % 2]);
    return status;
}

/* Expands a level's leaves, in front of what coarser levels gave: out of [l % 2], into [(l + 1) % 2]. */
static tml_status expand_leaves(adaptive_run *run, uint32_t l, const tml_kernel *emit,
                                const tml_buffer in[TML_MAX_INPUTS], const tml_kernel *join,
                                uint64_t coarser, subdivide_spare *leaves, subdivide_spare out[2])
{
    const part_level *level = &run->memory->levels[l];
    uint64_t count = run->level_leaves[l];
    tml_status status = room(run, leaves, emit->result, count);
    if (status == TML_OK && count) {
        tml_expand_desc desc = {.count_kernel = subdivide_leaf_count,
                                .emit_kernel = emit,
                                .params = with_flags(l, 0),
                                .length = {.count = level->triangle_count},
                                .out = leaves->buffer};
        memcpy(desc.in, in, sizeof desc.in);
        status = tml_expand(run->tml, &desc);
    }
    if (status == TML_OK)
        status = map_to(run, join,
                        &(const map_args){.in = {leaves->buffer, out[l % 2].buffer},
                                          .params = with_flags(count, 0)},
                        count + coarser, &out[(l + 1) % 2]);
    return status;
}

static tml_status count_leaves(adaptive_run *run, uint32_t l)
{
    const part_level *level = &run->memory->levels[l];
    uint32_t place = tally_place(l, TALLY_LEAVES);
    if (level->triangle_count == 0)
        return TML_OK;
    tml_buffer total;
    tml_status status = count_room(run, place, TML_U32, &total);
    if (status == TML_OK)
        status = tml_expand(run->tml, &(tml_expand_desc){.count_kernel = subdivide_leaf_count,
                                                         .in = {level->codes.buffer},
                                                         .length = {.count = level->triangle_count},
                                                         .total = total});
    return status != TML_OK ? status : take_count(run, place);
}

static tml_status go_up(adaptive_run *run)
{
    tml_status status = TML_OK;
    for (uint32_t l = run->depth + 1; status == TML_OK && l-- > 0;)
        status = redden(run, l);
    for (uint32_t l = 0; status == TML_OK && l <= run->depth; l++) {
        status = find_leaves(run, l);
        if (status == TML_OK)
            status = count_leaves(run, l);
    }
    return status;
}

/* Numbers the vertices that are used, and counts them. */
static tml_status number_vertices(adaptive_run *run)
{
    struct subdivide_adaptive *memory = run->memory;
    tml_status status = TML_OK;
    for (uint32_t t = 0; status == TML_OK && t < run->subdivider->topology_count; t++) {
        for (uint32_t l = 0; status == TML_OK && l < run->depth; l++)
            status = find_used(run, l, t);
        if (status == TML_OK)
            status = rank_marks(run, memory->used[t][run->depth % 2].buffer,
                                memory->levels[run->depth].vertex_count[t], &memory->numbers[t],
                                TALLY_VERTICES + t, &run->vertex_count[t]);
    }
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

static tml_status copy_out(adaptive_run *run, const tml_kernel *join, subdivide_spare *from,
                           uint64_t count, tml_buffer out)
{
    if (count == 0)
        return TML_OK;
    return tml_map(run->tml, &(tml_map_desc){.kernel = join,
                                             .params = with_flags(count, 0),
                                             .in = {from->buffer, from->buffer},
                                             .length = {.count = count},
                                             .out = out});
}

static tml_status write_triangles(adaptive_run *run, const tml_subdivide_buffers *buffers)
{
    struct subdivide_adaptive *memory = run->memory;
    const tml_kernel *emit = run->desc->slivers ? subdivide_sliver : subdivide_green;
    tml_status status = TML_OK;
    for (uint32_t t = 0; status == TML_OK && t < run->subdivider->topology_count; t++) {
        uint64_t coarser = 0;
        status = room(run, &memory->triples[t][0], TML_VEC(TML_U32, 3), 1);
        for (uint32_t l = 0; status == TML_OK && l <= run->depth; l++) {
            const tml_buffer in[TML_MAX_INPUTS] = {
                memory->levels[l].codes.buffer, level_halves(run, l, t), memory->numbers[t].buffer};
            status = expand_leaves(run, l, emit, in, subdivide_join_triples, coarser,
                                   &memory->leaf_triples, memory->triples[t]);
            coarser += run->level_leaves[l];
        }
        if (status == TML_OK)
            status =
                copy_out(run, subdivide_join_triples, &memory->triples[t][(run->depth + 1) % 2],
                         coarser, subdivide_indices_of(run->subdivider, buffers, t));
    }
    uint64_t coarser = 0;
    if (status == TML_OK && run->desc->origins)
        status = room(run, &memory->pairs[0], TML_VEC(TML_U32, 2), 1);
    for (uint32_t l = 0; status == TML_OK && run->desc->origins && l <= run->depth; l++) {
        const tml_buffer in[TML_MAX_INPUTS] = {memory->levels[l].codes.buffer,
                                               memory->levels[l].origins.buffer};
        status = expand_leaves(run, l, subdivide_origin, in, subdivide_join_pairs, coarser,
                               &memory->leaf_pairs, memory->pairs);
        coarser += run->level_leaves[l];
    }
    if (status == TML_OK && run->desc->origins)
        status = copy_out(run, subdivide_join_pairs, &memory->pairs[(run->depth + 1) % 2], coarser,
                          buffers->origins);
    return status;
}

static tml_status write_vertices(adaptive_run *run, const tml_subdivide_buffers *buffers)
{
    struct subdivide_adaptive *memory = run->memory;
    const part_level *last = &memory->levels[run->depth];
    tml_status status = TML_OK;
    for (uint32_t t = 0; status == TML_OK && t < run->subdivider->topology_count; t++) {
        tml_compact_desc desc = {
            .keep = {.kernel = subdivide_is_marked, .in = {memory->used[t][run->depth % 2].buffer}},
            .length = {.count = last->vertex_count[t]}};
        if (last->vertex_count[t] == 0)
            continue;
        uint32_t payloads = 0;
        for (uint32_t v = 0; status == TML_OK && v < run->subdivider->value_count; v++) {
            if (run->subdivider->values[v].topology != t)
                continue;
            desc.payloads[payloads++] = (tml_payload){
                level_limits(run, run->depth, v), subdivide_output_of(run->subdivider, buffers, v)};
            if (payloads == TML_MAX_PAYLOADS) {
                status = tml_compact(run->tml, &desc);
                memset(desc.payloads, 0, sizeof desc.payloads);
                payloads = 0;
            }
        }
        if (t == 0 && run->desc->normals)
            desc.payloads[payloads++] =
                (tml_payload){memory->normals[run->depth % 2].buffer, buffers->normals};
        if (status == TML_OK && payloads)
            status = tml_compact(run->tml, &desc);
    }
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

void subdivide_adaptive_destroy(tml_context *tml, struct subdivide_adaptive *adaptive)
{
    if (!adaptive)
        return;
    /* Everything but counts at the end are spares, of which those never used are none. */
    for (uint32_t l = 0; l <= TML_SUBDIVIDE_MAX_LEVELS; l++) {
        part_level *level = &adaptive->levels[l];
        for (uint32_t t = 0; t < SUBDIVIDE_TOPOLOGIES; t++) {
            tml_buffer_destroy(tml, level->halves[t].buffer);
            tml_buffer_destroy(tml, level->owns[t].buffer);
            tml_buffer_destroy(tml, level->ranks[t].buffer);
            tml_buffer_destroy(tml, level->firsts[t].buffer);
        }
        subdivide_spare *const spares[] = {&level->tree,         &level->errors,    &level->wearing,
                                           &level->wants,        &level->touched,   &level->selects,
                                           &level->places,       &level->list,      &level->origins,
                                           &level->reds,         &level->there,     &level->codes,
                                           &level->select_ranks, &level->want_ranks};
        for (size_t i = 0; i < TML_ARRAY_SIZE(spares); i++)
            tml_buffer_destroy(tml, spares[i]->buffer);
    }
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t t = 0; t < SUBDIVIDE_TOPOLOGIES; t++) {
            tml_buffer_destroy(tml, adaptive->vertices[t][k].buffer);
            tml_buffer_destroy(tml, adaptive->used[t][k].buffer);
            tml_buffer_destroy(tml, adaptive->triples[t][k].buffer);
        }
        for (uint32_t v = 0; v < SUBDIVIDE_VALUES; v++) {
            tml_buffer_destroy(tml, adaptive->points[v][k].buffer);
            tml_buffer_destroy(tml, adaptive->limits[v][k].buffer);
        }
        tml_buffer_destroy(tml, adaptive->normals[k].buffer);
        tml_buffer_destroy(tml, adaptive->pairs[k].buffer);
    }
    for (uint32_t t = 0; t < SUBDIVIDE_TOPOLOGIES; t++)
        tml_buffer_destroy(tml, adaptive->numbers[t].buffer);
    for (uint32_t v = 0; v < SUBDIVIDE_VALUES; v++) {
        tml_buffer_destroy(tml, adaptive->fresh_limits[v].buffer);
        tml_buffer_destroy(tml, adaptive->worn_limits[v].buffer);
    }
    subdivide_spare *const spares[] = {
        &adaptive->fresh_normals, &adaptive->worn_normals, &adaptive->vertex_normals,
        &adaptive->fresh_used,    &adaptive->leaf_triples, &adaptive->leaf_pairs,
        &adaptive->kept,          &adaptive->middles,      &adaptive->low_ends,
        &adaptive->high_ends,     &adaptive->edge_errors,  &adaptive->leaf_errors,
        &adaptive->depths};
    for (size_t i = 0; i < TML_ARRAY_SIZE(spares); i++)
        tml_buffer_destroy(tml, spares[i]->buffer);
    for (uint32_t place = 0; place < TALLY_WORDS; place++)
        tml_buffer_destroy(tml, adaptive->counts[place].buffer);
    tml_buffer_destroy(tml, adaptive->tally);
    tml_buffer_destroy(tml, adaptive->count);
    tml_buffer_destroy(tml, adaptive->camera);
    tml_buffer_destroy(tml, adaptive->worst);
    tml_free(tml, adaptive, sizeof *adaptive);
}

static tml_status make_memory(tml_subdivider *subdivider)
{
    tml_context *tml = subdivider->tml;
    if (subdivider->adaptive)
        return TML_OK;
    struct subdivide_adaptive *memory = tml_alloc(tml, sizeof *memory);
    if (!memory)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call,
                         sizeof *memory);
    memset(memory, 0, sizeof *memory);
    subdivider->adaptive = memory;
    tml_status status =
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &memory->count);
    if (status == TML_OK)
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 20},
                                   &memory->camera);
    if (status == TML_OK)
        status =
            tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 1}, &memory->worst);
    if (status == TML_OK)
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = TALLY_WORDS},
                                   &memory->tally);
    return status;
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

static tml_status check_desc(const tml_subdivider *subdivider,
                             const tml_subdivide_adaptive_desc *desc)
{
    tml_context *tml = subdivider->tml;
    tml_status status = tml_refuse_recording(tml, call, NULL);
    if (status != TML_OK)
        return status;
    if ((unsigned)desc->criterion > TML_SPLIT_KERNEL)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.criterion is %d, needs 0 to 4",
                         call, (int)desc->criterion);
    bool is_default = desc->criterion == TML_SPLIT_KERNEL && desc->threshold == 0.0f;
    if (!is_default && (!(desc->threshold > 0.0f) || !isfinite(desc->threshold)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.threshold is %g, needs a positive number", call,
                         (double)desc->threshold);
    if (desc->max_depth > TML_SUBDIVIDE_MAX_LEVELS)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.max_depth is %u, needs at most %d", call, desc->max_depth,
                         TML_SUBDIVIDE_MAX_LEVELS);
    if (desc->budget && desc->budget < subdivider->info.triangle_count)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.budget is %llu, needs at least the mesh's own %llu triangles, or 0 for "
            "none",
            call, (unsigned long long)desc->budget,
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
                call, kernel ? "has other parameters or another result" : "is NULL");
    }
    return desc->criterion == TML_SPLIT_PIXELS ? check_camera(tml, &desc->camera) : TML_OK;
}

/* The least w that counts, from the farthest of the mesh's positions, in the camera on the device. */
static tml_status set_nearest(adaptive_run *run)
{
    struct subdivide_adaptive *memory = run->memory;
    uint64_t count = run->subdivider->info.vertex_count;
    tml_status status =
        map_to(run, subdivide_depth, MAP_ARGS(level_points(run, 0, 0), memory->camera), count,
               &memory->depths);
    if (status == TML_OK)
        status = tml_reduce(run->tml, &(tml_reduce_desc){.fold = TML_FOLD_MAX,
                                                         .in = memory->depths.buffer,
                                                         .length = {.count = count},
                                                         .out = memory->worst});
    return status != TML_OK
               ? status
               : tml_map(run->tml, &(tml_map_desc){.kernel = subdivide_nearest,
                                                   .in = {memory->camera, memory->worst},
                                                   .out = memory->camera});
}

static tml_status set_camera(adaptive_run *run)
{
    const tml_subdivide_camera *camera = &run->desc->camera;
    float words[20];
    memcpy(words, camera->matrix, sizeof camera->matrix);
    words[16] = 0.5f * (float)camera->width;
    words[17] = 0.5f * (float)camera->height;
    words[18] = camera->nearest;
    words[19] = camera->everywhere ? 1.0f : 0.0f;
    tml_status status = tml_buffer_write(run->tml, run->memory->camera, 0, 20, words);
    return status != TML_OK || camera->nearest > 0.0f ? status : set_nearest(run);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* What the counts say of a run that is over. */
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
        run->vertex_count[t] = run->tally[TALLY_VERTICES + t];
}

/* Down and up again, by sizes that are read or expected. Who expects reads at the end, and so numbers the
 * vertices before that is known to have been the last run. */
static tml_status run_once(adaptive_run *run)
{
    run->is_beyond = false;
    run->place_count = 0;
    memset(run->tally, 0, sizeof run->tally);
    tml_status status = go_down(run);
    if (status == TML_OK && !run->is_beyond)
        status = go_up(run);
    if (status == TML_OK && run->is_expected && !run->is_beyond)
        status = number_vertices(run);
    return status != TML_OK || run->is_beyond ? status : read_tally(run);
}

/* Are there no more of anything than was expected? */
static bool is_as_expected(const adaptive_run *run)
{
    for (uint32_t l = 0; l <= run->depth; l++) {
        uint32_t selected = tally_place(l, TALLY_SELECTED);
        if (run->tally[selected] > count_of(run, selected))
            return false;
        for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
            if (run->tally[selected + TALLY_FRESH + t] > count_of(run, selected + TALLY_FRESH + t))
                return false;
    }
    return true;
}

/* What was known stays if it was made by a smaller threshold and is not far too much: thresholds come in
 * the same order with the next camera. */
static void learn(adaptive_run *run)
{
    struct subdivide_adaptive *memory = run->memory;
    uint64_t known = 0;
    for (uint32_t l = 0; l <= memory->known_depth; l++)
        known += memory->known[tally_place(l, TALLY_LEAVES)];
    if (run->is_expected && run->threshold > memory->known_threshold &&
        run->triangle_count >= known / 2)
        return;
    memory->known_threshold = run->threshold;
    memory->known_depth = run->finest;
    memcpy(memory->known, run->tally, sizeof memory->known);
}

static tml_status try_threshold(adaptive_run *run, float threshold)
{
    float known = run->memory->known_threshold;
    run->threshold = threshold;
    run->is_expected = !run->tml->engine->is_host && known > 0.0f && threshold >= 0.9f * known;
    tml_status status = run_once(run);
    if (status == TML_OK && run->is_expected && (run->is_beyond || !is_as_expected(run))) {
        run->is_expected = false;
        status = run_once(run);
    }
    if (status != TML_OK || run->is_beyond)
        return status;
    weigh(run);
    learn(run);
    return TML_OK;
}

/* Finds the least threshold whose triangles are within the budget, by halving between one that asks for too
 * many and one that does not; the last run is at that one. */
static tml_status meet_budget(adaptive_run *run, float threshold)
{
    uint64_t budget = run->desc->budget;
    float low = threshold, high = threshold;
    tml_status status = TML_OK;
    run->is_beyond = true;
    while (status == TML_OK && run->is_beyond && high < 1e30f) {
        high *= 4.0f;
        status = try_threshold(run, high);
        run->is_beyond = run->is_beyond || run->triangle_count > budget;
        if (run->is_beyond)
            low = high;
    }
    if (status == TML_OK && run->is_beyond)
        return tml_error(
            run->tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.budget of %llu triangles is too small for creases that wear off, which "
            "are split whatever the threshold; give more, or a smaller max_depth",
            call, (unsigned long long)budget);
    for (int i = 0; status == TML_OK && i < BUDGET_RUNS && high > low * 1.0005f; i++) {
        float middle = sqrtf(low) * sqrtf(high);
        status = try_threshold(run, middle);
        if (run->is_beyond || run->triangle_count > budget)
            low = middle;
        else if (run->triangle_count == budget)
            return status;
        else
            high = middle;
    }
    if (status == TML_OK && run->threshold != high)
        status = try_threshold(run, high);
    return status;
}

/* Runs until the criterion is met or the budget is spent. */
static tml_status find_mesh(adaptive_run *run, float threshold, bool *is_within_budget)
{
    run->leaf_bound = run->desc->budget;
    *is_within_budget = true;
    tml_status status = try_threshold(run, threshold);
    bool is_over = run->is_beyond || (run->desc->budget && run->triangle_count > run->desc->budget);
    if (status == TML_OK && is_over) {
        *is_within_budget = false;
        return meet_budget(run, threshold);
    }
    /* Children of triangles that were split for their neighbours' sake were not measured on the way
     * down. Where they do not meet what their parents met, a smaller threshold splits them, too. */
    float smaller = threshold;
    for (int i = 0; status == TML_OK && i < REPEATED_RUNS && run->error > threshold; i++) {
        smaller *= 0.8f;
        status = try_threshold(run, smaller);
        if (run->is_beyond || (run->desc->budget && run->triangle_count > run->desc->budget)) {
            *is_within_budget = false;
            return status != TML_OK ? status : try_threshold(run, smaller / 0.8f);
        }
    }
    return status;
}

static tml_status adapt(tml_subdivider *subdivider, const tml_subdivide_adaptive_desc *desc,
                        tml_subdivide_result *out)
{
    tml_status status = check_desc(subdivider, desc);
    if (status == TML_OK)
        status = make_memory(subdivider);
    if (status != TML_OK)
        return status;
    adaptive_run run = {.subdivider = subdivider,
                        .tml = subdivider->tml,
                        .memory = subdivider->adaptive,
                        .desc = desc,
                        .max_depth = desc->max_depth ? desc->max_depth : TML_SUBDIVIDE_MAX_LEVELS};
    float threshold = desc->threshold > 0.0f ? desc->threshold : 1.0f;
    bool is_within_budget;
    if (desc->criterion == TML_SPLIT_PIXELS)
        status = set_camera(&run);
    if (status == TML_OK)
        status = find_mesh(&run, threshold, &is_within_budget);
    if (status == TML_OK && !run.is_expected)
        status = number_vertices(&run);
    if (status != TML_OK)
        return status;
    float worst = fmaxf(run.error, run.deepest_error);
    *out = (tml_subdivide_result){.vertex_count = run.vertex_count[0],
                                  .triangle_count = run.triangle_count,
                                  .depth = run.finest,
                                  .is_within_budget = is_within_budget,
                                  .is_within_depth = run.deepest_error <= threshold,
                                  .error = (double)worst / (double)threshold};
    subdivide_counts counts = {.vertices = run.vertex_count[0], .triangles = run.triangle_count};
    for (uint32_t t = 1; t < subdivider->topology_count; t++) {
        counts.values[t - 1] = run.vertex_count[t];
        out->channel_counts[subdivider->channel_slots[t - 1]] = run.vertex_count[t];
    }
    subdivide_outputs outputs;
    status = subdivide_outputs_create(subdivider, call, &desc->buffers, desc->normals,
                                      desc->origins, &counts, &outputs);
    if (status != TML_OK)
        return status;
    status = write_triangles(&run, &outputs.buffers);
    if (status == TML_OK)
        status = write_vertices(&run, &outputs.buffers);
    if (status != TML_OK) {
        subdivide_buffers_destroy(subdivider->tml, &outputs.created);
        return status;
    }
    subdivide_outputs_deliver(&outputs, out);
    return TML_OK;
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
