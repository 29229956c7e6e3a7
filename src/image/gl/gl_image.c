/* Images on OpenGL ES: pictures as inputs and outputs of draws. */
#include "image/gl/gl_image.h"

#include <stdio.h>

#include "image_gl_shaders.h"

/* The name in the shaders' PIXEL_U8 ... and OUT_U8 .... */
static const char *type_name(tml_type type)
{
    return type == TML_U8 ? "U8" : type == TML_U16 ? "U16" : type == TML_F16 ? "F16" : "F32";
}

/* The row stride in scalars. A single row may have any stride, and gets its width. */
static uint64_t stride_of(const image_view *view)
{
    return view->height > 1 ? view->row_stride : (uint64_t)view->width * view->channels;
}
/* The index after the view's last scalar. */
static uint64_t end_of(const image_view *view)
{
    return view->first + (view->height - 1) * stride_of(view) +
           (uint64_t)view->width * view->channels;
}

void gl_picture_of(tml_context *tml, const image_view *view, gl_picture *out)
{
    uint32_t components;
    *out = (gl_picture){
        .input = {"picture", gl_texture_of(tml, view->buffer)},
        .size = GL_UINT2("picture_size", view->width, view->height),
        .rows = GL_UINT2("picture_rows", (uint32_t)view->first, (uint32_t)stride_of(view)),
    };
    if (view->texture) { /* checked before */
        (void)gl_colours_check(tml, "", "", view->texture, view->width, view->height, &out->texture,
                               &components);
        out->input.texture = &out->texture;
        out->rows = (gl_uniform)GL_UINT2("picture_rows", view->x, view->y);
    }
    snprintf(out->defines, sizeof out->defines,
             "#define PIXEL_TYPE PIXEL_%s\n#define CHANNELS %u\n#define IS_SRGB %s\n"
             "#define VALUES %uu\n",
             view->texture ? "COLOURS" : type_name(view->type), view->channels,
             view->srgb ? "true" : "false", view->values);
}

tml_status gl_image_check_texture(tml_context *tml, const char *call, const char *field,
                                  const tml_image *image, image_view *view, uint32_t *components)
{
    gl_texture texture;
    if (!image->gl)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s.vulkan is for another engine; OpenGL reads %s.gl", call, field,
                         field);
    view->texture = image->gl;
    return gl_colours_check(tml, call, field, image->gl, image->width, image->height, &texture,
                            components);
}

tml_status gl_image_check(tml_context *tml, const char *call, const char *field,
                          const image_view *view)
{
    uint64_t end = end_of(view);
    if (end <= GL_IMAGE_SCALARS_MAX)
        return TML_OK;
    return tml_error(
        tml, TML_ERROR_UNSUPPORTED,
        "%s: %s ends with scalar %llu of its buffer, on OpenGL ES it may be the 2^31st "
        "at most; use parts of it, in buffers of their own",
        call, field, (unsigned long long)end);
}

/* ---- writing --------------------------------------------------------------------------------- */

bool gl_image_words_are_whole(const image_view *out)
{
    uint64_t each = 4 / tml_type_size(out->type), channels = out->channels;
    return each % channels == 0 && out->first % channels == 0 && stride_of(out) % channels == 0;
}

/* Which words have bytes outside the picture. A draw writes whole words, so these words are copied
 * before. */
typedef enum old_words { OLD_NONE, OLD_ENDS, OLD_ALL } old_words;

static old_words old_words_of(const image_view *out)
{
    uint64_t each = 4 / tml_type_size(out->type), row = (uint64_t)out->width * out->channels;
    if (stride_of(out) != row)
        return out->first % each || row % each || stride_of(out) % each ? OLD_ALL : OLD_NONE;
    return out->first % each || end_of(out) % each ? OLD_ENDS : OLD_NONE;
}

static tml_status copy_old(tml_context *tml, const gl_texture *target, old_words which,
                           uint64_t first, uint64_t last, const gl_texture **out)
{
    uint64_t count = which == OLD_ALL ? last - first + 1 : 2;
    if (which == OLD_NONE)
        return TML_OK;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, count, out);
    TML_THEN(status, gl_copy(tml, *out, 0, target, first, which == OLD_ALL ? count : 1));
    if (status == TML_OK && which == OLD_ENDS)
        status = gl_copy(tml, *out, 1, target, last, 1);
    return status;
}

tml_status gl_image_write(tml_context *tml, const image_view *out, const gl_draw_info *info)
{
    static const char *const olds[] = {"", "#define OLD_ENDS\n", "#define OLD_ALL\n"};
    const gl_texture *target = gl_texture_of(tml, out->buffer), *old = NULL;
    uint64_t each = 4 / tml_type_size(out->type);
    uint64_t first = out->first / each, last = (end_of(out) - 1) / each;
    old_words which = old_words_of(out);
    tml_status status = copy_old(tml, target, which, first, last, &old);
    if (status != TML_OK)
        return status;
    char defines[4 * GL_IMAGE_DEFINES];
    snprintf(defines, sizeof defines,
             "%s%s%s#define TO_WORDS\n#define OUT_TYPE OUT_%s\n#define OUT_CHANNELS %u\n"
             "#define OUT_SRGB %s\n#define OUT_ALPHA %uu\n",
             info->defines ? info->defines : "", olds[which],
             gl_image_words_are_whole(out) ? "#define WHOLE_PIXELS\n" : "", type_name(out->type),
             out->channels, out->srgb ? "true" : "false",
             out->channels % 2 == 0 ? out->channels - 1 : 4);
    gl_draw_info draw = *info;
    draw.defines = defines;
    gl_input *input = draw.inputs;
    while (input->name)
        input++;
    *input = (gl_input){"old", old};
    gl_uniform *uniform = draw.uniforms;
    while (uniform->name)
        uniform++;
    *uniform++ = (gl_uniform)GL_UINT2("out_words", (uint32_t)first, (uint32_t)last);
    *uniform++ = (gl_uniform)GL_UINT("out_first", (uint32_t)out->first);
    *uniform++ = gl_divisor("out_stride", stride_of(out));
    *uniform = (gl_uniform)GL_UINT2("out_size", out->width * out->channels, out->height);
    draw.targets[0] = target;
    draw.first = first;
    draw.count = last - first + 1;
    status = gl_draw(tml, &draw);
    gl_release(tml, old);
    return status;
}

tml_status gl_image_write_pixels(tml_context *tml, const image_view *out, const gl_texture *pixels)
{
    return gl_image_write(tml, out,
                          &(gl_draw_info){.shader = &gl_shader_image_words,
                                          .inputs = {{"pixels", pixels}},
                                          .uniforms = {GL_UINT("width", out->width)}});
}
