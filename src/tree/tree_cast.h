/* Ray casting: rays and their state, the inner loops that are compiled for each instruction set,
 * and what the room's ray files share. */
#ifndef TREE_CAST_H
#define TREE_CAST_H

#include "tree/tree_internal.h"

/* Hits beyond this t do not count. */
#define CAST_T_MAX 0x1p100f

/* A ray and its hits. */
typedef struct cast_ray {
    const tml_tree *tree;
    tml_tree_cast_want want;
    float origin[3], direction[3];
    float t_min, t_max; /* 0 <= t_min <= t_max <= CAST_T_MAX */
    /* The slab test. Along axis k, the ray enters a box through the plane stored at word plane[k]
     * of a group, at t >= (plane - origin) * enter[k]. It leaves through the opposite plane, at t
     * <= (plane - origin) * leave[k]. */
    uint32_t plane[3];
    float enter[3], leave[3];
    uint32_t axis; /* the direction's largest: z of collide_cast.k.h; x and y are the next two */
    float slope_x, slope_y;
    /* Results: */
    bool is_over;   /* ANY: a hit is found */
    uint32_t slot;  /* NEAREST: the slot of best */
    uint64_t best;  /* NEAREST: bits of t, above the triangle's number; UINT64_MAX: none */
    float t_far;    /* boxes beyond it can be skipped: t_max, or the t of best */
    uint64_t count; /* hits so far; not for NEAREST */
    uint64_t *hits; /* ALL: the nearest `room` hits, encoded like best; NULL: only count them */
    uint64_t room;
} cast_ray;

/* Adds a slot's triangle to the ray's hits, if its t is within the limits.
 * is_sure: the ray's line certainly passes through the triangle; false: decide that exactly. */
void cast_take(cast_ray *ray, uint32_t slot, bool is_sure);

/* A box that is still to be visited. */
typedef struct cast_box {
    float enter; /* at most the t of any hit in the box */
    uint32_t level, index;
} cast_box;

/* A ray during its traversal of the tree. */
typedef struct cast_walk {
    cast_ray ray;
    uint32_t count; /* boxes in open, a stack */
    cast_box open[COLLIDE_WIDTH * COLLIDE_LEVELS_MAX];
} cast_walk;

/* Walks that advance in turns: while one loads its next node from memory, others compute. */
enum { CAST_WALKS = 16 };

typedef struct cast_loops {
    /* Traces at most CAST_WALKS rays through the whole tree. */
    void (*follow)(cast_walk *walks, uint32_t count);
} cast_loops;
extern const cast_loops cast_loops_plain, cast_loops_avx2;

/* Sorts hits in place, in ascending order. */
void cast_sort_hits(uint64_t *hits, uint64_t count);
static inline double cast_dot(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/* Checks a desc. Sets length.count, the upper bound, where it is 0, and length.exact. */
tml_status cast_check_desc(tml_context *tml, const char *call, tml_tree_cast_desc *d);
/* Returns the most bytes of scratch that a call needs, its sorting order included. */
size_t cast_scratch_size(const tml_context *tml, const tml_tree_cast_desc *desc);
/* Writes total to a buffer of one u32 or u64. Does nothing if there is no buffer. */
tml_status cast_put_total(tml_context *tml, tml_buffer to, uint64_t total);
/* Casts rays on the host.
 * desc: checked. count: its number of rays.
 * scratch: host memory of cast_scratch_size bytes; NULL: allocate.
 * total: receives the number of hits; may be NULL. */
tml_status cast_on_host(tml_context *tml, const char *call, const tml_tree_cast_desc *desc,
                        uint64_t count, void *scratch, uint64_t *total);
/* Returns the number of hits that fit every output array of ALL; 0 if ALL has no output array. */
uint64_t cast_hit_room(const tml_context *tml, const tml_tree_cast_desc *desc);
/* Adds `more` to a buffer of one u32 or u64. */
tml_status cast_add_total(tml_context *tml, tml_buffer total, uint64_t more);

/* ---- on the device --------------------------------------------------------------------------- */

/* For fewer rays, the host finishes before a device would answer. */
enum { RAYS_LEAST = 1024 };
/* Buffers that a tree keeps on the device for rays. CAST_TREE: the packed tree. CAST_IDS: its
 * triangles' numbers. For a call that waits: CAST_LEFT and CAST_LEFT_COUNT list the rays that are
 * left to the host, CAST_TOTAL is the number of hits. */
enum { CAST_TREE, CAST_IDS, CAST_LEFT, CAST_LEFT_COUNT, CAST_TOTAL, CAST_BUFFERS };
_Static_assert((int)CAST_BUFFERS == (int)TREE_CAST_BUFFERS, "as tree_device.c frees them");
/* Makes one of these buffers, unless it exists. */
tml_status cast_buffer_make(tml_context *tml, tml_tree *tree, int which, tml_type type,
                            uint64_t count, const void *data);
/* Packs the tree on the device, unless the packed tree is current. A recording that later builds
 * may affect packs the tree each time it runs. */
tml_status cast_pack(tml_context *tml, const char *call, tml_tree *tree);
/* Whether the device's 32-bit indices reach all rays, all of the tree and all hits. */
bool cast_fits(const tml_context *tml, const tml_tree_cast_desc *desc);

/* Whether the device may cast the rays of a call that waits.
 * desc: checked, with a known number of rays. */
bool cast_runs_on_device(const tml_context *tml, const tml_tree_cast_desc *desc);
/* Casts the rays on the device, and those that it cannot follow on the host. */
tml_status cast_on_device(tml_context *tml, const char *call, const tml_tree_cast_desc *desc);
/* Reads how many rays the tree's last cast_on_device left to the host. */
tml_status cast_left_count(tml_context *tml, const tml_tree *tree, uint32_t *count);
/* Enqueues the rays on the device. Rays that it cannot follow are listed in desc.unsure. */
tml_status cast_enqueue(tml_context *tml, const char *call, const tml_tree_cast_desc *desc);

#endif
