/* A second marching cubes, for comparison: slow, without tables, and without code of the library.
 *
 * It visits cells one by one. On each face, it finds segments by walking around the face from each
 * crossed edge; the segments form loops. The result is the vertices of the mesh, in order, and the
 * directed segments that bound the triangles of each cell. Inside a cell, other triangulations are
 * right, too, if they have the same number of triangles and the same outer edges. */
#ifndef SUPPORT_MARCHING_CUBES_H
#define SUPPORT_MARCHING_CUBES_H

#include <trommel/surface.h>

typedef struct mc_input {
    const void *samples;
    tml_type type;
    tml_grid grid;
    tml_region region;      /* zeroed: everything */
    const uint8_t *mask;    /* or NULL */
    const float *attribute; /* or NULL */
    double iso;
    bool is_label; /* inside is sample == label */
    uint64_t label;
    bool caps;
    bool flip;
    double position_origin[3];
} mc_input;

typedef struct mc_segment {
    uint64_t from, to; /* vertices */
} mc_segment;

/* A cell that has triangles. */
typedef struct mc_cell {
    uint64_t segment_first, segment_count;
    uint64_t triangle_count;
    uint64_t
        sample; /* its lowest corner; if that is outside the region, the nearest sample inside */
} mc_cell;

typedef struct mc_mesh {
    float *positions; /* vertex_count x 3 */
    float *values;    /* vertex_count, if there is an attribute; else NULL */
    mc_cell *cells;   /* by z, then y, then x */
    mc_segment *segments;
    uint64_t vertex_count, triangle_count, cell_count, segment_count;
    int64_t solid_euler; /* Euler characteristic of the inside, made of samples, edges, faces and
                          * cells; a closed surface has twice this */
} mc_mesh;

mc_mesh mc_extract(const mc_input *input);
void mc_free(mc_mesh *mesh);

/* Returns sample i of an array of any scalar type, rounded to double. */
double mc_sample(const void *samples, tml_type type, uint64_t i);
float mc_half_to_float(uint16_t half);

#endif
