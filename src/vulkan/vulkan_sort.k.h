/* Arguments of the sort's shaders, and the constants that both sides use. Passes of the stream (2^30
 * elements) are called parts here, since a sort has passes of its own, one for each digit. */

/* Most bins of a digit. Small subgroups have digits of fewer bits: each subgroup of a workgroup has a
 * counter for each bin in shared memory, SORT_COUNTERS in all. */
#define SORT_BINS     256u
#define SORT_COUNTERS 2048u
/* Most digits times bins: 8 digits of 256, 13 of 32. */
#define SORT_HISTOGRAM 2048u

/* Specialization constants of all sort shaders. */
#define SORT_KEY_LOG2 0u /* of an element of keys, in bytes: 0 ... 3 */
#define SORT_ENCODES  1u /* keys are the caller's, else codes */
#define SORT_DECODES  2u /* keys_out is the caller's, else it gets codes */
#define SORT_VALUES   3u /* SORT_VALUES_... */
#define SORT_LONG     4u /* indices may exceed 31 bits */
#define SORT_ITEMS    5u /* elements of a tile per invocation: even */
/* sort_sweep */
#define SORT_PLACED  6u /* places come from "states", which a scan made; else by look-back */
#define SORT_LOOKS   7u /* as COMPACT_LOOKS, COMPACT_MOVING and COMPACT_TICKETS */
#define SORT_MOVING  8u
#define SORT_TICKETS 9u
#define SORT_LATE    10u /* loads of a tile with an even number before it publishes, for tests */
#define SORT_SPECS   11u

#define SORT_VALUES_NONE  0u
#define SORT_VALUES_MOVED 1u /* a word with each key */
#define SORT_VALUES_INDEX 2u /* its index in the stream, made here */

/* sort_histogram.comp: counts all digits of a part; the last workgroup of the last part replaces the
 * counts of each digit by their exclusive sums. */
ARGS_BEGIN(sort_histogram_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(counts)  /* zeroed: a digit's bins after the other's */
ARG_ADDRESS(counter) /* zeroed: a word for each part */
ARG_ADDRESS(states)  /* of the first sweep, which this zeroes */
ARG_ADDRESS(clear)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(tile) /* elements; 0: states are left as they are */
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

/* sort_sweep_*.comp moves a part by one digit. sort_count_*.comp counts the digit in each tile, in states;
 * sort_short_*.comp sorts one tile by all digits. */
ARGS_BEGIN(sort_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(keys_out) /* optional */
ARG_ADDRESS(values)
ARG_ADDRESS(values_out)
ARG_ADDRESS(states) /* zeroed: a word for each tile and bin. PLACED: the counts, by bin and tile */
ARG_ADDRESS(clear)  /* states of the next sweep, which this zeroes */
ARG_ADDRESS(ticket)
ARG_ADDRESS(stalled)
ARG_ADDRESS(bases)      /* where each bin begins, u32 */
ARG_ADDRESS(next_bases) /* optional: of the next part */
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(tiles) /* of the next sweep; 0xffffffff: as many as here. PLACED: of the whole stream */
ARG_UINT(first) /* the part's first element */
ARG_UINT(first_bit)
ARG_UINT(end_bit)
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARGS_END(sort_args)

/* Segments. A window is half as many elements as a workgroup holds, so that it holds those of every segment that
 * begins in a window and is no longer than one. Of longer ones, at most one reaches into a window from before, and
 * at most one begins in it and reaches past its end.
 *   sort_windows.comp       the first segment of each window, and how many elements of long segments it has
 *   sort_segments_*.comp    sorts the short segments; elements in no segment keep their places
 *   sort_collect_*.comp     lists the elements of long segments, in order
 *   sort_place_*.comp       puts them, sorted, in their places */
ARGS_BEGIN(sort_segments_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(keys_out) /* optional */
ARG_ADDRESS(values)
ARG_ADDRESS(values_out)
ARG_ADDRESS(offsets)
ARG_ADDRESS(windows) /* a word a window and one more: the segments that begin before it */
ARG_ADDRESS(longs)   /* a word a window: elements of long segments; "collect": those before it */
ARG_ADDRESS(codes)   /* of elements of long segments */
ARG_ADDRESS(ids)     /* of their segments: the window in which each begins */
ARG_ADDRESS(places)  /* of the elements in the stream */
ARG_ADDRESS(count_at)  /* optional: u32, segments, up to the bound */
ARG_ADDRESS(length_at) /* optional: u32 */
ARG_UINT(segments)
ARG_UINT(bound)
ARG_UINT(kind) /* SEGMENTS_WIDE and SEGMENTS_STARTS (vulkan_stream.k.h); and bits: first << 8, end << 16 */
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARGS_END(sort_segments_args)

ARGS_BEGIN(sort_place_args)
ARG_ADDRESS(keys) /* unused */
ARG_ADDRESS(keys_out) /* optional */
ARG_ADDRESS(values)
ARG_ADDRESS(values_out)
ARG_ADDRESS(codes)
ARG_ADDRESS(sources)   /* of a part's elements: which of the list comes here */
ARG_ADDRESS(places_to) /* of a part's elements */
ARG_ADDRESS(places)    /* of all */
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARGS_END(sort_place_args)

/* sort_finish.comp: stores words as what the caller has, SORT_FINISH_SIZE bytes each: 1, 2: keys from
 * codes; 8: u64 from u32. An invocation stores a word, or a u64. */
ARGS_BEGIN(sort_finish_args)
ARG_ADDRESS(from)
ARG_ADDRESS(to)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(flip)
ARG_UINT(real_flip)
ARGS_END(sort_finish_args)
#define SORT_FINISH_SIZE 0u /* specialization constant */
