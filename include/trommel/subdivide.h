/* Subdivide: triangle meshes to smooth surfaces, by Loop's scheme. A mesh is prepared once
 * (topology, checks, sharpness) and then subdivided as often as wanted: uniformly to a level, or
 * adaptively for a criterion, such as a camera's.
 *
 *     tml_subdivider *surface;
 *     tml_subdivide_result smooth;
 *     tml_subdivider_create(tml, &(tml_subdivider_desc){.mesh = mesh}, &surface);
 *     tml_subdivide_uniform_enqueue(surface, &(tml_subdivide_uniform_desc){.levels = 3}, &smooth);
 *     tml_mesh_examine(tml, &smooth.buffers.mesh, ...);
 *     tml_subdivide_free(tml, &smooth);
 *     tml_subdivider_destroy(tml, surface);
 *
 * Common to all calls
 *   scheme     Loop's masks with Loop's own weights, as OpenSubdiv has them, or Warren's.
 *              Boundaries, corners, semi-sharp and infinitely sharp creases, darts; vertices of any
 *              valence.
 *   sharpness  0 is smooth. Each level takes 1 off; below 1 the sharp and the smooth rule are
 *              blended; from 10 on it is infinite. A crease ends in a dart; three creases meet in a
 *              corner. Boundary edges are infinitely sharp.
 *   limit      Where a vertex ends up after infinitely many levels, and the surface's normal there,
 *              from its neighbours at one level. Creases that are still sharp count as infinitely
 *              sharp.
 *   winding    Counter-clockwise seen from outside, in and out; normals point outside. On a crease
 *              or a corner, where the surface has several normals, the normal is their sum, made
 *              unit length; 0 0 0 where there is none.
 *   order      Uniform: triangle f of level l + 1 comes from triangle f / 4, children 0 to 2 at its
 *              corners, child 3 between them; vertices of a level keep their numbers, and new ones
 *              follow in the order of their edges. Adaptive: triangles by level, the finest first,
 *              within a level in the order of their parents; vertices by the level at which they
 *              arose.
 *   repeats    Every vertex is computed once, by gathering, in a fixed order, without float
 *              atomics: the result has the same bits for any number of threads. Topology is equal
 *              bit for bit on every engine, positions within 2^-20 of the mesh's largest coordinate
 *              (an adaptive decision that lies so close to its threshold may differ).
 *   cracks     There are none: the decision to split an edge and the vertex that splits it belong
 *              to the edge. An adaptive mesh is closed and oriented wherever its input is.
 *   waiting    Calls whose names end in _enqueue never wait and read nothing back. Every other call
 *              may wait, and must not stand between tml_vulkan_record and tml_vulkan_record_end.
 *   engines    CPU, Vulkan, OpenGL ES 3. UNSUPPORTED: OpenGL ES 2 and WebGL 1.
 *   limits     Less than 2^32 / 3 triangles at every level; on OpenGL, arrays that fit a texture.
 *
 * After: Loop: Smooth Subdivision Surfaces Based on Triangles. 1987; Hoppe et al.: Piecewise
 * Smooth Surface Reconstruction. 1994; Warren: Subdivision methods for geometric design. 1995;
 * DeRose, Kass, Truong: Subdivision Surfaces in Character Animation. 1998 (semi-sharp creases);
 * Bank, Sherman, Weiser: Some Refinement Algorithms and Data Structures for Regular Local Mesh
 * Refinement. 1983 (red and green triangles); Vanhoey, Dupuy: A Halfedge Refinement Rule for
 * Parallel Loop Subdivision. 2022. */
#ifndef TROMMEL_SUBDIVIDE_H
#define TROMMEL_SUBDIVIDE_H

#include <trommel/kernel.h>
#include <trommel/mesh.h>

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
    TML_BOUNDARY_PINNED,          /* every boundary vertex stays: the boundary keeps its shape */
} tml_subdivide_boundary;

