/* A Vulkan driver that counts and fails on request. */
#include "vulkan_driver.h"

struct vulkan_driver vulkan_driver;

static VkResult failure_of(const char *name)
{
    if (vulkan_driver.ask)
        return vulkan_driver.ask(name);
    if (++vulkan_driver.calls != vulkan_driver.fail_at)
        return VK_SUCCESS;
    vulkan_driver.failed = name;
    return vulkan_driver.failure;
}

/* X(name, is it a creation?, parameters, arguments) */
#define FALLIBLE(X)                                                                                \
    X(CreateInstance, 1,                                                                           \
      (const VkInstanceCreateInfo *a, const VkAllocationCallbacks *b, VkInstance *c), (a, b, c))   \
    X(EnumerateInstanceVersion, 0, (uint32_t * a), (a))                                            \
    X(EnumeratePhysicalDevices, 0, (VkInstance a, uint32_t * b, VkPhysicalDevice * c), (a, b, c))  \
    X(EnumerateDeviceExtensionProperties, 0,                                                       \
      (VkPhysicalDevice a, const char *b, uint32_t *c, VkExtensionProperties *d), (a, b, c, d))    \
    X(CreateDevice, 1,                                                                             \
      (VkPhysicalDevice a, const VkDeviceCreateInfo *b, const VkAllocationCallbacks *c,            \
       VkDevice *d),                                                                               \
      (a, b, c, d))                                                                                \
    X(AllocateMemory, 1,                                                                           \
      (VkDevice a, const VkMemoryAllocateInfo *b, const VkAllocationCallbacks *c,                  \
       VkDeviceMemory *d),                                                                         \
      (a, b, c, d))                                                                                \
    X(MapMemory, 0,                                                                                \
      (VkDevice a, VkDeviceMemory b, VkDeviceSize c, VkDeviceSize d, VkMemoryMapFlags e,           \
       void **f),                                                                                  \
      (a, b, c, d, e, f))                                                                          \
    X(CreateBuffer, 1,                                                                             \
      (VkDevice a, const VkBufferCreateInfo *b, const VkAllocationCallbacks *c, VkBuffer *d),      \
      (a, b, c, d))                                                                                \
    X(BindBufferMemory, 0, (VkDevice a, VkBuffer b, VkDeviceMemory c, VkDeviceSize d),             \
      (a, b, c, d))                                                                                \
    X(CreateCommandPool, 1,                                                                        \
      (VkDevice a, const VkCommandPoolCreateInfo *b, const VkAllocationCallbacks *c,               \
       VkCommandPool *d),                                                                          \
      (a, b, c, d))                                                                                \
    X(AllocateCommandBuffers, 0,                                                                   \
      (VkDevice a, const VkCommandBufferAllocateInfo *b, VkCommandBuffer *c), (a, b, c))           \
    X(BeginCommandBuffer, 0, (VkCommandBuffer a, const VkCommandBufferBeginInfo *b), (a, b))       \
    X(EndCommandBuffer, 0, (VkCommandBuffer a), (a))                                               \
    X(CreateFence, 1,                                                                              \
      (VkDevice a, const VkFenceCreateInfo *b, const VkAllocationCallbacks *c, VkFence *d),        \
      (a, b, c, d))                                                                                \
    X(GetFenceStatus, 0, (VkDevice a, VkFence b), (a, b))                                          \
    X(WaitForFences, 0, (VkDevice a, uint32_t b, const VkFence *c, VkBool32 d, uint64_t e),        \
      (a, b, c, d, e))                                                                             \
    X(ResetFences, 0, (VkDevice a, uint32_t b, const VkFence *c), (a, b, c))                       \
    X(QueueSubmit, 0, (VkQueue a, uint32_t b, const VkSubmitInfo *c, VkFence d), (a, b, c, d))     \
    X(CreateShaderModule, 1,                                                                       \
      (VkDevice a, const VkShaderModuleCreateInfo *b, const VkAllocationCallbacks *c,              \
       VkShaderModule *d),                                                                         \
      (a, b, c, d))                                                                                \
    X(CreateDescriptorSetLayout, 1,                                                                \
      (VkDevice a, const VkDescriptorSetLayoutCreateInfo *b, const VkAllocationCallbacks *c,       \
       VkDescriptorSetLayout *d),                                                                  \
      (a, b, c, d))                                                                                \
    X(CreateDescriptorPool, 1,                                                                     \
      (VkDevice a, const VkDescriptorPoolCreateInfo *b, const VkAllocationCallbacks *c,            \
       VkDescriptorPool *d),                                                                       \
      (a, b, c, d))                                                                                \
    X(AllocateDescriptorSets, 0,                                                                   \
      (VkDevice a, const VkDescriptorSetAllocateInfo *b, VkDescriptorSet *c), (a, b, c))           \
    X(CreatePipelineLayout, 1,                                                                     \
      (VkDevice a, const VkPipelineLayoutCreateInfo *b, const VkAllocationCallbacks *c,            \
       VkPipelineLayout *d),                                                                       \
      (a, b, c, d))                                                                                \
    X(CreatePipelineCache, 1,                                                                      \
      (VkDevice a, const VkPipelineCacheCreateInfo *b, const VkAllocationCallbacks *c,             \
       VkPipelineCache *d),                                                                        \
      (a, b, c, d))                                                                                \
    X(GetPipelineCacheData, 0, (VkDevice a, VkPipelineCache b, size_t * c, void *d), (a, b, c, d)) \
    X(CreateComputePipelines, 1,                                                                   \
      (VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d,            \
       const VkAllocationCallbacks *e, VkPipeline *f),                                             \
      (a, b, c, d, e, f))                                                                          \
    X(CreateQueryPool, 1,                                                                          \
      (VkDevice a, const VkQueryPoolCreateInfo *b, const VkAllocationCallbacks *c,                 \
       VkQueryPool *d),                                                                            \
      (a, b, c, d))                                                                                \
    X(GetQueryPoolResults, 0,                                                                      \
      (VkDevice a, VkQueryPool b, uint32_t c, uint32_t d, size_t e, void *f, VkDeviceSize g,       \
       VkQueryResultFlags h),                                                                      \
      (a, b, c, d, e, f, g, h))

