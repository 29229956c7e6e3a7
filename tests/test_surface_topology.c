/* TML_TOPOLOGY_TRILINEAR: single cells against the trilinear interpolant resampled, whose topology
 * the default rule finds; volumes by what must hold of every mesh, and by other types, scales,
 * threads and slabs that must not change it. */
#include "test.h"

#include "contexts.h"

#include <float.h>
#include <math.h>

#include <trommel/trommel.h>

#include "core/simd.h"

enum { FINE = 33, FINER = 4 * (FINE - 1) + 1 };

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef struct topology {
    uint64_t components, boundary_edges, nonmanifold_edges;
    int64_t euler;
} topology;

static topology examine(tml_context *tml, const tml_surface_result *made)
{
    tml_mesh_stats stats = {0};
    if (made->vertex_count)
        CHECK_OK(tml, tml_mesh_examine(tml, &made->mesh, false, &stats));
    return (topology){stats.components, stats.boundary_edges, stats.nonmanifold_edges, stats.euler};
}

static tml_surface_desc volume_desc(tml_context *tml, tml_type type, const uint64_t dims[3],
                                    const void *samples, double iso)
{
    return (tml_surface_desc){
        .volume = buffer_of(tml, type, dims[0] * dims[1] * dims[2], samples),
        .grid.dims = {dims[0], dims[1], dims[2]},
        .iso = iso,
        .topology = TML_TOPOLOGY_TRILINEAR,
    };
}

static topology topology_of(tml_context *tml, const tml_surface_desc *desc)
{
    tml_surface_result mesh;
    topology out = {0};
    if (CHECK_OK(tml, tml_surface(tml, desc, &mesh)))
        out = examine(tml, &mesh);
    tml_surface_free(tml, &mesh);
    return out;
}

/* Is the surface around each vertex one fan? Its triangles (v, a, b) lead from a to b. Of an
 * oriented mesh without boundary. */
static bool is_manifold_at_vertices(tml_context *tml, const tml_surface_result *made)
{
    const uint64_t corners = 3 * made->triangle_count;
    uint32_t *indices = fetch(tml, made->mesh.indices, made->triangle_count);
    uint32_t *first = calloc(made->vertex_count + 2, sizeof *first);
    uint32_t(*around)[2] = malloc(corners * sizeof *around + 1);
    bool is_manifold = true;
    for (uint64_t i = 0; i < corners; i++)
        first[indices[i] + 2]++;
    for (uint64_t v = 0; v < made->vertex_count; v++)
        first[v + 2] += first[v + 1];
    for (uint64_t i = 0; i < corners; i++) {
        uint32_t *pair = around[first[indices[i] + 1]++];
        pair[0] = indices[i / 3 * 3 + (i + 1) % 3];
        pair[1] = indices[i / 3 * 3 + (i + 2) % 3];
    }
    for (uint64_t v = 0; v < made->vertex_count; v++) {
        const uint32_t from = first[v], count = first[v + 1] - from;
        uint32_t length = 0, at = count ? around[from][0] : 0;
        do {
            uint32_t i = 0;
            while (i < count && around[from + i][0] != at)
                i++;
            at = i < count ? around[from + i][1] : UINT32_MAX;
            length++;
        } while (count && at != around[from][0] && length <= count);
        is_manifold = is_manifold && count > 2 && length == count;
    }
    free(indices);
    free(first);
    free(around);
    return is_manifold;
}

static void check_closed(tml_context *tml, tml_surface_desc desc)
{
    tml_surface_result mesh;
    desc.caps = true;
    if (!CHECK_OK(tml, tml_surface(tml, &desc, &mesh)))
        return;
    const topology found = examine(tml, &mesh);
    CHECK(mesh.triangle_count > 0);
    CHECK_EQ_U64(found.boundary_edges, 0);
    CHECK_EQ_U64(found.nonmanifold_edges, 0);
    CHECK(is_manifold_at_vertices(tml, &mesh));
    tml_surface_free(tml, &mesh);
}

static uint64_t random_state;
static uint64_t random_bits(void)
{
    return test_random(&random_state);
}
/* -1 ... 1 */
static double random_real(void)
{
    return (double)(random_bits() >> 11) * 0x1p-52 - 1;
}

/* ---- cells against the interpolant ----------------------------------------------------------- */

/* The topology that the default rule finds in the cell's interpolant, resampled. */
static topology resample(tml_context *tml, tml_surface_desc *fine, const double cell[8], double iso)
{
    const int side = (int)fine->grid.dims[0];
    float *samples = NULL;
    if (!CHECK_OK(tml, tml_buffer_map(tml, fine->volume, (void **)&samples)))
        return (topology){0};
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                const double at[3] = {x / (side - 1.0), y / (side - 1.0), z / (side - 1.0)};
                double sum = 0;
                for (int c = 0; c < 8; c++) {
                    double weight = 1;
                    for (int a = 0; a < 3; a++)
                        weight *= c >> a & 1 ? at[a] : 1 - at[a];
                    sum += weight * cell[c];
                }
                samples[x + side * (y + side * z)] = (float)sum;
            }
    tml_buffer_unmap(tml, fine->volume);
    fine->iso = iso;
    return topology_of(tml, fine);
}

static tml_surface_desc fine_desc(tml_context *tml, uint64_t side)
{
    const uint64_t dims[3] = {side, side, side};
    float *zeros = calloc(side * side * side, sizeof *zeros);
    tml_surface_desc desc = volume_desc(tml, TML_F32, dims, zeros, 0);
    desc.topology = TML_TOPOLOGY_SEPARATED;
    free(zeros);
    return desc;
}

static bool is_alike(topology a, topology b)
{
    return a.components == b.components && a.euler == b.euler;
}

