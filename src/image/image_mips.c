/* tml_image_mips: checks, defaults and the call of the engine. */
#include "core/call.h"
#include "image/image_internal.h"
#include "stream/desc.h"

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

_Static_assert(TML_MIP_AREA == IMAGE_MIP_AREA && TML_MIP_KAISER == IMAGE_MIP_KAISER,
               "image_mips.k.h numbers filters so");

static const float DEFAULT_FLOOR = 0x1p-16f;

static const char call[] = "tml_image_mips";

static const desc_row rows[] = {
    DESC_ROW(tml_image_mips_desc, in.buffer, DESC_IN, .is_optional = true),
    DESC_ROW(tml_image_mips_desc, out, DESC_OUT),
    DESC_ROW(tml_image_mips_desc, filter, DESC_ENUM, .of = "tml_mip_filter",
             .most = TML_MIP_KAISER),
    DESC_ROW(tml_image_mips_desc, output, DESC_ENUM, .of = "tml_mip_output", .most = TML_MIP_LAST),
    IMAGE_LUMINANCE_ROWS(tml_image_mips_desc, "2^-16"),
    DESC_SCRATCH(tml_image_mips_desc)};

/* Sets and checks the channels of the levels, and how they are computed from the picture's. */
static tml_status take_channels(tml_context *tml, const tml_image_mips_desc *desc,
                                image_mips_plan *plan)
{
    plan->channels = plan->is_log ? 1 : plan->in.channels;
    if (!plan->is_log)
        return TML_OK;
    if (!tml_type_is_float(plan->out_type))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out is of %s, needs f16 or f32 for desc.log_luminance", call,
                         tml_type_name(plan->out_type));
    return image_check_luminance(tml, call, &desc->luminance, &plan->max_rgb, &plan->weight_r,
                                 &plan->weight_b);
}

static tml_status image_mips_resolve(tml_context *tml, tml_image_mips_desc *desc,
                                     image_mips_plan *plan)
{
    desc_numbers numbers = {0};
    *plan = (image_mips_plan){.out = desc->out,
                              .filter = desc->filter,
                              .is_last = desc->output == TML_MIP_LAST,
                              .is_log = desc->log_luminance,
                              .floor = desc->luminance.floor != 0.0f ? desc->luminance.floor
                                                                     : DEFAULT_FLOOR};
    uint64_t scalars = 0;
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), desc, &numbers);
    TML_THEN(status, image_check_source(tml, call, "desc.in", &desc->in, &plan->in));
    TML_THEN(status,
             image_check_buffer(tml, call, "desc.out", desc->out, &plan->out_type, &scalars));
    TML_THEN(status, take_channels(tml, desc, plan));
    if (status != TML_OK)
        return status;
    uint32_t width = desc->in.width, height = desc->in.height;
    uint32_t levels = tml_mip_level(width, height, 0, NULL, NULL, NULL);
    if (desc->levels > levels)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.levels is %u, needs at most %u for %u x %u pixels, or 0 for all",
                         call, desc->levels, levels, width, height);
    plan->levels = desc->levels ? desc->levels : levels;
    plan->out_srgb = desc->in.srgb && !tml_type_is_float(plan->out_type);
    if (plan->is_last && plan->levels == 1)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.output is TML_MIP_LAST with one level, which is the picture; desc.levels "
            "needs at least 2",
            call);
    uint64_t texels = image_mips_first(plan, plan->levels);
    if (texels > scalars / plan->channels)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out has %llu scalars, needs %llu for %s %u of %u channels; "
                         "tml_mip_level tells",
                         call, (unsigned long long)scalars,
                         (unsigned long long)(texels * plan->channels),
                         plan->is_last ? "level" : "levels 1 to", plan->levels - 1, plan->channels);
    return TML_OK;
}

static tml_status mips(tml_context *tml, const tml_image_mips_desc *desc)
{
    tml_image_mips_desc d = *desc;
    image_mips_plan plan;
    tml_status status = image_mips_resolve(tml, &d, &plan);
    if (status != TML_OK || plan.levels == 1)
        return status;
    return stream_run_op(tml, call, image_parts_of[tml->engine->part].mips, "no mip levels", &plan,
                         d.scratch);
}

tml_status tml_image_mips(tml_context *tml, const tml_image_mips_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, mips(tml, desc));
}
