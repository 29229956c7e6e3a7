/* The depth-first descent for any processor. */
#define DEPTH_SET depth_loops_plain
#include "collide/collide_depth_loops.h"
