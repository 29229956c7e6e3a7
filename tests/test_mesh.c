/* Mesh statistics and clean-up on meshes small enough to count by hand, and on random ones against
 * slow but plain code. */
#include "test.h"

#include "contexts.h"

#include <trommel/trommel.h>

#include "mesh/mesh_arrays.h"

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    return test_random(&random_state) % n;
}

/* ---- statistics ----------------------------------------------------------------------------- */

static tml_status examine_buffers(tml_context *tml, tml_buffer positions, tml_buffer indices,
                                  bool components_only, tml_mesh_stats *out)
{
    const tml_mesh_buffers mesh = {.positions = positions, .indices = indices};
    return tml_mesh_examine(tml, &mesh, components_only, out);
}

/* Examines with 32-bit and with 64-bit indices, which must agree. */
static tml_mesh_stats examine(const float *positions, uint64_t vertices, const uint32_t *indices,
                              uint64_t triangles)
{
    tml_context *tml = open_cpu(2);
    uint64_t *wide = malloc(3 * triangles * sizeof *wide + 1);
    for (uint64_t i = 0; i < 3 * triangles; i++)
        wide[i] = indices[i];
    tml_buffer v = buffer_of(tml, TML_VEC(TML_F32, 3), vertices, positions);
    tml_buffer i32 = buffer_of(tml, TML_VEC(TML_U32, 3), triangles, indices);
    tml_buffer i64 = buffer_of(tml, TML_VEC(TML_U64, 3), triangles, wide);
    tml_mesh_stats a = {0}, b = {0};
    CHECK_OK(tml, examine_buffers(tml, v, i32, false, &a));
    CHECK_OK(tml, examine_buffers(tml, v, i64, false, &b));
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK_OK(tml, examine_buffers(tml, v, i32, true, &b));
    tml_mesh_stats components = {.components = a.components};
    CHECK(memcmp(&components, &b, sizeof b) == 0);
    tml_close(tml);
    free(wide);
    return a;
}

/* The corner of a cube, seen from far away: volume must not drown in the distance. */
static const float tetrahedron[] = {1000, 1000, 1000, 1001, 1000, 1000,
                                    1000, 1001, 1000, 1000, 1000, 1001};
static const uint32_t tetrahedron_faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

TEST(tetrahedron_is_closed)
{
    tml_mesh_stats s = examine(tetrahedron, 4, tetrahedron_faces, 4);
    CHECK_EQ_U64(s.components, 1);
    CHECK_EQ_U64(s.boundary_edges, 0);
    CHECK_EQ_U64(s.nonmanifold_edges, 0);
    CHECK_EQ_I64(s.euler, 2);
    CHECK_NEAR(s.area, 1.5 + sqrt(3) / 2, 1e-12);
    CHECK_NEAR(s.volume, 1.0 / 6, 1e-12);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(s.lower[k], 1000, 0);
        CHECK_NEAR(s.upper[k], 1001, 0);
    }
}

TEST(open_and_twisted_edges)
{
    tml_mesh_stats s = examine(tetrahedron, 4, tetrahedron_faces, 3); /* one face is missing */
    CHECK_EQ_U64(s.boundary_edges, 3);
    CHECK_EQ_U64(s.nonmanifold_edges, 0);
    CHECK_EQ_I64(s.euler, 1);
    CHECK(isnan(s.volume)); /* it would depend on the apex */
    CHECK_NEAR(s.area, 1.5, 1e-12);
    static const uint32_t twisted[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 3, 2}; /* one face turned */
    s = examine(tetrahedron, 4, twisted, 4);
    CHECK_EQ_U64(s.boundary_edges, 0);
    CHECK_EQ_U64(s.nonmanifold_edges, 3);
    CHECK_EQ_U64(s.misoriented_edges, 3);
    CHECK_EQ_I64(s.euler, 2);
    CHECK(isnan(s.volume));
    static const uint32_t fins[] = {0, 1, 2, 1, 0, 3, 0, 1, 3}; /* three at the edge 0 1 */
    s = examine(tetrahedron, 4, fins, 3);
    CHECK_EQ_U64(s.nonmanifold_edges, 1);
    CHECK_EQ_U64(s.misoriented_edges, 0);
    CHECK_EQ_U64(s.boundary_edges, 2);
    CHECK(isnan(s.volume));
    /* Two on the same edge enclose as much as they do apart. */
    static const float bow[] = {0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0};
    static const uint32_t bow_faces[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2,
                                         0, 1, 4, 0, 4, 5, 0, 5, 1, 1, 5, 4};
    s = examine(bow, 6, bow_faces, 8);
    CHECK_EQ_U64(s.nonmanifold_edges, 1);
    CHECK_EQ_U64(s.misoriented_edges, 0);
    CHECK_NEAR(fabs(s.volume), 1.0 / 3, 1e-12);
}

