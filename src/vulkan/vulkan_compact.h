/* Keep bits: what a kernel, flags or a mask says, as one u32 word for 32 elements. Compaction and
 * the methods that are there to be read begin with them. */
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
/* The share of a pass in the bits of a whole stream. */
vk_keep_bits vk_keep_of_pass(const vk_keep_bits *all, const vk_pass *pass);

/* Can the bits be had on this device? */
bool vk_keep_supported(tml_context *tml, const tml_keep *keep);
/* Records one dispatch that writes the bits and the counts of all tiles of a pass. */
tml_status vk_keep_record(tml_context *tml, const tml_keep *keep, const vk_pass *pass,
                          const vk_keep_bits *bits);

#endif
