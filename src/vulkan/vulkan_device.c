/* Finds, describes, opens and closes Vulkan devices, and determines the engine's vk_caps. */
#include "vulkan/vulkan_device.h"
#include "core/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VENDOR_INTEL = 0x8086 };
enum { DEVICES_MAX = 16, PASS_ITEMS_LEAST = 1 << 16, PASS_ITEMS_MOST = 1 << 30 };

/* Shaders index a pass by words, or for 8-byte elements by uvec4, with a signed index
 * (common.glsl). */
_Static_assert((uint64_t)PASS_ITEMS_MOST * 8 / 16 <= INT32_MAX,
               "an index of quadruples is no negative");

/* ---- what a physical device offers ----------------------------------------------------------- */

typedef struct physical {
    VkPhysicalDevice handle;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceVulkan11Properties properties11;
    VkPhysicalDeviceVulkan12Properties properties12;
    VkPhysicalDeviceSubgroupSizeControlProperties size_control;
    VkPhysicalDeviceMaintenance4Properties maintenance4; /* zero before Vulkan 1.3 */
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV cores;  /* zero without their extensions */
    VkPhysicalDeviceShaderCorePropertiesAMD cores_amd;
    VkPhysicalDeviceFeatures features;
    bool has_addresses;
    bool has_size_control; /* the feature and the extension, or Vulkan 1.3 */
    uint32_t family;       /* UINT32_MAX: there is no compute queue */
    uint32_t timestamp_bits;
    uint64_t memory;  /* device-local, bytes */
    const char *lack; /* a required feature that is missing, or NULL */
} physical;

/* handle NULL: an extension of instances */
static bool has_extension(const vk_functions *fn, VkPhysicalDevice handle, const char *name)
{
    VkExtensionProperties extensions[512];
    uint32_t count = TML_ARRAY_SIZE(extensions);
    VkResult result = handle
                          ? fn->EnumerateDeviceExtensionProperties(handle, NULL, &count, extensions)
                          : fn->EnumerateInstanceExtensionProperties(NULL, &count, extensions);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(extensions[i].extensionName, name) == 0)
            return true;
    return false;
}

/* Takes the first queue family, from "first" on, that has all needed flags. */
static bool take_family(const vk_functions *fn, VkQueueFlags needed, uint32_t first, physical *p)
{
    VkQueueFamilyProperties families[32];
    uint32_t count; /* queried first: SwiftShader fills an array to its end */
    fn->GetPhysicalDeviceQueueFamilyProperties(p->handle, &count, NULL);
    count = TML_MIN_OF(count, (uint32_t)TML_ARRAY_SIZE(families));
    fn->GetPhysicalDeviceQueueFamilyProperties(p->handle, &count, families);
    for (uint32_t i = first; i < count; i++)
        if ((families[i].queueFlags & needed) == needed) {
            p->family = i;
            p->timestamp_bits = families[i].timestampValidBits;
            return true;
        }
    p->family = UINT32_MAX;
    return false;
}

/* Prefers a family with compute and graphics. An application that shares the device
 * (tml_vulkan_handles) can then draw from its buffers on the same queue, without queue family
 * ownership transfers, and can usually present there. Asynchronous compute requires a second queue,
 * which the application creates and passes in desc.vulkan. */
static void choose_family(const vk_functions *fn, physical *p)
{
    if (!take_family(fn, VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT, 0, p))
        (void)take_family(fn, VK_QUEUE_COMPUTE_BIT, 0, p);
}

