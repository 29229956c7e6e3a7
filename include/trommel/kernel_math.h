/* The functions behind the short names of kernel_begin.h: those that GLSL has built in, and C has
 * not or spells by type. Kernels use the short names; C code may call tml_add3 and the like itself.
 *
 *   vectors      tml_make2 ... tml_make_uvec4, tml_add2 ... tml_length3
 *   matrices     tml_transform3, tml_transform4
 *   numbers      tml_abs_f, tml_abs_d ..., in C++ overloads of tml_abs
 *   bits, words  tml_float_bits ..., tml_word ...
 *   random       tml_random ... */
#ifndef TROMMEL_KERNEL_MATH_H
#define TROMMEL_KERNEL_MATH_H

#include <math.h>
#include <string.h>
#include <trommel/kernel.h>

static inline tml_vec2 tml_make2(float x, float y)
{
    tml_vec2 v;
    v.x = x, v.y = y;
    return v;
}
static inline tml_vec3 tml_make3(float x, float y, float z)
{
    tml_vec3 v;
    v.x = x, v.y = y, v.z = z;
    return v;
}
static inline tml_vec4 tml_make4(float x, float y, float z, float w)
{
    tml_vec4 v;
    v.x = x, v.y = y, v.z = z, v.w = w;
    return v;
}
static inline tml_uvec2 tml_make_uvec2(uint32_t x, uint32_t y)
{
    tml_uvec2 v;
    v.x = x, v.y = y;
    return v;
}
static inline tml_uvec3 tml_make_uvec3(uint32_t x, uint32_t y, uint32_t z)
{
    tml_uvec3 v;
    v.x = x, v.y = y, v.z = z;
    return v;
}
static inline tml_uvec4 tml_make_uvec4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    tml_uvec4 v;
    v.x = x, v.y = y, v.z = z, v.w = w;
    return v;
}
static inline tml_vec2 tml_add2(tml_vec2 a, tml_vec2 b)
{
    return tml_make2(a.x + b.x, a.y + b.y);
}
static inline tml_vec2 tml_sub2(tml_vec2 a, tml_vec2 b)
{
    return tml_make2(a.x - b.x, a.y - b.y);
}
static inline tml_vec2 tml_scale2(tml_vec2 a, float s)
{
    return tml_make2(a.x * s, a.y * s);
}
static inline float tml_dot2(tml_vec2 a, tml_vec2 b)
{
    return a.x * b.x + a.y * b.y;
}
static inline float tml_length2(tml_vec2 a)
{
    return sqrtf(tml_dot2(a, a));
}
static inline tml_vec3 tml_add3(tml_vec3 a, tml_vec3 b)
{
    return tml_make3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline tml_vec3 tml_sub3(tml_vec3 a, tml_vec3 b)
{
    return tml_make3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline tml_vec3 tml_scale3(tml_vec3 a, float s)
{
    return tml_make3(a.x * s, a.y * s, a.z * s);
}
static inline float tml_dot3(tml_vec3 a, tml_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline tml_vec3 tml_cross3(tml_vec3 a, tml_vec3 b)
{
    return tml_make3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline float tml_length3(tml_vec3 a)
{
    return sqrtf(tml_dot3(a, a));
}
static inline tml_vec4 tml_add4(tml_vec4 a, tml_vec4 b)
{
    return tml_make4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
static inline tml_vec4 tml_sub4(tml_vec4 a, tml_vec4 b)
{
    return tml_make4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}
static inline tml_vec4 tml_scale4(tml_vec4 a, float s)
{
    return tml_make4(a.x * s, a.y * s, a.z * s, a.w * s);
}
static inline float tml_dot4(tml_vec4 a, tml_vec4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
static inline tml_vec4 tml_transform4(const float m[16], tml_vec4 v)
{
    return tml_make4(m[0] * v.x + m[4] * v.y + m[8] * v.z + m[12] * v.w,
                     m[1] * v.x + m[5] * v.y + m[9] * v.z + m[13] * v.w,
                     m[2] * v.x + m[6] * v.y + m[10] * v.z + m[14] * v.w,
                     m[3] * v.x + m[7] * v.y + m[11] * v.z + m[15] * v.w);
}
static inline tml_vec3 tml_transform3(const float m[16], tml_vec3 p)
{
    tml_vec4 q = tml_transform4(m, tml_make4(p.x, p.y, p.z, 1.0f));
    return tml_make3(q.x, q.y, q.z);
}

/* Functions that C spells by type: tml_name_f (float), _d (double), _i, _l (int32_t, int64_t), _u,
 * _m (uint32_t, uint64_t), chosen by _Generic; in C++ overloads of tml_name. */
#ifdef __cplusplus
#    define TML_K_NAME(name, suffix) tml_##name
#else
#    define TML_K_NAME(name, suffix) tml_##name##_##suffix
#endif
/* U: the type in which negation wraps: the least integer is its own absolute value, as in GLSL. */
#define TML_ORDERED(T, U, s, less_0)                                                               \
    static inline T TML_K_NAME(abs, s)(T x)                                                        \
    {                                                                                              \
        return less_0 ? (T)((U)0 - (U)x) : x;                                                      \
    }                                                                                              \
    static inline T TML_K_NAME(min, s)(T a, T b)                                                   \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    static inline T TML_K_NAME(max, s)(T a, T b)                                                   \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }                                                                                              \
    static inline T TML_K_NAME(clamp, s)(T x, T low, T high)                                       \
    {                                                                                              \
        return TML_K_NAME(min, s)(TML_K_NAME(max, s)(x, low), high);                               \
    }                                                                                              \
    static inline T TML_K_NAME(sign, s)(T x)                                                       \
    {                                                                                              \
        return less_0 ? (T)(0 - 1) : x > 0 ? (T)1 : (T)0;                                          \
    }
TML_ORDERED(float, float, f, x < 0)
TML_ORDERED(double, double, d, x < 0)
TML_ORDERED(int32_t, uint32_t, i, x < 0)
TML_ORDERED(int64_t, uint64_t, l, x < 0)
TML_ORDERED(uint32_t, uint32_t, u, false)
TML_ORDERED(uint64_t, uint64_t, m, false)
#undef TML_ORDERED

#define TML_UNARY(name, T, s, value)                                                               \
    static inline T TML_K_NAME(name, s)(T x)                                                       \
    {                                                                                              \
        return value;                                                                              \
    }
#define TML_BINARY(name, T, s, value)                                                              \
    static inline T TML_K_NAME(name, s)(T x, T y)                                                  \
    {                                                                                              \
        return value;                                                                              \
    }
#define TML_BOTH(name)                                                                             \
    TML_UNARY(name, float, f, name##f(x))                                                          \
    TML_UNARY(name, double, d, name(x))
TML_BOTH(floor)
TML_BOTH(ceil)
TML_BOTH(trunc)
TML_BOTH(sqrt)
TML_BOTH(exp)
TML_BOTH(exp2)
TML_BOTH(log)
TML_BOTH(log2)
TML_BOTH(sin)
TML_BOTH(cos)
TML_BOTH(tan)
TML_BOTH(asin)
TML_BOTH(acos)
TML_BOTH(atan)
TML_UNARY(inversesqrt, float, f, 1.0f / sqrtf(x))
TML_UNARY(inversesqrt, double, d, 1.0 / sqrt(x))
TML_UNARY(fract, float, f, x - floorf(x))
TML_UNARY(fract, double, d, x - floor(x))
TML_BINARY(pow, float, f, powf(x, y))
TML_BINARY(pow, double, d, pow(x, y))
TML_BINARY(mod, float, f, x - y * floorf(x / y))
TML_BINARY(mod, double, d, x - y * floor(x / y))
TML_BINARY(step, float, f, y < x ? 0.0f : 1.0f)
TML_BINARY(step, double, d, y < x ? 0.0 : 1.0)
#undef TML_BOTH
#undef TML_BINARY
#undef TML_UNARY

static inline float TML_K_NAME(mix, f)(float a, float b, float t)
{
    return a * (1.0f - t) + b * t;
}
static inline double TML_K_NAME(mix, d)(double a, double b, double t)
{
    return a * (1.0 - t) + b * t;
}
#undef TML_K_NAME

static inline uint32_t tml_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float tml_bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* The place of the low word among the two words of a 64-bit element: 0, or 1 on big-endian
 * machines. */
#define TML_LOW_WORD (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1u : 0u)

static inline uint32_t tml_word(tml_words words, tml_index i)
{
    return words[i];
}
static inline float tml_word_float(tml_words words, tml_index i)
{
    return tml_bits_float(words[i]);
}
static inline tml_vec2 tml_word_vec2(tml_words words, tml_index i)
{
    return tml_make2(tml_word_float(words, 2 * i), tml_word_float(words, 2 * i + 1));
}
static inline tml_vec3 tml_word_vec3(tml_words words, tml_index i)
{
    return tml_make3(tml_word_float(words, 3 * i), tml_word_float(words, 3 * i + 1),
                     tml_word_float(words, 3 * i + 2));
}
static inline tml_vec4 tml_word_vec4(tml_words words, tml_index i)
{
    return tml_make4(tml_word_float(words, 4 * i), tml_word_float(words, 4 * i + 1),
                     tml_word_float(words, 4 * i + 2), tml_word_float(words, 4 * i + 3));
}
/* Returns the upper word of a product. */
static inline uint32_t tml_multiply_high(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

/* Returns two words of Philox2x32-10. Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy
 * as 1, 2, 3. 2011. */
static inline tml_uvec2 tml_random(uint32_t a, uint32_t b, uint32_t key)
{
    for (uint32_t round = 0; round < 10; round++, key += 0x9e3779b9u) {
        uint64_t product = (uint64_t)0xd256d193u * a;
        a = (uint32_t)(product >> 32) ^ key ^ b;
        b = (uint32_t)product;
    }
    return tml_make_uvec2(a, b);
}
static inline uint32_t tml_random_uint(uint32_t a, uint32_t b)
{
    return tml_random(a, b, 0).x;
}
static inline float tml_random_float(uint32_t a, uint32_t b)
{
    return (float)(tml_random_uint(a, b) >> 8) * (1.0f / 16777216.0f);
}
static inline uint64_t tml_words_uint64(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}
static inline double tml_words_double(uint32_t low, uint32_t high)
{
    uint64_t bits = tml_words_uint64(low, high);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* Returns a * b, rounded. Where the bits matter compile without contraction (gcc, clang:
 * -ffp-contract=off). */
static inline float tml_rounded_product(float a, float b)
{
    return a * b;
}
/* By the bits of x: under fast-math options a compiler may assume that x != x is false. */
static inline bool tml_is_nan(float x)
{
    return (tml_float_bits(x) & 0x7fffffffu) > 0x7f800000u;
}
static inline bool tml_is_inf(float x)
{
    return (tml_float_bits(x) & 0x7fffffffu) == 0x7f800000u;
}
static inline uint32_t tml_popcount32(uint32_t x)
{
#if defined(__s390x__) && defined(__GNUC__) && !defined(__clang__)
    __asm__("" : "+r"(x)); /* gcc 12 counts two neighbours' bits as one number's, in a loop */
#endif
    return (uint32_t)__builtin_popcount(x);
}
static inline uint32_t tml_lowest_bit32(uint32_t x)
{
    return tml_popcount32((x & (0u - x)) - 1u);
}

#ifndef __cplusplus
/* clang-format off */
#define TML_K_BY_REAL(name, x) _Generic((x), float: tml_##name##_f, double: tml_##name##_d)
#define TML_K_BY_TYPE(name, x)                                                                     \
    _Generic((x), float: tml_##name##_f,    double: tml_##name##_d,                                \
                  int32_t: tml_##name##_i,  int64_t: tml_##name##_l,                               \
                  uint32_t: tml_##name##_u, uint64_t: tml_##name##_m)
/* clang-format on */
#else
#    define TML_K_BY_REAL(name, x) tml_##name
#    define TML_K_BY_TYPE(name, x) tml_##name
#endif

#endif
