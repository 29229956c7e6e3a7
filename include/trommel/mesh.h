/* Meshes: a triangle mesh in host memory or in buffers, and what is done to one: checks, clean-up
 * and smoothing.
 *
 * tml_mesh is the mesh in host memory that files are read to and written from (trommel/io.h);
 * tml_mesh_clean and tml_mesh_collapse change one in place. tml_mesh_buffers is a mesh in buffers;
 * tml_mesh_examine and tml_mesh_smooth read one.
 *
 *     tml_mesh_stats stats;
 *     tml_mesh_examine(tml, &surface.mesh, false, &stats);    (surface: of tml_surface)
 *     bool is_closed = stats.boundary_edges == 0 && stats.nonmanifold_edges == 0;
 *     tml_mesh_smooth(tml, &(tml_mesh_smooth_desc){.mesh = surface.mesh, .iterations = 20,
 *                                                  .out = surface.mesh.positions}); */
#ifndef TROMMEL_MESH_H
#define TROMMEL_MESH_H

#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a mesh in host memory ------------------------------------------------------------------ */

/* Which axis of the coordinates points up, for the formats that say so. */
typedef enum tml_up {
    TML_UP_NONE, /* not known: coordinates are written as they are */
    TML_UP_Z,
    TML_UP_Y,
    TML_UP_X,
    TML_UP_MINUS_Z,
    TML_UP_MINUS_Y,
    TML_UP_MINUS_X
} tml_up;

/* Data that each vertex carries beside its normal: a velocity or a colour. */
typedef struct tml_mesh_attribute {
    const char *name;    /* 1 to 63 bytes */
    uint32_t components; /* 1 to 4 */
    float *data;         /* vertex_count x components */
} tml_mesh_attribute;

enum { TML_MESH_MAX_ATTRIBUTES = 8 };

/* A part of a mesh: the vertices and triangles of an isovalue or label. Indices are numbers in the
 * whole mesh.
 * value           the isovalue; of a label the nearest double
 * vertex_first    the part's vertices are [vertex_first, vertex_first + vertex_count)
 * triangle_first  likewise; quads, in a mesh of quads
 * label           exact, as in tml_surface_desc.labels; of an isovalue 0 */
typedef struct tml_mesh_part {
    double value;
    uint64_t vertex_first, vertex_count;
    uint64_t triangle_first, triangle_count;
    uint64_t label;
} tml_mesh_part;

/* A mesh in host memory. Its arrays belong to whoever made them; calls that take a const tml_mesh
 * only read them.
 * positions        vertex_count x 3, relative to origin
 * normals          vertex_count x 3, or NULL
 * values           vertex_count, or NULL: one scalar per vertex
 * indices          triangle_count x 3, uint32_t or uint64_t; NULL: a soup, 3 vertices per triangle
 * indices64        indices are uint64_t
 * quads            faces are quads instead of triangles: triangle_count rows of 4 indices
 * attributes       attribute_count, at most TML_MESH_MAX_ATTRIBUTES, of names that differ. One of
 *                  the name "color", of 3 or 4 components, is a colour: 0 to 1, coded as sRGB, as
 *                  in pictures
 * uvs              uv_count x 2, or NULL: texture coordinates of the triangles' corners, so that a
 *                  vertex may have several
 * uv_indices       triangle_count x 3, into uvs; NULL: uvs has one for each vertex
 * face_labels      two labels per triangle, or NULL: the one that the triangle's normal points away
 *                  from, and the one that the normal points to, as tml_surface_labels makes them
 * face_label_type  an integer's
 * parts            part_count parts that cover the mesh in order, without gaps, and share no
 *                  vertex; NULL: the mesh is one part. Files do not have them
 * origin           to be added to positions
 * value_name       "intensity"; NULL: "value"
 * comment          one line for formats that hold one, or NULL
 * up               for formats that say which axis points up
 * release_pages    optional, of arrays that are mapped files: releases their pages. Called by the
 *                  calling thread, after some megabytes each, with user */
