/* Argument structs of the Vulkan engine's image shaders, and constants that C and GLSL share.
 *
 * A picture is read in units: 16 aligned bytes (48 for three channels) that hold whole pixels, or
 * where alignment does not allow that, single pixels. */
#define IMAGE_TYPE_U8  0u
#define IMAGE_TYPE_U16 1u
#define IMAGE_TYPE_F16 2u
#define IMAGE_TYPE_F32 3u

/* Options of image_measure.comp; the first three equal TML_MEASURE_... */
#define IMAGE_WITH_LOG       1u
#define IMAGE_WITH_MEAN      2u
#define IMAGE_WITH_HISTOGRAM 4u
#define IMAGE_WITH_MASK      8u
#define IMAGE_WITH_MAX_RGB   16u
#define IMAGE_IN_QUADS       32u /* units of 16 or 48 bytes */
#define IMAGE_IN_ONE_ROW     64u /* rows have no gaps and are treated as one */
#define IMAGE_IN_TILES       128u /* 256 units are IMAGE_TILE pixels across, as in textures */
#define IMAGE_TILE           32u
/* Offsets in the state words, which begin as 0. Word 0 counts the workgroups that are done; the
 * histogram's sums and the other totals follow. */
#define IMAGE_STATE_BINS   1u
#define IMAGE_STATE_TOTALS 513u
#define IMAGE_STATE_WORDS  529u

ARGS_BEGIN(image_measure_args)
ARG_ADDRESS(in_at) /* the first pixel, or the first byte of its unit; of a texture: x, y */
ARG_ADDRESS(mask)  /* optional */
ARG_ADDRESS(stats)
ARG_ADDRESS(records) /* MEAN: four floats a workgroup */
ARG_ADDRESS(states)
ARG_ADDRESS(clear)
ARG_UINT(row_bytes_low) /* of a texture: pixels of a row */
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(lead) /* pixels of a row's first unit before the row begins */
ARG_UINT(row_units) /* IN_TILES: tiles of a row */
ARG_UINT(groups)
ARG_UINT(steps) /* steps of an invocation, of BATCH units each */
ARG_UINT(clear_count)
ARG_FLOAT(weight_r)
ARG_FLOAT(weight_b)
ARG_FLOAT(least) /* desc.floor */
ARG_INT(histogram_low)
ARG_UINT(bin_log2)
ARG_UINT(mask_width)
ARG_UINT(mask_height)
ARGS_END(image_measure_args)

/* The shader's constant BATCH on a GPU: units that an invocation loads together, from the pixels of
 * a unit. */
#define IMAGE_BATCH(unit) ((unit) >= 8u ? 1u : (unit) >= 4u ? 2u : 4u)

/* Options of image_tonemap.comp. IMAGE_IN_WORDS: rows of in and out begin at multiples of 4 bytes.
 * IMAGE_IN_QUADS: those of in at multiples of 16. IMAGE_OUT_QUADS: those of out likewise. */
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
ARG_UINT(row_pieces) /* pieces of four pixels in a row */
ARG_FLOAT(scale)
ARG_FLOAT(white)
ARGS_END(image_tonemap_args)

/* image_mips.comp and image_mips_level.comp read a level: the picture, or floats in scratch, four a
 * texel. They store the next levels from texel first of the chain on, and the last of them also as
 * floats. Options: IMAGE_IN_WORDS and IMAGE_IN_QUADS of the level that is read, IMAGE_IN_FLOATS,
 * IMAGE_AS_LOG and IMAGE_WITH_MAX_RGB. */
#define IMAGE_IN_FLOATS   512u /* the level that is read has floats, and rows without gaps */
#define IMAGE_AS_LOG      1024u /* a texel of the picture is image_log_luminance of its colours */
#define IMAGE_TILE_SIDE   64u  /* side of a tile of image_mips.comp, in texels of the level read */
#define IMAGE_TILE_LEVELS 6u   /* halvings of a tile until one texel is left */
ARGS_BEGIN(image_mips_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(floats)      /* optional: for the last level that all workgroups make */
ARG_ADDRESS(more_floats) /* optional: for the last level that the last workgroup makes */
ARG_ADDRESS(states)      /* with more_levels: a word that begins as zero */
ARG_ADDRESS(clear)
ARG_UINT(row_bytes_low)
ARG_UINT(row_bytes_high)
ARG_UINT(width)
ARG_UINT(height)
ARG_UINT(first)
ARG_UINT(levels)      /* levels that all workgroups make */
ARG_UINT(more_levels) /* levels that the last workgroup to finish makes from those */
ARG_UINT(tiles_x)
ARG_UINT(tiles)
ARG_UINT(groups) /* workgroups, which stride over the tiles */
ARG_UINT(clear_count)
ARG_UINT(skip) /* texels of the chain that are not stored, before those that are */
ARG_FLOAT(weight_r)
ARG_FLOAT(weight_b)
ARG_FLOAT(least) /* desc.floor */
ARGS_END(image_mips_args)

/* KAISER: texels of a workgroup's tile along the filtered axis, and across it. */
#define IMAGE_KAISER_SIDE   16u
#define IMAGE_KAISER_ACROSS 64u

/* image_mips_level.comp: one level by many workgroups, or several levels by one workgroup, with
 * floats and more_floats as a double buffer. */
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
ARG_UINT(axis)        /* KAISER: 0 along x, to floats only; 1 along y, from those */
ARG_UINT(skip)        /* as above */
ARG_FLOAT(weight_r)
ARG_FLOAT(weight_b)
ARG_FLOAT(least)
ARGS_END(image_mips_level_args)
