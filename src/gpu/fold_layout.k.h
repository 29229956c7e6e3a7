/* The folds of the GPU engines, for C and GLSL. */

/* How reduce and segments fold.
 *   SUM     integers of up to 32 bits, to a 64-bit sum. Signed integers are biased by
 *           2^(bits - 1), which is subtracted from the result
 *   SUM64   u64 and i64, modulo 2^64
 *   REAL    f16, f32 and the mean of 64-bit integers, in single precision
 *   DOUBLE  f64
 *   BEST    minimum or maximum, as the smallest key. Keys compare as unsigned integers; NaN has the
 *           largest key
 *   WHERE   the same, with the position of the first element that has that key */
#define FOLD_SUM    0u
#define FOLD_SUM64  1u
#define FOLD_REAL   2u
#define FOLD_DOUBLE 3u
#define FOLD_BEST   4u
#define FOLD_WHERE  5u

/* The type of a fold's result; SAME is the elements' own, for BEST. */
#define FOLD_TO_F32  0u
#define FOLD_TO_F64  1u
#define FOLD_TO_U32  2u
#define FOLD_TO_U64  3u
#define FOLD_TO_SAME 4u
