/* The commands' kernels, one per element type where types differ. */
#include <math.h>
#include <string.h>

#include "stream_kernels.h"

#include <trommel/kernel_begin.h>

TML_KERNEL(bool, float_nonzero, (float x), { return x != 0.0f; })
TML_KERNEL(bool, double_nonzero, (double x), { return x != 0.0; })
TML_KERNEL(bool, int_nonzero, (int x), { return x != 0; })
TML_KERNEL(bool, uint_nonzero, (uint x), { return x != 0u; })
TML_KERNEL(bool, int64_nonzero, (int64 x), { return x != 0; })
TML_KERNEL(bool, uint64_nonzero, (uint64 x), { return x != 0u; })

TML_KERNEL(bool, float_between, (float x, tml_params p), { return x >= p.f[0] && x <= p.f[1]; })
TML_KERNEL(bool, int_between, (int x, tml_params p), { return x >= I(p.u[0]) && x <= I(p.u[1]); })
TML_KERNEL(bool, uint_between, (uint x, tml_params p), { return x >= p.u[0] && x <= p.u[1]; })
/* 64-bit parameters travel as two words, low word first. */
TML_KERNEL(bool, double_between, (double x, tml_params p),
           { return x >= DOUBLE(p.u[0], p.u[1]) && x <= DOUBLE(p.u[2], p.u[3]); })
TML_KERNEL(bool, int64_between, (int64 x, tml_params p),
           { return x >= INT64(p.u[0], p.u[1]) && x <= INT64(p.u[2], p.u[3]); })
TML_KERNEL(bool, uint64_between, (uint64 x, tml_params p),
           { return x >= UINT64(p.u[0], p.u[1]) && x <= UINT64(p.u[2], p.u[3]); })

TML_KERNEL(float, float_widened, (float x), { return x; })
TML_KERNEL(int, int_widened, (int x), { return x; })

/* A sample's mark: 1 if it is inside, plus 16 if it is a number. */
TML_KERNEL(uint, volume_marks, (uint inside, uint valid), { return inside + 16u * valid; })
/* Whether a cell is crossed. Cell i has sample i as its lowest corner. */
TML_KERNEL(bool, volume_is_crossed, (tml_index i, tml_words marks, tml_params p), {
    uint row = U(i) / p.u[0];
    if (U(i) % p.u[0] + 1u == p.u[0] || row % p.u[1] + 1u == p.u[1] || row / p.u[1] + 1u == p.u[2])
        return false;
    uint sum = 0u;
    for (uint k = 0u; k < 8u; k++)
        sum += tml_word(marks, U(i) + (k & 1u) + p.u[0] * (((k >> 1) & 1u) + p.u[1] * (k >> 2)));
    return sum > 128u && sum < 136u;
})
TML_KERNEL(uvec3, volume_place, (uint i, tml_params p), {
    uint row = i / p.u[0];
    return UVEC3(i % p.u[0], row % p.u[1], row / p.u[1]);
})

#include <trommel/kernel_end.h>

/* The parameter type of kernels for an element type: small elements are widened. */
static tml_type seen_as(tml_type type)
{
    switch (type) {
    case TML_F16:
        return TML_F32;
    case TML_I8:
    case TML_I16:
        return TML_I32;
    case TML_U8:
    case TML_U16:
        return TML_U32;
    default:
        return type;
    }
}

const tml_kernel *stream_nonzero(tml_type type)
{
    static const tml_kernel *const kernels[TML_SCALAR_END] = {
        [TML_F32] = TML_USE(float_nonzero), [TML_F64] = TML_USE(double_nonzero),
        [TML_I32] = TML_USE(int_nonzero),   [TML_U32] = TML_USE(uint_nonzero),
        [TML_I64] = TML_USE(int64_nonzero), [TML_U64] = TML_USE(uint64_nonzero),
    };
    return kernels[seen_as(type)];
}

static void put_words(tml_params *params, const void *lower, const void *upper)
{
    memcpy(&params->u[0], lower, 8);
    memcpy(&params->u[2], upper, 8);
}

const tml_kernel *stream_between(tml_type type, double lower, double upper, tml_params *params,
                                 bool *none)
{
    tml_type seen = seen_as(type);
    if (!tml_type_is_float(seen)) {
        lower = ceil(lower);
        upper = floor(upper);
    }
    memset(params, 0, sizeof *params);
    *none = lower > upper;
    switch (seen) {
    case TML_F32:
        params->f[0] = (float)lower;
        params->f[1] = (float)upper;
        return TML_USE(float_between);
    case TML_F64:
        put_words(params, &lower, &upper);
        return TML_USE(double_between);
    case TML_I32:
        *none |= lower > INT32_MAX || upper < INT32_MIN;
        params->u[0] = (uint32_t)(int32_t)fmin(fmax(lower, INT32_MIN), INT32_MAX);
        params->u[1] = (uint32_t)(int32_t)fmin(fmax(upper, INT32_MIN), INT32_MAX);
        return TML_USE(int_between);
    case TML_U32:
        *none |= lower > UINT32_MAX || upper < 0;
        params->u[0] = (uint32_t)fmin(fmax(lower, 0), UINT32_MAX);
        params->u[1] = (uint32_t)fmin(fmax(upper, 0), UINT32_MAX);
        return TML_USE(uint_between);
    case TML_I64: {
        *none |= lower >= 0x1p63 || upper < -0x1p63;
        int64_t least = lower < -0x1p63 ? INT64_MIN : lower >= 0x1p63 ? INT64_MAX : (int64_t)lower;
        int64_t most = upper < -0x1p63 ? INT64_MIN : upper >= 0x1p63 ? INT64_MAX : (int64_t)upper;
        put_words(params, &least, &most);
        return TML_USE(int64_between);
    }
    default: {
        *none |= lower >= 0x1p64 || upper < 0;
        uint64_t least = lower < 0 ? 0 : lower >= 0x1p64 ? UINT64_MAX : (uint64_t)lower;
        uint64_t most = upper < 0 ? 0 : upper >= 0x1p64 ? UINT64_MAX : (uint64_t)upper;
        put_words(params, &least, &most);
        return TML_USE(uint64_between);
    }
    }
}

const tml_kernel *stream_widen(tml_type type, tml_type *widened)
{
    *widened = type == TML_F16 ? TML_F32 : TML_I32;
    return type == TML_F16                     ? TML_USE(float_widened)
           : type == TML_I8 || type == TML_I16 ? TML_USE(int_widened)
                                               : NULL;
}

const tml_kernel *stream_marks(void)
{
    return TML_USE(volume_marks);
}
const tml_kernel *stream_is_crossed(void)
{
    return TML_USE(volume_is_crossed);
}
const tml_kernel *stream_place(void)
{
    return TML_USE(volume_place);
}
