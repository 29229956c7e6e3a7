/* The gate of public calls. Every public function that uses a context has this form:
 *
 *     tml_status tml_scan(tml_context *tml, const tml_scan_desc *desc)
 *     {
 *         tml_status status = TML_ENTER(tml, desc);
 *         return status ? status : tml_leave(tml, scan(tml, desc));
 *     }
 *
 * If the context is a member of a handle, the function uses TML_ENTER_BY(subdivider, desc, out).
 * The macros' arguments are the pointers that must not be NULL, under their names in the public
 * header. A public call nested in another passes the gate too, since the gate admits the owner
 * thread again. */
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

/* Enters a public call. Refuses, with INVALID_ARGUMENT and a message, a NULL in needed, a second
 * thread, a forked process and a call from a hook. names: the names of needed, as "tml, desc".
 * After TML_OK, the call must end with tml_leave. */
tml_status tml_enter(tml_context *tml, const char *call, const char *names,
                     const void *const *needed, size_t count);
/* Leaves a call that tml_enter admitted; returns status. */
tml_status tml_leave(tml_context *tml, tml_status status);
/* The same for a call that returns a size: return TML_ENTER(tml, desc) ? 0 : tml_leave_with(tml,
 * size). */
size_t tml_leave_with(tml_context *tml, size_t size);

/* Records a message for tml_last_error in this thread's storage rather than in the context, which
 * may be NULL. Returns status. */
tml_status tml_reject(const tml_context *tml, tml_status status, const char *format, ...)
    TML_FORMAT(3, 4);
/* Deletes the message that this thread recorded for tml by tml_reject. */
void tml_refusal_forget(const tml_context *tml);

/* Enclose a call of a user's hook: the gate refuses the hook's own calls. */
void tml_hook_begin(tml_context *tml);
void tml_hook_end(tml_context *tml);

#endif
