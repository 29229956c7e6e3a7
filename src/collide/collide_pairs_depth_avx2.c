/* The depth-first descent, for AVX2 (core/simd.h). */
#include "core/simd.h"
#if SIMD_X86
#    define SIMD_FILE SIMD_FILE_AVX2
#    include "collide/collide_pairs_depth_loops.h"
#endif
