/* A renderer's HDR target, metered where it is. Shows tml_image.vulkan (tml_vulkan_texture) with
 * tml_image_measure and tml_image_expose, tml_vulkan_buffer, tml_vulkan_record; its own shader
 * looks up a buffer by trommel/trommel.glsl.
 *
 * A frame is one command buffer: the renderer draws into an RGBA16F image; the library reads it in
 * place and leaves the exposure in a buffer; the renderer's last pass reads that buffer. Nothing is
 * copied, waited for or read back, and no frame calls the library. For those who want a copy of the
 * picture, vkCmdCopyImageToBuffer writes it into a buffer of the library's, and it is metered from
 * there to the same sums. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/trommel.h>
#include <trommel/vulkan.h>

enum { WIDTH = 160, HEIGHT = 90, PIXELS = WIDTH * HEIGHT };
enum { TARGET, SHOWN, SCENE, BINDINGS };

static const VkFormat HDR = VK_FORMAT_R16G16B16A16_SFLOAT, LDR = VK_FORMAT_R8G8B8A8_UNORM;
static const uint32_t code[] = {
#include "own_vulkan_exposure.comp.inc"
};

#define MUST(call)                                                                                 \
    if ((call) != 0) {                                                                             \
        fprintf(stderr, "own_vulkan_exposure: failed: %s\n", #call);                               \
        exit(1);                                                                                   \
    }

typedef struct renderer {
    tml_vulkan_desc vulkan; /* what is lent */
    VkImage target, shown;
    VkImageView target_view, shown_view;
    VkBuffer host; /* the scene's light, and from PIXELS on what is shown */
    void *mapped;
    VkDeviceMemory memory[3];
    VkDescriptorPool sets;
    VkDescriptorSetLayout set_layout;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDeviceAddress state; /* where the library keeps the exposure, which the last pass looks up */
    VkCommandPool pool;
    VkCommandBuffer commands;
} renderer;

static int open_device(tml_vulkan_desc *v)
{
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                .pApplicationInfo = &app};
    VkPhysicalDeviceSubgroupSizeControlFeatures sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &sizes};
    VkPhysicalDeviceFeatures features = {0};
    uint32_t count = 1;
    *v = (tml_vulkan_desc){.get_instance_proc_addr = vkGetInstanceProcAddr};
    if (vkCreateInstance(&instance_info, NULL, &v->instance) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(v->instance, &count, &v->physical_device) < 0 || !count ||
        !tml_vulkan_features(vkGetInstanceProcAddr, v->instance, v->physical_device, &features,
                             &features12, &sizes))
        return 0;
    v->has_size_control = sizes.subgroupSizeControl;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .pNext = &features12,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue,
                                            .pEnabledFeatures = &features};
    MUST(vkCreateDevice(v->physical_device, &device_info, NULL, &v->device));
    vkGetDeviceQueue(v->device, 0, 0, &v->queue);
    return 1;
}

