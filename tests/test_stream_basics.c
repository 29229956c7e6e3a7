/* The CPU's fast paths against naive loops: reduce, scan, compact and partition on seams of blocks
 * and tiles, for every SIMD level of this processor and several numbers of threads. */
#include "test.h"

#include "contexts.h"

#include <trommel/trommel.h>

#include "cpu/cpu_internal.h"
#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

#include <trommel/kernel_begin.h>
TML_KERNEL(bool, is_below, (uint x, tml_params p), { return x < p.u[0]; })
TML_KERNEL(bool, is_small_at, (float x, uint y, tml_index i), { return x < F(y) && i % 3u != 1u; })
TML_KERNEL(float, of_five, (tml_words a, tml_words b, tml_words c, tml_words d, tml_words e), {
    return tml_word_float(a, 0u) + tml_word_float(b, 0u) + tml_word_float(c, 0u) +
           tml_word_float(d, 0u) + tml_word_float(e, 0u);
})
#include <trommel/kernel_end.h>

static const uint64_t seams[] = {0,    1,    7,    8,    63,   64,    65,    1023,  1024,
                                 1025, 4095, 4096, 4097, 8192, 16384, 16385, 40009, 100003};
static const uint32_t thread_counts[] = {1, 2, 7};
static const tml_method methods[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN};

static void *memory_of(tml_context *tml, tml_buffer buffer)
{
    void *memory = NULL;
    CHECK_OK(tml, tml_buffer_map(tml, buffer, &memory)); /* the CPU's map stays valid */
    return memory;
}

static uint64_t count_in(tml_context *tml, tml_buffer buffer)
{
    uint64_t count = 0;
    CHECK_OK(tml, tml_buffer_read_count(tml, buffer, &count));
    return count;
}

/* Runs test(tml) at every level with every number of threads. */
static void everywhere(void (*test)(tml_context *tml))
{
    tml_simd_force(TML_SIMD_LEVELS);
    tml_simd best = tml_simd_level();
    for (int level = TML_SIMD_BASE; level <= (int)best; level++) {
        tml_simd_force((tml_simd)level);
        for (size_t t = 0; t < TML_ARRAY_SIZE(thread_counts); t++) {
            tml_context *tml = open_cpu(thread_counts[t]);
            test(tml);
            tml_close(tml);
        }
    }
    tml_simd_force(TML_SIMD_LEVELS);
}

/* ---- compact and partition ------------------------------------------------------------------ */

typedef enum source { BY_KERNEL, BY_FLAGS, BY_MASK, SOURCES } source;

/* A stream of u32 values below 256 with u8 flags and a mask that say "value < threshold". */
typedef struct sample {
    uint64_t count;
    uint32_t threshold;
    uint32_t *values;
    tml_buffer in, flags, mask;
} sample;

static sample make_sample(tml_context *tml, uint64_t count, uint32_t threshold)
{
    sample s = {.count = count, .threshold = threshold};
    s.in = buffer_of(tml, TML_U32, count, NULL);
    s.flags = buffer_of(tml, TML_U8, count, NULL);
    s.mask = buffer_of(tml, TML_U32, (count + 31) / 32, NULL);
    s.values = memory_of(tml, s.in);
    uint8_t *flags = memory_of(tml, s.flags);
    uint32_t *mask = memory_of(tml, s.mask);
    uint64_t state = count * 1000 + threshold;
    for (uint64_t i = 0; i < count; i++) {
        s.values[i] = (uint32_t)test_random(&state) & 255;
        flags[i] = s.values[i] < threshold ? (uint8_t)(1 + i % 255) : 0; /* any value but 0 */
        if (i % 32 == 0)
            mask[i / 32] = UINT32_MAX; /* bits past the end are set, and ignored */
        if (s.values[i] >= threshold)
            mask[i / 32] &= ~(1u << i % 32);
    }
    return s;
}

static tml_keep keep_by(const sample *s, source by)
{
    tml_keep keep = {0};
    if (by == BY_KERNEL) {
        keep.kernel = TML_USE(is_below);
        keep.params.u[0] = s->threshold;
        keep.in[0] = s->in;
    } else if (by == BY_FLAGS) {
        keep.flags = s->flags;
    } else {
        keep.mask = s->mask;
    }
    return keep;
}

static void destroy_sample(tml_context *tml, sample *s)
{
    tml_buffer_destroy(tml, s->in);
    tml_buffer_destroy(tml, s->flags);
    tml_buffer_destroy(tml, s->mask);
}

