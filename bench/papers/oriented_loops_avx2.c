/* The descent that tests oriented boxes, for AVX2 (core/simd.h). */
#include "core/simd.h"
#if SIMD_X86
#    define SIMD_FILE SIMD_FILE_AVX2
#    include "oriented_loops.h"
#endif
