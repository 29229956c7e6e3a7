/* Failures of Vulkan calls as statuses and messages; and object names for debuggers. */
#include "vulkan/vulkan_device.h"

tml_status vk_failed(tml_context *tml, VkResult result, const char *what)
{
    vk_device *device = vk_device_of(tml);
    const char *name = vk_result_name(result);
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: the driver has no host memory (%s)",
                         what, name);
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return tml_error(tml, TML_ERROR_OUT_OF_DEVICE_MEMORY, "%s: %s has no memory left (%s)",
                         what, tml->device.name, name);
    case VK_ERROR_DEVICE_LOST:
        device->is_lost = true;
        return tml_error(tml, TML_ERROR_DEVICE_LOST,
                         "%s: %s is lost (%s); close the context and open another", what,
                         tml->device.name, name);
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return tml_error(tml, TML_ERROR_NO_DEVICE, "%s: the driver refuses (%s)", what, name);
    default:
        return tml_error(tml, TML_ERROR_INTERNAL, "%s: %s", what, name);
    }
}

void vk_name(const vk_device *device, VkObjectType type, uint64_t handle, const char *name)
{
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name};
    if (device->fn.SetDebugUtilsObjectNameEXT)
        (void)device->fn.SetDebugUtilsObjectNameEXT(device->device, &info);
}
