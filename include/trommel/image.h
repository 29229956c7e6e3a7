/* Image: exact averages of pictures of any size, exposure, tone curves and mip chains.
 *
 * For cameras, renderers and viewers of high dynamic range. A frame that meters itself reads
 * nothing back:
 *
 *     tml_image_measure(tml, &(tml_image_measure_desc){.image = picture, .stats = stats});
 *     tml_image_expose(tml, &(tml_image_expose_desc){.stats = stats, .state = state,
 *                                                    .seconds = 0.02f});
 *     tml_image_tonemap(tml, &(tml_image_tonemap_desc){.in = picture, .out = shown,
 *                                                      .state = state, .tone = TML_TONE_AGX});
 *
 * tml_image_measure measures a picture once; tml_image_expose finds its exposure from that, with
 * memory of the frames before; tml_image_tonemap applies the exposure and a tone curve.
 * tml_image_mips makes mip chains. These four enqueue: they never wait, read nothing back and, when
 * the arena was reserved (tml_reserve), allocate nothing.
 *
 * The measurement
 *   pixels      each of the region, once: no size is padded, halved or rounded, so that a pixel of
 *               N weighs exactly 1/N, wherever it lies
 *   luminance   a weighted sum of red, green and blue (tml_luminance), in float, each product
 *               rounded before it is added. Grey gives itself, bit for bit
 *   kinds       a pixel is NaN if one of its colours is; else infinite if one is, or if colours of
 *               different signs, near the largest float, have no finite luminance; else by its
 *               luminance zero (within 2^-100), negative or positive. NaN and infinite pixels are
 *               counted and otherwise left out. Negative and zero ones are in the mean, but have no
 *               logarithm: they are left out of the geometric mean and the histogram, or count as
 *               tml_image_luminance.floor
 *   log2        in fixed point, 2^-24 of a stop, by a polynomial of floats whose steps are rounded
 *               alike everywhere, summed in 64-bit integers. So counts, histogram and geometric
 *               mean are equal bit for bit on every engine, for any number of threads and any
 *               order, and within 2^-20 stops of the exact value
 *   mean        and standard deviation: in double on the CPU, in float on a GPU, in a tree of fixed
 *               shape: repeatable on each engine; between engines the mean is within (log2 n + 32)
 *               * 2^-24 of the mean magnitude */
#ifndef TROMMEL_IMAGE_H
#define TROMMEL_IMAGE_H

#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pictures ------------------------------------------------------------------------------- */

/* The numbers of a picture. A logarithm v stands for the linear value 2^v, e^v or 10^v. */
typedef enum tml_image_values {
    TML_IMAGE_LINEAR,
    TML_IMAGE_LOG2,
    TML_IMAGE_LN,
    TML_IMAGE_LOG10,
} tml_image_values;
/* Returns the name: "log2"; never NULL. */
static inline const char *tml_image_values_name(tml_image_values values)
{
    static const char *const names[] = {"linear", "log2", "ln", "log10"};
    return (unsigned)values < sizeof names / sizeof *names ? names[values] : "unknown";
}

/* A picture: pixels in a buffer, row by row, colours interleaved; or a texture of the caller's,
 * read in place. buffer, or a texture, and width, height and channels are required.
 *
 * buffer      a scalar or vector type of u8, u16, f16 or f32
 * width       pixels, at least 1, as height
 * channels    1: luminance as it is; 2: luminance and alpha; 3: red, green, blue; 4: and alpha.
 *             Alpha is never measured; pictures with premultiplied alpha are measured as they are
 * srgb        of u8 and u16: the colours are coded as sRGB (IEC 61966-2-1); alpha never is. Without
 *             it values are linear, the largest integer being 1
 * values      linear, or logarithms, such as a pass leaves that writes log2 of the luminance, made
 *             linear as they are read: the same bits on every engine, within 2^-20 of the exact
 *             value for magnitudes below 2^16, and 2^-17 for all. -infinity, and less than 2^-100,
 *             is 0; from 2^128 on is infinite. Requires f16, f32 or a texture, and no srgb. Alpha
 *             is linear. Outputs are always linear
 * first       where the first pixel begins, in scalars of the buffer's type
 * row_stride  from one row to the next, in scalars; 0: width * channels
 * vulkan, gl  in place of buffer, where a call reads the picture: a texture (trommel/vulkan.h,
 *             trommel/gl.h). Texel (x, y) is pixel (x, y), its first channels components are the
 *             colours as the device decodes them. The result is bit for bit that of an f32 buffer
 *             of what texelFetch gives. first and row_stride are 0; srgb says only how a mip chain
 *             of u8 or u16 is coded */