/* Values and indices against a loop; what lies past the result must survive. */
static void check_moved(const sample *s, bool partition, const uint32_t *values,
                        const uint64_t *indices, uint64_t count)
{
    uint64_t next = 0;
    bool right = true;
    for (int pass = 0; pass < (partition ? 2 : 1); pass++) {
        for (uint64_t i = 0; i < s->count; i++) {
            if ((s->values[i] < s->threshold) != (pass == 0))
                continue;
            right = right && values[next] == s->values[i] && indices[next] == i;
            next++;
        }
        if (pass == 0)
            CHECK_EQ_U64(count, next);
    }
    for (uint64_t i = next; i < s->count; i++)
        right = right && values[i] == 0xabababab && indices[i] == 0xabababababababab;
    CHECK(right);
}

static void test_moves(tml_context *tml, bool partition)
{
    static const uint32_t thresholds[] = {0, 3, 26, 128, 230, 256};
    tml_buffer count = buffer_of(tml, TML_U32, 1, NULL);
    for (size_t n = 0; n < TML_ARRAY_SIZE(seams); n++) {
        for (size_t t = 0; t < TML_ARRAY_SIZE(thresholds); t++) {
            sample s = make_sample(tml, seams[n], thresholds[t]);
            tml_buffer out = buffer_of(tml, TML_U32, s.count, NULL);
            tml_buffer indices = buffer_of(tml, TML_U64, s.count, NULL);
            uint32_t *values = memory_of(tml, out);
            uint64_t *places = memory_of(tml, indices);
            size_t m = (n + t) % TML_ARRAY_SIZE(methods);
            for (source by = BY_KERNEL; by < SOURCES; by++) {
                if (s.count) {
                    memset(values, 0xab, s.count * sizeof *values);
                    memset(places, 0xab, s.count * sizeof *places);
                }
                tml_compact_desc desc = {.keep = keep_by(&s, by),
                                         .payloads = {{s.in, out}},
                                         .method = methods[m],
                                         .partition = partition,
                                         .indices = indices,
                                         .count = count};
                CHECK_OK(tml, tml_compact(tml, &desc));
                check_moved(&s, partition, values, places, count_in(tml, count));
                m = !m;
            }
            tml_buffer_destroy(tml, out);
            tml_buffer_destroy(tml, indices);
            destroy_sample(tml, &s);
        }
    }
}

static void compact_values(tml_context *tml)
{
    test_moves(tml, false);
}

static void partition_values(tml_context *tml)
{
    test_moves(tml, true);
}

TEST(compact_is_a_filter)
{
    everywhere(compact_values);
}

TEST(partition_keeps_both_orders)
{
    everywhere(partition_values);
}

/* Eight payloads of different sizes in each call, until every size from 1 to 64 was moved. */
static void every_size(tml_context *tml)
{
    sample s = make_sample(tml, 5003, 100);
    uint64_t state = 1;
    for (uint32_t first = 1; first <= 64; first += TML_MAX_PAYLOADS) {
        tml_compact_desc desc = {.keep = keep_by(&s, BY_FLAGS),
                                 .method = methods[first / TML_MAX_PAYLOADS % 2]};
        for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
            tml_buffer in = buffer_of(tml, TML_RECORD(first + p), s.count, NULL);
            uint8_t *bytes = memory_of(tml, in);
            for (uint64_t i = 0; i < s.count * (first + p); i++)
                bytes[i] = (uint8_t)test_random(&state);
            desc.payloads[p] =
                (tml_payload){in, buffer_of(tml, TML_RECORD(first + p), s.count, NULL)};
        }
        for (int partition = 0; partition < 2; partition++) {
            desc.partition = partition;
            CHECK_OK(tml, tml_compact(tml, &desc));
            for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
                size_t size = first + p;
                const uint8_t *in = memory_of(tml, desc.payloads[p].in);
                const uint8_t *out = memory_of(tml, desc.payloads[p].out);
                bool right = true;
                for (int pass = 0; pass < 1 + partition; pass++)
                    for (uint64_t i = 0; i < s.count; i++)
                        if ((s.values[i] < s.threshold) == (pass == 0)) {
                            right = right && memcmp(out, in + i * size, size) == 0;
                            out += size;
                        }
                CHECK(right);
            }
        }
        for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
            tml_buffer_destroy(tml, desc.payloads[p].in);
            tml_buffer_destroy(tml, desc.payloads[p].out);
        }
    }
    destroy_sample(tml, &s);
}

TEST(elements_of_1_to_64_bytes_move)
{
    everywhere(every_size);
}

