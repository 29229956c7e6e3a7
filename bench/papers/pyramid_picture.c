/* The picture of a compaction's HistoPyramid: a band for each level, drawn and read back. */
#include "gl/gl_parts.h"
#include "papers.h"

#include "papers_shaders.h"

enum {
    BITS_A_TEXEL_LOG2 = 7,
    BAND_ROWS = 12,
    GAP_ROWS = 4,
    WIDTH_LOG2_MIN = 10,
    WIDTH_LOG2_MAX = 11
};

/* One band; band 0 is the apex, the last one the base. */
typedef struct picture_band {
    uint32_t nodes, node_rows, rows, top; /* rows of pixels: a row of nodes, all, above */
} picture_band;

typedef struct picture_layout {
    uint32_t width_log2, height, band_count;
    picture_band bands[GL_PYRAMID_LEVELS + 1];
} picture_layout;

/* Lays out the bands; the picture is about as wide as high. */
static void lay_out(const gl_pyramid *pyramid, picture_layout *out)
{
    uint64_t base = gl_pyramid_base_texels(pyramid);
    *out = (picture_layout){
        .width_log2 = WIDTH_LOG2_MIN, .height = GAP_ROWS, .band_count = pyramid->level_count + 1};
    while (out->width_log2 < WIDTH_LOG2_MAX && base >> (2 * out->width_log2) > 0)
        out->width_log2++;
    for (uint32_t b = 0; b < out->band_count; b++) {
        bool is_base = b == pyramid->level_count;
        picture_band *band = &out->bands[b];
        band->nodes = is_base ? (uint32_t)base : pyramid->level_nodes[pyramid->level_count - 1 - b];
        uint32_t rows = (band->nodes + (1u << out->width_log2) - 1) >> out->width_log2;
        band->node_rows = TML_MAX_OF(BAND_ROWS / rows, 1u);
        band->rows = rows * band->node_rows;
        band->top = out->height;
        out->height += band->rows + GAP_ROWS;
    }
}

void papers_picture_size(uint64_t length, uint32_t *width, uint32_t *height)
{
    gl_pyramid pyramid;
    picture_layout layout;
    gl_pyramid_lay_out(true, TML_MIN_OF(length, (uint64_t)GL_PYRAMID_ITEMS_MAX), &pyramid);
    lay_out(&pyramid, &layout);
    *width = UINT32_C(1) << layout.width_log2;
    *height = layout.height;
}

static tml_status draw_band(tml_context *tml, const gl_pyramid *pyramid,
                            const picture_layout *layout, uint32_t b, const gl_texture *picture)
{
    const picture_band *band = &layout->bands[b];
    bool is_base = b == pyramid->level_count;
    uint32_t level = is_base ? 0 : pyramid->level_count - 1 - b;
    uint32_t levels_below = is_base ? 0 : level + 1;
    uint32_t start = band->top << layout->width_log2;
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_pyramid_picture,
                 .defines = is_base ? "#define BASE\n" : NULL,
                 .inputs = {{"level", is_base ? pyramid->base : pyramid->atlas[level & 1]}},
                 .uniforms = {GL_UINT("width_log2", layout->width_log2), GL_UINT("band", start),
                              GL_UINT("first", is_base ? 0 : pyramid->level_first[level]),
                              GL_UINT("nodes", band->nodes), GL_UINT("node_rows", band->node_rows),
                              GL_UINT("items_log2", BITS_A_TEXEL_LOG2 + 2 * levels_below),
                              GL_UINT("items", (uint32_t)pyramid->items)},
                 .targets = {picture},
                 .first = start,
                 .count = (uint64_t)band->rows << layout->width_log2,
             });
}

static tml_status paint(tml_context *tml, const gl_pyramid *pyramid, uint8_t *out)
{
    picture_layout layout;
    lay_out(pyramid, &layout);
    uint64_t pixels = (uint64_t)layout.height << layout.width_log2;
    const gl_texture *picture;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, pixels, &picture);
    if (!status) /* the background: a band without nodes */
        status = gl_draw(tml, &(gl_draw_info){.shader = &gl_shader_pyramid_picture,
                                              .inputs = {{"level", pyramid->base}},
                                              .uniforms = {GL_UINT("width_log2", layout.width_log2),
                                                           GL_UINT("band", 0), GL_UINT("nodes", 0)},
                                              .targets = {picture},
                                              .count = pixels});
    for (uint32_t b = 0; b < layout.band_count && !status; b++)
        status = draw_band(tml, pyramid, &layout, b, picture);
    uint32_t *words = tml_alloc(tml, pixels * sizeof *words);
    if (!status && !words)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture of %llu pixels",
                           (unsigned long long)pixels);
    if (!status)
        status = gl_read_words(tml, picture, 0, pixels, words);
    for (uint64_t i = 0; i < 4 * pixels && !status; i++)
        out[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
    tml_free(tml, words, pixels * sizeof *words);
    gl_release(tml, picture);
    return status;
}

static tml_status run(tml_context *tml, const papers_picture_desc *desc)
{
    const tml_length length = tml_length_of(desc->length);
    gl_pyramid pyramid;
    tml_status status = gl_pyramid_take(tml, true, desc->length, &pyramid);
    if (!status)
        status = gl_draw(
            tml, &(gl_draw_info){.shader = &gl_shader_picture_base,
                                 .kernel = {desc->keep.kernel, &desc->keep.params, desc->keep.in},
                                 .length = &length,
                                 .targets = {pyramid.base},
                                 .count = gl_pyramid_base_texels(&pyramid)});
    if (!status)
        status = gl_pyramid_build(tml, &pyramid);
    if (!status)
        status = paint(tml, &pyramid, desc->rgba);
    uint64_t texel;
    const gl_texture *total = gl_pyramid_total(&pyramid, &texel);
    return status ? status : gl_store_count(tml, desc->count, total, texel);
}

tml_status papers_picture(tml_context *tml, const papers_picture_desc *desc)
{
    if (tml->engine != &tml_gl_engine)
        return tml_refuse(tml, "papers_picture", "no pyramid that could be painted");
    if (desc->length > GL_PYRAMID_ITEMS_MAX)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "papers_picture: more than 2^30 elements");
    tml_status status = gl_enter(tml);
    if (status)
        return status;
    status = run(tml, desc);
    gl_leave(tml);
    return status;
}
