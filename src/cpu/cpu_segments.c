/* Segmented reduce and scan on the CPU, balanced over elements. Workers process groups of segments
 * and defer segments that are too long for one worker. Afterwards all workers together process the
 * deferred segments, one after the other, in blocks of the sizes of tml_reduce and tml_scan. Blocks
 * begin at the segment's start, so a float result is that of tml_reduce or tml_scan on the segment
 * alone.
 *
 * Integer sums wrap, so the order of addition does not matter: one scan of a tile covers several
 * short segments, and the sum at a segment's start is subtracted from the segment's sums. */
#include "cpu/cpu_internal.h"

enum {
    LONG = 1 << 18,            /* elements: least length of a segment that all workers share */
    SHORT = CPU_SCAN_TILE / 4, /* elements; shorter segments share a tile */
    MAX_GROUP = 4096,          /* segments that a worker takes at a time */
    GROUPS_PER_WORKER = 64,    /* balances groups of uneven lengths */
};

typedef struct segments {
    tml_context *tml;
    cpu_tickets tickets;
    const tml_slot *offsets;
    uint64_t count;         /* segments */
    uint64_t element_count; /* elements of in */
    uint64_t group;
    uint64_t *long_ones, long_capacity;
    _Atomic uint64_t long_count;
    _Atomic bool is_falling; /* an offset is less than its predecessor */
} segments;

typedef struct segment {
    uint64_t first, end;
} segment;

static uint64_t offset_at(const segments *all, uint64_t s)
{
    return all->offsets->type == TML_U32 ? ((const uint32_t *)all->offsets->memory)[s]
                                         : ((const uint64_t *)all->offsets->memory)[s];
}

/* Elements of segment s; none if it ends past the array. */
static segment segment_at(const segments *all, uint64_t s)
{
    segment span = {offset_at(all, s), offset_at(all, s + 1)};
    return span.end <= all->element_count ? span : (segment){0, 0};
}

static void choose_group(segments *all)
{
    uint64_t group = all->count / ((uint64_t)tml_concurrency(all->tml) * GROUPS_PER_WORKER);
    all->group = TML_MIN_OF(TML_MAX_OF(group, (uint64_t)1), (uint64_t)MAX_GROUP);
}

static void bind_segments(tml_context *tml, tml_buffer offsets, uint64_t elements, segments *all)
{
    const tml_slot *slot = tml_slot_of(tml, offsets);
    *all = (segments){
        .tml = tml, .offsets = slot, .count = slot->count - 1, .element_count = elements};
    choose_group(all);
    all->long_capacity = all->element_count / LONG;
}

/* Defers a long segment; returns false if it is not long. Segments do not overlap, so there is room
 * for all long ones. */
static bool put_aside(segments *all, uint64_t s, segment span)
{
    if (span.end - span.first < LONG)
        return false;
    uint64_t place = atomic_fetch_add_explicit(&all->long_count, 1, memory_order_relaxed);
    assert(place < all->long_capacity);
    all->long_ones[place] = s;
    return true;
}

static void run_groups(segments *all, tml_task_fn worker, void *job)
{
    uint64_t groups = all->count / all->group + (all->count % all->group != 0);
    cpu_run_tiles(all->tml, &all->tickets, groups, worker, job);
}

/* The next group's segments, [first, end). */
static bool take_group(segments *all, uint64_t *first, uint64_t *end)
{
    uint64_t group;
    if (!cpu_take_tile(&all->tickets, &group) || tml_is_cancelled(all->tml))
        return false;
    *first = group * all->group;
    *end = TML_MIN_OF(*first + all->group, all->count);
    return true;
}

