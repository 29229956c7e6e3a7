/* Programs: a shader's text, its variant's defines and a user's kernel, compiled at first use and kept.
 * They are found by what they were made from. */
#include "gl/gl_device.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gl/gl_float.h"
#include "kernels/kernel_glue.h"

/* ---- compiling ------------------------------------------------------------------------------- */

/* The length of a number at text, without suffix; 0: none begins here. */
static size_t number_length(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    size_t length = digits + (text[digits] == '.');
    length += strspn(text + length, "0123456789");
    if (length == 0 || (length == 1 && text[0] == '.'))
        return 0;
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        size_t exponent = strspn(text + length + 1 + sign, "0123456789");
        length += exponent ? 1 + sign + exponent : 0;
    }
    return length;
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

/* Copies a shader without what GLSL ES 1.00 does not know: suffixes of numbers (1.0f, 1u), and lines
 * that go on in the next. */
static char *copy_plain(const char *text, char *out)
{
    while (*text) {
        if (text[0] == '\\' && text[1] == '\n') {
            text += 2;
            continue;
        }
        size_t number = number_length(text), word = number > 0 ? 0 : word_length(text);
        size_t length = TML_MAX_OF(number + word, 1u);
        memcpy(out, text, length);
        text += length;
        out += length;
        text += number > 0 && *text && strchr("fFuU", *text);
    }
    *out = '\0';
    return out;
}

static tml_status set_source(tml_context *tml, GLuint shader, const char *const *texts, int count)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    if (!gl_float_is_version(texts[0])) {
        fn->ShaderSource(shader, count, texts, NULL);
        return TML_OK;
    }
    size_t size = 1;
    for (int i = 0; i < count; i++)
        size += strlen(texts[i]);
    char *plain = tml_alloc(tml, size);
    if (!plain)
        return tml_error(tml, TML_OUT_OF_MEMORY, "no memory for the text of a shader");
    char *end = plain;
    for (int i = 0; i < count; i++)
        end = copy_plain(texts[i], end);
    const char *whole = plain;
    fn->ShaderSource(shader, 1, &whole, NULL);
    tml_free(tml, plain, size);
    return TML_OK;
}

tml_status gl_compile(tml_context *tml, GLenum stage, const char *name, const char *const *texts,
                      int count, GLuint *out)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    GLuint shader = fn->CreateShader(stage);
    tml_status status = set_source(tml, shader, texts, count);
    if (status != TML_OK) {
        fn->DeleteShader(shader);
        return status;
    }
    fn->CompileShader(shader);
    GLint compiled = GL_FALSE;
    fn->GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (!compiled) {
        char log[512] = "";
        fn->GetShaderInfoLog(shader, sizeof log, NULL, log);
        fn->DeleteShader(shader);
        return tml_error(tml, TML_UNSUPPORTED, "the driver does not compile shader %s: %s", name,
                         log);
    }
    *out = shader;
    return TML_OK;
}

/* Draws everything, or nothing where the first texel of tml_gate is 0. */
static const char gated_vertex_text[] =
    "uniform highp usampler2D tml_gate;\n"
    "void main()\n"
    "{\n"
    "    bool open = texelFetch(tml_gate, ivec2(0, 0), 0).x != 0u;\n"
    "    gl_Position = open ? vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, "
    "0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);\n"
    "}\n";

/* The vertex shader of a draw. */
static tml_status vertex_for(tml_context *tml, const gl_draw_info *info, GLuint *out)
{
    *out = gl_device_of(tml)->vertex_shader;
    const char *texts[] = {"#version 300 es\n", gated_vertex_text};
    return info->gate ? gl_compile(tml, GL_VERTEX_SHADER, "vertex", texts, 2, out) : TML_OK;
}

