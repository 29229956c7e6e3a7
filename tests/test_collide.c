/* Collide: the pairs against every pair tried, closed forms, invariances, parts, files, errors. */
#include <trommel/trommel.h>

#include "collide/collide_internal.h"
#include "core/host_sort.h"
#include "core/simd.h"
#include "exact/exact.h"
#include "test.h"

#include "memory_watch.h"
#include "rotation.h"

#include "kernels/kernel.h"
/* The kernels' vocabulary begins here. */
#include "kernels/collide.k.h"
/* Follows it. */
#include "kernels/collide_slab_host.h"

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef struct mesh {
    float *vertices; /* 3 each */
    uint32_t *indices;
    uint32_t vertex_count, triangle_count;
} mesh;

static mesh mesh_make(uint32_t vertex_count, uint32_t triangle_count)
{
    return (mesh){calloc(3 * (size_t)vertex_count + 1, sizeof(float)),
                  calloc(3 * (size_t)triangle_count + 1, sizeof(uint32_t)), vertex_count,
                  triangle_count};
}

static void mesh_free(mesh *m)
{
    free(m->vertices);
    free(m->indices);
}

static uint32_t random_state = 1;
static uint32_t random_u32(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8 ^ random_state << 11;
}
static float random_float(float low, float high)
{
    return low + (high - low) * (float)(random_u32() >> 8) * 0x1p-24f;
}

/* Triangles of that size in a cube of side 1, no vertex shared; on a grid of 1 / grid if that is
 * not 0, so that many touch, coincide or have no area. */
static mesh soup(uint32_t count, float size, float grid)
{
    mesh m = mesh_make(3 * count, count);
    for (uint32_t t = 0; t < count; t++) {
        float middle[3] = {random_float(0, 1), random_float(0, 1), random_float(0, 1)};
        for (uint32_t i = 0; i < 9; i++) {
            float at = middle[i % 3] + random_float(-size, size);
            m.vertices[9 * t + i] = grid > 0 ? floorf(at * grid) / grid : at;
        }
        for (uint32_t c = 0; c < 3; c++)
            m.indices[3 * t + c] = 3 * t + c;
    }
    return m;
}

/* A torus of u by v quads, around the axis (0: x, 1: y, 2: z), its middle at (x, 0, 0). */
static mesh torus(uint32_t u, uint32_t v, int axis, float x)
{
    mesh m = mesh_make(u * v, 2 * u * v);
    for (uint32_t i = 0; i < u; i++)
        for (uint32_t j = 0; j < v; j++) {
            double p = 6.283185307179586 * i / u, q = 6.283185307179586 * j / v;
            double ring = 1 + 0.4 * cos(q);
            float at[3] = {(float)(ring * cos(p)), (float)(ring * sin(p)), (float)(0.4 * sin(q))};
            float *out = m.vertices + 3 * (i * v + j);
            for (int k = 0; k < 3; k++)
                out[(k + axis + 1) % 3] = at[k];
            out[0] += x;
            uint32_t a = i * v + j, b = (i + 1) % u * v + j, d = i * v + (j + 1) % v;
            uint32_t c = (i + 1) % u * v + (j + 1) % v;
            uint32_t quad[6] = {a, b, c, a, c, d};
            memcpy(m.indices + 6 * (i * v + j), quad, sizeof quad);
        }
    return m;
}

/* A box with corners low and high: 12 triangles. */
static mesh box(float low, float high)
{
    static const uint32_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                       2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    mesh m = mesh_make(8, 12);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 0; k < 3; k++)
            m.vertices[3 * i + k] = i >> k & 1 ? high : low;
    memcpy(m.indices, faces, sizeof faces);
    return m;
}

static mesh tetrahedron(const float at[12])
{
    static const uint32_t faces[12] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
    mesh m = mesh_make(4, 4);
    memcpy(m.vertices, at, 12 * sizeof *at);
    memcpy(m.indices, faces, sizeof faces);
    return m;
}

static void move(mesh *m, float x, float y, float z)
{
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        m->vertices[3 * i] += x;
        m->vertices[3 * i + 1] += y;
        m->vertices[3 * i + 2] += z;
    }
}

static void scale(mesh *m, float by)
{
    for (uint32_t i = 0; i < 3 * m->vertex_count; i++)
        m->vertices[i] *= by;
}

/* A turn about a random axis, and a shift. */
static void random_pose(float shift, float out[12])
{
    double q[4], m[12];
    for (int i = 0; i < 4; i++)
        q[i] = (double)random_float(-1, 1);
    rotation_of(q, m);
    for (int i = 0; i < 12; i++)
        out[i] = i % 4 == 3 ? random_float(-shift, shift) : (float)m[i];
}

/* ---- contexts and trees ---------------------------------------------------------------------- */

static tml_context *open_engine(tml_engine_kind engine, uint32_t threads)
{
    tml_context *tml = NULL;
    tml_status status = tml_open(&(tml_open_desc){.engine = engine, .threads = threads}, &tml);
    return status == TML_OK ? tml : NULL;
}

static tml_tree *tree_of(tml_context *tml, const mesh *m)
{
    tml_buffer vertices, indices;
    tml_tree *tree = NULL;
    CHECK_OK(tml, tml_buffer_create(tml,
                                    &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                       .count = m->vertex_count,
                                                       .data = m->vertices},
                                    &vertices));
    CHECK_OK(tml, tml_buffer_create(tml,
                                    &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3),
                                                       .count = m->triangle_count,
                                                       .data = m->indices},
                                    &indices));
    CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices, .indices = indices},
                                  &tree));
    tml_buffer_destroy(tml, vertices);
    tml_buffer_destroy(tml, indices);
    return tree;
}

/* ---- every pair ------------------------------------------------------------------------------ */

typedef struct pair_list {
    tml_collide_pair *pairs;
    uint64_t count, capacity;
    /* Of the first calls that found them; unsure: depth first, breadth first. */
    uint32_t calls;
    uint64_t node_pairs, tested, unsure[2], step_pairs[TML_COLLIDE_MAX_STEPS];
} pair_list;

static void pair_add(pair_list *list, uint32_t a, uint32_t b, uint32_t pose, tml_collide_class kind)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->pairs = realloc(list->pairs, list->capacity * sizeof *list->pairs);
    }
    list->pairs[list->count++] = (tml_collide_pair){a, b, pose, (uint32_t)kind};
}

static void corners_of(const mesh *m, uint32_t triangle, const float *pose, float out[9])
{
    for (uint32_t i = 0; i < 9; i++) {
        const float *p = m->vertices + 3 * m->indices[3 * triangle + i / 3];
        if (!pose) {
            out[i] = p[i % 3];
            continue;
        }
        const float *row = pose + 4 * (i % 3);
        volatile float x = row[0] * p[0], y = row[1] * p[1], z = row[2] * p[2];
        volatile float xy = x + y;
        volatile float xyz = xy + z;
        out[i] = xyz + row[3];
    }
}

/* The answer by trying every pair; b NULL: of one mesh. */
static pair_list every_pair(const mesh *a, const mesh *b, const float *poses, uint32_t pose_count)
{
    pair_list list = {.pairs = NULL};
    const mesh *other = b ? b : a;
    float *moved = malloc(other->triangle_count * 9 * sizeof(float) + 1);
    for (uint32_t pose = 0; pose < (poses ? pose_count : 1); pose++) {
        for (uint32_t j = 0; j < other->triangle_count; j++)
            corners_of(other, j, poses ? poses + 12 * pose : NULL, moved + 9 * j);
        for (uint32_t i = 0; i < a->triangle_count; i++) {
            float p[9];
            corners_of(a, i, NULL, p);
            for (uint32_t j = b ? 0 : i + 1; j < other->triangle_count; j++) {
                tml_collide_class kind = b ? collide_exact(p, moved + 9 * j, NULL)
                                           : collide_exact_neighbours(p, moved + 9 * j, NULL);
                if (kind != TML_COLLIDE_CLASS_NONE)
                    pair_add(&list, i, j, pose, kind);
            }
        }
    }
    free(moved);
    return list;
}