static topology cell_topology(tml_context *tml, const double cell[8], tml_surface_result *mesh)
{
    static const uint64_t dims[3] = {2, 2, 2};
    tml_surface_desc desc = volume_desc(tml, TML_F64, dims, cell, 0);
    topology out = {0};
    if (CHECK_OK(tml, tml_surface(tml, &desc, mesh)))
        out = examine(tml, mesh);
    tml_buffer_destroy(tml, desc.volume);
    return out;
}

static unsigned case_of(const double cell[8])
{
    unsigned index = 0;
    for (int c = 0; c < 8; c++)
        index |= (unsigned)(cell[c] >= 0) << c;
    return index;
}

/* Cases that the corners do not tell, by what a face is and by the two that have no such face. */
static bool is_open(unsigned index)
{
    static const uint8_t faces[6][4] = {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}};
    for (int f = 0; f < 6; f++) {
        bool a = index >> faces[f][0] & 1, b = index >> faces[f][1] & 1;
        if (a != b && a == (index >> faces[f][2] & 1) && b == (index >> faces[f][3] & 1))
            return true;
    }
    for (int c = 0; c < 4; c++)
        if (index == (1u << c | 0x80u >> c) || index == (0xff ^ (1u << c | 0x80u >> c)))
            return true;
    return false;
}

/* Cells that have a corner within the margin of the isovalue, or whose topology changes there, on
 * either side, are left out: there the resampling is too coarse. Values are at most 1. */
static void check_random_cells(tml_context *tml, uint64_t count)
{
    static const double margin = 0.01;
    uint64_t compared = 0, excluded = 0, tunnels = 0, wrong = 0, by_case[256] = {0};
    tml_surface_desc fine = fine_desc(tml, FINE), finer = fine_desc(tml, FINER);
    random_state = test_seed();
    while (compared + excluded < count) {
        double cell[8];
        const unsigned wanted = (unsigned)(random_bits() & 0xff);
        const uint64_t kind = random_bits() % 3;
        for (int c = 0; c < 8; c++) {
            double size = fabs(random_real());
            if (kind == 1) /* alike, near which tunnels are more frequent */
                size = 0.5 + 0.5 * size;
            if (kind == 2)
                size = exp2(-4 * size);
            cell[c] = wanted >> c & 1 ? size : -size;
        }
        bool is_near = false;
        for (int c = 0; c < 8; c++)
            is_near = is_near || fabs(cell[c]) <= margin;
        if (!is_open(case_of(cell)))
            continue;
        const topology expected = resample(tml, &fine, cell, 0);
        if (is_near || !is_alike(expected, resample(tml, &fine, cell, margin)) ||
            !is_alike(expected, resample(tml, &fine, cell, -margin))) {
            excluded++;
            continue;
        }
        tml_surface_result mesh;
        const topology found = cell_topology(tml, cell, &mesh);
        const int64_t disks = (int64_t)found.components;
        tunnels += found.euler < disks;
        by_case[case_of(cell)]++;
        compared++;
        CHECK_EQ_U64(found.nonmanifold_edges, 0);
        /* Necks may be thinner than a step. */
        if (!is_alike(found, expected) && !is_alike(found, resample(tml, &finer, cell, 0)) &&
            wrong++ < 4)
            printf("cell %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g: components %" PRIu64
                   ", euler %" PRId64 ", expected %" PRIu64 ", %" PRId64 "\n",
                   cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], cell[6], cell[7],
                   found.components, found.euler, expected.components, expected.euler);
        tml_surface_free(tml, &mesh);
    }
    CHECK_EQ_U64(wrong, 0);
    uint64_t cases = 0;
    for (int i = 0; i < 256; i++)
        cases += by_case[i] > 0;
    printf("   %" PRIu64 " cells of %" PRIu64 " cases alike, %" PRIu64
           " of them with a tunnel; %" PRIu64 " excluded\n",
           compared - wrong, cases, tunnels, excluded);
    tml_buffer_destroy(tml, finer.volume);
    tml_buffer_destroy(tml, fine.volume);
}

/* TML_TOPOLOGY_CELLS: how many. */
TEST(random_cells_have_the_interpolants_topology)
{
    const char *count = getenv("TML_TOPOLOGY_CELLS");
    tml_context *tml = open_cpu(1);
    check_random_cells(tml, count ? strtoull(count, NULL, 10) : 1000);
    tml_close(tml);
}

static bool read_published(const char *path, float *out, size_t count)
{
    FILE *file = fopen(path, "rb");
    for (size_t k = 0; file && k < count; k++) { /* big-endian */
        uint8_t b[4];
        CHECK(fread(b, 1, 4, file) == 4);
        uint32_t bits = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        memcpy(out + k, &bits, sizeof bits);
    }
    if (file)
        fclose(file);
    return file != NULL;
}

/* Etiene et al.: Topology Verification for Isosurface Extraction. 2012. */
TEST(published_cells_have_the_topology_of_their_resampling)
{
    static const char *const names[] = {"00.1", "01.1", "02.1", "03.1", "04.1", "05.1", "06.1",
                                        "07.1", "07.3", "08.1", "09.1", "10.1", "10.2", "11.1",
                                        "12.1", "12.2", "13.1", "13.3", "13.5"};
    if (!test_full_data("topology/gaspar/case-03.1.raw"))
        SKIP("TML_DATA has no topology/gaspar");
    tml_context *tml = open_cpu(1);
    tml_surface_desc fine = fine_desc(tml, FINE);
    int cells = 0, references = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double cell[8];
        for (int is_fine = 0; is_fine < 2; is_fine++) {
            char relative[64];
            snprintf(relative, sizeof relative, "topology/gaspar/case%s-%s.raw",
                     is_fine ? "" : "-coarse", names[i]);
            const char *path = test_full_data(relative);
            static float samples[FINE * FINE * FINE];
            const size_t count = is_fine ? FINE * FINE * FINE : 8;
            if (!path || !read_published(path, samples, count))
                continue;
            topology expected;
            if (is_fine) {
                CHECK_OK(tml, tml_buffer_write(tml, fine.volume, 0, count, samples));
                fine.iso = 0;
                expected = topology_of(tml, &fine);
                references++;
            } else {
                for (int k = 0; k < 8; k++)
                    cell[k] = (double)samples[k];
                expected = resample(tml, &fine, cell, 0);
                cells++;
            }
            tml_surface_result mesh;
            const topology found = cell_topology(tml, cell, &mesh);
            if (!CHECK(is_alike(found, expected)))
                printf("case %s\n", names[i]);
            tml_surface_free(tml, &mesh);
        }
    }
    printf("   %d cells, %d resamplings of others\n", cells, references);
    CHECK(cells > 0 && references > 0);
    tml_buffer_destroy(tml, fine.volume);
    tml_close(tml);
}

