/* Trees: a triangle mesh in a hierarchy of boxes, and what one tree answers: which triangles rays
 * hit, which triangle is nearest to a point, whether a point lies inside, and the distances of a
 * grid's samples. What two trees answer is in trommel/collide.h.
 *
 *     tml_tree *tree;
 *     tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices, .indices = indices}, &tree);
 *     tml_tree_cast(tml, &(tml_tree_cast_desc){.tree = tree, .origins = origins,
 *                                              .directions = directions, .triangles = hit});
 *     tml_tree_update(tml, tree, moved_vertices, TML_TREE_REFIT);
 *     tml_tree_destroy(tml, tree);
 *
 * Common to all calls
 *   meshes     Degenerate triangles, which have no area, are segments or points. Non-manifold, open
 *              and self-intersecting meshes are as good as any, and so is a mesh without triangles.
 *   exactness  Every vertex is the real point that its three floats stand for. Where a comment says
 *              "exact", the answer is that of real arithmetic: a float test says no, yes or unsure
 *              within a proven bound, and unsure cases are decided with exact arithmetic. Answers
 *              are the same on every engine and for any number of threads.
 *   poses      A pose is 3 rows of 4 floats, m, which map a point by one formula:
 *              x' = ((m0 x + m1 y) + m2 z) + m3 in float, rounded after each operation. The rounded
 *              result is the point. The identity changes no point.
 *   limits     2^28 triangles and 2^32 - 1 vertices per tree; coordinates within 2^100. GPUs may
 *              treat a coordinate below 2^-100 as zero.
 *   waiting    Calls whose names end in _enqueue never wait and read nothing back. Every other call
 *              may wait, and must not stand between tml_vulkan_record and tml_vulkan_record_end.
 *   ownership  A tree has its own copy of the mesh, on the host and, once a call requires it there,
 *              on the device. A tree belongs to its context and is used from the context's thread.
 *   engines    Every call works on every engine, except where it says so. docs/ops.md lists which
 *              part of the work each engine leaves to the host. */
#ifndef TROMMEL_TREE_H
#define TROMMEL_TREE_H

#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- build ---------------------------------------------------------------------------------- */

/* A mesh with a hierarchy of boxes over its triangles. */
typedef struct tml_tree tml_tree;

/* vertices     f32x3; may stay on the host (tml_buffer_desc.host), and so may indices
 * indices      u32x3 or u64x3; none: each three vertices are a triangle
 * skip_broken  leaves out triangles that have an index out of range or a coordinate that is NaN,
 *              infinite or beyond 2^100, instead of refusing the mesh. The other triangles keep
 *              their numbers
 * on_device    builds on the context's device, from buffers there: neither the mesh nor the tree
 *              goes through the host. Ignored on the CPU engine */
typedef struct tml_tree_desc {
    tml_buffer vertices;
    tml_buffer indices;
    bool skip_broken;
    bool on_device;
} tml_tree_desc;

/* Builds a tree. Nodes have eight boxes along the axes, leaves up to eight triangles and a slab
 * across the triangles' common direction. Triangles are split at the median of the longest side, so
 * a tree is log8 deep whatever the mesh.
 * Returns: the tree; *out is NULL after a failure.
 * Waits:   yes.
 * Memory:  50 to 100 bytes per triangle on the host, 16 more during the call; as much on a GPU from
 *          the first call that uses the tree there.
 * Errors:  INVALID_ARGUMENT (names the triangle and the vertex), INVALID_HANDLE, OUT_OF_MEMORY,
 *          OUT_OF_DEVICE_MEMORY, UNSUPPORTED (too many triangles), CANCELLED.
 * After:   Wald, Benthin, Boulos: Getting Rid of Packets. 2008 (wide nodes); Chitalu, Dubach,
 *          Komura: Binary Ostensibly-Implicit Trees. 2020. */
TML_API TML_MUST_CHECK tml_status tml_tree_create(tml_context *tml, const tml_tree_desc *desc,
                                                  tml_tree **out);
/* Destroys a tree, which may be NULL. Call it before tml_close. */
TML_API void tml_tree_destroy(tml_context *tml, tml_tree *tree);