static bool same_pairs(const tml_collide_result *result, const pair_list *list)
{
    if (!CHECK_EQ_U64(result->count, list->count))
        return false;
    for (uint64_t i = 0; i < list->count; i++)
        if (memcmp(&result->pairs[i], &list->pairs[i], sizeof *list->pairs) != 0)
            return test_fail(
                __FILE__, __LINE__, "pair %" PRIu64 ": %u %u pose %u %s, expected %u %u pose %u %s",
                i, result->pairs[i].a, result->pairs[i].b, result->pairs[i].pose,
                tml_collide_class_name(result->pairs[i].kind), list->pairs[i].a, list->pairs[i].b,
                list->pairs[i].pose, tml_collide_class_name(list->pairs[i].kind));
    return true;
}

/* Both descents on the engine against the list. */
static void check_against(tml_context *tml, const mesh *a, const mesh *b, const float *poses,
                          uint32_t pose_count, pair_list *list)
{
    tml_tree *tree_a = tree_of(tml, a), *tree_b = b ? tree_of(tml, b) : NULL;
    /* The last one with so little room that it must go in parts. */
    static const tml_collide_method methods[] = {TML_COLLIDE_METHOD_DEPTH_FIRST,
                                                 TML_COLLIDE_METHOD_BREADTH_FIRST,
                                                 TML_COLLIDE_METHOD_BREADTH_FIRST};
    for (size_t i = 0; i < sizeof methods / sizeof *methods && tree_a; i++) {
        tml_collide_desc desc = {.a = tree_a,
                                 .b = tree_b,
                                 .poses = poses,
                                 .pose_count = pose_count,
                                 .method = methods[i],
                                 .memory_limit = i == 2};
        tml_collide_result result;
        if (!CHECK_OK(tml, tml_collide(tml, &desc, &result)))
            continue;
        same_pairs(&result, list);
        CHECK(i < 2 || list->count < 65 || result.parts > 1);
        /* As much work for every method, number of threads, room and engine; what comes to the
         * exact test depends on the method. */
        uint64_t *unsure = &list->unsure[i > 0];
        if (list->calls++ == 0) {
            list->node_pairs = result.node_pairs;
            list->tested = result.tested;
            memcpy(list->step_pairs, result.step_pairs, sizeof result.step_pairs);
        }
        if (list->calls <= 2)
            *unsure = result.unsure;
        CHECK_EQ_U64(result.node_pairs, list->node_pairs);
        uint64_t steps = 0;
        for (uint32_t step = 0; step < TML_COLLIDE_MAX_STEPS; step++) {
            steps += step < result.step_count ? result.step_pairs[step] : 0;
            CHECK_EQ_U64(result.step_pairs[step], list->step_pairs[step]);
        }
        CHECK_EQ_U64(steps, result.node_pairs);
        CHECK(result.step_pairs[0] <= desc.pose_count + 1);
        CHECK_EQ_U64(result.tested, list->tested);
        CHECK_EQ_U64(result.unsure, *unsure);
        CHECK(list->count == 0 || result.node_pairs > 0);
        tml_collide_free(tml, &result);

        desc.want = TML_COLLIDE_WANT_COUNT;
        if (CHECK_OK(tml, tml_collide(tml, &desc, &result)))
            CHECK_EQ_U64(result.count, list->count);
        CHECK_EQ_U64(result.node_pairs, list->node_pairs);
        CHECK_EQ_U64(result.tested, list->tested);
        CHECK(result.pairs == NULL);
        for (uint32_t p = 0, at = 0; p <= result.pose_count; p++) {
            while (at < list->count && list->pairs[at].pose < p)
                at++;
            CHECK_EQ_U64(result.first[p], at);
        }
        tml_collide_free(tml, &result);

        desc.want = TML_COLLIDE_WANT_FIRST;
        if (CHECK_OK(tml, tml_collide(tml, &desc, &result)))
            for (uint32_t p = 0, at = 0; p < result.pose_count; p++) {
                uint32_t first = at;
                while (at < list->count && list->pairs[at].pose == p)
                    at++;
                uint64_t found = result.first[p + 1] - result.first[p];
                CHECK_EQ_U64(found, at > first);
                bool is_one = found == 0;
                for (uint32_t j = first; j < at && !is_one; j++)
                    is_one = memcmp(&list->pairs[j], &result.pairs[result.first[p]],
                                    sizeof *list->pairs) == 0;
                CHECK(is_one);
            }
        tml_collide_free(tml, &result);
    }
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
}

/* On any number of threads, at every level of SIMD. */
static void check_meshes(const mesh *a, const mesh *b, const float *poses, uint32_t pose_count)
{
    pair_list list = every_pair(a, b, poses, pose_count);
    static const uint32_t threads[] = {1, 2, 8};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        tml_context *tml = open_engine(TML_ENGINE_CPU, threads[i]);
        tml_simd_force((tml_simd)i);
        check_against(tml, a, b, poses, pose_count, &list);
        tml_close(tml);
    }
    tml_simd_force(TML_SIMD_LEVELS);
    free(list.pairs);
}

TEST(random_triangles_of_all_sizes)
{
    static const uint32_t counts[] = {1, 7, 8, 9, 64, 65, 300};
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        mesh a = soup(counts[i], 0.2f, 0), b = soup(301 - counts[i], 0.1f, 0);
        float poses[3 * 12];
        for (uint32_t p = 0; p < 3; p++)
            random_pose(0.5f, poses + 12 * p);
        check_meshes(&a, &b, NULL, 0);
        check_meshes(&a, &b, poses, 3);
        check_meshes(&a, NULL, NULL, 0);
        mesh_free(&a);
        mesh_free(&b);
    }
}

TEST(triangles_on_a_grid)
{
    for (uint32_t grid = 2; grid <= 16; grid *= 2) {
        mesh a = soup(200, 0.3f, (float)grid), b = soup(150, 0.4f, (float)grid);
        float poses[24] = {1, 0,  0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5f,
                           0, -1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0};
        check_meshes(&a, &b, NULL, 0);
        check_meshes(&a, &b, poses, 2);
        check_meshes(&a, NULL, NULL, 0);
        mesh_free(&a);
        mesh_free(&b);
    }
}

/* ---- closed forms ---------------------------------------------------------------------------- */

/* Pairs of a and b, with none beside the classes given. */
static void check_counts(const mesh *a, const mesh *b, uint64_t crossing, uint64_t touching,
                         uint64_t coplanar, uint64_t degenerate)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 1);
    tml_tree *tree_a = tree_of(tml, a), *tree_b = b ? tree_of(tml, b) : NULL;
    tml_collide_result result;
    if (CHECK_OK(tml, tml_collide(tml, &(tml_collide_desc){.a = tree_a, .b = tree_b}, &result))) {
        CHECK_EQ_U64(result.class_counts[TML_COLLIDE_CLASS_CROSSING], crossing);
        CHECK_EQ_U64(result.class_counts[TML_COLLIDE_CLASS_TOUCHING], touching);
        CHECK_EQ_U64(result.class_counts[TML_COLLIDE_CLASS_COPLANAR], coplanar);
        CHECK_EQ_U64(result.class_counts[TML_COLLIDE_CLASS_DEGENERATE], degenerate);
        tml_collide_free(tml, &result);
    }
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
    tml_close(tml);
}

TEST(a_box_in_a_box_meets_nothing)
{
    mesh outer = box(-1, 1), inner = box(-0.5f, 0.5f);
    check_counts(&outer, &inner, 0, 0, 0, 0);
    check_counts(&outer, NULL, 0, 0, 0, 0);
    mesh_free(&outer);
    mesh_free(&inner);
}

