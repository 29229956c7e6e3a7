/* Loads the meshes of collide, subdivide and info. */
#include <stdio.h>
#include <string.h>

#include "file_advice.h"
#include "mesh_input.h"
#include "report/fields.h"
#include "report/text.h"
#include "system.h"

static void warn(const mesh_input *in)
{
    const tml_mesh_file *file = &in->file;
    char some[TEXT_SIZE];
    const char *name = text_file_name(in->path);
    if (file->crossed_count > 0)
        cli_warn("%s: %s of its faces have an outline that crosses itself, or no area", name,
                 text_count(some, file->crossed_count));
    if (file->skipped_count > 0)
        cli_warn("%s: %s points, lines or curves were left out", name,
                 text_count(some, file->skipped_count));
    if (file->comment[0])
        cli_warn("%s: %s", name, file->comment);
}

static int load(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                report *times, const double *origin, bool recenter, mesh_input *out)
{
    *out = (mesh_input){.path = path};
    system_file info;
    double start = cli_now();
    const tml_load_desc desc = {.weld = weld,
                                .memory_limit = common->memory,
                                .strict = common->strict,
                                .origin = origin,
                                .recenter = recenter};
    out->file_size = system_examine(path, &info) ? info.size : 0;
    tml_status status = tml_mesh_load(tml, path, &desc, &out->file);
    TML_THEN(status, cli_lend(tml, TML_VEC(TML_F32, 3), out->file.mesh.vertex_count,
                              out->file.mesh.positions, "vertices", &out->buffers.positions));
    TML_THEN(status, cli_lend(tml, TML_VEC(TML_U32, 3), out->file.mesh.triangle_count,
                              out->file.mesh.indices, "triangles", &out->buffers.indices));
    if (times)
        report_add_stage(times, "load", cli_now() - start);
    if (status == TML_OK && !common->quiet)
        warn(out);
    return advice_fail(tml, status, path, TML_FILE_MESH);
}

int mesh_input_load(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                    report *times, mesh_input *out)
{
    return load(tml, path, weld, common, times, NULL, true, out);
}

int mesh_input_load_at(tml_context *tml, const char *path, tml_weld weld, const cli_common *common,
                       report *times, const double *origin, mesh_input *out)
{
    return load(tml, path, weld, common, times, origin, false, out);
}

tml_status mesh_input_tree(tml_context *tml, const mesh_input *in, bool skip_broken, tml_tree **out)
{
    const tml_tree_desc desc = {.vertices = in->buffers.positions,
                                .indices = in->buffers.indices,
                                .skip_broken = skip_broken};
    return tml_tree_create(tml, &desc, out);
}

void mesh_input_free(tml_context *tml, mesh_input *in)
{
    tml_buffer_destroy(tml, in->buffers.positions);
    tml_buffer_destroy(tml, in->buffers.indices);
    tml_mesh_file_free(tml, &in->file);
    *in = (mesh_input){0};
}

void mesh_input_tell(const char *key, const char *label, const mesh_input *in)
{
    const tml_mesh_file *file = &in->file;
    field_open(key, '{');
    field_text("file", NULL, NULL, in->path);
    field_count("file_bytes", NULL, NULL, in->file_size);
    field_text("kind", NULL, NULL, "mesh");
    field_count("vertices", label, "%s vertices", file->mesh.vertex_count);
    field_count("triangles", NULL, ", %s triangle(s)", file->mesh.triangle_count);
    field_text("format", NULL, ", %s", file->format);
    field_count("faces", NULL, NULL, file->face_count);
    field_count("polygons", NULL, "?; %s face(s) cut into triangles", file->polygon_count);
    field_count("welded_vertices", NULL, NULL, file->welded_count);
    field_close('{');
}
