/* Argument structs of the Vulkan engine's shaders, for C and GLSL, and the constants that both use.
 * Device addresses come first in each struct. An address marked "optional" may be 0.
 *
 * A pass has "bound" elements; if length_at is not 0, the u32 there is its length. Shaders call
 * stream_length(args.length_at, args.bound), since GLSL reserves .length. */

/* Elements in a workgroup's tile of a compaction, and the u32 words of the tile's keep bits. */
#define TILE_ITEMS 8192u
#define TILE_WORDS 256u

/* Arguments of every shader with a user's kernel: device addresses of its array parameters (0 if
 * unused), its params, and the low 32 bits of the index of the pass's first element. */
#ifdef TML_GLSL
#    define KERNEL_ADDRESSES ARG_ADDRESS(in0) ARG_ADDRESS(in1) ARG_ADDRESS(in2) ARG_ADDRESS(in3)
#    define KERNEL_VALUES                                                                          \
        ARG_FLOAT(f0)                                                                              \
        ARG_FLOAT(f1)                                                                              \
        ARG_FLOAT(f2)                                                                              \
        ARG_FLOAT(f3) ARG_UINT(u0) ARG_UINT(u1) ARG_UINT(u2) ARG_UINT(u3) ARG_UINT(first_index)
/* For kernels with tml_words parameters: each array's length in words, at most 2^32 - 1. */
#    define KERNEL_COUNTS ARG_UINT(count0) ARG_UINT(count1) ARG_UINT(count2) ARG_UINT(count3)
#else /* the same, as arrays */
STRUCT_BEGIN(kernel_values)
float f[4];
uint32_t u[4];
uint32_t first_index;
STRUCT_END(kernel_values)
#    define KERNEL_ADDRESSES tml_address in[4];
#    define KERNEL_VALUES    kernel_values values;
#    define KERNEL_COUNTS    uint32_t word_counts[4];
#endif

/* store_params.comp: stores as many words as specialization constant 0 says. Push constants have no
 * room for a matrix, nor for the outputs of an emit kernel. Such a kernel finds its parameters in
 * scratch, in the order of tml_params, followed by the addresses of its outputs after the first. u0
 * and u1 of its arguments are the address of these. */
#define PARAMS_WORDS 24u
#define OUTS_WORDS   6u
#ifdef TML_GLSL
#    define PARAMS_STORED uint words[PARAMS_WORDS + OUTS_WORDS];
#else
#    define PARAMS_STORED                                                                          \
        tml_params params;                                                                         \
        tml_address outs[OUTS_WORDS / 2];
#endif
ARGS_BEGIN(store_params_args)
ARG_ADDRESS(to)
PARAMS_STORED
ARGS_END(store_params_args)

/* kernel_map.comp: out[i] = kernel(...), MAP_ITEMS elements per workgroup, unless specialization
 * constant 5 gives another number per invocation. If source is given, the kernel reads element
 * source[i]; if rank is given, it also receives rank[i]; elements before *skip are not written.
 * Specialization constant 4:
 *   MAP_BY_SOURCE    any of the three is given
 *   MAP_IN_ORDER     none is given; the kernel's parameters hold the addresses of further outputs
 *   MAP_OUTS_STORED  those addresses are in scratch */
#define MAP_BY_SOURCE   0u
#define MAP_IN_ORDER    1u
#define MAP_OUTS_STORED 2u
#define MAP_ITEMS_LOG2  10u
#define MAP_ITEMS       1024u
ARGS_BEGIN(map_args)
KERNEL_ADDRESSES
ARG_ADDRESS(out_at)
ARG_ADDRESS(length_at)
ARG_ADDRESS(source) /* optional: u32 */
ARG_ADDRESS(rank)   /* optional: u32 */
ARG_ADDRESS(skip)   /* optional: u32 */
KERNEL_VALUES
KERNEL_COUNTS
ARG_UINT(bound)
ARGS_END(map_args)

/* kernel_keep.comp, flags_keep.comp, mask_keep.comp: bit i % 32 of word i / 32 is element i's keep
 * bit. counts receives the number of set bits of each tile. */
ARGS_BEGIN(keep_args)
KERNEL_ADDRESSES
ARG_ADDRESS(bits)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
KERNEL_VALUES
KERNEL_COUNTS
ARG_UINT(bound)
ARGS_END(keep_args)

/* compact_*.comp and kernel_compact.comp: single-pass compaction by decoupled look-back. It writes
 * kept 4-byte elements of in0, their positions, or both. Flags or a mask are at in1,
 * vk_states.stalled at in3. The struct fills the 128 bytes of push constants that every device has
 * (vk_dispatch_info.args), so further arguments are specialization constants (COMPACT_...). */
