/* Scans a tile in registers with a fixed order of additions, so that float sums are the same in
 * every run. Scan and segments share it. The including file defines the type of sums: SUM_U32,
 * SUM_U64, SUM_F32 or SUM_F64.
 *
 * Each subgroup has a stretch of the tile. A stretch has ROWS rows. A row has one quad per lane,
 * consecutive in memory. A quad has four elements. The order of additions: a lane adds the elements
 * of a quad in order; the lanes' sums are scanned (group.glsl); the rows are added one after
 * another; the stretches' sums are scanned as the lanes' sums are.
 *
 * No divergent branch precedes a subgroup operation, since some drivers reconverge late: all
 * invocations load, then select. */
#extension GL_EXT_control_flow_attributes : require
#ifndef UNROLL /* empty in shaders that would inline too many copies */
#define UNROLL [[unroll]]
#endif

layout(constant_id = SCAN_SPEC_MODE) const uint SCAN_MODE = 0u;
layout(constant_id = SCAN_SPEC_IN_LOG2) const uint IN_LOG2 = 2u;
layout(constant_id = SCAN_SPEC_SIGNED) const bool IN_SIGNED = false;
layout(constant_id = SCAN_SPEC_INCLUSIVE) const bool IS_INCLUSIVE = false;

#include "group.glsl"
#if defined(SUM_U32) || defined(SUM_F32)
const uint ROWS = 8u, SUM_SIZE = 4u;
#else
const uint ROWS = 4u, SUM_SIZE = 8u;
#endif
const uint STRETCH = 4u * ROWS * SUBGROUP;
const uint TILE = 4u * ROWS * GROUP;

/* ---- sums as numbers and as words ------------------------------------------------------------ */

/* Element i of an array of sums, by plain loads and stores (see load64). */
sum_t load_sum(uvec2 address, uint i)
{
#if defined(SUM_U32)
    return LOAD_U32(address, i);
#elif defined(SUM_F32)
    return LOAD_F32(address, i);
#elif defined(SUM_U64)
    return load64(address_of(address, i, 8u));
#else
    return packDouble2x32(load64(address_of(address, i, 8u)));
#endif
}
void store_sum(uvec2 address, uint i, sum_t x)
{
#if defined(SUM_U32)
    store_word(address, i, x);
#elif defined(SUM_F32)
    store_word(address, i, floatBitsToUint(x));
#elif defined(SUM_U64)
    store64(address_of(address, i, 8u), x);
#else
    store64(address_of(address, i, 8u), unpackDouble2x32(x));
#endif
}

/* ---- elements -------------------------------------------------------------------------------- */

/* SUM_MOST: the code of an element (EXTREME_IS_NAN), and the element of a code. */
#if defined(SUM_MOST) && defined(SUM_U32)
uint code_of(uint key)
{
    uint sign = SORT_SIGN(key, 32u), code = SORT_CODE(key, sign, args.flip_low, args.real_low);
    return EXTREME_IS_NAN(key, args.real_low, args.least_low) ? args.least_low : code;
}
uint number_of(uint code)
{
    uint sign = SORT_SIGN(code ^ args.flip_low, 32u);
    return SORT_CODE(code, sign, args.flip_low, args.real_low);
}
#elif defined(SUM_MOST)
uvec2 code_of(uvec2 key)
{
    uvec2 flip = uvec2(args.flip_low, args.flip_high), real = uvec2(args.real_low, args.real_high);
    uvec2 least = uvec2(args.least_low, args.least_high), magnitude = key & real,
          most = real ^ least;
    bool is_nan = magnitude.y > most.y || (magnitude.y == most.y && magnitude.x > most.x);
    uint sign = SORT_SIGN(key.y, 32u);
    return is_nan ? least : SORT_CODE(key, sign, flip, real);
}
uvec2 number_of(uvec2 code)
{
    uvec2 flip = uvec2(args.flip_low, args.flip_high), real = uvec2(args.real_low, args.real_high);
    uint sign = SORT_SIGN((code ^ flip).y, 32u);
    return SORT_CODE(code, sign, flip, real);
}
#else
sum_t code_of(sum_t x)
{
    return x;
}
sum_t number_of(sum_t x)
{
    return x;
}
#endif
/* The aggregates of tiles are codes already. */
const bool HAS_NUMBERS = SCAN_MODE != SCAN_TILES;

