/* Scan on the CPU. A worker scans a tile from zero into its staging memory, obtains the tile's
 * exclusive prefix, and adds the prefix while it writes the tile out.
 *
 *   LOOK_BACK         one pass: the prefix comes from decoupled look-back.
 *   REDUCE_THEN_SCAN  two passes: the tiles' aggregates; a scan of them; the tiles again.
 *
 * Sklansky's network scans groups of eight elements (step 1 within pairs, step 2 within quads, step
 * 3 from the lower quad to the upper). It is written with the compilers' vector types, so every
 * level adds in the same order. A group's sums are added to the tile's running sum; for
 * non-negative floats both are non-decreasing.
 *
 * After: Sklansky: Conditional-sum addition logic. 1960; Merrill, Garland: Single-pass Parallel
 * Prefix Scan with Decoupled Look-back. 2016. */
#include "cpu/cpu_internal.h"

#include <string.h>

#include "kernels/kernel.h"

#include "kernels/sort.k.h"

#include "kernels/kernel_end.h"

enum {
    GROUP = 8,
    TILE = CPU_SCAN_TILE,
    PREFETCH = 2 << 10, /* bytes ahead: hardware prefetchers stop at the end of each page */
};

/* ---- a tile from zero ----------------------------------------------------------------------- */

#if TML_NEON
/* Groups in vectors of 16 bytes, since gcc splits wider vectors lane by lane. gcc's loops convert
 * to twice the size, but not from bytes. */
ALWAYS_INLINE void widen_bytes(const void *in, bool is_signed, int16_t out[GROUP])
{
    vst1q_s16(out,
              is_signed ? vmovl_s8(vld1_s8(in)) : vreinterpretq_s16_u16(vmovl_u8(vld1_u8(in))));
}

typedef SIMD_VECTOR(uint32_t, 4) u32_sums;
typedef SIMD_VECTOR(uint64_t, 2) u64_sums;
typedef SIMD_VECTOR(double, 2) f64_sums;

#    define LAST_OF_4(v) __builtin_shufflevector(v, v, 3, 3, 3, 3)
#    define LAST_OF_2(v) __builtin_shufflevector(v, v, 1, 1)
#    define WIDEN(T, A, Sum, lanes)                                                                \
        const Sum zero = {0};                                                                      \
        int16_t of_8[GROUP];                                                                       \
        int32_t of_16[GROUP];                                                                      \
        A wide[GROUP];                                                                             \
        Sum v[GROUP / (lanes)];                                                                    \
        if (sizeof(T) == 1)                                                                        \
            widen_bytes(x, (T)-1 < (T)1, of_8);                                                    \
        for (int k = 0; k < GROUP && sizeof(T) <= 2; k++)                                          \
            of_16[k] = sizeof(T) == 1 ? of_8[k] : (int32_t)x[k];                                   \
        for (int k = 0; k < GROUP; k++)                                                            \
            wide[k] = sizeof(T) <= 2 ? (A)of_16[k] : (A)x[k];                                      \
        for (int k = 0; k < GROUP / (lanes); k++)                                                  \
        v[k] = *(const Sum *)(const void *)(wide + (lanes)*k)
#    define WRITE(Sum, count, LAST)                                                                \
        for (int k = 0; k < (count); k++)                                                          \
            ((Sum *)(void *)out)[k] = running + v[k];                                              \
        running += LAST(v[(count)-1])

#    define GROUP_OF_32(T, A, LOAD, Load, Sum)                                                     \
        WIDEN(T, A, Sum, 4);                                                                       \
        for (int k = 0; k < 2; k++) {                                                              \
            v[k] += __builtin_shufflevector(zero, v[k], 3, 4, 5, 6);                               \
            v[k] += __builtin_shufflevector(zero, v[k], 2, 3, 4, 5);                               \
        }                                                                                          \
        v[1] += LAST_OF_4(v[0]);                                                                   \
        WRITE(Sum, 2, LAST_OF_4)

#    define GROUP_OF_64(T, A, LOAD, Load, Sum)                                                     \
        WIDEN(T, A, Sum, 2);                                                                       \
        for (int k = 0; k < 4; k++)                                                                \
            v[k] += __builtin_shufflevector(zero, v[k], 1, 2);                                     \
        v[1] += LAST_OF_2(v[0]);                                                                   \
        v[3] += LAST_OF_2(v[2]);                                                                   \
        v[2] += LAST_OF_2(v[1]);                                                                   \
        v[3] += LAST_OF_2(v[1]);                                                                   \
        WRITE(Sum, 4, LAST_OF_2)
