/* Subdivision by closed forms and invariants: counts, masks of one vertex, affine invariance,
 * constants to the bit, limits that no level changes; adaptive meshes that are closed, oriented,
 * within their criterion or their budget, and converge to the uniform ones; refusals and what fix
 * mends. The comparison with OpenSubdiv is test_subdivide_opensubdiv.c. */
#include "subdivide/subdivide_internal.h"
#include "support_subdivide.h"
#include "test.h"

#include "contexts.h"
#include "memory_watch.h"

static test_mesh mesh; /* the one that a test works on */

static tml_subdivider *prepare(tml_context *tml, enum test_mesh_kind kind,
                               const tml_subdivider_desc *base)
{
    tml_subdivider *subdivider = NULL;
    test_mesh_make(kind, &mesh);
    CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, base, &subdivider));
    return subdivider;
}

static float *uniform_points(tml_context *tml, tml_subdivider *subdivider, uint32_t levels,
                             bool limit, uint64_t *count)
{
    tml_subdivide_result result;
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                      subdivider, &(tml_subdivide_uniform_desc){.levels = levels, .limit = limit},
                      &result));
    float *points = fetch(tml, result.buffers.mesh.positions, result.vertex_count);
    *count = result.vertex_count;
    tml_subdivide_free(tml, &result);
    return points;
}

static double largest(const float *values, uint64_t count)
{
    double most = 0.0;
    for (uint64_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)values[i]));
    return most;
}

static double farthest_apart(const float *a, const float *b, uint64_t count)
{
    double most = 0.0;
    for (uint64_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* ---- uniform --------------------------------------------------------------------------------- */

TEST(counts_follow_the_formulas)
{
    tml_context *tml = open_cpu(1);
    for (int kind = 0; kind < MESH_KINDS; kind++) {
        tml_subdivider *subdivider =
            prepare(tml, (enum test_mesh_kind)kind, &(tml_subdivider_desc){0});
        tml_subdivider_info info;
        tml_subdivider_describe(subdivider, 0, &info);
        uint64_t v = info.vertex_count, e = info.edge_count, f = info.triangle_count;
        for (uint32_t l = 0; l < 5; l++) {
            tml_subdivide_result made;
            tml_subdivider_info counts;
            tml_subdivider_describe(subdivider, l, &counts);
            CHECK_EQ_U64(counts.vertex_count, v);
            CHECK_EQ_U64(counts.triangle_count, f);
            CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                              subdivider, &(tml_subdivide_uniform_desc){.levels = l}, &made));
            tml_mesh_stats stats;
            CHECK_OK(tml,
                     tml_mesh_examine(tml,
                                      &(tml_mesh_buffers){.positions = made.buffers.mesh.positions,
                                                          .indices = made.buffers.mesh.indices},
                                      false, &stats));
            CHECK_EQ_U64(stats.boundary_edges, info.boundary_edge_count << l);
            CHECK_EQ_U64(stats.nonmanifold_edges, 0);
            CHECK_EQ_I64(stats.euler, (int64_t)v - (int64_t)e + (int64_t)f);
            tml_subdivide_free(tml, &made);
            uint64_t edges = 2 * e + 3 * f;
            v += e, f *= 4, e = edges;
        }
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

/* One vertex at the height 1 amid neighbours at 0: it sinks to 1 - n beta, and in the limit to the
 * centre's weight. */
static void check_wheel(tml_context *tml, uint32_t valence, tml_subdivide_weights weights)
{
    double half = 0.375 + 0.25 * cos(6.283185307179586 / valence);
    double beta = weights == TML_WEIGHTS_WARREN
                      ? (valence == 3 ? 3.0 / 16.0 : 3.0 / (8.0 * valence))
                      : (0.625 - half * half) / valence;
    memset(&mesh, 0, sizeof mesh);
    mesh.positions[2] = 1.0f;
    mesh.vertex_count = valence + 1;
    mesh.triangle_count = valence;
    for (uint32_t i = 0; i < valence; i++) {
        mesh.positions[3 * (i + 1)] = (float)cos(6.283185307179586 * i / valence);
        mesh.positions[3 * (i + 1) + 1] = (float)sin(6.283185307179586 * i / valence);
        mesh.triangles[3 * i + 1] = i + 1;
        mesh.triangles[3 * i + 2] = (i + 1) % valence + 1;
    }
    tml_subdivider *subdivider = NULL;
    if (!CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){.weights = weights},
                                            &subdivider)))
        return;
    uint64_t count;
    float *once = uniform_points(tml, subdivider, 1, false, &count);
    CHECK_NEAR((double)once[2], 1.0 - valence * beta, 1e-6);
    float *limit = uniform_points(tml, subdivider, 0, true, &count);
    CHECK_NEAR((double)limit[2], 1.0 - valence / (valence + 3.0 / (8.0 * beta)), 1e-6);
    free(once);
    free(limit);
    tml_subdivider_destroy(tml, subdivider);
}

TEST(masks_of_every_valence)
{
    tml_context *tml = open_cpu(1);
    for (uint32_t valence = 3; valence < 1000; valence += valence < 20 ? 1 : 97) {
        check_wheel(tml, valence, TML_WEIGHTS_LOOP);
        check_wheel(tml, valence, TML_WEIGHTS_WARREN);
    }
    tml_close(tml);
}

