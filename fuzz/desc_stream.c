/* Descs of the stream operations. */
#include "fuzz/desc.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, fuzz_is_kept, (uint a, tml_params p), { return (a & 3u) <= p.u[0] + U(p.m[5]); })
TML_KERNEL(uint, fuzz_count_of, (uint a), { return a % 4u; })
TML_KERNEL(uint, fuzz_emitted, (uint a, tml_index s, tml_rank k), { return a + U(s) + k; })
TML_KERNEL_OUTS((uint code, vec3 point), fuzz_emitted_two, (uint a, tml_index s, tml_rank k), {
    fuzz_emitted_two_out o;
    o.code = a + U(s);
    o.point = VEC3(F(k), 0.0f, 1.0f);
    return o;
})
TML_KERNEL(float, fuzz_mapped, (float a, tml_index i), { return a + F(i); })

#include <trommel/kernel_end.h>

static tml_type take_count_type(void)
{
    return take_bool() ? TML_U64 : TML_U32;
}

static tml_method take_method(void)
{
    return (tml_method)mostly(below(TML_METHOD_HISTOPYRAMID + 1));
}

static tml_type take_element(void)
{
    uint8_t which = take();
    return which < 160   ? take_scalar()
           : which < 208 ? TML_VEC(take_scalar(), 2 + below(3))
                         : TML_RECORD(1 + below(64));
}

static tml_length take_length(uint64_t count)
{
    uint8_t which = take();
    tml_length length = {.count = which & 1 ? mostly(below(count + 1)) : 0, .exact = which & 2};
    if (which >= 192) {
        length.device = make(take_count_type(), 1 + below(3), CONTENTS_BELOW, count + 2);
        length.device_index = mostly(below(count_of(length.device)));
    }
    return length;
}

/* What the size query says is what the call takes. */
static size_t needed, reserved;

#define RUN(operation, desc)                                                                       \
    (needed = SCRATCH_OF(tml, operation(tml, desc)), reserved = test_reserved(tml),                \
     has_run(#operation, (desc)->scratch, operation(tml, desc)))

static bool has_run(const char *call, tml_buffer scratch, tml_status status)
{
    DEMAND(status != TML_ERROR_SCRATCH_TOO_SMALL || count_of(scratch) < needed);
    DEMAND(status != TML_OK || test_reserved(tml) <= (needed > reserved ? needed : reserved));
    return ended_well(call, status);
}

void desc_scan(void)
{
    tml_type type = take_scalar(), out_type = take_bool() ? type : take_scalar();
    uint64_t count = below(200);
    tml_scan_desc desc = {.in = make(type, count, CONTENTS_ANY, 0)};
    desc.length = take_length(count);
    desc.inclusive = take_bool();
    desc.method = take_method();
    desc.out = take() >= 192 ? as_out(desc.in) : make_out(out_type, count);
    desc.total = maybe_out(out_type, 1);
    desc.fold = (tml_fold)mostly(below(TML_FOLD_MAX + 1));
    if (take_bool())
        desc.start = make(out_type, 1, CONTENTS_ANY, 0);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_scan(tml, &desc)));
    (void)RUN(tml_scan, &desc);
}

void desc_reduce(void)
{
    tml_type type = take_element(), scalar = tml_type_scalar(type);
    const tml_type vector = scalar ? type - scalar : 0; /* of another scalar, as many components */
    uint64_t count = below(200);
    tml_reduce_desc desc = {.folds[0].fold = (tml_fold)mostly(below(TML_FOLD_MEAN + 1)),
                            .in = make(type, count, CONTENTS_ANY, 0)};
    desc.length = take_length(count);
    desc.folds[0].out = make_out(take_bool() ? type : vector + take_scalar(), 1);
    for (uint32_t i = 0, end = (uint32_t)below(4); i < end; i++)
        desc.folds[1 + (seldom() ? below(TML_MAX_FOLDS - 1) : i)] =
            (tml_reduce_result){(tml_fold)mostly(below(TML_FOLD_MEAN + 1)),
                                make_out(take_bool() ? type : vector + take_scalar(), 1)};
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_reduce(tml, &desc)));
    if (RUN(tml_reduce, &desc) && !vector &&
        (desc.folds[0].fold == TML_FOLD_ARGMIN || desc.folds[0].fold == TML_FOLD_ARGMAX))
        DEMAND(number_of(desc.folds[0].out, 0) < count_of(desc.in) ||
               number_of(desc.folds[0].out, 0) >= UINT32_MAX);
}

