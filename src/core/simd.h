/* SIMD levels: how loops on the host are compiled for several instruction sets, one of which is
 * chosen at run time. (The compilers' own target_clones and ifunc crash under sanitizers.)
 *
 * A level is chosen for each block of work, never for each element. Floating-point loops fix their
 * lanes and their order in C, so every level gives the same bits.
 *
 * A hot loop is an ALWAYS_INLINE function in plain C, or with intrinsics if C lacks the operation.
 * SIMD_INSTANTIATE compiles it for each level by a target attribute:
 *
 *     ALWAYS_INLINE void add(const float *in, size_t count, float *out) { ... }
 *     SIMD_INSTANTIATE(void, add, (const float *in, size_t count, float *out),
 *                      add(in, count, out))
 *     typedef void (*add_fn)(const float *in, size_t count, float *out);
 *     static const add_fn add_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(add);
 *     ...
 *     add_for[tml_simd_level()](in, count, out);
 *
 * An attribute reaches neither a callee nor the preprocessor. So loops that call one another,
 * recurse, or differ by level in #if are instead compiled from one file per level. NAME_loops.h
 * defines a table of functions SIMD_SET(NAME). NAME_plain.c, NAME_avx2.c and, if there is one,
 * NAME_avx512.c define SIMD_FILE and include it. The build compiles files with these names with the
 * flags of their level.
 *
 *     extern const NAME NAME_plain, NAME_avx2;
 *     ...
 *     const NAME *loops = SIMD_CHOOSE(NAME); */
#ifndef TML_SIMD_H
#define TML_SIMD_H

#include "core/inline.h"
#include "core/neon.h"

#if defined(__x86_64__) && defined(__GNUC__)
#    define SIMD_X86 1
#    include <immintrin.h>
#else
#    define SIMD_X86 0
#endif

typedef enum tml_simd {
    TML_SIMD_BASE,   /* the compiler's default target: SSE2, NEON, or plain C */
    TML_SIMD_AVX2,   /* with BMI2 */
    TML_SIMD_AVX512, /* F, BW, VL, DQ, VBMI2, VPOPCNTDQ: Ice Lake, Zen 4 and later */
    TML_SIMD_LEVELS
} tml_simd;

/* The best level of this processor, or a lower one that was forced. */
tml_simd tml_simd_level(void);
/* Its name for messages: "AVX-512 VBMI2". */
const char *tml_simd_name(void);
/* For tests: limits the level in the whole process. No operation may be running. */
void tml_simd_force(tml_simd level);

/* The expression for the base level: with NEON, or in plain C. */
#if TML_NEON
#    define SIMD_NEON_OR(neon, plain) neon
#else
#    define SIMD_NEON_OR(neon, plain) plain
#endif

/* A vector type of n values of type T, with T's alignment. */
#define SIMD_VECTOR(T, n)                                                                          \
    T __attribute__((vector_size(sizeof(T) * (n)), aligned(sizeof(T)), may_alias))

/* ---- a function for each level --------------------------------------------------------------- */

/* Before an instantiated function's type: inlines all calls in its body. */
#define SIMD_FLAT __attribute__((flatten))

#if SIMD_X86
#    define SIMD_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#    define SIMD_TARGET_AVX512                                                                     \
        __attribute__((                                                                            \
            target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2")))
/* Defines name_base, name_avx2 and name_avx512; the statement calls the ALWAYS_INLINE function. */
#    define SIMD_INSTANTIATE(type, name, parameters, statement)                                    \
        static type name##_base parameters                                                         \
        {                                                                                          \
            statement;                                                                             \
        }                                                                                          \
        SIMD_TARGET_AVX2 static type name##_avx2 parameters                                        \
        {                                                                                          \
            statement;                                                                             \
        }                                                                                          \
        SIMD_TARGET_AVX512 static type name##_avx512 parameters                                    \
        {                                                                                          \
            statement;                                                                             \
        }
/* A table row: the function of each level. */
#    define SIMD_EACH_LEVEL(name)                                                                  \
        {                                                                                          \
            name##_base, name##_avx2, name##_avx512                                                \
        }
#    define SIMD_OWN_LEVEL(base, avx2, avx512)                                                     \
        {                                                                                          \
            base, avx2, avx512                                                                     \
        }
#else
#    define SIMD_INSTANTIATE(type, name, parameters, statement)                                    \
        static type name##_base parameters                                                         \
        {                                                                                          \
            statement;                                                                             \
        }
#    define SIMD_EACH_LEVEL(name)                                                                  \
        {                                                                                          \
            name##_base, name##_base, name##_base                                                  \
        }
#    define SIMD_OWN_LEVEL(base, avx2, avx512)                                                     \
        {                                                                                          \
            base, base, base                                                                       \
        }
#endif

/* ---- a file for each level ------------------------------------------------------------------- */

/* SIMD_FILE of NAME_plain.c, NAME_avx2.c and NAME_avx512.c. */
#define SIMD_FILE_PLAIN  0
#define SIMD_FILE_AVX2   1
#define SIMD_FILE_AVX512 2

/* The name of the file's table: name_plain, name_avx2 or name_avx512. */
#define SIMD_SET(name)            SIMD_SET_OF(SIMD_FILE, name)
#define SIMD_SET_OF(file, name)   SIMD_SET_FILE(file, name)
#define SIMD_SET_FILE(file, name) SIMD_SET_##file(name)
#define SIMD_SET_0(name)          name##_plain
#define SIMD_SET_1(name)          name##_avx2
#define SIMD_SET_2(name)          name##_avx512

/* Chooses the table for this processor among those of two files, or of three. */
#if SIMD_X86
#    define SIMD_CHOOSE(name) (tml_simd_level() >= TML_SIMD_AVX2 ? &name##_avx2 : &name##_plain)
#    define SIMD_CHOOSE_OF_3(name)                                                                 \
        (tml_simd_level() >= TML_SIMD_AVX512 ? &name##_avx512 : SIMD_CHOOSE(name))
#else
#    define SIMD_CHOOSE(name)      (&name##_plain)
#    define SIMD_CHOOSE_OF_3(name) (&name##_plain)
#endif

#endif
