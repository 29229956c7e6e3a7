/* The surface's inner loops for AVX-512 (core/simd.h). */
#include "core/simd.h"
#if SIMD_X86
#    define SIMD_FILE SIMD_FILE_AVX512
#    include "surface/cpu/cpu_surface_loops.h"
#endif
