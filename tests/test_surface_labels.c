/* Surface nets of labels against what is found sample by sample: every face once, smoothing in
 * doubles over the quads' own edges, meshes that are closed for each label; the same bytes for any
 * threads and engine. */
#include "test.h"

#include "contexts.h"
#include "low_bytes.h"

#include <trommel/trommel.h>
#include <trommel/volumes.h>

#include "core/simd.h"

/* ---- volumes --------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t bound)
{
    return test_random(&random_state) % bound;
}

typedef struct volume {
    uint64_t dims[3];
    tml_type type;
    uint64_t *labels; /* widened */
} volume;

static uint64_t volume_count(const volume *v)
{
    return v->dims[0] * v->dims[1] * v->dims[2];
}

static uint64_t label_at(const volume *v, uint64_t x, uint64_t y, uint64_t z)
{
    return v->labels[x + v->dims[0] * (y + v->dims[1] * z)];
}

/* Blobs of a few samples along each axis, of kinds labels from least on. */
static volume random_volume(uint64_t nx, uint64_t ny, uint64_t nz, tml_type type, uint64_t kinds,
                            uint64_t least)
{
    volume v = {.dims = {nx, ny, nz}, .type = type};
    const uint64_t side = 1 + random_below(3);
    v.labels = malloc((volume_count(&v) + 1) * sizeof *v.labels);
    for (uint64_t z = 0; z < nz; z++)
        for (uint64_t y = 0; y < ny; y++)
            for (uint64_t x = 0; x < nx; x++) {
                bool begins = x % side == 0 && y % side == 0 && z % side == 0;
                v.labels[x + nx * (y + ny * z)] =
                    begins ? least + random_below(kinds)
                           : label_at(&v, x / side * side, y / side * side, z / side * side);
            }
    return v;
}

/* With a layer of one label around it. */
static volume padded(const volume *v, uint64_t background)
{
    volume out = {.dims = {v->dims[0] + 2, v->dims[1] + 2, v->dims[2] + 2}, .type = v->type};
    out.labels = malloc(volume_count(&out) * sizeof *out.labels);
    for (uint64_t z = 0; z < out.dims[2]; z++)
        for (uint64_t y = 0; y < out.dims[1]; y++)
            for (uint64_t x = 0; x < out.dims[0]; x++) {
                bool inside = x - 1 < v->dims[0] && y - 1 < v->dims[1] && z - 1 < v->dims[2];
                out.labels[x + out.dims[0] * (y + out.dims[1] * z)] =
                    inside ? label_at(v, x - 1, y - 1, z - 1) : background;
            }
    return out;
}

static void *narrowed(const volume *v)
{
    const size_t size = tml_type_size(v->type);
    unsigned char *out = malloc(volume_count(v) * size + 1);
    for (uint64_t i = 0; i < volume_count(v); i++)
        put_low(out + i * size, v->labels[i], size);
    return out;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef struct mesh {
    uint64_t vertex_count, face_count, corners; /* of a face */
    float *positions;
    uint32_t *indices;
    uint64_t *labels; /* two a face, widened */
    tml_mesh_part *parts;
    uint64_t part_count;
    size_t scratch_size;
} mesh;

static uint64_t widened(tml_type type, const unsigned char *at)
{
    const size_t size = tml_type_size(type);
    uint64_t out = get_low(at, size);
    bool is_negative =
        size < 8 && (type == TML_I8 || type == TML_I16 || type == TML_I32) && out >> (8 * size - 1);
    return is_negative ? out | UINT64_MAX << 8 * size : out;
}

static mesh mesh_of(tml_context *tml, const volume *v, tml_surface_labels_desc desc)
{
    mesh out = {.corners = desc.quads ? 4 : 3};
    void *samples = narrowed(v);
    tml_surface_result result;
    memcpy(desc.grid.dims, v->dims, sizeof v->dims);
    desc.volume = buffer_of(tml, v->type, volume_count(v), samples);
    if (CHECK_OK(tml, tml_surface_labels(tml, &desc, &result))) {
        out.vertex_count = result.vertex_count;
        out.face_count = result.triangle_count;
        out.positions = fetch(tml, result.mesh.positions, out.vertex_count);
        out.indices = fetch(tml, result.mesh.indices, out.face_count);
        unsigned char *narrow = fetch(tml, result.face_labels, out.face_count);
        out.labels = malloc((2 * out.face_count + 1) * sizeof *out.labels);
        for (uint64_t i = 0; i < 2 * out.face_count; i++)
            out.labels[i] = widened(v->type, narrow + i * tml_type_size(v->type));
        free(narrow);
        out.scratch_size = result.scratch_size;
        out.part_count = result.part_count;
        out.parts = malloc((out.part_count + 1) * sizeof *out.parts);
        if (out.part_count)
            memcpy(out.parts, result.parts, out.part_count * sizeof *out.parts);
        CHECK_EQ_U64(result.owned, 1 | 8 | 32);
        tml_surface_free(tml, &result);
    }
    tml_buffer_destroy(tml, desc.volume);
    free(samples);
    return out;
}

static void mesh_free(mesh *m)
{
    free(m->positions);
    free(m->indices);
    free(m->labels);
    free(m->parts);
    *m = (mesh){.vertex_count = 0};
}

static bool meshes_are_same(const mesh *a, const mesh *b)
{
    return a->vertex_count == b->vertex_count && a->face_count == b->face_count &&
           memcmp(a->positions, b->positions, a->vertex_count * 12) == 0 &&
           memcmp(a->indices, b->indices, a->face_count * a->corners * 4) == 0 &&
           memcmp(a->labels, b->labels, 2 * a->face_count * sizeof *a->labels) == 0;
}

/* ---- every face once ------------------------------------------------------------------------- */

/* An edge between samples with four cells around it: the faces that there must be. */
static uint64_t count_edges(const volume *v)
{
    uint64_t count = 0;
    for (uint64_t z = 0; z < v->dims[2]; z++)
        for (uint64_t y = 0; y < v->dims[1]; y++)
            for (uint64_t x = 0; x < v->dims[0]; x++)
                for (int a = 0; a < 3; a++) {
                    const uint64_t at[3] = {x, y, z},
                                   to[3] = {x + (a == 0), y + (a == 1), z + (a == 2)};
                    bool has_cells = to[a] < v->dims[a];
                    for (int b = 0; b < 3; b++)
                        has_cells = has_cells && (a == b || (at[b] > 0 && at[b] + 1 < v->dims[b]));
                    count += has_cells && label_at(v, x, y, z) != label_at(v, to[0], to[1], to[2]);
                }
    return count;
}

static void check_vertices(const mesh *m)
{
    bool *used = calloc(m->vertex_count + 1, 1);
    for (uint64_t i = 0; i < m->corners * m->face_count; i++)
        if (CHECK(m->indices[i] < m->vertex_count))
            used[m->indices[i]] = true;
    for (uint64_t i = 0; i < m->vertex_count; i++) {
        const float *p = m->positions + 3 * i, *q = p - 3;
        CHECK(used[i]);
        for (int a = 0; a < 3; a++)
            CHECK(p[a] - floorf(p[a]) == 0.5f);
        CHECK(i == 0 || p[2] > q[2] ||
              (p[2] == q[2] && (p[1] > q[1] || (p[1] == q[1] && p[0] > q[0]))));
    }
    free(used);
}

/* Quads of a volume without smoothing. */
static void check_quads(const volume *v, const mesh *m, uint64_t background, bool is_signed)
{
    uint64_t last = 0;
    CHECK_EQ_U64(m->face_count, count_edges(v));
    for (uint64_t f = 0; f < m->face_count; f++) {
        const float *p[4];
        double middle[3] = {0}, normal[3];
        uint64_t low[3], high[3];
        int axis = -1;
        for (int k = 0; k < 4; k++)
            p[k] = m->positions + 3 * (uint64_t)m->indices[4 * f + (uint64_t)k];
        for (int a = 0; a < 3; a++) {
            for (int k = 0; k < 4; k++)
                middle[a] += 0.25 * (double)p[k][a];
            low[a] = high[a] = (uint64_t)middle[a];
            if (middle[a] != floor(middle[a])) {
                CHECK(axis < 0);
                axis = a;
                high[a]++;
            }
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            normal[a] = (double)((p[2][b] - p[0][b]) * (p[3][c] - p[1][c]) -
                                 (p[2][c] - p[0][c]) * (p[3][b] - p[1][b])) /
                        2;
        }
        if (!CHECK(axis >= 0))
            return;
        const uint64_t here =
            1 + (uint64_t)axis + 3 * (low[0] + v->dims[0] * (low[1] + v->dims[1] * low[2]));
        CHECK(here > last); /* so none is there twice */
        last = here;
        for (int a = 0; a < 3; a++)
            CHECK(fabs(normal[a]) == (a == axis));
        const uint64_t ends[2] = {label_at(v, low[0], low[1], low[2]),
                                  label_at(v, high[0], high[1], high[2])};
        const bool up = normal[axis] > 0;
        CHECK(ends[0] != ends[1]);
        CHECK_EQ_U64(m->labels[2 * f], ends[!up]);
        CHECK_EQ_U64(m->labels[2 * f + 1], ends[up]);
        const uint64_t first = ends[!up], second = ends[up];
        const bool smaller = is_signed ? (int64_t)first < (int64_t)second : first < second;
        CHECK(second == background || (first != background && smaller));
    }
}

/* Does each label's share of the faces have no border? Each side of a triangle is met by its
 * reverse. */
typedef struct side {
    uint64_t label;
    uint32_t low, high;
    int32_t way;
} side;

static int compare_sides(const void *left, const void *right)
{
    const side *a = left, *b = right;
    if (a->label != b->label)
        return a->label < b->label ? -1 : 1;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->high > b->high) - (a->high < b->high);
}

