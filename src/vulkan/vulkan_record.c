/* Command recording: a ring of command buffers, submitted and waited for in order; the caller's
 * command buffer; memory barriers; timestamps. */
#include "core/call.h"
#include "vulkan/vulkan_device.h"

#include <string.h>

/* A submission that takes longer than ten minutes has hung. */
static const uint64_t wait_nanoseconds = (uint64_t)600 * 1000 * 1000 * 1000;

/* ---- open and close -------------------------------------------------------------------------- */

tml_status vk_record_open(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = device->family};
    VkResult result = device->fn.CreateCommandPool(device->device, &pool, NULL, &device->pool);
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, "tml_open: vkCreateCommandPool");
    VkCommandBuffer commands[VK_BATCHES];
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = device->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = VK_BATCHES};
    result = device->fn.AllocateCommandBuffers(device->device, &info, commands);
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, "tml_open: vkAllocateCommandBuffers");
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    for (uint32_t i = 0; i < VK_BATCHES; i++) {
        device->batches[i].commands = commands[i];
        result = device->fn.CreateFence(device->device, &fence, NULL, &device->batches[i].fence);
        if (result != VK_SUCCESS)
            return vk_failed(tml, result, "tml_open: vkCreateFence");
    }
    if (device->timestamp_seconds == 0)
        return TML_OK;
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = 2};
    result = device->fn.CreateQueryPool(device->device, &queries, NULL, &device->queries);
    return result == VK_SUCCESS ? TML_OK : vk_failed(tml, result, "tml_open: vkCreateQueryPool");
}

void vk_record_close(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    for (uint32_t i = 0; i < VK_BATCHES; i++)
        if (device->batches[i].fence)
            device->fn.DestroyFence(device->device, device->batches[i].fence, NULL);
    if (device->queries)
        device->fn.DestroyQueryPool(device->device, device->queries, NULL);
    if (device->pool)
        device->fn.DestroyCommandPool(device->device, device->pool, NULL);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Marks the device as lost, so that no later call reports success although enqueued work was not
 * done. First waits for submitted work, whose memory may be freed from here on. It waits fence by
 * fence, since on a caller-owned device vkDeviceWaitIdle would also wait for the caller's
 * queues. */
void vk_lose(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    for (uint32_t i = 0; i < VK_BATCHES && !device->is_lost; i++)
        if (device->batches[i].is_submitted)
            (void)device->fn.WaitForFences(device->device, 1, &device->batches[i].fence, VK_TRUE,
                                           wait_nanoseconds);
    device->is_lost = true;
}

static tml_status lose(tml_context *tml, VkResult result, const char *what)
{
    if (result == VK_TIMEOUT)
        vk_device_of(tml)->is_lost = true;
    vk_lose(tml);
    return vk_failed(tml, result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result, what);
}

static tml_status lost(tml_context *tml)
{
    return tml_error(tml, TML_ERROR_DEVICE_LOST,
                     "%s was lost by an earlier call; close the context and open another",
                     tml->device.name);
}

bool vk_batch_last(const vk_device *device, uint32_t *batch)
{
    *batch = device->batch;
    if (!device->batches[*batch].is_recording)
        *batch = (*batch + VK_BATCHES - 1) % VK_BATCHES;
    return !device->is_lost &&
           (device->batches[*batch].is_recording || device->batches[*batch].is_submitted);
}

static tml_status batch_finish(tml_context *tml, uint32_t index)
{
    vk_device *device = vk_device_of(tml);
    vk_batch *batch = &device->batches[index];
    VkResult result =
        device->fn.WaitForFences(device->device, 1, &batch->fence, VK_TRUE, wait_nanoseconds);
    if (result != VK_SUCCESS)
        return lose(tml, result, "waiting for the device: vkWaitForFences");
    batch->is_submitted = false;
    vk_memory_collect(tml, index);
    vk_sampled_collect(device, index);
    result = device->fn.ResetFences(device->device, 1, &batch->fence);
    return result == VK_SUCCESS ? TML_OK : lose(tml, result, "vkResetFences");
}

tml_status vk_batch_wait(tml_context *tml, uint32_t index)
{
    const vk_device *device = vk_device_of(tml);
    if (!device->batches[index].is_submitted)
        return TML_OK;
    if (device->is_lost)
        return lost(tml);
    tml->counters.waits++;
    return batch_finish(tml, index);
}

/* A batch that was submitted again has been waited for. */
tml_status vk_batch_poll(tml_context *tml, uint64_t serial, bool *done)
{
    vk_device *device = vk_device_of(tml);
    if (device->is_lost)
        return lost(tml);
    uint32_t index = 0;
    while (index < VK_BATCHES && device->batches[index].serial != serial)
        index++;
    *done = true;
    if (index == VK_BATCHES || !device->batches[index].is_submitted)
        return TML_OK;
    VkResult result = device->fn.GetFenceStatus(device->device, device->batches[index].fence);
    *done = result == VK_SUCCESS;
    if (*done)
        return batch_finish(tml, index);
    return result == VK_NOT_READY ? TML_OK
                                  : lose(tml, result, "asking the device: vkGetFenceStatus");
}

enum { ALL_ACCESS = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT };

static void barrier_of(const vk_device *device, VkCommandBuffer commands, VkPipelineStageFlags from,
                       VkAccessFlags written, VkPipelineStageFlags to, VkAccessFlags used)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written, .dstAccessMask = used};
    device->fn.CmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void barrier(const vk_device *device, VkCommandBuffer commands, VkPipelineStageFlags from,
                    VkPipelineStageFlags to)
{
    barrier_of(device, commands, from, VK_ACCESS_MEMORY_WRITE_BIT, to, ALL_ACCESS);
}

