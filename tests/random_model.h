/* The calls of test_random, and their models. A program is a list of calls. Each buffer has a
 * mirror, a plain array, and each call a model: the simplest loop that does to mirrors what the
 * call does to buffers.
 *
 * A call names its buffers by numbers. A program gives a number to only one buffer, so that a call
 * means the same without other calls. A call that lacks one of its buffers is omitted, too. */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/trommel.h>
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include "low_bytes.h"
#include "measured.h"
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
    /* Calls that may be recorded: */
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

extern const char *const call_names[CALL_KINDS];

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

extern const char *const place_names[AT_PLACES];

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
    uint8_t recording; /* number from 1; 0: the call runs on the context */
    uint8_t method, fold, kernel, role, style;
    uint16_t options;
    uint16_t at[AT_PLACES]; /* numbers of buffers from 1; 0: none */
    uint16_t dims[3];
    tml_type type;
    uint64_t count; /* elements; for an operation, the bound of its length, 0: all */
    uint64_t index; /* first element; of length.device or iso; offsets' largest value; bytes */
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

const tml_kernel *map_kernel(const call *c);

/* ---- random numbers -------------------------------------------------------------------------- */

static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return test_random(state) % n;
}

/* Returns a random length. Many are next to multiples of words, workgroups, blocks and tiles, or
 * primes. */
uint64_t random_size(uint64_t *state);

/* ---- mirrors --------------------------------------------------------------------------------- */

/* A buffer of the library, and its expected contents. */
typedef struct array {
    tml_buffer buffer;
    tml_type type;
    uint64_t count;
    size_t size;
    uint8_t *mirror;
    uint8_t *lent; /* caller-owned memory, with guards around it */
    uint8_t context;
    array_role role;
    bool is_live;
    bool was_live;
    bool is_unknown; /* the contents after the last call are not specified */
#ifdef TML_VULKAN
    VkBuffer lent_buffer;
    VkDeviceMemory lent_memory;
#endif
} array;

typedef struct element {
    double real;      /* of float types */
    uint64_t integer; /* of integer types, sign-extended */
} element;

element load(tml_type type, const uint8_t *elements, uint64_t i);

static inline void store_integer(array *out, uint64_t i, uint64_t value)
{
    size_t size = tml_type_size(out->type);
    put_low(out->mirror + i * size, value, size);
}

void store_real(array *out, uint64_t i, double value);

/* Stores a count, clamped to the largest number of its type. */
static inline void store_count(array *out, uint64_t i, uint64_t value)
{
    if (out)
        store_integer(out, i, out->type == TML_U32 && value > UINT32_MAX ? UINT32_MAX : value);
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

/* Fills an array by a style and a seed. Floats are small whole numbers, so that sums are exact in
 * any order. */
void fill(tml_type type, uint64_t count, int style, uint64_t seed, uint8_t *out);

static inline int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Fills an array with ascending offsets up to limit, some of them equal. */
void fill_offsets(tml_type type, uint64_t count, uint64_t limit, uint64_t seed, uint8_t *out);
void fill_array(array *a, const call *c, uint64_t first, uint64_t count);

/* ---- models ---------------------------------------------------------------------------------- */

/* The buffers of a call, and what else the call and its model need. */
typedef struct operands {
    array *at[AT_PLACES];   /* NULL: none */
    tml_context *reference; /* the CPU engine with one thread, for surfaces */
    tml_program *program;   /* gets the operation as a step; NULL: the operation runs */
    char *problem;          /* a message, if the model itself fails */
    size_t problem_size;
} operands;

tml_params params_of(const call *c, const array *words);

/* Returns the desc of a surface, with the buffers that make returns for places. */
tml_surface_desc surface_desc(const operands *o, const call *c,
                              tml_buffer (*make)(const operands *, int));

/* Are vertices exact? They are if samples are 0 and 1 and the isovalue is the default, a half, or a
 * whole number. Otherwise rounding may move them. */
bool surface_is_exact(const operands *o, const call *c);

/* Returns fold k of a reduce: its own, then others. */
static inline tml_fold also_fold(const call *c, uint32_t k)
{
    return (tml_fold)((c->fold + 2 * k) % (TML_FOLD_MEAN + 1));
}

/* Does to the mirrors what a call must do to the buffers. */
void model_run(const operands *o, const call *c);

#endif
