/* Surfaces and fields on OpenGL ES with short rows of texels, whose seams then lie everywhere: the
 * mesh is the CPU's; nothing waits in between (tml_surface_enqueue) and nothing past the end is
 * written. */
#include "core/testing.h"
#include <trommel/gl.h>
#include <trommel/surface.h>

#include "test.h"

#include "contexts.h"

static float wave(uint64_t x, uint64_t y, uint64_t z)
{
    float fx = 0.31f * (float)x, fy = 0.27f * (float)y, fz = 0.35f * (float)z;
    return sinf(fx) * cosf(fy) + sinf(fy) * cosf(fz) + sinf(fz) * cosf(fx);
}

typedef struct host_mesh {
    float *positions, *normals;
    uint32_t *indices;
    uint64_t vertices, triangles;
} host_mesh;

static void *read_all(tml_context *tml, tml_buffer buffer, size_t size)
{
    void *out = malloc(size + 1);
    if (!out)
        abort();
    CHECK_OK(tml, tml_buffer_read(tml, buffer, out));
    return out;
}

static host_mesh make_mesh(tml_context *tml, const tml_surface_desc *desc)
{
    tml_surface_result r;
    CHECK_OK(tml, tml_surface(tml, desc, &r));
    host_mesh mesh = {read_all(tml, r.mesh.positions, 12 * r.vertex_count),
                      read_all(tml, r.mesh.normals, 12 * r.vertex_count),
                      desc->soup ? NULL : read_all(tml, r.mesh.indices, 12 * r.triangle_count),
                      r.vertex_count, r.triangle_count};
    tml_surface_free(tml, &r);
    return mesh;
}

static void free_mesh(host_mesh *mesh)
{
    free(mesh->positions);
    free(mesh->normals);
    free(mesh->indices);
}

static void compare(const host_mesh *a, const host_mesh *b, float span)
{
    CHECK(a->triangles > 0);
    if (!CHECK_EQ_U64(a->vertices, b->vertices) || !CHECK_EQ_U64(a->triangles, b->triangles))
        return;
    CHECK(memcmp(a->indices, b->indices, 12 * a->triangles) == 0);
    for (uint64_t i = 0; i < 3 * a->vertices; i++)
        if (!CHECK(fabsf(a->positions[i] - b->positions[i]) <= 8 * 0x1p-24f * span) ||
            !CHECK(fabsf(a->normals[i] - b->normals[i]) <= 1e-3f))
            return;
}

/* As enqueued into buffers that have room for a part: the first of each, and the whole counts. */
static void compare_enqueued(tml_context *tml, const tml_surface_desc *desc, const host_mesh *whole)
{
    uint64_t vertices = whole->vertices / 2, triangles = whole->triangles / 3;
    tml_surface_desc surface = *desc;
    uint8_t *guard = malloc(12 * (vertices + triangles + 8));
    if (!guard)
        abort();
    memset(guard, 0xa5, 12 * (vertices + triangles + 8));
    surface.mesh.positions = buffer_of(tml, TML_VEC(TML_F32, 3), vertices, guard);
    surface.mesh.normals = buffer_of(tml, TML_VEC(TML_F32, 3), vertices + 5, guard);
    surface.mesh.indices = buffer_of(tml, TML_VEC(TML_U32, 3), triangles, guard);
    surface.counts = buffer_of(tml, TML_U64, 2, NULL);
    surface.draw = buffer_of(tml, TML_U32, 5, NULL);
    CHECK_OK(tml, tml_surface_enqueue(tml, &surface));
    uint64_t counts[2] = {0, 0};
    uint32_t draw[5] = {0};
    CHECK_OK(tml, tml_buffer_read(tml, surface.counts, counts));
    CHECK_OK(tml, tml_buffer_read(tml, surface.draw, draw));
    CHECK_EQ_U64(counts[0], whole->vertices);
    CHECK_EQ_U64(counts[1], whole->triangles);
    CHECK_EQ_U64(draw[0], 3 * triangles);
    CHECK_EQ_U64(draw[1], 1);
    float *positions = read_all(tml, surface.mesh.positions, 12 * vertices);
    uint8_t *normals = read_all(tml, surface.mesh.normals, 12 * (vertices + 5));
    uint32_t *indices = read_all(tml, surface.mesh.indices, 12 * triangles);
    CHECK(memcmp(positions, whole->positions, 12 * vertices) == 0);
    CHECK(memcmp(normals, whole->normals, 12 * vertices) == 0);
    CHECK(memcmp(normals + 12 * vertices, guard, 60) == 0);
    CHECK(memcmp(indices, whole->indices, 12 * triangles) == 0);
    free(positions);
    free(normals);
    free(indices);
    free(guard);
    tml_buffer_destroy(tml, surface.mesh.positions);
    tml_buffer_destroy(tml, surface.mesh.normals);
    tml_buffer_destroy(tml, surface.mesh.indices);
    tml_buffer_destroy(tml, surface.counts);
    tml_buffer_destroy(tml, surface.draw);
}

/* Soups, made at once and enqueued, are the welded mesh's vertices in the order of its
 * triangles. */
