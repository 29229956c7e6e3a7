/* The CPU's sort, shared by cpu_sort.c and the loops that cpu_sort_records.h makes for each record.
 *
 * A key becomes a code (kernels/sort.k.h), which orders as an unsigned integer, inverted where the largest comes
 * first. A record is a code alone or a code and a tag, which is the element's index in the source or, where
 * one small payload is all that moves, the payload itself. Records of 8 bytes with a tag have the code in
 * the upper half. */
#ifndef TML_CPU_SORT_H
#define TML_CPU_SORT_H

#include "cpu/cpu_internal.h"

enum {
    SORT_DIGIT = 8, /* bits at most */
    SORT_BINS = 1 << SORT_DIGIT,
    SORT_LINE = 64, /* bytes, a cache line */
};

typedef struct sort_pair {
    uint64_t code, tag;
} sort_pair;

/* A digit of a record's sort bits: (bits >> shift) & mask. */
typedef struct sort_digit {
    unsigned shift;
    uint64_t mask;
} sort_digit;

/* Where one worker's elements of each bin go: next is the place of the bin's next element, first that of its
 * first one. lines holds the elements that wait for their cache line to be complete. */
typedef struct sort_heads {
    uint64_t first[SORT_BINS], next[SORT_BINS];
    _Alignas(SORT_LINE) unsigned char lines[SORT_BINS][SORT_LINE];
} sort_heads;

/* The loops for one size of records. */
typedef struct sort_loops {
    void (*count)(const void *records, size_t count, sort_digit digit, uint64_t *counts);
    /* Moves records to where heads say, stably. stream: by whole cache lines past the caches; flush then
     * writes what still waits. */
    void (*scatter)(const void *records, size_t count, sort_digit digit, sort_heads *heads,
                    void *out, bool stream);
    void (*flush)(sort_heads *heads, void *out);
    /* Sorts count records in x by bits [low, high), with room for as many in y; returns x or y, which
     * holds the result. */
    void *(*sort)(void *x, void *y, size_t count, unsigned low, unsigned high);
} sort_loops;

/* For records of 4, 8 or 16 bytes. */
const sort_loops *cpu_sort_loops(size_t record_size);

#endif
