/* A tree over triangles, as programs see it that go down it themselves: the header that the room
 * publishes. */
#ifndef TML_TREE_NODES_H
#define TML_TREE_NODES_H

#include "core/core_internal.h"
#include "core/inline.h"
#include "kernels/collide_layout.k.h"

enum { COLLIDE_LEVELS_MAX = 12 };
#define COLLIDE_TRIANGLES_MAX  ((uint64_t)1 << 28)
#define COLLIDE_COORDINATE_MAX 0x1p100f
#define COLLIDE_NO_TRIANGLE    UINT32_MAX

/* What of a tree the device has newer. */
enum {
    COLLIDE_STALE_SIZES = 1, /* lower, upper and level_size */
    COLLIDE_STALE_IDS = 2,   /* ids and corners */
    COLLIDE_STALE_TRIANGLES = 4,
    COLLIDE_STALE_BOXES = 8,
    COLLIDE_STALE_ALL = 15,
    COLLIDE_UNDEFINED = 16, /* its last build or refit failed on the way */
};

/* An implicit tree. Level 0 has the triangles, in slots; level 1 the leaves of 8 slots, 2^k of
 * them; level 2 nodes of 8 leaves, and so on up to one root. Node i has children 8 i to 8 i + 7 of
 * the level below, as far as these exist. The numbers of triangles in two leaves differ by at most
 * one. A slot beyond a leaf's triangles repeats the last of them, under the number
 * COLLIDE_NO_TRIANGLE.
 *
 * Boxes and triangles are stored in groups of 8 siblings, coordinate by coordinate: 8 of low x, 8
 * of low y, of low z, high x, high y, high z; for triangles 8 of x of the first corner, and so on.
 * A lane without a box is empty: low above high. */
struct tml_tree {
    uint64_t vertex_count, triangle_count, broken_count; /* of the mesh */
    uint32_t count;                                      /* triangles in the tree */
    uint32_t levels;                                     /* of boxes; 0: no triangle */
    uint32_t lanes;                                      /* most triangles that a leaf has */
    uint32_t level_count[COLLIDE_LEVELS_MAX + 1];        /* boxes of a level; [0]: slots */
    uint32_t level_group[COLLIDE_LEVELS_MAX + 1];        /* its first group in boxes; [0] unused */
    uint32_t group_count;
    float lower[3], upper[3];
    double
        level_size[COLLIDE_LEVELS_MAX + 1]; /* a level's boxes' mean diagonal, about; [0] unused */

    uint32_t *ids;     /* a slot's triangle, or COLLIDE_NO_TRIANGLE */
    uint32_t *corners; /* a slot's three vertices */
    float *triangles;  /* COLLIDE_TRIANGLE_WORDS a leaf */
    float *boxes;      /* COLLIDE_BOX_WORDS a group, then COLLIDE_SLAB_WORDS a leaf */

    /* Sums over all triangles' edges of hashes of their ends, which are 0 where each edge belongs
     * to an even number of triangles, and where it goes as often the one way as the other. */
    bool has_edges; /* the sums are known */
    uint64_t edges_mod_2, edges_by_way;
    bool is_moderate; /* known with them: no coordinate is above 2^30, or below 2^-100 but 0 */
    double *dipoles;  /* POINTS_DIPOLE rows a group of boxes (tree_points.h), or NULL */
    bool has_dipoles; /* they are those of the triangles */

    tml_buffer device_boxes, device_triangles; /* as above, or none */
    tml_buffer device_plan;   /* what nearest points need beside (points_plan_make), or none */
    bool has_plan;            /* it is the tree's */
    struct tree_build *build; /* what builds and fits on the device, or NULL */
    struct tree_cast *cast;   /* what casts rays there, or NULL */
    uint32_t stale;           /* COLLIDE_STALE_... */
    uint32_t stale_again;     /* what recordings make so whenever they are submitted */

    /* Of pairs of trees, the first of which this is: what collide keeps on the device. */
    struct collide_stream *stream; /* BREADTH_FIRST's buffers, or NULL */
    uint64_t distance_room;        /* pairs that distances had room for at last; 0: unknown */
    tml_buffer device_shape;       /* what distances have to know of the levels, or none */
    void (*forget)(tml_context *tml, tml_tree *tree); /* frees all of it; NULL: there is none */
};

/* Words in tree->boxes. */
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

/* The group-th group of 8 boxes at level, which is 1 or higher: the children of node group of level
 * + 1. */
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

/* Brings what the host has of these parts (COLLIDE_STALE_...) up to date. INVALID_ARGUMENT if the
 * device found a vertex that is not usable. */
tml_status tree_fetch(tml_context *tml, const char *call, tml_tree *tree, uint32_t parts);
static inline tml_status trees_fetch(tml_context *tml, const char *call, tml_tree *a, tml_tree *b,
                                     uint32_t parts)
{
    tml_status status = tree_fetch(tml, call, a, parts);
    return status == TML_OK ? tree_fetch(tml, call, b, parts) : status;
}
/* The tree's ids on the device, which are made from the host's unless they are there. */
tml_status tree_build_ids_make(tml_context *tml, const char *call, tml_tree *tree, tml_buffer *out);
/* Makes the tree's boxes and triangles on the device, unless they are there; and says which they
 * are: they stay its own. */
tml_status tree_upload(tml_context *tml, tml_tree *tree);
tml_status tree_on_device(tml_context *tml, tml_tree *tree, tml_buffer *boxes,
                          tml_buffer *triangles);
/* The words of collide_leaf_lanes: the return value is least. */
uint32_t tree_leaf_words(const tml_tree *tree, uint32_t *more);

/* Which of a leaf's slots hold triangles. */
ALWAYS_INLINE uint32_t tree_used(const tml_tree *tree, uint32_t leaf)
{
    const uint32_t *ids = tree->ids + (size_t)COLLIDE_WIDTH * leaf;
    uint32_t used = (1u << tree->lanes) - 1;
    return ids[tree->lanes - 1] == COLLIDE_NO_TRIANGLE ? used >> 1 : used;
}

#endif
