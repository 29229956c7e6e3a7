/* The Vulkan driver that fails, for faults.h. */
#include "support_faults.h"

#ifdef TML_VULKAN
#    include "vulkan_driver.h"

static fault_hooks hooks;
static bool is_lost;

/* Functions that report a lost device, and functions that take device memory. */
static const char *const say_lost[] = {"vkQueueSubmit", "vkWaitForFences", "vkGetQueryPoolResults",
                                       "vkCreateDevice", NULL};
static const char *const take_memory[] = {"vkAllocateMemory", "vkBindBufferMemory",
                                          "vkCreateBuffer",   "vkMapMemory",
                                          "vkQueueSubmit",    NULL};

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

static VkResult ask(const char *name)
{
    if (hooks.event(FAULT_VK_HOST, name))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (is_one_of(name, take_memory) && hooks.event(FAULT_VK_DEVICE, name))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (is_one_of(name, say_lost) && hooks.event(FAULT_VK_LOST, name)) {
        is_lost = true;
        PFN_vkDeviceWaitIdle wait = NULL; /* nothing runs on a lost device */
        if (vulkan_driver.device)
            wait = (PFN_vkDeviceWaitIdle)vulkan_driver.real_device(vulkan_driver.device,
                                                                   "vkDeviceWaitIdle");
        if (wait)
            wait(vulkan_driver.device);
    }
    return is_lost && is_one_of(name, say_lost) ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static void dispatched(void)
{
    hooks.kernel("dispatch");
}

void fault_vulkan_begin(void)
{
    is_lost = false;
    vulkan_driver.live = 0;
    vulkan_driver.device = NULL;
}

bool fault_vulkan_use(const fault_hooks *use, tml_open_desc *desc)
{
    static tml_vulkan_desc copies[4];
    static size_t used;
    fault_vulkan_begin();
    hooks = *use;
    vulkan_driver.real_instance = loader();
    vulkan_driver.ask = ask;
    vulkan_driver.dispatched = dispatched;
    if (!vulkan_driver.real_instance || used == sizeof copies / sizeof *copies)
        return false;
    copies[used] = *desc->vulkan;
    copies[used].get_instance_proc_addr = get_instance;
    desc->vulkan = &copies[used++];
    tml_context *tml = NULL;
    if (tml_open(desc, &tml) != TML_OK)
        return false;
    tml_close(tml);
    return true;
}

bool fault_vulkan_is_lost(void)
{
    return is_lost;
}

int fault_vulkan_live(void)
{
    return vulkan_driver.live;
}

void (*fault_vulkan_function(void *device, const char *name))(void)
{
    return vulkan_driver.real_device(device, name);
}
#else
bool fault_vulkan_use(const fault_hooks *use, tml_open_desc *desc)
{
    (void)use, (void)desc;
    return false;
}
void fault_vulkan_begin(void)
{
}
bool fault_vulkan_is_lost(void)
{
    return false;
}
int fault_vulkan_live(void)
{
    return 0;
}
#endif
