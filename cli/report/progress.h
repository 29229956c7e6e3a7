/* A progress bar on stderr, and Ctrl-C. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <trommel/core.h>

/* Shown only when stderr is a terminal and the user did not ask for quiet. */
void progress_start(bool quiet);
/* A tml_progress_fn. Draws at most ten times a second, and not before a call has taken a third of a
 * second. Returns false if another process failed; otherwise cancelling is done by tml_cancel. */
bool progress_show(void *user, const char *stage, double fraction);
/* The bar belongs to frame index, from 0, of a sequence of count frames; count 0: no sequence. */
void progress_frame(uint32_t index, uint32_t count);
/* Takes the bar off the screen; call before printing anything else. */
void progress_clear(void);

/* From here on, Ctrl-C, SIGTERM and the end of the terminal cancel tml; a second signal ends the
 * program at once. NULL: restores the signals' usual effect. */
void progress_catch_signals(tml_context *tml);

#endif
