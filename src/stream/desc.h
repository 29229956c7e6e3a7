/* A desc as a table: what is known of each field is said once, and desc_check checks all of them.
 *
 *     enum { LENGTH, KEYS, SORTED, SCRATCH };
 *     #define ROW(field, ...) DESC_ROW(tml_sort_desc, field, __VA_ARGS__)
 *     #define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
 *     static const desc_row rows[] = {
 *         [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(KEYS)),
 *         [KEYS] = ROW(keys, DESC_IN, .types = stream_scalar_types, .count = DESC_LENGTH),
 *         [SORTED] = OUT(sorted, .like = DESC_LIKE(KEYS), .count = DESC_LENGTH,
 *                        .shares = 1u << KEYS),
 *         [SCRATCH] = DESC_SCRATCH(tml_sort_desc)};
 *     desc_numbers numbers = {0};
 *     status = desc_check(tml, call, &DESC_TABLE(rows), &desc, &numbers);
 *
 * desc_check checks the rows in their order, and then that each output is apart from all other
 * buffers of the desc. A call checks in functions of its own what a table cannot say. */
#ifndef TML_STREAM_DESC_H
#define TML_STREAM_DESC_H

#include "stream/stream_internal.h"

/* The kinds of fields. Some rows belong to another row, which .like names. */
typedef enum desc_kind {
    DESC_IN,     /* tml_buffer that is read */
    DESC_OUT,    /* tml_buffer that is written */
    DESC_INPUTS, /* tml_buffer[TML_MAX_INPUTS] that a kernel reads; like: the kernel's row */
    /* tml_length; sets the number .count, by default DESC_LENGTH. Its own default is the number of
     * elements of .like or, without .like, the number as it was. holds: a number that bounds it */
    DESC_LENGTHS,
    DESC_ENUM,    /* an enumeration; of: its type's name; most: its last value */
    DESC_U32,     /* uint32_t; range */
    DESC_F32,     /* float; range */
    DESC_F64,     /* double; range */
    DESC_POINTER, /* a pointer; of: what it points to */
    DESC_WITHIN,  /* pointer to a desc, or NULL; within: its table, whose inputs this call reads */
    DESC_PAYLOAD, /* of DESC_PAYLOADS */
    DESC_OTHER    /* checked by .check alone */
} desc_kind;
/* Kinds with a check of their own, which a program that has no such row does not link:
 * KERNELS    const tml_kernel *; types: the one that it returns; like: its inputs' row
 * MADE       tml_buffer[TML_MAX_OUTS] that a kernel writes; like: the kernel's row
 * FOLDED     tml_reduce_result[TML_MAX_FOLDS]; like: the row of the stream
 * PAYLOADS   tml_payload[TML_MAX_PAYLOADS]; count, holds: elements of each in, of each out
 * SEGMENTED  tml_segments; sets DESC_SEGMENTS */
#define DESC_KERNELS   DESC_OTHER, .check = desc_check_kernel
#define DESC_MADE      DESC_OTHER, .check = desc_check_made
#define DESC_FOLDED    DESC_OTHER, .check = desc_check_folds
#define DESC_PAYLOADS  DESC_PAYLOAD, .check = desc_check_payloads
#define DESC_SEGMENTED DESC_OTHER, .check = desc_check_segments
typedef struct desc_walk desc_walk;
typedef tml_status desc_check_fn(desc_walk *walk, uint32_t row);
desc_check_fn desc_check_kernel, desc_check_made, desc_check_folds, desc_check_payloads,
    desc_check_segments;

