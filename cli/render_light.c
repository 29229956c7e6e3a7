/* Light that depends on what else is there, worked out a pixel: ambient occlusion from the depths of
 * the neighbourhood, the key light through the shadow map, and the mesh's shadow on a floor.
 *
 * Occlusion: Jimenez, Wu, Pesce, Jarabo: Practical Realtime Strategies for Accurate Indirect
 * Occlusion. 2016 (horizons in slices of the view, integrated with the cosine). Shadows: Reeves,
 * Salesin, Cook: Rendering Antialiased Shadows with Depth Maps. 1987, on a Vogel spiral, with the
 * receiver's plane as bias. Both turn their samples by Jimenez' interleaved gradient noise and are
 * smoothed across pixels of like depth and normal. */
#include <math.h>
#include <string.h>

#include "render_internal.h"

enum { SLICES = 3, STEPS = 6, SHADOW_TAPS = 16, FLOOR_TAPS = 12, SMOOTH_RADIUS = 2 };
static const float occlusion_reach = 0.16f; /* of the extent that is seen */
static const float shadow_blur = 0.010f;    /* radius of the light's disc, of the extent */
static const float floor_blur = 0.022f;
static const float half_pi = 1.57079632679f;
enum { SHADOW_TILE = RENDER_SHADOW_SIDE / RENDER_SHADOW_TILES, SHADOW_TILES = RENDER_SHADOW_TILES };

static float noise_at(uint32_t column, uint32_t row)
{
    float wave = 0.06711056f * (float)column + 0.00583715f * (float)row;
    float tooth = 52.9829189f * (wave - floorf(wave));
    return tooth - floorf(tooth);
}

