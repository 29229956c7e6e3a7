/* Light that depends on other parts of the mesh, computed per pixel: ambient occlusion, from the
 * depths of the neighbourhood; the key light, by the shadow map; and the mesh's shadow on a floor.
 *
 * Occlusion: Jimenez, Wu, Pesce, Jarabo: Practical Realtime Strategies for Accurate Indirect
 * Occlusion. 2016 (horizons in slices of the view, integrated with the cosine). Shadows: Reeves,
 * Salesin, Cook: Rendering Antialiased Shadows with Depth Maps. 1987, on a Vogel spiral, with the
 * receiver's plane as bias. Both rotate their samples by Jimenez' interleaved gradient noise, and
 * are smoothed across pixels of similar depth and normal. */
#include <math.h>
#include <string.h>

#include "draw/lanes.h"
#include "draw/render_internal.h"

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

/* LANES pixels side by side, as occlusion sees them. */
typedef struct ambient_lanes {
    lanes_int column, row;
    lanes_float x, y; /* of their centres on the picture, in pixels */
    lanes_vec3 point, normal, to_viewer;
    lanes_float along[STEPS]; /* the position of each step along the way, 0 ... 1 */
    float unit;               /* of a pixel at distance 1 */
    float reach;
} ambient_lanes;

/* Depths at pixels that lie inside; 0 elsewhere. */
static lanes_float gather_depths(const scene *s, lanes_int column, lanes_int row, lanes_int inside)
{
    lanes_float depth = {0};
    for (int lane = 0; lane < LANES; lane++) {
        size_t at = (size_t)row[lane] * s->desc->width + (size_t)column[lane];
        depth[lane] = s->depths[inside[lane] ? at : 0];
    }
    return lanes_select(inside, depth, lanes_of(0));
}

/* The largest cosine with the direction to the viewer that occurs along (dx, dy) pixels, at least
 * that of the tangent plane. The influence of points fades with distance, up to reach: they may lie
 * far in front. */
static lanes_float find_horizon(const scene *s, const ambient_lanes *p, lanes_float dx,
                                lanes_float dy, lanes_float lowest)
{
    const float width = (float)s->desc->width, height = (float)s->desc->height;
    lanes_float horizon = lowest;
    for (int step = 0; step < STEPS; step++) {
        lanes_float x = p->x + dx * p->along[step], y = p->y + dy * p->along[step];
        lanes_int inside = (x >= 0) & (y >= 0) & (x < width) & (y < height);
        lanes_int column = __builtin_convertvector(lanes_select(inside, x, lanes_of(0)), lanes_int);
        lanes_int row = __builtin_convertvector(lanes_select(inside, y, lanes_of(0)), lanes_int);
        lanes_float depth = gather_depths(s, column, row, inside), unit = depth * p->unit;
        lanes_float across = __builtin_convertvector(column, lanes_float) + (0.5f - 0.5f * width);
        lanes_float up = (0.5f * height - 0.5f) - __builtin_convertvector(row, lanes_float);
        lanes_vec3 away = lanes_sub3((lanes_vec3){across * unit, up * unit, -depth}, p->point);
        lanes_int seen = (depth > 0) & ~((column == p->column) & (row == p->row));
        lanes_float length = lanes_sqrt(lanes_dot3(away, away));
        lanes_float weight = lanes_clamp(2 - length * (2 / p->reach), 0, 1);
        lanes_float cosine = lanes_dot3(away, p->to_viewer) / length;
        lanes_float raised = lowest + (cosine - lowest) * weight;
        horizon = lanes_select(seen & (raised > horizon), raised, horizon);
    }
    return horizon;
}

/* Twice the cosine-weighted fraction of the arc from the normal to a horizon. side: 1 or -1, the
 * side of the horizon. cosine, sine: of the angle between the normal and the direction to the
 * viewer. */
static lanes_float find_arc(lanes_float horizon, float side, lanes_float cosine, lanes_float sine)
{
    lanes_float h = lanes_clamp(horizon, -1, 1);
    lanes_float away = side * lanes_sqrt(1 - h * h); /* the sine */
    return cosine + 2 * side * lanes_acos(h) * sine -
           ((2 * h * h - 1) * cosine + 2 * h * away * sine);
}

