/* Collide: which triangles of two meshes meet, under one pose or thousands; which of one mesh
 * meet each other; and how far two meshes are apart.
 *
 * What this header does NOT do: no response, no penetration depth, no continuous motion, no
 * volumes (a mesh wholly inside another one meets it nowhere).
 *
 *     tml_tree *a, *b;
 *     tml_tree_create(tml, &(tml_tree_desc){.vertices = va, .indices = ia}, &a);
 *     tml_tree_create(tml, &(tml_tree_desc){.vertices = vb, .indices = ib}, &b);
 *     tml_collide_result hits;
 *     tml_collide(tml, &(tml_collide_desc){.a = a, .b = b, .poses = p, .pose_count = 1000}, &hits);
 *     ... hits.pairs[hits.first[p]] up to hits.pairs[hits.first[p + 1]] are those of pose p ...
 *     tml_collide_free(tml, &hits);
 *
 * Exactness
 *   meshes   Every vertex is the real point that its three floats stand for. A pose is applied
 *            to each vertex of b alone, by one formula: x' = ((m0 x + m1 y) + m2 z) + m3 in
 *            float, rounded after each operation, and what comes out is the vertex. (The
 *            identity changes none.) So triangles that share a vertex still share it, and one
 *            answer is right.
 *   answer   The pairs of closed triangles that have a point in common, all of them and no
 *            other, each with its class. There is no epsilon: boxes are compared in the
 *            vertices' own rounding, a float test says no, yes or unsure within a proven bound,
 *            and the unsure pairs are settled with exact arithmetic. So the set of pairs is the
 *            same on every engine, for any number of threads, with a and b swapped, with
 *            triangles in another order, and with both meshes scaled by the same power of two
 *            (while nothing overflows or becomes subnormal).
 *   order    by pose, then a's triangle, then b's.
 *   limits   2^28 triangles a mesh. Coordinates, also after the pose, within 2^100; below 2^-100
 *            GPUs may take a vertex for zero that the CPU does not.
 *
 * Trees are built, refitted and queried from the thread that uses their context, and belong to
 * it. */
#ifndef TROMMEL_COLLIDE_H
#define TROMMEL_COLLIDE_H

#include <trommel/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- trees ---------------------------------------------------------------------------------- */

/* A mesh with a hierarchy of boxes over its triangles: its own copy of both, on the host, and on
 * the device once a call needs it there. */
typedef struct tml_tree tml_tree;

typedef struct tml_tree_desc {
    tml_buffer vertices; /* f32x3; may stay on the host, like indices (tml_buffer_desc.host) */
    tml_buffer indices;  /* u32x3 or u64x3; none: each three vertices are a triangle */
    /* Leave out triangles with an index out of range or a coordinate that is NaN, infinite or
     * beyond 2^100, instead of refusing the mesh. The others keep their numbers. */
    bool skip_broken;
    /* Build on the context's device, from buffers there: the mesh does not go through the host, nor
     * does the tree until a call wants it (tml_tree_build_enqueue). On the CPU engine that is the
     * host, which builds as ever. */
    bool on_device;
} tml_tree_desc;

/* Builds a tree: boxes along the axes, eight to a node and up to eight triangles to a leaf, split
 * at the median of the longest side, so that it is log8 deep whatever the mesh (all triangles in
 * one place included); and about each leaf's triangles a slab across their own direction, for
 * surfaces that run close along each other (docs/ops.md compares it with oriented boxes).
 * Degenerate triangles, which have no area, are segments or points and take part as such.
 * Non-manifold, open and self-intersecting meshes are as good as any; so is a mesh without
 * triangles. Memory: on the host 50 to 100 bytes a triangle, 16 more while it builds; the same on a
 * GPU at first use. Waits. Errors: INVALID_ARGUMENT (which triangle, which vertex), INVALID_HANDLE,
 * OUT_OF_MEMORY, UNSUPPORTED (too many triangles), CANCELLED. *out is NULL after a failure. After:
 * Gottschalk, Lin, Manocha: OBBTree. 1996 (the descent over pairs); Wald, Benthin, Boulos: Getting
 * Rid of Packets. 2008 (wide nodes); Chitalu, Dubach, Komura: Binary Ostensibly-Implicit Trees.
 * 2020. */
TML_API TML_MUST_CHECK tml_status tml_tree_create(tml_context *tml, const tml_tree_desc *desc,
                                                  tml_tree **out);
/* NULL is allowed. A tree must be destroyed before its context is closed. */
TML_API void tml_tree_destroy(tml_context *tml, tml_tree *tree);

