/* tml_tree_cast and tml_tree_cast_enqueue: they choose between host and device. */
#include "tree/tree_cast.h"
#include "core/call.h"
#include "stream/stream_internal.h"

static tml_status cast(tml_context *tml, const tml_tree_cast_desc *given)
{
    static const char call[] = "tml_tree_cast";
    tml_tree_cast_desc desc = *given;
    uint64_t count = 0;
    tml_status status = cast_check_desc(tml, call, &desc);
    TML_THEN(status, tml_refuse_recording(tml, call, "record tml_tree_cast_enqueue"));
    TML_THEN(status, tree_fetch(tml, call, desc.tree, COLLIDE_STALE_SIZES));
    TML_THEN(status, stream_read_length(tml, &desc.length, &count));
    desc.length = tml_length_of(count);
    if (status == TML_OK)
        status = cast_runs_on_device(tml, &desc)
                     ? cast_on_device(tml, call, &desc)
                     : cast_on_host(tml, call, &desc, count, NULL, NULL);
    return status == TML_OK ? cast_put_total(tml, desc.unsure_count, 0) : status;
}

tml_status tml_tree_cast(tml_context *tml, const tml_tree_cast_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, cast(tml, desc));
}

/* ---- enqueued -------------------------------------------------------------------------------- */

static const char enqueue_call[] = "tml_tree_cast_enqueue";

/* Checks a desc and copies it to out. Does not wait: no stale part of the tree is fetched. */
static tml_status enqueue_resolve(tml_context *tml, const tml_tree_cast_desc *desc,
                                  tml_tree_cast_desc *out)
{
    *out = *desc;
    tml_status status = cast_check_desc(tml, enqueue_call, out);
    return status == TML_OK ? tree_fetch(tml, enqueue_call, out->tree, 0) : status;
}

static tml_status enqueue_here(tml_context *tml, const tml_tree_cast_desc *desc)
{
    uint64_t count = 0;
    void *scratch = NULL;
    tml_status status = tml_scratch(tml, enqueue_call,
                                    TML_MAX_OF(cast_scratch_size(tml, desc), (size_t)1), &scratch);
    if (status != TML_OK || tml->is_preparing)
        return status;
    status = stream_read_length(tml, &desc->length, &count);
    TML_THEN(status, cast_on_host(tml, enqueue_call, desc, count, scratch, NULL));
    return status == TML_OK ? cast_put_total(tml, desc->unsure_count, 0) : status;
}

static tml_status enqueue(tml_context *tml, const tml_tree_cast_desc *given)
{
    tml_tree_cast_desc desc;
    tml_status status = enqueue_resolve(tml, given, &desc);
    if (status != TML_OK)
        return status;
    return tml->engine->is_host ? enqueue_here(tml, &desc) : cast_enqueue(tml, enqueue_call, &desc);
}

tml_status tml_tree_cast_enqueue(tml_context *tml, const tml_tree_cast_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, enqueue(tml, desc));
}
