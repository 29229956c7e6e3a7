/* Copies between host and device.
 *
 * If device-local memory is also host-visible and host-cached (software drivers, integrated GPUs),
 * it is mapped, and a copy is a wait followed by memcpy. Otherwise copies use a staging ring of two
 * halves. */
#include "core/call.h"
#include "vulkan/vulkan_device.h"

#include <string.h>

/* The next half of the ring, after its last use has completed. */
static tml_status next_stage(tml_context *tml, vk_buffer **out)
{
    vk_device *device = vk_device_of(tml);
    uint32_t s = device->stage;
    device->stage = 1 - s;
    if (!device->stages[s]) {
        tml_status status =
            vk_memory_take(tml, "staging", VK_MEMORY_STAGING, VK_STAGE_SIZE, &device->stages[s]);
        if (status != TML_OK)
            return status;
    }
    if (device->stage_batch[s]) {
        tml_status status = vk_batch_wait(tml, device->stage_batch[s] - 1);
        if (status != TML_OK)
            return status;
        device->stage_batch[s] = 0;
    }
    *out = device->stages[s];
    return TML_OK;
}

static tml_status record_copy(tml_context *tml, const vk_buffer *from, VkDeviceSize from_offset,
                              const vk_buffer *to, VkDeviceSize to_offset, VkDeviceSize size)
{
    vk_device *device = vk_device_of(tml);
    VkCommandBuffer commands;
    tml_status status = vk_commands(tml, VK_WORK_OTHER, &commands);
    if (status != TML_OK)
        return status;
    VkBuffer handles[2] = {from->handle, to->handle};
    VkBufferCopy region = {from->offset + from_offset, to->offset + to_offset, size};
    /* An array of a program in the caller's scratch has only an address. */
    if (!from->handle && vk_find_buffer(tml, from->address, &handles[0], &region.srcOffset))
        region.srcOffset += from_offset;
    if (!to->handle && vk_find_buffer(tml, to->address, &handles[1], &region.dstOffset))
        region.dstOffset += to_offset;
    device->fn.CmdCopyBuffer(commands, handles[0], handles[1], 1, &region);
    return TML_OK;
}

/* One thread copies at a fraction of the bandwidth of memory and bus, so all threads share the
 * pieces. */
enum { COPY_PIECE = 1 << 20 };
typedef struct host_copy {
    unsigned char *to;
    const unsigned char *from;
    size_t size;
} host_copy;

static void copy_piece(void *argument, uint32_t piece)
{
    const host_copy *copy = argument;
    size_t first = (size_t)piece * COPY_PIECE;
    memcpy(copy->to + first, copy->from + first,
           TML_MIN_OF(copy->size - first, (size_t)COPY_PIECE));
}

static void copy_on_host(tml_context *tml, void *to, const void *from, size_t size)
{
    host_copy copy = {to, from, size};
    tml_parallel_for(tml, (uint32_t)TML_CEIL_DIV(size, COPY_PIECE), copy_piece, &copy);
}

/* Copies through the staging ring, after the work recorded so far. */
static tml_status write_staged(tml_context *tml, const vk_buffer *buffer, uint64_t offset,
                               size_t size, const void *in)
{
    vk_device *device = vk_device_of(tml);
    const unsigned char *bytes = in;
    tml_status status = TML_OK;
    for (size_t done = 0; done < size && status == TML_OK;) {
        size_t part = TML_MIN_OF(size - done, (size_t)VK_STAGE_SIZE);
        vk_buffer *stage;
        uint32_t half = device->stage;
        status = next_stage(tml, &stage);
        if (status != TML_OK)
            break;
        copy_on_host(tml, stage->host, bytes + done, part);
        status = record_copy(tml, stage, 0, buffer, offset + done, part);
        device->stage_batch[half] = device->batch + 1;
        TML_THEN(status, vk_submit(tml));
        done += part;
    }
    return status;
}

tml_status vk_write(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, const void *in)
{
    const vk_buffer *buffer = slot->memory;
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    if (status != TML_OK || !buffer->host)
        return status == TML_OK ? write_staged(tml, buffer, offset, size, in) : status;
    status = vk_sync(tml);
    if (status == TML_OK)
        copy_on_host(tml, (unsigned char *)buffer->host + offset, in, size);
    return status;
}

tml_status vk_upload(tml_context *tml, vk_address to, size_t size, const void *in, vk_mark last_use)
{
    const vk_buffer *arena = vk_device_of(tml)->arena;
    uint64_t offset = to - arena->address;
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    if (status != TML_OK || !arena->host)
        return status == TML_OK ? write_staged(tml, arena, offset, size, in) : status;
    status = vk_mark_wait(tml, last_use);
    if (status == TML_OK)
        copy_on_host(tml, (unsigned char *)arena->host + offset, in, size);
    return status;
}

static tml_status make_table(tml_context *tml, void (*fill)(uint32_t *out), uint32_t count,
                             vk_buffer **out)
{
    const size_t size = count * sizeof(uint32_t);
    uint32_t *words = tml_alloc(tml, size);
    if (!words)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a table of %zu bytes", size);
    fill(words);
    tml_status status = vk_memory_take(tml, "a table", VK_MEMORY_DEVICE, size, out);
    TML_THEN(status, write_staged(tml, *out, 0, size, words));
    tml_free(tml, words, size);
    if (status == TML_OK)
        return status;
    vk_memory_discard(tml, *out);
    *out = NULL;
    return status;
}

