/* Detects the SIMD level of this processor. */
#include "core/simd.h"

#include <stdatomic.h>

static _Atomic int forced_level = TML_SIMD_LEVELS;

tml_simd tml_simd_level(void)
{
    tml_simd level = TML_SIMD_BASE;
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        level = TML_SIMD_AVX2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq"))
            level = TML_SIMD_AVX512;
    }
#endif
    int forced = atomic_load_explicit(&forced_level, memory_order_relaxed);
    return (int)level < forced ? level : (tml_simd)forced;
}

void tml_simd_force(tml_simd level)
{
    atomic_store_explicit(&forced_level, level, memory_order_relaxed);
}

const char *tml_simd_name(void)
{
    static const char *const names[] = {"baseline SIMD", "AVX2", "AVX-512 VBMI2"};
    return names[tml_simd_level()];
}
