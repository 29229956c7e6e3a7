/* tml_sort: a stable sort by keys, with payloads, of a stream or of each of its segments. Checks,
 * defaults and dispatch. */
#include "core/scalars.h"
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP(sort, tml_sort_resolved, "no sorting");
STREAM_OP(sort_segments, tml_sort_resolved, "no sorting of segments");

static const char call[] = "tml_sort";

enum { LENGTH, KEYS, SORTED, PAYLOADS, INDICES, SEGMENTS, SCRATCH };
#define ROW(field, ...) DESC_ROW(tml_sort_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(KEYS)),
    [KEYS] = ROW(keys, DESC_IN, .types = stream_scalar_types, .count = DESC_LENGTH),
    [SORTED] = OUT(sorted, .like = DESC_LIKE(KEYS), .count = DESC_LENGTH, .shares = 1u << KEYS),
    [PAYLOADS] = ROW(payloads, DESC_PAYLOADS, .count = DESC_LENGTH, .holds = DESC_LENGTH,
                     .shares = 1u << PAYLOADS),
    [INDICES] = OUT(indices, .types = stream_count_types, .count = DESC_LENGTH, .holds = DESC_LAST),
    [SEGMENTS] = ROW(segments, DESC_SEGMENTED),
    [SCRATCH] = DESC_SCRATCH(tml_sort_desc)};

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
    desc_numbers numbers = {0};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), &r->desc, &numbers);
    TML_THEN(status, resolve_bits(tml, &r->desc));
    r->segments = numbers.of[DESC_SEGMENTS];
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
