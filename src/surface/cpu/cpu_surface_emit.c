/* The surface on the CPU, part two: vertices and triangles. A row's output begins at the prefix sum
 * of the counts.
 *
 * The vertices of a row are ordered by axis, then x. So each of a cell's twelve edges has its
 * vertex number from one of eight running counters, and triangles need no index array. */
#include <string.h>

#include "surface/cpu/cpu_surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface.k.h"
/* Undefines the short names of kernel.h, which are not used below. */
#include "kernels/kernel_end.h"

/* ---- vertices -------------------------------------------------------------------------------- */

/* Vertices of a block that are on edges of one axis in one row, by ascending columns. */
typedef struct vertex_run {
    int axis;
    uint64_t y, z;         /* row of the workspace */
    uint64_t first, count; /* lanes */
} vertex_run;

/* The next vertices in output order, from as many rows as needed. So the loops over vertices are
 * long enough for vectors, and few branches are mispredicted. */
typedef struct vertex_block {
    uint64_t first; /* output number of lane 0's vertex */
    uint64_t run_count;
    vertex_run runs[SURFACE_LANES];
    uint64_t border; /* bit i: neighbours of lane i's edge may lie outside the volume */
    surface_lanes lanes;
} vertex_block;

/* Two blocks in turn: while one is filled, the other's samples are being prefetched. */
typedef struct vertex_queue {
    const surface_job *job;
    vertex_block blocks[2];
    int filling;
    normal_queue normals;
} vertex_queue;

/* Returns whether a sample's position is its index, with axes permuted. axes: receives the axis of
 * each component. Up to 2^24, float holds indices exactly. */
static bool is_unit_grid(const surface_plan *plan, int axes[3])
{
    unsigned taken = 0;
    if (plan->caps || surface_in_double(plan->type))
        return false;
    for (int a = 0; a < 3; a++) {
        if (plan->axes.origin[a] != 0 || plan->dims[a] > 1 << 24)
            return false;
        int component = plan->axes.step[a][1] == 1 ? 1 : plan->axes.step[a][2] == 1 ? 2 : 0;
        axes[component] = a;
        taken |= 1u << component;
        for (int c = 0; c < 3; c++)
            if (plan->axes.step[a][c] != (c == component ? 1 : 0))
                return false;
    }
    return taken == 7;
}

static inline double lane_t(const surface_plan *plan, const vertex_block *block, uint64_t lane)
{
    return surface_in_double(plan->type) ? block->lanes.ends.wide.low[lane]
                                         : (double)block->lanes.ends.narrow.low[lane];
}

/* Returns the side of the cap that the run's edge at column x crosses: -1 if its lower end is in
 * the pad, 1 if its upper end is, otherwise 0. The cap's outward normal points to that side. */
static int cap_side(const workspace *space, const vertex_run *run, uint64_t x)
{
    uint64_t at[3] = {x, run->y, run->z};
    uint64_t low = at[run->axis];
    if (is_in_pad(space, run->axis, low))
        return -1;
    return is_in_pad(space, run->axis, low + 1) ? 1 : 0;
}

static void place(const surface_job *job, const vertex_block *block, const vertex_run *run,
                  float *out)
{
    const surface_plan *plan = job->plan;
    const surface_box *box = &job->space->part->box;
    double pad = (double)job->space->pad, pad_below = (double)job->space->pad_below;
    double row[3] = {(double)box->first[0] - pad, (double)box->first[1] + (double)run->y - pad,
                     (double)box->first[2] + (double)run->z - pad_below};
    for (uint64_t lane = run->first; lane < run->first + run->count; lane++) {
        double index[3] = {row[0] + (double)block->lanes.x[lane], row[1], row[2]};
        index[run->axis] += lane_t(plan, block, lane);
        if (plan->caps) { /* an edge into the pad has its vertex on the border sample */
            const bool is_cap = cap_side(job->space, run, block->lanes.x[lane]) != 0;
            const uint64_t at[3] = {block->lanes.x[lane], run->y, run->z};
            for (int a = 0; a < 3; a++) {
                double low = (double)box->first[a], high = low + (double)(box->count[a] - 1);
                index[a] = index[a] < low ? low : index[a] > high ? high : index[a];
                if (is_cap && a != run->axis)
                    index[a] += (double)surface_cap_shift(is_in_pad(job->space, a, at[a] - 1),
                                                          is_in_pad(job->space, a, at[a] + 1));
            }
        }
        cpu_surface_position(&plan->axes, index, out + 3 * lane);
    }
}

