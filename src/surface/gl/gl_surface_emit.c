/* A part's vertices and triangles. A fragment draws each as a quad, whose components are then
 * copied to arrays of words. */
#include <stdio.h>
#include <string.h>

#include "surface/gl/gl_surface_internal.h"
#include "surface_gl_shaders.h"

#include "kernels/kernel.h"

#include "surface/gpu/surface_options.k.h"

#include "kernels/kernel_end.h"

enum {
    /* Elements that are drawn before they are copied; limits the temporary textures. */
    CHUNK = 1 << 20,
    CASES = 256,
};

surface_defines surface_defines_of(const gl_surface_job *job, uint32_t options, const char *more)
{
    surface_defines out;
    snprintf(out.text, sizeof out.text, "#define TYPE %uu\n#define OPTIONS %uu\n%s%s",
             (unsigned)job->plan->type, (unsigned)(job->options | options),
             job->may_miss ? "#define MISSING\n" : "", more);
    return out;
}

/* Allocates and draws the case table of gl_cases.glsl. */
static tml_status gl_surface_cases(tml_context *tml, const gl_texture **out)
{
    tml_status status = gl_temporary(tml, GL_FORMAT_QUADS, CASES, out);
    TML_THEN(status, gl_draw(tml, &(gl_draw_info){.shader = &gl_shader_surface_cases,
                                                  .targets = {*out},
                                                  .count = CASES}));
    return status;
}

/* Copies elements [first, first + count) of a part to their places in the array. total: the total
 * that limits them, SURFACE_VERTICES or SURFACE_TRIANGLES. */
static tml_status gl_surface_place(tml_context *tml, const gl_texture *totals,
                                   const surface_array *array, const surface_places *places,
                                   uint64_t part_first, uint64_t first, uint64_t count,
                                   uint32_t total)
{
    if (!array->to)
        return TML_OK;
    char defines[256];
    const surface_layout *record = array->record;
    int used = snprintf(defines, sizeof defines, "#define COMPONENTS %uu\n#define SKIP %uu\n%s%s",
                        (unsigned)array->components, (unsigned)array->skip,
                        array->is_wide ? "#define WIDE\n" : "",
                        places->is_bounded ? "#define BOUNDED\n" : "");
    if (SURFACE_LAYOUTS && record)
        snprintf(defines + used, sizeof defines - (size_t)used,
                 "#define RECORD\n#define POSITION_AT %uu\n#define NORMAL_AT %uu\n"
                 "#define NORMAL_WORDS %uu\n#define VALUE_AT %uu\n",
                 (unsigned)record->position / 4, (unsigned)record->normal / 4,
                 !array->normals      ? 0u
                 : record->octahedral ? 1u
                                      : 3u,
                 (unsigned)record->value / 4);
    uint64_t words = (array->is_wide ? 2u : 1u) * array->components;
    uint64_t at = (part_first + first) * words;
    return gl_draw(
        tml,
        &(gl_draw_info){
            .shader = &gl_shader_surface_words,
            .defines = defines,
            .inputs = {{"elements", array->quads}, {"totals", totals}, {"normals", array->normals}},
            .uniforms = {GL_UINT("first", (uint32_t)at), GL_UINT("first_element", (uint32_t)first),
                         GL_UINT("total_at", places->total_at + total)},
            .targets = {array->to},
            .first = at,
            .count = count * words,
        });
}

/* ---- vertices -------------------------------------------------------------------------------- */

static gl_uniform vector(const char *name, double x, double y, double z)
{
    return (gl_uniform)GL_FLOAT3(name, (float)x, (float)y, (float)z);
}

