/* Compact and partition on the CPU.
 *
 * The stream is cut into tiles. A worker computes a tile's mask words block by block, and packs the
 * kept elements into its staging memory. When the tile's output offset (the exclusive prefix of the
 * kept counts) is known, the worker copies the elements to the output; they are still in cache
 * then.
 *
 *   LOOK_BACK         one pass: decoupled look-back gives the offset. A tile publishes its count
 *                     after it has read its elements, so a known offset implies that all earlier
 *                     elements have been read, and out may be in.
 *   REDUCE_THEN_SCAN  mask words and counts of all tiles; a scan of the counts; then pack and copy.
 *
 * The rejected elements of a partition begin after all kept ones, so their offset is known only at
 * the end. With REDUCE_THEN_SCAN it is known in time; LOOK_BACK keeps the rejected elements in
 * scratch. HISTOPYRAMID is in cpu_locate.c.
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016. */
#include "cpu/cpu_internal.h"
#include "cpu/cpu_locate.h"

#include <string.h>

enum {
    MAX_COLUMNS = TML_MAX_PAYLOADS + 1,
    STAGE_BYTES = 64 << 10, /* per tile: with its input, fits any second-level cache */
    MAX_TILE = 16 * CPU_BLOCK,
};

/* An array to compact: a payload, or the indices. */
typedef struct compact_column {
    const unsigned char *in; /* NULL: the element's index */
    unsigned char *out;
    unsigned char *aside; /* LOOK_BACK partition: rejected elements, kept until the end */
    uint64_t capacity;
    size_t size;
    cpu_compress_fn compress;
    bool stream;
} compact_column;

/* One worker's memory; kept and rejected are its staging memory. */
typedef struct workspace {
    cpu_keep_space keep;
    uint64_t words[CPU_BLOCK / 64];
    uint64_t indices[CPU_BLOCK]; /* as u32 or u64 */
    unsigned char *kept[MAX_COLUMNS];
    unsigned char *rejected[MAX_COLUMNS];
} workspace;

typedef struct compact_job {
    tml_context *tml;
    cpu_keep keep;
    compact_column columns[MAX_COLUMNS];
    uint32_t column_count;
    bool partition; /* desc.partition */
    uint64_t length;
    uint64_t out_first; /* the element that outputs begin with */
    uint64_t tile_items;
    cpu_tickets tickets;
    workspace **workers;
    cpu_link *links;  /* LOOK_BACK: one per tile */
    uint64_t *words;  /* REDUCE_THEN_SCAN: mask words of the whole stream */
    uint64_t *places; /* REDUCE_THEN_SCAN: each tile's kept count, then its offset */
    uint64_t kept_count;
} compact_job;

/* ---- plan and scratch ----------------------------------------------------------------------- */

static void add_column(compact_job *job, const tml_slot *in, const tml_slot *out)
{
    uint64_t skipped = TML_MIN_OF(job->out_first, out->count);
    job->columns[job->column_count++] = (compact_column){
        .in = in ? in->memory : NULL,
        .out = out->memory ? (unsigned char *)out->memory + skipped * out->element_size : NULL,
        .capacity = out->count - skipped,
        .size = out->element_size,
        .compress = cpu_compress_for(out->element_size),
        .stream = cpu_worth_streaming(out->size),
    };
}

/* first: the element that outputs begin with */
static void plan(tml_context *tml, const tml_compact_desc *desc, uint64_t first, compact_job *job)
{
    *job = (compact_job){.tml = tml, .partition = desc->partition, .out_first = first};
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !tml_buffer_is_none(desc->payloads[p].in); p++)
        add_column(job, tml_slot_of(tml, desc->payloads[p].in),
                   tml_slot_of(tml, desc->payloads[p].out));
    if (!tml_buffer_is_none(desc->indices))
        add_column(job, NULL, tml_slot_of(tml, desc->indices));

    size_t item_size = 0;
    for (uint32_t c = 0; c < job->column_count; c++)
        item_size += job->columns[c].size;
    uint64_t blocks = item_size ? STAGE_BYTES / item_size / CPU_BLOCK : MAX_TILE / CPU_BLOCK;
    job->tile_items = CPU_BLOCK * TML_MIN_OF(TML_MAX_OF(blocks, 1), MAX_TILE / CPU_BLOCK);
}

