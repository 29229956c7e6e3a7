/* Argument structs of the Vulkan engine's shaders, for C and GLSL at once, and the constants both
 * sides count on. Addresses come first in each; a zero address means "none" where the comment says
 * "optional".
 *
 * A pass's length is bound, or the u32 at length_at when that is given:
 * stream_length(args.length_at, args.bound). GLSL keeps .length for itself. */

/* Elements that one workgroup turns into keep bits and a count, and moves: 256 words of bits. */
#define TILE_ITEMS 8192u
#define TILE_WORDS 256u

/* What every shader with a user's kernel gets: addresses of the arrays of parameters 0 ... 3 (unused:
 * zero), the params, and the low 32 bits of the position of the pass's first element. */
#ifdef TML_GLSL
#    define KERNEL_ADDRESSES ARG_ADDRESS(in0) ARG_ADDRESS(in1) ARG_ADDRESS(in2) ARG_ADDRESS(in3)
#    define KERNEL_VALUES                                                                          \
        ARG_FLOAT(f0)                                                                              \
        ARG_FLOAT(f1)                                                                              \
        ARG_FLOAT(f2)                                                                              \
        ARG_FLOAT(f3) ARG_UINT(u0) ARG_UINT(u1) ARG_UINT(u2) ARG_UINT(u3) ARG_UINT(first_index)
/* After those, where kernels read whole arrays: their words, at most 2^32 - 1. */
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

/* kernel_map.comp: out[i] = kernel(...), MAP_ITEMS elements a workgroup. With source: of element
 * source[i], and rank[i] if any. Constant 4 set to 1 promises that there is neither. */
#define MAP_ITEMS_LOG2 10u
#define MAP_ITEMS      1024u
ARGS_BEGIN(map_args)
KERNEL_ADDRESSES
ARG_ADDRESS(out_at)
ARG_ADDRESS(length_at)
ARG_ADDRESS(source) /* optional: u32 */
ARG_ADDRESS(rank)   /* optional: u32 */
KERNEL_VALUES
KERNEL_COUNTS
ARG_UINT(bound)
ARGS_END(map_args)

/* kernel_keep.comp: bit i % 32 of word i / 32 says whether element i is kept, zero past the length;
 * and a count for each tile. */
ARGS_BEGIN(keep_args)
KERNEL_ADDRESSES
ARG_ADDRESS(bits)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
KERNEL_VALUES
KERNEL_COUNTS
ARG_UINT(bound)
ARGS_END(keep_args)

/* kernel_compact.comp: one pass by decoupled look-back. The kept elements of in0's 4-byte array and/or
 * their positions go to their places after *totals (u64); the last tile writes *totals + kept to
 * totals[1]. in3 is a word that is set where a wait was given up. With 128 bytes this is as long as
 * arguments may be (vk_job.args); more of them go into specialization constants (COMPACT_...). */
ARGS_BEGIN(compact_args)
KERNEL_ADDRESSES
ARG_ADDRESS(out_at)  /* optional */
ARG_ADDRESS(indices) /* optional: u32 */
ARG_ADDRESS(states)
ARG_ADDRESS(clear)
ARG_ADDRESS(totals)
ARG_ADDRESS(length_at)
KERNEL_VALUES
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(capacity) /* of out_at and indices, elements */
ARGS_END(compact_args)

/* probe.comp: what it finds wrong becomes 1 in a word of report; control: words for itself, which a
 * dispatch with step 0 sets first. */
#define PROBE_RAN       0u /* this one is 1 where all is well */
#define PROBE_SUBGROUPS 1u
#define PROBE_APART     2u
#define PROBE_NOT_SEEN  3u
#define PROBE_REPORTS   4u
#define PROBE_GROUPS    2u
#define PROBE_FIRST     0u /* control: the groups' own words, and a one */
#define PROBE_SECOND    1u
#define PROBE_ONE       2u
#define PROBE_CONTROL   3u
ARGS_BEGIN(probe_args)
ARG_ADDRESS(control)
ARG_ADDRESS(report)
ARG_UINT(step)
ARGS_END(probe_args)

/* fill.comp and copy.comp: count words. */
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

/* lengths.comp: the number at "from" (u32, or u64 if wide), clamped to a bound of 64 bits, to total
 * and to one u32 for each of count passes of 1 << pass_log2 elements; and to LENGTHS_GRIDS grids of
 * three u32 for each, of workgroups of MAP_ITEMS << 0, 1 ... elements: at least one group, at most
 * grid_x abreast. */
#define LENGTHS_GRIDS 4u
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

