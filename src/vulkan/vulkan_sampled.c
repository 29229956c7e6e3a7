/* Caller-owned images that dispatches fetch from: which images are accepted, and the descriptor
 * sets that name them.
 *
 * A set serves one batch of the context, or the caller's recordings until the caller forgets them.
 * It names the same image all that time, so other recordings share it, and recording a frame again
 * requires no new set. Sets are allocated sixteen at a time and kept. */
#include "vulkan/vulkan_device.h"

enum { SETS = 16, RECORDED = VK_BATCHES };

typedef struct vk_set {
    VkDescriptorSet set;
    VkImageView view;
    VkImageLayout layout;
    uint32_t owner; /* 0: free; else 1 + its batch, or 1 + RECORDED */
} vk_set;

struct vk_sets {
    vk_sets *next;
    VkDescriptorPool pool;
    vk_set sets[SETS];
};

/* ---- what is accepted ------------------------------------------------------------------------ */

/* Components of a format from which shaders fetch floats; 0 for any other format. */
static uint32_t components_of(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_R8_UNORM:
    case VK_FORMAT_R16_UNORM:
    case VK_FORMAT_R16_SFLOAT:
    case VK_FORMAT_R32_SFLOAT:
        return 1;
    case VK_FORMAT_R8G8_UNORM:
    case VK_FORMAT_R16G16_UNORM:
    case VK_FORMAT_R16G16_SFLOAT:
    case VK_FORMAT_R32G32_SFLOAT:
        return 2;
    case VK_FORMAT_B10G11R11_UFLOAT_PACK32:
    case VK_FORMAT_E5B9G9R9_UFLOAT_PACK32:
        return 3;
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_R8G8B8A8_SRGB:
    case VK_FORMAT_B8G8R8A8_UNORM:
    case VK_FORMAT_B8G8R8A8_SRGB:
    case VK_FORMAT_A8B8G8R8_UNORM_PACK32:
    case VK_FORMAT_A8B8G8R8_SRGB_PACK32:
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
    case VK_FORMAT_A2R10G10B10_UNORM_PACK32:
    case VK_FORMAT_R16G16B16A16_UNORM:
    case VK_FORMAT_R16G16B16A16_SFLOAT:
    case VK_FORMAT_R32G32B32A32_SFLOAT:
        return 4;
    default:
        return 0;
    }
}

static VkImageLayout layout_of(const tml_vulkan_texture *texture)
{
    return texture->layout ? texture->layout : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
}

tml_status vk_sampled_check(tml_context *tml, const char *call, const char *field,
                            const vk_sampled *texture, uint32_t width, uint32_t height,
                            uint32_t *components)
{
    const vk_device *device = vk_device_of(tml);
    VkFormatProperties format;
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    if (!texture->view)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.vulkan->view is VK_NULL_HANDLE, needs a 2D view", call, field);
    const VkImageLayout layout = layout_of(texture);
    if (layout != VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL && layout != VK_IMAGE_LAYOUT_GENERAL)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.vulkan->layout is %d, needs SHADER_READ_ONLY_OPTIMAL (5; or 0) or "
                         "GENERAL (1); bring the image there by a barrier before the call",
                         call, field, (int)layout);
    *components = components_of(texture->format);
    if (*components == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.vulkan->format is VkFormat %d, needs a normalised or float colour "
                         "format: R8, R16 and R32 with one, two or four components, BGRA8, "
                         "B10G11R11, E5B9G9R9, A2B10G10R10, A2R10G10B10; R8G8B8A8 and B8G8R8A8 "
                         "also as sRGB",
                         call, field, (int)texture->format);
    device->fn.GetPhysicalDeviceFormatProperties(device->physical, texture->format, &format);
    if (!((format.optimalTilingFeatures | format.linearTilingFeatures) &
          VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s has no sampled images of VkFormat %d, which %s.vulkan has", call,
                         tml->device.name, (int)texture->format, field);
    device->fn.GetPhysicalDeviceProperties2(device->physical, &all);
    const uint32_t most = all.properties.limits.maxImageDimension2D;
    if (width > most || height > most)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is %u x %u pixels, and images of %s have at most %u a side", call,
                         field, width, height, tml->device.name, most);
    return TML_OK;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static const VkDescriptorType sampled_type = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;