/* X(name, parameters, arguments, what is destroyed) */
#define DESTROYERS(X)                                                                              \
    X(DestroyInstance, (VkInstance a, const VkAllocationCallbacks *b), (a, b), a)                  \
    X(DestroyDevice, (VkDevice a, const VkAllocationCallbacks *b), (a, b), a)                      \
    X(FreeMemory, (VkDevice a, VkDeviceMemory b, const VkAllocationCallbacks *c), (a, b, c), b)    \
    X(DestroyBuffer, (VkDevice a, VkBuffer b, const VkAllocationCallbacks *c), (a, b, c), b)       \
    X(DestroyCommandPool, (VkDevice a, VkCommandPool b, const VkAllocationCallbacks *c),           \
      (a, b, c), b)                                                                                \
    X(DestroyFence, (VkDevice a, VkFence b, const VkAllocationCallbacks *c), (a, b, c), b)         \
    X(DestroyShaderModule, (VkDevice a, VkShaderModule b, const VkAllocationCallbacks *c),         \
      (a, b, c), b)                                                                                \
    X(DestroyDescriptorSetLayout,                                                                  \
      (VkDevice a, VkDescriptorSetLayout b, const VkAllocationCallbacks *c), (a, b, c), b)         \
    X(DestroyDescriptorPool, (VkDevice a, VkDescriptorPool b, const VkAllocationCallbacks *c),     \
      (a, b, c), b)                                                                                \
    X(DestroyPipelineLayout, (VkDevice a, VkPipelineLayout b, const VkAllocationCallbacks *c),     \
      (a, b, c), b)                                                                                \
    X(DestroyPipelineCache, (VkDevice a, VkPipelineCache b, const VkAllocationCallbacks *c),       \
      (a, b, c), b)                                                                                \
    X(DestroyPipeline, (VkDevice a, VkPipeline b, const VkAllocationCallbacks *c), (a, b, c), b)   \
    X(DestroyQueryPool, (VkDevice a, VkQueryPool b, const VkAllocationCallbacks *c), (a, b, c), b)

