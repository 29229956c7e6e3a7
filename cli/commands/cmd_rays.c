/* trommel rays: finds what rays hit of a mesh. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/collide.h>
#include <trommel/pictures.h>
#include <trommel/points.h>

#include "cli.h"
#include "draw/camera.h"
#include "draw/picture_options.h"
#include "file_advice.h"
#include "mesh_input.h"
#include "paths.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"
#include "report/text_file.h"

typedef struct rays_args {
    cli_common common;
    const char *rays, *direction, *output;
    camera_options camera;
    uint32_t size[2];
    uint32_t up;
    uint32_t find; /* tml_tree_cast_want */
    double limit;
    bool skip_broken;
} rays_args;

static const opt rays_options[] = {
    {OPT_SECTION, .help = "Rays"},
    {OPT_INPUT, "rays", .excludes = "camera", .brief = "where they begin, and their directions",
     .argument = "FILE", .offset = offsetof(rays_args, rays), .endings = CLI_POINTS,
     .help = "points where rays begin (CSV, XYZ, PLY, PCD, VTK), with their directions"},
    {OPT_TEXT, "direction", .needs = "rays", .argument = "NAME", .fallback = "normal",
     .offset = offsetof(rays_args, direction),
     .help = "the three columns of --rays that are the direction; nx, ny, nz are 'normal'"},
    CAMERA_OPTIONS(rays_args, .brief = "or those through a picture's pixels"),
    {OPT_CUSTOM, "size", .needs = "camera", .argument = "WxH", .parse = picture_parse_size,
     .fallback = "1200x900", .offset = offsetof(rays_args, size), .help = "in pixels"},
    {OPT_CHOICE, "up", .needs = "camera", .choices = PICTURE_UPS, .fallback = "auto",
     .offset = offsetof(rays_args, up),
     .help = "the axis that points up; auto: y for OBJ and glTF, z for all others"},
    {OPT_NUMBER, "limit", .brief = "how far they go, in lengths of their direction",
     .argument = "T", .least = 0, .most = 1e30, .fallback = "0",
     .offset = offsetof(rays_args, limit),
     .help =
         "how far they go, in lengths of their direction: 1 makes segments of them; 0: no limit"},
    {OPT_SECTION, .help = "Hits"},
    {OPT_CHOICE, "find", .brief = "of each ray", .choices = "nearest|any|count|all",
     .fallback = "nearest", .offset = offsetof(rays_args, find),
     .help = "the nearest hit of each ray; whether there is any; how many there are; or all"},
    {OPT_FLAG, "skip-broken", .offset = offsetof(rays_args, skip_broken),
     .help =
         "leave out triangles with coordinates that are too large, instead of refusing the mesh"},
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "the hits: .csv .npy, of a camera .png .pfm",
     .argument = "FILE", .offset = offsetof(rays_args, output), .endings = ".csv .npy .png .pfm",
     .help =
         "the hits: .csv, with triangles and weights of their corners; .npy, t or the number of "
         "hits; with --camera the depths, along the direction it looks in, as a picture: .pfm, "
         "or .png, the nearer the brighter"},
    {0},
};

typedef struct run {
    tml_context *tml;
    const rays_args *args;
    mesh_input mesh;
    tml_tree *tree;
    uint64_t count;
    float *origins, *directions; /* 3 per ray */
    tml_tree_cast_desc cast;
    /* The results. NEAREST: triangle, t and weights per ray; ALL: ray, triangle and t per hit; ANY
     * and COUNT: a number per ray, in triangles. */
    uint64_t hit_count, found_count; /* rays that hit; elements of the arrays below */
    uint32_t *triangles, *rays;
    float *t, *weights;
    report times;
} run;

/* ---- rays ------------------------------------------------------------------------------------ */

static int make_room(run *r)
{
    r->origins = tml_alloc_array(r->tml, r->count, 3 * sizeof(float));
    r->directions = tml_alloc_array(r->tml, r->count, 3 * sizeof(float));
    return (r->origins && r->directions) || r->count == 0
               ? CLI_OK
               : cli_error("no memory for %" PRIu64 " rays", r->count);
}

