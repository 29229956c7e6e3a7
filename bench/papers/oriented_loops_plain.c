/* The descent that tests oriented boxes, for any processor (core/simd.h). */
#include "core/simd.h"
#define SIMD_FILE SIMD_FILE_PLAIN
#include "oriented_loops.h"
