/* tml_map: one output for each element of the inputs. Checks, defaults and dispatch. */
#include "stream/stream_internal.h"

static const char call[] = "tml_map";

/* Checks a copy of the caller's desc and sets its length. */
static tml_status resolve(tml_context *tml, tml_map_desc *desc)
{
    tml_map_desc d = *desc;
    if (!d.kernel)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.kernel is NULL, needs one made by TML_KERNEL", call);
    /* A kernel without array elements (of the index alone) runs over out's element count. */
    tml_buffer measure = stream_first_elements(d.kernel, d.in);
    if (tml_buffer_is_none(measure))
        measure = d.out;
    tml_status status = stream_check_length(tml, call, stream_count_of(tml, measure), &d.length);
    if (status)
        return status;
    status = stream_check_kernel(tml, call, "desc.kernel", d.kernel, TML_TYPE_NONE, false,
                                 "desc.in", d.in, d.length.count);
    if (status)
        return status;
    const tml_type out_types[] = {d.kernel->result, TML_TYPE_NONE};
    status = tml_check_buffer(tml, call, "desc.out", d.out, out_types, d.length.count);
    const stream_field out = {"desc.out", d.out};
    stream_input inputs[TML_MAX_INPUTS + 1] = {{"desc.length.device", d.length.device, 0}};
    for (uint32_t i = 0; i < TML_MAX_INPUTS; i++) {
        const tml_slot *in = tml_slot_of(tml, d.in[i]);
        bool in_place = in && in->element_size == tml_type_size(d.kernel->result) &&
                        !stream_is_words(d.kernel, i);
        inputs[i + 1] = (stream_input){"desc.in", d.in[i], in_place};
    }
    if (status == TML_OK)
        status = stream_check_memory(tml, call, &out, 1, inputs, TML_ARRAY_SIZE(inputs));
    *desc = d;
    return status;
}

static tml_status map_elements(tml_context *tml, const tml_map_desc *desc)
{
    tml_map_desc d = *desc;
    tml_status status = resolve(tml, &d);
    return status ? status : stream_run(tml, call, TML_OP_MAP, &d, (tml_buffer){0, 0});
}

tml_status tml_map(tml_context *tml, const tml_map_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, map_elements(tml, desc));
}

static size_t map_scratch_size(tml_context *tml, const tml_map_desc *desc)
{
    tml_map_desc d = *desc;
    return resolve(tml, &d) == TML_OK ? stream_scratch_size(tml, TML_OP_MAP, &d) : 0;
}

size_t tml_map_scratch_size(tml_context *tml, const tml_map_desc *desc)
{
    if (TML_ENTER(tml, desc) != TML_OK)
        return 0;
    size_t size = map_scratch_size(tml, desc);
    (void)tml_leave(tml, TML_OK);
    return size;
}
