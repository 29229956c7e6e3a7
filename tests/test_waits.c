/* Which calls wait. Stream operations, image operations and calls whose names end in _enqueue must
 * not wait, read back or, from their third run on, allocate; all others may. The table has a row
 * for each public call that computes on a device. A row runs on every device, and the counters of
 * the context (core_internal.h) are compared with what the row says. test_house.sh compares the
 * table with the headers. */
#include "test.h"

#include <trommel/trommel.h>

#include "contexts.h"
#include "core/core_internal.h"
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel test_waits_kernels[]; /* made by the build */
#endif

#include <trommel/kernel_begin.h>
TML_KERNEL(uint, doubled, (uint x), { return 2u * x; })
TML_KERNEL(bool, is_odd, (uint x), { return (x & 1u) != 0u; })
#include <trommel/kernel_end.h>

enum { COUNT = 5000, SEGMENTS = 100, SIDE = 12, POINTS = 200, QUERIES = 1500, ROOM = 4096 };
enum { WIDTH = 33, HEIGHT = 17, OCTAHEDRON_VERTICES = 6, OCTAHEDRON_TRIANGLES = 8 };

typedef struct fixture {
    tml_context *tml;
    /* streams */
    tml_buffer keys, places, out, also, count, total, wide_total;
    tml_length length; /* on the device */
    tml_program *program;
    /* programs */
    tml_buffer volume, points, densities, attribute, means, field;
    tml_mesh_buffers mesh, welded;
    tml_buffer counts, draw, apart, queries, directions, distances, hits, poses;
    tml_buffer picture, tone, mips, stats, state;
    tml_tree *tree, *other;
    tml_subdivider *subdivider;
    tml_surface_desc surface;
    tml_field_desc ready; /* resolved */
} fixture;

static const float octahedron[3 * OCTAHEDRON_VERTICES] = {1, 0,  0, -1, 0, 0, 0, 1, 0,
                                                          0, -1, 0, 0,  0, 1, 0, 0, -1};
static const uint32_t octahedron_triangles[3 * OCTAHEDRON_TRIANGLES] = {
    0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};

/* ---- stream operations ----------------------------------------------------------------------- */

static tml_status run_map(fixture *f)
{
    return tml_map(f->tml, &(tml_map_desc){.kernel = TML_USE(doubled),
                                           .in = {f->keys},
                                           .length = f->length,
                                           .out = {f->out}});
}

static tml_status run_reduce(fixture *f)
{
    return tml_reduce(f->tml,
                      &(tml_reduce_desc){.in = f->keys, .folds = {{TML_FOLD_SUM, f->wide_total}}});
}

static tml_status run_histogram(fixture *f)
{
    return tml_histogram(f->tml, &(tml_histogram_desc){.in = {f->keys}, .out = f->also});
}

static tml_status run_scan(fixture *f)
{
    return tml_scan(f->tml, &(tml_scan_desc){.in = f->keys, .length = f->length, .out = f->out});
}

static tml_status run_compact(fixture *f)
{
    return tml_compact(f->tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_odd),
                                                   .payloads = {{f->keys, f->out}},
                                                   .length = f->length,
                                                   .count = f->count});
}

static tml_status run_sort(fixture *f)
{
    return tml_sort(f->tml, &(tml_sort_desc){.keys = f->keys, .sorted = f->out});
}

static tml_status run_top_k(fixture *f)
{
    return tml_top_k(
        f->tml, &(tml_top_k_desc){
                    .keys = f->keys, .k = tml_length_of(10), .values = f->out, .count = f->count});
}

static tml_status run_gather(fixture *f)
{
    return tml_gather(f->tml,
                      &(tml_gather_desc){.indices = f->places, .payloads = {{f->keys, f->out}}});
}

static tml_status run_scatter(fixture *f)
{
    return tml_scatter(f->tml,
                       &(tml_gather_desc){.indices = f->places, .payloads = {{f->keys, f->out}}});
}

static tml_status run_search(fixture *f)
{
    return tml_search(
        f->tml, &(tml_search_desc){
                    .sorted = f->places, .queries = f->keys, .length = f->length, .out = f->out});
}