static const char *find_lack(const physical *p)
{
    const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
        VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    if (p->properties.apiVersion < VK_API_VERSION_1_2)
        return "Vulkan 1.2";
    if (!p->has_addresses)
        return "bufferDeviceAddress";
    if ((p->properties11.subgroupSupportedOperations & needed) != needed ||
        !(p->properties11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT))
        return "subgroup operations in compute shaders";
    if (p->properties11.subgroupSize < 4 || p->properties11.subgroupSize > 128)
        return "subgroups of 4 to 128 invocations";
    if (p->properties.limits.maxComputeWorkGroupInvocations < VK_GROUP ||
        p->properties.limits.maxComputeWorkGroupSize[0] < VK_GROUP)
        return "workgroups of 256 invocations";
    if (p->family == UINT32_MAX)
        return "a compute queue";
    return NULL;
}

static void vk_device_describe(const vk_functions *fn, VkPhysicalDevice handle, physical *p)
{
    *p = (physical){.handle = handle};
    p->size_control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
    p->cores.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
    p->cores.pNext = &p->size_control;
    p->cores_amd.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
    p->cores_amd.pNext = &p->cores;
    p->maintenance4 = (VkPhysicalDeviceMaintenance4Properties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES,
        .pNext = &p->cores_amd};
    p->properties12 = (VkPhysicalDeviceVulkan12Properties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
        .pNext = &p->maintenance4};
    p->properties11 = (VkPhysicalDeviceVulkan11Properties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
        .pNext = &p->properties12};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &p->properties11};
    fn->GetPhysicalDeviceProperties2(handle, &properties);
    p->properties = properties.properties;
    if (p->properties.apiVersion < VK_API_VERSION_1_2) {
        p->lack = find_lack(p);
        return;
    }

    VkPhysicalDeviceSubgroupSizeControlFeatures size_control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &size_control};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    fn->GetPhysicalDeviceFeatures2(handle, &features);
    p->features = features.features;
    p->has_addresses = features12.bufferDeviceAddress;
    p->has_size_control =
        size_control.subgroupSizeControl && size_control.computeFullSubgroups &&
        (p->size_control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
        (p->properties.apiVersion >= VK_API_VERSION_1_3 ||
         has_extension(fn, handle, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME));

    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    fn->GetPhysicalDeviceMemoryProperties2(handle, &memory);
    for (uint32_t h = 0; h < memory.memoryProperties.memoryHeapCount; h++)
        if (memory.memoryProperties.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            p->memory += memory.memoryProperties.memoryHeaps[h].size;
    choose_family(fn, p);
    p->lack = find_lack(p);
}

static void fill_info(const physical *p, tml_device_info *out)
{
    *out =
        (tml_device_info){.engine = TML_ENGINE_VULKAN,
                          .memory = p->memory,
                          .is_software = p->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU};
    snprintf(out->name, sizeof out->name, "%.127s", p->properties.deviceName);
    snprintf(out->features, sizeof out->features, "Vulkan %u.%u, %.60s, subgroups of %u%s%s",
             VK_API_VERSION_MAJOR(p->properties.apiVersion),
             VK_API_VERSION_MINOR(p->properties.apiVersion), p->properties12.driverName,
             p->properties11.subgroupSize, p->features.shaderInt64 ? ", int64" : "",
             p->features.shaderFloat64 ? ", float64" : "");
}

/* Sort key: discrete GPUs before integrated ones before virtual ones before software. */
static int rank_of(const physical *p)
{
    switch (p->properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 3;
    default:
        return 2;
    }
}

/* Lists the supported devices, best first. unfit: receives an unsupported device, if there is one;
 * may be NULL. */
static uint32_t list_physical(const vk_functions *fn, VkInstance instance, physical *out,
                              physical *unfit)
{
    VkPhysicalDevice handles[DEVICES_MAX];
    uint32_t count = DEVICES_MAX, usable = 0;
    VkResult result = fn->EnumeratePhysicalDevices(instance, &count, handles);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        physical p;
        vk_device_describe(fn, handles[i], &p);
        if (p.lack && unfit)
            *unfit = p;
        if (p.lack)
            continue;
        uint32_t place = usable++;
        for (; place > 0 && rank_of(&out[place - 1]) > rank_of(&p); place--)
            out[place] = out[place - 1];
        out[place] = p;
    }
    return usable;
}