static const VkPipelineStageFlags work_stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                                VK_PIPELINE_STAGE_TRANSFER_BIT |
                                                VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;

/* Pipeline stages of the work before and after a batch. On a caller-owned device they may be
 * any. */
static VkPipelineStageFlags stages_around(const vk_device *device)
{
    return device->is_lent ? (VkPipelineStageFlags)VK_PIPELINE_STAGE_ALL_COMMANDS_BIT : work_stages;
}

/* Begins the current batch, unless it is already recording. */
static tml_status batch_begin(tml_context *tml, vk_batch **out)
{
    vk_device *device = vk_device_of(tml);
    vk_batch *batch = &device->batches[device->batch];
    *out = batch;
    if (batch->is_recording)
        return TML_OK;
    tml_status status = vk_batch_wait(tml, device->batch);
    if (status != TML_OK)
        return status;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = device->fn.BeginCommandBuffer(batch->commands, &begin);
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, "vkBeginCommandBuffer");
    batch->is_recording = true;
    batch->dispatches = 0;
    /* Batches of one queue start in order but may overlap, and the caller's own submissions may
     * have written caller-owned memory. */
    barrier(device, batch->commands, stages_around(device), work_stages);
    device->only_compute = device->after_barrier = true;
    return TML_OK;
}

/* The barrier between two dispatches, the common case, does not touch caches that no shader
 * fills. */
