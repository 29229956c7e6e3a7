/* A desc as a table: what is known of each field is said once, and desc_check checks them all.
 *
 *     enum { LENGTH, KEYS, SORTED, SCRATCH };
 *     static const desc_row rows[] = {
 *         [LENGTH] = DESC_ROW(tml_sort_desc, length, DESC_LENGTHS, .like = DESC_LIKE(KEYS)),
 *         [KEYS] = DESC_ROW(tml_sort_desc, keys, DESC_IN, .types = stream_scalar_types,
 *                           .count = DESC_LENGTH),
 *         [SORTED] = DESC_ROW(tml_sort_desc, sorted, DESC_OUT, .is_optional = true,
 *                             .like = DESC_LIKE(KEYS), .count = DESC_LENGTH, .shares = 1u << KEYS),
 *         [SCRATCH] = DESC_SCRATCH(tml_sort_desc)};
 *     desc_numbers numbers = {0};
 *     status = desc_check(tml, call, &DESC_TABLE(rows), &desc, &numbers);
 *
 * Rows are checked in their order; then no output may share memory with another buffer of the desc.
 * What a table cannot say is checked by a function of the call, before or after. */
#ifndef TML_STREAM_DESC_H
#define TML_STREAM_DESC_H

#include "stream/stream_internal.h"

/* The kinds of fields. Some rows belong to another: like names it. */
typedef enum desc_kind {
    DESC_IN,        /* tml_buffer that is read */
    DESC_OUT,       /* tml_buffer that is written */
    DESC_KERNELS,   /* const tml_kernel *; types: the one that it returns; like: its inputs' row */
    DESC_INPUTS,    /* tml_buffer[TML_MAX_INPUTS] that a kernel reads; like: the kernel's row */
    DESC_MADE,      /* tml_buffer[TML_MAX_OUTS] that a kernel writes; like: the kernel's row */
    DESC_FOLDED,    /* tml_reduce_result[TML_MAX_FOLDS]; like: the row of the stream */
    DESC_PAYLOADS,  /* tml_payload[TML_MAX_PAYLOADS]; count and holds: elements of each in, out */
    DESC_SEGMENTED, /* tml_segments; sets DESC_SEGMENTS */
    /* tml_length; sets the number count, by default DESC_LENGTH. By default it is all elements of
     * like or, without like, that number as it was. holds: a number that bounds it. */
    DESC_LENGTHS
} desc_kind;

/* Numbers of elements, and of what elements hold, that are known when a desc is. */
typedef enum desc_number {
    DESC_ANY, /* 0 */
    DESC_ONE,
    DESC_LENGTH, /* bound of the length */
    DESC_LAST,   /* index of the last element, or 0 */
    DESC_WORDS,  /* 32-bit words with a bit for each element */
    DESC_SEGMENTS,
    DESC_SECOND, /* bound of another length of the call's */
    DESC_NUMBERS,
    DESC_OUTS /* in rows: the number that desc_numbers.outs names */
} desc_number;
typedef struct desc_numbers {
    uint64_t of[DESC_NUMBERS];
    desc_number outs;
    uint32_t apart; /* bit r: outputs of row r share no memory at all, whatever their row says */
} desc_numbers;

typedef struct desc_row {
    const char *name;      /* "desc.keys" */
    const tml_type *types; /* ended by TML_TYPE_NONE; NULL: any type, or like's */
    uint32_t shares;       /* bit r: an output may begin where the input of row r does, with payload
                              i that of payload i, and with a kernel's inputs only if elements are as
                              large, and the kernel reads them one by one */
    uint16_t offset;
    uint8_t kind;
    uint8_t like;       /* DESC_LIKE(row): of the same type as its buffer */
    uint8_t count;      /* desc_number: least number of elements */
    uint8_t holds;      /* desc_number: a u32 or u64 that may have to hold numbers up to it */
    bool is_optional;   /* zeroed: not checked */
    bool shares_inputs; /* a kernel that may use fewer of its inputs, since another has them too */
    bool has_rank;      /* a kernel that may have a parameter tml_rank */
} desc_row;

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
    DESC_ROW(type, scratch, DESC_OUT, .is_optional = true, .types = stream_flag_types)
#define DESC_TABLE(rows)                                                                           \
    (desc_table)                                                                                   \
    {                                                                                              \
        rows, TML_ARRAY_SIZE(rows)                                                                 \
    }

/* Checks a copy of the caller's desc by its table, and replaces zeros of its lengths by their
 * defaults. numbers: what the rows name and the call knows before; the rest are set. */
tml_status desc_check(tml_context *tml, const char *call, const desc_table *table, void *desc,
                      desc_numbers *numbers);

#endif
