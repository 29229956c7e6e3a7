/* Descs of fields, surfaces (whole, in slabs, enqueued), their cells and index, and of meshes. */
#include "fuzz/desc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More samples than that take longer than they show. */
enum { SAMPLES_MAX = 30000, ISOVALUES = 65, LABELS = 65537 };

static void take_grid(tml_grid *grid, const uint64_t dims[3])
{
    uint8_t which = take();
    for (int i = 0; i < 3; i++) {
        grid->dims[i] = mostly(dims[i]);
        grid->spacing[i] = mostly_float(which >= 224 ? i + 1 : 0);
        grid->origin[i] = mostly_float(0);
        if (which >= 224)
            grid->direction[4 * i] = i ? 1 : -1;
    }
    for (int i = 0; i < 9 && which >= 208 && which < 224; i++)
        grid->direction[i] = wild_float();
}

static uint64_t samples_of(const tml_grid *grid)
{
    double samples = 1;
    for (int i = 0; i < 3; i++)
        samples *= (double)grid->dims[i];
    return samples > SAMPLES_MAX ? UINT64_MAX : (uint64_t)samples;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* False: it would take too long, or is none. */
static bool take_field(tml_field_desc *field, tml_field_desc *resolved)
{
    uint64_t count = below(20);
    field->points =
        make(TML_VEC(TML_F32, 3), count, take_bool() ? CONTENTS_ANY : CONTENTS_FINITE, 0);
    if (take() >= 160)
        field->radii = make(TML_F32, count, CONTENTS_ANY, 0);
    field->radius = take() < 128 ? 0 : wild_float();
    if (take() >= 208) {
        field->length = (tml_length){.count = mostly(count), .device_index = mostly(0)};
        field->length.device = make(take_bool() ? TML_U32 : TML_U64, 1, CONTENTS_BELOW, count + 2);
    }
    field->kind = (tml_field_kind)mostly(below(2));
    field->kernel = (tml_field_kernel)mostly(below(4));
    field->margin = mostly_float(0);
    if (take() >= 208)
        field->densities = make(TML_F32, count, CONTENTS_ANY, 0);
    for (int i = 0, n = take() >= 224 ? mostly(2) : 0; i < n && i < 2; i++)
        field->shapes[i] = make(TML_VEC(TML_F32, 3), count, CONTENTS_ANY, 0);
    if (take_bool())
        take_grid(&field->grid, (uint64_t[3]){1 + below(12), 1 + below(12), 1 + below(12)});
    else if (take() >= 192)
        for (int i = 0; i < 3; i++)
            field->grid.spacing[i] = fabs(wild_float());
    field->resolution = (uint32_t)mostly(8 + below(16));
    if (take() >= 224)
        for (int i = 0; i < 3; i++) {
            field->lower[i] = wild_float();
            field->upper[i] = wild_float();
            field->grid.origin[i] = wild_float();
        }
    const tml_field_prepare_desc desc = {.field = *field};
    tml_field_prepared made;
    if (!CALL(tml_field_prepare, tml, &desc, &made))
        return false;
    *resolved = made.field;
    const tml_grid *grid = &resolved->grid;
    for (int i = 0; i < 3; i++)
        DEMAND(grid->dims[i] > 0 && grid->spacing[i] > 0 && isfinite(grid->spacing[i]));
    DEMAND(isfinite(made.iso));
    return samples_of(grid) <= SAMPLES_MAX;
}

void desc_field(void)
{
    tml_field_desc field = {0}, resolved = {0};
    if (!take_field(&field, &resolved))
        return;
    uint64_t count = samples_of(&resolved.grid);
    tml_buffer out = make_out(TML_F32, count);
    if (!CALL(tml_field, tml, take_bool() ? &field : &resolved, out))
        return;
    for (uint64_t i = 0; i < count; i++)
        DEMAND(isfinite(((const float *)elements_of(out))[i]));
    if (take_bool()) {
        uint64_t points, positions = below(20);
        tml_buffer_describe(tml, field.points, NULL, &points);
        tml_type type = below(2) ? TML_VEC(TML_F32, 3) : TML_F32;
        tml_field_mean_desc mean = {.field = &resolved};
        mean.positions = make(TML_VEC(TML_F32, 3), positions, CONTENTS_ANY, 0);
        mean.position_origin[0] = mostly_float(0);
        mean.exact_reach = take_bool();
        mean.weights = make_out(TML_F32, positions);
        const uint32_t place = below(TML_FIELD_MAX_ATTRIBUTES);
        mean.values[place] = make(type, points, CONTENTS_FINITE, 0);
        mean.means[place] = make_out(type, positions);
        (void)CALL(tml_field_mean, tml, &mean);
    }
    if (take() >= 192) {
        const tml_field_prepare_desc shapes = {.field = take_bool() ? field : resolved,
                                               .cell = mostly_float(0),
                                               .densities = take_bool(),
                                               .shapes = take_bool(),
                                               .smoothing = mostly_float(0),
                                               .ratio = mostly_float(0),
                                               .lone = mostly_float(0),
                                               .fewest = below(4)};
        tml_field_prepared made;
        if (CALL(tml_field_prepare, tml, &shapes, &made))
            tml_field_prepared_free(tml, &made);
    }
    if (take_bool()) { /* nearly resolved */
        resolved.radius = mostly_float(resolved.radius);
        for (int i = 0; i < 3; i++) {
            resolved.grid.dims[i] = mostly(resolved.grid.dims[i]);
            resolved.grid.spacing[i] = mostly_float(resolved.grid.spacing[i]);
            resolved.grid.origin[i] = mostly_float(resolved.grid.origin[i]);
        }
        (void)CALL(tml_field, tml, &resolved, as_out(out));
    }
}

/* ---- surfaces -------------------------------------------------------------------------------- */

typedef struct surface_input {
    tml_surface_desc desc;
    tml_field_desc field, resolved;
    double isovalues[ISOVALUES];
    uint64_t dims[3], samples; /* meant */
    bool is_indexed;           /* by a right index, or none */
} surface_input;

static uint64_t labels[LABELS];

static double take_iso(void)
{
    return mostly_float(take_bool() ? take() : (int8_t)take() / 16.0);
}

static void take_region(tml_region *region, const uint64_t dims[3])
{
    uint8_t which = take();
    for (int i = 0; i < 3 && which >= 160; i++) {
        region->first[i] = which < 240 ? below(dims[i]) : wild();
        region->count[i] = which < 240 ? below(dims[i] - region->first[i] + 1) : wild();
    }
}

static void take_volume(surface_input *in)
{
    tml_surface_desc *desc = &in->desc;
    desc->volume = make(take_scalar(), in->samples, CONTENTS_ANY, 0);
    take_grid(&desc->grid, in->dims);
    uint8_t which = take();
    uint64_t bricks = ((in->dims[0] + 63) / 64) * ((in->dims[1] + 3) / 4) * ((in->dims[2] + 3) / 4);
    if (which >= 240) {
        desc->index = make(TML_VEC(TML_F32, 2), bricks, CONTENTS_ANY, 0);
        in->is_indexed = tml_buffer_is_none(desc->index);
    } else if (which >= 192) {
        tml_surface_desc index = {.volume = desc->volume, .grid = desc->grid};
        if (CALL(tml_surface_index, tml, &index, &desc->index)) {
            desc->index = keep(desc->index);
            note_buffer(desc->index);
        }
    }
}

static void take_values(surface_input *in)
{
    tml_surface_desc *desc = &in->desc;
    uint8_t which = take();
    desc->iso = take_iso();
    if (which >= 240) {
        desc->all_labels = true;
    } else if (which >= 192) {
        desc->labels = labels;
        desc->label_count = which == 239 ? LABELS : (uint32_t)below(7);
        for (uint32_t i = 0; i < 7; i++)
            labels[i] = mostly(i);
    } else if (which >= 144) {
        desc->isovalues = in->isovalues;
        desc->isovalue_count = which == 191 ? ISOVALUES : (uint32_t)below(5);
        for (uint32_t i = 0; i < 5; i++)
            in->isovalues[i] = take_iso();
    }
}

/* All but outputs. False: it would take too long, or its field is none. */
static bool take_surface(surface_input *in)
{
    tml_surface_desc *desc = &in->desc;
    *in = (surface_input){.dims = {1 + below(9), 1 + below(9), 1 + below(7)}, .is_indexed = true};
    if (seldom())
        in->dims[below(3)] = 60 + below(80);
    in->samples = in->dims[0] * in->dims[1] * in->dims[2];
    if (take() >= 208) {
        if (!take_field(&in->field, &in->resolved))
            return false;
        desc->field = &in->field;
        memcpy(in->dims, in->resolved.grid.dims, sizeof in->dims);
    }
    if (!desc->field || seldom())
        take_volume(in);
    take_region(&desc->region, in->dims);
    if (take() >= 192)
        desc->mask = make(TML_U8, in->samples, CONTENTS_BELOW, 3);
    if (take() >= 192)
        desc->attribute = make(take_scalar(), in->samples, CONTENTS_ANY, 0);
    take_values(in);
    desc->normals = (tml_normals)mostly(below(TML_NORMALS_SOBEL + 1));
    uint8_t how = take();
    desc->soup = how & 1;
    desc->cells = take() >= 160;
    desc->caps = how & 2;
    desc->topology = (tml_topology)(take() >= 128 ? mostly(TML_TOPOLOGY_TRILINEAR) : 0);
    desc->flip = how & 4;
    desc->indices64 = how & 8;
    desc->drop_degenerate = (how & 48) == 48;
    desc->largest_component = (how & 192) == 192;
    desc->collapse = take() >= 224 ? mostly_float(0.5) : 0;
    for (int i = 0; i < 3; i++)
        desc->position_origin[i] = mostly_float(0);
    return true;
}

static tml_type index_type(const tml_surface_desc *desc)
{
    return TML_VEC(desc->indices64 ? TML_U64 : TML_U32, 3);
}

static uint64_t index_at(const void *indices, bool wide, uint64_t i)
{
    return wide ? ((const uint64_t *)indices)[i] : ((const uint32_t *)indices)[i];
}

/* Parts follow one another, and triangles name vertices of their own part. */
static void check_parts(const surface_input *in, const tml_surface_result *made)
{
    uint64_t vertices = 0, triangles = 0;
    const void *indices = elements_of(made->mesh.indices);
    for (uint32_t p = 0; p < made->part_count; p++) {
        const tml_mesh_part *part = &made->parts[p];
        note(part, sizeof *part);
        DEMAND(part->vertex_first == vertices && part->triangle_first == triangles);
        vertices += part->vertex_count;
        triangles += part->triangle_count;
        for (uint64_t i = 3 * part->triangle_first; indices && in->is_indexed && i < 3 * triangles;
             i++) {
            uint64_t vertex = index_at(indices, in->desc.indices64, i);
            DEMAND(vertex >= part->vertex_first && vertex < vertices);
        }
    }
    DEMAND(vertices == made->vertex_count && triangles == made->triangle_count);
    DEMAND(!in->desc.soup || vertices == 3 * triangles);
}

/* Caps close what no sample is missing of. */
static void check_closed(const surface_input *in, const tml_surface_result *made)
{
    tml_type type = TML_F32;
    tml_mesh_stats stats;
    tml_buffer_describe(tml, in->desc.volume, &type, NULL);
    if (tml_buffer_is_none(made->mesh.indices) || !in->is_indexed ||
        !CALL(tml_mesh_examine, tml, &made->mesh, false, &stats))
        return;
    note(&stats, sizeof stats);
    if (in->desc.caps && !tml_type_is_float(type) && tml_buffer_is_none(in->desc.mask))
        DEMAND(stats.boundary_edges == 0);
}

/* One isovalue without filters: the cells have as many triangles as the mesh. */
static void check_cells(const surface_input *in, const tml_surface_result *mesh)
{
    const tml_surface_desc *desc = &in->desc;
    if (desc->field || desc->isovalues || desc->labels || desc->all_labels || desc->caps ||
        desc->drop_degenerate || desc->largest_component || !in->is_indexed)
        return;
    uint64_t cells = 1, triangles = 0;
    for (int i = 0; i < 3; i++)
        cells *= desc->grid.dims[i] - 1;
    uint8_t *counts = malloc(cells ? cells : 1);
    if (CALL(tml_surface_cells, tml, desc, counts)) {
        for (uint64_t i = 0; i < cells; i++)
            triangles += counts[i];
        DEMAND(triangles == mesh->triangle_count);
    }
    free(counts);
}

typedef struct slabs_check {
    const surface_input *in;
    const tml_surface_result *mesh;
    const float *positions, *normals, *values;
    const void *indices;
    uint64_t vertices, triangles;
} slabs_check;

static void demand_equal(const void *whole, const void *piece, uint64_t first, uint64_t count,
                         size_t size)
{
    if (piece && whole && count)
        DEMAND(memcmp((const char *)whole + first * size, piece, count * size) == 0);
}

static tml_status compare_piece(void *user, const tml_surface_piece *piece)
{
    slabs_check *check = user;
    DEMAND(piece->index < check->mesh->part_count);
    const tml_mesh_part *part = &check->mesh->parts[piece->index];
    uint64_t first = part->vertex_first + piece->part.vertex_first;
    DEMAND(piece->part.vertex_first + piece->mesh.vertex_count <= part->vertex_count &&
           piece->part.triangle_first + piece->mesh.triangle_count <= part->triangle_count);
    demand_equal(check->positions, piece->mesh.positions, first, piece->mesh.vertex_count, 12);
    demand_equal(check->normals, piece->mesh.normals, first, piece->mesh.vertex_count, 12);
    demand_equal(check->values, piece->mesh.values, first, piece->mesh.vertex_count, 4);
    for (uint64_t i = 0;
         i < 3 * piece->mesh.triangle_count && piece->mesh.indices && check->indices; i++)
        DEMAND(index_at(piece->mesh.indices, piece->mesh.indices64, i) + part->vertex_first ==
               index_at(check->indices, check->in->desc.indices64,
                        3 * (part->triangle_first + piece->part.triangle_first) + i));
    check->vertices += piece->mesh.vertex_count;
    check->triangles += piece->mesh.triangle_count;
    return TML_OK;
}

/* In slabs it is the same mesh. */
static void check_slabs(const surface_input *in, const tml_surface_result *made)
{
    slabs_check check = {.in = in,
                         .mesh = made,
                         .positions = elements_of(made->mesh.positions),
                         .normals = elements_of(made->mesh.normals),
                         .values = elements_of(made->mesh.values),
                         .indices = elements_of(made->mesh.indices)};
    tml_surface_slabs_desc desc = {
        .surface = &in->desc, .write = compare_piece, .user = &check, .slab_layers = below(5)};
    tml_surface_result slabs;
    if (!in->is_indexed || in->desc.cells || in->desc.all_labels || in->desc.largest_component ||
        in->desc.drop_degenerate || !CALL(tml_surface_slabs, tml, &desc, &slabs))
        return;
    DEMAND(check.vertices == made->vertex_count && check.triangles == made->triangle_count);
    DEMAND(slabs.vertex_count == check.vertices && slabs.triangle_count == check.triangles);
    tml_surface_free(tml, &slabs);
}

/* Laid out for a renderer it is the same mesh, unless that is refused. */
static void check_layout(const surface_input *in, const tml_surface_result *made)
{
    tml_surface_desc desc = in->desc;
    tml_surface_result laid;
    desc.layout.stride = (uint32_t)mostly(4 * below(17));
    desc.layout.position_offset = (uint32_t)mostly(desc.layout.stride ? 4 * below(3) : 0);
    desc.layout.normal_offset = (uint32_t)mostly(desc.layout.stride ? 4 * below(8) : 0);
    desc.layout.value_offset = (uint32_t)mostly(desc.layout.stride ? 4 * below(16) : 0);
    desc.layout.octahedral_normals = take_bool();
    desc.layout.indices16 = take_bool();
    if (!CALL(tml_surface, tml, &desc, &laid))
        return;
    const uint32_t stride = desc.layout.stride ? desc.layout.stride : 12;
    const float *positions = elements_of(made->mesh.positions);
    const unsigned char *vertices = elements_of(laid.mesh.positions);
    DEMAND(laid.vertex_count == made->vertex_count && laid.triangle_count == made->triangle_count);
    for (uint64_t i = 0; i < made->vertex_count; i++)
        DEMAND(memcmp(positions + 3 * i, vertices + i * stride + desc.layout.position_offset, 12) ==
               0);
    const void *indices = elements_of(made->mesh.indices),
               *laid_indices = elements_of(laid.mesh.indices);
    for (uint64_t i = 0; indices && i < 3 * made->triangle_count; i++)
        DEMAND(index_at(indices, desc.indices64, i) ==
               (desc.layout.indices16 ? ((const uint16_t *)laid_indices)[i]
                                      : index_at(laid_indices, desc.indices64, i)));
    tml_surface_free(tml, &laid);
}

void desc_surface(void)
{
    surface_input in;
    if (!take_surface(&in))
        return;
    tml_surface_desc *desc = &in.desc;
    uint64_t room = take_bool() ? 4096 : take();
    bool is_given = take() >= 192;
    if (is_given) {
        desc->mesh.positions = maybe_out(TML_VEC(TML_F32, 3), room);
        desc->mesh.normals = maybe_out(TML_VEC(TML_F32, 3), room);
        desc->mesh.values = maybe_out(TML_F32, room);
        desc->mesh.indices = maybe_out(index_type(desc), room);
        desc->triangle_cells = maybe_out(take_bool() ? TML_U64 : TML_U32, room);
    }
    tml_surface_result made;
    if (!CALL(tml_surface, tml, desc, &made))
        return;
    check_parts(&in, &made);
    if (!is_given) {
        DEMAND(count_of(made.mesh.positions) == made.vertex_count);
        DEMAND(desc->soup || count_of(made.mesh.indices) == made.triangle_count);
        note_buffer(made.mesh.positions);
        note_buffer(made.mesh.normals);
        note_buffer(made.mesh.values);
        note_buffer(made.mesh.indices);
        note_buffer(made.triangle_cells);
        DEMAND(!desc->cells || count_of(made.triangle_cells) == made.triangle_count);
        const uint64_t *dims = desc->field ? in.dims : desc->grid.dims;
        for (uint64_t i = 0; desc->cells && i < made.triangle_count; i++)
            DEMAND(number_of(made.triangle_cells, i) < dims[0] * dims[1] * dims[2]);
        check_closed(&in, &made);
        check_cells(&in, &made);
        check_slabs(&in, &made);
        if (in.is_indexed)
            check_layout(&in, &made);
    }
    tml_surface_free(tml, &made);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static tml_status take_piece(void *user, const tml_surface_piece *piece);

void desc_surface_labels(void)
{
    const uint64_t dims[3] = {1 + below(9), 1 + below(9), seldom() ? 60 + below(80) : 1 + below(7)};
    const uint64_t between[2] = {mostly(below(4)), mostly(below(4))};
    const uint8_t how = take();
    tml_surface_labels_desc desc = {
        .volume = make(take_scalar(), dims[0] * dims[1] * dims[2], CONTENTS_BELOW, 1 + below(5)),
        .background = mostly(below(4)),
        .between = take() >= 208 ? between : NULL,
        .inner_only = how & 1,
        .caps = how & 2,
        .smooth = (uint32_t)mostly(below(5)),
        .relaxation = mostly_float(0),
        .bound = mostly_float(0),
        .quads = how & 4,
        .indices64 = how & 8};
    take_grid(&desc.grid, dims);
    take_region(&desc.region, dims);
    if (take() >= 176) {
        desc.labels = labels;
        desc.label_count = below(7);
        for (uint32_t i = 0; i < 7; i++)
            labels[i] = mostly(i);
    }
    if (how & 16) {
        desc.sharing = how & 32 ? TML_LABELS_MANIFOLD : TML_LABELS_SEPARATE;
        desc.between = seldom() ? between : NULL;
        desc.inner_only = seldom();
    }
    for (int i = 0; i < 3; i++)
        desc.position_origin[i] = mostly_float(0);
    const bool is_given = take() >= 208;
    if (is_given) {
        desc.mesh.positions = maybe_out(TML_VEC(TML_F32, 3), below(2000));
        desc.mesh.indices =
            maybe_out(TML_VEC(desc.indices64 ? TML_U64 : TML_U32, desc.quads ? 4 : 3), below(4000));
        desc.face_labels = maybe_out(TML_VEC(TML_U8, 2), below(4000));
    }
    tml_surface_result net;
    if (!CALL(tml_surface_labels, tml, &desc, &net))
        return;
    const void *indices = elements_of(net.mesh.indices);
    for (uint64_t i = 0; indices && i < (desc.quads ? 4 : 3) * net.triangle_count; i++)
        DEMAND(index_at(indices, desc.indices64, i) < net.vertex_count);
    note(net.parts, net.part_count * sizeof *net.parts);
    if (!is_given) {
        DEMAND(count_of(net.mesh.positions) == net.vertex_count &&
               count_of(net.mesh.indices) == net.triangle_count);
        note_buffer(net.mesh.positions);
        note_buffer(net.mesh.indices);
        note_buffer(net.face_labels);
    }
    const uint64_t vertex_count = net.vertex_count, triangle_count = net.triangle_count;
    tml_surface_free(tml, &net);
    if (is_given || desc.quads || desc.sharing)
        return;
    const tml_surface_slabs_desc slabs = {.boundaries = &desc,
                                          .write = take_piece,
                                          .components = take_bool(),
                                          .memory = mostly(0),
                                          .slab_layers = mostly(below(5))};
    tml_surface_result result;
    if (!CALL(tml_surface_slabs, tml, &slabs, &result))
        return;
    DEMAND(result.vertex_count == vertex_count && result.triangle_count == triangle_count);
    tml_surface_free(tml, &result);
}

/* ---- in slabs, from a source that is read or mapped ------------------------------------------ */

typedef struct slab_source {
    uint64_t layer_samples;
    size_t sizes[3];    /* of an element of each source; 0: none */
    uint8_t *memory[3]; /* of the whole, exactly; read and map alike take it from there */
    uint64_t layers, fails_at;
} slab_source;

static slab_source source;

static tml_status map_layers(void *user, tml_surface_source which, uint64_t first, uint64_t count,
                             const void **out)
{
    slab_source *s = user;
    DEMAND(s->sizes[which] > 0 && count > 0 && first < s->layers && count <= s->layers - first);
    *out = s->memory[which] + first * s->layer_samples * s->sizes[which];
    return first >= s->fails_at ? TML_ERROR_FILE_ACCESS : TML_OK;
}

static tml_status read_layers(void *user, tml_surface_source which, uint64_t first, uint64_t count,
                              void *out)
{
    slab_source *s = user;
    const void *from;
    tml_status status = map_layers(user, which, first, count, &from);
    memcpy(out, from, count * s->layer_samples * s->sizes[which]);
    return status;
}

static tml_status take_piece(void *user, const tml_surface_piece *piece)
{
    (void)user;
    note_number(piece->part.vertex_first);
    note(piece->mesh.positions, 12 * piece->mesh.vertex_count);
    if (piece->mesh.normals)
        note(piece->mesh.normals, 12 * piece->mesh.vertex_count);
    if (piece->mesh.values)
        note(piece->mesh.values, 4 * piece->mesh.vertex_count);
    if (piece->mesh.indices)
        note(piece->mesh.indices, 3 * piece->mesh.triangle_count * (piece->mesh.indices64 ? 8 : 4));
    if (piece->mesh.face_labels)
        note(piece->mesh.face_labels, 2 * piece->mesh.triangle_count); /* of one byte and more */
    return seldom() ? TML_ERROR_FILE_ACCESS : TML_OK;
}

static void make_source(const tml_grid *grid)
{
    source.layer_samples = grid->dims[0] * grid->dims[1];
    source.layers = grid->dims[2];
    source.fails_at = seldom() ? below(8) : UINT64_MAX;
    uint32_t random = take();
    for (int i = 0; i < 3; i++) {
        size_t size = source.layer_samples * source.layers * source.sizes[i];
        source.memory[i] = malloc(size ? size : 1);
        for (size_t k = 0; k < size; k++) {
            random = random * 1664525u + 1013904223u;
            source.memory[i][k] = (uint8_t)(random >> 24);
        }
    }
}

void desc_surface_slabs(void)
{
    surface_input in;
    static tml_mesh_part before[LABELS];
    if (!take_surface(&in))
        return;
    tml_surface_desc surface = in.desc;
    tml_surface_slabs_desc desc = {.surface = &surface, .write = take_piece};
    if (take() < 240)
        surface.cells = surface.all_labels = surface.largest_component = surface.drop_degenerate =
            false;
    bool is_read = !in.desc.field && take_bool();
    if (is_read) {
        surface.volume = surface.mask = surface.attribute = (tml_buffer){0, 0};
        desc.type = (tml_type)mostly(take_scalar());
        desc.has_mask = take() >= 192;
        desc.attribute_type = take() >= 192 ? take_scalar() : TML_TYPE_NONE;
        if (samples_of(&surface.grid) > SAMPLES_MAX)
            return;
        source.sizes[TML_SURFACE_VOLUME] = tml_type_size(desc.type);
        source.sizes[TML_SURFACE_MASK] = desc.has_mask;
        source.sizes[TML_SURFACE_ATTRIBUTE] = tml_type_size(desc.attribute_type);
        make_source(&surface.grid);
        desc.user = &source;
        if (take_bool())
            desc.map = map_layers;
        else
            desc.read = read_layers;
    }
    desc.memory = mostly(0);
    desc.slab_layers = mostly(below(5));
    desc.layer_first = take() >= 192 ? mostly(below(4)) : 0;
    desc.layer_count = take() >= 192 ? mostly(below(4)) : 0;
    before[0].vertex_count = wild();
    before[0].triangle_count = wild();
    desc.before = seldom() ? before : NULL;
    tml_surface_result result;
    if (CALL(tml_surface_slabs, tml, &desc, &result)) {
        check_parts(&in, &result);
        tml_surface_free(tml, &result);
    }
    for (int i = 0; i < 3 && is_read; i++)
        free(source.memory[i]);
}

/* ---- enqueued -------------------------------------------------------------------------------- */

void desc_surface_enqueue(void)
{
    surface_input in;
    if (!take_surface(&in))
        return;
    tml_surface_desc *surface = &in.desc;
    if (take() < 240) {
        surface->isovalues = NULL;
        surface->labels = NULL;
        surface->isovalue_count = surface->label_count = 0;
        surface->all_labels = false;
        surface->drop_degenerate = surface->largest_component = false;
    }
    uint64_t room = take_bool() ? 4096 : take();
    if (take() >= 192) {
        surface->iso_buffer = make(TML_F32, 3, CONTENTS_ANY, 0);
        surface->iso_index = mostly(below(4));
    }
    surface->mesh.positions = make_out(TML_VEC(TML_F32, 3), room);
    if (surface->normals != TML_NORMALS_NONE)
        surface->mesh.normals = make_out(TML_VEC(TML_F32, 3), room);
    if (!tml_buffer_is_none(surface->attribute))
        surface->mesh.values = make_out(TML_F32, room);
    surface->mesh.indices = make_out(index_type(surface), room);
    if (surface->cells)
        surface->triangle_cells = make_out(take_bool() ? TML_U64 : TML_U32, room);
    surface->counts = maybe_out(take_bool() ? TML_U64 : TML_U32, 2);
    surface->draw = maybe_out(TML_U32, 5);
    size_t size = SCRATCH_OF(tml, tml_surface_enqueue(tml, surface)), reserved = test_reserved(tml);
    tml_status status = tml_surface_enqueue(tml, surface);
    DEMAND(status != TML_OK || test_reserved(tml) <= (size > reserved ? size : reserved));
    if (!ended_well("tml_surface_enqueue", status))
        return;
    /* It has the counts that tml_surface finds. */
    tml_surface_result mesh;
    tml_surface_desc whole = *surface;
    whole.mesh = (tml_mesh_buffers){0};
    whole.triangle_cells = whole.iso_buffer = whole.counts = whole.draw = (tml_buffer){0, 0};
    if (!tml_buffer_is_none(surface->iso_buffer))
        whole.iso = ((const float *)elements_of(surface->iso_buffer))[surface->iso_index];
    if (tml_buffer_is_none(surface->counts) || !isfinite(whole.iso) ||
        !CALL(tml_surface, tml, &whole, &mesh))
        return;
    DEMAND(number_of(surface->counts, 0) == mesh.vertex_count);
    DEMAND(number_of(surface->counts, 1) == mesh.triangle_count);
    tml_surface_free(tml, &mesh);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

static void clean_mesh(void)
{
    enum { MOST = 12 };
    float positions[3 * MOST], normals[3 * MOST], values[MOST];
    uint32_t narrow[3 * MOST];
    uint64_t wide[3 * MOST], vertices = 1 + below(MOST), triangles = below(MOST + 1);
    for (uint64_t i = 0; i < 3 * vertices; i++) {
        positions[i] = (float)below(3);
        normals[i] = (float)mostly_float(1);
        values[i / 3] = normals[i];
    }
    for (uint64_t i = 0; i < 3 * triangles; i++)
        wide[i] = narrow[i] = (uint32_t)below(vertices);
    tml_mesh_part part = {.vertex_count = vertices, .triangle_count = triangles};
    uint8_t how = take();
    tml_mesh mesh = {.positions = positions,
                     .normals = how & 1 ? normals : NULL,
                     .values = how & 2 ? values : NULL,
                     .indices = how & 4 ? (void *)wide : (void *)narrow,
                     .indices64 = how & 4,
                     .vertex_count = vertices,
                     .triangle_count = triangles,
                     .parts = &part,
                     .part_count = 1};
    if (!CALL(tml_mesh_clean, tml, &mesh, how & 8, how & 16, NULL))
        return;
    if (how & 32 && !CALL(tml_mesh_collapse, tml, &mesh, mostly_float(1)))
        return;
    DEMAND(mesh.vertex_count <= vertices && mesh.triangle_count <= triangles);
    DEMAND(part.vertex_count == mesh.vertex_count && part.triangle_count == mesh.triangle_count);
    for (uint64_t i = 0; i < 3 * mesh.triangle_count; i++) {
        uint64_t vertex = index_at(mesh.indices, mesh.indices64, i);
        DEMAND(vertex < mesh.vertex_count);
        note_number(vertex);
    }
    note(positions, 12 * mesh.vertex_count);
}

/* Without iterations nothing moves. */
static void smooth_mesh(void)
{
    uint64_t vertices = below(12), triangles = below(12);
    const tml_type vec3 = TML_VEC(TML_F32, 3);
    const double numbers[] = {0, 0.5, 0.33, -0.34, 1, 2, -0.6, NAN};
    tml_mesh_smooth_desc desc = {
        .mesh = {.positions = make(vec3, vertices, CONTENTS_ANY, 0),
                 .indices = make(TML_VEC(take_bool() ? TML_U64 : TML_U32, 3), triangles,
                                 CONTENTS_BELOW, vertices)},
        .iterations = (uint32_t)below(4),
        .method = (tml_smooth_method)below(3),
        .lambda = numbers[below(8)],
        .mu = numbers[below(8)],
        .free_boundary = take_bool()};
    if (take_bool())
        desc.weights = make(TML_F32, vertices, CONTENTS_ANY, 0);
    static float before[3 * 64], after[3 * 64];
    uint64_t count = count_of(desc.mesh.positions);
    bool is_kept = desc.iterations == 0 && count <= 64 &&
                   CALL(tml_buffer_read, tml, desc.mesh.positions, before);
    desc.out = as_out(take_bool() ? desc.mesh.positions
                                  : make(vec3, vertices + below(2), CONTENTS_ANY, 0));
    if (take_bool())
        desc.normals = as_out(make(vec3, vertices + below(2), CONTENTS_ANY, 0));
    if (!CALL(tml_mesh_smooth, tml, &desc) || count > 64 ||
        !CALL(tml_buffer_read_range, tml, desc.out, 0, count, after))
        return;
    for (uint64_t i = 0; is_kept && i < 3 * count; i++)
        DEMAND(before[i] == after[i] || isnan(before[i]));
    note(after, 12 * count);
}

void desc_mesh(void)
{
    if (take_bool()) {
        if (take_bool())
            smooth_mesh();
        else
            clean_mesh();
        return;
    }
    uint64_t vertices = below(12), triangles = below(12);
    tml_mesh_stats stats;
    tml_buffer positions = make(TML_VEC(TML_F32, 3), vertices, CONTENTS_ANY, 0);
    tml_buffer indices =
        make(TML_VEC(take_bool() ? TML_U64 : TML_U32, 3), triangles, CONTENTS_BELOW, vertices);
    if (!CALL(tml_mesh_examine, tml,
              &(tml_mesh_buffers){.positions = positions, .indices = indices}, take_bool(), &stats))
        return;
    DEMAND(stats.components <= count_of(indices));
    DEMAND(stats.boundary_edges + 2 * stats.nonmanifold_edges <= 3 * count_of(indices));
    note_number(stats.components);
    note_number(stats.boundary_edges);
    note_number(stats.nonmanifold_edges);
}