static tml_status draw_vertices(const gl_surface_job *job, const gl_workspace *space,
                                uint64_t first, uint64_t count, const gl_texture *const targets[2])
{
    const surface_plan *plan = job->plan;
    const uint64_t *dims = plan->dims, *box = space->part->box.first;
    surface_limits limits = surface_limits_of_part(plan, space->part);
    char more[96];
    int used = snprintf(more, sizeof more, "#define ATTRIBUTE %uu\n%s",
                        (unsigned)(plan->attribute ? plan->attribute->type : TML_F32),
                        gl_pyramid_defines(&space->edges));
    if (plan->mesh.vertex_normals)
        snprintf(more + used, sizeof more - (size_t)used, "#define NORMALS %uu\n",
                 (unsigned)plan->normals);
    surface_defines defines =
        surface_defines_of(job,
                           (plan->mesh.vertex_values ? SURFACE_ATTRIBUTE : 0) |
                               (surface_layout_of(plan)->octahedral ? SURFACE_OCTAHEDRAL : 0),
                           more);
    const double(*step)[3] = plan->axes.step;
    const float(*rows)[3] = plan->axes.normal_rows;
    gl_draw_info info = {
        .shader = &gl_shader_surface_vertices,
        .defines = defines.text,
        .inputs = {{"volume", job->volume},
                   {"head", job->head},
                   {"attributes", plan->attribute ? gl_slot_texture(plan->attribute) : NULL}},
        .uniforms = {SPACE_UNIFORMS(space), GL_UINT("first", (uint32_t)first),
                     GL_UINT3("dims", (uint32_t)dims[0], (uint32_t)dims[1], (uint32_t)dims[2]),
                     GL_UINT3("box_first", (uint32_t)box[0], (uint32_t)box[1], (uint32_t)box[2]),
                     GL_UINT3("iso", limits.iso_words[0], limits.iso_words[1], limits.iso_words[2]),
                     vector("origin", plan->axes.origin[0], plan->axes.origin[1],
                            plan->axes.origin[2]),
                     vector("step_x", step[0][0], step[0][1], step[0][2]),
                     vector("step_y", step[1][0], step[1][1], step[1][2]),
                     vector("step_z", step[2][0], step[2][1], step[2][2]),
                     vector("normal_row0", rows[0][0], rows[0][1], rows[0][2]),
                     vector("normal_row1", rows[1][0], rows[1][1], rows[1][2]),
                     vector("normal_row2", rows[2][0], rows[2][1], rows[2][2])},
        .targets = {targets[0], targets[1]},
        .count = count,
    };
    gl_pyramid_bind(&info, &space->edges);
    return gl_draw(job->tml, &info);
}

static tml_status emit_vertices(const gl_surface_job *job, const gl_workspace *space,
                                const surface_places *places)
{
    const surface_plan *plan = job->plan;
    uint64_t chunk = TML_MIN_OF(places->vertex_count, (uint64_t)CHUNK);
    const gl_texture *targets[2] = {NULL, NULL};
    tml_status status = gl_temporary(job->tml, GL_FORMAT_QUADS, chunk, &targets[0]);
    if (status == TML_OK && plan->mesh.vertex_normals)
        status = gl_temporary(job->tml, GL_FORMAT_QUADS, chunk, &targets[1]);
    const surface_layout *layout = surface_layout_of(plan);
    const surface_array apart[] = {
        {.to = job->out.positions, .quads = targets[0], .components = 3},
        {.to = job->out.normals, .quads = targets[1], .components = layout->octahedral ? 1 : 3},
        {.to = job->out.values, .quads = targets[0], .components = 1, .skip = 3}};
    surface_layout record = *layout;
    if (!plan->mesh.vertex_values)
        record.value = layout->stride; /* matches no word */
    const surface_array records = {.to = job->out.positions,
                                   .quads = targets[0],
                                   .components = layout->stride / 4,
                                   .record = &record,
                                   .normals = targets[1]};
    const surface_array *arrays = layout->stride ? &records : apart;
    const size_t array_count = layout->stride ? 1 : TML_ARRAY_SIZE(apart);
    for (uint64_t first = 0; first < places->vertex_count && status == TML_OK; first += chunk) {
        uint64_t count = TML_MIN_OF(chunk, places->vertex_count - first);
        status = draw_vertices(job, space, first, count, targets);
        for (size_t a = 0; a < array_count && status == TML_OK; a++)
            status = gl_surface_place(job->tml, job->totals, &arrays[a], places,
                                      places->vertex_first, first, count, SURFACE_VERTICES);
    }
    gl_release(job->tml, targets[0]);
    gl_release(job->tml, targets[1]);
    return status;
}

/* ---- triangles ------------------------------------------------------------------------------- */

static tml_status draw_triangles(const gl_surface_job *job, const gl_workspace *space,
                                 const gl_texture *cases, const surface_places *places,
                                 uint64_t first, uint64_t count, const gl_texture *target)
{
    const uint64_t *dims = job->plan->dims, *box = space->part->box.first;
    uint32_t options =
        (job->plan->axes.flip_winding ? SURFACE_FLIP : 0) | (job->out.cells ? SURFACE_CELL_OF : 0);
    surface_defines defines =
        surface_defines_of(job, options, gl_pyramid_defines(&space->triangles));
    gl_draw_info info = {
        .shader = &gl_shader_surface_triangles,
        .defines = defines.text,
        .inputs = {{"bits", space->bits},
                   {"edges", space->edges.base},
                   {"firsts", space->firsts},
                   {"cases", cases},
                   {"missing_any", space->missing_any},
                   {"whole_cells", space->whole_cells}},
        .uniforms = {SPACE_UNIFORMS(space), GL_UINT("first", (uint32_t)first),
                     GL_UINT("vertex_first", (uint32_t)places->vertex_first),
                     GL_UINT3("dims", (uint32_t)dims[0], (uint32_t)dims[1], (uint32_t)dims[2]),
                     GL_UINT3("box_first", (uint32_t)box[0], (uint32_t)box[1], (uint32_t)box[2])},
        .targets = {target},
        .count = count,
    };
    gl_pyramid_bind(&info, &space->triangles);
    return gl_draw(job->tml, &info);
}

