/* Programs: a shader's text, its variant's defines and a user's kernel. They are compiled at first
 * use, or created from another context's binary (gl_cache.c), and cached by these three. */
#include "core/call.h"
#include "gl/device/gl_device.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gl/device/gl_float.h"
#include "gpu/kernel_glue.h"

/* ---- compiling ------------------------------------------------------------------------------- */

/* The length of a number at text, without its suffix; 0 if text does not begin with a number. */
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

char *gl_copy_plain(const char *text, char *out)
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
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the text of a shader");
    char *end = plain;
    for (int i = 0; i < count; i++)
        end = gl_copy_plain(texts[i], end);
    const char *whole = plain;
    fn->ShaderSource(shader, 1, &whole, NULL);
    tml_free(tml, plain, size);
    return TML_OK;
}

/* Starts the compilation of a shader. Does not query the result. */
static tml_status start_shader(tml_context *tml, GLenum stage, const char *const *texts, int count,
                               GLuint *out)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    GLuint shader = fn->CreateShader(stage);
    tml_status status = set_source(tml, shader, texts, count);
    if (status != TML_OK) {
        fn->DeleteShader(shader);
        return status;
    }
    fn->CompileShader(shader);
    *out = shader;
    return TML_OK;
}

/* Queries the result of a compilation. */
static tml_status check_shader(tml_context *tml, GLuint shader, const char *name)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    GLint compiled = GL_FALSE;
    fn->GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (compiled)
        return TML_OK;
    char log[512] = "";
    fn->GetShaderInfoLog(shader, sizeof log, NULL, log);
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "the driver does not compile shader %s: %s", name,
                     log);
}

tml_status gl_compile(tml_context *tml, GLenum stage, const char *name, const char *const *texts,
                      int count, GLuint *out)
{
    *out = 0;
    tml_status status = start_shader(tml, stage, texts, count, out);
    TML_THEN(status, check_shader(tml, *out, name));
    if (status != TML_OK && *out) {
        gl_device_of(tml)->fn.DeleteShader(*out);
        *out = 0;
    }
    return status;
}

char *gl_shader_text(tml_context *tml, const gl_shader *shader, size_t *size)
{
    *size = 1;
    for (const char *const *piece = shader->pieces; *piece; piece++)
        *size += strlen(*piece);
    char *text = tml_alloc(tml, *size);
    if (!text) {
        (void)tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the text of shader %s",
                        shader->name);
        return NULL;
    }
    char *end = text;
    for (const char *const *piece = shader->pieces; *piece; piece++) {
        size_t length = strlen(*piece);
        memcpy(end, *piece, length);
        end += length;
    }
    *end = '\0';
    return text;
}

/* The text after head: the shader's, with the kernel inserted. *size bytes, to be released by
 * tml_free; NULL if out of memory. */
static char *complete_text(tml_context *tml, const gl_draw_info *info, size_t *size)
{
    char *text = gl_shader_text(tml, info->shader, size);
    if (!text || !info->kernel.kernel)
        return text;
    const kernel_place nowhere = {NULL, 0};
    const char *array = gl_is_float(gl_device_of(tml)) ? "kernel_array" : "kernel_in";
    size_t joined_size = kernel_glue(info->kernel.kernel, "", array, nowhere, text, NULL, 0) + 1;
    char *joined = tml_alloc(tml, joined_size);
    if (joined)
        kernel_glue(info->kernel.kernel, "", array, nowhere, text, joined, joined_size);
    else
        (void)tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the text of shader %s",
                        info->shader->name);
    tml_free(tml, text, *size);
    *size = joined_size;
    return joined;
}

/* The program's name in messages. */
static const char *name_of(const gl_program *program)
{
    return program->kernel_name ? program->kernel_name : program->shader->name;
}

/* Starts compiling and linking a program of that text, without querying the result. has_vertices:
 * the text is also a vertex shader's. */
