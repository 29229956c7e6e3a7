/* Measures the GPUs for --backend auto. A process of its own measures each GPU, under a command's
 * usual conditions: no driver was opened before, and the drivers' own caches of compiled shaders
 * are off or empty. So a driver that crashes or hangs affects only its own row. */
#include "report/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "system.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

enum { REPEATS = 5, SIDE = 128, SIDE_COLD = 32, POINTS = 50000, COPY = 1 << 24 };

/* ---- the work -------------------------------------------------------------------------------- */

static float *gyroid(uint32_t side)
{
    float *samples = malloc(sizeof *samples * side * side * side), *out = samples;
    const double step = 4 * 6.283185307179586 / side;
    for (uint32_t z = 0; samples && z < side; z++)
        for (uint32_t y = 0; y < side; y++)
            for (uint32_t x = 0; x < side; x++)
                *out++ = (float)(sin(step * x) * cos(step * y) + sin(step * y) * cos(step * z) +
                                 sin(step * z) * cos(step * x));
    return samples;
}

/* count points in a cube, by a generator of numbers. */
static float *cloud(uint32_t count)
{
    float *points = malloc(sizeof *points * 3 * count);
    uint32_t number = 1;
    for (uint32_t i = 0; points && i < 3 * count; i++) {
        number = number * 1664525u + 1013904223u;
        points[i] = (float)(number >> 8) * 0x1p-24f;
    }
    return points;
}

/* A surface as the command makes it, including outputs: of a volume, or of points through their
 * field. */
static tml_status make_surface(tml_context *tml, const tml_surface_desc *desc, double *seconds)
{
    tml_surface_result result;
    double start = cli_now();
    tml_status status = tml_surface(tml, desc, &result);
    if (status != TML_OK)
        return status;
    *seconds = fmin(*seconds, cli_now() - start);
    tml_surface_free(tml, &result);
    return TML_OK;
}

/* Is repetition i to run? The first always is; others only in the first half second. */
static bool goes_on(int i, int repeats, double start)
{
    return i == 0 || (i < repeats && cli_now() - start < 0.5);
}

static tml_status measure_volume(tml_context *tml, uint32_t side, int repeats, double *seconds)
{
    tml_surface_desc desc = {
        .grid = {.dims = {side, side, side}}, .iso = 0.1, .normals = TML_NORMALS_CENTRAL};
    uint64_t count = (uint64_t)side * side * side;
    float *samples = gyroid(side);
    tml_status status = samples
                            ? cli_lend_input(tml, TML_F32, count, samples, "volume", &desc.volume)
                            : TML_ERROR_OUT_OF_MEMORY;
    double start = cli_now();
    for (int i = 0; status == TML_OK && goes_on(i, repeats, start); i++)
        status = make_surface(tml, &desc, seconds);
    tml_buffer_destroy(tml, desc.volume);
    free(samples);
    return status;
}

/* The command's default is a field with 128 samples along its longest side. */
static tml_status measure_points(tml_context *tml, uint32_t count, int repeats, double *seconds)
{
    tml_field_prepare_desc field = {.field.resolution = SIDE};
    tml_field_prepared made;
    tml_surface_desc desc = {.field = &made.field, .normals = TML_NORMALS_CENTRAL};
    float *points = cloud(count);
    tml_status status = points ? cli_lend_input(tml, TML_VEC(TML_F32, 3), count, points, "points",
                                                &field.field.points)
                               : TML_ERROR_OUT_OF_MEMORY;
    double first = cli_now();
    for (int i = 0; status == TML_OK && goes_on(i, repeats, first); i++) {
        double start = cli_now(), surface = INFINITY;
        status = tml_field_prepare(tml, &field, &made);
        desc.iso = made.iso;
        double resolving = cli_now() - start;
        TML_THEN(status, make_surface(tml, &desc, &surface));
        *seconds = fmin(*seconds, resolving + surface);
    }
    tml_buffer_destroy(tml, field.field.points);
    free(points);
    return status;
}