/* Of separate meshes, faces are of their first label alone. */
static void check_closed(const mesh *m)
{
    const uint64_t sides_of = m->part_count ? 1 : 2;
    const uint64_t count = sides_of * m->corners * m->face_count;
    side *sides = malloc((count + 1) * sizeof *sides);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t corner = i / sides_of, f = corner / m->corners;
        const uint32_t
            a = m->indices[corner],
            b = m->indices[corner % m->corners + 1 == m->corners ? f * m->corners : corner + 1];
        sides[i] = (side){m->labels[2 * f + i % sides_of], a < b ? a : b, a < b ? b : a,
                          (a < b) == (i % sides_of == 0) ? 1 : -1};
    }
    qsort(sides, count, sizeof *sides, compare_sides);
    for (uint64_t i = 0, next; i < count; i = next) {
        int32_t sum = 0;
        for (next = i; next < count && compare_sides(&sides[i], &sides[next]) == 0; next++)
            sum += sides[next].way;
        CHECK_EQ_I64(sum, 0);
    }
    free(sides);
}

TEST(each_pair_of_unlike_samples_has_one_face)
{
    static const struct {
        tml_type type;
        uint64_t kinds, least, background;
    } rows[] = {{TML_U8, 2, 0, 0},
                {TML_U8, 3, 1, 0},
                {TML_I8, 5, UINT64_C(0) - 3, UINT64_C(0) - 1},
                {TML_U16, 4, 65530, 65532},
                {TML_I16, 1000, UINT64_C(0) - 500, 0},
                {TML_U32, 3, UINT32_MAX - 2, 0},
                {TML_I32, 2, UINT64_C(0) - 1, 0},
                {TML_U64, 3, UINT64_C(1) << 63, UINT64_C(1) << 63},
                {TML_I64, 4, UINT64_C(1) << 63, 7},
                {TML_U64, 1000000, 1, 0},
                {TML_U8, 1, 4, 0}};
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < (TEST_IS_SLOW ? 200 : 1000); i++) {
        const uint64_t row = i % (sizeof rows / sizeof rows[0]);
        const bool is_signed = rows[row].type == TML_I8 || rows[row].type == TML_I16 ||
                               rows[row].type == TML_I32 || rows[row].type == TML_I64;
        volume v = random_volume(1 + random_below(8), 1 + random_below(8), 1 + random_below(8),
                                 rows[row].type, rows[row].kinds, rows[row].least);
        mesh quads = mesh_of(
            tml, &v, (tml_surface_labels_desc){.background = rows[row].background, .quads = true});
        check_vertices(&quads);
        check_quads(&v, &quads, rows[row].background, is_signed);
        volume around = padded(&v, rows[row].background);
        mesh whole =
            mesh_of(tml, &around,
                    (tml_surface_labels_desc){.background = rows[row].background, .quads = true});
        mesh caps = mesh_of(tml, &v,
                            (tml_surface_labels_desc){
                                .background = rows[row].background, .quads = true, .caps = true});
        check_vertices(&whole);
        check_quads(&around, &whole, rows[row].background, is_signed);
        check_closed(&caps);
        /* Caps are the layer around the samples, but for the places of its vertices. */
        for (uint64_t k = 0; k < 3 * whole.vertex_count; k++)
            whole.positions[k] =
                fminf(fmaxf(whole.positions[k] - 1, 0), (float)(v.dims[k % 3] - 1));
        CHECK(meshes_are_same(&whole, &caps));
        mesh_free(&quads);
        mesh_free(&whole);
        mesh_free(&caps);
        free(around.labels);
        free(v.labels);
    }
    tml_close(tml);
}

TEST(rows_of_any_length)
{
    static const uint64_t lengths[] = {62,  63,  64,  65,  126, 127, 128, 129,
                                       510, 511, 512, 513, 514, 575, 577, 1031};
    tml_context *tml = open_cpu(2);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int k = 0; k < 4; k++) {
            static const tml_type types[] = {TML_U8, TML_U16, TML_U32, TML_U64};
            volume v = random_volume(lengths[i], 3 + random_below(3), 3, types[k], 3, 0);
            mesh quads = mesh_of(tml, &v, (tml_surface_labels_desc){.quads = true});
            check_vertices(&quads);
            check_quads(&v, &quads, 0, false);
            volume around = padded(&v, 0);
            mesh whole = mesh_of(tml, &around, (tml_surface_labels_desc){.quads = true});
            mesh caps = mesh_of(tml, &v, (tml_surface_labels_desc){.quads = true, .caps = true});
            CHECK_EQ_U64(caps.face_count, whole.face_count);
            CHECK(memcmp(caps.indices, whole.indices, caps.face_count * 16) == 0);
            CHECK(memcmp(caps.labels, whole.labels, caps.face_count * 16) == 0);
            mesh_free(&quads);
            mesh_free(&whole);
            mesh_free(&caps);
            free(around.labels);
            free(v.labels);
        }
    tml_close(tml);
}

/* ---- smoothing ------------------------------------------------------------------------------- */

/* Moves vertices towards the means of those that the quads' edges join them to, and back, in
 * doubles. centers: of their cells; fixed: axes along which caps hold them. */
static void smooth_slowly(const mesh *quads, const double *centers, const bool *fixed,
                          uint32_t iterations, double relaxation, double bound, double *positions)
{
    const uint64_t n = quads->vertex_count;
    const double most = fmin(bound / 2, 0.5 - 1.0 / 1024); /* of a cell; they never meet */
    double *next = malloc((3 * n + 1) * sizeof *next);
    uint32_t(*near)[6] = malloc((n + 1) * sizeof *near);
    uint32_t *counts = calloc(n + 1, sizeof *counts);
    for (uint64_t i = 0; i < 4 * quads->face_count; i++) {
        const uint32_t ends[2] = {quads->indices[i], quads->indices[i % 4 == 3 ? i - 3 : i + 1]};
        for (int e = 0; e < 2; e++) {
            uint32_t k = 0;
            while (k < counts[ends[e]] && near[ends[e]][k] != ends[!e])
                k++;
            if (k == counts[ends[e]] && CHECK(k < 6))
                near[ends[e]][counts[ends[e]]++] = ends[!e];
        }
    }
    for (uint32_t t = 0; t < 2 * iterations; t++) {
        const double lambda =
            t / 2 % 2 ? fmin(1.8 * relaxation, 0.8 + 0.2 * relaxation) : fmin(relaxation, 0.5);
        const double rate = t % 2 ? 1 / (0.02 - 1 / lambda) : lambda;
        for (uint64_t i = 0; i < 3 * n; i++) {
            double mean = 0;
            for (uint32_t k = 0; k < counts[i / 3]; k++)
                mean += positions[3 * (uint64_t)near[i / 3][k] + i % 3] / counts[i / 3];
            next[i] = positions[i] + rate * (mean - positions[i]);
            next[i] = fmin(fmax(next[i], centers[i] - most), centers[i] + most);
            next[i] = fixed[i] ? positions[i] : next[i];
        }
        memcpy(positions, next, 3 * n * sizeof *next);
    }
    free(next);
    free(near);
    free(counts);
}

static void check_smoothing(tml_context *tml, const volume *v, tml_surface_labels_desc desc)
{
    const uint32_t iterations = desc.smooth;
    const double relaxation = desc.relaxation == 0 ? 0.5 : desc.relaxation,
                 bound = desc.bound == 0 ? 1 : desc.bound;
    desc.quads = true;
    mesh smooth = mesh_of(tml, v, desc);
    volume around = padded(v, desc.background);
    desc.smooth = 0;
    const bool caps = desc.caps;
    desc.caps = false;
    mesh cells = mesh_of(tml, caps ? &around : v, desc);
    const uint64_t n = 3 * cells.vertex_count;
    double *centers = malloc((n + 1) * sizeof *centers),
           *expected = malloc((n + 1) * sizeof *expected);
    bool *fixed = calloc(n + 1, 1);
    CHECK_EQ_U64(smooth.vertex_count, cells.vertex_count);
    for (uint64_t i = 0; i < n; i++) {
        const double most = (double)(v->dims[i % 3] - 1);
        centers[i] = (double)cells.positions[i] - caps;
        expected[i] = fmin(fmax(centers[i], 0), most);
        fixed[i] = caps && (centers[i] < 0 || centers[i] > most);
    }
    smooth_slowly(&cells, centers, fixed, iterations, relaxation, bound, expected);
    for (uint64_t i = 0; i < n && smooth.vertex_count == cells.vertex_count; i++) {
        /* Half a step of 2^-13 is lost in a move, and moves back make more of it. */
        CHECK_NEAR((double)smooth.positions[i], expected[i], 0.002);
        CHECK(fabs((double)smooth.positions[i] - centers[i]) <= (fixed[i] ? 1 : bound) / 2);
    }
    CHECK(memcmp(smooth.indices, cells.indices, 16 * cells.face_count) == 0);
    free(centers);
    free(expected);
    free(fixed);
    free(around.labels);
    mesh_free(&smooth);
    mesh_free(&cells);
}

