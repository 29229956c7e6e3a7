/* The library as a guest: on your threads, with your memory, into your log, reporting its progress.
 * Shows: tml_open_desc's parallel, allocator, log and progress hooks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <trommel/trommel.h>

enum { WORKERS = 4, SIZE = 96 };

/* ---- a job system: threads that draw task numbers from one counter --------------------------- */

typedef struct job_queue {
    tml_task_fn task;
    void *argument;
    uint32_t count;
    atomic_uint next;
} job_queue;

static void *work(void *data)
{
    job_queue *job = data;
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->count;)
        job->task(job->argument, i);
    return NULL;
}

static void run_job(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    job_queue job = {.task = task, .argument = argument, .count = count};
    pthread_t threads[WORKERS - 1];
    uint32_t started = 0;
    while (started < WORKERS - 1 && pthread_create(&threads[started], NULL, work, &job) == 0)
        started++;
    work(&job); /* the caller works too, so this ends even when no thread could be had */
    while (started > 0)
        pthread_join(threads[--started], NULL);
    atomic_fetch_add((atomic_uint *)user, count);
}

/* ---- memory, counted ------------------------------------------------------------------------- */

typedef struct counted_heap {
    size_t used, peak;
} counted_heap;

static void *heap_alloc(void *user, size_t size, size_t alignment)
{
    counted_heap *heap = user;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory)
        heap->used += size;
    if (heap->used > heap->peak)
        heap->peak = heap->used;
    return memory;
}

static void heap_free(void *user, void *memory, size_t size)
{
    ((counted_heap *)user)->used -= memory ? size : 0;
    free(memory);
}

/* ---- log and progress ------------------------------------------------------------------------ */

static void print_log(void *user, tml_log_level level, const char *message)
{
    (void)user;
    fprintf(level == TML_LOG_ERROR ? stderr : stdout, "trommel: %s\n", message);
}

static bool print_progress(void *user, const char *stage, double fraction)
{
    double *last = user;
    if (fraction - *last >= 0.25 || fraction == 1) {
        printf("%3.0f %% %s\n", fraction * 100, stage);
        *last = fraction;
    }
    return true; /* false would cancel */
}

int main(void)
{
    static float volume[SIZE * SIZE * SIZE];
    counted_heap heap = {0};
    atomic_uint tasks = 0;
    double last_fraction = 0;
    tml_context *tml;
    tml_buffer buffer;
    tml_surface_result surface;

    for (int i = 0; i < SIZE * SIZE * SIZE; i++) /* a diagonal wave */
        volume[i] = (float)((i % SIZE + i / SIZE % SIZE + i / SIZE / SIZE) % 32 - 16);

    if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU,
                                  .allocator = {heap_alloc, heap_free, &heap},
                                  .parallel = {run_job, WORKERS, &tasks},
                                  .log = print_log,
                                  .progress = print_progress,
                                  .progress_user = &last_fraction},
                 &tml))
        return 1;
    if (tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_F32, .count = SIZE * SIZE * SIZE, .host = volume},
            &buffer) ||
        tml_surface(
            tml, &(tml_surface_desc){.volume = buffer, .grid.dims = {SIZE, SIZE, SIZE}, .iso = 0.5},
            &surface)) {
        fprintf(stderr, "%s\n", tml_last_error(tml));
        return 1;
    }
    uint64_t triangles = surface.triangle_count;
    tml_surface_free(tml, &surface);
    tml_close(tml);
    printf("%llu triangles by %u tasks; %zu KiB at the peak, %zu bytes left behind\n",
           (unsigned long long)triangles, atomic_load(&tasks), heap.peak / 1024, heap.used);
    return triangles > 0 && atomic_load(&tasks) > 0 && heap.peak > 0 && heap.used == 0 ? 0 : 1;
}