/* Takes new vertices (f32x3, as many as before) under the same triangles and fits the boxes to
 * them, in a fifth of the time of a build or less. Answers are exact as ever; queries get slower
 * the more the mesh differs from the one the tree was built for. Triangles that skip_broken left
 * out stay out. On failure the tree is as it was. Waits. Errors as for tml_tree_create. */
TML_API TML_MUST_CHECK tml_status tml_tree_refit(tml_context *tml, tml_tree *tree,
                                                 tml_buffer vertices);

/* The same without a wait, for meshes that the device moves: enqueued like a stream operation, from
 * vertices on the device (f32x3, as many as the tree was built from), with nothing read back. refit
 * keeps the tree's order; build halves the triangles anew, at the medians that the host would take,
 * so the tree is as good as one built there. Both take any tree, wherever it was built. The first
 * of each makes the tree's buffers, 150 and 100 bytes a triangle, which stay with it; later ones
 * allocate nothing, and may be recorded (tml_vulkan_record).
 * host      What it has of the tree is out of date then, and is fetched when a call wants it.
 *           BREADTH_FIRST wants the root and the boxes' mean sizes, of triangles that it found the
 *           numbers, and of unsure ones the corners; DEPTH_FIRST, tml_collide_distance and
 *           tml_tree_nearest want the triangles and compute the boxes, in the time of a
 *           tml_tree_refit. tml_tree_describe gives bounds as of the last call that waited for the
 *           tree. What a recording builds is fetched by each call, since the recording may have
 *           been submitted again.
 * answers   exact as ever.
 * broken    vertices that are NaN, infinite or beyond 2^100: each later call that reads the tree is
 *           INVALID_ARGUMENT and names one, until all are sound. Triangles that skip_broken left
 *           out stay out.
 * On failure the tree is as it was, or where the device failed on the way, refused until a build
 * succeeds.
 * Engines: CPU (done on return), Vulkan, OpenGL ES 3 / WebGL 2, as far as tml_sort, tml_scatter and
 * tml_compact go.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED (more
 * than 2^32 / 3 vertices or 2^32 / 9 triangles; OpenGL ES 2 and WebGL 1). After: Wald, Havran: On
 * Building Fast kd-Trees for Ray Tracing, and on Doing that in O(N log N). 2006; Blelloch: Vector
 * Models for Data-Parallel Computing. 1990. */
TML_API TML_MUST_CHECK tml_status tml_tree_build_enqueue(tml_context *tml, tml_tree *tree,
                                                         tml_buffer vertices);
TML_API TML_MUST_CHECK tml_status tml_tree_refit_enqueue(tml_context *tml, tml_tree *tree,
                                                         tml_buffer vertices);

/* A tree as bytes, for a file or another process: little-endian, about 50 bytes a triangle.
 * tml_tree_save_size says how many, tml_tree_save writes them to out (capacity bytes there).
 * Loading checks everything before it allocates by it and before it uses it: damaged bytes give
 * FILE_FORMAT, never a wrong answer about another mesh unless they were made to. Errors: CAPACITY
 * (bytes needed), OUT_OF_MEMORY. */
TML_API size_t tml_tree_save_size(const tml_tree *tree);
TML_API TML_MUST_CHECK tml_status tml_tree_save(tml_context *tml, const tml_tree *tree, void *out,
                                                size_t capacity);
TML_API TML_MUST_CHECK tml_status tml_tree_load(tml_context *tml, const void *data, size_t size,
                                                tml_tree **out);

typedef struct tml_tree_info {
    uint64_t vertex_count;    /* of the mesh that it was built from */
    uint64_t triangle_count;  /* likewise */
    uint64_t broken_count;    /* of those, left out by skip_broken */
    uint32_t depth;           /* levels of boxes */
    float lower[3], upper[3]; /* of the triangles in it; of none: 0 */
    size_t memory;            /* bytes on the host */
} tml_tree_info;
TML_API void tml_tree_describe(const tml_tree *tree, tml_tree_info *out);

/* ---- collide -------------------------------------------------------------------------------- */

/* How two triangles meet. A triangle is closed: its three edges belong to it; its interior is the
 * triangle without them. */
