/* Marching cubes by HistoPyramids. A pyramid over all cells, whose slices are tiles of a square,
 * counts the vertices of each cell's triangles. A descent for each vertex finds its cell and its
 * edge, and may compute its normal. A variant without a pyramid reserves room for five triangles,
 * the most possible, per cell, and so shows what compaction saves.
 *
 * After: Dyken, Ziegler, Theobalt, Seidel: High-speed Marching Cubes using HistoPyramids. 2008. */
#include "classic_pyramid.h"

#include "papers_shaders.h"

#include <stdio.h>

enum {
    CHUNK = 1 << 20, /* vertices of one draw, as for the library's surface */
    CASES = 256,
};

typedef struct classic_surface {
    const papers_surface_desc *desc;
    const gl_texture *volume, *cases, *cell_cases, *total;
    classic_pyramid pyramid;
    uint32_t tile_log2, tiles_log2; /* a slice's side; slices in a row of tiles */
} classic_surface;

/* Chooses the tiles' sizes; each slice of cells is a tile of the square. Returns the square's
 * side. */
static uint32_t lay_out(classic_surface *s)
{
    const uint64_t *dims = s->desc->dims;
    while ((UINT64_C(1) << s->tile_log2) < TML_MAX_OF(dims[0], dims[1]))
        s->tile_log2++;
    while ((UINT64_C(1) << (2 * s->tiles_log2)) < dims[2])
        s->tiles_log2++;
    return 1u << (s->tile_log2 + s->tiles_log2);
}

#define CELL_UNIFORMS(s)                                                                           \
    GL_UINT3("dims", (uint32_t)(s)->desc->dims[0], (uint32_t)(s)->desc->dims[1],                   \
             (uint32_t)(s)->desc->dims[2]),                                                        \
        GL_UINT("tile_log2", (s)->tile_log2), GL_UINT("tiles_log2", (s)->tiles_log2),              \
        GL_FLOAT1("iso", (s)->desc->iso)

static tml_status draw_cells(tml_context *tml, const classic_surface *s)
{
    return gl_draw(tml, &(gl_draw_info){
                            .shader = &gl_shader_classic_cells,
                            .defines = classic_defines(s->pyramid.form),
                            .inputs = {{"volume", s->volume}, {"cases", s->cases}},
                            .uniforms = {CELL_UNIFORMS(s)},
                            .targets = {s->pyramid.base, s->cell_cases},
                            .area = {0, 0, s->pyramid.side, s->pyramid.side},
                        });
}

static tml_status draw_vertices(tml_context *tml, const classic_surface *s, uint64_t first,
                                uint64_t count, const gl_texture *const targets[2])
{
    const char *form = classic_defines(s->pyramid.form);
    bool is_scattered = s->desc->scattered;
    char defines[96];
    snprintf(defines, sizeof defines, targets[1] ? "%s%s#define NORMALS %d\n" : "%s%s",
             form ? form : "", is_scattered ? "#define SCATTERED\n" : "", (int)s->desc->normals);
    return gl_draw(
        tml, &(gl_draw_info){
                 .shader = &gl_shader_classic_vertices,
                 .defines = defines,
                 .inputs = {{"volume", s->volume},
                            {"cases", s->cases},
                            {"cell_cases", s->cell_cases},
                            {is_scattered ? NULL : "base", s->pyramid.base},
                            {"low", s->pyramid.atlas[0]},
                            {"high", s->pyramid.atlas[1]},
                            {"totals", s->total}},
                 .uniforms = {CELL_UNIFORMS(s), GL_UINT("first", (uint32_t)first),
                              GL_INT1(is_scattered ? NULL : "levels", (int32_t)s->pyramid.levels)},
                 .targets = {targets[0], targets[1]},
                 .count = count,
             });
}

static tml_status copy_vectors(tml_context *tml, uint64_t first, uint64_t count,
                               const gl_texture *from, tml_buffer out)
{
    if (tml_buffer_is_none(out))
        return TML_OK;
    return gl_draw(tml, &(gl_draw_info){.shader = &gl_shader_marching_words,
                                        .inputs = {{"positions", from}},
                                        .uniforms = {GL_UINT("first", (uint32_t)(3 * first))},
                                        .targets = {gl_texture_of(tml, out)},
                                        .first = 3 * first,
                                        .count = 3 * count});
}

/* Makes the vertices, and copies them and their normals to the requested outputs. */
static tml_status make_vertices(tml_context *tml, const classic_surface *s)
{
    const papers_surface_desc *desc = s->desc;
    const gl_texture *targets[2] = {NULL, NULL};
    uint64_t chunk = TML_MIN_OF(desc->room, (uint64_t)CHUNK);
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, chunk, &targets[0]);
    if (!status && desc->normals)
        status = gl_temporary(tml, GL_FORMAT_QUADS, chunk, &targets[1]);
    for (uint64_t first = 0; first < desc->room && !status; first += chunk) {
        uint64_t count = TML_MIN_OF(desc->room - first, chunk);
        status = draw_vertices(tml, s, first, count, targets);
        if (!status)
            status = copy_vectors(tml, first, count, targets[0], desc->out);
        if (!status && desc->normals)
            status = copy_vectors(tml, first, count, targets[1], desc->out_normals);
    }
    return status;
}

static tml_status run(tml_context *tml, const papers_surface_desc *desc)
{
    classic_surface s = {.desc = desc, .volume = gl_texture_of(tml, desc->volume)};
    uint32_t side = lay_out(&s);
    if ((uint64_t)side * side > CLASSIC_MOST)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "papers_surface: a square of %u x %u cells, at most %llu: sums are floats",
                         (unsigned)side, (unsigned)side, CLASSIC_MOST);
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, CASES, &s.cases);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){.shader = &gl_shader_marching_cases,
                                              .targets = {s.cases},
                                              .count = CASES});
    if (!status)
        status = classic_take(tml, desc->one_fetch ? CLASSIC_PARTIAL_SUMS : CLASSIC_THREE_FETCHES,
                              side, &s.pyramid);
    if (!status)
        status = gl_temporary_image(tml, desc->one_fetch ? GL_FORMAT_QUADS : GL_FORMAT_WORDS,
                                    s.pyramid.side, s.pyramid.side, &s.cell_cases);
    if (!status)
        status = draw_cells(tml, &s);
    if (!status && !desc->scattered)
        status = classic_build(tml, &s.pyramid);
    if (!status && !desc->scattered)
        status = classic_total(tml, &s.pyramid, &s.total);
    if (!status)
        status = make_vertices(tml, &s);
    return status || desc->scattered ? status : gl_store_count(tml, desc->count, s.total, 0);
}

tml_status papers_surface(tml_context *tml, const papers_surface_desc *desc)
{
    static const tml_type types[] = {TML_F32, TML_TYPE_NONE};
    const uint64_t *dims = desc->dims;
    tml_status status = classic_check(tml, "papers_surface");
    if (!status)
        status = tml_check_buffer(tml, "papers_surface", "volume", desc->volume, types,
                                  dims[0] * dims[1] * dims[2]);
    if (!status)
        status = gl_enter(tml);
    if (status)
        return status;
    status = run(tml, desc);
    gl_leave(tml);
    return status;
}