/* Two tetrahedra that have a face, an edge or a corner in common and nothing else. */
TEST(tetrahedra_that_touch)
{
    static const float at[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const float by_face[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1};
    static const float by_edge[12] = {0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, -1};
    static const float by_corner[12] = {0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, -1};
    mesh t = tetrahedron(at), f = tetrahedron(by_face), e = tetrahedron(by_edge),
         c = tetrahedron(by_corner);
    /* The faces that coincide; all others of the 16 share an edge or a corner of that face. */
    check_counts(&t, &f, 0, 15, 1, 0);
    /* All but a face with one end of the edge alone and one with the other, of either mesh. */
    check_counts(&t, &e, 0, 14, 0, 0);
    /* Three faces of each meet in the corner. */
    check_counts(&t, &c, 0, 9, 0, 0);
    mesh_free(&t);
    mesh_free(&f);
    mesh_free(&e);
    mesh_free(&c);
}

TEST(linked_tori_meet_where_they_must)
{
    /* Tubes of 0.4 around rings of 1: linked without touching when the rings' middles are 1
     * apart. */
    mesh a = torus(48, 24, 2, 0), b = torus(48, 24, 1, 1);
    check_counts(&a, &b, 0, 0, 0, 0);
    check_counts(&a, NULL, 0, 0, 0, 0);
    move(&b, 0.5f, 0.013f, 0.007f);
    check_meshes(&a, &b, NULL, 0);
    mesh_free(&a);
    mesh_free(&b);
}

TEST(a_mesh_upon_itself)
{
    mesh a = torus(24, 16, 2, 0);
    check_meshes(&a, &a, NULL, 0);
    mesh_free(&a);
}

/* Every tooth of one comb crosses every tooth of the other: as many pairs as there can be. */
TEST(a_comb_against_a_comb)
{
    enum { TEETH = 150 };
    mesh a = mesh_make(3 * TEETH, TEETH), b = mesh_make(3 * TEETH, TEETH);
    for (uint32_t t = 0; t < TEETH; t++) {
        float at = (float)t / TEETH;
        float tooth_a[9] = {at, -1, -1, at, 3, -1, at, -1, 3}, tooth_b[9];
        for (uint32_t i = 0; i < 9; i++)
            tooth_b[i] = tooth_a[i / 3 * 3 + (i % 3 + 1) % 3];
        memcpy(a.vertices + 9 * t, tooth_a, sizeof tooth_a);
        memcpy(b.vertices + 9 * t, tooth_b, sizeof tooth_b);
        for (uint32_t c = 0; c < 3; c++)
            a.indices[3 * t + c] = b.indices[3 * t + c] = 3 * t + c;
    }
    check_counts(&a, &b, TEETH * TEETH, 0, 0, 0);
    check_meshes(&a, &b, NULL, 0);
    mesh_free(&a);
    mesh_free(&b);
}

TEST(all_triangles_in_one_place)
{
    enum { COUNT = 100 };
    mesh a = mesh_make(3, COUNT), points = mesh_make(1, COUNT);
    float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    memcpy(a.vertices, corners, sizeof corners);
    for (uint32_t t = 0; t < COUNT; t++)
        for (uint32_t c = 0; c < 3; c++)
            a.indices[3 * t + c] = c;
    check_counts(&a, NULL, 0, 0, COUNT * (COUNT - 1) / 2, 0);
    check_counts(&points, NULL, 0, 0, 0, 0); /* nothing but the corner that they share */
    check_counts(&points, &points, 0, 0, 0, COUNT * COUNT);
    check_counts(&a, &points, 0, 0, 0, COUNT * COUNT);
    mesh_free(&a);
    mesh_free(&points);
}

/* Asks for FIRST: at most one pair a pose, where all has one; the same pairs as first has. */
static void check_first(tml_context *tml, tml_collide_desc desc, const tml_collide_result *all,
                        tml_collide_result *first)
{
    tml_collide_result result;
    desc.want = TML_COLLIDE_WANT_FIRST;
    if (!CHECK_OK(tml, tml_collide(tml, &desc, &result)))
        return;
    for (uint32_t p = 0; p < desc.pose_count; p++)
        CHECK_EQ_U64(result.first[p + 1] - result.first[p], all->first[p + 1] > all->first[p]);
    if (first->pairs)
        CHECK(result.count == first->count &&
              memcmp(result.pairs, first->pairs, (size_t)result.count * sizeof *result.pairs) == 0);
    else
        *first = result;
    if (first->pairs != result.pairs)
        tml_collide_free(tml, &result);
}

/* Hundreds of thousands of pairs, for which the descent on the host runs out of blocks several
 * times; poses that are fewer and more than the tasks of a round. The streams' answer is the
 * reference. */
TEST(more_pairs_than_the_first_blocks_hold)
{
    enum { POSES = 150 };
    static const uint32_t threads[] = {2, 1, 3, 16};
    random_state = 1; /* the same whatever ran before */
    mesh m = soup(240, 0.7f, 0);
    float poses[12 * POSES];
    for (uint32_t p = 0; p < POSES; p++)
        random_pose(p % 50 == 7 ? 9.0f : 0.1f, poses + 12 * p);
    tml_collide_result all = {.pairs = NULL}, first = {.pairs = NULL}, result;
    tml_context *keeper = open_engine(TML_ENGINE_CPU, 1); /* of all and first */
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        tml_context *tml = i ? open_engine(TML_ENGINE_CPU, threads[i]) : keeper;
        tml_tree *a = tree_of(tml, &m), *b = tree_of(tml, &m);
        tml_collide_desc desc = {.a = a, .b = b, .poses = poses, .pose_count = POSES};
        desc.method = TML_COLLIDE_METHOD_BREADTH_FIRST;
        if (i == 0)
            CHECK_OK(tml, tml_collide(tml, &desc, &all));
        desc.method = TML_COLLIDE_METHOD_DEPTH_FIRST;
        CHECK(all.count > 200000);
        if (CHECK_OK(tml, tml_collide(tml, &desc, &result))) {
            CHECK(result.count == all.count && result.node_pairs == all.node_pairs);
            CHECK(memcmp(result.first, all.first, sizeof(uint64_t) * (POSES + 1)) == 0);
            CHECK(memcmp(result.pairs, all.pairs, (size_t)all.count * sizeof *all.pairs) == 0);
            tml_collide_free(tml, &result);
        }
        check_first(tml, desc, &all, &first);
        for (uint32_t count = 1; count < POSES; count = 3 * count + 1) { /* 1, 4, 13, 40, 121 */
            desc.pose_count = count;
            if (CHECK_OK(tml, tml_collide(tml, &desc, &result))) {
                CHECK_EQ_U64(result.count, all.first[count]);
                CHECK(memcmp(result.pairs, all.pairs,
                             (size_t)result.count * sizeof *result.pairs) == 0);
                tml_collide_free(tml, &result);
            }
        }
        tml_tree_destroy(tml, a);
        tml_tree_destroy(tml, b);
        if (i)
            tml_close(tml);
    }
    tml_collide_free(keeper, &all);
    tml_collide_free(keeper, &first);
    tml_close(keeper);
    mesh_free(&m);
}

/* ---- invariances ----------------------------------------------------------------------------- */

static pair_list collide_list(const mesh *a, const mesh *b)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 2);
    tml_tree *tree_a = tree_of(tml, a), *tree_b = tree_of(tml, b);
    tml_collide_result result;
    pair_list list = {.pairs = NULL};
    if (CHECK_OK(tml, tml_collide(tml, &(tml_collide_desc){.a = tree_a, .b = tree_b}, &result))) {
        for (uint64_t i = 0; i < result.count; i++)
            pair_add(&list, result.pairs[i].a, result.pairs[i].b, 0, result.pairs[i].kind);
        tml_collide_free(tml, &result);
    }
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
    tml_close(tml);
    return list;
}

