/* Benchmarked operations and the plain loops that check them. */
#include "bench_ops.h"

#include <math.h>
#include <string.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(bool, is_below, (uint x, tml_params p), { return x < p.u[0]; })
#include <trommel/kernel_end.h>

/* The types that the loops know. */
#define LOOP_TYPES(X)                                                                              \
    X(TML_U8, uint8_t)                                                                             \
    X(TML_I8, int8_t)                                                                              \
    X(TML_U16, uint16_t)                                                                           \
    X(TML_I16, int16_t)                                                                            \
    X(TML_U32, uint32_t)                                                                           \
    X(TML_U64, uint64_t)                                                                           \
    X(TML_F32, float)                                                                              \
    X(TML_F64, double)

static tml_status wrap(bench_op *op, tml_type out_type, uint64_t out_count)
{
    tml_status status;
    const tml_buffer_desc in = {.type = op->type, .count = op->count, .host = (void *)op->data};
    if ((status = tml_buffer_create(op->tml, &in, &op->in)))
        return status;
    if (out_count &&
        (status = tml_buffer_create(
             op->tml, &(tml_buffer_desc){.type = out_type, .count = out_count}, &op->out)))
        return status;
    return tml_buffer_create(op->tml, &(tml_buffer_desc){.type = TML_U64, .count = 1}, &op->total);
}

void bench_op_destroy(bench_op *op)
{
    tml_buffer_destroy(op->tml, op->in);
    tml_buffer_destroy(op->tml, op->out);
    tml_buffer_destroy(op->tml, op->total);
    *op = (bench_op){0};
}

static tml_status wrong(const bench_op *op, const char *what)
{
    return tml_error(op->tml, TML_INTERNAL, "%s differs from a plain loop's", what);
}

/* ---- compact -------------------------------------------------------------------------------- */

tml_status bench_compact_create(tml_context *tml, const uint32_t *data, uint64_t count,
                                uint32_t limit, bench_op *out)
{
    *out =
        (bench_op){.tml = tml, .type = TML_U32, .data = data, .count = count, .keep_below = limit};
    return wrap(out, TML_U32, count);
}

static tml_status compact(const bench_op *op)
{
    return tml_compact(op->tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_below),
                                                             .params.u = {op->keep_below}},
                                                    .payloads = {{.in = op->in, .out = op->out}},
                                                    .count = op->total});
}

bool bench_compact_run(void *op)
{
    return compact(op) == TML_OK;
}

tml_status bench_compact_check(bench_op *op)
{
    const uint32_t *in = op->data;
    void *out;
    uint64_t kept = 0, total;
    tml_status status;
    if ((status = compact(op)) || (status = tml_read_count(op->tml, op->total, &total)) ||
        (status = tml_map(op->tml, op->out, &out)))
        return status;
    bool is_equal = true;
    for (uint64_t i = 0; i < op->count; i++)
        if (in[i] < op->keep_below)
            is_equal &= ((uint32_t *)out)[kept++] == in[i];
    tml_unmap(op->tml, op->out);
    op->result_count = kept;
    op->bytes = (op->count + kept) * sizeof *in;
    return is_equal && kept == total ? TML_OK : wrong(op, "the compacted stream");
}

/* ---- scan ----------------------------------------------------------------------------------- */

tml_status bench_scan_create(tml_context *tml, tml_type type, const void *data, uint64_t count,
                             bench_op *out)
{
    *out = (bench_op){.tml = tml, .type = type, .data = data, .count = count};
    out->bytes = 2 * count * tml_type_size(type);
    return wrap(out, type, count);
}

static tml_status scan(const bench_op *op)
{
    return tml_scan(op->tml, &(tml_scan_desc){.in = op->in, .out = op->out});
}

bool bench_scan_run(void *op)
{
    return scan(op) == TML_OK;
}

/* Integers exactly; floats, against sums in double, to a few roundings of the largest sum so far. */
#define DEFINE_SCAN_CHECK(T)                                                                       \
    static bool scan_is_right_##T(const T *in, const T *out, uint64_t count)                       \
    {                                                                                              \
        T sum = 0;                                                                                 \
        double real = 0, largest = 0;                                                              \
        bool is_right = true, is_real = (T)0.5 != 0;                                               \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            is_right &= is_real ? fabs((double)out[i] - real) <= 1e-6 * largest : out[i] == sum;   \
            sum = (T)(sum + in[i]);                                                                \
            real += (double)in[i];                                                                 \
            largest = fmax(largest, fabs(real));                                                   \
        }                                                                                          \
        return is_right;                                                                           \
    }
DEFINE_SCAN_CHECK(uint32_t)
DEFINE_SCAN_CHECK(uint64_t)
DEFINE_SCAN_CHECK(float)
DEFINE_SCAN_CHECK(double)

