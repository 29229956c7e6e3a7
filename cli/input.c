/* Loads volumes and points, which it distinguishes by content. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "file_advice.h"
#include "input.h"
#include "other_names.h"
#include "paths.h"
#include "report/fields.h"
#include "standard_names.h"
#include "system.h"

const char *input_parse_dims(const char *text, void *member)
{
    static const char expected[] = "three whole numbers above 0, such as 256,256,128";
    uint64_t *dims = member;
    double numbers[3];
    if (opt_numbers_split(text, strchr(text, ',') ? ',' : 'x', numbers, 3) != 3)
        return expected;
    for (int i = 0; i < 3; i++) {
        if (!(numbers[i] >= 1 && numbers[i] < 0x1p53))
            return expected;
        dims[i] = (uint64_t)numbers[i];
        if ((double)dims[i] != numbers[i])
            return expected;
    }
    return NULL;
}

/* Units of length, in millimetres. */
static const struct {
    const char *names, *unit; /* unit: as tml_volume has it */
    double size;
} units[] = {
    {"mm|millimetre|millimeter", "mm", 1},
    {"um|\xc2\xb5m|\xce\xbcm|micron|microns|micrometre|micrometer", "\xc2\xb5m", 1e-3},
    {"nm|nanometre|nanometer", "nm", 1e-6},
    {"a|angstrom|\xc3\x85", "\xc3\x85", 1e-7},
    {"cm|centimetre|centimeter", "cm", 10},
    {"m|metre|meter", "m", 1000},
    {"in|inch|inches|\"", "in", 25.4},
};

static int find_unit(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (other_name_is_among(units[i].names, name))
            return (int)i;
    return -1;
}

const char *input_parse_spacing(const char *text, void *member)
{
    static const char expected[] = "three lengths above 0, such as 0.5,0.5,2, or one for all; a "
                                   "unit may follow, such as 0.5mm";
    input_spacing *spacing = member;
    int unit[3] = {-1, -1, -1};
    uint32_t count = 0;
    for (bool more = true; more; count++) {
        char word[64], *end;
        const size_t length = strcspn(text, ",");
        if (count == 3 || length >= sizeof word)
            return expected;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        spacing->steps[count] = strtod(word, &end);
        if (end == word || !(spacing->steps[count] > 0) || !isfinite(spacing->steps[count]))
            return expected;
        end += strspn(end, " ");
        unit[count] = find_unit(end);
        if (*end && unit[count] < 0)
            return "lengths in mm, um, nm, A, cm, m or in, such as 0.5mm,0.5mm,2mm";
        more = text[length] == ',';
        text += length + more;
    }
    if (count == 2)
        return expected;
    for (uint32_t i = count; i < 3; i++) {
        spacing->steps[i] = spacing->steps[0];
        unit[i] = unit[0];
    }
    if ((unit[0] < 0) != (unit[1] < 0) || (unit[0] < 0) != (unit[2] < 0))
        return "a unit for all three lengths, or for none";
    snprintf(spacing->unit, sizeof spacing->unit, "%s", unit[0] < 0 ? "" : units[unit[0]].unit);
    for (int i = 1; i < 3 && unit[0] >= 0; i++)
        if (unit[i] != unit[0])
            spacing->steps[i] *= units[unit[i]].size / units[unit[0]].size;
    return NULL;
}

int input_take_unit(const input_options *options, const char *path, tml_volume *volume)
{
    const char *unit = options->spacing.unit;
    if (!unit[0] || strcmp(unit, volume->unit) == 0)
        return CLI_OK;
    const int from = find_unit(volume->unit), to = find_unit(unit);
    const bool is_at_0 =
        volume->grid.origin[0] == 0 && volume->grid.origin[1] == 0 && volume->grid.origin[2] == 0;
    if (volume->unit[0] && from < 0 && !is_at_0)
        return cli_usage("--spacing: %s has its place in %s; give the spacing without a unit, in "
                         "that one",
                         path, volume->unit);
    for (int axis = 0; axis < 3 && volume->unit[0] && from >= 0; axis++)
        volume->grid.origin[axis] *= units[from].size / units[to].size;
    snprintf(volume->unit, sizeof volume->unit, "%s", unit);
    return CLI_OK;
}

