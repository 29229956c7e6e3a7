/* The surface's inner loops for AVX-512 (F, BW, DQ, VL, VPOPCNTDQ); the build gives this file those
 * flags. */
#if defined(__x86_64__)
#    define SURFACE_SET  surface_simd_avx512
#    define SURFACE_NAME "AVX-512"
#    define SURFACE_AVX512
#    include "surface/cpu/cpu_surface_loops.h"
#else
typedef int surface_avx512_is_for_x86_64;
#endif
