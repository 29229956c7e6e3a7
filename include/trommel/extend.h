/* Trommel for authors of libraries that are built on it: errors, log, progress, memory and tasks of
 * a context, as the library itself uses them. Users of the library call none of these, and
 * trommel.h does not include this header.
 *
 *     my_state *state = (my_state *)tml_alloc(tml, sizeof *state);
 *     if (!state)
 *         return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "my_call: no memory");
 *     tml_parallel_for(tml, count, my_task, state);
 *     tml_free(tml, state, sizeof *state);
 *
 * The calls may be made in a public call of yours or outside one, by one thread at a time. The
 * rules on threads and hooks (top of core.h) are not checked here, except by tml_parallel_for. */
#ifndef TROMMEL_EXTEND_H
#define TROMMEL_EXTEND_H

#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records a message for tml_last_error, sends it to the log hook, and returns status.
 * tml     NULL: the message is kept for tml_last_error(NULL) on this thread
 * format  as printf: the call, the field, the value seen, the value accepted, the remedy */
TML_API tml_status tml_error(tml_context *tml, tml_status status, const char *format, ...)
    TML_FORMAT(3, 4);

/* Sends a line to the log hook. */
TML_API void tml_log(tml_context *tml, tml_log_level level, const char *format, ...)
    TML_FORMAT(3, 4);

/* Reports progress to the progress hook.
 * stage     a constant string, "sign bits"
 * fraction  0 to 1 within the whole call
 * Returns: false: the call must stop and return TML_ERROR_CANCELLED. */
TML_API TML_MUST_CHECK bool tml_progress(tml_context *tml, const char *stage, double fraction);

/* Allocates size bytes by the context's allocator, aligned to a cache line. Large blocks ask the
 * system for huge pages.
 * Returns: NULL if size is 0 or memory is short. */
TML_API void *tml_alloc(tml_context *tml, size_t size);

/* Frees what tml_alloc returned.
 * memory  NULL is allowed
 * size    the size that was allocated */
TML_API void tml_free(tml_context *tml, void *memory, size_t size);

/* Allocates count elements of size bytes, which tml_free frees as count * size bytes.
 * Returns: NULL also if the product is larger than an address space. */
static inline void *tml_alloc_array(tml_context *tml, uint64_t count, size_t size)
{
    return size > 0 && count > PTRDIFF_MAX / size ? NULL : tml_alloc(tml, (size_t)count * size);
}

/* Runs task(argument, i) for each i in [0, count) on the context's threads, or by
 * tml_open_desc.parallel, and returns when all have returned. If the context refuses the call, the
 * calling thread runs the tasks. */
TML_API void tml_parallel_for(tml_context *tml, uint32_t count, tml_task_fn task, void *argument);

#ifdef __cplusplus
}
#endif
#endif
