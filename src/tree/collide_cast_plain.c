/* Rays against a tree, for any processor. */
#define CAST_SET cast_loops_plain
#include "tree/collide_cast_loops.h"
