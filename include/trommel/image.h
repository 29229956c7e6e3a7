/* Image: exact averages of pictures of any size, exposure, tone curves and mip chains.
 *
 * A picture is measured once (tml_image_measure); its exposure follows from what was measured
 * (tml_image_expose), with memory of the frames before; and is applied with a tone curve
 * (tml_image_tonemap). All three enqueue: a frame that meters itself reads nothing back.
 *
 * What is measured
 *   pixels      every one of the region, once: no size is padded, halved or rounded, so one pixel
 *               of N weighs exactly 1/N, wherever it lies
 *   luminance   a weighted sum of red, green and blue (tml_luminance), in float, every product
 *               rounded before it is added. Grey gives itself, bit for bit
 *   policy      a pixel is NaN if one of its colours is, else infinite if one is (or where
 *               colours of different signs, near the largest float, have no finite luminance),
 *               else negative, zero or positive by its luminance, where less than 2^-100 either
 *               way is zero. NaN and infinite pixels are counted and otherwise left out.
 *               Negative and zero ones are in the mean but have no logarithm: they are left out
 *               of the geometric mean and of the histogram, or count as
 *               tml_image_measure_desc.floor
 *   log2        in fixed point, 2^-24 of a stop, by a polynomial of floats all of whose steps
 *               are rounded alike everywhere, and summed in 64-bit integers. Counts, histogram
 *               and geometric mean are therefore equal bit for bit on every engine, for every
 *               number of threads and every order, and within 2^-20 stops of the exact value
 *   mean        and standard deviation: in double on the CPU, in float on a GPU, in a tree of
 *               fixed shape: repeatable on each engine; between engines the mean within (log2 n
 *               + 32) * 2^-24 of the mean magnitude */
#ifndef TROMMEL_IMAGE_H
#define TROMMEL_IMAGE_H

#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pictures ------------------------------------------------------------------------------- */

/* What the numbers of a picture are. A logarithm v stands for the linear value 2^v, e^v or 10^v. */
typedef enum tml_image_values {
    TML_IMAGE_LINEAR,
    TML_IMAGE_LOG2,
    TML_IMAGE_LN,
    TML_IMAGE_LOG10,
} tml_image_values;
TML_API const char *tml_image_values_name(tml_image_values values); /* "log2"; never NULL */

/* Pixels in a buffer, row by row, colours interleaved; or, where a call reads them and says so, a
 * texture of yours, read in place.
 * buffer      a scalar or vector type of u8, u16, f16 or f32; none with a texture
 * channels    1: luminance, taken as it is; 2: luminance and alpha; 3: red, green, blue; 4: and
 *             alpha. Alpha is never measured; pictures with premultiplied alpha are measured as
 *             they are
 * srgb        u8 and u16: the colours are coded as sRGB (IEC 61966-2-1); alpha never is. Without
 *             it values are linear, the largest integer being 1
 * values      what the colours are: linear, or logarithms, as a pass leaves that writes log2 of the
 *             luminance. Logarithms are made linear as they are read, by image_of_log in
 *             src/kernels/image.k.h: the same bits on every engine, within 2^-20 of the exact value
 *             for magnitudes below 2^16, and 2^-17 for all. Minus infinity, and what is below
 *             2^-100, is 0; from 2^128 on it is infinite. Needs f16, f32 or a texture, and no srgb.
 *             Alpha is linear. Outputs are always linear
 * first       where the first pixel begins, in scalars of the buffer's type
 * row_stride  from one row to the next, in scalars; 0: width * channels
 * vulkan, gl  in place of a buffer (trommel/vulkan.h, trommel/gl.h): texel (x, y) is pixel (x, y),
 *             its first channels components its colours as the device decodes them, sRGB and all.
 *             What is computed is bit for bit that of an f32 buffer of what texelFetch gives. first
 *             and row_stride are 0; srgb says only how a mip chain of u8 or u16 is coded */
typedef struct tml_image {
    tml_buffer buffer;
    uint32_t width, height; /* at least 1 */
    uint32_t channels;
    bool srgb;
    tml_image_values values;
    uint64_t first;
    uint64_t row_stride;
    const struct tml_vulkan_texture *vulkan;
    const struct tml_gl_image *gl;
    uint64_t reserved[2]; /* 0 */
} tml_image;

