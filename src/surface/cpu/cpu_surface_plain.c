/* The surface's inner loops in plain C, for every machine. */
#define SURFACE_SET  surface_simd_plain
#define SURFACE_NAME "plain"
#include "surface/cpu/cpu_surface_loops.h"
