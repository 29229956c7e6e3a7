/* trommel devices: lists the devices of this machine. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "report/fields.h"
#include "report/measure.h"
#include "report/text.h"

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
     .help = "measure what --backend auto weighs, on an idle machine, a few seconds for each GPU: "
             "how long opening and closing it and compiling its pipelines take, copies to it and "
             "from it, and how fast this processor makes surfaces; kept in $XDG_CACHE_HOME/trommel "
             "or ~/.cache/trommel until processor, GPUs or drivers change",
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

/* Lists all tests of device i. Forcing the last path runs them all. If the device lacks even that
 * path, lists those that decided. Returns their number. */
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

/* Whether line `at` is the best path that passed, which is chosen unless another is forced. */
static bool is_choice(const tml_gl_test *tests, uint32_t at)
{
    for (uint32_t i = 0; i <= at; i++)
        if (strncmp(tests[i].name, "path ", 5) == 0 && tests[i].passed)
            return i == at;
    return false;
}

static void tell_tests(uint32_t device)
{
    tml_gl_test tests[TESTS_MAX];
    uint32_t count = list_tests(device, tests);
    field_open("tests", '[');
    for (uint32_t i = 0; i < count; i++) {
        const tml_gl_test *t = &tests[i];
        field_heading("     %*s%s  %s%s%s%s", 3 * (int)t->depth, "", t->passed ? "yes" : "no ",
                      t->name, t->detail[0] ? ": " : "", t->detail,
                      is_choice(tests, i) ? " (chosen)" : "");
        field_open(NULL, '{');
        field_count("depth", NULL, NULL, t->depth);
        field_text("name", NULL, NULL, t->name);
        field_flag("passed", NULL, NULL, t->passed);
        field_text("detail", NULL, NULL, t->detail);
        field_flag("chosen", NULL, NULL, is_choice(tests, i));
        field_close('{');
    }
    field_close('[');
}

#else

static void tell_tests(uint32_t device)
{
    (void)device;
}

#endif

/* ---- measured speeds ------------------------------------------------------------------------- */

/* Returns the speeds of a GPU, the nth in the list; NULL: not measured. */
static const speeds_device *measured(const speeds *s, const tml_device_info *info, uint32_t nth)
{
    bool is_same = s && nth < s->device_count && s->devices[nth].info.engine == info->engine &&
                   strcmp(s->devices[nth].info.name, info->name) == 0;
    return is_same ? &s->devices[nth] : NULL;
}

static void tell_measured(const speeds *s, const tml_device_info *info, uint32_t nth)
{
    const speeds_device *d = measured(s, info, nth);
    char text[TEXT_SIZE];
    if (!d && (!s || info->engine != TML_ENGINE_CPU))
        return;
    field_open("measured", '{');
    if (!d) {
        field_number("volume_seconds_per_byte", NULL, NULL, s->volume);
        field_number("point_seconds_per_byte", NULL, NULL, s->points);
        field_line("measured", "one thread makes surfaces of volumes at %.2f ns a byte, ",
                   s->volume * 1e9);
        field_line(NULL, "of points at %.0f", s->points * 1e9);
    } else if (d->error[0]) {
        field_text("error", "measured", "fails: %s", d->error);
    } else {
        field_number("open_close_seconds", NULL, NULL, d->open);
        field_number("pipelines_seconds", NULL, NULL, d->pipelines);
        field_number("to_device_bytes_per_second", NULL, NULL, d->to_device);
        field_number("from_device_bytes_per_second", NULL, NULL, d->from_device);
        field_line("measured", "opened and closed in %s, ", text_seconds(text, d->open));
        field_line(NULL, "pipelines compiled in %s, ", text_seconds(text, d->pipelines));
        field_line(NULL, "%.2f GB/s to it, %.2f GB/s from it", d->to_device * 1e-9,
                   d->from_device * 1e-9);
    }
    field_close('{');
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
    field_open("devices", '[');
    for (uint32_t i = 0; i < count; i++) {
        const tml_device_info *d = &devices[i];
        char label[TEXT_SIZE];
        snprintf(label, sizeof label, "%u %s", i, engine_name(d->engine));
        field_open(NULL, '{');
        field_count("number", NULL, NULL, i);
        field_text("engine", NULL, NULL, engine_name(d->engine));
        field_text("name", label, "%s", d->name);
        field_text("features", NULL, "?, %s", d->features);
        field_bytes("memory_bytes", NULL, "?, %s", d->memory);
        field_count("threads", NULL, NULL, d->threads);
        field_flag("software", NULL, "?, in software", d->is_software);
        if (a->verbose && d->engine == TML_ENGINE_GL)
            tell_tests(i);
        tell_measured(a->measure ? &found : NULL, d, gpus);
        gpus += d->engine != TML_ENGINE_CPU;
        field_close('{');
    }
    field_close('[');
    if (a->measure && !speeds_gpu(&found))
        field_heading("No GPU but in software: --backend auto takes the CPU.");
    if (a->measure)
        field_heading(is_kept ? "Kept: --backend auto decides by these."
                              : "Not kept: neither XDG_CACHE_HOME nor HOME names a folder to "
                                "write to.");
    return CLI_OK;
}

const cli_command cmd_devices = {
    .options = {.name = "devices",
                .operands = "",
                .summary = "Lists the devices that this machine offers, best first",
                .about = "--device takes a number or part of a name from this list.",
                .examples = "  trommel devices\n"
                            "  trommel devices --verbose --json\n",
                .options = devices_options,
                .without = OPT_ENGINE | OPT_MEMORY | OPT_QUIET},
    .args_size = sizeof(devices_args),
    .run = devices_run,
};