void desc_histogram(void)
{
    uint64_t count = below(200), bins = 1 + below(40);
    uint8_t source = take();
    tml_type type = source < 128 ? (take_bool() ? TML_U32 : TML_U8) : take_scalar();
    tml_histogram_desc desc = {.kernel = source < 64 ? TML_USE(fuzz_count_of) : NULL};
    desc.in[0] = make(type, count, source < 128 ? CONTENTS_BELOW : CONTENTS_ANY, 45);
    desc.length = take_length(count);
    desc.bins = take_bool() ? (uint32_t)mostly(bins) : 0;
    if (source >= 192)
        desc.edges = make(seldom() ? take_scalar() : type, bins + 1,
                          take_bool() ? CONTENTS_ANY : CONTENTS_BELOW, 300);
    if ((source >= 128 && source < 192) || seldom())
        desc.lower = (float)take() - 100, desc.upper = (float)take();
    if (take_bool())
        desc.weights = make(take_scalar(), count, CONTENTS_ANY, 0);
    desc.out = make_out(take_bool() ? take_count_type() : TML_F32, bins);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_histogram(tml, &desc)));
    if (!RUN(tml_histogram, &desc) || !tml_buffer_is_none(desc.weights))
        return;
    uint64_t sum = 0;
    desc.bins = desc.bins || tml_buffer_is_none(desc.edges) ? desc.bins : (uint32_t)bins;
    for (uint64_t b = 0; b < (desc.bins ? desc.bins : count_of(desc.out)); b++)
        sum += number_of(desc.out, b);
    DEMAND(sum <= count_of(desc.in[0]));
}

void desc_sort(void)
{
    tml_type type = take_scalar();
    uint64_t count = below(200);
    tml_sort_desc desc = {.keys = make(type, count, CONTENTS_BELOW, 300)};
    desc.length = take_length(count);
    desc.descending = take_bool();
    if (take_bool()) {
        desc.first_bit = (uint32_t)below(66);
        desc.bit_count = (uint32_t)below(66);
    }
    desc.sorted = take() >= 192 ? as_out(desc.keys) : maybe_out(type, count);
    for (uint32_t p = 0, end = (uint32_t)below(4); p < end; p++) {
        tml_payload *payload = &desc.payloads[seldom() ? below(TML_MAX_PAYLOADS) : p];
        tml_type moved = take_element();
        payload->in = make(moved, count, CONTENTS_ANY, 0);
        payload->out = take() >= 192 ? as_out(payload->in) : make_out(moved, count);
    }
    desc.indices = make_out(take_count_type(), count);
    if (seldom())
        desc.segments.offsets = make(take_count_type(), below(40), CONTENTS_BELOW, count + 2);
    if (seldom()) {
        desc.segments.starts = make(take_count_type(), below(40), CONTENTS_BELOW, count + 2);
        desc.segments.count = take_length(count_of(desc.segments.starts));
    }
    desc.method = take_method();
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_sort(tml, &desc)));
    if (!RUN(tml_sort, &desc) || tml_buffer_is_none(desc.indices) ||
        !tml_buffer_is_none(desc.length.device))
        return;
    if (!tml_buffer_is_none(desc.segments.offsets) || !tml_buffer_is_none(desc.segments.starts))
        return; /* they may fall */
    /* a permutation */
    uint64_t n = desc.length.count || desc.length.exact ? desc.length.count : count_of(desc.keys);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        DEMAND(number_of(desc.indices, i) < n);
        sum += number_of(desc.indices, i);
    }
    DEMAND(sum == n * (n - (n > 0)) / 2);
}

