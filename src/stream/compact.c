/* tml_compact: checks, defaults and dispatch. */
#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP_FLOAT(compact, tml_compact_desc, "no compaction");

static const char call[] = "tml_compact";

/* ---- checks --------------------------------------------------------------------------------- */

enum { LENGTH, KERNEL, IN, FLAGS, MASK, PAYLOADS, INDICES, COUNT, OUT_FIRST, SCRATCH };
#define ROW(field, ...) DESC_ROW(tml_compact_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS),
    [KERNEL] = ROW(keep.kernel, DESC_KERNELS, .is_optional = true, .types = stream_u8_types,
                   .like = DESC_LIKE(IN), .count = DESC_LENGTH),
    [IN] = ROW(keep.in, DESC_INPUTS, .like = DESC_LIKE(KERNEL)),
    [FLAGS] = ROW(keep.flags, DESC_IN, .is_optional = true, .types = stream_u8_types,
                  .count = DESC_LENGTH),
    [MASK] = ROW(keep.mask, DESC_IN, .is_optional = true, .types = stream_u32_types,
                 .count = DESC_WORDS),
    [PAYLOADS] = ROW(payloads, DESC_PAYLOADS, .count = DESC_LENGTH, .holds = DESC_OUTS,
                     .shares = 1u << PAYLOADS | 1u << IN),
    [INDICES] = OUT(indices, .types = stream_count_types, .count = DESC_OUTS, .holds = DESC_LAST),
    /* the count may overwrite the length, and where outputs begin */
    [COUNT] = OUT(count, .types = stream_count_types, .count = DESC_ONE, .holds = DESC_LENGTH,
                  .shares = 1u << LENGTH | 1u << OUT_FIRST),
    [OUT_FIRST] = ROW(out_first, DESC_IN, .is_optional = true, .types = stream_count_types,
                      .count = DESC_ONE),
    [SCRATCH] = DESC_SCRATCH(tml_compact_desc)};

static tml_status check_keep_is_one(tml_context *tml, const tml_keep *keep)
{
    const int given =
        (keep->kernel != NULL) + !tml_buffer_is_none(keep->flags) + !tml_buffer_is_none(keep->mask);
    return given == 1 ? TML_OK
                      : tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                                  "%s: %d of desc.keep.kernel, flags and mask are given, needs "
                                  "exactly one",
                                  call, given);
}

/* A keep kernel without inputs of its own reads the first payloads. */
static void default_kernel_inputs(tml_compact_desc *desc)
{
    tml_keep *keep = &desc->keep;
    uint32_t next = 0;
    if (!keep->kernel || !tml_buffer_is_none(keep->in[0]))
        return;
    for (uint32_t p = 0; p < keep->kernel->param_count && next < TML_MAX_INPUTS; p++) {
        if (tml_param_is_array(keep->kernel->params[p])) {
            keep->in[next] = desc->payloads[next].in;
            next++;
        }
    }
}

/* The default length: element count of the first payload, else of the source of keep bits. */
static uint64_t available(const tml_context *tml, const tml_compact_desc *desc)
{
    if (!tml_buffer_is_none(desc->payloads[0].in))
        return stream_count_of(tml, desc->payloads[0].in);
    if (desc->keep.kernel)
        return stream_count_of(tml, stream_first_elements(desc->keep.kernel, desc->keep.in));
    return tml_buffer_is_none(desc->keep.mask) ? stream_count_of(tml, desc->keep.flags)
                                               : 32 * stream_count_of(tml, desc->keep.mask);
}

/* ---- the calls ------------------------------------------------------------------------------ */

static tml_status compact_resolve(tml_context *tml, tml_compact_desc *desc)
{
    static const tml_method preference[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                            TML_METHOD_HISTOPYRAMID, TML_METHOD_AUTO};
    const bool partition = desc->partition, appends = !tml_buffer_is_none(desc->out_first),
               in_place = !partition && !appends &&
                          (desc->method == TML_METHOD_AUTO || desc->method == TML_METHOD_LOOK_BACK);
    default_kernel_inputs(desc);
    desc_numbers numbers = {.of[DESC_LENGTH] = available(tml, desc),
                            .outs = partition ? DESC_LENGTH : DESC_ANY,
                            .apart = in_place ? 0 : 1u << PAYLOADS};
    tml_status status = check_keep_is_one(tml, &desc->keep);
    if (!status && appends && partition)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: desc.out_first is given, needs none: a partition fills its outputs",
                           call);
    TML_THEN(status, desc_check(tml, call, &DESC_TABLE(rows), desc, &numbers));
    /* By LOOK_BACK a host's partition must hold rejected elements until the kept are counted. */
    return status ? status
                  : stream_choose_method(tml, call, &stream_compact, desc, &desc->method,
                                         preference + (partition && tml->engine->is_host));
}

static tml_status compact(tml_context *tml, const tml_compact_desc *desc)
{
    tml_compact_desc resolved = *desc;
    tml_status status = compact_resolve(tml, &resolved);
    return status ? status : stream_run(tml, call, &stream_compact, &resolved, resolved.scratch);
}

tml_status tml_compact(tml_context *tml, const tml_compact_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, compact(tml, desc));
}
