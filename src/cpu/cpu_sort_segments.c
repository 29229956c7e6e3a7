/* Sort of segments on the CPU, balanced over elements. A worker takes a tile of elements, and sorts
 * the segments that begin in it. Neighbouring segments that together fit a leaf (cpu_sort_steps.h)
 * are loaded and stored at once. At most one segment that begins in a tile is so large that all
 * workers share it; these segments are sorted last, one after the other. */
#include "cpu/cpu_sort_job.h"

enum {
    TILE = SORT_CHUNK,
    BATCH = SORT_LEAF, /* elements of short segments, loaded together */
    BATCH_SEGMENTS = 1024,
    NETWORK_LEAST = 4, /* least rows for the network, which sorts SORT_GROUP */
};

typedef struct segments_job {
    sort_job sort;
    const tml_slot *offsets;
    bool has_starts;
    uint64_t count;      /* segments */
    unsigned low, high;  /* sort bits */
    uint64_t wide;       /* longer segments are shared */
    uint64_t *wide_ones; /* per tile: the shared segment that begins in it, or the count */
} segments_job;

/* Where segment s begins, or the last one ends. */
static uint64_t offset_at(const segments_job *job, uint64_t s)
{
    return job->has_starts && s == job->count ? job->sort.length
           : job->offsets->type == TML_U32    ? ((const uint32_t *)job->offsets->memory)[s]
                                              : ((const uint64_t *)job->offsets->memory)[s];
}

/* How many segments begin before an element. */
static uint64_t segments_before(const segments_job *job, uint64_t element)
{
    uint64_t low = 0, high = job->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (offset_at(job, middle) < element)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Elements in no segment keep their positions. */
static void cpu_sort_segments_keep(segments_job *job, sort_space *space, uint64_t first,
                                   uint64_t end)
{
    for (; first < end; first += BATCH) {
        size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)BATCH);
        cpu_sort_load(&job->sort.form, first, count, space->halves[0]);
        cpu_sort_store(&job->sort, first, count, space->halves[0]);
    }
}

/* Sorts segments [0, count) of a batch. Rows of short segments are sorted by the network, if there
 * are enough of them. */
static void sort_each(const segments_job *job, sort_space *space, const uint32_t *bounds,
                      size_t count)
{
    const sort_job *sort = &job->sort;
    size_t size = sort->form.record_size, next;
    unsigned char *x = space->halves[0], *out = space->halves[1];
    bool has_network = sort->loops->short_ones && (size > 4 || sort->is_whole);
    for (size_t s = 0; s < count; s = next) {
        next = s;
        while (has_network && next < count && bounds[next + 1] - bounds[next] <= SORT_ROW)
            next++;
        if (next - s >= NETWORK_LEAST) {
            sort->loops->short_ones(x, out, bounds + s, next - s, job->low, job->high,
                                    &space->rows);
            continue;
        }
        size_t here = bounds[s + 1] - bounds[s];
        next = s + 1;
        if (here > 0)
            sort->loops->leaf(x + bounds[s] * size, out + bounds[s] * size, here, job->low,
                              job->high, sort->is_whole, &space->rows);
    }
}

/* Sorts the segments from s on that together fit a leaf. Returns the segment after them. */
static uint64_t sort_batch(segments_job *job, sort_space *space, uint64_t s, uint64_t end)
{
    uint32_t bounds[BATCH_SEGMENTS + 1] = {0};
    uint64_t first = offset_at(job, s), last = TML_MIN_OF(first + BATCH, job->sort.length), next;
    size_t count = 0;
    for (; s < end && count < BATCH_SEGMENTS && (next = offset_at(job, s + 1)) <= last; s++)
        bounds[++count] = (uint32_t)(next - first);
    cpu_sort_load(&job->sort.form, first, bounds[count], space->halves[0]);
    sort_each(job, space, bounds, count);
    cpu_sort_store(&job->sort, first, bounds[count], space->halves[1]);
    return s;
}

/* Sorts the segments that begin among elements [first, end). Returns the segment that is left to
 * all workers. */
