/* Runs a program of test_random: makes each call on a context and its model on the mirrors, and
 * compares the two. On Vulkan it plays the host program: device, queue, command buffers and some of
 * the buffers are its own. */
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
    char device[16]; /* number for tml_open */
    char name[128];
    uint32_t threads; /* CPU; 0: as the program says */
    bool validate;
    unsigned patience; /* seconds for one call; one that never ends is a failure, too */
} random_settings;

/* A command buffer, or a program of streams. On Vulkan programs are enqueued into command
 * buffers. */
typedef struct recording {
    bool is_made;
    const call *calls[RECORDED];
    uint32_t count;
    tml_program *program; /* NULL: its calls are recorded into the command buffer themselves */
#ifdef TML_VULKAN
    VkCommandBuffer commands;
    VkFence fences[IN_FLIGHT]; /* of its submissions that nobody waited for */
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

/* Destroys the pipelines that are kept, and the device. */
void random_host_close(void);

/* The host's own VkBuffer for an array, with guards; NULL when there is none to be had. */
uint8_t *random_host_lend(array *a, size_t size);
void random_host_take_back(array *a);
#endif

/* ---- operands and recordings ----------------------------------------------------------------- */

/* Are all of a call's buffers there? */
bool operands_of(random_run *r, const call *c, operands *out);

/* ---- comparing ------------------------------------------------------------------------------- */

void check_range(random_run *r, array *a, uint64_t first, uint64_t count);
void adopt_outputs(random_run *r, const operands *o);

/* ---- operations ------------------------------------------------------------------------------ */

/* With size, only asks for the bytes of scratch. */
tml_status operate(tml_context *tml, const operands *o, const call *c, size_t *size);
void do_operation(random_run *r, const call *c);

/* ---- programs -------------------------------------------------------------------------------- */

/* Runs a program on contexts of its own; false with a message when something was wrong. */
bool run_program(const random_settings *settings, const call *calls, size_t count,
                 random_tally *tally, volatile size_t *at, char *message, size_t message_size);

#endif
