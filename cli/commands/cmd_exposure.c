/* trommel exposure: measures a picture's luminance, derives an exposure, exposes and tone-maps the
 * picture. Several pictures are frames of a sequence, to which the exposure adapts over time. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/pictures.h>
#include <trommel/volumes.h>

#include "draw/picture_buffer.h"
#include "draw/plot.h"
#include "draw/sparkline.h"
#include "frames.h"
#include "paths.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/text.h"
#include "system.h"

/* ---- options --------------------------------------------------------------------------------- */

typedef struct picture_region {
    uint32_t x, y, width, height; /* width or height 0: up to the picture's end */
} picture_region;

typedef enum channel_depth { DEPTH_AUTO, DEPTH_8, DEPTH_16, DEPTH_32 } channel_depth;

typedef struct exposure_args {
    cli_common common;
    const char *meter;
    picture_region region;
    uint32_t luminance; /* tml_luminance; unless --weights is given */
    opt_numbers weights;
    double floor;
    bool is_linear;
    uint32_t values; /* tml_image_values */
    uint32_t by;     /* tml_expose_by; unless --percentile or --ev100 is given */
    opt_numbers percentile, clip, ev100, limits;
    double bias, key;
    opt_numbers adapt;
    double fps;
    bool no_adapt;
    frame_range frames;
    const char *output, *plot;
    uint32_t tone; /* tml_tone */
    double white;
    uint32_t depth; /* channel_depth */
    bool ascii;
} exposure_args;

static const char *parse_region(const char *text, void *member)
{
    picture_region *region = member;
    uint64_t first[2], last[2];
    if (!opt_ranges(text, 2, first, last) || first[0] > UINT32_MAX || first[1] > UINT32_MAX)
        return "two ranges of pixels such as 100:900,:540";
    uint64_t width = last[0] - first[0], height = last[1] - first[1];
    *region = (picture_region){(uint32_t)first[0], (uint32_t)first[1],
                               last[0] <= UINT32_MAX ? (uint32_t)width : 0,
                               last[1] <= UINT32_MAX ? (uint32_t)height : 0};
    return NULL;
}

