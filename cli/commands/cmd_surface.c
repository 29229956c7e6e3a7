/* trommel surface: the mesh of an isosurface, from a volume or from points, and its picture. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/io.h>

#include "cli.h"
#include "draw/cells.h"
#include "draw/color.h"
#include "draw/picture_buffer.h"
#include "draw/picture_options.h"
#include "frames.h"
#include "input.h"
#include "labels.h"
#include "paths.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/summary.h"
#include "report/text.h"
#include "slabs.h"
#include "stream_kernels.h"
#include "system.h"

/* ---- options --------------------------------------------------------------------------------- */

/* Shared boundaries, and how often they are smoothed. */
typedef struct smoothing {
    bool is_asked;
    uint32_t iterations;
} smoothing;

/* Spacing of a field's samples: a length, or a share of the radius. */
typedef struct cell_size {
    double size;
    bool is_in_radii;
} cell_size;

typedef struct surface_args {
    cli_common common;
    input_options input;
    const char *output, *png, *debug_cells, *cells;
    uint32_t cells_by;
    opt_numbers iso;
    label_list labels;
    smoothing smooth;
    bool separate, quads; /* of labels' boundaries */
    tml_region region;
    const char *mask, *attribute;
    uint32_t normals;  /* tml_normals */
    uint32_t topology; /* tml_topology */
    bool soup, caps, flip, indices64, drop_degenerate, largest;
    double collapse;
    simplify_goal simplify;
    uint32_t points_kind; /* tml_points_field */
    uint32_t kernel;      /* tml_field_kernel */
    double radius;
    cell_size cell;
    uint64_t resolution;
    double bounds[2][3]; /* both 0: the points' own */
    picture_options picture;
    float color[3];
    uint64_t slab_layers;
    const char *index;
    frame_range frames;
    bool resume;
} surface_args;

static const char *parse_smooth(const char *text, void *member)
{
    smoothing *smooth = member;
    double number;
    if (!opt_number(text, &number) || !(number >= 0 && number <= 1000) || number != floor(number))
        return "a whole number of iterations, 0 to 1000";
    *smooth = (smoothing){true, (uint32_t)number};
    return NULL;
}

/* "0.02", or "0.25r". */
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

/* "0:64,10:,:" : the samples from the first up to, not including, the second number. */
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

/* "A:B:N": N values from A to B, evenly spaced. */
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
        return NULL; /* as without the option */
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

/* "-1:1,0:2.5,:" : lengths in the points' units; an empty end is the points' own. */
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

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct run {
    tml_context *tml;
    const surface_args *args;
    input in;
    tml_volume mask, attribute;
    void *mask_bytes; /* the mask where its file has no bytes; mask_size of them */
    size_t mask_size;
    tml_surface_desc desc;
    label_list labels;                 /* as the volume's type has them */
    double isovalues[OPT_MAX_NUMBERS]; /* in sample values */
    double range_lower, range_upper;   /* physical; lower > upper: not known */
    tml_points_mesh_result made;       /* of volumes its whole alone */
    uint32_t told_stages;              /* of made.whole */
    summary summary;
    slabs slabs;
    bool in_slabs, may_be_slabs;
    const tml_team *team; /* shares the work; NULL: this process has all of it */
    bool is_frame;        /* of a sequence, in which a surface may well be empty */
    bool is_first;
    int code; /* of a hook that printed why */
} run;

/* A mask volume as bytes that are 0 or not. */
static int make_mask(run *r)
{
    if (!r->args->mask)
        return CLI_OK;
    int code = input_load_like(r->tml, "mask", r->args->mask, &r->in.volume, &r->mask);
    if (code != CLI_OK)
        return code;
    uint64_t count = input_sample_count(&r->mask);
    const void *bytes = r->mask.data;
    tml_status status = TML_OK;
    if (tml_type_size(r->mask.type) > 1) {
        r->mask_size = count;
        r->mask_bytes = tml_alloc_array(r->tml, count, 1);
        if (!r->mask_bytes)
            return cli_error("no memory for a mask of %" PRIu64 " bytes", count);
        bytes = r->mask_bytes;
        status = cli_map(r->tml, stream_nonzero(r->mask.type), r->mask.type, count, r->mask.data,
                         TML_U8, r->mask_bytes);
    }
    TML_THEN(status, cli_lend_input(r->tml, TML_U8, count, bytes, "mask", &r->desc.mask));
    return cli_fail(r->tml, status);
}

static int make_attribute(run *r)
{
    if (!r->args->attribute)
        return CLI_OK;
    if (r->args->output && path_ends_with(r->args->output, ".stl .obj")) {
        if (!r->args->png)
            return cli_usage("--attribute: %s holds none; use .ply, .glb or .vtp", r->args->output);
        cli_warn("--attribute: %s holds none; .ply, .glb and .vtp do", r->args->output);
    }
    int code =
        input_load_like(r->tml, "attribute", r->args->attribute, &r->in.volume, &r->attribute);
    if (code != CLI_OK)
        return code;
    return cli_fail(r->tml,
                    cli_lend_input(r->tml, r->attribute.type, input_sample_count(&r->attribute),
                                   r->attribute.data, "attribute", &r->desc.attribute));
}

static int refuse_no_number(const run *r)
{
    return cli_error("%s: no sample is a finite number, so there is no surface", r->in.path);
}

/* Is the inside where samples are low? So it is with a negative slope, and with --flip. */
static bool is_inside_low(const run *r, const tml_volume *volume)
{
    return r->args->flip != (volume->slope < 0);
}

