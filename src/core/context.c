/* Contexts: the table of engines, their devices, open and close. No engine depends on this file. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "core/pool.h"

_Static_assert(FLT_EVAL_METHOD == 0,
               "floats are to be rounded after each operation: gcc has -fexcess-precision=fast, "
               "-mfpmath=sse");

const tml_engine *const tml_engines[] = {
#ifdef TML_VULKAN
    &tml_vulkan_engine,
#endif
#ifdef TML_GL
    &tml_gl_engine,     &tml_gl_float_engine,
#endif
    &tml_cpu_engine,    NULL,
};

/* ---- devices --------------------------------------------------------------------------------- */

enum { DEVICES_MAX = 32 };

typedef struct device_entry {
    tml_device_info info;
    const tml_engine *engine;
    uint32_t number; /* index in the engine's device list */
} device_entry;

/* The first engine of a kind. NULL for AUTO, and for a kind that the build lacks. */
static const tml_engine *engine_of(const tml_engine *const *engines, tml_engine_kind kind)
{
    while (*engines && (*engines)->kind != kind)
        engines++;
    return *engines;
}

/* Lists the devices of the engines that desc allows, software drivers last. Returns their
 * number. */
static uint32_t list_devices(const tml_engine *const *engines, const tml_open_desc *desc,
                             device_entry out[DEVICES_MAX])
{
    uint32_t count = 0, hardware = 0;
    for (const tml_engine *const *engine = engines; *engine; engine++) {
        if (!(*engine)->devices ||
            (desc && desc->engine != TML_ENGINE_AUTO && desc->engine != (*engine)->kind))
            continue;
        tml_device_info found[DEVICES_MAX];
        uint32_t here = (*engine)->devices(desc, found, DEVICES_MAX - count);
        for (uint32_t i = 0; i < here && count < DEVICES_MAX; i++) {
            uint32_t place = found[i].is_software ? count : hardware++;
            memmove(&out[place + 1], &out[place], (count - place) * sizeof *out);
            out[place] = (device_entry){found[i], *engine, i};
            count++;
        }
    }
    return count;
}

uint32_t tml_devices(tml_device_info *out, uint32_t capacity)
{
    device_entry devices[DEVICES_MAX];
    uint32_t count = list_devices(tml_engines, NULL, devices);
    for (uint32_t i = 0; i < TML_MIN_OF(count, capacity) && out; i++)
        out[i] = devices[i].info;
    return count;
}

void tml_context_describe(const tml_context *tml, tml_device_info *out)
{
    if (!tml || !out)
        return;
    *out = tml->device;
    out->concurrency = tml->parallel.concurrency;
    out->scratch_size = tml->scratch_size;
}

/* Does this device match wanted: a part of its name, its index in the device list, or NULL for
 * any? */