/* What welding by place flattens is neither a face nor has it edges, and a closed mesh stays
 * closed. */
TEST(flattened_triangles_do_not_count)
{
    static const uint32_t flattened[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 1, 1, 2, 3, 3, 3};
    tml_mesh_stats s = examine(tetrahedron, 4, flattened, 6);
    CHECK_EQ_U64(s.boundary_edges, 0);
    CHECK_EQ_U64(s.nonmanifold_edges, 0);
    CHECK_EQ_U64(s.degenerate_triangles, 2);
    CHECK_EQ_I64(s.euler, 2);
    CHECK_NEAR(s.volume, 1.0 / 6, 1e-12);
    static const float line[] = {0, 0, 0, 1, 1, 1, 3, 3, 3}; /* three on a line have edges */
    static const uint32_t corners[] = {0, 1, 2};
    s = examine(line, 3, corners, 1);
    CHECK_EQ_U64(s.degenerate_triangles, 1);
    CHECK_EQ_U64(s.boundary_edges, 3);
}

TEST(components_share_vertices)
{
    static const uint32_t indices[] = {0, 1, 2, 3, 4, 5, 5, 6, 7, 9, 8, 0};
    static const float positions[3 * 12] = {0}; /* 10 and 11 are in no triangle */
    tml_mesh_stats s = examine(positions, 12, indices, 4);
    CHECK_EQ_U64(s.components, 2);
    CHECK_EQ_U64(s.boundary_edges, 12);
    CHECK_EQ_I64(s.euler, 10 - 12 + 4);
}

TEST(edges_to_themselves_are_none)
{
    static const uint32_t indices[] = {0, 0, 1, 2, 2, 2};
    tml_mesh_stats s = examine(tetrahedron, 4, indices, 2);
    CHECK_EQ_U64(s.components, 2);
    CHECK_EQ_U64(s.boundary_edges, 0);
    CHECK_EQ_I64(s.euler, 3); /* nor are their triangles faces */
}

/* The hub of a large fan lies in a bin too long for the short sort. */
TEST(fan_of_many)
{
    enum { SPOKES = 1000 };
    static float positions[3 * (SPOKES + 1)];
    static uint32_t indices[3 * SPOKES];
    for (uint32_t i = 0; i < SPOKES; i++) {
        positions[3 * (i + 1)] = cosf((float)i * 6.2831853f / SPOKES);
        positions[3 * (i + 1) + 1] = sinf((float)i * 6.2831853f / SPOKES);
        indices[3 * i + 1] = i + 1;
        indices[3 * i + 2] = (i + 1) % SPOKES + 1;
    }
    tml_mesh_stats s = examine(positions, SPOKES + 1, indices, SPOKES);
    CHECK_EQ_U64(s.components, 1);
    CHECK_EQ_U64(s.boundary_edges, SPOKES);
    CHECK_EQ_U64(s.nonmanifold_edges, 0);
    CHECK_EQ_I64(s.euler, 1);
    CHECK_NEAR(s.area, 3.14159265, 1e-4);
}

/* Triangles among the vertices of short stretches, so that there are many components and some
 * vertices that nothing uses; more of them than a task takes. */
enum { CROWD_TRIANGLES = 300000, CROWD_VERTICES = 400000, CROWD_STRETCH = 700 };

