/* tml_scan: checks, defaults and dispatch. */
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP(scan, tml_scan_resolved, "no scans");
STREAM_OP(scan_segments, tml_scan_desc, "no scans of segments");

static const tml_type in_types[] = {TML_U8,  TML_U16, TML_U32, TML_U64,      TML_I32,
                                    TML_I64, TML_F32, TML_F64, TML_TYPE_NONE};

/* Output types that a scan of this input type allows. */
static const tml_type *out_types(tml_type in)
{
    static const tml_type integers[] = {TML_U32, TML_U64, TML_I32, TML_I64, TML_TYPE_NONE};
    static const tml_type f64[] = {TML_F64, TML_TYPE_NONE};
    return in == TML_F32 ? stream_f32_types : in == TML_F64 ? f64 : integers;
}

static bool scans_in_place(const tml_context *tml, tml_buffer in, tml_buffer out)
{
    const tml_slot *from = tml_slot_of(tml, in), *to = tml_slot_of(tml, out);
    return from && to && from->type == to->type;
}

enum { LENGTH, IN, OUT, SEGMENTS, TOTAL, START, SCRATCH };
#define ROW(field, ...) DESC_ROW(tml_scan_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(IN)),
    [IN] = ROW(in, DESC_IN, .types = in_types, .count = DESC_LENGTH),
    [OUT] = ROW(out, DESC_OUT, .count = DESC_LENGTH, .shares = 1u << IN),
    [SEGMENTS] = ROW(segments, DESC_SEGMENTED),
    [TOTAL] = OUT(total, .like = DESC_LIKE(OUT), .count = DESC_ONE),
    [START] = ROW(start, DESC_IN, .is_optional = true, .like = DESC_LIKE(OUT), .count = DESC_ONE),
    [SCRATCH] = DESC_SCRATCH(tml_scan_desc)};

/* Checks the fold, and finds the codes of one that is not a sum. */
static tml_status resolve_fold(tml_context *tml, const char *call, tml_scan_resolved *r)
{
    const tml_scan_desc *d = &r->desc;
    const tml_slot *in = tml_slot_of(tml, d->in);
    if ((unsigned)d->fold > TML_FOLD_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.fold is %d, needs TML_FOLD_SUM, TML_FOLD_MIN or TML_FOLD_MAX",
                         call, (int)d->fold);
    if (d->fold == TML_FOLD_SUM)
        return TML_OK;
    const tml_type types[] = {in->element_size < 4 ? TML_U32 : in->type, TML_TYPE_NONE};
    tml_status status = tml_check_buffer(tml, call, "desc.out", d->out, types, 0);
    if (status)
        return status;
    const tml_slot *out = tml_slot_of(tml, d->out);
    stream_sort_flips(out, d->fold == TML_FOLD_MIN, &r->flip, &r->real_flip);
    uint64_t infinity = out->type == TML_F32 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
    r->least = r->real_flip & ~infinity;
    return TML_OK;
}

/* Refuses what a scan of segments cannot do. */
static tml_status check_segmented(tml_context *tml, const char *call, const tml_scan_desc *d)
{
    const struct {
        bool is_given;
        const char *text;
    } refused[] = {
        {!tml_buffer_is_none(d->segments.starts),
         "desc.segments.starts is given, needs offsets: the starts, and then the length"},
        {d->fold != TML_FOLD_SUM,
         "desc.fold is not TML_FOLD_SUM, which a scan of segments needs; scan each segment by "
         "itself"},
        {d->method != TML_METHOD_AUTO,
         "desc.method is given with desc.segments, needs TML_METHOD_AUTO"},
        {!tml_buffer_is_none(d->start),
         "desc.start is given with desc.segments, each of which begins with 0; add it by tml_map"},
        {!tml_buffer_is_none(d->total),
         "desc.total is given with desc.segments; tml_reduce with these segments has their sums"},
        {!tml_buffer_is_none(d->length.device),
         "desc.length.device is given with desc.segments, needs none; let the last offset be the "
         "length"},
    };
    for (size_t i = 0; i < TML_ARRAY_SIZE(refused); i++)
        if (refused[i].is_given)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s", call, refused[i].text);
    return TML_OK;
}

static tml_status scan_resolve(tml_context *tml, const char *call, tml_scan_resolved *r)
{
    static const tml_method preference[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                            TML_METHOD_HISTOPYRAMID, TML_METHOD_AUTO};
    tml_scan_desc *desc = &r->desc;
    desc_numbers numbers = {.apart = scans_in_place(tml, desc->in, desc->out) ? 0 : 1u << OUT};
    const bool has_segments = stream_has_segments(&desc->segments);
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), desc, &numbers);
    TML_THEN(status, tml_check_buffer(tml, call, "desc.out", desc->out,
                                      out_types(tml_slot_of(tml, desc->in)->type), 0));
    if (!status && has_segments)
        status = check_segmented(tml, call, desc);
    TML_THEN(status, resolve_fold(tml, call, r));
    if (!status && !has_segments)
        status = stream_choose_method(tml, call, &stream_scan, r, &desc->method, preference);
    return status;
}

static tml_status scan(tml_context *tml, const tml_scan_desc *desc)
{
    tml_scan_resolved resolved = {.desc = *desc};
    tml_status status = scan_resolve(tml, "tml_scan", &resolved);
    if (status)
        return status;
    return stream_has_segments(&desc->segments)
               ? stream_run(tml, "tml_scan", &stream_scan_segments, &resolved.desc, desc->scratch)
               : stream_run(tml, "tml_scan", &stream_scan, &resolved, desc->scratch);
}

tml_status tml_scan(tml_context *tml, const tml_scan_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, scan(tml, desc));
}
