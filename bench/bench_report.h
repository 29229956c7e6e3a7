/* Shared by the commands of trommel-bench: the options of measuring, a context, and rows. Rows are
 * printed as they are measured, as a table or as JSON, until the time is over or the user
 * interrupts. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench_run.h"

#include "../cli/cli.h"
#include "../cli/report/fields.h"

/* The first member of each command's argument struct. */
typedef struct bench_args {
    cli_common common;
    uint64_t repeats;
    double seconds;
    const char *peers;
} bench_args;

/* The rows of an option table for these arguments. args: the command's argument struct, whose
 * member bench they are. */
#define BENCH_OPTIONS(args)                                                                        \
    {OPT_SECTION, .help = "Measuring"},                                                            \
        {OPT_COUNT,                                                                                \
         "repeats",                                                                                \
         .brief = "runs of each row; 0: about a second",                                           \
         .argument = "N",                                                                          \
         .most = 1000,                                                                             \
         .fallback = "0",                                                                          \
         .offset = offsetof(args, bench.repeats),                                                  \
         .help = "runs of each row; 0: as many as take a second"},                                 \
        BENCH_SECONDS_OPTION(args)
#define BENCH_SECONDS_OPTION(args)                                                                 \
    {                                                                                              \
        OPT_NUMBER, "seconds",                                                                     \
            .brief = "start no row after so long", .argument = "S", .least = 0, .most = 1e6,       \
            .fallback = "0", .offset = offsetof(args, bench.seconds),                              \
            .help = "start no row after so long, end the one that runs then with its "             \
                    "round, and say which were not run; 0: no limit"                               \
    }
#define BENCH_PEERS_OPTION(args)                                                                   \
    {                                                                                              \
        OPT_INPUT, "peers",                                                                        \
            .argument = "FILE", .offset = offsetof(args, bench.peers),                             \
            .help = "a peer's times (lines of operation, count, percent, milliseconds) to "        \
                    "show beside"                                                                  \
    }

/* A number of each row. */
typedef struct bench_column {
    const char *key;     /* in JSON, where seconds and bytes are the units */
    const char *heading; /* in the table; NULL: only in JSON */
    double scale;        /* from there to the table's number; 0: a count */
    bool is_of_peer;     /* in the table only if there are peers */
} bench_column;
enum { BENCH_MAX_COLUMNS = 16 };

#define BENCH_COLUMN(field, title, factor)                                                         \
    {                                                                                              \
        .key = field, .heading = title, .scale = factor                                            \
    }
#define BENCH_PEER_COLUMNS                                                                         \
    {.key = "peer_s", .heading = "peer ms", .scale = 1e3, .is_of_peer = true},                     \
    {                                                                                              \
        .key = "peer_share", .heading = "of peer", .scale = 1, .is_of_peer = true                  \
    }

#define BENCH_TIME_COLUMNS                                                                         \
    BENCH_COLUMN("min_s", "min ms", 1e3), BENCH_COLUMN("median_s", "median ms", 1e3),              \
        BENCH_COLUMN("runs", NULL, 0)

typedef struct bench_peer {
    char op[64];
    unsigned long long count;
    double percent, seconds;
} bench_peer;

enum { BENCH_MAX_ROWS = 256, BENCH_MAX_PEERS = 512 };

typedef struct bench_session {
    const bench_args *args;
    const char *op;
    const bench_column *columns; /* end with {0} */
    tml_context *tml;
    bench_pace pace;
    bool has_peers;
    int code; /* CLI_FAILED: a row failed, and no other begins; CLI_CANCELLED likewise */
    /* inside */
    double started, drawn_at;
    bool is_titled, is_drawn;
    char current[64]; /* the row that has begun */
    uint32_t skipped_count, peer_count;
    char skipped[BENCH_MAX_ROWS][64];
    bench_peer peers[BENCH_MAX_PEERS];
} bench_session;

/* Opens the context and reads the peers' times. After false, the command returns session->code.
 * AUTO selects a GPU if there is one. */
bool bench_open(bench_session *session, const bench_args *args, const char *op,
                const bench_column *columns);
/* Reports which rows were not run, and why; closes the context. Returns the exit code. */
int bench_close(bench_session *session);

/* Call before the first row: prints what is measured. */
void bench_title(bench_session *session, const char *format, ...) TML_FORMAT(2, 3);
/* Ends a row that bench_begins has begun. Prints the row if status is TML_OK: values in the order
 * of the columns, NAN for an unknown one. A row that the engine does not support is skipped with a
 * message. */
void bench_row(bench_session *session, const char *name, tml_status status, const double *values);

/* Reports a failure that belongs to no row; does nothing if status is TML_OK. */
void bench_fail(bench_session *session, tml_status status);
/* Will the next row begin? Call it before making an input that several rows share. */
bool bench_goes_on(bench_session *session);
/* TML_ERROR_CANCELLED or TML_ERROR_INTERNAL: why bench_run failed. */
tml_status bench_stopped(const bench_session *session);
/* A peer's seconds; 0: unknown. */
double bench_peer_seconds(const bench_session *session, const char *op, uint64_t count,
                          double percent);

#endif
