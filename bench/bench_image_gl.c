/* A benchmark's picture as a texture of an OpenGL ES context, and the driver's mip chain of it. */
#include "bench_image.h"

#include <stdlib.h>

#include "core/core_internal.h"

#ifdef TML_GL
#    include "gl/device/gl_device.h"

#    include "kernels/kernel.h"

#    include "kernels/kernel_end.h"

struct bench_drawn {
    tml_context *tml;
    GLuint texture, framebuffer;
    uint32_t levels;
    GLenum type;
    __typeof__(&glGenerateMipmap) generate;
};

tml_status bench_drawn_create(tml_context *tml, const void *pixels, const bench_image_desc *desc,
                              bench_drawn **out)
{
    const GLsizei width = (GLsizei)desc->width, height = (GLsizei)desc->height;
    gl_device *device = gl_device_of(tml);
    const gl_functions *fn = &device->fn;
    bench_drawn *d = *out = calloc(1, sizeof *d);
    if (!d)
        return TML_ERROR_OUT_OF_MEMORY;
    d->tml = tml;
    d->levels = tml_mip_level(desc->width, desc->height, 0, NULL, NULL, NULL);
    d->type = desc->type == TML_F16 ? GL_HALF_FLOAT : GL_UNSIGNED_BYTE;
    d->generate = (__typeof__(d->generate))egl_get_proc_address(&device->egl, "glGenerateMipmap");
    if (device->path != TML_GL_PATH_INTEGER || !d->generate)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "a driver's mip chain needs OpenGL ES 3.0");
    tml_status status = gl_enter(tml);
    if (status != TML_OK)
        return status;
    fn->GenTextures(1, &d->texture);
    fn->GenFramebuffers(1, &d->framebuffer);
    fn->ActiveTexture(GL_TEXTURE0);
    fn->BindTexture(GL_TEXTURE_2D, d->texture);
    fn->TexStorage2D(GL_TEXTURE_2D, (GLsizei)d->levels,
                     desc->type == TML_F16 ? GL_RGBA16F : GL_RGBA8, width, height);
    fn->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, d->type, pixels);
    fn->BindTexture(GL_TEXTURE_2D, 0);
    status = gl_errors_check(tml, "a driver's mip chain");
    gl_leave(tml);
    return status;
}

tml_status bench_drawn_mips(bench_drawn *d)
{
    const gl_functions *fn = &gl_device_of(d->tml)->fn;
    tml_status status = gl_enter(d->tml);
    if (status != TML_OK)
        return status;
    fn->ActiveTexture(GL_TEXTURE0);
    fn->BindTexture(GL_TEXTURE_2D, d->texture);
    d->generate(GL_TEXTURE_2D);
    fn->BindTexture(GL_TEXTURE_2D, 0);
    gl_leave(d->tml);
    return TML_OK;
}

tml_status bench_drawn_last(bench_drawn *d, tml_buffer out)
{
    const gl_functions *fn = &gl_device_of(d->tml)->fn;
    float floats[4];
    uint16_t texel[4];
    tml_status status = gl_enter(d->tml);
    if (status != TML_OK)
        return status;
    fn->BindFramebuffer(GL_FRAMEBUFFER, d->framebuffer);
    fn->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, d->texture,
                             (GLint)d->levels - 1);
    bool is_half = d->type == GL_HALF_FLOAT;
    fn->ReadPixels(0, 0, 1, 1, GL_RGBA, is_half ? GL_FLOAT : d->type,
                   is_half ? (void *)floats : texel);
    fn->BindFramebuffer(GL_FRAMEBUFFER, 0);
    status = gl_errors_check(d->tml, "a driver's mip chain");
    gl_leave(d->tml);
    for (int i = 0; i < 4 && is_half; i++)
        texel[i] = (uint16_t)tml_float_to_half(floats[i]);
    return status ? status : tml_buffer_write(d->tml, out, 0, 4, texel);
}

void bench_drawn_destroy(bench_drawn *d)
{
    if (d && gl_enter(d->tml) == TML_OK) {
        const gl_functions *fn = &gl_device_of(d->tml)->fn;
        fn->DeleteFramebuffers(1, &d->framebuffer);
        fn->DeleteTextures(1, &d->texture);
        gl_leave(d->tml);
    }
    free(d);
}
#else
tml_status bench_drawn_create(tml_context *tml, const void *pixels, const bench_image_desc *desc,
                              bench_drawn **out)
{
    (void)pixels, (void)desc, (void)out;
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "this program is without OpenGL ES");
}
tml_status bench_drawn_mips(bench_drawn *d)
{
    (void)d;
    return TML_ERROR_UNSUPPORTED;
}
tml_status bench_drawn_last(bench_drawn *d, tml_buffer out)
{
    (void)d, (void)out;
    return TML_ERROR_UNSUPPORTED;
}
void bench_drawn_destroy(bench_drawn *d)
{
    (void)d;
}
#endif
