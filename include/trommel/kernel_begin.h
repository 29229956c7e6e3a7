/* The vocabulary of kernels, C side: the short names that GLSL has built in, plus the casts,
 * constructors and vector sums that C and GLSL spell differently. The GLSL side of the same names
 * is in src/kernels/prelude_*.glsl. Ends with kernel_end.h; no include guard, so that it can open
 * again. */
#include <trommel/kernel.h>

#define uint uint32_t
#define vec2 tml_vec2
#define vec3 tml_vec3
#define vec4 tml_vec4

#define F(x)             ((float)(x))
#define I(x)             ((int32_t)(x))
#define U(x)             ((uint32_t)(x))
#define VEC2(x, y)       tml_make2(x, y)
#define VEC3(x, y, z)    tml_make3(x, y, z)
#define VEC4(x, y, z, w) tml_make4(x, y, z, w)

#define add2    tml_add2
#define sub2    tml_sub2
#define scale2  tml_scale2
#define dot2    tml_dot2
#define length2 tml_length2
#define add3    tml_add3
#define sub3    tml_sub3
#define scale3  tml_scale3
#define dot3    tml_dot3
#define cross3  tml_cross3
#define length3 tml_length3
#define add4    tml_add4
#define sub4    tml_sub4
#define scale4  tml_scale4
#define dot4    tml_dot4

#ifndef TROMMEL_KERNEL_BEGIN_H
#    define TROMMEL_KERNEL_BEGIN_H

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

#endif
