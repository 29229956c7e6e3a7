/* trommel info: what is in a file, and which isovalue would divide it well. */
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "json.h"
#include "mesh_input.h"
#include "picture_buffer.h"
#include "progress.h"
#include "sparkline.h"
#include "text.h"

typedef struct info_args {
    cli_common common;
    input_options input;
    bool ascii;
} info_args;

static const opt info_options[] = {
    INPUT_OPTIONS(info_args),
    {OPT_SECTION, .help = "Output"},
    {OPT_FLAG, "ascii", .applies = OPT_VOLUME | OPT_PICTURE, .excludes = "json",
     .help = "draw the histogram in ASCII (default where the locale is not UTF-8)",
     .offset = offsetof(info_args, ascii)},
    {0},
};

enum { SPARK_COLUMNS = 64 };

/* ---- volumes --------------------------------------------------------------------------------- */

static double to_physical(const tml_volume *v, double sample)
{
    return v->slope * sample + v->intercept;
}

/* A negative slope turns the range round. */
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

static void print_volume(const input *in, uint64_t frame, const tml_value_histogram *h, bool ascii)
{
    const tml_volume *v = &in->volume;
    const double *d = v->grid.direction;
    bool is_scaled = v->slope != 1 || v->intercept != 0;
    char text[TEXT_SIZE], spark[4 * SPARK_COLUMNS + 1];
    double lower, upper;

    physical_range(v, h, &lower, &upper);
    printf("%s: volume, %s\n", text_file_name(in->path), v->format);
    text_label("samples");
    printf("%" PRIu64 " x %" PRIu64 " x %" PRIu64 " = %s", v->grid.dims[0], v->grid.dims[1],
           v->grid.dims[2], text_count(text, input_sample_count(v)));
    printf(" of %s, %s\n", tml_type_name(v->type), text_bytes(text, v->size));
    if (v->frame_count > 1) {
        text_label("volumes");
        printf("%s, of which this is number %" PRIu64 " (--frame)\n",
               text_count(text, v->frame_count), frame);
    }
    text_label("spacing");
    printf("%s\n", text_triple(text, v->grid.spacing));
    text_label("origin");
    printf("%g, %g, %g\n", v->grid.origin[0], v->grid.origin[1], v->grid.origin[2]);
    if (!is_identity(d)) {
        text_label("axes");
        printf("x (%g, %g, %g)  y (%g, %g, %g)  z (%g, %g, %g)\n", d[0], d[3], d[6], d[1], d[4],
               d[7], d[2], d[5], d[8]);
    }
    if (v->space[0]) {
        text_label("space");
        printf("%s\n", v->space);
    }
    if (v->comment[0]) {
        text_label("comment");
        printf("%s\n", v->comment);
    }
    if (h->lower > h->upper) {
        text_label("values");
        printf("none that is a number\n");
        return;
    }
    text_label("values");
    printf("%.8g to %.8g, mean %.6g", lower, upper, to_physical(v, h->mean));
    if (is_scaled)
        printf(" (%g x sample %+g)", v->slope, v->intercept);
    if (h->nans)
        printf("; %s missing (NaN)", text_count(text, h->nans));
    if (h->infinities)
        printf("; %s infinite", text_count(text, h->infinities));
    putchar('\n');
    histogram_sparkline(h, SPARK_COLUMNS, ascii, spark);
    text_label("histogram");
    printf("|%s|\n", spark);
    text_label("isovalue");
    printf("%.6g (suggested by Otsu's method)\n", to_physical(v, tml_value_histogram_otsu(h)));
}

static void json_volume(json *j, const input *in, uint64_t frame, const tml_value_histogram *h)
{
    const tml_volume *v = &in->volume;
    double lower, upper;
    physical_range(v, h, &lower, &upper);
    json_text(j, "kind", "volume");
    json_text(j, "format", v->format);
    json_open(j, "dims", '[');
    for (int i = 0; i < 3; i++)
        json_count(j, NULL, v->grid.dims[i]);
    json_close(j, '[');
    json_text(j, "type", tml_type_name(v->type));
    json_count(j, "volumes", v->frame_count);
    json_count(j, "frame", frame);
    json_numbers(j, "spacing", v->grid.spacing, 3);
    json_numbers(j, "origin", v->grid.origin, 3);
    json_numbers(j, "direction", v->grid.direction, 9);
    json_text(j, "space", v->space);
    json_text(j, "comment", v->comment);
    json_number(j, "slope", v->slope);
    json_number(j, "intercept", v->intercept);
    json_number(j, "min", lower);
    json_number(j, "max", upper);
    json_number(j, "mean", to_physical(v, h->mean));
    json_count(j, "nans", h->nans);
    json_count(j, "infinities", h->infinities);
    json_number(j, "suggested_iso", to_physical(v, tml_value_histogram_otsu(h)));
    json_open(j, "histogram", '{');
    json_number(j, "first", to_physical(v, h->first));
    json_number(j, "step", v->slope * h->step);
    json_open(j, "bins", '[');
    for (uint32_t i = 0; i < h->bin_count; i++)
        json_count(j, NULL, h->bins[i]);
    json_close(j, '[');
    json_close(j, '{');
}