/* store_count.comp: stores the u64 at "from" as a u64 if wide, else as a u32, at most 2^32 - 1. */
ARGS_BEGIN(store_count_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_UINT(wide)
ARGS_END(store_count_args)

/* histogram.comp: adds to counts how many elements of a pass, u8, u16 or u32, are in each bin; each quads
 * of 16 bytes an invocation. */
#define HISTOGRAM_SHARED 4096u /* words of shared memory: all that every device has */
ARGS_BEGIN(histogram_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(bins)
ARG_UINT(each)
ARGS_END(histogram_args)

/* ---- compact, partition, unique -------------------------------------------------------------- */

/* Look-back's states: the ticket is word 0, tile t's state word STATES_FIRST + t. */
#define STATES_FIRST 32u

/* Constants of the one-pass shaders (compact.glsl) after the kernel's own, and the values of the one
 * that says what totals means: the caller's count, or a pass's share of u64 running totals. */
#define COMPACT_OUT     4u /* out_at is given */
#define COMPACT_INDICES 5u /* indices are given */
#define COMPACT_TOTALS  6u
#define COMPACT_WIDE    7u  /* TOTALS_ALONE: the count is u64 */
#define COMPACT_LOOKS   8u  /* how often to look in vain before something is done about it */
#define COMPACT_MOVING  9u  /* forward progress of workgroups is given */
#define COMPACT_TICKETS 10u /* workgroups take tiles by tickets */
#define TOTALS_ALONE    0u  /* there is one pass; totals is the count, optional */
#define TOTALS_FIRST    1u  /* the first pass: nothing is at totals[0] yet */
#define TOTALS_LATER    2u

/* move.comp and move_rows.comp: the kept elements of a pass, or their positions, to out from *base +
 * *place on; MOVE_BOTH: the others, too, after *total. */
ARGS_BEGIN(move_args)
ARG_ADDRESS(from) /* payloads only */
ARG_ADDRESS(to)
ARG_ADDRESS(words)
ARG_ADDRESS(places)
ARG_ADDRESS(base)  /* optional: u64; zero */
ARG_ADDRESS(total) /* MOVE_BOTH: u64, kept elements of all passes */
ARG_ADDRESS(next)  /* optional, indices only: u64, gets the first one that "to" has no room for */
ARG_ADDRESS(length_at)
ARG_UINT(first_low) /* the pass's first element */
ARG_UINT(first_high)
ARG_UINT(room_low) /* of "to", elements */
ARG_UINT(room_high)
ARG_UINT(bound)
ARGS_END(move_args)
#define MOVE_SIZE       0u /* constants: an element's bytes */
#define MOVE_KIND       1u
#define MOVE_BOTH       2u
#define MOVE_KIND_WORDS 0u /* elements of whole words */
#define MOVE_KIND_BYTES 1u
#define MOVE_KIND_INDEX 2u /* positions, u32 or by MOVE_SIZE u64 */

/* copy_counted.comp: of min(*count * size, room) bytes, a part from byte "first" on. */
#define COPY_COUNTED_PART (1u << 30)
ARGS_BEGIN(copy_counted_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_ADDRESS(count)
ARG_UINT(size)
ARG_UINT(first_low)
ARG_UINT(first_high)
ARG_UINT(room_low)
ARG_UINT(room_high)
ARGS_END(copy_counted_args)

/* heads_keep.comp: a bit for each element that differs from the one before it. */
ARGS_BEGIN(heads_args)
ARG_ADDRESS(in_at)
ARG_ADDRESS(before) /* in_at less one element */
ARG_ADDRESS(bits)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(is_first) /* nothing is before the first element */
ARGS_END(heads_args)

/* run_ends.comp and run_lengths.comp: starts of runs become lengths, in place. */
ARGS_BEGIN(runs_args)
ARG_ADDRESS(starts) /* u32 or, by constant 0, u64; lengths afterwards */
ARG_ADDRESS(ends)   /* u64 a tile of TILE_ITEMS runs: where its last run ends */
ARG_ADDRESS(runs)   /* u64: how many there are */
ARG_ADDRESS(next)   /* u64: the first start that starts has no room for */
ARG_ADDRESS(total)  /* u64, the stream's length; optional */
ARG_UINT(total_low)
ARG_UINT(total_high)
ARG_UINT(first_low) /* the first of these runs */
ARG_UINT(first_high)
ARG_UINT(room_low) /* runs that starts has room for */
ARG_UINT(room_high)
ARG_UINT(tiles)
ARGS_END(runs_args)

/* indirect.comp: a count at "from", clamped to a limit of 64 bits, to indirect arguments; kind is a
 * tml_vulkan_indirect_kind. */
ARGS_BEGIN(indirect_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_UINT(kind)
ARG_UINT(wide)
ARG_UINT(limit_low)
ARG_UINT(limit_high)
ARG_UINT(group)
ARGS_END(indirect_args)
