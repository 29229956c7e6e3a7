/* trommel surface: makes an isosurface's mesh from a volume or points, and its picture. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/cmd_surface.h"
#include "paths.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"

/* ---- options --------------------------------------------------------------------------------- */

static const char *parse_smooth(const char *text, void *member)
{
    smoothing *smooth = member;
    double number;
    if (!opt_number(text, &number) || !(number >= 0 && number <= 1000) || number != floor(number))
        return "a whole number of iterations, 0 to 1000";
    *smooth = (smoothing){true, (uint32_t)number};
    return NULL;
}

/* Parses "0.02" or "0.25r". */
static const char *parse_cell(const char *text, void *member)
{
    cell_size *cell = member;
    char number[OPT_TEXT_SIZE];
    size_t length = strlen(text);
    cell->is_in_radii = length > 1 && length < sizeof number && text[length - 1] == 'r';
    snprintf(number, sizeof number, "%.*s", (int)(length - cell->is_in_radii), text);
    if (length >= sizeof number || !opt_number(number, &cell->size) || !(cell->size >= 0) ||
        !isfinite(cell->size) || (cell->is_in_radii && !(cell->size > 0 && cell->size <= 1)))
        return "a length such as 0.02, or a share of the radius, at most 1, such as 0.25r";
    return NULL;
}

/* Parses "0:64,10:,:": samples from the first number up to, not including, the second. */
static const char *parse_region(const char *text, void *member)
{
    tml_region *region = member;
    uint64_t first[3], last[3];
    if (!opt_ranges(text, 3, first, last))
        return "three ranges of samples such as 0:64,10:,:";
    for (int axis = 0; axis < 3; axis++) {
        region->first[axis] = first[axis];
        region->count[axis] = last[axis] == UINT64_MAX ? 0 : last[axis] - first[axis];
    }
    return NULL;
}

/* Parses "A:B:N": N evenly spaced values from A to B. */
static bool parse_steps(const char *text, opt_numbers *list)
{
    double ends[3];
    if (!strchr(text, ':')) {
        if (list->count == OPT_MAX_NUMBERS)
            return false;
        return opt_number(text, &list->values[list->count++]);
    }
    if (opt_numbers_split(text, ':', ends, 3) != 3 || ends[2] != floor(ends[2]) || ends[2] < 2 ||
        ends[2] > OPT_MAX_NUMBERS - list->count)
        return false;
    for (uint32_t i = 0, last = (uint32_t)ends[2] - 1; i <= last; i++) {
        double t = (double)i / last;
        list->values[list->count++] = i == last ? ends[1] : ends[0] + t * (ends[1] - ends[0]);
    }
    return true;
}

