/* Surfaces against a second, naive marching cubes (support_marching_cubes.h), against what is known
 * of the shapes, and against each other. */
#include "field_resolved.h"
#include "test.h"

#include "contexts.h"
#include "low_bytes.h"

#include <float.h>

#include <trommel/trommel.h>

#include "core/simd.h"
#include "support_marching_cubes.h"

#include "kernels/kernel.h"
#include "kernels/surface_octahedral.k.h"
/* The vocabulary's short names are not used below. */
#include "kernels/kernel_end.h"

/* ---- volumes -------------------------------------------------------------------------------- */

/* Field values lie in -1 ... 1 and the isovalue is 0 where nothing else is said. p: place in the
 * volume, -1 ... 1 on each axis. at: sample. */
typedef double (*field_fn)(const double p[3], const uint64_t at[3]);

/* splitmix64 of a place: the same noise whatever the order of evaluation. */
static uint64_t hash_place(const uint64_t at[3], uint64_t seed)
{
    uint64_t h = seed + 0x9e3779b97f4a7c15u * (at[0] + 1009 * (at[1] + 1009 * at[2]) + 1);
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static double noise_at(const uint64_t at[3], uint64_t seed)
{
    return (double)(hash_place(at, seed) >> 11) * 0x1p-52 - 1;
}

static double field_sphere(const double p[3], const uint64_t at[3])
{
    (void)at;
    return 0.7 - sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

static double field_torus(const double p[3], const uint64_t at[3])
{
    (void)at;
    double ring = sqrt(p[0] * p[0] + p[1] * p[1]) - 0.55;
    return 0.25 - sqrt(ring * ring + p[2] * p[2]);
}

static double field_gyroid(const double p[3], const uint64_t at[3])
{
    (void)at;
    double x = 6 * p[0], y = 6 * p[1], z = 6 * p[2];
    return (sin(x) * cos(y) + sin(y) * cos(z) + sin(z) * cos(x)) / 3;
}

/* Marschner, Lobb: An Evaluation of Reconstruction Filters for Volume Rendering. 1994. */
static double field_marschner_lobb(const double p[3], const uint64_t at[3])
{
    (void)at;
    const double pi = 3.14159265358979323846;
    double r = sqrt(p[0] * p[0] + p[1] * p[1]);
    double rho = cos(2 * pi * 6 * cos(pi * r / 2));
    return (1 - sin(pi * p[2] / 2) + 0.25 * (1 + rho)) / (2 * 1.25) - 0.5;
}

static double field_noise(const double p[3], const uint64_t at[3])
{
    (void)p;
    return noise_at(at, 1);
}

static double field_checkers(const double p[3], const uint64_t at[3])
{
    (void)p;
    return (at[0] + at[1] + at[2]) % 2 ? 1 : -1;
}

static double field_bars(const double p[3], const uint64_t at[3])
{
    (void)p;
    return (at[0] + at[1]) % 2 ? 1 : -1;
}

/* -1, 0 or 1: a third of the samples lies exactly at the isovalue. */
static double field_plateaus(const double p[3], const uint64_t at[3])
{
    (void)p;
    return (double)(hash_place(at, 2) % 3) - 1;
}

/* One layer exactly at the isovalue. */
static double field_layer(const double p[3], const uint64_t at[3])
{
    (void)p;
    return at[2] == 1 ? 0 : -1;
}

static double field_low(const double p[3], const uint64_t at[3])
{
    (void)p;
    (void)at;
    return -0.5;
}

static double field_high(const double p[3], const uint64_t at[3])
{
    (void)p;
    (void)at;
    return 0.5;
}

static double field_iso(const double p[3], const uint64_t at[3])
{
    (void)p;
    (void)at;
    return 0;
}

/* Small whole numbers in blobs: a label volume. */
static double field_labels(const double p[3], const uint64_t at[3])
{
    (void)at;
    double best = 1e9, label = 0;
    static const double centres[5][4] = {{-0.5, -0.4, 0.1, 3},
                                         {0.5, 0.4, -0.2, 7},
                                         {-0.1, 0.6, 0.5, 1},
                                         {0.4, -0.6, 0.4, 120},
                                         {0, 0, 0, 0}};
    for (int i = 0; i < 5; i++) {
        double distance = 0;
        for (int k = 0; k < 3; k++)
            distance += (p[k] - centres[i][k]) * (p[k] - centres[i][k]);
        if (distance < best) {
            best = distance;
            label = centres[i][3];
        }
    }
    return best < 0.35 ? label : 0;
}

static const struct {
    const char *name;
    field_fn field;
} fields[] = {
    {"sphere", field_sphere}, {"torus", field_torus},
    {"gyroid", field_gyroid}, {"lobb", field_marschner_lobb},
    {"noise", field_noise},   {"checkers", field_checkers},
    {"bars", field_bars},     {"plateaus", field_plateaus},
    {"layer", field_layer},   {"low", field_low},
    {"high", field_high},     {"iso", field_iso},
};

/* How a field value becomes a sample of each type: value * scale + offset. */
static const struct {
    double scale, offset;
} codes[TML_SCALAR_END] = {
    [TML_U8] = {100, 128},      [TML_I8] = {100, 0},       [TML_U16] = {30000, 32768},
    [TML_I16] = {30000, 0},     [TML_U32] = {2e9, 0x1p31}, [TML_I32] = {2e9, 0},
    [TML_U64] = {9e18, 0x1p63}, [TML_I64] = {9e18, 0},     [TML_F16] = {1, 0},
    [TML_F32] = {1, 0},         [TML_F64] = {1, 0},
};

static double encode(tml_type type, double value)
{
    return value * codes[type].scale + codes[type].offset;
}

/* The half below a small value, towards 0. NaN stays. */
static uint16_t to_half(double value)
{
    if (isnan(value))
        return 0x7e00;
    int exponent;
    double mantissa = frexp(fabs(value), &exponent); /* 0.5 ... 1 */
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (value == 0 || exponent < -13)
        return sign;
    return (uint16_t)(sign | (exponent + 14) << 10 | ((int)(mantissa * 2048) & 1023));
}

/* The doubles that fit into integers. */
static const struct {
    double low, high;
} ranges[TML_SCALAR_END] = {
    [TML_U8] = {0, 255},
    [TML_I8] = {-128, 127},
    [TML_U16] = {0, 65535},
    [TML_I16] = {-32768, 32767},
    [TML_U32] = {0, 0x1p32 - 1},
    [TML_I32] = {-0x1p31, 0x1p31 - 1},
    [TML_U64] = {0, 0x1p64 - 2048},
    [TML_I64] = {-0x1p63, 0x1p63 - 1024},
};

static void store(void *samples, tml_type type, uint64_t i, double value)
{
    if (!tml_type_is_float(type))
        value = fmin(fmax(value, ranges[type].low), ranges[type].high);
    switch (type) {
    case TML_U8:
        ((uint8_t *)samples)[i] = (uint8_t)value;
        break;
    case TML_I8:
        ((int8_t *)samples)[i] = (int8_t)value;
        break;
    case TML_U16:
        ((uint16_t *)samples)[i] = (uint16_t)value;
        break;
    case TML_I16:
        ((int16_t *)samples)[i] = (int16_t)value;
        break;
    case TML_U32:
        ((uint32_t *)samples)[i] = (uint32_t)value;
        break;
    case TML_I32:
        ((int32_t *)samples)[i] = (int32_t)value;
        break;
    case TML_U64:
        ((uint64_t *)samples)[i] = (uint64_t)value;
        break;
    case TML_I64:
        ((int64_t *)samples)[i] = (int64_t)value;
        break;
    case TML_F16:
        ((uint16_t *)samples)[i] = to_half(value);
        break;
    case TML_F32:
        ((float *)samples)[i] = (float)value;
        break;
    default:
        ((double *)samples)[i] = value;
    }
}

/* A volume on the host and in the library, with all that a surface may take beside it. */
typedef struct scene {
    char name[128];
    tml_context *tml;
    uint64_t count;
    void *samples;
    uint8_t *mask;
    float *attribute;
    bool
        is_rounded; /* 64-bit samples that a double rounds: a vertex may lie anywhere on its edge */
    tml_surface_desc desc;
} scene;

/* The device that the tests run on: each in turn. Contexts of the CPU are opened and closed by
 * every test; one of another device serves all of them, as its pipelines take long to make. */
static tml_device_info devices[32];
static uint32_t device_number;
/* a software driver, a sanitizer, an emulated machine: the longest loops take turns */
static bool is_thinned;
static char device_name[12]; /* the number, for tml_open */
static tml_context *device_context;

static bool is_cpu(void)
{
    return devices[device_number].engine == TML_ENGINE_CPU;
}

/* Is the ith of a loop in this run? Where it is thinned, one of n is. */
static bool is_turn(uint64_t i, uint64_t n)
{
    return !is_thinned || (i + device_number + test_seed()) % n == 0;
}

#define SKIP_UNLESS_CPU(what)                                                                      \
    do {                                                                                           \
        if (!is_cpu())                                                                             \
            SKIP("%s", what);                                                                      \
    } while (0)

static tml_context *open_context(uint32_t threads)
{
    tml_context *tml = device_context;
    if (!tml)
        CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = device_name, .threads = threads}, &tml));
    if (!is_cpu())
        device_context = tml;
    return tml;
}

static void close_context(tml_context *tml)
{
    if (tml != device_context)
        tml_close(tml);
}

/* Surfaces that a device cannot make, for want of double. */
static uint64_t skipped_surfaces;

static void place_of(const uint64_t dims[3], uint64_t i, uint64_t at[3], double p[3])
{
    at[0] = i % dims[0];
    at[1] = i / dims[0] % dims[1];
    at[2] = i / dims[0] / dims[1];
    for (int k = 0; k < 3; k++)
        p[k] = dims[k] > 1 ? 2.0 * (double)at[k] / (double)(dims[k] - 1) - 1 : 0;
}

/* Gives the library the samples as they are now. */
static void upload(scene *s)
{
    CHECK_OK(s->tml, tml_buffer_write(s->tml, s->desc.volume, 0, s->count, s->samples));
}

static scene make_scene(tml_context *tml, field_fn field, tml_type type, uint64_t nx, uint64_t ny,
                        uint64_t nz)
{
    scene s = {.tml = tml, .count = nx * ny * nz};
    uint64_t dims[3] = {nx, ny, nz};
    memcpy(s.desc.grid.dims, dims, sizeof dims);
    s.samples = malloc(s.count * tml_type_size(type) + 1);
    for (uint64_t i = 0; i < s.count; i++) {
        uint64_t at[3];
        double p[3];
        place_of(dims, i, at, p);
        store(s.samples, type, i,
              field == field_labels ? field(p, at) : encode(type, field(p, at)));
    }
    s.desc.iso = encode(type, 0);
    s.desc.volume = buffer_of(tml, type, s.count, s.samples);
    const char *name = "field";
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        if (fields[f].field == field)
            name = fields[f].name;
    snprintf(s.name, sizeof s.name, "%s(%s,%" PRIu64 "x%" PRIu64 "x%" PRIu64 ")", name,
             tml_type_name(type), nx, ny, nz);
    return s;
}

/* Sets a share of the mask bytes to 0. */
static void add_mask(scene *s, double share)
{
    s->mask = malloc(s->count);
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t at[3] = {i, 0, 0};
        s->mask[i] = noise_at(at, 5) < 1 - 2 * share ? (uint8_t)(1 + i % 255) : 0;
    }
    s->desc.mask = buffer_of(s->tml, TML_U8, s->count, s->mask);
}

/* A linear attribute, so that interpolation must reproduce it. */
static void add_attribute(scene *s)
{
    s->attribute = malloc(s->count * sizeof *s->attribute);
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t at[3];
        double p[3];
        place_of(s->desc.grid.dims, i, at, p);
        s->attribute[i] =
            (float)(3.0 + 0.5 * (double)at[0] - 0.25 * (double)at[1] + 0.125 * (double)at[2]);
    }
    s->desc.attribute = buffer_of(s->tml, TML_F32, s->count, s->attribute);
}

/* Makes a share of a float volume's samples NaN. */
static void add_nans(scene *s, tml_type type, double share)
{
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t at[3] = {i, 0, 0};
        if (noise_at(at, 6) >= 1 - 2 * share)
            store(s->samples, type, i, NAN);
    }
    upload(s);
}

static void free_scene(scene *s)
{
    tml_buffer_destroy(s->tml, s->desc.volume);
    tml_buffer_destroy(s->tml, s->desc.mask);
    tml_buffer_destroy(s->tml, s->desc.attribute);
    tml_buffer_destroy(s->tml, s->desc.index);
    free(s->samples);
    free(s->mask);
    free(s->attribute);
}

/* ---- meshes on the host --------------------------------------------------------------------- */

typedef struct mesh {
    tml_surface_result result;
    float *positions, *normals, *values;
    uint64_t *indices; /* of soup: 0, 1, 2 ... */
    uint64_t *cells;   /* if desc.cells */
} mesh;

static void *read_buffer(tml_context *tml, tml_buffer buffer, uint64_t count)
{
    tml_type type;
    if (!tml_buffer_describe(tml, buffer, &type, NULL))
        return NULL;
    void *memory = malloc(count * tml_type_size(type) + 1);
    if (count)
        CHECK_OK(tml, tml_buffer_read_range(tml, buffer, 0, count, memory));
    return memory;
}

static uint64_t *read_indices(tml_context *tml, tml_buffer buffer, uint64_t triangles)
{
    uint64_t *wide = malloc(3 * triangles * sizeof *wide + 1);
    tml_type type = TML_TYPE_NONE;
    if (!tml_buffer_describe(tml, buffer, &type, NULL)) {
        for (uint64_t i = 0; i < 3 * triangles; i++)
            wide[i] = i;
        return wide;
    }
    void *raw = read_buffer(tml, buffer, triangles);
    for (uint64_t i = 0; i < 3 * triangles; i++)
        wide[i] = type == TML_VEC(TML_U64, 3)   ? ((uint64_t *)raw)[i]
                  : type == TML_VEC(TML_U16, 3) ? ((uint16_t *)raw)[i]
                                                : ((uint32_t *)raw)[i];
    free(raw);
    return wide;
}

/* NULL for no buffer. */
static uint64_t *read_cells(tml_context *tml, tml_buffer buffer, uint64_t count)
{
    tml_type type = TML_TYPE_NONE;
    void *raw = read_buffer(tml, buffer, count);
    if (!tml_buffer_describe(tml, buffer, &type, NULL))
        return NULL;
    uint64_t *wide = malloc(count * sizeof *wide + 1);
    for (uint64_t i = 0; i < count; i++)
        wide[i] = type == TML_U64 ? ((uint64_t *)raw)[i] : ((uint32_t *)raw)[i];
    free(raw);
    return wide;
}

static bool is_f64(tml_context *tml, tml_buffer buffer)
{
    tml_type type;
    return tml_buffer_describe(tml, buffer, &type, NULL) && type == TML_F64;
}

static bool make_mesh(const scene *s, mesh *out)
{
    *out = (mesh){0};
    tml_status status = tml_surface(s->tml, &s->desc, &out->result);
    if (status == TML_ERROR_UNSUPPORTED && !is_cpu() &&
        (is_f64(s->tml, s->desc.volume) || is_f64(s->tml, s->desc.attribute))) {
        skipped_surfaces++;
        return false;
    }
    if (!CHECK_OK(s->tml, status))
        return false;
    const tml_surface_result *r = &out->result;
    out->positions = read_buffer(s->tml, r->mesh.positions, r->vertex_count);
    out->normals = read_buffer(s->tml, r->mesh.normals, r->vertex_count);
    out->values = read_buffer(s->tml, r->mesh.values, r->vertex_count);
    out->indices = read_indices(s->tml, r->mesh.indices, r->triangle_count);
    out->cells = read_cells(s->tml, r->triangle_cells, r->triangle_count);
    CHECK((out->cells != NULL) == s->desc.cells);
    return true;
}

static void free_mesh(const scene *s, mesh *m)
{
    tml_surface_free(s->tml, &m->result);
    free(m->positions);
    free(m->normals);
    free(m->values);
    free(m->indices);
    free(m->cells);
    *m = (mesh){0};
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || (a && b && memcmp(a, b, size) == 0) || (!a && !b);
}

/* Equal in every bit: counts, parts, vertices, indices. */
static bool same_mesh(const mesh *a, const mesh *b)
{
    const tml_surface_result *p = &a->result, *q = &b->result;
    if (p->vertex_count != q->vertex_count || p->triangle_count != q->triangle_count ||
        p->part_count != q->part_count || p->active_cells != q->active_cells)
        return false;
    size_t vectors = 3 * p->vertex_count * sizeof(float);
    return same_bytes(p->parts, q->parts, p->part_count * sizeof *p->parts) &&
           same_bytes(a->positions, b->positions, vectors) &&
           same_bytes(a->normals, b->normals, vectors) &&
           same_bytes(a->values, b->values, vectors / 3) &&
           same_bytes(a->indices, b->indices, 3 * p->triangle_count * sizeof(uint64_t));
}

static tml_mesh_stats examine(const scene *s, const mesh *m)
{
    tml_mesh_stats stats = {0};
    CHECK_OK(s->tml, tml_mesh_examine(s->tml, &m->result.mesh, false, &stats));
    return stats;
}

/* ---- comparison with the reference ---------------------------------------------------------- */

static bool is_plain_direction(const tml_grid *grid)
{
    static const tml_grid zero;
    return memcmp(grid->direction, zero.direction, sizeof zero.direction) == 0;
}

static bool is_plain_grid(const tml_grid *grid)
{
    static const tml_grid zero;
    return memcmp(grid->spacing, zero.spacing, sizeof zero.spacing) == 0 &&
           memcmp(grid->origin, zero.origin, sizeof zero.origin) == 0 && is_plain_direction(grid);
}

/* How far a device that computes positions in float may be off on an axis, by the header: 8 * 2^-24
 * of the origin's distance and the grid's extent. */
static double float_error(const tml_surface_desc *desc, int axis)
{
    const tml_grid *grid = &desc->grid;
    double span = fabs(grid->origin[axis] - desc->position_origin[axis]);
    for (int a = 0; a < 3; a++) {
        double direction = grid->direction[3 * axis + a];
        if (is_plain_direction(grid))
            direction = axis == a;
        span += fabs(direction) * (grid->spacing[a] != 0 ? grid->spacing[a] : 1) *
                (double)grid->dims[a];
    }
    return 8 * 0x1p-24 * span;
}

/* Positions on the unit grid have one right value on the CPU. Elsewhere the header leaves open in
 * which order the products are added in double, which may turn one rounding to float. */
static bool is_position(const scene *s, const float a[3], const float b[3], bool is_exact)
{
    for (int k = 0; k < 3; k++) {
        double allowed = is_exact ? 0 : fabs((double)b[k]) * FLT_EPSILON + 1e-12;
        if (!is_cpu())
            allowed = s->is_rounded ? 1 : float_error(&s->desc, k);
        if (a[k] != b[k] && !(fabs((double)a[k] - (double)b[k]) <= allowed))
            return false;
    }
    return true;
}

