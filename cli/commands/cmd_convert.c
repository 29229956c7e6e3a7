/* trommel convert: writes volumes, points, meshes and pictures in another format. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "draw/picture_buffer.h"
#include "draw/picture_options.h"
#include "input.h"
#include "mesh_input.h"
#include "paths.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"
#include "simplify.h"
#include "transform.h"

typedef struct convert_args {
    cli_common common;
    const char *output;
    input_options input;
    uint32_t weld; /* tml_weld */
    uint32_t up;   /* tml_up; 0: by the input's format */
    bool is_linear;
    uint64_t smooth;
    simplify_goal simplify;
    transform_options transform;
} convert_args;

/* Endings are in this order: volumes, meshes (points: .ply), pictures. */

static const opt convert_options[] = {
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "the file; its ending names the format",
     .argument = "FILE", .offset = offsetof(convert_args, output),
     .endings = ".nrrd .mha .npy .raw .ply .stl .obj .glb .vtp .png .exr .hdr .pfm",
     .help = "the file; volumes: .nrrd .mha .npy .raw; points: .ply; meshes: .ply .stl .obj .glb "
             ".vtp; pictures: .png .exr .hdr .pfm"},
    {OPT_SECTION, .help = "Place and size", .applies = OPT_MESH | OPT_POINTS},
    {OPT_NUMBERS, "scale", .argument = "S|X,Y,Z", .count_most = 3, .fallback = "1",
     .offset = offsetof(convert_args, transform.scale),
     .help = "multiply coordinates, such as by 25.4 to make millimetres of inches; three factors "
             "are for x, y and z, and what they mirror keeps its outside"},
    {OPT_NUMBERS, "rotate", .argument = "X,Y,Z", .count_least = 3, .count_most = 3,
     .fallback = "0,0,0", .offset = offsetof(convert_args, transform.rotate),
     .help = "then rotate about x, then y, then z, in degrees, about 0"},
    {OPT_NUMBERS, "translate", .argument = "X,Y,Z", .count_least = 3, .count_most = 3,
     .fallback = "0,0,0", .offset = offsetof(convert_args, transform.translate),
     .help = "then translate"},
    {OPT_SECTION, .help = "Meshes", .applies = OPT_MESH},
    {OPT_CHOICE, "weld", .choices = "auto|never|always", .fallback = "auto",
     .offset = offsetof(convert_args, weld),
     .help = "make vertices at equal places one; auto: in STL"},
    {OPT_CHOICE, "up", .choices = PICTURE_UPS, .fallback = "auto", .needs = "output=*.glb",
     .offset = offsetof(convert_args, up),
     .help = "the axis that points up in IN; a GLB is y-up, so its node turns the mesh; auto: y "
             "for OBJ and glTF, z for all others"},
    {OPT_COUNT, "smooth", .argument = "N", .least = 0, .most = 1000, .fallback = "0",
     .offset = offsetof(convert_args, smooth),
     .help = "smooth N times (10 to 30, say) by Taubin's two steps, before --simplify: what is "
             "large stays as large, boundaries stay, and normals follow the triangles"},
    SIMPLIFY_OPTIONS(convert_args, simplify, .applies = OPT_MESH),
    {OPT_SECTION, .help = "Pictures", .applies = OPT_INTEGERS},
    {OPT_FLAG, "linear", .offset = offsetof(convert_args, is_linear),
     .help = "PNG and JPEG hold linear values (default: sRGB, unless the file says otherwise)"},
    INPUT_OPTIONS(convert_args),
    {0},
};

typedef struct run {
    tml_context *tml;
    const convert_args *args;
    const char *path, *kind, *format;
    char described[TEXT_SIZE]; /* describes the input */
    report times;
    simplified simple;
} run;

/* Each kind's endings, and what to say if the output has another ending. */
static const struct {
    const char *name, *is;
    const char *endings;
    uint32_t options;
    const char *remedy;
} kinds[] = {
    [TML_FILE_VOLUME] =
        {"volume", "a volume", ".nrrd .mha .npy .raw", OPT_VOLUME,
         "a volume is written as .nrrd .mha .npy .raw; 'trommel surface' makes a mesh "
         "of it"},
    [TML_FILE_POINTS] = {"points", "points", ".ply", OPT_POINTS,
                         "points are written as .ply; 'trommel surface' makes a mesh of them"},
    [TML_FILE_MESH] = {"mesh", "a mesh", ".ply .stl .obj .glb .vtp", OPT_MESH,
                       "a mesh is written as .ply .stl .obj .glb .vtp"},
    [TML_FILE_PICTURE] = {"picture", "a picture", ".png .exr .hdr .pfm", OPT_PICTURE,
                          "a picture is written as .png .exr .hdr .pfm"},
    [TML_FILE_INDEX] = {"index", "an index", "", OPT_INDEX, "'trommel index' makes it of a volume"},
};

