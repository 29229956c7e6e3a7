/* Rays against a tree: the inner loops, compiled for each instruction set. */
#ifndef TREE_CAST_H
#define TREE_CAST_H

#include "tree/tree_internal.h"

/* Hits beyond do not count. */
#define CAST_T_MAX 0x1p100f

/* A ray, and what it has hit. */
typedef struct cast_ray {
    const tml_tree *tree;
    tml_tree_cast_want want;
    float origin[3], direction[3];
    float t_min, t_max; /* 0 <= t_min <= t_max <= CAST_T_MAX */
    /* Where the ray enters a box along axis k: at the plane in words plane[k] of a group, at t not
     * less than (plane - origin) * enter[k]; and where it leaves: at the other plane, at t not more
     * than that by leave[k]. */
    uint32_t plane[3];
    float enter[3], leave[3];
    uint32_t axis; /* the direction's largest: z of collide_cast.k.h; x and y are those after it */
    float slope_x, slope_y;
    /* Results */
    bool is_over;   /* ANY has its hit */
    uint32_t slot;  /* NEAREST: of best */
    uint64_t best;  /* NEAREST: t's bits, above its triangle's number; UINT64_MAX: none */
    float t_far;    /* boxes beyond need not be looked into: t_max, or best's t */
    uint64_t count; /* hits so far, but for NEAREST */
    uint64_t *hits; /* ALL: the least of them, as best, room at most; NULL: they are only counted */
    uint64_t room;
} cast_ray;

/* Takes a slot's triangle, through which the ray's line passes for certain, or perhaps. */
void cast_take(cast_ray *ray, uint32_t slot, bool is_sure);

/* A box that is still to be looked into. */
typedef struct cast_box {
    float enter; /* not more than the t of any hit in it */
    uint32_t level, index;
} cast_box;

/* A ray on its way down the tree. */
typedef struct cast_walk {
    cast_ray ray;
    uint32_t count; /* of open: the next is the last */
    cast_box open[COLLIDE_WIDTH * COLLIDE_LEVELS_MAX];
} cast_walk;

/* Walks that go on in turn, so that each one's next node comes from memory while the others
 * work. */
enum { CAST_WALKS = 16 };

typedef struct cast_loops {
    /* Follows rays through the whole tree, at most CAST_WALKS. */
    void (*follow)(cast_walk *walks, uint32_t count);
} cast_loops;
extern const cast_loops cast_loops_plain, cast_loops_avx2;

/* Sorts hits in place. */
void cast_sort_hits(uint64_t *hits, uint64_t count);
static inline double cast_dot(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/* Checks a desc. Sets the length's bound, and that it is exact. */
tml_status cast_check_desc(tml_context *tml, const char *call, tml_tree_cast_desc *d);
/* Bytes that a call takes at most, besides its order. */
size_t cast_scratch_size(const tml_context *tml, const tml_tree_cast_desc *desc);
/* Writes a total to a u32 or u64. */
tml_status cast_put_total(tml_context *tml, tml_buffer to, uint64_t total);
/* Casts count rays of a call that was checked, here. scratch: host memory for all that it takes, or
 * NULL: allocated. total: as desc.total, or NULL. */
tml_status cast_on_host(tml_context *tml, const char *call, const tml_tree_cast_desc *desc,
                        uint64_t count, void *scratch, uint64_t *total);
/* ALL: hits that all given arrays of them have room for; 0 without one. */
uint64_t cast_hit_room(const tml_context *tml, const tml_tree_cast_desc *desc);
/* Adds to a u32 or u64. */
tml_status cast_add_total(tml_context *tml, tml_buffer total, uint64_t more);

/* ---- on the device --------------------------------------------------------------------------- */

/* Of fewer, the host is faster than a device answers. */
enum { RAYS_LEAST = 1024 };
/* What a tree keeps there for rays: itself, packed; its triangles' numbers; and of a call that
 * waits the rays that the host casts, and hits in all. */
enum { CAST_TREE, CAST_IDS, CAST_LEFT, CAST_LEFT_COUNT, CAST_TOTAL, CAST_BUFFERS };
_Static_assert((int)CAST_BUFFERS == (int)TREE_CAST_BUFFERS, "as tree_device.c frees them");
/* Makes one of them unless it is there. */
tml_status cast_buffer_make(tml_context *tml, tml_tree *tree, int which, tml_type type,
                            uint64_t count, const void *data);
/* Packs the tree, unless it is as it was. A recording that may follow builds of other times packs
 * it whenever it runs. */
tml_status cast_pack(tml_context *tml, const char *call, tml_tree *tree);
/* Do the device's indices reach the rays, the tree and the hits? */
bool cast_fits(const tml_context *tml, const tml_tree_cast_desc *desc);

/* May the device cast the rays of a call that waits? Of a checked desc, whose length is a count. */
bool cast_runs_on_device(const tml_context *tml, const tml_tree_cast_desc *desc);
/* Casts them there; what the device cannot follow is cast here. */
tml_status cast_on_device(tml_context *tml, const char *call, const tml_tree_cast_desc *desc);
/* Of the tree's last rays so, how many those were. */
tml_status cast_left_count(tml_context *tml, const tml_tree *tree, uint32_t *count);
/* Enqueues them there, and the list of what it cannot follow. */
tml_status cast_enqueue(tml_context *tml, const char *call, const tml_tree_cast_desc *desc);

#endif