TEST(smoothing_is_that_of_the_quads_edges)
{
    static const tml_surface_labels_desc rows[] = {{.smooth = 1},
                                                   {.smooth = 2, .relaxation = 1},
                                                   {.smooth = 3, .caps = true},
                                                   {.smooth = 16, .caps = true, .bound = 0.25},
                                                   {.smooth = 16},
                                                   {.smooth = 7, .relaxation = 0.125, .bound = 0.5},
                                                   {.smooth = 40, .caps = true},
                                                   {.smooth = 1, .caps = true, .relaxation = 1}};
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < 200; i++) {
        volume v = random_volume(1 + random_below(12), 1 + random_below(12), 1 + random_below(12),
                                 TML_U8, 1 + random_below(4), 0);
        check_smoothing(tml, &v, rows[i % (sizeof rows / sizeof rows[0])]);
        free(v.labels);
    }
    volume v = random_volume(140, 20, 9, TML_U16, 3, 0);
    check_smoothing(tml, &v, rows[4]);
    check_smoothing(tml, &v, rows[6]);
    free(v.labels);
    tml_close(tml);
}

/* Rows full of vertices beside rows that have few. */
TEST(smoothing_passes_any_number_of_vertices)
{
    static const uint64_t lengths[] = {64, 65, 66, 130, 401};
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < 60; i++) {
        const uint64_t n = lengths[i % 5];
        volume v = random_volume(n, 4 + random_below(5), 3 + random_below(4), TML_U8, 2, 0);
        for (uint64_t row = 0; row < v.dims[1] * v.dims[2]; row++) {
            const bool is_full = random_below(2);
            for (uint64_t x = 0; x < n; x++)
                v.labels[x + n * row] = is_full ? random_below(9) : random_below(70) == 0;
        }
        check_smoothing(tml, &v, (tml_surface_labels_desc){.smooth = 3, .caps = i & 1});
        free(v.labels);
    }
    tml_close(tml);
}

/* 3 bits a sample, 8 bytes a row, and 4.3 for each vertex of the layers that are smoothed at
 * once. */
TEST(smoothing_takes_little_memory)
{
    tml_context *tml = open_cpu(1);
    volume v = random_volume(512, 24, 24, TML_U16, 60000, 0);
    for (uint64_t i = 0; i < volume_count(&v); i++)
        v.labels[i] = random_below(60000);
    mesh m = mesh_of(tml, &v, (tml_surface_labels_desc){.smooth = 4});
    const double layer = (double)m.vertex_count / 23;
    CHECK(m.vertex_count > UINT64_C(500) * 22 * 22);
    CHECK((double)m.scratch_size <
          512 * 24 * 24 * 3.0 / 8 + 24 * 24 * 8 + 4.3 * 18 * layer + 196608);
    mesh_free(&m);
    free(v.labels);
    tml_close(tml);
}

/* Of the labels of a mesh with positions in samples: the volume in front of faces, signed. */
static double volume_of_label(const mesh *m, uint64_t label)
{
    double six = 0;
    for (uint64_t f = 0; f < m->face_count; f++) {
        const float *p[3];
        for (int k = 0; k < 3; k++)
            p[k] = m->positions + 3 * (uint64_t)m->indices[3 * f + (uint64_t)k];
        double product = 0;
        for (int k = 0; k < 3; k++)
            product += (double)p[0][k] * ((double)p[1][(k + 1) % 3] * (double)p[2][(k + 2) % 3] -
                                          (double)p[1][(k + 2) % 3] * (double)p[2][(k + 1) % 3]);
        six += m->labels[2 * f] == label ? product : m->labels[2 * f + 1] == label ? -product : 0;
    }
    return six / 6;
}

TEST(smoothing_keeps_the_volume_of_balls)
{
    static const struct {
        double radius, least;
    } rows[] = {{3, 0.95}, {5, 0.98}, {10, 0.99}, {20, 0.997}};
    static const uint32_t iterations[] = {1, 2, 3, 4, 8, 16, 30};
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t n = 2 * (uint64_t)rows[i].radius + 6;
        volume v = random_volume(n, n, n, TML_U8, 1, 0);
        double count = 0;
        for (uint64_t s = 0; s < n * n * n; s++) {
            const uint64_t at[3] = {s % n, s / n % n, s / (n * n)};
            double square = 0;
            for (int a = 0; a < 3; a++)
                square += pow((double)at[a] - (double)(n - 1) / 2 + 0.13, 2);
            v.labels[s] = square < rows[i].radius * rows[i].radius;
            count += (double)v.labels[s];
        }
        for (uint64_t k = 0; k < sizeof iterations / sizeof iterations[0]; k++) {
            mesh m = mesh_of(tml, &v, (tml_surface_labels_desc){.smooth = iterations[k]});
            const double part = volume_of_label(&m, 1) / count;
            if (!CHECK(part >= rows[i].least && part <= 2 - rows[i].least))
                printf("radius %g, smooth %u: %g of the volume\n", rows[i].radius, iterations[k],
                       part);
            mesh_free(&m);
        }
        free(v.labels);
    }
    tml_close(tml);
}

#ifdef TML_IO
static tml_volume volume_of_row(tml_type type, uint64_t count, void *samples)
{
    return (tml_volume){.data = samples,
                        .size = (size_t)count * tml_type_size(type),
                        .type = type,
                        .grid = {.dims = {count, 1, 1}},
                        .slope = 1};
}

TEST(labels_are_made_of_physical_values)
{
    tml_context *tml = open_cpu(2);
    tml_volume out;
    float floats[] = {0, 3, -7, 16777216};
    tml_volume v = volume_of_row(TML_F32, 4, floats);
    if (CHECK_OK(tml, tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out))) {
        CHECK(out.type == TML_I32 && out.slope == 1 && out.intercept == 0);
        for (int i = 0; i < 4; i++)
            CHECK(((int32_t *)out.data)[i] == (int32_t)floats[i]);
        tml_volume_free(tml, &out);
    }
    floats[2] = NAN;
    CHECK_EQ_U64(tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out), TML_ERROR_INVALID_ARGUMENT);
    CHECK(!out.data && strstr(tml_last_error(tml), "sample 2,0,0 is"));
    floats[2] = INFINITY;
    CHECK_EQ_U64(tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out), TML_ERROR_INVALID_ARGUMENT);
    double doubles[] = {0, 0x1p62, 0x1p63, 5};
    v = volume_of_row(TML_F64, 4, doubles);
    if (CHECK_OK(tml, tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out))) {
        CHECK(out.type == TML_U64 && ((uint64_t *)out.data)[2] == UINT64_C(1) << 63);
        tml_volume_free(tml, &out);
    }
    doubles[3] = -5;
    CHECK_EQ_U64(tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out), TML_ERROR_UNSUPPORTED);
    doubles[2] = 2;
    if (CHECK_OK(tml, tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out))) {
        CHECK(out.type == TML_I64 && ((int64_t *)out.data)[3] == -5);
        tml_volume_free(tml, &out);
    }
    int16_t shorts[] = {-32768, 2, 4, 7};
    v = volume_of_row(TML_I16, 4, shorts);
    v.slope = 2;
    v.intercept = -1;
    if (CHECK_OK(tml, tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out))) {
        CHECK(out.type == TML_I32 && ((int32_t *)out.data)[0] == -65537 &&
              ((int32_t *)out.data)[3] == 13);
        tml_volume_free(tml, &out);
    }
    uint64_t ids[] = {0, UINT64_MAX, 3, UINT64_C(720575940621234567)};
    v = volume_of_row(TML_U64, 4, ids);
    CHECK(tml_volume_has_labels(&v));
    if (CHECK_OK(tml, tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out))) {
        CHECK(out.type == TML_U64 && memcmp(out.data, ids, sizeof ids) == 0);
        tml_volume_free(tml, &out);
    }
    v.slope = 3;
    CHECK(!tml_volume_has_labels(&v));
    CHECK_EQ_U64(tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out), TML_ERROR_UNSUPPORTED);
    v.grid.dims[0] = 5;
    CHECK_EQ_U64(tml_volume_convert(tml, &v, TML_VALUES_LABELS, &out), TML_ERROR_INVALID_ARGUMENT);
    tml_close(tml);
}
#endif

#ifdef TML_IO
TEST(labels_are_looked_for)
{
    enum { COUNT = 70000 };
    tml_context *tml = open_cpu(1);
    bool is_there[3];
    uint64_t others[TML_LABELS_LISTED], count;
    int16_t shorts[9] = {5, 5, -3, -3, -3, 0, 8, 8, -3};
    const uint64_t wanted[3] = {(uint64_t)-3, 8, 9};
    tml_volume v = volume_of_row(TML_I16, 9, shorts);
    if (CHECK_OK(tml, tml_volume_find_labels(tml, &v, NULL, wanted, 3, is_there, others, &count)))
        CHECK(is_there[0] && is_there[1] && !is_there[2] && count == 1 && others[0] == 5);
    const tml_region region = {.first = {2}, .count = {4}};
    if (CHECK_OK(tml,
                 tml_volume_find_labels(tml, &v, &region, wanted, 3, is_there, others, &count)))
        CHECK(is_there[0] && !is_there[1] && !is_there[2] && count == 0);
    uint32_t *many = malloc(COUNT * sizeof *many);
    for (uint32_t i = 0; i < COUNT; i++)
        many[i] = COUNT - i;
    v = volume_of_row(TML_U32, COUNT, many);
    if (CHECK_OK(tml, tml_volume_find_labels(tml, &v, NULL, wanted, 0, NULL, others, &count)))
        CHECK(count == TML_LABELS_COUNTED + 1 && others[5] == COUNT - 5);
    free(many);
    v.slope = 2;
    CHECK_EQ_U64(tml_volume_find_labels(tml, &v, NULL, wanted, 1, is_there, others, &count),
                 TML_ERROR_INVALID_ARGUMENT);
    tml_close(tml);
}
#endif

