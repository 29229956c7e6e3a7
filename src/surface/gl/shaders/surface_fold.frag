/* Reduces 64 quads to one, component by component: to their sum; with FOLD_OR, to their union. */
#include "gl_common.glsl"

uniform highp usampler2D folded;
uniform uint count;
out highp uvec4 result;

void main()
{
    uint first = 64u * tml_texel(), end = min(first + 64u, count);
    result = uvec4(0u);
    for (uint i = first; i < end; i++)
#ifdef FOLD_OR
        result |= load_quad(folded, i);
#else
        result += load_quad(folded, i);
#endif
}
