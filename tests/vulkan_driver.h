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
    const char *failed;   /* the name of the function that failed */
    const char *missing;  /* a function that is not found */
    bool no_addresses;    /* the device lacks bufferDeviceAddress */
    bool no_patience;     /* the device claims forward progress, but waits end early */
    uint32_t looks;       /* for no_patience: how often a workgroup polls a silent tile */
    bool claims_progress; /* the device claims forward progress, and is probed for it */
    uint32_t lanes;       /* claimed subgroup size, without subgroupSizeControl; 0: the real size */
    bool sizes_vary;      /* the device claims several subgroup sizes */
    int live;             /* objects created and not destroyed */
    VkDevice device;      /* the last one in a call of vkGetDeviceProcAddr */
    /* Optional, in place of fail_at: returns the result of each call that can fail; VK_SUCCESS: the
     * real function is called. */
    VkResult (*ask)(const char *name);
    void (*dispatched)(void); /* optional: called after each dispatch that is enqueued */
} vulkan_driver;

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name);
PFN_vkGetInstanceProcAddr loader(void);

#endif
