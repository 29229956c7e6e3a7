/* Runs a program of test_random: makes each call on a context, runs its model on the mirrors, and
 * compares buffers and mirrors. On Vulkan it is also the host program, which owns the device, the
 * queue, the command buffers and some of the buffers. */
#ifndef RANDOM_RUN_H
#define RANDOM_RUN_H

#include <unistd.h>

#include "core/testing.h"
#ifdef TML_GL
#    include <trommel/gl.h>
#endif

#include "core/platform.h"

#include "random_model.h"
#ifdef _WIN32
#    include "on_windows.h"
#endif
#ifdef TML_VULKAN
#    include "vulkan_host.h"
#endif

enum {
    SIDES = 2,
    RECORDINGS = 4,
    RECORDED = 16,
    IN_FLIGHT = 3,
    ARRAYS = 4096,
    GUARD = 256,
    PATTERN = 0xa5
};

typedef struct random_settings {
    tml_engine_kind engine;
    char device[16]; /* its number, for tml_open */
    char name[128];
    uint32_t threads; /* on the CPU; 0: the program decides */
    bool validate;
    unsigned patience; /* seconds for one call; a call that takes longer is a failure */
} random_settings;

/* A command buffer, or a program of stream operations. On Vulkan, programs are enqueued into
 * command buffers. */
typedef struct recording {
    bool is_made;
    const call *calls[RECORDED];
    uint32_t count;
    tml_program *program; /* NULL: calls are recorded directly into the command buffer */
#ifdef TML_VULKAN
    VkCommandBuffer commands;
    VkFence fences[IN_FLIGHT]; /* of submissions not yet waited for */
    uint32_t pending;
#endif
} recording;

/* A context and what belongs to it. */
typedef struct side {
    tml_context *tml;
    tml_engine_kind engine;
    bool is_in_gl;
    uint32_t recording; /* that operations go to; 0: none */
    recording recordings[RECORDINGS + 1];
    uint32_t reports, cancel_at;
} side;

typedef struct random_tally {
    uint64_t programs, calls, made, recorded, submitted, unsupported, adopted, cancelled;
} random_tally;

typedef struct random_run {
    const random_settings *settings;
    side sides[SIDES];
    array *arrays; /* by number */
    tml_context *reference;
    const call *calls;
    size_t count, at;
    random_tally *tally;
    bool failed;
    char *message;
    size_t message_size;
} random_run;

TML_FORMAT(2, 3) void fail(random_run *r, const char *format, ...);
void expect(random_run *r, const side *s, const char *what, tml_status status, tml_status wanted);

/* ---- the host program ------------------------------------------------------------------------ */

#ifdef TML_VULKAN
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL random_get_instance(VkInstance instance, const char *name);

/* Destroys the kept pipelines and the device. */
void random_host_close(void);

/* Creates a VkBuffer of the host for an array, with guards. Returns its memory; NULL on failure. */
uint8_t *random_host_lend(array *a, size_t size);
void random_host_take_back(array *a);
#endif

/* ---- operands and recordings ----------------------------------------------------------------- */

/* Finds a call's buffers; false if one does not exist. */
bool operands_of(random_run *r, const call *c, operands *out);

/* ---- comparing ------------------------------------------------------------------------------- */

void check_range(random_run *r, array *a, uint64_t first, uint64_t count);
void adopt_outputs(random_run *r, const operands *o);

/* ---- operations ------------------------------------------------------------------------------ */

/* Makes a call. size: if given, the call only measures its bytes of scratch. */
tml_status operate(tml_context *tml, const operands *o, const call *c, size_t *size);
void do_operation(random_run *r, const call *c);

/* ---- programs -------------------------------------------------------------------------------- */

/* Runs a program on contexts of its own; false, with a message, if something is wrong. */
bool run_program(const random_settings *settings, const call *calls, size_t count,
                 random_tally *tally, volatile size_t *at, char *message, size_t message_size);

#endif
