/* tml_mesh_smooth against plain code in double precision, and against what is known of spheres and
 * planes, on every device that there is. */
#include <math.h>
#include <stdlib.h>

#include "test.h"

#include "contexts.h"

#include <trommel/trommel.h>

enum { MAX_VERTICES = 3000, MAX_TRIANGLES = 6000 };

typedef struct mesh {
    float at[MAX_VERTICES][3];
    uint32_t corners[MAX_TRIANGLES][3];
    uint64_t vertices, triangles;
} mesh;

static mesh sample;
static uint64_t random_state;

static float noise(void)
{
    return (float)(test_random(&random_state) >> 40) * 0x1p-24f - 0.5f;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

/* A sphere of radius 1: an octahedron, each of whose faces is divided into n x n. */
static void make_sphere(mesh *m, int n)
{
    *m = (mesh){.vertices = 0};
    for (int face = 0; face < 8; face++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 2 * (n - i) - 1; j++) {
                int a = j / 2, up = j % 2; /* a triangle and, up, the one beside it */
                int grid[3][2] = {{i, a}, {i, a + 1}, {i + 1, a}};
                if (up) {
                    grid[0][0] = i + 1, grid[0][1] = a;
                    grid[1][0] = i, grid[1][1] = a + 1;
                    grid[2][0] = i + 1, grid[2][1] = a + 1;
                }
                int signs[3] = {face & 1 ? -1 : 1, face & 2 ? -1 : 1, face & 4 ? -1 : 1};
                bool is_turned = signs[0] * signs[1] * signs[2] > 0;
                for (int k = 0; k < 3; k++) {
                    const int *g = grid[is_turned ? 2 - k : k];
                    double p[3] = {signs[0] * (double)(n - g[0] - g[1]), signs[1] * (double)g[0],
                                   signs[2] * (double)g[1]};
                    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
                    float at[3];
                    for (int c = 0; c < 3; c++)
                        at[c] = (float)(p[c] / length) + 0.0f; /* -0 becomes 0 */
                    uint64_t v = 0;
                    while (v < m->vertices && memcmp(m->at[v], at, sizeof at) != 0)
                        v++;
                    if (v == m->vertices)
                        memcpy(m->at[m->vertices++], at, sizeof at);
                    m->corners[m->triangles][k] = (uint32_t)v;
                }
                m->triangles++;
            }
}

/* A square of side x side samples, at height 0. */
static void make_plane(mesh *m, uint32_t side)
{
    *m = (mesh){.vertices = (uint64_t)side * side};
    for (uint32_t i = 0; i < side * side; i++) {
        m->at[i][0] = (float)(i % side);
        m->at[i][1] = (float)(i / side);
        if (i % side + 1 == side || i / side + 1 == side)
            continue;
        const uint32_t two[2][3] = {{i, i + 1, i + side + 1}, {i, i + side + 1, i + side}};
        memcpy(m->corners[m->triangles], two, sizeof two);
        m->triangles += 2;
    }
}

/* Triangles of any vertices: edges of many triangles, vertices of no triangle, and with a corner
 * twice. */
static void make_random(mesh *m, uint64_t vertices, uint64_t triangles)
{
    *m = (mesh){.vertices = vertices, .triangles = triangles};
    for (uint64_t v = 0; v < vertices; v++)
        for (int k = 0; k < 3; k++)
            m->at[v][k] = 10 * noise();
    for (uint64_t i = 0; i < triangles; i++)
        for (int k = 0; k < 3; k++)
            m->corners[i][k] = (uint32_t)(test_random(&random_state) % (vertices - vertices / 8));
}

static double volume_of(const mesh *m, float (*at)[3])
{
    double volume = 0;
    for (uint64_t i = 0; i < m->triangles; i++) {
        double p[3][3];
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                p[k][c] = (double)at[m->corners[i][k]][c];
        volume += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                  p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                  p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return volume / 6;
}

/* ---- plain code ------------------------------------------------------------------------------ */

/* The same in double precision, by the header's words. weights may be NULL. */
static void smooth_plainly(const mesh *m, const tml_mesh_smooth_desc *desc, const float *weights,
                           double (*at)[3])
{
    static double next[MAX_VERTICES][3], sums[MAX_VERTICES][3];
    static uint32_t counts[MAX_VERTICES];
    static bool stays[MAX_VERTICES];
    static uint8_t edges[MAX_VERTICES][MAX_VERTICES];
    const double lambda = desc->lambda == 0 ? 0.5 : desc->lambda;
    const double mu = desc->mu == 0 ? 1 / (0.1 - 1 / lambda) : desc->mu;
    memset(edges, 0, sizeof edges);
    for (uint64_t i = 0; i < m->triangles; i++)
        for (int k = 0; k < 3; k++)
            edges[m->corners[i][k]][m->corners[i][(k + 1) % 3]]++;
    for (uint64_t v = 0; v < m->vertices; v++) {
        stays[v] = false;
        for (uint64_t u = 0; u < m->vertices && !desc->free_boundary; u++)
            stays[v] = stays[v] || edges[v][u] != edges[u][v];
        for (int c = 0; c < 3; c++)
            at[v][c] = (double)m->at[v][c];
    }
    uint32_t passes = desc->method == TML_SMOOTH_TAUBIN ? 2 : 1;
    for (uint32_t pass = 0; pass < passes * desc->iterations; pass++) {
        memset(sums, 0, sizeof sums);
        memset(counts, 0, sizeof counts);
        for (uint64_t i = 0; i < m->triangles; i++)
            for (int k = 0; k < 3; k++) {
                const uint32_t *t = m->corners[i];
                counts[t[k]] += 2;
                for (int c = 0; c < 3; c++)
                    sums[t[k]][c] += at[t[(k + 1) % 3]][c] + at[t[(k + 2) % 3]][c];
            }
        for (uint64_t v = 0; v < m->vertices; v++) {
            double weight = weights ? (weights[v] > 0 ? fmin((double)weights[v], 1) : 0) : 1;
            double step = (pass % passes ? mu : lambda) * (stays[v] ? 0 : weight);
            for (int c = 0; c < 3; c++)
                next[v][c] =
                    counts[v] ? at[v][c] + step * (sums[v][c] / counts[v] - at[v][c]) : at[v][c];
        }
        memcpy(at, next, sizeof next);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

typedef struct call {
    tml_mesh_smooth_desc desc;
    const float *weights;
    bool in_place, indices64;
} call;

/* Smooths m; out and normals (optional) are vertices each. */
static tml_status smooth(tml_context *tml, const mesh *m, const call *c, float (*out)[3],
                         float (*normals)[3])
{
    static uint64_t wide[3 * MAX_TRIANGLES];
    tml_mesh_smooth_desc desc = c->desc;
    const tml_type vec3 = TML_VEC(TML_F32, 3);
    for (uint64_t i = 0; i < 3 * m->triangles; i++)
        wide[i] = m->corners[i / 3][i % 3];
    desc.mesh.positions = buffer_of(tml, vec3, m->vertices, m->at);
    desc.mesh.indices = c->indices64
                            ? buffer_of(tml, TML_VEC(TML_U64, 3), m->triangles, wide)
                            : buffer_of(tml, TML_VEC(TML_U32, 3), m->triangles, m->corners);
    if (c->weights)
        desc.weights = buffer_of(tml, TML_F32, m->vertices, c->weights);
    if (normals)
        desc.normals = buffer_of(tml, vec3, m->vertices, NULL);
    if (out)
        desc.out = c->in_place ? desc.mesh.positions : buffer_of(tml, vec3, m->vertices, NULL);
    tml_status status = tml_mesh_smooth(tml, &desc);
    if (status == TML_OK && out && m->vertices)
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
    if (status == TML_OK && normals && m->vertices)
        CHECK_OK(tml, tml_buffer_read(tml, desc.normals, normals));
    tml_buffer_destroy(tml, desc.mesh.positions);
    tml_buffer_destroy(tml, desc.mesh.indices);
    tml_buffer_destroy(tml, desc.weights);
    tml_buffer_destroy(tml, desc.normals);
    if (!c->in_place)
        tml_buffer_destroy(tml, desc.out);
    return status;
}

static float got[MAX_VERTICES][3], again[MAX_VERTICES][3], normals[MAX_VERTICES][3];

static void compare(tml_context *tml, const mesh *m, const call *c, double bound)
{
    static double expected[MAX_VERTICES][3];
    smooth_plainly(m, &c->desc, c->weights, expected);
    if (!CHECK_OK(tml, smooth(tml, m, c, got, NULL)))
        return;
    double worst = 0;
    for (uint64_t v = 0; v < m->vertices; v++)
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs((double)got[v][k] - expected[v][k]));
    CHECK(worst <= bound);
}

static void all_of(tml_context *tml)
{
    static float weights[MAX_VERTICES];
    static const struct {
        tml_smooth_method method;
        uint32_t iterations;
        double lambda, mu;
        bool free_boundary, has_weights, in_place, indices64;
    } calls[] = {
        {TML_SMOOTH_TAUBIN, 10, 0, 0, false, false, false, false},
        {TML_SMOOTH_TAUBIN, 1, 0.6307, -0.6732, true, false, true, true},
        {TML_SMOOTH_LAPLACIAN, 1, 1, 0, false, true, true, false},
        {TML_SMOOTH_LAPLACIAN, 2, 0, 0, true, true, true, true},
        {TML_SMOOTH_LAPLACIAN, 5, 0.3, 0, true, false, false, true},
        {TML_SMOOTH_LAPLACIAN, 0, 0, 0, false, false, false, false},
    };
    random_state = 7;
    for (uint64_t i = 0; i < MAX_VERTICES; i++)
        weights[i] = i % 5 == 0 ? NAN : 2 * noise(); /* less than 0 and more than 1 among them */
    weights[1] = 3;
    for (int shape = 0; shape < 4; shape++) {
        if (shape == 0)
            make_sphere(&sample, 13);
        else if (shape == 1)
            make_plane(&sample, 20);
        else
            make_random(&sample, shape == 2 ? 9 : 331, shape == 2 ? 5 : 1000);
        for (uint64_t v = 0; v < sample.vertices && shape < 2; v++)
            for (int k = 0; k < 3; k++)
                sample.at[v][k] += 0.05f * noise();
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            const call c = {.desc = {.method = calls[i].method,
                                     .iterations = calls[i].iterations,
                                     .lambda = calls[i].lambda,
                                     .mu = calls[i].mu,
                                     .free_boundary = calls[i].free_boundary},
                            .weights = calls[i].has_weights ? weights : NULL,
                            .in_place = calls[i].in_place,
                            .indices64 = calls[i].indices64};
            compare(tml, &sample, &c, shape == 1 ? 2e-5 : 1e-5);
        }
    }
}

static void on_every_device(void (*test)(tml_context *tml))
{
    tml_context *tml;
    for (uint32_t number = 0; (tml = open_device(number)) != NULL; number++) {
        test(tml);
        tml_close(tml);
    }
}

TEST(plain_code_agrees)
{
    on_every_device(all_of);
}

static void of_a_sphere(tml_context *tml)
{
    make_sphere(&sample, 16);
    const double before = volume_of(&sample, sample.at);
    CHECK_EQ_U64(sample.vertices, 4 * 16 * 16 + 2);
    CHECK(before > 4.1 && before < 4.19);
    call c = {.desc = {.iterations = 30}};
    CHECK_OK(tml, smooth(tml, &sample, &c, got, normals));
    CHECK(fabs(volume_of(&sample, got) / before - 1) < 0.02);
    for (uint64_t v = 0; v < sample.vertices; v++) {
        double dot = 0, length = 0;
        for (int k = 0; k < 3; k++) {
            dot += (double)normals[v][k] * (double)got[v][k];
            length += (double)normals[v][k] * (double)normals[v][k];
        }
        CHECK_NEAR(length, 1, 1e-6);
        if (!CHECK(dot > 0.97 && dot < 1.02))
            break;
    }
    c.desc.method = TML_SMOOTH_LAPLACIAN;
    CHECK_OK(tml, smooth(tml, &sample, &c, got, NULL));
    CHECK(volume_of(&sample, got) < 0.9 * before);
    /* A rough sphere becomes smooth, and stays as large. */
    random_state = 3;
    for (uint64_t v = 0; v < sample.vertices; v++) {
        float radius = 1 + 0.1f * noise();
        for (int k = 0; k < 3; k++)
            sample.at[v][k] *= radius;
    }
    c.desc.method = TML_SMOOTH_TAUBIN;
    CHECK_OK(tml, smooth(tml, &sample, &c, got, NULL));
    double rough = 0, smoothed = 0;
    for (uint64_t v = 0; v < sample.vertices; v++) {
        const float *p = sample.at[v], *q = got[v];
        rough += pow(sqrt((double)(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])) - 1, 2);
        smoothed += pow(sqrt((double)(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])) - 1, 2);
    }
    CHECK(smoothed < rough / 9); /* a third of the deviation */
    CHECK(fabs(volume_of(&sample, got) / before - 1) < 0.02);
}

