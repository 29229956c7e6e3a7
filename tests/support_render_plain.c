/* A straightforward renderer: one sample at a time, without shortcuts, vectors or tables. */
#include "support_render_plain.h"

#include <math.h>
#include <string.h>

#include "../cli/draw/color.h"
#include "../cli/draw/render_look.h"

enum { SLICES = 3, STEPS = 6 };
static const float half_pi = 1.57079632679f;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
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

/* ---- coverage ---- */

/* The function of a directed edge: positive on its inner side. step: its change per sample. */
typedef struct edge_function {
    int64_t value, step_x, step_y;
} edge_function;

static edge_function edge_from(const raster_vertex *a, const raster_vertex *b, int64_t x, int64_t y)
{
    int64_t dx = (int64_t)b->x - a->x, dy = (int64_t)b->y - a->y;
    bool is_top_or_left = dy < 0 || (dy == 0 && dx > 0);
    /* On the line the value is 0: an edge that does not own its samples starts one lower. */
    return (edge_function){.value = dx * (y - a->y) - dy * (x - a->x) - (is_top_or_left ? 0 : 1),
                           .step_x = -dy * RASTER_SUBPIXEL,
                           .step_y = dx * RASTER_SUBPIXEL};
}

static int32_t min3(int32_t a, int32_t b, int32_t c)
{
    int32_t m = a < b ? a : b;
    return m < c ? m : c;
}

static int32_t max3(int32_t a, int32_t b, int32_t c)
{
    int32_t m = a > b ? a : b;
    return m > c ? m : c;
}

/* Finds the rows or columns of samples whose centres are in [lower, upper], limited by size. */
static void sample_range(int32_t lower, int32_t upper, uint32_t size, int32_t *first, int32_t *last)
{
    const int32_t half = RASTER_SUBPIXEL / 2;
    *first = (lower - half + RASTER_SUBPIXEL - 1) >> RASTER_SUBPIXEL_BITS;
    *last = (upper - half) >> RASTER_SUBPIXEL_BITS;
    *first = *first < 0 ? 0 : *first;
    *last = *last >= (int32_t)size ? (int32_t)size - 1 : *last;
}

static void draw_triangle(const raster_target *target, const raster_vertex *a,
                          const raster_vertex *b, const raster_vertex *c, uint32_t triangle)
{
    int32_t x_first, x_last, y_first, y_last;
    if (!(a->depth > 0 && b->depth > 0 && c->depth > 0))
        return;
    sample_range(min3(a->x, b->x, c->x), max3(a->x, b->x, c->x), target->width, &x_first, &x_last);
    sample_range(min3(a->y, b->y, c->y), max3(a->y, b->y, c->y), target->height, &y_first, &y_last);
    if (x_first > x_last || y_first > y_last)
        return; /* between samples, as most triangles of a fine mesh are */

    int64_t area = ((int64_t)b->x - a->x) * ((int64_t)c->y - a->y) -
                   ((int64_t)b->y - a->y) * ((int64_t)c->x - a->x);
    if (area == 0)
        return;
    if (area < 0) {
        const raster_vertex *swap = b;
        b = c;
        c = swap;
        area = -area;
    }
    int64_t x = (int64_t)x_first * RASTER_SUBPIXEL + RASTER_SUBPIXEL / 2;
    int64_t y = (int64_t)y_first * RASTER_SUBPIXEL + RASTER_SUBPIXEL / 2;
    edge_function to_a = edge_from(b, c, x, y), to_b = edge_from(c, a, x, y),
                  to_c = edge_from(a, b, x, y);
    float nearest = fmaxf(a->depth, fmaxf(b->depth, c->depth));
    float farthest = fminf(a->depth, fminf(b->depth, c->depth));
    float scale = 1.0f / (float)area;
    float slope_b = (b->depth - a->depth) * scale, slope_c = (c->depth - a->depth) * scale;

    for (int32_t row = y_first; row <= y_last; row++) {
        size_t first = (size_t)row * target->stride;
        int64_t in_a = to_a.value, in_b = to_b.value, in_c = to_c.value;
        for (int32_t column = x_first; column <= x_last; column++) {
            if ((in_a | in_b | in_c) >= 0) {
                float depth = a->depth + (float)in_b * slope_b + (float)in_c * slope_c;
                /* Slopes of a sliver are steep: rounding must not leave the corners' range. */
                depth = fminf(fmaxf(depth, farthest), nearest);
                size_t at = first + (size_t)column;
                float old = target->depths[at];
                if (depth > old || (depth == old && triangle < target->triangles[at])) {
                    target->depths[at] = depth;
                    target->triangles[at] = triangle;
                }
            }
            in_a += to_a.step_x;
            in_b += to_b.step_x;
            in_c += to_c.step_x;
        }
        to_a.value += to_a.step_y;
        to_b.value += to_b.step_y;
        to_c.value += to_c.step_y;
    }
}