typedef struct tml_mesh {
    float *positions;
    float *normals;
    float *values;
    void *indices;
    uint64_t vertex_count;
    uint64_t triangle_count;
    bool indices64;
    bool quads;
    tml_mesh_attribute *attributes;
    uint32_t attribute_count;
    float *uvs;
    uint32_t *uv_indices;
    uint64_t uv_count;
    void *face_labels;
    tml_type face_label_type;
    tml_mesh_part *parts;
    uint32_t part_count;
    double origin[3];
    const char *value_name;
    const char *comment;
    tml_up up;
    void (*release_pages)(void *user);
    void *user;
} tml_mesh;

/* ---- a mesh in buffers ---------------------------------------------------------------------- */

/* A mesh in buffers. Members that a mesh does not have are zeroed.
 * positions  f32x3
 * normals    f32x3
 * values     f32: one scalar per vertex
 * indices    u32x3 or u64x3; none: a soup, 3 vertices per triangle */
typedef struct tml_mesh_buffers {
    tml_buffer positions, normals, values, indices;
} tml_mesh_buffers;

/* ---- clean-up and checks on indexed meshes -------------------------------------------------- */

/* Counts and measures of a mesh.
 * components            of triangles that share a vertex
 * boundary_edges        edges of one triangle
 * nonmanifold_edges     edges of more than two triangles, or of two in the same direction
 * misoriented_edges     of nonmanifold_edges, those of exactly two triangles
 * degenerate_triangles  of area 0: two corners at one place, or three on a line
 * euler                 V - E + F over vertices in use
 * area                  sum over triangles
 * volume                enclosed, signed; NaN if the mesh encloses nothing: some edge is not used
 *                       as often in one direction as in the other
 * lower, upper          the box around vertices in use */
typedef struct tml_mesh_stats {
    uint64_t components;
    uint64_t boundary_edges;
    uint64_t nonmanifold_edges;
    uint64_t misoriented_edges;
    uint64_t degenerate_triangles;
    int64_t euler;
    double area;
    double volume;
    double lower[3], upper[3];
} tml_mesh_stats;

/* Counts and measures a mesh in buffers, in double, with the same numbers for any number of
 * threads. A triangle that has a vertex twice is no face and has no edges.
 * mesh             positions and indices are read
 * components_only  counts components, and leaves the rest 0
 * Waits: for everything.
 * Memory: 8 bytes per vertex and 24 per triangle; with components_only 4 bytes per vertex (8 from
 *         2^32 vertices on).
 * Errors: INVALID_ARGUMENT (names the triangle of which an index is out of range), INVALID_HANDLE,
 *         OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_mesh_examine(tml_context *tml, const tml_mesh_buffers *mesh,
                                                   bool components_only, tml_mesh_stats *out);

/* Leaves out triangles in place, as tml_surface_desc.largest_component and drop_degenerate do.
 * mesh               indexed triangles. Counts and parts become less; vertices and triangles that
 *                    stay keep all they carry
 * largest_component  keeps, of each part, the component with the most triangles
 * drop_degenerate    removes triangles with two corners of equal position, which become one vertex
 * components         optional: the connected components of the cleaned mesh
 * Memory: a bit per triangle, two per vertex, and for merging and components at most 12 and 45
 *         bytes per vertex concerned (docs/numbers.md).
 * Errors: INVALID_ARGUMENT (a soup or quads, parts that do not cover the mesh, an index that is no
 *         vertex of its part), which leaves the mesh as it was; OUT_OF_MEMORY, CANCELLED, which
 *         leave it undefined. */
TML_API TML_MUST_CHECK tml_status tml_mesh_clean(tml_context *tml, tml_mesh *mesh,
                                                 bool largest_component, bool drop_degenerate,
                                                 uint64_t *components);