typedef enum tml_collide_class {
    TML_COLLIDE_CLASS_NONE, /* no point in common; never in a result */
    /* both have area, lie in different planes, and their interiors have a point in common; so
     * they share a segment, and each has points on both sides of the other's plane */
    TML_COLLIDE_CLASS_CROSSING,
    /* both have area and points in common, but their interiors have none: a corner or an edge of
     * one lies on the other, or two edges meet */
    TML_COLLIDE_CLASS_TOUCHING,
    TML_COLLIDE_CLASS_COPLANAR, /* both have area, lie in one plane and overlap in an area */
    /* one or both have no area (three corners on a line), and they meet */
    TML_COLLIDE_CLASS_DEGENERATE,
    TML_COLLIDE_CLASS_COUNT
} tml_collide_class;
TML_API const char *tml_collide_class_name(tml_collide_class kind); /* "crossing"; never NULL */

typedef struct tml_collide_pair {
    uint32_t a, b; /* triangles; in one mesh a < b */
    uint32_t pose;
    uint32_t kind; /* a tml_collide_class */
} tml_collide_pair;

/* The ends of what a pair has in common, x y z each, in a's frame: of a segment, the
 * lexicographically lesser first; both equal where it is a point; NaN where it is an area
 * (COPLANAR). Each coordinate is the exact one, rounded to the nearest float. Of neighbours in one
 * mesh it is that of the whole intersection, what they share included. */
typedef struct tml_collide_segment {
    float ends[6];
} tml_collide_segment;

typedef enum tml_collide_want {
    TML_COLLIDE_WANT_ALL,   /* every pair */
    TML_COLLIDE_WANT_COUNT, /* how many there are for each pose, and no list */
    /* at most one pair for each pose, the first that the descent meets: whether they meet at all.
     * The descent ends early. Which pair it is depends on the trees, the method and the engine, not
     * on the number of threads */
    TML_COLLIDE_WANT_FIRST,
} tml_collide_want;

/* How pairs of nodes are followed. Every method gives the same result. */
typedef enum tml_collide_method {
    /* GPUs: BREADTH_FIRST, but for WANT_FIRST on OpenGL ES, and on Vulkan of up to 64 poses a
     * thread of the host, which are DEPTH_FIRST sooner than the stream; the CPU, OpenGL ES 2 and
     * WebGL 1: DEPTH_FIRST */
    TML_COLLIDE_METHOD_AUTO,
    TML_COLLIDE_METHOD_DEPTH_FIRST, /* on the host: threads that follow single pairs down */
    /* on the device: a stream of pairs, expanded level by level. COUNT adds up there what certainly
     * crosses, and brings only unsure pairs to the host. FIRST lets each pose keep 32 pairs of
     * nodes at each level, then follows the poses without an answer whole */
    TML_COLLIDE_METHOD_BREADTH_FIRST,
} tml_collide_method;

typedef struct tml_collide_desc {
    tml_tree *a;
    /* NULL: a with itself. Two triangles that share a corner (one place, whatever its index) are
     * then a pair only if they meet elsewhere, too: that is, outside the corner or edge that they
     * share. Those that share three different corners are one triangle twice, whichever way each is
     * turned, and a pair: COPLANAR, or DEGENERATE when the corners lie on a line. So each triangle
     * that a mesh holds n times makes n (n - 1) / 2 pairs. Where doubled ones are meant (both sides
     * of a sheet), either leave COPLANAR out of classes, which also leaves out different triangles
     * that overlap in one plane, or pass over the COPLANAR pairs whose corners are the same three;
     * where they are not, build the tree without the second one of each such pair. */
    tml_tree *b;
    /* pose_count matrices of 3 x 4, row-major, 12 floats each, which take b into a's frame: any
     * affine map. A rotation with a translation keeps b's boxes tightest; scaling and shear cost
     * only looser boxes; a singular map is slow (b's boxes are then compared in a's frame alone).
     * NULL with pose_count 0: the identity alone. Not for one mesh. Host memory, read during the
     * call. */
    const float *poses;
    uint32_t pose_count;
    tml_collide_want want;
    /* which to report and count: 1u << TML_COLLIDE_CLASS_CROSSING and so on; 0: all */
    uint32_t classes;
    bool segments; /* fill result.segments */
    tml_collide_method method;
    /* Outputs in host memory (core.h, what programs make), each of capacity elements: pairs, and
     * where segments are asked for those, too. Where there is too little room nothing at all is
     * written. */
    tml_collide_pair *pairs;
    tml_collide_segment *segments_out;
    uint64_t capacity;
    /* Bytes that the stream of pairs may take, on BREADTH_FIRST; 0: a quarter of the device's
     * memory, at most 1 GiB. What does not fit is followed in parts: less memory is slower and
     * gives the same. */
    size_t memory_limit;
} tml_collide_desc;