static void cap_normals(const surface_job *job, const vertex_block *block, const vertex_run *run)
{
    const float(*rows)[3] = job->plan->axes.normal_rows;
    for (uint64_t lane = run->first; lane < run->first + run->count; lane++) {
        int side = cap_side(job->space, run, block->lanes.x[lane]);
        if (!side)
            continue;
        tml_vec3 n = surface_cap_normal(
            tml_make3(rows[0][run->axis], rows[1][run->axis], rows[2][run->axis]), (float)side);
        const float normal[3] = {n.x, n.y, n.z};
        surface_store_normals(job->plan, block->first + lane, 1, normal);
    }
}

/* Adds lanes [first, end) of a run to the queue of normals. */
static void add_normals(normal_queue *queue, const vertex_block *block, const vertex_run *run,
                        const float *t, uint64_t first, uint64_t end)
{
    const workspace *space = queue->job->space;
    uint32_t columns[SURFACE_LANES];
    for (uint64_t lane = first; lane < end; lane++)
        columns[lane - first] = (uint32_t)box_index(space, 0, block->lanes.x[lane]);
    const normal_edges edges = {.axis = run->axis,
                                .y = box_index(space, 1, run->y),
                                .z = box_index(space, 2, run->z),
                                .count = end - first,
                                .number = block->first + first,
                                .x = columns,
                                .t = t + first};
    surface_normals_add(queue, &edges);
}

static void emit_normals(normal_queue *queue, vertex_block *block)
{
    const surface_job *job = queue->job;
    float narrowed[SURFACE_LANES];
    const float *t = block->lanes.ends.narrow.low;
    if (surface_in_double(job->plan->type)) {
        for (uint64_t i = 0; i < block->lanes.count; i++)
            narrowed[i] = (float)block->lanes.ends.wide.low[i];
        t = narrowed;
    }
    const bool usual = surface_normals_usual(queue, &block->lanes, t, block->border, block->first);
    const vertex_run *run = block->runs;
    if (usual)
        for (uint64_t border = block->border; border; border &= border - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(border);
            while (run->first + run->count <= lane)
                run++;
            add_normals(queue, block, run, t, lane, lane + 1);
        }
    else
        for (; run < block->runs + block->run_count; run++)
            add_normals(queue, block, run, t, run->first, run->first + run->count);
    if (!job->space->pad)
        return;
    surface_normals_flush(queue); /* before cap normals, which replace some of the queue's */
    for (uint64_t r = 0; r < block->run_count; r++)
        cap_normals(job, block, &block->runs[r]);
}

/* The attribute's samples are numbered like the volume's. */
static void emit_values(const surface_job *job, const vertex_block *block)
{
    const tml_slot *attribute = job->plan->attribute;
    const surface_lanes *lanes = &block->lanes;
    const int64_t none = 0;
    surface_stencil stencil = {.count = 1};
    float values[2][SURFACE_LANES];
    for (uint64_t i = 0; i < lanes->count; i++)
        stencil.offsets[i] = &none;
    for (int end = 0; end < 2; end++) {
        memcpy(stencil.sample, lanes->sample[end], sizeof stencil.sample);
        job->simd->gather[attribute->type](attribute->memory, &stencil, lanes->count, &values[end]);
    }
    const tml_slot *slot = job->plan->mesh.vertex_values;
    const surface_layout *layout = surface_layout_of(job->plan);
    float *out = layout->stride ? values[0] : (float *)slot->memory + block->first;
    for (uint64_t i = 0; i < lanes->count; i++)
        out[i] = surface_mix(values[0][i], values[1][i], (float)lane_t(job->plan, block, i));
    if (layout->stride)
        surface_store(slot, layout->value, block->first, lanes->count, out, 1);
}

