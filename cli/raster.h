/* A z-buffer rasteriser for meshes of many small triangles: it stores, for each sample of a grid,
 * which triangle is nearest and how near. Shading comes later and only for what is seen. */
#ifndef CLI_RASTER_H
#define CLI_RASTER_H

#include <stdatomic.h>

#include <trommel/io.h>

/* Fractional bits of a position on the sample grid. */
enum { RASTER_SUBPIXEL_BITS = 8, RASTER_SUBPIXEL = 1 << RASTER_SUBPIXEL_BITS };

typedef struct raster_vertex {
    int32_t x, y; /* in 1 / RASTER_SUBPIXEL samples; y points down */
    float depth;  /* more is nearer, linear on the screen; not above 0: triangles with this vertex
                   * are left out */
} raster_vertex;

/* Keys are 0 where nothing is. Nearest wins, then the lower triangle number: a maximum does not
 * depend on the order of writing, so the picture does not depend on threads. */
typedef struct raster_target {
    uint32_t width, height;
    _Atomic uint64_t *keys;
} raster_target;

/* Triangle numbers are 32 bits: more triangles than this are not drawn. */
#define RASTER_MAX_TRIANGLES 0xffffffffu

/* A coordinate in samples as fixed point; far outside positions are moved in, which is never seen
 * because a picture's camera takes in the whole mesh. */
int32_t raster_fixed(double samples);

/* The three vertices of a triangle, indexed or soup; false when one is out of range. */
bool raster_corners(const tml_mesh *mesh, uint64_t triangle, uint64_t corners[3]);

/* Draws all triangles of mesh, both sides, on the context's threads. */
void raster_draw(tml_context *tml, const raster_target *target, const tml_mesh *mesh,
                 const raster_vertex *vertices);

static inline bool raster_is_empty(uint64_t key)
{
    return key == 0;
}
static inline uint32_t raster_triangle(uint64_t key)
{
    return ~(uint32_t)key;
}
float raster_depth(uint64_t key);

#endif
