/* Keep bits: one bit per element, 32 to a u32 word, from a kernel, flags or a mask; and the move of
 * the kept elements. Compaction, unique and HISTOPYRAMID use them. */
#ifndef TML_VULKAN_COMPACT_H
#define TML_VULKAN_COMPACT_H

#include "vulkan/vulkan_internal.h"

/* Keep bits of a range of a stream, in whole tiles of TILE_ITEMS elements (TILE_WORDS words,
 * vulkan_args.k.h). Bit i % 32 of word i / 32 is element i's; the bits behind the last element's
 * are 0. */
typedef struct vk_keep_bits {
    vk_address words;
    vk_address
        counts;     /* u32 per tile: its set bits or, with totals, its output offset in the pass */
    uint64_t tiles; /* at least 1, so that an empty stream's count is written */
    vk_address totals; /* 0, or two u64: elements kept before the pass; and (written) after it */
    bool is_first;     /* none are kept before the pass: totals[0] is not read */
    vk_address scan_scratch;
} vk_keep_bits;

/* Tiles of that many elements; at least 1. */
uint64_t vk_keep_tiles(uint64_t bound);
vk_keep_bits vk_keep_take(vk_arena *arena, uint64_t bound);
/* A pass's part of the bits of a whole stream. is_reused: "all" has room only for the longest pass,
 * and each pass overwrites the bits of the preceding pass. */
vk_keep_bits vk_keep_of_pass(const vk_keep_bits *all, const vk_pass *pass, bool is_reused);

/* Does the device support the kernel of keep, if there is one? */
bool vk_keep_supported(tml_context *tml, const tml_keep *keep);
/* Records a shader that writes a pass's bits and counts, one workgroup per tile (this call sets the
 * groups), and, if totals is given, the scan of the counts. With an indirect grid, tiles past the
 * length keep a count of 0, and their bits are not written. */
tml_status vk_keep_dispatch(tml_context *tml, vk_dispatch_info *info, const vk_pass *pass,
                            const vk_keep_bits *bits);
vk_kernel_use vk_keep_use(const tml_keep *keep, vk_address params);
/* The same with the shader that `keep` requires. params: the result of vk_params_take for its
 * kernel, already stored. */
tml_status vk_keep_record(tml_context *tml, const tml_keep *keep, vk_address params,
                          const vk_pass *pass, const vk_keep_bits *bits);

/* An output of a compaction: an array of elements, or the elements' positions. */
typedef struct vk_column {
    vk_address from; /* the stream's first element; 0: positions, u32 or u64 by size */
    vk_address to;
    vk_address next; /* positions: 0, or a u64 that receives the first position past room */
    uint64_t room;   /* capacity of "to", in elements */
    uint32_t size;   /* bytes of an element */
} vk_column;

/* Records one dispatch that moves the elements which a pass's bits keep; the bits must have
 * totals. */
typedef struct vk_move {
    vk_address total; /* u64: elements kept in all passes */
    bool is_both;     /* the rejected elements follow from output index *total on */
    tml_buffer count; /* optional: gets *total */
    bool unordered;   /* as in vk_dispatch_info */
} vk_move;
tml_status vk_move_record(tml_context *tml, const vk_column *column, const vk_pass *pass,
                          const vk_keep_bits *bits, const vk_move *move);

/* Copies the first *count elements (a u64 on the device), at most room of them. */
tml_status vk_copy_counted(tml_context *tml, vk_address to, vk_address from, uint32_t size,
                           uint64_t room, vk_address count);

/* ---- single pass (compact.glsl) -------------------------------------------------------------- */

/* Outputs of compact.glsl: elements of 4 bytes, and u32 positions. */
typedef struct vk_one_pass {
    vk_address out;     /* 0: none */
    vk_address indices; /* 0: none */
    uint64_t room;      /* capacity of each of them, in elements */
    /* One pass: the caller's count, or 0. Several passes: u64 running totals, passes + 1 of
     * them. */
    vk_address totals;
    vk_address states; /* vk_one_pass_states_take */
    bool is_chained;   /* totals are running totals, even of one pass */
    bool is_wide;      /* the caller's count is u64 */
    bool has_first;    /* is_chained: the first running total was stored before, and is not 0 */
    bool is_both;      /* a partition, of one pass, whose tiles are all resident */
} vk_one_pass;

/* Scratch for the look-back states of the longest pass, used while recording. */
vk_address vk_one_pass_states_take(vk_arena *arena, const vk_passes *passes);

/* Can the shader, whose capacity has 32 bits, represent this capacity? */
bool vk_one_pass_fits(uint64_t bound, uint64_t room);

/* Records one pass with that module and its specialization constants 0 ... 3. The caller sets
 * args.in and the kernel's values; this call sets the rest of args. */
struct compact_args;
tml_status vk_one_pass_record(tml_context *tml, const vk_module *module,
                              const uint32_t specs[VK_KERNEL_SPECS], struct compact_args *args,
                              const vk_one_pass *outputs, const vk_passes *passes, uint64_t number);

#endif
