/* tml_reduce on the float tier: each step reduces 16 values to one. Floats are added as floats.
 * Integers are added as 64-bit numbers in eight bytes. Minima and maxima are found by keys of four
 * bytes. The latter two are exact for every value. */
#include "gl/device/gl_float.h"

#include <stdio.h>

#include "gl_float_shaders.h"

enum { FAN = 16 };

typedef struct fold_way {
    const gl_shader *step;
    gl_format format; /* of the values between steps */
    uint64_t each;    /* its texels per value */
    char defines[96]; /* of the steps; the first one has "#define FIRST\n" before them */
    char folded[128]; /* defines of the last draw */
} fold_way;

static bool is_extreme(tml_fold fold)
{
    return fold == TML_FOLD_MIN || fold == TML_FOLD_MAX;
}

static fold_way way_of(tml_context *tml, const tml_reduce_desc *desc, tml_reduce_result result)
{
    tml_type in = tml_slot_of(tml, desc->in)->type, out = tml_slot_of(tml, result.out)->type;
    bool is_largest = result.fold == TML_FOLD_MAX;
    fold_way way = {
        .step = &gl_shader_float_sum, .format = gl_float_values(gl_device_of(tml)), .each = 1};
    snprintf(way.defines, sizeof way.defines, "#define ELEMENT %u\n%s", (unsigned)in,
             is_largest ? "#define LARGEST\n" : "");
    if (is_extreme(result.fold)) {
        way.step = &gl_shader_float_best;
        way.format = GL_FORMAT_BYTES;
        snprintf(way.folded, sizeof way.folded,
                 "#define BEST\n#define ELEMENT %u\n#define LARGEST %d\n", (unsigned)in,
                 is_largest);
        return way;
    }
    bool is_whole = !tml_type_is_float(in);
    if (is_whole) {
        way.step = &gl_shader_float_whole;
        way.format = GL_FORMAT_BYTES;
        way.each = 2;
    }
    snprintf(way.folded, sizeof way.folded, "%s#define IS_SIGNED %d\n%s%s",
             is_whole ? "#define WHOLE\n" : "", tml_type_is_signed(in),
             result.fold == TML_FOLD_MEAN ? "#define MEAN\n" : "",
             out == TML_F64 ? "#define TO_DOUBLE\n" : "");
    return way;
}

static bool float_reduce_supports(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_type in = tml_slot_of(tml, desc->in)->type;
    bool is_supported = tml_type_components(in) == 1 && tml_type_size(in) <= 4;
    for (uint32_t k = 0; k < tml_reduce_results(desc); k++) {
        tml_fold fold = desc->folds[k].fold;
        is_supported &= fold != TML_FOLD_ARGMIN && fold != TML_FOLD_ARGMAX;
    }
    if (!is_supported) {
        (void)tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "tml_reduce: path %s does sum, mean, minimum and maximum of scalars of up to "
            "4 bytes; use the integer path or another engine",
            tml_gl_path_name(gl_device_of(tml)->path));
        return false;
    }
    return gl_float_count_supported(tml, "tml_reduce: length", desc->length.count);
}

/* Draws steps until one value is left. */
static tml_status fold_steps(tml_context *tml, const tml_reduce_desc *desc, const fold_way *way,
                             const gl_texture **out)
{
    const gl_texture *from = gl_texture_of(tml, desc->in);
    char first[128];
    snprintf(first, sizeof first, "#define FIRST\n%s", way->defines);
    uint64_t count = desc->length.count;
    bool is_first = true;
    do {
        uint64_t next = TML_MAX_OF(TML_CEIL_DIV(count, FAN), 1u);
        tml_status status = gl_temporary(tml, way->format, next * way->each, out);
        TML_THEN(status, gl_draw(tml, &(gl_draw_info){
                                          .shader = way->step,
                                          .defines = is_first ? first : way->defines,
                                          .length = is_first ? &desc->length : NULL,
                                          .inputs = {{"values", from}},
                                          .uniforms = {GL_FLOAT1("count", (float)count)},
                                          .targets = {*out},
                                          .count = next * way->each,
                                      }));
        if (status != TML_OK)
            return status;
        if (!is_first)
            gl_release(tml, from);
        from = *out;
        is_first = false;
        count = next;
    } while (count > 1);
    return TML_OK;
}

static tml_status reduce_one(tml_context *tml, const tml_reduce_desc *desc,
                             tml_reduce_result result)
{
    fold_way way = way_of(tml, desc, result);
    const gl_texture *folded;
    tml_status status = fold_steps(tml, desc, &way, &folded);
    if (status != TML_OK)
        return status;
    const tml_slot *out = tml_slot_of(tml, result.out);
    bool in_place = out->element_size < 4;
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_float_folded,
                 .defines = way.folded,
                 .length = &desc->length,
                 .inputs = {{"folded", folded}, {"old", in_place ? gl_slot_texture(out) : NULL}},
                 .targets = {gl_slot_texture(out)},
                 .count = gl_words(1, out->element_size),
                 .in_place = in_place,
             });
}

static tml_status float_reduce_run(tml_context *tml, const tml_reduce_desc *desc)
{
    tml_status status = TML_OK;
    for (uint32_t k = 0; k < tml_reduce_results(desc) && !status; k++)
        status = reduce_one(tml, desc, desc->folds[k]);
    return status;
}

GL_OP(float_reduce, tml_reduce_desc, float_reduce_supports, float_reduce_run)
