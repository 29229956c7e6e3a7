/* Who takes the steps of surface nets: the host, for every engine. */
#include "surface/surface_nets.h"

extern const nets_steps cpu_nets_steps;

const nets_steps *const nets_steps_of[PART_COUNT] = {[PART_CPU] = &cpu_nets_steps};
