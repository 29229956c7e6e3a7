/* A z-buffer rasteriser for meshes of many small triangles. For each sample of a grid, it stores
 * the nearest triangle and its depth. Shading is done later, and only for visible triangles. */
#ifndef CLI_RASTER_H
#define CLI_RASTER_H

#include <trommel/extend.h>
#include <trommel/mesh.h>

/* Fractional bits of a position on the sample grid. */
enum { RASTER_SUBPIXEL_BITS = 8, RASTER_SUBPIXEL = 1 << RASTER_SUBPIXEL_BITS };

typedef struct raster_vertex {
    int32_t x, y; /* in 1 / RASTER_SUBPIXEL samples; y points down */
    float depth;  /* more is nearer, linear on the screen; not above 0: triangles with this vertex
                   * are left out */
} raster_vertex;

/* The nearest triangle of each sample, and its depth; 0 if there is none. If depths are equal, the
 * lower triangle number wins. So the picture depends neither on the order of drawing nor on
 * threads. Triangle numbers are undefined where the depth is 0. */
typedef struct raster_target {
    uint32_t width, height, stride; /* stride: raster_stride(width) samples from row to row */
    float *depths;
    uint32_t *triangles;
} raster_target;

/* Room for a row of samples that are drawn in groups. */
uint32_t raster_stride(uint32_t width);

enum { RASTER_MAX_SIDE = 3 * 8192 };

/* The most triangles that are drawn, since triangle numbers have 32 bits. */
#define RASTER_MAX_TRIANGLES 0xffffffffu

/* A coordinate in samples as fixed point. Far outside positions are clamped, which is invisible,
 * since a picture's camera frames the whole mesh. */
int32_t raster_fixed(double samples);

/* The three vertices of a triangle, indexed or soup. Returns false if an index is out of range. */
bool raster_corners(const tml_mesh *mesh, uint64_t triangle, uint64_t corners[3]);

/* Draws both sides of all triangles of mesh into target, over its present contents, on the
 * context's threads. Sides of target are at most RASTER_MAX_SIDE. Allocates about 4 bytes per
 * triangle that covers a sample. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status raster_draw(tml_context *tml, const raster_target *target,
                                      const tml_mesh *mesh, const raster_vertex *vertices);

#endif
