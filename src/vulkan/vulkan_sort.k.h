/* Arguments of the sort's shaders, and the constants that both sides use. The passes of a stream
 * (2^30 elements) are called parts here, since a sort also has a pass per digit. */

/* The most bins of a digit. If subgroups are small, digits have fewer bits: in shared memory, each
 * subgroup of a workgroup has a counter for each bin, SORT_COUNTERS in all. */
#define SORT_BINS     256u
#define SORT_COUNTERS 2048u
/* Most digits times bins: 8 digits of 256, 13 of 32. */
#define SORT_HISTOGRAM 2048u

/* Specialization constants of all sort shaders. */
#define SORT_KEY_LOG2 0u /* log2 of the bytes of a key: 0 ... 3 */
#define SORT_ENCODES  1u /* keys are the caller's, else codes */
#define SORT_DECODES  2u /* keys_out is the caller's; otherwise it receives codes */
#define SORT_VALUES   3u /* SORT_VALUES_... */
#define SORT_LONG     4u /* indices may exceed 31 bits */
#define SORT_ITEMS    5u /* elements of a tile per invocation: even */
#define SORT_SPANS    6u /* elements of tiles, which are of long segments; 0: of the stream */
/* sort_sweep */
#define SORT_PLACED 7u /* positions come from "states", after a scan; otherwise from look-back */
#define SORT_SPECS  8u

#define SORT_VALUES_NONE  0u
#define SORT_VALUES_MOVED 1u /* a word with each key */
#define SORT_VALUES_INDEX 2u /* its index in the stream, generated here */

/* A tile of a long segment, 4 words: the segment's first element; the number of its elements; the
 * number of digits' counts that precede its own in the tables; the tile's number in the segment. */
#define SORT_SPAN_WORDS 4u

/* sort_histogram.comp: counts all digits of a part. The last workgroup of the last part replaces
 * the counts of each digit by their exclusive scan. SPANS: adds the counts of each tile to its
 * segment's table. */
ARGS_BEGIN(sort_histogram_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(counts)  /* zeroed: a digit's bins after the other's. SPANS: the tables */
ARG_ADDRESS(counter) /* zeroed: a word for each part */
ARG_ADDRESS(spans)
ARG_ADDRESS(states) /* of the first sweep, which this zeroes */
ARG_ADDRESS(clear)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(tile) /* elements; 0: states are not changed */
ARG_UINT(each) /* elements per invocation, a multiple of SORT_HISTOGRAM_ROWS */
ARG_UINT(is_last)
ARG_UINT(first_bit)
ARG_UINT(end_bit)
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARGS_END(sort_histogram_args)
#define SORT_HISTOGRAM_ROWS 4u

/* sort_sweep_*.comp moves a part by one digit. sort_count_*.comp counts the digit in each tile, to
 * states. sort_short_*.comp sorts one tile by all digits. */
ARGS_BEGIN(sort_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(keys_out) /* optional */
ARG_ADDRESS(values)
ARG_ADDRESS(values_out)
ARG_ADDRESS(spans)  /* SPANS: of each tile; the length and the bound are of tiles */
ARG_ADDRESS(states) /* zeroed: a word for each tile and bin. PLACED: the counts, by bin and tile */
ARG_ADDRESS(clear)  /* states of the next sweep, which this zeroes */
ARG_ADDRESS(ticket)
ARG_ADDRESS(stalled)
/* where each bin begins, u32. SPANS: the digit's counts in the first table */
ARG_ADDRESS(bases)
ARG_ADDRESS(next_bases) /* optional: of the next part */
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(tiles) /* of the next sweep; 0xffffffff: as many as here. PLACED: of the whole stream */
ARG_UINT(first) /* the part's first element */
ARG_UINT(bits)  /* the digit begins at bit & 0xff; keys end at >> 8 */
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARGS_END(sort_args)

/* Sorting segments. A workgroup holds a window of the stream and more elements than a window behind
 * it (LONGEST). So it holds every segment that begins in the window and has at most LONGEST
 * elements. At most one longer segment reaches into a window from before, and at most one begins in
 * it.
 *   sort_windows.comp       describes each window, and counts the tiles of the long segment that
 *                           begins in it
 *   sort_segments_*.comp    sorts the short segments; elements in no segment keep their positions
 *   sort_spans.comp         lists the tiles of long segments, which sweeps then sort */
ARGS_BEGIN(sort_segments_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(keys_out) /* optional */
ARG_ADDRESS(values)
ARG_ADDRESS(values_out)
ARG_ADDRESS(offsets)
ARG_ADDRESS(windows) /* SORT_WINDOW_WORDS a window */
/* optional: a word per window: tiles of its long segment; "spans": tiles before these */
ARG_ADDRESS(longs)
ARG_ADDRESS(spans)  /* SORT_SPAN_WORDS per tile */
ARG_ADDRESS(tables) /* the digits' counts in each window's long segment, which "spans" zeroes */
/* SORT_HEAD words for the dispatches of tiles; the first receives the sum of longs */
ARG_ADDRESS(head)
ARG_ADDRESS(count_at)  /* optional: u32, segments, up to the bound */
ARG_ADDRESS(length_at) /* optional: u32 */
ARG_UINT(segments)
ARG_UINT(bound)
/* SEGMENTS_WIDE and SEGMENTS_STARTS (vulkan_stream.k.h); and bits: first << 8, end << 16 */
ARG_UINT(kind)
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARG_UINT(digits) /* of a table */
ARGS_END(sort_segments_args)
/* A window is a little less than half of what a workgroup holds, so that short segments which reach
 * out of the window do not take a row of their own. */
#define SORT_WINDOW(tile) ((tile) / 2u - 64u)
/* A window, 4 words: the number of segments that begin before it, and before the next window; the
 * end of the elements of a segment that begins before it; the first element of a long segment that
 * begins in it. */
#define SORT_WINDOW_WORDS 4u
/* The head: the sum of "longs", as u64; the number of tiles; tiles times bins; a dispatch grid of
 * one workgroup per tile. */
#define SORT_HEAD_TILES  2u
#define SORT_HEAD_COUNTS 3u
#define SORT_HEAD_GRID   4u
#define SORT_HEAD        7u
/* Each long segment has a tile that is not full. */
#define SORT_MOST_SPANS(bound, tile, windows) (((bound) + ((tile)-1u)) / (tile) + (windows))
#define SORT_GRID_X                           32768u

/* sort_finish.comp: stores words as elements of SORT_FINISH_SIZE bytes. 1, 2: keys from codes; 8:
 * u64 from u32. Each invocation stores a word, or a u64. */
ARGS_BEGIN(sort_finish_args)
ARG_ADDRESS(from)
ARG_ADDRESS(to)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(flip)
ARG_UINT(real_flip)
ARGS_END(sort_finish_args)
#define SORT_FINISH_SIZE 0u /* specialization constant */
