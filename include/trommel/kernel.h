/* Kernels of the caller: functions that operations of stream.h apply to elements, written once in
 * the common subset of C and GLSL.
 *
 *     #include <trommel/kernel_begin.h>
 *     TML_KERNEL(bool, is_positive, (float x), { return x > 0.0f; })
 *     #include <trommel/kernel_end.h>
 *     ... .keep = {.kernel = TML_USE(is_positive)} ...
 *
 * TML_KERNEL defines three things: the C function is_positive, a loop over blocks of elements for
 * the CPU engine, which the caller's compiler inlines and vectorises, and the kernel's GLSL for the
 * GPU engines. Vulkan compiles that GLSL in the build (trommel_add_kernels), or at run time where
 * libshaderc is found; OpenGL compiles it at run time.
 *
 * ---- the language ----------------------------------------------------------------------------
 *
 * What C and GLSL ES 3.00 share. kernel_begin.h defines its words (uint, vec3, F, add3 ...), and
 * kernel_end.h undefines them, so that they collide with no name of the caller's.
 *   Not there    pointers, strings, brace initialisers, implicit conversions
 *   Constants    1.0f, 1u
 *   Conversions  F(x) to float, U(x) to uint, I(x) to int
 *   Conditions   bool
 *   Vectors      vec2 vec3 vec4 with .x .y .z .w, made by VEC2(x, y) VEC3(...) VEC4(...); add3(a,
 *                b), sub3, scale3(a, s), dot3, length3, and the same for 2 and 4. uvec2 uvec3
 *                uvec4, made by UVEC2(x, y) ..., without sums
 *   Functions    those of GLSL, and more: kernel_begin.h
 *   Names        a kernel's name is a C function's: not one of the C library's, such as finite
 *   Floats       a GPU may fuse a product and a sum, so results may differ in the last bits
 *   OpenGL ES    an array of vectors (vec4 a[3]) is indexed by constants, or by a loop from one
 *                constant to another, since NVIDIA's compiler fails otherwise. Arrays of scalars
 *                may be indexed by anything
 *
 * ---- parameters and results ------------------------------------------------------------------
 *
 * Parameters, at most six, of which at most four are arrays, each a plain "type name":
 *   float, int, uint, vec2, vec3, vec4,  the element of the next input array. float also reads f16,
 *   uvec2, uvec3, uvec4                  int also i8 and i16, uint also u8 and u16
 *   double, uint64, int64                the same of f64, u64, i64 (Vulkan: where the device has
 *                                        them; not on OpenGL)
 *   tml_words name                       the next input array as a whole, read at any place
 *   tml_index name                       the element's position in the stream (expand: the
 *                                        source's)
 *   tml_rank name                        expand's emit kernel only: the k of the output
 *   tml_params name                      desc.params: p.f[0..3], p.u[0..3], and the matrix p.m
 * Result: bool, float, int, uint, vec2, vec3, vec4, uvec2, uvec3, uvec4, double, uint64, int64.
 *
 * Several results, at most four, of any of these types but bool, for tml_map and the emit kernel of
 * tml_expand:
 *
 *     TML_KERNEL_OUTS((vec3 position, vec3 velocity), fall, (vec3 x, vec3 v, tml_params p), {
 *         fall_out o;
 *         o.velocity = sub3(v, VEC3(0.0f, p.f[0], 0.0f));
 *         o.position = add3(x, scale3(o.velocity, p.f[1]));
 *         return o;
 *     })
 *     ... .in = {x, v}, .out = {x, v} ...
 *
 * The macro also defines the struct fall_out, with these members.
 *
 * ---- arrays as a whole -----------------------------------------------------------------------
 *
 *     TML_KERNEL(float, edge_length, (uvec2 ends, tml_words points), {
 *         return length3(sub3(tml_word_vec3(points, ends.x), tml_word_vec3(points, ends.y)));
 *     })
 *     ... .in = {edges, points} ...
 *
 * A tml_words parameter reads any buffer whose elements are a multiple of 4 bytes, as 32-bit words;
 * caller-owned memory must begin at a multiple of 4. Its length is independent of the stream's.
 *   tml_word(name, i)        word i, a uint. i is a uint or, in C, a tml_index
 *   tml_word_float(name, i)  the float of the same bits
 *   tml_word_vec2, tml_word_vec3, tml_word_vec4(name, i)  vector i of an array of f32x2, f32x3 or
 *                            f32x4
 *   64 bits                  word 2i + TML_LOW_WORD is the low word of element i
 *   Outside of the array     C's behaviour is undefined; a GPU returns a meaningless value
 *   Outputs                  may not be an array that the kernel reads so
 *   GPUs                     count words in 32 bits. OpenGL ES 2 and WebGL 1 have no such
 *                            parameters, and no uvecs
 * More numbers than tml_params holds come in such an array. A kernel of more than four arrays
 * becomes two maps: the first writes what the second reads.
 *
 * ---- functions that kernels share ------------------------------------------------------------
 *
 *     TML_LIBRARY(heat,
 *         FUNCTION(float) heat_of(float x) { return x * x * (3.0f - 2.0f * x); }
 *         FUNCTION(float) heat_twice(float x) { return heat_of(heat_of(x)); }
 *     )
 *     TML_KERNEL_WITH(heat, float, warmer, (float x), { return heat_twice(x); })
 *
 * In C a library's functions are static inline ones. Besides FUNCTION(T) a library may hold
 *   STRUCT_BEGIN(name) T a; T b; STRUCT_END(name)   a type, whose values are made by assigning the
 *                                                   members
 *   TABLE_BEGIN(T, name, n) a, b, c TABLE_END       an array of constants
 * It holds no preprocessor lines. tml_words may be a function's parameter. GLSL has one room for
 * all names: names of the caller's begin with a word of their own. */
