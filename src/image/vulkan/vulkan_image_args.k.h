/* Argument structs of the Vulkan engine's image shaders, and the constants both sides count on.
 *
 * A picture is read in units: pieces of 16 bytes with whole pixels in them (of three channels 48
 * bytes), or where it does not lie so single pixels. */
#define IMAGE_TYPE_U8  0u
#define IMAGE_TYPE_U16 1u
#define IMAGE_TYPE_F16 2u
#define IMAGE_TYPE_F32 3u

/* image_measure.comp. Options: the first three are TML_MEASURE_... */
#define IMAGE_WITH_LOG       1u
#define IMAGE_WITH_MEAN      2u
#define IMAGE_WITH_HISTOGRAM 4u
#define IMAGE_WITH_MASK      8u
#define IMAGE_WITH_MAX_RGB   16u
#define IMAGE_IN_QUADS       32u /* units of 16 or 48 bytes */
#define IMAGE_IN_ONE_ROW     64u /* without gaps: all rows are one */
/* Words that begin as zero: how many workgroups are done, sums of the histogram, and totals of the rest. */
#define IMAGE_STATE_BINS   1u
#define IMAGE_STATE_TOTALS 513u
#define IMAGE_STATE_WORDS  529u

ARGS_BEGIN(image_measure_args)
ARG_ADDRESS(in_at) /* the first pixel, or its unit */
ARG_ADDRESS(mask)  /* optional */
ARG_ADDRESS(stats)
ARG_ADDRESS(records) /* MEAN: four floats of each workgroup */
ARG_ADDRESS(states)
ARG_ADDRESS(clear)
ARG_UINT(row_bytes_low)
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(lead) /* pixels in a row's first unit that are not the row's */
ARG_UINT(row_units)
ARG_UINT(groups)
ARG_UINT(steps) /* that an invocation takes, of BATCH units each */
ARG_UINT(clear_count)
ARG_FLOAT(weight_r)
ARG_FLOAT(weight_b)
ARG_FLOAT(least) /* desc.floor */
ARG_INT(histogram_low)
ARG_UINT(bin_log2)
ARG_UINT(mask_width)
ARG_UINT(mask_height)
ARGS_END(image_measure_args)

/* Units that an invocation takes at once on a GPU, by the pixels in one: the shader's constant BATCH. */
#define IMAGE_BATCH(unit) ((unit) >= 8u ? 1u : (unit) >= 4u ? 2u : 4u)

/* image_tonemap.comp. Options: */
#define IMAGE_IN_WORDS                                                                             \
    128u /* rows of in and out begin with whole words; in's with IMAGE_IN_QUADS, */
#define IMAGE_OUT_QUADS 256u /* out's with this at multiples of 16 bytes */
ARGS_BEGIN(image_tonemap_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(state)   /* optional */
ARG_UINT(in_row_low) /* bytes from row to row */
ARG_UINT(in_row_high)
ARG_UINT(out_row_low)
ARG_UINT(out_row_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(row_pieces) /* of four pixels */
ARG_FLOAT(scale)
ARG_FLOAT(white)
ARGS_END(image_tonemap_args)

/* image_mips.comp and image_mips_level.comp read a level, the picture's or one of floats, four a texel,
 * in scratch. They store the levels after it from texel "first" of the chain on, and the last one's
 * floats too. Options: IMAGE_IN_WORDS and IMAGE_IN_QUADS of the level that is read, and */
#define IMAGE_IN_FLOATS   512u /* which is one of floats, without gaps */
#define IMAGE_TILE_SIDE   64u  /* texels of the level that a workgroup of image_mips.comp reads */
#define IMAGE_TILE_LEVELS 6u   /* until one is left */
ARGS_BEGIN(image_mips_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(floats)      /* optional: for the last level that all make */
ARG_ADDRESS(more_floats) /* optional: of the last level that the last group makes */
ARG_ADDRESS(states)      /* with more_levels: a word that begins as zero */
ARG_ADDRESS(clear)
ARG_UINT(row_bytes_low)
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(first)
ARG_UINT(levels)      /* that all workgroups make */
ARG_UINT(more_levels) /* that the last one makes from those */
ARG_UINT(tiles_x)
ARG_UINT(tiles)
ARG_UINT(groups) /* which take tiles in turn */
ARG_UINT(clear_count)
ARGS_END(image_mips_args)

/* KAISER: a workgroup's tile along the axis, and the other way. */
#define IMAGE_KAISER_SIDE   16u
#define IMAGE_KAISER_ACROSS 32u

/* image_mips_level.comp: one level by many workgroups, or several by one, which then uses floats and
 * more_floats in turn. */
ARGS_BEGIN(image_mips_level_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(floats) /* optional with one level */
ARG_ADDRESS(more_floats)
ARG_ADDRESS(across) /* several levels, KAISER: what is made along x */
ARG_UINT(row_bytes_low)
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(first)
ARG_UINT(levels)
ARG_UINT(filter_kind) /* IMAGE_MIP_... */
ARG_UINT(axis)        /* KAISER: 0 along x, to floats alone; 1 along y, from those */
ARGS_END(image_mips_level_args)
