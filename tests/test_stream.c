/* Every stream operation on every engine, against references that are plain loops over plain
 * arrays. cases.h says how cases are named, chosen and rerun; what is special here is at the end:
 * results that must not drift between compilers, allocations that fail, and calls that may not
 * allocate. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/platform.h"
#include "core/simd.h"
#include "low_bytes.h"

#include "kernels/kernel.h"

#include "kernels/top_k.k.h"

#include "kernels/kernel_end.h"

#include <trommel/kernel_begin.h>

/* Sizes on the seams of words, blocks and tiles (64; 1024; 4096, 16384, 65536), primes, and one
 * that many tiles share. */
#define SEAMS                                                                                      \
    "1025 0 1 2 31 32 33 63 64 65 1023 1024 4095 4096 4097 7919 16383 16384 16385 65537 1000003"
#define THREADS "2 1 7"
#define METHODS "auto look_back reduce_then_scan histopyramid"
/* The length by the host's word, by an element on the device, by one that is above the bound, and
 * none by the host's word: exactly zero, alone or as the bound of an element on the device. */
#define LENGTHS "host u32 u64 over zero bound0"

/* ---- shared by the operations ---------------------------------------------------------------- */

/* Resolves the axis length: how many elements of bound there are, and the desc's field. */
static uint64_t choose_length(case_run *c, uint64_t bound, tml_length *length)
{
    bool is_empty = case_is(c, "length", "zero") || case_is(c, "length", "bound0");
    *length = is_empty ? tml_length_of(0) : (tml_length){.count = bound};
    if (case_is(c, "length", "host") || case_is(c, "length", "zero"))
        return is_empty ? 0 : bound;
    uint64_t n = case_is(c, "length", "over") ? bound + 5 : bound - bound / 3;
    length->device_index = 2;
    if (case_is(c, "length", "u64")) {
        case_array *device = case_array_new(c, TML_U64, 3);
        memcpy(device->data, (uint64_t[]){1, 1, n}, 3 * sizeof(uint64_t));
        length->device = case_input(c, device, TML_U64, 3);
    } else {
        case_array *device = case_array_new(c, TML_U32, 3);
        memcpy(device->data, (uint32_t[]){1, 1, (uint32_t)n}, 3 * sizeof(uint32_t));
        length->device = case_input(c, device, TML_U32, 3);
        length->count = 0; /* the first input's, or none */
    }
    return is_empty ? 0 : n < bound ? n : bound;
}

/* Where outputs begin: nowhere said; at LEAD, by an element of its own or by the count that the
 * call itself advances; past every output's end; farther than 32 bits. */
#define FIRSTS "none u32 u64 cursor past far"
enum { LEAD = 5 };
static uint64_t first_of(const case_run *c, uint64_t room)
{
    return case_is(c, "first", "none")   ? 0
           : case_is(c, "first", "past") ? room + 7
           : case_is(c, "first", "far")  ? ((uint64_t)1 << 40) + 3
                                         : LEAD;
}

/* The byte that bit i of words of 32 bits is in. */
static uint64_t byte_of_bit(uint64_t i)
{
    return i / 8 ^ (IS_BIG_ENDIAN ? 3 : 0);
}

/* The buffer for desc.out_first; count: the output that a cursor is. */
static tml_buffer choose_first(case_run *c, uint64_t first, const case_array *count)
{
    if (case_is(c, "first", "none"))
        return (tml_buffer){0, 0};
    if (case_is(c, "first", "cursor")) {
        put_low(count->data, first, count->size);
        case_call(c, tml_buffer_write(c->tml, count->buffer, 0, 1, count->data));
        return count->buffer;
    }
    tml_type type = case_is(c, "first", "u64") || first > UINT32_MAX ? TML_U64 : TML_U32;
    case_array *array = case_array_new(c, type, 1);
    put_low(array->data, first, array->size);
    return case_input(c, array, type, 1);
}

/* A count that a u32 may not hold. */
static uint64_t saturated(const case_run *c, const char *axis, uint64_t count)
{
    return case_is(c, axis, "u32") && count > UINT32_MAX ? UINT32_MAX : count;
}

static uint64_t choose_count(const case_run *c)
{
    return case_number(c, "count");
}

/* A type with elements of this size. */
static tml_type type_of_size(uint64_t size)
{
    switch (size) {
    case 1:
        return TML_U8;
    case 2:
        return TML_I16;
    case 4:
        return TML_F32;
    case 8:
        return TML_U64;
    case 12:
        return TML_VEC(TML_F32, 3);
    case 16:
        return TML_VEC(TML_F32, 4);
    default:
        return TML_RECORD(size);
    }
}

static void fill_random(case_run *c, void *out, size_t size)
{
    uint8_t *bytes = out;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t x = case_random(c);
        memcpy(bytes, &x, 8);
    }
    uint64_t x = case_random(c);
    memcpy(bytes, &x, size);
}

/* Which of n are chosen, by a distribution's name. */
#define DISTRIBUTIONS "half none all alternate first last sparse most blocks"
static uint8_t *choose_flags(case_run *c, uint64_t n)
{
    uint8_t *flags = calloc(n + 1, 1);
    if (!flags)
        abort();
    const char *dist = case_text(c, "dist");
    bool in_block = false;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = case_random(c) >> 40;
        if (x % 97 == 0)
            in_block = !in_block;
        flags[i] = strcmp(dist, "all") == 0         ? 1
                   : strcmp(dist, "alternate") == 0 ? i & 1
                   : strcmp(dist, "first") == 0     ? i == 0
                   : strcmp(dist, "last") == 0      ? i == n - 1
                   : strcmp(dist, "sparse") == 0    ? x % 100 == 0
                   : strcmp(dist, "half") == 0      ? x % 2 == 0
                   : strcmp(dist, "most") == 0      ? x % 10 != 0
                   : strcmp(dist, "blocks") == 0    ? in_block
                                                    : 0;
    }
    return flags;
}

static uint64_t sum_flags(const uint8_t *flags, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += flags[i];
    return sum;
}

/* An optional output of numbers, by the axis that says none, u32 or u64. */
static case_array *number_output(case_run *c, const char *axis, uint64_t count)
{
    if (case_is(c, axis, "none"))
        return NULL;
    return case_output(c, tml_type_from_name(case_text(c, axis)), count);
}

static tml_buffer handle(const case_array *array)
{
    return array ? array->buffer : (tml_buffer){0, 0};
}

/* Checks an output of numbers against n expected ones. */
static void check_numbers(case_run *c, const char *what, case_array *array, const char *axis,
                          const uint64_t *expected, uint64_t n)
{
    if (!array)
        return;
    if (case_is(c, axis, "u64")) {
        case_check(c, what, array, expected, n * sizeof *expected);
        return;
    }
    uint32_t *narrow = malloc(n * sizeof *narrow + 1);
    if (!narrow)
        abort();
    for (uint64_t i = 0; i < n; i++)
        narrow[i] = (uint32_t)expected[i];
    case_check(c, what, array, narrow, n * sizeof *narrow);
    free(narrow);
}

static tml_method method_of(const case_run *c)
{
    for (int m = TML_METHOD_AUTO; m <= TML_METHOD_HISTOPYRAMID; m++)
        if (case_is(c, "method", tml_method_name((tml_method)m)))
            return (tml_method)m;
    return TML_METHOD_AUTO;
}

/* ---- numbers of any type --------------------------------------------------------------------- */

/* binary16 by its definition: sign, 5 bits of exponent, 10 of fraction. */
static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double fraction = h & 1023;
    double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 ? -value : value;
}

typedef struct number {
    double real;      /* of float types */
    uint64_t integer; /* of integer types, sign-extended */
} number;

static number load(tml_type type, const void *elements, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)elements + i * tml_type_size(type);
    number x = {0, 0};
#define LOAD(ctype, field, cast)                                                                   \
    {                                                                                              \
        ctype value;                                                                               \
        memcpy(&value, p, sizeof value);                                                           \
        x.field = (cast)value;                                                                     \
    }                                                                                              \
    break
    switch (type) {
    case TML_U8:
        LOAD(uint8_t, integer, uint64_t);
    case TML_I8:
        LOAD(int8_t, integer, uint64_t);
    case TML_U16:
        LOAD(uint16_t, integer, uint64_t);
    case TML_I16:
        LOAD(int16_t, integer, uint64_t);
    case TML_U32:
        LOAD(uint32_t, integer, uint64_t);
    case TML_I32:
        LOAD(int32_t, integer, uint64_t);
    case TML_U64:
    case TML_I64:
        LOAD(uint64_t, integer, uint64_t);
    case TML_F16: {
        uint16_t h;
        memcpy(&h, p, sizeof h);
        x.real = half_value(h);
        break;
    }
    case TML_F32:
        LOAD(float, real, double);
    case TML_F64:
        LOAD(double, real, double);
    default:
        abort();
    }
    return x;
}

static bool less(tml_type type, number a, number b)
{
    if (tml_type_is_float(type))
        return a.real < b.real;
    return tml_type_is_signed(type) ? (int64_t)a.integer < (int64_t)b.integer
                                    : a.integer < b.integer;
}

static double as_double(tml_type type, number x)
{
    return tml_type_is_float(type)    ? x.real
           : tml_type_is_signed(type) ? (double)(int64_t)x.integer
                                      : (double)x.integer;
}

/* Random elements: any bits for integers, moderate values for floats. data: random, ties (four
 * values), and for floats nan, inf (some such among the rest), and allnan. */
#define NUMBER_DATA "random ties nan inf allnan"
static void fill_numbers(case_run *c, tml_type type, void *out, uint64_t n)
{
    size_t size = tml_type_size(type);
    uint8_t *p = out;
    bool ties = case_is(c, "data", "ties");
    for (uint64_t i = 0; i < n; i++, p += size) {
        uint64_t x = case_random(c);
        if (!tml_type_is_float(type)) {
            if (ties)
                x = x % 4 - 1;
            put_low(p, x, size);
            continue;
        }
        double value = ties ? (double)(x % 4) - 1 : (double)(int64_t)x * 0x1p-53;
        bool hit = x % 211 == 5;
        if ((case_is(c, "data", "nan") && hit) || case_is(c, "data", "allnan"))
            value = NAN;
        if (case_is(c, "data", "inf") && hit)
            value = x >> 63 ? INFINITY : -INFINITY;
        if (type == TML_F32) {
            float f = (float)value;
            memcpy(p, &f, size);
        } else if (type == TML_F64) {
            memcpy(p, &value, size);
        } else {
            uint16_t h = isnan(value)   ? 0x7e00
                         : isinf(value) ? (value > 0 ? 0x7c00 : 0xfc00)
                         : ties         ? (uint16_t[]){0xbc00, 0, 0x3c00, 0x4000}[x % 4]
                                        : (uint16_t)(x >> 48 & 0xbfff); /* exponents below 16 */
            memcpy(p, &h, size);
        }
    }
}

/* ---- map ------------------------------------------------------------------------------------- */

TML_KERNEL(float, map_square, (float x), { return x * x; })
TML_KERNEL(uint, map_bump, (uint x, tml_params p), { return x * 3u + p.u[1]; })
TML_KERNEL(int, map_negate, (int x), { return -x; })
TML_KERNEL(bool, map_is_big, (double x), { return x > 0.25; })
TML_KERNEL(vec3, map_scale, (vec3 v, float s), { return scale3(v, s); })
TML_KERNEL(uint64, map_position, (tml_index i), { return i * 7u; })
TML_KERNEL(double, map_mix, (float a, double b, int c, uint d),
           { return b * 2.0 + (a - F(c)) * F(d); })
TML_KERNEL(int64, map_shift, (int64 x), { return x >> 3; })

/* Whole arrays have GATHER_WORDS words here, as the kernels' params say. */
/* clang-format off */
TML_LIBRARY(reads,
    TABLE_BEGIN(uint, reads_steps, 4) 1u, 7u, 61u, 0u TABLE_END

    FUNCTION(uint) reads_word(tml_words words, uint i, uint count) {
        return tml_word(words, (i + reads_steps[i & 3u]) % count);
    }
)
/* clang-format on */
TML_KERNEL(float, map_gather, (uint x, tml_words w, tml_params p),
           { return tml_word_float(w, x % p.u[2]); })
TML_KERNEL(vec2, map_gather_first, (tml_words w, vec3 v, tml_index i, tml_params p),
           { return VEC2(tml_word_float(w, U(i) % p.u[2]), v.z); })
TML_KERNEL(uvec3, map_uvec, (uvec3 a, uvec2 b, uvec4 c),
           { return UVEC3(a.z + b.y, a.x * c.w, a.y ^ b.x); })
TML_KERNEL(uvec2, map_pair, (uvec2 a), { return UVEC2(a.y, a.x); })
TML_KERNEL_WITH(reads, uvec4, map_six,
                (uint x, tml_words w, tml_words v, tml_index i, tml_params p, uvec2 q), {
                    return UVEC4(reads_word(w, x, p.u[2]), reads_word(v, U(i), p.u[2]), q.x + q.y,
                                 p.u[1]);
                })

/* Matrices of small whole numbers, so that a multiply-add may be fused. The second names its matrix
 * in a library, as OpenGL ES 2 can. */
TML_KERNEL(vec4, map_transform, (tml_index i, tml_params p),
           { return transform4(p.m, VEC4(F(U(i) & 1023u), F(p.u[2]), p.m[9], p.m[3])); })
/* clang-format off */
TML_LIBRARY(views,
    FUNCTION(vec3) views_seen(tml_params p, float x) {
        return transform3(p.m, VEC3(x, 2.0f, -3.0f));
    }
)
/* clang-format on */
TML_KERNEL_WITH(views, float, map_seen, (uint x, tml_params p), { return views_seen(p, F(x)).y; })

TML_KERNEL(bool, keep_seen, (uint x, tml_params p),
           { return transform4(p.m, VEC4(F(x & 255u), 1.0f, 0.0f, 1.0f)).z > 300.0f; })
TML_KERNEL(bool, keep_gathered, (uint at, tml_words bits),
           { return (tml_word(bits, at >> 5) >> (at & 31u) & 1u) == 1u; })
TML_KERNEL(bool, keep_ordered, (uvec2 v), { return v.x < v.y; })
TML_KERNEL(bool, keep_positive, (float x), { return x > 0.0f; })
TML_KERNEL(bool, keep_odd, (uint x), { return (x & 1u) == 1u; })
TML_KERNEL(bool, keep_negative, (int x), { return x < 0; })
TML_KERNEL(bool, keep_double, (double x), { return x > 0.0; })
TML_KERNEL(bool, keep_int64, (int64 x), { return x < 0; })
TML_KERNEL(bool, keep_uphill, (vec3 v), { return dot3(v, VEC3(0.0f, 1.0f, 0.0f)) > 0.0f; })
TML_KERNEL(bool, keep_by_index, (uint x, tml_index i, tml_params p),
           { return ((x + U(i)) & p.u[2]) == 1u; })

TML_KERNEL(uint, count_seen, (uint x, tml_params p), { return x ^ U(p.m[15]); })
TML_KERNEL(vec3, emit_seen, (uint x, vec3 v, tml_rank k, tml_params p), {
    return VEC3(v.x, F(x & 255u) + p.m[15], transform3(p.m, VEC3(F(k & 255u), p.f[3], 1.0f)).y);
})
TML_KERNEL(uint, bin_seen, (uint x, tml_params p),
           { return U(transform3(p.m, VEC3(F(x & 63u), 0.0f, 0.0f)).z) % p.u[2]; })
TML_KERNEL(uint, count_itself, (uint x), { return x; })
TML_KERNEL(uint, count_gathered, (uint x, tml_words w), { return tml_word(w, x); })
TML_KERNEL(uvec2, emit_gathered, (uint x, tml_words w, tml_index s, tml_rank k),
           { return UVEC2(tml_word(w, (x + k) & 1023u), U(s) * 3u + k); })
TML_KERNEL(uint, bin_digit, (uint x, tml_params p), { return (x >> p.u[1]) & (p.u[2] - 1u); })
TML_KERNEL(uint, bin_gathered, (uint x, tml_words w, tml_index i),
           { return tml_word(w, (x + U(i)) & 1023u); })
TML_KERNEL(uint, bin_position, (tml_index i, tml_params p), { return U(i) % p.u[2]; })
TML_KERNEL(uint, emit_code, (uint x, tml_rank k), { return x * 4096u + k; })
/* Nothing to fuse into a multiply-add, which GPUs may do. */
TML_KERNEL(float, emit_mixed, (uint x, float y, tml_index s, tml_rank k),
           { return (k & 1u) == 0u ? y * F(x) : y - F(U(s)); })
TML_KERNEL(vec3, emit_vec3, (uint x, vec3 v, tml_rank k, tml_params p),
           { return add3(v, VEC3(F(x), F(k), p.f[3])); })

TML_KERNEL_OUTS((vec3 point, uint code), emit_two, (uint x, tml_index s, tml_rank k, tml_params p),
                {
                    emit_two_out o;
                    o.code = x * 4096u + k;
                    o.point = VEC3(F(U(s)), p.f[3], F(k));
                    return o;
                })
TML_KERNEL_OUTS((float last, uvec2 place, uvec4 all, vec2 pair), emit_four,
                (uint x, tml_index s, tml_rank k, tml_params p), {
                    emit_four_out o;
                    o.last = p.m[15] + F(k & 255u);
                    o.place = UVEC2(U(s), k);
                    o.all = UVEC4(x, k, U(s) ^ x, p.u[1]);
                    o.pair = VEC2(F(k & 255u), transform3(p.m, VEC3(p.f[3], 0.0f, 2.0f)).x);
                    return o;
                })

#include <trommel/kernel_end.h>

/* A matrix whose last number is last. */
static tml_params with_matrix(tml_params params, float last)
{
    for (int i = 0; i < 16; i++)
        params.m[i] = i == 15 ? last : (float)(i * 7 % 15) - 5.0f; /* -5 2 9 1 8 0 7 ... */
    return params;
}

