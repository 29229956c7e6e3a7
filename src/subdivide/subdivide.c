/* Creates, describes, moves and destroys a subdivider. */
#include <math.h>
#include <string.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel subdivide_own_kernels[]; /* made by the build */
#endif

#include "core/call.h"
#include "stream/desc.h"
#include "subdivide/subdivide_internal.h"

static const char create_call[] = "tml_subdivider_create";

static const tml_type index_types[] = {TML_VEC(TML_U32, 3), TML_TYPE_NONE};
static const tml_type value_types[] = {TML_F32, TML_VEC(TML_F32, 2), TML_VEC(TML_F32, 3),
                                       TML_VEC(TML_F32, 4), TML_TYPE_NONE};

/* ---- checks of what is given ----------------------------------------------------------------- */

/* A buffer of the desc, mapped to host memory while the subdivider is created. */
typedef struct host_view {
    tml_buffer buffer;
    void *memory;
} host_view;

enum { MAX_VIEWS = 6 + TML_SUBDIVIDE_MAX_CHANNELS };

typedef struct host_views {
    host_view views[MAX_VIEWS];
    uint32_t count;
} host_views;

static tml_status view(tml_context *tml, host_views *views, tml_buffer buffer, const void **out)
{
    *out = NULL;
    if (tml_buffer_is_none(buffer))
        return TML_OK;
    for (uint32_t i = 0; i < views->count; i++)
        if (views->views[i].buffer.slot == buffer.slot) { /* already mapped */
            *out = views->views[i].memory;
            return TML_OK;
        }
    host_view *next = &views->views[views->count];
    tml_status status = tml_buffer_map(tml, buffer, &next->memory);
    if (status != TML_OK)
        return status;
    next->buffer = buffer;
    views->count++;
    *out = next->memory;
    return TML_OK;
}

static void unview(tml_context *tml, host_views *views)
{
    for (uint32_t i = 0; i < views->count; i++)
        tml_buffer_unmap(tml, views->views[i].buffer);
    views->count = 0;
}

enum { POSITIONS, INDICES, CREASE_EDGES, CORNERS };
static const tml_type edge_types[] = {TML_VEC(TML_U32, 2), TML_TYPE_NONE};
#define ROW(field, ...)      DESC_ROW(tml_subdivider_desc, field, __VA_ARGS__)
#define OPTIONAL(field, ...) ROW(field, DESC_IN, .is_optional = true, .types = __VA_ARGS__)
#define ATTRIBUTE(a)                                                                               \
    OPTIONAL(attributes[a], value_types, .like = DESC_LIKE(POSITIONS), .count = DESC_ALIKE)
#define CHANNEL(c)                                                                                 \
    OPTIONAL(channels[c].values, value_types),                                                     \
        OPTIONAL(channels[c].indices, index_types, .like = DESC_LIKE(INDICES),                     \
                 .count = DESC_ALIKE),                                                             \
        ROW(channels[c].seams, DESC_ENUM, .of = "tml_subdivide_seams", .most = TML_SEAMS_LINEAR)
#define FOUR(row, a, b, c, d) row(a), row(b), row(c), row(d)
static const desc_row rows[] = {
    [POSITIONS] = ROW(mesh.positions, DESC_IN, .types = stream_f32x3_types),
    [INDICES] = ROW(mesh.indices, DESC_IN, .types = index_types),
    [CREASE_EDGES] = OPTIONAL(crease_edges, edge_types),
    [CORNERS] = OPTIONAL(corners, stream_u32_types),
    OPTIONAL(crease_sharpness, stream_f32_types, .like = DESC_LIKE(CREASE_EDGES),
             .count = DESC_ALIKE),
    OPTIONAL(corner_sharpness, stream_f32_types, .like = DESC_LIKE(CORNERS), .count = DESC_ALIKE),
    ROW(boundary, DESC_ENUM, .of = "tml_subdivide_boundary", .most = TML_BOUNDARY_PINNED),
    ROW(weights, DESC_ENUM, .of = "tml_subdivide_weights", .most = TML_WEIGHTS_WARREN),
    FOUR(ATTRIBUTE, 0, 1, 2, 3),
    FOUR(ATTRIBUTE, 4, 5, 6, 7),
    FOUR(CHANNEL, 0, 1, 2, 3)};
