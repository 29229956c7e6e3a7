/* The visible surface at each sample, and its colour: LANES samples at a time, of one pixel or of
 * several.
 *
 * A triangle covers many samples. The data that they share, a facet, is computed once and kept in a
 * small cache, so the cost of shading depends on the picture's size, not the mesh's. */
#include <math.h>
#include <string.h>

#include "draw/color.h"
#include "draw/lanes.h"
#include "draw/render_internal.h"
#include "draw/render_look.h"

enum { N = RENDER_SAMPLES, PIXEL_SAMPLES = N * N, FACETS = 256, BATCH_PIXELS = 64 };

/* ---- vectors --------------------------------------------------------------------------------- */

static lanes_vec3 lanes_vec3_of(tml_vec3 v)
{
    return (lanes_vec3){lanes_of(v.x), lanes_of(v.y), lanes_of(v.z)};
}

static lanes_vec3 lanes_select3(lanes_int which, lanes_vec3 a, lanes_vec3 b)
{
    return (lanes_vec3){lanes_select(which, a.x, b.x), lanes_select(which, a.y, b.y),
                        lanes_select(which, a.z, b.z)};
}

static lanes_vec3 lanes_unit(lanes_vec3 v, lanes_vec3 otherwise)
{
    lanes_float length = lanes_sqrt(lanes_dot3(v, v));
    return lanes_select3((length > 0) & (length < INFINITY), lanes_scale3(v, 1 / length),
                         otherwise);
}

static lanes_vec3 lanes_mix(lanes_vec3 a, lanes_vec3 b, lanes_float t)
{
    return lanes_add3(lanes_scale3(a, 1 - t), lanes_scale3(b, t));
}

/* ---- facets ---------------------------------------------------------------------------------- */

typedef struct facet {
    uint64_t triangle;
    bool is_set;
    uint64_t corners[3];
    double weights[3][3]; /* of each corner, not yet divided by their sum: a + b x + c y */
    tml_vec3 normals[3];  /* at the corners, in camera coordinates; 0 if there is none */
    tml_vec3 face;
    float edge_scale
        [3];      /* from a barycentric weight to the distance of the opposite edge, in pixels */
    float height; /* the triangle's least, in pixels */
} facet;

typedef struct facet_cache {
    facet facets[FACETS];
} facet_cache;

static tml_vec3 rotate(const double axes[3][3], tml_vec3 v)
{
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = axes[i][0] * (double)v.x + axes[i][1] * (double)v.y + axes[i][2] * (double)v.z;
    return (tml_vec3){(float)r[0], (float)r[1], (float)r[2]};
}

/* Areas on the screen times depth give weights in space. */
static void find_weights(const scene *s, facet *f)
{
    const raster_vertex *v[3];
    double total = 0, longest = 0;
    for (int c = 0; c < 3; c++)
        v[c] = &s->vertices[f->corners[c]];
    double sign =
        (double)((int64_t)v[1]->x - v[0]->x) * (double)((int64_t)v[2]->y - v[0]->y) <
                (double)((int64_t)v[1]->y - v[0]->y) * (double)((int64_t)v[2]->x - v[0]->x)
            ? -1
            : 1;
    for (int c = 0; c < 3; c++) {
        const raster_vertex *a = v[(c + 1) % 3], *b = v[(c + 2) % 3];
        double dx = (double)b->x - a->x, dy = (double)b->y - a->y,
               scale = sign * (double)v[c]->depth;
        f->weights[c][0] = scale * (dy * a->x - dx * a->y);
        f->weights[c][1] = scale * -dy * RASTER_SUBPIXEL;
        f->weights[c][2] = scale * dx * RASTER_SUBPIXEL;
        if (s->desc->wire > 0) {
            double length = sqrt(dx * dx + dy * dy);
            double area = fabs(dx * ((double)v[c]->y - a->y) - dy * ((double)v[c]->x - a->x));
            const double unit_size = 1.0 / (RASTER_SUBPIXEL * RENDER_SAMPLES); /* of a pixel */
            f->edge_scale[c] = length > 0 ? (float)(unit_size / (length * (double)v[c]->depth)) : 0;
            total = area * unit_size; /* each corner gives the same */
            longest = fmax(longest, length);
        }
    }
    f->height = longest > 0 ? (float)(total / longest) : 0;
}

