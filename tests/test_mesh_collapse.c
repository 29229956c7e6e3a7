/* tml_mesh_collapse and tml_surface_desc.collapse: the topology stays, slivers go, no triangle
 * turns over. */
#include <math.h>
#include <stdlib.h>

#include "core/core_internal.h"
#include "test.h"

#include "contexts.h"

#include <trommel/trommel.h>

enum { SIDE = 40, SAMPLES = SIDE * SIDE * SIDE };

typedef struct mesh {
    float *at, *values;
    uint32_t *corners;
    tml_mesh_part parts[2];
    tml_mesh arrays;
} mesh;

static uint64_t random_state;

static void gradient_of_gyroid(const float p[3], double out[3])
{
    const double s = 2 * acos(-1.0) * 1.7 / SIDE;
    for (int a = 0; a < 3; a++) {
        const double x = s * (double)p[a], y = s * (double)p[(a + 1) % 3],
                     z = s * (double)p[(a + 2) % 3];
        out[a] = cos(x) * cos(y) - sin(z) * sin(x);
    }
}

static float gyroid(int x, int y, int z)
{
    const double s = 2 * acos(-1.0) * 1.7 / SIDE, a = s * x, b = s * y, c = s * z;
    return (float)(sin(a) * cos(b) + sin(b) * cos(c) + sin(c) * cos(a));
}

/* At most slightly away from the isovalues, so that many edges are short. */
static float noisy(int x, int y, int z)
{
    (void)x, (void)y, (void)z;
    return (float)((double)(test_random(&random_state) >> 40) * 0x1p-24 - 0.5);
}

/* Closed, and 13 in radius. */
static float ball(int x, int y, int z)
{
    return (float)(13 - hypot(hypot(x - 19.3, y - 20.1), z - 18.6));
}

static void make_volume(float (*value)(int x, int y, int z), float *volume)
{
    random_state = 3;
    for (int i = 0; i < SAMPLES; i++)
        volume[i] = value(i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE));
}

static tml_surface_desc desc_of(tml_context *tml, float (*value)(int x, int y, int z), bool caps)
{
    static float volume[SAMPLES];
    static const double isovalues[] = {-0.2, 0.15};
    make_volume(value, volume);
    return (tml_surface_desc){.volume = buffer_of(tml, TML_F32, SAMPLES, volume),
                              .attribute = buffer_of(tml, TML_F32, SAMPLES, volume),
                              .grid.dims = {SIDE, SIDE, SIDE},
                              .isovalues = isovalues,
                              .isovalue_count = 2,
                              .caps = caps};
}

static void make_mesh(tml_context *tml, const tml_surface_desc *desc, mesh *m)
{
    tml_surface_result result;
    CHECK_OK(tml, tml_surface(tml, desc, &result));
    CHECK_EQ_U64(result.part_count, 2);
    *m = (mesh){.at = fetch(tml, result.mesh.positions, result.vertex_count),
                .values = fetch(tml, result.mesh.values, result.vertex_count),
                .corners = fetch(tml, result.mesh.indices, result.triangle_count)};
    memcpy(m->parts, result.parts, sizeof m->parts);
    m->arrays = (tml_mesh){.positions = m->at,
                           .values = m->values,
                           .indices = m->corners,
                           .vertex_count = result.vertex_count,
                           .triangle_count = result.triangle_count,
                           .parts = m->parts,
                           .part_count = 2};
    tml_surface_free(tml, &result);
}

static void free_mesh(mesh *m)
{
    free(m->at);
    free(m->values);
    free(m->corners);
}

static tml_mesh_stats examine(tml_context *tml, const mesh *m)
{
    const tml_mesh_buffers buffers = {
        .positions = buffer_of(tml, TML_VEC(TML_F32, 3), m->arrays.vertex_count, m->at),
        .indices = buffer_of(tml, TML_VEC(TML_U32, 3), m->arrays.triangle_count, m->corners)};
    tml_mesh_stats stats = {0};
    CHECK_OK(tml, tml_mesh_examine(tml, &buffers, false, &stats));
    tml_buffer_destroy(tml, buffers.positions);
    tml_buffer_destroy(tml, buffers.indices);
    return stats;
}

/* The share of triangles with an angle of less than 5 degrees; turned: how many look against the
 * gyroid's gradient. */