static tml_status link(tml_context *tml, const char *name, GLuint vertex, GLuint fragment,
                       GLuint *out)
{
    const gl_device *d = gl_device_of(tml);
    const gl_functions *fn = &d->fn;
    GLuint program = fn->CreateProgram();
    fn->AttachShader(program, vertex);
    fn->AttachShader(program, fragment);
    if (gl_is_float(d))
        fn->BindAttribLocation(program, 0, "corner");
    fn->LinkProgram(program);
    GLint linked = GL_FALSE;
    fn->GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) {
        char log[512] = "";
        fn->GetProgramInfoLog(program, sizeof log, NULL, log);
        fn->DeleteProgram(program);
        return tml_error(tml, TML_UNSUPPORTED, "the driver does not link shader %s: %s", name, log);
    }
    *out = program;
    return TML_OK;
}

/* The text behind head: the shader's own, or with the kernel joined to it. *owned: to be freed, of
 * *size bytes. */
static tml_status complete_text(tml_context *tml, const gl_draw_info *info, const char **out,
                                char **owned, size_t *size)
{
    *owned = NULL;
    *out = info->shader->text;
    if (!info->kernel.kernel)
        return TML_OK;
    const kernel_place nowhere = {NULL, 0};
    const char *array = gl_is_float(gl_device_of(tml)) ? "kernel_array" : "kernel_in";
    *size = kernel_glue(info->kernel.kernel, "", array, nowhere, info->shader->text, NULL, 0) + 1;
    *owned = tml_alloc(tml, *size);
    if (!*owned)
        return tml_error(tml, TML_OUT_OF_MEMORY, "no memory for the text of shader %s",
                         info->shader->name);
    kernel_glue(info->kernel.kernel, "", array, nowhere, info->shader->text, *owned, *size);
    *out = *owned;
    return TML_OK;
}

static tml_status build(tml_context *tml, const gl_draw_info *info, const char *head, GLuint *out)
{
    const char *text;
    char *owned;
    size_t size = 0;
    tml_status status = complete_text(tml, info, &text, &owned, &size);
    if (status != TML_OK)
        return status;
    const char *texts[] = {head, text};
    GLuint fragment = 0;
    const char *name = info->kernel.kernel ? info->kernel.kernel->name : info->shader->name;
    status = gl_compile(tml, GL_FRAGMENT_SHADER, name, texts, 2, &fragment);
    tml_free(tml, owned, size);
    if (status != TML_OK)
        return status;
    GLuint vertex = 0;
    status = vertex_for(tml, info, &vertex);
    if (status == TML_OK)
        status = link(tml, name, vertex, fragment, out);
    const gl_device *d = gl_device_of(tml);
    if (vertex != d->vertex_shader)
        d->fn.DeleteShader(vertex); /* 0: nothing */
    d->fn.DeleteShader(fragment);
    return status;
}

/* ---- uniforms -------------------------------------------------------------------------------- */

static bool is_sampler_type(GLenum type)
{
    return type == GL_UNSIGNED_INT_SAMPLER_2D || type == GL_SAMPLER_2D || type == GL_INT_SAMPLER_2D;
}

/* Lists the program's uniforms, samplers first, each with a texture unit of its own. */
static tml_status list_uniforms(tml_context *tml, gl_program *program, GLint count)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    for (int samplers = 1; samplers >= 0; samplers--)
        for (GLint i = 0; i < count; i++) {
            gl_program_uniform u = {.unit = -1};
            GLint elements;
            GLenum type;
            fn->GetActiveUniform(program->name, (GLuint)i, sizeof u.name, NULL, &elements, &type,
                                 u.name);
            if (is_sampler_type(type) != (bool)samplers)
                continue;
            u.location = fn->GetUniformLocation(program->name, u.name);
            if (samplers) {
                u.unit = (int)program->sampler_count++;
                fn->Uniform1i(u.location, u.unit);
            }
            program->uniforms[program->uniform_count++] = u;
        }
    if (program->sampler_count > GL_UNITS)
        return tml_error(tml, TML_INTERNAL, "shader %s has more than %d samplers",
                         program->shader->name, GL_UNITS);
    return TML_OK;
}

