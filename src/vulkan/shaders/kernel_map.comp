/* out[i] = kernel(in0[i], in1[i], ...), EACH elements per invocation. If args.source is given,
 * output i is computed from element source[i]. In place is safe: a subgroup loads all elements of
 * its range before it stores there. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

/* MAP_IN_ORDER: none of source, rank and skip is given, and element indices are below 2^30. */
layout(constant_id = 4) const uint ORDER = MAP_BY_SOURCE;
const bool KERNEL_NEAR = ORDER == MAP_IN_ORDER, KERNEL_STORED = ORDER == MAP_OUTS_STORED;
ARGS_USE(map_args)
#include "kernel_loads.glsl"
#include "kernel_glue.glsl"

/* Bytes are stored in words. */
layout(constant_id = 5) const uint EACH = MAP_ITEMS / GROUP;
const uint ITEMS = EACH * GROUP;

KERNEL_RESULT result_of(uint i)
{
    uint s = i, k = 0u;
    if (!KERNEL_NEAR && !is_none(args.source))
        s = LOAD_U32(args.source, i);
    if (!KERNEL_NEAR && !is_none(args.rank))
        k = LOAD_U32(args.rank, i);
    return kernel_at(s, args.first_index + s, k);
}

/* Elements at the pass's start that are not written. */
uint skipped()
{
    return !KERNEL_NEAR && !is_none(args.skip) ? LOAD_U32(args.skip, 0u) : 0u;
}

#if KERNEL_SIZE == 1

/* An invocation stores the word that holds elements 4 * lane ... 4 * lane + 3 of its subgroup's
 * range. Loads are coalesced: load k reads element k * SUBGROUP + lane. Ballots exchange the
 * bits. */
void map(uint n)
{
    uint lane = gl_SubgroupInvocationID;
    uint first = group_index() * ITEMS + subgroup_index() * SUBGROUP * EACH;
    uint bits = 0u, begin = skipped();
    for (uint k = 0u; k < EACH; k++) {
        uint i = first + k * SUBGROUP + lane;
        bool value = false;
        if (i >= begin && i < n)
            value = result_of(i);
        uvec4 ballot = subgroupBallot(value);
        uint at = EACH * lane - k * SUBGROUP; /* wraps around if it is in an earlier ballot */
        if (at < SUBGROUP) {
            uint word = at < 32u ? ballot.x : at < 64u ? ballot.y : at < 96u ? ballot.z : ballot.w;
            bits = word >> (at & 31u);
        }
    }
    /* Bit b becomes byte b. */
    uint bytes = ((bits & 15u) * 0x00204081u) & 0x01010101u;
    first += EACH * lane;
    if (first + EACH <= n && first >= begin) {
        store_word(args.out_at, first >> 2, bytes);
    } else {
        for (uint i = max(first, begin); i < min(first + EACH, n); i++)
            store_byte(args.out_at, i, bytes >> (8u * (i - first)));
    }
}

#else

layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer pair_out {
    uvec2 v;
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer quad_out {
    uvec4 v;
};

void store_result(uvec2 to, uint i, uint value)
{
    store_word(to, i, value);
}
void store_result(uvec2 to, uint i, uvec2 value)
{
    uvec2 at = address_of(to, i, 8u);
    if ((to.x & 7u) == 0u) {
        pair_out(at).v = value;
        return;
    }
    store_word(at, 1u, value.y);
    store_word(at, 0u, value.x);
}
void store_result(uvec2 to, uint i, uvec3 value)
{
    uvec2 at = address_of(to, i, 12u);
    store_word(at, 2u, value.z);
    store_word(at, 1u, value.y);
    store_word(at, 0u, value.x);
}
void store_result(uvec2 to, uint i, uvec4 value)
{
    uvec2 at = address_of(to, i, 16u);
    if ((to.x & 15u) == 0u) {
        quad_out(at).v = value;
        return;
    }
    store_word(at, 3u, value.w);
    store_word(at, 2u, value.z);
    store_word(at, 1u, value.y);
    store_word(at, 0u, value.x);
}
/* The address of output k > 0; with MAP_IN_ORDER it is stored in place of other arguments. */
uvec2 out_at(uint k, uvec2 in_order)
{
    if (KERNEL_STORED)
        return kernel_stored().outs[k - 1u];
    return in_order;
}
void store_results(uint i, KERNEL_RESULT result)
{
    store_result(args.out_at, i, kernel_words(KERNEL_OUT_0(result)));
#if KERNEL_OUTS > 1
    store_result(out_at(1u, args.source), i, kernel_words(KERNEL_OUT_1(result)));
#endif
#if KERNEL_OUTS > 2
    store_result(out_at(2u, args.rank), i, kernel_words(KERNEL_OUT_2(result)));
#endif
#if KERNEL_OUTS > 3
    store_result(out_at(3u, args.skip), i, kernel_words(KERNEL_OUT_3(result)));
#endif
}

void map(uint n)
{
    uint first = group_index() * ITEMS + gl_LocalInvocationID.x, begin = skipped();
    KERNEL_RESULT results[EACH];
    for (uint k = 0u; k < EACH; k++)
        if (first + k * GROUP >= begin && first + k * GROUP < n)
            results[k] = result_of(first + k * GROUP);
    for (uint k = 0u; k < EACH; k++)
        if (first + k * GROUP >= begin && first + k * GROUP < n)
            store_results(first + k * GROUP, results[k]);
}

#endif

void main()
{
    uint n = stream_length(args.length_at, args.bound);
    if (group_index() * ITEMS < n)
        map(n);
}
