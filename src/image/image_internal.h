/* The plans of image operations, for the engines' parts. src/image checks descs and replaces their
 * zeros by defaults. stream_run_op (stream/stream_internal.h) passes the plan to the engine's part:
 * supports(), scratch, run().
 *
 * Each engine does the following, with the formulas of src/kernels/image*.k.h only:
 *
 *   measure  image_measure_plan. For each pixel, once:
 *            - Decode its colours: tml_half_to_float, image_from_u8, _u16; an f32 is used as it is.
 *              With 1 or 2 channels, the first is the only colour. Alpha is no colour.
 *            - largest = the largest image_magnitude of the colours; then image_colour of each.
 *            - luminance = image_luminance; image_luminance_max if max_rgb; or the only colour.
 *            - kind = image_kind(largest, luminance).
 *            - Weight 0 (mask): skip the pixel. Otherwise PIXELS += 1, count of its kind += 1.
 *            - Finite (kind < IMAGE_NAN): WEIGHT += weight; luminance goes into MIN, MAX, mean and
 *              deviation.
 *            - Finite, and x = max(luminance, floor) > 0: stops = image_log2_fixed(x),
 *              LOG_WEIGHT += weight, LOG_WHOLE += weight * image_log2_whole(stops),
 *              LOG_FRACTION += weight * image_log2_fraction(stops), histogram bin image_bin(...)
 *              += weight.
 *            Counts, WEIGHT, MIN and MAX are always computed; LOG_..., MEAN and DEVIATION, and the
 *            histogram only if what has their bit, otherwise their words are 0. HISTOGRAM_LOW,
 *            BIN_LOG2, FLOOR and WHAT are the plan's.
 *            All integers, MIN and MAX (a zero is +0) are equal bit for bit on every engine. Mean
 *            and deviation are sums of a fixed shape, and so repeatable; their error is within
 *            (log2 n + 32) * 2^-24 of the mean magnitude. The mean of equal luminances is that
 *            luminance bit for bit, and their deviation is 0: image_moments_join preserves this if
 *            tiles begin with (weight, value, 0).
 *            No 64-bit sum overflows, because pixels * weight <= 2^40 is checked before. A product
 *            weight * fraction is below 2^32, so an engine without 64 bits adds 32-bit products
 *            with carry. LOG_WHOLE is two's complement.
 *   expose   image_expose_plan. image_expose of image_expose.k.h, once.
 *   tonemap  image_tonemap_plan. For each pixel: decode (image_from_...), image_exposed
 *            (image_tone.k.h) with scale times the state's word TML_EXPOSURE_SCALE, image_tone,
 *            encode (image_to_integer, tml_float_to_half). in and out may be the same memory, so a
 *            pixel is read before it is written.
 *   mips     image_mips_plan. Level by level, or several at once; image_mips.k.h defines the texels
 *            and their weights. Levels pass on floats, and are encoded as above; alpha is linear
 *            even if srgb. If is_log, image_log_luminance turns each decoded texel of the picture
 *            into one number; of 1 or 2 channels it gets the first, three times.
 *
 * Scratch: scratch_size(plan), as for the stream operations. Nothing else is allocated after the
 * first call of a kind. */
#ifndef TML_IMAGE_INTERNAL_H
#define TML_IMAGE_INTERNAL_H

#include <trommel/image.h>

#include "core/core_internal.h"

#include "kernels/kernel.h"

#include "kernels/image.k.h"

#include "kernels/image_expose.k.h"

#include "kernels/kernel_end.h"

/* A checked picture. Element (x, y, channel) is scalar
 *     first + y * row_stride + x * channels + channel
 * of the buffer, whose scalars have this type and which holds all elements. With a texture, which
 * measure and mips may read, it is component channel of texel (x, y); then type is TML_F32 and
 * row_stride is width * channels. */
typedef struct image_view {
    tml_buffer buffer;
    const void *texture; /* NULL: the buffer. Otherwise set by check_texture of the part */
    tml_type type;       /* TML_U8, TML_U16, TML_F16 or TML_F32 */
    uint32_t width, height, channels;
    bool srgb;       /* true only for u8 and u16 */
    uint32_t values; /* tml_image_values; logarithms only for TML_F16 and TML_F32 */
    uint64_t first;  /* scalar of the first pixel; with a region, of the region's */
    uint64_t row_stride;
    uint32_t x, y; /* texel of the first pixel */
} image_view;

