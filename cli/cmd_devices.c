/* trommel devices: what this machine offers. */
#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "text.h"

typedef struct devices_args {
    cli_common common;
} devices_args;

static const opt devices_options[] = {{0}};

static const char *engine_name(tml_engine_kind engine)
{
    static const char *const names[] = {"auto", "cpu", "vulkan", "gl"};
    return names[engine];
}

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
            json_close(&j, '{');
        } else {
            printf("%u  %-6s  %s%s%s%s%s%s\n", i, engine_name(d->engine), d->name,
                   d->features[0] ? ", " : "", d->features, d->memory ? ", " : "",
                   d->memory ? text_bytes(memory, d->memory) : "",
                   d->is_software ? ", in software" : "");
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
                .shared = cli_shared_options},
    .args_size = sizeof(devices_args),
    .run = devices_run,
};
