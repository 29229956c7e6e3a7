/* HISTOPYRAMID answers for each output j independently: which source does it belong to, and what is
 * its rank among that source's outputs? Compact, partition and expand share it. A stream is one
 * pass: at most 2^30 sources and as many outputs. */
#ifndef TML_VULKAN_LOCATE_H
#define TML_VULKAN_LOCATE_H

#include "vulkan/vulkan_internal.h"

/* The operations; the fields of descs are resolved. */
bool vk_locate_compact_supports(tml_context *tml, const tml_compact_desc *desc);
size_t vk_locate_compact_scratch_size(tml_context *tml, const tml_compact_desc *desc);
tml_status vk_locate_compact(tml_context *tml, const tml_compact_desc *desc, void *scratch);
bool vk_locate_expand_supports(tml_context *tml, const tml_expand_desc *desc);
size_t vk_locate_expand_scratch_size(tml_context *tml, const tml_expand_desc *desc);
tml_status vk_locate_expand(tml_context *tml, const tml_expand_desc *desc, void *scratch);

/* ---- steps of all methods of expand (vulkan_expand_steps.c) ---------------------------------- */

/* A pass's counts: the caller's, with their size in bytes, or the u32 counts that the kernel wrote
 * to "made". */
typedef struct vk_expand_counts {
    vk_address at;
    uint32_t size;
} vk_expand_counts;
/* Outputs of an expansion; address 0: not written. source and rank are u32, in scratch if only the
 * emit kernel uses them. */
typedef struct vk_expand_outputs {
    uint64_t capacity;
    vk_address source, source64, rank;
    vk_passes passes;  /* of the emit kernel, over outputs */
    vk_address first;  /* u64: where outputs begin; 0: at 0 */
    vk_passes before;  /* for the emit kernel's passes: outputs before the first */
    vk_address params; /* parameters of kernels that read them from scratch; 0: none */
} vk_expand_outputs;
void vk_expand_outputs_take(tml_context *tml, const tml_expand_desc *desc, vk_arena *arena,
                            vk_expand_outputs *out);
tml_status vk_expand_counts_record(tml_context *tml, const tml_expand_desc *desc,
                                   const vk_expand_outputs *outputs, const vk_pass *pass,
                                   vk_address made, vk_expand_counts *out);
/* Records the emit kernel, if any, over the outputs up to *total (u64), at most the capacity. */
tml_status vk_expand_emit(tml_context *tml, const tml_expand_desc *desc,
                          const vk_expand_outputs *outputs, vk_address total);

/* Records the exact sum of count u32 counts, plus *first (0: none). Stores it to the caller's
 * total, if any, and as a u64 to the address that vk_expand_sum_at returns. */
size_t vk_expand_total_scratch(uint32_t count);
tml_status vk_expand_total(tml_context *tml, const tml_expand_desc *desc, vk_address counts,
                           uint32_t count, vk_address first, vk_address scratch);
vk_address vk_expand_sum_at(vk_address scratch);

/* For REDUCE_THEN_SCAN and LOOK_BACK: tiles of EXPAND_SOURCES sources. */
uint32_t vk_expand_tiles(uint64_t sources);
struct expand_args;
tml_status vk_expand_record(tml_context *tml, const vk_module *module,
                            const struct expand_args *args, uint32_t count_size, bool is_one_pass,
                            uint64_t groups, vk_address grid);
/* Records the reduction of each tile's counts and the scan of the sums to places and total. */
tml_status vk_expand_places(tml_context *tml, const struct expand_args *args, uint32_t count_size);
/* Sets where the caller's total goes, if there is one. */
void vk_expand_report(tml_context *tml, const tml_expand_desc *desc, struct expand_args *args);

#endif
