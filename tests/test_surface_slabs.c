/* Surfaces in slabs against surfaces at once: the same vertices, triangles and numbers, bit for
 * bit, for every thickness of slabs, every option and any division into shares. */
#include "test.h"

#include "contexts.h"

#include <trommel/trommel.h>

#include "memory_watch.h"

/* ---- volumes -------------------------------------------------------------------------------- */

enum { DIM_MOST = 80 };

static uint64_t hash_of(uint64_t i)
{
    uint64_t h = i * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* Values of 0 to 255, whose surfaces at 128 lie on every seam. */
static double value_noise(uint64_t x, uint64_t y, uint64_t z)
{
    return (double)(hash_of(x + 1009 * (y + 1009 * z)) % 256);
}

static double value_gyroid(uint64_t x, uint64_t y, uint64_t z)
{
    double a = 0.7 * (double)x, b = 0.6 * (double)y, c = 0.8 * (double)z;
    return floor(128 + 40 * (sin(a) * cos(b) + sin(b) * cos(c) + sin(c) * cos(a)));
}

/* A third of the samples lies at the isovalue: triangles without area. */
static double value_plateaus(uint64_t x, uint64_t y, uint64_t z)
{
    return 127 + (double)(hash_of(x + 1009 * (y + 1009 * z)) % 3);
}

static double value_checkers(uint64_t x, uint64_t y, uint64_t z)
{
    return (x + y + z) % 2 ? 255 : 0;
}

/* Two layers out of four: whole slabs have nothing to say. */
static double value_layers(uint64_t x, uint64_t y, uint64_t z)
{
    (void)x;
    (void)y;
    return z % 4 < 2 ? 10 : 200;
}

/* Labels 0 to 3 in small blobs. */
static double value_labels(uint64_t x, uint64_t y, uint64_t z)
{
    return (double)(hash_of(x / 3 + 1009 * (y / 2 + 1009 * (z / 2))) % 4);
}

typedef double (*value_fn)(uint64_t x, uint64_t y, uint64_t z);

/* A volume, a mask and an attribute in memory, and what checks how they are read. */
typedef struct model {
    uint64_t dims[3];
    tml_type type;
    void *volume;
    uint8_t *mask;
    float *attribute;
    /* Of the stream at work: the layer that each source is asked for next, and at which to fail. */
    uint64_t next[3];
    uint64_t fail_at;
    int reads;
    void *shown[3][2]; /* what map_layers last set, for each source */
} model;

static void model_make(const uint64_t dims[3], tml_type type, value_fn value, bool with_nan,
                       model *out)
{
    uint64_t count = dims[0] * dims[1] * dims[2];
    *out = (model){.dims = {dims[0], dims[1], dims[2]}, .type = type, .fail_at = UINT64_MAX};
    out->volume = malloc(count * tml_type_size(type));
    out->mask = malloc(count);
    out->attribute = malloc(count * sizeof *out->attribute);
    for (uint64_t i = 0; i < count; i++) {
        double v = value(i % dims[0], i / dims[0] % dims[1], i / dims[0] / dims[1]);
        bool is_nan = with_nan && hash_of(i + 77) % 29 == 0;
        switch (type) {
        case TML_U8:
            ((uint8_t *)out->volume)[i] = (uint8_t)v;
            break;
        case TML_I16:
            ((int16_t *)out->volume)[i] = (int16_t)v;
            break;
        case TML_F64:
            ((double *)out->volume)[i] = is_nan ? (double)NAN : v + 0.125;
            break;
        default:
            ((float *)out->volume)[i] = is_nan ? NAN : (float)v + 0.25f;
        }
        out->mask[i] = hash_of(i + 5) % 13 != 0;
        out->attribute[i] = (float)(hash_of(i + 9) % 1000);
    }
}

static void model_free(model *m)
{
    for (int i = 0; i < 6; i++)
        free(m->shown[i / 2][i % 2]);
    free(m->volume);
    free(m->mask);
    free(m->attribute);
}

/* ---- a mesh from pieces ---------------------------------------------------------------------- */

enum { PARTS_MOST = 4 };

typedef struct collected {
    float *positions[PARTS_MOST], *normals[PARTS_MOST], *values[PARTS_MOST];
    uint64_t *indices[PARTS_MOST];
    uint64_t vertices[PARTS_MOST], triangles[PARTS_MOST];
    uint64_t vertex_base, triangle_base; /* of the first piece's numbers */
    uint64_t layer[PARTS_MOST];          /* the next piece begins there or above */
    uint64_t pieces;
    int64_t fail_after; /* pieces; negative: never */
} collected;

static void append(void **array, uint64_t before, const void *more, uint64_t count, size_t size)
{
    if (!more || count == 0)
        return;
    *array = realloc(*array, (size_t)(before + count) * size);
    memcpy((char *)*array + before * size, more, (size_t)count * size);
}

typedef struct both {
    model *m;
    collected *c;
} both;

static tml_status collect(void *user, const tml_surface_piece *piece)
{
    collected *c = ((both *)user)->c;
    uint32_t p = piece->index;
    if (c->fail_after >= 0 && c->pieces == (uint64_t)c->fail_after)
        return TML_ERROR_FILE_ACCESS;
    c->pieces++;
    if (!CHECK(p < PARTS_MOST))
        return TML_ERROR_INTERNAL;
    CHECK_EQ_U64(piece->part.vertex_first, c->vertex_base + c->vertices[p]);
    CHECK_EQ_U64(piece->part.triangle_first, c->triangle_base + c->triangles[p]);
    CHECK(piece->layer_first >= c->layer[p] && piece->layer_count > 0);
    c->layer[p] = piece->layer_first + piece->layer_count;
    append((void **)&c->positions[p], c->vertices[p], piece->mesh.positions,
           piece->mesh.vertex_count, 12);
    append((void **)&c->normals[p], c->vertices[p], piece->mesh.normals, piece->mesh.vertex_count,
           12);
    append((void **)&c->values[p], c->vertices[p], piece->mesh.values, piece->mesh.vertex_count, 4);
    c->indices[p] = realloc(c->indices[p], (c->triangles[p] + piece->mesh.triangle_count) * 24 + 1);
    for (uint64_t i = 0; piece->mesh.indices && i < 3 * piece->mesh.triangle_count; i++)
        c->indices[p][3 * c->triangles[p] + i] = piece->mesh.indices64
                                                     ? ((const uint64_t *)piece->mesh.indices)[i]
                                                     : ((const uint32_t *)piece->mesh.indices)[i];
    c->vertices[p] += piece->mesh.vertex_count;
    c->triangles[p] += piece->mesh.triangle_count;
    return TML_OK;
}

static void collected_free(collected *c)
{
    for (int p = 0; p < PARTS_MOST; p++) {
        free(c->positions[p]);
        free(c->normals[p]);
        free(c->values[p]);
        free(c->indices[p]);
    }
    *c = (collected){.fail_after = -1};
}

static uint64_t source_of(const model *m, tml_surface_source source, const char **samples)
{
    *samples = source == TML_SURFACE_VOLUME ? m->volume
               : source == TML_SURFACE_MASK ? (const void *)m->mask
                                            : (const void *)m->attribute;
    uint64_t size = source == TML_SURFACE_VOLUME ? tml_type_size(m->type)
                    : source == TML_SURFACE_MASK ? 1
                                                 : sizeof(float);
    return m->dims[0] * m->dims[1] * size;
}

/* Layers as long as they must be there, and no longer. */
static tml_status map_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                             const void **out)
{
    model *m = ((both *)user)->m;
    const char *from;
    uint64_t layer = source_of(m, source, &from);
    if (!CHECK(count > 0 && first + count <= m->dims[2]) || m->fail_at < first + count)
        return TML_ERROR_FILE_FORMAT;
    void **shown = m->shown[source];
    free(shown[0]);
    shown[0] = shown[1];
    shown[1] = malloc(count * layer);
    memcpy(shown[1], from + first * layer, count * layer);
    *out = shown[1];
    return TML_OK;
}

