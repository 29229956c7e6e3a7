/* Vulkan: devices and buffers shared with yours, your command buffers, counts as arguments. */
#include "reference.h"

#include <trommel/vulkan.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(bool, is_even, (uint x), { return (x & 1u) == 0u; })
#include <trommel/kernel_end.h>

/* Made by CMake's trommel_add_kernels(): the kernels of this file in SPIR-V. */
extern const tml_vulkan_kernel reference_vulkan_kernels[];

/* Kernels that were compiled with the program; how many forms there are of the first. */
static void kernels_built_ahead(void)
{
    const tml_vulkan_desc vulkan = {.kernels = reference_vulkan_kernels};
    uint64_t count;
    uint32_t forms = 0;
    tml_context *tml;
    for (int i = 0; i < TML_VULKAN_KERNEL_FORMS; i++)
        forms += reference_vulkan_kernels[0].code[i] != NULL;
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &vulkan}, &tml));
    const tml_buffer data = buffer_of(tml, TML_U32, 4, (uint32_t[]){1, 2, 3, 4});
    const tml_buffer kept = buffer_of(tml, TML_U32, 1, NULL);
    MUST(tml_compact(tml, &(tml_compact_desc){.keep.kernel = TML_USE(is_even),
                                              .payloads = {{data, data}},
                                              .count = kept}));
    MUST(tml_buffer_read_count(tml, kept, &count));
    CHECK(count == 2 && forms > 0);
    tml_close(tml);
}

/* What a VkDevice of yours must be made with, so that the library can work on it. */
static void features(tml_context *tml)
{
    tml_vulkan_desc vk;
    VkPhysicalDeviceFeatures basic = {0};
    VkPhysicalDeviceVulkan12Features of12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    MUST(tml_vulkan_handles(tml, &vk)); /* instance and device of the context, to share them */
    CHECK(tml_vulkan_features(vkGetInstanceProcAddr, vk.instance, vk.physical_device, &basic, &of12,
                              NULL));
    CHECK(of12.bufferDeviceAddress);
}

/* Where a buffer lies, to bind it to pipelines of yours. */
static void memory_of_buffer(tml_context *tml)
{
    tml_vulkan_memory memory;
    VkDeviceAddress address;
    MUST(tml_vulkan_buffer(tml, buffer_of(tml, TML_U32, 100, NULL), &memory, &address));
    CHECK(memory.buffer != VK_NULL_HANDLE && memory.offset % 4 == 0 && address != 0);
}

/* A count becomes an indirect draw's arguments, on the device: six vertices an instance. */
static void indirect(tml_context *tml)
{
    uint32_t arguments[4];
    const tml_vulkan_indirect_desc desc = {.kind = TML_VULKAN_INDIRECT_INSTANCES,
                                           .count = buffer_of(tml, TML_U32, 1, &(uint32_t){42}),
                                           .group = 6,
                                           .out = buffer_of(tml, TML_U32, 4, NULL)};
    MUST(tml_vulkan_indirect(tml, &desc));
    MUST(tml_buffer_read(tml, desc.out, arguments));
    CHECK(arguments[0] == 6 && arguments[1] == 42);
}

static VkCommandBuffer begin_commands(const tml_vulkan_desc *vk, VkCommandPool *pool)
{
    VkCommandBuffer commands;
    vkCreateCommandPool(
        vk->device,
        &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                   .queueFamilyIndex = vk->queue_family},
        NULL, pool);
    vkAllocateCommandBuffers(
        vk->device,
        &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandPool = *pool,
                                       .commandBufferCount = 1},
        &commands);
    vkBeginCommandBuffer(commands, &(VkCommandBufferBeginInfo){
                                       .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO});
    return commands;
}

static void submit_and_wait(const tml_vulkan_desc *vk, VkCommandBuffer commands)
{
    vkQueueSubmit(vk->queue, 1,
                  &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .commandBufferCount = 1,
                                  .pCommandBuffers = &commands},
                  VK_NULL_HANDLE);
    vkQueueWaitIdle(vk->queue);
}