typedef struct tml_image {
    tml_buffer buffer;
    uint32_t width, height;
    uint32_t channels;
    bool srgb;
    tml_image_values values;
    uint64_t first;
    uint64_t row_stride;
    const struct tml_vulkan_texture *vulkan;
    const struct tml_gl_image *gl;
} tml_image;

/* Red, green and blue's share of the luminance. */
typedef enum tml_luminance {
    TML_LUMINANCE_REC709,  /* 0.2126 0.7152 0.0722: ITU-R BT.709, sRGB */
    TML_LUMINANCE_REC2020, /* 0.2627 0.6780 0.0593: ITU-R BT.2020 */
    TML_LUMINANCE_ACESCG,  /* 0.2722287 0.6740818 0.0536895: AP1 (S-2014-004) */
    TML_LUMINANCE_MAX_RGB, /* the largest of the three */
    TML_LUMINANCE_CUSTOM,  /* weights of the caller's */
} tml_luminance;
/* Returns the name: "rec709"; never NULL. */
static inline const char *tml_luminance_name(tml_luminance luminance)
{
    static const char *const names[] = {"rec709", "rec2020", "acescg", "max-rgb", "custom"};
    return (unsigned)luminance < sizeof names / sizeof *names ? names[luminance] : "unknown";
}

/* How luminances and their logarithms are found. Zeroed: Rec. 709.
 * kind     which weights
 * weights  of CUSTOM: none negative; scaled to a sum of 1
 * floor    smaller luminances count as this in logarithms: what to do with black; 2^-100 to 2^127.
 *          0: of tml_image_measure none, so that what is not positive has no logarithm; of
 *          tml_image_mips 2^-16 */
typedef struct tml_image_luminance {
    tml_luminance kind;
    float weights[3];
    float floor;
} tml_image_luminance;

/* ---- measure -------------------------------------------------------------------------------- */

/* Metering patterns, as weights of 0 to 255. */
typedef enum tml_meter {
    TML_METER_AVERAGE, /* every pixel alike */
    TML_METER_CENTRE,  /* a bell around the centre, 1/16 at the middle of the sides */
    TML_METER_SPOT,    /* a disc in the centre, whose diameter is a tenth of the diagonal */
    TML_METER_MATRIX,  /* 5 x 5 fields, those in the middle heavier */
} tml_meter;
/* Returns the name: "centre"; never NULL. */
static inline const char *tml_meter_name(tml_meter meter)
{
    static const char *const names[] = {"average", "centre", "spot", "matrix"};
    return (unsigned)meter < sizeof names / sizeof *names ? names[meter] : "unknown";
}

/* Writes a pattern for tml_image_measure_desc.mask.
 * width, height  of the picture
 * mask           caller-owned, mask_width x mask_height weights; 5 x 5 suffice for MATRIX, else 128
 *                x 128
 * Errors: INVALID_ARGUMENT (no pattern, or sizes of 0). */
TML_API TML_MUST_CHECK tml_status tml_meter_weights(tml_meter meter, uint32_t width,
                                                    uint32_t height, uint32_t mask_width,
                                                    uint32_t mask_height, uint8_t *mask);

enum { TML_HISTOGRAM_BINS = 256 };

/* The measurements to make; a sum of these. 0: all. */
typedef enum tml_measure {
    TML_MEASURE_LOG = 1,       /* geometric mean */
    TML_MEASURE_MEAN = 2,      /* mean, standard deviation */
    TML_MEASURE_HISTOGRAM = 4, /* required for percentiles and the median */
} tml_measure;

/* A measurement of a picture; image and stats are required.
 *
 * image          at most 2^40 pixels
 * stats          output: u32, at least TML_IMAGE_STATS_WORDS; overwritten
 * what           a sum of TML_MEASURE_...; 0: everything
 * luminance      how luminances are found
 * region         within the picture; width 0 or height 0: to its end
 * mask           optional: u8, mask_width x mask_height weights, laid over the region: pixel x of
 *                its width has column x * mask_width / width, rounded down; rows likewise. Each
 *                side is at most the region's, whose sides are then at most 65535
 * histogram_low  log2 luminance where the first bin begins, -128 to 127; the first bin has
 *                everything below, too, the last everything above
 * bin_log2       bins are 2^-bin_log2 stops wide; 0 to 6. This and histogram_low 0: 1/8 of a stop
 *                from -16 to 16
 * scratch        optional, as for streams (trommel/stream.h) */
