/* From a mesh to a picture: camera, rasterising, and the colour of each sample. Screen-space light
 * (occlusion, soft shadows) is in render_light.c, coverage in raster.c.
 *
 * The rasteriser finds the nearest triangle at RENDER_SAMPLES^2 samples a pixel; shading then looks
 * up that triangle's corners, so the cost of shading follows the picture, not the mesh. */
#include <math.h>
#include <string.h>

#include "color.h"
#include "render_internal.h"

static const double field_of_view = 0.46; /* radians across the shorter side: a portrait lens */
static const double margin = 0.07;        /* of the shorter side, kept free around the mesh */

/* Light, in linear units: a warm key light from above left, a cool fill, a rim light from behind,
 * sky and ground. Directions are in camera coordinates, so the light follows the viewer. */
static const tml_vec3 key_from = {-0.56f, 0.64f, 0.50f};
static const tml_vec3 fill_from = {0.80f, 0.05f, 0.60f};
static const tml_vec3 rim_from = {0.45f, 0.45f, -0.77f};
static const tml_vec3 key_color = {1.62f, 1.55f, 1.44f};
static const tml_vec3 fill_color = {0.26f, 0.30f, 0.36f};
static const tml_vec3 rim_color = {0.55f, 0.60f, 0.68f};
static const tml_vec3 sky_color = {0.50f, 0.54f, 0.60f};
static const tml_vec3 ground_color = {0.24f, 0.22f, 0.20f};
static const float gloss = 0.22f;

/* Background: sRGB grey at the picture's centre and corners. */
static const float background_centre = 0.965f, background_corner = 0.80f;
static const float floor_shade = 0.42f; /* how much of the background a full shadow takes */

