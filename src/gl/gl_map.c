/* tml_map on OpenGL ES: one draw per output, one fragment per word. */
#include <stdio.h>

#include "gl/device/gl_internal.h"

#include "gl_shaders.h"

static bool map_supports(tml_context *tml, const tml_map_desc *desc)
{
    return gl_kernel_supported(tml, desc->kernel);
}

/* Is one of several outputs also an input? Then no draw may write it before the last draw has read
 * it. */
static bool is_in_place(const tml_context *tml, const tml_map_desc *desc)
{
    for (uint32_t k = 0; k < tml_kernel_outs(desc->kernel); k++)
        for (uint32_t i = 0; i < TML_MAX_INPUTS; i++)
            if (gl_texture_of(tml, desc->out[k]) == gl_texture_of(tml, desc->in[i]))
                return true;
    return false;
}

static uint64_t words_of(const tml_map_desc *desc, uint32_t k)
{
    return gl_words(desc->length.count, tml_type_size(tml_kernel_out_type(desc->kernel, k)));
}

static tml_status draw_output(tml_context *tml, const tml_map_desc *desc, uint32_t k,
                              const gl_texture *to)
{
    char defines[64];
    snprintf(defines, sizeof defines, "#define OUT %u\n#define OUT_SIZE %zu\n", (unsigned)k,
             tml_type_size(tml_kernel_out_type(desc->kernel, k)));
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_kernel_map,
                            .defines = defines,
                            .kernel = {desc->kernel, &desc->params, desc->in},
                            .length = &desc->length,
                            .targets = {to},
                            .count = words_of(desc, k),
                        });
}

/* In place, the draws write to temporaries. These begin as copies, since a shorter length leaves
 * the elements past it unchanged. */
static tml_status draw_outputs(tml_context *tml, const tml_map_desc *desc)
{
    bool in_place = is_in_place(tml, desc);
    const gl_texture *asides[TML_MAX_OUTS] = {NULL};
    tml_status status = TML_OK;
    for (uint32_t k = 0; k < tml_kernel_outs(desc->kernel) && status == TML_OK; k++) {
        const gl_texture *out = gl_texture_of(tml, desc->out[k]);
        if (in_place)
            status = gl_temporary(tml, GL_FORMAT_WORDS, words_of(desc, k), &asides[k]);
        if (in_place && status == TML_OK)
            status = gl_copy(tml, asides[k], 0, out, 0, words_of(desc, k));
        TML_THEN(status, draw_output(tml, desc, k, in_place ? asides[k] : out));
    }
    for (uint32_t k = 0; k < tml_kernel_outs(desc->kernel) && in_place && status == TML_OK; k++)
        status = gl_copy(tml, gl_texture_of(tml, desc->out[k]), 0, asides[k], 0, words_of(desc, k));
    return status;
}

static tml_status map_run(tml_context *tml, const tml_map_desc *desc)
{
    return desc->kernel->out_count > 0 ? draw_outputs(tml, desc)
                                       : gl_map_draw(tml, desc, &gl_shader_kernel_map);
}

GL_OP(map, tml_map_desc, map_supports, map_run)
