/* The surface on the OpenGL ES engine: sign bits, crossed edges, triangle counts of 32 cells each,
 * and HistoPyramids over edges and counts. Then a fragment makes each vertex and each triangle: it
 * descends a pyramid to its edge or cell (gl_surface_emit.c).
 *
 * The volume is read once, into one sign bit per sample. The other shaders work on quads of 128
 * bits. Formulas and order are the CPU engine's. */
#include <inttypes.h>
#include <stdio.h>

#include "surface/gl/gl_surface_internal.h"
#include "surface_gl_shaders.h"

#include "kernels/kernel.h"

#include "surface/gpu/surface_options.k.h"

#include "kernels/kernel_end.h"

enum {
    COLUMNS = 128, /* per quad */
    /* Quads that a fragment of surface_fold.frag reduces. */
    FOLD = 64,
    /* COUNT keeps bits and pyramids of up to so many isovalues; for more, EMIT remakes them. */
    KEPT_PARTS = 4,
};

/* Textures of the pool that live from COUNT to EMIT. */
typedef struct surface_kept {
    const gl_texture *field; /* samples of a field */
    uint32_t count;
    gl_workspace spaces[KEPT_PARTS];
} surface_kept;

/* ---- workspaces ------------------------------------------------------------------------------ */

static gl_workspace space_of(const surface_plan *plan, const surface_part *part)
{
    surface_space of_part = surface_space_of(plan, part);
    gl_workspace space = {.part = part, .pad = (uint32_t)of_part.pad};
    for (int a = 0; a < 3; a++)
        space.size[a] = (uint32_t)of_part.size[a];
    space.quads = TML_CEIL_DIV(space.size[0], COLUMNS);
    space.quad_count = (uint64_t)space.size[1] * space.size[2] * space.quads;
    return space;
}

static tml_status gl_surface_take(const gl_surface_job *job, gl_format format, uint64_t texels,
                                  const gl_texture **out)
{
    job->plan->result->scratch_size += texels * (format == GL_FORMAT_QUADS ? 16 : 4);
    return gl_temporary(job->tml, format, texels, out);
}

static tml_status take_pyramid(const gl_surface_job *job, bool is_bits, uint64_t items,
                               gl_pyramid *out)
{
    tml_status status = gl_pyramid_take(job->tml, is_bits, items, out);
    if (status == TML_OK) /* a level has a quarter of the texels of the one below */
        job->plan->result->scratch_size += 16 * gl_pyramid_base_texels(out) * 4 / 3;
    return status;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* The brick of the box's first sample, and that sample's row and layer in the brick. */
typedef struct brick_start {
    uint32_t brick[3], row, slice;
} brick_start;

static brick_start brick_start_of(const uint64_t first[3])
{
    return (brick_start){{(uint32_t)(first[0] / SURFACE_BRICK_X),
                          (uint32_t)(first[1] / SURFACE_BRICK_Y),
                          (uint32_t)(first[2] / SURFACE_BRICK_Z)},
                         (uint32_t)(first[1] % SURFACE_BRICK_Y),
                         (uint32_t)(first[2] % SURFACE_BRICK_Z)};
}

static const gl_texture *texture_or_none(const tml_slot *slot)
{
    return slot ? gl_slot_texture(slot) : NULL;
}

/* Makes sign bits, and bits of missing samples if there may be any. */
static tml_status make_bits(const gl_surface_job *job, gl_workspace *space,
                            const gl_texture **missing)
{
    const surface_plan *plan = job->plan;
    const uint64_t *first = space->part->box.first, *dims = plan->dims;
    tml_status status = gl_surface_take(job, GL_FORMAT_QUADS, space->quad_count, &space->bits);
    if (status == TML_OK && job->may_miss)
        status = gl_surface_take(job, GL_FORMAT_QUADS, space->quad_count, missing);
    if (status != TML_OK)
        return status;
    surface_limits limits = surface_limits_of_part(plan, space->part);
    gl_uniform index_iso = GL_FLOAT1("index_iso", limits.index_iso);
    uint64_t samples = dims[0] * dims[1] * dims[2];
    brick_start start = brick_start_of(first);
    bool is_indexed = plan->index && !space->pad;
    surface_defines defines = surface_defines_of(job, is_indexed ? SURFACE_INDEXED : 0, "");
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_surface_bits,
            .defines = defines.text,
            .inputs = {{"volume", job->volume},
                       {"mask", texture_or_none(plan->mask)},
                       {"bricks", texture_or_none(is_indexed ? plan->index : NULL)},
                       {"head", job->head}},
            .uniforms = {SPACE_UNIFORMS(space),
                         GL_UINT2("dims", (uint32_t)dims[0], (uint32_t)dims[1]),
                         GL_UINT("first_sample",
                                 (uint32_t)((first[2] * dims[1] + first[1]) * dims[0] + first[0])),
                         GL_UINT2("last_words",
                                  (uint32_t)(gl_words(samples, tml_type_size(plan->type)) - 1),
                                  (uint32_t)(gl_words(samples, 1) - 1)),
                         GL_UINT2("limit", (uint32_t)limits.limit, (uint32_t)(limits.limit >> 32)),
                         GL_UINT2("range", (uint32_t)limits.range, (uint32_t)(limits.range >> 32)),
                         GL_UINT("keep", limits.is_none ? 0 : UINT32_MAX),
                         GL_UINT("index_iso", index_iso.u[0]),
                         GL_UINT3("first_brick", start.brick[0], start.brick[1], start.brick[2]),
                         GL_UINT2("brick_place", start.row, start.slice)},
            .targets = {space->bits, *missing},
            .count = space->quad_count,
        });
}

