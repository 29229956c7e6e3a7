/* Shared by the Vulkan engine's image parts. */
#ifndef TML_VULKAN_IMAGE_H
#define TML_VULKAN_IMAGE_H

#include "image/image_internal.h"
#include "vulkan/vulkan_parts.h"

#include "kernels/kernel.h"

#include "image/vulkan/vulkan_image_args.k.h"

#include "kernels/kernel_end.h"

/* Workgroups per picture: as many as an H200 runs at a time. Measured dead ends: twice as many
 * measure up to a tenth more slowly; one per tile makes mip chains a fifth more slowly. */
enum { VK_IMAGE_GROUPS = 528 };

/* Returns the IMAGE_TYPE_... of a scalar type. */
uint32_t vk_image_type(tml_type scalar);
/* Returns the shaders' CODING. values: tml_image_values. */
uint32_t vk_image_coding(bool srgb, uint32_t values);
/* Returns the address of a view's first pixel. */
vk_address vk_image_at(const tml_context *tml, const image_view *view);

#endif
