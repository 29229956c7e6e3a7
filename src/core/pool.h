/* The context's own worker threads. */
#ifndef TML_POOL_H
#define TML_POOL_H

#include <trommel/core.h>

typedef struct tml_pool tml_pool;

/* Starts up to threads - 1 workers, since threads includes the caller's. NULL if out of memory. */
tml_pool *tml_pool_create(const tml_allocator *allocator, uint32_t threads);
void tml_pool_destroy(const tml_allocator *allocator, tml_pool *pool);
/* tml_parallel.run, with the pool as user. The calling thread runs tasks, too. */
void tml_pool_run(void *pool, uint32_t count, tml_task_fn task, void *argument);

#endif
