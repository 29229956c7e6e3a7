/* tml_expand on the float tier: a HistoPyramid of counts, then a descent for each output. The total
 * must be exact. If it could reach 2^24, the call waits for it, and fails before anything is
 * written if it does. */
#include "gl_float/gl_float_pyramid.h"

#include <stdio.h>

#include "gl_float_shaders.h"

static const char emit_defines[] = "#define EMIT\n";

static bool float_expand_supports(tml_context *tml, const tml_expand_desc *desc)
{
    const gl_kernel_use count = {desc->count_kernel, &desc->params, desc->in};
    const gl_kernel_use emit = {desc->emit_kernel, &desc->params, desc->in};
    const gl_device *d = gl_device_of(tml);
    if (desc->method != TML_METHOD_HISTOPYRAMID || !tml_buffer_is_none(desc->out_first))
        return false;
    return gl_float_count_supported(tml, "tml_expand: length", desc->length.count) &&
           (!count.kernel || gl_float_kernel_supported(tml, &gl_shader_float_kernel_base, NULL,
                                                       gl_float_values(d), &count)) &&
           (!emit.kernel ||
            (emit.kernel->out_count == 0 &&
             gl_float_kernel_supported(tml, &gl_shader_float_map, emit_defines,
                                       gl_float_format(d, emit.kernel->result), &emit)));
}

static tml_status draw_base(tml_context *tml, const tml_expand_desc *desc,
                            const gl_float_pyramid *pyramid)
{
    gl_draw_info info = {
        .shader = &gl_shader_float_base,
        .length = &desc->length,
        .targets = {pyramid->base},
        .count = gl_float_base_texels(pyramid),
    };
    char defines[32];
    if (desc->count_kernel) {
        info.shader = &gl_shader_float_kernel_base;
        info.kernel = (gl_kernel_use){desc->count_kernel, &desc->params, desc->in};
    } else {
        const tml_slot *counts = tml_slot_of(tml, desc->counts);
        snprintf(defines, sizeof defines, "#define WIDTH %zu\n", counts->element_size);
        info.defines = defines;
        info.inputs[0] = (gl_input){"items", gl_slot_texture(counts)};
    }
    return gl_draw(tml, &info);
}

/* Refuses totals that may not be exact. *total: an upper bound, or the total if it was read. */
static tml_status check_total(tml_context *tml, const tml_expand_desc *desc,
                              const gl_float_pyramid *pyramid, uint64_t *total)
{
    const tml_slot *counts = tml_slot_of(tml, desc->counts);
    uint64_t largest = !counts || counts->element_size == 4 ? GL_FLOAT_MAX
                       : counts->element_size == 2          ? UINT16_MAX
                                                            : UINT8_MAX;
    *total = desc->length.count * largest;
    if (*total < GL_FLOAT_MAX && !gl_device_of(tml)->exact_counts)
        return TML_OK;
    tml_status status = gl_float_total(tml, pyramid, total);
    if (status == TML_OK && *total >= GL_FLOAT_MAX)
        status = tml_error(tml, TML_ERROR_UNSUPPORTED,
                           "tml_expand: the counts ask for %d outputs or more, and path %s counts "
                           "exactly to less; use the integer path or another engine",
                           GL_FLOAT_MAX, tml_gl_path_name(gl_device_of(tml)->path));
    return status;
}

static tml_status emit(tml_context *tml, const tml_expand_desc *desc,
                       const gl_float_pyramid *pyramid, const gl_texture *sources,
                       const gl_texture *ranks, uint64_t count)
{
    const gl_texture *out = gl_texture_of(tml, desc->out[0]);
    size_t size = tml_type_size(desc->emit_kernel->result);
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_float_map,
                            .defines = emit_defines,
                            .kernel = {desc->emit_kernel, &desc->params, desc->in},
                            .inputs = {{"sources", sources},
                                       {"ranks", ranks},
                                       {"total", pyramid->total},
                                       {"old", size < 4 ? out : NULL}},
                            .targets = {out},
                            .count = gl_words(count, size),
                            .in_place = size < 4,
                        });
}

static tml_status draw_outputs(tml_context *tml, const tml_expand_desc *desc,
                               const gl_float_pyramid *pyramid, uint64_t count)
{
    const gl_texture *sources, *ranks = NULL;
    const tml_buffer none = {0, 0};
    tml_status status = gl_float_locate(tml, pyramid, false, count, &sources);
    if (status == TML_OK && (desc->emit_kernel || !tml_buffer_is_none(desc->rank)))
        status = gl_float_locate(tml, pyramid, true, count, &ranks);
    if (status == TML_OK && !tml_buffer_is_none(desc->source))
        status = gl_float_gather(tml, pyramid, sources, none, desc->source, count);
    if (status == TML_OK && !tml_buffer_is_none(desc->rank))
        status = gl_float_gather(tml, pyramid, ranks, none, desc->rank, count);
    if (status == TML_OK && desc->emit_kernel)
        status = emit(tml, desc, pyramid, sources, ranks, count);
    return status;
}

static tml_status float_expand_run(tml_context *tml, const tml_expand_desc *desc)
{
    gl_float_pyramid pyramid;
    uint64_t total;
    tml_status status = gl_float_pyramid_take(tml, desc->length.count, &pyramid);
    TML_THEN(status, draw_base(tml, desc, &pyramid));
    TML_THEN(status, gl_float_pyramid_build(tml, &pyramid));
    TML_THEN(status, check_total(tml, desc, &pyramid, &total));
    if (status != TML_OK)
        return status;
    uint64_t count =
        TML_MIN_OF(tml_expand_capacity(tml, desc), TML_MIN_OF(total, (uint64_t)GL_FLOAT_MAX));
    if (count > 0)
        status = draw_outputs(tml, desc, &pyramid, count);
    return status == TML_OK ? gl_float_store_total(tml, &pyramid, desc->total) : status;
}

GL_OP(float_expand, tml_expand_desc, float_expand_supports, float_expand_run)