static void make_crowd(float *positions, uint32_t *indices)
{
    random_state = 11;
    for (uint64_t i = 0; i < 3 * CROWD_VERTICES; i++)
        positions[i] = (float)random_below(1000);
    for (uint64_t t = 0; t < CROWD_TRIANGLES; t++) {
        uint64_t first = random_below(CROWD_VERTICES / CROWD_STRETCH) * CROWD_STRETCH;
        uint64_t width = first / CROWD_STRETCH % 50 ? 40 : CROWD_STRETCH; /* some are larger */
        for (uint64_t k = 0; k < 3; k++)
            indices[3 * t + k] = (uint32_t)(first + random_below(width));
    }
}

static uint32_t plain_root(const uint32_t *parents, uint32_t v)
{
    while (parents[v] != v)
        v = parents[v];
    return v;
}

/* The smallest vertex of each vertex's component, and how many components of used vertices. */
static uint64_t plain_components(const uint32_t *indices, uint32_t *roots, uint64_t *used_count)
{
    uint8_t *used = calloc(CROWD_VERTICES, 1);
    uint64_t count = 0;
    for (uint32_t v = 0; v < CROWD_VERTICES; v++)
        roots[v] = v;
    for (uint64_t i = 0; i < 3 * CROWD_TRIANGLES; i++) {
        uint32_t a = plain_root(roots, indices[i]), b = plain_root(roots, indices[i / 3 * 3]);
        roots[a > b ? a : b] = a > b ? b : a;
        used[indices[i]] = 1;
    }
    *used_count = 0;
    for (uint32_t v = 0; v < CROWD_VERTICES; v++) {
        roots[v] = plain_root(roots, v);
        count += used[v] && roots[v] == v;
        *used_count += used[v];
    }
    free(used);
    return count;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

TEST(any_number_of_threads_counts_the_same)
{
    float *positions = malloc(3 * CROWD_VERTICES * sizeof *positions);
    uint32_t *indices = malloc(3 * CROWD_TRIANGLES * sizeof *indices);
    uint32_t *roots = malloc(CROWD_VERTICES * sizeof *roots);
    uint64_t *edges = malloc(3 * CROWD_TRIANGLES * sizeof *edges), edge_count = 0, used;
    make_crowd(positions, indices);
    uint64_t components = plain_components(indices, roots, &used), boundary = 0, distinct = 0;
    uint64_t faces = 0;
    for (uint64_t i = 0; i < 3 * CROWD_TRIANGLES; i++) {
        const uint32_t *corners = indices + i / 3 * 3;
        uint64_t a = indices[i], b = indices[i % 3 == 2 ? i - 2 : i + 1];
        const bool is_face =
            corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0];
        faces += is_face && i % 3 == 0;
        if (is_face)
            edges[edge_count++] = (a < b ? a : b) << 32 | (a < b ? b : a);
    }
    qsort(edges, edge_count, sizeof *edges, compare_u64);
    for (uint64_t i = 0, end; i < edge_count; i = end, distinct++) {
        for (end = i; end < edge_count && edges[end] == edges[i];)
            end++;
        boundary += end - i == 1;
    }
    tml_mesh_stats first = {0};
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        tml_context *tml = open_cpu(threads);
        tml_buffer v = buffer_of(tml, TML_VEC(TML_F32, 3), CROWD_VERTICES, positions);
        tml_buffer i = buffer_of(tml, TML_VEC(TML_U32, 3), CROWD_TRIANGLES, indices);
        tml_mesh_stats stats = {0};
        CHECK_OK(tml, examine_buffers(tml, v, i, false, &stats));
        CHECK_EQ_U64(stats.components, components);
        CHECK_EQ_U64(stats.boundary_edges, boundary);
        CHECK_EQ_I64(stats.euler, (int64_t)(used + faces) - (int64_t)distinct);
        if (threads == 1)
            first = stats;
        CHECK(memcmp(&first, &stats, sizeof stats) == 0);
        /* The first wrong index is told, whichever task finds one first. */
        uint32_t last = indices[3 * CROWD_TRIANGLES - 1], middle = indices[400000];
        indices[3 * CROWD_TRIANGLES - 1] = indices[400000] = CROWD_VERTICES;
        tml_buffer wrong = buffer_of(tml, TML_VEC(TML_U32, 3), CROWD_TRIANGLES, indices);
        CHECK_STATUS(examine_buffers(tml, v, wrong, false, &stats), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "corner 1 of triangle 133333 is vertex 400000,") != NULL);
        indices[3 * CROWD_TRIANGLES - 1] = last;
        indices[400000] = middle;
        tml_close(tml);
    }
    free(positions);
    free(indices);
    free(roots);
    free(edges);
}

