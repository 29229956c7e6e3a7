/* All outputs of a kernel, of which none is bool, in one run an element. A target has a texel an element: of one word, or
 * the first components of a quad. */
#include "gl_common.glsl"
#include "gl_kernel.glsl"
#include "kernel_glue.glsl"

uniform uint first; /* element of texel 0 */
layout(location = 0) out highp uvec4 out0;
#if KERNEL_OUTS > 1
layout(location = 1) out highp uvec4 out1;
#endif
#if KERNEL_OUTS > 2
layout(location = 2) out highp uvec4 out2;
#endif
#if KERNEL_OUTS > 3
layout(location = 3) out highp uvec4 out3;
#endif

uvec4 quad_of(uint words)
{
    return uvec4(words, 0u, 0u, 0u);
}
uvec4 quad_of(uvec2 words)
{
    return uvec4(words, 0u, 0u);
}
uvec4 quad_of(uvec3 words)
{
    return uvec4(words, 0u);
}
uvec4 quad_of(uvec4 words)
{
    return words;
}

void main()
{
    uint i = first + tml_texel();
    if (i >= stream_length())
        discard;
    KERNEL_RESULT result = kernel_at(i, i, 0u);
    out0 = quad_of(kernel_words(KERNEL_OUT_0(result)));
#if KERNEL_OUTS > 1
    out1 = quad_of(kernel_words(KERNEL_OUT_1(result)));
#endif
#if KERNEL_OUTS > 2
    out2 = quad_of(kernel_words(KERNEL_OUT_2(result)));
#endif
#if KERNEL_OUTS > 3
    out3 = quad_of(kernel_words(KERNEL_OUT_3(result)));
#endif
}