enum { TML_COLLIDE_MAX_STEPS = 24 };
typedef struct tml_collide_result {
    tml_collide_pair *pairs;       /* count of them (FIRST: pose by pose); NULL for COUNT */
    tml_collide_segment *segments; /* one a pair, if asked for; else NULL */
    /* pose_count + 1: pairs before each pose; so first[p + 1] - first[p] are p's */
    uint64_t *first;
    uint32_t pose_count;
    uint64_t count;
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT];
    /* How much work it was: pairs of boxes that met, the roots among them. This, step_pairs and
     * tested are the same for every engine, method, number of threads and memory_limit, but for
     * FIRST. */
    uint64_t node_pairs;
    /* Of these, how many came to each step of the descent, from the roots (1 a pose, at most) to
     * the leaves; a step splits the nodes of one side. step_count is 0 where a mesh has no
     * triangles. */
    uint64_t step_pairs[TML_COLLIDE_MAX_STEPS];
    uint32_t step_count;
    /* Pairs of triangles that came to the float test: their boxes meet, in leaves whose boxes meet,
     * and b's triangle lies in the slab of a's leaf, too */
    uint64_t tested;
    uint64_t unsure; /* of these, how many were settled exactly; that depends on the method */
    uint32_t parts;  /* BREADTH_FIRST: into how many the stream was split; else 1 */
    uint32_t owned;  /* bit 0: pairs, bit 1: segments (core.h, what programs make) */
} tml_collide_result;

/* Finds the pairs: both trees are followed down, at each step the side whose boxes are on average
 * more than twice as large, else the one with more levels to go; so a fine small mesh against a
 * coarse large one costs no more than it should. Synchronous on every engine: they are on the host
 * on return. The descent allocates (by the context's allocator) what it finds; on GPUs buffers for
 * the stream stay with a until it is destroyed. On failure the result is zeroed, except count after
 * CAPACITY. Reports progress and can be cancelled. Engines: CPU, Vulkan, OpenGL ES 3 / WebGL 2;
 * DEPTH_FIRST works on each. OpenGL ES 2 and WebGL 1 have DEPTH_FIRST alone, which AUTO then is.
 * Errors: INVALID_ARGUMENT (a pose that is not finite, or takes b beyond 2^100), OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, CAPACITY, UNSUPPORTED, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_collide(tml_context *tml, const tml_collide_desc *desc,
                                              tml_collide_result *out);
TML_API void tml_collide_free(tml_context *tml, tml_collide_result *result);

/* ---- distance ------------------------------------------------------------------------------- */

/* Two points nearest each other, on a's triangle and b's, in a's frame. */
typedef struct tml_collide_distance_result {
    double distance; /* infinity where a mesh has no triangle, and beyond the limit */
    float point_a[3], point_b[3];
    uint32_t a, b;
} tml_collide_distance_result;

typedef struct tml_collide_distance_desc {
    tml_tree *a, *b;    /* may be one tree */
    const float *poses; /* as in tml_collide_desc; NULL with pose_count 0: the identity alone */
    uint32_t pose_count;
    /* Distances above this one are of no interest: such a pose has distance infinity and triangles
     * 2^32 - 1, and is done early. 0: none is too large. */
    double limit;
    /* How much greater than the smallest a distance may be, by itself: 0.01 allows 1 %, and is done
     * earlier. On BREADTH_FIRST it is the smallest nevertheless. */
    double tolerance;
    /* Both give the same, but for what tolerance allows. AUTO: on Vulkan BREADTH_FIRST, unless
     * poses and triangles are few; else DEPTH_FIRST, which OpenGL ES 2 and WebGL 1 have alone. */
    tml_collide_method method;
    /* Bytes that BREADTH_FIRST's streams may take, in its way; 0: a quarter of the device's memory,
     * at most 1 GiB. */
    size_t memory_limit;
} tml_collide_distance_desc;

/* The smallest distance between two meshes, for each pose. distance is 0 exactly when tml_collide
 * finds a pair, and otherwise off by less than 2^-46 of the largest difference of coordinates in
 * that pair of triangles; the points are rounded to float. Of several nearest pairs, as their
 * distances are computed, the one of the least a and then the least b is taken; of several that
 * meet, the first that DEPTH_FIRST comes to. So the result is the same on every engine, by either
 * method, for any number of threads. out: one a pose, at least one. Waits, and so does not stand
 * between tml_vulkan_record and its end.
 * DEPTH_FIRST    on the host: branch and bound, both trees descended nearest boxes first.
 * BREADTH_FIRST  on the device: a greedy descent a pose, then pairs of nodes level by level,
 *                without those that are certainly farther apart than two triangles already seen, by
 *                bounds in floats. The few pairs of triangles that are left are told apart on the
 *                host. Poses whose pairs are too many for the memory, and those under which the
 *                meshes meet, are followed on the host.
 * Reports progress and can be cancelled. Engines: CPU, Vulkan, OpenGL ES 3 / WebGL 2; DEPTH_FIRST
 * works on each. Errors: INVALID_ARGUMENT (a pose that is not finite, or takes b beyond 2^100; a
 * limit or tolerance below 0 or NaN), OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED, CANCELLED.
 * After: Larsen, Gottschalk, Lin, Manocha: Fast Proximity Queries with Swept Sphere Volumes. 1999;
 * Lauterbach, Mo, Manocha: gProximity. 2010. */
