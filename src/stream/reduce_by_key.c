/* tml_reduce_by_key: tml_unique finds the runs, and tml_reduce folds these segments, as many as
 * unique counted on the device. Checks and these two steps. */
#include "stream/program.h"

static const char call[] = "tml_reduce_by_key";

static tml_status check_buffers(tml_context *tml, const tml_reduce_by_key_desc *d)
{
    uint64_t bound = d->length.count;
    tml_status status = tml_check_buffer(tml, call, "keys", d->keys, NULL, bound);
    if (status)
        return status;
    if (!tml_buffer_is_none(d->out_keys)) {
        const tml_type types[] = {tml_slot_of(tml, d->keys)->type, TML_TYPE_NONE};
        status = tml_check_buffer(tml, call, "out_keys", d->out_keys, types, 0);
    }
    if (!status)
        status = tml_check_buffer(tml, call, "values", d->values, stream_scalar_types, bound);
    if (!status)
        status = stream_check_fold(tml, call, d->fold, d->values, bound, "out", d->out, bound);
    if (!status)
        status = tml_check_buffer(tml, call, "starts", d->starts, stream_count_types, bound);
    if (!status)
        status = stream_check_indices(tml, call, "starts", d->starts, bound, bound ? bound - 1 : 0);
    if (!status)
        status = tml_check_buffer(tml, call, "count", d->count, stream_count_types, 1);
    return status ? status : stream_check_count(tml, call, "count", d->count, bound);
}

static tml_status by_key_check(tml_context *tml, tml_reduce_by_key_desc *d)
{
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, d->keys), &d->length);
    if (!status)
        status = check_buffers(tml, d);
    const stream_field outputs[] = {{"out_keys", d->out_keys},
                                    {"starts", d->starts},
                                    {"out", d->out},
                                    {"count", d->count},
                                    {"scratch", d->scratch}};
    const stream_input inputs[] = {
        {"keys", d->keys, 0}, {"values", d->values, 0}, {"length.device", d->length.device, 0}};
    return status ? status
                  : stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs,
                                        TML_ARRAY_SIZE(inputs));
}

static program by_key_record(tml_context *tml, const tml_reduce_by_key_desc *desc)
{
    tml_reduce_by_key_desc d = *desc;
    program p = program_begin(tml, call);
    if (!p.status)
        p.status = by_key_check(tml, &d);
    tml_length runs = tml_length_of(d.length.count);
    runs.device = d.count;
    program_unique(&p, &(tml_unique_desc){.in = d.keys,
                                          .length = d.length,
                                          .values = d.out_keys,
                                          .starts = d.starts,
                                          .count = d.count});
    program_reduce(&p, &(tml_reduce_desc){.in = d.values,
                                          .folds = {{d.fold, d.out}},
                                          .segments.starts = d.starts,
                                          .segments.count = runs,
                                          .length = d.length});
    return p;
}

tml_status tml_reduce_by_key(tml_context *tml, const tml_reduce_by_key_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, program_run(by_key_record(tml, desc), desc->scratch));
}