/* Operations in a command buffer of yours, which may be submitted any number of times. */
static void record(tml_context *tml)
{
    tml_vulkan_desc vk;
    VkCommandPool pool;
    VkCommandBuffer commands;
    uint32_t sums[3];
    const tml_buffer data = buffer_of(tml, TML_U32, 3, (uint32_t[]){1, 1, 1});
    const tml_scan_desc scan = {.in = data, .inclusive = true, .out = data};
    MUST(tml_vulkan_handles(tml, &vk));
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_scan(tml, &scan))));
    commands = begin_commands(&vk, &pool);
    MUST(tml_vulkan_record(tml, commands, NULL, NULL));
    MUST(tml_scan(tml, &scan));
    MUST(tml_vulkan_record_end(tml));
    vkEndCommandBuffer(commands);
    MUST(tml_sync(tml)); /* the data is there */
    for (int frame = 0; frame < 2; frame++)
        submit_and_wait(&vk, commands);
    MUST(tml_vulkan_check(tml)); /* did the device finish well? */
    MUST(tml_buffer_read(tml, data, sums));
    CHECK(sums[0] == 1 && sums[1] == 3 && sums[2] == 6);
    vkDestroyCommandPool(vk.device, pool, NULL);
    MUST(tml_vulkan_forget_recordings(tml)); /* it will not be submitted again */
}

/* The same where barriers are yours, as a frame graph has it: here the vertices that the recording
 * makes are drawn next, and nothing before it has used them. Its pipelines and scratch are made
 * while a screen loads. */
static void record_between(tml_context *tml)
{
    tml_vulkan_desc vk;
    VkCommandPool pool;
    VkCommandBuffer commands;
    uint32_t sums[3];
    const tml_buffer data = buffer_of(tml, TML_U32, 3, (uint32_t[]){1, 1, 1});
    const tml_scan_desc scan = {.in = data, .inclusive = true, .out = data};
    const tml_vulkan_barrier nothing = {.none = true},
                             to_vertices = {.stages = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT,
                                            .access = VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT};
    tml_prepared prepared;
    MUST(tml_prepare_begin(tml));
    MUST(tml_scan(tml, &scan)); /* computes nothing */
    MUST(tml_prepare_end(tml, &prepared));
    MUST(tml_reserve(tml, prepared.scratch_size));
    MUST(tml_vulkan_handles(tml, &vk));
    commands = begin_commands(&vk, &pool);
    MUST(tml_vulkan_record(tml, commands, &nothing, &to_vertices));
    MUST(tml_scan(tml, &scan));
    MUST(tml_vulkan_record_end(tml));
    vkEndCommandBuffer(commands);
    MUST(tml_sync(tml));
    submit_and_wait(&vk, commands);
    MUST(tml_buffer_read(tml, data, sums));
    CHECK(sums[0] == 1 && sums[1] == 2 && sums[2] == 3);
    vkDestroyCommandPool(vk.device, pool, NULL);
    MUST(tml_vulkan_forget_recordings(tml));
}

/* Order with another queue, by a timeline that the context moves from 1 to 2. Here the host is the
 * other one. */
static void semaphores(tml_context *tml)
{
    tml_vulkan_desc vk;
    VkSemaphore turn;
    const tml_buffer data = buffer_of(tml, TML_U32, 3, (uint32_t[]){1, 1, 1});
    MUST(tml_vulkan_handles(tml, &vk));
    vkCreateSemaphore(
        vk.device,
        &(VkSemaphoreCreateInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
            .pNext =
                &(VkSemaphoreTypeCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                             .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE}},
        NULL, &turn);
    MUST(tml_vulkan_after(tml, turn, 1));
    MUST(tml_scan(tml, &(tml_scan_desc){.in = data, .out = data}));
    MUST(tml_vulkan_signal(tml, turn, 2));
    vkSignalSemaphore(vk.device,
                      &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                               .semaphore = turn,
                                               .value = 1});
    vkWaitSemaphores(vk.device,
                     &(VkSemaphoreWaitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                            .semaphoreCount = 1,
                                            .pSemaphores = &turn,
                                            .pValues = &(uint64_t){2}},
                     UINT64_MAX);
    MUST(tml_sync(tml)); /* no submission names it any more */
    vkDestroySemaphore(vk.device, turn, NULL);
}

static const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