static void compute_barrier(const vk_device *device, VkCommandBuffer commands)
{
    barrier_of(device, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
               VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

/* Moves the commands from the region of one call into that of another; NULL: none. */
static void set_label(const vk_device *device, VkCommandBuffer commands, const char **label,
                      const char *call)
{
    if (*label == call || !device->fn.CmdBeginDebugUtilsLabelEXT)
        return;
    if (*label)
        device->fn.CmdEndDebugUtilsLabelEXT(commands);
    *label = call;
    const VkDebugUtilsLabelEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                       .pLabelName = call};
    if (call)
        device->fn.CmdBeginDebugUtilsLabelEXT(commands, &info);
}

tml_status vk_commands(tml_context *tml, vk_work work, VkCommandBuffer *out)
{
    vk_device *device = vk_device_of(tml);
    if (device->is_lost)
        return lost(tml);
    VkCommandBuffer commands = device->lent_commands;
    const char **label = &device->lent_label;
    if (!commands) {
        vk_batch *batch = &device->batches[device->batch];
        tml_status status = TML_OK;
        if (batch->is_recording && batch->dispatches >= VK_BATCH_OPS)
            status = vk_submit(tml);
        TML_THEN(status, batch_begin(tml, &batch));
        if (status != TML_OK)
            return status;
        batch->dispatches++;
        commands = batch->commands;
        label = &batch->label;
    }
    set_label(device, commands, label, atomic_load_explicit(&tml->call, memory_order_relaxed));
    if (work != VK_WORK_UNORDERED && !device->after_barrier) {
        if (work == VK_WORK_COMPUTE && device->only_compute)
            compute_barrier(device, commands);
        else
            barrier(device, commands, work_stages, work_stages);
        device->only_compute = true;
    }
    device->only_compute = device->only_compute && work != VK_WORK_OTHER;
    device->after_barrier = false;
    *out = commands;
    return TML_OK;
}

/* Submits the current batch; with "done", even an empty one, since submission sets it. */
static tml_status submit(tml_context *tml, const VkSemaphore *done, uint64_t value)
{
    vk_device *device = vk_device_of(tml);
    vk_batch *batch = &device->batches[device->batch];
    if (!batch->is_recording) {
        tml_status status = done ? batch_begin(tml, &batch) : TML_OK;
        if (status != TML_OK || !done)
            return status;
    }
    set_label(device, batch->commands, &batch->label, NULL);
    /* Makes writes available to the host, which may read mapped memory after the fence. */
    barrier(device, batch->commands, work_stages,
            VK_PIPELINE_STAGE_HOST_BIT | (device->is_lent ? stages_around(device) : 0));
    batch->is_recording = false;
    VkResult result = device->fn.EndCommandBuffer(batch->commands);
    if (result != VK_SUCCESS)
        return lose(tml, result, "vkEndCommandBuffer");
    VkPipelineStageFlags stages[VK_AFTER_MAX];
    for (uint32_t i = 0; i < device->after_count; i++)
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = device->after_count,
        .pWaitSemaphoreValues = device->after_values,
        .signalSemaphoreValueCount = done ? 1 : 0,
        .pSignalSemaphoreValues = &value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = device->after_count || done ? &values : NULL,
                               .waitSemaphoreCount = device->after_count,
                               .pWaitSemaphores = device->after,
                               .pWaitDstStageMask = stages,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &batch->commands,
                               .signalSemaphoreCount = done ? 1 : 0,
                               .pSignalSemaphores = done};
    tml_hook_begin(tml);
    if (device->lock_queue)
        device->lock_queue(device->queue_user);
    result = device->fn.QueueSubmit(device->queue, 1, &info, batch->fence);
    if (device->unlock_queue)
        device->unlock_queue(device->queue_user);
    tml_hook_end(tml);
    device->after_count = 0;
    if (result != VK_SUCCESS)
        return lose(tml, result, "vkQueueSubmit");
    batch->is_submitted = true;
    batch->serial = ++device->serial;
    device->batch = (device->batch + 1) % VK_BATCHES;
    return TML_OK;
}

tml_status vk_submit(tml_context *tml)
{
    return submit(tml, NULL, 0);
}

tml_status vk_sync(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    tml_status status = device->is_lost ? lost(tml) : vk_submit(tml);
    for (uint32_t i = 0; i < VK_BATCHES && status == TML_OK; i++)
        status = vk_batch_wait(tml, (device->batch + i) % VK_BATCHES);
    return status;
}

/* The capabilities stay cleared in this context: a look-back that has stalled once would stall
 * again. */
tml_status vk_take_stall(tml_context *tml)
{
    vk_device *device = vk_device_of(tml);
    volatile uint32_t *stalled = device->stalled->host;
    if (*stalled == 0)
        return TML_OK;
    *stalled = 0;
    device->caps.forward_progress = device->caps.begins_in_order = false;
    return tml_error(
        tml, TML_ERROR_STALLED,
        "a scan, a sort or a compaction waited in vain for another workgroup of its own on %s: "
        "what "
        "was computed since the last wait may be wrong. Do it again: this context does "
        "without that from here on",
        tml->device.name);
}

static tml_status vk_record_check(tml_context *tml)
{
    if (tml->engine->kind != TML_ENGINE_VULKAN)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_vulkan_check: the context is not on Vulkan");
    return vk_device_of(tml)->is_lost ? lost(tml) : vk_take_stall(tml);
}

tml_status tml_vulkan_check(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, vk_record_check(tml));
}

/* Batches complete in order. A batch that reuses a slot of the ring has waited for the slot's
 * previous batch. */
tml_status vk_mark_here(tml_context *tml, vk_mark *out)
{
    const vk_device *device = vk_device_of(tml);
    tml_status status = vk_submit(tml);
    *out = 1 + (device->batch + VK_BATCHES - 1) % VK_BATCHES;
    return status;
}

tml_status vk_mark_wait(tml_context *tml, vk_mark mark)
{
    return mark ? vk_batch_wait(tml, mark - 1) : TML_OK;
}

/* Refuses other engines, and recordings. */
static tml_status check_submitting(tml_context *tml, const char *call)
{
    if (tml->engine->kind != TML_ENGINE_VULKAN)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "%s: the context is not on Vulkan", call);
    return tml_refuse_recording(tml, call, NULL);
}

static tml_status flush(tml_context *tml)
{
    tml_status status = check_submitting(tml, "tml_vulkan_flush");
    return status == TML_OK ? vk_submit(tml) : status;
}

