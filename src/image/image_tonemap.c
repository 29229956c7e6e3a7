/* tml_image_tonemap: checks, defaults and the call of the engine. */
#include <math.h>

#include "core/call.h"
#include "image/image_internal.h"
#include "stream/stream_internal.h"

#include "kernels/kernel.h"

#include "kernels/image_tone.k.h"

#include "kernels/kernel_end.h"

_Static_assert(TML_TONE_SRGB == IMAGE_TONE_SRGB && TML_TONE_REINHARD == IMAGE_TONE_REINHARD &&
                   TML_TONE_REINHARD_EXTENDED == IMAGE_TONE_REINHARD_EXTENDED &&
                   TML_TONE_HABLE == IMAGE_TONE_HABLE && TML_TONE_ACES_FIT == IMAGE_TONE_ACES_FIT &&
                   TML_TONE_AGX == IMAGE_TONE_AGX && TML_TONE_NEUTRAL == IMAGE_TONE_NEUTRAL,
               "image_tone.k.h numbers tones so");

static tml_status tonemap(tml_context *tml, const tml_image_tonemap_desc *desc)
{
    static const char call[] = "tml_image_tonemap";
    image_tonemap_plan plan = {
        .state = desc->state,
        .scale = desc->scale != 0.0f ? desc->scale : 1.0f,
        .tone = desc->tone,
        .white = desc->white != 0.0f ? desc->white : 4.0f,
    };
    tml_status status = image_check_view(tml, call, "desc.in", &desc->in, &plan.in);
    TML_THEN(status, image_check_view(tml, call, "desc.out", &desc->out, &plan.out));
    if (status == TML_OK && !tml_buffer_is_none(desc->state))
        status = image_check_state(tml, call, desc->state);
    if (status != TML_OK)
        return status;
    if (plan.in.width != plan.out.width || plan.in.height != plan.out.height)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out is %u x %u pixels, needs desc.in's %u x %u", call,
                         plan.out.width, plan.out.height, plan.in.width, plan.in.height);
    if (plan.out.values != TML_IMAGE_LINEAR)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out.values is %s, needs linear: what is shown is written", call,
                         tml_image_values_name(desc->out.values));
    if (plan.out.channels == 2)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out.channels is 2, needs 1, 3 or 4", call);
    if ((unsigned)desc->tone > TML_TONE_NEUTRAL)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.tone is %d, needs one of tml_tone", call, (int)desc->tone);
    if (!(plan.scale > 0.0f) || !isfinite(plan.scale))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.scale is %g, needs a finite number above 0, or 0 for 1", call,
                         (double)desc->scale);
    if (!(plan.white >= 1e-3f && plan.white <= 1e9f))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.white is %g, needs 0.001 to 1e9, or 0 for 4", call,
                         (double)desc->white);
    if (image_views_overlap(tml, &plan.in, &plan.out) &&
        !image_views_same(tml, &plan.in, &plan.out))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out overlaps desc.in, needs memory apart, or the very same "
                         "picture of the same type, channels and rows",
                         call);
    if (!tml_buffer_is_none(desc->state)) {
        status = stream_check_apart(tml, call, "desc.out.buffer", desc->out.buffer, "desc.state",
                                    desc->state, false);
        if (status != TML_OK)
            return status;
    }
    return stream_run_op(tml, call, image_parts_of[tml->engine->part].tonemap, "no tone curves",
                         &plan, (tml_buffer){0, 0});
}

tml_status tml_image_tonemap(tml_context *tml, const tml_image_tonemap_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, tonemap(tml, desc));
}
