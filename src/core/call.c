/* The gate of public calls (call.h), which admits one thread at a time, and refuses forked
 * processes, calls from hooks, and NULL arguments. Also messages: the context's log, and the last
 * error. */
#include "core/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* This thread's last message that no context could store: from tml_open (tml NULL), or from a call
 * that tml's gate refused. The variable's address identifies the thread in tml_context.owner. */
static _Thread_local struct {
    const tml_context *tml;
    char text[TML_MESSAGE];
} refusal;

static bool is_inside(const tml_context *tml)
{
    return atomic_load_explicit(&tml->owner, memory_order_relaxed) == (uintptr_t)&refusal;
}

tml_status tml_reject(const tml_context *tml, tml_status status, const char *format, ...)
{
    char message[TML_MESSAGE]; /* arguments may point into refusal.text */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    refusal.tml = tml;
    memcpy(refusal.text, message, sizeof message);
    return status;
}

void tml_refusal_forget(const tml_context *tml)
{
    if (tml && refusal.tml == tml)
        refusal.tml = NULL, refusal.text[0] = '\0';
}

const char *tml_last_error(const tml_context *tml)
{
    if (refusal.tml == tml)
        return refusal.text;
    return tml ? tml->error : "";
}

/* ---- hooks ----------------------------------------------------------------------------------- */

void tml_hook_begin(tml_context *tml)
{
    if (is_inside(tml))
        tml->hooks++;
}

void tml_hook_end(tml_context *tml)
{
    if (!is_inside(tml))
        return;
    tml->hooks--;
    tml_refusal_forget(tml); /* a refused call of the hook is not an error of the outer call */
}

/* ---- messages -------------------------------------------------------------------------------- */

static void call_log(tml_context *tml, tml_log_level level, const char *message)
{
    if (!tml->log)
        return;
    tml_hook_begin(tml);
    tml->log(tml->log_user, level, message);
    tml_hook_end(tml);
}

void tml_log(tml_context *tml, tml_log_level level, const char *format, ...)
{
    if (!tml || !tml->log)
        return;
    char message[TML_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    call_log(tml, level, message);
}

tml_status(tml_error)(tml_context *tml, tml_status status, const char *format, ...)
{
    char message[TML_MESSAGE]; /* arguments may point into tml->error */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!tml)
        return tml_reject(NULL, status, "%s", message);
    tml_refusal_forget(tml);
    memcpy(tml->error, message, sizeof message);
    tml->error_status = status;
    call_log(tml, TML_LOG_ERROR, tml->error);
    return status;
}

tml_status tml_refuse(tml_context *tml, const char *call, const char *what)
{
    const tml_engine *engine = tml->engine;
    if (engine->tier)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s has %s; use the integer path or the CPU engine", call,
                         engine->tier(tml), what);
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "%s: the %s engine has %s%s", call, engine->name,
                     what, engine->is_host ? "" : "; use another engine");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Makes the calling thread the context's owner. A nested call of the owner increments depth. */
static tml_status call_take(tml_context *tml, const char *call)
{
    if (is_inside(tml)) {
        if (tml->hooks)
            return tml_reject(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "%s: called by a hook of %s; a hook may cancel and ask, and leaves the rest "
                "to when that call has returned",
                call, tml_call_name(tml));
        tml->depth++;
        return TML_OK;
    }
    if (tml_process() != tml->process)
        return tml_reject(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: this process was forked off the one that opened the context, and has "
            "neither its threads nor its device; open a context here",
            call);
    uintptr_t nobody = 0;
    if (!atomic_compare_exchange_strong_explicit(&tml->owner, &nobody, (uintptr_t)&refusal,
                                                 memory_order_acquire, memory_order_relaxed)) {
        const char *other = tml_call_name(tml);
        return tml_reject(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: another thread is in %s on this context; let one call end before the "
            "next, or open a context for each thread",
            call, other ? other : "a call");
    }
    tml_refusal_forget(tml);
    atomic_store_explicit(&tml->call, call, memory_order_relaxed);
    tml->depth = 1;
    return TML_OK;
}

tml_status tml_leave(tml_context *tml, tml_status status)
{
    if (--tml->depth == 0) {
        atomic_store_explicit(&tml->stopped, false, memory_order_relaxed);
        atomic_store_explicit(&tml->call, NULL, memory_order_relaxed);
        atomic_store_explicit(&tml->owner, 0, memory_order_release);
    }
    return status;
}

size_t tml_leave_with(tml_context *tml, size_t size)
{
    (void)tml_leave(tml, TML_OK);
    return size;
}

bool tml_is_recording(const tml_context *tml)
{
    return tml->is_preparing || (tml->engine->is_recording && tml->engine->is_recording(tml));
}

tml_status tml_refuse_recording(tml_context *tml, const char *call, const char *instead)
{
    if (!tml_is_recording(tml))
        return TML_OK;
    const bool is_preparing = tml->is_preparing;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s cannot be %s; %s",
                     call ? call : tml_call_name(tml),
                     is_preparing ? "prepared" : "recorded into a command buffer",
                     instead        ? instead
                     : is_preparing ? "call tml_prepare_end first"
                                    : "call tml_vulkan_record_end first");
}

/* The name at index in a list such as "tml, desc, out". *length receives its length. */
static const char *name_at(const char *names, size_t index, int *length)
{
    for (; index; index--)
        names = strchr(names, ',') + 2;
    *length = (int)strcspn(names, ",");
    return names;
}

tml_status tml_enter(tml_context *tml, const char *call, const char *names,
                     const void *const *needed, size_t count)
{
    tml_status status = tml ? call_take(tml, call) : TML_OK;
    for (size_t i = 0; i < count && status == TML_OK; i++) {
        if (needed[i])
            continue;
        int length;
        const char *name = name_at(names, i, &length);
        if (!tml)
            return tml_reject(NULL, TML_ERROR_INVALID_ARGUMENT, "%s: %.*s is NULL", call, length,
                              name);
        status = tml_leave(tml, tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %.*s is NULL", call,
                                          length, name));
    }
    return status;
}

/* ---- cancelling ------------------------------------------------------------------------------ */

bool tml_progress(tml_context *tml, const char *stage, double fraction)
{
    if (!tml)
        return false;
    bool goes_on = true;
    if (tml->progress) {
        tml_hook_begin(tml);
        goes_on = tml->progress(tml->progress_user, stage, fraction);
        tml_hook_end(tml);
    }
    if (!goes_on && is_inside(tml))
        atomic_store_explicit(&tml->stopped, true, memory_order_relaxed);
    return goes_on && !tml_is_cancelled(tml);
}

void tml_cancel(tml_context *tml)
{
    if (tml)
        atomic_store_explicit(&tml->cancelled, true, memory_order_relaxed);
}

void tml_cancel_clear(tml_context *tml)
{
    if (tml)
        atomic_store_explicit(&tml->cancelled, false, memory_order_relaxed);
}

bool tml_is_cancelled(const tml_context *tml)
{
    return tml && (atomic_load_explicit(&tml->cancelled, memory_order_relaxed) ||
                   atomic_load_explicit(&tml->stopped, memory_order_relaxed));
}
