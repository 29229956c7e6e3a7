/* tml_top_k: the engine finds the k elements, unsorted; tml_sort sorts them in place; tml_gather
 * fetches what moves along. Checks, defaults, and these steps. */
#include <string.h>

#include "stream/desc.h"
#include "stream/program.h"
#include "stream/stream_parts.h"

STREAM_OP(top_k, tml_top_k_resolved, "no top k");

static const char call[] = "tml_top_k";

enum { LENGTH, KEYS, K, VALUES, INDICES, PAYLOADS, COUNT, SCRATCH };
#define ROW(field, ...) DESC_ROW(tml_top_k_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(KEYS)),
    [KEYS] = ROW(keys, DESC_IN, .types = stream_scalar_types, .count = DESC_LENGTH),
    [K] = ROW(k, DESC_LENGTHS, .count = DESC_SECOND, .holds = DESC_LENGTH),
    [VALUES] = OUT(values, .like = DESC_LIKE(KEYS), .count = DESC_SECOND),
    [INDICES] = OUT(indices, .types = stream_count_types, .count = DESC_SECOND, .holds = DESC_LAST),
    [PAYLOADS] = ROW(payloads, DESC_PAYLOADS, .count = DESC_LENGTH, .holds = DESC_SECOND),
    [COUNT] = OUT(count, .types = stream_count_types, .count = DESC_ONE, .holds = DESC_SECOND),
    [SCRATCH] = DESC_SCRATCH(tml_top_k_desc)};

/* The elements that the first of the outputs has. */
static uint64_t room_of(const tml_context *tml, const tml_top_k_desc *d)
{
    const tml_buffer outputs[] = {d->values, d->indices, d->payloads[0].out};
    for (size_t o = 0; o < TML_ARRAY_SIZE(outputs); o++)
        if (!tml_buffer_is_none(outputs[o]))
            return stream_count_of(tml, outputs[o]);
    return 0;
}

static tml_status top_k_check(tml_context *tml, tml_top_k_desc *d)
{
    desc_numbers numbers = {.of[DESC_SECOND] = room_of(tml, d)};
    return desc_check(tml, call, &DESC_TABLE(rows), d, &numbers);
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
