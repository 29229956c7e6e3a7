/* Trommel inside a Vulkan program of your own. Shows tml_vulkan_features, tml_vulkan_desc,
 * tml_buffer_desc.vulkan, tml_prepare_begin, tml_vulkan_record, tml_compact and
 * tml_vulkan_indirect.
 *
 * Each frame marks which particles are alive. The recorded commands keep those, in order, and write
 * the arguments of an indirect draw; nothing is read back, and no frame calls the library. */
#include <stdio.h>
#include <stdlib.h>

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

enum { PARTICLES = 100000, ALIVE_AT = 512 << 10, DRAW_AT = 768 << 10, SIZE = 1 << 20 };

#define MUST(call)                                                                                 \
    if ((call) != 0) {                                                                             \
        fprintf(stderr, "own_vulkan: failed: %s\n", #call);                                        \
        exit(1);                                                                                   \
    }

int main(void)
{
    /* Your device, made with what the library can use of it. */
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                .pApplicationInfo = &app};
    VkPhysicalDeviceSubgroupSizeControlFeatures sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &sizes};
    VkPhysicalDeviceFeatures features = {0};
    tml_vulkan_desc mine = {.get_instance_proc_addr = vkGetInstanceProcAddr, .queue_family = 0};
    uint32_t count = 1;
    if (vkCreateInstance(&instance_info, NULL, &mine.instance) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(mine.instance, &count, &mine.physical_device) < 0 || !count ||
        !tml_vulkan_features(vkGetInstanceProcAddr, mine.instance, mine.physical_device, &features,
                             &features12, &sizes)) {
        puts("no Vulkan device here");
        return 77;
    }
    mine.has_size_control = sizes.subgroupSizeControl;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .pNext = &features12,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue,
                                            .pEnabledFeatures = &features};
    MUST(vkCreateDevice(mine.physical_device, &device_info, NULL, &mine.device));
    vkGetDeviceQueue(mine.device, 0, 0, &mine.queue);

    /* Your buffer: the particles' flags and the draw arguments, both seen by the host. */
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = SIZE,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT};
    MUST(vkCreateBuffer(mine.device, &buffer_info, NULL, &buffer));
    vkGetBufferMemoryRequirements(mine.device, buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(mine.physical_device, &types);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           (types.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                              .pNext = &flags,
                                              .allocationSize = needs.size,
                                              .memoryTypeIndex = type};
    void *mapped;
    MUST(vkAllocateMemory(mine.device, &memory_info, NULL, &memory));
    MUST(vkBindBufferMemory(mine.device, buffer, memory, 0));
    MUST(vkMapMemory(mine.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    VkCommandPool pool;
    VkCommandBuffer commands;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    MUST(vkCreateCommandPool(mine.device, &pool_info, NULL, &pool));
    const VkCommandBufferAllocateInfo commands_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1};
    MUST(vkAllocateCommandBuffers(mine.device, &commands_info, &commands));

    /* The library on it. A tml_buffer is your VkBuffer's, or the context's own. */
    tml_context *tml;
    tml_buffer alive, draw, kept, kept_count;
    const tml_vulkan_memory alive_at = {buffer, ALIVE_AT}, draw_at = {buffer, DRAW_AT};
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &mine}, &tml));
    MUST(tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_U8, .count = PARTICLES, .vulkan = &alive_at}, &alive));
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 4, .vulkan = &draw_at},
                           &draw));
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = PARTICLES}, &kept));
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = 1}, &kept_count));
    const tml_compact_desc compact = {.keep.flags = alive, .indices = kept, .count = kept_count};
    const tml_vulkan_indirect_desc indirect = {
        .kind = TML_VULKAN_INDIRECT_INSTANCES, .count = kept_count, .group = 6, .out = draw};

    /* In advance, so that recording makes no pipelines and needs no memory. */
    tml_prepared prepared;
    MUST(tml_prepare_begin(tml));
    MUST(tml_compact(tml, &compact));
    MUST(tml_vulkan_indirect(tml, &indirect));
    MUST(tml_prepare_end(tml, &prepared));
    MUST(tml_reserve(tml, prepared.scratch_size));

    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    MUST(vkBeginCommandBuffer(commands, &begin));
    MUST(tml_vulkan_record(tml, commands, NULL, NULL));
    MUST(tml_compact(tml, &compact));
    MUST(tml_vulkan_indirect(tml, &indirect));
    MUST(tml_vulkan_record_end(tml));
    /* Here a renderer calls vkCmdDrawIndirect(commands, buffer, DRAW_AT, 1, 0): six vertices an
     * instance, one instance a living particle, whose number is in kept. */
    MUST(vkEndCommandBuffer(commands));

    for (uint32_t frame = 1; frame <= 3; frame++) {
        uint8_t *flag = (uint8_t *)mapped + ALIVE_AT;
        for (uint32_t i = 0; i < PARTICLES; i++)
            flag[i] = i % (2 * frame) == 0;
        const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &commands};
        MUST(vkQueueSubmit(mine.queue, 1, &submit, VK_NULL_HANDLE));
        MUST(vkQueueWaitIdle(mine.queue));
        const uint32_t *arguments = (uint32_t *)(void *)((uint8_t *)mapped + DRAW_AT);
        printf("frame %u: %u vertices, %u instances\n", frame, arguments[0], arguments[1]);
        if (arguments[1] != (PARTICLES + 2 * frame - 1) / (2 * frame))
            return 1;
    }

    tml_close(tml); /* what you lent is still yours */
    vkDestroyCommandPool(mine.device, pool, NULL);
    vkDestroyBuffer(mine.device, buffer, NULL);
    vkFreeMemory(mine.device, memory, NULL);
    vkDestroyDevice(mine.device, NULL);
    vkDestroyInstance(mine.instance, NULL);
    return 0;
}