/* ---- vectors --------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void normalize(double v[3])
{
    double length = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

static tml_vec3 rotate(const double axes[3][3], tml_vec3 v)
{
    const double p[3] = {v.x, v.y, v.z};
    return (tml_vec3){(float)dot(axes[0], p), (float)dot(axes[1], p), (float)dot(axes[2], p)};
}

static tml_vec3 unit(tml_vec3 v, tml_vec3 otherwise)
{
    float length = tml_length3(v);
    return length > 0 && isfinite(length) ? tml_scale3(v, 1 / length) : otherwise;
}

static tml_vec3 multiply(tml_vec3 a, tml_vec3 b)
{
    return (tml_vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static tml_vec3 mix(tml_vec3 a, tml_vec3 b, float t)
{
    return tml_add3(tml_scale3(a, 1 - t), tml_scale3(b, t));
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
    const double (*directions)[3];
    uint32_t count;
    double lower[EXTENT_TASKS][EXTENT_MAX], upper[EXTENT_TASKS][EXTENT_MAX];
} extent_job;

static void find_some_extents(void *argument, uint32_t index)
{
    extent_job *job = argument;
    uint64_t count = job->mesh->vertex_count;
    uint64_t first = count / EXTENT_TASKS * index +
                     (index < count % EXTENT_TASKS ? index : count % EXTENT_TASKS);
    uint64_t last = first + count / EXTENT_TASKS + (index < count % EXTENT_TASKS);
    for (uint32_t d = 0; d < job->count; d++) {
        job->lower[index][d] = INFINITY;
        job->upper[index][d] = -INFINITY;
    }
    for (uint64_t v = first; v < last; v++) {
        const float *position = job->mesh->positions + 3 * v;
        const double p[3] = {position[0], position[1], position[2]};
        if (!isfinite(p[0] + p[1] + p[2]))
            continue;
        for (uint32_t d = 0; d < job->count; d++) {
            double along = dot(job->directions[d], p);
            job->lower[index][d] = fmin(job->lower[index][d], along);
            job->upper[index][d] = fmax(job->upper[index][d], along);
        }
    }
}

/* The least and greatest position of the mesh along each direction; false when it has no vertex. */
static bool find_extents(tml_context *tml, const tml_mesh *mesh, const double (*directions)[3],
                         uint32_t count, double *lower, double *upper)
{
    extent_job job = {.mesh = mesh, .directions = directions, .count = count};
    tml_parallel_for(tml, EXTENT_TASKS, find_some_extents, &job);
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

/* Camera axes from turns about the world's up. */
static void aim_camera(const render_desc *desc, double axes[3][3], double up[3])
{
    static const int up_axis[] = {2, 1, 0, 2, 1, 0};
    double sign = desc->up >= RENDER_UP_MINUS_Z ? -1 : 1;
    double right[3] = {0}, back[3];
    memset(up, 0, 3 * sizeof *up);
    up[up_axis[desc->up]] = sign;
    right[up_axis[desc->up] == 0 ? 1 : 0] = 1;
    cross(right, up, back);

    const double degree = 0.017453292519943295;
    double ca = cos(degree * desc->azimuth), sa = sin(degree * desc->azimuth);
    double ce = cos(degree * desc->elevation), se = sin(degree * desc->elevation);
    for (int i = 0; i < 3; i++) {
        double level = ca * back[i] + sa * right[i];
        axes[0][i] = ca * right[i] - sa * back[i];
        axes[1][i] = ce * up[i] - se * level;
        axes[2][i] = ce * level + se * up[i];
    }
}

/* Axes that look along the key light; camera coordinates turned back into the world's. */
static void aim_light(const double camera[3][3], double axes[3][3])
{
    for (int i = 0; i < 3; i++) {
        axes[2][i] =
            key_from.x * camera[0][i] + key_from.y * camera[1][i] + key_from.z * camera[2][i];
        axes[0][i] = camera[0][i];
    }
    normalize(axes[2]);
    cross(axes[2], axes[0], axes[1]);
    normalize(axes[1]);
    cross(axes[1], axes[2], axes[0]);
}

/* Narrows the lens and moves the eye sideways until the frame fills the picture. Eye and mesh keep their distance, so
 * that nothing comes to lie behind the eye. */
static void zoom_to_frame(scene *s, double tan_x, double tan_y)
{
    const double most = 64; /* what is outside of the picture stays within raster_fixed's range */
    const double *lower = s->desc->frame_lower, *upper = s->desc->frame_upper;
    view *camera = &s->camera;
    s->detail = s->extent;
    if (!(lower[0] < upper[0] || lower[1] < upper[1] || lower[2] < upper[2]))
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

/* Chooses both views so that they take in every vertex; false when there is none. */
static bool fit_views(scene *s)
{
    const render_desc *desc = s->desc;
    double up[3];
    aim_camera(desc, s->camera.axes, up);
    aim_light((const double(*)[3])s->camera.axes, s->light.axes);

    double shorter = fmin(desc->width, desc->height);
    double focal = shorter / 2 / tan(field_of_view / 2); /* pixels a unit at distance 1 */
    double tan_x = (desc->width / 2.0 - margin * shorter) / focal;
    double tan_y = (desc->height / 2.0 - margin * shorter) / focal;

    /* A vertex at camera coordinates x, z is in view when |x - eye.x| <= (eye.z - z) tan_x: with
     * the extents of x + z tan_x and of -x + z tan_x that gives eye.x and a least eye.z. */
    double directions[EXTENT_MAX][3], lower[EXTENT_MAX], upper[EXTENT_MAX];
    enum {
        RIGHT,
        LEFT,
        TOP,
        BOTTOM,
        NEAR,
        LIGHT_X,
        LIGHT_Y,
        LIGHT_Z,
        HEIGHT,
        AXIS_X,
        AXIS_Y,
        COUNT
    };
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
        directions[HEIGHT][i] = up[i];
        directions[AXIS_X][i] = x;
        directions[AXIS_Y][i] = y;
    }
    if (!find_extents(s->tml, s->mesh, (const double(*)[3])directions, COUNT, lower, upper))
        return false;

    s->extent = hypot(hypot(upper[AXIS_X] - lower[AXIS_X], upper[AXIS_Y] - lower[AXIS_Y]),
                      upper[NEAR] - lower[NEAR]);
    if (!(s->extent > 0))
        s->extent = 1; /* a single point */
    s->floor = lower[HEIGHT];
    s->up = (tml_vec3){(float)dot(s->camera.axes[0], up), (float)dot(s->camera.axes[1], up),
                       (float)dot(s->camera.axes[2], up)};
    s->key = unit(key_from, key_from);

    view *camera = &s->camera;
    camera->perspective = true;
    camera->width = desc->width * RENDER_SAMPLES;
    camera->height = desc->height * RENDER_SAMPLES;
    camera->scale = focal * RENDER_SAMPLES;
    camera->offset[0] = (upper[RIGHT] - upper[LEFT]) / 2;
    camera->offset[1] = (upper[TOP] - upper[BOTTOM]) / 2;
    camera->offset[2] = fmax((upper[RIGHT] + upper[LEFT]) / (2 * tan_x),
                             (upper[TOP] + upper[BOTTOM]) / (2 * tan_y));
    camera->offset[2] = fmax(camera->offset[2], upper[NEAR] + 0.1 * s->extent);
    camera->depth_unit = camera->offset[2] - upper[NEAR];
    zoom_to_frame(s, tan_x, tan_y);

    view *light = &s->light;
    double width = fmax(upper[LIGHT_X] - lower[LIGHT_X], upper[LIGHT_Y] - lower[LIGHT_Y]);
    light->width = light->height = RENDER_SHADOW_SIDE;
    light->scale = 0.98 * RENDER_SHADOW_SIDE / fmax(width, 1e-6 * s->extent);
    light->offset[0] = (upper[LIGHT_X] + lower[LIGHT_X]) / 2;
    light->offset[1] = (upper[LIGHT_Y] + lower[LIGHT_Y]) / 2;
    light->offset[2] = lower[LIGHT_Z];
    light->depth_unit = s->extent;
    return true;
}

void render_project(const view *v, const double p[3], double *x, double *y, double *depth)
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

static void draw_view(scene *s, const view *v, raster_target *target)
{
    project_job job = {s->mesh, v, s->vertices};
    uint64_t tasks = (s->mesh->vertex_count + VERTICES_A_TASK - 1) / VERTICES_A_TASK;
    tml_parallel_for(s->tml, (uint32_t)tasks, project_some, &job);
    raster_draw(s->tml, target, s->mesh, s->vertices);
}

/* The lit triangles, over the vertices that the camera's view has just projected. */
static void draw_lit(scene *s)
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
    raster_draw(s->tml, &s->glow, &lit, s->vertices);
}

