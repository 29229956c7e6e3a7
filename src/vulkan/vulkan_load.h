/* The Vulkan functions that the engine calls, loaded at run time: one X per function, in lists by
 * the level at which they are loaded. A missing loader or function gives an error status, never a
 * crash. */
#ifndef TML_VULKAN_LOAD_H
#define TML_VULKAN_LOAD_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#define VK_GLOBAL_FUNCTIONS(X)                                                                     \
    X(CreateInstance) X(EnumerateInstanceVersion) X(EnumerateInstanceExtensionProperties)

#define VK_INSTANCE_FUNCTIONS(X)                                                                   \
    X(DestroyInstance)                                                                             \
    X(EnumeratePhysicalDevices)                                                                    \
    X(GetPhysicalDeviceProperties2)                                                                \
    X(GetPhysicalDeviceFeatures2)                                                                  \
    X(GetPhysicalDeviceFormatProperties)                                                           \
    X(GetPhysicalDeviceMemoryProperties2)                                                          \
    X(GetPhysicalDeviceQueueFamilyProperties)                                                      \
    X(EnumerateDeviceExtensionProperties)                                                          \
    X(CreateDevice)                                                                                \
    X(GetDeviceProcAddr)

#define VK_DEVICE_FUNCTIONS(X)                                                                     \
    X(DestroyDevice)                                                                               \
    X(GetDeviceQueue)                                                                              \
    X(QueueSubmit)                                                                                 \
    X(AllocateMemory)                                                                              \
    X(FreeMemory)                                                                                  \
    X(MapMemory)                                                                                   \
    X(CreateBuffer)                                                                                \
    X(DestroyBuffer)                                                                               \
    X(GetBufferMemoryRequirements)                                                                 \
    X(BindBufferMemory)                                                                            \
    X(GetBufferDeviceAddress)                                                                      \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(CreateFence)                                                                                 \
    X(DestroyFence)                                                                                \
    X(GetFenceStatus)                                                                              \
    X(WaitForFences)                                                                               \
    X(ResetFences)                                                                                 \
    X(CreateShaderModule)                                                                          \
    X(DestroyShaderModule)                                                                         \
    X(CreateDescriptorSetLayout)                                                                   \
    X(DestroyDescriptorSetLayout)                                                                  \
    X(CreateDescriptorPool)                                                                        \
    X(DestroyDescriptorPool)                                                                       \
    X(AllocateDescriptorSets)                                                                      \
    X(UpdateDescriptorSets)                                                                        \
    X(CreatePipelineLayout)                                                                        \
    X(DestroyPipelineLayout)                                                                       \
    X(CreateComputePipelines)                                                                      \
    X(DestroyPipeline)                                                                             \
    X(CreatePipelineCache)                                                                         \
    X(DestroyPipelineCache)                                                                        \
    X(GetPipelineCacheData)                                                                        \
    X(MergePipelineCaches)                                                                         \
    X(CreateQueryPool)                                                                             \
    X(DestroyQueryPool)                                                                            \
    X(GetQueryPoolResults)                                                                         \
    X(CmdBindDescriptorSets)                                                                       \
    X(CmdBindPipeline)                                                                             \
    X(CmdPushConstants)                                                                            \
    X(CmdDispatch)                                                                                 \
    X(CmdDispatchIndirect)                                                                         \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdCopyBuffer)                                                                               \
    X(CmdResetQueryPool)                                                                           \
    X(CmdWriteTimestamp)

/* From VK_EXT_debug_utils; NULL if the instance lacks it. */
#define VK_DEBUG_FUNCTIONS(X)                                                                      \
    X(SetDebugUtilsObjectNameEXT)                                                                  \
    X(CmdBeginDebugUtilsLabelEXT)                                                                  \
    X(CmdEndDebugUtilsLabelEXT)

typedef struct vk_functions {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define VK_FUNCTION(name) PFN_vk##name name;
    VK_GLOBAL_FUNCTIONS(VK_FUNCTION)
    VK_INSTANCE_FUNCTIONS(VK_FUNCTION)
    VK_DEVICE_FUNCTIONS(VK_FUNCTION)
    VK_DEBUG_FUNCTIONS(VK_FUNCTION)
#undef VK_FUNCTION
} vk_functions;

/* Each returns the name of the first missing function, or NULL if there is none. */
const char *vk_load_global(vk_functions *fn, PFN_vkGetInstanceProcAddr get);
const char *vk_load_instance(vk_functions *fn, VkInstance instance);
const char *vk_load_device(vk_functions *fn, VkDevice device);

/* Opens the Vulkan loader. *library: to be passed to vk_library_close. Returns NULL if there is no
 * loader. */
PFN_vkGetInstanceProcAddr vk_library_open(void **library);
void vk_library_close(void *library);

/* A name such as "VK_ERROR_DEVICE_LOST"; never NULL. */
const char *vk_result_name(VkResult result);

#endif
