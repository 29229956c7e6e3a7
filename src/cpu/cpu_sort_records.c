/* The sort's loops for records of 4, 8 and 16 bytes. */
#include "cpu/cpu_sort.h"

#define RECORD  uint32_t
#define BITS(r) ((uint64_t)(r))
#define NAME(x) x##_4
#include "cpu/cpu_sort_records.h"

#define RECORD  uint64_t
#define BITS(r) (r)
#define NAME(x) x##_8
#include "cpu/cpu_sort_records.h"

#define RECORD  sort_pair
#define BITS(r) ((r).code)
#define NAME(x) x##_16
#include "cpu/cpu_sort_records.h"

#define LOOPS(bytes)                                                                               \
    CPU_INSTANTIATE(void, count_##bytes,                                                           \
                    (const void *records, size_t count, sort_digit digit, uint64_t *counts),       \
                    count_##bytes(records, count, digit, counts))                                  \
    CPU_INSTANTIATE(void, scatter_##bytes,                                                         \
                    (const void *records, size_t count, sort_digit digit, sort_heads *heads,       \
                     void *out, bool stream),                                                      \
                    scatter_##bytes(records, count, digit, heads, out, stream))                    \
    CPU_INSTANTIATE(void *, sort_##bytes,                                                          \
                    (void *x, void *y, size_t count, unsigned low, unsigned high),                 \
                    return sort_##bytes(x, y, count, low, high))

LOOPS(4)
LOOPS(8)
LOOPS(16)

const sort_loops *cpu_sort_loops(size_t record_size)
{
#define TABLE(bytes, level)                                                                        \
    {                                                                                              \
        count_##bytes##level, scatter_##bytes##level, flush_##bytes, sort_##bytes##level           \
    }
#if CPU_X86
#    define LEVELS(bytes)                                                                          \
        {                                                                                          \
            TABLE(bytes, _base), TABLE(bytes, _avx2), TABLE(bytes, _avx512)                        \
        }
#else
#    define LEVELS(bytes)                                                                          \
        {                                                                                          \
            TABLE(bytes, _base), TABLE(bytes, _base), TABLE(bytes, _base)                          \
        }
#endif
    static const sort_loops loops[][TML_SIMD_LEVELS] = {LEVELS(4), LEVELS(8), LEVELS(16)};
    return &loops[record_size / 8][tml_simd_level()];
}