/* How the values of a channel, such as UVs, are interpolated. (OpenSubdiv: FVAR_LINEAR_...) */
typedef enum tml_subdivide_seams {
    TML_SEAMS_CORNERS, /* smooth; seams are smooth curves, corners of a single triangle are kept */
    TML_SEAMS_SMOOTH,  /* smooth; seams are smooth curves throughout */
    TML_SEAMS_PINNED,  /* smooth inside; seams keep their shape */
    TML_SEAMS_LINEAR,  /* linear in every triangle */
} tml_subdivide_seams;

/* Face-varying values: triangle t has values[indices[t].x] and so on at its corners, whatever
 * vertices it has there. An edge whose two triangles do not agree on its values is a seam.
 * values   f32, f32x2, f32x3 or f32x4
 * indices  u32x3, one per triangle
 * seams    how values are interpolated */
typedef struct tml_subdivide_channel {
    tml_buffer values;
    tml_buffer indices;
    tml_subdivide_seams seams;
} tml_subdivide_channel;

/* mesh              positions (f32x3, finite) and indices (u32x3); the others are not read
 * attributes        f32, f32x2, f32x3 or f32x4, one per vertex, treated as positions are. Unused:
 *                   zeroed
 * channels          values of the triangles' corners. Unused: zeroed
 * crease_edges      optional: u32x2, two vertices of an edge of the mesh. Of an edge that is named
 *                   twice the sharper counts
 * crease_sharpness  f32, one per crease; none: infinite
 * corners           optional: u32, vertices
 * corner_sharpness  f32, one per corner; none: infinite
 * boundary          what the boundary does
 * weights           which masks
 * fix               mends what can be mended, instead of refusing it. Triangles with two equal
 *                   corners are removed, and of triangles with the same three corners, whatever
 *                   their orientations, all but the first. Orientations are made to agree within
 *                   each component, with most of its area. Vertices that several fans share are
 *                   split into one for each fan. Edges of more than two triangles are cut apart; if
 *                   the triangles of such an edge meet again around both its ends, their borders
 *                   keep the two vertices until the edge is split. So a mesh whose faces all come
 *                   twice becomes the mesh. Two triangles of opposite orientation that share their
 *                   three edges with no other triangle are a closed sheet, which is a manifold, and
 *                   stay */
typedef struct tml_subdivider_desc {
    tml_mesh_buffers mesh;
    tml_buffer attributes[TML_SUBDIVIDE_MAX_ATTRIBUTES];
    tml_subdivide_channel channels[TML_SUBDIVIDE_MAX_CHANNELS];
    tml_buffer crease_edges, crease_sharpness;
    tml_buffer corners, corner_sharpness;
    tml_subdivide_boundary boundary;
    tml_subdivide_weights weights;
    bool fix;
} tml_subdivider_desc;

/* A mesh prepared for subdivision. */
typedef struct tml_subdivider tml_subdivider;

/* Prepares a mesh, on the host. The buffers are copied and may be destroyed afterwards. Vertices
 * that no triangle uses are kept, and stay where they are.
 * Returns: the subdivider; *out is NULL after a failure.
 * Waits:   once, for the buffers.
 * Memory:  24 bytes per triangle on the device, and about 60 on the host during the call.
 * Errors:  INVALID_ARGUMENT (names the place: an index out of range, a position that is not finite,
 *          a crease that is no edge; without fix, a mesh that is not a manifold with agreeing
 *          orientations: an edge of more than two triangles or with two triangles in the same
 *          direction, a vertex of several fans, a triangle with two equal corners),
 *          INVALID_HANDLE, UNSUPPORTED, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_subdivider_create(tml_context *tml,
                                                        const tml_subdivider_desc *desc,
                                                        tml_subdivider **out);
/* Destroys a subdivider, which may be NULL. Call it before tml_close. */
TML_API void tml_subdivider_destroy(tml_context *tml, tml_subdivider *subdivider);

/* Moves the vertices of the mesh, for a mesh that is animated.
 * positions  f32x3, one per vertex as before. Vertices that fix split follow their originals */