const char *input_parse_type(const char *text, void *member)
{
    static const struct {
        const char *names, *type;
    } others[] = {
        {"u8|uint8|u1|uchar|unsigned char|uint8-t|byte|ubyte|unsignedchar|met-uchar", "u8"},
        {"i8|int8|i1|char|signed char|int8-t|sbyte|met-char", "i8"},
        {"u16|uint16|u2|ushort|unsigned short|uint16-t|word|unsignedshort|met-ushort", "u16"},
        {"i16|int16|i2|short|int16-t|signed short|met-short", "i16"},
        {"u32|uint32|u4|uint|unsigned int|unsigned|uint32-t|dword|met-uint", "u32"},
        {"i32|int32|i4|int|int32-t|signed int|integer|met-int", "i32"},
        {"u64|uint64|ulong|unsigned long|uint64-t|met-ulong", "u64"},
        {"i64|int64|long|int64-t|long long|met-long", "i64"},
        {"f16|float16|f2|half", "f16"},
        {"f32|float32|f4|float|single|real|met-float", "f32"},
        {"f64|float64|f8|double|met-double", "f64"},
    };
    input_options *options =
        (input_options *)(void *)((char *)member - offsetof(input_options, type));
    const char order = strchr("<>=|", *text) ? *text : '\0';
    const char *name = order && *text ? text + 1 : text;
    const bool is_numpy = order != '\0'; /* in which u8 and i8 have eight bytes */
    const char *type = NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && !type; i++)
        if (other_name_is_among(others[i].names, name))
            type = others[i].type;
    if (is_numpy && type && strcmp(name, "u8") == 0)
        type = "u64";
    if (is_numpy && type && strcmp(name, "i8") == 0)
        type = "i64";
    if (!type)
        return INPUT_TYPES ", or numpy's or C's name, such as uint16, <u2 or double";
    options->type = type;
    options->big_endian |= order == '>';
    return NULL;
}

uint64_t input_sample_count(const tml_volume *volume)
{
    const uint64_t *dims = volume->grid.dims;
    return dims[0] * dims[1] * dims[2];
}

/* Whether the name promises points. If so, a volume reader's complaint would only mislead. */
bool input_is_named_like_points(const char *path)
{
    return path_ends_with(path, CLI_POINTS);
}

tml_file_kind input_kind_of(tml_context *tml, const char *path, const input_options *options)
{
    return options->dims[0] ? TML_FILE_VOLUME : input_kind_of_file(tml, path);
}

int input_refuse(tml_context *tml, const char *path, bool takes_all)
{
    tml_volume volume = {0};
    tml_points points = {0};
    /* Readers have better messages for unreadable, empty, and some convertible files. */
    tml_status status = tml_volume_load(tml, path, NULL, &volume);
    system_file file;
    bool is_empty = system_examine(path, &file) && file.size == 0;
    if (status == TML_ERROR_FILE_FORMAT && !is_empty &&
        !(takes_all && path_ends_with(path, ".obj .stl .off .glb .gltf .vtp")))
        status = tml_points_load(tml, path, NULL, &points);
    tml_volume_free(tml, &volume);
    tml_points_free(tml, &points);
    if (is_empty || (status != TML_ERROR_FILE_FORMAT && status != TML_OK))
        return cli_fail(tml, status);
    return cli_error("%s: is of no format known here: volumes are NRRD, NIfTI, MetaImage, MRC, "
                     "NPY, VTK, TIFF and DICOM (headerless samples need --dims and --type), points "
                     "PLY, XYZ, PCD, LAS, VTK, VTU and BGEO%s",
                     path,
                     takes_all
                         ? ", meshes OBJ, PLY, STL, OFF, glTF and VTP, pictures Radiance, PFM, "
                           "PNG, JPEG and OpenEXR"
                         : "");
}

void input_name(const char *path, input *out)
{
    memset(out, 0, sizeof *out);
    out->path = path;
    system_file file;
    out->file_size = system_examine(path, &file) ? file.size : 0;
}

tml_load_desc input_volume_desc(const input_options *options, const cli_common *common)
{
    tml_load_desc desc = {
        .type = options->type ? tml_type_from_name(options->type) : TML_TYPE_NONE,
        .big_endian = options->big_endian,
        .skip = options->skip,
        .frame = (uint32_t)options->frame,
        .memory_limit = common->memory,
        .strict = common->strict,
    };
    memcpy(desc.dims, options->dims, sizeof desc.dims);
    memcpy(desc.spacing, options->spacing.steps, sizeof desc.spacing);
    return desc;
}

