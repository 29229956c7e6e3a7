/* What test_random's calls are and what they must do: a program is a list of calls, and each call
 * has a model, the simplest loop over plain arrays that does the same to a mirror of every buffer.
 *
 * A call names its buffers by numbers that are given once in a program, so that it means the same
 * whatever other calls are left out; a call whose buffers are not there is left out, too. */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/trommel.h>

#include "low_bytes.h"
#include "seed.h"
#include "support_marching_cubes.h"

/* ---- calls ----------------------------------------------------------------------------------- */

typedef enum call_kind {
    CALL_OPEN,
    CALL_CLOSE,
    CALL_CREATE,
    CALL_DESTROY,
    CALL_DESTROY_ALL,
    CALL_WRITE,
    CALL_READ,
    CALL_READ_COUNT,
    CALL_MAP,
    CALL_SYNC,
    CALL_FLUSH,
    CALL_RESERVE,
    CALL_SUBMIT,
    CALL_WAIT,
    CALL_FORGET,
    CALL_BEGIN,
    CALL_END,
    CALL_STALE,
    CALL_SURFACE,
    /* What may be recorded: */
    CALL_MAP_STREAM,
    CALL_REDUCE,
    CALL_HISTOGRAM,
    CALL_SCAN,
    CALL_COMPACT,
    CALL_PARTITION,
    CALL_SORT,
    CALL_TOP_K,
    CALL_GATHER,
    CALL_SCATTER,
    CALL_SEARCH,
    CALL_EXPAND,
    CALL_UNIQUE,
    CALL_REDUCE_BY_KEY,
    CALL_REDUCE_SEGMENTS,
    CALL_SCAN_SEGMENTS,
    CALL_SURFACE_ENQUEUE,
    CALL_INDIRECT,
    CALL_KINDS
} call_kind;

static const char *const call_names[CALL_KINDS] = {"open",
                                                   "close",
                                                   "create",
                                                   "destroy",
                                                   "destroy_all",
                                                   "write",
                                                   "read",
                                                   "read_count",
                                                   "map",
                                                   "sync",
                                                   "flush",
                                                   "reserve",
                                                   "submit",
                                                   "wait",
                                                   "forget_recordings",
                                                   "gl_begin",
                                                   "gl_end",
                                                   "stale",
                                                   "surface",
                                                   "map_stream",
                                                   "reduce",
                                                   "histogram",
                                                   "scan",
                                                   "compact",
                                                   "partition",
                                                   "sort",
                                                   "top_k",
                                                   "gather",
                                                   "scatter",
                                                   "search",
                                                   "expand",
                                                   "unique",
                                                   "reduce_by_key",
                                                   "reduce_segments",
                                                   "scan_segments",
                                                   "surface_enqueue",
                                                   "vulkan_indirect"};

/* The places of a call's buffers. OUT to OUT + 2, INDICES and COUNT are written. */
enum {
    AT_IN,             /* in[0 ... 2]; payloads' in; volume, mask, iso */
    AT_BY = AT_IN + 3, /* flags, mask, the keep kernel's input; counts; offsets */
    AT_OUT,            /* out; payloads' out; source, rank, out; values, starts, lengths;
                          * vertices, indices, draw */
    AT_INDICES = AT_OUT + 3,
    AT_COUNT, /* count, total, counts */
    AT_LENGTH,
    AT_SCRATCH,
    AT_PLACES
};
static const char *const place_names[AT_PLACES] = {
    "in", "in1", "in2", "by", "out", "out1", "out2", "indices", "count", "length", "scratch"};

/* Bits of a call's options. */
enum {
    OPTION_INCLUSIVE = 1,   /* scans; sort: descending; top_k: smallest; search: upper */
    OPTION_CHECK = 2,       /* compare the outputs at once */
    OPTION_CANCEL = 4,      /* tml_cancel comes first; surface: by the progress hook */
    OPTION_MASK = 8,        /* compact: by is a mask of bits, otherwise flags */
    OPTION_KERNEL = 16,     /* compact: by is the kernel's input; expand: a kernel counts */
    OPTION_CAPS = 32,       /* surface */
    OPTION_FLIP = 64,       /* surface; top_k: unsorted */
    OPTION_LENT = 128,      /* create: the caller's own memory */
    OPTION_UNDEFINED = 256, /* create: without data, which is written afterwards */
    OPTION_STAGING = 512,   /* open: on Vulkan, copies staged; on OpenGL ES, short rows */
    OPTION_EXACT = 2048,    /* tml_length_of */
    OPTION_APPEND = 4096,   /* compact, expand: count is out_first, too */
    OPTION_SOUP = 8192,     /* surface */
    OPTION_PASSES = 1024,   /* open: on Vulkan, passes of 2^16; on OpenGL ES, exact_counts */
};

typedef enum array_role { ROLE_PLAIN, ROLE_OFFSETS, ROLE_SCRATCH } array_role;

typedef struct call {
    uint8_t kind;
    uint8_t context;
    uint8_t recording; /* 1 and up; 0: the context's own */
    uint8_t method, fold, kernel, role, style;
    uint16_t options;
    uint16_t at[AT_PLACES]; /* numbers of buffers from 1; 0: none */
    uint16_t dims[3];
    tml_type type;
    uint64_t count; /* elements; of an operation the bound of its length, 0: all */
    uint64_t index; /* first element; of length.device; offsets' largest value; bytes */
    uint64_t seed;
} call;

static inline bool is_operation(const call *c)
{
    return c->kind >= CALL_MAP_STREAM;
}

