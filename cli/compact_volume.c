/* See the header. */
#include "compact_volume.h"

#include <math.h>
#include <string.h>

#include "arrays.h"
#include "input.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/text.h"
#include "stream_kernels.h"

typedef struct volume_run {
    tml_context *tml;
    const compact_volume_args *args;
    input in;
    uint64_t count;  /* number of samples */
    tml_buffer data; /* the volume's samples */
    tml_buffer at, places, values, kept;
    tml_buffer marks; /* u32 per sample, for --crossed */
} volume_run;

/* Marks the samples between lower and upper. *none: no sample can be. */
static tml_status mark(volume_run *r, double lower, double upper, tml_buffer *flags, bool *none)
{
    tml_params params;
    const tml_kernel *kernel = stream_between(r->in.volume.type, lower, upper, &params, none);
    tml_status status = array_output(r->tml, TML_U8, r->count, flags);
    return status || *none
               ? status
               : tml_map(r->tml,
                         &(tml_map_desc){
                             .kernel = kernel, .params = params, .in = {r->data}, .out = {*flags}});
}

/* Marks the samples that are inside, and those that are numbers. */
static tml_status mark_sides(volume_run *r, bool *none)
{
    const tml_volume *v = &r->in.volume;
    tml_buffer inside = {0, 0}, valid = {0, 0};
    bool no_number;
    tml_status status =
        mark(r, (r->args->crossed - v->intercept) / v->slope, INFINITY, &inside, none);
    if (!status && !*none)
        status = mark(r, -INFINITY, INFINITY, &valid, &no_number);
    if (!status && !*none)
        status = array_output(r->tml, TML_U32, r->count, &r->marks);
    if (!status && !*none)
        status = tml_map(
            r->tml,
            &(tml_map_desc){.kernel = stream_marks(), .in = {inside, valid}, .out = {r->marks}});
    tml_buffer_destroy(r->tml, inside);
    tml_buffer_destroy(r->tml, valid);
    return status;
}

static tml_status keep_of(volume_run *r, tml_keep *keep, bool *none)
{
    const compact_volume_args *args = r->args;
    const uint64_t *dims = r->in.volume.grid.dims;
    *none = false;
    *keep = (tml_keep){.in = {r->data}};
    if (args->is_crossed) {
        tml_status status = mark_sides(r, none);
        *keep = (tml_keep){.kernel = stream_is_crossed(),
                           .params.u = {(uint32_t)dims[0], (uint32_t)dims[1], (uint32_t)dims[2]},
                           .in = {r->marks}};
        return status;
    }
    keep->kernel = args->nonzero ? stream_nonzero(r->in.volume.type)
                                 : stream_between(r->in.volume.type, args->lower, args->upper,
                                                  &keep->params, none);
    return TML_OK;
}

/* Computes rows of x, y, z from positions. */
static tml_status place(volume_run *r, uint64_t kept)
{
    const uint64_t *dims = r->in.volume.grid.dims;
    tml_status status = array_output(r->tml, TML_VEC(TML_U32, 3), kept, &r->places);
    return status || kept == 0
               ? status
               : tml_map(r->tml, &(tml_map_desc){.kernel = stream_place(),
                                                 .params.u = {(uint32_t)dims[0], (uint32_t)dims[1]},
                                                 .in = {r->at},
                                                 .length.count = kept,
                                                 .out = {r->places}});
}

static tml_status find(volume_run *r, uint64_t *kept)
{
    const compact_volume_args *args = r->args;
    tml_type type = r->in.volume.type;
    bool has_values = args->values || (!args->xyz && !args->indices), none = false;
    tml_compact_desc desc = {.method = args->method, .length.count = r->count};
    tml_status status = cli_lend(r->tml, type, r->count, r->in.volume.data, "volume", &r->data);
    if (!status && (args->xyz || args->indices))
        status = array_output(r->tml, args->xyz ? TML_U32 : TML_U64, r->count, &r->at);
    if (!status && has_values)
        status = array_output(r->tml, type, r->count, &r->values);
    TML_THEN(status, array_output(r->tml, TML_U64, 1, &r->kept));
    TML_THEN(status, keep_of(r, &desc.keep, &none));
    desc.indices = r->at;
    desc.count = r->kept;
    if (has_values)
        desc.payloads[0] = (tml_payload){r->data, r->values};
    *kept = 0;
    if (!status && !none)
        status = tml_compact(r->tml, &desc);
    if (!status && !none)
        status = tml_buffer_read_count(r->tml, r->kept, kept);
    return status || !args->xyz ? status : place(r, *kept);
}

static void tell(volume_run *r, uint64_t kept, double load_s, double seconds)
{
    const compact_volume_args *args = r->args;
    const uint64_t *dims = r->in.volume.grid.dims;
    uint64_t cells = (dims[0] - 1) * (dims[1] - 1) * (dims[2] - 1);
    double all = (double)(args->is_crossed ? cells : r->count);
    report out = {0};
    field_heading("%s", text_file_name(args->path));
    input_tell(&r->in, &r->in.volume.grid, 0);
    field_count("kept", args->is_crossed ? "cells" : "kept", "%s", kept);
    field_line(NULL, " (%.3g %%)", all > 0 ? 100.0 * (double)kept / all : 0);
    report_add_stage(&out, "load", load_s);
    report_add_stage(&out, cli_name(), seconds);
    report_add_output(&out, args->output);
    if (args->values)
        report_add_output(&out, args->values);
    report_tell(&out, (double)r->in.volume.size, seconds);
}

static int check(const volume_run *r)
{
    const tml_volume *v = &r->in.volume;
    if (r->count > UINT32_MAX && (r->args->xyz || r->args->is_crossed))
        return cli_error("%s: has %llu samples, --xyz and --crossed take less than 2^32",
                         r->args->path, (unsigned long long)r->count);
    if (r->args->is_crossed && !(v->slope != 0))
        return cli_error("%s: its values have slope 0; nothing crosses a value", r->args->path);
    return CLI_OK;
}

int compact_volume(tml_context *tml, const compact_volume_args *args)
{
    volume_run r = {.tml = tml, .args = args};
    const tml_load_desc load = {.memory_limit = args->common->memory,
                                .strict = args->common->strict};
    double start = cli_now(), loaded = 0;
    uint64_t kept = 0;
    input_name(args->path, &r.in);
    int code = cli_fail(tml, tml_volume_load(tml, args->path, &load, &r.in.volume));
    if (code == CLI_OK) {
        r.count = input_sample_count(&r.in.volume);
        code = check(&r);
        loaded = cli_now() - start;
    }
    if (code == CLI_OK) {
        tml_status status = find(&r, &kept);
        double seconds = cli_now() - start - loaded;
        tml_buffer main = args->xyz ? r.places : args->indices ? r.at : r.values;
        TML_THEN(status, array_save(tml, args->output, main, kept));
        if (!status && args->values)
            status = array_save(tml, args->values, r.values, kept);
        progress_clear();
        code = cli_fail(tml, status);
        if (code == CLI_OK)
            tell(&r, kept, loaded, seconds);
    }
    const tml_buffer buffers[] = {r.data, r.at, r.places, r.values, r.kept, r.marks};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        tml_buffer_destroy(tml, buffers[i]);
    input_free(tml, &r.in);
    return code;
}