static bool is_same_place(const float a[3], const float b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Do these triangles, whose inner sides cancel, leave just the reference's segments? */
static bool cell_matches(const uint64_t *indices, uint64_t triangles, uint64_t vertex_first,
                         const mc_segment *segments, uint64_t segment_count)
{
    mc_segment sides[3 * 5];
    uint64_t count = 0;
    if (triangles > 5)
        return false;
    for (uint64_t t = 0; t < triangles; t++) {
        for (uint64_t k = 0; k < 3; k++) {
            mc_segment side = {indices[3 * t + k] - vertex_first,
                               indices[3 * t + (k + 1) % 3] - vertex_first};
            uint64_t i = 0;
            while (i < count && (sides[i].from != side.to || sides[i].to != side.from))
                i++;
            if (i < count)
                sides[i] = sides[--count];
            else
                sides[count++] = side;
        }
    }
    if (count != segment_count)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t j = 0;
        while (j < count && (sides[j].from != segments[i].from || sides[j].to != segments[i].to))
            j++;
        if (j == count)
            return false;
    }
    return true;
}

static mc_input reference_input(const scene *s, uint32_t part)
{
    const tml_surface_desc *d = &s->desc;
    mc_input input = {.samples = s->samples,
                      .grid = d->grid,
                      .region = d->region,
                      .mask = s->mask,
                      .attribute = s->attribute,
                      .iso = d->isovalue_count ? d->isovalues[part] : d->iso,
                      .is_label = d->label_count > 0,
                      .label = d->label_count ? d->labels[part] : 0,
                      .caps = d->caps,
                      .flip = d->flip};
    tml_buffer_describe(s->tml, d->volume, &input.type, NULL);
    memcpy(input.position_origin, d->position_origin, sizeof input.position_origin);
    const double *m = d->grid.direction;
    double determinant = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                         m[2] * (m[3] * m[7] - m[4] * m[6]);
    input.flip ^= determinant < 0; /* the same winding in space is the other one in samples */
    return input;
}

/* One part of a mesh against the reference. Says what differs first; NULL if nothing does. */
static const char *part_difference(const scene *s, const mesh *m, uint32_t part, uint64_t *cells)
{
    mc_input input = reference_input(s, part);
    mc_mesh expected = mc_extract(&input);
    const tml_mesh_part *p = &m->result.parts[part];
    const char *difference = NULL;
    bool is_exact = is_plain_grid(&s->desc.grid);
    /* The ends of an edge may be large where the value between them is small. */
    double value_tolerance = 0;
    for (uint64_t i = 0; s->attribute && i < s->count; i++)
        value_tolerance = fmax(value_tolerance, 4 * FLT_EPSILON * fabs((double)s->attribute[i]));
    *cells += expected.cell_count;
    if (p->vertex_count != expected.vertex_count)
        difference = "count of vertices";
    else if (p->triangle_count != expected.triangle_count)
        difference = "count of triangles";
    if (difference)
        test_fail(__FILE__, __LINE__,
                  "%" PRIu64 " vertices, not %" PRIu64 "; %" PRIu64 " triangles, not %" PRIu64,
                  p->vertex_count, expected.vertex_count, p->triangle_count,
                  expected.triangle_count);
    for (uint64_t v = 0; v < expected.vertex_count && !difference; v++) {
        const float *position = m->positions + 3 * (p->vertex_first + v);
        if (!is_position(s, position, expected.positions + 3 * v, is_exact)) {
            difference = "position";
            test_fail(__FILE__, __LINE__,
                      "vertex %" PRIu64 " at %.9g %.9g %.9g, not at %.9g %.9g %.9g", v,
                      (double)position[0], (double)position[1], (double)position[2],
                      (double)expected.positions[3 * v], (double)expected.positions[3 * v + 1],
                      (double)expected.positions[3 * v + 2]);
        }
        if (expected.values && !(fabs((double)m->values[p->vertex_first + v] -
                                      (double)expected.values[v]) <= value_tolerance))
            difference = "attribute";
    }
    uint64_t triangle = p->triangle_first;
    for (uint64_t c = 0; c < expected.cell_count && !difference; c++) {
        const mc_cell *cell = &expected.cells[c];
        if (!cell_matches(m->indices + 3 * triangle, cell->triangle_count, p->vertex_first,
                          expected.segments + cell->segment_first, cell->segment_count))
            difference = "triangles of a cell";
        for (uint64_t t = triangle; m->cells && t < triangle + cell->triangle_count; t++)
            if (m->cells[t] != cell->sample)
                difference = "number of a triangle's cell";
        triangle += cell->triangle_count;
    }
    mc_free(&expected);
    return difference;
}

/* The cells' triangles are those of one isovalue's mesh, where none is dropped or added. */
static void check_cells(const scene *s, const mesh *m)
{
    const uint64_t *dims = s->desc.grid.dims;
    if (s->desc.caps || s->desc.isovalues || s->desc.label_count || s->desc.all_labels ||
        s->desc.drop_degenerate || s->desc.largest_component || s->desc.field || dims[0] < 2 ||
        dims[1] < 2 || dims[2] < 2)
        return;
    uint64_t count = (dims[0] - 1) * (dims[1] - 1) * (dims[2] - 1), triangles = 0;
    uint8_t *cells = malloc(count);
    CHECK_OK(s->tml, tml_surface_cells(s->tml, &s->desc, cells));
    for (uint64_t i = 0; i < count; i++)
        triangles += cells[i];
    CHECK_EQ_U64(triangles, m->result.triangle_count);
    for (uint64_t t = 0; m->cells && t < m->result.triangle_count; t++) {
        uint64_t x = m->cells[t] % dims[0], y = m->cells[t] / dims[0] % dims[1];
        uint64_t z = m->cells[t] / dims[0] / dims[1];
        if (!CHECK(x + 1 < dims[0] && y + 1 < dims[1] && z + 1 < dims[2] &&
                   cells[x + (dims[0] - 1) * (y + (dims[1] - 1) * z)]-- > 0))
            break;
    }
    free(cells);
}

/* A scene without filters and not soup, against the reference; its parts must follow each other. */
static void check_scene(const scene *without_cells)
{
    mesh m;
    uint64_t skipped = skipped_surfaces;
    scene with_cells = *without_cells;
    const scene *s = &with_cells;
    with_cells.desc.cells = true;
    if (!make_mesh(s, &m)) {
        if (skipped == skipped_surfaces)
            test_fail(__FILE__, __LINE__, "%s", s->name);
        return;
    }
    uint64_t cells = 0, vertices = 0, triangles = 0;
    for (uint32_t part = 0; part < m.result.part_count; part++) {
        const tml_mesh_part *p = &m.result.parts[part];
        const char *difference = p->vertex_first != vertices || p->triangle_first != triangles
                                     ? "place of the part"
                                     : part_difference(s, &m, part, &cells);
        vertices += p->vertex_count;
        triangles += p->triangle_count;
        if (difference)
            test_fail(__FILE__, __LINE__, "%s iso=%g caps=%d flip=%d part %u: %s", s->name,
                      s->desc.iso, s->desc.caps, s->desc.flip, part, difference);
    }
    if (m.result.active_cells != cells || m.result.vertex_count != vertices ||
        m.result.triangle_count != triangles)
        test_fail(__FILE__, __LINE__,
                  "%s caps=%d: parts do not add up to the result: %" PRIu64 " cells, not %" PRIu64,
                  s->name, s->desc.caps, m.result.active_cells, cells);
    uint64_t room = 0;
    CHECK(tml_buffer_describe(s->tml, m.result.mesh.positions, NULL, &room) && room == vertices);
    check_cells(s, &m);
    free_mesh(s, &m);
}

/* ---- shapes and sizes ----------------------------------------------------------------------- */

TEST(fields_at_many_sizes)
{
    static const uint64_t sizes[][3] = {
        {1, 1, 1},   {2, 1, 1},   {1, 2, 2},   {1, 7, 5},   {2, 2, 2},    {3, 3, 3},   {2, 17, 3},
        {63, 4, 3},  {64, 4, 3},  {65, 4, 3},  {66, 5, 4},  {127, 3, 4},  {128, 3, 4}, {129, 3, 4},
        {31, 6, 5},  {32, 6, 5},  {33, 6, 5},  {13, 11, 7}, {19, 17, 23}, {101, 7, 5}, {191, 2, 2},
        {193, 3, 2}, {257, 2, 3}, {5, 131, 3}, {4, 3, 67},  {40, 40, 40},
    };
    tml_context *tml = open_context(2);
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (int caps = 0; caps < 2; caps++) {
                if (!is_turn(f + i + 2 * (uint64_t)caps, 3))
                    continue;
                const uint64_t *n = sizes[i];
                scene s = make_scene(tml, fields[f].field, TML_F32, n[0], n[1], n[2]);
                s.desc.caps = caps;
                check_scene(&s);
                free_scene(&s);
            }
    close_context(tml);
}

/* Rows longer than a task's share of samples, and slices with more rows than a task takes. */
TEST(long_axes)
{
    static const uint64_t sizes[][3] = {
        {70001, 2, 2}, {32768, 3, 2}, {2, 40009, 2}, {3, 2, 40009}, {4100, 300, 2},
    };
    tml_context *tml = open_context(2);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int caps = 0; caps < 2; caps++) {
            if (!is_turn(2 * i + (uint64_t)caps, 3))
                continue;
            scene s = make_scene(tml, field_noise, TML_U8, sizes[i][0], sizes[i][1], sizes[i][2]);
            s.desc.caps = caps;
            check_scene(&s);
            free_scene(&s);
        }
    close_context(tml);
}

TEST(every_scalar_type)
{
    static const field_fn some[] = {field_gyroid, field_noise, field_plateaus, field_sphere};
    tml_context *tml = open_context(2);
    for (tml_type type = TML_U8; type < TML_SCALAR_END; type++)
        for (size_t f = 0; f < sizeof some / sizeof some[0]; f++)
            for (int caps = 0; caps < 2; caps++) {
                scene s = make_scene(tml, some[f], type, 70, 11, 9);
                s.desc.caps = caps;
                check_scene(&s);
                s.desc.iso = encode(type, 0.3); /* no sample's value */
                check_scene(&s);
                free_scene(&s);
            }
    close_context(tml);
}

TEST(all_cases_of_one_cell)
{
    tml_context *tml = open_context(1);
    for (unsigned c = 0; c < 256; c++) {
        for (int option = 0; option < 4; option++) {
            scene s = make_scene(tml, field_low, TML_F32, 2, 2, 2);
            for (unsigned i = 0; i < 8; i++)
                ((float *)s.samples)[i] = c >> i & 1 ? 0.25f * (float)(i + 1) : -0.5f;
            upload(&s);
            snprintf(s.name, sizeof s.name, "case %u", c);
            s.desc.caps = option & 1;
            s.desc.flip = option >> 1;
            check_scene(&s);
            free_scene(&s);
        }
    }
    close_context(tml);
}

TEST(all_cases_next_to_each_other)
{
    tml_context *tml = open_context(3);
    for (uint64_t seed = 0; seed < 40; seed++) {
        scene s = make_scene(tml, field_low, TML_U8, 67, 9, 8);
        for (uint64_t i = 0; i < s.count; i++) {
            uint64_t at[3] = {i, seed, 0};
            /* From nearly all outside to nearly all inside. */
            ((uint8_t *)s.samples)[i] = noise_at(at, 9) < ((double)seed - 19.5) / 20 ? 200 : 50;
        }
        upload(&s);
        snprintf(s.name, sizeof s.name, "bits %" PRIu64, seed);
        s.desc.caps = seed % 2;
        check_scene(&s);
        free_scene(&s);
    }
    close_context(tml);
}

static void check_closed(const scene *s, int64_t euler, uint64_t components)
{
    mesh m;
    if (!make_mesh(s, &m))
        return;
    tml_mesh_stats stats = examine(s, &m);
    mc_input input = reference_input(s, 0);
    mc_mesh expected = mc_extract(&input);
    bool is_right = CHECK_EQ_U64(stats.boundary_edges, 0);
    is_right = CHECK_EQ_U64(stats.nonmanifold_edges, 0) && is_right;
    is_right = CHECK_EQ_I64(stats.euler, 2 * expected.solid_euler) && is_right;
    is_right = CHECK(stats.volume > 0) && is_right;
    if (components) {
        is_right = CHECK_EQ_I64(stats.euler, euler) && is_right;
        is_right = CHECK_EQ_U64(stats.components, components) && is_right;
    }
    if (!is_right)
        test_fail(__FILE__, __LINE__, "in %s", s->name);
    mc_free(&expected);
    free_mesh(s, &m);
}

TEST(closed_fields_make_closed_meshes)
{
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_sphere, TML_F32, 33, 33, 33);
    check_closed(&s, 2, 1);
    free_scene(&s);
    s = make_scene(tml, field_torus, TML_U8, 48, 48, 32);
    check_closed(&s, 0, 1);
    free_scene(&s);
    s = make_scene(tml, field_gyroid, TML_F32, 50, 49, 51);
    s.desc.caps = true;
    check_closed(&s, 0, 0);
    free_scene(&s);
    s = make_scene(tml, field_marschner_lobb, TML_U16, 41, 41, 41);
    s.desc.caps = true;
    check_closed(&s, 0, 0);
    free_scene(&s);
    s = make_scene(tml, field_noise, TML_F32, 67, 21, 22);
    s.desc.caps = true;
    check_closed(&s, 0, 0);
    free_scene(&s);
    s = make_scene(tml, field_checkers, TML_I8, 65, 5, 6);
    s.desc.caps = true;
    s.desc.iso = 0;
    check_closed(&s, 2 * 975, 975); /* every second sample in a shell of its own */
    free_scene(&s);
    s = make_scene(tml, field_high, TML_F32, 5, 4, 3);
    s.desc.caps = true;
    check_closed(&s, 2, 1);
    free_scene(&s);
    s = make_scene(tml, field_plateaus, TML_F32, 30, 29, 28);
    s.desc.caps = true;
    check_closed(&s, 0, 0);
    free_scene(&s);
    close_context(tml);
}

TEST(sphere_converges)
{
    const double pi = 3.14159265358979323846;
    tml_context *tml = open_context(2);
    double last_area = 1, last_volume = 1;
    for (uint64_t n = 17; n <= 129; n = 2 * n - 1) {
        scene s = make_scene(tml, field_sphere, TML_F32, n, n, n);
        for (int k = 0; k < 3; k++) {
            s.desc.grid.spacing[k] = 2.0 / (double)(n - 1);
            s.desc.grid.origin[k] = -1;
        }
        mesh m;
        if (make_mesh(&s, &m)) {
            tml_mesh_stats stats = examine(&s, &m);
            double area = fabs(stats.area / (4 * pi * 0.49) - 1);
            double volume = fabs(stats.volume / (4 * pi * 0.343 / 3) - 1);
            /* Second order: half the step, a quarter of the error; a third leaves room. */
            CHECK(area < last_area / 3 && volume < last_volume / 3);
            last_area = area;
            last_volume = volume;
            for (uint64_t v = 0; v < m.result.vertex_count; v++) {
                const float *p = m.positions + 3 * v;
                double radius = sqrt((double)p[0] * (double)p[0] + (double)p[1] * (double)p[1] +
                                     (double)p[2] * (double)p[2]);
                double step = 2.0 / (double)(n - 1);
                CHECK_NEAR(radius, 0.7, step * step / 0.7);
            }
            free_mesh(&s, &m);
        }
        free_scene(&s);
    }
    CHECK(last_area < 1e-3 && last_volume < 1e-3);
    close_context(tml);
}

/* ---- missing samples, regions --------------------------------------------------------------- */

TEST(missing_samples_leave_holes)
{
    static const double shares[] = {0.01, 0.2, 0.6, 1.0};
    tml_context *tml = open_context(2);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        for (int option = 0; option < 8; option++) {
            bool has_nans = option & 1, has_mask = option & 2;
            tml_type types[] = {TML_F32, TML_F64, TML_F16, TML_U16};
            for (size_t t = 0; t < 4; t++) {
                scene s =
                    make_scene(tml, option & 4 ? field_noise : field_gyroid, types[t], 67, 9, 8);
                if (has_nans && types[t] != TML_U16)
                    add_nans(&s, types[t], shares[i]);
                if (has_mask)
                    add_mask(&s, shares[i]);
                snprintf(s.name + strlen(s.name), sizeof s.name - strlen(s.name),
                         " nans=%d mask=%d share=%g", has_nans, has_mask, shares[i]);
                check_scene(&s);
                s.desc.caps = true;
                check_scene(&s);
                free_scene(&s);
            }
        }
    }
    close_context(tml);
}

TEST(regions)
{
    static const tml_region some[] = {
        {{0, 0, 0}, {0, 0, 0}},   {{1, 0, 0}, {0, 0, 0}},   {{0, 2, 3}, {0, 4, 0}},
        {{63, 1, 1}, {66, 5, 5}}, {{64, 0, 0}, {64, 9, 7}}, {{5, 3, 2}, {1, 3, 3}},
        {{60, 3, 2}, {10, 3, 3}}, {{139, 8, 6}, {1, 1, 1}}, {{17, 2, 1}, {100, 2, 2}},
        {{3, 8, 0}, {64, 1, 7}},
    };
    tml_context *tml = open_context(2);
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        for (int option = 0; option < 4; option++) {
            scene s = make_scene(tml, field_noise, option & 1 ? TML_U8 : TML_F32, 140, 9, 7);
            s.desc.region = some[i];
            s.desc.caps = option >> 1;
            snprintf(s.name + strlen(s.name), sizeof s.name - strlen(s.name), " region %zu", i);
            add_attribute(&s);
            check_scene(&s);
            add_mask(&s, 0.1);
            check_scene(&s);
            free_scene(&s);
        }
    }
    close_context(tml);
}

/* ---- where samples lie ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    tml_grid grid;
    double position_origin[3];
} grids[] = {
    {"spacing", {.spacing = {0.5, 2, 0.75}}, {0}},
    {"origin", {.origin = {-7.25, 1e3, 0.1}}, {0}},
    {"rotated",
     {.spacing = {1, 1, 3}, .origin = {1, 2, 3}, .direction = {0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1}},
     {0}},
    {"mirrored x", {.direction = {-1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0}},
    {"mirrored y",
     {.spacing = {0.3, 0.4, 0.5}, .origin = {5, 6, 7}, .direction = {1, 0, 0, 0, -1, 0, 0, 0, 1}},
     {0}},
    {"axes swapped", {.direction = {0, 1, 0, 1, 0, 0, 0, 0, 1}}, {0}},
    {"turned over", {.direction = {-1, 0, 0, 0, -1, 0, 0, 0, 1}}, {0}},
    {"sheared", {.direction = {1, 0.3, 0.1, 0, 1, 0.2, 0, 0, 1}}, {0}},
    {"map", {.spacing = {0.25, 0.25, 0.25}, .origin = {4.5e5, 5.4e6, 812}}, {4.5e5, 5.4e6, 800}},
};

static tml_grid with_dims(tml_grid grid, const uint64_t dims[3])
{
    memcpy(grid.dims, dims, sizeof grid.dims);
    return grid;
}

TEST(grids_place_and_wind)
{
    tml_context *tml = open_context(2);
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
        for (int option = 0; option < 4; option++) {
            scene s = make_scene(tml, option & 1 ? field_noise : field_sphere, TML_F32, 23, 24, 25);
            s.desc.grid = with_dims(grids[g].grid, s.desc.grid.dims);
            memcpy(s.desc.position_origin, grids[g].position_origin, sizeof s.desc.position_origin);
            s.desc.caps = option & 1;
            s.desc.flip = option >> 1;
            snprintf(s.name + strlen(s.name), sizeof s.name - strlen(s.name), " %s", grids[g].name);
            check_scene(&s);
            mesh m;
            if (make_mesh(&s, &m)) {
                tml_mesh_stats stats = examine(&s, &m);
                if (!CHECK(s.desc.flip ? stats.volume < 0 : stats.volume > 0))
                    test_fail(__FILE__, __LINE__, "in %s: volume %g", s.name, stats.volume);
                free_mesh(&s, &m);
            }
            free_scene(&s);
        }
    }
    close_context(tml);
}

/* ---- values at the ends of types ------------------------------------------------------------ */