/* The library's fmaxf is a call. */
static float maxf(float a, float b)
{
    return a > b ? a : b;
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

/* ---- ambient occlusion ----------------------------------------------------------------------- */

/* The highest cosine towards the viewer met along (dx, dy) pixels a step, from the cosine of the
 * tangent plane upwards. What lies beyond reach counts less and less: it may be far in front. */
static float find_horizon(const scene *s, uint32_t column, uint32_t row, tml_vec3 point,
                          tml_vec3 to_viewer, float dx, float dy, float start, float reach,
                          float lowest)
{
    float horizon = lowest;
    for (int step = 0; step < STEPS; step++) {
        float along = ((float)step + start) / STEPS;
        along *= along; /* close by, more is to be seen */
        float x = (float)column + 0.5f + dx * along, y = (float)row + 0.5f + dy * along;
        if (x < 0 || y < 0 || x >= (float)s->desc->width || y >= (float)s->desc->height)
            break;
        uint32_t at_x = (uint32_t)x, at_y = (uint32_t)y;
        float depth = s->depths[(size_t)at_y * s->desc->width + at_x];
        if (depth <= 0 || (at_x == column && at_y == row))
            continue;
        tml_vec3 away = tml_sub3(pixel_point(s, at_x, at_y, depth), point);
        float along_view = tml_dot3(away, to_viewer), squared = tml_dot3(away, away);
        /* Most lie below the horizon or out of reach: cosine and distance are compared by their squares. */
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

/* The cosine-weighted part of the sky that is free above a pixel. */
static float find_ambient(const scene *s, uint32_t column, uint32_t row, const pixel *p,
                          float noise)
{
    tml_vec3 point = pixel_point(s, column, row, p->depth);
    tml_vec3 to_viewer = tml_scale3(point, -1 / tml_length3(point));
    float reach = occlusion_reach * (float)s->detail;
    float pixels = reach * (float)s->camera.scale / RENDER_SAMPLES / p->depth;
    float start = noise_at(column + 37, row + 17); /* not in step with the angle's noise */
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

/* ---- key light ------------------------------------------------------------------------------- */

/* Camera coordinates relative to the eye, as a position on the shadow map and its depth. */
static tml_vec3 to_light(const scene *s, tml_vec3 p)
{
    const double c[3] = {p.x + s->camera.offset[0], p.y + s->camera.offset[1],
                         p.z + s->camera.offset[2]};
    double world[3], l[3];
    for (int i = 0; i < 3; i++)
        world[i] =
            c[0] * s->camera.axes[0][i] + c[1] * s->camera.axes[1][i] + c[2] * s->camera.axes[2][i];
    render_project(&s->light, world, &l[0], &l[1], &l[2]);
    return (tml_vec3){(float)l[0], (float)l[1], (float)l[2]};
}

/* Points of a Vogel spiral in the unit disc. */
typedef struct light_taps {
    int count;
    float x[SHADOW_TAPS], y[SHADOW_TAPS];
} light_taps;

static light_taps make_taps(int count)
{
    const float golden_angle = 2.39996323f;
    light_taps taps = {.count = count};
    for (int tap = 0; tap < count; tap++) {
        float angle = golden_angle * (float)tap;
        float distance = sqrtf(((float)tap + 0.5f) / (float)count);
        taps.x[tap] = distance * cosf(angle);
        taps.y[tap] = distance * sinf(angle);
    }
    return taps;
}

/* The tile of the shadow map that a coordinate lies in; the nearest one to what is outside, 0 for NaN. */
static uint32_t tile_of(float texels)
{
    return (uint32_t)clampf(maxf(texels / SHADOW_TILE, 0), 0, SHADOW_TILES - 1);
}

/* True where even the nearest texels of all tiles under a disc are no nearer to the light than lowest: most
 * discs lie far from a shadow's edge. */
static bool is_disc_lit(const scene *s, float x, float y, float radius, float lowest)
{
    uint32_t left = tile_of(x - radius), right = tile_of(x + radius);
    uint32_t top = tile_of(y - radius), bottom = tile_of(y + radius);
    for (uint32_t row = top; row <= bottom; row++)
        for (uint32_t column = left; column <= right; column++)
            if (!(s->shadow_tiles[row * SHADOW_TILES + column] <= lowest))
                return false;
    return true;
}

/* The greatest depth of each tile; 0 where nothing is. */
static void find_tile(void *argument, uint32_t row)
{
    scene *s = argument;
    for (uint32_t column = 0; column < SHADOW_TILES; column++) {
        uint64_t nearest = 0;
        for (uint32_t y = row * SHADOW_TILE; y < (row + 1) * SHADOW_TILE; y++) {
            const _Atomic uint64_t *keys = s->shadow.keys + (size_t)y * s->shadow.width;
            for (uint32_t x = column * SHADOW_TILE; x < (column + 1) * SHADOW_TILE; x++) {
                uint64_t key = atomic_load_explicit(&keys[x], memory_order_relaxed);
                nearest = key > nearest ? key : nearest;
            }
        }
        s->shadow_tiles[row * SHADOW_TILES + column] = raster_depth(nearest);
    }
}

/* How much of a disc of the shadow map, radius in world units, is not nearer to the light than the
 * plane through p. slope: change of depth a sample in x and y on that plane. */
static float find_lit(const scene *s, tml_vec3 p, float slope_x, float slope_y, float bias,
                      float radius, const light_taps *taps, float noise)
{
    tml_vec3 centre = to_light(s, p);
    float spread = radius * (float)s->light.scale;
    float lowest = centre.z + bias - spread * (fabsf(slope_x) + fabsf(slope_y));
    if (is_disc_lit(s, centre.x, centre.y, spread, lowest))
        return 1;
    float cosine = spread * cosf(4 * half_pi * noise), sine = spread * sinf(4 * half_pi * noise);
    int lit = 0;
    for (int tap = 0; tap < taps->count; tap++) {
        float dx = cosine * taps->x[tap] - sine * taps->y[tap];
        float dy = sine * taps->x[tap] + cosine * taps->y[tap];
        float x = centre.x + dx, y = centre.y + dy;
        if (!(x >= 0 && y >= 0 && x < (float)s->shadow.width && y < (float)s->shadow.height)) {
            lit++;
            continue;
        }
        uint64_t key = s->shadow.keys[(size_t)(uint32_t)y * s->shadow.width + (uint32_t)x];
        lit += raster_depth(key) <= centre.z + slope_x * dx + slope_y * dy + bias;
    }
    return (float)lit / (float)taps->count;
}

static float find_key(const scene *s, uint32_t column, uint32_t row, const pixel *p, float noise,
                      const light_taps *taps)
{
    float cosine = tml_dot3(p->normal, s->key);
    if (cosine <= 0.01f)
        return 1; /* turned away: the cosine darkens it already */
    tml_vec3 point = pixel_point(s, column, row, p->depth);
    float texel = 1 / (float)s->light.scale;

    /* The plane z = -(nx x + ny y) / nz in light axes, in the shadow map's units; y points down. */
    tml_vec3 right = {0, 0, 0}, up = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        float x = (float)s->light.axes[0][c], y = (float)s->light.axes[1][c];
        tml_vec3 axis = {(float)s->camera.axes[0][c], (float)s->camera.axes[1][c],
                         (float)s->camera.axes[2][c]};
        right = tml_add3(right, tml_scale3(axis, x));
        up = tml_add3(up, tml_scale3(axis, y));
    }
    float unit = texel / (float)s->light.depth_unit;
    float slope_x = clampf(-tml_dot3(p->normal, right) / cosine, -4, 4) * unit;
    float slope_y = clampf(tml_dot3(p->normal, up) / cosine, -4, 4) * unit;
    tml_vec3 lifted = tml_add3(point, tml_scale3(p->normal, 1.5f * texel));
    float radius = shadow_blur * (float)s->extent;
    float bias = (2 * texel + 0.15f * radius) / (float)s->light.depth_unit;
    return find_lit(s, lifted, slope_x, slope_y, bias, radius, taps, noise);
}

static void find_visibility(scene *s, uint32_t first, uint32_t last)
{
    const light_taps taps = make_taps(SHADOW_TAPS);
    for (uint32_t row = first; row < last; row++) {
        for (uint32_t column = 0; column < s->desc->width; column++) {
            size_t at = (size_t)row * s->desc->width + column;
            const pixel *p = &s->pixels[at];
            visibility seen = {1, 1};
            if (p->depth > 0) {
                float noise = noise_at(column, row);
                seen.ambient = find_ambient(s, column, row, p, noise);
                seen.key = find_key(s, column, row, p, noise, &taps);
            }
            s->unsmoothed[at] = seen;
        }
    }
}

/* Averages over neighbours of the same surface: the noise goes, the edges stay. */
static void smooth_visibility(scene *s, uint32_t first, uint32_t last)
{
    const int32_t width = (int32_t)s->desc->width, height = (int32_t)s->desc->height;
    const float depth_scale = 1 / (0.01f * (float)s->detail);
    for (int32_t row = (int32_t)first; row < (int32_t)last; row++) {
        for (int32_t column = 0; column < width; column++) {
            const pixel *p = &s->pixels[(size_t)row * (size_t)width + (size_t)column];
            float ambient = 0, key = 0, weights = 0;
            if (p->depth <= 0)
                continue;
            for (int32_t dy = -SMOOTH_RADIUS; dy <= SMOOTH_RADIUS; dy++) {
                for (int32_t dx = -SMOOTH_RADIUS; dx <= SMOOTH_RADIUS; dx++) {
                    int32_t x = column + dx, y = row + dy;
                    if (x < 0 || y < 0 || x >= width || y >= height)
                        continue;
                    size_t at = (size_t)y * (size_t)width + (size_t)x;
                    const pixel *other = &s->pixels[at];
                    float apart = fabsf(other->depth - p->depth) * depth_scale;
                    float alike = maxf(tml_dot3(other->normal, p->normal), 0);
                    float weight = maxf(1 - apart, 0) * alike * alike * alike * alike + 1e-6f;
                    if (other->depth <= 0)
                        continue;
                    ambient += weight * s->unsmoothed[at].ambient;
                    key += weight * s->unsmoothed[at].key;
                    weights += weight;
                }
            }
            s->visible[(size_t)row * (size_t)width + (size_t)column] =
                (visibility){ambient / weights, key / weights};
        }
    }
}

/* ---- floor ----------------------------------------------------------------------------------- */

/* The floor is the horizontal plane through the mesh's lowest point. It shows only its shadow, also
 * under the mesh's own pixels, so that the blur finds it there. */
static void find_floor_light(scene *s, uint32_t first, uint32_t last)
{
    const light_taps taps = make_taps(FLOOR_TAPS);
    const double *eye = s->camera.offset;
    float eye_height = (float)(s->up.x * eye[0] + s->up.y * eye[1] + s->up.z * eye[2] - s->floor);
    for (uint32_t row = first; row < last; row++) {
        for (uint32_t column = 0; column < s->desc->width; column++) {
            tml_vec3 ray = pixel_point(s, column, row, 1);
            float fall = -tml_dot3(ray, s->up);
            float distance = fall > 0 ? eye_height / fall : -1;
            if (!(distance > 0))
                continue;
            tml_vec3 p = tml_scale3(ray, distance);
            float lit = find_lit(s, p, 0, 0, 1e-3f, floor_blur * (float)s->extent, &taps,
                                 noise_at(column, row));
            s->floor_light[(size_t)row * s->desc->width + column] = lit;
        }
    }
}

/* One direction of a blur by a running mean; three runs of each come close to Gauss' bell. */
static void blur_line(float *line, size_t count, size_t step, size_t radius, float *copy)
{
    float sum = 0;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        copy[i] = line[i * step];
    for (size_t i = 0; i <= 2 * radius; i++) /* beyond the ends the end values go on */
        sum += copy[i < radius ? 0 : i - radius < count ? i - radius : count - 1];
    for (size_t i = 0; i < count; i++) {
        line[i * step] = sum / (float)(2 * radius + 1);
        size_t leaving = i < radius ? 0 : i - radius;
        size_t entering = i + radius + 1 < count ? i + radius + 1 : count - 1;
        sum += copy[entering] - copy[leaving];
    }
}

static void blur_floor(scene *s)
{
    size_t width = s->desc->width, height = s->desc->height;
    size_t radius = (width + height) / 400 + 1;
    float copy[RENDER_MAX_SIDE];
    for (int run = 0; run < 3; run++) {
        for (size_t row = 0; row < height; row++)
            blur_line(s->floor_light + row * width, width, 1, radius, copy);
        for (size_t column = 0; column < width; column++)
            blur_line(s->floor_light + column, height, width, radius, copy);
    }
}

bool render_visibility(scene *s, double from, double to)
{
    double most = from + 0.7 * (to - from), rest = from + 0.85 * (to - from);
    tml_parallel_for(s->tml, SHADOW_TILES, find_tile, s);
    if (!render_rows(s, find_visibility, "light", from, most) ||
        !render_rows(s, smooth_visibility, "light", most, rest) ||
        !render_rows(s, find_floor_light, "floor", rest, to))
        return false;
    blur_floor(s);
    return true;
}
