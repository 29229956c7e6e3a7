/* Arguments of the Vulkan engine's expand shaders, and the constants both sides count on. */

/* Sources of a tile, 8 for each invocation of a workgroup. */
#define EXPAND_SOURCES_LOG2 11u
#define EXPAND_SOURCES      2048u
/* A tile with more outputs than this is heavy: one workgroup would be long at it. Blocks of
 * outputs are then shared out, none of which lies strictly around a heavy tile: EXPAND_BLOCK <=
 * EXPAND_LIGHT. */
#define EXPAND_LIGHT      16384u
#define EXPAND_BLOCK_LOG2 13u
/* Words of control before a look-back's states: the ticket, and the grid of expand_heavy.comp. */
#define EXPAND_TICKET  0u
#define EXPAND_GRID    1u
#define EXPAND_CONTROL 4u
/* Groups along x in that grid, and their limit along y. */
#define EXPAND_GRID_LOG2 15u
#define EXPAND_GRID_ROWS 32768u

/* All of expand's shaders, for one pass of sources. Tile t's outputs begin at places[t]; one
 * more place is where they end. Numbers of outputs are of 64 bits: a pass of 2^28 sources can
 * have 2^60. */
ARGS_BEGIN(expand_args)
ARG_ADDRESS(counts) /* u8, u16 or u32 */
ARG_ADDRESS(length_at)
ARG_ADDRESS(control) /* words, zero at first; one pass: then two words a tile, of its sum */
ARG_ADDRESS(clear)
ARG_ADDRESS(places)   /* u64 */
ARG_ADDRESS(base)     /* optional: u64, outputs of the passes before */
ARG_ADDRESS(total)    /* u64, these added */
ARG_ADDRESS(reported) /* optional: the caller's total, u32 or u64 */
ARG_ADDRESS(source)   /* optional: u32 */
ARG_ADDRESS(source64) /* optional: u64 */
ARG_ADDRESS(rank)     /* optional: u32 */
ARG_UINT(bound)
ARG_UINT(clear_count)
ARG_UINT(first_low) /* the pass's first source */
ARG_UINT(first_high)
ARG_UINT(capacity_low) /* outputs from here on are not written */
ARG_UINT(capacity_high)
ARG_UINT(wide) /* reported is u64 */
ARGS_END(expand_args)
