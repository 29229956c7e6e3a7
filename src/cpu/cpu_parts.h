/* The CPU engine's toolkit for programs: buffers as memory, scratch, parallel tiles, and loops
 * compiled for each SIMD level (core/simd.h). */
#ifndef TML_CPU_PARTS_H
#define TML_CPU_PARTS_H

#include "core/core_internal.h"
#include "core/simd.h"

/* A buffer's elements; NULL for no buffer. */
void *cpu_memory(const tml_context *tml, tml_buffer buffer);

/* ---- scratch -------------------------------------------------------------------------------- */

/* A bump allocator of aligned pieces of the scratch block. With memory NULL it only adds up their
 * sizes, so that one function can both answer scratch_size and lay the block out for run. */
typedef struct cpu_arena {
    unsigned char *memory;
    size_t size;
} cpu_arena;
void *cpu_arena_take(cpu_arena *arena, uint64_t count, size_t element_size);

/* ---- stores past the caches ------------------------------------------------------------------ */

/* memcpy for results. stream: use non-temporal stores of whole cache lines, which avoid the read
 * for ownership. A worker calls cpu_stream_fence after its last copy. */
void cpu_copy_out(void *out, const void *in, size_t size, bool stream);
void cpu_stream_fence(void);
/* Are non-temporal stores faster for an output of this many bytes? */
bool cpu_worth_streaming(uint64_t size);

/* Copies count elements of size bytes at index[...] to out. */
void cpu_gather(const void *in, size_t size, const tml_index *index, size_t count, void *out);

/* ---- tiles in parallel ---------------------------------------------------------------------- */

/* A worker takes tiles by ticket until none is left. Tickets ascend: when a tile runs, every
 * predecessor is finished or on a running worker. So look-back has forward progress under any
 * scheduler. */
typedef struct cpu_tickets {
    _Atomic uint64_t next;
    uint64_t count;
} cpu_tickets;

/* Number of workers for tile_count tiles. */
uint32_t cpu_workers(const tml_context *tml, uint64_t tile_count);
/* Runs worker(job, i) for i below cpu_workers(tml, tile_count), with tickets for tile_count
 * tiles. */
void cpu_run_tiles(tml_context *tml, cpu_tickets *tickets, uint64_t tile_count, tml_task_fn worker,
                   void *job);
/* The next tile; false when all are taken. */
bool cpu_take_tile(cpu_tickets *tickets, uint64_t *tile);
/* The call's status: CANCELLED, with a message, if the call was cancelled meanwhile. Workers then
 * skip the work of later tiles, but still publish their links. */
tml_status cpu_finish(tml_context *tml, const char *call);

#endif
