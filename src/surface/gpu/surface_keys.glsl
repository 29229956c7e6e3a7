/* Comparable keys of samples of all scalar types, for the shaders of both GPU engines. raw: a
 * sample's bits as a pair of words; types of at most 32 bits use the first word. */

#include "kernels/types.k.h"

uint type_size_log2(uint type)
{
    return TYPE_SIZE_LOG2(type);
}

/* Returns the key of a sample: an unsigned number in the order of the values. NaNs have keys beyond
 * those of the infinities. */
uvec2 key_of(uint type, uvec2 raw)
{
    bool is_wide = type_size_log2(type) == 3u, is_float = TYPE_IS_FLOAT(type);
    uint sign = type_size_log2(type) == 0u   ? 0x80u
                : type_size_log2(type) == 1u ? 0x8000u
                                             : 0x80000000u;
    bool is_signed = is_float || TYPE_IS_SIGNED(type);
    uint top = is_wide ? raw.y : raw.x;
    bool turns = is_float && (top & sign) != 0u; /* negative float: larger bits, smaller value */
    uint flip = turns ? sign | (sign - 1u) : is_signed ? sign : 0u;
    return is_wide ? uvec2(turns ? ~raw.x : raw.x, top ^ flip) : uvec2(top ^ flip, 0u);
}

bool raw_is_nan(uint type, uvec2 raw)
{
    if (type == TYPE_F16)
        return (raw.x & 0x7fffu) > 0x7c00u;
    if (type == TYPE_F32)
        return (raw.x & 0x7fffffffu) > 0x7f800000u;
    if (type == TYPE_F64)
        return (raw.y & 0x7fffffffu) > 0x7ff00000u ||
               ((raw.y & 0x7fffffffu) == 0x7ff00000u && raw.x != 0u);
    return false;
}

uvec2 sub64(uvec2 a, uvec2 b)
{
    return uvec2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1u : 0u));
}
bool less64(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

/* Returns whether a sample's key is in [limit, limit + range]. */
bool is_inside(uint type, uvec2 raw, uvec2 limit, uvec2 range)
{
    uvec2 key = key_of(type, raw);
    if (type_size_log2(type) == 3u)
        return !less64(range, sub64(key, limit));
    return key.x - limit.x <= range.x;
}

/* Compares four bytes. Returns bit i set if byte i >= byte i of limit4. */
uint bytes_inside(uint bytes, uint limit4)
{
    const uint high = 0x80808080u;
    uint kept = (bytes | high) - (limit4 & ~high);
    uint at_least = ((bytes & ~limit4) | (~(bytes ^ limit4) & kept)) & high;
    return (at_least >> 7) * 0x01020408u >> 24 & 0xfu;
}
/* Compares two 16-bit integers. Returns bit i set if integer i is inside. */
uint halves_inside(uint type, uint two, uint limit, uint range)
{
    uint flip = TYPE_IS_SIGNED(type) ? 0x8000u : 0u;
    uint low = (two & 0xffffu) ^ flip, high = (two >> 16) ^ flip;
    return (low - limit <= range ? 1u : 0u) | (high - limit <= range ? 2u : 0u);
}
