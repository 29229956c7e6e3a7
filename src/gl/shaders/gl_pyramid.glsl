/* Descends a HistoPyramid (gl_pyramid.h). Included after gl_common.glsl. PYRAMID_BITS or
 * PYRAMID_COUNTS is defined, according to the base. With PYRAMID_OTHERS, a pyramid of bits can also
 * be read inverted: while pyramid_others is true, each bit of the base counts as its complement.
 *
 * Nodes above the base are numbered from the apex, 0, level by level, and node n has the children 4
 * n + 1 to 4 n + 4, so no table of levels is needed. */
#include "gl_sums.glsl"

uniform highp usampler2D pyramid_base;
uniform highp usampler2D
    pyramid_low; /* the level above the base, and every second one above that */
uniform highp usampler2D pyramid_high; /* the others */
uniform uint pyramid_levels;           /* their number */
uniform uint pyramid_leaf;             /* the node number that the base's first texel would have */

#ifdef PYRAMID_BITS
const uint PYRAMID_ITEMS_LOG2 = 7u; /* log2 of the items of a texel of the base */
#else
const uint PYRAMID_ITEMS_LOG2 = 2u;
#endif

#ifdef PYRAMID_OTHERS
bool pyramid_others = false;
#endif

/* An item, and the rank of an output among the item's outputs. */
struct pyramid_spot {
    uint item;
    uint rank;
};

/* ---- levels ---------------------------------------------------------------------------------- */

uvec4 pyramid_apex()
{
    if ((pyramid_levels & 1u) != 0u)
        return load_quad(pyramid_low, 0u);
    return load_quad(pyramid_high, 0u);
}

uint pyramid_total()
{
    return pyramid_apex().w;
}

/* The prefix sums of a node; of its complement while pyramid_others is true. Level 0 is the
 * lowest. */
uvec4 pyramid_seen(uvec4 sums, uint level)
{
#ifdef PYRAMID_OTHERS
    if (pyramid_others)
        return (uvec4(1u, 2u, 3u, 4u) << (PYRAMID_ITEMS_LOG2 + 2u * level)) - sums;
#endif
    return sums;
}

/* Descends one level: from a node and a key among the node's outputs to a child and a key among the
 * child's outputs. */
uvec2 pyramid_down(uvec4 sums, uvec2 at)
{
    uint child = uint(at.y >= sums.x) + uint(at.y >= sums.y) + uint(at.y >= sums.z);
    uint before = at.y >= sums.z ? sums.z : at.y >= sums.y ? sums.y : at.y >= sums.x ? sums.x : 0u;
    return uvec2(4u * at.x + 1u + child, at.y - before);
}

/* The base texel to which output key belongs, and the key among that texel's outputs. */
uvec2 pyramid_descend(uint key)
{
    uint level = pyramid_levels - 1u;
    uvec2 at = pyramid_down(pyramid_seen(pyramid_apex(), level), uvec2(0u, key));
    if ((level & 1u) != 0u) {
        level--;
        at = pyramid_down(pyramid_seen(load_quad(pyramid_low, at.x), level), at);
    }
    while (level > 0u) {
        level -= 2u;
        at = pyramid_down(pyramid_seen(load_quad(pyramid_high, at.x), level + 1u), at);
        at = pyramid_down(pyramid_seen(load_quad(pyramid_low, at.x), level), at);
    }
    return uvec2(at.x - pyramid_leaf, at.y);
}

uvec4 pyramid_base_texel(uint texel)
{
    uvec4 items = load_quad(pyramid_base, texel);
#ifdef PYRAMID_OTHERS
    if (pyramid_others)
        return ~items;
#endif
    return items;
}

/* The number of the sums, which do not decrease, that are at most key. */
uint pyramid_part(uvec3 sums, uint key)
{
    return uint(key >= sums.x) + uint(key >= sums.y) + uint(key >= sums.z);
}

/* ---- texels of the base ---------------------------------------------------------------------- */

#ifdef PYRAMID_BITS

