/* A tree's boxes and triangles on the device, where they stay until the tree changes, and the
 * buffers of ray casting. */
#include "tree/tree_internal.h"

tml_status tree_upload(tml_context *tml, tml_tree *tree)
{
    uint64_t words = (uint64_t)9 * tree->level_count[0]; /* more than boxes and slabs have */
    if (words > UINT32_MAX)
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "tml_collide: %u triangles are more than a device counts the words of; use "
            "DEPTH_FIRST",
            tree->count);
    tml_status status = TML_OK;
    if (tml_buffer_is_none(tree->device_boxes))
        status = tml_buffer_make(tml, TML_F32, tree_box_words(tree), tree->boxes, "tree boxes",
                                 &tree->device_boxes);
    if (status == TML_OK && tml_buffer_is_none(tree->device_triangles))
        status = tml_buffer_make(tml, TML_U32, words, tree->triangles, "tree triangles",
                                 &tree->device_triangles);
    return status;
}

tml_status tree_on_device(tml_context *tml, tml_tree *tree, tml_buffer *boxes,
                          tml_buffer *triangles)
{
    tml_status status = tree_upload(tml, tree);
    if (status != TML_OK)
        return status;
    *boxes = tree->device_boxes;
    *triangles = tree->device_triangles;
    return TML_OK;
}

uint32_t tree_leaf_words(const tml_tree *tree, uint32_t *more)
{
    uint32_t leaves = tree->level_count[1]; /* a power of two */
    *more = leaves > 1 ? tree->count % leaves << (32 - __builtin_ctz(leaves)) : 0;
    return tree->count / leaves;
}

void tree_cast_destroy(tml_context *tml, tml_tree *tree)
{
    struct tree_cast *rays = tree->cast;
    if (!rays)
        return;
    for (uint32_t i = 0; i < TREE_CAST_BUFFERS; i++)
        tml_buffer_destroy(tml, rays->buffers[i]);
    tml_free(tml, rays, sizeof *rays);
    tree->cast = NULL;
}

void tree_cast_age(tml_tree *tree)
{
    if (tree->cast)
        tree->cast->is_packed = false;
}

void tree_device_destroy(tml_context *tml, tml_tree *tree)
{
    tml_buffer_destroy(tml, tree->device_boxes);
    tml_buffer_destroy(tml, tree->device_triangles);
    tml_buffer_destroy(tml, tree->device_plan);
    tree->device_boxes = tree->device_triangles = tree->device_plan = (tml_buffer){0, 0};
    tree->has_plan = false;
    tree->stale = tree->stale_again = 0;
    tree_cast_destroy(tml, tree);
    if (tree->forget)
        tree->forget(tml, tree);
    tree->forget = NULL;
}
