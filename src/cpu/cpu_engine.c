/* The CPU engine: buffers in host memory; every operation finishes before its call returns. */
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#    include <cpuid.h>
#endif

#include "core/core_internal.h"
#include "core/pool.h"
#include "cpu/cpu_internal.h"

/* The processor's own name, or "CPU". */
static void processor_name(char *out, size_t size)
{
    char name[49] = "";
#if defined(__x86_64__)
    uint32_t words[12] = {0};
    if ((uint32_t)__get_cpuid_max(0x80000000u, NULL) >= 0x80000004u)
        for (uint32_t i = 0; i < 3; i++)
            __get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                        &words[4 * i + 3]);
    memcpy(name, words, sizeof words);
#endif
    const char *start = name + strspn(name, " ");
    snprintf(out, size, "%s", *start ? start : "CPU");
}

static uint32_t cpu_devices(const tml_open_desc *desc, tml_device_info *out, uint32_t capacity)
{
    (void)desc;
    if (capacity == 0)
        return 1;
    uint32_t threads = tml_processors();
    char name[96];
    processor_name(name, sizeof name);
    *out = (tml_device_info){.engine = TML_ENGINE_CPU, .threads = threads};
    snprintf(out->name, sizeof out->name, "%s, %u thread%s", name, threads,
             threads == 1 ? "" : "s");
    snprintf(out->features, sizeof out->features, "%s", tml_simd_name());
    out->memory = tml_platform_memory();
    return 1;
}

static tml_status cpu_open(tml_context *tml, const tml_open_desc *desc)
{
    (void)tml;
    (void)desc;
    return TML_OK;
}

static void cpu_close(tml_context *tml)
{
    (void)tml;
}

static tml_status cpu_buffer_create(tml_context *tml, tml_slot *slot, const tml_buffer_desc *desc)
{
    if (desc->vulkan || desc->gl)
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "tml_buffer_create: desc.%s is memory of the %s engine alone; this is the CPU's",
            desc->vulkan ? "vulkan" : "gl", desc->vulkan ? "Vulkan" : "OpenGL ES");
    slot->lent = desc->host != NULL;
    slot->memory = slot->lent ? desc->host : tml_memory_alloc(tml, slot->size);
    if (!slot->memory && slot->size > 0)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_buffer_create: no memory for %zu bytes%s%s", slot->size,
                         slot->label[0] ? " of " : "", slot->label);
    if (desc->data && slot->size > 0)
        memcpy(slot->memory, desc->data, slot->size);
    return TML_OK;
}

static void cpu_buffer_destroy(tml_context *tml, tml_slot *slot)
{
    if (!slot->lent)
        tml_memory_free(tml, slot->memory, slot->size);
    slot->memory = NULL;
}

static void cpu_lay(tml_context *tml, tml_slot *slot, void *scratch)
{
    (void)tml;
    slot->memory = scratch;
}

static tml_status cpu_read(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size,
                           void *out)
{
    (void)tml;
    memcpy(out, (const char *)slot->memory + offset, size);
    return TML_OK;
}

static tml_status cpu_write(tml_context *tml, tml_slot *slot, uint64_t offset, size_t size,
                            const void *in)
{
    (void)tml;
    memcpy((char *)slot->memory + offset, in, size);
    return TML_OK;
}

static void cpu_read_free(tml_context *tml, tml_reading *reading)
{
    tml_free(tml, reading->memory, reading->capacity);
    reading->memory = NULL;
    reading->capacity = 0;
}

static tml_status cpu_read_begin(tml_context *tml, tml_slot *slot, uint64_t offset,
                                 tml_reading *reading)
{
    if (reading->capacity < reading->size) {
        cpu_read_free(tml, reading);
        reading->memory = tml_alloc(tml, reading->size);
        if (!reading->memory)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_buffer_read_begin: no memory for %zu bytes", reading->size);
        reading->capacity = reading->size;
    }
    return cpu_read(tml, slot, offset, reading->size, reading->memory);
}

static tml_status cpu_read_poll(tml_context *tml, tml_reading *reading, void *out, bool *done)
{
    (void)tml;
    memcpy(out, reading->memory, reading->size);
    *done = true;
    return TML_OK;
}

static tml_status cpu_map(tml_context *tml, tml_slot *slot, void **out)
{
    (void)tml;
    *out = slot->memory;
    return TML_OK;
}

static void cpu_unmap(tml_context *tml, tml_slot *slot)
{
    (void)tml;
    (void)slot;
}

static uint64_t cpu_address(const tml_slot *slot)
{
    return (uintptr_t)slot->memory;
}

static tml_status cpu_sync(tml_context *tml)
{
    (void)tml;
    return TML_OK;
}

const tml_engine tml_cpu_engine = {
    .kind = TML_ENGINE_CPU,
    .part = PART_CPU,
    .name = "cpu",
    .devices = cpu_devices,
    .open = cpu_open,
    .close = cpu_close,
    .buffer_create = cpu_buffer_create,
    .buffer_destroy = cpu_buffer_destroy,
    .lay = cpu_lay,
    .read = cpu_read,
    .write = cpu_write,
    .read_begin = cpu_read_begin,
    .read_poll = cpu_read_poll,
    .read_free = cpu_read_free,
    .map = cpu_map,
    .unmap = cpu_unmap,
    .sync = cpu_sync,
    .address = cpu_address,
    .is_host = true,
};
