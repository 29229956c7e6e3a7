/* A Vulkan driver that counts and fails on request: functions that stand between the engine and the
 * loader (tml_vulkan_desc.get_instance_proc_addr = get_instance, after
 * vulkan_driver.real_instance = loader()). */
#ifndef VULKAN_DRIVER_H
#define VULKAN_DRIVER_H

#include <string.h>

#include <trommel/vulkan.h>

#include "gpu/look_back.h"
#include "vulkan/vulkan_load.h"

extern struct vulkan_driver {
    PFN_vkGetInstanceProcAddr real_instance;
    PFN_vkGetDeviceProcAddr real_device;
    uint32_t calls;   /* of functions that can fail, since reset */
    uint32_t fail_at; /* the call that fails, from 1; 0: none */
    VkResult failure;
    const char *failed;   /* the name of the function that did */
    const char *missing;  /* a function that is not there */
    bool no_addresses;    /* the device lacks bufferDeviceAddress */
    bool no_patience;     /* it says that it keeps workgroups moving, but nobody waits for any */
    uint32_t looks;       /* then: how often a tile looks at a silent one */
    bool claims_progress; /* it says that, and is asked to show it */
    uint32_t lanes;  /* what it says of its subgroups' size, which nobody can ask for; 0: truth */
    bool sizes_vary; /* it says that subgroups are of several sizes */
    int live;        /* objects created and not destroyed */
    VkDevice device; /* the last one that functions were asked of */
    /* Optional: says of each call that can fail, in place of fail_at, what it returns at once;
     * VK_SUCCESS: the real one is called. */
    VkResult (*ask)(const char *name);
    void (*dispatched)(void); /* optional: called after each dispatch that is enqueued */
} vulkan_driver;

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name);
PFN_vkGetInstanceProcAddr loader(void);

#endif