/* The cosine-weighted fraction of the sky that is unoccluded above each pixel. cosines, sines: of
 * the slices' angles. */
static lanes_float find_ambient(const scene *s, const ambient_lanes *p, const float *cosines,
                                const float *sines)
{
    lanes_float pixels = p->reach * (float)s->camera.scale / RENDER_SAMPLES / -p->point.z;
    lanes_float sum = lanes_of(0);
    for (int slice = 0; slice < SLICES; slice++) {
        lanes_vec3 d = {
            lanes_load(cosines + LANES * slice), lanes_load(sines + LANES * slice), {0}};
        lanes_vec3 v = p->to_viewer, n = p->normal;
        lanes_vec3 across = lanes_sub3(d, lanes_scale3(v, lanes_dot3(d, v)));
        lanes_vec3 axis = {d.y * v.z, -d.x * v.z, d.x * v.y - d.y * v.x};
        axis = lanes_scale3(axis, 1 / lanes_sqrt(lanes_dot3(axis, axis)));
        n = lanes_sub3(n, lanes_scale3(axis, lanes_dot3(n, axis)));
        lanes_float length = lanes_sqrt(lanes_dot3(n, n));
        lanes_float cosine = lanes_clamp(lanes_dot3(n, v) / length, 0, 1);
        lanes_float sine = lanes_copysign(lanes_sqrt(1 - cosine * cosine), lanes_dot3(across, n));
        /* Rows count downwards, y upwards. */
        lanes_float dx = d.x * pixels, dy = d.y * pixels;
        lanes_float ahead = find_horizon(s, p, dx, -dy, -sine);
        lanes_float behind = find_horizon(s, p, -dx, dy, sine);
        lanes_float arcs = find_arc(ahead, 1, cosine, sine) + find_arc(behind, -1, cosine, sine);
        sum += lanes_select(length > 1e-6f, length * arcs / 4, lanes_of(0));
    }
    return lanes_clamp(sum / SLICES, 0, 1);
}

/* Ambient light of a row; 1 for background. */
static void find_row_ambient(const scene *s, uint32_t row, float *ambient)
{
    const uint32_t width = s->desc->width;
    ambient_lanes p = {.unit = (float)(RENDER_SAMPLES / s->camera.scale),
                       .reach = occlusion_reach * (float)s->detail,
                       .row = (lanes_int){0} + (int32_t)row};
    p.y = lanes_of((float)row + 0.5f);
    for (uint32_t first = 0; first < width; first += LANES) {
        float cosines[SLICES * LANES], sines[SLICES * LANES];
        lanes_int covered = {0};
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t column = first + lane < width ? first + lane : width - 1;
            const pixel *from = &s->pixels[(size_t)row * width + column];
            covered[lane] = -(from->depth > 0);
            tml_vec3 point = pixel_point(s, column, row, covered[lane] ? from->depth : 1);
            p.column[lane] = (int32_t)column;
            p.x[lane] = (float)column + 0.5f;
            p.point.x[lane] = point.x;
            p.point.y[lane] = point.y;
            p.point.z[lane] = point.z;
            p.normal.x[lane] = from->normal.x;
            p.normal.y[lane] = from->normal.y;
            p.normal.z[lane] = from->normal.z;
        }
        lanes_store(ambient + first, lanes_of(1));
        if (!lanes_any(covered))
            continue;
        for (uint32_t lane = 0; lane < LANES; lane++) {
            float angle = noise_at(first + lane, row) * (2 * half_pi / SLICES);
            float start =
                noise_at(first + lane + 37, row + 17); /* not in step with the angle's noise */
            float c = cosf(angle), sine = sinf(angle);
            for (int slice = 0; slice < SLICES; slice++) {
                static const float turns[SLICES][2] = {
                    {1, 0}, {0.5f, 0.866025404f}, {-0.5f, 0.866025404f}};
                const float ct = turns[slice][0], st = turns[slice][1];
                cosines[LANES * slice + (int)lane] = c * ct - sine * st;
                sines[LANES * slice + (int)lane] = sine * ct + c * st;
            }
            for (int step = 0; step < STEPS; step++) {
                float along = ((float)step + start) / STEPS;
                p.along[step][lane] = along * along; /* close by, more is to be seen */
            }
        }
        p.to_viewer = lanes_scale3(p.point, -1 / lanes_sqrt(lanes_dot3(p.point, p.point)));
        lanes_float free = find_ambient(s, &p, cosines, sines);
        lanes_store(ambient + first, lanes_select(covered, free, lanes_of(1)));
    }
}

