/* Include this before a file's kernels, and kernels/kernel_end.h after them. A kernel evaluates a
 * formula of subdivide.k.h for one element of a stream. params.u: vertex count, edge count and
 * flags of the level that is refined. */
#ifndef TML_SUBDIVIDE_KERNELS_H
#define TML_SUBDIVIDE_KERNELS_H

#include "kernels/kernel.h"

/* Formulas call one another. Unless inlining is forced, some of these calls remain and run per
 * vertex. Code that is compiled for size does without. */
#if defined(__GNUC__) && !defined(__OPTIMIZE_SIZE__)
#    undef FUNCTION
#    define FUNCTION(T) __attribute__((always_inline)) static inline T
#endif
#include "kernels/subdivide.k.h"

#include "kernels/subdivide_adaptive.k.h"

#include "subdivide_library.h"

/* clang-format off */
/* Makes four kernels of a formula, for values of 1 to 4 floats at each vertex of the next level. */
#define VALUES_OF_CHILDREN(kernel, formula)                                                        \
    TML_KERNEL_WITH(subdivide, float, kernel##_1,                                                  \
                    (tml_index i, tml_words halves, tml_words vertices, tml_words firsts,          \
                     tml_words values, tml_params p), {                                            \
        return formula(U(i), halves, vertices, firsts, values, 1u, p.u[0], p.u[2]).x;              \
    })                                                                                             \
    TML_KERNEL_WITH(subdivide, vec2, kernel##_2,                                                   \
                    (tml_index i, tml_words halves, tml_words vertices, tml_words firsts,          \
                     tml_words values, tml_params p), {                                            \
        vec4 v = formula(U(i), halves, vertices, firsts, values, 2u, p.u[0], p.u[2]);              \
        return VEC2(v.x, v.y);                                                                     \
    })                                                                                             \
    TML_KERNEL_WITH(subdivide, vec3, kernel##_3,                                                   \
                    (tml_index i, tml_words halves, tml_words vertices, tml_words firsts,          \
                     tml_words values, tml_params p), {                                            \
        vec4 v = formula(U(i), halves, vertices, firsts, values, 3u, p.u[0], p.u[2]);              \
        return VEC3(v.x, v.y, v.z);                                                                \
    })                                                                                             \
    TML_KERNEL_WITH(subdivide, vec4, kernel##_4,                                                   \
                    (tml_index i, tml_words halves, tml_words vertices, tml_words firsts,          \
                     tml_words values, tml_params p), {                                            \
        return formula(U(i), halves, vertices, firsts, values, 4u, p.u[0], p.u[2]);                \
    })
/* clang-format on */

#endif