typedef struct tml_image_measure_desc {
    tml_image image;
    tml_buffer stats;
    tml_measure what;
    tml_image_luminance luminance;
    struct {
        uint32_t x, y, width, height;
    } region;
    tml_buffer mask;
    uint32_t mask_width, mask_height;
    int32_t histogram_low;
    uint32_t bin_log2;
    tml_buffer scratch;
} tml_image_measure_desc;

/* The words of a stats buffer: 64-bit numbers have the low word first. Words that
 * were not asked for are 0. */
enum {
    TML_STATS_PIXELS = 0,   /* u64 each, unweighted: pixels in the region with a weight above 0 */
    TML_STATS_POSITIVE = 2, /* ... those whose luminance is positive */
    TML_STATS_ZERO = 4,
    TML_STATS_NEGATIVE = 6,
    TML_STATS_NAN = 8,
    TML_STATS_INFINITE = 10,
    TML_STATS_WEIGHT = 12,       /* u64: sum of weights of finite pixels; 1 each without a mask */
    TML_STATS_LOG_WEIGHT = 14,   /* u64: of those that have a logarithm */
    TML_STATS_LOG_WHOLE = 16,    /* i64: sum of weight * floor(log2) */
    TML_STATS_LOG_FRACTION = 18, /* u64: sum of weight * (log2 - floor(log2)), in 2^-24 */
    TML_STATS_MIN = 20,  /* f32: smallest and largest luminance of finite pixels with a weight; */
    TML_STATS_MAX = 21,  /* of none: infinity and -infinity */
    TML_STATS_MEAN = 22, /* f32 hi, f32 lo: the mean is their sum */
    TML_STATS_DEVIATION = 24, /* f32 hi, f32 lo: sum of weight * (luminance - mean)^2 over WEIGHT */
    TML_STATS_HISTOGRAM_LOW = 26, /* i32 */
    TML_STATS_BIN_LOG2 = 27,
    TML_STATS_FLOOR = 28,     /* f32: desc.luminance.floor */
    TML_STATS_WHAT = 29,      /* TML_MEASURE_... that were measured */
    TML_STATS_HISTOGRAM = 30, /* u64 x TML_HISTOGRAM_BINS: sums of weights */
    TML_IMAGE_STATS_WORDS = TML_STATS_HISTOGRAM + 2 * TML_HISTOGRAM_BINS,
};

/* Measures a picture in one pass; enqueues.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, SCRATCH_TOO_SMALL, UNSUPPORTED (sizes
 *         beyond a GPU's: docs/numbers.md), CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_image_measure(tml_context *tml,
                                                    const tml_image_measure_desc *desc);

/* A stats buffer as numbers; without a mask all weights are 1.
 * pixels           in the region with a weight above 0; the next five are those of a kind
 * weight           sum of the weights of finite pixels
 * log_weight       of those that have a logarithm
 * min, max         luminance; NaN where no pixel is finite, as mean and deviation
 * mean, deviation  NaN also if not measured; a deviation above 2^63.9 is infinite, since its square
 *                  is kept in floats
 * log2_mean        NaN where no pixel has a logarithm
 * geometric_mean   2^log2_mean, within [min, max] (raised to the floor), so that of equal pixels it
 *                  is their value bit for bit
 * histogram_low    stops, as bin_width
 * histogram        sums of weights */
typedef struct tml_image_stats {
    uint64_t pixels, positive, zero, negative, nan, infinite;
    uint64_t weight, log_weight;
    double min, max;
    double mean, deviation;
    double log2_mean;
    double geometric_mean;
    double histogram_low, bin_width;
    uint64_t histogram[TML_HISTOGRAM_BINS];
} tml_image_stats;

/* Reads a stats buffer. Waits: for all that was enqueued. */
TML_API TML_MUST_CHECK tml_status tml_image_stats_read(tml_context *tml, tml_buffer stats,
                                                       tml_image_stats *out);
/* Returns: the log2 luminance below which a percentage (0 to 100) of the histogram's weight lies,
 *          linear within its bin; 50: the median. NaN for an empty histogram. */
TML_API double tml_image_percentile(const tml_image_stats *stats, double percent);

/* ---- expose --------------------------------------------------------------------------------- */