static bool device_matches(const char *wanted, uint32_t number, const tml_device_info *info)
{
    if (!wanted)
        return true;
    char *end;
    unsigned long asked = strtoul(wanted, &end, 10);
    if (end != wanted && *end == '\0')
        return asked == number;
    return strstr(info->name, wanted) != NULL;
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Records and logs an error of tml_open, which has no context yet. */
static tml_status open_fails(const tml_open_desc *desc, tml_status status, const char *message)
{
    (void)tml_reject(NULL, status, "%s", message);
    if (desc->log)
        desc->log(desc->log_user, TML_LOG_ERROR, tml_last_error(NULL));
    return status;
}

static tml_status context_create(const tml_engine *const *engines, const tml_open_desc *desc,
                                 const tml_testing *testing, const device_entry *device,
                                 tml_context **out)
{
    tml_allocator allocator = desc->allocator;
    if (!allocator.alloc)
        allocator = tml_default_allocator;
    tml_context *tml = allocator.alloc(allocator.user, sizeof *tml, TML_ALIGNMENT);
    if (!tml)
        return open_fails(desc, TML_ERROR_OUT_OF_MEMORY, "tml_open: no memory for a context");
    memset(tml, 0, sizeof *tml);
    tml_refusal_forget(tml); /* recorded for an earlier context at this address */
    tml->allocator = allocator;
    tml->device = device->info;
    tml->device_number = device->number;
    if (testing)
        tml->testing = *testing;
    tml->engines = engines;
    tml->engine = device->engine;
    tml->log = desc->log;
    tml->log_user = desc->log_user;
    tml->progress = desc->progress;
    tml->progress_user = desc->progress_user;
    tml->process = tml_process();

    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    tml->parallel = desc->parallel;
    if (!tml->parallel.run) {
        uint32_t threads = desc->threads ? desc->threads : tml_processors();
        threads = TML_MIN_OF(threads, (uint32_t)TML_MAX_THREADS);
        tml->pool = tml_pool_create(&tml->allocator, threads);
        if (!tml->pool)
            goto fail;
        tml->parallel = (tml_parallel){tml_pool_run, threads, tml->pool};
    }
    if (tml->parallel.concurrency == 0)
        tml->parallel.concurrency = 1;
    status = tml->engine->open(tml, desc);
    if (status != TML_OK)
        goto fail_pool;
    status = tml_reserve(tml, desc->scratch_size);
    if (status != TML_OK)
        goto fail_engine;
    *out = tml;
    return TML_OK;

fail_engine:
    tml->engine->close(tml);
fail_pool:
    tml_pool_destroy(&tml->allocator, tml->pool);
fail:
    if (tml->error[0]) /* the log hook already has this message */
        (void)tml_reject(NULL, status, "%s", tml->error);
    else
        (void)open_fails(desc, status,
                         status == TML_ERROR_OUT_OF_MEMORY
                             ? "tml_open: no memory for a context's parts"
                             : tml_status_text(status));
    allocator.free(allocator.user, tml, sizeof *tml);
    return status;
}

/* May AUTO try the next device? Not if desc is invalid or the host is out of memory. */
static bool may_go_on(const tml_open_desc *desc, tml_status status)
{
    return desc->engine == TML_ENGINE_AUTO && status != TML_OK &&
           status != TML_ERROR_OUT_OF_MEMORY && status != TML_ERROR_INVALID_ARGUMENT;
}

/* Opens the first device that matches desc. AUTO skips a device that fails to open. It also skips a
 * device with fewer operations than the CPU engine, unless desc names the device. *tried: did a
 * device match? If none did, the status is NO_DEVICE. */
static tml_status open_first(const tml_engine *const *engines, const tml_open_desc *desc,
                             const tml_testing *testing, const device_entry *devices,
                             uint32_t count, bool *tried, tml_context **out)
{
    tml_status status = TML_ERROR_NO_DEVICE;
    *tried = false;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = devices[i].info.name;
        if ((desc->engine != TML_ENGINE_AUTO && desc->engine != devices[i].engine->kind) ||
            !device_matches(desc->device, i, &devices[i].info))
            continue;
        if (*tried && desc->log) {
            char message[TML_MESSAGE];
            snprintf(message, sizeof message, "tml_open: goes on to %s", name);
            desc->log(desc->log_user, TML_LOG_INFO, message);
        }
        *tried = true;
        status = context_create(engines, desc, testing, &devices[i], out);
        if (status == TML_OK && desc->engine == TML_ENGINE_AUTO && !desc->device &&
            (*out)->engine->yields && (*out)->engine->yields(desc)) {
            tml_log(*out, TML_LOG_INFO,
                    "tml_open: passes %s over, which lacks operations that the CPU engine has; ask "
                    "for it by engine or name",
                    name);
            tml_close(*out);
            *out = NULL;
            status = TML_ERROR_NO_DEVICE;
        }
        if (!may_go_on(desc, status))
            break;
    }
    return status;
}

