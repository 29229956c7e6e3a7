/* The OpenGL state that the library changes: saves it, and restores it in a caller-owned
 * context. */
#include "gl/device/gl_float.h"

#ifdef __EMSCRIPTEN__
#    include <emscripten.h>
#endif

static const GLenum switches[] = {GL_SCISSOR_TEST, GL_BLEND, GL_DEPTH_TEST, GL_STENCIL_TEST,
                                  GL_CULL_FACE, GL_DITHER, GL_SAMPLE_ALPHA_TO_COVERAGE,
                                  GL_SAMPLE_COVERAGE,
                                  /* from here on of ES 3.0 */
                                  GL_RASTERIZER_DISCARD};
enum { SWITCHES_ES2 = 8 };
static const GLenum pack_names[] = {GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS,
                                    GL_PACK_SKIP_PIXELS};
static const GLenum unpack_names[] = {GL_UNPACK_ALIGNMENT,    GL_UNPACK_ROW_LENGTH,
                                      GL_UNPACK_SKIP_ROWS,    GL_UNPACK_SKIP_PIXELS,
                                      GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_SKIP_IMAGES};
_Static_assert(TML_ARRAY_SIZE(switches) <= TML_ARRAY_SIZE(((gl_saved *)0)->enabled), "room");

static uint32_t switch_count(const gl_device *d)
{
    return d->is_es3 ? (uint32_t)TML_ARRAY_SIZE(switches) : SWITCHES_ES2;
}

#ifdef __EMSCRIPTEN__

/* WebGL's own parameters, which change uploaded data. */
enum { UNPACK_FLIP_Y = 0x9240, UNPACK_PREMULTIPLY = 0x9241 };

/* In a page, bindings are objects, and the page's own objects have no name in Emscripten, so they
 * are saved as objects, in JavaScript. Some queries (the viewport, for example) go to the browser's
 * GPU process and wait for all enqueued work. Their values are read from gl.trommelShadow instead,
 * where the package records every change. The numbers are those of GLES3/gl3.h. */
// clang-format off
EM_JS(void, gl_page_state_save, (int units, const GLenum *switches, int switch_count), {
    var gl = GLctx, s = {textures: [], samplers: [], switches: [], pixels: []};
    var shadow = gl.trommelShadow;
    var get = function(name) {
        return shadow && shadow.has(name) ? shadow.get(name) : gl.getParameter(name);
    };
    s.is2 = typeof gl.bindSampler == "function";
    /* Active transform feedback makes draws and changes of the program errors. */
    s.feedback = s.is2 && !(shadow && !shadow.get("feedback")) && gl.getParameter(0x8E24) &&
        !gl.getParameter(0x8E23);
    if (s.feedback)
        gl.pauseTransformFeedback();
    s.program = get(0x8B8D);
    s.viewport = get(0x0BA2);
    s.scissor = get(0x0C10);
    s.unit = get(0x84E0);
    s.array = get(0x8894);
    s.mask = get(0x0C23);
    for (var i = 0; i < switch_count; i++) {
        var name = HEAP32[(switches >> 2) + i];
        s.switches.push([name, gl.isEnabled(name)]);
    }
    units = Math.min(units, get(0x8B4D));
    for (var unit = 0; unit < units; unit++) {
        gl.activeTexture(0x84C0 + unit);
        s.textures.push(get(0x8069));
        if (s.is2)
            s.samplers.push(get(0x8919));
    }
    var pixels = [0x0D05, 0x0CF5, 0x9240, 0x9241];
    if (s.is2)
        pixels = pixels.concat([0x0D02, 0x0D03, 0x0D04, 0x0CF2, 0x0CF3, 0x0CF4, 0x806E, 0x806D]);
    pixels.forEach(function(name) { s.pixels.push([name, get(name)]); });
    s.draw = get(0x8CA6);
    if (s.is2) {
        s.vertices = get(0x85B5);
        s.read = get(0x8CAA);
        s.pack = get(0x88ED);
        s.unpack = get(0x88EF);
    } else {
        s.attribute = [0x8622, 0x8623, 0x8625, 0x886A, 0x8624, 0x889F].map(function(name) {
            return gl.getVertexAttrib(0, name);
        });
        s.offset = gl.getVertexAttribOffset(0, 0x8645);
    }
    gl.trommelSaved = s;
})

