/* OpenSubdiv's Loop subdivision with a C interface, for comparison (support_opensubdiv.cpp). */
#ifndef SUPPORT_OPENSUBDIV_H
#define SUPPORT_OPENSUBDIV_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osd_mesh osd_mesh;

/* boundary and seams: values of tml_subdivide_boundary (0 and 1) and tml_subdivide_seams. */
typedef struct osd_desc {
    uint32_t vertex_count, triangle_count;
    const uint32_t *triangles;
    uint32_t crease_count;
    const uint32_t *creases; /* 2 vertices each */
    const float *crease_sharpness;
    uint32_t corner_count;
    const uint32_t *corners;
    const float *corner_sharpness;
    int boundary;
    uint32_t value_count; /* 0: no channel */
    const uint32_t *value_triangles;
    int seams;
    uint32_t levels;
} osd_desc;

osd_mesh *osd_create(const osd_desc *desc);
void osd_destroy(osd_mesh *mesh);
/* Return the vertex of the next level that a vertex of a level, or the edge from a to b, becomes.
 * -1: there is no such edge. */
int32_t osd_child_of_vertex(const osd_mesh *mesh, uint32_t level, uint32_t vertex);
int32_t osd_child_of_edge(const osd_mesh *mesh, uint32_t level, uint32_t a, uint32_t b);
/* Does the surface have only one normal at a vertex of a level? At a crease of the boundary it
 * does. */
bool osd_is_one_sided(const osd_mesh *mesh, uint32_t level, uint32_t vertex);
/* Return the number of vertices, or of channel values, of a level. */
uint32_t osd_count(const osd_mesh *mesh, uint32_t level);
uint32_t osd_value_count(const osd_mesh *mesh, uint32_t level);
/* Finds the vertices and the channel values of a triangle of a level. */
void osd_triangle(const osd_mesh *mesh, uint32_t level, uint32_t triangle, uint32_t vertices[3],
                  uint32_t values[3]);
/* Refine points, or channel values, of level 0 to all levels, in double. out[level] has room for
 * osd_count points or osd_value_count values. */
void osd_refine(const osd_mesh *mesh, const float *points, double *const *out);
void osd_refine_values(const osd_mesh *mesh, const float *uvs, double *const *out);
/* Finds the four children of a triangle in the next level. */
void osd_children(const osd_mesh *mesh, uint32_t level, uint32_t triangle, uint32_t children[4]);
/* Computes limits and tangents of the last level's points; each output has room for
 * osd_count(levels) points. */
void osd_limit(const osd_mesh *mesh, const double *points, double *limits, double *tangents_u,
               double *tangents_v);

#ifdef __cplusplus
}
#endif
#endif
