/* From a mesh to a picture: cameras, and the passes. Coverage is in raster.c, screen-space light
 * (occlusion, soft shadows) in render_light.c, the colour of each sample in render_shade.c.
 *
 * The rasteriser finds the nearest triangle at RENDER_SAMPLES^2 samples per pixel. Shading then
 * looks up that triangle's corners, so the cost of shading depends on the picture's size, not the
 * mesh's. */
#include <math.h>
#include <string.h>

#include "draw/render_internal.h"
#include "draw/render_look.h"
#include "shares.h"
#include "vectors.h"

static const double field_of_view = 0.46; /* radians across the shorter side: a portrait lens */
static const double margin = 0.07;        /* of the shorter side, kept free around the mesh */

/* ---- vectors --------------------------------------------------------------------------------- */

static tml_vec3 unit(tml_vec3 v, tml_vec3 otherwise)
{
    float length = tml_length3(v);
    return length > 0 && isfinite(length) ? tml_scale3(v, 1 / length) : otherwise;
}

static tml_vec3 position_of(const tml_mesh *mesh, uint64_t vertex)
{
    const float *p = mesh->positions + 3 * vertex;
    return (tml_vec3){p[0], p[1], p[2]};
}

/* ---- extents --------------------------------------------------------------------------------- */

enum { EXTENT_TASKS = 64, EXTENT_MAX = 12 };

typedef struct extent_job {
    const tml_mesh *mesh;
    const render_desc *desc;
    const double (*directions)[3];
    uint32_t count;
    double lower[EXTENT_TASKS][EXTENT_MAX], upper[EXTENT_TASKS][EXTENT_MAX];
} extent_job;

static bool is_in_frame(const render_desc *desc, const double p[3])
{
    bool is_in = true;
    for (int i = 0; i < 3; i++)
        is_in = is_in && p[i] >= desc->frame_lower[i] && p[i] <= desc->frame_upper[i];
    return is_in;
}

static void find_some_extents(void *argument, uint32_t index)
{
    extent_job *job = argument;
    uint64_t count = job->mesh->vertex_count;
    uint64_t first = share_begin(count, index, EXTENT_TASKS);
    uint64_t last = share_begin(count, index + 1, EXTENT_TASKS);
    for (uint32_t d = 0; d < job->count; d++) {
        job->lower[index][d] = INFINITY;
        job->upper[index][d] = -INFINITY;
    }
    for (uint64_t v = first; v < last; v++) {
        const float *position = job->mesh->positions + 3 * v;
        const double p[3] = {position[0], position[1], position[2]};
        if (!isfinite(p[0] + p[1] + p[2]) || (job->desc->crops && !is_in_frame(job->desc, p)))
            continue;
        for (uint32_t d = 0; d < job->count; d++) {
            double along = dot(job->directions[d], p);
            job->lower[index][d] = fmin(job->lower[index][d], along);
            job->upper[index][d] = fmax(job->upper[index][d], along);
        }
    }
}

/* The smallest and the largest coordinate of the mesh along each direction. Returns false if the
 * mesh has no vertex. */
static bool find_extents(const scene *s, const double (*directions)[3], uint32_t count,
                         double *lower, double *upper)
{
    extent_job job = {.mesh = s->mesh, .desc = s->desc, .directions = directions, .count = count};
    tml_parallel_for(s->tml, EXTENT_TASKS, find_some_extents, &job);
    for (uint32_t d = 0; d < count; d++) {
        lower[d] = INFINITY;
        upper[d] = -INFINITY;
        for (int t = 0; t < EXTENT_TASKS; t++) {
            lower[d] = fmin(lower[d], job.lower[t][d]);
            upper[d] = fmax(upper[d], job.upper[t][d]);
        }
    }
    return lower[0] <= upper[0];
}

/* ---- views ----------------------------------------------------------------------------------- */

void render_upwards(render_up up, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    out[2 - up % 3] = up >= RENDER_UP_MINUS_Z ? -1 : 1;
}