/* Writes a block's vertices, and empties the block. */
static void block_flush(vertex_queue *queue, vertex_block *block)
{
    const surface_job *job = queue->job;
    const surface_plan *plan = job->plan;
    surface_lanes *lanes = &block->lanes;
    if (lanes->count == 0)
        return;
    if (plan->labels) {
        for (uint64_t i = 0; i < lanes->count; i++)
            if (surface_in_double(plan->type))
                lanes->ends.wide.low[i] = 0.5;
            else
                lanes->ends.narrow.low[i] = 0.5f;
    } else {
        job->simd->ends[plan->type](job->window.samples, lanes);
        if (surface_in_double(plan->type))
            job->simd->cross_wide(lanes, job->space->part->iso);
        else
            job->simd->cross(lanes, (float)job->space->part->iso);
    }
    const surface_layout *layout = surface_layout_of(plan);
    float positions[3 * SURFACE_LANES];
    float *out =
        layout->stride ? positions : (float *)plan->mesh.positions->memory + 3 * block->first;
    if (job->is_unit)
        job->simd->place(lanes, job->axes, out);
    else
        for (uint64_t r = 0; r < block->run_count; r++)
            place(job, block, &block->runs[r], out);
    if (layout->stride)
        surface_store(plan->mesh.positions, layout->position, block->first, lanes->count, out, 3);
    if (plan->mesh.vertex_values)
        emit_values(job, block);
    if (plan->mesh.vertex_normals)
        emit_normals(&queue->normals, block);
    block->first += 2 * SURFACE_LANES;
    block->run_count = block->border = lanes->count = 0;
}

/* Writes all vertices in the queue. The vertex added next has the number next. */
static void queue_flush(vertex_queue *queue, uint64_t next)
{
    block_flush(queue, &queue->blocks[!queue->filling]);
    block_flush(queue, &queue->blocks[queue->filling]);
    surface_normals_flush(&queue->normals);
    queue->blocks[queue->filling].first = next;
    queue->blocks[!queue->filling].first = next + SURFACE_LANES;
}

/* A row of the workspace. */
typedef struct vertex_row {
    uint64_t y, z;
    /* index of its first sample in the whole volume; in a pad, at[0] may be -1, modulo 2^64 */
    uint64_t at[3];
    /* numbers of the samples at column 0 of the volume: in this row, one step along y, along z */
    uint64_t samples[3];
    bool is_border; /* neighbours of all its edges may lie outside the volume */
} vertex_row;

static vertex_row row_at(const surface_job *job, uint64_t y, uint64_t z)
{
    const workspace *space = job->space;
    const uint64_t *dims = job->plan->dims;
    const uint64_t at[3] = {space->part->box.first[0] - space->pad, box_index(space, 1, y),
                            box_index(space, 2, z)};
    return (vertex_row){.y = y,
                        .z = z,
                        .at = {at[0], at[1], at[2]},
                        .samples = {row_number(job, at[1], at[2]),
                                    row_number(job, box_index(space, 1, y + 1), at[2]),
                                    row_number(job, at[1], box_index(space, 2, z + 1))},
                        .is_border = at[1] == 0 || at[1] + 2 >= dims[1] || at[2] == 0 ||
                                     at[2] + 2 >= dims[2]};
}

/* Returns, as bits, the lanes of a run whose edges may have neighbours outside the volume. */
static uint64_t border_of(const surface_job *job, const vertex_row *row, const vertex_run *run,
                          const uint32_t *x)
{
    uint64_t first = 0, end = run->count, border = 0;
    /* Columns ascend, so border columns are the first and the last ones. */
    for (; first < end && (int64_t)(row->at[0] + x[first]) <= 0; first++)
        border |= (uint64_t)1 << first;
    for (; end > first && row->at[0] + x[end - 1] + (run->axis == 0) + 1 >= job->plan->dims[0];
         end--)
        border |= (uint64_t)1 << (end - 1);
    return (row->is_border ? UINT64_MAX >> (SURFACE_LANES - run->count) : border) << run->first;
}

