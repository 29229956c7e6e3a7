/* The breadth-first descent on the device: the state of one call, and its buffers. */
#ifndef COLLIDE_PAIRS_BREADTH_H
#define COLLIDE_PAIRS_BREADTH_H

#include "collide/collide_internal.h"

enum { TOTAL_TESTED = 2, TOTALS };

/* Buffers that a tree keeps on the device for calls in which it is a. */
struct collide_stream {
    tml_buffer pairs[2], met; /* `room` elements each */
    uint64_t room;
    tml_buffer poses;
    uint64_t pose_room;
    tml_buffer totals[TOTALS]; /* number of pairs in pairs[i]; number tested by the last step */
    tml_buffer made;           /* pairs that each step made, and that are left at the end */
    tml_buffer crossings;      /* COUNT: certain crossings per pose of a slice */
    uint64_t crossing_room;
};

typedef struct breadth_run {
    collide_job *job;
    struct collide_stream *stream; /* a's */
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    uint64_t most_room; /* pairs that fit the memory limit */
    bool is_probe;
    uint32_t first_pose, pose_count; /* range that contains the slice's poses */
    tml_uvec3 *found;                /* pairs of triangles, read back */
    uint64_t found_room;
    uint32_t *crossings; /* COUNT: room for job->pose_count elements */
} breadth_run;

/* Whether pairs of which the float test is certain are reported. */
static inline bool breadth_wants_crossings(const collide_job *job)
{
    return job->classes >> TML_COLLIDE_CLASS_CROSSING & 1;
}

/* Whether FIRST already has this pose's pair. */
static inline bool breadth_is_answered(const collide_job *job, uint32_t pose)
{
    return job->want == TML_COLLIDE_WANT_FIRST && job->pose_counts[pose] > 0;
}

/* Reads `count` pairs of triangles from pairs[last] and adds them to the job. COUNT: also adds the
 * slice's certain crossings. */
tml_status breadth_found_read(breadth_run *run, uint64_t count, int last);

#endif