#else
typedef SIMD_VECTOR(uint8_t, 4) u8x4;
typedef SIMD_VECTOR(int8_t, 4) i8x4;
typedef SIMD_VECTOR(uint16_t, 4) u16x4;
typedef SIMD_VECTOR(int16_t, 4) i16x4;
typedef SIMD_VECTOR(uint32_t, 4) u32x4;
typedef SIMD_VECTOR(int32_t, 4) i32x4;
typedef SIMD_VECTOR(uint64_t, 4) u64x4;
typedef SIMD_VECTOR(float, 4) f32x4;
typedef SIMD_VECTOR(double, 4) f64x4;
typedef SIMD_VECTOR(uint8_t, 8) u8x8;
typedef SIMD_VECTOR(uint16_t, 8) u16x8;
typedef SIMD_VECTOR(uint32_t, 8) u32x8;
typedef SIMD_VECTOR(uint64_t, 8) u64x8;

typedef u32x8 u32_sums;
typedef u64x4 u64_sums;
typedef f64x4 f64_sums;

/* The k-th vector at x, converted. */
#    define LOAD(Load, Sum, x, k) __builtin_convertvector(((const Load *)(const void *)(x))[k], Sum)

/* Scans one group of x, in vectors of type Load, into out, in vectors of type Sum. 32-bit sums: one
 * vector of eight lanes. The first two steps are shifts, which are cheaper, and reorder only
 * additions of integers. */
#    define GROUP_OF_32(T, A, LOAD, Load, Sum)                                                     \
        const Sum zero = {0}, upper = {0, 0, 0, 0, ~0u, ~0u, ~0u, ~0u};                            \
        Sum v = LOAD(Load, Sum, x, 0);                                                             \
        v += __builtin_shufflevector(zero, v, 0, 8, 9, 10, 4, 12, 13, 14);                         \
        v += __builtin_shufflevector(zero, v, 0, 1, 8, 9, 4, 5, 12, 13);                           \
        v += upper & __builtin_shufflevector(v, v, 3, 3, 3, 3, 3, 3, 3, 3);                        \
        *(Sum *)(void *)out = running + v;                                                         \
        running += __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7)

/* 64-bit sums: two vectors of four. (Masks take fewer instructions than zeros in the shuffles.) */
#    define SPREAD(v, i) __builtin_shufflevector(v, v, i, i, i, i)
#    define GROUP_OF_64(T, A, LOAD, Load, Sum)                                                     \
        const Sum zero = {0};                                                                      \
        const u64x4 upper = {0, 0, UINT64_MAX, UINT64_MAX};                                        \
        Sum low = LOAD(Load, Sum, x, 0), high = LOAD(Load, Sum, x, 1);                             \
        low += __builtin_shufflevector(zero, low, 0, 4, 2, 6);                                     \
        high += __builtin_shufflevector(zero, high, 0, 4, 2, 6);                                   \
        low += (Sum)(upper & (u64x4)SPREAD(low, 1));                                               \
        high += (Sum)(upper & (u64x4)SPREAD(high, 1));                                             \
        high += SPREAD(low, 3);                                                                    \
        ((Sum *)(void *)out)[0] = running + low;                                                   \
        ((Sum *)(void *)out)[1] = running + high;                                                  \
        running += SPREAD(high, 3)
#endif

/* Scans count elements into sums[1 ... count]; sums[0] is 0. Writes up to GROUP - 1 more sums. */
#define SCAN_BODY(T, Load, A, Sum, GROUP_SCAN, LOAD)                                               \
    const T *x = in;                                                                               \
    A *out = sums;                                                                                 \
    Sum running = {0};                                                                             \
    *out++ = 0;                                                                                    \
    for (const T *end = x + count / GROUP * GROUP; x < end; x += GROUP, out += GROUP) {            \
        __builtin_prefetch((const char *)x + PREFETCH);                                            \
        GROUP_SCAN(T, A, LOAD, Load, Sum);                                                         \
    }                                                                                              \
    if (count % GROUP) {                                                                           \
        T rest[GROUP] = {0};                                                                       \
        memcpy(rest, x, count % GROUP * sizeof(T));                                                \
        x = rest;                                                                                  \
        GROUP_SCAN(T, A, LOAD, Load, Sum);                                                         \
    }