TML_API TML_MUST_CHECK tml_status tml_collide_distance(tml_context *tml,
                                                       const tml_collide_distance_desc *desc,
                                                       tml_collide_distance_result *out);

typedef struct tml_collide_distance_enqueue_desc {
    tml_tree *a, *b;   /* may be one tree; on a GPU with a triangle each */
    tml_buffer poses;  /* f32, 12 a pose: rows as in tml_collide_desc; none: the identity alone */
    tml_length length; /* how many poses, at most 2^20; zeroed: all of them */
    double limit;      /* as in tml_collide_distance_desc */
    /* Pairs of nodes that a step has room for, of all poses; 0: 65,536, or 1,024 a pose where these
     * are more. 80 bytes of the arena each. */
    uint64_t capacity;
    tml_buffer distances;          /* f64, one a pose */
    tml_buffer points_a, points_b; /* optional: f32x3, one a pose */
    tml_buffer triangles;          /* optional: u32x2, of a and of b, one a pose */
    /* Optional: one u32, how many pairs the fullest step made. Above the capacity, that is what it
     * should be, and the other outputs mean nothing. 0 on the CPU engine. */
    tml_buffer needed;
} tml_collide_distance_enqueue_desc;

/* The smallest distance between two meshes, for each pose, in a frame: enqueued like a stream
 * operation, with nothing read back, from trees as tml_tree_build_enqueue and
 * tml_tree_refit_enqueue leave them. The first call makes buffers, which stay with a and b, and
 * grows the arena; later ones of no more poses and capacity allocate nothing, and may be recorded
 * (tml_vulkan_record). After a tml_tree_refit of a or b, what was recorded before must not be
 * submitted again.
 * out       Where meshes are apart, bit for bit what tml_collide_distance gives, but that
 *           coordinates nearer to 0 than 2^-100 may count as 0. Beyond the limit: infinity. Where
 *           they certainly meet: 0. NaN where floats do not tell whether they meet, as of meshes
 *           that touch in a point, and of a pose that is not finite or takes b beyond 2^100:
 *           tml_collide_distance tells more. In these cases points are NaN and triangles 2^32 - 1.
 *           Outputs of poses past the length are left as they are.
 * Engines: CPU (done on return), Vulkan devices with doubles and 64-bit integers. Errors:
 * INVALID_ARGUMENT, CANCELLED, INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED.
 * After: as tml_collide_distance. */
/* clang-format off */
TML_API TML_MUST_CHECK tml_status tml_collide_distance_enqueue(tml_context *tml,
    const tml_collide_distance_enqueue_desc *desc);
/* clang-format on */

/* ---- points --------------------------------------------------------------------------------- */

/* Where a point lies. */
typedef enum tml_tree_side {
    TML_TREE_OUTSIDE,
    TML_TREE_INSIDE,
    TML_TREE_ON, /* on a triangle, its edges and corners included */
} tml_tree_side;

/* What inside means. The first two want a closed mesh: vertices in one place are one, whatever
 * their indices, and -0 is 0. */
typedef enum tml_tree_rule {
    /* A ray from the point crosses the mesh an odd number of times. Each edge belongs to an even
     * number of triangles, whichever way these are turned. */
    TML_TREE_RULE_EVEN_ODD,
    /* The mesh winds about the point, once or more: so is a point in two solids that overlap. Each
     * edge goes as often the one way as the other: the triangles' orientations agree. */
    TML_TREE_RULE_WINDING,
    /* The generalised winding number is 1/2 or more either way: as seen from the point, the mesh
     * covers half of all directions, or more. For meshes that are open or do not fit together, if
     * their triangles' orientations agree; where a closed one overlaps itself, as WINDING. Told in
     * double precision: by dipoles of far triangles, whose error has a bound, and anew with nearer
     * ones until the number is beyond it. What lies within rounding of 1/2, or of a triangle but
     * not on it, may be either. */
    TML_TREE_RULE_SOLID_ANGLE,
} tml_tree_rule;