/* Each layer once, in ascending order. */
static tml_status read_layers(void *user, tml_surface_source source, uint64_t first, uint64_t count,
                              void *out)
{
    model *m = ((both *)user)->m;
    const char *from;
    uint64_t layer = source_of(m, source, &from);
    m->reads++;
    CHECK(count > 0 && first + count <= m->dims[2] &&
          (m->next[source] == first || !m->next[source]));
    m->next[source] = first + count;
    if (m->fail_at < first + count)
        return TML_ERROR_FILE_FORMAT;
    memcpy(out, from + first * layer, count * layer);
    return TML_OK;
}

/* ---- the comparison -------------------------------------------------------------------------- */

typedef struct whole {
    tml_surface_result result;
    void *positions, *normals, *values, *indices;
    bool indices64;
    uint64_t components; /* of a welded mesh */
} whole;

static void *map_if_any(tml_context *tml, tml_buffer buffer)
{
    void *memory = NULL;
    if (!tml_buffer_is_none(buffer))
        CHECK_OK(tml, tml_buffer_map(tml, buffer, &memory));
    return memory;
}

static bool whole_make(tml_context *tml, const model *m, const tml_surface_desc *desc, bool masked,
                       bool valued, whole *out)
{
    tml_surface_desc all = *desc;
    uint64_t count = m->dims[0] * m->dims[1] * m->dims[2];
    const tml_buffer_desc lent[] = {{.type = m->type, .count = count, .host = m->volume},
                                    {.type = TML_U8, .count = count, .host = m->mask},
                                    {.type = TML_F32, .count = count, .host = m->attribute}};
    memset(out, 0, sizeof *out);
    CHECK_OK(tml, tml_buffer_create(tml, &lent[0], &all.volume));
    if (masked)
        CHECK_OK(tml, tml_buffer_create(tml, &lent[1], &all.mask));
    if (valued)
        CHECK_OK(tml, tml_buffer_create(tml, &lent[2], &all.attribute));
    bool is_good = CHECK_OK(tml, tml_surface(tml, &all, &out->result));
    tml_buffer_destroy(tml, all.volume);
    tml_buffer_destroy(tml, all.mask);
    tml_buffer_destroy(tml, all.attribute);
    tml_mesh_stats stats = {0};
    if (is_good && !desc->soup && out->result.triangle_count)
        CHECK_OK(tml, tml_mesh_examine(tml, &out->result.mesh, true, &stats));
    out->components = stats.components;
    out->positions = map_if_any(tml, out->result.mesh.positions);
    out->normals = map_if_any(tml, out->result.mesh.normals);
    out->values = map_if_any(tml, out->result.mesh.values);
    out->indices = map_if_any(tml, out->result.mesh.indices);
    out->indices64 = desc->indices64;
    return is_good;
}

