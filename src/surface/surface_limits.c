/* Isovalues as keys. Keys are unsigned numbers in the order of the values of a type's samples. */
#include <math.h>
#include <string.h>

#include "surface/surface_internal.h"

#include "kernels/kernel.h"

#include "kernels/types.k.h"

#include "kernels/kernel_end.h"

/* The shaders' type table (kernels/types.k.h) equals that of C. */
#define TYPE_IS_ALIKE(name, size, ctype)                                                           \
    _Static_assert(TYPE_##name == TML_##name && 1 << TYPE_SIZE_LOG2(TML_##name) == (size) &&       \
                       TYPE_IS_SIGNED(TML_##name) == (SCALAR_KIND_##name == SCALAR_SIGNED) &&      \
                       TYPE_IS_FLOAT(TML_##name) == (SCALAR_KIND_##name == SCALAR_FLOAT),          \
                   "kernels/types.k.h has something else for the type " #name);
TML_SCALAR_LIST(TYPE_IS_ALIKE)
_Static_assert(TML_SCALAR_END <= 16, "kernels/types.k.h has room for two bits of 15 types");

/* Returns the key of a float of this width in bits, given its bits. */
static uint64_t float_key(uint64_t bits, unsigned width)
{
    uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
    return bits & sign ? bits ^ all : bits | sign;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Returns the smallest float >= the isovalue; for zero -0, which equals 0 and has the lower key. */
static float float_limit(double iso)
{
    float limit = (float)iso;
    if ((double)limit < iso)
        limit = nextafterf(limit, INFINITY);
    return limit == 0 ? -0.0f : limit;
}

static uint64_t half_key(float limit)
{
    uint32_t low = 0x03ff, high = 0xfc00; /* keys of -infinity and infinity */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        uint32_t half = middle & 0x8000 ? middle & 0x7fff : middle ^ 0xffff;
        if (tml_half_to_float(half) >= limit)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Returns the key of an integer given as a double, clamped to the range of the type. */
static uint64_t integer_key(tml_type type, double value)
{
    unsigned width = 8 * (unsigned)tml_type_size(type);
    bool is_signed = tml_type_is_signed(type);
    double lowest = is_signed ? -ldexp(1, (int)width - 1) : 0;
    if (value <= lowest)
        return 0;
    if (value >= lowest + ldexp(1, (int)width))
        return UINT64_MAX >> (64 - width);
    /* value - lowest would also be the key, but may round in double. */
    return surface_integer_key(type, is_signed ? (uint64_t)(int64_t)value : (uint64_t)value);
}

static surface_limits integer_limits(tml_type type, double iso)
{
    unsigned width = 8 * (unsigned)tml_type_size(type);
    uint64_t largest = UINT64_MAX >> (64 - width);
    double up = ceil(iso), end = ldexp(1, (int)width - (tml_type_is_signed(type) ? 1 : 0));
    uint64_t key = integer_key(type, up);
    return (surface_limits){.limit = key, .range = largest - key, .is_none = up >= end};
}

/* Returns the limits of a float type, which its size identifies. */
TML_SCALAR_LIST(SCALAR_IS_KNOWN)
static surface_limits float_limits(tml_type type, double iso)
{
    uint64_t limit, end; /* keys of the smallest value inside and of infinity */
    switch (tml_type_size(type)) {
    case 2:
        limit = half_key(float_limit(iso));
        end = float_key(0x7c00, 16);
        break;
    case 4:
        limit = float_key(float_bits(float_limit(iso)), 32);
        end = float_key(float_bits(INFINITY), 32);
        break;
    default: /* 8 */
        limit = float_key(double_bits(iso == 0 ? -0.0 : iso), 64);
        end = float_key(double_bits(INFINITY), 64);
    }
    return (surface_limits){.limit = limit, .range = end - limit};
}

surface_limits surface_limits_of(tml_type type, double iso)
{
    surface_limits out =
        tml_type_is_float(type) ? float_limits(type, iso) : integer_limits(type, iso);
    out.index_iso = float_limit(iso);
    if (type == TML_F64) {
        out.iso_words[0] = (uint32_t)double_bits(iso);
        out.iso_words[1] = (uint32_t)(double_bits(iso) >> 32);
    } else if (!tml_type_is_float(type) && tml_type_size(type) >= 4) {
        uint64_t key = integer_key(type, floor(iso));
        out.iso_words[0] = (uint32_t)key;
        out.iso_words[1] = (uint32_t)(key >> 32);
        out.iso_words[2] = float_bits((float)(iso - floor(iso)));
    } else {
        out.iso_words[0] = float_bits((float)iso);
    }
    return out;
}

static surface_limits limits_of_label(tml_type type, uint64_t label)
{
    uint64_t key = surface_integer_key(type, label);
    return (surface_limits){.limit = key, .iso_words = {(uint32_t)key, (uint32_t)(key >> 32), 0}};
}

surface_limits surface_limits_of_part(const surface_plan *plan, const surface_part *part)
{
    return plan->labels ? limits_of_label(plan->type, part->label)
                        : surface_limits_of(plan->type, part->iso);
}