static int describe_volume(tml_context *tml, const input *in, const info_args *args)
{
    tml_value_histogram h;
    const tml_volume *v = &in->volume;
    tml_status status = tml_value_histogram_make(tml, v->data, v->type, input_sample_count(v), &h);
    if (status != TML_OK)
        return cli_fail(tml, status);
    progress_clear();
    if (args->common.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "file", in->path);
        json_volume(&j, in, args->input.frame, &h);
        json_close(&j, '{');
    } else {
        print_volume(in, args->input.frame, &h,
                     args->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
    }
    tml_value_histogram_free(tml, &h);
    return CLI_OK;
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
    tml_buffer_desc desc = {
        .type = TML_VEC(TML_F32, 3), .count = p->count, .data = p->positions, .label = "points"};
    tml_status status = tml_buffer_create(tml, &desc, &points);
    if (status != TML_OK)
        return status;
    if (p->count == 0) {
        out->spacing = out->radius = NAN;
        tml_buffer_destroy(tml, points);
        return TML_OK;
    }
    /* For distances the automatic radius is the spacing that the library finds, for sums twice that. */
    const tml_grid grid = {/* given, since an automatic one may need a larger radius */
                           .dims = {1, 1, 1},
                           .spacing = {1, 1, 1},
                           .direction = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    tml_field_desc spacing = {.points = points, .kind = TML_FIELD_DISTANCE, .grid = grid};
    tml_field_desc radius = {.points = points, .kind = TML_FIELD_KERNEL_SUM, .grid = grid};
    status = tml_field_resolve(tml, &spacing, &spacing, NULL);
    if (status == TML_OK)
        status = tml_field_resolve(tml, &radius, &radius, NULL);
    out->spacing = spacing.radius;
    out->radius = radius.radius;
    tml_buffer_destroy(tml, points);
    return status;
}

static void print_points(const input *in, const points_facts *f)
{
    const tml_points *p = &in->points;
    char text[TEXT_SIZE];
    printf("%s: points, %s\n", text_file_name(in->path), p->format);
    text_label("points");
    printf("%s", text_count(text, p->count));
    if (p->dropped)
        printf(" (%s with a coordinate that is no number left out)", text_count(text, p->dropped));
    putchar('\n');
    if (p->count == 0)
        return;
    text_label("bounds");
    for (int axis = 0; axis < 3; axis++)
        printf("%s%c %.9g to %.9g", axis ? ", " : "", "xyz"[axis], f -> lower[axis],
               f -> upper[axis]);
    putchar('\n');
    text_label("spacing");
    printf("%.6g, the median distance to the sixth-nearest neighbour\n", f->spacing);
    text_label("radius");
    printf("%s; %.6g suggested\n", p->radii ? "one a point" : "none in the file", f->radius);
    if (p->values) {
        text_label("values");
        printf("%s, %.6g to %.6g\n", p->value_name, f->value_lower, f->value_upper);
    }
}

static void json_points(const input *in, const points_facts *f)
{
    const tml_points *p = &in->points;
    json j = {.out = stdout};
    json_open(&j, NULL, '{');
    json_text(&j, "file", in->path);
    json_text(&j, "kind", "points");
    json_text(&j, "format", p->format);
    json_count(&j, "points", p->count);
    json_count(&j, "dropped", p->dropped);
    json_numbers(&j, "lower", f->lower, 3);
    json_numbers(&j, "upper", f->upper, 3);
    json_number(&j, "sixth_neighbour_distance", f->spacing);
    json_number(&j, "suggested_radius", f->radius);
    json_flag(&j, "has_radii", p->radii != NULL);
    json_text(&j, "value_name", p->values ? p->value_name : NULL);
    json_number(&j, "value_min", f->value_lower);
    json_number(&j, "value_max", f->value_upper);
    json_close(&j, '{');
}

static int describe_points(tml_context *tml, const input *in, const info_args *args)
{
    points_facts facts;
    tml_status status = find_points_facts(tml, &in->points, &facts);
    if (status != TML_OK)
        return cli_fail(tml, status);
    progress_clear();
    if (args->common.json)
        json_points(in, &facts);
    else
        print_points(in, &facts);
    return CLI_OK;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static void print_picture(const char *path, const tml_picture *p, const tml_image_stats *stats,
                          bool ascii)
{
    char text[TEXT_SIZE], spark[4 * SPARK_COLUMNS + 1];
    const tml_value_histogram h = picture_histogram(stats);
    printf("%s: picture\n", text_file_name(path));
    text_label("pixels");
    printf("%s, ", picture_describe(p, text));
    printf("%s\n", text_bytes(text, p->size));
    if (p->comment[0]) {
        text_label("comment");
        printf("%s\n", p->comment);
    }
    text_label("luminance");
    if (isnan(stats->min))
        printf("no pixel is finite");
    else
        printf("%.6g to %.6g, mean %.6g, geometric mean %.6g", stats->min, stats->max, stats->mean,
               stats->geometric_mean);
    if (stats->nan)
        printf("; %s NaN", text_count(text, stats->nan));
    if (stats->infinite)
        printf("; %s infinite", text_count(text, stats->infinite));
    putchar('\n');
    histogram_sparkline(&h, SPARK_COLUMNS, ascii, spark);
    text_label("histogram");
    printf("|%s| %+g to %+g stops\n", spark, stats->histogram_low,
           stats->histogram_low + stats->bin_width * h.bin_count);
}

static void json_picture(const char *path, const tml_picture *p, const tml_image_stats *stats)
{
    json j = {.out = stdout};
    json_open(&j, NULL, '{');
    json_text(&j, "file", path);
    json_text(&j, "kind", "picture");
    json_text(&j, "format", p->format);
    json_count(&j, "width", p->width);
    json_count(&j, "height", p->height);
    json_count(&j, "channels", p->channels);
    json_text(&j, "type", tml_type_name(p->type));
    json_flag(&j, "srgb", p->srgb);
    json_integer(&j, "x", p->x);
    json_integer(&j, "y", p->y);
    json_count(&j, "full_width", p->full_width);
    json_count(&j, "full_height", p->full_height);
    json_text(&j, "comment", p->comment);
    json_number(&j, "min", stats->min);
    json_number(&j, "max", stats->max);
    json_number(&j, "mean", stats->mean);
    json_number(&j, "geometric_mean", stats->geometric_mean);
    json_count(&j, "nans", stats->nan);
    json_count(&j, "infinities", stats->infinite);
    json_close(&j, '{');
}

static int describe_picture(tml_context *tml, const char *path, const info_args *args)
{
    picture_buffer in;
    tml_image_stats stats = {0};
    tml_buffer words = {0};
    int code = picture_buffer_load(tml, path, &args->common, false, &in);
    if (code != CLI_OK)
        return code;
    tml_status status = tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_U32, .count = TML_IMAGE_STATS_WORDS}, &words);
    if (status == TML_OK)
        status =
            tml_image_measure(tml, &(tml_image_measure_desc){.image = in.image, .stats = words});
    if (status == TML_OK)
        status = tml_image_stats_read(tml, words, &stats);
    progress_clear();
    if (status == TML_OK && args->common.json)
        json_picture(path, &in.picture, &stats);
    else if (status == TML_OK)
        print_picture(path, &in.picture, &stats,
                      args->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
    tml_buffer_destroy(tml, words);
    picture_buffer_free(tml, &in);
    return cli_fail(tml, status);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

static void print_mesh(const mesh_input *in, const tml_mesh_stats *stats)
{
    const tml_mesh_file *f = &in->file;
    char text[TEXT_SIZE];
    bool is_closed = stats->boundary_edges == 0 && stats->nonmanifold_edges == 0;
    printf("%s: mesh, %s\n", text_file_name(in->path), f->format);
    text_label("vertices");
    printf("%s", text_count(text, f->mesh.vertex_count));
    if (f->welded_count)
        printf(" (%s more lay at the same places)", text_count(text, f->welded_count));
    putchar('\n');
    text_label("faces");
    printf("%s", text_count(text, f->face_count));
    if (f->polygon_count) {
        printf(", %s of them with more than three corners", text_count(text, f->polygon_count));
        printf("; as triangles %s", text_count(text, f->mesh.triangle_count));
    }
    putchar('\n');
    text_label("bounds");
    if (f->face_count == 0)
        printf("none");
    for (int axis = 0; axis < 3 && f->face_count; axis++)
        printf("%s%c %.9g to %.9g", axis ? ", " : "", "xyz"[axis],
               f -> mesh.origin[axis] + stats->lower[axis],
               f->mesh.origin[axis] + stats->upper[axis]);
    putchar('\n');
    text_label("components");
    printf("%s\n", text_count(text, stats->components));
    text_label("boundary");
    if (stats->boundary_edges)
        printf("%s edges with one triangle", text_count(text, stats->boundary_edges));
    else
        printf("none");
    if (stats->nonmanifold_edges)
        printf("; %s edges with more than two, or with two wound against each other",
               text_count(text, stats->nonmanifold_edges));
    putchar('\n');
    text_label("Euler");
    printf("characteristic %" PRId64, stats->euler);
    if (is_closed && stats->components == 1)
        printf(": closed, %" PRId64 " handle%s", (2 - stats->euler) / 2,
               stats->euler == 0 ? "" : "s");
    putchar('\n');
    text_label("area");
    printf("%.9g", stats->area);
    if (is_closed)
        printf(", enclosing %.9g", stats->volume);
    putchar('\n');
    text_label("has");
    printf("normals: %s, texture coordinates: %s", f->mesh.normals ? "yes" : "no",
           f->mesh.uvs ? "yes" : "no");
    if (f->mesh.values)
        printf(", values: %s", f->value_name);
    if (f->crease_count + f->corner_count)
        printf(", sharp edges: %" PRIu64 ", sharp vertices: %" PRIu64, f->crease_count,
               f->corner_count);
    putchar('\n');
}

static void json_mesh(const mesh_input *in, const tml_mesh_stats *stats)
{
    const tml_mesh_file *f = &in->file;
    json j = {.out = stdout};
    json_open(&j, NULL, '{');
    json_text(&j, "file", in->path);
    json_text(&j, "kind", "mesh");
    json_text(&j, "format", f->format);
    json_count(&j, "vertices", f->mesh.vertex_count);
    json_count(&j, "welded_vertices", f->welded_count);
    json_count(&j, "faces", f->face_count);
    json_count(&j, "polygons", f->polygon_count);
    json_count(&j, "concave_polygons", f->concave_count);
    json_count(&j, "crossed_polygons", f->crossed_count);
    json_count(&j, "skipped", f->skipped_count);
    json_count(&j, "triangles", f->mesh.triangle_count);
    json_numbers(&j, "origin", f->mesh.origin, 3);
    json_numbers(&j, "lower", stats->lower, 3);
    json_numbers(&j, "upper", stats->upper, 3);
    json_count(&j, "components", stats->components);
    json_count(&j, "boundary_edges", stats->boundary_edges);
    json_count(&j, "nonmanifold_edges", stats->nonmanifold_edges);
    json_integer(&j, "euler", stats->euler);
    json_number(&j, "area", stats->area);
    json_number(&j, "volume", stats->volume);
    json_flag(&j, "has_normals", f->mesh.normals != NULL);
    json_count(&j, "texture_coordinates", f->mesh.uv_count);
    json_text(&j, "value_name", f->mesh.values ? f->value_name : NULL);
    json_count(&j, "creases", f->crease_count);
    json_count(&j, "corners", f->corner_count);
    json_text(&j, "comment", f->comment);
    json_close(&j, '{');
}

static int describe_mesh(tml_context *tml, const char *path, const info_args *args)
{
    mesh_input in;
    tml_mesh_stats stats;
    cli_common quiet = args->common; /* what the warnings say stands in the description */
    quiet.quiet = true;
    int code = mesh_input_load(tml, path, TML_WELD_AUTO, &quiet, NULL, &in);
    if (code == CLI_OK)
        code = cli_fail(tml, tml_mesh_examine(tml, in.positions, in.indices, false, &stats));
    progress_clear();
    if (code == CLI_OK && args->common.json)
        json_mesh(&in, &stats);
    else if (code == CLI_OK)
        print_mesh(&in, &stats);
    mesh_input_free(tml, &in);
    return code;
}

/* ---- indices and arrays ---------------------------------------------------------------------- */

static int describe_index(tml_context *tml, const char *path, const info_args *args)
{
    tml_bricks bricks;
    char text[TEXT_SIZE];
    tml_status status = tml_bricks_load(tml, path, &bricks);
    if (status != TML_OK)
        return cli_fail(tml, status);
    progress_clear();
    const uint64_t *dims = bricks.dims;
    if (args->common.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "file", path);
        json_text(&j, "kind", "index");
        json_open(&j, "dims", '[');
        for (int i = 0; i < 3; i++)
            json_count(&j, NULL, dims[i]);
        json_close(&j, '[');
        json_text(&j, "type", tml_type_name(bricks.type));
        json_count(&j, "bricks", bricks.count);
        json_close(&j, '{');
    } else {
        printf("%s: index of a volume, for '" CLI_PROGRAM " surface --index'\n",
               text_file_name(path));
        text_label("volume");
        printf("%" PRIu64 " x %" PRIu64 " x %" PRIu64 " of %s\n", dims[0], dims[1], dims[2],
               tml_type_name(bricks.type));
        text_label("bricks");
        printf("%s of 64 x 4 x 4 samples\n", text_count(text, bricks.count));
    }
    tml_bricks_free(tml, &bricks);
    return CLI_OK;
}

/* An NPY file without elements is no volume, but what compact and scan may well write. */
static bool is_empty_array(tml_context *tml, const char *path, tml_array *out)
{
    uint64_t count = 1;
    const char *format = tml_volume_format(tml, path);
    return format && strcmp(format, "NPY") == 0 &&
           tml_array_load_part(tml, path, 0, 0, out, &count) == TML_OK && count == 0;
}

static void describe_empty_array(const char *path, tml_type type, const info_args *args)
{
    progress_clear();
    if (args->common.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        json_text(&j, "file", path);
        json_text(&j, "kind", "array");
        json_text(&j, "format", "NPY");
        json_text(&j, "type", tml_type_name(type));
        json_count(&j, "elements", 0);
        json_close(&j, '{');
        return;
    }
    printf("%s: array, NPY\n", text_file_name(path));
    text_label("elements");
    printf("none, of %s\n", tml_type_name(type));
}

static int describe(tml_context *tml, const char *path, const info_args *a)
{
    input in = {0};
    tml_array array;
    int code = CLI_OK;
    static const uint32_t contents[] = {[INPUT_PICTURE] = OPT_INTEGERS,
                                        [INPUT_INDEX] = OPT_INDEX,
                                        [INPUT_MESH] = OPT_MESH,
                                        [INPUT_POINTS] = OPT_POINTS};
    input_kind kind = input_kind_of(tml, path, &a->input);
    if (kind == INPUT_VOLUME)
        code = input_check_options(tml, path, &a->input);
    else if (kind != INPUT_NONE)
        code = opt_check_input(OPT_CONTENTS, contents[kind], path);
    if (code != CLI_OK)
        return code;
    switch (kind) {
    case INPUT_PICTURE:
        return describe_picture(tml, path, a);
    case INPUT_INDEX:
        return describe_index(tml, path, a);
    case INPUT_MESH:
        return describe_mesh(tml, path, a);
    case INPUT_NONE:
        return input_refuse(tml, path, true);
    case INPUT_VOLUME:
    case INPUT_POINTS:
        break;
    }
    if (is_empty_array(tml, path, &array)) {
        describe_empty_array(path, array.type, a);
        return CLI_OK;
    }
    code = input_load(tml, path, &a->input, &a->common, true, &in);
    if (code == CLI_OK)
        code = in.is_points ? describe_points(tml, &in, a) : describe_volume(tml, &in, a);
    input_free(tml, &in);
    return code;
}

static int info_run(void *args, char **operands, uint32_t operand_count)
{
    const info_args *a = args;
    (void)operand_count;
    tml_context *tml = cli_open(&a->common, NULL);
    if (!tml)
        return CLI_FAILED;
    int code = describe(tml, operands[0], a);
    cli_close(tml);
    return code;
}

const cli_command cmd_info = {
    .options =
        {.name = "info",
         .operands = "FILE",
         .summary = "Tells what is in a volume, point, mesh or picture file",
         .about =
             "Volumes: NRRD, NIfTI-1/2, MetaImage, MRC/CCP4, NPY, VTK (.vtk, .vti), TIFF, and "
             "headerless "
             "samples "
             "(--dims and --type). Points: PLY, XYZ, PCD, LAS, legacy VTK. Meshes: OBJ, "
             "PLY, STL, OFF, glTF, VTP. Pictures: Radiance, PFM, PNG, JPEG, OpenEXR. Indices that "
             "'" CLI_PROGRAM " index' made. The format is found by content. The "
             "histogram's height is logarithmic.",
         .options = info_options,
         .shared = cli_shared_options,
         .least_operands = 1,
         .most_operands = 1},
    .args_size = sizeof(info_args),
    .run = info_run,
};
