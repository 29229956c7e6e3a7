/* Distances of meshes, by both methods on every engine: against every pair of triangles tried, and
 * each other's bytes. */
#include <trommel/trommel.h>

#include "collide/collide_internal.h"
#include "collide/triangle_distance.h"
#include "test.h"

#include "contexts.h"
#include "rotation.h"
#ifdef TML_VULKAN
#    include "vulkan_host.h"
#endif

/* ---- meshes and poses ------------------------------------------------------------------------ */

/* Triangles, three corners each. */
typedef struct mesh {
    float *at; /* 9 each */
    uint32_t count;
} mesh;

static uint64_t random_state;
static float random_in(double low, double high)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (float)(low + (high - low) * (double)(random_state >> 33) * 0x1p-31);
}

static mesh mesh_of(uint32_t count)
{
    return (mesh){calloc((size_t)9 * count + 1, sizeof(float)), count};
}

/* Triangles of that size in a cube of side 1; on a grid of 1 / grid unless that is 0. */
static mesh soup(uint32_t count, float size, float grid)
{
    mesh m = mesh_of(count);
    for (uint32_t t = 0; t < count; t++) {
        float middle[3] = {random_in(0, 1), random_in(0, 1), random_in(0, 1)};
        for (uint32_t i = 0; i < 9; i++) {
            float at = middle[i % 3] + random_in(-(double)size, (double)size);
            m.at[9 * t + i] = grid > 0 ? floorf(at * grid) / grid : at;
        }
    }
    return m;
}

/* A square of n x n cells at height z, of side 1; its corners as high as waves says. */
static mesh sheet(uint32_t n, float z, float waves)
{
    mesh m = mesh_of(2 * n * n);
    for (uint32_t i = 0; i < m.count; i++)
        for (uint32_t c = 0; c < 3; c++) {
            uint32_t corner = i % 2 ? (c == 0 ? 0 : c == 1 ? 3 : 2) : (c == 0 ? 0 : c == 1 ? 1 : 3);
            float x = (float)(i / 2 % n + (corner & 1)) / (float)n;
            float y = (float)(i / 2 / n + (corner >> 1)) / (float)n;
            float *to = m.at + 9 * i + 3 * c;
            to[0] = x, to[1] = y, to[2] = z + waves * sinf(19 * x) * cosf(17 * y);
        }
    return m;
}

/* A ball of about 2 n^2 triangles, a little uneven. */
static mesh ball(uint32_t n, float radius, float x)
{
    mesh m = sheet(n, 0, 0);
    for (uint32_t i = 0; i < 3 * m.count; i++) {
        float *p = m.at + 3 * i;
        double u = 6.283185307179586 * (double)p[0], v = 3.141592653589793 * (double)p[1];
        double r = (double)radius * (1 + 0.05 * sin(5 * u) * sin(4 * v));
        p[0] = x + (float)(r * sin(v) * cos(u));
        p[1] = (float)(r * sin(v) * sin(u));
        p[2] = (float)(r * cos(v));
    }
    return m;
}

static mesh scaled(mesh m, float scale, float x)
{
    for (uint32_t i = 0; i < 9 * m.count; i++)
        m.at[i] = m.at[i] * scale + (i % 3 == 0 ? x : 0);
    return m;
}

/* An affine map: a rotation, or any; moved by up to shift. */
static void random_pose(bool is_rotation, double shift, float out[12])
{
    double q[4], m[12];
    for (int i = 0; i < 4; i++)
        q[i] = (double)random_in(-1, 1);
    rotation_of(q, m);
    for (int i = 0; i < 12; i++)
        out[i] = i % 4 == 3    ? random_in(-shift, shift)
                 : is_rotation ? (float)m[i]
                               : random_in(-1.5, 1.5);
}

static tml_tree *tree_of(tml_context *tml, const mesh *m)
{
    tml_tree *tree = NULL;
    tml_buffer vertices = buffer_of(tml, TML_VEC(TML_F32, 3), (uint64_t)3 * m->count, m->at);
    CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices, .skip_broken = true},
                                  &tree));
    tml_buffer_destroy(tml, vertices);
    return tree;
}

/* ---- the reference --------------------------------------------------------------------------- */