/* Row r of the matrix times (x, y, z, w). */
static double row_times(const tml_params *params, int r, double x, double y, double z, double w)
{
    const double v[] = {x, y, z, w};
    double sum = 0;
    for (int column = 0; column < 4; column++)
        sum += (double)params->m[4 * column + r] * v[column];
    return sum;
}

/* A kernel, its inputs, and the reference: the C function on element i. */
typedef struct map_row {
    const char *name;
    const tml_kernel *kernel;
    tml_type in[4];
    void (*apply)(const void *const in[4], uint64_t i, const tml_params *params, void *out);
} map_row;

#define MAP_REFERENCE(name)                                                                        \
    static void name(const void *const in[4], uint64_t i, const tml_params *params, void *out)
#define REAL(k, type)    ((float)load(type, in[k], i).real)
#define INTEGER(k, type) (load(type, in[k], i).integer)
#define STORE(ctype, value)                                                                        \
    ctype result = (value);                                                                        \
    memcpy(out, &result, sizeof result);                                                           \
    (void)in, (void)params, (void)i

MAP_REFERENCE(ref_square_f32)
{
    STORE(float, map_square(REAL(0, TML_F32)));
}
MAP_REFERENCE(ref_square_f16)
{
    STORE(float, map_square(REAL(0, TML_F16)));
}
MAP_REFERENCE(ref_bump_u8)
{
    STORE(uint32_t, map_bump((uint32_t)INTEGER(0, TML_U8), *params));
}
MAP_REFERENCE(ref_bump_u16)
{
    STORE(uint32_t, map_bump((uint32_t)INTEGER(0, TML_U16), *params));
}
MAP_REFERENCE(ref_bump_u32)
{
    STORE(uint32_t, map_bump((uint32_t)INTEGER(0, TML_U32), *params));
}
MAP_REFERENCE(ref_negate_i8)
{
    STORE(int32_t, map_negate((int32_t)INTEGER(0, TML_I8)));
}
MAP_REFERENCE(ref_negate_i16)
{
    STORE(int32_t, map_negate((int32_t)INTEGER(0, TML_I16)));
}
MAP_REFERENCE(ref_is_big)
{
    STORE(uint8_t, map_is_big(load(TML_F64, in[0], i).real));
}
MAP_REFERENCE(ref_scale)
{
    tml_vec3 v;
    memcpy(&v, (const uint8_t *)in[0] + i * sizeof v, sizeof v);
    STORE(tml_vec3, map_scale(v, REAL(1, TML_F16)));
}
MAP_REFERENCE(ref_position)
{
    STORE(uint64_t, map_position(i));
}
MAP_REFERENCE(ref_mix)
{
    STORE(double, map_mix(REAL(0, TML_F16), load(TML_F64, in[1], i).real,
                          (int32_t)INTEGER(2, TML_I8), (uint32_t)INTEGER(3, TML_U16)));
}
MAP_REFERENCE(ref_shift)
{
    STORE(int64_t, map_shift((int64_t)INTEGER(0, TML_I64)));
}

MAP_REFERENCE(ref_gather)
{
    STORE(float, map_gather((uint32_t)INTEGER(0, TML_U16), in[1], *params));
}
MAP_REFERENCE(ref_gather_first)
{
    tml_vec3 v;
    memcpy(&v, (const uint8_t *)in[1] + i * sizeof v, sizeof v);
    STORE(tml_vec2, map_gather_first(in[0], v, i, *params));
}
MAP_REFERENCE(ref_uvec)
{
    tml_uvec3 a;
    tml_uvec2 b;
    tml_uvec4 v;
    memcpy(&a, (const uint8_t *)in[0] + i * sizeof a, sizeof a);
    memcpy(&b, (const uint8_t *)in[1] + i * sizeof b, sizeof b);
    memcpy(&v, (const uint8_t *)in[2] + i * sizeof v, sizeof v);
    STORE(tml_uvec3, map_uvec(a, b, v));
}
MAP_REFERENCE(ref_pair)
{
    tml_uvec2 a;
    memcpy(&a, (const uint8_t *)in[0] + i * sizeof a, sizeof a);
    STORE(tml_uvec2, map_pair(a));
}
MAP_REFERENCE(ref_six)
{
    tml_uvec2 q;
    memcpy(&q, (const uint8_t *)in[3] + i * sizeof q, sizeof q);
    STORE(tml_uvec4, map_six((uint32_t)INTEGER(0, TML_U8), in[1], in[2], i, *params, q));
}

MAP_REFERENCE(ref_transform)
{
    const float *m = params->m;
    float v[4];
    for (int r = 0; r < 4; r++)
        v[r] = (float)row_times(params, r, (double)(i & 1023), params->u[2], m[9], m[3]);
    memcpy(out, v, sizeof v);
    (void)in;
}
MAP_REFERENCE(ref_seen)
{
    STORE(float, (float)row_times(params, 1, (double)INTEGER(0, TML_U8), 2, -3, 1));
}

static const map_row map_rows[] = {
    {"square_f32", TML_USE(map_square), {TML_F32}, ref_square_f32},
    {"square_f16", TML_USE(map_square), {TML_F16}, ref_square_f16},
    {"bump_u8", TML_USE(map_bump), {TML_U8}, ref_bump_u8},
    {"bump_u16", TML_USE(map_bump), {TML_U16}, ref_bump_u16},
    {"bump_u32", TML_USE(map_bump), {TML_U32}, ref_bump_u32},
    {"negate_i8", TML_USE(map_negate), {TML_I8}, ref_negate_i8},
    {"negate_i16", TML_USE(map_negate), {TML_I16}, ref_negate_i16},
    {"is_big", TML_USE(map_is_big), {TML_F64}, ref_is_big},
    {"scale", TML_USE(map_scale), {TML_VEC(TML_F32, 3), TML_F16}, ref_scale},
    {"position", TML_USE(map_position), {0}, ref_position},
    {"mix", TML_USE(map_mix), {TML_F16, TML_F64, TML_I8, TML_U16}, ref_mix},
    {"shift", TML_USE(map_shift), {TML_I64}, ref_shift},
    {"gather", TML_USE(map_gather), {TML_U16, TML_F32}, ref_gather},
    {"gather_first",
     TML_USE(map_gather_first),
     {TML_VEC(TML_F32, 3), TML_VEC(TML_F32, 3)},
     ref_gather_first},
    {"uvec",
     TML_USE(map_uvec),
     {TML_VEC(TML_U32, 3), TML_VEC(TML_U32, 2), TML_VEC(TML_U32, 4)},
     ref_uvec},
    {"pair", TML_USE(map_pair), {TML_VEC(TML_U32, 2)}, ref_pair},
    {"six",
     TML_USE(map_six),
     {TML_U8, TML_VEC(TML_U16, 2), TML_RECORD(12), TML_VEC(TML_U32, 2)},
     ref_six},
    {"transform", TML_USE(map_transform), {0}, ref_transform},
    {"seen", TML_USE(map_seen), {TML_U8}, ref_seen},
};
#define MAP_KERNELS                                                                                \
    "square_f32 square_f16 bump_u8 bump_u16 bump_u32 negate_i8 negate_i16 is_big scale position "  \
    "mix shift gather gather_first uvec pair six transform seen"

static const map_row *map_row_of(const case_run *c)
{
    for (size_t r = 0; r < sizeof map_rows / sizeof *map_rows; r++)
        if (case_is(c, "kernel", map_rows[r].name))
            return &map_rows[r];
    abort();
}

/* The words of whole arrays: as many as elements of 12 bytes fill. */
enum { GATHER_WORDS = 3 * 337 };

static bool map_input_is_words(const map_row *row, uint32_t input)
{
    uint32_t next = 0;
    for (uint32_t p = 0; p < row->kernel->param_count; p++)
        if (tml_param_is_array(row->kernel->params[p]) && next++ == input)
            return row->kernel->params[p] == TML_PARAM_WORDS;
    return false;
}

static bool map_is_sensible(const case_run *c)
{
    const map_row *row = map_row_of(c);
    return case_is(c, "in_place", "no") ||
           (row->in[0] && !map_input_is_words(row, 0) &&
            tml_type_size(row->in[0]) == tml_type_size(row->kernel->result));
}

static void fill_by_type(case_run *c, tml_type type, void *out, uint64_t n)
{
    tml_type scalar = tml_type_scalar(type);
    if (!scalar)
        fill_random(c, out, n * tml_type_size(type));
    else
        fill_numbers(c, scalar, out, n * tml_type_components(type));
}

static void map_test(case_run *c)
{
    const map_row *row = map_row_of(c);
    uint64_t bound = choose_count(c);
    const tml_params params = {.u = {0, 17, GATHER_WORDS, 0}};
    tml_map_desc desc = {.kernel = row->kernel, .params = with_matrix(params, 11.0f)};
    uint64_t n = choose_length(c, bound, &desc.length);
    case_array *in[4] = {0};
    const void *saved[4] = {0};
    for (int i = 0; i < 4 && row->in[i]; i++) {
        bool is_words = map_input_is_words(row, (uint32_t)i);
        uint64_t count = is_words ? GATHER_WORDS * 4 / tml_type_size(row->in[i]) : bound;
        in[i] = is_words ? case_array_new(c, TML_U32, GATHER_WORDS) /* aligned as words are */
                         : case_array_new(c, row->in[i], count);
        fill_by_type(c, row->in[i], in[i]->data, count);
        void *copy = malloc(in[i]->size + 1);
        if (!copy)
            abort();
        saved[i] = memcpy(copy, in[i]->data, in[i]->size);
        desc.in[i] = case_input(c, in[i], row->in[i], count);
    }
    tml_type type = row->kernel->result;
    size_t size = tml_type_size(type);
    bool in_place = case_is(c, "in_place", "yes");
    case_array *out = in_place ? in[0] : case_output(c, type, bound);
    desc.out[0] = handle(out);
    if (in_place && row->in[0] != type) { /* the same memory under two types */
        tml_buffer_desc alias = {.type = type, .count = bound, .host = out->data};
        case_call(c, c->engine == TML_ENGINE_CPU
                         ? tml_buffer_create(c->tml, &alias, &desc.out[0])
                         : tml_error(c->tml, TML_ERROR_UNSUPPORTED, "no memory under two types"));
    }
    if (!row->in[0] && !desc.length.exact)
        desc.length.count = bound;
    c->bytes = n * size;
    for (int i = 0; i < 4; i++)
        c->bytes += row->in[i] ? n * tml_type_size(row->in[i]) : 0;

    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_map(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status)) {
        uint8_t *expected = malloc(bound * size + 1);
        if (!expected)
            abort();
        if (in_place)
            memcpy(expected, saved[0], bound * size);
        for (uint64_t i = 0; i < n; i++)
            row->apply(saved, i, &desc.params, expected + i * size);
        case_check(c, "out", out, expected, (in_place ? bound : n) * size);
        free(expected);
    }
    if (in_place && row->in[0] != type)
        tml_buffer_destroy(c->tml, desc.out[0]);
    for (int i = 0; i < 4; i++)
        free((void *)(uintptr_t)saved[i]);
}

static const char *const map_perf[] = {"map(count=16777216,kernel=square_f32)",
                                       "map(count=16777216,kernel=bump_u8)", NULL};
static const case_op map_op = {"map",
                               {{"count", SEAMS, true},
                                {"kernel", MAP_KERNELS, false},
                                {"data", "random ties", false},
                                {"in_place", "no yes", false},
                                {"length", LENGTHS, false},
                                {"threads", THREADS, true}},
                               map_is_sensible,
                               map_test,
                               map_perf};

/* ---- reduce ---------------------------------------------------------------------------------- */

#define SCALARS "f32 u8 i8 u16 i16 u32 i32 u64 i64 f16 f64"
#define FOLDS   "sum min max argmin argmax mean"

static tml_fold fold_of(const case_run *c)
{
    static const char *const names[] = {"sum", "min", "max", "argmin", "argmax", "mean"};
    for (int f = 0; f < 6; f++)
        if (case_is(c, "fold", names[f]))
            return (tml_fold)f;
    abort();
}

/* What a fold of type is stored as; narrow: the smaller of the two choices where there are two. */
static tml_type fold_type(tml_fold fold, tml_type type, bool narrow)
{
    switch (fold) {
    case TML_FOLD_MIN:
    case TML_FOLD_MAX:
        return type;
    case TML_FOLD_ARGMIN:
    case TML_FOLD_ARGMAX:
        return narrow ? TML_U32 : TML_U64;
    case TML_FOLD_SUM:
        if (!tml_type_is_float(type))
            return tml_type_is_signed(type) ? TML_I64 : TML_U64;
        return narrow ? TML_F32 : TML_F64;
    default:
        return narrow ? TML_F32 : TML_F64;
    }
}

static bool is_nan(tml_type type, number x)
{
    return tml_type_is_float(type) && isnan(x.real);
}

/* The number that stands for nothing: largest for a minimum, smallest for a maximum. */
static number fold_neutral(tml_type type, bool is_min)
{
    unsigned bits = 8 * (unsigned)tml_type_size(type);
    number x = {is_min ? INFINITY : -INFINITY, 0};
    if (tml_type_is_signed(type)) {
        uint64_t largest = UINT64_MAX >> (65 - bits);
        x.integer = is_min ? largest : ~largest;
    } else if (is_min) {
        x.integer = UINT64_MAX >> (64 - bits);
    }
    return x;
}

/* Two floats agree: both NaN, equal, or within tolerance. */
static bool agree(double a, double b, double tolerance)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= tolerance;
}

static double rounding_of(tml_type out_type, double value)
{
    return (out_type == TML_F32 ? 0x1p-24 : 0x1p-53) * fabs(value);
}

/* The error that the header allows a sum of n elements, as a share of the sum of their sizes: in
 * double precision on the CPU and for doubles, else in single precision within slope * log2 n +
 * start roundings. */
static long double sum_error(const case_run *c, tml_type type, uint64_t n, int slope, int start)
{
    if (c->engine == TML_ENGINE_CPU || type == TML_F64)
        return (long double)(n + 1) * 0x1p-53L;
    return (slope * log2l((long double)(n + 1)) + start) * 0x1p-24L;
}

/* Checks element at of out, the fold of in[first, end). */
static void check_fold(case_run *c, tml_fold fold, tml_type type, const void *in, uint64_t first,
                       uint64_t end, tml_type out_type, const case_array *out, uint64_t at)
{
    if (c->result != CASE_PASSED)
        return;
    number got = load(out_type, out->data, at);
    if (fold == TML_FOLD_SUM || fold == TML_FOLD_MEAN) {
        uint64_t exact = 0;
        long double sum = 0, size = 0;
        for (uint64_t i = first; i < end; i++) {
            number x = load(type, in, i);
            exact += x.integer;
            sum += (long double)as_double(type, x);
            size += fabsl((long double)as_double(type, x));
        }
        if (fold == TML_FOLD_SUM && !tml_type_is_float(type)) {
            if (got.integer != exact)
                case_fail(c, "sum %" PRIu64 " is %" PRIu64 ", expected %" PRIu64, at, got.integer,
                          exact);
            return;
        }
        uint64_t n = end - first;
        long double divisor = fold == TML_FOLD_MEAN ? (long double)n : 1; /* 0 / 0 is NaN */
        double expected = (double)(sum / divisor);
        double bound = (double)(sum_error(c, type, n, 1, 8) * size / (n ? divisor : 1));
        bound += 2 * rounding_of(out_type, expected);
        if (!agree(got.real, expected, bound))
            case_fail(c, "fold %" PRIu64 " of %" PRIu64 " is %.17g, expected %.17g within %g", at,
                      n, got.real, expected, bound);
        return;
    }
    bool is_min = fold == TML_FOLD_MIN || fold == TML_FOLD_ARGMIN, any = false,
         all_nan = first < end;
    number best = fold_neutral(type, is_min);
    uint64_t best_index = out_type == TML_U32 ? UINT32_MAX : UINT64_MAX;
    for (uint64_t i = first; i < end; i++) {
        number x = load(type, in, i);
        if (is_nan(type, x))
            continue;
        all_nan = false;
        if (!any || (is_min ? less(type, x, best) : less(type, best, x))) {
            best = x;
            best_index = i;
            any = true;
        }
    }
    if (fold == TML_FOLD_ARGMIN || fold == TML_FOLD_ARGMAX) {
        if (got.integer != best_index)
            case_fail(c, "index %" PRIu64 " is %" PRIu64 ", expected %" PRIu64, at, got.integer,
                      best_index);
    } else if (all_nan && tml_type_is_float(type)
                   ? !isnan(got.real)
                   : less(type, got, best) || less(type, best, got) || is_nan(type, got)) {
        case_fail(c, "fold %" PRIu64 " is %.17g, expected %.17g", at, as_double(type, got),
                  all_nan ? (double)NAN : as_double(type, best));
    }
}

static bool numbers_are_sensible(const case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    return tml_type_is_float(type) || case_is(c, "data", "random") || case_is(c, "data", "ties");
}

/* The folds of a case: its own, then those that the axis also says, each once. */
static uint32_t choose_folds(const case_run *c, tml_fold folds[TML_MAX_FOLDS])
{
    uint32_t count = 0;
    folds[count++] = fold_of(c);
    for (int f = TML_FOLD_SUM; f <= TML_FOLD_MEAN; f++)
        if (case_is(c, "also", "all") ||
            (case_is(c, "also", "two") && (f == TML_FOLD_MIN || f == TML_FOLD_ARGMAX)))
            folds[count++] = (tml_fold)f;
    return count;
}

/* Checks each component of a result as the fold of a stream of its own. */
static void check_components(case_run *c, tml_fold fold, tml_type type, const case_array *in,
                             uint64_t n, bool is_narrow, const case_array *out)
{
    tml_type scalar = tml_type_scalar(type), out_type = fold_type(fold, scalar, is_narrow);
    uint32_t components = tml_type_components(type);
    size_t size = tml_type_size(scalar);
    uint8_t *column = malloc(n * size + 1);
    if (!column)
        abort();
    for (uint32_t k = 0; k < components; k++) {
        for (uint64_t i = 0; i < n; i++)
            memcpy(column + i * size, (const uint8_t *)in->data + (i * components + k) * size,
                   size);
        check_fold(c, fold, scalar, column, 0, n, out_type, out, k);
    }
    free(column);
}

