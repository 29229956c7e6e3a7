/* Binary16 to float, exact for every value, a NaN's bits included. The exponent is rebiased, which
 * normalises subnormal halves; exponent 31 must then become 255. In C, kernel.h includes
 * this file. */
#ifndef TML_KERNEL_HALF
#define TML_KERNEL_HALF

FUNCTION(float) tml_half_to_float(uint half_bits)
{
    uint magnitude = (half_bits & 0x7fffu) << 13; /* its exponent is too small by 112 */
#ifdef TML_GLSL
    /* By numbers that no device takes for zero. */
    uint rebiased = magnitude < 0x00800000u ? floatBitsToUint(F(magnitude) * 7.275957614183426e-12f)
                                            : magnitude + 0x38000000u;
#else
    /* In one multiplication: half as long again with a choice, where the halves are in cache. */
    uint rebiased = floatBitsToUint(uintBitsToFloat(magnitude) * 0x1p112f);
#endif
    uint special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
    return uintBitsToFloat((half_bits & 0x8000u) << 16 | rebiased | special);
}

#endif