static inline bool is_output(int place)
{
    return place >= AT_OUT && place <= AT_COUNT;
}

/* ---- kernels --------------------------------------------------------------------------------- */

#include <trommel/kernel_begin.h>

TML_KERNEL(uint, random_twice, (uint x, tml_params p), { return x * 2u + p.u[0]; })
TML_KERNEL(float, random_complement, (float x), { return 1.0f - x; })
TML_KERNEL(bool, random_is_odd, (uint x), { return (x & 1u) == 1u; })
TML_KERNEL(uint64, random_wide, (uint64 x, uint y), { return x + y; })
TML_KERNEL(uint, random_gather, (uint x, tml_words w, tml_params p),
           { return tml_word(w, x % p.u[1]); })
TML_KERNEL(uint, random_position, (tml_index i, tml_params p), { return U(i) * p.u[0]; })
TML_KERNEL(vec3, random_move, (vec3 v), { return add3(v, VEC3(1.0f, 2.0f, 3.0f)); })

TML_KERNEL(bool, random_positive, (float x), { return x > 0.0f; })
TML_KERNEL(bool, random_by_index, (uint x, tml_index i, tml_params p),
           { return ((x + U(i)) & p.u[1]) == 0u; })
TML_KERNEL(uint, random_up_to_3, (uint x), { return x & 3u; })
TML_KERNEL(uint, random_code, (uint x, tml_index s, tml_rank k),
           { return x * 4096u + U(s) * 16u + k; })

#include <trommel/kernel_end.h>

enum { MAPS = 7 };

static inline const tml_kernel *map_kernel(const call *c)
{
    const tml_kernel *const kernels[MAPS] = {TML_USE(random_twice),  TML_USE(random_complement),
                                             TML_USE(random_is_odd), TML_USE(random_wide),
                                             TML_USE(random_gather), TML_USE(random_position),
                                             TML_USE(random_move)};
    return kernels[c->kernel % MAPS];
}

/* ---- random numbers -------------------------------------------------------------------------- */

static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return test_random(state) % n;
}

/* Lengths on the seams of words, workgroups, blocks and tiles, and primes. */
static inline uint64_t random_size(uint64_t *state)
{
    static const uint32_t seams[] = {32,   64,    128,   256,   1024,  4096,
                                     8192, 16384, 32768, 65536, 131072};
    static const uint32_t primes[] = {7, 61, 251, 1021, 4093, 7919, 20011, 65521, 104729};
    switch (random_below(state, 8)) {
    case 0:
        return random_below(state, 4);
    case 1:
    case 2:
        return seams[random_below(state, 7)] - 1 + random_below(state, 3);
    case 3:
        return seams[random_below(state, 11)] - 1 + random_below(state, 3);
    case 4:
        return primes[random_below(state, sizeof primes / sizeof *primes)];
    default:
        return random_below(state, 3000);
    }
}

/* ---- mirrors --------------------------------------------------------------------------------- */

/* A buffer of the library's, and what it must hold. */
typedef struct array {
    tml_buffer buffer;
    tml_type type;
    uint64_t count;
    size_t size;
    uint8_t *mirror;
    uint8_t *lent; /* memory of the caller's, with guards around it */
    uint8_t context;
    array_role role;
    bool is_live;
    bool was_live;
    bool is_unknown; /* the last call leaves it open what this holds */
#ifdef TML_VULKAN
    VkBuffer lent_buffer;
    VkDeviceMemory lent_memory;
#endif
} array;

typedef struct element {
    double real;      /* of float types */
    uint64_t integer; /* of integer types, sign-extended */
} element;

static inline element load(tml_type type, const uint8_t *elements, uint64_t i)
{
    const uint8_t *p = elements + i * tml_type_size(type);
    element x = {.integer = get_low(p, tml_type_size(type))};
    int64_t mask = 0;
    switch (type) {
    case TML_I8:
    case TML_I16:
    case TML_I32:
        mask = (int64_t)1 << (8 * tml_type_size(type) - 1);
        x.integer = (x.integer ^ (uint64_t)mask) - (uint64_t)mask;
        break;
    case TML_F16:
    case TML_F32:
    case TML_F64:
        x.real = mc_sample(elements, type, i);
        break;
    default:
        break;
    }
    return x;
}

static inline void store_integer(array *out, uint64_t i, uint64_t value)
{
    size_t size = tml_type_size(out->type);
    put_low(out->mirror + i * size, value, size);
}

static inline void store_real(array *out, uint64_t i, double value)
{
    float narrow = (float)value;
    if (out->type == TML_F32)
        memcpy(out->mirror + i * sizeof narrow, &narrow, sizeof narrow);
    else
        memcpy(out->mirror + i * sizeof value, &value, sizeof value);
}

/* A count, which stays at the largest number that its type holds. */
static inline void store_count(array *out, uint64_t i, uint64_t value)
{
    if (out)
        store_integer(out, i, out->type == TML_U32 && value > UINT32_MAX ? UINT32_MAX : value);
}

/* Whole numbers from -2048 to 2048 in binary16. */
static inline uint16_t half_of(int value)
{
    int magnitude = abs(value), exponent = 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    unsigned fraction = ((unsigned)magnitude << 10 >> exponent) & 1023u;
    unsigned bits = magnitude ? (unsigned)(exponent + 15) << 10 | fraction : 0;
    return (uint16_t)(bits | (value < 0 ? 0x8000u : 0u));
}