static void in_place(tml_context *tml)
{
    for (int round = 0; round < 4; round++) {
        sample s = make_sample(tml, 100003, (uint32_t[]){20, 128, 250, 256}[round]);
        uint32_t *before = malloc(s.count * sizeof *before);
        memcpy(before, s.values, s.count * sizeof *before);
        tml_buffer count = buffer_of(tml, TML_U64, 1, NULL);
        tml_buffer wide = buffer_of(tml, TML_VEC(TML_U64, 2), s.count, NULL);
        uint64_t(*pairs)[2] = memory_of(tml, wide);
        for (uint64_t i = 0; i < s.count; i++)
            pairs[i][0] = i, pairs[i][1] = ~i;
        CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep = keep_by(&s, BY_KERNEL),
                                                           .payloads = {{s.in, s.in}, {wide, wide}},
                                                           .count = count}));
        uint64_t next = 0;
        bool right = true;
        for (uint64_t i = 0; i < s.count; i++) {
            if (before[i] >= s.threshold)
                continue;
            right =
                right && s.values[next] == before[i] && pairs[next][0] == i && pairs[next][1] == ~i;
            next++;
        }
        CHECK(right);
        CHECK_EQ_U64(count_in(tml, count), next);
        free(before);
        tml_buffer_destroy(tml, wide);
        tml_buffer_destroy(tml, count);
        destroy_sample(tml, &s);
    }
}

TEST(compact_works_in_place)
{
    everywhere(in_place);
}

static void small_outputs(tml_context *tml)
{
    sample s = make_sample(tml, 40009, 128);
    for (size_t m = 0; m < TML_ARRAY_SIZE(methods); m++) {
        static const uint64_t rooms[] = {0, 1, 100, 5000, 19000};
        for (size_t r = 0; r < TML_ARRAY_SIZE(rooms); r++) {
            /* One buffer behind the other in memory: what is past the room must survive. */
            uint32_t *memory = malloc((rooms[r] + 8) * sizeof *memory);
            memset(memory, 0xab, (rooms[r] + 8) * sizeof *memory);
            tml_buffer out, count = buffer_of(tml, TML_U32, 1, NULL);
            CHECK_OK(tml, tml_buffer_create(tml,
                                            &(tml_buffer_desc){
                                                .type = TML_U32, .count = rooms[r], .host = memory},
                                            &out));
            CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep = keep_by(&s, BY_KERNEL),
                                                               .payloads = {{s.in, out}},
                                                               .method = methods[m],
                                                               .count = count}));
            uint64_t kept = 0;
            bool right = true;
            for (uint64_t i = 0; i < s.count; i++)
                if (s.values[i] < s.threshold && kept++ < rooms[r])
                    right = right && memory[kept - 1] == s.values[i];
            for (size_t i = 0; i < 8; i++)
                right = right && memory[rooms[r] + i] == 0xabababab;
            CHECK(right);
            CHECK_EQ_U64(count_in(tml, count), kept);
            tml_buffer_destroy(tml, out);
            tml_buffer_destroy(tml, count);
            free(memory);
        }
    }
    destroy_sample(tml, &s);
}

TEST(a_small_output_takes_what_fits)
{
    everywhere(small_outputs);
}

static void device_lengths(tml_context *tml)
{
    sample s = make_sample(tml, 20011, 77);
    const uint64_t lengths[] = {0, 1, 1024, 12345, 20011, 1000000};
    tml_buffer lengths_64 = buffer_of(tml, TML_U64, TML_ARRAY_SIZE(lengths), lengths);
    tml_buffer out = buffer_of(tml, TML_U32, s.count, NULL),
               count = buffer_of(tml, TML_U32, 1, NULL);
    tml_buffer sum = buffer_of(tml, TML_U64, 1, NULL), last = buffer_of(tml, TML_U32, 1, NULL);
    for (size_t l = 0; l < TML_ARRAY_SIZE(lengths); l++) {
        uint64_t length = TML_MIN_OF(lengths[l], s.count), kept = 0, total = 0;
        for (uint64_t i = 0; i < length; i++) {
            kept += s.values[i] < s.threshold;
            total += s.values[i];
        }
        tml_length bound = {.device = lengths_64, .device_index = l};
        CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep = keep_by(&s, BY_MASK),
                                                           .payloads = {{s.in, out}},
                                                           .length = bound,
                                                           .count = count}));
        CHECK_EQ_U64(count_in(tml, count), kept);
        CHECK_OK(tml,
                 tml_reduce(tml, &(tml_reduce_desc){
                                     .in = s.in, .length = bound, .folds = {{TML_FOLD_SUM, sum}}}));
        CHECK_EQ_U64(count_in(tml, sum), total);
        CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){
                                        .in = s.in, .length = bound, .out = out, .total = last}));
        CHECK_EQ_U64(count_in(tml, last), total);
    }
}

TEST(lengths_on_the_device_are_clamped)
{
    everywhere(device_lengths);
}