static const opt exposure_options[] = {
    {OPT_SECTION, .help = "Measuring"},
    {OPT_INPUT, "meter", .brief = "which pixels count how much",
     .argument = "average|centre|spot|matrix|FILE", .fallback = "average",
     .offset = offsetof(exposure_args, meter), .endings = CLI_PICTURES,
     .help =
         "which pixels weigh how much; FILE: a picture, laid over the region, black where pixels "
         "are left out and white where they weigh most"},
    {OPT_CUSTOM, "region", .argument = "X0:X1,Y0:Y1", .parse = parse_region,
     .offset = offsetof(exposure_args, region),
     .help = "only pixels X0 up to, not including, X1 and so on, from the top left; an empty end "
             "is the picture's"},
    {OPT_CHOICE, "luminance", .choices = "rec709|rec2020|acescg|max-rgb", .fallback = "rec709",
     .offset = offsetof(exposure_args, luminance),
     .help = "how red, green and blue make luminance"},
    {OPT_NUMBERS, "weights", .excludes = "luminance", .argument = "R,G,B", .least = 0, .most = 1e6,
     .count_least = 3, .count_most = 3, .offset = offsetof(exposure_args, weights),
     .help = "luminance by these shares of the three, scaled to a sum of 1"},
    {OPT_NUMBER, "floor", .argument = "L", .least = 0, .most = 1e30, .fallback = "0",
     .offset = offsetof(exposure_args, floor),
     .help = "luminances below it count as it; 0: pixels that are black (below 2^-100) or negative "
             "are left out of the mean of logarithms and of the histogram"},
    {OPT_FLAG, "linear", .applies = OPT_INTEGERS, .offset = offsetof(exposure_args, is_linear),
     .help = "PNG and JPEG hold linear values (default: sRGB, unless the file says otherwise)"},
    {OPT_CHOICE, "values", .applies = OPT_FLOATS, .choices = "linear|log2|ln|log10",
     .fallback = "linear", .offset = offsetof(exposure_args, values),
     .help = "what a picture of floats holds: linear values, or logarithms, as a pass leaves them "
             "that meters by log luminance"},

    {OPT_SECTION, .help = "Exposure"},
    {OPT_CHOICE, "by", .choices = "mean|median", .excludes = "ev100", .fallback = "mean",
     .offset = offsetof(exposure_args, by), .help = "the average is this of the logarithms"},
    {OPT_NUMBERS, "percentile", .excludes = "by|ev100", .argument = "P", .least = 0, .most = 100,
     .count_most = 1, .offset = offsetof(exposure_args, percentile),
     .help = "the average is the luminance than which that many percent of the pixels are darker"},
    {OPT_NUMBERS, "clip", .needs = "by=mean", .excludes = "percentile|ev100",
     .brief = "leave out the darkest and the brightest percent", .argument = "LOW,HIGH", .least = 0,
     .most = 100, .count_least = 2, .count_most = 2, .offset = offsetof(exposure_args, clip),
     .help = "the mean only between these percentages of the pixels, from dark to bright"},
    {OPT_NUMBERS, "ev100", .argument = "EV", .least = -100, .most = 100, .count_most = 1,
     .offset = offsetof(exposure_args, ev100),
     .help = "this exposure value at ISO 100, whatever was measured: as if the average were "
             "2^(EV - 3) cd/m2"},
    {OPT_NUMBER, "ev", .brief = "", .argument = "STOPS", .least = -100, .most = 100,
     .fallback = "0", .offset = offsetof(exposure_args, bias),
     .help = "bias: +1 is twice as bright"},
    {OPT_NUMBER, "key", .argument = "GREY", .least = 1e-6, .most = 1e6, .fallback = "0.18",
     .offset = offsetof(exposure_args, key), .help = "what the average becomes, of a white of 1"},
    {OPT_NUMBERS, "limits", .argument = "MIN,MAX", .least = -100, .most = 100, .count_least = 2,
     .count_most = 2, .offset = offsetof(exposure_args, limits),
     .help = "the average's EV100 stays between these (default: no limits)"},

    {OPT_SECTION, .help = "Sequences", .applies = OPT_SEQUENCE},
    {OPT_NUMBERS, "adapt", .excludes = "no-adapt", .argument = "UP[,DOWN]", .least = 1e-3,
     .most = 1e6, .count_most = 2, .offset = offsetof(exposure_args, adapt),
     .help =
         "speed in stops a second, towards brighter and towards darker pictures (default: 3,1)"},
    {OPT_NUMBER, "fps", .excludes = "no-adapt", .argument = "N", .least = 1e-3, .most = 1e6,
     .fallback = "30", .offset = offsetof(exposure_args, fps), .help = "frames a second"},
    {OPT_FLAG, "no-adapt", .offset = offsetof(exposure_args, no_adapt),
     .help = "each picture by itself"},
    FRAMES_OPTION(exposure_args, frames),

    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "the picture: .png, or linear .exr .pfm .hdr",
     .argument = "FILE", .offset = offsetof(exposure_args, output),
     .endings = ".png .pfm .hdr .exr",
     .help = "the picture, exposed and tone-mapped: .png, or .exr, .pfm and .hdr with linear "
             "values; of "
             "several "
             "inputs with %04d for the number: the input's, or from 0"},
    {OPT_CHOICE, "tone", .needs = "output", .brief = "tone curve, such as agx or srgb (none)",
     .choices = "srgb|reinhard|reinhard-extended|hable|aces-fit|agx|neutral", .fallback = "agx",
     .offset = offsetof(exposure_args, tone), .help = "tone curve; srgb: none, clipped at 1"},
    {OPT_NUMBER, "white", .needs = "output tone=reinhard-extended", .argument = "L", .least = 1e-3,
     .most = 1e6, .fallback = "4", .offset = offsetof(exposure_args, white),
     .help = "the exposed luminance that becomes white"},
    {OPT_CHOICE, "bits", .needs = "output=*.png|output=*.exr", .choices = "auto|8|16|32",
     .fallback = "auto", .offset = offsetof(exposure_args, depth),
     .help = "bits of each channel: 8 or 16 of a .png, 16 (half floats) or 32 of an .exr; auto: 8 "
             "and 32"},
    {OPT_OUTPUT, "histogram", .brief = "a plot of the histogram (.svg)", .argument = "FILE",
     .offset = offsetof(exposure_args, plot), .endings = ".svg",
     .help = "a plot of the histogram (.svg), with mean, median, clip and middle grey"},
    {OPT_FLAG, "ascii", .applies = OPT_SINGLE, .excludes = "json|quiet",
     .offset = offsetof(exposure_args, ascii),
     .help = "draw the summary's histogram in ASCII (default where the locale is not UTF-8)"},
    {0},
};

/* ---- the state of a run ---------------------------------------------------------------------- */

enum { PATH_SIZE = 4096, METER_SIDE = 128 };

