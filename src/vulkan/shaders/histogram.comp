/* Adds a pass's elements to a histogram, in one of three ways. All ways count in shared memory
 * first, so that many equal elements do not contend for one word of device memory. Sums are
 * integers, so they do not depend on the order.
 *
 * Tables (COPIES > 0): the workgroup has COPIES tables of all bins. Consecutive invocations use
 * different tables, so that equal bins seldom contend for a word.
 *
 * Narrow counters (PARTS > 0): a workgroup has 16-bit counters for one of PARTS ranges of the bins,
 * and PARTS workgroups read the same elements. A workgroup counts at most 32767 elements between
 * barriers. The invocation that brings a counter to 32768 subtracts 32768 from it. Until then, at
 * most 32766 other elements can be added, so the counter never overflows, however late the
 * subtraction happens.
 *
 * A cache (otherwise): the bins that occur first in the workgroup get slots in shared memory;
 * frequent bins most likely are among them. All other bins are counted in device memory, where
 * contention is spread over many words. Different workgroups assign different bins to a slot. */
#include "kernel.glsl"
#include "kernels/types.k.h"
#include "kernels/histogram.k.h"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

layout(constant_id = 0) const uint SIZE_LOG2 = 2u; /* of an element: 0 ... 2 */
layout(constant_id = 1) const uint COPIES = 1u;    /* a power of two */
layout(constant_id = 2) const uint PARTS = 0u;
layout(constant_id = 3) const uint WEIGHTS = 0u; /* their type; 0: each counts 1 */
layout(constant_id = 4) const uint WIDE = 0u;    /* 1: counts have 64 bits */
layout(constant_id = 5) const uint WORDS = HISTOGRAM_SHARED;

ARGS_USE(histogram_args)

const uint PER_WORD = 4u >> SIZE_LOG2, QUAD_LOG2 = 4u - SIZE_LOG2;
/* The sums in shared memory, of a workgroup's elements, have two words if one word may overflow. */
const bool IS_WIDE_HERE = WIDE == 1u && WEIGHTS != 0u;
const uint SLOTS = WORDS / (IS_WIDE_HERE ? 4u : 2u); /* of a cache: a tag, and a sum */
const uint FREE = 0xffffffffu; /* a tag; no bin */
const uint SPILLED = 0x8000u;
/* quads of an invocation between barriers */
const uint ROUND = PARTS > 0u ? 32767u / (GROUP << QUAD_LOG2) : 0u;

shared uint group_words[WORDS];

/* Consecutive elements with the same bin take one atomic. */
struct bin_run {
    uint bin;
    uvec2 sum;
};

int weight_shift;
uint first_bin, hash_factor;

void add_global(uint bin, uvec2 sum)
{
    uvec2 at = address_of(args.counts, bin, WIDE == 1u ? 8u : 4u);
    uint old = atomicAdd(word_at(at).bits, sum.x);
    if (WIDE == 0u)
        return;
    uint high = sum.y + (old > ~sum.x ? 1u : 0u);
    if (high != 0u)
        atomicAdd(word_at(address_of_word(at, 1u)).bits, high);
}

/* The words of a sum in shared memory are "apart" words apart. */
void add_shared(uint at, uint apart, uvec2 sum)
{
    uint old = atomicAdd(group_words[at], sum.x);
    if (!IS_WIDE_HERE)
        return;
    uint high = sum.y + (old > ~sum.x ? 1u : 0u);
    if (high != 0u)
        atomicAdd(group_words[at + apart], high);
}

void add_narrow(uint bin, uint count)
{
    uint local = bin - first_bin, shift = (local & 1u) << 4;
    if (local >= 2u * WORDS)
        return;
    uint old = atomicAdd(group_words[local >> 1], count << shift) >> shift & 0xffffu;
    if (old < SPILLED && old + count >= SPILLED) {
        atomicAdd(group_words[local >> 1], 0u - (SPILLED << shift));
        add_global(bin, uvec2(SPILLED, 0u));
    }
}

void add_cached(uint bin, uvec2 sum)
{
    uint slot = (bin * hash_factor) >> 16 & (SLOTS - 1u);
    uint tag = atomicLoad(group_words[slot], gl_ScopeWorkgroup, gl_StorageSemanticsShared,
                          gl_SemanticsRelaxed);
    if (tag == FREE)
        tag = atomicCompSwap(group_words[slot], FREE, bin);
    if (tag == FREE || tag == bin)
        add_shared(SLOTS + slot, SLOTS, sum);
    else
        add_global(bin, sum);
}

void add_run(inout bin_run run)
{
    if ((run.sum.x | run.sum.y) != 0u && run.bin < args.bins) {
        if (COPIES > 0u)
            add_shared(run.bin * COPIES + (gl_LocalInvocationID.x & (COPIES - 1u)),
                       args.bins * COPIES, run.sum);
        else if (PARTS > 0u)
            add_narrow(run.bin, run.sum.x);
        else
            add_cached(run.bin, run.sum);
    }
    run.sum = uvec2(0u);
}

