/* Image: the plans that engines get. src/image checks descs and resolves their zeros into these, and
 * stream_run_op (stream/stream_internal.h) takes them to the engine's part: supports(), scratch, run().
 *
 * What every engine must do, with the formulas of src/kernels/image*.k.h and no others:
 *
 *   measure  image_measure_plan. Each pixel once:
 *       decode its colours (tml_half_to_float, image_from_u8, _u16; an f32 as it is), 1 or 2 channels:
 *           the first
 *       largest = the largest image_magnitude of its colours (of what counts: not alpha)
 *       each colour through image_colour; luminance by image_luminance, or image_luminance_max where
 *           max_rgb, or with 1 or 2 channels the colour itself
 *       kind = image_kind(largest, luminance). With a weight of 0 (mask) the pixel is left out of all
 *           that follows. Else PIXELS + 1, count of its kind + 1, and if it is finite (kind below
 *           IMAGE_NAN): WEIGHT + weight, MIN and MAX of luminance, mean and deviation
 *       it has a logarithm if it is finite and max(luminance, floor) > 0:
 *           stops = image_log2_fixed(max(luminance, floor));
 *           LOG_WEIGHT + weight, LOG_WHOLE + weight * image_log2_whole(stops), LOG_FRACTION + weight *
 *           image_log2_fraction(stops), bin image_bin(...) of the histogram + weight
 *     Counts, WEIGHT, MIN and MAX are always taken; LOG..., MEAN and DEVIATION, the histogram only if
 *     what has their bit, else their words are 0. Words HISTOGRAM_LOW, BIN_LOG2, FLOOR and WHAT are the
 *     plan's. All integers are equal bit for bit on every engine; MIN and MAX too (a zero is +0). Mean
 *     and deviation: sums of a fixed shape, repeatable; of equal luminances the mean is theirs bit for
 *     bit and the deviation 0 (image_moments_join keeps that, for which tiles must begin with (weight,
 *     value, 0)); within (log2 n + 32) * 2^-24 of the mean magnitude.
 *     The widest sums: pixels * weight <= 2^40, so 64-bit sums never overflow (checked before).
 *     Two parts of 32 bits: weight * fraction < 2^32, so of a product nothing is lost, and carries go
 *     up; LOG_WHOLE is two's complement.
 *   expose   image_expose_plan. image_expose of image_expose.k.h, once.
 *   tonemap  image_tonemap_plan. Each pixel: decode (image_from_...), image_exposed
 *       (image_tone.k.h) with scale * state's word TML_EXPOSURE_SCALE, image_tone, encode
 *       (image_to_integer, image_to_f16). In place where in and out are the same memory: read a pixel
 *       before it is written.
 *   mips     image_mips_plan. Level by level, or several at once: floats between the levels,
 *       alpha as it is (srgb does not concern it), encode as above. image_mips.k.h says which texels
 *       and how much of each.
 *
 * Scratch: scratch_size(plan), as for the stream operations. Nothing else is
 * allocated after the first call of a kind. */
#ifndef TML_IMAGE_INTERNAL_H
#define TML_IMAGE_INTERNAL_H

#include <trommel/image.h>

#include "core/core_internal.h"

#include "kernels/kernel.h"

#include "kernels/image.k.h"

#include "kernels/image_expose.k.h"

#include "kernels/kernel_end.h"

/* What an engine does for pictures, by tml_engine.part; NULL: it does not. */
typedef struct image_parts {
    const tml_engine_op *measure, *expose, *tonemap, *mips;
} image_parts;
extern const image_parts image_parts_of[PART_COUNT];

/* Pixels as engines take them: element (x, y, channel) is scalar
 *     first + y * row_stride + x * channels + channel
 * of the buffer, whose scalars are of this type. Checked: the buffer holds them all. */
typedef struct image_view {
    tml_buffer buffer;
    tml_type type; /* TML_U8, TML_U16, TML_F16 or TML_F32 */
    uint32_t width, height, channels;
    bool srgb;      /* and type is u8 or u16 */
    uint64_t first; /* of a measured region: its own first pixel */
    uint64_t row_stride;
} image_view;

typedef struct image_measure_plan {
    image_view in;            /* the region */
    bool max_rgb;             /* else by weights */
    float weight_r, weight_b; /* image_luminance */
    uint32_t what;            /* never 0 */
    float floor;              /* 0 or normal and positive */
    int32_t histogram_low;    /* -128 to 127 */
    uint32_t bin_log2;        /* 0 to 6 */
    tml_buffer mask;          /* none: all weights are 1. Else the region's sides are below 65536 */
    uint32_t mask_width, mask_height;
    tml_buffer stats;
} image_measure_plan;

typedef struct image_expose_plan {
    image_expose_settings settings;
    tml_buffer stats; /* none: IMAGE_BY_MANUAL */
    tml_buffer state;
} image_expose_plan;

typedef struct image_tonemap_plan {
    image_view in, out; /* out.channels 1, 3 or 4 */
    tml_buffer state;   /* none: scale alone */
    float scale;
    uint32_t tone; /* tml_tone; IMAGE_TONE_... of image_tone.k.h */
    float white;
} image_tonemap_plan;

typedef struct image_mips_plan {
    image_view in;
    uint32_t filter; /* tml_mip_filter; IMAGE_MIP_... of image_mips.k.h */
    uint32_t levels; /* with level 0: at least 2 */
    tml_buffer out;
    tml_type out_type; /* scalar */
    bool out_srgb;     /* in.srgb, and out_type is u8 or u16 */
} image_mips_plan;

/* ---- between the files of src/image ----------------------------------------------------------- */

/* Checks a picture of a desc, named field in messages, and resolves its zeros. */
tml_status image_check_view(tml_context *tml, const char *call, const char *field,
                            const tml_image *image, image_view *out);
/* Checks a buffer of pixels; its scalars' type and how many there are. */
tml_status image_check_buffer(tml_context *tml, const char *call, const char *field,
                              tml_buffer buffer, tml_type *scalar, uint64_t *scalars);
tml_status image_check_state(tml_context *tml, const char *call, tml_buffer state);
/* Do two checked views have bytes between their first and last scalars in common? Are they the same? */
bool image_views_overlap(const tml_context *tml, const image_view *a, const image_view *b);
bool image_views_same(const tml_context *tml, const image_view *a, const image_view *b);

#endif