static const facet *find_facet(const scene *s, facet_cache *cache, uint64_t triangle)
{
    facet *f = &cache->facets[triangle % FACETS];
    if (f->is_set && f->triangle == triangle)
        return f;
    f->triangle = triangle;
    f->is_set = true;
    raster_corners(s->mesh, triangle, f->corners);
    find_weights(s, f);
    tml_vec3 p[3];
    for (int c = 0; c < 3; c++) {
        const float *at = s->mesh->positions + 3 * f->corners[c];
        p[c] = (tml_vec3){at[0], at[1], at[2]};
    }
    f->face = rotate(s->camera.axes, tml_cross3(tml_sub3(p[1], p[0]), tml_sub3(p[2], p[0])));
    for (int c = 0; c < 3 && s->normals; c++) {
        const float *n = s->normals + 3 * f->corners[c];
        tml_vec3 v = {n[0], n[1], n[2]};
        float length = tml_length3(v);
        bool is_good = length > 0 && length < INFINITY;
        f->normals[c] =
            is_good ? rotate(s->camera.axes, tml_scale3(v, 1 / length)) : (tml_vec3){0, 0, 0};
    }
    return f;
}

/* ---- hits ------------------------------------------------------------------------------------ */

/* Samples: their positions, and the triangles there. Unused lanes repeat another lane. */
typedef struct samples {
    lanes_float x, y, depth;
    uint32_t triangle[LANES];
} samples;

/* The surface that the camera sees at samples. */
typedef struct hits {
    lanes_vec3 to_viewer;
    lanes_float distance; /* along the view axis */
    lanes_vec3 normal;    /* unit length, camera coordinates, towards the viewer */
    lanes_int inner;      /* the surface is seen from its inside */
    lanes_float weights[3];
    lanes_float edge;   /* pixels on the screen to the nearest edge of the triangle */
    lanes_float height; /* the triangle's least, in pixels */
} hits;

/* Normals at the samples of one facet, and the weights of its corners. */
static void meet_facet(const scene *s, const facet *f, const samples *at, int lane, lanes_int which,
                       lanes_vec3 *face, hits *h)
{
    float x = at->x[lane], y = at->y[lane];
    lanes_float w[3], edge = lanes_of(INFINITY);
    for (int c = 0; c < 3; c++) {
        float start =
            (float)(f->weights[c][0] + f->weights[c][1] * (double)x + f->weights[c][2] * (double)y);
        w[c] =
            start + (float)f->weights[c][1] * (at->x - x) + (float)f->weights[c][2] * (at->y - y);
        w[c] = lanes_max(w[c], lanes_of(0));
        edge = lanes_min(edge, w[c] * f->edge_scale[c]);
    }
    lanes_float sum = w[0] + w[1] + w[2];
    for (int c = 0; c < 3; c++)
        w[c] = lanes_select(sum > 0, w[c] / sum, lanes_of(1.0f / 3));
    *face = lanes_select3(which, lanes_vec3_of(f->face), *face);
    for (int c = 0; c < 3; c++)
        h->weights[c] = lanes_select(which, w[c], h->weights[c]);
    if (s->desc->wire > 0) {
        h->edge = lanes_select(which, edge, h->edge);
        h->height = lanes_select(which, lanes_of(f->height), h->height);
    }
    lanes_vec3 normal = {{0}, {0}, {0}};
    for (int c = 0; c < 3 && s->normals; c++)
        normal = lanes_add3(normal, lanes_scale3(lanes_vec3_of(f->normals[c]), w[c]));
    h->normal = lanes_select3(which, normal, h->normal);
}

