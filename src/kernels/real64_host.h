/* The names of kernels/real64.k.h on the host's own doubles, for kernel files that use them in C. */
#ifndef TML_REAL64_HOST_H
#define TML_REAL64_HOST_H

#include <stdint.h>
#include <string.h>

typedef double real64;

static inline real64 real64_add(real64 a, real64 b)
{
    return a + b;
}
static inline real64 real64_subtract(real64 a, real64 b)
{
    return a - b;
}
static inline real64 real64_multiply(real64 a, real64 b)
{
    return a * b;
}
static inline real64 real64_add_product(real64 sum, real64 a, real64 b)
{
    return sum + a * b;
}
static inline real64 real64_negative(real64 a)
{
    return -a;
}
static inline uint32_t real64_less(real64 a, real64 b)
{
    return a < b;
}
static inline uint32_t real64_at_most(real64 a, real64 b)
{
    return a <= b;
}
static inline uint32_t real64_is_other_than_zero(real64 a)
{
    return a != 0.0;
}
static inline real64 real64_scale(real64 a, int32_t power)
{
    const uint64_t bits = (uint64_t)(1023 + power) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return a * scale;
}
static inline real64 real64_of_uint(uint32_t x)
{
    return (double)x;
}
static inline real64 real64_of_fixed(uint32_t whole, uint32_t part, uint32_t bits)
{
    return (double)whole + real64_scale((double)part, -(int32_t)bits);
}
static inline real64 real64_of_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}
static inline uint32_t real64_to_float(real64 a)
{
    float value = (float)a;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline uint32_t real64_whole(real64 a, uint32_t most)
{
    a = a > 0.0 ? a : 0.0; /* NaN too */
    return a < (double)most ? (uint32_t)a : most;
}
static inline real64 real64_at(const uint32_t *words, uint64_t i)
{
    double value;
    memcpy(&value, words + i, sizeof value);
    return value;
}

#endif
