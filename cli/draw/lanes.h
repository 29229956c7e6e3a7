/* Four floats or integers at a time, by the compilers' vector types: + - * / & | ~ and comparisons
 * are built into the language. A comparison gives -1 for true and 0 for false. */
#ifndef CLI_LANES_H
#define CLI_LANES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#    include <emmintrin.h>
#endif

enum { LANES = 4 };

typedef int32_t lanes_int __attribute__((vector_size(4 * LANES)));
typedef uint32_t lanes_uint __attribute__((vector_size(4 * LANES)));
typedef float lanes_float __attribute__((vector_size(4 * LANES)));

static inline lanes_float lanes_of(float x)
{
    return (lanes_float){x, x, x, x};
}

static inline lanes_float lanes_select(lanes_int which, lanes_float a, lanes_float b)
{
    return (lanes_float)((which & (lanes_int)a) | (~which & (lanes_int)b));
}

/* The second one where one is NaN. */
static inline lanes_float lanes_min(lanes_float a, lanes_float b)
{
#ifdef __SSE2__
    return (lanes_float)_mm_min_ps((__m128)a, (__m128)b);
#else
    return lanes_select(a < b, a, b);
#endif
}

static inline lanes_float lanes_max(lanes_float a, lanes_float b)
{
#ifdef __SSE2__
    return (lanes_float)_mm_max_ps((__m128)a, (__m128)b);
#else
    return lanes_select(a > b, a, b);
#endif
}

static inline lanes_float lanes_clamp(lanes_float x, float lower, float upper)
{
    return lanes_min(lanes_max(x, lanes_of(lower)), lanes_of(upper));
}

static inline lanes_float lanes_sqrt(lanes_float x)
{
#ifdef __SSE2__
    return (lanes_float)_mm_sqrt_ps((__m128)x);
#else
    return (lanes_float){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
#endif
}

/* The magnitude of x with the sign of sign. */
static inline lanes_float lanes_copysign(lanes_float x, lanes_float sign)
{
    const lanes_int bit = {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN};
    return lanes_select(bit, sign, x);
}

static inline lanes_float lanes_load(const float *from)
{
    lanes_float x;
    memcpy(&x, from, sizeof x);
    return x;
}

static inline void lanes_store(float *to, lanes_float x)
{
    memcpy(to, &x, sizeof x);
}

static inline int lanes_any(lanes_int which)
{
    return (which[0] | which[1] | which[2] | which[3]) != 0;
}

/* acos of -1 ... 1, with an error below 3e-7. Abramowitz, Stegun: Handbook of Mathematical
 * Functions. 1964, 4.4.46. */
static inline lanes_float lanes_acos(lanes_float x)
{
    const lanes_float size = lanes_max(x, -x);
    lanes_float p = lanes_of(-0.0012624911f);
    p = p * size + 0.0066700901f;
    p = p * size - 0.0170881256f;
    p = p * size + 0.0308918810f;
    p = p * size - 0.0501743046f;
    p = p * size + 0.0889789874f;
    p = p * size - 0.2145988016f;
    p = p * size + 1.5707963050f;
    p = p * lanes_sqrt(lanes_max(1 - size, lanes_of(0)));
    return lanes_select(x < 0, 3.14159265359f - p, p);
}

/* Three lanes' vectors. */
typedef struct lanes_vec3 {
    lanes_float x, y, z;
} lanes_vec3;

static inline lanes_float lanes_dot3(lanes_vec3 a, lanes_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline lanes_vec3 lanes_scale3(lanes_vec3 v, lanes_float by)
{
    return (lanes_vec3){v.x * by, v.y * by, v.z * by};
}

static inline lanes_vec3 lanes_add3(lanes_vec3 a, lanes_vec3 b)
{
    return (lanes_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline lanes_vec3 lanes_sub3(lanes_vec3 a, lanes_vec3 b)
{
    return (lanes_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

#endif
