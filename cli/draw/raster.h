/* A z-buffer rasteriser for meshes of many small triangles: it stores, for each sample of a grid,
 * which triangle is nearest and how near. Shading comes later and only for what is seen. */
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

/* The nearest triangle of each sample and its depth, 0 where nothing is. Nearest wins, then the
 * lower triangle number: that does not depend on the order of drawing, so the picture does not
 * depend on threads. Triangle numbers are defined where depths are not 0. */
typedef struct raster_target {
    uint32_t width, height, stride; /* stride: raster_stride(width) samples from row to row */
    float *depths;
    uint32_t *triangles;
} raster_target;

/* Room for a row of samples that are drawn in groups. */
uint32_t raster_stride(uint32_t width);

enum { RASTER_MAX_SIDE = 3 * 8192 };

/* Triangle numbers are 32 bits: more triangles than this are not drawn. */
#define RASTER_MAX_TRIANGLES 0xffffffffu

/* A coordinate in samples as fixed point; far outside positions are moved in, which is never seen
 * because a picture's camera takes in the whole mesh. */
int32_t raster_fixed(double samples);

/* The three vertices of a triangle, indexed or soup; false when one is out of range. */
bool raster_corners(const tml_mesh *mesh, uint64_t triangle, uint64_t corners[3]);

/* Draws all triangles of mesh, both sides, on the context's threads, over what target held
 * before. Sides of target are up to RASTER_MAX_SIDE. Allocates about 4 bytes a triangle that
 * covers a sample. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status raster_draw(tml_context *tml, const raster_target *target,
                                      const tml_mesh *mesh, const raster_vertex *vertices);

#endif
