/* trommel info: describes what is in a file, with an isovalue that would divide a volume well. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/picture_buffer.h"
#include "draw/slices.h"
#include "draw/sparkline.h"
#include "input.h"
#include "labels.h"
#include "mesh_input.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"
#include "system.h"

typedef struct info_args {
    cli_common common;
    input_options input;
    bool ascii;
    const char *png;
    opt_numbers iso; /* one number, or none */
} info_args;

static const opt info_options[] = {
    INPUT_OPTIONS(info_args),
    {OPT_SECTION, .help = "Output"},
    {OPT_FLAG, "ascii", .applies = OPT_VOLUME | OPT_PICTURE, .excludes = "json",
     .help = "draw the histogram in ASCII (default where the locale is not UTF-8)",
     .offset = offsetof(info_args, ascii)},
    {OPT_OUTPUT, "png", .applies = OPT_VOLUME, .argument = "FILE", .endings = ".png",
     .help = "a picture of up to 16 slices of a volume, with the isovalue's line in red and "
             "missing samples "
             "in blue",
     .offset = offsetof(info_args, png)},
    {OPT_NUMBERS, "iso", .applies = OPT_VOLUME, .needs = "png", .argument = "V", .count_most = 1,
     .help = "of that line (default: by Otsu's method)", .offset = offsetof(info_args, iso)},
    {0},
};

enum { SPARK_COLUMNS = 64 };

/* ---- volumes --------------------------------------------------------------------------------- */

static double to_physical(const tml_volume *v, double sample)
{
    return v->slope * sample + v->intercept;
}

/* A negative slope exchanges the ends. */
static void physical_range(const tml_volume *v, const tml_value_histogram *h, double *lower,
                           double *upper)
{
    double a = to_physical(v, h->lower), b = to_physical(v, h->upper);
    *lower = fmin(a, b);
    *upper = fmax(a, b);
}

static bool is_identity(const double m[9])
{
    for (int i = 0; i < 9; i++)
        if (m[i] != (i % 4 == 0 ? 1 : 0))
            return false;
    return true;
}

static void tell_histogram(const tml_value_histogram *h, bool ascii, const char *unit)
{
    char spark[4 * SPARK_COLUMNS + 1];
    if (!fields_are_text())
        return;
    histogram_sparkline(h, SPARK_COLUMNS, ascii || !system_shows_utf8(), spark);
    field_line("histogram", "|%s|%s", spark, unit);
}

static void tell_grid(const tml_grid *grid, const char *unit)
{
    const double *d = grid->direction;
    field_triple("spacing", "spacing", "%s", grid->spacing);
    input_tell_unit(unit);
    field_triple("origin", NULL, NULL, grid->origin);
    field_line("origin", "%g, %g, %g%s", grid->origin[0], grid->origin[1], grid->origin[2],
               input_unit(unit));
    if (fields_json())
        json_numbers(fields_json(), "direction", d, 9);
    if (!is_identity(d))
        field_line("axes", "x (%g, %g, %g)  y (%g, %g, %g)  z (%g, %g, %g)", d[0], d[3], d[6], d[1],
                   d[4], d[7], d[2], d[5], d[8]);
}

/* The least and the greatest integer, with all digits; doubles do not hold them from 2^53 on. */
static void whole_range(const tml_volume *v, const tml_value_histogram *h, uint64_t range[2])
{
    const bool is_signed = tml_type_is_signed(v->type);
    const uint64_t *samples = v->data;
    if (tml_type_size(v->type) < 8) {
        range[0] = (uint64_t)(int64_t)h->lower;
        range[1] = (uint64_t)(int64_t)h->upper;
        return;
    }
    range[0] = range[1] = samples[0];
    for (uint64_t i = 1; i < input_sample_count(v); i++) {
        const uint64_t x = samples[i];
        if (is_signed ? (int64_t)x < (int64_t)range[0] : x < range[0])
            range[0] = x;
        if (is_signed ? (int64_t)x > (int64_t)range[1] : x > range[1])
            range[1] = x;
    }
}

