/* Begins a top k: computes the number of results, and samples the stream. From the sample it
 * selects the limit: an element that almost surely follows somewhat more than that number of
 * elements. An invocation holds up to 32 samples in registers. Samples are ordered by code, then by
 * index, so that equal codes do no harm. */
#include "kernel.glsl"
#include "kernels/top_k.k.h"
#include "vulkan/vulkan_top_k.k.h"
#include "common.glsl"
#extension GL_EXT_control_flow_attributes : require
ARGS_USE(top_k_sample_args)
#include "top_k_key.glsl"
#include "top_k_pick.glsl"

const uint ROWS = TOP_K_SAMPLES / GROUP;

void store_state(uint word, uint value)
{
    words_at(args.state).v[word] = value;
}

uint results(uint count)
{
    uint k = args.k_bound;
    if (!is_none(args.k_at))
        k = min(k, args.k_wide != 0u ? load64_within(args.k_at, k) : word_at(args.k_at).bits);
    return min(k, count);
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint count = is_none(args.length_at) ? args.bound : load64_within(args.length_at, args.bound);
    uint k = results(count), samples = TOP_K_SAMPLED(count);
    bool is_sampled = TOP_K_IS_SAMPLED(k, count) && k != 0u && args.room != 0u;
    if (t == 0u) {
        for (uint w = 0u; w < TOP_K_STATE; w++)
            store_state(w, 0u);
        store_state(TOP_K_COUNT, k);
        store_state(TOP_K_LENGTH, count);
        store_state(TOP_K_REST, k);
        store_state(TOP_K_SIFTED, is_sampled ? count : 0u);
    }
    if (!is_sampled)
        return;
    uint stretch = count / samples;
    uint rest = min(uint(top_k_rank(float(k), float(count), float(samples))) + 1u, samples);
    uvec2 codes[ROWS], limit = uvec2(0u), tie = uvec2(0u);
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
    {
        uint s = min(r * GROUP + t, samples - 1u);
        codes[r] = code_of(load_key(args.keys, s * stretch + top_k_jitter(s, stretch)), FLIPS);
    }
    /* the digits of the code, and then those of the sample's number */
    const uint digits = 1u << KEY_LOG2, number_digits = 2u;
    for (uint step = 0u; step < digits + number_digits; step++) {
        bool by_code = step < digits;
        uint shift = TOP_K_DIGIT * ((by_code ? digits : digits + number_digits) - 1u - step);
        table[t] = 0u;
        barrier();
        [[unroll]] for (uint r = 0u; r < ROWS; r++)
        {
            uvec2 number = uvec2(r * GROUP + t, 0u), by = by_code ? codes[r] : number;
            bool is_counted =
                number.x < samples && (by_code ? has_prefix(by, limit, shift)
                                               : codes[r] == limit && has_prefix(by, tie, shift));
            uint digit = digit_of(by, shift);
            COUNT_DIGIT(table[digit], digit, is_counted)
        }
        barrier();
        uint digit = pick(table[t], rest);
        if (by_code)
            limit = with_digit(limit, digit, shift);
        else
            tie = with_digit(tie, digit, shift);
        barrier();
    }
    if (t == 0u) {
        store_state(TOP_K_LIMIT, limit.x);
        store_state(TOP_K_LIMIT + 1u, limit.y);
        store_state(TOP_K_TIE, tie.x * stretch + top_k_jitter(tie.x, stretch));
    }
}
