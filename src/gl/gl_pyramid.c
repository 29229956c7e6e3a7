/* Builds HistoPyramids (gl_pyramid.h). */
#include "gl/gl_pyramid.h"

#include "gl_shaders.h"

enum { FAN = 4, BITS_A_TEXEL = 128, COUNTS_A_TEXEL = 4 };

uint64_t gl_pyramid_base_texels(const gl_pyramid *pyramid)
{
    uint64_t per = pyramid->is_bits ? BITS_A_TEXEL : COUNTS_A_TEXEL;
    return TML_MAX_OF(TML_CEIL_DIV(pyramid->items, per), (uint64_t)1);
}

/* Nodes of the levels above the one at this depth below the apex. */
static uint32_t nodes_above(uint32_t depth)
{
    return ((UINT32_C(1) << (2 * depth)) - 1) / (FAN - 1);
}

void gl_pyramid_lay_out(bool is_bits, uint64_t items, gl_pyramid *out)
{
    *out = (gl_pyramid){.is_bits = is_bits, .items = items};
    uint64_t nodes = gl_pyramid_base_texels(out);
    do {
        nodes = TML_CEIL_DIV(nodes, FAN);
        out->level_nodes[out->level_count++] = (uint32_t)nodes;
    } while (nodes > 1);
    for (uint32_t level = 0; level < out->level_count; level++)
        out->level_first[level] = nodes_above(out->level_count - 1 - level);
}

static uint32_t apex_of(const gl_pyramid *pyramid)
{
    return pyramid->level_count - 1;
}

tml_status gl_pyramid_take(tml_context *tml, bool is_bits, uint64_t items, gl_pyramid *out)
{
    assert(items <= (is_bits ? (uint64_t)GL_PYRAMID_BITS_MAX : (uint64_t)GL_PYRAMID_ITEMS_MAX));
    gl_pyramid_lay_out(is_bits, items, out);
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, gl_pyramid_base_texels(out), &out->base);
    /* In each texture, the lowest of its levels comes last. A pyramid of one level has one
     * texture. */
    for (uint32_t a = 0; a < 2 && !status; a++) {
        if (a < out->level_count)
            status = gl_temporary(tml, GL_FORMAT_QUADS,
                                  TML_MAX_OF(out->level_first[a] + out->level_nodes[a], 2u),
                                  &out->atlas[a]);
        else
            out->atlas[a] = out->atlas[0];
    }
    return status;
}

tml_status gl_pyramid_build(tml_context *tml, const gl_pyramid *pyramid)
{
    const gl_texture *below = pyramid->base;
    uint32_t below_first = 0, below_count = (uint32_t)gl_pyramid_base_texels(pyramid);
    tml_status status = TML_OK;
    for (uint32_t level = 0; level < pyramid->level_count && !status; level++) {
        /* Variants: the kind of children, and whether the level is the apex. */
        static const char *const defines[3][2] = {
            {NULL, "#define APEX\n"},
            {"#define CHILD_BITS\n", "#define CHILD_BITS\n#define APEX\n"},
            {"#define CHILD_COUNTS\n", "#define CHILD_COUNTS\n#define APEX\n"},
        };
        int child = level > 0 ? 0 : pyramid->is_bits ? 1 : 2;
        bool is_apex = level == apex_of(pyramid);
        uint32_t first = pyramid->level_first[level];
        const gl_draw_info info = {
            .shader = &gl_shader_pyramid_level,
            .defines = defines[child][is_apex],
            .inputs = {{"children", below}},
            .uniforms = {GL_UINT("first", first), GL_UINT("child_first", below_first),
                         GL_UINT("child_count", below_count)},
            .targets = {pyramid->atlas[level & 1]},
            .first = first,
            .count = is_apex ? 2 : pyramid->level_nodes[level],
        };
        status = gl_draw(tml, &info);
        below = pyramid->atlas[level & 1];
        below_first = first;
        below_count = pyramid->level_nodes[level];
    }
    return status;
}

static void add_input(gl_draw_info *info, const char *name, const gl_texture *texture)
{
    size_t i = 0;
    while (info->inputs[i].name)
        i++;
    assert(i + 1 < GL_INPUTS_MAX);
    info->inputs[i] = (gl_input){name, texture};
}

static void add_uint(gl_draw_info *info, const char *name, uint32_t value)
{
    size_t i = 0;
    while (info->uniforms[i].name)
        i++;
    assert(i + 1 < GL_UNIFORMS_MAX);
    info->uniforms[i] = (gl_uniform)GL_UINT(name, value);
}

void gl_pyramid_bind(gl_draw_info *info, const gl_pyramid *pyramid)
{
    add_input(info, "pyramid_base", pyramid->base);
    add_input(info, "pyramid_low", pyramid->atlas[0]);
    add_input(info, "pyramid_high", pyramid->atlas[1]);
    add_uint(info, "pyramid_levels", pyramid->level_count);
    add_uint(info, "pyramid_leaf", nodes_above(pyramid->level_count));
}

const char *gl_pyramid_defines(const gl_pyramid *pyramid)
{
    return pyramid->is_bits ? "#define PYRAMID_BITS\n" : "#define PYRAMID_COUNTS\n";
}

const gl_texture *gl_pyramid_total(const gl_pyramid *pyramid, uint64_t *texel)
{
    *texel = 1; /* APEX in pyramid_level.frag */
    return pyramid->atlas[apex_of(pyramid) & 1];
}
