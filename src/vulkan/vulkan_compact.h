/* Keep bits: what a kernel, flags or a mask says, as one u32 word for 32 elements; and the moving of
 * what they keep. Compaction, runs and the methods that are there to be read are made of these. */
#ifndef TML_VULKAN_COMPACT_H
#define TML_VULKAN_COMPACT_H

#include "vulkan/vulkan_internal.h"

/* The bits of a stretch of a stream in whole tiles (TILE_ITEMS elements, TILE_WORDS words of
 * vulkan_args.k.h). Bit i % 32 of word i / 32 is element i's; past the stretch's length all are
 * zero, up to the end of the last tile of its bound. */
typedef struct vk_keep_bits {
    vk_address words;
    vk_address counts; /* u32 a tile: its set bits; vk_scan_counts makes places of them */
    uint64_t tiles;    /* of the bound; at least 1, so that an empty stream's count is made */
} vk_keep_bits;

vk_keep_bits vk_keep_take(vk_arena *arena, uint64_t bound);
/* The share of a pass in the bits of a whole stream; or, with is_reused, in those of its longest
 * pass, which all use in turn. */
vk_keep_bits vk_keep_of_pass(const vk_keep_bits *all, const vk_pass *pass, bool is_reused);

/* Can the bits be had on this device? */
bool vk_keep_supported(tml_context *tml, const tml_keep *keep);
/* Records what writes the counts of all tiles of a pass, and their bits: with grids only of the tiles
 * that the length reaches, and zero counts for the others. info: the shader with its arguments, a
 * workgroup a tile; its groups are filled here. */
tml_status vk_keep_dispatch(tml_context *tml, vk_dispatch_info *info, const vk_pass *pass,
                            const vk_keep_bits *bits);
/* The same by what keep says. */
tml_status vk_keep_record(tml_context *tml, const tml_keep *keep, const vk_pass *pass,
                          const vk_keep_bits *bits);

/* An array that moves, or the elements' positions. */
typedef struct vk_column {
    vk_address from; /* the stream's first element; 0: positions, u32 or u64 by size */
    vk_address to;
    vk_address next; /* positions: 0, or a u64 that gets the first one that there is no room for */
    uint64_t room;   /* elements of "to": nothing goes past it */
    uint32_t size;   /* bytes of an element */
} vk_column;

/* Records one dispatch that moves a pass's kept elements to their places. bits: with counts made
 * into places. base: a u64, what the passes before keep; 0: none. total: 0, or a u64, what all
 * passes keep: then the rejected follow from there on. unordered: as of vk_dispatch_info. */
tml_status vk_move_record(tml_context *tml, const vk_column *column, const vk_pass *pass,
                          const vk_keep_bits *bits, vk_address base, vk_address total,
                          bool unordered);

/* Copies the first *count elements (u64 on the device, as far as they fit room, which is at least
 * their bound or the end of "to"). */
tml_status vk_copy_counted(tml_context *tml, vk_address to, vk_address from, uint32_t size,
                           uint64_t room, vk_address count);

/* ---- in one pass (compact.glsl) --------------------------------------------------------------- */

/* Where the kept go. What compact.glsl moves are elements of 4 bytes and positions in u32. */
typedef struct vk_one_pass {
    vk_address out;     /* 0: none */
    vk_address indices; /* 0: none */
    uint64_t room;      /* elements of each of them */
    /* One pass: the caller's count, or 0. Several: u64 running totals, one more than passes. */
    vk_address totals;
    vk_address states; /* vk_one_pass_states_take */
    bool is_chained;   /* totals are running totals, even of one pass */
    bool is_wide;      /* the caller's count is u64 */
} vk_one_pass;

/* Room for the states of the longest pass, for a recording. */
vk_address vk_one_pass_states_take(vk_arena *arena, const vk_passes *passes);

/* May this room be used? */
bool vk_one_pass_fits(uint64_t bound, uint64_t room);

/* Records a pass with that module and its own four constants. args: what the module needs of in0 ...
 * in3 and the kernel's values; the rest is filled here. */
struct compact_args;
tml_status vk_one_pass_record(tml_context *tml, const vk_module *module,
                              const uint32_t specs[VK_KERNEL_SPECS], struct compact_args *args,
                              const vk_one_pass *outputs, const vk_passes *passes, uint64_t number);

#endif