#ifndef TROMMEL_KERNEL_H
#define TROMMEL_KERNEL_H

#include <math.h>
#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- defining a kernel ----------------------------------------------------------------------- */

/* Refers to a kernel in a desc. */
#define TML_USE(name) (&name##_kernel)

/* clang-format off */
#ifndef TML_KERNEL_EXTRACT
/* TML_KERNEL(result, name, (parameters), {body}) defines a kernel. It is static, as are all of
 * these, so they may stand in a header. */
#define TML_KERNEL(ret, name, params, ...)                                                         \
    TML_K_DEFINE(NULL, TML_K_FIRST(TML_K_R_##ret), TML_K_SECOND(TML_K_R_##ret), name, params,      \
                 #name, #ret " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
/* TML_KERNEL_WITH(library, ...): a kernel that calls the functions of a TML_LIBRARY before it. */
#define TML_KERNEL_WITH(library, ret, name, params, ...)                                           \
    TML_K_DEFINE(library##_library, TML_K_FIRST(TML_K_R_##ret), TML_K_SECOND(TML_K_R_##ret), name, \
                 params, #name, #ret " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
/* TML_KERNEL_OUTS((outputs), name, (parameters), {body}): a kernel of several results. */
#define TML_KERNEL_OUTS(outs, name, params, ...)                                                   \
    TML_K_DEFINE_OUTS(NULL, outs, name, params, #name,                                             \
                      #outs " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
#define TML_KERNEL_OUTS_WITH(library, outs, name, params, ...)                                     \
    TML_K_DEFINE_OUTS(library##_library, outs, name, params, #name,                                \
                      #outs " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
/* TML_LIBRARY(name, functions): functions that kernels share. */
#define TML_LIBRARY(name, ...)                                                                     \
    __VA_ARGS__                                                                                    \
    static const char name##_library[] = #__VA_ARGS__;
#endif
/* clang-format on */

/* ---- types of parameters --------------------------------------------------------------------- */

typedef struct tml_vec2 {
    float x, y;
} tml_vec2;
typedef struct tml_vec3 {
    float x, y, z;
} tml_vec3;
typedef struct tml_vec4 {
    float x, y, z, w;
} tml_vec4;

typedef struct tml_uvec2 {
    uint32_t x, y;
} tml_uvec2;
typedef struct tml_uvec3 {
    uint32_t x, y, z;
} tml_uvec3;
typedef struct tml_uvec4 {
    uint32_t x, y, z, w;
} tml_uvec4;

enum {
    TML_MAX_PARAMS = 6, /* parameters of a kernel */
    TML_MAX_INPUTS = 4, /* arrays among them */
    TML_MAX_OUTS = 4,   /* results */
};

/* Numbers that a kernel gets from desc.params; the call copies them. On GPUs they are push
 * constants or uniforms.
 * m  a 4x4 matrix in the order of OpenGL and Vulkan, column by column: row r of column c is
 *    m[4 * c + r]; transform4(p.m, v) and transform3(p.m, x) apply it. A kernel without ".m" in its
 *    text or its library's pays nothing for it; on Vulkan one that has it costs scratch and one
 *    dispatch. OpenGL ES 2 and WebGL 1 have m in transform3 and transform4 alone */
typedef struct tml_params {
    float f[4];
    uint32_t u[4];
    float m[16];
} tml_params;

typedef uint64_t tml_index;        /* GLSL: uint */
typedef uint32_t tml_rank;         /* GLSL: uint */
typedef const uint32_t *tml_words; /* GLSL: an address or a texture */

/* ---- what a kernel is ------------------------------------------------------------------------ */

/* Kinds of parameters besides element types. */
enum { TML_PARAM_INDEX = 0x100000, TML_PARAM_RANK, TML_PARAM_PARAMS, TML_PARAM_WORDS };

/* Returns whether a parameter reads elements of the next input array, one per element of the
 * stream. */
static inline bool tml_param_is_elements(uint32_t param)
{
    return param < TML_PARAM_INDEX;
}
/* Returns whether a parameter consumes the next input array, by elements or as a whole. */
static inline bool tml_param_is_array(uint32_t param)
{
    return tml_param_is_elements(param) || param == TML_PARAM_WORDS;
}

/* A block of elements, for the CPU form of a kernel.
 * in     one pointer per parameter; of arrays the block's elements, or all words (tml_words)
 * index  positions in the stream; NULL: first + i
 * rank   of an emit kernel
 * out    the results; of a kernel of several results outs, in its place
 * first  the position of the block's first element
 * count  elements of the block
 * simd   instructions that the loop may use: 0 those that the compiler takes for granted, from 1 on
 *        AVX2 */
typedef struct tml_kernel_block {
    const void *in[TML_MAX_PARAMS];
    const tml_index *index;
    const tml_rank *rank;
    const tml_params *params;
    void *out;
    tml_index first;
    size_t count;
    uint32_t simd;
    void *outs[TML_MAX_OUTS];
} tml_kernel_block;

/* What the macros above define; for callers that make kernels by other means.
 * glsl       "bool is_positive(float x) { return x > 0.0f; }"; of several results it begins with
 *            them: "(vec3 position, vec3 velocity) fall(...) {...}"
 * result     TML_U8 for bool; TML_TYPE_NONE for several results
 * params     per parameter a tml_type or one of TML_PARAM_INDEX ...
 * run        the CPU form: computes a block
 * library    the functions that glsl calls; NULL: none
 * out_count  the number of results if there are several, or 0; outs: their types */
typedef struct tml_kernel {
    const char *name;
    const char *glsl;
    tml_type result;
    uint32_t param_count;
    uint32_t params[TML_MAX_PARAMS];
    void (*run)(const tml_kernel_block *block);
    const char *library;
    uint32_t out_count;
    uint32_t outs[TML_MAX_OUTS];
} tml_kernel;

#ifdef __cplusplus
}
#endif

#include <trommel/kernel_macros.h>

#endif
