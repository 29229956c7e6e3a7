/* The host program of test_random on Vulkan: its pipelines, and the buffers that it lends. */
#include "random_run.h"

#ifdef TML_VULKAN
/* Compiling takes most of the time on software drivers, and every program opens contexts: pipelines
 * that were made once serve all contexts of the process. A layout that is defined alike is
 * compatible. */
static struct {
    PFN_vkGetDeviceProcAddr get;
    PFN_vkCreateShaderModule create_module;
    PFN_vkCreateComputePipelines create;
    struct {
        VkShaderModule handle;
        uint64_t hash;
    } modules[64];
    uint32_t next_module;
    struct {
        uint64_t hash;
        VkPipeline handle;
    } pipelines[2048];
    uint32_t count;
} kept;

/* FNV-1a, eight bytes at once. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    for (uint64_t x; size > 0; size -= size < 8 ? size : 8, p += 8) {
        x = 0;
        memcpy(&x, p, size < 8 ? size : 8);
        hash = (hash ^ x) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static VKAPI_ATTR VkResult VKAPI_CALL keep_module(VkDevice device,
                                                  const VkShaderModuleCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkShaderModule *out)
{
    VkResult result = kept.create_module(device, info, allocator, out);
    uint32_t at = kept.next_module++ % 64;
    kept.modules[at].handle = *out;
    kept.modules[at].hash = hash_bytes(1, info->pCode, info->codeSize);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL keep_pipeline(VkDevice device, VkPipelineCache cache,
                                                    uint32_t count,
                                                    const VkComputePipelineCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkPipeline *out)
{
    const VkSpecializationInfo *constants = info->stage.pSpecializationInfo;
    uint64_t hash = info->stage.pNext != NULL;
    uint32_t newest = 64;
    for (uint32_t i = 0; i < 64; i++)
        if (kept.modules[(kept.next_module + i) % 64].handle == info->stage.module)
            newest = (kept.next_module + i) % 64;
    if (newest == 64 || count != 1 || kept.count == 2048)
        return kept.create(device, cache, count, info, allocator, out);
    hash = hash_bytes(hash, &kept.modules[newest].hash, sizeof(uint64_t));
    if (constants)
        hash = hash_bytes(hash, constants->pData, constants->dataSize);
    for (uint32_t i = 0; i < kept.count; i++)
        if (kept.pipelines[i].hash == hash) {
            *out = kept.pipelines[i].handle;
            return VK_SUCCESS;
        }
    VkResult result = kept.create(device, cache, count, info, allocator, out);
    if (result == VK_SUCCESS) {
        kept.pipelines[kept.count].hash = hash;
        kept.pipelines[kept.count++].handle = *out;
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL leave_pipeline(VkDevice device, VkPipeline pipeline,
                                                 const VkAllocationCallbacks *allocator)
{
    (void)device;
    (void)pipeline;
    (void)allocator;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    PFN_vkVoidFunction real = kept.get(device, name);
    if (strcmp(name, "vkCreateShaderModule") == 0) {
        kept.create_module = (PFN_vkCreateShaderModule)real;
        return (PFN_vkVoidFunction)keep_module;
    }
    if (strcmp(name, "vkCreateComputePipelines") == 0) {
        kept.create = (PFN_vkCreateComputePipelines)real;
        return (PFN_vkVoidFunction)keep_pipeline;
    }
    return strcmp(name, "vkDestroyPipeline") == 0 ? (PFN_vkVoidFunction)leave_pipeline : real;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL random_get_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction real = host.get(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return real;
    kept.get = (PFN_vkGetDeviceProcAddr)real;
    return (PFN_vkVoidFunction)get_device;
}

void random_host_close(void)
{
    for (uint32_t i = 0; i < kept.count; i++)
        VK(DestroyPipeline)(host.device, kept.pipelines[i].handle, NULL);
    host_close();
}

uint8_t *random_host_lend(array *a, size_t size)
{
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    if (VK(CreateBuffer)(host.device, &buffer, NULL, &a->lent_buffer) != VK_SUCCESS)
        return NULL;
    VkPhysicalDeviceMemoryProperties types;
    VkMemoryRequirements needs;
    VK(GetPhysicalDeviceMemoryProperties)(host.physical, &types);
    VK(GetBufferMemoryRequirements)(host.device, a->lent_buffer, &needs);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < types.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) ||
            (types.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = type};
    void *mapped = NULL;
    if (VK(AllocateMemory)(host.device, &memory, NULL, &a->lent_memory) != VK_SUCCESS ||
        VK(BindBufferMemory)(host.device, a->lent_buffer, a->lent_memory, 0) != VK_SUCCESS ||
        VK(MapMemory)(host.device, a->lent_memory, 0, VK_WHOLE_SIZE, 0, &mapped) != VK_SUCCESS)
        return NULL;
    return mapped;
}

void random_host_take_back(array *a)
{
    VK(DestroyBuffer)(host.device, a->lent_buffer, NULL);
    VK(FreeMemory)(host.device, a->lent_memory, NULL);
    a->lent_buffer = VK_NULL_HANDLE;
    a->lent_memory = VK_NULL_HANDLE;
}
#endif