/* Physical isovalues, given or found, as sample values; a negative slope turns inside out. */
static int choose_isovalues(run *r)
{
    const tml_volume *v = &r->in.volume;
    const opt_numbers *iso = &r->args->iso;
    r->summary.origin = "given";
    r->desc.iso = r->isovalues[0];
    if (iso->count == 0) {
        tml_value_histogram h;
        double start = cli_now();
        tml_status status =
            tml_value_histogram_make(r->tml, v->data, v->type, input_sample_count(v), &h);
        if (status != TML_OK)
            return cli_fail(r->tml, status);
        bool is_empty = h.lower > h.upper;
        r->isovalues[0] = tml_value_histogram_otsu(&h);
        tml_value_histogram_free(r->tml, &h);
        if (is_empty)
            return refuse_no_number(r);
        r->summary.origin = "Otsu's method";
        report_add_stage(&r->summary.report, "isovalue", cli_now() - start);
    }
    for (uint32_t i = 0; i < iso->count; i++)
        r->isovalues[i] = (iso->values[i] - v->intercept) / v->slope;
    r->desc.isovalues = r->isovalues;
    r->desc.isovalue_count = iso->count ? iso->count : 1;
    r->desc.flip = is_inside_low(r, v);
    return CLI_OK;
}

/* Is --region in the volume? */
static int check_region(const run *r)
{
    const tml_region *region = &r->args->region;
    const char *path = r->in.path;
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t first = region->first[axis], dim = r->in.volume.grid.dims[axis];
        const uint64_t last = region->count[axis] ? first + region->count[axis] : dim;
        if (first < dim && last <= dim)
            continue;
        return cli_usage("--region: %c is from %" PRIu64 " up to %" PRIu64
                         ", and %s has samples 0 to %" PRIu64
                         " along it; an empty end, as in 0:, is the volume's",
                         "xyz"[axis], first, last, path, dim - 1);
    }
    return CLI_OK;
}

/* What the file says of itself, and the isovalues or labels. */
static int describe_volume(run *r)
{
    const tml_volume *v = &r->in.volume;
    const label_list *labels = &r->args->labels;
    r->summary.grid = r->desc.grid = v->grid;
    r->summary.slope = v->slope;
    r->summary.intercept = v->intercept;
    r->summary.bytes_in = input_sample_count(v) * tml_type_size(v->type);
    if (check_region(r) != CLI_OK)
        return CLI_USAGE;
    if (!(v->slope != 0))
        return cli_error("%s: its values have slope 0; there is no surface", r->in.path);
    tml_grid_position_origin(&v->grid, r->desc.position_origin);
    if (!labels->all && !labels->count)
        return choose_isovalues(r);
    r->desc.flip = false;
    r->desc.labels = labels->count ? r->labels.labels : NULL;
    r->desc.all_labels = labels->all;
    int code = labels_choose(labels, v->type, &r->labels);
    r->desc.label_count = r->labels.count;
    return code;
}

/* Labels are physical values, as info tells them. Where samples are none as they are, makes
 * them. */
static int make_labels(run *r)
{
    const tml_type type = r->in.volume.type;
    bool is_made = false;
    if (!r->args->labels.all && !r->args->labels.count)
        return CLI_OK;
    tml_status status = labels_make(r->tml, &r->in.volume, &is_made);
    r->in.file_type = is_made ? type : TML_TYPE_NONE;
    return cli_fail(r->tml, status);
}

/* Looks for the chosen labels in the volume, and tells of those that are not there. */
static int find_labels(run *r)
{
    const tml_type type = r->in.volume.type;
    labels_found *found = &r->summary.found;
    char missing[512] = "", text[TEXT_SIZE];
    uint32_t count = 0;
    if (!r->labels.count || r->summary.has_found)
        return CLI_OK;
    tml_status status = labels_find(r->tml, &r->in.volume, &r->args->region, &r->labels, found);
    r->summary.has_found = status == TML_OK;
    for (uint32_t i = 0; i < r->labels.count && status == TML_OK; i++) {
        const size_t used = strlen(missing);
        if (found->is_there[i])
            continue;
        labels_text(text, sizeof text, r->labels.labels[i], tml_type_is_signed(type));
        if (used + strlen(text) + 8 < sizeof missing)
            snprintf(missing + used, sizeof missing - used, "%s%s", count ? ", " : "", text);
        count++;
    }
    if (count && cli_is_strict())
        return cli_error("--labels: %s: no sample of %s has %s", missing, r->in.path,
                         count == 1 ? "this label" : "these labels");
    if (count)
        cli_warn("--labels: %s: no sample of %s has %s", missing, r->in.path,
                 count == 1 ? "this label" : "these labels");
    return cli_fail(r->tml, status);
}

/* The walls of caps close what is high in the samples: makes that the inside. */
static int make_inside_high(run *r)
{
    tml_volume *v = &r->in.volume;
    double sign = r->args->flip ? -1 : 1;
    if (!r->args->caps || !is_inside_low(r, v))
        return CLI_OK;
    v->slope *= sign;
    v->intercept *= sign;
    int code = cli_fail(r->tml, tml_volume_make_physical(r->tml, v));
    v->slope = sign;
    return code;
}

/* The same where the volume was never whole: of labels without a surface. */
static void tell_empty_labels(run *r)
{
    char text[TEXT_SIZE];
    for (uint32_t p = 0; p < r->made.whole.surface.part_count && !r->summary.has_found; p++)
        if (r->labels.count && r->made.whole.surface.parts[p].triangle_count == 0)
            cli_warn("--labels: %s has no surface: no sample of %s has this label, or all have",
                     labels_text(text, sizeof text, r->made.whole.surface.parts[p].label,
                                 tml_type_is_signed(r->in.volume.type)),
                     r->in.path);
}

