/* What scikit-image's marching cubes calls values: of each vertex the greatest difference of two corners of a cell
 * that it is on. */
#include <string.h>
#include <trommel/trommel.h>

#if defined(__x86_64__) && defined(__GNUC__)
#    define HAS_AVX2       1
#    define FOR_AVX2       __attribute__((target("avx2")))
#    define RUNS_WITH_AVX2 __builtin_cpu_supports("avx2")
#else
#    define HAS_AVX2       0
#    define RUNS_WITH_AVX2 0
#endif
#if defined(__GNUC__)
#    define INLINE static inline __attribute__((always_inline))
#else
#    define INLINE static inline
#endif

enum { TASK_LAYERS = 16 };

typedef struct ranges_job {
    const void *volume;
    tml_type type;
    size_t dims[3];         /* x fastest */
    const float *positions; /* z, y, x of each vertex, in samples */
    uint64_t count;
    float *values;
    float *layers; /* of cells, for each task: two, and two rows */
} ranges_job;

INLINE float less(float a, float b)
{
    return a < b ? a : b;
}
INLINE float more(float a, float b)
{
    return a > b ? a : b;
}

/* The ranges of a row of cells. at: its first sample; low, high: room for a row of samples. */
#define ROW(TYPE)                                                                                  \
    {                                                                                              \
        const TYPE *a = (const TYPE *)volume + at, *b = a + row, *c = a + layer, *d = b + layer;   \
        for (size_t i = 0; i < row; i++) {                                                         \
            float p = (float)a[i], q = (float)b[i], r = (float)c[i], s = (float)d[i];              \
            low[i] = less(less(p, q), less(r, s));                                                 \
            high[i] = more(more(p, q), more(r, s));                                                \
        }                                                                                          \
    }                                                                                              \
    break

INLINE void range_row(tml_type type, const void *volume, size_t at, size_t row, size_t layer,
                      float *restrict low, float *restrict high, float *restrict out)
{
    switch (type) {
    case TML_U8:
        ROW(uint8_t);
    case TML_I8:
        ROW(int8_t);
    case TML_U16:
        ROW(uint16_t);
    case TML_I16:
        ROW(int16_t);
    case TML_U32:
        ROW(uint32_t);
    case TML_I32:
        ROW(int32_t);
    case TML_U64:
        ROW(uint64_t);
    case TML_I64:
        ROW(int64_t);
    case TML_F64:
        ROW(double);
    default:
        ROW(float);
    }
    for (size_t i = 0; i + 1 < row; i++)
        out[i] = more(high[i], high[i + 1]) - less(low[i], low[i + 1]);
}

static void range_row_base(tml_type type, const void *volume, size_t at, size_t row, size_t layer,
                           float *low, float *high, float *out)
{
    range_row(type, volume, at, row, layer, low, high, out);
}
#if HAS_AVX2
FOR_AVX2 static void range_row_avx2(tml_type type, const void *volume, size_t at, size_t row,
                                    size_t layer, float *low, float *high, float *out)
{
    range_row(type, volume, at, row, layer, low, high, out);
}
#endif

/* The ranges of layer z of cells; of one that is outside, zeros. */
static void range_layer(const ranges_job *job, size_t z, float *rows, float *out)
{
    const size_t row = job->dims[0], layer = row * job->dims[1];
    void (*range)(tml_type, const void *, size_t, size_t, size_t, float *, float *, float *) =
        range_row_base;
#if HAS_AVX2
    if (RUNS_WITH_AVX2)
        range = range_row_avx2;
#endif
    if (z >= job->dims[2] - 1) /* also below layer 0, where z wraps */
        memset(out, 0, layer * sizeof *out);
    else
        for (size_t y = 0; y + 1 < job->dims[1]; y++)
            range(job->type, job->volume, z * layer + y * row, row, layer, rows, rows + row,
                  out + y * row);
}

/* The first vertex from which on none is below layer z. Vertices are in the order of the layers that their edges
 * begin in, but the end of such an edge, which a vertex may be at, is in the next layer. */
static uint64_t first_of(const ranges_job *job, size_t z)
{
    const float *at = job->positions;
    uint64_t low = 0, high = job->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (at[3 * middle] < (float)z)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < job->count && at[3 * high] <= (float)z; high++)
        if (at[3 * high] < (float)z)
            low = high + 1;
    return low;
}

/* The greatest range of the cells around a vertex between layers of cells: on a grid edge four, at a sample
 * eight. */
static float around(const ranges_job *job, const float at[3], const float *below,
                    const float *above)
{
    const size_t row = job->dims[0], y = (size_t)at[1], x = (size_t)at[2];
    bool on_y = (float)y == at[1], on_x = (float)x == at[2];
    float most = 0;
    for (size_t j = on_y && y > 0 ? y - 1 : y; j <= y && j + 1 < job->dims[1]; j++)
        for (size_t i = on_x && x > 0 ? x - 1 : x; i <= x && i + 1 < row; i++)
            most = more(most, more(below[j * row + i], above[j * row + i]));
    return most;
}

static void ranges_task(void *argument, uint32_t index)
{
    const ranges_job *job = argument;
    const size_t layer = job->dims[0] * job->dims[1], z = (size_t)index * TASK_LAYERS;
    float *below = job->layers + index * (2 * layer + 2 * job->dims[0]), *above = below + layer;
    float *rows = above + layer;
    uint64_t vertex = first_of(job, z);
    if (vertex == first_of(job, z + TASK_LAYERS))
        return;
    range_layer(job, z - 1, rows, above);
    for (size_t layer_at = z; layer_at < z + TASK_LAYERS; layer_at++) {
        float *swap = below;
        below = above;
        above = swap;
        range_layer(job, layer_at, rows, above);
        for (uint64_t end = first_of(job, layer_at + 1); vertex < end; vertex++) {
            const float *position = job->positions + 3 * vertex;
            bool is_between = position[0] != (float)layer_at;
            job->values[vertex] = around(job, position, is_between ? above : below, above);
        }
    }
}

/* volume: dims[0] x dims[1] x dims[2] samples, x fastest; positions: count x 3, z y x in samples, in the order that
 * tml_surface gives them; values: count. False where memory is short. */
TML_API bool trommel_cell_ranges(tml_context *tml, const void *volume, tml_type type,
                                 const uint64_t dims[3], const float *positions, uint64_t count,
                                 float *values);
bool trommel_cell_ranges(tml_context *tml, const void *volume, tml_type type,
                         const uint64_t dims[3], const float *positions, uint64_t count,
                         float *values)
{
    ranges_job job = {.volume = volume,
                      .type = type,
                      .dims = {(size_t)dims[0], (size_t)dims[1], (size_t)dims[2]},
                      .positions = positions,
                      .count = count,
                      .values = values};
    uint32_t tasks = (uint32_t)((dims[2] + TASK_LAYERS - 1) / TASK_LAYERS);
    size_t room = (2 * job.dims[0] * job.dims[1] + 2 * job.dims[0]) * sizeof(float);
    job.layers = tml_alloc_array(tml, tasks, room);
    if (!job.layers)
        return false;
    tml_parallel_for(tml, tasks, ranges_task, &job);
    tml_free(tml, job.layers, tasks * room);
    return true;
}