tml_status tml_vulkan_flush(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, flush(tml));
}

static tml_status check_semaphore(tml_context *tml, const char *call, VkSemaphore semaphore)
{
    tml_status status = check_submitting(tml, call);
    if (status == TML_OK && vk_device_of(tml)->is_lost)
        status = lost(tml);
    if (status == TML_OK && !semaphore)
        status =
            tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: semaphore is VK_NULL_HANDLE", call);
    return status;
}

static tml_status after(tml_context *tml, VkSemaphore semaphore, uint64_t value)
{
    static const char call[] = "tml_vulkan_after";
    tml_status status = check_semaphore(tml, call, semaphore);
    TML_THEN(status, vk_submit(tml));
    if (status != TML_OK)
        return status;
    vk_device *device = vk_device_of(tml);
    if (device->after_count == VK_AFTER_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: the next submission waits for %d semaphores already, needs at most "
                         "that many; enqueue something, or call tml_vulkan_signal",
                         call, VK_AFTER_MAX);
    device->after[device->after_count] = semaphore;
    device->after_values[device->after_count++] = value;
    return TML_OK;
}

tml_status tml_vulkan_after(tml_context *tml, VkSemaphore semaphore, uint64_t value)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, after(tml, semaphore, value));
}

static tml_status signal_semaphore(tml_context *tml, VkSemaphore semaphore, uint64_t value)
{
    tml_status status = check_semaphore(tml, "tml_vulkan_signal", semaphore);
    return status == TML_OK ? submit(tml, &semaphore, value) : status;
}

tml_status tml_vulkan_signal(tml_context *tml, VkSemaphore semaphore, uint64_t value)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, signal_semaphore(tml, semaphore, value));
}

/* ---- dispatches ------------------------------------------------------------------------------ */

tml_status vk_dispatch(tml_context *tml, const vk_dispatch_info *info)
{
    vk_device *device = vk_device_of(tml);
    assert(info->args_size <= 128 && info->spec_count <= VK_SPECS_MAX);
    VkBuffer indirect = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    if (info->indirect && !tml->is_preparing &&
        !vk_find_buffer(tml, info->indirect, &indirect, &offset))
        return tml_error(tml, TML_ERROR_INTERNAL, "%s: indirect arguments outside of every buffer",
                         info->module->name);
    if (info->groups == 0 && !info->indirect)
        return TML_OK;
    VkPipeline pipeline;
    VkCommandBuffer commands;
    tml_status status = vk_pipeline_get(tml, info, &pipeline);
    if (status == TML_OK && tml->is_preparing)
        return TML_OK;
    TML_THEN(status, vk_commands(tml,
                                 info->unordered ? VK_WORK_UNORDERED
                                 : indirect      ? VK_WORK_INDIRECT
                                                 : VK_WORK_COMPUTE,
                                 &commands));
    if (status == TML_OK && info->sampled)
        status = vk_sampled_bind(tml, commands, info->sampled);
    if (status != TML_OK) {
        /* vk_take_states may have relied on this dispatch to zero a block, so no block counts as
         * zeroed now. */
        device->state_zeroed[0] = device->state_zeroed[1] = 0;
        return status;
    }
    uint32_t x = (uint32_t)TML_MIN_OF(TML_MAX_OF(info->groups, (uint64_t)1), (uint64_t)VK_GROUPS_X);
    uint64_t y = TML_CEIL_DIV(info->groups, x);
    if (y > VK_GROUPS_X)
        return tml_error(tml, TML_ERROR_INTERNAL, "%s: a dispatch of more than 2^30 groups",
                         info->module->name);
    device->fn.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    device->fn.CmdPushConstants(commands, device->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                TML_ALIGN_UP(info->args_size, 4u), info->args);
    if (indirect)
        device->fn.CmdDispatchIndirect(commands, indirect, offset);
    else
        device->fn.CmdDispatch(commands, x, (uint32_t)y, 1);
    return TML_OK;
}

/* ---- the caller's command buffer ------------------------------------------------------------- */

bool vk_is_recording(const tml_context *tml)
{
    return vk_device_of(tml)->lent_commands || tml->is_preparing;
}

/* The state "no barrier" accepts only "none". */
static tml_status check_barrier(tml_context *tml, const char *call, const char *name,
                                const tml_vulkan_barrier *barrier)
{
    return !barrier->none || (!barrier->stages && !barrier->access)
               ? TML_OK
               : tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: %s.none is set, and stages or access too; leave these zeroed", call,
                           name);
}