static void reduce_test(case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type")), scalar = tml_type_scalar(type);
    const tml_type vector = type - scalar; /* the same number of components of another scalar */
    bool is_narrow = case_is(c, "out", "narrow");
    tml_fold folds[TML_MAX_FOLDS];
    uint32_t count = choose_folds(c, folds);
    uint64_t bound = choose_count(c);
    tml_reduce_desc desc = {.folds[0].fold = folds[0]};
    uint64_t n = choose_length(c, bound, &desc.length);
    case_array *in = case_array_new(c, type, bound), *out[TML_MAX_FOLDS] = {NULL};
    fill_by_type(c, type, in->data, bound);
    desc.in = case_input(c, in, type, bound);
    for (uint32_t f = 0; f < count; f++)
        out[f] = case_output(c, vector + fold_type(folds[f], scalar, is_narrow), 1);
    desc.folds[0].out = handle(out[0]);
    for (uint32_t f = 1; f < count; f++) /* folds[1] stays unused */
        desc.folds[f + 1] = (tml_reduce_result){folds[f], handle(out[f])};
    c->bytes = n * tml_type_size(type);
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_reduce(c->tml, &desc);
    if (c->result != CASE_PASSED || !case_call(c, status))
        return;
    for (uint32_t f = 0; f < count; f++)
        if (case_fetch(c, out[f]))
            check_components(c, folds[f], type, in, n, is_narrow, out[f]);
}

static const char *const reduce_perf[] = {"reduce(count=67108864,type=f32,fold=sum)",
                                          "reduce(count=67108864,type=u32,fold=sum)",
                                          "reduce(count=67108864,type=f32,fold=argmin)",
                                          "reduce(count=67108864,type=f32,also=two)",
                                          "reduce(count=16777216,type=f32x3,fold=min)",
                                          "reduce(count=16777216,type=f32x4,fold=min)",
                                          NULL};
static const case_op reduce_op = {
    "reduce",
    {{"count", SEAMS " 2719 2720 2721", true}, /* and a tile of vectors of 12 bytes */
     {"type",
      SCALARS " f32x2 f32x3 f32x4 u32x2 u32x3 u32x4 i32x3 u64x2 u64x3 "
              "i64x3 i64x4 f64x2 f64x3 f64x4",
      false},
     {"fold", FOLDS, false},
     {"also", "none two all", false},
     {"out", "wide narrow", false},
     {"data", NUMBER_DATA, false},
     {"length", LENGTHS, false},
     {"threads", THREADS, true}},
    numbers_are_sensible,
    reduce_test,
    reduce_perf};

/* ---- histogram ------------------------------------------------------------------------------- */

#define BIN_SOURCES                                                                                \
    "u8 u16 u32 digit gathered position seen even even_f16 edges_f32 edges_u8 edges_u32 "          \
    "edges_i16 "                                                                                   \
    "edges_i64 edges_f16 edges_f64"
#define BIN_COUNTS                                                                                 \
    "256 1 2 15 16 17 255 257 1024 1025 4096 4097 65535 65536 65537 262144 262145 1048583"

/* The element type of a source of bins. */
static tml_type bin_source_type(const case_run *c)
{
    const char *from = case_text(c, "from");
    if (strncmp(from, "edges_", 6) == 0)
        return tml_type_from_name(from + 6);
    tml_type named = tml_type_from_name(from);
    return strcmp(from, "even") == 0       ? TML_F32
           : strcmp(from, "even_f16") == 0 ? TML_F16
           : named != TML_TYPE_NONE        ? named
                                           : TML_U32;
}

/* What is binned by value, not by a number of a bin. */
static bool bins_values(const case_run *c)
{
    const char *from = case_text(c, "from");
    return strncmp(from, "even", 4) == 0 || strncmp(from, "edges_", 6) == 0;
}

static bool histogram_is_sensible(const case_run *c)
{
    return bins_values(c) || !case_is(c, "data", "special");
}

/* The bins of an element, or what they are made of: most below bins, by a distribution's name. */
static uint64_t some_bin(case_run *c, uint64_t i, uint64_t bins)
{
    uint64_t x = case_random(c) >> 32;
    return case_is(c, "data", "one")      ? bins / 2
           : case_is(c, "data", "two")    ? (i & 1) * (bins - 1)
           : case_is(c, "data", "last")   ? bins - 1
           : case_is(c, "data", "past")   ? bins + x % 3 * (bins / 2)
           : case_is(c, "data", "runs")   ? i / 97 % bins
           : case_is(c, "data", "any")    ? x
           : case_is(c, "data", "skewed") ? (x & 0xffff) * (x >> 16) * bins >> 32
                                          : x % bins;
}

/* The values from LOW to HIGH are binned: in an integer's whole range all but an eighth on each
 * side. */
static const double LOW = -2, HIGH = 3;
static void put_value(tml_type type, uint8_t *out, double value)
{
    double from = 0, size = 8.0 * (double)tml_type_size(type);
    uint16_t half = 0;
    float single = (float)value;
    if (type == TML_F16) {
        for (uint16_t bit = 0x4000; bit; bit >>= 1) /* the one below */
            if (half + bit < 0x7c00 && half_value(half + bit) <= fabs(value))
                half |= bit;
        half = isnan(value) ? 0x7e00 : isinf(value) ? 0x7c00 : half;
        half |= signbit(value) ? 0x8000 : 0;
        memcpy(out, &half, sizeof half);
    } else if (type == TML_F32) {
        memcpy(out, &single, sizeof single);
    } else if (type == TML_F64) {
        memcpy(out, &value, sizeof value);
    } else {
        from = tml_type_is_signed(type) ? -ldexp(0.5, (int)size) : 0;
        value = isnan(value)         ? 0
                : value < LOW - 0.5  ? LOW - 0.5
                : value > HIGH + 0.5 ? HIGH + 0.5
                                     : value;
        value = from + ldexp((value - LOW + 0.625) / 6.25, (int)size);
        uint64_t bits = value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
        put_low(out, bits, tml_type_size(type));
    }
}

/* Values: element i is near the middle of some bin, or one that needs care. */
static void fill_values(case_run *c, tml_type type, uint8_t *out, uint64_t n, uint64_t bins)
{
    const double special[] = {NAN,
                              -NAN,
                              INFINITY,
                              -INFINITY,
                              -0.0,
                              0.0,
                              0x1p-130,
                              -0x1p-130,
                              0x1p-126,
                              LOW,
                              HIGH,
                              nextafterf((float)LOW, -9),
                              nextafterf((float)HIGH, 9),
                              nextafterf((float)HIGH, 0)};
    for (uint64_t i = 0; i < n; i++, out += tml_type_size(type)) {
        double place = (double)some_bin(c, i, bins) + (double)(case_random(c) >> 40) * 0x1p-24;
        double value = LOW + (HIGH - LOW) * place / (double)bins;
        if (case_is(c, "data", "last"))
            value = HIGH;
        if (case_is(c, "data", "special") && i % 3 > 0)
            value = i % 3 == 1 ? special[case_random(c) % (sizeof special / sizeof *special)]
                               : LOW + (HIGH - LOW) * floor(place) / (double)bins;
        put_value(type, out, value);
        if (case_is(c, "data", "any")) {
            uint64_t bits = case_random(c);
            put_low(out, bits, tml_type_size(type));
        }
    }
}

/* Edges in order, some of them equal. */
static void fill_edges(tml_type type, uint8_t *out, uint64_t bins)
{
    for (uint64_t b = 0; b <= bins; b++) {
        uint64_t from = b % 7 == 3 || b == bins - 1 ? b - (b > 0) : b;
        double value = LOW + (HIGH - LOW) * (double)from / (double)bins;
        put_value(type, out + b * tml_type_size(type), b % 16 == 1 && value == 0 ? -0.0 : value);
    }
}

/* The bin of a value: the last edge that is not after it, by halving. */
static uint64_t bin_between(tml_type type, const void *edges, uint64_t bins, const void *in,
                            uint64_t i)
{
    number x = load(type, in, i);
    uint64_t low = 0, high = bins;
    if (is_nan(type, x) || less(type, x, load(type, edges, 0)) ||
        less(type, load(type, edges, bins), x))
        return UINT64_MAX;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (less(type, x, load(type, edges, middle)))
            high = middle;
        else
            low = middle;
    }
    return low;
}

static uint64_t even_bin(tml_type type, const void *in, uint64_t i, uint64_t bins)
{
    float x = (float)load(type, in, i).real, low = (float)LOW;
    x = fabsf(x) < 0x1p-126f ? 0 : x;
    if (!(x >= low && x <= (float)HIGH))
        return UINT64_MAX;
    float above = x - low, scale = (float)((double)bins / (HIGH - LOW)), place = above * scale;
    return (uint64_t)place < bins ? (uint64_t)place : bins - 1;
}

/* Weights of the axis's type; floats of many sizes, and some that count as 0. */
static case_array *choose_weights(case_run *c, uint64_t n, tml_histogram_desc *desc)
{
    if (case_is(c, "weights", "none"))
        return NULL;
    tml_type type = tml_type_from_name(case_text(c, "weights"));
    case_array *weights = case_array_new(c, type, n);
    for (uint64_t i = 0; i < n && weights->data; i++) {
        uint64_t x = case_random(c);
        float f = ldexpf((float)(int32_t)x, -30 - (int)(x >> 32) % 40);
        const float special[] = {NAN, INFINITY, -INFINITY, 0x1p-140f, -0.0f};
        if (x >> 32 & 1 && x % 97 < 5)
            f = special[x % 97];
        if (type == TML_F32)
            memcpy(weights->data + i * sizeof f, &f, sizeof f);
        else
            put_low(weights->data + i * tml_type_size(type), x, tml_type_size(type));
    }
    desc->weights = case_input(c, weights, type, n);
    return weights;
}

/* The unit of float weights: 2^-62 of the bound times the largest, powers of two. */
static int weight_unit(const float *weights, uint64_t n, uint64_t bound)
{
    int exponent, largest = -126, length = 0;
    for (uint64_t i = 0; i < n; i++)
        if (isnormal(weights[i])) {
            frexpf(weights[i], &exponent);
            largest = exponent > largest ? exponent : largest;
        }
    while (bound > (uint64_t)1 << length)
        length++;
    return largest + length - 62;
}

/* What an element adds to its bin. */
static uint64_t weight_of(const case_array *weights, tml_type type, uint64_t i, int unit)
{
    if (!weights)
        return 1;
    number x = load(type, weights->data, i);
    if (type != TML_F32)
        return x.integer;
    return isnormal((float)x.real) ? (uint64_t)llround(ldexp(x.real, -unit)) : 0;
}

static void histogram_check(case_run *c, case_array *out, const uint64_t *expected, uint64_t bins,
                            int unit)
{
    if (!case_is(c, "weights", "f32")) {
        check_numbers(c, "out", out, "out", expected, bins);
        return;
    }
    float *sums = calloc(bins, sizeof *sums);
    if (!sums)
        abort();
    for (uint64_t b = 0; b < bins; b++) {
        sums[b] = (float)ldexpl((long double)(int64_t)expected[b], unit);
        sums[b] = isnormal(sums[b]) ? sums[b] : 0;
    }
    case_check(c, "out", out, sums, bins * sizeof *sums);
    free(sums);
}

/* What gives the bins of a case. */
typedef struct bin_source {
    const char *from;
    tml_type type;
    case_array *in, *edges;
    uint32_t words[1024];
    uint64_t bins;
} bin_source;

static void choose_bins(case_run *c, uint64_t bound, bin_source *s, tml_histogram_desc *desc)
{
    size_t size = tml_type_size(s->type);
    s->in = case_array_new(c, s->type, bound);
    if (bins_values(c))
        fill_values(c, s->type, s->in->data, bound, s->bins);
    for (uint64_t i = 0; i < bound && !bins_values(c); i++) {
        uint64_t bin = some_bin(c, i, s->bins);
        put_low(s->in->data + i * size, bin, size);
    }
    if (strcmp(s->from, "position") == 0) {
        desc->kernel = TML_USE(bin_position);
        desc->length.count = desc->length.exact ? desc->length.count : bound;
        return;
    }
    desc->in[0] = case_input(c, s->in, s->type, bound);
    if (strcmp(s->from, "digit") == 0)
        desc->kernel = TML_USE(bin_digit);
    if (strcmp(s->from, "seen") == 0)
        desc->kernel = TML_USE(bin_seen);
    if (strcmp(s->from, "gathered") == 0) {
        desc->kernel = TML_USE(bin_gathered);
        for (uint32_t w = 0; w < 1024; w++)
            s->words[w] = (uint32_t)(w * 7 % s->bins);
        case_array *table = case_array_new(c, TML_U32, 1024);
        memcpy(table->data, s->words, sizeof s->words);
        desc->in[1] = case_input(c, table, TML_U32, 1024);
    }
    if (strncmp(s->from, "even", 4) == 0)
        desc->lower = (float)LOW, desc->upper = (float)HIGH;
    if (strncmp(s->from, "edges_", 6) == 0) {
        s->edges = case_array_new(c, s->type, s->bins + 1);
        fill_edges(s->type, s->edges->data, s->bins);
        desc->edges = case_input(c, s->edges, s->type, s->bins + 1);
    }
}

static uint64_t bin_of(const bin_source *s, uint64_t i, tml_params params)
{
    const void *in = s->in->data;
    if (s->edges)
        return bin_between(s->type, s->edges->data, s->bins, in, i);
    if (strncmp(s->from, "even", 4) == 0)
        return even_bin(s->type, in, i, s->bins);
    uint64_t x = load(s->type, in, i).integer;
    return strcmp(s->from, "digit") == 0      ? bin_digit((uint32_t)x, params)
           : strcmp(s->from, "gathered") == 0 ? bin_gathered((uint32_t)x, s->words, i)
           : strcmp(s->from, "position") == 0 ? bin_position(i, params)
           : strcmp(s->from, "seen") == 0
               ? (uint64_t)row_times(&params, 2, (double)(x & 63), 0, 0, 1) % s->bins
               : x;
}

static void histogram_test(case_run *c)
{
    uint64_t bound = choose_count(c), bins = case_number(c, "bins");
    uint64_t room = case_is(c, "room", "more") ? bins + 3 : bins, *expected;
    bin_source source = {.from = case_text(c, "from"), .type = bin_source_type(c), .bins = bins};
    tml_type weight_type = tml_type_from_name(case_text(c, "weights"));
    tml_histogram_desc desc = {.params =
                                   with_matrix((tml_params){.u = {0, 3, (uint32_t)bins, 0}}, 0.0f)};
    uint64_t n = choose_length(c, bound, &desc.length);
    expected = calloc(bins, sizeof *expected);
    if (!expected)
        abort();
    choose_bins(c, bound, &source, &desc);
    if (room != bins)
        desc.bins = (uint32_t)bins;
    case_array *weights = choose_weights(c, bound, &desc);
    int unit = weight_type == TML_F32 ? weight_unit((float *)(void *)weights->data, n, bound) : 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bin = bin_of(&source, i, desc.params);
        if (bin < bins)
            expected[bin] += weight_of(weights, weight_type, i, unit);
    }
    tml_type out_type = tml_type_from_name(case_text(c, "out"));
    case_array *out = case_output(c, weight_type == TML_F32 ? TML_F32 : out_type, room);
    desc.out = handle(out);
    c->bytes = n * (tml_type_size(source.type) + (weights ? tml_type_size(weight_type) : 0));
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_histogram(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status))
        histogram_check(c, out, expected, bins, unit);
    free(expected);
}

static const char *const histogram_perf[] = {"histogram(count=67108864,from=u8)",
                                             "histogram(count=67108864,from=u32)",
                                             "histogram(count=67108864,from=u32,data=one)",
                                             "histogram(count=67108864,from=u32,data=two)",
                                             "histogram(count=67108864,from=digit)",
                                             "histogram(count=67108864,from=even)",
                                             "histogram(count=67108864,from=edges_f32)",
                                             "histogram(count=67108864,from=u32,weights=f32)",
                                             "histogram(count=67108864,from=u32,bins=65536)",
                                             "histogram(count=67108864,from=u32,bins=1048583)",
                                             NULL};
static const case_op histogram_op = {
    "histogram",
    {{"count", SEAMS " 65535 65536", true},
     {"from", BIN_SOURCES, false},
     {"bins", BIN_COUNTS, true},
     {"data", "uniform one two last past runs any skewed special", false},
     {"weights", "none u8 u16 u32 f32", false},
     {"out", "u32 u64", false},
     {"room", "exact more", false},
     {"length", LENGTHS, false},
     {"threads", THREADS, true}},
    histogram_is_sensible,
    histogram_test,
    histogram_perf};

/* ---- scan ------------------------------------------------------------------------------------ */

#define SCAN_TYPES "u32 u8 u16 u64 i32 i64 f32 f64"

/* Integers of any kind go into any integer that is offered; floats stay what they are. */
static bool scan_types_fit(const case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    tml_type out = tml_type_from_name(case_text(c, "out"));
    if (tml_type_is_float(type) || tml_type_is_float(out))
        return type == out;
    return case_is(c, "in_place", "no") || type == out;
}

/* The smallest and the largest stay what they are, too, and they alone ignore NaN. */
static bool scan_is_sensible(const case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    tml_type out = tml_type_from_name(case_text(c, "out"));
    bool is_plain = case_is(c, "data", "random") || case_is(c, "data", "ties");
    if (case_is(c, "fold", "sum"))
        return is_plain && scan_types_fit(c);
    bool is_widened = tml_type_size(type) < 4 && out == TML_U32;
    return scan_types_fit(c) && (type == out || is_widened) &&
           (is_plain || tml_type_is_float(type));
}

