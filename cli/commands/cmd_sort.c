/* trommel sort: sorts an array, and another one with it. */
#include <inttypes.h>

#include "arrays.h"
#include "cli.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/text.h"

typedef struct sort_args {
    cli_common common;
    bool descending, indices;
    uint64_t top;
    const char *output, *payload, *payload_output;
} sort_args;

static const opt sort_options[] = {
    {OPT_SECTION, .help = "Sort"},
    {OPT_FLAG, "descending", .brief = "the largest first",
     .help = "the largest first; equal elements keep their order all the same",
     .offset = offsetof(sort_args, descending)},
    {OPT_COUNT, "top", .argument = "K", .brief = "only the first K", .least = 0, .most = UINT32_MAX,
     .fallback = "0", .offset = offsetof(sort_args, top),
     .help = "only the first so many, which takes less time than sorting all; 0: all"},
    {OPT_INPUT, "payload", .argument = "FILE.npy", .brief = "an array to move alike",
     .help = "an array, of any elements, that is moved as the input is", .endings = ".npy",
     .needs = "payload-output", .offset = offsetof(sort_args, payload)},
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', "FILE.npy", .brief = "where to write", .help = "where to write",
     .offset = offsetof(sort_args, output), .endings = ".npy"},
    {OPT_FLAG, "indices", .needs = "output", .brief = "write positions instead of elements",
     .help = "write where the elements were in the input (u64), not the elements",
     .offset = offsetof(sort_args, indices)},
    {OPT_OUTPUT, "payload-output", .argument = "FILE.npy", .needs = "payload",
     .brief = "where to write the payload", .help = "where to write the payload",
     .offset = offsetof(sort_args, payload_output), .endings = ".npy"},
    {0},
};

/* Sorts in, with payload if args name one, and writes the outputs that args name. */
static tml_status sort(tml_context *tml, const sort_args *args, const array_input *in,
                       const array_input *payload, double *seconds)
{
    tml_buffer out = {0}, moved = {0};
    uint64_t count = in->array.count;
    if (args->top && args->top < count)
        count = args->top;
    tml_status status = TML_OK;
    if (args->output)
        status = array_output(tml, args->indices ? TML_U64 : in->array.type, count, &out);
    if (status == TML_OK && args->payload)
        status = array_output(tml, payload->array.type, count, &moved);
    tml_sort_desc desc = {.keys = in->buffer, .descending = args->descending};
    tml_top_k_desc top = {
        .keys = in->buffer, .k = tml_length_of(count), .smallest = !args->descending};
    *(args->indices ? &desc.indices : &desc.sorted) = out;
    *(args->indices ? &top.indices : &top.values) = out;
    desc.payloads[0] = top.payloads[0] = (tml_payload){payload->buffer, moved};
    double start = cli_now();
    TML_THEN(status, args->top ? tml_top_k(tml, &top) : tml_sort(tml, &desc));
    TML_THEN(status, tml_sync(tml));
    *seconds = cli_now() - start;
    if (status == TML_OK && args->output)
        status = array_save(tml, args->output, out, count);
    if (status == TML_OK && args->payload)
        status = array_save(tml, args->payload_output, moved, count);
    tml_buffer_destroy(tml, out);
    tml_buffer_destroy(tml, moved);
    return status;
}

static void tell_sort(const sort_args *args, const char *path, const array_input *in,
                      const array_input *payload, double seconds)
{
    report r = {0};
    field_heading("%s", text_file_name(path));
    array_tell(path, in);
    if (args->payload)
        field_text("payload_type", "payload", "of %s", tml_type_name(payload->array.type));
    report_add_stage(&r, "load", in->seconds + payload->seconds);
    report_add_stage(&r, cli_name(), seconds);
    if (args->output)
        report_add_output(&r, args->output);
    if (args->payload)
        report_add_output(&r, args->payload_output);
    report_tell(&r, (double)(in->array.size + payload->array.size), seconds);
}

static int sort_run(tml_context *tml, const void *all_args, char **operands)
{
    const sort_args *args = all_args;
    const char *path = operands[0];
    array_input in, payload = {.seconds = 0};
    double seconds = 0;
    int code = array_load(tml, path, args->common.memory, &in);
    if (code == CLI_OK && args->payload)
        code = array_load_any(tml, args->payload, args->common.memory, &payload);
    if (code == CLI_OK && args->payload && payload.array.count != in.array.count)
        code = cli_error("%s: has %" PRIu64 " elements, needs %" PRIu64 " as %s", args->payload,
                         payload.array.count, in.array.count, path);
    CLI_THEN(code, cli_fail(tml, sort(tml, args, &in, &payload, &seconds)));
    progress_clear();
    if (code == CLI_OK)
        tell_sort(args, path, &in, &payload, seconds);
    array_unload(tml, &payload);
    array_unload(tml, &in);
    return code;
}

const cli_command cmd_sort = {
    .options = {.name = "sort",
                .operands = "IN.npy",
                .endings = ".npy",
                .summary = "Sorts an array, and another one with it",
                .about =
                    "Equal elements keep their order. Floats have one total order: NaN with its "
                    "sign set, -inf, numbers (-0 before 0), inf, NaN.",
                .examples = "  trommel sort in.npy -o sorted.npy\n"
                            "  trommel sort depth.npy --descending --indices -o order.npy\n"
                            "  trommel sort depth.npy --descending --top 100 -o largest.npy\n"
                            "  trommel sort depth.npy --payload colors.npy --payload-output "
                            "sorted.npy\n",
                .options = sort_options,
                .needs = "output|payload-output"},
    .args_size = sizeof(sort_args),
    .run_on = sort_run,
};
