/* Tests, in tml_open, the properties that shaders require and Vulkan does not guarantee
 * (shaders/probe.comp). */
#include "vulkan/vulkan_device.h"
#include "vulkan_shaders.h"

#include <string.h>

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"

static tml_status vk_probe_run(tml_context *tml, const probe_args *args)
{
    probe_args now = *args;
    tml_status status = TML_OK;
    for (now.step = 0; now.step < 2 && !status; now.step++)
        status = vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_probe,
                                                      .look = LOOK_PROBE,
                                                      .args = &now,
                                                      .args_size = sizeof now,
                                                      .groups = now.step ? PROBE_GROUPS : 1});
    return status ? status : vk_sync(tml);
}

static tml_status judge(tml_context *tml, const uint32_t report[PROBE_REPORTS])
{
    vk_device *device = vk_device_of(tml);
    const char *name = tml->device.name;
    if (!report[PROBE_RAN])
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: %s ran a shader that left nothing in memory; its driver is "
                         "broken, use another device or engine",
                         name);
    if (report[PROBE_SUBGROUPS])
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: %s lacks full subgroups of %u invocations in their order%s",
                         name, device->caps.subgroup,
                         device->has_size_control
                             ? "; use another device or engine"
                             : ", and was not asked for them: the device needs subgroupSizeControl "
                               "and computeFullSubgroups, as tml_vulkan_features names them");
    if (report[PROBE_APART])
        return tml_error(tml, TML_ERROR_NO_DEVICE,
                         "tml_open: %s lacks subgroups whose invocations go on together behind a "
                         "branch; use another device or engine",
                         name);
    if (report[PROBE_NOT_SEEN])
        device->caps.forward_progress = device->caps.begins_in_order = false;
    return TML_OK;
}

tml_status vk_probe(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    /* report: memory that the host reads without a copy; afterwards it holds the word of
     * vk_states.stalled. control: device memory, as look-back states use it. */
    vk_memory_kind kind = device->memory.host_visible ? VK_MEMORY_DEVICE : VK_MEMORY_STAGING;
    vk_buffer *report = NULL, *control = NULL;
    uint32_t found[PROBE_REPORTS];
    tml_status status = vk_memory_take(tml, "tml_open", kind, sizeof found, &report);
    if (!status)
        status = vk_memory_take(tml, "tml_open", VK_MEMORY_DEVICE, PROBE_CONTROL * sizeof *found,
                                &control);
    if (!status) {
        memset(report->host, 0, sizeof found);
        const probe_args args = {.control = control->address, .report = report->address};
        status = vk_probe_run(tml, &args);
    }
    if (!status) {
        memcpy(found, report->host, sizeof found);
        status = judge(tml, found);
    }
    if (status) /* no recorded command may write to report later */
        (void)vk_sync(tml);
    if (report)
        memset(report->host, 0, sizeof found);
    device->stalled = report;
    vk_memory_give(tml, control);
    return status;
}