/* A kernel of two widened inputs and the index. */
static void widened_inputs(tml_context *tml)
{
    enum { COUNT = 5000 };
    tml_buffer halves = buffer_of(tml, TML_F16, COUNT, NULL),
               bytes = buffer_of(tml, TML_U8, COUNT, NULL);
    uint16_t *x = memory_of(tml, halves);
    uint8_t *y = memory_of(tml, bytes);
    uint64_t state = 5;
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = (uint16_t)test_random(&state); /* NaN and infinities among them */
        y[i] = (uint8_t)test_random(&state);
    }
    tml_buffer out = buffer_of(tml, TML_U32, COUNT, NULL), count = buffer_of(tml, TML_U64, 1, NULL);
    uint32_t *indices = memory_of(tml, out);
    CHECK_OK(tml, tml_compact(tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_small_at),
                                                                .in = {halves, bytes}},
                                                       .indices = out,
                                                       .count = count}));
    uint64_t next = 0;
    bool right = true;
    for (uint32_t i = 0; i < COUNT; i++)
        if (is_small_at(tml_half_to_float(x[i]), y[i], i))
            right = right && indices[next++] == i;
    CHECK(right);
    CHECK_EQ_U64(count_in(tml, count), next);
}

TEST(kernels_see_small_types_widened)
{
    everywhere(widened_inputs);
}

/* ---- reduce --------------------------------------------------------------------------------- */

/* One bit pattern as a number of each type. */
static double value_of(tml_type type, const void *memory, uint64_t i, uint64_t *bits)
{
#define VALUE(name, size, T)                                                                       \
    case TML_##name:                                                                               \
        *bits = (uint64_t)((const T *)memory)[i];                                                  \
        return (double)((const T *)memory)[i]
    switch (type) {
        VALUE(U8, 1, uint8_t);
        VALUE(I8, 1, int8_t);
        VALUE(U16, 2, uint16_t);
        VALUE(I16, 2, int16_t);
        VALUE(U32, 4, uint32_t);
        VALUE(I32, 4, int32_t);
        VALUE(U64, 8, uint64_t);
        VALUE(I64, 8, int64_t);
    case TML_F16:
        *bits = ((const uint16_t *)memory)[i];
        return (double)tml_half_to_float(((const uint16_t *)memory)[i]);
    case TML_F32:
        *bits = 0;
        return (double)((const float *)memory)[i];
    default:
        *bits = 0;
        return ((const double *)memory)[i];
    }
#undef VALUE
}

/* Random values: integers of every size, floats of moderate size. */
static tml_buffer random_buffer(tml_context *tml, tml_type type, uint64_t count, uint64_t seed)
{
    tml_buffer buffer = buffer_of(tml, type, count, NULL);
    void *memory = memory_of(tml, buffer);
    uint64_t state = seed;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = test_random(&state);
        double real = (double)(int64_t)bits * 0x1p-60;
        if (type == TML_F32)
            ((float *)memory)[i] = (float)real;
        else if (type == TML_F64)
            ((double *)memory)[i] = real;
        else if (type == TML_F16)
            ((uint16_t *)memory)[i] = (uint16_t)(bits & 0x83ff) | 0x3800; /* +-0.5 ... 1 */
        else
            memcpy((uint8_t *)memory + i * tml_type_size(type), &bits, tml_type_size(type));
    }
    return buffer;
}

static bool is_before(tml_type type, const void *memory, uint64_t a, uint64_t b, bool smaller)
{
    uint64_t x, y;
    double p = value_of(type, memory, a, &x), q = value_of(type, memory, b, &y);
    if (type == TML_U64)
        return smaller ? x < y : x > y;
    if (type == TML_I64)
        return smaller ? (int64_t)x < (int64_t)y : (int64_t)x > (int64_t)y;
    return smaller ? p < q : p > q;
}

static void reduce_type(tml_context *tml, tml_type type, uint64_t n)
{
    tml_buffer in = random_buffer(tml, type, n, type * 1000 + n);
    const uint8_t *memory = memory_of(tml, in);
    bool real = tml_type_is_float(type);
    uint64_t sum = 0, bits, least = 0, largest = 0;
    long double real_sum = 0, magnitude = 0;
    for (uint64_t i = 0; i < n; i++) {
        double value = value_of(type, memory, i, &bits);
        sum += bits;
        real_sum += value;
        magnitude += fabs(value);
        if (is_before(type, memory, i, least, true))
            least = i;
        if (is_before(type, memory, i, largest, false))
            largest = i;
    }

    tml_buffer total = buffer_of(tml, real ? TML_F64 : TML_U64, 1, NULL);
    tml_buffer mean = buffer_of(tml, TML_F64, 1, NULL), extreme = buffer_of(tml, type, 1, NULL);
    tml_buffer where = buffer_of(tml, TML_U32, 1, NULL);
    double value;
    double bound = (double)magnitude * (double)n * 0x1p-53;
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = in, .folds = {{TML_FOLD_SUM, total}}}));
    if (real) {
        CHECK_OK(tml, tml_buffer_read(tml, total, &value));
        CHECK_NEAR(value, (double)real_sum, bound);
    } else {
        CHECK_EQ_U64(count_in(tml, total), sum);
    }
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = in, .folds = {{TML_FOLD_MEAN, mean}}}));
    CHECK_OK(tml, tml_buffer_read(tml, mean, &value));
    if (n)
        CHECK_NEAR(value, (double)(real_sum / n), bound / (double)n + fabs(value) * 0x1p-52);
    else
        CHECK(isnan(value));

    for (int largest_one = 0; largest_one < 2; largest_one++) {
        uint64_t expected = largest_one ? largest : least;
        CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = in,
                                                         .folds = {{largest_one ? TML_FOLD_ARGMAX
                                                                                : TML_FOLD_ARGMIN,
                                                                    where}}}));
        CHECK_EQ_U64(count_in(tml, where), n ? expected : UINT32_MAX);
        uint8_t found[8];
        CHECK_OK(
            tml,
            tml_reduce(tml, &(tml_reduce_desc){
                                .in = in,
                                .folds = {{largest_one ? TML_FOLD_MAX : TML_FOLD_MIN, extreme}}}));
        CHECK_OK(tml, tml_buffer_read(tml, extreme, found));
        size_t size = tml_type_size(type);
        if (n)
            CHECK(memcmp(found, memory + expected * size, size) == 0);
    }
    tml_buffer all[] = {in, total, mean, extreme, where};
    for (size_t i = 0; i < TML_ARRAY_SIZE(all); i++)
        tml_buffer_destroy(tml, all[i]);
}