VkResult vk_sampled_open(vk_device *device)
{
    const VkDescriptorSetLayoutBinding binding = {.descriptorType = sampled_type,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    return device->fn.CreateDescriptorSetLayout(device->device, &info, NULL, &device->set_layout);
}

void vk_sampled_close(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    while (device->sets) {
        vk_sets *sets = device->sets;
        device->sets = sets->next;
        device->fn.DestroyDescriptorPool(device->device, sets->pool, NULL);
        tml_free(tml, sets, sizeof *sets);
    }
    if (device->set_layout)
        device->fn.DestroyDescriptorSetLayout(device->device, device->set_layout, NULL);
}

static void vk_sampled_release(vk_device *device, uint32_t owner)
{
    for (vk_sets *sets = device->sets; sets; sets = sets->next)
        for (uint32_t i = 0; i < SETS; i++)
            if (sets->sets[i].owner == owner)
                sets->sets[i].owner = 0;
}

void vk_sampled_collect(vk_device *device, uint32_t batch)
{
    vk_sampled_release(device, 1 + batch);
}

void vk_sampled_forget(vk_device *device)
{
    vk_sampled_release(device, 1 + RECORDED);
}

/* Makes sets. */
static tml_status grow(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    vk_sets *sets = tml_alloc(tml, sizeof *sets);
    if (!sets)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for descriptor sets");
    *sets = (vk_sets){.next = device->sets};
    const VkDescriptorPoolSize size = {sampled_type, SETS};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = SETS,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    VkDescriptorSetLayout layouts[SETS];
    VkDescriptorSet handles[SETS];
    for (uint32_t i = 0; i < SETS; i++)
        layouts[i] = device->set_layout;
    VkResult result = device->fn.CreateDescriptorPool(device->device, &pool, NULL, &sets->pool);
    if (result != VK_SUCCESS) {
        tml_free(tml, sets, sizeof *sets);
        return vk_failed(tml, result, "vkCreateDescriptorPool");
    }
    const VkDescriptorSetAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = sets->pool,
                                              .descriptorSetCount = SETS,
                                              .pSetLayouts = layouts};
    result = device->fn.AllocateDescriptorSets(device->device, &info, handles);
    if (result != VK_SUCCESS) {
        device->fn.DestroyDescriptorPool(device->device, sets->pool, NULL);
        tml_free(tml, sets, sizeof *sets);
        return vk_failed(tml, result, "vkAllocateDescriptorSets");
    }
    for (uint32_t i = 0; i < SETS; i++)
        sets->sets[i].set = handles[i];
    device->sets = sets;
    return TML_OK;
}

/* The owner's set of this image, else a free one, else NULL. */
static vk_set *vk_sampled_find(const vk_device *device, uint32_t owner, const vk_sampled *texture)
{
    vk_set *free_set = NULL;
    for (vk_sets *sets = device->sets; sets; sets = sets->next)
        for (uint32_t i = 0; i < SETS; i++) {
            vk_set *set = &sets->sets[i];
            if (set->owner == owner && set->view == texture->view &&
                set->layout == layout_of(texture))
                return set;
            if (set->owner == 0)
                free_set = set;
        }
    return free_set;
}

tml_status vk_sampled_bind(tml_context *tml, VkCommandBuffer commands, const vk_sampled *texture)
{
    vk_device *device = vk_device_of(tml);
    const uint32_t owner = 1 + (device->lent_commands ? (uint32_t)RECORDED : device->batch);
    vk_set *set = vk_sampled_find(device, owner, texture);
    if (!set) {
        tml_status status = grow(tml);
        if (status != TML_OK)
            return status;
        set = vk_sampled_find(device, owner, texture);
    }
    if (set->owner == 0) {
        set->owner = owner;
        set->view = texture->view;
        set->layout = layout_of(texture);
        const VkDescriptorImageInfo image = {.imageView = set->view, .imageLayout = set->layout};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = set->set,
                                            .descriptorCount = 1,
                                            .descriptorType = sampled_type,
                                            .pImageInfo = &image};
        device->fn.UpdateDescriptorSets(device->device, 1, &write, 0, NULL);
    }
    device->fn.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, device->layout, 0, 1,
                                     &set->set, 0, NULL);
    return TML_OK;
}