static void describe(run *r, const char *format, const char *text)
{
    r->format = format;
    snprintf(r->described, sizeof r->described, "%s", text);
}

/* ---- volumes and points ---------------------------------------------------------------------- */

static int convert_volume(run *r)
{
    const convert_args *a = r->args;
    tml_volume volume;
    char text[TEXT_SIZE];
    double start = cli_now();
    tml_load_desc desc = input_volume_desc(&a->input, &a->common);
    tml_status status = tml_volume_load(r->tml, r->path, &desc, &volume);
    report_add_stage(&r->times, "load", cli_now() - start);
    if (status != TML_OK)
        return cli_fail(r->tml, status);
    int code = input_take_unit(&a->input, r->path, &volume);
    if (code != CLI_OK) {
        tml_volume_free(r->tml, &volume);
        return code;
    }
    const uint64_t *dims = volume.grid.dims;
    snprintf(text, sizeof text, "%" PRIu64 " x %" PRIu64 " x %" PRIu64 " of %s, %s", dims[0],
             dims[1], dims[2], tml_type_name(volume.type), volume.format);
    describe(r, tml_file_format(r->tml, r->path, TML_FILE_VOLUME, NULL), text);
    start = cli_now();
    status = tml_volume_save(r->tml, a->output, &volume);
    report_add_stage(&r->times, "save", cli_now() - start);
    tml_volume_free(r->tml, &volume);
    return cli_fail(r->tml, status);
}

static int convert_points(run *r)
{
    tml_points points;
    char text[TEXT_SIZE], count[TEXT_SIZE];
    double start = cli_now();
    static const char *const all[] = {"*"};
    const tml_load_desc desc = {.names = all,
                                .name_count = 1,
                                .memory_limit = r->args->common.memory,
                                .strict = r->args->common.strict};
    tml_status status = tml_points_load(r->tml, r->path, &desc, &points);
    report_add_stage(&r->times, "load", cli_now() - start);
    if (status != TML_OK)
        return cli_fail(r->tml, status);
    snprintf(text, sizeof text, "%.40s points, %s", text_count(count, points.count), points.format);
    describe(r, tml_file_format(r->tml, r->path, TML_FILE_POINTS, NULL), text);
    if (transform_is_asked(&r->args->transform))
        transform_points(&r->args->transform, &points);
    start = cli_now();
    int code = cli_fail(r->tml, tml_points_save(r->tml, r->args->output, &points));
    report_add_stage(&r->times, "save", cli_now() - start);
    tml_points_free(r->tml, &points);
    return code;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

/* Arrays that replace those of a mesh. */
typedef struct smoothed {
    tml_buffer positions, normals;
    void *mapped_positions, *mapped_normals;
} smoothed;

static void smooth_free(tml_context *tml, smoothed *made)
{
    if (made->mapped_positions)
        tml_buffer_unmap(tml, made->positions);
    if (made->mapped_normals)
        tml_buffer_unmap(tml, made->normals);
    tml_buffer_destroy(tml, made->positions);
    tml_buffer_destroy(tml, made->normals);
}

static tml_status smooth(run *r, const mesh_input *in, tml_mesh *mesh, smoothed *out)
{
    tml_context *tml = r->tml;
    const tml_type vec3 = TML_VEC(TML_F32, 3);
    double start = cli_now();
    if (!mesh->indices)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "--smooth: the triangles share no vertices; give --weld always");
    tml_status status =
        cli_make_buffer(tml, vec3, mesh->vertex_count, NULL, "smoothed", &out->positions);
    if (status == TML_OK && mesh->normals)
        status = cli_make_buffer(tml, vec3, mesh->vertex_count, NULL, "smoothed", &out->normals);
    TML_THEN(status,
             tml_mesh_smooth(tml, &(tml_mesh_smooth_desc){.mesh = in->buffers,
                                                          .iterations = (uint32_t)r->args->smooth,
                                                          .out = out->positions,
                                                          .normals = out->normals}));
    if (status == TML_OK && mesh->vertex_count)
        status = tml_buffer_map(tml, out->positions, &out->mapped_positions);
    if (status == TML_OK && mesh->vertex_count && mesh->normals)
        status = tml_buffer_map(tml, out->normals, &out->mapped_normals);
    if (status == TML_OK && mesh->vertex_count) {
        mesh->positions = out->mapped_positions;
        mesh->normals = out->mapped_normals;
    }
    report_add_stage(&r->times, "smooth", cli_now() - start);
    return status;
}

