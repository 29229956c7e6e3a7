/* Mirrors of the buffers of test_random: numbers, elements and contents. */
#include "random_model.h"

/* ---- calls ----------------------------------------------------------------------------------- */

const char *const call_names[CALL_KINDS] = {"open",
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

const char *const place_names[AT_PLACES] = {"in",   "in1",     "in2",   "by",     "out",    "out1",
                                            "out2", "indices", "count", "length", "scratch"};

/* ---- kernels --------------------------------------------------------------------------------- */

const tml_kernel *map_kernel(const call *c)
{
    const tml_kernel *const kernels[MAPS] = {TML_USE(random_twice),  TML_USE(random_complement),
                                             TML_USE(random_is_odd), TML_USE(random_wide),
                                             TML_USE(random_gather), TML_USE(random_position),
                                             TML_USE(random_move)};
    return kernels[c->kernel % MAPS];
}

/* ---- random numbers -------------------------------------------------------------------------- */

uint64_t random_size(uint64_t *state)
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

element load(tml_type type, const uint8_t *elements, uint64_t i)
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

void store_real(array *out, uint64_t i, double value)
{
    float narrow = (float)value;
    if (out->type == TML_F32)
        memcpy(out->mirror + i * sizeof narrow, &narrow, sizeof narrow);
    else
        memcpy(out->mirror + i * sizeof value, &value, sizeof value);
}

/* Whole numbers from -2048 to 2048 in binary16. */
static uint16_t half_of(int value)
{
    int magnitude = abs(value), exponent = 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    unsigned fraction = ((unsigned)magnitude << 10 >> exponent) & 1023u;
    unsigned bits = magnitude ? (unsigned)(exponent + 15) << 10 | fraction : 0;
    return (uint16_t)(bits | (value < 0 ? 0x8000u : 0u));
}

void fill(tml_type type, uint64_t count, int style, uint64_t seed, uint8_t *out)
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

void fill_offsets(tml_type type, uint64_t count, uint64_t limit, uint64_t seed, uint8_t *out)
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

void fill_array(array *a, const call *c, uint64_t first, uint64_t count)
{
    size_t size = tml_type_size(a->type);
    if (a->role == ROLE_OFFSETS)
        fill_offsets(a->type, a->count, c->index, c->seed, a->mirror);
    else
        fill(a->type, count, c->style, c->seed, a->mirror + first * size);
}
