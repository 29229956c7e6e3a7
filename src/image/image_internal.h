/* Image: the plans that engines get. src/image checks descs and replaces their zeros by defaults;
 * stream_run_op (stream/stream_internal.h) hands the plans to the engine's part: supports(),
 * scratch, run().
 *
 * What every engine must do, with the formulas of src/kernels/image*.k.h and no others:
 *
 *   measure  image_measure_plan. Each pixel once: decode its colours (tml_half_to_float,
 *            image_from_u8, _u16; an f32 as it is); of 1 or 2 channels the first alone largest =
 *            the largest image_magnitude of its colours, alpha not counted each colour through
 *            image_colour; luminance by image_luminance, or image_luminance_max if max_rgb, or with
 *            1 or 2 channels the colour itself kind = image_kind(largest, luminance). A pixel with
 *            weight 0 (mask) is left out of all that follows. Otherwise PIXELS + 1, the count of
 *            its kind + 1, and if it is finite (kind below IMAGE_NAN): WEIGHT + weight, and
 *            luminance goes into MIN, MAX, mean and deviation it has a logarithm if it is finite
 *            and max(luminance, floor) > 0: stops = image_log2_fixed(max(luminance, floor));
 *            LOG_WEIGHT + weight, LOG_WHOLE + weight * image_log2_whole(stops), LOG_FRACTION +
 *            weight * image_log2_fraction(stops), bin image_bin(...) of the histogram + weight
 *            Counts, WEIGHT, MIN and MAX are always computed; LOG..., MEAN and DEVIATION, and the
 *            histogram only where what has their bit, else their words are 0. Words HISTOGRAM_LOW,
 *            BIN_LOG2, FLOOR and WHAT are the plan's. All integers are equal bit for bit on every
 *            engine, and so are MIN and MAX (a zero is +0). Mean and deviation are sums of a fixed
 *            shape and so repeatable; of equal luminances the mean is that luminance bit for bit
 *            and the deviation 0 (image_moments_join keeps that, for which tiles must begin with
 *            (weight, value, 0)); their error is within (log2 n + 32) * 2^-24 of the mean
 *            magnitude. No 64-bit sum overflows: pixels * weight <= 2^40 is checked before. A
 *            product weight * fraction is below 2^32, so an engine without 64 bits adds 32-bit
 *            products with carry; LOG_WHOLE is two's complement.
 *   expose   image_expose_plan. image_expose of image_expose.k.h, once.
 *   tonemap  image_tonemap_plan. Each pixel: decode (image_from_...), image_exposed
 *            (image_tone.k.h) with scale times the state's word TML_EXPOSURE_SCALE, image_tone,
 *            encode (image_to_integer, tml_float_to_half). in and out may be the same memory, so a
 *            pixel is read before it is written.
 *   mips     image_mips_plan. Level by level, or several at once: floats between the levels, alpha
 *            linear whatever srgb says, encoded as above. With is_log a decoded texel of the
 *            picture (of 1 or 2 channels the first, three times) becomes one number by
 *            image_log_luminance. image_mips.k.h says which texels with which weights.
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

/* A checked picture: element (x, y, channel) is scalar
 *     first + y * row_stride + x * channels + channel
 * of the buffer, whose scalars are of this type. The buffer holds all of them. With a texture, of
 * which measure and mips may read, it is component channel of texel (x, y) and of type TML_F32;
 * then row_stride is width * channels. */
typedef struct image_view {
    tml_buffer buffer;
    const void *texture; /* NULL: the buffer. Else what check_texture of the engine's part gave */
    tml_type type;       /* TML_U8, TML_U16, TML_F16 or TML_F32 */
    uint32_t width, height, channels;
    bool srgb;       /* true only for u8 and u16 */
    uint32_t values; /* tml_image_values; logarithms only of TML_F16 and TML_F32 */
    uint64_t first;  /* scalar of the first pixel; of a region: the region's */
    uint64_t row_stride;
    uint32_t x, y; /* texel of the first pixel */
} image_view;

/* Checks the texture that stands in image in place of a buffer, and sets view->texture.
 * *components: of a texel. */
typedef tml_status image_check_texture(tml_context *tml, const char *call, const char *field,
                                       const tml_image *image, image_view *view,
                                       uint32_t *components);
image_check_texture vk_image_check_texture, gl_image_check_texture;

/* The image operations of an engine, by tml_engine.part; NULL: not supported. */
typedef struct image_parts {
    const tml_engine_op *measure, *expose, *tonemap, *mips;
    image_check_texture *check_texture; /* NULL: no textures */
} image_parts;
extern const image_parts image_parts_of[PART_COUNT];

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
    uint32_t filter;   /* tml_mip_filter; IMAGE_MIP_... of image_mips.k.h */
    uint32_t levels;   /* level 0 included; at least 2 */
    bool is_last;      /* out has the last level alone */
    uint32_t channels; /* of the levels: in's, or with is_log 1 */
    bool is_log;       /* each texel of in becomes image_log_luminance */
    bool max_rgb;
    float weight_r, weight_b, floor;
    tml_buffer out;
    tml_type out_type; /* scalar */
    bool out_srgb;     /* only if out_type is u8 or u16 */
} image_mips_plan;

/* ---- between the files of src/image ---------------------------------------------------------- */

/* Checks a picture of a desc, named field in messages, and replaces its zeros by defaults: one that
 * is in a buffer, and one that may be a texture. */
tml_status image_check_view(tml_context *tml, const char *call, const char *field,
                            const tml_image *image, image_view *out);
tml_status image_check_source(tml_context *tml, const char *call, const char *field,
                              const tml_image *image, image_view *out);
/* Checks a buffer of pixels. *scalar, *scalars: the type and number of its scalars. */
tml_status image_check_buffer(tml_context *tml, const char *call, const char *field,
                              tml_buffer buffer, tml_type *scalar, uint64_t *scalars);
/* Checks the weights of a luminance, by which of tml_luminance, and the floor of logarithms. */
tml_status image_check_luminance(tml_context *tml, const char *call,
                                 const tml_image_luminance *desc, bool *max_rgb, float *weight_r,
                                 float *weight_b);
tml_status image_check_floor(tml_context *tml, const char *call, float floor, const char *without);
/* Place of a level's first texel in a plan's out. */
uint64_t image_mips_first(const image_mips_plan *plan, uint32_t level);
tml_status image_check_state(tml_context *tml, const char *call, tml_buffer state);
/* Do the byte ranges from first to last scalar of two checked views overlap? Are the views the
 * same? */
bool image_views_overlap(const tml_context *tml, const image_view *a, const image_view *b);
bool image_views_same(const tml_context *tml, const image_view *a, const image_view *b);

#endif