TEST(isovalues_at_the_ends_of_types)
{
    static const struct {
        tml_type type;
        double low, high;
    } types[] = {
        {TML_U8, 0, 255},           {TML_I8, -128, 127},
        {TML_U16, 0, 65535},        {TML_I16, -32768, 32767},
        {TML_U32, 0, 4294967295.0}, {TML_I32, -2147483648.0, 2147483647.0},
        {TML_U64, 0, 0x1p64},       {TML_I64, -0x1p63, 0x1p63},
    };
    tml_context *tml = open_context(1);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        scene s = make_scene(tml, field_noise, types[t].type, 66, 5, 4);
        size_t size = tml_type_size(types[t].type);
        for (uint64_t i = 0; i < s.count; i++) {
            uint64_t at[3] = {i, 0, 0}, h = hash_place(at, 12);
            /* The lowest, the highest, zero, or any value. */
            uint64_t bits = h % 4 == 0 ? UINT64_MAX : h % 4 == 1 ? 0 : h;
            if (h % 4 == 2)
                bits = h & 64 ? (uint64_t)1 << (8 * size - 1) : ((uint64_t)1 << (8 * size - 1)) - 1;
            memcpy((uint8_t *)s.samples + i * size, &bits, size);
        }
        upload(&s);
        s.is_rounded = size == 8;
        double low = types[t].low, high = types[t].high;
        const double isovalues[] = {low,
                                    high,
                                    low - 1,
                                    high + 1,
                                    low + 1,
                                    high - 1,
                                    low + 0.5,
                                    high - 0.5,
                                    0,
                                    0.5,
                                    -0.5,
                                    high / 2,
                                    low - 1e30,
                                    high + 1e30,
                                    2 * high,
                                    nextafter(high, 0),
                                    nextafter(low, 1),
                                    high / 2 + 1};
        for (size_t i = 0; i < sizeof isovalues / sizeof isovalues[0]; i++) {
            s.desc.iso = isovalues[i];
            check_scene(&s);
        }
        free_scene(&s);
    }
    close_context(tml);
}

TEST(extreme_floats)
{
    static const float values[] = {-INFINITY, INFINITY, -FLT_MAX, FLT_MAX, 0.0f, -0.0f,
                                   FLT_MIN,   -FLT_MIN, 1e-45f,   -1e-45f, 1.0f, -1.0f,
                                   1e38f,     -3e38f,   3e38f,    0.1f,    0.7f, NAN};
    static const double isovalues[] = {0,    -0.0,    1e-45,    -1e-45, 1e-46, 1,     0.1,   0.7,
                                       1e38, FLT_MAX, -FLT_MAX, 3e38,   1e39,  -1e39, 1e300, 0.3};
    enum { COUNT = sizeof values / sizeof values[0] };
    tml_context *tml = open_context(1);
    for (int wide = 0; wide < 2; wide++) {
        scene s = make_scene(tml, field_low, wide ? TML_F64 : TML_F32, 65, 8, 7);
        for (uint64_t i = 0; i < s.count; i++) {
            uint64_t at[3] = {i, 0, 0}, h = hash_place(at, 3) % (COUNT + COUNT / 2);
            double value = (double)values[h % (COUNT - 1)]; /* without the NaN, but ... */
            if (h == COUNT)
                value = NAN; /* ... here and there */
            if (wide && fabs(value) == (double)FLT_MAX)
                value = copysign(DBL_MAX, value);
            store(s.samples, wide ? TML_F64 : TML_F32, i, value);
        }
        upload(&s);
        for (size_t i = 0; i < sizeof isovalues / sizeof isovalues[0]; i++)
            for (int caps = 0; caps < 2; caps++) {
                s.desc.caps = caps;
                s.desc.iso = isovalues[i];
                check_scene(&s);
            }
        free_scene(&s);
    }
    close_context(tml);
}

TEST(every_half)
{
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_low, TML_F16, 64, 32, 32);
    for (uint64_t i = 0; i < s.count; i++)
        ((uint16_t *)s.samples)[i] = (uint16_t)(i * 40503); /* all of them, far from in order */
    upload(&s);
    static const double isovalues[] = {0, 1, -2.5, 65504, 6e-8, 1e-9, 70000};
    for (size_t i = 0; i < sizeof isovalues / sizeof isovalues[0]; i++) {
        s.desc.iso = isovalues[i];
        check_scene(&s);
    }
    free_scene(&s);
    close_context(tml);
}

/* ---- parts ---------------------------------------------------------------------------------- */

TEST(labels)
{
    static const tml_type types[] = {TML_U8, TML_I16, TML_U16, TML_I32, TML_U64, TML_I64};
    static const uint64_t labels[] = {0, 1, 2, 3, 7, 120};
    tml_context *tml = open_context(2);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (int option = 0; option < 4; option++) {
            scene s = make_scene(tml, field_labels, types[t], 70, 20, 21);
            s.desc.labels = labels;
            s.desc.label_count = 6;
            s.desc.caps = option & 1;
            if (option & 2)
                add_mask(&s, 0.05);
            if (option & 1)
                s.desc.region = (tml_region){{9, 3, 5}, {50, 0, 11}};
            snprintf(s.name, sizeof s.name, "labels %s option %d", tml_type_name(types[t]), option);
            check_scene(&s);
            free_scene(&s);
        }
    }
    close_context(tml);
}

TEST(all_labels_finds_them_ascending)
{
    static const uint64_t labels[] = {1, 3, 7, 120};
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_labels, TML_U16, 66, 30, 31);
    mesh found, asked;
    s.desc.all_labels = true;
    bool has_found = make_mesh(&s, &found);
    s.desc.all_labels = false;
    s.desc.labels = labels;
    s.desc.label_count = 4;
    bool has_asked = make_mesh(&s, &asked);
    if (has_found && has_asked) {
        CHECK_EQ_U64(found.result.part_count, 4);
        for (uint32_t p = 0; p < found.result.part_count && p < 4; p++)
            CHECK_EQ_U64(found.result.parts[p].value, labels[p]);
        CHECK(same_mesh(&found, &asked));
    }
    free_mesh(&s, &found);
    free_mesh(&s, &asked);
    free_scene(&s);

    /* Negative labels of a signed type come first, found or given. */
    s = make_scene(tml, field_low, TML_I8, 9, 9, 9);
    memset(s.samples, 0, s.count);
    ((int8_t *)s.samples)[4 + 9 * (4 + 9 * 2)] = -5;
    ((int8_t *)s.samples)[4 + 9 * (4 + 9 * 6)] = 100;
    upload(&s);
    s.desc.all_labels = true;
    if (make_mesh(&s, &found)) {
        if (CHECK_EQ_U64(found.result.part_count, 2)) {
            CHECK_NEAR(found.result.parts[0].value, -5, 0);
            CHECK_NEAR(found.result.parts[1].value, 100, 0);
            CHECK_EQ_U64(found.result.parts[1].vertex_count, 6);
            CHECK_EQ_U64(found.result.parts[1].triangle_count, 8);
        }
        free_mesh(&s, &found);
    }
    static const uint64_t below_zero[] = {(uint64_t)-7, (uint64_t)-5, 0, 100};
    s.desc.all_labels = false;
    s.desc.labels = below_zero;
    s.desc.label_count = 4;
    check_scene(&s);
    static const uint64_t too_large[] = {256 - 5};
    s.desc.labels = too_large;
    s.desc.label_count = 1;
    tml_surface_result result;
    CHECK_STATUS(tml_surface(tml, &s.desc, &result), TML_ERROR_INVALID_ARGUMENT);
    free_scene(&s);
    close_context(tml);
}

/* Thousands of labels, each met before those below it: found, sorted, and what named ones give. */
TEST(all_labels_that_fall)
{
    enum { SIDE = 12, LABELS = SIDE * SIDE * SIDE / 2 };
    static const tml_type types[] = {TML_U16, TML_I16};
    static uint64_t labels[LABELS];
    tml_context *tml = open_context(2);
    for (int t = 0; t < 2; t++) {
        /* Every second sample is a label of its own; of i16 from above 0 to below it. */
        scene s = make_scene(tml, field_low, types[t], SIDE, SIDE, SIDE);
        int highest = t ? LABELS / 2 : LABELS, used = 0;
        for (uint64_t i = 0; i < s.count; i++) {
            int label = i % 2 ? highest - (int)(i / 2) : 0;
            ((int16_t *)s.samples)[i] = (int16_t)label;
            used += label != 0;
        }
        int count = 0;
        for (int label = highest - LABELS + 1; label <= highest; label++)
            if (label != 0)
                labels[count++] = (uint64_t)(int64_t)label;
        CHECK(count == used && count > 800);
        upload(&s);
        mesh found, named;
        s.desc.all_labels = true;
        bool has_found = make_mesh(&s, &found);
        s.desc.all_labels = false;
        s.desc.labels = labels;
        s.desc.label_count = (uint32_t)count;
        if (has_found && make_mesh(&s, &named)) {
            CHECK_EQ_U64(found.result.part_count, count);
            for (uint32_t p = 0; p < found.result.part_count && p < (uint32_t)count; p++)
                CHECK_NEAR(found.result.parts[p].value, (double)(int64_t)labels[p], 0);
            CHECK(same_mesh(&found, &named));
            free_mesh(&s, &named);
        }
        free_mesh(&s, &found);
        free_scene(&s);
    }
    close_context(tml);
}

TEST(several_isovalues_are_the_single_ones_in_turn)
{
    static const double isovalues[] = {0.25, -0.5, 0, 2, 0.25, 0.5001, -2};
    tml_context *tml = open_context(2);
    for (int option = 0; option < 4; option++) {
        scene s = make_scene(tml, option & 1 ? field_noise : field_gyroid, TML_F32, 65, 12, 13);
        s.desc.caps = option >> 1;
        s.desc.isovalues = isovalues;
        s.desc.isovalue_count = 7;
        s.desc.normals = TML_NORMALS_CENTRAL;
        add_attribute(&s);
        check_scene(&s);
        mesh all;
        if (!make_mesh(&s, &all))
            continue;
        CHECK_EQ_U64(all.result.part_count, 7);
        for (uint32_t p = 0; p < all.result.part_count; p++) {
            const tml_mesh_part *part = &all.result.parts[p];
            CHECK_NEAR(part->value, isovalues[p], 0);
            scene one = s;
            one.desc.isovalues = NULL;
            one.desc.isovalue_count = 0;
            one.desc.iso = isovalues[p];
            mesh single;
            if (!make_mesh(&one, &single))
                continue;
            size_t vectors = 3 * single.result.vertex_count * sizeof(float);
            CHECK(single.result.vertex_count == part->vertex_count &&
                  single.result.triangle_count == part->triangle_count &&
                  same_bytes(single.positions, all.positions + 3 * part->vertex_first, vectors) &&
                  same_bytes(single.normals, all.normals + 3 * part->vertex_first, vectors) &&
                  same_bytes(single.values, all.values + part->vertex_first, vectors / 3));
            for (uint64_t i = 0; i < 3 * single.result.triangle_count; i++)
                CHECK(single.indices[i] + part->vertex_first ==
                      all.indices[3 * part->triangle_first + i]);
            free_mesh(&s, &single);
        }
        free_mesh(&s, &all);
        free_scene(&s);
    }
    close_context(tml);
}

/* ---- forms of output ------------------------------------------------------------------------ */

/* A soup's vertex i is the welded mesh's vertex indices[i]. */
static void check_soup(const mesh *soup, const mesh *welded)
{
    CHECK_EQ_U64(soup->result.triangle_count, welded->result.triangle_count);
    CHECK_EQ_U64(soup->result.vertex_count, 3 * welded->result.triangle_count);
    CHECK_EQ_U64(soup->result.active_cells, welded->result.active_cells);
    CHECK_EQ_U64(soup->result.part_count, welded->result.part_count);
    CHECK(tml_buffer_is_none(soup->result.mesh.indices));
    for (uint32_t p = 0; p < soup->result.part_count; p++) {
        const tml_mesh_part *part = &soup->result.parts[p], *from = &welded->result.parts[p];
        CHECK(part->value == from->value && part->triangle_first == from->triangle_first &&
              part->triangle_count == from->triangle_count &&
              part->vertex_first == 3 * from->triangle_first &&
              part->vertex_count == 3 * from->triangle_count);
    }
    CHECK(!soup->cells || memcmp(soup->cells, welded->cells,
                                 soup->result.triangle_count * sizeof *soup->cells) == 0);
    for (uint64_t i = 0; i < soup->result.vertex_count; i++) {
        uint64_t v = welded->indices[i];
        size_t vector = 3 * sizeof(float);
        bool same = memcmp(soup->positions + 3 * i, welded->positions + 3 * v, vector) == 0;
        if (welded->normals)
            same &= memcmp(soup->normals + 3 * i, welded->normals + 3 * v, vector) == 0;
        if (welded->values)
            same &= memcmp(soup->values + i, welded->values + v, sizeof(float)) == 0;
        if (!CHECK(same))
            break;
    }
}

static void check_soup_of(scene *s)
{
    mesh welded, soup;
    s->desc.soup = false;
    bool has_welded = make_mesh(s, &welded);
    s->desc.soup = true;
    bool has_soup = make_mesh(s, &soup);
    if (has_welded && has_soup)
        check_soup(&soup, &welded);
    free_mesh(s, &welded);
    free_mesh(s, &soup);
}

TEST(soup_is_the_welded_mesh_expanded)
{
    static const double isovalues[] = {32768, 20000, 60000.5};
    tml_context *tml = open_context(2);
    for (int option = 0; option < 16; option++) {
        scene s = make_scene(tml, option & 1 ? field_noise : field_torus, TML_U16, 66, 23, 17);
        s.desc.caps = option & 2;
        s.desc.flip = option & 4;
        s.desc.indices64 = option & 4; /* it has none */
        s.desc.cells = option & 9;
        s.desc.normals = option & 2 ? TML_NORMALS_SOBEL : TML_NORMALS_NONE;
        if (option & 8) {
            s.desc.isovalues = isovalues;
            s.desc.isovalue_count = 3;
            add_mask(&s, 0.05);
        }
        if (option & 1)
            add_attribute(&s);
        check_soup_of(&s);
        free_scene(&s);
    }
    scene empty = make_scene(tml, field_low, TML_F32, 9, 8, 7);
    check_soup_of(&empty);
    free_scene(&empty);
    scene labels = make_scene(tml, field_labels, TML_U8, 40, 22, 19);
    labels.desc.all_labels = true;
    labels.desc.normals = TML_NORMALS_CENTRAL;
    check_soup_of(&labels);
    free_scene(&labels);
    close_context(tml);
}

static void check_wide_indices(tml_context *tml, scene *s)
{
    mesh narrow, wide;
    bool has_narrow = make_mesh(s, &narrow);
    s->desc.indices64 = true;
    bool has_wide = make_mesh(s, &wide);
    if (has_narrow && has_wide) {
        tml_type type = TML_TYPE_NONE;
        CHECK(tml_buffer_describe(tml, wide.result.mesh.indices, &type, NULL) &&
              type == TML_VEC(TML_U64, 3));
        CHECK(tml_buffer_describe(tml, narrow.result.mesh.indices, &type, NULL) &&
              type == TML_VEC(TML_U32, 3));
        CHECK(same_mesh(&narrow, &wide));
    }
    free_mesh(s, &narrow);
    free_mesh(s, &wide);
}

TEST(wide_indices_are_the_narrow_ones)
{
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_noise, TML_F32, 130, 13, 12);
    s.desc.caps = true;
    check_wide_indices(tml, &s);
    free_scene(&s);
    close_context(tml);
}

/* Rows of thousands of triangles among rows of few. */
static double field_busy_rows(const double p[3], const uint64_t at[3])
{
    (void)p;
    return at[1] % 8 < 4 || at[0] % 16 < 3 ? noise_at(at, 1) : -1;
}

/* Indices that are written past the caches, but for rows of more than 4096. */
TEST(indices_of_large_meshes)
{
    SKIP_UNLESS_CPU("the engine writes all indices alike");
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_busy_rows, TML_F32, 1200, 48, 30);
    check_wide_indices(tml, &s);
    mesh m;
    if (make_mesh(&s, &m))
        CHECK(12 * m.result.triangle_count > 9 << 20);
    free_mesh(&s, &m);
    free_scene(&s);
    close_context(tml);
}

TEST(threads_change_nothing)
{
    SKIP_UNLESS_CPU("the engine has no threads");
    static const uint32_t threads[] = {1, 2, 7};
    for (int option = 0; option < 6; option++) {
        mesh first = {0};
        tml_context *tml[3];
        scene s[3];
        for (int i = 0; i < 3; i++) {
            tml[i] = open_context(threads[i]);
            s[i] =
                make_scene(tml[i], option & 1 ? field_noise : field_gyroid, TML_F32, 100, 61, 53);
            s[i].desc.caps = option == 2;
            s[i].desc.soup = option == 3;
            s[i].desc.largest_component = option == 4;
            s[i].desc.normals = TML_NORMALS_CENTRAL;
            if (option == 5)
                add_mask(&s[i], 0.1);
            mesh m;
            if (!make_mesh(&s[i], &m))
                continue;
            if (i == 0) {
                first = m;
            } else {
                if (!CHECK(same_mesh(&first, &m)))
                    test_fail(__FILE__, __LINE__, "option %d, %u threads", option, threads[i]);
                free_mesh(&s[i], &m);
            }
        }
        free_mesh(&s[0], &first);
        for (int i = 0; i < 3; i++) {
            free_scene(&s[i]);
            close_context(tml[i]);
        }
    }
}

/* Somebody else's job system: one thread, and tasks in the order that the hook promises. */
static void run_in_turn(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    *(uint64_t *)user += count;
    for (uint32_t i = 0; i < count; i++)
        task(argument, i);
}

TEST(job_system_of_the_caller)
{
    SKIP_UNLESS_CPU("the engine has no tasks");
    uint64_t tasks = 0;
    tml_context *own = open_context(2), *lent = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                             .parallel = {run_in_turn, 1, &tasks}},
                            &lent));
    scene a = make_scene(own, field_noise, TML_F32, 70, 40, 30);
    scene b = make_scene(lent, field_noise, TML_F32, 70, 40, 30);
    a.desc.largest_component = b.desc.largest_component = true;
    mesh first, second;
    if (make_mesh(&a, &first) && make_mesh(&b, &second)) {
        CHECK(tasks > 0);
        CHECK(same_mesh(&first, &second));
        free_mesh(&a, &first);
        free_mesh(&b, &second);
    }
    free_scene(&a);
    free_scene(&b);
    tml_close(own);
    tml_close(lent);
}

TEST(instruction_sets_change_nothing)
{
    SKIP_UNLESS_CPU("the engine has no instruction sets");
    static const field_fn some[] = {field_noise, field_gyroid, field_plateaus};
    tml_context *tml = open_context(2);
    tml_simd best = tml_simd_level();
    for (tml_type type = TML_U8; type < TML_SCALAR_END; type++)
        for (int option = 0; option < 12; option++) {
            scene s = make_scene(tml, some[option % 3], type, 133, 12, 11);
            s.desc.caps = option % 2;
            s.desc.normals = (tml_normals)(option % 4);
            if (option >= 6)
                add_mask(&s, 0.05);
            else if (tml_type_is_float(type) && option >= 3)
                add_nans(&s, type, 0.05);
            add_attribute(&s);
            mesh first = {0};
            bool has_first = make_mesh(&s, &first);
            for (int level = TML_SIMD_BASE; level < (int)best && has_first; level++) {
                mesh m;
                tml_simd_force((tml_simd)level);
                if (make_mesh(&s, &m) && !CHECK(same_mesh(&first, &m)))
                    test_fail(__FILE__, __LINE__, "%s level %d option %d", s.name, level, option);
                free_mesh(&s, &m);
            }
            tml_simd_force(best);
            free_mesh(&s, &first);
            free_scene(&s);
        }
    close_context(tml);
}