/* Checks out against the running sum of start and in[first, end), and optionally the sum of all. */
static void check_scan(case_run *c, tml_type type, const void *in, uint64_t first, uint64_t end,
                       bool inclusive, number start, tml_type out_type, const case_array *out,
                       const case_array *total)
{
    size_t out_size = tml_type_size(out_type);
    uint64_t exact = start.integer;
    long double sum = (long double)start.real, size = fabsl(sum);
    for (uint64_t i = first; i <= end && c->result == CASE_PASSED; i++) {
        bool is_total = i == end;
        if (is_total && !total)
            return;
        number x = is_total ? (number){0, 0} : load(type, in, i);
        number got = load(out_type, is_total ? total->data : out->data, is_total ? 0 : i);
        if (inclusive && !is_total) {
            exact += x.integer;
            sum += (long double)x.real;
            size += fabsl((long double)x.real);
        }
        if (!tml_type_is_float(type)) {
            if ((got.integer ^ exact) << (64 - 8 * out_size) != 0)
                case_fail(c, "scan %" PRIu64 ": %" PRIu64 ", expected %" PRIu64, i, got.integer,
                          exact);
        } else {
            double bound = (double)(sum_error(c, type, i - first, 2, 16) * size) +
                           2 * rounding_of(out_type, (double)sum);
            if (!agree(got.real, (double)sum, bound))
                case_fail(c, "scan %" PRIu64 ": %.17g, expected %.17g within %g", i, got.real,
                          (double)sum, bound);
        }
        if (!inclusive) {
            exact += x.integer;
            sum += (long double)x.real;
            size += fabsl((long double)x.real);
        }
    }
}

/* Is a before b, for MIN, or after it? NaN is neither. */
static bool beats(tml_type type, bool is_max, number a, number b)
{
    number low = is_max ? b : a, high = is_max ? a : b;
    if (tml_type_is_float(type))
        return low.real < high.real ||
               (low.real == high.real && signbit(low.real) && !signbit(high.real));
    return tml_type_is_signed(type) ? (int64_t)low.integer < (int64_t)high.integer
                                    : low.integer < high.integer;
}

/* The least number for MAX, the largest one for MIN. */
static number neutral_to(tml_type type, bool is_max)
{
    number worst = {.real = is_max ? -INFINITY : INFINITY};
    uint64_t bits = 8 * tml_type_size(type), most = UINT64_MAX >> (64 - bits);
    if (tml_type_is_signed(type))
        worst.integer = is_max ? ~(most >> 1) : most >> 1; /* sign-extended */
    else
        worst.integer = is_max ? 0 : most;
    return worst;
}

/* Checks out and total against the best of start and in[0, n) so far, bit for bit. */
static void check_extremes(case_run *c, tml_type type, const void *in, uint64_t n, bool is_max,
                           bool inclusive, const number *start, tml_type out_type,
                           const case_array *out, const case_array *total)
{
    number best = neutral_to(out_type, is_max);
    if (start && beats(out_type, is_max, *start, best))
        best = *start;
    for (uint64_t i = 0; i <= n && c->result == CASE_PASSED; i++) {
        if (i == n && !total)
            return;
        number x = i < n ? load(type, in, i) : best;
        number before = best;
        if (beats(out_type, is_max, x, best))
            best = x;
        number expected = inclusive ? best : before;
        number got = load(out_type, i < n ? out->data : total->data, i < n ? i : 0);
        bool same = tml_type_is_float(out_type)
                        ? got.real == expected.real && !signbit(got.real) == !signbit(expected.real)
                        : got.integer == expected.integer;
        if (!same)
            case_fail(c, "scan %" PRIu64 ": %.17g %" PRIu64 ", expected %.17g %" PRIu64, i,
                      got.real, got.integer, expected.real, expected.integer);
    }
}

static void scan_test(case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    tml_type out_type = tml_type_from_name(case_text(c, "out"));
    uint64_t bound = choose_count(c);
    bool in_place = case_is(c, "in_place", "yes");
    bool is_sum = case_is(c, "fold", "sum"), is_max = case_is(c, "fold", "max");
    tml_scan_desc desc = {.inclusive = case_is(c, "kind", "inclusive"),
                          .method = method_of(c),
                          .fold = is_sum   ? TML_FOLD_SUM
                                  : is_max ? TML_FOLD_MAX
                                           : TML_FOLD_MIN};
    uint64_t n = choose_length(c, bound, &desc.length);
    case_array *in = case_array_new(c, type, bound);
    fill_numbers(c, type, in->data, bound);
    uint8_t *saved = malloc(in->size + 1);
    if (!saved)
        abort();
    memcpy(saved, in->data, in->size);
    desc.in = case_input(c, in, type, bound);
    case_array *out = in_place ? in : case_output(c, out_type, bound);
    desc.out = handle(out);
    case_array *total = case_is(c, "total", "yes") ? case_output(c, out_type, 1) : NULL;
    desc.total = handle(total);
    number start = {0, 0};
    bool has_start = case_is(c, "start", "yes");
    if (has_start) {
        case_array *one = case_array_new(c, out_type, 1);
        fill_numbers(c, out_type, one->data, 1);
        start = load(out_type, one->data, 0);
        desc.start = case_input(c, one, out_type, 1);
    }
    c->bytes = n * (tml_type_size(type) + tml_type_size(out_type));
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_scan(c->tml, &desc);
    size_t written = (size_t)n * tml_type_size(out_type);
    if (c->result == CASE_PASSED && case_call(c, status) && case_fetch(c, out) &&
        (!total || case_fetch(c, total)) && !(c->is_timed && in_place)) {
        if (is_sum)
            check_scan(c, type, saved, 0, n, desc.inclusive, start, out_type, out, total);
        else
            check_extremes(c, type, saved, n, is_max, desc.inclusive, has_start ? &start : NULL,
                           out_type, out, total);
        if (!in_place)
            case_check_rest(c, "out", out, written);
        else if (memcmp(out->data + written, saved + written, out->size - written) != 0)
            case_fail(c, "out: the elements past the length changed");
    }
    free(saved);
}

static const char *const scan_perf[] = {"scan(count=67108864)", "scan(count=67108864,type=u8)",
                                        "scan(count=67108864,type=f32,out=f32)", NULL};
static const case_op scan_op = {"scan",
                                {{"count", SEAMS, true},
                                 {"type", SCAN_TYPES, false},
                                 {"out", "u32 u64 i32 i64 f32 f64", false},
                                 {"kind", "exclusive inclusive", false},
                                 {"total", "no yes", false},
                                 {"in_place", "no yes", false},
                                 {"data", "random ties nan allnan inf", false},
                                 {"fold", "sum min max", false},
                                 {"start", "no yes", false},
                                 {"length", LENGTHS, false},
                                 {"method", METHODS, false},
                                 {"threads", THREADS, true}},
                                scan_is_sensible,
                                scan_test,
                                scan_perf};

/* ---- compact and partition ------------------------------------------------------------------- */

/* Where the keep bits come from. A kernel looks at data of its own that is made to fit the bits;
 * payload: at the first payload, because keep.in is zeroed. */
#define KEEP_SOURCES                                                                               \
    "flags mask kernel_f32 kernel_f16 kernel_u8 kernel_u16 kernel_u32 kernel_i8 kernel_i16 "       \
    "kernel_i32 kernel_f64 kernel_i64 kernel_vec3 kernel_uvec2 kernel_words kernel_index "         \
    "kernel_matrix "                                                                               \
    "payload"

static const tml_kernel *keep_kernel_of(tml_type type)
{
    switch (type) {
    case TML_F32:
    case TML_F16:
        return TML_USE(keep_positive);
    case TML_U8:
    case TML_U16:
    case TML_U32:
        return TML_USE(keep_odd);
    case TML_F64:
        return TML_USE(keep_double);
    case TML_I64:
        return TML_USE(keep_int64);
    case TML_VEC(TML_F32, 3):
        return TML_USE(keep_uphill);
    case TML_VEC(TML_U32, 2):
        return TML_USE(keep_ordered);
    default:
        return TML_USE(keep_negative);
    }
}

/* Random elements that the type's keep kernel answers with flags. */
static void fill_keys(case_run *c, tml_type type, const uint8_t *flags, void *out, uint64_t n)
{
    size_t size = tml_type_size(type);
    uint8_t *p = out;
    for (uint64_t i = 0; i < n; i++, p += size) {
        uint64_t x = case_random(c);
        double value = (double)(x >> 11) * 0x1p-40 + 1;
        if (type == TML_F32 || type == TML_VEC(TML_F32, 3)) {
            float f[3] = {(float)value, (float)value, -(float)value};
            f[type == TML_F32 ? 0 : 1] *= flags[i] ? 1.0f : -1.0f;
            memcpy(p, f, size);
        } else if (type == TML_VEC(TML_U32, 2)) {
            uint32_t low = (uint32_t)(x >> 33), high = low + 1 + (uint32_t)(x & 0xff);
            memcpy(p, flags[i] ? (uint32_t[]){low, high} : (uint32_t[]){high, low}, size);
        } else if (type == TML_F64) {
            value = flags[i] ? value : -value;
            memcpy(p, &value, size);
        } else if (type == TML_F16) {
            uint16_t h = (uint16_t)((x & 0x7bff) | 1 | (flags[i] ? 0 : 0x8000));
            memcpy(p, &h, size);
        } else {
            uint64_t sign = (uint64_t)1 << (8 * size - 1);
            if (tml_type_is_signed(type))
                x = flags[i] ? x | sign : x & ~sign;
            else
                x = (x & ~(uint64_t)1) | flags[i];
            put_low(p, x, size);
        }
    }
}

static void choose_keep(case_run *c, const uint8_t *flags, uint64_t n, tml_keep *keep)
{
    const char *src = case_text(c, "src");
    if (strcmp(src, "flags") == 0) {
        case_array *array = case_array_new(c, TML_U8, n);
        for (uint64_t i = 0; i < n; i++)
            array->data[i] = flags[i] ? (uint8_t)(case_random(c) % 255 + 1) : 0;
        keep->flags = case_input(c, array, TML_U8, n);
    } else if (strcmp(src, "mask") == 0) {
        uint64_t words = (n + 31) / 32;
        case_array *array = case_array_new(c, TML_U32, words);
        fill_random(c, array->data, array->size); /* bits past the length mean nothing */
        for (uint64_t i = 0; i < n; i++) {
            uint8_t bit = (uint8_t)(1 << i % 8), *byte = array->data + byte_of_bit(i);
            *byte = (uint8_t)(flags[i] ? *byte | bit : *byte & ~bit);
        }
        keep->mask = case_input(c, array, TML_U32, words);
    } else if (strcmp(src, "kernel_words") == 0) {
        /* Element i looks at bit n - 1 - i. */
        case_array *array = case_array_new(c, TML_U32, n);
        case_array *words = case_array_new(c, TML_U32, (n + 31) / 32);
        memset(words->data, 0, words->size);
        for (uint64_t i = 0; i < n; i++) {
            uint32_t at = (uint32_t)(n - 1 - i);
            memcpy(array->data + 4 * i, &at, sizeof at);
            words->data[byte_of_bit(at)] |= (uint8_t)(flags[i] << at % 8);
        }
        keep->kernel = TML_USE(keep_gathered);
        keep->in[0] = case_input(c, array, TML_U32, n);
        keep->in[1] = case_input(c, words, TML_U32, (n + 31) / 32);
    } else if (strcmp(src, "kernel_index") == 0) {
        case_array *array = case_array_new(c, TML_U8, n);
        for (uint64_t i = 0; i < n; i++)
            array->data[i] = (uint8_t)((case_random(c) & 0xfe) + ((flags[i] ^ i) & 1));
        keep->kernel = TML_USE(keep_by_index);
        keep->params.u[2] = 1;
        keep->in[0] = case_input(c, array, TML_U8, n);
    } else if (strcmp(src, "kernel_matrix") == 0) {
        /* Row 2 of the matrix: 9 x + 10 > 300 where x is above 32. */
        case_array *array = case_array_new(c, TML_U32, n);
        for (uint64_t i = 0; i < n; i++) {
            uint32_t x = (uint32_t)case_random(c);
            x = (x & ~(uint32_t)255) | (flags[i] ? 33 + x % 223 : x % 33);
            memcpy(array->data + 4 * i, &x, sizeof x);
        }
        keep->kernel = TML_USE(keep_seen);
        keep->params = with_matrix(keep->params, 1.0f);
        keep->in[0] = case_input(c, array, TML_U32, n);
    } else if (strcmp(src, "payload") == 0) {
        keep->kernel = TML_USE(keep_positive);
    } else {
        const char *name = src + strlen("kernel_");
        tml_type type = strcmp(name, "vec3") == 0    ? TML_VEC(TML_F32, 3)
                        : strcmp(name, "uvec2") == 0 ? TML_VEC(TML_U32, 2)
                                                     : tml_type_from_name(name);
        case_array *array = case_array_new(c, type, n);
        fill_keys(c, type, flags, array->data, n);
        keep->kernel = keep_kernel_of(type);
        keep->in[0] = case_input(c, array, type, n);
    }
}

static bool compact_is_sensible(const case_run *c)
{
    uint64_t payloads = case_number(c, "payloads"), n = choose_count(c);
    if (case_is(c, "src", "payload") && (payloads == 0 || !case_is(c, "elem", "4")))
        return false;
    bool in_place = case_is(c, "in_place", "yes"), is_short = case_is(c, "room", "short");
    bool appends = !case_is(c, "first", "none");
    if (in_place && (payloads == 0 || is_short || appends))
        return false;
    if (case_is(c, "first", "cursor") && case_is(c, "counter", "none"))
        return false;
    if (in_place && !case_is(c, "method", "auto") && !case_is(c, "method", "look_back"))
        return false;
    /* One case of a million elements is as good as another: keep the big ones light. */
    return n < 100000 || (payloads <= 2 && case_number(c, "elem") <= 16);
}

typedef struct payload_case {
    case_array *in, *out;
    size_t size;
    uint8_t *expected; /* the whole output in place, else what compaction writes */
    size_t expected_size;
} payload_case;

/* Runs compact or partition, which differ in what comes after the kept. */
static void compact_or_partition(case_run *c, bool partition)
{
    uint64_t bound = choose_count(c);
    tml_compact_desc desc = {.partition = partition, .method = method_of(c)};
    uint64_t n = choose_length(c, bound, &desc.length);
    uint8_t *flags = choose_flags(c, bound);
    uint64_t kept = sum_flags(flags, n);

    bool in_place = case_is(c, "in_place", "yes");
    uint64_t room = case_is(c, "room", "short") ? kept / 2 : bound;
    uint64_t first = partition ? 0 : first_of(c, room);
    uint64_t lead = first == LEAD ? LEAD : 0; /* elements before the outputs, left as they are */
    room += lead;

    /* Where each output comes from. */
    uint64_t *sources = malloc((lead + n) * sizeof *sources + 1), moved = 0;
    if (!sources)
        abort();
    memset(sources, CASE_PATTERN, lead * sizeof *sources);
    for (uint64_t i = 0; i < n; i++)
        if (flags[i])
            sources[lead + moved++] = i;
    for (uint64_t i = 0; i < n && partition; i++)
        if (!flags[i])
            sources[lead + moved++] = i;
    uint64_t written = first > lead ? 0 : lead + moved < room ? lead + moved : room;
    int payload_count = (int)case_number(c, "payloads");
    payload_case payloads[TML_MAX_PAYLOADS] = {0};
    c->bytes = 0;
    for (int p = 0; p < payload_count; p++) {
        payload_case *payload = &payloads[p];
        static const uint64_t other_sizes[] = {0, 4, 1, 12, 8, 2, 16, 3};
        tml_type type = type_of_size(p == 0 ? case_number(c, "elem") : other_sizes[p]);
        size_t size = payload->size = tml_type_size(type);
        payload->in = case_array_new(c, type, bound);
        fill_random(c, payload->in->data, payload->in->size);
        if (p == 0 && case_is(c, "src", "payload"))
            fill_keys(c, TML_F32, flags, payload->in->data, bound);
        payload->expected_size = in_place ? payload->in->size : written * size;
        payload->expected = malloc(payload->expected_size + 1);
        if (!payload->expected)
            abort();
        if (in_place)
            memcpy(payload->expected, payload->in->data, payload->in->size);
        if (written > 0)
            memset(payload->expected, CASE_PATTERN, lead * size);
        for (uint64_t j = lead; j < written; j++)
            memcpy(payload->expected + j * size, payload->in->data + sources[j] * size, size);
        desc.payloads[p].in = case_input(c, payload->in, type, bound);
        payload->out = in_place ? payload->in : case_output(c, type, room);
        desc.payloads[p].out = handle(payload->out);
        c->bytes += (n + moved) * size;
    }
    choose_keep(c, flags, bound, &desc.keep);
    if (payload_count == 0 && !desc.length.exact)
        desc.length.count = bound; /* a mask has no exact count to default to */
    c->bytes += case_is(c, "src", "flags") ? n : case_is(c, "src", "mask") ? n / 8 : 0;
    case_array *indices = number_output(c, "indices", room);
    case_array *count = number_output(c, "counter", 1);
    desc.indices = handle(indices);
    desc.count = handle(count);
    if (!partition)
        desc.out_first = choose_first(c, first, count);
    uint64_t end = saturated(c, "counter", first + kept);

    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_compact(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status)) {
        check_numbers(c, "count", count, "counter", &end, 1);
        check_numbers(c, "indices", indices, "indices", sources, written);
        for (int p = 0; p < payload_count; p++)
            case_check(c, "payload", payloads[p].out, payloads[p].expected,
                       payloads[p].expected_size);
    }
    for (int p = 0; p < payload_count; p++)
        free(payloads[p].expected);
    free(sources);
    free(flags);
}

static void compact_test(case_run *c)
{
    compact_or_partition(c, false);
}

static void partition_test(case_run *c)
{
    compact_or_partition(c, true);
}

#define SIZES "4 1 2 3 6 8 12 16 24 32 63 64"

