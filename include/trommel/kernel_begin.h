/* Begins the language of kernels in C: defines the short names that GLSL has built in. kernel_end.h
 * undefines them. The header has no include guard, so that it can be included again.
 *
 *   Types        float int uint bool; double int64 uint64 (not on OpenGL); vec2 vec3 vec4; uvec2
 *                uvec3 uvec4
 *   Conversions  F(x) to float, I(x) to int, U(x) to uint
 *   64 bits      DOUBLE(low, high) INT64(low, high) UINT64(low, high): from the two words of the
 *                bits
 *   Vectors      VEC2(x, y) VEC3 VEC4; add2 sub2 scale2 dot2 length2, the same for 3, and for 4
 *                without a length; cross3. UVEC2(x, y) UVEC3 UVEC4: .x .y .z .w and no operators
 *   Matrices     transform4(p.m, v): the 4x4 matrix of a tml_params times the vec4 v
 *                transform3(p.m, x): the point that the matrix moves the vec3 x to; a vec3, without
 *                a division by w
 *   Arrays       tml_word(words, i), tml_word_float(words, i): of a tml_words parameter
 *                tml_word_vec2(words, i), tml_word_vec3, tml_word_vec4: its i-th vector
 *   Numbers      abs sign min max clamp: of any scalar type
 *                floor ceil trunc fract sqrt inversesqrt exp2 log2 exp log sin cos tan asin acos
 *                atan pow mod mix step: of float, and of double where the GPU has it
 *   Bits         floatBitsToUint uintBitsToFloat floatBitsToInt intBitsToFloat
 *                popcount32(u): ones in u. lowest_bit32(u): position of the lowest one; u is not 0
 *                is_nan(x), is_inf(x): of either sign; no compiler drops them
 *                tml_multiply_high(a, b): the upper word of a product (not OpenGL ES 2, WebGL 1)
 *   Random       tml_random_float(a, b): 0 <= x < 1, in steps of 2^-24
 *                tml_random_uint(a, b): any uint
 *                tml_random(a, b, key): a uvec2, whose x with the key 0 is tml_random_uint
 *                They have no state: the same arguments return the same bits in every kernel, on
 *                every engine. Let a be the element and b the draw, tml_random_float(id, 4u * frame
 *                + 2u). Philox2x32-10, which passes BigCrush: about twenty 32-bit multiplications.
 *                Not for secrets; not on OpenGL ES 2 and WebGL 1. After: Salmon, Moraes, Dror,
 *                Shaw: Parallel Random Numbers: As Easy as 1, 2, 3. 2011
 *   Rounding     rounded_product(a, b): a * b of floats, rounded before anything is added to it
 *                PRECISE float t = ...: not fused into a multiply-add (OpenGL ES cannot promise it)
 *   Libraries    FUNCTION(T) name(T a, ...) {...}: parameters are by value; several results are
 *                returned in a struct
 *                STRUCT_BEGIN(name) T a; T b; STRUCT_END(name): a struct type, used as plain "name"
 *                and made by assigning its members
 *                TABLE_BEGIN(T, name, n) a, b, c TABLE_END: a constant array of uint, int or float,
 *                read as name[i]; no comma after the last element
 *
 * Exact on every engine: integers, bits, comparisons, + and - of floats, rounded_product, and a * b
 * that is not fused with a sum (only rounded_product prevents that on OpenGL ES). GPUs round sqrt
 * and division to about 2.5 ulp, and the transcendental functions as the driver promises. */
#include <trommel/kernel_math.h>

#define uint   uint32_t
#define int64  int64_t
#define uint64 uint64_t
#define vec2   tml_vec2
#define vec3   tml_vec3
#define vec4   tml_vec4
#define uvec2  tml_uvec2
#define uvec3  tml_uvec3
#define uvec4  tml_uvec4

#define F(x)             ((float)(x))
#define I(x)             ((int32_t)(x))
#define U(x)             ((uint32_t)(x))
#define VEC2(x, y)       tml_make2(x, y)
#define VEC3(x, y, z)    tml_make3(x, y, z)
#define VEC4(x, y, z, w) tml_make4(x, y, z, w)

#define UVEC2(x, y)       tml_make_uvec2(x, y)
#define UVEC3(x, y, z)    tml_make_uvec3(x, y, z)
#define UVEC4(x, y, z, w) tml_make_uvec4(x, y, z, w)

/* clang-format off */
#define FUNCTION(T)             static inline T
#define STRUCT_BEGIN(name)      typedef struct name {
#define STRUCT_END(name)        } name;
#define TABLE_BEGIN(T, name, n) static const T name[n] = {
#define TABLE_END               };
/* clang-format on */
#define PRECISE

#define DOUBLE(low, high) tml_words_double(low, high)
#define INT64(low, high)  ((int64_t)tml_words_uint64(low, high))
#define UINT64(low, high) tml_words_uint64(low, high)

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

#define transform3 tml_transform3
#define transform4 tml_transform4

#define floor(x)            TML_K_BY_REAL(floor, x)(x)
#define ceil(x)             TML_K_BY_REAL(ceil, x)(x)
#define trunc(x)            TML_K_BY_REAL(trunc, x)(x)
#define fract(x)            TML_K_BY_REAL(fract, x)(x)
#define sqrt(x)             TML_K_BY_REAL(sqrt, x)(x)
#define inversesqrt(x)      TML_K_BY_REAL(inversesqrt, x)(x)
#define exp(x)              TML_K_BY_REAL(exp, x)(x)
#define exp2(x)             TML_K_BY_REAL(exp2, x)(x)
#define log(x)              TML_K_BY_REAL(log, x)(x)
#define log2(x)             TML_K_BY_REAL(log2, x)(x)
#define sin(x)              TML_K_BY_REAL(sin, x)(x)
#define cos(x)              TML_K_BY_REAL(cos, x)(x)
#define tan(x)              TML_K_BY_REAL(tan, x)(x)
#define asin(x)             TML_K_BY_REAL(asin, x)(x)
#define acos(x)             TML_K_BY_REAL(acos, x)(x)
#define atan(x)             TML_K_BY_REAL(atan, x)(x)
#define pow(x, y)           TML_K_BY_REAL(pow, x)(x, y)
#define mod(x, y)           TML_K_BY_REAL(mod, x)(x, y)
#define step(edge, x)       TML_K_BY_REAL(step, x)(edge, x)
#define mix(a, b, t)        TML_K_BY_REAL(mix, a)(a, b, t)
#define abs(x)              TML_K_BY_TYPE(abs, x)(x)
#define sign(x)             TML_K_BY_TYPE(sign, x)(x)
#define min(a, b)           TML_K_BY_TYPE(min, a)(a, b)
#define max(a, b)           TML_K_BY_TYPE(max, a)(a, b)
#define clamp(x, low, high) TML_K_BY_TYPE(clamp, x)(x, low, high)

#define floatBitsToUint   tml_float_bits
#define uintBitsToFloat   tml_bits_float
#define floatBitsToInt(x) ((int32_t)tml_float_bits(x))
#define intBitsToFloat(x) tml_bits_float((uint32_t)(x))
#define is_nan            tml_is_nan
#define is_inf            tml_is_inf
#define popcount32        tml_popcount32
#define lowest_bit32      tml_lowest_bit32
#define rounded_product   tml_rounded_product
