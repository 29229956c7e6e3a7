/* The CPU engine's toolkit for programs: buffers as memory, scratch, tiles in parallel, and loops compiled
 * for each level of SIMD (cpu_simd.h). */
#ifndef TML_CPU_PARTS_H
#define TML_CPU_PARTS_H

#include "core/core_internal.h"
#include "cpu/cpu_simd.h"

/* A buffer's elements; NULL for none. */
void *cpu_memory(const tml_context *tml, tml_buffer buffer);

/* ---- scratch -------------------------------------------------------------------------------- */

/* Cuts aligned pieces off the scratch block, or with memory NULL only adds their sizes up: the same
 * function then answers scratch_size and lays the block out for run. */
typedef struct cpu_arena {
    unsigned char *memory;
    size_t size;
} cpu_arena;
void *cpu_arena_take(cpu_arena *arena, uint64_t count, size_t element_size);

/* ---- tiles in parallel ---------------------------------------------------------------------- */

/* A worker takes tiles by ticket until none is left. Tickets rise, so whatever the scheduler does,
 * the predecessors of a tile are done or running when it runs: waiting for them ends. */
typedef struct cpu_tickets {
    _Atomic uint64_t next;
    uint64_t count;
} cpu_tickets;

/* How many workers tile_count tiles deserve. */
uint32_t cpu_workers(const tml_context *tml, uint64_t tile_count);
/* Runs worker(job, i) for i below cpu_workers(tml, tile_count); tickets is reset to tile_count. */
void cpu_run_tiles(tml_context *tml, cpu_tickets *tickets, uint64_t tile_count, tml_task_fn worker,
                   void *job);
/* The next tile; false when all are taken. */
bool cpu_take_tile(cpu_tickets *tickets, uint64_t *tile);
/* The call's status: CANCELLED with a message if tml_cancel came meanwhile. Workers skip the work,
 * not the chain, of tiles that they take after it. */
tml_status cpu_finish(tml_context *tml, const char *call);

#endif