TEST(index_changes_nothing)
{
    static const tml_type types[] = {TML_F32, TML_U8, TML_I16, TML_F64, TML_F16, TML_U64};
    tml_context *tml = open_context(2);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (int option = 0; option < 4; option++) {
            scene s = make_scene(tml, option & 1 ? field_noise : field_marschner_lobb, types[t],
                                 130, 21, 19);
            if (option & 2 && tml_type_is_float(types[t]))
                add_nans(&s, types[t], 0.02);
            s.desc.caps = option & 2;
            tml_buffer index = {0};
            CHECK_OK(tml,
                     tml_surface_index(
                         tml, &(tml_surface_desc){.volume = s.desc.volume, .grid = s.desc.grid},
                         &index));
            for (int i = 0; i < 20; i++) {
                if (!is_turn((uint64_t)(i + option), 6))
                    continue;
                mesh plain, indexed;
                s.desc.iso = encode(types[t], (i - 10) / 9.5);
                s.desc.index = (tml_buffer){0};
                bool has_plain = make_mesh(&s, &plain);
                s.desc.index = index;
                if (i % 4 == 3) { /* also in a part of the volume that is no whole brick */
                    s.desc.region = (tml_region){{3, 2, 1}, {100, 13, 11}};
                    free_mesh(&s, &plain);
                    s.desc.index = (tml_buffer){0};
                    has_plain = make_mesh(&s, &plain);
                    s.desc.index = index;
                }
                bool has_indexed = make_mesh(&s, &indexed);
                if (has_plain && has_indexed && !CHECK(same_mesh(&plain, &indexed)))
                    test_fail(__FILE__, __LINE__, "%s iso=%g", s.name, s.desc.iso);
                free_mesh(&s, &plain);
                free_mesh(&s, &indexed);
                s.desc.region = (tml_region){{0}, {0}};
            }
            free_scene(&s);
        }
    }
    close_context(tml);
}

/* Rows of whole words, which engines read in ways of their own: with bricks on either side of the
 * isovalue and across, NaNs, a mask, and slabs that begin within a brick. */
TEST(index_of_whole_rows_changes_nothing)
{
    static const tml_type types[] = {TML_F32, TML_I32, TML_U8, TML_I8, TML_U16, TML_I16, TML_F16};
    static const uint64_t widths[] = {128, 64, 544};
    tml_context *tml = open_context(2);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (int option = 0; option < 6; option++) {
            tml_type type = types[t];
            scene s = make_scene(tml, option % 3 == 1 ? field_noise : field_sphere, type,
                                 widths[option % 3], 13, 19);
            if (option >= 3 && tml_type_is_float(type))
                add_nans(&s, type, 0.0005);
            if (option >= 3 && !tml_type_is_float(type))
                add_mask(&s, 0.01);
            tml_buffer index = {0};
            tml_surface_desc desc = {.volume = s.desc.volume, .grid = s.desc.grid};
            CHECK_OK(tml, tml_surface_index(tml, &desc, &index));
            for (int i = 0; i < 7; i++) {
                if (!is_turn((uint64_t)(i + option), 2))
                    continue;
                mesh plain, indexed;
                s.desc.iso = encode(type, (i - 3) / 3.2);
                if (i % 3 == 1)
                    s.desc.region = (tml_region){{0, 0, 3}, {0, 0, 14}};
                bool has_plain = make_mesh(&s, &plain);
                s.desc.index = index;
                bool has_indexed = make_mesh(&s, &indexed);
                if (has_plain && has_indexed && !CHECK(same_mesh(&plain, &indexed)))
                    test_fail(__FILE__, __LINE__, "%s iso=%g", s.name, s.desc.iso);
                free_mesh(&s, &plain);
                free_mesh(&s, &indexed);
                s.desc.index = (tml_buffer){0};
                s.desc.region = (tml_region){{0}, {0}};
            }
            s.desc.index = index; /* freed with the scene */
            free_scene(&s);
        }
    }
    close_context(tml);
}

/* Values closer to each other than the index can tell, on both sides of the isovalue. */
TEST(index_sees_the_smallest_differences)
{
    static const struct {
        tml_type type;
        double centre, step;
    } cases[] = {
        {TML_F64, 1, 0x1p-50},     {TML_F64, -1e300, 0x1p950}, {TML_F64, 1e-320, 0x1p-1074},
        {TML_U32, 0x1p31, 1},      {TML_I32, -0x1p30 - 1, 1},  {TML_U64, 0x1p60, 512},
        {TML_I64, -0x1p61, 1024},  {TML_F32, 1, 0x1p-23},      {TML_U32, 4294967290.0, 1},
        {TML_F64, 1e200, 0x1p650},
    };
    tml_context *tml = open_context(2);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        tml_type type = cases[c].type;
        scene s = make_scene(tml, field_low, type, 130, 9, 10);
        for (uint64_t i = 0; i < s.count; i++) {
            uint64_t at[3] = {i, 0, 0};
            double steps = floor(3 * noise_at(at, 31));
            store(s.samples, type, i, cases[c].centre + steps * cases[c].step);
        }
        upload(&s);
        tml_buffer index = {0};
        tml_surface_desc desc = {.volume = s.desc.volume, .grid = s.desc.grid};
        CHECK_OK(tml, tml_surface_index(tml, &desc, &index));
        for (int steps = -4; steps <= 4; steps++) {
            s.desc.iso = cases[c].centre + steps * cases[c].step;
            s.desc.index = index;
            s.desc.region.first[0] = steps % 2 ? 64 : 0;
            snprintf(s.name, sizeof s.name, "index of %s, case %zu", tml_type_name(type), c);
            check_scene(&s);
        }
        free_scene(&s);
    }
    close_context(tml);
}

/* ---- attributes and normals ----------------------------------------------------------------- */

TEST(linear_attributes_are_reproduced)
{
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_noise, TML_F32, 65, 11, 12);
    add_attribute(&s);
    mesh m;
    if (make_mesh(&s, &m)) {
        CHECK(m.result.vertex_count > 1000);
        for (uint64_t v = 0; v < m.result.vertex_count; v++) {
            const float *p = m.positions + 3 * v;
            CHECK_NEAR(m.values[v],
                       3.0 + 0.5 * (double)p[0] - 0.25 * (double)p[1] + 0.125 * (double)p[2], 1e-4);
        }
        free_mesh(&s, &m);
    }
    free_scene(&s);
    close_context(tml);
}

TEST(attributes_of_every_type)
{
    tml_context *tml = open_context(1);
    for (tml_type type = TML_U8; type < TML_SCALAR_END; type++) {
        scene s = make_scene(tml, field_torus, TML_F32, 33, 32, 31);
        scene other = make_scene(tml, field_sphere, type, 33, 32, 31);
        s.attribute = malloc(s.count * sizeof *s.attribute);
        for (uint64_t i = 0; i < s.count; i++)
            s.attribute[i] = (float)mc_sample(other.samples, type, i);
        s.desc.attribute = other.desc.volume;
        other.desc.volume = (tml_buffer){0};
        check_scene(&s);
        free_scene(&s);
        free_scene(&other);
    }
    close_context(tml);
}

static double length3_of(const float n[3])
{
    return sqrt((double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] +
                (double)n[2] * (double)n[2]);
}

/* A field that is linear in space has one normal, whatever the grid. */
TEST(normals_of_linear_fields)
{
    static const double gradient[3] = {0.5, -0.3, 0.8};
    tml_context *tml = open_context(2);
    for (int kind = TML_NORMALS_FORWARD; kind <= TML_NORMALS_SOBEL; kind++) {
        for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
            for (int flip = 0; flip < 2; flip++) {
                scene s = make_scene(tml, field_low, TML_F64, 20, 18, 16);
                s.desc.grid = with_dims(grids[g].grid, s.desc.grid.dims);
                const tml_grid *grid = &s.desc.grid;
                for (uint64_t i = 0; i < s.count; i++) {
                    uint64_t at[3];
                    double p[3], value = 0;
                    place_of(grid->dims, i, at, p);
                    for (int row = 0; row < 3; row++)
                        for (int k = 0; k < 3; k++) {
                            double entry = grid->direction[0] != 0 || grid->direction[1] != 0
                                               ? grid->direction[3 * row + k]
                                               : row == k;
                            double step = grid->spacing[0] != 0 ? grid->spacing[k] : 1;
                            value += gradient[row] * entry * step *
                                     ((double)at[k] - (double)grid->dims[k] / 2);
                        }
                    ((double *)s.samples)[i] = value;
                }
                upload(&s);
                s.desc.iso = 0.0123;
                s.desc.flip = flip;
                s.desc.normals = (tml_normals)kind;
                mesh m;
                if (make_mesh(&s, &m)) {
                    CHECK(m.result.vertex_count > 100 && m.normals);
                    double length = sqrt(0.25 + 0.09 + 0.64), worst = 0;
                    for (uint64_t v = 0; v < m.result.vertex_count && m.normals; v++)
                        for (int k = 0; k < 3; k++) {
                            double expected = (flip ? 1 : -1) * gradient[k] / length;
                            worst = fmax(worst,
                                         fabs((double)m.normals[3 * v + (uint64_t)k] - expected));
                        }
                    if (!CHECK_NEAR(worst, 0, 2e-5))
                        test_fail(__FILE__, __LINE__, "normals kind %d, grid %s, flip %d", kind,
                                  grids[g].name, flip);
                    free_mesh(&s, &m);
                }
                free_scene(&s);
            }
        }
    }
    close_context(tml);
}

TEST(normals_of_spheres)
{
    /* Degrees: forward differences are half a step off centre; the others are of second order. */
    static const double allowed[] = {0, 6, 1, 1};
    static const tml_type types[] = {TML_F32, TML_U8, TML_U16, TML_F64};
    tml_context *tml = open_context(2);
    for (int kind = TML_NORMALS_FORWARD; kind <= TML_NORMALS_SOBEL; kind++) {
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            scene s = make_scene(tml, field_sphere, types[t], 41, 41, 41);
            s.desc.normals = (tml_normals)kind;
            for (int k = 0; k < 3; k++) {
                s.desc.grid.spacing[k] = 0.05;
                s.desc.grid.origin[k] = -1;
            }
            mesh m;
            if (make_mesh(&s, &m)) {
                double worst = 0;
                for (uint64_t v = 0; v < m.result.vertex_count; v++) {
                    const float *n = m.normals + 3 * v, *p = m.positions + 3 * v;
                    double along = 0;
                    for (int k = 0; k < 3; k++)
                        along += (double)n[k] * (double)p[k];
                    CHECK_NEAR(length3_of(n), 1, 1e-5);
                    along /= length3_of(p) * length3_of(n);
                    worst = fmax(worst, acos(fmin(along, 1)) * 180 / 3.14159265358979323846);
                }
                /* Bytes are off by up to one of the five that a step makes: atan(sqrt(3) / 5). */
                if (!CHECK(worst < allowed[kind] + (types[t] == TML_U8 ? 19 : 0)))
                    test_fail(__FILE__, __LINE__, "normals kind %d of %s: %g degrees", kind,
                              tml_type_name(types[t]), worst);
                free_mesh(&s, &m);
            }
            free_scene(&s);
        }
    }
    close_context(tml);
}

/* Unit length or zero, never NaN: at borders, beside missing samples, on caps, of labels, of
 * extreme values. */
TEST(normals_are_unit_or_zero)
{
    static const uint64_t labels[] = {3, 7};
    tml_context *tml = open_context(2);
    for (int kind = TML_NORMALS_FORWARD; kind <= TML_NORMALS_SOBEL; kind++) {
        for (int option = 0; option < 8; option++) {
            scene s = make_scene(tml,
                                 option == 4   ? field_labels
                                 : option == 5 ? field_plateaus
                                               : field_noise,
                                 option == 4 ? TML_U8 : TML_F32, 66, 9, 10);
            s.desc.normals = (tml_normals)kind;
            s.desc.caps = option & 1;
            if (option == 2 || option == 3)
                add_nans(&s, TML_F32, 0.2);
            if (option == 4) {
                s.desc.labels = labels;
                s.desc.label_count = 2;
            }
            if (option >= 6) {
                for (uint64_t i = 0; i < s.count; i++)
                    ((float *)s.samples)[i] *= i % 3 ? FLT_MAX : i % 2 ? 1e-44f : INFINITY;
                upload(&s);
            }
            mesh m;
            if (make_mesh(&s, &m)) {
                uint64_t zeros = 0;
                for (uint64_t v = 0; v < m.result.vertex_count; v++) {
                    double length = length3_of(m.normals + 3 * v);
                    zeros += length == 0;
                    if (length != 0 && !CHECK_NEAR(length, 1, 1e-5)) {
                        test_fail(__FILE__, __LINE__, "kind %d option %d", kind, option);
                        break;
                    }
                }
                if (option < 4)
                    CHECK(zeros < m.result.vertex_count / 10);
                free_mesh(&s, &m);
            }
            free_scene(&s);
        }
    }
    close_context(tml);
}

/* ---- buffers of the caller ------------------------------------------------------------------ */

enum { GUARD = 64 };

/* A buffer in the midst of guard bytes on the CPU; elsewhere a copy of one, filled with them. */
typedef struct guarded {
    uint8_t *block;
    size_t size;
    tml_buffer buffer;
} guarded;

static guarded make_guarded(tml_context *tml, tml_type type, uint64_t count)
{
    guarded g = {.size = count * tml_type_size(type)};
    g.block = malloc(g.size + 2 * GUARD);
    memset(g.block, 0xa5, g.size + 2 * GUARD);
    tml_buffer_desc desc = {.type = type, .count = count};
    if (is_cpu())
        desc.host = g.block + GUARD;
    else
        desc.data = g.block + GUARD;
    CHECK_OK(tml, tml_buffer_create(tml, &desc, &g.buffer));
    return g;
}

static void fetch_guarded(tml_context *tml, guarded *g)
{
    if (!is_cpu() && g->size)
        CHECK_OK(tml, tml_buffer_read(tml, g->buffer, g->block + GUARD));
}

/* Is everything outside the first used bytes as it was? */
static bool is_untouched(const guarded *g, size_t used)
{
    for (size_t i = 0; i < g->size + 2 * GUARD; i++)
        if ((i < GUARD || i >= GUARD + used) && g->block[i] != 0xa5)
            return false;
    return true;
}

static void free_guarded(tml_context *tml, guarded *g)
{
    tml_buffer_destroy(tml, g->buffer);
    free(g->block);
}

TEST(outputs_of_the_caller)
{
    tml_context *tml = open_context(2);
    for (int option = 0; option < 16; option++) {
        scene s = make_scene(tml, field_noise, TML_F32, 67, 12, 11);
        s.desc.normals = TML_NORMALS_CENTRAL;
        s.desc.soup = option & 1;
        s.desc.indices64 = option & 2;
        s.desc.largest_component = option & 4;
        s.desc.drop_degenerate = option & 8;
        add_attribute(&s);
        mesh own;
        if (!make_mesh(&s, &own))
            continue;
        uint64_t vertices = own.result.vertex_count, triangles = own.result.triangle_count;
        /* Room: none, one vertex or one triangle too few, just enough, more. */
        for (int room = 0; room < 5; room++) {
            uint64_t v = room == 0 ? 0 : room == 1 ? vertices - 1 : vertices;
            uint64_t t = room == 0 ? 0 : room == 2 ? triangles - 1 : triangles;
            if (room == 4) {
                v += 1000;
                t += 1000;
            }
            scene lent = s;
            guarded g[4] = {make_guarded(tml, TML_VEC(TML_F32, 3), v),
                            make_guarded(tml, TML_VEC(TML_F32, 3), v),
                            make_guarded(tml, TML_F32, v),
                            make_guarded(tml, TML_VEC(option & 2 ? TML_U64 : TML_U32, 3), t)};
            lent.desc.mesh.positions = g[0].buffer;
            lent.desc.mesh.normals = g[1].buffer;
            lent.desc.mesh.values = g[2].buffer;
            if (!s.desc.soup)
                lent.desc.mesh.indices = g[3].buffer;
            tml_surface_result r;
            tml_status status = tml_surface(tml, &lent.desc, &r);
            for (int i = 0; i < 4; i++)
                fetch_guarded(tml, &g[i]);
            bool fits = room >= 3 || (room == 2 && s.desc.soup);
            CHECK_STATUS(status, fits ? TML_OK : TML_ERROR_CAPACITY);
            size_t index_size = tml_type_size(TML_VEC(option & 2 ? TML_U64 : TML_U32, 3));
            if (fits && status == TML_OK) {
                CHECK_EQ_U64(r.vertex_count, vertices);
                CHECK_EQ_U64(r.triangle_count, triangles);
                CHECK(memcmp(g[0].block + GUARD, own.positions, 12 * vertices) == 0);
                CHECK(memcmp(g[1].block + GUARD, own.normals, 12 * vertices) == 0);
                CHECK(memcmp(g[2].block + GUARD, own.values, 4 * vertices) == 0);
                CHECK(is_untouched(&g[0], 12 * vertices) && is_untouched(&g[1], 12 * vertices) &&
                      is_untouched(&g[2], 4 * vertices) &&
                      is_untouched(&g[3], s.desc.soup ? 0 : index_size * triangles));
                uint64_t *indices = read_indices(tml, r.mesh.indices, triangles);
                CHECK(memcmp(indices, own.indices, 3 * triangles * sizeof *indices) == 0);
                free(indices);
                CHECK(r.parts != NULL);
            } else if (status == TML_ERROR_CAPACITY) {
                CHECK_EQ_U64(r.vertex_count, vertices);
                CHECK_EQ_U64(r.triangle_count, triangles);
            }
            for (int i = 0; i < 4; i++)
                CHECK(is_untouched(&g[i], g[i].size));
            tml_surface_free(tml, &r);
            for (int i = 0; i < 4; i++) {
                CHECK(tml_buffer_describe(tml, g[i].buffer, NULL, NULL)); /* still the caller's */
                free_guarded(tml, &g[i]);
            }
        }
        free_mesh(&s, &own);
        free_scene(&s);
    }
    close_context(tml);
}

/* Of buffers given, made and mixed those that the call made are destroyed with the result, and no
 * other. */
