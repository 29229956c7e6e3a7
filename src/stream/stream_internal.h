/* Steps that the public calls of all stream operations share:
 *
 *   1. stream_check_... check each field of a copy of the desc; messages name call and field;
 *   2. the call replaces the copy's zeros by defaults: an exact length, a method other than AUTO;
 *   3. stream_run takes the engine's part of the operation, asks its supports(), finds its scratch
 *   in
 *      desc.scratch or the arena, and calls its run().
 *
 * Engines therefore get valid and complete descs alone. */
#ifndef TML_STREAM_INTERNAL_H
#define TML_STREAM_INTERNAL_H

#include "core/call.h"

/* An operation: the engines' parts, each given the desc beside its name. */
typedef struct stream_op {
    const char *without; /* what an engine that has no part lacks, in words: "no maps" */
    size_t desc_size;    /* bytes of the resolved desc */
    const tml_engine_op *parts[PART_COUNT];
} stream_op;
extern const stream_op stream_map, /* tml_map_desc */
    stream_reduce,                 /* tml_reduce_desc */
    stream_histogram,              /* tml_histogram_resolved */
    stream_scan,                   /* tml_scan_resolved */
    stream_compact,                /* tml_compact_desc */
    stream_sort,                   /* tml_sort_resolved */
    stream_sort_segments,          /* tml_sort_resolved */
    stream_top_k,                  /* tml_top_k_resolved */
    stream_gather,                 /* tml_gather_desc */
    stream_scatter,                /* tml_gather_desc */
    stream_search,                 /* tml_search_resolved */
    stream_expand,                 /* tml_expand_desc */
    stream_unique,                 /* tml_unique_desc */
    stream_reduce_segments,        /* tml_reduce_desc of one fold */
    stream_scan_segments;          /* tml_scan_desc */

/* Lists for tml_check_buffer, ended by TML_TYPE_NONE. */
extern const tml_type stream_count_types[];    /* u32, u64: counts, lengths, indices, offsets */
extern const tml_type stream_f32_types[];      /* f32 */
extern const tml_type stream_f32x3_types[];    /* f32x3 */
extern const tml_type stream_triangle_types[]; /* u32x3, u64x3 */
extern const tml_type stream_u8_types[];       /* u8 */
extern const tml_type stream_u32_types[];      /* u32 */
extern const tml_type stream_scalar_types[];   /* every scalar type */

/* Number of elements in a buffer; 0 for no buffer. */
uint64_t stream_count_of(const tml_context *tml, tml_buffer buffer);

/* Checks length's device buffer. Replaces a count of 0 by available, the first input's element
 * count, unless length->exact; sets exact. The caller then checks each input against length->count,
 * the bound. field: the length's name in messages. */
tml_status stream_check_length(tml_context *tml, const char *call, const char *field,
                               uint64_t available, tml_length *length);

/* *out: the length that a checked desc has, read from the device, with a wait, where it is
 * there. */
tml_status stream_read_length(tml_context *tml, const tml_length *length, uint64_t *out);

/* Refuses a buffer of u32 whose elements may have to hold more than 2^32 - 1. */
tml_status stream_check_range(tml_context *tml, const char *call, const char *field,
                              tml_buffer buffer, uint64_t largest);

/* Checks a kernel and its inputs: array parameters take in[] in order, all inputs are used, and
 * each has at least count elements, or any number for tml_words. result: the required return type
 * (TML_TYPE_NONE: any). rank: is a tml_rank parameter allowed? field names the kernel in messages,
 * in_field its inputs ("keep.in"). */
tml_status stream_check_kernel(tml_context *tml, const char *call, const char *field,
                               const tml_kernel *kernel, tml_type result, bool rank,
                               const char *in_field, const tml_buffer in[TML_MAX_INPUTS],
                               uint64_t count);

/* The first of the TML_MAX_INPUTS inputs that the kernel reads element by element: its element
 * count is the stream's length. No buffer if there is none. The kernel may be unchecked. */
tml_buffer stream_first_elements(const tml_kernel *kernel, const tml_buffer *in);
/* Does the kernel read input number input as tml_words? */
bool stream_is_words(const tml_kernel *kernel, uint32_t input);

/* Do two buffers begin at the same address? False if either is no buffer. */
bool stream_same(const tml_context *tml, tml_buffer a, tml_buffer b);

/* Do two buffers share no byte? Buffers in the caller's memory may overlap under different handles.
 * True if either is no buffer or lies on the host. in_place: also if both begin at the same
 * address. */
bool stream_is_apart(const tml_context *tml, tml_buffer a, tml_buffer b, bool in_place);
/* Refuses an output that is not apart from another buffer of the call. */
tml_status stream_check_apart(tml_context *tml, const char *call, const char *out_field,
                              tml_buffer out, const char *other_field, tml_buffer other,
                              bool in_place);

/* Replaces AUTO by the first method of preference (ended by TML_METHOD_AUTO) that the engine
 * supports for desc and does not avoid, or else by the last. method points into desc. */
tml_status stream_choose_method(tml_context *tml, const char *call, const stream_op *op,
                                const void *desc, tml_method *method, const tml_method *preference);

/* Runs a checked desc. scratch is desc->scratch; no buffer: the context's arena. */
tml_status stream_run(tml_context *tml, const char *call, const stream_op *op, const void *desc,
                      tml_buffer scratch);
/* *memory: scratch from its first aligned address on or, if that is no buffer, the context's arena:
 * at least need bytes, *size of them. */
tml_status stream_take_scratch(tml_context *tml, const char *call, tml_buffer scratch, size_t need,
                               void **memory, size_t *size);
/* The same for a program's part. op: NULL if the engine has none; the message then says what ("no
 * mip levels"). */
tml_status stream_run_op(tml_context *tml, const char *call, const tml_engine_op *op,
                         const char *what, const void *desc, tml_buffer scratch);
/* First step of stream_run_op, for an operation that takes scratch itself: refuses a cancelled
 * context and an unsupported operation. */
tml_status stream_begin_op(tml_context *tml, const char *call, const tml_engine_op *op,
                           const char *what, const void *desc);
bool stream_supports_op(tml_context *tml, const tml_engine_op *op, const void *desc);

/* Folds (reduce.c): the check of fold and out for a checked in. */
tml_status stream_check_fold(tml_context *tml, const char *call, tml_fold fold, tml_buffer in,
                             uint64_t in_count, const char *out_field, tml_buffer out,
                             uint64_t out_count);

/* Segments (segments.c): are any given? */
static inline bool stream_has_segments(const tml_segments *segments)
{
    return !tml_buffer_is_none(segments->offsets) || !tml_buffer_is_none(segments->starts);
}
/* Checks desc.segments, which may be zeroed: at most one of offsets and starts is given, and count
 * only with starts. Resolves count. *most: the bound of the number of segments. */
tml_status stream_check_segments(tml_context *tml, const char *call, tml_segments *segments,
                                 uint64_t *most);

/* What makes codes of keys (kernels/sort.k.h). */
void stream_sort_flips(const tml_slot *keys, bool descending, uint64_t *flip, uint64_t *real_flip);

#endif