/* An image of 5 x 3 texels of the picture's format, and the picture's view of it. */
static VkImage image_of(const tml_vulkan_desc *vk, tml_vulkan_texture *picture,
                        VkDeviceMemory *memory)
{
    VkImage image;
    VkMemoryRequirements needs;
    vkCreateImage(
        vk->device,
        &(VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                             .imageType = VK_IMAGE_TYPE_2D,
                             .format = picture->format,
                             .extent = {5, 3, 1},
                             .mipLevels = 1,
                             .arrayLayers = 1,
                             .samples = VK_SAMPLE_COUNT_1_BIT,
                             .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT},
        NULL, &image);
    vkGetImageMemoryRequirements(vk->device, image, &needs);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1))
        type++;
    vkAllocateMemory(vk->device,
                     &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                             .allocationSize = needs.size,
                                             .memoryTypeIndex = type},
                     NULL, memory);
    vkBindImageMemory(vk->device, image, *memory, 0);
    vkCreateImageView(vk->device,
                      &(VkImageViewCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                               .image = image,
                                               .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                               .format = picture->format,
                                               .subresourceRange = all},
                      NULL, &picture->view);
    return image;
}

/* An image of yours, measured in place, after whatever drew into it: here a clear. The layout that
 * the library finds is yours to set. */
static void texture(tml_context *tml)
{
    tml_vulkan_desc vk;
    VkImage image;
    VkDeviceMemory memory;
    VkCommandPool pool;
    VkCommandBuffer commands;
    tml_image_stats stats;
    tml_vulkan_texture picture = {.layout = VK_IMAGE_LAYOUT_GENERAL,
                                  .format = VK_FORMAT_R16G16B16A16_SFLOAT};
    MUST(tml_vulkan_handles(tml, &vk));
    image = image_of(&vk, &picture, &memory);
    const tml_image_measure_desc measure = {
        .image = {.width = 5, .height = 3, .channels = 3, .vulkan = &picture},
        .stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL)};
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_image_measure(tml, &measure))));
    commands = begin_commands(&vk, &pool);
    const VkImageMemoryBarrier to_general = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                             .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                             .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                             .image = image,
                                             .subresourceRange = all};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &to_general);
    vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_GENERAL,
                         &(VkClearColorValue){.float32 = {4, 4, 4, 1}}, 1, &all);
    MUST(tml_vulkan_record(tml, commands, NULL, NULL));
    MUST(tml_image_measure(tml, &measure));
    MUST(tml_vulkan_record_end(tml));
    vkEndCommandBuffer(commands);
    submit_and_wait(&vk, commands);
    MUST(tml_image_stats_read(tml, measure.stats, &stats));
    CHECK(stats.pixels == 15 && stats.log2_mean == 2);
    vkDestroyCommandPool(vk.device, pool, NULL);
    MUST(tml_vulkan_forget_recordings(tml)); /* before the view goes */
    vkDestroyImageView(vk.device, picture.view, NULL);
    vkDestroyImage(vk.device, image, NULL);
    vkFreeMemory(vk.device, memory, NULL);
}

/* Hands over what is enqueued without waiting, and seconds of the device's clock. */
static void flush_and_time(tml_context *tml)
{
    double seconds = -1;
    const tml_buffer data = buffer_of(tml, TML_U32, 1000, NULL);
    MUST(tml_time_begin(tml));
    MUST(tml_scan(tml, &(tml_scan_desc){.in = data, .out = data}));
    MUST(tml_vulkan_flush(tml));
    MUST(tml_time_end(tml, &seconds)); /* waits */
    CHECK(seconds >= 0);
}

/* Compiled pipelines, for the next run of the program. */
static void cache(tml_context *tml)
{
    size_t size = 0;
    MUST(tml_cache(tml, NULL, &size)); /* how much there is */
    void *data = malloc(size);
    CHECK(data);
    MUST(tml_cache(tml, data, &size));
    MUST(tml_cache_add(tml, data, size)); /* in the next run */
    CHECK(size >= 32);
    free(data);
}

int main(void)
{
    const int status = run_examples(&(tml_open_desc){.engine = TML_ENGINE_VULKAN},
                                    (example *const[]){features, memory_of_buffer, indirect, record,
                                                       record_between, semaphores, texture,
                                                       flush_and_time, cache, NULL});
    if (status == 0)
        kernels_built_ahead();
    return status;
}
