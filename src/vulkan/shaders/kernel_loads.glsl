/* How users' kernels load arrays, and the memory layout of their results (vulkan_kernel_glue.h).
 * Constant a is the tml_type of array a. KERNEL_ALIGNED is added if the array's elements of 8 or 16
 * bytes are aligned to their size; a load then reads a whole element at once. A template that
 * includes this file first defines the constant bool KERNEL_STORED: parameters are in scratch
 * (vulkan_args.k.h). Parameters with a matrix always are. */
layout(constant_id = 0) const uint KERNEL_TYPE_0 = 0u;
layout(constant_id = 1) const uint KERNEL_TYPE_1 = 0u;
layout(constant_id = 2) const uint KERNEL_TYPE_2 = 0u;
layout(constant_id = 3) const uint KERNEL_TYPE_3 = 0u;
const uint KERNEL_ALIGNED = 0x80000000u;
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer kernel_words_at {
    uint v[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer kernel_pair_at {
    uvec2 v;
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer kernel_quad_at {
    uvec4 v;
};

uint kernel_word(uvec2 address, uint i)
{
    if (KERNEL_NEAR)
        return kernel_words_at(address).v[i];
    return LOAD_U32(address, i);
}
uvec2 kernel_pair(uint type, uvec2 address, uint i)
{
    uvec2 at = address_of(address, i, 8u);
    if ((type & KERNEL_ALIGNED) != 0u)
        return kernel_pair_at(at).v;
    return uvec2(LOAD_U32(at, 0u), LOAD_U32(at, 1u));
}

#include "gpu/kernel_values.glsl"
uvec2 kernel_load_uvec2(uint type, uvec2 address, uint i)
{
    return kernel_pair(type, address, i);
}
uvec3 kernel_load_uvec3(uint type, uvec2 address, uint i)
{
    uvec2 at = address_of(address, i, 12u);
    return uvec3(LOAD_U32(at, 0u), LOAD_U32(at, 1u), LOAD_U32(at, 2u));
}
uvec4 kernel_load_uvec4(uint type, uvec2 address, uint i)
{
    uvec2 at = address_of(address, i, 16u);
    if ((type & KERNEL_ALIGNED) != 0u)
        return kernel_quad_at(at).v;
    return uvec4(LOAD_U32(at, 0u), LOAD_U32(at, 1u), LOAD_U32(at, 2u), LOAD_U32(at, 3u));
}
vec2 kernel_load_vec2(uint type, uvec2 address, uint i)
{
    return uintBitsToFloat(kernel_load_uvec2(type, address, i));
}
vec3 kernel_load_vec3(uint type, uvec2 address, uint i)
{
    return uintBitsToFloat(kernel_load_uvec3(type, address, i));
}
vec4 kernel_load_vec4(uint type, uvec2 address, uint i)
{
    return uintBitsToFloat(kernel_load_uvec4(type, address, i));
}

/* Whole arrays (tml_words). Only for templates whose arguments contain KERNEL_COUNTS. */
#define KERNEL_ARRAY_0 tml_words(args.in0, args.count0)
#define KERNEL_ARRAY_1 tml_words(args.in1, args.count1)
#define KERNEL_ARRAY_2 tml_words(args.in2, args.count2)
#define KERNEL_ARRAY_3 tml_words(args.in3, args.count3)

#ifdef KERNEL_FLOAT64
double kernel_load_double(uint type, uvec2 address, uint i)
{
    return packDouble2x32(kernel_pair(type, address, i));
}
uvec2 kernel_words(double x)
{
    return unpackDouble2x32(x);
}
#endif
#ifdef KERNEL_INT64
int64_t kernel_load_int64(uint type, uvec2 address, uint i)
{
    return packInt2x32(ivec2(kernel_pair(type, address, i)));
}
uint64_t kernel_load_uint64(uint type, uvec2 address, uint i)
{
    return packUint2x32(kernel_pair(type, address, i));
}
uvec2 kernel_words(int64_t x)
{
    return uvec2(unpackInt2x32(x));
}
uvec2 kernel_words(uint64_t x)
{
    return unpackUint2x32(x);
}
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer kernel_stored_at {
    float f[4];
    uint u[4];
    float m[16];
    uvec2 outs[OUTS_WORDS / 2u];
};
kernel_stored_at kernel_stored()
{
    return kernel_stored_at(uvec2(args.u0, args.u1));
}

tml_params kernel_params()
{
    tml_params p;
#ifndef KERNEL_MATRIX
    if (!KERNEL_STORED) {
        p.f[0] = args.f0;
        p.f[1] = args.f1;
        p.f[2] = args.f2;
        p.f[3] = args.f3;
        p.u[0] = args.u0;
        p.u[1] = args.u1;
        p.u[2] = args.u2;
        p.u[3] = args.u3;
        return p;
    }
#endif
    for (uint i = 0u; i < 4u; i++) {
        p.f[i] = kernel_stored().f[i];
        p.u[i] = kernel_stored().u[i];
    }
#ifdef KERNEL_MATRIX
    for (uint i = 0u; i < 16u; i++)
        p.m[i] = kernel_stored().m[i];
#endif
    return p;
}
