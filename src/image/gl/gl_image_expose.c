/* tml_image_expose on OpenGL ES: one draw of the state's eight words. */
#include "image/gl/gl_image.h"

#include "image_gl_shaders.h"

static bool image_expose_supports(tml_context *tml, const image_expose_plan *plan)
{
    (void)tml;
    (void)plan;
    return true;
}

static tml_status image_expose_run(tml_context *tml, const image_expose_plan *plan)
{
    const image_expose_settings *s = &plan->settings;
    const gl_texture *state = gl_texture_of(tml, plan->state);
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_image_expose,
                 .inputs = {{"stats", gl_texture_of(tml, plan->stats)}, {"state", state}},
                 .uniforms = {GL_UINT("settings.by", s->by), GL_FLOAT1("settings.low", s->low),
                              GL_FLOAT1("settings.high", s->high),
                              GL_FLOAT1("settings.manual", s->manual),
                              GL_FLOAT1("settings.log2_key", s->log2_key),
                              GL_FLOAT1("settings.bias", s->bias),
                              GL_FLOAT1("settings.limit_low", s->limit_low),
                              GL_FLOAT1("settings.limit_high", s->limit_high),
                              GL_FLOAT1("settings.speed_up", s->speed_up),
                              GL_FLOAT1("settings.speed_down", s->speed_down),
                              GL_FLOAT1("settings.seconds", s->seconds),
                              GL_UINT("settings.reset", s->reset)},
                 .targets = {state},
                 .count = TML_EXPOSURE_WORDS,
                 .in_place = true, /* the shader reads the state's old average */
             });
}

GL_OP(image_expose, image_expose_plan, image_expose_supports, image_expose_run)