tml_status tml_open_among(const tml_engine *const *engines, const tml_open_desc *desc,
                          const tml_testing *testing, tml_context **out)
{
    static const tml_open_desc defaults;
    if (!desc)
        desc = &defaults;
    if (!out)
        return open_fails(desc, TML_ERROR_INVALID_ARGUMENT, "tml_open: out is NULL");
    *out = NULL;
    if (!desc->allocator.alloc != !desc->allocator.free)
        return open_fails(
            desc, TML_ERROR_INVALID_ARGUMENT,
            "tml_open: one of desc.allocator.alloc and free is NULL, needs both or none");
    char message[TML_MESSAGE];
    if ((uint32_t)desc->engine > TML_ENGINE_GL) {
        snprintf(message, sizeof message,
                 "tml_open: desc.engine is %d, needs one of tml_engine_kind", (int)desc->engine);
        return open_fails(desc, TML_ERROR_INVALID_ARGUMENT, message);
    }
    if (desc->threads > TML_MAX_THREADS) {
        snprintf(message, sizeof message,
                 "tml_open: desc.threads is %u, needs at most %d; 0 is one for each processor",
                 desc->threads, TML_MAX_THREADS);
        return open_fails(desc, TML_ERROR_INVALID_ARGUMENT, message);
    }

    for (const tml_engine *const *engine = engines; *engine; engine++)
        if ((desc->engine == TML_ENGINE_AUTO || desc->engine == (*engine)->kind) &&
            (*engine)->is_lent && (*engine)->is_lent(desc))
            return context_create(engines, desc, testing, &(device_entry){.engine = *engine}, out);
    /* A device number is an index in the list of all engines; a name is searched for in the list of
     * desc.engine. */
    device_entry devices[DEVICES_MAX];
    bool by_number = desc->device && desc->device[0] >= '0' && desc->device[0] <= '9';
    uint32_t count = list_devices(engines, by_number ? NULL : desc, devices);
    bool tried;
    tml_status status = open_first(engines, desc, testing, devices, count, &tried, out);
    if (tried)
        return status;

    /* If the requested engine lists no device, its open() reports the reason. */
    const tml_engine *engine = engine_of(engines, desc->engine);
    bool has_devices = false;
    for (uint32_t i = 0; i < count; i++)
        has_devices |= devices[i].engine == engine;
    if (engine && !has_devices)
        return context_create(engines, desc, testing, &(device_entry){.engine = engine}, out);
    if (desc->engine != TML_ENGINE_AUTO && !engine)
        return open_fails(desc, TML_ERROR_NO_DEVICE,
                          "tml_open: this build lacks the engine asked for");
    int used = snprintf(message, sizeof message, "tml_open: no device matches \"%s\"; there are",
                        desc->device ? desc->device : "");
    for (uint32_t i = 0; i < count && used > 0 && (size_t)used < sizeof message; i++)
        used += snprintf(message + used, sizeof message - (size_t)used, "%s %u: %s", i ? "," : "",
                         i, devices[i].info.name);
    return open_fails(desc, TML_ERROR_NO_DEVICE, message);
}

tml_status tml_open(const tml_open_desc *desc, tml_context **out)
{
    return tml_open_among(tml_engines, desc, NULL, out);
}

tml_status tml_open_testing(const tml_open_desc *desc, const tml_testing *testing,
                            tml_context **out)
{
    return tml_open_among(tml_engines, desc, testing, out);
}

/* Frees the memory that programs of streams keep. */
static void programs_free(tml_context *tml)
{
    for (uint32_t i = 0; i < TML_ARRAY_PAGES; i++)
        tml_free(tml, tml->arrays[i], TML_ARRAY_PAGE * sizeof *tml->arrays[i]);
    while (tml->programs) {
        tml_program_memory *memory = tml->programs;
        tml->programs = memory->next;
        tml_free(tml, memory->steps.memory, memory->steps.room);
        tml_free(tml, memory->descs.memory, memory->descs.room);
        tml_free(tml, memory->lives.memory, memory->lives.room);
        tml_free(tml, memory->buffers.memory, memory->buffers.room);
        tml_free(tml, memory, sizeof *memory);
    }
}

void tml_close(tml_context *tml)
{
    if (!tml || TML_ENTER(tml) != TML_OK)
        return;
    for (uint32_t i = 1; i < tml->slot_count; i++)
        tml_buffer_destroy(tml, (tml_buffer){i, tml_slot_at(tml, i)->generation});
    for (uint32_t i = 0; i < tml->page_count; i++)
        tml_free(tml, tml->pages[i], TML_SLOT_PAGE * sizeof *tml->pages[i]);
    tml_free(tml, tml->pages, tml->page_capacity * sizeof *tml->pages);
    programs_free(tml);
    tml_scratch_release(tml);
    tml_memory_release(tml);
    tml_reads_close(tml);
    tml->engine->close(tml);
    tml_pool_destroy(&tml->allocator, tml->pool);
    tml_allocator allocator = tml->allocator;
    allocator.free(allocator.user, tml, sizeof *tml);
}
