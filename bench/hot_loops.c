/* The CPU engine's hot loops: runs one of them a given number of times. scripts/count-instructions
 * counts the instructions that a processor executes for them.
 *
 *   hot_loops           prints the rows' names
 *   hot_loops ROW N     runs row number ROW N times, on one thread */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_data.h"
#include "bench_meshes.h"
#include "cpu/cpu_internal.h"
#include "image/cpu/cpu_image.h"
#include "surface/cpu/cpu_surface_simd.h"

#include <trommel/trommel.h>

enum { COUNT = 1 << 14, SIDE = 48, WORDS = COUNT / 64 };

static tml_context *tml;
static _Alignas(64) unsigned char bytes[8 * COUNT], out[16 * COUNT + CPU_SLACK];
static _Alignas(64) uint64_t words[4 * WORDS + 2], full[WORDS];
static float *const floats = (float *)(void *)bytes;
static volatile uint64_t sink;

static void need(tml_status status)
{
    if (status == TML_OK)
        return;
    fprintf(stderr, "hot_loops: %s\n", tml ? tml_last_error(tml) : tml_status_text(status));
    exit(1);
}

static tml_buffer buffer(tml_type type, uint64_t count, const void *data)
{
    tml_buffer made;
    need(tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                           &made));
    return made;
}

/* ---- streams --------------------------------------------------------------------------------- */

static void bits(int n)
{
    while (n--)
        cpu_bits_of_bytes(bytes, COUNT, words);
}

static void count(int n)
{
    while (n--)
        sink += cpu_count_bits(words, WORDS);
}

static void compress(int n, size_t size)
{
    while (n--)
        sink += cpu_compress_for(size)(bytes, words, COUNT, size, out);
}

static void scan(int n, tml_type in, tml_type sums)
{
    const tml_scan_desc desc = {.in = buffer(in, COUNT, bytes), .out = buffer(sums, COUNT, NULL)};
    while (n--)
        need(tml_scan(tml, &desc));
}

static void fold(int n, tml_type type, tml_fold how, tml_type result)
{
    const tml_reduce_desc desc = {.in = buffer(type, COUNT, bytes),
                                  .folds = {{how, buffer(result, 1, NULL)}}};
    while (n--)
        need(tml_reduce(tml, &desc));
}

/* ---- pictures -------------------------------------------------------------------------------- */

static void image(int n, tml_type type, bool is_decoded)
{
    cpu_image view = {.pixels = bytes, .channels = 4, .type = type, .level = tml_simd_level()};
    while (n--)
        if (is_decoded)
            cpu_image_decode(&view, 0, 0, COUNT / 4, (float *)(void *)out);
        else
            cpu_image_encode(
                &(cpu_image){.pixels = out, .channels = 4, .type = type, .level = tml_simd_level()},
                0, 0, COUNT / 4, floats);
}

static void planes(int n, uint32_t channels)
{
    static cpu_image_space space;
    cpu_image view = {.pixels = bytes, .channels = channels, .type = TML_F32};
    view.level = tml_simd_level();
    while (n--)
        for (uint64_t i = 0; i < COUNT / 4; i += IMAGE_BLOCK)
            cpu_image_load(&view, 0, i, IMAGE_BLOCK, channels, &space, 0);
}

