/* Loops over the eight lanes of a group, with index i. Compilers vectorise them, rather than unroll
 * them, for the SIMD level of the including file, SIMD_FILE (core/simd.h). */
#ifndef TML_LANES_H
#define TML_LANES_H

#include <stdint.h>

#include "core/inline.h"
#include "core/neon.h"
#include "core/simd.h"

enum { LANE_COUNT = 8 };

#ifdef __OPTIMIZE_SIZE__
#    define EACH_LANE_ALONE
#elif defined(__clang__)
#    define EACH_LANE_ALONE _Pragma("clang loop vectorize(assume_safety)")
#else
#    define EACH_LANE_ALONE _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif
#define LANES EACH_LANE_ALONE for (uint32_t i = 0; i < LANE_COUNT; i++)

/* Bit number of each lane. */
ALWAYS_INLINE uint32_t lanes_bit(const uint32_t code[LANE_COUNT], int number)
{
#if SIMD_FILE >= SIMD_FILE_AVX2
    __m256i bits = _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)code), 31 - number);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(bits));
#elif TML_NEON
    const uint32x4_t bit = vdupq_n_u32(1u << number);
    return neon_bits_8(vtstq_u32(vld1q_u32(code), bit), vtstq_u32(vld1q_u32(code + 4), bit));
#else
    uint32_t set = 0;
    for (uint32_t i = 0; i < LANE_COUNT; i++)
        set |= (code[i] >> number & 1) << i;
    return set;
#endif
}

#endif