/* Position of the set bit with this rank in a word. */
uint pyramid_select(uint word, uint rank)
{
    uint pairs = word - (word >> 1 & 0x55555555u);
    uint nibbles = (pairs & 0x33333333u) + (pairs >> 2 & 0x33333333u);
    /* inclusive prefix sums */
    uint bytes = ((nibbles + (nibbles >> 4)) & 0x0f0f0f0fu) * 0x01010101u;
    /* A byte keeps its high bit if the prefix sum is not greater than the rank. */
    uint passed = (((rank * 0x01010101u) | 0x80808080u) - bytes) & 0x80808080u;
    uint at = ((passed >> 7) * 0x01010101u >> 24) << 3;
    rank -= (bytes << 8) >> at & 0xffu;
    uint ones = nibbles >> at & 0xfu;
    if (rank >= ones) {
        rank -= ones;
        at += 4u;
    }
    ones = pairs >> at & 3u;
    if (rank >= ones) {
        rank -= ones;
        at += 2u;
    }
    return at + (rank >= (word >> at & 1u) ? 1u : 0u);
}

uvec3 pyramid_running(uvec4 bits)
{
    uint x = popcount32(bits.x), y = popcount32(bits.y), z = popcount32(bits.z);
    return uvec3(x, x + y, x + y + z);
}

/* Position, among the 128 bits, of the set bit with rank key. */
uint pyramid_place(uvec4 bits, uint key)
{
    uvec3 sums = pyramid_running(bits);
    uint part = pyramid_part(sums, key);
    uint before = part == 0u ? 0u : part == 1u ? sums.x : part == 2u ? sums.y : sums.z;
    return 32u * part + pyramid_select(tml_component(bits, part), key - before);
}

pyramid_spot pyramid_locate(uint key)
{
    pyramid_spot spot;
    uvec2 at = pyramid_descend(key);
    spot.item = 128u * at.x + pyramid_place(pyramid_base_texel(at.x), at.y);
    spot.rank = 0u;
    return spot;
}

/* Outputs of the texel's items before item place. */
uint pyramid_before_in(uvec4 bits, uint place)
{
    uint part = place >> 5, below = (1u << (place & 31u)) - 1u;
    uvec3 sums = pyramid_running(bits);
    uint before = part == 0u ? 0u : part == 1u ? sums.x : part == 2u ? sums.y : sums.z;
    return before + popcount32(tml_component(bits, part) & below);
}

#else

uvec4 pyramid_running(uvec4 counts)
{
    uvec4 sums = counts;
    sums.y = add_clamped(sums.x, counts.y);
    sums.z = add_clamped(sums.y, counts.z);
    sums.w = add_clamped(sums.z, counts.w);
    return sums;
}

pyramid_spot pyramid_locate(uint key)
{
    pyramid_spot spot;
    uvec2 at = pyramid_descend(key);
    at = pyramid_down(pyramid_running(pyramid_base_texel(at.x)), at);
    spot.item = at.x - 1u; /* numbered like a child node */
    spot.rank = at.y;
    return spot;
}

uint pyramid_before_in(uvec4 counts, uint place)
{
    uvec4 sums = pyramid_running(counts);
    return place == 0u ? 0u : place == 1u ? sums.x : place == 2u ? sums.y : sums.z;
}

#endif

/* ---- upwards --------------------------------------------------------------------------------- */

/* Ascends one level: to the parent, with the sum of the siblings before this child added. */
uvec2 pyramid_up(highp usampler2D level, uvec2 at)
{
    uint child = at.x - 1u & 3u, parent = at.x - 1u >> 2;
    uvec4 sums = load_quad(level, parent);
    uint before = child == 0u ? 0u : child == 1u ? sums.x : child == 2u ? sums.y : sums.z;
    return uvec2(parent, at.y + before);
}

/* The number of outputs of all items before this one. */
uint pyramid_before(uint item)
{
    uint texel = item >> PYRAMID_ITEMS_LOG2;
    uint place = item & (1u << PYRAMID_ITEMS_LOG2) - 1u;
    uvec2 at =
        uvec2(pyramid_leaf + texel, pyramid_before_in(load_quad(pyramid_base, texel), place));
    uint level = 0u;
    for (; level + 2u <= pyramid_levels; level += 2u)
        at = pyramid_up(pyramid_high, pyramid_up(pyramid_low, at));
    if (level < pyramid_levels)
        at = pyramid_up(pyramid_low, at);
    return at.y;
}

