/* Arguments of the Vulkan engine's expand shaders, and the constants that both sides use. */

/* Sources in a workgroup's tile: 8 per invocation. */
#define EXPAND_SOURCES_LOG2 11u
#define EXPAND_SOURCES      2048u
/* A tile with more outputs is heavy: expand_heavy.comp writes it, with one workgroup per block of
 * outputs. A block is at most EXPAND_LIGHT long, so it overlaps at most two heavy tiles. */
#define EXPAND_LIGHT      16384u
#define EXPAND_BLOCK_LOG2 13u
/* Words of control before the look-back states: the ticket counter, and expand_heavy.comp's
 * grid. */
#define EXPAND_TICKET  0u
#define EXPAND_GRID    1u
#define EXPAND_CONTROL 4u
/* Workgroups along x in that grid, and the most along y. */
#define EXPAND_GRID_LOG2 15u
#define EXPAND_GRID_ROWS 32768u

/* Specialization constants of all expand shaders. */
#define EXPAND_SPEC_COUNT_SIZE 0u /* bytes of a count in memory: 1, 2, 4 */
#define EXPAND_SPEC_ONE_PASS   1u /* expand.comp: by look-back; otherwise from "places" */
#define EXPAND_SPECS           2u

/* Arguments of all expand shaders, for one pass of sources. Tile t's outputs begin at places[t] and
 * end at places[t + 1]. Output indices have 64 bits: a pass of 2^28 sources can have 2^60
 * outputs. */
ARGS_BEGIN(expand_args)
ARG_ADDRESS(counts) /* u8, u16 or u32 */
ARG_ADDRESS(length_at)
ARG_ADDRESS(control) /* words, 0 at first; LOOK_BACK: then two words of state per tile */
ARG_ADDRESS(clear)
ARG_ADDRESS(places)   /* u64 */
ARG_ADDRESS(base)     /* optional: u64, where this pass's outputs begin */
ARG_ADDRESS(total)    /* u64: *base plus this pass's outputs */
ARG_ADDRESS(reported) /* optional: the caller's total, u32 or u64 */
ARG_ADDRESS(source)   /* optional: u32 */
ARG_ADDRESS(source64) /* optional: u64 */
ARG_ADDRESS(rank)     /* optional: u32 */
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(first_low) /* index of the pass's first source */
ARG_UINT(first_high)
ARG_UINT(capacity_low) /* outputs from this index on are not written */
ARG_UINT(capacity_high)
ARG_UINT(wide) /* reported is u64 */
ARGS_END(expand_args)