static const char *const compact_perf[] = {
    "compact(count=16777216,src=kernel_u32,dist=half)",
    "compact(count=16777216,src=flags,dist=half)",
    "compact(count=16777216,src=mask,dist=half)",
    "compact(count=16777216,src=payload,dist=half)",
    "compact(count=16777216,src=payload,dist=sparse)",
    "compact(count=16777216,src=payload,dist=most)",
    "compact(count=4194304,src=flags,dist=half,method=histopyramid)",
    NULL};
static const case_op compact_op = {"compact",
                                   {{"count", SEAMS, true},
                                    {"elem", SIZES, true},
                                    {"dist", DISTRIBUTIONS, false},
                                    {"src", KEEP_SOURCES, false},
                                    {"payloads", "1 0 2 3 8", true},
                                    {"indices", "none u32 u64", false},
                                    {"counter", "u32 none u64", false},
                                    {"in_place", "no yes", false},
                                    {"room", "full short", false},
                                    {"first", FIRSTS, false},
                                    {"length", LENGTHS, false},
                                    {"method", METHODS, false},
                                    {"threads", THREADS, true}},
                                   compact_is_sensible,
                                   compact_test,
                                   compact_perf};

static const char *const partition_perf[] = {"partition(count=16777216,src=flags,dist=half)", NULL};
static const case_op partition_op = {"partition",
                                     {{"count", SEAMS, true},
                                      {"elem", SIZES, true},
                                      {"dist", DISTRIBUTIONS, false},
                                      {"src", KEEP_SOURCES, false},
                                      {"payloads", "1 0 2 3 8", true},
                                      {"indices", "none u32 u64", false},
                                      {"counter", "u32 none u64", false},
                                      {"length", LENGTHS, false},
                                      {"method", METHODS, false},
                                      {"threads", THREADS, true}},
                                     compact_is_sensible,
                                     partition_test,
                                     partition_perf};

/* ---- expand ---------------------------------------------------------------------------------- */

#define COUNT_DATA "few none one alternate sparse giant tens mixed"

/* counts: few 0 ... 7; tens 0 ... 60; giant: one source in the middle has nearly all; mixed: zeros,
 * few and now and then some hundreds. largest: what the type holds. */
static uint64_t choose_source_count(case_run *c, uint64_t i, uint64_t n, uint64_t largest)
{
    uint64_t x = case_random(c) >> 20, count = 0;
    if (case_is(c, "dist", "few"))
        count = x % 8;
    else if (case_is(c, "dist", "one"))
        count = 1;
    else if (case_is(c, "dist", "alternate"))
        count = i & 1 ? 8 : 0;
    else if (case_is(c, "dist", "sparse"))
        count = x % 1000 == 0 ? 5 : 0;
    else if (case_is(c, "dist", "giant"))
        count = i == n / 2 ? 300000 : x % 64 == 0;
    else if (case_is(c, "dist", "tens"))
        count = x % 61;
    else if (case_is(c, "dist", "mixed"))
        count = x % 3 == 0 ? 0 : x % 500 == 1 ? 700 : x % 11;
    return count < largest ? count : largest;
}

static bool expand_is_sensible(const case_run *c)
{
    /* What looks its counts up knows those below 1024, and shares its inputs with the emit
     * kernel. */
    if (case_is(c, "counts", "gathered") &&
        (case_is(c, "dist", "giant") ||
         !(case_is(c, "emit", "none") || case_is(c, "emit", "gathered"))))
        return false;
    if (case_is(c, "first", "cursor") && case_is(c, "total", "none"))
        return false;
    return choose_count(c) < 100000 || !case_is(c, "dist", "tens");
}

/* Word x is x ^ LOOKED_UP, so that a count is looked up at itself ^ LOOKED_UP. */
enum { LOOKED_UP = 0x155 };
static tml_buffer lookup_table(case_run *c, uint32_t words[1024])
{
    case_array *table = case_array_new(c, TML_U32, 1024);
    for (uint32_t x = 0; x < 1024; x++)
        words[x] = x ^ LOOKED_UP;
    memcpy(table->data, words, table->size);
    return case_input(c, table, TML_U32, 1024);
}

/* Outputs after the first of an emit kernel, with room for room elements and more, and what is
 * expected. */
typedef struct more_outs {
    case_array *array;
    size_t size;
    uint8_t *expected;
} more_outs;

static const tml_kernel *more_kernel(const case_run *c)
{
    return case_is(c, "emit", "two") ? TML_USE(emit_two) : TML_USE(emit_four);
}

static void choose_more(case_run *c, tml_expand_desc *desc, uint64_t room, more_outs more[3])
{
    for (uint32_t k = 1; desc->emit_kernel && k < desc->emit_kernel->out_count; k++) {
        tml_type type = desc->emit_kernel->outs[k];
        more[k - 1].size = tml_type_size(type);
        more[k - 1].array = case_output(c, type, room + k);
        desc->out[k] = handle(more[k - 1].array);
    }
}

static void expect_several(const tml_expand_desc *desc, const uint64_t at[4], uint8_t *first,
                           const more_outs more[3])
{
    uint64_t j = at[3];
    if (desc->emit_kernel == TML_USE(emit_two)) {
        emit_two_out o = emit_two((uint32_t)at[0], at[1], (uint32_t)at[2], desc->params);
        memcpy(first, &o.point, sizeof o.point);
        memcpy(more[0].expected + j * sizeof o.code, &o.code, sizeof o.code);
        return;
    }
    emit_four_out o = emit_four((uint32_t)at[0], at[1], (uint32_t)at[2], desc->params);
    o.pair.y = (float)row_times(&desc->params, 0, 0.5, 0, 2, 1);
    memcpy(first, &o.last, sizeof o.last);
    memcpy(more[0].expected + j * sizeof o.place, &o.place, sizeof o.place);
    memcpy(more[1].expected + j * sizeof o.all, &o.all, sizeof o.all);
    memcpy(more[2].expected + j * sizeof o.pair, &o.pair, sizeof o.pair);
}

static void expand_test(case_run *c)
{
    uint64_t bound = choose_count(c);
    bool by_gather = case_is(c, "counts", "gathered");
    bool by_matrix = case_is(c, "counts", "matrix");
    bool by_kernel = case_is(c, "counts", "kernel") || by_gather || by_matrix;
    tml_type count_type = by_kernel ? TML_U32 : tml_type_from_name(case_text(c, "counts"));
    size_t count_size = tml_type_size(count_type);
    tml_expand_desc desc = {.method = method_of(c), .params = {.f = {0, 0, 0, 0.5f}, .u = {0, 23}}};
    desc.params = with_matrix(desc.params, (float)LOOKED_UP);
    uint64_t n = choose_length(c, bound, &desc.length);

    case_array *counts = case_array_new(c, count_type, bound);
    uint64_t total = 0;
    for (uint64_t i = 0; i < bound; i++) {
        uint64_t x = choose_source_count(c, i, n, UINT64_MAX >> (64 - 8 * count_size));
        total += i < n ? x : 0;
        x ^= by_gather || by_matrix ? LOOKED_UP : 0;
        put_low(counts->data + i * count_size, x, count_size);
    }
    tml_buffer counts_buffer = case_input(c, counts, count_type, bound);
    if (by_kernel)
        desc.count_kernel = by_gather   ? TML_USE(count_gathered)
                            : by_matrix ? TML_USE(count_seen)
                                        : TML_USE(count_itself);
    else
        desc.counts = counts_buffer;

    bool has_emit = !case_is(c, "emit", "none");
    bool is_code = case_is(c, "emit", "code"), is_mixed = case_is(c, "emit", "mixed");
    bool is_gathered = case_is(c, "emit", "gathered"), is_seen = case_is(c, "emit", "matrix");
    bool is_several = case_is(c, "emit", "two") || case_is(c, "emit", "four");
    more_outs more[3] = {{0}};
    uint32_t table[1024];
    case_array *second = NULL;
    if (has_emit || by_kernel)
        desc.in[0] = counts_buffer;
    if (by_gather || is_gathered)
        desc.in[1] = lookup_table(c, table);
    else if (has_emit && !is_code && !is_several) {
        tml_type type = is_mixed ? TML_F16 : TML_VEC(TML_F32, 3);
        second = case_array_new(c, type, bound);
        fill_by_type(c, type, second->data, bound);
        desc.in[1] = case_input(c, second, type, bound);
    }
    desc.emit_kernel = !has_emit     ? NULL
                       : is_code     ? TML_USE(emit_code)
                       : is_mixed    ? TML_USE(emit_mixed)
                       : is_gathered ? TML_USE(emit_gathered)
                       : is_seen     ? TML_USE(emit_seen)
                       : !is_several ? TML_USE(emit_vec3)
                                     : more_kernel(c);

    uint64_t room = case_is(c, "room", "exact")   ? total
                    : case_is(c, "room", "short") ? total / 2 + 1
                                                  : total + 100;
    uint64_t first = first_of(c, room + 3);
    uint64_t lead = first == LEAD ? LEAD : 0; /* elements before the outputs, left as they are */
    room += lead;
    case_array *source = number_output(c, "source", room);
    case_array *rank = number_output(c, "rank", room + 3);
    tml_type out_type = is_several ? desc.emit_kernel->outs[0]
                        : has_emit ? desc.emit_kernel->result
                                   : TML_U32;
    case_array *out = has_emit ? case_output(c, out_type, room + 1) : NULL;
    case_array *total_out = number_output(c, "total", 1);
    desc.source = handle(source);
    desc.rank = handle(rank);
    desc.out[0] = handle(out);
    choose_more(c, &desc, room, more);
    desc.total = handle(total_out);
    desc.out_first = choose_first(c, first, total_out);
    /* Room is the smallest of those that are there. */
    uint64_t capacity = source ? room : out ? room + 1 : rank ? room + 3 : 0;
    uint64_t written = first > lead ? 0 : lead + total < capacity ? lead + total : capacity;

    size_t number_size = source ? tml_type_size(tml_type_from_name(case_text(c, "source"))) : 0;
    c->bytes = n * count_size +
               written * (number_size + (rank ? 4 : 0) + (has_emit ? tml_type_size(out_type) : 0));
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_expand(c->tml, &desc);
    if (c->result != CASE_PASSED || !case_call(c, status))
        return;

    uint64_t *sources = malloc(written * sizeof *sources + 1);
    uint64_t *ranks = malloc(written * sizeof *ranks + 1);
    size_t out_size = tml_type_size(out_type);
    uint8_t *emitted = malloc(written * out_size + 1);
    if (!sources || !ranks || !emitted)
        abort();
    uint64_t j = written < lead ? written : lead;
    memset(sources, CASE_PATTERN, j * sizeof *sources);
    memset(ranks, CASE_PATTERN, j * sizeof *ranks);
    memset(emitted, CASE_PATTERN, j * out_size);
    for (int k = 0; k < 3; k++) {
        more[k].expected = malloc(written * more[k].size + 1);
        if (!more[k].expected)
            abort();
        memset(more[k].expected, CASE_PATTERN, j * more[k].size);
    }
    for (uint64_t s = 0; s < n; s++) {
        uint64_t x = load(count_type, counts->data, s).integer;
        uint64_t outputs = x ^ (by_gather || by_matrix ? LOOKED_UP : 0);
        for (uint64_t k = 0; k < outputs && j < written; k++, j++) {
            sources[j] = s;
            ranks[j] = k;
            uint8_t *p = emitted + j * out_size;
            if (is_several) {
                expect_several(&desc, (const uint64_t[]){x, s, k, j}, p, more);
            } else if (is_code) {
                uint32_t value = emit_code((uint32_t)x, (uint32_t)k);
                memcpy(p, &value, sizeof value);
            } else if (is_mixed) {
                float y = (float)load(TML_F16, second->data, s).real;
                float value = emit_mixed((uint32_t)x, y, s, (uint32_t)k);
                memcpy(p, &value, sizeof value);
            } else if (is_gathered) {
                tml_uvec2 value = emit_gathered((uint32_t)x, table, s, (uint32_t)k);
                memcpy(p, &value, sizeof value);
            } else if (has_emit) {
                tml_vec3 v;
                memcpy(&v, second->data + s * sizeof v, sizeof v);
                if (is_seen)
                    v = (tml_vec3){v.x, (float)((x & 255) + LOOKED_UP),
                                   (float)row_times(&desc.params, 1, (double)(k & 255), 0.5, 1, 1)};
                else
                    v = emit_vec3((uint32_t)x, v, (uint32_t)k, desc.params);
                memcpy(p, &v, sizeof v);
            }
        }
    }
    uint64_t end = saturated(c, "total", first + total);
    check_numbers(c, "total", total_out, "total", &end, 1);
    check_numbers(c, "source", source, "source", sources, written);
    check_numbers(c, "rank", rank, "rank", ranks, written);
    if (out)
        case_check(c, "out", out, emitted, written * out_size);
    for (int k = 0; k < 3; k++) {
        if (more[k].array)
            case_check(c, "also", more[k].array, more[k].expected, written * more[k].size);
        free(more[k].expected);
    }
    free(sources);
    free(ranks);
    free(emitted);
}

static const char *const expand_perf[] = {
    "expand(count=16777216,counts=u8)",
    "expand(count=16777216,counts=u8,threads=1)",
    "expand(count=16777216,counts=u32)",
    "expand(count=16777216,counts=u8,source=u64)",
    "expand(count=16777216,counts=u8,source=none,rank=none,emit=code)",
    "expand(count=67108864,counts=u8,dist=sparse)",
    "expand(count=1048576,counts=u8,dist=tens)",
    "expand(count=100,counts=u32,dist=giant)",
    "expand(count=1048576,counts=u8,method=histopyramid)",
    NULL};
static const case_op expand_op = {"expand",
                                  {{"count", SEAMS, true},
                                   {"counts", "u8 u16 u32 kernel gathered matrix", false},
                                   {"dist", COUNT_DATA, false},
                                   {"source", "u32 none u64", false},
                                   {"rank", "u32 none", false},
                                   {"emit", "none code mixed vec3 gathered matrix two four", false},
                                   {"room", "exact short more", false},
                                   {"total", "u64 none u32", false},
                                   {"first", FIRSTS, false},
                                   {"length", LENGTHS, false},
                                   {"method", METHODS, false},
                                   {"threads", THREADS, true}},
                                  expand_is_sensible,
                                  expand_test,
                                  expand_perf};

/* ---- unique ---------------------------------------------------------------------------------- */

static bool unique_is_sensible(const case_run *c)
{
    return choose_count(c) < 100000 || case_number(c, "elem") <= 16;
}

static void unique_test(case_run *c)
{
    uint64_t bound = choose_count(c);
    tml_unique_desc desc = {0};
    uint64_t n = choose_length(c, bound, &desc.length);
    tml_type type = type_of_size(case_number(c, "elem"));
    size_t size = tml_type_size(type);

    /* A flag starts a run: there one byte, any one, differs from the element before. */
    uint8_t *flags = choose_flags(c, bound);
    case_array *in = case_array_new(c, type, bound);
    uint64_t *starts = malloc(n * sizeof *starts + 1), *lengths = malloc(n * sizeof *lengths + 1);
    uint64_t runs = 0;
    if (!starts || !lengths)
        abort();
    for (uint64_t i = 0; i < bound; i++) {
        uint8_t *element = in->data + i * size;
        if (i > 0)
            memcpy(element, element - size, size);
        else
            fill_random(c, element, size);
        if (flags[i] && i > 0) {
            uint64_t x = case_random(c);
            element[x % size] ^= (uint8_t)(1 << (x >> 32) % 8);
        }
        if (i < n && (i == 0 || flags[i]))
            starts[runs++] = i;
    }
    for (uint64_t r = 0; r < runs; r++)
        lengths[r] = (r + 1 < runs ? starts[r + 1] : n) - starts[r];

    bool in_place = case_is(c, "values", "in_place"), any = !case_is(c, "values", "none");
    uint64_t room = case_is(c, "room", "short") ? runs / 2 : bound;
    uint64_t written = runs < room ? runs : room, moved = in_place ? runs : written;
    size_t expected_size = in_place ? in->size : moved * size;
    uint8_t *expected = malloc(expected_size + 1);
    if (!expected)
        abort();
    if (in_place)
        memcpy(expected, in->data, in->size);
    for (uint64_t r = 0; r < moved; r++)
        memcpy(expected + r * size, in->data + starts[r] * size, size);
    desc.in = case_input(c, in, type, bound);
    case_array *values = in_place ? in : any ? case_output(c, type, room) : NULL;
    case_array *starts_out = number_output(c, "starts", room);
    case_array *lengths_out = number_output(c, "lengths", room);
    case_array *count = number_output(c, "counter", 1);
    desc.values = handle(values);
    desc.starts = handle(starts_out);
    desc.lengths = handle(lengths_out);
    desc.count = handle(count);
    c->bytes = (n + runs) * size;

    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_unique(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status)) {
        check_numbers(c, "count", count, "counter", &runs, 1);
        check_numbers(c, "starts", starts_out, "starts", starts, written);
        check_numbers(c, "lengths", lengths_out, "lengths", lengths, written);
        if (values)
            case_check(c, "values", values, expected, expected_size);
    }
    free(expected);
    free(starts);
    free(lengths);
    free(flags);
}

static const char *const unique_perf[] = {"unique(count=16777216,dist=half)",
                                          "unique(count=16777216,dist=sparse)",
                                          "unique(count=16777216,dist=half,lengths=u32)", NULL};
static const case_op unique_op = {"unique",
                                  {{"count", SEAMS, true},
                                   {"elem", SIZES, true},
                                   {"dist", DISTRIBUTIONS, false},
                                   {"values", "yes none in_place", false},
                                   {"starts", "none u32 u64", false},
                                   {"lengths", "none u32 u64", false},
                                   {"counter", "u32 none u64", false},
                                   {"room", "full short", false},
                                   {"length", LENGTHS, false},
                                   {"threads", THREADS, true}},
                                  unique_is_sensible,
                                  unique_test,
                                  unique_perf};

/* ---- segments -------------------------------------------------------------------------------- */

#define SHAPES "tens one empty singles giant mixed seams gaps falling beyond"

