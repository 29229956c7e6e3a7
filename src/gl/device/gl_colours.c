/* Caller-owned textures from which a sampler2D fetches floats: which textures are accepted. */
#include "gl/device/gl_device.h"

/* Components of a sized internal format with float or normalised colours; 0 for any other
 * format. */
static uint32_t components_of(uint32_t format)
{
    switch (format) {
    case GL_R8:
    case GL_R16F:
    case GL_R32F:
        return 1;
    case GL_RG8:
    case GL_RG16F:
    case GL_RG32F:
        return 2;
    case GL_RGB8:
    case GL_RGB565:
    case GL_SRGB8:
    case GL_RGB16F:
    case GL_RGB32F:
    case GL_R11F_G11F_B10F:
    case GL_RGB9_E5:
        return 3;
    case 0: /* any of four */
    case GL_RGBA4:
    case GL_RGB5_A1:
    case GL_RGBA8:
    case GL_SRGB8_ALPHA8:
    case GL_RGB10_A2:
    case GL_RGBA16F:
    case GL_RGBA32F:
        return 4;
    default:
        return 0;
    }
}

tml_status gl_colours_check(tml_context *tml, const char *call, const char *field,
                            const tml_gl_image *image, uint32_t width, uint32_t height,
                            gl_texture *out, uint32_t *components)
{
    const gl_device *d = gl_device_of(tml);
    if (!image->texture)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s texture is 0, needs a TEXTURE_2D", call, field);
    *components = components_of(image->format);
    if (*components == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s format is 0x%x, needs the sized internal format of a texture "
                         "with float or normalised colours (GL_RGBA16F 0x881a, GL_RGBA32F, "
                         "GL_R11F_G11F_B10F, GL_RGB10_A2, GL_RGBA8, GL_SRGB8_ALPHA8, ...), or 0 "
                         "for any of these with four components",
                         call, field, image->format);
    if (width > d->texture_max || height > d->texture_max)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is %u x %u pixels, and textures of %s have at most %u a side",
                         call, field, width, height, tml->device.name, d->texture_max);
    *out = (gl_texture){.name = image->texture,
                        .format = GL_FORMAT_COLOURS,
                        .width = width,
                        .height = height,
                        .is_lent = true};
    return TML_OK;
}