/* The least luminance that tml_image_measure distinguishes from 0. */
#define LEAST_LUMINANCE 0x1p-100

/* A frame's results, for the summary. */
typedef struct measured {
    uint32_t number;
    const char *path;
    tml_picture picture; /* pixels not included */
    tml_image_stats stats;
    float state[TML_EXPOSURE_WORDS];
    double seconds[4]; /* for load, measure, tone map, save */
    bool drops_alpha;
} measured;

typedef struct run {
    tml_context *tml;
    const exposure_args *args;
    picture_buffer in;
    tml_buffer stats, state, mask;
    uint32_t mask_for[2]; /* size of the region for which the mask was made */
    uint32_t mask_width, mask_height;
    bool drops_alpha, is_sequence;
} run;

static tml_luminance luminance_of(const exposure_args *a)
{
    return a->weights.count ? TML_LUMINANCE_CUSTOM : (tml_luminance)a->luminance;
}

static int check_args(const exposure_args *a)
{
    const double *weights = a->weights.values;
    bool is_exr = a->output && path_ends_with(a->output, ".exr");
    if (a->depth == (is_exr ? DEPTH_8 : DEPTH_32))
        return cli_usage("--bits: %s has no channels of %s bits; give %s", is_exr ? ".exr" : ".png",
                         is_exr ? "8" : "32", is_exr ? "16 or 32" : "8 or 16");
    if (a->weights.count && !(weights[0] + weights[1] + weights[2] > 0))
        return cli_usage("--weights are all 0; one at least must not be");
    if (a->floor > 0 && a->floor < LEAST_LUMINANCE)
        return cli_usage("--floor: %g is less than 2^-100, where luminances count as 0", a->floor);
    if (a->clip.count && !(a->clip.values[0] < a->clip.values[1]))
        return cli_usage("--clip: %g is not below %g", a->clip.values[0], a->clip.values[1]);
    if (a->limits.count && !(a->limits.values[0] <= a->limits.values[1]))
        return cli_usage("--limits: %g is above %g", a->limits.values[0], a->limits.values[1]);
    return CLI_OK;
}

/* ---- the meter ------------------------------------------------------------------------------- */

/* Reads a picture as weights: its codes, or values from 0 to 1, whatever light they encode. */
static int read_mask(run *r, const char *path, uint32_t width, uint32_t height)
{
    picture_buffer p;
    int code = picture_buffer_load(r->tml, path, &r->args->common, true, &p);
    if (code != CLI_OK)
        return code;
    tml_image weights = {.width = p.image.width, .height = p.image.height, .channels = 1};
    uint64_t count = (uint64_t)weights.width * weights.height;
    if (weights.width > width || weights.height > height) {
        code = cli_error("--meter: %s is %" PRIu32 " x %" PRIu32 ", more than the %" PRIu32
                         " x %" PRIu32 " pixels that are measured; make it smaller",
                         path, weights.width, weights.height, width, height);
    } else {
        tml_status status = cli_make_buffer(r->tml, TML_U8, count, NULL, "meter", &weights.buffer);
        TML_THEN(status, tml_image_tonemap(
                             r->tml, &(tml_image_tonemap_desc){
                                         .in = p.image, .out = weights, .tone = TML_TONE_SRGB}));
        code = cli_fail(r->tml, status);
    }
    picture_buffer_free(r->tml, &p);
    r->mask = weights.buffer;
    r->mask_width = weights.width;
    r->mask_height = weights.height;
    return code;
}

static tml_status make_pattern(run *r, tml_meter meter, uint32_t width, uint32_t height)
{
    r->mask_width = width < METER_SIDE ? width : METER_SIDE;
    r->mask_height = height < METER_SIDE ? height : METER_SIDE;
    uint8_t weights[METER_SIDE * METER_SIDE];
    tml_status status =
        tml_meter_weights(meter, width, height, r->mask_width, r->mask_height, weights);
    if (status != TML_OK)
        return tml_error(r->tml, status, "no meter for %" PRIu32 " x %" PRIu32 " pixels", width,
                         height);
    return cli_make_buffer(r->tml, TML_U8, (uint64_t)r->mask_width * r->mask_height, weights,
                           "meter", &r->mask);
}