static int prepare_volume(run *r)
{
    const tml_volume *v = &r->in.volume;
    int code = make_labels(r);
    if (code == CLI_OK)
        code = make_inside_high(r);
    if (code == CLI_OK)
        code = describe_volume(r);
    if (code == CLI_OK)
        code = find_labels(r);
    if (code == CLI_OK)
        code = cli_fail(r->tml, cli_lend_input(r->tml, v->type, input_sample_count(v), v->data,
                                               "volume", &r->desc.volume));
    if (code == CLI_OK)
        code = make_mask(r);
    return code == CLI_OK ? make_attribute(r) : code;
}

static int load_volume(run *r, const char *path)
{
    double start = cli_now();
    int code = input_load(r->tml, path, &r->args->input, &r->args->common, &r->in);
    report_add_stage(&r->summary.report, "load", cli_now() - start);
    return code == CLI_OK ? prepare_volume(r) : code;
}

static void count_cells(run *r)
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

/* Nothing found: says what the samples hold, which is what the user needs to choose again. */
static int explain_empty(run *r)
{
    const tml_volume *v = &r->in.volume;
    tml_value_histogram h;
    if (r->summary.cells == 0)
        return cli_error("%s: has %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         " samples; a surface needs two along each axis, of the region too%s",
                         r->in.path, r->summary.grid.dims[0], r->summary.grid.dims[1],
                         r->summary.grid.dims[2],
                         strcmp(v->format, "TIFF") == 0 && r->summary.grid.dims[2] == 1
                             ? "; where it is a slice of several, name their folder"
                             : "");
    if (r->summary.has_found && r->summary.found.other_count) {
        char others[SUMMARY_LABELS];
        return cli_error("the surface is empty, nothing was written; choose other labels: the "
                         "volume has %s",
                         summary_other_labels(&r->summary, others));
    }
    if (r->in.is_points || r->args->labels.all || r->args->labels.count)
        return cli_error("the surface is empty, nothing was written; choose other "
                         "values (" CLI_PROGRAM " info shows what the file holds)");
    tml_status status =
        tml_value_histogram_make(r->tml, v->data, v->type, input_sample_count(v), &h);
    if (status != TML_OK)
        return cli_fail(r->tml, status);
    static const tml_region whole;
    if (h.lower > h.upper) {
        tml_value_histogram_free(r->tml, &h);
        return refuse_no_number(r);
    }
    bool hides = r->args->mask || memcmp(&r->args->region, &whole, sizeof whole) != 0;
    double a = v->slope * h.lower + v->intercept, b = v->slope * h.upper + v->intercept;
    tml_value_histogram_free(r->tml, &h);
    if (a == b)
        return cli_error(
            "%s: all samples are %g: there is no surface%s", r->in.path, a,
            v->frame_count > 1 ? " in this volume of several; --frame chooses another one" : "");
    return cli_error("the surface is empty, nothing was written; the values run from %g to %g, "
                     "so choose --iso between them%s",
                     fmin(a, b), fmax(a, b),
                     hides ? ", where --mask and --region hide nothing" : "");
}

/* The settings of a surface, of volumes and points. */
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

static void choose_surface(run *r)
{
    const surface_args *a = r->args;
    const double *steps = r->summary.grid.spacing;
    r->desc.collapse = a->collapse * fmin(steps[0], fmin(steps[1], steps[2]));
    count_cells(r);
}

static void add_stages(run *r)
{
    const tml_surface_result *result = &r->made.whole.surface;
    double known = 0;
    r->summary.surface_seconds = r->made.whole.seconds;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        report_add_stage(&r->summary.report, result->stages[i].name, result->stages[i].seconds);
        known += result->stages[i].seconds;
    }
    report_add_stage(&r->summary.report, "other", fmax(r->made.whole.seconds - known, 0));
}

/* Those that are new. */
static void add_later_stages(run *r)
{
    for (; r->told_stages < r->made.whole.stage_count; r->told_stages++)
        report_add_stage(&r->summary.report, r->made.whole.stages[r->told_stages].name,
                         r->made.whole.stages[r->told_stages].seconds);
}

/* Are the labels' boundaries shared? */
static bool makes_net(const surface_args *a)
{
    return (a->smooth.is_asked || a->separate || a->quads) && (a->labels.all || a->labels.count);
}