/* vertex_count    vertices of the mesh that the tree was built from
 * triangle_count  triangles of that mesh
 * broken_count    triangles that skip_broken left out
 * lower, upper    bounds of the triangles in the tree; 0 without a triangle. After
 *                 tml_tree_update_enqueue they are out of date until a call waits for the tree
 * depth           levels of boxes
 * memory          bytes on the host */
typedef struct tml_tree_info {
    uint64_t vertex_count;
    uint64_t triangle_count;
    uint64_t broken_count;
    float lower[3], upper[3];
    uint32_t depth;
    size_t memory;
} tml_tree_info;
/* Describes a tree. */
TML_API void tml_tree_describe(const tml_tree *tree, tml_tree_info *out);

/* ---- update --------------------------------------------------------------------------------- */

typedef enum tml_tree_method {
    TML_TREE_REFIT,   /* keeps the order of the triangles and fits the boxes: a fifth of a build's
                       * time or less. Queries get slower the more the shape changes */
    TML_TREE_REBUILD, /* sorts the triangles anew: the tree is as good as a new one */
} tml_tree_method;

/* Moves the vertices of a tree and keeps its triangles.
 * vertices  f32x3, as many as the tree was built from; may stay on the host
 * Triangles that skip_broken left out stay out. A tree that could not be updated is as it was.
 * Waits:   yes.
 * Memory:  to rebuild, that of a second tree and 12 bytes per triangle, during the call.
 * Errors:  as tml_tree_create. */
TML_API TML_MUST_CHECK tml_status tml_tree_update(tml_context *tml, tml_tree *tree,
                                                  tml_buffer vertices, tml_tree_method method);

/* Does what tml_tree_update does without a wait, for meshes that the device moves: enqueued like a
 * stream operation. The tree may be built anywhere.
 * vertices  f32x3 on the device, as many as the tree was built from. If a vertex of a triangle is
 *           NaN, infinite or beyond 2^100, later calls that read the tree return INVALID_ARGUMENT
 *           and name the vertex, until an update brings sound vertices
 * Later calls fetch what they require of the tree on the host. After a call in a recording each of
 * them fetches again, since the recording may have been submitted again. If the device fails during
 * the update, the tree is refused until a rebuild succeeds.
 * Memory:  the first call makes buffers, which stay with the tree: 150 bytes per triangle to
 *          rebuild, 100 to refit. Later calls allocate nothing and may be recorded.
 * Errors:  INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED (more
 *          than 2^32 / 3 vertices or 2^32 / 9 triangles; OpenGL ES 2 and WebGL 1).
 * After:   Wald, Havran: On Building Fast kd-Trees for Ray Tracing, and on Doing that in
 *          O(N log N). 2006; Blelloch: Vector Models for Data-Parallel Computing. 1990. */
TML_API TML_MUST_CHECK tml_status tml_tree_update_enqueue(tml_context *tml, tml_tree *tree,
                                                          tml_buffer vertices,
                                                          tml_tree_method method);

/* ---- save and load -------------------------------------------------------------------------- */

/* Writes a tree as bytes, for a file or another process: little-endian, about 50 bytes per
 * triangle.
 * data    room for *size bytes; NULL only asks for the size
 * size    in: the room; out: the bytes written, or with NULL or CAPACITY the bytes required
 * Waits:  yes.
 * Errors: CAPACITY, OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_tree_save(tml_context *tml, const tml_tree *tree, void *data,
                                                size_t *size);
/* Makes a tree from the bytes that tml_tree_save wrote. The bytes are checked before memory is
 * allocated or used by them: damaged bytes are refused, unless somebody made them to deceive.
 * Returns: the tree; *out is NULL after a failure.
 * Errors:  FILE_FORMAT, OUT_OF_MEMORY. */
TML_API TML_MUST_CHECK tml_status tml_tree_load(tml_context *tml, const void *data, size_t size,
                                                tml_tree **out);

/* ---- rays ----------------------------------------------------------------------------------- */