static VkResult create_instance(vk_functions *fn, VkInstance *out)
{
    uint32_t version = VK_API_VERSION_1_0;
    VkResult result = fn->EnumerateInstanceVersion(&version);
    if (result != VK_SUCCESS)
        return result;
    if (version < VK_API_VERSION_1_2)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pEngineName = "trommel",
                                           .apiVersion =
                                               TML_MIN_OF(version, (uint32_t)VK_API_VERSION_1_3)};
    /* Without the first, loaders hide layered drivers such as MoltenVK. */
    static const char portability[] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    static const char *const wanted[] = {portability, VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    const char *names[TML_ARRAY_SIZE(wanted)];
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .ppEnabledExtensionNames = names};
    for (size_t i = 0; i < TML_ARRAY_SIZE(wanted); i++)
        if (has_extension(fn, VK_NULL_HANDLE, wanted[i])) {
            names[info.enabledExtensionCount++] = wanted[i];
            if (wanted[i] == portability)
                info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
        }
    result = fn->CreateInstance(&info, NULL, out);
    return result == VK_SUCCESS && vk_load_instance(fn, *out) ? VK_ERROR_INITIALIZATION_FAILED
                                                              : result;
}

uint32_t vk_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity)
{
    vk_functions fn;
    void *library = NULL;
    VkInstance instance = VK_NULL_HANDLE;
    PFN_vkGetInstanceProcAddr get =
        desc && desc->vulkan ? desc->vulkan->get_instance_proc_addr : NULL;
    uint32_t count = 0;
    if (!get)
        get = vk_library_open(&library);
    if (get && !vk_load_global(&fn, get) && create_instance(&fn, &instance) == VK_SUCCESS) {
        physical devices[DEVICES_MAX];
        count = list_physical(&fn, instance, devices, NULL);
        for (uint32_t i = 0; i < TML_MIN_OF(count, capacity); i++)
            fill_info(&devices[i], &out[i]);
    }
    if (instance)
        fn.DestroyInstance(instance, NULL);
    vk_library_close(library);
    return count;
}

bool tml_vulkan_features(PFN_vkGetInstanceProcAddr get, VkInstance instance,
                         VkPhysicalDevice physical_device, VkPhysicalDeviceFeatures *features,
                         VkPhysicalDeviceVulkan12Features *features12,
                         VkPhysicalDeviceSubgroupSizeControlFeatures *size_control)
{
    vk_functions fn = {.GetInstanceProcAddr = get};
    physical p;
    if (!features || !features12 || vk_load_instance(&fn, instance))
        return false;
    vk_device_describe(&fn, physical_device, &p);
    if (p.lack)
        return false;
    features->shaderFloat64 |= p.features.shaderFloat64;
    features->shaderInt64 |= p.features.shaderInt64;
    features12->bufferDeviceAddress = VK_TRUE;
    if (size_control && p.has_size_control) {
        size_control->subgroupSizeControl = VK_TRUE;
        size_control->computeFullSubgroups = VK_TRUE;
    }
    return true;
}

/* ---- open ------------------------------------------------------------------------------------ */

/* Do workgroups that have started make forward progress? Vulkan has no query for it. These drivers
 * are known to guarantee it; vk_probe tests it in addition. */
static bool keeps_moving(VkDriverId driver)
{
    return driver == VK_DRIVER_ID_NVIDIA_PROPRIETARY || driver == VK_DRIVER_ID_AMD_PROPRIETARY ||
           driver == VK_DRIVER_ID_AMD_OPEN_SOURCE || driver == VK_DRIVER_ID_MESA_RADV;
}

/* Two workgroups per core, with enough registers for each, on all of these devices. */
static uint32_t resident_groups(const physical *p)
{
    const VkPhysicalDeviceShaderCorePropertiesAMD *amd = &p->cores_amd;
    return 2 * (p->cores.shaderSMCount + amd->shaderEngineCount * amd->shaderArraysPerEngineCount *
                                             amd->computeUnitsPerShaderArray);
}