static void corners_of(const mesh *m, uint32_t triangle, const float *pose, float out[9])
{
    const float *at = m->at + 9 * triangle;
    for (int k = 0; k < 9; k++) {
        const float *row = pose ? pose + 4 * (k % 3) : NULL, *p = at + k - k % 3;
        volatile float moved = at[k], xy, xyz, term;
        if (row) { /* each operation rounded to float */
            xy = row[0] * p[0];
            term = row[1] * p[1];
            xyz = xy + term;
            term = row[2] * p[2];
            xyz = xyz + term;
            moved = xyz + row[3];
        }
        out[k] = moved;
    }
}

/* Every pair tried: the nearest one, and of several that of the least numbers. */
static tml_collide_distance_result nearest_of_all(const mesh *a, const mesh *b, const float *pose)
{
    tml_collide_distance_result best = {.distance = INFINITY, .a = UINT32_MAX, .b = UINT32_MAX};
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            float p[9], q[9];
            collide_nearest nearest;
            corners_of(a, i, NULL, p);
            corners_of(b, j, pose, q);
            if (collide_triangle_distance(p, q, INFINITY, &nearest) &&
                nearest.distance < best.distance)
                best = (tml_collide_distance_result){.distance = nearest.distance, .a = i, .b = j};
        }
    return best;
}

/* ---- checks ---------------------------------------------------------------------------------- */

typedef struct setting {
    tml_context *tml;
    tml_engine_kind engine;
    uint64_t poses, met;
    uint64_t enqueued, untold; /* poses in a frame, and those apart that floats did not tell */
} setting;

static bool is_equal(const tml_collide_distance_result *x, const tml_collide_distance_result *y)
{
    return x->distance == y->distance && x->a == y->a && x->b == y->b &&
           memcmp(x->point_a, y->point_a, sizeof x->point_a) == 0 &&
           memcmp(x->point_b, y->point_b, sizeof x->point_b) == 0;
}

/* What a call in a frame writes. */
typedef struct outputs {
    tml_buffer distances, points_a, points_b, triangles, needed;
} outputs;

static outputs outputs_of(tml_context *tml, uint32_t count)
{
    const tml_type vec3_type = TML_VEC(TML_F32, 3);
    return (outputs){.distances = buffer_of(tml, TML_F64, count, NULL),
                     .points_a = buffer_of(tml, vec3_type, count, NULL),
                     .points_b = buffer_of(tml, vec3_type, count, NULL),
                     .triangles = buffer_of(tml, TML_VEC(TML_U32, 2), count, NULL),
                     .needed = buffer_of(tml, TML_U32, 1, NULL)};
}

static void outputs_free(tml_context *tml, outputs o)
{
    tml_buffer_destroy(tml, o.distances);
    tml_buffer_destroy(tml, o.points_a);
    tml_buffer_destroy(tml, o.points_b);
    tml_buffer_destroy(tml, o.triangles);
    tml_buffer_destroy(tml, o.needed);
}

static tml_collide_distance_desc frame_of(tml_tree *a, tml_tree *b, tml_buffer poses, outputs o)
{
    return (tml_collide_distance_desc){.a = a,
                                       .b = b,
                                       .pose_buffer = poses,
                                       .distances = o.distances,
                                       .points_a = o.points_a,
                                       .points_b = o.points_b,
                                       .triangles = o.triangles,
                                       .needed = o.needed};
}

/* The outputs, beside what the waiting call has found. Counts what is not told though it is
 * apart. */
static uint64_t check_outputs(tml_context *tml, outputs o, const tml_collide_distance_result *found,
                              uint32_t count)
{
    double *distances = malloc(count * sizeof *distances);
    float *points[2] = {malloc((size_t)12 * count), malloc((size_t)12 * count)};
    uint32_t *triangles = malloc((size_t)8 * count);
    uint64_t untold = 0;
    CHECK_OK(tml, tml_buffer_read(tml, o.distances, distances));
    CHECK_OK(tml, tml_buffer_read(tml, o.points_a, points[0]));
    CHECK_OK(tml, tml_buffer_read(tml, o.points_b, points[1]));
    CHECK_OK(tml, tml_buffer_read(tml, o.triangles, triangles));
    for (uint32_t p = 0; p < count; p++) {
        const tml_collide_distance_result here = {
            .distance = distances[p],
            .point_a = {points[0][3 * p], points[0][3 * p + 1], points[0][3 * p + 2]},
            .point_b = {points[1][3 * p], points[1][3 * p + 1], points[1][3 * p + 2]},
            .a = triangles[2 * p],
            .b = triangles[2 * p + 1]};
        bool is_apart = here.distance > 0 && here.distance < INFINITY;
        untold += isnan(here.distance) && found[p].distance > 0;
        if (!isnan(here.distance) &&
            (here.distance != found[p].distance || (is_apart && !is_equal(&here, &found[p])))) {
            test_fail(__FILE__, __LINE__,
                      "pose %u of %u: %.17g of %u, %u in a frame; %.17g of %u, %u", p, count,
                      here.distance, here.a, here.b, found[p].distance, found[p].a, found[p].b);
            break;
        }
        if (!is_apart)
            CHECK(here.a == UINT32_MAX && here.b == UINT32_MAX && isnan(here.point_a[0]) &&
                  isnan(here.point_b[2]));
    }
    free(distances);
    free(points[0]);
    free(points[1]);
    free(triangles);
    return untold;
}