/* Sums each triangle's normal, as long as its area, at its corners. In one thread: the sum's order
 * would otherwise show in its last bits. */
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

/* ---- shading --------------------------------------------------------------------------------- */

/* What the camera meets at one sample. */
typedef struct hit {
    tml_vec3 position; /* camera coordinates relative to the eye */
    tml_vec3 normal;   /* unit length, camera coordinates, towards the viewer */
    bool inner;        /* the surface is seen from its inside */
    uint64_t triangle;
    uint64_t corners[3];
    float weights[3];
    float edge;   /* pixels on the screen to the nearest edge of the triangle */
    float height; /* the triangle's least, in pixels */
} hit;

static hit find_hit(const scene *s, uint64_t key, float x, float y)
{
    hit h = {.triangle = raster_triangle(key), .edge = INFINITY};
    raster_corners(s->mesh, h.triangle, h.corners);
    h.position = render_point(&s->camera, x, y, raster_depth(key));

    /* Areas on the screen times depth give weights in space. */
    const raster_vertex *v[3];
    float sum = 0;
    double total = 0, longest = 0;
    for (int c = 0; c < 3; c++)
        v[c] = &s->vertices[h.corners[c]];
    for (int c = 0; c < 3; c++) {
        const raster_vertex *a = v[(c + 1) % 3], *b = v[(c + 2) % 3];
        double px = (double)x * RASTER_SUBPIXEL, py = (double)y * RASTER_SUBPIXEL;
        double area = (b->x - a->x) * (py - a->y) - (b->y - a->y) * (px - a->x);
        h.weights[c] = (float)fabs(area) * v[c]->depth;
        sum += h.weights[c];
        if (s->desc->wire > 0) {
            double dx = b->x - a->x, dy = b->y - a->y, length = sqrt(dx * dx + dy * dy);
            h.edge = fminf(h.edge, length > 0 ? (float)(fabs(area) / length) : 0);
            total += fabs(area);
            longest = fmax(longest, length);
        }
    }
    const float unit_size = 1.0f / (RASTER_SUBPIXEL * RENDER_SAMPLES); /* of a pixel */
    h.edge *= unit_size;
    h.height = longest > 0 ? (float)(total / longest) * unit_size : 0;
    for (int c = 0; c < 3; c++)
        h.weights[c] = sum > 0 ? h.weights[c] / sum : 1.0f / 3;

    tml_vec3 to_viewer = unit(tml_scale3(h.position, -1), (tml_vec3){0, 0, 1});
    tml_vec3 p = position_of(s->mesh, h.corners[0]);
    tml_vec3 face = tml_cross3(tml_sub3(position_of(s->mesh, h.corners[1]), p),
                               tml_sub3(position_of(s->mesh, h.corners[2]), p));
    face = unit(rotate(s->camera.axes, face), to_viewer);
    h.inner = tml_dot3(face, to_viewer) < 0;
    if (h.inner)
        face = tml_scale3(face, -1);
    h.normal = face;
    if (s->normals) {
        tml_vec3 n = {0, 0, 0};
        for (int c = 0; c < 3; c++) {
            const float *normal = s->normals + 3 * h.corners[c];
            tml_vec3 corner = unit((tml_vec3){normal[0], normal[1], normal[2]}, n);
            n = tml_add3(n, tml_scale3(corner, h.weights[c]));
        }
        n = unit(rotate(s->camera.axes, n), face);
        h.normal = tml_dot3(n, face) < 0 ? tml_scale3(n, -1) : n;
    }
    /* At the outline a smooth normal may lean away from the viewer: bring it back to the edge. */
    float lean = tml_dot3(h.normal, to_viewer);
    if (lean < 0.02f)
        h.normal = unit(tml_add3(h.normal, tml_scale3(to_viewer, 0.02f - lean)), face);
    return h;
}

