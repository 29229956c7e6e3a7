/* Table-driven cases: an operation is a list of axes, a case is one value on each axis, and its
 * name says all of them: compact(count=4097,elem=16,dist=blocks,...). The name alone rebuilds the
 * case; an axis that a name leaves out takes its first value.
 *
 * The product of all axes is far too large to run, so test mode runs a covering sample: every pair
 * of values of two axes occurs in some case (Cohen et al.: The AETG System. 1997). Each case runs
 * on every device that the library lists.
 *
 * A case gets its buffers from case_input and case_output. Where the engine takes host memory, they
 * lie between guard words, and every array starts one scalar past a cache line, so that nothing may
 * count on more alignment than the header promises. */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>

#include <trommel/extend.h>
#include <trommel/trommel.h>

enum { CASE_MAX_AXES = 16, CASE_MAX_VALUES = 32, CASE_MAX_ARRAYS = 40, CASE_TEXT = 24 };

typedef enum case_result { CASE_PASSED, CASE_FAILED, CASE_SKIPPED, CASE_NO_MEMORY } case_result;

/* values: separated by blanks; the first is the default. A numeric axis also takes other numbers
 * from a name. */
typedef struct case_axis {
    const char *name;
    const char *values;
    bool is_number;
} case_axis;

typedef struct case_run case_run;

typedef struct case_op {
    const char *name;
    case_axis axes[CASE_MAX_AXES];          /* ended by a zeroed one */
    bool (*is_sensible)(const case_run *c); /* do the values go together? NULL: always */
    void (*run)(case_run *c);
    const char *const *perf; /* NULL-ended names to time; NULL: none */
} case_op;

/* One array of a case. data is the host's view: the buffer's own memory where it is lent, else a
 * copy that case_fetch brings up to date. */
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
    /* Timing: the call under test is repeated while case_again says so. */
    bool is_timed;
    int repeats, repeat;
    double started, best, total;
    uint64_t bytes; /* that the call must move, set by run */
};

/* The chosen value of an axis. */
const char *case_text(const case_run *c, const char *axis);
uint64_t case_number(const case_run *c, const char *axis);
bool case_is(const case_run *c, const char *axis, const char *value);

/* Next pseudo-random number of the case (splitmix64). */
uint64_t case_random(case_run *c);

enum { CASE_PATTERN = 0xa5 }; /* every byte of a new array and of the guards around it */

/* An array holding count elements, to be filled by the caller before the call under test. Never
 * NULL; when memory is short the result says so and the array is empty. */
case_array *case_array_new(case_run *c, tml_type type, uint64_t count);
/* Makes the array's buffer from its data: for inputs after they are filled, for outputs at once
 * (they start as a pattern, so that the test sees what was left untouched). */
tml_buffer case_input(case_run *c, case_array *array, tml_type type, uint64_t count);
case_array *case_output(case_run *c, tml_type type, uint64_t count);
/* Brings data up to date with the buffer after the call. */
bool case_fetch(case_run *c, case_array *array);

/* Around the call under test: for (case_start(c); case_again(c);) status = tml_...; */
void case_start(case_run *c);
bool case_again(case_run *c);

/* Records the outcome of the call: true when it succeeded. UNSUPPORTED skips the case. */
bool case_call(case_run *c, tml_status status);
/* Records a failure; only the first one of a case is kept. Always false. */
bool case_fail(case_run *c, const char *format, ...) TML_FORMAT(2, 3);
/* Checks that elements of an output are as expected, and the rest of it untouched. */
bool case_check(case_run *c, const char *what, case_array *array, const void *expected,
                size_t expected_size);
/* Checks that an output past its first size bytes was not touched. */
bool case_check_rest(case_run *c, const char *what, const case_array *array, size_t size);

/* A whole program: main's arguments, the operations (NULL-ended), and checks of their own that run
 * after the cases. */
typedef struct case_check_fn {
    const char *name;
    case_result (*run)(char *message, size_t size);
} case_check_fn;
int case_main(int argc, char **argv, const case_op *const *ops, const case_check_fn *checks);
/* Before that: the program's kernels as trommel_add_kernels() built them (trommel/vulkan.h). */
struct tml_vulkan_kernel;
void case_use_kernels(const struct tml_vulkan_kernel *kernels);

/* For such checks: the default case of an operation on an own context. The context must outlive
 * it. */
case_result case_run_default(const case_op *op, tml_context *tml, const char *axis,
                             const char *value, char *message, size_t size);

#endif