uvec2 weight_at(uint i)
{
    return WEIGHTS == 0u         ? uvec2(1u, 0u)
           : WEIGHTS == TYPE_U8  ? uvec2(LOAD_U8(args.weights, i), 0u)
           : WEIGHTS == TYPE_U16 ? uvec2(LOAD_U16(args.weights, i), 0u)
           : WEIGHTS == TYPE_U32 ? uvec2(LOAD_U32(args.weights, i), 0u)
                                 : histogram_fixed(LOAD_U32(args.weights, i), weight_shift);
}

/* Counts elements [from, to) of a word. "at" is the index in the stream of the word's element 0. */
void count_word(inout bin_run run, uint word, uint from, uint to, uint at)
{
    for (uint e = from; e < to; e++) {
        uint bin = bitfieldExtract(word, int(e << (3u + SIZE_LOG2)), int(8u << SIZE_LOG2));
        if (bin != run.bin) {
            add_run(run);
            run.bin = bin;
        }
        run.sum = add64(run.sum, weight_at(at + e));
    }
}

/* Counts whole quads from base on. Only elements [skip, end) of these belong to the stream. */
bool is_whole(uint q, uint skip, uint end)
{
    return q << QUAD_LOG2 >= skip && (q + 1u) << QUAD_LOG2 <= end;
}
uvec4 load_whole(uvec2 base, uint q, uint skip, uint end)
{
    return is_whole(q, skip, end) ? quads_at(base).v[q] : uvec4(0u);
}

/* Counts quad q, which is loaded if it is whole. */
void count_quad(inout bin_run run, uvec4 quad, uvec2 base, uint q, uint skip, uint end)
{
    for (uint c = 0u; c < 4u; c++) {
        uint at = (q << QUAD_LOG2) + c * PER_WORD, from = max(at, skip),
             to = min(at + PER_WORD, end);
        if (is_whole(q, skip, end))
            count_word(run, quad[c], 0u, PER_WORD, at - skip);
        else if (from < to)
            count_word(run, LOAD_U32(base, (q << 2) + c), from - at, to - at, at - skip);
    }
}

/* Adds the counts in shared memory to the histogram. */
void store_group()
{
    uint t = gl_LocalInvocationID.x;
    for (uint bin = t; COPIES > 0u && bin < args.bins; bin += GROUP) {
        uvec2 sum = uvec2(0u);
        for (uint c = bin * COPIES; c < (bin + 1u) * COPIES; c++)
            sum = add64(sum, uvec2(group_words[c],
                                   IS_WIDE_HERE ? group_words[c + args.bins * COPIES] : 0u));
        if ((sum.x | sum.y) != 0u)
            add_global(bin, sum);
    }
    for (uint i = t; PARTS > 0u && i < 2u * WORDS; i += GROUP) {
        uint count = group_words[i >> 1] >> ((i & 1u) << 4) & 0xffffu;
        if (count > 0u)
            add_global(first_bin + i, uvec2(count, 0u));
    }
    for (uint slot = t; COPIES + PARTS == 0u && slot < SLOTS; slot += GROUP)
        if (group_words[slot] != FREE)
            add_global(group_words[slot],
                       uvec2(group_words[SLOTS + slot],
                             IS_WIDE_HERE ? group_words[2u * SLOTS + slot] : 0u));
}

void main()
{
    uint t = gl_LocalInvocationID.x, share = group_index();
    if (PARTS > 0u) {
        first_bin = share % PARTS * (2u * WORDS);
        share /= PARTS;
    }
    hash_factor = group_index() * 0x9e3779b8u + 0x85ebca6bu; /* odd */
    weight_shift = WEIGHTS == TYPE_F32
                       ? histogram_shift(LOAD_U32(args.largest, 0u), args.length_log2)
                       : 0;
    uint skip = (args.in_at.x & 15u) >> SIZE_LOG2;
    uint end = skip + stream_length(args.length_at, args.bound);
    uint quads = (end + (1u << QUAD_LOG2) - 1u) >> QUAD_LOG2;
    uint first = share * args.each * GROUP;
    if (first >= quads)
        return;
    for (uint i = t; i < WORDS; i += GROUP)
        group_words[i] = COPIES + PARTS == 0u && i < SLOTS ? FREE : 0u;
    barrier();
    bin_run run = bin_run(0u, uvec2(0u));
    uvec2 base = uvec2(args.in_at.x & ~15u, args.in_at.y);
    uint last = min(first + args.each * GROUP, quads);
    uint step = PARTS > 0u ? ROUND * GROUP : last - first;
    /* loaded while the quad before is counted */
    uvec4 next = load_whole(base, first + t, skip, end);
    for (uint from = first; from < last; from += step) {
        for (uint q = from + t; q < min(from + step, last); q += GROUP) {
            uvec4 quad = next;
            next = load_whole(base, q + GROUP, skip, end);
            count_quad(run, quad, base, q, skip, end);
        }
        add_run(run);
        barrier();
    }
    store_group();
}
