/* tml_map_stream on the float tier: as on the integer path, a fragment for each word of the output. */
#include "gl/gl_float.h"

#include "gl_shaders.h"

static bool float_map_supports(tml_context *tml, const tml_map_desc *desc)
{
    const gl_kernel_use use = {desc->kernel, &desc->params, desc->in};
    return gl_float_count_supported(tml, "tml_map_stream: length", desc->length.count) &&
           gl_float_kernel_supported(tml, &gl_shader_float_map, NULL,
                                     gl_float_format(gl_device_of(tml), desc->kernel->result),
                                     &use);
}

static tml_status float_map_run(tml_context *tml, const tml_map_desc *desc)
{
    const gl_texture *out = gl_texture_of(tml, desc->out);
    size_t size = tml_type_size(desc->kernel->result);
    bool in_place = size < 4 && (desc->length.count % 4 != 0 || !tml_is_none(desc->length.device));
    for (uint32_t a = 0; a < TML_MAX_INPUTS; a++)
        in_place = in_place || gl_texture_of(tml, desc->in[a]) == out;
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_float_map,
                            .kernel = {desc->kernel, &desc->params, desc->in},
                            .length = &desc->length,
                            .inputs = {{"old", in_place ? out : NULL}},
                            .targets = {out},
                            .count = gl_words(desc->length.count, size),
                            .in_place = in_place,
                        });
}

GL_OP(float_map, tml_map_desc)