/* A label's part says it exactly, of any size and sign. */
TEST(parts_have_their_labels_exactly)
{
    tml_context *tml = open_cpu(1);
    for (int s = 0; s < 2; s++) {
        int64_t samples[64];
        const int64_t labels[2] = {s ? -720575940621234568 : 720575940621234567,
                                   s ? -720575940621234567 : 720575940621234568};
        for (int i = 0; i < 64; i++)
            samples[i] = i == 21 || i == 22 ? labels[i - 21] : 0;
        tml_surface_desc desc = {.grid.dims = {4, 4, 4}, .all_labels = true};
        desc.volume = buffer_of(tml, s ? TML_I64 : TML_U64, 64, samples);
        tml_surface_result result;
        if (CHECK_OK(tml, tml_surface(tml, &desc, &result))) {
            CHECK_EQ_U64(result.part_count, 2);
            for (uint32_t p = 0; p < 2 && p < result.part_count; p++) {
                CHECK((int64_t)result.parts[p].label == labels[p]);
                CHECK(result.parts[p].value == (double)labels[p]);
            }
            tml_surface_free(tml, &result);
        }
        tml_buffer_destroy(tml, desc.volume);
    }
    tml_close(tml);
}

TEST(triangles_are_halves_of_quads_and_closed_by_label)
{
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < 60; i++) {
        volume v = random_volume(1 + random_below(9), 1 + random_below(9), 1 + random_below(9),
                                 TML_U32, 5, 0);
        tml_surface_labels_desc desc = {.smooth = (uint32_t)(i % 3 * 8), .caps = true};
        mesh triangles = mesh_of(tml, &v, desc);
        desc.quads = true;
        mesh quads = mesh_of(tml, &v, desc);
        check_closed(&triangles);
        check_closed(&quads);
        CHECK_EQ_U64(triangles.face_count, 2 * quads.face_count);
        for (uint64_t f = 0; f < quads.face_count; f++) {
            const uint32_t *q = quads.indices + 4 * f, *t = triangles.indices + 6 * f;
            const float *p[4];
            double across[2] = {0, 0};
            for (int k = 0; k < 4; k++)
                p[k] = quads.positions + 3 * (uint64_t)q[k];
            for (int k = 0; k < 6; k++)
                across[k % 2] += pow((double)p[k % 2][k / 2] - (double)p[k % 2 + 2][k / 2], 2);
            const int s = t[0] == q[1];
            CHECK(across[s] <= across[!s] * 1.002);
            for (int k = 0; k < 3; k++) {
                CHECK_EQ_U64(t[k], q[(s + k) % 4]);
                CHECK_EQ_U64(t[3 + k], q[(s + (k ? k + 1 : 0)) % 4]);
            }
            for (int k = 0; k < 4; k++)
                CHECK_EQ_U64(triangles.labels[4 * f + (uint64_t)k],
                             quads.labels[2 * f + (uint64_t)(k % 2)]);
        }
        mesh_free(&triangles);
        mesh_free(&quads);
        free(v.labels);
    }
    tml_close(tml);
}

/* ---- which faces ----------------------------------------------------------------------------- */

/* part must be the faces of whole that keep says, with the vertices that they use. */
static void check_share(const mesh *whole, const mesh *part, const bool *keep)
{
    uint32_t *number = calloc(whole->vertex_count + 1, sizeof *number), used = 0;
    uint64_t next = 0;
    for (uint64_t f = 0; f < whole->face_count; f++)
        for (uint64_t k = 0; k < whole->corners && keep[f]; k++)
            number[whole->indices[f * whole->corners + k]] = 1;
    for (uint64_t i = 0; i < whole->vertex_count; i++)
        if (number[i]) {
            number[i] = used;
            if (used < part->vertex_count)
                CHECK(memcmp(part->positions + 3 * (uint64_t)used, whole->positions + 3 * i, 12) ==
                      0);
            used++;
        }
    CHECK_EQ_U64(used, part->vertex_count);
    for (uint64_t f = 0; f < whole->face_count; f++) {
        if (!keep[f] || !CHECK(next < part->face_count))
            continue;
        for (uint64_t k = 0; k < whole->corners; k++)
            CHECK_EQ_U64(part->indices[next * whole->corners + k],
                         number[whole->indices[f * whole->corners + k]]);
        CHECK(memcmp(part->labels + 2 * next, whole->labels + 2 * f, 16) == 0);
        next++;
    }
    CHECK_EQ_U64(next, part->face_count);
    free(number);
}

TEST(some_faces_are_those_of_the_whole)
{
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < 80; i++) {
        const uint64_t pair[2] = {random_below(4), 4}, third = random_below(5);
        volume v = random_volume(3 + random_below(9), 3 + random_below(9), 3 + random_below(9),
                                 TML_I16, 5, 0);
        tml_surface_labels_desc desc = {.smooth = (uint32_t)(i % 2 * 5),
                                        .caps = i % 4 > 1,
                                        .background = third,
                                        .quads = i % 3 == 0};
        mesh whole = mesh_of(tml, &v, desc);
        bool *keep = calloc(whole.face_count + 1, 1);
        for (uint64_t f = 0; f < whole.face_count; f++)
            keep[f] = (whole.labels[2 * f] == pair[0] && whole.labels[2 * f + 1] == pair[1]) ||
                      (whole.labels[2 * f] == pair[1] && whole.labels[2 * f + 1] == pair[0]);
        desc.between = pair;
        mesh part = mesh_of(tml, &v, desc);
        check_share(&whole, &part, keep);
        mesh_free(&part);
        desc.between = NULL;
        desc.inner_only = true;
        for (uint64_t f = 0; f < whole.face_count; f++)
            keep[f] = whole.labels[2 * f] != third && whole.labels[2 * f + 1] != third;
        part = mesh_of(tml, &v, desc);
        check_share(&whole, &part, keep);
        mesh_free(&part);
        mesh_free(&whole);
        free(keep);
        free(v.labels);
    }
    tml_close(tml);
}

TEST(labels_that_are_not_chosen_are_background)
{
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < 60; i++) {
        const uint64_t least = i % 2 ? UINT64_C(0) - 3 : UINT64_C(1) << 62,
                       background = least + random_below(6);
        const uint64_t chosen[] = {least + 1, least + 3, least + 4};
        volume v = random_volume(1 + random_below(70), 1 + random_below(9), 1 + random_below(9),
                                 TML_I64, 6, least);
        const tml_surface_labels_desc desc = {.smooth = 2,
                                              .caps = i % 3 > 0,
                                              .background = background,
                                              .labels = chosen,
                                              .label_count = 3};
        mesh of_chosen = mesh_of(tml, &v, desc);
        for (uint64_t k = 0; k < volume_count(&v); k++)
            if (v.labels[k] != chosen[0] && v.labels[k] != chosen[1] && v.labels[k] != chosen[2])
                v.labels[k] = background;
        mesh expected = mesh_of(
            tml, &v,
            (tml_surface_labels_desc){.smooth = 2, .caps = i % 3 > 0, .background = background});
        CHECK(meshes_are_same(&of_chosen, &expected));
        mesh_free(&of_chosen);
        mesh_free(&expected);
        free(v.labels);
    }
    tml_close(tml);
}

/* ---- a mesh for each label ------------------------------------------------------------------- */

/* Half-edges by both vertices. */
typedef struct half_edge {
    uint32_t from, to, before; /* before: the corner before from, of the same face */
} half_edge;

static int compare_half_edges(const void *left, const void *right)
{
    const half_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Each half-edge once and its reverse once; the faces around a vertex are one ring. */
static void check_manifold(const mesh *m)
{
    const uint64_t count = m->corners * m->face_count;
    half_edge *edges = malloc((count + 1) * sizeof *edges);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t first = i / m->corners * m->corners, k = i - first;
        edges[i] = (half_edge){m->indices[i], m->indices[first + (k + 1) % m->corners],
                               m->indices[first + (k + m->corners - 1) % m->corners]};
    }
    qsort(edges, count, sizeof *edges, compare_half_edges);
    for (uint64_t i = 0; i < count; i++) {
        CHECK(i == 0 || compare_half_edges(&edges[i - 1], &edges[i]) < 0);
        const half_edge reverse = {edges[i].to, edges[i].from, 0};
        CHECK(bsearch(&reverse, edges, count, sizeof *edges, compare_half_edges) != NULL);
    }
    for (uint64_t i = 0, next; i < count; i = next) {
        uint64_t ring = 0;
        const half_edge *at = &edges[i];
        for (next = i; next < count && edges[next].from == edges[i].from;)
            next++;
        do { /* to the face on the other side of the edge before */
            const half_edge key = {at->from, at->before, 0};
            at = bsearch(&key, edges, count, sizeof *edges, compare_half_edges);
            ring++;
        } while (at && at != &edges[i] && ring <= next - i);
        CHECK_EQ_U64(ring, next - i);
    }
    free(edges);
}

/* Six times the volume that a label's faces enclose. */
static double six_volumes(const mesh *m, const tml_mesh_part *part)
{
    double sum = 0;
    for (uint64_t f = part->triangle_first; f < part->triangle_first + part->triangle_count; f++)
        for (uint64_t k = 1; k + 1 < m->corners; k++) {
            const uint32_t *face = m->indices + f * m->corners;
            const float *p = m->positions + 3 * (uint64_t)face[0],
                        *q = m->positions + 3 * (uint64_t)face[k],
                        *r = m->positions + 3 * (uint64_t)face[k + 1];
            for (int a = 0; a < 3; a++)
                sum += (double)p[a] * ((double)q[(a + 1) % 3] * (double)r[(a + 2) % 3] -
                                       (double)q[(a + 2) % 3] * (double)r[(a + 1) % 3]);
        }
    return sum;
}

static int compare_places(const void *a, const void *b)
{
    return memcmp(a, b, 12);
}