/* Red, green and blue's share of the luminance. */
typedef enum tml_luminance {
    TML_LUMINANCE_REC709,  /* 0.2126 0.7152 0.0722: ITU-R BT.709, sRGB */
    TML_LUMINANCE_REC2020, /* 0.2627 0.6780 0.0593: ITU-R BT.2020 */
    TML_LUMINANCE_ACESCG,  /* 0.2722287 0.6740818 0.0536895: AP1 (S-2014-004) */
    TML_LUMINANCE_MAX_RGB, /* the largest of the three */
    TML_LUMINANCE_CUSTOM,  /* weights of yours, none negative; scaled to a sum of 1 */
} tml_luminance;
TML_API const char *tml_luminance_name(tml_luminance luminance); /* "rec709"; never NULL */

/* ---- measure -------------------------------------------------------------------------------- */

/* Metering patterns, as weights of 0 to 255. */
typedef enum tml_meter {
    TML_METER_AVERAGE, /* every pixel alike */
    TML_METER_CENTRE,  /* a bell around the centre, 1/16 at the middle of the sides */
    TML_METER_SPOT, /* a disc in the centre, whose diameter is a tenth of the picture's diagonal */
    TML_METER_MATRIX, /* 5 x 5 fields, those in the middle heavier */
} tml_meter;
TML_API const char *tml_meter_name(tml_meter meter); /* "centre"; never NULL */
/* Writes a pattern for pictures of width x height into mask, mask_width x mask_height weights (for
 * MATRIX, 5 x 5 is enough; otherwise 128 x 128 is plenty). Errors: INVALID_ARGUMENT (no pattern, or
 * sizes of 0). */
TML_API TML_MUST_CHECK tml_status tml_meter_weights(tml_meter meter, uint32_t width,
                                                    uint32_t height, uint32_t mask_width,
                                                    uint32_t mask_height, uint8_t *mask);

enum { TML_HISTOGRAM_BINS = 256 };

/* What to take. 0: everything. */
enum {
    TML_MEASURE_LOG = 1,       /* geometric mean */
    TML_MEASURE_MEAN = 2,      /* mean, standard deviation */
    TML_MEASURE_HISTOGRAM = 4, /* needed for percentiles and the median */
};

typedef struct tml_image_measure_desc {
    tml_image image;
    struct {
        uint32_t x, y, width, height; /* within the picture; width 0 or height 0: to its end */
    } region;
    tml_luminance luminance;
    float weights[3]; /* CUSTOM */
    uint32_t what;    /* TML_MEASURE_...; 0: all */
    /* Luminances below it count as it in the geometric mean and the histogram: what to do with
     * black. At least 2^-100. 0: what is not positive has no logarithm. */
    float floor;
    /* The histogram's bins are 2^-bin_log2 stops wide; the first begins at log2 luminance
     * histogram_low (-128 to 127) and takes everything below too, the last everything above.
     * bin_log2 0 to 6. Zeroed, both together: 1/8 of a stop from -16 to 16. */
    int32_t histogram_low;
    uint32_t bin_log2;
    /* Optional: u8, mask_width x mask_height weights, laid over the region: pixel x of its width
     * takes column x * mask_width / width, rounded down; rows likewise. Each side at most the
     * region's, whose sides are then at most 65535. */
    tml_buffer mask;
    uint32_t mask_width, mask_height;
    tml_buffer stats;   /* u32, at least TML_IMAGE_STATS_WORDS elements; overwritten */
    tml_buffer scratch; /* optional, as for streams (trommel/stream.h) */
} tml_image_measure_desc;

/* The words of a stats buffer: 64-bit numbers lie low word first. What was not asked for is 0. */
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
    TML_STATS_FLOOR = 28,     /* f32: desc.floor */
    TML_STATS_WHAT = 29,      /* TML_MEASURE_... that were taken */
    TML_STATS_HISTOGRAM = 30, /* u64 x TML_HISTOGRAM_BINS: sums of weights */
    TML_IMAGE_STATS_WORDS = TML_STATS_HISTOGRAM + 2 * TML_HISTOGRAM_BINS,
};

/* Measures. Enqueues only. At most 2^40 pixels. Vulkan: one dispatch for everything; pictures of at
 * most 2^32 - 1 pixels. OpenGL ES: fragments; pictures (there also those that are written) that end
 * before scalar 2^31 of their buffer. Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY,
 * SCRATCH_TOO_SMALL, UNSUPPORTED, CANCELLED. */
TML_API TML_MUST_CHECK tml_status tml_image_measure(tml_context *tml,
                                                    const tml_image_measure_desc *desc);

