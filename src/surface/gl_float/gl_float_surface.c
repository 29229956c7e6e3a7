/* Soup surfaces on the float tier: a HistoPyramid over the cells' triangle counts. Each triangle
 * descends it; each vertex reads its cell's samples again. Counts and order are the CPU engine's.
 * After: Dyken, Ziegler, Theobalt, Seidel: High-speed Marching Cubes using HistoPyramids. 2008. */
#include <stdio.h>
#include <string.h>

#include "gl_float/gl_float_parts.h"
#include "surface/surface_internal.h"
#include "surface_gl_float_shaders.h"

#include "kernels/kernel.h"

#include "surface_tables.k.h"

#include "kernels/kernel_end.h"

enum { CASE_BYTES = 16 };
_Static_assert(TML_U8 == 1 && TML_U16 == 3 && TML_F32 == 10, "float_cells.glsl has these");

static uint64_t cell_count(const surface_part *part)
{
    const uint64_t *count = part->box.count;
    return (count[0] - 1) * (count[1] - 1) * (count[2] - 1);
}

static bool refuse(tml_context *tml, const char *what)
{
    (void)tml_error(tml, TML_ERROR_UNSUPPORTED,
                    "tml_surface: on %s: %s; use the integer path or another engine",
                    tml->engine->tier(tml), what);
    return false;
}

static bool float_surface_supports(tml_context *tml, const surface_plan *plan)
{
    if (!plan->soup || (plan->stage != SURFACE_COUNT && plan->stage != SURFACE_EMIT))
        return refuse(tml, "only tml_surface with desc.soup and no filters");
    if (!plan->volume || plan->mask || plan->attribute || plan->labels || plan->caps ||
        plan->normals != TML_NORMALS_NONE)
        return refuse(tml, "no fields, masks, attributes, labels, caps or normals");
    if (plan->type != TML_U8 && plan->type != TML_U16 && plan->type != TML_F32)
        return refuse(tml, "only volumes of u8, u16 and f32");
    return gl_float_count_supported(tml, "tml_surface: samples", plan->volume->count);
}

/* Makes the case table, as a texture in the format of float_cells.glsl. */
static tml_status make_table(tml_context *tml, const gl_texture **out)
{
    uint8_t bytes[256 * CASE_BYTES] = {0};
    for (unsigned i = 0; i < 256; i++) {
        uint8_t *entry = &bytes[i * CASE_BYTES];
        for (unsigned k = 0; k < 3 * surface_case_count[i]; k++)
            entry[k] = surface_case_edges[2 * i + k / 8] >> (4 * (k % 8)) & 0xf;
        entry[CASE_BYTES - 1] = (uint8_t)surface_case_count[i];
    }
    tml_status status = gl_temporary(tml, GL_FORMAT_BYTES, sizeof bytes / 4, out);
    if (status == TML_OK)
        gl_write_words(tml, *out, 0, sizeof bytes / 4, bytes);
    return status;
}

typedef struct surface_draw {
    const surface_plan *plan;
    const surface_part *part;
    const gl_texture *table;
    char defines[64];
} surface_draw;

/* Returns a draw with the inputs and uniforms of float_cells.glsl. */
static gl_draw_info draw_of(surface_draw *draw, const gl_shader *shader, const char *more)
{
    const surface_plan *plan = draw->plan;
    const uint64_t *first = draw->part->box.first, *count = draw->part->box.count;
    uint64_t row = plan->dims[0], layer = row * plan->dims[1];
    /* Samples are floats in shaders. sample >= least if and only if sample >= the isovalue. */
    float least = surface_limits_of_part(plan, draw->part).index_iso;
    snprintf(draw->defines, sizeof draw->defines, "#define TYPE %u\n%s", (unsigned)plan->type,
             more);
    return (gl_draw_info){
        .shader = shader,
        .defines = draw->defines,
        .inputs = {{"volume", gl_slot_texture(plan->volume)}, {"table", draw->table}},
        .uniforms =
            {{.name = "cells",
              .kind = 'f',
              .components = 2,
              .f = {(float)(count[0] - 1), (float)((count[0] - 1) * (count[1] - 1))}},
             GL_FLOAT3("strides", (float)row, (float)layer,
                       (float)(first[0] + row * first[1] + layer * first[2])),
             {.name = "iso", .kind = 'f', .components = 2, .f = {least, (float)draw->part->iso}}},
    };
}

