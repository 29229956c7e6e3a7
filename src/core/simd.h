/* The SIMD level of all loops on the host, chosen at run time. */
#ifndef TML_SIMD_H
#define TML_SIMD_H

typedef enum tml_simd {
    TML_SIMD_BASE,   /* the compiler's default target: SSE2, NEON, or plain C */
    TML_SIMD_AVX2,   /* with BMI2 */
    TML_SIMD_AVX512, /* F, BW, VL, DQ, VBMI2: Ice Lake, Zen 4 and later */
    TML_SIMD_LEVELS
} tml_simd;

/* The best level of this processor, or a lower one that was forced. */
tml_simd tml_simd_level(void);
/* Its name for messages: "AVX-512 VBMI2". */
const char *tml_simd_name(void);
/* For tests: limits the level in the whole process. No operation may be running. */
void tml_simd_force(tml_simd level);

#endif
