/* Filtering by sorting. An element's key is its index, with the highest bit set if the element is
 * not kept; a bitonic sorting network over the keys moves the kept elements, in order, to the
 * front. It takes about n log2(n)^2 / 4 comparisons, whereas other methods take n or n log n steps;
 * the first GPU filters used it. Each step of the network is a map that compares every key with the
 * key a stride away.
 *
 * After: Batcher: Sorting networks and their applications. 1968; as in Horn: Stream Reduction
 * Operations for GPGPU Applications. GPU Gems 2, chapter 36. 2005, which compares with it. */
#include "papers_internal.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(uint, batcher_key, (tml_index i, tml_words counts, tml_params p), {
    uint key = 0xffffffffu; /* a wire without an element */
    if (U(i) < p.u[0])
        key = tml_word(counts, U(i)) != 0u ? U(i) : U(i) | 0x80000000u;
    return key;
})
TML_KERNEL(uint, batcher_step, (tml_index i, uint mine, tml_words keys, tml_params p), {
    uint run = p.u[0];
    uint stride = p.u[1];
    uint other = tml_word(keys, U(i) ^ stride);
    bool is_lower = (U(i) & stride) == 0u;
    bool goes_up = (U(i) & run) == 0u;
    return is_lower == goes_up ? min(mine, other) : max(mine, other);
})
TML_KERNEL(uint, batcher_total, (tml_words keys, tml_params p), {
    uint low = 0u;
    uint high = p.u[0];
    while (low < high) {
        uint middle = (low + high) >> 1;
        if (tml_word(keys, middle) < 0x80000000u)
            low = middle + 1u;
        else
            high = middle;
    }
    return low;
})
TML_KERNEL(uint, batcher_fetch, (uint key, tml_words values), { return tml_word(values, key); })

#include <trommel/kernel_end.h>

static tml_status sort(tml_context *tml, uint64_t wires, tml_buffer *keys, tml_buffer *other)
{
    tml_status status = TML_OK;
    for (uint64_t run = 2; run <= wires; run *= 2)
        for (uint64_t stride = run / 2; stride > 0 && !status; stride /= 2) {
            status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(batcher_step),
                                                  .params.u = {(uint32_t)run, (uint32_t)stride},
                                                  .in = {*keys, *keys},
                                                  .length.count = wires,
                                                  .out = {*other}});
            tml_buffer read = *keys;
            *keys = *other;
            *other = read;
        }
    return status;
}

tml_status papers_bitonic_filter(tml_context *tml, const papers_filter_desc *desc)
{
    const papers_space *space = desc->space;
    const uint64_t wires = papers_wires(space->count);
    tml_buffer keys = space->words[1], other = space->words[0];
    tml_status status = papers_count(tml, desc);
    if (!status)
        status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(batcher_key),
                                              .params.u = {(uint32_t)space->count},
                                              .in = {space->words[0]},
                                              .length.count = wires,
                                              .out = {keys}});
    if (!status)
        status = sort(tml, wires, &keys, &other);
    if (!status)
        status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(batcher_total),
                                              .params.u = {(uint32_t)wires},
                                              .in = {keys},
                                              .length.count = 1,
                                              .out = {desc->count}});
    return status
               ? status
               : tml_map(tml, &(tml_map_desc){.kernel = TML_USE(batcher_fetch),
                                              .in = {keys, desc->in},
                                              .length = papers_outputs(tml, desc->out, desc->count),
                                              .out = {desc->out}});
}
