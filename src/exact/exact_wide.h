/* Integers wide enough that no sum of products of up to four floats is ever rounded.
 *
 * A float is an integer multiple of 2^-149, below 2^277 of them. So a product of n floats is an
 * integer multiple of 2^(-149 n), below 2^(277 n) of them. Sums of such products are kept as two's
 * complement integers in that unit: fixed point, in which addition is exact. The widest sums here
 * have degree 4, 48 products and a factor of 2: 4 * 277 + 6 + 1 bits and the sign, within 1152. */
#ifndef COLLIDE_EXACT_WIDE_H
#define COLLIDE_EXACT_WIDE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <trommel/kernel_math.h>

enum { WIDE_LIMBS = 36, WIDE_UNIT = -149 };

typedef struct wide {
    uint32_t limb[WIDE_LIMBS]; /* the lowest first */
} wide;

/* A finite float as sign * mantissa * 2^(shift + WIDE_UNIT). */
typedef struct wide_float {
    bool is_negative;
    uint32_t mantissa; /* below 2^24 */
    uint32_t shift;
} wide_float;

static inline wide_float wide_split(float x)
{
    uint32_t bits = tml_float_bits(x), exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    return (wide_float){bits >> 31, exponent ? fraction | 1u << 23 : fraction,
                        exponent ? exponent - 1 : 0};
}

/* sum += (high * 2^64 + low) * 2^shift, or sum -= it. high is below 2^31; the term fits sum. */
static inline void wide_add(wide *sum, bool is_negative, uint64_t low, uint32_t high,
                            uint32_t shift)
{
    const uint32_t parts[4] = {(uint32_t)low, (uint32_t)(low >> 32), high, 0};
    uint32_t word = shift / 32, bits = shift % 32, below = 0, carry = is_negative;
    for (uint32_t i = 0; word < WIDE_LIMBS; i++, word++) {
        /* Subtracts by adding the complement plus 1; the complement's limbs above the number are
         * all ones. */
        uint64_t part = i < 4 ? ((uint64_t)parts[i] << bits | below) : 0;
        below = (uint32_t)(part >> 32);
        uint32_t addend = is_negative ? ~(uint32_t)part : (uint32_t)part;
        uint64_t total = (uint64_t)sum->limb[word] + addend + carry;
        sum->limb[word] = (uint32_t)total;
        carry = (uint32_t)(total >> 32);
        if (i >= 3 && carry == is_negative)
            break; /* nothing is left to carry, or a borrow is paid */
    }
}

/* sum += or -= x y, x y z: of degree 2 and 3. */
static inline void wide_add_product2(wide *sum, bool is_negative, wide_float x, wide_float y)
{
    wide_add(sum, is_negative ^ x.is_negative ^ y.is_negative, (uint64_t)x.mantissa * y.mantissa, 0,
             x.shift + y.shift);
}
static inline void wide_add_product3(wide *sum, bool is_negative, wide_float x, wide_float y,
                                     wide_float z)
{
    uint64_t xy = (uint64_t)x.mantissa * y.mantissa;
    uint64_t low = (xy & 0xffffffff) * z.mantissa, high = (xy >> 32) * z.mantissa + (low >> 32);
    wide_add(sum, is_negative ^ x.is_negative ^ y.is_negative ^ z.is_negative,
             high << 32 | (low & 0xffffffff), (uint32_t)(high >> 32), x.shift + y.shift + z.shift);
}

static inline void wide_negate(wide *x)
{
    uint32_t carry = 1;
    for (int i = 0; i < WIDE_LIMBS; i++) {
        uint64_t total = (uint64_t)(uint32_t)~x->limb[i] + carry;
        x->limb[i] = (uint32_t)total;
        carry = (uint32_t)(total >> 32);
    }
}

/* sum += or -= x * mantissa * 2^shift. */
static inline void wide_add_scaled(wide *sum, bool is_negative, const wide *x, uint32_t mantissa,
                                   uint32_t shift)
{
    /* Two's complement products are correct modulo 2^(32 WIDE_LIMBS), also for negative numbers. */
    wide product = {{0}};
    uint32_t word = shift / 32, bits = shift % 32, below = 0;
    uint64_t carry = 0;
    for (uint32_t i = 0; word < WIDE_LIMBS; i++, word++) {
        carry += (uint64_t)x->limb[i] * mantissa;
        uint64_t part = (carry & 0xffffffff) << bits | below;
        product.limb[word] = (uint32_t)part;
        below = (uint32_t)(part >> 32);
        carry >>= 32;
    }
    if (is_negative)
        wide_negate(&product);
    carry = 0;
    for (int i = 0; i < WIDE_LIMBS; i++) {
        carry += (uint64_t)sum->limb[i] + product.limb[i];
        sum->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static inline int wide_sign(const wide *x)
{
    if (x->limb[WIDE_LIMBS - 1] >> 31)
        return -1;
    for (int i = 0; i < WIDE_LIMBS; i++)
        if (x->limb[i])
            return 1;
    return 0;
}

/* x = result * 2^*exponent, with a relative error of at most 2^-52. The result is within double's
 * range, even if x is not. */
static inline double wide_approximate(const wide *x, int *exponent)
{
    wide magnitude = *x;
    bool is_negative = wide_sign(x) < 0;
    if (is_negative)
        wide_negate(&magnitude);
    int top = WIDE_LIMBS - 1;
    while (top > 2 && magnitude.limb[top] == 0)
        top--;
    const uint32_t *limb = magnitude.limb + top;
    double value = ((double)limb[0] * 0x1p32 + (double)limb[-1]) * 0x1p32 + (double)limb[-2];
    *exponent = 32 * (top - 2);
    return is_negative ? -value : value;
}

#endif
