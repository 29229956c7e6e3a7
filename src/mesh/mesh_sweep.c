/* Passes over a mesh, and arrays of bits. See mesh_sweep.h. */
#include "mesh/mesh_sweep.h"

#include <string.h>

#include "core/core_internal.h"

/* Triangles per task. */
enum { BLOCK = 1 << 12 };

typedef struct sweep_job {
    mesh_block_fn block;
    void *job;
    uint64_t first, end;
} sweep_job;

static void run_block(void *argument, uint32_t number)
{
    const sweep_job *job = argument;
    const uint64_t first = job->first + (uint64_t)number * BLOCK;
    job->block(job->job, first, TML_MIN_OF(first + BLOCK, job->end));
}

void mesh_let_pages_go(const tml_mesh *mesh)
{
    if (mesh->release_pages)
        mesh->release_pages(mesh->user);
}

tml_status mesh_sweep_run(const mesh_sweep *sweep, uint64_t first, uint64_t end,
                          mesh_block_fn block, void *job)
{
    for (uint64_t at = first; at < end; at += sweep->stretch) {
        sweep_job stretch = {block, job, at, TML_MIN_OF(at + sweep->stretch, end)};
        if (tml_is_cancelled(sweep->tml))
            return tml_error(sweep->tml, TML_ERROR_CANCELLED,
                             "%s: cancelled while filtering the mesh", tml_call_name(sweep->tml));
        tml_parallel_for(sweep->tml, (uint32_t)TML_CEIL_DIV(stretch.end - at, BLOCK), run_block,
                         &stretch);
        mesh_let_pages_go(sweep->mesh);
    }
    return TML_OK;
}

uint32_t mesh_part_of(const tml_mesh *mesh, uint64_t triangle)
{
    uint32_t
        low = 0,
        high = mesh->part_count; /* the last part that begins by then; empty ones come before it */
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (mesh->parts[middle].triangle_first <= triangle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- bits ------------------------------------------------------------------------------------ */

static uint64_t word_count(const mesh_bits *bits)
{
    return TML_CEIL_DIV(bits->count, (uint64_t)BITS_A_WORD);
}

tml_status bits_create(tml_context *tml, uint64_t count, bool is_ranked, mesh_bits *out)
{
    *out = (mesh_bits){.count = count};
    const uint64_t words = word_count(out), all = is_ranked ? 2 * words : words;
    uint64_t *memory = tml_alloc_array(tml, all, sizeof *memory);
    if (!memory && all)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for %llu bits to filter the mesh", tml_call_name(tml),
                         (unsigned long long)count);
    out->size = all * sizeof *memory;
    if (all)
        memset(memory, 0, out->size);
    out->words = (_Atomic uint64_t *)memory;
    out->before = is_ranked ? memory + words : NULL;
    return TML_OK;
}

void bits_destroy(tml_context *tml, mesh_bits *bits)
{
    tml_free(tml, (void *)bits->words, bits->size);
    *bits = (mesh_bits){0};
}

void bits_set_all(const mesh_bits *bits)
{
    memset((void *)bits->words, 0xff, bits->count / BITS_A_WORD * sizeof *bits->words);
    for (uint64_t i = bits->count / BITS_A_WORD * BITS_A_WORD; i < bits->count; i++)
        bits_set(bits, i);
}

uint64_t bits_count(const mesh_bits *bits, uint64_t first, uint64_t end)
{
    uint64_t sum = 0;
    while (first < end) {
        uint64_t n = TML_MIN_OF(BITS_A_WORD - first % BITS_A_WORD, end - first);
        uint64_t word = bits_word(bits, first / BITS_A_WORD) >> first % BITS_A_WORD;
        sum += bits_in_word(word << (BITS_A_WORD - n));
        first += n;
    }
    return sum;
}

uint64_t bits_rank_all(const mesh_bits *bits)
{
    uint64_t sum = 0;
    for (uint64_t w = 0; w < word_count(bits); w++) {
        bits->before[w] = sum;
        sum += bits_in_word(bits_word(bits, w));
    }
    return sum;
}

/* Returns the first bit of [i, end) that is (or is not) set, or end. */
static uint64_t bits_find(const mesh_bits *bits, uint64_t i, uint64_t end, bool is_set)
{
    while (i < end) {
        uint64_t word = bits_word(bits, i / BITS_A_WORD);
        word = (is_set ? word : ~word) >> i % BITS_A_WORD;
        if (word)
            return TML_MIN_OF(i + (uint64_t)__builtin_ctzll(word), end);
        i += BITS_A_WORD - i % BITS_A_WORD;
    }
    return end;
}

bool bits_run(const mesh_bits *bits, uint64_t *at, uint64_t *end)
{
    *at = bits_find(bits, *at, *end, true);
    if (*at == *end)
        return false;
    *end = bits_find(bits, *at, *end, false);
    return true;
}