#define FALLS(name, T)                                                                             \
    ALWAYS_INLINE bool falls_##name(const void *offsets, size_t count)                             \
    {                                                                                              \
        const T *x = offsets;                                                                      \
        T is_falling = 0;                                                                          \
        for (size_t i = 0; i < count; i++)                                                         \
            is_falling |= x[i] > x[i + 1];                                                         \
        return is_falling;                                                                         \
    }                                                                                              \
    SIMD_INSTANTIATE(bool, falls_##name, (const void *offsets, size_t count),                      \
                     return falls_##name(offsets, count))

FALLS(u32, uint32_t)
FALLS(u64, uint64_t)

static void order_worker(void *argument, uint32_t worker)
{
    static bool (*const table[][TML_SIMD_LEVELS])(const void *, size_t) = {
        SIMD_EACH_LEVEL(falls_u32), SIMD_EACH_LEVEL(falls_u64)};
    (void)worker;
    segments *all = argument;
    bool (*falls)(const void *, size_t) = table[all->offsets->type == TML_U64][tml_simd_level()];
    uint64_t s, end;
    while (take_group(all, &s, &end))
        if (falls((const unsigned char *)all->offsets->memory + s * all->offsets->element_size,
                  (size_t)(end - s)))
            atomic_store_explicit(&all->is_falling, true, memory_order_relaxed);
}

/* Are the offsets non-decreasing? If not, segments overlap: the work would be unbounded, and
 * workers might write the same element. The operation then does nothing. */
static bool are_in_order(segments *all)
{
    run_groups(all, order_worker, all);
    return !atomic_load_explicit(&all->is_falling, memory_order_relaxed);
}

bool cpu_offsets_rise(tml_context *tml, const tml_slot *offsets, uint64_t count)
{
    segments all = {.tml = tml, .offsets = offsets, .count = count};
    choose_group(&all);
    return are_in_order(&all);
}

static uint64_t blocks_in(uint64_t count, uint64_t block)
{
    return count / block + (count % block != 0);
}

/* ---- short segments of integers -------------------------------------------------------------- */

/* Processes the segments from s on that end within the tile, at or before element last. Returns the
 * next segment. sums: the tile's, from the start of segment s on. */
typedef uint64_t (*short_fn)(const void *offsets, uint64_t s, uint64_t end, uint64_t last,
                             const void *sums, size_t inclusive, void *out);

#define EACH_SHORT(Offset, Sum, BODY)                                                              \
    const Offset *offset = offsets;                                                                \
    const Sum *sum = sums;                                                                         \
    Sum *results = out;                                                                            \
    const uint64_t first = offset[s];                                                              \
    uint64_t at = 0;                                                                               \
    for (; s < end && offset[s + 1] <= last; s++) {                                                \
        const uint64_t next = offset[s + 1] - first;                                               \
        BODY;                                                                                      \
        at = next;                                                                                 \
    }                                                                                              \
    return s

/* Vectors may write past a segment's end; the next segment overwrites that. */
#define SCAN_ONE(Sum)                                                                              \
    typedef SIMD_VECTOR(Sum, CPU_SCAN_SLACK) vector;                                               \
    for (uint64_t i = at; i < next; i += CPU_SCAN_SLACK)                                           \
    *(vector *)(void *)(results + i) =                                                             \
        *(const vector *)(const void *)(sum + inclusive + i) - sum[at]

#define SHORT_SCANS(name, Offset, Sum)                                                             \
    ALWAYS_INLINE uint64_t scan_short_##name(const void *offsets, uint64_t s, uint64_t end,        \
                                             uint64_t last, const void *sums, size_t inclusive,    \
                                             void *out)                                            \
    {                                                                                              \
        EACH_SHORT(Offset, Sum, SCAN_ONE(Sum));                                                    \
    }                                                                                              \
    SIMD_INSTANTIATE(uint64_t, scan_short_##name,                                                  \
                     (const void *offsets, uint64_t s, uint64_t end, uint64_t last,                \
                      const void *sums, size_t inclusive, void *out),                              \
                     return scan_short_##name(offsets, s, end, last, sums, inclusive, out))

SHORT_SCANS(u32_32, uint32_t, uint32_t)
SHORT_SCANS(u32_64, uint32_t, uint64_t)
SHORT_SCANS(u64_32, uint64_t, uint32_t)
SHORT_SCANS(u64_64, uint64_t, uint64_t)

static uint64_t sum_short_u32(const void *offsets, uint64_t s, uint64_t end, uint64_t last,
                              const void *sums, size_t inclusive, void *out)
{
    (void)inclusive;
    EACH_SHORT(uint32_t, uint64_t, results[s] = sum[next] - sum[at]);
}

static uint64_t sum_short_u64(const void *offsets, uint64_t s, uint64_t end, uint64_t last,
                              const void *sums, size_t inclusive, void *out)
{
    (void)inclusive;
    EACH_SHORT(uint64_t, uint64_t, results[s] = sum[next] - sum[at]);
}

/* The element at which the tile that begins with segment s ends. Short segments that end no later
 * share the tile. */
static uint64_t tile_end(const segments *all, uint64_t s, uint64_t end)
{
    return TML_MIN_OF(TML_MIN_OF(offset_at(all, end), all->element_count),
                      offset_at(all, s) + CPU_SCAN_TILE);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

typedef struct reduce_job {
    segments all;
    cpu_fold fold;
    unsigned char *out;
    size_t out_size;
    tml_type out_type;
    cpu_scan scan;          /* integer sums of short segments */
    short_fn sum_short;     /* NULL: other folds */
    cpu_scan_space *spaces; /* one per worker, for scan */
    segment now;            /* the long segment in progress */
    cpu_number *results;    /* of its blocks */
    /* With starts, all segments but the last, whose end is the length, are handled as with
     * offsets. */
    bool has_last;
    segment last;
} reduce_job;

static void reduce_worker(void *argument, uint32_t worker)
{
    reduce_job *job = argument;
    segments *all = &job->all;
    uint64_t s, end;
    while (take_group(all, &s, &end))
        while (s < end) {
            segment span = segment_at(all, s);
            if (job->sum_short && span.end > span.first && span.end - span.first < SHORT) {
                cpu_scan_space *space = &job->spaces[worker];
                uint64_t last = tile_end(all, s, end);
                cpu_scan_read(&job->scan, space, span.first, (size_t)(last - span.first));
                s = job->sum_short(all->offsets->memory, s, end, last, space->sums, 0, job->out);
                continue;
            }
            if (!put_aside(all, s, span))
                cpu_fold_range(&job->fold, span.first, span.end, job->out + s * job->out_size,
                               job->out_type);
            s++;
        }
}

static void reduce_block_worker(void *argument, uint32_t worker)
{
    (void)worker;
    reduce_job *job = argument;
    uint64_t block;
    while (cpu_take_tile(&job->all.tickets, &block) && !tml_is_cancelled(job->all.tml)) {
        uint64_t first = job->now.first + block * CPU_FOLD_BLOCK;
        job->results[block] = cpu_fold_block(
            &job->fold, first, (size_t)TML_MIN_OF(job->now.end - first, CPU_FOLD_BLOCK));
    }
}

static void reduce_long(reduce_job *job, uint64_t s, segment span)
{
    job->now = span;
    uint64_t blocks = blocks_in(job->now.end - job->now.first, CPU_FOLD_BLOCK);
    cpu_run_tiles(job->all.tml, &job->all.tickets, blocks, reduce_block_worker, job);
    if (tml_is_cancelled(job->all.tml))
        return;
    cpu_total total = {0};
    for (uint64_t block = 0; block < blocks; block++)
        cpu_fold_join(&job->fold, &total, job->now.first + block * CPU_FOLD_BLOCK,
                      job->results[block]);
    cpu_fold_store(&job->fold, &total, job->now.first, job->now.end, job->out + s * job->out_size,
                   job->out_type);
}

static void reduce_lay_out(tml_context *tml, const tml_reduce_desc *desc, cpu_arena *arena,
                           reduce_job *job)
{
    *job = (reduce_job){.out = NULL};
    bool has_starts = !tml_buffer_is_none(desc->segments.starts);
    bind_segments(tml, has_starts ? desc->segments.starts : desc->segments.offsets,
                  desc->length.count, &job->all);
    job->all.long_ones = cpu_arena_take(arena, job->all.long_capacity, sizeof *job->all.long_ones);
    job->results = cpu_arena_take(arena, blocks_in(job->all.element_count, CPU_FOLD_BLOCK),
                                  sizeof *job->results);
    if (desc->folds[0].fold == TML_FOLD_SUM &&
        !tml_type_is_float(tml_slot_of(tml, desc->in)->type)) {
        job->spaces = cpu_arena_take(arena, tml_concurrency(tml), sizeof *job->spaces);
        job->sum_short = job->all.offsets->type == TML_U32 ? sum_short_u32 : sum_short_u64;
        cpu_scan_bind(tml, desc->in, desc->folds[0].out, false, &job->scan);
    }
}

static size_t reduce_segments_scratch_size(tml_context *tml, const void *desc)
{
    cpu_arena arena = {NULL, 0};
    reduce_job job;
    reduce_lay_out(tml, desc, &arena, &job);
    return arena.size;
}

/* Keeps as many segments as a device counted, and separates the last one. */
static void bind_starts(tml_context *tml, const tml_reduce_desc *desc, reduce_job *job)
{
    uint64_t count = cpu_length(tml, &desc->segments.count);
    job->all.element_count = cpu_length(tml, &desc->length);
    job->all.count = count ? count - 1 : 0;
    job->has_last = count > 0;
    if (job->has_last)
        job->last = (segment){offset_at(&job->all, count - 1), job->all.element_count};
    if (job->last.first > job->last.end)
        job->last = (segment){0, 0};
}

static tml_status reduce_segments_run(tml_context *tml, const void *desc, void *scratch,
                                      size_t scratch_size)
{
    (void)scratch_size;
    const tml_reduce_desc *d = desc;
    cpu_arena arena = {scratch, 0};
    reduce_job job;
    reduce_lay_out(tml, d, &arena, &job);
    cpu_fold_bind(tml, d->folds[0].fold, d->in, 0, &job.fold);
    const tml_slot *out = tml_slot_of(tml, d->folds[0].out);
    job.out = out->memory;
    job.out_size = out->element_size;
    job.out_type = out->type;
    if (!tml_buffer_is_none(d->segments.starts))
        bind_starts(tml, d, &job);
    if (are_in_order(&job.all))
        run_groups(&job.all, reduce_worker, &job);
    for (uint64_t i = 0; i < job.all.long_count; i++)
        reduce_long(&job, job.all.long_ones[i], segment_at(&job.all, job.all.long_ones[i]));
    if (job.has_last)
        reduce_long(&job, job.all.count, job.last);
    return cpu_finish(tml, "tml_reduce");
}

const tml_engine_op cpu_op_reduce_segments = {NULL, reduce_segments_scratch_size,
                                              reduce_segments_run};

/* ---- scan ------------------------------------------------------------------------------------ */

typedef struct scan_job {
    segments all;
    cpu_scan scan;
    short_fn scan_short;
    cpu_scan_space *spaces; /* one a worker */
    segment now;            /* the long segment in progress */
    cpu_number *before;     /* its tiles' aggregates, then their exclusive prefixes */
} scan_job;

static size_t tile_at(segment span, uint64_t first)
{
    return (size_t)TML_MIN_OF(span.end - first, (uint64_t)CPU_SCAN_TILE);
}

/* Scans a segment that shares no tile. */
static void scan_alone(scan_job *job, cpu_scan_space *space, segment span)
{
    cpu_number before = {0};
    for (uint64_t at = span.first; at < span.end; at += CPU_SCAN_TILE) {
        cpu_number sum = cpu_scan_read(&job->scan, space, at, tile_at(span, at));
        cpu_scan_write(&job->scan, space, at, tile_at(span, at), before);
        before = cpu_add(before, sum, job->scan.how);
    }
}

/* Scans short segments of floats one by one, so that each is rounded as if it were alone. */
static uint64_t scan_short_real(scan_job *job, cpu_scan_space *space, uint64_t s, uint64_t end,
                                uint64_t last)
{
    const cpu_scan *scan = &job->scan;
    const cpu_number zero = {0};
    const size_t skip = scan->inclusive ? scan->sum_size : 0;
    const uint64_t first = offset_at(&job->all, s);
    uint64_t at = first, next;
    for (; s < end && (next = offset_at(&job->all, s + 1)) <= last; s++, at = next)
        if (at < next) {
            scan->tile(scan->in + at * scan->in_size, (size_t)(next - at), space->sums);
            scan->add((const unsigned char *)space->sums + skip, zero, (size_t)(next - at),
                      (unsigned char *)space->ready + (at - first) * scan->out_size);
        }
    return s;
}

/* Scans the short segments of the tile that begins with segment s. Returns the next segment. */
static uint64_t scan_together(scan_job *job, cpu_scan_space *space, uint64_t s, uint64_t end)
{
    const cpu_scan *scan = &job->scan;
    const uint64_t first = offset_at(&job->all, s), last = tile_end(&job->all, s, end);
    if (scan->is_real) {
        s = scan_short_real(job, space, s, end, last);
    } else {
        cpu_scan_read(scan, space, first, (size_t)(last - first));
        s = job->scan_short(job->all.offsets->memory, s, end, last, space->sums, scan->inclusive,
                            space->ready);
    }
    cpu_copy_out(scan->out + first * scan->out_size, space->ready,
                 (size_t)(offset_at(&job->all, s) - first) * scan->out_size, scan->stream);
    return s;
}

static void scan_worker(void *argument, uint32_t worker)
{
    scan_job *job = argument;
    cpu_scan_space *space = &job->spaces[worker];
    uint64_t s, end;
    while (take_group(&job->all, &s, &end))
        while (s < end) {
            segment span = segment_at(&job->all, s);
            if (span.first < span.end && span.end - span.first < SHORT) {
                s = scan_together(job, space, s, end);
                continue;
            }
            if (!put_aside(&job->all, s, span))
                scan_alone(job, space, span);
            s++;
        }
    cpu_stream_fence();
}

static void tile_sum_worker(void *argument, uint32_t worker)
{
    scan_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->all.tickets, &tile)) {
        uint64_t first = job->now.first + tile * CPU_SCAN_TILE;
        job->before[tile] =
            cpu_scan_read(&job->scan, &job->spaces[worker], first, tile_at(job->now, first));
    }
}