static void find_caps(vk_device *device, const physical *p)
{
    uint32_t subgroup = p->properties11.subgroupSize;
    /* The rows of a tile are in registers. On Intel, a lane of a subgroup of 32 has half as many
     * registers. */
    uint32_t wanted = p->properties.vendorID == VENDOR_INTEL ? 16 : 32;
    if (device->has_size_control && p->size_control.minSubgroupSize <= wanted &&
        p->size_control.maxSubgroupSize >= wanted)
        subgroup = wanted;
    bool llvmpipe = p->properties12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    device->caps = (vk_caps){
        .subgroup = subgroup,
        .forward_progress = keeps_moving(p->properties12.driverID),
        .begins_in_order = p->properties12.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY,
        .resident = resident_groups(p),
        .float64 = p->features.shaderFloat64,
        .int64 = p->features.shaderInt64,
        .is_software = p->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
        .loop_limit = llvmpipe ? 65535 : 0, /* Mesa before 23; harmless on later ones */
        .pass_items = PASS_ITEMS_MOST,
    };
    /* maintenance3's maxMemoryAllocationSize is not used: it is 4 GiB on large GPUs that can
     * allocate all their memory at once. */
    device->max_buffer = p->maintenance4.maxBufferSize ? p->maintenance4.maxBufferSize : UINT64_MAX;
    device->timestamp_seconds =
        p->timestamp_bits ? 1e-9 * (double)p->properties.limits.timestampPeriod : 0;
    device->timestamp_mask =
        p->timestamp_bits >= 64 ? UINT64_MAX : ((uint64_t)1 << p->timestamp_bits) - 1;
}

static VkResult create_device(vk_device *device, const physical *p)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = p->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDeviceSubgroupSizeControlFeatures size_control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .subgroupSizeControl = VK_TRUE,
        .computeFullSubgroups = VK_TRUE};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = p->has_size_control ? &size_control : NULL,
        .bufferDeviceAddress = VK_TRUE,
        .timelineSemaphore = VK_TRUE}; /* every Vulkan 1.2 has it */
    const VkPhysicalDeviceFeatures features = {.shaderFloat64 = p->features.shaderFloat64,
                                               .shaderInt64 = p->features.shaderInt64};
    /* A device that has it must be created with it; it is declared in vulkan_beta.h. */
    static const char portability[] = "VK_KHR_portability_subset";
    const char *names[2];
    uint32_t name_count = 0;
    if (p->has_size_control && p->properties.apiVersion < VK_API_VERSION_1_3)
        names[name_count++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
    if (has_extension(&device->fn, p->handle, portability))
        names[name_count++] = portability;
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features12,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = name_count,
                                     .ppEnabledExtensionNames = names,
                                     .pEnabledFeatures = &features};
    return device->fn.CreateDevice(p->handle, &info, NULL, &device->device);
}

/* Sets p's queue family to the caller's, and checks it and the subgroup sizes. */
static tml_status check_lent(tml_context *tml, const tml_vulkan_desc *lent, physical *p)
{
    const char *name = p->properties.deviceName;
    uint32_t least = p->size_control.minSubgroupSize, most = p->size_control.maxSubgroupSize;
    if (!take_family(&vk_device_of(tml)->fn, VK_QUEUE_COMPUTE_BIT, lent->queue_family, p) ||
        p->family != lent->queue_family)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_open: desc.vulkan.queue_family is %u, which on %s is no family that "
                         "computes; needs the family of desc.vulkan.queue, with "
                         "VK_QUEUE_COMPUTE_BIT",
                         lent->queue_family, name);
    if (p->has_size_control && !lent->has_size_control && least != most)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_open: desc.vulkan.has_size_control is false, and %s has subgroups of "
                         "%u to %u invocations, needs one size; make the device with "
                         "subgroupSizeControl and computeFullSubgroups, as tml_vulkan_features "
                         "names them, and set it",
                         name, least, most);
    return TML_OK;
}