void desc_top_k(void)
{
    tml_type type = take_scalar();
    uint64_t count = below(200), room = below(200);
    tml_top_k_desc desc = {.keys = make(type, count, CONTENTS_BELOW, 300)};
    desc.length = take_length(count);
    desc.k = take_length(room);
    desc.smallest = take_bool();
    desc.in_source_order = take_bool();
    desc.values = maybe_out(type, room);
    for (uint32_t p = 0, end = (uint32_t)below(3); p < end; p++) {
        tml_payload *payload = &desc.payloads[seldom() ? below(TML_MAX_PAYLOADS) : p];
        tml_type moved = take_element();
        payload->in = make(moved, count, CONTENTS_ANY, 0);
        payload->out = make_out(moved, room);
    }
    desc.indices = maybe_out(take_count_type(), room);
    desc.count = make_out(take_count_type(), 1);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_top_k(tml, &desc)));
    if (!RUN(tml_top_k, &desc) || tml_buffer_is_none(desc.count))
        return;
    uint64_t results = number_of(desc.count, 0);
    DEMAND(results <= count_of(desc.keys));
    for (uint64_t i = 0; i < results && !tml_buffer_is_none(desc.indices); i++)
        DEMAND(number_of(desc.indices, i) < count_of(desc.keys));
}

void desc_gather(void)
{
    bool scatters = take_bool();
    uint64_t count = below(200);
    tml_gather_desc desc = {.indices = make(take_count_type(), count, CONTENTS_BELOW, 210)};
    desc.length = take_length(count);
    for (uint32_t p = 0, end = 1 + (uint32_t)below(3); p < end; p++) {
        tml_payload *payload = &desc.payloads[seldom() ? below(TML_MAX_PAYLOADS) : p];
        tml_type moved = take_element();
        uint64_t range = take_bool() ? count : below(200);
        payload->in = make(moved, scatters ? count : range, CONTENTS_ANY, 0);
        payload->out = make_out(moved, scatters ? range : count);
    }
    desc.scratch = make_scratch(scatters ? SCRATCH_OF(tml, tml_scatter(tml, &desc))
                                         : SCRATCH_OF(tml, tml_gather(tml, &desc)));
    if (!scatters) {
        (void)RUN(tml_gather, &desc);
    } else {
        note_nothing(); /* places that are named twice */
        (void)RUN(tml_scatter, &desc);
    }
}

void desc_search(void)
{
    tml_type type = take_scalar();
    uint64_t count = below(200), there = below(200);
    tml_search_desc desc = {.sorted = make(type, there, CONTENTS_BELOW, 300)};
    desc.sorted_length = take_length(there);
    desc.queries = make(type, count, CONTENTS_BELOW, 300);
    desc.length = take_length(count);
    desc.descending = take_bool();
    desc.upper = take_bool();
    desc.out = make_out(take_count_type(), count);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_search(tml, &desc)));
    if (!RUN(tml_search, &desc) || !tml_buffer_is_none(desc.length.device))
        return;
    uint64_t n =
        desc.length.count || desc.length.exact ? desc.length.count : count_of(desc.queries);
    for (uint64_t i = 0; i < n; i++)
        DEMAND(number_of(desc.out, i) <= count_of(desc.sorted));
}

void desc_by_key(void)
{
    tml_type type = take_scalar(), key = take_element();
    uint64_t count = below(200);
    tml_unique_desc runs = {.in = make(key, count, CONTENTS_BELOW, 3)};
    tml_reduce_desc desc = {.folds[0].fold = (tml_fold)mostly(below(TML_FOLD_MEAN + 1)),
                            .in = make(type, count, CONTENTS_ANY, 0)};
    runs.length = desc.length = take_length(count);
    runs.values = maybe_out(key, below(count + 1));
    runs.starts = make_out(take_count_type(), count);
    desc.folds[0].out = make_out(take_bool() ? type : take_scalar(), count);
    runs.count = make_out(take_count_type(), 1);
    runs.scratch = make_scratch(SCRATCH_OF(tml, tml_unique(tml, &runs)));
    if (!RUN(tml_unique, &runs))
        return;
    DEMAND(number_of(runs.count, 0) <= count_of(runs.in));
    (void)as_out(desc.folds[0].out); /* of this call, too */
    desc.segments.starts = runs.starts;
    desc.segments.count = (tml_length){.count = count, .device = runs.count, .exact = true};
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_reduce(tml, &desc)));
    (void)RUN(tml_reduce, &desc);
}

