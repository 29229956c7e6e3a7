/* Ways to filter a stream, as in table 36-1 of GPU Gems 2: nanoseconds per record for each engine's
 * methods and for the papers', over streams of growing length.
 *
 * On OpenGL ES, each method is measured three times: with an expected count (the kept elements and
 * a sixteenth more); with room for all elements, of which the surplus is discarded; and with the
 * exact count, which is read first. The first two do not wait. */
#ifndef PAPERS_TABLE_H
#define PAPERS_TABLE_H

#include <trommel/trommel.h>

enum { TABLE_COUNTS = 15, TABLE_ROWS = 48 };

typedef enum table_mode { TABLE_EXPECTED, TABLE_ROOM_FOR_ALL, TABLE_EXACT, TABLE_MODES } table_mode;

typedef struct table_row {
    const char *engine;
    const char *method;
    const char *mode; /* "expected", "room for all" or "exact"; "" if there is only one mode */
    /* Nanoseconds per record; 0: not measured, because it takes too long or is unsupported. */
    double ns[TABLE_COUNTS];
} table_row;

typedef struct filter_table {
    uint64_t counts[TABLE_COUNTS];
    uint32_t count_count, row_count;
    table_row rows[TABLE_ROWS];
} filter_table;

/* Names of engines, by tml_engine_kind. */
enum { TABLE_ENGINES = 4 };
extern const char *const table_engines[TABLE_ENGINES];

/* Sets the lengths: 64k records, twice that, and so on below most; and most itself, at most
 * 2^30. */
void filter_table_start(filter_table *filter, uint64_t most);

/* Adds the rows of a context's engine, for u32 records of which percent are kept. EXACT: the
 * context has exact counts (tml_gl_desc); engines other than GL have only the first mode. Results
 * are checked before they are timed. repeats: runs of each row; 0: chosen by their duration. */
tml_status filter_table_add(filter_table *filter, tml_context *tml, table_mode mode, double percent,
                            uint32_t repeats);
/* A bench_pace.goes_on that reports to standard error which row has run once, since tables are
 * printed only when they are complete. */
bool papers_tell_row(void *user, const char *row, uint32_t rounds);

#endif
