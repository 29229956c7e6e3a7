/* Floats in four bytes by log2, exp2 and floor, as in the article on float textures: the exponent
 * is the logarithm, rounded down. The bytes are those of another number in two cases: the logarithm
 * of a number just below a power of two is rounded up to that power's logarithm, and the power's
 * exponent field is even; or a device's log2 and exp2 are inexact. -0 and subnormals have no such
 * exponent. The library's functions (kernels/pack.k.h) compare with powers of two instead, and are
 * exact for every float.
 *
 * Taken literally, the article's unpacking gives 0 for every positive number, because its sign is 0
 * or -1. Here the sign is 1 or -1.
 *
 * After: Speed Bumps: Floating Point Textures. */
#include "papers_internal.h"

#include "core/core_internal.h"

#include <trommel/kernel_begin.h>

/* clang-format off */
TML_LIBRARY(floats,
    /* Bytes from the lowest to the highest. */
    FUNCTION(vec4) floats_packed(float x)
    {
        float sign_bit = step(0.0f, -x);
        float magnitude = abs(x);
        float exponent = floor(log2(magnitude));
        float mantissa = magnitude * exp2(-exponent) - 1.0f;
        exponent += 127.0f;
        float a = floor(exponent / 2.0f);
        exponent = exponent - a * 2.0f;
        a += 128.0f * sign_bit;
        float b = floor(mantissa * 128.0f);
        mantissa -= b / 128.0f;
        b += exponent * 128.0f;
        float g = floor(mantissa * 32768.0f);
        mantissa -= g / 32768.0f;
        return VEC4(floor(mantissa * 8388608.0f), g, b, a);
    }
    FUNCTION(float) floats_unpacked(vec4 bytes)
    {
        float sign_bit = step(128.0f, bytes.w);
        float high = bytes.w - 128.0f * sign_bit;
        float odd = step(128.0f, bytes.z);
        float exponent = odd + 2.0f * high - 127.0f;
        float mantissa = (bytes.z - odd * 128.0f) * 65536.0f + bytes.y * 256.0f + bytes.x;
        return (1.0f - 2.0f * sign_bit) * exp2(exponent) * (1.0f + mantissa * exp2(-23.0f));
    }
    /* A byte, clamped as textures do; 0 for NaN. */
    FUNCTION(uint) floats_byte(float x)
    {
        return x > 0.0f ? U(min(x, 255.0f)) : 0u;
    }
    /* The bytes as the bits of a float. */
    FUNCTION(uint) floats_joined(vec4 bytes)
    {
        return floats_byte(bytes.x) | floats_byte(bytes.y) << 8 | floats_byte(bytes.z) << 16 |
               floats_byte(bytes.w) << 24;
    }
)
/* clang-format on */

/* p.u: the first pattern, the step to the next. */
TML_KERNEL_WITH(floats, bool, floats_pack_wrong, (tml_index i, tml_params p), {
    uint bits = p.u[0] + U(i) * p.u[1];
    return floats_joined(floats_packed(uintBitsToFloat(bits))) != bits;
})
TML_KERNEL_WITH(floats, bool, floats_unpack_wrong, (tml_index i, tml_params p), {
    uint bits = p.u[0] + U(i) * p.u[1];
    vec4 bytes = VEC4(F(bits & 255u), F(bits >> 8 & 255u), F(bits >> 16 & 255u), F(bits >> 24));
    return floatBitsToUint(floats_unpacked(bytes)) != bits;
})
/* Patterns within two of a power of two: five for each exponent. */
TML_KERNEL_WITH(floats, bool, floats_near_wrong, (tml_index i), {
    uint bits = ((U(i) / 5u + 1u) << 23) + U(i) % 5u - 2u;
    return floats_joined(floats_packed(uintBitsToFloat(bits))) != bits;
})

#include <trommel/kernel_end.h>

enum { CHUNK = 1 << 24, NEAR = 5 * 254 };

/* For how many of count elements a kernel returns true. */
static tml_status count_true(tml_context *tml, const tml_kernel *kernel, uint32_t first,
                             uint32_t step, uint64_t count, uint64_t *out)
{
    const tml_buffer_desc flags = {.type = TML_U8, .count = TML_MIN_OF(count, (uint64_t)CHUNK)};
    tml_map_desc map = {.kernel = kernel};
    tml_buffer sum = {0, 0};
    tml_status status = tml_buffer_create(tml, &flags, &map.out[0]);
    if (!status)
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U64, .count = 1}, &sum);
    *out = 0;
    for (uint64_t at = 0; at < count && !status; at += map.length.count) {
        uint64_t here = 0;
        map.length.count = TML_MIN_OF(count - at, flags.count);
        map.params = (tml_params){.u = {first + (uint32_t)at * step, step}};
        status = tml_map(tml, &map);
        if (!status)
            status = tml_reduce(tml, &(tml_reduce_desc){.in = map.out[0],
                                                        .length = map.length,
                                                        .folds = {{TML_FOLD_SUM, sum}}});
        if (!status)
            status = tml_buffer_read(tml, sum, &here);
        *out += here;
    }
    tml_buffer_destroy(tml, map.out[0]);
    tml_buffer_destroy(tml, sum);
    return status;
}

tml_status papers_floats_count(tml_context *tml, uint32_t first, uint32_t step, uint64_t count,
                               papers_floats *out)
{
    papers_learn(tml);
    *out = (papers_floats){0};
    tml_status status =
        count_true(tml, TML_USE(floats_pack_wrong), first, step, count, &out->packed_wrong);
    if (!status)
        status =
            count_true(tml, TML_USE(floats_unpack_wrong), first, step, count, &out->unpacked_wrong);
    return status;
}

tml_status papers_floats_near_powers(tml_context *tml, uint64_t *wrong)
{
    papers_learn(tml);
    tml_status status = count_true(tml, TML_USE(floats_near_wrong), 0, 0, NEAR, wrong);
    if (!status) { /* the first two are subnormal */
        uint64_t subnormal = 0;
        status = count_true(tml, TML_USE(floats_near_wrong), 0, 0, 2, &subnormal);
        *wrong -= subnormal;
    }
    return status;
}

uint32_t papers_floats_pack(float x)
{
    return floats_joined(floats_packed(x));
}

float papers_floats_unpack(uint32_t bits)
{
    return floats_unpacked(tml_make4((float)(bits & 255), (float)(bits >> 8 & 255),
                                     (float)(bits >> 16 & 255), (float)(bits >> 24)));
}
