/* tml_expand: any number of outputs for each source element. Checks, defaults and dispatch. */
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP_FLOAT(expand, tml_expand_desc, "no expansion");

static const char call[] = "tml_expand";

enum {
    LENGTH,
    COUNTS,
    COUNT_KERNEL,
    EMIT_KERNEL,
    IN,
    OUT,
    SOURCE,
    RANK,
    TOTAL,
    OUT_FIRST,
    SCRATCH
};
static const tml_type count_types[] = {TML_U8, TML_U16, TML_U32, TML_TYPE_NONE};
#define ROW(field, ...) DESC_ROW(tml_expand_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS),
    [COUNTS] =
        ROW(counts, DESC_IN, .is_optional = true, .types = count_types, .count = DESC_LENGTH),
    [COUNT_KERNEL] = ROW(count_kernel, DESC_KERNELS, .is_optional = true, .types = stream_u32_types,
                         .like = DESC_LIKE(IN), .count = DESC_LENGTH, .shares_inputs = true),
    [EMIT_KERNEL] = ROW(emit_kernel, DESC_KERNELS, .is_optional = true, .like = DESC_LIKE(IN),
                        .count = DESC_LENGTH, .shares_inputs = true, .has_rank = true),
    [IN] = ROW(in, DESC_INPUTS, .like = DESC_LIKE(EMIT_KERNEL)),
    [OUT] = ROW(out, DESC_MADE, .like = DESC_LIKE(EMIT_KERNEL)),
    [SOURCE] = OUT(source, .types = stream_count_types, .holds = DESC_LAST),
    [RANK] = OUT(rank, .types = stream_u32_types),
    [TOTAL] = OUT(total, .types = stream_count_types, .count = DESC_ONE, .shares = 1u << OUT_FIRST),
    [OUT_FIRST] = ROW(out_first, DESC_IN, .is_optional = true, .types = stream_count_types,
                      .count = DESC_ONE),
    [SCRATCH] = DESC_SCRATCH(tml_expand_desc)};

/* Checks a copy of the caller's desc and replaces its zeros by defaults. */
static tml_status expand_resolve(tml_context *tml, tml_expand_desc *d)
{
    static const tml_method preference[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                            TML_METHOD_HISTOPYRAMID, TML_METHOD_AUTO};
    if (tml_buffer_is_none(d->counts) == !d->count_kernel)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s of desc.counts and count_kernel given, needs exactly one", call,
                         d->count_kernel ? "both" : "none");
    if (tml_buffer_is_none(d->out[0]) != !d->emit_kernel)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s, needs both or neither", call,
                         d->emit_kernel ? "desc.emit_kernel is given and desc.out[0] is not"
                                        : "desc.out[0] is given and desc.emit_kernel is not");
    const tml_buffer measure =
        d->count_kernel ? stream_first_elements(d->count_kernel, d->in) : d->counts;
    desc_numbers numbers = {.of[DESC_LENGTH] = stream_count_of(tml, measure)};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), d, &numbers);
    return status ? status
                  : stream_choose_method(tml, call, &stream_expand, d, &d->method, preference);
}

static tml_status expand(tml_context *tml, const tml_expand_desc *desc)
{
    tml_expand_desc d = *desc;
    tml_status status = expand_resolve(tml, &d);
    return status ? status : stream_run(tml, call, &stream_expand, &d, d.scratch);
}

tml_status tml_expand(tml_context *tml, const tml_expand_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, expand(tml, desc));
}
