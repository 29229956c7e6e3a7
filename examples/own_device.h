/* What any Vulkan program that draws has, and Trommel is lent: a device with a queue, buffers,
 * shaders. */
#ifndef OWN_DEVICE_H
#define OWN_DEVICE_H

#include <stdio.h>
#include <stdlib.h>

#include <trommel/vulkan.h>

#define MUST(call)                                                                                 \
    if ((call) != 0) {                                                                             \
        fprintf(stderr, "failed: %s\n", #call);                                                    \
        exit(1);                                                                                   \
    }

/* An instance, and a device with these features that Trommel can use, with a queue that draws and
 * computes. */
static bool open_device_with(tml_vulkan_desc *v, VkPhysicalDeviceFeatures features,
                             VkPhysicalDeviceVulkan12Features features12)
{
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                .pApplicationInfo = &app};
    VkPhysicalDeviceSubgroupSizeControlFeatures sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkQueueFamilyProperties families[16];
    uint32_t count = 1, family_count = 16;
    features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features12.pNext = &sizes;
    if (vkCreateInstance(&instance_info, NULL, &v->instance) != VK_SUCCESS)
        return false;
    if (vkEnumeratePhysicalDevices(v->instance, &count, &v->physical_device) < 0 || !count ||
        !tml_vulkan_features(vkGetInstanceProcAddr, v->instance, v->physical_device, &features,
                             &features12, &sizes)) {
        vkDestroyInstance(v->instance, NULL);
        return false;
    }
    vkGetPhysicalDeviceQueueFamilyProperties(v->physical_device, &family_count, families);
    const VkQueueFlags both = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    while (v->queue_family < family_count && (families[v->queue_family].queueFlags & both) != both)
        v->queue_family++;
    if (v->queue_family == family_count) {
        vkDestroyInstance(v->instance, NULL);
        return false;
    }
    v->has_size_control = sizes.subgroupSizeControl;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = v->queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .pNext = &features12,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue,
                                            .pEnabledFeatures = &features};
    if (vkCreateDevice(v->physical_device, &device_info, NULL, &v->device) != VK_SUCCESS) {
        vkDestroyInstance(v->instance, NULL);
        return false;
    }
    vkGetDeviceQueue(v->device, v->queue_family, 0, &v->queue);
    return true;
}

static inline bool open_device(tml_vulkan_desc *v)
{
    return open_device_with(v, (VkPhysicalDeviceFeatures){0},
                            (VkPhysicalDeviceVulkan12Features){0});
}

static VkDeviceMemory allocate(const tml_vulkan_desc *v, VkMemoryRequirements needs,
                               VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(v->physical_device, &types);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           (types.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = type};
    VkDeviceMemory memory;
    MUST(vkAllocateMemory(v->device, &info, NULL, &memory));
    return memory;
}

static VkBuffer make_buffer(const tml_vulkan_desc *v, VkDeviceSize size, VkBufferUsageFlags usage,
                            VkMemoryPropertyFlags wanted, VkDeviceMemory *memory)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    VkBuffer buffer;
    VkMemoryRequirements needs;
    MUST(vkCreateBuffer(v->device, &info, NULL, &buffer));
    vkGetBufferMemoryRequirements(v->device, buffer, &needs);
    *memory = allocate(v, needs, wanted);
    MUST(vkBindBufferMemory(v->device, buffer, *memory, 0));
    return buffer;
}

static VkPipelineShaderStageCreateInfo make_stage(VkDevice device, VkShaderStageFlagBits stage,
                                                  const uint32_t *code, size_t size)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkPipelineShaderStageCreateInfo out = {.sType =
                                               VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                           .stage = stage,
                                           .pName = "main"};
    MUST(vkCreateShaderModule(device, &info, NULL, &out.module));
    return out;
}

#endif
