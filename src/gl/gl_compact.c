/* Compact and partition on OpenGL ES: keep bits, then the source of each output (gl_locate.h), then
 * a gather of each payload. */
#include "gl/gl_locate.h"

#include "gl_shaders.h"

static uint64_t most_outputs(const tml_context *tml, const tml_compact_desc *desc)
{
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    uint64_t most = indices ? indices->count : 0;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
        const tml_slot *out = tml_slot_of(tml, desc->payloads[p].out);
        if (out)
            most = TML_MAX_OF(most, out->count);
    }
    return tml_buffer_is_none(desc->out_first) ? TML_MIN_OF(most, desc->length.count) : most;
}

static bool compact_supports(tml_context *tml, const tml_compact_desc *desc)
{
    return gl_locate_supports(tml, desc->method, true, desc->length.count,
                              most_outputs(tml, desc)) &&
           (!desc->keep.kernel || gl_kernel_supported(tml, desc->keep.kernel));
}

/* Draws the pyramid's base, the keep bits. */
static tml_status draw_keep(tml_context *tml, const tml_compact_desc *desc,
                            const gl_pyramid *pyramid)
{
    const tml_keep *keep = &desc->keep;
    gl_draw_info info = {
        .shader = keep->kernel ? &gl_shader_kernel_keep : &gl_shader_compact_keep,
        .length = &desc->length,
        .targets = {pyramid->base},
        .count = gl_pyramid_base_texels(pyramid),
    };
    if (keep->kernel) {
        info.kernel = (gl_kernel_use){keep->kernel, &keep->params, keep->in};
    } else if (tml_buffer_is_none(keep->mask)) {
        info.defines = "#define KEEP_FLAGS\n";
        info.inputs[0] = (gl_input){"flags", gl_texture_of(tml, keep->flags)};
    } else {
        info.defines = "#define KEEP_MASK\n";
        info.inputs[0] = (gl_input){"mask", gl_texture_of(tml, keep->mask)};
    }
    return gl_draw(tml, &info);
}

static tml_status compact_run(tml_context *tml, const tml_compact_desc *desc)
{
    gl_pyramid pyramid;
    gl_located located;
    const gl_locate_info info = {
        .length = &desc->length,
        .outputs = most_outputs(tml, desc),
        .has_others = desc->partition,
        .out_first = desc->out_first,
    };
    tml_status status = gl_pyramid_take(tml, true, desc->length.count, &pyramid);
    if (!status)
        status = draw_keep(tml, desc, &pyramid);
    if (!status)
        status = gl_locate(tml, &info, &pyramid, &located);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++)
        status = gl_located_values(tml, &located, desc->payloads[p].in, desc->payloads[p].out);
    if (!status)
        status = gl_located_indices(tml, &located, desc->indices);
    return status ? status : gl_store_count(tml, desc->count, located.total, located.total_texel);
}

GL_OP(compact, tml_compact_desc, compact_supports, compact_run)