/* The number of outputs before each of four texels of the base. The first texel is a multiple of
 * 4. */
uvec4 pyramid_before_four(uint texel)
{
    uint parent = (pyramid_leaf + texel - 1u) >> 2;
    uvec4 sums = load_quad(pyramid_low, parent);
    uvec2 at = uvec2(parent, 0u);
    uint level = 1u;
    for (; level + 2u <= pyramid_levels; level += 2u)
        at = pyramid_up(pyramid_low, pyramid_up(pyramid_high, at));
    if (level < pyramid_levels)
        at = pyramid_up(pyramid_high, at);
    return at.y + uvec4(0u, sums.xyz);
}

/* ---- consecutive outputs --------------------------------------------------------------------- */

/* A position in consecutive outputs: the rest of a texel of the base. Most of the next outputs come
 * from the same texel, without a descent. */
struct pyramid_cursor {
    uint texel;
    uvec4 left;
    uint rank; /* PYRAMID_COUNTS: of the next output */
};

bool pyramid_is_used_up(pyramid_cursor cursor)
{
    return (cursor.left.x | cursor.left.y | cursor.left.z | cursor.left.w) == 0u;
}

pyramid_cursor pyramid_seek(uint key)
{
    pyramid_cursor cursor;
    uvec2 at = pyramid_descend(key);
    cursor.texel = at.x;
    cursor.left = pyramid_base_texel(at.x);
    cursor.rank = 0u;
#ifdef PYRAMID_BITS
    if (at.y > 0u) {
        uint place = pyramid_place(cursor.left, at.y);
        uint part = place >> 5, from = 0xffffffffu << (place & 31u);
        cursor.left &= uvec4(part == 0u ? from : 0u,
                             part == 1u  ? from
                             : part < 1u ? 0xffffffffu
                                         : 0u,
                             part == 2u  ? from
                             : part < 2u ? 0xffffffffu
                                         : 0u,
                             part == 3u ? from : 0xffffffffu);
    }
#else
    uvec4 sums = pyramid_running(cursor.left);
    uvec2 child = pyramid_down(sums, uvec2(0u, at.y));
    uint part = child.x - 1u;
    cursor.rank = child.y;
    cursor.left = uvec4(part == 0u ? cursor.left.x : 0u, part <= 1u ? cursor.left.y : 0u,
                        part <= 2u ? cursor.left.z : 0u, cursor.left.w);
#endif
    return cursor;
}

/* The next output. A cursor that is used up stays used up and returns undefined outputs. */
pyramid_spot pyramid_next(inout pyramid_cursor cursor)
{
    pyramid_spot spot;
    uvec4 left = cursor.left;
    bool past_x = left.x == 0u;
    bool past_y = past_x && left.y == 0u;
    bool past_z = past_y && left.z == 0u;
    uint word = past_z ? left.w : past_y ? left.z : past_x ? left.y : left.x;
    uint part = past_z ? 3u : past_y ? 2u : past_x ? 1u : 0u;
#ifdef PYRAMID_BITS
    /* Clears the lowest set bit. */
    cursor.left =
        left & uvec4(left.x - 1u, past_x ? left.y - 1u : 0xffffffffu,
                     past_y ? left.z - 1u : 0xffffffffu, past_z ? left.w - 1u : 0xffffffffu);
    spot.item = 128u * cursor.texel + 32u * part + lowest_bit32(word);
    spot.rank = 0u;
#else
    spot.item = 4u * cursor.texel + part;
    spot.rank = cursor.rank++;
    if (cursor.rank >= word) {
        cursor.rank = 0u;
        cursor.left = uvec4(0u, past_x ? 0u : left.y, past_y ? 0u : left.z, past_z ? 0u : left.w);
    }
#endif
    return spot;
}
