/* A pool of worker threads for one parallel loop at a time. One atomic counter hands out the indices
 * in ascending order, as tml_parallel.run promises: when index i starts, all lower ones have started. */
#include "core/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

struct tml_pool {
    pthread_mutex_t mutex;
    pthread_cond_t work;
    pthread_cond_t done;
    uint64_t round; /* loops started so far; workers wait for a change */
    uint32_t busy;  /* workers that have not finished this loop */
    bool stop;
    bool is_running; /* a loop runs; used by the calling thread alone */
    tml_task_fn task;
    void *argument;
    uint32_t count;
    atomic_uint next;
    uint32_t worker_count;
    size_t size;
    pthread_t workers[];
};

uint32_t tml_processors(void)
{
#ifndef __EMSCRIPTEN__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set) > 0 ? (uint32_t)CPU_COUNT(&set) : 1;
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

static void drain(tml_pool *pool)
{
    for (;;) {
        uint32_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->count)
            return;
        pool->task(pool->argument, i);
    }
}

static void *worker_main(void *argument)
{
    tml_pool *pool = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stop && pool->round == seen)
            pthread_cond_wait(&pool->work, &pool->mutex);
        if (pool->stop)
            break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->mutex);
        drain(pool);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

tml_pool *tml_pool_create(const tml_allocator *allocator, uint32_t threads)
{
    size_t size = sizeof(tml_pool) + threads * sizeof(pthread_t);
    tml_pool *pool = allocator->alloc(allocator->user, size, 64);
    if (!pool)
        return NULL;
    memset(pool, 0, size);
    pool->size = size;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    while (pool->worker_count + 1 < threads &&
           pthread_create(&pool->workers[pool->worker_count], NULL, worker_main, pool) == 0)
        pool->worker_count++;
    return pool; /* too few workers cost time, not correctness */
}

void tml_pool_destroy(const tml_allocator *allocator, tml_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    allocator->free(allocator->user, pool, pool->size);
}

void tml_pool_run(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    tml_pool *pool = user;
    if (count <= 1 || pool->worker_count == 0 || pool->is_running) { /* nested loops run serially */
        for (uint32_t i = 0; i < count; i++)
            task(argument, i);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->is_running = true;
    pool->task = task;
    pool->argument = argument;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busy = pool->worker_count;
    pool->round++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    drain(pool);
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pool->is_running = false;
    pthread_mutex_unlock(&pool->mutex);
}
