/* Parallel loops over a context's threads, or over the caller's job system. */
#include "core/call.h"

void tml_parallel_for(tml_context *tml, uint32_t count, tml_task_fn task, void *argument)
{
    if (!task || TML_ENTER(tml) != TML_OK) {
        for (uint32_t i = 0; i < count && task; i++) /* the gate refused: run serially */
            task(argument, i);
        return;
    }
    tml->parallel.run(tml->parallel.user, count, task, argument);
    (void)tml_leave(tml, TML_OK);
}

typedef struct until_job {
    const tml_context *tml;
    tml_task_fn task;
    void *argument;
    atomic_bool is_stopped;
} until_job;

static void until_task(void *argument, uint32_t index)
{
    until_job *job = argument;
    if (tml_is_cancelled(job->tml))
        atomic_store_explicit(&job->is_stopped, true, memory_order_relaxed);
    else
        job->task(job->argument, index);
}

bool tml_parallel_until(tml_context *tml, uint32_t count, tml_task_fn task, void *argument)
{
    until_job job = {tml, task, argument, false};
    if (count > 0)
        tml_parallel_for(tml, count, until_task, &job);
    return !atomic_load_explicit(&job.is_stopped, memory_order_relaxed);
}