static tml_status run_expand(fixture *f)
{
    return tml_expand(f->tml, &(tml_expand_desc){.counts = f->keys,
                                                 .length = tml_length_of(20),
                                                 .source = f->out,
                                                 .total = f->total});
}

static tml_status run_unique(fixture *f)
{
    return tml_unique(f->tml,
                      &(tml_unique_desc){.in = f->keys, .values = f->out, .count = f->count});
}

static tml_status run_program(fixture *f)
{
    if (!f->program) {
        tml_status status = tml_program_create(f->tml, &f->program);
        if (status != TML_OK)
            return status;
        const tml_buffer twice = tml_program_array(f->program, TML_U32, COUNT);
        tml_program_map(
            f->program,
            &(tml_map_desc){.kernel = TML_USE(doubled), .in = {f->keys}, .out = {twice}});
        tml_program_scan(f->program, &(tml_scan_desc){.in = twice, .out = f->out});
        status = tml_program_end(f->program);
        if (status != TML_OK)
            return status;
    }
    return tml_program_enqueue(f->program, (tml_buffer){0, 0});
}

/* ---- image operations ------------------------------------------------------------------------ */

static tml_image picture_of(tml_buffer buffer)
{
    return (tml_image){.buffer = buffer, .width = WIDTH, .height = HEIGHT, .channels = 3};
}

static tml_status run_measure(fixture *f)
{
    return tml_image_measure(
        f->tml, &(tml_image_measure_desc){.image = picture_of(f->picture), .stats = f->stats});
}

static tml_status run_expose(fixture *f)
{
    return tml_image_expose(
        f->tml, &(tml_image_expose_desc){.stats = f->stats, .state = f->state, .reset = true});
}

static tml_status run_tonemap(fixture *f)
{
    return tml_image_tonemap(f->tml, &(tml_image_tonemap_desc){.in = picture_of(f->picture),
                                                               .out = picture_of(f->tone),
                                                               .state = f->state});
}

static tml_status run_mips(fixture *f)
{
    return tml_image_mips(f->tml,
                          &(tml_image_mips_desc){.in = picture_of(f->picture), .out = f->mips});
}

static tml_status run_stats_read(fixture *f)
{
    tml_image_stats stats;
    return tml_image_stats_read(f->tml, f->stats, &stats);
}

/* ---- surfaces, fields, meshes ---------------------------------------------------------------- */

static tml_status run_surface(fixture *f)
{
    tml_surface_result made;
    tml_surface_desc desc = f->surface;
    desc.mesh = (tml_mesh_buffers){.normals = {0, 0}};
    desc.counts = desc.draw = (tml_buffer){0, 0};
    tml_status status = tml_surface(f->tml, &desc, &made);
    tml_surface_free(f->tml, &made);
    return status;
}

static tml_status run_surface_enqueue(fixture *f)
{
    return tml_surface_enqueue(f->tml, &f->surface);
}

static tml_status run_field(fixture *f)
{
    return tml_field(f->tml, &f->ready, f->field);
}

static tml_status run_field_enqueue(fixture *f)
{
    return tml_field_enqueue(f->tml, &f->ready, f->field);
}

static tml_status run_field_prepare(fixture *f)
{
    tml_field_prepared made;
    tml_status status = tml_field_prepare(
        f->tml, &(tml_field_prepare_desc){.field.points = f->points, .densities = true}, &made);
    tml_field_prepared_free(f->tml, &made);
    return status;
}

static tml_field_mean_desc mean_of(const fixture *f)
{
    return (tml_field_mean_desc){
        .field = &f->ready, .positions = f->queries, .values = {f->attribute}, .means = {f->means}};
}

static tml_status run_field_mean(fixture *f)
{
    const tml_field_mean_desc desc = mean_of(f);
    return tml_field_mean(f->tml, &desc);
}

static tml_status run_field_mean_enqueue(fixture *f)
{
    const tml_field_mean_desc desc = mean_of(f);
    return tml_field_mean_enqueue(f->tml, &desc);
}

