/* trommel subdivide: makes smooth surfaces from meshes by Loop's scheme, uniformly or
 * adaptively. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "draw/camera.h"
#include "draw/color.h"
#include "draw/picture_buffer.h"
#include "draw/picture_options.h"
#include "mesh_input.h"
#include "paths.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"
#include "vectors.h"

#include <trommel/subdivide.h>

/* ---- options --------------------------------------------------------------------------------- */

typedef enum crease_source { CREASES_FILE, CREASES_NONE, CREASES_ANGLE } crease_source;

typedef struct crease_option {
    crease_source source;
    double angle; /* degrees */
} crease_option;

typedef struct subdivide_args {
    cli_common common;
    const char *output, *png;
    opt_numbers levels, edge, pixels, angle, distance; /* one number, or none: not given */
    camera_options camera;
    uint64_t depth, budget;
    crease_option creases;
    double sharpness;
    uint32_t boundary, seams, weld, normals;
    bool limit, warren, slivers, fix;
    picture_options picture;
} subdivide_args;

static const char *parse_creases(const char *text, void *member)
{
    crease_option *creases = member;
    *creases = (crease_option){.source = CREASES_FILE};
    if (strcmp(text, "file") == 0)
        return NULL;
    creases->source = CREASES_NONE;
    if (strcmp(text, "none") == 0)
        return NULL;
    creases->source = CREASES_ANGLE;
    if (strncmp(text, "angle:", 6) == 0 && opt_number(text + 6, &creases->angle) &&
        creases->angle > 0 && creases->angle < 180)
        return NULL;
    return "file, none, or angle:D with D between 0 and 180 degrees";
}

#define ADAPTIVE   "edge|pixels|angle|distance"
#define ONE_NUMBER .count_least = 1, .count_most = 1