static int compare_pairs(const void *x, const void *y)
{
    const tml_collide_pair *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

TEST(scaling_swapping_and_permuting_change_nothing)
{
    mesh a = soup(400, 0.1f, 32), b = soup(300, 0.15f, 32);
    pair_list expected = collide_list(&a, &b);
    CHECK(expected.count > 100);

    static const int powers[] = {-60, -1, 20, 60};
    for (uint32_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        scale(&a, ldexpf(1.0f, powers[i]));
        scale(&b, ldexpf(1.0f, powers[i]));
        pair_list scaled = collide_list(&a, &b);
        CHECK(scaled.count == expected.count &&
              memcmp(scaled.pairs, expected.pairs, scaled.count * sizeof *scaled.pairs) == 0);
        free(scaled.pairs);
        scale(&a, ldexpf(1.0f, -powers[i]));
        scale(&b, ldexpf(1.0f, -powers[i]));
    }

    pair_list swapped = collide_list(&b, &a);
    for (uint64_t i = 0; i < swapped.count; i++) {
        uint32_t kept = swapped.pairs[i].a;
        swapped.pairs[i].a = swapped.pairs[i].b;
        swapped.pairs[i].b = kept;
    }
    qsort(swapped.pairs, swapped.count, sizeof *swapped.pairs, compare_pairs);
    CHECK(swapped.count == expected.count &&
          memcmp(swapped.pairs, expected.pairs, swapped.count * sizeof *swapped.pairs) == 0);
    free(swapped.pairs);

    /* Triangle t of a becomes t * 7 modulo 400, with its corners turned. */
    mesh turned = mesh_make(a.vertex_count, a.triangle_count);
    memcpy(turned.vertices, a.vertices, 3 * sizeof(float) * a.vertex_count);
    for (uint32_t t = 0; t < 400; t++)
        for (uint32_t c = 0; c < 3; c++)
            turned.indices[3 * (t * 7 % 400) + c] = a.indices[3 * t + (c + 1) % 3];
    pair_list permuted = collide_list(&turned, &b);
    for (uint64_t i = 0; i < permuted.count; i++)
        permuted.pairs[i].a = permuted.pairs[i].a * 343 % 400; /* 7 * 343 = 1 modulo 400 */
    qsort(permuted.pairs, permuted.count, sizeof *permuted.pairs, compare_pairs);
    CHECK(permuted.count == expected.count &&
          memcmp(permuted.pairs, expected.pairs, permuted.count * sizeof *permuted.pairs) == 0);
    free(permuted.pairs);
    free(expected.pairs);
    mesh_free(&turned);
    mesh_free(&a);
    mesh_free(&b);
}

/* Leaves that are nearly flat, and triangles beside them: as near as floats can be, in the slab's
 * own surface, or through it. Whoever is said to lie beside a slab must do so in double, whose
 * products of floats are exact and whose sums are off by 2^-51. */
static void check_slabs(float magnitude, float gap, uint32_t *beside_count)
{
    float leaf[COLLIDE_TRIANGLE_WORDS];
    double tilt[3] = {(double)random_float(-1, 1), (double)random_float(-1, 1), 1};
    collide_slab slab;
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++)
        for (uint32_t corner = 0; corner < 3; corner++) {
            float x = random_float(1, 2), y = random_float(1, 2);
            float at[3] = {x, y, (float)-(tilt[0] * (double)x + tilt[1] * (double)y)};
            for (uint32_t k = 0; k < 3; k++)
                leaf[COLLIDE_WIDTH * (3 * corner + k) + i] = magnitude * at[k];
        }
    slab = collide_slab_around(collide_slab_normal(tilt), leaf);
    const double normal[3] = {(double)slab.normal.x, (double)slab.normal.y, (double)slab.normal.z};
    for (uint32_t i = 0; i < COLLIDE_WIDTH; i++) {
        vec3 p[3];
        double least = INFINITY, most = -INFINITY;
        for (uint32_t corner = 0; corner < 3; corner++) {
            float at[3];
            double along = 0;
            for (uint32_t k = 0; k < 3; k++) {
                at[k] = leaf[COLLIDE_WIDTH * (3 * corner + k) + i];
                along += normal[k] * (double)at[k];
            }
            CHECK(along >= (double)slab.low && along <= (double)slab.high);
            at[2] += magnitude * gap * random_float(-1, 1);
            along =
                normal[0] * (double)at[0] + normal[1] * (double)at[1] + normal[2] * (double)at[2];
            least = fmin(least, along);
            most = fmax(most, along);
            p[corner] = VEC3(at[0], at[1], at[2]);
        }
        if (collide_slab_gap(slab, p[0], p[1], p[2]) > 0) {
            CHECK(least > (double)slab.high || most < (double)slab.low);
            ++*beside_count;
        }
    }
}

TEST(slabs_part_only_what_is_apart)
{
    static const float magnitudes[] = {0x1p-90f, 1e-9f, 1, 3e7f, 0x1p98f};
    static const float gaps[] = {0, 1e-7f, 1e-6f, 1e-5f, 1};
    for (uint32_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++)
        for (uint32_t k = 0; k < sizeof gaps / sizeof *gaps; k++) {
            uint32_t beside_count = 0;
            for (int n = 0; n < 500; n++)
                check_slabs(magnitudes[i], gaps[k], &beside_count);
            CHECK(gaps[k] == 0 ? beside_count == 0 : gaps[k] < 1e-5f || beside_count > 0);
        }
    const double none[][3] = {{0, 0, 0}, {NAN, 1, 1}, {INFINITY, 0, 0}, {1e-310, 0, 0}};
    for (uint32_t i = 0; i < sizeof none / sizeof *none; i++) {
        vec3 normal = collide_slab_normal(none[i]);
        CHECK(normal.x == 0 && normal.y == 0 && normal.z == 0);
    }
}

/* A slope of n by n quads. */
static mesh slope(uint32_t n, float rise)
{
    mesh m = mesh_make((n + 1) * (n + 1), 2 * n * n);
    for (uint32_t i = 0; i < m.vertex_count; i++) {
        float x = (float)(i % (n + 1)) / (float)n, y = (float)(i / (n + 1)) / (float)n;
        const float at[3] = {x, y, rise * x + 0.5f * y};
        memcpy(m.vertices + 3 * i, at, sizeof at);
    }
    for (uint32_t i = 0; i < n * n; i++) {
        uint32_t at = i / n * (n + 1) + i % n;
        const uint32_t quad[6] = {at, at + 1, at + n + 2, at, at + n + 2, at + n + 1};
        memcpy(m.indices + 6 * i, quad, sizeof quad);
    }
    return m;
}

/* A surface close along another one: slabs tell them apart where boxes along the axes do not, so
 * that no triangle is tested. */
TEST(a_slope_close_above_a_slope)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 1);
    mesh lower = slope(20, 0.7f), upper = slope(20, 0.7f), across = slope(20, 0.6f);
    move(&upper, 0, 0, 1e-3f);
    move(&across, 0, 0, 0.02f);
    float pose[12] = {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 1e-3f}; /* lower turned about x, and back */
    mesh turned = slope(20, 0.7f);
    for (uint32_t i = 0; i < turned.vertex_count; i++) {
        float *p = turned.vertices + 3 * i, y = p[1];
        p[1] = p[2];
        p[2] = -y;
    }
    const struct {
        const mesh *b;
        const float *pose;
    } cases[] = {{&upper, NULL}, {&turned, pose}, {&across, NULL}};
    tml_tree *a = tree_of(tml, &lower);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tml_tree *b = tree_of(tml, cases[i].b);
        pair_list list = every_pair(&lower, cases[i].b, cases[i].pose, 1);
        tml_collide_result result;
        tml_collide_desc desc = {
            .a = a, .b = b, .poses = cases[i].pose, .pose_count = cases[i].pose != NULL};
        if (CHECK_OK(tml, tml_collide(tml, &desc, &result))) {
            same_pairs(&result, &list);
            CHECK_EQ_U64(result.count > 0, i == 2);
            CHECK_EQ_U64(result.tested > 0, i == 2);
            CHECK(result.node_pairs > 100);
            tml_collide_free(tml, &result);
        }
        free(list.pairs);
        tml_tree_destroy(tml, b);
    }
    tml_tree_destroy(tml, a);
    mesh_free(&lower);
    mesh_free(&upper);
    mesh_free(&across);
    mesh_free(&turned);
    tml_close(tml);
}

/* Collides; where sizes are not to count, in the order of steps by levels alone. */
static void collide_by(tml_context *tml, tml_tree *trees[2], const float *pose, bool has_sizes,
                       tml_collide_result *out)
{
    double sizes[2][COLLIDE_LEVELS_MAX + 1];
    for (int i = 0; i < 2; i++) {
        memcpy(sizes[i], trees[i]->level_size, sizeof sizes[i]);
        for (int k = 0; k <= COLLIDE_LEVELS_MAX && !has_sizes; k++)
            trees[i]->level_size[k] = 0;
    }
    CHECK_OK(tml, tml_collide(tml,
                              &(tml_collide_desc){
                                  .a = trees[0], .b = trees[1], .poses = pose, .pose_count = 1},
                              out));
    for (int i = 0; i < 2; i++)
        memcpy(trees[i]->level_size, sizes[i], sizeof sizes[i]);
}

/* A fine mesh, which a pose makes small, on a coarse one: the coarse one is split first, with fewer
 * than half of the pairs of boxes. Two alike are split in turn, as ever. */