/* Reduces the quads of in to one, component by component: to their sum, or with FOLD_OR union. */
static tml_status fold(const gl_surface_job *job, const gl_texture *in, uint64_t count,
                       const char *defines, const gl_texture **out)
{
    tml_status status = TML_OK;
    const gl_texture *from = in;
    do {
        uint64_t next = TML_CEIL_DIV(count, FOLD);
        status = gl_surface_take(job, GL_FORMAT_QUADS, next, out);
        if (status == TML_OK)
            status =
                gl_draw(job->tml, &(gl_draw_info){.shader = &gl_shader_surface_fold,
                                                  .defines = defines,
                                                  .inputs = {{"folded", from}},
                                                  .uniforms = {GL_UINT("count", (uint32_t)count)},
                                                  .targets = {*out},
                                                  .count = next});
        if (from != in)
            gl_release(job->tml, from);
        from = *out;
        count = next;
    } while (count > 1 && status == TML_OK);
    return status;
}

static tml_status mark_cells(const gl_surface_job *job, gl_workspace *space,
                             const gl_texture *missing)
{
    if (!job->may_miss)
        return TML_OK;
    tml_status status =
        fold(job, missing, space->quad_count, "#define FOLD_OR\n", &space->missing_any);
    TML_THEN(status, gl_surface_take(job, GL_FORMAT_QUADS, space->quad_count, &space->whole_cells));
    if (status != TML_OK)
        return status;
    surface_defines defines = surface_defines_of(job, 0, "");
    status = gl_draw(job->tml, &(gl_draw_info){.shader = &gl_shader_surface_cells,
                                               .defines = defines.text,
                                               .inputs = {{"missing", missing},
                                                          {"missing_any", space->missing_any}},
                                               .uniforms = {SPACE_UNIFORMS(space)},
                                               .targets = {space->whole_cells},
                                               .count = space->quad_count});
    gl_release(job->tml, missing); /* later textures reuse its memory */
    job->plan->result->scratch_size -= 16 * space->quad_count;
    return status;
}

/* Makes the pyramid over crossed edges, whose total is the vertices, and the vertex numbers. */
static tml_status count_vertices(const gl_surface_job *job, gl_workspace *space)
{
    tml_context *tml = job->tml;
    uint64_t quads = 3 * space->quad_count;
    tml_status status = take_pyramid(job, true, quads * COLUMNS, &space->edges);
    if (status != TML_OK)
        return status;
    surface_defines defines = surface_defines_of(job, 0, "");
    status = gl_draw(tml, &(gl_draw_info){.shader = &gl_shader_surface_edges,
                                          .defines = defines.text,
                                          .inputs = {{"bits", space->bits},
                                                     {"missing_any", space->missing_any},
                                                     {"whole_cells", space->whole_cells}},
                                          .uniforms = {SPACE_UNIFORMS(space)},
                                          .targets = {space->edges.base},
                                          .count = quads});
    TML_THEN(status, gl_pyramid_build(tml, &space->edges));
    TML_THEN(status, gl_surface_take(job, GL_FORMAT_QUADS, (quads + 3) / 4, &space->firsts));
    if (status != TML_OK)
        return status;
    gl_draw_info info = {.shader = &gl_shader_surface_firsts,
                         .defines = gl_pyramid_defines(&space->edges),
                         .targets = {space->firsts},
                         .count = (quads + 3) / 4};
    gl_pyramid_bind(&info, &space->edges);
    return gl_draw(tml, &info);
}

