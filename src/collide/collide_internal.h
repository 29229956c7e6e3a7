/* What the files of collide share: poses prepared for descents, and the results of a descent. */
#ifndef COLLIDE_INTERNAL_H
#define COLLIDE_INTERNAL_H

#include "tree/tree_nodes.h"

/* Makes the room's kernels known to the engine. */
void collide_learn(tml_context *tml);

/* A pose, prepared for descents. matrix moves b's vertices into a's frame. inverse moves a's boxes
 * into b's frame, where they are compared with b's boxes widened by margin on each side. margin
 * covers what inverse differs from the exact inverse by, and every rounding. A pose without a
 * useful inverse has an inverse of zeros and a margin with which all boxes meet. */
typedef struct collide_pose {
    float matrix[12];
    float inverse[12];
    float margin[3];
    uint32_t is_identity;
} collide_pose;
_Static_assert(sizeof(collide_pose) == 4 * COLLIDE_POSE_WORDS, "as kernels read it");

/* Prepares pose number from a matrix of 3 rows of 4; NULL: the identity. INVALID_ARGUMENT if the
 * matrix is not finite or moves b beyond COLLIDE_COORDINATE_MAX. */
tml_status collide_pose_make(tml_context *tml, const char *call, const tml_tree *a,
                             const tml_tree *b, const float *matrix, uint32_t number,
                             collide_pose *out);

/* Is the matrix (NULL: the identity) one that collide_pose_make takes? */
bool collide_pose_is_usable(const tml_tree *b, const float *matrix);

/* The coordinates of b's triangle in a slot, moved by the pose. */
void collide_posed_triangle(const tml_tree *b, const collide_pose *pose, uint32_t slot,
                            float out[9]);

/* One step of a descent from roots to triangles: which side it splits. */
typedef struct collide_step {
    bool splits_b;
    uint32_t a_level, b_level; /* of the pairs that go in */
} collide_step;
enum { COLLIDE_STEPS_MAX = 2 * COLLIDE_LEVELS_MAX };
_Static_assert((int)COLLIDE_STEPS_MAX == (int)TML_COLLIDE_MAX_STEPS, "as results have them");
/* The steps of a descent. Each splits the side whose boxes are on average more than twice as large;
 * else the one with more levels to go, b if both have as many. The last two split a leaf of b, then
 * a leaf of a. b_scale: how much larger the poses make b's boxes; 0: sizes do not count. */
uint32_t collide_schedule(const tml_tree *a, const tml_tree *b, double b_scale,
                          collide_step steps[COLLIDE_STEPS_MAX]);
/* The mean of the factors by which poses scale lengths; 0 where all are singular to a point. */
double collide_scale_of(const collide_pose *poses, uint32_t count);

/* Bytes that streams of pairs may take: desc.memory_limit, or if that is 0 a quarter of the
 * device's, 1 GiB at most. */
uint64_t collide_memory_limit(tml_context *tml, size_t asked);

/* One call, resolved. */
typedef struct collide_job {
    tml_context *tml;
    tml_tree *a, *b; /* b == a for a mesh against itself */
    bool is_self;
    const collide_pose *poses;
    uint32_t pose_count;
    tml_collide_want want;
    uint32_t classes;
    size_t memory_limit;
    /* Results: pairs by pose, but for FIRST, in no order within one; how many each pose has; the
     * work done. */
    tml_collide_pair *pairs;
    uint64_t pair_count;
    uint64_t pair_capacity; /* of the allocation */
    uint64_t *pose_counts;
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT];
    uint64_t node_pairs, tested, unsure;
    uint64_t step_pairs[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    uint32_t parts;
} collide_job;

/* The exact class of two slots' triangles; for a mesh against itself, of what they have in common
 * beyond shared corners and edges. */
tml_collide_class collide_settle(const collide_job *job, const collide_pose *pose, uint32_t a_slot,
                                 uint32_t b_slot);

/* Makes room for count more pairs in the job. */
tml_status collide_pairs_grow(collide_job *job, uint64_t count);

/* Writes (0, 0, pose) for each pose under which the roots meet, in order. out: room for pose_count.
 * Returns how many. */
uint32_t collide_roots(const collide_job *job, tml_uvec3 *out);

tml_status collide_depth_first(collide_job *job);
tml_status collide_breadth_first(collide_job *job);
/* Frees what pairs of trees need on the device: a tree's forget. */
void collide_forget(tml_context *tml, tml_tree *tree);

#endif