/* ---- volumes --------------------------------------------------------------------------------- */

enum { SIDE = 20, SAMPLES = SIDE * SIDE * SIDE };
static const uint64_t side_dims[3] = {SIDE, SIDE, SIDE};

/* Whole numbers of -levels ... levels, many of them at 0. */
static void make_levels(int8_t out[SAMPLES], int levels)
{
    random_state = test_seed() + 1;
    for (int i = 0; i < SAMPLES; i++)
        out[i] = (int8_t)((int)(random_bits() % (uint64_t)(2 * levels + 1)) - levels);
}

TEST(noise_makes_closed_manifolds)
{
    tml_context *tml = open_cpu(2);
    static float samples[SAMPLES];
    random_state = test_seed();
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (float)random_real();
    for (int kind = 0; kind < 6; kind++) {
        for (int i = 0; i < SAMPLES; i++)
            samples[i] = kind == 1                 ? samples[i] * 0x1p-130f
                         : kind == 2               ? ldexpf(samples[i], 257)
                         : kind == 3 && i % 7 == 0 ? copysignf(INFINITY, samples[i])
                         : kind == 5               ? copysignf(0x1p-149f, samples[i])
                                                   : samples[i];
        if (kind == 4)
            for (int i = 0; i < SAMPLES; i++)
                samples[i] =
                    i % 3 ? copysignf(FLT_MAX, samples[i]) : copysignf(0x1p-149f, samples[i]);
        tml_surface_desc desc = volume_desc(tml, TML_F32, side_dims, samples, 0);
        check_closed(tml, desc);
        tml_buffer_destroy(tml, desc.volume);
        for (int i = 0; i < SAMPLES; i++) /* back */
            samples[i] = (float)((double)((uint32_t)i * 2654435761u) * 0x1p-31 - 1);
    }
    tml_close(tml);
}

TEST(samples_at_the_isovalue_make_closed_manifolds)
{
    tml_context *tml = open_cpu(2);
    static int8_t samples[SAMPLES];
    for (int levels = 1; levels < 40; levels += levels) {
        make_levels(samples, levels);
        for (int k = 0; k < 3; k++) {
            tml_surface_desc desc = volume_desc(tml, TML_I8, side_dims, samples,
                                                k == 0   ? 0
                                                : k == 1 ? 0.5
                                                         : 1);
            check_closed(tml, desc);
            tml_buffer_destroy(tml, desc.volume);
        }
    }
    tml_close(tml);
}

/* A volume's indices as the other has them, whatever its type and scale: decisions are exact. */
TEST(types_and_scales_change_no_triangle)
{
    static const struct {
        tml_type type;
        double factor, offset, iso; /* of a whole number n: n * factor + offset */
    } others[] = {
        {TML_I16, 1000, -300, -300},
        {TML_I32, 0x1p24, -12345, -12345},
        {TML_U32, 1, 0x1p31, 0x1p31},
        {TML_I64, 1024, 0x1p62, 0x1p62},
        {TML_I64, 0x1p56, 0, 0},
        {TML_U64, 2048, 0x1p63, 0x1p63},
        {TML_F16, 0x1p-24, 0, 0},
        {TML_F32, 0x1p-149, 0, 0},
        {TML_F32, 0x1p120, 0, 0},
        {TML_F32, 1, 0x1p20, 0x1p20},
        {TML_F64, 0x1p-1074, 0, 0},
        {TML_F64, 0x1p1017, 0, 0},
        {TML_F64, 1, 0x1p52 - 100, 0x1p52 - 100},
        {TML_F64, 0.1, 0, 0}, /* rounded, so 0 stays the only tie */
    };
    tml_context *tml = open_cpu(1);
    static int8_t small[SAMPLES];
    for (int levels = 2; levels <= 32; levels *= 4) {
        make_levels(small, levels);
        tml_surface_desc desc = volume_desc(tml, TML_I8, side_dims, small, 0);
        tml_surface_result made;
        CHECK_OK(tml, tml_surface(tml, &desc, &made));
        uint32_t *indices = fetch(tml, made.mesh.indices, made.triangle_count);
        for (size_t o = 0; o < sizeof others / sizeof others[0]; o++) {
            if (others[o].type == TML_F64 && others[o].factor == 0.1 && levels > 2)
                continue;
            static union {
                int16_t i16[SAMPLES];
                uint16_t u16[SAMPLES];
                int32_t i32[SAMPLES];
                uint32_t u32[SAMPLES];
                int64_t i64[SAMPLES];
                uint64_t u64[SAMPLES];
                float f32[SAMPLES];
                double f64[SAMPLES];
            } v;
            for (int i = 0; i < SAMPLES; i++) {
                const double factor = others[o].factor, n = small[i];
                const double value = n * factor + others[o].offset;
                switch (others[o].type) {
                case TML_I16:
                    v.i16[i] = (int16_t)value;
                    break;
                case TML_F16: /* subnormal: n units */
                    v.u16[i] = (uint16_t)(n < 0 ? 0x8000 - small[i] : small[i]);
                    break;
                case TML_I32:
                    v.i32[i] = (int32_t)value;
                    break;
                case TML_U32:
                    v.u32[i] = (uint32_t)value;
                    break;
                case TML_I64:
                    v.i64[i] = (int64_t)(small[i] * (int64_t)factor + (int64_t)others[o].offset);
                    break;
                case TML_U64:
                    v.u64[i] = (uint64_t)(small[i] * (int64_t)factor) + (uint64_t)others[o].offset;
                    break;
                case TML_F32:
                    v.f32[i] = (float)value;
                    break;
                default:
                    v.f64[i] = value;
                }
            }
            tml_surface_desc other = volume_desc(tml, others[o].type, side_dims, &v, others[o].iso);
            tml_surface_result found;
            if (CHECK_OK(tml, tml_surface(tml, &other, &found)) &&
                CHECK_EQ_U64(found.triangle_count, made.triangle_count)) {
                uint32_t *same = fetch(tml, found.mesh.indices, found.triangle_count);
                if (!CHECK(memcmp(same, indices, 12 * made.triangle_count) == 0))
                    printf("levels %d, other %zu\n", levels, o);
                free(same);
            } else {
                printf("levels %d, other %zu\n", levels, o);
            }
            tml_surface_free(tml, &found);
            tml_buffer_destroy(tml, other.volume);
        }
        free(indices);
        tml_surface_free(tml, &made);
        tml_buffer_destroy(tml, desc.volume);
    }
    tml_close(tml);
}

