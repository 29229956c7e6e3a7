/* What the stream operations' public calls share. Every call goes the same way:
 *
 *   1. check each field of a copy of the desc (stream_check_...), naming call and field in
 * messages;
 *   2. resolve its zeros in that copy: length becomes exact, method becomes concrete;
 *   3. stream_run: the engine's operation from tml->engine->ops, its supports(), its scratch from
 *      desc.scratch or the arena, its run().
 *
 * Engines therefore see only descs that are valid and complete. */
#ifndef TML_STREAM_INTERNAL_H
#define TML_STREAM_INTERNAL_H

#include "core/call.h"

/* Lists for tml_check_buffer, ended by TML_TYPE_NONE. */
extern const tml_type stream_count_types[];  /* u32 u64: counts, lengths, indices, offsets */
extern const tml_type stream_flag_types[];   /* u8 */
extern const tml_type stream_mask_types[];   /* u32 */
extern const tml_type stream_scalar_types[]; /* every scalar */

/* Elements in a buffer; 0 for none. */
uint64_t stream_count_of(const tml_context *tml, tml_buffer buffer);

/* Checks length's device buffer and turns a count of 0 that is not exact into available, which is the
 * first input's count; from then on it is exact.
 * The inputs are then checked against length->count, the bound, each by its own name. */
tml_status stream_check_length(tml_context *tml, const char *call, uint64_t available,
                               tml_length *length);

/* An optional one-element output that must be able to hold any number up to bound. */
tml_status stream_check_count(tml_context *tml, const char *call, const char *field,
                              tml_buffer buffer, uint64_t bound);

/* An optional u32 or u64 output of positions below bound, of at least count elements. */
tml_status stream_check_indices(tml_context *tml, const char *call, const char *field,
                                tml_buffer buffer, uint64_t count, uint64_t bound);

/* Does a kernel's parameter of type param take elements of this type, as they are or widened? */
bool stream_param_takes(uint32_t param, tml_type element);

/* A kernel against its inputs: array parameters take in[] in order, no input is left over, each has
 * count elements, or any number as tml_words. result: what the kernel must return, TML_TYPE_NONE for anything. rank: may it
 * have a tml_rank parameter? field is the kernel's, in_field the inputs' ("keep.in"). */
tml_status stream_check_kernel(tml_context *tml, const char *call, const char *field,
                               const tml_kernel *kernel, tml_type result, bool rank,
                               const char *in_field, const tml_buffer in[TML_MAX_INPUTS],
                               uint64_t count);

/* The first of the TML_MAX_INPUTS in in that a kernel takes element by element, whose count is the
 * stream's; none if it has none. Works for kernels that are not checked yet. */
tml_buffer stream_first_elements(const tml_kernel *kernel, const tml_buffer *in);
/* Does a kernel take in[input] as tml_words? */
bool stream_is_words(const tml_kernel *kernel, uint32_t input);

/* Two buffers' memory: common bytes, or the same start. Buffers over caller's memory may overlap
 * although their handles differ. False if either is none. */
bool stream_overlap(const tml_context *tml, tml_buffer a, tml_buffer b);
bool stream_same(const tml_context *tml, tml_buffer a, tml_buffer b);

/* Refuses an output that overlaps another buffer of the call. in_place: the very same start is
 * fine. */
tml_status stream_check_apart(tml_context *tml, const char *call, const char *out_field,
                              tml_buffer out, const char *other_field, tml_buffer other,
                              bool in_place);

/* A buffer of a call. */
typedef struct stream_field {
    const char *name;
    tml_buffer buffer; /* none: skipped */
} stream_field;
typedef struct stream_input {
    const char *name;
    tml_buffer buffer;
    uint32_t may_share; /* bit o: output number o may be this very buffer */
} stream_input;
/* Refuses outputs that overlap one another or an input. Scratch is an output here, and a length's
 * device buffer an input: every operation passes all that it writes and all that it reads. */
tml_status stream_check_memory(tml_context *tml, const char *call, const stream_field *outputs,
                               size_t output_count, const stream_input *inputs, size_t input_count);

/* Replaces AUTO by the first method of a TML_METHOD_AUTO-ended preference that the engine supports
 * for this desc. method points into desc. */
tml_status stream_choose_method(tml_context *tml, const char *call, tml_op op, const void *desc,
                                tml_method *method, const tml_method *preference);

/* Runs a checked desc. scratch is desc->scratch: none for the arena. */
tml_status stream_run(tml_context *tml, const char *call, tml_op op, const void *desc,
                      tml_buffer scratch);
/* Bytes that desc->scratch must have for stream_run; 0 where the operation is unsupported. */
size_t stream_scratch_size(tml_context *tml, tml_op op, const void *desc);
/* The same of a program's operation, from its table of parts; op: NULL where the engine has none, which
 * what says ("no mip levels"). */
tml_status stream_run_op(tml_context *tml, const char *call, const tml_engine_op *op,
                         const char *what, const void *desc, tml_buffer scratch);
/* Its first steps, for an operation that takes its scratch by itself: refuses it where it was cancelled
 * before, or where the engine does not support it. */
tml_status stream_begin_op(tml_context *tml, const char *call, const tml_engine_op *op,
                           const char *what, const void *desc);
bool stream_supports_op(tml_context *tml, const tml_engine_op *op, const void *desc);
size_t stream_op_scratch_size(tml_context *tml, const tml_engine_op *op, const void *desc);

/* Folds (reduce.c): the types that a result of folding in may have, and the check of both buffers. */
const tml_type *stream_fold_out_types(const tml_context *tml, tml_fold fold, tml_buffer in);
tml_status stream_check_fold(tml_context *tml, const char *call, tml_fold fold, tml_buffer in,
                             uint64_t in_count, const char *out_field, tml_buffer out,
                             uint64_t out_count);

/* Scans (scan.c): in and out of matching types and sizes. In place where the types are equal. */
tml_status stream_check_scan_types(tml_context *tml, const char *call, tml_buffer in,
                                   uint64_t in_count, tml_buffer out, uint64_t out_count);
bool stream_scans_in_place(const tml_context *tml, tml_buffer in, tml_buffer out);

/* compact and partition: checks desc and resolves its zeros in place (compact.c). */
tml_status stream_resolve_compact(tml_context *tml, const char *call, tml_op op,
                                  const tml_method *preference, tml_compact_desc *desc);

#endif
