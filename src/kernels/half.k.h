/* IEEE 754 binary16 to float, exact for every value, a NaN's payload included. Rebiasing the exponent by a
 * multiplication also normalises subnormal halves; exponent 31 must then become 255. kernel.h includes
 * this file in C. */
#ifndef TML_KERNEL_HALF
#define TML_KERNEL_HALF

FUNCTION(float) tml_half_to_float(uint half_bits)
{
    uint magnitude = (half_bits & 0x7fffu) << 13; /* as a float, its exponent is too small by 112 */
#ifdef TML_GLSL
    /* Subnormal halves: F(magnitude) is normal, while devices may flush subnormal floats to 0. */
    uint rebiased = magnitude < 0x00800000u ? floatBitsToUint(F(magnitude) * 7.275957614183426e-12f)
                                            : magnitude + 0x38000000u;
#else
    /* One multiplication for all halves; a choice takes 1.5 times as long on halves in cache. */
    uint rebiased = floatBitsToUint(uintBitsToFloat(magnitude) * 0x1p112f);
#endif
    uint special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
    return uintBitsToFloat((half_bits & 0x8000u) << 16 | rebiased | special);
}

#endif