static int load_rays(run *r)
{
    const char *names[] = {r->args->direction};
    const tml_load_desc desc = {.names = names,
                                .name_count = 1,
                                .strict = cli_is_strict(),
                                .origin = r->mesh.file.mesh.origin};
    tml_points points;
    tml_status status = tml_points_load(r->tml, r->args->rays, &desc, &points);
    if (status == TML_ERROR_INVALID_ARGUMENT)
        return cli_error("%s; a ray needs a direction: columns nx, ny and nz, or three that "
                         "--direction names",
                         cli_last_error(r->tml));
    int code = advice_fail(r->tml, status, r->args->rays, TML_FILE_POINTS);
    if (code != CLI_OK)
        return code;
    const tml_mesh_attribute *way = points.attributes;
    for (uint32_t i = 0; i < points.attribute_count && !way->data; i++)
        way++;
    if (way->components != 3)
        code = cli_error("%s: '%s' is %u of three numbers, which a direction needs", r->args->rays,
                         names[0], way->components);
    r->count = points.count;
    CLI_THEN(code, make_room(r));
    for (uint64_t i = 0; i < 3 * r->count && code == CLI_OK; i++) {
        r->origins[i] = points.positions[i];
        r->directions[i] = way->data[i];
    }
    tml_points_free(r->tml, &points);
    return code;
}

/* Makes rays through the centres of pixels. t is the depth along the viewing direction. */
static int aim_rays(run *r)
{
    const rays_args *a = r->args;
    uint32_t width = a->size[0], height = a->size[1];
    render_camera camera;
    int code = camera_find(&a->camera, picture_up(a->up, r->mesh.file.format),
                           r->mesh.file.mesh.origin, &camera);
    r->count = (uint64_t)width * height;
    CLI_THEN(code, make_room(r));
    double slope = tan(camera.angle / 2) / height;
    for (uint64_t i = 0; i < r->count && code == CLI_OK; i++) {
        double x = slope * (2.0 * (double)(i % width) + 1 - width);
        double y = slope * (height - 2.0 * (double)(i / width) - 1);
        for (int k = 0; k < 3; k++) {
            r->origins[3 * i + (uint64_t)k] = (float)camera.eye[k];
            r->directions[3 * i + (uint64_t)k] =
                (float)(x * camera.axes[0][k] + y * camera.axes[1][k] - camera.axes[2][k]);
        }
    }
    return code;
}

/* ---- hits ------------------------------------------------------------------------------------ */

static tml_status read_buffer(run *r, tml_buffer from, uint64_t count, size_t size, void *to)
{
    void *memory = tml_alloc_array(r->tml, count, size);
    memcpy(to, &memory, sizeof memory);
    if (!memory && count > 0)
        return tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %zu hits", (size_t)count);
    return tml_buffer_read_range(r->tml, from, 0, count, memory);
}

/* ALL: counts the hits, then finds them. */
static tml_status cast_all(run *r)
{
    tml_tree_cast_desc *c = &r->cast;
    tml_status status = cli_make_buffer(r->tml, TML_U64, 1, NULL, "rays", &c->total);
    TML_THEN(status, tml_tree_cast(r->tml, c));
    TML_THEN(status, tml_buffer_read(r->tml, c->total, &r->found_count));
    TML_THEN(status, cli_make_buffer(r->tml, TML_U32, r->found_count, NULL, "rays", &c->rays));
    TML_THEN(status, cli_make_buffer(r->tml, TML_U32, r->found_count, NULL, "rays", &c->triangles));
    TML_THEN(status, cli_make_buffer(r->tml, TML_F32, r->found_count, NULL, "rays", &c->t));
    if (status == TML_OK && r->found_count > 0)
        status = tml_tree_cast(r->tml, c);
    TML_THEN(status, read_buffer(r, c->rays, r->found_count, sizeof *r->rays, &r->rays));
    TML_THEN(status,
             read_buffer(r, c->triangles, r->found_count, sizeof *r->triangles, &r->triangles));
    TML_THEN(status, read_buffer(r, c->t, r->found_count, sizeof *r->t, &r->t));
    for (uint64_t i = 0; i < r->found_count && status == TML_OK; i++)
        r->hit_count += i == 0 || r->rays[i] != r->rays[i - 1];
    return status;
}