static const char *parse_isovalues(const char *text, void *member)
{
    static const char expected[] =
        "numbers that differ, at most 64, such as 0.1,0.5, or A:B:N for N "
        "evenly spaced ones from A to B, such as 0.1:0.5:5, or auto";
    opt_numbers *list = member;
    char item[OPT_TEXT_SIZE];
    list->count = 0;
    if (strcmp(text, "auto") == 0 || strcmp(text, "otsu") == 0)
        return NULL; /* as if the option were not given */
    if (strchr(text, '%'))
        return "values and not percentages, such as 300, as the file has them ('" CLI_PROGRAM
               " info' shows from where to where they run), or auto";
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        if (length >= sizeof item)
            return expected;
        memcpy(item, at, length);
        item[length] = '\0';
        if (!parse_steps(item, list))
            return expected;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    for (uint32_t i = 0; i < list->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (list->values[i] == list->values[k])
                return expected;
    return NULL;
}

/* Parses "-1:1,0:2.5,:": lengths in the points' units; an empty end is the points' own. */
static const char *parse_bounds(const char *text, void *member)
{
    static const char expected[] = "three ranges of coordinates such as -1:1,0:2.5,:";
    double(*bounds)[3] = member;
    char end[64];
    for (int i = 0; i < 6; i++) {
        size_t length = strcspn(text, ":,");
        if (length >= sizeof end || text[length] != ":,:,:"[i])
            return expected;
        memcpy(end, text, length);
        end[length] = '\0';
        double *value = &bounds[i % 2][i / 2];
        *value = i % 2 ? INFINITY : -INFINITY;
        if (length && !opt_number(end, value))
            return expected;
        text += length + 1;
    }
    for (int a = 0; a < 3; a++)
        if (!(bounds[0][a] < bounds[1][a]))
            return "three ranges of coordinates, the smaller first, such as -1:1,0:2.5,:";
    return NULL;
}

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

static const opt surface_options[] = {
    {OPT_SECTION, .help = "Which surface"},
    {OPT_CUSTOM, "iso", .brief = "isovalues; by default one is chosen",
     .argument = "V[,V...]|A:B:N", .parse = parse_isovalues, .offset = offsetof(surface_args, iso),
     .help =
         "isovalues in the file's physical units, A:B:N for N evenly spaced ones; inside is at "
         "or above (default: Otsu's method for volumes, half a lone point's height for points)"},
    {OPT_CUSTOM, "labels", .applies = OPT_VOLUME, .excludes = "iso", .argument = "all|N[,N...]",
     .parse = labels_parse, .offset = offsetof(surface_args, labels),
     .help =
         "surfaces of these labels instead, a part each: whole numbers, as info tells the values"},
    {OPT_CUSTOM, "smooth", .excludes = "soup|index", .argument = "N", .parse = parse_smooth,
     .offset = offsetof(surface_args, smooth),
     .help =
         "smooth the mesh N times (10 to 30, say) by Taubin's two steps: what is large stays as "
         "large, boundaries stay, and normals follow the triangles. Of points by a Laplacian, "
         "where they are crowded, so that drops stay. With --labels: one mesh of all "
         "labels' boundaries, shared by the labels on both sides and smoothed N times within its "
         "cells (16, say; 0: as they are); .ply and .vtp have both labels of each triangle. Other "
         "labels than the named ones are background, and so is 0"},
    {OPT_FLAG, "separate", .applies = OPT_VOLUME, .needs = "labels",
     .excludes = "soup|slabs|index|simplify|simplify-error",
     .offset = offsetof(surface_args, separate),
     .help =
         "each label as a closed manifold mesh of its own, at the places of the shared ones (see "
         "--smooth), and one to a file where the output's name has %d or %04d, which becomes the "
         "label; of a sequence it is the frame's number"},
    {OPT_FLAG, "quads", .applies = OPT_VOLUME, .needs = "labels",
     .excludes = "soup|index|png|simplify|simplify-error", .offset = offsetof(surface_args, quads),
     .help = "the labels' boundaries (see --smooth) in quads, in .ply, .obj or .vtp"},
    {OPT_CUSTOM, "region", .argument = "X0:X1,Y0:Y1,Z0:Z1", .parse = parse_region,
     .offset = offsetof(surface_args, region),
     .help = "only samples X0 up to, not including, X1 and so on; an empty end is the volume's"},
    {OPT_INPUT, "mask", .applies = OPT_VOLUME, .argument = "FILE",
     .offset = offsetof(surface_args, mask), .endings = CLI_VOLUMES,
     .help = "a volume of the same size; where it is 0, samples count as missing"},
    {OPT_CHOICE, "topology", .choices = "separated|trilinear", .fallback = "separated",
     .excludes = "labels", .offset = offsetof(surface_args, topology),
     .help =
         "where a cell's corners do not tell its topology: samples inside, across a face's "
         "diagonal, are apart, or all is as the trilinear interpolant has it, tunnels included"},
    {OPT_FLAG, "caps", .offset = offsetof(surface_args, caps),
     .help = "close the surface where it leaves the volume"},
    {OPT_FLAG, "flip", .offset = offsetof(surface_args, flip),
     .help = "inside is below the isovalue: reverse the orientation of triangles and normals"},
    {OPT_FLAG, "largest", .brief = "keep only the largest component",
     .offset = offsetof(surface_args, largest),
     .help = "keep each part's component with the most triangles"},
    {OPT_FLAG, "drop-degenerate", .offset = offsetof(surface_args, drop_degenerate),
     .help =
         "leave out triangles with two equal corners, which there are where 32-bit floats do not "
         "tell neighbouring vertices apart: axes of more than 8192 samples; what is closed stays "
         "closed, but edges of four triangles may arise"},
    {OPT_NUMBER, "collapse", .excludes = "soup|slabs|index", .argument = "S", .least = 0, .most = 1,
     .fallback = "0", .offset = offsetof(surface_args, collapse),
     .help = "collapse edges shorter than this share of the samples' spacing (0.4, say), so that "
             "most slivers go; what is closed and a manifold stays so"},

    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "", .argument = "FILE",
     .offset = offsetof(surface_args, output), .endings = ".ply .stl .obj .glb .vtp",
     .help = "the mesh: .ply .stl .obj .glb .vtp"},
    {OPT_OUTPUT, "png", .brief = "", .argument = "FILE", .offset = offsetof(surface_args, png),
     .endings = ".png", .help = "a picture of it"},
    {OPT_OUTPUT, "debug-cells", .applies = OPT_VOLUME, .excludes = "labels|iso=*,*|iso=*:*",
     .argument = "FILE", .offset = offsetof(surface_args, debug_cells), .endings = ".png",
     .help =
         "a picture of the triangles of each cell, slice beside slice: 0 to 5 (or more) are black, "
         "blue, green, yellow, orange, red; of the samples alone, without what --caps adds or "
         "--largest drops"},
    {OPT_CHOICE, "by", .applies = OPT_VOLUME, .needs = "debug-cells", .choices = "triangles|place",
     .fallback = "triangles", .offset = offsetof(surface_args, cells_by),
     .help =
         "colours of that picture; place: x in red, y in green, z in blue, of the cells that have "
         "triangles, which are also shown side by side, as compaction leaves them"},
    {OPT_OUTPUT, "cells", .applies = OPT_VOLUME, .needs = "output|png", .argument = "FILE.npy",
     .offset = offsetof(surface_args, cells), .endings = ".npy",
     .help = "the number of each triangle's cell: that of its lowest sample, x + nx (y + ny z)"},
    {OPT_CHOICE, "normals", .brief = "how normals are computed",
     .choices = "none|forward|central|sobel", .fallback = "central",
     .offset = offsetof(surface_args, normals), .help = "how normals follow from the samples"},
    {OPT_INPUT, "attribute", .applies = OPT_VOLUME | OPT_POINTS, .needs = "output|png",
     .argument = "FILE|NAME[,NAME...]", .offset = offsetof(surface_args, attribute),
     .endings = CLI_VOLUMES,
     .help =
         "a volume of the same size whose values are put on the vertices; of points the names of "
         "what they carry, as info lists them, such as velocity,color: its mean by the kernel"},
    {OPT_FLAG, "soup", .needs = "output|png", .offset = offsetof(surface_args, soup),
     .help = "three vertices for each triangle, no indices"},
    {OPT_FLAG, "indices64", .needs = "output", .excludes = "soup",
     .offset = offsetof(surface_args, indices64),
     .help = "64-bit indices, for more than 2^32 vertices"},
    SIMPLIFY_OPTIONS(surface_args, simplify, .needs = "output|png",
                     .excludes = "soup|cells|indices64|slabs|index|iso=*,*|iso=*:*"),

    INPUT_OPTIONS(surface_args),

    {OPT_SECTION, .help = "Volumes larger than memory"},
    {OPT_COUNT, "slabs", .argument = "LAYERS", .least = 0, .most = 1e9, .fallback = "0",
     .offset = offsetof(surface_args, slab_layers),
     .help =
         "read, work and write in slabs of this many layers (of points: of their field), for the "
         "same mesh; 0: where a volume needs more than --memory, or half of what is free, and "
         "where that is faster: on the CPU, a raw volume or a compressed one"},
    {OPT_INPUT, "index", .applies = OPT_VOLUME, .argument = "FILE",
     .offset = offsetof(surface_args, index), .endings = ".tmx",
     .help = "what '" CLI_PROGRAM " index' made of the volume: bricks that the surface does not "
             "cross are not read, where samples are raw and in one file"},

    {OPT_SECTION, .help = "Sequences"},
    FRAMES_OPTION(surface_args, frames),
    {OPT_FLAG, "resume", .offset = offsetof(surface_args, resume),
     .help = "leave frames alone whose outputs are there and newer than their inputs; whether "
             "other options made them is not looked at"},

    {OPT_SECTION, .help = "Field", .applies = OPT_POINTS},
    {OPT_CHOICE, "field", .choices = "sum|distance|density|anisotropic", .fallback = "sum",
     .offset = offsetof(surface_args, points_kind),
     .help =
         "sum of a kernel around each point, distance to spheres around them, or density as "
         "smoothed particle hydrodynamics has it: a sum of cubic splines, each divided by "
         "those of all points at its own, about 1 inside, with the surface at 0.6; anisotropic: "
         "a density of ellipsoids that follow the surface, so that it has no bumps"},
    {OPT_CHOICE, "kernel", .excludes = "field=density|field=anisotropic",
     .choices = "wendland|poly6|metaball", .fallback = "wendland",
     .offset = offsetof(surface_args, kernel), .help = "shape of the kernel"},
    {OPT_NUMBER, "radius", .brief = "of points: reach of each", .argument = "R", .least = 0,
     .most = INFINITY, .fallback = "0", .offset = offsetof(surface_args, radius),
     .help = "reach of a point; 0: the file's, or from the points' median spacing"},
    {OPT_CUSTOM, "cell", .excludes = "resolution",
     .brief = "of points: spacing of the field's samples", .argument = "L|Sr", .parse = parse_cell,
     .offset = offsetof(surface_args, cell),
     .help = "spacing of the field's samples in the points' units, or as a share of the radius, as "
             "0.25r, on a lattice through 0 that all frames of a sequence share, so that what "
             "stands still does not flicker; a half to an eighth of the radius (default: from "
             "--resolution)"},
    {OPT_CUSTOM, "bounds", .argument = "X0:X1,Y0:Y1,Z0:Z1", .parse = parse_bounds,
     .offset = offsetof(surface_args, bounds),
     .help = "the field's box in the points' units; an empty end is the points' own; --caps closes "
             "what it cuts"},
    {OPT_COUNT, "resolution", .brief = "of points: samples along the field's longest side",
     .argument = "N", .least = 2, .most = 16384, .fallback = TEXT_OF(TML_POINTS_RESOLUTION),
     .offset = offsetof(surface_args, resolution),
     .help = "samples along the field's longest side"},

    PICTURE_OPTIONS(surface_args),
    {OPT_CUSTOM, "color", .excludes = "attribute|iso=*,*|iso=*:*|labels=all|labels=*,*",
     .argument = "RRGGBB", .parse = picture_parse_color, .fallback = "d9c7a8",
     .offset = offsetof(surface_args, color),
     .help = "of the surface; several parts and attributes bring their own"},
    {0},
};

