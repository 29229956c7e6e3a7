/* Collide: what two trees answer. Which triangles of two meshes meet, under one pose or thousands;
 * which triangles of one mesh meet each other; and how far two meshes are apart.
 *
 * Not here: response, penetration depth, continuous motion, volumes (a mesh that lies wholly inside
 * another one meets it nowhere; tml_tree_nearest finds such meshes).
 *
 *     tml_tree *a, *b; (trommel/tree.h)
 *     tml_tree_create(tml, &(tml_tree_desc){.vertices = va, .indices = ia}, &a);
 *     tml_tree_create(tml, &(tml_tree_desc){.vertices = vb, .indices = ib}, &b);
 *     tml_collide_result hits;
 *     tml_collide(tml, &(tml_collide_desc){.a = a, .b = b, .poses = p, .pose_count = 1000}, &hits);
 *     ... hits.pairs[hits.first[p]] up to hits.pairs[hits.first[p + 1]] are the pairs of pose p ...
 *     tml_collide_free(tml, &hits);
 *
 * Exactness
 *   meshes  Vertices are the real points that their floats stand for. A pose is applied to each
 *           vertex of b alone, by the formula of trommel/tree.h, and the rounded result is the
 *           vertex. So triangles that share a vertex still share it, and one answer is right.
 *   answer  The pairs of closed triangles that have a point in common, all of them and no other,
 *           each with its class. There is no epsilon. The set of pairs is the same on every engine,
 *           for any number of threads, with a and b swapped, with triangles in another order, and
 *           with both meshes scaled by the same power of two (while nothing overflows or becomes
 *           subnormal).
 *   order   By pose, then a's triangle, then b's.
 *   limits  As trommel/tree.h, also for coordinates after the pose.
 *
 * After: Gottschalk, Lin, Manocha: OBBTree: A Hierarchical Structure for Rapid Interference
 * Detection. 1996; Lauterbach, Mo, Manocha: gProximity: Hierarchical GPU-based Operations for
 * Collision and Distance Queries. 2010. */
#ifndef TROMMEL_COLLIDE_H
#define TROMMEL_COLLIDE_H

#include <trommel/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pairs ---------------------------------------------------------------------------------- */

/* How two triangles meet. A triangle is closed: its three edges belong to it. Its interior is the
 * triangle without its edges. */
typedef enum tml_collide_class {
    TML_COLLIDE_CLASS_NONE, /* no point in common; never in a result */
    /* both have area and lie in different planes, and their interiors have a point in common; so
     * they share a segment, and each has points on both sides of the other's plane */
    TML_COLLIDE_CLASS_CROSSING,
    /* both have area and points in common, but their interiors have none: a corner or an edge of
     * one lies on the other, or two edges meet */
    TML_COLLIDE_CLASS_TOUCHING,
    TML_COLLIDE_CLASS_COPLANAR,   /* both have area, lie in one plane and overlap in an area */
    TML_COLLIDE_CLASS_DEGENERATE, /* at least one has no area (three corners on a line) */
    TML_COLLIDE_CLASS_COUNT
} tml_collide_class;
/* Returns the name of a class: "crossing"; never NULL. */
static inline const char *tml_collide_class_name(tml_collide_class kind)
{
    static const char *const names[TML_COLLIDE_CLASS_COUNT] = {"none", "crossing", "touching",
                                                               "coplanar", "degenerate"};
    return (unsigned)kind < TML_COLLIDE_CLASS_COUNT ? names[kind] : "unknown";
}

/* a, b  triangles; in one mesh a < b
 * pose  the number of the pose
 * kind  a tml_collide_class, in 32 bits: a pair is four words, as GPUs write it */
typedef struct tml_collide_pair {
    uint32_t a, b;
    uint32_t pose;
    uint32_t kind;
} tml_collide_pair;

typedef enum tml_collide_want {
    TML_COLLIDE_WANT_ALL,   /* every pair */
    TML_COLLIDE_WANT_COUNT, /* the number of pairs per pose, and no list */
    /* at most one pair per pose: whether the meshes meet. The descent ends early. Which pair it is
     * depends on the trees, the method and the engine, not on the number of threads */
    TML_COLLIDE_WANT_FIRST,
} tml_collide_want;

/* How pairs of nodes are followed. Every method gives the same result. */
typedef enum tml_collide_method {
    TML_COLLIDE_METHOD_AUTO,          /* the fastest for this call on this device */
    TML_COLLIDE_METHOD_DEPTH_FIRST,   /* on the host, by threads that follow single pairs down */
    TML_COLLIDE_METHOD_BREADTH_FIRST, /* on the device, by a stream of pairs, level by level */
} tml_collide_method;