static tml_status emit_triangles(const gl_surface_job *job, const gl_workspace *space,
                                 const surface_places *places)
{
    const surface_plan *plan = job->plan;
    uint64_t chunk = TML_MIN_OF(places->triangle_count, (uint64_t)CHUNK);
    const gl_texture *target = NULL, *cases = NULL;
    tml_status status = gl_temporary(job->tml, GL_FORMAT_QUADS, chunk, &target);
    TML_THEN(status, gl_surface_cases(job->tml, &cases));
    const tml_slot *cells = plan->mesh.triangle_cells;
    const surface_array arrays[] = {
        {.to = job->out.indices, .quads = target, .components = 3, .is_wide = plan->indices64},
        {.to = job->out.cells,
         .quads = target,
         .components = 1,
         .skip = 3,
         .is_wide = cells && cells->type == TML_U64}};
    for (uint64_t first = 0; first < places->triangle_count && status == TML_OK; first += chunk) {
        uint64_t count = TML_MIN_OF(chunk, places->triangle_count - first);
        status = draw_triangles(job, space, cases, places, first, count, target);
        for (size_t a = 0; a < TML_ARRAY_SIZE(arrays) && status == TML_OK; a++)
            status = gl_surface_place(job->tml, job->totals, &arrays[a], places,
                                      places->triangle_first, first, count, SURFACE_TRIANGLES);
    }
    gl_release(job->tml, target);
    gl_release(job->tml, cases);
    return status;
}

tml_status gl_surface_emit(const gl_surface_job *job, const gl_workspace *space,
                           const surface_places *places)
{
    tml_status status = emit_vertices(job, space, places);
    return status == TML_OK ? emit_triangles(job, space, places) : status;
}

/* ---- soups ----------------------------------------------------------------------------------- */

surface_textures gl_surface_textures(const surface_arrays *mesh)
{
    const tml_slot *const slots[] = {mesh->positions, mesh->vertex_normals, mesh->vertex_values,
                                     mesh->indices, mesh->triangle_cells};
    const gl_texture *textures[5];
    for (size_t i = 0; i < TML_ARRAY_SIZE(slots); i++)
        textures[i] = slots[i] ? gl_slot_texture(slots[i]) : NULL;
    return (surface_textures){textures[0], textures[1], textures[2], textures[3], textures[4]};
}

tml_status gl_surface_soup(const gl_surface_job *job, const surface_textures *welded,
                           uint64_t triangle_count, bool is_bounded, uint64_t vertex_room)
{
    const surface_textures to = gl_surface_textures(&job->plan->mesh);
    const surface_layout *layout = surface_layout_of(job->plan);
    const struct {
        const gl_texture *in, *out;
        uint32_t components;
    } arrays[] = {{welded->positions, to.positions, layout->stride ? layout->stride / 4 : 3},
                  {welded->normals, to.normals, layout->octahedral ? 1 : 3},
                  {welded->values, to.values, 1}};
    tml_status status = TML_OK;
    for (size_t a = 0; a < TML_ARRAY_SIZE(arrays) && status == TML_OK; a++) {
        char defines[64];
        if (!arrays[a].in)
            continue;
        snprintf(defines, sizeof defines, "#define COMPONENTS %uu\n%s",
                 (unsigned)arrays[a].components, is_bounded ? "#define BOUNDED\n" : "");
        status = gl_draw(
            job->tml, &(gl_draw_info){.shader = &gl_shader_surface_soup,
                                      .defines = defines,
                                      .inputs = {{"elements", arrays[a].in},
                                                 {"indices", welded->indices},
                                                 {"totals", is_bounded ? job->totals : NULL}},
                                      .uniforms = {GL_UINT("total_at", SURFACE_TRIANGLES),
                                                   GL_UINT("vertex_room", (uint32_t)vertex_room)},
                                      .targets = {arrays[a].out},
                                      .count = 3 * triangle_count * arrays[a].components});
    }
    return status;
}

tml_status gl_surface_narrow(const gl_surface_job *job, const gl_texture *indices,
                             uint64_t triangle_count, bool is_bounded)
{
    return gl_draw(job->tml,
                   &(gl_draw_info){.shader = &gl_shader_surface_narrow,
                                   .defines = is_bounded ? "#define BOUNDED\n" : "",
                                   .inputs = {{"indices", indices},
                                              {"totals", is_bounded ? job->totals : NULL}},
                                   .uniforms = {GL_UINT("total_at", SURFACE_TRIANGLES),
                                                GL_UINT("count", (uint32_t)triangle_count)},
                                   .targets = {gl_slot_texture(job->plan->mesh.indices)},
                                   .count = TML_CEIL_DIV(3 * triangle_count, (uint64_t)2)});
}