tml_status vk_table(tml_context *tml, void (*fill)(uint32_t *out), uint32_t count, vk_address *out)
{
    vk_device *device = vk_device_of(tml);
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    int i = 0;
    while (i < VK_TABLES && device->tables[i] && device->table_fills[i] != fill)
        i++;
    if (i == VK_TABLES)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "VK_TABLES is too small");
    if (status == TML_OK && !device->tables[i])
        status = make_table(tml, fill, count, &device->tables[i]);
    if (status != TML_OK)
        return status;
    device->table_fills[i] = fill;
    *out = device->tables[i]->address;
    return TML_OK;
}

/* The device fills one half of the ring while the host copies from the other. */
tml_status vk_read(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size, void *out)
{
    vk_device *device = vk_device_of(tml);
    const vk_buffer *buffer = slot->memory;
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    if (status == TML_OK && buffer->host) {
        status = vk_sync(tml);
        if (status == TML_OK)
            copy_on_host(tml, out, (const unsigned char *)buffer->host + offset, size);
        return status;
    }
    unsigned char *bytes = out;
    size_t asked = 0, got = 0;
    vk_buffer *stage[2] = {NULL, NULL};
    uint32_t batch[2] = {0, 0};
    for (uint32_t turn = 0; got < size && status == TML_OK; turn++) {
        if (asked < size) {
            size_t part = TML_MIN_OF(size - asked, (size_t)VK_STAGE_SIZE);
            status = next_stage(tml, &stage[turn & 1]);
            TML_THEN(status, record_copy(tml, buffer, offset + asked, stage[turn & 1], 0, part));
            batch[turn & 1] = device->batch;
            TML_THEN(status, vk_submit(tml));
            asked += part;
            if (turn == 0 && asked < size)
                continue;
        }
        if (status != TML_OK)
            break;
        uint32_t half = (uint32_t)(got / VK_STAGE_SIZE) & 1;
        size_t part = TML_MIN_OF(size - got, (size_t)VK_STAGE_SIZE);
        status = vk_batch_wait(tml, batch[half]);
        if (status == TML_OK)
            copy_on_host(tml, bytes + got, stage[half]->host, part);
        got += part;
    }
    return status;
}

/* A cancelled read may still be in progress to the same memory: the next read is ordered after
 * it. */
tml_status vk_read_begin(tml_context *tml, tml_slot *slot, uint64_t offset, tml_reading *reading)
{
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    if (status == TML_OK && reading->capacity < reading->size) {
        vk_read_free(tml, reading);
        vk_buffer *stage = NULL;
        status =
            vk_memory_take(tml, "tml_buffer_read_begin", VK_MEMORY_STAGING, reading->size, &stage);
        reading->memory = stage;
        reading->capacity = stage ? (size_t)stage->size : 0;
    }
    TML_THEN(status, record_copy(tml, slot->memory, offset, reading->memory, 0, reading->size));
    TML_THEN(status, vk_submit(tml));
    reading->mark = vk_device_of(tml)->serial;
    return status;
}

tml_status vk_read_poll(tml_context *tml, tml_reading *reading, void *out, bool *done)
{
    tml_status status = vk_batch_poll(tml, reading->mark, done);
    if (status != TML_OK || !*done)
        return status;
    copy_on_host(tml, out, ((const vk_buffer *)reading->memory)->host, reading->size);
    return vk_take_stall(tml);
}

void vk_read_free(tml_context *tml, tml_reading *reading)
{
    if (reading->memory)
        vk_memory_discard(tml, reading->memory);
    reading->memory = NULL;
    reading->capacity = 0;
}

/* A mapping is a copy in host memory, since allocating mappable device memory takes longer than
 * copying. */
tml_status vk_map(tml_context *tml, tml_slot *slot, void **out)
{
    vk_buffer *buffer = slot->memory;
    if (buffer->host) {
        *out = buffer->host;
        return TML_OK;
    }
    if (!buffer->mapping) {
        void *memory = tml_alloc(tml, vk_mapping_size(slot));
        if (!memory)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_buffer_map: no memory for %zu bytes", slot->size);
        tml_status status = vk_read(tml, slot, 0, (size_t)slot->size, memory);
        if (status != TML_OK) {
            tml_free(tml, memory, vk_mapping_size(slot));
            return status;
        }
        buffer->mapping = memory;
    }
    *out = buffer->mapping;
    return TML_OK;
}

void vk_unmap(tml_context *tml, tml_slot *slot)
{
    vk_buffer *buffer = slot->memory;
    if (!buffer->mapping)
        return;
    /* Even while recording, the copy goes into the context's own command buffer. */
    vk_device *device = vk_device_of(tml);
    const VkCommandBuffer lent_commands = device->lent_commands;
    const bool after_barrier = device->after_barrier, only_compute = device->only_compute;
    device->lent_commands = VK_NULL_HANDLE;
    tml_status status = write_staged(tml, buffer, 0, (size_t)slot->size, buffer->mapping);
    device->lent_commands = lent_commands;
    device->after_barrier = after_barrier;
    device->only_compute = only_compute;
    if (status != TML_OK)
        vk_lose(tml); /* the next call that waits returns the error */
    tml_free(tml, buffer->mapping, vk_mapping_size(slot));
    buffer->mapping = NULL;
}