TEST(empty_mesh)
{
    tml_mesh_stats s = examine(NULL, 0, NULL, 0);
    static const tml_mesh_stats none;
    CHECK(memcmp(&s, &none, sizeof s) == 0);
    s = examine(tetrahedron, 4, NULL, 0);
    CHECK(memcmp(&s, &none, sizeof s) == 0);
}

TEST(examine_refuses_bad_meshes)
{
    static const uint32_t indices[] = {0, 1, 2, 0, 1, 4};
    tml_context *tml = open_cpu(2);
    tml_buffer v = buffer_of(tml, TML_VEC(TML_F32, 3), 4, tetrahedron);
    tml_buffer i = buffer_of(tml, TML_VEC(TML_U32, 3), 2, indices);
    tml_mesh_stats s = {.components = 77};
    CHECK_STATUS(examine_buffers(tml, v, i, false, &s), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "triangle 1 ") && strstr(tml_last_error(tml), "vertex 4"));
    CHECK_EQ_U64(s.components, 77);
    CHECK_STATUS(examine_buffers(tml, v, v, false, &s), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(examine_buffers(tml, i, i, false, &s), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(examine_buffers(tml, v, (tml_buffer){0}, false, &s), TML_ERROR_INVALID_HANDLE);
    CHECK_STATUS(examine_buffers(tml, v, i, false, NULL), TML_ERROR_INVALID_ARGUMENT);
    tml_buffer none = buffer_of(tml, TML_VEC(TML_F32, 3), 0, NULL);
    CHECK_STATUS(examine_buffers(tml, none, i, false, &s), TML_ERROR_INVALID_ARGUMENT);
    tml_cancel(tml);
    tml_buffer_destroy(tml, i);
    i = buffer_of(tml, TML_VEC(TML_U32, 3), 1, indices);
    CHECK_STATUS(examine_buffers(tml, v, i, false, &s), TML_ERROR_CANCELLED);
    tml_close(tml);
}

/* ---- clean-up ------------------------------------------------------------------------------- */

/* A random mesh with many degenerate triangles and components, in parts. */
typedef struct sample_mesh {
    tml_mesh arrays;
    tml_mesh_attribute attribute; /* carried */
    float *positions, *normals, *values, *carried;
    void *indices;
    tml_mesh_part parts[8];
} sample_mesh;

/* reach: vertices among which a triangle's are, further up for each triangle; 0: all of the
 * part's. */
static sample_mesh *make_sample(uint64_t triangles, uint32_t part_count, bool indices64,
                                uint64_t reach)
{
    sample_mesh *m = calloc(1, sizeof *m);
    uint64_t per_part = 2 * triangles + 3, total = part_count * per_part;
    m->positions = malloc((3 * total + 1) * sizeof(float));
    m->normals = malloc((3 * total + 1) * sizeof(float));
    m->values = malloc((total + 1) * sizeof(float));
    m->carried = malloc((2 * total + 1) * sizeof(float));
    for (uint64_t v = 0; v < total; v++) {
        for (uint64_t k = 0; k < 3; k++) {
            m->positions[3 * v + k] = (float)random_below(3);
            if (m->positions[3 * v + k] == 0 && random_below(2))
                m->positions[3 * v + k] = -0.0f;
            m->normals[3 * v + k] = (float)(3 * v + k);
        }
        m->values[v] = m->carried[2 * v] = (float)v;
        m->carried[2 * v + 1] = -(float)v;
    }
    m->indices = malloc(3 * part_count * triangles * 8 + 1);
    for (uint32_t p = 0; p < part_count; p++) {
        m->parts[p] = (tml_mesh_part){p, p * per_part, per_part, p * triangles, triangles, 0};
        for (uint64_t i = 0; i < 3 * triangles; i++) {
            uint64_t place = 3 * p * triangles + i, first = reach ? i / 3 : 0;
            uint64_t vertex = p * per_part + first + random_below(reach ? reach : per_part);
            if (indices64)
                ((uint64_t *)m->indices)[place] = vertex;
            else
                ((uint32_t *)m->indices)[place] = (uint32_t)vertex;
        }
    }
    m->attribute = (tml_mesh_attribute){"carried", 2, m->carried};
    m->arrays = (tml_mesh){.positions = m->positions,
                           .normals = m->normals,
                           .values = m->values,
                           .attributes = &m->attribute,
                           .attribute_count = 1,
                           .indices = m->indices,
                           .indices64 = indices64,
                           .vertex_count = total,
                           .triangle_count = part_count * triangles,
                           .parts = m->parts,
                           .part_count = part_count};
    return m;
}

static void free_sample(sample_mesh *m)
{
    free(m->positions);
    free(m->normals);
    free(m->values);
    free(m->carried);
    free(m->indices);
    free(m);
}

static bool equal_places(const tml_mesh *m, uint64_t a, uint64_t b)
{
    for (uint64_t k = 0; k < 3; k++)
        if (m->positions[3 * a + k] != m->positions[3 * b + k])
            return false;
    return true;
}

/* Plain filter: what is left, as original vertex numbers. Labels are spread until nothing
 * changes. */
static uint64_t *filter_plainly(const tml_mesh *m, bool largest, bool drop, bool *kept,
                                uint64_t *components)
{
    uint64_t corners = 3 * m->triangle_count;
    uint64_t *vertex = malloc(corners * sizeof *vertex + 1);
    for (uint64_t i = 0; i < corners; i++)
        vertex[i] = mesh_index(m->indices, m->indices64, i);
    for (uint64_t t = 0; t < m->triangle_count; t++)
        kept[t] = true;
    for (bool is_changing = drop; is_changing;) {
        is_changing = false;
        for (uint64_t i = 0; i < corners; i++) {
            uint64_t a = vertex[i], b = vertex[i % 3 == 2 ? i - 2 : i + 1];
            if (!equal_places(m, a, b))
                continue;
            kept[i / 3] = false;
            uint64_t low = a < b ? a : b, high = a < b ? b : a;
            for (uint64_t j = 0; j < corners && a != b; j++)
                if (vertex[j] == high) {
                    vertex[j] = low;
                    is_changing = true;
                }
        }
    }
    uint64_t *label = malloc(m->triangle_count * sizeof *label + 1);
    for (uint64_t t = 0; t < m->triangle_count; t++)
        label[t] = t;
    for (uint32_t p = 0; p < m->part_count; p++) {
        uint64_t first = m->parts[p].triangle_first, end = first + m->parts[p].triangle_count;
        for (bool is_changing = true; is_changing;) {
            is_changing = false;
            for (uint64_t i = 3 * first; i < 3 * end; i++)
                for (uint64_t j = 3 * first; j < i; j++) {
                    if (label[i / 3] == label[j / 3] || !kept[i / 3] || !kept[j / 3])
                        continue;
                    if (vertex[i] != vertex[j])
                        continue;
                    uint64_t *higher = label[i / 3] > label[j / 3] ? &label[i / 3] : &label[j / 3];
                    *higher = label[i / 3] < label[j / 3] ? label[i / 3] : label[j / 3];
                    is_changing = true;
                }
        }
        uint64_t best = UINT64_MAX, best_size = 0;
        for (uint64_t t = first; t < end && largest; t++) {
            uint64_t size = 0;
            for (uint64_t u = first; u < end; u++)
                size += kept[u] && label[u] == t;
            if (size > best_size) {
                best = t;
                best_size = size;
            }
        }
        for (uint64_t t = first; t < end; t++)
            kept[t] = kept[t] && (!largest || label[t] == best);
    }
    *components = 0;
    for (uint64_t t = 0; t < m->triangle_count; t++)
        *components += kept[t] && label[t] == t;
    free(label);
    return vertex;
}

static void count_calls(void *user)
{
    ++*(uint64_t *)user;
}

/* The filtered mesh must be the plainly filtered one, its vertices renumbered in order. */
static void check_filter(tml_context *tml, uint64_t triangles, uint32_t parts, int option)
{
    bool largest = option & 1, drop = option & 2, indices64 = option & 4, counts = option & 16;
    const uint64_t reach = option & 8 ? 5 : 0;
    random_state = triangles * 64 + parts;
    sample_mesh *m = make_sample(triangles, parts, indices64, reach);
    random_state = triangles * 64 + parts;
    sample_mesh *original = make_sample(triangles, parts, indices64, reach);
    uint64_t before = m->arrays.triangle_count, components, counted = 0, released = 0;
    bool *kept = malloc(before + 1);
    uint64_t *vertex = filter_plainly(&original->arrays, largest, drop, kept, &components);
    m->arrays.release_pages = count_calls;
    m->arrays.user = &released;
    CHECK_OK(tml, mesh_filter_by(tml, &m->arrays, NULL, largest, drop, option & 32 ? 64 : 1 << 18,
                                 counts ? &counted : NULL));
    CHECK_EQ_U64(counted, counts ? components : 0);
    CHECK((released > 0) == (before && (largest || drop || counts)));

    uint64_t *number = malloc(original->arrays.vertex_count * sizeof *number + 1), next = 0;
    bool is_same = true, is_any_gone = memchr(kept, 0, before) != NULL;
    for (uint64_t v = 0; v < original->arrays.vertex_count; v++) {
        bool is_used = !is_any_gone;
        for (uint64_t i = 0; i < 3 * before && !is_used; i++)
            is_used = kept[i / 3] && vertex[i] == v;
        number[v] = is_used ? next++ : UINT64_MAX;
        if (!is_used || next > m->arrays.vertex_count)
            continue;
        is_same &= memcmp(m->positions + 3 * number[v], original->positions + 3 * v, 12) == 0;
        is_same &= memcmp(m->normals + 3 * number[v], original->normals + 3 * v, 12) == 0;
        is_same &= m->values[number[v]] == original->values[v];
        is_same &= memcmp(m->carried + 2 * number[v], original->carried + 2 * v, 8) == 0;
    }
    CHECK(is_same);
    CHECK_EQ_U64(m->arrays.vertex_count, next);
    uint64_t t = 0, first_vertex = 0;
    for (uint32_t p = 0; p < parts; p++) {
        const tml_mesh_part *was = &original->parts[p], *is = &m->parts[p];
        uint64_t start = t;
        CHECK_EQ_U64(is->triangle_first, t);
        CHECK_EQ_U64(is->vertex_first, first_vertex);
        for (uint64_t u = was->triangle_first; u < was->triangle_first + was->triangle_count; u++) {
            if (!kept[u])
                continue;
            for (uint64_t k = 0; k < 3; k++) {
                uint64_t now = mesh_index(m->indices, indices64, 3 * t + k);
                is_same &= now == number[vertex[3 * u + k]];
            }
            t++;
        }
        CHECK_EQ_U64(is->triangle_count, t - start);
        first_vertex += is->vertex_count;
    }
    CHECK_EQ_U64(m->arrays.triangle_count, t);
    CHECK_EQ_U64(m->arrays.vertex_count, first_vertex);
    if (!CHECK(is_same))
        test_fail(__FILE__, __LINE__, "triangles=%d parts=%u option=%d", (int)triangles, parts,
                  option);
    free(number);
    free(vertex);
    free(kept);
    free_sample(m);
    free_sample(original);
}

TEST(filter_is_the_plain_filter)
{
    static const uint64_t sizes[] = {0, 1, 2, 5, 31, 63, 64, 65, 97, 131};
    tml_context *tml = open_cpu(2);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t parts = 1; parts <= 4; parts += 3)
            for (int option = 0; option < 64; option++)
                check_filter(tml, sizes[i], parts, option);
    tml_close(tml);
}