typedef enum tml_expose_by {
    TML_EXPOSE_MEAN,       /* the geometric mean; with a clip, of what is between the percentiles */
    TML_EXPOSE_MEDIAN,     /* the median */
    TML_EXPOSE_PERCENTILE, /* desc.percentile */
    TML_EXPOSE_MANUAL,     /* desc.ev100 */
} tml_expose_by;

/* From stats to exposure. The picture is multiplied by
 *     exposure = key / 2^average * 2^bias
 * where average is a log2 luminance that follows the measured one in time. In photographic units,
 * for a picture in cd/m^2, EV100 = average + log2(100 / 12.5) (ISO 2720's K = 12.5). stats and
 * state are required.
 *
 * stats       from tml_image_measure
 * state       in and out: f32, TML_EXPOSURE_WORDS; undefined before a call with reset
 * by          what is measured
 * clip_low    of MEAN: percentages of the histogram's weight, below which and from which on it is
 * clip_high   left out; the bins at the edges count in part. Both 0: no clip, and the sums are
 *             used, which are more exact
 * percentile  of PERCENTILE: 0 to 100
 * ev100       of MANUAL
 * key         the grey that the average becomes; 0: 0.18
 * bias        stops; brighter is positive
 * ev_min      limits of EV100; both 0: none
 * ev_max
 * speed_up    adaptation, in stops per second towards brighter pictures; 0: 3. With d the distance
 *             to the measured average in stops: beyond one stop d shrinks by speed stops per
 *             second, within it by the factor exp(-speed * seconds); exactly, so that it does not
 *             depend on how time is cut into frames
 * speed_down  the same towards darker pictures; 0: 1
 * seconds     since the last call; 0 with reset
 * reset       a cut, or the first frame: the average is the measured one */
typedef struct tml_image_expose_desc {
    tml_buffer stats;
    tml_buffer state;
    tml_expose_by by;
    float clip_low, clip_high;
    float percentile;
    float ev100;
    float key;
    float bias;
    float ev_min, ev_max;
    float speed_up, speed_down;
    float seconds;
    bool reset;
} tml_image_expose_desc;

/* The words of an exposure state. */
enum {
    TML_EXPOSURE_SCALE = 0,   /* what the picture is to be multiplied by */
    TML_EXPOSURE_AVERAGE = 1, /* log2, adapted and limited */
    TML_EXPOSURE_TARGET = 2,  /* log2, measured */
    TML_EXPOSURE_EV100 = 3,   /* of AVERAGE */
    TML_EXPOSURE_LOW = 4, /* log2 luminance of the clip's ends; of the histogram's without a clip */
    TML_EXPOSURE_HIGH = 5,
    /* 1, or 0 if no pixel counted: none is positive (tml_image_luminance.floor), or the picture
     * holds logarithms and tml_image.values is LINEAR. 1 with MANUAL, for which nothing is
     * measured */
    TML_EXPOSURE_COUNTED = 6,
    TML_EXPOSURE_WORDS = 8,
};

/* Finds the exposure of a picture; enqueues. If no pixel counts, the average stays where it was
 * (with reset: at log2 key, so that the scale is 2^bias), and the state's word COUNTED is 0.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_image_expose(tml_context *tml,
                                                   const tml_image_expose_desc *desc);

/* ---- tone curves ---------------------------------------------------------------------------- */

/* Each maps scene-linear Rec. 709 colours, 1 being white of the exposed picture, to display-linear
 * ones in 0 to 1. Less than 0 counts as 0. */
typedef enum tml_tone {
    TML_TONE_SRGB,     /* none: clipped */
    TML_TONE_REINHARD, /* L / (1 + L), colours in proportion. After: Reinhard et al.: Photographic
                        * Tone Reproduction for Digital Images. 2002, eq. 3 */
    TML_TONE_REINHARD_EXTENDED, /* eq. 4: L = white becomes 1 */
    /* After: Hable: Filmic Tonemapping Operators. 2010 (Uncharted 2), with an exposure bias of 2
     * and white 11.2 */
    TML_TONE_HABLE,
    TML_TONE_ACES_FIT, /* a fit to ACES' RRT and sRGB ODT, not ACES itself. After: Hill: ACES
                        * fitted, in MJP's BakingLab. 2016 */
    TML_TONE_AGX,      /* Sobotka's AgX, base look. After: Wrensch's polynomial. 2023 */
    TML_TONE_NEUTRAL,  /* Khronos PBR Neutral Tone Mapper. 2024 */
} tml_tone;
/* Returns the name: "reinhard-extended"; never NULL. */
static inline const char *tml_tone_name(tml_tone tone)
{
    static const char *const names[] = {
        "srgb", "reinhard", "reinhard-extended", "hable", "aces-fit", "agx", "neutral"};
    return (unsigned)tone < sizeof names / sizeof *names ? names[tone] : "unknown";
}

