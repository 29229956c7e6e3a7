/* trommel mips: writes each level of a picture's mip chain to a file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/files.h>
#include <trommel/pictures.h>

#include "draw/color.h"
#include "draw/picture_buffer.h"
#include "draw/sheet.h"
#include "frames.h"
#include "paths.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/text.h"
#include "stream_kernels.h"

typedef struct mips_args {
    cli_common common;
    const char *output, *sheet;
    uint32_t filter; /* tml_mip_filter */
    uint64_t levels;
    bool is_log, is_last;
    bool is_linear;
    uint32_t values; /* tml_image_values */
} mips_args;

enum { MOST_LEVELS = 64 };

/* Makes a level's file name: the number replaces %d or precedes the ending. False: too long. */
static bool level_name(const char *name, uint32_t level, char *out, size_t size)
{
    if (path_is_numbered(name))
        return tml_path_number(name, level, false, out, size);
    const char *dot = strrchr(name, '.'), *end = dot ? dot : name + strlen(name);
    int length = snprintf(out, size, "%.*s_%" PRIu32 "%s", (int)(end - name), name, level, end);
    return length >= 0 && (size_t)length < size;
}

/* An opt_names_fn: all levels that any picture could have. */
static bool output_name(const void *args, char **operands, uint32_t number, char *out, size_t size)
{
    const mips_args *a = args;
    (void)operands;
    return a->output && number < (a->levels ? a->levels : MOST_LEVELS) &&
           level_name(a->output, number, out, size);
}

static const opt mips_options[] = {
    {OPT_SECTION, .help = "Levels"},
    {OPT_CHOICE, "filter", .brief = "mean of the area, or sharper", .choices = "area|kaiser",
     .fallback = "area", .offset = offsetof(mips_args, filter),
     .help = "area: each texel is the mean of the area it covers, exact for every size; kaiser: "
             "sharper, may ring"},
    {OPT_COUNT, "levels", .brief = "how many levels; default: down to 1 x 1", .argument = "N",
     .least = 0, .most = MOST_LEVELS, .fallback = "0", .offset = offsetof(mips_args, levels),
     .help = "how many, the picture itself counted; 0: down to 1 x 1"},
    {OPT_FLAG, "last", .offset = offsetof(mips_args, is_last),
     .help = "write the last of the levels alone"},
    {OPT_FLAG, "log", .brief = "levels of log2 of luminance", .offset = offsetof(mips_args, is_log),
     .help =
         "from level 1 on, of log2 of Rec. 709 luminance, of 2^-16 at least: for local exposure; "
         "to .exr or .pfm"},
    {OPT_FLAG, "linear", .applies = OPT_INTEGERS, .offset = offsetof(mips_args, is_linear),
     .help = "PNG and JPEG hold linear values, normals say (default: sRGB, unless the file says "
             "otherwise)"},
    {OPT_CHOICE, "values", .applies = OPT_FLOATS, .choices = "linear|log2|ln|log10",
     .fallback = "linear", .offset = offsetof(mips_args, values),
     .help = "what a picture of floats holds: linear values, or logarithms, as a pass leaves them "
             "that meters by log luminance. Levels are linear, but with --log"},
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "name.png: writes name_0.png, name_1.png ...",
     .argument = "FILE", .offset = offsetof(mips_args, output), .names = output_name,
     .endings = ".png .exr .pfm .hdr",
     .help = "name.png: writes name_0.png, name_1.png ..., level 0 being the picture; the number "
             "may stand elsewhere, as %02d. Integers become .png, floats .exr, or .pfm or .hdr "
             "without alpha"},
    {OPT_OUTPUT, "sheet", .brief = "a picture of the smaller levels", .argument = "FILE.png",
     .offset = offsetof(mips_args, sheet), .endings = ".png",
     .help = "a picture of the levels from the first that fits into 256 x 256 pixels on, side by "
             "side, enlarged; floats so that their mean is a middle grey"},
    {0},
};

typedef struct run {
    tml_context *tml;
    const mips_args *args;
    picture_buffer in;
    tml_buffer chain;
    uint32_t first, levels; /* levels [first, levels) are written */
    report report;
} run;

enum { PATH_SIZE = 4096 };