TEST(constants_stay_to_the_bit)
{
    tml_context *tml = open_cpu(2);
    for (int kind = 0; kind < MESH_KINDS; kind++) {
        test_mesh_make((enum test_mesh_kind)kind, &mesh);
        float *ones = malloc(4 * mesh.vertex_count * sizeof *ones);
        for (uint32_t i = 0; i < 4 * mesh.vertex_count; i++)
            ones[i] = 0.1f;
        tml_subdivider_desc desc = {0};
        for (uint32_t n = 1; n <= 4; n++)
            desc.attributes[2 * n - 1] =
                buffer_of(tml, n == 1 ? TML_F32 : TML_VEC(TML_F32, n), mesh.vertex_count, ones);
        tml_subdivider *subdivider = prepare(tml, (enum test_mesh_kind)kind, &desc);
        tml_subdivide_result result;
        CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                          subdivider, &(tml_subdivide_uniform_desc){.levels = 3, .limit = true},
                          &result));
        uint64_t wrong = 0;
        for (uint32_t n = 1; n <= 4; n++) {
            float *values = fetch(tml, result.buffers.attributes[2 * n - 1], result.vertex_count);
            for (uint64_t i = 0; i < n * result.vertex_count; i++)
                wrong += values[i] != 0.1f;
            free(values);
            tml_buffer_destroy(tml, desc.attributes[2 * n - 1]);
        }
        CHECK_EQ_U64(wrong, 0);
        tml_subdivide_free(tml, &result);
        tml_subdivider_destroy(tml, subdivider);
        free(ones);
    }
    tml_close(tml);
}

TEST(affine_maps_commute_with_subdivision)
{
    static const float matrix[3][4] = {
        {0.5f, -1.25f, 2.0f, 3.0f}, {1.5f, 0.25f, -0.75f, -8.0f}, {-0.5f, 1.0f, 0.125f, 0.5f}};
    tml_context *tml = open_cpu(1);
    static const enum test_mesh_kind kinds[] = {MESH_TORUS, MESH_STAR, MESH_SHEET, MESH_CREASED};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tml_subdivider *subdivider = prepare(tml, kinds[k], &(tml_subdivider_desc){0});
        uint64_t count;
        float *before = uniform_points(tml, subdivider, 3, true, &count);
        for (uint32_t pass = 0; pass < 2; pass++) { /* the mesh, then what was made of it */
            float *points = pass ? before : mesh.positions;
            for (uint64_t v = 0; v < (pass ? count : mesh.vertex_count); v++) {
                float p[3] = {points[3 * v], points[3 * v + 1], points[3 * v + 2]};
                for (uint32_t a = 0; a < 3; a++)
                    points[3 * v + a] = matrix[a][0] * p[0] + matrix[a][1] * p[1] +
                                        matrix[a][2] * p[2] + matrix[a][3];
            }
        }
        tml_buffer moved = buffer_of(tml, TML_VEC(TML_F32, 3), mesh.vertex_count, mesh.positions);
        CHECK_OK(tml, tml_subdivider_move_enqueue(subdivider, moved));
        float *after = uniform_points(tml, subdivider, 3, true, &count);
        CHECK(farthest_apart(before, after, 3 * count) <= 2e-6 * largest(after, 3 * count));
        free(before);
        free(after);
        tml_buffer_destroy(tml, moved);
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

TEST(no_level_changes_the_limit)
{
    tml_context *tml = open_cpu(1);
    static const enum test_mesh_kind kinds[] = {MESH_TETRAHEDRON, MESH_TORUS, MESH_STAR, MESH_SHEET,
                                                MESH_TRIANGLE};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tml_subdivider *subdivider = prepare(tml, kinds[k], &(tml_subdivider_desc){0});
        uint64_t kept, count;
        float *first = uniform_points(tml, subdivider, 0, true, &kept);
        for (uint32_t l = 1; l < 5; l++) {
            float *later = uniform_points(tml, subdivider, l, true, &count);
            CHECK(farthest_apart(first, later, 3 * kept) <= 2e-6 * largest(first, 3 * kept));
            free(later);
        }
        free(first);
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

/* Normals beside those that the kernels make of the last level's positions. */
static void check_normals(tml_context *tml, tml_subdivider *subdivider, uint32_t levels,
                          tml_buffer positions)
{
    tml_subdivide_result result;
    const subdivide_topology *topology = &subdivider->topologies[0];
    const subdivide_level *level = &topology->levels[levels - 1];
    uint64_t count = level->vertex_count + level->edge_count;
    tml_buffer kept = buffer_of(tml, TML_VEC(TML_F32, 3), level->vertex_count, NULL);
    tml_buffer normals = buffer_of(tml, TML_VEC(TML_F32, 3), count, NULL);
    tml_params params = {.u = {(uint32_t)level->vertex_count, 0, topology->flags | LOOP_REFINED}};
    CHECK_OK(tml, tml_map(tml, &(tml_map_desc){.kernel = subdivide_vertex_normal,
                                               .params = params,
                                               .in = {level->halves, level->vertices, positions,
                                                      subdivider->turns},
                                               .out = {kept}}));
    params.u[2] = topology->flags;
    CHECK_OK(tml,
             tml_map(tml, &(tml_map_desc){.kernel = subdivide_child_normal,
                                          .params = params,
                                          .in = {kept, level->halves, level->firsts, positions},
                                          .out = {normals}}));
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                      subdivider, &(tml_subdivide_uniform_desc){.levels = levels, .normals = true},
                      &result));
    float *quick = fetch(tml, result.buffers.mesh.normals, count),
          *plain = fetch(tml, normals, count);
    if (memcmp(quick, plain, 3 * count * sizeof *quick) != 0)
        test_fail(__FILE__, __LINE__, "%s: normals off by %g", mesh.name,
                  farthest_apart(quick, plain, 3 * count));
    free(quick);
    free(plain);
    tml_buffer_destroy(tml, kept);
    tml_buffer_destroy(tml, normals);
    tml_subdivide_free(tml, &result);
}

