/* The depth-first descent's inner loops, compiled for each instruction set. */
#ifndef COLLIDE_DEPTH_H
#define COLLIDE_DEPTH_H

#include "collide/collide_internal.h"

/* A node's box in a's frame (here) and, under a pose, in b's (there), where b's are widened by the pose's
 * margin: low x y z, high x y z. */
typedef struct depth_node {
    uint32_t index;
    float here[6], there[6];
} depth_node;

/* Two nodes whose boxes meet. */
typedef struct depth_pair {
    depth_node a, b;
    uint32_t pose;
} depth_pair;

/* Pairs that were found, in a chain of blocks of fixed size. */
enum { DEPTH_BLOCK_PAIRS = 255 };
typedef struct depth_block {
    struct depth_block *next;
    uint32_t count;
    uint32_t unused;
    tml_collide_pair pairs[DEPTH_BLOCK_PAIRS];
} depth_block;

/* What all descents of a call share. */
typedef struct depth_call {
    const collide_job *job;
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    /* Blocks that may be taken, by number. Memory is allocated by the calling thread alone. */
    depth_block *blocks;
    uint32_t block_count;
    _Atomic uint32_t blocks_taken;
} depth_call;

/* b's leaf that was looked at last, posed. */
typedef struct depth_leaf {
    uint32_t index;  /* COLLIDE_NO_TRIANGLE: none */
    const float *at; /* the tree's own, or room */
    float room[COLLIDE_TRIANGLE_WORDS];
    float box[COLLIDE_BOX_WORDS]; /* of each triangle */
    bool has_slab;                /* slab is made once it is asked for */
    float slab[COLLIDE_SLAB_WORDS];
} depth_leaf;

/* One descent from a pair. */
typedef struct depth_run {
    depth_call *call;
    const collide_pose *pose;
    uint32_t pose_number;
    /* Before this step pairs are counted, and collected while there is room, rather than followed. */
    uint32_t stop_step;
    depth_pair *stopped;
    uint32_t stopped_count, stopped_capacity;
    /* FIRST: the descent ends with a pair, or when *found is less than number, that is, when an earlier
     * descent of the same pose found one. */
    bool first_only;
    uint32_t number;
    _Atomic uint32_t *found;
    bool is_over;
    /* Results. short: a block was wanted and there was none; pairs are counted all the same. */
    depth_block *first, *last;
    bool is_short;
    uint64_t count;
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT];
    uint64_t node_pairs, tested, unsure;
    depth_leaf leaf;
} depth_run;

/* Takes one pair of triangles that the float test could not exclude: sure says that they cross. */
void depth_take(depth_run *run, uint32_t a_slot, uint32_t b_slot, bool is_sure);

/* The roots of both trees under run's pose; false when they are apart. */
typedef bool (*depth_root_fn)(depth_run *run, depth_pair *out);
/* Follows the pair, which comes before step. */
typedef void (*depth_descend_fn)(depth_run *run, const depth_pair *pair, uint32_t step);
typedef struct depth_loops {
    depth_root_fn root;
    depth_descend_fn descend;
} depth_loops;
extern const depth_loops depth_loops_plain, depth_loops_avx2;

#endif