/* ---- everything else of a surface ------------------------------------------------------------ */

static void make_noise(float out[SAMPLES], uint64_t seed)
{
    random_state = test_seed() + seed;
    for (int i = 0; i < SAMPLES; i++)
        out[i] = (float)random_real();
}

static uint64_t *count_by_cell(tml_context *tml, const tml_surface_result *mesh)
{
    uint64_t *counts = calloc(SAMPLES, sizeof *counts);
    uint32_t *cells = fetch(tml, mesh->triangle_cells, mesh->triangle_count);
    for (uint64_t i = 0; i < mesh->triangle_count; i++)
        counts[cells[i]]++;
    free(cells);
    return counts;
}

/* Cells keep their triangles or, where a sample is missing, have none. Also: tml_surface_cells. */
TEST(missing_samples_take_their_cells)
{
    tml_context *tml = open_cpu(2);
    static float samples[SAMPLES];
    static uint8_t mask[SAMPLES], each[SAMPLES];
    make_noise(samples, 3);
    for (int kind = 0; kind < 2; kind++) {
        tml_surface_desc desc = volume_desc(tml, TML_F32, side_dims, samples, 0.1);
        desc.cells = true;
        tml_surface_result whole, holed;
        CHECK_OK(tml, tml_surface(tml, &desc, &whole));
        CHECK_OK(tml, tml_surface_cells(tml, &desc, each));
        uint64_t *expected = count_by_cell(tml, &whole);
        tml_buffer_destroy(tml, desc.volume);
        for (int i = 0; i < SAMPLES; i++) {
            mask[i] = random_bits() % 16 != 0;
            if (!mask[i] && kind)
                samples[i] = NAN;
        }
        desc.volume = buffer_of(tml, TML_F32, SAMPLES, samples);
        if (!kind)
            desc.mask = buffer_of(tml, TML_U8, SAMPLES, mask);
        CHECK_OK(tml, tml_surface(tml, &desc, &holed));
        uint64_t *found = count_by_cell(tml, &holed);
        CHECK_EQ_U64(examine(tml, &holed).nonmanifold_edges, 0);
        CHECK(holed.triangle_count > 0);
        for (int z = 0; z + 1 < SIDE; z++)
            for (int y = 0; y + 1 < SIDE; y++)
                for (int x = 0; x + 1 < SIDE; x++) {
                    bool is_whole = true;
                    for (int c = 0; c < 8; c++)
                        is_whole =
                            is_whole &&
                            mask[x + (c & 1) + SIDE * (y + (c >> 1 & 1) + SIDE * (z + (c >> 2)))];
                    const int i = x + SIDE * (y + SIDE * z);
                    CHECK_EQ_U64(found[i], is_whole ? expected[i] : 0);
                    CHECK_EQ_U64(each[x + (SIDE - 1) * (y + (SIDE - 1) * z)], expected[i]);
                }
        free(expected);
        free(found);
        tml_surface_free(tml, &whole);
        tml_surface_free(tml, &holed);
        tml_buffer_destroy(tml, desc.volume);
        tml_buffer_destroy(tml, desc.mask);
    }
    tml_close(tml);
}

/* The bytes of a mesh: positions, normals, values, indices. */
enum { ARRAYS = 4 };
typedef struct bytes {
    void *data[ARRAYS];
    size_t size[ARRAYS];
} bytes;

static bytes bytes_of(tml_context *tml, const tml_surface_desc *desc)
{
    bytes out = {{NULL}, {0}};
    tml_surface_result made;
    if (!CHECK_OK(tml, tml_surface(tml, desc, &made)))
        return out;
    const tml_buffer buffers[ARRAYS] = {made.mesh.positions, made.mesh.normals, made.mesh.values,
                                        made.mesh.indices};
    for (int a = 0; a < ARRAYS; a++) {
        tml_type type;
        uint64_t count;
        if (tml_buffer_is_none(buffers[a]))
            continue;
        tml_buffer_describe(tml, buffers[a], &type, &count);
        out.size[a] = count * tml_type_size(type);
        out.data[a] = fetch(tml, buffers[a], count);
    }
    CHECK(out.size[0] > 0);
    tml_surface_free(tml, &made);
    return out;
}

static bool same_bytes(const bytes *a, const bytes *b)
{
    bool is_same = true;
    for (int i = 0; i < ARRAYS; i++)
        is_same = is_same && a->size[i] == b->size[i] &&
                  (a->size[i] == 0 || memcmp(a->data[i], b->data[i], a->size[i]) == 0);
    return is_same;
}

static void bytes_free(bytes *b)
{
    for (int i = 0; i < ARRAYS; i++)
        free(b->data[i]);
}