#define SCAN_TILE(name, T, Load, A, Sum, GROUP_SCAN)                                               \
    ALWAYS_INLINE void tile_##name(const void *in, size_t count, void *sums)                       \
    {                                                                                              \
        SCAN_BODY(T, Load, A, Sum, GROUP_SCAN, LOAD);                                              \
    }                                                                                              \
    SIMD_INSTANTIATE(void, tile_##name, (const void *in, size_t count, void *sums),                \
                     tile_##name(in, count, sums))

#define SCAN_TILE_32(name, T, Load) SCAN_TILE(name, T, Load, uint32_t, u32_sums, GROUP_OF_32)

#define SCAN_TILE_64(name, T, Load, A, Sum) SCAN_TILE(name, T, Load, A, Sum, GROUP_OF_64)

SCAN_TILE_32(u8_to_32, uint8_t, u8x8)
SCAN_TILE_32(u16_to_32, uint16_t, u16x8)
SCAN_TILE_32(u32_to_32, uint32_t, u32x8)
SCAN_TILE_32(u64_to_32, uint64_t, u64x8)
SCAN_TILE_64(u8_to_64, uint8_t, u8x4, uint64_t, u64_sums)
SCAN_TILE_64(i8_to_64, int8_t, i8x4, uint64_t, u64_sums) /* sign-extends, as i16 and i32 do */
SCAN_TILE_64(u16_to_64, uint16_t, u16x4, uint64_t, u64_sums)
SCAN_TILE_64(i16_to_64, int16_t, i16x4, uint64_t, u64_sums)
SCAN_TILE_64(u32_to_64, uint32_t, u32x4, uint64_t, u64_sums)
SCAN_TILE_64(i32_to_64, int32_t, i32x4, uint64_t, u64_sums)
SCAN_TILE_64(u64_to_64, uint64_t, u64x4, uint64_t, u64_sums)
SCAN_TILE_64(f64_to_real, double, f64x4, double, f64_sums)

static void tile_f32_to_real_base(const void *in, size_t count, void *sums)
{
    SCAN_BODY(float, f32x4, double, f64_sums, GROUP_OF_64, LOAD);
}

#if SIMD_X86
/* gcc emits seven instructions for this conversion, which is one. */
#    define LOAD_F32(Load, Sum, x, k) (Sum) _mm256_cvtps_pd(_mm_loadu_ps((x) + 4 * (k)))

SIMD_TARGET_AVX2 static void tile_f32_to_real_avx2(const void *in, size_t count, void *sums)
{
    SCAN_BODY(float, f32x4, double, f64_sums, GROUP_OF_64, LOAD_F32);
}
#endif

/* ---- the tile written out ------------------------------------------------------------------- */

/* out[i] = before + sums[i], rounded to T. */
#define ADD_BEFORE(name, T, A, member)                                                             \
    ALWAYS_INLINE void add_##name(const void *sums, cpu_number before, size_t count, void *out)    \
    {                                                                                              \
        const A *x = sums, add = (A)before.member;                                                 \
        T *restrict y = out;                                                                       \
        for (size_t i = 0; i < count; i++)                                                         \
            y[i] = (T)(add + x[i]);                                                                \
    }                                                                                              \
    SIMD_INSTANTIATE(void, add_##name,                                                             \
                     (const void *sums, cpu_number before, size_t count, void *out),               \
                     add_##name(sums, before, count, out))

ADD_BEFORE(32, uint32_t, uint32_t, u)
ADD_BEFORE(64, uint64_t, uint64_t, u)
ADD_BEFORE(f32, float, double, f)
ADD_BEFORE(f64, double, double, f)

/* ---- the smallest, the largest --------------------------------------------------------------- */

/* Running largest codes, in the layout of SCAN_BODY's sums; and the conversion of codes to numbers,
 * each at least `before`. */
#define MOST(bits, T, A)                                                                           \
    static void most_##bits(const cpu_scan *scan, const void *in, size_t count, void *sums)        \
    {                                                                                              \
        const T *x = in;                                                                           \
        const A flip = (A)scan->flip, real_flip = (A)scan->real_flip, least = (A)scan->least;      \
        A *out = sums, most = 0;                                                                   \
        *out++ = 0;                                                                                \
        for (size_t i = 0; i < count; i++) {                                                       \
            A key = x[i], sign = SORT_SIGN(key, 8 * sizeof(A));                                    \
            A code = SORT_CODE(key, sign, flip, real_flip);                                        \
            code = EXTREME_IS_NAN(key, real_flip, least) ? least : code;                           \
            out[i] = most = code > most ? code : most;                                             \
        }                                                                                          \
    }
#define AT_LEAST(bits, A)                                                                          \
    static void at_least_##bits(const cpu_scan *scan, const void *sums, cpu_number before,         \
                                size_t count, void *out)                                           \
    {                                                                                              \
        const A *x = sums, flip = (A)scan->flip, real_flip = (A)scan->real_flip;                   \
        A *y = out;                                                                                \
        for (size_t i = 0; i < count; i++) {                                                       \
            A code = x[i] > (A)before.u ? x[i] : (A)before.u;                                      \
            A sign = SORT_SIGN((A)(code ^ flip), 8 * sizeof(A));                                   \
            y[i] = SORT_CODE(code, sign, flip, real_flip);                                         \
        }                                                                                          \
    }

MOST(8, uint8_t, uint32_t)
MOST(16, uint16_t, uint32_t)
MOST(32, uint32_t, uint32_t)
MOST(64, uint64_t, uint64_t)
AT_LEAST(32, uint32_t)
AT_LEAST(64, uint64_t)

static void read_most(const cpu_scan *scan, const void *in, size_t count, void *sums)
{
    switch (scan->in_size) {
    case 1:
        most_8(scan, in, count, sums);
        break;
    case 2:
        most_16(scan, in, count, sums);
        break;
    case 4:
        most_32(scan, in, count, sums);
        break;
    default:
        most_64(scan, in, count, sums);
    }
}

/* Joins before to count sums, and converts them to out's type. */
static void finish(const cpu_scan *scan, const void *sums, cpu_number before, size_t count,
                   void *out)
{
    if (scan->how != CPU_MOST)
        scan->add(sums, before, count, out);
    else if (scan->out_size == 4)
        at_least_32(scan, sums, before, count, out);
    else
        at_least_64(scan, sums, before, count, out);
}

/* ---- one stream ----------------------------------------------------------------------------- */

typedef struct scan_job {
    tml_context *tml;
    cpu_scan scan;
    uint64_t length;
    cpu_tickets tickets;
    cpu_scan_space *workers;
    cpu_link *links;    /* LOOK_BACK: one per tile */
    cpu_number *before; /* REDUCE_THEN_SCAN: a tile's aggregate, then its exclusive prefix */
    cpu_number start;
    cpu_number total;
} scan_job;

static size_t tile_count_of(const scan_job *job, uint64_t tile)
{
    return (size_t)TML_MIN_OF((uint64_t)TILE, job->length - tile * TILE);
}

cpu_number cpu_scan_read(const cpu_scan *scan, cpu_scan_space *space, uint64_t first, size_t count)
{
    const unsigned char *in = scan->in + first * scan->in_size;
    if (scan->how == CPU_MOST)
        read_most(scan, in, count, space->sums);
    else
        scan->tile(in, count, space->sums);
    const unsigned char *last = (const unsigned char *)space->sums + count * scan->sum_size;
    cpu_number sum = {0};
    if (scan->sum_size == sizeof(uint32_t)) {
        uint32_t small;
        memcpy(&small, last, sizeof small);
        sum.u = small;
    } else {
        memcpy(&sum, last, sizeof sum);
    }
    return sum;
}

void cpu_scan_write(const cpu_scan *scan, cpu_scan_space *space, uint64_t first, size_t count,
                    cpu_number before)
{
    const unsigned char *sums =
        (const unsigned char *)space->sums + (scan->inclusive ? scan->sum_size : 0);
    unsigned char *out = scan->out + first * scan->out_size;
    for (size_t i = 0; i < count; i += CPU_BLOCK) {
        size_t here = TML_MIN_OF(count - i, (size_t)CPU_BLOCK);
        finish(scan, sums + i * scan->sum_size, before, here, space->ready);
        cpu_copy_out(out + i * scan->out_size, space->ready, here * scan->out_size, scan->stream);
    }
}

/* Scans a tile into the worker's space; returns its aggregate. */
static cpu_number scan_tile(const scan_job *job, cpu_scan_space *work, uint64_t tile)
{
    return cpu_scan_read(&job->scan, work, tile * TILE, tile_count_of(job, tile));
}

static void write_tile(const scan_job *job, cpu_scan_space *work, uint64_t tile, cpu_number before)
{
    cpu_scan_write(&job->scan, work, tile * TILE, tile_count_of(job, tile),
                   cpu_add(job->start, before, job->scan.how));
}

/* ---- LOOK_BACK ------------------------------------------------------------------------------ */

static void scan_worker(void *argument, uint32_t index)
{
    scan_job *job = argument;
    cpu_scan_space *work = &job->workers[index];
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile)) {
        bool skip = tml_is_cancelled(job->tml); /* but publish, since successors wait for it */
        cpu_number sum = skip ? (cpu_number){0} : scan_tile(job, work, tile);
        cpu_number before = cpu_look_back(job->links, tile, sum, job->scan.how);
        if (!skip)
            write_tile(job, work, tile, before);
    }
    cpu_stream_fence();
}

