/* Included by shaders with a user's kernel, before kernel_glue.glsl (gpu/kernel_glue.h). The engine
 * defines KERNEL_TYPE_0 ... KERNEL_TYPE_3. */
uniform highp usampler2D kernel_in0, kernel_in1, kernel_in2, kernel_in3;
uniform vec4 kernel_f;
uniform uvec4 kernel_u;
#ifdef KERNEL_MATRIX
uniform vec4 kernel_m0, kernel_m1, kernel_m2, kernel_m3; /* columns */
#endif

uint kernel_word(highp usampler2D address, uint i)
{
    return tml_load_word(address, i);
}
#include "gpu/kernel_values.glsl"

uvec2 kernel_load_uvec2(uint type, highp usampler2D address, uint i)
{
    return uvec2(LOAD_U32(address, 2u * i), LOAD_U32(address, 2u * i + 1u));
}
uvec3 kernel_load_uvec3(uint type, highp usampler2D address, uint i)
{
    return uvec3(LOAD_U32(address, 3u * i), LOAD_U32(address, 3u * i + 1u),
                 LOAD_U32(address, 3u * i + 2u));
}
uvec4 kernel_load_uvec4(uint type, highp usampler2D address, uint i)
{
    return uvec4(LOAD_U32(address, 4u * i), LOAD_U32(address, 4u * i + 1u),
                 LOAD_U32(address, 4u * i + 2u), LOAD_U32(address, 4u * i + 3u));
}
vec2 kernel_load_vec2(uint type, highp usampler2D address, uint i)
{
    return uintBitsToFloat(kernel_load_uvec2(type, address, i));
}
vec3 kernel_load_vec3(uint type, highp usampler2D address, uint i)
{
    return uintBitsToFloat(kernel_load_uvec3(type, address, i));
}
vec4 kernel_load_vec4(uint type, highp usampler2D address, uint i)
{
    return uintBitsToFloat(kernel_load_uvec4(type, address, i));
}

#define KERNEL_ARRAY_0 kernel_in0
#define KERNEL_ARRAY_1 kernel_in1
#define KERNEL_ARRAY_2 kernel_in2
#define KERNEL_ARRAY_3 kernel_in3

tml_params kernel_params()
{
    tml_params p;
    p.f[0] = kernel_f.x;
    p.f[1] = kernel_f.y;
    p.f[2] = kernel_f.z;
    p.f[3] = kernel_f.w;
    p.u[0] = kernel_u.x;
    p.u[1] = kernel_u.y;
    p.u[2] = kernel_u.z;
    p.u[3] = kernel_u.w;
#ifdef KERNEL_MATRIX
    for (int r = 0; r < 4; r++) {
        p.m[r] = kernel_m0[r];
        p.m[4 + r] = kernel_m1[r];
        p.m[8 + r] = kernel_m2[r];
        p.m[12 + r] = kernel_m3[r];
    }
#endif
    return p;
}
