/* Adaptive refinement: triangles become as small as a criterion requires.
 *
 * Going down, level by level: a triangle is wanted if one of its edges exceeds the threshold and
 * its parent was wanted or it is of level 0. Wanted triangles, and those that share a vertex with
 * one, are selected and refined, because the masks of the next level's vertices read all of them.
 * Around the next level's wanted triangles, which are children of wanted ones, two rings of
 * triangles are children of selected ones. So each mask finds its neighbours, and no value depends
 * on a missing one (LOOP_OUTSIDE).
 *
 * Going up again: a triangle is red, which means split in four, if it is wanted or if a triangle
 * across an edge of its children is red. So neighbours differ by at most one level. A triangle that
 * is not red is a leaf if it is of level 0 or its parent is red. Leaves are written. If the other
 * side of an edge is red, green triangles divide the leaf.
 *
 * A vertex keeps its number through all levels. Its limit is computed when the vertex arises, and
 * again only while semi-sharp creases there lose sharpness. So all triangles see it at the same
 * place. Vertices that only masks needed are dropped at the end.
 *
 * Each step is a map, scan, compaction or expansion of streams. The lengths are counts of earlier
 * steps. A first run reads each count back where it needs it, which ends a program of streams. On
 * engines where this waits for the device, later runs leave the lengths on the device. They expect
 * the last run's counts plus a margin as bounds, and read all counts at the end. If a count exceeds
 * its bound, the run is repeated with exact sizes. An enqueued run is one program. Its caller gives
 * the bounds, and it reads nothing back. */
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "subdivide/subdivide_adaptive.h"

static const char call[] = "tml_subdivide_adaptive";
static const char enqueue_call[] = "tml_subdivide_adaptive_enqueue";

/* At most so many runs with other thresholds: to meet a budget (bisection of the threshold's
 * logarithm), and to meet a criterion that parents met but their children do not. */
enum { BUDGET_RUNS = 24, REPEATED_RUNS = 3 };

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

/* Allocates what a subdivider keeps between calls, unless that was done. */
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

/* ---- runs ------------------------------------------------------------------------------------ */

/* Sums up the tally of a finished run. */
static void weigh(adaptive_run *run)
{
    run->error = run->deepest_error = 0.0f;
    run->triangle_count = 0;
    run->finest = 0;
    for (uint32_t l = 0; l <= run->depth; l++) {
        float worst;
        memcpy(&worst, &run->tally[adaptive_tally_place(l, TALLY_WORST)], sizeof worst);
        if (l == run->max_depth)
            run->deepest_error = worst;
        else
            run->error = fmaxf(run->error, worst);
        run->level_leaves[l] = run->tally[adaptive_tally_place(l, TALLY_LEAVES)];
        run->triangle_count += run->level_leaves[l];
        if (l > 0 && run->tally[adaptive_tally_place(l - 1, TALLY_SELECTED)] > 0)
            run->finest = l;
    }
    for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
        run->vertex_count[t] = run->tally[TALLY_USED + t];
}

/* One run, down and up. With expected sizes it also numbers the vertices, because only afterwards
 * is it known whether the sizes sufficed and this run is the last. */
static void run_once(adaptive_run *run)
{
    run->is_beyond = false;
    run->place_count = 0;
    memset(run->tally, 0, sizeof run->tally);
    adaptive_go_down(run);
    if (run->is_beyond)
        return;
    adaptive_go_up(run);
    if (run->is_counted)
        adaptive_number_vertices(run);
    adaptive_read_tally(run);
}

/* Returns whether all counts are within their bounds. */
static bool is_as_expected(const adaptive_run *run)
{
    for (uint32_t l = 0; l <= run->depth; l++) {
        uint32_t selected = adaptive_tally_place(l, TALLY_SELECTED),
                 vertices = adaptive_tally_place(l, TALLY_VERTICES);
        if (run->tally[selected] > adaptive_count_of(run, selected))
            return false;
        for (uint32_t t = 0; t < run->subdivider->topology_count; t++)
            if (run->tally[vertices + t] > adaptive_count_of(run, vertices + t))
                return false;
    }
    return true;
}

