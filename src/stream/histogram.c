/* tml_histogram: the number of elements in each bin. Checks, defaults and dispatch. */
#include "stream/stream_internal.h"

static const char call[] = "tml_histogram";

/* A kernel computes each element's bin, or in[0] holds the bins. */
static tml_status check_inputs(tml_context *tml, const tml_histogram_desc *d)
{
    static const tml_type bin_types[] = {TML_U8, TML_U16, TML_U32, TML_TYPE_NONE};
    if (d->kernel)
        return stream_check_kernel(tml, call, "kernel", d->kernel, TML_U32, false, "in", d->in,
                                   d->length.count);
    for (int i = 1; i < TML_MAX_INPUTS; i++)
        if (!tml_buffer_is_none(d->in[i]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: in[%d] is given without a kernel, needs in[0] alone", call, i);
    return tml_check_buffer(tml, call, "in[0]", d->in[0], bin_types, d->length.count);
}

/* Checks a copy of the caller's desc and replaces its zeros by defaults. */
static tml_status resolve(tml_context *tml, tml_histogram_desc *d)
{
    tml_buffer measure = d->kernel ? stream_first_elements(d->kernel, d->in) : d->in[0];
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, measure), &d->length);
    if (!status)
        status = check_inputs(tml, d);
    if (!status)
        status =
            tml_check_buffer(tml, call, "out", d->out, stream_mask_types, TML_MAX_OF(d->bins, 1u));
    if (status)
        return status;
    uint64_t bins = d->bins ? d->bins : stream_count_of(tml, d->out);
    if (bins > TML_MAX_BINS)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: bins is %llu%s, needs at most %d",
                         call, (unsigned long long)bins, d->bins ? "" : ", all of out",
                         TML_MAX_BINS);
    d->bins = (uint32_t)bins;
    if (d->length.count > UINT32_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: the length may be %llu, needs less than 2^32, which a count of u32 "
                         "holds; count parts of the stream, and add",
                         call, (unsigned long long)d->length.count);
    const stream_field outputs[] = {{"out", d->out}, {"scratch", d->scratch}};
    const stream_input inputs[] = {{"in[0]", d->in[0], 0},
                                   {"in[1]", d->in[1], 0},
                                   {"in[2]", d->in[2], 0},
                                   {"in[3]", d->in[3], 0},
                                   {"length.device", d->length.device, 0}};
    _Static_assert(TML_MAX_INPUTS == 4, "each input stands in the list");
    return stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs,
                               TML_ARRAY_SIZE(inputs));
}

static tml_status histogram(tml_context *tml, const tml_histogram_desc *desc)
{
    tml_histogram_desc d = *desc;
    tml_status status = resolve(tml, &d);
    return status ? status : stream_run(tml, call, TML_OP_HISTOGRAM, &d, d.scratch);
}

tml_status tml_histogram(tml_context *tml, const tml_histogram_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, histogram(tml, desc));
}

static size_t histogram_scratch_size(tml_context *tml, const tml_histogram_desc *desc)
{
    tml_histogram_desc d = *desc;
    return resolve(tml, &d) == TML_OK ? stream_scratch_size(tml, TML_OP_HISTOGRAM, &d) : 0;
}

size_t tml_histogram_scratch_size(tml_context *tml, const tml_histogram_desc *desc)
{
    if (TML_ENTER(tml, desc) != TML_OK)
        return 0;
    size_t size = histogram_scratch_size(tml, desc);
    (void)tml_leave(tml, TML_OK);
    return size;
}