static tml_status compile(tml_context *tml, const char *text, bool has_vertices,
                          gl_program *program)
{
    const gl_device *d = gl_device_of(tml);
    const gl_functions *fn = &d->fn;
    const char *texts[] = {program->head, text};
    tml_status status = start_shader(tml, GL_FRAGMENT_SHADER, texts, 2, &program->fragment);
    const char *const vertex_texts[] = {program->head, "#define TML_VERTEX\n", text};
    if (has_vertices && status == TML_OK)
        status = start_shader(tml, GL_VERTEX_SHADER, vertex_texts, 3, &program->vertex);
    if (status != TML_OK)
        return status;
    if (d->has_binaries)
        fn->ProgramParameteri(program->name, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    fn->AttachShader(program->name, has_vertices ? program->vertex : d->vertex_shader);
    fn->AttachShader(program->name, program->fragment);
    if (gl_is_float(d))
        fn->BindAttribLocation(program->name, 0, "corner");
    fn->LinkProgram(program->name);
    return TML_OK;
}

/* Creates a program from its binary, or starts compiling it. */
static tml_status start(tml_context *tml, const gl_draw_info *info, gl_program *program)
{
    gl_device *d = gl_device_of(tml);
    size_t size;
    char *text = complete_text(tml, info, &size);
    if (!text)
        return TML_ERROR_OUT_OF_MEMORY;
    const bool is_float = gl_is_float(d); /* with a vertex shader of its own */
    const uint64_t none[2] = GL_CACHE_HASH;
    memcpy(program->key, none, sizeof none);
    gl_cache_hash(program->key, &is_float, sizeof is_float);
    gl_cache_hash(program->key, program->head, strlen(program->head));
    gl_cache_hash(program->key, text, strlen(text));
    program->name = d->fn.CreateProgram();
    tml_status status = TML_OK;
    if (!gl_cache_link(d, program->key, program->name))
        status = compile(tml, text, info->are_points, program);
    tml_free(tml, text, size);
    return status;
}

static void delete_shaders(const gl_device *d, gl_program *program)
{
    d->fn.DeleteShader(program->fragment); /* 0: there is none */
    d->fn.DeleteShader(program->vertex);
    program->fragment = program->vertex = 0;
}

/* Queries the result of linking; only if linking failed, that of the shaders, since each query may
 * wait. */
static tml_status gl_program_check(tml_context *tml, const gl_program *program)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    GLint linked = GL_FALSE;
    fn->GetProgramiv(program->name, GL_LINK_STATUS, &linked);
    if (linked)
        return TML_OK;
    tml_status status = check_shader(tml, program->fragment, name_of(program));
    if (status == TML_OK && program->vertex)
        status = check_shader(tml, program->vertex, name_of(program));
    if (status != TML_OK)
        return status;
    char log[512] = "";
    fn->GetProgramInfoLog(program->name, sizeof log, NULL, log);
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "the driver does not link shader %s: %s",
                     name_of(program), log);
}

/* ---- uniforms -------------------------------------------------------------------------------- */

static bool is_sampler_type(GLenum type)
{
    return type == GL_UNSIGNED_INT_SAMPLER_2D || type == GL_SAMPLER_2D || type == GL_INT_SAMPLER_2D;
}

/* Lists the program's uniforms, samplers first. Each sampler gets a texture unit of its own. */
static tml_status list_uniforms(tml_context *tml, gl_program *program)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    GLint count = 0;
    fn->GetProgramiv(program->name, GL_ACTIVE_UNIFORMS, &count);
    program->uniforms = tml_alloc(tml, (size_t)count * sizeof *program->uniforms);
    if (!program->uniforms && count > 0)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the uniforms of shader %s",
                         program->shader->name);
    program->uniform_room = (uint32_t)count;
    fn->UseProgram(program->name);
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
        return tml_error(tml, TML_ERROR_INTERNAL, "shader %s has more than %d samplers",
                         program->shader->name, GL_UNITS);
    return TML_OK;
}