static const opt subdivide_options[] = {
    {OPT_SECTION, .help = "How fine"},
    {OPT_NUMBERS, "levels", .excludes = "edge|pixels|angle|distance",
     .brief = "divide every triangle into four N times", .argument = "N", ONE_NUMBER, .least = 0,
     .most = TML_SUBDIVIDE_MAX_LEVELS, .offset = offsetof(subdivide_args, levels),
     .help = "divide every triangle into four N times (default: 2, when nothing else is asked)"},
    {OPT_NUMBERS, "edge", .excludes = "pixels|angle|distance",
     .brief = "until no edge is longer than L", .argument = "L", ONE_NUMBER, .least = 1e-30,
     .most = 1e30, .offset = offsetof(subdivide_args, edge),
     .help = "until no edge is longer, in the mesh's units"},
    {OPT_NUMBERS, "pixels", .excludes = "angle|distance",
     .brief = "until no edge is longer than P pixels in the picture", .argument = "P", ONE_NUMBER,
     .least = 1e-3, .most = 1e6, .offset = offsetof(subdivide_args, pixels),
     .help =
         "until no edge is longer in the picture of --size that --view shows, or --camera; what "
         "it does not show stays coarse"},
    {OPT_NUMBERS, "angle", .excludes = "distance", .argument = "D", ONE_NUMBER, .least = 1e-3,
     .most = 180, .offset = offsetof(subdivide_args, angle),
     .help = "until the surface turns by no more degrees along or across an edge"},
    {OPT_NUMBERS, "distance", .argument = "L", ONE_NUMBER, .least = 1e-30, .most = 1e30,
     .offset = offsetof(subdivide_args, distance),
     .help = "until no edge's middle is farther from the surface, in the mesh's units"},
    {OPT_COUNT, "depth", .argument = "N", .least = 1, .most = TML_SUBDIVIDE_MAX_LEVELS,
     .fallback = "8", .offset = offsetof(subdivide_args, depth), .needs = ADAPTIVE,
     .help = "divide no triangle more often than that"},
    {OPT_COUNT, "budget", .brief = "make no more than N triangles", .argument = "N", .least = 0,
     .most = UINT32_MAX, .fallback = "0", .offset = offsetof(subdivide_args, budget),
     .help =
         "make no more triangles: alone the deepest level that fits, with --levels at most that "
         "one, elsewhere the largest errors go first; 0: any number"},
    CAMERA_OPTIONS(subdivide_args, .needs = "pixels"),

    {OPT_SECTION, .help = "The surface"},
    {OPT_FLAG, "limit", .excludes = ADAPTIVE, .brief = "put the vertices on the limit surface",
     .offset = offsetof(subdivide_args, limit),
     .help = "put the vertices where infinitely many levels would; --edge, --pixels, --angle and "
             "--distance always do"},
    {OPT_CHOICE, "normals", .choices = "none|limit", .fallback = "none",
     .offset = offsetof(subdivide_args, normals), .help = "of the limit surface"},
    {OPT_CUSTOM, "creases", .argument = "file|none|angle:D", .parse = parse_creases,
     .fallback = "file", .offset = offsetof(subdivide_args, creases),
     .help = "sharp edges: those of the file (OBJ), none, or where triangles meet at more degrees"},
    {OPT_NUMBER, "sharpness", .needs = "creases=angle:*", .argument = "S", .least = 0, .most = 1e6,
     .fallback = "10", .offset = offsetof(subdivide_args, sharpness),
     .help = "of those edges, in levels; 10 and more: infinitely sharp"},
    {OPT_CHOICE, "boundary", .choices = "smooth|corners|pinned", .fallback = "smooth",
     .offset = offsetof(subdivide_args, boundary),
     .help = "a curve, one that keeps the corners of single triangles, or the boundary as it is"},
    {OPT_CHOICE, "seams", .needs = "output=*.obj", .choices = "corners|smooth|pinned|linear",
     .fallback = "corners", .offset = offsetof(subdivide_args, seams),
     .help = "the same for texture coordinates"},
    {OPT_FLAG, "warren", .offset = offsetof(subdivide_args, warren),
     .help = "Warren's weights instead of Loop's own"},
    {OPT_FLAG, "slivers", .needs = ADAPTIVE, .offset = offsetof(subdivide_args, slivers),
     .help = "close gaps between levels by thin triangles instead of dividing neighbours"},

    {OPT_SECTION, .help = "Input"},
    {OPT_CHOICE, "weld", .choices = "auto|never|always", .fallback = "auto",
     .offset = offsetof(subdivide_args, weld),
     .help = "make vertices at equal places one; auto: in STL and glTF"},
    {OPT_FLAG, "fix", .offset = offsetof(subdivide_args, fix),
     .help = "repair inconsistent orientation, duplicate faces, edges of more than two triangles "
             "and vertices "
             "of several fans, instead of refusing them"},

    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "", .argument = "FILE",
     .offset = offsetof(subdivide_args, output), .endings = ".ply .stl .obj .glb .vtp",
     .help = "the mesh: .ply .stl .obj .glb .vtp; texture coordinates need .obj"},
    {OPT_OUTPUT, "png", .brief = "a picture of it, a colour for each level", .argument = "FILE",
     .offset = offsetof(subdivide_args, png), .endings = ".png",
     .help = "a picture of its triangles, a colour for each level"},
    PICTURE_OPTIONS(subdivide_args),
    {0},
};

static bool is_adaptive(const subdivide_args *a)
{
    return a->edge.count || a->pixels.count || a->angle.count || a->distance.count;
}

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct run {
    tml_context *tml;
    const subdivide_args *args;
    mesh_input in;
    tml_buffer creases, crease_sharpness, corners, corner_sharpness, values, uvs, uv_indices;
    tml_subdivider *subdivider;
    tml_subdivider_info info;
    tml_subdivide_result result;
    tml_mesh mesh; /* over the result's mapped buffers */
    const uint32_t *origins;
    uint64_t level_counts[TML_SUBDIVIDE_MAX_LEVELS + 1]; /* triangles per level */
    render_desc picture;
    render_camera camera; /* the picture's, if it decides --pixels */
    report times;
} run;

/* ---- creases where triangles meet at an angle ------------------------------------------------ */

/* A triangle's side, with its smaller vertex first. */
typedef struct side {
    uint32_t low, high;
    uint64_t triangle;
} side;