static bool same_bytes(const void *a, const void *b, uint64_t size)
{
    return size == 0 || (a && b && memcmp(a, b, (size_t)size) == 0);
}

/* base: added to the collected numbers, not to those of the whole. */
static bool is_same(const whole *w, const collected *c, uint64_t base)
{
    bool same = true;
    for (uint32_t p = 0; p < w->result.part_count && same; p++) {
        const tml_mesh_part *part = &w->result.parts[p];
        uint64_t v = part->vertex_first, t = part->triangle_first;
        same = CHECK_EQ_U64(c->vertices[p], part->vertex_count) &&
               CHECK_EQ_U64(c->triangles[p], part->triangle_count);
        if (!same || part->vertex_count == 0)
            continue;
        same = CHECK(same_bytes((float *)w->positions + 3 * v, c->positions[p],
                                12 * part->vertex_count)) &&
               (!w->normals || CHECK(same_bytes((float *)w->normals + 3 * v, c->normals[p],
                                                12 * part->vertex_count))) &&
               (!w->values ||
                CHECK(same_bytes((float *)w->values + v, c->values[p], 4 * part->vertex_count)));
        for (uint64_t i = 3 * t; w->indices && same && i < 3 * (t + part->triangle_count); i++) {
            uint64_t index =
                w->indices64 ? ((uint64_t *)w->indices)[i] : ((uint32_t *)w->indices)[i];
            same = CHECK_EQ_U64(c->indices[p][i - 3 * t], index - v + base);
        }
    }
    return same;
}

static void whole_free(tml_context *tml, whole *w)
{
    tml_surface_free(tml, &w->result);
}

typedef struct stream_case {
    const char *name;
    value_fn value;
    tml_type type;
    uint64_t dims[3];
    bool with_nan, masked, valued;
    tml_surface_desc desc;
} stream_case;

static tml_surface_slabs_desc stream_of(const stream_case *k, const model *m, both *user)
{
    tml_surface_slabs_desc stream = {.surface = &k->desc,
                                     .type = m->type,
                                     .has_mask = k->masked,
                                     .attribute_type = k->valued ? TML_F32 : TML_TYPE_NONE,
                                     .read = read_layers,
                                     .write = collect,
                                     .user = user};
    return stream;
}

static const double isovalues[] = {60, 128, 190};
static const uint64_t labels[] = {1, 3};

#define GRID(x, y, z)                                                                              \
    {                                                                                              \
        .dims = { x, y, z }                                                                        \
    }
