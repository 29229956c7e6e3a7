/* trommel draw: draws a picture of a mesh. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/camera.h"
#include "draw/clip.h"
#include "draw/picture_options.h"
#include "mesh_input.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"

typedef struct background {
    uint32_t kind; /* render_background */
    float color[3];
} background;

typedef struct draw_args {
    cli_common common;
    picture_options picture;
    float color[3];
    background background;
    camera_options camera;
    const char *output;
} draw_args;

static const char *parse_background(const char *text, void *member)
{
    background *b = member;
    if (strcmp(text, "studio") == 0 || strcmp(text, "none") == 0) {
        b->kind = *text == 'n' ? RENDER_CLEAR : RENDER_STUDIO;
        return NULL;
    }
    b->kind = RENDER_PLAIN;
    return picture_parse_color(text, b->color)
               ? "studio, none, or a colour of six hexadecimal digits such as #ffffff"
               : NULL;
}

static const opt draw_options[] = {
    {OPT_SECTION, .help = "Picture"},
    {OPT_OUTPUT, "output", 'o', .brief = "the picture (.png)", .argument = "FILE",
     .offset = offsetof(draw_args, output), .endings = ".png", .help = "the picture: .png"},
    PICTURE_ROWS(draw_args, NULL, .brief = ""),
    CAMERA_OPTIONS(draw_args, .excludes = "view"),
    {OPT_CUSTOM, "color", .brief = "of the surface (d9c7a8)", .argument = "RRGGBB",
     .parse = picture_parse_color, .fallback = "d9c7a8", .offset = offsetof(draw_args, color),
     .help = "of the surface"},
    {OPT_CUSTOM, "background", .brief = "studio, a colour, or none",
     .argument = "studio|none|RRGGBB", .parse = parse_background, .fallback = "studio",
     .offset = offsetof(draw_args, background),
     .help = "studio: light grey and the mesh's shadow; none: transparent"},
    {0},
};

typedef struct run {
    tml_context *tml;
    const draw_args *args;
    mesh_input in;
    render_camera camera;
    report times;
} run;

/* ---- the camera ------------------------------------------------------------------------------ */

/* Keeps what is in front of the camera and not far beside the picture, where the rasteriser's
 * numbers do not overflow. */
static tml_status clip_to_camera(const run *r, clip_mesh *out)
{
    const tml_mesh *mesh = &r->in.file.mesh;
    const render_camera *camera = &r->camera;
    const uint32_t *size = r->args->picture.size;
    const double slope = tan(camera->angle / 2), beside = 8;
    const double slopes[2] = {beside * slope * size[0] / size[1], beside * slope};
    double offset[3] = {0, 0, 0}, far = 0;
    for (int i = 0; i < 9; i++)
        offset[i / 3] += camera->axes[i / 3][i % 3] * camera->eye[i % 3];
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        double apart = fabs((double)mesh->positions[i] - camera->eye[i % 3]);
        far = isfinite(apart) && apart > far ? apart : far;
    }
    clip_plane planes[CLIP_PLANES];
    const double *back = camera->axes[2];
    for (int i = 0; i < 3; i++)
        planes[0][i] = -back[i];
    planes[0][3] = offset[2] - 1e-4 * far;
    for (int plane = 1; plane < CLIP_PLANES; plane++) {
        int axis = (plane - 1) / 2, sign = plane % 2 ? 1 : -1;
        for (int i = 0; i < 3; i++)
            planes[plane][i] = sign * camera->axes[axis][i] - slopes[axis] * back[i];
        planes[plane][3] = -sign * offset[axis] + slopes[axis] * offset[2];
    }
    return clip_make(r->tml, mesh, planes, out);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int draw(run *r)
{
    const draw_args *a = r->args;
    render_desc desc = {.background = (render_background)a->background.kind};
    memcpy(desc.color, a->color, sizeof desc.color);
    memcpy(desc.background_color, a->background.color, sizeof desc.background_color);
    clip_mesh clipped = {.mesh = r->in.file.mesh};
    tml_status status = TML_OK;
    const tml_up up = picture_up(a->picture.up, r->in.file.format);
    double start = cli_now();
    if (a->camera.text) {
        int code = camera_find(&a->camera, up, r->in.file.mesh.origin, &r->camera);
        if (code != CLI_OK)
            return code;
        desc.camera = &r->camera;
        status = clip_to_camera(r, &clipped);
    }
    clipped.mesh.up = up;
    TML_THEN(status, picture_save(r->tml, &clipped.mesh, &desc, &a->picture, a->output));
    clip_free(r->tml, &clipped);
    report_add_stage(&r->times, "picture", cli_now() - start);
    report_add_output(&r->times, a->output);
    return cli_fail(r->tml, status);
}

static void tell(const run *r)
{
    field_heading("%s", text_file_name(r->in.path));
    mesh_input_tell("input", "input", &r->in);
    report_tell(&r->times, 0, 0);
}

static int draw_prepare(const void *args, char **operands, uint32_t operand_count, cli_work *work)
{
    (void)operands, (void)operand_count, (void)work;
    return camera_check(&((const draw_args *)args)->camera);
}

static int draw_run(tml_context *tml, const void *args, char **operands)
{
    const draw_args *a = args;
    run r = {.args = a, .tml = tml};
    int code = mesh_input_load(r.tml, operands[0], TML_WELD_AUTO, &a->common, &r.times, &r.in);
    CLI_THEN(code, draw(&r));
    progress_clear();
    if (code == CLI_OK)
        tell(&r);
    mesh_input_free(r.tml, &r.in);
    return code;
}

const cli_command cmd_draw = {
    .options =
        {.name = "draw",
         .operands = "MESH",
         .endings = CLI_MESHES,
         .summary = "Draws a mesh into a picture",
         .about = "The camera takes in the whole mesh; but where that is more than half as large "
                  "again as what holds 95 % of its area, such as with crumbs far away, only that. "
                  "--png of other commands makes such pictures of their results.",
         .examples = "  trommel draw bunny.ply -o bunny.png\n"
                     "  trommel draw part.stl --view 120,35 --background none -o part.png\n"
                     "  trommel draw room.glb --camera pose.txt --fov 60 -o view.png\n"
                     "    what a camera saw: its matrix from camera to world\n",
         .options = draw_options,
         .needs = "output"},
    .args_size = sizeof(draw_args),
    .run_on = draw_run,
    .prepare = draw_prepare,
};
