/* trommel devices: what this machine offers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "text.h"

#ifdef TML_GL
#    include <trommel/gl.h>
#endif

typedef struct devices_args {
    cli_common common;
    bool verbose;
} devices_args;

static const opt devices_options[] = {
    {OPT_SECTION, .help = "What to list"},
    {OPT_FLAG, "verbose", 'v', .brief = "also the tests of OpenGL ES devices",
     .help = "also what OpenGL ES devices were seen to do, and the path that is chosen for it",
     .offset = offsetof(devices_args, verbose)},
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

/* ---- the list -------------------------------------------------------------------------------- */

static int devices_run(void *args, char **operands, uint32_t operand_count)
{
    enum { CAPACITY = 64 };
    const devices_args *a = args;
    tml_device_info devices[CAPACITY];
    (void)operands;
    (void)operand_count;

    uint32_t count = tml_devices(devices, CAPACITY);
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
            json_close(&j, '{');
        } else {
            printf("%u  %-6s  %s%s%s%s%s%s\n", i, engine_name(d->engine), d->name,
                   d->features[0] ? ", " : "", d->features, d->memory ? ", " : "",
                   d->memory ? text_bytes(memory, d->memory) : "",
                   d->is_software ? ", in software" : "");
            if (a->verbose && d->engine == TML_ENGINE_GL)
                print_tests(i);
        }
    }
    if (a->common.json)
        json_close(&j, '[');
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
