/* tml_map: one output for each element of the inputs. Checks, defaults and dispatch. */
#include "stream/stream_parts.h"

STREAM_OP_FLOAT(map, tml_map_desc, "no maps");

static const char call[] = "tml_map";

/* Checks the outputs: an input of elements as large may be any of them. */
static tml_status map_check_outputs(tml_context *tml, const tml_map_desc *d)
{
    static const char *const names[TML_MAX_OUTS] = {"desc.out[0]", "desc.out[1]", "desc.out[2]",
                                                    "desc.out[3]"};
    uint32_t count = tml_kernel_outs(d->kernel);
    tml_status status = TML_OK;
    stream_field outputs[TML_MAX_OUTS];
    stream_input inputs[TML_MAX_INPUTS + 1] = {{"desc.length.device", d->length.device, 0}};
    for (uint32_t i = 0; i < TML_MAX_INPUTS; i++)
        inputs[i + 1] = (stream_input){"desc.in", d->in[i], 0};
    for (uint32_t k = 0; k < count && status == TML_OK; k++) {
        const tml_type types[] = {tml_kernel_out_type(d->kernel, k), TML_TYPE_NONE};
        outputs[k] = (stream_field){names[k], d->out[k]};
        status = tml_check_buffer(tml, call, names[k], outputs[k].buffer, types, d->length.count);
        for (uint32_t i = 0; i < TML_MAX_INPUTS; i++) {
            const tml_slot *in = tml_slot_of(tml, d->in[i]);
            if (in && in->element_size == tml_type_size(types[0]) && !stream_is_words(d->kernel, i))
                inputs[i + 1].may_share |= 1u << k;
        }
    }
    for (uint32_t k = count; k < TML_MAX_OUTS && status == TML_OK; k++)
        if (!tml_buffer_is_none(d->out[k]))
            status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                               "%s: %s is given, but %s makes only %u outputs; leave it zeroed",
                               call, names[k], d->kernel->name, count);
    return status ? status
                  : stream_check_memory(tml, call, outputs, count, inputs, TML_ARRAY_SIZE(inputs));
}

/* Checks a copy of the caller's desc and sets its length. */
static tml_status map_resolve(tml_context *tml, tml_map_desc *desc)
{
    tml_map_desc d = *desc;
    if (!d.kernel)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.kernel is NULL, needs one made by TML_KERNEL", call);
    /* A kernel without array elements (of the index alone) runs over out[0]'s element count. */
    tml_buffer measure = stream_first_elements(d.kernel, d.in);
    if (tml_buffer_is_none(measure))
        measure = d.out[0];
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, measure), &d.length);
    if (status)
        return status;
    status = stream_check_kernel(tml, call, "desc.kernel", d.kernel, TML_TYPE_NONE, false,
                                 "desc.in", d.in, d.length.count);
    if (status)
        return status;
    status = map_check_outputs(tml, &d);
    *desc = d;
    return status;
}

static tml_status map_elements(tml_context *tml, const tml_map_desc *desc)
{
    tml_map_desc d = *desc;
    tml_status status = map_resolve(tml, &d);
    return status ? status : stream_run(tml, call, &stream_map, &d, (tml_buffer){0, 0});
}

tml_status tml_map(tml_context *tml, const tml_map_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, map_elements(tml, desc));
}