static int make_mask(run *r, uint32_t width, uint32_t height)
{
    static const char *const names[] = {"average", "centre", "spot", "matrix", NULL};
    uint32_t pattern = 0;
    while (names[pattern] && strcmp(r->args->meter, names[pattern]) != 0)
        pattern++;
    if (pattern == TML_METER_AVERAGE || (r->mask_for[0] == width && r->mask_for[1] == height))
        return CLI_OK;
    tml_buffer_destroy(r->tml, r->mask);
    r->mask = (tml_buffer){0};
    r->mask_for[0] = width;
    r->mask_for[1] = height;
    return names[pattern] ? cli_fail(r->tml, make_pattern(r, (tml_meter)pattern, width, height))
                          : read_mask(r, r->args->meter, width, height);
}

/* ---- a frame --------------------------------------------------------------------------------- */

static int measure(run *r, measured *f)
{
    const exposure_args *a = r->args;
    const tml_image *image = &r->in.image;
    const picture_region *region = &a->region;
    if (region->x >= image->width || region->y >= image->height ||
        region->width > image->width - region->x || region->height > image->height - region->y)
        return cli_error("--region reaches out of %s, which is %" PRIu32 " x %" PRIu32 " pixels",
                         f->path, image->width, image->height);
    uint32_t width = region->width ? region->width : image->width - region->x;
    uint32_t height = region->height ? region->height : image->height - region->y;
    int code = make_mask(r, width, height);
    if (code != CLI_OK)
        return code;
    tml_image_measure_desc desc = {.image = *image,
                                   .region = {region->x, region->y, width, height},
                                   .luminance = {.kind = luminance_of(a), .floor = (float)a->floor},
                                   .mask = r->mask,
                                   .stats = r->stats};
    for (uint32_t c = 0; c < a->weights.count; c++)
        desc.luminance.weights[c] = (float)a->weights.values[c];
    if (!tml_buffer_is_none(r->mask)) {
        desc.mask_width = r->mask_width;
        desc.mask_height = r->mask_height;
    }
    return cli_fail(r->tml, tml_image_measure(r->tml, &desc));
}

static int read_stats(run *r, measured *f)
{
    int code = cli_fail(r->tml, tml_image_stats_read(r->tml, r->stats, &f->stats));
    if (code == CLI_OK && f->stats.pixels == 0)
        return cli_error("--meter: %s is black all over, so that no pixel of %s counts; make it "
                         "brighter where pixels should",
                         r->args->meter, f->path);
    return code;
}

static int expose(run *r, bool is_first)
{
    const exposure_args *a = r->args;
    tml_image_expose_desc desc = {
        .stats = r->stats,
        .by = a->ev100.count        ? TML_EXPOSE_MANUAL
              : a->percentile.count ? TML_EXPOSE_PERCENTILE
                                    : (tml_expose_by)a->by,
        .key = (float)a->key,
        .bias = (float)a->bias,
        .reset = is_first || a->no_adapt,
        .state = r->state,
    };
    if (!desc.reset)
        desc.seconds = (float)(1 / a->fps);
    if (a->clip.count) {
        desc.clip_low = (float)a->clip.values[0];
        desc.clip_high = (float)a->clip.values[1];
    }
    desc.percentile = a->percentile.count ? (float)a->percentile.values[0] : 0;
    desc.ev100 = a->ev100.count ? (float)a->ev100.values[0] : 0;
    if (a->limits.count) {
        desc.ev_min = (float)a->limits.values[0];
        desc.ev_max = (float)a->limits.values[1];
        if (desc.ev_min == 0 && desc.ev_max == 0)
            desc.ev_max = FLT_MIN; /* both 0 would mean no limits */
    }
    if (a->adapt.count) {
        desc.speed_up = (float)a->adapt.values[0];
        desc.speed_down = (float)a->adapt.values[a->adapt.count - 1];
    }
    return cli_fail(r->tml, tml_image_expose(r->tml, &desc));
}

/* Returns the type that a file of that name holds; out: its size and channels. */
static tml_type output_layout(const run *r, const char *path, tml_image *out)
{
    bool is_png = path_ends_with(path, ".png");
    *out = (tml_image){.width = r->in.image.width, .height = r->in.image.height, .srgb = is_png};
    uint32_t channels = r->in.image.channels;
    /* Grey with alpha becomes four channels; other formats have no alpha. */
    out->channels = channels == 1 ? 1 : channels == 3 || !path_ends_with(path, ".png .exr") ? 3 : 4;
    bool is_16 = r->args->depth == DEPTH_16;
    return is_png ? (is_16 ? TML_U16 : TML_U8) : is_16 ? TML_F16 : TML_F32;
}