/* Camera axes from turns about the world's up. */
static void aim_camera(const render_desc *desc, double axes[3][3], double up[3])
{
    double right[3] = {0}, back[3];
    render_upwards(desc->up, up);
    right[up[0] != 0] = 1;
    cross(right, up, back);

    double ca = cos(degree * desc->azimuth), sa = sin(degree * desc->azimuth);
    double ce = cos(degree * desc->elevation), se = sin(degree * desc->elevation);
    for (int i = 0; i < 3; i++) {
        double level = ca * back[i] + sa * right[i];
        axes[0][i] = ca * right[i] - sa * back[i];
        axes[1][i] = ce * up[i] - se * level;
        axes[2][i] = ce * level + se * up[i];
    }
}

/* Axes for a view along the key light, in world coordinates; the light's direction is given in
 * camera coordinates. */
static void aim_light(const double camera[3][3], double axes[3][3])
{
    for (int i = 0; i < 3; i++) {
        axes[2][i] =
            KEY_FROM.x * camera[0][i] + KEY_FROM.y * camera[1][i] + KEY_FROM.z * camera[2][i];
        axes[0][i] = camera[0][i];
    }
    normalize(axes[2]);
    cross(axes[2], axes[0], axes[1]);
    normalize(axes[1]);
    cross(axes[1], axes[2], axes[0]);
}

/* Narrows the angle of view, and moves the eye sideways, until the frame fills the picture. The
 * eye's distance from the mesh does not change, so no part of the mesh gets behind the eye. */
static void zoom_to_frame(scene *s, double tan_x, double tan_y)
{
    const double most = 64; /* what is outside of the picture stays within raster_fixed's range */
    const double *lower = s->desc->frame_lower, *upper = s->desc->frame_upper;
    view *camera = &s->camera;
    s->detail = s->extent;
    if (s->desc->crops || !(lower[0] < upper[0] || lower[1] < upper[1] || lower[2] < upper[2]))
        return;
    double corners[8][3], middle[3], zoom = most;
    for (int i = 0; i < 3; i++)
        middle[i] = (lower[i] + upper[i]) / 2;
    for (int c = 0; c < 8; c++)
        for (int i = 0; i < 3; i++)
            corners[c][i] = c >> i & 1 ? upper[i] : lower[i];
    for (int axis = 0; axis < 2; axis++)
        camera->offset[axis] = dot(camera->axes[axis], middle);
    for (int c = 0; c < 8; c++) {
        double distance = camera->offset[2] - dot(camera->axes[2], corners[c]);
        double x = fabs(dot(camera->axes[0], corners[c]) - camera->offset[0]);
        double y = fabs(dot(camera->axes[1], corners[c]) - camera->offset[1]);
        zoom = x > 0 ? fmin(zoom, tan_x * distance / x) : zoom;
        zoom = y > 0 ? fmin(zoom, tan_y * distance / y) : zoom;
    }
    camera->scale *= fmax(zoom, 1);
    s->detail = s->extent / fmax(zoom, 1);
}

/* Places the camera as the user gives it. middle: the centre of the visible mesh. */
static void place_camera(scene *s, const double middle[3])
{
    const render_camera *given = s->desc->camera;
    view *camera = &s->camera;
    double slope = tan(given->angle / 2), apart = 0;
    for (int i = 0; i < 3; i++) {
        camera->offset[i] = dot(camera->axes[i], given->eye);
        apart = hypot(apart, middle[i] - given->eye[i]);
    }
    camera->scale = camera->height / 2.0 / slope;
    camera->depth_unit = s->extent;
    s->detail = fmin(s->extent, fmax(2 * apart * slope, 1e-3 * s->extent));
}

/* The directions along which extents are computed, to fit the views. */
enum {
    RIGHT,
    LEFT,
    TOP,
    BOTTOM,
    NEAR,
    LIGHT_X,
    LIGHT_Y,
    LIGHT_Z,
    UPWARDS,
    AXIS_X,
    AXIS_Y,
    DIRECTIONS
};

/* A vertex at camera coordinates x, z is in view if |x - eye.x| <= (eye.z - z) tan_x. So the
 * extents of x + z tan_x and of -x + z tan_x determine eye.x and the least eye.z. */