static void reduce_types(tml_context *tml)
{
    static const uint64_t counts[] = {0, 1, 31, 32, 33, 1000, 65535, 65536, 65537, 200003};
    for (tml_type type = TML_U8; type < TML_SCALAR_END; type++)
        for (size_t n = 0; n < TML_ARRAY_SIZE(counts); n++)
            reduce_type(tml, type, counts[n]);
}

TEST(reduce_folds_every_type)
{
    everywhere(reduce_types);
}

TEST(extremes_skip_nan)
{
    enum { COUNT = 150000 }; /* three blocks */
    tml_context *tml = open_cpu(2);
    tml_buffer in = buffer_of(tml, TML_F32, COUNT, NULL), out = buffer_of(tml, TML_F32, 1, NULL);
    tml_buffer at = buffer_of(tml, TML_U64, 1, NULL);
    float *x = memory_of(tml, in), *result = memory_of(tml, out);
    tml_reduce_desc least = {.in = in, .folds = {{TML_FOLD_MIN, out}}};
    tml_reduce_desc where = {.in = in, .folds = {{TML_FOLD_ARGMIN, at}}};
    for (size_t i = 0; i < COUNT; i++)
        x[i] = NAN;
    CHECK_OK(tml, tml_reduce(tml, &least));
    CHECK(isnan(*result));
    CHECK_OK(tml, tml_reduce(tml, &where));
    CHECK_EQ_U64(count_in(tml, at), UINT64_MAX);

    x[140000] = INFINITY; /* the identity of MIN, as a value, in the last block */
    CHECK_OK(tml, tml_reduce(tml, &least));
    CHECK(isinf(*result) && *result > 0);
    CHECK_OK(tml, tml_reduce(tml, &where));
    CHECK_EQ_U64(count_in(tml, at), 140000);

    x[70000] = 3, x[70001] = -2, x[149999] = -2;
    CHECK_OK(tml, tml_reduce(tml, &least));
    CHECK(*result == -2);
    CHECK_OK(tml, tml_reduce(tml, &where));
    CHECK_EQ_U64(count_in(tml, at), 70001); /* the first of equals */

    tml_reduce_desc sum = {.in = in, .folds = {{TML_FOLD_SUM, out}}};
    CHECK_OK(tml, tml_reduce(tml, &sum));
    CHECK(isnan(*result));
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = buffer_of(tml, TML_F32, 0, NULL),
                                                     .folds = {{TML_FOLD_MAX, out}}}));
    CHECK(isinf(*result) && *result < 0);
    tml_close(tml);
}

TEST(many_ones_are_not_16777216)
{
    const uint64_t count = (1 << 24) + (1 << 20);
    tml_context *tml = open_cpu(2);
    tml_buffer in = buffer_of(tml, TML_F32, count, NULL), out = buffer_of(tml, TML_F32, 1, NULL);
    tml_buffer sums = buffer_of(tml, TML_F32, count, NULL);
    float *x = memory_of(tml, in), *y = memory_of(tml, sums), sum;
    for (uint64_t i = 0; i < count; i++)
        x[i] = 1;
    CHECK_OK(tml, tml_reduce(tml, &(tml_reduce_desc){.in = in, .folds = {{TML_FOLD_SUM, out}}}));
    CHECK_OK(tml, tml_buffer_read(tml, out, &sum));
    CHECK_EQ_U64((uint64_t)sum, count);
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = in, .inclusive = true, .out = sums}));
    CHECK_EQ_U64((uint64_t)y[count - 1], count);
    tml_close(tml);
}

/* ---- scan ----------------------------------------------------------------------------------- */

