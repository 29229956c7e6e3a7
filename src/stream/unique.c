/* tml_unique: one element of each run of equal neighbours. Checks, defaults and dispatch. */
#include "stream/stream_parts.h"

STREAM_OP(unique, tml_unique_desc, "no runs of equal elements");

static const char call[] = "tml_unique";

static tml_status unique_resolve(tml_context *tml, tml_unique_desc *d)
{
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, d->in), &d->length);
    TML_THEN(status, tml_check_buffer(tml, call, "desc.in", d->in, NULL, d->length.count));
    if (status)
        return status;
    uint64_t bound = d->length.count;
    if (!tml_buffer_is_none(d->values)) {
        const tml_type value_types[] = {tml_slot_of(tml, d->in)->type, TML_TYPE_NONE};
        status = tml_check_buffer(tml, call, "desc.values", d->values, value_types, 0);
    }
    if (status == TML_OK)
        status =
            stream_check_indices(tml, call, "desc.starts", d->starts, 0, bound ? bound - 1 : 0);
    TML_THEN(status, stream_check_indices(tml, call, "desc.lengths", d->lengths, 0, bound));
    TML_THEN(status, stream_check_count(tml, call, "desc.count", d->count, bound));

    enum { VALUES, STARTS, LENGTHS, COUNT, SCRATCH, OUTPUTS };
    const stream_field outputs[OUTPUTS] = {[VALUES] = {"desc.values", d->values},
                                           [STARTS] = {"desc.starts", d->starts},
                                           [LENGTHS] = {"desc.lengths", d->lengths},
                                           [COUNT] = {"desc.count", d->count},
                                           [SCRATCH] = {"desc.scratch", d->scratch}};
    const stream_input inputs[] = {{"desc.in", d->in, 1u << VALUES},
                                   {"desc.length.device", d->length.device, 0}};
    return status
               ? status
               : stream_check_memory(tml, call, outputs, OUTPUTS, inputs, TML_ARRAY_SIZE(inputs));
}

static tml_status unique(tml_context *tml, const tml_unique_desc *desc)
{
    tml_unique_desc d = *desc;
    tml_status status = unique_resolve(tml, &d);
    return status ? status : stream_run(tml, call, &stream_unique, &d, d.scratch);
}

tml_status tml_unique(tml_context *tml, const tml_unique_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, unique(tml, desc));
}
