/* A Vulkan program whose device the library uses. A validation layer checks both. Include after
 * test.h; without test.h nothing is checked. */
#ifndef VULKAN_HOST_H
#define VULKAN_HOST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <trommel/vulkan.h>

#include "vulkan/vulkan_load.h"

extern struct host_state {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    bool has_size_control;
    VkDebugUtilsMessengerEXT messenger;
    char message[512]; /* the validation layer's first one */
} host;

#define VK(name) ((PFN_vk##name)host.get(host.instance, "vk" #name))

/* Opens a device, with the features that host_desc states.
 * name      begins the device's name; "": the first device
 * validate  by the Khronos layer, which also checks synchronisation */
bool host_open(const char *name, bool validate);
void host_close(void);

#ifdef TEST_H
/* Opens the first device, with a validation layer if there is one; false: there is no device. */
bool host_open_any(void);

static inline tml_vulkan_desc host_desc(void)
{
    return (tml_vulkan_desc){.get_instance_proc_addr = host.get,
                             .instance = host.instance,
                             .physical_device = host.physical,
                             .device = host.device,
                             .queue = host.queue,
                             .queue_family = host.family,
                             .has_size_control = host.has_size_control};
}

/* Opens a context on the host's device; NULL: there is no device. */
tml_context *host_lend(tml_allocator allocator);
void host_take_back(tml_context *tml);
VkCommandBuffer host_commands(void);

static inline void host_begin(VkCommandBuffer commands)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(VK(BeginCommandBuffer)(commands, &begin) == VK_SUCCESS);
}

/* Submits recorded commands, and waits. */
void host_submit(VkCommandBuffer commands);
#endif

#endif
