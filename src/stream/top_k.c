/* tml_top_k: the engine finds the k elements, unsorted; tml_sort sorts them in place; tml_gather fetches what
 * moves along. Checks, defaults, and these steps. */
#include <stdio.h>

#include "stream/stream_parts.h"

STREAM_OP(top_k, "no top k");

static const char call[] = "tml_top_k";

typedef struct top_k {
    tml_top_k_resolved find;
    tml_sort_resolved sort;
    tml_gather_desc gather;
    stream_step steps[3];
    size_t step_count;
} top_k;

/* The elements that the first of the outputs has. */
static uint64_t room_of(const tml_context *tml, const tml_top_k_desc *d)
{
    const tml_buffer outputs[] = {d->values, d->indices, d->payloads[0].out};
    for (size_t o = 0; o < TML_ARRAY_SIZE(outputs); o++)
        if (!tml_buffer_is_none(outputs[o]))
            return stream_count_of(tml, outputs[o]);
    return 0;
}

static tml_status check_overlaps(tml_context *tml, const tml_top_k_desc *d)
{
    enum {
        VALUES = TML_MAX_PAYLOADS, /* after one for each payload */
        INDICES,
        COUNT,
        SCRATCH,
        OUTPUTS,
        KEYS = TML_MAX_PAYLOADS,
        LENGTH,
        K,
        INPUTS
    };
    stream_field outputs[OUTPUTS] = {[VALUES] = {"desc.values", d->values},
                                     [INDICES] = {"desc.indices", d->indices},
                                     [COUNT] = {"desc.count", d->count},
                                     [SCRATCH] = {"desc.scratch", d->scratch}};
    stream_input inputs[INPUTS] = {[KEYS] = {"desc.keys", d->keys, 0},
                                   [LENGTH] = {"desc.length.device", d->length.device, 0},
                                   [K] = {"desc.k.device", d->k.device, 0}};
    stream_payload_fields(d->payloads, false, outputs, inputs);
    return stream_check_memory(tml, call, outputs, OUTPUTS, inputs, INPUTS);
}

static tml_status check(tml_context *tml, tml_top_k_desc *d)
{
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, d->keys), &d->length);
    uint64_t length = d->length.count;
    if (!status)
        status = tml_check_buffer(tml, call, "desc.keys", d->keys, stream_scalar_types, length);
    if (!status)
        status = stream_check_length_of(tml, call, "desc.k", room_of(tml, d), &d->k);
    uint64_t most = d->k.count = TML_MIN_OF(d->k.count, length);
    if (!status && !tml_buffer_is_none(d->values)) {
        const tml_type types[] = {tml_slot_of(tml, d->keys)->type, TML_TYPE_NONE};
        status = tml_check_buffer(tml, call, "desc.values", d->values, types, most);
    }
    if (!status)
        status = stream_check_indices(tml, call, "desc.indices", d->indices, most,
                                      length ? length - 1 : 0);
    if (!status)
        status = stream_check_payloads(tml, call, d->payloads, length, most);
    if (!status)
        status = stream_check_count(tml, call, "desc.count", d->count, most);
    return status ? status : check_overlaps(tml, d);
}

/* Gives what the steps need, and the caller has not given, temporaries. */
static void add_temporaries(tml_context *tml, tml_top_k_desc *d)
{
    enum { VALUES, INDICES, COUNT };
    bool sorts = !d->unsorted && d->k.count > 1, gathers = !tml_buffer_is_none(d->payloads[0].in);
    bool is_counted = !tml_buffer_is_none(d->k.device) || !tml_buffer_is_none(d->length.device);
    if (gathers && tml_buffer_is_none(d->indices))
        d->indices = stream_temporary(tml, INDICES,
                                      d->length.count > UINT32_MAX ? TML_U64 : TML_U32, d->k.count);
    sorts = sorts && !(tml_buffer_is_none(d->indices) && tml_buffer_is_none(d->values));
    if (sorts && tml_buffer_is_none(d->values))
        d->values = stream_temporary(tml, VALUES, tml_slot_of(tml, d->keys)->type, d->k.count);
    if (is_counted && (sorts || gathers) && tml_buffer_is_none(d->count))
        d->count = stream_temporary(tml, COUNT, TML_U64, 1);
}

static void add_step(top_k *t, const stream_op *op, const void *desc)
{
    t->steps[t->step_count++] = (stream_step){.op = op, .desc = desc};
}

static tml_status resolve(tml_context *tml, const tml_top_k_desc *desc, top_k *t)
{
    *t = (top_k){.find.desc = *desc};
    tml_top_k_desc *d = &t->find.desc;
    tml_status status = check(tml, d);
    if (status)
        return status;
    const tml_slot *keys = tml_slot_of(tml, d->keys);
    stream_sort_flips(keys, !d->smallest, &t->find.flip, &t->find.real_flip);
    add_temporaries(tml, d);
    tml_length results = tml_length_of(d->k.count);
    if (!tml_buffer_is_none(d->k.device) || !tml_buffer_is_none(d->length.device))
        results.device = d->count;
    add_step(t, &stream_top_k, &t->find);
    if (!d->unsorted && d->k.count > 1 && !tml_buffer_is_none(d->values)) {
        t->sort.desc = (tml_sort_desc){.keys = d->values,
                                       .length = results,
                                       .descending = !d->smallest,
                                       .bit_count = 8 * (uint32_t)keys->element_size,
                                       .sorted = d->values,
                                       .payloads = {{d->indices, d->indices}}};
        status = stream_complete_sort(tml, call, &t->sort);
        add_step(t, &stream_sort, &t->sort);
    }
    if (!tml_buffer_is_none(d->payloads[0].in)) {
        t->gather = (tml_gather_desc){.indices = d->indices, .length = results};
        for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++)
            t->gather.payloads[p] = d->payloads[p];
        add_step(t, &stream_gather, &t->gather);
    }
    if (status)
        stream_temporaries_end(tml);
    return status;
}

static tml_status find_top_k(tml_context *tml, const tml_top_k_desc *desc)
{
    top_k t;
    tml_status status = resolve(tml, desc, &t);
    return status ? status : stream_run_steps(tml, call, t.steps, t.step_count, desc->scratch);
}

tml_status tml_top_k(tml_context *tml, const tml_top_k_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, find_top_k(tml, desc));
}

static size_t top_k_scratch_size(tml_context *tml, const tml_top_k_desc *desc)
{
    top_k t;
    return resolve(tml, desc, &t) == TML_OK ? stream_steps_scratch_size(tml, t.steps, t.step_count)
                                            : 0;
}

size_t tml_top_k_scratch_size(tml_context *tml, const tml_top_k_desc *desc)
{
    if (TML_ENTER(tml, desc) != TML_OK)
        return 0;
    size_t size = top_k_scratch_size(tml, desc);
    (void)tml_leave(tml, TML_OK);
    return size;
}
