/* Your own kernels: one source for C and GLSL.
 *
 *     TML_KERNEL(bool, is_positive, (float x), { return x > 0.0f; })
 *     ... .keep = TML_USE(is_positive) ...
 *
 * defines the C function is_positive, a loop over blocks for the CPU engine (inlined and vectorised
 * by your compiler: no call per element) and, by stringification, its GLSL for the GPU engines.
 *
 * Write the common subset of C and GLSL ES 3.00: no pointers, no strings, no implicit conversions
 * (1.0f, 1u, float(i) is written F(i), uint(i) is U(i), int(u) is I(u)), no brace initialisers,
 * conditions are bool. GPUs may fuse a multiplication and an addition,
 * so float results may differ from the CPU's in the last bits. Vectors: vec2 vec3 vec4 with .x .y
 * .z .w, made by VEC2(x, y) VEC3(...) VEC4(...), with add3(a, b), sub3, scale3(a, s), dot3, length3
 * and the same for 2 and 4; uvec2 uvec3 uvec4, made by UVEC2(x, y) ..., without sums.
 *
 * A kernel's name is that of a C function, too: one that the C library has, such as finite or
 * remainder, is a conflict. Begin yours with a word of your own. On OpenGL ES index no array of
 * vectors by a variable (vec4 a[3]; a[i]), but by constants or by a loop from constant to constant:
 * NVIDIA's compiler gets it wrong. Arrays of scalars may be indexed by anything.
 *
 * Parameters, at most six, of which at most four are arrays, each a plain "type name":
 *   float, int, uint, vec2, vec3, vec4,  the next input array's element. float also takes f16
 *   uvec2, uvec3, uvec4                  buffers, int also i8 and i16, uint also u8 and u16
 *                                        (widened);
 *   double, uint64, int64                f64, u64, i64 buffers (Vulkan: where the device has them)
 *   tml_words name                       the next input array as a whole, to read at any place
 *   tml_index name                       the element's position in the stream (expand: the
 *                                        source's)
 *   tml_rank name                        expand only: the k of the source's k-th output
 *   tml_params name                      the desc's params: p.f[0..3] floats, p.u[0..3] uints,
 *                                        p.m[0..15] a matrix, as transform4(p.m, v) takes it
 * Result: bool, float, int, uint, vec2, vec3, vec4, uvec2, uvec3, uvec4, double, uint64, int64.
 *
 * Several outputs, at most four, of any of these types but bool, for tml_map and the
 * emit kernel of tml_expand (desc.out, desc.also):
 *
 *     TML_KERNEL_OUTS((vec3 position, vec3 velocity), fall, (vec3 x, vec3 v, tml_params p), {
 *         fall_out o;
 *         o.velocity = sub3(v, VEC3(0.0f, p.f[0], 0.0f));
 *         o.position = add3(x, scale3(o.velocity, p.f[1]));
 *         return o;
 *     })
 *     ... .in = {x, v}, .out = x, .also = {v} ...
 *
 * also defines the struct type fall_out with these members.
 *
 * A tml_words array is any buffer whose elements are a multiple of 4 bytes, seen as 32-bit words;
 * lent memory must begin at a multiple of 4, too. It may have any length, whatever the stream's.
 * tml_word(name, i) is word i, a uint, and tml_word_float(name, i) the float of the same bits; i is
 * a uint or, in C, a tml_index. tml_word_vec2, tml_word_vec3 and tml_word_vec4(name, i) are vector
 * i of an array of f32x2, f32x3 or f32x4: words 3i, 3i + 1 and 3i + 2 of one of f32x3. Of a
 * 64-bit element i, word 2i + TML_LOW_WORD is the low one (TML_LOW_WORD is 0, and 1 on big-endian
 * machines).
 *
 *     TML_KERNEL(float, edge_length, (uvec2 ends, tml_words points), {
 *         return length3(sub3(tml_word_vec3(points, ends.x), tml_word_vec3(points, ends.y)));
 *     })
 *     ... .in = {edges, points} ...
 *
 * What needs more than four arrays goes in two maps. A ray's hit, for example: the first map takes
 * the hit's triangle, the indices and the vertices and writes the normal; the second takes the
 * normal with t and the ray's direction. (Or two arrays become one: f32x4 with t as the direction's
 * w.)
 *
 * More numbers than tml_params holds come in the same way, from a buffer that tml_buffer_write
 * renews.
 *
 * Read within the array: outside it C's behaviour is undefined, and GPUs give a value that means
 * nothing. An output may not be an array that its kernel reads so. GPUs count words in 32 bits.
 * OpenGL ES 2 and WebGL 1 have no such parameters and no uvecs.
 *
 * Functions of your own that kernels call stand in a library, which a kernel names:
 *
 *     TML_LIBRARY(heat,
 *         FUNCTION(float) heat_of(float x) { return x * x * (3.0f - 2.0f * x); }
 *         FUNCTION(float) heat_twice(float x) { return heat_of(heat_of(x)); }
 *     )
 *     TML_KERNEL_WITH(heat, float, warmer, (float x), { return heat_twice(x); })
 *
 * In C its functions are static inline ones that you may call, too. Besides FUNCTION(T) it may hold
 * STRUCT_BEGIN(name) T a; T b; STRUCT_END(name), a type whose values are made by assigning the
 * members, and TABLE_BEGIN(T, name, n) a, b, c TABLE_END, an array of constants. No preprocessor
 * lines, and tml_words may be a function's parameter. GLSL has one room for all names: begin yours
 * with a word of their own.
 *
 * The short names (uint, vec3, F ...) are defined only between
 *     #include <trommel/kernel_begin.h>  and  #include <trommel/kernel_end.h>
 * so that they never collide with yours. */
