/* The sort's loops for records of 4, 8 and 16 bytes. */
#include "cpu/cpu_sort_steps.h"

#include <string.h>

enum {
    LSD_DIGIT = 8, /* bits of a pass from the lowest digit on */
    LSD_BINS = 1 << LSD_DIGIT,
    INSERTION = 24, /* records that are inserted */
};

/* bits ones. */
#define MASK_OF(bits) ((bits) < 64 ? ((uint64_t)1 << (bits)) - 1 : UINT64_MAX)

/* Sorts SORT_GROUP rows in place. */
typedef void (*sort_group_fn)(uint32_t (*codes)[SORT_ROW], const uint32_t *fills);

/* Writes SORT_ROW records to out; those of the row come first. */
typedef void (*sort_write_fn)(const sort_rows *rows, size_t row, void *out);
/* A bit of each of 64 records. */
typedef uint64_t (*sort_word_fn)(const void *x, unsigned bit);
typedef size_t (*sort_halve_fn)(const unsigned char *x, size_t count, unsigned bit,
                                unsigned char **zeros, unsigned char **ones);

#include "cpu/cpu_sort_vectors.h"

#define RECORD  uint32_t
#define BITS(r) ((uint64_t)(r))
#define BARE    true
#define NAME(x) x##_4
#include "cpu/cpu_sort_records.h"

#define RECORD  uint64_t
#define BITS(r) (r)
#define BARE    false
#define NAME(x) x##_8
#include "cpu/cpu_sort_records.h"

#define RECORD  sort_pair
#define BITS(r) ((r).code)
#define BARE    false
#define NAME(x) x##_16
#include "cpu/cpu_sort_records.h"

#define LOOPS(bytes)                                                                               \
    SIMD_INSTANTIATE(uint64_t, differ_##bytes,                                                     \
                     (const void *records, size_t count, const void *base),                        \
                     return differ_##bytes(records, count, base))                                  \
    SIMD_INSTANTIATE(                                                                              \
        void, count_##bytes,                                                                       \
        (const void *records, size_t count, sort_digit digit, uint32_t(*tables)[SORT_BINS]),       \
        count_##bytes(records, count, digit, tables))                                              \
    SIMD_INSTANTIATE(                                                                              \
        void, scatter_##bytes,                                                                     \
        (const void *records, size_t count, sort_digit digit, sort_heads *heads, void *out),       \
        scatter_##bytes(records, count, digit, heads, out))

#define LEAF(bytes, level, target, network, write)                                                 \
    target static void leaf_##bytes##level(void *x, void *out, size_t count, unsigned low,         \
                                           unsigned high, bool is_whole, sort_rows *rows)          \
    {                                                                                              \
        leaf_##bytes(x, out, count, low, high, is_whole, network, write, rows);                    \
    }
#define SHORT_ONES(bytes, level, target, network)                                                  \
    target static void short_ones_##bytes##level(const void *x, void *out, const uint32_t *bounds, \
                                                 size_t count, unsigned low, unsigned high,        \
                                                 sort_rows *rows)                                  \
    {                                                                                              \
        short_ones_##bytes(x, out, bounds, count, low, high, network, rows);                       \
    }
#define HALVE(bytes, level, target, word, vectors)                                                 \
    target static size_t halve_##bytes##level(const void *x, size_t count, unsigned bit,           \
                                              void *zeros, void *ones)                             \
    {                                                                                              \
        return halve_##bytes(x, count, bit, word, vectors, zeros, ones);                           \
    }
LOOPS(4)
LOOPS(8)
LOOPS(16)
LEAF(4, _base, , NULL, NULL)
LEAF(8, _base, , NULL, NULL)
LEAF(16, _base, , NULL, NULL)
HALVE(4, _base, , word_4, NULL)
HALVE(8, _base, , word_8, NULL)
HALVE(16, _base, , word_16, NULL)
#if SIMD_X86
SHORT_ONES(4, _avx2, SIMD_TARGET_AVX2, sort_group_avx2)
LEAF(4, _avx2, SIMD_TARGET_AVX2, sort_group_avx2, write_row_4)
SHORT_ONES(8, _avx2, SIMD_TARGET_AVX2, sort_group_avx2)
LEAF(8, _avx2, SIMD_TARGET_AVX2, sort_group_avx2, write_row_8)
SHORT_ONES(16, _avx2, SIMD_TARGET_AVX2, sort_group_avx2)
LEAF(16, _avx2, SIMD_TARGET_AVX2, sort_group_avx2, write_row_16)
HALVE(4, _avx2, SIMD_TARGET_AVX2, word_4_avx2, NULL)
HALVE(8, _avx2, SIMD_TARGET_AVX2, word_8_avx2, NULL)
HALVE(16, _avx2, SIMD_TARGET_AVX2, word_16, NULL)
SHORT_ONES(4, _avx512, SIMD_TARGET_AVX512, sort_group_avx512)
LEAF(4, _avx512, SIMD_TARGET_AVX512, sort_group_avx512, write_row_4)
SHORT_ONES(8, _avx512, SIMD_TARGET_AVX512, sort_group_avx512)
LEAF(8, _avx512, SIMD_TARGET_AVX512, sort_group_avx512, write_row_8_avx512)
SHORT_ONES(16, _avx512, SIMD_TARGET_AVX512, sort_group_avx512)
LEAF(16, _avx512, SIMD_TARGET_AVX512, sort_group_avx512, write_row_16)
HALVE(4, _avx512, SIMD_TARGET_AVX512, word_4, halve_vectors_4)
HALVE(8, _avx512, SIMD_TARGET_AVX512, word_8, halve_vectors_8)
HALVE(16, _avx512, SIMD_TARGET_AVX512, word_16, NULL)
#endif

const sort_loops *cpu_sort_loops(size_t record_size)
{
#define TABLE(bytes, level, short_ones, has_rows)                                                  \
    {                                                                                              \
        differ_##bytes##level, count_##bytes##level, scatter_##bytes##level, flush_##bytes,        \
            halve_##bytes##level, leaf_##bytes##level, short_ones, has_rows                        \
    }
#if SIMD_X86
#    define LEVELS(bytes)                                                                          \
        {                                                                                          \
            TABLE(bytes, _base, NULL, false),                                                      \
                TABLE(bytes, _avx2, short_ones_##bytes##_avx2, true),                              \
                TABLE(bytes, _avx512, short_ones_##bytes##_avx512, true)                           \
        }
#else
#    define LEVELS(bytes)                                                                          \
        {                                                                                          \
            TABLE(bytes, _base, NULL, false), TABLE(bytes, _base, NULL, false),                    \
                TABLE(bytes, _base, NULL, false)                                                   \
        }
#endif
    static const sort_loops loops[][TML_SIMD_LEVELS] = {LEVELS(4), LEVELS(8), LEVELS(16)};
    return &loops[record_size / 8][tml_simd_level()];
}