int input_check_options(tml_context *tml, const char *path, const input_options *options,
                        const char *known)
{
    const char *format = options->dims[0] ? "raw"
                         : known          ? known
                                          : tml_file_format(tml, path, TML_FILE_VOLUME, NULL);
    uint32_t is = !format                      ? OPT_POINTS
                  : strcmp(format, "raw") == 0 ? OPT_VOLUME | OPT_RAW
                                               : OPT_VOLUME;
    bool is_known = format ? strcmp(format, "gzip") != 0
                           : tml_file_format(tml, path, TML_FILE_POINTS, NULL) != NULL;
    return is_known ? opt_check_input(OPT_CONTENTS, is, path) : CLI_OK;
}

uint32_t input_attributes(const char *list, char words[INPUT_WORDS],
                          const char *names[INPUT_MAX_ATTRIBUTES])
{
    uint32_t count = 0;
    snprintf(words, INPUT_WORDS, "%s", list ? list : "");
    for (char *word = strtok(words, ","); word; word = strtok(NULL, ",")) {
        if (count < INPUT_MAX_ATTRIBUTES)
            names[count] = word;
        count++;
    }
    return count;
}

bool input_is_points(tml_context *tml, const char *path, const input_options *options)
{
    return !options->type && !tml_file_format(tml, path, TML_FILE_VOLUME, NULL);
}

int input_fail_points(tml_context *tml, const char *path, const input_options *options,
                      bool takes_all, tml_status status)
{
    const char *format = tml_file_format(tml, path, TML_FILE_POINTS, NULL);
    /* Any text counts as XYZ until it is read. */
    const bool is_any =
        !format || (strcmp(format, "XYZ") == 0 && !input_is_named_like_points(path));
    const tml_file_kind kind = takes_all ? TML_FILE_NONE : input_kind_of(tml, path, options);
    if (kind == TML_FILE_MESH || kind == TML_FILE_PICTURE || kind == TML_FILE_INDEX)
        return advice_fail(tml, TML_ERROR_FILE_FORMAT, path, TML_FILE_VOLUME);
    return (!format || status == TML_ERROR_FILE_FORMAT) && is_any
               ? input_refuse(tml, path, takes_all)
               : cli_fail(tml, status);
}

int input_load(tml_context *tml, const char *path, const input_options *options,
               const cli_common *common, input *out)
{
    input_name(path, out);
    out->frame = options->frame;

    tml_load_desc desc = input_volume_desc(options, common);
    if (!input_is_points(tml, path, options)) {
        int code = cli_fail(tml, tml_volume_load(tml, path, &desc, &out->volume));
        return code == CLI_OK ? input_take_unit(options, path, &out->volume) : code;
    }
    const tml_load_desc points = {.memory_limit = common->memory, .strict = common->strict};
    out->is_points = true;
    tml_status status = tml_points_load(tml, path, &points, &out->points);
    return status == TML_OK ? CLI_OK : input_fail_points(tml, path, options, true, status);
}

/* Whether the file's format says where samples lie. */
static bool has_place(const tml_volume *v)
{
    return strcmp(v->format, "NPY") != 0 && strcmp(v->format, "raw") != 0;
}

/* First letter of the row's word in a space such as "left-posterior-superior"; 0: none. */
static char way_of(const tml_volume *v, int row)
{
    const char *word = v->space;
    for (int i = 0; i < row && word; i++) {
        word = strchr(word, '-');
        word = word ? word + 1 : NULL;
    }
    return word ? *word : '\0';
}

/* Two spaces may have opposite axes: to the patient's left or right, to the back or front. Returns
 * -1 for such a row, else 1. */
static double sign_between(const tml_volume *a, const tml_volume *b, int row)
{
    const char one = way_of(a, row), other = way_of(b, row);
    return one && other && one != other ? -1 : 1;
}