/* Collapses short edges in place: removes most slivers, of which marching cubes makes many. The two
 * vertices become one at their mean. An edge is collapsed only if the mesh stays closed, oriented
 * and a manifold, with the components and holes that it had, no triangle around turns by more than
 * 60 degrees, and the flattest of them becomes no flatter. Non-manifold and boundary edges are
 * kept. Equal meshes become equal meshes.
 * mesh    as for tml_mesh_clean; what the two vertices carry becomes its mean
 * length  edges shorter than this; positive and finite
 * Memory: 12 bytes per triangle and 8 per vertex.
 * Errors: INVALID_ARGUMENT (length, or as tml_mesh_clean) and UNSUPPORTED (2^32 / 3 triangles or
 *         more), which leave the mesh as it was; OUT_OF_MEMORY, CANCELLED, which leave it
 *         undefined.
 * After: Moore, Warren: Compact Isocontours from Sampled Data. 1992. */
TML_API TML_MUST_CHECK tml_status tml_mesh_collapse(tml_context *tml, tml_mesh *mesh,
                                                    double length);

/* ---- smoothing ------------------------------------------------------------------------------- */

typedef enum tml_smooth_method {
    /* A step by lambda, then one by mu, which is negative: large shapes keep their size. */
    TML_SMOOTH_TAUBIN,
    /* A step by lambda: everything shrinks, vertices of small weights least. */
    TML_SMOOTH_LAPLACIAN,
} tml_smooth_method;

/* How to smooth; mesh, and at least one of out and normals, are required.
 * mesh           positions and indices are read; fewer than 2^30 triangles and 2^32 - 1 vertices
 * iterations     some 10 to 50; at most 10000. 0: out is mesh.positions
 * method         TAUBIN or LAPLACIAN
 * lambda         a vertex goes lambda times its weight of the way to the mean of its neighbours in
 *                each step; above 0, at most 1; 0: 0.5
 * mu             of TAUBIN: the same for the step back, less than -lambda; 0: 1 / (0.1 - 1 /
 *                lambda), which is -0.526 for a lambda of 0.5. If |(1 - 2 lambda)(1 - 2 mu)| is
 *                above 1, the shortest waves would grow: INVALID_ARGUMENT
 * weights        optional: f32, one per vertex, 0 (stays) to 1, clamped; NaN counts as 0.
 *                tml_field_smooth_weights makes weights for a surface of particles
 * free_boundary  vertices on the boundary move, too. Without it such vertices stay, and so do those
 *                of edges that are not of exactly two triangles in opposite directions
 * out            f32x3, one per vertex; may be mesh.positions
 * normals        f32x3, one per vertex of out, weighted by area; of length 1, or 0 */
typedef struct tml_mesh_smooth_desc {
    tml_mesh_buffers mesh;
    uint32_t iterations;
    tml_smooth_method method;
    double lambda;
    double mu;
    tml_buffer weights;
    bool free_boundary;
    tml_buffer out;
    tml_buffer normals;
} tml_mesh_smooth_desc;

/* Moves the vertices of a mesh and keeps its triangles. A neighbour counts once for each triangle
 * that it shares with the vertex. Vertices without a triangle stay. The bytes are the same for any
 * number of threads; GPUs may differ in each step's last bits.
 * Waits: for one word.
 * Memory: of the device, during the call, 52 bytes per triangle, 24 per vertex, and that of
 *         tml_sort.
 * Errors: INVALID_ARGUMENT (names the triangle of which an index is out of range, or a coordinate
 *         that is not finite and within 2^100), INVALID_HANDLE, OUT_OF_MEMORY,
 *         OUT_OF_DEVICE_MEMORY, UNSUPPORTED (larger meshes; the OpenGL float tier), CANCELLED; out
 *         and normals are then undefined.
 * After: Taubin: A Signal Processing Approach to Fair Surface Design. 1995; Loeschner, Boettcher,
 *        Jeske, Bender: Weighted Laplacian Smoothing for Surface Reconstruction of Particle-based
 *        Fluids. 2023 (weights). */
TML_API TML_MUST_CHECK tml_status tml_mesh_smooth(tml_context *tml,
                                                  const tml_mesh_smooth_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
