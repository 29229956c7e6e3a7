/* The descent for AVX2; the build gives this file that flag. */
#if defined(__x86_64__)
#    define LANES_AVX2
#    define DEPTH_SET oriented_loops_avx2
#    include "oriented_loops.h"
#else
typedef int oriented_avx2_is_for_x86_64;
#endif