static void tell_range(const tml_volume *v, const tml_value_histogram *h)
{
    double lower, upper;
    char text[2][TEXT_SIZE];
    const bool is_some = h->lower <= h->upper;
    physical_range(v, h, &lower, &upper);
    if (is_some && tml_volume_has_labels(v)) {
        uint64_t range[2];
        whole_range(v, h, range);
        for (int i = 0; i < 2; i++)
            labels_text(text[i], TEXT_SIZE, range[i], tml_type_is_signed(v->type));
        field_literal("min", "values", "%s", text[0]);
        field_literal("max", NULL, " to %s", text[1]);
        return;
    }
    field_number("min", "values", is_some ? "%.8g" : NULL, lower);
    field_number("max", NULL, is_some ? " to %.8g" : NULL, upper);
}

static void tell_values(const tml_volume *v, const tml_value_histogram *h, bool ascii)
{
    bool is_some = h->lower <= h->upper, is_scaled = v->slope != 1 || v->intercept != 0;
    if (!is_some)
        field_line("values", "none that is a number");
    tell_range(v, h);
    field_number("mean", NULL, is_some ? ", mean %.6g" : NULL, to_physical(v, h->mean));
    field_number("slope", NULL, is_some && is_scaled ? " (%g x sample" : NULL, v->slope);
    field_number("intercept", NULL, is_some && is_scaled ? " %+g)" : NULL, v->intercept);
    field_count("nans", NULL, is_some ? "?; %s missing (NaN)" : NULL, h->nans);
    field_count("infinities", NULL, is_some ? "?; %s infinite" : NULL, h->infinities);
    if (is_some)
        tell_histogram(h, ascii, "");
    field_number("suggested_iso", "isovalue", is_some ? "%.6g (suggested by Otsu's method)" : NULL,
                 to_physical(v, h->otsu));
    field_open("histogram", '{');
    field_number("first", NULL, NULL, to_physical(v, h->first));
    field_number("step", NULL, NULL, v->slope * h->step);
    if (fields_json())
        json_counts(fields_json(), "bins", h->bins, h->bin_count);
    field_close('{');
}

/* Reports what all kinds of files have. */
static void tell_file(const char *path, const char *kind, const char *format)
{
    field_heading("%s: %s, %s", text_file_name(path), kind, format);
    field_text("file", NULL, NULL, path);
    field_count("file_bytes", NULL, NULL, (uint64_t)cli_file_size(path));
    field_text("kind", NULL, NULL, kind);
    field_text("format", NULL, NULL, format);
}

static int describe_volume(tml_context *tml, const input *in, const info_args *args)
{
    tml_value_histogram h;
    const tml_volume *v = &in->volume;
    tml_status status = tml_value_histogram_make(tml, v->data, v->type, input_sample_count(v), &h);
    if (status != TML_OK)
        return cli_fail(tml, status);
    progress_clear();
    tell_file(in->path, "volume", v->format);
    field_dims("dims", "samples", "%s", v->grid.dims);
    field_count(NULL, NULL, " = %s", input_sample_count(v));
    field_text("type", NULL, " of %s", tml_type_name(v->type));
    field_bytes(NULL, NULL, ", %s", v->size);
    field_count("volumes", "volumes", v->frame_count > 1 ? "%s" : NULL, v->frame_count);
    field_count("frame", NULL, v->frame_count > 1 ? ", of which this is number %s (--frame)" : NULL,
                args->input.frame);
    tell_grid(&v->grid, v->unit);
    field_text("space", "space", "?%s", v->space);
    field_text("comment", "comment", "?%s", v->comment);
    tell_values(v, &h, args->ascii);
    if (args->png) {
        double lower, upper, iso = args->iso.count ? args->iso.values[0] : to_physical(v, h.otsu);
        physical_range(v, &h, &lower, &upper);
        status = slices_save(tml, args->png, v, iso, lower, upper);
        if (status == TML_OK)
            field_text("png", "output", "%s", args->png);
    }
    tml_value_histogram_free(tml, &h);
    return cli_fail(tml, status);
}

