/* HistoPyramids as they were first published: sums in floats over a square of texels, in which
 * quads of 2 x 2 texels are the children of one texel above. Outputs come in Z order. A texel holds
 * either its own sum, so that a descent fetches three children per level (the fourth has the keys
 * that the others do not have); or the sums of its four children, which take one fetch.
 *
 * Levels lie side by side in a texture; the level of side s begins at column s. They alternate
 * between two textures, so that no draw reads its own target; or, as in the article of 2016, each
 * level is drawn into a texture of its own and copied into one.
 *
 * The descents run in the output's fragments, or in vertices, each of which is a point over its
 * output's texel.
 *
 * After: Ziegler, Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram Pyramids.
 * 2006; the sums of four children: Stream Compaction in WebGL. Miaumiau Labs, 2016. */
#include "classic_pyramid.h"

#include "gl/device/gl_device.h" /* functions of OpenGL ES */
#include "papers_shaders.h"

tml_status classic_check(tml_context *tml, const char *call)
{
    if (tml->engine == &tml_gl_engine)
        return TML_OK;
    return tml_refuse(tml, call, "no classic HistoPyramids");
}

tml_status classic_take(tml_context *tml, classic_form form, uint32_t side, classic_pyramid *p)
{
    gl_format format = form == CLASSIC_THREE_FETCHES ? GL_FORMAT_FLOAT : GL_FORMAT_FLOATS;
    /* With partial sums, a texel of the base holds four elements. */
    *p = (classic_pyramid){.form = form, .side = format == GL_FORMAT_FLOATS ? side / 2 : side};
    for (uint32_t s = p->side / 2; s > 0; s /= 2)
        p->levels++;
    tml_status status = gl_temporary_image(tml, format, p->side, p->side, &p->base);
    for (uint32_t a = 0; a < (form == CLASSIC_COPIED ? 1 : 2) && !status; a++) {
        uint32_t largest = TML_MAX_OF(p->side >> (a + 1), 1u);
        status = gl_temporary_image(tml, format, 2 * largest, largest, &p->atlas[a]);
    }
    if (form == CLASSIC_COPIED)
        p->atlas[1] = p->atlas[0];
    return status;
}

const char *classic_defines(classic_form form)
{
    return form == CLASSIC_THREE_FETCHES ? NULL : "#define PARTIAL_SUMS\n";
}

static tml_status draw_level(tml_context *tml, const classic_pyramid *p, const gl_texture *below,
                             uint32_t left_below, uint32_t side, const gl_texture *out,
                             uint32_t left)
{
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_classic_level,
                            .defines = classic_defines(p->form),
                            .inputs = {{"below", below}},
                            .uniforms = {GL_INT1("left", (int32_t)left),
                                         GL_INT1("left_below", (int32_t)left_below)},
                            .targets = {out},
                            .area = {left, 0, side, side},
                        });
}

/* Copies the drawn part of a level to its columns. */
static tml_status copy_level(tml_context *tml, const gl_texture *level, uint32_t side,
                             const gl_texture *atlas)
{
    const gl_functions *fn = &gl_device_of(tml)->fn;
    GLuint framebuffer;
    tml_status status = gl_texture_framebuffer(tml, level, &framebuffer);
    if (status)
        return status;
    fn->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    fn->ActiveTexture(GL_TEXTURE0);
    fn->BindTexture(GL_TEXTURE_2D, atlas->name);
    fn->CopyTexSubImage2D(GL_TEXTURE_2D, 0, (GLint)side, 0, 0, 0, (GLsizei)side, (GLsizei)side);
    return TML_OK;
}

static tml_status build_copied(tml_context *tml, const classic_pyramid *p)
{
    const gl_texture *below = p->base, *level = NULL;
    tml_status status = TML_OK;
    for (uint32_t side = p->side / 2; side > 0 && !status; side /= 2) {
        status = gl_temporary_image(tml, p->base->format, side, side, &level);
        if (!status)
            status = draw_level(tml, p, below, 0, side, level, 0);
        if (!status)
            status = copy_level(tml, level, side, p->atlas[0]);
        below = level;
    }
    return status;
}

tml_status classic_build(tml_context *tml, const classic_pyramid *p)
{
    const gl_texture *below = p->base;
    tml_status status = TML_OK;
    if (p->form == CLASSIC_COPIED)
        return build_copied(tml, p);
    for (uint32_t level = 0; level < p->levels && !status; level++) {
        uint32_t side = p->side >> (level + 1);
        const gl_texture *out = p->atlas[level & 1];
        status = draw_level(tml, p, below, level ? 2 * side : 0, side, out, side);
        below = out;
    }
    return status;
}