/* No two vertices of a label are at one place, so that it is a manifold without indices, too. */
static void check_places(const mesh *m)
{
    float *places = malloc(12 * (m->vertex_count + 1));
    for (uint64_t p = 0; p < m->part_count; p++) {
        const tml_mesh_part *part = &m->parts[p];
        memcpy(places, m->positions + 3 * part->vertex_first, 12 * part->vertex_count);
        qsort(places, part->vertex_count, 12, compare_places);
        for (uint64_t i = 1; i < part->vertex_count; i++)
            CHECK(memcmp(places + 3 * i, places + 3 * (i - 1), 12) != 0);
    }
    free(places);
}

/* Sheets of a manifold are moved apart by at most this much of a cell. */
static bool is_place(const float *a, const float *b, bool manifold)
{
    bool is_near = true;
    for (int c = 0; c < 3; c++)
        is_near = is_near && fabsf(a[c] - b[c]) <= 1.0f / 128;
    return manifold ? is_near : memcmp(a, b, 12) == 0;
}

/* The parts have the shared faces that have their label, at the same places, turned outwards. */
static void check_parts(const volume *v, const mesh *m, const mesh *shared, uint64_t background,
                        bool is_signed, bool manifold)
{
    uint64_t vertices = 0, faces = 0;
    bool *used = calloc(m->vertex_count + 1, 1);
    for (uint64_t p = 0; p < m->part_count; p++) {
        const tml_mesh_part *part = &m->parts[p];
        const bool ascends = p == 0 || (is_signed ? (int64_t)part[-1].label < (int64_t)part->label
                                                  : part[-1].label < part->label);
        uint64_t f = part->triangle_first;
        CHECK(ascends && part->label != background);
        CHECK_EQ_U64(part->vertex_first, vertices);
        CHECK_EQ_U64(part->triangle_first, faces);
        vertices += part->vertex_count;
        faces += part->triangle_count;
        for (uint64_t g = 0; g < shared->face_count; g++) {
            const bool is_second = shared->labels[2 * g] != part->label;
            if (is_second && shared->labels[2 * g + 1] != part->label)
                continue;
            if (!CHECK(f < faces))
                break;
            CHECK_EQ_U64(m->labels[2 * f], part->label);
            CHECK_EQ_U64(m->labels[2 * f + 1], shared->labels[2 * g + !is_second]);
            for (uint64_t k = 0; k < m->corners; k++) {
                const uint64_t n = m->corners;
                /* Of triangles the second half may begin elsewhere: any rotation. */
                bool is_found = false;
                const uint32_t vertex = m->indices[f * n + k];
                for (uint64_t r = 0; r < n && !is_found; r++) {
                    is_found = true;
                    for (uint64_t c = 0; c < n; c++) {
                        const uint32_t
                            a = m->indices[f * n + c],
                            b = shared->indices[g * n + (is_second ? r + n - c : r + c) % n];
                        is_found =
                            is_found && is_place(m->positions + 3 * (uint64_t)a,
                                                 shared->positions + 3 * (uint64_t)b, manifold);
                    }
                }
                CHECK(is_found || n == 3); /* halves may come in the other order */
                if (CHECK(vertex >= part->vertex_first && vertex < vertices))
                    used[vertex] = true;
            }
            f++;
        }
        CHECK_EQ_U64(f, faces);
    }
    CHECK_EQ_U64(vertices, m->vertex_count);
    CHECK_EQ_U64(faces, m->face_count);
    for (uint64_t i = 0; i < m->vertex_count; i++)
        CHECK(used[i]);
    /* Each label of the volume has one. */
    for (uint64_t i = 0; i < volume_count(v); i++) {
        bool is_there = v->labels[i] == background;
        for (uint64_t p = 0; p < m->part_count; p++)
            is_there = is_there || m->parts[p].label == v->labels[i];
        CHECK(is_there);
    }
    free(used);
}

TEST(each_label_alone_is_closed_and_a_manifold_on_request)
{
    tml_context *tml = open_cpu(3);
    uint64_t split = 0;
    for (uint64_t i = 0; i < (TEST_IS_SLOW ? 100 : 600); i++) {
        const bool is_signed = i % 2;
        const uint64_t least = is_signed ? UINT64_C(0) - 2 : UINT64_C(1) << 63,
                       background = least + random_below(4);
        volume v = random_volume(1 + random_below(6), 1 + random_below(6), 1 + random_below(6),
                                 is_signed ? TML_I32 : TML_U64, 1 + random_below(4), least);
        tml_surface_labels_desc desc = {.background = background,
                                        .caps = true,
                                        .quads = i % 3 > 0,
                                        .smooth = (uint32_t)(i % 5 * 5)};
        mesh shared = mesh_of(tml, &v, desc);
        desc.sharing = TML_LABELS_SEPARATE;
        mesh alone = mesh_of(tml, &v, desc);
        check_parts(&v, &alone, &shared, background, is_signed, false);
        check_closed(&alone);
        desc.sharing = TML_LABELS_MANIFOLD;
        mesh manifold = mesh_of(tml, &v, desc);
        check_parts(&v, &manifold, &shared, background, is_signed, true);
        check_manifold(&manifold);
        if (v.dims[0] > 1 && v.dims[1] > 1 && v.dims[2] > 1) /* else both caps are one plane */
            check_places(&manifold);
        CHECK(manifold.vertex_count >= alone.vertex_count);
        split += manifold.vertex_count - alone.vertex_count;
        volume around = padded(&v, background);
        desc.smooth = 0;
        desc.sharing = TML_LABELS_SEPARATE;
        mesh whole = mesh_of(tml, &around, desc);
        for (uint64_t p = 0; p < whole.part_count; p++) {
            double samples = 0;
            for (uint64_t k = 0; k < volume_count(&v); k++)
                samples += v.labels[k] == whole.parts[p].label;
            CHECK_NEAR(six_volumes(&whole, &whole.parts[p]), 6 * samples, 1e-6);
        }
        mesh_free(&shared);
        mesh_free(&alone);
        mesh_free(&manifold);
        mesh_free(&whole);
        free(around.labels);
        free(v.labels);
    }
    CHECK(split > 100);
    tml_close(tml);
}

/* A million labels from 2^63 on, each of one sample: a box of its own, and the sides of all
 * boxes. */
TEST(every_sample_is_another_label)
{
    enum { SIDE = TEST_IS_SLOW ? 12 : 100, COUNT = SIDE * SIDE * SIDE };
    tml_context *tml = open_cpu(2);
    uint64_t *samples = malloc(COUNT * sizeof *samples);
    for (uint64_t i = 0; i < COUNT; i++)
        samples[i] = (UINT64_C(1) << 63) + i * 7919 % COUNT * 1000003;
    tml_surface_labels_desc desc = {.volume = buffer_of(tml, TML_U64, COUNT, samples),
                                    .grid.dims = {SIDE, SIDE, SIDE},
                                    .caps = true,
                                    .smooth = 2,
                                    .quads = true};
    tml_surface_result result;
    if (CHECK_OK(tml, tml_surface_labels(tml, &desc, &result))) {
        CHECK_EQ_U64(result.vertex_count, (SIDE + 1) * (SIDE + 1) * (SIDE + 1));
        CHECK_EQ_U64(result.triangle_count, 3 * SIDE * SIDE * (SIDE + 1));
        tml_surface_free(tml, &result);
    }
    desc.sharing = TML_LABELS_MANIFOLD;
    if (CHECK_OK(tml, tml_surface_labels(tml, &desc, &result))) {
        CHECK_EQ_U64(result.part_count, COUNT);
        for (uint64_t p = 0; p < result.part_count; p++)
            if (!CHECK(result.parts[p].label == (UINT64_C(1) << 63) + p * 1000003) ||
                !CHECK(result.parts[p].vertex_count == 8 && result.parts[p].triangle_count == 6))
                break;
        tml_surface_free(tml, &result);
    }
    tml_buffer_destroy(tml, desc.volume);
    free(samples);
    tml_close(tml);
}

/* ---- the same bytes -------------------------------------------------------------------------- */

TEST(threads_types_and_levels_give_the_same_bytes)
{
    static const tml_type types[] = {TML_U8,  TML_I8,  TML_U16, TML_I16,
                                     TML_U32, TML_I32, TML_U64, TML_I64};
    volume v = random_volume(TEST_IS_SLOW ? 70 : 150, 41, TEST_IS_SLOW ? 19 : 37, TML_U8, 4, 0);
    const tml_surface_labels_desc desc = {.smooth = TEST_IS_SLOW ? 4 : 11, .caps = true};
    tml_context *tml = open_cpu(1);
    mesh expected = mesh_of(tml, &v, desc);
    CHECK(expected.face_count > 1000);
    const tml_surface_labels_desc alone = {.smooth = 3, .sharing = TML_LABELS_MANIFOLD};
    mesh expected_alone = mesh_of(tml, &v, alone);
    for (int level = 0; level < TML_SIMD_LEVELS; level++)
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            if (!test_takes(k + (uint64_t)level, 4))
                continue;
            tml_simd_force((tml_simd)level);
            v.type = types[k];
            mesh other = mesh_of(tml, &v, desc);
            CHECK(meshes_are_same(&expected, &other));
            mesh_free(&other);
        }
    tml_simd_force(TML_SIMD_LEVELS - 1);
    tml_close(tml);
    static const uint32_t threads[] = {2, 3, 7, 16};
    for (size_t i = 0; i < 4; i++) {
        tml = open_cpu(threads[i]);
        mesh other = mesh_of(tml, &v, desc);
        CHECK(meshes_are_same(&expected, &other));
        mesh_free(&other);
        other = mesh_of(tml, &v, alone);
        CHECK(meshes_are_same(&expected_alone, &other));
        mesh_free(&other);
        tml_close(tml);
    }
    mesh_free(&expected);
    mesh_free(&expected_alone);
    free(v.labels);
}

