/* The depth-first descent, for any processor (core/simd.h). */
#include "core/simd.h"
#define SIMD_FILE SIMD_FILE_PLAIN
#include "collide/collide_pairs_depth_loops.h"
