/* Subdivide: triangle meshes to smooth surfaces, by Loop's scheme.
 *
 * A mesh is prepared once (tml_subdivider_create: topology, checks, sharpness) and then
 * subdivided as often as wanted: uniformly to a level, or adaptively for a criterion, such as a
 * camera's.
 *
 *   scheme     Loop's masks with Loop's own weights, as OpenSubdiv has them, or Warren's.
 *              Boundaries, corners, semi-sharp and infinitely sharp creases, darts; vertices of
 *              any valence
 *   sharpness  0 is smooth; each level takes 1 off, and below 1 the sharp and the smooth rule
 *              are blended (DeRose, Kass, Truong 1998); from 10 on it is infinite. A crease ends
 *              in a dart, three creases meet in a corner. Boundary edges are infinitely sharp
 *   limit      where a vertex ends up after infinitely many levels, and the surface's normal
 *              there, from its neighbours at one level. Creases that are still sharp count as
 *              infinitely sharp
 *   winding    counter-clockwise seen from outside, in and out; normals point outside. On a
 *              crease or a corner, where the surface has several normals, the one that is
 *              written is their sum, made unit length; 0 0 0 where there is none
 *   order      uniform: triangle f of level l + 1 comes from triangle f / 4, children 0 to 2 at
 *              its corners, child 3 between them; vertices of a level keep their numbers, and
 *              new ones follow in the order of their edges. Adaptive: triangles by level, the
 *              finest first, within a level as their parents lie; vertices by the level at which
 *              they arose
 *   repeats    every vertex is computed once, by gathering, in a fixed order, with no float
 *              atomics: the result is the same bit for bit for any number of threads. Topology
 *              is equal bit for bit on every engine, positions within 2^-20 of the mesh's
 *              largest coordinate (an adaptive decision that lies so close to its threshold may
 *              fall the other way)
 *   cracks     there are none: the decision to split an edge and the vertex that splits it
 *              belong to the edge. An adaptive mesh is closed and oriented wherever its input is
 *   engines    CPU, Vulkan, OpenGL ES 3. UNSUPPORTED: OpenGL ES 2 and WebGL 1
 *   limits     less than 2^32 / 3 triangles at every level; on OpenGL, arrays that fit a texture
 *
 * After: Loop: Smooth Subdivision Surfaces Based on Triangles. 1987; Hoppe et al.: Piecewise
 * Smooth Surface Reconstruction. 1994; Warren: Subdivision methods for geometric design. 1995;
 * Bank, Sherman, Weiser: Some Refinement Algorithms and Data Structures for Regular Local Mesh
 * Refinement. 1983 (red and green triangles); Vanhoey, Dupuy: A Halfedge Refinement Rule for
 * Parallel Loop Subdivision. 2022. */
#ifndef TROMMEL_SUBDIVIDE_H
#define TROMMEL_SUBDIVIDE_H

#include <trommel/core.h>
#include <trommel/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TML_SUBDIVIDE_MAX_ATTRIBUTES = 8,
    TML_SUBDIVIDE_MAX_CHANNELS = 4,
    TML_SUBDIVIDE_MAX_LEVELS = 12,
};

/* Sharpness from which on a crease or corner stays sharp for ever. */
#define TML_SHARPNESS_INFINITE 10.0f

/* ---- a mesh prepared ------------------------------------------------------------------------ */

typedef enum tml_subdivide_weights {
    TML_WEIGHTS_LOOP, /* beta = (5/8 - (3/8 + cos(2 pi / n) / 4)^2) / n */
    /* beta = 3 / (8 n), 3/16 for n = 3; the same surface for n = 3 and 6 alone */
    TML_WEIGHTS_WARREN,
} tml_subdivide_weights;

/* What a boundary does at its vertices. (OpenSubdiv: VTX_BOUNDARY_...) */
typedef enum tml_subdivide_boundary {
    TML_BOUNDARY_EDGE_ONLY,       /* a smooth curve throughout */
    TML_BOUNDARY_EDGE_AND_CORNER, /* vertices of a single triangle stay where they are */
    TML_BOUNDARY_PINNED,          /* every boundary vertex does: the boundary keeps its shape */
} tml_subdivide_boundary;

/* How the values of a channel, such as UVs, are interpolated. (OpenSubdiv: FVAR_LINEAR_...) */
typedef enum tml_subdivide_seams {
    TML_SEAMS_CORNERS, /* smooth; seams are smooth curves, corners of a single triangle are kept */
    TML_SEAMS_SMOOTH,  /* smooth; seams are smooth curves throughout */
    TML_SEAMS_PINNED,  /* smooth inside; seams keep their shape */
    TML_SEAMS_LINEAR,  /* linear in every triangle */
} tml_subdivide_seams;