/* Where on a triangle its point nearest another one lies. Edge i goes from corner i to the next.
 * Told in double precision: what lies within rounding of an edge or a corner may be either. */
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
/* Of the outputs at least one is given. Sides has length elements, the others k for each point, the
 * nearest first. */
typedef struct tml_tree_nearest_desc {
    tml_tree *tree;
    tml_buffer points; /* f32x3 */
    tml_length length; /* how many of them count; a length on the device is read (waits) */
    uint32_t k;        /* triangles for each point: 1 to TML_TREE_NEAREST_MAX; 0: 1 */
    tml_tree_rule rule;
    bool is_signed;       /* distances are negative inside, by rule, and 0 on a triangle */
    tml_buffer sides;     /* u8: a tml_tree_side a point; as flags of tml_compact, 0 is outside */
    tml_buffer distances; /* f32: to the triangle */
    tml_buffer positions; /* f32x3: the triangle's nearest point */
    tml_buffer triangles; /* u32 */
    tml_buffer features;  /* u8: where on that, a tml_tree_feature */
} tml_tree_nearest_desc;

/* Where each point of a stream lies with respect to a mesh, and what of the mesh is nearest.
 * sides     exact for every finite point, as large as floats get, also where rays pass through
 *           edges and vertices; by SOLID_ANGLE as there, and ON exactly. The first call by that
 *           takes 20 bytes a triangle, which stay with the tree. A point that is not finite is
 *           outside; so is every point of a tree without triangles.
 * nearest   computed in double precision and rounded to float: the distance is within 2^-24 of
 *           itself and 2^-44 of the largest difference of coordinates between the point and the
 *           triangle; where a triangle is a sliver, 2^-44 times its longest edge by its height. Of
 *           triangles at one distance, as computed, the one of the least number comes first, for
 *           any number of threads. Open meshes are as good as any, unless is_signed. Where there is
 *           nothing (a tree of less than k triangles, a point that is not finite): infinity, NaN,
 *           2^32 - 1, FACE.
 * Of 1024 points or more the device tells sides on Vulkan and OpenGL ES 3, and the nearest on
 * Vulkan devices with doubles, of meshes with coordinates within 2^30 and, but for 0, not below
 * 2^-100; SOLID_ANGLE and k of 2 or more are the host's. Points are sorted along a curve, so that
 * they may come in any order; then a thread follows each one's ray, or looks into the boxes nearest
 * it. The points whose sides floats are unsure of are settled on the host. That takes 44 bytes a
 * point of the device's memory for sides, and 48 for the rest, meanwhile. What is nearest has the
 * host's bits; one point farther out than 10^12, or with a coordinate below 2^-100, but 0, and the
 * host answers for all. Fewer points, and those of other meshes and devices, are the host's, by
 * threads and SIMD: in an order of the call's own there, too, 16 MiB at most. The call waits, and
 * so does not stand between tml_vulkan_record and its end. Reports progress, on the host, and can
 * be cancelled; outputs are then undefined. Errors: INVALID_ARGUMENT (sides, or a sign, of a mesh
 * that is not closed as the rule wants it: the message names a triangle with an edge that is not;
 * skip_broken may have opened it), INVALID_HANDLE, OUT_OF_MEMORY, CANCELLED. After: Edelsbrunner,
 * Muecke: Simulation of Simplicity. 1990; Ericson: Real-Time Collision Detection. 2005 (closest
 * features); Barill, Dickson, Schmidt, Levin, Jacobson: Fast Winding Numbers for Soups and Clouds.
 * 2018. */
TML_API TML_MUST_CHECK tml_status tml_tree_nearest(tml_context *tml,
                                                   const tml_tree_nearest_desc *desc);

/* ---- rays ----------------------------------------------------------------------------------- */

typedef enum tml_cast_want {
    /* the hit of the least t, and of hits at one t, as rounded, that of the least triangle */
    TML_CAST_NEAREST,
    TML_CAST_ANY,   /* whether there is one: the walk ends at the first that it meets */
    TML_CAST_COUNT, /* how many there are */
    TML_CAST_ALL,   /* every hit: by ray, then t, then triangle */
} tml_cast_want;

/* Rays are the points origin + t direction, t from 0 on, and segments those with an end to t. Of
 * the outputs at least one is given, of those that want has; each has length elements, but
 * ALL's. */
