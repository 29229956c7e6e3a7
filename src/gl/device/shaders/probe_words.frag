/* The draws of gl_probe.c to integer targets. */
precision highp float;
precision highp int;

uniform uint probe_factor;
layout(location = 0) out uvec4 words;

void main()
{
    uint x = uint(gl_FragCoord.x);
    words = uvec4(x * probe_factor, ~x, floatBitsToUint(float(x)), x << 24 | x);
}
