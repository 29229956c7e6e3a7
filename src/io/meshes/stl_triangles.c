/* Reads and welds binary STL files in parallel:
 * 1. Each block of triangles welds its own corners in a table that fits in a core's cache. Few
 *    vertices per block are left.
 * 2. The vertices are distributed to parts by a hash of their position.
 * 3. Each part is welded by itself. The first vertex in the file represents all at its position, so
 *    the vertices get the same numbers as from a single table. */
#include <stdatomic.h>

#include "io/meshes/mesh_sink.h"

enum {
    STL_HEADER = 84,
    STL_TRIANGLE = 50,
    STL_NORMAL = 12,
    BLOCK = 1 << 14, /* triangles per task; its vertices have 16-bit numbers */
    PIECE = 1 << 11, /* triangles of a block that are read at once */
    BLOCK_CORNERS = 3 * BLOCK,
    BLOCK_SLOTS = 1 << 16,
    BLOCK_NONE = UINT16_MAX,
    BATCH = 4, /* blocks per thread between two reports of progress */
    PART_BITS = 8,
    PARTS = 1 << PART_BITS,
    WORKERS_MAX = 256,
};

/* The vertices that a block found, in file order: their place in the job's list, and their
 * numbers. */
typedef struct stl_block {
    uint64_t place;
    uint32_t first, count;
    uint32_t kept_first, kept; /* vertices that no earlier block has */
} stl_block;

/* A worker's memory. */
typedef struct stl_desk {
    uint8_t rows[PIECE * STL_TRIANGLE];
    float found[3 * BLOCK_CORNERS];
    uint16_t table[BLOCK_SLOTS];
} stl_desk;

/* A vertex, sorted by part. */
typedef struct stl_entry {
    float position[3];
    uint32_t number;
} stl_entry;

typedef struct stl_job {
    const io_file *file;
    uint64_t triangle_count;
    bool is_welded;
    uint32_t worker_count, block_count;
    stl_desk *desks;   /* one per worker */
    stl_block *blocks; /* block_count */
    uint32_t *counts;  /* PARTS per block: its vertices by part, later the next place */
    float *found;      /* vertices of all blocks, by block */
    uint32_t *indices;
    float *positions;
    _Atomic uint64_t found_count;
    atomic_uint next; /* first block or part that no worker has taken */
    uint32_t end;
    atomic_bool is_other; /* the file needs the general reader */
    stl_entry *entries;   /* by part */
    uint64_t part_starts[PARTS + 1];
    uint32_t *tables; /* table_size per worker */
    uint64_t table_size;
    uint32_t *same; /* for each vertex found: the first one at its position */
    uint32_t *numbers;
} stl_job;

