/* Draws: one fragment shader over a range of its targets' texels; and small draws that several
 * operations share. */
#include "gl/device/gl_float.h"

#include <inttypes.h>
#include <string.h>

#include "gl_device_shaders.h"
#include "gpu/kernel_glue.h"

/* ---- inputs ---------------------------------------------------------------------------------- */

static const char *const kernel_names[TML_MAX_INPUTS] = {"kernel_in0", "kernel_in1", "kernel_in2",
                                                         "kernel_in3"};
static const char length_name[] = "tml_length_words";

/* The texture for a sampler of this name; NULL: the operation gave none. */
static const gl_texture *input_of(const tml_context *tml, const gl_draw_info *info,
                                  const char *name)
{
    for (int i = 0; i < GL_INPUTS_MAX && info->inputs[i].name; i++)
        if (strcmp(info->inputs[i].name, name) == 0)
            return info->inputs[i].texture;
    for (uint32_t a = 0; a < TML_MAX_INPUTS && info->kernel.kernel; a++)
        if (strcmp(kernel_names[a], name) == 0)
            return gl_texture_of(tml, info->kernel.in[a]);
    if (info->length && strcmp(length_name, name) == 0)
        return gl_texture_of(tml, info->length->device);
    return NULL;
}

static bool has_own_rows(const tml_context *tml, const gl_texture *t)
{
    uint32_t row = 1u << gl_row_log2(tml);
    return !t || t->format == GL_FORMAT_COLOURS || t->width == row ||
           (t->height == 1 && t->width <= row);
}

static bool all_have_own_rows(const tml_context *tml, const gl_draw_info *info)
{
    bool own = !info->length || has_own_rows(tml, gl_texture_of(tml, info->length->device));
    for (int i = 0; i < GL_INPUTS_MAX && info->inputs[i].name; i++)
        own = own && has_own_rows(tml, info->inputs[i].texture);
    for (uint32_t a = 0; a < TML_MAX_INPUTS && info->kernel.kernel; a++)
        own = own && has_own_rows(tml, gl_texture_of(tml, info->kernel.in[a]));
    return own;
}

static void bind_samplers(const gl_device *d, const gl_draw_info *info, const gl_program *program)
{
    for (uint32_t s = 0; s < program->sampler_count; s++) {
        const gl_texture *texture = input_of(d->tml, info, program->uniforms[s].name);
        d->fn.ActiveTexture(GL_TEXTURE0 + s);
        d->fn.BindTexture(GL_TEXTURE_2D, texture ? texture->name : d->nothing.name);
    }
}

static void set_uniform(const gl_functions *fn, gl_program *program, const gl_uniform *value)
{
    const gl_program_uniform *u = gl_program_uniform_of(program, value->name, false);
    if (!u)
        return; /* the compiler removed it */
    GLint at = u->location;
    switch (value->kind << 4 | value->components) {
    case 'u' << 4 | 1:
        fn->Uniform1uiv(at, 1, value->u);
        break;
    case 'u' << 4 | 2:
        fn->Uniform2uiv(at, 1, value->u);
        break;
    case 'u' << 4 | 3:
        fn->Uniform3uiv(at, 1, value->u);
        break;
    case 'u' << 4 | 4:
        fn->Uniform4uiv(at, 1, value->u);
        break;
    case 'i' << 4 | 1:
        fn->Uniform1iv(at, 1, value->i);
        break;
    case 'i' << 4 | 2:
        fn->Uniform2iv(at, 1, value->i);
        break;
    case 'i' << 4 | 3:
        fn->Uniform3iv(at, 1, value->i);
        break;
    case 'i' << 4 | 4:
        fn->Uniform4iv(at, 1, value->i);
        break;
    case 'f' << 4 | 1:
        fn->Uniform1fv(at, 1, value->f);
        break;
    case 'f' << 4 | 2:
        fn->Uniform2fv(at, 1, value->f);
        break;
    case 'f' << 4 | 3:
        fn->Uniform3fv(at, 1, value->f);
        break;
    case 'f' << 4 | 4:
        fn->Uniform4fv(at, 1, value->f);
        break;
    default:
        assert(!"a uniform of an unknown kind");
    }
}

gl_uniform gl_length_place(const tml_context *tml, const char *name, const tml_length *length)
{
    const tml_slot *slot = tml_slot_of(tml, length->device);
    uint32_t words = slot ? (uint32_t)(slot->element_size / 4) : 0;
    return (gl_uniform)GL_UINT3(name, (uint32_t)length->count,
                                (uint32_t)length->device_index * words, words);
}

