/* A level of a HistoPyramid from the level below. CHILD_FLOATS: the level below holds prefix sums
 * of four children; otherwise single numbers. If the target has bytes and the level below floats,
 * this draws the total from the highest level. */
#include "float_common.glsl"

uniform sampler2D children;
uniform vec4 children_shape;
uniform float first;       /* texel of this level */
uniform float child_first; /* texel of the level below */
uniform float child_count; /* texels of the level below */

float sum_of(float child)
{
    if (child >= child_count)
        return 0.0;
#if CHILD_FLOATS
    return fetch(children, children_shape, child_first + child).w;
#else
    return load_number(children, children_shape, child_first + child);
#endif
}

void main()
{
    float child = 4.0 * (tml_texel() - first);
    vec4 sums;
    sums.x = sum_of(child);
    sums.y = min(sums.x + sum_of(child + 1.0), 16777216.0);
    sums.z = min(sums.y + sum_of(child + 2.0), 16777216.0);
    sums.w = min(sums.z + sum_of(child + 3.0), 16777216.0);
#if TML_TARGET_FLOATS
    gl_FragColor = sums;
#else
    store_number(sums.w);
#endif
}
