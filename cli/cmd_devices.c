/* trommel devices: what this machine offers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "measure.h"
#include "text.h"

#ifdef TML_GL
#    include <trommel/gl.h>
#endif

typedef struct devices_args {
    cli_common common;
    bool verbose;
    bool measure;
} devices_args;

static const opt devices_options[] = {
    {OPT_SECTION, .help = "What to list"},
    {OPT_FLAG, "verbose", 'v', .brief = "also the tests of OpenGL ES devices",
     .help =
         "also what OpenGL ES devices were seen to do, and the path that is chosen for it; with "
         "--measure also GPUs in software, which --backend auto does not take",
     .offset = offsetof(devices_args, verbose)},
    {OPT_FLAG, "measure", .brief = "measure what --backend auto decides by, and keep it",
     .help = "measure what --backend auto weighs, a few seconds for each GPU: how long opening and "
             "closing it and compiling its pipelines take, copies to it and from it, and how fast "
             "this processor makes surfaces; kept in $XDG_CACHE_HOME/trommel or ~/.cache/trommel "
             "until processor, GPUs or drivers change",
     .offset = offsetof(devices_args, measure)},
    {0}};

static const char *engine_name(tml_engine_kind engine)
{
    static const char *const names[] = {"auto", "cpu", "vulkan", "gl"};
    return names[engine];
}

/* ---- tests of OpenGL ES devices -------------------------------------------------------------- */

#ifdef TML_GL

enum { TESTS_MAX = 64 };

/* All tests of device number i. Forcing the last path makes them all; a device that has not even that
 * one shows what decided. Returns how many. */
static uint32_t list_tests(uint32_t i, tml_gl_test tests[TESTS_MAX])
{
    static const tml_gl_path forced[] = {TML_GL_PATH_PACKED, TML_GL_PATH_AUTO};
    char number[16];
    snprintf(number, sizeof number, "%u", i);
    uint32_t count = 0;
    for (int k = 0; k < 2 && count == 0; k++) {
        tml_context *tml;
        const tml_gl_desc gl = {.path = forced[k]};
        if (tml_open(&(tml_open_desc){.device = number, .gl = &gl}, &tml) != TML_OK)
            continue;
        count = tml_gl_tests(tml, tests, TESTS_MAX);
        count = count < TESTS_MAX ? count : TESTS_MAX;
        tml_close(tml);
    }
    return count;
}

/* Is this line the best path that passed? That is the one taken where none is forced. */
static bool is_choice(const tml_gl_test *tests, uint32_t at)
{
    for (uint32_t i = 0; i <= at; i++)
        if (strncmp(tests[i].name, "path ", 5) == 0 && tests[i].passed)
            return i == at;
    return false;
}

static void print_tests(uint32_t device)
{
    tml_gl_test tests[TESTS_MAX];
    uint32_t count = list_tests(device, tests);
    for (uint32_t i = 0; i < count; i++)
        printf("     %*s%s  %s%s%s%s\n", 3 * (int)tests[i].depth, "",
               tests[i].passed ? "yes" : "no ", tests[i].name, tests[i].detail[0] ? ": " : "",
               tests[i].detail, is_choice(tests, i) ? " (chosen)" : "");
}