static void set_matrix(const gl_functions *fn, const gl_kernel_use *use, gl_program *program)
{
    static const char *const columns[] = {"kernel_m0", "kernel_m1", "kernel_m2", "kernel_m3"};
    for (size_t c = 0; c < TML_ARRAY_SIZE(columns) && kernel_uses_matrix(use->kernel); c++) {
        const float *m = use->params->m + 4 * c;
        gl_uniform column = GL_FLOAT4(columns[c], m[0], m[1], m[2], m[3]);
        set_uniform(fn, program, &column);
    }
}

/* The float tier has no integer uniforms, and its shaders require the shape of each texture. */
static void set_float_uniforms(const gl_device *d, const gl_draw_info *info, gl_program *program)
{
    const gl_functions *fn = &d->fn;
    gl_uniform size = {.name = "tml_size",
                       .kind = 'f',
                       .components = 2,
                       .f = {(float)info->targets[0]->width, (float)info->targets[0]->height}};
    set_uniform(fn, program, &size);
    if (info->kernel.kernel && info->kernel.params) {
        const tml_params *p = info->kernel.params;
        gl_uniform f = GL_FLOAT4("kernel_f", p->f[0], p->f[1], p->f[2], p->f[3]);
        gl_uniform u =
            GL_FLOAT4("kernel_u", (float)p->u[0], (float)p->u[1], (float)p->u[2], (float)p->u[3]);
        set_uniform(fn, program, &f);
        set_uniform(fn, program, &u);
        set_matrix(fn, &info->kernel, program);
    }
    if (info->length) {
        const tml_slot *slot = tml_slot_of(d->tml, info->length->device);
        uint64_t words = slot ? slot->element_size / 4 : 0;
        gl_uniform place = GL_FLOAT3("tml_length_place", (float)info->length->count,
                                     (float)(info->length->device_index * words), (float)words);
        set_uniform(fn, program, &place);
    }
    for (uint32_t s = 0; s < program->sampler_count; s++) {
        const gl_texture *texture = input_of(d->tml, info, program->uniforms[s].name);
        gl_float_set_shape(d, program, s, texture ? texture : &d->nothing);
    }
}

static void set_uniforms(const gl_device *d, const gl_draw_info *info, gl_program *program)
{
    const gl_functions *fn = &d->fn;
    for (int i = 0; i < GL_UNIFORMS_MAX && info->uniforms[i].name; i++)
        set_uniform(fn, program, &info->uniforms[i]);
    if (gl_is_float(d)) {
        set_float_uniforms(d, info, program);
        return;
    }
    gl_uniform row = GL_UINT("tml_row", info->targets[0]->width);
    set_uniform(fn, program, &row);
    if (info->kernel.kernel && info->kernel.params) {
        const tml_params *p = info->kernel.params;
        gl_uniform f = GL_FLOAT4("kernel_f", p->f[0], p->f[1], p->f[2], p->f[3]);
        gl_uniform u = GL_UINT4("kernel_u", p->u[0], p->u[1], p->u[2], p->u[3]);
        set_uniform(fn, program, &f);
        set_uniform(fn, program, &u);
        set_matrix(fn, &info->kernel, program);
    }
    if (info->length) {
        gl_uniform place = gl_length_place(d->tml, "tml_length_place", info->length);
        set_uniform(fn, program, &place);
    }
}

/* ---- targets --------------------------------------------------------------------------------- */

/* Detaches the caller's texture from the framebuffer after the draw. */
static tml_status bind_colours(tml_context *tml, const gl_texture *target)
{
    gl_device *d = gl_device_of(tml);
    if (!d->framebuffer) /* the float tier has needed none */
        d->fn.GenFramebuffers(1, &d->framebuffer);
    d->fn.BindFramebuffer(GL_FRAMEBUFFER, d->framebuffer);
    for (GLenum t = 0; t < (d->is_es3 ? GL_TARGETS_MAX : 1u); t++)
        d->fn.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + t, GL_TEXTURE_2D,
                                   t == 0 ? target->name : 0, 0);
    if (d->is_es3)
        d->fn.DrawBuffers(1, &(GLenum){GL_COLOR_ATTACHMENT0});
    for (size_t i = 0; i < TML_ARRAY_SIZE(d->targets_checked); i++)
        if (d->targets_checked[i] == target->name)
            return TML_OK;
    GLenum is = d->fn.CheckFramebufferStatus(GL_FRAMEBUFFER);
    if (is != GL_FRAMEBUFFER_COMPLETE)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "texture %" PRIu32
                         " cannot be drawn to: %s; RGBA8 can, float formats where "
                         "there is EXT_color_buffer_float or EXT_color_buffer_half_float",
                         target->name, gl_framebuffer_status_name(is));
    d->targets_checked[d->next_checked++ % TML_ARRAY_SIZE(d->targets_checked)] = target->name;
    return TML_OK;
}

