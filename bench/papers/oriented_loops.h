/* The library's depth-first descent, with a test of oriented boxes. */
#include "oriented_boxes.h"

#define DEPTH_SET                     oriented_loops
#define DEPTH_PASSES(run, pair, step) oriented_meet((const oriented_run *)(run), pair, step)
#define DEPTH_HAS_SLABS(run)          (((const oriented_run *)(run))->volume == PAPERS_VOLUME_SLABS)
#include "collide/collide_pairs_depth_loops.h"