static int save_picture(run *r, measured *f, const char *path)
{
    tml_image out;
    tml_picture picture = {0};
    tml_type type = output_layout(r, path, &out);
    f->drops_alpha = out.channels % 2 && r->in.image.channels % 2 == 0;
    uint64_t count = (uint64_t)out.width * out.height * out.channels;
    double start = cli_now();
    tml_status status = cli_make_buffer(r->tml, type, count, NULL, "output", &out.buffer);
    tml_image_tonemap_desc desc = {.in = r->in.image,
                                   .out = out,
                                   .state = r->state,
                                   .tone = (tml_tone)r->args->tone,
                                   .white = (float)r->args->white};
    TML_THEN(status, tml_image_tonemap(r->tml, &desc));
    TML_THEN(status, picture_read(r->tml, &out, &picture));
    f->seconds[2] = cli_now() - start;
    TML_THEN(status, tml_picture_save(r->tml, path, &picture));
    f->seconds[3] = cli_now() - start - f->seconds[2];
    tml_picture_free(r->tml, &picture);
    tml_buffer_destroy(r->tml, out.buffer);
    return cli_fail(r->tml, status);
}

/* The luminance, in stops, that is exposed to the key: middle grey. */
static double middle_grey(const run *r, const measured *f)
{
    return log2(r->args->key) - log2((double)f->state[TML_EXPOSURE_SCALE]);
}

static int save_plot(run *r, const measured *f, const char *path)
{
    tml_value_histogram h = picture_histogram(&f->stats);
    char y_label[64], low[32], high[32];
    bool is_clipped = r->args->clip.count > 0 && f->stats.log_weight > 0;
    double keep_low = is_clipped ? (double)f->state[TML_EXPOSURE_LOW] : NAN;
    double keep_high = is_clipped ? (double)f->state[TML_EXPOSURE_HIGH] : NAN;
    snprintf(y_label, sizeof y_label, "pixels per 1/%g stop (%%)", 1 / f->stats.bin_width);
    snprintf(low, sizeof low, "clip %g %%", is_clipped ? r->args->clip.values[0] : 0);
    snprintf(high, sizeof high, "clip %g %%", is_clipped ? r->args->clip.values[1] : 0);
    const plot_mark marks[] = {
        {keep_low, low, "#6e7480"},
        {keep_high, high, "#6e7480"},
        {f->stats.log2_mean, "mean (of logarithms)", "#c43c26"},
        {tml_image_percentile(&f->stats, 50), "median", "#14785a"},
        {middle_grey(r, f), "middle grey", "#803ea0"},
    };
    plot_desc desc = {.title = text_file_name(f->path),
                      .x_label = "luminance in stops (log2; 0 is a luminance of 1)",
                      .y_label = y_label,
                      .keep_low = keep_low,
                      .keep_high = keep_high,
                      .marks = marks,
                      .mark_count = sizeof marks / sizeof marks[0]};
    return plot_histogram(path, &h, &desc);
}

/* Loads a frame and enqueues its measuring. */
static int begin_frame(run *r, measured *f)
{
    const exposure_args *a = r->args;
    double start = cli_now();
    int code = picture_buffer_load(r->tml, f->path, &a->common, a->is_linear, &r->in);
    if (code != CLI_OK)
        return code;
    code = picture_check_options(f->path, &r->in.picture);
    if (code != CLI_OK)
        return code;
    r->in.image.values = (tml_image_values)a->values;
    f->picture = r->in.picture;
    f->picture.data = NULL;
    f->seconds[0] = cli_now() - start;
    return measure(r, f);
}

/* Writes a frame's files. Its exposure is in r->state. */
static int end_frame(run *r, measured *f)
{
    const exposure_args *a = r->args;
    char path[PATH_SIZE];
    int code = cli_fail(r->tml, tml_buffer_read(r->tml, r->state, f->state));
    bool has_floats = f->picture.type == TML_F16 || f->picture.type == TML_F32;
    if (code == CLI_OK && f->state[TML_EXPOSURE_COUNTED] == 0.0f)
        cli_warn("%s: no pixel is positive, so that there is nothing to expose by%s", f->path,
                 has_floats && !a->values
                     ? "; if it holds logarithms, say which: --values log2, ln or log10"
                     : "");
    if (code == CLI_OK && a->output &&
        tml_path_number(a->output, f->number, false, path, sizeof path))
        code = save_picture(r, f, path);
    if (code == CLI_OK && a->plot && tml_path_number(a->plot, f->number, false, path, sizeof path))
        code = save_plot(r, f, path);
    return code;
}

