/* Vectors of AArch64 (NEON), which every such processor has, so nothing is selected at run time.
 * With TML_NO_NEON, loops stay in plain C; scripts/count-instructions compares with that. */
#ifndef TML_NEON_H
#define TML_NEON_H

#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(TML_NO_NEON) &&                        \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#    define TML_NEON 1
#    include <arm_neon.h>
#    include <stdbool.h>
#    include <stdint.h>
#    include <string.h>

/* NEON has no instruction that gathers the lanes' signs. So each lane, all zeros or all ones, is
 * reduced to a bit of its own, and lanes are added in pairs. */

/* Bit i: byte i of the four vectors. */
static inline uint64_t neon_bits_64(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t own = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(vandq_u8(a, own), vandq_u8(b, own));
    uint8x16_t high = vpaddq_u8(vandq_u8(c, own), vandq_u8(d, own));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

/* Bit i: lane i of the two vectors. */
static inline uint32_t neon_bits_8(uint32x4_t low, uint32x4_t high)
{
    const uint16x8_t own = {1, 2, 4, 8, 16, 32, 64, 128};
    uint16x8_t lanes = vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
    return vaddvq_u16(vandq_u16(lanes, own));
}

/* Packs the lanes of four vectors, all zeros or all ones each, into sixteen lanes of one. */
static inline uint8x16_t neon_narrow(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d)
{
    uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
    uint16x8_t high = vuzp1q_u16(vreinterpretq_u16_u32(c), vreinterpretq_u16_u32(d));
    return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

/* Four floats, or f16 as floats. */
static inline float32x4_t neon_floats(const void *at, bool is_half)
{
    return is_half ? vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at))) : vld1q_f32(at);
}

/* f16 to float by the hardware instruction: equals tml_half_to_float except for the bits of a NaN.
 * Compilers vectorise it. */
static inline float half_to_float(uint16_t bits)
{
    __fp16 half;
    memcpy(&half, &bits, sizeof half);
    return half;
}
#else
#    define TML_NEON            0
#    define half_to_float(bits) tml_half_to_float(bits)
#endif

#endif