ARGS_BEGIN(compact_args)
KERNEL_ADDRESSES
ARG_ADDRESS(out_at)  /* optional */
ARG_ADDRESS(indices) /* optional: u32 */
ARG_ADDRESS(states)
ARG_ADDRESS(clear)
ARG_ADDRESS(totals) /* COMPACT_TOTALS says what it is */
ARG_ADDRESS(length_at)
KERNEL_VALUES
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(capacity) /* of out_at and indices, in elements */
ARGS_END(compact_args)

/* probe.comp: words of report, which the shader sets to 1, and of control, its own memory. A
 * dispatch with step 0 initializes control. */
#define PROBE_RAN       0u /* 1: the shader ran. Each of the others: 1 is a failure */
#define PROBE_SUBGROUPS 1u
#define PROBE_APART     2u
#define PROBE_NOT_SEEN  3u
#define PROBE_REPORTS   4u
#define PROBE_GROUPS    2u
#define PROBE_FIRST     0u /* control: a word for each workgroup, and a word that holds 1 */
#define PROBE_SECOND    1u
#define PROBE_ONE       2u
#define PROBE_CONTROL   3u
ARGS_BEGIN(probe_args)
ARG_ADDRESS(control)
ARG_ADDRESS(report)
ARG_UINT(step)
ARGS_END(probe_args)

/* fill.comp and copy.comp; count is in u32 words. */
ARGS_BEGIN(fill_args)
ARG_ADDRESS(at)
ARG_UINT(count)
ARG_UINT(value)
ARGS_END(fill_args)

