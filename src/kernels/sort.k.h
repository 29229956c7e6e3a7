/* The code of a sort key: an unsigned integer that orders as the keys do. Macros, since a key is an
 * unsigned integer of any size in C, and a uint or a uvec2 (low, high) on GPUs. flip and real_flip:
 * tml_sort_resolved (core/engine.h) has them.
 *
 * real_flip leaves the sign bit as it is, so that SORT_CODE inverts itself:
 *     sign = SORT_SIGN(key, bits);         code = SORT_CODE(key, sign, flip, real_flip);
 *     sign = SORT_SIGN(code ^ flip, bits); key = SORT_CODE(code, sign, flip, real_flip); */

/* All ones if the highest bit of a key is set, else 0. high: the key, or its upper word with bits
 * 32. */
#define SORT_SIGN(high, bits)                 (0u - ((high) >> ((bits)-1u) & 1u))
#define SORT_CODE(key, sign, flip, real_flip) ((key) ^ (flip) ^ ((sign) & (real_flip)))
/* Makes of -0 the 0 that it equals; minus_zero: its bits, or 0 where all keys are to stay as they
 * are. */
#define SORT_KEY(key, minus_zero, zero) ((key) == (minus_zero) ? (zero) : (key))

/* The code by which a scan finds the smallest (flip of descending) or the largest key, as the
 * largest code: a NaN's, which counts for nothing, is least, the code of the infinity that all
 * others beat. Of integers real_flip and least are 0. */
#define EXTREME_IS_NAN(magnitude, real_flip, least)                                                \
    (((magnitude) & (real_flip)) > ((real_flip) ^ (least)))