enum {
    STYLE_BITS,
    STYLE_SMALL,
    STYLE_SPARSE,
    STYLE_ZERO,
    STYLE_RUNS,
    STYLE_FULL,
    STYLE_LENGTHS,
    STYLE_BINARY,
    STYLES
};

/* Contents by a style and a seed. Floats are small whole numbers, so that sums are exact in any
 * order. */
static inline void fill(tml_type type, uint64_t count, int style, uint64_t seed, uint8_t *out)
{
    tml_type scalar = tml_type_scalar(type);
    size_t size = scalar ? tml_type_size(scalar) : 1;
    uint64_t scalars = count * tml_type_size(type) / size, run = 0;
    for (uint64_t i = 0; i < scalars; i++, out += size) {
        uint64_t x = test_random(&seed), value = x;
        switch (style) {
        case STYLE_SMALL:
            value = x >> 20 & 3;
            break;
        case STYLE_SPARSE:
            value = x % 61 == 0 ? x >> 20 & 7 : 0;
            break;
        case STYLE_ZERO:
            value = 0;
            break;
        case STYLE_RUNS:
            value = run = x % 11 == 0 ? x >> 20 & 7 : run;
            break;
        case STYLE_FULL:
            value = UINT64_MAX;
            break;
        case STYLE_LENGTHS:
            value = random_size(&x);
            break;
        case STYLE_BINARY:
            value = x >> 20 & 1;
            break;
        default:
            break;
        }
        int small = (int)(value & 15) - 7;
        float narrow = (float)small;
        double wide = small;
        uint16_t half = half_of(small);
        if (scalar == TML_F32)
            memcpy(out, &narrow, size);
        else if (scalar == TML_F64)
            memcpy(out, &wide, size);
        else if (scalar == TML_F16)
            memcpy(out, &half, size);
        else
            put_low(out, value, size);
    }
}

static inline int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Ascending offsets up to limit, some of them equal. */
static inline void fill_offsets(tml_type type, uint64_t count, uint64_t limit, uint64_t seed,
                                uint8_t *out)
{
    uint64_t *offsets = calloc(count + 1, sizeof *offsets);
    uint64_t near = random_below(&seed, 4);
    for (uint64_t i = 0; i < count; i++) {
        offsets[i] = random_below(&seed, limit + 1);
        if (near == 0) /* one giant segment among empty ones */
            offsets[i] = offsets[i] < limit / 2 ? 0 : limit;
    }
    qsort(offsets, count, sizeof *offsets, compare_u64);
    for (uint64_t i = 0; i < count; i++)
        put_low(out + i * tml_type_size(type), offsets[i], tml_type_size(type));
    free(offsets);
}