/* Adds n vertices on edges of an axis in a row. x: the columns of the edges. */
static void add_vertices(vertex_queue *queue, const vertex_row *row, int axis, const uint32_t *x,
                         uint64_t n)
{
    const surface_job *job = queue->job;
    const workspace *space = job->space;
    const surface_first first = {
        .axis = axis,
        .index = {(uint32_t)row->at[0], (uint32_t)row->at[1], (uint32_t)row->at[2]},
        .sample = {row->samples[0] + row->at[0], row->samples[axis] + row->at[0] + (axis == 0)}};
    while (n) {
        vertex_block *block = &queue->blocks[queue->filling];
        surface_lanes *lanes = &block->lanes;
        const uint64_t count = TML_MIN_OF(n, SURFACE_LANES - lanes->count);
        vertex_run *run = &block->runs[block->run_count++];
        *run = (vertex_run){axis, row->y, row->z, lanes->count, count};
        job->simd->add(lanes, &first, x, count);
        if (space->pad)
            for (uint64_t lane = run->first; lane < run->first + count; lane++)
                for (int end = 0; end < 2; end++)
                    lanes->sample[end][lane] =
                        row->samples[end ? axis : 0] +
                        box_index(space, 0, lanes->x[lane] + (uint64_t)(end && axis == 0));
        if (job->plan->mesh.vertex_normals)
            block->border |= border_of(job, row, run, x);
        x += count;
        n -= count;
        if (lanes->count < SURFACE_LANES)
            continue;
        queue->filling ^= 1;
        block_flush(queue, &queue->blocks[queue->filling]);
    }
}

/* Prefetches the samples around a row's crossed edges that were not read for earlier rows and
 * layers. The hardware prefetcher cannot predict them. Always inline, as gcc removes calls of a
 * function that only prefetches. */
ALWAYS_INLINE void prefetch_edges(const surface_job *job, const vertex_row *row, uint64_t first,
                                  const surface_edges *edges)
{
    const workspace *space = job->space;
    if (space->pad || job->plan->labels)
        return;
    const uint64_t *dims = job->plan->dims, y = row->at[1], z = row->at[2];
    const uint64_t y1 = TML_MIN_OF(y + 1, dims[1] - 1), z1 = TML_MIN_OF(z + 1, dims[2] - 1);
    const uint64_t offset = (space->part->box.first[0] + 64 * first) * job->sample_size;
    const uint64_t all = edges->runs[0] | edges->runs[1] | edges->runs[2];
    /* Any further row, such as y + 2 for gradients, costs more than it saves. */
    const unsigned char *around[2] = {sample_row(job, y, z1), sample_row(job, y1, z)};
    if (job->plan->mesh.vertex_normals) {
        around[0] = sample_row(job, y, TML_MIN_OF(z + 2, dims[2] - 1));
        around[1] = sample_row(job, y1, z > 0 ? z - 1 : 0);
    }
    for (uint64_t runs = all; runs; runs &= runs - 1) {
        uint64_t at = offset + 16 * job->sample_size * (uint64_t)__builtin_ctzll(runs);
        __builtin_prefetch(around[0] + at);
        __builtin_prefetch(around[1] + at);
    }
}

/* Adds the vertices that row (y, z) owns, axis by axis. */
static void row_vertices(vertex_queue *queue, uint64_t y, uint64_t z)
{
    const surface_job *job = queue->job;
    const uint64_t row_words = job->space->words;
    const vertex_row row = row_at(job, y, z);
    surface_edges edges;
    uint32_t columns[GROUP + LANE_SLACK];
    for (int axis = 0; axis < 3; axis++)
        for (uint64_t w = 0; w < row_words; w += GROUP_WORDS) {
            if (axis == 0 || row_words > GROUP_WORDS)
                find_edges(job->simd, job->space, y, z, w, &edges);
            if (axis == 0)
                prefetch_edges(job, &row, w, &edges);
            if (!edges.runs[axis])
                continue;
            uint64_t words = TML_MIN_OF(row_words - w, (uint64_t)GROUP_WORDS);
            uint64_t n = job->simd->columns(&edges, axis, words, (uint32_t)(64 * w), columns);
            add_vertices(queue, &row, axis, columns, n);
        }
}

/* Returns the vertices of row y. Its chunk ends before row y_end, and has total vertices. */
static uint32_t row_vertex_count(const row_entry *entries, uint64_t y, uint64_t y_end,
                                 uint32_t total)
{
    return (y + 1 < y_end ? entries[y + 1].vertices : total) - entries[y].vertices;
}