static tml_surface_labels_desc describe_boundaries(const run *r)
{
    const surface_args *a = r->args;
    return (tml_surface_labels_desc){.volume = r->desc.volume,
                                     .grid = r->desc.grid,
                                     .region = a->region,
                                     .background = labels_background(&r->labels),
                                     .labels = r->desc.labels,
                                     .label_count = r->desc.label_count,
                                     .caps = a->caps,
                                     .separate = a->separate,
                                     .manifold = a->separate,
                                     .smooth = a->smooth.iterations,
                                     .quads = a->quads,
                                     .indices64 = a->indices64,
                                     .position_origin = {r->desc.position_origin[0],
                                                         r->desc.position_origin[1],
                                                         r->desc.position_origin[2]}};
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Sizes of vectors, or numbers, one a vertex. */
static void fill_sizes(const tml_mesh_attribute *a, uint64_t count, float *out)
{
    for (uint64_t i = 0; i < count; i++) {
        double squares = 0;
        for (uint32_t c = 0; c < a->components; c++)
            squares += pow((double)a->data[i * a->components + c], 2);
        out[i] = a->components == 1 ? a->data[i] : (float)sqrt(squares);
    }
}

/* Triangles have the mean colour of their corners. */
static void fill_colors(const tml_mesh *mesh, const tml_mesh_attribute *a, uint8_t *out)
{
    const uint32_t *narrow = mesh->indices;
    const uint64_t *wide = mesh->indices;
    for (uint64_t t = 0; t < mesh->triangle_count; t++)
        for (uint64_t c = 0; c < 3; c++) {
            float sum = 0;
            for (uint64_t k = 3 * t; k < 3 * t + 3; k++) {
                uint64_t v = !mesh->indices ? k : mesh->indices64 ? wide[k] : narrow[k];
                sum += a->data[v * a->components + c];
            }
            out[3 * t + c] = (uint8_t)(fminf(fmaxf(sum / 3, 0), 1) * 255 + 0.5f);
        }
}

/* The picture of a mesh with attributes: its colours, or else the size of the first. */
static tml_status draw_attributes(const run *r, tml_mesh mesh, render_desc *desc)
{
    const surface_args *a = r->args;
    const tml_mesh_attribute *shown = &mesh.attributes[0];
    bool is_color = false;
    for (uint32_t i = 0; i < mesh.attribute_count && !is_color; i++) {
        const tml_mesh_attribute *at = &mesh.attributes[i];
        is_color = strcmp(at->name, "color") == 0 && at->components >= 3;
        shown = is_color ? at : shown;
    }
    size_t size = is_color ? 3 * mesh.triangle_count : mesh.vertex_count * sizeof(float);
    void *memory = tml_alloc(r->tml, size + 1);
    if (!memory)
        return tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    if (is_color)
        fill_colors(&mesh, shown, memory);
    else
        fill_sizes(shown, mesh.vertex_count, memory);
    desc->triangle_colors = is_color ? memory : NULL;
    mesh.values = is_color ? NULL : memory;
    desc->color_by_value = !is_color;
    tml_status status = picture_save(r->tml, &mesh, desc, &a->picture, a->png);
    tml_free(r->tml, memory, size + 1);
    return status;
}

/* Triangles in the colour of a part with their first label's number. */
static tml_status draw_labels(const run *r, const tml_mesh *mesh, render_desc *desc)
{
    const size_t size = 3 * mesh->triangle_count, label_size = tml_type_size(mesh->face_label_type);
    const uint8_t *labels = mesh->face_labels;
    uint8_t *colors = tml_alloc(r->tml, size + 1);
    if (!colors)
        return tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        uint64_t label = 0;
        memcpy(&label, labels + 2 * t * label_size, label_size);
        const tml_vec3 color = color_of_part((uint32_t)((label - 1) % 4096)); /* keeps hues apart */
        const float linear[3] = {color.x, color.y, color.z};
        for (int c = 0; c < 3; c++)
            colors[3 * t + (uint64_t)c] = (uint8_t)(color_to_srgb(linear[c]) * 255 + 0.5f);
    }
    desc->triangle_colors = colors;
    tml_status status = picture_save(r->tml, mesh, desc, &r->args->picture, r->args->png);
    tml_free(r->tml, colors, size + 1);
    return status;
}

static tml_status draw_picture(run *r, const tml_mesh *mesh)
{
    const surface_args *a = r->args;
    const double start = cli_now();
    render_desc desc = {.parts = r->made.whole.surface.parts,
                        .part_count = r->made.whole.surface.part_count,
                        .color_by_value = mesh->values != NULL};
    memcpy(desc.color, a->color, sizeof desc.color);
    tml_status status = mesh->attribute_count ? draw_attributes(r, *mesh, &desc)
                        : mesh->face_labels
                            ? draw_labels(r, mesh, &desc)
                            : picture_save(r->tml, mesh, &desc, &a->picture, a->png);
    report_add_stage(&r->summary.report, "picture", cli_now() - start);
    return status;
}

static int save_cells(run *r)
{
    tml_array array = {.type = TML_U32, .count = r->made.whole.surface.triangle_count};
    const tml_buffer cells = r->made.whole.surface.triangle_cells;
    void *data = &array; /* where there is nothing */
    if (!r->args->cells)
        return CLI_OK;
    tml_buffer_describe(r->tml, cells, &array.type, NULL);
    array.size = array.count * tml_type_size(array.type);
    tml_status status = tml_buffer_is_none(cells) ? TML_OK : tml_buffer_map(r->tml, cells, &data);
    array.data = data;
    TML_THEN(status, tml_array_save(r->tml, r->args->cells, &array));
    if (!tml_buffer_is_none(cells))
        tml_buffer_unmap(r->tml, cells);
    report_add_output(&r->summary.report, r->args->cells);
    return cli_fail(r->tml, status);
}

static int save_cells_picture(run *r)
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
    if (status == TML_OK && is_whole && triangles != r->made.whole.surface.triangle_count)
        status = tml_error(r->tml, TML_ERROR_INTERNAL,
                           "the cells have %" PRIu64 " triangles, the mesh has %" PRIu64, triangles,
                           r->made.whole.surface.triangle_count);
    return cli_fail(r->tml, status);
}