ARGS_BEGIN(copy_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_UINT(count)
ARGS_END(copy_args)

/* lengths.comp: clamps the count at "from" (u32, or u64 if wide) to a 64-bit bound. It stores the
 * result to total, the length of each of count passes of 1 << pass_log2 elements to lengths, and
 * LENGTHS_GRIDS dispatch grids per pass to grids: three u32 each, for workgroups of
 * 1 << LENGTHS_GRID_LOG2, twice as many, ... elements. A grid has at least one workgroup, and at
 * most grid_x along x. */
#define LENGTHS_GRID_LOG2 8u
#define LENGTHS_GRIDS     6u
ARGS_BEGIN(lengths_args)
ARG_ADDRESS(from)
ARG_ADDRESS(total)
ARG_ADDRESS(lengths)
ARG_ADDRESS(grids) /* optional */
ARG_UINT(bound_low)
ARG_UINT(bound_high)
ARG_UINT(wide)
ARG_UINT(count)
ARG_UINT(pass_log2)
ARG_UINT(grid_x)
ARGS_END(lengths_args)

/* store_count.comp: copies the u64 at "from", plus *base, to a u64 if wide, else to a u32 that
 * saturates. */
ARGS_BEGIN(store_count_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_ADDRESS(base) /* optional: u64 */
ARG_UINT(wide)
ARGS_END(store_count_args)

/* gather_scatter.comp: moves a pass's elements of "ordered" from or to the positions that its
 * indices give in "placed", which has "range" elements. */
ARGS_BEGIN(gather_scatter_args)
ARG_ADDRESS(ordered)
ARG_ADDRESS(placed)
ARG_ADDRESS(indices) /* u32 or u64 */
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(range_low)
ARG_UINT(range_high)
ARGS_END(gather_scatter_args)

/* search.comp: the positions of a pass's queries in "sorted", which has "count" elements; if
 * sorted_length is not 0, as many as it says, but at most count. */
ARGS_BEGIN(search_args)
ARG_ADDRESS(sorted)
ARG_ADDRESS(sorted_length) /* optional: u32, or u64 by specialization constant 1 */
ARG_ADDRESS(queries)
ARG_ADDRESS(out_at)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(count_low)
ARG_UINT(count_high)
ARG_UINT(flip_low) /* of kernels/sort.k.h */
ARG_UINT(flip_high)
ARG_UINT(real_flip_low)
ARG_UINT(real_flip_high)
ARGS_END(search_args)

/* histogram.comp: adds to counts (u32, or u64 if wide) the number of a pass's elements (u8, u16 or
 * u32) in each bin, or their weights. Each invocation reads "each" pieces of 16 bytes. */
#define HISTOGRAM_SHARED 4096u /* words of shared memory that every device has */
ARGS_BEGIN(histogram_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
ARG_ADDRESS(weights)
ARG_ADDRESS(largest) /* of float weights: their largest, and log2 of the stream's bound */
ARG_UINT(bound)
ARG_UINT(bins)
ARG_UINT(each)
ARG_UINT(length_log2)
ARGS_END(histogram_args)

/* histogram_largest.comp: raises *largest. Each workgroup reads HISTOGRAM_LARGEST weights. */
#define HISTOGRAM_LARGEST 4096u
ARGS_BEGIN(histogram_largest_args)
ARG_ADDRESS(weights)
ARG_ADDRESS(largest)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARGS_END(histogram_largest_args)

/* histogram_floats.comp: floats of sums of float weights (u64). */
ARGS_BEGIN(histogram_floats_args)
ARG_ADDRESS(to)
ARG_ADDRESS(sums)
ARG_ADDRESS(largest)
ARG_UINT(bins)
ARG_UINT(length_log2)
ARGS_END(histogram_floats_args)

/* ---- compact, partition, unique -------------------------------------------------------------- */

/* Words of look-back state: word 0 is the ticket counter, and tiles' states begin at word
 * STATES_FIRST. */
#define STATES_FIRST 32u

/* Specialization constants of the single-pass shaders (compact.glsl), after the kernel's four.
 * TOTALS_... are the values of COMPACT_TOTALS: whether totals is the caller's count, or the pass's
 * part of the u64 running totals. COMPACT_BOTH: all tiles are resident, and the rejected elements
 * follow the kept ones. */
#define COMPACT_OUT     4u /* out_at is given */
#define COMPACT_INDICES 5u /* indices are given */
#define COMPACT_TOTALS  6u
#define COMPACT_WIDE    7u /* TOTALS_ALONE: the count is u64 */
#define COMPACT_BOTH    8u
#define COMPACT_SPECS   9u
#define TOTALS_ALONE    0u /* there is one pass; totals is the caller's count, optional */
#define TOTALS_FIRST    1u /* the first pass stores totals[1] and does not read totals[0] */
#define TOTALS_LATER    2u

/* move.comp and move_rows.comp: copy a pass's kept elements, or their positions, to output indices
 * *base + places[tile] and up. MOVE_BOTH: also copy the rejected elements, from output index *total
 * on. */
ARGS_BEGIN(move_args)
ARG_ADDRESS(from) /* payloads only */
ARG_ADDRESS(to)
ARG_ADDRESS(words)
ARG_ADDRESS(places)
ARG_ADDRESS(base)  /* optional: u64 */
ARG_ADDRESS(total) /* MOVE_BOTH, count: u64, elements kept in all passes */
ARG_ADDRESS(count) /* optional: the caller's, receives *total */
ARG_ADDRESS(next)  /* optional, for positions only: u64, receives the first position past room */
ARG_ADDRESS(length_at)
ARG_UINT(first_low) /* the pass's first element */
ARG_UINT(first_high)
ARG_UINT(room_low) /* capacity of "to", in elements */
ARG_UINT(room_high)
ARG_UINT(bound)
ARG_UINT(is_wide) /* the count is u64 */
ARGS_END(move_args)
#define MOVE_SIZE       0u /* specialization constants: bytes of an element */
#define MOVE_KIND       1u
#define MOVE_BOTH       2u
#define MOVE_KIND_WORDS 0u /* the element size is a multiple of 4 */
#define MOVE_KIND_BYTES 1u
#define MOVE_KIND_INDEX 2u /* positions, as u32 or u64 (MOVE_SIZE) */

/* copy_counted.comp: copies COPY_COUNTED_PART of min(*count * size, room) bytes, from "first"
 * on. */
#define COPY_COUNTED_PART (1u << 30)
ARGS_BEGIN(copy_counted_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_ADDRESS(count) /* 0: as many as there is room for */
ARG_UINT(size)
ARG_UINT(first_low)
ARG_UINT(first_high)
ARG_UINT(room_low)
ARG_UINT(room_high)
ARGS_END(copy_counted_args)

/* heads_keep.comp: head flags: a bit for each element that differs from its predecessor. The rest
 * is as in keep_args. */
ARGS_BEGIN(heads_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(before) /* in_at minus one element */
ARG_ADDRESS(bits)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(is_first) /* the first element has no predecessor: it is a head */
ARGS_END(heads_args)

/* run_ends.comp and run_lengths.comp: replace the runs' starts by their lengths, in place. */
ARGS_BEGIN(runs_args)
ARG_ADDRESS(starts) /* u32, or u64 if specialization constant 0 is 1; afterwards lengths */
ARG_ADDRESS(ends)   /* u64 for each tile of TILE_ITEMS runs: the end of its last run */
ARG_ADDRESS(runs)   /* u64: the number of runs */
ARG_ADDRESS(next)   /* u64: the first start past the capacity of starts */
ARG_ADDRESS(total)  /* optional: u64, the stream's length; else total_low, total_high */
ARG_UINT(total_low)
ARG_UINT(total_high)
ARG_UINT(first_low) /* index of the dispatch's first run */
ARG_UINT(first_high)
ARG_UINT(room_low) /* capacity of starts, in runs */
ARG_UINT(room_high)
ARG_UINT(tiles)
ARGS_END(runs_args)

/* indirect.comp: writes indirect arguments from the count at "from", clamped to a 64-bit limit.
 * kind is a tml_vulkan_indirect_kind. */
ARGS_BEGIN(indirect_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_UINT(kind)
ARG_UINT(wide)
ARG_UINT(limit_low)
ARG_UINT(limit_high)
ARG_UINT(group)
ARG_UINT(first)
ARG_INT(vertex_offset)
ARG_UINT(first_instance)
ARGS_END(indirect_args)
