/* Images on OpenGL ES: pictures as inputs and outputs of draws. */
#ifndef TML_GL_IMAGE_H
#define TML_GL_IMAGE_H

#include "gl/gl_parts.h"
#include "image/image_internal.h"

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

/* Most scalars up to a picture's end. Below it differences of scalars' and fragments' numbers fit a
 * signed integer, and divide() is exact. */
#define GL_IMAGE_SCALARS_MAX ((uint64_t)1 << 31)

enum { GL_IMAGE_DEFINES = 128 };

/* A picture as a draw's input. */
typedef struct gl_picture {
    char defines[GL_IMAGE_DEFINES];
    gl_texture texture;    /* the caller's colours, if the picture is there */
    gl_input input;        /* "picture" */
    gl_uniform size, rows; /* "picture_size", "picture_rows" */
} gl_picture;

void gl_picture_of(tml_context *tml, const image_view *view, gl_picture *out);

/* UNSUPPORTED, with a message, for a picture that ends past GL_IMAGE_SCALARS_MAX. */
tml_status gl_image_check(tml_context *tml, const char *call, const char *field,
                          const image_view *view);

/* Draws the words of a picture. info has the shader that makes pixels
 * (shaders/gl_image_words.glsl), its inputs and uniforms; the rest is added. Other bytes of these
 * words keep their values. */
tml_status gl_image_write(tml_context *tml, const image_view *out, const gl_draw_info *info);
/* Does every word of the picture hold whole pixels? If not, a draw of words computes pixels more
 * than once, and it is better to draw pixels to quads first. */
bool gl_image_words_are_whole(const image_view *out);
/* gl_image_write from pixels as quads of floats, one quad a pixel, row after row. */
tml_status gl_image_write_pixels(tml_context *tml, const image_view *out, const gl_texture *pixels);

#endif