typedef struct tml_tree_cast_desc {
    tml_tree *tree;
    tml_buffer origins;    /* f32x3 */
    tml_buffer directions; /* f32x3, of any length but 0 */
    tml_length length;     /* how many rays count; a length on the device is read (waits) */
    /* The t that a hit may have, both ends included: from 0 to t_max for all rays, 0 standing for
     * infinity, so that 1 makes segments of rays; or where limits (f32x2) is given, from its first
     * to its second, a ray. */
    float t_max;
    tml_buffer limits;
    /* Optional: three rows a pose, f32x4, which take rays into the tree's frame by the formula for
     * poses above; a direction's has no last term. What comes out, rounded, is the ray, so t is
     * along the ray as it was given. And each ray's pose (u32); none: all rays have pose 0. */
    tml_buffer poses;
    tml_buffer pose_of;
    tml_cast_want want;
    tml_buffer hits;      /* u8: 1 if there is a hit, else 0; as flags of tml_compact */
    tml_buffer counts;    /* COUNT, ALL: u32, hits */
    tml_buffer triangles; /* NEAREST, ALL: u32; 2^32 - 1 where there is no hit */
    tml_buffer t;         /* NEAREST, ALL: f32; infinity where there is no hit */
    /* NEAREST: f32x2, weights of the triangle's second and third corner at the hit, in double
     * precision rounded to float; NaN where there is no hit. */
    tml_buffer barycentrics;
    tml_buffer rays; /* ALL: u32, each hit's ray */
    /* One u32 or u64: COUNT and ALL hits in all, else rays that have one (a u32 stays at its
     * largest value when there are more). ALL: the capacity is the smallest count of rays,
     * triangles and t: nothing is written past it, and a total above it is how an overflow
     * shows. */
    tml_buffer total;
} tml_tree_cast_desc;

/* What rays hit of a mesh. Whether a ray hits a triangle is exact, for all finite floats. The
 * triangle is closed: its edges and corners belong to it. A ray that passes through an edge or a
 * corner counts as if its origin were moved by (e, e^2, e^3), e infinitely small: so of the
 * triangles that share an edge or corner it hits what it would hit just beside, one where it passes
 * from one side of a surface to the other. No ray slips between, none hits twice; through a closed
 * mesh a line passes an even number of times. Triangles without area, and those that a ray sees
 * from the edge, are not hit: their neighbours are. Limits are exact, too: a ray that begins, or a
 * segment that ends, on a triangle hits it, there. t is the exact one rounded to the nearest float.
 * A ray hits nothing that is not finite, has a direction of 0, a pose that is not there, or NaN in
 * its limits; nothing is hit at t below 0 or beyond 2^100, nor in a tree without triangles. 1024
 * rays or more are cast on the device by Vulkan, at meshes within 2^30: a thread follows each ray,
 * another one settles what floats are unsure of, in exact sums, and the rays beyond 2^30 or below
 * 2^-100 are cast on the host; of ALL with one of these, or one that hits more than 4096 triangles,
 * all are. The tree then keeps itself there once more, 70 bytes a triangle, and the arena grows by
 * what tml_tree_cast_enqueue takes. All else is done on the host, by threads and SIMD, whatever the
 * engine. The call waits, and so does not stand between tml_vulkan_record and its end. On the host
 * rays are taken in an order of the call's own, near ones together: 16 MiB at most, for ALL 8 bytes
 * more a ray and a hit that has room. Reports progress and can be cancelled; outputs are then
 * undefined. Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_DEVICE_MEMORY, OUT_OF_MEMORY,
 * CANCELLED. After: Edelsbrunner, Muecke: Simulation of Simplicity. 1990; Woop, Benthin, Wald:
 * Watertight Ray/Triangle Intersection. 2013; Ylitie, Karras, Laine: Efficient Incoherent Ray
 * Traversal on GPUs Through Compressed Wide BVHs. 2017. */
TML_API TML_MUST_CHECK tml_status tml_tree_cast(tml_context *tml, const tml_tree_cast_desc *desc);

/* Rays for a frame: hits are written where the frame's next commands look for them, and nothing
 * comes back to the host. */
typedef struct tml_tree_cast_enqueue_desc {
    const tml_tree_cast_desc *cast; /* as for tml_tree_cast; a length on the device is read there */
    /* Optional: u32, the rays that the device cannot follow, in their order, as many as it has room
     * for; and one u32 or u64, how many there are. */
    tml_buffer unsure;
    tml_buffer unsure_count;
} tml_tree_cast_enqueue_desc;

/* Makes what such calls need of the tree on the device, and returns the bytes of scratch that one
 * takes from the arena; 0 for a desc that tml_tree_cast_enqueue refuses, and where memory lacks. On
 * Vulkan some 130 bytes a ray and 24 more with poses; for ALL 120 a ray, and 50 a hit that has
 * room. */
