/* Images of a Vulkan program, for tests: filled from the host, and read by a shader. Include after
 * vulkan_host.h. */
#ifndef VULKAN_IMAGES_H
#define VULKAN_IMAGES_H

typedef struct host_image {
    VkFormat format;
    uint32_t width, height;
    VkImage image;
    VkImageView view;
    VkDeviceMemory memory;
} host_image;

typedef struct host_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *mapped;
} host_memory;

host_memory host_memory_create(VkDeviceSize size);

static inline void host_memory_destroy(host_memory *m)
{
    VK(DestroyBuffer)(host.device, m->buffer, NULL);
    VK(FreeMemory)(host.device, m->memory, NULL);
}

host_image host_image_create(VkFormat format, uint32_t width, uint32_t height);
void host_image_destroy(host_image *i);

/* Records a copy of texels to an image, which ends in layout. */
void host_image_fill(VkCommandBuffer commands, const host_image *i, const host_memory *texels,
                     VkImageLayout layout);

/* Reads an image by texelFetch in a shader of the test, without the library. layout: the image's.
 * Returns: width * height * 4 floats, which the caller frees. */
float *host_image_floats(const host_image *i, VkImageLayout layout);

#endif
