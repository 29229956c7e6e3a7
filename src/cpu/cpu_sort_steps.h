/* The CPU's sort, shared by cpu_sort.c and the loops that cpu_sort_records.h makes for each record.
 *
 * A key becomes a code (kernels/sort.k.h), which orders as an unsigned integer, inverted where the
 * largest comes first. A record is a code alone or a code and a tag, which is the element's index
 * in the source or, where one small payload is all that moves, the payload itself. Records of 8
 * bytes with a tag have the code in the upper half. */
#ifndef TML_CPU_SORT_STEPS_H
#define TML_CPU_SORT_STEPS_H

#include "cpu/cpu_internal.h"

enum {
    SORT_DIGIT = 10, /* bits at most */
    SORT_BINS = 1 << SORT_DIGIT,
    SORT_TABLES = 4, /* of counts: neighbours that are equal do not wait for one another */
    /* Bytes that wait for a bin: a write of four cache lines at a time is mispredicted a quarter as
     * often. */
    SORT_LINE = 256,
    /* Elements that stay in the second-level cache, twice: they are halved until they are
     * leaves. */
    SORT_LOCAL = 64 * 1024,
    SORT_LEAF_MEAN = 2048, /* elements that are sorted by rows at once, and at most */
    SORT_LEAF = 3072,
    SORT_ROW = 16,
    SORT_ROW_MEAN =
        8, /* codes a row at most: a row of even codes holds more than 16 once in 250 times */
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

/* Where one worker's elements of each bin go: next is the place of the bin's next element, first
 * that of its first one. lines holds the elements that wait for their cache lines to be
 * complete. */
typedef struct sort_heads {
    uint64_t first[SORT_BINS], next[SORT_BINS];
    _Alignas(64) unsigned char lines[SORT_BINS][SORT_LINE];
} sort_heads;

/* One worker's rows. Row i takes the records of digit i in the order of the source; fills[i] counts
 * them, also those that the row has no room for. A code of a record of 4 bytes is the record. Of
 * others it is the bits below the digit, 28 at most, and below them the place in the row, by which
 * the record is found again. */
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
    /* Moves records to where heads say, stably, by whole cache lines past the caches; flush then
     * writes what still waits. */
    void (*scatter)(const void *records, size_t count, sort_digit digit, sort_heads *heads,
                    void *out);
    void (*flush)(sort_heads *heads, void *out);
    /* Moves records whose bit is not set to zeros and the others to ones, in order, and up to
     * CPU_SLACK bytes more. ones may be x. Returns the number of zeros. */
    size_t (*halve)(const void *x, size_t count, unsigned bit, void *zeros, void *ones);
    /* Sorts x by bits [low, high) to out; x is overwritten. is_whole: records of equal bits are
     * equal. SORT_LEAF records at most, if has_rows. */
    void (*leaf)(void *x, void *out, size_t count, unsigned low, unsigned high, bool is_whole,
                 sort_rows *rows);
    /* Sorts count neighbouring segments of SORT_ROW records at most, to out: segment s is
     * [bounds[s], bounds[s + 1]). is_whole or records of 8 bytes and more. NULL without rows. */
    void (*short_ones)(const void *x, void *out, const uint32_t *bounds, size_t count, unsigned low,
                       unsigned high, sort_rows *rows);
    bool has_rows; /* sorts by rows, and halves by vectors */
} sort_loops;

/* Leaves [low, high) without what no two codes differ in. */
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