#undef ROW
#undef OPTIONAL
#undef ATTRIBUTE
#undef CHANNEL
#undef FOUR
_Static_assert(TML_SUBDIVIDE_MAX_ATTRIBUTES == 8 && (int)TML_SUBDIVIDE_MAX_CHANNELS == 4,
               "each has a row");

static tml_status subdivide_check_desc(tml_context *tml, const tml_subdivider_desc *desc)
{
    tml_subdivider_desc checked = *desc;
    desc_numbers numbers = {0};
    tml_status status = desc_check(tml, create_call, &DESC_TABLE(rows), &checked, &numbers);
    for (uint32_t c = 0; status == TML_OK && c < TML_SUBDIVIDE_MAX_CHANNELS; c++) {
        const bool has_values = !tml_buffer_is_none(desc->channels[c].values);
        if (has_values == tml_buffer_is_none(desc->channels[c].indices))
            return tml_error(tml, TML_ERROR_INVALID_HANDLE,
                             "%s: desc.channels[%u] has only %s, needs values and indices",
                             create_call, c, has_values ? "values" : "indices");
    }
    const uint64_t vertices = stream_count_of(tml, desc->mesh.positions),
                   triangles = stream_count_of(tml, desc->mesh.indices);
    if (status == TML_OK && (triangles > SUBDIVIDE_MAX_TRIANGLES || vertices > 0xfffffff0u))
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "%s: desc has %llu triangles and %llu positions, can be at most %llu and 2^32 "
            "- 16; divide the mesh",
            create_call, (unsigned long long)triangles, (unsigned long long)vertices,
            (unsigned long long)SUBDIVIDE_MAX_TRIANGLES);
    return status;
}

/* ---- a mesh to the device -------------------------------------------------------------------- */

/* Returns beta, the weight of each neighbour in the mask of a smooth vertex of that valence. */
static double beta_of(uint32_t valence, tml_subdivide_weights weights)
{
    double n = (double)valence;
    if (weights == TML_WEIGHTS_WARREN)
        return valence == 3 ? 3.0 / 16.0 : 3.0 / (8.0 * n);
    double half = 0.375 + 0.25 * cos(2.0 * 3.14159265358979323846 / n);
    return (0.625 - half * half) / n;
}

static uint32_t bits_of(double value)
{
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

static uint32_t valence_of(const subdivide_mesh *mesh, uint32_t start)
{
    uint32_t count = 0, h = start;
    do {
        count++;
        h = mesh->twins[h % 3 ? h - 1 : h + 2];
    } while (h != LOOP_NONE && h != start);
    return count;
}

/* Fills the records of subdivide.k.h: 4 words per half-edge, 4 per vertex, 1 per edge. */
static void fill_records(const subdivide_mesh *mesh, tml_subdivide_weights weights,
                         uint32_t *halves, uint32_t *vertices, uint32_t *firsts)
{
    uint32_t edges = 0;
    for (uint32_t h = 0; h < 3 * mesh->triangle_count; h++) {
        uint32_t twin = mesh->twins[h], *record = halves + 4 * (size_t)h;
        bool is_first = h < twin;
        record[0] = mesh->corners[h];
        record[1] = twin;
        record[2] = is_first ? edges : halves[4 * (size_t)twin + 2];
        record[3] = bits_of((double)mesh->sharp[h]);
        if (is_first)
            firsts[edges++] = h;
    }
    for (uint64_t v = 0; v < mesh->vertex_count; v++) {
        uint32_t start = mesh->starts[v], *record = vertices + 4 * v;
        record[0] = start;
        record[1] = bits_of((double)mesh->vertex_sharp[v]);
        record[2] = record[3] = 0;
        if (start != LOOP_NONE) {
            uint32_t valence = valence_of(mesh, start);
            double beta = beta_of(valence, weights);
            record[2] = bits_of(beta);
            record[3] = bits_of(1.0 / ((double)valence + 3.0 / (8.0 * beta)));
        }
    }
}

static tml_status upload_topology(tml_context *tml, const subdivide_mesh *mesh,
                                  tml_subdivide_weights weights, uint32_t flags,
                                  subdivide_topology *out)
{
    subdivide_level *level = &out->levels[0];
    level->vertex_count = mesh->vertex_count;
    level->edge_count = mesh->edge_count;
    level->triangle_count = mesh->triangle_count;
    out->flags = flags;
    out->level_count = 1;
    uint64_t halves = 3 * mesh->triangle_count;
    uint64_t words = 4 * halves + 4 * mesh->vertex_count + mesh->edge_count;
    uint32_t *records = tml_alloc_array(tml, words, sizeof *records);
    if (!records && words)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %llu bytes on the host",
                         create_call, (unsigned long long)(words * sizeof *records));
    uint32_t *vertices = records ? records + 4 * halves : NULL;
    uint32_t *firsts = records ? vertices + 4 * mesh->vertex_count : NULL;
    fill_records(mesh, weights, records, vertices, firsts);
    tml_status status =
        tml_buffer_make(tml, TML_VEC(TML_U32, 4), halves, records, "half-edges", &level->halves);
    TML_THEN(status, tml_buffer_make(tml, TML_VEC(TML_U32, 4), mesh->vertex_count, vertices,
                                     "subdivision vertices", &level->vertices));
    TML_THEN(status, tml_buffer_make(tml, TML_U32, mesh->edge_count, firsts, "subdivision edges",
                                     &level->firsts));
    tml_free(tml, records, (size_t)words * sizeof *records);
    return status;
}