TEST(the_coarser_side_is_split)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 1);
    mesh coarse = torus(60, 40, 2, 0), fine = torus(240, 160, 2, 0);
    const float small[12] = {0.1f, 0, 0, 1.4f, 0, 0.1f, 0, 0, 0, 0, 0.1f, 0};
    const float large[12] = {10, 0, 0, -14, 0, 10, 0, 0, 0, 0, 10, 0}; /* seen from the fine one */
    const float moved[12] = {1, 0, 0, 0.01f, 0, 1, 0, 0, 0, 0, 1, 0};
    const struct {
        const mesh *a, *b;
        const float *pose;
    } cases[] = {{&coarse, &fine, small}, {&fine, &coarse, large}, {&fine, &fine, moved}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tml_tree *trees[2] = {tree_of(tml, cases[i].a), tree_of(tml, cases[i].b)};
        tml_collide_result by_size = {.count = 0}, by_level = {.count = 0};
        collide_by(tml, trees, cases[i].pose, true, &by_size);
        collide_by(tml, trees, cases[i].pose, false, &by_level);
        CHECK(by_size.count > 100 && by_size.count == by_level.count);
        CHECK(memcmp(by_size.pairs, by_level.pairs, by_size.count * sizeof *by_size.pairs) == 0);
        if (i < 2) /* by levels a fine a comes off better, since b goes first */
            CHECK((i ? 1.2 : 2) * (double)by_size.node_pairs < (double)by_level.node_pairs);
        else
            CHECK_EQ_U64(by_size.node_pairs, by_level.node_pairs);
        tml_collide_free(tml, &by_size);
        tml_collide_free(tml, &by_level);
        tml_tree_destroy(tml, trees[0]);
        tml_tree_destroy(tml, trees[1]);
    }
    mesh_free(&coarse);
    mesh_free(&fine);
    tml_close(tml);
}

/* ---- what the call offers -------------------------------------------------------------------- */

TEST(capacity_classes_and_segments)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 2);
    mesh a = soup(200, 0.2f, 8), b = soup(200, 0.2f, 8);
    tml_tree *tree_a = tree_of(tml, &a), *tree_b = tree_of(tml, &b);
    pair_list list = every_pair(&a, &b, NULL, 0);
    tml_collide_pair *room = calloc(list.count + 1, sizeof *room);
    float *ends = calloc(list.count + 1, 6 * sizeof *ends);
    tml_collide_desc desc = {.a = tree_a,
                             .b = tree_b,
                             .segments = true,
                             .pairs = room,
                             .segments_out = ends,
                             .capacity = list.count - 1};
    tml_collide_result result;
    CHECK_STATUS(tml_collide(tml, &desc, &result), TML_ERROR_CAPACITY);
    CHECK_EQ_U64(result.count, list.count);
    CHECK_EQ_U64(room[0].kind, 0);
    desc.capacity = list.count;
    if (CHECK_OK(tml, tml_collide(tml, &desc, &result))) {
        CHECK(result.pairs == room && result.segments == ends && result.owned == 0);
        same_pairs(&result, &list);
        for (uint64_t i = 0; i < list.count; i++) {
            float p[9], q[9], expected[6];
            corners_of(&a, list.pairs[i].a, NULL, p);
            corners_of(&b, list.pairs[i].b, NULL, q);
            collide_exact(p, q, expected);
            CHECK(memcmp(expected, ends + 6 * i, sizeof expected) == 0);
        }
        tml_collide_free(tml, &result);
    }
    uint64_t total = 0;
    for (uint32_t kind = 1; kind < TML_COLLIDE_CLASS_COUNT; kind++) {
        desc = (tml_collide_desc){.a = tree_a, .b = tree_b, .classes = 1u << kind};
        if (!CHECK_OK(tml, tml_collide(tml, &desc, &result)))
            continue;
        total += result.count;
        CHECK_EQ_U64(result.count, result.class_counts[kind]);
        for (uint64_t i = 0; i < result.count; i++)
            CHECK_EQ_U64(result.pairs[i].kind, kind);
        tml_collide_free(tml, &result);
    }
    CHECK_EQ_U64(total, list.count);
    free(room);
    free(ends);
    free(list.pairs);
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
    mesh_free(&a);
    mesh_free(&b);
    tml_close(tml);
}

TEST(refitted_saved_and_loaded_trees_answer_alike)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 2);
    mesh a = soup(333, 0.2f, 0), b = soup(222, 0.2f, 0);
    tml_tree *tree_a = tree_of(tml, &a), *tree_b = tree_of(tml, &b);
    for (uint32_t i = 0; i < 3 * a.vertex_count; i++)
        a.vertices[i] = random_float(0, 1);
    tml_buffer moved;
    CHECK_OK(tml, tml_buffer_create(tml,
                                    &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                       .count = a.vertex_count,
                                                       .data = a.vertices},
                                    &moved));
    CHECK_OK(tml, tml_tree_update(tml, tree_a, moved, TML_TREE_REFIT));
    tml_buffer_destroy(tml, moved);
    size_t size = 0;
    CHECK_OK(tml, tml_tree_save(tml, tree_a, NULL, &size));
    unsigned char *bytes = malloc(size);
    size_t room = size - 1;
    CHECK_STATUS(tml_tree_save(tml, tree_a, bytes, &room), TML_ERROR_CAPACITY);
    CHECK_EQ_U64(room, size);
    CHECK_OK(tml, tml_tree_save(tml, tree_a, bytes, &room));
    tml_tree *loaded = NULL;
    CHECK_OK(tml, tml_tree_load(tml, bytes, size, &loaded));
    pair_list list = every_pair(&a, &b, NULL, 0);
    tml_collide_result result;
    for (int i = 0; i < 2 && loaded; i++)
        if (CHECK_OK(tml,
                     tml_collide(tml, &(tml_collide_desc){.a = i ? loaded : tree_a, .b = tree_b},
                                 &result))) {
            same_pairs(&result, &list);
            tml_collide_free(tml, &result);
        }
    tml_tree_destroy(tml, loaded);

    /* Every byte matters, and every length but the right one is wrong. Each trial is a block of its
     * own size, so that a read past it is seen. */
    for (size_t i = 0; i < size; i += i < 64 ? 1 : 211) {
        bytes[i] ^= 0x10;
        CHECK_STATUS(tml_tree_load(tml, bytes, size, &loaded), TML_ERROR_FILE_FORMAT);
        CHECK(loaded == NULL);
        bytes[i] ^= 0x10;
        unsigned char *less = malloc(i + 1);
        memcpy(less, bytes, i);
        CHECK_STATUS(tml_tree_load(tml, less, i, &loaded), TML_ERROR_FILE_FORMAT);
        free(less);
    }
    free(bytes);
    free(list.pairs);
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
    mesh_free(&a);
    mesh_free(&b);
    tml_close(tml);
}

/* A tree's bytes, and what is said of its first broken triangle, for any number of threads. Sizes
 * around the blocks that are partitioned and the tasks that look for broken triangles. */
TEST(trees_do_not_depend_on_threads)
{
    static const uint32_t sizes[] = {1, 9, 64, 127, 128, 129, 257, 4095, 4096, 4097, 20011};
    random_state = 1; /* the same whatever ran before */
    for (uint32_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
        mesh m = soup(sizes[i / 3], 0.2f, i % 3 == 1 ? 4.0f : 0.0f);
        for (uint32_t t = 7; i % 3 == 2 && t < m.triangle_count; t += 1000)
            m.vertices[9 * t + 4] = NAN;
        char *bytes[3] = {NULL}, said[3][200] = {""};
        size_t size = 0;
        for (uint32_t k = 0; k < 3; k++) {
            tml_context *tml = open_engine(TML_ENGINE_CPU, (uint32_t[]){1, 2, 16}[k]);
            tml_tree_desc desc = {.skip_broken = true};
            tml_tree *tree, *refused;
            CHECK_OK(tml, tml_buffer_create(tml,
                                            &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                               .count = m.vertex_count,
                                                               .data = m.vertices},
                                            &desc.vertices));
            if (CHECK_OK(tml, tml_tree_create(tml, &desc, &tree))) {
                CHECK_OK(tml, tml_tree_save(tml, tree, NULL, &size));
                bytes[k] = malloc(size);
                CHECK_OK(tml, tml_tree_save(tml, tree, bytes[k], &size));
                CHECK(memcmp(bytes[0], bytes[k], size) == 0);
                tml_tree_destroy(tml, tree);
            }
            desc.skip_broken = false;
            bool is_broken = i % 3 == 2 && m.triangle_count > 7;
            CHECK_EQ_U64(tml_tree_create(tml, &desc, &refused),
                         is_broken ? TML_ERROR_INVALID_ARGUMENT : TML_OK);
            snprintf(said[k], sizeof said[k], "%s", is_broken ? tml_last_error(tml) : "");
            CHECK(strcmp(said[0], said[k]) == 0 &&
                  (!is_broken || strstr(said[k], "corner 1 of triangle 7,")));
            tml_tree_destroy(tml, refused);
            tml_buffer_destroy(tml, desc.vertices);
            tml_close(tml);
        }
        for (uint32_t k = 0; k < 3; k++)
            free(bytes[k]);
        mesh_free(&m);
    }
}

