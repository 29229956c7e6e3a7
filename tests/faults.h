/* Every event that can fail does, once. A scenario is a function that uses the library; it runs
 * once while the events of each kind are counted, and then again in a fresh context for event N of
 * a kind, which fails. After each such run: the status fits and there is a message, or the result
 * is right; no buffer is left; what was not to be changed is as it was; the same again gives the
 * right result in the same context, or says DEVICE_LOST where the device was; and when the context
 * is closed, all memory and all objects of the device were given back.
 *
 *     program                       a sample, chosen by TML_SEED (a number; 1 without it)
 *     program --all                 everything
 *     program [--all] NAME ...      what has a name that begins like this: config/scenario/kind/N,
 *                                   as the program prints it where something fails
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

/* What scenarios can run on. Two entries may be one engine in different states. */
typedef struct fault_config {
    const char *name;
    uint32_t bit;    /* 1u << ... of scenarios' configs */
    uint32_t kinds;  /* to be swept: 1u << fault_kind */
    uint32_t one_of; /* a sample has one of so many scenarios, */
    uint32_t events; /* and of each kind so many events */
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
    tml_status status; /* of the first call that failed; those after it are left out */
    uint64_t hash;     /* of all results */
    tml_buffer made[FAULT_MADE];
    uint32_t made_count;
    /* Of the next stream operation, which changes none of them if it fails. */
    fault_output outputs[FAULT_OUTPUTS];
    uint32_t output_count;
} fault_run;

typedef struct fault_scenario {
    const char *name;
    void (*run)(fault_run *r);
    uint32_t configs; /* bits of those that it runs on */
    bool opens;       /* opening the context is part of it */
} fault_scenario;

/* ---- events ---------------------------------------------------------------------------------- */

extern struct faults_state {
    bool is_armed;
    fault_kind kind;
    uint64_t at;      /* the event of that kind that fails, from 1; 0: none */
    const char *what; /* failed; NULL: not yet */
    uint64_t counts[FAULT_KINDS];
    tml_context *tml;    /* to be cancelled */
    int64_t live_bytes;  /* allocated and not given back */
    bool has_message;    /* the log hook got an error */
    char label[160];     /* of the run */
    uint64_t runs, seed; /* so far; of the sample */
} faults;

bool fault_event(fault_kind kind, const char *what);

/* ---- for scenarios --------------------------------------------------------------------------- */

/* A call of a scenario, which is left out once one has failed. */
#define FAULT_DO(r, call)                                                                          \
    do {                                                                                           \
        if ((r)->status == TML_OK)                                                                 \
            (r)->status = (call);                                                                  \
    } while (0)

/* The same of a stream operation: one that fails has changed no output. */
#define FAULT_STREAM(r, call)                                                                      \
    do {                                                                                           \
        FAULT_DO(r, call);                                                                         \
        if ((r)->status == TML_OK || (r)->status == TML_ERROR_CANCELLED)                           \
            (r)->output_count = 0;                                                                 \
    } while (0)

/* A promise of the run's: kept, or told where it was not. */
#define FAULT_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!CHECK(condition))                                                                     \
            printf("  in %s\n", faults.label);                                                     \
    } while (0)

void fault_hash(fault_run *r, const void *data, size_t size);

/* Destroyed when the run ends. */
tml_buffer fault_keep(fault_run *r, tml_buffer buffer);
tml_buffer fault_buffer(fault_run *r, tml_type type, uint64_t count, const void *data);

/* One of the next FAULT_STREAM's outputs. */
tml_buffer fault_output_of(fault_run *r, tml_type type, uint64_t count);

/* A buffer's first elements become part of the result. */
void fault_take(fault_run *r, tml_buffer buffer, uint64_t count);

/* ---- all runs -------------------------------------------------------------------------------- */

/* configs and scenarios end with a zeroed one. */
int fault_main(int argc, char **argv, fault_config *configs, const fault_scenario *scenarios);

#endif
