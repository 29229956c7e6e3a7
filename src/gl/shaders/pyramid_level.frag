/* One level of a HistoPyramid from the level below: inclusive prefix sums of four children.
 * CHILD_BITS, CHILD_COUNTS: the level below is the base. APEX: the level has one node; texel 1,
 * which is not a node of this texture, receives the total as a 64-bit number. */
#include "gl_common.glsl"
#include "gl_sums.glsl"

uniform highp usampler2D children;
uniform uint first;       /* node of this level */
uniform uint child_first; /* texel of the level below */
uniform uint child_count; /* texels of the level below */

layout(location = 0) out highp uvec4 sums;

uint sum_of(uint child)
{
    if (child >= child_count)
        return 0u;
    uvec4 items = load_quad(children, child_first + child);
#if defined(CHILD_BITS)
    return popcount32(items.x) + popcount32(items.y) + popcount32(items.z) + popcount32(items.w);
#elif defined(CHILD_COUNTS)
    return add_clamped(add_clamped(items.x, items.y), add_clamped(items.z, items.w));
#else
    return items.w;
#endif
}

void main()
{
    uint node = tml_texel();
#ifdef APEX
    uint child = 0u;
#else
    uint child = 4u * (node - first);
#endif
    sums.x = sum_of(child);
    sums.y = add_clamped(sums.x, sum_of(child + 1u));
    sums.z = add_clamped(sums.y, sum_of(child + 2u));
    sums.w = add_clamped(sums.z, sum_of(child + 3u));
#ifdef APEX
    if (node == 1u)
        sums = uvec4(sums.w, 0u, 0u, 0u);
#endif
}