/* The same in a frame: with room enough, of a capacity that is told. */
static void check_frame(setting *s, tml_tree *a, tml_tree *b, const float *poses, uint32_t count,
                        const tml_collide_distance_result *deep)
{
    tml_context *tml = s->tml;
    outputs o = outputs_of(tml, count);
    tml_buffer given = {0, 0};
    uint32_t needed = 1;
    if (poses)
        given = buffer_of(tml, TML_F32, (uint64_t)12 * count, poses);
    tml_collide_distance_desc desc = frame_of(a, b, given, o);
    tml_tree_info info[2];
    tml_tree_describe(a, &info[0]);
    tml_tree_describe(b, &info[1]);
    if (s->engine == TML_ENGINE_GL) {
        CHECK_STATUS(tml_collide_distance_enqueue(tml, &desc), TML_ERROR_UNSUPPORTED);
    } else if (s->engine == TML_ENGINE_VULKAN && (info[0].depth == 0 || info[1].depth == 0)) {
        CHECK_STATUS(tml_collide_distance_enqueue(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    } else {
        for (int turn = 0; turn < 3 && needed > desc.capacity; turn++) {
            desc.capacity = turn ? needed : 0;
            CHECK_OK(tml, tml_collide_distance_enqueue(tml, &desc));
            CHECK_OK(tml, tml_buffer_read(tml, o.needed, &needed));
            if (turn == 0 && needed <= 65536)
                break;
        }
        s->enqueued += count;
        s->untold += check_outputs(tml, o, deep, count);
    }
    tml_buffer_destroy(tml, given);
    outputs_free(tml, o);
}

/* is_small: every pair is tried, too. */
static void check(setting *s, const mesh *a, const mesh *b, const float *poses, uint32_t pose_count,
                  bool is_small)
{
    tml_context *tml = s->tml;
    tml_tree *tree_a = tree_of(tml, a), *tree_b = tree_of(tml, b);
    uint32_t count = poses ? pose_count : 1;
    tml_collide_distance_result *deep = malloc(count * sizeof *deep),
                                *broad = malloc(count * sizeof *broad);
    tml_collide_distance_desc desc = {.a = tree_a,
                                      .b = tree_b,
                                      .poses = poses,
                                      .pose_count = pose_count,
                                      .method = TML_COLLIDE_METHOD_DEPTH_FIRST};
    if (!CHECK_OK(tml, tml_collide_distance(tml, &desc, deep)))
        count = 0;
    for (uint32_t p = 0; p < count; p++) {
        s->poses++;
        s->met += deep[p].distance == 0;
        if (is_small) {
            tml_collide_distance_result all =
                nearest_of_all(a, b, poses ? poses + 12 * (size_t)p : NULL);
            CHECK(deep[p].distance == all.distance);
            CHECK(all.distance == 0 || (deep[p].a == all.a && deep[p].b == all.b));
        }
        if (deep[p].a == UINT32_MAX)
            continue;
        double gap = 0, size = 0;
        for (int k = 0; k < 3; k++) {
            double d = (double)deep[p].point_a[k] - (double)deep[p].point_b[k];
            gap += d * d;
            size = fmax(size,
                        fmax(fabs((double)deep[p].point_a[k]), fabs((double)deep[p].point_b[k])));
        }
        CHECK_NEAR(sqrt(gap), deep[p].distance, 0x1p-20 * size + 0x1p-149);
    }
    bool is_tiny = false; /* devices may take coordinates for 0 */
    for (uint32_t p = 0; p < count; p++)
        is_tiny |= deep[p].distance > 0 && deep[p].distance < 0x1p-100;
    if (count && !is_tiny)
        check_frame(s, tree_a, tree_b, poses, count, deep);
    desc.method = TML_COLLIDE_METHOD_BREADTH_FIRST;
    static const size_t limits[] = {0, 1, 100000};
    for (int i = 0; i < 3 && count; i++) {
        desc.memory_limit = limits[i];
        memset(broad, 0x55, count * sizeof *broad);
        if (!CHECK_OK(tml, tml_collide_distance(tml, &desc, broad)))
            break;
        for (uint32_t p = 0; p < count; p++)
            if (!is_equal(&deep[p], &broad[p])) {
                test_fail(__FILE__, __LINE__,
                          "pose %u of %u, %zu bytes: %.17g of %u, %u; depth first %.17g of %u, %u",
                          p, count, limits[i], broad[p].distance, broad[p].a, broad[p].b,
                          deep[p].distance, deep[p].a, deep[p].b);
                break;
            }
    }
    free(deep);
    free(broad);
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
}

static float *poses_of(uint32_t count, bool is_rotation, double shift)
{
    float *poses = malloc((size_t)12 * count * sizeof *poses);
    for (uint32_t p = 0; p < count; p++)
        random_pose(is_rotation, shift, poses + 12 * (size_t)p);
    return poses;
}

static void check_freed(setting *s, mesh a, mesh b, float *poses, uint32_t pose_count,
                        bool is_small)
{
    check(s, &a, &b, poses, pose_count, is_small);
    free(a.at);
    free(b.at);
    free(poses);
}

/* From no triangle and one to those of several levels. */
static void sizes(setting *s)
{
    static const uint32_t counts[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 130};
    const float size = 0.1f;
    for (uint32_t i = 0; i < TML_ARRAY_SIZE(counts); i++) {
        uint32_t other = counts[(3 * i + 1) % TML_ARRAY_SIZE(counts)];
        check_freed(s, soup(counts[i], size, 0), soup(other, size, 0), NULL, 0, true);
        check_freed(s, soup(counts[i], size, 8), scaled(soup(other, size, 8), 1, 1.25f), NULL, 0,
                    true);
        check_freed(s, soup(counts[i], size, 0), soup(other, size, 0), poses_of(5, true, 2), 5,
                    true);
    }
}

/* Pairs that are equally far apart, touch, nearly coincide, have no area. */
static void close_calls(setting *s)
{
    check_freed(s, sheet(9, 0, 0), sheet(7, 0.125f, 0), NULL, 0, true);
    check_freed(s, sheet(9, 0, 0), scaled(sheet(9, 0, 0), 1, 1), NULL, 0, true);
    check_freed(s, sheet(9, 0, 0), scaled(sheet(9, 0, 0), 1, 1 + 0x1p-23f), NULL, 0, true);
    check_freed(s, sheet(8, 0, 0.1f), sheet(8, 0x1p-20f, 0.1f), NULL, 0, true);
    check_freed(s, sheet(8, 0, 0.1f), sheet(8, 0, 0.1f), NULL, 0, true);
    mesh points = soup(60, 0, 0), needles = soup(60, 0.3f, 0);
    for (uint32_t i = 0; i < needles.count; i++)
        memcpy(needles.at + 9 * i + 6, needles.at + 9 * i, 3 * sizeof(float));
    check(s, &points, &needles, NULL, 0, true);
    check(s, &needles, &points, NULL, 0, true);
    check_freed(s, points, needles, poses_of(4, false, 3), 4, true);
    /* One large triangle beside many small ones. */
    mesh large = mesh_of(1);
    static const float at[9] = {-1e6f, -1e6f, -0.001f, 1e6f, -1e6f, -0.001f, 0, 1e6f, -0.001f};
    memcpy(large.at, at, sizeof at);
    check_freed(s, large, sheet(8, 0, 0), NULL, 0, true);
}

static void ranges(setting *s)
{
    static const float scales[] = {0x1p-140f, 0x1p-90f, 0x1p-40f, 0x1p40f, 0x1p80f, 0x1p98f};
    for (uint32_t i = 0; i < TML_ARRAY_SIZE(scales); i++) {
        check_freed(s, scaled(ball(8, 0.3f, 0), scales[i], 0),
                    scaled(ball(8, 0.3f, 0.75f), scales[i], 0), NULL, 0, true);
        check_freed(s, scaled(soup(50, 0.2f, 0), scales[i], 0),
                    scaled(soup(50, 0.2f, 0), scales[i], 0), NULL, 0, true);
    }
    check_freed(s, scaled(ball(8, 1, 0), 1, 1e7f), scaled(ball(8, 1, 0), 1, 1e7f + 5), NULL, 0,
                true);
    /* Left out: triangles with corners that are none. */
    mesh broken = soup(40, 0.1f, 0);
    for (uint32_t i = 0; i < 40; i++)
        if (i % 3 == 0)
            broken.at[9 * i + i % 9] = i % 2 ? NAN : INFINITY;
    mesh other = ball(8, 0.5f, 3);
    tml_tree *tree = tree_of(s->tml, &broken), *tree_b = tree_of(s->tml, &other);
    tml_collide_distance_result found[2];
    for (int method = TML_COLLIDE_METHOD_DEPTH_FIRST; method <= TML_COLLIDE_METHOD_BREADTH_FIRST;
         method++) {
        const tml_collide_distance_desc desc = {
            .a = tree, .b = tree_b, .method = (tml_collide_method)method};
        CHECK_OK(s->tml, tml_collide_distance(s->tml, &desc,
                                              &found[method - TML_COLLIDE_METHOD_DEPTH_FIRST]));
    }
    CHECK(is_equal(&found[0], &found[1]) && found[0].a % 3 != 0);
    tml_tree_destroy(s->tml, tree);
    tml_tree_destroy(s->tml, tree_b);
    free(broken.at);
    free(other.at);
}

/* Larger meshes, and many poses, some of which scale, shear, or flatten. */
static void larger_meshes_and_poses(setting *s)
{
    check_freed(s, ball(40, 1, 0), ball(50, 1, 2.3f), NULL, 0, false);
    const uint32_t few = s->engine == TML_ENGINE_CPU ? 30 : 7; /* pixels of drivers take long */
    const uint32_t many = s->engine == TML_ENGINE_CPU ? 300 : 70;
    check_freed(s, ball(40, 1, 0), sheet(60, 0, 0.05f), poses_of(few, true, 3), few, false);
    check_freed(s, soup(700, 0.02f, 0), ball(12, 0.4f, 0), poses_of(many, true, 2), many, false);
    check_freed(s, ball(10, 1, 0), ball(12, 0.4f, 0), poses_of(40, false, 3), 40, true);
    float *flat = poses_of(3, true, 3);
    memset(flat, 0, 12 * sizeof *flat);     /* all of b in the origin */
    memset(flat + 16, 0, 4 * sizeof *flat); /* in a plane */
    check_freed(s, ball(10, 1, 0), ball(12, 0.4f, 0), flat, 3, true);
    CHECK(s->met > 2 && s->poses > 3 * s->met);
    CHECK(s->engine == TML_ENGINE_GL || s->enqueued > 100);
    CHECK(10 * s->untold <= s->enqueued);
}

/* Limits a little below, at and above a distance; and a tolerance. */
static void limits(setting *s)
{
    mesh a = ball(20, 1, 0), b = ball(16, 0.5f, 0);
    float *poses = poses_of(20, true, 4);
    tml_tree *tree_a = tree_of(s->tml, &a), *tree_b = tree_of(s->tml, &b);
    tml_collide_distance_result all[20], some[20];
    tml_collide_distance_desc desc = {.a = tree_a, .b = tree_b, .poses = poses, .pose_count = 20};
    CHECK_OK(s->tml, tml_collide_distance(s->tml, &desc, all));
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < 60; i++) {
        double at = all[i % 20].distance;
        desc.method = i % 2 ? TML_COLLIDE_METHOD_BREADTH_FIRST : TML_COLLIDE_METHOD_DEPTH_FIRST;
        desc.limit = i < 20 ? at : i < 40 ? at * (1 - 0x1p-40) : at * (1 + 0x1p-40);
        if (at == 0 || !CHECK_OK(s->tml, tml_collide_distance(s->tml, &desc, some)))
            continue;
        for (uint32_t p = 0; p < 20; p++) {
            bool is_beyond = all[p].distance > desc.limit;
            beyond += is_beyond;
            if (is_beyond)
                CHECK(some[p].distance == INFINITY && some[p].a == UINT32_MAX &&
                      some[p].b == UINT32_MAX);
            else
                CHECK(is_equal(&some[p], &all[p]));
        }
    }
    CHECK(beyond > 50);
    desc.limit = 0;
    for (int method = TML_COLLIDE_METHOD_DEPTH_FIRST; method <= TML_COLLIDE_METHOD_BREADTH_FIRST;
         method++) {
        desc.tolerance = 0.1;
        desc.method = (tml_collide_method)method;
        CHECK_OK(s->tml, tml_collide_distance(s->tml, &desc, some));
        for (uint32_t p = 0; p < 20; p++)
            CHECK(some[p].distance >= all[p].distance && some[p].distance <= 1.1 * all[p].distance);
    }
    static const tml_collide_distance_desc bad[] = {{.limit = -1},
                                                    {.limit = NAN},
                                                    {.tolerance = -0.1},
                                                    {.tolerance = INFINITY},
                                                    {.method = (tml_collide_method)9},
                                                    {.pose_count = 2}};
    for (uint32_t i = 0; i < TML_ARRAY_SIZE(bad); i++) {
        desc = bad[i];
        desc.a = tree_a, desc.b = tree_b;
        CHECK(tml_collide_distance(s->tml, &desc, some) == TML_ERROR_INVALID_ARGUMENT);
    }
    desc = (tml_collide_distance_desc){.a = tree_a, .b = tree_b, .poses = poses, .pose_count = 1};
    poses[7] = NAN;
    CHECK(tml_collide_distance(s->tml, &desc, some) == TML_ERROR_INVALID_ARGUMENT);
    tml_tree_destroy(s->tml, tree_a);
    tml_tree_destroy(s->tml, tree_b);
    free(a.at);
    free(b.at);
    free(poses);
}

/* Lengths on the device, limits, poses that are no use, fields that are wrong. */
static void frames(setting *s)
{
    enum { COUNT = 12 };
    tml_context *tml = s->tml;
    mesh a = ball(20, 1, 0), b = ball(16, 0.5f, 0);
    float *poses = poses_of(COUNT, true, 4);
    tml_tree *tree_a = tree_of(tml, &a), *tree_b = tree_of(tml, &b);
    tml_collide_distance_result all[COUNT];
    double found[COUNT], marks[COUNT];
    const uint64_t lengths[2] = {7, 5};
    outputs o = outputs_of(tml, COUNT);
    tml_collide_distance_desc waiting = {
        .a = tree_a, .b = tree_b, .poses = poses, .pose_count = COUNT};
    CHECK_OK(tml, tml_collide_distance(tml, &waiting, all));
    poses[12 * 3 + 5] = NAN;
    poses[12 * 4 + 3] = INFINITY;
    poses[12 * 5 + 3] = 0x1p101f;
    tml_buffer given = buffer_of(tml, TML_F32, 12 * COUNT, poses);
    tml_buffer length = buffer_of(tml, TML_U64, 2, lengths);
    tml_collide_distance_desc desc = frame_of(tree_a, tree_b, given, o);
    for (int i = 0; i < COUNT; i++)
        marks[i] = -7;
    for (int i = 0; i < 4 && s->engine != TML_ENGINE_GL; i++) {
        uint32_t end = i == 0 ? COUNT : i == 3 ? 4 : (uint32_t)lengths[i - 1];
        desc.length = (tml_length){.device = length, .device_index = (uint64_t)(i == 2)};
        if (i == 0)
            desc.length = (tml_length){.count = 0};
        if (i == 3)
            desc.length.count = 4;
        desc.limit = i == 1 ? all[1].distance : 0;
        CHECK_OK(tml, tml_buffer_write(tml, o.distances, 0, COUNT, marks));
        CHECK_OK(tml, tml_collide_distance_enqueue(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, o.distances, found));
        for (uint32_t p = 0; p < COUNT; p++) {
            bool is_beyond = desc.limit > 0 && all[p].distance > desc.limit;
            if (p >= end)
                CHECK(found[p] == -7);
            else if (p >= 3 && p <= 5)
                CHECK(isnan(found[p]));
            else
                CHECK(found[p] == (is_beyond ? INFINITY : all[p].distance));
        }
    }
    desc.length = (tml_length){.count = 0};
    const tml_collide_distance_desc good = desc;
    for (int i = 0; i < 11; i++) {
        static const char *const fields[] = {"desc.a",           "desc.b",       "desc.limit",
                                             "desc.pose_buffer", "desc.length",  "desc.distances",
                                             "desc.triangles",   "desc.poses",   "desc.method",
                                             "desc.tolerance",   "desc.points_b"};
        desc = good;
        if (i == 0)
            desc.a = NULL;
        if (i == 1)
            desc.b = NULL;
        if (i == 2)
            desc.limit = -1;
        if (i == 3)
            desc.pose_buffer = o.distances;
        if (i == 4)
            desc.pose_buffer = (tml_buffer){0, 0}, desc.length.count = 2;
        if (i == 5)
            desc.distances = o.needed;
        if (i == 6)
            desc.triangles = o.distances;
        if (i == 7)
            desc.poses = poses, desc.pose_count = 1;
        if (i == 8)
            desc.method = TML_COLLIDE_METHOD_DEPTH_FIRST;
        if (i == 9)
            desc.tolerance = -1;
        if (i == 10)
            desc.points_b = desc.points_a;
        CHECK_STATUS(tml_collide_distance_enqueue(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), fields[i]) != NULL);
    }
    for (int i = 0; i < 4; i++) { /* fields of the call that is enqueued */
        static const char *const fields[] = {"desc.pose_buffer", "desc.needed", "desc.length",
                                             "desc.capacity"};
        desc = waiting;
        if (i == 0)
            desc.pose_buffer = given;
        if (i == 1)
            desc.needed = o.needed;
        if (i == 2)
            desc.length = tml_length_of(1);
        if (i == 3)
            desc.capacity = 1;
        CHECK_STATUS(tml_collide_distance(tml, &desc, all), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), fields[i]) != NULL);
    }
    tml_buffer_destroy(tml, given);
    tml_buffer_destroy(tml, length);
    outputs_free(tml, o);
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
    free(a.at);
    free(b.at);
    free(poses);
}