void plain_draw(const raster_target *target, const tml_mesh *mesh, const raster_vertex *vertices)
{
    memset(target->depths, 0, sizeof(float) * target->stride * target->height);
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        uint64_t v[3];
        if (raster_corners(mesh, t, v))
            draw_triangle(target, &vertices[v[0]], &vertices[v[1]], &vertices[v[2]], (uint32_t)t);
    }
}

/* ---- occlusion ---- */

static float noise_at(uint32_t column, uint32_t row)
{
    float wave = 0.06711056f * (float)column + 0.00583715f * (float)row;
    float tooth = 52.9829189f * (wave - floorf(wave));
    return tooth - floorf(tooth);
}

static float clampf(float x, float lower, float upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

static tml_vec3 pixel_point(const scene *s, uint32_t column, uint32_t row, float distance)
{
    float pixels = (float)(RENDER_SAMPLES / s->camera.scale) * distance;
    return (tml_vec3){((float)column + 0.5f - 0.5f * (float)s->desc->width) * pixels,
                      (0.5f * (float)s->desc->height - (float)row - 0.5f) * pixels, -distance};
}

/* Returns the greatest cosine between the direction to the viewer and to the points met along (dx,
 * dy) pixels; at least lowest, the cosine of the tangent plane. Points farther than half of reach
 * count less and less, and none beyond reach: they may be far in front. */
static float find_horizon(const scene *s, uint32_t column, uint32_t row, tml_vec3 point,
                          tml_vec3 to_viewer, float dx, float dy, float start, float reach,
                          float lowest)
{
    float horizon = lowest;
    for (int step = 0; step < STEPS; step++) {
        float along = ((float)step + start) / STEPS;
        along *= along; /* more steps close by */
        float x = (float)column + 0.5f + dx * along, y = (float)row + 0.5f + dy * along;
        if (x < 0 || y < 0 || x >= (float)s->desc->width || y >= (float)s->desc->height)
            break;
        uint32_t at_x = (uint32_t)x, at_y = (uint32_t)y;
        float depth = s->depths[(size_t)at_y * s->desc->width + at_x];
        if (depth <= 0 || (at_x == column && at_y == row))
            continue;
        tml_vec3 away = tml_sub3(pixel_point(s, at_x, at_y, depth), point);
        float along_view = tml_dot3(away, to_viewer), squared = tml_dot3(away, away);
        /* Most points are below the horizon or out of reach, so squares are compared first. */
        if (squared >= reach * reach ||
            along_view * fabsf(along_view) <= horizon * fabsf(horizon) * squared)
            continue;
        float length = sqrtf(squared);
        float weight = clampf(2 - 2 * length / reach, 0, 1);
        float raised = lowest + (along_view / length - lowest) * weight;
        horizon = raised > horizon ? raised : horizon;
    }
    return horizon;
}

/* Returns the cosine-weighted part of the sky that is free above a pixel. */
static float find_ambient(const scene *s, uint32_t column, uint32_t row, const pixel *p,
                          float noise)
{
    tml_vec3 point = pixel_point(s, column, row, p->depth);
    tml_vec3 to_viewer = tml_scale3(point, -1 / tml_length3(point));
    float reach = 0.16f * (float)s->detail;
    float pixels = reach * (float)s->camera.scale / RENDER_SAMPLES / p->depth;
    float start = noise_at(column + 37, row + 17); /* independent of the angle's noise */
    float sum = 0;

    for (int slice = 0; slice < SLICES; slice++) {
        float angle = ((float)slice + noise) * 2 * half_pi / SLICES;
        float cx = cosf(angle), cy = sinf(angle);
        tml_vec3 direction = {cx, cy, 0};
        tml_vec3 across =
            tml_sub3(direction, tml_scale3(to_viewer, tml_dot3(direction, to_viewer)));
        tml_vec3 axis = tml_cross3(direction, to_viewer);
        axis = tml_scale3(axis, 1 / tml_length3(axis));
        tml_vec3 normal = tml_sub3(p->normal, tml_scale3(axis, tml_dot3(p->normal, axis)));
        float length = tml_length3(normal);
        if (length < 1e-6f)
            continue;
        float cosine = clampf(tml_dot3(normal, to_viewer) / length, 0, 1);
        float lean = copysignf(acosf(cosine), tml_dot3(across, normal)), sine = sinf(lean);
        /* Rows count downwards, y upwards. */
        float ahead = find_horizon(s, column, row, point, to_viewer, cx * pixels, -cy * pixels,
                                   start, reach, -sine);
        float behind = find_horizon(s, column, row, point, to_viewer, -cx * pixels, cy * pixels,
                                    start, reach, sine);
        float h_behind = -acosf(clampf(behind, -1, 1)), h_ahead = acosf(clampf(ahead, -1, 1));
        h_behind = lean + clampf(h_behind - lean, -half_pi, half_pi);
        h_ahead = lean + clampf(h_ahead - lean, -half_pi, half_pi);
        float arcs = 2 * cosine + 2 * (h_behind + h_ahead) * sine - cosf(2 * h_behind - lean) -
                     cosf(2 * h_ahead - lean);
        sum += length * arcs / 4;
    }
    return clampf(sum / SLICES, 0, 1);
}

float plain_ambient(const scene *s, uint32_t column, uint32_t row)
{
    const pixel *p = &s->pixels[(size_t)row * s->desc->width + column];
    return p->depth > 0 ? find_ambient(s, column, row, p, noise_at(column, row)) : 1;
}

/* ---- colours ---- */

/* What the camera sees at a sample. */
typedef struct hit {
    tml_vec3 position; /* camera coordinates relative to the eye */
    tml_vec3 normal;   /* unit length, camera coordinates, towards the viewer */
    bool inner;        /* the surface is seen from its inside */
    uint64_t triangle;
    uint64_t corners[3];
    float weights[3];
    float edge;   /* distance to the nearest edge of the triangle, in pixels */
    float height; /* the triangle's least height, in pixels */
} hit;

static hit find_hit(const scene *s, size_t sample, float x, float y)
{
    hit h = {.triangle = s->target.triangles[sample], .edge = INFINITY};
    raster_corners(s->mesh, h.triangle, h.corners);
    h.position = render_point(&s->camera, x, y, s->target.depths[sample]);

    /* Weights in space are areas on the screen times depths. */
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
    /* At the outline a smooth normal may point away from the viewer: turn it back. */
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

/* Returns the strength of the line along the triangle's edges here, 0 to 1. Lines fade where
 * triangles are about as small as lines are wide; otherwise the surface would be all line. */
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
    if (h.inner) /* the inside is duller and darker than the outside */
        albedo = tml_scale3(mix(albedo, DULL_COLOR, 0.35f), 0.75f);

    float sky = 0.5f + 0.5f * tml_dot3(h.normal, s->up);
    tml_vec3 light = tml_scale3(mix(GROUND_COLOR, SKY_COLOR, sky), seen.ambient);
    float key_cosine = fmaxf(tml_dot3(h.normal, s->key), 0) * seen.key;
    light = tml_add3(light, tml_scale3(KEY_COLOR, key_cosine));
    float fill_cosine = fmaxf(tml_dot3(h.normal, FILL_FROM), 0);
    light = tml_add3(light, tml_scale3(FILL_COLOR, fill_cosine * seen.ambient));
    float edge = 1 - fmaxf(tml_dot3(h.normal, to_viewer), 0);
    float rim = fmaxf(tml_dot3(h.normal, RIM_FROM), 0) * edge * edge * seen.ambient;
    light = tml_add3(light, tml_scale3(RIM_COLOR, rim));

    float fresnel = edge * edge * edge * edge * edge;
    float shine = GLOSS * (highlight(h.normal, s->key, to_viewer) * seen.key +
                           0.3f * highlight(h.normal, FILL_FROM, to_viewer) * seen.ambient) +
                  0.10f * fresnel * sky * seen.ambient;
    return tml_add3(multiply(albedo, light), tml_scale3(KEY_COLOR, shine));
}

/* Compresses light brighter than paper instead of clipping it (Reinhard's curve with a white
 * point). */
static float tone(float light)
{
    const float white = WHITE_POINT;
    return light * (1 + light / (white * white)) / (1 + 0.55f * light);
}

static tml_vec3 background(const scene *s, uint32_t column, uint32_t row)
{
    float x = 2 * ((float)column + 0.5f) / (float)s->desc->width - 1;
    float y = 2 * ((float)row + 0.5f) / (float)s->desc->height - 1;
    float far = fminf((x * x + (y + 0.25f) * (y + 0.25f)) / 2.2f, 1);
    float grey = BACKGROUND_CENTRE + far * (BACKGROUND_CORNER - BACKGROUND_CENTRE);
    /* A shadow that runs out of the picture fades before its edge. */
    float inside = fminf(6 * (1 - fmaxf(fabsf(x), fabsf(y))), 1);
    float shadow = 1 - s->floor_light[(size_t)row * s->desc->width + column];
    float light = color_to_linear(grey) * (1 - FLOOR_SHADE * inside * shadow);
    return (tml_vec3){light * 0.982f, light * 0.994f, light};
}

static uint8_t to_byte(float light)
{
    float level = color_to_srgb(fminf(fmaxf(light, 0), 1));
    return (uint8_t)(255 * level + 0.5f);
}

/* Returns the light of the pixel, among this one and its neighbours, whose depth is nearest to the
 * sample's. Behind an outline, a sample may belong to another surface than its pixel. */
static visibility visibility_at(const scene *s, uint32_t column, uint32_t row, float sample_depth)
{
    float depth = (float)s->camera.depth_unit / sample_depth;
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

/* Mixes the colour of what glows into color: more of it if it shines through from behind the
 * surface, less if it is on the surface. */
static tml_vec3 add_glow(const scene *s, float depth, float glow, tml_vec3 color)
{
    if (!(glow > 0))
        return color;
    const float *lit = s->desc->lit_color;
    float hidden = glow < depth * (1 - 1e-5f) ? 0.6f : 0.35f;
    return mix(color, srgb(lit[0], lit[1], lit[2]), hidden);
}

static tml_vec3 color_sample(const scene *s, uint32_t column, uint32_t row, uint32_t sx,
                             uint32_t sy, tml_vec3 behind)
{
    size_t sample = (size_t)sy * s->target.stride + sx;
    float depth = s->target.depths[sample];
    if (!(depth > 0))
        return behind;
    hit h = find_hit(s, sample, (float)sx + 0.5f, (float)sy + 0.5f);
    tml_vec3 color = shade(s, h, visibility_at(s, column, row, depth));
    color = (tml_vec3){tone(color.x), tone(color.y), tone(color.z)};
    return s->glow.depths ? add_glow(s, depth, s->glow.depths[sample], color) : color;
}

void plain_color(const scene *s, uint32_t column, uint32_t row, uint8_t rgb[3])
{
    tml_vec3 sum = {0, 0, 0}, behind = background(s, column, row);
    for (uint32_t i = 0; i < RENDER_SAMPLES * RENDER_SAMPLES; i++)
        sum =
            tml_add3(sum, color_sample(s, column, row, column * RENDER_SAMPLES + i % RENDER_SAMPLES,
                                       row * RENDER_SAMPLES + i / RENDER_SAMPLES, behind));
    sum = tml_scale3(sum, 1.0f / (RENDER_SAMPLES * RENDER_SAMPLES));
    rgb[0] = to_byte(sum.x);
    rgb[1] = to_byte(sum.y);
    rgb[2] = to_byte(sum.z);
}
