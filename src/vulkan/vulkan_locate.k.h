/* Arguments of the Vulkan engine's shaders that locate outputs one by one, and the constants
 * both sides count on. There are at most 2^30 sources and as many outputs. */

/* locate_counts.comp: how many outputs each source has, as u32: by the keep bits, by their
 * opposite, or by counts of 1, 2 or 4 bytes (then from may be counts). Zero past the length, up
 * to padded. */
ARGS_BEGIN(locate_counts_args)
ARG_ADDRESS(from)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(padded)
ARGS_END(locate_counts_args)
#define LOCATE_BYTES  0u /* constants: bytes of a count, 0: bits */
#define LOCATE_OTHERS 1u /* the opposite of the bits */

/* histopyramid_sum.comp: a level above another. */
ARGS_BEGIN(histopyramid_sum_args)
ARG_ADDRESS(children)
ARG_ADDRESS(parents)
ARG_UINT(count) /* of parents */
ARG_UINT(padded)
ARGS_END(histopyramid_sum_args)

/* histopyramid_locate.comp: for each of *total outputs its source and rank. Output j is the caller's
 * *first + j. */
ARGS_BEGIN(locate_args)
ARG_ADDRESS(state)    /* the levels from the base on */
ARG_ADDRESS(total)    /* u32 */
ARG_ADDRESS(first)    /* optional: u32 */
ARG_ADDRESS(source)   /* optional: u32 of output j */
ARG_ADDRESS(source64) /* optional: u64 of output j */
ARG_ADDRESS(rank)     /* optional: u32 of output j */
ARG_ADDRESS(indices)  /* optional: u32 or u64 of the caller's output */
ARG_UINT(room)        /* of indices */
ARG_UINT(wide)        /* indices are u64 */
ARG_UINT(limit)       /* outputs at most */
ARG_UINT(count)       /* sources */
ARG_UINT(apex)        /* the level of one cell, and its word in state */
ARG_UINT(apex_at)
ARGS_END(locate_args)

/* gather.comp: the caller's element *first + j is a copy of that at source[j]. */
ARGS_BEGIN(gather_args)
ARG_ADDRESS(from)
ARG_ADDRESS(to)
ARG_ADDRESS(source) /* u32 */
ARG_ADDRESS(total)  /* u32 */
ARG_ADDRESS(first)  /* optional: u32 */
ARG_UINT(room)      /* of to, elements */
ARGS_END(gather_args)
/* Elements of a workgroup; constant 0 is an element's size. */
#define GATHER_ELEMENTS 256u