static tml_status record(tml_context *tml, VkCommandBuffer commands,
                         const tml_vulkan_barrier *before, const tml_vulkan_barrier *after)
{
    static const char call[] = "tml_vulkan_record";
    static const tml_vulkan_barrier all;
    if (!before)
        before = &all;
    if (!after)
        after = &all;
    tml_status status = check_submitting(tml, call);
    if (status == TML_OK && !commands)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: commands is NULL", call);
    TML_THEN(status, check_barrier(tml, call, "before", before));
    TML_THEN(status, check_barrier(tml, call, "after", after));
    TML_THEN(status, vk_submit(tml)); /* work enqueued before runs before */
    if (status != TML_OK)
        return status;
    vk_device *device = vk_device_of(tml);
    device->lent_commands = commands;
    device->lent_label = NULL;
    device->lent_after = *after;
    tml->scratch_used = false;
    if (!before->none)
        barrier_of(device, commands,
                   before->stages ? before->stages
                                  : (VkPipelineStageFlags)VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                   before->access ? before->access : (VkAccessFlags)VK_ACCESS_MEMORY_WRITE_BIT,
                   work_stages, ALL_ACCESS);
    device->only_compute = device->after_barrier = true;
    return TML_OK;
}

tml_status tml_vulkan_record(tml_context *tml, VkCommandBuffer commands,
                             const tml_vulkan_barrier *before, const tml_vulkan_barrier *after)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, record(tml, commands, before, after));
}

static tml_status record_end(tml_context *tml)
{
    if (tml->engine->kind != TML_ENGINE_VULKAN || !vk_device_of(tml)->lent_commands)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_vulkan_record_end: there was no tml_vulkan_record");
    vk_device *device = vk_device_of(tml);
    const tml_vulkan_barrier *after = &device->lent_after;
    set_label(device, device->lent_commands, &device->lent_label, NULL);
    if (!after->none)
        barrier_of(device, device->lent_commands, work_stages, VK_ACCESS_MEMORY_WRITE_BIT,
                   after->stages ? after->stages
                                 : (VkPipelineStageFlags)(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
                                                          VK_PIPELINE_STAGE_HOST_BIT),
                   after->access ? after->access : (VkAccessFlags)ALL_ACCESS);
    device->lent_commands = VK_NULL_HANDLE;
    device->after_barrier = false;
    device->arena_recorded |= tml->scratch_used;
    return TML_OK;
}

tml_status tml_vulkan_record_end(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, record_end(tml));
}

static tml_status forget_recordings(tml_context *tml)
{
    tml_status status = check_submitting(tml, "tml_vulkan_forget_recordings");
    if (status == TML_OK) {
        vk_scratch_forget(tml);
        vk_sampled_forget(vk_device_of(tml));
    }
    return status;
}

tml_status tml_vulkan_forget_recordings(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, forget_recordings(tml));
}

/* ---- time ------------------------------------------------------------------------------------ */

tml_status vk_time_begin(tml_context *tml)
{
    if (!vk_device_of(tml)->queries)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "tml_time_begin: %s has no timestamps",
                         tml->device.name);
    VkCommandBuffer commands;
    tml_status status = vk_sync(tml);
    TML_THEN(status, vk_commands(tml, VK_WORK_OTHER, &commands));
    if (status != TML_OK)
        return status;
    vk_device *device = vk_device_of(tml);
    device->fn.CmdResetQueryPool(commands, device->queries, 0, 2);
    device->fn.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, device->queries,
                                 0);
    return TML_OK;
}

tml_status vk_time_end(tml_context *tml, double *seconds)
{
    VkCommandBuffer commands = VK_NULL_HANDLE;
    tml_status status = vk_commands(tml, VK_WORK_OTHER, &commands);
    if (status != TML_OK)
        return status;
    vk_device *device = vk_device_of(tml);
    device->fn.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, device->queries,
                                 1);
    status = vk_sync(tml);
    TML_THEN(status, vk_take_stall(tml));
    if (status != TML_OK)
        return status;
    uint64_t ticks[2];
    VkResult result =
        device->fn.GetQueryPoolResults(device->device, device->queries, 0, 2, sizeof ticks, ticks,
                                       sizeof *ticks, VK_QUERY_RESULT_64_BIT);
    if (result != VK_SUCCESS)
        return vk_failed(tml, result, "tml_time_end: vkGetQueryPoolResults");
    *seconds = device->timestamp_seconds * (double)((ticks[1] - ticks[0]) & device->timestamp_mask);
    return TML_OK;
}
