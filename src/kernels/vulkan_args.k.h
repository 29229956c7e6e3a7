/* Argument structs of the Vulkan engine's shaders, for C and GLSL at once, and the constants both
 * sides count on. Addresses come first in each; a zero address means "none" where the comment says
 * "optional".
 *
 * A pass's length is bound, or the u32 at length when that is given: stream_length(args.length,
 * args.bound). */

/* Elements that one workgroup turns into keep bits and a count, and moves: 256 words of bits. */
#define TILE_ITEMS 8192u
#define TILE_WORDS 256u

/* What every shader with a user's kernel gets: addresses of the arrays of parameters 0 ... 3 (unused:
 * zero), the params, and the low 32 bits of the position of the pass's first element. */
#define KERNEL_ADDRESSES ARG_ADDRESS(in0) ARG_ADDRESS(in1) ARG_ADDRESS(in2) ARG_ADDRESS(in3)
#define KERNEL_VALUES                                                                              \
    ARG_FLOAT(f0) ARG_FLOAT(f1) ARG_FLOAT(f2) ARG_FLOAT(f3)                                        \
    ARG_UINT(u0) ARG_UINT(u1) ARG_UINT(u2) ARG_UINT(u3) ARG_UINT(first_index)

/* kernel_map.comp: out[i] = kernel(...). With source: of element source[i], and rank[i] if any. */
ARGS_BEGIN(map_args)
KERNEL_ADDRESSES
ARG_ADDRESS(out_at)
ARG_ADDRESS(length)
ARG_ADDRESS(source) /* optional: u32 */
ARG_ADDRESS(rank)   /* optional: u32 */
KERNEL_VALUES
ARG_UINT(bound)
ARGS_END(map_args)

/* kernel_keep.comp: bit i % 32 of word i / 32 says whether element i is kept, zero past the length;
 * and a count for each tile. */
ARGS_BEGIN(keep_args)
KERNEL_ADDRESSES
ARG_ADDRESS(bits)
ARG_ADDRESS(counts)
ARG_ADDRESS(length)
KERNEL_VALUES
ARG_UINT(bound)
ARGS_END(keep_args)

/* kernel_compact.comp: one pass by decoupled look-back. The kept elements of in0's 4-byte array and/or
 * their positions go to their places after *totals (u64); the last tile writes *totals + kept to
 * totals[1]. */
ARGS_BEGIN(compact_args)
KERNEL_ADDRESSES
ARG_ADDRESS(out_at)  /* optional */
ARG_ADDRESS(indices) /* optional: u32 */
ARG_ADDRESS(states)
ARG_ADDRESS(clear)
ARG_ADDRESS(totals)
ARG_ADDRESS(length)
KERNEL_VALUES
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(capacity) /* of out_at and indices, elements */
ARGS_END(compact_args)

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
 * and to one u32 for each of count passes of 1 << pass_log2 elements. */
ARGS_BEGIN(lengths_args)
ARG_ADDRESS(from)
ARG_ADDRESS(total)
ARG_ADDRESS(lengths)
ARG_UINT(bound_low)
ARG_UINT(bound_high)
ARG_UINT(wide)
ARG_UINT(count)
ARG_UINT(pass_log2)
ARGS_END(lengths_args)

/* store_count.comp: a u64 to a u32 or, if wide, a u64. A u32 stays at its largest value. */
ARGS_BEGIN(store_count_args)
ARG_ADDRESS(to)
ARG_ADDRESS(from)
ARG_UINT(wide)
ARGS_END(store_count_args)
