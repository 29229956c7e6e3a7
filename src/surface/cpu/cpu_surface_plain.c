/* The surface's inner loops for any processor (core/simd.h). */
#include "core/simd.h"
#define SIMD_FILE SIMD_FILE_PLAIN
#include "surface/cpu/cpu_surface_loops.h"