TEST(spheres_keep_their_volume)
{
    on_every_device(of_a_sphere);
}

static void of_a_plane(tml_context *tml)
{
    enum { SIDE = 24 };
    make_plane(&sample, SIDE);
    const call c = {.desc = {.iterations = 25}};
    CHECK_OK(tml, smooth(tml, &sample, &c, got, normals));
    for (uint32_t v = 0; v < SIDE * SIDE; v++) {
        bool is_border = v % SIDE % (SIDE - 1) == 0 || v / SIDE % (SIDE - 1) == 0;
        CHECK(got[v][2] == 0);
        CHECK(!is_border || memcmp(got[v], sample.at[v], sizeof got[v]) == 0);
        CHECK(normals[v][0] == 0 && normals[v][1] == 0 && normals[v][2] == 1);
        CHECK_NEAR((double)got[v][0], (double)sample.at[v][0], 1e-4);
    }
}

TEST(planes_stay)
{
    on_every_device(of_a_plane);
}

TEST(the_same_bytes_for_any_number_of_threads)
{
    make_sphere(&sample, 22);
    random_state = 5;
    for (uint64_t v = 0; v < sample.vertices; v++)
        sample.at[v][v % 3] += 0.05f * noise();
    const call c = {.desc = {.iterations = 3}};
    for (uint32_t threads = 1; threads < 6; threads++) {
        tml_context *tml = open_cpu(threads);
        CHECK_OK(tml, smooth(tml, &sample, &c, threads == 1 ? got : again, normals));
        CHECK(threads == 1 || memcmp(got, again, sample.vertices * sizeof *got) == 0);
        tml_close(tml);
    }
}

