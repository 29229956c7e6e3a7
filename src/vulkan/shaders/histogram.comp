/* Adds a pass's elements to a histogram. If the bins fit shared memory, the workgroup counts its
 * share there first. It has COPIES of the bins, which its invocations use in turn, so that equal
 * bins seldom contend for a word. Integer sums do not depend on the order. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

layout(constant_id = 0) const uint SIZE_LOG2 = 2u; /* of an element: 0 ... 2 */
layout(constant_id = 1) const uint COPIES = 1u;    /* a power of two; 0: the bins do not fit shared memory */

ARGS_USE(histogram_args)

const uint PER_WORD = 4u >> SIZE_LOG2, QUAD_LOG2 = 4u - SIZE_LOG2;

shared uint group_counts[HISTOGRAM_SHARED];

/* Consecutive elements with the same bin take one atomic. */
struct bin_run {
    uint bin;
    uint count;
};

void add_run(bin_run run)
{
    if (run.count == 0u || run.bin >= args.bins)
        return;
    if (COPIES == 0u)
        atomicAdd(word_at(address_of_word(args.counts, run.bin)).bits, run.count);
    else
        atomicAdd(group_counts[run.bin * COPIES + (gl_LocalInvocationID.x & (COPIES - 1u))],
                  run.count);
}

/* Counts elements [from, to) of a word. */
void count_word(inout bin_run run, uint word, uint from, uint to)
{
    for (uint e = from; e < to; e++) {
        uint bin = bitfieldExtract(word, int(e << (3u + SIZE_LOG2)), int(8u << SIZE_LOG2));
        if (bin != run.bin) {
            add_run(run);
            run = bin_run(bin, 0u);
        }
        run.count++;
    }
}

/* Counts quad q from base on. Only elements [skip, end) from base belong to the stream. */
void count_quad(inout bin_run run, uvec2 base, uint q, uint skip, uint end)
{
    uint first = q << QUAD_LOG2;
    bool is_whole = first >= skip && first + (1u << QUAD_LOG2) <= end;
    uvec4 quad = uvec4(0u);
    if (is_whole)
        quad = quads_at(base).v[q];
    for (uint c = 0u; c < 4u; c++) {
        uint at = first + c * PER_WORD, from = max(at, skip), to = min(at + PER_WORD, end);
        if (is_whole)
            count_word(run, quad[c], 0u, PER_WORD);
        else if (from < to)
            count_word(run, LOAD_U32(base, (q << 2) + c), from - at, to - at);
    }
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint skip = (args.in_at.x & 15u) >> SIZE_LOG2;
    uint end = skip + stream_length(args.length_at, args.bound);
    uint quads = (end + (1u << QUAD_LOG2) - 1u) >> QUAD_LOG2;
    uint first = group_index() * args.each * GROUP;
    if (first >= quads)
        return;
    for (uint i = t; i < args.bins * COPIES; i += GROUP)
        group_counts[i] = 0u;
    barrier();
    bin_run run = bin_run(0u, 0u);
    uint last = min(first + args.each * GROUP, quads);
    for (uint q = first + t; q < last; q += GROUP)
        count_quad(run, uvec2(args.in_at.x & ~15u, args.in_at.y), q, skip, end);
    add_run(run);
    barrier();
    for (uint bin = t; bin < args.bins && COPIES > 0u; bin += GROUP) {
        uint sum = 0u;
        for (uint c = 0u; c < COPIES; c++)
            sum += group_counts[bin * COPIES + c];
        if (sum > 0u)
            atomicAdd(word_at(address_of_word(args.counts, bin)).bits, sum);
    }
}