/* Trees that the device built have to be brought here for what is settled. */
static void trees_built_there(setting *s)
{
    mesh a = ball(20, 1, 0), b = ball(16, 0.5f, 1.8f);
    tml_collide_distance_result found[4];
    for (int i = 0; i < 4; i++) {
        tml_tree *tree_a = tree_of(s->tml, &a), *tree_b = tree_of(s->tml, &b);
        tml_buffer vertices = buffer_of(s->tml, TML_VEC(TML_F32, 3), (uint64_t)3 * b.count, b.at);
        if (i & 1)
            CHECK_OK(s->tml, tml_tree_update_enqueue(s->tml, tree_b, vertices, TML_TREE_REBUILD));
        const tml_collide_distance_desc desc = {.a = tree_a,
                                                .b = tree_b,
                                                .method = i & 2 ? TML_COLLIDE_METHOD_BREADTH_FIRST
                                                                : TML_COLLIDE_METHOD_DEPTH_FIRST};
        CHECK_OK(s->tml, tml_collide_distance(s->tml, &desc, &found[i]));
        CHECK(i == 0 || is_equal(&found[0], &found[i]));
        if (i & 1) {
            b.at[4] = NAN;
            tml_buffer_destroy(s->tml, vertices);
            vertices = buffer_of(s->tml, TML_VEC(TML_F32, 3), (uint64_t)3 * b.count, b.at);
            CHECK_OK(s->tml, tml_tree_update_enqueue(s->tml, tree_b, vertices, TML_TREE_REFIT));
            CHECK(tml_collide_distance(s->tml, &desc, &found[3]) == TML_ERROR_INVALID_ARGUMENT);
            b.at[4] = b.at[1];
        }
        tml_buffer_destroy(s->tml, vertices);
        tml_tree_destroy(s->tml, tree_a);
        tml_tree_destroy(s->tml, tree_b);
    }
    free(a.at);
    free(b.at);
}