#define CASE(label, function, sample, x, y, z, ...)                                                \
    {                                                                                              \
        .name = label, .value = function, .type = sample, .dims = {x, y, z}, .desc = {             \
            .grid = GRID(x, y, z),                                                                 \
            .iso = 128,                                                                            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static stream_case cases[] = {
    CASE("noise", value_noise, TML_U8, 9, 8, 9, .normals = TML_NORMALS_NONE),
    CASE("central", value_gyroid, TML_U8, 70, 6, 8, .normals = TML_NORMALS_CENTRAL),
    CASE("forward", value_noise, TML_I16, 6, 7, 7, .normals = TML_NORMALS_FORWARD),
    CASE("sobel", value_noise, TML_F32, 7, 6, 8, .normals = TML_NORMALS_SOBEL),
    CASE("caps", value_noise, TML_U8, 65, 5, 7, .caps = true, .normals = TML_NORMALS_CENTRAL),
    CASE("nan", value_gyroid, TML_F32, 9, 9, 12, .normals = TML_NORMALS_SOBEL),
    CASE("nan caps", value_noise, TML_F64, 8, 7, 9, .caps = true, .flip = true),
    CASE("mask", value_gyroid, TML_I16, 9, 9, 10, .normals = TML_NORMALS_CENTRAL),
    CASE("mask caps", value_noise, TML_U8, 9, 5, 8, .caps = true),
    CASE("values", value_noise, TML_U8, 8, 6, 7, .normals = TML_NORMALS_CENTRAL),
    CASE("region", value_noise, TML_U8, 9, 9, 12, .normals = TML_NORMALS_SOBEL,
         .region = {{2, 1, 3}, {6, 7, 7}}),
    CASE("region caps", value_gyroid, TML_F32, 9, 9, 12, .normals = TML_NORMALS_SOBEL, .caps = true,
         .region = {{2, 1, 3}, {6, 7, 7}}),
    CASE("isovalues", value_noise, TML_U8, 8, 8, 8, .isovalues = isovalues, .isovalue_count = 3),
    CASE("labels", value_labels, TML_U8, 9, 8, 11, .labels = labels, .label_count = 2,
         .normals = TML_NORMALS_CENTRAL),
    CASE("labels caps", value_labels, TML_I16, 9, 8, 9, .labels = labels, .label_count = 2,
         .caps = true),
    CASE("soup", value_noise, TML_U8, 7, 7, 9, .soup = true, .normals = TML_NORMALS_CENTRAL),
    CASE("soup of parts", value_gyroid, TML_F32, 7, 7, 9, .soup = true, .isovalues = isovalues,
         .isovalue_count = 3),
    CASE("indices64", value_plateaus, TML_U8, 8, 7, 9, .indices64 = true),
    CASE("flip", value_plateaus, TML_F32, 8, 7, 6, .flip = true, .normals = TML_NORMALS_SOBEL),
    CASE("checkers", value_checkers, TML_U8, 6, 5, 7, .caps = true),
    CASE("layers", value_layers, TML_U8, 6, 5, 17, .normals = TML_NORMALS_CENTRAL),
    CASE("trilinear", value_noise, TML_F32, 9, 8, 9, .topology = TML_TOPOLOGY_TRILINEAR),
    CASE("trilinear normals", value_noise, TML_U8, 70, 6, 8, .topology = TML_TOPOLOGY_TRILINEAR,
         .normals = TML_NORMALS_CENTRAL),
    CASE("nan trilinear caps", value_noise, TML_F64, 8, 7, 9, .topology = TML_TOPOLOGY_TRILINEAR,
         .caps = true),
    CASE("mask trilinear", value_plateaus, TML_U8, 9, 9, 10, .topology = TML_TOPOLOGY_TRILINEAR,
         .normals = TML_NORMALS_SOBEL),
    CASE("values", value_noise, TML_F32, 8, 6, 7, .topology = TML_TOPOLOGY_TRILINEAR,
         .normals = TML_NORMALS_CENTRAL),
    CASE("trilinear soup", value_noise, TML_U8, 7, 7, 9, .topology = TML_TOPOLOGY_TRILINEAR,
         .soup = true, .isovalues = isovalues, .isovalue_count = 3),
    CASE("flat", value_noise, TML_U8, 6, 5, 1, .normals = TML_NORMALS_CENTRAL),
    CASE("flat caps", value_noise, TML_U8, 6, 5, 1, .caps = true, .normals = TML_NORMALS_CENTRAL),
    CASE("two", value_noise, TML_U8, 2, 2, 2, .normals = TML_NORMALS_SOBEL),
};

static void finish_case(stream_case *k)
{
    k->with_nan = strncmp(k->name, "nan", 3) == 0;
    k->masked = strncmp(k->name, "mask", 4) == 0;
    k->valued = strcmp(k->name, "values") == 0;
    if (strcmp(k->name, "sobel") && strcmp(k->name, "region caps"))
        return;
    /* A mirrored, sheared grid far from its origin: positions that round. */
    tml_grid *grid = &k->desc.grid;
    const double direction[9] = {0, 0.6, 0.8, 1, 0.1, 0, 0, -0.8, 0.6};
    memcpy(grid->direction, direction, sizeof direction);
    for (int i = 0; i < 3; i++) {
        grid->spacing[i] = 0.3 + 0.17 * i;
        grid->origin[i] = 1e4 / 3 * (i + 1);
        k->desc.position_origin[i] = 1e4 * i;
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Each number of layers from 1 on, or with a step greater than 1 some; by reading and by mapping in
 * turn. Only: of cases whose name has that word. */
static void check_thicknesses(tml_context *tml, const char *only, uint64_t step)
{
    tml_device_info info;
    tml_context_describe(tml, &info);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stream_case *k = &cases[i];
        if (!strstr(k->name, only) || (k->desc.topology && info.engine != TML_ENGINE_CPU))
            continue;
        model m;
        whole w;
        finish_case(k);
        model_make(k->dims, k->type, k->value, k->with_nan, &m);
        bool go_on = whole_make(tml, &m, &k->desc, k->masked, k->valued, &w);
        CHECK(w.result.vertex_count > 0 || strcmp(k->name, "flat") == 0);
        for (uint64_t layers = 1; layers <= k->dims[2] && go_on; layers += step) {
            collected c = {.fail_after = -1};
            both user = {&m, &c};
            tml_surface_slabs_desc stream = stream_of(k, &m, &user);
            tml_surface_result result;
            stream.slab_layers = layers;
            stream.map = (layers + i) % 2 ? map_layers : NULL;
            stream.components = !k->desc.soup;
            memset(m.next, 0, sizeof m.next);
            go_on = CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result)) && is_same(&w, &c, 0) &&
                    CHECK_EQ_U64(result.vertex_count, w.result.vertex_count) &&
                    CHECK_EQ_U64(result.triangle_count, w.result.triangle_count) &&
                    CHECK_EQ_U64(result.active_cells, w.result.active_cells) &&
                    CHECK_EQ_U64(result.components, w.components) &&
                    CHECK_EQ_U64(result.part_count, w.result.part_count);
            for (uint32_t p = 0; p < result.part_count && go_on; p++)
                go_on =
                    CHECK(memcmp(&result.parts[p], &w.result.parts[p], sizeof *result.parts) == 0);
            if (!go_on)
                test_fail(__FILE__, __LINE__, "case \"%s\", slabs of %" PRIu64 " layers", k->name,
                          layers);
            tml_surface_free(tml, &result);
            collected_free(&c);
            stream.write = NULL; /* counts alone */
            memset(m.next, 0, sizeof m.next);
            go_on = go_on && CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result)) &&
                    CHECK_EQ_U64(result.triangle_count, w.result.triangle_count) &&
                    CHECK_EQ_U64(result.active_cells, w.result.active_cells);
            for (uint32_t p = 0; p < result.part_count && go_on; p++)
                go_on =
                    CHECK(memcmp(&result.parts[p], &w.result.parts[p], sizeof *result.parts) == 0);
            tml_surface_free(tml, &result);
        }
        whole_free(tml, &w);
        model_free(&m);
    }
}

