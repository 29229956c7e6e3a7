/* trommel surface: makes meshes from points. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/cmd_surface.h"
#include "paths.h"
#include "ranks.h"
#include "report/text.h"
#include "system.h"

/* Decides for slabs if the samples that the CPU keeps of a field exceed the memory limit. If slabs
 * are impossible, prints the size. */
static int choose_field_slabs(surface_run *r, const tml_field_desc *field, bool *in_slabs)
{
    const surface_args *a = r->args;
    const uint64_t *dims = field->grid.dims;
    uint64_t limit = a->common.memory ? a->common.memory : system_free_memory() / 2;
    double bytes = 0.3 * (double)dims[0] * (double)dims[1] * (double)dims[2] *
                   (a->iso.count ? (double)a->iso.count : 1);
    char needed[TEXT_SIZE], taken[TEXT_SIZE];
    *in_slabs = cli_device(r->tml).engine == TML_ENGINE_CPU && limit && bytes > (double)limit;
    const char *obstacle = *in_slabs ? surface_what_needs_all(r) : NULL;
    if (!obstacle)
        return CLI_OK;
    return cli_error("a field of %" PRIu64 " x %" PRIu64 " x %" PRIu64 " samples, %g apart, needs "
                     "%s of memory, more than %s; give a larger --cell, narrower --bounds or more "
                     "--memory, or %s, so that it goes in slabs",
                     dims[0], dims[1], dims[2], field->grid.spacing[0],
                     text_bytes(needed, (uint64_t)bytes), text_bytes(taken, limit), obstacle);
}

/* Decides for slabs if they are requested, which evaluate the field as needed. A process that is
 * alone in its job also works in slabs, as several would, if it can. */
static int choose_point_slabs(surface_run *r, const tml_field_desc *field, bool *in_slabs)
{
    const surface_args *a = r->args;
    const char *obstacle = surface_what_needs_all(r);
    const bool is_asked = ranks_count() > 1 || a->slab_layers || a->index || (r->team && !obstacle);
    if (!is_asked)
        return choose_field_slabs(r, field, in_slabs);
    *in_slabs = true;
    return obstacle ? surface_refuse_slabs(r, obstacle) : CLI_OK;
}

/* The decide hook: called when the points are known, before their surface is made. */
static tml_status decide_points(void *user, const tml_points *p, const tml_field_desc *field,
                                const tml_surface_saved *known, tml_surface_save_desc *save)
{
    static const char *const origins[] = {"half a lone point's height", "the spheres' surface",
                                          "a share of the density inside",
                                          "a share of the density inside"};
    surface_run *r = user;
    const surface_args *a = r->args;
    (void)known; /* it is r->made */
    r->in.points = *p;
    surface_add_later_stages(r);
    if (r->is_first && r->is_frame && a->cell.size > 0 && a->radius == 0 && !p->radii)
        cli_warn("each frame gets a radius of its own, this one %g; to keep the surface steady, "
                 "give all the same --radius",
                 field->radius);
    if (r->is_first && tml_points_look_scanned(p) != TML_POINTS_LOOK_PARTICLES)
        cli_warn(
            "%s: its points %s, as a scan's: each becomes a blob, and all of them a shell with "
            "walls on both sides, which is no reconstruction; points are taken for particles "
            "here, and Poisson's method, as in Open3D or MeshLab, makes meshes of scans",
            text_file_name(r->in.path),
            tml_points_look_scanned(p) == TML_POINTS_LOOK_ORIENTED ? "have normals"
                                                                   : "lie on a surface");
    r->summary.origin = a->iso.count ? "given" : origins[a->points_kind];
    r->summary.grid = field->grid;
    r->summary.radius = field->radius;
    r->summary.slope = 1;
    r->summary.bytes_in = p->count * 3 * sizeof *p->positions;
    surface_count_cells(r);
    r->code = choose_point_slabs(r, field, &r->in_slabs);
    if (r->in_slabs) {
        const slabs_options options = surface_describe_slabs(r);
        slabs_describe(r->tml, &r->slabs, &r->desc, &options, save);
    }
    return r->code == CLI_OK ? TML_OK : TML_ERROR_CANCELLED;
}

int surface_run_points(surface_run *r)
{
    const surface_args *a = r->args;
    char words[INPUT_WORDS];
    const char *names[INPUT_MAX_ATTRIBUTES];
    const tml_load_desc load = {.names = names,
                                .name_count = input_attributes(a->attribute, words, names),
                                .memory_limit = a->common.memory,
                                .strict = a->common.strict};
    tml_surface_desc surface = r->desc;
    surface.isovalues = a->iso.count ? a->iso.values : NULL;
    surface.isovalue_count = a->iso.count;
    tml_points_mesh_desc desc = {
        .load = &load,
        .kind = (tml_points_field)a->points_kind,
        .field = {.radius = a->radius,
                  .kernel = (tml_field_kernel)a->kernel,
                  .resolution = (uint32_t)a->resolution},
        .cell = a->cell.is_in_radii ? a->cell.size : 0,
        .save = {.slabs = {.surface = &surface, .components = surface_counts_components(a)},
                 .file = {.mesh = {.comment = "made by " CLI_PROGRAM,
                                   .up = picture_up(a->picture.up, "")},
                          .edit = surface_finish_mesh,
                          .user = r},
                 .smooth = a->smooth.iterations,
                 .keep_empty = r->is_frame},
        .collapse = a->collapse,
        .decide = decide_points,
        .user = r};
    if (a->attribute && a->output && path_ends_with(a->output, ".stl .obj"))
        return cli_usage("--attribute: %s holds none; use .ply, .glb or .vtp", a->output);
    if (load.name_count > INPUT_MAX_ATTRIBUTES)
        return cli_error("--attribute: more than %d names", INPUT_MAX_ATTRIBUTES);
    for (int axis = 0; axis < 3; axis++) {
        desc.field.grid.spacing[axis] = a->cell.is_in_radii ? 0 : a->cell.size;
        desc.field.lower[axis] = a->bounds[0][axis];
        desc.field.upper[axis] = a->bounds[1][axis];
    }
    tml_status status =
        tml_points_to_mesh(r->tml, r->in.path, a->output, &desc, &r->in.points, NULL, &r->made);
    const tml_surface_saved *made = &r->made;
    if (r->code != CLI_OK)
        return r->code;
    if (status != TML_OK && made->failed == TML_SIDE_SOURCE)
        return input_fail_points(r->tml, r->in.path, &a->input, false, status);
    if (!r->in_slabs)
        return status == TML_OK ? surface_end_whole(r) : cli_fail(r->tml, status);
    const slabs_options options = surface_describe_slabs(r);
    int code = slabs_end(r->tml, &r->slabs, &options, status, made->failed, made->is_empty);
    if (code == CLI_OK)
        surface_end_slabs(r);
    return code;
}
