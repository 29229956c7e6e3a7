/* tml_map_stream on OpenGL ES: one draw, a fragment for each word of the output. */
#include "gl/device/gl_internal.h"

#include "gl_shaders.h"

static bool map_supports(tml_context *tml, const tml_map_desc *desc)
{
    return gl_kernel_supported(tml, desc->kernel);
}

tml_status gl_map_draw(tml_context *tml, const tml_map_desc *desc, const gl_shader *shader)
{
    const gl_texture *out = gl_texture_of(tml, desc->out);
    size_t size = tml_type_size(desc->kernel->result);
    /* Bools share words: the last one may keep old bytes. */
    bool in_place = size < 4 && (desc->length.count % 4 != 0 || !tml_is_none(desc->length.device));
    for (uint32_t a = 0; a < TML_MAX_INPUTS; a++)
        in_place = in_place || gl_texture_of(tml, desc->in[a]) == out;
    return gl_draw(tml, &(gl_draw_info){
                            .shader = shader,
                            .kernel = {desc->kernel, &desc->params, desc->in},
                            .length = &desc->length,
                            .inputs = {{"old", in_place ? out : NULL}},
                            .targets = {out},
                            .count = gl_words(desc->length.count, size),
                            .in_place = in_place,
                        });
}

static tml_status map_run(tml_context *tml, const tml_map_desc *desc)
{
    return gl_map_draw(tml, desc, &gl_shader_kernel_map);
}

GL_OP(map, tml_map_desc)
