/* Subdivision for JavaScript. */
#include <trommel/subdivide.h>

#include "web.h"

EMSCRIPTEN_KEEPALIVE int web_subdivider_create(tml_context *tml)
{
    const web_request *r = &request;
    tml_subdivider_desc desc = {
        .mesh = {.positions = buffer_of(r->vertices), .indices = buffer_of(r->indices)},
        .crease_edges = buffer_of(r->creases),
        .crease_sharpness = buffer_of(r->crease_sharpness),
        .corners = buffer_of(r->corners),
        .corner_sharpness = buffer_of(r->corner_sharpness),
        .boundary = (tml_subdivide_boundary)r->boundary,
        .weights = (tml_subdivide_weights)r->weighting,
        .fix = r->fix != 0.0};
    tml_subdivider *subdivider;
    tml_status status = tml_subdivider_create(tml, &desc, &subdivider);
    if (status != TML_OK)
        return status;
    tml_subdivider_info info;
    tml_subdivider_describe(subdivider, 0, &info);
    reply.subdivider = address(subdivider);
    reply.vertex_count = (double)info.vertex_count;
    reply.edge_count = (double)info.edge_count;
    reply.triangle_count = (double)info.triangle_count;
    reply.boundary_edge_count = (double)info.boundary_edge_count;
    reply.sharp_edge_count = (double)info.sharp_edge_count;
    return TML_OK;
}
EMSCRIPTEN_KEEPALIVE void web_subdivider_destroy(tml_context *tml, tml_subdivider *subdivider)
{
    tml_subdivider_destroy(tml, subdivider);
}

/* The buffers are JavaScript's from here on. */
static void tell_subdivided(const tml_subdivide_result *result)
{
    reply.vertices = handle_of(result->buffers.mesh.positions);
    reply.vertex_normals = handle_of(result->buffers.mesh.normals);
    reply.indices = handle_of(result->buffers.mesh.indices);
    reply.origins = handle_of(result->buffers.origins);
    reply.vertex_count = (double)result->vertex_count;
    reply.triangle_count = (double)result->triangle_count;
    reply.depth = result->depth;
    reply.error = result->error;
    reply.is_within_budget = result->is_within_budget;
    reply.is_within_depth = result->is_within_depth;
}

EMSCRIPTEN_KEEPALIVE int web_subdivide_uniform(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    tml_subdivide_uniform_desc desc = {
        .levels = (uint32_t)r->levels, .limit = r->limit != 0.0, .normals = r->normals != 0.0};
    tml_subdivide_result result;
    tml_status status = tml_subdivide_uniform_enqueue(pointer(r->subdivider), &desc, &result);
    if (status == TML_OK)
        tell_subdivided(&result);
    return status;
}

static tml_subdivide_adaptive_desc adaptive_desc_of(const web_request *r)
{
    tml_subdivide_adaptive_desc desc = {.criterion = (tml_subdivide_criterion)r->criterion,
                                        .threshold = (float)r->threshold,
                                        .max_depth = (uint32_t)r->depth,
                                        .budget = (uint64_t)r->budget,
                                        .slivers = r->slivers != 0.0,
                                        .normals = r->normals != 0.0,
                                        .origins = r->origins != 0.0};
    if (r->camera != 0.0) {
        memcpy(desc.camera.matrix, pointer(r->camera), sizeof desc.camera.matrix);
        desc.camera.width = (uint32_t)r->width;
        desc.camera.height = (uint32_t)r->height;
        desc.camera.nearest = (float)r->nearest;
        desc.camera.measure_outside = r->measure_outside != 0.0;
    }
    return desc;
}

EMSCRIPTEN_KEEPALIVE int web_subdivide_adaptive(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    const tml_subdivide_adaptive_desc desc = adaptive_desc_of(r);
    tml_subdivide_result result;
    tml_status status = tml_subdivide_adaptive(pointer(r->subdivider), &desc, &result);
    if (status == TML_OK)
        tell_subdivided(&result);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_subdivide_enqueue(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    tml_subdivide_adaptive_desc desc = adaptive_desc_of(r);
    desc.buffers = (tml_subdivide_buffers){.mesh = {.positions = buffer_of(r->vertices),
                                                    .normals = buffer_of(r->vertex_normals),
                                                    .indices = buffer_of(r->indices)},
                                           .origins = buffer_of(r->origins_out)};
    desc.camera_buffer = buffer_of(r->camera_buffer);
    desc.level_triangles = (uint64_t)r->level_triangles;
    desc.counts = buffer_of(r->counts);
    desc.draw = buffer_of(r->draw);
    return tml_subdivide_adaptive_enqueue(pointer(r->subdivider), &desc);
}
