/* The part of the kernel vocabulary (src/kernels/kernel.h) that Vulkan GLSL and GLSL ES 3.00 share.
 * Included after prelude_vulkan.glsl or prelude_es300.glsl, which define addresses and the loads of
 * a word, halfword or byte: tml_load_word(address, i), tml_load_half and tml_load_byte. The latter
 * two return the element in the low bits, and undefined bits above. */
#define TML_GLSL

#define F(x)             float(x)
#define I(x)             int(x)
#define U(x)             uint(x)
#define N(x)             uint(x)
#define VEC2(x, y)       vec2(x, y)
#define VEC3(x, y, z)    vec3(x, y, z)
#define VEC4(x, y, z, w) vec4(x, y, z, w)
#define UVEC2(x, y)      uvec2(x, y)
#define UVEC3(x, y, z)   uvec3(x, y, z)
#define UVEC4(x, y, z, w) uvec4(x, y, z, w)
#define IVEC3(x, y, z)   ivec3(x, y, z)

#define tml_index        uint
#define tml_rank         uint
struct tml_params {
    float f[4];
    uint u[4];
#ifdef KERNEL_MATRIX
    float m[16];
#endif
};

#define FUNCTION(T)             T
#define STRUCT_BEGIN(name)      struct name {
#define STRUCT_END(name)        };
#define TABLE_BEGIN(T, name, n) const T name[n] = T[n](
#define TABLE_END               );

#define ARGS_BEGIN(name)  struct name {
#define ARGS_END(name)    };
#define ARG_VEC4(name)    vec4 name;
#define ARG_UINT(name)    uint name;
#define ARG_INT(name)     int name;
#define ARG_FLOAT(name)   float name;

#define LOAD_U32(address, i) tml_load_word(address, i)
#define LOAD_I32(address, i) int(tml_load_word(address, i))
#define LOAD_F32(address, i) uintBitsToFloat(tml_load_word(address, i))
#define LOAD_F16(address, i) unpackHalf2x16(tml_load_half(address, i)).x
#define LOAD_U16(address, i) (tml_load_half(address, i) & 0xffffu)
#define LOAD_I16(address, i) (int(tml_load_half(address, i) << 16) >> 16)
#define LOAD_U8(address, i)  (tml_load_byte(address, i) & 0xffu)
#define LOAD_I8(address, i)  (int(tml_load_byte(address, i) << 24) >> 24)

#define TML_LOW_WORD 0u
#define tml_word_float(words, i) uintBitsToFloat(tml_word(words, i))
vec2 tml_word_vec2(tml_words words, uint i)
{
    return vec2(tml_word_float(words, 2u * i), tml_word_float(words, 2u * i + 1u));
}
vec3 tml_word_vec3(tml_words words, uint i)
{
    return vec3(tml_word_float(words, 3u * i), tml_word_float(words, 3u * i + 1u),
                tml_word_float(words, 3u * i + 2u));
}
vec4 tml_word_vec4(tml_words words, uint i)
{
    return vec4(tml_word_vec2(words, 2u * i), tml_word_vec2(words, 2u * i + 1u));
}

/* Philox2x32-10. */
uvec2 tml_random(uint a, uint b, uint key)
{
    for (uint round = 0u; round < 10u; round++) {
        uint low = 0xd256d193u * a;
        a = tml_multiply_high(0xd256d193u, a) ^ key ^ b;
        b = low;
        key += 0x9e3779b9u;
    }
    return uvec2(a, b);
}
uint tml_random_uint(uint a, uint b)
{
    return tml_random(a, b, 0u).x;
}
float tml_random_float(uint a, uint b)
{
    return F(tml_random_uint(a, b) >> 8) * (1.0f / 16777216.0f);
}

#define add2(a, b)   ((a) + (b))
#define sub2(a, b)   ((a) - (b))
#define scale2(a, s) ((a) * (s))
#define dot2(a, b)   dot(a, b)
#define length2(a)   length(a)
#define add3(a, b)   ((a) + (b))
#define sub3(a, b)   ((a) - (b))
#define scale3(a, s) ((a) * (s))
#define dot3(a, b)   dot(a, b)
#define cross3(a, b) cross(a, b)
#define length3(a)   length(a)
#define add4(a, b)   ((a) + (b))
#define sub4(a, b)   ((a) - (b))
#define scale4(a, s) ((a) * (s))
#define dot4(a, b)   dot(a, b)

#ifdef KERNEL_MATRIX
vec4 transform4(float m[16], vec4 v)
{
    return vec4(m[0] * v.x + m[4] * v.y + m[8] * v.z + m[12] * v.w,
                m[1] * v.x + m[5] * v.y + m[9] * v.z + m[13] * v.w,
                m[2] * v.x + m[6] * v.y + m[10] * v.z + m[14] * v.w,
                m[3] * v.x + m[7] * v.y + m[11] * v.z + m[15] * v.w);
}
#define transform3(m, p) transform4(m, vec4(p, 1.0f)).xyz
#endif

/* These test the bits: in GLSL isnan and isinf may always be false. */
bool is_nan(float x)
{
    return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}
bool is_inf(float x)
{
    return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u;
}
