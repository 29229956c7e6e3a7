/* tml_compact: checks, defaults and dispatch. */
#include <stdio.h>

#include "stream/stream_parts.h"

STREAM_OP_FLOAT(compact, tml_compact_desc, "no compaction");

/* ---- checks --------------------------------------------------------------------------------- */

/* Checks that desc has exactly one source of keep bits, and checks that source. */
static tml_status check_keep(tml_context *tml, const char *call, tml_compact_desc *desc)
{
    tml_keep *keep = &desc->keep;
    bool flags = !tml_buffer_is_none(keep->flags), mask = !tml_buffer_is_none(keep->mask);
    int given = (keep->kernel != NULL) + flags + mask;
    if (given != 1)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %d of desc.keep.kernel, flags and mask are given, needs exactly one",
                         call, given);

    uint64_t count = desc->length.count;
    if (flags)
        return tml_check_buffer(tml, call, "desc.keep.flags", keep->flags, stream_flag_types,
                                count);
    if (mask)
        return tml_check_buffer(tml, call, "desc.keep.mask", keep->mask, stream_mask_types,
                                count / 32 + (count % 32 != 0));
    return stream_check_kernel(tml, call, "desc.keep.kernel", keep->kernel, TML_U8, false,
                               "desc.keep.in", keep->in, count);
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

/* Names of payloads' fields in messages: made before any call, since few calls have a message. */
static const struct {
    const char *in, *out;
} payload_names[] = {
#define NAMES(p)                                                                                   \
    {                                                                                              \
        "desc.payloads[" #p "].in", "desc.payloads[" #p "].out"                                    \
    }
    NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7),
#undef NAMES
};
_Static_assert(TML_ARRAY_SIZE(payload_names) == TML_MAX_PAYLOADS, "each payload has names");

static tml_status check_payload(tml_context *tml, const char *call, const tml_payload *payload,
                                uint32_t p, uint64_t count, uint64_t out_count)
{
    const char *in = payload_names[p].in, *out = payload_names[p].out;
    tml_status status = tml_check_buffer(tml, call, in, payload->in, NULL, count);
    if (!status)
        status = tml_check_buffer(tml, call, out, payload->out, NULL, out_count);
    if (status)
        return status;
    tml_type in_type = tml_slot_of(tml, payload->in)->type;
    tml_type out_type = tml_slot_of(tml, payload->out)->type;
    if (in_type != out_type)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s is %s, needs %s as %s", call, out,
                         tml_type_name(out_type), tml_type_name(in_type), in);
    return TML_OK;
}

void stream_payload_fields(const tml_payload *payloads, bool in_place, stream_field *outputs,
                           stream_input *inputs)
{
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
        outputs[p] = (stream_field){payload_names[p].out, payloads[p].out};
        inputs[p] = (stream_input){"a payload's in", payloads[p].in, (uint32_t)in_place << p};
    }
}

tml_status stream_check_payloads(tml_context *tml, const char *call, const tml_payload *payloads,
                                 uint64_t count, uint64_t out_count)
{
    bool ended = false;
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++) {
        bool none = tml_buffer_is_none(payloads[p].in) && tml_buffer_is_none(payloads[p].out);
        if (!none && ended)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.payloads[%u] follows an unused one, needs them without gaps",
                             call, p);
        ended = none;
        if (!none)
            status = check_payload(tml, call, &payloads[p], p, count, out_count);
    }
    return status;
}

/* May out overwrite the kernel's input number k? Yes if both have the same start address and
 * element size, and the kernel reads element i alone: compaction reads it before its memory is
 * written. */
static bool in_step(const tml_context *tml, const tml_keep *keep, uint32_t k, tml_buffer out)
{
    const tml_slot *a = tml_slot_of(tml, keep->in[k]), *b = tml_slot_of(tml, out);
    return a && b && stream_same(tml, keep->in[k], out) && a->element_size == b->element_size &&
           !(keep->kernel && stream_is_words(keep->kernel, k));
}

/* Refuses overlap of outputs with one another and with inputs. in_place: a payload's out may be its
 * in, and then that buffer may also be an input of the kernel. */
