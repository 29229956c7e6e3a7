/* tml_search on OpenGL ES: one draw, a fragment per word of the output. */
#include "gl/gl_ops.h"

#include <stdio.h>

#include "gl/device/gl_internal.h"
#include "gl_shaders.h"

static bool search_supports(tml_context *tml, const tml_search_resolved *resolved)
{
    (void)tml;
    (void)resolved;
    return true;
}

tml_status gl_search_draw(tml_context *tml, const tml_search_resolved *resolved,
                          const gl_texture *out, bool is_wide)
{
    const tml_search_desc *desc = &resolved->desc;
    const tml_slot *sorted = tml_slot_of(tml, desc->sorted);
    uint64_t flip = resolved->flip, real_flip = resolved->real_flip, minus = resolved->minus_zero;
    char defines[80];
    snprintf(defines, sizeof defines, "#define SIZE %u\n%s%s%s", (unsigned)sorted->element_size,
             is_wide ? "#define WIDE\n" : "", desc->upper ? "#define UPPER\n" : "",
             resolved->as_bins ? "#define AS_BINS\n" : "");
    return gl_draw(
        tml,
        &(gl_draw_info){
            .shader = &gl_shader_search,
            .defines = defines,
            .length = &desc->length,
            .inputs = {{"sorted", gl_slot_texture(sorted)},
                       {"queries", gl_texture_of(tml, desc->queries)},
                       {"sorted_length", gl_texture_of(tml, desc->sorted_length.device)}},
            .uniforms = {gl_length_place(tml, "sorted_place", &desc->sorted_length),
                         GL_UINT2("flip", (uint32_t)flip, (uint32_t)(flip >> 32)),
                         GL_UINT2("real_flip", (uint32_t)real_flip, (uint32_t)(real_flip >> 32)),
                         GL_UINT2("minus_zero", (uint32_t)minus, (uint32_t)(minus >> 32))},
            .targets = {out},
            .count = desc->length.count * (is_wide ? 2 : 1),
        });
}

static tml_status search_run(tml_context *tml, const tml_search_resolved *resolved)
{
    const tml_slot *out = tml_slot_of(tml, resolved->desc.out);
    return gl_search_draw(tml, resolved, gl_slot_texture(out), out->type == TML_U64);
}

GL_OP(search, tml_search_resolved, search_supports, search_run)
