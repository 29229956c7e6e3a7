/* Expand on OpenGL ES: counts become the base of a pyramid; the pyramid gives source and rank of
 * each output (gl_locate.h); then outputs are gathered or emitted. */
#include "gl/gl_locate.h"

#include <stdio.h>

#include "gl_shaders.h"

static bool expand_supports(tml_context *tml, const tml_expand_desc *desc)
{
    return gl_locate_supports(tml, desc->method, false, desc->length.count,
                              tml_expand_capacity(tml, desc)) &&
           (!desc->count_kernel || gl_kernel_supported(tml, desc->count_kernel)) &&
           (!desc->emit_kernel || gl_kernel_supported(tml, desc->emit_kernel));
}

static tml_status draw_counts(tml_context *tml, const tml_expand_desc *desc,
                              const gl_pyramid *pyramid)
{
    gl_draw_info info = {
        .shader = &gl_shader_kernel_counts,
        .length = &desc->length,
        .targets = {pyramid->base},
        .count = gl_pyramid_base_texels(pyramid),
    };
    char defines[32];
    if (desc->count_kernel) {
        info.kernel = (gl_kernel_use){desc->count_kernel, &desc->params, desc->in};
    } else {
        snprintf(defines, sizeof defines, "#define SIZE %u\n",
                 (unsigned)tml_slot_of(tml, desc->counts)->element_size);
        info.shader = &gl_shader_expand_counts;
        info.defines = defines;
        info.inputs[0] = (gl_input){"counts", gl_texture_of(tml, desc->counts)};
    }
    return gl_draw(tml, &info);
}

/* May the sum of these counts exceed the pyramid's 32 bits? */
static bool may_overflow(const tml_context *tml, const tml_expand_desc *desc)
{
    const tml_slot *counts = tml_slot_of(tml, desc->counts);
    uint64_t largest = counts ? UINT32_MAX >> (32 - 8 * counts->element_size) : UINT32_MAX;
    return desc->length.count > UINT32_MAX / largest;
}

/* Stores the total. The pyramid's total saturates at 2^32 - 1, as a u32 total does; for a u64
 * total, the counts are summed exactly. */
static tml_status store_total(tml_context *tml, const tml_expand_desc *desc,
                              const gl_pyramid *pyramid, const gl_located *located)
{
    enum { FAN = 64 };
    const tml_slot *slot = tml_slot_of(tml, desc->total);
    if (!slot || slot->type == TML_U32 || !may_overflow(tml, desc))
        return gl_store_count(tml, desc->total, located->total, located->total_texel);
    const gl_texture *from = pyramid->base, *to;
    uint64_t count = gl_pyramid_base_texels(pyramid);
    const char *defines = "#define FAN 64\n#define FROM_COUNTS\n";
    do {
        uint64_t sums = TML_CEIL_DIV(count, FAN);
        tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, sums, &to);
        if (!status)
            status = gl_draw(tml, &(gl_draw_info){
                                      .shader = &gl_shader_expand_sum,
                                      .defines = defines,
                                      .inputs = {{"addends", from}},
                                      .uniforms = {GL_UINT("addend_count", (uint32_t)count)},
                                      .targets = {to},
                                      .count = sums,
                                  });
        if (status)
            return status;
        from = to;
        count = sums;
        defines = "#define FAN 64\n";
    } while (count > 1);
    uint64_t texel = 0;
    tml_status status = gl_locate_end(tml, desc->out_first, &from, &texel);
    return status ? status : gl_store_count(tml, desc->total, from, texel);
}

/* Draws output k of the emit kernel. */
static tml_status emit(tml_context *tml, const tml_expand_desc *desc, const gl_located *located,
                       uint32_t k)
{
    tml_buffer out = desc->out[k];
    uint64_t room = gl_located_room(tml, located, out);
    if (room == 0)
        return TML_OK;
    size_t size = tml_type_size(tml_kernel_out_type(desc->emit_kernel, k));
    const gl_texture *to = gl_texture_of(tml, out);
    char defines[64];
    snprintf(defines, sizeof defines, "#define OUT %u\n#define OUT_SIZE %zu\n", (unsigned)k, size);
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_kernel_emit,
                 .defines = defines,
                 .kernel = {desc->emit_kernel, &desc->params, desc->in},
                 .inputs = {{"sources", located->sources}, {"ranks", located->ranks}, {"old", to}},
                 .targets = {to},
                 .count = gl_words(room, size),
                 .in_place = size < 4, /* bytes behind the last output keep their values */
             });
}

static tml_status expand_run(tml_context *tml, const tml_expand_desc *desc)
{
    gl_pyramid pyramid;
    gl_located located;
    const gl_locate_info info = {
        .length = &desc->length,
        .outputs = tml_expand_capacity(tml, desc),
        .has_ranks = desc->emit_kernel || !tml_buffer_is_none(desc->rank),
        .out_first = desc->out_first,
    };
    tml_status status = gl_pyramid_take(tml, false, desc->length.count, &pyramid);
    if (!status)
        status = draw_counts(tml, desc, &pyramid);
    if (!status)
        status = gl_locate(tml, &info, &pyramid, &located);
    if (!status)
        status = gl_located_indices(tml, &located, desc->source);
    if (!status)
        status = gl_located_ranks(tml, &located, desc->rank);
    for (uint32_t k = 0; desc->emit_kernel && k < tml_kernel_outs(desc->emit_kernel) && !status;
         k++)
        status = emit(tml, desc, &located, k);
    return status ? status : store_total(tml, desc, &pyramid, &located);
}

GL_OP(expand, tml_expand_desc, expand_supports, expand_run)