static int compare_sides(const void *left, const void *right)
{
    const side *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static void find_normal(const tml_mesh *mesh, uint64_t triangle, double out[3])
{
    const uint32_t *t = (const uint32_t *)mesh->indices + 3 * triangle;
    double u[3], v[3];
    for (int i = 0; i < 3; i++) {
        double a = (double)mesh->positions[3 * (size_t)t[0] + (size_t)i];
        u[i] = (double)mesh->positions[3 * (size_t)t[1] + (size_t)i] - a;
        v[i] = (double)mesh->positions[3 * (size_t)t[2] + (size_t)i] - a;
    }
    cross(u, v, out);
}

static double find_angle(const tml_mesh *mesh, uint64_t a, uint64_t b)
{
    double m[3], n[3], sine[3];
    find_normal(mesh, a, m);
    find_normal(mesh, b, n);
    cross(m, n, sine);
    return atan2(sqrt(dot(sine, sine)), dot(m, n));
}

/* Moves the sharp edges to the front of the sorted sides. Returns their number. */
static uint64_t keep_sharp(const tml_mesh *mesh, side *sides, uint64_t count, double angle)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i + 1 < count; i++) {
        if (sides[i].low != sides[i + 1].low || sides[i].high != sides[i + 1].high)
            continue;
        if (find_angle(mesh, sides[i].triangle, sides[i + 1].triangle) > angle)
            sides[kept++] = sides[i];
        i++;
    }
    return kept;
}

static int make_angle_creases(run *r)
{
    const tml_mesh *mesh = &r->in.file.mesh;
    uint64_t count = 3 * mesh->triangle_count;
    size_t size = count * sizeof(side);
    side *sides = tml_alloc(r->tml, size);
    if (!sides)
        return size ? cli_error("no memory for %" PRIu64 " edges", count) : CLI_OK;
    const uint32_t *indices = mesh->indices;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t a = indices[i], b = indices[i % 3 == 2 ? i - 2 : i + 1];
        sides[i] = (side){a < b ? a : b, a < b ? b : a, i / 3};
    }
    qsort(sides, count, sizeof *sides, compare_sides);
    count = keep_sharp(mesh, sides, count, r->args->creases.angle * degree);
    uint32_t *ends = tml_alloc(r->tml, count * 2 * sizeof *ends);
    float *sharpness = tml_alloc(r->tml, count * sizeof *sharpness);
    tml_status status = TML_OK;
    if ((!ends || !sharpness) && count > 0)
        status =
            tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " creases", count);
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        ends[2 * i] = sides[i].low;
        ends[2 * i + 1] = sides[i].high;
        sharpness[i] = (float)r->args->sharpness;
    }
    if (status == TML_OK && count > 0)
        status = cli_make_buffer(r->tml, TML_VEC(TML_U32, 2), count, ends, NULL, &r->creases);
    if (status == TML_OK && count > 0)
        status = cli_make_buffer(r->tml, TML_F32, count, sharpness, NULL, &r->crease_sharpness);
    tml_free(r->tml, sharpness, count * sizeof *sharpness);
    tml_free(r->tml, ends, count * 2 * sizeof *ends);
    tml_free(r->tml, sides, size);
    return cli_fail(r->tml, status);
}

/* ---- preparing ------------------------------------------------------------------------------- */

/* Makes a buffer of an array, if there is one. */
static tml_status lend_if_any(run *r, tml_type type, uint64_t count, const void *data,
                              const char *label, tml_buffer *out)
{
    return data && count > 0 ? cli_lend(r->tml, type, count, data, label, out) : TML_OK;
}

static int lend_file_creases(run *r)
{
    const tml_mesh_file *f = &r->in.file;
    tml_status status = lend_if_any(r, TML_VEC(TML_U32, 2), f->crease_count, f->crease_vertices,
                                    "creases", &r->creases);
    TML_THEN(status, lend_if_any(r, TML_F32, f->crease_count, f->crease_sharpness, "sharpness",
                                 &r->crease_sharpness));
    TML_THEN(status,
             lend_if_any(r, TML_U32, f->corner_count, f->corner_vertices, "corners", &r->corners));
    TML_THEN(status, lend_if_any(r, TML_F32, f->corner_count, f->corner_sharpness, "sharpness",
                                 &r->corner_sharpness));
    return cli_fail(r->tml, status);
}