static uint32_t part_of(const render_desc *desc, uint64_t triangle)
{
    uint32_t first = 0, last = desc->part_count; /* the part is in [first, last) */
    while (last - first > 1) {
        uint32_t middle = first + (last - first) / 2;
        if (desc->parts[middle].triangle_first <= triangle)
            first = middle;
        else
            last = middle;
    }
    return first;
}

static tml_vec3 srgb(float red, float green, float blue)
{
    return (tml_vec3){color_to_linear(red), color_to_linear(green), color_to_linear(blue)};
}

static tml_vec3 albedo_of(const scene *s, const hit *h)
{
    const render_desc *desc = s->desc;
    if (desc->color_by_value && s->mesh->values) {
        float value = 0;
        for (int c = 0; c < 3; c++)
            value += h->weights[c] * s->mesh->values[h->corners[c]];
        float range = s->value_upper - s->value_lower;
        /* Values that differ by rounding alone are one value. */
        bool differ = range > 1e-4f * fmaxf(fabsf(s->value_upper), fabsf(s->value_lower));
        return color_of_value(differ && isfinite(value) ? (value - s->value_lower) / range : 0.5f);
    }
    if (desc->triangle_colors) {
        const uint8_t *color = desc->triangle_colors + 3 * h->triangle;
        return srgb(color[0] / 255.0f, color[1] / 255.0f, color[2] / 255.0f);
    }
    if (desc->part_count > 1)
        return color_of_part(part_of(desc, h->triangle));
    return s->color;
}