/* Whether the samples of two grids lie at the same places, within a hundredth of their spacing. */
static bool is_at_same_place(const tml_volume *v, const tml_volume *of)
{
    const tml_grid *a = &v->grid, *b = &of->grid;
    const bool skips_spacing =
        opt_is_given("spacing"); /* the input's spacing is then not its file's */
    for (int row = 0; row < 3; row++) {
        const double sign = sign_between(v, of, row);
        double apart = fabs(sign * a->origin[row] - b->origin[row]), step = INFINITY;
        for (int axis = 0; axis < 3; axis++) {
            const double steps = (double)a->dims[axis];
            const double spacing = skips_spacing ? b->spacing[axis] : a->spacing[axis];
            apart += steps * fabs(sign * a->direction[3 * row + axis] * spacing -
                                  b->direction[3 * row + axis] * b->spacing[axis]);
            step = fmin(step, b->spacing[axis]);
        }
        if (!(apart <= 0.01 * step))
            return false;
    }
    return true;
}

/* Warns of different places; with --strict, fails. */
static int tell_place(const char *option, const char *path, const tml_grid *is,
                      const tml_grid *needs)
{
    char text[512];
    snprintf(text, sizeof text,
             "--%s: %.200s lies elsewhere than the input: it has spacing %g x %g x %g and origin "
             "%.10g, %.10g, %.10g, the input %g x %g x %g and %.10g, %.10g, %.10g",
             option, path, is->spacing[0], is->spacing[1], is->spacing[2], is->origin[0],
             is->origin[1], is->origin[2], needs->spacing[0], needs->spacing[1], needs->spacing[2],
             needs->origin[0], needs->origin[1], needs->origin[2]);
    if (cli_is_strict())
        return cli_error("%s; resample it to the input's grid", text);
    cli_warn("%s; sample by sample it is taken as if it lay there", text);
    return CLI_OK;
}

int input_check_like(const char *option, const char *path, const tml_volume *volume,
                     const tml_volume *of)
{
    const uint64_t *a = volume->grid.dims, *b = of->grid.dims;
    if (memcmp(a, b, sizeof of->grid.dims) == 0)
        return has_place(volume) && has_place(of) && !is_at_same_place(volume, of)
                   ? tell_place(option, path, &volume->grid, &of->grid)
                   : CLI_OK;
    return cli_error("--%s: %s has %" PRIu64 " x %" PRIu64 " x %" PRIu64 " samples, needs %" PRIu64
                     " x %" PRIu64 " x %" PRIu64 " as the input",
                     option, path, a[0], a[1], a[2], b[0], b[1], b[2]);
}

int input_load_like(tml_context *tml, const char *option, const char *path, const tml_volume *of,
                    tml_volume *out)
{
    const tml_load_desc desc = {.strict = cli_is_strict()};
    tml_status status = tml_volume_load(tml, path, &desc, out);
    if (status != TML_OK)
        return advice_fail(tml, status, path, TML_FILE_VOLUME);
    return input_check_like(option, path, out, of);
}

void input_tell(const input *in, const tml_grid *grid, double radius)
{
    field_open("input", '{');
    field_text("file", NULL, NULL, in->path);
    field_count("file_bytes", NULL, NULL, in->file_size);
    field_text("kind", NULL, NULL, in->is_points ? "points" : "volume");
    if (in->is_points) {
        field_count("points", "input", "%s point(s)", in->points.count);
        field_text("format", NULL, ", %s", in->points.format);
        field_dims("dims", NULL, "; field of %s samples", grid->dims);
        field_number("radius", NULL, ", radius %.4g", radius);
    } else {
        field_dims("dims", "input", "%s", grid->dims);
        field_text("type", NULL, " of %s",
                   tml_type_name(in->file_type ? in->file_type : in->volume.type));
        field_text("format", NULL, ", %s", in->volume.format);
        if (in->volume.frame_count > 1) {
            field_count("frame", NULL, ", volume %s", in->frame);
            field_count("volumes", NULL, " of %s (--frame)", in->volume.frame_count);
        }
    }
    field_triple("spacing", NULL, ", spacing %s", grid->spacing);
    if (!in->is_points)
        input_tell_unit(in->volume.unit);
    field_close('{');
}

void input_tell_unit(const char *unit)
{
    field_text("unit", NULL, NULL, unit);
    field_line(NULL, "%s", input_unit(unit));
}

const char *input_unit(const char *unit)
{
    static char text[sizeof((tml_volume *)NULL)->unit + 2];
    if (!*unit)
        return "";
    snprintf(text, sizeof text, " %s", unit);
    return text;
}

void input_free(tml_context *tml, input *in)
{
    tml_volume_free(tml, &in->volume);
    tml_points_free(tml, &in->points);
}
