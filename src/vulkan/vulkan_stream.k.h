/* Arguments of the Vulkan engine's shaders for reduce, scan and segments, and the constants that
 * both sides use. Device addresses come first in each struct. An address marked "optional" may be
 * 0. */

/* ---- folds ----------------------------------------------------------------------------------- */

/* A workgroup's tile: 8 times 256 pieces of 16 bytes. FOLD_FAN: the number of tiles whose results
 * are folded together in the second step. gpu/fold_layout.k.h lists the folds. */
#define FOLD_TILE_LOG2 15u
#define FOLD_FAN       256u
/* Vectors: pieces in each of the eight rows of a tile, so that a row holds whole vectors. */
#define FOLD_ROW(components) ((components) == 3u ? 255u : 256u)

/* reduce.comp: one pass, or the pass's tiles from first_tile on. A partial result has 16 bytes: a
 * 64-bit value and a position. */
ARGS_BEGIN(reduce_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(length_at) /* optional */
ARG_ADDRESS(whole)     /* optional: u64, the stream's length */
ARG_ADDRESS(partials)  /* one per tile */
ARG_ADDRESS(fans)      /* one per FOLD_FAN tiles */
ARG_ADDRESS(counters)  /* zeroed: one for the fans, and one per fan */
ARG_ADDRESS(clear)
ARG_ADDRESS(running) /* fold so far: read by all passes but the first, stored by all but the last */
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(whole_low)
ARG_UINT(whole_high)
ARG_UINT(first_low) /* index of the pass's first element */
ARG_UINT(first_high)
ARG_UINT(is_first)
ARG_UINT(is_last)
ARG_UINT(each)       /* tiles that a workgroup folds: a power of two, at most FOLD_FAN */
ARG_UINT(first_tile) /* of the dispatch: a multiple of each */
ARGS_END(reduce_args)

/* ---- scans ----------------------------------------------------------------------------------- */

/* Elements in a workgroup's tile, with sums of 4 and of 8 bytes. */
#define SCAN_TILE_OF_4 8192u
#define SCAN_TILE_OF_8 4096u

/* Modes of scan_body.glsl. A short stream: one workgroup. A single pass by decoupled look-back. Or
 * reduce, then scan: each tile's sum (SUMS), one workgroup's scan of the sums (TILES), each tile's
 * scan from its prefix (ADD). */
#define SCAN_ALL      0u
#define SCAN_ONE_PASS 1u
#define SCAN_SUMS     2u
#define SCAN_TILES    3u
#define SCAN_ADD      4u

/* Specialization constants of the shaders that scan tiles (scan_tile.glsl), including those of
 * tml_scan with segments. */
#define SCAN_SPEC_MODE      0u
#define SCAN_SPEC_IN_LOG2   1u /* log2 of an input element's bytes */
#define SCAN_SPEC_SIGNED    2u /* the input's elements are signed */
#define SCAN_SPEC_INCLUSIVE 3u
#define SCAN_SPEC_COUNTS    4u /* scan_body.glsl */
#define SCAN_SPEC_WIDE      5u /* scan_segments.glsl */
#define SCAN_SPECS          6u

ARGS_BEGIN(scan_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(length_at) /* optional */
ARG_ADDRESS(base)      /* optional: the sum, or the code, to begin with */
ARG_ADDRESS(start)     /* optional: a number of out's type to begin with, without base */
ARG_ADDRESS(total)     /* optional: gets the sum of all, with the prefix */
ARG_ADDRESS(next_base) /* optional: gets the same */
ARG_ADDRESS(states) /* ONE_PASS: zeroed: STATES_FIRST words, 2 or 3 per tile; else a sum per tile */
ARG_ADDRESS(clear)
ARG_ADDRESS(stalled) /* ONE_PASS: vk_states.stalled */
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(flip_low) /* extremes: as in tml_scan_resolved */
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARG_UINT(least_low)
ARG_UINT(least_high)
ARGS_END(scan_args)

/* ---- segments -------------------------------------------------------------------------------- */

/* Steps of a segmented scan of floats, one dispatch each. One invocation scans a short segment, one
 * subgroup a middling one, one workgroup a tile of a long one.
 *   FIND      lists middling and long segments, counts the tiles of long ones, reports decreasing
 *             offsets, after which the other steps do nothing
 *   SHORT     the short segments
 *   MIDDLING  the middling segments
 *   TILES     the aggregate of each tile
 *   LONG      exclusive scan of a long segment's aggregates
 *   ADD       each tile from its exclusive prefix */
#define SEGMENTS_FIND     0u
#define SEGMENTS_SHORT    1u
#define SEGMENTS_MIDDLING 2u
#define SEGMENTS_TILES    3u
#define SEGMENTS_LONG     4u
#define SEGMENTS_ADD      5u

/* Words of the counters. */
#define SEGMENTS_MIDDLING_COUNT 0u
#define SEGMENTS_LONG_COUNT     1u
#define SEGMENTS_TILE_COUNT     2u /* two words */
#define SEGMENTS_FALLING        4u /* 1: offsets decrease */
#define SEGMENTS_COUNTERS       64u

#define SEGMENTS_WIDE   1u /* offsets are u64 */
#define SEGMENTS_STARTS 2u /* they are starts: the end of the last segment is not among them */

/* Most workgroups of a dispatch over a list, whose length only the device knows. */
#define SEGMENTS_GROUPS 4096u

/* segments_reduce.glsl. Each workgroup has a range of 1 << each_log2 positions, at most the number
 * of a tile's elements. */
ARGS_BEGIN(segments_reduce_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(offsets)
ARG_ADDRESS(out_at)
ARG_ADDRESS(results)  /* four of 16 bytes for each range */
ARG_ADDRESS(counters) /* zeroed: three for each range */
ARG_ADDRESS(clear)
ARG_ADDRESS(count_at) /* optional: u32, segments, up to the bound */
ARG_ADDRESS(end_at)   /* optional: u32, SEGMENTS_STARTS: where the last one ends, up to elements */
ARG_UINT(segments)
ARG_UINT(elements)
ARG_UINT(wide)       /* SEGMENTS_WIDE and SEGMENTS_STARTS */
ARG_UINT(pass_tiles) /* in a pass of tml_reduce */
ARG_UINT(each_log2)
ARG_UINT(groups)
ARG_UINT(clear_count)
ARGS_END(segments_reduce_args)

ARGS_BEGIN(segments_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(offsets)
ARG_ADDRESS(out_at)
ARG_ADDRESS(counters)
ARG_ADDRESS(middling) /* indices of segments */
ARG_ADDRESS(longs)    /* likewise */
ARG_ADDRESS(tiles)    /* tiles of each long segment; after the scan, tiles before it */
ARG_ADDRESS(results)  /* a sum per tile */
ARG_UINT(segments)
ARG_UINT(elements)
ARG_UINT(wide) /* SEGMENTS_WIDE */
ARG_UINT(middling_room)
ARG_UINT(long_room)
ARG_UINT(pass_tiles) /* in a pass of tml_scan */
ARGS_END(segments_args)

/* scan_segments.glsl: tml_scan of segments of integers, in the modes of tml_scan. SCAN_TILES: an
 * inclusive segmented scan of the carry-outs. */
ARGS_BEGIN(scan_segments_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(offsets)
ARG_ADDRESS(out_at)
ARG_ADDRESS(states) /* ONE_PASS: as in scan_args; otherwise, a carry-out per tile */
ARG_ADDRESS(heads)  /* SUMS, TILES: u32 per tile, 1: it has a head flag */
ARG_ADDRESS(clear)
ARG_ADDRESS(stalled)
ARG_UINT(segments)
ARG_UINT(elements) /* not 0 */
ARG_UINT(clear_count)
ARGS_END(scan_segments_args)
