/* tml_histogram: the number of elements in each bin, or the sum of their weights. Checks, defaults
 * and dispatch. Bins of equal width are those of a kernel, bins between edges the places of a
 * search. */
#include <math.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

#include "core/scalars.h"
#include "stream/desc.h"
#include "stream/stream_parts.h"

#include <trommel/kernel_begin.h>

/* f: lower, upper, bins a unit; u[0]: bins. Numbers without a hidden bit are 0 everywhere, since
 * some GPUs take them for that; so are bounds. A difference that is multiplied cannot be fused. */
TML_KERNEL(uint, histogram_even, (float given, tml_params p), {
    bool is_tiny = (floatBitsToUint(given) & 0x7f800000u) == 0u;
    float x = is_tiny ? 0.0f : given;
    bool is_inside = x >= p.f[0] && x <= p.f[1] && !is_nan(x);
    float place = is_inside ? (x - p.f[0]) * p.f[2] : 0.0f;
    return is_inside ? min(U(place), p.u[0] - 1u) : 0xffffffffu;
})
#include <trommel/kernel_end.h>

STREAM_OP(histogram, tml_histogram_resolved, "no histograms");

#ifdef TML_VULKAN
extern const tml_vulkan_kernel stream_own_kernels[]; /* made by the build */
#endif

static const char call[] = "tml_histogram";
enum { EVEN_BINS_MOST = 1 << 24 }; /* places are floats */

static tml_status check_alone(tml_context *tml, const tml_histogram_desc *d)
{
    for (int i = 1; i < TML_MAX_INPUTS; i++)
        if (!tml_buffer_is_none(d->in[i]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.in[%d] is given without a kernel, needs in[0] alone", call,
                             i);
    return TML_OK;
}

/* ---- what gives the bins --------------------------------------------------------------------- */

/* Replaces lower and upper by a kernel. */
static tml_status resolve_even(tml_context *tml, tml_histogram_desc *d)
{
    static const tml_type types[] = {TML_F32, TML_F16, TML_TYPE_NONE};
    tml_status status = check_alone(tml, d);
    if (!status)
        status = tml_check_buffer(tml, call, "desc.in[0]", d->in[0], types, d->length.count);
    if (status)
        return status;
    double lower = fabs(d->lower) < 0x1p-126 ? 0 : d->lower;
    double upper = fabs(d->upper) < 0x1p-126 ? 0 : d->upper;
    /* Not NaN, and neither the difference nor its quotient leaves the range of normal floats. */
    if (!(upper - lower >= d->bins * 0x1p-100 && upper - lower <= 0x1p126))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.lower is %g and desc.upper %g, need finite bounds with lower "
                         "below upper, by at most 2^126 and at least 2^-100 a bin",
                         call, (double)d->lower, (double)d->upper);
    if (d->bins > EVEN_BINS_MOST)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.bins is %u, needs at most %d between lower and upper; give edges", call,
            d->bins, EVEN_BINS_MOST);
    d->kernel = TML_USE(histogram_even);
    d->params = (tml_params){.f = {(float)lower, (float)upper, (float)(d->bins / (upper - lower))},
                             .u = {d->bins}};
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, stream_own_kernels);
#endif
    return TML_OK;
}

static tml_status resolve_edges(tml_context *tml, tml_histogram_resolved *r)
{
    const tml_histogram_desc *d = &r->desc;
    tml_status status = check_alone(tml, d);
    if (!status)
        status = tml_check_buffer(tml, call, "desc.edges", d->edges, stream_scalar_types,
                                  (uint64_t)d->bins + 1);
    if (status)
        return status;
    const tml_slot *edges = tml_slot_of(tml, d->edges);
    const tml_type types[] = {edges->type, TML_TYPE_NONE};
    r->search = (tml_search_resolved){.desc = {.sorted = d->edges,
                                               .sorted_length = tml_length_of(d->bins),
                                               .queries = d->in[0],
                                               .length = d->length,
                                               .upper = true},
                                      .as_bins = true};
    stream_sort_flips(edges, false, &r->search.flip, &r->search.real_flip);
    if (tml_scalar_kind_of(edges->type) == SCALAR_FLOAT)
        r->search.minus_zero = r->search.flip;
    return tml_check_buffer(tml, call, "desc.in[0]", d->in[0], types, d->length.count);
}