tml_status bench_scan_check(bench_op *op)
{
    void *out;
    tml_status status;
    if ((status = scan(op)) || (status = tml_map(op->tml, op->out, &out)))
        return status;
    bool is_right = op->type == TML_U32   ? scan_is_right_uint32_t(op->data, out, op->count)
                    : op->type == TML_U64 ? scan_is_right_uint64_t(op->data, out, op->count)
                    : op->type == TML_F32 ? scan_is_right_float(op->data, out, op->count)
                                          : scan_is_right_double(op->data, out, op->count);
    tml_unmap(op->tml, op->out);
    return is_right ? TML_OK : wrong(op, "the scan");
}

/* ---- reduce --------------------------------------------------------------------------------- */

tml_status bench_reduce_create(tml_context *tml, tml_type type, const void *data, uint64_t count,
                               bench_op *out)
{
    *out = (bench_op){.tml = tml, .type = type, .data = data, .count = count};
    out->bytes = count * tml_type_size(type);
    return wrap(out, tml_type_is_float(type) ? TML_F64 : TML_U64, 1);
}

static tml_status reduce(const bench_op *op)
{
    return tml_reduce(op->tml, &(tml_reduce_desc){.fold = TML_SUM, .in = op->in, .out = op->out});
}

bool bench_reduce_run(void *op)
{
    return reduce(op) == TML_OK;
}

tml_status bench_reduce_check(bench_op *op)
{
    union {
        uint64_t whole;
        double real;
    } sum;
    uint64_t whole = 0;
    long double real = 0;
    tml_status status;
    if ((status = reduce(op)) || (status = tml_read(op->tml, op->out, &sum)))
        return status;
    switch (op->type) {
#define SUM_LOOP(type, T)                                                                          \
    case type:                                                                                     \
        for (uint64_t i = 0; i < op->count; i++) {                                                 \
            whole += (uint64_t)((const T *)op->data)[i];                                           \
            real += ((const T *)op->data)[i];                                                      \
        }                                                                                          \
        break;
        LOOP_TYPES(SUM_LOOP)
#undef SUM_LOOP
    default:
        break;
    }
    bool is_right = tml_type_is_float(op->type) ? fabsl(sum.real - real) <= 1e-12L * fabsl(real)
                                                : sum.whole == whole;
    return is_right ? TML_OK : wrong(op, "the sum");
}

/* ---- surface -------------------------------------------------------------------------------- */

tml_status bench_surface_create(tml_context *tml, tml_type type, const void *data,
                                const tml_grid *grid, double iso, bench_op *out)
{
    *out = (bench_op){.tml = tml, .type = type, .data = data, .grid = *grid, .iso = iso};
    out->count = grid->dims[0] * grid->dims[1] * grid->dims[2];
    return wrap(out, TML_TYPE_NONE, 0);
}

static tml_status surface(const bench_op *op, tml_surface_result *result)
{
    return tml_surface(
        op->tml, &(tml_surface_desc){.volume = op->in, .grid = op->grid, .iso = op->iso}, result);
}

bool bench_surface_run(void *op)
{
    tml_surface_result result;
    if (surface(op, &result))
        return false;
    tml_surface_free(((bench_op *)op)->tml, &result);
    return true;
}

/* Every grid edge between an inside and an outside sample carries one vertex. */
static uint64_t count_crossings(const bench_op *op)
{
    const uint64_t nx = op->grid.dims[0], ny = op->grid.dims[1], nz = op->grid.dims[2];
    uint64_t crossings = 0;
    switch (op->type) {
#define CROSSING_LOOP(type, T)                                                                     \
    case type: {                                                                                   \
        const T *v = op->data;                                                                     \
        for (uint64_t z = 0; z < nz; z++)                                                          \
            for (uint64_t y = 0; y < ny; y++)                                                      \
                for (uint64_t x = 0; x < nx; x++) {                                                \
                    uint64_t i = (z * ny + y) * nx + x;                                            \
                    bool inside = (double)v[i] >= op->iso;                                         \
                    crossings += x + 1 < nx && ((double)v[i + 1] >= op->iso) != inside;            \
                    crossings += y + 1 < ny && ((double)v[i + nx] >= op->iso) != inside;           \
                    crossings += z + 1 < nz && ((double)v[i + nx * ny] >= op->iso) != inside;      \
                }                                                                                  \
        break;                                                                                     \
    }
        LOOP_TYPES(CROSSING_LOOP)
#undef CROSSING_LOOP
    default:
        break;
    }
    return crossings;
}

tml_status bench_surface_check(bench_op *op)
{
    tml_surface_result result;
    tml_status status = surface(op, &result);
    if (status)
        return status;
    op->vertex_count = result.vertex_count;
    op->result_count = result.triangle_count;
    op->bytes = op->count * tml_type_size(op->type) + 12 * (op->vertex_count + op->result_count);
    tml_surface_free(op->tml, &result);
    return op->vertex_count == count_crossings(op) ? TML_OK : wrong(op, "the number of vertices");
}
