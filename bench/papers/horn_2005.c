/* Scan and search: running counts (inclusive prefix sums) of the kept elements, then a binary
 * search in them for each output. The search is one pass (listing 36-2 of the chapter), or one pass
 * per step for hardware without loops (listing 36-1).
 *
 * The running counts are computed by the scan of Hillis and Steele. After the pass of stride 2^p,
 * each element holds the sum of the last 2^(p + 1) elements up to itself; after log2(n) passes, the
 * sum of all. A work-efficient scan needs log2(n) times fewer additions. But each pass here is a
 * plain gather, which is all that a fragment shader of the time could do, and so is the search.
 * Every engine performs the paper's reads: each pass is a map.
 *
 * As printed, neither listing finds every record. In 36-1, the scan's running sums are correct only
 * if a record whose index equals the stride takes part (>= where the text has >). The search skips
 * records if its step is halved below 1, or starts from a number that is not a power of two; steps
 * that are powers of two do not skip any.
 *
 * After: Hillis, Steele: Data Parallel Algorithms. 1986; Horn: Stream Reduction Operations for
 * GPGPU Applications. GPU Gems 2, chapter 36. 2005. */
#include "papers_internal.h"

#include <trommel/kernel_begin.h>

/* clang-format off */
TML_LIBRARY(horn,
    /* The source of output found: the first whose running count is above it. */
    FUNCTION(uint) horn_find(uint found, uint source_count, tml_words running)
    {
        uint low = 0u;
        uint high = source_count - 1u;
        while (low < high) {
            uint middle = low + ((high - low) >> 1);
            if (tml_word(running, middle) > found)
                high = middle;
            else
                low = middle + 1u;
        }
        return low;
    }
)
/* clang-format on */

TML_KERNEL(uint, horn_add_left, (tml_index i, uint sum, tml_words sums, tml_params p), {
    uint left = 0u;
    if (U(i) >= p.u[0])
        left = tml_word(sums, U(i) - p.u[0]);
    return left + sum < sum ? 0xffffffffu : left + sum;
})
TML_KERNEL(uint, horn_last, (tml_words running, tml_params p),
           { return tml_word(running, p.u[0] - 1u); })
TML_KERNEL_WITH(horn, uint, horn_fetch,
                (tml_index j, tml_words running, tml_words values, tml_params p),
                { return tml_word(values, horn_find(U(j), p.u[0], running)); })
TML_KERNEL_WITH(horn, uint, horn_source, (tml_index j, tml_words running, tml_params p),
                { return horn_find(U(j), p.u[0], running); })
TML_KERNEL(uint, horn_rank, (tml_index j, uint source, tml_words running), {
    uint before = 0u;
    if (source > 0u)
        before = tml_word(running, source - 1u);
    return U(j) - before;
})

/* One step of the search. guess: output j's source is at least that far right of j. */
TML_KERNEL(uint, horn_step, (tml_index j, uint guess, tml_words running, tml_params p), {
    uint source = U(j) + guess + p.u[1] - 1u;
    if (source < p.u[0] && tml_word(running, source) <= U(j))
        return guess + p.u[1];
    return guess;
})
TML_KERNEL(uint, horn_gather, (tml_index j, uint guess, tml_words values),
           { return tml_word(values, U(j) + guess); })
TML_KERNEL(uint, horn_zero, (tml_index j), { return U(j) - U(j); })

#include <trommel/kernel_end.h>

/* Computes running counts. Passes alternate between the buffers space->words; *running receives the
 * buffer with the result. */
static tml_status add_up(tml_context *tml, tml_buffer from, const papers_space *space,
                         tml_buffer *running)
{
    tml_status status = TML_OK;
    uint32_t turn = papers_same(from, space->words[0]);
    for (uint64_t stride = 1; stride < space->count && !status; stride *= 2, turn ^= 1) {
        status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(horn_add_left),
                                              .params.u = {(uint32_t)stride},
                                              .in = {from, from},
                                              .length.count = space->count,
                                              .out = {space->words[turn]}});
        from = space->words[turn];
    }
    *running = from;
    return status;
}

static tml_status store_total(tml_context *tml, tml_buffer running, uint64_t count,
                              tml_buffer total)
{
    return tml_map(tml, &(tml_map_desc){.kernel = TML_USE(horn_last),
                                        .params.u = {(uint32_t)count},
                                        .in = {running},
                                        .length.count = 1,
                                        .out = {total}});
}

tml_status papers_scan(tml_context *tml, tml_buffer in, tml_buffer out, const papers_space *space)
{
    tml_buffer running;
    papers_learn(tml);
    tml_status status = add_up(tml, in, space, &running);
    return status ? status
                  : tml_map(tml, &(tml_map_desc){.kernel = papers_copy_kernel(),
                                                 .in = {running},
                                                 .length.count = space->count,
                                                 .out = {out}});
}

tml_status papers_scan_search_filter(tml_context *tml, const papers_filter_desc *desc)
{
    const papers_space *space = desc->space;
    tml_buffer running;
    tml_status status = papers_count(tml, desc);
    if (!status)
        status = add_up(tml, space->words[0], space, &running);
    if (!status)
        status = store_total(tml, running, space->count, desc->count);
    return status
               ? status
               : tml_map(tml, &(tml_map_desc){.kernel = TML_USE(horn_fetch),
                                              .params.u = {(uint32_t)space->count},
                                              .in = {running, desc->in},
                                              .length = papers_outputs(tml, desc->out, desc->count),
                                              .out = {desc->out}});
}

tml_status papers_search_passes_filter(tml_context *tml, const papers_filter_desc *desc)
{
    const papers_space *space = desc->space;
    const tml_length outputs = papers_outputs(tml, desc->out, desc->count);
    tml_buffer running = {0, 0};
    tml_status status = papers_count(tml, desc);
    if (!status)
        status = add_up(tml, space->words[0], space, &running);
    if (!status)
        status = store_total(tml, running, space->count, desc->count);
    tml_buffer guesses = space->words[status || papers_same(running, space->words[0])];
    tml_map_desc map = {.kernel = TML_USE(horn_zero), .length = outputs, .out = {guesses}};
    if (!status)
        status = tml_map(tml, &map);
    map.kernel = TML_USE(horn_step);
    map.in[0] = guesses;
    map.in[1] = running;
    for (uint64_t step = papers_wires(space->count); step > 0 && !status; step /= 2) {
        map.params = (tml_params){.u = {(uint32_t)space->count, (uint32_t)step}};
        status = tml_map(tml, &map);
    }
    map.kernel = TML_USE(horn_gather);
    map.in[1] = desc->in;
    map.out[0] = desc->out;
    return status ? status : tml_map(tml, &map);
}

tml_status papers_expand(tml_context *tml, const papers_expand_desc *desc)
{
    const papers_space *space = desc->space;
    const tml_length outputs = papers_outputs(tml, desc->source, desc->total);
    tml_buffer running;
    papers_learn(tml);
    tml_status status = add_up(tml, desc->counts, space, &running);
    if (!status)
        status = store_total(tml, running, space->count, desc->total);
    if (!status)
        status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(horn_source),
                                              .params.u = {(uint32_t)space->count},
                                              .in = {running},
                                              .length = outputs,
                                              .out = {desc->source}});
    return status ? status
                  : tml_map(tml, &(tml_map_desc){.kernel = TML_USE(horn_rank),
                                                 .in = {desc->source, running},
                                                 .length = outputs,
                                                 .out = {desc->rank}});
}