static int load(run *r, const char *path)
{
    const subdivide_args *a = r->args;
    tml_weld weld = (tml_weld)a->weld;
    const char *format = tml_file_format(r->tml, path, TML_FILE_MESH, NULL);
    if (weld == TML_WELD_AUTO && format && strcmp(format, "glTF") == 0)
        weld = TML_WELD_ALWAYS; /* glTF splits vertices at the seams of normals and textures */
    int code = mesh_input_load(r->tml, path, weld, &a->common, &r->times, &r->in);
    const tml_mesh *mesh = &r->in.file.mesh;
    if (code == CLI_OK && mesh->vertex_count && !mesh->triangle_count)
        code = cli_error("%s: has %" PRIu64 " vertices and no faces, needs a face", path,
                         mesh->vertex_count);
    CLI_THEN(code, cli_fail(r->tml, lend_if_any(r, TML_F32, mesh->vertex_count, mesh->values,
                                                "values", &r->values)));
    CLI_THEN(code, cli_fail(r->tml, lend_if_any(r, TML_VEC(TML_F32, 2), mesh->uv_count, mesh->uvs,
                                                "texture coordinates", &r->uvs)));
    if (code == CLI_OK && mesh->uvs)
        code = cli_fail(r->tml, lend_if_any(r, TML_VEC(TML_U32, 3), mesh->triangle_count,
                                            mesh->uv_indices, "texture triangles", &r->uv_indices));
    if (code != CLI_OK || a->creases.source == CREASES_NONE)
        return code;
    return a->creases.source == CREASES_ANGLE ? make_angle_creases(r) : lend_file_creases(r);
}

static int prepare(run *r)
{
    const subdivide_args *a = r->args;
    double start = cli_now();
    tml_subdivider_desc desc = {
        .mesh = r->in.buffers,
        .attributes = {r->values},
        .channels = {{.values = r->uvs,
                      .indices = r->uv_indices,
                      .seams = (tml_subdivide_seams)a->seams}},
        .crease_edges = r->creases,
        .crease_sharpness = r->crease_sharpness,
        .corners = r->corners,
        .corner_sharpness = r->corner_sharpness,
        .boundary = (tml_subdivide_boundary)a->boundary,
        .weights = a->warren ? TML_WEIGHTS_WARREN : TML_WEIGHTS_LOOP,
        .fix = a->fix,
    };
    tml_status status = tml_subdivider_create(r->tml, &desc, &r->subdivider);
    report_add_stage(&r->times, "topology", cli_now() - start);
    if (status == TML_OK)
        tml_subdivider_describe(r->subdivider, 0, &r->info);
    return cli_fail(r->tml, status);
}

/* ---- the camera ------------------------------------------------------------------------------ */

/* Sets the camera's matrix from world to clip space. Without --camera, the picture's camera for the
 * coarse mesh is used, whose hull contains the surface. */
static int aim_camera(run *r, tml_subdivide_camera *camera)
{
    const subdivide_args *a = r->args;
    const uint32_t *size = a->picture.size;
    tml_mesh coarse = r->in.file.mesh;
    render_camera given, *from = a->camera.text ? &given : &r->camera;
    coarse.up = picture_up(a->picture.up, r->in.file.format);
    int code = CLI_OK;
    if (from == &given)
        code = camera_find(&a->camera, coarse.up, coarse.origin, from);
    else if (picture_find_camera(r->tml, &coarse, &r->picture, &a->picture, from))
        r->picture.camera = from;
    else
        code = cli_error("%s: has no vertex that is finite, needs one to look at", r->in.path);
    if (code != CLI_OK)
        return code;
    *camera = (tml_subdivide_camera){.width = size[0], .height = size[1]};
    double focal = 1 / tan(from->angle / 2);
    double aspect = (double)camera->width / camera->height;
    const double *rows[4] = {from->axes[0], from->axes[1], from->axes[2], from->axes[2]};
    const double scales[4] = {focal / aspect, focal, -1, -1};
    for (int row = 0; row < 4; row++) {
        double shift = 0;
        for (int i = 0; i < 3; i++) {
            camera->matrix[4 * row + i] = (float)(scales[row] * rows[row][i]);
            shift -= scales[row] * rows[row][i] * from->eye[i];
        }
        camera->matrix[4 * row + 3] = (float)shift;
    }
    return CLI_OK;
}

/* ---- subdividing ----------------------------------------------------------------------------- */