TEST(every_thickness_makes_the_same_mesh)
{
    tml_context *tml = open_cpu(2);
    check_thicknesses(tml, "", 1);
    tml_close(tml);
}

/* The mesh of the same engine's tml_surface; those of the engines are compared elsewhere. */
TEST(slabs_on_vulkan)
{
    tml_context *tml = NULL;
    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN}, &tml) != TML_OK)
        SKIP("there is no Vulkan device");
    check_thicknesses(tml, "caps", 3);
    check_thicknesses(tml, "isovalues", 3);
    check_thicknesses(tml, "values", 4);
    check_thicknesses(tml, "soup", 4);
    check_thicknesses(tml, "layers", 5);
    tml_close(tml);
}

/* Two shares, of which the second's numbers begin far beyond 2^32, as on a cluster. */
TEST(shares_number_on)
{
    tml_context *tml = open_cpu(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stream_case k = cases[i];
        model m;
        whole w;
        finish_case(&k);
        if (k.desc.soup)
            continue;
        k.desc.indices64 = true;
        model_make(k.dims, k.type, k.value, k.with_nan, &m);
        bool go_on = whole_make(tml, &m, &k.desc, k.masked, k.valued, &w);
        uint64_t first = k.desc.region.first[2];
        uint64_t end = k.desc.region.count[2] ? first + k.desc.region.count[2] : k.dims[2];
        for (uint64_t cut = first + 1; cut < end && go_on; cut++) {
            const uint64_t base = (uint64_t)1 << 33;
            collected c = {.fail_after = -1, .vertex_base = base, .triangle_base = 2 * base};
            both user = {&m, &c};
            tml_mesh_part before[PARTS_MOST] = {{0}};
            for (int p = 0; p < PARTS_MOST; p++) {
                before[p].vertex_count = base;
                before[p].triangle_count = 2 * base;
            }
            for (int share = 0; share < 2 && go_on; share++) {
                tml_surface_slabs_desc stream = stream_of(&k, &m, &user);
                tml_surface_result result;
                stream.slab_layers = 2;
                stream.before = before;
                stream.layer_first = share ? cut : first;
                stream.layer_count = share ? 0 : cut - first;
                memset(m.next, 0, sizeof m.next);
                go_on = CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result));
                for (uint32_t p = 0; p < result.part_count; p++) {
                    before[p].vertex_count += result.parts[p].vertex_count;
                    before[p].triangle_count += result.parts[p].triangle_count;
                }
                tml_surface_free(tml, &result);
            }
            go_on = go_on && is_same(&w, &c, base);
            if (!go_on)
                test_fail(__FILE__, __LINE__, "case \"%s\", cut at %" PRIu64, k.name, cut);
            collected_free(&c);
        }
        whole_free(tml, &w);
        model_free(&m);
    }
    tml_close(tml);
}

/* Numbers that 32 bits do not hold are refused before they are written. */
TEST(numbers_beyond_32_bits_need_wide_indices)
{
    tml_context *tml = open_cpu(2);
    stream_case k = cases[0];
    model m;
    model_make(k.dims, k.type, k.value, false, &m);
    collected c = {.fail_after = -1};
    both user = {&m, &c};
    tml_mesh_part before = {.vertex_count = ((uint64_t)1 << 32) - 100};
    tml_surface_slabs_desc stream = stream_of(&k, &m, &user);
    tml_surface_result result;
    stream.before = &before;
    c.vertex_base = before.vertex_count;
    CHECK_STATUS(tml_surface_slabs(tml, &stream, &result), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "indices64") != NULL);
    CHECK_EQ_U64(c.pieces, 0);
    collected_free(&c);
    memset(m.next, 0, sizeof m.next);
    c.vertex_base = before.vertex_count;
    k.desc.indices64 = true;
    CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result));
    CHECK(result.vertex_count > 100);
    tml_surface_free(tml, &result);
    collected_free(&c);
    model_free(&m);
    tml_close(tml);
}

