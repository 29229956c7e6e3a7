/* Images of a Vulkan program, for tests. */
#include "test.h"

#include "vulkan_host.h"

#include "vulkan_images.h"

static uint32_t host_memory_type(uint32_t bits, VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties types;
    VK(GetPhysicalDeviceMemoryProperties)(host.physical, &types);
    uint32_t type = 0;
    while (!(bits >> type & 1) || (types.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    return type;
}

host_memory host_memory_create(VkDeviceSize size)
{
    host_memory out = {0};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    CHECK(VK(CreateBuffer)(host.device, &info, NULL, &out.buffer) == VK_SUCCESS);
    VkMemoryRequirements needs;
    VK(GetBufferMemoryRequirements)(host.device, out.buffer, &needs);
    const VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex =
            host_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                       VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
    CHECK(VK(AllocateMemory)(host.device, &memory, NULL, &out.memory) == VK_SUCCESS);
    CHECK(VK(BindBufferMemory)(host.device, out.buffer, out.memory, 0) == VK_SUCCESS);
    CHECK(VK(MapMemory)(host.device, out.memory, 0, VK_WHOLE_SIZE, 0, &out.mapped) == VK_SUCCESS);
    return out;
}

static const VkImageSubresourceRange host_colour = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
static const VkImageSubresourceLayers host_layer = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};

host_image host_image_create(VkFormat format, uint32_t width, uint32_t height)
{
    host_image out = {.format = format, .width = width, .height = height};
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {width, height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    CHECK(VK(CreateImage)(host.device, &info, NULL, &out.image) == VK_SUCCESS);
    VkMemoryRequirements needs;
    VK(GetImageMemoryRequirements)(host.device, out.image, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex =
                                             host_memory_type(needs.memoryTypeBits, 0)};
    CHECK(VK(AllocateMemory)(host.device, &memory, NULL, &out.memory) == VK_SUCCESS);
    CHECK(VK(BindImageMemory)(host.device, out.image, out.memory, 0) == VK_SUCCESS);
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = out.image,
                                        .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                        .format = format,
                                        .subresourceRange = host_colour};
    CHECK(VK(CreateImageView)(host.device, &view, NULL, &out.view) == VK_SUCCESS);
    return out;
}

void host_image_destroy(host_image *i)
{
    VK(DestroyImageView)(host.device, i->view, NULL);
    VK(DestroyImage)(host.device, i->image, NULL);
    VK(FreeMemory)(host.device, i->memory, NULL);
}

/* Changes the layout, after all earlier commands and before all later ones. */
static void host_turn(VkCommandBuffer commands, const host_image *i, VkImageLayout from,
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
                                          .image = i->image,
                                          .subresourceRange = host_colour};
    VK(CmdPipelineBarrier)
    (commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL,
     0, NULL, 1, &barrier);
}

void host_image_fill(VkCommandBuffer commands, const host_image *i, const host_memory *texels,
                     VkImageLayout layout)
{
    const VkBufferImageCopy copy = {.imageSubresource = host_layer,
                                    .imageExtent = {i->width, i->height, 1}};
    host_turn(commands, i, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    VK(CmdCopyBufferToImage)
    (commands, texels->buffer, i->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    host_turn(commands, i, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, layout);
}

/* A pipeline of texels.comp, and its descriptor set of an image and a buffer. */
typedef struct host_fetch {
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkPipelineLayout layout;
    VkShaderModule module;
    VkPipeline pipeline;
    VkDescriptorSet set;
} host_fetch;

static host_fetch host_fetch_create(const host_image *i, VkImageLayout layout,
                                    const host_memory *to)
{
    static const uint32_t code[] = {
#include "texels.inc"
    };
    const VkDescriptorType types[2] = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                       VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {0, types[0], 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, types[1], 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    const VkDescriptorPoolSize sizes[2] = {{types[0], 1}, {types[1], 1}};
    host_fetch f;
    CHECK(!VK(CreateDescriptorSetLayout)(
        host.device,
        &(VkDescriptorSetLayoutCreateInfo){.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 2,
                                           .pBindings = bindings},
        NULL, &f.set_layout));
    CHECK(!VK(CreateDescriptorPool)(
        host.device,
        &(VkDescriptorPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                      .maxSets = 1,
                                      .poolSizeCount = 2,
                                      .pPoolSizes = sizes},
        NULL, &f.pool));
    CHECK(!VK(AllocateDescriptorSets)(
        host.device,
        &(VkDescriptorSetAllocateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = f.pool,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &f.set_layout},
        &f.set));
    CHECK(!VK(CreatePipelineLayout)(
        host.device,
        &(VkPipelineLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                      .setLayoutCount = 1,
                                      .pSetLayouts = &f.set_layout},
        NULL, &f.layout));
    CHECK(!VK(CreateShaderModule)(
        host.device,
        &(VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                    .codeSize = sizeof code,
                                    .pCode = code},
        NULL, &f.module));
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = f.module,
                  .pName = "main"},
        .layout = f.layout};
    CHECK(!VK(CreateComputePipelines)(host.device, VK_NULL_HANDLE, 1, &info, NULL, &f.pipeline));
    const VkDescriptorImageInfo image = {.imageView = i->view, .imageLayout = layout};
    const VkDescriptorBufferInfo buffer = {to->buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet writes[2];
    for (uint32_t b = 0; b < 2; b++)
        writes[b] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = f.set,
                                           .dstBinding = b,
                                           .descriptorCount = 1,
                                           .descriptorType = types[b],
                                           .pImageInfo = &image,
                                           .pBufferInfo = &buffer};
    VK(UpdateDescriptorSets)(host.device, 2, writes, 0, NULL);
    return f;
}

static void host_fetch_destroy(host_fetch *f)
{
    VK(DestroyPipeline)(host.device, f->pipeline, NULL);
    VK(DestroyShaderModule)(host.device, f->module, NULL);
    VK(DestroyPipelineLayout)(host.device, f->layout, NULL);
    VK(DestroyDescriptorPool)(host.device, f->pool, NULL);
    VK(DestroyDescriptorSetLayout)(host.device, f->set_layout, NULL);
}

float *host_image_floats(const host_image *i, VkImageLayout layout)
{
    const size_t texels = (size_t)i->width * i->height, size = texels * 4 * sizeof(float);
    host_memory memory = host_memory_create(size);
    host_fetch fetch = host_fetch_create(i, layout, &memory);
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    VK(CmdBindPipeline)(commands, VK_PIPELINE_BIND_POINT_COMPUTE, fetch.pipeline);
    VK(CmdBindDescriptorSets)
    (commands, VK_PIPELINE_BIND_POINT_COMPUTE, fetch.layout, 0, 1, &fetch.set, 0, NULL);
    VK(CmdDispatch)(commands, (uint32_t)((texels + 63) / 64), 1, 1);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    VK(CmdPipelineBarrier)
    (commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
     NULL, 0, NULL);
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    host_submit(commands);
    float *out = malloc(size);
    memcpy(out, memory.mapped, size);
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    host_fetch_destroy(&fetch);
    host_memory_destroy(&memory);
    return out;
}
