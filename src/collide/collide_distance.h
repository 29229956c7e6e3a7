/* The distance of two meshes: what the host's descent and the device's share. */
#ifndef COLLIDE_DISTANCE_H
#define COLLIDE_DISTANCE_H

#include "collide/collide_internal.h"

/* One call, with all defaults resolved. */
typedef struct distance_job {
    tml_context *tml;
    tml_tree *a, *b;
    const collide_pose *poses;
    uint32_t pose_count;
    double limit, tolerance;
    size_t memory_limit;
    uint32_t first; /* pose of task 0 */
    tml_collide_distance_result *out;
} distance_job;

/* Checks the desc of tml_collide_distance_enqueue. Replaces a zeroed length and limit by their
 * defaults. */
tml_status distance_check_enqueue(tml_context *tml, const char *name,
                                  tml_collide_distance_desc *desc);

/* distance_none: the initial result. distance_finish: writes a pose's result to job->out. */
tml_collide_distance_result distance_none(const distance_job *job);
void distance_finish(const distance_job *job, uint32_t pose, tml_collide_distance_result best);
/* Replaces best if the triangles in two slots are nearer, or equally near with smaller numbers. */
void distance_offer(const distance_job *job, uint32_t pose, uint32_t a_slot, uint32_t b_slot,
                    tml_collide_distance_result *best);
/* Computes a pose depth first. The trees must be current on the host. */
void distance_of_pose(const distance_job *job, uint32_t pose);

/* Computes all poses depth first. Errors: CANCELLED. */
tml_status distance_depth_first(distance_job *job);
/* Computes all poses breadth first. Only the trees' sizes must be current on the host. */
tml_status distance_on_device(distance_job *job);

#endif
