/* The float tier (gl_float.h): opening, its part of draws, and transfers. */
#include "gl/device/gl_float.h"

#include <stdio.h>
#include <string.h>

#include "gl_device_shaders.h"
#include "gpu/kernel_glue.h"

/* ---- opening --------------------------------------------------------------------------------- */

tml_status gl_float_open(tml_context *tml)
{
    gl_device *d = gl_device_of(tml);
    const tml_engine *const *engine = tml->engines;
    while (*engine && (*engine)->part != PART_GL_FLOAT)
        engine++;
    tml->engine = *engine;
    d->texture_max = TML_MIN_OF(d->texture_max, (uint32_t)GL_FLOAT_MAX >> d->row_log2);
    if (d->is_es3)
        d->fn.GenVertexArrays(1, &d->vertex_array);
    gl_state_set(d);
    d->corners = gl_float_corners(d);
    const char *texts[] = {gl_float_version(d, d->path), gl_float_vertex};
    tml_status status = gl_compile(tml, GL_VERTEX_SHADER, "vertex", texts, 2, &d->vertex_shader);
    TML_THEN(status, gl_texture_create(tml, "tml_open", GL_FORMAT_BYTES, 1, 1, &d->nothing));
    return status;
}

/* ---- draws ----------------------------------------------------------------------------------- */

const char gl_float_vertex[] = "#ifdef TML_ES300\n"
                               "#define varying out\n"
                               "#endif\n"
                               "attribute vec2 corner;\n"
                               "uniform highp vec2 tml_size;\n"
                               "varying highp vec2 tml_at;\n"
                               "void main()\n"
                               "{\n"
                               "    tml_at = (corner * 0.5 + 0.5) * tml_size;\n"
                               "    gl_Position = vec4(corner, 0.0, 1.0);\n"
                               "}\n";

void gl_float_set_shape(const gl_device *d, const gl_program *program, uint32_t s,
                        const gl_texture *texture)
{
    char name[sizeof program->uniforms->name + 8];
    snprintf(name, sizeof name, "%s_shape", program->uniforms[s].name);
    const GLfloat shape[] = {(GLfloat)texture->width, 1.0f / (GLfloat)texture->width,
                             1.0f / (GLfloat)texture->height,
                             texture->format == GL_FORMAT_FLOATS ? 1.0f : 0.0f};
    for (uint32_t u = program->sampler_count; u < program->uniform_count; u++)
        if (strcmp(program->uniforms[u].name, name) == 0)
            d->fn.Uniform4fv(program->uniforms[u].location, 1, shape);
}

/* ---- transfers ------------------------------------------------------------------------------- */

/* Texels that are widened to four floats at a time. */
enum { PIECE = 1024 };

gl_format gl_float_values(const gl_device *d)
{
    return d->path == TML_GL_PATH_PACKED ? GL_FORMAT_BYTES : GL_FORMAT_FLOATS;
}

gl_format gl_float_format(const gl_device *d, tml_type type)
{
    return tml_type_scalar(type) == TML_F32 ? gl_float_values(d) : GL_FORMAT_BYTES;
}

static void read_floats(const gl_functions *fn, const uint32_t r[4], uint32_t *out)
{
    float texels[4 * PIECE];
    for (uint32_t y = 0; y < r[3]; y++)
        for (uint32_t x = 0; x < r[2]; x += PIECE) {
            uint32_t count = TML_MIN_OF(r[2] - x, (uint32_t)PIECE);
            fn->ReadPixels((GLint)(r[0] + x), (GLint)(r[1] + y), (GLsizei)count, 1, GL_RGBA,
                           GL_FLOAT, texels);
            for (uint32_t i = 0; i < count; i++)
                memcpy(out++, &texels[4 * i], sizeof *out);
        }
}

/* Packs floats into another texture, as bytes that can be read back. */
static tml_status pack_texture(tml_context *tml, const gl_texture *texture, uint64_t first,
                               uint64_t count, const gl_texture **out)
{
    tml_status status = gl_temporary(tml, GL_FORMAT_BYTES, count, out);
    return status == TML_OK ? gl_copy(tml, *out, 0, texture, first, count) : status;
}