TML_API TML_MUST_CHECK tml_status tml_subdivider_move_enqueue(tml_subdivider *subdivider,
                                                              tml_buffer positions);

/* vertex_count to channel_counts are those of a level; the others are of the mesh.
 * vertex_count, edge_count, triangle_count  V, E and F become V + E, 2 E + 3 F and 4 F at the next
 *                                           level
 * channel_counts                            values of each channel
 * boundary_edge_count                       edges of one triangle
 * sharp_edge_count                          creases without the boundary
 * max_valence                               the most edges of a vertex
 * max_sharpness                             the greatest that is finite: after so many levels
 *                                           creases are constant
 * removed_triangles                         what fix did: triangles removed,
 * duplicate_triangles                       of them with the corners of another one,
 * flipped_triangles                         turned round,
 * split_vertices                            and vertices added */
typedef struct tml_subdivider_info {
    uint64_t vertex_count, edge_count, triangle_count;
    uint64_t channel_counts[TML_SUBDIVIDE_MAX_CHANNELS];
    uint64_t boundary_edge_count, sharp_edge_count;
    uint32_t max_valence;
    float max_sharpness;
    uint64_t removed_triangles, duplicate_triangles, flipped_triangles, split_vertices;
} tml_subdivider_info;

/* Describes the mesh, and counts what a level has, by arithmetic.
 * level  0: the mesh itself; at most TML_SUBDIVIDE_MAX_LEVELS, and more count as that */
TML_API void tml_subdivider_describe(const tml_subdivider *subdivider, uint32_t level,
                                     tml_subdivider_info *out);

/* ---- results -------------------------------------------------------------------------------- */

/* Buffers of a subdivided mesh (core.h, what programs make).
 * mesh             positions and indices (u32x3), and normals if asked for; values is not used
 * attributes       of the types that came in
 * channel_values   likewise
 * channel_indices  u32x3, one per triangle
 * origins          adaptive, if asked for: u32x2, per triangle the triangle of the input from which
 *                  it comes, and its level */
typedef struct tml_subdivide_buffers {
    tml_mesh_buffers mesh;
    tml_buffer attributes[TML_SUBDIVIDE_MAX_ATTRIBUTES];
    tml_buffer channel_values[TML_SUBDIVIDE_MAX_CHANNELS];
    tml_buffer channel_indices[TML_SUBDIVIDE_MAX_CHANNELS];
    tml_buffer origins;
} tml_subdivide_buffers;

/* buffers           the mesh
 * vertex_count      and so triangle_count and channel_counts (values of each channel): what buffers
 *                   has, or after CAPACITY should have
 * depth             levels of the finest triangle
 * is_within_budget  adaptive: false if the budget was too small for the criterion
 * is_within_depth   adaptive: false if edges ask for more levels than max_depth
 * error             adaptive: the criterion at the worst edge that was not split, as a multiple of
 *                   the threshold: at most 1 where the criterion is met everywhere
 * owned             bit i: the i-th handle of buffers (core.h, what programs make) */
typedef struct tml_subdivide_result {
    tml_subdivide_buffers buffers;
    uint64_t vertex_count, triangle_count;
    uint64_t channel_counts[TML_SUBDIVIDE_MAX_CHANNELS];
    uint32_t depth;
    bool is_within_budget;
    bool is_within_depth;
    double error;
    uint32_t owned;
} tml_subdivide_result;

/* Destroys the buffers that belong to a result, and zeroes it. */
TML_API void tml_subdivide_free(tml_context *tml, tml_subdivide_result *result);

/* ---- uniform -------------------------------------------------------------------------------- */

/* levels   0 to TML_SUBDIVIDE_MAX_LEVELS
 * limit    moves the last level's vertices, attributes and channel values to the limit
 * normals  makes normals of the limit surface
 * buffers  where the mesh goes; buffers that are zeroed are made */
typedef struct tml_subdivide_uniform_desc {
    uint32_t levels;
    bool limit;
    bool normals;
    tml_subdivide_buffers buffers;
} tml_subdivide_uniform_desc;

