/* Arguments of the HISTOPYRAMID shaders, and the constants that both sides use. There are at most
 * 2^30 sources and as many outputs. */

/* locate_counts.comp: each source's number of outputs, as u32, from keep bits, inverted keep bits,
 * or counts of 1, 2 or 4 bytes (from may then equal counts). Counts from the length up to padded
 * are 0. */
ARGS_BEGIN(locate_counts_args)
ARG_ADDRESS(from)
ARG_ADDRESS(counts)
ARG_ADDRESS(length_at)
ARG_UINT(bound)
ARG_UINT(padded)
ARGS_END(locate_counts_args)
#define LOCATE_BYTES  0u /* specialization constants: bytes of a count; 0: keep bits */
#define LOCATE_OTHERS 1u /* 1: inverted keep bits */

/* histopyramid_sum.comp: builds a level from the level below. */
ARGS_BEGIN(histopyramid_sum_args)
ARG_ADDRESS(children)
ARG_ADDRESS(parents)
ARG_UINT(count) /* parents */
ARG_UINT(padded)
ARGS_END(histopyramid_sum_args)

/* histopyramid_locate.comp: finds source and rank of each of *total outputs. Output j is element
 * *first + j of indices, and *skip + j of source, source64 and rank, which have limit elements. */
ARGS_BEGIN(locate_args)
ARG_ADDRESS(state)    /* the levels, from the base on */
ARG_ADDRESS(total)    /* u32 */
ARG_ADDRESS(first)    /* optional: u64 */
ARG_ADDRESS(skip)     /* optional: u64 */
ARG_ADDRESS(source)   /* optional: u32 of output j */
ARG_ADDRESS(source64) /* optional: u64 of output j */
ARG_ADDRESS(rank)     /* optional: u32 of output j */
ARG_ADDRESS(indices)  /* optional: u32 or u64, the sources again, at *first + j */
ARG_UINT(room)        /* capacity of indices */
ARG_UINT(wide)        /* indices are u64 */
ARG_UINT(limit)       /* most outputs */
ARG_UINT(count)       /* sources */
ARG_UINT(apex) /* number of the level with one cell, and the index of that cell's word in state */
ARG_UINT(apex_at)
ARGS_END(locate_args)

/* gather.comp: copies element source[j] to element *first + j of the caller's output. */
ARGS_BEGIN(gather_args)
ARG_ADDRESS(from)
ARG_ADDRESS(to)
ARG_ADDRESS(source) /* u32 */
ARG_ADDRESS(total)  /* u32 */
ARG_ADDRESS(first)  /* optional: u64 */
ARG_UINT(room)      /* capacity of "to", in elements */
ARGS_END(gather_args)
/* Elements per workgroup. Specialization constant 0 is the bytes of an element. */
#define GATHER_ELEMENTS 256u