/* A vertex of a thousand triangles, alone among its neighbours, goes to their middle. */
static void of_a_hub(tml_context *tml)
{
    enum { SPOKES = 1000 };
    sample = (mesh){.vertices = SPOKES + 1, .triangles = SPOKES};
    sample.at[0][2] = 5;
    for (uint32_t i = 0; i < SPOKES; i++) {
        sample.at[i + 1][0] = cosf((float)i * 6.2831853f / SPOKES);
        sample.at[i + 1][1] = sinf((float)i * 6.2831853f / SPOKES);
        sample.corners[i][1] = i + 1;
        sample.corners[i][2] = (i + 1) % SPOKES + 1;
    }
    const call c = {.desc = {.iterations = 1, .lambda = 1, .method = TML_SMOOTH_LAPLACIAN}};
    CHECK_OK(tml, smooth(tml, &sample, &c, got, NULL));
    for (int k = 0; k < 3; k++)
        CHECK_NEAR((double)got[0][k], 0, 1e-4);
    CHECK(memcmp(got[1], sample.at[1], SPOKES * sizeof *got) == 0);
}

TEST(hub)
{
    on_every_device(of_a_hub);
}

static void refuse(tml_context *tml, const mesh *m, const call *c, const char *why)
{
    CHECK_EQ_I64(smooth(tml, m, c, got, NULL), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), why) != NULL);
}

