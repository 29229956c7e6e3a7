/* Meshes: what a triangle mesh is in host memory, and what is done to one.
 *
 * tml_mesh is the mesh that files are read to and written from (trommel/io.h). tml_mesh_clean and
 * tml_mesh_collapse change a mesh in host memory, in place. tml_mesh_examine and tml_mesh_smooth
 * take a mesh in buffers: vertices and indices. */
#ifndef TROMMEL_MESH_H
#define TROMMEL_MESH_H

#include <trommel/core.h>
#include <trommel/field.h>

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
    const float *data;   /* vertex_count x components */
} tml_mesh_attribute;

enum { TML_MESH_MAX_ATTRIBUTES = 8 };

/* A mesh in host memory; the writer only reads it. */
typedef struct tml_mesh {
    const float *positions; /* vertex_count x 3, relative to origin */
    const float *normals;   /* vertex_count x 3, or NULL */
    const float *values;    /* vertex_count, or NULL: one scalar a vertex */
    const void *indices; /* triangle_count x 3, uint32_t or uint64_t; NULL: soup, 3 vertices each */
    uint64_t vertex_count;
    uint64_t triangle_count;
    bool indices64;
    double origin[3];
    const char *value_name; /* "intensity"; NULL: "value" */
    const char *comment;    /* one line for formats that hold one; may be NULL */
    /* Texture coordinates of the triangles' corners, so that a vertex may have several. */
    const float *uvs; /* uv_count x 2, or NULL */
    /* triangle_count x 3, into uvs; NULL: uvs has one for each vertex */
    const uint32_t *uv_indices;
    uint64_t uv_count;
    tml_up up;
    /* Of names that differ. One called "color", of 3 or 4 components, is a colour: 0 to 1, coded as
     * sRGB, as in pictures. */
    const tml_mesh_attribute *attributes;
    uint32_t attribute_count; /* at most TML_MESH_MAX_ATTRIBUTES */
    /* Two labels a triangle, what its normal points away from and what it points to, as
     * tml_surface_labels makes them. NULL: none */
    const void *face_labels;
    tml_type face_label_type; /* an integer's */
    bool quads;               /* instead of triangles: triangle_count quads, rows of 4 indices */
} tml_mesh;

/* One isovalue's or label's share of the mesh; indices are into the whole mesh. */
typedef struct tml_surface_part {
    double value; /* the isovalue; of a label the nearest double */
    uint64_t vertex_first, vertex_count;
    uint64_t triangle_first, triangle_count;
    uint64_t label; /* exact, as in desc.labels; of an isovalue 0 */
} tml_surface_part;

/* ---- clean-up and checks on indexed meshes -------------------------------------------------- */

typedef struct tml_mesh_stats {
    uint64_t components;        /* of triangles that share a vertex */
    uint64_t boundary_edges;    /* used by one triangle */
    uint64_t nonmanifold_edges; /* used by more than two, or twice in the same direction */
    int64_t euler;              /* V - E + F over vertices in use */
    double area;
    double
        volume; /* enclosed, signed. NaN where the mesh encloses nothing: where an edge is not used
                    * as often in one direction as in the other */
    double lower[3], upper[3];
    uint64_t misoriented_edges;    /* of nonmanifold_edges, those of just two triangles */
    uint64_t degenerate_triangles; /* of area 0: two corners at one place, or three on a line */
} tml_mesh_stats;

/* Counts over a mesh in buffers (vertices f32x3, indices u32x3 or u64x3). Waits. components_only
 * counts components and leaves the rest 0: it takes 4 bytes a vertex (8 from 2^32 vertices on),
 * all of it 8 bytes a vertex and 24 a triangle. A triangle that has a vertex twice is no face and
 * has no edges. Computed in double. The same numbers whatever the number of threads. Errors:
 * INVALID_ARGUMENT (which triangle has an index out of range), INVALID_HANDLE, OUT_OF_MEMORY,
 * CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_mesh_examine(tml_context *tml, tml_buffer vertices,
                                                   tml_buffer indices, bool components_only,
                                                   tml_mesh_stats *out);

/* A mesh in host arrays. */
typedef struct tml_mesh_arrays {
    float *positions; /* vertex_count x 3 */
    float *normals;   /* vertex_count x 3, or NULL */
    float *values;    /* vertex_count, or NULL */
    struct {
        float *data; /* vertex_count x components, or NULL */
        uint32_t components;
    } attributes[TML_FIELD_MAX_ATTRIBUTES]; /* unused ones zeroed */
    void *indices;                          /* triangle_count x 3, u32 or u64 */
    bool indices64;
    uint64_t vertex_count;
    uint64_t triangle_count;
    tml_surface_part *parts; /* cover the mesh in order, without gaps; share no vertex */
    uint32_t part_count;
    /* Optional, where the arrays are mapped files: lets their pages go. Called after some megabytes
     * each, by the calling thread. */
    void (*let_go)(void *user);
    void *user;
    bool counts_components;
    uint64_t components; /* out, if largest_component or counts_components: of the cleaned mesh */
} tml_mesh_arrays;