/* Subdivides every triangle into four, levels times. There is no call that waits: the sizes are
 * known by arithmetic (tml_subdivider_describe).
 * Returns: the result, which tml_subdivide_free releases. If the call fails, the buffers that it
 *          made are destroyed again.
 * Memory:  the topology of the levels below the last is made once and stays with the subdivider: 64
 *          bytes per triangle of the level before the last. With every buffer given, later calls
 *          allocate nothing and may be recorded.
 * Errors:  INVALID_ARGUMENT, INVALID_HANDLE, CAPACITY, UNSUPPORTED (more than 2^32 / 3 triangles),
 *          OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_subdivide_uniform_enqueue(
    tml_subdivider *subdivider, const tml_subdivide_uniform_desc *desc, tml_subdivide_result *out);

/* ---- adaptive ------------------------------------------------------------------------------- */

/* What is measured on an edge from a to b, both on the limit surface, m the limit point between
 * them. The edge is split where the measure exceeds the threshold.
 *
 * Edges inside green triangles are not measured. They are shorter than the longest edge of their
 * leaf, so LENGTH holds for them but for the surface's bend; ANGLE and DISTANCE are not promised.
 *
 * A criterion may grow where an edge is split, as PIXELS and KERNEL may. Where edges then exceed
 * the threshold, the mesh is made again with a threshold 0.8 times as large, three times at most.
 * What is left shows in result.error. */
typedef enum tml_subdivide_criterion {
    TML_SPLIT_LENGTH, /* |b - a|, in the mesh's units */
    TML_SPLIT_PIXELS, /* the same on the camera's picture, in pixels */
    /* radians: how far the surface turns along the edge, twice the angle between m - a and b - m,
     * or, if larger, across it: the angle between its two triangles, unless it is sharp */
    TML_SPLIT_ANGLE,
    /* from the edge to the surface: of m from the line through a and b. For ANGLE and DISTANCE, m's
     * offset along the surface, aside of the edge, is left out, unless the edge is sharp */
    TML_SPLIT_DISTANCE,
    TML_SPLIT_KERNEL, /* a kernel: float f(vec3 a, vec3 b, vec3 m[, tml_params p]) */
} tml_subdivide_criterion;

/* matrix           world to clip space, row-major: clip = matrix * (x, y, z, 1). Points before the
 *                  camera have a positive w, and are seen where |x| and |y| are at most w
 * width, height    of the picture, in pixels
 * nearest          closer points (smaller w) are measured as though they were so far away;
 *                  positive; 0: a 1000th of the farthest w of the mesh
 * measure_outside  edges outside the picture are measured, too; else they are not split */
typedef struct tml_subdivide_camera {
    float matrix[16];
    uint32_t width, height;
    float nearest;
    bool measure_outside;
} tml_subdivide_camera;

/* Floats of a camera on the device: its matrix; width and height; nearest, positive;
 * measure_outside, 0 or 1. */
enum { TML_SUBDIVIDE_CAMERA_FLOATS = 20 };

/* What had no room: bits of counts[2]. */
enum {
    TML_SUBDIVIDE_SHORT_VERTICES = 1,  /* of the outputs, channel values included */
    TML_SUBDIVIDE_SHORT_TRIANGLES = 2, /* of the outputs */
    TML_SUBDIVIDE_SHORT_LEVELS = 4,    /* level_triangles */
};