/* The CPU has short cuts past its kernels. */
TEST(short_cuts_change_no_bit)
{
    enum { LEVELS = 4 };
    tml_context *tml = open_cpu(2);
    for (int kind = 0; kind < MESH_KINDS; kind++) {
        tml_subdivider *subdivider =
            prepare(tml, (enum test_mesh_kind)kind, &(tml_subdivider_desc){.boundary = kind % 3});
        uint64_t count;
        float *quick_limit = uniform_points(tml, subdivider, LEVELS, true, &count);
        float *quick = uniform_points(tml, subdivider, LEVELS, false, &count);
        CHECK(subdivide_cpu_takes(subdivider, 0));
        const subdivide_topology *topology = &subdivider->topologies[0];
        tml_buffer values = subdivider->values[0].base;
        for (uint32_t l = 0; l < LEVELS; l++) {
            const subdivide_level *level = &topology->levels[l];
            tml_buffer next =
                buffer_of(tml, TML_VEC(TML_F32, 3), level->vertex_count + level->edge_count, NULL);
            CHECK_OK(tml,
                     tml_map(tml, &(tml_map_desc){
                                      .kernel = subdivide_child_kernels[2],
                                      .params = {.u = {(uint32_t)level->vertex_count, 0,
                                                       topology->flags}},
                                      .in = {level->halves, level->vertices, level->firsts, values},
                                      .out = {next}}));
            if (l > 0)
                tml_buffer_destroy(tml, values);
            values = next;
        }
        float *plain = fetch(tml, values, count);
        if (memcmp(quick, plain, 3 * count * sizeof *quick) != 0)
            test_fail(__FILE__, __LINE__, "%s: off by %g", mesh.name,
                      farthest_apart(quick, plain, 3 * count));
        const subdivide_level *level = &topology->levels[LEVELS - 1];
        tml_buffer limits = buffer_of(tml, TML_VEC(TML_F32, 3), count, NULL);
        CHECK_OK(
            tml,
            tml_map(tml, &(tml_map_desc){
                             .kernel = subdivide_limit_kernels[2],
                             .params = {.u = {(uint32_t)level->vertex_count, 0, topology->flags}},
                             .in = {level->halves, level->vertices, level->firsts, values},
                             .out = {limits}}));
        float *plain_limit = fetch(tml, limits, count);
        if (memcmp(quick_limit, plain_limit, 3 * count * sizeof *quick_limit) != 0)
            test_fail(__FILE__, __LINE__, "%s: limit off by %g", mesh.name,
                      farthest_apart(quick_limit, plain_limit, 3 * count));
        check_normals(tml, subdivider, LEVELS, values);
        tml_buffer_destroy(tml, limits);
        free(quick_limit);
        free(plain_limit);
        free(quick);
        free(plain);
        tml_buffer_destroy(tml, values);
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

TEST(threads_change_no_bit)
{
    uint64_t counts[2];
    float *points[2];
    for (uint32_t i = 0; i < 2; i++) {
        tml_context *tml = open_cpu(1 + 3 * i);
        tml_subdivider *subdivider = prepare(tml, MESH_CREASED, &(tml_subdivider_desc){0});
        points[i] = uniform_points(tml, subdivider, 4, true, &counts[i]);
        tml_subdivider_destroy(tml, subdivider);
        tml_close(tml);
    }
    CHECK_EQ_U64(counts[0], counts[1]);
    CHECK(memcmp(points[0], points[1], 3 * counts[0] * sizeof(float)) == 0);
    free(points[0]);
    free(points[1]);
}

TEST(small_outputs_are_refused_with_their_counts)
{
    tml_context *tml = open_cpu(1);
    tml_subdivider *subdivider = prepare(tml, MESH_OCTAHEDRON, &(tml_subdivider_desc){0});
    tml_subdivide_uniform_desc desc = {.levels = 2};
    tml_subdivide_result result;
    desc.buffers.mesh.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 65, NULL);
    CHECK_STATUS(tml_subdivide_uniform_enqueue(subdivider, &desc, &result), TML_ERROR_CAPACITY);
    CHECK_EQ_U64(result.vertex_count, 66);
    CHECK(strstr(tml_last_error(tml), "needs 66") != NULL);
    CHECK_STATUS(tml_subdivide_uniform_enqueue(
                     subdivider, &(tml_subdivide_uniform_desc){.levels = 13}, &result),
                 TML_ERROR_INVALID_ARGUMENT);
    tml_buffer_destroy(tml, desc.buffers.mesh.positions);
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

/* Of buffers given, made and mixed those that the call made are destroyed with the result, and no
 * other; and buffers that are given lie apart. */
TEST(results_own_what_was_made)
{
    tml_context *tml = open_cpu(1);
    enum { GIVEN = 7 };
    test_mesh_make(MESH_OCTAHEDRON, &mesh);
    tml_subdivider_desc base = {0};
    base.attributes[3] = buffer_of(tml, TML_F32, mesh.vertex_count, mesh.positions);
    base.channels[1].values =
        buffer_of(tml, TML_VEC(TML_F32, 3), mesh.vertex_count, mesh.positions);
    base.channels[1].indices =
        buffer_of(tml, TML_VEC(TML_U32, 3), mesh.triangle_count, mesh.triangles);
    tml_subdivider *subdivider = prepare(tml, MESH_OCTAHEDRON, &base);
    const tml_type vec3_type = TML_VEC(TML_F32, 3), triple_type = TML_VEC(TML_U32, 3);
    for (uint32_t given = 0; given < 1u << GIVEN; given++) {
        tml_subdivide_adaptive_desc desc = {.threshold = 100.0f, .normals = true, .origins = true};
        tml_subdivide_buffers *to = &desc.buffers;
        tml_subdivide_result result;
        const struct {
            tml_buffer *to;
            const tml_buffer *from;
            tml_type type;
        } all[GIVEN] = {
            {&to->mesh.positions, &result.buffers.mesh.positions, vec3_type},
            {&to->mesh.normals, &result.buffers.mesh.normals, vec3_type},
            {&to->mesh.indices, &result.buffers.mesh.indices, triple_type},
            {&to->attributes[3], &result.buffers.attributes[3], TML_F32},
            {&to->channel_values[1], &result.buffers.channel_values[1], vec3_type},
            {&to->channel_indices[1], &result.buffers.channel_indices[1], triple_type},
            {&to->origins, &result.buffers.origins, TML_VEC(TML_U32, 2)},
        };
        tml_buffer made[GIVEN];
        for (uint32_t i = 0; i < GIVEN; i++)
            if (given >> i & 1)
                *all[i].to = buffer_of(tml, all[i].type, 32, NULL);
        if (!CHECK_OK(tml, tml_subdivide_adaptive(subdivider, &desc, &result)))
            break;
        for (uint32_t i = 0; i < GIVEN; i++)
            made[i] = *all[i].from;
        bool is_kept = given % 3 == 0; /* a handle that is zeroed is no longer the result's */
        if (is_kept)
            result.buffers.mesh.indices = (tml_buffer){0, 0};
        tml_subdivide_free(tml, &result);
        CHECK(result.owned == 0 && tml_buffer_is_none(result.buffers.mesh.positions));
        for (uint32_t i = 0; i < GIVEN; i++) {
            bool stays = given >> i & 1 || (i == 2 && is_kept);
            CHECK(tml_buffer_describe(tml, made[i], NULL, NULL) == stays);
            tml_buffer_destroy(tml, made[i]);
        }
    }
    tml_subdivide_uniform_desc twice = {.levels = 1, .normals = true};
    tml_subdivide_result result;
    twice.buffers.mesh.normals = twice.buffers.channel_values[1] =
        buffer_of(tml, vec3_type, 32, NULL);
    CHECK_STATUS(tml_subdivide_uniform_enqueue(subdivider, &twice, &result),
                 TML_ERROR_INVALID_ARGUMENT);
    const char *message = tml_last_error(tml);
    if (!strstr(message, "tml_subdivide_uniform_enqueue: desc.buffers.channel_values[1] overlaps "
                         "desc.buffers.mesh.normals"))
        test_fail(__FILE__, __LINE__, "\"%s\"", message);
    CHECK(tml_buffer_describe(tml, twice.buffers.mesh.normals, NULL, NULL));
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

/* ---- adaptive -------------------------------------------------------------------------------- */

/* Makes what a desc says and checks all that holds of every adaptive mesh. */
static void check_adaptive(tml_context *tml, tml_subdivider *subdivider,
                           tml_subdivide_adaptive_desc *desc, bool is_smooth,
                           tml_subdivide_result *out)
{
    tml_subdivider_info info;
    tml_subdivider_describe(subdivider, 0, &info);
    desc->normals = desc->origins = true;
    if (!CHECK_OK(tml, tml_subdivide_adaptive(subdivider, desc, out)))
        return;
    tml_mesh_stats stats;
    CHECK_OK(tml, tml_mesh_examine(tml,
                                   &(tml_mesh_buffers){.positions = out->buffers.mesh.positions,
                                                       .indices = out->buffers.mesh.indices},
                                   false, &stats));
    CHECK_EQ_U64(stats.nonmanifold_edges, 0);
    CHECK_EQ_I64(stats.euler, (int64_t)info.vertex_count - (int64_t)info.edge_count +
                                  (int64_t)info.triangle_count);
    if (info.boundary_edge_count == 0)
        CHECK_EQ_U64(stats.boundary_edges, 0);
    float *points = fetch(tml, out->buffers.mesh.positions, out->vertex_count);
    float *normals = fetch(tml, out->buffers.mesh.normals, out->vertex_count);
    uint32_t *triangles = fetch(tml, out->buffers.mesh.indices, out->triangle_count);
    uint32_t *origins = fetch(tml, out->buffers.origins, out->triangle_count);
    uint8_t *is_used = calloc(out->vertex_count, 1);
    uint64_t flipped = 0, unused = 0, strange = 0, finest = 0;
    for (uint64_t t = 0; t < out->triangle_count; t++) {
        const float *p[3];
        double edge[2][3], along = 0.0;
        for (uint32_t k = 0; k < 3; k++) {
            p[k] = points + 3 * (size_t)triangles[3 * t + k];
            is_used[triangles[3 * t + k]] = 1;
        }
        for (uint32_t a = 0; a < 3; a++) {
            edge[0][a] = (double)p[1][a] - (double)p[0][a];
            edge[1][a] = (double)p[2][a] - (double)p[0][a];
        }
        for (uint32_t a = 0; a < 3; a++) {
            uint32_t b = (a + 1) % 3, c = (a + 2) % 3;
            double n = edge[0][b] * edge[1][c] - edge[0][c] * edge[1][b];
            for (uint32_t k = 0; k < 3; k++)
                along += n * (double)normals[3 * (size_t)triangles[3 * t + k] + a];
        }
        flipped += !(along > 0.0);
        strange += origins[2 * t] >= info.triangle_count || origins[2 * t + 1] > out->depth;
        finest = origins[2 * t + 1] > finest ? origins[2 * t + 1] : finest;
    }
    for (uint64_t v = 0; v < out->vertex_count; v++)
        unused += !is_used[v];
    if (is_smooth && !desc->slivers)
        CHECK_EQ_U64(flipped, 0);
    CHECK_EQ_U64(unused, 0);
    CHECK_EQ_U64(strange, 0);
    CHECK(finest + 1 >= out->depth);
    free(points);
    free(normals);
    free(triangles);
    free(origins);
    free(is_used);
}

/* The longest edge of a mesh. */
static double longest_edge(tml_context *tml, const tml_subdivide_result *result)
{
    float *points = fetch(tml, result->buffers.mesh.positions, result->vertex_count);
    uint32_t *triangles = fetch(tml, result->buffers.mesh.indices, result->triangle_count);
    double longest = 0.0;
    for (uint64_t i = 0; i < 3 * result->triangle_count; i++) {
        const float *a = points + 3 * (size_t)triangles[i];
        const float *b = points + 3 * (size_t)triangles[i % 3 == 2 ? i - 2 : i + 1];
        double square = 0.0;
        for (uint32_t k = 0; k < 3; k++)
            square += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
        longest = fmax(longest, sqrt(square));
    }
    free(points);
    free(triangles);
    return longest;
}

TEST(edges_no_longer_than_asked)
{
    tml_context *tml = open_cpu(2);
    for (int kind = 0; kind < MESH_KINDS; kind++)
        for (int slivers = 0; slivers < 2; slivers++) {
            tml_subdivider *subdivider =
                prepare(tml, (enum test_mesh_kind)kind, &(tml_subdivider_desc){0});
            bool is_smooth = kind != MESH_CREASED && kind != MESH_OPEN_CREASED && kind != MESH_STAR;
            tml_subdivide_result result;
            tml_subdivide_adaptive_desc desc = {.threshold = 0.2f, .slivers = slivers};
            check_adaptive(tml, subdivider, &desc, is_smooth, &result);
            CHECK(result.is_within_budget && result.is_within_depth && result.error <= 1.0);
            double longest = longest_edge(tml, &result);
            if (!slivers &&
                longest > 0.2 * 1.02) /* inside green triangles, by the surface's bend */
                test_fail(__FILE__, __LINE__, "%s: an edge of %g", mesh.name, longest);
            tml_subdivide_free(tml, &result);
            tml_subdivider_destroy(tml, subdivider);
        }
    tml_close(tml);
}

#include <trommel/kernel_begin.h>
/* Finer to the right: edges of length p.f[0] there, and p.f[1] to the left. */
TML_KERNEL(float, to_the_right, (vec3 a, vec3 b, vec3 m, tml_params p), {
    float wanted = mix(p.f[1], p.f[0], clamp(m.x, 0.0f, 1.0f));
    return length3(sub3(b, a)) / wanted;
})
#include <trommel/kernel_end.h>

/* Criteria that vary over the mesh, so that levels meet. */
TEST(every_criterion_makes_whole_meshes)
{
    tml_context *tml = open_cpu(2);
    static const tml_subdivide_adaptive_desc descs[] = {
        {.criterion = TML_SPLIT_ANGLE, .threshold = 0.3f, .max_depth = 4},
        {.criterion = TML_SPLIT_DISTANCE, .threshold = 1e-2f, .max_depth = 5},
        {.criterion = TML_SPLIT_KERNEL,
         .kernel = TML_USE(to_the_right),
         .params = {.f = {0.15f, 5.0f}},
         .max_depth = 6},
        {.criterion = TML_SPLIT_PIXELS,
         .threshold = 12.0f,
         .max_depth = 4,
         .camera = {.matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -1, 5},
                    .width = 320,
                    .height = 200}},
    };
    for (int kind = 0; kind < MESH_KINDS; kind++)
        for (size_t i = 0; i < sizeof descs / sizeof *descs; i++) {
            tml_subdivider *subdivider =
                prepare(tml, (enum test_mesh_kind)kind, &(tml_subdivider_desc){0});
            bool is_smooth =
                kind == MESH_TORUS || kind == MESH_OCTAHEDRON || kind == MESH_TETRAHEDRON;
            tml_subdivide_result result;
            tml_subdivide_adaptive_desc desc = descs[i];
            check_adaptive(tml, subdivider, &desc, is_smooth, &result);
            if (result.is_within_depth && result.error > 1.0)
                test_fail(__FILE__, __LINE__, "%s, criterion %zu: error %g", mesh.name, i,
                          result.error);
            tml_subdivide_free(tml, &result);
            tml_subdivider_destroy(tml, subdivider);
        }
    tml_close(tml);
}

/* Beside a vertex of valence 3 or 4 a limit point lies a quarter to three eighths along its edge at
 * every level; that is no turn of the surface, and splitting ends. */
TEST(surfaces_stop_turning_at_every_valence)
{
    tml_context *tml = open_cpu(1);
    for (int kind = MESH_TETRAHEDRON; kind <= MESH_OCTAHEDRON; kind++) {
        tml_subdivider *subdivider =
            prepare(tml, (enum test_mesh_kind)kind, &(tml_subdivider_desc){0});
        tml_subdivide_result result;
        tml_subdivide_adaptive_desc desc = {.criterion = TML_SPLIT_ANGLE, .threshold = 0.3f};
        check_adaptive(tml, subdivider, &desc, true, &result);
        CHECK(result.is_within_depth && result.error <= 1.0 && result.triangle_count < 20000);
        tml_subdivide_free(tml, &result);
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

/* Where everything is split alike, an adaptive mesh is the uniform one at its limit: the same
 * points. */
TEST(adaptive_points_are_limits_of_uniform_ones)
{
    tml_context *tml = open_cpu(1);
    for (int kind = 0; kind < MESH_KINDS; kind++) {
        tml_subdivider *subdivider =
            prepare(tml, (enum test_mesh_kind)kind, &(tml_subdivider_desc){0});
        tml_subdivide_result adaptive, uniform;
        tml_subdivide_adaptive_desc desc = {.threshold = 1e-6f, .max_depth = 3};
        check_adaptive(tml, subdivider, &desc, false, &adaptive);
        CHECK(!adaptive.is_within_depth && adaptive.error > 1.0);
        CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                          subdivider, &(tml_subdivide_uniform_desc){.levels = 3, .limit = true},
                          &uniform));
        CHECK_EQ_U64(adaptive.triangle_count, uniform.triangle_count);
        CHECK_EQ_U64(adaptive.vertex_count, uniform.vertex_count);
        uint32_t *mine = fetch(tml, adaptive.buffers.mesh.indices, adaptive.triangle_count);
        uint32_t *theirs = fetch(tml, uniform.buffers.mesh.indices, uniform.triangle_count);
        float *points = fetch(tml, adaptive.buffers.mesh.positions, adaptive.vertex_count);
        float *limits = fetch(tml, uniform.buffers.mesh.positions, uniform.vertex_count);
        double worst = 0.0;
        for (uint64_t i = 0; i < 3 * uniform.triangle_count; i++)
            worst = fmax(worst, farthest_apart(points + 3 * (size_t)mine[i],
                                               limits + 3 * (size_t)theirs[i], 3));
        /* Semi-sharp creases are worn at different levels. */
        double bound = kind == MESH_CREASED || kind == MESH_OPEN_CREASED ? 1e30 : 2e-6;
        CHECK(worst <= bound * largest(limits, 3 * uniform.vertex_count));
        free(mine);
        free(theirs);
        free(points);
        free(limits);
        tml_subdivide_free(tml, &adaptive);
        tml_subdivide_free(tml, &uniform);
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

/* A finer criterion comes closer to the limit surface's area and volume. */
TEST(area_and_volume_converge)
{
    tml_context *tml = open_cpu(1);
    tml_subdivider *subdivider = prepare(tml, MESH_OCTAHEDRON, &(tml_subdivider_desc){0});
    tml_subdivide_result result;
    tml_mesh_stats exact, stats;
    CHECK_OK(tml,
             tml_subdivide_uniform_enqueue(
                 subdivider, &(tml_subdivide_uniform_desc){.levels = 6, .limit = true}, &result));
    CHECK_OK(tml, tml_mesh_examine(tml,
                                   &(tml_mesh_buffers){.positions = result.buffers.mesh.positions,
                                                       .indices = result.buffers.mesh.indices},
                                   false, &exact));
    tml_subdivide_free(tml, &result);
    double last = 1e30;
    for (float threshold = 0.04f; threshold > 1e-3f; threshold *= 0.25f) {
        tml_subdivide_adaptive_desc desc = {.criterion = TML_SPLIT_DISTANCE,
                                            .threshold = threshold};
        check_adaptive(tml, subdivider, &desc, true, &result);
        CHECK_OK(tml,
                 tml_mesh_examine(tml,
                                  &(tml_mesh_buffers){.positions = result.buffers.mesh.positions,
                                                      .indices = result.buffers.mesh.indices},
                                  false, &stats));
        double off = fabs(stats.volume / exact.volume - 1.0) + fabs(stats.area / exact.area - 1.0);
        CHECK(off < last);
        last = off;
        tml_subdivide_free(tml, &result);
    }
    CHECK(last < 1e-2);
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

TEST(budgets_are_kept_and_told)
{
    tml_context *tml = open_cpu(2);
    tml_subdivider *subdivider = prepare(tml, MESH_TORUS, &(tml_subdivider_desc){0});
    for (uint64_t budget = 400; budget < 8000; budget *= 4) {
        tml_subdivide_result result;
        tml_subdivide_adaptive_desc desc = {
            .criterion = TML_SPLIT_DISTANCE, .threshold = 1e-5f, .max_depth = 8, .budget = budget};
        check_adaptive(tml, subdivider, &desc, true, &result);
        CHECK(!result.is_within_budget);
        CHECK(result.triangle_count <= budget && result.triangle_count > budget / 2);
        CHECK(result.error > 1.0);
        tml_subdivide_free(tml, &result);
    }
    tml_subdivide_adaptive_desc small = {.threshold = 1.0f, .budget = 10};
    tml_subdivide_result result;
    CHECK_STATUS(tml_subdivide_adaptive(subdivider, &small, &result), TML_ERROR_INVALID_ARGUMENT);
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

static bool note_progress(void *user, const char *stage, double fraction)
{
    double *reported = user; /* the last fraction, and how many there were */
    CHECK(stage && fraction >= reported[0] && fraction <= 1.0);
    reported[0] = fraction;
    reported[1]++;
    return true;
}

/* Also of a mesh that is made again and again until it fits a budget. */
TEST(progress_never_goes_back)
{
    double reported[2] = {0.0, 0.0};
    tml_context *tml = NULL;
    const tml_open_desc open = {.engine = TML_ENGINE_CPU,
                                .threads = 1,
                                .progress = note_progress,
                                .progress_user = reported};
    CHECK_OK(tml, tml_open(&open, &tml));
    tml_subdivider *subdivider = prepare(tml, MESH_TORUS, &(tml_subdivider_desc){0});
    tml_subdivide_result result;
    const tml_subdivide_adaptive_desc desc = {
        .criterion = TML_SPLIT_DISTANCE, .threshold = 1e-5f, .max_depth = 8, .budget = 400};
    reported[0] = 0.0;
    CHECK_OK(tml, tml_subdivide_adaptive(subdivider, &desc, &result));
    CHECK(reported[1] > 9); /* levels, of more than one run */
    tml_subdivide_free(tml, &result);
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

/* A channel's corners lie where its triangles' do: here its values are the positions, cut by
 * seams. */
TEST(channels_follow_adaptive_triangles)
{
    tml_context *tml = open_cpu(1);
    static uint32_t triangles[3 * TEST_MESH_TRIANGLES];
    static float values[6 * TEST_MESH_VERTICES];
    test_mesh_make(MESH_TORUS, &mesh);
    for (uint32_t i = 0; i < 3 * mesh.triangle_count; i++)
        triangles[i] = mesh.triangles[i] + (i / 3 % 96 > 40 ? mesh.vertex_count : 0);
    memcpy(values, mesh.positions, 3 * mesh.vertex_count * sizeof(float));
    memcpy(values + 3 * mesh.vertex_count, mesh.positions, 3 * mesh.vertex_count * sizeof(float));
    tml_subdivider_desc base = {.channels[2].seams = TML_SEAMS_LINEAR};
    base.channels[2].values = buffer_of(tml, TML_VEC(TML_F32, 3), 2 * mesh.vertex_count, values);
    base.channels[2].indices = buffer_of(tml, TML_VEC(TML_U32, 3), mesh.triangle_count, triangles);
    tml_subdivider *subdivider = prepare(tml, MESH_TORUS, &base);
    tml_subdivide_adaptive_desc desc = {.criterion = TML_SPLIT_KERNEL,
                                        .kernel = TML_USE(to_the_right),
                                        .params = {.f = {0.1f, 5.0f}}};
    tml_subdivide_result result;
    check_adaptive(tml, subdivider, &desc, true, &result);
    uint32_t *corners = fetch(tml, result.buffers.mesh.indices, result.triangle_count);
    uint32_t *channel = fetch(tml, result.buffers.channel_indices[2], result.triangle_count);
    uint32_t *origins = fetch(tml, result.buffers.origins, result.triangle_count);
    float *linear = fetch(tml, result.buffers.channel_values[2], result.channel_counts[2]);
    uint64_t outside = 0, inconsistent = 0;
    uint32_t *owner = malloc(result.channel_counts[2] * sizeof *owner);
    memset(owner, 0xff, result.channel_counts[2] * sizeof *owner);
    for (uint64_t i = 0; i < 3 * result.triangle_count; i++) {
        if (!CHECK(channel[i] < result.channel_counts[2]))
            break;
        if (owner[channel[i]] == 0xffffffffu)
            owner[channel[i]] = corners[i];
        inconsistent += owner[channel[i]] != corners[i]; /* a value belongs to one vertex */
        const uint32_t *from = mesh.triangles + 3 * (size_t)origins[2 * (i / 3)];
        for (uint32_t a = 0; a < 3; a++) { /* linear: within the triangle that it comes from */
            float p = linear[3 * (size_t)channel[i] + a], low = 1e30f, high = -1e30f;
            for (uint32_t k = 0; k < 3; k++) {
                low = fminf(low, mesh.positions[3 * from[k] + a]);
                high = fmaxf(high, mesh.positions[3 * from[k] + a]);
            }
            outside += p < low - 1e-5f || p > high + 1e-5f;
        }
    }
    CHECK_EQ_U64(outside, 0);
    CHECK_EQ_U64(inconsistent, 0);
    free(owner);
    free(corners);
    free(channel);
    free(origins);
    free(linear);
    tml_subdivide_free(tml, &result);
    tml_subdivider_destroy(tml, subdivider);
    tml_buffer_destroy(tml, base.channels[2].values);
    tml_buffer_destroy(tml, base.channels[2].indices);
    tml_close(tml);
}

/* ---- bad meshes ------------------------------------------------------------------------------ */

static void set_triangles(uint32_t vertex_count, uint32_t count, const uint32_t *triangles)
{
    memset(&mesh, 0, sizeof mesh);
    mesh.vertex_count = vertex_count;
    mesh.triangle_count = count;
    memcpy(mesh.triangles, triangles, 3 * count * sizeof *triangles);
    for (uint32_t v = 0; v < vertex_count; v++) {
        mesh.positions[3 * v] = (float)(v * v % 7);
        mesh.positions[3 * v + 1] = (float)(v * 3 % 5);
        mesh.positions[3 * v + 2] = (float)v;
    }
}

/* Refused with words that name what is wrong; mended with fix. */
static void check_bad(uint32_t vertex_count, uint32_t count, const uint32_t *triangles,
                      const char *words, const tml_subdivider_info *mended)
{
    tml_context *tml = open_cpu(1);
    tml_subdivider *subdivider;
    set_triangles(vertex_count, count, triangles);
    CHECK_STATUS(test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){0}, &subdivider),
                 TML_ERROR_INVALID_ARGUMENT);
    if (!strstr(tml_last_error(tml), words))
        test_fail(__FILE__, __LINE__, "\"%s\" does not tell \"%s\"", tml_last_error(tml), words);
    if (mended &&
        CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){.fix = true},
                                           &subdivider))) {
        tml_subdivider_info info;
        tml_subdivider_describe(subdivider, 0, &info);
        CHECK_EQ_U64(info.removed_triangles, mended->removed_triangles);
        CHECK_EQ_U64(info.duplicate_triangles, mended->duplicate_triangles);
        CHECK_EQ_U64(info.flipped_triangles, mended->flipped_triangles);
        CHECK_EQ_U64(info.split_vertices, mended->split_vertices);
        tml_subdivide_result result;
        CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                          subdivider, &(tml_subdivide_uniform_desc){.levels = 2}, &result));
        CHECK_EQ_U64(result.triangle_count, 16 * (count - mended->removed_triangles));
        tml_subdivide_free(tml, &result);
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

TEST(bad_meshes_are_refused_or_mended)
{
    static const uint32_t three[] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
    check_bad(5, 3, three, "edge 0-1 is used by 3 triangles (0, 1, 2)",
              &(tml_subdivider_info){.split_vertices = 4});
    static const uint32_t wrong_way[] = {0, 1, 2, 1, 2, 3, 3, 2, 4};
    check_bad(5, 3, wrong_way, "triangles 0 and 1 both run along edge 1-2 from 1 to 2",
              &(tml_subdivider_info){.flipped_triangles = 1});
    static const uint32_t bow_tie[] = {0, 1, 2, 2, 3, 4};
    check_bad(5, 2, bow_tie, "vertex 2 joins triangles that share no edge",
              &(tml_subdivider_info){.split_vertices = 1});
    static const uint32_t flat[] = {0, 1, 2, 1, 1, 3};
    check_bad(4, 2, flat, "triangle 1 has vertices 1, 1 and 3",
              &(tml_subdivider_info){.removed_triangles = 1});
    static const uint32_t beyond[] = {0, 1, 9};
    check_bad(3, 1, beyond, "corner 2 of triangle 0 is vertex 9, needs less than 3", NULL);
}

/* Triangles with the same three corners: one of them stays, but for the two sides of a closed
 * sheet. */
TEST(duplicates_are_refused_or_left_out)
{
    static const uint32_t tetrahedron[] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
    uint32_t twice[3 * 9];
    for (uint32_t turn = 0; turn < 3; turn++) { /* beginning with another corner */
        memcpy(twice, tetrahedron, sizeof tetrahedron);
        for (uint32_t i = 0; i < 12; i++)
            twice[12 + i] = tetrahedron[i - i % 3 + (i + turn) % 3];
        memcpy(twice + 24, tetrahedron, 3 * sizeof *twice); /* the first one a third time */
        check_bad(4, 9, twice, "is used by",
                  &(tml_subdivider_info){.removed_triangles = 5, .duplicate_triangles = 5});
    }
    /* Both sides of a sheet of four triangles about a vertex: one sheet. */
    static const uint32_t sides[] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1,
                                     0, 2, 1, 0, 3, 2, 0, 4, 3, 0, 1, 4};
    check_bad(5, 8, sides, "is used by 4 triangles",
              &(tml_subdivider_info){.removed_triangles = 4, .duplicate_triangles = 4});
    /* One triangle twice, wound alike: not a closed sheet, which the next one is, here beside a
     * mistake. */
    static const uint32_t alike[] = {0, 1, 2, 1, 2, 0};
    check_bad(3, 2, alike, "both run along edge",
              &(tml_subdivider_info){.removed_triangles = 1, .duplicate_triangles = 1});
    static const uint32_t closed[] = {0, 1, 2, 2, 1, 0, 3, 4, 4};
    check_bad(5, 3, closed, "triangle 2 has vertices 3, 4 and 4",
              &(tml_subdivider_info){.removed_triangles = 1});
    static const uint32_t sheet_and_copy[] = {0, 1, 2, 2, 1, 0, 2, 0, 1, 1, 0, 2};
    check_bad(3, 4, sheet_and_copy, "is used by 4 triangles",
              &(tml_subdivider_info){.removed_triangles = 2, .duplicate_triangles = 2});
    /* Attributes of corners follow the triangles that stay. */
    tml_context *tml = open_cpu(1);
    set_triangles(4, 8, twice);
    tml_subdivider_desc desc = {.fix = true};
    float values[8];
    uint32_t corners[24];
    for (uint32_t t = 0; t < 8; t++) {
        values[t] = (float)t;
        corners[3 * t] = corners[3 * t + 1] = corners[3 * t + 2] = t;
    }
    desc.channels[0] =
        (tml_subdivide_channel){.values = buffer_of(tml, TML_F32, 8, values),
                                .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 8, corners),
                                .seams = TML_SEAMS_LINEAR};
    tml_subdivider *subdivider;
    if (CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &desc, &subdivider))) {
        tml_subdivide_result result;
        CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                          subdivider, &(tml_subdivide_uniform_desc){.levels = 1}, &result));
        uint32_t *channel = fetch(tml, result.buffers.channel_indices[0], result.triangle_count);
        float *made = fetch(tml, result.buffers.channel_values[0], result.channel_counts[0]);
        CHECK_EQ_U64(result.triangle_count, 16);
        for (uint32_t i = 0; i < 48 && result.triangle_count == 16; i++)
            CHECK_NEAR(made[channel[i]], (double)(i / 12), 0);
        free(channel);
        free(made);
        tml_subdivide_free(tml, &result);
        tml_subdivider_destroy(tml, subdivider);
    }
    tml_close(tml);
}

