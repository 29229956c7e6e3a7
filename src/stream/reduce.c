/* tml_reduce: checks, defaults and dispatch. */
#include <string.h>

#include "stream/desc.h"
#include "stream/stream_parts.h"

STREAM_OP_FLOAT(reduce, tml_reduce_desc, "no reductions");
STREAM_OP(reduce_segments, tml_reduce_desc, "no reductions of segments");

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

/* Scalars or, without segments, vectors whose components have 4 or 8 bytes. */
static tml_status check_in(tml_context *tml, const char *call, const tml_reduce_desc *desc)
{
    const tml_slot *slot = tml_slot_of(tml, desc->in);
    const tml_type type = slot ? slot->type : TML_TYPE_NONE, scalar = tml_type_scalar(type);
    if (stream_has_segments(&desc->segments)) {
        if (tml_buffer_is_none(desc->segments.offsets) || tml_buffer_is_none(desc->length.device))
            return tml_check_buffer(tml, call, "desc.in", desc->in, stream_scalar_types, 0);
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.length.device is given with desc.segments.offsets, needs none; "
                         "let the last offset be the length",
                         call);
    }
    return !slot || (scalar && (scalar == type || tml_type_size(scalar) >= 4))
               ? TML_OK
               : tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: desc.in has elements of %s, needs scalars, or vectors of scalars "
                           "of 4 or 8 bytes",
                           call, tml_type_name(type));
}

enum { LENGTH, SEGMENTS, IN, FOLDS, SCRATCH };
#define ROW(field, ...) DESC_ROW(tml_reduce_desc, field, __VA_ARGS__)
#define REDUCE_ROWS(results)                                                                       \
    {                                                                                              \
        [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(IN)),                               \
        [SEGMENTS] = ROW(segments, DESC_SEGMENTED), [IN] = ROW(in, DESC_IN, .count = DESC_LENGTH), \
        [FOLDS] = ROW(folds, DESC_FOLDED, .like = DESC_LIKE(IN), .count = results),                \
        [SCRATCH] = DESC_SCRATCH(tml_reduce_desc)                                                  \
    }

/* Checks a copy of the caller's desc, sets its lengths, and moves its folds to the front. */
static tml_status reduce_resolve(tml_context *tml, const char *call, tml_reduce_desc *desc)
{
    static const desc_row whole[] = REDUCE_ROWS(DESC_ONE), segmented[] = REDUCE_ROWS(DESC_SEGMENTS);
    const bool has_segments = stream_has_segments(&desc->segments);
    desc_numbers numbers = {0};
    tml_status status = check_in(tml, call, desc);
    TML_THEN(status,
             desc_check(tml, call, has_segments ? &DESC_TABLE(segmented) : &DESC_TABLE(whole), desc,
                        &numbers));
    uint32_t count = 0;
    for (uint32_t i = 0; i < TML_MAX_FOLDS; i++) {
        const tml_reduce_result fold = desc->folds[i];
        desc->folds[i] = (tml_reduce_result){0};
        if (!tml_buffer_is_none(fold.out))
            desc->folds[count++] = fold;
    }
    return status;
}

/* A reduction of segments by fold k alone. */
static tml_reduce_desc one_fold(const tml_reduce_desc *desc, uint32_t k)
{
    tml_reduce_desc one = *desc;
    memset(one.folds, 0, sizeof one.folds);
    one.folds[0] = desc->folds[k];
    return one;
}

/* The folds one after another. None runs unless the engine supports all. */
static tml_status reduce_segments(tml_context *tml, const char *call, const tml_reduce_desc *desc)
{
    const stream_op *op = &stream_reduce_segments;
    const uint32_t count = tml_reduce_results(desc);
    tml_status status = TML_OK;
    for (uint32_t k = 0; k < count && !status && count > 1; k++) {
        const tml_reduce_desc one = one_fold(desc, k);
        status = stream_begin_op(tml, call, op->parts[tml->engine->part], op->without, &one);
    }
    for (uint32_t k = 0; k < count && !status; k++) {
        const tml_reduce_desc one = one_fold(desc, k);
        status = stream_run(tml, call, op, &one, one.scratch);
    }
    return status;
}

static tml_status reduce(tml_context *tml, const tml_reduce_desc *desc)
{
    static const char call[] = "tml_reduce";
    tml_reduce_desc resolved = *desc;
    tml_status status = reduce_resolve(tml, call, &resolved);
    if (status)
        return status;
    return stream_has_segments(&resolved.segments)
               ? reduce_segments(tml, call, &resolved)
               : stream_run(tml, call, &stream_reduce, &resolved, resolved.scratch);
}

tml_status tml_reduce(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, reduce(tml, desc));
}