/* Face-varying values: triangle t has values[indices[t].x], ... at its corners, whatever vertices
 * it has there. An edge whose two triangles do not agree on its values is a seam. */
typedef struct tml_subdivide_channel {
    tml_buffer values;  /* f32, f32x2, f32x3 or f32x4 */
    tml_buffer indices; /* u32x3, one a triangle */
    tml_subdivide_seams seams;
} tml_subdivide_channel;

typedef struct tml_subdivider_desc {
    tml_buffer positions; /* f32x3, finite */
    tml_buffer indices;   /* u32x3 */
    /* f32, f32x2, f32x3 or f32x4, one a vertex, treated as positions are. Unused: zeroed. */
    tml_buffer attributes[TML_SUBDIVIDE_MAX_ATTRIBUTES];
    tml_subdivide_channel channels[TML_SUBDIVIDE_MAX_CHANNELS];
    /* Optional creases: u32x2, two vertices of an edge of the mesh; f32, one a crease, none:
     * infinite. Of an edge named twice the sharper counts. */
    tml_buffer crease_edges, crease_sharpness;
    /* Optional corners: u32, vertices; f32, one a corner, none: infinite. */
    tml_buffer corners, corner_sharpness;
    tml_subdivide_boundary boundary;
    tml_subdivide_weights weights;
    /* Mend what can be mended instead of refusing it: triangles with two equal corners are left
     * out, and of those with the same three corners, whichever way they are wound, all but the
     * first; windings made to agree within each component (with most of its area), vertices that
     * several fans share split into one for each, edges of more than two triangles cut apart. Where
     * such an edge's triangles meet again elsewhere around both ends, their borders keep the two
     * vertices in common; once the edge is split they lie apart. So a mesh whose faces all come
     * twice becomes the mesh, and a sheet modelled from both sides one sheet. But two triangles of
     * opposite winding that share their three edges with no other triangle are the two sides of a
     * closed sheet, a manifold as they are, and stay. */
    bool fix;
} tml_subdivider_desc;

typedef struct tml_subdivider tml_subdivider;

typedef struct tml_subdivider_info {
    uint64_t vertex_count, edge_count, triangle_count;
    uint64_t boundary_edge_count, sharp_edge_count; /* sharp: creases without the boundary */
    uint32_t max_valence;
    float max_sharpness; /* the greatest that is finite: levels after which creases are constant */
    /* With fix: what was done. */
    uint64_t removed_triangles, flipped_triangles, split_vertices;
    uint64_t duplicate_triangles; /* of the removed: those with the corners of another one */
} tml_subdivider_info;

/* Prepares a mesh: on the host, so an engine that computes elsewhere waits for the buffers, once.
 * They are copied, and may be destroyed afterwards. Without fix, a mesh that is not a manifold with
 * agreeing windings is refused, with a message that names the edge by its vertices and the
 * triangles at it: an edge of more than two triangles, an edge that two triangles run through in
 * the same direction, a vertex where several fans of triangles meet, a triangle with two equal
 * corners. Vertices that no triangle uses are kept, and stay where they are. Memory: 24 bytes a
 * triangle on the device and about 60 on the host while the call lasts. Errors: INVALID_ARGUMENT
 * (also an index out of range, a position that is not finite, a crease that is no edge: which one),
 * INVALID_HANDLE, UNSUPPORTED, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY. On failure *out is NULL. */
TML_API TML_MUST_CHECK tml_status tml_subdivider_create(tml_context *tml,
                                                        const tml_subdivider_desc *desc,
                                                        tml_subdivider **out);
TML_API void tml_subdivider_describe(const tml_subdivider *subdivider, tml_subdivider_info *out);
/* Gives the mesh new positions, one a vertex as before; of a mesh that moves. With fix, vertices
 * that were split follow their originals. Enqueues. */
TML_API TML_MUST_CHECK tml_status tml_subdivider_move(tml_subdivider *subdivider,
                                                      tml_buffer positions);
/* tml: as at its creation. A subdivider of NULL is allowed. Before tml_close. */
TML_API void tml_subdivider_destroy(tml_context *tml, tml_subdivider *subdivider);

/* ---- results -------------------------------------------------------------------------------- */

/* Buffers of a subdivided mesh (core.h, what programs make). */
typedef struct tml_subdivide_buffers {
    tml_buffer positions;                                /* f32x3 */
    tml_buffer normals;                                  /* f32x3, if asked for */
    tml_buffer indices;                                  /* u32x3 */
    tml_buffer attributes[TML_SUBDIVIDE_MAX_ATTRIBUTES]; /* of the types that came in */
    tml_buffer channel_values[TML_SUBDIVIDE_MAX_CHANNELS];
    tml_buffer channel_indices[TML_SUBDIVIDE_MAX_CHANNELS]; /* u32x3 */
    /* Adaptive, if asked for: u32x2, of each triangle the one of the input from which it comes, and
     * its level. */
    tml_buffer origins;
} tml_subdivide_buffers;

