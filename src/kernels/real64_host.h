/* The names of kernels/real64.k.h for the host's own doubles, for kernel files that use them in C.
 * They are macros, so that they can be undefined: in one amalgamated file
 * (tools/make_amalgamation.c) they would collide with the functions. */
#include <stdint.h>
#include <string.h>

#define real64                        double
#define real64_add(a, b)              ((a) + (b))
#define real64_subtract(a, b)         ((a) - (b))
#define real64_multiply(a, b)         ((a) * (b))
#define real64_add_product(sum, a, b) ((sum) + (a) * (b))
#define real64_negative(a)            (-(a))
#define real64_less(a, b)             ((uint32_t)((a) < (b)))
#define real64_at_most(a, b)          ((uint32_t)((a) <= (b)))
#define real64_is_other_than_zero(a)  ((uint32_t)((a) != 0.0))
#define real64_of_uint(x)             ((double)(uint32_t)(x))
#define real64_scale                  double_scale
#define real64_of_fixed               double_of_fixed
#define real64_of_float               double_of_float
#define real64_to_float               double_to_float
#define real64_whole                  double_whole
#define real64_at                     double_at

static inline double double_scale(double a, int32_t power)
{
    const uint64_t bits = (uint64_t)(1023 + power) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return a * scale;
}
static inline double double_of_fixed(uint32_t whole, uint32_t part, uint32_t bits)
{
    return (double)whole + double_scale((double)part, -(int32_t)bits);
}
static inline double double_of_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}
static inline uint32_t double_to_float(double a)
{
    float value = (float)a;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline uint32_t double_whole(double a, uint32_t most)
{
    a = a > 0.0 ? a : 0.0; /* NaN too */
    return a < (double)most ? (uint32_t)a : most;
}
static inline double double_at(const uint32_t *words, uint64_t i)
{
    double value;
    memcpy(&value, words + i, sizeof value);
    return value;
}