/* Chooses the requested level, or the deepest one whose triangles fit the budget. */
static int choose_level(const run *r, uint32_t *out)
{
    const subdivide_args *a = r->args;
    uint64_t triangles = r->info.triangle_count;
    uint32_t most = a->levels.count ? (uint32_t)a->levels.values[0]
                    : a->budget     ? TML_SUBDIVIDE_MAX_LEVELS
                                    : 2;
    *out = most;
    if (!a->budget)
        return CLI_OK;
    if (triangles > a->budget)
        return cli_error("--budget is %" PRIu64 ", needs %" PRIu64
                         " at least, the triangles of the mesh",
                         a->budget, triangles);
    for (*out = 0; *out < most && triangles && triangles <= a->budget / 4; ++*out)
        triangles *= 4;
    return CLI_OK;
}

static int subdivide_uniformly(run *r)
{
    const subdivide_args *a = r->args;
    tml_subdivide_uniform_desc desc = {.limit = a->limit, .normals = a->normals};
    int code = choose_level(r, &desc.levels);
    if (code != CLI_OK)
        return code;
    tml_status status = tml_subdivide_uniform_enqueue(r->subdivider, &desc, &r->result);
    TML_THEN(status, tml_sync(r->tml));
    r->result.depth = desc.levels;
    return cli_fail(r->tml, status);
}

static int subdivide_adaptively(run *r)
{
    const subdivide_args *a = r->args;
    tml_subdivide_adaptive_desc desc = {.max_depth = (uint32_t)a->depth,
                                        .budget = a->budget,
                                        .slivers = a->slivers,
                                        .normals = a->normals,
                                        .origins = true};
    if (a->pixels.count) {
        desc.criterion = TML_SPLIT_PIXELS;
        desc.threshold = (float)a->pixels.values[0];
        int code = aim_camera(r, &desc.camera);
        if (code != CLI_OK)
            return code;
    } else if (a->angle.count) {
        desc.criterion = TML_SPLIT_ANGLE;
        desc.threshold = (float)(a->angle.values[0] * degree);
    } else if (a->distance.count) {
        desc.criterion = TML_SPLIT_DISTANCE;
        desc.threshold = (float)a->distance.values[0];
    } else {
        desc.criterion = TML_SPLIT_LENGTH;
        desc.threshold = (float)a->edge.values[0];
    }
    return cli_fail(r->tml, tml_subdivide_adaptive(r->subdivider, &desc, &r->result));
}

static tml_status map_if_any(tml_context *tml, tml_buffer buffer, void **out)
{
    *out = NULL;
    return tml_buffer_is_none(buffer) ? TML_OK : tml_buffer_map(tml, buffer, out);
}

static int map_result(run *r)
{
    const tml_subdivide_buffers *b = &r->result.buffers;
    void *arrays[7];
    const tml_buffer buffers[7] = {b->mesh.positions, b->mesh.normals,      b->mesh.indices,
                                   b->attributes[0],  b->channel_values[0], b->channel_indices[0],
                                   b->origins};
    tml_status status = TML_OK;
    for (int i = 0; i < 7 && status == TML_OK; i++)
        status = map_if_any(r->tml, buffers[i], &arrays[i]);
    if (status != TML_OK)
        return cli_fail(r->tml, status);
    r->mesh = (tml_mesh){.positions = arrays[0],
                         .normals = arrays[1],
                         .indices = arrays[2],
                         .values = arrays[3],
                         .uvs = arrays[4],
                         .uv_indices = arrays[5],
                         .uv_count = r->result.channel_counts[0],
                         .vertex_count = r->result.vertex_count,
                         .triangle_count = r->result.triangle_count,
                         .value_name = r->in.file.mesh.value_name,
                         .comment = "made by " CLI_PROGRAM,
                         .up = picture_up(r->args->picture.up, r->in.file.format)};
    memcpy(r->mesh.origin, r->in.file.mesh.origin, sizeof r->mesh.origin);
    r->origins = arrays[6];
    for (uint64_t t = 0; t < r->result.triangle_count; t++) {
        uint32_t level = r->origins ? r->origins[2 * t + 1] : r->result.depth;
        r->level_counts[level <= TML_SUBDIVIDE_MAX_LEVELS ? level : TML_SUBDIVIDE_MAX_LEVELS]++;
    }
    return CLI_OK;
}