static void list_directions(const scene *s, const double up[3], double tan_x, double tan_y,
                            double directions[DIRECTIONS][3])
{
    for (int i = 0; i < 3; i++) {
        double x = s->camera.axes[0][i], y = s->camera.axes[1][i], z = s->camera.axes[2][i];
        directions[RIGHT][i] = x + z * tan_x;
        directions[LEFT][i] = -x + z * tan_x;
        directions[TOP][i] = y + z * tan_y;
        directions[BOTTOM][i] = -y + z * tan_y;
        directions[NEAR][i] = z;
        directions[LIGHT_X][i] = s->light.axes[0][i];
        directions[LIGHT_Y][i] = s->light.axes[1][i];
        directions[LIGHT_Z][i] = s->light.axes[2][i];
        directions[UPWARDS][i] = up[i];
        directions[AXIS_X][i] = x;
        directions[AXIS_Y][i] = y;
    }
}

static void fit_light(scene *s, const double *lower, const double *upper)
{
    view *light = &s->light;
    double width = fmax(upper[LIGHT_X] - lower[LIGHT_X], upper[LIGHT_Y] - lower[LIGHT_Y]);
    light->width = light->height = RENDER_SHADOW_SIDE;
    light->scale = 0.98 * RENDER_SHADOW_SIDE / fmax(width, 1e-6 * s->extent);
    light->offset[0] = (upper[LIGHT_X] + lower[LIGHT_X]) / 2;
    light->offset[1] = (upper[LIGHT_Y] + lower[LIGHT_Y]) / 2;
    light->offset[2] = lower[LIGHT_Z];
    light->depth_unit = s->extent;
}

/* Places the camera: where the user gives it, or else so that it frames the mesh or the frame.
 * focal: pixels per unit at distance 1. */
static void fit_camera(scene *s, double focal, double tan_x, double tan_y, const double *lower,
                       const double *upper)
{
    const render_desc *desc = s->desc;
    view *camera = &s->camera;
    camera->perspective = true;
    camera->width = desc->width * RENDER_SAMPLES;
    camera->height = desc->height * RENDER_SAMPLES;
    if (desc->camera) {
        const double across[3] = {(lower[AXIS_X] + upper[AXIS_X]) / 2,
                                  (lower[AXIS_Y] + upper[AXIS_Y]) / 2,
                                  (lower[NEAR] + upper[NEAR]) / 2};
        double middle[3] = {0, 0, 0};
        for (int i = 0; i < 9; i++)
            middle[i % 3] += across[i / 3] * camera->axes[i / 3][i % 3];
        place_camera(s, middle);
        return;
    }
    camera->scale = focal * RENDER_SAMPLES;
    camera->offset[0] = (upper[RIGHT] - upper[LEFT]) / 2;
    camera->offset[1] = (upper[TOP] - upper[BOTTOM]) / 2;
    camera->offset[2] = fmax((upper[RIGHT] + upper[LEFT]) / (2 * tan_x),
                             (upper[TOP] + upper[BOTTOM]) / (2 * tan_y));
    camera->offset[2] = fmax(camera->offset[2], upper[NEAR] + 0.1 * s->extent);
    camera->depth_unit = camera->offset[2] - upper[NEAR];
    zoom_to_frame(s, tan_x, tan_y);
}

/* Chooses both views so that they contain every vertex. Returns false if there is no vertex. */
static bool fit_views(scene *s)
{
    const render_desc *desc = s->desc;
    double up[3], directions[DIRECTIONS][3], lower[DIRECTIONS], upper[DIRECTIONS];
    aim_camera(desc, s->camera.axes, up);
    if (desc->camera)
        memcpy(s->camera.axes, desc->camera->axes, sizeof s->camera.axes);
    aim_light((const double(*)[3])s->camera.axes, s->light.axes);

    double shorter = fmin(desc->width, desc->height);
    double focal = shorter / 2 / tan(field_of_view / 2);
    double tan_x = (desc->width / 2.0 - margin * shorter) / focal;
    double tan_y = (desc->height / 2.0 - margin * shorter) / focal;
    list_directions(s, up, tan_x, tan_y, directions);
    if (!find_extents(s, (const double(*)[3])directions, DIRECTIONS, lower, upper))
        return false;

    s->extent = hypot(hypot(upper[AXIS_X] - lower[AXIS_X], upper[AXIS_Y] - lower[AXIS_Y]),
                      upper[NEAR] - lower[NEAR]);
    if (!(s->extent > 0))
        s->extent = 1; /* a single point */
    s->floor = lower[UPWARDS];
    s->up = (tml_vec3){(float)dot(s->camera.axes[0], up), (float)dot(s->camera.axes[1], up),
                       (float)dot(s->camera.axes[2], up)};
    s->key = unit(KEY_FROM, KEY_FROM);
    fit_camera(s, focal, tan_x, tan_y, lower, upper);
    fit_light(s, lower, upper);
    return true;
}