static tml_status bind_targets(tml_context *tml, const gl_draw_info *info, gl_program *program)
{
    gl_device *d = gl_device_of(tml);
    GLuint name;
    if (info->targets[0]->format == GL_FORMAT_COLOURS)
        return bind_colours(tml, info->targets[0]);
    if (!info->targets[1]) {
        tml_status status = gl_texture_framebuffer(tml, info->targets[0], &name);
        if (status == TML_OK)
            d->fn.BindFramebuffer(GL_FRAMEBUFFER, name);
        return status;
    }
    d->fn.BindFramebuffer(GL_FRAMEBUFFER, d->framebuffer);
    static const GLenum points[GL_TARGETS_MAX] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
                                                  GL_COLOR_ATTACHMENT2, GL_COLOR_ATTACHMENT3};
    GLsizei count = 0;
    for (int t = 0; t < GL_TARGETS_MAX; t++) {
        const gl_texture *texture = info->targets[t];
        if (texture)
            count = t + 1;
        d->fn.FramebufferTexture2D(GL_FRAMEBUFFER, points[t], GL_TEXTURE_2D,
                                   texture ? texture->name : 0, 0);
    }
    d->fn.DrawBuffers(count, points);
    if (program->targets_checked)
        return TML_OK;
    GLenum is = d->fn.CheckFramebufferStatus(GL_FRAMEBUFFER);
    program->targets_checked = is == GL_FRAMEBUFFER_COMPLETE;
    return program->targets_checked ? TML_OK
                                    : tml_error(tml, TML_ERROR_INTERNAL,
                                                "shader %s: its targets make no framebuffer: %s",
                                                info->shader->name, gl_framebuffer_status_name(is));
}

static tml_status draw(tml_context *tml, const gl_draw_info *info)
{
    gl_device *d = gl_device_of(tml);
    gl_program *program;
    bool any_rows = !all_have_own_rows(tml, info);
    tml_status status = tml->is_preparing ? gl_program_prepare(tml, info, any_rows, &program)
                                          : gl_program_find(tml, info, any_rows, &program);
    if (status == TML_OK && !program) { /* preparing: it is not the program's turn */
        GLuint framebuffer;
        return info->targets[1] || info->targets[0]->format == GL_FORMAT_COLOURS
                   ? TML_OK
                   : gl_texture_framebuffer(tml, info->targets[0], &framebuffer);
    }
    TML_THEN(status, bind_targets(tml, info, program));
    if (status != TML_OK)
        return status;
    d->fn.UseProgram(program->name);
    bind_samplers(d, info, program);
    set_uniforms(d, info, program);
    const gl_texture *target = info->targets[0];
    d->fn.Viewport(0, 0, (GLsizei)target->width, (GLsizei)target->height);
    if (info->are_points) {
        d->fn.Scissor(0, 0, (GLsizei)target->width, (GLsizei)target->height);
        d->fn.DrawArrays(GL_POINTS, 0, tml->is_preparing ? 0 : (GLsizei)info->count);
        return TML_OK;
    }
    uint32_t rectangles[3][4];
    bool is_area = info->area[2] > 0;
    int used = is_area ? 1 : gl_rectangles(target, info->first, info->count, rectangles);
    if (is_area)
        memcpy(rectangles[0], info->area, sizeof rectangles[0]);
    for (int i = 0; i < used; i++) {
        const uint32_t *r = rectangles[i];
        d->fn.Scissor((GLint)r[0], (GLint)r[1], (GLsizei)r[2], (GLsizei)r[3]);
        /* Vertices 3 to 5 are all in one corner: an empty triangle. */
        d->fn.DrawArrays(GL_TRIANGLES, tml->is_preparing ? 3 : 0, 3);
    }
    if (target->format == GL_FORMAT_COLOURS)
        d->fn.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
    return TML_OK;
}