/* Meshes of both contexts, byte for byte, of volumes in turn at each choice that a desc has. */
static void check_choices(tml_context *tml, tml_context *host)
{
    static const struct {
        tml_type type;
        uint64_t kinds, least;
    } labels[] = {{TML_U8, 4, 0},
                  {TML_I8, 5, (uint64_t)-2},
                  {TML_U16, 3, 65530},
                  {TML_I16, 4, (uint64_t)-3},
                  {TML_U32, 1 << 30, 0},
                  {TML_I32, 6, (uint64_t)-1},
                  {TML_U64, 5, (uint64_t)1 << 63},
                  {TML_I64, 4, (uint64_t)1 << 63},
                  {TML_U8, 1, 7}};
    static const uint64_t lengths[] = {2, 3, 16, 29, 30, 31, 32, 33, 34, 61, 63, 64, 65, 96, 97};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
    for (uint64_t i = 0; i < 9 * LENGTHS; i++) {
        const uint64_t least = labels[i % 9].least;
        volume v = random_volume(lengths[i % LENGTHS], 2 + random_below(9), 2 + random_below(9),
                                 labels[i % 9].type, labels[i % 9].kinds, least);
        const uint64_t chosen[] = {least, least + 2, least + 3}, pair[] = {least + 1, least};
        tml_surface_labels_desc desc = {.caps = i % 2 == 0,
                                        .quads = i % 3 == 0,
                                        .smooth = (uint32_t)(i % 5),
                                        .background = i % 7 ? 0 : least + 1,
                                        .inner_only = i % 11 == 0,
                                        .between = i % 13 == 0 ? pair : NULL};
        if (i % 4 == 0) {
            desc.labels = chosen;
            desc.label_count = 3;
        }
        if (i % 6 == 1)
            desc.relaxation = 0.83, desc.bound = 0.4;
        if (i % 6 == 2)
            for (int a = 0; a < 3; a++) {
                desc.region.first[a] = random_below(v.dims[a] - 1);
                desc.region.count[a] = 1 + random_below(v.dims[a] - desc.region.first[a]);
            }
        if (i % 6 > 3)
            desc.grid = (tml_grid){.spacing = {0.7, 0.3, 2.9},
                                   .origin = {100.1, -7, 1e-3},
                                   .direction = {0, 1, 0, 0.6, 0, i % 12 > 6 ? 0.8 : 0, 0, 0, 1}};
        mesh expected = mesh_of(host, &v, desc), other = mesh_of(tml, &v, desc);
        if (!CHECK(meshes_are_same(&expected, &other)))
            fprintf(stderr, "choice %d\n", (int)i);
        mesh_free(&expected);
        mesh_free(&other);
        free(v.labels);
    }
}

/* Outputs of the caller's are written as far as the mesh goes: an odd number of faces, with labels
 * of a byte, of a volume that stays on the host. Smaller ones are refused, with the counts. */
static void check_given(tml_context *tml)
{
    enum { MORE = 5 };
    const uint8_t samples[4 * 4 * 3] = {[4 * 4 + 5] = 1, [4 * 4 + 6] = 2};
    tml_surface_labels_desc desc = {.grid = {.dims = {4, 4, 3}}, .quads = true};
    tml_surface_result counts, result;
    CHECK_OK(tml, tml_buffer_create(tml,
                                    &(tml_buffer_desc){.type = TML_U8,
                                                       .count = sizeof samples,
                                                       .host = (void *)(uintptr_t)samples},
                                    &desc.volume));
    desc.mesh.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 1, NULL);
    CHECK_STATUS(tml_surface_labels(tml, &desc, &counts), TML_ERROR_CAPACITY);
    CHECK_EQ_U64(counts.triangle_count, 11);
    CHECK_EQ_U64(counts.vertex_count, 12);
    tml_buffer_destroy(tml, desc.mesh.positions);
    uint8_t before[2 * (11 + MORE)], after[sizeof before];
    memset(before, 0xab, sizeof before);
    desc.mesh.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 12, NULL);
    desc.mesh.indices = buffer_of(tml, TML_VEC(TML_U32, 4), 11 + MORE, NULL);
    desc.face_labels = buffer_of(tml, TML_VEC(TML_U8, 2), 11 + MORE, before);
    CHECK_OK(tml, tml_surface_labels(tml, &desc, &result));
    CHECK_EQ_U64(result.owned, 0);
    CHECK_OK(tml, tml_buffer_read(tml, desc.face_labels, after));
    for (int i = 0; i < 22; i++)
        CHECK(after[i] < 3 && after[i] != after[i ^ 1]);
    for (int i = 22; i < 22 + 2 * MORE; i++)
        CHECK_EQ_U64(after[i], 0xab);
    tml_buffer_destroy(tml, desc.volume);
    tml_buffer_destroy(tml, desc.mesh.positions);
    tml_buffer_destroy(tml, desc.mesh.indices);
    tml_buffer_destroy(tml, desc.face_labels);
    tml_surface_free(tml, &result);
}

static void check_engine(tml_engine_kind engine)
{
    tml_context *tml = NULL, *host = open_cpu(2);
    if (tml_open(&(tml_open_desc){.engine = engine}, &tml) != TML_OK) {
        tml_close(host);
        SKIP("no such device");
    }
    check_given(host);
    check_given(tml);
    check_choices(tml, host);
    tml_close(tml);
    tml_close(host);
}
TEST(vulkan_gives_the_same_bytes)
{
    check_engine(TML_ENGINE_VULKAN);
}
TEST(opengl_gives_the_same_bytes)
{
    check_engine(TML_ENGINE_GL);
}

/* ---- grids and regions ----------------------------------------------------------------------- */

TEST(grids_place_and_mirrors_keep_the_outside)
{
    tml_context *tml = open_cpu(2);
    volume v = random_volume(9, 7, 6, TML_U8, 3, 0);
    tml_surface_labels_desc desc = {.smooth = 3, .quads = true};
    mesh plain = mesh_of(tml, &v, desc);
    desc.grid = (tml_grid){
        .spacing = {0.5, 2, 3}, .origin = {1000, -20, 5}, .direction = {0, 1, 0, 1, 0, 0, 0, 0, 1}};
    desc.position_origin[0] = 990;
    mesh placed = mesh_of(tml, &v, desc);
    CHECK_EQ_U64(placed.vertex_count, plain.vertex_count);
    for (uint64_t i = 0; i < plain.vertex_count; i++) {
        const float *p = plain.positions + 3 * i, *q = placed.positions + 3 * i;
        CHECK_NEAR(q[0], 10 + 2 * p[1], 1e-5);
        CHECK_NEAR(q[1], -20 + 0.5f * p[0], 1e-5);
        CHECK_NEAR(q[2], 5 + 3 * p[2], 1e-5);
    }
    for (uint64_t f = 0; f < plain.face_count;
         f++) /* mirrored: the other way round, by the same diagonal */
        for (uint64_t k = 0; k < 4; k++)
            CHECK_EQ_U64(placed.indices[4 * f + k], plain.indices[4 * f + (4 - k) % 4]);
    CHECK(memcmp(placed.labels, plain.labels, 16 * plain.face_count) == 0);
    mesh_free(&plain);
    mesh_free(&placed);
    free(v.labels);
    tml_close(tml);
}

TEST(a_region_is_a_volume)
{
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < 40; i++) {
        volume v = random_volume(3 + random_below(80), 3 + random_below(9), 3 + random_below(9),
                                 TML_U16, 3, 0),
               cut = {.type = TML_U16};
        tml_region region;
        for (int a = 0; a < 3; a++) {
            region.first[a] = random_below(v.dims[a]);
            region.count[a] = cut.dims[a] = 1 + random_below(v.dims[a] - region.first[a]);
        }
        cut.labels = malloc(volume_count(&cut) * sizeof *cut.labels);
        for (uint64_t k = 0; k < volume_count(&cut); k++)
            cut.labels[k] = label_at(&v, region.first[0] + k % cut.dims[0],
                                     region.first[1] + k / cut.dims[0] % cut.dims[1],
                                     region.first[2] + k / cut.dims[0] / cut.dims[1]);
        tml_surface_labels_desc desc = {.smooth = 3, .caps = i % 2, .region = region};
        mesh part = mesh_of(tml, &v, desc);
        desc.region = (tml_region){.count = {0}};
        for (int a = 0; a < 3; a++)
            desc.grid.origin[a] = (double)region.first[a];
        mesh alone = mesh_of(tml, &cut, desc);
        CHECK(meshes_are_same(&part, &alone));
        mesh_free(&part);
        mesh_free(&alone);
        free(cut.labels);
        free(v.labels);
    }
    tml_close(tml);
}

/* ---- in slabs -------------------------------------------------------------------------------- */

/* What comes in pieces, into the whole's memory. */
typedef struct pieces {
    const volume *v;
    const unsigned char *samples;
    mesh *out; /* with room for the whole */
    mesh room;
    uint64_t next; /* layer that is asked for */
    bool maps, is_good;
    bool reads_well; /* by another thread */
} pieces;

static tml_status give_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              void *out)
{
    pieces *p = user;
    const uint64_t layer = p->v->dims[0] * p->v->dims[1] * tml_type_size(p->v->type);
    p->reads_well = p->reads_well && source == TML_SURFACE_VOLUME && first >= p->next &&
                    first + count <= p->v->dims[2];
    p->next = first + count;
    memcpy(out, p->samples + first * layer, count * layer);
    return TML_OK;
}