static hits find_hits(const scene *s, facet_cache *cache, const samples *at)
{
    const lanes_vec3 none = {{0}, {0}, {0}};
    const float scale = (float)s->camera.scale;
    hits h = {.normal = none, .edge = lanes_of(INFINITY)};
    lanes_int left = {-1, -1, -1, -1};
    lanes_vec3 face = none;
    for (int lane = 0; lane < LANES; lane++) {
        if (!left[lane])
            continue;
        lanes_int which;
        for (int other = 0; other < LANES; other++)
            which[other] = -(at->triangle[other] == at->triangle[lane]);
        left &= ~which;
        meet_facet(s, find_facet(s, cache, at->triangle[lane]), at, lane, which, &face, &h);
    }
    h.distance = (float)s->camera.depth_unit / at->depth;
    lanes_vec3 p = {((float)s->camera.width / 2 - at->x) / scale * h.distance,
                    (at->y - (float)s->camera.height / 2) / scale * h.distance, h.distance};
    h.to_viewer = lanes_unit(p, lanes_vec3_of((tml_vec3){0, 0, 1}));
    face = lanes_unit(face, h.to_viewer);
    h.inner = lanes_dot3(face, h.to_viewer) < 0;
    face = lanes_scale3(face, lanes_select(h.inner, lanes_of(-1), lanes_of(1)));
    h.normal = lanes_unit(h.normal, face);
    lanes_int away = lanes_dot3(h.normal, face) < 0;
    h.normal = lanes_scale3(h.normal, lanes_select(away, lanes_of(-1), lanes_of(1)));
    /* At the outline, a smooth normal may point away from the viewer; it is rotated back to the
     * edge. */
    lanes_float lean = lanes_dot3(h.normal, h.to_viewer);
    lanes_vec3 upright = lanes_add3(h.normal, lanes_scale3(h.to_viewer, 0.02f - lean));
    h.normal = lanes_select3(lean < 0.02f, lanes_unit(upright, face), h.normal);
    return h;
}

/* ---- light ----------------------------------------------------------------------------------- */

/* x^42: how shiny the surface is. */
static lanes_float shine_of(lanes_float x)
{
    lanes_float x2 = x * x, x8 = x2 * x2 * x2 * x2, x32 = x8 * x8 * x8 * x8;
    return x32 * x8 * x2;
}

static lanes_float lit_from(lanes_vec3 normal, tml_vec3 light)
{
    return lanes_max(lanes_dot3(normal, lanes_vec3_of(light)), lanes_of(0));
}

/* Blinn's highlight, faded out with the light's cosine so that it ends where the light ends. */
static lanes_float highlight(const hits *h, tml_vec3 to_light)
{
    lanes_vec3 middle = lanes_unit(lanes_add3(lanes_vec3_of(to_light), h->to_viewer), h->normal);
    lanes_float cosine = lit_from(h->normal, to_light);
    lanes_float along = lanes_max(lanes_dot3(h->normal, middle), lanes_of(0));
    return shine_of(along) * lanes_min(4 * cosine, lanes_of(1));
}

/* Compresses values brighter than paper instead of clipping them (Reinhard's curve with a white
 * point). */
static lanes_float tone(lanes_float light)
{
    const float white = WHITE_POINT;
    return light * (1 + light / (white * white)) / (1 + 0.55f * light);
}

/* The strength of the line along the triangle's edges at these samples. If triangles are almost as
 * small as lines are wide, the lines fade, since otherwise they would cover the surface. */
static lanes_float line_at(const scene *s, const hits *h)
{
    float wire = s->desc->wire;
    lanes_float strength = lanes_clamp(h->height / (3 * wire) - 0.5f, 0, 1);
    return lanes_select(h->edge > 0.5f * wire, lanes_of(0), strength);
}

