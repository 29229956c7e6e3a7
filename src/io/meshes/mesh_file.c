/* What a loaded mesh file holds, and its end. */
#include "io/meshes/mesh_sink.h"

static void free_const(tml_context *tml, const void *memory, uint64_t size)
{
    tml_free(tml, (void *)(uintptr_t)memory, size);
}

void tml_mesh_file_free(tml_context *tml, tml_mesh_file *file)
{
    const tml_mesh *mesh = &file->mesh;
    free_const(tml, mesh->positions, mesh->vertex_count * 3 * sizeof(float));
    free_const(tml, mesh->normals, mesh->vertex_count * 3 * sizeof(float));
    free_const(tml, mesh->values, mesh->vertex_count * sizeof(float));
    free_const(tml, mesh->indices, mesh->triangle_count * 3 * sizeof(uint32_t));
    free_const(tml, mesh->uvs, mesh->uv_count * 2 * sizeof(float));
    free_const(tml, mesh->uv_indices, mesh->triangle_count * 3 * sizeof(uint32_t));
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        free_const(tml, mesh->attributes[i].data,
                   mesh->vertex_count * mesh->attributes[i].components * sizeof(float));
    free_const(tml, mesh->attributes, sizeof(mesh_attributes));
    tml_free(tml, file->faces, mesh->triangle_count * sizeof(uint32_t));
    tml_free(tml, file->crease_vertices, file->crease_count * 2 * sizeof(uint32_t));
    tml_free(tml, file->crease_sharpness, file->crease_count * sizeof(float));
    tml_free(tml, file->corner_vertices, file->corner_count * sizeof(uint32_t));
    tml_free(tml, file->corner_sharpness, file->corner_count * sizeof(float));
    *file = (tml_mesh_file){0};
}
