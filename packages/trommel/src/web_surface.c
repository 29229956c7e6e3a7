/* Fields and surfaces for JavaScript. */
#include "web.h"

static tml_field_desc field_desc_of(const web_request *r)
{
    return (tml_field_desc){.points = buffer_of(r->points),
                            .radii = buffer_of(r->radii),
                            .radius = r->radius,
                            .kind = (tml_field_kind)r->kind,
                            .kernel = (tml_field_kernel)r->field_kernel,
                            .margin = r->margin,
                            .grid = grid_of(r),
                            .resolution = (uint32_t)r->resolution};
}

EMSCRIPTEN_KEEPALIVE int web_field_resolve(tml_context *tml)
{
    const tml_field_prepare_desc desc = {.field = field_desc_of(&request)};
    tml_field_prepared made;
    tml_status status = tml_field_prepare(tml, &desc, &made);
    if (status == TML_OK) {
        reply.iso = made.iso;
        reply.radius = made.field.radius;
        reply.margin = made.field.margin;
        tell_grid(&made.field.grid);
    }
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_field(tml_context *tml)
{
    tml_field_desc desc = field_desc_of(&request);
    return tml_field(tml, &desc, buffer_of(request.out));
}

/* field: room for its desc, where the request has one. */
static tml_surface_desc surface_desc_of(const web_request *r, tml_field_desc *field)
{
    tml_surface_desc desc = {
        .index = buffer_of(r->index),
        .region = {.first = {(uint64_t)r->region0, (uint64_t)r->region1, (uint64_t)r->region2},
                   .count = {(uint64_t)r->region3, (uint64_t)r->region4, (uint64_t)r->region5}},
        .mask = buffer_of(r->mask),
        .attribute = buffer_of(r->attribute),
        .iso = r->iso,
        .isovalues = pointer(r->isovalues),
        .isovalue_count = (uint32_t)r->isovalue_count,
        .labels = pointer(r->labels),
        .label_count = (uint32_t)r->label_count,
        .all_labels = r->all_labels != 0.0,
        .normals = (tml_normals)r->normals,
        .soup = r->soup != 0.0,
        .cells = r->wants_cells != 0.0,
        .caps = r->caps != 0.0,
        .flip = r->flip != 0.0,
        .drop_degenerate = r->drop_degenerate != 0.0,
        .largest_component = r->largest_component != 0.0,
        .position_origin = {r->position0, r->position1, r->position2},
        .mesh = {.positions = buffer_of(r->vertices),
                 .normals = buffer_of(r->vertex_normals),
                 .values = buffer_of(r->vertex_values),
                 .indices = buffer_of(r->indices)},
        .triangle_cells = buffer_of(r->triangle_cells),
    };
    if (r->is_field != 0.0) {
        *field = field_desc_of(r);
        desc.field = field;
    } else {
        desc.volume = buffer_of(r->volume);
        desc.grid = grid_of(r);
    }
    return desc;
}

/* Parts as doubles, six each: value, vertex first and count, triangle first and count, and a
 * label's 64 bits. */
static double parts_of(const tml_surface_result *result)
{
    double *parts = malloc((size_t)result->part_count * 6 * sizeof *parts + 1);
    for (uint32_t i = 0; parts && i < result->part_count; i++) {
        const tml_mesh_part *part = &result->parts[i];
        const double values[5] = {part->value, (double)part->vertex_first,
                                  (double)part->vertex_count, (double)part->triangle_first,
                                  (double)part->triangle_count};
        memcpy(parts + 6 * i, values, sizeof values);
        memcpy(parts + 6 * i + 5, &part->label, sizeof part->label);
    }
    return address(parts);
}

/* Stages as doubles, two each: the name's address and the seconds. */
static double stages_of(const tml_surface_result *result)
{
    static double stages[16];
    for (uint32_t i = 0; i < result->stage_count; i++) {
        stages[2 * i] = address(result->stages[i].name);
        stages[2 * i + 1] = result->stages[i].seconds;
    }
    return address(stages);
}

/* The buffers become JavaScript's, and so does parts (web_free). */
EMSCRIPTEN_KEEPALIVE int web_surface(tml_context *tml)
{
    tml_field_desc field;
    tml_surface_desc desc = surface_desc_of(&request, &field);
    tml_surface_result result;
    tml_status status = tml_surface(tml, &desc, &result);
    if (status != TML_OK)
        return status;
    reply.vertices = handle_of(result.mesh.positions);
    reply.vertex_normals = handle_of(result.mesh.normals);
    reply.vertex_values = handle_of(result.mesh.values);
    reply.indices = handle_of(result.mesh.indices);
    reply.triangle_cells = handle_of(result.triangle_cells);
    reply.vertex_count = (double)result.vertex_count;
    reply.triangle_count = (double)result.triangle_count;
    reply.active_cells = (double)result.active_cells;
    reply.parts = parts_of(&result);
    reply.part_count = result.part_count;
    reply.stages = stages_of(&result);
    reply.stage_count = result.stage_count;
    result.mesh = (tml_mesh_buffers){0};
    result.triangle_cells = (tml_buffer){0};
    tml_surface_free(tml, &result);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_surface_enqueue(tml_context *tml)
{
    const web_request *r = &request;
    tml_field_desc field;
    tml_surface_desc desc = surface_desc_of(r, &field);
    desc.iso_buffer = buffer_of(r->iso_buffer);
    desc.iso_index = (uint64_t)r->iso_index;
    desc.counts = buffer_of(r->counts);
    return tml_surface_enqueue(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_surface_index(tml_context *tml)
{
    tml_surface_desc desc = {.volume = buffer_of(request.volume), .grid = grid_of(&request)};
    tml_buffer index;
    tml_status status = tml_surface_index(tml, &desc, &index);
    if (status == TML_OK)
        reply.buffer = handle_of(index);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_surface_cells(tml_context *tml)
{
    tml_field_desc field;
    tml_surface_desc desc = surface_desc_of(&request, &field);
    return tml_surface_cells(tml, &desc, pointer(request.cells));
}