TEST(results_own_what_was_made)
{
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_noise, TML_F32, 9, 8, 7);
    s.desc.normals = TML_NORMALS_CENTRAL;
    add_attribute(&s);
    mesh own;
    make_mesh(&s, &own);
    uint64_t vertices = own.result.vertex_count, triangles = own.result.triangle_count;
    for (int given = 0; given < 32; given++) {
        const tml_type types[4] = {TML_VEC(TML_F32, 3), TML_VEC(TML_F32, 3), TML_F32,
                                   TML_VEC(TML_U32, 3)};
        tml_buffer mine[4] = {{0, 0}};
        tml_surface_desc desc = s.desc;
        desc.largest_component = given & 16; /* by way of buffers of the call's own */
        desc.cells = given & 4;
        for (int i = 0; i < 4; i++)
            if (given >> i & 1)
                mine[i] = buffer_of(tml, types[i], i == 3 ? triangles : vertices, NULL);
        desc.mesh.positions = mine[0];
        desc.mesh.normals = mine[1];
        desc.mesh.values = mine[2];
        desc.mesh.indices = mine[3];
        tml_surface_result r;
        CHECK_OK(tml, tml_surface(tml, &desc, &r));
        CHECK_EQ_U64(r.owned, (~given & 15) | (desc.cells ? 16 : 0));
        const tml_buffer all[4] = {r.mesh.positions, r.mesh.normals, r.mesh.values, r.mesh.indices};
        bool is_kept = given % 3 == 0; /* a handle that is zeroed is no longer the result's */
        if (is_kept)
            r.mesh.positions = (tml_buffer){0, 0};
        tml_surface_free(tml, &r);
        CHECK(r.parts == NULL && r.owned == 0 && tml_buffer_is_none(r.mesh.indices));
        for (int i = 0; i < 4; i++) {
            bool stays = given >> i & 1 || (i == 0 && is_kept);
            CHECK(tml_buffer_describe(tml, all[i], NULL, NULL) == stays);
            tml_buffer_destroy(tml, all[i]);
        }
    }
    free_mesh(&s, &own);
    free_scene(&s);
    close_context(tml);
}

static void check_overlap(const scene *s, const tml_surface_desc *enqueue, const char *word,
                          const char *other)
{
    tml_context *tml = s->tml;
    tml_surface_result r;
    tml_status status =
        enqueue ? tml_surface_enqueue(tml, enqueue) : tml_surface(tml, &s->desc, &r);
    CHECK_STATUS(status, TML_ERROR_INVALID_ARGUMENT);
    const char *message = tml_last_error(tml);
    if (!strstr(message, "overlaps") || !strstr(message, word) || !strstr(message, other) ||
        !strstr(message, enqueue ? "tml_surface_enqueue:" : "tml_surface:"))
        test_fail(__FILE__, __LINE__, "\"%s\" names not %s and %s", message, word, other);
}

static const float two_points[6] = {0, 0, 0, 1, 1, 1};

/* No output may lie where another one does, or what is read. */
TEST(outputs_lie_apart)
{
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_noise, TML_F32, 9, 8, 7);
    add_attribute(&s);
    s.desc.normals = TML_NORMALS_CENTRAL;
    const tml_surface_desc good = s.desc;
    s.desc.mesh.values = s.desc.attribute;
    check_overlap(&s, NULL, "desc.mesh.values", "desc.attribute");
    s.desc = good;
    s.desc.mesh.values = s.desc.volume;
    check_overlap(&s, NULL, "desc.mesh.values", "desc.volume");
    s.desc = good;
    tml_buffer rows[2], values, triangles, words;
    for (int i = 0; i < 2; i++)
        rows[i] = buffer_of(tml, TML_VEC(TML_F32, 3), 2048, NULL);
    values = buffer_of(tml, TML_F32, 2048, NULL);
    triangles = buffer_of(tml, TML_VEC(TML_U32, 3), 2048, NULL);
    words = buffer_of(tml, TML_U32, 5, NULL);
    s.desc.mesh.positions = s.desc.mesh.normals = rows[0];
    check_overlap(&s, NULL, "desc.mesh.normals", "desc.mesh.positions");
    tml_surface_desc enqueued = s.desc;
    enqueued.mesh.values = values;
    enqueued.mesh.indices = triangles;
    check_overlap(&s, &enqueued, "desc.mesh.normals", "desc.mesh.positions");
    enqueued.mesh.positions = rows[1];
    enqueued.iso_buffer = values;
    check_overlap(&s, &enqueued, "desc.mesh.values", "desc.iso_buffer");
    enqueued.iso_buffer = (tml_buffer){0, 0};
    enqueued.counts = enqueued.draw = words;
    check_overlap(&s, &enqueued, "desc.draw", "desc.counts");
    enqueued.draw = (tml_buffer){0, 0};
    CHECK_OK(tml, tml_surface_enqueue(tml, &enqueued));
    free_scene(&s);
    const tml_field_desc field = {.points = rows[0], .length.count = 2};
    scene of_points = {.tml = tml,
                       .desc = {.field = &field, .iso = 0.5, .mesh.positions = rows[0]}};
    CHECK_OK(tml, tml_buffer_write(tml, rows[0], 0, 2, two_points));
    check_overlap(&of_points, NULL, "desc.mesh.positions", "desc.field.points");
    for (int i = 0; i < 2; i++)
        tml_buffer_destroy(tml, rows[i]);
    tml_buffer_destroy(tml, values);
    tml_buffer_destroy(tml, triangles);
    tml_buffer_destroy(tml, words);
    close_context(tml);
}

/* Handles differ, and the memory behind them is the same. */
TEST(outputs_over_the_same_memory)
{
    if (!is_cpu())
        SKIP("only the CPU engine writes to memory of the host's");
    static float memory[3 * 4096];
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_noise, TML_F32, 9, 8, 7);
    s.desc.normals = TML_NORMALS_CENTRAL;
    tml_buffer lent[2], radii;
    for (int i = 0; i < 2; i++)
        CHECK_OK(tml, tml_buffer_create(tml,
                                        &(tml_buffer_desc){.type = TML_VEC(TML_F32, 3),
                                                           .count = 2048,
                                                           .host = memory + 3 * 2047 * i},
                                        &lent[i]));
    s.desc.mesh.positions = lent[0];
    s.desc.mesh.normals = lent[1];
    check_overlap(&s, NULL, "desc.mesh.normals", "desc.mesh.positions");
    free_scene(&s);
    memory[0] = memory[1] = 1;
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 2, .host = memory},
                               &radii));
    const tml_field_desc field = {.points = buffer_of(tml, TML_VEC(TML_F32, 3), 2, two_points),
                                  .radii = radii};
    scene of_points = {.tml = tml,
                       .desc = {.field = &field, .iso = 0.5, .mesh.positions = lent[0]}};
    check_overlap(&of_points, NULL, "desc.mesh.positions", "desc.field.radii");
    close_context(tml);
}

/* Enqueued with the isovalue in the desc and on the device, with room and without: what tml_surface
 * makes, as far as it fits. */
TEST(enqueued_is_the_surface)
{
    static const tml_type types[] = {TML_F32, TML_U8, TML_I16, TML_F16, TML_U32, TML_I64, TML_F64};
    tml_context *tml = open_context(2);
    for (int option = 0; option < 21; option++) {
        tml_type type = types[option % 7];
        scene s = make_scene(tml, option % 2 ? field_noise : field_gyroid, type, 64, 13, 11);
        s.desc.iso = (double)(float)encode(type, 0.25);
        s.desc.caps = option % 5 == 4;
        s.desc.flip = option % 3 == 2;
        s.desc.normals = option % 3 == 1 ? TML_NORMALS_CENTRAL : TML_NORMALS_NONE;
        s.desc.indices64 = option % 4 == 3;
        if (option >= 14 && tml_type_is_float(type))
            add_nans(&s, type, 0.05);
        if (option % 3 == 0)
            add_attribute(&s);
        mesh whole;
        if (!make_mesh(&s, &whole)) {
            free_scene(&s);
            continue;
        }
        const uint64_t vertices = whole.result.vertex_count;
        const uint64_t triangles = whole.result.triangle_count;
        float held[2] = {0, (float)s.desc.iso};
        tml_buffer iso = buffer_of(tml, TML_F32, 2, held);
        for (int room = 0; room < 4; room++) {
            uint64_t v = room == 1 ? vertices / 2 : room == 3 ? 0 : vertices + 3;
            uint64_t t = room == 2 ? triangles - 1 : room == 3 ? 0 : triangles + 3;
            size_t index_size = tml_type_size(TML_VEC(s.desc.indices64 ? TML_U64 : TML_U32, 3));
            guarded g[6] = {make_guarded(tml, TML_VEC(TML_F32, 3), v),
                            make_guarded(tml, TML_VEC(TML_F32, 3), v),
                            make_guarded(tml, TML_F32, v),
                            make_guarded(tml, TML_VEC(s.desc.indices64 ? TML_U64 : TML_U32, 3), t),
                            make_guarded(tml, room % 2 ? TML_U64 : TML_U32, 2),
                            make_guarded(tml, TML_U32, 5)};
            tml_surface_desc surface = s.desc;
            surface.counts = g[4].buffer;
            surface.draw = g[5].buffer;
            surface.mesh.positions = g[0].buffer;
            surface.mesh.normals = g[1].buffer;
            surface.mesh.values = g[2].buffer;
            surface.mesh.indices = g[3].buffer;
            if (room % 2) {
                surface.iso = 0;
                surface.iso_buffer = iso;
                surface.iso_index = 1;
            }
            CHECK(devices[device_number].engine != TML_ENGINE_VULKAN ||
                  SCRATCH_OF(tml, tml_surface_enqueue(tml, &surface)) > 0);
            CHECK_OK(tml, tml_surface_enqueue(tml, &surface));
            for (int i = 0; i < 6; i++)
                fetch_guarded(tml, &g[i]);
            uint64_t counts[2], shown = t < triangles ? t : triangles;
            for (int i = 0; i < 2; i++) {
                uint32_t narrow;
                memcpy(&narrow, g[4].block + GUARD + 4 * i, 4);
                memcpy(&counts[i], g[4].block + GUARD + (room % 2 ? 8 * i : 0), 8);
                counts[i] = room % 2 ? counts[i] : narrow;
            }
            CHECK_EQ_U64(counts[0], vertices);
            CHECK_EQ_U64(counts[1], triangles);
            const uint32_t draw[5] = {(uint32_t)(3 * shown), 1, 0, 0, 0};
            CHECK(memcmp(g[5].block + GUARD, draw, sizeof draw) == 0);
            uint64_t kept = v < vertices ? v : vertices;
            bool same = memcmp(g[0].block + GUARD, whole.positions, 12 * kept) == 0;
            if (s.desc.normals)
                same &= memcmp(g[1].block + GUARD, whole.normals, 12 * kept) == 0;
            if (s.attribute)
                same &= memcmp(g[2].block + GUARD, whole.values, 4 * kept) == 0;
            for (uint64_t i = 0; i < 3 * shown; i++) {
                uint64_t wide = get_low(g[3].block + GUARD + i * index_size / 3, index_size / 3);
                same &= wide == whole.indices[i];
            }
            same &= is_untouched(&g[0], 12 * kept) && is_untouched(&g[3], index_size * shown) &&
                    is_untouched(&g[1], s.desc.normals ? 12 * kept : 0) &&
                    is_untouched(&g[2], s.attribute ? 4 * kept : 0) &&
                    is_untouched(&g[4], g[4].size) && is_untouched(&g[5], g[5].size);
            if (!CHECK(same))
                test_fail(__FILE__, __LINE__, "%s option %d room %d", s.name, option, room);
            for (int i = 0; i < 6; i++)
                free_guarded(tml, &g[i]);
        }
        tml_buffer_destroy(tml, iso);
        free_mesh(&s, &whole);
        free_scene(&s);
    }
    close_context(tml);
}

/* The soup that a welded mesh and room for v vertices say: triangles with a corner that is not
 * among the mesh's first vertices, as many as the soup's whole triangles have corners, are
 * zeros. */
static bool is_soup(const mesh *welded, uint64_t v, const guarded g[3])
{
    const float *arrays[3] = {welded->positions, welded->normals, welded->values};
    uint64_t triangles =
        v / 3 < welded->result.triangle_count ? v / 3 : welded->result.triangle_count;
    for (int a = 0; a < 3; a++) {
        const size_t size = a < 2 ? 12 : 4;
        if (!is_untouched(&g[a], arrays[a] ? 3 * triangles * size : 0))
            return false;
        for (uint64_t i = 0; arrays[a] && i < 3 * triangles; i++) {
            static const float zeros[3];
            const uint64_t *corners = &welded->indices[i / 3 * 3], room = v / 3 * 3;
            bool exists = corners[0] < room && corners[1] < room && corners[2] < room;
            const void *expected =
                exists ? (const char *)arrays[a] + size * welded->indices[i] : (const char *)zeros;
            if (memcmp(g[a].block + GUARD + size * i, expected, size) != 0)
                return false;
        }
    }
    return true;
}

/* Enqueues a soup into room for v vertices; seven more of normals. */
static void check_enqueued_soup(const scene *s, const mesh *welded, uint64_t v, bool is_held)
{
    tml_context *tml = s->tml;
    const uint64_t triangles = welded->result.triangle_count;
    float held = (float)s->desc.iso;
    tml_buffer iso = buffer_of(tml, TML_F32, 1, &held);
    const size_t cell_size = is_held ? sizeof(uint64_t) : sizeof(uint32_t);
    guarded g[6] = {make_guarded(tml, TML_VEC(TML_F32, 3), v),
                    make_guarded(tml, TML_VEC(TML_F32, 3), v + 7),
                    make_guarded(tml, TML_F32, v),
                    make_guarded(tml, is_held ? TML_U64 : TML_U32, 2),
                    make_guarded(tml, TML_U32, 5),
                    make_guarded(tml, is_held ? TML_U64 : TML_U32, v / 3)};
    tml_surface_desc surface = s->desc;
    surface.counts = g[3].buffer;
    surface.draw = g[4].buffer;
    surface.soup = true;
    surface.mesh.positions = g[0].buffer;
    surface.mesh.normals = g[1].buffer;
    surface.mesh.values = g[2].buffer;
    surface.triangle_cells = g[5].buffer;
    if (is_held) {
        surface.iso = 0;
        surface.iso_buffer = iso;
    }
    CHECK_OK(tml, tml_surface_enqueue(tml, &surface));
    for (int i = 0; i < 6; i++)
        fetch_guarded(tml, &g[i]);
    const uint64_t wide[2] = {3 * triangles, triangles};
    const uint32_t narrow[2] = {(uint32_t)wide[0], (uint32_t)triangles};
    const uint64_t shown = v / 3 < triangles ? v / 3 : triangles;
    const uint32_t draw[5] = {(uint32_t)(3 * shown), 1, 0, 0, 0};
    CHECK(memcmp(g[3].block + GUARD, is_held ? (const void *)wide : narrow, g[3].size) == 0);
    CHECK(memcmp(g[4].block + GUARD, draw, sizeof draw) == 0);
    CHECK(is_untouched(&g[3], g[3].size) && is_untouched(&g[4], g[4].size));
    CHECK(is_untouched(&g[5], surface.cells ? cell_size * shown : 0));
    for (uint64_t t = 0; surface.cells && t < shown; t++) {
        if (!CHECK_EQ_U64(get_low(g[5].block + GUARD + cell_size * t, cell_size), welded->cells[t]))
            break;
    }
    if (!CHECK(is_soup(welded, v, g)))
        test_fail(__FILE__, __LINE__, "%s with room for %" PRIu64, s->name, v);
    for (int i = 0; i < 6; i++)
        free_guarded(tml, &g[i]);
    tml_buffer_destroy(tml, iso);
}

TEST(enqueued_soup_is_the_surface)
{
    static const tml_type types[] = {TML_F32, TML_U8, TML_F16};
    tml_context *tml = open_context(2);
    for (int option = 0; option < 9; option++) {
        tml_type type = types[option % 3];
        scene s = make_scene(tml, option & 1 ? field_noise : field_gyroid, type, 64, 13, 11);
        s.desc.iso = (double)(float)encode(type, 0.25);
        s.desc.caps = option >= 6;
        s.desc.flip = option & 2;
        s.desc.normals = option & 4 ? TML_NORMALS_NONE : TML_NORMALS_CENTRAL;
        s.desc.cells = option != 3;
        if (option & 2 && tml_type_is_float(type))
            add_nans(&s, type, 0.05);
        if (option & 1)
            add_attribute(&s);
        mesh welded;
        if (make_mesh(&s, &welded)) {
            const uint64_t all = 3 * welded.result.triangle_count;
            const uint64_t rooms[] = {all + 4, all, all - 1, all / 2, all / 9, 3, 2, 0};
            for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++)
                if (is_turn(r + (uint64_t)option, 2))
                    check_enqueued_soup(&s, &welded, rooms[r], r & 1);
        }
        free_mesh(&s, &welded);
        free_scene(&s);
    }
    close_context(tml);
}

/* Moves a grid so far that float does not tell vertices beside a sample apart. */
static tml_grid far_grid(tml_grid grid)
{
    for (int k = 0; k < 3; k++)
        grid.origin[k] += 1 << 17;
    return grid;
}

/* Cells through filters, soups and buffers of both widths; those that leave with a triangle
 * leave. */
TEST(cells_follow_their_triangles)
{
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_plateaus, TML_U8, 33, 13, 12);
    s.desc.cells = s.desc.caps = true;
    s.desc.region = (tml_region){{2, 1, 3}, {29, 11, 8}};
    mesh before, after, lent;
    s.desc.grid = far_grid(s.desc.grid);
    make_mesh(&s, &before);
    s.desc.drop_degenerate = true;
    make_mesh(&s, &after);
    uint64_t kept = 0, triangles = before.result.triangle_count;
    for (uint64_t t = 0; t < triangles && kept < after.result.triangle_count; t++) {
        const float *p[3];
        for (uint64_t k = 0; k < 3; k++)
            p[k] = before.positions + 3 * before.indices[3 * t + k];
        if (!is_same_place(p[0], p[1]) && !is_same_place(p[1], p[2]) && !is_same_place(p[2], p[0]))
            CHECK_EQ_U64(after.cells[kept++], before.cells[t]);
    }
    CHECK(kept == after.result.triangle_count && kept < triangles && kept > 100);
    for (int option = 0; option < 8; option++) {
        tml_type type = option & 1 ? TML_U64 : TML_U32;
        uint64_t count = option & 2 ? kept : triangles;
        s.desc.drop_degenerate = option & 2;
        s.desc.soup = option & 4;
        s.desc.triangle_cells = buffer_of(tml, type, count + 1, NULL);
        if (make_mesh(&s, &lent)) {
            CHECK(memcmp(lent.cells, option & 2 ? after.cells : before.cells,
                         count * sizeof *lent.cells) == 0);
            CHECK_EQ_U64(lent.result.owned >> 4, 0);
        }
        free_mesh(&s, &lent);
        tml_buffer_destroy(tml, s.desc.triangle_cells);
        s.desc.triangle_cells = buffer_of(tml, type, count - 1, NULL);
        CHECK_STATUS(tml_surface(tml, &s.desc, &lent.result), TML_ERROR_CAPACITY);
        CHECK(strstr(tml_last_error(tml), "desc.triangle_cells") != NULL);
        tml_buffer_destroy(tml, s.desc.triangle_cells);
    }
    s.desc.triangle_cells = buffer_of(tml, TML_F32, triangles, NULL);
    CHECK_STATUS(tml_surface(tml, &s.desc, &lent.result), TML_ERROR_INVALID_ARGUMENT);
    tml_buffer_destroy(tml, s.desc.triangle_cells);
    s.desc.triangle_cells = (tml_buffer){0, 0};
    free_mesh(&s, &before);
    free_mesh(&s, &after);
    free_scene(&s);
    close_context(tml);
}

/* ---- layouts -------------------------------------------------------------------------------- */

/* The direction of a code of two signed numbers, by the header's formula in double. */
static void decode_octahedral(const int16_t code[2], double n[3])
{
    const double x = code[0] / 32767.0, y = code[1] / 32767.0;
    n[2] = 1 - fabs(x) - fabs(y);
    const double t = n[2] < 0 ? -n[2] : 0;
    n[0] = x + (x < 0 ? t : -t);
    n[1] = y + (y < 0 ? t : -t);
}