#ifndef TROMMEL_KERNEL_H
#define TROMMEL_KERNEL_H

#include <math.h>
#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    TML_MAX_PARAMS = 6, /* of a kernel */
    TML_MAX_INPUTS = 4, /* arrays among them */
    TML_MAX_OUTS = 4,
};

/* Parameters that a kernel gets from the desc, whose values the call takes as they are; on GPUs
 * push constants or uniforms. m: a 4x4 matrix in OpenGL's and Vulkan's order, column by column: row
 * r of column c is m[4 * c + r]. Only a kernel with ".m" in its text or its library's is given m,
 * on Vulkan in scratch by one dispatch more; for others it costs nothing. OpenGL ES 2 and WebGL 1
 * have m in transform3 and transform4 alone, and not its single numbers. */
typedef struct tml_params {
    float f[4];
    uint32_t u[4];
    float m[16];
} tml_params;

typedef uint64_t tml_index; /* GLSL: uint */
typedef uint32_t tml_rank;
typedef const uint32_t *tml_words; /* GLSL: an address or a texture */

/* One block of work for the CPU form of a kernel. */
typedef struct tml_kernel_block {
    /* in[p], for parameters that are arrays: the block's elements, or all words (tml_words) */
    const void *in[TML_MAX_PARAMS];
    const tml_index *index; /* positions; NULL: first + i */
    const tml_rank *rank;   /* expand only */
    const tml_params *params;
    void *out;
    tml_index first;
    size_t count;
    /* instructions that the loop may use: 0 what the compiler takes for granted, from 1 on AVX2 */
    uint32_t simd;
    void *outs[TML_MAX_OUTS]; /* of a kernel with several outputs, in place of out */
} tml_kernel_block;

/* Special parameter kinds beside element types. */
enum { TML_PARAM_INDEX = 0x100000, TML_PARAM_RANK, TML_PARAM_PARAMS, TML_PARAM_WORDS };