/* Offsets over n elements, of a shape: one segment with all; only empty ones; one element each; a
 * giant one between thousands of empty ones; short ones of all lengths; lengths about those of
 * engines' tiles; elements before the first and after the last segment; and offsets that are wrong.
 * Returns how many segments. */
static uint64_t choose_offsets(case_run *c, uint64_t n, uint64_t **offsets)
{
    static const uint32_t seams[] = {
        3,    7,    8,    9,    15,   16,   17,  24,  25,   33,   63,  64,    65,    255,  256,
        257,  447,  448,  449,  511,  512,  513, 895, 896,  897,  129, 1,     1023,  1024, 1025,
        1792, 1793, 2048, 2049, 3071, 3072, 5,   11,  3073, 4097, 19,  65535, 65536, 65537};
    uint64_t capacity = n + 5000, count = 0;
    uint64_t *o = malloc((capacity + 1) * sizeof *o);
    if (!o)
        abort();
    const char *shape = case_text(c, "shape");
    uint64_t at = strcmp(shape, "gaps") == 0 ? n / 5 : 0;
    uint64_t stop = strcmp(shape, "gaps") == 0 ? n - n / 4 : n;
    o[0] = at;
    if (strcmp(shape, "one") == 0) {
        o[++count] = n;
    } else if (strcmp(shape, "empty") == 0) {
        while (count < 3000)
            o[++count] = n / 2;
        o[0] = n / 2;
    } else if (strcmp(shape, "giant") == 0) {
        while (count < 2000)
            o[++count] = n / 10;
        while (count < 4000)
            o[++count] = n - n / 10;
        o[0] = n / 10;
    } else {
        while (at < stop) {
            uint64_t x = case_random(c) >> 30, length = x % 30;
            if (strcmp(shape, "singles") == 0)
                length = 1;
            else if (strcmp(shape, "mixed") == 0)
                length = x % 7 == 0 ? 1 + x % 5000 : x % 3 == 0 ? 0 : 1 + x % 40;
            else if (strcmp(shape, "seams") == 0)
                length = seams[count % (sizeof seams / sizeof *seams)];
            length += length == 0 && x % 2; /* some empty ones, but not without end */
            at = at + length < stop ? at + length : stop;
            if (count == capacity - 1)
                at = stop;
            o[++count] = at;
        }
    }
    for (uint64_t s = 0; s <= count && strcmp(shape, "falling") == 0; s++)
        o[s] = s % 7 == 6 ? o[s] : s % 2 ? n : 0;
    for (uint64_t s = count - count / 3; s <= count && strcmp(shape, "beyond") == 0; s++)
        o[s] += n;
    *offsets = o;
    return count;
}

/* The segment's elements, by the header's rule. */
static bool segment_of(const uint64_t *offsets, uint64_t s, uint64_t n, uint64_t *first,
                       uint64_t *end)
{
    bool valid = offsets[s + 1] <= n;
    *first = valid ? offsets[s] : 0;
    *end = valid ? offsets[s + 1] : 0;
    return valid;
}

static tml_buffer offsets_input(case_run *c, const uint64_t *offsets, uint64_t segments)
{
    if (case_is(c, "offsets", "u64")) {
        case_array *array = case_array_new(c, TML_U64, segments + 1);
        memcpy(array->data, offsets, array->size);
        return case_input(c, array, TML_U64, segments + 1);
    }
    case_array *array = case_array_new(c, TML_U32, segments + 1);
    for (uint64_t s = 0; s <= segments; s++)
        memcpy(array->data + 4 * s, &(uint32_t){(uint32_t)offsets[s]}, 4);
    return case_input(c, array, TML_U32, segments + 1);
}

static void reduce_segments_test(case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    tml_fold fold = fold_of(c);
    tml_type out_type = fold_type(fold, type, case_is(c, "out", "narrow"));
    uint64_t n = choose_count(c), *offsets, segments = choose_offsets(c, n, &offsets);
    tml_reduce_desc desc = {.folds[0].fold = fold};
    case_array *in = case_array_new(c, type, n);
    fill_numbers(c, type, in->data, n);
    desc.in = case_input(c, in, type, n);
    desc.segments.offsets = offsets_input(c, offsets, segments);
    case_array *out = case_output(c, out_type, segments + 3);
    desc.folds[0].out = handle(out);
    c->bytes = n * tml_type_size(type) + segments * (tml_type_size(out_type) + 4);
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_reduce(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status) && case_fetch(c, out)) {
        for (uint64_t s = 0; s < segments && !case_is(c, "shape", "falling"); s++) {
            uint64_t first, end;
            segment_of(offsets, s, n, &first, &end);
            check_fold(c, fold, type, in->data, first, end, out_type, out, s);
        }
        case_check_rest(c, "out", out, segments * tml_type_size(out_type));
    }
    free(offsets);
}

static bool segments_are_sensible(const case_run *c)
{
    return numbers_are_sensible(c) && (choose_count(c) < 100000 || !case_is(c, "shape", "singles"));
}

static const char *const reduce_segments_perf[] = {
    "reduce_segments(count=16777216,type=f32)",
    "reduce_segments(count=16777216,type=f32,shape=one)",
    "reduce_segments(count=16777216,type=f32,shape=mixed)",
    "reduce_segments(count=16777216,type=u32,shape=giant)", NULL};
static const case_op reduce_segments_op = {"reduce_segments",
                                           {{"count", SEAMS, true},
                                            {"type", SCALARS, false},
                                            {"fold", FOLDS, false},
                                            {"out", "wide narrow", false},
                                            {"data", NUMBER_DATA, false},
                                            {"shape", SHAPES, false},
                                            {"offsets", "u32 u64", false},
                                            {"threads", THREADS, true}},
                                           segments_are_sensible,
                                           reduce_segments_test,
                                           reduce_segments_perf};

static void scan_segments_test(case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    tml_type out_type = tml_type_from_name(case_text(c, "out"));
    size_t out_size = tml_type_size(out_type);
    bool in_place = case_is(c, "in_place", "yes");
    uint64_t n = choose_count(c), *offsets, segments = choose_offsets(c, n, &offsets);
    tml_scan_desc desc = {.inclusive = case_is(c, "kind", "inclusive")};
    case_array *in = case_array_new(c, type, n);
    fill_numbers(c, type, in->data, n);
    uint8_t *saved = malloc(in->size + 1), *touched = calloc(n + 1, 1);
    if (!saved || !touched)
        abort();
    memcpy(saved, in->data, in->size);
    desc.in = case_input(c, in, type, n);
    desc.segments.offsets = offsets_input(c, offsets, segments);
    case_array *out = in_place ? in : case_output(c, out_type, n);
    desc.out = handle(out);
    uint8_t *before = malloc(out->size + 1);
    if (!before)
        abort();
    memcpy(before, out->data, out->size);
    c->bytes = n * (tml_type_size(type) + out_size) + 4 * segments;

    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_scan(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status) && case_fetch(c, out) && !c->is_timed &&
        !case_is(c, "shape", "falling")) {
        for (uint64_t s = 0; s < segments; s++) {
            uint64_t first, end;
            if (!segment_of(offsets, s, n, &first, &end))
                continue;
            memset(touched + first, 1, end - first);
            check_scan(c, type, saved, first, end, desc.inclusive, (number){0, 0}, out_type, out,
                       NULL);
        }
        for (uint64_t i = 0; i < n; i++)
            if (!touched[i] && memcmp(out->data + i * out_size, before + i * out_size, out_size))
                case_fail(c, "element %" PRIu64 " is in no segment and changed", i);
    }
    free(before);
    free(saved);
    free(touched);
    free(offsets);
}

static const char *const scan_segments_perf[] = {
    "scan_segments(count=16777216)", "scan_segments(count=16777216,type=f32,out=f32,shape=mixed)",
    "scan_segments(count=16777216,shape=one)", NULL};
static const case_op scan_segments_op = {"scan_segments",
                                         {{"count", SEAMS, true},
                                          {"type", SCAN_TYPES, false},
                                          {"out", "u32 u64 i32 i64 f32 f64", false},
                                          {"kind", "exclusive inclusive", false},
                                          {"in_place", "no yes", false},
                                          {"data", "random ties", false},
                                          {"shape", SHAPES, false},
                                          {"offsets", "u32 u64", false},
                                          {"threads", THREADS, true}},
                                         scan_types_fit,
                                         scan_segments_test,
                                         scan_segments_perf};

/* ---- sort ------------------------------------------------------------------------------------ */

#define SORT_DATA  "random ties few nan inf constant sorted reversed nearly low high"
#define SORT_TYPES "u32 f32 u8 i8 u16 i16 i32 u64 i64 f16 f64"
#define SORT_BITS  "all upper middle one"

static bool sort_is_sensible(const case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    bool is_unsigned = type == TML_U8 || type == TML_U16 || type == TML_U32 || type == TML_U64;
    bool is_special = case_is(c, "data", "nan") || case_is(c, "data", "inf");
    return (is_unsigned || case_is(c, "bits", "all")) && (tml_type_is_float(type) || !is_special);
}

/* Keys of every bit pattern, and such as sorts find hard. */
static void fill_sort_keys(case_run *c, tml_type type, void *out, uint64_t n)
{
    size_t size = tml_type_size(type);
    uint64_t top = (uint64_t)1 << (8 * size - 1), ones = top | (top - 1);
    /* infinity: its exponent's bits are all ones */
    uint64_t infinity = type == TML_F16   ? 0x7c00
                        : type == TML_F32 ? 0x7f800000
                                          : UINT64_C(0x7ff0000000000000);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = case_random(c), key = x & ones;
        if (case_is(c, "data", "ties"))
            key = (x % 4 * (top / 2 + 3)) & ones;
        else if (case_is(c, "data", "few"))
            key = x % 1000 & ones;
        else if (case_is(c, "data", "constant"))
            key = UINT64_C(0x8123456789abcdef) & ones;
        else if (case_is(c, "data", "sorted"))
            key = i & ones;
        else if (case_is(c, "data", "reversed"))
            key = (n - i) & ones;
        else if (case_is(c, "data", "nearly"))
            key = (x % 64 ? i : x) & ones;
        else if (case_is(c, "data", "low")) /* only the low bits differ */
            key = (top | x % 3) & ones;
        else if (case_is(c, "data", "high"))
            key = x & (top | top >> 1);
        else if (case_is(c, "data", "nan") && x % 5 < 3)
            key = (infinity + x % 5 + (x >> 63) * top) & ones;
        else if (case_is(c, "data", "inf") && x % 5 < 3)
            key = (x >> 62 & 1 ? infinity : 0) | (x >> 63) * top;
        put_low((uint8_t *)out + i * size, key, size);
    }
}

/* What the header says of the order, as one sorts a sign and a magnitude. */
static int order_keys(const case_run *c, tml_type type, const uint8_t *a, const uint8_t *b)
{
    size_t size = tml_type_size(type);
    uint64_t x = get_low(a, size), y = get_low(b, size), sign = (uint64_t)1 << (8 * size - 1);
    if (!case_is(c, "bits", "all")) {
        uint32_t first = case_is(c, "bits", "upper") ? 4 * (uint32_t)size : 3;
        uint64_t mask = case_is(c, "bits", "upper") ? sign | (sign - 1)
                        : case_is(c, "bits", "one") ? 1
                                                    : ((uint64_t)1 << (8 * size - 6)) - 1;
        x = x >> first & mask;
        y = y >> first & mask;
    } else if (type != TML_U8 && type != TML_U16 && type != TML_U32 && type != TML_U64) {
        bool x_below = x & sign, y_below = y & sign;
        if (x_below != y_below)
            return x_below ? -1 : 1;
        if (x_below && tml_type_is_float(type))
            return (x < y) - (x > y);
    }
    return (x > y) - (x < y);
}

/* A merge sort of sources, which is stable. */
static void merge_sources(const case_run *c, tml_type type, const uint8_t *keys, uint64_t *sources,
                          uint64_t *room, uint64_t n)
{
    if (n < 2)
        return;
    uint64_t half = n / 2, a = 0, b = half;
    size_t size = tml_type_size(type);
    merge_sources(c, type, keys, sources, room, half);
    merge_sources(c, type, keys, sources + half, room, n - half);
    bool falls = case_is(c, "order", "descending");
    for (uint64_t i = 0; i < n; i++) {
        bool takes_b = a == half;
        if (a < half && b < n) {
            int order = order_keys(c, type, keys + sources[b] * size, keys + sources[a] * size);
            takes_b = falls ? order > 0 : order < 0;
        }
        room[i] = sources[takes_b ? b++ : a++];
    }
    memcpy(sources, room, n * sizeof *sources);
}

/* An array that moves: its source, output and what is expected there. */
typedef struct sorted_array {
    case_array *in, *out;
    uint8_t *expected;
    size_t expected_size;
} sorted_array;

static void sorted_make(case_run *c, sorted_array *a, tml_type type, uint64_t bound, uint64_t n,
                        const uint64_t *sources, const char *where)
{
    size_t size = tml_type_size(type);
    bool in_place = strcmp(where, "in_place") == 0;
    a->expected_size = in_place ? a->in->size : n * size;
    a->expected = malloc(a->expected_size + 1);
    if (!a->expected)
        abort();
    if (in_place)
        memcpy(a->expected, a->in->data, a->in->size);
    for (uint64_t i = 0; i < n; i++)
        memcpy(a->expected + i * size, a->in->data + sources[i] * size, size);
    a->out = in_place ? a->in : strcmp(where, "none") == 0 ? NULL : case_output(c, type, bound);
}

static bool has_starts(const case_run *c)
{
    return case_is(c, "offsets", "starts") || case_is(c, "offsets", "starts64");
}

/* Starts are the offsets but for the last; some more elements, which the count on the device leaves
 * out. */
static void segments_make(case_run *c, const uint64_t *offsets, uint64_t segments,
                          tml_sort_desc *desc)
{
    bool is_wide = case_is(c, "offsets", "starts64"), has_device = !case_is(c, "length", "host");
    if (!has_starts(c)) {
        desc->segments.offsets = offsets_input(c, offsets, segments);
        return;
    }
    uint64_t count = segments + (has_device ? 3 : 0);
    case_array *starts = case_array_new(c, is_wide ? TML_U64 : TML_U32, count);
    for (uint64_t s = 0; s < segments; s++)
        put_low(starts->data + s * (is_wide ? 8 : 4), offsets[s], is_wide ? 8 : 4);
    desc->segments.starts = case_input(c, starts, is_wide ? TML_U64 : TML_U32, count);
    desc->segments.count = tml_length_of(count);
    if (has_device) {
        case_array *device = case_array_new(c, TML_U64, 2);
        memcpy(device->data, (uint64_t[]){7, segments}, 2 * sizeof(uint64_t));
        desc->segments.count.device = case_input(c, device, TML_U64, 2);
        desc->segments.count.device_index = 1;
    }
}

/* Sorts the sources of each segment. False where the header says nothing of the order. */
static bool sort_segments_of(case_run *c, tml_type type, const uint8_t *keys, uint64_t *sources,
                             uint64_t *room, uint64_t n, tml_sort_desc *desc)
{
    uint64_t *offsets, segments = choose_offsets(c, n, &offsets), first, end;
    bool is_falling = case_is(c, "shape", "falling");
    segments_make(c, offsets, segments, desc);
    if (has_starts(c)) {
        is_falling = is_falling || (segments > 0 && offsets[segments - 1] > n);
        offsets[segments] = n;
    }
    for (uint64_t s = 0; s < segments && !is_falling; s++)
        if (segment_of(offsets, s, n, &first, &end))
            merge_sources(c, type, keys, sources + first, room, end - first);
    free(offsets);
    return !is_falling;
}

static void sort_case(case_run *c, bool has_segments)
{
    static const uint32_t others[] = {4, 12, 1, 8, 64};
    tml_type type = tml_type_from_name(case_text(c, "type"));
    uint32_t size = (uint32_t)tml_type_size(type), count = (uint32_t)case_number(c, "payloads");
    uint64_t bound = choose_count(c);
    tml_sort_desc desc = {.descending = case_is(c, "order", "descending"), .method = method_of(c)};
    uint64_t n = choose_length(c, bound, &desc.length);
    if (!case_is(c, "bits", "all")) {
        desc.first_bit = case_is(c, "bits", "upper") ? 4 * size : 3;
        desc.bit_count = case_is(c, "bits", "upper") ? 0
                         : case_is(c, "bits", "one") ? 1
                                                     : 8 * size - 6;
    }
    sorted_array arrays[TML_MAX_PAYLOADS + 1] = {0};
    uint64_t *sources = malloc(n * sizeof *sources + 1), *room = malloc(n * sizeof *room + 1);
    if (!sources || !room)
        abort();
    for (uint64_t i = 0; i < n; i++)
        sources[i] = i;
    arrays[0].in = case_array_new(c, type, bound);
    fill_sort_keys(c, type, arrays[0].in->data, bound);
    bool is_known = true;
    if (has_segments)
        is_known = sort_segments_of(c, type, arrays[0].in->data, sources, room, n, &desc);
    else
        merge_sources(c, type, arrays[0].in->data, sources, room, n);
    desc.keys = case_input(c, arrays[0].in, type, bound);
    sorted_make(c, &arrays[0], type, bound, n, sources, case_text(c, "sorted"));
    desc.sorted = handle(arrays[0].out);
    for (uint32_t p = 0; p < count; p++) {
        sorted_array *a = &arrays[p + 1];
        tml_type moved = type_of_size(p ? others[p] : case_number(c, "elem"));
        a->in = case_array_new(c, moved, bound);
        fill_random(c, a->in->data, a->in->size);
        desc.payloads[p].in = case_input(c, a->in, moved, bound);
        sorted_make(c, a, moved, bound, n, sources, case_text(c, "moved"));
        desc.payloads[p].out = handle(a->out);
    }
    case_array *indices = number_output(c, "indices", bound);
    desc.indices = handle(indices);
    c->bytes = 2 * n * size;
    tml_status status = TML_OK;
    tml_simd_force(case_is(c, "simd", "base")   ? TML_SIMD_BASE
                   : case_is(c, "simd", "avx2") ? TML_SIMD_AVX2
                                                : TML_SIMD_LEVELS);
    for (case_start(c); case_again(c);)
        status = tml_sort(c->tml, &desc);
    tml_simd_force(TML_SIMD_LEVELS);
    if (c->result == CASE_PASSED && case_call(c, status) && is_known) {
        for (uint32_t p = 0; p <= count; p++)
            if (arrays[p].out)
                case_check(c, p ? "payload" : "sorted", arrays[p].out, arrays[p].expected,
                           arrays[p].expected_size);
        check_numbers(c, "indices", indices, "indices", sources, n);
    }
    for (uint32_t p = 0; p <= count; p++)
        free(arrays[p].expected);
    free(sources);
    free(room);
}