typedef enum tml_tree_cast_want {
    TML_TREE_CAST_NEAREST, /* the hit of the least t; at one rounded t, of the least triangle */
    TML_TREE_CAST_ANY,     /* whether the ray hits anything: the search ends at the first hit */
    TML_TREE_CAST_COUNT,   /* how many triangles the ray hits */
    TML_TREE_CAST_ALL,     /* every hit: by ray, then t, then triangle */
} tml_tree_cast_want;

/* Rays: the points origin + t * direction. At least one output is given, of those that want has;
 * each output has length elements, but for ALL.
 * tree          the mesh
 * origins       f32x3
 * directions    f32x3, of any length but 0
 * length        how many rays; zeroed: as many as origins. tml_tree_cast reads a length on the
 *               device, and waits
 * want          which hits
 * t_max         the greatest t of a hit: 1 makes segments of rays; 0: infinity. The least is 0
 * limits        optional: f32x2, the least and the greatest t per ray, both included, in place of
 *               t_max
 * poses         optional: f32x4, three rows per pose, which map rays into the tree's frame (see
 *               poses above; for directions without the last term). t is along the given ray
 * pose_of       optional: u32, the pose of each ray; none: all rays have pose 0
 * t             NEAREST, ALL: f32; infinity without a hit
 * triangles     NEAREST, ALL: u32; 2^32 - 1 without a hit
 * barycentrics  NEAREST: f32x2, the weights of the triangle's second and third corner at the hit;
 *               NaN without a hit
 * hits          u8: 1 for a ray that hits, else 0; may be flags of tml_compact
 * counts        COUNT, ALL: u32, hits per ray
 * rays          ALL: u32, the ray of each hit
 * total         one u32 or u64: for COUNT and ALL all hits, else the rays that hit. A u32 stays at
 *               its largest value when there are more. The capacity of ALL is the smallest count of
 *               rays, triangles and t: nothing is written past it, and a greater total shows that
 *               hits were left out
 * unsure        optional: u32, rays that tml_tree_cast_enqueue could not follow, in their order, as
 *               many as it has room for; tml_tree_cast follows every ray
 * unsure_count  optional: one u32 or u64, how many such rays there are */
typedef struct tml_tree_cast_desc {
    tml_tree *tree;
    tml_buffer origins;
    tml_buffer directions;
    tml_length length;
    tml_tree_cast_want want;
    float t_max;
    tml_buffer limits;
    tml_buffer poses;
    tml_buffer pose_of;
    tml_buffer t;
    tml_buffer triangles;
    tml_buffer barycentrics;
    tml_buffer hits;
    tml_buffer counts;
    tml_buffer rays;
    tml_buffer total;
    tml_buffer unsure;
    tml_buffer unsure_count;
} tml_tree_cast_desc;

/* Finds what rays hit. Whether a ray hits a triangle is exact; t is the exact one, rounded to the
 * nearest float; barycentrics are computed in double precision and rounded.
 * edges    Triangles are closed. A ray through an edge or a corner counts as if its origin were
 *          moved by (e, e^2, e^3), with e infinitely small: of the triangles that share the edge or
 *          corner, the ray hits those that it would hit just beside. So no ray slips between two
 *          triangles or hits both, and a line crosses a closed mesh an even number of times.
 * ends     Limits are exact, too: a ray that begins on a triangle, or ends there, hits it.
 * nothing  is hit by a ray that is not finite, has direction 0, a pose that does not exist or NaN
 *          in its limits; at t below 0 or beyond 2^100; by triangles without area and triangles
 *          seen from the edge (their neighbours are hit); nor in a tree without triangles.
 * Waits:   yes. Rays may come in any order. Outputs are undefined if the call is cancelled.
 * Memory:  on the host 16 MiB at most, and for ALL 8 bytes per ray and per hit; on a device 70
 *          bytes per triangle, which stay with the tree, and what tml_tree_cast_enqueue takes.
 * Errors:  INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_DEVICE_MEMORY, OUT_OF_MEMORY, CANCELLED.
 * After:   Edelsbrunner, Muecke: Simulation of Simplicity. 1990; Woop, Benthin, Wald: Watertight
 *          Ray/Triangle Intersection. 2013; Ylitie, Karras, Laine: Efficient Incoherent Ray
 *          Traversal on GPUs Through Compressed Wide BVHs. 2017. */
