/* The descent on the device: a stream of pairs, expanded level by level. */
#include "collide/collide_internal.h"

tml_status collide_breadth_first(collide_job *job)
{
    return tml_error(job->tml, TML_UNSUPPORTED,
                     "tml_collide: BREADTH_FIRST is not there; use DEPTH_FIRST");
}

void collide_stream_destroy(tml_context *tml, tml_tree *tree)
{
    (void)tml;
    (void)tree;
}
