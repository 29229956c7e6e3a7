/* What the files of collide share: the tree, poses as the descents read them, and what a descent hands
 * back. */
#ifndef COLLIDE_INTERNAL_H
#define COLLIDE_INTERNAL_H

#include "core/core_internal.h"
#include "kernels/collide_layout.k.h"

enum { COLLIDE_LEVELS_MAX = 12 };
#define COLLIDE_TRIANGLES_MAX  ((uint64_t)1 << 28)
#define COLLIDE_COORDINATE_MAX 0x1p100f
#define COLLIDE_NO_TRIANGLE    UINT32_MAX

/* The tree is implicit. Level 0 are triangles in slots, level 1 the leaves of 8 slots, 2^k of them, level
 * 2 nodes of 8 leaves, up to one root; node i's children are 8 i to 8 i + 7 of the level below, as far as
 * there are such. Leaves differ by at most one triangle; slots left over repeat the leaf's last triangle
 * and have no number.
 *
 * Boxes and triangles lie in groups of 8 siblings, coordinate by coordinate: 8 of low x, of low y, low z,
 * high x, high y, high z; and 8 of x of the first corner, and so on. Lanes that no box has are empty: low
 * above high. */
struct tml_tree {
    uint64_t vertex_count, triangle_count, broken_count; /* of the mesh */
    uint32_t count;                                      /* triangles in the tree */
    uint32_t levels;                                     /* of boxes; 0: no triangle */
    uint32_t lanes; /* of a leaf, that may hold a triangle of their own */
    uint32_t level_count[COLLIDE_LEVELS_MAX + 1]; /* boxes of a level; [0]: slots */
    uint32_t level_group[COLLIDE_LEVELS_MAX + 1]; /* its first group in boxes; [0] unused */
    uint32_t group_count;
    float lower[3], upper[3];

    uint32_t *ids;     /* a slot's triangle, or COLLIDE_NO_TRIANGLE */
    uint32_t *corners; /* a slot's three vertices */
    float *triangles;  /* COLLIDE_TRIANGLE_WORDS a leaf */
    float *boxes;      /* COLLIDE_BOX_WORDS a group, then COLLIDE_SLAB_WORDS a leaf */

    struct collide_stream *stream; /* BREADTH_FIRST's buffers on the device, or NULL */
};

/* Words in tree->boxes. */
static inline uint64_t collide_box_words(const tml_tree *tree)
{
    return (uint64_t)COLLIDE_BOX_WORDS * tree->group_count +
           (uint64_t)COLLIDE_SLAB_WORDS * tree->level_count[1];
}

/* A leaf's slab. */
static inline float *collide_slab_words(const tml_tree *tree, uint32_t leaf)
{
    return tree->boxes + (size_t)COLLIDE_BOX_WORDS * tree->group_count +
           (size_t)COLLIDE_SLAB_WORDS * leaf;
}

/* The group of the boxes that are node's children, at level (which is 1 or higher). */
static inline const float *collide_group(const tml_tree *tree, uint32_t level, uint32_t group)
{
    return tree->boxes + (size_t)COLLIDE_BOX_WORDS * (tree->level_group[level] + group);
}

/* The coordinates of a slot's triangle. */
static inline void collide_triangle(const tml_tree *tree, uint32_t slot, float out[9])
{
    const float *group = tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * (slot / COLLIDE_WIDTH) +
                         slot % COLLIDE_WIDTH;
    for (int k = 0; k < 9; k++)
        out[k] = group[COLLIDE_WIDTH * k];
}

/* A pose with what the descents need to know. b's vertices go through matrix; and a's boxes through
 * inverse, into b's frame, where they are compared with b's boxes widened by margin on each side: enough
 * for what the matrix is not the inverse of inverse and for every rounding. A pose without a useful
 * inverse has an inverse of zeros and a margin that nothing escapes. */
typedef struct collide_pose {
    float matrix[12];
    float inverse[12];
    float margin[3];
    uint32_t is_identity;
} collide_pose;
_Static_assert(sizeof(collide_pose) == 4 * COLLIDE_POSE_WORDS, "as kernels read it");

/* Makes poses of matrices; NULL: the identity. INVALID_ARGUMENT for what is not finite or leads too far. */
tml_status collide_pose_make(tml_context *tml, const char *call, const tml_tree *a,
                             const tml_tree *b, const float *matrix, uint32_t number,
                             collide_pose *out);

/* b's triangle in a slot, as the pose leaves it. */
void collide_posed_triangle(const tml_tree *b, const collide_pose *pose, uint32_t slot,
                            float out[9]);

/* The side that each step of a descent splits: from roots to triangles, always the one with more levels to
 * go, b first. So the last two split a leaf of b, then a leaf of a. */
typedef struct collide_step {
    bool splits_b;
    uint32_t a_level, b_level; /* of the pairs that go in */
} collide_step;
enum { COLLIDE_STEPS_MAX = 2 * COLLIDE_LEVELS_MAX };
uint32_t collide_schedule(const tml_tree *a, const tml_tree *b,
                          collide_step steps[COLLIDE_STEPS_MAX]);

/* One call, resolved. */
typedef struct collide_job {
    tml_context *tml;
    tml_tree *a, *b; /* b is a where the mesh is its own */
    bool is_self;
    const collide_pose *poses;
    uint32_t pose_count;
    tml_collide_want want;
    uint32_t classes;
    size_t memory_limit;
    /* What comes out: pairs by pose (in no order within one), counts a pose, and the work done. */
    tml_collide_pair *pairs;
    uint64_t pair_count;
    uint64_t pair_capacity; /* of the allocation */
    uint64_t *pose_counts;
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT];
    uint64_t node_pairs, tested, unsure; /* tested: DEPTH_FIRST alone counts them */
    uint32_t parts;
} collide_job;

/* The class of two slots' triangles, exactly; of one mesh, beyond what they share. */
tml_collide_class collide_settle(const collide_job *job, const collide_pose *pose, uint32_t a_slot,
                                 uint32_t b_slot);

/* Room for count more of the job's pairs. */
tml_status collide_pairs_grow(collide_job *job, uint64_t count);

/* The pairs of roots that meet, in the poses' order; out has room for one a pose. */
uint32_t collide_roots(const collide_job *job, tml_uvec3 *out);

tml_status collide_depth_first(collide_job *job);
tml_status collide_breadth_first(collide_job *job);
/* Frees what tree keeps on the device. */
void collide_stream_destroy(tml_context *tml, tml_tree *tree);

#endif
