/* Loads Vulkan at run time, so that one program runs with and without a driver. */
#include "vulkan/vulkan_load.h"

#include <stddef.h>
#include <string.h>

#include "core/platform.h"

#define LOAD(name)                                                                                 \
    fn->name = (PFN_vk##name)get(owner, "vk" #name);                                               \
    if (!fn->name)                                                                                 \
        return "vk" #name;

const char *vk_load_global(vk_functions *fn, PFN_vkGetInstanceProcAddr get)
{
    VkInstance owner = VK_NULL_HANDLE;
    fn->GetInstanceProcAddr = get;
    VK_GLOBAL_FUNCTIONS(LOAD)
    return NULL;
}

const char *vk_load_instance(vk_functions *fn, VkInstance owner)
{
    PFN_vkGetInstanceProcAddr get = fn->GetInstanceProcAddr;
    VK_INSTANCE_FUNCTIONS(LOAD)
#define LOAD_OPTIONAL(name) fn->name = (PFN_vk##name)get(owner, "vk" #name);
    VK_DEBUG_FUNCTIONS(LOAD_OPTIONAL)
#undef LOAD_OPTIONAL
    return NULL;
}

const char *vk_load_device(vk_functions *fn, VkDevice owner)
{
    PFN_vkGetDeviceProcAddr get = fn->GetDeviceProcAddr;
    VK_DEVICE_FUNCTIONS(LOAD)
    return NULL;
}

PFN_vkGetInstanceProcAddr vk_library_open(void **library)
{
    *library = tml_library_open(TML_LIBRARY_VULKAN, NULL, 0);
    if (!*library)
        return NULL;
    /* NVIDIA's driver also implements EGL. The Vulkan loader unloads it with the last VkInstance,
     * and then the process's OpenGL ES contexts are lost (driver 580). So this handle is never
     * closed. */
    (void)tml_library_open(TML_LIBRARY_NVIDIA, NULL, 0);
    void *symbol = tml_library_symbol(*library, "vkGetInstanceProcAddr");
    PFN_vkGetInstanceProcAddr get = NULL;
    memcpy(&get, &symbol, sizeof get); /* ISO C has no cast from a data to a function pointer */
    return get;
}

void vk_library_close(void *library)
{
    if (library)
        tml_library_close(library);
}

const char *vk_result_name(VkResult result)
{
    switch (result) {
#define NAME(code)                                                                                 \
    case code:                                                                                     \
        return #code
        NAME(VK_SUCCESS);
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_INCOMPLETE);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FRAGMENTATION);
        NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
        NAME(VK_ERROR_UNKNOWN);
#undef NAME
    default:
        return "an unknown VkResult";
    }
}
