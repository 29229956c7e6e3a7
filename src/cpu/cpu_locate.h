/* The readable methods: HISTOPYRAMID, SCAN_SEARCH and BITONIC. Where the fast paths write outputs
 * as they walk the sources, these answer one question for each output on its own: which source does
 * output j belong to, and which of that source's outputs is it? That is what an engine without
 * scattered writes must do, and each method is written once for compact, partition and expand. */
#ifndef TML_CPU_LOCATE_H
#define TML_CPU_LOCATE_H

#include "cpu/cpu_internal.h"

typedef struct cpu_locator {
    /* Can a source have more than one output? */
    bool expands;
    size_t (*scratch_size)(uint64_t source_count);
    /* Prepares scratch for locate; the result is the sum of counts. counts: source_count values,
     * then zeros up to a multiple of 4; they stay where they are until the last locate, and build
     * may overwrite them. */
    uint64_t (*build)(tml_context *tml, uint64_t *counts, uint64_t source_count, void *scratch);
    /* For an output below the sum. */
    void (*locate)(const void *scratch, uint64_t output, tml_index *source, tml_rank *rank);
} cpu_locator;

extern const cpu_locator cpu_histopyramid; /* cpu_histopyramid.c */
extern const cpu_locator cpu_scan_search;  /* cpu_scan_search.c */
extern const cpu_locator cpu_bitonic;      /* cpu_bitonic.c */

/* The locator of a method; NULL for the methods that have none. */
const cpu_locator *cpu_locator_of(tml_method method);

/* The operations by a locator; descs are resolved. */
size_t cpu_locate_compact_scratch_size(tml_context *tml, const tml_compact_desc *desc);
tml_status cpu_locate_compact(tml_context *tml, const tml_compact_desc *desc, void *scratch);
tml_status cpu_locate_partition(tml_context *tml, const tml_partition_desc *desc, void *scratch);
size_t cpu_locate_expand_scratch_size(tml_context *tml, const tml_expand_desc *desc);
tml_status cpu_locate_expand(tml_context *tml, const tml_expand_desc *desc, void *scratch);

/* ---- shared with the fast expand (cpu_expand.c) ---------------------------------------------- */

/* How many outputs each source of an expand makes, wherever that comes from. */
typedef struct cpu_counts {
    cpu_call call; /* call.kernel NULL: memory */
    const unsigned char *memory;
    size_t size; /* bytes of a count in memory: 1, 2, 4 */
} cpu_counts;
void cpu_counts_bind(const tml_context *tml, const tml_expand_desc *desc, cpu_counts *out);
/* Counts of the sources [first, first + n), n <= CPU_BLOCK. */
void cpu_counts_read(const cpu_counts *counts, cpu_call_space *space, uint64_t first, size_t n,
                     uint32_t *out);
/* How many of total outputs are written: the smallest room among the outputs given. */
uint64_t cpu_expand_limit(const tml_context *tml, const tml_expand_desc *desc, uint64_t total);
/* Stores total; what a u32 cannot hold becomes its largest value. */
void cpu_expand_store_total(const tml_context *tml, tml_buffer buffer, uint64_t total);

/* ---- running sums (cpu_scan_search.c) ------------------------------------------------------- */

/* Running sums by Hillis and Steele, in log2(count) passes over all elements. Each element is a
 * u64, or a double when is_float. Sums go back and forth between a and b; the result is where they
 * ended. */
typedef union cpu_sum {
    uint64_t integer;
    double real;
} cpu_sum;
cpu_sum *cpu_hillis_steele(tml_context *tml, cpu_sum *a, cpu_sum *b, uint64_t count, bool is_float);

/* SCAN_SEARCH's scan: tml_scan by the same running sums. */
size_t cpu_hillis_steele_scan_scratch_size(tml_context *tml, const tml_scan_desc *desc);
tml_status cpu_hillis_steele_scan(tml_context *tml, const tml_scan_desc *desc, void *scratch);

#endif