static inline void fill_array(array *a, const call *c, uint64_t first, uint64_t count)
{
    size_t size = tml_type_size(a->type);
    if (a->role == ROLE_OFFSETS)
        fill_offsets(a->type, a->count, c->index, c->seed, a->mirror);
    else
        fill(a->type, count, c->style, c->seed, a->mirror + first * size);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* One context's buffers, by their numbers, as its calls see them. */
typedef struct operands {
    array *at[AT_PLACES];   /* NULL: none */
    tml_context *reference; /* one thread of the CPU engine's, for surfaces */
    tml_program *program;   /* the operation becomes its step; NULL: it runs */
    char *problem;          /* what the model itself could not do */
    size_t problem_size;
} operands;

/* How many elements go in, of bound at most. */
static inline uint64_t model_length(const operands *o, const call *c, uint64_t available)
{
    uint64_t bound = c->count || c->options & OPTION_EXACT ? c->count : available;
    const array *device = o->at[AT_LENGTH];
    if (!device)
        return bound;
    uint64_t n = load(device->type, device->mirror, c->index).integer;
    return n < bound ? n : bound;
}

/* Where the outputs begin. */
static inline uint64_t model_first(const operands *o, const call *c)
{
    const array *count = o->at[AT_COUNT];
    if (!(c->options & OPTION_APPEND))
        return 0;
    uint64_t first = load(count->type, count->mirror, 0).integer, most = (uint64_t)1 << 63;
    return first < most ? first : most;
}

static inline double as_double(tml_type type, element x)
{
    return tml_type_is_float(type)    ? x.real
           : tml_type_is_signed(type) ? (double)(int64_t)x.integer
                                      : (double)x.integer;
}

/* Are sums of these elements, and of start, exact in single precision, in whatever order? */
static inline bool sums_are_exact(const array *in, uint64_t first, uint64_t last, double start)
{
    double sum = fabs(start);
    if (!(sum == floor(sum)))
        return false;
    for (uint64_t i = first; i < last; i++) {
        double x = as_double(in->type, load(in->type, in->mirror, i));
        if (!(x == floor(x)))
            return false;
        sum += fabs(x);
    }
    return sum <= 0x1p24;
}

static inline tml_params params_of(const call *c, const array *words)
{
    uint64_t seed = c->seed;
    tml_params p = {.u = {(uint32_t)random_below(&seed, 100), 1u << random_below(&seed, 4)}};
    if (words)
        p.u[1] = (uint32_t)(words->size / 4);
    return p;
}

static inline void model_map(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *other = o->at[AT_IN + 1];
    array *out = o->at[AT_OUT];
    int kernel = c->kernel % MAPS;
    tml_params p = params_of(c, kernel == 4 ? other : NULL);
    uint64_t n = model_length(o, c, in ? in->count : out->count);
    for (uint64_t i = 0; i < n; i++) {
        element x = in && tml_type_components(in->type) == 1 ? load(in->type, in->mirror, i)
                                                             : (element){0, 0};
        float v[3];
        uint32_t word;
        switch (kernel) {
        case 0:
            store_integer(out, i, x.integer * 2 + p.u[0]);
            break;
        case 1:
            store_real(out, i, 1.0f - (float)x.real);
            out->is_unknown = out->is_unknown || isnan(x.real);
            break;
        case 2:
            store_integer(out, i, x.integer & 1);
            break;
        case 3:
            store_integer(out, i, x.integer + load(other->type, other->mirror, i).integer);
            break;
        case 4:
            memcpy(&word, other->mirror + 4 * ((uint32_t)x.integer % p.u[1]), sizeof word);
            store_integer(out, i, word);
            break;
        case 5:
            store_integer(out, i, (uint32_t)i * p.u[0]);
            break;
        default:
            memcpy(v, in->mirror + i * sizeof v, sizeof v);
            for (int k = 0; k < 3; k++) {
                v[k] = v[k] + (float)(k + 1);
                out->is_unknown = out->is_unknown || isnan(v[k]);
            }
            memcpy(out->mirror + i * sizeof v, v, sizeof v);
            break;
        }
    }
}

static inline bool is_less(tml_type type, element a, element b)
{
    if (tml_type_is_float(type))
        return a.real < b.real;
    return tml_type_is_signed(type) ? (int64_t)a.integer < (int64_t)b.integer
                                    : a.integer < b.integer;
}

/* The largest of a type (smallest: its negation), as MIN and MAX of nothing give it. */
static inline void store_extreme(array *out, uint64_t j, bool largest)
{
    size_t size = tml_type_size(out->type);
    uint64_t bits =
        tml_type_is_signed(out->type) ? ((uint64_t)1 << (8 * size - 1)) - 1 : UINT64_MAX;
    if (out->type == TML_F32 || out->type == TML_F64)
        store_real(out, j, largest ? INFINITY : -INFINITY);
    else if (out->type == TML_F16)
        store_integer(out, j, largest ? 0x7c00 : 0xfc00);
    else
        store_integer(out, j, largest ? bits : ~bits);
}

/* Folds elements [first, last) into out's element j. */
static inline void model_fold(tml_fold fold, const array *in, uint64_t first, uint64_t last,
                              array *out, uint64_t j)
{
    bool is_float = tml_type_is_float(in->type), none = true;
    uint64_t sum = 0, best = 0;
    double real = 0;
    for (uint64_t i = first; i < last; i++) {
        element x = load(in->type, in->mirror, i), b = load(in->type, in->mirror, best);
        sum += x.integer;
        real += as_double(in->type, x);
        if (is_float && isnan(x.real))
            continue;
        bool better = fold == TML_FOLD_MIN || fold == TML_FOLD_ARGMIN ? is_less(in->type, x, b)
                                                                      : is_less(in->type, b, x);
        if (none || better)
            best = i;
        none = false;
    }
    uint64_t n = last - first;
    size_t size = tml_type_size(in->type);
    switch (fold) {
    case TML_FOLD_SUM:
        if (!is_float)
            store_integer(out, j, sum);
        else if (sums_are_exact(in, first, last, 0))
            store_real(out, j, real);
        else
            out->is_unknown = true;
        break;
    case TML_FOLD_MEAN: /* exact where the sum is and dividing is */
        if (n > 0 && (n & (n - 1)) == 0 && sums_are_exact(in, first, last, 0))
            store_real(out, j, real / (double)n);
        else
            out->is_unknown = true;
        break;
    case TML_FOLD_MIN:
    case TML_FOLD_MAX:
        if (n > 0 && none)
            out->is_unknown = true; /* a NaN of any bits */
        else if (none)
            store_extreme(out, j, fold == TML_FOLD_MIN);
        else
            memcpy(out->mirror + j * size, in->mirror + best * size, size);
        break;
    default:
        store_integer(out, j, none ? UINT64_MAX : best);
        break;
    }
}

/* What a scan begins with; start: NULL: nothing. */
static inline element model_start(tml_fold fold, const array *out, const array *start)
{
    bool is_min = fold == TML_FOLD_MIN;
    element nothing = {is_min ? INFINITY : -INFINITY, 0};
    uint64_t largest = UINT64_MAX >> (64 - 8 * tml_type_size(out->type));
    if (tml_type_is_signed(out->type))
        largest >>= 1;
    nothing.integer = is_min ? largest : tml_type_is_signed(out->type) ? ~largest : 0;
    if (fold == TML_FOLD_SUM)
        nothing = (element){0, 0};
    if (!start)
        return nothing;
    element x = load(start->type, start->mirror, 0);
    return fold != TML_FOLD_SUM && isnan(x.real) ? nothing : x;
}

/* Does b replace a, the extreme so far? A NaN does not, and -0 is less than 0. */
static inline bool model_takes(tml_fold fold, tml_type type, element a, element b)
{
    element low = fold == TML_FOLD_MIN ? b : a, high = fold == TML_FOLD_MIN ? a : b;
    if (tml_type_is_float(type) && low.real == 0 && high.real == 0)
        return signbit(low.real) && !signbit(high.real);
    return is_less(type, low, high);
}

static inline void model_scan_part(tml_fold fold, bool inclusive, const array *in, uint64_t first,
                                   uint64_t last, const array *start, array *out, array *total)
{
    bool is_float = tml_type_is_float(in->type), is_sum = fold == TML_FOLD_SUM;
    element sum = model_start(fold, out, start);
    if (is_float && is_sum && !sums_are_exact(in, first, last, sum.real)) {
        out->is_unknown = true;
        if (total)
            total->is_unknown = true;
        return;
    }
    for (uint64_t i = first; i <= last; i++) {
        array *to = i < last ? out : total;
        uint64_t at = i < last ? i : 0;
        element next = sum;
        if (i < last) {
            element x = load(in->type, in->mirror, i);
            if (is_sum)
                next = (element){sum.real + x.real, sum.integer + x.integer};
            else if (model_takes(fold, in->type, sum, x))
                next = x;
        }
        const element *shown = inclusive || i == last ? &next : &sum;
        if (to && is_float)
            store_real(to, at, shown->real);
        else if (to)
            store_integer(to, at, shown->integer);
        sum = next;
    }
}

/* A byte for each element: is it kept? */
static inline uint8_t *model_keep(const operands *o, const call *c, uint64_t n, bool *is_known)
{
    const array *by = o->at[AT_BY];
    uint8_t *keep = calloc(n + 1, 1);
    tml_params p = params_of(c, NULL);
    for (uint64_t i = 0; i < n; i++) {
        if (c->options & OPTION_MASK) {
            keep[i] = get_low(by->mirror + i / 32 * 4, 4) >> i % 32 & 1;
            continue;
        }
        element x = load(by->type, by->mirror, i);
        if (!(c->options & OPTION_KERNEL))
            keep[i] = x.integer != 0;
        else if (tml_type_is_float(by->type))
            keep[i] = x.real > 0;
        else
            keep[i] = (((uint32_t)x.integer + (uint32_t)i) & p.u[1]) == 0;
        *is_known = *is_known && !isnan(x.real);
    }
    return keep;
}

static inline uint64_t compact_available(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *by = o->at[AT_BY];
    return in ? in->count : c->options & OPTION_MASK ? 32 * by->count : by->count;
}

static inline void model_compact(const operands *o, const call *c)
{
    uint64_t n = model_length(o, c, compact_available(o, c)), kept = 0;
    uint64_t begin = model_first(o, c);
    bool is_partition = c->kind == CALL_PARTITION, is_known = true;
    uint8_t *keep = model_keep(o, c, n, &is_known);
    for (uint64_t i = 0; i < n; i++)
        kept += keep[i];
    for (int p = 0; p < 4; p++) { /* the last time for the indices */
        const array *in = o->at[AT_IN + p];
        array *out = o->at[AT_OUT + p];
        if (!out)
            continue;
        size_t size = tml_type_size(out->type);
        out->is_unknown = out->is_unknown || !is_known;
        for (int wanted = 1; wanted >= (is_partition ? 0 : 1); wanted--) {
            uint64_t j = wanted ? begin : kept;
            for (uint64_t i = 0; i < n; i++) {
                if (keep[i] != wanted)
                    continue;
                if (j < out->count && p < 3)
                    memmove(out->mirror + j * size, in->mirror + i * size, size);
                else if (j < out->count)
                    store_integer(out, j, i);
                j++;
            }
        }
    }
    store_count(o->at[AT_COUNT], 0, begin + kept);
    if (o->at[AT_COUNT] && !is_known)
        o->at[AT_COUNT]->is_unknown = true;
    free(keep);
}

/* A merge sort of places [first, end) with room for as many, which is stable. */
static inline void model_merge(const array *keys, bool descends, uint64_t *places, uint64_t *room,
                               uint64_t first, uint64_t end)
{
    uint64_t middle = first + (end - first) / 2, a = first, b = middle;
    if (end - first < 2)
        return;
    model_merge(keys, descends, places, room, first, middle);
    model_merge(keys, descends, places, room, middle, end);
    for (uint64_t i = first; i < end; i++) {
        uint64_t x = a < middle ? load(keys->type, keys->mirror, places[a]).integer : 0;
        uint64_t y = b < end ? load(keys->type, keys->mirror, places[b]).integer : 0;
        bool takes_b = a == middle || (b < end && (descends ? x < y : x > y));
        room[i] = places[takes_b ? b++ : a++];
    }
    memcpy(places + first, room + first, (end - first) * sizeof *places);
}

/* Takes elements from n places: the keys, payloads, indices. */
static inline void model_move(const operands *o, const uint64_t *places, uint64_t n)
{
    for (int p = 0; p < 4; p++) {
        const array *in = p == 3 ? NULL : o->at[p ? AT_IN + p : AT_BY];
        array *out = o->at[p == 3 ? AT_INDICES : AT_OUT + p];
        if (!out)
            continue;
        size_t size = tml_type_size(out->type);
        uint8_t *moved = malloc(n * size + 1);
        if (!moved)
            abort();
        for (uint64_t i = 0; i < n && in; i++)
            memcpy(moved + i * size, in->mirror + places[i] * size, size);
        if (in)
            memcpy(out->mirror, moved, n * size);
        for (uint64_t i = 0; i < n && !in; i++)
            store_integer(out, i, places[i]);
        free(moved);
    }
}

static inline void model_sort(const operands *o, const call *c)
{
    const array *keys = o->at[AT_BY];
    uint64_t n = model_length(o, c, keys->count);
    uint64_t *places = malloc(n * sizeof *places + 1), *room = malloc(n * sizeof *room + 1);
    if (!places || !room)
        abort();
    for (uint64_t i = 0; i < n; i++)
        places[i] = i;
    const array *offsets = o->at[AT_IN];
    bool descends = c->options & OPTION_INCLUSIVE;
    for (uint64_t s = 0; offsets && s + 1 < offsets->count; s++) {
        uint64_t end = load(offsets->type, offsets->mirror, s + 1).integer;
        if (end <= n)
            model_merge(keys, descends, places, room,
                        load(offsets->type, offsets->mirror, s).integer, end);
    }
    if (!offsets)
        model_merge(keys, descends, places, room, 0, n);
    model_move(o, places, n);
    free(room);
    free(places);
}

/* The sort's first k. Unsorted: those before the last one's key, then those that equal it, by
 * source. */
static inline void model_top_k(const operands *o, const call *c)
{
    const array *keys = o->at[AT_BY], *device = o->at[AT_IN];
    uint64_t n = model_length(o, c, keys->count), k = c->dims[0];
    uint64_t *places = malloc(n * sizeof *places + 1), *room = malloc(n * sizeof *room + 1);
    if (!places || !room)
        abort();
    if (device && load(device->type, device->mirror, 0).integer < k)
        k = load(device->type, device->mirror, 0).integer;
    k = k < n ? k : n;
    for (uint64_t i = 0; i < n; i++)
        places[i] = i;
    model_merge(keys, !(c->options & OPTION_INCLUSIVE), places, room, 0, n);
    if (c->options & OPTION_FLIP && k > 0) {
        uint64_t last = load(keys->type, keys->mirror, places[k - 1]).integer, sooner = k;
        while (sooner > 0 && load(keys->type, keys->mirror, places[sooner - 1]).integer == last)
            sooner--;
        qsort(places, sooner, sizeof *places, compare_u64);
    }
    model_move(o, places, k);
    store_count(o->at[AT_COUNT], 0, k);
    free(room);
    free(places);
}

static inline void model_gather(const operands *o, const call *c)
{
    const array *indices = o->at[AT_BY];
    bool scatters = c->kind == CALL_SCATTER;
    uint64_t n = model_length(o, c, indices->count);
    for (int p = 0; p < 3; p++) {
        const array *in = o->at[AT_IN + p];
        array *out = o->at[AT_OUT + p];
        if (!out)
            continue;
        size_t size = tml_type_size(out->type);
        uint64_t range = scatters ? out->count : in->count;
        uint8_t *written = calloc(out->count + 1, 1);
        if (!written)
            abort();
        for (uint64_t i = 0; i < n; i++) {
            uint64_t place = load(indices->type, indices->mirror, i).integer;
            if (place >= range)
                continue;
            uint64_t from = scatters ? i : place, to = scatters ? place : i;
            out->is_unknown = out->is_unknown || written[to]++; /* named twice */
            memcpy(out->mirror + to * size, in->mirror + from * size, size);
        }
        free(written);
    }
}

static inline void model_search(const operands *o, const call *c)
{
    const array *sorted = o->at[AT_IN], *queries = o->at[AT_BY];
    array *out = o->at[AT_OUT];
    bool upper = c->options & OPTION_INCLUSIVE;
    for (uint64_t i = 1; i < sorted->count; i++)
        if (load(sorted->type, sorted->mirror, i - 1).integer >
            load(sorted->type, sorted->mirror, i).integer)
            out->is_unknown = true;
    for (uint64_t i = 0, n = model_length(o, c, queries->count); i < n; i++) {
        uint64_t query = load(queries->type, queries->mirror, i).integer, place = 0;
        for (uint64_t k = 0; k < sorted->count; k++) {
            uint64_t here = load(sorted->type, sorted->mirror, k).integer;
            place += here < query || (upper && here == query);
        }
        store_integer(out, i, place);
    }
}

static inline void model_expand(const operands *o, const call *c)
{
    const array *counts = c->options & OPTION_KERNEL ? o->at[AT_IN] : o->at[AT_BY];
    const array *in = o->at[AT_IN];
    array *source = o->at[AT_OUT], *rank = o->at[AT_OUT + 1], *out = o->at[AT_OUT + 2];
    uint64_t n = model_length(o, c, counts->count), total = model_first(o, c);
    uint64_t capacity = UINT64_MAX;
    for (int i = 0; i < 3; i++)
        if (o->at[AT_OUT + i] && o->at[AT_OUT + i]->count < capacity)
            capacity = o->at[AT_OUT + i]->count;
    for (uint64_t s = 0; s < n; s++) {
        uint64_t copies = load(counts->type, counts->mirror, s).integer;
        if (c->options & OPTION_KERNEL)
            copies &= 3;
        for (uint64_t k = 0; k < copies && capacity != UINT64_MAX && total + k < capacity; k++) {
            if (source)
                store_integer(source, total + k, s);
            if (rank)
                store_integer(rank, total + k, k);
            if (out)
                store_integer(out, total + k,
                              load(in->type, in->mirror, s).integer * 4096 + s * 16 + k);
        }
        total += copies;
    }
    store_count(o->at[AT_COUNT], 0, total);
}

static inline void model_unique(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN];
    array *values = o->at[AT_OUT], *starts = o->at[AT_OUT + 1], *lengths = o->at[AT_OUT + 2];
    uint64_t n = model_length(o, c, in->count), runs = 0;
    size_t size = tml_type_size(in->type);
    uint8_t first[64]; /* of the run; values may be written in place */
    for (uint64_t i = 0, next; i < n; i = next, runs++) {
        memcpy(first, in->mirror + i * size, size);
        next = i + 1;
        while (next < n && memcmp(in->mirror + next * size, first, size) == 0)
            next++;
        if (values && runs < values->count)
            memcpy(values->mirror + runs * size, first, size);
        if (starts && runs < starts->count)
            store_integer(starts, runs, i);
        if (lengths && runs < lengths->count)
            store_integer(lengths, runs, next - i);
    }
    store_count(o->at[AT_COUNT], 0, runs);
}