/* How much of the line along the triangle's edges lies here. Where triangles become as small as lines are wide, the
 * lines fade: the surface would be all line. */
static float line_at(const scene *s, const hit *h)
{
    float wire = s->desc->wire;
    if (!(wire > 0) || h->edge > 0.5f * wire)
        return 0;
    return fminf(fmaxf(h->height / (3 * wire) - 0.5f, 0), 1);
}

/* x^42: how shiny the surface is. */
static float shine_of(float x)
{
    float x2 = x * x, x8 = x2 * x2 * x2 * x2, x32 = x8 * x8 * x8 * x8;
    return x32 * x8 * x2;
}

/* Blinn's highlight, faded out with the light's cosine so that it ends where the light does. */
static float highlight(tml_vec3 normal, tml_vec3 to_light, tml_vec3 to_viewer)
{
    tml_vec3 middle = unit(tml_add3(to_light, to_viewer), normal);
    float cosine = fmaxf(tml_dot3(normal, to_light), 0);
    return shine_of(fmaxf(tml_dot3(normal, middle), 0)) * fminf(4 * cosine, 1);
}

static tml_vec3 shade(const scene *s, hit h, visibility seen)
{
    tml_vec3 to_viewer = unit(tml_scale3(h.position, -1), (tml_vec3){0, 0, 1});
    tml_vec3 albedo = tml_scale3(albedo_of(s, &h), 1 - 0.72f * line_at(s, &h));
    if (h.inner) /* the inside is told from the outside by a duller, darker shade */
        albedo = tml_scale3(mix(albedo, (tml_vec3){0.3f, 0.28f, 0.26f}, 0.35f), 0.75f);

    float sky = 0.5f + 0.5f * tml_dot3(h.normal, s->up);
    tml_vec3 light = tml_scale3(mix(ground_color, sky_color, sky), seen.ambient);
    float key_cosine = fmaxf(tml_dot3(h.normal, s->key), 0) * seen.key;
    light = tml_add3(light, tml_scale3(key_color, key_cosine));
    float fill_cosine = fmaxf(tml_dot3(h.normal, fill_from), 0);
    light = tml_add3(light, tml_scale3(fill_color, fill_cosine * seen.ambient));
    float edge = 1 - fmaxf(tml_dot3(h.normal, to_viewer), 0);
    float rim = fmaxf(tml_dot3(h.normal, rim_from), 0) * edge * edge * seen.ambient;
    light = tml_add3(light, tml_scale3(rim_color, rim));

    float fresnel = edge * edge * edge * edge * edge;
    float shine = gloss * (highlight(h.normal, s->key, to_viewer) * seen.key +
                           0.3f * highlight(h.normal, fill_from, to_viewer) * seen.ambient) +
                  0.10f * fresnel * sky * seen.ambient;
    return tml_add3(multiply(albedo, light), tml_scale3(key_color, shine));
}

/* Compresses what is brighter than paper instead of clipping it (Reinhard's curve with a white
 * point). */
static float tone(float light)
{
    const float white = 3.2f;
    return light * (1 + light / (white * white)) / (1 + 0.55f * light);
}

static tml_vec3 background(const scene *s, uint32_t column, uint32_t row)
{
    float x = 2 * ((float)column + 0.5f) / (float)s->desc->width - 1;
    float y = 2 * ((float)row + 0.5f) / (float)s->desc->height - 1;
    float far = fminf((x * x + (y + 0.25f) * (y + 0.25f)) / 2.2f, 1);
    float grey = background_centre + far * (background_corner - background_centre);
    /* A shadow that runs out of the picture fades before its edge. */
    float inside = fminf(6 * (1 - fmaxf(fabsf(x), fabsf(y))), 1);
    float shadow = 1 - s->floor_light[(size_t)row * s->desc->width + column];
    float light = color_to_linear(grey) * (1 - floor_shade * inside * shadow);
    return (tml_vec3){light * 0.982f, light * 0.994f, light};
}

/* ---- passes ---------------------------------------------------------------------------------- */

