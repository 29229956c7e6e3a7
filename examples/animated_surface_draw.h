/* The part of animated_surface.c, fluid_surface.c, adaptive_flight.c and culled_draws.c that any
 * Vulkan program has: a render pass into an image that the host can read, a pipeline and a command
 * buffer. */
#ifndef ANIMATED_SURFACE_DRAW_H
#define ANIMATED_SURFACE_DRAW_H

#include <string.h>

#include <trommel/pictures.h>

#include "own_device.h"

#ifndef SURFACE_FRAGMENT
#    define SURFACE_FRAGMENT "animated_surface.frag.inc"
#endif

#ifndef SURFACE_VERTEX /* else "view" is defined, too: what its push constants are */
#    define SURFACE_VERTEX "animated_surface.vert.inc"
typedef struct view {
    float angle, aspect;
} view;
#endif

#ifndef SURFACE_STREAMS
#    define SURFACE_STREAMS 2
#endif

static const uint32_t vertex_code[] = {
#include SURFACE_VERTEX
};
static const uint32_t fragment_code[] = {
#include SURFACE_FRAGMENT
};

static const VkFormat COLOUR = VK_FORMAT_R8G8B8A8_SRGB, DEPTH = VK_FORMAT_D16_UNORM;

typedef struct renderer {
    tml_vulkan_desc vulkan; /* instance, device and queue: what is lent */
    VkExtent2D size;
    VkImage images[2]; /* colour, depth */
    VkImageView views[2];
    VkBuffer picture; /* the colour image on the host */
    uint8_t *pixels;
    /* Vertices are records of 16 bytes, a position and an octahedral normal, and not arrays of
     * floats; indices have 16 bits where is_narrow. */
    bool is_compact, is_narrow;
    VkBuffer indices;         /* to be lent */
    VkDeviceMemory memory[4]; /* of the images, picture and indices */
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkCommandPool pool;
    VkCommandBuffer commands;
} renderer;

/* An index buffer that Trommel writes: with the usages that tml_buffer_desc.vulkan asks for. */
static inline void make_indices(renderer *r, VkDeviceSize size)
{
    r->indices =
        make_buffer(&r->vulkan, size,
                    VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &r->memory[3]);
}