/* Hashes a position; -0 counts as 0. */
static uint64_t hash_position(const float *p)
{
    uint32_t bits[3];
    for (int axis = 0; axis < 3; axis++) {
        float x = p[axis] + 0.0f;
        memcpy(&bits[axis], &x, sizeof x);
    }
    uint64_t hash = ((uint64_t)bits[0] << 32 | bits[1]) * 0x9e3779b97f4a7c15u;
    hash = ((hash ^ hash >> 32) + bits[2]) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

static bool is_same_position(const float *p, const float *q)
{
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

static uint32_t part_of(uint64_t hash)
{
    return (uint32_t)(hash >> (64 - PART_BITS));
}

static bool take_next(stl_job *job, uint32_t *out)
{
    *out = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    return *out < job->end;
}

/* Runs a task on the numbers from first to end; each worker repeatedly takes the next number. */
static void stl_triangles_run(stl_job *job, tml_task_fn task, uint32_t first, uint32_t end)
{
    atomic_store_explicit(&job->next, first, memory_order_relaxed);
    job->end = end;
    tml_parallel_for(job->file->tml, job->worker_count, task, job);
}

static uint64_t block_end(const stl_job *job, uint32_t block)
{
    uint64_t end = ((uint64_t)block + 1) * BLOCK;
    return end < job->triangle_count ? end : job->triangle_count;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Loads a triangle's corners. Returns false if a coordinate is not finite. */
static bool load_corners(const uint8_t *row, float out[9])
{
    uint32_t largest = 0;
    for (int i = 0; i < 9; i++) {
        uint32_t bits = io_load_u32(row + STL_NORMAL + 4 * i, false);
        uint32_t exponent = bits & 0x7f800000u;
        largest = exponent > largest ? exponent : largest;
        memcpy(&out[i], &bits, sizeof bits);
    }
    return largest < 0x7f800000u;
}

/* Welds triangles into the block's vertices, and writes their indices. */
static bool weld_rows(const uint8_t *rows, uint32_t count, stl_desk *desk, stl_block *block,
                      uint32_t *part_counts, uint32_t *indices)
{
    uint16_t *table = desk->table;
    uint32_t found = block->count;
    bool is_finite = true;
    for (uint32_t t = 0; t < count; t++, rows += STL_TRIANGLE) {
        float corners[9];
        is_finite &= load_corners(rows, corners);
        for (int c = 0; c < 3; c++) {
            const float *p = corners + 3 * c;
            uint64_t hash = hash_position(p);
            uint32_t slot = (uint32_t)hash % BLOCK_SLOTS;
            while (table[slot] != BLOCK_NONE && !is_same_position(desk->found + 3 * table[slot], p))
                slot = (slot + 1) % BLOCK_SLOTS;
            if (table[slot] == BLOCK_NONE) {
                table[slot] = (uint16_t)found;
                memcpy(desk->found + 3 * found, p, 3 * sizeof *p);
                part_counts[part_of(hash)]++;
                found++;
            }
            *indices++ = table[slot];
        }
    }
    block->count = found;
    return is_finite;
}

static bool copy_rows(const uint8_t *rows, uint32_t count, uint64_t first, const stl_job *job)
{
    bool is_finite = true;
    for (uint64_t t = first; t < first + count; t++, rows += STL_TRIANGLE) {
        is_finite &= load_corners(rows, job->positions + 9 * t);
        for (uint64_t c = 3 * t; c < 3 * t + 3; c++)
            job->indices[c] = (uint32_t)c;
    }
    return is_finite;
}

static bool read_block(stl_job *job, uint32_t number, stl_desk *desk)
{
    stl_block *block = &job->blocks[number];
    const uint64_t end = block_end(job, number);
    bool is_good = true;
    if (job->is_welded)
        memset(desk->table, 0xff, sizeof desk->table);
    for (uint64_t t = (uint64_t)number * BLOCK; t < end && is_good; t += PIECE) {
        const uint32_t count = (uint32_t)(end - t < PIECE ? end - t : PIECE);
        is_good = tml_io_read_quietly(job->file, STL_HEADER + t * STL_TRIANGLE, desk->rows,
                                      (size_t)count * STL_TRIANGLE) == 0;
        if (is_good && job->is_welded)
            is_good = weld_rows(desk->rows, count, desk, block,
                                job->counts + (size_t)number * PARTS, job->indices + 3 * t);
        else if (is_good)
            is_good = copy_rows(desk->rows, count, t, job);
    }
    if (job->is_welded) {
        block->place =
            atomic_fetch_add_explicit(&job->found_count, block->count, memory_order_relaxed);
        memcpy(job->found + 3 * block->place, desk->found, block->count * 3 * sizeof(float));
    }
    return is_good;
}

static void read_task(void *argument, uint32_t worker)
{
    stl_job *job = argument;
    for (uint32_t block; take_next(job, &block);)
        if (!read_block(job, block, &job->desks[worker]))
            atomic_store_explicit(&job->is_other, true, memory_order_relaxed);
}

static bool is_other(const stl_job *job)
{
    return atomic_load_explicit(&job->is_other, memory_order_relaxed);
}

/* Reads all blocks. Stops early if the file needs the general reader. */
static tml_status read_blocks(stl_job *job)
{
    io_progress progress;
    tml_io_progress_start(&progress, job->file->tml, "read", job->file->size);
    const uint32_t batch = BATCH * job->worker_count;
    for (uint32_t first = 0; first < job->block_count && !is_other(job);) {
        const uint32_t end = job->block_count - first > batch ? first + batch : job->block_count;
        stl_triangles_run(job, read_task, first, end);
        uint64_t rows = block_end(job, end - 1) - (uint64_t)first * BLOCK;
        if (!tml_io_progress_add(&progress, rows * STL_TRIANGLE + (first ? 0 : STL_HEADER)))
            return tml_io_error(job->file, TML_ERROR_CANCELLED, "cancelled");
        first = end;
    }
    return TML_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Turns counts into places, by part, then by block. */
static void place_parts(stl_job *job)
{
    uint64_t place = 0, number = 0;
    for (uint32_t part = 0; part < PARTS; part++) {
        job->part_starts[part] = place;
        for (uint32_t block = 0; block < job->block_count; block++) {
            uint32_t *count = &job->counts[(size_t)block * PARTS + part];
            uint32_t here = *count;
            *count = (uint32_t)place;
            place += here;
        }
    }
    job->part_starts[PARTS] = place;
    for (uint32_t block = 0; block < job->block_count; block++) {
        job->blocks[block].first = (uint32_t)number;
        number += job->blocks[block].count;
    }
}

static void scatter_task(void *argument, uint32_t worker)
{
    stl_job *job = argument;
    (void)worker;
    for (uint32_t number; take_next(job, &number);) {
        const stl_block *block = &job->blocks[number];
        const float *p = job->found + 3 * block->place;
        uint32_t *places = job->counts + (size_t)number * PARTS;
        for (uint32_t i = 0; i < block->count; i++, p += 3) {
            stl_entry *entry = &job->entries[places[part_of(hash_position(p))]++];
            memcpy(entry->position, p, sizeof entry->position);
            entry->number = block->first + i;
        }
    }
}

/* Returns the slots of a part's table: a power of two, at least twice its vertices. */
static uint64_t slots_of(const stl_job *job, uint32_t part)
{
    uint64_t slots = 16;
    while (slots < 2 * (job->part_starts[part + 1] - job->part_starts[part]))
        slots *= 2;
    return slots;
}

static void part_task(void *argument, uint32_t worker)
{
    stl_job *job = argument;
    uint32_t *table = job->tables + worker * job->table_size;
    for (uint32_t part; take_next(job, &part);) {
        const stl_entry *entries = job->entries + job->part_starts[part];
        const uint64_t count = job->part_starts[part + 1] - job->part_starts[part];
        const uint64_t slots = slots_of(job, part);
        memset(table, 0xff, slots * sizeof *table);
        for (uint64_t i = 0; i < count; i++) {
            const float *p = entries[i].position;
            uint64_t slot = hash_position(p) & (slots - 1);
            while (table[slot] != MESH_NONE && !is_same_position(entries[table[slot]].position, p))
                slot = (slot + 1) & (slots - 1);
            if (table[slot] == MESH_NONE)
                table[slot] = (uint32_t)i;
            job->same[entries[i].number] = entries[table[slot]].number;
        }
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void count_task(void *argument, uint32_t worker)
{
    stl_job *job = argument;
    (void)worker;
    for (uint32_t number; take_next(job, &number);) {
        stl_block *block = &job->blocks[number];
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            block->kept += job->same[i] == i;
    }
}

static void number_task(void *argument, uint32_t worker)
{
    stl_job *job = argument;
    (void)worker;
    for (uint32_t number; take_next(job, &number);) {
        const stl_block *block = &job->blocks[number];
        const float *p = job->found + 3 * block->place;
        uint32_t kept = block->kept_first;
        for (uint32_t i = block->first; i < block->first + block->count; i++, p += 3) {
            if (job->same[i] != i)
                continue;
            memcpy(job->positions + 3 * (size_t)kept, p, 3 * sizeof *p);
            job->numbers[i] = kept++;
        }
    }
}

static void index_task(void *argument, uint32_t worker)
{
    stl_job *job = argument;
    (void)worker;
    for (uint32_t number; take_next(job, &number);) {
        const stl_block *block = &job->blocks[number];
        uint32_t *same = job->same + block->first;
        for (uint32_t i = 0; i < block->count; i++)
            same[i] = job->numbers[same[i]];
        for (uint64_t c = 3 * (uint64_t)number * BLOCK; c < 3 * block_end(job, number); c++)
            job->indices[c] = same[job->indices[c]];
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static tml_status stl_triangles_report(const stl_job *job, double fraction)
{
    if (tml_progress(job->file->tml, "faces", fraction))
        return TML_OK;
    return tml_io_error(job->file, TML_ERROR_CANCELLED, "cancelled");
}

/* Numbers the vertices that are kept, and allocates and fills the mesh's positions. */
static tml_status number_vertices(mesh_sink *sink, stl_job *job)
{
    uint32_t kept = 0;
    stl_triangles_run(job, count_task, 0, job->block_count);
    for (uint32_t block = 0; block < job->block_count; block++) {
        job->blocks[block].kept_first = kept;
        kept += job->blocks[block].kept;
    }
    job->positions = tml_io_alloc(sink->file, (uint64_t)kept * 3 * sizeof(float));
    if (!job->positions)
        return TML_ERROR_OUT_OF_MEMORY;
    sink->made.positions = job->positions;
    sink->made.vertex_count = kept;
    sink->welded_count = 3 * job->triangle_count - kept;
    stl_triangles_run(job, number_task, 0, job->block_count);
    tml_status status = stl_triangles_report(job, 0.75);
    if (status == TML_OK)
        stl_triangles_run(job, index_task, 0, job->block_count);
    return status == TML_OK ? stl_triangles_report(job, 1) : status;
}

static tml_status weld_parts(mesh_sink *sink, stl_job *job)
{
    stl_triangles_run(job, scatter_task, 0, job->block_count);
    tml_status status = stl_triangles_report(job, 0.25);
    if (status == TML_OK)
        stl_triangles_run(job, part_task, 0, PARTS);
    TML_THEN(status, stl_triangles_report(job, 0.5));
    return status == TML_OK ? number_vertices(sink, job) : status;
}

/* Welds the vertices of all blocks. *is_done is false if the memory limit forbids it. */
static tml_status weld(mesh_sink *sink, stl_job *job, uint64_t used, bool *is_done)
{
    const uint64_t found = atomic_load_explicit(&job->found_count, memory_order_relaxed);
    place_parts(job);
    for (uint32_t part = 0; part < PARTS; part++) {
        uint64_t slots = slots_of(job, part);
        job->table_size = slots > job->table_size ? slots : job->table_size;
    }
    const uint64_t size = found * (sizeof *job->entries + 2 * sizeof(uint32_t)) +
                          job->worker_count * job->table_size * sizeof(uint32_t);
    if (sink->memory_limit && used + size + found * 3 * sizeof(float) > sink->memory_limit)
        return TML_OK;
    job->entries = tml_io_alloc(sink->file, size);
    if (!job->entries)
        return TML_ERROR_OUT_OF_MEMORY;
    job->same = (uint32_t *)(void *)(job->entries + found);
    job->numbers = job->same + found;
    job->tables = job->numbers + found;
    *is_done = true;
    tml_status status = weld_parts(sink, job);
    tml_free(sink->file->tml, job->entries, size);
    return status;
}

static tml_status read_job(mesh_sink *sink, stl_job *job, uint64_t used, bool *is_done)
{
    if (job->is_welded) {
        memset(job->blocks, 0, job->block_count * sizeof *job->blocks);
        memset(job->counts, 0, (uint64_t)job->block_count * PARTS * sizeof *job->counts);
    }
    tml_status status = read_blocks(job);
    if (status != TML_OK || is_other(job))
        return status;
    if (job->is_welded)
        return weld(sink, job, used, is_done);
    *is_done = true;
    return stl_triangles_report(job, 1);
}

/* Allocates the memory, reads, and frees everything but the mesh, which the sink owns. */
static tml_status make(mesh_sink *sink, stl_job *job, bool *is_done)
{
    tml_context *tml = sink->file->tml;
    tml_mesh *made = &sink->made;
    const uint64_t corners = 3 * job->triangle_count;
    const uint64_t desks = job->worker_count * sizeof *job->desks;
    const uint64_t blocks = job->block_count * sizeof *job->blocks;
    const uint64_t counts = (uint64_t)job->block_count * PARTS * sizeof *job->counts;
    const uint64_t indices = corners * sizeof *job->indices, points = corners * 3 * sizeof(float);
    const uint64_t used = desks + blocks + counts + indices + points;
    if (sink->memory_limit && used > sink->memory_limit)
        return TML_OK;
    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    job->desks = tml_io_alloc(sink->file, desks);
    job->blocks = job->desks ? tml_io_alloc(sink->file, blocks) : NULL;
    job->counts = job->blocks ? tml_io_alloc(sink->file, counts) : NULL;
    job->indices = job->counts ? tml_io_alloc(sink->file, indices) : NULL;
    float *floats = job->indices ? tml_io_alloc(sink->file, points) : NULL;
    made->indices = job->indices;
    made->triangle_count = job->triangle_count;
    job->found = floats;
    if (floats && !job->is_welded) {
        made->positions = job->positions = floats;
        made->vertex_count = corners;
    }
    if (floats)
        status = read_job(sink, job, used, is_done);
    if (job->is_welded)
        tml_free(tml, floats, points);
    tml_free(tml, job->counts, counts);
    tml_free(tml, job->blocks, blocks);
    tml_free(tml, job->desks, desks);
    if (status == TML_OK && !*is_done) {
        tml_mesh_file other = {.mesh = *made};
        tml_mesh_file_free(tml, &other);
        *made = (tml_mesh){0};
    }
    return status;
}

tml_status tml_stl_read_triangles(mesh_sink *sink, bool *is_done)
{
    const io_file *file = sink->file;
    uint8_t header[STL_HEADER];
    *is_done = false;
    if (file->size < sizeof header)
        return TML_OK;
    tml_status status = tml_io_read(file, 0, header, sizeof header);
    if (status != TML_OK)
        return status;
    const uint64_t count = io_load_u32(header + STL_HEADER - 4, false);
    if (count == 0 || 3 * count > MESH_NONE || file->size != STL_HEADER + STL_TRIANGLE * count)
        return TML_OK;
    stl_job job = {.file = file,
                   .triangle_count = count,
                   .is_welded = sink->weld == TML_WELD_ALWAYS,
                   .block_count = (uint32_t)((count + BLOCK - 1) / BLOCK)};
    const uint32_t workers = io_concurrency(file->tml);
    job.worker_count = workers < job.block_count ? workers : job.block_count;
    job.worker_count = job.worker_count < WORKERS_MAX ? job.worker_count : WORKERS_MAX;
    return make(sink, &job, is_done);
}