/* ---- key light ------------------------------------------------------------------------------- */

/* Computes the map from camera coordinates relative to the eye to the shadow map. */
static void aim_shadow(scene *s)
{
    const view *camera = &s->camera, *light = &s->light;
    const double scales[3] = {light->scale, -light->scale, 1 / light->depth_unit};
    const double starts[3] = {light->width / 2.0, light->height / 2.0, 1};
    for (int i = 0; i < 3; i++) {
        double start = starts[i] - scales[i] * light->offset[i];
        for (int j = 0; j < 3; j++) {
            double along = 0;
            for (int k = 0; k < 3; k++)
                along += light->axes[i][k] * camera->axes[j][k];
            start += scales[i] * along * camera->offset[j];
            s->to_light[i][j] = (float)(scales[i] * along);
        }
        s->to_light[i][3] = (float)start;
    }
}

/* Converts camera coordinates relative to the eye to a position on the shadow map and its depth. */
static tml_vec3 to_light(const scene *s, tml_vec3 p)
{
    float l[3];
    for (int i = 0; i < 3; i++) {
        const float *m = s->to_light[i];
        l[i] = m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3];
    }
    return (tml_vec3){l[0], l[1], l[2]};
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

/* The tile of the shadow map that contains a coordinate. Coordinates outside are clamped; 0 for
 * NaN. */
static uint32_t tile_of(float texels)
{
    return (uint32_t)clampf(maxf(texels / SHADOW_TILE, 0), 0, SHADOW_TILES - 1);
}

/* True if no texel of the tiles under a disc is nearer to the light than lowest. This decides most
 * discs, which are far from a shadow's edge. */
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
        float nearest = 0;
        for (uint32_t y = row * SHADOW_TILE; y < (row + 1) * SHADOW_TILE; y++) {
            const float *depths = s->shadow.depths + (size_t)y * s->shadow.stride;
            for (uint32_t x = column * SHADOW_TILE; x < (column + 1) * SHADOW_TILE; x++)
                nearest = maxf(nearest, depths[x]);
        }
        s->shadow_tiles[row * SHADOW_TILES + column] = nearest;
    }
}

/* The fraction of a disc of the shadow map that is not nearer to the light than the plane through
 * p. radius: in world units. slope_x, slope_y: the plane's change of depth per texel. */
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
        float depth = s->shadow.depths[(size_t)(uint32_t)y * s->shadow.stride + (uint32_t)x];
        lit += depth <= centre.z + slope_x * dx + slope_y * dy + bias;
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

    /* The plane z = -(nx x + ny y) / nz in the light's axes, in the shadow map's units; y points
     * down. */
    tml_vec3 right = {s->to_light[0][0], s->to_light[0][1], s->to_light[0][2]};
    tml_vec3 down = {s->to_light[1][0], s->to_light[1][1], s->to_light[1][2]};
    float unit = texel / (float)s->light.depth_unit;
    float slope_x = clampf(-tml_dot3(p->normal, right) * texel / cosine, -4, 4) * unit;
    float slope_y = clampf(-tml_dot3(p->normal, down) * texel / cosine, -4, 4) * unit;
    tml_vec3 lifted = tml_add3(point, tml_scale3(p->normal, 1.5f * texel));
    float radius = shadow_blur * (float)s->extent;
    float bias = (2 * texel + 0.15f * radius) / (float)s->light.depth_unit;
    return find_lit(s, lifted, slope_x, slope_y, bias, radius, taps, noise);
}