/* Finds the loader, the instance and the physical device. After a failure, vk_close releases
 * everything that was opened. */
static tml_status find_physical(tml_context *tml, const tml_vulkan_desc *lent, physical *p)
{
    vk_device *device = vk_device_of(tml);
    PFN_vkGetInstanceProcAddr get = lent->get_instance_proc_addr;
    if (!get)
        get = vk_library_open(&device->library);
    if (!get)
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: there is no Vulkan loader (libvulkan.so.1); install it");
    const char *missing = vk_load_global(&device->fn, get);
    if (missing)
        return tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: the Vulkan loader has no %s",
                         missing);
    if (lent->instance) {
        device->instance = lent->instance;
        missing = vk_load_instance(&device->fn, device->instance);
        if (missing)
            return tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: the Vulkan instance has no %s",
                             missing);
        vk_device_describe(&device->fn, lent->physical_device, p);
        if (p->lack)
            return tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: %s lacks %s",
                             p->properties.deviceName, p->lack);
        return check_lent(tml, lent, p);
    }
    VkResult result = create_instance(&device->fn, &device->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return tml_error(
            tml, TML_ERROR_NO_DEVICE,
            "tml_open: the Vulkan loader finds no driver for Vulkan 1.2 (%s); install the "
            "GPU's, or a software driver",
            vk_result_name(result));
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, "tml_open: vkCreateInstance");
    physical devices[DEVICES_MAX], unfit = {.lack = NULL};
    uint32_t count = list_physical(&device->fn, device->instance, devices, &unfit);
    if (tml->device_number >= count)
        return unfit.lack ? tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: %s lacks %s",
                                      unfit.properties.deviceName, unfit.lack)
                          : tml_error(tml, TML_ERROR_NO_DEVICE,
                                      "tml_open: there is no Vulkan device (any more)");
    *p = devices[tml->device_number];
    return TML_OK;
}

static tml_status open_device(tml_context *tml, const tml_vulkan_desc *lent)
{
    vk_device *device = vk_device_of(tml);
    physical p;
    tml_status status = find_physical(tml, lent, &p);
    if (status)
        return status;
    fill_info(&p, &tml->device);
    device->physical = p.handle;
    device->family = p.family;
    device->has_size_control = p.has_size_control && (!device->is_lent || lent->has_size_control);
    device->has_budget = has_extension(&device->fn, p.handle, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    if (device->is_lent) {
        device->device = lent->device;
    } else {
        VkResult result = create_device(device, &p);
        if (result != VK_SUCCESS)
            return vk_failed(tml, result, "tml_open: vkCreateDevice");
    }
    const char *missing = vk_load_device(&device->fn, device->device);
    if (missing)
        return tml_error(tml, TML_ERROR_NO_DEVICE, "tml_open: the Vulkan device has no %s",
                         missing);
    if (device->is_lent)
        device->queue = lent->queue;
    else
        device->fn.GetDeviceQueue(device->device, device->family, 0, &device->queue);
    find_caps(device, &p);
    if (tml->testing.vulkan_pass_items)
        device->caps.pass_items = tml->testing.vulkan_pass_items;
    if (tml->testing.vulkan_resident)
        device->caps.resident = tml->testing.vulkan_resident;
    device->kernels = lent->kernels;
    device->lock_queue = lent->lock_queue;
    device->unlock_queue = lent->unlock_queue;
    device->queue_user = lent->queue_user;
    status = vk_memory_open(tml, lent);
    if (!status)
        status = vk_record_open(tml);
    if (!status)
        status = vk_pipelines_open(tml, lent);
    return status ? status : vk_probe(tml);
}

/* Is the desc complete in itself? */
static tml_status vk_device_check_desc(tml_context *tml, const tml_vulkan_desc *desc)
{
    const char *lack = NULL;
    if (!desc->instance != !desc->device || !desc->instance != !desc->queue ||
        !desc->instance != !desc->physical_device)
        lack = "lends some of instance, physical_device, device and queue, needs all or none";
    else if (!desc->device &&
             (desc->allocator.create || desc->pipeline_cache || desc->sharing_family_count))
        lack = "has an allocator, a pipeline_cache or sharing_families, which need a lent device";
    else if (!desc->allocator.create != !desc->allocator.destroy)
        lack = "has one of allocator.create and allocator.destroy, needs both or none";
    else if (!desc->lock_queue != !desc->unlock_queue)
        lack = "has one of lock_queue and unlock_queue, needs both or none";
    else if (desc->sharing_family_count > VK_SHARING_MAX ||
             (desc->sharing_family_count && !desc->sharing_families))
        lack = "has sharing_families NULL or more than 8 of them; needs at most 8";
    return lack ? tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "tml_open: desc.vulkan %s", lack)
                : TML_OK;
}

