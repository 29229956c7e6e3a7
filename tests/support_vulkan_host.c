/* A Vulkan program whose device the library uses. */
#include "test.h"

#include "vulkan_host.h"

struct host_state host;

static VKAPI_ATTR VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                           VkDebugUtilsMessageTypeFlagsEXT types,
                                           const VkDebugUtilsMessengerCallbackDataEXT *data,
                                           void *user)
{
    (void)severity;
    (void)types;
    (void)user;
    if (!host.message[0])
        snprintf(host.message, sizeof host.message, "%s", data->pMessage);
    return VK_FALSE;
}

static bool host_open_instance(bool validate)
{
    static const char *const layer = "VK_LAYER_KHRONOS_validation";
    static const char *const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    static const VkValidationFeatureEnableEXT enabled[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    const VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                              .enabledValidationFeatureCount = 1,
                                              .pEnabledValidationFeatures = enabled};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = validate ? &features : NULL,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = validate,
                                       .ppEnabledLayerNames = &layer,
                                       .enabledExtensionCount = validate,
                                       .ppEnabledExtensionNames = &extension};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)host.get(NULL, "vkCreateInstance");
    if (!create || create(&info, NULL, &host.instance) != VK_SUCCESS)
        return false;
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = hear};
    return !validate || VK(CreateDebugUtilsMessengerEXT)(host.instance, &messenger, NULL,
                                                         &host.messenger) == VK_SUCCESS;
}

/* Finds the first physical device whose name begins with name, and its first queue family that
 * computes. */
static bool host_find(const char *name)
{
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    if (VK(EnumeratePhysicalDevices)(host.instance, &count, devices) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        VK(GetPhysicalDeviceProperties)(devices[i], &properties);
        if (strncmp(properties.deviceName, name, strlen(name)) != 0)
            continue;
        host.physical = devices[i];
        host.has_size_control = properties.apiVersion >= VK_API_VERSION_1_3;
        VkQueueFamilyProperties families[16];
        uint32_t family_count = 16;
        VK(GetPhysicalDeviceQueueFamilyProperties)(devices[i], &family_count, families);
        while (host.family < family_count &&
               !(families[host.family].queueFlags & VK_QUEUE_COMPUTE_BIT))
            host.family++;
        return host.family < family_count;
    }
    return false;
}

bool host_open(const char *name, bool validate)
{
    void *library;
    host.get = vk_library_open(&library);
    if (!host.get || !host_open_instance(validate) || !host_find(name))
        return false;
    VkPhysicalDeviceFeatures features = {0};
    VkPhysicalDeviceSubgroupSizeControlFeatures size_control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .timelineSemaphore = VK_TRUE};
    if (!tml_vulkan_features(host.get, host.instance, host.physical, &features, &features12,
                             &size_control))
        return false;
    host.has_size_control = host.has_size_control && size_control.subgroupSizeControl &&
                            size_control.computeFullSubgroups;
    if (host.has_size_control)
        features12.pNext = &size_control;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = host.family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &features12,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue,
                                       .pEnabledFeatures = &features};
    if (VK(CreateDevice)(host.physical, &device, NULL, &host.device) != VK_SUCCESS)
        return false;
    VK(GetDeviceQueue)(host.device, host.family, 0, &host.queue);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = host.family};
    return VK(CreateCommandPool)(host.device, &pool, NULL, &host.pool) == VK_SUCCESS;
}

void host_close(void)
{
    if (host.device) {
        VK(DestroyCommandPool)(host.device, host.pool, NULL);
        VK(DestroyDevice)(host.device, NULL);
    }
    if (host.messenger)
        VK(DestroyDebugUtilsMessengerEXT)(host.instance, host.messenger, NULL);
    if (host.instance)
        VK(DestroyInstance)(host.instance, NULL);
    memset(&host, 0, sizeof host);
}

#ifdef TEST_H
bool host_open_any(void)
{
    if (host_open("", true))
        return true;
    host_close();
    if (host_open("", false)) {
        printf("  without a validation layer\n");
        return true;
    }
    host_close();
    return false;
}

tml_context *host_lend(tml_allocator allocator)
{
    tml_context *tml = NULL;
    if (!host_open_any())
        return NULL;
    const tml_vulkan_desc lent = host_desc();
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN,
                                             .vulkan = &lent,
                                             .allocator = allocator},
                            &tml));
    return tml;
}

void host_take_back(tml_context *tml)
{
    tml_close(tml);
    if (host.message[0])
        test_fail(__FILE__, __LINE__, "validation: %s", host.message);
    host_close();
}

VkCommandBuffer host_commands(void)
{
    VkCommandBuffer commands = VK_NULL_HANDLE;
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = host.pool,
                                              .commandBufferCount = 1};
    CHECK(VK(AllocateCommandBuffers)(host.device, &info, &commands) == VK_SUCCESS);
    return commands;
}

void host_submit(VkCommandBuffer commands)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    CHECK(VK(QueueSubmit)(host.queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS);
    CHECK(VK(QueueWaitIdle)(host.queue) == VK_SUCCESS);
}
#endif