/* Returns the settings that volumes and points share. */
static tml_surface_desc describe_settings(const surface_args *a)
{
    return (tml_surface_desc){.region = a->region,
                              .normals = (tml_normals)a->normals,
                              .topology = (tml_topology)a->topology,
                              .soup = a->soup,
                              .cells = a->cells != NULL,
                              .caps = a->caps,
                              .flip = a->flip,
                              .indices64 = a->indices64,
                              .drop_degenerate = a->drop_degenerate,
                              .largest_component = a->largest};
}

static void release(surface_run *r)
{
    slabs_close(&r->slabs);
    simplify_free(r->tml, &r->summary.simple);
    tml_surface_saved_free(r->tml, &r->made);
    tml_buffer_destroy(r->tml, r->desc.volume);
    tml_buffer_destroy(r->tml, r->desc.mask);
    tml_buffer_destroy(r->tml, r->desc.attribute);
    tml_volume_free(r->tml, &r->mask);
    tml_free(r->tml, r->mask_bytes, r->mask_size);
    tml_volume_free(r->tml, &r->attribute);
    input_free(r->tml, &r->in);
}

/* Processes one file, from its name to the output files. */
static int run_file(surface_run *r, char *path)
{
    r->summary.in = &r->in;
    r->summary.result = &r->made.surface;
    if (r->in_slabs) {
        input_name(path, &r->in);
        r->in.frame = r->args->input.frame;
        int code = surface_run_volume_slabs(r);
        if (code != CLI_OK || !r->slabs.is_empty)
            return code;
        slabs_close(&r->slabs); /* load all of it, to report its range of samples */
        tml_surface_free(r->tml, &r->made.surface);
    }
    if (input_is_points(r->tml, path, &r->args->input)) {
        input_name(path, &r->in);
        r->in.is_points = true;
        return surface_run_points(r);
    }
    int code = surface_load_volume(r, path);
    if (code == CLI_OK && ranks_count() > 1)
        return cli_error("%s (several processes take a volume layer by layer)", r->slabs.why);
    return code == CLI_OK ? surface_run_whole(r) : code;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* The state that all frames share. */
typedef struct job {
    const surface_args *args;
    bool is_sequence;
    uint32_t frame_count;
    tml_context *tml; /* the latest frame's; the next frame uses it too if it can */
    bool is_for_slabs;
    uint32_t done, skipped;
} job;

enum { FRAME_FILES = 7 };

/* Puts a frame's number into the names of its files. */
static int number_files(surface_args *a, uint32_t number, bool is_sequence,
                        char (*paths)[FRAME_PATH])
{
    const char **files[FRAME_FILES] = {&a->output, &a->mask,  &a->attribute,  &a->index,
                                       &a->png,    &a->cells, &a->debug_cells};
    const bool is_by_label = a->separate && !is_sequence;
    for (int i = is_by_label; i < FRAME_FILES; i++) {
        if (!*files[i] || !path_is_numbered(*files[i]))
            continue;
        if (!tml_path_number(*files[i], number, false, paths[i], FRAME_PATH))
            return cli_error("%s: is longer than %d bytes", *files[i], FRAME_PATH - 1);
        *files[i] = paths[i];
    }
    return CLI_OK;
}

/* Whether --resume skips the frame, since its outputs exist. */
static bool skips(job *j, const surface_args *a, const frame *f)
{
    const char *const inputs[] = {f->path, a->mask, a->attribute, a->index};
    const char *const outputs[] = {a->output, a->png, a->debug_cells, a->cells};
    if (!a->resume || !frames_is_done(inputs, 4, outputs, 4))
        return false;
    field_open(NULL, '{');
    field_count("frame", NULL, NULL, f->number);
    field_text("file", NULL, NULL, f->path);
    field_flag("skipped", NULL, NULL, true);
    field_close('{');
    j->skipped++;
    return true;
}

/* Estimates the work for so many files, by the size of one. */
static cli_work estimate(const char *path, uint32_t files)
{
    const speeds *s = speeds_here();
    double bytes = cli_file_size(path) * files;
    return input_is_named_like_points(path) ? (cli_work){s->points * bytes, 0.15, bytes}
                                            : (cli_work){s->volume * bytes, 0, bytes};
}

/* Opens a context, unless the frame before left a suitable one. */
static int open_context(job *j, const char *path, bool in_slabs)
{
    cli_common common = j->args->common;
    if (j->tml && j->is_for_slabs == in_slabs)
        return CLI_OK;
    if (j->tml)
        cli_close(j->tml);
    const bool is_for_cpu = in_slabs || j->args->topology != TML_TOPOLOGY_SEPARATED;
    if (is_for_cpu && common.backend == TML_ENGINE_AUTO) /* the best device may not support it */
        common.backend = TML_ENGINE_CPU;
    j->is_for_slabs = in_slabs;
    const cli_work work = estimate(path, j->frame_count);
    j->tml = cli_open(&common, &work);
    return j->tml ? CLI_OK : CLI_FAILED;
}

/* A frame_fn. */
static int run_frame(void *user, const frame *f, uint32_t index)
{
    static char paths[FRAME_FILES][FRAME_PATH];
    job *j = user;
    surface_args args = *j->args;
    int code = number_files(&args, f->number, j->is_sequence, paths);
    if (code != CLI_OK || skips(j, &args, f))
        return code;
    surface_run r = {.args = &args,
                     .desc = describe_settings(&args),
                     .is_frame = j->is_sequence,
                     .is_first = index == 0};
    code = surface_choose_slabs(&r, f->path);
    CLI_THEN(code,
             open_context(j, f->path, r.in_slabs || r.team || args.slab_layers || args.index));
    if (code != CLI_OK) {
        slabs_close(&r.slabs);
        return code;
    }
    r.tml = j->tml;
    code = input_check_options(r.tml, f->path, &args.input,
                               r.slabs.streams[0] ? r.slabs.info[0].format : NULL);
    if (code == CLI_OK && r.may_be_slabs)
        surface_prefer_slabs(&r);
    CLI_THEN(code, run_file(&r, f->path));
    progress_clear();
    if (code == CLI_OK) {
        summary_tell(&r.summary, j->is_sequence ? f : NULL, j->done == 0);
        j->done++;
    }
    release(&r);
    return code;
}

/* Returns the first given option that label boundaries exclude; NULL: none. */
static const char *what_net_excludes(const surface_args *a)
{
    return a->mask                             ? "--mask"
           : a->flip                           ? "--flip"
           : a->largest                        ? "--largest"
           : a->drop_degenerate                ? "--drop-degenerate"
           : a->collapse > 0                   ? "--collapse"
           : a->cells                          ? "--cells"
           : a->attribute                      ? "--attribute"
           : a->normals != TML_NORMALS_CENTRAL ? "--normals"
                                               : NULL;
}

static int run_surface(void *args, char **operands, uint32_t operand_count)
{
    const surface_args *a = args;
    frames f;
    const char *other = what_net_excludes(a);
    if (simplify_is_asked(&a->simplify) && (a->labels.all || a->labels.count > 1) &&
        !surface_makes_net(a))
        return cli_usage("--simplify makes one mesh: name one label, or give --smooth");
    if (surface_makes_net(a) && other)
        return cli_usage("--%s of --labels and %s exclude each other; leave one of them out",
                         a->separate ? "separate"
                         : a->quads  ? "quads"
                                     : "smooth",
                         other);
    int code = frames_find(operands, operand_count, &a->frames, &f);
    if (code != CLI_OK)
        return code;
    job j = {.args = a, .is_sequence = f.is_sequence, .frame_count = f.count};
    if (f.is_sequence)
        field_open("frames", '[');
    code = frames_run(&f, run_frame, &j);
    if (f.is_sequence)
        field_close('[');
    if (code == CLI_OK && j.skipped)
        field_heading("%" PRIu32 " frame%s there already", j.skipped,
                      j.skipped == 1 ? " was" : "s were");
    if (j.tml)
        cli_close(j.tml);
    frames_free(&f);
    return code;
}

const cli_command cmd_surface = {
    .options =
        {.name = "surface",
         .operands = "IN...",
         .endings = CLI_VOLUMES " " CLI_POINTS,
         .summary = "Makes the mesh of an isosurface from a volume or from points",
         .about =
             "IN is a volume (NRRD, NIfTI-1/2, MetaImage, MRC/CCP4, NPY, VTK, TIFF, DICOM, "
             "of these two also a folder of slices, headerless samples) or points (PLY, XYZ, PCD, "
             "LAS, VTK, VTU, BGEO), found by content; "
             "either may be gzipped where its format allows.\n\n"
             "Isovalues are physical: where a file has slope and intercept, they are applied. "
             "Outputs are written beside their targets and renamed when complete.\n\n"
             "Several inputs, or one named with %04d, are frames of a sequence, each a surface of "
             "its own with its number in the outputs' names (and in those of --mask, --attribute "
             "and --index, where they have %04d). Give --iso, and of points --cell and --radius: "
             "otherwise each frame chooses its own. A frame without a surface becomes an empty "
             "mesh; one that fails ends the run, and --resume goes on.",
         .examples = "  trommel surface head.nii.gz --iso 300 -o skull.ply --png skull.png\n"
                     "  trommel surface engine_256x256x128_uint8.raw.gz -o engine.glb\n"
                     "  trommel surface particles.vtk --attribute velocity -o water.vtp\n"
                     "  trommel surface atlas.nrrd --labels all -o organs.vtp\n"
                     "  trommel surface atlas.nrrd --labels all --smooth 16 -o organs.ply\n"
                     "  trommel surface atlas.nrrd --labels all --separate -o organ_%d.stl\n"
                     "  trommel surface frame_%04d.ply --radius 0.1 --cell 0.02 -o water_%04d.ply "
                     "--resume\n",
         .options = surface_options,
         .needs = "output|png|debug-cells"},
    .args_size = sizeof(surface_args),
    .run = run_surface,
    .takes_ranks = true,
};