static lanes_vec3 shade(const scene *s, const hits *h, lanes_vec3 albedo, lanes_float ambient,
                        lanes_float key)
{
    if (s->desc->wire > 0)
        albedo = lanes_scale3(albedo, 1 - 0.72f * line_at(s, h));
    /* The inside has a duller, darker shade than the outside. */
    lanes_vec3 dull = lanes_mix(albedo, lanes_vec3_of(DULL_COLOR), lanes_of(0.35f));
    albedo = lanes_select3(h->inner, lanes_scale3(dull, lanes_of(0.75f)), albedo);

    lanes_float sky = 0.5f + 0.5f * lanes_dot3(h->normal, lanes_vec3_of(s->up));
    lanes_vec3 light = lanes_mix(lanes_vec3_of(GROUND_COLOR), lanes_vec3_of(SKY_COLOR), sky);
    light = lanes_scale3(light, ambient);
    light = lanes_add3(light,
                       lanes_scale3(lanes_vec3_of(KEY_COLOR), lit_from(h->normal, s->key) * key));
    light = lanes_add3(
        light, lanes_scale3(lanes_vec3_of(FILL_COLOR), lit_from(h->normal, FILL_FROM) * ambient));
    lanes_float edge = 1 - lanes_max(lanes_dot3(h->normal, h->to_viewer), lanes_of(0));
    lanes_float rim = lit_from(h->normal, RIM_FROM) * edge * edge * ambient;
    light = lanes_add3(light, lanes_scale3(lanes_vec3_of(RIM_COLOR), rim));

    lanes_float fresnel = edge * edge * edge * edge * edge;
    lanes_float shine =
        GLOSS * (highlight(h, s->key) * key + 0.3f * highlight(h, FILL_FROM) * ambient) +
        0.10f * fresnel * sky * ambient;
    return (lanes_vec3){tone(albedo.x * light.x + KEY_COLOR.x * shine),
                        tone(albedo.y * light.y + KEY_COLOR.y * shine),
                        tone(albedo.z * light.z + KEY_COLOR.z * shine)};
}

/* ---- colours --------------------------------------------------------------------------------- */

static tml_vec3 srgb(float red, float green, float blue)
{
    return (tml_vec3){color_to_linear(red), color_to_linear(green), color_to_linear(blue)};
}