/* a             a tree
 * b             a tree; NULL: a with itself. Two triangles of one mesh that share a corner (one
 *               place, whatever its index) are then a pair only if they also meet outside the
 *               corner or edge that they share. Two triangles with the same three corners, whatever
 *               their orientations, are a pair (COPLANAR or DEGENERATE). To ignore doubled
 *               triangles, build the tree without the second of each, or pass over COPLANAR pairs
 *               with the same three corners
 * poses         host memory, 12 floats per pose: 3 x 4, row-major, any affine map of b into a's
 *               frame; NULL with pose_count 0: the identity alone. Rotations with translations are
 *               fastest, singular maps slow. Not for one mesh
 * pose_count    how many
 * want          which pairs
 * classes       which classes are reported and counted: 1u << TML_COLLIDE_CLASS_CROSSING and so on;
 *               0: all
 * segments      computes result.segments
 * pairs         optional: host memory of the caller for capacity pairs (core.h, what programs make)
 * segments_out  required with pairs and segments: likewise, 6 floats per pair
 * capacity      pairs for which pairs and segments_out have room. If there are more, nothing is
 *               written
 * method        how
 * memory_limit  bytes that BREADTH_FIRST's streams may take; 0: a quarter of the device's memory,
 *               at most 1 GiB. Less memory is slower and gives the same */
typedef struct tml_collide_desc {
    tml_tree *a, *b;
    const float *poses;
    uint32_t pose_count;
    tml_collide_want want;
    uint32_t classes;
    bool segments;
    tml_collide_pair *pairs;
    float *segments_out;
    uint64_t capacity;
    tml_collide_method method;
    size_t memory_limit;
} tml_collide_desc;

enum { TML_COLLIDE_MAX_STEPS = 24 };
/* pairs         count of them; NULL for COUNT
 * first         pose_count + 1: the pairs before each pose, so pose p has first[p + 1] - first[p]
 * segments      if asked for, 6 floats per pair, else NULL: the two ends of what the triangles have
 *               in common, x y z each, in a's frame; the lexicographically lesser first; equal for
 *               a point, NaN for an area (COPLANAR). Coordinates are the exact ones, rounded to the
 *               nearest float. For neighbours in one mesh, what they share is included
 * count         pairs; after CAPACITY the number required
 * class_counts  pairs of each class
 * pose_count    poses, at least 1
 * node_pairs    work: pairs of boxes that met, the roots included. node_pairs, step_pairs and
 *               tested depend on the trees, poses and want alone, but for FIRST
 * step_pairs    node_pairs by step of the descent, from the roots (at most 1 per pose) to the
 *               leaves; a step splits the nodes of one side
 * step_count    steps; 0 if a mesh has no triangles
 * tested        pairs of triangles that came to the float test
 * unsure        pairs of these that were decided exactly; depends on the method
 * parts         parts in which memory_limit made BREADTH_FIRST follow the stream; else 1
 * owned         bit 0: pairs, bit 1: segments (core.h, what programs make) */
typedef struct tml_collide_result {
    tml_collide_pair *pairs;
    uint64_t *first;
    float *segments;
    uint64_t count;
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT];
    uint32_t pose_count;
    uint64_t node_pairs;
    uint64_t step_pairs[TML_COLLIDE_MAX_STEPS];
    uint32_t step_count;
    uint64_t tested;
    uint64_t unsure;
    uint32_t parts;
    uint32_t owned;
} tml_collide_result;

/* Finds the pairs of triangles that meet. Both trees are descended. Each step splits the side whose
 * boxes are more than twice as large on average, else the side with more levels left. Reports
 * progress and can be cancelled.
 * Returns: the result, which tml_collide_free releases; zeroed on failure, but for count.
 * Waits:   yes.
 * Memory:  what it finds; on GPUs buffers for the stream, which stay with a.
 * Errors:  INVALID_ARGUMENT (also a pose that is not finite, or maps b beyond 2^100),
 *          OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CAPACITY, UNSUPPORTED (BREADTH_FIRST on OpenGL ES 2
 *          and WebGL 1), CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_collide(tml_context *tml, const tml_collide_desc *desc,
                                              tml_collide_result *out);
/* Frees the arrays that belong to a result, and zeroes it. */
TML_API void tml_collide_free(tml_context *tml, tml_collide_result *result);

/* ---- distance ------------------------------------------------------------------------------- */

/* Two nearest points of two meshes, in a's frame.
 * distance          infinity if a mesh has no triangle, and beyond the limit
 * point_a, point_b  on a's triangle and on b's
 * a, b              the triangles; 2^32 - 1 beyond the limit */
typedef struct tml_collide_distance_result {
    double distance;
    float point_a[3], point_b[3];
    uint32_t a, b;
} tml_collide_distance_result;