static void make_targets(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    VkMemoryRequirements needs;
    for (int i = 0; i < 2; i++) {
        const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                        .imageType = VK_IMAGE_TYPE_2D,
                                        .format = i ? DEPTH : COLOUR,
                                        .extent = {r->size.width, r->size.height, 1},
                                        .mipLevels = 1,
                                        .arrayLayers = 1,
                                        .samples = VK_SAMPLE_COUNT_1_BIT,
                                        .usage = i ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
                                                   : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                         VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
        MUST(vkCreateImage(device, &info, NULL, &r->images[i]));
        vkGetImageMemoryRequirements(device, r->images[i], &needs);
        r->memory[i] = allocate(&r->vulkan, needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        MUST(vkBindImageMemory(device, r->images[i], r->memory[i], 0));
        const VkImageViewCreateInfo view_info = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = r->images[i],
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = info.format,
            .subresourceRange = {i ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0,
                                 1}};
        MUST(vkCreateImageView(device, &view_info, NULL, &r->views[i]));
    }
    r->picture = make_buffer(
        &r->vulkan, (VkDeviceSize)r->size.width * r->size.height * 4,
        VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, &r->memory[2]);
    void *mapped;
    MUST(vkMapMemory(device, r->memory[2], 0, VK_WHOLE_SIZE, 0, &mapped));
    r->pixels = mapped;

    /* Both start cleared; the colour ends where the copy reads it. */
    const VkAttachmentDescription attachments[2] = {
        {.format = COLOUR,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
         .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL},
        {.format = DEPTH,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
         .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL}};
    const VkAttachmentReference colour = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference depth = {1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {
        .colorAttachmentCount = 1, .pColorAttachments = &colour, .pDepthStencilAttachment = &depth};
    const VkSubpassDependency to_copy = {.dstSubpass = VK_SUBPASS_EXTERNAL,
                                         .srcStageMask =
                                             VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                         .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                         .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                         .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
    const VkRenderPassCreateInfo pass_info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                              .attachmentCount = 2,
                                              .pAttachments = attachments,
                                              .subpassCount = 1,
                                              .pSubpasses = &subpass,
                                              .dependencyCount = 1,
                                              .pDependencies = &to_copy};
    MUST(vkCreateRenderPass(device, &pass_info, NULL, &r->pass));
    const VkFramebufferCreateInfo framebuffer_info = {.sType =
                                                          VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                                      .renderPass = r->pass,
                                                      .attachmentCount = 2,
                                                      .pAttachments = r->views,
                                                      .width = r->size.width,
                                                      .height = r->size.height,
                                                      .layers = 1};
    MUST(vkCreateFramebuffer(device, &framebuffer_info, NULL, &r->framebuffer));
}

/* Positions, normals and what else the surface carries come from a buffer each, three floats a
 * vertex, or compact from one: as Trommel writes them. */
static void make_pipeline(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    VkPipelineShaderStageCreateInfo stages[2] = {
        make_stage(device, VK_SHADER_STAGE_VERTEX_BIT, vertex_code, sizeof vertex_code),
        make_stage(device, VK_SHADER_STAGE_FRAGMENT_BIT, fragment_code, sizeof fragment_code)};
    static const VkVertexInputBindingDescription record = {0, 16, VK_VERTEX_INPUT_RATE_VERTEX};
    static const VkVertexInputAttributeDescription members[2] = {
        {0, 0, VK_FORMAT_R32G32B32_SFLOAT, 0}, {1, 0, VK_FORMAT_R16G16_SNORM, 12}};
    const VkVertexInputBindingDescription bindings[3] = {{0, 12, VK_VERTEX_INPUT_RATE_VERTEX},
                                                         {1, 12, VK_VERTEX_INPUT_RATE_VERTEX},
                                                         {2, 12, VK_VERTEX_INPUT_RATE_VERTEX}};
    const VkVertexInputAttributeDescription attributes[3] = {{0, 0, VK_FORMAT_R32G32B32_SFLOAT, 0},
                                                             {1, 1, VK_FORMAT_R32G32B32_SFLOAT, 0},
                                                             {2, 2, VK_FORMAT_R32G32B32_SFLOAT, 0}};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = r->is_compact ? 1 : SURFACE_STREAMS,
        .pVertexBindingDescriptions = r->is_compact ? &record : bindings,
        .vertexAttributeDescriptionCount = r->is_compact ? 2 : SURFACE_STREAMS,
        .pVertexAttributeDescriptions = r->is_compact ? members : attributes};
    /* surface_view.glsl decodes them. */
    static const VkSpecializationMapEntry is_octahedral = {0, 0, sizeof(VkBool32)};
    static const VkBool32 yes = VK_TRUE;
    const VkSpecializationInfo special = {1, &is_octahedral, sizeof yes, &yes};
    stages[0].pSpecializationInfo = r->is_compact ? &special : NULL;
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkViewport viewport = {0, 0, (float)r->size.width, (float)r->size.height, 0, 1};
    const VkRect2D all = {.extent = r->size};
    const VkPipelineViewportStateCreateInfo viewports = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &all};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .cullMode = VK_CULL_MODE_BACK_BIT,
        .frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    const VkPipelineColorBlendAttachmentState write = {.colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &write};
    const VkPushConstantRange range = {VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(view)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    MUST(vkCreatePipelineLayout(device, &layout, NULL, &r->layout));
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &input,
                                               .pInputAssemblyState = &assembly,
                                               .pViewportState = &viewports,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pDepthStencilState = &depth,
                                               .pColorBlendState = &blend,
                                               .layout = r->layout,
                                               .renderPass = r->pass};
    MUST(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &r->pipeline));
    vkDestroyShaderModule(device, stages[0].module, NULL);
    vkDestroyShaderModule(device, stages[1].module, NULL);
}

static void make_commands(renderer *r)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = r->vulkan.queue_family};
    MUST(vkCreateCommandPool(r->vulkan.device, &pool, NULL, &r->pool));
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->pool,
        .commandBufferCount = 1};
    MUST(vkAllocateCommandBuffers(r->vulkan.device, &commands, &r->commands));
}

/* Begins the render pass, to draw from positions, normals and indices; what else is carried is
 * at[4]. */
static void begin_pass(const renderer *r, view seen, const tml_vulkan_memory *at)
{
    const VkClearValue clear[2] = {{.color.float32 = {0.02f, 0.025f, 0.04f, 1}},
                                   {.depthStencil.depth = 1}};
    const VkRenderPassBeginInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = r->pass,
                                        .framebuffer = r->framebuffer,
                                        .renderArea.extent = r->size,
                                        .clearValueCount = 2,
                                        .pClearValues = clear};
    vkCmdBeginRenderPass(r->commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->pipeline);
    vkCmdPushConstants(r->commands, r->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof seen, &seen);
    VkBuffer streams[SURFACE_STREAMS];
    VkDeviceSize offsets[SURFACE_STREAMS];
    for (int i = 0; i < SURFACE_STREAMS; i++) {
        const tml_vulkan_memory *stream = &at[i < 2 ? i : i + 2];
        streams[i] = stream->buffer;
        offsets[i] = stream->offset;
    }
    vkCmdBindVertexBuffers(r->commands, 0, r->is_compact ? 1 : SURFACE_STREAMS, streams, offsets);
    vkCmdBindIndexBuffer(r->commands, at[2].buffer, at[2].offset,
                         r->is_narrow ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32);
}