static void tone(int n, tml_type type)
{
    const tml_image in = {buffer(type, COUNT, bytes), .width = 64, .height = COUNT / 256,
                          .channels = 4};
    tml_image_tonemap_desc desc = {.in = in, .out = in, .tone = TML_TONE_ACES_FIT};
    desc.out.buffer = buffer(TML_U8, COUNT, NULL);
    while (n--)
        need(tml_image_tonemap(tml, &desc));
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static void signs(int n, tml_type type, const void *threshold)
{
    while (n--)
        sink += surface_simd_plain.bits[type](bytes, COUNT, threshold, words);
}

/* Four rows of WORDS words. */
static const surface_rows rows = {{words, words + WORDS, words + 2 * WORDS, words + 3 * WORDS}};

static void cells(int n)
{
    surface_row_counts counts;
    while (n--) {
        surface_simd_plain.count(&rows, WORDS, full, full, full, &counts);
        sink += counts.triangles;
    }
}

static void crossed(int n)
{
    surface_edges edges;
    while (n--)
        for (uint64_t w = 0; w < WORDS; w += GROUP_WORDS) {
            const surface_rows here = {{words + w, words + WORDS + w, words + 2 * WORDS + w, NULL}};
            surface_simd_plain.edges(&here, GROUP_WORDS, full, full, &edges);
            sink += edges.runs[0];
        }
}

static void surface(int n, bench_field field)
{
    float *samples = malloc(sizeof *samples * SIDE * SIDE * SIDE);
    if (!samples || !bench_field_fill(tml, field, TML_F32, SIDE, samples))
        need(TML_ERROR_OUT_OF_MEMORY);
    const tml_surface_desc desc = {.volume = buffer(TML_F32, SIDE * SIDE * SIDE, samples),
                                   .grid = {.dims = {SIDE, SIDE, SIDE}},
                                   .iso = bench_field_iso(field, TML_F32)};
    while (n--) {
        tml_surface_result made;
        need(tml_surface(tml, &desc, &made));
        tml_surface_free(tml, &made);
    }
    free(samples);
}

/* ---- collision ------------------------------------------------------------------------------- */

static tml_tree *tree_of(const bench_mesh *mesh)
{
    tml_tree *tree;
    need(tml_tree_create(
        tml,
        &(tml_tree_desc){
            .vertices = buffer(TML_VEC(TML_F32, 3), mesh->vertex_count, mesh->vertices),
            .indices = buffer(TML_VEC(TML_U32, 3), mesh->triangle_count, mesh->indices)},
        &tree));
    return tree;
}

static void descent(int n, bench_scene scene)
{
    bench_mesh torus;
    float pose[12];
    if (!bench_torus(0.3, 96, 48, &torus))
        need(TML_ERROR_OUT_OF_MEMORY);
    bench_scene_pose(scene, pose);
    const tml_collide_desc desc = {.a = tree_of(&torus),
                                   .b = tree_of(&torus),
                                   .poses = pose,
                                   .pose_count = 1,
                                   .method = TML_COLLIDE_METHOD_DEPTH_FIRST,
                                   .want = TML_COLLIDE_WANT_COUNT};
    while (n--) {
        tml_collide_result hits;
        need(tml_collide(tml, &desc, &hits));
        sink += hits.count;
        tml_collide_free(tml, &hits);
    }
}

static void rays(int n, bool is_nearest)
{
    enum { RAYS = 500 };
    static float origins[3 * RAYS], directions[3 * RAYS];
    bench_mesh torus;
    if (!bench_torus(0.3, 96, 48, &torus))
        need(TML_ERROR_OUT_OF_MEMORY);
    bench_rays(&torus, RAYS, origins, directions);
    tml_buffer from = buffer(TML_VEC(TML_F32, 3), RAYS, origins);
    tml_buffer found = buffer(TML_U32, RAYS, NULL);
    const tml_tree_cast_desc cast = {.tree = tree_of(&torus),
                                     .origins = from,
                                     .directions = buffer(TML_VEC(TML_F32, 3), RAYS, directions),
                                     .triangles = found};
    const tml_tree_nearest_desc nearest = {.tree = cast.tree, .points = from, .triangles = found};
    while (n--)
        need(is_nearest ? tml_tree_nearest(tml, &nearest) : tml_tree_cast(tml, &cast));
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const float limit = 0.5f;
static const uint8_t level = 128;

/* clang-format off */
#define ROWS(ROW)                                                                   \
    ROW("flags to mask words",              bits(n))                                \
    ROW("mask bits counted",                count(n))                               \
    ROW("compress, elements of 1 byte",     compress(n, 1))                         \
    ROW("compress, 2 bytes",                compress(n, 2))                         \
    ROW("compress, 4 bytes",                compress(n, 4))                         \
    ROW("compress, 8 bytes",                compress(n, 8))                         \
    ROW("scan, u8 to u32",                  scan(n, TML_U8, TML_U32))               \
    ROW("scan, u32",                        scan(n, TML_U32, TML_U32))              \
    ROW("scan, u32 to u64",                 scan(n, TML_U32, TML_U64))              \
    ROW("scan, f32",                        scan(n, TML_F32, TML_F32))              \
    ROW("sum of f32",                       fold(n, TML_F32, TML_FOLD_SUM, TML_F32))\
    ROW("smallest f32",                     fold(n, TML_F32, TML_FOLD_MIN, TML_F32))\
    ROW("sum of u8",                        fold(n, TML_U8, TML_FOLD_SUM, TML_U64)) \
    ROW("sum of f16",                       fold(n, TML_F16, TML_FOLD_SUM, TML_F32))\
    ROW("f16 to f32",                       image(n, TML_F16, true))                \
    ROW("f32 to f16",                       image(n, TML_F16, false))               \
    ROW("RGBA to planes",                   planes(n, 4))                           \
    ROW("RGB to planes",                    planes(n, 3))                           \
    ROW("tone mapping, f32 RGBA to u8",     tone(n, TML_F32))                       \
    ROW("tone mapping, f16 RGBA to u8",     tone(n, TML_F16))                       \
    ROW("sign bits, f32",                   signs(n, TML_F32, &limit))              \
    ROW("sign bits, f16",                   signs(n, TML_F16, &limit))              \
    ROW("sign bits, u8",                    signs(n, TML_U8, &level))               \
    ROW("cells and triangles counted",      cells(n))                               \
    ROW("crossed edges",                    crossed(n))                             \
    ROW("isosurface of noise, f32",         surface(n, BENCH_NOISE))                \
    ROW("isosurface of a sphere, f32",      surface(n, BENCH_SPHERE))               \
    ROW("collision, linked tori",           descent(n, BENCH_LINKED))               \
    ROW("collision, tori apart",            descent(n, BENCH_APART))                \
    ROW("rays, a torus",                    rays(n, false))                         \
    ROW("nearest triangles, a torus",       rays(n, true))
/* clang-format on */

int main(int argc, char **argv)
{
#define NAME(name, work) name,
    static const char *const names[] = {ROWS(NAME)};
    enum { ROW_COUNT = sizeof names / sizeof *names };
    if (argc == 1) {
        for (int r = 0; r < ROW_COUNT; r++)
            puts(names[r]);
        return 0;
    }
    int row = atoi(argv[1]), n = argc > 2 ? atoi(argv[2]) : 0, r = 0;
    if (argc != 3 || row < 0 || row >= ROW_COUNT || n < 0) {
        fprintf(stderr,
                "hot_loops: expected no arguments, or a row below %d and a number of runs\n",
                ROW_COUNT);
        return 2;
    }
    need(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml));
    uint64_t state = 1;
    for (int i = 0; i < 2 * COUNT; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        floats[i] = (float)(state >> 40) * 0x1p-24f;
    }
    for (int i = 0; i < 4 * WORDS + 2; i++)
        words[i] = state = state * 6364136223846793005u + 1442695040888963407u;
    for (int i = 0; i < WORDS; i++)
        full[i] = UINT64_MAX;
#define RUN(name, work)                                                                            \
    if (r++ == row)                                                                                \
        work;
    ROWS(RUN)
    return 0; /* the process ends, and frees */
}
