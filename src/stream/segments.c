/* tml_reduce_segments and tml_scan_segments: checks and dispatch; what segments are given by. */
#include "stream/stream_parts.h"

STREAM_OP(reduce_segments, tml_reduce_segments_desc, "no reductions of segments");
STREAM_OP(scan_segments, tml_scan_segments_desc, "no scans of segments");

/* n segments have n + 1 offsets, so one offset is the least. */
static tml_status check_offsets(tml_context *tml, const char *call, tml_buffer offsets)
{
    return tml_check_buffer(tml, call, "desc.offsets", offsets, stream_count_types, 1);
}

tml_status stream_check_without_starts(tml_context *tml, const char *call, const char *field,
                                       const tml_length *length)
{
    if (length->count || length->exact || !tml_buffer_is_none(length->device))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is given without starts, needs to stay zeroed", call, field);
    return TML_OK;
}

tml_status stream_check_segments(tml_context *tml, const char *call, tml_buffer offsets,
                                 tml_buffer starts, tml_length *count, uint64_t *most)
{
    tml_status status;
    if (tml_buffer_is_none(starts)) {
        status = stream_check_without_starts(tml, call, "count", count);
        if (!status)
            status = check_offsets(tml, call, offsets);
        *most = status ? 0 : stream_count_of(tml, offsets) - 1;
        return status;
    }
    if (!tml_buffer_is_none(offsets))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: offsets and starts are both given, needs one of them", call);
    status = stream_check_length_of(tml, call, "count", stream_count_of(tml, starts), count);
    *most = count->count;
    return status ? status
                  : tml_check_buffer(tml, call, "starts", starts, stream_count_types, *most);
}

static tml_status check_memory(tml_context *tml, const char *call, tml_buffer out,
                               tml_buffer scratch, tml_buffer in, bool in_place, tml_buffer offsets)
{
    const stream_field outputs[] = {{"desc.out", out}, {"desc.scratch", scratch}};
    const stream_input inputs[] = {{"desc.in", in, in_place}, {"desc.offsets", offsets, 0}};
    return stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs,
                               TML_ARRAY_SIZE(inputs));
}

/* ---- reduce ---------------------------------------------------------------------------------- */

/* With starts the length is that of in. */
static tml_status check_segments(tml_context *tml, const char *call, tml_reduce_segments_desc *d,
                                 uint64_t *most)
{
    tml_status status =
        tml_buffer_is_none(d->starts)
            ? stream_check_without_starts(tml, call, "length", &d->length)
            : stream_check_length(tml, call, stream_count_of(tml, d->in), &d->length);
    return status ? status
                  : stream_check_segments(tml, call, d->offsets, d->starts, &d->count, most);
}

static tml_status resolve_reduce(tml_context *tml, tml_reduce_segments_desc *d)
{
    static const char call[] = "tml_reduce_segments";
    uint64_t most = 0;
    tml_status status = check_segments(tml, call, d, &most);
    uint64_t count = TML_MAX_OF(d->length.count, stream_count_of(tml, d->in));
    TML_THEN(status, tml_check_buffer(tml, call, "in", d->in, stream_scalar_types, count));
    TML_THEN(status, stream_check_fold(tml, call, d->fold, d->in, count, "out", d->out, most));
    const stream_field outputs[] = {{"desc.out", d->out}, {"desc.scratch", d->scratch}};
    const stream_input inputs[] = {{"desc.in", d->in, 0},
                                   {"desc.offsets", d->offsets, 0},
                                   {"starts", d->starts, 0},
                                   {"count.device", d->count.device, 0},
                                   {"length.device", d->length.device, 0}};
    return status ? status
                  : stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs,
                                        TML_ARRAY_SIZE(inputs));
}

static tml_status reduce_segments(tml_context *tml, const tml_reduce_segments_desc *desc)
{
    tml_reduce_segments_desc d = *desc;
    tml_status status = resolve_reduce(tml, &d);
    return status ? status
                  : stream_run(tml, "tml_reduce_segments", &stream_reduce_segments, &d, d.scratch);
}

tml_status tml_reduce_segments(tml_context *tml, const tml_reduce_segments_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, reduce_segments(tml, desc));
}

static size_t reduce_segments_scratch_size(tml_context *tml, const tml_reduce_segments_desc *desc)
{
    tml_reduce_segments_desc d = *desc;
    return resolve_reduce(tml, &d) == TML_OK ? stream_scratch_size(tml, &stream_reduce_segments, &d)
                                             : 0;
}

size_t tml_reduce_segments_scratch_size(tml_context *tml, const tml_reduce_segments_desc *desc)
{
    return TML_ENTER(tml, desc) ? 0 : tml_leave_with(tml, reduce_segments_scratch_size(tml, desc));
}

/* ---- scan ------------------------------------------------------------------------------------ */

static tml_status resolve_scan(tml_context *tml, const tml_scan_segments_desc *d)
{
    static const char call[] = "tml_scan_segments";
    uint64_t count = stream_count_of(tml, d->in);
    tml_status status = check_offsets(tml, call, d->offsets);
    TML_THEN(status, stream_check_scan_types(tml, call, d->in, count, d->out, count));
    return status ? status
                  : check_memory(tml, call, d->out, d->scratch, d->in,
                                 stream_scans_in_place(tml, d->in, d->out), d->offsets);
}

static tml_status scan_segments(tml_context *tml, const tml_scan_segments_desc *desc)
{
    tml_status status = resolve_scan(tml, desc);
    return status
               ? status
               : stream_run(tml, "tml_scan_segments", &stream_scan_segments, desc, desc->scratch);
}

tml_status tml_scan_segments(tml_context *tml, const tml_scan_segments_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, scan_segments(tml, desc));
}

static size_t scan_segments_scratch_size(tml_context *tml, const tml_scan_segments_desc *desc)
{
    return resolve_scan(tml, desc) == TML_OK ? stream_scratch_size(tml, &stream_scan_segments, desc)
                                             : 0;
}

size_t tml_scan_segments_scratch_size(tml_context *tml, const tml_scan_segments_desc *desc)
{
    return TML_ENTER(tml, desc) ? 0 : tml_leave_with(tml, scan_segments_scratch_size(tml, desc));
}
