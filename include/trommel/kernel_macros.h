/* What the macros of kernel.h are made of; no caller needs these. kernel.h includes this file.
 *
 * A kernel becomes a C function, a loop over a block (TML_K_LOOP) and a tml_kernel (TML_K_DEFINE).
 * The loop loads each parameter by its kind (TML_K_LOAD). */
#ifndef TROMMEL_KERNEL_MACROS_H
#define TROMMEL_KERNEL_MACROS_H

/* clang-format off */
/* The preprocessor's run for trommel_add_kernels, which reads the kernels of a source. */
#ifdef TML_KERNEL_EXTRACT
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
#endif

#define TML_K_DEFINE(library, T, type, name, params, string, text, ...)                            \
    static inline T name params __VA_ARGS__                                                        \
    TML_K_RUN(name, T *tml_out = (T *)tml_block->out;,                                             \
                   tml_out[tml_i] = name(TML_K_EACH(TML_K_LOAD, params));)                         \
    static const tml_kernel name##_kernel = {string, text, type, TML_K_COUNT params,               \
                                             {TML_K_EACH(TML_K_KIND, params)}, name##_run, library,\
                                             0, {0}};
#define TML_K_DEFINE_OUTS(library, outs, name, params, string, text, ...)                          \
    typedef struct name##_out {                                                                    \
        TML_K_JOIN(TML_K_MEMBER, outs)                                                             \
    } name##_out;                                                                                  \
    static inline name##_out name params __VA_ARGS__                                               \
    TML_K_RUN(name, TML_K_JOIN(TML_K_OUT, outs),                                                   \
                   name##_out tml_all = name(TML_K_EACH(TML_K_LOAD, params));                      \
                   TML_K_JOIN(TML_K_STORE, outs))                                                  \
    static const tml_kernel name##_kernel = {string, text, TML_TYPE_NONE, TML_K_COUNT params,      \
                                             {TML_K_EACH(TML_K_KIND, params)}, name##_run, library,\
                                             TML_K_COUNT outs, {TML_K_EACH(TML_K_KIND, outs)}};

/* The loop over a block, and its choice of instructions: AVX2 where the block allows it, since
 * what compilers take for granted makes simple kernels up to four times slower than the memory.
 * Without fused multiply-add, so that both forms give the same bits. */
#define TML_K_LOOP(storage, run, pointers, each)                                                   \
    storage void run(const tml_kernel_block *tml_block)                                            \
    {                                                                                              \
        pointers                                                                                   \
        for (size_t tml_i = 0; tml_i < tml_block->count; tml_i++) {                                \
            each                                                                                   \
        }                                                                                          \
    }
#if defined(__x86_64__) && defined(__GNUC__)
#define TML_K_RUN(name, pointers, each)                                                            \
    TML_K_LOOP(static, name##_run_plain, pointers, each)                                           \
    TML_K_LOOP(__attribute__((target("avx2"))) static, name##_run_avx2, pointers, each)            \
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

/* Pasting TML_K_P_ onto "float x" gives "way, C type, element type, x": that is how a macro learns
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
#define TML_K_EACH(do, params)                                                                     \
    TML_K_CAT(TML_K_EACH_, TML_K_COUNT params)(do, TML_K_STRIP params)
/* The same for up to four, without commas between them. */
#define TML_K_JOIN(do, outs)                                                                       \
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
#define TML_K_EACH_6_(do, a, b, c, d, e, f)                                                        \
    do(0, a), do(1, b), do(2, c), do(3, d), do(4, e), do(5, f)
/* clang-format on */

#endif