typedef struct rows_job {
    scene *s;
    render_pass pass;
    uint32_t first; /* of the rows in this share */
} rows_job;

static void run_rows(void *argument, uint32_t index)
{
    const rows_job *job = argument;
    uint32_t first = job->first + index * RENDER_ROWS_A_TASK, last = first + RENDER_ROWS_A_TASK;
    uint32_t height = job->s->desc->height;
    job->pass(job->s, first, last < height ? last : height);
}

bool render_rows(scene *s, render_pass pass, const char *stage, double from, double to)
{
    enum { SHARE = 16 }; /* tasks between two reports: some 100 ms on a small machine */
    uint32_t tasks = (s->desc->height + RENDER_ROWS_A_TASK - 1) / RENDER_ROWS_A_TASK;
    for (uint32_t first = 0; first < tasks; first += SHARE) {
        if (!tml_progress(s->tml, stage, from + (to - from) * first / tasks))
            return false;
        rows_job job = {s, pass, first * RENDER_ROWS_A_TASK};
        tml_parallel_for(s->tml, tasks - first < SHARE ? tasks - first : SHARE, run_rows, &job);
    }
    return true;
}

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

static uint64_t key_at(const scene *s, uint32_t column, uint32_t row)
{
    return s->target.keys[(size_t)row * s->target.width + column];
}

/* Each pixel's nearest sample stands for it in the screen-space passes. */
static void find_pixels(scene *s, uint32_t first, uint32_t last)
{
    for (uint32_t row = first; row < last; row++) {
        for (uint32_t column = 0; column < s->desc->width; column++) {
            uint64_t nearest = 0;
            float x = 0, y = 0;
            for (uint32_t i = 0; i < RENDER_SAMPLES * RENDER_SAMPLES; i++) {
                uint32_t sx = column * RENDER_SAMPLES + i % RENDER_SAMPLES;
                uint32_t sy = row * RENDER_SAMPLES + i / RENDER_SAMPLES;
                uint64_t key = key_at(s, sx, sy);
                if (key > nearest) {
                    nearest = key;
                    x = (float)sx + 0.5f;
                    y = (float)sy + 0.5f;
                }
            }
            pixel p = {0};
            if (!raster_is_empty(nearest)) {
                hit h = find_hit(s, nearest, x, y);
                p = (pixel){-h.position.z, h.normal, h.inner};
            }
            s->pixels[(size_t)row * s->desc->width + column] = p;
            s->depths[(size_t)row * s->desc->width + column] = p.depth;
        }
    }
}

static uint8_t to_byte(float light)
{
    float level = color_to_srgb(fminf(fmaxf(light, 0), 1));
    return (uint8_t)(255 * level + 0.5f);
}

/* The light of the pixel, among this one and its neighbours, whose depth is nearest to the sample's:
 * samples behind an outline belong to another surface than the one that stands for their pixel. */
static visibility visibility_at(const scene *s, uint32_t column, uint32_t row, uint64_t key)
{
    float depth = (float)s->camera.depth_unit / raster_depth(key);
    size_t best = (size_t)row * s->desc->width + column;
    float nearest = fabsf(s->pixels[best].depth - depth);
    if (nearest < 0.005f * (float)s->extent)
        return s->visible[best];
    for (uint32_t y = row ? row - 1 : 0; y <= row + 1 && y < s->desc->height; y++) {
        for (uint32_t x = column ? column - 1 : 0; x <= column + 1 && x < s->desc->width; x++) {
            size_t at = (size_t)y * s->desc->width + x;
            float apart = fabsf(s->pixels[at].depth - depth);
            if (s->pixels[at].depth > 0 && apart < nearest) {
                nearest = apart;
                best = at;
            }
        }
    }
    return s->visible[best];
}