/* Are the first numbers below a bound, and ascending? */
static void demand_ascending(tml_buffer numbers, uint64_t count, uint64_t bound)
{
    for (uint64_t i = 0; i < count && i < count_of(numbers); i++)
        DEMAND(number_of(numbers, i) < bound &&
               (i == 0 || number_of(numbers, i - 1) < number_of(numbers, i)));
}

void desc_compact(void)
{
    uint64_t count = below(200);
    tml_compact_desc desc = {.partition = take_bool()};
    desc.method = take_method();
    switch (take() % 8) {
    case 0:
        desc.keep.mask = make(TML_U32, (count + 31) / 32, CONTENTS_ANY, 0);
        break;
    case 1:
        desc.keep.kernel = TML_USE(fuzz_is_kept);
        desc.keep.params = (tml_params){.u = {(uint32_t)below(4)}, .m = {[5] = (float)below(2)}};
        if (take_bool())
            desc.keep.in[0] = make(take_bool() ? TML_U32 : TML_U8, count, CONTENTS_ANY, 0);
        break;
    default:
        desc.keep.flags = make(TML_U8, count, CONTENTS_BELOW, 2);
        break;
    }
    desc.length = take_length(count);
    for (uint32_t p = 0, end = (uint32_t)below(5); p < end; p++) {
        tml_payload *payload = &desc.payloads[seldom() ? below(TML_MAX_PAYLOADS) : p];
        tml_type type = take_element();
        payload->in = make(type, count, CONTENTS_ANY, 0);
        payload->out = take() >= 192 ? as_out(payload->in) : make_out(type, count);
    }
    desc.indices = maybe_out(take_count_type(), count);
    desc.count = make_out(take_count_type(), 1);
    if (seldom())
        desc.out_first =
            take_bool() ? desc.count : make(take_count_type(), 1, CONTENTS_BELOW, count + 3);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_compact(tml, &desc)));
    if (!RUN(tml_compact, &desc))
        return;
    if (tml_buffer_is_none(desc.count) || !tml_buffer_is_none(desc.out_first))
        return;
    uint64_t kept = number_of(desc.count, 0);
    DEMAND(desc.length.count == 0 || kept <= desc.length.count);
    demand_ascending(desc.indices, kept, UINT32_MAX);
}

void desc_expand(void)
{
    uint64_t count = below(60), room = below(200);
    tml_expand_desc desc = {0};
    if (take() >= 192)
        desc.count_kernel = TML_USE(fuzz_count_of);
    else
        desc.counts = make(take_bool() ? TML_U32 : TML_U8, count, CONTENTS_BELOW, 5);
    if (take() >= 160)
        desc.emit_kernel = take_bool() ? TML_USE(fuzz_emitted) : TML_USE(fuzz_emitted_two);
    if (desc.count_kernel || desc.emit_kernel)
        desc.in[0] = make(TML_U32, count, CONTENTS_ANY, 0);
    desc.length = take_length(count);
    desc.method = take_method();
    desc.source = maybe_out(take_count_type(), room);
    desc.rank = maybe_out(TML_U32, room);
    if (desc.emit_kernel)
        desc.out[0] = make_out(TML_U32, room);
    if (desc.emit_kernel && (desc.emit_kernel->out_count > 0 || seldom()))
        desc.out[1] = make_out(TML_VEC(TML_F32, 3), below(200));
    desc.total = make_out(take_count_type(), 1);
    if (seldom())
        desc.out_first =
            take_bool() ? desc.total : make(take_count_type(), 1, CONTENTS_BELOW, room + 3);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_expand(tml, &desc)));
    if (!RUN(tml_expand, &desc) || tml_buffer_is_none(desc.source) ||
        tml_buffer_is_none(desc.total) || !tml_buffer_is_none(desc.out_first))
        return;
    uint64_t end = number_of(desc.total, 0), written = count_of(desc.source);
    uint64_t sources = count_of(desc.count_kernel ? desc.in[0] : desc.counts);
    if (!tml_buffer_is_none(desc.rank) && count_of(desc.rank) < written)
        written = count_of(desc.rank);
    if (!tml_buffer_is_none(desc.out[0]) && count_of(desc.out[0]) < written)
        written = count_of(desc.out[0]);
    if (!tml_buffer_is_none(desc.out[1]) && count_of(desc.out[1]) < written)
        written = count_of(desc.out[1]);
    for (uint64_t i = 1; i < end && i < written; i++)
        DEMAND(number_of(desc.source, i - 1) <= number_of(desc.source, i) &&
               number_of(desc.source, i) < sources);
}