static tml_status cast_each(run *r)
{
    tml_tree_cast_desc *c = &r->cast;
    bool is_nearest = c->want == TML_TREE_CAST_NEAREST;
    bool is_weighted = is_nearest && r->args->output && path_ends_with(r->args->output, ".csv");
    tml_buffer *numbers = is_nearest ? &c->triangles : &c->counts;
    tml_status status = TML_OK;
    r->found_count = r->count;
    if (c->want == TML_TREE_CAST_ANY)
        status = cli_make_buffer(r->tml, TML_U8, r->count, NULL, "rays", &c->hits);
    else
        status = cli_make_buffer(r->tml, TML_U32, r->count, NULL, "rays", numbers);
    if (status == TML_OK && is_nearest)
        status = cli_make_buffer(r->tml, TML_F32, r->count, NULL, "rays", &c->t);
    if (status == TML_OK && is_weighted)
        status =
            cli_make_buffer(r->tml, TML_VEC(TML_F32, 2), r->count, NULL, "rays", &c->barycentrics);
    TML_THEN(status, tml_tree_cast(r->tml, c));
    if (c->want == TML_TREE_CAST_ANY) {
        uint8_t *hits = NULL;
        r->triangles = tml_alloc_array(r->tml, r->count, sizeof *r->triangles);
        if (status == TML_OK && !r->triangles && r->count > 0)
            status = tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %zu hits",
                               (size_t)r->count);
        TML_THEN(status, read_buffer(r, c->hits, r->count, 1, &hits));
        for (uint64_t i = 0; i < r->count && status == TML_OK; i++)
            r->triangles[i] = hits[i];
        tml_free(r->tml, hits, hits ? (size_t)r->count : 0);
    } else if (status == TML_OK) {
        status = read_buffer(r, *numbers, r->count, sizeof *r->triangles, &r->triangles);
    }
    if (status == TML_OK && is_nearest)
        status = read_buffer(r, c->t, r->count, sizeof *r->t, &r->t);
    if (status == TML_OK && is_weighted)
        status = read_buffer(r, c->barycentrics, r->count, 2 * sizeof *r->weights, &r->weights);
    for (uint64_t i = 0; i < r->count && status == TML_OK; i++)
        r->hit_count += is_nearest ? r->triangles[i] != UINT32_MAX : r->triangles[i] > 0;
    return status;
}

static int find_hits(run *r)
{
    const rays_args *a = r->args;
    double start = cli_now();
    tml_status status = mesh_input_tree(r->tml, &r->mesh, a->skip_broken, &r->tree);
    report_add_stage(&r->times, "tree", cli_now() - start);
    start = cli_now();
    tml_tree_cast_desc *c = &r->cast;
    *c = (tml_tree_cast_desc){
        .tree = r->tree, .t_max = (float)a->limit, .want = (tml_tree_cast_want)a->find};
    const tml_type vec3_type = TML_VEC(TML_F32, 3);
    TML_THEN(status, cli_make_buffer(r->tml, vec3_type, r->count, r->origins, "rays", &c->origins));
    TML_THEN(status,
             cli_make_buffer(r->tml, vec3_type, r->count, r->directions, "rays", &c->directions));
    TML_THEN(status, c->want == TML_TREE_CAST_ALL ? cast_all(r) : cast_each(r));
    const tml_buffer made[] = {c->origins, c->directions, c->hits,  c->counts,      c->triangles,
                               c->t,       c->rays,       c->total, c->barycentrics};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tml_buffer_destroy(r->tml, made[i]);
    report_add_stage(&r->times, "rays", cli_now() - start);
    return cli_fail(r->tml, status);
}

/* ---- output ---------------------------------------------------------------------------------- */

static int save_csv(const run *r)
{
    static const char *const heads[] = {"ray,triangle,t,u,v\n", "ray,hit\n", "ray,hits\n",
                                        "ray,triangle,t\n"};
    text_file file;
    if (!text_file_create(r->args->output, &file))
        return CLI_FAILED;
    fputs(heads[r->args->find], file.stream);
    for (uint64_t i = 0; i < r->found_count; i++) {
        uint64_t ray = r->rays ? r->rays[i] : i;
        if (r->args->find == TML_TREE_CAST_NEAREST && r->triangles[i] == UINT32_MAX)
            continue;
        fprintf(file.stream, "%" PRIu64 ",%u", ray, r->triangles[i]);
        if (r->t)
            fprintf(file.stream, ",%.9g", (double)r->t[i]);
        if (r->weights)
            fprintf(file.stream, ",%.9g,%.9g", (double)r->weights[2 * i],
                    (double)r->weights[2 * i + 1]);
        fputc('\n', file.stream);
    }
    return text_file_finish(&file, true) ? CLI_OK : CLI_FAILED;
}

/* The nearest depth is white, the farthest dark grey, and a miss black. */
static int save_png(const run *r)
{
    float low = INFINITY, high = 0;
    tml_picture picture = {.type = TML_U8,
                           .size = r->count,
                           .width = r->args->size[0],
                           .height = r->args->size[1],
                           .channels = 1,
                           .srgb = true,
                           .data = tml_alloc_array(r->tml, r->count, 1)};
    uint8_t *pixels = picture.data;
    if (!pixels)
        return cli_error("no memory for a picture of %" PRIu64 " pixels", r->count);
    for (uint64_t i = 0; i < r->count; i++)
        if (r->t[i] < INFINITY) {
            low = fminf(low, r->t[i]);
            high = fmaxf(high, r->t[i]);
        }
    for (uint64_t i = 0; i < r->count; i++) {
        double part =
            high > low ? ((double)r->t[i] - (double)low) / ((double)high - (double)low) : 0;
        pixels[i] = r->t[i] < INFINITY ? (uint8_t)(255.5 - 207 * part) : 0;
    }
    tml_status status = tml_picture_save(r->tml, r->args->output, &picture);
    tml_free(r->tml, pixels, r->count);
    return cli_fail(r->tml, status);
}