tml_status classic_total(tml_context *tml, const classic_pyramid *p, const gl_texture **out)
{
    const gl_texture *apex = p->levels ? p->atlas[(p->levels - 1) & 1] : p->base;
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, 1, out);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_classic_total,
                                  .defines = classic_defines(p->form),
                                  .inputs = {{"apex", apex}},
                                  .uniforms = {GL_INT1("left", p->levels ? 1 : 0)},
                                  .targets = {*out},
                                  .count = 1,
                              });
    return status;
}

static tml_status draw_base(tml_context *tml, const papers_filter_desc *desc, uint64_t count,
                            const classic_pyramid *p)
{
    tml_buffer in[TML_MAX_INPUTS] = {desc->in};
    const tml_length length = {.count = count};
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_classic_base,
                            .defines = classic_defines(p->form),
                            .kernel = {desc->keep, &desc->params, in},
                            .length = &length,
                            .uniforms = {GL_UINT("side", papers_square_side(count))},
                            .targets = {p->base},
                            .area = {0, 0, p->side, p->side},
                        });
}

static tml_status draw_outputs(tml_context *tml, const papers_filter_desc *desc, uint64_t count,
                               const classic_pyramid *p, const gl_texture *total, bool in_vertices,
                               uint64_t outputs)
{
    const gl_texture *out = gl_texture_of(tml, desc->out);
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_classic_outputs,
                            .defines = in_vertices ? "#define PARTIAL_SUMS\n#define IN_VERTICES\n"
                                                   : classic_defines(p->form),
                            .inputs = {{"values", gl_texture_of(tml, desc->in)},
                                       {"base", p->base},
                                       {"low", p->atlas[0]},
                                       {"high", p->atlas[1]},
                                       {"totals", total}},
                            .uniforms = {GL_INT1("levels", (int32_t)p->levels),
                                         GL_UINT("side", papers_square_side(count)),
                                         GL_UINT("row_log2", gl_row_log2(tml)),
                                         GL_UINT2("target", out->width, out->height)},
                            .targets = {out},
                            .count = outputs,
                            .are_points = in_vertices,
                        });
}

static tml_status run(tml_context *tml, classic_form form, bool in_vertices,
                      const papers_filter_desc *desc)
{
    uint64_t count = tml_slot_of(tml, desc->in)->count;
    uint64_t outputs = TML_MIN_OF(tml_slot_of(tml, desc->out)->count, count);
    classic_pyramid pyramid;
    const gl_texture *total;
    tml_status status = classic_take(tml, form, papers_square_side(count), &pyramid);
    if (!status)
        status = draw_base(tml, desc, count, &pyramid);
    if (!status)
        status = classic_build(tml, &pyramid);
    if (!status)
        status = classic_total(tml, &pyramid, &total);
    if (!status)
        status = gl_exact(tml, total, 0, &outputs);
    if (!status)
        status = draw_outputs(tml, desc, count, &pyramid, total, in_vertices, outputs);
    return status ? status : gl_store_count(tml, desc->count, total, 0);
}

static tml_status filter(tml_context *tml, classic_form form, bool in_vertices,
                         const papers_filter_desc *desc)
{
    static const tml_type types[] = {TML_U32, TML_TYPE_NONE};
    static const char call[] = "a filter by a classic HistoPyramid";
    tml_status status = classic_check(tml, call);
    if (!status)
        status = tml_check_buffer(tml, call, "in", desc->in, types, 1);
    if (!status)
        status = tml_check_buffer(tml, call, "out", desc->out, types, 0);
    if (!status)
        status = tml_check_buffer(tml, call, "count", desc->count, types, 1);
    if (status)
        return status;
    uint64_t count = tml_slot_of(tml, desc->in)->count;
    if (count > CLASSIC_MOST)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: in has %llu elements, needs at most %llu: sums are floats", call,
                         (unsigned long long)count, CLASSIC_MOST);
    status = gl_enter(tml);
    if (status)
        return status;
    status = run(tml, form, in_vertices, desc);
    gl_leave(tml);
    return status;
}

tml_status papers_one_fetch_filter(tml_context *tml, const papers_filter_desc *desc)
{
    return filter(tml, CLASSIC_PARTIAL_SUMS, false, desc);
}

tml_status papers_three_fetches_filter(tml_context *tml, const papers_filter_desc *desc)
{
    return filter(tml, CLASSIC_THREE_FETCHES, false, desc);
}

tml_status papers_copied_levels_filter(tml_context *tml, const papers_filter_desc *desc)
{
    return filter(tml, CLASSIC_COPIED, false, desc);
}

tml_status papers_vertices_filter(tml_context *tml, const papers_filter_desc *desc)
{
    return filter(tml, CLASSIC_PARTIAL_SUMS, true, desc);
}