/* Does a parameter take the next input array? Only elements of it, one for each of the stream? */
static inline bool tml_param_is_elements(uint32_t param)
{
    return param < TML_PARAM_INDEX;
}
static inline bool tml_param_is_array(uint32_t param)
{
    return tml_param_is_elements(param) || param == TML_PARAM_WORDS;
}

typedef struct tml_kernel {
    const char *name;
    const char *glsl; /* "bool is_positive(float x) { return x > 0.0f; }" */
    tml_type result;  /* TML_U8 for bool */
    uint32_t param_count;
    uint32_t params[TML_MAX_PARAMS]; /* a tml_type, or TML_PARAM_... */
    void (*run)(const tml_kernel_block *block);
    const char *library; /* the functions that glsl calls; NULL: none of its own */
    /* Of several outputs: how many, and their types. glsl then begins with them, "(vec3 position,
     * vec3 velocity) fall(...) {...}", and result is TML_TYPE_NONE. */
    uint32_t out_count;
    uint32_t outs[TML_MAX_OUTS];
} tml_kernel;

/* Refers to a kernel in a desc. */
#define TML_USE(name) (&name##_kernel)

/* clang-format off */
/* TML_KERNEL defines a kernel; the body is a braced block. TML_KERNEL_OUTS: one of several outputs.
 * ..._WITH: one that calls functions of a library, which TML_LIBRARY defines before it. Static, so
 * they may stand in a header. */
#ifdef TML_KERNEL_EXTRACT /* the preprocessor's run for trommel_add_kernels() */
#define TML_KERNEL(ret, name, params, ...)                                                         \
    tml_kernel_extract(#name, #ret, #params, #ret " " #name #params " " #__VA_ARGS__, __FILE__,    \
                       __LINE__, "")
