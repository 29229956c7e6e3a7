/* Shared by the room's files, beside the tree itself (tree_nodes.h). */
#ifndef TML_TREE_INTERNAL_H
#define TML_TREE_INTERNAL_H

#include "tree/tree_nodes.h"

/* Evenly spaced boxes per level, whose mean diagonal stands for that of all boxes. */
enum { COLLIDE_SAMPLES = 256 };

/* Builds a new tree on the device. Leaves broken triangles out and counts them.
 * desc: checked, but its buffers may still be on the host.
 * tree: new, with vertex_count and triangle_count set. */
tml_status tree_build_create(tml_context *tml, const tml_tree_desc *desc, tml_tree *tree);
void tree_build_destroy(tml_context *tml, tml_tree *tree);
/* The buffer that tree_build_ids_make made, or none. */
tml_buffer tree_build_ids(const tml_tree *tree);
/* State of ray casting on the device, kept with the tree (tree_cast_device.c). tree_cast_age: call
 * it when the tree has changed. */
enum { TREE_CAST_BUFFERS = 5 };
struct tree_cast {
    tml_buffer buffers[TREE_CAST_BUFFERS];
    uint64_t left_room;
    bool is_packed;
};
void tree_cast_destroy(tml_context *tml, tml_tree *tree);
void tree_cast_age(tml_tree *tree);

/* Number of slots, and sizes of the host's arrays in bytes. */
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

/* INVALID_ARGUMENT unless method is a tml_tree_method. */
static inline tml_status tree_check_method(tml_context *tml, const char *call,
                                           tml_tree_method method)
{
    return (unsigned)method > TML_TREE_REBUILD
               ? tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: method is neither TML_TREE_REFIT nor TML_TREE_REBUILD", call)
               : TML_OK;
}

/* Computes the number of levels and of boxes per level from tree->count. */
void tree_shape(tml_tree *tree);
/* Allocates the tree's arrays on the host, unless they exist. */
tml_status tree_allocate(tml_context *tml, const char *call, tml_tree *tree);
void tree_host_free(tml_context *tml, tml_tree *tree);
/* Computes all boxes and slabs.
 * vertices: the triangles' new coordinates; NULL: keep the coordinates in tree->triangles. */
void tree_fit(tml_context *tml, tml_tree *tree, const float *vertices);
/* Length of a box's diagonal.
 * box: low x, y, z, high x, y, z, `stride` floats apart. */
double tree_diagonal(const float *box, uint32_t stride);

/* Registers the room's kernels with the engine. */
void tree_learn(tml_context *tml);

/* Frees the tree's and collide's data on the device, except tree->build. */
void tree_device_destroy(tml_context *tml, tml_tree *tree);

#endif
