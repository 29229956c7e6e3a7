/* The depth-first descent: its state, and its inner loops, compiled for each instruction set. */
#ifndef COLLIDE_PAIRS_DEPTH_H
#define COLLIDE_PAIRS_DEPTH_H

#include "collide/collide_internal.h"

/* A node and its box (low x y z, high x y z).
 * here: in a's frame.
 * there: in b's frame, unless the pose is the identity; b's are widened by its margin. */
typedef struct depth_node {
    uint32_t index;
    float here[6], there[6];
} depth_node;

/* Two nodes whose boxes meet. */
typedef struct depth_pair {
    depth_node a, b;
    uint32_t pose;
} depth_pair;

/* A block of pairs that a descent found, 1 KiB. Blocks form a chain. */
enum { DEPTH_BLOCK_PAIRS = 63 };
typedef struct depth_block {
    struct depth_block *next;
    uint32_t count;
    uint32_t unused;
    tml_collide_pair pairs[DEPTH_BLOCK_PAIRS];
} depth_block;

enum { DEPTH_STORES = 22, DEPTH_STORE_BLOCKS = 512 };

/* State that all descents of a call share. */
typedef struct depth_call {
    const collide_job *job;
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    /* The store of blocks, which are taken in order. stores[k] has DEPTH_STORE_BLOCKS << k blocks.
     * Only the calling thread allocates; workers allocate nothing. */
    depth_block *stores[DEPTH_STORES];
    uint32_t store_count;
    uint32_t block_count; /* in all stores */
    _Atomic uint32_t blocks_taken;
} depth_call;

/* The most recently tested leaf of b, with its triangles moved by the pose. */
typedef struct depth_leaf {
    uint32_t index;  /* COLLIDE_NO_TRIANGLE: none */
    const float *at; /* the tree's triangles, or room */
    float room[COLLIDE_TRIANGLE_WORDS];
    float box[COLLIDE_BOX_WORDS]; /* boxes of the triangles */
    bool has_slab;                /* slab is computed when first needed */
    float slab[COLLIDE_SLAB_WORDS];
} depth_leaf;

/* One descent from a pair of nodes. */
typedef struct depth_run {
    depth_call *call;
    const depth_pair *start; /* input of start_step */
    uint32_t start_step;
    const collide_pose *pose;
    uint32_t pose_number;
    /* Pairs that reach stop_step stop: stopped_count counts them, stopped has those with room. */
    uint32_t stop_step;
    depth_pair *stopped;
    uint32_t stopped_count, stopped_capacity;
    /* FIRST: the descent ends when it has found a pair, or when *found is less than number, since
     * then an earlier descent of the same pose has found one. */
    bool first_only;
    uint32_t number;
    _Atomic uint32_t *found;
    bool is_over;
    /* Results. is_short: the store had no block left and the descent gave up. It runs again and
     * reuses its chain of blocks from `first` on. */
    depth_block *first, *last;
    bool is_short;
    uint64_t count;
    uint64_t class_counts[TML_COLLIDE_CLASS_COUNT];
    uint64_t step_pairs[COLLIDE_STEPS_MAX], tested, unsure;
    uint64_t at; /* where its pairs begin in job->pairs */
    depth_leaf *leaf;
} depth_run;

/* Adds a pair of triangles that the float test did not exclude.
 * is_sure: they certainly cross; false: decide exactly. */
void depth_take(depth_run *run, uint32_t a_slot, uint32_t b_slot, bool is_sure);

/* Whether the store has no block left. */
bool depth_store_is_empty(depth_call *call);

/* Sets *out to the two roots under run's pose. Returns false if they are apart. */
typedef bool (*depth_root_fn)(depth_run *run, depth_pair *out);
/* Descends from a pair of nodes, which is input of `step`. */
typedef void (*depth_descend_fn)(depth_run *run, const depth_pair *pair, uint32_t step);
typedef struct depth_loops {
    depth_root_fn root;
    depth_descend_fn descend;
} depth_loops;
extern const depth_loops depth_loops_plain, depth_loops_avx2;

#endif