static bool is_integer(tml_type type)
{
    return type == TML_U8 || type == TML_U16;
}

static int check_output(const run *r)
{
    const char *output = r->args->output;
    char path[PATH_SIZE];
    if (r->first >= r->levels)
        return cli_usage("--%s needs two levels, and %s",
                         r->args->is_log    ? "log"
                         : r->args->is_last ? "last"
                                            : "values",
                         r->args->levels == 1 ? "--levels is 1" : "the picture is 1 x 1");
    if (r->args->is_log)
        return path_ends_with(output, ".exr") || path_ends_with(output, ".pfm")
                   ? CLI_OK
                   : cli_usage("--output: %s cannot hold logarithms; name an .exr or .pfm", output);
    bool is_png = path_ends_with(output, ".png");
    if (is_png != is_integer(r->in.picture.type))
        return cli_usage("--output: %s is for %s, and the picture has %s; name %s", output,
                         is_png ? "integers" : "floats", is_png ? "floats" : "integers",
                         is_png ? "an .exr, .pfm or .hdr" : "a .png");
    return level_name(output, MOST_LEVELS, path, sizeof path)
               ? CLI_OK
               : cli_usage("--output is longer than %d bytes", PATH_SIZE - 20);
}

/* Whether all floats are finite; integers always are. */
static bool is_all_finite(const tml_picture *p)
{
    uint64_t count = (uint64_t)p->width * p->height * p->channels;
    const uint16_t *halves = p->data;
    const float *floats = p->data;
    for (uint64_t i = 0; i < count && p->type == TML_F16; i++)
        if ((halves[i] & 0x7c00) == 0x7c00)
            return false;
    for (uint64_t i = 0; i < count && p->type == TML_F32; i++)
        if (!isfinite(floats[i]))
            return false;
    return true;
}

static void tell_level(uint32_t level, const char *path, const tml_picture *picture)
{
    char label[TEXT_SIZE], text[TEXT_SIZE];
    snprintf(label, sizeof label, "level %" PRIu32, level);
    field_open(NULL, '{');
    field_count("level", NULL, NULL, level);
    field_text("file", label, "%s", path);
    field_count("width", NULL, NULL, picture->width);
    field_count("height", NULL, NULL, picture->height);
    field_line(NULL, ", %s", picture_describe(picture, text));
    field_bytes("bytes", NULL, ", %s", (uint64_t)cli_file_size(path));
    field_close('{');
}

/* Reads a level from the chain, or level 0 from the picture. */
static tml_status read_level(run *r, uint32_t level, tml_picture *out)
{
    const tml_image *in = &r->in.image;
    tml_image image = *in;
    if (level > 0) {
        image.buffer = r->chain;
        tml_mip_level(in->width, in->height, level, &image.width, &image.height, &image.first);
        image.channels = r->args->is_log ? 1 : in->channels;
        image.srgb = in->srgb && !r->args->is_log;
        image.first *= r->args->is_last ? 0 : image.channels;
    }
    return picture_read(r->tml, &image, out);
}

static tml_status save_level(run *r, uint32_t level, bool *has_alpha, bool *is_finite)
{
    tml_picture picture;
    char path[PATH_SIZE];
    tml_status status = read_level(r, level, &picture);
    if (status != TML_OK)
        return status;
    size_t size = picture.size;
    if (!is_integer(picture.type) && !path_ends_with(r->args->output, ".exr") &&
        picture.channels % 2 == 0)
        picture_drop_alpha(&picture, has_alpha);
    *is_finite = *is_finite && (level + 1 < r->levels || is_all_finite(&picture));
    level_name(r->args->output, level, path, sizeof path);
    status = tml_picture_save(r->tml, path, &picture);
    progress_clear();
    if (status == TML_OK)
        tell_level(level, path, &picture);
    picture.size = size; /* the size to free it with */
    tml_picture_free(r->tml, &picture);
    return status;
}