static void look_back(scan_job *job)
{
    uint64_t tile_count = TML_CEIL_DIV(job->length, TILE);
    if (tile_count == 0)
        return;
    memset(job->links, 0, tile_count * sizeof(*job->links));
    cpu_run_tiles(job->tml, &job->tickets, tile_count, scan_worker, job);
    job->total = job->links[tile_count - 1].prefix;
}

/* ---- REDUCE_THEN_SCAN ----------------------------------------------------------------------- */

static void sum_worker(void *argument, uint32_t index)
{
    scan_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml))
        job->before[tile] = scan_tile(job, &job->workers[index], tile);
}

static void write_worker(void *argument, uint32_t index)
{
    scan_job *job = argument;
    cpu_scan_space *work = &job->workers[index];
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        scan_tile(job, work, tile);
        write_tile(job, work, tile, job->before[tile]);
    }
    cpu_stream_fence();
}

static void cpu_scan_reduce_then_scan(scan_job *job)
{
    uint64_t tile_count = TML_CEIL_DIV(job->length, TILE);
    cpu_run_tiles(job->tml, &job->tickets, tile_count, sum_worker, job);
    for (uint64_t tile = 0; tile < tile_count && !tml_is_cancelled(job->tml); tile++) {
        cpu_number sum = job->before[tile];
        job->before[tile] = job->total;
        job->total = cpu_add(job->total, sum, job->scan.how);
    }
    cpu_run_tiles(job->tml, &job->tickets, tile_count, write_worker, job);
}

