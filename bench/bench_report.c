/* Rows of trommel-bench, printed as they are measured. */
#include "bench_report.h"

#include "../cli/report/progress.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { NAME_WIDTH = 37, LEAST_WIDTH = 10 };
static const double redraw_s = 0.2;

/* ---- what runs now, on a terminal ------------------------------------------------------------ */

static void erase(bench_session *session)
{
    if (session->is_drawn)
        fputs("\r\033[K", stderr);
    session->is_drawn = false;
}

static void draw(bench_session *session, const char *row, uint32_t rounds)
{
    double now = bench_now(), elapsed = now - session->started;
    if (session->args->common.quiet || !isatty(STDERR_FILENO) || now - session->drawn_at < redraw_s)
        return;
    session->drawn_at = now;
    session->is_drawn = true;
    fprintf(stderr, "\r\033[K%s: run %u, %.0f s", row, rounds + 1, elapsed);
    if (session->args->seconds > 0)
        fprintf(stderr, " of %.0f s", session->args->seconds);
    fflush(stderr);
}

/* ---- the pace -------------------------------------------------------------------------------- */

static void skip(bench_session *session, const char *row)
{
    if (*row && session->skipped_count < BENCH_MAX_ROWS)
        snprintf(session->skipped[session->skipped_count++], sizeof session->skipped[0], "%s", row);
}

bool bench_goes_on(bench_session *session)
{
    if (tml_is_cancelled(session->tml))
        session->code = CLI_CANCELLED;
    bool is_over = session->pace.deadline > 0 && bench_now() >= session->pace.deadline;
    return session->code == CLI_OK && !is_over;
}

static bool begins(void *user, const char *row)
{
    bench_session *session = user;
    bool is_run = bench_goes_on(session);
    skip(session, session->current); /* it has begun, and did not end */
    session->current[0] = '\0';
    if (is_run)
        snprintf(session->current, sizeof session->current, "%s", row);
    else
        skip(session, row);
    if (is_run)
        draw(session, row, 0);
    return is_run;
}

static bool goes_on(void *user, const char *row, uint32_t rounds)
{
    bench_session *session = user;
    draw(session, row, rounds);
    return !tml_is_cancelled(session->tml);
}

tml_status bench_stopped(const bench_session *session)
{
    return tml_is_cancelled(session->tml) ? TML_ERROR_CANCELLED : TML_ERROR_INTERNAL;
}

/* ---- peers ----------------------------------------------------------------------------------- */

/* Reads each line of operation, count, percent and milliseconds; skips other lines. */
static bool read_peers(bench_session *session)
{
    FILE *file = fopen(session->args->peers, "r");
    char text[256];
    if (!file)
        return false;
    while (session->peer_count < BENCH_MAX_PEERS && fgets(text, sizeof text, file)) {
        bench_peer *peer = &session->peers[session->peer_count];
        if (sscanf(text, "%63s %llu %lf %lf", peer->op, &peer->count, &peer->percent,
                   &peer->seconds) == 4) {
            peer->seconds *= 1e-3;
            session->peer_count++;
        }
    }
    fclose(file);
    session->has_peers = session->peer_count > 0;
    return true;
}

double bench_peer_seconds(const bench_session *session, const char *op, uint64_t count,
                          double percent)
{
    for (uint32_t i = 0; i < session->peer_count; i++) {
        const bench_peer *peer = &session->peers[i];
        if (strcmp(peer->op, op) == 0 && peer->count == count && peer->percent == percent)
            return peer->seconds;
    }
    return 0;
}

/* ---- a session ------------------------------------------------------------------------------- */

bool bench_open(bench_session *session, const bench_args *args, const char *op,
                const bench_column *columns)
{
    *session = (bench_session){.args = args, .op = op, .columns = columns, .started = bench_now()};
    session->pace = (bench_pace){.repeats = (uint32_t)args->repeats,
                                 .deadline = args->seconds > 0 ? bench_now() + args->seconds : 0,
                                 .begins = begins,
                                 .goes_on = goes_on,
                                 .user = session};
    session->code = CLI_OK;
    if (args->peers && !read_peers(session)) {
        session->code = cli_error("%s cannot be read", args->peers);
        return false;
    }
    session->tml = cli_open(&args->common, &(cli_work){.cpu_seconds = HUGE_VAL});
    progress_start(true); /* a bar that is drawn would be measured */
    if (!session->tml)
        session->code = CLI_FAILED;
    return session->tml != NULL;
}

