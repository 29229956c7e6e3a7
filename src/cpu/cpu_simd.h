/* SIMD levels of the CPU engine, chosen at run time.
 *
 * A hot loop is written once, as a ALWAYS_INLINE function in plain C (or with intrinsics where C
 * lacks the operation), and CPU_INSTANTIATE compiles it for each level by a target attribute. A
 * table of function pointers indexed by tml_simd_level() picks one for each block of work, never
 * for each element. (The compilers' own target_clones and ifunc crash under sanitizers.)
 * Floating-point loops fix their lanes and order in C, so every level gives the same bits. */
#ifndef TML_CPU_SIMD_H
#define TML_CPU_SIMD_H

#include "core/inline.h"
#include "core/neon.h"
#include "core/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#    define CPU_X86 1
#    include <immintrin.h>
#else
#    define CPU_X86 0
#endif

/* What a loop is at the base level: with NEON, or in plain C. */
#if TML_NEON
#    define CPU_NEON_OR(neon, plain) neon
#else
#    define CPU_NEON_OR(neon, plain) plain
#endif

/* A vector type of n values of type T, with T's alignment. */
#define CPU_VECTOR(T, n)                                                                           \
    T __attribute__((vector_size(sizeof(T) * (n)), aligned(sizeof(T)), may_alias))

/* Before an instantiated function's type: inlines all calls in its body. */
#define CPU_FLAT __attribute__((flatten))

#if CPU_X86
#    define CPU_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#    define CPU_TARGET_AVX512                                                                      \
        __attribute__((                                                                            \
            target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2")))
/* Defines name_base, name_avx2 and name_avx512; the statement calls the ALWAYS_INLINE function. */
#    define CPU_INSTANTIATE(type, name, parameters, statement)                                     \
        static type name##_base parameters                                                         \
        {                                                                                          \
            statement;                                                                             \
        }                                                                                          \
        CPU_TARGET_AVX2 static type name##_avx2 parameters                                         \
        {                                                                                          \
            statement;                                                                             \
        }                                                                                          \
        CPU_TARGET_AVX512 static type name##_avx512 parameters                                     \
        {                                                                                          \
            statement;                                                                             \
        }
/* A table row: the function of each level. */
#    define CPU_EACH_LEVEL(name)                                                                   \
        {                                                                                          \
            name##_base, name##_avx2, name##_avx512                                                \
        }
#    define CPU_OWN_LEVEL(base, avx2, avx512)                                                      \
        {                                                                                          \
            base, avx2, avx512                                                                     \
        }
#else
#    define CPU_INSTANTIATE(type, name, parameters, statement)                                     \
        static type name##_base parameters                                                         \
        {                                                                                          \
            statement;                                                                             \
        }
#    define CPU_EACH_LEVEL(name)                                                                   \
        {                                                                                          \
            name##_base, name##_base, name##_base                                                  \
        }
#    define CPU_OWN_LEVEL(base, avx2, avx512)                                                      \
        {                                                                                          \
            base, base, base                                                                       \
        }
#endif

#endif
