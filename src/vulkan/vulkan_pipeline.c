/* Pipelines: one pipeline layout, with 128 bytes of push constants and a sampled image; and a hash
 * table of pipelines by module and specialization constants. */
#include "core/call.h"
#include "vulkan/vulkan_device.h"
#include "vulkan/vulkan_spirv.h"

#include <string.h>

enum { PUSH_SIZE = 128, FIRST_CAPACITY = 64 };

/* Bytes of VkPipelineCacheHeaderVersionOne, with which the data of a pipeline cache begins. It
 * identifies the device and the driver's version. */
enum { CACHE_HEADER = 32 };

static VkResult cache_create(const vk_device *device, const void *data, size_t size,
                             VkPipelineCache *out)
{
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = size,
                                            .pInitialData = data};
    return device->fn.CreatePipelineCache(device->device, &info, NULL, out);
}

/* The cache header of this device, computed from its properties, since NVIDIA's driver returns a
 * cache's data only as a whole. */
static void own_header(const vk_device *device, unsigned char out[CACHE_HEADER])
{
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    device->fn.GetPhysicalDeviceProperties2(device->physical, &all);
    const uint32_t words[4] = {CACHE_HEADER, VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
                               all.properties.vendorID, all.properties.deviceID};
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)(words[i / 4] >> 8 * (i % 4)); /* least significant byte first */
    memcpy(out + 16, all.properties.pipelineCacheUUID, VK_UUID_SIZE);
}

/* Skips data without the header of this device and driver. Drivers should do so themselves, but
 * some crash. */
static VkResult cache_add(const vk_device *device, const void *data, size_t size)
{
    unsigned char own[CACHE_HEADER];
    VkPipelineCache added;
    own_header(device, own);
    if (size < CACHE_HEADER || memcmp(own, data, CACHE_HEADER) != 0)
        return VK_SUCCESS;
    VkResult result = cache_create(device, data, size, &added);
    if (result != VK_SUCCESS)
        return result;
    result = device->fn.MergePipelineCaches(device->device, device->cache, 1, &added);
    device->fn.DestroyPipelineCache(device->device, added, NULL);
    return result;
}

tml_status vk_pipelines_open(tml_context *tml, const tml_vulkan_desc *desc)
{
    vk_device *device = vk_device_of(tml);
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSH_SIZE};
    VkResult result = vk_sampled_open(device);
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, "tml_open: vkCreateDescriptorSetLayout");
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &device->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    result = device->fn.CreatePipelineLayout(device->device, &layout, NULL, &device->layout);
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, "tml_open: vkCreatePipelineLayout");
    device->is_cache_lent = desc->pipeline_cache != VK_NULL_HANDLE;
    device->cache = desc->pipeline_cache;
    if (!device->is_cache_lent)
        result = cache_create(device, NULL, 0, &device->cache);
    return result == VK_SUCCESS ? TML_OK
                                : vk_failed(tml, result, "tml_open: vkCreatePipelineCache");
}

void vk_pipelines_close(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    for (uint32_t i = 0; i < device->pipeline_capacity; i++)
        if (device->pipelines[i].pipeline)
            device->fn.DestroyPipeline(device->device, device->pipelines[i].pipeline, NULL);
    tml_free(tml, device->pipelines, device->pipeline_capacity * sizeof *device->pipelines);
    device->pipelines = NULL;
    device->pipeline_capacity = 0;
    if (device->cache && !device->is_cache_lent)
        device->fn.DestroyPipelineCache(device->device, device->cache, NULL);
    if (device->layout)
        device->fn.DestroyPipelineLayout(device->device, device->layout, NULL);
    vk_sampled_close(tml);
}

tml_status vk_cache_get(tml_context *tml, void *data, size_t *size)
{
    const vk_device *device = vk_device_of(tml);
    const size_t room = data ? *size : 0;
    VkResult result = device->fn.GetPipelineCacheData(device->device, device->cache, size, data);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return vk_failed(tml, result, "tml_cache: vkGetPipelineCacheData");
    if (room >= CACHE_HEADER && *size < CACHE_HEADER) {
        own_header(device, data);
        *size = CACHE_HEADER;
    }
    return TML_OK;
}

tml_status vk_cache_add(tml_context *tml, const void *data, size_t size)
{
    VkResult result = cache_add(vk_device_of(tml), data, size);
    return result == VK_SUCCESS ? TML_OK : vk_failed(tml, result, "tml_cache_add");
}

/* ---- pipeline table -------------------------------------------------------------------------- */

static void add_spec(vk_specs *specs, uint32_t id, uint32_t value)
{
    specs->ids[specs->count] = id;
    specs->values[specs->count++] = value;
}

static void find_specs(const tml_context *tml, const vk_dispatch_info *info, vk_specs *out)
{
    const vk_caps *caps = &vk_device_of(tml)->caps;
    out->count = 0;
    for (uint32_t i = 0; i < info->spec_count; i++)
        add_spec(out, i, info->specs[i]);
    add_spec(out, VK_SPEC_SUBGROUP, caps->subgroup);
    if (info->look == LOOK_NONE)
        return;
    const look_policy policy = look_policy_of(
        info->look, &(look_device){.makes_progress = caps->forward_progress,
                                   .begins_in_order = caps->begins_in_order,
                                   .has_late_tiles = tml->testing.vulkan_late_tiles});
    add_spec(out, LOOK_SPEC_LOOKS, policy.looks);
    add_spec(out, LOOK_SPEC_GIVES_UP, policy.gives_up);
    add_spec(out, LOOK_SPEC_TICKETS, policy.takes_tickets);
    add_spec(out, LOOK_SPEC_LATE, policy.late);
}