/* One desc for two calls. The fields of one call alone are named, and refused by the other.
 * criterion        what is measured
 * threshold        positive; for KERNEL 0 means 1
 * kernel, params   KERNEL: what measures, and its parameters
 * camera           PIXELS, tml_subdivide_adaptive: the camera
 * camera_buffer    PIXELS, tml_subdivide_adaptive_enqueue: f32, TML_SUBDIVIDE_CAMERA_FLOATS.
 *                  camera is then not read
 * max_depth        levels at most; 0: TML_SUBDIVIDE_MAX_LEVELS. Enqueued, each level takes its
 *                  time, also where it is empty
 * budget           tml_subdivide_adaptive: triangles at most; 0: as many as the criterion asks for.
 *                  Where it asks for more, the threshold is raised until it does not: the largest
 *                  errors go first
 * slivers          closes T-junctions by thin triangles, of some area, from the edge to the vertex
 *                  that splits it, in place of green triangles. The mesh is closed either way
 * normals          makes normals of the limit surface
 * origins          makes buffers.origins
 * buffers          where the mesh goes. tml_subdivide_adaptive makes buffers that are zeroed;
 *                  tml_subdivide_adaptive_enqueue requires them all, with their capacities
 * counts           tml_subdivide_adaptive_enqueue, optional: u32, 3: the vertices and triangles of
 *                  the mesh, which may be more than there is room for, and TML_SUBDIVIDE_SHORT_...
 *                  bits, 0 where all had room
 * draw             tml_subdivide_adaptive_enqueue, optional: u32, 5: a
 *                  VkDrawIndexedIndirectCommand of the triangles in indices, one instance
 * level_triangles  tml_subdivide_adaptive_enqueue: triangles that a level may have, with those that
 *                  only masks need; 0: as many as indices has room for */
typedef struct tml_subdivide_adaptive_desc {
    tml_subdivide_criterion criterion;
    float threshold;
    const tml_kernel *kernel;
    tml_params params;
    tml_subdivide_camera camera;
    tml_buffer camera_buffer;
    uint32_t max_depth;
    uint64_t budget;
    bool slivers;
    bool normals;
    bool origins;
    tml_subdivide_buffers buffers;
    tml_buffer counts;
    tml_buffer draw;
    uint64_t level_triangles;
} tml_subdivide_adaptive_desc;

/* Splits triangles into four (red) as long as one of their edges exceeds the threshold; triangles
 * of neighbouring levels differ by one level at most, and those beside a split edge become two to
 * four (green). Vertices lie on the limit surface, whatever the level at which they arose. Edges of
 * a semi-sharp crease are split whatever their size, until their sharpness is 0 or max_depth is
 * reached, since only then the limit is known. Reports progress and can be cancelled.
 * Returns: the result, which tml_subdivide_free releases.
 * Waits:   a subdivider's first call on a GPU waits for counts at every level. Later calls expect
 *          about the counts of the one before, and wait once; where a count exceeds what was
 *          expected, the mesh is made again with exact sizes, bit for bit the same.
 * Memory:  buffers for the levels stay with the subdivider and grow when needed, so a camera that
 *          moves costs no allocation.
 * Errors:  as tml_subdivide_uniform_enqueue, and INVALID_ARGUMENT for a budget below the triangles
 *          of the input. */
TML_API TML_MUST_CHECK tml_status tml_subdivide_adaptive(tml_subdivider *subdivider,
                                                         const tml_subdivide_adaptive_desc *desc,
                                                         tml_subdivide_result *out);

/* Makes, in a frame, the mesh that tml_subdivide_adaptive makes, bit for bit, where the criterion
 * is met at once (no smaller threshold is tried) and there is room.
 * room    Where a level would have more than level_triangles, the level before it is the finest:
 *         the mesh is that of a smaller max_depth, whole and closed. Outputs that are too small get
 *         the first vertices and triangles, and nothing past their capacity; triangles may then
 *         name vertices that were not written.
 * Memory: some 75 bytes of the arena per triangle of a level, and 140 per vertex, of which a level
 *         has at most 3 for 4 triangles more than the level before it. Once the arena is reserved
 *         (tml_reserve) the call allocates nothing and may be recorded.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, UNSUPPORTED, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY,
 *         SCRATCH_TOO_SMALL. */
/* clang-format off */
TML_API TML_MUST_CHECK tml_status tml_subdivide_adaptive_enqueue(tml_subdivider *subdivider,
    const tml_subdivide_adaptive_desc *desc);
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
