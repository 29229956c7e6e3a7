/* Rasterising with exact edge functions on fixed-point positions. A sample on an edge that two
 * triangles share belongs to just one of them (top-left rule), so a closed mesh has no pinholes.
 * After: Pineda: A Parallel Algorithm for Polygon Rasterization. 1988. The nearest triangle is kept
 * by an atomic maximum of depth and triangle number in one word. */
#include <math.h>
#include <string.h>

#include "raster.h"

enum { TRIANGLES_A_TASK = 8192 };

int32_t raster_fixed(double samples)
{
    const double most = 1 << 22; /* keeps the products of edge functions far inside 64 bits */
    samples = samples > most ? most : samples < -most ? -most : samples;
    double fixed = samples * RASTER_SUBPIXEL;
    return (int32_t)(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
}

bool raster_corners(const tml_mesh *mesh, uint64_t triangle, uint64_t corners[3])
{
    for (int c = 0; c < 3; c++) {
        uint64_t at = 3 * triangle + (uint64_t)c;
        corners[c] = !mesh->indices    ? at
                     : mesh->indices64 ? ((const uint64_t *)mesh->indices)[at]
                                       : ((const uint32_t *)mesh->indices)[at];
        if (corners[c] >= mesh->vertex_count)
            return false;
    }
    return true;
}

float raster_depth(uint64_t key)
{
    uint32_t bits = (uint32_t)(key >> 32);
    float depth;
    memcpy(&depth, &bits, sizeof depth);
    return depth;
}

static uint64_t make_key(float depth, uint32_t triangle)
{
    uint32_t bits; /* positive floats order as their bits do */
    memcpy(&bits, &depth, sizeof bits);
    return (uint64_t)bits << 32 | (uint32_t)~triangle;
}

static void keep_nearest(_Atomic uint64_t *cell, uint64_t key)
{
    uint64_t seen = atomic_load_explicit(cell, memory_order_relaxed);
    while (key > seen && !atomic_compare_exchange_weak_explicit(
                             cell, &seen, key, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* One directed edge: positive on its inner side, and how it changes by one sample. */
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

/* The sample grid's rows or columns whose centres lie in [lower, upper], cut off at size. */
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
        return; /* between the samples: most triangles of a fine mesh */

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
        _Atomic uint64_t *cells = target->keys + (size_t)row * target->width;
        int64_t in_a = to_a.value, in_b = to_b.value, in_c = to_c.value;
        for (int32_t column = x_first; column <= x_last; column++) {
            if ((in_a | in_b | in_c) >= 0) {
                float depth = a->depth + (float)in_b * slope_b + (float)in_c * slope_c;
                /* The slopes of a sliver are steep: rounding must not lift it out of its corners.
                 */
                depth = fminf(fmaxf(depth, farthest), nearest);
                keep_nearest(&cells[column], make_key(depth, triangle));
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

typedef struct draw_job {
    const raster_target *target;
    const tml_mesh *mesh;
    const raster_vertex *vertices;
} draw_job;

static void draw_some(void *argument, uint32_t index)
{
    const draw_job *job = argument;
    uint64_t first = (uint64_t)index * TRIANGLES_A_TASK, last = first + TRIANGLES_A_TASK;
    last = last < job->mesh->triangle_count ? last : job->mesh->triangle_count;
    for (uint64_t t = first; t < last; t++) {
        uint64_t v[3];
        if (raster_corners(job->mesh, t, v))
            draw_triangle(job->target, &job->vertices[v[0]], &job->vertices[v[1]],
                          &job->vertices[v[2]], (uint32_t)t);
    }
}

void raster_draw(tml_context *tml, const raster_target *target, const tml_mesh *mesh,
                 const raster_vertex *vertices)
{
    draw_job job = {target, mesh, vertices};
    uint64_t tasks = (mesh->triangle_count + TRIANGLES_A_TASK - 1) / TRIANGLES_A_TASK;
    tml_parallel_for(tml, (uint32_t)tasks, draw_some, &job);
}
