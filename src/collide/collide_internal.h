/* What the files of collide share: the tree, poses prepared for descents, and the results of a
 * descent. */
#ifndef COLLIDE_INTERNAL_H
#define COLLIDE_INTERNAL_H

#include "core/core_internal.h"
#include "kernels/collide_layout.k.h"

enum { COLLIDE_LEVELS_MAX = 12 };
/* Boxes of a level, evenly spread, whose mean diagonal stands for all. */
enum { COLLIDE_SAMPLES = 256 };
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

    /* Sums over all triangles' edges of hashes of their ends, which are 0 where each edge belongs to an even number of
     * triangles, and where it goes as often the one way as the other. */
    bool has_edges; /* the sums are known */
    uint64_t edges_mod_2, edges_by_way;
    bool is_moderate; /* known with them: no coordinate is above 2^30, or below 2^-100 but 0 */
    double *dipoles;  /* POINTS_DIPOLE rows a group of boxes (collide_points.h), or NULL */
    bool has_dipoles; /* they are those of the triangles */

    tml_buffer device_boxes, device_triangles; /* as above, or none */
    tml_buffer device_plan;        /* what nearest points need beside (points_plan_make), or none */
    bool has_plan;                 /* it is the tree's */
    struct collide_stream *stream; /* BREADTH_FIRST's buffers on the device, or NULL */
    struct collide_near *near, *near_enqueued; /* of distances, likewise */
    tml_buffer device_shape;                   /* what they have to know of the levels, or none */
    struct collide_build *build;               /* what builds and fits on the device, or NULL */
    struct collide_rays *rays;                 /* what casts rays there, or NULL */
    uint32_t stale;                            /* COLLIDE_STALE_... */
    uint32_t stale_again; /* what recordings make so whenever they are submitted */
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

/* The group-th group of 8 boxes at level, which is 1 or higher: the children of node group of level
 * + 1. */
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

/* Brings what the host has of these parts (COLLIDE_STALE_...) up to date. INVALID_ARGUMENT if the device found a
 * vertex that is not usable. */
tml_status collide_tree_fetch(tml_context *tml, const char *call, tml_tree *tree, uint32_t parts);
static inline tml_status collide_trees_fetch(tml_context *tml, const char *call, tml_tree *a,
                                             tml_tree *b, uint32_t parts)
{
    tml_status status = collide_tree_fetch(tml, call, a, parts);
    return status == TML_OK ? collide_tree_fetch(tml, call, b, parts) : status;
}
/* Builds a new tree, whose mesh is known, on the device. Leaves out broken triangles and counts them. */
tml_status collide_build_create(tml_context *tml, const tml_tree_desc *desc, tml_tree *tree);
void collide_build_destroy(tml_context *tml, tml_tree *tree);
/* The tree's ids on the device, which are made from the host's unless they are there. */
tml_status collide_build_ids_make(tml_context *tml, const char *call, tml_tree *tree,
                                  tml_buffer *out);
/* The same, or none. */
tml_buffer collide_build_ids(const tml_tree *tree);
/* What rays keep of the tree there; old: the tree has changed. */
void collide_rays_destroy(tml_context *tml, tml_tree *tree);
void collide_rays_age(tml_tree *tree);

/* Computes the levels and their sizes from the number of triangles. */
void collide_tree_shape(tml_tree *tree);
/* Allocates what the tree has on the host, unless it is there. */
tml_status collide_tree_allocate(tml_context *tml, const char *call, tml_tree *tree);
/* Computes all boxes and slabs, of triangles with these vertices; NULL: as they are. */
void collide_tree_fit(tml_context *tml, tml_tree *tree, const float *vertices);
/* The length of a box's diagonal. box: low x, y, z, high x, y, z, stride floats apart. */
double collide_diagonal(const float *box, uint32_t stride);

/* Make the kernels of trees, and of pairs of them, known to the engine. */
void tree_learn(tml_context *tml);
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

/* Bytes that streams of pairs may take: desc.memory_limit, or if that is 0 a quarter of the device's, 1 GiB at most. */
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
    /* Results: pairs by pose, but for FIRST, in no order within one; how many each pose has; the work done. */
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
/* The tree's boxes and triangles on the device; they stay its own. */
tml_status collide_device_tree(tml_context *tml, tml_tree *tree, tml_buffer *boxes,
                               tml_buffer *triangles);
/* The words of collide_leaf_lanes: the return value is least. */
uint32_t collide_leaf_words(const tml_tree *tree, uint32_t *more);
/* Frees what distances on the device need. */
void collide_near_destroy(tml_context *tml, tml_tree *tree);
/* Frees the tree's boxes and triangles on the device, and what streams need. */
void collide_stream_destroy(tml_context *tml, tml_tree *tree);

#endif
