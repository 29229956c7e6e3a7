/* HISTOPYRAMID: a pyramid of partial sums, traversed once for each output. The base level holds the
 * sources' counts. A cell of a higher level is the sum of four cells below it. The apex is the
 * number of outputs. Output j starts at the apex with key index j. On each level down, it visits
 * the four children of its cell in order: as long as the key index is at least the child's sum, it
 * subtracts that sum and goes to the next child. The traversal ends at the source; the remaining
 * key index is the rank.
 *
 * After: Ziegler, Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram Pyramids.
 * 2006; Dyken, Ziegler, Theobalt, Seidel: High-speed Marching Cubes using HistoPyramids. 2008. */
#include "cpu/cpu_locate.h"

enum {
    FAN = 4,         /* children of a cell: a GPU fetches one RGBA texel */
    MAX_LEVELS = 33, /* 4^32 = 2^64 */
    TASK_CELLS = 4096,
};

typedef struct pyramid {
    uint64_t *levels[MAX_LEVELS]; /* [0]: the base level */
    uint32_t apex;                /* number of the level that is one cell */
} pyramid;

/* The number of parents of count cells: the level is padded to whole groups of FAN children. */
static uint64_t parents_of(uint64_t count)
{
    return TML_CEIL_DIV(count, FAN);
}

static uint64_t padded(uint64_t count)
{
    return TML_ALIGN_UP(count, (uint64_t)FAN);
}

size_t cpu_pyramid_scratch_size(uint64_t source_count)
{
    uint64_t cells = FAN; /* an apex, even for no sources */
    for (uint64_t count = source_count; count > 1; count = parents_of(count))
        cells += padded(parents_of(count));
    return TML_ALIGN_UP(sizeof(pyramid), (size_t)TML_ALIGNMENT) + (size_t)cells * sizeof(uint64_t);
}

typedef struct level_job {
    const uint64_t *children;
    uint64_t *parents;
    uint64_t parent_count;
} level_job;

static void sum_families(void *argument, uint32_t index)
{
    const level_job *job = argument;
    uint64_t first = (uint64_t)index * TASK_CELLS;
    uint64_t end = TML_MIN_OF(first + TASK_CELLS, job->parent_count);
    for (uint64_t cell = first; cell < end; cell++) {
        const uint64_t *child = job->children + FAN * cell;
        job->parents[cell] = child[0] + child[1] + child[2] + child[3];
    }
}

uint64_t cpu_pyramid_build(tml_context *tml, uint64_t *counts, uint64_t source_count, void *scratch)
{
    pyramid *p = scratch;
    uint64_t *room =
        (uint64_t *)((uint8_t *)scratch + TML_ALIGN_UP(sizeof(pyramid), (size_t)TML_ALIGNMENT));
    p->levels[0] = counts;
    p->apex = 0;
    for (uint64_t count = source_count; count > 1;) {
        level_job job = {p->levels[p->apex], room, parents_of(count)};
        uint32_t tasks = (uint32_t)TML_CEIL_DIV(job.parent_count, TASK_CELLS);
        if (!tml_parallel_until(tml, tasks, sum_families, &job))
            return 0;
        count = job.parent_count;
        for (uint64_t cell = count; cell < padded(count); cell++)
            room[cell] = 0;
        p->levels[++p->apex] = room;
        room += padded(count);
    }
    return source_count ? p->levels[p->apex][0] : 0;
}

void cpu_pyramid_locate(const void *scratch, uint64_t output, tml_index *source, tml_rank *rank)
{
    const pyramid *p = scratch;
    uint64_t key_index = output, cell = 0;
    for (uint32_t level = p->apex; level > 0; level--) {
        const uint64_t *children = p->levels[level - 1];
        cell *= FAN;
        while (key_index >= children[cell])
            key_index -= children[cell++];
    }
    *source = cell;
    *rank = (tml_rank)key_index;
}