static void vertices_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    const workspace *space = job->space;
    if (tml_is_cancelled(job->tml))
        return;
    uint64_t chunk = job->first_chunk + index;
    chunk_place at = chunk_locate(space, chunk);
    uint64_t base = space->part->vertex_first + space->chunks[chunk].vertices;
    uint64_t chunk_end = chunk + 1 < space->chunk_count ? space->chunks[chunk + 1].vertices
                                                        : space->part->vertex_count;
    uint32_t total = (uint32_t)(chunk_end - space->chunks[chunk].vertices);
    const row_entry *entries = space->entries + space->size[1] * at.z;
    vertex_queue queue;
    queue.job = job;
    queue.filling = 0;
    for (int i = 0; i < 2; i++) {
        vertex_block *block = &queue.blocks[i];
        block->first = base + (uint64_t)(i * SURFACE_LANES);
        block->run_count = block->border = block->lanes.count = 0;
    }
    surface_normals_begin(&queue.normals, job);
    for (uint64_t y = at.y_first; y < at.y_end; y++) {
        if (!row_vertex_count(entries, y, at.y_end, total))
            continue;
        row_vertices(&queue, y, at.z);
        if (has_open(space) && open_of_row(space, y, at.z)->own) {
            const open_entry *open = open_of_row(space, y, at.z);
            const uint64_t first = base + entries[y].vertices + open->on_edges;
            queue_flush(&queue, first + open->own);
            open_vertices(job, y, at.z, first);
        }
    }
    queue_flush(&queue, 0);
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Sets out to the number of the first vertex on a row's edges, per axis. */
static void row_bases(const workspace *space, uint64_t y, uint64_t z, uint64_t out[3])
{
    const row_entry *entry = &space->entries[y + space->size[1] * z];
    out[0] = space->part->vertex_first + space->part->vertex_base +
             chunk_of_row(space, y, z)->vertices + entry->vertices;
    out[1] = out[0] + entry->x_edges;
    out[2] = out[1] + entry->y_edges;
}

static void row_counters(const workspace *space, uint64_t y, uint64_t z,
                         uint64_t out[SURFACE_COUNTERS])
{
    uint64_t bases[4][3];
    for (uint64_t i = 0; i < 4; i++)
        row_bases(space, y + (i & 1), z + (i >> 1), bases[i]);
    for (int i = 0; i < 4; i++)
        out[i] = bases[i][0];
    out[4] = bases[0][1];
    out[5] = bases[2][1];
    out[6] = bases[0][2];
    out[7] = bases[1][2];
}

/* With missing samples, some crossed edges have no vertex, so running counters would be wrong. A
 * vertex number is the rank of its edge's bit. */
static uint32_t *triangles_with_missing(const surface_job *job, uint64_t y, uint64_t z,
                                        const uint64_t counters[SURFACE_COUNTERS], uint64_t base,
                                        surface_open *open, uint32_t *out)
{
    static const uint8_t axis_of[8] = {0, 0, 0, 0, 1, 1, 2, 2};
    static const uint8_t row_of[8] = {0, 1, 2, 3, 0, 2, 0, 1};
    const workspace *space = job->space;
    surface_rows rows = rows_at(space, y, z);
    surface_edges edges[4]; /* of the four rows, for the current group of words */
    uint64_t before[8];
    memcpy(before, counters, sizeof before);
    for (uint64_t w = 0; w < space->words; w++) {
        surface_word stream[8], cells = plane_row(space, space->cells, y, z)[w];
        if (w % GROUP_WORDS == 0)
            for (uint64_t i = 0; i < 4; i++)
                find_edges(job->simd, space, y + (i & 1), z + (i >> 1), w, &edges[i]);
        for (int i = 0; i < 8; i++)
            stream[i] = edges[row_of[i]].words[axis_of[i]][w % GROUP_WORDS];
        for (; cells; cells &= cells - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(cells);
            const unsigned index = case_of(&rows, w, bit);
            const surface_case *entry = &job->cases[index];
            const bool is_open = SURFACE_HAS_TRILINEAR && open && topology_is_open(index);
            if (!entry->index_count && !is_open)
                continue;
            uint32_t numbers[16];
            for (int i = 0; i < 8; i++) {
                surface_word below = ((surface_word)1 << bit) - 1;
                numbers[i] = (uint32_t)(before[i] - base +
                                        (uint64_t)__builtin_popcountll(stream[i] & below));
                numbers[8 + i] = numbers[i] + (uint32_t)(stream[i] >> bit & 1);
            }
            for (unsigned k = 0; k < entry->index_count; k++)
                *out++ = numbers[entry->lanes[k]];
            if (is_open)
                out = open_write(open, numbers, out);
        }
        for (int i = 0; i < 8; i++)
            before[i] += (uint64_t)__builtin_popcountll(stream[i]);
    }
    return out;
}