/* ---- operation ------------------------------------------------------------------------------ */

/* The tile function for a pair of types, or NULL. Sums have out's size; for floats, they are
 * doubles. */
static cpu_scan_tile_fn find_tile(tml_type in, size_t out_size, bool is_real)
{
    static const cpu_scan_tile_fn to_32[TML_SCALAR_END][TML_SIMD_LEVELS] = {
        [TML_U8] = SIMD_EACH_LEVEL(tile_u8_to_32),   [TML_U16] = SIMD_EACH_LEVEL(tile_u16_to_32),
        [TML_U32] = SIMD_EACH_LEVEL(tile_u32_to_32), [TML_I32] = SIMD_EACH_LEVEL(tile_u32_to_32),
        [TML_U64] = SIMD_EACH_LEVEL(tile_u64_to_32), [TML_I64] = SIMD_EACH_LEVEL(tile_u64_to_32),
    };
    static const cpu_scan_tile_fn to_64[TML_SCALAR_END][TML_SIMD_LEVELS] = {
        [TML_U8] = SIMD_EACH_LEVEL(tile_u8_to_64),
        [TML_I8] = SIMD_EACH_LEVEL(tile_i8_to_64),
        [TML_U16] = SIMD_EACH_LEVEL(tile_u16_to_64),
        [TML_I16] = SIMD_EACH_LEVEL(tile_i16_to_64),
        [TML_U32] = SIMD_EACH_LEVEL(tile_u32_to_64),
        [TML_I32] = SIMD_EACH_LEVEL(tile_i32_to_64),
        [TML_U64] = SIMD_EACH_LEVEL(tile_u64_to_64),
        [TML_I64] = SIMD_EACH_LEVEL(tile_u64_to_64),
        [TML_F32] =
            SIMD_OWN_LEVEL(tile_f32_to_real_base, tile_f32_to_real_avx2, tile_f32_to_real_avx2),
        [TML_F64] = SIMD_EACH_LEVEL(tile_f64_to_real),
    };
    bool narrow = out_size == sizeof(uint32_t) && !is_real;
    return (narrow ? to_32 : to_64)[in][tml_simd_level()];
}

static cpu_scan_add_fn find_add(tml_type out)
{
    static const cpu_scan_add_fn table[TML_SCALAR_END][TML_SIMD_LEVELS] = {
        [TML_U32] = SIMD_EACH_LEVEL(add_32),  [TML_I32] = SIMD_EACH_LEVEL(add_32),
        [TML_U64] = SIMD_EACH_LEVEL(add_64),  [TML_I64] = SIMD_EACH_LEVEL(add_64),
        [TML_F32] = SIMD_EACH_LEVEL(add_f32), [TML_F64] = SIMD_EACH_LEVEL(add_f64),
    };
    return table[out][tml_simd_level()];
}