gl_program_uniform *gl_program_uniform_of(gl_program *program, const char *name, bool is_sampler)
{
    gl_program_uniform *uniforms = program->uniforms;
    uint32_t begin = is_sampler ? 0 : program->sampler_count;
    uint32_t end = is_sampler ? program->sampler_count : program->uniform_count;
    for (uint32_t i = begin; i < end; i++)
        if (uniforms[i].literal == name)
            return &uniforms[i];
    for (uint32_t i = begin; i < end; i++)
        if (strcmp(uniforms[i].name, name) == 0) {
            uniforms[i].literal = name;
            return &uniforms[i];
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

/* Writes #version and the defines of the shader's variant. Returns the length, as snprintf does. */
static int write_head(tml_context *tml, const gl_draw_info *info, bool any_rows, char *out,
                      size_t size)
{
    const gl_device *d = gl_device_of(tml);
    const char *version = gl_is_float(d) ? gl_float_version(d, d->path) : "#version 300 es\n";
    char rows[40] = "", kernel[4 * 32 + 32] = "";
    if (gl_is_float(d))
        snprintf(rows, sizeof rows, "#define TML_TARGET_FLOATS %d\n",
                 info->targets[0]->format == GL_FORMAT_FLOATS);
    else if (!any_rows)
        snprintf(rows, sizeof rows, "#define TML_ROW_LOG2 %uu\n", (unsigned)gl_row_log2(tml));
    if (info->kernel.kernel) {
        size_t used = 0;
        for (uint32_t a = 0; a < TML_MAX_INPUTS; a++) {
            const tml_slot *slot = tml_slot_of(tml, info->kernel.in[a]);
            used += (size_t)snprintf(kernel + used, sizeof kernel - used,
                                     "#define KERNEL_TYPE_%u %uu\n", (unsigned)a,
                                     slot ? (unsigned)(slot->type & 0xffu) : 0u);
        }
        snprintf(kernel + used, sizeof kernel - used, "%s", KERNEL_LINES(info->kernel.kernel));
    }
    return snprintf(out, size, "%s%s%s%s", version, rows, kernel,
                    info->defines ? info->defines : "");
}

/* Frees a program, in any state. */
static void gl_program_release(gl_device *d, gl_program *program)
{
    if (d->depth > 0) {
        delete_shaders(d, program);
        d->fn.DeleteProgram(program->name);
    }
    tml_free(d->tml, program->uniforms, program->uniform_room * sizeof *program->uniforms);
    tml_free(d->tml, program, program->size);
}

/* Removes a program that did not compile, so that the next call that needs it fails with the same
 * message. */
static void forget(gl_device *d, gl_program *program)
{
    gl_program **link = &d->programs;
    while (*link != program)
        link = &(*link)->next;
    *link = program->next;
    gl_program_release(d, program);
}

/* Is the program this draw's? Compares texts; head's hash is given. */
static bool is_program_of(const gl_program *p, const gl_draw_info *info, const char *head,
                          uint64_t hash)
{
    if (p->hash != hash || p->shader != info->shader || strcmp(p->head, head) != 0)
        return false;
    const tml_kernel *kernel = info->kernel.kernel;
    return kernel ? p->kernel_glsl && kernel_is_same(kernel, p->kernel_glsl, p->kernel_library)
                  : !p->kernel_glsl;
}

/* Copies a text to *end, which moves behind it. NULL for NULL. */
static const char *keep_text(const char *text, char **end)
{
    char *copy = *end;
    if (!text)
        return NULL;
    *end = copy + strlen(text) + 1;
    return memcpy(copy, text, strlen(text) + 1);
}

/* A new program in the cache, not yet compiled. NULL, with a message, if out of memory. */
static gl_program *make_program(tml_context *tml, const gl_draw_info *info, const char *head,
                                uint64_t hash)
{
    const tml_kernel none = {0}, *kernel = info->kernel.kernel ? info->kernel.kernel : &none;
    const char *const texts[] = {head, kernel->name, kernel->glsl, kernel->library};
    size_t size = sizeof(gl_program);
    for (size_t i = 0; i < TML_ARRAY_SIZE(texts); i++)
        size += texts[i] ? strlen(texts[i]) + 1 : 0;
    gl_program *program = tml_alloc(tml, size);
    if (!program) {
        (void)tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for shader %s",
                        info->shader->name);
        return NULL;
    }
    *program = (gl_program){.size = size, .shader = info->shader, .hash = hash};
    char *end = program->head;
    keep_text(head, &end);
    program->kernel_name = keep_text(kernel->name, &end);
    program->kernel_glsl = keep_text(kernel->glsl, &end);
    program->kernel_library = keep_text(kernel->library, &end);
    return program;
}

/* The program of a draw, ready or not: found in the cache, or started. */
static tml_status find_or_start(tml_context *tml, const gl_draw_info *info, bool any_rows,
                                gl_program **out)
{
    gl_device *d = gl_device_of(tml);
    char head[1024];
    int length = write_head(tml, info, any_rows, head, sizeof head);
    if (length < 0 || (size_t)length >= sizeof head)
        return tml_error(tml, TML_ERROR_INTERNAL, "shader %s: its defines are too long",
                         info->shader->name);
    uint64_t hash = hash_of(head);
    for (gl_program *p = d->programs; p; p = p->next)
        if (is_program_of(p, info, head, hash)) {
            *out = p;
            return TML_OK;
        }
    gl_program *program = make_program(tml, info, head, hash);
    if (!program)
        return TML_ERROR_OUT_OF_MEMORY;
    tml_status status = start(tml, info, program);
    if (status != TML_OK) {
        gl_program_release(d, program);
        return status;
    }
    program->next = d->programs;
    d->programs = program;
    *out = program;
    return TML_OK;
}

/* Waits until the program is linked, and checks the result. */
static tml_status make_ready(tml_context *tml, gl_program *program)
{
    tml_status status = gl_program_check(tml, program);
    TML_THEN(status, list_uniforms(tml, program));
    if (status != TML_OK) {
        forget(gl_device_of(tml), program);
        return status;
    }
    delete_shaders(gl_device_of(tml), program);
    program->is_ready = true;
    return TML_OK;
}

tml_status gl_program_find(tml_context *tml, const gl_draw_info *info, bool any_rows,
                           gl_program **out)
{
    gl_program *program;
    tml_status status = find_or_start(tml, info, any_rows, &program);
    if (status == TML_OK && !program->is_ready)
        status = make_ready(tml, program);
    if (status == TML_OK)
        *out = program;
    return status;
}

/* ---- compiling ahead ------------------------------------------------------------------------- */

enum {
    COMPLETION_STATUS = 0x91b1
}; /* of KHR_parallel_shader_compile, which not every header has */

tml_status gl_program_prepare(tml_context *tml, const gl_draw_info *info, bool any_rows,
                              gl_program **out)
{
    gl_device *d = gl_device_of(tml);
    gl_program *program;
    *out = NULL;
    tml_status status = find_or_start(tml, info, any_rows, &program);
    if (status != TML_OK || program->is_ready)
        return status;
    program->is_lacked = true;
    if (d->has_taken_in)
        return TML_OK;
    GLint is_complete = GL_TRUE;
    if (d->has_completion)
        d->fn.GetProgramiv(program->name, COMPLETION_STATUS, &is_complete);
    if (!is_complete)
        return TML_OK;
    status = make_ready(tml, program);
    d->has_taken_in = true;
    if (status == TML_OK)
        *out = program;
    return status;
}

void gl_prepare_begin(tml_context *tml)
{
    gl_device *d = gl_device_of(tml);
    for (gl_program *p = d->programs; p; p = p->next)
        p->is_lacked = false;
    d->has_taken_in = false;
}

uint32_t gl_prepare_end(tml_context *tml)
{
    uint32_t left = 0;
    for (const gl_program *p = gl_device_of(tml)->programs; p; p = p->next)
        left += p->is_lacked && !p->is_ready;
    return left;
}

void gl_programs_close(gl_device *d)
{
    while (d->programs) {
        gl_program *program = d->programs;
        d->programs = program->next;
        gl_program_release(d, program);
    }
}
