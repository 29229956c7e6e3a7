/* Folds and tml_reduce on OpenGL ES: a draw for each level of whole blocks, which needs no bounds, and one
 * for the result, which sees to what is left over at each level. How long a stream is matters only to
 * that last one; a shorter stream leaves blocks unread. */
#include "gl/gl_fold.h"

#include <stdio.h>

#include "gl_shaders.h"
#include "gpu/fold_kinds.h"

enum { BLOCK_BYTES_LOG2 = 8, FAN_LOG2 = 6 }; /* as in gl_fold.glsl */

bool gl_fold_bind(tml_context *tml, tml_fold kind, tml_buffer in, uint64_t elements,
                  tml_type out_type, gl_fold *out)
{
    const tml_slot *slot = tml_slot_of(tml, in);
    fold_constants c = fold_constants_of(kind, slot->type, out_type);
    *out = (gl_fold){
        .segmented = "",
        .in = gl_slot_texture(slot),
        .elements = elements,
        .block_log2 = BLOCK_BYTES_LOG2 - c.size_log2,
    };
    for (uint32_t level = out->block_log2; elements >> level; level += FAN_LOG2)
        out->level_count++;
    static const char *const truth[] = {"false", "true"};
    snprintf(out->constants, sizeof out->constants,
             "#define FOLD_KIND %uu\n#define SIZE_LOG2 %uu\n#define IS_SIGNED %s\n"
             "#define IS_FLOAT %s\n#define LARGEST %s\n#define FOLD_TO %uu\n#define IS_MEAN %s\n",
             c.kind, c.size_log2, truth[c.is_signed], truth[c.is_float], truth[c.is_largest], c.to,
             truth[c.is_mean]);
    return c.kind != FOLD_DOUBLE && out->level_count <= GL_FOLD_LEVELS;
}

tml_status gl_fold_blocks(tml_context *tml, gl_fold *fold)
{
    tml_status status = TML_OK;
    for (uint32_t l = 0; l < fold->level_count && status == TML_OK; l++) {
        uint32_t level = fold->block_log2 + l * FAN_LOG2;
        /* A segment's block is where it ends. */
        uint64_t texels = fold->segmented[0]
                              ? (fold->elements + ((uint64_t)1 << level) - 1) >> level
                              : fold->elements >> level;
        status = gl_temporary(tml, GL_FORMAT_QUADS, texels, &fold->levels[l]);
        if (status != TML_OK)
            break;
        char defines[GL_FOLD_DEFINES + 64];
        snprintf(defines, sizeof defines, "%s%s%s", fold->constants, fold->segmented,
                 l ? "#define FROM_STATES\n" : "");
        status = gl_draw(
            tml,
            &(gl_draw_info){
                .shader = &gl_shader_fold_blocks,
                .defines = defines,
                .inputs = {{"folded", l ? fold->levels[l - 1] : fold->in}, fold->offsets},
                .uniforms = {GL_UINT("level", level), fold->segment_count, fold->segment_elements},
                .targets = {fold->levels[l]},
                .count = texels,
            });
    }
    return status;
}

tml_status gl_store_results(tml_context *tml, const gl_texture *results, uint64_t count,
                            tml_buffer out)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    const gl_texture *target = gl_slot_texture(slot);
    bool is_shared = slot->element_size < 4;
    char defines[32];
    snprintf(defines, sizeof defines, "#define SIZE_OUT %u\n",
             (unsigned)__builtin_ctzll(slot->element_size));
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_store_results,
                            .defines = defines,
                            .inputs = {{"results", results}, {is_shared ? "old" : NULL, target}},
                            .uniforms = {GL_UINT("count", (uint32_t)count)},
                            .targets = {target},
                            .count = gl_words(count, slot->element_size),
                            .in_place = is_shared,
                        });
}

tml_status gl_fold_results(tml_context *tml, const gl_fold *fold, const tml_length *length,
                           uint64_t count, const gl_texture **out)
{
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, count, out);
    if (status != TML_OK)
        return status;
    char defines[GL_FOLD_DEFINES + 64];
    snprintf(defines, sizeof defines, "%s%s#define LEVELS %u\n", fold->constants, fold->segmented,
             fold->level_count);
    static const char *const names[GL_FOLD_LEVELS] = {"states1", "states2", "states3", "states4",
                                                      "states5"};
    gl_draw_info info = {
        .shader = &gl_shader_fold_result,
        .defines = defines,
        .length = length,
        .inputs = {{"folded", fold->in}},
        .targets = {*out},
        .count = count,
    };
    uint32_t inputs = 1;
    for (uint32_t l = 0; l < fold->level_count; l++)
        info.inputs[inputs++] = (gl_input){names[l], fold->levels[l]};
    if (fold->segmented[0]) {
        info.inputs[inputs] = fold->offsets;
        info.uniforms[0] = fold->segment_count;
        info.uniforms[1] = fold->segment_elements;
    }
    return gl_draw(tml, &info);
}

/* ---- tml_reduce ------------------------------------------------------------------------------ */

static bool reduce_supports(tml_context *tml, const tml_reduce_desc *desc)
{
    gl_fold fold;
    return gl_fold_bind(tml, desc->fold, desc->in, desc->length.count,
                        tml_slot_of(tml, desc->out)->type, &fold);
}

static tml_status reduce_run(tml_context *tml, const tml_reduce_desc *desc)
{
    gl_fold fold;
    gl_fold_bind(tml, desc->fold, desc->in, desc->length.count, tml_slot_of(tml, desc->out)->type,
                 &fold);
    tml_status status = gl_fold_blocks(tml, &fold);
    const gl_texture *result;
    if (status == TML_OK)
        status = gl_fold_results(tml, &fold, &desc->length, 1, &result);
    return status == TML_OK ? gl_store_results(tml, result, 1, desc->out) : status;
}

GL_OP(reduce, tml_reduce_desc)