bool render_find_camera(tml_context *tml, const tml_mesh *mesh, const render_desc *desc,
                        render_camera *out)
{
    scene s = {.tml = tml, .mesh = mesh, .desc = desc};
    if (!fit_views(&s))
        return false;
    const view *camera = &s.camera;
    memcpy(out->axes, camera->axes, sizeof out->axes);
    out->angle = 2 * atan(camera->height / 2.0 / camera->scale);
    for (int i = 0; i < 3; i++) {
        out->eye[i] = 0;
        for (int axis = 0; axis < 3; axis++)
            out->eye[i] += camera->axes[axis][i] * camera->offset[axis];
    }
    return true;
}

/* Projects a world position: x, y on the view's grid of samples, and the depth. In perspective, the
 * depth is depth_unit / distance; otherwise it is 1 ... 2 from the far end to the near end. Both
 * are linear on the screen and increase towards the eye. */
static void render_project(const view *v, const double p[3], double *x, double *y, double *depth)
{
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = dot(v->axes[i], p) - v->offset[i];
    double shrink = v->perspective ? 1 / -c[2] : 1;
    *x = v->width / 2.0 + v->scale * shrink * c[0];
    *y = v->height / 2.0 - v->scale * shrink * c[1];
    *depth = v->perspective ? v->depth_unit * shrink : 1 + c[2] / v->depth_unit;
}

tml_vec3 render_point(const view *camera, float x, float y, float depth)
{
    float distance = (float)camera->depth_unit / depth, scale = (float)camera->scale;
    return (tml_vec3){(x - (float)camera->width / 2) / scale * distance,
                      ((float)camera->height / 2 - y) / scale * distance, -distance};
}

/* ---- rasterising ----------------------------------------------------------------------------- */

enum { VERTICES_A_TASK = 65536 };

typedef struct project_job {
    const tml_mesh *mesh;
    const view *view;
    raster_vertex *vertices;
} project_job;

static void project_some(void *argument, uint32_t index)
{
    const project_job *job = argument;
    uint64_t first = (uint64_t)index * VERTICES_A_TASK, last = first + VERTICES_A_TASK;
    last = last < job->mesh->vertex_count ? last : job->mesh->vertex_count;
    for (uint64_t v = first; v < last; v++) {
        const float *position = job->mesh->positions + 3 * v;
        const double p[3] = {position[0], position[1], position[2]};
        double x, y, depth;
        render_project(job->view, p, &x, &y, &depth);
        bool usable = isfinite(x) && isfinite(y) && isfinite(depth);
        job->vertices[v] = usable ? (raster_vertex){raster_fixed(x), raster_fixed(y), (float)depth}
                                  : (raster_vertex){0, 0, 0};
    }
}

static tml_status draw_view(scene *s, const view *v, raster_target *target)
{
    project_job job = {s->mesh, v, s->vertices};
    uint64_t tasks = (s->mesh->vertex_count + VERTICES_A_TASK - 1) / VERTICES_A_TASK;
    tml_parallel_for(s->tml, (uint32_t)tasks, project_some, &job);
    return raster_draw(s->tml, target, s->mesh, s->vertices);
}

/* Draws the lit triangles, with the vertices that were just projected for the camera's view. */
static tml_status draw_lit(scene *s)
{
    tml_mesh lit = *s->mesh;
    lit.indices = s->lit_indices;
    lit.indices64 = true;
    lit.triangle_count = s->desc->lit_count;
    for (uint64_t i = 0; i < s->desc->lit_count; i++) {
        uint64_t *corners = s->lit_indices + 3 * i;
        if (s->desc->lit[i] >= s->mesh->triangle_count ||
            !raster_corners(s->mesh, s->desc->lit[i], corners))
            corners[0] = corners[1] = corners[2] = 0;
    }
    return raster_draw(s->tml, &s->glow, &lit, s->vertices);
}

