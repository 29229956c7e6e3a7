/* Keys and codes of a sort (kernels/sort.k.h). SORT_WORDS: the words of a code, 1 or 2. */
#include "kernel.glsl"
#include "kernels/sort.k.h"
#include "vulkan/vulkan_sort.k.h"
#include "common.glsl"
#include "group.glsl"
#include "count_digit.glsl"
#extension GL_EXT_control_flow_attributes : require

ARGS_USE(SORT_ARGS)

layout(constant_id = 0) const uint KEY_LOG2 = 2u;
layout(constant_id = 1) const bool ENCODES = true;
layout(constant_id = 2) const bool DECODES = true;
layout(constant_id = 3) const uint VALUES = SORT_VALUES_NONE;
layout(constant_id = 4) const bool IS_LONG = false;
layout(constant_id = 6) const uint SPANS = 0u;

/* The bins of all subgroups of a workgroup together are SORT_COUNTERS, if subgroups have fewer than
 * 32 invocations. */
const uint DIGIT_BITS = SUBGROUP >= 32u ? 8u : SUBGROUP == 16u ? 7u : SUBGROUP == 8u ? 6u : 5u;
const uint BINS = 1u << DIGIT_BITS;

layout(buffer_reference, std430, buffer_reference_align = 8) buffer pairs_at {
    uvec2 v[];
};

uint code_of(uint key, uint sign)
{
    return SORT_CODE(key, sign, args.flip_low, args.real_low);
}
uvec2 code_of(uvec2 key, uint sign)
{
    return SORT_CODE(key, uvec2(sign), uvec2(args.flip_low, args.flip_high),
                     uvec2(args.real_low, args.real_high));
}
uint load_narrow(uint i)
{
    uint key = KEY_LOG2 == 0u   ? LOAD_U8(args.keys, i)
               : KEY_LOG2 == 1u ? LOAD_U16(args.keys, i)
                                : words_at(args.keys).v[i];
    return ENCODES ? code_of(key, SORT_SIGN(key, 8u << KEY_LOG2)) : key;
}

#if SORT_WORDS == 1
#define code_t uint
const code_t LARGEST = 0xffffffffu;
code_t load_code(uint i)
{
    return load_narrow(i);
}
uint bits_from(code_t code, uint shift)
{
    return code >> shift;
}
#else
#define code_t uvec2
const code_t LARGEST = uvec2(0xffffffffu);
code_t load_code(uint i)
{
    if (KEY_LOG2 < 3u)
        return uvec2(load_narrow(i), 0u);
    uvec2 key = pairs_at(args.keys).v[i];
    return ENCODES ? code_of(key, SORT_SIGN(key.y, 32u)) : key;
}
/* At least the 32 bits from bit shift on that exist. */
uint bits_from(code_t code, uint shift)
{
    uint low = shift < 32u ? code.x : code.y, high = shift < 32u ? code.y : 0u;
    return low >> (shift & 31u) | (high << 1) << (31u - (shift & 31u));
}
#endif

/* Bits [shift, shift + DIGIT_BITS) of a code, as far as they are below bit end. */
uint digit_of(code_t code, uint shift, uint end)
{
    return bits_from(code, shift) & ((1u << min(end - shift, DIGIT_BITS)) - 1u);
}