/* Radians between a code's direction and a unit vector; 0 0 0 must be the code 0 0. */
static double octahedral_error(const void *code, const float normal[3])
{
    int16_t words[2];
    double n[3], across = 0, along = 0;
    memcpy(words, code, sizeof words);
    if (normal[0] == 0 && normal[1] == 0 && normal[2] == 0)
        return words[0] == 0 && words[1] == 0 ? 0 : 4;
    decode_octahedral(words, n);
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3;
        const double c = n[i] * (double)normal[k] - n[k] * (double)normal[i];
        across += c * c;
        along += n[i] * (double)normal[i];
    }
    return atan2(sqrt(across), along);
}

/* What the header says: 0.0038 degrees. */
static const double octahedral_bound = 0.0038 * 3.14159265358979 / 180;

TEST(octahedral_normals_are_near)
{
    double worst = 0;
    for (uint64_t i = 0; i < (is_thinned ? 100000 : 4000000); i++) {
        double v[3], length = 0;
        for (uint64_t k = 0; k < 3; k++) {
            /* Random ones; and all signs, zeros and equal sizes. */
            const uint64_t at[3] = {i, k, 0};
            v[k] = i < 125 ? (double)(i /
                                      (k == 0   ? 1
                                       : k == 1 ? 5
                                                : 25) %
                                      5) /
                                     2 -
                                 1
                           : noise_at(at, 8);
            length += v[k] * v[k];
        }
        length = length > 0 ? sqrt(length) : 1;
        const tml_vec3 n = {(float)(v[0] / length), (float)(v[1] / length), (float)(v[2] / length)};
        const float normal[3] = {n.x, n.y, n.z};
        const uint32_t code = surface_octahedral(n);
        const double error = octahedral_error(&code, normal);
        worst = error > worst ? error : worst;
    }
    if (!CHECK(worst < octahedral_bound && worst > 0.9 * octahedral_bound))
        test_fail(__FILE__, __LINE__, "%g degrees", worst * 180 / 3.14159265358979);
    /* A code's direction has that code, inside the square: on its border two codes are one. */
    for (int x = -32766; x < 32767; x += is_thinned ? 211 : 19)
        for (int y = -32766; y < 32767; y += is_thinned ? 103 : 7) {
            double d[3];
            const int16_t expected[2] = {(int16_t)x, (int16_t)y};
            decode_octahedral(expected, d);
            const uint32_t code =
                surface_octahedral((tml_vec3){(float)d[0], (float)d[1], (float)d[2]});
            if (!CHECK(memcmp(&code, expected, sizeof code) == 0))
                return;
        }
}

/* What a renderer may ask for. */
typedef struct layout_case {
    uint32_t stride, position, normal, value;
    bool octahedral, indices16;
} layout_case;

static const layout_case layout_cases[] = {
    {0, 0, 0, 0, true, false},    {0, 0, 0, 0, false, true},   {0, 0, 0, 0, true, true},
    {28, 0, 12, 24, false, true}, {20, 0, 12, 16, true, true}, {32, 8, 20, 0, false, false},
    {24, 8, 4, 20, true, false},  {64, 52, 0, 16, true, true}, {16, 4, 0, 0, true, false},
    {12, 0, 0, 0, false, true},
};

/* Sets it; of attributes that have no room in the record none are asked for. */
static void set_layout(scene *s, const layout_case *l)
{
    s->desc.layout.stride = l->stride;
    s->desc.layout.position_offset = l->position;
    s->desc.layout.normal_offset = l->normal;
    s->desc.layout.value_offset = l->value;
    s->desc.layout.octahedral_normals = l->octahedral;
    s->desc.layout.indices16 = l->indices16;
    if (l->stride && l->stride <= 16)
        s->desc.attribute = (tml_buffer){0, 0};
    if (l->stride == 12)
        s->desc.normals = TML_NORMALS_NONE;
}

/* A place in an array that may be none. */
static const unsigned char *place_in(const void *array, uint64_t at)
{
    return array ? (const unsigned char *)array + at : NULL;
}

/* Compares vertices that are laid out so, in up to three arrays, with packed ones. chosen: of the
 * packed, or NULL for all in turn; UINT64_MAX: zeros. */
static bool vertices_are(const tml_surface_desc *desc, const void *const arrays[3],
                         const mesh *packed, uint64_t count, const uint64_t *chosen)
{
    static const float zeros[3];
    const size_t stride = desc->layout.stride,
                 normal_size = desc->layout.octahedral_normals ? 4 : 12;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t from = chosen ? chosen[i] : i;
        const bool none = from == UINT64_MAX;
        const unsigned char *v = place_in(arrays[0], i * (stride ? stride : 12));
        const unsigned char *n =
            stride ? v + desc->layout.normal_offset : place_in(arrays[1], i * normal_size);
        const unsigned char *a =
            stride ? v + desc->layout.value_offset : place_in(arrays[2], i * 4);
        if (memcmp(v + desc->layout.position_offset, none ? zeros : packed->positions + 3 * from,
                   12) != 0)
            return false;
        const float *normal = none || !packed->normals ? zeros : packed->normals + 3 * from;
        if (packed->normals &&
            (desc->layout.octahedral_normals ? octahedral_error(n, normal) > octahedral_bound
                                             : memcmp(n, normal, 12) != 0))
            return false;
        if (packed->values && memcmp(a, none ? zeros : packed->values + from, 4) != 0)
            return false;
    }
    return true;
}

/* Bytes of a buffer that indices of so many change: OpenGL ES writes whole words. */
static size_t index_bytes(size_t size)
{
    return devices[device_number].engine == TML_ENGINE_GL ? (size + 3) / 4 * 4 : size;
}

/* Waiting calls: buffers that the call makes, then the caller's. s: as it shall be but packed. */
static void check_layout(const scene *s, const mesh *packed, const layout_case *l)
{
    tml_context *tml = s->tml;
    scene laid = *s;
    mesh m;
    set_layout(&laid, l);
    const size_t vertex = l->stride ? l->stride : 12, normal = l->octahedral ? 4 : 12;
    const uint64_t vertices = packed->result.vertex_count;
    const uint64_t triangles = packed->result.triangle_count;
    if (!make_mesh(&laid, &m))
        return;
    const void *const arrays[3] = {m.positions, m.normals, m.values};
    bool same = m.result.vertex_count == vertices && m.result.triangle_count == triangles;
    same = same && vertices_are(&laid.desc, arrays, packed, vertices, NULL) &&
           same_bytes(m.indices, packed->indices, 3 * triangles * sizeof *m.indices);
    tml_type type = TML_TYPE_NONE;
    tml_buffer_describe(tml, m.result.mesh.positions, &type, NULL);
    same &= type == (l->stride ? TML_RECORD(l->stride) : TML_VEC(TML_F32, 3));
    same &= tml_buffer_is_none(m.result.mesh.normals) ==
            (l->stride || laid.desc.normals == TML_NORMALS_NONE);
    guarded g[4] = {make_guarded(tml, type, vertices + 3),
                    make_guarded(tml,
                                 TML_VEC(l->octahedral ? TML_I16 : TML_F32, l->octahedral ? 2 : 3),
                                 vertices + 3),
                    make_guarded(tml, TML_F32, vertices + 3),
                    make_guarded(tml, TML_VEC(l->indices16 ? TML_U16 : TML_U32, 3), triangles + 3)};
    laid.desc.mesh.positions = g[0].buffer;
    laid.desc.mesh.indices = g[3].buffer;
    if (!l->stride) {
        laid.desc.mesh.normals = g[1].buffer;
        laid.desc.mesh.values = g[2].buffer;
    }
    tml_surface_result r;
    CHECK_OK(tml, tml_surface(tml, &laid.desc, &r));
    for (int i = 0; i < 4; i++)
        fetch_guarded(tml, &g[i]);
    const void *const given[3] = {g[0].block + GUARD, g[1].block + GUARD, g[2].block + GUARD};
    const size_t index = l->indices16 ? 2 : 4;
    same &= vertices_are(&laid.desc, given, packed, vertices, NULL);
    for (uint64_t i = 0; i < 3 * triangles && !laid.desc.soup; i++) {
        uint64_t wide = get_low(g[3].block + GUARD + i * index, index);
        same &= wide == packed->indices[i];
    }
    same &= is_untouched(&g[0], vertex * vertices) &&
            is_untouched(&g[1], l->stride || !laid.desc.normals ? 0 : normal * vertices) &&
            is_untouched(&g[2], l->stride || !packed->values ? 0 : 4 * vertices) &&
            is_untouched(&g[3], laid.desc.soup ? 0 : index_bytes(3 * index * triangles));
    if (!CHECK(same))
        test_fail(__FILE__, __LINE__, "%s: stride %u", s->name, (unsigned)l->stride);
    tml_surface_free(tml, &r);
    for (int i = 0; i < 4; i++)
        free_guarded(tml, &g[i]);
    free_mesh(&laid, &m);
}

TEST(layouts_hold_the_packed_mesh)
{
    static const double isovalues[] = {0, 0.35, -0.3};
    tml_context *tml = open_context(2);
    const uint64_t cases = sizeof layout_cases / sizeof layout_cases[0];
    for (uint64_t option = 0; option < 12; option++)
        for (uint64_t c = 0; c < cases; c++) {
            if (!is_turn(option + c, 7))
                continue;
            const uint64_t nx = option == 0 ? 2 : option % 3 == 2 ? 290 : 66;
            scene s = make_scene(tml, option == 1 || option == 5 ? field_noise : field_torus,
                                 option % 4 == 3 ? TML_U16 : TML_F32, nx, 13, 11);
            s.desc.normals = option % 4 == 2 ? TML_NORMALS_NONE
                             : option & 1    ? TML_NORMALS_SOBEL
                                             : TML_NORMALS_CENTRAL;
            s.desc.caps = option % 3 == 0;
            s.desc.flip = option & 4;
            s.desc.soup = option == 4 || option == 7 || option == 8;
            s.desc.largest_component = option == 6 || option == 7;
            s.desc.drop_degenerate = option == 6;
            if (option == 5 || option == 9)
                add_nans(&s, TML_F32, 0.03);
            if (option >= 8 && option % 4 != 3) {
                s.desc.isovalues = isovalues;
                s.desc.isovalue_count = 3;
            }
            if (option & 1 || option == 8)
                add_attribute(&s);
            const tml_buffer attribute = s.desc.attribute;
            scene without = s; /* what this record has room for */
            set_layout(&without, &layout_cases[c]);
            s.desc.attribute = without.desc.attribute;
            s.desc.normals = without.desc.normals;
            mesh packed;
            if (make_mesh(&s, &packed))
                check_layout(&s, &packed, &layout_cases[c]);
            free_mesh(&s, &packed);
            s.desc.attribute = attribute;
            free_scene(&s);
        }
    close_context(tml);
}

/* Enqueues a surface that is laid out so, into room for v vertices and t triangles. */
static void check_enqueued_layout(const scene *s, const mesh *packed, const layout_case *l,
                                  uint64_t v, uint64_t t)
{
    tml_context *tml = s->tml;
    scene laid = *s;
    set_layout(&laid, l);
    const bool soup = s->desc.soup;
    const uint64_t triangles = packed->result.triangle_count; /* packed is welded */
    const uint64_t vertices = soup ? 3 * triangles : packed->result.vertex_count;
    const size_t vertex = l->stride ? l->stride : 12, index = l->indices16 ? 2 : 4;
    guarded g[6] = {
        make_guarded(tml, l->stride ? TML_RECORD(l->stride) : TML_VEC(TML_F32, 3), v),
        make_guarded(tml, TML_VEC(l->octahedral ? TML_I16 : TML_F32, l->octahedral ? 2 : 3), v),
        make_guarded(tml, TML_F32, v),
        make_guarded(tml, TML_VEC(l->indices16 ? TML_U16 : TML_U32, 3), t),
        make_guarded(tml, TML_U64, 2),
        make_guarded(tml, TML_U32, 5)};
    laid.desc.counts = g[4].buffer;
    laid.desc.draw = g[5].buffer;
    laid.desc.mesh.positions = g[0].buffer;
    if (!soup)
        laid.desc.mesh.indices = g[3].buffer;
    if (!l->stride && laid.desc.normals)
        laid.desc.mesh.normals = g[1].buffer;
    if (!l->stride)
        laid.desc.mesh.values = g[2].buffer;
    CHECK_OK(tml, tml_surface_enqueue(tml, &laid.desc));
    for (int i = 0; i < 6; i++)
        fetch_guarded(tml, &g[i]);
    uint64_t counts[2];
    memcpy(counts, g[4].block + GUARD, sizeof counts);
    bool same = counts[0] == vertices && counts[1] == triangles;
    const uint64_t shown =
        soup ? (v / 3 < triangles ? v / 3 : triangles) : (t < triangles ? t : triangles);
    const uint32_t draw[5] = {(uint32_t)(3 * shown), 1, 0, 0, 0};
    same &= memcmp(g[5].block + GUARD, draw, sizeof draw) == 0;
    const uint64_t kept = soup ? 3 * shown : v < vertices ? v : vertices;
    uint64_t *chosen = soup ? calloc(kept + 1, sizeof *chosen) : NULL;
    for (uint64_t i = 0; soup && i < kept; i++) {
        const uint64_t *corners = &packed->indices[i / 3 * 3], room = v / 3 * 3;
        const bool exists = corners[0] < room && corners[1] < room && corners[2] < room;
        chosen[i] = exists ? packed->indices[i] : UINT64_MAX;
    }
    const void *const given[3] = {g[0].block + GUARD, g[1].block + GUARD, g[2].block + GUARD};
    same &= vertices_are(&laid.desc, given, packed, kept, chosen);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < 3 * shown && !soup; i++) {
        uint64_t wide = get_low(g[3].block + GUARD + i * index, index);
        uint64_t expected = packed->indices[i];
        const uint64_t *corners = &packed->indices[i / 3 * 3];
        if (l->indices16 && (corners[0] > 65534 || corners[1] > 65534 || corners[2] > 65534))
            expected = 0;
        wrong += wide != expected;
    }
    same &= wrong == 0;
    same &= is_untouched(&g[0], vertex * kept) &&
            is_untouched(&g[3], soup ? 0 : index_bytes(3 * index * shown));
    if (!CHECK(same))
        test_fail(__FILE__, __LINE__,
                  "%s: stride %u, room for %" PRIu64 ", %" PRIu64 ": %" PRIu64 " wrong indices",
                  s->name, (unsigned)l->stride, v, t, wrong);
    free(chosen);
    for (int i = 0; i < 6; i++)
        free_guarded(tml, &g[i]);
}

TEST(enqueued_layouts_hold_the_packed_mesh)
{
    tml_context *tml = open_context(2);
    const uint64_t cases = sizeof layout_cases / sizeof layout_cases[0];
    for (uint64_t option = 0; option < 6; option++)
        for (uint64_t c = 0; c < cases; c++) {
            if (!is_turn(option + c, 7))
                continue;
            scene s = make_scene(tml, option & 1 ? field_noise : field_gyroid, TML_F32,
                                 option % 3 == 2 ? 290 : 64, 13, 11);
            s.desc.iso = 0.25;
            s.desc.caps = option == 4;
            s.desc.normals = TML_NORMALS_CENTRAL;
            if (option >= 3)
                add_nans(&s, TML_F32, 0.05);
            if (option & 1)
                add_attribute(&s);
            const tml_buffer attribute = s.desc.attribute;
            scene without = s;
            set_layout(&without, &layout_cases[c]);
            s.desc.attribute = without.desc.attribute;
            s.desc.normals = without.desc.normals;
            mesh packed;
            if (make_mesh(&s, &packed)) {
                const uint64_t v = packed.result.vertex_count, t = packed.result.triangle_count;
                check_enqueued_layout(&s, &packed, &layout_cases[c], v + 3, t + 3);
                check_enqueued_layout(&s, &packed, &layout_cases[c], v / 2, t - 1);
                check_enqueued_layout(&s, &packed, &layout_cases[c], 0, 0);
                s.desc.soup = true;
                check_enqueued_layout(&s, &packed, &layout_cases[c], 3 * t + 4, 0);
                check_enqueued_layout(&s, &packed, &layout_cases[c], t, 0);
                s.desc.soup = false;
            }
            free_mesh(&s, &packed);
            s.desc.attribute = attribute;
            free_scene(&s);
        }
    close_context(tml);
}

/* A volume with so many vertices: lone samples inside have six, on a face five, on an edge four, in
 * a corner three. */
static scene make_counted(tml_context *tml, uint64_t vertices)
{
    enum { SIDE = 49 };
    scene s = make_scene(tml, field_low, TML_U8, SIDE, SIDE, SIDE);
    uint8_t *samples = s.samples;
    memset(samples, 0, s.count);
    s.desc.iso = 128;
    if (vertices % 6 >= 3)
        samples[vertices % 6 == 3 ? 0 : vertices % 6 == 4 ? 24 : SIDE * 24 + 24] = 255;
    for (uint64_t k = 0; k < vertices / 6; k++)
        samples[1 + 2 * (k % 23) + SIDE * (1 + 2 * (k / 23 % 23) + SIDE * (1 + 2 * (k / 529)))] =
            255;
    upload(&s);
    snprintf(s.name, sizeof s.name, "%" PRIu64 " vertices", vertices);
    return s;
}

TEST(indices_of_16_bits_at_the_seams)
{
    static const uint64_t counts[] = {0, 3, 65535, 65536, 65538};
    const layout_case l = {20, 0, 12, 16, true, true};
    tml_context *tml = open_context(2);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        scene s = make_counted(tml, counts[i]);
        s.desc.normals = TML_NORMALS_CENTRAL;
        mesh packed;
        CHECK(make_mesh(&s, &packed));
        const uint64_t v = packed.result.vertex_count, t = packed.result.triangle_count;
        CHECK_EQ_U64(v, counts[i]);
        if (v <= 65535) {
            check_layout(&s, &packed, &l);
        } else {
            scene laid = s;
            tml_surface_result r;
            set_layout(&laid, &l);
            CHECK_STATUS(tml_surface(tml, &laid.desc, &r), TML_ERROR_CAPACITY);
            CHECK(strstr(tml_last_error(tml), "indices16"));
            CHECK(r.vertex_count == v && r.triangle_count == t && r.owned == 0);
            /* A filter may leave few enough; a soup has none. */
            laid.desc.largest_component = true;
            CHECK_OK(tml, tml_surface(tml, &laid.desc, &r));
            CHECK(r.vertex_count == 6 && r.triangle_count == 8);
            tml_surface_free(tml, &r);
            laid.desc.largest_component = false;
            laid.desc.drop_degenerate = true;
            CHECK_STATUS(tml_surface(tml, &laid.desc, &r), TML_ERROR_CAPACITY);
            CHECK(r.vertex_count == v && r.triangle_count == t);
            laid.desc.drop_degenerate = false;
            laid.desc.soup = true;
            CHECK_OK(tml, tml_surface(tml, &laid.desc, &r));
            tml_surface_free(tml, &r);
        }
        check_enqueued_layout(&s, &packed, &l, v + 1, t + 1);
        check_enqueued_layout(&s, &packed, &layout_cases[1], v, t);
        free_mesh(&s, &packed);
        free_scene(&s);
    }
    close_context(tml);
}

/* ---- fields --------------------------------------------------------------------------------- */

