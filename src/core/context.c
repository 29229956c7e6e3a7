/* Contexts: opening an engine, memory, messages, progress, the scratch arena, devices. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/core_internal.h"
#include "core/pool.h"

const tml_engine *const tml_engines[] = {
#ifdef TML_VULKAN
    &tml_vulkan_engine,
#endif
#ifdef TML_GL
    &tml_gl_engine,
#endif
    &tml_cpu_engine,
    NULL,
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* First touch of a 4 KiB page costs about 2 us, of the same bytes in a 2 MiB page a seventh of it:
 * for outputs of hundreds of megabytes that is most of the run time. */
enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 4 << 20 };

static void *default_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    void *memory = NULL;
    if (size < HUGE_FROM)
        return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
    size_t rounded = TML_ALIGN_UP(size, (size_t)HUGE_PAGE);
    if (rounded < size || posix_memalign(&memory, HUGE_PAGE, rounded) != 0)
        return NULL;
    (void)madvise(memory, rounded, MADV_HUGEPAGE); /* a hint: without it the memory is as good */
    return memory;
}

static void default_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

void *tml_alloc(tml_context *tml, size_t size)
{
    if (size == 0)
        return NULL;
    return tml->allocator.alloc(tml->allocator.user, size, TML_ALIGNMENT);
}

void *tml_alloc_array(tml_context *tml, uint64_t count, size_t size)
{
    uint64_t bytes;
    return tml_mul(count, size, &bytes) && bytes <= PTRDIFF_MAX ? tml_alloc(tml, (size_t)bytes)
                                                                : NULL;
}

void tml_free(tml_context *tml, void *memory, size_t size)
{
    if (memory)
        tml->allocator.free(tml->allocator.user, memory, size);
}

/* The old contents mean nothing, so free first: the peak is then the larger of the two. */
static tml_status scratch_resize(tml_context *tml, const char *call, size_t size)
{
    tml_status status = TML_OK;
    if (tml->engine->scratch_resize) {
        status = tml->engine->scratch_resize(tml, call, size, &tml->scratch);
    } else {
        tml_free(tml, tml->scratch, tml->scratch_size);
        tml->scratch = tml_alloc(tml, size);
        if (!tml->scratch && size > 0)
            status = tml_error(tml, TML_OUT_OF_MEMORY, "%s: no memory for %zu bytes of scratch",
                               call, size);
    }
    if (status == TML_OK)
        tml->scratch_size = size;
    else if (!tml->scratch)
        tml->scratch_size = 0;
    return status;
}

tml_status tml_scratch(tml_context *tml, const char *call, size_t size, void **out)
{
    tml_status status = size > tml->scratch_size ? scratch_resize(tml, call, size) : TML_OK;
    *out = tml->scratch;
    tml->scratch_used |= size > 0;
    return status;
}

void tml_scratch_release(tml_context *tml)
{
    (void)scratch_resize(tml, "scratch", 0); /* to nothing cannot fail */
}

tml_status tml_reserve(tml_context *tml, size_t size)
{
    void *ignored;
    return size == 0 ? TML_OK : tml_scratch(tml, "tml_reserve", size, &ignored);
}

size_t tml_reserved(const tml_context *tml)
{
    return tml->scratch_size;
}

/* ---- messages and progress ------------------------------------------------------------------- */

const char *tml_last_error(const tml_context *tml)
{
    return tml->error;
}