static void tile_write_worker(void *argument, uint32_t worker)
{
    scan_job *job = argument;
    cpu_scan_space *space = &job->spaces[worker];
    uint64_t tile;
    while (cpu_take_tile(&job->all.tickets, &tile) && !tml_is_cancelled(job->all.tml)) {
        uint64_t first = job->now.first + tile * CPU_SCAN_TILE;
        cpu_scan_read(&job->scan, space, first, tile_at(job->now, first));
        cpu_scan_write(&job->scan, space, first, tile_at(job->now, first), job->before[tile]);
    }
    cpu_stream_fence();
}

/* REDUCE_THEN_SCAN: see cpu_scan.c. */
static void scan_long(scan_job *job, uint64_t s)
{
    job->now = segment_at(&job->all, s);
    uint64_t tiles = blocks_in(job->now.end - job->now.first, CPU_SCAN_TILE);
    cpu_run_tiles(job->all.tml, &job->all.tickets, tiles, tile_sum_worker, job);
    cpu_number before = {0};
    for (uint64_t tile = 0; tile < tiles; tile++) {
        cpu_number sum = job->before[tile];
        job->before[tile] = before;
        before = cpu_add(before, sum, job->scan.how);
    }
    cpu_run_tiles(job->all.tml, &job->all.tickets, tiles, tile_write_worker, job);
}