/* Of each engine one, kept to the end: pipelines take long to make. */
static tml_context *kept[TML_ENGINE_GL + 1];

static void run_check(void (*check_all)(setting *s), tml_engine_kind engine)
{
    setting s = {.engine = engine};
    const tml_open_desc desc = {.engine = engine, .threads = engine == TML_ENGINE_CPU ? 3 : 0};
    if (!kept[engine] && tml_open(&desc, &kept[engine]) != TML_OK)
        SKIP("no such device here");
    s.tml = kept[engine];
    random_state = 1;
    check_all(&s);
}

#define CHECK_ENGINES(check_all)                                                                   \
    TEST(check_all##_on_the_cpu)                                                                   \
    {                                                                                              \
        run_check(check_all, TML_ENGINE_CPU);                                                      \
    }                                                                                              \
    TEST(check_all##_on_vulkan)                                                                    \
    {                                                                                              \
        run_check(check_all, TML_ENGINE_VULKAN);                                                   \
    }                                                                                              \
    TEST(check_all##_on_opengl)                                                                    \
    {                                                                                              \
        run_check(check_all, TML_ENGINE_GL);                                                       \
    }
CHECK_ENGINES(sizes)
CHECK_ENGINES(close_calls)
CHECK_ENGINES(ranges)
CHECK_ENGINES(larger_meshes_and_poses)
CHECK_ENGINES(limits)
CHECK_ENGINES(frames)
CHECK_ENGINES(trees_built_there)

TEST(poses_on_one_thread)
{
    setting s = {.engine = TML_ENGINE_CPU};
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = s.engine, .threads = 1}, &s.tml));
    larger_meshes_and_poses(&s);
    tml_close(s.tml);
}

