/* tml_gather and tml_scatter on OpenGL ES. A fragment can only store to its own texel, but a point
 * can be drawn anywhere. So scatter draws one point per element, which stores the element's index
 * at its destination, and then gathers by these indices. */
#include "gl/gl_ops.h"

#include <stdio.h>

#include "gl/device/gl_internal.h"
#include "gl_shaders.h"

/* Outputs [0, room) of a payload: those below length whose index is within range. */
static tml_status draw_values(tml_context *tml, const gl_texture *indices, bool wide,
                              const tml_length *length, const tml_payload *payload, uint64_t room)
{
    const gl_texture *to = gl_texture_of(tml, payload->out);
    const tml_slot *in = tml_slot_of(tml, payload->in);
    char defines[64];
    snprintf(defines, sizeof defines, "#define INDICES\n#define SIZE %u\n%s",
             (unsigned)in->element_size, wide ? "#define WIDE\n" : "");
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_located_values,
                 .defines = defines,
                 .length = length,
                 .inputs = {{"sources", indices}, {"values", gl_slot_texture(in)}, {"old", to}},
                 .uniforms = {GL_UINT("range", (uint32_t)in->count)},
                 .targets = {to},
                 .count = gl_words(room, in->element_size),
                 .in_place = in->element_size % 4 != 0,
             });
}

static bool gather_supports(tml_context *tml, const tml_gather_desc *desc)
{
    (void)tml;
    (void)desc;
    return true;
}

static tml_status gather_run(tml_context *tml, const tml_gather_desc *desc)
{
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++)
        if (!tml_buffer_is_none(desc->payloads[p].in))
            status = draw_values(tml, gl_slot_texture(indices), indices->type == TML_U64,
                                 &desc->length, &desc->payloads[p], desc->length.count);
    return status;
}

/* The most elements of an output. */
static uint64_t most_outputs(const tml_context *tml, const tml_gather_desc *desc)
{
    uint64_t most = 0;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
        const tml_slot *out = tml_slot_of(tml, desc->payloads[p].out);
        most = out ? TML_MAX_OF(most, out->count) : most;
    }
    return most;
}

static bool scatter_supports(tml_context *tml, const tml_gather_desc *desc)
{
    return most_outputs(tml, desc) <= gl_texels_max(tml);
}

/* For each output, the index of its element; 2^32 - 1 if there is none. */
static tml_status draw_elements(tml_context *tml, const tml_gather_desc *desc, uint64_t outputs,
                                const gl_texture **elements)
{
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, outputs, elements);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_scatter_elements,
                                  .defines = "#define CLEAR\n",
                                  .targets = {*elements},
                                  .count = outputs,
                              });
    if (!status)
        status = gl_draw(
            tml, &(gl_draw_info){
                     .shader = &gl_shader_scatter_elements,
                     .defines = indices->type == TML_U64 ? "#define WIDE\n" : NULL,
                     .length = &desc->length,
                     .inputs = {{"indices", gl_slot_texture(indices)}},
                     .uniforms = {GL_UINT("range", (uint32_t)outputs),
                                  GL_UINT2("target", (*elements)->width, (*elements)->height)},
                     .targets = {*elements},
                     .count = desc->length.count,
                     .are_points = true,
                 });
    return status;
}

static tml_status scatter_run(tml_context *tml, const tml_gather_desc *desc)
{
    const gl_texture *elements;
    tml_status status = draw_elements(tml, desc, most_outputs(tml, desc), &elements);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++) {
        const tml_payload *payload = &desc->payloads[p];
        const tml_slot *out = tml_slot_of(tml, payload->out);
        if (!out)
            continue;
        const tml_length room = tml_length_of(out->count);
        status = draw_values(tml, elements, false, &room, payload, out->count);
    }
    return status;
}

GL_OP(gather, tml_gather_desc, gather_supports, gather_run)
GL_OP(scatter, tml_gather_desc, scatter_supports, scatter_run)