/* The sum of one element of at most 4 bytes, widened to 32 bits. */
sum_t sum_of_word(uint x)
{
#if defined(SUM_U32)
    return HAS_NUMBERS ? code_of(x) : x;
#elif defined(SUM_U64)
    return uvec2(x, IN_SIGNED && (x & 0x80000000u) != 0u ? 0xffffffffu : 0u);
#elif defined(SUM_F32)
    return uintBitsToFloat(x);
#else
    return ZERO;
#endif
}
sum_t sum_of_pair(uvec2 x)
{
#if defined(SUM_U32)
    return x.x;
#elif defined(SUM_U64)
    return HAS_NUMBERS ? code_of(x) : x;
#elif defined(SUM_F32)
    return ZERO;
#else
    return packDouble2x32(x);
#endif
}

sum_t load_element(uvec2 address, uint i)
{
    if (IN_LOG2 == 3u)
        return sum_of_pair(load64(address_of(address, i, 8u)));
    uint low = i << IN_LOG2, high = IN_LOG2 == 0u ? 0u : i >> (32u - IN_LOG2);
    uint word = tml_load(address, low, high);
    if (IN_LOG2 < 2u)
        word = bitfieldExtract(word, int(((address.x + low) & 3u) << 3), 8 << IN_LOG2);
    return sum_of_word(word);
}

layout(buffer_reference, std430, buffer_reference_align = 8) buffer word_pairs_at {
    uvec2 v[];
};

struct quad {
    sum_t v[4];
};

/* Quad i of an array that begins at a multiple of 16 bytes. */
quad load_quad(uvec2 address, uint i)
{
    quad q;
    if (IN_LOG2 == 3u) {
        uvec4 low = quads_at(address).v[2u * i], high = quads_at(address).v[2u * i + 1u];
        q.v[0] = sum_of_pair(low.xy);
        q.v[1] = sum_of_pair(low.zw);
        q.v[2] = sum_of_pair(high.xy);
        q.v[3] = sum_of_pair(high.zw);
        return q;
    }
    uvec4 x;
    if (IN_LOG2 == 2u) {
        x = quads_at(address).v[i];
    } else if (IN_LOG2 == 1u) {
        uvec2 two = word_pairs_at(address).v[i];
        x = uvec4(two.x & 0xffffu, two.x >> 16, two.y & 0xffffu, two.y >> 16);
    } else {
        uint word = words_at(address).v[i];
        x = uvec4(word & 0xffu, (word >> 8) & 0xffu, (word >> 16) & 0xffu, word >> 24);
    }
    q.v[0] = sum_of_word(x.x);
    q.v[1] = sum_of_word(x.y);
    q.v[2] = sum_of_word(x.z);
    q.v[3] = sum_of_word(x.w);
    return q;
}

void store_quad(uvec2 address, uint i, quad q)
{
#if defined(SUM_U32)
    quads_at(address).v[i] = uvec4(q.v[0], q.v[1], q.v[2], q.v[3]);
#elif defined(SUM_F32)
    quads_at(address).v[i] = floatBitsToUint(vec4(q.v[0], q.v[1], q.v[2], q.v[3]));
#elif defined(SUM_U64)
    quads_at(address).v[2u * i] = uvec4(q.v[0], q.v[1]);
    quads_at(address).v[2u * i + 1u] = uvec4(q.v[2], q.v[3]);
#else
    quads_at(address).v[2u * i] = uvec4(unpackDouble2x32(q.v[0]), unpackDouble2x32(q.v[1]));
    quads_at(address).v[2u * i + 1u] = uvec4(unpackDouble2x32(q.v[2]), unpackDouble2x32(q.v[3]));
#endif
}