/* Adds a copy of the caller's values to subdivider->values. A vertex that fix split off gets the
 * value of its source. */
static tml_status adopt_values(tml_subdivider *subdivider, tml_buffer given, uint32_t topology,
                               const subdivide_mesh *mesh)
{
    tml_context *tml = subdivider->tml;
    subdivide_values *values = &subdivider->values[subdivider->value_count++];
    tml_type type;
    tml_buffer_describe(tml, given, &type, NULL);
    *values = (subdivide_values){.topology = topology,
                                 .components = tml_type_components(type),
                                 .source_count = mesh->source_count};
    tml_status status =
        tml_buffer_make(tml, type, mesh->vertex_count, NULL, "subdivision values", &values->base);
    uint32_t *own = NULL;
    const uint32_t *sources = mesh->vertex_sources;
    if (status == TML_OK && !sources) {
        own = tml_alloc_array(tml, mesh->vertex_count, sizeof *own);
        for (uint64_t v = 0; own && v < mesh->vertex_count; v++)
            own[v] = (uint32_t)v;
        sources = own;
        if (!own && mesh->vertex_count)
            status =
                tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %llu bytes on the host",
                          create_call, (unsigned long long)(mesh->vertex_count * sizeof *own));
    }
    TML_THEN(status, tml_buffer_make(tml, TML_U32, mesh->vertex_count, sources, "sources of values",
                                     &values->sources));
    tml_free(tml, own, mesh->vertex_count * sizeof *own);
    if (status != TML_OK || mesh->vertex_count == 0)
        return status;
    return tml_map(tml, &(tml_map_desc){.kernel = subdivide_copy_kernels[values->components - 1],
                                        .in = {given, values->sources},
                                        .out = {values->base}});
}

/* Uploads turns: element n has the cosine and sine of 2 pi / n. n is at most twice the largest
 * valence: an open fan of n edges spans half a turn in n - 1 steps, each of 2 pi / (2n - 2). */
static tml_status upload_turns(tml_subdivider *subdivider, uint32_t max_valence)
{
    uint64_t count = 2 * (uint64_t)TML_MAX_OF(max_valence, 6u) + 3;
    float *turns = tml_alloc_array(subdivider->tml, count, 2 * sizeof *turns);
    if (!turns)
        return tml_error(subdivider->tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for %llu bytes on the host", create_call,
                         (unsigned long long)(2 * count * sizeof *turns));
    for (uint64_t n = 0; n < count; n++) {
        double angle = n ? 2.0 * 3.14159265358979323846 / (double)n : 0.0;
        turns[2 * n] = (float)cos(angle);
        turns[2 * n + 1] = (float)sin(angle);
    }
    tml_status status = tml_buffer_make(subdivider->tml, TML_VEC(TML_F32, 2), count, turns, "turns",
                                        &subdivider->turns);
    tml_free(subdivider->tml, turns, 2 * count * sizeof *turns);
    return status;
}