static tml_status make_chain(run *r)
{
    const tml_image *in = &r->in.image;
    uint32_t width, height;
    uint64_t pixels;
    if (r->levels == 1)
        return TML_OK;
    tml_mip_level(in->width, in->height, r->levels - 1, &width, &height, &pixels);
    pixels = (uint64_t)width * height + (r->args->is_last ? 0 : pixels);
    bool is_log = r->args->is_log;
    tml_type type = is_log && is_integer(r->in.picture.type) ? TML_F32 : r->in.picture.type;
    tml_status status = cli_make_buffer(r->tml, type, pixels * (is_log ? 1 : in->channels), NULL,
                                        "levels", &r->chain);
    const tml_mip_output output = r->args->is_last ? TML_MIP_LAST : TML_MIP_CHAIN;
    TML_THEN(status, tml_image_mips(
                         r->tml, &(tml_image_mips_desc){.in = *in,
                                                        .filter = (tml_mip_filter)r->args->filter,
                                                        .levels = r->levels,
                                                        .output = output,
                                                        .log_luminance = is_log,
                                                        .out = r->chain}));
    return status;
}

/* ---- the sheet ------------------------------------------------------------------------------- */

enum { SHEET_SIDE = 256 };

/* Reads a level as floats. Integers become 0 to 1, still sRGB if they are. */
static tml_status read_numbers(run *r, uint32_t level, sheet_tile *tile, float **out)
{
    tml_picture p;
    tml_status status = read_level(r, level, &p);
    if (status != TML_OK)
        return status;
    uint64_t count = (uint64_t)p.width * p.height * p.channels;
    float *numbers = *out = tml_alloc_array(r->tml, count, sizeof *numbers);
    *tile = (sheet_tile){.width = p.width, .height = p.height};
    if (!numbers)
        status = tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a sheet of levels");
    else if (p.type == TML_F32)
        memcpy(numbers, p.data, count * sizeof *numbers);
    else if (p.type == TML_F16)
        status = cli_map(r->tml, stream_widen(TML_F16, &(tml_type){0}), TML_F16, count, p.data,
                         TML_F32, numbers);
    for (uint64_t i = 0; i < count && numbers && is_integer(p.type); i++)
        numbers[i] = p.type == TML_U8 ? (float)((const uint8_t *)p.data)[i] / 255.0f
                                      : (float)((const uint16_t *)p.data)[i] / 65535.0f;
    tml_picture_free(r->tml, &p);
    return status;
}

/* Paints a tile. scale: factor from numbers to linear light. */
static tml_status paint_tile(run *r, const float *numbers, float scale, sheet_tile *tile)
{
    const tml_picture *in = &r->in.picture;
    uint64_t count = (uint64_t)tile->width * tile->height;
    bool is_coded = is_integer(in->type) && r->in.image.srgb;
    tile->rgba = tml_alloc_array(r->tml, count, 4);
    if (!tile->rgba)
        return tml_error(r->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a sheet of levels");
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < 4; k++) {
            float x = k == 3 ? 1.0f : numbers[i * in->channels + (in->channels > 2 ? k : 0)];
            if (k < 3 && !is_coded)
                x = color_to_srgb(fminf(fmaxf(scale * x, 0.0f), 1.0f));
            tile->rgba[4 * i + k] = (uint8_t)lrintf(255.0f * fminf(fmaxf(x, 0.0f), 1.0f));
        }
    return TML_OK;
}

/* The mean of a level's colours, without alpha. */
static float mean_of(const float *numbers, const sheet_tile *tile, uint32_t channels)
{
    uint32_t colors = channels > 2 ? 3 : 1;
    double sum = 0;
    for (uint64_t i = 0; i < (uint64_t)tile->width * tile->height; i++)
        for (uint32_t k = 0; k < colors; k++)
            sum += (double)numbers[i * channels + k];
    return (float)(sum / ((double)tile->width * tile->height * colors));
}