static bool is_shown(const bench_session *session, const bench_column *column)
{
    return column->heading && (!column->is_of_peer || session->has_peers);
}

static int width_of(const bench_column *column)
{
    int width = (int)strlen(column->heading);
    return width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

void bench_title(bench_session *session, const char *format, ...)
{
    char what[160];
    tml_device_info device;
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    tml_context_describe(session->tml, &device);
    session->is_titled = true;
    json *j = fields_json();
    if (j) {
        json_text(j, "input", what);
        json_text(j, "device", device.name);
        json_text(j, "features", device.features);
        json_count(j, "threads", device.concurrency);
        json_open(j, "rows", '[');
        return;
    }
    printf("%s: %s\n%s (%s); %u at once\n\n%-*s", session->op, what, device.name, device.features,
           device.concurrency, NAME_WIDTH, "");
    for (const bench_column *c = session->columns; c->key; c++)
        if (is_shown(session, c))
            printf(" %*s", width_of(c), c->heading);
    putchar('\n');
    fflush(stdout);
}

static void print_json(bench_session *session, const char *name, const double *values)
{
    json *j = fields_json();
    json_open(j, NULL, '{');
    json_text(j, "name", name);
    for (const bench_column *c = session->columns; c->key; c++, values++)
        if (!isnan(*values) && c->scale == 0)
            json_count(j, c->key, (uint64_t)*values);
        else if (!isnan(*values))
            json_number(j, c->key, *values);
    json_close(j, '{');
    fflush(stdout);
}

static void print_line(const bench_session *session, const char *name, const double *values)
{
    printf("%-*s", NAME_WIDTH, name);
    for (const bench_column *c = session->columns; c->key; c++, values++) {
        if (!is_shown(session, c))
            continue;
        if (isnan(*values))
            printf(" %*s", width_of(c), "-");
        else if (c->scale == 0)
            printf(" %*.0f", width_of(c), *values);
        else
            printf(" %*.4g", width_of(c), *values * c->scale);
    }
    putchar('\n');
    fflush(stdout);
}

void bench_row(bench_session *session, const char *name, tml_status status, const double *values)
{
    erase(session);
    if (status == TML_OK || status == TML_ERROR_UNSUPPORTED)
        session->current[0] = '\0';
    if (status == TML_OK && fields_json()) {
        print_json(session, name, values);
    } else if (status == TML_OK) {
        print_line(session, name, values);
    } else if (status == TML_ERROR_UNSUPPORTED) {
        cli_error("%s is left out: %s", name, cli_last_error(session->tml));
    } else {
        bench_fail(session, status);
    }
}

void bench_fail(bench_session *session, tml_status status)
{
    if (status == TML_ERROR_CANCELLED)
        session->code = CLI_CANCELLED;
    else if (status != TML_OK && session->code == CLI_OK)
        session->code = cli_fail(session->tml, status);
}

int bench_close(bench_session *session)
{
    const char *why = session->code == CLI_CANCELLED ? "interrupted"
                      : session->code != CLI_OK      ? "failed"
                                                     : "the seconds were over";
    erase(session);
    skip(session, session->current);
    json *j = fields_json();
    if (session->is_titled && j) {
        json_close(j, '[');
        json_open(j, "not_run", '[');
        for (uint32_t i = 0; i < session->skipped_count; i++)
            json_text(j, NULL, session->skipped[i]);
        json_close(j, '[');
    } else if (session->skipped_count) {
        printf("\nnot run (%s):", why);
        for (uint32_t i = 0; i < session->skipped_count; i++)
            printf("%s %s", i ? ";" : "", session->skipped[i]);
        putchar('\n');
    }
    fflush(stdout);
    cli_close(session->tml);
    if (session->code == CLI_CANCELLED)
        cli_error("cancelled");
    return session->code;
}