/* Enough triangles for several parallel tasks: a long strip, every third triangle flat. */
TEST(filter_of_a_long_strip)
{
    enum { TRIANGLES = 300000 };
    tml_context *tml = open_cpu(2);
    float *positions = malloc(3 * (TRIANGLES + 2) * sizeof *positions);
    uint32_t *indices = malloc(3 * TRIANGLES * sizeof *indices);
    uint64_t x = 0, good = 0;
    for (uint32_t v = 0; v < TRIANGLES + 2; v++) {
        x += v % 3 != 2; /* every third vertex stands where the one before stands */
        positions[3 * v] = (float)x;
        positions[3 * v + 1] = (float)(x % 2);
        positions[3 * v + 2] = 0;
    }
    for (uint32_t t = 0; t < TRIANGLES; t++) {
        for (uint32_t k = 0; k < 3; k++)
            indices[3 * t + k] = t + k;
        good += t % 3 == 2;
    }
    tml_mesh mesh = {.positions = positions,
                     .indices = indices,
                     .vertex_count = TRIANGLES + 2,
                     .triangle_count = TRIANGLES};
    CHECK_OK(tml, tml_mesh_clean(tml, &mesh, true, true, NULL));
    CHECK_EQ_U64(mesh.triangle_count, good);
    CHECK_EQ_U64(mesh.vertex_count, 2 * good + 1); /* chained by their merged corners */
    for (uint64_t t = 0; t < mesh.triangle_count; t++)
        for (uint64_t k = 0; k < 3; k++)
            if (!CHECK_EQ_U64(indices[3 * t + k], 2 * t + k))
                t = mesh.triangle_count - 1;
    free(positions);
    free(indices);
    tml_close(tml);
}