static tml_status resolve_source(tml_context *tml, tml_histogram_resolved *r)
{
    static const tml_type stream_mask_typess[] = {TML_U8, TML_U16, TML_U32, TML_TYPE_NONE};
    tml_histogram_desc *d = &r->desc;
    bool is_even = d->lower != 0 || d->upper != 0, has_edges = !tml_buffer_is_none(d->edges);
    if ((d->kernel != NULL) + is_even + has_edges > 1)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: %s%s%s are given, needs one of desc.kernel, desc.edges, and desc.lower "
            "with desc.upper",
            call, d->kernel ? "kernel" : "edges", d->kernel && has_edges ? ", edges" : "",
            is_even ? ", lower or upper" : "");
    if (d->kernel)
        return TML_OK;
    if (has_edges)
        return resolve_edges(tml, r);
    if (is_even)
        return resolve_even(tml, d);
    tml_status status = check_alone(tml, d);
    return status ? status
                  : tml_check_buffer(tml, call, "desc.in[0]", d->in[0], stream_mask_typess,
                                     d->length.count);
}

/* ---- what is added up ------------------------------------------------------------------------ */

static tml_status check_sums(tml_context *tml, const tml_histogram_desc *d)
{
    const tml_slot *weights = tml_slot_of(tml, d->weights);
    bool is_real = weights && weights->type == TML_F32;
    tml_status status =
        tml_check_buffer(tml, call, "desc.out", d->out,
                         is_real ? stream_f32_types : stream_count_types, TML_MAX_OF(d->bins, 1u));
    if (status || d->length.count <= UINT32_MAX || tml_slot_of(tml, d->out)->type == TML_U64)
        return status;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: the length may be %llu, needs less than 2^32 %s; %scount parts of the "
                     "stream, and add",
                     call, (unsigned long long)d->length.count,
                     is_real ? "for sums of f32" : "for counts of u32",
                     is_real ? "" : "make out u64, or ");
}

static tml_status resolve_bins(tml_context *tml, tml_histogram_desc *d)
{
    bool by_edges = !d->bins && !tml_buffer_is_none(d->edges);
    uint64_t bins = stream_count_of(tml, by_edges ? d->edges : d->out);
    if (d->bins)
        return TML_OK;
    bins -= by_edges && bins > 0;
    if (bins > UINT32_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.bins is %llu, all of %s, needs less than 2^32", call,
                         (unsigned long long)bins, by_edges ? "desc.edges" : "desc.out");
    d->bins = (uint32_t)bins;
    return bins > 0 || !by_edges
               ? TML_OK
               : tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: desc.edges holds fewer than 2 values, needs one more "
                           "than there are bins",
                           call);
}

/* ---- the call -------------------------------------------------------------------------------- */

enum { LENGTH, KERNEL, IN, EDGES, WEIGHTS, OUT, SCRATCH };
static const tml_type weight_types[] = {TML_U8, TML_U16, TML_U32, TML_F32, TML_TYPE_NONE};
#define ROW(field, ...) DESC_ROW(tml_histogram_desc, field, __VA_ARGS__)
static const desc_row rows[] = {
    [LENGTH] = ROW(length, DESC_LENGTHS),
    [KERNEL] = ROW(kernel, DESC_KERNELS, .is_optional = true, .types = stream_u32_types,
                   .like = DESC_LIKE(IN), .count = DESC_LENGTH),
    [IN] = ROW(in, DESC_INPUTS, .like = DESC_LIKE(KERNEL)),
    [EDGES] = ROW(edges, DESC_IN, .is_optional = true, .types = stream_scalar_types),
    [WEIGHTS] =
        ROW(weights, DESC_IN, .is_optional = true, .types = weight_types, .count = DESC_LENGTH),
    [OUT] = ROW(out, DESC_OUT),
    [SCRATCH] = DESC_SCRATCH(tml_histogram_desc)};

/* Checks a copy of the caller's desc and replaces its zeros by defaults. */
static tml_status histogram_resolve(tml_context *tml, tml_histogram_resolved *r)
{
    tml_histogram_desc *d = &r->desc;
    const tml_buffer measure = d->kernel ? stream_first_elements(d->kernel, d->in) : d->in[0];
    desc_numbers numbers = {.of[DESC_LENGTH] = stream_count_of(tml, measure)};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), d, &numbers);
    TML_THEN(status, resolve_bins(tml, d));
    TML_THEN(status, resolve_source(tml, r));
    return status ? status : check_sums(tml, d);
}

static tml_status histogram(tml_context *tml, const tml_histogram_desc *desc)
{
    tml_histogram_resolved resolved = {.desc = *desc};
    tml_status status = histogram_resolve(tml, &resolved);
    return status ? status : stream_run(tml, call, &stream_histogram, &resolved, desc->scratch);
}

tml_status tml_histogram(tml_context *tml, const tml_histogram_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, histogram(tml, desc));
}
