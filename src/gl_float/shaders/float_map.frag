/* out[i] = kernel(...), word by word. In a word of four bools, bytes past the stream keep their
 * values. EMIT: the kernel receives located elements and ranks. */
#include "float_common.glsl"
#include "float_kernel.glsl"
#include "kernel_glue.glsl"

uniform sampler2D old;
uniform vec4 old_shape;
#ifdef EMIT
#include "float_located.glsl"
uniform sampler2D ranks;
uniform vec4 ranks_shape;
#endif

KERNEL_RESULT result_of(float i)
{
#ifdef EMIT
    int at = int(source_of(i));
    return kernel_at(at, at, int(load_number(ranks, ranks_shape, i)));
#else
    return kernel_at(int(i), int(i), 0);
#endif
}

float results()
{
#ifdef EMIT
    return located_count();
#else
    return stream_length();
#endif
}

#if KERNEL_SIZE == 1
void main()
{
    float n = results(), first = 4.0 * tml_texel();
    if (first >= n)
        discard;
    vec4 bytes = load_bytes(old, old_shape, tml_texel());
    bytes.x = result_of(first) ? 1.0 : 0.0;
    if (first + 1.0 < n)
        bytes.y = result_of(first + 1.0) ? 1.0 : 0.0;
    if (first + 2.0 < n)
        bytes.z = result_of(first + 2.0) ? 1.0 : 0.0;
    if (first + 3.0 < n)
        bytes.w = result_of(first + 3.0) ? 1.0 : 0.0;
    store_bytes(bytes);
}
#else
void main()
{
    const float EACH = float(KERNEL_SIZE / 4);
    float at = tml_texel(), i = divide(at, EACH);
    if (i >= results())
        discard;
    store_result(result_of(i), at - EACH * i);
}
#endif
