/* trommel distance: makes a volume of signed distances to a mesh. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/collide.h>
#include <trommel/volumes.h>

#include "cli.h"
#include "mesh_input.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"

typedef struct distance_args {
    cli_common common;
    const char *output;
    double cell, margin, band;
    uint64_t resolution;
    uint32_t rule; /* tml_tree_rule */
    bool is_unsigned, skip_broken;
} distance_args;

static const opt distance_options[] = {
    {OPT_SECTION, .help = "Samples"},
    {OPT_NUMBER, "cell", .excludes = "resolution", .brief = "distance of neighbouring samples",
     .argument = "L", .least = 1e-30, .most = 1e30, .offset = offsetof(distance_args, cell),
     .help = "distance of neighbouring samples, in the mesh's units"},
    {OPT_COUNT, "resolution", .brief = "or samples along the longest side", .argument = "N",
     .least = 8, .most = 65536, .fallback = "128", .offset = offsetof(distance_args, resolution),
     .help = "samples along the longest side instead, the margins among them"},
    {OPT_NUMBER, "margin", .argument = "N", .least = 1, .most = 1024, .fallback = "3",
     .offset = offsetof(distance_args, margin), .help = "cells around the mesh, at least"},
    {OPT_SECTION, .help = "Distances"},
    {OPT_NUMBER, "band", .brief = "exact up to N cells only; faster", .argument = "N", .least = 0,
     .most = 1e6, .fallback = "0", .offset = offsetof(distance_args, band),
     .help = "exact up to this many cells from the mesh, and that much beyond, with the sign; "
             "faster; 0: exact everywhere"},
    {OPT_CHOICE, "inside", .excludes = "unsigned", .choices = "even-odd|winding|solid-angle",
     .fallback = "even-odd", .offset = offsetof(distance_args, rule),
     .help =
         "negative where a ray crosses the mesh an odd number of times; or where the mesh winds "
         "about the sample, as it does in each of several parts that overlap; or, of a mesh that "
         "may be open, where it covers half of all directions or more"},
    {OPT_FLAG, "unsigned", .brief = "positive inside, too; for open meshes",
     .offset = offsetof(distance_args, is_unsigned),
     .help = "positive inside, too: the mesh may then be open"},
    {OPT_FLAG, "skip-broken", .offset = offsetof(distance_args, skip_broken),
     .help =
         "leave out triangles with coordinates that are too large, instead of refusing the mesh"},
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "the volume: .nrrd .mha .npy .raw", .argument = "FILE",
     .offset = offsetof(distance_args, output), .endings = ".nrrd .mha .npy .raw",
     .help = "the volume, of 32-bit floats: .nrrd .mha .npy .raw"},
    {0},
};

typedef struct run {
    tml_context *tml;
    const distance_args *args;
    mesh_input mesh;
    tml_tree *tree;
    tml_volume volume;
    double cell;
    uint64_t inside;
    report times;
} run;

static int build_tree(run *r)
{
    double start = cli_now();
    tml_status status = mesh_input_tree(r->tml, &r->mesh, r->args->skip_broken, &r->tree);
    report_add_stage(&r->times, "tree", cli_now() - start);
    return cli_fail(r->tml, status);
}

/* Chooses the grid: centred on the tree's box, with at least the margin around it. */
static int choose_grid(run *r)
{
    const distance_args *a = r->args;
    tml_tree_info info;
    tml_grid *grid = &r->volume.grid;
    double longest = 0, samples = 1;
    tml_tree_describe(r->tree, &info);
    if (info.triangle_count == info.broken_count)
        return cli_error("%s: has no triangles to be far from", r->mesh.path);
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, (double)info.upper[k] - (double)info.lower[k]);
    double between = (double)a->resolution - 1 - 2 * a->margin;
    if (a->cell == 0 && !(between >= 1))
        return cli_usage("--margin: two of %g cells leave nothing of --resolution %" PRIu64
                         " for the mesh",
                         a->margin, a->resolution);
    r->cell = a->cell > 0 ? a->cell : longest > 0 ? longest / between : 1;
    for (int k = 0; k < 3; k++) {
        double low = (double)info.lower[k], side = (double)info.upper[k] - low;
        double cells = ceil(side / r->cell * (1 - 0x1p-40) + 2 * a->margin);
        samples *= cells + 1;
        if (samples > 0x1p40)
            return cli_error(
                "%s: is %g along its longest side, which needs more than 2^40 samples; "
                "give a larger --cell",
                r->mesh.path, longest);
        grid->dims[k] = (uint64_t)cells + 1;
        grid->spacing[k] = r->cell;
        grid->origin[k] = low + side / 2 - cells / 2 * r->cell;
        grid->direction[4 * k] = 1;
    }
    return CLI_OK;
}

