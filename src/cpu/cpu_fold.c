/* Folds of one block: sums, extremes, and the index of a value, for each scalar type and SIMD
 * level.
 *
 * Element i goes to lane i mod LANES, and a fixed tree joins the lanes. Compilers can vectorise
 * that order without reassociating float additions, and every level gives the same bits. */
#include "cpu/cpu_internal.h"

#include <math.h>
#include <string.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

enum {
    LANES = 32,         /* enough independent additions to hide their latency at AVX-512 */
    PREFETCH = 2 << 10, /* bytes ahead: hardware prefetchers stop at the end of each page */
};

/* Accumulates in lanes by UPDATE(lane, value), and joins the lanes by JOIN. The lanes have type A
 * and initially the value start. */
#define FOLD_LANES(T, A, start, LOAD, UPDATE, JOIN)                                                \
    const T *x = in;                                                                               \
    A lane[LANES];                                                                                 \
    size_t i = 0;                                                                                  \
    for (size_t l = 0; l < LANES; l++)                                                             \
        lane[l] = start;                                                                           \
    for (; i + LANES <= count; i += LANES) {                                                       \
        for (size_t ahead = 0; ahead < sizeof(T[LANES]); ahead += 64)                              \
            __builtin_prefetch((const char *)(x + i) + PREFETCH + ahead);                          \
        for (size_t l = 0; l < LANES; l++)                                                         \
            lane[l] = UPDATE(lane[l], LOAD(x[i + l]));                                             \
    }                                                                                              \
    for (size_t l = 0; i + l < count; l++)                                                         \
        lane[l] = UPDATE(lane[l], LOAD(x[i + l]));                                                 \
    for (size_t width = LANES / 2; width > 0; width /= 2)                                          \
        for (size_t l = 0; l < width; l++)                                                         \
    lane[l] = JOIN(lane[l], lane[l + width])

#define ADD(a, b)      ((a) + (b))
#define SMALLER(a, b)  ((b) < (a) ? (b) : (a)) /* keeps a if b is NaN */
#define LARGER(a, b)   ((b) > (a) ? (b) : (a))
#define AS_IS(x)       (x)
#define TO_DOUBLE(x)   ((double)(x))
#define HALF(x)        half_to_float(x)
#define HALF_DOUBLE(x) ((double)half_to_float(x))

typedef cpu_number (*fold_fn)(const void *in, size_t count);
typedef struct fold_row {
    fold_fn sum[TML_SIMD_LEVELS], real[TML_SIMD_LEVELS], min[TML_SIMD_LEVELS], max[TML_SIMD_LEVELS];
    size_t (*find)(const void *in, size_t size, size_t count, cpu_number value);
    void (*limit)(void *out, bool is_largest);
} fold_row;

/* The index of the first element equal to value, or count. */
#define FIND(name, T, member, LOAD)                                                                \
    static size_t find_##name(const void *in, size_t size, size_t count, cpu_number value)         \
    {                                                                                              \
        const T *x = in;                                                                           \
        size_t i = 0, step = size / sizeof(T);                                                     \
        while (i < count && !(LOAD(x[i * step]) == value.member))                                  \
            i++;                                                                                   \
        return i;                                                                                  \
    }