TEST(field_input_is_the_field_as_a_volume)
{
    enum { POINTS = 300 };
    float points[3 * POINTS];
    for (uint64_t i = 0; i < 3 * POINTS; i++) {
        uint64_t at[3] = {i, 0, 0};
        points[i] = (float)(10 * noise_at(at, 21));
    }
    tml_context *tml = open_context(2);
    tml_buffer cloud = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points);
    for (int option = 0; option < 16; option++) {
        if (!is_turn((uint64_t)option, 5))
            continue;
        tml_field_desc field = {.points = cloud,
                                .radius = option & 1 ? 2.5 : 1.2,
                                .kind = option & 2 ? TML_FIELD_DISTANCE : TML_FIELD_KERNEL_SUM,
                                .resolution = option & 4 ? 90 : 61};
        double iso = 0;
        tml_field_desc resolved;
        if (!CHECK_OK(tml, resolve_field(tml, &field, &resolved, &iso)))
            continue;
        const tml_grid *grid = &resolved.grid;
        uint64_t count = grid->dims[0] * grid->dims[1] * grid->dims[2];
        scene s = {.tml = tml, .count = count, .desc = {.iso = iso, .grid = *grid}};
        s.desc.normals = option & 8 ? TML_NORMALS_SOBEL : TML_NORMALS_CENTRAL;
        s.desc.caps = option & 4;
        s.desc.volume = buffer_of(tml, TML_F32, count, NULL);
        mesh stored, direct;
        bool has_stored =
            CHECK_OK(tml, tml_field(tml, &resolved, s.desc.volume)) && make_mesh(&s, &stored);
        scene f = {
            .tml = tml,
            .desc = {.iso = iso, .field = &field, .normals = s.desc.normals, .caps = s.desc.caps}};
        bool has_direct = make_mesh(&f, &direct);
        if (has_stored && has_direct) {
            CHECK(stored.result.triangle_count > 100);
            if (!CHECK(same_mesh(&stored, &direct)))
                test_fail(__FILE__, __LINE__, "field option %d", option);
        }
        free_mesh(&s, &stored);
        free_mesh(&f, &direct);
        free_scene(&s);
    }
    close_context(tml);
}

/* A grid so large that the CPU evaluates it in three slabs: the seams between them must not
 * show. */
TEST(fields_in_slabs)
{
    SKIP_UNLESS_CPU("the device holds the field whole");
    enum { POINTS = 200 };
    float points[3 * POINTS];
    for (uint64_t i = 0; i < 3 * POINTS; i++) {
        uint64_t at[3] = {i, 0, 0};
        static const double extent[3] = {1200, 1000, 16};
        points[i] = (float)(extent[i % 3] * (noise_at(at, 22) + 1) / 2);
    }
    static const double isovalues[] = {0.1, 0.4};
    tml_context *tml = open_context(2);
    tml_buffer cloud = buffer_of(tml, TML_VEC(TML_F32, 3), POINTS, points);
    tml_field_desc field = {.points = cloud, .radius = 9, .grid = {.dims = {1200, 1000, 17}}};
    uint64_t count = 1200 * 1000 * 17;
    scene s = {.tml = tml, .count = count, .desc = {.grid = field.grid}};
    s.desc.isovalues = isovalues;
    s.desc.isovalue_count = 2;
    s.desc.normals = TML_NORMALS_SOBEL;
    s.desc.caps = true;
    scene f = s;
    f.desc.grid = (tml_grid){{0}, {0}, {0}, {0}};
    f.desc.field = &field;
    s.desc.volume = buffer_of(tml, TML_F32, count, NULL);
    mesh stored, direct;
    bool has_stored =
        CHECK_OK(tml, tml_field(tml, &field, s.desc.volume)) && make_mesh(&s, &stored);
    bool has_direct = make_mesh(&f, &direct);
    if (has_stored && has_direct) {
        CHECK(stored.result.triangle_count > 100000);
        CHECK(same_mesh(&stored, &direct));
    }
    free_mesh(&s, &stored);
    free_mesh(&f, &direct);
    free_scene(&s);
    close_context(tml);
}

/* ---- clean-up ------------------------------------------------------------------------------- */

/* Two spheres, of radius 8 around x = 10 and of radius small around x = 30. */
static scene make_two_spheres(tml_context *tml, double small)
{
    scene s = make_scene(tml, field_low, TML_F32, 42, 21, 21);
    for (uint64_t i = 0; i < s.count; i++) {
        uint64_t at[3];
        double p[3];
        place_of(s.desc.grid.dims, i, at, p);
        double y = (double)at[1] - 10, z = (double)at[2] - 10;
        double a = (double)at[0] - 10, b = (double)at[0] - 30;
        ((float *)s.samples)[i] =
            (float)fmax(8 - sqrt(a * a + y * y + z * z), small - sqrt(b * b + y * y + z * z));
    }
    upload(&s);
    return s;
}

TEST(largest_component_alone)
{
    tml_context *tml = open_context(2);
    for (int option = 0; option < 8; option++) {
        bool soup = option & 1, is_tie = option & 2;
        scene both = make_two_spheres(tml, is_tie ? 8 : 5), big = make_two_spheres(tml, -1);
        both.desc.iso = big.desc.iso = 0.25;
        both.desc.soup = big.desc.soup = soup;
        both.desc.indices64 = big.desc.indices64 = option & 4;
        both.desc.normals = big.desc.normals = TML_NORMALS_FORWARD;
        add_attribute(&both);
        add_attribute(&big);
        both.desc.largest_component = true;
        mesh kept, alone;
        bool has_kept = make_mesh(&both, &kept), has_alone = make_mesh(&big, &alone);
        if (has_kept && has_alone) {
            CHECK(kept.result.active_cells > alone.result.active_cells);
            kept.result.active_cells = alone.result.active_cells;
            CHECK_EQ_U64(kept.result.triangle_count, alone.result.triangle_count);
            CHECK(same_mesh(&kept, &alone));
        }
        free_mesh(&both, &kept);
        free_mesh(&big, &alone);
        free_scene(&both);
        free_scene(&big);
    }
    close_context(tml);
}

TEST(largest_component_of_each_part)
{
    static const double isovalues[] = {0.25, 3.5, 7.5, 20};
    tml_context *tml = open_context(2);
    scene s = make_two_spheres(tml, 5);
    s.desc.isovalues = isovalues;
    s.desc.isovalue_count = 4;
    s.desc.largest_component = true;
    mesh m;
    if (make_mesh(&s, &m)) {
        uint64_t vertices = 0, triangles = 0;
        for (uint32_t p = 0; p < 4; p++) {
            const tml_mesh_part *part = &m.result.parts[p];
            CHECK_EQ_U64(part->vertex_first, vertices);
            CHECK_EQ_U64(part->triangle_first, triangles);
            CHECK(p == 3 ? part->triangle_count == 0
                         : part->vertex_count == part->triangle_count / 2 + 2);
            for (uint64_t v = 0; v < part->vertex_count; v++)
                CHECK(m.positions[3 * (vertices + v)] < 20.0f);
            for (uint64_t i = 0; i < 3 * part->triangle_count; i++)
                CHECK(m.indices[3 * triangles + i] - vertices < part->vertex_count);
            vertices += part->vertex_count;
            triangles += part->triangle_count;
        }
        CHECK_EQ_U64(m.result.vertex_count, vertices);
        CHECK_EQ_U64(m.result.triangle_count, triangles);
        free_mesh(&s, &m);
    }
    free_scene(&s);
    close_context(tml);
}

/* Where samples equal the isovalue, and the grid lies so far that float has no room for the
 * clearance, sheets meet in triangles without area: with those a closed manifold, without them
 * closed, but no manifold any more. */
TEST(without_degenerate_triangles_a_manifold_may_end)
{
    enum { SIDE = 24 };
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_low, TML_U8, SIDE, SIDE, SIDE);
    for (uint64_t i = 0; i < s.count; i++) {
        uint64_t h = (i + 1) * 0x9e3779b97f4a7c15u;
        h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9u;
        ((uint8_t *)s.samples)[i] = (uint8_t)((h >> 40) % 5);
    }
    upload(&s);
    s.desc.iso = 2;
    s.desc.caps = true;
    s.desc.grid = far_grid(s.desc.grid);
    mesh before, after;
    bool has_before = make_mesh(&s, &before);
    s.desc.drop_degenerate = true;
    if (has_before && make_mesh(&s, &after)) {
        tml_mesh_stats stats = examine(&s, &before);
        CHECK_EQ_U64(stats.boundary_edges, 0);
        CHECK_EQ_U64(stats.nonmanifold_edges, 0);
        stats = examine(&s, &after);
        CHECK_EQ_U64(stats.boundary_edges, 0);
        CHECK(stats.nonmanifold_edges > 100);
        free_mesh(&s, &after);
    }
    free_mesh(&s, &before);
    free_scene(&s);
    close_context(tml);
}

TEST(degenerate_triangles_go_and_no_hole_stays)
{
    static const field_fn some[] = {field_plateaus, field_layer, field_high, field_sphere};
    tml_context *tml = open_context(2);
    for (size_t f = 0; f < sizeof some / sizeof some[0]; f++) {
        for (int option = 0; option < 4; option++) {
            scene s = make_scene(tml, some[f], option & 1 ? TML_U8 : TML_F32, 33, 13, 12);
            if (some[f] == field_sphere) /* whole steps, so that samples lie on the surface */
                for (uint64_t i = 0; i < s.count; i++) {
                    uint64_t at[3];
                    double p[3];
                    place_of(s.desc.grid.dims, i, at, p);
                    double steps = 0;
                    for (int k = 0; k < 3; k++)
                        steps += fabs((double)at[k] - (double)(s.desc.grid.dims[k] / 2));
                    store(s.samples, option & 1 ? TML_U8 : TML_F32, i,
                          encode(option & 1 ? TML_U8 : TML_F32, (4 - steps) / 40));
                }
            upload(&s);
            s.desc.caps = true;
            s.desc.soup = option >> 1;
            s.desc.grid = far_grid(s.desc.grid);
            mesh before, after;
            bool has_before = make_mesh(&s, &before);
            s.desc.drop_degenerate = true;
            bool has_after = make_mesh(&s, &after);
            if (!has_before || !has_after)
                continue;
            uint64_t good = 0;
            for (uint64_t t = 0; t < before.result.triangle_count; t++) {
                const float *p[3];
                for (uint64_t k = 0; k < 3; k++)
                    p[k] = before.positions + 3 * before.indices[3 * t + k];
                if (is_same_place(p[0], p[1]) || is_same_place(p[1], p[2]) ||
                    is_same_place(p[2], p[0]))
                    continue;
                for (uint64_t k = 0; k < 3 && good < after.result.triangle_count; k++)
                    CHECK(is_same_place(p[k], after.positions + 3 * after.indices[3 * good + k]));
                good++;
            }
            CHECK_EQ_U64(after.result.triangle_count, good);
            CHECK(good < before.result.triangle_count);
            if (!s.desc.soup) {
                tml_mesh_stats closed = examine(&s, &before), stats = examine(&s, &after);
                CHECK_EQ_U64(stats.boundary_edges, 0);
                CHECK_NEAR(stats.area, closed.area, 1e-9 * closed.area);
                CHECK_NEAR(stats.volume, closed.volume, 1e-9 * closed.area);
            }
            free_mesh(&s, &before);
            free_mesh(&s, &after);
            free_scene(&s);
        }
    }
    close_context(tml);
}

static int compare_places(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(float));
}

/* Vertices at places of their own, and triangles with an area. */
static void check_clear(const scene *s, const char *what)
{
    mesh m;
    if (!make_mesh(s, &m))
        return;
    uint64_t flat = 0, equal = 0;
    for (uint64_t t = 0; t < m.result.triangle_count; t++) {
        double u[3], v[3];
        for (uint64_t k = 0; k < 3; k++) {
            const float *p = m.positions;
            u[k] = (double)p[3 * m.indices[3 * t + 1] + k] - (double)p[3 * m.indices[3 * t] + k];
            v[k] = (double)p[3 * m.indices[3 * t + 2] + k] - (double)p[3 * m.indices[3 * t] + k];
        }
        flat +=
            u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
    }
    tml_mesh_stats stats = examine(s, &m);
    for (uint64_t i = 0; i < 3 * m.result.vertex_count; i++)
        m.positions[i] += 0.0f; /* -0 is 0 */
    qsort(m.positions, m.result.vertex_count, 3 * sizeof *m.positions, compare_places);
    for (uint64_t v = 1; v < m.result.vertex_count; v++)
        equal += is_same_place(m.positions + 3 * v, m.positions + 3 * (v - 1));
    if (flat || equal || stats.nonmanifold_edges || stats.degenerate_triangles ||
        (s->desc.caps && stats.boundary_edges) || m.result.triangle_count < 100)
        test_fail(__FILE__, __LINE__,
                  "%s, caps %d, topology %d: of %" PRIu64 " triangles %" PRIu64
                  " without area, %" PRIu64 " vertices at the place of another, %" PRIu64
                  " edges of one triangle, %" PRIu64 " of more than two",
                  what, s->desc.caps, s->desc.topology, m.result.triangle_count, flat, equal,
                  stats.boundary_edges, stats.nonmanifold_edges);
    free_mesh(s, &m);
}

/* Whole isovalues on whole samples: a ball in 8 bits, noise of few values, a layer at the isovalue,
 * an octahedron; each in integers, floats and, a rounding beside them, doubles. */
TEST(samples_at_the_isovalue_keep_triangles_whole)
{
    static const char *const names[] = {"ball", "noise", "layer", "octahedron"};
    static const tml_type types[] = {TML_U8, TML_I16, TML_I32, TML_F32, TML_F64};
    tml_context *tml = open_context(2);
    for (int shape = 0; shape < 4; shape++)
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            enum { SIDE = 26 };
            scene s = make_scene(tml, field_low, types[k], SIDE, SIDE, SIDE);
            for (uint64_t i = 0; i < s.count; i++) {
                const double x = (double)(i % SIDE) - 12, y = (double)(i / SIDE % SIDE) - 13,
                             z = (double)(i / SIDE / SIDE) - 12;
                uint64_t h = (i + 1) * 0x9e3779b97f4a7c15u;
                h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9u;
                const double value = shape == 0
                                         ? 100 + round(20 * (9 - sqrt(x * x + y * y + z * z)))
                                     : shape == 1 ? 98 + (double)((h >> 40) % 5)
                                     : shape == 2 ? (z == 0 ? 100 : 20)
                                                  : 109 - fabs(x) - fabs(y) - fabs(z);
                const double clamped = value < 0 ? 0 : value > 127 ? 127 : value;
                if (types[k] == TML_U8)
                    ((uint8_t *)s.samples)[i] = (uint8_t)clamped;
                else if (types[k] == TML_I16)
                    ((int16_t *)s.samples)[i] = (int16_t)clamped;
                else if (types[k] == TML_I32)
                    ((int32_t *)s.samples)[i] = (int32_t)clamped;
                else if (types[k] == TML_F32)
                    ((float *)s.samples)[i] = (float)clamped;
                else
                    ((double *)s.samples)[i] = clamped + 1e-14 * (double)(h >> 60);
            }
            upload(&s);
            s.desc.iso = 100;
            for (int option = 0; option < 4; option++) {
                s.desc.caps = option & 1;
                s.desc.topology = option & 2 ? TML_TOPOLOGY_TRILINEAR : TML_TOPOLOGY_SEPARATED;
                s.desc.grid.spacing[0] = 0.7;
                s.desc.grid.spacing[1] = 0.7;
                s.desc.grid.spacing[2] = 1.3;
                if (is_turn((uint64_t)(4 * shape + option) + k, 9))
                    check_clear(&s, names[shape]);
            }
            free_scene(&s);
        }
    close_context(tml);
}

/* The largest clearances that float holds: 8192 samples along an axis, of an odd spacing. */
TEST(clearance_is_held_along_8192_samples)
{
    tml_context *tml = open_context(2);
    for (int axis = 0; axis < 3; axis++) {
        uint64_t dims[3] = {3, 3, 3};
        dims[axis] = 8192;
        scene s = make_scene(tml, field_low, TML_U8, dims[0], dims[1], dims[2]);
        for (uint64_t i = 0; i < s.count; i++)
            ((uint8_t *)s.samples)[i] = (uint8_t)(i * 0x9e3779b97f4a7c15u >> 62);
        upload(&s);
        s.desc.iso = 2;
        for (int k = 0; k < 3; k++)
            s.desc.grid.spacing[k] = 0.7;
        check_clear(&s, "noise along an axis");
        free_scene(&s);
    }
    close_context(tml);
}

/* ---- things that go wrong ------------------------------------------------------------------- */

typedef struct countdown {
    int left;
    double last;
    bool is_monotonic;
} countdown;

static bool count_progress(void *user, const char *stage, double fraction)
{
    countdown *c = user;
    c->is_monotonic &= stage && fraction >= c->last && fraction <= 1;
    c->last = fraction;
    return c->left-- > 0;
}

TEST(progress_can_cancel_anywhere)
{
    static const uint64_t labels[] = {3, 7};
    bool is_fast = is_cpu() && !is_thinned; /* a context is opened each time */
    int near = is_fast ? 8 : 2, stride = is_fast ? 37 : 301;
    for (int option = 0; option < 4; option++) {
        int reports = 1000000;
        for (int stop = -1; stop < reports; stop = stop < near ? stop + 1 : stop + stride) {
            countdown c = {.left = stop < 0 ? 1000000 : stop, .is_monotonic = true};
            tml_context *tml = NULL;
            CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = device_name,
                                                     .threads = 2,
                                                     .progress = count_progress,
                                                     .progress_user = &c},
                                    &tml));
            scene s = make_scene(tml, option == 3 ? field_labels : field_noise,
                                 option == 3 ? TML_U8 : TML_F32, 65, 70, 60);
            s.desc.caps = option == 1;
            s.desc.largest_component = option == 2;
            s.desc.drop_degenerate = option == 2;
            if (option == 3) {
                s.desc.labels = labels;
                s.desc.label_count = 2;
            }
            tml_surface_result r;
            tml_status status = tml_surface(tml, &s.desc, &r);
            if (stop < 0) {
                CHECK_OK(tml, status);
                CHECK(c.is_monotonic);
                reports = 1000000 - c.left;
                CHECK(reports > 0 && reports < 1000);
                tml_surface_free(tml, &r);
            } else {
                CHECK_STATUS(status, TML_ERROR_CANCELLED);
                CHECK(!tml_is_cancelled(tml) && tml_last_error(tml)[0]);
                if (status == TML_OK)
                    tml_surface_free(tml, &r);
            }
            /* The context works on. */
            c.left = 1000000;
            c.last = 0;
            if (CHECK_OK(tml, tml_surface(tml, &s.desc, &r)))
                tml_surface_free(tml, &r);
            free_scene(&s);
            tml_close(tml);
        }
    }
}

/* Memory that runs out at the n-th request, and counts what is out. */
typedef struct failing_memory {
    int64_t left;
    int64_t live;
} failing_memory;

static void *failing_alloc(void *user, size_t size, size_t alignment)
{
    failing_memory *memory = user;
    if (memory->left-- <= 0)
        return NULL;
    void *block = tml_platform_alloc(size, alignment);
    if (!block)
        return NULL;
    memory->live += (int64_t)size;
    return block;
}

static void failing_free(void *user, void *block, size_t size)
{
    failing_memory *memory = user;
    memory->live -= (int64_t)size;
    tml_platform_free(block);
}

static const double two_isovalues[] = {0, 0.5};

