/* Arguments of the Vulkan engine's shaders for reduce, scan and segments, and the constants both
 * sides count on. Addresses come first in each; a zero address means "none" where the comment says
 * "optional". */

/* ---- scans of counts ------------------------------------------------------------------------- */

/* Counts that one workgroup scans at a time. */
#define COUNTS_TILE 8192u

/* What scan_counts.comp does: all counts by one workgroup; the sum of each tile to sums; or each tile
 * scanned in place, from the sum before it in sums. */
#define COUNTS_ALL  0u
#define COUNTS_SUMS 1u
#define COUNTS_ADD  2u

ARGS_BEGIN(scan_counts_args)
ARG_ADDRESS(values) /* u32, 16-byte aligned */
ARG_ADDRESS(sums)   /* u32 a tile */
ARG_ADDRESS(base)   /* ALL, optional: u64, added to total */
ARG_ADDRESS(total)  /* ALL, optional: u64, gets *base plus the sum of all counts */
ARG_UINT(count)
ARGS_END(scan_counts_args)

/* ---- folds ----------------------------------------------------------------------------------- */

/* A workgroup's tile: 8 times 256 pieces of 16 bytes; and how many tiles are folded at a time in the
 * second step. Which folds there are says gpu/fold_layout.k.h. */
#define FOLD_TILE_LOG2 15u
#define FOLD_FAN       256u

/* reduce.comp: one pass, or the tiles of one from first_tile on. Partial results are 16 bytes: a number of
 * 64 bits and a position. */
ARGS_BEGIN(reduce_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(length_at) /* optional */
ARG_ADDRESS(whole)     /* optional: u64, the stream's length */
ARG_ADDRESS(partials)  /* a tile */
ARG_ADDRESS(fans)      /* FOLD_FAN tiles */
ARG_ADDRESS(counters)  /* zeros: one, and one for each FOLD_FAN tiles */
ARG_ADDRESS(clear)
ARG_ADDRESS(running) /* fold so far: read by all passes but the first, stored by all but the last */
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(whole_low)
ARG_UINT(whole_high)
ARG_UINT(first_low) /* the position of the pass's first element */
ARG_UINT(first_high)
ARG_UINT(is_first)
ARG_UINT(is_last)
ARG_UINT(each)       /* tiles that a workgroup folds: a power of two, at most FOLD_FAN */
ARG_UINT(first_tile) /* of the dispatch: a multiple of each */
ARGS_END(reduce_args)

/* ---- scans ----------------------------------------------------------------------------------- */

/* Elements of a workgroup's tile with sums of 4 and of 8 bytes. */
#define SCAN_TILE_OF_4 8192u
#define SCAN_TILE_OF_8 4096u

/* What a shader of scan_body.glsl does: all of a short stream by one workgroup; one pass by
 * decoupled look-back; or reduce, then scan: the sum of each tile, one workgroup's scan of those, and the
 * tiles. */
#define SCAN_ALL      0u
#define SCAN_ONE_PASS 1u
#define SCAN_SUMS     2u
#define SCAN_TILES    3u
#define SCAN_ADD      4u

ARGS_BEGIN(scan_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(out_at)
ARG_ADDRESS(length_at) /* optional */
ARG_ADDRESS(base)      /* optional: a sum to begin with */
ARG_ADDRESS(total)     /* optional: gets the sum of all */
ARG_ADDRESS(next_base) /* optional: gets it too */
ARG_ADDRESS(states) /* ONE_PASS: four words, of which the first counts tickets, and 2 or 4 words a
                        * tile, all zero; SUMS and ADD: a sum a tile */
ARG_ADDRESS(clear)
ARG_ADDRESS(stalled) /* ONE_PASS: a word that is set where look-back gave up waiting */
ARG_UINT(bound)
ARG_UINT(clear_count)
ARGS_END(scan_args)

/* ---- segments -------------------------------------------------------------------------------- */

/* The dispatches of segmented reduce and scan. Short segments are done by one invocation each, middling
 * ones, which the first step lists, by a subgroup, long ones tile by tile.
 *   FIND      lists middling and long segments, counts the latter's tiles, finds offsets that fall,
 *             after which the other steps do nothing; reduce does the short ones at once
 *   SHORT     scan: the short ones
 *   MIDDLING
 *   TILES     each tile's result
 *   LONG      reduce: a long segment's result from its tiles'; scan: the sums before each of them
 *   ADD       scan: the tiles
 * Scan of integers, which goes by marks (segments_marked.glsl):
 *   FIND      marks where segments begin
 *   TILES     each tile's sum since its last mark
 *   LONG      the sums before each tile
 *   ADD       the tiles */
#define SEGMENTS_FIND     0u
#define SEGMENTS_SHORT    1u
#define SEGMENTS_MIDDLING 2u
#define SEGMENTS_TILES    3u
#define SEGMENTS_LONG     4u
#define SEGMENTS_ADD      5u

/* Offsets that a workgroup looks at: enough for the work to outweigh its beginning. */
#define SEGMENTS_FIND_EACH 2048u

/* Words of the counters. */
#define SEGMENTS_MIDDLING_COUNT 0u
#define SEGMENTS_LONG_COUNT     1u
#define SEGMENTS_TILE_COUNT     2u /* two words */
#define SEGMENTS_FALLING        4u
#define SEGMENTS_COVER_FIRST    5u /* elements first ... end - 1 are in segments */
#define SEGMENTS_COVER_END      6u
#define SEGMENTS_COUNTERS       64u

/* Workgroups that go through a list of unknown length. */
#define SEGMENTS_GROUPS 4096u

ARGS_BEGIN(segments_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(offsets)
ARG_ADDRESS(out_at)
ARG_ADDRESS(counters)
ARG_ADDRESS(middling)   /* numbers of segments */
ARG_ADDRESS(longs)      /* likewise */
ARG_ADDRESS(tiles)      /* for each of longs: how many tiles; then, the tiles before */
ARG_ADDRESS(results)    /* for each tile: 16 bytes, or a sum */
ARG_ADDRESS(marks)      /* a bit an element */
ARG_ADDRESS(tile_marks) /* a bit a tile */
ARG_UINT(segments)
ARG_UINT(elements)
ARG_UINT(wide) /* offsets are u64 */
ARG_UINT(middling_room)
ARG_UINT(long_room)
ARG_UINT(pass_tiles) /* in a pass of tml_reduce or tml_scan */
ARGS_END(segments_args)
