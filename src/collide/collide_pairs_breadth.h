/* One call of the descent on the device, and its buffers. */
#ifndef COLLIDE_PAIRS_BREADTH_H
#define COLLIDE_PAIRS_BREADTH_H

#include "collide/collide_internal.h"

enum { TOTAL_TESTED = 2, TOTALS };

/* What a tree keeps on the device if it is the a of a call: the stream's buffers. */
struct collide_stream {
    tml_buffer pairs[2], met; /* room pairs each */
    uint64_t room;
    tml_buffer poses;
    uint64_t pose_room;
    tml_buffer totals[TOTALS]; /* how many pairs there are in pairs[i]; tested by the last step */
    tml_buffer made;           /* by each step, and at the end */
    tml_buffer crossings;      /* COUNT: certain ones of each pose of a slice */
    uint64_t crossing_room;
};

typedef struct breadth_run {
    collide_job *job;
    struct collide_stream *stream; /* the stream of a */
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    uint64_t most_room; /* pairs that the memory limit allows */
    bool is_probe;
    uint32_t first_pose, pose_count; /* of the slice, about */
    tml_uvec3 *found;                /* pairs of triangles on the host */
    uint64_t found_room;
    uint32_t *crossings; /* COUNT: pose_count of the job */
} breadth_run;

/* Is a pair that the float test is certain of to be reported? */
static inline bool breadth_wants_crossings(const collide_job *job)
{
    return job->classes >> TML_COLLIDE_CLASS_CROSSING & 1;
}

/* Has FIRST this pose's pair? */
static inline bool breadth_is_answered(const collide_job *job, uint32_t pose)
{
    return job->want == TML_COLLIDE_WANT_FIRST && job->pose_counts[pose] > 0;
}

/* Reads count pairs of triangles from pairs[last] and adds them to the job. COUNT: also the sums of
 * the slice's certain crossings. */
tml_status breadth_found_read(breadth_run *run, uint64_t count, int last);

#endif