static int do_frame(run *r, bool is_first, measured *f)
{
    double start = cli_now();
    int code = begin_frame(r, f);
    CLI_THEN(code, expose(r, is_first));
    CLI_THEN(code, read_stats(r, f));
    f->seconds[1] = cli_now() - start - f->seconds[0];
    CLI_THEN(code, end_frame(r, f));
    picture_buffer_free(r->tml, &r->in);
    return code;
}

/* ---- summary --------------------------------------------------------------------------------- */

/* Reports "12.3 % negative", if the count is not 0. */
static void tell_share(const char *key, const char *name, uint64_t count, uint64_t of)
{
    double percent = 100 * (double)count / (double)of;
    char text[TEXT_SIZE];
    field_count(key, NULL, NULL, count);
    if (count && percent < 0.1)
        field_line(NULL, ", %s %s", text_count(text, count), name);
    else if (count)
        field_line(NULL, ", %.3g %% %s", percent, name);
}

static void tell_counts(const tml_image_stats *s)
{
    field_count("pixels", "pixels", "%s", s->pixels);
    tell_share("positive", "positive", s->positive, s->pixels);
    tell_share("zero", "zero", s->zero, s->pixels);
    tell_share("negative", "negative", s->negative, s->pixels);
    tell_share("nans", "NaN", s->nan, s->pixels);
    tell_share("infinities", "infinite", s->infinite, s->pixels);
    field_count("weight", NULL, NULL, s->weight);
    field_count("log_weight", NULL, NULL, s->log_weight);
}

static void tell_luminance(const run *r, const tml_image_stats *s)
{
    static const double percents[] = {1, 5, 50, 95, 99};
    bool is_some = !isnan(s->min), has_logs = is_some && s->log_weight > 0;
    double median = tml_image_percentile(s, 50);
    if (!is_some)
        field_line("luminance", "no pixel is finite");
    field_number("min", "luminance", is_some ? "%.6g" : NULL, s->min);
    field_number("max", NULL, is_some ? " to %.6g" : NULL, s->max);
    field_number("mean", NULL, is_some ? ", mean %.6g" : NULL, s->mean);
    field_number("deviation", NULL, is_some ? ", standard deviation %.6g" : NULL, s->deviation);
    field_text("luminance", NULL, is_some ? " (%s)" : NULL,
               tml_luminance_name(luminance_of(r->args)));
    field_number("geometric_mean", "log mean", has_logs ? "%.6g" : NULL, s->geometric_mean);
    field_number("log2_mean", NULL, has_logs ? ", %+.4f stops" : NULL, s->log2_mean);
    field_number(NULL, NULL, has_logs ? "; median %.4g" : NULL, exp2(median));
    field_number("log2_median", NULL, has_logs ? ", %+.3f stops" : NULL, median);
    for (int i = 0; i < 5 && has_logs; i++)
        field_line(i ? NULL : "percentile", "%s%g %%: %+.2f%s", i ? ", " : "", percents[i],
                   tml_image_percentile(s, percents[i]), i == 4 ? " stops" : "");
}

static void tell_exposure(const run *r, const measured *f)
{
    const exposure_args *a = r->args;
    double scale = (double)f->state[TML_EXPOSURE_SCALE];
    bool is_some = f->stats.log_weight > 0 || a->ev100.count, has_clip = is_some && a->clip.count;
    field_number("scale", "exposure", "x %.5g", scale);
    field_line(NULL, ", %+.3f stops: ", log2(scale));
    if (!is_some)
        field_line(NULL, "no pixel has a logarithm to be exposed by");
    field_number("log2_average", NULL, is_some ? "the average of %+.3f stops becomes " : NULL,
                 (double)f->state[TML_EXPOSURE_AVERAGE]);
    field_number("log2_target", NULL, NULL, (double)f->state[TML_EXPOSURE_TARGET]);
    field_number(NULL, NULL, is_some ? "%g" : NULL, a->key);
    field_number(NULL, NULL, is_some ? "?, then %+g stops" : NULL, a->bias);
    if (has_clip)
        field_line("clip", "%g %% to %g %%: ", a->clip.values[0], a->clip.values[1]);
    field_number("log2_low", NULL, has_clip ? "%+.3f" : NULL, (double)f->state[TML_EXPOSURE_LOW]);
    field_number("log2_high", NULL, has_clip ? " to %+.3f stops" : NULL,
                 (double)f->state[TML_EXPOSURE_HIGH]);
    field_number("ev100", "EV100", is_some ? "%.3f, if a luminance of 1 is 1 cd/m2" : NULL,
                 (double)f->state[TML_EXPOSURE_EV100]);
}