/* What glows behind a surface shines through it; on the surface it adds to the light that is there. */
static tml_vec3 add_glow(const scene *s, uint64_t key, uint64_t glow, tml_vec3 color)
{
    if (raster_is_empty(glow))
        return color;
    const float *lit = s->desc->lit_color;
    float hidden = raster_depth(glow) < raster_depth(key) * (1 - 1e-5f) ? 0.6f : 0.35f;
    return mix(color, srgb(lit[0], lit[1], lit[2]), hidden);
}

static tml_vec3 color_sample(const scene *s, uint32_t column, uint32_t row, uint32_t sx,
                             uint32_t sy, tml_vec3 behind)
{
    uint64_t key = key_at(s, sx, sy);
    if (raster_is_empty(key))
        return behind;
    hit h = find_hit(s, key, (float)sx + 0.5f, (float)sy + 0.5f);
    tml_vec3 color = shade(s, h, visibility_at(s, column, row, key));
    color = (tml_vec3){tone(color.x), tone(color.y), tone(color.z)};
    return s->glow.keys ? add_glow(s, key, s->glow.keys[(size_t)sy * s->glow.width + sx], color)
                        : color;
}

/* Does the pixel's middle sample stand for all? It does where nothing but the normal may change from sample to sample,
 * where their depths lie on a plane as near as one can see, and where the pixels around have nearly the same
 * normal: light is then all but linear, and its mean is that of the middle. */
static bool is_smooth(const scene *s, uint32_t column, uint32_t row)
{
    enum { N = RENDER_SAMPLES };
    const render_desc *desc = s->desc;
    if (desc->wire > 0 || s->glow.keys || desc->triangle_colors || desc->part_count > 1)
        return false;
    if (column == 0 || row == 0 || column + 1 == desc->width || row + 1 == desc->height)
        return false;
    float depths[N * N];
    for (uint32_t i = 0; i < N * N; i++) {
        uint64_t key = key_at(s, column * N + i % N, row * N + i / N);
        if (raster_is_empty(key))
            return false;
        depths[i] = raster_depth(key);
    }
    const float middle = depths[N * N / 2], most = 2e-5f * middle;
    for (int i = 0; i < N * N / 2; i++)
        if (fabsf(depths[i] + depths[N * N - 1 - i] - 2 * middle) > most)
            return false;
    const float least = 0.9998f; /* cosine of one degree */
    const pixel *p = &s->pixels[(size_t)row * desc->width + column];
    const pixel *around[] = {p - 1, p + 1, p - desc->width, p + desc->width};
    for (int i = 0; i < 4; i++)
        if (around[i]->depth <= 0 || around[i]->is_inner != p->is_inner ||
            tml_dot3(around[i]->normal, p->normal) < least)
            return false;
    return true;
}