static tml_vec3 mix(tml_vec3 a, tml_vec3 b, float t)
{
    return tml_add3(tml_scale3(a, 1 - t), tml_scale3(b, t));
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

static tml_vec3 albedo_of(const scene *s, uint32_t triangle, const hits *h, int lane)
{
    const render_desc *desc = s->desc;
    if (desc->color_by_value && s->mesh->values) {
        uint64_t corners[3] = {0, 0, 0};
        float value = 0;
        raster_corners(s->mesh, triangle, corners);
        for (int c = 0; c < 3; c++)
            value += h->weights[c][lane] * s->mesh->values[corners[c]];
        float range = s->value_upper - s->value_lower;
        /* Values that differ only by rounding are the same value. */
        bool differ = range > 1e-4f * fmaxf(fabsf(s->value_upper), fabsf(s->value_lower));
        return color_of_value(differ && isfinite(value) ? (value - s->value_lower) / range : 0.5f);
    }
    if (desc->triangle_colors) {
        const uint8_t *color = desc->triangle_colors + 3 * (size_t)triangle;
        return srgb(color[0] / 255.0f, color[1] / 255.0f, color[2] / 255.0f);
    }
    return color_of_part(part_of(desc, triangle));
}

static lanes_vec3 find_albedo(const scene *s, const samples *at, const hits *h)
{
    const render_desc *desc = s->desc;
    lanes_vec3 albedo = lanes_vec3_of(s->color);
    if (!(desc->color_by_value && s->mesh->values) && !desc->triangle_colors &&
        desc->part_count < 2)
        return albedo;
    for (int lane = 0; lane < LANES; lane++) {
        tml_vec3 color = albedo_of(s, at->triangle[lane], h, lane);
        albedo.x[lane] = color.x;
        albedo.y[lane] = color.y;
        albedo.z[lane] = color.z;
    }
    return albedo;
}

void render_make_tables(scene *s)
{
    const float *color = s->desc->color;
    const float *behind = s->desc->background_color;
    s->color = srgb(color[0], color[1], color[2]);
    if (s->desc->background == RENDER_PLAIN) /* black where none shows */
        s->background_color = srgb(behind[0], behind[1], behind[2]);
    for (int level = 0; level <= 256; level++)
        s->level_from[level] = color_to_linear(((float)level - 0.5f) / 255);
    s->level_from[256] = INFINITY;
    for (int step = 0, level = 0; step <= RENDER_LEVEL_STEPS; step++) {
        while (s->level_from[level + 1] <= (float)step / RENDER_LEVEL_STEPS)
            level++;
        s->level_near[step] = (uint8_t)level;
    }
    for (int step = 0; step < RENDER_BACKGROUND_STEPS + 2; step++) {
        float far = (float)step / RENDER_BACKGROUND_STEPS;
        s->background_light[step] =
            color_to_linear(BACKGROUND_CENTRE + far * (BACKGROUND_CORNER - BACKGROUND_CENTRE));
    }
}

static uint8_t to_byte(const scene *s, float light)
{
    light = light > 0 ? light < 1 ? light : 1 : 0;
    uint8_t level = s->level_near[(int)(light * RENDER_LEVEL_STEPS)];
    while (light >= s->level_from[level + 1])
        level++;
    return level;
}

static tml_vec3 background(const scene *s, uint32_t column, uint32_t row)
{
    if (s->desc->background != RENDER_STUDIO)
        return s->background_color;
    float x = 2 * ((float)column + 0.5f) / (float)s->desc->width - 1;
    float y = 2 * ((float)row + 0.5f) / (float)s->desc->height - 1;
    float far = (x * x + (y + 0.25f) * (y + 0.25f)) / 2.2f * RENDER_BACKGROUND_STEPS;
    far = far < RENDER_BACKGROUND_STEPS ? far : RENDER_BACKGROUND_STEPS;
    const float *light_at = s->background_light + (int)far;
    float light = light_at[0] + (light_at[1] - light_at[0]) * (far - floorf(far));
    /* A shadow that runs out of the picture fades before its edge. */
    float inside = 6 * (1 - (fabsf(x) > fabsf(y) ? fabsf(x) : fabsf(y)));
    float shadow = 1 - s->floor_light[(size_t)row * s->desc->width + column];
    light *= 1 - FLOOR_SHADE * (inside < 1 ? inside : 1) * shadow;
    return (tml_vec3){light * 0.982f, light * 0.994f, light};
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static size_t sample_at(const scene *s, uint32_t column, uint32_t row)
{
    return (size_t)row * s->target.stride + column;
}

/* The nearest sample of a pixel, 0 ... PIXEL_SAMPLES - 1, and its depth; 0 if the pixel is
 * empty. */
static uint32_t find_nearest(const scene *s, uint32_t column, uint32_t row, float *depth)
{
    uint32_t best = 0;
    size_t best_at = 0;
    *depth = 0;
    for (uint32_t i = 0; i < PIXEL_SAMPLES; i++) {
        size_t at = sample_at(s, column * N + i % N, row * N + i / N);
        float here = s->target.depths[at];
        if (here > *depth || (here > 0 && here == *depth &&
                              s->target.triangles[at] < s->target.triangles[best_at])) {
            *depth = here;
            best = i;
            best_at = at;
        }
    }
    return best;
}

/* Samples that are collected, since hits are found for LANES samples at a time. */
typedef struct batch {
    uint32_t count;
    uint32_t column[BATCH_PIXELS * PIXEL_SAMPLES]; /* of the pixel */
    uint8_t number[BATCH_PIXELS * PIXEL_SAMPLES];  /* of the sample in it */
} batch;

static samples gather_samples(const scene *s, const batch *b, uint32_t first, uint32_t row)
{
    samples at;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t i = first + lane < b->count ? first + lane : b->count - 1;
        uint32_t sx = b->column[i] * N + b->number[i] % N, sy = row * N + b->number[i] / N;
        size_t sample = sample_at(s, sx, sy);
        at.x[lane] = (float)sx + 0.5f;
        at.y[lane] = (float)sy + 0.5f;
        at.depth[lane] = s->target.depths[sample];
        at.triangle[lane] = s->target.triangles[sample];
    }
    return at;
}

static void store_pixels(scene *s, facet_cache *cache, const batch *b, uint32_t row)
{
    for (uint32_t first = 0; first < b->count; first += LANES) {
        const samples at = gather_samples(s, b, first, row);
        const hits h = find_hits(s, cache, &at);
        for (uint32_t lane = 0; lane < LANES && first + lane < b->count; lane++) {
            size_t to = (size_t)row * s->desc->width + b->column[first + lane];
            tml_vec3 normal = {h.normal.x[lane], h.normal.y[lane], h.normal.z[lane]};
            s->pixels[to] = (pixel){h.distance[lane], normal, h.inner[lane] != 0};
            s->depths[to] = h.distance[lane];
        }
    }
}

void render_pixels(scene *s, uint32_t first, uint32_t last)
{
    facet_cache cache = {0};
    batch b;
    for (uint32_t row = first; row < last; row++) {
        b.count = 0;
        for (uint32_t column = 0; column < s->desc->width; column++) {
            size_t to = (size_t)row * s->desc->width + column;
            float depth;
            uint32_t number = find_nearest(s, column, row, &depth);
            s->depths[to] = 0;
            if (depth > 0) {
                b.column[b.count] = column;
                b.number[b.count++] = (uint8_t)number;
            }
            if (b.count == BATCH_PIXELS || column + 1 == s->desc->width) {
                store_pixels(s, &cache, &b, row);
                b.count = 0;
            }
        }
    }
}

/* The light of the pixel whose depth is nearest to the sample's, among this pixel and its
 * neighbours: samples behind an outline belong to another surface than the one that represents
 * their pixel. */
static visibility visibility_at(const scene *s, uint32_t column, uint32_t row, float distance)
{
    size_t best = (size_t)row * s->desc->width + column;
    float nearest = fabsf(s->pixels[best].depth - distance);
    if (nearest < 0.005f * (float)s->extent)
        return s->visible[best];
    for (uint32_t y = row ? row - 1 : 0; y <= row + 1 && y < s->desc->height; y++) {
        for (uint32_t x = column ? column - 1 : 0; x <= column + 1 && x < s->desc->width; x++) {
            size_t at = (size_t)y * s->desc->width + x;
            float apart = fabsf(s->pixels[at].depth - distance);
            if (s->pixels[at].depth > 0 && apart < nearest) {
                nearest = apart;
                best = at;
            }
        }
    }
    return s->visible[best];
}

/* Blends in the colour of lit triangles: strongly if they are behind the surface, so that they show
 * through it; less if they are the surface. */
static tml_vec3 add_glow(const scene *s, float depth, float glow, tml_vec3 color)
{
    if (!(glow > 0))
        return color;
    const float *lit = s->desc->lit_color;
    float hidden = glow < depth * (1 - 1e-5f) ? 0.6f : 0.35f;
    return mix(color, srgb(lit[0], lit[1], lit[2]), hidden);
}

/* Adds up the colours of samples, a pixel each in sums. */
static void add_samples(const scene *s, facet_cache *cache, const batch *b, uint32_t row,
                        uint32_t sums_first, tml_vec3 *sums)
{
    for (uint32_t first = 0; first < b->count; first += LANES) {
        const samples at = gather_samples(s, b, first, row);
        const hits h = find_hits(s, cache, &at);
        lanes_float ambient, key;
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t i = first + lane < b->count ? first + lane : b->count - 1;
            visibility seen = visibility_at(s, b->column[i], row, h.distance[lane]);
            ambient[lane] = seen.ambient;
            key[lane] = seen.key;
        }
        lanes_vec3 colors = shade(s, &h, find_albedo(s, &at, &h), ambient, key);
        for (uint32_t lane = 0; lane < LANES && first + lane < b->count; lane++) {
            tml_vec3 color = {colors.x[lane], colors.y[lane], colors.z[lane]};
            uint32_t column = b->column[first + lane], number = b->number[first + lane];
            if (s->glow.depths) {
                size_t sample = sample_at(s, column * N + number % N, row * N + number / N);
                color = add_glow(s, at.depth[lane], s->glow.depths[sample], color);
            }
            sums[column - sums_first] = tml_add3(sums[column - sums_first], color);
        }
    }
}