/* STL holds no vertex attributes, OBJ only colours. */
static void warn_of_attributes(const tml_mesh *mesh, const char *output)
{
    const bool is_obj = path_ends_with(output, ".obj");
    if (!is_obj && !path_ends_with(output, ".stl"))
        return;
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        if (!is_obj || strcmp(mesh->attributes[i].name, "color") != 0)
            cli_warn("%s holds no %s of vertices; use .ply, .glb or .vtp to keep it", output,
                     mesh->attributes[i].name);
}

static int convert_mesh(run *r)
{
    const convert_args *a = r->args;
    mesh_input in;
    char text[TEXT_SIZE], vertices[TEXT_SIZE], triangles[TEXT_SIZE];
    const bool computes =
        a->smooth || simplify_is_asked(&a->simplify) || transform_is_asked(&a->transform);
    int code = computes
                   ? mesh_input_load(r->tml, r->path, (tml_weld)a->weld, &a->common, &r->times, &in)
                   : mesh_input_load_at(r->tml, r->path, (tml_weld)a->weld, &a->common, &r->times,
                                        NULL, &in);
    if (code == CLI_OK) {
        tml_mesh mesh = in.file.mesh;
        mesh.up = picture_up(a->up, in.file.format);
        mesh.comment = "made by " CLI_PROGRAM;
        snprintf(text, sizeof text, "%.40s vertices, %.40s triangles, %s",
                 text_count(vertices, mesh.vertex_count),
                 text_count(triangles, mesh.triangle_count), in.file.format);
        describe(r, tml_file_format(r->tml, r->path, TML_FILE_MESH, NULL), text);
        if (mesh.uvs && !path_ends_with(a->output, ".obj"))
            cli_warn("%s holds no texture coordinates of corners; use .obj to keep them",
                     a->output);
        warn_of_attributes(&mesh, a->output);
        if (in.file.crease_count || in.file.corner_count)
            cli_warn("creases and sharp corners are left out");
        smoothed smoother = {.mapped_positions = NULL};
        tml_status status = a->smooth ? smooth(r, &in, &mesh, &smoother) : TML_OK;
        double start = cli_now();
        if (status == TML_OK && simplify_is_asked(&a->simplify)) {
            status = simplify_mesh(r->tml, &a->simplify, &mesh, &r->simple);
            mesh = r->simple.mesh;
            report_add_stage(&r->times, "simplify", cli_now() - start);
            start = cli_now();
        }
        if (status == TML_OK && transform_is_asked(&a->transform))
            transform_mesh(&a->transform, &mesh);
        TML_THEN(status, tml_mesh_save(r->tml, a->output, &mesh));
        code = cli_fail(r->tml, status);
        report_add_stage(&r->times, "save", cli_now() - start);
        smooth_free(r->tml, &smoother);
    }
    mesh_input_free(r->tml, &in);
    return code;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Converts integers to floats of linear light, 0 to 1. */
static tml_status to_floats(run *r, const tml_image *in, bool takes_alpha, tml_picture *out)
{
    tml_image floats = {.width = in->width, .height = in->height};
    floats.channels = in->channels % 2 && in->channels < 3   ? 1
                      : takes_alpha && in->channels % 2 == 0 ? 4
                      : in->channels < 3                     ? 1
                                                             : 3;
    uint64_t count = (uint64_t)in->width * in->height * floats.channels;
    tml_status status = cli_make_buffer(r->tml, TML_F32, count, NULL, "floats", &floats.buffer);
    if (status == TML_OK) /* no value is above 1, so none is clipped */
        status = tml_image_tonemap(
            r->tml, &(tml_image_tonemap_desc){.in = *in, .out = floats, .tone = TML_TONE_SRGB});
    TML_THEN(status, picture_read(r->tml, &floats, out));
    tml_buffer_destroy(r->tml, floats.buffer);
    return status;
}

static tml_status save_picture(run *r, picture_buffer *in, bool to_png)
{
    const char *output = r->args->output;
    bool takes_alpha = path_ends_with(output, ".png .exr");
    tml_picture made = {0}, *picture = &in->picture;
    tml_status status = TML_OK;
    bool loses_alpha = false;
    if (!to_png && (picture->type == TML_U8 || picture->type == TML_U16)) {
        loses_alpha = !takes_alpha && picture->channels % 2 == 0;
        status = to_floats(r, &in->image, takes_alpha, &made);
        picture = &made;
    } else if (!takes_alpha && picture->channels % 2 == 0) {
        picture_drop_alpha(picture, &loses_alpha);
    }
    if (loses_alpha)
        cli_warn("alpha was left out, %s has none; .exr has", output);
    TML_THEN(status, tml_picture_save(r->tml, output, picture));
    tml_picture_free(r->tml, &made);
    return status;
}

static int convert_picture(run *r)
{
    const convert_args *a = r->args;
    picture_buffer in;
    char text[TEXT_SIZE];
    bool to_png = path_ends_with(a->output, ".png");
    double start = cli_now();
    int code = picture_buffer_load(r->tml, r->path, &a->common, a->is_linear, &in);
    report_add_stage(&r->times, "load", cli_now() - start);
    if (code != CLI_OK)
        return code;
    const tml_picture *p = &in.picture;
    describe(r, tml_file_format(r->tml, r->path, TML_FILE_PICTURE, NULL),
             picture_describe(p, text));
    code = picture_check_options(r->path, p);
    if (code == CLI_OK && to_png && (p->type == TML_F16 || p->type == TML_F32))
        code = cli_error("%s: has pixels of floats, which a .png cuts off at 1; expose and "
                         "tone-map it: trommel exposure %s -o %s",
                         r->path, r->path, a->output);
    if (code == CLI_OK) {
        if (p->x || p->y || p->full_width != p->width || p->full_height != p->height)
            cli_warn("the place in a larger picture is left out: %s", text);
        start = cli_now();
        size_t size = p->size; /* the size to free it with */
        code = cli_fail(r->tml, save_picture(r, &in, to_png));
        in.picture.size = size;
        report_add_stage(&r->times, "save", cli_now() - start);
    }
    picture_buffer_free(r->tml, &in);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int convert(run *r)
{
    const convert_args *a = r->args;
    const char *refused = transform_refuse(&a->transform);
    if (refused)
        return cli_usage("%s", refused);
    tml_file_kind kind = input_kind_of(r->tml, r->path, &a->input);
    if (kind == TML_FILE_NONE)
        return input_refuse(r->tml, r->path, true);
    r->kind = kinds[kind].name;
    if (!path_ends_with(a->output, kinds[kind].endings))
        return cli_usage("--output: %s is not a format for %s, which %s is; %s", a->output,
                         kinds[kind].is, r->path, kinds[kind].remedy);
    int code = kind == TML_FILE_PICTURE ? CLI_OK
               : kind == TML_FILE_VOLUME
                   ? input_check_options(r->tml, r->path, &a->input, NULL)
                   : opt_check_input(OPT_CONTENTS, kinds[kind].options, r->path);
    if (code != CLI_OK)
        return code;
    return kind == TML_FILE_VOLUME   ? convert_volume(r)
           : kind == TML_FILE_POINTS ? convert_points(r)
           : kind == TML_FILE_MESH   ? convert_mesh(r)
                                     : convert_picture(r);
}

static void tell(const run *r)
{
    field_heading("%s", text_file_name(r->path));
    field_open("input", '{');
    field_text("file", NULL, NULL, r->path);
    field_count("file_bytes", NULL, NULL, (uint64_t)cli_file_size(r->path));
    field_text("kind", NULL, NULL, r->kind);
    field_text("format", NULL, NULL, r->format);
    field_line("input", "%s", r->described);
    field_close('{');
    if (simplify_is_asked(&r->args->simplify))
        simplify_tell(&r->simple, "");
    report_tell(&r->times, 0, 0);
}

static int convert_run(tml_context *tml, const void *args, char **operands)
{
    const convert_args *a = args;
    run r = {.args = a, .path = operands[0], .tml = tml};
    int code = convert(&r);
    progress_clear();
    report_add_output(&r.times, a->output);
    if (code == CLI_OK)
        tell(&r);
    simplify_free(r.tml, &r.simple);
    return code;
}

const cli_command cmd_convert = {
    .options =
        {.name = "convert",
         .operands = "IN",
         .endings = CLI_VOLUMES " " CLI_POINTS " " CLI_MESHES " " CLI_PICTURES,
         .summary = "Writes a volume, points, a mesh or a picture in another format",
         .about =
             "IN is a volume (a DICOM series by its folder or one of its files, a TIFF stack or "
             "folder of slices, VTK, "
             "NRRD and others), points, a mesh or a picture, found by content. Samples, positions "
             "and pixels stay what they are; PNG and JPEG become floats of linear light where the "
             "output has floats, and floats never become a PNG, for which 'trommel exposure' is. "
             "Polygons are cut into triangles.",
         .examples = "  trommel convert scans/ct -o ct.nrrd\n"
                     "  trommel convert part.stl -o part.glb\n"
                     "  trommel convert part_inches.stl --scale 25.4 -o part_mm.stl\n"
                     "  trommel convert survey.las -o survey.ply\n"
                     "  trommel convert sky.hdr -o sky.exr\n",
         .options = convert_options,
         .needs = "output"},
    .args_size = sizeof(convert_args),
    .run_on = convert_run,
};