static int make_volume(run *r)
{
    const distance_args *a = r->args;
    tml_volume *v = &r->volume;
    uint64_t count = v->grid.dims[0] * v->grid.dims[1] * v->grid.dims[2];
    double start = cli_now();
    tml_buffer out = {0, 0};
    if (a->common.memory && count * sizeof(float) > a->common.memory)
        return cli_error("%" PRIu64 " samples are more than --memory has room for; give a larger "
                         "--cell or a lower --resolution",
                         count);
    v->type = TML_F32;
    v->slope = 1;
    v->data = tml_alloc_array(r->tml, count, sizeof(float));
    if (!v->data)
        return cli_error("no memory for %" PRIu64 " samples", count);
    v->size = count * sizeof(float);
    tml_status status = cli_make_buffer(r->tml, TML_F32, count, NULL, "distances", &out);
    bool is_made = status == TML_OK;
    if (is_made)
        status = tml_tree_distance_grid(
            r->tml, &(tml_tree_distance_grid_desc){.tree = r->tree,
                                                   .grid = v->grid,
                                                   .rule = (tml_tree_rule)a->rule,
                                                   .is_signed = !a->is_unsigned,
                                                   .band = (float)(a->band * r->cell),
                                                   .out = out});
    TML_THEN(status, tml_buffer_read(r->tml, out, v->data));
    tml_buffer_destroy(r->tml, out);
    for (uint64_t i = 0; i < count && status == TML_OK; i++)
        r->inside += ((const float *)v->data)[i] < 0;
    for (int k = 0; k < 3; k++) /* a mesh far from 0 has an origin of its own */
        v->grid.origin[k] += r->mesh.file.mesh.origin[k];
    report_add_stage(&r->times, "distances", cli_now() - start);
    if (is_made && status == TML_ERROR_INVALID_ARGUMENT)
        return cli_error("%s: %s, or give --unsigned", r->mesh.path, cli_last_error(r->tml));
    return cli_fail(r->tml, status);
}

static int save_volume(run *r)
{
    double start = cli_now();
    tml_status status = tml_volume_save(r->tml, r->args->output, &r->volume);
    report_add_stage(&r->times, "save", cli_now() - start);
    report_add_output(&r->times, r->args->output);
    return cli_fail(r->tml, status);
}

static void tell(const run *r)
{
    field_heading("%s", text_file_name(r->mesh.path));
    mesh_input_tell("input", "mesh", &r->mesh);
    field_dims("dims", "samples", "%s", r->volume.grid.dims);
    field_number("cell", NULL, ", %.6g apart", r->cell);
    field_count("inside", NULL, r->args->is_unsigned ? NULL : ", %s inside", r->inside);
    report_tell(&r->times, 0, 0);
}

static int distance_run(tml_context *tml, const void *args, char **operands)
{
    const distance_args *a = args;
    run r = {.args = a, .tml = tml};
    int code = mesh_input_load(tml, operands[0], TML_WELD_AUTO, &a->common, &r.times, &r.mesh);
    CLI_THEN(code, build_tree(&r));
    CLI_THEN(code, choose_grid(&r));
    CLI_THEN(code, make_volume(&r));
    CLI_THEN(code, save_volume(&r));
    progress_clear();
    if (code == CLI_OK)
        tell(&r);
    tml_tree_destroy(tml, r.tree);
    mesh_input_free(tml, &r.mesh);
    tml_volume_free(tml, &r.volume);
    return code;
}

const cli_command cmd_distance = {
    .options =
        {.name = "distance",
         .operands = "MESH",
         .endings = CLI_MESHES,
         .summary = "Makes a volume of the signed distances to a mesh",
         .about =
             "MESH (OBJ, PLY, STL, OFF, glTF, VTP) must be closed, unless --inside solid-angle or "
             "--unsigned is given. Samples inside are negative, exactly those inside. 'trommel "
             "surface --iso 0 --flip' "
             "makes a mesh of the volume again, and another isovalue a thicker or thinner one.",
         .examples = "  trommel distance part.stl --cell 0.5 -o part.nrrd\n"
                     "  trommel surface part.nrrd --iso 2 --flip -o thicker.ply\n"
                     "  trommel distance part.stl --resolution 512 --band 3 -o narrow.nrrd\n"
                     "  trommel distance scan.ply --inside solid-angle -o scan.nrrd\n",
         .options = distance_options,
         .needs = "output"},
    .args_size = sizeof(distance_args),
    .run_on = distance_run,
};