typedef struct tml_subdivide_result {
    tml_subdivide_buffers buffers;
    uint32_t owned; /* bit i: the i-th handle in buffers (core.h, what programs make) */
    uint64_t vertex_count, triangle_count;
    uint64_t channel_counts[TML_SUBDIVIDE_MAX_CHANNELS]; /* values in each channel */
    /* Adaptive. */
    uint32_t depth;        /* levels of the finest triangle */
    bool is_within_budget; /* false: the budget was too small for the criterion */
    bool is_within_depth;  /* false: some edges ask for more than max_depth */
    /* what the criterion says of the worst edge that was left as it is, as a multiple of the
     * threshold: at most 1 where the criterion is met everywhere */
    double error;
} tml_subdivide_result;

/* Destroys the buffers that were not given to the call. Zeroes the result. */
TML_API void tml_subdivide_free(tml_context *tml, tml_subdivide_result *result);

/* ---- uniform -------------------------------------------------------------------------------- */

typedef struct tml_subdivide_uniform_desc {
    uint32_t levels; /* 0 to TML_SUBDIVIDE_MAX_LEVELS */
    bool limit;   /* move the last level's vertices, attributes and channel values to the limit */
    bool normals; /* of the limit surface */
    tml_subdivide_buffers buffers;
} tml_subdivide_uniform_desc;

/* V + E vertices, 2E + 3F edges and 4F triangles of each level's V, E and F. */
TML_API TML_MUST_CHECK tml_status tml_subdivide_uniform_counts(const tml_subdivider *subdivider,
                                                               uint32_t levels,
                                                               tml_subdivide_result *out);
/* Subdivides every triangle so many times. Enqueues: nothing is read back, and the counts in the
 * result are known by arithmetic. Topology of levels below the last is kept with the subdivider (64
 * bytes a triangle of the level before the last), so that further calls only move vertices. Errors:
 * INVALID_ARGUMENT, INVALID_HANDLE, CAPACITY, UNSUPPORTED (more than 2^32 / 3 triangles),
 * OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CANCELLED. On failure the buffers that the call created are
 * destroyed again. */
TML_API TML_MUST_CHECK tml_status tml_subdivide_uniform(tml_subdivider *subdivider,
                                                        const tml_subdivide_uniform_desc *desc,
                                                        tml_subdivide_result *out);

/* ---- adaptive ------------------------------------------------------------------------------- */

/* What is measured on an edge from a to b, both on the limit surface, m the limit point between
 * them. The edge is split where it exceeds the threshold.
 *
 * Edges inside green triangles run from an edge's middle to a corner or to another middle and are
 * not measured; result.error says nothing of them. Flat ones are shorter than the leaf's longest
 * edge, so LENGTH holds for them but for the surface's bend: on six meshes at two to three
 * thresholds no edge that came out was longer than allowed. ANGLE and DISTANCE are not promised on
 * them.
 *
 * A criterion may grow where an edge is split, as one seen in perspective does, or one of yours.
 * Only children of what was split for its own sake are measured on the way down; where others
 * exceed the threshold, the mesh is made again with a smaller one, 0.8 times as large, three times
 * at most. What is then left shows in result.error. */
typedef enum tml_subdivide_criterion {
    TML_SPLIT_LENGTH, /* |b - a|, in the mesh's units */
    TML_SPLIT_PIXELS, /* the same on the camera's picture, in pixels */
    /* In radians: how far the surface turns along the edge, twice the angle between m - a and b -
     * m, or, if larger, across it: the angle between its two triangles, unless it is sharp. */
    TML_SPLIT_ANGLE,
    /* From the edge to the surface: of m from the line through a and b. In both, m's offset along
     * the surface, aside of the edge, is left out, unless the edge is sharp. */
    TML_SPLIT_DISTANCE,
    /* what a kernel of yours says: float f(vec3 a, vec3 b, vec3 m[, tml_params p]) */
    TML_SPLIT_KERNEL,
} tml_subdivide_criterion;

typedef struct tml_subdivide_camera {
    float matrix
        [16]; /* world to clip space, row-major: clip = matrix * (x, y, z, 1); what lies before the
                       * camera has a positive w, and is seen where |x| and |y| are at most w */
    uint32_t width, height; /* of the picture, in pixels */
    /* what is closer (smaller w) is measured as though it were so far away; positive. 0: a 1000th
     * of the farthest w of the mesh */
    float nearest;
    /* edges outside the picture count, too; without it they are as long as allowed */
    bool everywhere;
} tml_subdivide_camera;

