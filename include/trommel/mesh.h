/* Meshes: what a triangle mesh is in host memory, and what is done to one.
 *
 * tml_mesh is the mesh that files are read to and written from (trommel/meshes.h). tml_mesh_clean and
 * tml_mesh_collapse change a mesh in host memory, in place. tml_mesh_buffers is a mesh in buffers,
 * which tml_mesh_examine and tml_mesh_smooth read. */
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

/* What each vertex carries beside its normal: a velocity, a colour. */
typedef struct tml_mesh_attribute {
    const char *name;    /* 1 to 63 bytes */
    uint32_t components; /* 1 to 4 */
    float *data;         /* vertex_count x components */
} tml_mesh_attribute;

enum { TML_MESH_MAX_ATTRIBUTES = 8 };

/* A part of a mesh: the vertices and triangles of an isovalue or label. Indices are numbers in the
 * whole mesh. */
typedef struct tml_mesh_part {
    double value; /* the isovalue; of a label the nearest double */
    uint64_t vertex_first, vertex_count;
    uint64_t triangle_first, triangle_count;
    uint64_t label; /* exact, as in tml_surface_desc.labels; of an isovalue 0 */
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
 * face_labels      two labels per triangle, or NULL: the label that the triangle's normal points
 *                  away from, and the label that it points to, as tml_surface_labels makes them
 * face_label_type  an integer's
 * parts            part_count parts that cover the mesh in order, without gaps, and share no
 *                  vertex; NULL: the mesh is one part. Files do not have them
 * origin           added to positions
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

/* Members that a mesh does not have are none (zeroed).
 * positions  f32x3
 * normals    f32x3
 * values     f32: one scalar per vertex
 * indices    u32x3 or u64x3; none: a soup, 3 vertices per triangle */
typedef struct tml_mesh_buffers {
    tml_buffer positions, normals, values, indices;
} tml_mesh_buffers;

/* ---- clean-up and checks on indexed meshes -------------------------------------------------- */

typedef struct tml_mesh_stats {
    uint64_t components;        /* of triangles that share a vertex */
    uint64_t boundary_edges;    /* used by one triangle */
    uint64_t nonmanifold_edges; /* used by more than two, or twice in the same direction */
    int64_t euler;              /* V - E + F over vertices in use */
    double area;
    /* Enclosed, signed. NaN where the mesh encloses nothing: an edge is not used as often in one
     * direction as in the other. */
    double volume;
    double lower[3], upper[3];
    uint64_t misoriented_edges;    /* of nonmanifold_edges, those of just two triangles */
    uint64_t degenerate_triangles; /* of area 0: two corners at one place, or three on a line */
} tml_mesh_stats;

/* Counts and measures a mesh in buffers. A triangle that has a vertex twice is no face and has no
 * edges. Computed in double, with the same numbers for any number of threads.
 * mesh             positions and indices; the others are not read
 * components_only  counts components and leaves the rest 0
 * Waits: for everything.
 * Memory: 8 bytes per vertex and 24 per triangle; with components_only 4 bytes per vertex (8 from
 *         2^32 vertices on).
 * Errors: INVALID_ARGUMENT (which triangle has an index out of range), INVALID_HANDLE,
 *         OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_mesh_examine(tml_context *tml, const tml_mesh_buffers *mesh,
                                                   bool components_only, tml_mesh_stats *out);

/* Leaves out, in place, what tml_surface's largest_component and drop_degenerate leave out.
 * mesh               indexed triangles. Counts and parts become less; normals, values, attributes,
 *                    texture coordinates and labels are kept
 * largest_component  keeps, of each part, the component with the most triangles
 * drop_degenerate    removes triangles with two corners of equal position, which become one vertex
 * components         optional: the connected components of the cleaned mesh
 * Memory: a bit per triangle and two per vertex; at most 12 bytes (16 from 2^32 vertices on) per
 *         vertex that is merged; and, for components, 24 bytes each, more where they meet late, and
 *         45 per vertex of the stretch that is looked at: some 2^18 triangles of a surface, and up
 *         to the whole mesh where triangles follow one another without order.
 * Errors: INVALID_ARGUMENT (a soup or quads, parts that do not cover the mesh, an index that is no
 *         vertex of its part), which leaves the mesh as it was; OUT_OF_MEMORY, CANCELLED: the mesh
 *         is then undefined. */
TML_API TML_MUST_CHECK tml_status tml_mesh_clean(tml_context *tml, tml_mesh *mesh,
                                                 bool largest_component, bool drop_degenerate,
                                                 uint64_t *components);

/* Collapses edges shorter than length, in place: removes most slivers, of which a mesh from
 * marching cubes has many. The two vertices become one at their mean. An edge is collapsed only
 * where the mesh stays closed, oriented and a manifold, with the components and holes that it had;
 * where no triangle around turns by more than 60 degrees, and the flattest of them becomes no
 * flatter. Non-manifold and boundary edges are kept. Two meshes that are the same become the same.
 * mesh    as of tml_mesh_clean. What vertices carry becomes the mean of the two
 * Memory: 12 bytes per triangle and 8 per vertex.
 * Errors: INVALID_ARGUMENT (length, or as tml_mesh_clean) and UNSUPPORTED (2^32 / 3 triangles or
 *         more), which leave the mesh as it was; OUT_OF_MEMORY, CANCELLED: the mesh is then
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

/* Moves the vertices of a mesh and keeps its triangles: in each step a vertex goes its weight times
 * lambda (or mu) of the way to the mean of its neighbours. At least one of out and normals is
 * given. */
typedef struct tml_mesh_smooth_desc {
    tml_mesh_buffers mesh; /* positions and indices; the others are not read */
    /* Optional: f32, one per vertex, 0 (stays) to 1. Less than 0 and NaN count as 0, more than 1 as
     * 1. For a surface of particles, how crowded the particles are at the vertex: drops stay as
     * they are, and sheets become smooth. */
    tml_buffer weights;
    uint32_t iterations; /* some 10 to 50; at most 10000. 0: out are mesh.positions */
    tml_smooth_method method;
    double lambda; /* above 0, at most 1; 0: 0.5 */
    /* For TAUBIN, less than -lambda; 0: 1 / (0.1 - 1 / lambda), -0.526 with lambda's 0.5.
     * (1 - 2 lambda)(1 - 2 mu) beyond 1 is INVALID_ARGUMENT: the shortest waves would grow. */
    double mu;
    /* Boundary vertices move, too. Without it, boundary vertices stay, and so do vertices of edges
     * that are not used by just two triangles in opposite directions. */
    bool free_boundary;
    tml_buffer out;     /* f32x3, one per vertex; may be mesh.positions */
    tml_buffer normals; /* f32x3, one per vertex of out, weighted by area; of length 1, or 0 */
} tml_mesh_smooth_desc;

/* Smooths. A neighbour counts once for each triangle that it shares with the vertex, so equally
 * where the mesh is closed. Vertices without a triangle stay. The bytes are the same for any number
 * of threads; GPUs may differ in each step's last bits. Fewer than 2^30 triangles and 2^32 - 1
 * vertices.
 * Waits: for one word, which a program of streams reads back.
 * Memory: of the device, during the call, 52 bytes per triangle, 24 per vertex, and what tml_sort
 *         takes.
 * Errors: INVALID_ARGUMENT (which triangle has an index out of range, or a coordinate that is not
 *         finite and within 2^100), INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY,
 *         UNSUPPORTED (more triangles; OpenGL ES 2's tier), CANCELLED; out and normals are then
 *         undefined.
 * After: Taubin: A Signal Processing Approach to Fair Surface Design. 1995; Loeschner, Boettcher,
 *        Jeske, Bender: Weighted Laplacian Smoothing for Surface Reconstruction of Particle-based
 *        Fluids. 2023 (weights). */
TML_API TML_MUST_CHECK tml_status tml_mesh_smooth(tml_context *tml,
                                                  const tml_mesh_smooth_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