static void of_nonsense(tml_context *tml)
{
    static mesh bad;
    call c = {.desc = {.iterations = 2}};
    /* Vertices of no triangle may be anything, and stay. */
    make_sphere(&sample, 3);
    uint64_t lone = sample.vertices++;
    memcpy(sample.at[lone], (const float[]){NAN, INFINITY, 1e38f}, sizeof sample.at[lone]);
    CHECK_OK(tml, smooth(tml, &sample, &c, got, normals));
    CHECK(memcmp(got[lone], sample.at[lone], sizeof got[lone]) == 0);
    CHECK(normals[lone][0] == 0 && normals[lone][1] == 0 && normals[lone][2] == 0);
    bad = sample;
    bad.corners[5][1] = (uint32_t)lone;
    refuse(tml, &bad, &c, "triangle 5 ");
    bad.corners[5][1] = (uint32_t)bad.vertices;
    refuse(tml, &bad, &c, "triangle 5 ");
    bad.corners[5][1] = UINT32_MAX;
    refuse(tml, &bad, &c, "triangle 5 ");
    bad = sample;
    bad.at[bad.corners[7][0]][1] = 2e30f;
    refuse(tml, &bad, &c, "within 2^100");
    /* Nothing, and nothing but vertices. */
    bad = (mesh){.vertices = 0};
    CHECK_OK(tml, smooth(tml, &bad, &c, got, normals));
    bad.triangles = 1;
    refuse(tml, &bad, &c, "no vertices");
    make_sphere(&bad, 2);
    bad.triangles = 0;
    CHECK_OK(tml, smooth(tml, &bad, &c, got, normals));
    CHECK(memcmp(got, bad.at, bad.vertices * sizeof *got) == 0);
    CHECK(normals[0][0] == 0 && normals[1][1] == 0 && normals[2][2] == 0);
    /* Triangles of one vertex, or two. */
    bad.triangles = 2;
    bad.corners[0][0] = bad.corners[0][1] = bad.corners[0][2] = 0;
    bad.corners[1][0] = bad.corners[1][1] = 1;
    bad.corners[1][2] = 2;
    CHECK_OK(tml, smooth(tml, &bad, &c, got, normals));
    CHECK(memcmp(got[0], bad.at[0], sizeof got[0]) == 0 && isfinite(got[1][0]));
    CHECK(normals[0][0] == 0 && normals[1][1] == 0);
    /* Numbers. */
    const struct {
        double lambda, mu;
        const char *why;
    } numbers[] = {{-0.1, 0, "desc.lambda"}, {1.1, 0, "desc.lambda"}, {NAN, 0, "desc.lambda"},
                   {0.5, -0.4, "desc.mu"},   {0.5, 0.1, "desc.mu"},   {0.5, NAN, "desc.mu"},
                   {0.9, 0, "waves"},        {0.6, -9, "waves"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        c.desc.lambda = numbers[i].lambda;
        c.desc.mu = numbers[i].mu;
        refuse(tml, &sample, &c, numbers[i].why);
    }
    c.desc = (tml_mesh_smooth_desc){.iterations = 10001};
    refuse(tml, &sample, &c, "desc.iterations");
    c.desc = (tml_mesh_smooth_desc){.method = (tml_smooth_method)2};
    refuse(tml, &sample, &c, "desc.method");
    c.desc = (tml_mesh_smooth_desc){.iterations = 1};
    CHECK_EQ_I64(smooth(tml, &sample, &c, NULL, NULL), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.out, desc.normals") != NULL);
    /* Normals alone; outputs that are one, and too short ones. */
    CHECK_OK(tml, smooth(tml, &sample, &c, NULL, normals));
    tml_mesh_smooth_desc desc = {
        .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), sample.vertices, sample.at),
                 .indices = buffer_of(tml, TML_VEC(TML_U32, 3), sample.triangles, sample.corners)}};
    desc.out = desc.normals = buffer_of(tml, TML_VEC(TML_F32, 3), sample.vertices, NULL);
    CHECK_EQ_I64(tml_mesh_smooth(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc.normals = desc.mesh.positions;
    CHECK_EQ_I64(tml_mesh_smooth(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc.normals = (tml_buffer){0, 0};
    desc.out = buffer_of(tml, TML_VEC(TML_F32, 3), sample.vertices - 1, NULL);
    CHECK_EQ_I64(tml_mesh_smooth(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc.mesh.indices = desc.mesh.positions;
    CHECK_EQ_I64(tml_mesh_smooth(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
}

TEST(nonsense_is_refused)
{
    on_every_device(of_nonsense);
}

static bool cancel(void *user, const char *stage, double fraction)
{
    (void)stage;
    *(double *)user = fraction;
    return fraction < 0.5;
}

TEST(progress_cancels)
{
    tml_context *tml = NULL;
    double fraction = 0;
    make_sphere(&sample, 4);
    const call c = {.desc = {.iterations = 100}};
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .progress = cancel,
                                             .progress_user = &fraction},
                            &tml));
    CHECK_EQ_I64(smooth(tml, &sample, &c, got, NULL), TML_ERROR_CANCELLED);
    CHECK_NEAR(fraction, 0.5, 0.02); /* a round of two steps ends in between */
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