#ifdef TML_VULKAN
static uint64_t allocations;

/* Recorded once, and submitted with other poses and with vertices that the device fits the tree
 * to. */
TEST(recorded)
{
    tml_context *tml = host_lend((tml_allocator){counted_alloc, counted_free, &allocations});
    if (!tml)
        SKIP("no Vulkan device");
    for (uint32_t count = 1; count <= 9; count += 8) {
        random_state = 5;
        mesh a = ball(20, 1, 0), b = ball(16, 0.5f, 0);
        float *poses = poses_of(count, true, 4);
        tml_tree *tree_a = tree_of(tml, &a), *tree_b = tree_of(tml, &b);
        tml_buffer vertices = buffer_of(tml, TML_VEC(TML_F32, 3), (uint64_t)3 * a.count, a.at);
        tml_buffer given = buffer_of(tml, TML_F32, (uint64_t)12 * count, poses);
        outputs o = outputs_of(tml, count);
        tml_collide_distance_result *found = malloc(count * sizeof *found);
        const tml_collide_distance_desc desc = frame_of(tree_a, tree_b, given, o);
        VkCommandBuffer commands = host_commands();
        host_begin(commands);
        CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        CHECK_STATUS(tml_collide_distance_enqueue(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "before tml_vulkan_record") != NULL);
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree_a, vertices, TML_TREE_REBUILD));
        CHECK_OK(tml, tml_collide_distance_enqueue(tml, &desc));
        CHECK_OK(tml, tml_sync(tml));
        uint64_t before = allocations;
        CHECK_OK(tml, tml_collide_distance_enqueue(tml, &desc));
        host_begin(commands);
        CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree_a, vertices, TML_TREE_REBUILD));
        CHECK_OK(tml, tml_collide_distance_enqueue(tml, &desc));
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
        CHECK_EQ_U64(allocations, before);
        for (int turn = 0; turn < 3; turn++) {
            for (uint32_t p = 0; p < count; p++)
                random_pose(true, 4, poses + 12 * (size_t)p);
            for (uint32_t i = 0; i < 9 * a.count; i++)
                a.at[i] *= random_in(0.9, 1.1);
            CHECK_OK(tml, tml_buffer_write(tml, given, 0, (uint64_t)12 * count, poses));
            CHECK_OK(tml, tml_buffer_write(tml, vertices, 0, (uint64_t)3 * a.count, a.at));
            CHECK_OK(tml, tml_sync(tml));
            host_submit(commands);
            CHECK_OK(tml, tml_collide_distance(tml,
                                               &(tml_collide_distance_desc){
                                                   .a = tree_a,
                                                   .b = tree_b,
                                                   .poses = poses,
                                                   .pose_count = count,
                                                   .method = TML_COLLIDE_METHOD_DEPTH_FIRST},
                                               found));
            CHECK_EQ_U64(check_outputs(tml, o, found, count), 0);
        }
        VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
        CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
        outputs_free(tml, o);
        tml_buffer_destroy(tml, given);
        tml_buffer_destroy(tml, vertices);
        tml_tree_destroy(tml, tree_a);
        tml_tree_destroy(tml, tree_b);
        free(found);
        free(poses);
        free(a.at);
        free(b.at);
    }
    host_take_back(tml);
}
#endif

int main(int argc, char **argv)
{
    int status = test_main(argc, argv);
    for (int engine = 0; engine <= TML_ENGINE_GL; engine++)
        tml_close(kept[engine]);
    return status;
}
