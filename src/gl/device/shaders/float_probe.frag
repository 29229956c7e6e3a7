/* The draws of gl_probe.c that test floats and bytes, for texel x of a row. One shader contains all
 * tests, with a single pack_float and unpack_float, since drivers take longest to compile these
 * two. */
#include "gpu/prelude_es100.glsl"
#include "kernels/pack.k.h"

uniform vec4 probe; /* mode; 1, unknown to the compiler; width of the row probe_texels */
uniform sampler2D probe_texels;
varying highp vec2 tml_at;

/* Is 2^k + 1 exact? */
float is_exact(float k)
{
    float power = probe.y, rest = k;
    if (rest >= 16.0) {
        power *= 65536.0;
        rest -= 16.0;
    }
    if (rest >= 8.0) {
        power *= 256.0;
        rest -= 8.0;
    }
    if (rest >= 4.0) {
        power *= 16.0;
        rest -= 4.0;
    }
    power *= rest >= 3.0 ? 8.0 : rest >= 2.0 ? 4.0 : rest >= 1.0 ? 2.0 : 1.0;
    float x = power + probe.y;
    return x - 2.0 * floor(x * 0.5) == 1.0 || k == 0.0 ? 1.0 : 0.0;
}

void main()
{
    float x = floor(tml_at.x);
    vec4 texel = texture2D(probe_texels, vec2((x + 0.5) / probe.z, 0.5));
    vec4 bytes = floor(texel * 255.0 + 0.5);
    float value = texel.y;
    if (probe.x != 3.0) /* else texels are floats */
        value = unpack_float(bytes) * probe.y;
    if (probe.x == 4.0) { /* the target has floats */
        gl_FragColor = vec4(value);
    } else {
        vec4 result = pack_float(value);
        if (probe.x == 0.0) /* bytes directly, and through a texture */
            result = vec4(x, 255.0 - x, bytes.xy);
        if (probe.x == 1.0)
            result = vec4(is_exact(x));
        gl_FragColor = (result + 0.25) / 255.0;
    }
}