static uint64_t sort_tile(segments_job *job, sort_space *space, uint64_t first, uint64_t end)
{
    sort_job *sort = &job->sort;
    uint64_t s = segments_before(job, first), past = segments_before(job, end), left = job->count;
    uint64_t at = first; /* elements before it are done, or another tile's */
    if (s > 0 && offset_at(job, s) <= sort->length)
        at = TML_MAX_OF(at, offset_at(job, s));
    while (s < past && offset_at(job, s + 1) <= sort->length && !cpu_sort_is_stopped(sort)) {
        uint64_t begin = offset_at(job, s), count = offset_at(job, s + 1) - begin;
        cpu_sort_segments_keep(job, space, at, begin);
        if (count > BATCH)
            s++;
        if (count <= BATCH)
            s = sort_batch(job, space, s, past);
        else if (count <= job->wide)
            cpu_sort_alone(sort, space, begin, count, job->low, job->high);
        else
            left = s - 1;
        at = offset_at(job, s);
    }
    cpu_sort_segments_keep(job, space, at, end);
    return left;
}

static void tile_worker(void *argument, uint32_t worker)
{
    segments_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->sort.tickets, &tile) && !cpu_sort_is_stopped(&job->sort)) {
        uint64_t first = tile * TILE, end = TML_MIN_OF(first + TILE, job->sort.length);
        job->wide_ones[tile] = sort_tile(job, &job->sort.spaces[worker], first, end);
    }
    cpu_stream_fence();
}

static void cpu_sort_segments_lay_out(tml_context *tml, const tml_sort_resolved *resolved,
                                      cpu_arena *arena, segments_job *job)
{
    const tml_sort_desc *desc = &resolved->desc;
    bool has_starts = !tml_buffer_is_none(desc->segments.starts);
    *job = (segments_job){
        .has_starts = has_starts,
        .offsets = tml_slot_of(tml, has_starts ? desc->segments.starts : desc->segments.offsets),
    };
    cpu_sort_lay_out(tml, resolved, arena, &job->sort);
    job->wide_ones =
        cpu_arena_take(arena, TML_CEIL_DIV(desc->length.count, TILE), sizeof(uint64_t));
}

static size_t sort_segments_scratch_size(tml_context *tml, const void *resolved)
{
    cpu_arena arena = {0};
    segments_job job;
    cpu_sort_segments_lay_out(tml, resolved, &arena, &job);
    return arena.size;
}

static tml_status sort_segments_run(tml_context *tml, const void *argument, void *scratch,
                                    size_t size)
{
    const tml_sort_resolved *resolved = argument;
    cpu_arena arena = {scratch, 0};
    segments_job job;
    (void)size;
    cpu_sort_segments_lay_out(tml, resolved, &arena, &job);
    sort_job *sort = &job.sort;
    sort->length = cpu_length(tml, &resolved->desc.length);
    job.count =
        job.has_starts ? cpu_length(tml, &resolved->desc.segments.count) : resolved->segments;
    uint64_t given = job.has_starts && job.count ? job.count - 1 : job.count;
    if (sort->length == 0 || !cpu_offsets_rise(tml, job.offsets, given))
        return TML_OK;
    cpu_sort_bits(sort, &resolved->desc, &job.low, &job.high);
    uint64_t tiles = TML_CEIL_DIV(sort->length, TILE);
    uint32_t workers = cpu_workers(tml, tiles);
    job.wide = workers > 1 ? TML_MAX_OF(sort->length / (2 * workers), (uint64_t)TILE) : UINT64_MAX;
    cpu_run_tiles(tml, &sort->tickets, tiles, tile_worker, &job);
    for (uint64_t tile = 0; tile < tiles && !cpu_sort_is_stopped(sort); tile++) {
        uint64_t s = job.wide_ones[tile];
        if (s < job.count)
            cpu_sort_together(sort, offset_at(&job, s), offset_at(&job, s + 1) - offset_at(&job, s),
                              job.low, job.high);
    }
    return cpu_sort_end(sort);
}

const tml_engine_op cpu_op_sort_segments = {cpu_sort_supports, sort_segments_scratch_size,
                                            sort_segments_run};