TEST(broken_meshes_are_refused_or_left_out)
{
    tml_context *tml = open_plain();
    float vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, NAN, 0, 0};
    uint32_t indices[9] = {0, 1, 2, 0, 1, 3, 0, 1, 4};
    tml_buffer v, i;
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3), .count = 4, .host = vertices},
                 &v));
    CHECK_OK(
        tml,
        tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_VEC(TML_U32, 3), .count = 3, .host = indices}, &i));
    tml_tree *tree;
    CHECK_STATUS(tml_tree_create(tml, &(tml_tree_desc){.vertices = v, .indices = i}, &tree),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(tree == NULL);
    CHECK(strstr(tml_last_error(tml), "vertex 3, corner 2 of triangle 1") != NULL);
    vertices[9] = 0;
    CHECK_STATUS(tml_tree_create(tml, &(tml_tree_desc){.vertices = v, .indices = i}, &tree),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "corner 2 of triangle 2 is vertex 4") != NULL);
    vertices[9] = INFINITY;
    tml_tree_info info;
    if (CHECK_OK(tml, tml_tree_create(
                          tml, &(tml_tree_desc){.vertices = v, .indices = i, .skip_broken = true},
                          &tree))) {
        tml_tree_describe(tree, &info);
        CHECK_EQ_U64(info.triangle_count, 3);
        CHECK_EQ_U64(info.broken_count, 2);
        float pose[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, NAN};
        tml_collide_desc desc = {.a = tree, .b = tree, .poses = pose, .pose_count = 1};
        tml_collide_result result;
        CHECK_STATUS(tml_collide(tml, &desc, &result), TML_ERROR_INVALID_ARGUMENT);
        pose[11] = 0x1p101f;
        CHECK_STATUS(tml_collide(tml, &desc, &result), TML_ERROR_INVALID_ARGUMENT);
        desc.b = NULL;
        CHECK_STATUS(tml_collide(tml, &desc, &result), TML_ERROR_INVALID_ARGUMENT);
        desc = (tml_collide_desc){.a = NULL};
        CHECK_STATUS(tml_collide(tml, &desc, &result), TML_ERROR_INVALID_ARGUMENT);
        tml_tree_destroy(tml, tree);
    }
    tml_buffer_destroy(tml, v);
    tml_buffer_destroy(tml, i);
    tml_close(tml);
}

TEST(meshes_without_triangles)
{
    mesh none = mesh_make(0, 0), some = box(0, 1);
    check_counts(&none, &some, 0, 0, 0, 0);
    check_counts(&some, &none, 0, 0, 0, 0);
    check_counts(&none, NULL, 0, 0, 0, 0);
    mesh_free(&none);
    mesh_free(&some);
}

TEST(singular_and_skewed_poses)
{
    mesh a = soup(100, 0.3f, 0), b = soup(100, 0.3f, 0);
    float poses[4 * 12] = {
        1,    0, 0, 0,     0, 1,   0, 0,     0, 0, 0,     0.5f,  /* flat */
        0,    0, 0, 0.5f,  0, 0,   0, 0.5f,  0, 0, 0,     0.25f, /* a point */
        2,    1, 0, -0.5f, 0, 0.5, 0, 0.25f, 0, 1, -1,    0.5f,  /* skewed and mirrored */
        1e9f, 0, 0, -5e8f, 0, 1,   0, 0,     0, 0, 1e-9f, 0.5f,
    };
    check_meshes(&a, &b, poses, 4);
    mesh_free(&a);
    mesh_free(&b);
}

/* Everything that the header offers, once; the first failure's status. */
static tml_status use_all(tml_context *tml, tml_buffer vertices, tml_collide_method method)
{
    tml_tree *tree = NULL, *loaded = NULL;
    tml_collide_result result = {.count = 0};
    tml_collide_distance_result distance;
    unsigned char *bytes = NULL;
    tml_status status = tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices}, &tree);
    if (status == TML_OK) {
        size_t size = 0;
        status = tml_tree_save(tml, tree, NULL, &size);
        bytes = malloc(size);
        TML_THEN(status, tml_tree_save(tml, tree, bytes, &size));
        if (status == TML_OK)
            status = tml_tree_load(tml, bytes, size, &loaded);
    }
    if (status == TML_OK)
        status = tml_collide(
            tml,
            &(tml_collide_desc){
                .a = tree, .b = loaded, .segments = true, .method = method, .memory_limit = 1},
            &result);
    tml_collide_free(tml, &result);
    if (status == TML_OK)
        status =
            tml_collide_distance(tml,
                                 &(tml_collide_distance_desc){
                                     .a = tree, .b = loaded, .method = method, .memory_limit = 1},
                                 &distance);
    free(bytes);
    tml_tree_destroy(tml, tree);
    tml_tree_destroy(tml, loaded);
    return status;
}

/* The n-th allocation fails, for every n: an error that says so, and nothing is lost. */
TEST(memory_runs_out)
{
    mesh m = soup(40, 0.5f, 0);
    for (int method = TML_COLLIDE_METHOD_DEPTH_FIRST; method <= TML_COLLIDE_METHOD_BREADTH_FIRST;
         method++) {
        memory_watch watch;
        tml_context *tml = open_watched(&watch);
        tml_buffer vertices;
        CHECK_OK(tml, tml_buffer_create(tml,
                                        &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                           .count = m.vertex_count,
                                                           .data = m.vertices},
                                        &vertices));
        CHECK_OK(tml, use_all(tml, vertices, (tml_collide_method)method));
        size_t live = watch.live; /* with the arena, which stays */
        uint64_t needed = watch.count;
        for (uint64_t n = 1; n <= needed; n++) {
            watch.fail_at = watch.count + n;
            tml_status status = use_all(tml, vertices, (tml_collide_method)method);
            CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
            CHECK(watch.live <= live);
        }
        watch.fail_at = 0;
        CHECK_OK(tml, use_all(tml, vertices, (tml_collide_method)method));
        CHECK_EQ_U64(watch.live, live);
        tml_close(tml);
        CHECK_EQ_U64(watch.live, 0);
    }
    mesh_free(&m);
}

/* ---- calls that end early -------------------------------------------------------------------- */

/* Cancels the context when so many parallel loops and reports have begun. */
typedef struct canceller {
    tml_context *tml;
    uint64_t count, cancel_at; /* 0: never */
} canceller;

static void event(canceller *c)
{
    if (++c->count == c->cancel_at)
        tml_cancel(c->tml);
}

static void cancelling_loop(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    event(user);
    for (uint32_t i = 0; i < count; i++)
        task(argument, i);
}

static bool cancelling_report(void *user, const char *stage, double fraction)
{
    (void)stage;
    (void)fraction;
    event(user);
    return true;
}

/* Two meshes in three poses, of which a room of 64 pairs holds only parts. */
typedef struct crowd {
    mesh a, b;
    float poses[3 * 12];
} crowd;

static crowd crowd_make(void)
{
    random_state = 1; /* the same whatever ran before */
    crowd c = {.a = soup(40, 0.5f, 0), .b = soup(30, 0.5f, 0)};
    for (uint32_t p = 0; p < 3; p++)
        random_pose(0.1f, c.poses + 12 * p);
    return c;
}

static void crowd_free(crowd *c)
{
    mesh_free(&c->a);
    mesh_free(&c->b);
}