static inline void model_segments(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *offsets = o->at[AT_BY];
    for (uint64_t s = 0; s + 1 < offsets->count; s++) {
        uint64_t first = load(offsets->type, offsets->mirror, s).integer;
        uint64_t last = load(offsets->type, offsets->mirror, s + 1).integer;
        if (c->kind == CALL_REDUCE_SEGMENTS)
            model_fold((tml_fold)c->fold, in, first, last, o->at[AT_OUT], s);
        else
            model_scan_part(TML_FOLD_SUM, c->options & OPTION_INCLUSIVE, in, first, last, NULL,
                            o->at[AT_OUT], NULL);
    }
}

static inline void model_indirect(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN];
    array *out = o->at[AT_OUT];
    uint64_t vertices = 3 * load(in->type, in->mirror, c->index).integer;
    const uint32_t words[4] = {(uint32_t)vertices, 1, 0, 0};
    if (in->type == TML_U64 || vertices > UINT32_MAX)
        out->is_unknown = true; /* what arguments do not hold is clamped */
    else
        memcpy(out->mirror, words, sizeof words);
}

/* The desc of a surface, with buffers as make says. */
static inline tml_surface_enqueue_desc surface_desc(const operands *o, const call *c,
                                                    tml_buffer (*make)(const operands *, int),
                                                    tml_surface_desc *surface)
{
    *surface = (tml_surface_desc){.volume = make(o, AT_IN),
                                  .grid.dims = {c->dims[0], c->dims[1], c->dims[2]},
                                  .mask = make(o, AT_IN + 1),
                                  .iso = 0.5,
                                  .caps = c->options & OPTION_CAPS,
                                  .flip = c->options & OPTION_FLIP,
                                  .soup = c->options & OPTION_SOUP,
                                  .vertices = make(o, AT_OUT),
                                  .indices = make(o, AT_OUT + 1)};
    return (tml_surface_enqueue_desc){.surface = surface,
                                      .iso = make(o, AT_IN + 2),
                                      .iso_index = c->index,
                                      .counts = make(o, AT_COUNT),
                                      .draw = make(o, AT_OUT + 2)};
}

