/* IEEE 754 binary16. The conversion to float is exact for every value, and keeps the payload of a
 * NaN. A multiplication rebiases the exponent, which also normalises subnormal halves; exponent 31
 * must then become 255. kernel.h includes this file in C. */
#ifndef TML_KERNEL_HALF
#define TML_KERNEL_HALF

FUNCTION(float) tml_half_to_float(uint half_bits)
{
    uint magnitude = (half_bits & 0x7fffu) << 13; /* as a float, its exponent is too small by 112 */
#ifdef TML_GLSL
    /* For subnormal halves F(magnitude) is a normal float, whereas devices may flush subnormal
     * floats to 0. */
    uint rebiased = magnitude < 0x00800000u ? floatBitsToUint(F(magnitude) * 7.275957614183426e-12f)
                                            : magnitude + 0x38000000u;
#else
    /* One multiplication serves all halves; a branch takes 1.5 times as long on halves in the
     * cache. */
    uint rebiased = floatBitsToUint(uintBitsToFloat(magnitude) * 0x1p112f);
#endif
    uint special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
    return uintBitsToFloat((half_bits & 0x8000u) << 16 | rebiased | special);
}

/* The bits of an f16, rounded to nearest, ties to even. Overflow gives infinity; NaN stays NaN. */
FUNCTION(uint) tml_float_to_half(float x)
{
    uint bits = floatBitsToUint(x);
    uint sign_bit = (bits >> 16) & 0x8000u;
    uint magnitude = bits & 0x7fffffffu;
    uint normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
    /* Below 2^-14: adding 1/2 rounds to a multiple of 2^-24, ties to even, in the last bits of the
     * sum. */
    uint small = magnitude < 0x00800000u ? 0u : magnitude;
    uint subnormal = floatBitsToUint(uintBitsToFloat(small) + 0.5f) - 0x3f000000u;
    uint finite = magnitude < 0x38800000u ? subnormal : normal;
    uint value = magnitude >= 0x477ff000u ? 0x7c00u : finite;
    return sign_bit | (magnitude > 0x7f800000u ? 0x7e00u : value);
}

#endif
