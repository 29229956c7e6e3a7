/* The source of output i, or its rank among that source's outputs (RANK), by descent from the apex
 * of a HistoPyramid of LEVELS levels. FLOATS: one load per level; otherwise three. Outputs past the
 * total are undefined. */
#include "float_common.glsl"

uniform sampler2D level_base, level_odd, level_even;
uniform vec4 level_base_shape, level_odd_shape, level_even_shape;
uniform vec4 firsts_0, firsts_4, firsts_8, firsts_12; /* first texels of the levels */

/* Inclusive prefix sums of a node's four children. */
vec4 sums_of(sampler2D level, vec4 shape, float first, float node)
{
#if FLOATS
    return fetch(level, shape, first + node);
#else
    float child = first + 4.0 * node;
    vec4 sums;
    sums.x = load_number(level, shape, child);
    sums.y = sums.x + load_number(level, shape, child + 1.0);
    sums.z = sums.y + load_number(level, shape, child + 2.0);
    sums.w = sums.z;
    return sums;
#endif
}

/* Descends from a node and a key among the node's outputs to a child and a key among the child's
 * outputs. */
vec2 down(vec4 sums, vec2 at)
{
    float before = at.y >= sums.z   ? sums.z
                   : at.y >= sums.y ? sums.y
                   : at.y >= sums.x ? sums.x
                                    : 0.0;
    float child = step(sums.x, at.y) + step(sums.y, at.y) + step(sums.z, at.y);
    return vec2(4.0 * at.x + child, at.y - before);
}
#define ODD(first)  at = down(sums_of(level_odd, level_odd_shape, first, at.x), at);
#define EVEN(first) at = down(sums_of(level_even, level_even_shape, first, at.x), at);

void main()
{
    vec2 at = vec2(0.0, tml_texel());
#if LEVELS > 12
    EVEN(firsts_12.x)
#endif
#if LEVELS > 11
    ODD(firsts_8.w)
#endif
#if LEVELS > 10
    EVEN(firsts_8.z)
#endif
#if LEVELS > 9
    ODD(firsts_8.y)
#endif
#if LEVELS > 8
    EVEN(firsts_8.x)
#endif
#if LEVELS > 7
    ODD(firsts_4.w)
#endif
#if LEVELS > 6
    EVEN(firsts_4.z)
#endif
#if LEVELS > 5
    ODD(firsts_4.y)
#endif
#if LEVELS > 4
    EVEN(firsts_4.x)
#endif
#if LEVELS > 3
    ODD(firsts_0.w)
#endif
#if LEVELS > 2
    EVEN(firsts_0.z)
#endif
#if LEVELS > 1
    ODD(firsts_0.y)
#endif
    at = down(sums_of(level_base, level_base_shape, 0.0, at.x), at);
#ifdef RANK
    store_number(at.y);
#else
    store_number(at.x);
#endif
}
