/* The float tier: what OpenGL ES does without integers, on the paths float, float_packed and packed.
 *
 * A buffer's word is a texel: four bytes of RGBA8, so that any bits travel unharmed; but where textures
 * hold floats, the words of f32 and its vectors are RGBA32F texels whose x is the value. Positions and
 * counts are whole floats, exact to 2^24: no buffer has more words, no stream more elements, and what
 * could count further is refused.
 *
 * Kernels read f16, f32 and integers of up to 16 bits, and their whole numbers are exact within 2^24; one
 * that uses more of GLSL ES 3.00 than 1.00 has does not compile and is UNSUPPORTED. Subnormals are
 * what the device makes of them. */
#ifndef TML_GL_FLOAT_H
#define TML_GL_FLOAT_H

#include "gl/device/gl_device.h"

/* The largest count and the most elements and words. */
enum { GL_FLOAT_MAX = 1 << 24 };

static inline bool gl_is_float(const gl_device *d)
{
    return d->path > TML_GL_PATH_INTEGER;
}

/* What gl_open does on a path of the tier. */
tml_status gl_float_open(tml_context *tml);

/* The first lines of a shader on a path of the tier, and are these they? */
const char *gl_float_version(const gl_device *d, tml_gl_path path);
bool gl_float_is_version(const char *text);

/* The vertex shader behind them: a triangle over everything, from attribute 0. */
extern const char gl_float_vertex[];
/* Makes the buffer with its corners, and makes them attribute 0. */
GLuint gl_float_corners(gl_device *d);
/* Makes them so again, for draws of a lent context without vertex arrays. */
void gl_float_attributes(gl_device *d);
/* Sets uniform vec4 SAMPLER_shape, of the program's sampler s. */
void gl_float_set_shape(const gl_device *d, const gl_program *program, uint32_t s,
                        const gl_texture *texture);

/* How a buffer of a type is stored, and moved. */
gl_format gl_float_format(const gl_device *d, tml_type type);
/* Numbers that are no buffer's: whole ones in bytes, others best in floats. */
gl_format gl_float_values(const gl_device *d);
tml_status gl_float_read_words(tml_context *tml, const gl_texture *texture, uint64_t first,
                               uint64_t count, uint32_t *out);
tml_status gl_float_write_words(tml_context *tml, const gl_texture *texture, uint64_t first,
                                uint64_t count, const void *in);

/* Says why not in tml_last_error: does the kernel compile, and are its inputs and parameters what the
 * tier takes? shader, defines, target: where it will be used. */
bool gl_float_kernel_supported(tml_context *tml, const gl_shader *shader, const char *defines,
                               gl_format target, const gl_kernel_use *use);
/* Is this many within the tier's numbers? Says why not. */
bool gl_float_count_supported(tml_context *tml, const char *what, uint64_t count);

#endif