TML_API size_t tml_tree_cast_enqueue_scratch_size(tml_context *tml,
                                                  const tml_tree_cast_enqueue_desc *desc);
/* Enqueues what tml_tree_cast does, with its bits, for any number of rays. Reads nothing back,
 * waits for nothing, and, once tml_tree_cast_enqueue_scratch_size was asked and the arena reserved
 * (tml_reserve), allocates nothing; so it may stand between tml_vulkan_record and
 * tml_vulkan_record_end, several times: a bounce's rays made from hits by tml_expand, with their
 * number on the device. The CPU engine has finished when the call returns, and follows all rays.
 * unsure    Vulkan follows rays with an origin within 2^30 and a direction of 2^-40 to 2^41 in its
 *           largest component, of whose numbers, limits included, none but 0 is below 2^-100; and
 *           for ALL those that hit up to 4096 triangles. It is certain of their hits, of which what
 *           floats are unsure of is settled in exact sums. Others hit nothing, and are listed: for
 *           tml_tree_cast later; so are, but for ALL, those whose triangles to settle are no more
 *           among the first, in blocks of four, for which there is room: as many as rays and
 *           1024. So are all rays at a mesh that is not within 2^30, or whose last build or refit
 *           on the device met a vertex that is not finite.
 * ALL       total is 2^32 - 1 where it is not known: of more than twice the capacity.
 * tree      may be built or refitted by an enqueued call before; a recording follows such a tree as
 *           it then is, packing it anew for each call. Recordings are void once tml_tree_refit has
 *           been called, and not for its destruction.
 * Engines: CPU, Vulkan. Errors: INVALID_ARGUMENT (while recording: a tree without arrays on the
 * device), INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, SCRATCH_TOO_SMALL, UNSUPPORTED
 * (OpenGL; more than 2^27 rays or hits). After: as tml_tree_cast; Kulisch, Miranker: The Arithmetic
 * of the Digital Computer: A New Approach. 1986 (the sums). */
TML_API TML_MUST_CHECK tml_status tml_tree_cast_enqueue(tml_context *tml,
                                                        const tml_tree_cast_enqueue_desc *desc);

/* Distances to a mesh on a grid. */
typedef struct tml_tree_distance_grid_desc {
    tml_tree *tree;
    /* dims; spacing; origin. Along the axes: direction zeroed or the identity. Sample (i, j, k)
     * stands where origin + spacing * (i, j, k) is as floats. */
    tml_grid grid;
    tml_tree_rule rule;
    bool is_signed; /* as in tml_tree_nearest_desc */
    /* Distances are exact up to this one; beyond it, they are this one, with their sign. 0: exact
     * everywhere. */
    float band;
    tml_buffer out; /* f32, one a sample */
} tml_tree_distance_grid_desc;

/* The distances of a grid's samples to a mesh, bit for bit those of tml_tree_nearest (cut off at
 * the band), and so with exact signs. These are told line by line, from where the grid's lines
 * cross the mesh, or, on the host alone, by SOLID_ANGLE block by block, of blocks away from the
 * mesh all at once; a band leaves only samples near the mesh to look up. What comes out goes into
 * tml_surface with iso 0, where inside is below. Of 1024 to 2^30 samples, on Vulkan devices with
 * doubles, for meshes whose sides tml_tree_nearest tells there, kernels do this: out is filled
 * where it is, and the host tells the sides of lines that floats are unsure of, unless these are
 * more than a quarter, or lines cross more than 32 triangles on average: then, as for other grids,
 * engines and meshes, all is done on the host, by threads. Lines take 40 bytes each of the device's
 * memory meanwhile, samples near the mesh 40 MiB in all. The call waits, and so does not stand
 * between tml_vulkan_record and its end. No memory of the host's but for three coordinate lists and
 * the tree's triangles, and what unsure lines take, 4 bytes a sample. Reports progress and can be
 * cancelled; out is then undefined. Errors: INVALID_ARGUMENT (a mesh that is not closed, as for
 * tml_tree_nearest; a grid that is empty, turned, or reaches beyond floats), INVALID_HANDLE,
 * OUT_OF_MEMORY, CANCELLED. After: Baerentzen, Aanaes: Generating Signed Distance Fields From
 * Triangle Meshes. 2002 (the problem); signs by lines as tml_tree_nearest's rays. */
TML_API TML_MUST_CHECK tml_status tml_tree_distance_grid(tml_context *tml,
                                                         const tml_tree_distance_grid_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