static tml_status map_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                             const void **out)
{
    pieces *p = user;
    const uint64_t layer = p->v->dims[0] * p->v->dims[1] * tml_type_size(p->v->type);
    p->reads_well = p->reads_well && source == TML_SURFACE_VOLUME && first + count <= p->v->dims[2];
    *out = p->samples + first * layer;
    return TML_OK;
}

static tml_status take_piece(void *user, const tml_surface_piece *piece)
{
    pieces *p = user;
    mesh *m = p->out;
    const size_t size = tml_type_size(p->v->type);
    p->is_good = p->is_good && piece->index == 0 && piece->part.vertex_first == m->vertex_count &&
                 piece->part.triangle_first == m->face_count &&
                 m->vertex_count + piece->mesh.vertex_count <= p->room.vertex_count &&
                 m->face_count + piece->mesh.triangle_count <= p->room.face_count &&
                 !piece->mesh.indices64;
    if (!p->is_good)
        return TML_ERROR_INTERNAL;
    memcpy(m->positions + 3 * m->vertex_count, piece->mesh.positions,
           piece->mesh.vertex_count * 12);
    p->is_good = piece->mesh.quads == (m->corners == 4);
    if (piece->mesh.triangle_count)
        memcpy(m->indices + m->corners * m->face_count, piece->mesh.indices,
               piece->mesh.triangle_count * m->corners * 4);
    for (uint64_t i = 0; i < 2 * piece->mesh.triangle_count; i++)
        m->labels[2 * m->face_count + i] =
            widened(p->v->type, (const unsigned char *)piece->mesh.face_labels + i * size);
    m->vertex_count += piece->mesh.vertex_count;
    m->face_count += piece->mesh.triangle_count;
    return TML_OK;
}

/* The mesh in slabs of so many layers (0: as memory allows), in shares of so many (0: one), against
 * the whole one. */
static bool check_slabs(tml_context *tml, const volume *v, tml_surface_labels_desc desc,
                        const mesh *whole, uint64_t share, uint64_t layers, uint64_t memory,
                        bool maps)
{
    mesh out = {.corners = whole->corners,
                .positions = malloc(whole->vertex_count * 12 + 1),
                .indices = malloc(whole->face_count * 16 + 1),
                .labels = malloc(whole->face_count * 16 + 1)};
    void *samples = narrowed(v);
    const uint64_t first = desc.region.first[2];
    const uint64_t count = desc.region.count[2] ? desc.region.count[2] : v->dims[2] - first;
    uint64_t components = 0, *below = NULL, below_count = 0;
    bool is_good = true;
    share = share ? share : count;
    memcpy(desc.grid.dims, v->dims, sizeof v->dims);
    for (uint64_t z = 0; z < count && is_good; z += share) {
        pieces p = {.v = v,
                    .samples = samples,
                    .out = &out,
                    .room = *whole,
                    .is_good = true,
                    .reads_well = true};
        const tml_mesh_part before = {.vertex_count = out.vertex_count,
                                      .triangle_count = out.face_count};
        const uint64_t part = share < count - z ? share : count - z;
        tml_surface_result result, counted;
        tml_surface_slabs_desc slabs = {.boundaries = &desc,
                                        .type = v->type,
                                        .read = maps ? NULL : give_layers,
                                        .map = maps ? map_layers : NULL,
                                        .user = &p,
                                        .slab_layers = layers,
                                        .memory = memory,
                                        .layer_first = share < count ? first + z : 0,
                                        .layer_count = share < count ? part : 0,
                                        .before = &before};
        is_good = CHECK_OK(tml, tml_surface_slabs(tml, &slabs, &counted));
        p.next = 0;
        slabs.write = take_piece;
        slabs.components = !desc.quads;
        is_good = is_good && CHECK_OK(tml, tml_surface_slabs(tml, &slabs, &result)) &&
                  CHECK(p.is_good && p.reads_well) && CHECK_EQ_U64(result.part_count, 1) &&
                  CHECK_EQ_U64(result.vertex_count, out.vertex_count - before.vertex_count) &&
                  CHECK_EQ_U64(result.triangle_count, out.face_count - before.triangle_count) &&
                  CHECK_EQ_U64(counted.vertex_count, result.vertex_count) &&
                  CHECK_EQ_U64(counted.triangle_count, result.triangle_count);
        if (is_good) {
            components += result.components;
            if (result.seams) {
                tml_surface_seam *seam = &result.seams[0];
                CHECK_OK(tml, tml_surface_join(tml, seam, below, below_count, &components));
                free(below);
                below_count = seam->above_count;
                below = malloc(below_count * sizeof *below + 1);
                if (below_count)
                    memcpy(below, seam->sets + seam->below_count, below_count * sizeof *below);
            }
            tml_surface_free(tml, &result);
            tml_surface_free(tml, &counted);
        }
    }
    is_good = is_good && CHECK(meshes_are_same(&out, whole));
    if (is_good && whole->face_count && !desc.quads) {
        const tml_mesh_buffers buffers = {
            .positions = buffer_of(tml, TML_VEC(TML_F32, 3), whole->vertex_count, whole->positions),
            .indices = buffer_of(tml, TML_VEC(TML_U32, 3), whole->face_count, whole->indices)};
        tml_mesh_stats stats;
        CHECK_OK(tml, tml_mesh_examine(tml, &buffers, true, &stats));
        is_good = CHECK_EQ_U64(components, stats.components);
        tml_buffer_destroy(tml, buffers.positions);
        tml_buffer_destroy(tml, buffers.indices);
    }
    free(below);
    free(samples);
    mesh_free(&out);
    return is_good;
}

TEST(slabs_are_the_whole)
{
    static const uint32_t smooth[] = {0, 1, 2, 5, 16};
    static const tml_type types[] = {TML_U8, TML_I16, TML_U32, TML_I64};
    tml_context *tml = open_cpu(2);
    for (uint64_t i = 0; i < (TEST_IS_SLOW ? 20 : 60); i++) {
        const uint64_t chosen[2] = {1, 3}, pair[2] = {0, 2};
        volume v = random_volume(1 + random_below(70), 1 + random_below(9), 1 + random_below(30),
                                 types[i % 4], i % 7 ? 4 : 1000, 0);
        tml_surface_labels_desc desc = {.smooth = smooth[i % 5], .caps = i % 3 > 0};
        if (i % 5 == 1) {
            desc.labels = chosen;
            desc.label_count = 2;
        }
        if (i % 5 == 2)
            desc.between = pair;
        desc.inner_only = i % 7 == 3;
        desc.quads = i % 6 == 5;
        if (i % 4 == 1) {
            desc.region.first[2] = random_below(v.dims[2]);
            desc.region.count[2] = 1 + random_below(v.dims[2] - desc.region.first[2]);
        }
        mesh whole = mesh_of(tml, &v, desc);
        for (int k = 0; k < 6; k++) {
            const uint64_t layers = k < 4 ? (uint64_t)k : 1 + random_below(31);
            const uint64_t share = k % 2 ? 1 + random_below(v.dims[2]) : 0;
            if (!check_slabs(tml, &v, desc, &whole, share, layers, k % 3 ? 0 : 1 << 14, k % 4 > 1))
                test_fail(__FILE__, __LINE__,
                          "case %" PRIu64 ", %" PRIu64 " layers in shares of %" PRIu64, i, layers,
                          share);
        }
        mesh_free(&whole);
        free(v.labels);
    }
    tml_close(tml);
}

TEST(slabs_refuse_what_they_cannot_do)
{
    tml_context *tml = open_cpu(1);
    volume v = random_volume(3, 3, 3, TML_U8, 2, 0);
    void *samples = narrowed(&v);
    pieces p = {.v = &v, .samples = samples, .is_good = true, .reads_well = true};
    const tml_surface_desc surface = {.grid = {.dims = {3, 3, 3}}};
    const tml_buffer out = buffer_of(tml, TML_VEC(TML_F32, 3), 9, NULL);
    const uint64_t same[2] = {1, 1};
#define NET(...)   (&(const tml_surface_labels_desc){.grid = {.dims = {3, 3, 3}}, __VA_ARGS__})
#define SLABS(...) ((tml_surface_slabs_desc){.read = give_layers, .user = &p, __VA_ARGS__})
    const tml_surface_slabs_desc bad[] = {
        SLABS(.type = TML_U8, .boundaries = NET(.sharing = TML_LABELS_SEPARATE)),
        SLABS(.type = TML_U8, .components = true, .boundaries = NET(.quads = true)),
        SLABS(.type = TML_U8, .boundaries = NET(.mesh.positions = out)),
        SLABS(.type = TML_U8, .boundaries = NET(.between = same)),
        SLABS(.type = TML_U8, .boundaries = NET(.bound = NAN)),
        SLABS(.type = TML_U8, .boundaries = NET(.smooth = 1001)),
        SLABS(.type = TML_F32, .boundaries = NET(.smooth = 1)),
        SLABS(.boundaries = NET(.smooth = 1)),
        SLABS(.type = TML_U8, .has_mask = true, .boundaries = NET(.smooth = 1)),
        SLABS(.type = TML_U8, .attribute_type = TML_U8, .boundaries = NET(.smooth = 1)),
        SLABS(.type = TML_U8, .surface = &surface, .boundaries = NET(.smooth = 1)),
        SLABS(.type = TML_U8)};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tml_surface_result result;
        const tml_status status = tml_surface_slabs(tml, &bad[i], &result);
        CHECK(status == TML_ERROR_INVALID_ARGUMENT || status == TML_ERROR_UNSUPPORTED);
        CHECK(result.part_count == 0 && strstr(tml_last_error(tml), "tml_surface") != NULL);
    }
    tml_buffer_destroy(tml, out);
    free(samples);
    free(v.labels);
    tml_close(tml);
}

/* ---- what is refused ------------------------------------------------------------------------- */

