/* tml_top_k: the engine finds the k elements, unsorted; tml_sort sorts them in place; tml_gather
 * fetches what moves along. Checks, defaults, and these steps. */
#include <string.h>

#include "stream/program.h"
#include "stream/stream_parts.h"

STREAM_OP(top_k, tml_top_k_resolved, "no top k");

static const char call[] = "tml_top_k";

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

static tml_status top_k_check(tml_context *tml, tml_top_k_desc *d)
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

/* Gives what the steps need, and the caller has not given, arrays. */
static void add_arrays(program *p, tml_top_k_desc *d)
{
    bool sorts = !d->in_source_order && d->k.count > 1,
         gathers = !tml_buffer_is_none(d->payloads[0].in);
    bool is_counted = !tml_buffer_is_none(d->k.device) || !tml_buffer_is_none(d->length.device);
    if (gathers && tml_buffer_is_none(d->indices))
        d->indices = program_array(p, d->length.count > UINT32_MAX ? TML_U64 : TML_U32, d->k.count);
    sorts = sorts && !(tml_buffer_is_none(d->indices) && tml_buffer_is_none(d->values));
    if (sorts && tml_buffer_is_none(d->values))
        d->values = program_array(p, tml_slot_of(p->tml, d->keys)->type, d->k.count);
    if (is_counted && (sorts || gathers) && tml_buffer_is_none(d->count))
        d->count = program_array(p, TML_U64, 1);
}

static program top_k_record(tml_context *tml, const tml_top_k_desc *desc)
{
    program p = program_begin(tml, call);
    tml_top_k_resolved find = {.desc = *desc};
    tml_top_k_desc *d = &find.desc;
    if (!p.status)
        p.status = top_k_check(tml, d);
    if (p.status)
        return p;
    stream_sort_flips(tml_slot_of(tml, d->keys), !d->smallest, &find.flip, &find.real_flip);
    add_arrays(&p, d);
    tml_length results = tml_length_of(d->k.count);
    if (!tml_buffer_is_none(d->k.device) || !tml_buffer_is_none(d->length.device))
        results.device = d->count;
    (void)program_record(&p, &stream_top_k, &find);
    if (!d->in_source_order && d->k.count > 1 && !tml_buffer_is_none(d->values))
        program_sort(&p, &(tml_sort_desc){.keys = d->values,
                                          .length = results,
                                          .descending = !d->smallest,
                                          .sorted = d->values,
                                          .payloads = {{d->indices, d->indices}}});
    tml_gather_desc gather = {.indices = d->indices, .length = results};
    memcpy(gather.payloads, d->payloads, sizeof gather.payloads);
    if (!tml_buffer_is_none(d->payloads[0].in))
        program_gather(&p, &gather);
    return p;
}

tml_status tml_top_k(tml_context *tml, const tml_top_k_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, program_run(top_k_record(tml, desc), desc->scratch));
}
