/* The level of SIMD that loops on the host use: chosen at run time, and the one place that chooses. */
#ifndef TML_SIMD_H
#define TML_SIMD_H

typedef enum tml_simd {
    TML_SIMD_BASE,   /* what the compiler takes for granted: SSE2, NEON, or plain C */
    TML_SIMD_AVX2,   /* with BMI2 */
    TML_SIMD_AVX512, /* F, BW, VL, DQ, VBMI2: Ice Lake, Zen 4 and later */
    TML_SIMD_LEVELS
} tml_simd;

/* The best level of this processor, or a lower one that was forced. */
tml_simd tml_simd_level(void);
/* "AVX-512 VBMI2", for people. */
const char *tml_simd_name(void);
/* Tests: uses at most this level from now on, in the whole process. Not while operations run. */
void tml_simd_force(tml_simd level);

#endif