TML_API TML_MUST_CHECK tml_status tml_tree_cast(tml_context *tml, const tml_tree_cast_desc *desc);

/* Does what tml_tree_cast does, with the same bits, for a frame: hits are written where the frame's
 * next commands look for them. The number of rays may be on the device, for example of rays that
 * tml_expand makes from the hits of the last bounce.
 * unsure   The device follows rays with an origin within 2^30 and a direction of 2^-40 to 2^41 in
 *          its largest component, whose numbers other than 0 are at least 2^-100; for ALL, only
 *          those that hit up to 4096 triangles. Other rays hit nothing and are listed in unsure,
 *          for tml_tree_cast; so are rays whose float tests are unsure where there is no room to
 *          decide them (for as many as rays and 1024 there is), and all rays at a mesh beyond 2^30
 *          or with a vertex that is not finite. The CPU engine follows every ray.
 * ALL      total is 2^32 - 1 if hits are more than twice the capacity.
 * tree     may have been updated by enqueued calls; a recording follows the tree as it is when it
 *          runs. Recordings are void after tml_tree_update and tml_tree_destroy.
 * Memory:  some 130 bytes of the arena per ray and 24 more with poses; for ALL 120 per ray and 50
 *          per hit of the capacity. Nothing is allocated once the call was prepared
 *          (tml_prepare_begin) and the arena reserved (tml_reserve).
 * Errors:  INVALID_ARGUMENT (in a recording: a tree that the device has no arrays of),
 *          INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, SCRATCH_TOO_SMALL, UNSUPPORTED
 *          (OpenGL; more than 2^27 rays or hits).
 * After:   as tml_tree_cast; Kulisch, Miranker: The Arithmetic of the Digital Computer: A New
 *          Approach. 1986 (exact sums). */
TML_API TML_MUST_CHECK tml_status tml_tree_cast_enqueue(tml_context *tml,
                                                        const tml_tree_cast_desc *desc);

/* ---- points --------------------------------------------------------------------------------- */

/* Where a point lies. */
typedef enum tml_tree_side {
    TML_TREE_OUTSIDE,
    TML_TREE_INSIDE,
    TML_TREE_ON, /* on a triangle, its edges and corners included */
} tml_tree_side;

/* What inside means. EVEN_ODD and WINDING require a closed mesh; vertices at one place are one
 * vertex, whatever their indices, and -0 is 0. */
typedef enum tml_tree_rule {
    /* a ray from the point crosses the mesh an odd number of times. Each edge belongs to an even
     * number of triangles, whatever their orientations */
    TML_TREE_RULE_EVEN_ODD,
    /* the mesh winds around the point at least once: a point in two solids that overlap is inside.
     * Orientations agree: each edge runs as often one way as the other */
    TML_TREE_RULE_WINDING,
    /* the generalised winding number is at least 1/2 either way: seen from the point, the mesh
     * covers at least half of all directions. For open and imperfect meshes with orientations that
     * agree; where a closed mesh overlaps itself, as WINDING. Computed in double precision: a point
     * within rounding of 1/2, or of a triangle but not on it, may be either */
    TML_TREE_RULE_SOLID_ANGLE,
} tml_tree_rule;

/* Where on a triangle its nearest point lies. Edge i goes from corner i to the next. Computed in
 * double precision: a point within rounding of an edge or corner may be either. */
typedef enum tml_tree_feature {
    TML_TREE_FACE,
    TML_TREE_EDGE_0,
    TML_TREE_EDGE_1,
    TML_TREE_EDGE_2,
    TML_TREE_CORNER_0,
    TML_TREE_CORNER_1,
    TML_TREE_CORNER_2,
} tml_tree_feature;

enum { TML_TREE_NEAREST_MAX = 256 };
/* At least one output is given. sides has length elements; the other outputs have k per point, the
 * nearest first.
 * tree       the mesh
 * points     f32x3, in any order
 * length     how many points; zeroed: all. A length on the device is read, and waited for
 * k          triangles per point: 1 to TML_TREE_NEAREST_MAX; 0: 1
 * rule       what inside means, for sides and is_signed
 * is_signed  distances are negative inside, and 0 on a triangle
 * distances  f32: to the triangle
 * positions  f32x3: the triangle's nearest point
 * triangles  u32
 * features   u8: a tml_tree_feature
 * sides      u8: a tml_tree_side per point; may be flags of tml_compact, with 0 for outside */