static void subdivide_describe(tml_subdivider *subdivider, const subdivide_mesh *mesh)
{
    subdivider->info = (tml_subdivider_info){
        .vertex_count = mesh->vertex_count,
        .edge_count = mesh->edge_count,
        .triangle_count = mesh->triangle_count,
        .boundary_edge_count = mesh->boundary_edge_count,
        .sharp_edge_count = mesh->sharp_edge_count,
        .max_valence = mesh->max_valence,
        .max_sharpness = mesh->max_sharpness,
        .removed_triangles = mesh->removed_count,
        .duplicate_triangles = mesh->duplicate_count,
        .flipped_triangles = mesh->flipped_count,
        .split_vertices = mesh->vertex_count - mesh->source_count,
    };
}

static tml_status adopt_channel(tml_subdivider *subdivider, const tml_subdivider_desc *desc,
                                uint32_t number, const subdivide_mesh *mesh, host_views *views)
{
    tml_context *tml = subdivider->tml;
    const tml_subdivide_channel *channel = &desc->channels[number];
    const void *indices;
    tml_status status = view(tml, views, channel->indices, &indices);
    if (status != TML_OK)
        return status;
    subdivide_mesh seams;
    status = subdivide_mesh_create_channel(
        tml, mesh, indices, stream_count_of(tml, channel->values), channel->seams, number, &seams);
    if (status != TML_OK)
        return status;
    static const uint32_t flags[] = {
        [TML_SEAMS_PINNED] = LOOP_PINNED, [TML_SEAMS_LINEAR] = LOOP_LINEAR};
    uint32_t topology = subdivider->topology_count++;
    status = upload_topology(tml, &seams, desc->weights, flags[channel->seams],
                             &subdivider->topologies[topology]);
    if (status == TML_OK) {
        unview(tml, views); /* the device may not read a mapped buffer */
        status = adopt_values(subdivider, channel->values, topology, &seams);
    }
    subdivide_mesh_free(tml, &seams);
    return status;
}

static tml_status adopt_mesh(tml_subdivider *subdivider, const tml_subdivider_desc *desc,
                             const subdivide_mesh *mesh, host_views *views)
{
    tml_context *tml = subdivider->tml;
    subdivide_describe(subdivider, mesh);
    subdivider->topology_count = 1;
    tml_status status = upload_topology(tml, mesh, desc->weights,
                                        desc->boundary == TML_BOUNDARY_PINNED ? LOOP_PINNED : 0,
                                        &subdivider->topologies[0]);
    TML_THEN(status, upload_turns(subdivider, mesh->max_valence));
    if (status == TML_OK && mesh->triangle_origins)
        status = tml_buffer_make(tml, TML_U32, mesh->triangle_count, mesh->triangle_origins,
                                 "origins of triangles", &subdivider->triangle_origins);
    unview(tml, views);
    TML_THEN(status, adopt_values(subdivider, desc->mesh.positions, 0, mesh));
    for (uint32_t a = 0; status == TML_OK && a < TML_SUBDIVIDE_MAX_ATTRIBUTES; a++)
        if (!tml_buffer_is_none(desc->attributes[a])) {
            subdivider->attribute_slots[subdivider->attribute_count++] = a;
            status = adopt_values(subdivider, desc->attributes[a], 0, mesh);
        }
    for (uint32_t c = 0; status == TML_OK && c < TML_SUBDIVIDE_MAX_CHANNELS; c++)
        if (!tml_buffer_is_none(desc->channels[c].values)) {
            subdivider->channel_slots[subdivider->topology_count - 1] = c;
            status = adopt_channel(subdivider, desc, c, mesh, views);
        }
    return status;
}

