/* Builds and descends HistoPyramids (gl_float_pyramid.h). */
#include "gl_float/gl_float_pyramid.h"

#include <stdio.h>

#include "gl_float_shaders.h"

static bool has_floats(const gl_float_pyramid *p)
{
    return p->base->format == GL_FORMAT_FLOATS;
}

/* Texels of a level. */
static uint64_t level_texels(uint64_t items, bool floats, uint32_t level)
{
    uint64_t children = (uint64_t)1 << 2 * (level + floats);
    return TML_MAX_OF(TML_CEIL_DIV(items, children), 1u);
}

tml_status gl_float_pyramid_take(tml_context *tml, uint64_t items, gl_float_pyramid *out)
{
    gl_format format = gl_float_values(gl_device_of(tml));
    bool floats = format == GL_FORMAT_FLOATS;
    *out = (gl_float_pyramid){.items = items, .level_count = 1};
    uint64_t used[2] = {1, 1}; /* even, odd; at least one texel */
    for (uint64_t nodes = 4; nodes < items; nodes *= 4) {
        uint32_t level = out->level_count++;
        uint64_t *texels = &used[level % 2];
        out->first[level] = level < 3 ? 0 : *texels;
        *texels = out->first[level] + level_texels(items, floats, level);
    }
    tml_status status = gl_temporary(tml, format, level_texels(items, floats, 0), &out->base);
    TML_THEN(status, gl_temporary(tml, format, used[1], &out->odd));
    TML_THEN(status, gl_temporary(tml, format, used[0], &out->even));
    return status == TML_OK ? gl_temporary(tml, GL_FORMAT_BYTES, 1, &out->total) : status;
}

void gl_float_pyramid_release(tml_context *tml, const gl_float_pyramid *p)
{
    gl_release(tml, p->base);
    gl_release(tml, p->odd);
    gl_release(tml, p->even);
    gl_release(tml, p->total);
}

uint64_t gl_float_base_texels(const gl_float_pyramid *p)
{
    return level_texels(p->items, has_floats(p), 0);
}

static const gl_texture *level_texture(const gl_float_pyramid *p, uint32_t level)
{
    return level == 0 ? p->base : level % 2 ? p->odd : p->even;
}

tml_status gl_float_pyramid_build(tml_context *tml, const gl_float_pyramid *p)
{
    bool floats = has_floats(p);
    tml_status status = TML_OK;
    for (uint32_t level = 1; level <= p->level_count && status == TML_OK; level++) {
        bool is_total = level == p->level_count;
        uint64_t first = is_total ? 0 : p->first[level];
        status = gl_draw(
            tml, &(gl_draw_info){
                     .shader = &gl_shader_float_level,
                     .defines = floats ? "#define CHILD_FLOATS 1\n" : "#define CHILD_FLOATS 0\n",
                     .inputs = {{"children", level_texture(p, level - 1)}},
                     .uniforms = {GL_FLOAT1("first", (float)first),
                                  GL_FLOAT1("child_first", (float)p->first[level - 1]),
                                  GL_FLOAT1("child_count",
                                            (float)level_texels(p->items, floats, level - 1))},
                     .targets = {is_total ? p->total : level_texture(p, level)},
                     .first = first,
                     .count = is_total ? 1 : level_texels(p->items, floats, level),
                 });
    }
    return status;
}

tml_status gl_float_locate(tml_context *tml, const gl_float_pyramid *p, bool ranks, uint64_t count,
                           const gl_texture **out)
{
    char defines[80];
    snprintf(defines, sizeof defines, "#define LEVELS %u\n#define FLOATS %d\n%s",
             (unsigned)p->level_count, has_floats(p), ranks ? "#define RANK\n" : "");
    float f[16] = {0};
    for (uint32_t level = 0; level < p->level_count; level++)
        f[level] = (float)p->first[level];
    tml_status status = gl_temporary(tml, GL_FORMAT_BYTES, TML_MAX_OF(count, 1u), out);
    if (status != TML_OK)
        return status;
    return gl_draw(
        tml,
        &(gl_draw_info){
            .shader = &gl_shader_float_locate,
            .defines = defines,
            .inputs = {{"level_base", p->base}, {"level_odd", p->odd}, {"level_even", p->even}},
            .uniforms = {GL_FLOAT4("firsts_0", f[0], f[1], f[2], f[3]),
                         GL_FLOAT4("firsts_4", f[4], f[5], f[6], f[7]),
                         GL_FLOAT4("firsts_8", f[8], f[9], f[10], f[11]),
                         GL_FLOAT4("firsts_12", f[12], f[13], f[14], f[15])},
            .targets = {*out},
            .count = count,
        });
}

tml_status gl_float_total(tml_context *tml, const gl_float_pyramid *p, uint64_t *out)
{
    uint32_t word = 0;
    tml_status status = gl_read_words(tml, p->total, 0, 1, &word);
    *out = word;
    return status;
}

tml_status gl_float_store_total(tml_context *tml, const gl_float_pyramid *p, tml_buffer out)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    if (!slot)
        return TML_OK;
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_float_count,
                            .inputs = {{"total", p->total}},
                            .targets = {gl_slot_texture(slot)},
                            .count = slot->element_size / 4,
                        });
}

tml_status gl_float_gather(tml_context *tml, const gl_float_pyramid *p, const gl_texture *sources,
                           tml_buffer in, tml_buffer out, uint64_t count)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    size_t size = slot->element_size;
    const gl_texture *from = gl_texture_of(tml, in), *to = gl_slot_texture(slot);
    bool by_bytes = size % 4 != 0;
    char defines[64];
    snprintf(defines, sizeof defines,
             by_bytes ? "#define BYTES\n#define SIZE %zu.0\n"
             : from   ? "#define EACH %zu.0\n"
                      : "#define INDEX\n#define EACH %zu.0\n",
             by_bytes ? size : size / 4);
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_float_gather,
                            .defines = defines,
                            .inputs = {{"sources", sources},
                                       {"total", p->total},
                                       {"elements", from},
                                       {"old", by_bytes ? to : NULL}},
                            .targets = {to},
                            .count = gl_words(TML_MIN_OF(count, slot->count), size),
                            .in_place = by_bytes || from == to,
                        });
}
