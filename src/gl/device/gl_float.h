/* The float tier: the engine on OpenGL ES without integer textures, with the paths float,
 * float_packed and packed.
 *
 * A word of a buffer is a texel: four bytes of RGBA8, which hold any bits. If textures can hold
 * floats, a word of f32 or its vectors is an RGBA32F texel with the value in x. Positions and
 * counts are floats, exact to 2^24. So no buffer has more words and no stream more elements than
 * that, and larger counts are refused.
 *
 * Kernels may read f16, f32 and integers of up to 16 bits; their integers are exact within 2^24. A
 * kernel that uses features of GLSL ES 3.00 which GLSL ES 1.00 lacks does not compile: UNSUPPORTED.
 * Subnormals depend on the device. */
#ifndef TML_GL_FLOAT_H
#define TML_GL_FLOAT_H

#include "gl/device/gl_device.h"

/* The largest count, and the most elements and words. */
enum { GL_FLOAT_MAX = 1 << 24 };

/* True in the whole library. The package for JavaScript has a part without the tier, where it is
 * false. */
extern const bool gl_has_floats;

static inline bool gl_is_float(const gl_device *d)
{
    return gl_has_floats && d->path > TML_GL_PATH_INTEGER;
}

/* The part of gl_open for a path of the tier. */
tml_status gl_float_open(tml_context *tml);

/* gl_float_version: the first lines of a shader on a path of the tier. gl_float_is_version: does
 * text consist of these lines? */
const char *gl_float_version(const gl_device *d, tml_gl_path path);
bool gl_float_is_version(const char *text);

/* The rest of the vertex shader: a triangle that covers the target, from attribute 0. */
extern const char gl_float_vertex[];
/* Creates the buffer with the triangle's corners, and sets attribute 0. */
GLuint gl_float_corners(gl_device *d);
/* Sets attribute 0 again, for draws in a caller-owned context without vertex array objects. */
void gl_float_attributes(gl_device *d);
/* Sets the uniform vec4 SAMPLER_shape for the program's sampler s. */
void gl_float_set_shape(const gl_device *d, const gl_program *program, uint32_t s,
                        const gl_texture *texture);

/* The format of a buffer of this type, and transfers of its words. */
gl_format gl_float_format(const gl_device *d, tml_type type);
/* The format of temporaries of floats: RGBA32F if possible. Integers are stored in bytes. */
gl_format gl_float_values(const gl_device *d);
tml_status gl_float_read_words(tml_context *tml, const gl_texture *texture, uint64_t first,
                               uint64_t count, uint32_t *out);
/* Writes a rectangle (x, y, width, height) for gl_write_words. The texture must be bound. */
void gl_float_write_rectangle(const gl_functions *fn, const gl_texture *texture,
                              const uint32_t r[4], const uint8_t *in);

/* Does the kernel compile, and does the tier support its inputs and parameters? If not,
 * tml_last_error gives the reason. shader, defines, target: those of the draw. */
bool gl_float_kernel_supported(tml_context *tml, const gl_shader *shader, const char *defines,
                               gl_format target, const gl_kernel_use *use);
/* Is count within the range of the tier's numbers? If not, tml_last_error gives the reason. */
bool gl_float_count_supported(tml_context *tml, const char *what, uint64_t count);

#endif