static const short_fn scan_shorts[2][2][TML_SIMD_LEVELS] = {
    {SIMD_EACH_LEVEL(scan_short_u32_32), SIMD_EACH_LEVEL(scan_short_u32_64)},
    {SIMD_EACH_LEVEL(scan_short_u64_32), SIMD_EACH_LEVEL(scan_short_u64_64)}};

static void scan_lay_out(tml_context *tml, const tml_scan_desc *desc, cpu_arena *arena,
                         scan_job *job)
{
    *job = (scan_job){.before = NULL};
    bind_segments(tml, desc->segments.offsets, desc->length.count, &job->all);
    job->all.long_ones = cpu_arena_take(arena, job->all.long_capacity, sizeof *job->all.long_ones);
    job->before = cpu_arena_take(arena, blocks_in(job->all.element_count, CPU_SCAN_TILE),
                                 sizeof *job->before);
    job->spaces = cpu_arena_take(arena, tml_concurrency(tml), sizeof *job->spaces);
    cpu_scan_bind(tml, desc->in, desc->out, desc->inclusive, &job->scan);
    job->scan_short = scan_shorts[job->all.offsets->type == TML_U64]
                                 [job->scan.sum_size == sizeof(uint64_t)][tml_simd_level()];
}

static size_t scan_segments_scratch_size(tml_context *tml, const void *desc)
{
    cpu_arena arena = {NULL, 0};
    scan_job job;
    scan_lay_out(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status scan_segments_run(tml_context *tml, const void *desc, void *scratch,
                                    size_t scratch_size)
{
    (void)scratch_size;
    const tml_scan_desc *d = desc;
    cpu_arena arena = {scratch, 0};
    scan_job job;
    scan_lay_out(tml, d, &arena, &job);
    if (are_in_order(&job.all))
        run_groups(&job.all, scan_worker, &job);
    for (uint64_t i = 0; i < job.all.long_count; i++)
        scan_long(&job, job.all.long_ones[i]);
    return cpu_finish(tml, "tml_scan");
}

const tml_engine_op cpu_op_scan_segments = {NULL, scan_segments_scratch_size, scan_segments_run};