/* A hook of the mesh: what the command alone does with it. */
static tml_status finish_mesh(void *user, tml_mesh *mesh)
{
    run *r = user;
    const surface_args *a = r->args;
    tml_status status = TML_OK;
    add_stages(r);
    add_later_stages(r);
    if (simplify_is_asked(&a->simplify)) {
        const double start = cli_now();
        status = simplify_mesh(r->tml, &a->simplify, mesh, &r->summary.simple);
        report_add_stage(&r->summary.report, "simplify", cli_now() - start);
        if (status != TML_OK)
            return status;
        *mesh = r->summary.simple.mesh;
    }
    if (r->made.whole.surface.part_count <= 1 && (!a->common.quiet || a->common.json)) {
        measures_add(r->tml, &r->summary.measures, mesh);
        measures_end(r->tml, &r->summary.measures);
    } else
        r->summary.measures.is_off = true;
    return a->png ? draw_picture(r, mesh) : TML_OK;
}

/* Are components counted in memory, or in slabs? */
static bool counts_components(const surface_args *a)
{
    return !a->soup && !a->quads && (!a->common.quiet || a->common.json);
}

/* After a mesh was made in memory: what else there is to write, and to tell. */
static int end_whole(run *r)
{
    const surface_args *a = r->args;
    const tml_surface_whole *made = &r->made.whole;
    if (made->is_empty)
        return explain_empty(r);
    add_later_stages(r);
    r->summary.is_quads = a->quads;
    r->summary.has_components = counts_components(a);
    if (a->output && a->separate && tml_path_is_numbered(a->output)) {
        r->summary.labels = made->labels.parts;
        r->summary.label_files = a->output;
    } else if (a->output) {
        report_add_output(&r->summary.report, a->output);
    }
    if (a->png)
        report_add_output(&r->summary.report, a->png);
    int code = save_cells(r);
    return code == CLI_OK ? save_cells_picture(r) : code;
}

/* A volume that is in memory. */
static int run_whole(run *r)
{
    const surface_args *a = r->args;
    choose_surface(r);
    const tml_surface_labels_desc boundaries = describe_boundaries(r);
    tml_surface_whole_desc desc = {
        .surface = makes_net(a) ? NULL : &r->desc,
        .boundaries = makes_net(a) ? &boundaries : NULL,
        .smooth = a->smooth.iterations,
        .values = &r->attribute,
        .mesh = {.comment = "made by " CLI_PROGRAM, .up = picture_up(a->picture.up, "")},
        .components = counts_components(a),
        .keeps_empty = r->is_frame && r->summary.cells,
        .edit = finish_mesh,
        .user = r};
    memcpy(desc.mesh.origin, r->desc.position_origin, sizeof desc.mesh.origin);
    tml_status status =
        a->debug_cells ? cells_check(r->tml, &r->desc, (cells_by)a->cells_by) : TML_OK;
    TML_THEN(status, tml_surface_save_whole(r->tml, a->output, &desc, &r->made.whole));
    return status == TML_OK ? end_whole(r) : cli_fail(r->tml, status);
}

/* ---- in slabs -------------------------------------------------------------------------------- */

/* Options that need the whole volume or mesh in memory, as what to do about them; NULL: there are
 * none. */
static const char *what_needs_all(const run *r)
{
    const surface_args *a = r->args;
    return !a->output && a->png                  ? "give --output in the place of --png"
           : !a->output                          ? "give --output"
           : a->png                              ? "leave out --png"
           : a->debug_cells                      ? "leave out --debug-cells"
           : a->cells                            ? "leave out --cells"
           : a->smooth.is_asked && !makes_net(a) ? "leave out --smooth, or give --labels"
           : a->collapse > 0                     ? "leave out --collapse"
           : a->separate                         ? "leave out --separate"
           : a->labels.all && !makes_net(a)      ? "name the labels, or give --smooth"
           : simplify_is_asked(&a->simplify)     ? "leave out --simplify and --simplify-error"
           : a->soup && (a->largest || a->drop_degenerate)
               ? "leave out --soup, or --largest and --drop-degenerate"
           : a->common.backend == TML_ENGINE_GL                    ? "use --backend cpu or vulkan"
           : r->in.is_points && a->common.backend > TML_ENGINE_CPU ? "use --backend cpu for points"
           : r->in.is_points && a->index ? "leave out --index, which is for volumes"
                                         : NULL;
}

static int refuse_slabs(const run *r, const char *obstacle)
{
    return cli_usage("%s: in slabs there is never a whole volume or mesh; %s",
                     ranks_count() > 1 ? "several processes"
                     : r->args->index  ? "--index"
                                       : "--slabs",
                     obstacle);
}

/* Several processes write a regular file. */
static bool can_be_shared(const char *output)
{
    system_file info;
    return !system_examine(output, &info) || info.is_regular;
}

/* What samples are that are no labels as they are: "f64, slope 0.5, intercept 0". */
static char *text_samples_of(const tml_volume *v, char text[TEXT_SIZE])
{
    snprintf(text, TEXT_SIZE, "%s, slope %g, intercept %g", tml_type_name(v->type), v->slope,
             v->intercept);
    return text;
}

/* Opens the volume for slabs where they are asked for, where it needs more memory than it may take,
 * or where they may be faster (prefer_slabs). */
