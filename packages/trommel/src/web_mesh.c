/* Meshes and their files for JavaScript. */
#include <trommel/meshes.h>

#include "io/io_system.h"
#include "io/meshes/mesh_sink.h"
#include "web.h"

EMSCRIPTEN_KEEPALIVE int web_mesh_examine(tml_context *tml)
{
    tml_mesh_stats stats;
    tml_status status =
        tml_mesh_examine(tml,
                         &(tml_mesh_buffers){.positions = buffer_of(request.vertices),
                                             .indices = buffer_of(request.indices)},
                         request.components_only != 0.0, &stats);
    if (status != TML_OK)
        return status;
    reply.components = (double)stats.components;
    reply.boundary_edges = (double)stats.boundary_edges;
    reply.nonmanifold_edges = (double)stats.nonmanifold_edges;
    reply.euler = (double)stats.euler;
    reply.area = stats.area;
    reply.enclosed = stats.volume;
    memcpy(&reply.lower0, stats.lower, sizeof stats.lower);
    memcpy(&reply.upper0, stats.upper, sizeof stats.upper);
    return TML_OK;
}

static tml_mesh_file loaded_mesh;

/* The reply holds until web_mesh_free; the name's ending may say what it is. */
EMSCRIPTEN_KEEPALIVE int web_mesh_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_load_desc desc = {.weld = TML_WELD_AUTO, .memory_limit = (uint64_t)r->memory_limit};
    io_file file;
    tml_io_open_memory(tml, "tml_mesh_load", text(r->name), pointer(r->data), (size_t)r->size,
                       &file);
    tml_status status = tml_mesh_read(&file, &desc, &loaded_mesh);
    tml_io_close(&file);
    if (status != TML_OK)
        return status;
    const tml_mesh *mesh = &loaded_mesh.mesh;
    reply.positions = address(mesh->positions);
    reply.indices = address(mesh->indices);
    reply.vertex_count = (double)mesh->vertex_count;
    reply.triangle_count = (double)mesh->triangle_count;
    reply.format = address(loaded_mesh.format);
    reply.comment = address(loaded_mesh.comment);
    memcpy(&reply.origin0, mesh->origin, sizeof mesh->origin);
    return TML_OK;
}
EMSCRIPTEN_KEEPALIVE void web_mesh_free(tml_context *tml)
{
    tml_mesh_file_free(tml, &loaded_mesh);
}

/* name: its ending says what the file becomes, which the caller frees (reply.data). */
EMSCRIPTEN_KEEPALIVE int web_mesh_save(tml_context *tml)
{
    const web_request *r = &request;
    tml_mesh mesh = {.positions = pointer(r->vertices),
                     .normals = pointer(r->vertex_normals),
                     .values = pointer(r->vertex_values),
                     .indices = pointer(r->indices),
                     .vertex_count = (uint64_t)r->vertex_count,
                     .triangle_count = (uint64_t)r->triangle_count,
                     .origin = {r->origin0, r->origin1, r->origin2}};
    tml_status status = tml_mesh_save(tml, text(r->name), &mesh);
    size_t size;
    void *data = tml_io_take_written(&size);
    if (status != TML_OK)
        free(data);
    reply.data = address(data);
    reply.size = (double)size;
    return status;
}