gl_program_uniform *gl_program_uniform_of(gl_program *program, const char *name, bool is_sampler)
{
    gl_program_uniform *begin = program->uniforms + (is_sampler ? 0 : program->sampler_count);
    gl_program_uniform *end =
        program->uniforms + (is_sampler ? program->sampler_count : program->uniform_count);
    for (gl_program_uniform *u = begin; u < end; u++)
        if (u->literal == name)
            return u;
    for (gl_program_uniform *u = begin; u < end; u++)
        if (strcmp(u->name, name) == 0) {
            u->literal = name;
            return u;
        }
    return NULL;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

/* #version and all that makes a variant of the shader. Returns its length as snprintf does. */
static int write_head(tml_context *tml, const gl_draw_info *info, bool any_rows, char *out,
                      size_t size)
{
    const gl_device *d = gl_device_of(tml);
    const char *version = gl_is_float(d) ? gl_float_version(d, d->path) : "#version 300 es\n";
    char rows[40] = "", types[4 * 32] = "";
    if (gl_is_float(d))
        snprintf(rows, sizeof rows, "#define TML_TARGET_FLOATS %d\n",
                 info->targets[0]->format == GL_FORMAT_FLOATS);
    else if (!any_rows)
        snprintf(rows, sizeof rows, "#define TML_ROW_LOG2 %uu\n", (unsigned)gl_row_log2(tml));
    if (info->kernel.kernel) {
        size_t used = 0;
        for (uint32_t a = 0; a < TML_MAX_INPUTS; a++) {
            const tml_slot *slot = tml_slot_of(tml, info->kernel.in[a]);
            used +=
                (size_t)snprintf(types + used, sizeof types - used, "#define KERNEL_TYPE_%u %uu\n",
                                 (unsigned)a, slot ? (unsigned)(slot->type & 0xffu) : 0u);
        }
    }
    return snprintf(out, size, "%s%s%s%s%s", version, rows, types,
                    info->gate ? "#define TML_GATED\n" : "", info->defines ? info->defines : "");
}

tml_status gl_program_find(tml_context *tml, const gl_draw_info *info, bool any_rows,
                           gl_program **out)
{
    gl_device *d = gl_device_of(tml);
    char head[1024];
    int length = write_head(tml, info, any_rows, head, sizeof head);
    if (length < 0 || (size_t)length >= sizeof head)
        return tml_error(tml, TML_INTERNAL, "shader %s: its defines are too long",
                         info->shader->name);
    uint64_t hash = hash_of(head);
    for (gl_program *p = d->programs; p; p = p->next)
        if (p->hash == hash && p->shader == info->shader && strcmp(p->head, head) == 0 &&
            (p->kernel == info->kernel.kernel ||
             (p->kernel && info->kernel.kernel &&
              kernel_is_same(info->kernel.kernel, p->kernel->glsl, p->kernel->library)))) {
            *out = p;
            return TML_OK;
        }

    GLuint name = 0;
    tml_status status = build(tml, info, head, &name);
    if (status != TML_OK)
        return status;
    GLint count = 0;
    d->fn.GetProgramiv(name, GL_ACTIVE_UNIFORMS, &count);
    size_t list_at = TML_ALIGN_UP(sizeof(gl_program) + (size_t)length + 1, 16u);
    size_t size = list_at + (size_t)count * sizeof(gl_program_uniform);
    gl_program *program = tml_alloc(tml, size);
    if (!program) {
        d->fn.DeleteProgram(name);
        return tml_error(tml, TML_OUT_OF_MEMORY, "no memory for shader %s", info->shader->name);
    }
    *program = (gl_program){.size = size,
                            .shader = info->shader,
                            .kernel = info->kernel.kernel,
                            .hash = hash,
                            .name = name,
                            .uniforms = (void *)((char *)program + list_at)};
    memcpy(program->head, head, (size_t)length + 1);
    d->fn.UseProgram(name);
    status = list_uniforms(tml, program, count);
    program->next = d->programs;
    d->programs = program;
    *out = program;
    return status;
}

void gl_programs_close(gl_device *d)
{
    while (d->programs) {
        gl_program *program = d->programs;
        d->programs = program->next;
        if (d->depth > 0)
            d->fn.DeleteProgram(program->name);
        tml_free(d->tml, program, program->size);
    }
}
