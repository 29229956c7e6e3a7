/* trommel compact: keeps an array's elements, or a volume's samples, that lie in a range. */
#include <math.h>

#include "arrays.h"
#include "cli.h"
#include "compact_volume.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"
#include "stream_kernels.h"

typedef struct compact_args {
    cli_common common;
    opt_numbers min, max; /* one number, or none */
    opt_numbers crossed;  /* one number, or none */
    bool nonzero, indices, xyz;
    const char *output, *values;
    uint32_t method; /* tml_method */
} compact_args;

static const opt compact_options[] = {
    {OPT_SECTION, .help = "Which elements to keep"},
    {OPT_NUMBERS, "at-least", .brief = "keep those not below A", .argument = "A",
     .help = "those not below A", .offset = offsetof(compact_args, min), .count_most = 1},
    {OPT_NUMBERS, "at-most", .brief = "keep those not above B", .argument = "B",
     .help = "those not above B", .offset = offsetof(compact_args, max), .count_most = 1},
    {OPT_FLAG, "nonzero", .excludes = "at-least|at-most", .brief = "keep those that are not 0",
     .help = "those that are not 0 (NaN is not 0)", .offset = offsetof(compact_args, nonzero)},
    {OPT_NUMBERS, "crossed", .argument = "V", .excludes = "at-least|at-most|nonzero",
     .help = "of a volume's cells, those that the isovalue V crosses, each by its lowest sample",
     .offset = offsetof(compact_args, crossed), .count_most = 1},
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', "FILE.npy", .brief = "", .help = "where to write",
     .offset = offsetof(compact_args, output), .endings = ".npy"},
    {OPT_FLAG, "xyz", .excludes = "indices",
     .help = "write the x, y, z of the kept samples of a volume (u32, a row each), x along a row "
             "of samples, as the "
             "columns of numpy's argwhere from the last one on",
     .offset = offsetof(compact_args, xyz)},
    {OPT_OUTPUT, "values", .argument = "FILE.npy", .needs = "xyz", .endings = ".npy",
     .help = "write the kept samples themselves, too", .offset = offsetof(compact_args, values)},
    {OPT_FLAG, "indices", .brief = "write positions instead of elements",
     .help = "write the positions of the kept elements (u64), not the elements",
     .offset = offsetof(compact_args, indices)},
    {OPT_CHOICE, "method", .choices = "auto|look-back|reduce-then-scan|histopyramid",
     .help = "how counts become positions; the result is the same", .fallback = "auto",
     .offset = offsetof(compact_args, method)},
    {0},
};

/* Compacts in into out, which has room for all elements. kept: receives their number. */
static tml_status compact(tml_context *tml, const compact_args *args, const array_input *in,
                          tml_buffer out, uint64_t *kept)
{
    tml_buffer count;
    tml_compact_desc desc = {.method = (tml_method)args->method, .keep = {.in = {in->buffer}}};
    double lower = args->min.count ? args->min.values[0] : -INFINITY;
    double upper = args->max.count ? args->max.values[0] : INFINITY;
    bool none = false;

    desc.keep.kernel = args->nonzero
                           ? stream_nonzero(in->array.type)
                           : stream_between(in->array.type, lower, upper, &desc.keep.params, &none);
    *kept = 0;
    if (none || in->array.count == 0)
        return TML_OK;
    if (args->indices)
        desc.indices = out;
    else
        desc.payloads[0] = (tml_payload){in->buffer, out};
    tml_status status = cli_make_buffer(tml, TML_U64, 1, NULL, NULL, &count);
    if (status != TML_OK)
        return status;
    desc.count = count;
    status = tml_compact(tml, &desc);
    TML_THEN(status, tml_buffer_read_count(tml, count, kept));
    tml_buffer_destroy(tml, count);
    return status;
}

static void tell_compact(const compact_args *args, const char *path, const array_input *in,
                         uint64_t kept, double seconds)
{
    field_heading("%s", text_file_name(path));
    array_tell(path, in);
    field_count("kept", "kept", "%s", kept);
    field_line(NULL, " (%.3g %%)",
               in->array.count ? 100.0 * (double)kept / (double)in->array.count : 0);
    array_tell_run(in, seconds, args->output);
}

/* Compacts piece k.
 * to: receives the kept elements, at base + *kept; NULL: only count.
 * kept: elements that this share has kept so far. */