void tml_log(tml_context *tml, tml_log_level level, const char *format, ...)
{
    if (!tml->log)
        return;
    char message[sizeof tml->error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    tml->log(tml->log_user, level, message);
}

tml_status(tml_error)(tml_context *tml, tml_status status, const char *format, ...)
{
    char message[sizeof tml->error]; /* arguments may point into tml->error */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    memcpy(tml->error, message, sizeof message);
    if (tml->log)
        tml->log(tml->log_user, TML_LOG_ERROR, tml->error);
    return status;
}

tml_status tml_refuse(tml_context *tml, const char *call, const char *what)
{
    const tml_engine *engine = tml->engine;
    if (engine->tier)
        return tml_error(tml, TML_UNSUPPORTED,
                         "%s: %s has %s; use the integer path or the CPU engine", call,
                         engine->tier(tml), what);
    return tml_error(tml, TML_UNSUPPORTED, "%s: the %s engine has %s%s", call, engine->name, what,
                     engine->kind == TML_ENGINE_CPU ? "" : "; use another engine");
}

bool tml_progress(tml_context *tml, const char *stage, double fraction)
{
    if (tml->progress && !tml->progress(tml->progress_user, stage, fraction))
        tml_cancel(tml);
    return !tml_is_cancelled(tml);
}

void tml_cancel(tml_context *tml)
{
    atomic_store_explicit(&tml->cancelled, true, memory_order_relaxed);
}

void tml_cancel_clear(tml_context *tml)
{
    atomic_store_explicit(&tml->cancelled, false, memory_order_relaxed);
}

bool tml_is_cancelled(const tml_context *tml)
{
    return atomic_load_explicit(&tml->cancelled, memory_order_relaxed);
}

/* ---- parallel loops -------------------------------------------------------------------------- */

void tml_parallel_for(tml_context *tml, uint32_t count, tml_task_fn task, void *argument)
{
    tml->parallel.run(tml->parallel.user, count, task, argument);
}

uint32_t tml_concurrency(const tml_context *tml)
{
    return tml->parallel.concurrency;
}

/* ---- devices --------------------------------------------------------------------------------- */

enum { DEVICES_MAX = 32 };

typedef struct device_entry {
    tml_device_info info;
    const tml_engine *engine;
    uint32_t number; /* among the engine's */
} device_entry;

/* NULL for AUTO, and where the build lacks it. */
static const tml_engine *engine_of(tml_engine_kind kind)
{
    const tml_engine *const *engine = tml_engines;
    while (*engine && (*engine)->kind != kind)
        engine++;
    return *engine;
}

/* The devices that desc asks for, software drivers last; returns how many. */
static uint32_t list_devices(const tml_open_desc *desc, device_entry out[DEVICES_MAX])
{
    uint32_t count = 0, hardware = 0;
    for (const tml_engine *const *engine = tml_engines; *engine; engine++) {
        if (desc && desc->engine != TML_ENGINE_AUTO && desc->engine != (*engine)->kind)
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
    uint32_t count = list_devices(NULL, devices);
    for (uint32_t i = 0; i < TML_MIN_OF(count, capacity); i++)
        out[i] = devices[i].info;
    return count;
}

void tml_context_device(const tml_context *tml, tml_device_info *out)
{
    *out = tml->device;
}

/* Does the text asked for (part of a name, or a number in the list) mean this device? */
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

static tml_status context_create(const tml_open_desc *desc, const device_entry *device,
                                 tml_context **out)
{
    tml_allocator allocator = desc->allocator;
    if (!allocator.alloc)
        allocator = (tml_allocator){default_alloc, default_free, NULL};
    tml_context *tml = allocator.alloc(allocator.user, sizeof *tml, TML_ALIGNMENT);
    if (!tml)
        return TML_OUT_OF_MEMORY;
    memset(tml, 0, sizeof *tml);
    tml->allocator = allocator;
    tml->device = device->info;
    tml->device_number = device->number;
    tml->engine = device->engine;
    tml->log = desc->log;
    tml->log_user = desc->log_user;
    tml->progress = desc->progress;
    tml->progress_user = desc->progress_user;
    atomic_init(&tml->cancelled, false);

    tml_status status = TML_OUT_OF_MEMORY;
    tml->parallel = desc->parallel;
    if (!tml->parallel.run) {
        uint32_t threads = desc->threads ? desc->threads : tml_processors();
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
    tml_free(tml, tml, sizeof *tml);
    return status;
}

tml_status tml_open(const tml_open_desc *desc, tml_context **out)
{
    static const tml_open_desc defaults;
    if (!desc)
        desc = &defaults;
    if (!out)
        return TML_INVALID_ARGUMENT;
    *out = NULL;
    if (!desc->allocator.alloc != !desc->allocator.free)
        return TML_INVALID_ARGUMENT;

    for (const tml_engine *const *engine = tml_engines; *engine; engine++)
        if ((desc->engine == TML_ENGINE_AUTO || desc->engine == (*engine)->kind) &&
            (*engine)->is_lent && (*engine)->is_lent(desc))
            return context_create(desc, &(device_entry){.engine = *engine}, out);
    /* A number is one of the whole list; a name is looked for among what is asked for. */
    device_entry devices[DEVICES_MAX];
    bool by_number = desc->device && desc->device[0] >= '0' && desc->device[0] <= '9';
    uint32_t count = list_devices(by_number ? NULL : desc, devices);
    for (uint32_t i = 0; i < count; i++)
        if ((desc->engine == TML_ENGINE_AUTO || desc->engine == devices[i].engine->kind) &&
            device_matches(desc->device, i, &devices[i].info))
            return context_create(desc, &devices[i], out);

    /* Where the engine asked for has no device at all, its own attempt tells why. */
    const tml_engine *engine = engine_of(desc->engine);
    bool has_devices = false;
    for (uint32_t i = 0; i < count; i++)
        has_devices |= devices[i].engine == engine;
    if (engine && !has_devices)
        return context_create(desc, &(device_entry){.engine = engine}, out);

    /* There is no context yet to hold a message, so the log hook gets it. */
    if (desc->log && desc->engine != TML_ENGINE_AUTO && !engine) {
        desc->log(desc->log_user, TML_LOG_ERROR, "tml_open: this build lacks the engine asked for");
    } else if (desc->log) {
        char message[512];
        int used =
            snprintf(message, sizeof message, "tml_open: no device matches \"%s\"; there are",
                     desc->device ? desc->device : "");
        for (uint32_t i = 0; i < count && used > 0 && (size_t)used < sizeof message; i++)
            used += snprintf(message + used, sizeof message - (size_t)used, "%s %u: %s",
                             i ? "," : "", i, devices[i].info.name);
        desc->log(desc->log_user, TML_LOG_ERROR, message);
    }
    return TML_NO_DEVICE;
}

void tml_close(tml_context *tml)
{
    if (!tml)
        return;
    for (uint32_t i = 1; i < tml->slot_count; i++)
        tml_buffer_destroy(tml, (tml_buffer){i, tml_slot_at(tml, i)->generation});
    for (uint32_t i = 0; i < tml->page_count; i++)
        tml_free(tml, tml->pages[i], TML_SLOT_PAGE * sizeof *tml->pages[i]);
    tml_free(tml, tml->pages, tml->page_capacity * sizeof *tml->pages);
    tml_scratch_release(tml);
    tml->engine->close(tml);
    tml_pool_destroy(&tml->allocator, tml->pool);
    tml_free(tml, tml, sizeof *tml);
}
