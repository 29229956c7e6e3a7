/* Table-driven cases: an operation is a list of axes, and a case is one value on each axis. A
 * case's name lists its values: compact(count=4097,elem=16,dist=blocks,...). The name is enough to
 * run the case again; an axis that a name omits has its first value.
 *
 * The product of all axes is far too large to run, so test mode runs a covering sample: every pair
 * of values of two axes occurs in some case (Cohen et al.: The AETG System. 1997). Each case runs
 * on every device that the library lists.
 *
 * A case gets its buffers from case_input and case_output. On the CPU engine, buffers use host
 * memory in place, between guard bytes. Every array starts one scalar after a cache line, so that
 * code which relies on more alignment than the header promises fails. */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>

#include <trommel/extend.h>
#include <trommel/trommel.h>

enum { CASE_MAX_AXES = 16, CASE_MAX_VALUES = 32, CASE_MAX_ARRAYS = 40, CASE_TEXT = 24 };

typedef enum case_result { CASE_PASSED, CASE_FAILED, CASE_SKIPPED, CASE_NO_MEMORY } case_result;

/* values: separated by blanks; the first is the default. A numeric axis also accepts other numbers
 * in a name. */
typedef struct case_axis {
    const char *name;
    const char *values;
    bool is_number;
} case_axis;

typedef struct case_run case_run;

typedef struct case_op {
    const char *name;
    case_axis axes[CASE_MAX_AXES];          /* ended by a zeroed one */
    bool (*is_sensible)(const case_run *c); /* can the values be combined? NULL: always */
    void (*run)(case_run *c);
    const char *const *perf; /* names of cases to time, NULL-ended; NULL: none */
} case_op;

/* One array of a case. data: the host's view; the buffer's own memory if is_lent, otherwise a copy
 * that case_fetch updates. */
typedef struct case_array {
    tml_buffer buffer;
    uint8_t *data;
    uint8_t *block;
    size_t size;
    bool is_lent;
} case_array;

struct case_run {
    const case_op *op;
    char values[CASE_MAX_AXES][CASE_TEXT];
    tml_context *tml;
    tml_engine_kind engine;
    uint64_t seed; /* from the name, so a case sees the same data on every engine */
    case_result result;
    char message[1024];
    case_array arrays[CASE_MAX_ARRAYS];
    int array_count;
    /* Timing: the call under test is repeated while case_again returns true. */
    bool is_timed;
    int repeats, repeat;
    double started, best, total;
    uint64_t bytes; /* that the call must move, set by run */
};

/* Return the case's value on an axis; case_is compares it. */
const char *case_text(const case_run *c, const char *axis);
uint64_t case_number(const case_run *c, const char *axis);
bool case_is(const case_run *c, const char *axis, const char *value);

/* Returns the next pseudo-random number of the case (splitmix64). */
uint64_t case_random(case_run *c);

enum { CASE_PATTERN = 0xa5 }; /* every byte of a new array and of the guards around it */

/* Returns an array of count elements, which the caller fills before the call under test. Aborts if
 * memory is short. */
case_array *case_array_new(case_run *c, tml_type type, uint64_t count);
/* case_input creates the buffer of a filled array. case_output creates an array and its buffer,
 * filled with CASE_PATTERN, so that a test sees what was left untouched. */
tml_buffer case_input(case_run *c, case_array *array, tml_type type, uint64_t count);
case_array *case_output(case_run *c, tml_type type, uint64_t count);
/* Updates data from the buffer after the call. Returns false if that fails. */
bool case_fetch(case_run *c, case_array *array);

/* Around the call under test: for (case_start(c); case_again(c);) status = tml_...; */
void case_start(case_run *c);
bool case_again(case_run *c);

/* Records the status of the call; true if it succeeded. UNSUPPORTED skips the case. */
bool case_call(case_run *c, tml_status status);
/* Records a failure; only the first one of a case is kept. Returns false. */
bool case_fail(case_run *c, const char *format, ...) TML_FORMAT(2, 3);
/* Checks that elements of an output are as expected, and the rest of it untouched. */
bool case_check(case_run *c, const char *what, case_array *array, const void *expected,
                size_t expected_size);
/* Checks that an output past its first size bytes was not touched. */
bool case_check_rest(case_run *c, const char *what, const case_array *array, size_t size);

/* A check that is not a case, and runs after the cases. */
typedef struct case_check_fn {
    const char *name;
    case_result (*run)(char *message, size_t size);
} case_check_fn;
/* Runs a test program, and returns its exit status. ops: NULL-ended; checks: ended by a zeroed one;
 * NULL: none. */
int case_main(int argc, char **argv, const case_op *const *ops, const case_check_fn *checks);
/* Before case_main: sets the program's kernels, which trommel_add_kernels() built
 * (trommel/vulkan.h). */
struct tml_vulkan_kernel;
void case_use_kernels(const struct tml_vulkan_kernel *kernels);

/* For checks: runs an operation's default case on a context. axis: an axis that has value instead
 * of its default; NULL: none. */
case_result case_run_default(const case_op *op, tml_context *tml, const char *axis,
                             const char *value, char *message, size_t size);

#endif