TEST(bad_descs_are_refused)
{
    tml_context *tml = open_cpu(1);
    tml_subdivider *subdivider;
    test_mesh_make(MESH_OCTAHEDRON, &mesh);
    mesh.crease_count = 1;
    mesh.creases[0] = 0, mesh.creases[1] = 3; /* opposite */
    CHECK_STATUS(test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){0}, &subdivider),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.crease_edges[0] is 0-3, which is no edge") != NULL);
    mesh.creases[1] = 1;
    mesh.crease_sharpness[0] = -1.0f;
    CHECK_STATUS(test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){0}, &subdivider),
                 TML_ERROR_INVALID_ARGUMENT);
    mesh.crease_sharpness[0] = 1.0f;
    mesh.positions[7] = NAN;
    CHECK_STATUS(test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){0}, &subdivider),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "coordinate 1 of position 2") != NULL);
    subdivider = prepare(tml, MESH_OCTAHEDRON, &(tml_subdivider_desc){0});
    tml_subdivide_result result;
    CHECK_STATUS(tml_subdivide_adaptive(subdivider, &(tml_subdivide_adaptive_desc){0}, &result),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(
        tml_subdivide_adaptive(
            subdivider, &(tml_subdivide_adaptive_desc){.criterion = TML_SPLIT_KERNEL}, &result),
        TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_subdivide_adaptive(subdivider,
                                        &(tml_subdivide_adaptive_desc){
                                            .criterion = TML_SPLIT_PIXELS, .threshold = 1.0f},
                                        &result),
                 TML_ERROR_INVALID_ARGUMENT);
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

static tml_status use_all(tml_context *tml)
{
    tml_subdivider *subdivider;
    tml_subdivide_result result;
    tml_status status =
        test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){.fix = true}, &subdivider);
    if (status != TML_OK)
        return status;
    status = tml_subdivide_uniform_enqueue(
        subdivider, &(tml_subdivide_uniform_desc){.levels = 2, .normals = true}, &result);
    if (status == TML_OK) {
        tml_subdivide_free(tml, &result);
        status = tml_subdivide_adaptive(
            subdivider,
            &(tml_subdivide_adaptive_desc){
                .criterion = TML_SPLIT_LENGTH, .threshold = 1.0f, .max_depth = 2},
            &result);
    }
    if (status == TML_OK)
        tml_subdivide_free(tml, &result);
    tml_subdivider_destroy(tml, subdivider);
    return status;
}

