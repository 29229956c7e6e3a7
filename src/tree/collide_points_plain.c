/* Points against a tree, for any processor. */
#define POINTS_SET points_loops_plain
#include "tree/collide_points_loops.h"