static tml_status save_sheet(run *r)
{
    sheet_tile tiles[MOST_LEVELS] = {{NULL, 0, 0}};
    uint32_t first = 0, width = r->in.image.width, height = r->in.image.height;
    uint32_t channels = r->in.image.channels;
    float scale = 1;
    tml_status status = TML_OK;
    while (first + 1 < r->levels && (width > SHEET_SIDE || height > SHEET_SIDE))
        tml_mip_level(r->in.image.width, r->in.image.height, ++first, &width, &height, NULL);
    for (uint32_t level = first; level < r->levels && status == TML_OK; level++) {
        sheet_tile *tile = &tiles[level - first];
        float *numbers = NULL;
        status = read_numbers(r, level, tile, &numbers);
        if (status == TML_OK && level == first && !is_integer(r->in.picture.type)) {
            float mean = mean_of(numbers, tile, channels);
            scale = mean > 0 && isfinite(mean) ? 0.18f / mean : 1;
        }
        TML_THEN(status, paint_tile(r, numbers, scale, tile));
        tml_free(r->tml, numbers, (size_t)tile->width * tile->height * channels * sizeof *numbers);
    }
    uint32_t count = r->levels - first;
    TML_THEN(status, sheet_save(r->tml, r->args->sheet, tiles, count, count));
    if (status == TML_OK)
        report_add_output(&r->report, r->args->sheet);
    for (uint32_t i = 0; i < count; i++)
        tml_free(r->tml, tiles[i].rgba, (size_t)tiles[i].width * tiles[i].height * 4);
    return status;
}

static int make_and_save(run *r)
{
    bool has_alpha = false, is_finite = true;
    double start = cli_now();
    tml_status status = make_chain(r);
    report_add_stage(&r->report, "mips", cli_now() - start);
    start = cli_now();
    field_open("levels", '[');
    for (uint32_t level = r->first; level < r->levels && status == TML_OK && r->args->output;
         level++)
        status = save_level(r, level, &has_alpha, &is_finite);
    field_close('[');
    if (status == TML_OK && r->args->sheet)
        status = save_sheet(r);
    report_add_stage(&r->report, "save", cli_now() - start);
    if (status == TML_OK)
        report_tell(&r->report, 0, 0);
    if (has_alpha)
        cli_warn("alpha was left out, these formats have none");
    if (!is_finite)
        cli_warn("the picture has pixels that are NaN or infinite, which spread "
                 "to the last level; trommel exposure counts them");
    tml_buffer_destroy(r->tml, r->chain);
    return cli_fail(r->tml, status);
}

static int mips_run(tml_context *tml, const void *args, char **operands)
{
    const mips_args *a = args;
    run r = {.args = a, .tml = tml};
    if (a->sheet && (a->is_log || a->is_last))
        return cli_usage("--sheet shows the levels of a picture, not with --log or --last");
    if (a->sheet && a->values)
        return cli_usage("--sheet shows the picture, too, and with --values only the levels are "
                         "linear; write these: -o x.exr");
    double start = cli_now();
    int code = picture_buffer_load(r.tml, operands[0], &a->common, a->is_linear, &r.in);
    if (code == CLI_OK) {
        report_add_stage(&r.report, "load", cli_now() - start);
        field_heading("%s", text_file_name(operands[0]));
        field_open("input", '{');
        picture_tell(operands[0], &r.in.picture);
        field_close('{');
        uint32_t all = tml_mip_level(r.in.image.width, r.in.image.height, 0, NULL, NULL, NULL);
        r.levels = a->levels && a->levels < all ? (uint32_t)a->levels : all;
        r.first = a->is_last && r.levels > 1 ? r.levels - 1 : a->is_last || a->is_log || a->values;
        r.in.image.values = (tml_image_values)a->values;
        code = picture_check_options(operands[0], &r.in.picture);
        if (code == CLI_OK && a->output)
            code = check_output(&r);
        CLI_THEN(code, make_and_save(&r));
        picture_buffer_free(r.tml, &r.in);
    }
    return code;
}

const cli_command cmd_mips = {
    .options =
        {.name = "mips",
         .operands = "IN",
         .endings = CLI_PICTURES,
         .summary = "Makes the mip chain of a picture of any size",
         .about =
             "IN is a picture: Radiance, PFM, PNG, JPEG or OpenEXR, found by content. A level has "
             "half of the width and height of the one above, rounded down, at least 1. Averages "
             "are of linear light and of unpremultiplied alpha.",
         .examples = "  trommel mips albedo.png -o albedo.png\n"
                     "  trommel mips sky.hdr --filter kaiser -o sky_%02d.hdr\n"
                     "  trommel mips sky.hdr --sheet levels.png\n"
                     "  trommel mips sky.hdr --log --levels 5 --last -o surroundings.exr\n",
         .options = mips_options,
         .needs = "output|sheet"},
    .args_size = sizeof(mips_args),
    .run_on = mips_run,
};
