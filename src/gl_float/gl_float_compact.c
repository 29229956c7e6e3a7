/* tml_compact on the float tier: a HistoPyramid of keep flags, a descent for each output, then a
 * gather of every output. */
#include "gl_float/gl_float_pyramid.h"

#include "gl_float_shaders.h"

static bool payloads_supported(tml_context *tml, const tml_compact_desc *desc)
{
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
        const tml_slot *slot = tml_slot_of(tml, desc->payloads[p].in);
        /* Bytes are counted if elements share words. */
        if (slot && slot->element_size % 4 != 0 &&
            !gl_float_count_supported(tml, "tml_compact: bytes of a payload", slot->size))
            return false;
    }
    return true;
}

static bool float_compact_supports(tml_context *tml, const tml_compact_desc *desc)
{
    const gl_kernel_use use = {desc->keep.kernel, &desc->keep.params, desc->keep.in};
    if (desc->method != TML_METHOD_HISTOPYRAMID || !tml_buffer_is_none(desc->out_first))
        return false;
    if (desc->partition) {
        (void)tml_refuse(tml, "tml_compact", "no partitions");
        return false;
    }
    return gl_float_count_supported(tml, "tml_compact: length", desc->length.count) &&
           payloads_supported(tml, desc) &&
           (!use.kernel || gl_float_kernel_supported(tml, &gl_shader_float_kernel_base, NULL,
                                                     gl_float_values(gl_device_of(tml)), &use));
}

static tml_status draw_base(tml_context *tml, const tml_compact_desc *desc,
                            const gl_float_pyramid *pyramid)
{
    const tml_keep *keep = &desc->keep;
    gl_draw_info info = {
        .shader = &gl_shader_float_base,
        .length = &desc->length,
        .targets = {pyramid->base},
        .count = gl_float_base_texels(pyramid),
    };
    if (keep->kernel) {
        info.shader = &gl_shader_float_kernel_base;
        info.kernel = (gl_kernel_use){keep->kernel, &keep->params, keep->in};
    } else if (tml_buffer_is_none(keep->mask)) {
        info.defines = "#define FLAGS\n";
        info.inputs[0] = (gl_input){"items", gl_texture_of(tml, keep->flags)};
    } else {
        info.defines = "#define MASK\n";
        info.inputs[0] = (gl_input){"items", gl_texture_of(tml, keep->mask)};
    }
    return gl_draw(tml, &info);
}

/* The largest capacity of an output buffer, at most the length. */
static uint64_t outputs_of(tml_context *tml, const tml_compact_desc *desc)
{
    uint64_t most = 0;
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    if (indices)
        most = indices->count;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
        const tml_slot *out = tml_slot_of(tml, desc->payloads[p].out);
        if (out)
            most = TML_MAX_OF(most, out->count);
    }
    return TML_MIN_OF(most, desc->length.count);
}

static tml_status float_compact_run(tml_context *tml, const tml_compact_desc *desc)
{
    gl_float_pyramid pyramid;
    const gl_texture *sources;
    uint64_t count = outputs_of(tml, desc), exact = count;
    tml_status status = gl_float_pyramid_take(tml, desc->length.count, &pyramid);
    TML_THEN(status, draw_base(tml, desc, &pyramid));
    TML_THEN(status, gl_float_pyramid_build(tml, &pyramid));
    if (status == TML_OK && count > 0 && gl_device_of(tml)->exact_counts)
        status = gl_float_total(tml, &pyramid, &exact);
    count = TML_MIN_OF(count, exact);
    if (status == TML_OK && count > 0)
        status = gl_float_locate(tml, &pyramid, false, count, &sources);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && count > 0 && status == TML_OK; p++)
        if (!tml_buffer_is_none(desc->payloads[p].in))
            status = gl_float_gather(tml, &pyramid, sources, desc->payloads[p].in,
                                     desc->payloads[p].out, count);
    if (status == TML_OK && count > 0 && !tml_buffer_is_none(desc->indices))
        status = gl_float_gather(tml, &pyramid, sources, (tml_buffer){0, 0}, desc->indices, count);
    return status == TML_OK ? gl_float_store_total(tml, &pyramid, desc->count) : status;
}

GL_OP(float_compact, tml_compact_desc, float_compact_supports, float_compact_run)
