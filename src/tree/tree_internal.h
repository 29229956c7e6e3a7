/* What the files of the room share beside the tree itself. */
#ifndef TML_TREE_INTERNAL_H
#define TML_TREE_INTERNAL_H

#include "tree/tree_nodes.h"

/* Boxes of a level, evenly spread, whose mean diagonal stands for all. */
enum { COLLIDE_SAMPLES = 256 };

/* Builds a new tree, whose mesh is known, on the device. Leaves out broken triangles and counts
 * them. */
tml_status tree_build_create(tml_context *tml, const tml_tree_desc *desc, tml_tree *tree);
void tree_build_destroy(tml_context *tml, tml_tree *tree);
/* The ids that tree_build_ids_make has made, or none. */
tml_buffer tree_build_ids(const tml_tree *tree);
/* What rays keep of the tree there (tree_cast_device.c); old: the tree has changed. */
enum { TREE_CAST_BUFFERS = 5 };
struct tree_cast {
    tml_buffer buffers[TREE_CAST_BUFFERS];
    uint64_t left_room;
    bool is_packed;
};
void tree_cast_destroy(tml_context *tml, tml_tree *tree);
void tree_cast_age(tml_tree *tree);

/* Slots, and bytes of the arrays on the host. */
static inline uint64_t tree_slots(const tml_tree *tree)
{
    return (uint64_t)COLLIDE_WIDTH * (tree->levels ? tree->level_count[1] : 0);
}

static inline size_t tree_ids_size(const tml_tree *tree)
{
    return (size_t)tree_slots(tree) * sizeof *tree->ids;
}

static inline size_t tree_triangles_size(const tml_tree *tree)
{
    return (size_t)tree_slots(tree) * 9 * sizeof *tree->triangles;
}

static inline size_t tree_boxes_size(const tml_tree *tree)
{
    return (size_t)tree_box_words(tree) * sizeof *tree->boxes;
}

/* Is the method one? */
static inline tml_status tree_check_method(tml_context *tml, const char *call,
                                           tml_tree_method method)
{
    return (unsigned)method > TML_TREE_REBUILD
               ? tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: method is neither TML_TREE_REFIT nor TML_TREE_REBUILD", call)
               : TML_OK;
}

/* Computes the levels and their sizes from the number of triangles. */
void tree_shape(tml_tree *tree);
/* Allocates what the tree has on the host, unless it is there. */
tml_status tree_allocate(tml_context *tml, const char *call, tml_tree *tree);
void tree_host_free(tml_context *tml, tml_tree *tree);
/* Computes all boxes and slabs, of triangles with these vertices; NULL: as they are. */
void tree_fit(tml_context *tml, tml_tree *tree, const float *vertices);
/* The length of a box's diagonal. box: low x, y, z, high x, y, z, stride floats apart. */
double tree_diagonal(const float *box, uint32_t stride);

/* Makes the room's kernels known to the engine. */
void tree_learn(tml_context *tml);

/* Frees what of the tree is on the device, and what collide keeps with it; but not what builds it
 * there. */
void tree_device_destroy(tml_context *tml, tml_tree *tree);

#endif
