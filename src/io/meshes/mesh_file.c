/* Frees a loaded mesh file. */

#include "io/meshes/mesh_sink.h"

void tml_mesh_file_free(tml_context *tml, tml_mesh_file *file)
{
    const tml_mesh *mesh = &file->mesh;
    tml_free(tml, mesh->positions, mesh->vertex_count * 3 * sizeof(float));
    tml_free(tml, mesh->normals, mesh->vertex_count * 3 * sizeof(float));
    tml_free(tml, mesh->values, mesh->vertex_count * sizeof(float));
    tml_free(tml, mesh->indices, mesh->triangle_count * 3 * sizeof(uint32_t));
    tml_free(tml, mesh->uvs, mesh->uv_count * 2 * sizeof(float));
    tml_free(tml, mesh->uv_indices, mesh->triangle_count * 3 * sizeof(uint32_t));
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        tml_free(tml, mesh->attributes[i].data,
                 mesh->vertex_count * mesh->attributes[i].components * sizeof(float));
    tml_free(tml, mesh->attributes, sizeof(mesh_attributes));
    tml_free(tml, file->faces, mesh->triangle_count * sizeof(uint32_t));
    tml_free(tml, file->crease_vertices, file->crease_count * 2 * sizeof(uint32_t));
    tml_free(tml, file->crease_sharpness, file->crease_count * sizeof(float));
    tml_free(tml, file->corner_vertices, file->corner_count * sizeof(uint32_t));
    tml_free(tml, file->corner_sharpness, file->corner_count * sizeof(float));
    *file = (tml_mesh_file){0};
}