static tml_status check_overlaps(tml_context *tml, const char *call, const tml_compact_desc *desc,
                                 bool in_place)
{
    enum {
        INDICES = TML_MAX_PAYLOADS, /* after one for each payload */
        COUNT,
        SCRATCH,
        OUTPUTS,
        FLAGS = TML_MAX_PAYLOADS + TML_MAX_INPUTS, /* after payloads and kernel inputs */
        MASK,
        LENGTH,
        OUT_FIRST,
        INPUTS
    };
    stream_field outputs[OUTPUTS] = {[INDICES] = {"desc.indices", desc->indices},
                                     [COUNT] = {"desc.count", desc->count},
                                     [SCRATCH] = {"desc.scratch", desc->scratch}};
    stream_input inputs[INPUTS] = {
        [FLAGS] = {"desc.keep.flags", desc->keep.flags, 0},
        [MASK] = {"desc.keep.mask", desc->keep.mask, 0},
        /* the count may overwrite the length, and where outputs begin */
        [LENGTH] = {"desc.length.device", desc->length.device, 1u << COUNT},
        [OUT_FIRST] = {"desc.out_first", desc->out_first, 1u << COUNT}};
    for (uint32_t k = 0; k < TML_MAX_INPUTS; k++)
        inputs[TML_MAX_PAYLOADS + k] = (stream_input){"desc.keep.in", desc->keep.in[k], 0};
    stream_payload_fields(desc->payloads, in_place, outputs, inputs);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && in_place; p++)
        for (uint32_t k = 0; k < TML_MAX_INPUTS; k++)
            if (stream_same(tml, outputs[p].buffer, inputs[p].buffer) &&
                in_step(tml, &desc->keep, k, outputs[p].buffer))
                inputs[TML_MAX_PAYLOADS + k].may_share |= 1u << p;
    return stream_check_memory(tml, call, outputs, OUTPUTS, inputs, INPUTS);
}

/* ---- the calls ------------------------------------------------------------------------------ */

static tml_status compact_resolve(tml_context *tml, const char *call, tml_compact_desc *desc)
{
    static const tml_method preference[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                            TML_METHOD_HISTOPYRAMID, TML_METHOD_AUTO};
    const bool partition = desc->partition;
    default_kernel_inputs(desc);
    tml_status status = stream_check_length(tml, call, available(tml, desc), &desc->length);
    if (!status)
        status = check_keep(tml, call, desc);

    uint64_t count = desc->length.count, out_count = partition ? count : 0;
    if (!status)
        status = stream_check_payloads(tml, call, desc->payloads, count, out_count);
    if (!status)
        status = stream_check_indices(tml, call, "desc.indices", desc->indices, out_count,
                                      count ? count - 1 : 0);
    if (!status)
        status = stream_check_count(tml, call, "desc.count", desc->count, count);
    bool appends = !tml_buffer_is_none(desc->out_first);
    if (!status && appends && partition)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: desc.out_first is given, needs none: a partition fills its outputs",
                           call);
    if (!status)
        status = stream_check_count(tml, call, "desc.out_first", desc->out_first, 0);
    bool in_place =
        !appends && (desc->method == TML_METHOD_AUTO || desc->method == TML_METHOD_LOOK_BACK);
    /* By LOOK_BACK a host's partition must hold rejected elements until the kept are counted. */
    if (!status)
        status = stream_choose_method(tml, call, &stream_compact, desc, &desc->method,
                                      preference + (partition && tml->engine->is_host));
    if (!status)
        status = check_overlaps(tml, call, desc, !partition && in_place);
    return status;
}

static tml_status compact(tml_context *tml, const tml_compact_desc *desc)
{
    tml_compact_desc resolved = *desc;
    tml_status status = compact_resolve(tml, "tml_compact", &resolved);
    return status ? status
                  : stream_run(tml, "tml_compact", &stream_compact, &resolved, resolved.scratch);
}

tml_status tml_compact(tml_context *tml, const tml_compact_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, compact(tml, desc));
}