/* How to show a picture; in and out are required.
 * in     1 or 2 channels are a grey picture
 * out    of the same size; 1, 3 or 4 channels: alpha is copied, or 1; of 1 channel the Rec. 709
 *        luminance is written. srgb: coded as sRGB. u8 and u16 are rounded to nearest. Whole
 *        pictures in one buffer: may be in where both are the same
 * state  optional: from tml_image_expose
 * scale  multiplies the picture, too; 0: 1
 * tone   the curve
 * white  of REINHARD_EXTENDED; 0: 4 */
typedef struct tml_image_tonemap_desc {
    tml_image in;
    tml_image out;
    tml_buffer state;
    float scale;
    tml_tone tone;
    float white;
} tml_image_tonemap_desc;

/* Exposes and tone-maps a picture; enqueues. NaN becomes 0, infinite the largest finite float.
 * Floats are within 2^-16 of the formulas (2^-14 for AGX), integers within one step, on every
 * engine.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, UNSUPPORTED (sizes beyond a GPU's: docs/numbers.md). */
TML_API TML_MUST_CHECK tml_status tml_image_tonemap(tml_context *tml,
                                                    const tml_image_tonemap_desc *desc);

/* ---- mip chains ----------------------------------------------------------------------------- */

typedef enum tml_mip_filter {
    /* Each texel is the mean of the area that it covers of the level above, parts of texels
     * weighing in part. At 1 x 1 every texel of the picture weighs 1/N. */
    TML_MIP_AREA,
    /* A sinc in a Kaiser window (alpha 4), three texels of the new level to either side, scaled to
     * a sum of 1: sharper, may ring. */
    TML_MIP_KAISER,
} tml_mip_filter;

typedef enum tml_mip_output {
    TML_MIP_CHAIN, /* levels 1, 2, ... one after the other (tml_mip_level) */
    TML_MIP_LAST,  /* the last level; desc.levels is at least 2 then */
} tml_mip_output;

/* Finds the size and the place of a level in a chain that holds levels 1, 2, ... without gaps.
 * Level 0 is the picture. Level k + 1 has half of level k's width and height, rounded down, at
 * least 1. The last level is 1 x 1.
 * level                      0 to the number of levels, which begins at the chain's end
 * level_width, level_height  optional: pixels
 * first                      optional: the level's first pixel in the chain; 0 for levels 0 and 1
 * Returns: how many levels there are, the picture included. */
TML_API uint32_t tml_mip_level(uint32_t width, uint32_t height, uint32_t level,
                               uint32_t *level_width, uint32_t *level_height, uint64_t *first);

/* How to make a mip chain; in and out are required.
 *
 * in             the picture
 * out            u8, u16, f16 or f32 with in's channels, without gaps; srgb as in's; linear,
 *                whatever in's values are
 * output         all levels but 0, or the last alone
 * levels         how many, level 0 counted; 0: all
 * filter         AREA or KAISER
 * log_luminance  the levels are of log2 of the picture's luminance, for local exposure: one channel
 *                in out, of f16 or f32. 2^x of a texel x of AREA is a geometric mean. Negative
 *                luminances and NaN count as the floor, infinite colours as the largest finite
 *                float
 * luminance      of log_luminance
 * scratch        optional, as for streams (trommel/stream.h) */
typedef struct tml_image_mips_desc {
    tml_image in;
    tml_buffer out;
    tml_mip_output output;
    uint32_t levels;
    tml_mip_filter filter;
    bool log_luminance;
    tml_image_luminance luminance;
    tml_buffer scratch;
} tml_image_mips_desc;

/* Makes a mip chain; enqueues. Averages are of linear light and of unpremultiplied alpha; levels
 * come from the ones above in float, not from what was rounded to u8. NaN spreads.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, SCRATCH_TOO_SMALL, UNSUPPORTED (sizes
 *         beyond a GPU's: docs/numbers.md). */
TML_API TML_MUST_CHECK tml_status tml_image_mips(tml_context *tml, const tml_image_mips_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
