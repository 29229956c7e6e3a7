/* Shared by passes over a mesh: its triangles in stretches, and bits, one per vertex or triangle.
 * So a mesh whose arrays are mapped files is never whole in memory. */
#ifndef MESH_SWEEP_H
#define MESH_SWEEP_H

#include <stdatomic.h>

#include "mesh/mesh_arrays.h"

typedef struct mesh_sweep {
    tml_context *tml;
    const tml_mesh *mesh;
    uint64_t stretch; /* triangles between calls of release_pages, a multiple of 64 */
} mesh_sweep;

/* Handles triangles [first, end), which are in one stretch. first is a multiple of 64. */
typedef void (*mesh_block_fn)(void *job, uint64_t first, uint64_t end);

/* Calls block for all triangles from first, where a stretch begins, to end, on all threads. Errors:
 * CANCELLED. */
TML_MUST_CHECK tml_status mesh_sweep_run(const mesh_sweep *sweep, uint64_t first, uint64_t end,
                                         mesh_block_fn block, void *job);
static inline tml_status mesh_sweep_all(const mesh_sweep *sweep, mesh_block_fn block, void *job)
{
    return mesh_sweep_run(sweep, 0, sweep->mesh->triangle_count, block, job);
}
void mesh_let_pages_go(const tml_mesh *mesh);

static inline uint64_t mesh_vertex_at(const tml_mesh *mesh, uint64_t corner)
{
    return mesh_index(mesh->indices, mesh->indices64, corner);
}

/* Checks a caller's mesh. If it has no parts, makes whole its only part; the caller must restore
 * mesh->parts. call: for messages. Errors: INVALID_ARGUMENT. */
TML_MUST_CHECK tml_status mesh_check(tml_context *tml, const char *call, tml_mesh *mesh,
                                     tml_mesh_part *whole);

/* Returns the part that contains a triangle. */
uint32_t mesh_part_of(const tml_mesh *mesh, uint64_t triangle);

/* ---- bits ------------------------------------------------------------------------------------ */

enum { BITS_A_WORD = 64 };

typedef struct mesh_bits {
    uint64_t count;
    _Atomic uint64_t *words;
    uint64_t *before; /* ranked bits: those set before each word; see bits_rank_all */
    size_t size;      /* bytes of both */
} mesh_bits;

/* Makes bits, all 0. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status bits_create(tml_context *tml, uint64_t count, bool is_ranked,
                                      mesh_bits *out);
void bits_destroy(tml_context *tml, mesh_bits *bits);
void bits_set_all(const mesh_bits *bits);
/* Returns how many of bits [first, end) are set. */
uint64_t bits_count(const mesh_bits *bits, uint64_t first, uint64_t end);
/* Returns how many bits are set. After a change, bits_rank requires a call of this. */
uint64_t bits_rank_all(const mesh_bits *bits);
/* Finds the first run of set bits in [*at, *end), and sets both to its range. Returns false if
 * there is none. */
bool bits_run(const mesh_bits *bits, uint64_t *at, uint64_t *end);

static inline uint64_t bits_word(const mesh_bits *bits, uint64_t word)
{
    return atomic_load_explicit(&bits->words[word], memory_order_relaxed);
}

static inline bool bits_get(const mesh_bits *bits, uint64_t i)
{
    return bits_word(bits, i / BITS_A_WORD) >> i % BITS_A_WORD & 1;
}
/* Several threads may set bits of a word at once. */
static inline void bits_set(const mesh_bits *bits, uint64_t i)
{
    if (!bits_get(bits, i))
        atomic_fetch_or_explicit(&bits->words[i / BITS_A_WORD], (uint64_t)1 << i % BITS_A_WORD,
                                 memory_order_relaxed);
}

static inline void bits_clear(const mesh_bits *bits, uint64_t i)
{
    atomic_fetch_and_explicit(&bits->words[i / BITS_A_WORD], ~((uint64_t)1 << i % BITS_A_WORD),
                              memory_order_relaxed);
}

/* Uses no popcount instruction: not all processors have one. Warren: Hacker's Delight. 2002. */
static inline uint64_t bits_in_word(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

/* Returns the number of set bits before bit i. */
static inline uint64_t bits_rank(const mesh_bits *bits, uint64_t i)
{
    const uint64_t below = ((uint64_t)1 << i % BITS_A_WORD) - 1;
    return bits->before[i / BITS_A_WORD] + bits_in_word(bits_word(bits, i / BITS_A_WORD) & below);
}

/* Removes the triangles whose bit is 0, their rows, and the vertices that no other triangle uses.
 * Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status mesh_keep(tml_context *tml, tml_mesh *mesh, const mesh_rows *triangles,
                                    const mesh_bits *kept);

#endif