TEST(threads_and_instruction_sets_change_nothing)
{
    static const uint64_t dims[3] = {133, 11, 9};
    static float samples[133 * 11 * 9];
    const tml_simd best = tml_simd_level();
    for (int option = 0; option < 8; option++) {
        random_state = test_seed() + 9;
        for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
            samples[i] = (option & 4) && random_bits() % 20 == 0 ? NAN : (float)random_real();
        bytes first = {{NULL}, {0}};
        for (uint32_t threads = 1; threads < 4; threads++)
            for (int level = TML_SIMD_BASE; level <= (int)best; level++) {
                tml_context *tml = open_cpu(threads);
                tml_surface_desc desc = volume_desc(tml, TML_F32, dims, samples, 0);
                tml_simd_force((tml_simd)level);
                desc.attribute = desc.volume;
                desc.normals = (tml_normals)(option % 4);
                desc.caps = option & 1;
                desc.flip = option & 2;
                desc.indices64 = option & 2;
                bytes found = bytes_of(tml, &desc);
                if (!first.data[0])
                    first = found;
                else if (CHECK(same_bytes(&first, &found)))
                    bytes_free(&found);
                tml_simd_force(best);
                tml_buffer_destroy(tml, desc.volume);
                tml_close(tml);
            }
        bytes_free(&first);
    }
}

/* A soup has the corners of the welded triangles; wide indices are the narrow ones. */
TEST(soups_and_wide_indices)
{
    tml_context *tml = open_cpu(2);
    static float samples[SAMPLES];
    make_noise(samples, 5);
    tml_surface_desc desc = volume_desc(tml, TML_F32, side_dims, samples, 0);
    bytes narrow = bytes_of(tml, &desc);
    desc.indices64 = true;
    bytes wide = bytes_of(tml, &desc);
    desc.indices64 = false;
    desc.soup = true;
    bytes soup = bytes_of(tml, &desc);
    const uint32_t *indices = narrow.data[3];
    const uint64_t *wides = wide.data[3], corners = narrow.size[3] / 4;
    bool is_same = wide.size[3] == 8 * corners && soup.size[0] == 12 * corners;
    for (uint64_t i = 0; i < corners && is_same; i++)
        is_same = wides[i] == indices[i] &&
                  memcmp((const float *)soup.data[0] + 3 * i,
                         (const float *)narrow.data[0] + 3 * indices[i], 12) == 0;
    CHECK(is_same);
    bytes_free(&narrow);
    bytes_free(&wide);
    bytes_free(&soup);
    tml_buffer_destroy(tml, desc.volume);
    tml_close(tml);
}

/* Vertices of records are those of arrays. */
TEST(records_have_own_vertices)
{
    tml_context *tml = open_cpu(2);
    static float samples[SAMPLES];
    make_noise(samples, 23);
    tml_surface_desc desc = volume_desc(tml, TML_F32, side_dims, samples, 0);
    desc.normals = TML_NORMALS_CENTRAL;
    desc.attribute = desc.volume;
    bytes apart = bytes_of(tml, &desc);
    desc.layout.stride = 32;
    desc.layout.normal_offset = 12;
    desc.layout.value_offset = 24;
    bytes together = bytes_of(tml, &desc);
    const uint64_t count = apart.size[0] / 12;
    bool is_same = together.size[0] == 32 * count;
    for (uint64_t v = 0; v < count && is_same; v++) {
        const unsigned char *record = (const unsigned char *)together.data[0] + 32 * v;
        is_same = memcmp(record, (const float *)apart.data[0] + 3 * v, 12) == 0 &&
                  memcmp(record + 12, (const float *)apart.data[1] + 3 * v, 12) == 0 &&
                  memcmp(record + 24, (const float *)apart.data[2] + v, 4) == 0;
    }
    CHECK(is_same);
    bytes_free(&apart);
    bytes_free(&together);
    tml_buffer_destroy(tml, desc.volume);
    tml_close(tml);
}

/* Vertices lie in their cells; those of tunnels on the interpolant's surface; normals are of length
 * 1 or 0 and point to lower values. A skewed, mirrored grid, far away. */
TEST(own_vertices_are_placed)
{
    tml_context *tml = open_cpu(1);
    uint64_t rings = 0, middles = 0;
    random_state = test_seed() + 7;
    for (int turn = 0; turn < 20000; turn++) {
        double cell[8];
        const unsigned wanted = (unsigned)(random_bits() & 0xff);
        for (int c = 0; c < 8; c++)
            cell[c] = (wanted >> c & 1 ? 1 : -1) * (0.5 + 0.5 * fabs(random_real()));
        if (!is_open(wanted))
            continue;
        uint64_t crossed = 0, before = 0; /* edges; those of the first row of samples */
        for (unsigned c = 0; c < 8; c++)
            for (unsigned a = 0; a < 3; a++)
                if (!(c >> a & 1) && (wanted >> c & 1) != (wanted >> (c | 1u << a) & 1)) {
                    crossed++;
                    before += c < 2;
                }
        static const uint64_t dims[3] = {2, 2, 2};
        tml_surface_desc desc = volume_desc(tml, TML_F64, dims, cell, 0);
        desc.attribute = desc.volume;
        desc.normals = TML_NORMALS_CENTRAL;
        tml_surface_result made;
        if (!CHECK_OK(tml, tml_surface(tml, &desc, &made)))
            continue;
        const uint64_t own = made.vertex_count - crossed;
        CHECK(own == 0 || own == 1 || own == 6);
        rings += own == 6;
        middles += own == 1;
        float(*positions)[3] = fetch(tml, made.mesh.positions, made.vertex_count);
        float(*normals)[3] = fetch(tml, made.mesh.normals, made.vertex_count);
        float *values = fetch(tml, made.mesh.values, made.vertex_count);
        for (uint64_t v = before; v < before + own; v++) {
            double length = 0, ahead = 0, here = 0;
            for (int k = 0; k < 3; k++) {
                CHECK(positions[v][k] > 0 && positions[v][k] < 1);
                length += (double)normals[v][k] * (double)normals[v][k];
            }
            if (own == 6)
                /* Rings and cells nearly closed are widened, by half a clearance. */
                CHECK_NEAR((double)values[v], 0, 0.5 / 1024);
            for (int c = 0; c < 8; c++) {
                double weight = 1, weight_ahead = 1;
                for (int a = 0; a < 3; a++) {
                    const double at = (double)positions[v][a],
                                 on = at + 1e-4 * (double)normals[v][a];
                    weight *= c >> a & 1 ? at : 1 - at;
                    weight_ahead *= c >> a & 1 ? on : 1 - on;
                }
                here += weight * cell[c];
                ahead += weight_ahead * cell[c];
            }
            CHECK(length == 0 || (fabs(length - 1) < 1e-5 && ahead < here + 1e-9));
            CHECK_NEAR((double)values[v], here, 1e-5);
        }
        free(positions);
        free(normals);
        free(values);
        tml_surface_free(tml, &made);
        tml_buffer_destroy(tml, desc.volume);
    }
    CHECK(rings > 100 && middles > 100);
    tml_close(tml);
}