static tml_status run_examine(fixture *f)
{
    tml_mesh_stats stats;
    return tml_mesh_examine(f->tml, &f->mesh, false, &stats);
}

static tml_status run_smooth(fixture *f)
{
    return tml_mesh_smooth(
        f->tml,
        &(tml_mesh_smooth_desc){.mesh = f->mesh, .iterations = 2, .out = f->welded.positions});
}

/* ---- trees, collisions, subdivision ---------------------------------------------------------- */

static tml_status run_tree_update(fixture *f)
{
    return tml_tree_update(f->tml, f->tree, f->mesh.positions, TML_TREE_REFIT);
}

static tml_status run_refit_enqueue(fixture *f)
{
    return tml_tree_update_enqueue(f->tml, f->tree, f->mesh.positions, TML_TREE_REFIT);
}

static tml_status run_rebuild_enqueue(fixture *f)
{
    return tml_tree_update_enqueue(f->tml, f->tree, f->mesh.positions, TML_TREE_REBUILD);
}

static tml_tree_cast_desc cast_of(const fixture *f)
{
    return (tml_tree_cast_desc){.tree = f->tree,
                                .origins = f->queries,
                                .directions = f->directions,
                                .want = TML_TREE_CAST_ANY,
                                .hits = f->hits};
}

static tml_status run_cast(fixture *f)
{
    const tml_tree_cast_desc desc = cast_of(f);
    return tml_tree_cast(f->tml, &desc);
}

static tml_status run_cast_enqueue(fixture *f)
{
    const tml_tree_cast_desc desc = cast_of(f);
    return tml_tree_cast_enqueue(f->tml, &desc);
}

static tml_status run_nearest(fixture *f)
{
    return tml_tree_nearest(
        f->tml,
        &(tml_tree_nearest_desc){.tree = f->tree, .points = f->queries, .distances = f->distances});
}

static tml_status run_distance_grid(fixture *f)
{
    return tml_tree_distance_grid(
        f->tml, &(tml_tree_distance_grid_desc){
                    .tree = f->tree, .grid = {.dims = {SIDE, SIDE, SIDE}}, .out = f->volume});
}

static tml_status run_collide(fixture *f)
{
    tml_collide_result made;
    tml_status status =
        tml_collide(f->tml, &(tml_collide_desc){.a = f->tree, .b = f->other}, &made);
    tml_collide_free(f->tml, &made);
    return status;
}

static tml_status run_collide_distance(fixture *f)
{
    tml_collide_distance_result made;
    return tml_collide_distance(f->tml, &(tml_collide_distance_desc){.a = f->tree, .b = f->other},
                                &made);
}

static tml_status run_collide_distance_enqueue(fixture *f)
{
    return tml_collide_distance_enqueue(f->tml,
                                        &(tml_collide_distance_desc){.a = f->tree,
                                                                     .b = f->other,
                                                                     .pose_buffer = f->poses,
                                                                     .capacity = ROOM,
                                                                     .distances = f->apart});
}

static tml_status run_subdivider_move(fixture *f)
{
    return tml_subdivider_move_enqueue(f->subdivider, f->mesh.positions);
}

static tml_status run_adaptive(fixture *f)
{
    tml_subdivide_result made;
    tml_status status = tml_subdivide_adaptive(
        f->subdivider, &(tml_subdivide_adaptive_desc){.threshold = 0.6f, .max_depth = 2}, &made);
    tml_subdivide_free(f->tml, &made);
    return status;
}

static tml_status run_adaptive_enqueue(fixture *f)
{
    return tml_subdivide_adaptive_enqueue(f->subdivider,
                                          &(tml_subdivide_adaptive_desc){.threshold = 0.6f,
                                                                         .max_depth = 2,
                                                                         .buffers.mesh = f->welded,
                                                                         .counts = f->counts,
                                                                         .draw = f->draw,
                                                                         .level_triangles = ROOM});
}