/* Everything that a call may allocate for. */
static tml_status run_option(tml_context *tml, scene *s, int option)
{
    tml_surface_result r = {0};
    static const uint64_t labels[] = {3, 7};
    s->desc.caps = option == 1;
    s->desc.soup = option == 2;
    s->desc.largest_component = s->desc.drop_degenerate = option == 2 || option == 3;
    s->desc.isovalues = option == 4 ? two_isovalues : NULL;
    s->desc.isovalue_count = option == 4 ? 2 : 0;
    s->desc.normals = option == 5 ? TML_NORMALS_SOBEL : TML_NORMALS_NONE;
    s->desc.labels = option == 6 ? labels : NULL;
    s->desc.label_count = option == 6 ? 2 : 0;
    s->desc.all_labels = option == 7;
    s->desc.layout.indices16 = option == 1 || option == 3;
    s->desc.layout.stride = option == 2 || option == 3 ? 16 : 0;
    s->desc.layout.value_offset = s->desc.layout.stride ? 12 : 0;
    tml_status status = TML_OK;
    if (option == 8)
        status = tml_surface_index(
            tml, &(tml_surface_desc){.volume = s->desc.volume, .grid = s->desc.grid},
            &s->desc.index);
    if (status == TML_OK)
        status = tml_surface(tml, &s->desc, &r);
    tml_mesh_stats stats;
    if (status == TML_OK && option == 0)
        status = tml_mesh_examine(tml, &r.mesh, false, &stats);
    tml_surface_free(tml, &r);
    return status;
}

TEST(memory_may_run_out_anywhere)
{
    SKIP_UNLESS_CPU("device memory does not come from the allocator");
    for (int option = 0; option < 9; option++) {
        bool is_label = option == 6 || option == 7;
        tml_status status = TML_ERROR_OUT_OF_MEMORY;
        for (int64_t n = 0; n < 500 && status != TML_OK; n++) {
            failing_memory memory = {.left = INT64_MAX};
            tml_context *tml = NULL;
            CHECK_OK(NULL,
                     tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                               .threads = 2,
                                               .allocator = {failing_alloc, failing_free, &memory}},
                              &tml));
            scene s = make_scene(tml, is_label ? field_labels : field_plateaus,
                                 is_label ? TML_U8 : TML_F32, 33, 20, 21);
            add_attribute(&s);
            memory.left = n;
            status = run_option(tml, &s, option);
            if (status != TML_OK && !CHECK_STATUS(status, TML_ERROR_OUT_OF_MEMORY))
                test_fail(__FILE__, __LINE__, "option %d, request %" PRId64, option, n);
            if (status != TML_OK)
                CHECK(tml_last_error(tml)[0]);
            memory.left = INT64_MAX;
            CHECK_OK(tml, run_option(tml, &s, option));
            free_scene(&s);
            tml_close(tml);
            CHECK_EQ_I64(memory.live, 0);
        }
        CHECK_OK(NULL, status);
    }
}

/* Asks for a surface that must be refused with this status and a message naming the field. */
static void check_refused(const scene *s, tml_status expected, const char *word)
{
    tml_surface_result r;
    memset(&r, 0, sizeof r);
    tml_status status = tml_surface(s->tml, &s->desc, &r);
    if (!CHECK_STATUS(status, expected) || !CHECK(strstr(tml_last_error(s->tml), word)))
        test_fail(__FILE__, __LINE__, "\"%s\" says: %s", word, tml_last_error(s->tml));
    if (status == TML_OK)
        tml_surface_free(s->tml, &r);
}

TEST(bad_arguments_are_refused)
{
    static const double many[65];
    static const uint64_t label = 3, unsorted[] = {7, 3};
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_noise, TML_F32, 8, 7, 6);
    const tml_surface_desc good = s.desc;

    s.desc.volume = (tml_buffer){0};
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "volume");
    s.desc = good;
    s.desc.grid.dims[2] = 7;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "volume");
    s.desc = good;
    s.desc.grid.dims[0] = 0;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "dims");
    s.desc = good;
    s.desc.grid.dims[0] = s.desc.grid.dims[1] = UINT64_C(1) << 40;
    check_refused(&s, TML_ERROR_UNSUPPORTED, "dims");
    s.desc = good;
    s.desc.grid.spacing[0] = -1;
    s.desc.grid.spacing[1] = s.desc.grid.spacing[2] = 1;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "spacing");
    s.desc = good;
    s.desc.grid.spacing[0] = s.desc.grid.spacing[1] = 1;
    s.desc.grid.spacing[2] = NAN;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "spacing");
    s.desc = good;
    s.desc.grid.spacing[0] = s.desc.grid.spacing[1] = 1; /* and 0 */
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "spacing");
    s.desc = good;
    s.desc.position_origin[2] = NAN;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "position_origin");
    s.desc = good;
    s.desc.grid.origin[1] = INFINITY;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "origin");
    s.desc = good;
    s.desc.grid.direction[0] = 1; /* the others 0: no volume is left */
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "direction");
    s.desc = good;
    s.desc.iso = NAN;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "iso");
    s.desc = good;
    s.desc.isovalues = many;
    s.desc.isovalue_count = 65;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "isovalue");
    s.desc = good;
    s.desc.region.first[1] = 7;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "region");
    s.desc = good;
    s.desc.region.first[0] = 4;
    s.desc.region.count[0] = 5;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "region");
    s.desc = good;
    s.desc.region.first[0] = 4;
    s.desc.region.count[0] = UINT64_MAX;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "region");
    s.desc = good;
    s.desc.labels = &label;
    s.desc.label_count = 1;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "label");
    s.desc = good;
    s.desc.all_labels = true;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "label");
    s.desc = good;
    scene whole = make_scene(tml, field_labels, TML_U8, 8, 7, 6);
    whole.desc.labels = unsorted;
    whole.desc.label_count = 2;
    check_refused(&whole, TML_ERROR_INVALID_ARGUMENT, "labels");
    free_scene(&whole);
    s.desc = good;
    tml_buffer few = buffer_of(tml, TML_U8, 10, NULL);
    s.desc.mask = few;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mask");
    s.desc = good;
    s.desc.attribute = few;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "attribute");
    s.desc = good;
    s.desc.index = few;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "index");
    s.desc = good;
    s.desc.mesh.positions = few;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.positions");
    s.desc = good;
    s.desc.mesh.indices = few;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.indices");
    s.desc = good;
    s.desc.normals = (tml_normals)9;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "normals");
    s.desc = good;
    tml_buffer_destroy(tml, few);
    s.desc.mask = few; /* stale */
    check_refused(&s, TML_ERROR_INVALID_HANDLE, "mask");
    s.desc = good;
    check_scene(&s);
    free_scene(&s);
    close_context(tml);
}

TEST(bad_layouts_are_refused)
{
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_noise, TML_F32, 8, 7, 6);
    s.desc.normals = TML_NORMALS_CENTRAL;
    add_attribute(&s);
    const tml_surface_desc good = s.desc;
    static const struct {
        layout_case layout;
        const char *word;
    } bad[] = {
        {{30, 0, 12, 24, false, false}, "layout.stride is 30"},
        {{68, 0, 12, 24, false, false}, "layout.stride is 68"},
        {{8, 0, 0, 0, false, false}, "position_offset"},
        {{28, 2, 12, 24, false, false}, "position_offset is 2"},
        {{28, 0, 13, 24, false, false}, "normal_offset is 13"},
        {{28, 0, 12, 26, false, false}, "value_offset is 26"},
        {{28, 20, 0, 12, false, false}, "position_offset is 20"},
        {{24, 0, 16, 12, false, false}, "normal_offset is 16"},
        {{28, 0, 12, 28, false, false}, "value_offset is 28"},
        {{28, 0, 12, 0xfffffffc, false, false}, "value_offset"},
        {{28, 0, 8, 24, false, false}, "overlap"},
        {{28, 0, 12, 20, false, false}, "overlap"},
        {{0, 0, 12, 0, false, false}, "without a stride"},
        {{0, 4, 0, 0, true, false}, "position_offset"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const layout_case *l = &bad[i].layout;
        set_layout(&s, l);
        s.desc.attribute = good.attribute;
        check_refused(&s, TML_ERROR_INVALID_ARGUMENT, bad[i].word);
        s.desc = good;
    }
    s.desc.layout.indices16 = s.desc.indices64 = true;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "indices64");
    s.desc = good;
    /* Buffers of other types, and arrays beside records. */
    tml_buffer packed = buffer_of(tml, TML_VEC(TML_F32, 3), 5000, NULL);
    tml_buffer record = buffer_of(tml, TML_RECORD(28), 5000, NULL);
    s.desc.mesh.positions = record;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.positions");
    s.desc.mesh.positions = (tml_buffer){0, 0};
    s.desc.layout.octahedral_normals = true;
    s.desc.mesh.normals = packed;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.normals");
    s.desc = good;
    set_layout(&s, &(layout_case){28, 0, 12, 24, false, false});
    s.desc.mesh.positions = packed;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.positions");
    set_layout(&s, &(layout_case){32, 0, 12, 24, false, false});
    s.desc.mesh.positions = record;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.positions");
    set_layout(&s, &(layout_case){28, 0, 12, 24, false, false});
    s.desc.mesh.normals = packed;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.normals");
    s.desc = good;
    s.desc.layout.indices16 = true;
    s.desc.mesh.indices = packed;
    check_refused(&s, TML_ERROR_INVALID_ARGUMENT, "mesh.indices");
    tml_buffer_destroy(tml, packed);
    tml_buffer_destroy(tml, record);
    s.desc = good;
    free_scene(&s);
    close_context(tml);
}

/* Sizes and numbers whose sums and products pass 2^64. */
TEST(sizes_that_wrap_are_refused)
{
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_noise, TML_U8, 8, 7, 6);
    uint8_t cells[8 * 7 * 6];
    static const uint64_t dims[][3] = {{(uint64_t)1 << 32, (uint64_t)1 << 32, 2},
                                       {(uint64_t)1 << 63, 2, 2},
                                       {2, (uint64_t)1 << 63, (uint64_t)1 << 31},
                                       {(uint64_t)1 << 31, (uint64_t)1 << 31, 4}};
    tml_surface_result r;
    tml_buffer index;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        tml_surface_desc desc = s.desc;
        memcpy(desc.grid.dims, dims[i], sizeof desc.grid.dims);
        CHECK_STATUS(tml_surface_cells(tml, &desc, cells), TML_ERROR_UNSUPPORTED);
        CHECK(strstr(tml_last_error(tml), "tml_surface_cells: grid.dims") != NULL);
        CHECK_STATUS(tml_surface(tml, &desc, &r), TML_ERROR_UNSUPPORTED);
        CHECK_STATUS(
            tml_surface_index(tml, &(tml_surface_desc){.volume = desc.volume, .grid = desc.grid},
                              &index),
            TML_ERROR_UNSUPPORTED);
    }
    tml_surface_desc desc = s.desc;
    desc.region.first[1] = 1;
    desc.region.count[1] = UINT64_MAX;
    CHECK_STATUS(tml_surface_cells(tml, &desc, cells), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "tml_surface_cells: region on axis 1") != NULL);
    desc = s.desc;
    desc.field = &(tml_field_desc){.radius = 1.0};
    CHECK_STATUS(tml_surface_cells(tml, &desc, cells), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "make the volume by tml_field") != NULL);
    desc = s.desc;
    CHECK_OK(tml, tml_surface_cells(tml, &desc, cells));
    tml_surface_desc enqueued = s.desc;
    enqueued.iso_index = UINT64_MAX;
    enqueued.mesh.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 100, NULL);
    enqueued.mesh.indices = buffer_of(tml, TML_VEC(TML_U32, 3), 100, NULL);
    enqueued.iso_buffer = buffer_of(tml, TML_F32, 4, NULL);
    CHECK_STATUS(tml_surface_enqueue(tml, &enqueued), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.iso_index") != NULL);
    enqueued.iso_index = 4;
    CHECK_STATUS(tml_surface_enqueue(tml, &enqueued), TML_ERROR_INVALID_ARGUMENT);
    CHECK_EQ_U64(SCRATCH_OF(tml, tml_surface_enqueue(tml, &enqueued)), 0);
    tml_surface_result unused;
    CHECK_STATUS(tml_surface(tml, &enqueued, &unused), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "only tml_surface_enqueue uses those") != NULL);
    tml_buffer_destroy(tml, enqueued.mesh.positions);
    tml_buffer_destroy(tml, enqueued.mesh.indices);
    tml_buffer_destroy(tml, enqueued.iso_buffer);
    free_scene(&s);
    close_context(tml);
}

TEST(empty_surfaces)
{
    tml_context *tml = open_context(1);
    scene s = make_scene(tml, field_low, TML_F32, 9, 9, 9);
    s.desc.largest_component = s.desc.drop_degenerate = true;
    s.desc.normals = TML_NORMALS_CENTRAL;
    mesh m;
    if (make_mesh(&s, &m)) {
        CHECK_EQ_U64(m.result.vertex_count, 0);
        CHECK_EQ_U64(m.result.triangle_count, 0);
        CHECK_EQ_U64(m.result.active_cells, 0);
        CHECK_EQ_U64(m.result.part_count, 1);
        tml_mesh_stats stats = examine(&s, &m);
        CHECK_EQ_U64(stats.components, 0);
        CHECK_EQ_I64(stats.euler, 0);
        free_mesh(&s, &m);
    }
    free_scene(&s);
    s = make_scene(tml, field_low, TML_U8, 9, 9, 9);
    memset(s.samples, 0, s.count);
    upload(&s);
    s.desc.all_labels = true;
    if (make_mesh(&s, &m)) {
        CHECK_EQ_U64(m.result.part_count, 0);
        free_mesh(&s, &m);
    }
    free_scene(&s);
    close_context(tml);
}

/* ---- cost and stored data ------------------------------------------------------------------- */

TEST(scratch_and_stages)
{
    tml_context *tml = open_context(2);
    scene s = make_scene(tml, field_gyroid, TML_F32, 160, 160, 160);
    mesh m;
    if (make_mesh(&s, &m)) {
        /* As the header tells; rows of 160 take 256 on OpenGL. */
        double share = is_cpu() ? 0.4
                       : devices[device_number].engine == TML_ENGINE_VULKAN
                           ? 0.55 + 0.25 + 16.0 / 160
                           : 1.2 * 256 / 160;
        CHECK(m.result.scratch_size > 0 && (double)m.result.scratch_size < share * (double)s.count);
        CHECK(m.result.stage_count > 0 && m.result.stage_count <= 8);
        for (uint32_t i = 0; i < m.result.stage_count; i++)
            CHECK(m.result.stages[i].name && m.result.stages[i].seconds >= 0);
        free_mesh(&s, &m);
        size_t reserved = test_reserved(tml);
        if (make_mesh(&s, &m)) /* the steady state: the arena is large enough */
            CHECK_EQ_U64(test_reserved(tml), reserved);
        free_mesh(&s, &m);
    }
    free_scene(&s);
    close_context(tml);
}

/* Where positions have to be relative to an origin of their own. */
TEST(origins_of_what_is_far_from_0)
{
    static const struct {
        tml_grid grid;
        bool is_far;
    } places[] = {
        {{.spacing = {1, 1, 1}, .origin = {4096, -4096, 100}}, false},
        {{.spacing = {1, 1, 1}, .origin = {0, -4097, 0}}, true},
        {{.spacing = {0.1, 0.1, 0.1}, .origin = {4e6, 5e6, 100}}, true},
        {{.spacing = {1, 1, 0.01}, .origin = {1000, 0, 0}}, false}, /* x has steps of 1 */
        {{.spacing = {1, 1, 0.01},
          .origin = {1000, 0, 0},
          .direction = {0, 0, 1, 0, 1, 0, 1, 0, 0}},
         true},
        {{.spacing = {1, 1, 1}, .origin = {20000, 0, 0}, .direction = {-1, 0, 0, 0, 1, 0, 0, 0, 1}},
         true},
        {{.origin = {20000, 0, 0}}, true}, /* spacing 0 stands for 1 */
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double out[3];
        tml_grid_position_origin(&places[i].grid, out);
        for (int axis = 0; axis < 3; axis++)
            CHECK(out[axis] == (places[i].is_far ? places[i].grid.origin[axis] : 0));
    }
    const double low[3] = {637000, 851000, 0}, high[3] = {637003, 851002.5, 9};
    const double near[3] = {-3, 1, 2}, beside[3] = {5, 5, 5};
    double out[3];
    tml_box_position_origin(low, high, out);
    CHECK(out[0] == 637002 && out[1] == 851001 && out[2] == 5);
    tml_box_position_origin(near, beside, out);
    CHECK(out[0] == 0 && out[1] == 0 && out[2] == 0);
}

/* Etiene et al.: Topology Verification for Isosurface Extraction. 2012. Cells that are hard for
 * marching cubes, resampled: at 33 samples a side the topology is that of the samples. */
TEST(hard_cells_resampled)
{
    static const char *const names[] = {"03.1", "04.1", "07.1", "10.1", "13.3", "13.5"};
    enum { SIDE = 33 };
    if (!test_full_data("topology/gaspar/case-03.1.raw"))
        SKIP("TML_DATA has no topology/gaspar");
    tml_context *tml = open_context(2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char relative[64];
        snprintf(relative, sizeof relative, "topology/gaspar/case-%s.raw", names[i]);
        FILE *file = fopen(test_full_data(relative), "rb");
        if (!CHECK(file != NULL))
            continue;
        for (int caps = 0; caps < 2; caps++) {
            scene s = make_scene(tml, field_low, TML_F32, SIDE, SIDE, SIDE);
            rewind(file);
            for (uint64_t k = 0; k < s.count; k++) {
                uint8_t b[4];
                CHECK(fread(b, 1, 4, file) == 4);
                uint32_t bits =
                    (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
                memcpy((float *)s.samples + k, &bits, sizeof bits);
            }
            upload(&s);
            snprintf(s.name, sizeof s.name, "case %s", names[i]);
            s.desc.iso = 0;
            s.desc.caps = caps;
            check_scene(&s);
            if (caps) {
                check_closed(&s, 0, 0);
            } else {
                mesh m;
                if (make_mesh(&s, &m)) {
                    tml_mesh_stats stats = examine(&s, &m);
                    CHECK_EQ_U64(stats.nonmanifold_edges, 0);
                    CHECK(stats.boundary_edges > 0);
                    free_mesh(&s, &m);
                }
            }
            free_scene(&s);
        }
        fclose(file);
    }
    close_context(tml);
}

/* Every test on every device. First, --all: without taking turns; -d WHICH: only on a device's
 * number, or on those of an engine (cpu, vulkan, gl). */
int main(int argc, char **argv)
{
    static const char *const engines[] = {"auto", "cpu", "vulkan", "gl"};
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    argc -= all;
    argv += all;
    const char *which = argc > 2 && strcmp(argv[1], "-d") == 0 ? argv[2] : NULL;
    argc -= which ? 2 : 0;
    argv += which ? 2 : 0;
    printf("TML_SEED=%" PRIu64 "\n", test_seed());
    int status = TEST_EXIT_SKIPPED;
    uint32_t count = tml_devices(devices, 32);
    for (device_number = 0; device_number < count; device_number++) {
        const tml_device_info *device = &devices[device_number];
        snprintf(device_name, sizeof device_name, "%u", device_number);
        if (which && strcmp(which, device_name) != 0 && strcmp(which, engines[device->engine]) != 0)
            continue;
        printf("-- %s\n", device->name);
        is_thinned = !all && (TEST_IS_SLOW || device->is_software);
        int result = test_main(argc, argv);
        if (skipped_surfaces)
            printf("   %" PRIu64 " surfaces skipped: samples of f64\n", skipped_surfaces);
        skipped_surfaces = 0;
        tml_close(device_context);
        device_context = NULL;
        status = result == 1 || status == TEST_EXIT_SKIPPED ? result : status;
    }
    return status;
}