static inline tml_buffer mirror_as_buffer(const operands *o, int place)
{
    const array *a = o->at[place];
    tml_buffer buffer = {0, 0};
    if (a &&
        tml_buffer_create(o->reference,
                          &(tml_buffer_desc){.type = a->type, .count = a->count, .host = a->mirror},
                          &buffer) != TML_OK)
        abort();
    return buffer;
}

/* Samples are 0 and 1 and the isovalue is a half or a whole number, or a vertex may lie elsewhere
 * by a rounding. */
static inline bool surface_is_exact(const operands *o, const call *c)
{
    const array *volume = o->at[AT_IN], *iso = o->at[AT_IN + 2];
    for (uint64_t i = 0; i < (uint64_t)c->dims[0] * c->dims[1] * c->dims[2]; i++)
        if (volume->mirror[i] > 1)
            return false;
    double value = iso ? mc_sample(iso->mirror, iso->type, c->index) : 0.5;
    return value == floor(value) || !iso;
}

static inline void surface_problem(const operands *o, const char *what, uint64_t a, uint64_t b)
{
    snprintf(o->problem, o->problem_size,
             "%s: %" PRIu64 " by the CPU engine, %" PRIu64 " by cells one after the other", what, a,
             b);
}

/* Counts and vertices of a second marching cubes; the CPU engine on one thread for the
 * triangles. */