/* The public call checks what the surface program knows of its own meshes. */
/* The component with the most triangles, of equals that of the first triangle. */
TEST(any_number_of_threads_keeps_the_same_component)
{
    float *positions = malloc(3 * CROWD_VERTICES * sizeof *positions);
    uint32_t *indices = malloc(3 * CROWD_TRIANGLES * sizeof *indices);
    uint32_t *kept = malloc(3 * CROWD_TRIANGLES * sizeof *kept);
    uint32_t *roots = malloc(CROWD_VERTICES * sizeof *roots);
    uint32_t *sizes = calloc(CROWD_VERTICES, sizeof *sizes);
    uint64_t used, best = 0, count = 0;
    make_crowd(positions, indices);
    plain_components(indices, roots, &used);
    for (uint64_t t = 0; t < CROWD_TRIANGLES; t++)
        sizes[roots[indices[3 * t]]]++;
    for (uint64_t t = 1; t < CROWD_TRIANGLES; t++)
        if (sizes[roots[indices[3 * t]]] > sizes[roots[indices[3 * best]]])
            best = t;
    for (uint64_t t = 0; t < CROWD_TRIANGLES; t++)
        if (roots[indices[3 * t]] == roots[indices[3 * best]])
            memcpy(kept + 3 * count++, indices + 3 * t, 3 * sizeof *kept);
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        tml_context *tml = open_cpu(threads);
        float *places = malloc(3 * CROWD_VERTICES * sizeof *places);
        uint32_t *corners = malloc(3 * CROWD_TRIANGLES * sizeof *corners);
        memcpy(places, positions, 3 * CROWD_VERTICES * sizeof *places);
        memcpy(corners, indices, 3 * CROWD_TRIANGLES * sizeof *corners);
        tml_mesh mesh = {.positions = places,
                         .indices = corners,
                         .vertex_count = CROWD_VERTICES,
                         .triangle_count = CROWD_TRIANGLES};
        CHECK_OK(tml, tml_mesh_clean(tml, &mesh, true, false, NULL));
        CHECK_EQ_U64(mesh.triangle_count, count);
        bool is_same = mesh.triangle_count == count;
        for (uint64_t i = 0; i < 3 * count && is_same; i++)
            is_same = memcmp(places + 3 * (uint64_t)corners[i], positions + 3 * (uint64_t)kept[i],
                             3 * sizeof *places) == 0;
        CHECK(is_same);
        free(places);
        free(corners);
        tml_close(tml);
    }
    free(positions);
    free(indices);
    free(kept);
    free(roots);
    free(sizes);
}