static tml_status run_uniform(fixture *f)
{
    tml_subdivide_result made;
    return tml_subdivide_uniform_enqueue(
        f->subdivider, &(tml_subdivide_uniform_desc){.levels = 2, .buffers.mesh = f->welded},
        &made);
}

/* ---- reads ----------------------------------------------------------------------------------- */

static tml_status run_read(fixture *f)
{
    uint32_t count;
    return tml_buffer_read(f->tml, f->count, &count);
}

static tml_status run_read_begin(fixture *f)
{
    tml_read read;
    uint32_t count;
    bool is_done = false;
    tml_status status = tml_buffer_read_begin(f->tml, f->count, 0, 1, &read);
    while (status == TML_OK && !is_done)
        status = tml_buffer_read_poll(f->tml, read, &count, &is_done);
    return status;
}

static tml_status run_sync(fixture *f)
{
    tml_status status = run_map(f);
    return status ? status : tml_sync(f->tml);
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef enum promise {
    NEVER, /* by the rule of core.h: no wait, no read back, no allocation */
    WAITS, /* seen to wait or to read back on every GPU that supports the call */
    MAY,   /* waits for some descs, or on some devices */
} promise;

static const struct {
    const char *call;
    promise promise;
    tml_status (*run)(fixture *f);
} rows[] = {
    {"tml_map", NEVER, run_map},
    {"tml_reduce", NEVER, run_reduce},
    {"tml_histogram", NEVER, run_histogram},
    {"tml_scan", NEVER, run_scan},
    {"tml_compact", NEVER, run_compact},
    {"tml_sort", NEVER, run_sort},
    {"tml_top_k", NEVER, run_top_k},
    {"tml_gather", NEVER, run_gather},
    {"tml_scatter", NEVER, run_scatter},
    {"tml_search", NEVER, run_search},
    {"tml_expand", NEVER, run_expand},
    {"tml_unique", NEVER, run_unique},
    {"tml_program_enqueue", NEVER, run_program},
    {"tml_image_measure", NEVER, run_measure},
    {"tml_image_expose", NEVER, run_expose},
    {"tml_image_tonemap", NEVER, run_tonemap},
    {"tml_image_mips", NEVER, run_mips},
    {"tml_image_stats_read", WAITS, run_stats_read},
    {"tml_surface", MAY, run_surface},
    {"tml_surface_enqueue", NEVER, run_surface_enqueue},
    {"tml_field", MAY, run_field},
    {"tml_field_enqueue", NEVER, run_field_enqueue},
    {"tml_field_prepare", WAITS, run_field_prepare},
    {"tml_field_mean", MAY, run_field_mean},
    {"tml_field_mean_enqueue", NEVER, run_field_mean_enqueue},
    {"tml_mesh_examine", WAITS, run_examine},
    {"tml_mesh_smooth", WAITS, run_smooth},
    {"tml_tree_update", WAITS, run_tree_update},
    {"tml_tree_update_enqueue", NEVER, run_refit_enqueue},
    {"tml_tree_update_enqueue", NEVER, run_rebuild_enqueue},
    {"tml_tree_cast", WAITS, run_cast},
    {"tml_tree_cast_enqueue", NEVER, run_cast_enqueue},
    {"tml_tree_nearest", WAITS, run_nearest},
    {"tml_tree_distance_grid", MAY, run_distance_grid},
    {"tml_collide", MAY, run_collide},
    {"tml_collide_distance", MAY, run_collide_distance},
    {"tml_collide_distance_enqueue", NEVER, run_collide_distance_enqueue},
    {"tml_subdivider_move_enqueue", NEVER, run_subdivider_move},
    {"tml_subdivide_uniform_enqueue", NEVER, run_uniform},
    {"tml_subdivide_adaptive", WAITS, run_adaptive},
    {"tml_subdivide_adaptive_enqueue", NEVER, run_adaptive_enqueue},
    {"tml_buffer_read", WAITS, run_read},
    {"tml_buffer_read_begin", NEVER, run_read_begin},
    {"tml_sync", WAITS, run_sync},
};

/* ---- a device -------------------------------------------------------------------------------- */

static float *numbers(uint32_t count, uint32_t salt)
{
    float *out = malloc(count * sizeof *out);
    for (uint32_t i = 0; i < count; i++)
        out[i] = (float)((i * 2654435761u + salt) >> 8) / 16777216.0f;
    return out;
}

static tml_buffer floats_of(tml_context *tml, uint32_t components, uint32_t count, uint32_t salt)
{
    float *data = numbers(components * count, salt);
    tml_buffer out =
        buffer_of(tml, components > 1 ? TML_VEC(TML_F32, components) : TML_F32, count, data);
    free(data);
    return out;
}

static void open_streams(fixture *f)
{
    uint32_t *keys = malloc(COUNT * sizeof *keys), *places = malloc(COUNT * sizeof *places);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (i * 2654435761u >> 8) % 97;
        places[i] = i;
    }
    const uint32_t length = COUNT - 3;
    f->keys = buffer_of(f->tml, TML_U32, COUNT, keys);
    f->places = buffer_of(f->tml, TML_U32, COUNT, places);
    f->out = buffer_of(f->tml, TML_U32, COUNT, NULL);
    f->also = buffer_of(f->tml, TML_U32, COUNT, NULL);
    f->count = buffer_of(f->tml, TML_U32, 1, NULL);
    f->total = buffer_of(f->tml, TML_U32, 1, NULL);
    f->wide_total = buffer_of(f->tml, TML_U64, 1, NULL);
    f->length.device = buffer_of(f->tml, TML_U32, 1, &length);
    free(keys);
    free(places);
}