static inline void model_surface(const operands *o, const call *c)
{
    if (!surface_is_exact(o, c)) {
        for (int place = AT_OUT; place <= AT_COUNT; place++)
            if (o->at[place])
                o->at[place]->is_unknown = true;
        return;
    }
    const array *iso = o->at[AT_IN + 2], *vertices = o->at[AT_OUT];
    mc_mesh mesh =
        mc_extract(&(mc_input){.samples = o->at[AT_IN]->mirror,
                               .type = TML_U8,
                               .grid = {.dims = {c->dims[0], c->dims[1], c->dims[2]}},
                               .mask = o->at[AT_IN + 1] ? o->at[AT_IN + 1]->mirror : NULL,
                               .iso = iso ? mc_sample(iso->mirror, iso->type, c->index) : 0.5,
                               .caps = c->options & OPTION_CAPS,
                               .flip = c->options & OPTION_FLIP});
    tml_surface_desc surface;
    tml_surface_enqueue_desc desc = surface_desc(o, c, mirror_as_buffer, &surface);
    uint64_t counts[2] = {0, 0};
    tml_buffer count = {0, 0};
    if (tml_buffer_create(o->reference,
                          &(tml_buffer_desc){.type = TML_U64, .count = 2, .host = counts},
                          &count) != TML_OK)
        abort();
    tml_buffer given = desc.counts;
    desc.counts = count;
    /* What stays on the host goes by tml_surface on other engines alone: here it is a buffer. */
    if (tml_surface_enqueue(o->reference, &desc) != TML_OK)
        snprintf(o->problem, o->problem_size, "the model: %s", tml_last_error(o->reference));
    if (o->at[AT_COUNT]) {
        store_count(o->at[AT_COUNT], 0, counts[0]);
        store_count(o->at[AT_COUNT], 1, counts[1]);
    }
    const bool is_soup = surface.soup;
    const uint64_t expected = is_soup ? 3 * mesh.triangle_count : mesh.vertex_count;
    if (counts[0] != expected)
        surface_problem(o, "vertices", counts[0], expected);
    else if (counts[1] != mesh.triangle_count)
        surface_problem(o, "triangles", counts[1], mesh.triangle_count);
    uint64_t n = counts[0] < vertices->count ? counts[0] : vertices->count;
    if (!is_soup && memcmp(vertices->mirror, mesh.positions, n * 3 * sizeof(float)) != 0)
        surface_problem(o, "positions differ; vertices", counts[0], mesh.vertex_count);
    mc_free(&mesh);
    const tml_buffer made[] = {surface.volume,  surface.mask, surface.vertices,
                               surface.indices, desc.iso,     given,
                               count,           desc.draw};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tml_buffer_destroy(o->reference, made[i]);
}

