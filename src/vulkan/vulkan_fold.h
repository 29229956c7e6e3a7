/* Folds, as reduce and segments bind them to their shaders (shaders/reduce_fold.glsl). */
#ifndef TML_VULKAN_FOLD_H
#define TML_VULKAN_FOLD_H

#include "vulkan/vulkan_internal.h"

enum { VK_FOLD_SPECS = 7 };

typedef struct vk_fold {
    uint32_t specs[VK_FOLD_SPECS]; /* the first constants of the shader */
    bool in_double;                /* takes the shader that computes with doubles */
    uint32_t tile_log2;            /* elements in a workgroup's tile */
} vk_fold;

/* out_type: of the result. False where the device lacks doubles that the fold needs. */
bool vk_fold_bind(const tml_context *tml, tml_fold fold, tml_type in_type, tml_type out_type,
                  vk_fold *out);

#endif
