/* Image: sizes of mip chains, checks of their descs, the call of the engine. */
#include "core/call.h"
#include "image/image_internal.h"
#include "stream/stream_internal.h"

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

_Static_assert(TML_MIP_AREA == IMAGE_MIP_AREA && TML_MIP_KAISER == IMAGE_MIP_KAISER,
               "image_mips.k.h numbers filters so");

uint32_t tml_mip_levels(uint32_t width, uint32_t height)
{
    uint32_t levels = 1;
    for (uint32_t longest = TML_MAX_OF(width, height); longest > 1; longest /= 2)
        levels++;
    return levels;
}

void tml_mip_level(uint32_t width, uint32_t height, uint32_t level, uint32_t *level_width,
                   uint32_t *level_height, uint64_t *first)
{
    uint64_t at = 0;
    level = TML_MIN_OF(level, tml_mip_levels(width, height));
    for (uint32_t k = 0; k < level; k++) {
        at += k > 0 ? (uint64_t)width * height : 0;
        width = TML_MAX_OF(width / 2, 1u);
        height = TML_MAX_OF(height / 2, 1u);
    }
    if (level_width)
        *level_width = width;
    if (level_height)
        *level_height = height;
    if (first)
        *first = at;
}

static tml_status resolve(tml_context *tml, const char *call, const tml_image_mips_desc *desc,
                          image_mips_plan *plan)
{
    *plan = (image_mips_plan){.out = desc->out, .filter = desc->filter};
    tml_status status = image_check_source(tml, call, "desc.in", &desc->in, &plan->in);
    uint64_t scalars = 0;
    if (status == TML_OK)
        status = image_check_buffer(tml, call, "desc.out", desc->out, &plan->out_type, &scalars);
    if (status != TML_OK)
        return status;
    if ((unsigned)desc->filter > TML_MIP_KAISER)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.filter is %d, needs one of tml_mip_filter", call,
                         (int)desc->filter);
    uint32_t width = desc->in.width, height = desc->in.height;
    uint32_t levels = tml_mip_levels(width, height);
    if (desc->levels > levels)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.levels is %u, needs at most %u for %u x %u pixels, or 0 for all",
                         call, desc->levels, levels, width, height);
    plan->levels = desc->levels ? desc->levels : levels;
    plan->out_srgb = desc->in.srgb && !tml_type_is_float(plan->out_type);
    uint64_t texels;
    tml_mip_level(width, height, plan->levels, NULL, NULL, &texels);
    if (texels > scalars / plan->in.channels)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.out has %llu scalars, needs %llu for levels 1 to %u of %u "
                         "channels; tml_mip_level tells",
                         call, (unsigned long long)scalars,
                         (unsigned long long)(texels * plan->in.channels), plan->levels - 1,
                         plan->in.channels);
    status = stream_check_apart(tml, call, "desc.out", desc->out, "desc.in.buffer", desc->in.buffer,
                                false);
    if (status == TML_OK)
        status = stream_check_apart(tml, call, "desc.scratch", desc->scratch, "desc.in.buffer",
                                    desc->in.buffer, false);
    if (status == TML_OK)
        status = stream_check_apart(tml, call, "desc.scratch", desc->scratch, "desc.out", desc->out,
                                    false);
    return status;
}

static tml_status mips(tml_context *tml, const tml_image_mips_desc *desc)
{
    image_mips_plan plan;
    tml_status status = resolve(tml, "tml_image_mips", desc, &plan);
    if (status != TML_OK || plan.levels == 1)
        return status;
    return stream_run_op(tml, "tml_image_mips", image_parts_of[tml->engine->part].mips,
                         "no mip levels", &plan, desc->scratch);
}

tml_status tml_image_mips(tml_context *tml, const tml_image_mips_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, mips(tml, desc));
}

static size_t mips_scratch_size(tml_context *tml, const tml_image_mips_desc *desc)
{
    image_mips_plan plan;
    if (resolve(tml, "tml_image_mips_scratch_size", desc, &plan) || plan.levels == 1)
        return 0;
    return stream_op_scratch_size(tml, image_parts_of[tml->engine->part].mips, &plan);
}

size_t tml_image_mips_scratch_size(tml_context *tml, const tml_image_mips_desc *desc)
{
    if (TML_ENTER(tml, desc) != TML_OK)
        return 0;
    size_t size = mips_scratch_size(tml, desc);
    (void)tml_leave(tml, TML_OK);
    return size;
}