/* Adds each triangle's normal, as long as its area, to its corners' normals. On one thread, since
 * the order of the sum affects its last bits. */
static void sum_normals(const tml_mesh *mesh, float *normals)
{
    memset(normals, 0, mesh->vertex_count * 3 * sizeof *normals);
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        uint64_t v[3];
        if (!raster_corners(mesh, t, v))
            continue;
        tml_vec3 a = position_of(mesh, v[0]);
        tml_vec3 n =
            tml_cross3(tml_sub3(position_of(mesh, v[1]), a), tml_sub3(position_of(mesh, v[2]), a));
        for (int c = 0; c < 3; c++) {
            normals[3 * v[c] + 0] += n.x;
            normals[3 * v[c] + 1] += n.y;
            normals[3 * v[c] + 2] += n.z;
        }
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

typedef struct clear_job {
    char *memory;
    size_t size;
} clear_job;

enum { CLEAR_BYTES = 1 << 20 };

static void clear_some(void *argument, uint32_t index)
{
    const clear_job *job = argument;
    size_t first = (size_t)index * CLEAR_BYTES;
    memset(job->memory + first, 0,
           job->size - first < CLEAR_BYTES ? job->size - first : CLEAR_BYTES);
}

static void find_value_range(scene *s)
{
    s->value_lower = INFINITY;
    s->value_upper = -INFINITY;
    for (uint64_t v = 0; s->mesh->values && v < s->mesh->vertex_count; v++) {
        if (!isfinite(s->mesh->values[v]))
            continue;
        s->value_lower = fminf(s->value_lower, s->mesh->values[v]);
        s->value_upper = fmaxf(s->value_upper, s->mesh->values[v]);
    }
}

static tml_status render_scene(scene *s)
{
    /* With no vertex there are no views, and the background shows. */
    if (fit_views(s)) {
        if (!tml_progress(s->tml, "shadows", 0))
            return TML_ERROR_CANCELLED;
        tml_status status = draw_view(s, &s->light, &s->shadow);
        if (status == TML_OK && !tml_progress(s->tml, "triangles", 0.15))
            status = TML_ERROR_CANCELLED;
        TML_THEN(status, draw_view(s, &s->camera, &s->target));
        if (status == TML_OK && s->glow.depths)
            status = draw_lit(s);
        if (status != TML_OK)
            return status;
        if (!render_rows(s, render_pixels, "pixels", 0.3, 0.35) ||
            !render_visibility(s, 0.35, 0.75))
            return TML_ERROR_CANCELLED;
    }
    if (!render_rows(s, render_colors, "colours", 0.75, 1) || !tml_progress(s->tml, "colours", 1))
        return TML_ERROR_CANCELLED;
    return TML_OK;
}

static raster_target target_of(uint32_t width, uint32_t height)
{
    return (raster_target){.width = width, .height = height, .stride = raster_stride(width)};
}

/* Memory of a scene. */
typedef struct scene_part {
    void **memory;
    size_t size;
    bool zeroed;
} scene_part;

enum { SCENE_PARTS = 13 };

static void list_parts(scene *s, bool sums_normals, scene_part parts[SCENE_PARTS])
{
    const render_desc *desc = s->desc;
    const bool has_lit = desc->lit && desc->lit_count > 0;
    const uint64_t vertices = s->mesh->vertex_count;
    size_t pixels = (size_t)desc->width * desc->height;
    size_t samples = (size_t)s->target.stride * s->target.height;
    size_t shadow = (size_t)s->shadow.stride * s->shadow.height;
    size_t most = samples > shadow ? samples : shadow;
    size_t blur = (size_t)(desc->width + BLUR_LINES) * (desc->height + BLUR_LINES);
    const scene_part all[SCENE_PARTS] = {
        {(void **)&s->vertices, vertices * sizeof *s->vertices, false},
        {(void **)&s->target.depths, samples * sizeof(float), false},
        {(void **)&s->target.triangles, most * sizeof(uint32_t), false},
        {(void **)&s->shadow.depths, shadow * sizeof(float), false},
        {(void **)&s->glow.depths, has_lit ? samples * sizeof(float) : 0, false},
        {(void **)&s->glow.triangles, has_lit ? samples * sizeof(uint32_t) : 0, false},
        {(void **)&s->lit_indices, has_lit ? desc->lit_count * 3 * sizeof *s->lit_indices : 0,
         false},
        {(void **)&s->pixels, pixels * sizeof *s->pixels, true},
        {(void **)&s->depths, pixels * sizeof *s->depths, true},
        {(void **)&s->visible, pixels * sizeof *s->visible, true},
        {(void **)&s->unsmoothed, pixels * sizeof *s->unsmoothed, false},
        {(void **)&s->floor_light, (pixels + blur) * sizeof *s->floor_light, false},
        {(void **)&s->sums, sums_normals ? vertices * 3 * sizeof *s->sums : 0, false},
    };
    memcpy(parts, all, sizeof all);
}

static void end_scene(scene *s, const scene_part parts[SCENE_PARTS])
{
    for (int i = 0; i < SCENE_PARTS; i++)
        tml_free(s->tml, *parts[i].memory, parts[i].size);
}

/* Allocates and initialises the data of a picture. On failure everything is released. */
static tml_status begin_scene(scene *s, scene_part parts[SCENE_PARTS])
{
    const render_desc *desc = s->desc;
    const bool sums_normals = !s->mesh->normals && s->mesh->indices && s->mesh->vertex_count > 0;
    size_t total = 0, pixels = (size_t)desc->width * desc->height;
    tml_status status = TML_OK;
    s->target = target_of(desc->width * RENDER_SAMPLES, desc->height * RENDER_SAMPLES);
    s->shadow = target_of(RENDER_SHADOW_SIDE, RENDER_SHADOW_SIDE);
    s->glow = s->target;
    list_parts(s, sums_normals, parts);
    for (int i = 0; i < SCENE_PARTS; i++) {
        total += parts[i].size;
        *parts[i].memory = tml_alloc(s->tml, parts[i].size);
        if (!*parts[i].memory && parts[i].size)
            status = TML_ERROR_OUT_OF_MEMORY;
        else if (parts[i].zeroed)
            tml_parallel_for(s->tml, (uint32_t)((parts[i].size + CLEAR_BYTES - 1) / CLEAR_BYTES),
                             clear_some, &(clear_job){*parts[i].memory, parts[i].size});
    }
    if (status != TML_OK) {
        end_scene(s, parts);
        return tml_error(s->tml, status, "picture: no memory for %zu bytes; choose a smaller size",
                         total);
    }
    s->shadow.triangles =
        s->target.triangles; /* it is drawn first, and then only its depths are used */
    s->blur = s->floor_light + pixels;
    for (size_t i = 0; i < pixels; i++)
        s->floor_light[i] = 1;
    s->normals = s->mesh->normals;
    if (sums_normals) {
        sum_normals(s->mesh, s->sums);
        s->normals = s->sums;
    }
    render_make_tables(s);
    find_value_range(s);
    return TML_OK;
}

tml_status render_mesh(tml_context *tml, const tml_mesh *mesh, const render_desc *desc,
                       uint8_t *rgba)
{
    if (desc->width < 1 || desc->height < 1 || desc->width > RENDER_MAX_SIDE ||
        desc->height > RENDER_MAX_SIDE)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "picture: size is %ux%u, needs sides from 1 to %d", desc->width,
                         desc->height, RENDER_MAX_SIDE);
    if (mesh->triangle_count > RASTER_MAX_TRIANGLES)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "picture: the mesh has %llu triangles, at most %u can be drawn; "
                         "draw a region of it",
                         (unsigned long long)mesh->triangle_count, RASTER_MAX_TRIANGLES);

    scene s = {.tml = tml, .mesh = mesh, .desc = desc, .rgba = rgba};
    scene_part parts[SCENE_PARTS];
    tml_status status = begin_scene(&s, parts);
    if (status != TML_OK)
        return status;
    status = render_scene(&s);
    end_scene(&s, parts);
    return status;
}
