/* A benchmark's picture as a Vulkan image on the context's device: the cost of measuring a
 * renderer's target, and a mip chain by blits. */
#include "bench_image.h"

#include <stdlib.h>

#include "core/core_internal.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>

#    include "vulkan/vulkan_device.h"

struct bench_texture {
    tml_context *tml;
    uint32_t width, height, levels;
    PFN_vkCmdBlitImage blit;
    PFN_vkCmdCopyImageToBuffer copy_out;
    tml_vulkan_texture lent;
    tml_vulkan_desc device;
    VkImage image;
    VkDeviceMemory memory;
    VkCommandPool pool;
};

#    define VK(name)                                                                               \
        ((PFN_vk##name)t->device.get_instance_proc_addr(t->device.instance, "vk" #name))

static const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS,
                                              0, 1};

static bool create_image(bench_texture *t)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = t->lent.format,
                                    .extent = {t->width, t->height, 1},
                                    .mipLevels = t->levels,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    uint32_t type = 0;
    if (VK(CreateImage)(t->device.device, &info, NULL, &t->image))
        return false;
    VK(GetImageMemoryRequirements)(t->device.device, t->image, &needs);
    VK(GetPhysicalDeviceMemoryProperties)(t->device.physical_device, &types);
    while (type < types.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) ||
            !(types.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)))
        type++;
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = type};
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = t->image,
                                        .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                        .format = t->lent.format,
                                        .subresourceRange = whole};
    return type < types.memoryTypeCount &&
           !VK(AllocateMemory)(t->device.device, &memory, NULL, &t->memory) &&
           !VK(BindImageMemory)(t->device.device, t->image, t->memory, 0) &&
           !VK(CreateImageView)(t->device.device, &view, NULL, &t->lent.view);
}

static void turn(const bench_texture *t, VkCommandBuffer commands, VkImageLayout from,
                 VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                          .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                          .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT |
                                                           VK_ACCESS_MEMORY_WRITE_BIT,
                                          .oldLayout = from,
                                          .newLayout = to,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = t->image,
                                          .subresourceRange = whole};
    VK(CmdPipelineBarrier)
    (commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL,
     0, NULL, 1, &barrier);
}

/* Copies the buffer's pixels into the image, and waits. */
static bool fill_image(bench_texture *t, tml_vulkan_memory from)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = t->device.queue_family};
    if (VK(CreateCommandPool)(t->device.device, &pool, NULL, &t->pool))
        return false;
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = t->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    if (VK(AllocateCommandBuffers)(t->device.device, &info, &commands) ||
        VK(BeginCommandBuffer)(commands, &begin))
        return false;
    const VkBufferImageCopy copy = {.bufferOffset = from.offset,
                                    .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {t->width, t->height, 1}};
    turn(t, commands, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    VK(CmdCopyBufferToImage)
    (commands, from.buffer, t->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    turn(t, commands, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, t->lent.layout);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    return !VK(EndCommandBuffer)(commands) &&
           !VK(QueueSubmit)(t->device.queue, 1, &submit, VK_NULL_HANDLE) &&
           !VK(QueueWaitIdle)(t->device.queue);
}

tml_status bench_texture_create(tml_context *tml, tml_buffer pixels, const bench_image_desc *desc,
                                uint32_t levels, bench_texture **out)
{
    tml_vulkan_memory from;
    bench_texture *t = *out = calloc(1, sizeof *t);
    if (!t)
        return TML_ERROR_OUT_OF_MEMORY;
    t->tml = tml;
    t->width = desc->width;
    t->height = desc->height;
    t->levels = levels;
    /* A chain reads and writes one image: its layout is every use's. */
    t->lent.layout =
        levels > 1 ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    t->lent.format = desc->type == TML_F32   ? VK_FORMAT_R32G32B32A32_SFLOAT
                     : desc->type == TML_F16 ? VK_FORMAT_R16G16B16A16_SFLOAT
                                             : VK_FORMAT_R8G8B8A8_UNORM;
    tml_status status = tml_vulkan_handles(tml, &t->device);
    if (status != TML_OK) {
        free(t);
        *out = NULL;
        return status;
    }
    t->blit = VK(CmdBlitImage);
    t->copy_out = VK(CmdCopyImageToBuffer);
    status = tml_vulkan_buffer(tml, pixels, &from, NULL);
    TML_THEN(status, tml_sync(tml));
    if (status == TML_OK && (!create_image(t) || !fill_image(t, from)))
        status = tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY,
                           "the device makes no image of %u x %u texels", t->width, t->height);
    return status;
}

static uint32_t side_at(uint32_t side, uint32_t level)
{
    return side >> level > 0 ? side >> level : 1;
}

tml_status bench_texture_mips(bench_texture *t)
{
    for (uint32_t level = 1; level < t->levels; level++) {
        VkCommandBuffer commands;
        tml_status status = vk_commands(t->tml, VK_WORK_OTHER, &commands);
        if (status != TML_OK)
            return status;
        VkImageBlit region = {.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level - 1, 0, 1},
                              .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1}};
        region.srcOffsets[1] = (VkOffset3D){(int32_t)side_at(t->width, level - 1),
                                            (int32_t)side_at(t->height, level - 1), 1};
        region.dstOffsets[1] =
            (VkOffset3D){(int32_t)side_at(t->width, level), (int32_t)side_at(t->height, level), 1};
        t->blit(commands, t->image, t->lent.layout, t->image, t->lent.layout, 1, &region,
                VK_FILTER_LINEAR);
    }
    return TML_OK;
}

tml_status bench_texture_last(bench_texture *t, tml_buffer out)
{
    tml_vulkan_memory to;
    VkCommandBuffer commands;
    tml_status status = tml_vulkan_buffer(t->tml, out, &to, NULL);
    TML_THEN(status, vk_commands(t->tml, VK_WORK_OTHER, &commands));
    if (status != TML_OK)
        return status;
    const VkBufferImageCopy copy = {
        .bufferOffset = to.offset,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, t->levels - 1, 0, 1},
        .imageExtent = {1, 1, 1}};
    t->copy_out(commands, t->image, t->lent.layout, to.buffer, 1, &copy);
    return TML_OK;
}

const struct tml_vulkan_texture *bench_texture_lent(const bench_texture *t)
{
    return t ? &t->lent : NULL;
}

void bench_texture_destroy(bench_texture *t)
{
    if (!t)
        return;

    VK(DeviceWaitIdle)(t->device.device);
    VK(DestroyCommandPool)(t->device.device, t->pool, NULL);
    VK(DestroyImageView)(t->device.device, t->lent.view, NULL);
    VK(DestroyImage)(t->device.device, t->image, NULL);
    VK(FreeMemory)(t->device.device, t->memory, NULL);
    free(t);
}
#else
tml_status bench_texture_create(tml_context *tml, tml_buffer pixels, const bench_image_desc *desc,
                                uint32_t levels, bench_texture **out)
{
    (void)pixels, (void)desc, (void)levels, (void)out;
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "this program is without Vulkan");
}
const struct tml_vulkan_texture *bench_texture_lent(const bench_texture *t)
{
    (void)t;
    return NULL;
}
tml_status bench_texture_mips(bench_texture *t)
{
    (void)t;
    return TML_ERROR_UNSUPPORTED;
}
tml_status bench_texture_last(bench_texture *t, tml_buffer out)
{
    (void)t, (void)out;
    return TML_ERROR_UNSUPPORTED;
}
void bench_texture_destroy(bench_texture *t)
{
    (void)t;
}
#endif
