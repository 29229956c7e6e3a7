/* tml_expand: any number of outputs for each source element. Checks, defaults and dispatch. */
#include "stream/stream_parts.h"

STREAM_OP_FLOAT(expand, tml_expand_desc, "no expansion");

static const char call[] = "tml_expand";

/* Checks a kernel with as many entries of in[] as it has array parameters: the count and the emit
 * kernel share in[], and either may use fewer entries. */
static tml_status check_shared_kernel(tml_context *tml, const tml_expand_desc *d, const char *field,
                                      const tml_kernel *kernel, tml_type result, bool rank)
{
    tml_buffer in[TML_MAX_INPUTS] = {{0, 0}};
    uint32_t arrays = 0;
    for (uint32_t p = 0; p < TML_MIN_OF(kernel->param_count, (uint32_t)TML_MAX_PARAMS); p++)
        if (tml_param_is_array(kernel->params[p]) && arrays < TML_MAX_INPUTS) {
            in[arrays] = d->in[arrays];
            arrays++;
        }
    return stream_check_kernel(tml, call, field, kernel, result, rank, "desc.in", in,
                               d->length.count);
}

static tml_status check_sources(tml_context *tml, tml_expand_desc *d)
{
    static const tml_type count_types[] = {TML_U8, TML_U16, TML_U32, TML_TYPE_NONE};
    if (tml_buffer_is_none(d->counts) == !d->count_kernel)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s of desc.counts and count_kernel given, needs exactly one", call,
                         d->count_kernel ? "both" : "none");
    tml_buffer measure =
        d->count_kernel ? stream_first_elements(d->count_kernel, d->in) : d->counts;
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, measure), &d->length);
    if (status)
        return status;
    if (d->count_kernel)
        status = check_shared_kernel(tml, d, "desc.count_kernel", d->count_kernel, TML_U32, false);
    else
        status =
            tml_check_buffer(tml, call, "desc.counts", d->counts, count_types, d->length.count);
    if (status == TML_OK && d->emit_kernel)
        status =
            check_shared_kernel(tml, d, "desc.emit_kernel", d->emit_kernel, TML_TYPE_NONE, true);
    return status;
}

/* Fills fields with the emit kernel's outputs. */
static tml_status check_emitted(tml_context *tml, const tml_expand_desc *d,
                                stream_field fields[TML_MAX_OUTS])
{
    static const char *const names[TML_MAX_OUTS] = {"desc.out[0]", "desc.out[1]", "desc.out[2]",
                                                    "desc.out[3]"};
    uint32_t count = d->emit_kernel ? tml_kernel_outs(d->emit_kernel) : 1;
    tml_status status = TML_OK;
    for (uint32_t k = 0; k < TML_MAX_OUTS && status == TML_OK; k++) {
        fields[k] = (stream_field){names[k], d->out[k]};
        if (k < count && d->emit_kernel) {
            const tml_type types[] = {tml_kernel_out_type(d->emit_kernel, k), TML_TYPE_NONE};
            status = tml_check_buffer(tml, call, names[k], fields[k].buffer, types, 0);
        } else if (k >= count && !tml_buffer_is_none(fields[k].buffer)) {
            status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                               "%s: %s is given, but %s makes only %u outputs; leave it zeroed",
                               call, names[k], d->emit_kernel ? d->emit_kernel->name : "no kernel",
                               d->emit_kernel ? count : 0);
        }
    }
    return status;
}

static tml_status expand_check_outputs(tml_context *tml, const tml_expand_desc *d)
{
    static const tml_type rank_types[] = {TML_U32, TML_TYPE_NONE};
    if (tml_buffer_is_none(d->out[0]) != !d->emit_kernel)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s, needs both or neither", call,
                         d->emit_kernel ? "desc.emit_kernel is given and desc.out[0] is not"
                                        : "desc.out[0] is given and desc.emit_kernel is not");
    uint64_t last = d->length.count ? d->length.count - 1 : 0;
    tml_status status = stream_check_indices(tml, call, "desc.source", d->source, 0, last);
    if (status == TML_OK && !tml_buffer_is_none(d->rank))
        status = tml_check_buffer(tml, call, "desc.rank", d->rank, rank_types, 0);
    stream_field emitted[TML_MAX_OUTS];
    TML_THEN(status, check_emitted(tml, d, emitted));
    if (status == TML_OK && !tml_buffer_is_none(d->total))
        status = tml_check_buffer(tml, call, "desc.total", d->total, stream_count_types, 1);
    TML_THEN(status, stream_check_count(tml, call, "desc.out_first", d->out_first, 0));

    if (status)
        return status;
    enum { TOTAL = 2 };
    const stream_field outputs[] = {{"desc.source", d->source},
                                    {"desc.rank", d->rank},
                                    [TOTAL] = {"desc.total", d->total},
                                    {"desc.scratch", d->scratch},
                                    emitted[0],
                                    emitted[1],
                                    emitted[2],
                                    emitted[3]};
    const stream_input inputs[] = {{"desc.counts", d->counts, 0},
                                   {"desc.in[0]", d->in[0], 0},
                                   {"desc.in[1]", d->in[1], 0},
                                   {"desc.in[2]", d->in[2], 0},
                                   {"desc.in[3]", d->in[3], 0},
                                   {"desc.length.device", d->length.device, 0},
                                   {"desc.out_first", d->out_first, 1u << TOTAL}};
    _Static_assert(TML_MAX_INPUTS == 4, "each input stands in the list");
    return stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs,
                               TML_ARRAY_SIZE(inputs));
}

/* Checks a copy of the caller's desc and replaces its zeros by defaults. */
static tml_status expand_resolve(tml_context *tml, tml_expand_desc *d)
{
    static const tml_method preference[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                            TML_METHOD_HISTOPYRAMID, TML_METHOD_AUTO};
    tml_status status = check_sources(tml, d);
    TML_THEN(status, expand_check_outputs(tml, d));
    if (status)
        return status;
    return stream_choose_method(tml, call, &stream_expand, d, &d->method, preference);
}

static tml_status expand(tml_context *tml, const tml_expand_desc *desc)
{
    tml_expand_desc d = *desc;
    tml_status status = expand_resolve(tml, &d);
    return status ? status : stream_run(tml, call, &stream_expand, &d, d.scratch);
}

tml_status tml_expand(tml_context *tml, const tml_expand_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, expand(tml, desc));
}