TEST(clean_refuses_bad_meshes)
{
    tml_context *tml = open_cpu(1);
    sample_mesh *m = make_sample(20, 3, false, 0);
    const tml_mesh good = m->arrays;
    tml_mesh_part parts[3], *second = &parts[1];
    memcpy(parts, m->parts, sizeof parts);
    uint32_t *indices = m->indices, kept = indices[65];
    m->arrays.parts = parts;
#define BAD(change, word)                                                                          \
    do {                                                                                           \
        change;                                                                                    \
        CHECK_STATUS(tml_mesh_clean(tml, &m->arrays, true, true, NULL),                            \
                     TML_ERROR_INVALID_ARGUMENT);                                                  \
        CHECK(strstr(tml_last_error(tml), "tml_mesh_clean: mesh." word) != NULL);                  \
        memcpy(parts, m->parts, sizeof parts);                                                     \
        m->arrays = good;                                                                          \
        m->arrays.parts = parts;                                                                   \
        indices[65] = kept;                                                                        \
    } while (0)
    BAD(second->vertex_first++, "parts[1]");
    BAD(second->triangle_first--, "parts[1]");
    BAD(second->vertex_count = UINT64_MAX, "parts[1]");
    BAD(parts[2].triangle_count++, "parts[2]");
    BAD(parts[2].triangle_count--, "parts have");
    BAD(m->arrays.part_count = 0, "parts have");
    BAD(m->arrays.quads = true, "quads");
    BAD(m->arrays.indices = NULL, "indices");
    BAD(indices[65] = UINT32_MAX, "indices: corner 2 of triangle 21");
    BAD(indices[65] = 0, "indices: corner 2 of triangle 21"); /* a vertex of another part */
#undef BAD
    CHECK_OK(tml, tml_mesh_clean(tml, &m->arrays, true, true, NULL));
    CHECK(m->arrays.triangle_count > 0 && m->arrays.triangle_count < 60);
    free_sample(m);
    tml_close(tml);
}

