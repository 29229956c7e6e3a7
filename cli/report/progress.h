/* A progress bar on stderr, and Ctrl-C. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <trommel/core.h>

/* Shown only when stderr is a terminal and the user did not ask for quiet. */
void progress_start(bool quiet);
/* A tml_progress_fn: draws at most ten times a second, and never before a call has taken a third of
 * one. False where another process failed; else cancelling goes through
 * tml_cancel. */
bool progress_show(void *user, const char *stage, double fraction);
/* The bar is for frame index, from 0, of count; count 0: of no sequence. */
void progress_frame(uint32_t index, uint32_t count);
/* Takes the bar off the screen; call before printing anything else. */
void progress_clear(void);

/* Ctrl-C, SIGTERM and the terminal's end cancel tml from here on; a second one ends the program at
 * once. NULL: the signals act as usual again. */
void progress_catch_signals(tml_context *tml);

#endif
