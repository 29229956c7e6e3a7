/* tml_image_mips on OpenGL ES: each level is drawn as quads of floats, then as the chain's
 * words. */
#include "image/gl/gl_image.h"

#include <stdio.h>

#include "image_gl_shaders.h"

enum { WEIGHT_QUADS = (IMAGE_KAISER_TAPS + 3) / 4 };

typedef struct mip_level {
    uint32_t width, height;
    const gl_texture *texture; /* one quad per texel; NULL: the picture */
} mip_level;

static mip_level level_of(const image_mips_plan *plan, uint32_t number)
{
    mip_level level = {.texture = NULL};
    tml_mip_level(plan->in.width, plan->in.height, number, &level.width, &level.height, NULL);
    return level;
}

/* Draws the texels of level out from the level above. more: further defines. The caller releases
 * out->texture afterwards. */
static tml_status draw_level(tml_context *tml, const image_mips_plan *plan, const mip_level *above,
                             const gl_texture *weights, const char *more, mip_level *out)
{
    gl_picture picture;
    gl_picture_of(tml, &plan->in, &picture);
    char defines[2 * GL_IMAGE_DEFINES];
    if (above->texture)
        snprintf(defines, sizeof defines, "%s", more);
    else
        snprintf(defines, sizeof defines, "%s%s#define FROM_PICTURE\n%s%s", more, picture.defines,
                 plan->is_log ? "#define LOG_LUMINANCE\n" : "",
                 plan->max_rgb ? "#define MAX_RGB\n" : "");
    uint64_t count = (uint64_t)out->width * out->height;
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, count, &out->texture);
    if (status != TML_OK)
        return status;
    gl_input levels = {"above", above->texture};
    return gl_draw(
        tml,
        &(gl_draw_info){
            .shader = &gl_shader_image_mips,
            .defines = defines,
            .inputs = {{"weights", weights}, above->texture ? levels : picture.input},
            .uniforms = {picture.size, picture.rows, gl_divisor("columns", out->width),
                         GL_UINT2("size_above", above->width, above->height),
                         GL_FLOAT3("log_weights", plan->weight_r, plan->weight_b, plan->floor)},
            .targets = {out->texture},
            .count = count,
        });
}

/* Applies the Kaiser filter along one axis. out already has its size. */
static tml_status filter_along(tml_context *tml, const image_mips_plan *plan,
                               const mip_level *above, bool along_y, mip_level *out)
{
    uint32_t size = along_y ? out->height : out->width;
    char defines[80];
    snprintf(defines, sizeof defines, "#define WEIGHT_QUADS %uu\n%s", (unsigned)WEIGHT_QUADS,
             along_y ? "#define KAISER\n#define ALONG_Y\n" : "#define KAISER\n");
    const gl_texture *weights;
    uint64_t count = (uint64_t)WEIGHT_QUADS * size;
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, count, &weights);
    TML_THEN(status, gl_draw(tml, &(gl_draw_info){
                                      .shader = &gl_shader_image_mip_weights,
                                      .defines = defines,
                                      .uniforms = {GL_UINT("size_above",
                                                           along_y ? above->height : above->width)},
                                      .targets = {weights},
                                      .count = count,
                                  }));
    TML_THEN(status, draw_level(tml, plan, above, weights, defines, out));
    gl_release(tml, weights);
    return status;
}

static tml_status make_level(tml_context *tml, const image_mips_plan *plan, const mip_level *above,
                             mip_level *out)
{
    if (plan->filter != IMAGE_MIP_KAISER)
        return draw_level(tml, plan, above, NULL, "", out);
    mip_level half = {.width = out->width, .height = above->height};
    tml_status status = filter_along(tml, plan, above, false, &half);
    TML_THEN(status, filter_along(tml, plan, &half, true, out));
    gl_release(tml, half.texture);
    return status;
}

static bool image_mips_supports(tml_context *tml, const image_mips_plan *plan)
{
    image_view chain = {.width = 1,
                        .height = 1,
                        .channels = 1,
                        .first = image_mips_first(plan, plan->levels) * plan->channels - 1};
    return gl_image_check(tml, "tml_image_mips", "desc.in", &plan->in) == TML_OK &&
           gl_image_check(tml, "tml_image_mips", "desc.out", &chain) == TML_OK;
}

static tml_status image_mips_run(tml_context *tml, const image_mips_plan *plan)
{
    uint32_t channels = plan->channels;
    mip_level above = level_of(plan, 0);
    tml_status status = TML_OK;
    for (uint32_t number = 1; number < plan->levels && status == TML_OK; number++) {
        mip_level level = level_of(plan, number);
        status = make_level(tml, plan, &above, &level);
        const image_view out = {
            .buffer = plan->out,
            .type = plan->out_type,
            .width = level.width,
            .height = level.height,
            .channels = channels,
            .srgb = plan->out_srgb,
            .first = image_mips_first(plan, number) * channels,
            .row_stride = (uint64_t)level.width * channels,
        };
        if (status == TML_OK && (!plan->is_last || number + 1 == plan->levels))
            status = gl_image_write_pixels(tml, &out, level.texture);
        gl_release(tml, above.texture);
        above = level;
    }
    return status;
}

GL_OP(image_mips, image_mips_plan, image_mips_supports, image_mips_run)