/* Makes the pyramid over the cells' triangles. active: NULL, or receives the active cells. */
static tml_status count_triangles(const gl_surface_job *job, gl_workspace *space,
                                  const gl_texture **active)
{
    tml_context *tml = job->tml;
    const gl_texture *active_cells = NULL;
    tml_status status = take_pyramid(job, false, 4 * space->quad_count, &space->triangles);
    if (status == TML_OK && active)
        status = gl_surface_take(job, GL_FORMAT_QUADS, space->quad_count, &active_cells);
    if (status != TML_OK)
        return status;
    surface_defines defines = surface_defines_of(job, 0, active ? "#define ACTIVE\n" : "");
    status = gl_draw(tml, &(gl_draw_info){.shader = &gl_shader_surface_counts,
                                          .defines = defines.text,
                                          .inputs = {{"bits", space->bits},
                                                     {"missing_any", space->missing_any},
                                                     {"whole_cells", space->whole_cells}},
                                          .uniforms = {SPACE_UNIFORMS(space)},
                                          .targets = {space->triangles.base, active_cells},
                                          .count = space->quad_count});
    if (status == TML_OK && active)
        status = fold(job, active_cells, space->quad_count, NULL, active);
    gl_release(tml, active_cells);
    return status == TML_OK ? gl_pyramid_build(tml, &space->triangles) : status;
}

static tml_status write_totals(const gl_surface_job *job, const gl_workspace *space, uint32_t part,
                               const gl_texture *active)
{
    uint64_t vertices_at, triangles_at;
    const gl_texture *vertices = gl_pyramid_total(&space->edges, &vertices_at);
    const gl_texture *triangles = gl_pyramid_total(&space->triangles, &triangles_at);
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_surface_totals,
            .inputs = {{"vertices", vertices}, {"triangles", triangles}, {"active_cells", active}},
            .uniforms = {GL_UINT2("at", (uint32_t)vertices_at, (uint32_t)triangles_at),
                         GL_UINT("first", SURFACE_TOTALS * part)},
            .targets = {job->totals},
            .first = (uint64_t)SURFACE_TOTALS * part,
            .count = SURFACE_TOTALS});
}

/* Draws everything up to the part's totals. counts_cells: including the number of active cells. */
static tml_status count_part(const gl_surface_job *job, uint32_t part, bool counts_cells,
                             gl_workspace *space)
{
    *space = space_of(job->plan, &job->plan->parts[part]);
    const gl_texture *missing = NULL, *active = NULL;
    tml_status status = make_bits(job, space, &missing);
    TML_THEN(status, mark_cells(job, space, missing));
    TML_THEN(status, count_vertices(job, space));
    TML_THEN(status, count_triangles(job, space, counts_cells ? &active : NULL));
    TML_THEN(status, write_totals(job, space, part, active));
    gl_release(job->tml, active);
    return status;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Reads the totals back, and waits. */
static tml_status read_totals(const gl_surface_job *job)
{
    const surface_plan *plan = job->plan;
    size_t size = plan->part_count * SURFACE_TOTALS * sizeof(uint32_t);
    uint32_t *totals = tml_alloc(job->tml, size);
    if (!totals && size > 0)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_surface: no memory for the totals");
    tml_status status = gl_read_words(job->tml, job->totals, 0,
                                      (uint64_t)plan->part_count * SURFACE_TOTALS, totals);
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        const uint32_t *total = totals + (size_t)SURFACE_TOTALS * p;
        plan->parts[p].vertex_count = total[SURFACE_VERTICES];
        plan->parts[p].triangle_count = total[SURFACE_TRIANGLES];
        plan->parts[p].active_cells = total[SURFACE_CELLS];
    }
    tml_free(job->tml, totals, size);
    return status;
}