static void unmap_result(run *r)
{
    const tml_subdivide_buffers *b = &r->result.buffers;
    const tml_buffer buffers[7] = {b->mesh.positions, b->mesh.normals,      b->mesh.indices,
                                   b->attributes[0],  b->channel_values[0], b->channel_indices[0],
                                   b->origins};
    for (int i = 0; i < 7; i++)
        if (!tml_buffer_is_none(buffers[i]))
            tml_buffer_unmap(r->tml, buffers[i]);
}

static int subdivide(run *r)
{
    double start = cli_now();
    int code = is_adaptive(r->args) ? subdivide_adaptively(r) : subdivide_uniformly(r);
    report_add_stage(&r->times, "subdivide", cli_now() - start);
    return code;
}

/* ---- output ---------------------------------------------------------------------------------- */

static int save_mesh(run *r)
{
    const char *path = r->args->output;
    if (!path)
        return CLI_OK;
    double start = cli_now();
    if (r->mesh.uvs && !r->args->common.quiet && !path_ends_with(path, ".obj"))
        cli_warn("%s holds no texture coordinates of corners; use .obj to keep them", path);
    tml_status status = tml_mesh_save(r->tml, path, &r->mesh);
    report_add_stage(&r->times, "save", cli_now() - start);
    report_add_output(&r->times, path);
    return cli_fail(r->tml, status);
}

/* Levels follow the hues, from blue through green and yellow to red. */
static void level_color(uint32_t level, uint8_t out[3])
{
    tml_vec3 c =
        color_from_lch(0.80f - 0.02f * (float)(level % 2), 0.105f, 0.70f - 0.115f * (float)level);
    const float channels[3] = {c.x, c.y, c.z};
    for (int i = 0; i < 3; i++)
        out[i] = (uint8_t)(255 * color_to_srgb(channels[i]) + 0.5f);
}

static int save_picture(run *r)
{
    if (!r->args->png)
        return CLI_OK;
    double start = cli_now();
    size_t size = r->mesh.triangle_count * 3;
    uint8_t *colors = tml_alloc(r->tml, size);
    if (!colors && size > 0)
        return cli_error("no memory for the colours of %" PRIu64 " triangles",
                         r->mesh.triangle_count);
    for (uint64_t t = 0; t < r->mesh.triangle_count; t++)
        level_color(r->origins ? r->origins[2 * t + 1] : r->result.depth, colors + 3 * t);
    r->picture.triangle_colors = colors;
    r->picture.wire = 1.0f;
    tml_status status =
        picture_save(r->tml, &r->mesh, &r->picture, &r->args->picture, r->args->png);
    tml_free(r->tml, colors, size);
    report_add_stage(&r->times, "picture", cli_now() - start);
    report_add_output(&r->times, r->args->png);
    return cli_fail(r->tml, status);
}

/* ---- summary --------------------------------------------------------------------------------- */

static void tell_coarse(const tml_subdivider_info *info)
{
    field_count("edges", "edges", "%s", info->edge_count);
    field_count("boundary_edges", NULL, ", %s on the boundary", info->boundary_edge_count);
    field_count("sharp_edges", NULL, ", %s sharp", info->sharp_edge_count);
    field_count("max_valence", NULL, "; valence to %s", info->max_valence);
    bool is_mended = info->removed_triangles + info->flipped_triangles + info->split_vertices > 0;
    field_count("removed_triangles", "mended", is_mended ? "%s triangle(s) removed" : NULL,
                info->removed_triangles);
    field_count("duplicate_triangles", NULL, "? (%s of them duplicates)",
                info->duplicate_triangles);
    field_count("flipped_triangles", NULL, is_mended ? ", %s reversed" : NULL,
                info->flipped_triangles);
    field_count("split_vertices", NULL, is_mended ? ", %s vertices split" : NULL,
                info->split_vertices);
}

