/* The surface's inner loops for AVX2, BMI2 and F16C; the build gives this file those flags. */
#if defined(__x86_64__)
#    define SURFACE_SET  surface_simd_avx2
#    define SURFACE_NAME "AVX2"
#    define SURFACE_AVX2
#    include "surface/cpu/cpu_surface_loops.h"
#else
typedef int surface_avx2_is_for_x86_64;
#endif
