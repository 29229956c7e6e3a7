/* trommel surface: makes a mesh in memory, and writes the outputs beside it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "arrays.h"
#include "commands/cmd_surface.h"
#include "draw/cells.h"
#include "draw/picture_options.h"
#include "paths.h"

void surface_count_cells(surface_run *r)
{
    r->summary.cells = 1;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t dim = r->summary.grid.dims[axis];
        uint64_t first = r->desc.region.first[axis], count = r->desc.region.count[axis];
        uint64_t samples = first >= dim ? 0 : dim - first;
        samples = count && count < samples ? count : samples;
        r->summary.cells *= samples > 1 ? samples - 1 : 0;
    }
}

void surface_choose(surface_run *r)
{
    const surface_args *a = r->args;
    const double *steps = r->summary.grid.spacing;
    r->desc.collapse = a->collapse * fmin(steps[0], fmin(steps[1], steps[2]));
    surface_count_cells(r);
}

void surface_add_stages(surface_run *r)
{
    const tml_surface_result *result = &r->made.surface;
    double known = 0;
    r->summary.surface_seconds = r->made.seconds;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        report_add_stage(&r->summary.report, result->stages[i].name, result->stages[i].seconds);
        known += result->stages[i].seconds;
    }
    report_add_stage(&r->summary.report, "other", fmax(r->made.seconds - known, 0));
}

void surface_add_later_stages(surface_run *r)
{
    for (; r->told_stages < r->made.stage_count; r->told_stages++)
        report_add_stage(&r->summary.report, r->made.stages[r->told_stages].name,
                         r->made.stages[r->told_stages].seconds);
}

bool surface_makes_net(const surface_args *a)
{
    return (a->smooth.is_asked || a->separate || a->quads) && (a->labels.all || a->labels.count);
}

tml_surface_labels_desc surface_describe_boundaries(const surface_run *r)
{
    const surface_args *a = r->args;
    return (tml_surface_labels_desc){
        .volume = r->desc.volume,
        .grid = r->desc.grid,
        .region = a->region,
        .background = labels_background(&r->labels),
        .labels = r->desc.labels,
        .label_count = r->desc.label_count,
        .caps = a->caps,
        .sharing = a->separate ? TML_LABELS_MANIFOLD : TML_LABELS_SHARED,
        .smooth = a->smooth.iterations,
        .quads = a->quads,
        .indices64 = a->indices64,
        .position_origin = {r->desc.position_origin[0], r->desc.position_origin[1],
                            r->desc.position_origin[2]}};
}

static int save_cells(surface_run *r)
{
    const tml_surface_result *made = &r->made.surface;
    if (!r->args->cells)
        return CLI_OK;
    tml_status status =
        array_save(r->tml, r->args->cells, made->triangle_cells, made->triangle_count);
    report_add_output(&r->summary.report, r->args->cells);
    return cli_fail(r->tml, status);
}

static int save_cells_picture(surface_run *r)
{
    if (!r->args->debug_cells)
        return CLI_OK;
    tml_surface_desc desc = r->desc;
    uint64_t *counts = r->summary.cell_counts, triangles = 0;
    desc.iso = r->isovalues[0];
    r->summary.cells_by = (cells_by)r->args->cells_by;
    tml_status status =
        cells_save(r->tml, r->args->debug_cells, &desc, (cells_by)r->args->cells_by, counts);
    for (uint64_t k = 1; k < CELL_COUNTS; k++)
        triangles += k * counts[k];
    report_add_output(&r->summary.report, r->args->debug_cells);
    bool is_whole =
        !desc.caps && !desc.drop_degenerate && !desc.largest_component && !(desc.collapse > 0);
    if (status == TML_OK && is_whole && triangles != r->made.surface.triangle_count)
        status = tml_error(r->tml, TML_ERROR_INTERNAL,
                           "the cells have %" PRIu64 " triangles, the mesh has %" PRIu64, triangles,
                           r->made.surface.triangle_count);
    return cli_fail(r->tml, status);
}

tml_status surface_finish_mesh(void *user, tml_mesh *mesh)
{
    surface_run *r = user;
    const surface_args *a = r->args;
    tml_status status = TML_OK;
    surface_add_stages(r);
    surface_add_later_stages(r);
    if (simplify_is_asked(&a->simplify)) {
        const double start = cli_now();
        status = simplify_mesh(r->tml, &a->simplify, mesh, &r->summary.simple);
        report_add_stage(&r->summary.report, "simplify", cli_now() - start);
        if (status != TML_OK)
            return status;
        *mesh = r->summary.simple.mesh;
    }
    if (r->made.surface.part_count <= 1 && (!a->common.quiet || a->common.json)) {
        measures_add(r->tml, &r->summary.measures, mesh);
        measures_end(r->tml, &r->summary.measures);
    } else
        r->summary.measures.is_off = true;
    return a->png ? surface_draw_picture(r, mesh) : TML_OK;
}

bool surface_counts_components(const surface_args *a)
{
    return !a->soup && !a->quads && (!a->common.quiet || a->common.json);
}

int surface_end_whole(surface_run *r)
{
    const surface_args *a = r->args;
    const tml_surface_saved *made = &r->made;
    if (made->is_empty)
        return surface_explain_empty(r);
    surface_add_later_stages(r);
    r->summary.is_quads = a->quads;
    r->summary.has_components = surface_counts_components(a);
    if (a->output && a->separate && path_is_numbered(a->output)) {
        r->summary.labels = made->surface.parts;
        r->summary.label_files = a->output;
    } else if (a->output) {
        report_add_output(&r->summary.report, a->output);
    }
    if (a->png)
        report_add_output(&r->summary.report, a->png);
    int code = save_cells(r);
    return code == CLI_OK ? save_cells_picture(r) : code;
}

int surface_run_whole(surface_run *r)
{
    const surface_args *a = r->args;
    surface_choose(r);
    const tml_surface_labels_desc boundaries = surface_describe_boundaries(r);
    tml_surface_save_desc desc = {
        .making = TML_MAKE_WHOLE,
        .slabs = {.surface = surface_makes_net(a) ? NULL : &r->desc,
                  .boundaries = surface_makes_net(a) ? &boundaries : NULL,
                  .components = surface_counts_components(a)},
        .file = {.mesh = {.comment = "made by " CLI_PROGRAM, .up = picture_up(a->picture.up, "")},
                 .edit = surface_finish_mesh,
                 .user = r},
        .smooth = a->smooth.iterations,
        .values = &r->attribute,
        .keep_empty = r->is_frame && r->summary.cells};
    memcpy(desc.file.mesh.origin, r->desc.position_origin, sizeof desc.file.mesh.origin);
    tml_status status =
        a->debug_cells ? cells_check(r->tml, &r->desc, (cells_by)a->cells_by) : TML_OK;
    TML_THEN(status, tml_surface_save(r->tml, a->output, &desc, &r->made));
    return status == TML_OK ? surface_end_whole(r) : cli_fail(r->tml, status);
}