typedef struct tml_subdivide_adaptive_desc {
    tml_subdivide_criterion criterion;
    float threshold;             /* positive; kernels: 0 is 1 */
    tml_subdivide_camera camera; /* PIXELS */
    const tml_kernel *kernel;    /* KERNEL */
    tml_params params;           /* for the kernel */
    uint32_t max_depth;          /* levels; 0: TML_SUBDIVIDE_MAX_LEVELS */
    /* triangles at most; 0: as many as it takes. Where the criterion asks for more, the threshold
     * is raised until it does not: the largest errors go first */
    uint64_t budget;
    /* close T-junctions by thin triangles, of some area, from the edge to the vertex that splits
     * it, instead of by green triangles; the mesh is closed either way */
    bool slivers;
    bool normals; /* of the limit surface */
    bool origins;
    tml_subdivide_buffers buffers;
} tml_subdivide_adaptive_desc;

/* Splits triangles into four (red) as long as one of their edges exceeds the threshold, triangles
 * of neighbouring levels differing by one at most, and those beside a split edge into two to four
 * (green). Vertices lie on the limit surface, whatever the level at which they arose. Edges of a
 * crease that is still semi-sharp are split whatever their size, since the limit is known once it
 * is not: as many levels as its sharpness, rounded up, or max_depth, whatever the criterion asks.
 * Synchronous: the result's sizes are known on return. A subdivider's first call on a GPU waits for
 * counts at every level. Later ones expect about what the one before them counted, and wait once,
 * for all counts; where one exceeds what was expected, the mesh is made again with exact sizes. The
 * results are the same to the bit either way. Buffers for the levels are kept with the subdivider
 * and used again, so a camera that moves costs no allocation unless more is needed. max_depth 0
 * with a criterion that never ends stops at TML_SUBDIVIDE_MAX_LEVELS. Reports progress and can be
 * cancelled. Errors as tml_subdivide_uniform, and INVALID_ARGUMENT for a budget below the input's
 * triangles. */
TML_API TML_MUST_CHECK tml_status tml_subdivide_adaptive(tml_subdivider *subdivider,
                                                         const tml_subdivide_adaptive_desc *desc,
                                                         tml_subdivide_result *out);

/* ---- adaptive, in a frame ------------------------------------------------------------------- */

/* Floats of a camera on the device: its matrix; width and height; nearest, positive; everywhere, 0
 * or 1. */
enum { TML_SUBDIVIDE_CAMERA_FLOATS = 20 };

/* What had no room: bits of counts[2]. */
enum {
    TML_SUBDIVIDE_SHORT_VERTICES = 1,  /* of the outputs, channel values included */
    TML_SUBDIVIDE_SHORT_TRIANGLES = 2, /* of the outputs */
    TML_SUBDIVIDE_SHORT_LEVELS = 4,    /* level_triangles */
};

/* Adaptive subdivision for a frame: what is needed is written where the frame's next commands look
 * for it, and nothing comes back to the host. */
typedef struct tml_subdivide_adaptive_enqueue_desc {
    /* As for tml_subdivide_adaptive, with all output buffers given; their sizes are the capacities.
     * No budget. Give max_depth: each level takes its time, also where it is empty. */
    const tml_subdivide_adaptive_desc *adaptive;
    tml_buffer camera; /* PIXELS: f32, TML_SUBDIVIDE_CAMERA_FLOATS; stands for adaptive->camera */
    /* triangles that a level may have, with those that only masks need; 0: as many as indices has
     * room for */
    uint64_t level_triangles;
    tml_buffer counts; /* optional: u32, 3: vertices and triangles that the mesh has, which may be
                        * more than there is room for, and TML_SUBDIVIDE_SHORT_... bits, 0 where all
                        * had room */
    tml_buffer draw;   /* optional: u32, 5: a VkDrawIndexedIndirectCommand of the triangles that
                        * are in indices, one instance */
} tml_subdivide_adaptive_enqueue_desc;

/* Enqueues an adaptive subdivision: the mesh that tml_subdivide_adaptive makes, bit for bit, where
 * the criterion is met at once (it tries no smaller threshold) and there is room. Reads nothing
 * back, waits for nothing, and, once it was prepared (tml_prepare_begin) and the
 * arena reserved (tml_reserve), allocates nothing; so it may stand between tml_vulkan_record and
 * tml_vulkan_record_end. Where a level would have more triangles than level_triangles, the level
 * before it is the finest: the mesh is that of a smaller max_depth, whole and closed. Of outputs
 * that are too small the first vertices and triangles are written, and nothing past a capacity;
 * triangles may then name vertices that were not. Errors: INVALID_ARGUMENT, INVALID_HANDLE,
 * UNSUPPORTED, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, SCRATCH_TOO_SMALL. */
TML_API TML_MUST_CHECK tml_status tml_subdivide_adaptive_enqueue(
    tml_subdivider *subdivider, const tml_subdivide_adaptive_enqueue_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
