/* tml_reduce_by_key: tml_unique finds the runs, and tml_reduce_segments folds them, as many as unique
 * counted on the device. Checks and these two steps. */
#include "stream/stream_internal.h"

static const char call[] = "tml_reduce_by_key";

typedef struct by_key {
    tml_unique_desc unique;
    tml_reduce_segments_desc reduce;
} by_key;

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

static tml_status resolve(tml_context *tml, const tml_reduce_by_key_desc *desc, by_key *out)
{
    tml_reduce_by_key_desc d = *desc;
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, d.keys), &d.length);
    if (!status)
        status = check_buffers(tml, &d);
    enum { OUT_KEYS, STARTS, OUT, COUNT, SCRATCH, OUTPUTS };
    const stream_field outputs[OUTPUTS] = {[OUT_KEYS] = {"out_keys", d.out_keys},
                                           [STARTS] = {"starts", d.starts},
                                           [OUT] = {"out", d.out},
                                           [COUNT] = {"count", d.count},
                                           [SCRATCH] = {"scratch", d.scratch}};
    const stream_input inputs[] = {
        {"keys", d.keys, 0}, {"values", d.values, 0}, {"length.device", d.length.device, 0}};
    if (!status)
        status = stream_check_memory(tml, call, outputs, OUTPUTS, inputs, TML_ARRAY_SIZE(inputs));
    tml_length runs = tml_length_of(d.length.count);
    runs.device = d.count;
    *out = (by_key){.unique = {.in = d.keys,
                               .length = d.length,
                               .values = d.out_keys,
                               .starts = d.starts,
                               .count = d.count},
                    .reduce = {.fold = d.fold,
                               .in = d.values,
                               .out = d.out,
                               .starts = d.starts,
                               .count = runs,
                               .length = d.length}};
    return status;
}

static tml_status reduce_by_key(tml_context *tml, const tml_reduce_by_key_desc *desc)
{
    by_key d;
    tml_status status = resolve(tml, desc, &d);
    const stream_step steps[] = {{.op = &stream_unique, .desc = &d.unique},
                                 {.op = &stream_reduce_segments, .desc = &d.reduce}};
    return status ? status
                  : stream_run_steps(tml, call, steps, TML_ARRAY_SIZE(steps), desc->scratch);
}

tml_status tml_reduce_by_key(tml_context *tml, const tml_reduce_by_key_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, reduce_by_key(tml, desc));
}

static size_t by_key_scratch_size(tml_context *tml, const tml_reduce_by_key_desc *desc)
{
    by_key d;
    const stream_step steps[] = {{.op = &stream_unique, .desc = &d.unique},
                                 {.op = &stream_reduce_segments, .desc = &d.reduce}};
    return resolve(tml, desc, &d) == TML_OK
               ? stream_steps_scratch_size(tml, steps, TML_ARRAY_SIZE(steps))
               : 0;
}

size_t tml_reduce_by_key_scratch_size(tml_context *tml, const tml_reduce_by_key_desc *desc)
{
    if (TML_ENTER(tml, desc) != TML_OK)
        return 0;
    size_t size = by_key_scratch_size(tml, desc);
    (void)tml_leave(tml, TML_OK);
    return size;
}