static void color_pixels(scene *s, uint32_t first, uint32_t last)
{
    const float weight = 1.0f / (RENDER_SAMPLES * RENDER_SAMPLES);
    for (uint32_t row = first; row < last; row++) {
        for (uint32_t column = 0; column < s->desc->width; column++) {
            size_t at = (size_t)row * s->desc->width + column;
            tml_vec3 sum = {0, 0, 0}, behind = background(s, column, row);
            bool is_one = is_smooth(s, column, row);
            for (uint32_t i = 0; i < RENDER_SAMPLES * RENDER_SAMPLES; i++) {
                uint32_t sx = column * RENDER_SAMPLES + i % RENDER_SAMPLES;
                uint32_t sy = row * RENDER_SAMPLES + i / RENDER_SAMPLES;
                if (!is_one || i == RENDER_SAMPLES * RENDER_SAMPLES / 2)
                    sum = tml_add3(sum, color_sample(s, column, row, sx, sy, behind));
            }
            sum = tml_scale3(sum, is_one ? 1 : weight);
            uint8_t *rgba = s->rgba + 4 * at;
            rgba[0] = to_byte(sum.x);
            rgba[1] = to_byte(sum.y);
            rgba[2] = to_byte(sum.z);
            rgba[3] = 255;
        }
    }
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
    /* With no vertex there are no views: the keys stay empty and the background shows. */
    if (fit_views(s)) {
        if (!tml_progress(s->tml, "shadows", 0))
            return TML_ERROR_CANCELLED;
        draw_view(s, &s->light, &s->shadow);
        if (!tml_progress(s->tml, "triangles", 0.15))
            return TML_ERROR_CANCELLED;
        draw_view(s, &s->camera, &s->target);
        if (s->glow.keys)
            draw_lit(s);
        if (!render_rows(s, find_pixels, "pixels", 0.3, 0.35) || !render_visibility(s, 0.35, 0.75))
            return TML_ERROR_CANCELLED;
    }
    if (!render_rows(s, color_pixels, "colours", 0.75, 1) || !tml_progress(s->tml, "colours", 1))
        return TML_ERROR_CANCELLED;
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

    scene s = {.tml = tml, .mesh = mesh, .desc = desc, .rgba = rgba, .normals = mesh->normals};
    size_t pixel_count = (size_t)desc->width * desc->height;
    bool sums_normals = !mesh->normals && mesh->indices && mesh->vertex_count > 0;
    s.target = (raster_target){desc->width * RENDER_SAMPLES, desc->height * RENDER_SAMPLES, NULL};
    s.shadow = (raster_target){RENDER_SHADOW_SIDE, RENDER_SHADOW_SIDE, NULL};
    bool has_lit = desc->lit && desc->lit_count > 0;
    s.glow = s.target;

    struct {
        void **memory;
        size_t size;
        bool zeroed;
    } parts[] = {
        {(void **)&s.vertices, mesh->vertex_count * sizeof *s.vertices, false},
        {(void **)&s.target.keys, pixel_count * RENDER_SAMPLES * RENDER_SAMPLES * 8, true},
        {(void **)&s.shadow.keys, sizeof(uint64_t) * RENDER_SHADOW_SIDE * RENDER_SHADOW_SIDE, true},
        {(void **)&s.glow.keys, has_lit ? pixel_count * RENDER_SAMPLES * RENDER_SAMPLES * 8 : 0,
         true},
        {(void **)&s.lit_indices, has_lit ? desc->lit_count * 3 * sizeof *s.lit_indices : 0, false},
        {(void **)&s.pixels, pixel_count * sizeof *s.pixels, true},
        {(void **)&s.depths, pixel_count * sizeof *s.depths, false},
        {(void **)&s.visible, pixel_count * sizeof *s.visible, true},
        {(void **)&s.unsmoothed, pixel_count * sizeof *s.unsmoothed, false},
        {(void **)&s.floor_light, pixel_count * sizeof *s.floor_light, false},
        {(void **)&s.sums, sums_normals ? mesh->vertex_count * 3 * sizeof *s.sums : 0, false},
    };
    enum { PART_COUNT = sizeof parts / sizeof parts[0] };
    tml_status status = TML_OK;
    size_t total = 0;
    for (int i = 0; i < PART_COUNT; i++) {
        total += parts[i].size;
        *parts[i].memory = tml_alloc(tml, parts[i].size);
        if (!*parts[i].memory && parts[i].size)
            status = TML_ERROR_OUT_OF_MEMORY;
        else if (parts[i].zeroed)
            tml_parallel_for(tml, (uint32_t)((parts[i].size + CLEAR_BYTES - 1) / CLEAR_BYTES),
                             clear_some, &(clear_job){*parts[i].memory, parts[i].size});
    }
    if (status != TML_OK) {
        tml_error(tml, status, "picture: no memory for %zu bytes; choose a smaller size", total);
    } else {
        for (size_t i = 0; i < pixel_count; i++)
            s.floor_light[i] = 1;
        if (sums_normals) {
            sum_normals(mesh, s.sums);
            s.normals = s.sums;
        }
        s.color = srgb(desc->color[0], desc->color[1], desc->color[2]);
        find_value_range(&s);
        status = render_scene(&s);
    }
    for (int i = 0; i < PART_COUNT; i++)
        tml_free(tml, *parts[i].memory, parts[i].size);
    return status;
}
