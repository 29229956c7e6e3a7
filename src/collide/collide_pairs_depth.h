/* The depth-first descent's inner loops, compiled for each instruction set. */
#ifndef COLLIDE_PAIRS_DEPTH_H
#define COLLIDE_PAIRS_DEPTH_H

#include "collide/collide_internal.h"

/* A node and its box, low x y z, then high x y z: here in a's frame; there in b's frame, if the
 * pose is not the identity. there, boxes of b are widened by the pose's margin. */
typedef struct depth_node {
    uint32_t index;
    float here[6], there[6];
} depth_node;

/* Two nodes whose boxes meet. */
typedef struct depth_pair {
    depth_node a, b;
    uint32_t pose;
} depth_pair;

/* Pairs that were found, in a chain of blocks of 1 KiB. */
enum { DEPTH_BLOCK_PAIRS = 63 };
typedef struct depth_block {
    struct depth_block *next;
    uint32_t count;
    uint32_t unused;
    tml_collide_pair pairs[DEPTH_BLOCK_PAIRS];
} depth_block;

enum { DEPTH_STORES = 22, DEPTH_STORE_BLOCKS = 512 };

/* What all descents of a call share. */
typedef struct depth_call {
    const collide_job *job;
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    /* The store of blocks, which are taken in order. stores[k] has DEPTH_STORE_BLOCKS << k. The
     * calling thread allocates them; workers allocate nothing. */
    depth_block *stores[DEPTH_STORES];
    uint32_t store_count;
    uint32_t block_count; /* in all stores */
    _Atomic uint32_t blocks_taken;
} depth_call;

/* The leaf of b that was tested last, its triangles moved by the pose. */
typedef struct depth_leaf {
    uint32_t index;  /* COLLIDE_NO_TRIANGLE: none */
    const float *at; /* the tree's own, or room */
    float room[COLLIDE_TRIANGLE_WORDS];
    float box[COLLIDE_BOX_WORDS]; /* boxes of its triangles */
    bool has_slab;                /* slab is computed when it is first needed */
    float slab[COLLIDE_SLAB_WORDS];
} depth_leaf;

/* One descent from a pair of nodes. */
typedef struct depth_run {
    depth_call *call;
    const depth_pair *start; /* input of start_step */
    uint32_t start_step;
    const collide_pose *pose;
    uint32_t pose_number;
    /* Pairs that arrive at stop_step are not followed but counted in stopped_count, and stored in
     * stopped while there is room. */
    uint32_t stop_step;
    depth_pair *stopped;
    uint32_t stopped_count, stopped_capacity;
    /* WANT_FIRST: the descent ends when it has found a pair, or when *found is less than number: an
     * earlier descent of the same pose has found one. */
    bool first_only;
    uint32_t number;
    _Atomic uint32_t *found;
    bool is_over;
    /* Results. is_short: the store had no block left, and the descent was given up; it runs again
     * and fills its blocks, first and those after it, anew. */
    depth_block *first, *last;
    bool is_short;
    uint64_t count;
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT];
    uint64_t step_pairs[COLLIDE_STEPS_MAX], tested, unsure;
    uint64_t at; /* of its first pair in the job's */
    depth_leaf *leaf;
} depth_run;

/* Adds a pair of triangles that the float test did not exclude. is_sure: they cross; otherwise the
 * exact test decides. */
void depth_take(depth_run *run, uint32_t a_slot, uint32_t b_slot, bool is_sure);

/* Has the store no block left? */
bool depth_store_is_empty(depth_call *call);

/* The roots of both trees under run's pose; false when they are apart. */
typedef bool (*depth_root_fn)(depth_run *run, depth_pair *out);
/* Follows a pair of nodes, which is input of step. */
typedef void (*depth_descend_fn)(depth_run *run, const depth_pair *pair, uint32_t step);
typedef struct depth_loops {
    depth_root_fn root;
    depth_descend_fn descend;
} depth_loops;
extern const depth_loops depth_loops_plain, depth_loops_avx2;

#endif