static void tell_levels(const run *r)
{
    uint32_t depth =
        r->result.depth < TML_SUBDIVIDE_MAX_LEVELS ? r->result.depth : TML_SUBDIVIDE_MAX_LEVELS;
    const char *mark = "";
    json *j = fields_json();
    if (j)
        json_counts(j, "level_triangles", r->level_counts, depth + 1);
    field_line("levels", "%s", r->result.triangle_count ? "" : "none");
    for (uint32_t level = 0; level <= TML_SUBDIVIDE_MAX_LEVELS; level++) {
        char text[TEXT_SIZE];
        if (!r->level_counts[level])
            continue;
        field_line(NULL, "%s%" PRIu32 ": %s", mark, level,
                   text_count(text, r->level_counts[level]));
        mark = ", ";
    }
    if (!is_adaptive(r->args))
        return;
    field_number("error", "error", "%.4g of what was allowed", r->result.error);
    field_flag("is_within_budget", NULL, NULL, r->result.is_within_budget);
    field_flag("is_within_depth", NULL, NULL, r->result.is_within_depth);
    if (!r->result.is_within_budget)
        field_line(NULL, "; the budget is too small for more");
    if (!r->result.is_within_depth)
        field_line(NULL, "; --depth %" PRIu64 " allows no finer triangles", r->args->depth);
}

static void tell(const run *r)
{
    field_heading("%s", text_file_name(r->in.path));
    mesh_input_tell("input", "input", &r->in);
    tell_coarse(&r->info);
    field_count("vertices", "mesh", "%s vertices", r->result.vertex_count);
    field_count("triangles", NULL, ", %s triangle(s)", r->result.triangle_count);
    tell_levels(r);
    report_tell(&r->times, 0, 0);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void release(run *r)
{
    const tml_buffer buffers[] = {r->creases,          r->crease_sharpness, r->corners,
                                  r->corner_sharpness, r->values,           r->uvs,
                                  r->uv_indices};
    tml_subdivide_free(r->tml, &r->result);
    tml_subdivider_destroy(r->tml, r->subdivider);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        tml_buffer_destroy(r->tml, buffers[i]);
    mesh_input_free(r->tml, &r->in);
}

static int subdivide_prepare(const void *args, char **operands, uint32_t operand_count,
                             cli_work *work)
{
    const subdivide_args *a = args;
    (void)operands, (void)operand_count;
    if (a->levels.count && a->levels.values[0] != floor(a->levels.values[0]))
        return cli_usage("--levels: %g is not a whole number", a->levels.values[0]);
    /* The amount of adaptive subdivision is unknown beforehand. On a GPU, a small amount loses a
     * quarter of a second, a large one gains several seconds. Uniform subdivision takes longer to
     * write its file than to compute it. */
    work->cpu_seconds = is_adaptive(a) ? HUGE_VAL : 0;
    return camera_check(&a->camera);
}

static int subdivide_run(tml_context *tml, const void *args, char **operands)
{
    run r = {.args = args, .tml = tml};
    int code = load(&r, operands[0]);
    CLI_THEN(code, prepare(&r));
    CLI_THEN(code, subdivide(&r));
    if (code == CLI_OK) {
        code = map_result(&r);
        CLI_THEN(code, save_mesh(&r));
        CLI_THEN(code, save_picture(&r));
        unmap_result(&r);
    }
    progress_clear();
    if (code == CLI_OK)
        tell(&r);
    release(&r);
    return code;
}

const cli_command cmd_subdivide = {
    .options =
        {.name = "subdivide",
         .operands = "IN",
         .endings = CLI_MESHES,
         .summary = "Makes smooth surfaces from coarse meshes, everywhere alike or where needed",
         .about =
             "IN is a mesh (OBJ, PLY, STL, OFF, glTF, VTP), found by content; polygons are cut "
             "into triangles. Loop's scheme, as OpenSubdiv has it: boundaries, creases, any "
             "number of triangles around a vertex.\n\n"
             "With --edge, --pixels, --angle or --distance only what is too coarse is divided; "
             "vertices lie on the limit surface, there are no cracks, and the mesh is closed "
             "where the input is. With --pixels, --png is the very picture whose pixels were "
             "counted, unless --camera says where from.",
         .examples =
             "  trommel subdivide spot.obj -o smooth.ply --levels 3 --limit --normals limit\n"
             "  trommel subdivide bolt.stl -o bolt.ply --angle 5 --creases angle:40 "
             "--png bolt.png\n"
             "  trommel subdivide hero.obj --pixels 4 --view 60,10 --png view.png\n"
             "  trommel subdivide hero.obj -o view.obj --pixels 4 --camera "
             "2,-6,3,0,0,1\n",
         .options = subdivide_options,
         .needs = "output|png"},
    .args_size = sizeof(subdivide_args),
    .run_on = subdivide_run,
    .prepare = subdivide_prepare,
};
