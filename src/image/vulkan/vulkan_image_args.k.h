/* Arguments of the Vulkan engine's image shaders, and constants that C and GLSL share.
 *
 * A picture is read in units: 16 aligned bytes (48 for three channels) that hold whole pixels or,
 * if the alignment does not allow this, single pixels. */
#define IMAGE_TYPE_U8  0u
#define IMAGE_TYPE_U16 1u
#define IMAGE_TYPE_F16 2u
#define IMAGE_TYPE_F32 3u

/* Options of image_measure.comp. The first three equal TML_MEASURE_.... */
#define IMAGE_WITH_LOG       1u
#define IMAGE_WITH_MEAN      2u
#define IMAGE_WITH_HISTOGRAM 4u
#define IMAGE_WITH_MASK      8u
#define IMAGE_WITH_MAX_RGB   16u
#define IMAGE_IN_QUADS       32u /* units of 16 or 48 bytes */
#define IMAGE_IN_ONE_ROW     64u /* rows have no gaps and are read as one row */
#define IMAGE_IN_TILES       128u /* 256 units are IMAGE_TILE pixels across, as in textures */
#define IMAGE_TILE           32u
/* Offsets in the state words, which begin as 0. Word 0 counts the finished workgroups. The
 * histogram's sums and the other totals follow. */
#define IMAGE_STATE_BINS   1u
#define IMAGE_STATE_TOTALS 513u
#define IMAGE_STATE_WORDS  529u

ARGS_BEGIN(image_measure_args)
ARG_ADDRESS(in_at) /* first pixel, or first byte of its unit; texture: x, y */
ARG_ADDRESS(mask)  /* optional */
ARG_ADDRESS(stats)
ARG_ADDRESS(records) /* MEAN: four floats per workgroup */
ARG_ADDRESS(states)
ARG_ADDRESS(clear)
ARG_UINT(row_bytes_low) /* texture: pixels per row */
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(lead) /* pixels of a row's first unit that lie before the row */
ARG_UINT(row_units) /* IN_TILES: tiles per row */
ARG_UINT(groups)
ARG_UINT(steps) /* steps per invocation, of BATCH units each */
ARG_UINT(clear_count)
ARG_FLOAT(weight_r)
ARG_FLOAT(weight_b)
ARG_FLOAT(least) /* desc.luminance.floor */
ARG_INT(histogram_low)
ARG_UINT(bin_log2)
ARG_UINT(mask_width)
ARG_UINT(mask_height)
ARGS_END(image_measure_args)

/* BATCH on a GPU: units that an invocation loads together. unit: pixels per unit. */
#define IMAGE_BATCH(unit) ((unit) >= 8u ? 1u : (unit) >= 4u ? 2u : 4u)

/* Options of image_tonemap.comp. IMAGE_IN_WORDS: rows of in and out begin at multiples of 4 bytes.
 * IMAGE_IN_QUADS, IMAGE_OUT_QUADS: rows of in or of out begin at multiples of 16. */
#define IMAGE_IN_WORDS  128u
#define IMAGE_OUT_QUADS 256u
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
ARG_UINT(row_pieces) /* pieces of four pixels per row */
ARG_FLOAT(scale)
ARG_FLOAT(white)
ARGS_END(image_tonemap_args)

/* image_mips.comp and image_mips_level.comp read a level: the picture, or floats in scratch, four
 * per texel. They store the next levels from texel first of the chain on. They also store the last
 * of these levels as floats. Options: IMAGE_IN_WORDS and IMAGE_IN_QUADS of the level read,
 * IMAGE_IN_FLOATS, IMAGE_AS_LOG and IMAGE_WITH_MAX_RGB. */
#define IMAGE_IN_FLOATS   512u /* the level read has floats, and rows without gaps */
#define IMAGE_AS_LOG      1024u /* image_log_luminance applies to each texel of the picture */
#define IMAGE_TILE_SIDE   64u  /* side of image_mips.comp's tile, in texels of the level read */
#define IMAGE_TILE_LEVELS 6u   /* halvings from a tile to one texel */
ARGS_BEGIN(image_mips_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(floats)      /* optional: the last level that all workgroups make */
ARG_ADDRESS(more_floats) /* optional: the last level that the last workgroup makes */
ARG_ADDRESS(states)      /* with more_levels: a word that begins as 0 */
ARG_ADDRESS(clear)
ARG_UINT(row_bytes_low)
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(first)
ARG_UINT(levels)      /* levels that all workgroups make */
ARG_UINT(more_levels) /* levels that the last workgroup to finish makes after these */
ARG_UINT(tiles_x)
ARG_UINT(tiles)
ARG_UINT(groups) /* workgroups, which stride over the tiles */
ARG_UINT(clear_count)
ARG_UINT(skip) /* texels of the chain before the first one stored */
ARG_FLOAT(weight_r)
ARG_FLOAT(weight_b)
ARG_FLOAT(least) /* desc.luminance.floor */
ARGS_END(image_mips_args)

/* KAISER: texels of a workgroup's tile along the filtered axis, and across it. */
#define IMAGE_KAISER_SIDE   16u
#define IMAGE_KAISER_ACROSS 64u

/* image_mips_level.comp: many workgroups make one level, or one workgroup makes several levels,
 * with floats and more_floats as a double buffer. */
ARGS_BEGIN(image_mips_level_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(floats) /* optional with one level */
ARG_ADDRESS(more_floats)
ARG_ADDRESS(across) /* several levels, KAISER: floats between the passes along x and y */
ARG_UINT(row_bytes_low)
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(first)
ARG_UINT(levels)
ARG_UINT(filter_kind) /* IMAGE_MIP_... */
ARG_UINT(axis)        /* KAISER: 0 along x, to floats only; 1 along y, from these */
ARG_UINT(skip)        /* as in image_mips_args */
ARG_FLOAT(weight_r)
ARG_FLOAT(weight_b)
ARG_FLOAT(least)
ARGS_END(image_mips_level_args)
