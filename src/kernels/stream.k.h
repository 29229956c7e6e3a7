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
ARG_ADDRESS(base)   /* ALL, optional: a u64 ... */
ARG_ADDRESS(total)  /* ALL, optional: ... that is stored here with the sum of all added */
ARG_UINT(count)
ARGS_END(scan_counts_args)
