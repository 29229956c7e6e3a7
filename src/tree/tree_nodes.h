/* The tree over a mesh's triangles, for programs that traverse it themselves. This is the header
 * that the room publishes. */
#ifndef TML_TREE_NODES_H
#define TML_TREE_NODES_H

#include "core/core_internal.h"
#include "core/inline.h"
#include "kernels/collide_layout.k.h"

enum { COLLIDE_LEVELS_MAX = 12 };
#define COLLIDE_TRIANGLES_MAX  ((uint64_t)1 << 28)
#define COLLIDE_COORDINATE_MAX 0x1p100f
#define COLLIDE_NO_TRIANGLE    UINT32_MAX

/* tree->stale: the parts of which the device has a newer state than the host. */
enum {
    COLLIDE_STALE_SIZES = 1, /* lower, upper and level_size */
    COLLIDE_STALE_IDS = 2,   /* ids and corners */
    COLLIDE_STALE_TRIANGLES = 4,
    COLLIDE_STALE_BOXES = 8,
    COLLIDE_STALE_ALL = 15,
    COLLIDE_UNDEFINED = 16, /* the last build or refit failed midway */
};

/* An implicit tree. Level 0 is the triangles, in slots. Level 1 is the leaves: 2^k of them, with 8
 * slots each. Level 2 is nodes of 8 leaves, and so on up to one root. Node i has children 8 i to 8
 * i + 7 of the level below, as far as they exist. Any two leaves differ by at most one in their
 * number of triangles. A slot beyond a leaf's triangles repeats the leaf's last triangle, with the
 * id COLLIDE_NO_TRIANGLE.
 *
 * Boxes and triangles are stored in groups of 8 siblings, coordinate by coordinate. A group of
 * boxes has 8 values of low x, 8 of low y, of low z, high x, high y, high z; a group of triangles
 * has 8 values of the first corner's x, and so on. A lane without a box is empty: low above
 * high. */
struct tml_tree {
    uint64_t vertex_count, triangle_count, broken_count; /* of the mesh */
    uint32_t count;                                      /* triangles in the tree */
    uint32_t levels;                                     /* levels of boxes; 0: the tree is empty */
    uint32_t lanes;                                      /* most triangles in a leaf */
    uint32_t level_count[COLLIDE_LEVELS_MAX + 1];        /* boxes per level; [0]: slots */
    uint32_t level_group[COLLIDE_LEVELS_MAX + 1];        /* a level's first group; [0] unused */
    uint32_t group_count;
    float lower[3], upper[3];
    double
        level_size[COLLIDE_LEVELS_MAX + 1]; /* mean diagonal of boxes, approximately; [0] unused */

    uint32_t *ids;     /* triangle per slot, or COLLIDE_NO_TRIANGLE */
    uint32_t *corners; /* three vertices per slot */
    float *triangles;  /* COLLIDE_TRIANGLE_WORDS per leaf */
    float *boxes;      /* COLLIDE_BOX_WORDS per group, then COLLIDE_SLAB_WORDS per leaf */

    /* Sums, over all triangles' edges, of hashes of the edges' end points. edges_mod_2 is 0 if
     * every edge belongs to an even number of triangles; edges_by_way is 0 if every edge is
     * traversed equally often in both directions. */
    bool has_edges; /* the sums and is_moderate are known */
    uint64_t edges_mod_2, edges_by_way;
    bool is_moderate; /* no coordinate is above 2^30, or below 2^-100 unless 0 */
    double *dipoles;  /* POINTS_DIPOLE rows per group of boxes (tree_points.h), or NULL */
    bool has_dipoles; /* dipoles belong to the current triangles */

    tml_buffer device_boxes, device_triangles; /* boxes and triangles on the device, or none */
    tml_buffer device_plan;   /* extra data of nearest points (points_plan_make), or none */
    bool has_plan;            /* device_plan belongs to the current tree */
    struct tree_build *build; /* state of builds and fits on the device, or NULL */
    struct tree_cast *cast;   /* state of ray casting on the device, or NULL */
    uint32_t stale;           /* COLLIDE_STALE_... */
    uint32_t stale_again;     /* parts that recordings make stale whenever they are submitted */

    /* State of collide on the device, for pairs of trees of which this tree is the first. */
    struct collide_stream *stream; /* BREADTH_FIRST's buffers, or NULL */
    uint64_t distance_room;        /* pairs that the last distances had room for; 0: unknown */
    tml_buffer device_shape;       /* the level sizes that distances need, or none */
    void (*forget)(tml_context *tml, tml_tree *tree); /* frees all three; NULL: nothing to free */
};

/* Number of words in tree->boxes. */
static inline uint64_t tree_box_words(const tml_tree *tree)
{
    return (uint64_t)COLLIDE_BOX_WORDS * tree->group_count +
           (uint64_t)COLLIDE_SLAB_WORDS * tree->level_count[1];
}

/* A leaf's slab. */
static inline float *tree_slab_words(const tml_tree *tree, uint32_t leaf)
{
    return tree->boxes + (size_t)COLLIDE_BOX_WORDS * tree->group_count +
           (size_t)COLLIDE_SLAB_WORDS * leaf;
}

/* Group number `group` of 8 boxes at level >= 1: the children of node `group` of level + 1. */
static inline const float *tree_group(const tml_tree *tree, uint32_t level, uint32_t group)
{
    return tree->boxes + (size_t)COLLIDE_BOX_WORDS * (tree->level_group[level] + group);
}

/* The coordinates of a slot's triangle. */
static inline void tree_triangle(const tml_tree *tree, uint32_t slot, float out[9])
{
    const float *group = tree->triangles + (size_t)COLLIDE_TRIANGLE_WORDS * (slot / COLLIDE_WIDTH) +
                         slot % COLLIDE_WIDTH;
    for (int k = 0; k < 9; k++)
        out[k] = group[COLLIDE_WIDTH * k];
}

/* Brings the host's copy of these parts up to date.
 * parts: COLLIDE_STALE_... bits.
 * Waits: if one of them is stale.
 * Errors: INVALID_ARGUMENT if the device found an unusable vertex. */
tml_status tree_fetch(tml_context *tml, const char *call, tml_tree *tree, uint32_t parts);
static inline tml_status trees_fetch(tml_context *tml, const char *call, tml_tree *a, tml_tree *b,
                                     uint32_t parts)
{
    tml_status status = tree_fetch(tml, call, a, parts);
    return status == TML_OK ? tree_fetch(tml, call, b, parts) : status;
}
/* Returns the tree's ids on the device. Copies them from the host if the device has none. */
tml_status tree_build_ids_make(tml_context *tml, const char *call, tml_tree *tree, tml_buffer *out);
/* tree_upload makes the tree's boxes and triangles on the device, unless they exist. tree_on_device
 * also returns the two buffers, which the tree keeps. */
tml_status tree_upload(tml_context *tml, tml_tree *tree);
tml_status tree_on_device(tml_context *tml, tml_tree *tree, tml_buffer *boxes,
                          tml_buffer *triangles);
/* Returns the argument `least` of collide_leaf_lanes. more: its argument of that name. */
uint32_t tree_leaf_words(const tml_tree *tree, uint32_t *more);

/* Bit mask of a leaf's slots that hold triangles. */
ALWAYS_INLINE uint32_t tree_used(const tml_tree *tree, uint32_t leaf)
{
    const uint32_t *ids = tree->ids + (size_t)COLLIDE_WIDTH * leaf;
    uint32_t used = (1u << tree->lanes) - 1;
    return ids[tree->lanes - 1] == COLLIDE_NO_TRIANGLE ? used >> 1 : used;
}

#endif