/* Counts of the shares before that leave no numbers for this one's are refused, and named. */
TEST(counts_before_must_leave_numbers)
{
    tml_context *tml = open_cpu(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stream_case k = cases[i];
        model m;
        finish_case(&k);
        uint32_t last = k.desc.isovalue_count ? k.desc.isovalue_count - 1 : 0;
        const tml_mesh_part wrong[] = {
            {.vertex_count = UINT64_MAX},
            {.vertex_count = UINT64_MAX - 15},
            {.triangle_count = UINT64_MAX},
            /* of a soup's triangles each takes three numbers */
            {.triangle_count = k.desc.soup ? UINT64_MAX / 3 : UINT64_MAX - 100}};
        model_make(k.dims, k.type, k.value, k.with_nan, &m);
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            tml_mesh_part before[PARTS_MOST] = {{0}};
            before[last] = wrong[w];
            collected c = {.fail_after = -1};
            both user = {&m, &c};
            tml_surface_slabs_desc stream = stream_of(&k, &m, &user);
            tml_surface_result result;
            char named[32];
            stream.slab_layers = 2;
            stream.before = before;
            CHECK_STATUS(tml_surface_slabs(tml, &stream, &result), TML_ERROR_INVALID_ARGUMENT);
            snprintf(named, sizeof named, "desc.before[%u]", (unsigned)last);
            CHECK(strstr(tml_last_error(tml), named) != NULL);
            CHECK_EQ_U64(c.pieces, 0);
            collected_free(&c);
        }
        model_free(&m);
    }
    tml_close(tml);
}

/* A piece that memory does not hold is cut into pieces of fewer layers. */
/* Shares of so many layers each, whose slabs have fewer: the components of all are those of the
 * whole. */
static uint64_t count_in_shares(tml_context *tml, const stream_case *k, model *m, uint64_t share,
                                uint64_t layers)
{
    uint64_t components = 0, *below[PARTS_MOST] = {0}, below_count[PARTS_MOST] = {0};
    uint64_t first = k->desc.region.first[2];
    uint64_t end = k->desc.region.count[2] ? first + k->desc.region.count[2] : k->dims[2];
    for (uint64_t z = first; z < end; z += share) {
        collected c = {.fail_after = -1};
        both user = {m, &c};
        tml_surface_slabs_desc stream = stream_of(k, m, &user);
        tml_surface_result result;
        stream.slab_layers = layers;
        stream.layer_first = z;
        stream.layer_count = share < end - z ? share : end - z;
        stream.components = true;
        memset(m->next, 0, sizeof m->next);
        CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result));
        components += result.components;
        CHECK((result.seams != NULL) == (share < end - first));
        for (uint32_t p = 0; result.seams && p < result.part_count; p++) {
            tml_surface_seam *seam = &result.seams[p];
            CHECK_OK(tml, tml_surface_join(tml, seam, below[p], below_count[p], &components));
            free(below[p]);
            below_count[p] = seam->above_count;
            below[p] = malloc((size_t)seam->above_count * sizeof **below + 1);
            if (seam->above_count)
                memcpy(below[p], seam->sets + seam->below_count,
                       (size_t)seam->above_count * sizeof **below);
        }
        tml_surface_free(tml, &result);
        collected_free(&c);
    }
    for (uint32_t p = 0; p < PARTS_MOST; p++) {
        CHECK_EQ_U64(below_count[p], 0);
        free(below[p]);
    }
    return components;
}

TEST(shares_join_their_components)
{
    tml_context *tml = open_cpu(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stream_case *k = &cases[i];
        model m;
        whole w;
        finish_case(k);
        if (k->desc.soup)
            continue;
        model_make(k->dims, k->type, k->value, k->with_nan, &m);
        bool go_on = whole_make(tml, &m, &k->desc, k->masked, k->valued, &w);
        for (uint64_t share = 1; share <= k->dims[2] && go_on; share++)
            for (uint64_t layers = 1; layers <= share && go_on; layers++) {
                go_on = CHECK_EQ_U64(count_in_shares(tml, k, &m, share, layers), w.components);
                if (!go_on)
                    test_fail(__FILE__, __LINE__, "case \"%s\", shares of %" PRIu64 " layers",
                              k->name, share);
            }
        whole_free(tml, &w);
        model_free(&m);
    }
    /* What no share leaves behind is refused. */
    uint64_t sets[] = {0, 2, 0}, below[] = {0, 1, 3}, components = 0;
    tml_surface_seam seam = {sets, 2, 1};
    CHECK_STATUS(tml_surface_join(tml, &seam, below, 1, &components), TML_ERROR_INVALID_ARGUMENT);
    sets[1] = UINT64_MAX;
    CHECK_STATUS(tml_surface_join(tml, &seam, below, 3, &components), TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_surface_join(tml, &seam, NULL, 2, &components), TML_ERROR_INVALID_ARGUMENT);
    CHECK_OK(tml, tml_surface_join(tml, &seam, below, 2, &components));
    CHECK_EQ_U64(components, 1); /* vertex 1, which the share below alone uses */
    CHECK_EQ_U64(sets[2], 0);
    tml_close(tml);
}

