/* The code of a sort key: an unsigned integer whose order is that of the keys. The code is made by
 * macros, since a key is an unsigned integer of any size in C, and a uint or a uvec2 (low, high) on
 * GPUs. flip and real_flip are described at tml_sort_resolved (core/engine.h).
 *
 * real_flip keeps the sign bit, so SORT_CODE is its own inverse:
 *   sign = SORT_SIGN(key, bits);         code = SORT_CODE(key, sign, flip, real_flip);
 *   sign = SORT_SIGN(code ^ flip, bits); key = SORT_CODE(code, sign, flip, real_flip); */

/* All ones if the highest bit of a key is set, else 0. high: the key; of a 64-bit key, its upper
 * word with bits 32. */
#define SORT_SIGN(high, bits)                 (0u - ((high) >> ((bits)-1u) & 1u))
#define SORT_CODE(key, sign, flip, real_flip) ((key) ^ (flip) ^ ((sign) & (real_flip)))
/* Replaces -0 by 0, which it equals. minus_zero: the bits of -0, or 0 if all keys are to stay as
 * they are. */
#define SORT_KEY(key, minus_zero, zero) ((key) == (minus_zero) ? (zero) : (key))

/* The code by which a scan finds the smallest key (with the flip of a descending sort) or the
 * largest key as the largest code. A NaN, which a scan ignores, has the code least: that of the
 * infinity which every other key beats. For integers, real_flip and least are 0. */
#define EXTREME_IS_NAN(magnitude, real_flip, least)                                                \
    (((magnitude) & (real_flip)) > ((real_flip) ^ (least)))