static void tell_histogram(const run *r, const tml_image_stats *s)
{
    enum { COLUMNS = 64 };
    char spark[4 * COLUMNS + 1];
    const tml_value_histogram h = picture_histogram(s);
    field_open("histogram", '{');
    field_number("low", NULL, NULL, s->histogram_low);
    field_number("bin_width", NULL, NULL, s->bin_width);
    if (fields_json())
        json_counts(fields_json(), "bins", s->histogram, TML_HISTOGRAM_BINS);
    field_close('{');
    if (!fields_are_text())
        return;
    histogram_sparkline(&h, COLUMNS, r->args->ascii || !system_shows_utf8(), spark);
    field_line("histogram", "|%s| %+g to %+g stops", spark, s->histogram_low,
               s->histogram_low + s->bin_width * TML_HISTOGRAM_BINS);
}

/* Prints a row for a frame of a sequence. */
static void tell_row(bool is_first, const measured *f)
{
    if (is_first)
        field_heading("frame  log mean   target   average     EV100   exposure  file\n"
                      "          stops    stops     stops                     x");
    field_heading("%5" PRIu32 "  %8.3f %8.3f  %8.3f  %8.3f  %9.4g  %s", f->number,
                  f->stats.log2_mean, (double)f->state[TML_EXPOSURE_TARGET],
                  (double)f->state[TML_EXPOSURE_AVERAGE], (double)f->state[TML_EXPOSURE_EV100],
                  (double)f->state[TML_EXPOSURE_SCALE], text_file_name(f->path));
}

static void tell_frame(const run *r, const measured *f)
{
    static const char *const stages[] = {"load", "measure", "tone map", "save"};
    const char *const outputs[] = {r->args->output, r->args->plot};
    char paths[2][PATH_SIZE];
    report times = {0};
    for (int i = 0; i < (r->args->output ? 4 : 2); i++)
        report_add_stage(&times, stages[i], f->seconds[i]);
    for (int i = 0; i < 2; i++)
        if (outputs[i] && tml_path_number(outputs[i], f->number, false, paths[i], PATH_SIZE))
            report_add_output(&times, paths[i]);
    field_heading("%s", text_file_name(f->path));
    field_open("input", '{');
    picture_tell(f->path, &f->picture);
    field_close('{');
    tell_counts(&f->stats);
    tell_luminance(r, &f->stats);
    tell_exposure(r, f);
    tell_histogram(r, &f->stats);
    report_tell(&times, 0, 0);
}

static void tell(run *r, bool is_first, const measured *f)
{
    r->drops_alpha |= f->drops_alpha;
    progress_clear();
    if (r->is_sequence && fields_are_text()) {
        tell_row(is_first, f);
        return;
    }
    if (r->is_sequence) {
        field_open(NULL, '{');
        field_count("frame", NULL, NULL, f->number);
    }
    tell_frame(r, f);
    if (r->is_sequence)
        field_close('{');
}

/* A frame_fn. */
static int do_and_tell(void *user, const frame *f, uint32_t index)
{
    measured m = {.number = f->number, .path = f->path};
    int code = do_frame(user, index == 0, &m);
    if (code == CLI_OK)
        tell(user, index == 0, &m);
    return code;
}

/* ---- several processes ----------------------------------------------------------------------- */

/* A process's message to the others about its frame, as numbers. */
typedef union shared_frame {
    uint32_t words[TML_IMAGE_STATS_WORDS]; /* first: a stats buffer */
    measured results;                      /* later */
    uint64_t numbers[(sizeof(measured) + 7) / 8];
} shared_frame;
_Static_assert(sizeof(measured) >= TML_IMAGE_STATS_WORDS * sizeof(uint32_t),
               "results hold the statistics, and more");

static int share_frame(const run *r, const shared_frame *mine, shared_frame *all)
{
    return cli_fail(r->tml, ranks_gather(r->tml, mine->numbers,
                                         sizeof *mine / sizeof *mine->numbers, all->numbers));
}

/* Processes a frame per process, from `first` on. Measuring and writing, which take the time, run
 * side by side. The exposure follows from frame to frame, so every process computes it for all
 * frames.
 * all: an element per process. */
