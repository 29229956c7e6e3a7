/* OpenSubdiv's Loop subdivision behind a C interface, to compare with (support_opensubdiv.cpp). */
#ifndef SUPPORT_OPENSUBDIV_H
#define SUPPORT_OPENSUBDIV_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osd_mesh osd_mesh;

/* boundary and seams: numbers of tml_subdivide_boundary (0 and 1) and tml_subdivide_seams. */
typedef struct osd_desc {
    uint32_t vertex_count, triangle_count;
    const uint32_t *triangles;
    uint32_t crease_count;
    const uint32_t *creases; /* 2 each */
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
/* The vertex of the next level that a vertex, or an edge by its vertices, of a level becomes. -1:
 * there is no such edge. */
int32_t osd_child_of_vertex(const osd_mesh *mesh, uint32_t level, uint32_t vertex);
int32_t osd_child_of_edge(const osd_mesh *mesh, uint32_t level, uint32_t a, uint32_t b);
/* Does the surface have one normal at a vertex of a level, or on the boundary one side alone? */
bool osd_is_one_sided(const osd_mesh *mesh, uint32_t level, uint32_t vertex);
/* Vertices, or channel values, of a level. */
uint32_t osd_count(const osd_mesh *mesh, uint32_t level);
uint32_t osd_value_count(const osd_mesh *mesh, uint32_t level);
/* The three values of a triangle of a level, and its vertices. */
void osd_triangle(const osd_mesh *mesh, uint32_t level, uint32_t triangle, uint32_t vertices[3],
                  uint32_t values[3]);
/* Points of all levels from those of level 0, in double: out[level] has room for osd_count
 * points. */
void osd_refine(const osd_mesh *mesh, const float *points, double *const *out);
void osd_refine_values(const osd_mesh *mesh, const float *uvs, double *const *out);
/* The four children of a triangle in the next level. */
void osd_children(const osd_mesh *mesh, uint32_t level, uint32_t triangle, uint32_t children[4]);
/* Limits and tangents of the last level's points; each has room for osd_count(levels) points. */
void osd_limit(const osd_mesh *mesh, const double *points, double *limits, double *tangents_u,
               double *tangents_v);

#ifdef __cplusplus
}
#endif
#endif