/* Builds the pyramid over a part's triangles; with ACTIVE, over its active cells. */
static tml_status build(tml_context *tml, surface_draw *draw, const char *what,
                        gl_float_pyramid *out)
{
    const tml_length length = {.count = cell_count(draw->part)};
    tml_status status = gl_float_pyramid_take(tml, length.count, out);
    if (status != TML_OK)
        return status;
    gl_draw_info info = draw_of(draw, &gl_shader_float_cells_base, what);
    info.length = &length;
    info.targets[0] = out->base;
    info.count = gl_float_base_texels(out);
    status = gl_draw(tml, &info);
    return status == TML_OK ? gl_float_pyramid_build(tml, out) : status;
}

static tml_status count_part(tml_context *tml, surface_draw *draw, surface_part *part)
{
    gl_float_pyramid triangles, active = {0};
    tml_status status = build(tml, draw, "", &triangles);
    TML_THEN(status, gl_float_total(tml, &triangles, &part->triangle_count));
    if (status == TML_OK && part->triangle_count >= GL_FLOAT_MAX)
        status = tml_error(tml, TML_ERROR_UNSUPPORTED,
                           "tml_surface: %d triangles or more, and %s counts exactly to less; "
                           "surface a region at a time",
                           GL_FLOAT_MAX, tml->engine->tier(tml));
    gl_float_pyramid_release(tml, &triangles);
    TML_THEN(status, build(tml, draw, "#define ACTIVE\n", &active));
    TML_THEN(status, gl_float_total(tml, &active, &part->active_cells));
    part->vertex_count = 3 * part->triangle_count;
    gl_float_pyramid_release(tml, &active);
    return status;
}

static tml_status emit_part(tml_context *tml, surface_draw *draw)
{
    const surface_plan *plan = draw->plan;
    const surface_part *part = draw->part;
    const double(*step)[3] = plan->axes.step;
    gl_float_pyramid triangles;
    const gl_texture *sources = NULL, *ranks = NULL;
    tml_status status = build(tml, draw, "", &triangles);
    TML_THEN(status, gl_float_locate(tml, &triangles, false, part->triangle_count, &sources));
    TML_THEN(status, gl_float_locate(tml, &triangles, true, part->triangle_count, &ranks));
    gl_float_pyramid_release(tml, &triangles);
    if (status != TML_OK)
        return status;
    gl_draw_info info =
        draw_of(draw, &gl_shader_float_soup, plan->axes.flip_winding ? "#define FLIP\n" : "");
    info.inputs[2] = (gl_input){"sources", sources};
    info.inputs[3] = (gl_input){"ranks", ranks};
    info.first = 9 * part->triangle_first;
    info.count = 9 * part->triangle_count;
    info.targets[0] = gl_slot_texture(plan->mesh.positions);
    double origin[3];
    for (int c = 0; c < 3; c++) {
        origin[c] = plan->axes.origin[c];
        for (int a = 0; a < 3; a++)
            origin[c] += step[a][c] * (double)part->box.first[a];
    }
    const gl_uniform more[] = {
        GL_FLOAT1("first", (float)info.first),
        GL_FLOAT3("origin", (float)origin[0], (float)origin[1], (float)origin[2]),
        GL_FLOAT3("step_x", (float)step[0][0], (float)step[0][1], (float)step[0][2]),
        GL_FLOAT3("step_y", (float)step[1][0], (float)step[1][1], (float)step[1][2]),
        GL_FLOAT3("step_z", (float)step[2][0], (float)step[2][1], (float)step[2][2])};
    memcpy(&info.uniforms[3], more, sizeof more);
    status = gl_draw(tml, &info);
    gl_release(tml, sources);
    gl_release(tml, ranks);
    return status;
}

static tml_status float_surface_run(tml_context *tml, const surface_plan *plan)
{
    surface_draw draw = {.plan = plan};
    tml_status status = make_table(tml, &draw.table);
    bool is_count = plan->stage == SURFACE_COUNT;
    double start = tml_seconds();
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        surface_part *part = &plan->parts[p];
        draw.part = part;
        if (is_count && cell_count(part) > 0)
            status = count_part(tml, &draw, part);
        else if (!is_count && part->triangle_count > 0)
            status = emit_part(tml, &draw);
        double done = (double)(p + 1) / plan->part_count;
        TML_THEN(status, surface_step_done(tml, plan, is_count ? "counts" : "vertices", done));
    }
    surface_time(plan->result, is_count ? "counts" : "vertices", tml_seconds() - start);
    return status;
}

GL_OP(float_surface, surface_plan, float_surface_supports, float_surface_run)
