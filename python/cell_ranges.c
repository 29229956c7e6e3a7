/* What scikit-image's marching cubes calls values: of each vertex the greatest difference of two
 * corners of a cell that it is on. */
#include <string.h>
#include <trommel/extend.h>
#include <trommel/trommel.h>
#if defined(__SSE__)
#    include <xmmintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { TASK_VERTICES = 1 << 14, BLOCK = 32 };

typedef struct ranges_job {
    tml_context *tml;
    const void *volume;
    size_t dims[3];         /* x fastest */
    const float *positions; /* z, y, x of each vertex, in samples */
    uint64_t count;
    float *values;
} ranges_job;

/* ---- vectors of four ------------------------------------------------------------------------- */

typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));

#if defined(__SSE__)
INLINE float4 less4(float4 a, float4 b)
{
    return _mm_min_ps(a, b);
}
INLINE float4 more4(float4 a, float4 b)
{
    return _mm_max_ps(a, b);
}
/* Bit i: lane i of a mask. */
INLINE int bits4(int4 mask)
{
    return _mm_movemask_ps((float4)mask);
}
#else
INLINE float4 choose4(int4 mask, float4 a, float4 b)
{
    return (float4)(((int4)a & mask) | ((int4)b & ~mask));
}
INLINE float4 less4(float4 a, float4 b)
{
    return choose4(a < b, a, b);
}
INLINE float4 more4(float4 a, float4 b)
{
    return choose4(a > b, a, b);
}
INLINE int bits4(int4 mask)
{
    return (mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8);
}
#endif

/* Lane i of lane i + 1. */
INLINE float4 next4(float4 v)
{
    return (float4){v[1], v[2], v[3], v[3]};
}

/* ---- ranges ---------------------------------------------------------------------------------- */

enum { AT_Z = 1, AT_Y = 2, AT_X = 4 };

/* The samples around a vertex: on an axis where it is at a sample three, else two. */
typedef struct neighbourhood {
    int4 first;  /* z, y, x; -1 at the border */
    int at;      /* AT_: is at a sample */
    bool inside; /* all are in the volume, and in its memory the four that are read of each row */
} neighbourhood;

INLINE neighbourhood around(const float *position, int4 dims)
{
    float4 at = {position[0], position[1],
                 position[2]}; /* faster than memcpy, whose two stores one load waits for */
    int4 first = __builtin_convertvector(at, int4);
    int4 is_at = __builtin_convertvector(first, float4) == at; /* -1 where it is */
    int4 next = first + 1;
    first += is_at;
    int inside = bits4((first >= 0) & (next < dims)) & 7;
    /* Past a row's end lies another row, but in the last layer. */
    int whole = bits4(first + (int4){3, 0, 3, 0} < dims) & (AT_Z | AT_X);
    return (neighbourhood){first, bits4(is_at), inside == 7 && whole};
}

/* The numbers of the first samples of 3 x 3 rows, clamped to the volume, and of four samples in
 * each: what that leaves of a cell outside is a face of one inside. */
static void find_clamped(const neighbourhood *n, const size_t dims[3], size_t rows[9],
                         size_t columns[4])
{
    size_t at[3][4];
    for (int axis = 0; axis < 3; axis++)
        for (int step = 0; step < 4; step++) {
            ptrdiff_t last = (ptrdiff_t)dims[axis] - 1, own = n->first[2 - axis] + step;
            at[axis][step] = (size_t)(own < 0 ? 0 : own < last ? own : last);
        }
    for (int k = 0; k < 9; k++)
        rows[k] = (at[2][k / 3] * dims[1] + at[1][k % 3]) * dims[0];
    memcpy(columns, at[0], sizeof at[0]);
}

/* For each type of samples T
 *   ranges_T    the greatest range of the cells between rows x layers x 4 samples: in lane 0 those
 *               between the first two samples of the rows, and so on
 *   range_T     of the cells around a vertex; corner: the first of its samples */
#define RANGES(NAME, T)                                                                            \
    typedef T NAME##x4 __attribute__((vector_size(4 * sizeof(T))));                                \
    INLINE float4 ranges_##NAME(const T *corner, size_t row, size_t layer, int rows, int layers)   \
    {                                                                                              \
        float4 low[3][2], high[3][2], most = {0};                                                  \
        for (int k = 0; k < layers; k++) {                                                         \
            float4 samples[3];                                                                     \
            for (int j = 0; j < rows; j++) {                                                       \
                NAME##x4 four;                                                                     \
                memcpy(&four, corner + (size_t)k * layer + (size_t)j * row, sizeof four);          \
                samples[j] = __builtin_convertvector(four, float4);                                \
            }                                                                                      \
            for (int j = 0; j + 1 < rows; j++) {                                                   \
                low[k][j] = less4(samples[j], samples[j + 1]);                                     \
                high[k][j] = more4(samples[j], samples[j + 1]);                                    \
            }                                                                                      \
        }                                                                                          \
        for (int k = 0; k + 1 < layers; k++)                                                       \
            for (int j = 0; j + 1 < rows; j++) {                                                   \
                float4 l = less4(low[k][j], low[k + 1][j]), h = more4(high[k][j], high[k + 1][j]); \
                most = more4(most, more4(h, next4(h)) - less4(l, next4(l)));                       \
            }                                                                                      \
        return most;                                                                               \
    }                                                                                              \
    INLINE float range_##NAME(const T *corner, size_t row, size_t layer, int at)                   \
    {                                                                                              \
        float4 most = at & AT_Y   ? at & AT_Z ? ranges_##NAME(corner, row, layer, 3, 3)            \
                                              : ranges_##NAME(corner, row, layer, 3, 2)            \
                        : at & AT_Z ? ranges_##NAME(corner, row, layer, 2, 3)                      \
                                  : ranges_##NAME(corner, row, layer, 2, 2);                       \
        return at & AT_X ? more4(most, next4(most))[0] : most[0];                                  \
    }
