/* tml_sort: a stable sort by keys, with payloads, of a stream or of each of its segments. Checks,
 * defaults and dispatch. */
#include "core/scalars.h"
#include "stream/stream_parts.h"

STREAM_OP(sort, tml_sort_resolved, "no sorting");
STREAM_OP(sort_segments, tml_sort_resolved, "no sorting of segments");

static const char call[] = "tml_sort";

TML_SCALAR_LIST(SCALAR_IS_KNOWN)

/* Replaces first_bit and bit_count of 0 by the key's bits. */
static tml_status resolve_bits(tml_context *tml, tml_sort_desc *d)
{
    const tml_slot *keys = tml_slot_of(tml, d->keys);
    uint32_t bits = 8 * (uint32_t)keys->element_size;
    if (tml_scalar_kind_of(keys->type) != SCALAR_UNSIGNED && (d->first_bit || d->bit_count))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.first_bit is %u and desc.bit_count %u, need 0 for keys of %s; "
                         "ranges of bits are for unsigned keys",
                         call, d->first_bit, d->bit_count, tml_type_name(keys->type));
    if (d->first_bit >= bits || d->bit_count > bits - d->first_bit)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.first_bit is %u and desc.bit_count %u, need a range within the "
                         "%u bits of %s",
                         call, d->first_bit, d->bit_count, bits, tml_type_name(keys->type));
    if (d->bit_count == 0)
        d->bit_count = bits - d->first_bit;
    return TML_OK;
}

static tml_status check_overlaps(tml_context *tml, const tml_sort_desc *d)
{
    enum {
        INDICES = TML_MAX_PAYLOADS, /* after one for each payload */
        SORTED,
        SCRATCH,
        OUTPUTS,
        KEYS = TML_MAX_PAYLOADS,
        LENGTH,
        OFFSETS,
        STARTS,
        COUNT,
        INPUTS
    };
    stream_field outputs[OUTPUTS] = {[INDICES] = {"desc.indices", d->indices},
                                     [SORTED] = {"desc.sorted", d->sorted},
                                     [SCRATCH] = {"desc.scratch", d->scratch}};
    stream_input inputs[INPUTS] = {
        [KEYS] = {"desc.keys", d->keys, 1u << SORTED},
        [LENGTH] = {"desc.length.device", d->length.device, 0},
        [OFFSETS] = {"desc.segments.offsets", d->segments.offsets, 0},
        [STARTS] = {"desc.segments.starts", d->segments.starts, 0},
        [COUNT] = {"desc.segments.count.device", d->segments.count.device, 0}};
    stream_payload_fields(d->payloads, true, outputs, inputs);
    return stream_check_memory(tml, call, outputs, OUTPUTS, inputs, INPUTS);
}

static const stream_op *op_of(const tml_sort_resolved *r)
{
    return stream_has_segments(&r->desc.segments) ? &stream_sort_segments : &stream_sort;
}

/* Completes a checked desc whose bit_count is resolved. */
static tml_status stream_complete_sort(tml_context *tml, const char *name, tml_sort_resolved *r)
{
    static const tml_method preference[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                            TML_METHOD_HISTOPYRAMID, TML_METHOD_AUTO};
    const tml_slot *keys = tml_slot_of(tml, r->desc.keys);
    stream_sort_flips(keys, r->desc.descending, &r->flip, &r->real_flip);
    return stream_choose_method(tml, name, op_of(r), r, &r->desc.method, preference);
}

static tml_status sort_resolve(tml_context *tml, tml_sort_resolved *r)
{
    tml_sort_desc *d = &r->desc;
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, d->keys), &d->length);
    uint64_t count = d->length.count;
    if (!status)
        status = tml_check_buffer(tml, call, "desc.keys", d->keys, stream_scalar_types, count);
    if (!status)
        status = resolve_bits(tml, d);
    if (!status && !tml_buffer_is_none(d->sorted)) {
        const tml_type types[] = {tml_slot_of(tml, d->keys)->type, TML_TYPE_NONE};
        status = tml_check_buffer(tml, call, "desc.sorted", d->sorted, types, count);
    }
    if (!status)
        status = stream_check_payloads(tml, call, d->payloads, count, count);
    if (!status)
        status = stream_check_indices(tml, call, "desc.indices", d->indices, count,
                                      count ? count - 1 : 0);
    if (!status)
        status = stream_check_segments(tml, call, &d->segments, &r->segments);
    if (!status)
        status = check_overlaps(tml, d);
    return status ? status : stream_complete_sort(tml, call, r);
}

static tml_status sort(tml_context *tml, const tml_sort_desc *desc)
{
    tml_sort_resolved resolved = {.desc = *desc};
    tml_status status = sort_resolve(tml, &resolved);
    return status ? status : stream_run(tml, call, op_of(&resolved), &resolved, desc->scratch);
}

tml_status tml_sort(tml_context *tml, const tml_sort_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, sort(tml, desc));
}