/* Takes all memory from the arena, for a stream as long as the bound. */
static void cpu_compact_lay_out(compact_job *job, const tml_compact_desc *desc, cpu_arena *arena)
{
    uint64_t bound = desc->length.count, tile_count = TML_CEIL_DIV(bound, job->tile_items);
    uint32_t worker_count = cpu_workers(job->tml, tile_count);
    job->workers = cpu_arena_take(arena, worker_count, sizeof(*job->workers));
    for (uint32_t w = 0; w < worker_count; w++) {
        workspace *work = cpu_arena_take(arena, 1, sizeof(*work));
        for (uint32_t c = 0; c < job->column_count; c++) {
            size_t stage_size = job->tile_items * job->columns[c].size + CPU_SLACK;
            void *kept = cpu_arena_take(arena, 1, stage_size);
            void *rejected = job->partition ? cpu_arena_take(arena, 1, stage_size) : NULL;
            if (work) {
                work->kept[c] = kept;
                work->rejected[c] = rejected;
            }
        }
        if (work)
            job->workers[w] = work;
    }
    if (desc->method == TML_METHOD_LOOK_BACK) {
        job->links = cpu_arena_take(arena, tile_count, sizeof(*job->links));
        for (uint32_t c = 0; c < job->column_count && job->partition; c++)
            job->columns[c].aside = cpu_arena_take(arena, bound, job->columns[c].size);
    } else {
        job->words = cpu_arena_take(arena, (bound + 63) / 64, sizeof(*job->words));
        job->places = cpu_arena_take(arena, tile_count, sizeof(*job->places));
    }
}

/* ---- blocks and tiles ----------------------------------------------------------------------- */

typedef struct item_span {
    uint64_t first;
    size_t count;
} item_span;

static item_span span_of_tile(const compact_job *job, uint64_t tile)
{
    uint64_t first = tile * job->tile_items;
    return (item_span){first, (size_t)TML_MIN_OF(job->tile_items, job->length - first)};
}

/* The block of a tile that follows the first done items. */
static item_span span_of_block(item_span tile, size_t done)
{
    return (item_span){tile.first + done, TML_MIN_OF(tile.count - done, (size_t)CPU_BLOCK)};
}

static const void *numbered(workspace *work, item_span block, size_t size)
{
    if (size == sizeof(uint32_t)) {
        uint32_t *indices = (uint32_t *)(void *)work->indices;
        for (size_t i = 0; i < block.count; i++)
            indices[i] = (uint32_t)block.first + (uint32_t)i;
    } else {
        for (size_t i = 0; i < block.count; i++)
            work->indices[i] = block.first + i;
    }
    return work->indices;
}

/* Packs a block's elements by the mask words, behind the staged elements. Returns their number. */
static size_t stage_block(const compact_job *job, workspace *work, item_span block,
                          const uint64_t *words, unsigned char *const stage[], size_t staged)
{
    size_t more = 0;
    for (uint32_t c = 0; c < job->column_count; c++) {
        const compact_column *column = &job->columns[c];
        const void *in = column->in ? column->in + block.first * column->size
                                    : numbered(work, block, column->size);
        more = column->compress(in, words, block.count, column->size,
                                stage[c] + staged * column->size);
    }
    return job->column_count ? more : (size_t)cpu_count_bits(words, (block.count + 63) / 64);
}

/* Mask words of the rejected elements. */
static void invert(const uint64_t *words, size_t count, uint64_t *out)
{
    for (size_t w = 0; w < (count + 63) / 64; w++)
        out[w] = ~words[w];
    if (count % 64)
        out[count / 64] &= ~(UINT64_MAX << count % 64);
}

