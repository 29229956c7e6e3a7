/* The CPU's sort: declarations that cpu_sort.c shares with the loops of cpu_sort_records.h, which
 * exist for each kind of record.
 *
 * A key becomes a code (kernels/sort.k.h), an unsigned integer with the same order; it is inverted
 * if the largest key comes first. A record is a code, or a code and a tag. The tag is the element's
 * index in the source; if one small payload is all that moves, the tag is the payload itself. In
 * records of 8 bytes with a tag, the code is the upper half. */
#ifndef TML_CPU_SORT_STEPS_H
#define TML_CPU_SORT_STEPS_H

#include "cpu/cpu_internal.h"

enum {
    SORT_DIGIT = 10, /* bits at most */
    SORT_BINS = 1 << SORT_DIGIT,
    SORT_TABLES = 4, /* of counts, so that equal neighbours do not wait for one another */
    /* Bytes that are buffered for a bin. With four cache lines per write, the branch is
     * mispredicted a quarter as often. */
    SORT_LINE = 256,
    /* The most elements that fit the second-level cache twice: ranges of that size are halved until
     * they are leaves. */
    SORT_LOCAL = 64 * 1024,
    SORT_LEAF_MEAN = 2048, /* elements sorted by rows at once, on average; and at most */
    SORT_LEAF = 3072,
    SORT_ROW = 16,
    /* codes per row on average, at most: a row of evenly spread codes then exceeds 16 once in 250
     * times */
    SORT_ROW_MEAN = 8,
    SORT_GROUP = 16, /* rows sorted at a time */
};

typedef struct sort_pair {
    uint64_t code, tag;
} sort_pair;

/* How records are made of the source. */
typedef struct sort_form {
    size_t record_size;
    unsigned code_shift; /* of a code in its record's sort bits */
    const unsigned char *keys;
    size_t key_size;
    uint64_t flip,
        real_flip; /* code = key ^ flip, and ^ real_flip where the key's sign bit is set */
    /* tags: values of value_size bytes, or indices (value_size 0) */
    bool has_tag;
    const unsigned char *values;
    size_t value_size;
} sort_form;

/* Makes records of elements [first, first + count). */
void cpu_sort_load(const sort_form *form, uint64_t first, size_t count, void *out);
/* The keys of records, and their tags as unsigned integers of size bytes. */
void cpu_sort_keys(const sort_form *form, const void *records, size_t count, void *out);
void cpu_sort_tags(const sort_form *form, const void *records, size_t count, size_t size,
                   void *out);

/* A digit of a record's sort bits: (bits >> shift) & mask. */
typedef struct sort_digit {
    unsigned shift;
    uint64_t mask;
} sort_digit;

/* Where one worker's elements of each bin go. first: the position of the bin's first element; next:
 * that of its next one; lines: the elements whose cache lines are not yet complete. */
typedef struct sort_heads {
    uint64_t first[SORT_BINS], next[SORT_BINS];
    _Alignas(64) unsigned char lines[SORT_BINS][SORT_LINE];
} sort_heads;

/* One worker's rows. Row i receives the records with digit i, in the order of the source. fills[i]
 * is the number of these records, including those for which the row has no room. The code of a
 * record of 4 bytes is the record. Otherwise a code holds at most 28 bits below the digit and, in
 * its lowest bits, the record's position in the row, by which the record is found again. */
typedef struct sort_rows {
    uint32_t *fills;
    uint32_t (*codes)[SORT_ROW];
    unsigned char *records; /* SORT_ROW a row */
    unsigned char *surplus; /* records that their rows had no room for; and as many bytes again */
} sort_rows;

/* The loops for one size of records. */
typedef struct sort_loops {
    /* The bits in which records differ from base. */
    uint64_t (*differ)(const void *records, size_t count, const void *base);
    /* Adds to SORT_TABLES tables. */
    void (*count)(const void *records, size_t count, sort_digit digit,
                  uint32_t (*tables)[SORT_BINS]);
    /* Moves records stably to the positions in heads, by whole cache lines with non-temporal
     * stores; flush then writes the buffered rest. */
    void (*scatter)(const void *records, size_t count, sort_digit digit, sort_heads *heads,
                    void *out);
    void (*flush)(sort_heads *heads, void *out);
    /* Moves records whose bit is 0 to zeros and the others to ones, in order. Writes up to
     * CPU_SLACK bytes more. ones may be x. Returns the number of zeros. */
    size_t (*halve)(const void *x, size_t count, unsigned bit, void *zeros, void *ones);
    /* Sorts x by bits [low, high) to out; x is overwritten. is_whole: records of equal bits are
     * equal. If has_rows, at most SORT_LEAF records. */
    void (*leaf)(void *x, void *out, size_t count, unsigned low, unsigned high, bool is_whole,
                 sort_rows *rows);
    /* Sorts count neighbouring segments of at most SORT_ROW records each, to out: segment s is
     * [bounds[s], bounds[s + 1]). Requires is_whole, or records of 8 bytes or more. NULL without
     * rows. */
    void (*short_ones)(const void *x, void *out, const uint32_t *bounds, size_t count, unsigned low,
                       unsigned high, sort_rows *rows);
    bool has_rows; /* sorts by rows, and halves by vectors */
} sort_loops;

/* Narrows [low, high) to the bits in which codes differ. */
static inline void sort_narrow(uint64_t differ, unsigned *low, unsigned *high)
{
    differ = differ >> *low << *low;
    if (*high < 64)
        differ &= ((uint64_t)1 << *high) - 1;
    *low = differ ? (unsigned)__builtin_ctzll(differ) : 0;
    *high = differ ? 64 - (unsigned)__builtin_clzll(differ) : 0;
}

/* For records of 4, 8 or 16 bytes. */
const sort_loops *cpu_sort_loops(size_t record_size);

#endif
