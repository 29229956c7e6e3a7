/* Rays against a tree, for any processor. */
#define CAST_SET cast_loops_plain
#include "collide/collide_cast_loops.h"
