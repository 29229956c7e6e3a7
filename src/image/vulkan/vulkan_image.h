/* What the Vulkan engine's image files share. */
#ifndef TML_VULKAN_IMAGE_H
#define TML_VULKAN_IMAGE_H

#include "image/image_internal.h"
#include "vulkan/vulkan_parts.h"

#include "kernels/kernel.h"

#include "image/vulkan/vulkan_image_args.k.h"

#include "kernels/kernel_end.h"

/* Workgroups that share a picture: as many as are resident on an H200. Measured dead ends: twice as
 * many take up to a tenth longer to measure; one a tile takes a fifth longer for mip chains. */
enum { VK_IMAGE_GROUPS = 528 };

/* IMAGE_TYPE_... of a scalar type. */
uint32_t vk_image_type(tml_type scalar);
/* CODING of the shaders; values: tml_image_values. */
uint32_t vk_image_coding(bool srgb, uint32_t values);
/* The address of a view's first pixel. */
vk_address vk_image_at(const tml_context *tml, const image_view *view);

#endif