/* Whichever request for memory fails, of a mesh in which everything is mended: all is given
 * back. */
TEST(memory_runs_out)
{
    static const uint32_t bad[] = {0, 1, 2, 1, 2, 3, 3, 2, 4, 4, 5, 6, 5, 5, 6};
    set_triangles(7, 5, bad);
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    CHECK_OK(tml, use_all(tml));
    size_t live = watch.live; /* the arena, which stays */
    uint64_t needed = watch.count;
    for (uint64_t n = 1; n <= needed; n++) {
        watch.fail_at = watch.count + n;
        tml_status status = use_all(tml);
        CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
        CHECK(watch.live <= live);
    }
    watch.fail_at = 0;
    CHECK_OK(tml, use_all(tml));
    CHECK_EQ_U64(watch.live, live);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

TEST(an_empty_mesh_stays_empty)
{
    tml_context *tml = open_cpu(1);
    tml_subdivider *subdivider;
    memset(&mesh, 0, sizeof mesh);
    if (CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){.fix = true},
                                           &subdivider)))
        tml_subdivider_destroy(tml, subdivider);
    if (CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &(tml_subdivider_desc){0}, &subdivider))) {
        tml_subdivide_result result;
        CHECK_OK(tml, tml_subdivide_uniform_enqueue(
                          subdivider, &(tml_subdivide_uniform_desc){.levels = 3}, &result));
        CHECK_EQ_U64(result.triangle_count, 0);
        tml_subdivide_free(tml, &result);
        CHECK_OK(tml, tml_subdivide_adaptive(
                          subdivider, &(tml_subdivide_adaptive_desc){.threshold = 1.0f}, &result));
        CHECK_EQ_U64(result.triangle_count, 0);
        tml_subdivide_free(tml, &result);
    }
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
