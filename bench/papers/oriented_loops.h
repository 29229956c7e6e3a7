/* The library's depth-first descent with oriented boxes in it. The including file defines
 * DEPTH_SET. */
#include "oriented_boxes.h"

#define DEPTH_PASSES(run, pair, step) oriented_meet((const oriented_run *)(run), pair, step)
#define DEPTH_HAS_SLABS(run)          (((const oriented_run *)(run))->volume == PAPERS_VOLUME_SLABS)
#include "collide/collide_depth_loops.h"
