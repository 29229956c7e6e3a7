/* tml_reduce: checks, defaults and dispatch. */
#include "stream/stream_parts.h"

STREAM_OP_FLOAT(reduce, tml_reduce_desc, "no reductions");

/* The result types that a fold of type allows: scalars, or vectors of as many components. */
static void fold_out_types(tml_fold fold, tml_type type, tml_type out[3])
{
    static const tml_type integers[] = {TML_U64, TML_I64}, reals[] = {TML_F64, TML_F32},
                          indices[] = {TML_U64, TML_U32};
    const tml_type scalar = tml_type_scalar(type), same[] = {scalar, TML_TYPE_NONE};
    const tml_type *types = same;
    if (fold == TML_FOLD_MEAN || (fold == TML_FOLD_SUM && tml_type_is_float(scalar)))
        types = reals;
    else if (fold == TML_FOLD_SUM)
        types = integers;
    else if (fold == TML_FOLD_ARGMIN || fold == TML_FOLD_ARGMAX)
        types = indices;
    for (int i = 0; i < 2;
         i++) /* the type of a vector is its scalar's and its number of components */
        out[i] = types[i] ? type - scalar + types[i] : TML_TYPE_NONE;
    out[2] = TML_TYPE_NONE;
}

tml_status stream_check_fold(tml_context *tml, const char *call, tml_fold fold, tml_buffer in,
                             uint64_t in_count, const char *out_field, tml_buffer out,
                             uint64_t out_count)
{
    if ((unsigned)fold > TML_FOLD_MEAN)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: fold of %s is %d, needs one of tml_fold", call, out_field, (int)fold);
    tml_type types[3];
    fold_out_types(fold, tml_slot_of(tml, in)->type, types);
    tml_status status = tml_check_buffer(tml, call, out_field, out, types, out_count);
    if (!status && (fold == TML_FOLD_ARGMIN || fold == TML_FOLD_ARGMAX))
        status = stream_check_range(tml, call, out_field, out, in_count);
    return status;
}

/* Scalars, and vectors whose components have 4 or 8 bytes. */
static tml_status check_in(tml_context *tml, const char *call, tml_buffer in, uint64_t count)
{
    const tml_slot *slot = tml_slot_of(tml, in);
    tml_type type = slot ? slot->type : TML_TYPE_NONE, scalar = tml_type_scalar(type);
    if (slot && (!scalar || (scalar != type && tml_type_size(scalar) < 4)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: in has elements of %s, needs scalars, or vectors of scalars of 4 or "
                         "8 bytes",
                         call, tml_type_name(type));
    return tml_check_buffer(tml, call, "in", in, NULL, count);
}

/* Checks a copy of the caller's desc, sets its length, and moves the used entries of also to the
 * front. */
static tml_status reduce_resolve(tml_context *tml, const char *call, tml_reduce_desc *desc)
{
    static const char *const also_names[] = {"also[0].out", "also[1].out", "also[2].out",
                                             "also[3].out", "also[4].out", "also[5].out",
                                             "also[6].out"};
    _Static_assert(TML_ARRAY_SIZE(also_names) == TML_MAX_FOLDS - 1, "a name for each");
    stream_field outputs[TML_MAX_FOLDS + 1] = {{"out", desc->out}, {"scratch", desc->scratch}};
    size_t output_count = 2, also_count = 0;
    tml_status status =
        stream_check_length(tml, call, stream_count_of(tml, desc->in), &desc->length);
    if (!status)
        status = check_in(tml, call, desc->in, desc->length.count);
    if (!status)
        status = stream_check_fold(tml, call, desc->fold, desc->in, desc->length.count, "out",
                                   desc->out, 1);
    for (size_t i = 0; i < TML_MAX_FOLDS - 1 && !status; i++) {
        const tml_reduce_result also = desc->also[i];
        desc->also[i] = (tml_reduce_result){0};
        if (tml_buffer_is_none(also.out))
            continue;
        status = stream_check_fold(tml, call, also.fold, desc->in, desc->length.count,
                                   also_names[i], also.out, 1);
        outputs[output_count++] = (stream_field){also_names[i], also.out};
        desc->also[also_count++] = also;
    }
    const stream_input inputs[] = {{"in", desc->in, 0}, {"length.device", desc->length.device, 0}};
    return status ? status
                  : stream_check_memory(tml, call, outputs, output_count, inputs,
                                        TML_ARRAY_SIZE(inputs));
}

static tml_status reduce(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_reduce_desc resolved = *desc;
    tml_status status = reduce_resolve(tml, "tml_reduce", &resolved);
    return status ? status
                  : stream_run(tml, "tml_reduce", &stream_reduce, &resolved, resolved.scratch);
}

tml_status tml_reduce(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, reduce(tml, desc));
}

static size_t reduce_scratch_size(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_reduce_desc resolved = *desc;
    if (reduce_resolve(tml, "tml_reduce_scratch_size", &resolved))
        return 0;
    return stream_scratch_size(tml, &stream_reduce, &resolved);
}

size_t tml_reduce_scratch_size(tml_context *tml, const tml_reduce_desc *desc)
{
    return TML_ENTER(tml, desc) ? 0 : tml_leave_with(tml, reduce_scratch_size(tml, desc));
}