/* Cancelled at every loop and report in turn: an error that says so, or the whole answer. */
TEST(cancelled_anywhere)
{
    crowd m = crowd_make();
    for (int method = TML_COLLIDE_METHOD_DEPTH_FIRST; method <= TML_COLLIDE_METHOD_BREADTH_FIRST;
         method++) {
        canceller c = {.cancel_at = 0};
        tml_open_desc open = {.engine = TML_ENGINE_CPU,
                              .parallel = {cancelling_loop, 2, &c},
                              .progress = cancelling_report,
                              .progress_user = &c};
        if (!CHECK_OK(NULL, tml_open(&open, &c.tml)))
            break;
        tml_tree *a = tree_of(c.tml, &m.a), *b = tree_of(c.tml, &m.b);
        tml_collide_desc desc = {.a = a,
                                 .b = b,
                                 .poses = m.poses,
                                 .pose_count = 3,
                                 .segments = true,
                                 .method = (tml_collide_method)method,
                                 .memory_limit = 1};
        tml_collide_result whole, result;
        c.count = 0;
        CHECK_OK(c.tml, tml_collide(c.tml, &desc, &whole));
        CHECK(method == TML_COLLIDE_METHOD_DEPTH_FIRST || whole.parts > 3);
        uint64_t events = c.count, cancelled = 0;
        for (uint64_t n = 1; n <= events; n++) {
            c.count = 0;
            c.cancel_at = n;
            tml_status status = tml_collide(c.tml, &desc, &result);
            cancelled += status == TML_ERROR_CANCELLED;
            CHECK(status == TML_OK || status == TML_ERROR_CANCELLED);
            CHECK_EQ_U64(result.count, status == TML_OK ? whole.count : 0);
            tml_collide_free(c.tml, &result);
            tml_cancel_clear(c.tml);
        }
        CHECK(cancelled > events / 2);
        tml_collide_free(c.tml, &whole);
        tml_tree_destroy(c.tml, a);
        tml_tree_destroy(c.tml, b);
        tml_close(c.tml);
    }
    crowd_free(&m);
}

/* As memory_runs_out, in a context whose arena has yet to grow, and with parts of the stream on the
 * host. */
static void run_out_in_a_new_context(tml_collide_want want)
{
    crowd m = crowd_make();
    bool is_over = false;
    for (uint64_t n = 1; !is_over; n++) {
        memory_watch watch;
        tml_context *tml = open_watched(&watch);
        tml_tree *a = tree_of(tml, &m.a), *b = tree_of(tml, &m.b);
        tml_collide_desc desc = {.a = a,
                                 .b = b,
                                 .poses = m.poses,
                                 .pose_count = 3,
                                 .want = want,
                                 .method = TML_COLLIDE_METHOD_BREADTH_FIRST,
                                 .memory_limit = 1};
        tml_collide_result result;
        watch.fail_at = watch.count + n;
        tml_status status = tml_collide(tml, &desc, &result);
        is_over = watch.count < watch.fail_at;
        CHECK(status == TML_ERROR_OUT_OF_MEMORY || status == TML_OK);
        CHECK(!is_over || status == TML_OK);
        tml_collide_free(tml, &result);
        tml_tree_destroy(tml, a);
        tml_tree_destroy(tml, b);
        tml_close(tml);
        CHECK_EQ_U64(watch.live, 0);
    }
    crowd_free(&m);
}

TEST(memory_runs_out_in_a_new_context)
{
    run_out_in_a_new_context(TML_COLLIDE_WANT_ALL);
    run_out_in_a_new_context(TML_COLLIDE_WANT_COUNT);
    run_out_in_a_new_context(TML_COLLIDE_WANT_FIRST);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static void check_engine(tml_engine_kind engine)
{
    tml_context *tml = open_engine(engine, 0);
    if (!tml)
        SKIP("no such device here");
    mesh a = soup(300, 0.15f, 16), b = torus(24, 16, 1, 0.5f);
    float poses[5 * 12];
    for (uint32_t p = 0; p < 5; p++)
        random_pose(0.5f, poses + 12 * p);
    pair_list list = every_pair(&a, &b, poses, 5);
    check_against(tml, &a, &b, poses, 5, &list);
    free(list.pairs);
    list = every_pair(&a, NULL, NULL, 0);
    check_against(tml, &a, NULL, NULL, 0, &list);
    free(list.pairs);
    mesh_free(&a);
    mesh_free(&b);
    tml_close(tml);
}

/* Fans of six triangles around vertices that lie, but for their rounding, in the planes of b's
 * moved triangles: which of a fan's triangles these cut depends on the last bit of each vertex. A
 * compiler that computes with the vertices as they were before they were rounded finds others. */
TEST(vertices_near_moved_planes)
{
    enum { FANS = 100, CORNERS = 6 };
    mesh a = mesh_make(FANS * (CORNERS + 1), FANS * CORNERS), b = mesh_make(3 * FANS, FANS);
    float pose[12];
    random_pose(0, pose);
    for (int r = 0; r < 3; r++)
        pose[4 * r + 3] = random_float(0.4f, 0.6f);
    for (uint32_t f = 0; f < FANS; f++) {
        float middle[3], *hub = a.vertices + 3 * (CORNERS + 1) * f, moved[9];
        for (int c = 0; c < 3; c++)
            middle[c] = random_float(-0.5f, 0.5f);
        for (uint32_t i = 0; i < 9; i++)
            b.vertices[9 * f + i] = middle[i % 3] + random_float(-0.01f, 0.01f);
        for (uint32_t i = 0; i < 3; i++)
            b.indices[3 * f + i] = 3 * f + i;
        corners_of(&b, f, pose, moved);
        for (int c = 0; c < 3; c++)
            hub[c] = (float)(((double)moved[c] + moved[3 + c] + moved[6 + c]) / 3);
        for (uint32_t k = 0; k < CORNERS; k++) {
            for (int c = 0; c < 3; c++)
                hub[3 * (k + 1) + (uint32_t)c] = hub[c] + random_float(-0.01f, 0.01f);
            uint32_t *corner = a.indices + 3 * (CORNERS * f + k);
            corner[0] = (CORNERS + 1) * f;
            corner[1] = corner[0] + 1 + k;
            corner[2] = corner[0] + 1 + (k + 1) % CORNERS;
        }
    }
    pair_list list = every_pair(&a, &b, pose, 1);
    CHECK(list.count > 2 * FANS);
    static const tml_engine_kind engines[] = {TML_ENGINE_CPU, TML_ENGINE_VULKAN, TML_ENGINE_GL};
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        tml_context *tml = open_engine(engines[e], 0);
        if (!tml) {
            printf("  no device of engine %d\n", (int)engines[e]);
            continue;
        }
        tml_tree *trees[2] = {tree_of(tml, &a), tree_of(tml, &b)};
        for (int method = TML_COLLIDE_METHOD_DEPTH_FIRST;
             method <= TML_COLLIDE_METHOD_BREADTH_FIRST; method++) {
            tml_collide_desc desc = {.a = trees[0], .b = trees[1], .poses = pose, .pose_count = 1};
            tml_collide_result result;
            desc.method = (tml_collide_method)method;
            if (CHECK_OK(tml, tml_collide(tml, &desc, &result))) {
                CHECK(same_pairs(&result, &list));
                tml_collide_free(tml, &result);
            }
        }
        tml_tree_destroy(tml, trees[0]);
        tml_tree_destroy(tml, trees[1]);
        tml_close(tml);
    }
    free(list.pairs);
    mesh_free(&a);
    mesh_free(&b);
}

/* Every kernel of the descent at a size that the slowest drivers bear: two meshes in one pose and
 * in several, one mesh with itself, and parts. */
TEST(few_triangles_on_vulkan)
{
    tml_context *tml = open_engine(TML_ENGINE_VULKAN, 0);
    if (!tml)
        SKIP("no such device here");
    mesh a = torus(14, 7, 2, 0), b = torus(14, 7, 1, 1);
    float poses[3 * 12];
    for (uint32_t p = 0; p < 3; p++)
        random_pose(0.3f, poses + 12 * p);
    const struct {
        const mesh *b;
        const float *poses;
        uint32_t pose_count;
        size_t memory_limit;
    } cases[] = {{&b, NULL, 0, 0}, {&b, poses, 3, 0}, {NULL, NULL, 0, 0}, {&b, poses, 3, 1}};
    tml_tree *tree_a = tree_of(tml, &a), *tree_b = tree_of(tml, &b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pair_list list = every_pair(&a, cases[i].b, cases[i].poses, cases[i].pose_count);
        tml_collide_desc desc = {.a = tree_a,
                                 .b = cases[i].b ? tree_b : NULL,
                                 .poses = cases[i].poses,
                                 .pose_count = cases[i].pose_count,
                                 .method = TML_COLLIDE_METHOD_BREADTH_FIRST,
                                 .memory_limit = cases[i].memory_limit};
        tml_collide_result result;
        if (CHECK_OK(tml, tml_collide(tml, &desc, &result))) {
            same_pairs(&result, &list);
            CHECK(cases[i].memory_limit == 0 || result.parts > 1);
            tml_collide_free(tml, &result);
        }
        free(list.pairs);
    }
    tml_tree_destroy(tml, tree_a);
    tml_tree_destroy(tml, tree_b);
    mesh_free(&a);
    mesh_free(&b);
    tml_close(tml);
}

