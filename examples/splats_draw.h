/* The part of splats.c that any Vulkan program has: a render pass that blends into an image, and
 * frames in flight, each a command buffer with its fence. */
#ifndef SPLATS_DRAW_H
#define SPLATS_DRAW_H

#include "own_device.h"

static const uint32_t vertex_code[] = {
#include "splats.vert.inc"
};
static const uint32_t fragment_code[] = {
#include "splats.frag.inc"
};

/* Halves: 8 bits would round each of hundreds of layers. */
static const VkFormat COLOUR = VK_FORMAT_R16G16B16A16_SFLOAT;

enum { IN_FLIGHT = 3 };

typedef struct view {
    float clip[16];
    float focal[2];
    VkDeviceAddress order, places, colours;
} view;

typedef struct renderer {
    tml_vulkan_desc vulkan; /* instance, device and queue: what is lent */
    VkExtent2D size;
    VkImage image;
    VkImageView image_view;
    VkBuffer picture; /* the image on the host */
    const uint16_t *pixels;
    VkDeviceMemory memory[2]; /* of the image and the picture */
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkCommandPool pool;
    VkCommandBuffer commands[IN_FLIGHT];
    VkFence done[IN_FLIGHT];
} renderer;

static void make_image(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = COLOUR,
                                    .extent = {r->size.width, r->size.height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkMemoryRequirements needs;
    MUST(vkCreateImage(device, &info, NULL, &r->image));
    vkGetImageMemoryRequirements(device, r->image, &needs);
    r->memory[0] = allocate(&r->vulkan, needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    MUST(vkBindImageMemory(device, r->image, r->memory[0], 0));
    const VkImageViewCreateInfo view_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = r->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = COLOUR,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    MUST(vkCreateImageView(device, &view_info, NULL, &r->image_view));
    r->picture = make_buffer(
        &r->vulkan, (VkDeviceSize)r->size.width * r->size.height * 8,
        VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, &r->memory[1]);
    void *mapped;
    MUST(vkMapMemory(device, r->memory[1], 0, VK_WHOLE_SIZE, 0, &mapped));
    r->pixels = mapped;
}

/* The image starts cleared, after the frame before has drawn it, and ends where the copy reads
 * it. */
static void make_pass(renderer *r)
{
    const VkAttachmentDescription attachment = {.format = COLOUR,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                .finalLayout =
                                                    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    const VkAttachmentReference colour = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &colour};
    const VkPipelineStageFlags drawing = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkAccessFlags blending =
        VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    const VkSubpassDependency dependencies[2] = {
        {VK_SUBPASS_EXTERNAL, 0, drawing | VK_PIPELINE_STAGE_TRANSFER_BIT, drawing,
         VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT, blending, 0},
        {0, VK_SUBPASS_EXTERNAL, drawing, VK_PIPELINE_STAGE_TRANSFER_BIT,
         VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT, 0}};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &attachment,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 2,
                                         .pDependencies = dependencies};
    MUST(vkCreateRenderPass(r->vulkan.device, &info, NULL, &r->pass));
    const VkFramebufferCreateInfo framebuffer = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                                 .renderPass = r->pass,
                                                 .attachmentCount = 1,
                                                 .pAttachments = &r->image_view,
                                                 .width = r->size.width,
                                                 .height = r->size.height,
                                                 .layers = 1};
    MUST(vkCreateFramebuffer(r->vulkan.device, &framebuffer, NULL, &r->framebuffer));
}

/* No vertex buffers: the shader reads by address what the sort says. Each splat goes over those
 * before it. */
static void make_pipeline(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    const VkPipelineShaderStageCreateInfo stages[2] = {
        make_stage(device, VK_SHADER_STAGE_VERTEX_BIT, vertex_code, sizeof vertex_code),
        make_stage(device, VK_SHADER_STAGE_FRAGMENT_BIT, fragment_code, sizeof fragment_code)};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP};
    const VkViewport viewport = {0, 0, (float)r->size.width, (float)r->size.height, 0, 1};
    const VkRect2D all = {.extent = r->size};
    const VkPipelineViewportStateCreateInfo viewports = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &all};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState over = {
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &over};
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
                                               .pColorBlendState = &blend,
                                               .layout = r->layout,
                                               .renderPass = r->pass};
    MUST(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &r->pipeline));
    vkDestroyShaderModule(device, stages[0].module, NULL);
    vkDestroyShaderModule(device, stages[1].module, NULL);
}

static void make_frames(renderer *r)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = r->vulkan.queue_family};
    MUST(vkCreateCommandPool(r->vulkan.device, &pool, NULL, &r->pool));
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->pool,
        .commandBufferCount = IN_FLIGHT};
    MUST(vkAllocateCommandBuffers(r->vulkan.device, &commands, r->commands));
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                     .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    for (int i = 0; i < IN_FLIGHT; i++)
        MUST(vkCreateFence(r->vulkan.device, &fence, NULL, &r->done[i]));
}

/* Draws what the arguments say: 4 vertices an instance, an instance a splat. */
static void draw(const renderer *r, VkCommandBuffer commands, const view *seen,
                 const tml_vulkan_memory *arguments)
{
    const VkClearValue clear = {.color.float32 = {0}};
    const VkRenderPassBeginInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = r->pass,
                                        .framebuffer = r->framebuffer,
                                        .renderArea.extent = r->size,
                                        .clearValueCount = 1,
                                        .pClearValues = &clear};
    vkCmdBeginRenderPass(commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->pipeline);
    vkCmdPushConstants(commands, r->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof *seen, seen);
    vkCmdDrawIndirect(commands, arguments->buffer, arguments->offset, 1, 0);
    vkCmdEndRenderPass(commands);
}

/* The last frame's picture comes to the host. */
static void copy_picture(const renderer *r, VkCommandBuffer commands)
{
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {r->size.width, r->size.height, 1}};
    vkCmdCopyImageToBuffer(commands, r->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, r->picture, 1,
                           &copy);
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &to_host, 0, NULL, 0, NULL);
}

static void destroy_renderer(renderer *r)
{
    const VkDevice device = r->vulkan.device;
    for (int i = 0; i < IN_FLIGHT; i++)
        vkDestroyFence(device, r->done[i], NULL);
    vkDestroyCommandPool(device, r->pool, NULL);
    vkDestroyPipeline(device, r->pipeline, NULL);
    vkDestroyPipelineLayout(device, r->layout, NULL);
    vkDestroyFramebuffer(device, r->framebuffer, NULL);
    vkDestroyRenderPass(device, r->pass, NULL);
    vkDestroyImageView(device, r->image_view, NULL);
    vkDestroyImage(device, r->image, NULL);
    vkDestroyBuffer(device, r->picture, NULL);
    for (int i = 0; i < 2; i++)
        vkFreeMemory(device, r->memory[i], NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(r->vulkan.instance, NULL);
}

#endif