void desc_unique(void)
{
    tml_type type = take_element();
    uint64_t count = below(200);
    tml_unique_desc desc = {.in = make(type, count, CONTENTS_BELOW, 3)};
    desc.length = take_length(count);
    desc.values = take() >= 192 ? as_out(desc.in) : maybe_out(type, count);
    desc.starts = maybe_out(take_count_type(), count);
    desc.lengths = maybe_out(take_count_type(), count);
    desc.count = make_out(take_count_type(), 1);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_unique(tml, &desc)));
    if (!RUN(tml_unique, &desc) || tml_buffer_is_none(desc.count))
        return;
    uint64_t runs = number_of(desc.count, 0), sum = 0;
    DEMAND(runs <= count_of(desc.in));
    demand_ascending(desc.starts, runs, count_of(desc.in));
    for (uint64_t i = 0; i < runs && i < count_of(desc.lengths); i++)
        sum += number_of(desc.lengths, i);
    DEMAND(sum <= count_of(desc.in));
}

void desc_segments(void)
{
    tml_type type = take_scalar();
    uint64_t count = below(200), segments = below(60);
    tml_buffer in = make(type, count, CONTENTS_ANY, 0);
    tml_type offset_type = take_count_type();
    tml_buffer offsets = make(offset_type, segments + 1, CONTENTS_BELOW, count + 2);
    if (take() < 192) { /* as they should be: not falling */
        uint64_t wide[61], sum = 0;
        uint32_t narrow[61];
        for (uint64_t i = 0; i <= segments; i++) {
            wide[i] = narrow[i] = (uint32_t)sum;
            sum += below(2 + 2 * count / (segments + 1));
            sum = sum < count ? sum : count;
        }
        put(offsets, TML_U32, segments + 1, narrow);
        put(offsets, TML_U64, segments + 1, wide);
    }
    tml_type out_type = take_bool() ? type : take_scalar();
    if (take_bool()) {
        tml_scan_desc desc = {.in = in, .segments.offsets = offsets, .inclusive = take_bool()};
        desc.out = take() >= 192 ? as_out(in) : make_out(out_type, count);
        desc.scratch = make_scratch(SCRATCH_OF(tml, tml_scan(tml, &desc)));
        (void)RUN(tml_scan, &desc);
    } else {
        tml_reduce_desc desc = {
            .in = in,
            .segments.offsets = offsets,
            .folds = {{(tml_fold)mostly(below(TML_FOLD_MEAN + 1)), make_out(out_type, segments)}}};
        desc.scratch = make_scratch(SCRATCH_OF(tml, tml_reduce(tml, &desc)));
        (void)RUN(tml_reduce, &desc);
    }
}

void desc_map(void)
{
    static const tml_kernel *const kernels[] = {TML_USE(fuzz_mapped), TML_USE(fuzz_count_of),
                                                TML_USE(fuzz_is_kept), TML_USE(fuzz_emitted)};
    uint64_t count = below(200), which = below(4);
    tml_map_desc desc = {.kernel = kernels[which]};
    desc.in[0] = make(which == 0 ? TML_F32 : TML_U32, count, CONTENTS_ANY, 0);
    if (seldom())
        desc.in[1] = make(TML_U32, count, CONTENTS_ANY, 0);
    desc.length = take_length(count);
    desc.out[0] = take() >= 192 ? as_out(desc.in[0])
                                : make_out(which == 0   ? TML_F32
                                           : which == 1 ? TML_U32
                                                        : TML_U8,
                                           count);
    (void)CALL(tml_map, tml, &desc);
}
