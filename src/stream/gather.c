/* tml_gather and tml_scatter: elements from, or to, places that indices name. Checks, defaults and
 * dispatch. */
#include "stream/stream_parts.h"

STREAM_OP(gather, tml_gather_desc, "no gathers");
STREAM_OP(scatter, tml_gather_desc, "no scatters");

static tml_status check_overlaps(tml_context *tml, const char *call, const tml_gather_desc *d)
{
    enum { INDICES = TML_MAX_PAYLOADS, LENGTH, INPUTS }; /* after one for each payload */
    stream_field outputs[TML_MAX_PAYLOADS + 1] = {
        [TML_MAX_PAYLOADS] = {"desc.scratch", d->scratch}};
    stream_input inputs[INPUTS] = {[INDICES] = {"desc.indices", d->indices, 0},
                                   [LENGTH] = {"desc.length.device", d->length.device, 0}};
    stream_payload_fields(d->payloads, false, outputs, inputs);
    return stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs, INPUTS);
}

static tml_status gather_resolve(tml_context *tml, const char *call, bool scatters,
                                 tml_gather_desc *d)
{
    tml_status status =
        stream_check_length(tml, call, stream_count_of(tml, d->indices), &d->length);
    uint64_t count = d->length.count;
    if (!status)
        status = tml_check_buffer(tml, call, "desc.indices", d->indices, stream_count_types, count);
    if (!status && tml_buffer_is_none(d->payloads[0].in))
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: desc.payloads[0].in is no buffer, needs an array to move", call);
    if (!status)
        status = stream_check_payloads(tml, call, d->payloads, scatters ? count : 0,
                                       scatters ? 0 : count);
    return status ? status : check_overlaps(tml, call, d);
}

static tml_status gather_enter(tml_context *tml, const char *call, const stream_op *op,
                               const tml_gather_desc *desc)
{
    tml_gather_desc d = *desc;
    tml_status status = gather_resolve(tml, call, op == &stream_scatter, &d);
    return status ? status : stream_run(tml, call, op, &d, d.scratch);
}

tml_status tml_gather(tml_context *tml, const tml_gather_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, gather_enter(tml, "tml_gather", &stream_gather, desc));
}

tml_status tml_scatter(tml_context *tml, const tml_gather_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status
                  : tml_leave(tml, gather_enter(tml, "tml_scatter", &stream_scatter, desc));
}