tml_status vk_open(tml_context *tml, const tml_open_desc *desc)
{
    static const tml_vulkan_desc nothing_lent;
    const tml_vulkan_desc *lent = desc->vulkan ? desc->vulkan : &nothing_lent;
    tml_status status = vk_device_check_desc(tml, lent);
    if (status)
        return status;
    uint64_t items = tml->testing.vulkan_pass_items;
    if (items &&
        (items < PASS_ITEMS_LEAST || items > PASS_ITEMS_MOST || (items & (items - 1)) != 0))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_open: testing.vulkan_pass_items is %" PRIu64
                         ", needs a power of two from 2^16 to 2^30, or 0",
                         items);
    vk_device *device = tml_alloc(tml, sizeof *device);
    if (!device)
        return TML_ERROR_OUT_OF_MEMORY;
    *device = (vk_device){.tml = tml, .is_lent = lent->device != VK_NULL_HANDLE};
    tml->engine_state = device;
    status = open_device(tml, lent);
    if (status)
        vk_close(tml);
    return status;
}

void vk_close(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    if (device->device && device->pool)
        (void)vk_sync(tml);
    if (device->device && device->fn.DestroyDevice) {
        vk_kernels_close(tml);
        vk_pipelines_close(tml);
        vk_record_close(tml);
        vk_memory_close(tml);
        if (!device->is_lent)
            device->fn.DestroyDevice(device->device, NULL);
    }
    if (device->instance && !device->is_lent && device->fn.DestroyInstance)
        device->fn.DestroyInstance(device->instance, NULL);
    vk_library_close(device->library);
    tml->engine_state = NULL;
    tml_free(tml, device, sizeof *device);
}

/* ---- queries --------------------------------------------------------------------------------- */

const vk_caps *vk_caps_of(const tml_context *tml)
{
    return &vk_device_of(tml)->caps;
}

static tml_status handles(tml_context *tml, tml_vulkan_desc *out)
{
    *out = (tml_vulkan_desc){0};
    if (tml->engine->kind != TML_ENGINE_VULKAN)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_vulkan_handles: the context is not on Vulkan");
    const vk_device *device = vk_device_of(tml);
    out->get_instance_proc_addr = device->fn.GetInstanceProcAddr;
    out->instance = device->instance;
    out->physical_device = device->physical;
    out->device = device->device;
    out->queue = device->queue;
    out->queue_family = device->family;
    out->has_size_control = device->has_size_control;
    out->lock_queue = device->lock_queue;
    out->unlock_queue = device->unlock_queue;
    out->queue_user = device->queue_user;
    return TML_OK;
}

tml_status tml_vulkan_handles(tml_context *tml, tml_vulkan_desc *out)
{
    tml_status status = TML_ENTER(tml, out);
    return status ? status : tml_leave(tml, handles(tml, out));
}