static bool never_back(void *user, const char *stage, double fraction)
{
    double *latest = user;
    (void)stage;
    CHECK(fraction >= *latest);
    *latest = fraction;
    return true;
}

TEST(progress_never_goes_back)
{
    double latest = 0;
    tml_context *tml;
    const tml_open_desc open = {
        .engine = TML_ENGINE_CPU, .threads = 2, .progress = never_back, .progress_user = &latest};
    if (!CHECK_OK(NULL, tml_open(&open, &tml)))
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stream_case *k = &cases[i];
        model m;
        finish_case(k);
        model_make(k->dims, k->type, k->value, k->with_nan, &m);
        for (uint64_t layers = 1; layers <= k->dims[2]; layers += 2) {
            collected c = {.fail_after = -1};
            both user = {&m, &c};
            tml_surface_slabs_desc stream = stream_of(k, &m, &user);
            tml_surface_result result;
            stream.memory = layers % 4 == 1 ? 4096 : 40000; /* halves of halves, and some whole */
            stream.slab_layers = layers;
            stream.components = true;
            memset(m.next, 0, sizeof m.next);
            latest = 0;
            CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result));
            tml_surface_free(tml, &result);
            collected_free(&c);
        }
        model_free(&m);
    }
    tml_close(tml);
}

TEST(pieces_are_cut_to_fit)
{
    tml_context *tml = open_cpu(2);
    stream_case k = cases[5]; /* NaN: what marks them is made anew for each cut */
    finish_case(&k);
    model m;
    whole w;
    model_make(k.dims, k.type, k.value, k.with_nan, &m);
    if (whole_make(tml, &m, &k.desc, false, false, &w)) {
        collected c = {.fail_after = -1};
        both user = {&m, &c};
        tml_surface_slabs_desc stream = stream_of(&k, &m, &user);
        tml_surface_result result;
        stream.memory = 4096; /* less than a layer's piece: one layer at a time */
        stream.slab_layers = 8;
        CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result));
        CHECK(c.pieces >= k.dims[2] - 1);
        CHECK(is_same(&w, &c, 0));
        tml_surface_free(tml, &result);
        collected_free(&c);
    }
    whole_free(tml, &w);
    model_free(&m);
    tml_close(tml);
}

/* The whole volume in a buffer, with its index: only the mesh comes in pieces. */
TEST(a_whole_volume_may_stream)
{
    tml_context *tml = open_cpu(2);
    stream_case k = cases[1];
    model m;
    whole w;
    model_make(k.dims, k.type, k.value, false, &m);
    bool go_on = whole_make(tml, &m, &k.desc, false, false, &w);
    collected c = {.fail_after = -1};
    both user = {&m, &c};
    tml_surface_desc surface = k.desc;
    tml_surface_slabs_desc stream = {.surface = &surface, .write = collect, .user = &user};
    const tml_buffer_desc lent = {
        .type = m.type, .count = m.dims[0] * m.dims[1] * m.dims[2], .host = m.volume};
    CHECK_OK(tml, tml_buffer_create(tml, &lent, &surface.volume));
    const tml_surface_desc index = {.volume = surface.volume, .grid = k.desc.grid};
    CHECK_OK(tml, tml_surface_index(tml, &index, &surface.index));
    stream.slab_layers = 3;
    tml_surface_result result;
    if (go_on && CHECK_OK(tml, tml_surface_slabs(tml, &stream, &result))) {
        CHECK(is_same(&w, &c, 0));
        CHECK_EQ_U64(m.reads, 0);
        tml_surface_free(tml, &result);
    }
    collected_free(&c);
    whole_free(tml, &w);
    model_free(&m);
    tml_close(tml);
}

static bool stop_at_half(void *user, const char *stage, double fraction)
{
    (void)user;
    (void)stage;
    return fraction < 0.5;
}