#define TML_KERNEL_WITH(library, ret, name, params, ...)                                           \
    tml_kernel_extract(#name, #ret, #params, #ret " " #name #params " " #__VA_ARGS__, __FILE__,    \
                       __LINE__, #library)
#define TML_KERNEL_OUTS(outs, name, params, ...)                                                   \
    tml_kernel_extract(#name, #outs, #params, #outs " " #name #params " " #__VA_ARGS__, __FILE__,  \
                       __LINE__, "")
#define TML_KERNEL_OUTS_WITH(library, outs, name, params, ...)                                     \
    tml_kernel_extract(#name, #outs, #params, #outs " " #name #params " " #__VA_ARGS__, __FILE__,  \
                       __LINE__, #library)
#define TML_LIBRARY(name, ...) tml_library_extract(#name, #__VA_ARGS__, __FILE__, __LINE__)
#else
#define TML_KERNEL(ret, name, params, ...)                                                         \
    TML_K_DEFINE(NULL, TML_K_FIRST(TML_K_R_##ret), TML_K_SECOND(TML_K_R_##ret), name, params,      \
                      #name, #ret " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
#define TML_KERNEL_WITH(library, ret, name, params, ...)                                           \
    TML_K_DEFINE(library##_library, TML_K_FIRST(TML_K_R_##ret), TML_K_SECOND(TML_K_R_##ret), name, \
                      params, #name, #ret " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
#define TML_KERNEL_OUTS(outs, name, params, ...)                                                   \
    TML_K_DEFINE_OUTS(NULL, outs, name, params, #name,                                        \
                           #outs " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
#define TML_KERNEL_OUTS_WITH(library, outs, name, params, ...)                                     \
    TML_K_DEFINE_OUTS(library##_library, outs, name, params, #name,                           \
                           #outs " " #name #params " " #__VA_ARGS__, __VA_ARGS__)
#define TML_LIBRARY(name, ...)                                                                     \
    __VA_ARGS__                                                                                    \
    static const char name##_library[] = #__VA_ARGS__;
#endif
#define TML_K_DEFINE(library, T, type, name, params, string, text, ...)                       \
    static inline T name params __VA_ARGS__                                                        \
    TML_K_RUN(name, T *tml_out = (T *)tml_block->out;,                                        \
                   tml_out[tml_i] = name(TML_K_EACH(TML_K_LOAD, params));)                         \
    static const tml_kernel name##_kernel = {string, text, type, TML_K_COUNT params,               \
                                             {TML_K_EACH(TML_K_KIND, params)}, name##_run, library,\
                                             0, {0}};
#define TML_K_DEFINE_OUTS(library, outs, name, params, string, text, ...)                     \
    typedef struct name##_out {                                                                    \
        TML_K_JOIN(TML_K_MEMBER, outs)                                                             \
    } name##_out;                                                                                  \
    static inline name##_out name params __VA_ARGS__                                               \
    TML_K_RUN(name, TML_K_JOIN(TML_K_OUT, outs),                                              \
                   name##_out tml_all = name(TML_K_EACH(TML_K_LOAD, params));                      \
                   TML_K_JOIN(TML_K_STORE, outs))                                                  \
    static const tml_kernel name##_kernel = {string, text, TML_TYPE_NONE, TML_K_COUNT params,      \
                                             {TML_K_EACH(TML_K_KIND, params)}, name##_run, library,\
                                             TML_K_COUNT outs, {TML_K_EACH(TML_K_KIND, outs)}};

/* The loop over a block, and its choice of instructions: AVX2 where the block allows it, since
 * what compilers take for granted makes simple kernels up to four times slower than the memory.
 * Without fused multiply-add, so that both forms give the same bits. */
#define TML_K_LOOP(storage, run, pointers, each)                                              \
    storage void run(const tml_kernel_block *tml_block)                                            \
    {                                                                                              \
        pointers                                                                                   \
        for (size_t tml_i = 0; tml_i < tml_block->count; tml_i++) {                                \
            each                                                                                   \
        }                                                                                          \
    }
#if defined(__x86_64__) && defined(__GNUC__)
#define TML_K_RUN(name, pointers, each)                                                       \
    TML_K_LOOP(static, name##_run_plain, pointers, each)                                      \
    TML_K_LOOP(__attribute__((target("avx2"))) static, name##_run_avx2, pointers, each)       \
    static void name##_run(const tml_kernel_block *tml_block)                                      \
    {                                                                                              \
        if (tml_block->simd >= 1)                                                                  \
            name##_run_avx2(tml_block);                                                            \
        else                                                                                       \
            name##_run_plain(tml_block);                                                           \
    }
#else
#define TML_K_RUN(name, pointers, each) TML_K_LOOP(static, name##_run, pointers, each)
#endif

/* ---- how it works ---------------------------------------------------------------------------
 * Pasting TML_P_ onto "float x" gives "way, C type, element type, x": that is how a macro learns
 * the type of a parameter. The names with uint32_t and tml_ serve parameters whose short name was a
 * macro. */
#define TML_K_P_float      TML_K_ARRAY, float, TML_F32,
#define TML_K_P_double     TML_K_ARRAY, double, TML_F64,
#define TML_K_P_int        TML_K_ARRAY, int32_t, TML_I32,
#define TML_K_P_int32_t    TML_K_P_int
#define TML_K_P_uint       TML_K_ARRAY, uint32_t, TML_U32,
#define TML_K_P_uint32_t   TML_K_P_uint
#define TML_K_P_int64      TML_K_ARRAY, int64_t, TML_I64,
#define TML_K_P_int64_t    TML_K_P_int64
#define TML_K_P_uint64     TML_K_ARRAY, uint64_t, TML_U64,
#define TML_K_P_uint64_t   TML_K_P_uint64
#define TML_K_P_vec2       TML_K_ARRAY, tml_vec2, TML_VEC(TML_F32, 2),
#define TML_K_P_tml_vec2   TML_K_P_vec2
#define TML_K_P_vec3       TML_K_ARRAY, tml_vec3, TML_VEC(TML_F32, 3),
#define TML_K_P_tml_vec3   TML_K_P_vec3
#define TML_K_P_vec4       TML_K_ARRAY, tml_vec4, TML_VEC(TML_F32, 4),
#define TML_K_P_tml_vec4   TML_K_P_vec4
#define TML_K_P_uvec2      TML_K_ARRAY, tml_uvec2, TML_VEC(TML_U32, 2),
#define TML_K_P_tml_uvec2  TML_K_P_uvec2
#define TML_K_P_uvec3      TML_K_ARRAY, tml_uvec3, TML_VEC(TML_U32, 3),
#define TML_K_P_tml_uvec3  TML_K_P_uvec3
#define TML_K_P_uvec4      TML_K_ARRAY, tml_uvec4, TML_VEC(TML_U32, 4),
#define TML_K_P_tml_uvec4  TML_K_P_uvec4
#define TML_K_P_tml_words  TML_K_WORDS, tml_words, TML_PARAM_WORDS,
#define TML_K_P_tml_index  TML_K_INDEX, tml_index, TML_PARAM_INDEX,
#define TML_K_P_tml_rank   TML_K_RANK, tml_rank, TML_PARAM_RANK,
#define TML_K_P_tml_params TML_K_PARAMS, tml_params, TML_PARAM_PARAMS,

#define TML_K_R_bool     bool, TML_U8
#define TML_K_R__Bool    TML_K_R_bool
#define TML_K_R_float    float, TML_F32
#define TML_K_R_double   double, TML_F64
#define TML_K_R_int      int32_t, TML_I32
#define TML_K_R_uint     uint32_t, TML_U32
#define TML_K_R_uint32_t TML_K_R_uint
#define TML_K_R_int64    int64_t, TML_I64
#define TML_K_R_uint64   uint64_t, TML_U64
#define TML_K_R_vec2     tml_vec2, TML_VEC(TML_F32, 2)
#define TML_K_R_vec3     tml_vec3, TML_VEC(TML_F32, 3)
#define TML_K_R_vec4     tml_vec4, TML_VEC(TML_F32, 4)
#define TML_K_R_uvec2    tml_uvec2, TML_VEC(TML_U32, 2)
#define TML_K_R_uvec3    tml_uvec3, TML_VEC(TML_U32, 3)
#define TML_K_R_uvec4    tml_uvec4, TML_VEC(TML_U32, 4)

#define TML_K_FIRST(...)         TML_K_FIRST_(__VA_ARGS__, ~)
#define TML_K_FIRST_(a, ...)     a
#define TML_K_SECOND(...)        TML_K_SECOND_(__VA_ARGS__, ~)
#define TML_K_SECOND_(a, b, ...) b

#define TML_K_LOAD(k, param)         TML_K_LOAD_(k, TML_K_P_##param)
#define TML_K_LOAD_(k, ...)          TML_K_LOAD__(k, __VA_ARGS__)
#define TML_K_LOAD__(k, way, T, ...) way##_LOAD(k, T)
#define TML_K_ARRAY_LOAD(k, T)       (((const T *)tml_block->in[k])[tml_i])
#define TML_K_WORDS_LOAD(k, T)       ((T)tml_block->in[k])
#define TML_K_INDEX_LOAD(k, T)                                                                     \
    (tml_block->index ? tml_block->index[tml_i] : tml_block->first + (T)tml_i)
#define TML_K_RANK_LOAD(k, T)            (tml_block->rank[tml_i])
#define TML_K_PARAMS_LOAD(k, T)          (*tml_block->params)
#define TML_K_KIND(k, param)             TML_K_KIND_(TML_K_P_##param)
#define TML_K_KIND_(...)                 TML_K_KIND__(__VA_ARGS__)
#define TML_K_KIND__(way, T, type, name) type
/* Of output k: its member of the struct, its pointer, its store. */
#define TML_K_MEMBER(k, out)                 TML_K_MEMBER_(k, TML_K_P_##out)
#define TML_K_MEMBER_(k, ...)                TML_K_MEMBER__(k, __VA_ARGS__)
#define TML_K_MEMBER__(k, way, T, type, name) T name;
#define TML_K_OUT(k, out)                    TML_K_OUT_(k, TML_K_P_##out)
#define TML_K_OUT_(k, ...)                   TML_K_OUT__(k, __VA_ARGS__)
#define TML_K_OUT__(k, way, T, type, name)   T *tml_out##k = (T *)tml_block->outs[k];
#define TML_K_STORE(k, out)                  TML_K_STORE_(k, TML_K_P_##out)
#define TML_K_STORE_(k, ...)                 TML_K_STORE__(k, __VA_ARGS__)
#define TML_K_STORE__(k, way, T, type, name) tml_out##k[tml_i] = tml_all.name;

#define TML_K_COUNT(...)                       TML_K_COUNT_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define TML_K_COUNT_(a, b, c, d, e, f, n, ...) n
#define TML_K_STRIP(...)                 __VA_ARGS__
#define TML_K_CAT(a, b)                  TML_K_CAT_(a, b)
#define TML_K_CAT_(a, b)                 a##b
#define TML_K_EACH(do, params) \
    TML_K_CAT(TML_K_EACH_, TML_K_COUNT params)(do, TML_K_STRIP params)
/* The same for up to four, without commas between them. */
#define TML_K_JOIN(do, outs) \
    TML_K_CAT(TML_K_JOIN_, TML_K_COUNT outs)(do, TML_K_STRIP outs)
#define TML_K_JOIN_1(do, ...)            TML_K_JOIN_1_(do, __VA_ARGS__)
#define TML_K_JOIN_2(do, ...)            TML_K_JOIN_2_(do, __VA_ARGS__)
#define TML_K_JOIN_3(do, ...)            TML_K_JOIN_3_(do, __VA_ARGS__)
#define TML_K_JOIN_4(do, ...)            TML_K_JOIN_4_(do, __VA_ARGS__)
#define TML_K_JOIN_1_(do, a)             do(0, a)
#define TML_K_JOIN_2_(do, a, b)          do(0, a) do(1, b)
#define TML_K_JOIN_3_(do, a, b, c)       do(0, a) do(1, b) do(2, c)
#define TML_K_JOIN_4_(do, a, b, c, d)    do(0, a) do(1, b) do(2, c) do(3, d)
#define TML_K_EACH_1(do, ...)            TML_K_EACH_1_(do, __VA_ARGS__)
#define TML_K_EACH_2(do, ...)            TML_K_EACH_2_(do, __VA_ARGS__)
#define TML_K_EACH_3(do, ...)            TML_K_EACH_3_(do, __VA_ARGS__)
#define TML_K_EACH_4(do, ...)            TML_K_EACH_4_(do, __VA_ARGS__)
#define TML_K_EACH_5(do, ...)            TML_K_EACH_5_(do, __VA_ARGS__)
#define TML_K_EACH_6(do, ...)            TML_K_EACH_6_(do, __VA_ARGS__)
#define TML_K_EACH_1_(do, a)                do(0, a)
#define TML_K_EACH_2_(do, a, b)             do(0, a), do(1, b)
#define TML_K_EACH_3_(do, a, b, c)          do(0, a), do(1, b), do(2, c)
#define TML_K_EACH_4_(do, a, b, c, d)       do(0, a), do(1, b), do(2, c), do(3, d)
#define TML_K_EACH_5_(do, a, b, c, d, e)    do(0, a), do(1, b), do(2, c), do(3, d), do(4, e)
#define TML_K_EACH_6_(do, a, b, c, d, e, f) \
    do(0, a), do(1, b), do(2, c), do(3, d), do(4, e), do(5, f)
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
