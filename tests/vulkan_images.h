/* Images of a Vulkan program for tests: filled from the host, and fetched from as shaders do;
 * include after vulkan_host.h. */
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

/* Records a copy of texels, and leaves the image in the layout. */
void host_image_fill(VkCommandBuffer commands, const host_image *i, const host_memory *texels,
                     VkImageLayout layout);

/* The image's texels as texelFetch gives them: width * height * 4 floats, on the heap. layout: the
 * image's. By a shader of the test's own: the library has no part in it. */
float *host_image_floats(const host_image *i, VkImageLayout layout);

#endif