/* Copies staged elements to the outputs, from place on, as far as the capacities allow. */
static void cpu_compact_put(const compact_job *job, unsigned char *const stage[], uint64_t place,
                            size_t count)
{
    for (uint32_t c = 0; c < job->column_count; c++) {
        const compact_column *column = &job->columns[c];
        if (place >= column->capacity)
            continue;
        uint64_t fit = TML_MIN_OF(column->capacity - place, count);
        cpu_copy_out(column->out + place * column->size, stage[c], (size_t)fit * column->size,
                     column->stream);
    }
}

/* ---- LOOK_BACK ------------------------------------------------------------------------------ */

static void compact_tile(const compact_job *job, workspace *work, uint64_t tile)
{
    item_span span = span_of_tile(job, tile);
    bool skip = tml_is_cancelled(job->tml); /* but publish, since successors wait for it */
    size_t kept = 0, rejected = 0;
    for (size_t done = 0; done < span.count && !skip; done += CPU_BLOCK) {
        item_span block = span_of_block(span, done);
        cpu_keep_words(&job->keep, &work->keep, block.first, block.count, work->words);
        kept += stage_block(job, work, block, work->words, work->kept, kept);
        if (job->partition) {
            invert(work->words, block.count, work->words);
            rejected += stage_block(job, work, block, work->words, work->rejected, rejected);
        }
    }
    uint64_t place = cpu_look_back(job->links, tile, (cpu_number){.u = kept}, CPU_ADD_INTEGERS).u;
    cpu_compact_put(job, work->kept, place, kept);
    for (uint32_t c = 0; c < job->column_count && job->partition; c++) {
        const compact_column *column = &job->columns[c];
        cpu_copy_out(column->aside + (span.first - place) * column->size, work->rejected[c],
                     rejected * column->size, column->stream);
    }
}

static void compact_worker(void *argument, uint32_t index)
{
    compact_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile))
        compact_tile(job, job->workers[index], tile);
    cpu_stream_fence();
}

enum { ASIDE_ITEMS = 64 << 10 };

/* Copies the rejected elements, a piece at a time, from aside to the outputs behind the kept
 * ones. */
static void bring_back_worker(void *argument, uint32_t index)
{
    compact_job *job = argument;
    uint64_t piece, rejected = job->length - job->kept_count;
    (void)index;
    while (cpu_take_tile(&job->tickets, &piece)) {
        uint64_t first = piece * ASIDE_ITEMS;
        uint64_t count = TML_MIN_OF(rejected - first, (uint64_t)ASIDE_ITEMS);
        for (uint32_t c = 0; c < job->column_count; c++) {
            const compact_column *column = &job->columns[c];
            cpu_copy_out(column->out + (job->kept_count + first) * column->size,
                         column->aside + first * column->size, count * column->size,
                         column->stream);
        }
    }
    cpu_stream_fence();
}

static void look_back(compact_job *job)
{
    uint64_t tile_count = TML_CEIL_DIV(job->length, job->tile_items);
    if (tile_count == 0)
        return;
    assert(job->links);
    memset(job->links, 0, tile_count * sizeof(*job->links));
    cpu_run_tiles(job->tml, &job->tickets, tile_count, compact_worker, job);
    job->kept_count = job->links[tile_count - 1].prefix.u;
    if (job->partition) {
        uint64_t pieces = (job->length - job->kept_count + ASIDE_ITEMS - 1) / ASIDE_ITEMS;
        cpu_run_tiles(job->tml, &job->tickets, pieces, bring_back_worker, job);
    }
}

/* ---- REDUCE_THEN_SCAN ----------------------------------------------------------------------- */

