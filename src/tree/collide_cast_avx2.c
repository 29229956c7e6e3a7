/* Rays against a tree, for AVX2; the build gives this file that flag. */
#if defined(__x86_64__)
#    define LANES_AVX2
#    define CAST_SET cast_loops_avx2
#    include "tree/collide_cast_loops.h"
#else
typedef int cast_avx2_is_for_x86_64;
#endif
