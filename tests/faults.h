/* Makes each event that can fail do so, once. A scenario is a function that uses the library. Its
 * first run counts the events of each kind. Each further run, in a fresh context, makes event N of
 * one kind fail, and then checks:
 *   - the status fits and has a message, or the result is right;
 *   - no buffer is left, and outputs that a failed call must not change are unchanged;
 *   - another run in the same context gives the right result, or DEVICE_LOST if the device is lost;
 *   - after the context is closed, all memory and all objects of the device are freed.
 *
 *     program                       a sample, chosen by TML_SEED (a number; 1 without it)
 *     program --all                 everything
 *     program [--all] NAME ...      runs whose names begin with NAME: config/scenario/kind/N, as
 *                                   the program prints it for a failure
 *
 * Include after test.h, in a program that ends with fault_main. */
#ifndef FAULTS_H
#define FAULTS_H

#include <signal.h>
#include <time.h>

#include "core/testing.h"
#include <trommel/trommel.h>

#include "core/core_internal.h"

#include "support_faults.h"

/* A device that scenarios run on. Two configs may be one engine in different states. */
typedef struct fault_config {
    const char *name;
    uint32_t bit;    /* the config's bit in fault_scenario.configs */
    uint32_t kinds;  /* bits 1u << fault_kind: the kinds of events that fail */
    uint32_t one_of; /* a sample runs one scenario in so many, */
    uint32_t events; /* and makes at most so many events of each kind fail */
    tml_open_desc open;
    tml_testing testing;
    uint64_t stream_size; /* elements of the longest stream */
} fault_config;

enum { FAULT_MADE = 96, FAULT_OUTPUTS = 8, FAULT_PATTERN = 0x5a };

typedef struct fault_output {
    tml_buffer buffer;
    size_t size;
    uint64_t count;
} fault_output;

/* One run of a scenario. */
typedef struct fault_run {
    const fault_config *config;
    tml_context *tml;
    tml_status status; /* of the first call that failed; later calls are skipped */
    uint64_t hash;     /* of all results */
    tml_buffer made[FAULT_MADE];
    uint32_t made_count;
    /* Outputs of the next stream operation, which must not change them if it fails. */
    fault_output outputs[FAULT_OUTPUTS];
    uint32_t output_count;
} fault_run;

typedef struct fault_scenario {
    const char *name;
    void (*run)(fault_run *r);
    uint32_t configs; /* bits of the configs that it runs on */
    bool opens;       /* opening the context is part of the scenario */
} fault_scenario;

/* ---- events ---------------------------------------------------------------------------------- */

extern struct faults_state {
    bool is_armed;
    fault_kind kind;
    uint64_t at;      /* the event of that kind that fails, from 1; 0: none */
    const char *what; /* the event that failed; NULL: none yet */
    uint64_t counts[FAULT_KINDS];
    tml_context *tml;    /* the context to cancel */
    int64_t live_bytes;  /* allocated and not freed */
    bool has_message;    /* the log hook got an error */
    char label[160];     /* of the run */
    uint64_t runs, seed; /* runs so far; the sample's seed */
} faults;

bool fault_event(fault_kind kind, const char *what);

/* ---- for scenarios --------------------------------------------------------------------------- */

/* Makes a call of a scenario, unless an earlier call has failed. */
#define FAULT_DO(r, call)                                                                          \
    do {                                                                                           \
        if ((r)->status == TML_OK)                                                                 \
            (r)->status = (call);                                                                  \
    } while (0)

/* The same for a stream operation. If it fails, other than by cancelling, its outputs are checked
 * to be unchanged. */
#define FAULT_STREAM(r, call)                                                                      \
    do {                                                                                           \
        FAULT_DO(r, call);                                                                         \
        if ((r)->status == TML_OK || (r)->status == TML_ERROR_CANCELLED)                           \
            (r)->output_count = 0;                                                                 \
    } while (0)

/* Checks a condition; if it is false, also prints the run's label. */
#define FAULT_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!CHECK(condition))                                                                     \
            printf("  in %s\n", faults.label);                                                     \
    } while (0)

void fault_hash(fault_run *r, const void *data, size_t size);

/* Return a buffer that is destroyed when the run ends; fault_buffer creates it. */
tml_buffer fault_keep(fault_run *r, tml_buffer buffer);
tml_buffer fault_buffer(fault_run *r, tml_type type, uint64_t count, const void *data);

/* Creates an output of the next FAULT_STREAM, filled with FAULT_PATTERN. */
tml_buffer fault_output_of(fault_run *r, tml_type type, uint64_t count);

/* Adds a buffer's first elements to the hash of the results. */
void fault_take(fault_run *r, tml_buffer buffer, uint64_t count);

/* ---- all runs -------------------------------------------------------------------------------- */

/* Runs a test program, and returns its exit status. configs and scenarios end with a zeroed one. */
int fault_main(int argc, char **argv, fault_config *configs, const fault_scenario *scenarios);

#endif
