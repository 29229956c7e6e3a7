/* Any bytes, read as meshes of each format: no crash, no hang, no memory beyond a limit, and what
 * loads names only vertices, texture coordinates and faces that are there, at finite places. */
#include <stdlib.h>

#include "io/meshes/mesh_sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_below(const uint32_t *numbers, uint64_t count, uint64_t bound)
{
    for (uint64_t i = 0; i < count && numbers; i++)
        if (numbers[i] >= bound)
            abort();
}

static void check_mesh(const tml_mesh_file *file)
{
    const tml_mesh *mesh = &file->mesh;
    check_below(mesh->indices, 3 * mesh->triangle_count, mesh->vertex_count);
    check_below(mesh->uv_indices, 3 * mesh->triangle_count, mesh->uv_count);
    check_below(file->faces, mesh->triangle_count, file->face_count);
    check_below(file->crease_vertices, 2 * file->crease_count, mesh->vertex_count);
    check_below(file->corner_vertices, file->corner_count, mesh->vertex_count);
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++)
        if (!(mesh->positions[i] - mesh->positions[i] == 0.0f)) /* NaN or infinite */
            abort();
    float sum = 0;
    for (uint32_t a = 0; a < mesh->attribute_count; a++) { /* all numbers are there */
        const tml_mesh_attribute *attribute = &mesh->attributes[a];
        if (!attribute->name[0] || attribute->components < 1 || attribute->components > 4)
            abort();
        for (uint64_t i = 0; i < mesh->vertex_count * attribute->components; i++)
            sum += attribute->data[i];
    }
    volatile float used = sum;
    (void)used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The names decide where the content does not. */
    static const char *const names[] = {"fuzz.obj", "fuzz.stl", "fuzz.off", "fuzz.gltf"};
    static tml_context *tml;
    if (!tml && tml_open(&(tml_open_desc){.threads = 1}, &tml) != TML_OK)
        abort();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tml_load_desc desc = {.weld = (tml_weld)(i % 3), .memory_limit = 32 << 20};
        io_file file;
        tml_mesh_file mesh;
        tml_io_open_memory(tml, "tml_mesh_load", names[i], data, size, &file);
        tml_status status = tml_mesh_read(&file, &desc, &mesh);
        if (status == TML_OK)
            check_mesh(&mesh);
        else if (!tml_last_error(tml)[0] || mesh.mesh.positions)
            abort();
        tml_mesh_file_free(tml, &mesh);
        tml_io_close(&file);
    }
    return 0;
}