/* Can the pixel's middle sample represent all its samples? It can if only the normal varies between
 * samples, if the samples' depths lie nearly on a plane, and if neighbouring pixels have nearly the
 * same normal. Light is then almost linear, so its mean is that of the middle sample. */
static bool is_smooth(const scene *s, uint32_t column, uint32_t row)
{
    const render_desc *desc = s->desc;
    if (desc->wire > 0 || s->glow.depths || desc->triangle_colors || desc->part_count > 1)
        return false;
    if (column == 0 || row == 0 || column + 1 == desc->width || row + 1 == desc->height)
        return false;
    float depths[PIXEL_SAMPLES];
    for (uint32_t i = 0; i < PIXEL_SAMPLES; i++) {
        depths[i] = s->target.depths[sample_at(s, column * N + i % N, row * N + i / N)];
        if (!(depths[i] > 0))
            return false;
    }
    const float middle = depths[PIXEL_SAMPLES / 2], most = 2e-5f * middle;
    for (int i = 0; i < PIXEL_SAMPLES / 2; i++)
        if (fabsf(depths[i] + depths[PIXEL_SAMPLES - 1 - i] - 2 * middle) > most)
            return false;
    const float least = 0.99995f; /* cosine of 0.57 degrees */
    const pixel *p = &s->pixels[(size_t)row * desc->width + column];
    const pixel *around[] = {p - 1, p + 1, p - desc->width, p + desc->width};
    for (int i = 0; i < 4; i++)
        if (around[i]->depth <= 0 || around[i]->is_inner != p->is_inner ||
            tml_dot3(around[i]->normal, p->normal) < least)
            return false;
    return true;
}