static void open_pictures(fixture *f)
{
    f->picture = floats_of(f->tml, 1, 3 * WIDTH * HEIGHT, 1);
    f->tone = buffer_of(f->tml, TML_F32, 3 * WIDTH * HEIGHT, NULL);
    f->mips = buffer_of(f->tml, TML_F32, 3 * WIDTH * HEIGHT, NULL);
    f->stats = buffer_of(f->tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    f->state = buffer_of(f->tml, TML_F32, TML_EXPOSURE_WORDS, NULL);
}

static tml_mesh_buffers room_of(tml_context *tml)
{
    return (tml_mesh_buffers){.positions = buffer_of(tml, TML_VEC(TML_F32, 3), ROOM, NULL),
                              .indices = buffer_of(tml, TML_VEC(TML_U32, 3), ROOM, NULL)};
}

static void open_programs(fixture *f)
{
    tml_context *tml = f->tml;
    f->volume = floats_of(tml, 1, SIDE * SIDE * SIDE, 2);
    f->surface = (tml_surface_desc){
        .volume = f->volume, .grid.dims = {SIDE, SIDE, SIDE}, .iso = 0.5, .mesh = room_of(tml)};
    f->counts = buffer_of(tml, TML_U32, 3, NULL);
    f->draw = buffer_of(tml, TML_U32, 5, NULL);
    f->surface.counts = buffer_of(tml, TML_U32, 2, NULL);
    f->surface.draw = f->draw;

    f->points = floats_of(tml, 3, POINTS, 3);
    f->attribute = floats_of(tml, 1, POINTS, 4);
    f->ready = (tml_field_desc){.points = f->points,
                                .radius = 0.2,
                                .grid = {.dims = {SIDE, SIDE, SIDE}, .spacing = {0.1, 0.1, 0.1}}};
    f->field = buffer_of(tml, TML_F32, SIDE * SIDE * SIDE, NULL);

    f->mesh.positions = buffer_of(tml, TML_VEC(TML_F32, 3), OCTAHEDRON_VERTICES, octahedron);
    f->mesh.indices =
        buffer_of(tml, TML_VEC(TML_U32, 3), OCTAHEDRON_TRIANGLES, octahedron_triangles);
    f->welded = room_of(tml);
    f->queries = floats_of(tml, 3, QUERIES, 5);
    f->directions = floats_of(tml, 3, QUERIES, 6);
    f->means = buffer_of(tml, TML_F32, QUERIES, NULL);
    f->distances = buffer_of(tml, TML_F32, QUERIES, NULL);
    f->apart = buffer_of(tml, TML_F64, 1, NULL);
    f->hits = buffer_of(tml, TML_U8, QUERIES, NULL);
    f->poses = buffer_of(tml, TML_F32, 12, (float[]){1, 0, 0, 3, 0, 1, 0, 0, 0, 0, 1, 0});
    const tml_tree_desc tree = {.vertices = f->mesh.positions, .indices = f->mesh.indices};
    CHECK_OK(tml, tml_tree_create(tml, &tree, &f->tree));
    CHECK_OK(tml, tml_tree_create(tml, &tree, &f->other));
    CHECK_OK(tml,
             tml_subdivider_create(tml, &(tml_subdivider_desc){.mesh = f->mesh}, &f->subdivider));
}

static void fixture_close(fixture *f)
{
    tml_program_destroy(f->program);
    tml_tree_destroy(f->tml, f->tree);
    tml_tree_destroy(f->tml, f->other);
    tml_subdivider_destroy(f->tml, f->subdivider);
    tml_close(f->tml);
}

/* Runs a row three times. The first run makes pipelines and fills pools, the third one counts. */
static tml_status run_counted(fixture *f, tml_status (*run)(fixture *f), tml_counters *out)
{
    tml_counters before = {0};
    tml_status status = TML_OK;
    for (int turn = 0; turn < 3 && status == TML_OK; turn++) {
        CHECK_OK(f->tml, tml_sync(f->tml));
        before = f->tml->counters;
        status = run(f);
    }
    *out = f->tml->counters;
    out->waits -= before.waits;
    out->reads -= before.reads;
    out->allocations -= before.allocations;
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* Does the counted run keep the promise? The CPU engine has nothing to wait for, and its programs
 * allocate host memory while they compute. */
static bool is_kept(const fixture *f, size_t r, const tml_counters *counted)
{
    const bool is_program =
        ends_with(rows[r].call, "_enqueue") && strcmp(rows[r].call, "tml_program_enqueue") != 0;
    if (f->tml->engine->is_host)
        return rows[r].promise != NEVER || is_program || !counted->allocations;
    if (rows[r].promise == NEVER)
        return !counted->waits && !counted->reads && !counted->allocations;
    return rows[r].promise == MAY || counted->waits || counted->reads;
}

static void check_row(fixture *f, size_t r, uint32_t *run, uint32_t *unsupported)
{
    static const char *const promises[] = {"never waits", "waits", "may wait"};
    tml_counters counted;
    tml_status status = run_counted(f, rows[r].run, &counted);
    *run += status != TML_ERROR_UNSUPPORTED;
    *unsupported += status == TML_ERROR_UNSUPPORTED;
    if (status == TML_ERROR_UNSUPPORTED)
        printf("  unsupported: %s\n", rows[r].call);
    if (status != TML_OK && status != TML_ERROR_UNSUPPORTED)
        test_fail(__FILE__, __LINE__, "%s: %s", rows[r].call, tml_last_error(f->tml));
    else if (status == TML_OK && !is_kept(f, r, &counted))
        test_fail(__FILE__, __LINE__,
                  "%s %s: %" PRIu64 " waits, %" PRIu64 " reads, %" PRIu64 " allocations",
                  rows[r].call, promises[rows[r].promise], counted.waits, counted.reads,
                  counted.allocations);
}

TEST(calls_wait_as_the_rule_says_on_every_device)
{
    fixture f;
    for (uint32_t d = 0; memset(&f, 0, sizeof f), f.tml = open_device(d); d++) {
        uint32_t run = 0, unsupported = 0;
#ifdef TML_VULKAN
        if (f.tml->engine->learn)
            f.tml->engine->learn(f.tml, test_waits_kernels);
#endif
        open_streams(&f);
        open_pictures(&f);
        open_programs(&f);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            check_row(&f, r, &run, &unsupported);
        printf("  %s: %u calls, %u unsupported\n", f.tml->device.name, run, unsupported);
        CHECK(run > 30 || f.tml->engine->part == PART_GL_FLOAT);
        fixture_close(&f);
    }
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
