/* The gate of public calls. Every one that uses a context begins and ends like this:
 *
 *     tml_status tml_scan(tml_context *tml, const tml_scan_desc *desc)
 *     {
 *         tml_status status = TML_ENTER(tml, desc);
 *         return status ? status : tml_leave(tml, scan(tml, desc));
 *     }
 *
 * and one whose context is in a handle with TML_ENTER_BY(subdivider, desc, out). The macros take the
 * pointers that must not be NULL, under the names that the header gives them. The library's own calls
 * within a call go through the same gate, where the thread that is inside may pass. */
#ifndef TML_CALL_H
#define TML_CALL_H

#include "core/core_internal.h"

#define TML_ENTER(...)    TML_ENTER_(TML_FIRST_OF(__VA_ARGS__, 0), __VA_ARGS__)
#define TML_ENTER_BY(...) TML_ENTER_(TML_CONTEXT_OF(__VA_ARGS__, 0), __VA_ARGS__)

#define TML_ENTER_(tml, ...)                                                                       \
    tml_enter((tml), __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__},                   \
              TML_ARRAY_SIZE(((const void *const[]){__VA_ARGS__})))
#define TML_FIRST_OF(first, ...)   (first)
#define TML_CONTEXT_OF(first, ...) ((first) ? (first)->tml : NULL)

/* Refuses with INVALID_ARGUMENT what is NULL among the needed, a thread that is not the one inside, a forked
 * process and a hook's call, and says why. Names: of needed, as in "tml, desc". After TML_OK the
 * call ends with tml_leave. */
tml_status tml_enter(tml_context *tml, const char *call, const char *names,
                     const void *const *needed, size_t count);
/* Returns status. */
tml_status tml_leave(tml_context *tml, tml_status status);

/* Records why this thread is refused, without touching the context, for tml_last_error; tml may be NULL.
 * Returns status. */
tml_status tml_reject(const tml_context *tml, tml_status status, const char *format, ...)
    TML_FORMAT(3, 4);
/* A refusal that is past. */
void tml_refusal_forget(const tml_context *tml);

/* Around a call of one of the user's hooks. */
void tml_hook_begin(tml_context *tml);
void tml_hook_end(tml_context *tml);

#endif
