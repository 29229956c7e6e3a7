/* What a program does around its frames: preparing them. Between tml_prepare_begin and
 * tml_prepare_end an operation goes its usual way up to its scratch (tml_scratch,
 * stream_take_scratch), which it measures and does not get. There it ends on an engine that
 * compiles nothing; on the others its parts run over an address that is no buffer's, and each
 * dispatch or draw ends when its program is compiled. */
#include "core/call.h"

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
