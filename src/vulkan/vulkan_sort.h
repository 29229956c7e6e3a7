/* A radix sort on Vulkan, of a stream (vulkan_sort.c) or of the long segments of a stream. */
#ifndef TML_VULKAN_SORT_H
#define TML_VULKAN_SORT_H

#include "vulkan/vulkan_internal.h"

/* An array that the sort moves: from the caller's array to the caller's, through scratch. Moves
 * write alternately to out and to aside, so that the last move writes to out. */
typedef struct sort_plane {
    vk_address in;    /* 0: the first move makes it */
    vk_address out;   /* the caller's, or scratch */
    vk_address aside; /* scratch */
    vk_address first; /* where the first move writes; not the array of in */
    uint32_t size;    /* bytes of an element after the first move */
    bool is_stored;   /* by the last move */
} sort_plane;

/* The tiles of a stream's long segments: vulkan_sort.k.h. */
typedef struct vk_spans {
    vk_address records, tables, head;
    uint64_t bound; /* tiles; 0: the stream is one */
} vk_spans;

typedef struct vk_sort {
    const tml_sort_resolved *resolved; /* vk_sort_complete's; NULL: none */
    vk_passes parts;
    tml_method method;
    uint32_t key_size, values; /* SORT_VALUES_... of the first move */
    uint32_t first_bit, bit_count;
    uint64_t flip, real_flip; /* of tml_sort_resolved */
    uint32_t items, tile, bins, digit_bits, digits;
    vk_spans spans;
    bool is_short; /* one workgroup sorts the stream */
    sort_plane codes, words;
    vk_address payloads[TML_MAX_PAYLOADS]; /* room for those in place */
    /* LOOK_BACK: states of two sweeps; bases of parts; control: a ticket for each sweep, a counter
     * for each part, and the histogram */
    vk_address states[2], bases[2], own_control;
    uint32_t control_words;
    /* REDUCE_THEN_SCAN: counts by bin and tile */
    uint64_t tiles;
    vk_address counts, scan_scratch;
} vk_sort;

/* Binds the caller's buffers; takes room for payloads in place. */
void vk_sort_bind(tml_context *tml, const tml_sort_resolved *resolved, vk_arena *arena,
                  vk_sort *job);
/* Plans the moves, and takes the scratch that they need. segments: 0, or the most long segments. If
 * it is not 0, only the long segments are sorted, in one part, after the caller has filled in the
 * records and the head. If an array is sorted in place by an odd number of moves, it gets another
 * "in", to which the caller copies it. */
void vk_sort_take(tml_context *tml, vk_arena *arena, uint64_t segments, vk_sort *job);
/* Sorts codes and words. */
tml_status vk_sort_move(tml_context *tml, const vk_sort *job);
/* Writes the outputs that are derived from codes and words: narrow keys, wide indices, payloads. */
tml_status vk_sort_complete(tml_context *tml, const vk_sort *job);

#endif