EM_JS(void, gl_page_state_restore, (void), {
    var gl = GLctx, s = gl.trommelSaved;
    gl.trommelSaved = null;
    gl.useProgram(s.program);
    gl.viewport(s.viewport[0], s.viewport[1], s.viewport[2], s.viewport[3]);
    gl.scissor(s.scissor[0], s.scissor[1], s.scissor[2], s.scissor[3]);
    gl.colorMask(s.mask[0], s.mask[1], s.mask[2], s.mask[3]);
    s.switches.forEach(function(pair) { pair[1] ? gl.enable(pair[0]) : gl.disable(pair[0]); });
    for (var unit = 0; unit < s.textures.length; unit++) {
        var texture = s.textures[unit];
        gl.activeTexture(0x84C0 + unit);
        /* 0: deleted meanwhile */
        gl.bindTexture(0x0DE1, texture && texture.name === 0 ? null : texture);
        if (s.is2)
            gl.bindSampler(unit, s.samplers[unit]);
    }
    gl.activeTexture(s.unit);
    s.pixels.forEach(function(pair) { gl.pixelStorei(pair[0], pair[1]); });
    if (s.is2) {
        gl.bindVertexArray(s.vertices);
        gl.bindFramebuffer(0x8CA9, s.draw);
        gl.bindFramebuffer(0x8CA8, s.read);
        gl.bindBuffer(0x88EB, s.pack);
        gl.bindBuffer(0x88EC, s.unpack);
    } else {
        var a = s.attribute;
        gl.bindFramebuffer(0x8D40, s.draw);
        gl.bindBuffer(0x8892, a[5]);
        if (a[5])
            gl.vertexAttribPointer(0, a[1], a[2], a[3], a[4], s.offset);
        a[0] ? gl.enableVertexAttribArray(0) : gl.disableVertexAttribArray(0);
    }
    gl.bindBuffer(0x8892, s.array);
    if (s.feedback)
        gl.resumeTransformFeedback();
})
// clang-format on

void gl_state_save(gl_device *d)
{
    gl_page_state_save(GL_UNITS, switches, (int)switch_count(d));
}

void gl_state_restore(gl_device *d)
{
    (void)d;
    gl_page_state_restore();
}

void gl_state_forget_texture(gl_device *d, GLuint name)
{
    (void)d; /* its object says so itself */
    (void)name;
}

#else

void gl_state_save(gl_device *d)
{
    const gl_functions *fn = &d->fn;
    gl_saved *s = &d->saved;
    s->has_feedback = false;
    if (d->is_es3) { /* while it is active, draws and changes of the program are errors */
        GLboolean is_active = GL_FALSE, is_paused = GL_FALSE;
        fn->GetBooleanv(GL_TRANSFORM_FEEDBACK_ACTIVE, &is_active);
        fn->GetBooleanv(GL_TRANSFORM_FEEDBACK_PAUSED, &is_paused);
        s->has_feedback = is_active && !is_paused;
        if (s->has_feedback)
            fn->PauseTransformFeedback();
    }
    fn->GetIntegerv(GL_CURRENT_PROGRAM, &s->program);
    fn->GetIntegerv(GL_VIEWPORT, s->viewport);
    fn->GetIntegerv(GL_SCISSOR_BOX, s->scissor);
    fn->GetIntegerv(GL_ACTIVE_TEXTURE, &s->active_unit);
    fn->GetIntegerv(GL_ARRAY_BUFFER_BINDING, &s->array_buffer);
    fn->GetBooleanv(GL_COLOR_WRITEMASK, s->color_mask);
    for (uint32_t i = 0; i < switch_count(d); i++)
        s->enabled[i] = fn->IsEnabled(switches[i]);
    for (uint32_t unit = 0; unit < GL_UNITS; unit++) {
        fn->ActiveTexture(GL_TEXTURE0 + unit);
        fn->GetIntegerv(GL_TEXTURE_BINDING_2D, &s->textures[unit]);
        if (d->is_es3)
            fn->GetIntegerv(GL_SAMPLER_BINDING, &s->samplers[unit]);
    }
    if (d->is_es3) {
        fn->GetIntegerv(GL_VERTEX_ARRAY_BINDING, &s->vertex_array);
        fn->GetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &s->draw_framebuffer);
        fn->GetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &s->read_framebuffer);
        fn->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &s->pack_buffer);
        fn->GetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &s->unpack_buffer);
        for (uint32_t i = 0; i < TML_ARRAY_SIZE(pack_names); i++)
            fn->GetIntegerv(pack_names[i], &s->pack[i]);
        for (uint32_t i = 0; i < TML_ARRAY_SIZE(unpack_names); i++)
            fn->GetIntegerv(unpack_names[i], &s->unpack[i]);
    } else {
        fn->GetIntegerv(GL_FRAMEBUFFER_BINDING, &s->draw_framebuffer);
        fn->GetIntegerv(GL_PACK_ALIGNMENT, &s->pack[0]);
        fn->GetIntegerv(GL_UNPACK_ALIGNMENT, &s->unpack[0]);
        fn->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &s->attribute_enabled);
        fn->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_SIZE, &s->attribute_size);
        fn->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_TYPE, &s->attribute_type);
        fn->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, &s->attribute_normalized);
        fn->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_STRIDE, &s->attribute_stride);
        fn->GetVertexAttribiv(0, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, &s->attribute_buffer);
        fn->GetVertexAttribPointerv(0, GL_VERTEX_ATTRIB_ARRAY_POINTER, &s->attribute_pointer);
    }
}