static void count_worker(void *argument, uint32_t index)
{
    compact_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile)) {
        item_span span = span_of_tile(job, tile);
        uint64_t *words = job->words + span.first / 64;
        bool skip = tml_is_cancelled(job->tml);
        for (size_t done = 0; done < span.count && !skip; done += CPU_BLOCK) {
            item_span block = span_of_block(span, done);
            cpu_keep_words(&job->keep, &job->workers[index]->keep, block.first, block.count,
                           words + done / 64);
        }
        job->places[tile] = skip ? 0 : cpu_count_bits(words, (span.count + 63) / 64);
    }
}

static void emit_worker(void *argument, uint32_t index)
{
    compact_job *job = argument;
    workspace *work = job->workers[index];
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        item_span span = span_of_tile(job, tile);
        const uint64_t *words = job->words + span.first / 64;
        size_t kept = 0, rejected = 0;
        for (size_t done = 0; done < span.count; done += CPU_BLOCK) {
            item_span block = span_of_block(span, done);
            kept += stage_block(job, work, block, words + done / 64, work->kept, kept);
            if (job->partition) {
                invert(words + done / 64, block.count, work->words);
                rejected += stage_block(job, work, block, work->words, work->rejected, rejected);
            }
        }
        cpu_compact_put(job, work->kept, job->places[tile], kept);
        if (job->partition)
            cpu_compact_put(job, work->rejected, job->kept_count + span.first - job->places[tile],
                            rejected);
    }
    cpu_stream_fence();
}

static void cpu_compact_reduce_then_scan(compact_job *job)
{
    uint64_t tile_count = TML_CEIL_DIV(job->length, job->tile_items);
    cpu_run_tiles(job->tml, &job->tickets, tile_count, count_worker, job);
    uint64_t place = 0;
    for (uint64_t tile = 0; tile < tile_count; tile++) {
        uint64_t kept = job->places[tile];
        job->places[tile] = place;
        place += kept;
    }
    job->kept_count = place;
    if (job->column_count > 0)
        cpu_run_tiles(job->tml, &job->tickets, tile_count, emit_worker, job);
}

/* ---- operations ----------------------------------------------------------------------------- */

size_t cpu_compact_by_scratch_size(tml_context *tml, const tml_compact_desc *desc)
{
    if (desc->method == TML_METHOD_HISTOPYRAMID)
        return cpu_locate_compact_scratch_size(tml, desc);
    compact_job job;
    cpu_arena arena = {0};
    plan(tml, desc, 0, &job); /* contents are not there yet */
    cpu_compact_lay_out(&job, desc, &arena);
    return arena.size;
}

/* Returns the end of the outputs: out_first plus the number of kept items. */
uint64_t cpu_compact_by(tml_context *tml, const tml_compact_desc *desc, const cpu_keep *keep,
                        void *scratch)
{
    compact_job job;
    cpu_arena arena = {.memory = scratch};
    plan(tml, desc, cpu_first(tml, desc->out_first), &job);
    cpu_compact_lay_out(&job, desc, &arena);
    job.keep = *keep;
    job.length = cpu_length(tml, &desc->length);
    if (desc->method == TML_METHOD_LOOK_BACK)
        look_back(&job);
    else
        cpu_compact_reduce_then_scan(&job);
    return job.out_first + job.kept_count;
}

static size_t compact_scratch_size(tml_context *tml, const void *desc)
{
    return cpu_compact_by_scratch_size(tml, desc);
}

static tml_status compact_run(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    const tml_compact_desc *d = desc;
    (void)size;
    if (d->method == TML_METHOD_HISTOPYRAMID)
        return cpu_locate_compact(tml, d, scratch);
    cpu_keep keep;
    cpu_keep_bind(tml, &d->keep, &keep);
    uint64_t kept = cpu_compact_by(tml, d, &keep, scratch);
    tml_status status = cpu_finish(tml, "tml_compact");
    if (status == TML_OK)
        cpu_store_count(tml, d->count, kept);
    return status;
}

const tml_engine_op cpu_op_compact = {.scratch_size = compact_scratch_size, .run = compact_run};
