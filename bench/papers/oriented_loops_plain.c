/* The descent for any processor. */
#define DEPTH_SET oriented_loops_plain
#include "oriented_loops.h"