typedef struct tml_image_stats {
    uint64_t pixels, positive, zero, negative, nan, infinite;
    uint64_t weight, log_weight;
    double min, max;        /* luminance; NaN where no pixel is finite */
    double mean, deviation; /* NaN likewise, or not asked for; a deviation above 2^63.9 is infinite,
                             * since its square is kept in floats */
    double log2_mean;       /* NaN where no pixel has a logarithm */
    /* 2^log2_mean, and never outside [min, max] (raised to the floor), so that of equal pixels it
     * is their value bit for bit. NaN like log2_mean */
    double geometric_mean;
    double histogram_low, bin_width; /* stops */
    uint64_t histogram[TML_HISTOGRAM_BINS];
} tml_image_stats;

/* Reads a stats buffer. Waits. */
TML_API TML_MUST_CHECK tml_status tml_image_stats_read(tml_context *tml, tml_buffer stats,
                                                       tml_image_stats *out);
/* log2 luminance below which that percentage (0 to 100) of the histogram's weight lies, linear
 * within its bin; 50: the median. NaN for an empty histogram. */
TML_API double tml_image_percentile(const tml_image_stats *stats, double percent);

/* ---- expose --------------------------------------------------------------------------------- */

typedef enum tml_expose_by {
    /* the geometric mean; with a clip, that of what lies between the percentiles */
    TML_EXPOSE_MEAN,
    TML_EXPOSE_MEDIAN,
    TML_EXPOSE_PERCENTILE, /* desc.percentile */
    TML_EXPOSE_MANUAL,     /* desc.ev100 */
} tml_expose_by;

/* From measured to exposure. The picture is multiplied by
 *     exposure = key / 2^average * 2^bias
 * where average is a log2 luminance that follows the measured one in time. In photographic
 * units, of a picture in cd/m^2, EV100 = average + log2(100 / 12.5) (ISO 2720's K = 12.5). */
typedef struct tml_image_expose_desc {
    tml_buffer stats; /* from tml_image_measure */
    tml_expose_by by;
    /* MEAN: the percentages of the histogram's weight that are left out below, and from which on
     * above; the bins at the edges count in part. Both 0: no clip, and the sums are used, which are
     * more exact. */
    float clip_low, clip_high;
    float percentile;     /* PERCENTILE: 0 to 100 */
    float ev100;          /* MANUAL */
    float key;            /* the grey that the average becomes; 0: 0.18 */
    float bias;           /* stops; brighter is positive */
    float ev_min, ev_max; /* limits of EV100; both 0: none */
    /* Adaptation. With d the distance to the measured average in stops: beyond one stop d shrinks
     * by speed stops a second, within it by the factor exp(-speed * seconds). The way is followed
     * exactly, so it does not depend on how it is cut into frames. */
    float speed_up,
        speed_down; /* stops a second towards brighter and darker pictures; 0: 3 and 1 */
    float seconds;  /* since the last call; 0 with reset */
    bool reset;     /* a cut, or the first frame: take the average as it is */
    /* In and out: f32, TML_EXPOSURE_WORDS. Need not be initialised before a call with reset. */
    tml_buffer state;
} tml_image_expose_desc;

enum {
    TML_EXPOSURE_SCALE = 0,   /* what the picture is to be multiplied by */
    TML_EXPOSURE_AVERAGE = 1, /* log2, adapted and limited */
    TML_EXPOSURE_TARGET = 2,  /* log2, measured */
    TML_EXPOSURE_EV100 = 3,   /* of AVERAGE */
    TML_EXPOSURE_LOW = 4, /* log2 luminance of the clip's ends; of the histogram's without a clip */
    TML_EXPOSURE_HIGH = 5,
    /* 1, or 0 if no pixel counted: none is positive (see tml_image_measure_desc.floor), or the
     * picture holds logarithms and tml_image.values does not say so. Then SCALE is as below. 1 with
     * MANUAL, for which nothing is measured */
    TML_EXPOSURE_COUNTED = 6,
    TML_EXPOSURE_WORDS = 8,
};

/* Enqueues only. A picture without a pixel that counts leaves the average where it was (with
 * reset: at log2 key, so that the scale is 2^bias), and state word COUNTED at 0: check it before
 * you use such a scale. Errors: INVALID_ARGUMENT, INVALID_HANDLE,
 * UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_image_expose(tml_context *tml,
                                                   const tml_image_expose_desc *desc);

/* ---- tone curves ---------------------------------------------------------------------------- */

/* Each maps scene-linear Rec. 709 colours, 1 being white of the exposed picture, to display-linear
 * ones in 0 to 1. What is below 0 counts as 0. */