static void find_visibility(scene *s, uint32_t first, uint32_t last)
{
    const light_taps taps = make_taps(SHADOW_TAPS);
    float ambient[RENDER_MAX_SIDE + LANES];
    for (uint32_t row = first; row < last; row++) {
        find_row_ambient(s, row, ambient);
        for (uint32_t column = 0; column < s->desc->width; column++) {
            size_t at = (size_t)row * s->desc->width + column;
            const pixel *p = &s->pixels[at];
            visibility seen = {ambient[column], 1};
            if (p->depth > 0)
                seen.key = find_key(s, column, row, p, noise_at(column, row), &taps);
            s->unsmoothed[at] = seen;
        }
    }
}

/* Averages over neighbours of the same surface, which removes the noise and keeps the edges. */
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

/* The floor is the horizontal plane through the mesh's lowest point. Only its shadow is visible.
 * The shadow is also computed for pixels that the mesh covers, because the blur reads them. */
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

/* One direction of a blur by a running mean; three runs of each direction approximate a Gaussian.
 * Blurs `lines` lines that are `across` apart; each has count values that are step apart. copy:
 * room for count * BLUR_LINES values. */
static void blur_lines(float *first, uint32_t lines, size_t across, size_t count, size_t step,
                       size_t radius, float *copy)
{
    float sums[BLUR_LINES] = {0};
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < lines; k++)
            copy[i * BLUR_LINES + k] = first[i * step + k * across];
    for (size_t i = 0; i <= 2 * radius; i++) { /* beyond the ends, the end values repeat */
        size_t at = i < radius ? 0 : i - radius < count ? i - radius : count - 1;
        for (uint32_t k = 0; k < lines; k++)
            sums[k] += copy[at * BLUR_LINES + k];
    }
    for (size_t i = 0; i < count; i++) {
        const float *leaving = copy + (i < radius ? 0 : i - radius) * BLUR_LINES;
        const float *entering =
            copy + (i + radius + 1 < count ? i + radius + 1 : count - 1) * BLUR_LINES;
        for (uint32_t k = 0; k < lines; k++) {
            first[i * step + k * across] = sums[k] / (float)(2 * radius + 1);
            sums[k] += entering[k] - leaving[k];
        }
    }
}

typedef struct blur_job {
    scene *s;
    bool is_down;
    size_t size; /* of the scratch memory of a task, in floats */
    float *copies;
} blur_job;

static void blur_some(void *argument, uint32_t index)
{
    const blur_job *job = argument;
    const size_t width = job->s->desc->width, height = job->s->desc->height;
    const size_t radius = (width + height) / 400 + 1, first = (size_t)index * BLUR_LINES;
    size_t count = job->is_down ? width : height; /* of lines */
    uint32_t lines = count - first < BLUR_LINES ? (uint32_t)(count - first) : BLUR_LINES;
    float *copy = job->copies + index * job->size;
    if (job->is_down)
        blur_lines(job->s->floor_light + first, lines, 1, height, width, radius, copy);
    else
        blur_lines(job->s->floor_light + first * width, lines, width, width, 1, radius, copy);
}

static void blur_floor(scene *s)
{
    const uint32_t width = s->desc->width, height = s->desc->height;
    for (int run = 0; run < 6; run++) {
        bool is_down = run % 2 == 1;
        uint32_t lines = is_down ? width : height, length = is_down ? height : width;
        uint32_t tasks = (lines + BLUR_LINES - 1) / BLUR_LINES;
        blur_job job = {s, is_down, (size_t)length * BLUR_LINES, s->blur};
        tml_parallel_for(s->tml, tasks, blur_some, &job);
    }
}

bool render_visibility(scene *s, double from, double to)
{
    double most = from + 0.7 * (to - from), rest = from + 0.85 * (to - from);
    aim_shadow(s);
    tml_parallel_for(s->tml, SHADOW_TILES, find_tile, s);
    if (!render_rows(s, find_visibility, "light", from, most) ||
        !render_rows(s, smooth_visibility, "light", most, rest) ||
        !render_rows(s, find_floor_light, "floor", rest, to))
        return false;
    blur_floor(s);
    return true;
}
