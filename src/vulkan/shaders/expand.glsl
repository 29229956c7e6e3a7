/* Shared by the expand shaders: a tile's counts, and stores of a range of its outputs.
 *
 * After: Baxter: moderngpu, load-balancing search. 2013, with a scan in place of the search. */
#include "kernel.glsl"
#include "vulkan/vulkan_expand.k.h"
#include "common.glsl"
#include "places.glsl"
#include "group.glsl"

/* Loops over arrays are unrolled, so that the arrays are registers. */
#extension GL_EXT_control_flow_attributes : require

ARGS_USE(expand_args)

/* Bytes of a count in memory: 1, 2, 4. */
layout(constant_id = EXPAND_SPEC_COUNT_SIZE) const uint COUNT_SIZE = 4u;

/* Consecutive sources per invocation. */
const uint OWN = EXPAND_SOURCES / GROUP;

/* ---- numbers of 64 bits ---------------------------------------------------------------------- */

bool less64(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
uvec2 min64(uvec2 a, uvec2 b)
{
    return less64(b, a) ? b : a;
}
uvec2 shift_right64(uvec2 a, uint n)
{
    return uvec2(a.x >> n | a.y << (32u - n), a.y >> n);
}
/* low + 2^16 * high */
uvec2 join64(uint low, uint high)
{
    return add64(uvec2(low, 0u), uvec2(high << 16, high >> 16));
}
/* Sums over a subgroup, by halfwords, which do not overflow. */
uvec2 subgroup_inclusive_add64(uvec2 a)
{
    uvec2 low = join64(subgroupInclusiveAdd(a.x & 0xffffu), subgroupInclusiveAdd(a.x >> 16));
    return low + uvec2(0u, subgroupInclusiveAdd(a.y));
}

/* ---- counts ---------------------------------------------------------------------------------- */

layout(buffer_reference, std430, buffer_reference_align = 8) buffer pairs_at {
    uvec2 v[];
};

uint load_count(uint i)
{
    return COUNT_SIZE == 1u   ? LOAD_U8(args.counts, i)
           : COUNT_SIZE == 2u ? LOAD_U16(args.counts, i)
                              : LOAD_U32(args.counts, i);
}

/* The counts of the invocation's sources; 0 from source length on. */
void load_counts(uint tile, uint length, out uint counts[OWN])
{
    uint first = tile * EXPAND_SOURCES + OWN * gl_LocalInvocationID.x;
    bool is_whole = (tile + 1u) * EXPAND_SOURCES <= length;
    if (is_whole && (args.counts.x & 15u) == 0u) {
        if (COUNT_SIZE == 4u) {
            uvec4 a = quads_at(args.counts).v[first / 4u];
            uvec4 b = quads_at(args.counts).v[first / 4u + 1u];
            [[unroll]] for (uint i = 0u; i < 4u; i++) {
                counts[i] = a[i];
                counts[i + 4u] = b[i];
            }
        } else if (COUNT_SIZE == 2u) {
            uvec4 a = quads_at(args.counts).v[first / 8u];
            [[unroll]] for (uint i = 0u; i < OWN; i++)
                counts[i] = a[i / 2u] >> (16u * (i & 1u)) & 0xffffu;
        } else {
            uvec2 a = pairs_at(args.counts).v[first / 8u];
            [[unroll]] for (uint i = 0u; i < OWN; i++)
                counts[i] = a[i / 4u] >> (8u * (i & 3u)) & 0xffu;
        }
    } else {
        [[unroll]] for (uint i = 0u; i < OWN; i++)
            counts[i] = first + i < length ? load_count(first + i) : 0u;
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Heads of a window of outputs. The first output of each source, and of the range, is a head: it
 * stores its index in the range and its source, packed so that heads increase along the range.
 * Other outputs store 0. A max-scan then gives each output its source and, from the index, its
 * rank. */
#define WINDOW_ROUNDS 2u
const uint QUADS = GROUP * WINDOW_ROUNDS; /* of outputs */
const uint WINDOW = 4u * QUADS;
/* The first outputs of all quads, then the second outputs, and so on. Not uvec4: some drivers store
 * all four components to store one. */
shared uint heads[WINDOW];
shared uint last_heads[SUBGROUPS_MAX];

/* The offset of a source without outputs in the range. */
const uint NOWHERE = 0x80000000u;

void clear_heads()
{
    for (uint i = gl_LocalInvocationID.x; i < WINDOW; i += GROUP)
        heads[i] = 0u;
}

void store_quad(uvec2 at, uint position, uvec4 value, uint begin, uint end)
{
    if ((at.x & 15u) == 0u && position >= begin && position + 4u <= end) {
        quads_at(at).v[position / 4u] = value;
        return;
    }
    [[unroll]] for (uint c = 0u; c < 4u; c++)
        if (position + c >= begin && position + c < end)
            words_at(at).v[position + c] = value[c];
}

/* Writes n outputs of a tile, at most max(EXPAND_LIGHT, 2^EXPAND_BLOCK_LOG2), from output index
 * first on.
 *   places     the offsets of the invocation's sources in this range, or NOWHERE
 *   lead       the source of the first output, numbered within the tile
 *   lead_rank  how many outputs that source has before the range
 * heads are 0 before and after. All invocations of the workgroup call it. */
void write_outputs(uint tile, uvec2 first, uint n, uint places[OWN], uint lead, uint lead_rank)
{
    uvec2 base = add64(uvec2(args.first_low, args.first_high), uvec2(tile * EXPAND_SOURCES, 0u));
    /* Windows are aligned to four outputs, so the range may begin within the first quad. */
    uint begin = first.x & 3u, end = begin + n;
    uvec2 start = uvec2(first.x - begin, first.y);
    uvec2 source_at = address_at(args.source, start, 4u);
    uvec2 source64_at = address_at(args.source64, start, 8u);
    uvec2 rank_at = address_at(args.rank, start, 4u);

    uint head = 0u; /* the last head so far */
    for (uint window = 0u; window < end; window += WINDOW) {
        [[unroll]] for (uint i = 0u; i < OWN; i++) {
            uint at = places[i] + begin - window;
            if (at < WINDOW)
                heads[(at & 3u) * QUADS + at / 4u] =
                    (places[i] + begin) << EXPAND_SOURCES_LOG2 |
                    (OWN * gl_LocalInvocationID.x + i);
        }
        barrier();

        /* A subgroup's rounds are consecutive quads, and so are the lanes of a round. */
        uint first_quad = subgroup_index() * SUBGROUP * WINDOW_ROUNDS + gl_SubgroupInvocationID;
        uvec4 quads[WINDOW_ROUNDS];
        uint sofar = 0u;
        [[unroll]] for (uint round = 0u; round < WINDOW_ROUNDS; round++) {
            uint at = first_quad + round * SUBGROUP;
            uvec4 quad = uvec4(heads[at], heads[QUADS + at], heads[2u * QUADS + at],
                               heads[3u * QUADS + at]);
            heads[at] = 0u;
            heads[QUADS + at] = 0u;
            heads[2u * QUADS + at] = 0u;
            heads[3u * QUADS + at] = 0u;
            quad.y = max(quad.x, quad.y);
            quad.z = max(quad.y, quad.z);
            quad.w = max(quad.z, quad.w);
            uint through = subgroupInclusiveMax(max(quad.w, sofar));
            uint before = subgroupShuffle(through, max(gl_SubgroupInvocationID, 1u) - 1u);
            quads[round] = max(quad, uvec4(gl_SubgroupInvocationID == 0u ? sofar : before));
            sofar = subgroupShuffle(through, SUBGROUP - 1u);
        }
        if (subgroupElect())
            last_heads[subgroup_index()] = sofar;
        barrier();

        uint before = head;
        for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
            uint last = last_heads[s];
            before = max(before, s < subgroup_index() ? last : 0u);
            head = max(head, last);
        }
        [[unroll]] for (uint round = 0u; round < WINDOW_ROUNDS; round++) {
            uint position = window + 4u * (first_quad + round * SUBGROUP);
            if (position < end) {
                uvec4 quad = max(quads[round], uvec4(before));
                uvec4 source = quad & (EXPAND_SOURCES - 1u);
                uvec4 rank = position + uvec4(0u, 1u, 2u, 3u) - (quad >> EXPAND_SOURCES_LOG2) +
                             mix(uvec4(0u), uvec4(lead_rank), equal(source, uvec4(lead)));
                uvec4 low = base.x + source;
                if (!is_none(args.source))
                    store_quad(source_at, position, low, begin, end);
                if (!is_none(args.rank))
                    store_quad(rank_at, position, rank, begin, end);
                if (!is_none(args.source64)) {
                    uvec4 high = base.y + uvec4(lessThan(low, source));
                    store_quad(source64_at, 2u * position, uvec4(low.x, high.x, low.y, high.y),
                               2u * begin, 2u * end);
                    store_quad(source64_at, 2u * position + 4u,
                               uvec4(low.z, high.z, low.w, high.w), 2u * begin, 2u * end);
                }
            }
        }
    }
}

/* ---- total ----------------------------------------------------------------------------------- */

void report_total(uvec2 total)
{
    store64(args.total, total);
    if (is_none(args.reported))
        return;
    if (args.wide != 0u)
        store64(args.reported, total);
    else
        store_word(args.reported, 0u, total.y != 0u ? 0xffffffffu : total.x);
}