static void scan_pair(tml_context *tml, tml_type type, tml_type out_type, uint64_t n, int round)
{
    bool real = tml_type_is_float(type), inclusive = round & 1;
    tml_buffer in = random_buffer(tml, type, n, type * 7 + n);
    tml_buffer copy = buffer_of(tml, type, n, n ? memory_of(tml, in) : NULL);
    bool same = type == out_type && (round & 4);
    tml_buffer out = same ? in : buffer_of(tml, out_type, n, NULL);
    tml_buffer total = buffer_of(tml, out_type, 1, NULL);
    const void *x = memory_of(tml, copy), *y = memory_of(tml, out);
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){.in = in,
                                                 .inclusive = inclusive,
                                                 .method = methods[(round & 2) / 2],
                                                 .out = out,
                                                 .total = total}));
    uint64_t sum = 0, bits, got, mask = UINT64_MAX >> (64 - 8 * tml_type_size(out_type));
    long double real_sum = 0, magnitude = 0;
    bool right = true;
    double rounding = out_type == TML_F32 ? 0x1p-24 : 0;
    for (uint64_t i = 0; i <= n; i++) {
        const void *place = i < n ? y : memory_of(tml, total);
        double value = 0, result = value_of(out_type, place, i < n ? i : 0, &got);
        bits = 0;
        if (i < n)
            value = value_of(type, x, i, &bits);
        if (inclusive || i == n)
            sum += bits, real_sum += value;
        double bound = (double)magnitude * (double)(i + 1) * 0x1p-53 + fabs(result) * rounding;
        magnitude += fabs(value);
        if (real)
            right = right && fabs(result - (double)real_sum) <= bound + (double)magnitude * 0x1p-50;
        else
            right = right && (got & mask) == (sum & mask);
        if (!inclusive && i < n)
            sum += bits, real_sum += value;
    }
    CHECK(right);
    tml_buffer all[] = {in, copy, out, total};
    for (size_t i = 0; i < TML_ARRAY_SIZE(all); i++)
        tml_buffer_destroy(tml, all[i]);
}

static void scan_types(tml_context *tml)
{
    static const tml_type integers[] = {TML_U8, TML_U16, TML_U32, TML_U64, TML_I32, TML_I64};
    for (size_t n = 0; n < TML_ARRAY_SIZE(seams); n++) {
        for (int round = 0; round < 8; round++) {
            scan_pair(tml, TML_F32, TML_F32, seams[n], round);
            scan_pair(tml, TML_F64, TML_F64, seams[n], round);
            scan_pair(tml, TML_U32, TML_U32, seams[n], round);
            for (size_t t = 0; t < TML_ARRAY_SIZE(integers) && round < 4; t++)
                for (size_t o = 2; o < TML_ARRAY_SIZE(integers); o++)
                    scan_pair(tml, integers[t], integers[o], seams[n], round);
        }
    }
}

TEST(scan_adds_up_every_pair_of_types)
{
    everywhere(scan_types);
}

/* ---- determinism ---------------------------------------------------------------------------- */

/* Float results over 100003 elements, from this context. */
typedef struct float_results {
    double sum_f16, sum_f32, mean_f64;
    float scan_f32[100003];
    double scan_f64[100003];
} float_results;

static float_results *expected_floats;

static void same_floats(tml_context *tml)
{
    float_results *got = malloc(sizeof *got);
    uint64_t count = TML_ARRAY_SIZE(got->scan_f32);
    tml_buffer f16 = random_buffer(tml, TML_F16, count, 1);
    tml_buffer f32 = random_buffer(tml, TML_F32, count, 2);
    tml_buffer f64 = random_buffer(tml, TML_F64, count, 3);
    tml_buffer real = buffer_of(tml, TML_F64, 1, NULL);
    const tml_buffer inputs[] = {f16, f32, f64};
    double *results[] = {&got->sum_f16, &got->sum_f32, &got->mean_f64};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(tml,
                 tml_reduce(tml, &(tml_reduce_desc){
                                     .in = inputs[i],
                                     .folds = {{i == 2 ? TML_FOLD_MEAN : TML_FOLD_SUM, real}}}));
        CHECK_OK(tml, tml_buffer_read(tml, real, results[i]));
    }
    for (size_t m = 0; m < TML_ARRAY_SIZE(methods); m++) {
        tml_buffer out_32 = buffer_of(tml, TML_F32, count, NULL);
        tml_buffer out_64 = buffer_of(tml, TML_F64, count, NULL);
        CHECK_OK(tml,
                 tml_scan(tml, &(tml_scan_desc){.in = f32, .method = methods[m], .out = out_32}));
        CHECK_OK(
            tml,
            tml_scan(tml, &(tml_scan_desc){
                              .in = f64, .inclusive = true, .method = methods[m], .out = out_64}));
        CHECK_OK(tml, tml_buffer_read(tml, out_32, got->scan_f32));
        CHECK_OK(tml, tml_buffer_read(tml, out_64, got->scan_f64));
        if (!expected_floats)
            expected_floats = memcpy(malloc(sizeof *got), got, sizeof *got);
        CHECK(memcmp(got, expected_floats, sizeof *got) == 0);
    }
    free(got);
}

