/* Segmented reduce and scan on OpenGL ES.
 *
 * Segments that do not overlap have at most one block that ends among any 2^k elements, for blocks of 2^k:
 * so whole blocks of all segments, counted from each one's beginning, have places of their own without
 * a list (shaders/fold_blocks.frag), and work is shared out by elements. Offsets that fall may make
 * segments overlap: then, which the device knows, draws that otherwise draw nothing do the work again
 * segment by segment. */
#include <stdio.h>

#include "gl/gl_fold.h"
#include "gl_shaders.h"

static const gl_texture *offsets_of(const tml_context *tml, tml_buffer offsets)
{
    return gl_texture_of(tml, offsets);
}

static uint64_t segments_in(const tml_context *tml, tml_buffer offsets)
{
    return tml_slot_of(tml, offsets)->count - 1;
}

static const char *offset_defines(const tml_context *tml, tml_buffer offsets)
{
    return tml_slot_of(tml, offsets)->type == TML_U64 ? "#define SEGMENTED\n#define OFFSETS_WIDE\n"
                                                      : "#define SEGMENTED\n";
}

/* ---- order ----------------------------------------------------------------------------------- */

enum { ORDER_FAN = 64 }; /* as in segments_order.frag */

/* A texture whose first word is not 0 where an offset is below the one before it. */
static tml_status find_disorder(tml_context *tml, tml_buffer offsets, const gl_texture **out)
{
    const gl_texture *from = offsets_of(tml, offsets);
    const char *defines = offset_defines(tml, offsets);
    uint64_t items = segments_in(tml, offsets);
    tml_status status;
    do {
        uint64_t texels = (items + ORDER_FAN - 1) / ORDER_FAN;
        status = gl_temporary(tml, GL_FORMAT_WORDS, texels, out);
        if (status == TML_OK)
            status = gl_draw(tml, &(gl_draw_info){
                                      .shader = &gl_shader_segments_order,
                                      .defines = defines,
                                      .inputs = {{"offsets", from}, {"flags", from}},
                                      .uniforms = {GL_UINT("items", (uint32_t)items)},
                                      .targets = {*out},
                                      .count = texels,
                                  });
        from = *out;
        defines = "#define FROM_FLAGS\n";
        items = texels;
    } while (status == TML_OK && items > 1);
    return status;
}

/* ---- reduce ---------------------------------------------------------------------------------- */

enum { SECTION_LOG2 = 12, WAITING = 3 }; /* as in fold_disorder.frag */

static bool fold_bind_segments(tml_context *tml, const tml_reduce_segments_desc *desc,
                               gl_fold *fold)
{
    uint64_t elements = tml_slot_of(tml, desc->in)->count;
    bool is_supported =
        gl_fold_bind(tml, desc->fold, desc->in, elements, tml_slot_of(tml, desc->out)->type, fold);
    fold->segmented = offset_defines(tml, desc->offsets);
    fold->offsets = (gl_input){"offsets", offsets_of(tml, desc->offsets)};
    fold->segment_count =
        (gl_uniform)GL_UINT("segment_count", (uint32_t)segments_in(tml, desc->offsets));
    fold->segment_elements = (gl_uniform)GL_UINT("segment_elements", (uint32_t)elements);
    return is_supported;
}

static bool reduce_segments_supports(tml_context *tml, const tml_reduce_segments_desc *desc)
{
    gl_fold fold;
    return fold_bind_segments(tml, desc, &fold);
}

/* One step for segments that may overlap, of whole sections or, targets being results, of the rest. */
static tml_status draw_section(tml_context *tml, const gl_fold *fold, uint64_t segments,
                               uint32_t section, const char *step, const gl_texture *gate,
                               const gl_texture *const waiting[WAITING],
                               const gl_texture *const targets[WAITING])
{
    char defines[GL_FOLD_DEFINES + 128];
    snprintf(defines, sizeof defines, "%s%s%s%s", fold->constants, fold->segmented,
             section ? "" : "#define FIRST\n", step);
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_fold_disorder,
                            .defines = defines,
                            .inputs = {{"folded", fold->in},
                                       {"waiting0", waiting[0]},
                                       {"waiting1", waiting[1]},
                                       {"waiting2", waiting[2]},
                                       fold->offsets},
                            .uniforms = {GL_UINT("section", section), fold->segment_count,
                                         fold->segment_elements},
                            .targets = {targets[0], targets[1], targets[2]},
                            .count = segments,
                            .gate = gate,
                        });
}

/* Draws the results again where offsets fall. */
static tml_status fold_in_disorder(tml_context *tml, const gl_fold *fold, uint64_t segments,
                                   const gl_texture *gate, const gl_texture *results)
{
    uint32_t sections = (uint32_t)(fold->elements >> (fold->block_log2 + SECTION_LOG2));
    const gl_texture *waiting[2][WAITING] = {{NULL}};
    tml_status status = TML_OK;
    for (int i = 0; i < 2 * WAITING && sections > 0 && status == TML_OK; i++)
        status = gl_temporary(tml, GL_FORMAT_QUADS, segments, &waiting[i / WAITING][i % WAITING]);
    for (uint32_t s = 0; s < sections && status == TML_OK; s++)
        status = draw_section(tml, fold, segments, s, "", gate, waiting[s % 2 ^ 1], waiting[s % 2]);
    const gl_texture *last[WAITING] = {results};
    return status != TML_OK ? status
                            : draw_section(tml, fold, segments, sections, "#define LAST\n", gate,
                                           waiting[sections % 2 ^ 1], last);
}

static tml_status reduce_segments_run(tml_context *tml, const tml_reduce_segments_desc *desc)
{
    uint64_t segments = segments_in(tml, desc->offsets);
    if (segments == 0)
        return TML_OK;
    gl_fold fold;
    fold_bind_segments(tml, desc, &fold);
    const gl_texture *gate, *results;
    tml_status status = find_disorder(tml, desc->offsets, &gate);
    if (status == TML_OK)
        status = gl_fold_blocks(tml, &fold);
    if (status == TML_OK)
        status = gl_fold_results(tml, &fold, NULL, segments, &results);
    if (status == TML_OK)
        status = fold_in_disorder(tml, &fold, segments, gate, results);
    return status == TML_OK ? gl_store_results(tml, results, segments, desc->out) : status;
}

GL_OP(reduce_segments, tml_reduce_segments_desc)