static VkDeviceMemory allocate(const renderer *r, VkMemoryRequirements needs,
                               VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties types;
    VkDeviceMemory memory;
    uint32_t type = 0;
    vkGetPhysicalDeviceMemoryProperties(r->vulkan.physical_device, &types);
    while (!(needs.memoryTypeBits >> type & 1) ||
           (types.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = type};
    MUST(vkAllocateMemory(r->vulkan.device, &info, NULL, &memory));
    return memory;
}

static const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

static void create_image(const renderer *r, VkFormat format, VkImageUsageFlags usage,
                         VkImage *image, VkDeviceMemory *memory, VkImageView *view)
{
    VkMemoryRequirements needs;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {WIDTH, HEIGHT, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = usage | VK_IMAGE_USAGE_STORAGE_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    MUST(vkCreateImage(r->vulkan.device, &info, NULL, image));
    vkGetImageMemoryRequirements(r->vulkan.device, *image, &needs);
    *memory = allocate(r, needs, 0);
    MUST(vkBindImageMemory(r->vulkan.device, *image, *memory, 0));
    const VkImageViewCreateInfo view_info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                             .image = *image,
                                             .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                             .format = format,
                                             .subresourceRange = whole};
    MUST(vkCreateImageView(r->vulkan.device, &view_info, NULL, view));
}

static void create_host_buffer(renderer *r)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = 8 * PIXELS,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    MUST(vkCreateBuffer(r->vulkan.device, &info, NULL, &r->host));
    vkGetBufferMemoryRequirements(r->vulkan.device, r->host, &needs);
    r->memory[2] = allocate(
        r, needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    MUST(vkBindBufferMemory(r->vulkan.device, r->host, r->memory[2], 0));
    MUST(vkMapMemory(r->vulkan.device, r->memory[2], 0, VK_WHOLE_SIZE, 0, &r->mapped));
}

/* What the renderer's own passes have bound. */
static void create_set(renderer *r)
{
    static const VkDescriptorType types[BINDINGS] = {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                                     VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                                     VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    const VkDevice device = r->vulkan.device;
    VkDescriptorSetLayoutBinding bindings[BINDINGS];
    VkDescriptorPoolSize sizes[BINDINGS];
    VkWriteDescriptorSet writes[BINDINGS];
    for (uint32_t b = 0; b < BINDINGS; b++) {
        bindings[b] =
            (VkDescriptorSetLayoutBinding){b, types[b], 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
        sizes[b] = (VkDescriptorPoolSize){types[b], 1};
    }
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = BINDINGS,
        .pBindings = bindings};
    MUST(vkCreateDescriptorSetLayout(device, &layout, NULL, &r->set_layout));
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = BINDINGS,
                                             .pPoolSizes = sizes};
    MUST(vkCreateDescriptorPool(device, &pool, NULL, &r->sets));
    const VkDescriptorSetAllocateInfo set = {.sType =
                                                 VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = r->sets,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &r->set_layout};
    MUST(vkAllocateDescriptorSets(device, &set, &r->set));
    const VkDescriptorImageInfo images[2] = {
        {.imageView = r->target_view, .imageLayout = VK_IMAGE_LAYOUT_GENERAL},
        {.imageView = r->shown_view, .imageLayout = VK_IMAGE_LAYOUT_GENERAL}};
    const VkDescriptorBufferInfo scene = {r->host, 0, sizeof(float)};
    for (uint32_t b = 0; b < BINDINGS; b++)
        writes[b] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = r->set,
                                           .dstBinding = b,
                                           .descriptorCount = 1,
                                           .descriptorType = types[b],
                                           .pImageInfo = b < SCENE ? &images[b] : NULL,
                                           .pBufferInfo = b < SCENE ? NULL : &scene};
    vkUpdateDescriptorSets(device, BINDINGS, writes, 0, NULL);
}

static void create_pipeline(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 12};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &r->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    MUST(vkCreatePipelineLayout(device, &layout, NULL, &r->layout));
    const VkShaderModuleCreateInfo module_info = {.sType =
                                                      VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                                  .codeSize = sizeof code,
                                                  .pCode = code};
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main"},
        .layout = r->layout};
    MUST(vkCreateShaderModule(device, &module_info, NULL, &pipeline.stage.module));
    MUST(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline, NULL, &r->pipeline));
    vkDestroyShaderModule(device, pipeline.stage.module, NULL);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    MUST(vkCreateCommandPool(device, &pool, NULL, &r->pool));
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->pool,
        .commandBufferCount = 1};
    MUST(vkAllocateCommandBuffers(device, &commands, &r->commands));
}