/* ---- points ---------------------------------------------------------------------------------- */

typedef struct points_facts {
    double lower[3], upper[3];
    double spacing, radius;
    double value_lower, value_upper;
} points_facts;

static tml_status find_points_facts(tml_context *tml, const tml_points *p, points_facts *out)
{
    for (int axis = 0; axis < 3; axis++) {
        out->lower[axis] = INFINITY;
        out->upper[axis] = -INFINITY;
        for (uint64_t i = 0; i < p->count; i++) {
            double at = p->origin[axis] + (double)p->positions[3 * i + (uint64_t)axis];
            out->lower[axis] = fmin(out->lower[axis], at);
            out->upper[axis] = fmax(out->upper[axis], at);
        }
    }
    out->value_lower = INFINITY;
    out->value_upper = -INFINITY;
    for (uint64_t i = 0; p->values && i < p->count; i++) {
        out->value_lower = fmin(out->value_lower, (double)p->values[i]);
        out->value_upper = fmax(out->value_upper, (double)p->values[i]);
    }

    tml_buffer points;
    tml_status status =
        cli_make_buffer(tml, TML_VEC(TML_F32, 3), p->count, p->positions, "points", &points);
    if (status != TML_OK)
        return status;
    if (p->count == 0) {
        out->spacing = out->radius = NAN;
        tml_buffer_destroy(tml, points);
        return TML_OK;
    }
    /* The automatic radius is the estimated spacing for distances, and twice that for sums. */
    const tml_grid grid = {/* an automatic grid may need a larger radius */
                           .dims = {1, 1, 1},
                           .spacing = {1, 1, 1},
                           .direction = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    tml_field_prepare_desc desc = {
        .field = {.points = points, .kind = TML_FIELD_DISTANCE, .grid = grid}};
    tml_field_prepared spacing = {.iso = 0}, radius = {.iso = 0};
    status = tml_field_prepare(tml, &desc, &spacing);
    desc.field.kind = TML_FIELD_KERNEL_SUM;
    TML_THEN(status, tml_field_prepare(tml, &desc, &radius));
    out->spacing = spacing.field.radius;
    out->radius = radius.field.radius;
    tml_buffer_destroy(tml, points);
    return status;
}

static void tell_points(const input *in, const points_facts *f)
{
    const tml_points *p = &in->points;
    json *j = fields_json();
    bool is_some = p->count > 0;
    tell_file(in->path, "points", p->format);
    field_count("points", "points", "%s", p->count);
    field_count("dropped", NULL, "? (%s left out: a coordinate is not finite)", p->dropped);
    if (j) {
        json_numbers(j, "lower", f->lower, 3);
        json_numbers(j, "upper", f->upper, 3);
    }
    for (int axis = 0; axis < 3 && is_some; axis++)
        field_line(axis ? NULL : "bounds", "%s%c %.9g to %.9g", axis ? ", " : "", "xyz"[axis],
                   f -> lower[axis], f -> upper[axis]);
    field_number("sixth_neighbour_distance", "spacing",
                 is_some ? "%.6g, the median distance to the sixth-nearest neighbour" : NULL,
                 f->spacing);
    if (is_some)
        field_line("radius", p->radii ? "one a point" : "none in the file");
    field_number("suggested_radius", NULL, is_some ? "; %.6g suggested" : NULL, f->radius);
    field_flag("has_radii", NULL, NULL, p->radii != NULL);
    const bool has_values = is_some && p->values;
    field_text("value_name", "values", has_values ? "%s" : NULL, p->values ? p->value_name : NULL);
    field_number("value_min", NULL, has_values ? ", %.6g" : NULL, f->value_lower);
    field_number("value_max", NULL, has_values ? " to %.6g" : NULL, f->value_upper);
    field_open("attributes", '[');
    for (uint32_t i = 0; i < p->attribute_count; i++) {
        const tml_mesh_attribute *a = &p->attributes[i];
        field_open(NULL, '{');
        field_text("name", i ? NULL : "attributes", i ? ", %s" : "%s", a->name);
        field_count("components", NULL, a->components > 1 ? " (%s)" : NULL, a->components);
        field_close('{');
    }
    field_close('[');
}

static int describe_points(tml_context *tml, const input *in)
{
    points_facts facts;
    tml_status status = find_points_facts(tml, &in->points, &facts);
    if (status != TML_OK)
        return cli_fail(tml, status);
    progress_clear();
    tell_points(in, &facts);
    return CLI_OK;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static void tell_picture(const char *path, const tml_picture *p, const tml_image_stats *stats,
                         bool ascii)
{
    char text[TEXT_SIZE];
    const tml_value_histogram h = picture_histogram(stats);
    bool is_some = !isnan(stats->min);
    field_heading("%s: picture, %s", text_file_name(path), p->format);
    picture_tell(path, p);
    if (!is_some)
        field_line("luminance", "no pixel is finite");
    field_number("min", "luminance", is_some ? "%.6g" : NULL, stats->min);
    field_number("max", NULL, is_some ? " to %.6g" : NULL, stats->max);
    field_number("mean", NULL, is_some ? ", mean %.6g" : NULL, stats->mean);
    field_number("geometric_mean", NULL, is_some ? ", geometric mean %.6g" : NULL,
                 stats->geometric_mean);
    field_count("nans", NULL, "?; %s NaN", stats->nan);
    field_count("infinities", NULL, "?; %s infinite", stats->infinite);
    snprintf(text, sizeof text, " %+g to %+g stops", stats->histogram_low,
             stats->histogram_low + stats->bin_width * h.bin_count);
    tell_histogram(&h, ascii, text);
}

static int describe_picture(tml_context *tml, const char *path, const info_args *args)
{
    picture_buffer in;
    tml_image_stats stats = {0};
    tml_buffer words = {0};
    int code = picture_buffer_load(tml, path, &args->common, false, &in);
    if (code != CLI_OK)
        return code;
    tml_status status = cli_make_buffer(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL, NULL, &words);
    TML_THEN(status,
             tml_image_measure(tml, &(tml_image_measure_desc){.image = in.image, .stats = words}));
    TML_THEN(status, tml_image_stats_read(tml, words, &stats));
    progress_clear();
    if (status == TML_OK)
        tell_picture(path, &in.picture, &stats, args->ascii);
    tml_buffer_destroy(tml, words);
    picture_buffer_free(tml, &in);
    return cli_fail(tml, status);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

static void tell_parts_of_mesh(const tml_mesh_file *f)
{
    field_flag("has_normals", "has", "normals: %s", f->mesh.normals != NULL);
    field_count("texture_coordinates", NULL, ", texture coordinates: %s", f->mesh.uv_count);
    field_text("value_name", NULL, "?, values: %s", f->mesh.values ? f->value_name : NULL);
    field_count("creases", NULL, "?, sharp edges: %s", f->crease_count);
    field_count("corners", NULL, "?, sharp vertices: %s", f->corner_count);
    if (f->mesh.attribute_count > 0)
        field_open("attributes", '[');
    for (uint32_t i = 0; i < f->mesh.attribute_count; i++) {
        const tml_mesh_attribute *a = &f->mesh.attributes[i];
        field_open(NULL, '{');
        field_text("name", i ? NULL : "attributes", i ? ", %s" : "%s", a->name);
        field_count("components", NULL, a->components > 1 ? " (%s)" : NULL, a->components);
        field_close('{');
    }
    if (f->mesh.attribute_count > 0)
        field_close('[');
    field_text("comment", "comment", "?%s", f->comment);
}

/* Returns why the mesh encloses nothing, or is not a manifold; "" if it is closed and one. */
static const char *why_not_closed(const tml_mesh_stats *stats)
{
    return stats->boundary_edges      ? ": it has a boundary"
           : stats->misoriented_edges ? ": its triangles are not wound alike"
           : isnan(stats->volume)     ? ": more than two triangles meet at edges"
           : stats->nonmanifold_edges ? ", but no manifold: it touches itself along edges"
                                      : "";
}

static void tell_mesh(const mesh_input *in, const tml_mesh_stats *stats)
{
    const tml_mesh_file *f = &in->file;
    json *j = fields_json();
    const uint64_t crowded = stats->nonmanifold_edges - stats->misoriented_edges;
    const bool is_manifold = stats->boundary_edges == 0 && stats->nonmanifold_edges == 0;
    const double *origin = f->mesh.origin; /* far from 0, a millimetre may be the eleventh digit */
    const int digits = origin[0] != 0 || origin[1] != 0 || origin[2] != 0 ? 14 : 9;
    tell_file(in->path, "mesh", f->format);
    field_count("vertices", "vertices", "%s", f->mesh.vertex_count);
    field_count("welded_vertices", NULL, "? (%s more lay at the same places)", f->welded_count);
    field_count("faces", "faces", "%s", f->face_count);
    field_count("polygons", NULL, "?, %s of them with more than three corners", f->polygon_count);
    field_count("concave_polygons", NULL, "? (%s concave)", f->concave_count);
    field_count("crossed_polygons", NULL, "?, %s whose outline crosses itself", f->crossed_count);
    field_count("skipped", NULL, "?; %s points, lines or curves left out", f->skipped_count);
    const bool is_as_it_is = f->face_count == f->mesh.triangle_count && !f->polygon_count;
    field_count("triangles", NULL, is_as_it_is ? NULL : "; as triangles %s",
                f->mesh.triangle_count);
    field_count("degenerate_triangles", NULL, "?; %s triangle(s) without area",
                stats->degenerate_triangles);
    if (j) {
        json_numbers(j, "origin", f->mesh.origin, 3);
        json_numbers(j, "lower", stats->lower, 3);
        json_numbers(j, "upper", stats->upper, 3);
    }
    field_line("bounds", f->face_count ? "%s" : "none%s", "");
    for (int axis = 0; axis < 3 && f->face_count; axis++)
        field_line(NULL, "%s%c %.*g to %.*g", axis ? ", " : "", "xyz"[axis], digits,
                   origin[axis] + stats->lower[axis], digits, origin[axis] + stats->upper[axis]);
    field_count("components", "components", "%s", stats->components);
    field_count("boundary_edges", "boundary",
                stats->boundary_edges ? "%s edge(s) with one triangle" : "none",
                stats->boundary_edges);
    field_count("nonmanifold_edges", NULL, NULL, stats->nonmanifold_edges);
    field_count(NULL, NULL, "?; %s edge(s) with more than two", crowded);
    field_count("misoriented_edges", NULL, "?; %s edge(s) with two wound against each other",
                stats->misoriented_edges);
    field_flag("closed", "closed", f->face_count ? "%s" : NULL, !isnan(stats->volume));
    if (f->face_count)
        field_line(NULL, "%s", why_not_closed(stats));
    field_integer("euler", "Euler", "characteristic %s", stats->euler);
    if (is_manifold && stats->components == 1)
        field_integer(NULL, NULL, ": closed, %s handle(s)", (2 - stats->euler) / 2);
    field_number("area", "area", "%.9g", stats->area);
    field_number("volume", NULL, f->face_count && !isnan(stats->volume) ? ", enclosing %.9g" : NULL,
                 stats->volume);
    tell_parts_of_mesh(f);
}

static int describe_mesh(tml_context *tml, const char *path, const info_args *args)
{
    mesh_input in;
    tml_mesh_stats stats;
    cli_common quiet = args->common; /* the description says what warnings would */
    quiet.quiet = true;
    int code = mesh_input_load_at(tml, path, TML_WELD_AUTO, &quiet, NULL, NULL, &in);
    CLI_THEN(code, cli_fail(tml, tml_mesh_examine(tml, &in.buffers, false, &stats)));
    progress_clear();
    if (code == CLI_OK)
        tell_mesh(&in, &stats);
    mesh_input_free(tml, &in);
    return code;
}

/* ---- indices and arrays ---------------------------------------------------------------------- */

static int describe_index(tml_context *tml, const char *path)
{
    tml_volume_index bricks;
    tml_status status = tml_volume_index_load(tml, path, &bricks);
    if (status != TML_OK)
        return cli_fail(tml, status);
    progress_clear();
    tell_file(path, "index", "TMX");
    field_dims("dims", "volume", "%s", bricks.dims);
    field_text("type", NULL, " of %s", tml_type_name(bricks.type));
    field_count("bricks", "bricks", "%s of 64 x 4 x 4 samples", bricks.count);
    tml_volume_index_free(tml, &bricks);
    return CLI_OK;
}

/* Whether it is an NPY array without elements: no volume, but compact and scan may write it. */
static bool is_empty_array(tml_context *tml, const char *path, tml_array *out)
{
    const char *format = tml_file_format(tml, path, TML_FILE_VOLUME, NULL);
    return format && strcmp(format, "NPY") == 0 && tml_array_load(tml, path, 0, 0, out) == TML_OK &&
           out->total == 0;
}

static int info_run(tml_context *tml, const void *args, char **operands)
{
    const info_args *a = args;
    const char *path = operands[0];
    input in = {0};
    tml_array array;
    int code = CLI_OK;
    static const uint32_t contents[] = {[TML_FILE_PICTURE] = OPT_INTEGERS,
                                        [TML_FILE_INDEX] = OPT_INDEX,
                                        [TML_FILE_MESH] = OPT_MESH,
                                        [TML_FILE_POINTS] = OPT_POINTS};
    tml_file_kind kind = input_kind_of(tml, path, &a->input);
    if (kind == TML_FILE_VOLUME)
        code = input_check_options(tml, path, &a->input, NULL);
    else if (kind != TML_FILE_NONE)
        code = opt_check_input(OPT_CONTENTS, contents[kind], path);
    if (code != CLI_OK)
        return code;
    switch (kind) {
    case TML_FILE_PICTURE:
        return describe_picture(tml, path, a);
    case TML_FILE_INDEX:
        return describe_index(tml, path);
    case TML_FILE_MESH:
        return describe_mesh(tml, path, a);
    case TML_FILE_NONE:
        return input_refuse(tml, path, true);
    case TML_FILE_VOLUME:
    case TML_FILE_POINTS:
        break;
    }
    if (is_empty_array(tml, path, &array)) {
        progress_clear();
        tell_file(path, "array", "NPY");
        field_text("type", "elements", "none, of %s", tml_type_name(array.type));
        field_count("elements", NULL, NULL, 0);
        return CLI_OK;
    }
    code = input_load(tml, path, &a->input, &a->common, &in);
    CLI_THEN(code, in.is_points ? describe_points(tml, &in) : describe_volume(tml, &in, a));
    input_free(tml, &in);
    return code;
}

const cli_command cmd_info = {
    .options =
        {.name = "info",
         .operands = "FILE",
         .endings = CLI_VOLUMES " " CLI_POINTS " " CLI_MESHES " " CLI_PICTURES " .tmx",
         .summary = "Tells what is in a volume, point, mesh or picture file",
         .about =
             "Volumes: NRRD, NIfTI-1/2, MetaImage, MRC/CCP4, NPY, VTK (.vtk, .vti), TIFF, DICOM, "
             "of "
             "these two also a folder of slices, and headerless samples (--dims and --type). "
             "Points: PLY, XYZ, PCD, LAS, VTK, VTU, BGEO. Meshes: OBJ, "
             "PLY, STL, OFF, glTF, VTP. Pictures: Radiance, PFM, PNG, JPEG, OpenEXR. Indices that "
             "'" CLI_PROGRAM " index' made. The format is found by content. The "
             "histogram's height is logarithmic.",
         .examples = "  trommel info head.nii.gz\n"
                     "  trommel info samples.raw --dims 256,256,128 --type u16 --big-endian\n"
                     "  trommel info part.stl --json\n",
         .options = info_options,
         .without = OPT_QUIET},
    .args_size = sizeof(info_args),
    .run_on = info_run,
};