TEST(what_is_wrong_is_refused)
{
    tml_context *tml = open_cpu(1);
    const uint64_t same[2] = {3, 3}, descending[2] = {5, 4}, large[2] = {1, 256};
    tml_buffer bytes = buffer_of(tml, TML_U8, 27, NULL), floats = buffer_of(tml, TML_F32, 27, NULL);
    tml_buffer narrow = buffer_of(tml, TML_VEC(TML_U16, 2), 100, NULL),
               small = buffer_of(tml, TML_VEC(TML_F32, 3), 1, NULL);
    const tml_grid grid = {.dims = {3, 3, 3}};
#define BAD(...)                                                                                   \
    {                                                                                              \
        .volume = bytes, .grid = grid, __VA_ARGS__                                                 \
    }
    const tml_surface_labels_desc bad[] = {
        {.grid = grid},
        {.volume = floats, .grid = grid},
        {.volume = bytes},
        {.volume = bytes, .grid.dims = {3, 3, 4}},
        {.volume = bytes, .grid.dims = {3, 0, 3}},
        {.volume = bytes, .grid = {.dims = {3, 3, 3}, .spacing = {1, -1, 1}}},
        BAD(.bound = NAN),
        BAD(.bound = 1.01),
        BAD(.bound = -0.5),
        BAD(.bound = INFINITY),
        BAD(.relaxation = NAN),
        BAD(.relaxation = 1.5),
        BAD(.smooth = 1001),
        BAD(.background = 256),
        BAD(.labels = same, .label_count = 2),
        BAD(.labels = descending, .label_count = 2),
        BAD(.labels = large, .label_count = 2),
        BAD(.labels = large),
        BAD(.label_count = 2),
        BAD(.between = same),
        BAD(.sharing = (tml_labels_sharing)3),
        BAD(.sharing = TML_LABELS_SEPARATE, .inner_only = true),
        BAD(.sharing = TML_LABELS_SEPARATE, .between = large),
        BAD(.between = large),
        BAD(.region.first = {3, 0, 0}),
        BAD(.position_origin = {NAN, 0, 0}),
        BAD(.face_labels = narrow),
        BAD(.mesh.positions = bytes)};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tml_surface_result result = {.vertex_count = 5};
        const tml_status status = tml_surface_labels(tml, &bad[i], &result);
        if (!CHECK(status == TML_ERROR_INVALID_ARGUMENT || status == TML_ERROR_INVALID_HANDLE))
            printf("  row %zu: %s\n", i, tml_status_name(status));
        CHECK(strstr(tml_last_error(tml), "tml_surface_labels") != NULL);
        CHECK_EQ_U64(result.vertex_count, 0);
    }
    uint8_t samples[27] = {[13] = 1};
    CHECK_OK(tml, tml_buffer_write(tml, bytes, 0, 27, samples));
    tml_surface_result result;
    const tml_surface_labels_desc short_of_room = BAD(.mesh.positions = small);
    CHECK_STATUS(tml_surface_labels(tml, &short_of_room, &result), TML_ERROR_CAPACITY);
    CHECK_EQ_U64(result.vertex_count, 8);
    CHECK_EQ_U64(result.triangle_count, 12);
    CHECK_EQ_U64(result.owned, 0);
    tml_close(tml);
}

static bool stop_at(void *user, const char *stage, double fraction)
{
    (void)stage;
    (void)fraction;
    return --*(int *)user > 0;
}

TEST(cancelled_calls_leave_nothing)
{
    int calls = 1 << 20;
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .threads = 2,
                                             .progress = stop_at,
                                             .progress_user = &calls},
                            &tml));
    volume v = random_volume(20, 20, 40, TML_U8, 3, 0);
    void *samples = narrowed(&v);
    const tml_surface_labels_desc desc = {.volume =
                                              buffer_of(tml, TML_U8, volume_count(&v), samples),
                                          .grid.dims = {20, 20, 40},
                                          .smooth = 3};
    tml_surface_result result;
    if (!CHECK_OK(tml, tml_surface_labels(tml, &desc, &result)))
        return;
    tml_surface_free(tml, &result);
    const int most = (1 << 20) - calls;
    for (int i = 1; i <= most; i++) {
        calls = i;
        CHECK_STATUS(tml_surface_labels(tml, &desc, &result), TML_ERROR_CANCELLED);
        CHECK_EQ_U64(result.owned, 0);
    }
    calls = 1 << 20;
    CHECK_OK(tml, tml_surface_labels(tml, &desc, &result));
    tml_surface_free(tml, &result);
    free(samples);
    free(v.labels);
    tml_close(tml);
}

/* Memory: an allocator that refuses what is past a limit. */
typedef struct limited {
    uint64_t left;
    int64_t in_use;
} limited;

static void *limited_alloc(void *user, size_t size, size_t alignment)
{
    limited *l = user;
    if (l->left == 0)
        return NULL;
    l->left--;
    l->in_use += (int64_t)size;
    return tml_platform_alloc(size, alignment);
}

static void limited_free(void *user, void *memory, size_t size)
{
    limited *l = user;
    if (memory)
        l->in_use -= (int64_t)size;
    tml_platform_free(memory);
}

static void check_short_memory(tml_surface_labels_desc desc)
{
    limited limit = {.left = UINT64_MAX};
    tml_context *tml = NULL;
    const tml_open_desc open = {
        .engine = TML_ENGINE_CPU, .threads = 2, .allocator = {limited_alloc, limited_free, &limit}};
    CHECK_OK(NULL, tml_open(&open, &tml));
    volume v = random_volume(20, 20, 20, TML_U8, 3, 0);
    void *samples = narrowed(&v);
    const uint64_t chosen[] = {1, 2};
    desc.volume = buffer_of(tml, TML_U8, volume_count(&v), samples);
    desc.grid.dims[0] = desc.grid.dims[1] = desc.grid.dims[2] = 20;
    desc.smooth = 3;
    if (desc.sharing == TML_LABELS_SHARED) {
        desc.labels = chosen;
        desc.label_count = 2;
    }
    tml_surface_result result;
    CHECK_OK(tml, tml_surface_labels(tml, &desc, &result));
    tml_surface_free(tml, &result);
    const int64_t before = limit.in_use;
    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; status != TML_OK && i < 100; i++) {
        limit.left = i;
        status = tml_surface_labels(tml, &desc, &result);
        if (status != TML_OK)
            CHECK_STATUS(status, TML_ERROR_OUT_OF_MEMORY);
        tml_surface_free(tml, &result);
        CHECK_EQ_I64(limit.in_use, before);
        CHECK(status == TML_OK || i < 99);
    }
    limit.left = UINT64_MAX;
    tml_close(tml);
    CHECK_EQ_I64(limit.in_use, 0);
    free(samples);
    free(v.labels);
}

TEST(short_memory_is_an_error_and_none_is_lost)
{
    check_short_memory((tml_surface_labels_desc){.inner_only = true});
    check_short_memory((tml_surface_labels_desc){.sharing = TML_LABELS_MANIFOLD});
}

/* An atlas of 22 labels, none of which reaches the border. */
#ifdef TML_IO
TEST(an_atlas_has_the_faces_that_others_count)
{
    const char *folder = getenv("TML_DATA");
    char path[1024];
    tml_volume atlas;
    if (!folder)
        SKIP("TML_DATA names no folder of data");
    snprintf(path, sizeof path, "%s/volumes/bigbrain_labels22.nii.gz", folder);
    tml_context *tml = open_cpu(2);
    if (!CHECK_OK(tml, tml_volume_load(tml, path, NULL, &atlas)))
        return;
    volume v = {.dims = {atlas.grid.dims[0], atlas.grid.dims[1], atlas.grid.dims[2]},
                .type = TML_U8};
    v.labels = malloc(volume_count(&v) * sizeof *v.labels);
    for (uint64_t i = 0; i < volume_count(&v); i++)
        v.labels[i] = ((const uint8_t *)atlas.data)[i];
    mesh shared = mesh_of(tml, &v, (tml_surface_labels_desc){.smooth = 16, .quads = true});
    CHECK_EQ_U64(shared.vertex_count, 144699); /* as vtkSurfaceNets3D's of VTK 9.3 */
    CHECK_EQ_U64(shared.face_count, 146777);
    check_closed(&shared);
    mesh triangles = mesh_of(tml, &v, (tml_surface_labels_desc){.smooth = 16, .caps = true});
    for (uint64_t layers = 13; layers < 400; layers *= 3)
        CHECK(check_slabs(tml, &v, (tml_surface_labels_desc){.smooth = 16, .caps = true},
                          &triangles, layers == 39 ? 100 : 0, layers, 0, layers == 117));
    /* Smoothing keeps organs' volumes: 0.7 % on average, 3.5 % at worst. */
    double mean = 0, worst = 0, counts[23] = {0};
    for (uint64_t i = 0; i < volume_count(&v); i++)
        if (v.labels[i] < 23)
            counts[v.labels[i]]++;
    for (uint64_t label = 1; label < 23; label++) {
        const double change = fabs(volume_of_label(&triangles, label)) / counts[label] - 1;
        mean += change / 22;
        worst = fmax(worst, fabs(change));
    }
    CHECK(fabs(mean) <= 0.007 && worst <= 0.035);
    mesh_free(&triangles);
    mesh alone =
        mesh_of(tml, &v, (tml_surface_labels_desc){.smooth = 16, .sharing = TML_LABELS_MANIFOLD});
    CHECK_EQ_U64(alone.part_count, 22);
    check_manifold(&alone);
    check_places(&alone);
    mesh_free(&shared);
    mesh_free(&alone);
    free(v.labels);
    tml_volume_free(tml, &atlas);
    tml_close(tml);
}
#endif

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