static void json_tests(json *j, uint32_t device)
{
    tml_gl_test tests[TESTS_MAX];
    uint32_t count = list_tests(device, tests);
    json_open(j, "tests", '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(j, NULL, '{');
        json_count(j, "depth", tests[i].depth);
        json_text(j, "name", tests[i].name);
        json_flag(j, "passed", tests[i].passed);
        json_text(j, "detail", tests[i].detail);
        json_flag(j, "chosen", is_choice(tests, i));
        json_close(j, '{');
    }
    json_close(j, '[');
}

#else

static void print_tests(uint32_t device)
{
    (void)device;
}

static void json_tests(json *j, uint32_t device)
{
    (void)j;
    (void)device;
}

#endif

/* ---- what is measured ------------------------------------------------------------------------ */

/* Of the GPU that is the nth in the list; NULL: not measured. */
static const speeds_device *measured(const speeds *s, const tml_device_info *info, uint32_t nth)
{
    bool is_same = s && nth < s->device_count && s->devices[nth].info.engine == info->engine &&
                   strcmp(s->devices[nth].info.name, info->name) == 0;
    return is_same ? &s->devices[nth] : NULL;
}

static void json_measured(json *j, const speeds *s, const tml_device_info *info, uint32_t nth)
{
    const speeds_device *d = measured(s, info, nth);
    if (!d && (!s || info->engine != TML_ENGINE_CPU))
        return;
    json_open(j, "measured", '{');
    if (!d) {
        json_number(j, "volume_seconds_per_byte", s->volume);
        json_number(j, "point_seconds_per_byte", s->points);
    } else if (d->error[0]) {
        json_text(j, "error", d->error);
    } else {
        json_number(j, "open_close_seconds", d->open);
        json_number(j, "pipelines_seconds", d->pipelines);
        json_number(j, "to_device_bytes_per_second", d->to_device);
        json_number(j, "from_device_bytes_per_second", d->from_device);
    }
    json_close(j, '{');
}

static void print_measured(const speeds *s, bool is_kept)
{
    char open[TEXT_SIZE], pipelines[TEXT_SIZE];
    const speeds_device *gpu = speeds_gpu(s);
    puts("");
    if (s->device_count)
        printf("%-8s %12s %12s %12s %12s\n", "", "open+close", "pipelines", "to it", "from it");
    for (uint32_t i = 0; i < s->device_count; i++) {
        const speeds_device *d = &s->devices[i];
        if (d->error[0])
            printf("%-8s fails: %s\n", engine_name(d->info.engine), d->error);
        else
            printf("%-8s %12s %12s %7.2f GB/s %7.2f GB/s\n", engine_name(d->info.engine),
                   text_seconds(open, d->open), text_seconds(pipelines, d->pipelines),
                   d->to_device * 1e-9, d->from_device * 1e-9);
    }
    printf("%-8s one thread makes surfaces of volumes at %.2f ns a byte, of points at %.0f\n",
           "cpu", s->volume * 1e9, s->points * 1e9);
    if (!gpu)
        printf("\nNo GPU but in software: --backend auto takes the CPU.\n");
    printf(is_kept ? "%sKept: --backend auto decides by these.\n"
                   : "%sNot kept: neither XDG_CACHE_HOME nor HOME names a folder to write to.\n",
           gpu ? "\n" : "");
}

/* ---- the list -------------------------------------------------------------------------------- */

static int devices_run(void *args, char **operands, uint32_t operand_count)
{
    enum { CAPACITY = 64 };
    const devices_args *a = args;
    tml_device_info devices[CAPACITY];
    (void)operands;
    (void)operand_count;

    static speeds found;
    bool is_kept = false;
    if (a->measure) { /* before this process opens a driver */
        char why[256];
        if (measure_speeds(a->verbose, &found, why) != TML_OK)
            return cli_error("--measure: the processor fails: %s", why);
        is_kept = speeds_keep(&found);
    }
    uint32_t count = tml_devices(devices, CAPACITY), gpus = 0;
    count = count < CAPACITY ? count : CAPACITY;
    json j = {.out = stdout};
    if (a->common.json)
        json_open(&j, NULL, '[');
    for (uint32_t i = 0; i < count; i++) {
        const tml_device_info *d = &devices[i];
        char memory[TEXT_SIZE];
        if (a->common.json) {
            json_open(&j, NULL, '{');
            json_count(&j, "number", i);
            json_text(&j, "engine", engine_name(d->engine));
            json_text(&j, "name", d->name);
            json_text(&j, "features", d->features);
            json_count(&j, "memory_bytes", d->memory);
            json_count(&j, "threads", d->threads);
            json_flag(&j, "software", d->is_software);
            if (a->verbose && d->engine == TML_ENGINE_GL)
                json_tests(&j, i);
            json_measured(&j, a->measure ? &found : NULL, d, gpus);
            json_close(&j, '{');
        } else {
            printf("%u  %-6s  %s%s%s%s%s%s\n", i, engine_name(d->engine), d->name,
                   d->features[0] ? ", " : "", d->features, d->memory ? ", " : "",
                   d->memory ? text_bytes(memory, d->memory) : "",
                   d->is_software ? ", in software" : "");
            if (a->verbose && d->engine == TML_ENGINE_GL)
                print_tests(i);
        }
        gpus += d->engine != TML_ENGINE_CPU;
    }
    if (a->common.json)
        json_close(&j, '[');
    else if (a->measure)
        print_measured(&found, is_kept);
    return CLI_OK;
}

const cli_command cmd_devices = {
    .options = {.name = "devices",
                .operands = "",
                .summary = "Lists the devices that this machine offers, best first",
                .about = "--device takes a number or part of a name from this list.",
                .options = devices_options,
                .shared = cli_shared_options,
                .without = OPT_ENGINE | OPT_MEMORY | OPT_QUIET},
    .args_size = sizeof(devices_args),
    .run = devices_run,
};
