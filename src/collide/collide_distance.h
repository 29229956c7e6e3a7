/* The distance of two meshes: what the host's descent and the device's stream share. */
#ifndef COLLIDE_DISTANCE_H
#define COLLIDE_DISTANCE_H

#include "collide/collide_internal.h"

/* One call, resolved. */
typedef struct distance_job {
    tml_context *tml;
    tml_tree *a, *b;
    const collide_pose *poses;
    uint32_t pose_count;
    double limit, tolerance;
    size_t memory_limit;
    uint32_t first; /* pose of the first task */
    tml_collide_distance_result *out;
} distance_job;

/* What best begins with, and where it ends. */
tml_collide_distance_result distance_none(const distance_job *job);
void distance_finish(const distance_job *job, uint32_t pose, tml_collide_distance_result best);
/* Replaces best if two slots' triangles are nearer; or as near, and come first. */
void distance_offer(const distance_job *job, uint32_t pose, uint32_t a_slot, uint32_t b_slot,
                    tml_collide_distance_result *best);
/* Follows a pose depth first. The trees are there on the host. */
void distance_of_pose(const distance_job *job, uint32_t pose);

/* All poses, depth first. Errors: CANCELLED. */
tml_status distance_depth_first(distance_job *job);
/* All poses, breadth first. Of the trees, the sizes are there. */
tml_status distance_on_device(distance_job *job);

#endif