typedef struct tml_tree_nearest_desc {
    tml_tree *tree;
    tml_buffer points;
    tml_length length;
    uint32_t k;
    tml_tree_rule rule;
    bool is_signed;
    tml_buffer distances;
    tml_buffer positions;
    tml_buffer triangles;
    tml_buffer features;
    tml_buffer sides;
} tml_tree_nearest_desc;

/* Finds the nearest triangles of points, and the points' sides.
 * sides      exact for every finite point, also where rays pass through edges and vertices; by
 *            SOLID_ANGLE as its comment says, and ON exactly. A point that is not finite is
 *            outside, and so is every point of a tree without triangles.
 * distances  computed in double precision and rounded: within 2^-24 of the distance and 2^-44 of
 *            the largest difference of coordinates between point and triangle (for a sliver, 2^-44
 *            times its longest edge divided by its height). Of triangles at one computed distance
 *            the least number comes first. The mesh may be open, unless is_signed.
 * nothing    where the tree has fewer than k triangles, or for a point that is not finite:
 *            distance infinity, position NaN, triangle 2^32 - 1, feature FACE.
 * Waits:     yes. Outputs are undefined if the call is cancelled.
 * Memory:    44 bytes per point of the device for sides, 48 for the rest; on the host 16 MiB at
 *            most. SOLID_ANGLE: 20 bytes per triangle, which stay with the tree.
 * Errors:    INVALID_ARGUMENT (sides or signs of a mesh that is not closed as the rule requires:
 *            names a triangle with an open edge; skip_broken may have opened it), INVALID_HANDLE,
 *            OUT_OF_MEMORY, CANCELLED.
 * After:     Edelsbrunner, Muecke: Simulation of Simplicity. 1990; Ericson: Real-Time Collision
 *            Detection. 2005 (closest features); Barill, Dickson, Schmidt, Levin, Jacobson: Fast
 *            Winding Numbers for Soups and Clouds. 2018. */
TML_API TML_MUST_CHECK tml_status tml_tree_nearest(tml_context *tml,
                                                   const tml_tree_nearest_desc *desc);

/* ---- distances on a grid -------------------------------------------------------------------- */

/* tree       the mesh
 * grid       dims, spacing and origin; direction is zeroed or the identity. Sample (i, j, k) stands
 *            at origin + spacing * (i, j, k), rounded to floats
 * rule       what inside means, for is_signed
 * is_signed  distances are negative inside
 * band       distances beyond the band become the band, with their sign; 0: none do. A narrow band
 *            is faster
 * out        f32, one per sample */
typedef struct tml_tree_distance_grid_desc {
    tml_tree *tree;
    tml_grid grid;
    tml_tree_rule rule;
    bool is_signed;
    float band;
    tml_buffer out;
} tml_tree_distance_grid_desc;

/* Computes the distances of a grid's samples to a mesh: those of tml_tree_nearest bit for bit, but
 * for the band. tml_surface makes a mesh of them at iso 0, where inside is below. out is undefined
 * if the call is cancelled.
 * Waits:  yes.
 * Memory: on a device 40 bytes per line of samples along an axis, and 40 MiB; on the host the
 *         tree's triangles and three lists of coordinates.
 * Errors: INVALID_ARGUMENT (a mesh that is not closed, as tml_tree_nearest; a grid that is empty,
 *         rotated, or reaches beyond floats), INVALID_HANDLE, OUT_OF_MEMORY, CANCELLED.
 * After:  Baerentzen, Aanaes: Generating Signed Distance Fields From Triangle Meshes. 2002 (the
 *         problem). Signs are found line by line, from where the grid's lines cross the mesh. */
TML_API TML_MUST_CHECK tml_status tml_tree_distance_grid(tml_context *tml,
                                                         const tml_tree_distance_grid_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