/* A volume's mesh is that of its samples' order on each axis, mirrored or not, and the grid places
 * it: the Euler characteristic is that of the plain grid, the volume that of its cells' size. */
TEST(grids_keep_the_topology)
{
    tml_context *tml = open_cpu(2);
    static float samples[SAMPLES], mirrored[SAMPLES];
    make_noise(samples, 11);
    for (int i = 0; i < SAMPLES; i++)
        mirrored[i] = samples[i / SIDE * SIDE + SIDE - 1 - i % SIDE];
    tml_surface_desc desc = volume_desc(tml, TML_F32, side_dims, samples, 0);
    const topology expected = topology_of(tml, &desc);
    const double skewed[9] = {0.5, 0.2, 0, -0.3, 1, 0, 0.1, 0, -2};
    memcpy(desc.grid.direction, skewed, sizeof skewed);
    desc.grid.spacing[0] = 0.5;
    desc.grid.spacing[1] = 3;
    desc.grid.spacing[2] = 1;
    desc.grid.origin[0] = 1000;
    CHECK(is_alike(topology_of(tml, &desc), expected));
    CHECK_OK(tml, tml_buffer_write(tml, desc.volume, 0, SAMPLES, mirrored));
    CHECK(is_alike(topology_of(tml, &desc), expected));
    tml_buffer_destroy(tml, desc.volume);
    tml_close(tml);
}

TEST(fields_are_their_volumes)
{
    enum { POINTS = 150 };
    static float points[3 * POINTS];
    tml_context *tml = open_cpu(2);
    random_state = test_seed() + 13;
    for (int i = 0; i < 3 * POINTS; i++)
        points[i] = (float)((random_real() + 1) * (i % 3 == 2 ? 8 : 600));
    const uint64_t count = 1200 * 1000 * 17; /* of several slabs */
    tml_buffer cloud = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points);
    tml_field_desc field = {.points = cloud, .radius = 9, .grid = {.dims = {1200, 1000, 17}}};
    tml_surface_desc desc = {.field = &field,
                             .iso = 0.1,
                             .topology = TML_TOPOLOGY_TRILINEAR,
                             .normals = TML_NORMALS_CENTRAL};
    bytes direct = bytes_of(tml, &desc);
    desc.volume = buffer_of(tml, TML_F32, count, NULL);
    desc.grid = field.grid;
    desc.field = NULL;
    CHECK_OK(tml, tml_field(tml, &field, desc.volume));
    bytes stored = bytes_of(tml, &desc);
    CHECK(same_bytes(&direct, &stored));
    bytes_free(&direct);
    bytes_free(&stored);
    tml_buffer_destroy(tml, desc.volume);
    tml_buffer_destroy(tml, cloud);
    tml_close(tml);
}

/* ---- engines --------------------------------------------------------------------------------- */

/* The CPU engine's mesh by another: the same triangles and cells; vertices as they round, or in
 * their cells alone. on_device: and not on the host, unless is_long. */
static bool is_same_mesh(tml_context *tml, tml_context *cpu, const tml_surface_desc *desc,
                         const tml_surface_desc *expected, bool on_device, bool is_long,
                         bool in_cells)
{
    tml_surface_result found = {0}, wanted = {0};
    bool is_same =
        CHECK_OK(tml, tml_surface(tml, desc, &found)) &&
        CHECK_OK(cpu, tml_surface(cpu, expected, &wanted)) &&
        CHECK_EQ_U64(found.vertex_count, wanted.vertex_count) &&
        CHECK_EQ_U64(found.triangle_count, wanted.triangle_count) &&
        CHECK_EQ_U64(found.active_cells, wanted.active_cells) &&
        CHECK(memcmp(found.parts, wanted.parts, found.part_count * sizeof *found.parts) == 0);
    const tml_buffer exact[2][2] = {{found.mesh.indices, wanted.mesh.indices},
                                    {found.triangle_cells, wanted.triangle_cells}};
    for (int i = 0; i < 2 && is_same; i++) {
        if (tml_buffer_is_none(exact[i][1]))
            continue;
        tml_type type;
        tml_buffer_describe(cpu, exact[i][1], &type, NULL);
        void *here = fetch(tml, exact[i][0], found.triangle_count);
        void *there = fetch(cpu, exact[i][1], found.triangle_count);
        is_same = CHECK(memcmp(here, there, found.triangle_count * tml_type_size(type)) == 0);
        free(here);
        free(there);
    }
    const tml_buffer near[3][2] = {{found.mesh.positions, wanted.mesh.positions},
                                   {found.mesh.normals, wanted.mesh.normals},
                                   {found.mesh.values, wanted.mesh.values}};
    bool is_of_host = false;
    for (uint32_t i = 0; i < found.stage_count; i++)
        is_of_host = is_of_host || strcmp(found.stages[i].name, "topology") == 0;
    CHECK(!on_device || is_of_host == is_long || found.triangle_count == 0);
    for (int i = 0; i < 3 && is_same; i++) {
        const uint64_t count = (i == 2 ? 1 : 3) * found.vertex_count;
        uint64_t far = 0;
        if (tml_buffer_is_none(near[i][1]))
            continue;
        float *here = fetch(tml, near[i][0], found.vertex_count);
        float *there = fetch(cpu, near[i][1], found.vertex_count);
        for (uint64_t k = 0; k < count; k++) {
            const double value = (double)there[k], size = i == 1 ? 100 : 1 + fabs(value);
            far += !(fabs((double)here[k] - value) <= (in_cells ? 1 : 1e-5) * size);
        }
        /* Where the gradient is next to nothing, so is the normal. */
        is_same = CHECK(far <= (i == 1 ? count / 500 : 0));
        free(here);
        free(there);
    }
    tml_surface_free(tml, &found);
    tml_surface_free(cpu, &wanted);
    return is_same;
}

