/* What a program does around its frames: preparing them, keeping what was compiled, and measuring
 * their time.
 *
 * Preparing. Between tml_prepare_begin and tml_prepare_end an operation goes its usual way up to
 * its scratch (tml_scratch, stream_take_scratch), which it measures and does not get. There it ends
 * on an engine that compiles nothing; on the others its parts run over an address that is no
 * buffer's, and each dispatch or draw ends when its program is compiled. */
#include "core/call.h"

/* ---- preparing ------------------------------------------------------------------------------- */

static tml_status prepare_begin(tml_context *tml)
{
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    if (status != TML_OK)
        return status;
    tml->is_preparing = true;
    tml->prepared = (tml_prepared){0, 0};
    if (tml->engine->prepare_begin)
        tml->engine->prepare_begin(tml);
    return TML_OK;
}

tml_status tml_prepare_begin(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, prepare_begin(tml));
}

static tml_status prepare_end(tml_context *tml, tml_prepared *out)
{
    if (!tml->is_preparing)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_prepare_end: there was no tml_prepare_begin");
    if (tml->engine->prepare_end)
        tml->prepared.programs_left = tml->engine->prepare_end(tml);
    tml->is_preparing = false;
    *out = tml->prepared;
    return TML_OK;
}

tml_status tml_prepare_end(tml_context *tml, tml_prepared *out)
{
    if (out)
        *out = (tml_prepared){0, 0};
    tml_status status = TML_ENTER(tml, out);
    return status ? status : tml_leave(tml, prepare_end(tml, out));
}

/* ---- what was compiled ----------------------------------------------------------------------- */

static tml_status cache_get(tml_context *tml, void *data, size_t *size)
{
    if (tml->engine->cache_get)
        return tml->engine->cache_get(tml, data, size);
    *size = 0;
    return TML_OK;
}

tml_status tml_cache(tml_context *tml, void *data, size_t *size)
{
    tml_status status = TML_ENTER(tml, size);
    return status ? status : tml_leave(tml, cache_get(tml, data, size));
}

tml_status tml_cache_add(tml_context *tml, const void *data, size_t size)
{
    tml_status status = TML_ENTER(tml, data);
    if (status != TML_OK)
        return status;
    return tml_leave(tml,
                     tml->engine->cache_add ? tml->engine->cache_add(tml, data, size) : TML_OK);
}

/* ---- time ------------------------------------------------------------------------------------ */

static tml_status time_begin(tml_context *tml)
{
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    if (status == TML_OK && tml->is_timing)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_time_begin: there was one before; call tml_time_end first");
    if (status == TML_OK && tml->engine->time_begin)
        status = tml->engine->time_begin(tml);
    tml->is_timing = status == TML_OK;
    tml->timed_from = tml_seconds();
    return status;
}

tml_status tml_time_begin(tml_context *tml)
{
    tml_status status = TML_ENTER(tml);
    return status ? status : tml_leave(tml, time_begin(tml));
}

static tml_status time_end(tml_context *tml, double *seconds)
{
    *seconds = 0;
    tml_status status = tml_refuse_recording(tml, NULL, NULL);
    if (status != TML_OK)
        return status;
    if (!tml->is_timing)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_time_end: there was no tml_time_begin");
    tml->is_timing = false;
    if (tml->engine->time_end)
        return tml->engine->time_end(tml, seconds);
    *seconds = tml_seconds() - tml->timed_from;
    return TML_OK;
}

tml_status tml_time_end(tml_context *tml, double *seconds)
{
    tml_status status = TML_ENTER(tml, seconds);
    return status ? status : tml_leave(tml, time_end(tml, seconds));
}