/* Evaluates the plan's field into samples, which become the job's volume. */
static tml_status evaluate_field(gl_surface_job *job, const gl_texture **out)
{
    const uint64_t *dims = job->plan->dims;
    tml_status status = gl_surface_take(job, GL_FORMAT_WORDS, dims[0] * dims[1] * dims[2], out);
    TML_THEN(status, field_slab(job->tml, job->plan->field, 0, dims[2], (void *)*out));
    job->volume = *out;
    return status;
}

static bool keeps(const surface_plan *plan)
{
    return !plan->labels && plan->part_count <= KEPT_PARTS;
}

static tml_status run_count(gl_surface_job *job)
{
    const surface_plan *plan = job->plan;
    tml_context *tml = job->tml;
    double start = tml_seconds();
    surface_kept *kept = tml_alloc(tml, sizeof *kept);
    if (!kept)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_surface: no memory for a record");
    *kept = (surface_kept){.count = 0};
    *plan->kept = kept;
    tml_status status = TML_OK;
    if (plan->field)
        status = evaluate_field(job, &kept->field);
    TML_THEN(status,
             gl_surface_take(job, GL_FORMAT_WORDS,
                             TML_MAX_OF((uint64_t)SURFACE_TOTALS * plan->part_count, (uint64_t)1),
                             &job->totals));
    gl_keep(tml);
    size_t before = plan->result->scratch_size, peak = before;
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        gl_workspace space;
        status = count_part(job, p, true, &space);
        if (keeps(plan)) {
            kept->spaces[kept->count++] = space;
            gl_keep(tml);
        } else { /* the next part reuses the textures */
            gl_release_others(tml);
            peak = TML_MAX_OF(peak, plan->result->scratch_size);
            plan->result->scratch_size = before;
        }
        TML_THEN(status, surface_step_done(job->tml, plan, "counts", (p + 1.0) / plan->part_count));
    }
    plan->result->scratch_size = TML_MAX_OF(peak, plan->result->scratch_size);
    TML_THEN(status, read_totals(job));
    if (status == TML_OK)
        surface_time(plan->result, "counts", tml_seconds() - start);
    return status;
}

static tml_status emit_part(const gl_surface_job *job, uint32_t number, const surface_kept *kept)
{
    const surface_part *part = &job->plan->parts[number];
    if (part->triangle_count == 0)
        return TML_OK;
    gl_workspace space;
    tml_status status = TML_OK;
    if (number < kept->count)
        space = kept->spaces[number];
    else
        status = count_part(job, number, false, &space);
    const surface_places places = {.vertex_first = part->vertex_first,
                                   .vertex_count = part->vertex_count,
                                   .triangle_first = part->triangle_first,
                                   .triangle_count = part->triangle_count};
    TML_THEN(status, gl_surface_emit(job, &space, &places));
    gl_release_others(job->tml);
    return status;
}

static tml_status run_emit(gl_surface_job *job)
{
    const surface_plan *plan = job->plan;
    const surface_kept *kept = *plan->kept;
    double start = tml_seconds();
    size_t scratch_size = plan->result->scratch_size; /* that of COUNT, which is the peak */
    if (plan->field)
        job->volume = kept->field;
    tml_status status = gl_surface_take(
        job, GL_FORMAT_WORDS, TML_MAX_OF((uint64_t)SURFACE_TOTALS * plan->part_count, (uint64_t)1),
        &job->totals);
    uint64_t triangles = 0;
    for (uint32_t p = 0; p < plan->part_count; p++)
        triangles += plan->parts[p].triangle_count;
    const bool narrow = surface_layout_of(plan)->indices16 && triangles > 0;
    if (status == TML_OK && narrow)
        status = gl_surface_take(job, GL_FORMAT_WORDS, 3 * triangles, &job->out.indices);
    gl_keep(job->tml);
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        status = emit_part(job, p, kept);
        TML_THEN(status, surface_step_done(job->tml, plan, "vertices and triangles",
                                           (p + 1.0) / plan->part_count));
    }
    if (status == TML_OK && narrow)
        status = gl_surface_narrow(job, job->out.indices, triangles, false);
    plan->result->scratch_size = scratch_size;
    if (status == TML_OK)
        surface_time(plan->result, "vertices and triangles", tml_seconds() - start);
    return status;
}

