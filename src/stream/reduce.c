/* tml_reduce: checks, defaults and dispatch. */
#include "stream/stream_internal.h"

const tml_type *stream_fold_out_types(const tml_context *tml, tml_fold fold, tml_buffer in)
{
    static const tml_type integers[] = {TML_U64, TML_I64, TML_TYPE_NONE};
    static const tml_type reals[] = {TML_F64, TML_F32, TML_TYPE_NONE};
    static const tml_type same[TML_SCALAR_END][2] = {
#define SAME(name, size, ctype) [TML_##name] = {TML_##name, TML_TYPE_NONE},
        TML_SCALAR_LIST(SAME)
#undef SAME
    };
    tml_type type = tml_slot_of(tml, in)->type;
    switch (fold) {
    case TML_FOLD_SUM:
        return tml_type_is_float(type) ? reals : integers;
    case TML_FOLD_MEAN:
        return reals;
    case TML_FOLD_ARGMIN:
    case TML_FOLD_ARGMAX:
        return stream_count_types;
    default:
        return same[type];
    }
}

tml_status stream_check_fold(tml_context *tml, const char *call, tml_fold fold, tml_buffer in,
                             uint64_t in_count, tml_buffer out, uint64_t out_count)
{
    if ((unsigned)fold > TML_FOLD_MEAN)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.fold is %d, needs one of tml_fold", call, (int)fold);
    tml_status status = tml_check_buffer(tml, call, "desc.in", in, stream_scalar_types, in_count);
    if (!status)
        status = tml_check_buffer(tml, call, "desc.out", out, stream_fold_out_types(tml, fold, in),
                                  out_count);
    if (!status && (fold == TML_FOLD_ARGMIN || fold == TML_FOLD_ARGMAX))
        status = stream_check_indices(tml, call, "desc.out", out, out_count, in_count);
    return status;
}

static tml_status resolve(tml_context *tml, const char *call, tml_reduce_desc *desc)
{
    tml_status status =
        stream_check_length(tml, call, stream_count_of(tml, desc->in), &desc->length);
    if (!status)
        status =
            stream_check_fold(tml, call, desc->fold, desc->in, desc->length.count, desc->out, 1);
    const stream_field outputs[] = {{"desc.out", desc->out}, {"desc.scratch", desc->scratch}};
    const stream_input inputs[] = {{"desc.in", desc->in, 0},
                                   {"desc.length.device", desc->length.device, 0}};
    return status ? status
                  : stream_check_memory(tml, call, outputs, TML_ARRAY_SIZE(outputs), inputs,
                                        TML_ARRAY_SIZE(inputs));
}

static tml_status reduce(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_reduce_desc resolved = *desc;
    tml_status status = resolve(tml, "tml_reduce", &resolved);
    return status ? status
                  : stream_run(tml, "tml_reduce", TML_OP_REDUCE, &resolved, resolved.scratch);
}

tml_status tml_reduce(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, reduce(tml, desc));
}

static size_t reduce_scratch_size(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_reduce_desc resolved = *desc;
    if (resolve(tml, "tml_reduce_scratch_size", &resolved))
        return 0;
    return stream_scratch_size(tml, TML_OP_REDUCE, &resolved);
}

size_t tml_reduce_scratch_size(tml_context *tml, const tml_reduce_desc *desc)
{
    if (TML_ENTER(tml, desc) != TML_OK)
        return 0;
    size_t size = reduce_scratch_size(tml, desc);
    (void)tml_leave(tml, TML_OK);
    return size;
}