static uint32_t hash_of(const vk_module *module, const vk_specs *specs)
{
    uint64_t hash = (uintptr_t)module >> 4;
    for (uint32_t i = 0; i < specs->count; i++)
        hash = (hash ^ specs->values[i]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 32);
}

static bool specs_equal(const vk_specs *a, const vk_specs *b)
{
    return a->count == b->count && !memcmp(a->ids, b->ids, a->count * sizeof *a->ids) &&
           !memcmp(a->values, b->values, a->count * sizeof *a->values);
}

/* The entry with these constants, or else the empty entry for them. */
static vk_pipeline *vk_pipeline_find(const vk_device *device, const vk_module *module,
                                     const vk_specs *specs)
{
    uint32_t mask = device->pipeline_capacity - 1;
    for (uint32_t i = hash_of(module, specs) & mask;; i = (i + 1) & mask) {
        vk_pipeline *entry = &device->pipelines[i];
        if (!entry->module || (entry->module == module && specs_equal(&entry->specs, specs)))
            return entry;
    }
}

static bool table_grow(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    uint32_t old_capacity = device->pipeline_capacity;
    uint32_t capacity = old_capacity ? 2 * old_capacity : FIRST_CAPACITY;
    vk_pipeline *old = device->pipelines;
    vk_pipeline *pipelines = tml_alloc(tml, capacity * sizeof *pipelines);
    if (!pipelines)
        return false;
    memset(pipelines, 0, capacity * sizeof *pipelines);
    device->pipelines = pipelines;
    device->pipeline_capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].module)
            *vk_pipeline_find(device, old[i].module, &old[i].specs) = old[i];
    tml_free(tml, old, old_capacity * sizeof *old);
    return true;
}

/* Creates a shader module from SPIR-V, packed or not. */
static tml_status module_create(tml_context *tml, const vk_module *from, VkShaderModule *out)
{
    vk_device *device = vk_device_of(tml);
    VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = from->size,
                                     .pCode = from->code};
    struct {
        spirv_model model;
        uint32_t words[];
    } *unpacked = NULL;
    size_t size = 0;
    if (from->size >= sizeof *from->code && from->code[0] == PACKED_SPIRV) {
        code.codeSize = vk_spirv_words(from->code, from->size) * sizeof *from->code;
        size = sizeof *unpacked + code.codeSize;
        unpacked = tml_alloc(tml, size);
        if (!unpacked)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes of SPIR-V",
                             from->name, code.codeSize);
        code.pCode = unpacked->words;
        if (!code.codeSize || !vk_spirv_unpack(from->code, &unpacked->model, unpacked->words)) {
            tml_free(tml, unpacked, size);
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: its SPIR-V is damaged; build it again (trommel_add_kernels)",
                             from->name);
        }
    }
    VkResult result = device->fn.CreateShaderModule(device->device, &code, NULL, out);
    tml_free(tml, unpacked, size);
    return result == VK_SUCCESS ? TML_OK : vk_failed(tml, result, from->name);
}

static tml_status create(tml_context *tml, const vk_module *from, const vk_specs *specs,
                         VkPipeline *out)
{
    vk_device *device = vk_device_of(tml);
    VkShaderModule module;
    tml_status status = module_create(tml, from, &module);
    if (status)
        return status;

    VkSpecializationMapEntry entries[VK_SPECS_ALL];
    for (uint32_t i = 0; i < specs->count; i++)
        entries[i] = (VkSpecializationMapEntry){specs->ids[i], i * (uint32_t)sizeof *specs->values,
                                                sizeof *specs->values};
    const VkSpecializationInfo constants = {.mapEntryCount = specs->count,
                                            .pMapEntries = entries,
                                            .dataSize = specs->count * sizeof *specs->values,
                                            .pData = specs->values};
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = device->caps.subgroup};
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = device->has_size_control ? &subgroup : NULL,
                  .flags = device->has_size_control
                               ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT
                               : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = device->layout};
    VkResult result =
        device->fn.CreateComputePipelines(device->device, device->cache, 1, &pipeline, NULL, out);
    device->fn.DestroyShaderModule(device->device, module, NULL);
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, from->name);
    vk_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)*out, from->name);
    return TML_OK;
}

tml_status vk_pipeline_get(tml_context *tml, const vk_dispatch_info *info, VkPipeline *out)
{
    vk_device *device = vk_device_of(tml);
    if (2 * device->pipeline_count >= device->pipeline_capacity && !table_grow(tml))
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for the table of pipelines",
                         info->module->name);
    vk_specs specs;
    find_specs(tml, info, &specs);
    vk_pipeline *entry = vk_pipeline_find(device, info->module, &specs);
    if (!entry->module) {
        VkPipeline pipeline = VK_NULL_HANDLE;
        tml_status status = create(tml, info->module, &specs, &pipeline);
        if (status != TML_OK)
            return status;
        *entry = (vk_pipeline){.module = info->module, .specs = specs, .pipeline = pipeline};
        device->pipeline_count++;
    }
    *out = entry->pipeline;
    return TML_OK;
}