TEST(floats_are_the_same_for_any_threads_and_level)
{
    everywhere(same_floats);
    free(expected_floats);
    expected_floats = NULL;
}

TEST(scans_of_positive_floats_never_fall)
{
    enum { COUNT = 50000 };
    tml_context *tml = open_cpu(2);
    tml_buffer in = buffer_of(tml, TML_F64, COUNT, NULL),
               out = buffer_of(tml, TML_F64, COUNT, NULL);
    tml_buffer total = buffer_of(tml, TML_F64, 1, NULL);
    double *x = memory_of(tml, in), *y = memory_of(tml, out), sum;
    uint64_t state = 9;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = i % 3 ? 0 : (double)test_random(&state) * 0x1p-64;
    CHECK_OK(tml, tml_scan(tml, &(tml_scan_desc){
                                    .in = in, .inclusive = true, .out = out, .total = total}));
    bool right = true;
    for (size_t i = 1; i < COUNT; i++)
        right = right && y[i] >= y[i - 1];
    CHECK(right);
    CHECK_OK(tml, tml_buffer_read(tml, total, &sum));
    CHECK(sum == y[COUNT - 1]);
    tml_close(tml);
}

/* ---- what is refused ------------------------------------------------------------------------ */

TEST(the_least_integer_is_its_own_absolute_value)
{
    volatile int32_t least = INT32_MIN; /* not known when this is compiled */
    volatile int64_t least_long = INT64_MIN;
    CHECK_EQ_I64(tml_abs_i(least), INT32_MIN);
    CHECK_EQ_I64(tml_abs_l(least_long), INT64_MIN);
    CHECK_EQ_I64(tml_abs_i(least + 1), INT32_MAX);
    CHECK_EQ_I64(tml_sign_i(least), -1);
    CHECK_EQ_I64(tml_abs_i(-7), 7);
    CHECK(tml_abs_f(-2.5f) == 2.5f && tml_abs_d(-0.5) == 0.5 && tml_abs_u(3) == 3);
}