/* Ends it, and copies its picture to the host. */
static void end_pass(const renderer *r)
{
    vkCmdEndRenderPass(r->commands);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {r->size.width, r->size.height, 1}};
    vkCmdCopyImageToBuffer(r->commands, r->images[0], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           r->picture, 1, &copy);
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(r->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                         1, &to_host, 0, NULL, 0, NULL);
}

/* The render pass with one indirect draw, at[3]. */
static inline void draw(const renderer *r, view seen, const tml_vulkan_memory *at)
{
    begin_pass(r, seen, at);
    vkCmdDrawIndexedIndirect(r->commands, at[3].buffer, at[3].offset, 1, 0);
    end_pass(r);
}

/* ---- several frames in flight ---------------------------------------------------------------- */

enum { IN_FLIGHT = 3 };

typedef struct in_flight {
    VkCommandBuffer commands[IN_FLIGHT];
    VkFence done[IN_FLIGHT];
} in_flight;

static inline void make_in_flight(const renderer *r, in_flight *f)
{
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->pool,
        .commandBufferCount = IN_FLIGHT};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                     .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    MUST(vkAllocateCommandBuffers(r->vulkan.device, &commands, f->commands));
    for (int i = 0; i < IN_FLIGHT; i++)
        MUST(vkCreateFence(r->vulkan.device, &fence, NULL, &f->done[i]));
}

static inline void destroy_in_flight(const renderer *r, const in_flight *f)
{
    for (int i = 0; i < IN_FLIGHT; i++)
        vkDestroyFence(r->vulkan.device, f->done[i], NULL);
}

/* Begins a frame's command buffer; waits only for it to come free. */
static inline void begin_frame(renderer *r, const in_flight *f, uint32_t frame)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    const VkFence done = f->done[frame % IN_FLIGHT];
    r->commands = f->commands[frame % IN_FLIGHT];
    MUST(vkWaitForFences(r->vulkan.device, 1, &done, VK_TRUE, UINT64_MAX));
    MUST(vkResetFences(r->vulkan.device, 1, &done));
    MUST(vkBeginCommandBuffer(r->commands, &begin));
}

static inline void end_frame(const renderer *r, const in_flight *f, uint32_t frame)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &r->commands};
    MUST(vkEndCommandBuffer(r->commands));
    MUST(vkQueueSubmit(r->vulkan.queue, 1, &submit, f->done[frame % IN_FLIGHT]));
}

/* The part of the picture that is not background, as its first pixel is. */
static inline double covered(const renderer *r)
{
    const size_t count = (size_t)r->size.width * r->size.height;
    size_t other = 0;
    for (size_t i = 0; i < count; i++)
        other += memcmp(r->pixels + 4 * i, r->pixels, 4) != 0;
    return (double)other / (double)count;
}

/* Saves pixels of the renderer's size: its own, or a copy of what they were. */
static inline void save_rendered(tml_context *tml, const char *path, const renderer *r,
                                 uint8_t *pixels)
{
    MUST(tml_picture_save(tml, path,
                          &(tml_picture){.data = pixels,
                                         .type = TML_U8,
                                         .width = r->size.width,
                                         .height = r->size.height,
                                         .channels = 4,
                                         .srgb = true}));
}

static void destroy_renderer(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    vkDestroyCommandPool(device, r->pool, NULL);
    vkDestroyPipeline(device, r->pipeline, NULL);
    vkDestroyPipelineLayout(device, r->layout, NULL);
    vkDestroyFramebuffer(device, r->framebuffer, NULL);
    vkDestroyRenderPass(device, r->pass, NULL);
    vkDestroyBuffer(device, r->picture, NULL);
    vkDestroyBuffer(device, r->indices, NULL);
    for (int i = 0; i < 2; i++) {
        vkDestroyImageView(device, r->views[i], NULL);
        vkDestroyImage(device, r->images[i], NULL);
    }
    for (int i = 0; i < 4; i++)
        vkFreeMemory(device, r->memory[i], NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(r->vulkan.instance, NULL);
}

#endif