static int save(run *r)
{
    const char *path = r->args->output;
    double start = cli_now();
    int code = CLI_OK;
    if (!path)
        return CLI_OK;
    void *data = r->t ? (void *)r->t : (void *)r->triangles;
    if (path_ends_with(path, ".csv"))
        code = save_csv(r);
    else if (path_ends_with(path, ".png"))
        code = save_png(r);
    else if (path_ends_with(path, ".npy"))
        code = cli_fail(r->tml, tml_array_save(r->tml, path,
                                               &(tml_array){.type = r->t ? TML_F32 : TML_U32,
                                                            .count = r->count,
                                                            .data = data,
                                                            .size = r->count * 4}));
    else
        code = cli_fail(r->tml, tml_picture_save(r->tml, path,
                                                 &(tml_picture){.type = TML_F32,
                                                                .channels = 1,
                                                                .width = r->args->size[0],
                                                                .height = r->args->size[1],
                                                                .data = data,
                                                                .size = r->count * 4}));
    report_add_stage(&r->times, "save", cli_now() - start);
    report_add_output(&r->times, path);
    return code;
}

static void tell(const run *r)
{
    field_heading("%s", text_file_name(r->mesh.path));
    mesh_input_tell("input", "mesh", &r->mesh);
    field_count("rays", "rays", "%s", r->count);
    field_count("rays_that_hit", NULL, ", %s hit", r->hit_count);
    if (r->args->find == TML_TREE_CAST_ALL)
        field_count("hits", NULL, ", %s hit(s)", r->found_count);
    report_tell(&r->times, 0, 0);
}

static int rays_prepare(const void *args, char **operands, uint32_t operand_count, cli_work *work)
{
    const rays_args *a = args;
    bool is_picture =
        a->output && (path_ends_with(a->output, ".png") || path_ends_with(a->output, ".pfm"));
    (void)operands, (void)operand_count, (void)work;
    if (!a->rays && !a->camera.text)
        return cli_usage("needs --rays or --camera");
    if (is_picture && (!a->camera.text || a->find != TML_TREE_CAST_NEAREST))
        return cli_usage("--output %s: a picture is of depths, which need --camera and "
                         "--find nearest",
                         a->output);
    if (a->output && a->find == TML_TREE_CAST_ALL && !path_ends_with(a->output, ".csv"))
        return cli_usage("--output %s: all hits go into .csv", a->output);
    return camera_check(&a->camera);
}

static int rays_run(tml_context *tml, const void *args, char **operands)
{
    run r = {.args = args, .tml = tml};
    int code = mesh_input_load(tml, operands[0], TML_WELD_AUTO, &r.args->common, &r.times, &r.mesh);
    CLI_THEN(code, r.args->rays ? load_rays(&r) : aim_rays(&r));
    CLI_THEN(code, find_hits(&r));
    CLI_THEN(code, save(&r));
    progress_clear();
    if (code == CLI_OK)
        tell(&r);
    tml_tree_destroy(tml, r.tree);
    mesh_input_free(tml, &r.mesh);
    tml_free(tml, r.origins, r.origins ? r.count * 12 : 0);
    tml_free(tml, r.directions, r.directions ? r.count * 12 : 0);
    tml_free(tml, r.triangles, r.triangles ? r.found_count * 4 : 0);
    tml_free(tml, r.rays, r.rays ? r.found_count * 4 : 0);
    tml_free(tml, r.t, r.t ? r.found_count * 4 : 0);
    tml_free(tml, r.weights, r.weights ? r.found_count * 8 : 0);
    return code;
}

const cli_command cmd_rays = {
    .options =
        {.name = "rays",
         .operands = "MESH",
         .endings = CLI_MESHES,
         .summary = "Finds what rays hit of a mesh",
         .about =
             "MESH (OBJ, PLY, STL, OFF, glTF, VTP). Whether a ray hits a triangle is exact: none "
             "slips between two that share an edge, or hits both. t tells where, in lengths of the "
             "direction; u and v are the weights of the triangle's second and third corner.",
         .examples =
             "  trommel rays part.stl --rays probes.csv -o hits.csv\n"
             "    of columns x, y, z, nx, ny, nz\n"
             "  trommel rays room.obj --rays pairs.csv --limit 1 --find any -o blocked.npy\n"
             "  trommel rays part.stl --camera 9,9,9,0,0,0 --size 640x480 -o depth.png\n",
         .options = rays_options},
    .args_size = sizeof(rays_args),
    .prepare = rays_prepare,
    .run_on = rays_run,
};
