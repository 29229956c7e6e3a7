/* The kernel vocabulary (src/kernels/kernel.h) for GLSL ES 1.00 and WebGL 1, which have no unsigned
 * integers, no bit operations and no constant arrays. uint is int here. A device may represent an
 * int as a float, so it is exact within 2^24. A kernel that uses more than this does not compile.
 * Included after "#version 100", in place of the other preludes. The engine removes suffixes of
 * literals (1.0f, 1u), which GLSL ES 1.00 lacks. There are no addresses: a shader samples its
 * arrays itself.
 *
 * gl_FragColor is mediump in GLSL ES 1.00, and some drivers round it to half precision. If targets
 * are floats and the device has GLSL ES 3.00, the same text is compiled as GLSL ES 3.00, with
 * TML_ES300 defined. (gl_FragCoord is mediump, too, which is insufficient for positions in a row; a
 * varying replaces it.) */
precision highp float;
precision highp int;
precision highp sampler2D;
#ifdef TML_ES300
#define varying             in
layout(location = 0) out highp vec4 tml_color;
#define gl_FragColor        tml_color
#define texture2D(map, at)  texture(map, at)
#endif

#define TML_GLSL
#define TML_ES100
#define PRECISE

#define uint             int
#define F(x)             float(x)
#define I(x)             int(x)
#define U(x)             int(x)
#define N(x)             int(x)
#define VEC2(x, y)       vec2(x, y)
#define VEC3(x, y, z)    vec3(x, y, z)
#define VEC4(x, y, z, w) vec4(x, y, z, w)

#define tml_index        int
#define tml_rank         int
struct tml_params { /* indexed like the arrays, which functions could not return */
    vec4 f;
    ivec4 u;
#ifdef KERNEL_MATRIX
    mat4 m;
#endif
};

#define FUNCTION(T)        T
#define STRUCT_BEGIN(name) struct name {
#define STRUCT_END(name)   };

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
#define transform4(m, v) ((m) * (v))
#define transform3(m, p) transform4(m, vec4(p, 1.0)).xyz

bool is_nan(float x)
{
    float seen = (x < 2.0 ? 1.0 : 0.0) + (x > 1.0 ? 1.0 : 0.0);
    return seen == 0.0;
}
/* Beyond the largest float. */
bool is_inf(float x)
{
    return x > 3.4028234663852886e38 || x < -3.4028234663852886e38;
}

#ifndef TML_ES300
float trunc(float x)
{
    return x < 0.0 ? ceil(x) : floor(x);
}
#endif

/* The built-in functions only accept floats, and cannot be overloaded. */
float tml_abs(float x)
{
    return abs(x);
}
int tml_abs(int x)
{
    return x < 0 ? -x : x;
}
float tml_sign(float x)
{
    return sign(x);
}
int tml_sign(int x)
{
    return x < 0 ? -1 : x > 0 ? 1 : 0;
}
float tml_min(float a, float b)
{
    return min(a, b);
}
int tml_min(int a, int b)
{
    return b < a ? b : a;
}
float tml_max(float a, float b)
{
    return max(a, b);
}
int tml_max(int a, int b)
{
    return a < b ? b : a;
}
#define abs(x)              tml_abs(x)
#define sign(x)             tml_sign(x)
#define min(a, b)           tml_min(a, b)
#define max(a, b)           tml_max(a, b)
#define clamp(x, low, high) min(max(x, low), high)
