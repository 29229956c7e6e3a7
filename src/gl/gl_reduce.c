/* Folds and tml_reduce on OpenGL ES, of scalars and of each component of vectors. Each level of
 * whole blocks is one draw, which needs no bounds. A last draw computes the result: it also joins
 * the elements that each level leaves over. Only the last draw depends on the stream's length,
 * since a shorter stream merely leaves blocks unread. */
#include "gl/gl_fold.h"

#include <stdio.h>

#include "core/scalars.h"
#include "gl_shaders.h"
#include "gpu/fold_kinds.h"

/* gpu/fold.glsl distinguishes types by kind and size only. */
TML_SCALAR_LIST(SCALAR_IS_KNOWN)

enum {
    BLOCK_BYTES_LOG2 = 8, /* as in gl_fold.glsl */
    FAN_LOG2 = 6,         /* likewise */
    /* With several folds, all of them process a strip of 2 MiB of the stream, which caches hold,
     * before the next strip. */
    STRIP_BLOCKS = 1 << (21 - BLOCK_BYTES_LOG2),
};

bool gl_fold_bind(tml_context *tml, tml_fold kind, tml_buffer in, uint64_t elements,
                  tml_type out_type, gl_fold *out)
{
    const tml_slot *slot = tml_slot_of(tml, in);
    fold_constants c =
        fold_constants_of(kind, tml_type_scalar(slot->type), tml_type_scalar(out_type));
    *out = (gl_fold){
        .segmented = "",
        .in = gl_slot_texture(slot),
        .elements = elements,
        .components = tml_type_components(slot->type),
        .block_log2 = BLOCK_BYTES_LOG2 - c.size_log2,
    };
    for (uint32_t level = out->block_log2; elements >> level; level += FAN_LOG2)
        out->level_count++;
    static const char *const truth[] = {"false", "true"};
    snprintf(out->constants, sizeof out->constants,
             "#define FOLD_KIND %uu\n#define SIZE_LOG2 %uu\n#define IS_SIGNED %s\n"
             "#define IS_FLOAT %s\n#define LARGEST %s\n#define FOLD_TO %uu\n#define IS_MEAN %s\n"
             "#define COMPONENTS %u\n",
             c.kind, c.size_log2, truth[c.is_signed], truth[c.is_float], truth[c.is_largest], c.to,
             truth[c.is_mean], out->components);
    return c.kind != FOLD_DOUBLE && out->level_count <= GL_FOLD_LEVELS;
}

/* Texels of a level of whole blocks. With segments, a block's texel is at the position of the
 * block's end. */
static uint64_t texels_of(const gl_fold *fold, uint32_t level_log2)
{
    uint64_t elements = fold->elements;
    if (fold->segmented[0])
        elements += ((uint64_t)1 << level_log2) - 1;
    return (elements >> level_log2) * fold->components;
}

/* Draws texels [first, first + count) of level l, whose texture is taken. */
static tml_status draw_blocks(tml_context *tml, const gl_fold *fold, uint32_t l, uint64_t first,
                              uint64_t count)
{
    char defines[GL_FOLD_DEFINES + 64];
    snprintf(defines, sizeof defines, "%s%s%s", fold->constants, fold->segmented,
             l ? "#define FROM_STATES\n" : "");
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_fold_blocks,
                            .defines = defines,
                            .inputs = {{"folded", l ? fold->levels[l - 1] : fold->in},
                                       fold->offsets,
                                       fold->counts,
                                       fold->ends},
                            .uniforms = {GL_UINT("level", fold->block_log2 + l * FAN_LOG2),
                                         fold->segment_count, fold->segment_elements,
                                         fold->count_place, fold->end_place},
                            .targets = {fold->levels[l]},
                            .first = first,
                            .count = count,
                        });
}

tml_status gl_fold_blocks(tml_context *tml, gl_fold *folds, uint32_t count)
{
    tml_status status = TML_OK;
    for (uint32_t l = 0; l < folds[0].level_count && !status; l++) {
        uint64_t texels = texels_of(&folds[0], folds[0].block_log2 + l * FAN_LOG2);
        uint64_t strip = l == 0 && count > 1 ? STRIP_BLOCKS * (uint64_t)folds[0].components
                                             : TML_MAX_OF(texels, (uint64_t)1);
        for (uint32_t f = 0; f < count && !status; f++)
            status = gl_temporary(tml, GL_FORMAT_QUADS, texels, &folds[f].levels[l]);
        for (uint64_t first = 0; first < texels; first += strip)
            for (uint32_t f = 0; f < count && !status; f++)
                status = draw_blocks(tml, &folds[f], l, first, TML_MIN_OF(texels - first, strip));
    }
    return status;
}

tml_status gl_store_results(tml_context *tml, const gl_texture *results, uint64_t count,
                            const tml_length *counted, tml_buffer out)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    const gl_texture *target = gl_slot_texture(slot);
    uint32_t components = tml_type_components(slot->type);
    size_t size = slot->element_size / components;
    bool is_shared = size < 4;
    char defines[64];
    snprintf(defines, sizeof defines, "#define SIZE_OUT %u\n%s", (unsigned)__builtin_ctzll(size),
             counted ? "#define COUNTED\n" : "");
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_store_results,
                            .defines = defines,
                            .length = counted,
                            .inputs = {{"results", results}, {is_shared ? "old" : NULL, target}},
                            .uniforms = {GL_UINT("count", (uint32_t)count)},
                            .targets = {target},
                            .count = gl_words(count, size),
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
        info.inputs[inputs++] = fold->offsets;
        info.inputs[inputs++] = fold->counts;
        info.inputs[inputs++] = fold->ends;
        info.uniforms[0] = fold->segment_count;
        info.uniforms[1] = fold->segment_elements;
        info.uniforms[2] = fold->count_place;
        info.uniforms[3] = fold->end_place;
    }
    return gl_draw(tml, &info);
}

/* ---- tml_reduce ------------------------------------------------------------------------------ */

static bool bind_result(tml_context *tml, const tml_reduce_desc *desc, uint32_t k, gl_fold *out)
{
    tml_reduce_result result = desc->folds[k];
    return gl_fold_bind(tml, result.fold, desc->in, desc->length.count,
                        tml_slot_of(tml, result.out)->type, out);
}

static bool reduce_supports(tml_context *tml, const tml_reduce_desc *desc)
{
    gl_fold fold;
    bool all = true;
    for (uint32_t k = 0; k < tml_reduce_results(desc); k++)
        all = all && bind_result(tml, desc, k, &fold);
    return all;
}

static tml_status reduce_run(tml_context *tml, const tml_reduce_desc *desc)
{
    gl_fold folds[TML_MAX_FOLDS];
    uint32_t count = tml_reduce_results(desc);
    for (uint32_t k = 0; k < count; k++)
        bind_result(tml, desc, k, &folds[k]);
    tml_status status = gl_fold_blocks(tml, folds, count);
    for (uint32_t k = 0; k < count && !status; k++) {
        const gl_texture *result;
        status = gl_fold_results(tml, &folds[k], &desc->length, folds[k].components, &result);
        if (!status)
            status = gl_store_results(tml, result, folds[k].components, NULL, desc->folds[k].out);
    }
    return status;
}

GL_OP(reduce, tml_reduce_desc, reduce_supports, reduce_run)
