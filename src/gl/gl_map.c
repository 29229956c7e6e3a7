/* tml_map on OpenGL ES: a fragment a word; of kernels with several outputs, or with results of several words that
 * read arrays where they like and so may take long, a fragment an element. */
#include <stdio.h>

#include "gl/device/gl_internal.h"
#include "gpu/kernel_glue.h"

#include "gl_shaders.h"

/* Most elements of a draw whose outputs are not its inputs: bounds the temporary textures. */
static const uint64_t most_elements = (uint64_t)1 << 22;

static bool map_supports(tml_context *tml, const tml_map_desc *desc)
{
    return gl_kernel_supported(tml, desc->kernel);
}

static uint32_t words_of(const tml_map_desc *desc, uint32_t k)
{
    return (uint32_t)(tml_type_size(tml_kernel_out_type(desc->kernel, k)) / 4);
}

/* Is one of the outputs an input? Then no draw may write it before all have read. */
static bool is_in_place(const tml_context *tml, const tml_map_desc *desc)
{
    for (uint32_t k = 0; k < tml_kernel_outs(desc->kernel); k++)
        for (uint32_t i = 0; i < TML_MAX_INPUTS; i++)
            if (gl_texture_of(tml, tml_map_out(desc, k)) == gl_texture_of(tml, desc->in[i]))
                return true;
    return false;
}

/* Elements [first, first + count) of all outputs. Outputs of one word are targets, unless is_aside. */
static tml_status draw_once(tml_context *tml, const tml_map_desc *desc, uint64_t first,
                            uint64_t count, bool is_aside)
{
    const uint32_t outs = tml_kernel_outs(desc->kernel), row = 1u << gl_row_log2(tml);
    gl_draw_info info = {.shader = &gl_shader_kernel_map_once,
                         .kernel = {desc->kernel, &desc->params, desc->in},
                         .length = &desc->length,
                         .uniforms = {GL_UINT("first", (uint32_t)first)},
                         .count = count};
    tml_status status = TML_OK;
    for (uint32_t k = 0; k < outs && status == TML_OK; k++) {
        const gl_texture *out = gl_texture_of(tml, tml_map_out(desc, k));
        const bool has_own_rows = out->width == row || (out->height == 1 && out->width < row);
        info.targets[k] = out;
        if (is_aside || words_of(desc, k) > 1 || !has_own_rows)
            status = gl_temporary(tml, GL_FORMAT_QUADS, count, &info.targets[k]);
    }
    if (status == TML_OK)
        status = gl_draw(tml, &info);
    for (uint32_t k = 0; k < outs && status == TML_OK; k++) {
        const gl_texture *out = gl_texture_of(tml, tml_map_out(desc, k));
        const uint32_t words = words_of(desc, k);
        char defines[32];
        snprintf(defines, sizeof defines, "#define WORDS %u\n", (unsigned)words);
        if (info.targets[k] == out)
            continue;
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_kernel_map_words,
                                  .defines = defines,
                                  .length = &desc->length,
                                  .inputs = {{"quads", info.targets[k]}},
                                  .uniforms = {GL_UINT("first", (uint32_t)first)},
                                  .targets = {out},
                                  .first = first * words,
                                  .count = count * words,
                              });
        gl_release(tml, info.targets[k]);
    }
    return status;
}

static tml_status map_run(tml_context *tml, const tml_map_desc *desc)
{
    const uint64_t count = desc->length.count;
    const bool is_long = kernel_uses_words(desc->kernel) && words_of(desc, 0) > 1;
    if (desc->kernel->out_count == 0 && !is_long)
        return gl_map_draw(tml, desc, &gl_shader_kernel_map);
    if (count <= most_elements || is_in_place(tml, desc))
        return draw_once(tml, desc, 0, count, is_in_place(tml, desc));
    tml_status status = TML_OK;
    for (uint64_t first = 0; first < count && status == TML_OK; first += most_elements)
        status = draw_once(tml, desc, first, TML_MIN_OF(count - first, most_elements), true);
    return status;
}

GL_OP(map, tml_map_desc)
