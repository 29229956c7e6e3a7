/* Unique on OpenGL ES. An element's head flag is set if it begins a run. Runs are a compaction by
 * head flags (gl_locate.h). A run's length is the difference between the next run's start and its
 * own. */
#include "gl/gl_locate.h"

#include <stdio.h>

#include "gl_shaders.h"

static uint64_t most_outputs(const tml_context *tml, const tml_unique_desc *desc)
{
    const tml_buffer outputs[] = {desc->values, desc->starts, desc->lengths};
    uint64_t most = 0;
    for (size_t o = 0; o < TML_ARRAY_SIZE(outputs); o++) {
        const tml_slot *slot = tml_slot_of(tml, outputs[o]);
        if (slot)
            most = TML_MAX_OF(most, slot->count);
    }
    return TML_MIN_OF(most, desc->length.count);
}

static bool unique_supports(tml_context *tml, const tml_unique_desc *desc)
{
    return gl_locate_supports(tml, TML_METHOD_HISTOPYRAMID, true, desc->length.count,
                              most_outputs(tml, desc));
}

static tml_status draw_heads(tml_context *tml, const tml_unique_desc *desc,
                             const gl_pyramid *pyramid)
{
    char defines[32];
    snprintf(defines, sizeof defines, "#define SIZE %u\n",
             (unsigned)tml_slot_of(tml, desc->in)->element_size);
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_unique_heads,
                            .defines = defines,
                            .length = &desc->length,
                            .inputs = {{"elements", gl_texture_of(tml, desc->in)}},
                            .targets = {pyramid->base},
                            .count = gl_pyramid_base_texels(pyramid),
                        });
}

static tml_status draw_lengths(tml_context *tml, const tml_unique_desc *desc,
                               const gl_located *located)
{
    uint64_t room = gl_located_room(tml, located, desc->lengths);
    if (room == 0)
        return TML_OK;
    size_t size = tml_slot_of(tml, desc->lengths)->element_size;
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_unique_lengths,
                            .defines = size > 4 ? "#define WIDE\n" : NULL,
                            .length = &desc->length,
                            .inputs = {{"sources", located->sources}, {"runs", located->total}},
                            .uniforms = {GL_UINT("runs_texel", (uint32_t)located->total_texel)},
                            .targets = {gl_texture_of(tml, desc->lengths)},
                            .count = gl_words(room, size),
                        });
}

static tml_status unique_run(tml_context *tml, const tml_unique_desc *desc)
{
    gl_pyramid pyramid;
    gl_located located;
    uint64_t most = most_outputs(tml, desc);
    /* The last length that fits requires the start of one more run. */
    bool one_more = !tml_buffer_is_none(desc->lengths) && most > 0 && most < desc->length.count;
    const gl_locate_info info = {
        .length = &desc->length,
        .outputs = most + one_more,
    };
    tml_status status = gl_pyramid_take(tml, true, desc->length.count, &pyramid);
    if (!status)
        status = draw_heads(tml, desc, &pyramid);
    if (!status)
        status = gl_locate(tml, &info, &pyramid, &located);
    if (!status)
        status = gl_located_indices(tml, &located, desc->starts);
    if (!status)
        status = draw_lengths(tml, desc, &located);
    if (!status)
        status = gl_located_values(tml, &located, desc->in, desc->values);
    return status ? status : gl_store_count(tml, desc->count, located.total, located.total_texel);
}

GL_OP(unique, tml_unique_desc, unique_supports, unique_run)