/* A layout changes after one stage's accesses and before another's. */
static void turn(const renderer *r, VkImage image, VkImageLayout from, VkImageLayout to,
                 VkPipelineStageFlags after, VkPipelineStageFlags before)
{
    const VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                          .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                          .dstAccessMask = before == VK_PIPELINE_STAGE_TRANSFER_BIT
                                                               ? VK_ACCESS_TRANSFER_READ_BIT
                                                               : VK_ACCESS_SHADER_READ_BIT |
                                                                     VK_ACCESS_SHADER_WRITE_BIT,
                                          .oldLayout = from,
                                          .newLayout = to,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = image,
                                          .subresourceRange = whole};
    vkCmdPipelineBarrier(r->commands, after, before, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void run_pass(const renderer *r, uint32_t pass)
{
    vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
    vkCmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->layout, 0, 1, &r->set,
                            0, NULL);
    const uint32_t constants[3] = {(uint32_t)r->state, (uint32_t)(r->state >> 32), pass};
    vkCmdPushConstants(r->commands, r->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof constants,
                       constants);
    vkCmdDispatch(r->commands, (WIDTH + 7) / 8, (HEIGHT + 7) / 8, 1);
}

typedef struct meter {
    tml_vulkan_texture target;
    tml_image_measure_desc in_place, of_copy;
    tml_image_expose_desc expose;
    tml_vulkan_memory copy; /* of_copy's picture */
} meter;

static meter create_meter(tml_context *tml, const renderer *r)
{
    meter m = {.target = {.view = r->target_view, .format = HDR}, /* SHADER_READ_ONLY_OPTIMAL */
               .expose = {.seconds = 10, .speed_up = 3, .speed_down = 3}};
    const tml_image picture = {.width = WIDTH, .height = HEIGHT, .channels = 4};
    m.in_place.image = m.of_copy.image = picture;
    MUST(tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F16, .count = 4 * PIXELS},
                           &m.of_copy.image.buffer));
    MUST(tml_vulkan_buffer(tml, m.of_copy.image.buffer, &m.copy, NULL));
    const tml_buffer_desc stats = {.type = TML_U32, .count = TML_IMAGE_STATS_WORDS};
    MUST(tml_buffer_create(tml, &stats, &m.in_place.stats));
    MUST(tml_buffer_create(tml, &stats, &m.of_copy.stats));
    m.expose.stats = m.in_place.stats;
    const float start[TML_EXPOSURE_WORDS] = {1};
    MUST(tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_F32, .count = TML_EXPOSURE_WORDS, .data = start},
        &m.expose.state));
    return m;
}

/* Records a frame: draw, meter, show. The layouts are the renderer's to change. */
static void record(tml_context *tml, const renderer *r, const meter *m)
{
    enum { COMPUTE = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, COPY = VK_PIPELINE_STAGE_TRANSFER_BIT };
    const VkImageLayout drawing = VK_IMAGE_LAYOUT_GENERAL,
                        reading = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                        copying = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    VkBufferImageCopy copy = {.bufferOffset = m->copy.offset,
                              .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                              .imageExtent = {WIDTH, HEIGHT, 1}};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    MUST(vkBeginCommandBuffer(r->commands, &begin));
    turn(r, r->target, VK_IMAGE_LAYOUT_UNDEFINED, drawing, COMPUTE | COPY, COMPUTE);
    turn(r, r->shown, VK_IMAGE_LAYOUT_UNDEFINED, drawing, COMPUTE | COPY, COMPUTE);
    run_pass(r, 0);

    turn(r, r->target, drawing, reading, COMPUTE, COMPUTE);
    MUST(tml_vulkan_record(tml, r->commands, NULL, NULL));
    MUST(tml_image_measure(tml, &m->in_place));
    MUST(tml_image_expose(tml, &m->expose));
    MUST(tml_vulkan_record_end(tml));
    turn(r, r->target, reading, drawing, COMPUTE, COMPUTE);
    run_pass(r, 1); /* reads the exposure, after tml_vulkan_record_end's barrier */

    /* The same from a copy, for who wants one. */
    turn(r, r->target, drawing, copying, COMPUTE, COPY);
    vkCmdCopyImageToBuffer(r->commands, r->target, copying, m->copy.buffer, 1, &copy);
    MUST(tml_vulkan_record(tml, r->commands, NULL,
                           NULL)); /* begins with a barrier from the copy on */
    MUST(tml_image_measure(tml, &m->of_copy));
    MUST(tml_vulkan_record_end(tml));

    copy.bufferOffset = 4 * PIXELS; /* what a swapchain would show, to look at it here */
    turn(r, r->shown, drawing, copying, COMPUTE, COPY);
    vkCmdCopyImageToBuffer(r->commands, r->shown, copying, r->host, 1, &copy);
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(r->commands, COPY, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0,
                         NULL);
    MUST(vkEndCommandBuffer(r->commands));
}