TEST(failures_end_the_stream)
{
    tml_context *tml = open_cpu(2);
    stream_case k = cases[5];
    finish_case(&k);
    model m;
    model_make(k.dims, k.type, k.value, k.with_nan, &m);
    collected c = {.fail_after = -1};
    both user = {&m, &c};
    tml_surface_slabs_desc stream = stream_of(&k, &m, &user);
    tml_surface_result result;
    stream.slab_layers = 2;
    for (m.fail_at = 0; m.fail_at < k.dims[2]; m.fail_at++) {
        char layer[32];
        memset(m.next, 0, sizeof m.next);
        CHECK_STATUS(tml_surface_slabs(tml, &stream, &result), TML_ERROR_FILE_FORMAT);
        snprintf(layer, sizeof layer, "layers ");
        CHECK(strstr(tml_last_error(tml), layer) != NULL);
        CHECK_EQ_U64(result.part_count, 0);
        collected_free(&c);
    }
    m.fail_at = UINT64_MAX;
    for (c.fail_after = 0; c.fail_after < 4;) {
        int64_t after = c.fail_after;
        memset(m.next, 0, sizeof m.next);
        CHECK_STATUS(tml_surface_slabs(tml, &stream, &result), TML_ERROR_FILE_ACCESS);
        collected_free(&c);
        c.fail_after = after + 1;
    }
    c.fail_after = -1;
    tml_close(tml);

    CHECK_OK(NULL,
             tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .progress = stop_at_half}, &tml));
    memset(m.next, 0, sizeof m.next);
    CHECK_STATUS(tml_surface_slabs(tml, &stream, &result), TML_ERROR_CANCELLED);
    collected_free(&c);
    model_free(&m);
    tml_close(tml);
}

/* Whichever request for memory fails, all is given back; and so it is of slabs without a surface,
 * in which missing samples were marked. */
TEST(memory_may_run_out_anywhere)
{
    static const size_t numbers[] = {5, 6, 8, 15}; /* NaN, with caps; a mask; a soup */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        stream_case k = cases[numbers[i]];
        finish_case(&k);
        k.value = i == 0 ? value_layers : k.value;
        k.desc.iso = i == 0 ? 1000 : k.desc.iso;
        model m;
        memory_watch watch;
        tml_status status = TML_ERROR_OUT_OF_MEMORY;
        model_make(k.dims, k.type, k.value, k.with_nan, &m);
        for (uint64_t fail_at = 1; status == TML_ERROR_OUT_OF_MEMORY && fail_at < 1000; fail_at++) {
            tml_context *tml = open_watched(&watch);
            collected c = {.fail_after = -1};
            both user = {&m, &c};
            tml_surface_slabs_desc stream = stream_of(&k, &m, &user);
            tml_surface_result result;
            stream.slab_layers = 3;
            memset(m.next, 0, sizeof m.next);
            watch.fail_at = watch.count + fail_at;
            status = tml_surface_slabs(tml, &stream, &result);
            CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
            tml_surface_free(tml, &result);
            collected_free(&c);
            tml_close(tml);
            CHECK_EQ_U64(watch.live, 0);
        }
        CHECK_STATUS(status, TML_OK);
        model_free(&m);
    }
    tml_context *tml = open_plain();
    tml_close(tml);
}

TEST(bad_descs_are_named)
{
    tml_context *tml = open_cpu(2);
    stream_case k = cases[0];
    model m;
    model_make(k.dims, k.type, k.value, false, &m);
    collected c = {.fail_after = -1};
    both user = {&m, &c};
    tml_surface_result result;
    const tml_surface_slabs_desc good = stream_of(&k, &m, &user);
    tml_surface_slabs_desc bad = good;
    tml_surface_desc bad_surface;
#define BAD(change, status, word)                                                                  \
    do {                                                                                           \
        bad = good;                                                                                \
        bad_surface = k.desc;                                                                      \
        bad.surface = &bad_surface;                                                                \
        change;                                                                                    \
        CHECK_STATUS(tml_surface_slabs(tml, &bad, &result), status);                               \
        CHECK(strstr(tml_last_error(tml), word) != NULL);                                          \
    } while (0)
    BAD(bad.surface = NULL, TML_ERROR_INVALID_ARGUMENT, "desc.surface");
    BAD(bad.read = NULL, TML_ERROR_INVALID_ARGUMENT, "desc.read");
    BAD(bad.type = TML_VEC(TML_F32, 2), TML_ERROR_INVALID_ARGUMENT, "scalar");
    BAD(bad_surface.largest_component = true, TML_ERROR_UNSUPPORTED, "largest_component");
    BAD(bad_surface.all_labels = true, TML_ERROR_UNSUPPORTED, "all_labels");
    BAD(bad_surface.layout.stride = 12, TML_ERROR_UNSUPPORTED, "stride");
    BAD(bad_surface.layout.octahedral_normals = true, TML_ERROR_UNSUPPORTED, "octahedral_normals");
    BAD(bad_surface.layout.indices16 = true, TML_ERROR_UNSUPPORTED, "indices16");
    BAD(bad.layer_first = 9, TML_ERROR_INVALID_ARGUMENT, "region");
    BAD((bad.layer_first = 4, bad.layer_count = 6), TML_ERROR_INVALID_ARGUMENT, "region");
    BAD((bad.layer_count = 4, bad_surface.soup = true), TML_ERROR_UNSUPPORTED, "soup");
    BAD(bad_surface.iso = NAN, TML_ERROR_INVALID_ARGUMENT, "finite");
    BAD(bad_surface.grid.dims[1] = 0, TML_ERROR_INVALID_ARGUMENT, "dims");
    BAD((bad.type = TML_F32, bad_surface.labels = labels, bad_surface.label_count = 2),
        TML_ERROR_INVALID_ARGUMENT, "labels");
    collected_free(&c);
    model_free(&m);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