/* Checks the texture that image has in place of a buffer, and sets view->texture. *components: the
 * number of a texel's components. */
typedef tml_status image_check_texture(tml_context *tml, const char *call, const char *field,
                                       const tml_image *image, image_view *view,
                                       uint32_t *components);
image_check_texture vk_image_check_texture, gl_image_check_texture;

/* The image operations of an engine, by tml_engine.part. NULL: unsupported. */
typedef struct image_parts {
    const tml_engine_op *measure, *expose, *tonemap, *mips;
    image_check_texture *check_texture; /* NULL: textures are unsupported */
} image_parts;
extern const image_parts image_parts_of[PART_COUNT];

typedef struct image_measure_plan {
    image_view in;            /* the region */
    bool max_rgb;             /* otherwise by weights */
    float weight_r, weight_b; /* of image_luminance */
    uint32_t what;            /* never 0 */
    float floor;              /* 0, or normal and positive */
    int32_t histogram_low;    /* -128 to 127 */
    uint32_t bin_log2;        /* 0 to 6 */
    tml_buffer mask;          /* none: weights are 1; else sides are below 65536 */
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
    tml_buffer state;   /* none: only scale */
    float scale;
    uint32_t tone; /* tml_tone; IMAGE_TONE_... of image_tone.k.h */
    float white;
} image_tonemap_plan;

typedef struct image_mips_plan {
    image_view in;
    uint32_t filter;   /* tml_mip_filter; IMAGE_MIP_... of image_mips.k.h */
    uint32_t levels;   /* including level 0; at least 2 */
    bool is_last;      /* out has only the last level */
    uint32_t channels; /* channels of the levels: 1 if is_log, otherwise in's */
    bool is_log;       /* image_log_luminance applies to each texel of in */
    bool max_rgb;
    float weight_r, weight_b, floor;
    tml_buffer out;
    tml_type out_type; /* scalar */
    bool out_srgb;     /* only if out_type is u8 or u16 */
} image_mips_plan;

/* ---- between the files of src/image ---------------------------------------------------------- */

/* Checks a picture of a desc and replaces its zeros by defaults. image_check_source accepts
 * textures, too. field: the picture's name in messages. */
tml_status image_check_view(tml_context *tml, const char *call, const char *field,
                            const tml_image *image, image_view *out);
tml_status image_check_source(tml_context *tml, const char *call, const char *field,
                              const tml_image *image, image_view *out);
/* Checks a buffer of pixels. *scalar: the type of its scalars. *scalars: their number. */
tml_status image_check_buffer(tml_context *tml, const char *call, const char *field,
                              tml_buffer buffer, tml_type *scalar, uint64_t *scalars);
/* Checks a luminance's weights, given by desc->kind. */
tml_status image_check_luminance(tml_context *tml, const char *call,
                                 const tml_image_luminance *desc, bool *max_rgb, float *weight_r,
                                 float *weight_b);
/* The rows of a luminance in the table of a desc. without: what a floor of 0 is, in words. */
#define IMAGE_LUMINANCE_ROWS(type, without)                                                        \
    DESC_ROW(type, luminance.kind, DESC_ENUM, .of = "tml_luminance",                               \
             .most = TML_LUMINANCE_CUSTOM),                                                        \
        DESC_ROW(type, luminance.floor, DESC_F32, .is_optional = true,                             \
                 .range =                                                                          \
                     &(const desc_range){0x1p-100, 0x1p127, "2^-100 to 2^127, or 0 for " without})
/* Returns the index of a level's first texel in the plan's out. */
uint64_t image_mips_first(const image_mips_plan *plan, uint32_t level);
/* image_views_overlap: whether two checked views overlap as byte ranges, from first to last scalar.
 * image_views_same: whether they are the same pixels. */
bool image_views_overlap(const tml_context *tml, const image_view *a, const image_view *b);
bool image_views_same(const tml_context *tml, const image_view *a, const image_view *b);

#endif
