/* HISTOPYRAMID: each output finds its source, and its rank among that source's outputs, by
 * traversing a histogram pyramid, and then gathers. The other methods walk the sources and scatter,
 * which an engine without scattered writes cannot do. */
#ifndef TML_CPU_LOCATE_H
#define TML_CPU_LOCATE_H

#include "cpu/cpu_internal.h"

/* The pyramid (cpu_histopyramid.c). Builds it in scratch and returns the sum of counts, 0 if
 * cancelled. counts: source_count values, then zeros up to a multiple of 4. The counts are the base
 * level, so they must stay valid until the last call of locate. */
size_t cpu_pyramid_scratch_size(uint64_t source_count);
uint64_t cpu_pyramid_build(tml_context *tml, uint64_t *counts, uint64_t source_count,
                           void *scratch);
/* The source and rank of an output below the sum. */
void cpu_pyramid_locate(const void *scratch, uint64_t output, tml_index *source, tml_rank *rank);

/* The operations; descs are resolved. */
size_t cpu_locate_compact_scratch_size(tml_context *tml, const tml_compact_desc *desc);
tml_status cpu_locate_compact(tml_context *tml, const tml_compact_desc *desc, void *scratch);
size_t cpu_locate_expand_scratch_size(tml_context *tml, const tml_expand_desc *desc);
tml_status cpu_locate_expand(tml_context *tml, const tml_expand_desc *desc, void *scratch);

/* ---- shared with the fast expand (cpu_expand.c) ---------------------------------------------- */

/* The number of outputs of each source of an expand, from a kernel or from memory. */
typedef struct cpu_counts {
    cpu_call call; /* call.kernel NULL: memory */
    const unsigned char *memory;
    size_t size; /* bytes of a count in memory: 1, 2, 4 */
} cpu_counts;
void cpu_counts_bind(const tml_context *tml, const tml_expand_desc *desc, cpu_counts *out);
/* Counts of the sources [first, first + n), n <= CPU_BLOCK. */
void cpu_counts_read(const cpu_counts *counts, cpu_call_space *space, uint64_t first, size_t n,
                     uint32_t *out);
/* The number of outputs that are written: the total, or fewer if the smallest of the given output
 * buffers has less room from element first on. */
uint64_t cpu_expand_limit(const tml_context *tml, const tml_expand_desc *desc, uint64_t first,
                          uint64_t total);

#endif
