/* Points against a tree, for AVX2 (core/simd.h). */
#include "core/simd.h"
#if SIMD_X86
#    define SIMD_FILE SIMD_FILE_AVX2
#    include "tree/tree_points_loops.h"
#endif