/* Draws the brick index. */
static tml_status run_index(const gl_surface_job *job)
{
    const surface_plan *plan = job->plan;
    const uint64_t *dims = plan->dims;
    surface_defines defines = surface_defines_of(job, 0, "");
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_surface_index,
            .defines = defines.text,
            .inputs = {{"volume", job->volume}},
            .uniforms = {GL_UINT3("dims", (uint32_t)dims[0], (uint32_t)dims[1], (uint32_t)dims[2]),
                         gl_divisor("bricks_x", TML_CEIL_DIV(dims[0], SURFACE_BRICK_X)),
                         gl_divisor("bricks_y", TML_CEIL_DIV(dims[1], SURFACE_BRICK_Y))},
            .targets = {gl_slot_texture(plan->bricks)},
            .count = 2 * plan->bricks->count,
        });
}

/* Draws the counts and the draw arguments to the caller's buffers. */
static tml_status gl_surface_report(const gl_surface_job *job)
{
    const surface_plan *plan = job->plan;
    uint32_t room = (uint32_t)TML_MIN_OF(plan->triangle_capacity, (uint64_t)UINT32_MAX);
    tml_status status = TML_OK;
    if (plan->device.counts) {
        bool is_wide = plan->device.counts->type == TML_U64;
        char defines[64];
        snprintf(defines, sizeof defines, "%s%s", is_wide ? "#define WIDE\n" : "",
                 plan->soup ? "#define SOUP\n" : "");
        status =
            gl_draw(job->tml, &(gl_draw_info){.shader = &gl_shader_surface_report,
                                              .defines = defines,
                                              .inputs = {{"totals", job->totals}},
                                              .targets = {gl_slot_texture(plan->device.counts)},
                                              .count = is_wide ? 4 : 2});
    }
    if (plan->device.draw && status == TML_OK)
        status = gl_draw(job->tml, &(gl_draw_info){.shader = &gl_shader_surface_report,
                                                   .defines = "#define DRAW\n",
                                                   .inputs = {{"totals", job->totals}},
                                                   .uniforms = {GL_UINT("room", room)},
                                                   .targets = {gl_slot_texture(plan->device.draw)},
                                                   .count = 5});
    return status;
}

static tml_status hold_limits(gl_surface_job *job)
{
    const surface_plan *plan = job->plan;
    tml_status status = gl_surface_take(job, GL_FORMAT_QUADS, 3, &job->head);
    if (status != TML_OK)
        return status;
    surface_defines defines = surface_defines_of(job, 0, "");
    return gl_draw(
        job->tml,
        &(gl_draw_info){.shader = &gl_shader_surface_iso,
                        .defines = defines.text,
                        .inputs = {{"isovalues", gl_slot_texture(plan->device.iso)}},
                        .uniforms = {GL_UINT("iso_index", (uint32_t)plan->device.iso_index)},
                        .targets = {job->head},
                        .count = 3});
}

/* Writes a soup from its welded mesh, which is in textures of the pool. */
static tml_status emit_soup(const gl_surface_job *job, const gl_workspace *space,
                            const surface_places *places)
{
    const surface_plan *plan = job->plan;
    uint64_t vertices = places->vertex_count, triangles = places->triangle_count;
    gl_surface_job of_welded = *job;
    surface_textures *out = &of_welded.out;
    const surface_layout *layout = surface_layout_of(plan);
    const bool apart = !layout->stride;
    out->normals = out->values = NULL;
    tml_status status = gl_surface_take(
        job, GL_FORMAT_WORDS, (apart ? 3 : layout->stride / 4) * vertices, &out->positions);
    if (status == TML_OK && apart && plan->mesh.vertex_normals)
        status = gl_surface_take(job, GL_FORMAT_WORDS, (layout->octahedral ? 1 : 3) * vertices,
                                 &out->normals);
    if (status == TML_OK && apart && plan->mesh.vertex_values)
        status = gl_surface_take(job, GL_FORMAT_WORDS, vertices, &out->values);
    TML_THEN(status, gl_surface_take(job, GL_FORMAT_WORDS, 3 * triangles, &out->indices));
    TML_THEN(status, gl_surface_emit(&of_welded, space, places));
    return status == TML_OK ? gl_surface_soup(job, out, triangles, true, vertices) : status;
}

