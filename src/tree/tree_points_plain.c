/* Points against a tree, for any processor (core/simd.h). */
#include "core/simd.h"
#define SIMD_FILE SIMD_FILE_PLAIN
#include "tree/tree_points_loops.h"