void cpu_scan_bind(const tml_context *tml, tml_buffer in, tml_buffer out, bool inclusive,
                   cpu_scan *scan)
{
    const tml_slot *from = tml_slot_of(tml, in), *to = tml_slot_of(tml, out);
    bool is_real = tml_type_is_float(to->type);
    *scan = (cpu_scan){
        .tile = find_tile(from->type, to->element_size, is_real),
        .add = find_add(to->type),
        .inclusive = inclusive,
        .is_real = is_real,
        .how = is_real ? CPU_ADD_REALS : CPU_ADD_INTEGERS,
        .stream = cpu_worth_streaming(to->size),
        .in = from->memory,
        .out = to->memory,
        .in_size = from->element_size,
        .out_size = to->element_size,
        .sum_size = is_real ? sizeof(double) : to->element_size,
    };
}

static void cpu_scan_lay_out(tml_context *tml, const tml_scan_desc *desc, cpu_arena *arena,
                             scan_job *job)
{
    uint64_t tile_count = TML_CEIL_DIV(desc->length.count, TILE);
    job->workers = cpu_arena_take(arena, cpu_workers(tml, tile_count), sizeof(*job->workers));
    if (desc->method == TML_METHOD_LOOK_BACK)
        job->links = cpu_arena_take(arena, tile_count, sizeof(*job->links));
    else
        job->before = cpu_arena_take(arena, tile_count, sizeof(*job->before));
}

/* Determines how sums are joined, and the number before the first element. */
static void bind_fold(tml_context *tml, const tml_scan_resolved *r, scan_job *job)
{
    cpu_scan *scan = &job->scan;
    const void *start = cpu_memory(tml, r->desc.start);
    if (r->desc.fold != TML_FOLD_SUM) {
        scan->how = CPU_MOST;
        scan->is_real = false;
        scan->sum_size = scan->out_size;
        scan->flip = r->flip;
        scan->real_flip = r->real_flip;
        scan->least = r->least;
        union {
            uint32_t narrow[2];
            uint64_t wide[2];
        } sums = {.wide = {0}};
        cpu_scan one = *scan;
        one.in_size = scan->out_size;
        if (start)
            read_most(&one, start, 1, &sums);
        uint64_t code = one.in_size == 4 ? sums.narrow[1] : sums.wide[1];
        job->start.u = TML_MAX_OF(r->least, code);
    } else if (start && scan->is_real) {
        job->start.f = scan->out_size == 4 ? *(const float *)start : *(const double *)start;
    } else if (start) {
        job->start.u = scan->out_size == 4 ? *(const uint32_t *)start : *(const uint64_t *)start;
    }
}

static bool scan_supports(tml_context *tml, const void *argument)
{
    const tml_scan_desc *desc = &((const tml_scan_resolved *)argument)->desc;
    (void)tml;
    return desc->method == TML_METHOD_LOOK_BACK || desc->method == TML_METHOD_REDUCE_THEN_SCAN;
}

static size_t scan_scratch_size(tml_context *tml, const void *argument)
{
    cpu_arena arena = {0};
    scan_job job;
    cpu_scan_lay_out(tml, &((const tml_scan_resolved *)argument)->desc, &arena, &job);
    return arena.size;
}

static tml_status scan_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_scan_desc *desc = &((const tml_scan_resolved *)argument)->desc;
    (void)size;
    scan_job job = {.tml = tml, .length = cpu_length(tml, &desc->length)};
    cpu_scan_bind(tml, desc->in, desc->out, desc->inclusive, &job.scan);
    cpu_scan_lay_out(tml, desc, &(cpu_arena){.memory = scratch}, &job);
    bind_fold(tml, argument, &job);
    if (desc->method == TML_METHOD_LOOK_BACK)
        look_back(&job);
    else
        cpu_scan_reduce_then_scan(&job);
    tml_status status = cpu_finish(tml, "tml_scan");
    const uint64_t zero = 0; /* of every type of sum */
    if (status == TML_OK && !tml_buffer_is_none(desc->total))
        finish(&job.scan, &zero, cpu_add(job.start, job.total, job.scan.how), 1,
               cpu_memory(tml, desc->total));
    return status;
}

const tml_engine_op cpu_op_scan = {scan_supports, scan_scratch_size, scan_run};