tml_status gl_draw(tml_context *tml, const gl_draw_info *info)
{
    if (info->count == 0 && info->area[2] == 0)
        return TML_OK;
    if (!info->in_place)
        return draw(tml, info);
    gl_draw_info aside = *info;
    tml_status status =
        gl_temporary(tml, info->targets[0]->format, info->first + info->count, &aside.targets[0]);
    if (status != TML_OK)
        return status;
    status =
        gl_copy(tml, aside.targets[0], info->first, info->targets[0], info->first, info->count);
    TML_THEN(status, draw(tml, &aside));
    if (status == TML_OK)
        status =
            gl_copy(tml, info->targets[0], info->first, aside.targets[0], info->first, info->count);
    gl_release(tml, aside.targets[0]);
    return status;
}

/* ---- shared steps ---------------------------------------------------------------------------- */

tml_status gl_copy(tml_context *tml, const gl_texture *out, uint64_t out_first,
                   const gl_texture *in, uint64_t in_first, uint64_t count)
{
    if (gl_is_float(gl_device_of(tml)))
        return draw(tml, &(gl_draw_info){
                             .shader = &gl_shader_float_copy,
                             .inputs = {{"copied", in}},
                             .uniforms = {GL_FLOAT1("offset",
                                                    (float)((double)in_first - (double)out_first))},
                             .targets = {out},
                             .first = out_first,
                             .count = count,
                         });
    return draw(tml, &(gl_draw_info){
                         .shader = &gl_shader_copy,
                         .inputs = {{"copied", in}},
                         .uniforms = {GL_UINT("offset", (uint32_t)(in_first - out_first))},
                         .targets = {out},
                         .first = out_first,
                         .count = count,
                     });
}

tml_status gl_store_count(tml_context *tml, tml_buffer out, const gl_texture *from, uint64_t texel)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    if (!slot)
        return TML_OK;
    bool is_wide = slot->type == TML_U64;
    return gl_draw(tml,
                   &(gl_draw_info){
                       .shader = &gl_shader_store_count,
                       .defines = from->format == GL_FORMAT_QUADS ? "#define FROM_QUADS\n" : NULL,
                       .inputs = {{"counts", from}},
                       .uniforms = {GL_UINT("at", (uint32_t)texel), GL_UINT("is_wide", is_wide)},
                       .targets = {gl_slot_texture(slot)},
                       .count = is_wide ? 2 : 1,
                   });
}

tml_status gl_exact(tml_context *tml, const gl_texture *from, uint64_t texel, uint64_t *count)
{
    if (!gl_device_of(tml)->exact_counts)
        return TML_OK;
    const gl_texture *words;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, 2, &words);
    if (status != TML_OK)
        return status;
    uint32_t pair[2] = {0, 0};
    status =
        gl_draw(tml, &(gl_draw_info){
                         .shader = &gl_shader_store_count,
                         .defines = from->format == GL_FORMAT_QUADS ? "#define FROM_QUADS\n" : NULL,
                         .inputs = {{"counts", from}},
                         .uniforms = {GL_UINT("at", (uint32_t)texel), GL_UINT("is_wide", 1)},
                         .targets = {words},
                         .count = 2,
                     });
    TML_THEN(status, gl_read_words(tml, words, 0, 2, pair));
    gl_release(tml, words);
    uint64_t total = pair[0] | (uint64_t)pair[1] << 32;
    if (status == TML_OK && total < *count)
        *count = total;
    return status;
}

tml_status gl_map_draw(tml_context *tml, const tml_map_desc *desc, const gl_shader *shader)
{
    const gl_texture *out = gl_texture_of(tml, desc->out[0]);
    size_t size = tml_type_size(desc->kernel->result);
    /* Bools share words: bytes of the last word past the length keep their values. */
    bool in_place =
        size < 4 && (desc->length.count % 4 != 0 || !tml_buffer_is_none(desc->length.device));
    for (uint32_t a = 0; a < TML_MAX_INPUTS; a++)
        in_place = in_place || gl_texture_of(tml, desc->in[a]) == out;
    return gl_draw(tml, &(gl_draw_info){
                            .shader = shader,
                            .kernel = {desc->kernel, &desc->params, desc->in},
                            .length = &desc->length,
                            .inputs = {{"old", in_place ? out : NULL}},
                            .targets = {out},
                            .count = gl_words(desc->length.count, size),
                            .in_place = in_place,
                        });
}

bool gl_kernel_supported(tml_context *tml, const tml_kernel *kernel)
{
    (void)tml;
    return !kernel_uses_float64(kernel) && !kernel_uses_int64(kernel);
}
