/* Ctrl-C while a call is at work in the main thread. Python runs its handlers between its own
 * instructions, so after the call; this one cancels the call at once, and Python hears of the
 * signal when the call has returned. */
#include <signal.h>
#include <stdatomic.h>
#include <trommel/trommel.h>

static _Atomic(tml_context *)
    at_work; /* the innermost call's: a callback may call on another context */
static atomic_bool was_interrupted;
static struct sigaction before;

static void on_interrupt(int number)
{
    (void)number;
    tml_context *tml = at_work;
    if (tml)
        tml_cancel(tml);
    was_interrupted = true;
}

/* Both are for the main thread alone. begin returns the context of the call that this one is in, or
 * NULL, which end takes. end says whether there was an interrupt; a call around it is cancelled
 * then, too. Where the signal is ignored or ends the process it still does. end without begin does
 * nothing: an exception may come before begin. */
TML_API tml_context *tml_interrupts_begin(tml_context *tml);
TML_API bool tml_interrupts_end(tml_context *outer);

tml_context *tml_interrupts_begin(tml_context *tml)
{
    tml_context *outer = atomic_exchange(&at_work, tml);
    if (!outer) {
        struct sigaction own = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
        was_interrupted = false;
        sigaction(SIGINT, &own, &before);
        if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
            sigaction(SIGINT, &before, NULL);
    }
    return outer;
}

bool tml_interrupts_end(tml_context *outer)
{
    tml_context *own = atomic_exchange(&at_work, outer);
    if (own && !outer)
        sigaction(SIGINT, &before, NULL);
    if (!own || !was_interrupted)
        return false;
    tml_cancel_clear(own);
    if (outer)
        tml_cancel(outer);
    return true;
}