static double slivers(const mesh *m, uint64_t *turned)
{
    uint64_t found = 0;
    *turned = 0;
    for (uint64_t t = 0; t < m->arrays.triangle_count; t++) {
        const float *p[3];
        double least = INFINITY, u[3], v[3], normal[3], gradient[3], along = 0;
        for (int k = 0; k < 3; k++)
            p[k] = m->at + 3 * m->corners[3 * t + (uint64_t)k];
        for (int k = 0; k < 3; k++) {
            double uu = 0, vv = 0, uv = 0;
            for (int a = 0; a < 3; a++) {
                u[a] = (double)p[(k + 1) % 3][a] - (double)p[k][a];
                v[a] = (double)p[(k + 2) % 3][a] - (double)p[k][a];
                uu += u[a] * u[a];
                vv += v[a] * v[a];
                uv += u[a] * v[a];
            }
            least = fmin(least, uu * vv > 0 ? acos(fmax(fmin(uv / sqrt(uu * vv), 1), -1)) : 0);
        }
        found += least < 5 * acos(-1.0) / 180;
        gradient_of_gyroid(p[0], gradient);
        for (int a = 0; a < 3; a++) {
            normal[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
            along += normal[a] * gradient[a];
        }
        *turned += along > 0;
    }
    return (double)found / (double)m->arrays.triangle_count;
}

static void check_parts(const mesh *m)
{
    uint64_t vertices = 0, triangles = 0;
    for (int p = 0; p < 2; p++) {
        CHECK_EQ_U64(m->parts[p].vertex_first, vertices);
        CHECK_EQ_U64(m->parts[p].triangle_first, triangles);
        vertices += m->parts[p].vertex_count;
        triangles += m->parts[p].triangle_count;
        for (uint64_t i = 3 * m->parts[p].triangle_first; i < 3 * triangles; i++)
            CHECK(m->corners[i] >= m->parts[p].vertex_first && m->corners[i] < vertices);
    }
    CHECK_EQ_U64(vertices, m->arrays.vertex_count);
    CHECK_EQ_U64(triangles, m->arrays.triangle_count);
}

static void check_volume(tml_context *tml, float (*value)(int x, int y, int z), bool caps)
{
    mesh m;
    uint64_t turned_before, turned;
    const tml_surface_desc desc = desc_of(tml, value, caps);
    make_mesh(tml, &desc, &m);
    const double share_before = slivers(&m, &turned_before);
    const uint64_t triangles = m.arrays.triangle_count;
    const tml_mesh_stats before = examine(tml, &m);
    CHECK_OK(tml, tml_mesh_collapse(tml, &m.arrays, 0.3));
    const tml_mesh_stats after = examine(tml, &m);
    const double share = slivers(&m, &turned);
    printf("  %s: %.2f %% slivers of %d triangles, then %.2f of %d\n",
           value == gyroid ? "gyroid"
           : value == ball ? "balls"
                           : "noise",
           100 * share_before, (int)triangles, 100 * share, (int)m.arrays.triangle_count);
    CHECK(m.arrays.triangle_count < triangles);
    CHECK_EQ_U64(after.components, before.components);
    CHECK_EQ_U64(after.boundary_edges, before.boundary_edges);
    CHECK_EQ_U64(after.nonmanifold_edges, before.nonmanifold_edges);
    CHECK_EQ_I64(after.euler, before.euler);
    CHECK_NEAR(after.area, before.area, 0.02 * before.area);
    CHECK(isnan(after.volume) == isnan(before.volume)); /* only what is closed encloses one */
    if (!isnan(before.volume))
        CHECK_NEAR(after.volume, before.volume, 0.002 * before.area);
    CHECK(share < (value == ball ? 0.15 : value == gyroid ? 0.25 : 0.75) * share_before);
    if (value == gyroid)
        CHECK(turned_before == 0 && turned == 0);
    check_parts(&m);
    /* The attribute is the volume itself, of samples within 1; vertices may be 2^-10 of a cell
     * off. */
    for (uint64_t v = 0; v < m.arrays.vertex_count && !caps; v++)
        CHECK_NEAR((double)m.values[v], v < m.parts[0].vertex_count ? -0.2 : 0.15, 1.0 / 1024);
    free_mesh(&m);
}

TEST(slivers_go_and_topology_stays)
{
    tml_context *tml = open_cpu(2);
    check_volume(tml, gyroid, false);
    check_volume(tml, ball, false);
    check_volume(tml, noisy, false);
    check_volume(tml, noisy, true);
    tml_close(tml);
}

/* For any number of threads, by the surface's own option and by indices of 64 bits. */
TEST(the_same_bytes_each_way)
{
    tml_context *tml = open_cpu(1), *threads = open_cpu(3);
    mesh m, again;
    tml_surface_desc desc = desc_of(tml, noisy, true);
    make_mesh(tml, &desc, &m);
    CHECK_OK(tml, tml_mesh_collapse(tml, &m.arrays, 0.5));
    desc = desc_of(threads, noisy, true);
    desc.collapse = 0.5;
    make_mesh(threads, &desc, &again);
    CHECK_EQ_U64(again.arrays.vertex_count, m.arrays.vertex_count);
    CHECK_EQ_U64(again.arrays.triangle_count, m.arrays.triangle_count);
    CHECK(memcmp(again.at, m.at, 12 * m.arrays.vertex_count) == 0);
    CHECK(memcmp(again.corners, m.corners, 12 * m.arrays.triangle_count) == 0);
    CHECK(memcmp(again.parts, m.parts, sizeof m.parts) == 0);
    free_mesh(&again);

    desc.collapse = 0;
    make_mesh(threads, &desc, &again);
    uint64_t *wide = malloc(24 * again.arrays.triangle_count);
    for (uint64_t i = 0; i < 3 * again.arrays.triangle_count; i++)
        wide[i] = again.corners[i];
    again.arrays.indices = wide;
    again.arrays.indices64 = true;
    CHECK_OK(threads, tml_mesh_collapse(threads, &again.arrays, 0.5));
    CHECK_EQ_U64(again.arrays.triangle_count, m.arrays.triangle_count);
    for (uint64_t i = 0; i < 3 * m.arrays.triangle_count; i++)
        CHECK_EQ_U64(wide[i], m.corners[i]);
    free(wide);
    free_mesh(&again);
    free_mesh(&m);
    tml_close(threads);
    tml_close(tml);
}

/* Triangles around an edge of length 0.1 in a plane. */
TEST(an_edge_by_hand)
{
    tml_context *tml = open_cpu(1);
    float at[12][3] = {{-0.05f, 0, 0}, {0.05f, 0, 0},  {0, 1, 0},    {0, -1, 0},
                       {-1, 0.5f, 0},  {-1, -0.5f, 0}, {1, 0.5f, 0}, {1, -0.5f, 0},
                       {-2, 2, 0},     {2, 2, 0},      {2, -2, 0},   {-2, -2, 0}};
    const uint32_t corners[18][3] = {{0, 1, 2},  {1, 0, 3},  {0, 2, 4},  {0, 4, 5},   {0, 5, 3},
                                     {1, 3, 7},  {1, 7, 6},  {1, 6, 2},  {2, 9, 8},   {2, 8, 4},
                                     {4, 8, 11}, {4, 11, 5}, {5, 11, 3}, {3, 11, 10}, {3, 10, 7},
                                     {7, 10, 6}, {6, 10, 9}, {6, 9, 2}};
    uint32_t indices[18][3];
    float values[12] = {4, 8};
    tml_mesh arrays = {.positions = &at[0][0],
                       .values = values,
                       .indices = indices,
                       .vertex_count = 12,
                       .triangle_count = 18};
    memcpy(indices, corners, sizeof corners);
    CHECK_OK(tml, tml_mesh_collapse(tml, &arrays, 0.1)); /* not shorter */
    CHECK_EQ_U64(arrays.triangle_count, 18);
    CHECK_OK(tml, tml_mesh_collapse(tml, &arrays, 0.2));
    CHECK_EQ_U64(arrays.triangle_count, 16);
    CHECK_EQ_U64(arrays.vertex_count, 11);
    CHECK(at[0][0] == 0 && at[0][1] == 0 && values[0] == 6 && at[1][1] == 1);
    /* Without the outer ring 2 and 3 are on the boundary, and so is what would become one of the
     * two: nothing goes. */
    arrays.triangle_count = 2;
    CHECK_OK(tml, tml_mesh_collapse(tml, &arrays, 10));
    CHECK_EQ_U64(arrays.triangle_count, 2);
    tml_close(tml);
}

TEST(nonsense_is_refused)
{
    tml_context *tml = open_cpu(1);
    float at[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, NAN}};
    uint32_t corners[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    tml_mesh arrays = {
        .positions = &at[0][0], .indices = corners, .vertex_count = 4, .triangle_count = 4};
    const double lengths[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < TML_ARRAY_SIZE(lengths); i++)
        CHECK_STATUS(tml_mesh_collapse(tml, &arrays, lengths[i]), TML_ERROR_INVALID_ARGUMENT);
    CHECK_OK(tml, tml_mesh_collapse(tml, &arrays, 10)); /* a tetrahedron has nothing to lose */
    CHECK_EQ_U64(arrays.triangle_count, 4);
    memcpy(corners, (uint32_t[4][3]){{0, 0, 0}, {0, 0, 1}, {1, 2, 2}, {0, 2, 1}}, sizeof corners);
    CHECK_OK(tml, tml_mesh_collapse(tml, &arrays, 10));
    CHECK_EQ_U64(arrays.triangle_count, 4);
    corners[2][1] = 4;
    CHECK_STATUS(tml_mesh_collapse(tml, &arrays, 1), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "tml_mesh_collapse: mesh.indices") != NULL);
    corners[2][1] = 0;
    arrays.triangle_count = arrays.vertex_count = 0;
    CHECK_OK(tml, tml_mesh_collapse(tml, &arrays, 1));

    float volume[8] = {0, 1, 0, 1, 0, 1, 0, 1};
    tml_surface_result result;
    tml_surface_desc desc = {
        .volume = buffer_of(tml, TML_F32, 8, volume), .grid.dims = {2, 2, 2}, .iso = 0.5};
    for (size_t i = 1; i < TML_ARRAY_SIZE(lengths); i++) {
        desc.collapse = lengths[i];
        CHECK_STATUS(tml_surface(tml, &desc, &result), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "desc.collapse") != NULL);
    }
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
