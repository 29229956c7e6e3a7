/* tml_search: the places of queries in a sorted stream. Checks, defaults and dispatch. */
#include "stream/stream_parts.h"

STREAM_OP(search, tml_search_resolved, "no searches");

static const char call[] = "tml_search";

static tml_status search_resolve(tml_context *tml, tml_search_resolved *r)
{
    tml_search_desc *d = &r->desc;
    tml_status status = stream_check_length_of(tml, call, "sorted_length",
                                               stream_count_of(tml, d->sorted), &d->sorted_length);
    if (!status)
        status = tml_check_buffer(tml, call, "sorted", d->sorted, stream_scalar_types,
                                  d->sorted_length.count);
    if (!status)
        status = stream_check_length(tml, call, stream_count_of(tml, d->queries), &d->length);
    if (status)
        return status;
    const tml_slot *sorted = tml_slot_of(tml, d->sorted);
    const tml_type types[] = {sorted->type, TML_TYPE_NONE};
    status = tml_check_buffer(tml, call, "queries", d->queries, types, d->length.count);
    if (!status)
        status = tml_check_buffer(tml, call, "out", d->out, stream_count_types, d->length.count);
    if (!status)
        status =
            stream_check_indices(tml, call, "out", d->out, d->length.count, d->sorted_length.count);
    stream_sort_flips(sorted, d->descending, &r->flip, &r->real_flip);
    const stream_field outputs[] = {{"out", d->out}, {"scratch", d->scratch}};
    const stream_input inputs[] = {{"sorted", d->sorted, 0},
                                   {"queries", d->queries, 0},
                                   {"sorted_length.device", d->sorted_length.device, 0},
                                   {"length.device", d->length.device, 0}};
    return status ? status
                  : stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs,
                                        TML_ARRAY_SIZE(inputs));
}

static tml_status search(tml_context *tml, const tml_search_desc *desc)
{
    tml_search_resolved resolved = {.desc = *desc};
    tml_status status = search_resolve(tml, &resolved);
    return status ? status : stream_run(tml, call, &stream_search, &resolved, desc->scratch);
}

tml_status tml_search(tml_context *tml, const tml_search_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, search(tml, desc));
}
