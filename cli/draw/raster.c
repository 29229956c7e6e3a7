/* Rasterising with exact edge functions on fixed-point positions. A sample on an edge that two
 * triangles share belongs to exactly one of them (top-left rule), so a closed mesh has no pinholes.
 * After: Pineda: A Parallel Algorithm for Polygon Rasterization. 1988.
 *
 * Triangles are sorted into bands of rows; one thread draws a band, which fits its cache. Within a
 * band, triangles that face the viewer are drawn first. The others are compared with the farthest
 * depth of the blocks that they touch, which rejects most back faces of a closed mesh. After:
 * Greene, Kass, Miller: Hierarchical Z-Buffer Visibility. 1993. */
#include <math.h>
#include <string.h>

#include "draw/lanes.h"
#include "draw/raster.h"

enum {
    BAND_ROWS = 16,
    BLOCK = 8,          /* samples along the side of a block */
    SPAN_MOST = 8,      /* bands; a taller triangle is kept once, for all bands */
    SMALL_SAMPLES = 64, /* a triangle of at most this extent has edge functions of 32 bits */
    CHUNKS_MOST = 256,
    CHUNK_LEAST = 4096,
};

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

uint32_t raster_stride(uint32_t width)
{
    return (width + LANES - 1 + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* A triangle on the grid: its corners, ordered so that its area is positive, and the range of
 * samples that it may cover. */
typedef struct setup {
    const raster_vertex *a, *b, *c;
    int32_t x_first, x_last, y_first, y_last;
    int64_t area;
    uint32_t triangle;
    bool is_back; /* its corners run clockwise */
    bool is_small;
} setup;

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

/* The rows or columns of the sample grid whose centres lie in [lower, upper], clipped to size. */
static void sample_range(int32_t lower, int32_t upper, uint32_t size, int32_t *first, int32_t *last)
{
    const int32_t half = RASTER_SUBPIXEL / 2;
    *first = (lower - half + RASTER_SUBPIXEL - 1) >> RASTER_SUBPIXEL_BITS;
    *last = (upper - half) >> RASTER_SUBPIXEL_BITS;
    *first = *first < 0 ? 0 : *first;
    *last = *last >= (int32_t)size ? (int32_t)size - 1 : *last;
}

/* Returns false if the triangle covers no sample: most triangles of a fine mesh lie between
 * samples. */
static bool set_up(const raster_target *target, const tml_mesh *mesh, const raster_vertex *vertices,
                   uint64_t triangle, setup *t)
{
    uint64_t v[3];
    if (!raster_corners(mesh, triangle, v))
        return false;
    const raster_vertex *a = &vertices[v[0]], *b = &vertices[v[1]], *c = &vertices[v[2]];
    int32_t left = min3(a->x, b->x, c->x), right = max3(a->x, b->x, c->x);
    int32_t top = min3(a->y, b->y, c->y), bottom = max3(a->y, b->y, c->y);
    if (!(a->depth > 0 && b->depth > 0 && c->depth > 0))
        return false;
    sample_range(left, right, target->width, &t->x_first, &t->x_last);
    sample_range(top, bottom, target->height, &t->y_first, &t->y_last);
    if (t->x_first > t->x_last || t->y_first > t->y_last)
        return false;
    int64_t area = ((int64_t)b->x - a->x) * ((int64_t)c->y - a->y) -
                   ((int64_t)b->y - a->y) * ((int64_t)c->x - a->x);
    if (area == 0)
        return false;
    t->triangle = (uint32_t)triangle;
    t->is_back = area > 0; /* y points down */
    t->area = area > 0 ? area : -area;
    t->a = a;
    t->b = area > 0 ? b : c;
    t->c = area > 0 ? c : b;
    const int64_t most = SMALL_SAMPLES * RASTER_SUBPIXEL;
    t->is_small = (int64_t)right - left <= most && (int64_t)bottom - top <= most;
    return true;
}

/* ---- coverage -------------------------------------------------------------------------------- */

/* One directed edge: the value is at least 0 on the inner side; and its change from one sample to
 * the next. */
typedef struct edge_function {
    int64_t value, step_x, step_y;
} edge_function;

static edge_function edge_from(const raster_vertex *a, const raster_vertex *b, int64_t x, int64_t y)
{
    int64_t dx = (int64_t)b->x - a->x, dy = (int64_t)b->y - a->y;
    bool is_top_or_left = dy < 0 || (dy == 0 && dx > 0);
    /* On the line the value is 0. For an edge that does not own its samples it starts one lower. */
    return (edge_function){.value = dx * (y - a->y) - dy * (x - a->x) - (is_top_or_left ? 0 : 1),
                           .step_x = -dy * RASTER_SUBPIXEL,
                           .step_y = dx * RASTER_SUBPIXEL};
}

/* State for drawing the rows of a triangle: the edge functions at its first sample, and the depth
 * as a function of them. */
typedef struct drawing {
    edge_function to_a, to_b, to_c;
    float depth, slope_b,
        slope_c; /* at corner a, and for each unit of the edge functions to b and c */
    float farthest, nearest;
} drawing;

static drawing begin_drawing(const setup *t, int32_t row)
{
    int64_t x = (int64_t)t->x_first * RASTER_SUBPIXEL + RASTER_SUBPIXEL / 2;
    int64_t y = (int64_t)row * RASTER_SUBPIXEL + RASTER_SUBPIXEL / 2;
    float a = t->a->depth, b = t->b->depth, c = t->c->depth, scale = 1.0f / (float)t->area;
    float nearest = a > b ? a : b, farthest = a < b ? a : b;
    return (drawing){.to_a = edge_from(t->b, t->c, x, y),
                     .to_b = edge_from(t->c, t->a, x, y),
                     .to_c = edge_from(t->a, t->b, x, y),
                     .depth = a,
                     .slope_b = (b - a) * scale,
                     .slope_c = (c - a) * scale,
                     .farthest = farthest < c ? farthest : c,
                     .nearest = nearest > c ? nearest : c};
}

static void draw_wide(const raster_target *target, const setup *t, int32_t first, int32_t last)
{
    drawing d = begin_drawing(t, first);
    for (int32_t row = first; row <= last; row++) {
        size_t at = (size_t)row * target->stride + (size_t)t->x_first;
        int64_t in_a = d.to_a.value, in_b = d.to_b.value, in_c = d.to_c.value;
        for (int32_t column = t->x_first; column <= t->x_last; column++, at++) {
            if ((in_a | in_b | in_c) >= 0) {
                float depth = d.depth + (float)in_b * d.slope_b + (float)in_c * d.slope_c;
                /* The slopes of a sliver are steep: clamps the depth to those of the corners, since
                 * rounding may exceed them. */
                depth = fminf(fmaxf(depth, d.farthest), d.nearest);
                float old = target->depths[at];
                if (depth > old || (depth == old && t->triangle < target->triangles[at])) {
                    target->depths[at] = depth;
                    target->triangles[at] = t->triangle;
                }
            }
            in_a += d.to_a.step_x;
            in_b += d.to_b.step_x;
            in_c += d.to_c.step_x;
        }
        d.to_a.value += d.to_a.step_y;
        d.to_b.value += d.to_b.step_y;
        d.to_c.value += d.to_c.step_y;
    }
}

static lanes_int edge_lanes(const edge_function *edge)
{
    int32_t value = (int32_t)edge->value, step = (int32_t)edge->step_x;
    return (lanes_int){value, value + step, value + 2 * step, value + 3 * step};
}

/* The same, LANES samples at a time. Samples past the box are not covered; rows have memory past
 * the width. */
static void draw_small(const raster_target *target, const setup *t, int32_t first, int32_t last)
{
    const drawing d = begin_drawing(t, first);
    lanes_int row_a = edge_lanes(&d.to_a), row_b = edge_lanes(&d.to_b), row_c = edge_lanes(&d.to_c);
    const int32_t step_a = LANES * (int32_t)d.to_a.step_x, step_b = LANES * (int32_t)d.to_b.step_x,
                  step_c = LANES * (int32_t)d.to_c.step_x;
    const lanes_float start = lanes_of(d.depth), farthest = lanes_of(d.farthest),
                      nearest = lanes_of(d.nearest);
    const lanes_uint triangle = t->triangle + (lanes_uint){0};
    for (int32_t row = first; row <= last; row++) {
        size_t at = (size_t)row * target->stride + (size_t)t->x_first;
        lanes_int in_a = row_a, in_b = row_b, in_c = row_c;
        for (int32_t column = t->x_first; column <= t->x_last; column += LANES, at += LANES) {
            lanes_float old, depth = start +
                                     __builtin_convertvector(in_b, lanes_float) * d.slope_b +
                                     __builtin_convertvector(in_c, lanes_float) * d.slope_c;
            lanes_uint kept;
            memcpy(&old, target->depths + at, sizeof old);
            memcpy(&kept, target->triangles + at, sizeof kept);
            depth = lanes_min(lanes_max(depth, farthest), nearest);
            lanes_int better = ((in_a | in_b | in_c) >= 0) &
                               ((depth > old) | ((depth == old) & (lanes_int)(triangle < kept)));
            depth = lanes_select(better, depth, old);
            kept = ((lanes_uint)better & triangle) | (~(lanes_uint)better & kept);
            memcpy(target->depths + at, &depth, sizeof depth);
            memcpy(target->triangles + at, &kept, sizeof kept);
            in_a += step_a;
            in_b += step_b;
            in_c += step_c;
        }
        row_a += (int32_t)d.to_a.step_y;
        row_b += (int32_t)d.to_b.step_y;
        row_c += (int32_t)d.to_c.step_y;
    }
}

/* ---- bands ----------------------------------------------------------------------------------- */

/* Lists of triangle numbers: for each band, first the triangles that face the viewer, then the
 * others; the last list is of the tall triangles. Each list consists of one run per chunk of the
 * mesh. */
typedef struct bins {
    const raster_target *target;
    const tml_mesh *mesh;
    const raster_vertex *vertices;
    uint32_t bands, lists, chunks;
    uint64_t chunk_size;
    uint64_t *places; /* [list][chunk]: the count of a run; then where its next triangle goes */
    uint64_t *starts; /* [list], and the end of the last one */
    uint32_t *triangles;
} bins;

typedef void (*bin_visit)(uint64_t *place, uint32_t triangle, uint32_t *triangles);

static void count_one(uint64_t *place, uint32_t triangle, uint32_t *triangles)
{
    (void)triangle;
    (void)triangles;
    ++*place;
}

static void store_one(uint64_t *place, uint32_t triangle, uint32_t *triangles)
{
    triangles[(*place)++] = triangle;
}

static inline void visit_chunk(const bins *b, uint32_t chunk, bin_visit visit)
{
    uint64_t first = chunk * b->chunk_size, last = first + b->chunk_size;
    last = last < b->mesh->triangle_count ? last : b->mesh->triangle_count;
    for (uint64_t i = first; i < last; i++) {
        setup t;
        if (!set_up(b->target, b->mesh, b->vertices, i, &t))
            continue;
        uint32_t top = (uint32_t)t.y_first / BAND_ROWS, bottom = (uint32_t)t.y_last / BAND_ROWS;
        if (bottom - top >= SPAN_MOST) {
            visit(&b->places[(size_t)(b->lists - 1) * b->chunks + chunk], t.triangle, b->triangles);
            continue;
        }
        for (uint32_t band = top; band <= bottom; band++)
            visit(&b->places[(size_t)(2 * band + t.is_back) * b->chunks + chunk], t.triangle,
                  b->triangles);
    }
}

static void count_chunk(void *argument, uint32_t chunk)
{
    visit_chunk(argument, chunk, count_one);
}

static void store_chunk(void *argument, uint32_t chunk)
{
    visit_chunk(argument, chunk, store_one);
}

/* The farthest depth of each block of a band. */
typedef struct band_blocks {
    float farthest[BAND_ROWS / BLOCK][RASTER_MAX_SIDE / BLOCK + 1];
} band_blocks;

static void find_blocks(const raster_target *target, uint32_t top, uint32_t rows,
                        band_blocks *blocks)
{
    for (uint32_t y = 0; y < rows; y++) {
        const float *depths = target->depths + (size_t)(top + y) * target->stride;
        float *farthest = blocks->farthest[y / BLOCK];
        for (uint32_t block = 0; block < target->stride / BLOCK; block++) {
            float least = y % BLOCK == 0 ? INFINITY : farthest[block];
            for (uint32_t x = block * BLOCK; x < (block + 1) * BLOCK; x++)
                least = depths[x] < least ? depths[x] : least;
            farthest[block] = least;
        }
    }
}

static bool is_hidden(const band_blocks *blocks, const setup *t, uint32_t top, int32_t first,
                      int32_t last)
{
    float a = t->a->depth, b = t->b->depth, c = t->c->depth, nearest = a > b ? a : b;
    nearest = nearest > c ? nearest : c;
    for (uint32_t row = ((uint32_t)first - top) / BLOCK; row <= ((uint32_t)last - top) / BLOCK;
         row++)
        for (int32_t column = t->x_first / BLOCK; column <= t->x_last / BLOCK; column++)
            if (!(nearest < blocks->farthest[row][column]))
                return false;
    return true;
}

/* Draws one list's part that lies in a band; blocks NULL: all of it. */
static void draw_list(const bins *b, uint32_t list, uint32_t top, uint32_t rows,
                      const band_blocks *blocks)
{
    for (uint64_t i = b->starts[list]; i < b->starts[list + 1]; i++) {
        setup t;
        if (!set_up(b->target, b->mesh, b->vertices, b->triangles[i], &t))
            continue;
        int32_t first = t.y_first > (int32_t)top ? t.y_first : (int32_t)top;
        int32_t last = t.y_last < (int32_t)(top + rows) ? t.y_last : (int32_t)(top + rows) - 1;
        if (first > last || (blocks && is_hidden(blocks, &t, top, first, last)))
            continue;
        if (t.is_small)
            draw_small(b->target, &t, first, last);
        else
            draw_wide(b->target, &t, first, last);
    }
}

static void draw_band(void *argument, uint32_t band)
{
    const bins *b = argument;
    const raster_target *target = b->target;
    uint32_t top = band * BAND_ROWS;
    uint32_t rows = target->height - top < BAND_ROWS ? target->height - top : BAND_ROWS;
    band_blocks blocks;
    memset(target->depths + (size_t)top * target->stride, 0, sizeof(float) * rows * target->stride);
    draw_list(b, 2 * band, top, rows, NULL);
    draw_list(b, b->lists - 1, top, rows, NULL);
    find_blocks(target, top, rows, &blocks);
    draw_list(b, 2 * band + 1, top, rows, &blocks);
}

tml_status raster_draw(tml_context *tml, const raster_target *target, const tml_mesh *mesh,
                       const raster_vertex *vertices)
{
    bins b = {.target = target, .mesh = mesh, .vertices = vertices};
    b.bands = (target->height + BAND_ROWS - 1) / BAND_ROWS;
    b.lists = 2 * b.bands + 1;
    b.chunk_size = mesh->triangle_count / CHUNKS_MOST + 1;
    b.chunk_size = b.chunk_size > CHUNK_LEAST ? b.chunk_size : CHUNK_LEAST;
    b.chunks = (uint32_t)((mesh->triangle_count + b.chunk_size - 1) / b.chunk_size);
    size_t runs = (size_t)b.lists * b.chunks, size = (runs + b.lists + 1) * sizeof *b.places;
    uint64_t total = 0;
    b.places = tml_alloc(tml, size);
    if (!b.places)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "picture: no memory for %zu bytes", size);
    memset(b.places, 0, size);
    b.starts = b.places + runs;
    tml_parallel_for(tml, b.chunks, count_chunk, &b);
    for (uint32_t list = 0; list < b.lists; list++) {
        b.starts[list] = total;
        for (size_t run = (size_t)list * b.chunks; run < (size_t)(list + 1) * b.chunks; run++) {
            uint64_t count = b.places[run];
            b.places[run] = total;
            total += count;
        }
    }
    b.starts[b.lists] = total;
    b.triangles = tml_alloc(tml, total * sizeof *b.triangles);
    tml_status status = TML_OK;
    if (!b.triangles && total > 0) {
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                           "picture: no memory for %llu triangles; choose a smaller size",
                           (unsigned long long)total);
    } else {
        tml_parallel_for(tml, b.chunks, store_chunk, &b);
        tml_parallel_for(tml, b.bands, draw_band, &b);
    }
    tml_free(tml, b.triangles, total * sizeof *b.triangles);
    tml_free(tml, b.places, size);
    return status;
}
