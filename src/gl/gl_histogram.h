/* Histograms on OpenGL ES of the elements that a shader reads from a stream. */
#ifndef TML_GL_HISTOGRAM_H
#define TML_GL_HISTOGRAM_H

#include "gl/device/gl_internal.h"

/* A histogram: bin b is component b % 4 of texel b / 16 of target b / 4 % 4. */
typedef struct gl_histogram {
    const gl_texture *targets[GL_TARGETS_MAX]; /* QUADS, temporaries */
} gl_histogram;

typedef struct gl_histogram_info {
    /* Gives shader, defines, length, inputs and uniforms; the shader is as histogram_count.frag. */
    gl_draw_info draw;
    uint32_t bins;
    uint32_t size; /* of an element in bytes, as the shader counts words: 1, 2 or 4 */
} gl_histogram_info;

tml_status gl_histogram_draw(tml_context *tml, const gl_histogram_info *info, gl_histogram *out);

#endif