/* The folds of a reduce: its own, then others. */
static inline tml_fold also_fold(const call *c, uint32_t k)
{
    return (tml_fold)((c->fold + 2 * k) % (TML_FOLD_MEAN + 1));
}

/* The bin of x; the last one has its upper edge. */
static inline uint64_t model_bin(const array *edges, uint64_t bins, uint64_t x)
{
    uint64_t bin = 0;
    while (bin <= bins && load(edges->type, edges->mirror, bin).integer <= x)
        bin++;
    if (bin == bins + 1 && load(edges->type, edges->mirror, bins).integer == x)
        bin--;
    return bin - 1;
}

static inline void model_histogram(const operands *o, const call *c)
{
    const array *in = o->at[AT_IN], *edges = o->at[AT_BY], *weights = o->at[AT_IN + 1];
    array *out = o->at[AT_OUT];
    uint32_t bins = c->dims[0], *counts = (uint32_t *)(void *)out->mirror;
    memset(counts, 0, bins * sizeof *counts);
    for (uint64_t i = 0, n = model_length(o, c, in->count); i < n; i++) {
        uint64_t bin = load(in->type, in->mirror, i).integer;
        if (c->options & OPTION_KERNEL)
            bin = random_up_to_3((uint32_t)bin);
        if (edges)
            bin = model_bin(edges, bins, bin);
        if (bin < bins)
            counts[bin] += weights ? (uint32_t)load(weights->type, weights->mirror, i).integer : 1;
    }
}

static inline void model_by_key(const operands *o, const call *c)
{
    const array *keys = o->at[AT_BY], *in = o->at[AT_IN];
    array *out_keys = o->at[AT_OUT], *out = o->at[AT_OUT + 1], *starts = o->at[AT_INDICES];
    size_t size = tml_type_size(keys->type);
    uint64_t n = model_length(o, c, keys->count), runs = 0;
    for (uint64_t first = 0, end; first < n; first = end, runs++) {
        for (end = first + 1;
             end < n && memcmp(keys->mirror + end * size, keys->mirror + first * size, size) == 0;)
            end++;
        if (out_keys && runs < out_keys->count)
            memcpy(out_keys->mirror + runs * size, keys->mirror + first * size, size);
        store_integer(starts, runs, first);
        model_fold((tml_fold)c->fold, in, first, end, out, runs);
    }
    store_count(o->at[AT_COUNT], 0, runs);
}

/* Does to the mirrors what a call must do to the buffers. */
static inline void model_run(const operands *o, const call *c)
{
    bool is_unknown = false;
    for (int place = 0; place < AT_PLACES; place++)
        is_unknown = is_unknown ||
                     (o->at[place] && place != AT_SCRATCH && o->at[place]->is_unknown &&
                      (!is_output(place) || (place == AT_COUNT && c->options & OPTION_APPEND)));
    for (int place = AT_OUT; place <= AT_COUNT && is_unknown; place++)
        if (o->at[place])
            o->at[place]->is_unknown = true;
    if (is_unknown)
        return;
    const array *in = o->at[AT_IN];
    switch (c->kind) {
    case CALL_MAP_STREAM:
        model_map(o, c);
        break;
    case CALL_REDUCE:
        for (uint32_t k = 0; k < 3; k++)
            if (o->at[AT_OUT + k])
                model_fold(also_fold(c, k), in, 0, model_length(o, c, in->count), o->at[AT_OUT + k],
                           0);
        break;
    case CALL_HISTOGRAM:
        model_histogram(o, c);
        break;
    case CALL_SCAN:
        model_scan_part((tml_fold)c->fold, c->options & OPTION_INCLUSIVE, in, 0,
                        model_length(o, c, in->count), o->at[AT_BY], o->at[AT_OUT],
                        o->at[AT_COUNT]);
        break;
    case CALL_COMPACT:
    case CALL_PARTITION:
        model_compact(o, c);
        break;
    case CALL_SORT:
        model_sort(o, c);
        break;
    case CALL_TOP_K:
        model_top_k(o, c);
        break;
    case CALL_GATHER:
    case CALL_SCATTER:
        model_gather(o, c);
        break;
    case CALL_SEARCH:
        model_search(o, c);
        break;
    case CALL_EXPAND:
        model_expand(o, c);
        break;
    case CALL_UNIQUE:
        model_unique(o, c);
        break;
    case CALL_REDUCE_BY_KEY:
        model_by_key(o, c);
        break;
    case CALL_REDUCE_SEGMENTS:
    case CALL_SCAN_SEGMENTS:
        model_segments(o, c);
        break;
    case CALL_SURFACE_ENQUEUE:
        model_surface(o, c);
        break;
    case CALL_INDIRECT:
        model_indirect(o, c);
        break;
    default:
        break;
    }
}

#endif
