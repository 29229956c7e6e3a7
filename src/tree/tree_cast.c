/* tml_tree_cast and tml_tree_cast_enqueue: on the host or on the device. */
#include "tree/tree_cast.h"
#include "core/call.h"
#include "stream/stream_internal.h"

static tml_status cast(tml_context *tml, const tml_tree_cast_desc *given)
{
    static const char call[] = "tml_tree_cast";
    tml_tree_cast_desc desc = *given;
    uint64_t count = 0;
    tml_status status = cast_check_desc(tml, call, &desc, NULL);
    TML_THEN(status, tml_refuse_recording(tml, call, "record tml_tree_cast_enqueue"));
    TML_THEN(status, tree_fetch(tml, call, desc.tree, COLLIDE_STALE_SIZES));
    TML_THEN(status, stream_read_length(tml, &desc.length, &count));
    desc.length = tml_length_of(count);
    if (status == TML_OK && cast_runs_on_device(tml, &desc))
        return cast_on_device(tml, call, &desc);
    return status == TML_OK ? cast_on_host(tml, call, &desc, count, NULL, NULL) : status;
}

tml_status tml_tree_cast(tml_context *tml, const tml_tree_cast_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, cast(tml, desc));
}

/* ---- enqueued -------------------------------------------------------------------------------- */

static const char enqueue_call[] = "tml_tree_cast_enqueue";

static tml_status enqueue_resolve(tml_context *tml, const tml_tree_cast_enqueue_desc *desc,
                                  tml_tree_cast_desc *out)
{
    static const tml_type word_types[] = {TML_U32, TML_TYPE_NONE};
    const stream_field more[] = {{"desc.unsure", desc->unsure},
                                 {"desc.unsure_count", desc->unsure_count}};
    if (!desc->cast)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.cast is NULL, needs what tml_tree_cast takes", enqueue_call);
    *out = *desc->cast;
    tml_status status = TML_OK;
    if (!tml_buffer_is_none(desc->unsure))
        status = tml_check_buffer(tml, enqueue_call, "desc.unsure", desc->unsure, word_types, 0);
    if (status == TML_OK && !tml_buffer_is_none(desc->unsure_count))
        status = stream_check_count(tml, enqueue_call, "desc.unsure_count", desc->unsure_count, 0);
    TML_THEN(status, cast_check_desc(tml, enqueue_call, out, more));
    /* Without a wait: no part of the tree is brought up to date. */
    return status == TML_OK ? tree_fetch(tml, enqueue_call, out->tree, 0) : status;
}

static tml_status enqueue_here(tml_context *tml, const tml_tree_cast_enqueue_desc *desc,
                               const tml_tree_cast_desc *cast)
{
    uint64_t count = 0;
    void *scratch = NULL;
    tml_status status = stream_read_length(tml, &cast->length, &count);
    TML_THEN(status, tml_scratch(tml, enqueue_call,
                                 TML_MAX_OF(cast_scratch_size(tml, cast), (size_t)1), &scratch));
    TML_THEN(status, cast_on_host(tml, enqueue_call, cast, count, scratch, NULL));
    return status == TML_OK ? cast_put_total(tml, desc->unsure_count, 0) : status;
}

static tml_status enqueue(tml_context *tml, const tml_tree_cast_enqueue_desc *desc)
{
    tml_tree_cast_desc cast;
    tml_status status = enqueue_resolve(tml, desc, &cast);
    if (status != TML_OK)
        return status;
    return tml->engine->is_host
               ? enqueue_here(tml, desc, &cast)
               : cast_enqueue(tml, enqueue_call, &cast, desc->unsure, desc->unsure_count);
}

tml_status tml_tree_cast_enqueue(tml_context *tml, const tml_tree_cast_enqueue_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, enqueue(tml, desc));
}

static size_t enqueue_scratch_size(tml_context *tml, const tml_tree_cast_enqueue_desc *desc)
{
    tml_tree_cast_desc cast;
    if (enqueue_resolve(tml, desc, &cast) != TML_OK)
        return 0;
    return tml->engine->is_host ? cast_scratch_size(tml, &cast)
                                : cast_enqueue_scratch_size(tml, enqueue_call, &cast, desc->unsure,
                                                            desc->unsure_count);
}

size_t tml_tree_cast_enqueue_scratch_size(tml_context *tml, const tml_tree_cast_enqueue_desc *desc)
{
    return TML_ENTER(tml, desc) ? 0 : tml_leave_with(tml, enqueue_scratch_size(tml, desc));
}
