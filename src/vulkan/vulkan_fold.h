/* Binds folds of reduce and segments to specialization constants (shaders/reduce_fold.glsl). */
#ifndef TML_VULKAN_FOLD_H
#define TML_VULKAN_FOLD_H

#include "vulkan/vulkan_internal.h"

enum { VK_FOLD_SPECS = 7 };

typedef struct vk_fold {
    uint32_t specs[VK_FOLD_SPECS]; /* specialization constants 0 ... 6 */
    bool in_double;                /* use the shader that computes in double precision */
    uint32_t tile_log2;            /* log2 of the elements in a workgroup's tile */
} vk_fold;

/* Fills the constants of a fold. out_type: type of the result. Returns false if the fold requires
 * shaderFloat64 and the device lacks it. */
bool vk_fold_bind(const tml_context *tml, tml_fold fold, tml_type in_type, tml_type out_type,
                  vk_fold *out);

/* Can shaders index so many elements, in tiles, and segments? */
bool vk_segments_fit(uint64_t elements, uint64_t segments);

#endif