/* Copies to the device and back, bytes a second. */
static tml_status measure_copies(tml_context *tml, double *to, double *from)
{
    tml_buffer buffer = {0, 0};
    uint32_t *words = calloc(COPY, sizeof *words);
    double down = INFINITY, up = INFINITY;
    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    if (words)
        status =
            tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U32, .count = COPY}, &buffer);
    for (int i = 0; i <= REPEATS && status == TML_OK; i++) { /* the first makes staging memory */
        double start = cli_now();
        status = tml_buffer_write(tml, buffer, 0, COPY, words);
        TML_THEN(status, tml_sync(tml));
        double middle = cli_now();
        TML_THEN(status, tml_buffer_read(tml, buffer, words));
        down = i ? fmin(down, middle - start) : down;
        up = i ? fmin(up, cli_now() - middle) : up;
    }
    *to = COPY * sizeof *words / down;
    *from = COPY * sizeof *words / up;
    tml_buffer_destroy(tml, buffer);
    free(words);
    return status;
}

/* ---- a device -------------------------------------------------------------------------------- */

static tml_status open_device(const tml_device_info *info, tml_context **tml)
{
    return tml_open(&(tml_open_desc){.engine = info->engine, .device = info->name, .threads = 1},
                    tml);
}

static void keep_error(speeds_device *d, tml_context *tml, tml_status status)
{
    const char *text = cli_last_error(tml);
    if (status != TML_OK && !d->error[0])
        snprintf(d->error, sizeof d->error, "%s", *text ? text : tml_status_text(status));
}

static void measure_device(void *data)
{
    speeds_device *d = data;
    tml_context *tml = NULL;
    double start = cli_now();
    tml_status status = open_device(&d->info, &tml);
    double opened = cli_now();
    if (status != TML_OK) {
        keep_error(d, NULL, status);
        return;
    }
    double cold = INFINITY, cold_points = INFINITY, warm = INFINITY, warm_points = INFINITY;
    status = measure_copies(tml, &d->to_device, &d->from_device);
    TML_THEN(status, measure_volume(tml, SIDE_COLD, 1, &cold));
    TML_THEN(status, measure_points(tml, 1000, 1, &cold_points));
    TML_THEN(status, measure_volume(tml, SIDE_COLD, REPEATS, &warm));
    TML_THEN(status, measure_points(tml, 1000, REPEATS, &warm_points));
    d->pipelines = status == TML_OK ? fmax(cold + cold_points - warm - warm_points, 0) : 0;
    keep_error(d, tml, status);
    if (!pipeline_cache_name(tml, d->pipelines_name))
        d->pipelines_name[0] = '\0';
    pipeline_cache_load(tml);
    pipeline_cache_save(tml);
    double closing = cli_now();
    tml_close(tml);
    d->open = opened - start + cli_now() - closing;
}

static bool with_software; /* list_devices: those as well? */

static void list_devices(void *data)
{
    enum { LISTED = 64 };
    speeds *s = data;
    tml_device_info listed[LISTED];
    uint32_t count = tml_devices(listed, LISTED);
    for (uint32_t i = 0; i < count && i < LISTED && s->device_count < SPEEDS_DEVICES; i++)
        if (listed[i].engine != TML_ENGINE_CPU && (with_software || !listed[i].is_software))
            s->devices[s->device_count++].info = listed[i];
}

tml_status measure_speeds(bool software, speeds *out, char why[256])
{
    tml_context *tml;
    double volume = INFINITY, points = INFINITY;
    memset(out, 0, sizeof *out);
    with_software = software;
    char folder[1024];
    bool has_folder = system_make_temporary(folder, sizeof folder);
    system_set("__GL_SHADER_DISK_CACHE", "0"); /* NVIDIA's */
    /* Mesa's cache must exist, though empty; otherwise OpenGL has no program binaries to keep. */
    if (has_folder)
        system_set("MESA_SHADER_CACHE_DIR", folder);
    system_work_apart(list_devices, out, sizeof *out);
    for (uint32_t i = 0; i < out->device_count; i++) {
        speeds_device *d = &out->devices[i];
        const char *text = system_work_apart(measure_device, d, sizeof *d);
        if (text)
            snprintf(d->error, sizeof d->error, "%s", text);
    }
    system_set("MESA_SHADER_CACHE_DIR", NULL);
    if (has_folder)
        system_remove_folder(folder);
    tml_status status = tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml);
    TML_THEN(status, measure_volume(tml, SIDE, REPEATS, &volume));
    TML_THEN(status, measure_points(tml, POINTS, REPEATS, &points));
    snprintf(why, 256, "%s", status == TML_OK ? "" : cli_last_error(tml));
    tml_close(tml);
    out->volume = volume / ((double)SIDE * SIDE * SIDE * sizeof(float));
    out->points = points / ((double)POINTS * 3 * sizeof(float));
    out->is_measured = status == TML_OK;
    return status;
}
