/* The classic HistoPyramids that benchmarks compare with (gl/gl_classic.h): both forms against a plain
 * loop in Z order, and their surfaces against ours. */
#include <trommel/surface.h>

#include "gl/gl_classic.h"
#include "test.h"

#include "contexts.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, is_below, (uint x, tml_params p), { return x < p.u[0]; })
TML_KERNEL(bool, is_negative, (float x), { return x < 0.0f; })

#include <trommel/kernel_end.h>

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Kept elements in Z order; returns how many. */
static uint32_t plain(const uint32_t *in, uint32_t count, uint32_t limit, uint32_t *out)
{
    uint32_t side = gl_classic_side(count), kept = 0;
    for (uint64_t z = 0; z < (uint64_t)side * side; z++) {
        uint64_t i = gl_classic_index(side, z);
        if (i < count && in[i] < limit)
            out[kept++] = in[i];
    }
    return kept;
}

static void compare(tml_context *tml, gl_classic_form form, uint32_t count, uint32_t limit,
                    uint32_t room)
{
    uint32_t *in = malloc(count * sizeof *in), *expected = malloc(count * sizeof *in);
    uint32_t *out = malloc((room + 1) * sizeof *in), counted = 0;
    if (!in || !expected || !out)
        abort();
    for (uint32_t i = 0; i < count; i++)
        in[i] = hash(i);
    uint32_t kept = plain(in, count, limit, expected);
    for (uint32_t i = 0; i <= room; i++)
        out[i] = 0xa5a5a5a5u;
    gl_classic_desc desc = {.form = form,
                            .keep = TML_USE(is_below),
                            .params.u = {limit},
                            .in = buffer_of(tml, TML_U32, count, in),
                            .out = buffer_of(tml, TML_U32, room, out),
                            .count = buffer_of(tml, TML_U32, 1, NULL)};
    CHECK_OK(tml, gl_classic_compact(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.count, &counted));
    CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
    CHECK_EQ_U64(counted, kept);
    for (uint32_t i = 0; i < room; i++)
        if (!CHECK_EQ_U64(out[i], i < kept ? expected[i] : 0xa5a5a5a5u))
            break;
    tml_buffer_destroy(tml, desc.in);
    tml_buffer_destroy(tml, desc.out);
    tml_buffer_destroy(tml, desc.count);
    free(in);
    free(expected);
    free(out);
}

static void all_sizes(bool exact_counts)
{
    static const uint32_t counts[] = {1, 3, 4, 5, 16, 17, 1000, 4096, 65536, 100003};
    tml_context *tml;
    const tml_gl_desc gl = {.exact_counts = exact_counts};
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &gl}, &tml))
        SKIP("no OpenGL ES device");
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (int form = GL_CLASSIC_FOUR_FETCHES; form <= GL_CLASSIC_PARTIAL_SUMS; form++) {
            compare(tml, form, counts[c], 0, counts[c]);
            compare(tml, form, counts[c], UINT32_MAX / 3, counts[c]);
            compare(tml, form, counts[c], UINT32_MAX, counts[c] / 2);
        }
    tml_close(tml);
}

TEST(both_forms_by_expected_counts)
{
    all_sizes(false);
}

TEST(both_forms_by_exact_counts)
{
    all_sizes(true);
}

TEST(floats_are_refused_where_they_cannot_count)
{
    tml_context *tml;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml))
        SKIP("no OpenGL ES device");
    gl_classic_desc desc = {.keep = TML_USE(is_negative),
                            .in = buffer_of(tml, TML_F32, (1 << 24) + 1, NULL),
                            .out = buffer_of(tml, TML_F32, 16, NULL),
                            .count = buffer_of(tml, TML_U32, 1, NULL)};
    CHECK_STATUS(gl_classic_compact(tml, &desc), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "16777216"));
    tml_close(tml);
}

/* A device without integer textures adds no rows, and takes none away. */
TEST(the_filter_bench_has_its_table_on_es2)
{
    const char *cli = getenv("TML_CLI");
    if (!cli || !*cli)
        SKIP("no command in this build");
    tml_context *tml;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml))
        SKIP("no OpenGL ES device");
    tml_close(tml);
    char command[512], text[4096];
    snprintf(
        command, sizeof command,
        "MESA_GLES_VERSION_OVERRIDE=2.0 '%s' bench filter --count 64K --keep 10 --repeats 1 2>&1",
        cli);
    FILE *pipe = popen(command, "r");
    if (!CHECK(pipe != NULL))
        return;
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    CHECK_EQ_I64(pclose(pipe), 0);
    CHECK(strstr(text, "cpu, scan_search") != NULL);
    /* Drivers other than Mesa's stay as they are. */
    CHECK((strstr(text, "gl, histopyramid") != NULL) != (strstr(text, "no way to filter") != NULL));
}

/* ---- surfaces -------------------------------------------------------------------------------- */

static int compare_triangles(const void *a, const void *b)
{
    return memcmp(a, b, 9 * sizeof(float));
}

/* The triangles of both are the same, whatever their order: the soup of tml_surface is positions in
 * samples of the same arithmetic. */
static void compare_soups(tml_context *tml, const uint64_t dims[3])
{
    uint64_t samples = dims[0] * dims[1] * dims[2];
    float *volume = malloc(samples * sizeof *volume);
    if (!volume)
        abort();
    for (uint64_t i = 0; i < samples; i++)
        volume[i] = (float)(hash((uint32_t)i) >> 8) * 0x1p-24f;
    tml_surface_desc desc = {.volume = buffer_of(tml, TML_F32, samples, volume),
                             .grid.dims = {dims[0], dims[1], dims[2]},
                             .iso = 0.625,
                             .soup = true};
    tml_surface_result ours;
    CHECK_OK(tml, tml_surface(tml, &desc, &ours));
    gl_classic_surface_desc classic = {
        .volume = desc.volume,
        .dims = {dims[0], dims[1], dims[2]},
        .iso = (float)desc.iso,
        .room = ours.vertex_count,
        .out = buffer_of(tml, TML_VEC(TML_F32, 3), ours.vertex_count, NULL),
        .count = buffer_of(tml, TML_U32, 1, NULL)};
    uint32_t vertices = 0;
    size_t size = ours.vertex_count * 3 * sizeof(float);
    float *a = malloc(size), *b = malloc(size);
    if (!a || !b)
        abort();
    CHECK_OK(tml, gl_classic_surface(tml, &classic));
    CHECK_OK(tml, tml_buffer_read(tml, classic.count, &vertices));
    CHECK_OK(tml, tml_buffer_read(tml, classic.out, a));
    CHECK_OK(tml, tml_buffer_read(tml, ours.vertices, b));
    CHECK(ours.triangle_count > 0);
    CHECK_EQ_U64(vertices, ours.vertex_count);
    qsort(a, ours.triangle_count, 9 * sizeof(float), compare_triangles);
    qsort(b, ours.triangle_count, 9 * sizeof(float), compare_triangles);
    CHECK(memcmp(a, b, size) == 0);
    tml_surface_free(tml, &ours);
    tml_buffer_destroy(tml, desc.volume);
    tml_buffer_destroy(tml, classic.out);
    tml_buffer_destroy(tml, classic.count);
    free(volume);
    free(a);
    free(b);
}

TEST(soups_have_the_triangles_of_the_surface)
{
    static const uint64_t sizes[][3] = {{2, 2, 2}, {5, 3, 4}, {16, 16, 16}, {33, 17, 20}};
    tml_context *tml;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL}, &tml))
        SKIP("no OpenGL ES device");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        compare_soups(tml, sizes[i]);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