static void compare_soup(tml_context *tml, const tml_surface_desc *desc, const host_mesh *welded)
{
    const uint64_t corners = 3 * welded->triangles;
    tml_surface_desc surface = *desc;
    surface.soup = true;
    host_mesh soup = make_mesh(tml, &surface);
    CHECK_EQ_U64(soup.vertices, corners);
    CHECK_EQ_U64(soup.triangles, welded->triangles);
    surface.mesh.positions = buffer_of(tml, TML_VEC(TML_F32, 3), corners + 1, NULL);
    surface.mesh.normals = buffer_of(tml, TML_VEC(TML_F32, 3), corners + 2, NULL);
    surface.counts = buffer_of(tml, TML_U32, 2, NULL);
    CHECK_OK(tml, tml_surface_enqueue(tml, &surface));
    uint32_t counts[2] = {0, 0};
    CHECK_OK(tml, tml_buffer_read(tml, surface.counts, counts));
    CHECK_EQ_U64(counts[0], corners);
    CHECK_EQ_U64(counts[1], welded->triangles);
    float *positions = read_all(tml, surface.mesh.positions, 12 * (corners + 1));
    float *normals = read_all(tml, surface.mesh.normals, 12 * (corners + 2));
    for (uint64_t i = 0; i < corners && soup.vertices == corners; i++) {
        const float *position = welded->positions + 3 * (uint64_t)welded->indices[i];
        const float *normal = welded->normals + 3 * (uint64_t)welded->indices[i];
        if (!CHECK(memcmp(soup.positions + 3 * i, position, 12) == 0 &&
                   memcmp(soup.normals + 3 * i, normal, 12) == 0 &&
                   memcmp(positions + 3 * i, position, 12) == 0 &&
                   memcmp(normals + 3 * i, normal, 12) == 0))
            break;
    }
    free(positions);
    free(normals);
    free_mesh(&soup);
    tml_buffer_destroy(tml, surface.mesh.positions);
    tml_buffer_destroy(tml, surface.mesh.normals);
    tml_buffer_destroy(tml, surface.counts);
}

static void compare_on(tml_context *gl, tml_context *cpu, const uint64_t dims[3], bool caps)
{
    uint64_t count = dims[0] * dims[1] * dims[2];
    float *samples = malloc(count * sizeof *samples);
    if (!samples)
        abort();
    for (uint64_t i = 0; i < count; i++)
        samples[i] = wave(i % dims[0], i / dims[0] % dims[1], i / dims[0] / dims[1]);
    tml_surface_desc desc = {.grid.dims = {dims[0], dims[1], dims[2]},
                             .iso = 0.125,
                             .caps = caps,
                             .normals = TML_NORMALS_CENTRAL};
    tml_surface_desc there = desc;
    desc.volume = buffer_of(cpu, TML_F32, count, samples);
    there.volume = buffer_of(gl, TML_F32, count, samples);
    host_mesh expected = make_mesh(cpu, &desc), mesh = make_mesh(gl, &there);
    uint64_t longest = dims[0] > dims[1] ? dims[0] : dims[1];
    compare(&expected, &mesh, (float)(longest > dims[2] ? longest : dims[2]));
    compare_enqueued(gl, &there, &mesh);
    compare_soup(gl, &there, &mesh);
    free_mesh(&expected);
    free_mesh(&mesh);
    tml_buffer_destroy(cpu, desc.volume);
    tml_buffer_destroy(gl, there.volume);
    free(samples);
}

TEST(short_rows_change_nothing)
{
    static const uint64_t sizes[][3] = {{31, 29, 30}, {130, 9, 17}, {260, 12, 11}};
    static const uint32_t rows[] = {4, 7};
    tml_context *cpu = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &cpu));
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        tml_context *gl;
        const tml_gl_desc desc = {.exact_counts = r == 1};
        if (tml_open_testing(&(tml_open_desc){.engine = TML_ENGINE_GL, .gl = &desc},
                             &(tml_testing){.gl_row_log2 = rows[r]}, &gl)) {
            tml_close(cpu);
            SKIP("no OpenGL ES device");
        }
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            compare_on(gl, cpu, sizes[i], i == 1);
        tml_close(gl);
    }
    tml_close(cpu);
}

/* Many points in one place: more than a draw adds to a sample. */
TEST(fields_of_crowded_points)
{
    enum { POINTS = 20000, SIDE = 20, SAMPLES = SIDE * SIDE * SIDE };
    static float points[3 * POINTS], expected[SAMPLES], samples[SAMPLES];
    for (int i = 0; i < 3 * POINTS; i++)
        points[i] = 9.5f + 0.001f * (float)(i * 7919 % 1000);
    for (int e = 0; e < 2; e++) {
        tml_context *tml;
        const tml_open_desc open = {.engine = e ? TML_ENGINE_GL : TML_ENGINE_CPU};
        if (tml_open_testing(&open, &(tml_testing){.gl_row_log2 = 6}, &tml))
            SKIP("no OpenGL ES device");
        tml_field_desc desc = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points),
                               .radius = 4,
                               .grid.dims = {SIDE, SIDE, SIDE}};
        tml_buffer out = buffer_of(tml, TML_F32, SAMPLES, NULL);
        CHECK_OK(tml, tml_field(tml, &desc, out));
        CHECK_OK(tml, tml_buffer_read(tml, out, e ? samples : expected));
        tml_buffer_destroy(tml, desc.points);
        tml_buffer_destroy(tml, out);
        tml_close(tml);
    }
    /* trommel/field.h: each share to 2^-24 * (32 + 128 * step / reach), and the sum to 2^-24 *
     * n. */
    for (int i = 0; i < SAMPLES; i++)
        if (!CHECK(fabsf(samples[i] - expected[i]) <=
                   2 * 0x1p-24f * (64.0f * POINTS + (float)POINTS * expected[i])))
            break;
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