static int choose_slabs(run *r, const char *path)
{
    const surface_args *a = r->args;
    const char *obstacle = what_needs_all(r);
    bool is_asked = a->slab_layers || a->index || ranks_count() > 1;
    uint64_t limit = a->common.memory ? a->common.memory : system_free_memory() / 2;
    const tml_volume_load_desc desc = input_volume_desc(&a->input, &a->common);
    const bool needs_iso =
        !a->iso.count && !a->labels.count && !a->labels.all && !input_is_named_like_points(path);
    if (is_asked && (obstacle || needs_iso))
        return refuse_slabs(r, obstacle ? obstacle : "give --iso");
    if (ranks_count() > 1 || (!obstacle && !needs_iso && can_be_shared(a->output)))
        r->team = ranks_job();
    bool is_described = !desc.dims[0] == !desc.type; /* by the file alone, or by options alone */
    if (obstacle || !is_described || !slabs_open(path, &desc, &r->slabs))
        return CLI_OK; /* loaded whole, with what there is to say about it */
    if (a->caps && is_inside_low(r, &r->slabs.info[0])) { /* make_inside_high needs it all */
        slabs_close(&r->slabs);
        return is_asked
                   ? refuse_slabs(r, "leave out --caps, which would close the wrong side where "
                                     "the inside is low in the samples")
                   : CLI_OK;
    }
    if ((a->labels.all || a->labels.count) && !tml_volume_has_labels(&r->slabs.info[0])) {
        char text[TEXT_SIZE];
        if (is_asked)
            return cli_error(
                "%s: labels are made of its samples (%s) in memory, and in slabs it is "
                "never whole; leave out --slabs, --index and other processes, or "
                "store labels as integers without a slope",
                path, text_samples_of(&r->slabs.info[0], text));
        slabs_close(&r->slabs);
        r->team = NULL;
        return CLI_OK;
    }
    r->in_slabs = is_asked || r->team ||
                  (limit && !needs_iso &&
                   slabs_size(&r->slabs, a->mask != NULL, a->attribute != NULL) > limit);
    r->may_be_slabs = !r->in_slabs;
    int code = CLI_OK;
    if (a->mask)
        code = slabs_open_like(&r->slabs, TML_SURFACE_MASK, "mask", a->mask);
    if (code == CLI_OK && a->attribute)
        code = slabs_open_like(&r->slabs, TML_SURFACE_ATTRIBUTE, "attribute", a->attribute);
    return code;
}

/* On the CPU, a mesh that can be written while its volume is read is done sooner, in a fraction of
 * the memory. So is one whose volume is inflated meanwhile. */
static void prefer_slabs(run *r)
{
    tml_device_info device;
    tml_context_describe(r->tml, &device);
    const surface_args *a = r->args;
    bool is_chosen = a->iso.count || a->labels.count;
    r->in_slabs = r->may_be_slabs && !makes_net(a) && device.engine == TML_ENGINE_CPU &&
                  (slabs_can_map(&r->slabs) ||
                   (is_chosen && tml_volume_stream_inflates(r->slabs.streams[0])));
    r->may_be_slabs = r->in_slabs;
    if (!r->in_slabs)
        slabs_close(&r->slabs);
}

/* The other half of --memory is for files, threads and the program. A slab has work for every
 * thread; more memory makes nothing faster. */
static slabs_options describe_slabs(const run *r)
{
    const surface_args *a = r->args;
    const uint64_t least = 64 << 20, a_thread = 16 << 20;
    uint64_t memory = a->common.memory / 2;
    tml_device_info device;
    tml_context_describe(r->tml, &device);
    uint64_t enough = device.threads * a_thread > least ? device.threads * a_thread : least;
    if (r->may_be_slabs && (memory == 0 || memory > enough))
        memory = enough;
    slabs_options options = {.memory = memory,
                             .layers = a->slab_layers,
                             .index = a->index,
                             .path = r->in.path,
                             .output = a->output,
                             .up = picture_up(a->picture.up, ""),
                             .may_be_empty = r->is_frame,
                             .is_asked = !r->may_be_slabs,
                             .team = r->team,
                             .components = counts_components(a)};
    memcpy(options.origin, r->desc.position_origin, sizeof options.origin);
    return options;
}

/* After a mesh was made in slabs. */
static void end_slabs(run *r)
{
    const surface_args *a = r->args;
    tell_empty_labels(r);
    r->summary.is_quads = a->quads;
    r->summary.has_components = counts_components(a);
    r->summary.measures = r->slabs.measures;
    if (makes_net(a)) { /* as of the whole, which has no parts */
        tml_surface_result counts = r->made.whole.surface;
        tml_surface_free(r->tml, &r->made.whole.surface);
        counts.parts = NULL;
        counts.part_count = 0;
        counts.seams = NULL;
        r->made.whole.surface = counts;
    }
    add_stages(r);
    report_add_output(&r->summary.report, a->output);
}

static int extract_slabs(run *r)
{
    slabs_options options = describe_slabs(r);
    const tml_surface_labels_desc net = describe_boundaries(r);
    if (makes_net(r->args))
        options.boundaries = &net;
    double start = cli_now();
    int code = slabs_run(r->tml, &r->slabs, &r->desc, &options, &r->made.whole.surface);
    r->made.whole.seconds = cli_now() - start;
    if (code == CLI_OK && !r->slabs.is_empty)
        end_slabs(r);
    return code;
}

