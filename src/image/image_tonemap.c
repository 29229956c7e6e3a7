/* tml_image_tonemap: checks, defaults and the call of the engine. */
#include <float.h>

#include "core/call.h"
#include "image/image_internal.h"
#include "stream/desc.h"

#include "kernels/kernel.h"

#include "kernels/image_tone.k.h"

#include "kernels/kernel_end.h"

_Static_assert(TML_TONE_SRGB == IMAGE_TONE_SRGB && TML_TONE_REINHARD == IMAGE_TONE_REINHARD &&
                   TML_TONE_REINHARD_EXTENDED == IMAGE_TONE_REINHARD_EXTENDED &&
                   TML_TONE_HABLE == IMAGE_TONE_HABLE && TML_TONE_ACES_FIT == IMAGE_TONE_ACES_FIT &&
                   TML_TONE_AGX == IMAGE_TONE_AGX && TML_TONE_NEUTRAL == IMAGE_TONE_NEUTRAL,
               "image_tone.k.h numbers tones so");

static const char call[] = "tml_image_tonemap";

/* desc.in has no row: it may lie in one buffer with desc.out. */
static const desc_row rows[] = {
    DESC_ROW(tml_image_tonemap_desc, out.buffer, DESC_OUT, .is_optional = true),
    DESC_ROW(tml_image_tonemap_desc, state, DESC_IN, .is_optional = true, .types = stream_f32_types,
             .count = DESC_LENGTH),
    DESC_ROW(tml_image_tonemap_desc, tone, DESC_ENUM, .of = "tml_tone", .most = TML_TONE_NEUTRAL),
    DESC_ROW(tml_image_tonemap_desc, scale, DESC_F32,
             .range = &(const desc_range){0, FLT_MAX, "a finite number above 0, or 0 for 1"}),
    DESC_ROW(tml_image_tonemap_desc, white, DESC_F32, .is_optional = true,
             .range = &(const desc_range){1e-3, 1e9, "0.001 to 1e9, or 0 for 4"})};

/* Checks that the picture fits into what is written. */
static tml_status check_views(tml_context *tml, const image_view *in, const image_view *out)
{
    if (in->width != out->width || in->height != out->height)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out is %u x %u pixels, needs desc.in's %u x %u", call,
                         out->width, out->height, in->width, in->height);
    if (out->values != TML_IMAGE_LINEAR)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out.values is %s, needs linear: what is shown is written", call,
                         tml_image_values_name(out->values));
    if (out->channels == 2)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out.channels is 2, needs 1, 3 or 4", call);
    if (image_views_overlap(tml, in, out) && !image_views_same(tml, in, out))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out overlaps desc.in, needs memory apart, or the very same "
                         "picture of the same type, channels and rows",
                         call);
    return TML_OK;
}

static tml_status tonemap(tml_context *tml, const tml_image_tonemap_desc *desc)
{
    tml_image_tonemap_desc d = *desc;
    image_tonemap_plan plan = {
        .state = d.state,
        .scale = d.scale != 0.0f ? d.scale : 1.0f,
        .tone = d.tone,
        .white = d.white != 0.0f ? d.white : 4.0f,
    };
    desc_numbers numbers = {.of[DESC_LENGTH] = TML_EXPOSURE_WORDS};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), &d, &numbers);
    TML_THEN(status, image_check_view(tml, call, "desc.in", &d.in, &plan.in));
    TML_THEN(status, image_check_view(tml, call, "desc.out", &d.out, &plan.out));
    TML_THEN(status, check_views(tml, &plan.in, &plan.out));
    return status ? status
                  : stream_run_op(tml, call, image_parts_of[tml->engine->part].tonemap,
                                  "no tone curves", &plan, (tml_buffer){0, 0});
}

tml_status tml_image_tonemap(tml_context *tml, const tml_image_tonemap_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, tonemap(tml, desc));
}
