/* Runs a pass over the rows of a picture, on all threads, with progress. */
#include "draw/render_internal.h"

typedef struct rows_job {
    scene *s;
    render_pass pass;
    uint32_t first; /* of the rows in this share */
} rows_job;

static void run_rows(void *argument, uint32_t index)
{
    const rows_job *job = argument;
    uint32_t first = job->first + index * RENDER_ROWS_A_TASK, last = first + RENDER_ROWS_A_TASK;
    uint32_t height = job->s->desc->height;
    job->pass(job->s, first, last < height ? last : height);
}

bool render_rows(scene *s, render_pass pass, const char *stage, double from, double to)
{
    enum { SHARE = 16 }; /* tasks between two reports: some 100 ms on a small machine */
    uint32_t tasks = (s->desc->height + RENDER_ROWS_A_TASK - 1) / RENDER_ROWS_A_TASK;
    for (uint32_t first = 0; first < tasks; first += SHARE) {
        if (!tml_progress(s->tml, stage, from + (to - from) * first / tasks))
            return false;
        rows_job job = {s, pass, first * RENDER_ROWS_A_TASK};
        tml_parallel_for(s->tml, tasks - first < SHARE ? tasks - first : SHARE, run_rows, &job);
    }
    return true;
}
