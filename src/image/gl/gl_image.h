/* Images on OpenGL ES: pictures as inputs and outputs of draws. */
#ifndef TML_GL_IMAGE_H
#define TML_GL_IMAGE_H

#include "gl/gl_parts.h"
#include "image/image_internal.h"

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

/* The most scalars before a picture's end. Up to here, differences of the numbers of scalars and
 * fragments fit a signed integer, and divide() is exact. */
#define GL_IMAGE_SCALARS_MAX ((uint64_t)1 << 31)

enum { GL_IMAGE_DEFINES = 128 };

/* A picture as a draw's input. */
typedef struct gl_picture {
    char defines[GL_IMAGE_DEFINES];
    gl_texture texture;    /* the caller's texture, if the picture is one */
    gl_input input;        /* "picture" */
    gl_uniform size, rows; /* "picture_size", "picture_rows" */
} gl_picture;

void gl_picture_of(tml_context *tml, const image_view *view, gl_picture *out);

/* Refuses a picture that ends after GL_IMAGE_SCALARS_MAX: UNSUPPORTED, with a message. */
tml_status gl_image_check(tml_context *tml, const char *call, const char *field,
                          const image_view *view);

/* Draws the words of a picture. Bytes of these words outside the picture are preserved.
 * info  the shader that makes pixels (shaders/gl_image_words.glsl), its inputs and uniforms; this
 *       call adds the rest */
tml_status gl_image_write(tml_context *tml, const image_view *out, const gl_draw_info *info);
/* Returns whether each word of the picture holds whole pixels. If not, a draw of words would
 * compute some pixels repeatedly: pixels are then better drawn to quads first. */
bool gl_image_words_are_whole(const image_view *out);
/* As gl_image_write, from pixels as quads of floats: one quad per pixel, row by row. */
tml_status gl_image_write_pixels(tml_context *tml, const image_view *out, const gl_texture *pixels);

#endif