/* Is the pair one of the list's? */
static bool is_listed(const tml_collide_pair *pair, const pair_list *list)
{
    for (uint64_t i = 0; i < list->count; i++)
        if (memcmp(&list->pairs[i], pair, sizeof *pair) == 0)
            return true;
    return false;
}

/* Numbers of pairs by class and pose, and one a pose, of the classes asked for. */
static void check_wants(tml_context *tml, tml_collide_desc desc, const pair_list *list)
{
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT] = {0};
    uint64_t *counts = calloc(desc.pose_count, sizeof *counts);
    tml_collide_result result;
    for (uint64_t i = 0; i < list->count; i++)
        if (desc.classes >> list->pairs[i].kind & 1) {
            class_counts[list->pairs[i].kind]++;
            counts[list->pairs[i].pose]++;
        }
    desc.want = TML_COLLIDE_WANT_COUNT;
    if (CHECK_OK(tml, tml_collide(tml, &desc, &result))) {
        CHECK(memcmp(result.class_counts, class_counts, sizeof class_counts) == 0);
        for (uint32_t p = 0; p < desc.pose_count; p++)
            CHECK_EQ_U64(result.first[p + 1] - result.first[p], counts[p]);
    }
    tml_collide_free(tml, &result);
    desc.want = TML_COLLIDE_WANT_FIRST;
    if (CHECK_OK(tml, tml_collide(tml, &desc, &result)))
        for (uint32_t p = 0; p < desc.pose_count; p++) {
            uint64_t found = result.first[p + 1] - result.first[p];
            CHECK_EQ_U64(found, counts[p] > 0);
            CHECK(found == 0 || (result.pairs[result.first[p]].pose == p &&
                                 desc.classes >> result.pairs[result.first[p]].kind & 1 &&
                                 is_listed(&result.pairs[result.first[p]], list)));
        }
    tml_collide_free(tml, &result);
    free(counts);
}

/* Poses apart, touching and deep in each other, in no order; pairs that are all unsure; room for
 * all of them and for a few pairs. */
static void check_wants_on(tml_engine_kind engine)
{
    enum { POSES = 24, CROSSING = 1u << TML_COLLIDE_CLASS_CROSSING, ALL = ~1u & 31u };
    static const uint32_t classes[] = {ALL, CROSSING, ALL & ~CROSSING,
                                       1u << TML_COLLIDE_CLASS_COPLANAR};
    tml_context *tml = open_engine(engine, 0);
    if (!tml)
        SKIP("no such device here");
    random_state = 1; /* the same whatever ran before */
    mesh a = soup(61, 0.2f, 8), b = torus(12, 8, 1, 0.5f), grid = soup(45, 0.3f, 8);
    float poses[12 * POSES];
    for (uint32_t p = 0; p < POSES; p++) {
        const float moved[12] = {1, 0, 0, 0.125f * (float)(p % 12), 0, 1, 0, 0, 0, 0, 1, 0};
        random_pose(p % 3 ? 0.7f : 9.0f, poses + 12 * p);
        if (p % 4 == 0)
            memcpy(poses + 12 * p, moved, sizeof moved);
    }
    const mesh *others[] = {&b, &grid};
    tml_tree *tree_a = tree_of(tml, &a);
    for (uint32_t m = 0; m < 2; m++) {
        tml_tree *tree_b = tree_of(tml, others[m]);
        pair_list list = every_pair(&a, others[m], poses, POSES);
        for (uint32_t i = 0; i < 3 * sizeof classes / sizeof *classes; i++) {
            tml_collide_desc desc = {.a = tree_a,
                                     .b = tree_b,
                                     .poses = poses,
                                     .pose_count = POSES,
                                     .classes = classes[i / 3],
                                     .method = i % 3 ? TML_COLLIDE_METHOD_BREADTH_FIRST
                                                     : TML_COLLIDE_METHOD_AUTO,
                                     .memory_limit = i % 3 == 2};
            check_wants(tml, desc, &list);
        }
        free(list.pairs);
        tml_tree_destroy(tml, tree_b);
    }
    tml_tree_destroy(tml, tree_a);
    mesh_free(&a);
    mesh_free(&b);
    mesh_free(&grid);
    tml_close(tml);
}

TEST(counts_and_first_pairs_on_the_cpu)
{
    check_wants_on(TML_ENGINE_CPU);
}

TEST(counts_and_first_pairs_on_vulkan)
{
    check_wants_on(TML_ENGINE_VULKAN);
}

TEST(counts_and_first_pairs_on_opengl)
{
    check_wants_on(TML_ENGINE_GL);
}

/* Deep in each other, two meshes have their first pair long before all. */
TEST(first_ends_early)
{
    tml_context *tml = open_engine(TML_ENGINE_CPU, 1);
    mesh m = torus(96, 64, 2, 0);
    const float moved[12] = {1, 0, 0, 0.3f, 0, 1, 0, 0.1f, 0, 0, 1, 0.1f};
    tml_tree *a = tree_of(tml, &m), *b = tree_of(tml, &m);
    for (int i = TML_COLLIDE_METHOD_DEPTH_FIRST; i <= TML_COLLIDE_METHOD_BREADTH_FIRST; i++) {
        tml_collide_desc desc = {
            .a = a, .b = b, .poses = moved, .pose_count = 1, .method = (tml_collide_method)i};
        tml_collide_result all = {.count = 0}, first = {.count = 0};
        CHECK_OK(tml, tml_collide(tml, &desc, &all));
        desc.want = TML_COLLIDE_WANT_FIRST;
        CHECK_OK(tml, tml_collide(tml, &desc, &first));
        CHECK(all.count > 100 && first.count == 1);
        CHECK(4 * first.node_pairs < all.node_pairs);
        tml_collide_free(tml, &all);
        tml_collide_free(tml, &first);
    }
    tml_tree_destroy(tml, a);
    tml_tree_destroy(tml, b);
    mesh_free(&m);
    tml_close(tml);
}

static uint64_t keyed_key(const void *record)
{
    return *(const uint64_t *)record;
}

static int keyed_order(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    uint32_t word = x[0] == y[0];
    return (x[word] > y[word]) - (x[word] < y[word]);
}

/* Against qsort, by keys that differ in few bits far apart, and by their places. */
TEST(host_sort_is_stable)
{
    enum { MOST = 3000 };
    static const uint64_t bits[] = {0, 1, 0xff, 0x8000000000000001u, 0xffff0000ffff, UINT64_MAX};
    static const uint64_t counts[] = {0, 1, 2, HOST_SORT_FEW, HOST_SORT_FEW + 1, MOST};
    static uint64_t records[MOST][2], other[MOST][2], expected[MOST][2];
    uint64_t state = 1;
    for (uint32_t test = 0; test < 72; test++) {
        uint64_t count = counts[test / 2 % 6], differ = bits[test / 12];
        for (uint64_t i = 0; i < count; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            expected[i][0] = records[i][0] =
                ((state >> 32 | state << 32) & differ) | (0x50 & ~differ);
            expected[i][1] = records[i][1] = i;
        }
        qsort(expected, count, sizeof *expected, keyed_order);
        if (count <= HOST_SORT_FEW) {
            host_sort_few(records, other, count, sizeof *records, keyed_key);
            CHECK(count == 0 || memcmp(other, expected, count * sizeof *other) == 0);
        }
        void *sorted =
            host_sort(records, other, count, sizeof *records, keyed_key, test % 2 ? differ : 0);
        CHECK(sorted == records || sorted == other);
        CHECK(count == 0 || memcmp(sorted, expected, count * sizeof *records) == 0);
    }
}

TEST(vulkan)
{
    check_engine(TML_ENGINE_VULKAN);
}

TEST(opengl)
{
    check_engine(TML_ENGINE_GL);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
