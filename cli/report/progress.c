/* A progress bar on stderr, and Ctrl-C. The state belongs to the process, since there is one
 * terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ranks.h"
#include "report/progress.h"
#include "system.h"

enum { BAR_WIDTH = 30 };
static const double first_draw_s = 0.3; /* shorter work would only flicker */
static const double redraw_s = 0.1;

static struct {
    bool wanted;
    bool drawn;
    double fraction; /* of the latest report: a smaller one starts a new call */
    double started;
    double drawn_at;
    uint32_t frame, frames; /* from 1; 0: no sequence */
} bar;

void progress_start(bool quiet)
{
    bar.wanted = !quiet && ranks_mine() == 0 && isatty(STDERR_FILENO);
    bar.drawn = false;
    bar.fraction = 1;
}

void progress_frame(uint32_t index, uint32_t count)
{
    bar.frame = count ? index + 1 : 0;
    bar.frames = count;
    bar.fraction = 1;
}

void progress_clear(void)
{
    if (bar.drawn)
        fputs("\r\033[K", stderr);
    bar.drawn = false;
}

bool progress_show(void *user, const char *stage, double fraction)
{
    (void)user;
    if (!ranks_go_on())
        return false;
    if (!bar.wanted)
        return true;
    double now = cli_now();
    if (fraction < bar.fraction)
        bar.started = now;
    bar.fraction = fraction;
    double elapsed = now - bar.started;
    if (elapsed < first_draw_s || now - bar.drawn_at < redraw_s)
        return true;
    bar.drawn_at = now;
    bar.drawn = true;

    char cells[BAR_WIDTH + 1];
    int full = (int)(fraction * BAR_WIDTH);
    full = full < 0 ? 0 : full > BAR_WIDTH ? BAR_WIDTH : full;
    memset(cells, '#', (size_t)full);
    memset(cells + full, '.', (size_t)(BAR_WIDTH - full));
    cells[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%s", cli_name());
    if (bar.frames)
        fprintf(stderr, " %" PRIu32 "/%" PRIu32, bar.frame, bar.frames);
    fprintf(stderr, ": %-18s [%s] %3.0f %%", stage, cells, 100 * fraction);
    if (fraction > 0.01) {
        double left = elapsed / fraction - elapsed;
        fprintf(stderr, "  %d:%02d left", (int)(left / 60), (int)left % 60);
    }
    fflush(stderr);
    return true;
}

/* ---- signals --------------------------------------------------------------------------------- */

static tml_context *volatile cancel_target;

static void cancel(void)
{
    ranks_interrupted();
    if (cancel_target)
        tml_cancel(cancel_target);
}

void progress_catch_signals(tml_context *tml)
{
    cancel_target = tml;
    system_on_interrupt(tml ? cancel : NULL);
}