TEST(bad_descs_are_refused)
{
    tml_context *tml = open_cpu(1);
    sample s = make_sample(tml, 1000, 100);
    tml_buffer out = buffer_of(tml, TML_U32, 1000, NULL),
               bytes = buffer_of(tml, TML_U8, 1000, NULL);
    tml_buffer count = buffer_of(tml, TML_U32, 1, NULL),
               short_flags = buffer_of(tml, TML_U8, 999, NULL);
    const tml_keep keep = keep_by(&s, BY_KERNEL);
    const struct {
        tml_compact_desc desc;
        const char *field;
    } cases[] = {
        {{.payloads = {{s.in, out}}}, "exactly one"},
        {{.keep = {.flags = s.flags, .mask = s.mask}, .payloads = {{s.in, out}}}, "exactly one"},
        {{.keep = {.flags = short_flags}, .payloads = {{s.in, out}}}, "keep.flags"},
        {{.keep = {.flags = s.in}, .payloads = {{s.in, out}}}, "keep.flags"},
        {{.keep = {.kernel = TML_USE(is_below), .in = {bytes, bytes}}}, "keep.in[1]"},
        {{.keep = {.kernel = TML_USE(is_small_at), .in = {s.in, bytes}}}, "keep.in[0]"},
        {{.keep = keep, .payloads = {{s.in, bytes}}}, "payloads[0].out"},
        {{.keep = keep, .payloads = {{s.in, out}, {s.in, out}}}, "payloads[1].out"},
        {{.keep = keep, .payloads = {{s.in, s.in}}, .method = TML_METHOD_REDUCE_THEN_SCAN},
         "payloads[0].out"},
        {{.keep = keep, .payloads = {{s.in, out}}, .indices = s.in}, "indices"},
        {{.keep = keep, .payloads = {{s.in, out}}, .count = bytes}, "count"},
        {{.keep = keep, .payloads = {{{0}, {0}}, {s.in, out}}}, "payloads[1]"},
        {{.keep = keep, .payloads = {{s.in, out}}, .length = {.device = bytes}}, "length.device"},
        {{.keep = keep, .payloads = {{s.in, out}}, .length = {.device = count, .device_index = 1}},
         "length.device"},
        {{.keep = keep, .payloads = {{s.in, out}}, .length = {.count = 1001}}, "keep.in[0]"},
        {{.keep = keep, .payloads = {{s.in, out}}, .method = (tml_method)77}, "method"},
        {{.keep = keep, .payloads = {{s.in, out}}, .out_first = bytes}, "out_first"},
        {{.keep = keep, .payloads = {{s.in, out}}, .out_first = out}, "out_first"},
        {{.keep = keep, .payloads = {{s.in, s.in}}, .out_first = count}, "payloads[0].out"},
    };
    for (size_t i = 0; i < TML_ARRAY_SIZE(cases); i++) {
        CHECK(tml_compact(tml, &cases[i].desc) == TML_ERROR_INVALID_ARGUMENT);
        if (!CHECK(strstr(tml_last_error(tml), cases[i].field)))
            printf("  case %zu: %s\n", i, tml_last_error(tml));
    }
    CHECK(tml_compact(tml, &(tml_compact_desc){.keep = keep,
                                               .payloads = {{s.in, out}},
                                               .scratch = bytes}) == TML_ERROR_SCRATCH_TOO_SMALL);
    tml_compact_desc both = {.keep = keep, .payloads = {{s.in, s.in}}, .partition = true};
    CHECK(tml_compact(tml, &both) == TML_ERROR_INVALID_ARGUMENT);
    both.payloads[0].out = out;
    both.out_first = count;
    CHECK(tml_compact(tml, &both) == TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.out_first is given"));
    CHECK(tml_scan(tml, &(tml_scan_desc){.in = s.flags, .out = s.flags}) ==
          TML_ERROR_INVALID_ARGUMENT);
    CHECK(tml_reduce(tml, &(tml_reduce_desc){.in = s.in, .folds = {{TML_FOLD_MIN, s.flags}}}) ==
          TML_ERROR_INVALID_ARGUMENT);
    tml_cancel(tml);
    CHECK(tml_compact(tml, &(tml_compact_desc){.keep = keep, .payloads = {{s.in, out}}}) ==
          TML_ERROR_CANCELLED);
    tml_cancel_clear(tml);
    tml_close(tml);
}

TEST(five_arrays_are_too_many)
{
    tml_context *tml = open_cpu(1);
    tml_buffer in = buffer_of(tml, TML_F32, 4, NULL), out = buffer_of(tml, TML_F32, 4, NULL);
    CHECK_STATUS(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(of_five),
                                              .in = {in, in, in, in},
                                              .length = {.count = 4},
                                              .out = {out}}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_STR(tml_last_error(tml), "tml_map: desc.kernel (of_five) takes more arrays than 4; "
                                   "join some in one");
    tml_close(tml);
}

TEST(scratch_that_is_not_needed_may_be_of_any_size)
{
    tml_context *tml = open_cpu(1);
    static _Alignas(64) uint8_t memory[64];
    tml_reduce_desc desc = {.in = buffer_of(tml, TML_U32, 4, NULL),
                            .length = tml_length_of(0),
                            .folds = {{TML_FOLD_SUM, buffer_of(tml, TML_U64, 1, NULL)}}};
    const tml_buffer_desc byte = {.type = TML_U8, .count = 1, .host = memory + 1};
    CHECK_OK(tml, tml_buffer_create(tml, &byte, &desc.scratch));
    CHECK_EQ_U64(SCRATCH_OF(tml, tml_reduce(tml, &desc)), 0);
    CHECK_OK(tml, tml_reduce(tml, &desc));
    tml_close(tml);
}

TEST(scratch_may_be_the_callers)
{
    tml_context *tml = open_cpu(2);
    sample s = make_sample(tml, 100003, 100);
    tml_buffer out = buffer_of(tml, TML_U32, s.count, NULL),
               indices = buffer_of(tml, TML_U64, s.count, NULL);
    tml_buffer count = buffer_of(tml, TML_U32, 1, NULL);
    for (size_t m = 0; m < TML_ARRAY_SIZE(methods); m++) {
        for (int partition = 0; partition < 2; partition++) {
            tml_compact_desc desc = {.keep = keep_by(&s, BY_MASK),
                                     .payloads = {{s.in, out}},
                                     .method = methods[m],
                                     .partition = partition,
                                     .indices = indices,
                                     .count = count};
            size_t size = SCRATCH_OF(tml, tml_compact(tml, &desc));
            uint8_t *memory = malloc(size + 1);
            CHECK_OK(tml,
                     tml_buffer_create(
                         tml, &(tml_buffer_desc){.type = TML_U8, .count = size, .host = memory + 1},
                         &desc.scratch));
            memset(memory_of(tml, out), 0xab, s.count * sizeof(uint32_t));
            memset(memory_of(tml, indices), 0xab, s.count * sizeof(uint64_t));
            CHECK_OK(tml, tml_compact(tml, &desc));
            check_moved(&s, partition, memory_of(tml, out), memory_of(tml, indices),
                        count_in(tml, count));
            tml_buffer_destroy(tml, desc.scratch);
            free(memory);
        }
    }
    CHECK_EQ_U64(test_reserved(tml), 0);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