typedef enum tml_tone {
    TML_TONE_SRGB,     /* none: clipped */
    TML_TONE_REINHARD, /* L / (1 + L), colours in proportion. Reinhard et al.: Photographic Tone
                        * Reproduction for Digital Images. 2002, eq. 3 */
    TML_TONE_REINHARD_EXTENDED, /* eq. 4: L = white becomes 1 */
    /* Hable: Filmic Tonemapping Operators. 2010 (Uncharted 2), with his exposure bias of 2;
     * white 11.2 */
    TML_TONE_HABLE,
    TML_TONE_ACES_FIT, /* a fit to ACES' RRT and sRGB ODT, not ACES itself. Hill: ACES fitted, in
                        * MJP's BakingLab. 2016 */
    TML_TONE_AGX,      /* Sobotka's AgX, base look, in Wrensch's polynomial form. 2023 */
    TML_TONE_NEUTRAL,  /* Khronos PBR Neutral Tone Mapper. 2024 */
} tml_tone;
TML_API const char *tml_tone_name(tml_tone tone); /* "reinhard-extended"; never NULL */

typedef struct tml_image_tonemap_desc {
    tml_image in; /* 1 or 2 channels are a grey picture */
    /* of the same size. 1, 3 or 4 channels; alpha is copied, or 1; of 1 channel the Rec. 709
     * luminance is written. srgb: coded as sRGB; u8 and u16 are rounded to nearest. Whole
     * pictures in one buffer: in place allowed where both are the same */
    tml_image out;
    tml_buffer state; /* optional: from tml_image_expose */
    float scale;      /* besides; 0: 1 */
    tml_tone tone;
    float white; /* REINHARD_EXTENDED; 0: 4 */
} tml_image_tonemap_desc;

/* Exposes and tone-maps. NaN becomes 0, infinite the largest finite float. Floats are within
 * 2^-16 of the formulas (2^-14 for AGX), integers within one step, on every engine. Enqueues only.
 * Vulkan: one dispatch; pictures of less than 2^32 - 5 pixels.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_image_tonemap(tml_context *tml,
                                                    const tml_image_tonemap_desc *desc);

/* ---- mip chains ----------------------------------------------------------------------------- */

typedef enum tml_mip_filter {
    /* each texel is the mean of the area it covers of the level above, parts of texels weighing
     * in part. At 1 x 1 every texel of the picture weighs 1/N */
    TML_MIP_AREA,
    /* a sinc in a Kaiser window (alpha 4), three texels of the new level to either side, scaled
     * to a sum of 1: sharper, may ring */
    TML_MIP_KAISER,
} tml_mip_filter;

/* Level 0 is the picture; level k + 1 has half of level k's width and height, rounded down, at
 * least 1; the last is 1 x 1. */
TML_API uint32_t tml_mip_levels(uint32_t width, uint32_t height);
/* Width, height and first pixel of a level in a chain that holds levels 1, 2, ... one after the
 * other, without gaps; level 0 is not in it. Level 0's first is 0; a level past the last one begins
 * at the chain's end. */
TML_API void tml_mip_level(uint32_t width, uint32_t height, uint32_t level, uint32_t *level_width,
                           uint32_t *level_height, uint64_t *first);

typedef struct tml_image_mips_desc {
    tml_image in;
    tml_mip_filter filter;
    uint32_t levels; /* how many, level 0 counted; 0: all */
    /* out is the last of these levels alone; there are at least two then. */
    bool last_alone;
    /* The levels are of log2 of the picture's luminance, as local exposure wants them: one channel
     * in out, of f16 or f32. 2^x of a texel x of AREA is a geometric mean. Luminances below floor,
     * negative ones and NaN count as floor, infinite colours as the largest finite float. */
    bool log_luminance;
    tml_luminance luminance; /* of log_luminance, as in tml_image_measure_desc */
    float weights[3];        /* CUSTOM */
    float floor;             /* 2^-100 to 2^127; 0: 2^-16 */
    /* The chain: u8, u16, f16 or f32 with in's channels and no gaps; tml_mip_level tells its size.
     * srgb as in's; linear, whatever in's values are. last_alone: width * height of that level.
     * Averages are of linear light and of unpremultiplied alpha; levels come from the ones above in
     * float, not from what was rounded to u8. NaN spreads; fix the picture first. */
    tml_buffer out;
    tml_buffer scratch; /* optional */
} tml_image_mips_desc;

/* Enqueues only. Vulkan: AREA makes up to twelve levels in one dispatch, as long as sizes are even;
 * pictures of at most 2^31 pixels.
 * Errors: INVALID_ARGUMENT, INVALID_HANDLE, OUT_OF_MEMORY, SCRATCH_TOO_SMALL, UNSUPPORTED. */
TML_API TML_MUST_CHECK tml_status tml_image_mips(tml_context *tml, const tml_image_mips_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