/* Writes the cell of each triangle of a row, from triangle first on. */
static void row_cells(const surface_job *job, uint64_t y, uint64_t z, uint64_t first)
{
    const workspace *space = job->space;
    const uint64_t *dims = job->plan->dims;
    const tml_slot *out = job->plan->mesh.triangle_cells;
    uint64_t row = (box_index(space, 1, y) + dims[1] * box_index(space, 2, z)) * dims[0];
    surface_rows rows = rows_at(space, y, z);
    const uint16_t *meshes = has_open(space) ? meshes_of_row(space, y, z) : NULL;
    for (uint64_t w = 0; w < space->words; w++) {
        surface_word c[4], next[4];
        for (int i = 0; i < 4; i++) {
            c[i] = rows.row[i][w];
            next[i] = surface_step_x(c[i], rows.row[i][w + 1]);
        }
        surface_word cells =
            surface_active(c[0], next[0], c[1], next[1], c[2], next[2], c[3], next[3]) &
            (space->cells ? plane_row(space, space->cells, y, z)[w] : space->x_mask[w]);
        for (; cells; cells &= cells - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(cells);
            uint64_t number = row + box_index(space, 0, 64 * w + bit);
            unsigned index = case_of(&rows, w, bit), corners = job->cases[index].index_count;
            if (SURFACE_HAS_TRILINEAR && meshes && topology_is_open(index))
                corners = 3u * topology_meshes[*meshes++].triangle_count;
            for (unsigned k = 0; k < corners; k += 3, first++)
                if (out->type == TML_U64)
                    ((uint64_t *)out->memory)[first] = number;
                else
                    ((uint32_t *)out->memory)[first] = (uint32_t)number;
        }
    }
}

/* Indices in a stage (16 KiB), and how far a store may reach past a row's indices. */
enum { STAGE_INDICES = 4096, STAGE_SLACK = 16 };

/* Some 32-bit indices of a chunk, collected to be written past the caches. to: where they go. */
typedef struct index_stage {
    uint32_t *to;
    uint64_t count;
    uint32_t indices[STAGE_INDICES + STAGE_SLACK];
} index_stage;

static void stage_flush(index_stage *stage)
{
    if (stage->count)
        cpu_copy_out(stage->to, stage->indices, (size_t)stage->count * sizeof *stage->to, true);
    stage->count = 0;
}

/* Returns room for the next n indices (at most STAGE_INDICES), which go to to. The indices already
 * in the stage go right before them. */
static uint32_t *stage_take(index_stage *stage, uint64_t n, uint32_t *to)
{
    if (stage->count + n > STAGE_INDICES)
        stage_flush(stage);
    if (stage->count == 0)
        stage->to = to;
    stage->count += n;
    return stage->indices + stage->count - n;
}

/* Writes a row's indices minus base to out. A store may reach up to end. */
static void row_triangles(const surface_job *job, uint64_t y, uint64_t z,
                          const uint64_t wide[SURFACE_COUNTERS], uint64_t base, uint32_t *out,
                          uint32_t *end)
{
    const workspace *space = job->space;
    const bool is_open = has_open(space) && open_of_row(space, y, z)->count;
    surface_open open;
    if (is_open)
        open =
            (surface_open){.meshes = meshes_of_row(space, y, z),
                           .own = (uint32_t)(wide[0] - base) + open_of_row(space, y, z)->on_edges,
                           .flips = job->plan->axes.flip_winding};
    if (space->cells) {
        triangles_with_missing(job, y, z, wide, base, is_open ? &open : NULL, out);
        return;
    }
    uint32_t counters[SURFACE_COUNTERS];
    for (int i = 0; i < SURFACE_COUNTERS; i++)
        counters[i] = (uint32_t)(wide[i] - base);
    surface_rows rows = rows_at(space, y, z);
    if (is_open)
        job->simd->open_triangles(&rows, space->words, space->x_mask, job->cases, counters, out,
                                  end, &open);
    else
        job->simd->triangles(&rows, space->words, space->x_mask, job->cases, counters, out, end);
}