/* Numbers of elements, and numbers that elements hold. Rows name them, and lengths set them. */
typedef enum desc_number {
    DESC_ANY, /* 0 */
    DESC_ONE,
    DESC_LENGTH,   /* the bound of the length */
    DESC_LAST,     /* the index of the last element, or 0 */
    DESC_WORDS,    /* 32-bit words with a bit for each element */
    DESC_TIMES,    /* the length times desc_numbers.times */
    DESC_SEGMENTS, /* the bound of the number of segments */
    DESC_SECOND,   /* another number of the call's, such as the bound of a second length */
    DESC_NUMBERS,
    DESC_OUTS,  /* in rows: the number that desc_numbers.outs names */
    DESC_ALIKE, /* in rows of buffers: the number of elements of .like */
    DESC_CONSTANTS
} desc_number;
#define DESC_CONSTANT(number) (DESC_CONSTANTS + (number)) /* in rows of buffers */
typedef struct desc_numbers {
    uint64_t of[DESC_NUMBERS];
    uint32_t times;
    desc_number outs;
    uint32_t apart; /* bit r: outputs of row r share no memory, whatever .shares says */
} desc_numbers;

/* What a number must be: low to high, and not NaN. needs: the same in words, with the default. */
typedef struct desc_range {
    double low, high;
    const char *needs;
} desc_range;

typedef struct desc_row {
    const char *name; /* "desc.keys" */
    union {
        const tml_type *types; /* ended by TML_TYPE_NONE; NULL: any type, or that of .like */
        const desc_range *range;
        const char *of;
        const struct desc_table *within;
    };
    desc_check_fn *check;
    /* Bit r: this output may begin where the input of row r does. Of payloads: each where its own
     * in does. Of a kernel's inputs: if its elements are as large, and the kernel reads that input
     * one by one. */
    uint32_t shares;
    uint16_t offset;
    uint8_t kind;
    uint8_t like;       /* DESC_LIKE(row); of buffers: the row whose type this one has, or .count */
    uint8_t count;      /* desc_number: the least number of elements */
    uint8_t holds;      /* desc_number: the largest number that elements of u32 or u64 may hold */
    uint8_t most;       /* the last value of an enumeration */
    bool is_optional;   /* zeroed fields are not checked */
    bool is_anywhere;   /* an input that may stay on the host */
    bool shares_inputs; /* a kernel that may use fewer inputs: another kernel reads them, too */
    bool has_rank;      /* a kernel that may have a parameter tml_rank */
} desc_row;

enum { DESC_ROWS_MOST = 32 };
typedef struct desc_table {
    const desc_row *rows;
    uint32_t count;
} desc_table;

#define DESC_LIKE(row) ((row) + 1)
#define DESC_ROW(type, field, ...)                                                                 \
    {                                                                                              \
        .name = "desc." #field, .offset = offsetof(type, field), .kind = __VA_ARGS__               \
    }
#define DESC_SCRATCH(type)                                                                         \
    DESC_ROW(type, scratch, DESC_OUT, .is_optional = true, .types = stream_u8_types)
/* A table's rows have bits: more than 32 do not compile. */
#define DESC_TABLE(rows)                                                                           \
    (desc_table)                                                                                   \
    {                                                                                              \
        rows, TML_ARRAY_SIZE(rows) +                                                               \
                  0 * sizeof(char[TML_ARRAY_SIZE(rows) > DESC_ROWS_MOST ? -1 : 1])                 \
    }

/* Checks desc, a copy of the caller's, by its table, and replaces zeroed lengths by their defaults.
 * numbers  the call sets those that rows name and no length sets; desc_check sets the rest */
tml_status desc_check(tml_context *tml, const char *call, const desc_table *table, void *desc,
                      desc_numbers *numbers);

/* Returns a bit per row: whether the row is a buffer that is given. */
uint32_t desc_given(const desc_table *table, const void *desc);

/* Maps the given buffers to the host.
 * to  per row: NULL, or the address of the pointer that receives the memory, which is NULL before
 * desc_unmap_buffers unmaps these buffers. It must also be called when desc_map_buffers failed. */
tml_status desc_map_buffers(tml_context *tml, const desc_table *table, const void *desc,
                            void *const *to);
void desc_unmap_buffers(tml_context *tml, const desc_table *table, const void *desc,
                        void *const *to);

#endif