static void sort_test(case_run *c)
{
    sort_case(c, false);
}

static void sort_segments_test(case_run *c)
{
    sort_case(c, true);
}

static const char *const sort_perf[] = {"sort(count=1048576)",
                                        "sort(count=16777216)",
                                        "sort(count=16777216,payloads=1)",
                                        "sort(count=16777216,type=f32,payloads=1)",
                                        "sort(count=16777216,type=u64)",
                                        "sort(count=16777216,type=u64,indices=u32)",
                                        "sort(count=16777216,type=u16,payloads=1)",
                                        NULL};
static const case_op sort_op = {"sort",
                                {{"count", SEAMS " 24 25 3072 3073 65536 65537 300007", true},
                                 {"type", SORT_TYPES, false},
                                 {"data", SORT_DATA, false},
                                 {"order", "ascending descending", false},
                                 {"bits", SORT_BITS, false},
                                 {"sorted", "yes none in_place", false},
                                 {"payloads", "0 1 2 5", true},
                                 {"elem", SIZES, true},
                                 {"moved", "yes in_place", false},
                                 {"indices", "none u32 u64", false},
                                 {"method", METHODS, false},
                                 {"length", LENGTHS, false},
                                 {"threads", THREADS, true},
                                 {"simd", "best avx2 base", false}},
                                sort_is_sensible,
                                sort_test,
                                sort_perf};

static const char *const sort_segments_perf[] = {
    "sort_segments(count=16777216)",
    "sort_segments(count=16777216,shape=mixed)",
    "sort_segments(count=16777216,shape=one)",
    "sort_segments(count=16777216,type=f32,payloads=1)",
    "sort_segments(count=16777216,type=u64,indices=u32)",
    NULL};
static const case_op sort_segments_op = {
    "sort_segments",
    {{"count", SEAMS " 1536 1537 3584 3585 131073 300007", true},
     {"shape", SHAPES, false},
     {"type", SORT_TYPES, false},
     {"data", SORT_DATA, false},
     {"order", "ascending descending", false},
     {"bits", SORT_BITS, false},
     {"sorted", "yes none in_place", false},
     {"payloads", "0 1 2 5", true},
     {"elem", SIZES, true},
     {"moved", "yes in_place", false},
     {"indices", "none u32 u64", false},
     {"offsets", "u32 u64 starts starts64", false},
     {"method", METHODS, false},
     {"length", LENGTHS, false},
     {"threads", THREADS, true},
     {"simd", "best avx2 base", false}},
    sort_is_sensible,
    sort_segments_test,
    sort_segments_perf};

/* ---- gather and scatter ---------------------------------------------------------------------- */

/* Distinct places, or for a gather by chance; some are out of range where there are more elements
 * than places, and wild ones everywhere. */
static uint64_t *choose_places(case_run *c, uint64_t n, uint64_t range, bool are_distinct)
{
    uint64_t m = n > range ? n : range;
    uint64_t *places = malloc((m + 1) * sizeof *places);
    if (!places)
        abort();
    for (uint64_t i = 0; i < m; i++)
        places[i] = i;
    for (uint64_t i = m; i > 1 && !case_is(c, "data", "ordered"); i--) {
        uint64_t j = case_random(c) % i, moved = places[j];
        places[j] = places[i - 1];
        places[i - 1] = moved;
    }
    for (uint64_t i = 0; i < n && case_is(c, "data", "wild"); i++) {
        uint64_t x = case_random(c);
        if (x % 5 == 0)
            places[i] = case_is(c, "indices", "u64") && x & 8 ? (x << 32) | i : UINT32_MAX - x % 3;
        else if (!are_distinct)
            places[i] = x % (range + 2);
    }
    return places;
}

static void gather_scatter_test(case_run *c, bool scatters)
{
    static const uint32_t others[] = {3, 12, 1, 8, 64, 6, 2};
    bool is_wide = case_is(c, "indices", "u64");
    uint32_t count = (uint32_t)case_number(c, "payloads");
    uint64_t bound = choose_count(c);
    uint64_t range = case_is(c, "range", "half")   ? bound / 2
                     : case_is(c, "range", "more") ? bound + 4097
                                                   : bound;
    tml_gather_desc desc = {0};
    uint64_t n = choose_length(c, bound, &desc.length);
    uint64_t *places = choose_places(c, bound, range, scatters);
    case_array *indices = case_array_new(c, is_wide ? TML_U64 : TML_U32, bound);
    for (uint64_t i = 0; i < bound && indices->size; i++)
        put_low(indices->data + i * (is_wide ? 8 : 4), places[i], is_wide ? 8 : 4);
    desc.indices = case_input(c, indices, is_wide ? TML_U64 : TML_U32, bound);
    case_array *out[TML_MAX_PAYLOADS];
    uint8_t *expected[TML_MAX_PAYLOADS];
    for (uint32_t p = 0; p < count; p++) {
        tml_type type = type_of_size(p ? others[p - 1] : case_number(c, "elem"));
        size_t size = tml_type_size(type);
        case_array *in = case_array_new(c, type, scatters ? bound : range);
        fill_random(c, in->data, in->size);
        out[p] = case_output(c, type, scatters ? range : bound);
        desc.payloads[p] =
            (tml_payload){case_input(c, in, type, scatters ? bound : range), out[p]->buffer};
        expected[p] = malloc(out[p]->size + 1);
        if (!expected[p])
            abort();
        memcpy(expected[p], out[p]->data, out[p]->size);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t place = is_wide ? places[i] : (uint32_t)places[i];
            if (place < range)
                memcpy(expected[p] + (scatters ? place : i) * size,
                       in->data + (scatters ? i : place) * size, size);
        }
        c->bytes += n * (2 * size + (is_wide ? 8 : 4));
    }
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = scatters ? tml_scatter(c->tml, &desc) : tml_gather(c->tml, &desc);
    bool passed = c->result == CASE_PASSED && case_call(c, status);
    for (uint32_t p = 0; p < count; p++) {
        if (passed)
            case_check(c, "out", out[p], expected[p], out[p]->size);
        free(expected[p]);
    }
    free(places);
}

static void gather_test(case_run *c)
{
    gather_scatter_test(c, false);
}

static void scatter_test(case_run *c)
{
    gather_scatter_test(c, true);
}

#define GATHER_AXES                                                                                \
    {                                                                                              \
        {"count", SEAMS, true}, {"elem", SIZES, true}, {"payloads", "1 3 8", true},                \
            {"indices", "u32 u64", false}, {"data", "random ordered wild", false},                 \
            {"range", "same half more", false}, {"length", LENGTHS, false},                        \
        {                                                                                          \
            "threads", THREADS, true                                                               \
        }                                                                                          \
    }
static const char *const gather_perf[] = {
    "gather(count=16777216)", "gather(count=16777216,data=ordered)",
    "gather(count=16777216,elem=16)", "gather(count=16777216,elem=1)", NULL};
static const char *const scatter_perf[] = {
    "scatter(count=16777216)", "scatter(count=16777216,data=ordered)",
    "scatter(count=16777216,elem=16)", "scatter(count=16777216,elem=1)", NULL};
static const case_op gather_op = {"gather", GATHER_AXES, NULL, gather_test, gather_perf};
static const case_op scatter_op = {"scatter", GATHER_AXES, NULL, scatter_test, scatter_perf};

/* ---- search ---------------------------------------------------------------------------------- */

