/* Opens the context that a command works in, on the right device, and makes its buffers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "messages.h"
#include "pipeline_cache.h"
#include "ranks.h"
#include "report/progress.h"
#include "system.h"

#ifdef TML_GL
#    include <trommel/gl.h>
#endif
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

/* Chooses this process's GPU: the processes of a machine are spread over the GPUs of one engine.
 * number: receives the device's number, for tml_open.
 * Returns: false if there is no GPU. */
static bool choose_by_rank(tml_engine_kind engine, char *number, size_t size)
{
    enum { DEVICES_MAX = 64 };
    tml_device_info devices[DEVICES_MAX];
    uint32_t gpus[DEVICES_MAX], gpu_count = 0, count = tml_devices(devices, DEVICES_MAX);
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        bool is_wanted = engine == TML_ENGINE_AUTO || devices[i].engine == engine;
        bool is_other = gpu_count && devices[gpus[0]].engine != devices[i].engine;
        if (is_wanted && !is_other && !devices[i].is_software &&
            devices[i].engine != TML_ENGINE_CPU)
            gpus[gpu_count++] = i;
    }
    if (gpu_count)
        snprintf(number, size, "%" PRIu32, gpus[ranks_here() % gpu_count]);
    return gpu_count > 0;
}

static bool is_worth_a_gpu(const cli_common *common, const cli_work *work)
{
    if (!work || !(work->cpu_seconds > 0))
        return false;
    const double threads = common->threads ? (double)common->threads : system_processors();
    return speeds_prefer_gpu(speeds_here(), work, threads, common->no_cache);
}

static uint32_t threads_of(const cli_common *common)
{
    if (common->threads)
        return (uint32_t)common->threads;
    uint32_t fair, threads = ranks_threads(&fair);
    if (threads && fair)
        cli_warn("the launcher bound each process here to %" PRIu32 " of its %" PRIu32
                 " processors (mpirun: --bind-to none)",
                 threads, fair);
    return threads;
}

tml_context *cli_open(const cli_common *common, const cli_work *work)
{
    tml_engine_kind engine = (tml_engine_kind)common->backend;
    if (common->gl_path)
        engine = TML_ENGINE_GL;
    if (engine == TML_ENGINE_AUTO && !common->device && !is_worth_a_gpu(common, work))
        engine = TML_ENGINE_CPU;
    tml_context *tml = NULL;
    const char *device = common->device;
    char number[16];
    if (device && strcmp(device, "by-rank") == 0) {
        device = number;
        if (common->backend == TML_ENGINE_CPU) {
            cli_error("--device by-rank is for GPUs; a surface in slabs or shares is made on "
                      "one where --backend vulkan is given");
            return NULL;
        }
        if (!choose_by_rank((tml_engine_kind)common->backend, number, sizeof number)) {
            cli_error("--device by-rank: there is no GPU here for --backend %s",
                      common->backend == TML_ENGINE_VULKAN ? "vulkan"
                      : common->backend == TML_ENGINE_GL   ? "gl"
                                                           : "auto");
            return NULL;
        }
    }
    messages_begin_opening(common->quiet);
    tml_open_desc desc = {
        .engine = engine,
        .device = device,
        .threads = threads_of(common),
        .log = cli_take_message,
        .progress = progress_show,
#ifdef TML_VULKAN
        .vulkan = &(tml_vulkan_desc){.kernels = cli_this_program.kernels,
                                     .memory_limit = common->device_memory},
#endif
#ifdef TML_GL
        .gl = &(tml_gl_desc){.path = (tml_gl_path)common->gl_path},
#endif
    };
    tml_status status = tml_open(&desc, &tml);
    if (status != TML_OK) {
        const char *text = messages_of_opening();
        cli_error("cannot start: %s", *text ? text : tml_status_text(status));
        return NULL;
    }
    if (!common->no_cache)
        pipeline_cache_load(tml);
    progress_start(common->quiet);
    progress_catch_signals(tml);
    return tml;
}

/* in_place: use the caller's memory; false: copy it. */
static tml_status lend(tml_context *tml, bool in_place, tml_type type, uint64_t count,
                       const void *data, const char *label, tml_buffer *out)
{
    tml_buffer_desc desc = {.type = type, .count = count, .label = label};
    if (in_place && count > 0)
        desc.host = (void *)(uintptr_t)data; /* the buffer is only read */
    else
        desc.data = data;
    return tml_buffer_create(tml, &desc, out);
}

tml_device_info cli_device(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    return device;
}

tml_status cli_lend(tml_context *tml, tml_type type, uint64_t count, const void *data,
                    const char *label, tml_buffer *out)
{
    return lend(tml, cli_device(tml).engine == TML_ENGINE_CPU, type, count, data, label, out);
}

tml_status cli_lend_input(tml_context *tml, tml_type type, uint64_t count, const void *data,
                          const char *label, tml_buffer *out)
{
    return lend(tml, cli_device(tml).engine != TML_ENGINE_GL, type, count, data, label, out);
}

tml_status cli_make_buffer(tml_context *tml, tml_type type, uint64_t count, const void *data,
                           const char *label, tml_buffer *out)
{
    return lend(tml, false, type, count, data, label, out);
}

tml_status cli_map(tml_context *tml, const tml_kernel *kernel, tml_type type, uint64_t count,
                   const void *data, tml_type out_type, void *out)
{
    enum { PIECE = 1 << 24 };
    tml_status status = TML_OK;
    for (uint64_t first = 0; first < count && status == TML_OK; first += PIECE) {
        uint64_t piece = count - first < PIECE ? count - first : PIECE;
        tml_buffer in, result = {0, 0};
        status = cli_lend(tml, type, piece, (const char *)data + first * tml_type_size(type),
                          "piece of the input", &in);
        TML_THEN(status, cli_make_buffer(tml, out_type, piece, NULL, NULL, &result));
        TML_THEN(status,
                 tml_map(tml, &(tml_map_desc){.kernel = kernel, .in = {in}, .out = {result}}));
        TML_THEN(status,
                 tml_buffer_read(tml, result, (char *)out + first * tml_type_size(out_type)));
        tml_buffer_destroy(tml, in);
        tml_buffer_destroy(tml, result);
    }
    return status;
}

void cli_close(tml_context *tml)
{
    progress_clear();
    progress_catch_signals(NULL);
    pipeline_cache_save(tml);
    tml_close(tml);
}