static tml_status compact_piece(const array_parts *p, const compact_args *args, uint64_t k,
                                tml_array_stream *to, uint64_t base, uint64_t *kept)
{
    array_input in;
    tml_buffer out = {0};
    uint64_t at, count = 0;
    tml_status status = array_parts_load(p, k, false, &in, &at);
    TML_THEN(status,
             array_output(p->tml, args->indices ? TML_U64 : in.array.type, in.array.count, &out));
    TML_THEN(status, compact(p->tml, args, &in, out, &count));
    uint64_t *numbers = NULL;
    if (status == TML_OK && to && args->indices)
        status = tml_buffer_map(p->tml, out, (void **)&numbers);
    for (uint64_t i = 0; numbers && i < count; i++)
        numbers[i] += at;
    if (numbers)
        tml_buffer_unmap(p->tml, out);
    if (status == TML_OK && to)
        status = array_parts_save(p, to, out, base + *kept, count);
    *kept += count;
    tml_buffer_destroy(p->tml, out);
    array_unload(p->tml, &in);
    return status;
}

/* Reads all pieces twice: to count, then to write. Only one piece is in memory at a time. */
static int compact_parts(const array_parts *p, const compact_args *args)
{
    uint64_t kept = 0, before = 0, all = 0;
    const tml_team *team = ranks_team();
    tml_array_stream *to = NULL;
    tml_status status = TML_OK;
    double start = cli_now();
    for (uint64_t k = 0; k < p->rounds && status == TML_OK; k++)
        status = compact_piece(p, args, k, NULL, 0, &kept);
    all = kept;
    if (status == TML_OK && team)
        status = team->scan(team->user, p->tml, 1, &kept, &before, &all);
    TML_THEN(status,
             tml_array_stream_open(p->tml, args->output,
                                   args->indices ? TML_U64 : p->all.array.type, all, team, &to));
    kept = 0;
    for (uint64_t k = 0; k < p->rounds && status == TML_OK; k++)
        status = compact_piece(p, args, k, to, before, &kept);
    if (to)
        status = tml_array_stream_finish(to, status);
    progress_clear();
    if (status == TML_OK)
        tell_compact(args, p->path, &p->all, all, cli_now() - start);
    return cli_fail(p->tml, status);
}

static int compact_run(tml_context *tml, const void *all_args, char **operands)
{
    const compact_args *args = all_args;
    const char *path = operands[0];
    if ((args->xyz || args->crossed.count) && ranks_count() > 1)
        return cli_error("--xyz and --crossed are for one process");
    if (args->xyz || args->crossed.count)
        return compact_volume(tml, &(compact_volume_args){
                                       .common = &args->common,
                                       .path = path,
                                       .output = args->output,
                                       .values = args->values,
                                       .is_crossed = args->crossed.count,
                                       .crossed = args->crossed.count ? args->crossed.values[0] : 0,
                                       .nonzero = args->nonzero,
                                       .lower = args->min.count ? args->min.values[0] : -INFINITY,
                                       .upper = args->max.count ? args->max.values[0] : INFINITY,
                                       .xyz = args->xyz,
                                       .indices = args->indices,
                                       .method = (tml_method)args->method});
    array_input in;
    tml_buffer out = {0};
    uint64_t kept = 0;
    array_parts p;
    int code;
    if (array_parts_open(tml, path, args->common.memory, &p, &code))
        return code == CLI_OK ? compact_parts(&p, args) : code;
    code = array_load(tml, path, args->common.memory, &in);
    if (code != CLI_OK) {
        array_unload(tml, &in);
        return code;
    }
    tml_status status =
        array_output(tml, args->indices ? TML_U64 : in.array.type, in.array.count, &out);
    double start = cli_now();
    TML_THEN(status, compact(tml, args, &in, out, &kept));
    double seconds = cli_now() - start;
    TML_THEN(status, array_save(tml, args->output, out, kept));
    code = cli_fail(tml, status);
    progress_clear();
    if (code == CLI_OK)
        tell_compact(args, path, &in, kept, seconds);
    tml_buffer_destroy(tml, out);
    array_unload(tml, &in);
    return code;
}

const cli_command cmd_compact = {
    .options = {.name = "compact",
                .operands = "IN",
                .summary = "Keeps the elements of an array that lie in a range or are not zero",
                .about =
                    "The elements stay in their order. Bounds are included; for integers a "
                    "fractional bound counts inwards. Arrays are NPY; with --xyz and --crossed the "
                    "input is a volume in any format that surface takes.",
                .examples = "  trommel compact in.npy --at-least 0.5 -o out.npy\n"
                            "  trommel compact scan.nii.gz --crossed 300 --xyz -o cells.npy\n"
                            "  trommel compact labels.npy --nonzero --indices -o where.npy\n",
                .options = compact_options,
                .needs = "output at-least|at-most|nonzero|crossed"},
    .args_size = sizeof(compact_args),
    .run_on = compact_run,
    .takes_ranks = true,
};