static void triangles_task(void *argument, uint32_t index)
{
    surface_job *job = argument;
    const workspace *space = job->space;
    const surface_plan *plan = job->plan;
    if (tml_is_cancelled(job->tml))
        return;
    uint64_t chunk = job->first_chunk + index;
    chunk_place at = chunk_locate(space, chunk);
    if (at.z + 1 == space->size[2])
        return;
    const row_entry *entries = space->entries + space->size[1] * at.z;
    uint64_t chunk_end = chunk + 1 < space->chunk_count ? space->chunks[chunk + 1].triangles
                                                        : space->part->triangle_count;
    uint32_t total = (uint32_t)(chunk_end - space->chunks[chunk].triangles);
    uint64_t chunk_first = space->part->triangle_first + space->chunks[chunk].triangles;
    bool streams =
        !plan->indices64 && cpu_worth_streaming(3 * sizeof(uint32_t) * space->part->triangle_count);
    index_stage stage;
    stage.count = 0;
    for (uint64_t y = at.y_first; y < at.y_end; y++) {
        uint32_t next = y + 1 < at.y_end ? entries[y + 1].triangles : total;
        uint64_t n = 3 * (uint64_t)(next - entries[y].triangles);
        if (n == 0)
            continue;
        uint64_t wide[SURFACE_COUNTERS];
        row_counters(space, y, at.z, wide);
        uint64_t first = 3 * (chunk_first + entries[y].triangles);
        /* 64-bit indices are first 32-bit offsets from the row's first vertex, in the upper half of
         * their memory. Widening from the front reads each offset before overwriting it. */
        uint64_t base = plan->indices64 ? wide[0] : 0;
        uint32_t *out = plan->indices64
                            ? (uint32_t *)((uint64_t *)plan->mesh.indices->memory + first) + n
                            : (uint32_t *)plan->mesh.indices->memory + first;
        uint32_t *end = out + n;
        /* A store of 16 32-bit indices may reach into the chunk's next rows, written later. */
        if (!plan->indices64)
            end = (uint32_t *)plan->mesh.indices->memory + 3 * (chunk_first + total);
        if (streams && n <= STAGE_INDICES) {
            out = stage_take(&stage, n, out);
            end = out + n + STAGE_SLACK;
        } else {
            stage_flush(&stage);
        }
        row_triangles(job, y, at.z, wide, base, out, end);
        if (plan->mesh.triangle_cells)
            row_cells(job, y, at.z, first / 3);
        if (plan->indices64)
            for (uint64_t i = 0; i < n; i++) {
                uint64_t value = base + out[i];
                memcpy((uint64_t *)plan->mesh.indices->memory + first + i, &value, sizeof value);
            }
    }
    stage_flush(&stage);
    cpu_stream_fence();
}

/* ---- the stage ------------------------------------------------------------------------------- */

tml_status surface_emit(surface_job *job, double from, double to)
{
    const workspace *space = job->space;
    const surface_plan *plan = job->plan;
    double middle = (from + to) / 2;
    if (space->part->vertex_count == 0) /* triangle_count may be 0: a slab may have vertices only */
        return TML_OK;
    job->is_unit = is_unit_grid(plan, job->axes);
    /* Vertices need a halo of one layer above. Normals need one layer below and two above. */
    tml_status status =
        run_windows(job, space->own_first, space->own_end, plan->mesh.vertex_normals ? 1 : 0,
                    plan->mesh.vertex_normals ? 2 : 1, vertices_task, "vertices", from, middle);
    if (status != TML_OK)
        return status;
    return run_chunks(job, space->own_first, space->own_end, triangles_task, "triangles", middle,
                      to)
               ? TML_OK
               : TML_ERROR_CANCELLED;
}