static int do_round(run *r, const frames *f, uint32_t first, shared_frame *all)
{
    uint32_t count = f->count - first < ranks_count() ? f->count - first : ranks_count();
    uint32_t mine = ranks_mine();
    double start = cli_now();
    measured m = {0};
    shared_frame shared = {.numbers = {0}};
    int code = CLI_OK;
    if (mine < count) {
        m.number = f->list[first + mine].number;
        m.path = f->list[first + mine].path;
        code = begin_frame(r, &m);
        CLI_THEN(code, read_stats(r, &m));
        CLI_THEN(code, cli_fail(r->tml, tml_buffer_read(r->tml, r->stats, shared.words)));
        m.seconds[1] = cli_now() - start - m.seconds[0];
    }
    CLI_THEN(code, share_frame(r, &shared, all));
    for (uint32_t i = 0; i < count && code == CLI_OK; i++) {
        code = cli_fail(r->tml,
                        tml_buffer_write(r->tml, r->stats, 0, TML_IMAGE_STATS_WORDS, all[i].words));
        CLI_THEN(code, expose(r, first + i == 0));
        if (code == CLI_OK && i == mine)
            code = end_frame(r, &m);
    }
    picture_buffer_free(r->tml, &r->in);
    r->in = (picture_buffer){0}; /* this process may have none in the next round */
    shared.results = m;
    CLI_THEN(code, share_frame(r, &shared, all));
    for (uint32_t i = 0; i < count && code == CLI_OK && mine == 0; i++) {
        all[i].results.path = f->list[first + i].path; /* replaces another process's address */
        tell(r, first + i == 0, &all[i].results);
    }
    return code;
}

static int do_rounds(run *r, const frames *f)
{
    size_t size = ranks_count() * sizeof(shared_frame);
    shared_frame *all = tml_alloc(r->tml, size);
    int code = CLI_OK;
    if (!all)
        return cli_error("no memory for %zu bytes of statistics", size);
    for (uint32_t i = 0; i < f->count && code == CLI_OK; i += ranks_count()) {
        progress_frame(i, f->is_sequence ? f->count : 0);
        code = do_round(r, f, i, all);
        progress_clear();
    }
    progress_frame(0, 0);
    tml_free(r->tml, all, size);
    return code;
}

static int do_all(run *r, const frames *f)
{
    tml_status status =
        cli_make_buffer(r->tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL, NULL, &r->stats);
    TML_THEN(status, cli_make_buffer(r->tml, TML_F32, TML_EXPOSURE_WORDS, NULL, NULL, &r->state));
    int code = cli_fail(r->tml, status);
    if (r->is_sequence)
        field_open("frames", '[');
    CLI_THEN(code, ranks_count() > 1 ? do_rounds(r, f) : frames_run(f, do_and_tell, r));
    if (code == CLI_OK && r->drops_alpha)
        cli_warn("alpha was left out, this format has none");
    if (r->is_sequence)
        field_close('[');
    tml_buffer_destroy(r->tml, r->stats);
    tml_buffer_destroy(r->tml, r->state);
    tml_buffer_destroy(r->tml, r->mask);
    cli_close(r->tml);
    return code;
}

static int exposure_run(void *args, char **operands, uint32_t operand_count)
{
    const exposure_args *a = args;
    frames f;
    int code = frames_find(operands, operand_count, &a->frames, &f);
    if (code != CLI_OK)
        return code;
    code = check_args(a);
    run r = {.args = a, .is_sequence = f.is_sequence};
    if (code == CLI_OK && !(r.tml = cli_open(&a->common, NULL)))
        code = CLI_FAILED;
    CLI_THEN(code, do_all(&r, &f));
    frames_free(&f);
    return code;
}

const cli_command cmd_exposure = {
    .options =
        {.name = "exposure",
         .operands = "IN...",
         .endings = CLI_PICTURES,
         .summary = "Measures pictures, exposes and tone-maps them",
         .about =
             "IN is a picture: Radiance, PFM, PNG, JPEG or OpenEXR, found by content. Every pixel "
             "is "
             "measured once, so that one of N weighs exactly 1/N. NaN and infinite pixels are "
             "counted and "
             "left out.\n\n"
             "The picture is multiplied by key / average * 2^ev. Several inputs are frames of a "
             "sequence: the average follows what is measured at the speed of --adapt.\n\n"
             "Of several processes (" CLI_PROGRAM "-mpi) each takes one frame of as many.",
         .examples =
             "  trommel exposure scene.hdr -o scene.png --histogram histogram.svg\n"
             "  trommel exposure scene.exr --meter centre --clip 5,95 --ev +1 -o scene.png\n"
             "  trommel exposure frame*.exr --adapt 3,1 --fps 24 -o out%04d.png\n"
             "  trommel exposure photo.jpg --json\n",
         .options = exposure_options},
    .args_size = sizeof(exposure_args),
    .run = exposure_run,
    .takes_ranks = true,
};