typedef struct engine_case {
    const char *what;
    tml_type type;
    uint64_t dims[3];
    double factor, offset, iso; /* of noise from -1 to 1 */
    bool masked, attributed;
    int levels; /* whole numbers: as many on either side */
    double
        near; /* or magnitudes within so much of 1: products nearly tie, vertices may be anywhere */
    float other;  /* every seventh sample; 0: none */
    bool is_long; /* for devices: the host computes it */
    tml_surface_desc desc;
} engine_case;

static const double several_isovalues[] = {-0.4, 0, 0.3};
static const engine_case engine_cases[] = {
    {.what = "noise",
     .type = TML_F32,
     .dims = {SIDE, SIDE, SIDE},
     .factor = 1,
     .desc = {.cells = true}},
    {.what = "a soup", .type = TML_F32, .dims = {31, 9, 8}, .factor = 1, .desc = {.soup = true}},
    {.what = "its largest piece",
     .type = TML_F32,
     .dims = {32, 9, 8},
     .factor = 1,
     .desc = {.largest_component = true}},
    {.what = "one cell", .type = TML_F32, .dims = {2, 2, 2}, .factor = 1},
    {.what = "no cell", .type = TML_F32, .dims = {65, 1, 7}, .factor = 1},
    {.what = "isovalues",
     .type = TML_F32,
     .dims = {64, 17, 3},
     .factor = 1,
     .desc = {.isovalues = several_isovalues, .isovalue_count = 3}},
    {.what = "a region",
     .type = TML_F32,
     .dims = {97, 13, 9},
     .factor = 1,
     .iso = 0.1,
     .desc = {.region = {.first = {32, 3, 1}, .count = {41, 0, 6}}}},
    {.what = "a scale of 2^-130", .type = TML_F32, .dims = {33, 9, 8}, .factor = 0x1p-130},
    {.what = "a scale of 2^127", .type = TML_F32, .dims = {33, 9, 8}, .factor = 0x1p127},
    {.what = "ties", .type = TML_F32, .dims = {33, 19, 8}, .levels = 2},
    {.what = "nearly ties",
     .type = TML_F32,
     .dims = {65, 19, 9},
     .near = 0x1p-21,
     .offset = 0.3,
     .iso = 0.3},
    {.what = "doubles, nearly ties",
     .type = TML_F64,
     .dims = {33, 19, 9},
     .near = 0x1p-18,
     .offset = 0.3,
     .iso = 0.3},
    {.what = "infinities",
     .type = TML_F32,
     .dims = {33, 9, 8},
     .factor = 1,
     .other = INFINITY,
     .is_long = true},
    {.what = "missing", .type = TML_F32, .dims = {33, 9, 8}, .factor = 1, .other = NAN},
    {.what = "ties, capped",
     .type = TML_I8,
     .dims = {33, 19, 9},
     .levels = 4,
     .desc = {.caps = true, .normals = TML_NORMALS_CENTRAL, .flip = true}},
    {.what = "masked doubles",
     .type = TML_F64,
     .dims = {65, 11, 7},
     .factor = 1,
     .iso = 0x1p-6,
     .masked = true,
     .attributed = true,
     .desc = {.normals = TML_NORMALS_CENTRAL}},
    {.what = "long rows",
     .type = TML_U16,
     .dims = {1100, 5, 4},
     .factor = 32767,
     .offset = 32768,
     .iso = 32767.25,
     .desc = {.indices64 = true}},
    {.what = "wide integers", .type = TML_I64, .dims = {33, 9, 8}, .factor = 9e18},
    {.what = "wide integers, ties",
     .type = TML_I64,
     .dims = {33, 9, 8},
     .offset = 0x1p62,
     .iso = 0x1p62,
     .levels = 3},
    {.what = "a fine isovalue",
     .type = TML_I64,
     .dims = {33, 9, 8},
     .factor = 9e18,
     .iso = 1e-9,
     .is_long = true},
};

static double case_sample(const engine_case *c, uint64_t i)
{
    if (c->near)
        return (random_bits() & 1 ? 1 : -1) * (1 + c->near * random_real()) + c->offset;
    const double value = c->levels
                             ? (double)(random_bits() % (uint64_t)(2 * c->levels + 1)) - c->levels
                             : random_real() * c->factor;
    return c->other && i % 7 == 3 ? (double)c->other : value + c->offset;
}