/* Adds a pixel's samples to a batch. Returns the number of samples that show the background. */
static uint32_t take_samples(const scene *s, uint32_t column, uint32_t row, batch *b)
{
    uint32_t first = b->count;
    for (uint32_t i = 0; i < PIXEL_SAMPLES; i++) {
        if (s->target.depths[sample_at(s, column * N + i % N, row * N + i / N)] > 0) {
            b->column[b->count] = column;
            b->number[b->count++] = (uint8_t)i;
        }
    }
    return PIXEL_SAMPLES - (b->count - first);
}

/* The colours of up to BATCH_PIXELS pixels of a row. */
static void color_some(scene *s, facet_cache *cache, uint32_t first, uint32_t last, uint32_t row)
{
    batch b;
    tml_vec3 sums[BATCH_PIXELS];
    uint32_t open[BATCH_PIXELS],
        counts[BATCH_PIXELS]; /* samples that show the background; all of sums */
    b.count = 0;
    for (uint32_t column = first; column < last; column++) {
        const uint32_t i = column - first;
        open[i] = 0;
        counts[i] = 1;
        sums[i] = (tml_vec3){0, 0, 0};
        if (s->depths[(size_t)row * s->desc->width + column] <= 0) {
            sums[i] = background(s, column, row);
            open[i] = PIXEL_SAMPLES;
        } else if (is_smooth(s, column, row)) {
            b.column[b.count] = column;
            b.number[b.count++] = PIXEL_SAMPLES / 2;
        } else {
            open[i] = take_samples(s, column, row, &b);
            counts[i] = PIXEL_SAMPLES - (s->desc->background == RENDER_CLEAR ? open[i] : 0);
            if (open[i] > 0)
                sums[i] = tml_scale3(background(s, column, row), (float)open[i]);
        }
    }
    add_samples(s, cache, &b, row, first, sums);
    for (uint32_t column = first; column < last; column++) {
        const uint32_t i = column - first;
        tml_vec3 color = tml_scale3(sums[i], 1.0f / (float)counts[i]);
        uint8_t *rgba = s->rgba + 4 * ((size_t)row * s->desc->width + column);
        uint32_t covered =
            s->desc->background == RENDER_CLEAR ? PIXEL_SAMPLES - open[i] : PIXEL_SAMPLES;
        rgba[0] = to_byte(s, color.x);
        rgba[1] = to_byte(s, color.y);
        rgba[2] = to_byte(s, color.z);
        rgba[3] = (uint8_t)((255 * covered + PIXEL_SAMPLES / 2) / PIXEL_SAMPLES);
    }
}

void render_colors(scene *s, uint32_t first, uint32_t last)
{
    facet_cache cache = {0};
    for (uint32_t row = first; row < last; row++)
        for (uint32_t column = 0; column < s->desc->width; column += BATCH_PIXELS) {
            uint32_t end = column + BATCH_PIXELS;
            color_some(s, &cache, column, end < s->desc->width ? end : s->desc->width, row);
        }
}
