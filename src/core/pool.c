/* A pool of worker threads for one parallel loop at a time. One atomic counter hands out the
 * indices in ascending order, as tml_parallel.run promises: when index i starts, all lower indices
 * have started.
 *
 * A worker joins a loop when it wakes. The loop ends when the indices are used up and all workers
 * that joined have left, so the caller does not wait for a worker that is still asleep. A thread
 * spins for SPIN_SECONDS before it sleeps, since loops often follow one another, and waking a
 * thread takes longer than many loops. */
#include "core/pool.h"

#include <stdatomic.h>
#include <string.h>

#include "core/platform.h"

/* About the cost of putting a thread to sleep and waking it. */
#define SPIN_SECONDS 30e-6

/* tml_pool.state: the number of workers in the loop; whether more may join; and, from LOOP on, the
 * number of loops begun so far. */
#define JOINED  ((uint64_t)1)
#define IS_OPEN ((uint64_t)1 << 31)
#define LOOP    ((uint64_t)1 << 32)

struct tml_pool {
    tml_mutex mutex; /* of the sleepers */
    tml_condition work;
    tml_condition done;
    uint32_t sleepers;  /* workers that wait for work */
    bool caller_sleeps; /* it waits for done */
    bool spins;         /* there is a processor for each thread */
    bool is_running;    /* a loop runs; the workers that joined it may read this and what follows */
    tml_task_fn task;
    void *argument;
    uint32_t count;
    atomic_bool stop;
    _Alignas(64) atomic_uint next; /* separate cache lines: one is written, the other is polled */
    _Alignas(64) _Atomic uint64_t state;
    uint32_t worker_count;
    size_t size;
    tml_thread workers[];
};

static void drain(tml_pool *pool)
{
    for (;;) {
        uint32_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->count)
            return;
        pool->task(pool->argument, i);
    }
}

static uint64_t state_of(tml_pool *pool)
{
    return atomic_load_explicit(&pool->state, memory_order_acquire);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Is there a loop to join that began after the last loop joined, or is the pool closing? */
static bool has_work(tml_pool *pool, uint64_t last)
{
    uint64_t state = state_of(pool);
    return atomic_load_explicit(&pool->stop, memory_order_relaxed) ||
           ((state & IS_OPEN) && state / LOOP != last);
}

static void await_work(tml_pool *pool, uint64_t last)
{
    double end = pool->spins ? tml_seconds() + SPIN_SECONDS : 0;
    while (pool->spins && !has_work(pool, last) && tml_seconds() < end)
        pause_briefly();
    if (has_work(pool, last))
        return;
    tml_mutex_lock(&pool->mutex);
    pool->sleepers++;
    while (!has_work(pool, last))
        tml_condition_wait(&pool->work, &pool->mutex);
    pool->sleepers--;
    tml_mutex_unlock(&pool->mutex);
}

/* Joins the open loop, unless it was joined before or is over. */
static bool join(tml_pool *pool, uint64_t *last)
{
    uint64_t state = state_of(pool);
    while ((state & IS_OPEN) && state / LOOP != *last)
        if (atomic_compare_exchange_weak_explicit(&pool->state, &state, state + JOINED,
                                                  memory_order_acq_rel, memory_order_acquire)) {
            *last = state / LOOP;
            return true;
        }
    return false;
}

static void leave(tml_pool *pool)
{
    uint64_t state = atomic_fetch_sub_explicit(&pool->state, JOINED, memory_order_acq_rel) - JOINED;
    if (state % LOOP != 0) /* it is open, or somebody is in it */
        return;
    tml_mutex_lock(&pool->mutex);
    if (pool->caller_sleeps)
        tml_condition_wake_one(&pool->done);
    tml_mutex_unlock(&pool->mutex);
}

static void worker_main(void *argument)
{
    tml_pool *pool = argument;
    uint64_t last = 0;
    while (!atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
        await_work(pool, last);
        if (join(pool, &last)) {
            drain(pool);
            leave(pool);
        }
    }
}

tml_pool *tml_pool_create(const tml_allocator *allocator, uint32_t threads)
{
    size_t size = sizeof(tml_pool) + threads * sizeof(tml_thread);
    tml_pool *pool = allocator->alloc(allocator->user, size, 64);
    if (!pool)
        return NULL;
    memset(pool, 0, size);
    pool->size = size;
    pool->spins = threads <= tml_processors();
    tml_mutex_init(&pool->mutex);
    tml_condition_init(&pool->work);
    tml_condition_init(&pool->done);
    while (pool->worker_count + 1 < threads) {
        pool->workers[pool->worker_count] = (tml_thread){.run = worker_main, .argument = pool};
        if (!tml_thread_start(&pool->workers[pool->worker_count]))
            break;
        pool->worker_count++;
    }
    return pool; /* too few workers cost time, not correctness */
}

void tml_pool_destroy(const tml_allocator *allocator, tml_pool *pool)
{
    if (!pool)
        return;
    tml_mutex_lock(&pool->mutex);
    atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
    tml_condition_wake_all(&pool->work);
    tml_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->worker_count; i++)
        tml_thread_join(&pool->workers[i]);
    tml_condition_destroy(&pool->done);
    tml_condition_destroy(&pool->work);
    tml_mutex_destroy(&pool->mutex);
    allocator->free(allocator->user, pool, pool->size);
}

/* Wakes as many sleepers as there is work for. */
static void wake(tml_pool *pool, uint32_t most)
{
    tml_mutex_lock(&pool->mutex);
    if (most >= pool->sleepers)
        tml_condition_wake_all(&pool->work);
    else
        for (uint32_t i = 0; i < most; i++)
            tml_condition_wake_one(&pool->work);
    tml_mutex_unlock(&pool->mutex);
}

/* Waits until all workers have left the loop, which is closed. */
static void await_workers(tml_pool *pool)
{
    double end = pool->spins ? tml_seconds() + SPIN_SECONDS : 0;
    while (pool->spins && state_of(pool) % LOOP != 0 && tml_seconds() < end)
        pause_briefly();
    if (state_of(pool) % LOOP == 0)
        return;
    tml_mutex_lock(&pool->mutex);
    pool->caller_sleeps = true;
    while (state_of(pool) % LOOP != 0)
        tml_condition_wait(&pool->done, &pool->mutex);
    pool->caller_sleeps = false;
    tml_mutex_unlock(&pool->mutex);
}

void tml_pool_run(void *user, uint32_t count, tml_task_fn task, void *argument)
{
    tml_pool *pool = user;
    if (count <= 1 || pool->worker_count == 0 || pool->is_running) { /* nested loops run serially */
        for (uint32_t i = 0; i < count; i++)
            task(argument, i);
        return;
    }
    pool->is_running = true;
    pool->task = task;
    pool->argument = argument;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->state, (state_of(pool) / LOOP + 1) * LOOP | IS_OPEN,
                          memory_order_release);
    wake(pool, count - 1);
    drain(pool);
    atomic_fetch_and_explicit(&pool->state, ~IS_OPEN, memory_order_acq_rel);
    await_workers(pool);
    pool->is_running = false;
}