#define WRAP_FALLIBLE(name, creates, parameters, arguments)                                        \
    static PFN_vk##name real_##name;                                                               \
    static VKAPI_ATTR VkResult VKAPI_CALL wrap_##name parameters                                   \
    {                                                                                              \
        VkResult result = failure_of("vk" #name);                                                  \
        if (result != VK_SUCCESS)                                                                  \
            return result;                                                                         \
        result = real_##name arguments;                                                            \
        vulkan_driver.live += (creates) && result == VK_SUCCESS;                                   \
        return result;                                                                             \
    }
#define WRAP_DESTROYER(name, parameters, arguments, what)                                          \
    static PFN_vk##name real_##name;                                                               \
    static VKAPI_ATTR void VKAPI_CALL wrap_##name parameters                                       \
    {                                                                                              \
        vulkan_driver.live -= (what) != VK_NULL_HANDLE;                                            \
        real_##name arguments;                                                                     \
    }

FALLIBLE(WRAP_FALLIBLE)
DESTROYERS(WRAP_DESTROYER)

static PFN_vkGetPhysicalDeviceFeatures2 real_GetPhysicalDeviceFeatures2;

static VKAPI_ATTR void VKAPI_CALL wrap_GetPhysicalDeviceFeatures2(VkPhysicalDevice a,
                                                                  VkPhysicalDeviceFeatures2 *b)
{
    real_GetPhysicalDeviceFeatures2(a, b);
    for (VkBaseOutStructure *next = b->pNext; next; next = next->pNext) {
        if (vulkan_driver.no_addresses &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            ((VkPhysicalDeviceVulkan12Features *)(void *)next)->bufferDeviceAddress = VK_FALSE;
        if (vulkan_driver.lanes &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES)
            ((VkPhysicalDeviceSubgroupSizeControlFeatures *)(void *)next)->subgroupSizeControl =
                VK_FALSE;
    }
}

static PFN_vkGetPhysicalDeviceProperties2 real_GetPhysicalDeviceProperties2;

static VKAPI_ATTR void VKAPI_CALL wrap_GetPhysicalDeviceProperties2(VkPhysicalDevice a,
                                                                    VkPhysicalDeviceProperties2 *b)
{
    real_GetPhysicalDeviceProperties2(a, b);
    for (VkBaseOutStructure *next = b->pNext; next; next = next->pNext) {
        if ((vulkan_driver.no_patience || vulkan_driver.claims_progress) &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES)
            ((VkPhysicalDeviceVulkan12Properties *)(void *)next)->driverID =
                VK_DRIVER_ID_NVIDIA_PROPRIETARY;
        if (vulkan_driver.lanes &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)
            ((VkPhysicalDeviceVulkan11Properties *)(void *)next)->subgroupSize =
                vulkan_driver.lanes;
        if (vulkan_driver.sizes_vary &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)
            ((VkPhysicalDeviceSubgroupSizeControlProperties *)(void *)next)->maxSubgroupSize *= 2;
    }
}

static PFN_vkCmdDispatch real_CmdDispatch;

static VKAPI_ATTR void VKAPI_CALL wrap_CmdDispatch(VkCommandBuffer a, uint32_t b, uint32_t c,
                                                   uint32_t d)
{
    real_CmdDispatch(a, b, c, d);
    if (vulkan_driver.dispatched)
        vulkan_driver.dispatched();
}

static PFN_vkCmdDispatchIndirect real_CmdDispatchIndirect;

static VKAPI_ATTR void VKAPI_CALL wrap_CmdDispatchIndirect(VkCommandBuffer a, VkBuffer b,
                                                           VkDeviceSize c)
{
    real_CmdDispatchIndirect(a, b, c);
    if (vulkan_driver.dispatched)
        vulkan_driver.dispatched();
}

/* Pipelines that poll a silent tile at least LOOKS_LONG times (gpu/look_back.h) poll it
 * vulkan_driver.looks times. */
static PFN_vkCreateComputePipelines patient_CreateComputePipelines;

static VKAPI_ATTR VkResult VKAPI_CALL impatient_CreateComputePipelines(
    VkDevice a, VkPipelineCache b, uint32_t c, const VkComputePipelineCreateInfo *d,
    const VkAllocationCallbacks *e, VkPipeline *f)
{
    VkComputePipelineCreateInfo info = *d;
    VkSpecializationInfo constants = *info.stage.pSpecializationInfo;
    uint32_t values[16];
    if (c != 1 || constants.dataSize > sizeof values)
        return VK_ERROR_UNKNOWN;
    memcpy(values, constants.pData, constants.dataSize);
    for (uint32_t i = 0; i < constants.mapEntryCount; i++) {
        uint32_t *value = &values[constants.pMapEntries[i].offset / sizeof *values];
        if (constants.pMapEntries[i].constantID == LOOK_SPEC_LOOKS && *value >= LOOKS_LONG)
            *value = vulkan_driver.looks;
    }
    constants.pData = values;
    info.stage.pSpecializationInfo = &constants;
    return patient_CreateComputePipelines(a, b, c, &info, e, f);
}

static PFN_vkVoidFunction wrapped(PFN_vkVoidFunction real, const char *name)
{
    if (!real || (vulkan_driver.missing && strcmp(name, vulkan_driver.missing) == 0))
        return NULL;
    if (vulkan_driver.no_patience && strcmp(name, "vkCreateComputePipelines") == 0) {
        patient_CreateComputePipelines = (PFN_vkCreateComputePipelines)real;
        return (PFN_vkVoidFunction)impatient_CreateComputePipelines;
    }
#define IS_FALLIBLE(f, creates, parameters, arguments) IS_WRAPPED(f)
#define IS_DESTROYER(f, parameters, arguments, what)   IS_WRAPPED(f)
#define IS_WRAPPED(f)                                                                              \
    if (strcmp(name, "vk" #f) == 0) {                                                              \
        real_##f = (PFN_vk##f)real;                                                                \
        return (PFN_vkVoidFunction)wrap_##f;                                                       \
    }
    FALLIBLE(IS_FALLIBLE)
    DESTROYERS(IS_DESTROYER)
    IS_WRAPPED(GetPhysicalDeviceFeatures2)
    IS_WRAPPED(GetPhysicalDeviceProperties2)
    IS_WRAPPED(CmdDispatch)
    IS_WRAPPED(CmdDispatchIndirect)
    return real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    vulkan_driver.device = device;
    return wrapped(vulkan_driver.real_device(device, name), name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction real = vulkan_driver.real_instance(instance, name);
    if (real && strcmp(name, "vkGetDeviceProcAddr") == 0) {
        vulkan_driver.real_device = (PFN_vkGetDeviceProcAddr)real;
        return (PFN_vkVoidFunction)get_device;
    }
    return wrapped(real, name);
}

PFN_vkGetInstanceProcAddr loader(void)
{
    static void *library;
    static PFN_vkGetInstanceProcAddr get;
    if (!library)
        get = vk_library_open(&library);
    return get;
}