void gl_state_restore(gl_device *d)
{
    const gl_functions *fn = &d->fn;
    const gl_saved *s = &d->saved;
    fn->UseProgram((GLuint)s->program);
    fn->Viewport(s->viewport[0], s->viewport[1], s->viewport[2], s->viewport[3]);
    fn->Scissor(s->scissor[0], s->scissor[1], s->scissor[2], s->scissor[3]);
    fn->ColorMask(s->color_mask[0], s->color_mask[1], s->color_mask[2], s->color_mask[3]);
    for (uint32_t i = 0; i < switch_count(d); i++)
        (s->enabled[i] ? fn->Enable : fn->Disable)(switches[i]);
    for (uint32_t unit = 0; unit < GL_UNITS; unit++) {
        fn->ActiveTexture(GL_TEXTURE0 + unit);
        fn->BindTexture(GL_TEXTURE_2D, (GLuint)s->textures[unit]);
        if (d->is_es3)
            fn->BindSampler(unit, (GLuint)s->samplers[unit]);
    }
    fn->ActiveTexture((GLenum)s->active_unit);
    if (d->is_es3) {
        fn->BindVertexArray((GLuint)s->vertex_array);
        fn->BindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)s->draw_framebuffer);
        fn->BindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)s->read_framebuffer);
        fn->BindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)s->pack_buffer);
        fn->BindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)s->unpack_buffer);
        for (uint32_t i = 0; i < TML_ARRAY_SIZE(pack_names); i++)
            fn->PixelStorei(pack_names[i], s->pack[i]);
        for (uint32_t i = 0; i < TML_ARRAY_SIZE(unpack_names); i++)
            fn->PixelStorei(unpack_names[i], s->unpack[i]);
    } else {
        fn->BindFramebuffer(GL_FRAMEBUFFER, (GLuint)s->draw_framebuffer);
        fn->PixelStorei(GL_PACK_ALIGNMENT, s->pack[0]);
        fn->PixelStorei(GL_UNPACK_ALIGNMENT, s->unpack[0]);
        fn->BindBuffer(GL_ARRAY_BUFFER, (GLuint)s->attribute_buffer);
        fn->VertexAttribPointer(0, s->attribute_size, (GLenum)s->attribute_type,
                                (GLboolean)s->attribute_normalized, s->attribute_stride,
                                s->attribute_pointer);
        (s->attribute_enabled ? fn->EnableVertexAttribArray : fn->DisableVertexAttribArray)(0);
    }
    fn->BindBuffer(GL_ARRAY_BUFFER, (GLuint)s->array_buffer);
    if (s->has_feedback)
        fn->ResumeTransformFeedback(); /* of the program that is used again */
}

void gl_state_forget_texture(gl_device *d, GLuint name)
{
    for (uint32_t unit = 0; unit < GL_UNITS; unit++)
        if (d->saved.textures[unit] == (GLint)name)
            d->saved.textures[unit] = 0;
}

#endif

void gl_state_set(gl_device *d)
{
    const gl_functions *fn = &d->fn;
    for (uint32_t i = 0; i < switch_count(d); i++)
        fn->Disable(switches[i]);
    fn->Enable(GL_SCISSOR_TEST);
    fn->ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    fn->PixelStorei(GL_PACK_ALIGNMENT, 4);
    fn->PixelStorei(GL_UNPACK_ALIGNMENT, 4);
#ifdef __EMSCRIPTEN__
    fn->PixelStorei(UNPACK_FLIP_Y, 0);
    fn->PixelStorei(UNPACK_PREMULTIPLY, 0);
#endif
    if (!d->is_es3) {
        gl_float_attributes(d);
        return;
    }
    fn->BindVertexArray(d->vertex_array);
    fn->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    fn->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    for (uint32_t i = 1; i < TML_ARRAY_SIZE(pack_names); i++)
        fn->PixelStorei(pack_names[i], 0);
    for (uint32_t i = 1; i < TML_ARRAY_SIZE(unpack_names); i++)
        fn->PixelStorei(unpack_names[i], 0);
    for (uint32_t unit = 0; unit < GL_UNITS; unit++)
        fn->BindSampler(unit, d->sampler);
}