/* Gathers plan.welded, all of whose vertices exist. */
static tml_status run_soup(const gl_surface_job *job)
{
    const surface_welded *welded = &job->plan->welded;
    const surface_textures from = gl_surface_textures(&welded->mesh);
    return gl_surface_soup(job, &from, welded->triangle_count, false, 0);
}

/* Draws everything from the isovalue to the draw arguments, without reading back. So a fragment
 * runs for each vertex and triangle that the outputs have room for. */
static tml_status run_enqueue(gl_surface_job *job)
{
    const surface_plan *plan = job->plan;
    gl_workspace space;
    const gl_texture *field;
    tml_status status = gl_surface_take(job, GL_FORMAT_WORDS, SURFACE_TOTALS, &job->totals);
    if (status == TML_OK && plan->field)
        status = evaluate_field(job, &field);
    if (status == TML_OK && plan->device.iso)
        status = hold_limits(job);
    TML_THEN(status, count_part(job, 0, false, &space));
    const surface_places places = {.vertex_count = plan->vertex_capacity,
                                   .triangle_count = plan->triangle_capacity,
                                   .is_bounded = true};
    const bool narrow = surface_layout_of(plan)->indices16 && plan->triangle_capacity > 0;
    if (status == TML_OK && narrow)
        status =
            gl_surface_take(job, GL_FORMAT_WORDS, 3 * plan->triangle_capacity, &job->out.indices);
    TML_THEN(status, (plan->soup ? emit_soup : gl_surface_emit)(job, &space, &places));
    if (status == TML_OK && narrow)
        status = gl_surface_narrow(job, job->out.indices, plan->triangle_capacity, true);
    return status == TML_OK ? gl_surface_report(job) : status;
}

/* ---- the operation --------------------------------------------------------------------------- */

static bool surface_supports(tml_context *tml, const surface_plan *plan)
{
    (void)tml;
    return plan->stage == SURFACE_INDEX ||
           (plan->type != TML_F64 && !(plan->attribute && plan->attribute->type == TML_F64));
}

/* Checks that 32 bits can number the edges in the pyramid. */
static tml_status gl_surface_check(tml_context *tml, const surface_plan *plan)
{
    for (uint32_t p = 0; p < plan->part_count; p++) {
        gl_workspace space = space_of(plan, &plan->parts[p]);
        if (3 * COLUMNS * space.quad_count > GL_PYRAMID_BITS_MAX)
            return tml_error(
                tml, TML_ERROR_UNSUPPORTED,
                "tml_surface: %" PRIu64 " x %" PRIu64 " x %" PRIu64
                " samples: on OpenGL ES the samples of a part, with rows of whole 128, "
                "number at most 2^32 / 3; surface a region at a time",
                plan->parts[p].box.count[0], plan->parts[p].box.count[1],
                plan->parts[p].box.count[2]);
    }
    return TML_OK;
}

static tml_status surface_run(tml_context *tml, const surface_plan *plan)
{
    tml_status status = gl_surface_check(tml, plan);
    if (status != TML_OK)
        return status;
    gl_surface_job job = {.tml = tml,
                          .plan = plan,
                          .volume = texture_or_none(plan->volume),
                          .may_miss = surface_may_miss(plan),
                          .options = (plan->caps ? SURFACE_PAD : 0) |
                                     (plan->mask ? SURFACE_MASK : 0) |
                                     (plan->labels ? SURFACE_LABEL : 0) |
                                     (plan->device.iso ? SURFACE_HELD_LIMITS : 0)};
    if (plan->stage == SURFACE_EMIT || plan->stage == SURFACE_ENQUEUE)
        job.out = gl_surface_textures(&plan->mesh);
    switch (plan->stage) {
    case SURFACE_COUNT:
        return run_count(&job);
    case SURFACE_EMIT:
        return run_emit(&job);
    case SURFACE_SOUP:
        return run_soup(&job);
    case SURFACE_ENQUEUE:
        return run_enqueue(&job);
    case SURFACE_END:
        gl_release_kept(tml);
        tml_free(tml, *plan->kept, sizeof(surface_kept));
        return TML_OK;
    default:
        return run_index(&job);
    }
}

GL_OP(surface, surface_plan, surface_supports, surface_run)
