/* The float tier: what OpenGL ES does without integers, on the paths float, float_packed and packed.
 *
 * A buffer's word is a texel: four bytes of RGBA8, so that any bits travel unharmed; but where textures
 * hold floats, the words of f32 and its vectors are RGBA32F texels whose x is the value. Positions and
 * counts are whole floats, exact to 2^24: no buffer has more words or elements, and what could count
 * further is refused. Shaders are GLSL ES 1.00 (float_*.frag), draws those of gl_draw.
 *
 * Kernels see integers of up to 16 bits, and their results are exact within 2^24; one that uses more of
 * GLSL ES 3.00 than 1.00 has does not compile and is UNSUPPORTED. Float sums, minima and maxima treat
 * subnormals as the device does. */
#ifndef TML_GL_FLOAT_H
#define TML_GL_FLOAT_H

#include "gl/gl_device.h"

static inline bool gl_is_float(const gl_device *d)
{
    return d->path > TML_GL_INTEGER;
}

/* The first lines of a shader on a path of the tier (gl_float.c), and are these they? */
const char *gl_float_version(const gl_device *d, tml_gl_path path);
bool gl_float_is_version(const char *text);

/* The vertex shader behind them: a triangle over everything, from attribute 0. */
extern const char gl_float_vertex[];
/* Makes the buffer with its corners, and makes them attribute 0. */
GLuint gl_float_corners(gl_device *d);

#endif
