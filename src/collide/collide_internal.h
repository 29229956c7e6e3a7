/* Shared by collide's files: poses prepared for descents, and the job of one call. */
#ifndef COLLIDE_INTERNAL_H
#define COLLIDE_INTERNAL_H

#include "tree/tree_nodes.h"

/* Registers the room's kernels with the engine. */
void collide_learn(tml_context *tml);

/* A pose prepared for descents.
 * matrix: moves b's vertices into a's frame.
 * inverse: moves a's boxes into b's frame, to compare them with b's boxes, widened by margin on
 * each side. Zeros if the pose has no useful inverse.
 * margin: covers inverse's error and all roundings; without an inverse, makes all boxes meet. */
typedef struct collide_pose {
    float matrix[12];
    float inverse[12];
    float margin[3];
    uint32_t is_identity;
} collide_pose;
_Static_assert(sizeof(collide_pose) == 4 * COLLIDE_POSE_WORDS, "as kernels read it");

/* Prepares a pose.
 * matrix: 3 rows of 4; NULL: the identity. number: of the pose, for messages.
 * Errors: INVALID_ARGUMENT if the matrix is not finite or moves b beyond COLLIDE_COORDINATE_MAX. */
tml_status collide_pose_make(tml_context *tml, const char *call, const tml_tree *a,
                             const tml_tree *b, const float *matrix, uint32_t number,
                             collide_pose *out);

/* Whether collide_pose_make accepts the matrix. */
bool collide_pose_is_usable(const tml_tree *b, const float *matrix);

/* The coordinates of the triangle in a slot of b, moved by the pose. */
void collide_posed_triangle(const tml_tree *b, const collide_pose *pose, uint32_t slot,
                            float out[9]);

/* One step of a descent from roots to triangles: the side that it splits. */
typedef struct collide_step {
    bool splits_b;
    uint32_t a_level, b_level; /* levels of the step's input pairs */
} collide_step;
enum { COLLIDE_STEPS_MAX = 2 * COLLIDE_LEVELS_MAX };
_Static_assert((int)COLLIDE_STEPS_MAX == (int)TML_COLLIDE_MAX_STEPS, "as results have them");
/* Computes the steps of a descent.
 * A step splits the side whose boxes are more than twice as large on average. If neither is, it
 * splits the side with more levels left; b if both have as many. The last two steps split a leaf of
 * b, then a leaf of a.
 * b_scale: by how much the poses enlarge b's boxes; 0: ignore sizes.
 * Returns: the number of steps. */
uint32_t collide_schedule(const tml_tree *a, const tml_tree *b, double b_scale,
                          collide_step steps[COLLIDE_STEPS_MAX]);
/* Returns the mean factor by which the poses scale lengths; 0 if each pose maps all to a point. */
double collide_scale_of(const collide_pose *poses, uint32_t count);

/* Bytes that streams of pairs may use: desc.memory_limit or, if that is 0, a quarter of the
 * device's memory, at most 1 GiB. */
uint64_t collide_memory_limit(tml_context *tml, size_t asked);

/* One call, with all defaults resolved. */
typedef struct collide_job {
    tml_context *tml;
    tml_tree *a, *b; /* b == a: a mesh against itself */
    bool is_self;
    const collide_pose *poses;
    uint32_t pose_count;
    tml_collide_want want;
    uint32_t classes;
    size_t memory_limit;
    /* Results: the pairs, sorted by pose (except for FIRST) but not within a pose; the number of
     * pairs per pose; the work done. */
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

/* Decides the class of the triangles in two slots exactly. For a mesh against itself, shared
 * corners and edges do not count. */
tml_collide_class collide_settle(const collide_job *job, const collide_pose *pose, uint32_t a_slot,
                                 uint32_t b_slot);

/* Makes room for `count` more pairs in the job. */
tml_status collide_pairs_grow(collide_job *job, uint64_t count);

/* Writes (0, 0, pose) for each pose under which the roots meet, in ascending order.
 * out: room for pose_count elements.
 * Returns: the number written. */
uint32_t collide_roots(const collide_job *job, tml_uvec3 *out);

tml_status collide_depth_first(collide_job *job);
tml_status collide_breadth_first(collide_job *job);
/* Frees what collide keeps on the device for pairs with this tree first. Set as tree->forget. */
void collide_forget(tml_context *tml, tml_tree *tree);

#endif
