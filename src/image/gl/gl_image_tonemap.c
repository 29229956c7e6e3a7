/* tml_image_tonemap on OpenGL ES. If each word of the output holds whole pixels, and the output is
 * in another texture than the input, one draw makes the words. Otherwise a draw makes the pixels of
 * a band of rows, and a second draw makes their words, so that a pixel in several words is computed
 * once. */
#include "image/gl/gl_image.h"

#include <stdio.h>

#include "image_gl_shaders.h"

enum { BAND_PIXELS = 1 << 22 /* of 16 bytes each */ };

static bool image_tonemap_supports(tml_context *tml, const image_tonemap_plan *plan)
{
    return gl_image_check(tml, "tml_image_tonemap", "desc.in", &plan->in) == TML_OK &&
           gl_image_check(tml, "tml_image_tonemap", "desc.out", &plan->out) == TML_OK;
}

/* A view of rows [first, first + count). */
static image_view rows_of(const image_view *view, uint64_t first, uint64_t count)
{
    image_view rows = *view;
    rows.first += first * view->row_stride;
    rows.height = (uint32_t)count;
    return rows;
}

static gl_draw_info draw_of(tml_context *tml, const image_tonemap_plan *plan,
                            const gl_picture *picture, const char *defines)
{
    return (gl_draw_info){
        .shader = &gl_shader_image_tonemap,
        .defines = defines,
        .inputs = {picture->input, {"state", gl_texture_of(tml, plan->state)}},
        .uniforms = {picture->size, picture->rows, GL_FLOAT1("scale", plan->scale),
                     GL_FLOAT1("white", plan->white), gl_divisor("columns", plan->in.width)},
    };
}

static tml_status image_tonemap_run(tml_context *tml, const image_tonemap_plan *plan)
{
    bool is_direct =
        gl_image_words_are_whole(&plan->out) &&
        gl_texture_of(tml, plan->in.buffer)->name != gl_texture_of(tml, plan->out.buffer)->name;
    gl_picture picture;
    gl_picture_of(tml, &plan->in, &picture);
    char defines[2 * GL_IMAGE_DEFINES];
    snprintf(defines, sizeof defines, "%s#define TONE %uu\n%s", picture.defines, plan->tone,
             tml_buffer_is_none(plan->state) ? "" : "#define STATE\n");
    if (is_direct) {
        gl_draw_info info = draw_of(tml, plan, &picture, defines);
        return gl_image_write(tml, &plan->out, &info);
    }
    size_t length = strlen(defines);
    snprintf(defines + length, sizeof defines - length, "#define OUT_CHANNELS %u\n",
             plan->out.channels);
    uint64_t width = plan->in.width, height = plan->in.height;
    uint64_t rows = TML_MIN_OF(TML_MAX_OF(BAND_PIXELS / width, (uint64_t)1), height);
    const gl_texture *pixels;
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, width * rows, &pixels);
    for (uint64_t y = 0; y < height && status == TML_OK; y += rows) {
        uint64_t count = TML_MIN_OF(rows, height - y);
        image_view from = rows_of(&plan->in, y, count), to = rows_of(&plan->out, y, count);
        gl_picture_of(tml, &from, &picture);
        gl_draw_info info = draw_of(tml, plan, &picture, defines);
        info.targets[0] = pixels;
        info.count = width * count;
        status = gl_draw(tml, &info);
        TML_THEN(status, gl_image_write_pixels(tml, &to, pixels));
    }
    return status;
}

GL_OP(image_tonemap, image_tonemap_plan, image_tonemap_supports, image_tonemap_run)
