/* tml_image_expose on the CPU. */
#include "cpu/cpu_parts.h"
#include "image/image_internal.h"

#include <string.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

static tml_status expose_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const image_expose_plan *plan = argument;
    (void)scratch;
    (void)size;
    float *state = cpu_memory(tml, plan->state);
    image_exposure exposure = image_expose(tml_address_of(cpu_memory(tml, plan->stats)),
                                           state[TML_EXPOSURE_AVERAGE], plan->settings);
    memset(state, 0, TML_EXPOSURE_WORDS * sizeof *state);
    state[TML_EXPOSURE_SCALE] = exposure.scale;
    state[TML_EXPOSURE_AVERAGE] = exposure.average;
    state[TML_EXPOSURE_TARGET] = exposure.target;
    state[TML_EXPOSURE_EV100] = exposure.ev100;
    state[TML_EXPOSURE_LOW] = exposure.low;
    state[TML_EXPOSURE_HIGH] = exposure.high;
    state[TML_EXPOSURE_COUNTED] = exposure.counted;
    return TML_OK;
}

const tml_engine_op cpu_op_image_expose = {.run = expose_run};
