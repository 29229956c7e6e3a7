/* The engine whose code makes surface nets on the host. */
#include "labels/surface_nets.h"

extern const nets_steps cpu_nets_steps;

const nets_steps *const nets_on_host = &cpu_nets_steps;