RANGES(own, float)

/* The task of type T of samples. A block's samples are fetched before the first is looked at. */
#define TASK(NAME, T)                                                                              \
    RANGES(NAME, T)                                                                                \
    static float border_##NAME(const T *volume, const size_t dims[3], const neighbourhood *n)      \
    {                                                                                              \
        size_t rows[9], columns[4];                                                                \
        float block[36];                                                                           \
        find_clamped(n, dims, rows, columns);                                                      \
        for (int k = 0; k < 9; k++)                                                                \
            for (int i = 0; i < 4; i++)                                                            \
                block[4 * k + i] = (float)volume[rows[k] + columns[i]];                            \
        return range_own(block, 4, 12, n->at);                                                     \
    }                                                                                              \
    INLINE void run_##NAME(const ranges_job *job, uint64_t first, uint64_t end)                    \
    {                                                                                              \
        const size_t row = job->dims[0], layer = row * job->dims[1];                               \
        const int4 dims = {(int)job->dims[2], (int)job->dims[1], (int)row};                        \
        const T *volume = job->volume, *corners[BLOCK];                                            \
        int at[BLOCK];                                                                             \
        for (; first < end; first += BLOCK) {                                                      \
            int count = (int)(end - first < BLOCK ? end - first : BLOCK);                          \
            float *values = job->values + first;                                                   \
            for (int i = 0; i < count; i++) {                                                      \
                neighbourhood n = around(job->positions + 3 * (first + (uint64_t)i), dims);        \
                at[i] = n.at;                                                                      \
                corners[i] = volume + (size_t)n.first[0] * layer + (size_t)n.first[1] * row +      \
                             (size_t)n.first[2];                                                   \
                if (!n.inside) {                                                                   \
                    values[i] = border_##NAME(volume, job->dims, &n);                              \
                    corners[i] = NULL;                                                             \
                    continue;                                                                      \
                }                                                                                  \
                __builtin_prefetch(corners[i] + (n.at & AT_Z ? 2 * layer : layer) +                \
                                   (n.at & AT_Y ? 2 * row : row));                                 \
            }                                                                                      \
            for (int i = 0; i < count; i++)                                                        \
                if (corners[i])                                                                    \
                    values[i] = range_##NAME(corners[i], row, layer, at[i]);                       \
        }                                                                                          \
    }                                                                                              \
    TASK_OF_SET(NAME, , )                                                                          \
    TASK_AVX2(NAME)
#define TASK_OF_SET(NAME, SUFFIX, TARGET)                                                          \
    TARGET static void task_##NAME##SUFFIX(void *argument, uint32_t index)                         \
    {                                                                                              \
        const ranges_job *job = argument;                                                          \
        if (tml_is_cancelled(job->tml))                                                            \
            return;                                                                                \
        uint64_t first = (uint64_t)index * TASK_VERTICES, end = first + TASK_VERTICES;             \
        run_##NAME(job, first, end < job->count ? end : job->count);                               \
    }
#if defined(__x86_64__)
#    define TASK_AVX2(NAME) TASK_OF_SET(NAME, _avx2, __attribute__((target("avx2"))))
#    define TASKS(NAME)                                                                            \
        {                                                                                          \
            task_##NAME, task_##NAME##_avx2                                                        \
        }
#else
#    define TASK_AVX2(NAME)
#    define TASKS(NAME)                                                                            \
        {                                                                                          \
            task_##NAME                                                                            \
        }
#endif

TASK(u8, uint8_t)
TASK(i8, int8_t)
TASK(u16, uint16_t)
TASK(i16, int16_t)
TASK(u32, uint32_t)
TASK(i32, int32_t)
TASK(u64, uint64_t)
TASK(i64, int64_t)
TASK(f32, float)
TASK(f64, double)

/* volume: dims[0] x dims[1] x dims[2] samples, x fastest; positions: count x 3, z y x in samples,
 * of points on the grid's edges or in its cells; values: count. */
TML_API tml_status tml_cell_ranges(tml_context *tml, const void *volume, tml_type type,
                                   const uint64_t dims[3], const float *positions, uint64_t count,
                                   float *values);
tml_status tml_cell_ranges(tml_context *tml, const void *volume, tml_type type,
                           const uint64_t dims[3], const float *positions, uint64_t count,
                           float *values)
{
    static void (*const tasks[TML_SCALAR_END][2])(void *, uint32_t) = {
        [TML_U8] = TASKS(u8),   [TML_I8] = TASKS(i8),   [TML_U16] = TASKS(u16),
        [TML_I16] = TASKS(i16), [TML_U32] = TASKS(u32), [TML_I32] = TASKS(i32),
        [TML_U64] = TASKS(u64), [TML_I64] = TASKS(i64), [TML_F32] = TASKS(f32),
        [TML_F64] = TASKS(f64)};
    ranges_job job = {.tml = tml,
                      .volume = volume,
                      .dims = {(size_t)dims[0], (size_t)dims[1], (size_t)dims[2]},
                      .positions = positions,
                      .count = count,
                      .values = values};
    bool has_avx2 = false;
#if defined(__x86_64__)
    has_avx2 = __builtin_cpu_supports("avx2");
#endif
    tml_parallel_for(tml, (uint32_t)((count + TASK_VERTICES - 1) / TASK_VERTICES),
                     tasks[type][has_avx2], &job);
    return tml_is_cancelled(tml) ? TML_ERROR_CANCELLED : TML_OK;
}
