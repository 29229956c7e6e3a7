/* A Vulkan driver that counts and fails on request: functions that stand between the engine and the
 * loader (tml_vulkan_desc.get_instance_proc_addr = get_instance, after driver.real_instance =
 * loader()). Of one program, like test.h. */
#ifndef VULKAN_DRIVER_H
#define VULKAN_DRIVER_H

#include <string.h>

#include <trommel/vulkan.h>

#include "gpu/look_back.h"
#include "vulkan/vulkan_load.h"

static struct {
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
} driver;

static VkResult failure_of(const char *name)
{
    if (driver.ask)
        return driver.ask(name);
    if (++driver.calls != driver.fail_at)
        return VK_SUCCESS;
    driver.failed = name;
    return driver.failure;
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
        driver.live += (creates) && result == VK_SUCCESS;                                          \
        return result;                                                                             \
    }
#define WRAP_DESTROYER(name, parameters, arguments, what)                                          \
    static PFN_vk##name real_##name;                                                               \
    static VKAPI_ATTR void VKAPI_CALL wrap_##name parameters                                       \
    {                                                                                              \
        driver.live -= (what) != VK_NULL_HANDLE;                                                   \
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
        if (driver.no_addresses &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            ((VkPhysicalDeviceVulkan12Features *)(void *)next)->bufferDeviceAddress = VK_FALSE;
        if (driver.lanes &&
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
        if ((driver.no_patience || driver.claims_progress) &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES)
            ((VkPhysicalDeviceVulkan12Properties *)(void *)next)->driverID =
                VK_DRIVER_ID_NVIDIA_PROPRIETARY;
        if (driver.lanes && next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)
            ((VkPhysicalDeviceVulkan11Properties *)(void *)next)->subgroupSize = driver.lanes;
        if (driver.sizes_vary &&
            next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)
            ((VkPhysicalDeviceSubgroupSizeControlProperties *)(void *)next)->maxSubgroupSize *= 2;
    }
}

static PFN_vkCmdDispatch real_CmdDispatch;
static VKAPI_ATTR void VKAPI_CALL wrap_CmdDispatch(VkCommandBuffer a, uint32_t b, uint32_t c,
                                                   uint32_t d)
{
    real_CmdDispatch(a, b, c, d);
    if (driver.dispatched)
        driver.dispatched();
}

static PFN_vkCmdDispatchIndirect real_CmdDispatchIndirect;
static VKAPI_ATTR void VKAPI_CALL wrap_CmdDispatchIndirect(VkCommandBuffer a, VkBuffer b,
                                                           VkDeviceSize c)
{
    real_CmdDispatchIndirect(a, b, c);
    if (driver.dispatched)
        driver.dispatched();
}

/* Where a workgroup looks for long at a silent tile (gpu/look_back.h), it looks driver.looks
 * times. */
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
            *value = driver.looks;
    }
    constants.pData = values;
    info.stage.pSpecializationInfo = &constants;
    return patient_CreateComputePipelines(a, b, c, &info, e, f);
}

static PFN_vkVoidFunction wrapped(PFN_vkVoidFunction real, const char *name)
{
    if (!real || (driver.missing && strcmp(name, driver.missing) == 0))
        return NULL;
    if (driver.no_patience && strcmp(name, "vkCreateComputePipelines") == 0) {
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
    driver.device = device;
    return wrapped(driver.real_device(device, name), name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction real = driver.real_instance(instance, name);
    if (real && strcmp(name, "vkGetDeviceProcAddr") == 0) {
        driver.real_device = (PFN_vkGetDeviceProcAddr)real;
        return (PFN_vkVoidFunction)get_device;
    }
    return wrapped(real, name);
}

static PFN_vkGetInstanceProcAddr loader(void)
{
    static void *library;
    static PFN_vkGetInstanceProcAddr get;
    if (!library)
        get = vk_library_open(&library);
    return get;
}

#endif