/* What tml_surface's largest_component and drop_degenerate do, in place; counts and parts become
 * less. Takes, from the allocator, a bit a triangle and two a vertex; at most 12 bytes (16 from
 * 2^32 on) a vertex that is merged; and, for components, 24 bytes each, more where they meet late,
 * and 45 a vertex of the stretch that is looked at: some 2^18 triangles of a surface, and up to the
 * whole mesh where triangles follow one another without order. On failure the mesh is undefined,
 * but for INVALID_ARGUMENT (parts that do not cover the mesh; an index that is no vertex of its
 * part), which leaves it as it was. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_mesh_clean(tml_context *tml, tml_mesh_arrays *mesh,
                                                 bool largest_component, bool drop_degenerate);

/* Collapses edges shorter than length, in place, so that most slivers go, of which a marched mesh
 * has many: the vertices become one at their mean. Only where the mesh stays as it is in kind:
 * closed, oriented, a manifold, with the components and holes that it had; where no triangle around
 * turns by more than 60 degrees, and the flattest of them becomes no flatter. What is no manifold,
 * and boundaries, stay. Normals and values become the means of those of the vertices, counts and
 * parts less. Two meshes that are the same become the same. Takes, from the allocator, 12 bytes a
 * triangle and 8 a vertex.
 * Errors: INVALID_ARGUMENT (length, or as tml_mesh_clean), UNSUPPORTED (2^32 / 3 triangles or
 * more), OUT_OF_MEMORY, CANCELLED: the mesh is then undefined, but for the first two. After: Moore,
 * Warren: Compact Isocontours from Sampled Data. 1992. */
TML_API TML_MUST_CHECK tml_status tml_mesh_collapse(tml_context *tml, tml_mesh_arrays *mesh,
                                                    double length);

/* ---- smoothing ------------------------------------------------------------------------------- */

typedef enum tml_smooth_method {
    /* a step by lambda, then one by mu, which is negative: what is large stays as large */
    TML_SMOOTH_TAUBIN,
    TML_SMOOTH_LAPLACIAN, /* a step by lambda: everything shrinks, least what has small weights */
} tml_smooth_method;

/* Moves the vertices of a mesh, and not its triangles: in each step each vertex goes by its weight
 * times lambda (or mu) of the way to the mean of its neighbours. At least one of out and normals is
 * given. */
typedef struct tml_mesh_smooth_desc {
    tml_buffer vertices; /* f32x3 */
    tml_buffer indices;  /* u32x3 or u64x3 */
    /* Optional: f32, one a vertex, 0 (stays) to 1; what is less or NaN is 0, what is more is 1. Of
     * a surface of particles, how crowded these are there: drops stay as they are, and sheets
     * become smooth. */
    tml_buffer weights;
    uint32_t iterations; /* some 10 to 50; at most 10000. 0: out are the vertices */
    tml_smooth_method method;
    double lambda; /* above 0, at most 1; 0: 0.5 */
    /* Of TAUBIN: less than -lambda; 0: 1 / (0.1 - 1 / lambda), -0.526 with lambda's 0.5. What makes
     * waves of the mesh's length grow is INVALID_ARGUMENT: (1 - 2 lambda)(1 - 2 mu) beyond 1. */
    double mu;
    /* boundary vertices move, too; without it they, and others of edges that two triangles do not
     * run along in opposite directions, stay */
    bool free_boundary;
    tml_buffer out;     /* f32x3, a vertex each; may be vertices */
    tml_buffer normals; /* f32x3, likewise: of out's, by the triangles' areas; of length 1, or 0 */
} tml_mesh_smooth_desc;

/* Smooths. A neighbour counts once for each triangle that it shares with the vertex, so equally
 * where the mesh is closed; vertices of no triangle stay. The same bytes for any number of threads;
 * GPUs may differ in each step's last bits. A program of streams: reads one word back, and waits
 * for that. Memory of the device, for its time: 52 bytes a triangle and 24 a vertex, and what
 * tml_sort takes. Fewer than 2^30 triangles and 2^32 - 1 vertices. Errors: INVALID_ARGUMENT (which
 * triangle has an index out of range, or a coordinate that is not finite and within 2^100),
 * INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED (more triangles; OpenGL ES 2's
 * tier), CANCELLED; out and normals are then undefined. After: Taubin: A Signal Processing Approach
 * to Fair Surface Design. 1995; Loeschner, Boettcher, Jeske, Bender: Weighted Laplacian Smoothing
 * for Surface Reconstruction of Particle-based Fluids. 2023 (weights). */
TML_API TML_MUST_CHECK tml_status tml_mesh_smooth(tml_context *tml,
                                                  const tml_mesh_smooth_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
