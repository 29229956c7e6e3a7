/* The meshes that collide, subdivide and info read. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "mesh_input.h"
#include "text.h"

static void warn(const mesh_input *in)
{
    const tml_mesh_file *file = &in->file;
    char some[TEXT_SIZE], all[TEXT_SIZE];
    const char *name = text_file_name(in->path);
    if (file->polygon_count > 0)
        cli_warn("%s: %s of its %s faces have more than three corners and were cut into "
                 "triangles",
                 name, text_count(some, file->polygon_count), text_count(all, file->face_count));
    if (file->crossed_count > 0)
        cli_warn("%s: %s of them have an outline that crosses itself, or no area", name,
                 text_count(some, file->crossed_count));
    if (file->skipped_count > 0)
        cli_warn("%s: %s points, lines or curves were left out", name,
                 text_count(some, file->skipped_count));
    if (file->comment[0])
        cli_warn("%s: %s", name, file->comment);
}

int mesh_input_load(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                    report *times, mesh_input *out)
{
    *out = (mesh_input){.path = path};
    struct stat info;
    double start = cli_now();
    tml_mesh_load_desc desc = {.weld = weld, .memory_limit = common->memory};
    out->file_size = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    tml_status status = tml_mesh_load(tml, path, &desc, &out->file);
    if (status == TML_OK)
        status = cli_lend(tml, TML_VEC(TML_F32, 3), out->file.mesh.vertex_count,
                          out->file.mesh.positions, "vertices", &out->positions);
    if (status == TML_OK)
        status = cli_lend(tml, TML_VEC(TML_U32, 3), out->file.mesh.triangle_count,
                          out->file.mesh.indices, "triangles", &out->indices);
    if (times)
        report_add_stage(times, "load", cli_now() - start);
    if (status == TML_OK && !common->quiet)
        warn(out);
    return cli_fail(tml, status);
}

void mesh_input_free(tml_context *tml, mesh_input *in)
{
    tml_buffer_destroy(tml, in->positions);
    tml_buffer_destroy(tml, in->indices);
    tml_mesh_file_free(tml, &in->file);
    *in = (mesh_input){0};
}

char *mesh_input_describe(const mesh_input *in, char *text)
{
    char vertices[TEXT_SIZE], triangles[TEXT_SIZE];
    snprintf(text, TEXT_SIZE, "%.40s vertices, %.40s triangles, %s",
             text_count(vertices, in->file.mesh.vertex_count),
             text_count(triangles, in->file.mesh.triangle_count), in->file.format);
    return text;
}

void mesh_input_json(json *j, const char *name, const mesh_input *in)
{
    const tml_mesh_file *file = &in->file;
    json_open(j, name, '{');
    json_text(j, "file", in->path);
    json_count(j, "file_bytes", in->file_size);
    json_text(j, "format", file->format);
    json_count(j, "vertices", file->mesh.vertex_count);
    json_count(j, "triangles", file->mesh.triangle_count);
    json_count(j, "faces", file->face_count);
    json_count(j, "polygons", file->polygon_count);
    json_count(j, "welded_vertices", file->welded_count);
    json_close(j, '{');
}
