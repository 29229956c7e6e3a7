/* The kernels that several files use, and those that subdivide_cpu.c replaces on the CPU. */
#include "subdivide/subdivide_internal.h"

#include "subdivide/subdivide_kernels.h"

/* clang-format off */
TML_KERNEL_WITH(subdivide, float, subdiv_copy_1, (tml_words values, uint source), {
    return loop_value(values, 1u, source).x;
})
TML_KERNEL_WITH(subdivide, vec2, subdiv_copy_2, (tml_words values, uint source), {
    vec4 v = loop_value(values, 2u, source);
    return VEC2(v.x, v.y);
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_copy_3, (tml_words values, uint source), {
    vec4 v = loop_value(values, 3u, source);
    return VEC3(v.x, v.y, v.z);
})
TML_KERNEL_WITH(subdivide, vec4, subdiv_copy_4, (tml_words values, uint source), {
    return loop_value(values, 4u, source);
})
VALUES_OF_CHILDREN(subdiv_child, loop_child_value)
VALUES_OF_CHILDREN(subdiv_limit, loop_child_limit)
TML_KERNEL_WITH(subdivide, float, subdiv_settle_1,
                (tml_index i, tml_words halves, tml_words vertices, tml_words values,
                 tml_params p), {
    return loop_vertex_limit(U(i), halves, vertices, values, 1u, 0u, p.u[2]).x;
})
TML_KERNEL_WITH(subdivide, vec2, subdiv_settle_2,
                (tml_index i, tml_words halves, tml_words vertices, tml_words values,
                 tml_params p), {
    vec4 v = loop_vertex_limit(U(i), halves, vertices, values, 2u, 0u, p.u[2]);
    return VEC2(v.x, v.y);
})
TML_KERNEL_WITH(subdivide, vec3, subdiv_settle_3,
                (tml_index i, tml_words halves, tml_words vertices, tml_words values,
                 tml_params p), {
    vec4 v = loop_vertex_limit(U(i), halves, vertices, values, 3u, 0u, p.u[2]);
    return VEC3(v.x, v.y, v.z);
})
TML_KERNEL_WITH(subdivide, vec4, subdiv_settle_4,
                (tml_index i, tml_words halves, tml_words vertices, tml_words values,
                 tml_params p), {
    return loop_vertex_limit(U(i), halves, vertices, values, 4u, 0u, p.u[2]);
})
/* Normals at the vertices of a level. positions: of that level or, with LOOP_REFINED, of the next
 * one. */
TML_KERNEL_WITH(subdivide, vec3, subdiv_vertex_normal,
                (tml_index i, tml_words halves, tml_words vertices, tml_words positions,
                 tml_words turns, tml_params p), {
    return loop_vertex_normal(U(i), halves, vertices, positions, turns, p.u[0], p.u[2]);
})
/* Normals at all vertices of the next level. normals: of the vertices that are in this level,
 * too. */
TML_KERNEL_WITH(subdivide, vec3, subdiv_child_normal,
                (tml_index i, tml_words normals, tml_words halves, tml_words firsts,
                 tml_words positions, tml_params p), {
    uint vertex = U(i);
    if (vertex < p.u[0])
        return loop_point(normals, vertex);
    uint h = tml_word(firsts, vertex - p.u[0]);
    return loop_centre_normal(loop_centre_of(h, halves, positions, 3u, p.u[0]), p.u[2]);
})
/* clang-format on */

#include "kernels/kernel_end.h"

#define FORMS(kernel)                                                                              \
    {                                                                                              \
        TML_USE(kernel##_1), TML_USE(kernel##_2), TML_USE(kernel##_3), TML_USE(kernel##_4)         \
    }
const tml_kernel *const subdivide_copy_kernels[4] = FORMS(subdiv_copy);
const tml_kernel *const subdivide_child_kernels[4] = FORMS(subdiv_child);
const tml_kernel *const subdivide_limit_kernels[4] = FORMS(subdiv_limit);
const tml_kernel *const subdivide_settle_kernels[4] = FORMS(subdiv_settle);
const tml_kernel *const subdivide_vertex_normal = TML_USE(subdiv_vertex_normal);
const tml_kernel *const subdivide_child_normal = TML_USE(subdiv_child_normal);