/* The quad of elements at ... at + 3; zeros from count on, which is not 0. */
quad load_quad_slowly(uvec2 address, uint at, uint count)
{
    quad q;
    UNROLL for (uint c = 0u; c < 4u; c++) {
        sum_t x = load_element(address, min(at + c, count - 1u));
        q.v[c] = at + c < count ? x : ZERO;
    }
    return q;
}
void store_quad_slowly(uvec2 address, uint at, uint count, quad q)
{
    UNROLL for (uint c = 0u; c < 4u; c++)
        if (at + c < count)
            store_sum(address, at + c, q.v[c]);
}

/* ---- stretches and tiles --------------------------------------------------------------------- */

/* A subgroup's stretch: its elements, and the exclusive prefix of each quad in it. */
struct stretch {
    quad quads[ROWS];
    sum_t before[ROWS];
};

/* Index of the lane's quad of a row, from the stretch's beginning. */
uint quad_place(uint row)
{
    return 4u * (row * SUBGROUP + gl_SubgroupInvocationID);
}

/* Are all elements before count, and both addresses multiples of 16? */
bool is_plain(uvec2 in_at, uvec2 out_at, uint end, uint count)
{
    return end <= count && ((in_at.x | out_at.x) & 15u) == 0u;
}

void load_stretch(uvec2 address, uint first, uint count, bool plain, out stretch s)
{
    if (plain) {
        UNROLL for (uint k = 0u; k < ROWS; k++)
            s.quads[k] = load_quad(address, (first + quad_place(k)) >> 2);
    } else if (count == 0u) {
        UNROLL for (uint k = 0u; k < ROWS; k++)
            s.quads[k].v[0] = s.quads[k].v[1] = s.quads[k].v[2] = s.quads[k].v[3] = ZERO;
    } else {
        UNROLL for (uint k = 0u; k < ROWS; k++)
            s.quads[k] = load_quad_slowly(address, first + quad_place(k), count);
    }
}

/* Sets before. Returns the stretch's sum. */
sum_t scan_stretch(inout stretch s)
{
    sum_t sum = ZERO;
    UNROLL for (uint k = 0u; k < ROWS; k++) {
        sum_t own =
            add(add(add(s.quads[k].v[0], s.quads[k].v[1]), s.quads[k].v[2]), s.quads[k].v[3]);
        sum_t through = scan_lanes(own);
        uint lane = gl_SubgroupInvocationID;
        sum_t sooner = add(sum, lane_of(through, lane == 0u ? 0u : lane - 1u));
        s.before[k] = lane == 0u ? sum : sooner;
        sum = add(sum, lane_of(through, SUBGROUP - 1u));
    }
    return sum;
}

/* Running sums of a quad, from its exclusive prefix. */
quad scan_quad(quad q, sum_t before)
{
    quad sums;
    UNROLL for (uint c = 0u; c < 4u; c++) {
        sum_t through = add(before, q.v[c]);
        sum_t sum = IS_INCLUSIVE ? through : before;
        sums.v[c] = HAS_NUMBERS ? number_of(sum) : sum;
        before = through;
    }
    return sums;
}

void store_stretch(uvec2 address, uint first, uint count, bool plain, stretch s, sum_t before)
{
    UNROLL for (uint k = 0u; k < ROWS; k++) {
        quad q = scan_quad(s.quads[k], add(before, s.before[k]));
        uint at = first + quad_place(k);
        if (plain)
            store_quad(address, at >> 2, q);
        else
            store_quad_slowly(address, at, count, q);
    }
}

/* The scan of a workgroup's tile. */
struct tile_scan {
    stretch mine;
    sum_t before; /* the tile's sum in the subgroups before */
    sum_t total;  /* of the tile */
    uint first;   /* index of the stretch's first element */
    bool plain;
};

/* Has one barrier; another must precede the next call. */
tile_scan scan_tile(uvec2 in_at, uvec2 out_at, uint first, uint count)
{
    tile_scan t;
    t.first = first + subgroup_index() * STRETCH;
    t.plain = is_plain(in_at, out_at, first + TILE, count);
    load_stretch(in_at, t.first, count, t.plain, t.mine);
    sum_t own = scan_stretch(t.mine);
    t.before = scan_subgroups(own, t.total);
    return t;
}
void store_tile(uvec2 out_at, uint count, tile_scan t, sum_t before)
{
    store_stretch(out_at, t.first, count, t.plain, t.mine, add(before, t.before));
}