static tml_buffer case_volume(tml_context *tml, const engine_case *c, uint64_t count)
{
    void *samples = malloc(count * tml_type_size(c->type));
    random_state = test_seed() + 17;
    for (uint64_t i = 0; i < count; i++) {
        const double value = case_sample(c, i);
        switch (c->type) {
        case TML_F32:
            ((float *)samples)[i] = (float)value;
            break;
        case TML_F64:
            ((double *)samples)[i] = value;
            break;
        case TML_I8:
            ((int8_t *)samples)[i] = (int8_t)value;
            break;
        case TML_U16:
            ((uint16_t *)samples)[i] = (uint16_t)value;
            break;
        default:
            ((int64_t *)samples)[i] = (int64_t)value;
        }
    }
    tml_buffer buffer = buffer_of(tml, c->type, count, samples);
    free(samples);
    return buffer;
}

static void check_case(tml_context *tml, tml_context *cpu, bool is_device, const engine_case *c)
{
    const uint64_t count = c->dims[0] * c->dims[1] * c->dims[2];
    uint8_t *mask = malloc(count);
    float *values = malloc(count * sizeof *values);
    for (uint64_t i = 0; i < count; i++) {
        mask[i] = i % 13 != 0;
        values[i] = (float)(i % 101);
    }
    tml_surface_desc descs[2] = {c->desc, c->desc};
    for (int e = 0; e < 2; e++) {
        tml_context *of = e ? cpu : tml;
        tml_surface_desc *desc = &descs[e];
        memcpy(desc->grid.dims, c->dims, sizeof c->dims);
        desc->topology = TML_TOPOLOGY_TRILINEAR;
        desc->iso = c->iso;
        desc->volume = case_volume(of, c, count);
        if (c->masked)
            desc->mask = buffer_of(of, TML_U8, count, mask);
        if (c->attributed)
            desc->attribute = buffer_of(of, TML_F32, count, values);
    }
    if (!is_same_mesh(tml, cpu, &descs[0], &descs[1], is_device, c->is_long, c->near != 0))
        printf("   %s\n", c->what);
    for (int e = 0; e < 2; e++) {
        tml_buffer_destroy(e ? cpu : tml, descs[e].volume);
        tml_buffer_destroy(e ? cpu : tml, descs[e].mask);
        tml_buffer_destroy(e ? cpu : tml, descs[e].attribute);
    }
    free(mask);
    free(values);
}

/* The published volumes, if they are there. Returns how many. */
static int check_published(tml_context *tml, tml_context *cpu, bool is_device)
{
    static const char *const names[] = {"coarse-04.1", "coarse-07.3", "coarse-10.2",
                                        "coarse-12.2", "coarse-13.5", "07.1",
                                        "10.1",        "13.3",        "13.5"};
    static float samples[FINE * FINE * FINE];
    int count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char relative[64];
        snprintf(relative, sizeof relative, "topology/gaspar/case-%s.raw", names[i]);
        const char *path = test_full_data(relative);
        const uint64_t side = names[i][0] == 'c' ? 2 : FINE, dims[3] = {side, side, side};
        if (!path || !read_published(path, samples, side * side * side))
            continue;
        tml_surface_desc here = volume_desc(tml, TML_F32, dims, samples, 0);
        tml_surface_desc there = volume_desc(cpu, TML_F32, dims, samples, 0);
        if (!is_same_mesh(tml, cpu, &here, &there, is_device, false, false))
            printf("   %s\n", names[i]);
        tml_buffer_destroy(tml, here.volume);
        tml_buffer_destroy(cpu, there.volume);
        count++;
    }
    return count;
}

/* By Vulkan on the device, but for what is too long there; by OpenGL on the host. */
TEST(engines_change_no_triangle)
{
    tml_device_info devices[32];
    const uint32_t count = tml_devices(devices, 32);
    tml_context *cpu = open_cpu(2);
    for (uint32_t d = 0; d < count; d++) {
        char number[12];
        tml_context *tml = NULL;
        snprintf(number, sizeof number, "%u", d);
        const bool is_device = devices[d].engine == TML_ENGINE_VULKAN;
        if (devices[d].engine == TML_ENGINE_CPU)
            continue;
        if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = number}, &tml)))
            continue;
        for (size_t i = 0; i < sizeof engine_cases / sizeof engine_cases[0]; i++)
            check_case(tml, cpu, is_device, &engine_cases[i]);
        printf("   %s: %d published volumes\n", devices[d].name,
               check_published(tml, cpu, is_device));
        tml_close(tml);
    }
    tml_close(cpu);
}

TEST(what_has_no_interpolant_is_refused)
{
    static const uint8_t labels[8] = {0, 1, 1, 0, 0, 0, 0, 1};
    static const uint64_t dims[3] = {2, 2, 2}, one[] = {1};
    tml_device_info devices[32];
    const uint32_t count = tml_devices(devices, 32);
    for (uint32_t d = 0; d < count; d++) {
        char number[12];
        tml_context *tml = NULL;
        snprintf(number, sizeof number, "%u", d);
        if (!CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = number}, &tml)))
            continue;
        tml_surface_desc desc = volume_desc(tml, TML_U8, dims, labels, 0.5);
        tml_surface_result mesh;
        const bool is_cpu = devices[d].engine == TML_ENGINE_CPU;
        const tml_surface_slabs_desc slabs = {.surface = &desc};
        const tml_status expected = is_cpu ? TML_OK : TML_ERROR_UNSUPPORTED;
        CHECK_STATUS(tml_surface_slabs(tml, &slabs, &mesh), expected);
        CHECK(is_cpu || strstr(tml_last_error(tml), "topology") ||
              strstr(tml_last_error(tml), "slabs"));
        tml_surface_free(tml, &mesh);
        desc.labels = one;
        desc.label_count = 1;
        CHECK_STATUS(tml_surface(tml, &desc, &mesh), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "labels"));
        desc.topology = (tml_topology)7;
        CHECK_STATUS(tml_surface(tml, &desc, &mesh), TML_ERROR_INVALID_ARGUMENT);
        tml_buffer_destroy(tml, desc.volume);
        tml_close(tml);
    }
}

int main(int argc, char **argv)
{
    printf("TML_SEED=%" PRIu64 "\n", test_seed());
    return test_main(argc, argv);
}