/* Keeps this run's tally, so that further runs can expect its counts. Keeps the older tally instead
 * if its threshold is smaller and it has at most twice this run's leaves: the next camera's runs
 * try thresholds in the same order. */
static void learn(adaptive_run *run)
{
    struct subdivide_adaptive *memory = run->memory;
    uint64_t known = 0;
    for (uint32_t l = 0; l <= memory->known_depth; l++)
        known += memory->known[adaptive_tally_place(l, TALLY_LEAVES)];
    if (run->is_counted && run->threshold > memory->known_threshold &&
        run->triangle_count >= known / 2)
        return;
    memory->known_threshold = run->threshold;
    memory->known_depth = run->finest;
    memcpy(memory->known, run->tally, sizeof memory->known);
}

/* Sets the bounds: an earlier run's counts plus a margin. */
static void expect(adaptive_run *run)
{
    for (uint32_t place = 0; place < TALLY_WORDS; place++) {
        /* A count of 0 most likely stays 0, and a margin would add a level to every run. */
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

/* Returns whether the last run made more triangles than the budget. */
static bool is_over_budget(const adaptive_run *run)
{
    return run->is_beyond || (run->desc->budget && run->triangle_count > run->desc->budget);
}

/* Finds the smallest threshold whose triangles are within the budget, by bisection between one that
 * makes too many and one that does not. The last run is the one with that threshold. */
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
    /* Children of triangles that were split because of their neighbours were not measured on the
     * way down. If they do not meet the criterion that their parents met, a smaller threshold
     * splits them, too. */
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

/* Creates the buffers that the caller did not give, and writes the mesh. */
static void deliver(adaptive_run *run, tml_subdivide_result *out)
{
    tml_subdivider *subdivider = run->subdivider;
    const tml_subdivide_adaptive_desc *desc = run->desc;
    subdivide_outputs outputs = {.created = {.origins = {0, 0}}};
    subdivide_counts counts = {.vertices = run->vertex_count[0], .triangles = run->triangle_count};
    for (uint32_t t = 1; t < subdivider->topology_count; t++) {
        counts.values[t - 1] = run->vertex_count[t];
        out->channel_counts[subdivider->channel_slots[t - 1]] = run->vertex_count[t];
    }
    run->p.status = subdivide_outputs_create(subdivider, call, &desc->buffers, desc->normals,
                                             desc->origins, &counts, &outputs);
    if (run->p.status != TML_OK)
        return;
    adaptive_write_triangles(run, &outputs.buffers);
    adaptive_write_vertices(run, &outputs.buffers);
    adaptive_flush(run);
    if (run->p.status == TML_OK)
        subdivide_outputs_deliver(&outputs, out);
    else
        subdivide_buffers_destroy(subdivider->tml, &outputs.created);
}

/* Refuses fields that belong to the enqueued call. */
static tml_status refuse_enqueued(tml_context *tml, const tml_subdivide_adaptive_desc *desc)
{
    const char *field = !tml_buffer_is_none(desc->camera_buffer) ? "camera_buffer"
                        : !tml_buffer_is_none(desc->counts)      ? "counts"
                        : !tml_buffer_is_none(desc->draw)        ? "draw"
                        : desc->level_triangles                  ? "level_triangles"
                                                                 : NULL;
    return field ? tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.%s is given, which is for tml_subdivide_adaptive_enqueue",
                             call, field)
                 : TML_OK;
}

static tml_status adapt(tml_subdivider *subdivider, const tml_subdivide_adaptive_desc *desc,
                        tml_subdivide_result *out)
{
    tml_status status =
        tml_refuse_recording(subdivider->tml, call, "record tml_subdivide_adaptive_enqueue");
    TML_THEN(status, adaptive_check_desc(subdivider, call, desc));
    TML_THEN(status, refuse_enqueued(subdivider->tml, desc));
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
        adaptive_set_camera(&run);
    find_mesh(&run, threshold, &is_within_budget);
    if (!run.is_counted)
        adaptive_number_vertices(&run);
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

/* Sets the bounds of a run whose levels have at most level_room triangles. Each edge of a refined
 * triangle makes a vertex; in a channel, each side of a seam does. */
static tml_status set_bounds(adaptive_run *run)
{
    const tml_subdivider *subdivider = run->subdivider;
    uint64_t triangles = subdivider->info.triangle_count, split = 0;
    uint64_t vertices[SUBDIVIDE_TOPOLOGIES];
    for (uint32_t t = 0; t < subdivider->topology_count; t++)
        vertices[t] = subdivider->topologies[t].levels[0].vertex_count;
    for (uint32_t l = 0; l < run->max_depth; l++, triangles = 4 * split) {
        split = TML_MIN_OF(triangles, run->level_room / 4);
        run->bounds[adaptive_tally_place(l, TALLY_SELECTED)] = (uint32_t)split;
        for (uint32_t t = 0; t < subdivider->topology_count; t++) {
            vertices[t] += (t ? 6 : 3) * split;
            if (vertices[t] > UINT32_MAX)
                return tml_error(run->tml, TML_ERROR_UNSUPPORTED,
                                 "%s: %llu triangles in each of %u levels may have 2^32 vertices "
                                 "and more; give a smaller desc.level_triangles or max_depth",
                                 enqueue_call, (unsigned long long)run->level_room, run->max_depth);
            run->bounds[adaptive_tally_place(l + 1, TALLY_VERTICES + t)] = (uint32_t)vertices[t];
        }
    }
    return TML_OK;
}

/* Checks a desc, and makes a run with its bounds. */
static tml_status enqueue_resolve(tml_subdivider *subdivider,
                                  const tml_subdivide_adaptive_desc *desc, adaptive_run *run,
                                  tml_subdivide_buffers *to)
{
    tml_context *tml = subdivider->tml;
    tml_status status = adaptive_check_desc(subdivider, enqueue_call, desc);
    if (status == TML_OK && desc->budget)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: desc.budget is given, which tml_subdivide_adaptive keeps by "
                         "trying; enqueued it is 0",
                         enqueue_call);
    if (status == TML_OK && desc->criterion == TML_SPLIT_PIXELS) /* needed, not just allowed */
        status =
            tml_check_buffer(tml, enqueue_call, "desc.camera_buffer", desc->camera_buffer, NULL, 0);
    TML_THEN(status, subdivide_outputs_given(subdivider, enqueue_call, desc, to));
    if (status != TML_OK)
        return status;
    *run =
        (adaptive_run){.subdivider = subdivider,
                       .tml = tml,
                       .desc = desc,
                       .threshold = desc->threshold > 0.0f ? desc->threshold : 1.0f,
                       .camera = desc->camera_buffer,
                       .is_counted = true,
                       .max_depth = desc->max_depth ? desc->max_depth : TML_SUBDIVIDE_MAX_LEVELS};
    run->level_room =
        desc->level_triangles ? desc->level_triangles : adaptive_triangle_room(run, to);
    if (run->level_room < 4 || run->level_room > SUBDIVIDE_MAX_TRIANGLES)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.level_triangles, or the room for triangles that stands for it, "
                         "is %llu, needs 4 to %llu",
                         enqueue_call, (unsigned long long)run->level_room,
                         (unsigned long long)SUBDIVIDE_MAX_TRIANGLES);
    return set_bounds(run);
}

static program adaptive_record(tml_subdivider *subdivider, const tml_subdivide_adaptive_desc *desc)
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
    adaptive_go_down(&run);
    adaptive_go_up(&run);
    adaptive_number_vertices(&run);
    adaptive_write_triangles(&run, &to);
    adaptive_write_vertices(&run, &to);
    adaptive_report(&run, &to);
    return run.p;
}

tml_status tml_subdivide_adaptive_enqueue(tml_subdivider *subdivider,
                                          const tml_subdivide_adaptive_desc *desc)
{
    tml_status status = TML_ENTER_BY(subdivider, desc);
    return status ? status
                  : tml_leave(subdivider->tml, program_enqueue(adaptive_record(subdivider, desc),
                                                               (tml_buffer){0, 0}));
}