/* Submits the frame with this much light, and looks at what it left. */
static int frame(tml_context *tml, const renderer *r, const meter *m, float light)
{
    uint32_t sums[2][TML_IMAGE_STATS_WORDS];
    float state[TML_EXPOSURE_WORDS];
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &r->commands};
    memcpy(r->mapped, &light, sizeof light);
    MUST(vkQueueSubmit(r->vulkan.queue, 1, &submit, VK_NULL_HANDLE));
    MUST(vkQueueWaitIdle(r->vulkan.queue));
    MUST(tml_buffer_read(tml, m->in_place.stats, sums[0]));
    MUST(tml_buffer_read(tml, m->of_copy.stats, sums[1]));
    MUST(tml_buffer_read(tml, m->expose.state, state));
    const uint8_t *shown = (const uint8_t *)r->mapped + 4 * PIXELS;
    printf("light %g: EV100 %.3f; shown as %d and %d\n", (double)light,
           (double)state[TML_EXPOSURE_EV100], shown[0], shown[4 * WIDTH - 4]);
    /* The geometric mean of light and 4 light is 2 light, which becomes grey: 0.09 and 0.36 /
     * 1.36. */
    return fabsf(state[TML_EXPOSURE_EV100] - (log2f(2 * light) + 3)) < 0.01f &&
           memcmp(sums[0], sums[1], TML_STATS_MEAN * sizeof(uint32_t)) == 0 &&
           abs(shown[0] - 21) <= 1 && abs(shown[4 * WIDTH - 4] - 68) <= 1;
}

static void close_renderer(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    vkDestroyCommandPool(device, r->pool, NULL);
    vkDestroyPipeline(device, r->pipeline, NULL);
    vkDestroyPipelineLayout(device, r->layout, NULL);
    vkDestroyDescriptorPool(device, r->sets, NULL);
    vkDestroyDescriptorSetLayout(device, r->set_layout, NULL);
    vkDestroyImageView(device, r->target_view, NULL);
    vkDestroyImageView(device, r->shown_view, NULL);
    vkDestroyImage(device, r->target, NULL);
    vkDestroyImage(device, r->shown, NULL);
    vkDestroyBuffer(device, r->host, NULL);
    for (int i = 0; i < 3; i++)
        vkFreeMemory(device, r->memory[i], NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(r->vulkan.instance, NULL);
}

int main(void)
{
    renderer r = {0};
    tml_context *tml;
    if (!open_device(&r.vulkan)) {
        puts("no Vulkan device here");
        return 77;
    }
    create_image(&r, HDR, VK_IMAGE_USAGE_SAMPLED_BIT, &r.target, &r.memory[0], &r.target_view);
    create_image(&r, LDR, 0, &r.shown, &r.memory[1], &r.shown_view);
    create_host_buffer(&r);
    MUST(tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN, .vulkan = &r.vulkan}, &tml));
    meter m = create_meter(tml, &r);
    m.in_place.image.vulkan = &m.target;
    MUST(tml_vulkan_buffer(tml, m.expose.state, NULL, &r.state));
    create_set(&r);
    create_pipeline(&r);
    tml_prepared prepared;
    MUST(tml_prepare_begin(tml));
    MUST(tml_image_measure(tml, &m.in_place));
    MUST(tml_image_measure(tml, &m.of_copy));
    MUST(tml_prepare_end(tml, &prepared));
    MUST(tml_reserve(tml, prepared.scratch_size)); /* recording takes no memory */
    record(tml, &r, &m);
    const int is_good = frame(tml, &r, &m, 0.25f) && frame(tml, &r, &m, 64.0f);
    tml_close(tml);
    close_renderer(&r);
    return is_good ? 0 : 1;
}
