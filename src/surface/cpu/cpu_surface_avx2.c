/* The surface's inner loops for AVX2 (core/simd.h). */
#include "core/simd.h"
#if SIMD_X86
#    define SIMD_FILE SIMD_FILE_AVX2
#    include "surface/cpu/cpu_surface_loops.h"
#endif
