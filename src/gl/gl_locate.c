/* Descents, and stores of outputs whose sources are known (gl_locate.h). */
#include "gl/gl_locate.h"

#include <stdio.h>

#include "gl_shaders.h"

/* ---- locating -------------------------------------------------------------------------------- */

bool gl_locate_supports(const tml_context *tml, tml_method method, bool is_bits, uint64_t items,
                        uint64_t outputs)
{
    uint64_t texels = gl_texels_max(tml);
    uint64_t base = items / (is_bits ? 128 : 4) + 1;
    return method == TML_METHOD_HISTOPYRAMID && items <= GL_PYRAMID_ITEMS_MAX && base <= texels &&
           outputs / 4 < texels;
}

/* Call after out->total is drawn. If counts are exact, lowers out->outputs to the total. Takes
 * out->sources and out->ranks. */
static tml_status take_outputs(tml_context *tml, const gl_locate_info *info, gl_located *out)
{
    out->outputs = info->outputs;
    tml_status status = TML_OK;
    if (out->outputs > 0 && !info->has_others)
        status = gl_exact(tml, out->total, out->total_texel, &out->outputs);
    uint64_t texels = (out->outputs + 3) / 4;
    if (out->outputs > 0 && !status)
        status = gl_temporary(tml, GL_FORMAT_QUADS, texels, &out->sources);
    if (out->outputs > 0 && info->has_ranks && !status)
        status = gl_temporary(tml, GL_FORMAT_QUADS, texels, &out->ranks);
    return status;
}

tml_status gl_locate_end(tml_context *tml, tml_buffer out_first, const gl_texture **total,
                         uint64_t *texel)
{
    const tml_slot *slot = tml_slot_of(tml, out_first);
    const gl_texture *end;
    if (!slot)
        return TML_OK;
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, 1, &end);
    if (!status)
        status = gl_draw(
            tml, &(gl_draw_info){
                     .shader = &gl_shader_located_end,
                     .inputs = {{"totals", *total}, {"out_first", gl_texture_of(tml, out_first)}},
                     .uniforms = {GL_UINT("at", (uint32_t)*texel),
                                  GL_UINT("is_wide", slot->type == TML_U64)},
                     .targets = {end},
                     .count = 1,
                 });
    *total = end;
    *texel = 0;
    return status;
}

tml_status gl_locate(tml_context *tml, const gl_locate_info *info, const gl_pyramid *pyramid,
                     gl_located *out)
{
    *out = (gl_located){.outputs = info->outputs};
    char defines[128];
    bool has_first = !tml_buffer_is_none(info->out_first);
    snprintf(defines, sizeof defines, "%s%s%s%s%s", gl_pyramid_defines(pyramid),
             has_first ? "#define OUT_FIRST\n" : "", info->limit ? "#define TWO_PLANES\n" : "",
             info->has_others ? "#define PYRAMID_OTHERS\n" : "",
             info->has_ranks ? "#define RANKS\n" : "");
    tml_status status = gl_pyramid_build(tml, pyramid);
    out->total = gl_pyramid_total(pyramid, &out->total_texel);
    if (!status)
        status = gl_locate_end(tml, info->out_first, &out->total, &out->total_texel);
    if (!status)
        status = take_outputs(tml, info, out);
    gl_draw_info draw = {
        .shader = &gl_shader_pyramid_sources,
        .defines = defines,
        .length = info->length,
        .inputs = {{has_first     ? "ends"
                    : info->limit ? "limit"
                                  : NULL,
                    info->limit ? info->limit : out->total}},
        .uniforms = {GL_UINT(info->limit ? "plane_items" : NULL, (uint32_t)info->plane_items)},
        .targets = {out->sources, out->ranks},
        .count = (out->outputs + 3) / 4,
    };
    gl_pyramid_bind(&draw, pyramid);
    return status ? status : gl_draw(tml, &draw);
}

/* ---- writing --------------------------------------------------------------------------------- */

uint64_t gl_located_room(const tml_context *tml, const gl_located *located, tml_buffer out)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    return slot ? TML_MIN_OF(slot->count, located->outputs) : 0;
}

tml_status gl_located_values(tml_context *tml, const gl_located *located, tml_buffer in,
                             tml_buffer out)
{
    uint64_t room = gl_located_room(tml, located, out);
    if (room == 0)
        return TML_OK;
    size_t size = tml_slot_of(tml, out)->element_size;
    const gl_texture *from = gl_texture_of(tml, in), *to = gl_texture_of(tml, out);
    /* Bytes of the last word past the last output keep their values. */
    bool in_place = from == to || size % 4 != 0;
    char defines[32];
    snprintf(defines, sizeof defines, "#define SIZE %u\n", (unsigned)size);
    return gl_draw(tml,
                   &(gl_draw_info){
                       .shader = &gl_shader_located_values,
                       .defines = defines,
                       .inputs = {{"sources", located->sources}, {"values", from}, {"old", to}},
                       .targets = {to},
                       .count = gl_words(room, size),
                       .in_place = in_place,
                   });
}

static tml_status write_numbers(tml_context *tml, const gl_located *located, bool are_ranks,
                                tml_buffer out)
{
    uint64_t room = gl_located_room(tml, located, out);
    if (room == 0)
        return TML_OK;
    size_t size = tml_slot_of(tml, out)->element_size;
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_located_indices,
                            .defines = are_ranks  ? "#define RANKS\n"
                                       : size > 4 ? "#define WIDE\n"
                                                  : NULL,
                            .inputs = {{"sources", located->sources}, {"ranks", located->ranks}},
                            .targets = {gl_texture_of(tml, out)},
                            .count = gl_words(room, size),
                        });
}

tml_status gl_located_indices(tml_context *tml, const gl_located *located, tml_buffer out)
{
    return write_numbers(tml, located, false, out);
}

tml_status gl_located_ranks(tml_context *tml, const gl_located *located, tml_buffer out)
{
    return write_numbers(tml, located, true, out);
}