/* In the case's order. */
static uint64_t place_in(const case_run *c, tml_type type, const uint8_t *sorted, uint64_t n,
                         const uint8_t *query, bool upper)
{
    bool falls = case_is(c, "order", "descending");
    uint64_t low = 0, high = n;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        int order = order_keys(c, type, sorted + middle * tml_type_size(type), query);
        if ((falls ? order > 0 : order < 0) || (upper && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The haystack's length as the axis "among" says; device: on the device. */
static uint64_t choose_sorted(case_run *c, uint64_t bound, tml_length *length)
{
    uint64_t n = bound - bound / 5;
    if (case_is(c, "among", "host"))
        return bound;
    bool is_wide = case_is(c, "among", "u64");
    case_array *device = case_array_new(c, is_wide ? TML_U64 : TML_U32, 2);
    if (is_wide)
        memcpy(device->data, (uint64_t[]){n, UINT64_MAX}, 2 * sizeof(uint64_t));
    else
        memcpy(device->data, (uint32_t[]){1, (uint32_t)n}, 2 * sizeof(uint32_t));
    length->device = case_input(c, device, is_wide ? TML_U64 : TML_U32, 2);
    length->device_index = is_wide ? 0 : 1;
    return n;
}

static void search_test(case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    size_t size = tml_type_size(type);
    bool upper = case_is(c, "side", "upper");
    uint64_t bound = choose_count(c), there = case_number(c, "sorted");
    tml_search_desc desc = {.descending = case_is(c, "order", "descending"), .upper = upper};
    uint64_t n = choose_length(c, bound, &desc.length);
    uint64_t among = choose_sorted(c, there, &desc.sorted_length);
    uint64_t *sources = malloc((there + 1) * 2 * sizeof *sources),
             *expected = malloc((n + 1) * sizeof *expected);
    case_array *keys = case_array_new(c, type, there), *queries = case_array_new(c, type, bound);
    uint8_t *plain = malloc(keys->size + 1);
    if (!sources || !expected || !plain)
        abort();
    for (uint64_t i = 0; i < there; i++)
        sources[i] = i;
    fill_sort_keys(c, type, plain, keys->size / size);
    fill_sort_keys(c, type, queries->data, queries->size / size);
    merge_sources(c, type, plain, sources, sources + there + 1, keys->size / size);
    for (uint64_t i = 0; i < keys->size / size; i++)
        memcpy(keys->data + i * size, plain + sources[i] * size, size);
    desc.sorted = case_input(c, keys, type, there);
    desc.queries = case_input(c, queries, type, bound);
    case_array *out = number_output(c, "out", bound);
    desc.out = handle(out);
    for (uint64_t i = 0; i < n && queries->size; i++)
        expected[i] = place_in(c, type, keys->data, among, queries->data + i * size, upper);
    c->bytes = n * (size + 4);
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        status = tml_search(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status))
        check_numbers(c, "out", out, "out", expected, n);
    free(sources);
    free(expected);
    free(plain);
}

static bool search_is_sensible(const case_run *c)
{
    bool is_special = case_is(c, "data", "nan") || case_is(c, "data", "inf");
    return tml_type_is_float(tml_type_from_name(case_text(c, "type"))) || !is_special;
}

static const char *const search_perf[] = {"search(count=16777216,sorted=16777216)",
                                          "search(count=16777216,sorted=65536)",
                                          "search(count=16777216,sorted=16777216,data=sorted)",
                                          "search(count=16777216,sorted=16777216,type=f64)", NULL};
static const case_op search_op = {"search",
                                  {{"count", SEAMS, true},
                                   {"sorted", "1000 0 1 2 3 4 5 8 1023 1024 65537", true},
                                   {"type", "u32 f32 u8 i8 u16 i16 i32 u64 i64 f16 f64", false},
                                   {"data", SORT_DATA, false},
                                   {"order", "ascending descending", false},
                                   {"bits", "all", false},
                                   {"side", "lower upper", false},
                                   {"among", "host u32 u64", false},
                                   {"out", "u32 u64", false},
                                   {"length", LENGTHS, false},
                                   {"threads", THREADS, true}},
                                  search_is_sensible,
                                  search_test,
                                  search_perf};

/* ---- top k ----------------------------------------------------------------------------------- */

/* Keys that mislead the sample of kernels/top_k.k.h: those in it come before all others, or after
 * them. */
static void mislead(const case_run *c, tml_type type, uint8_t *keys, uint64_t n)
{
    uint64_t samples = TOP_K_SAMPLED(n);
    size_t size = tml_type_size(type);
    uint64_t stretch = samples ? n / samples : 0;
    bool come_first = case_is(c, "data", "sample_first");
    for (uint64_t i = 0; i < n; i++)
        keys[i * size + size - 1] = come_first ? 0x30 : 0x50;
    for (uint64_t s = 0; s < samples; s++)
        keys[(s * stretch + top_k_jitter((uint32_t)s, (uint32_t)stretch)) * size + size - 1] ^=
            0x60;
}

/* The axis k, of a stream of n elements at most. */
static uint64_t k_of(const case_run *c, uint64_t n)
{
    return case_is(c, "k", "all")       ? n
           : case_is(c, "k", "more")    ? n + 5
           : case_is(c, "k", "but_one") ? n - (n > 0)
           : case_is(c, "k", "half")    ? n / 2
           : case_is(c, "k", "eighth")  ? n / 8
                                        : case_number(c, "k");
}

/* How many results there are; bound gets how many there may be. */
static uint64_t choose_k(case_run *c, uint64_t most, uint64_t n, tml_length *k, uint64_t *bound)
{
    uint64_t wanted = k_of(c, n);
    if (case_is(c, "among", "host")) {
        *k = tml_length_of(wanted);
        *bound = wanted < most ? wanted : most;
        return wanted < n ? wanted : n;
    }
    bool is_wide = case_is(c, "among", "u64");
    case_array *device = case_array_new(c, is_wide ? TML_U64 : TML_U32, 2);
    if (is_wide)
        memcpy(device->data, (uint64_t[]){wanted, UINT64_MAX}, 2 * sizeof(uint64_t));
    else
        memcpy(device->data, (uint32_t[]){1, (uint32_t)wanted}, 2 * sizeof(uint32_t));
    k->device = case_input(c, device, is_wide ? TML_U64 : TML_U32, 2);
    k->device_index = is_wide ? 0 : 1;
    uint64_t room = most > 100 ? most - 7 : most; /* k.count is 0: what outputs hold is the bound */
    *bound = room;
    wanted = wanted < room ? wanted : room;
    return wanted < n ? wanted : n;
}

static int order_sources(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The order of the header's in_source_order. */
static void unsort(const case_run *c, tml_type type, const uint8_t *keys, uint64_t *sources,
                   uint64_t k)
{
    uint64_t before = k ? k - 1 : 0;
    size_t size = tml_type_size(type);
    while (before > 0 && order_keys(c, type, keys + sources[before - 1] * size,
                                    keys + sources[k - 1] * size) == 0)
        before--;
    qsort(sources, before, sizeof *sources, order_sources);
}

static void top_k_test(case_run *c)
{
    static const uint32_t others[] = {4, 12, 1, 8, 64};
    tml_type type = tml_type_from_name(case_text(c, "type"));
    uint32_t count = (uint32_t)case_number(c, "payloads");
    uint64_t most = choose_count(c), bound;
    tml_top_k_desc desc = {.smallest = case_is(c, "order", "ascending"),
                           .in_source_order = case_is(c, "results", "unsorted")};
    uint64_t n = choose_length(c, most, &desc.length);
    uint64_t *sources = malloc(most * sizeof *sources + 1), *room = malloc(most * sizeof *room + 1);
    sorted_array arrays[TML_MAX_PAYLOADS + 1] = {0};
    if (!sources || !room)
        abort();
    for (uint64_t i = 0; i < most; i++)
        sources[i] = i;
    arrays[0].in = case_array_new(c, type, most);
    fill_sort_keys(c, type, arrays[0].in->data, most);
    if (strncmp(case_text(c, "data"), "sample", 6) == 0)
        mislead(c, type, arrays[0].in->data, n);
    merge_sources(c, type, arrays[0].in->data, sources, room, n);
    uint64_t k = choose_k(c, most, n, &desc.k, &bound);
    if (desc.in_source_order)
        unsort(c, type, arrays[0].in->data, sources, k);
    desc.keys = case_input(c, arrays[0].in, type, most);
    sorted_make(c, &arrays[0], type, bound, k, sources, case_text(c, "values"));
    desc.values = handle(arrays[0].out);
    for (uint32_t p = 0; p < count; p++) {
        sorted_array *a = &arrays[p + 1];
        tml_type moved = type_of_size(p ? others[p] : case_number(c, "elem"));
        a->in = case_array_new(c, moved, most);
        fill_random(c, a->in->data, a->in->size);
        desc.payloads[p].in = case_input(c, a->in, moved, most);
        sorted_make(c, a, moved, bound, k, sources, "yes");
        desc.payloads[p].out = handle(a->out);
    }
    case_array *indices = number_output(c, "indices", bound),
               *counted = number_output(c, "counted", 1);
    desc.indices = handle(indices);
    desc.count = handle(counted);
    c->bytes = n * tml_type_size(type);
    tml_status status = TML_OK;
    tml_simd_force(case_is(c, "simd", "base")   ? TML_SIMD_BASE
                   : case_is(c, "simd", "avx2") ? TML_SIMD_AVX2
                                                : TML_SIMD_LEVELS);
    for (case_start(c); case_again(c);)
        status = tml_top_k(c->tml, &desc);
    tml_simd_force(TML_SIMD_LEVELS);
    if (c->result == CASE_PASSED && case_call(c, status)) {
        for (uint32_t p = 0; p <= count; p++)
            if (arrays[p].out)
                case_check(c, p ? "payload" : "values", arrays[p].out, arrays[p].expected,
                           arrays[p].expected_size);
        check_numbers(c, "indices", indices, "indices", sources, k);
        check_numbers(c, "count", counted, "counted", &k, 1);
    }
    for (uint32_t p = 0; p <= count; p++)
        free(arrays[p].expected);
    free(sources);
    free(room);
}

static bool top_k_is_sensible(const case_run *c)
{
    bool has_results = !case_is(c, "values", "none") || !case_is(c, "indices", "none") ||
                       !case_is(c, "payloads", "0");
    return search_is_sensible(c) && (has_results || case_is(c, "among", "host"));
}

static const char *const top_k_perf[] = {"top_k(count=16777216)",
                                         "top_k(count=16777216,k=1048576)",
                                         "top_k(count=16777216,k=1048576,results=unsorted)",
                                         "top_k(count=16777216,k=half)",
                                         "top_k(count=16777216,data=constant)",
                                         "top_k(count=16777216,data=sample_first)",
                                         "top_k(count=16777216,type=f64)",
                                         "top_k(count=16777216,type=u8)",
                                         NULL};
static const case_op top_k_op = {"top_k",
                                 {{"count", SEAMS " 65535 65536 65537 300007", true},
                                  {"k", "10 0 1 2 100 4097 eighth half but_one all more", false},
                                  {"type", "u32 f32 u8 i8 u16 i16 i32 u64 i64 f16 f64", false},
                                  {"data", SORT_DATA " sample_first sample_last", false},
                                  {"order", "descending ascending", false},
                                  {"results", "sorted unsorted", false},
                                  {"among", "host u32 u64", false},
                                  {"bits", "all", false},
                                  {"values", "yes none", false},
                                  {"payloads", "0 1 2 5", true},
                                  {"elem", SIZES, true},
                                  {"indices", "u32 none u64", false},
                                  {"counted", "none u32 u64", false},
                                  {"length", LENGTHS, false},
                                  {"threads", THREADS, true},
                                  {"simd", "best avx2 base", false}},
                                 top_k_is_sensible,
                                 top_k_test,
                                 top_k_perf};

/* ---- reduce by starts ------------------------------------------------------------------------ */

/* Runs of about the length that the axis says, of few keys, so that equal ones come back. Returns
 * how many there are among the first n; begins gets them, and n behind them. */
static uint64_t choose_runs(case_run *c, uint8_t *keys, size_t size, uint64_t bound, uint64_t n,
                            uint64_t *begins)
{
    uint64_t mean = case_number(c, "run"), runs = 0, key = 0;
    for (uint64_t i = 0; i < bound; i++) {
        uint64_t x = case_random(c) >> 20;
        bool begins_here = i == 0 || x % mean == 0;
        key = begins_here ? key + 1 + x / mean % 3 : key;
        memset(keys + i * size, 0x40, size);
        keys[i * size + size - 1] = (uint8_t)(key % 5);
        if (i < n && (i == 0 || memcmp(keys + i * size, keys + (i - 1) * size, size) != 0))
            begins[runs++] = i;
    }
    begins[runs] = n;
    return runs;
}

/* The same runs by their starts and a number that the host knows. */
static void check_starts(case_run *c, const tml_reduce_desc *by, uint64_t runs, uint64_t n,
                         tml_type type, const case_array *in, const uint64_t *begins)
{
    case_array *out = case_output(c, type, runs + 2);
    if (!case_call(c, tml_reduce(c->tml, &(tml_reduce_desc){.in = by->in,
                                                            .folds = {{TML_FOLD_MAX, out->buffer}},
                                                            .segments.starts = by->segments.starts,
                                                            .segments.count = tml_length_of(runs),
                                                            .length = tml_length_of(n)})) ||
        !case_fetch(c, out))
        return;
    for (uint64_t r = 0; r < runs; r++)
        check_fold(c, TML_FOLD_MAX, type, in->data, begins[r], begins[r + 1], type, out, r);
    case_check_rest(c, "out", out, runs * tml_type_size(type));
}

static void reduce_starts_test(case_run *c)
{
    tml_type type = tml_type_from_name(case_text(c, "type"));
    tml_type key_type = type_of_size(case_number(c, "elem"));
    tml_fold fold = fold_of(c);
    tml_type out_type = fold_type(fold, type, case_is(c, "out", "narrow"));
    size_t size = tml_type_size(key_type);
    uint64_t bound = choose_count(c);
    tml_unique_desc runs_of = {.in = {0, 0}};
    uint64_t n = choose_length(c, bound, &runs_of.length);
    tml_reduce_desc desc = {.length = runs_of.length};
    case_array *keys = case_array_new(c, key_type, bound), *in = case_array_new(c, type, bound);
    uint64_t *begins = malloc((bound + 2) * sizeof *begins);
    uint8_t *expected = malloc(bound * size + 1);
    if (!begins || !expected)
        abort();
    uint64_t runs = keys->size ? choose_runs(c, keys->data, size, bound, n, begins) : 0;
    fill_numbers(c, type, in->data, in->size / tml_type_size(type));
    runs_of.in = case_input(c, keys, key_type, bound);
    desc.in = case_input(c, in, type, bound);
    bool has_keys = !case_is(c, "keys", "none");
    uint64_t room = case_is(c, "keys", "half") ? bound / 2 : bound;
    case_array *out_keys = has_keys ? case_output(c, key_type, room) : NULL;
    case_array *starts = number_output(c, "starts", bound);
    case_array *out = case_output(c, out_type, bound), *count = number_output(c, "starts", 1);
    runs_of.values = handle(out_keys);
    runs_of.starts = desc.segments.starts = handle(starts);
    runs_of.count = desc.segments.count.device = handle(count);
    desc.folds[0] = (tml_reduce_result){fold, handle(out)};
    c->bytes = n * (size + tml_type_size(type)) + runs * (size + tml_type_size(out_type));
    tml_status status = TML_OK;
    for (case_start(c); case_again(c);)
        if (!(status = tml_unique(c->tml, &runs_of)))
            status = tml_reduce(c->tml, &desc);
    if (c->result == CASE_PASSED && case_call(c, status) && case_fetch(c, out)) {
        check_numbers(c, "count", count, "starts", &runs, 1);
        check_numbers(c, "starts", starts, "starts", begins, runs);
        for (uint64_t r = 0; r < runs; r++) {
            memcpy(expected + r * size, keys->data + begins[r] * size, size);
            check_fold(c, fold, type, in->data, begins[r], begins[r + 1], out_type, out, r);
        }
        case_check_rest(c, "out", out, runs * tml_type_size(out_type));
        if (has_keys)
            case_check(c, "out_keys", out_keys, expected, (runs < room ? runs : room) * size);
        if (c->result == CASE_PASSED)
            check_starts(c, &desc, runs, n, type, in, begins);
    }
    free(begins);
    free(expected);
}

static const char *const reduce_starts_perf[] = {
    "reduce_starts(count=16777216)", "reduce_starts(count=16777216,run=1)",
    "reduce_starts(count=16777216,run=1000000000)", NULL};
static const case_op reduce_starts_op = {
    "reduce_starts",
    {{"count", "1025 0 1 2 63 64 65 1023 1024 4095 4096 4097 65537 300007", true},
     {"type", SCALARS, false},
     {"fold", FOLDS, false},
     {"out", "wide narrow", false},
     {"data", NUMBER_DATA, false},
     {"run", "10 1 2 100 5000 1000000000", true},
     {"elem", SIZES, true},
     {"keys", "yes none half", false},
     {"starts", "u32 u64", false},
     {"length", LENGTHS, false},
     {"threads", THREADS, true}},
    numbers_are_sensible,
    reduce_starts_test,
    reduce_starts_perf};

static const case_op *const stream_ops[] = {
    &map_op,           &reduce_op,    &histogram_op, &scan_op,
    &compact_op,       &partition_op, &sort_op,      &sort_segments_op,
    &top_k_op,         &gather_op,    &scatter_op,   &search_op,
    &reduce_starts_op, &expand_op,    &unique_op,    &reduce_segments_op,
    &scan_segments_op, NULL};

/* ---- results that may not drift -------------------------------------------------------------- */

/* Hashes of float results over fixed data: equal on every compiler, optimisation and SIMD level,
 * and for any number of threads, since lanes and blocks are summed in a fixed order and contraction
 * is off. A new value here is a change that the changelog must name. */
static const struct {
    const char *name;
    uint64_t hash;
} golden[] = {
    {"sum of f32", 0xf080035c34128b95},
    {"mean of f64", 0x5e677c45f8ae83de},
    {"inclusive scan of f32", 0x1587d74cfb109c33},
    {"exclusive scan of f64", 0xcbfed3ed7ec8cfa6},
    {"sums of segments", 0xb942e8e30248d301},
    {"scans of segments", 0x396bb6b45324d6e2},
};
enum { GOLDEN_COUNT = 100003, GOLDEN_SEGMENTS = 5, GOLDEN_RESULTS = 6 };

/* Of the bytes of elements, the lowest of each first. */
static uint64_t hash_of(const void *bytes, size_t size, size_t element)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[IS_BIG_ENDIAN ? i ^ (element - 1) : i]) *
               0x100000001b3u;
    return hash;
}

static tml_status golden_results(tml_context *tml, const float *f32, const double *f64,
                                 uint64_t hashes[GOLDEN_RESULTS])
{
    static const uint32_t offsets[GOLDEN_SEGMENTS + 1] = {7, 8, 1031, 1031, 65000, GOLDEN_COUNT};
    static float f32_out[GOLDEN_COUNT];
    static double f64_out[GOLDEN_COUNT];
    double fold = 0, folds[GOLDEN_SEGMENTS];
    tml_buffer in32, in64, out32, out64, fold_out, folds_out, offsets_in;
    const struct {
        tml_buffer *buffer;
        tml_type type;
        uint64_t count;
        const void *data;
    } buffers[] = {
        {&in32, TML_F32, GOLDEN_COUNT, f32},
        {&in64, TML_F64, GOLDEN_COUNT, f64},
        {&out32, TML_F32, GOLDEN_COUNT, f32},
        {&out64, TML_F64, GOLDEN_COUNT, f64},
        {&fold_out, TML_F64, 1, NULL},
        {&folds_out, TML_F64, GOLDEN_SEGMENTS, NULL},
        {&offsets_in, TML_U32, GOLDEN_SEGMENTS + 1, offsets},
    };
    tml_status status = TML_OK;
    for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++)
        if (status == TML_OK)
            status = tml_buffer_create(tml,
                                       &(tml_buffer_desc){.type = buffers[b].type,
                                                          .count = buffers[b].count,
                                                          .data = buffers[b].data},
                                       buffers[b].buffer);
#define GOLDEN_STEP(number, call, out, memory)                                                     \
    if (status == TML_OK)                                                                          \
        status = (call);                                                                           \
    if (status == TML_OK)                                                                          \
        status = tml_buffer_read(tml, out, memory);                                                \
    hashes[number] = hash_of(memory, sizeof(memory), sizeof *(memory))
    double one[1] = {fold};
    GOLDEN_STEP(
        0, tml_reduce(tml, &(tml_reduce_desc){.in = in32, .folds = {{TML_FOLD_SUM, fold_out}}}),
        fold_out, one);
    GOLDEN_STEP(
        1, tml_reduce(tml, &(tml_reduce_desc){.in = in64, .folds = {{TML_FOLD_MEAN, fold_out}}}),
        fold_out, one);
    GOLDEN_STEP(2, tml_scan(tml, &(tml_scan_desc){.in = in32, .inclusive = true, .out = out32}),
                out32, f32_out);
    GOLDEN_STEP(3, tml_scan(tml, &(tml_scan_desc){.in = in64, .out = out64}), out64, f64_out);
    GOLDEN_STEP(4,
                tml_reduce(tml, &(tml_reduce_desc){.in = in32,
                                                   .segments.offsets = offsets_in,
                                                   .folds = {{TML_FOLD_SUM, folds_out}}}),
                folds_out, folds);
    GOLDEN_STEP(5,
                tml_scan(tml, &(tml_scan_desc){.in = in32,
                                               .segments.offsets = offsets_in,
                                               .inclusive = true,
                                               .out = out32}),
                out32, f32_out);
#undef GOLDEN_STEP
    return status;
}

static case_result golden_check(char *message, size_t size)
{
    static float f32[GOLDEN_COUNT];
    static double f64[GOLDEN_COUNT];
    uint64_t state = 42;
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
        f64[i] = (double)(int64_t)state * 0x1p-50;
        f32[i] = (float)f64[i];
    }
    for (int level = TML_SIMD_BASE; level < TML_SIMD_LEVELS; level++)
        for (uint32_t threads = 1; threads <= 7; threads += 3) {
            tml_context *tml = NULL;
            uint64_t hashes[GOLDEN_RESULTS] = {0};
            tml_simd_force((tml_simd)level);
            tml_open_desc desc = {.engine = TML_ENGINE_CPU, .threads = threads};
            tml_status status = tml_open(&desc, &tml);
            if (status == TML_OK)
                status = golden_results(tml, f32, f64, hashes);
            tml_close(tml);
            tml_simd_force(TML_SIMD_LEVELS);
            if (status != TML_OK) {
                snprintf(message, size, "%s", tml_status_name(status));
                return CASE_FAILED;
            }
            size_t used = 0;
            for (int r = 0; r < GOLDEN_RESULTS; r++)
                if (hashes[r] != golden[r].hash && used < size)
                    used += (size_t)snprintf(message + used, size - used, "%s: 0x%016" PRIx64 "; ",
                                             golden[r].name, hashes[r]);
            if (used > 0 && used < size)
                snprintf(message + used, size - used, "SIMD level %d, %u threads", level, threads);
            if (used > 0)
                return CASE_FAILED;
        }
    return CASE_PASSED;
}

/* ---- allocations ----------------------------------------------------------------------------- */

/* Counts what is allocated, and fails one allocation when told to. */
typedef struct meter {
    uint64_t calls, fail_at; /* fail_at: number of the call that fails */
    int64_t live;
} meter;

static void *meter_alloc(void *user, size_t size, size_t alignment)
{
    meter *m = user;
    void *memory = m->calls++ == m->fail_at ? NULL : tml_platform_alloc(size, alignment);
    if (!memory)
        return NULL;
    m->live += (int64_t)size;
    return memory;
}

static void meter_free(void *user, void *memory, size_t size)
{
    ((meter *)user)->live -= (int64_t)size;
    tml_platform_free(memory);
}

static tml_status open_metered(meter *m, tml_context **tml)
{
    return tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                     .threads = 2,
                                     .allocator = {meter_alloc, meter_free, m}},
                    tml);
}

/* Opens a context, makes buffers, and runs an operation's default case; the n-th allocation fails.
 * Passed: nothing failed any more. No memory: it failed, and cleanly. */
static case_result run_short_of_memory(const case_op *op, const char *method, uint64_t n,
                                       char *message, size_t size)
{
    meter m = {.fail_at = n};
    tml_context *tml = NULL;
    tml_status status = open_metered(&m, &tml);
    case_result result = CASE_NO_MEMORY;
    if (status == TML_OK) {
        tml_buffer buffer;
        status = tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_F32, .count = 100}, &buffer);
        if (status == TML_OK)
            result = case_run_default(op, tml, "method", method, message, size);
    } else if (tml) {
        snprintf(message, size, "a failed tml_open gave a context");
        result = CASE_FAILED;
    }
    tml_close(tml);
    if (status != TML_OK && status != TML_ERROR_OUT_OF_MEMORY) {
        snprintf(message, size, "allocation %" PRIu64 ": %s", n, tml_status_name(status));
        return CASE_FAILED;
    }
    if (m.live != 0) {
        snprintf(message, size, "allocation %" PRIu64 ": %" PRId64 " bytes leaked", n, m.live);
        return CASE_FAILED;
    }
    return result;
}

/* Calls check for every operation and method; stops at the first failure. */
static case_result each_method(case_result (*check)(const case_op *op, const char *method,
                                                    char *message, size_t size),
                               char *message, size_t size)
{
    for (const case_op *const *op = stream_ops; *op; op++)
        for (int m = TML_METHOD_AUTO; m <= TML_METHOD_HISTOPYRAMID; m++) {
            const char *method = tml_method_name((tml_method)m);
            case_result result = check(*op, method, message, size);
            if (result == CASE_FAILED || result == CASE_NO_MEMORY) {
                size_t used = strlen(message);
                snprintf(message + used, size - used, " [%s %s]", (*op)->name, method);
                return CASE_FAILED;
            }
        }
    return CASE_PASSED;
}

static case_result check_short_of_memory(const case_op *op, const char *method, char *message,
                                         size_t size)
{
    case_result result = CASE_NO_MEMORY;
    for (uint64_t n = 0; n < 100 && result == CASE_NO_MEMORY; n++)
        result = run_short_of_memory(op, method, n, message, size);
    return result;
}

static case_result short_of_memory(char *message, size_t size)
{
    return each_method(check_short_of_memory, message, size);
}

/* The second of two equal calls allocates nothing. */
static case_result check_steady_state(const case_op *op, const char *method, char *message,
                                      size_t size)
{
    meter m = {.fail_at = UINT64_MAX};
    tml_context *tml = NULL;
    if (open_metered(&m, &tml) != TML_OK)
        return CASE_FAILED;
    case_result result = case_run_default(op, tml, "method", method, message, size);
    uint64_t calls = m.calls;
    if (result == CASE_PASSED)
        result = case_run_default(op, tml, "method", method, message, size);
    if (result == CASE_PASSED && m.calls != calls) {
        snprintf(message, size, "the second call made %" PRIu64 " allocations", m.calls - calls);
        result = CASE_FAILED;
    }
    tml_close(tml);
    return result;
}

static case_result steady_state(char *message, size_t size)
{
    return each_method(check_steady_state, message, size);
}

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel test_stream_kernels[];
#endif

int main(int argc, char **argv)
{
#ifdef TML_VULKAN
    case_use_kernels(test_stream_kernels);
#endif
    static const case_check_fn checks[] = {{"golden float results", golden_check},
                                           {"every allocation fails once", short_of_memory},
                                           {"steady state allocates nothing", steady_state},
                                           {NULL, NULL}};
    return case_main(argc, argv, stream_ops, checks);
}