static tml_status subdivider_create(tml_context *tml, const tml_subdivider_desc *desc,
                                    tml_subdivider **out)
{
    if (tml->engine->tier)
        return tml_refuse(tml, create_call, "no subdivision");
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, subdivide_own_kernels);
#endif
    tml_status status = subdivide_check_desc(tml, desc);
    if (status != TML_OK)
        return status;
    tml_subdivider *subdivider = tml_alloc(tml, sizeof *subdivider);
    if (!subdivider)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", create_call,
                         sizeof *subdivider);
    *subdivider = (tml_subdivider){.tml = tml};
    subdivide_input input = {.vertex_count = stream_count_of(tml, desc->mesh.positions),
                             .triangle_count = stream_count_of(tml, desc->mesh.indices),
                             .crease_count = stream_count_of(tml, desc->crease_edges),
                             .corner_count = stream_count_of(tml, desc->corners),
                             .boundary = desc->boundary,
                             .fix = desc->fix};
    host_views views = {.count = 0};
    const struct {
        tml_buffer buffer;
        const void **out;
    } arrays[] = {{desc->mesh.positions, (const void **)&input.positions},
                  {desc->mesh.indices, (const void **)&input.indices},
                  {desc->crease_edges, (const void **)&input.crease_edges},
                  {desc->crease_sharpness, (const void **)&input.crease_sharpness},
                  {desc->corners, (const void **)&input.corners},
                  {desc->corner_sharpness, (const void **)&input.corner_sharpness}};
    for (size_t i = 0; i < TML_ARRAY_SIZE(arrays) && status == TML_OK; i++)
        status = view(tml, &views, arrays[i].buffer, arrays[i].out);
    subdivide_mesh mesh;
    TML_THEN(status, subdivide_mesh_create(tml, &input, &mesh));
    if (status == TML_OK) {
        status = adopt_mesh(subdivider, desc, &mesh, &views);
        subdivide_mesh_free(tml, &mesh);
    }
    unview(tml, &views);
    if (status != TML_OK) {
        tml_subdivider_destroy(tml, subdivider);
        return status;
    }
    *out = subdivider;
    return TML_OK;
}

tml_status tml_subdivider_create(tml_context *tml, const tml_subdivider_desc *desc,
                                 tml_subdivider **out)
{
    if (out)
        *out = NULL;
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, subdivider_create(tml, desc, out));
}

TML_API void tml_subdivider_describe(const tml_subdivider *subdivider, uint32_t level,
                                     tml_subdivider_info *out)
{
    if (!subdivider || !out)
        return;
    *out = subdivider->info;
    level = TML_MIN_OF(level, (uint32_t)TML_SUBDIVIDE_MAX_LEVELS);
    for (uint32_t t = 0; t < subdivider->topology_count; t++) {
        subdivide_level counts = subdivider->topologies[t].levels[0];
        for (uint32_t l = 0; l < level; l++)
            counts = subdivide_next_counts(&counts);
        if (t > 0) {
            out->channel_counts[subdivider->channel_slots[t - 1]] = counts.vertex_count;
            continue;
        }
        out->vertex_count = counts.vertex_count;
        out->edge_count = counts.edge_count;
        out->triangle_count = counts.triangle_count;
    }
}

static tml_status subdivider_move(tml_subdivider *subdivider, tml_buffer positions)
{
    subdivide_values *values = &subdivider->values[0];
    tml_status status =
        tml_check_buffer(subdivider->tml, "tml_subdivider_move_enqueue", "positions", positions,
                         stream_f32x3_types, values->source_count);
    if (status != TML_OK || subdivider->info.vertex_count == 0)
        return status;
    return tml_map(subdivider->tml, &(tml_map_desc){.kernel = subdivide_copy_kernels[2],
                                                    .in = {positions, values->sources},
                                                    .out = {values->base}});
}

tml_status tml_subdivider_move_enqueue(tml_subdivider *subdivider, tml_buffer positions)
{
    tml_status status = TML_ENTER_BY(subdivider);
    return status ? status : tml_leave(subdivider->tml, subdivider_move(subdivider, positions));
}

TML_API void tml_subdivider_destroy(tml_context *tml, tml_subdivider *subdivider)
{
    if (!subdivider || TML_ENTER_BY(subdivider) != TML_OK)
        return;
    subdivide_adaptive_destroy(tml, subdivider->adaptive);
    for (uint32_t t = 0; t < subdivider->topology_count; t++)
        for (uint32_t l = 0; l < subdivider->topologies[t].level_count; l++)
            subdivide_level_destroy(tml, &subdivider->topologies[t].levels[l]);
    for (uint32_t v = 0; v < subdivider->value_count; v++) {
        tml_buffer_destroy(tml, subdivider->values[v].base);
        tml_buffer_destroy(tml, subdivider->values[v].sources);
    }
    tml_buffer_destroy(tml, subdivider->turns);
    tml_buffer_destroy(tml, subdivider->triangle_origins);
    tml_free(tml, subdivider, sizeof *subdivider);
    (void)tml_leave(tml, TML_OK);
}