/* One desc for two calls. tml_collide_distance takes poses from the host and returns results there.
 * tml_collide_distance_enqueue takes poses from a buffer and writes buffers. Each call refuses the
 * fields of the other, but for tolerance.
 * a, b          trees; may be one tree. On a GPU tml_collide_distance_enqueue requires a triangle
 *               in each
 * limit         greater distances count as infinity, and such a pose is finished early; 0: none is
 *               too great
 * tolerance     0.01 allows distances up to 1 % greater than the smallest, which is faster.
 *               BREADTH_FIRST and tml_collide_distance_enqueue find the smallest anyway
 * tml_collide_distance:
 * poses         as in tml_collide_desc
 * pose_count    likewise
 * method        every method gives the same, but for what tolerance allows
 * memory_limit  as in tml_collide_desc
 * tml_collide_distance_enqueue:
 * pose_buffer   f32, 12 per pose, as poses; none: the identity alone
 * length        how many poses, at most 2^20; zeroed: as many as pose_buffer has
 * distances     f64, one per pose
 * points_a      optional: f32x3, one per pose, and so points_b
 * triangles     optional: u32x2, of a and of b, one per pose
 * needed        optional: one u32, the pairs of nodes of the fullest step. If it is greater than
 *               the capacity, the other outputs are meaningless, and it is the capacity to give. 0
 *               on the CPU engine
 * capacity      pairs of nodes that a step has room for, of all poses; 0: 65,536, or 1,024 per pose
 *               if that is more. 80 bytes of the arena each */
typedef struct tml_collide_distance_desc {
    tml_tree *a, *b;
    double limit;
    double tolerance;
    const float *poses;
    uint32_t pose_count;
    tml_collide_method method;
    size_t memory_limit;
    tml_buffer pose_buffer;
    tml_length length;
    tml_buffer distances;
    tml_buffer points_a, points_b;
    tml_buffer triangles;
    tml_buffer needed;
    uint64_t capacity;
} tml_collide_distance_desc;

/* Finds the smallest distance between two meshes, for each pose. Reports progress and can be
 * cancelled.
 * out  one per pose, at least one. distance is 0 exactly if tml_collide finds a pair, and otherwise
 *      within 2^-46 of the largest difference of coordinates in the two triangles; points are
 *      rounded to float. Of several nearest pairs, as their distances are computed, the one of the
 *      least a and then the least b is returned; of several that meet, the first that DEPTH_FIRST
 *      comes to. So the result is the same on every engine and for any number of threads.
 * DEPTH_FIRST    branch and bound: both trees are descended nearest boxes first.
 * BREADTH_FIRST  a greedy descent per pose gives a bound. Pairs of nodes that are certainly farther
 *                apart are dropped, level by level, by bounds in floats. The host compares the few
 *                pairs of triangles that remain, and follows poses that meet or do not fit.
 * Waits:  yes.
 * Errors: INVALID_ARGUMENT (also a pose that is not finite, or maps b beyond 2^100; a limit or
 *         tolerance below 0 or NaN), OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, UNSUPPORTED
 *         (BREADTH_FIRST on OpenGL ES 2 and WebGL 1), CANCELLED.
 * After:  Larsen, Gottschalk, Lin, Manocha: Fast Proximity Queries with Swept Sphere Volumes.
 *         1999; Lauterbach, Mo, Manocha: gProximity. 2010. */
TML_API TML_MUST_CHECK tml_status tml_collide_distance(tml_context *tml,
                                                       const tml_collide_distance_desc *desc,
                                                       tml_collide_distance_result *out);
/* Finds the smallest distances in a frame, without a wait, for trees as tml_tree_update_enqueue
 * leaves them.
 * distances  where meshes are apart, bit for bit those of tml_collide_distance, but that
 *            coordinates below 2^-100 may count as 0; infinity beyond the limit; 0 where meshes
 *            certainly meet; NaN where floats are unsure whether they meet (as of meshes that touch
 *            in a point), and for a pose that is not finite or maps b beyond 2^100. Unless meshes
 *            are apart, points are NaN and triangles 2^32 - 1. Outputs past the length are not
 *            written.
 * Memory:    the first call makes buffers, which stay with a and b, and grows the arena. Later
 *            calls of no more poses and capacity allocate nothing and may be recorded. After
 *            tml_tree_update of a or b recordings are void.
 * Errors:    INVALID_ARGUMENT, CANCELLED, INVALID_HANDLE, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY,
 *            UNSUPPORTED (OpenGL; devices without doubles and 64-bit integers). */
/* clang-format off */
TML_API TML_MUST_CHECK tml_status tml_collide_distance_enqueue(tml_context *tml,
    const tml_collide_distance_desc *desc);
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