static int run_volume_slabs(run *r)
{
    const surface_args *a = r->args;
    int code = input_take_unit(&a->input, r->in.path, &r->slabs.info[0]);
    if (code != CLI_OK)
        return code;
    r->in.volume = r->slabs.info[0];
    r->in.volume.data = (void *)(uintptr_t)r->slabs.mapped[0]; /* read by Otsu's method */
    code = describe_volume(r);
    if (code == CLI_OK && r->may_be_slabs && r->in.volume.data)
        code = find_labels(r);
    r->in.volume.data = NULL; /* the slabs' */
    if (code != CLI_OK)
        return code;
    choose_surface(r);
    if (r->summary.cells == 0 && !a->caps)
        return explain_empty(r);
    return extract_slabs(r);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Does what the CPU keeps of a field's samples need more memory than it may take? Then it goes in
 * slabs, or the message tells the size. */
static int choose_field_slabs(run *r, const tml_field_desc *field, bool *in_slabs)
{
    const surface_args *a = r->args;
    const uint64_t *dims = field->grid.dims;
    uint64_t limit = a->common.memory ? a->common.memory : system_free_memory() / 2;
    double bytes = 0.3 * (double)dims[0] * (double)dims[1] * (double)dims[2] *
                   (a->iso.count ? (double)a->iso.count : 1);
    char needed[TEXT_SIZE], taken[TEXT_SIZE];
    tml_device_info device;
    tml_context_describe(r->tml, &device);
    *in_slabs = device.engine == TML_ENGINE_CPU && limit && bytes > (double)limit;
    const char *obstacle = *in_slabs ? what_needs_all(r) : NULL;
    if (!obstacle)
        return CLI_OK;
    return cli_error("a field of %" PRIu64 " x %" PRIu64 " x %" PRIu64 " samples, %g apart, needs "
                     "%s of memory, more than %s; give a larger --cell, narrower --bounds or more "
                     "--memory, or %s, so that it goes in slabs",
                     dims[0], dims[1], dims[2], field->grid.spacing[0],
                     text_bytes(needed, (uint64_t)bytes), text_bytes(taken, limit), obstacle);
}

/* In slabs where that is asked for: the field is evaluated as it is needed. Points go the way of
 * several processes, which one that is alone goes too where it can. */
static int choose_point_slabs(run *r, const tml_field_desc *field, bool *in_slabs)
{
    const surface_args *a = r->args;
    const char *obstacle = what_needs_all(r);
    const bool is_asked = ranks_count() > 1 || a->slab_layers || a->index || (r->team && !obstacle);
    if (!is_asked)
        return choose_field_slabs(r, field, in_slabs);
    *in_slabs = true;
    return obstacle ? refuse_slabs(r, obstacle) : CLI_OK;
}

/* A hook: what is known of the points before their surface is made. */
static tml_status decide_points(void *user, const tml_points_mesh_result *known, bool *in_slabs)
{
    static const char *const origins[] = {"half a lone point's height", "the spheres' surface",
                                          "a share of the density inside",
                                          "a share of the density inside"};
    run *r = user;
    const surface_args *a = r->args;
    const tml_points *p = &known->points;
    r->in.points = *p;
    for (uint32_t i = 0; i < known->stage_count; i++)
        report_add_stage(&r->summary.report, known->stages[i].name, known->stages[i].seconds);
    if (r->is_first && r->is_frame && a->cell.size > 0 && a->radius == 0 && !p->radii)
        cli_warn("each frame gets a radius of its own, this one %g; to keep the surface steady, "
                 "give all the same --radius",
                 known->field.radius);
    if (r->is_first && tml_points_look_scanned(p) != TML_POINTS_LOOK_PARTICLES)
        cli_warn(
            "%s: its points %s, as a scan's: each becomes a blob, and all of them a shell with "
            "walls on both sides, which is no reconstruction; points are taken for particles "
            "here, and Poisson's method, as in Open3D or MeshLab, makes meshes of scans",
            text_file_name(r->in.path),
            tml_points_look_scanned(p) == TML_POINTS_LOOK_ORIENTED ? "have normals"
                                                                   : "lie on a surface");
    r->summary.origin = a->iso.count ? "given" : origins[a->points_kind];
    r->summary.grid = known->field.grid;
    r->summary.radius = known->field.radius;
    r->summary.slope = 1;
    r->summary.bytes_in = p->count * 3 * sizeof *p->positions;
    count_cells(r);
    r->code = choose_point_slabs(r, &known->field, in_slabs);
    return r->code == CLI_OK ? TML_OK : TML_ERROR_CANCELLED;
}

/* Points: from their file to the mesh's. */
static int run_points(run *r)
{
    const surface_args *a = r->args;
    char words[INPUT_WORDS];
    const char *names[INPUT_MAX_ATTRIBUTES];
    const tml_points_load_desc load = {.names = names,
                                       .name_count = input_attributes(a->attribute, words, names),
                                       .memory_limit = a->common.memory,
                                       .strict = a->common.strict};
    const slabs_options options = describe_slabs(r);
    const tml_surface_save_desc in_slabs = slabs_describe(r->tml, &r->slabs, &r->desc, &options);
    tml_points_mesh_desc desc = {.kind = (tml_points_field)a->points_kind,
                                 .field = {.radius = a->radius,
                                           .kernel = (tml_field_kernel)a->kernel,
                                           .resolution = (uint32_t)a->resolution},
                                 .cell = a->cell.is_in_radii ? a->cell.size : 0,
                                 .isovalues = a->iso.count ? a->iso.values : NULL,
                                 .isovalue_count = a->iso.count,
                                 .surface = r->desc,
                                 .collapse = a->collapse,
                                 .smooth = a->smooth.iterations,
                                 .load = &load,
                                 .components = counts_components(a),
                                 .keeps_empty = r->is_frame,
                                 .comment = "made by " CLI_PROGRAM,
                                 .up = picture_up(a->picture.up, ""),
                                 .slabs = &in_slabs,
                                 .decide = decide_points,
                                 .edit = finish_mesh,
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
    tml_status status = tml_points_to_mesh(r->tml, r->in.path, a->output, &desc, &r->made);
    const tml_surface_whole *made = &r->made.whole;
    r->in.points = r->made.points;
    if (r->code != CLI_OK)
        return r->code;
    if (status != TML_OK && made->failed == TML_SIDE_SOURCE)
        return input_fail_points(r->tml, r->in.path, &a->input, false, status);
    if (!r->made.in_slabs)
        return status == TML_OK ? end_whole(r) : cli_fail(r->tml, status);
    int code = slabs_end(r->tml, &r->slabs, &options, status, made->failed, made->is_empty);
    if (code == CLI_OK)
        end_slabs(r);
    return code;
}

static void release(run *r)
{
    slabs_close(&r->slabs);
    simplify_free(r->tml, &r->summary.simple);
    tml_surface_whole_free(r->tml, &r->made.whole);
    tml_buffer_destroy(r->tml, r->desc.volume);
    tml_buffer_destroy(r->tml, r->desc.mask);
    tml_buffer_destroy(r->tml, r->desc.attribute);
    tml_volume_free(r->tml, &r->mask);
    tml_free(r->tml, r->mask_bytes, r->mask_size);
    tml_volume_free(r->tml, &r->attribute);
    input_free(r->tml, &r->in);
}

/* One file: from its name to the files that it becomes. */
static int run_file(run *r, char *path)
{
    r->summary.in = &r->in;
    r->summary.result = &r->made.whole.surface;
    if (r->in_slabs) {
        input_name(path, &r->in);
        r->in.frame = r->args->input.frame;
        int code = run_volume_slabs(r);
        if (code != CLI_OK || !r->slabs.is_empty)
            return code;
        slabs_close(&r->slabs); /* and all of it once more, to say what the samples are */
        tml_surface_free(r->tml, &r->made.whole.surface);
    }
    if (input_is_points(r->tml, path, &r->args->input)) {
        input_name(path, &r->in);
        r->in.is_points = true;
        return run_points(r);
    }
    int code = load_volume(r, path);
    if (code == CLI_OK && ranks_count() > 1)
        return cli_error("%s (several processes take a volume layer by layer)", r->slabs.why);
    return code == CLI_OK ? run_whole(r) : code;
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* What the frames share. */
typedef struct job {
    const surface_args *args;
    bool is_sequence;
    uint32_t frame_count;
    tml_context *tml; /* of the latest frame; the next one's, too, where it can be */
    bool is_for_slabs;
    uint32_t done, skipped;
} job;

enum { FRAME_FILES = 7 };

/* The arguments of one frame, whose files have its number. */
static int number_files(surface_args *a, uint32_t number, bool is_sequence,
                        char (*paths)[FRAME_PATH])
{
    const char **files[FRAME_FILES] = {&a->output, &a->mask,  &a->attribute,  &a->index,
                                       &a->png,    &a->cells, &a->debug_cells};
    const bool is_by_label = a->separate && !is_sequence;
    for (int i = is_by_label; i < FRAME_FILES; i++) {
        if (!*files[i] || !tml_path_is_numbered(*files[i]))
            continue;
        if (!tml_path_number(*files[i], number, false, paths[i], FRAME_PATH))
            return cli_error("%s: is longer than %d bytes", *files[i], FRAME_PATH - 1);
        *files[i] = paths[i];
    }
    return CLI_OK;
}

/* Frames that are there already. */
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

/* Of so many files, by the size of one. */
static cli_work estimate(const char *path, uint32_t files)
{
    const speeds *s = speeds_here();
    double bytes = cli_file_size(path) * files;
    return input_is_named_like_points(path) ? (cli_work){s->points * bytes, 0.15, bytes}
                                            : (cli_work){s->volume * bytes, 0, bytes};
}

/* Opens a context unless the frame before left the right one. */
static int open_context(job *j, const char *path, bool in_slabs)
{
    cli_common common = j->args->common;
    if (j->tml && j->is_for_slabs == in_slabs)
        return CLI_OK;
    if (j->tml)
        cli_close(j->tml);
    const bool is_for_cpu = in_slabs || j->args->topology != TML_TOPOLOGY_SEPARATED;
    if (is_for_cpu && common.backend == TML_ENGINE_AUTO) /* the best one may not take them */
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
    run r = {.args = &args,
             .desc = describe_settings(&args),
             .is_frame = j->is_sequence,
             .is_first = index == 0};
    code = choose_slabs(&r, f->path);
    if (code == CLI_OK)
        code = open_context(j, f->path, r.in_slabs || r.team || args.slab_layers || args.index);
    if (code != CLI_OK) {
        slabs_close(&r.slabs);
        return code;
    }
    r.tml = j->tml;
    code = input_check_options(r.tml, f->path, &args.input,
                               r.slabs.streams[0] ? r.slabs.info[0].format : NULL);
    if (code == CLI_OK && r.may_be_slabs)
        prefer_slabs(&r);
    if (code == CLI_OK)
        code = run_file(&r, f->path);
    progress_clear();
    if (code == CLI_OK) {
        summary_tell(&r.summary, j->is_sequence ? f : NULL, j->done == 0);
        j->done++;
    }
    release(&r);
    return code;
}

/* NULL: nothing that is given. */
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

static int surface_run(void *args, char **operands, uint32_t operand_count)
{
    const surface_args *a = args;
    frames f;
    const char *other = what_net_excludes(a);
    if (simplify_is_asked(&a->simplify) && (a->labels.all || a->labels.count > 1) && !makes_net(a))
        return cli_usage("--simplify makes one mesh: name one label, or give --smooth");
    if (makes_net(a) && other)
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
    .run = surface_run,
    .takes_ranks = true,
};