tml_status gl_float_read_words(tml_context *tml, const gl_texture *texture, uint64_t first,
                               uint64_t count, uint32_t *out)
{
    gl_device *d = gl_device_of(tml);
    const gl_texture *bytes = NULL;
    tml_status status = TML_OK;
    if (texture->format == GL_FORMAT_FLOATS && d->path == TML_GL_PATH_FLOAT_PACKED) {
        status = pack_texture(tml, texture, first, count, &bytes);
        texture = bytes;
        first = 0;
    }
    GLuint framebuffer;
    TML_THEN(status, gl_texture_framebuffer(tml, texture, &framebuffer));
    if (status == TML_OK) {
        tml->counters.waits++;
        d->fn.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        gl_errors_note(d);
        uint32_t rectangles[3][4];
        int used = gl_rectangles(texture, first, count, rectangles);
        for (int i = 0; i < used; i++) {
            const uint32_t *r = rectangles[i];
            if (texture->format == GL_FORMAT_FLOATS)
                read_floats(&d->fn, r, out);
            else
                d->fn.ReadPixels((GLint)r[0], (GLint)r[1], (GLsizei)r[2], (GLsizei)r[3], GL_RGBA,
                                 GL_UNSIGNED_BYTE, out);
            out += (size_t)r[2] * r[3];
        }
        status = gl_errors_check(tml, "reading a buffer");
    }
    gl_release(tml, bytes);
    return status;
}

static void write_floats(const gl_functions *fn, const uint32_t r[4], const uint8_t *in)
{
    float texels[4 * PIECE] = {0};
    for (uint32_t y = 0; y < r[3]; y++)
        for (uint32_t x = 0; x < r[2]; x += PIECE) {
            uint32_t count = TML_MIN_OF(r[2] - x, (uint32_t)PIECE);
            for (uint32_t i = 0; i < count; i++, in += sizeof *texels)
                memcpy(&texels[4 * i], in, sizeof *texels);
            fn->TexSubImage2D(GL_TEXTURE_2D, 0, (GLint)(r[0] + x), (GLint)(r[1] + y),
                              (GLsizei)count, 1, GL_RGBA, GL_FLOAT, texels);
        }
}

void gl_float_write_rectangle(const gl_functions *fn, const gl_texture *texture,
                              const uint32_t r[4], const uint8_t *in)
{
    if (texture->format == GL_FORMAT_FLOATS)
        write_floats(fn, r, in);
    else
        fn->TexSubImage2D(GL_TEXTURE_2D, 0, (GLint)r[0], (GLint)r[1], (GLsizei)r[2], (GLsizei)r[3],
                          GL_RGBA, GL_UNSIGNED_BYTE, in);
}

/* ---- what the tier supports ------------------------------------------------------------------ */

bool gl_float_count_supported(tml_context *tml, const char *what, uint64_t count)
{
    if (count <= GL_FLOAT_MAX)
        return true;
    (void)tml_error(tml, TML_ERROR_UNSUPPORTED,
                    "%s: %llu, and path %s counts exactly to %d; use the integer path or another "
                    "engine",
                    what, (unsigned long long)count, tml_gl_path_name(gl_device_of(tml)->path),
                    GL_FLOAT_MAX);
    return false;
}

static bool inputs_supported(tml_context *tml, const gl_kernel_use *use)
{
    if (!gl_kernel_supported(tml, use->kernel)) {
        (void)tml_error(tml, TML_ERROR_UNSUPPORTED, "kernel %s uses numbers of 64 bits",
                        use->kernel->name);
        return false;
    }
    if (kernel_uses_words(use->kernel) || kernel_uses_uvec(use->kernel)) {
        (void)tml_error(tml, TML_ERROR_UNSUPPORTED,
                        "kernel %s has %s, which path %s has not; use the integer path or another "
                        "engine",
                        use->kernel->name,
                        kernel_uses_words(use->kernel) ? "a tml_words parameter"
                                                       : "vectors of unsigned integers",
                        tml_gl_path_name(gl_device_of(tml)->path));
        return false;
    }
    for (uint32_t a = 0; a < TML_MAX_INPUTS; a++) {
        const tml_slot *slot = tml_slot_of(tml, use->in[a]);
        if (slot && (slot->type == TML_U32 || slot->type == TML_I32)) {
            (void)tml_error(
                tml, TML_ERROR_UNSUPPORTED,
                "kernel %s: input %u is %s, of which path %s loses bits; use integers of "
                "16 bits or f32",
                use->kernel->name, (unsigned)a, tml_type_name(slot->type),
                tml_gl_path_name(gl_device_of(tml)->path));
            return false;
        }
    }
    for (uint32_t i = 0; i < 4 && use->params; i++)
        if (!gl_float_count_supported(tml, "params.u", use->params->u[i]))
            return false;
    return true;
}

bool gl_float_kernel_supported(tml_context *tml, const gl_shader *shader, const char *defines,
                               gl_format target_format, const gl_kernel_use *use)
{
    if (!inputs_supported(tml, use) || gl_enter(tml) != TML_OK)
        return false;
    const gl_texture target = {.format = target_format};
    gl_program *program;
    tml_status status = gl_program_find(
        tml,
        &(gl_draw_info){.shader = shader, .defines = defines, .kernel = *use, .targets = {&target}},
        false, &program);
    gl_leave(tml);
    return status == TML_OK;
}