#define LEVELS(fold, name)                                                                         \
    SIMD_INSTANTIATE(cpu_number, fold##_##name, (const void *in, size_t count),                    \
                     return fold##_##name(in, count))

/* MEAN divides a sum of doubles for every type, since a sum of 64-bit integers may overflow. */
#define REAL_SUM(fold, name, T, LOAD)                                                              \
    ALWAYS_INLINE cpu_number fold##_##name(const void *in, size_t count)                           \
    {                                                                                              \
        FOLD_LANES(T, double, 0.0, LOAD, ADD, ADD);                                                \
        return (cpu_number){.f = lane[0]};                                                         \
    }                                                                                              \
    LEVELS(fold, name)

/* Results for no elements: MIN gives the type's largest value, MAX its smallest. */
#define LIMIT(name, T, lowest, highest)                                                            \
    static void limit_##name(void *out, bool is_largest)                                           \
    {                                                                                              \
        *(T *)out = is_largest ? (T)(highest) : (T)(lowest);                                       \
    }

/* mean: the fold whose sum MEAN divides. */
#define FOLD_ROW(name, mean)                                                                       \
    static const fold_row row_##name = {SIMD_EACH_LEVEL(sum_##name),                               \
                                        SIMD_EACH_LEVEL(mean##_##name),                            \
                                        SIMD_EACH_LEVEL(min_##name),                               \
                                        SIMD_EACH_LEVEL(max_##name),                               \
                                        find_##name,                                               \
                                        limit_##name};

/* Partial: a type that can hold the sum of CPU_FOLD_BLOCK elements (64-bit sums wrap). member: of
 * cpu_number, u or i. */
#define INTEGER_FOLDS(name, T, Partial, member, lowest, highest)                                   \
    ALWAYS_INLINE cpu_number sum_##name(const void *in, size_t count)                              \
    {                                                                                              \
        FOLD_LANES(T, Partial, 0, (Partial), ADD, ADD);                                            \
        return (cpu_number){.member = lane[0]};                                                    \
    }                                                                                              \
    ALWAYS_INLINE cpu_number min_##name(const void *in, size_t count)                              \
    {                                                                                              \
        FOLD_LANES(T, T, highest, AS_IS, SMALLER, SMALLER);                                        \
        return (cpu_number){.member = lane[0]};                                                    \
    }                                                                                              \
    ALWAYS_INLINE cpu_number max_##name(const void *in, size_t count)                              \
    {                                                                                              \
        FOLD_LANES(T, T, lowest, AS_IS, LARGER, LARGER);                                           \
        return (cpu_number){.member = lane[0]};                                                    \
    }                                                                                              \
    LEVELS(sum, name)                                                                              \
    LEVELS(min, name)                                                                              \
    LEVELS(max, name)                                                                              \
    REAL_SUM(real, name, T, TO_DOUBLE)                                                             \
    LIMIT(name, T, lowest, highest)                                                                \
    FIND(name, T, member, AS_IS)                                                                   \
    FOLD_ROW(name, real)

#define REAL_FOLDS(name, T, A, LOAD, LOAD_DOUBLE, lowest, highest)                                 \
    REAL_SUM(sum, name, T, LOAD_DOUBLE)                                                            \
    ALWAYS_INLINE cpu_number min_##name(const void *in, size_t count)                              \
    {                                                                                              \
        FOLD_LANES(T, A, (A)INFINITY, LOAD, SMALLER, SMALLER);                                     \
        return (cpu_number){.f = lane[0]};                                                         \
    }                                                                                              \
    ALWAYS_INLINE cpu_number max_##name(const void *in, size_t count)                              \
    {                                                                                              \
        FOLD_LANES(T, A, (A)-INFINITY, LOAD, LARGER, LARGER);                                      \
        return (cpu_number){.f = lane[0]};                                                         \
    }                                                                                              \
    LEVELS(min, name)                                                                              \
    LEVELS(max, name)                                                                              \
    LIMIT(name, T, lowest, highest)                                                                \
    FIND(name, T, f, LOAD_DOUBLE)                                                                  \
    FOLD_ROW(name, sum)

INTEGER_FOLDS(U8, uint8_t, uint32_t, u, 0, UINT8_MAX)
INTEGER_FOLDS(I8, int8_t, int32_t, i, INT8_MIN, INT8_MAX)
INTEGER_FOLDS(U16, uint16_t, uint32_t, u, 0, UINT16_MAX)
INTEGER_FOLDS(I16, int16_t, int32_t, i, INT16_MIN, INT16_MAX)
INTEGER_FOLDS(U32, uint32_t, uint64_t, u, 0, UINT32_MAX)
INTEGER_FOLDS(I32, int32_t, int64_t, i, INT32_MIN, INT32_MAX)
INTEGER_FOLDS(U64, uint64_t, uint64_t, u, 0, UINT64_MAX)
INTEGER_FOLDS(I64, int64_t, uint64_t, i, INT64_MIN, INT64_MAX)
REAL_FOLDS(F16, uint16_t, float, HALF, HALF_DOUBLE, 0xfc00, 0x7c00)
REAL_FOLDS(F32, float, float, AS_IS, TO_DOUBLE, -INFINITY, INFINITY)
REAL_FOLDS(F64, double, double, AS_IS, AS_IS, -INFINITY, INFINITY)

/* ---- tables --------------------------------------------------------------------------------- */

static const fold_row *const rows[TML_SCALAR_END] = {
#define ROW(name, size, ctype) [TML_##name] = &row_##name,
    TML_SCALAR_LIST(ROW)
#undef ROW
};

/* ---- a fold over blocks --------------------------------------------------------------------- */

static bool is_sum(const cpu_fold *fold)
{
    return fold->kind == TML_FOLD_SUM || fold->kind == TML_FOLD_MEAN;
}

static bool is_real(const cpu_fold *fold)
{
    return fold->kind == TML_FOLD_MEAN || tml_type_is_float(fold->type);
}

void cpu_fold_bind(const tml_context *tml, tml_fold kind, tml_buffer in, uint32_t component,
                   cpu_fold *out)
{
    const tml_slot *slot = tml_slot_of(tml, in);
    tml_type type = tml_type_scalar(slot->type);
    const fold_row *row = rows[type];
    const fold_fn *levels = kind == TML_FOLD_SUM                              ? row->sum
                            : kind == TML_FOLD_MEAN                           ? row->real
                            : kind == TML_FOLD_MIN || kind == TML_FOLD_ARGMIN ? row->min
                                                                              : row->max;
    const unsigned char *in_memory = slot->memory;
    *out = (cpu_fold){.kind = kind,
                      .type = type,
                      .in = in_memory ? in_memory + component * tml_type_size(type) : NULL,
                      .size = slot->element_size,
                      .find = row->find,
                      .block = levels[tml_simd_level()]};
}

cpu_number cpu_fold_block(const cpu_fold *fold, uint64_t first, size_t count)
{
    return fold->block(fold->in + first * fold->size, count);
}

/* Is a strictly less than b, or for MAX and ARGMAX greater? */
static bool better(const cpu_fold *fold, cpu_number a, cpu_number b)
{
    if (fold->kind == TML_FOLD_MAX || fold->kind == TML_FOLD_ARGMAX) {
        cpu_number swap = a;
        a = b;
        b = swap;
    }
    if (is_real(fold))
        return a.f < b.f;
    return tml_type_is_signed(fold->type) ? a.i < b.i : a.u < b.u;
}

void cpu_fold_join(const cpu_fold *fold, cpu_total *total, uint64_t first, cpu_number value)
{
    if (is_sum(fold) && is_real(fold)) {
        total->value.f += value.f;
    } else if (is_sum(fold)) {
        total->value.u += value.u;
    } else if (!total->started || better(fold, value, total->value)) {
        total->value = value;
        total->first = first;
    }
    total->started = true;
}

static void store_real(void *out, tml_type type, double value)
{
    if (type == TML_F32)
        *(float *)out = (float)value;
    else
        *(double *)out = value;
}

static void store_index(void *out, tml_type type, uint64_t value)
{
    if (type == TML_U32)
        *(uint32_t *)out = (uint32_t)value;
    else
        *(uint64_t *)out = value;
}

void cpu_fold_store(const cpu_fold *fold, const cpu_total *total, uint64_t first, uint64_t end,
                    void *out, tml_type out_type)
{
    if (fold->kind == TML_FOLD_MEAN) {
        store_real(out, out_type, end > first ? total->value.f / (double)(end - first) : NAN);
    } else if (fold->kind == TML_FOLD_SUM && is_real(fold)) {
        store_real(out, out_type, total->value.f);
    } else if (fold->kind == TML_FOLD_SUM) {
        *(uint64_t *)out = total->value.u; /* u64 or i64 */
    } else {
        /* The index of the extreme, in the first block that reported it. A block of NaNs reports
         * the fold's identity, infinity, which may be an element of a later block or of none. */
        uint64_t at = end;
        if (end > first)
            at = total->first + fold->find(fold->in + total->first * fold->size, fold->size,
                                           (size_t)(end - total->first), total->value);
        if (fold->kind == TML_FOLD_ARGMIN || fold->kind == TML_FOLD_ARGMAX)
            store_index(out, out_type, at < end ? at : UINT64_MAX);
        else if (end == first)
            rows[fold->type]->limit(out, fold->kind == TML_FOLD_MIN);
        else /* all NaN: the first */
            memcpy(out, fold->in + (at < end ? at : first) * fold->size, tml_type_size(fold->type));
    }
}

void cpu_fold_range(const cpu_fold *fold, uint64_t first, uint64_t end, void *out,
                    tml_type out_type)
{
    cpu_total total = {0};
    for (uint64_t at = first; at < end; at += CPU_FOLD_BLOCK)
        cpu_fold_join(fold, &total, at,
                      cpu_fold_block(fold, at, (size_t)TML_MIN_OF(end - at, CPU_FOLD_BLOCK)));
    cpu_fold_store(fold, &total, first, end, out, out_type);
}