/* Without parts the mesh is one; what triangles and vertices have goes with them. */
TEST(clean_keeps_all_of_a_mesh)
{
    float positions[] = {9, 9, 9, 9, 8, 9, 8, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    uint32_t indices[] = {0, 1, 2, 3, 4, 5, 4, 6, 5}, uv_indices[] = {7, 7, 7, 0, 1, 2, 1, 3, 2};
    float uvs[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
    uint16_t labels[] = {1, 2, 3, 4, 5, 6};
    tml_context *tml = open_cpu(1);
    tml_mesh mesh = {.positions = positions,
                     .indices = indices,
                     .vertex_count = 7,
                     .triangle_count = 3,
                     .uvs = uvs,
                     .uv_count = 7,
                     .face_labels = labels,
                     .face_label_type = TML_U16},
             other = mesh;
    uint64_t components;
    other.face_labels = other.uvs = NULL;
    CHECK_OK(tml, tml_mesh_clean(tml, &mesh, true, false, &components));
    CHECK(components == 1 && mesh.vertex_count == 4 && mesh.uv_count == 4 && !mesh.parts);
    CHECK(labels[0] == 3 && labels[3] == 6 && uvs[0] == 3 && uvs[7] == 6 && indices[0] == 0);
    other.triangle_count = 2;
    other.vertex_count = other.uv_count = 4;
    other.uvs = uvs;
    other.uv_indices = uv_indices + 3;
    indices[2] = indices[1]; /* the first triangle goes, and the vertices of it alone */
    CHECK_OK(tml, tml_mesh_clean(tml, &other, false, true, NULL));
    CHECK(other.triangle_count == 1 && other.vertex_count == 3 && other.uv_count == 4);
    CHECK(uv_indices[3] == 1 && uv_indices[4] == 3 && uv_indices[5] == 2);
    tml_close(tml);
}

TEST(filter_can_be_cancelled)
{
    tml_context *tml = open_cpu(2);
    sample_mesh *m = make_sample(40, 2, false, 0);
    tml_cancel(tml);
    CHECK_STATUS(mesh_filter(tml, &m->arrays, NULL, true, true, NULL), TML_ERROR_CANCELLED);
    free_sample(m);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
