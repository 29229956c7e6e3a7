/* The surface on the CPU, part two: vertices and triangles, each row at the prefix sum of its
 * counts.
 *
 * The vertices of a row are in the order axis, then x. So the vertex number of each of a cell's
 * twelve edges is one of eight running counters, and triangles need no index array. */
#include <string.h>

#include "surface/cpu/cpu_surface_internal.h"

#include "kernels/kernel.h"
#include "kernels/surface.k.h"
/* The vocabulary's short names are not used below. */
#include "kernels/kernel_end.h"

/* Prefetch distance in rows, plus one: a row takes about 0.1 us, a cache miss longer. */
enum { ROWS_AHEAD = 4 };

/* ---- vertices -------------------------------------------------------------------------------- */

/* The vertices on a row's edges of one axis, in one group of columns. */
typedef struct vertex_batch {
    int axis;
    uint64_t y, z;     /* row in the workspace */
    uint64_t column;   /* first column of the group, in the workspace */
    uint64_t first;    /* number of the first vertex in the outputs */
    surface_ends ends; /* at.*.low is t after cross */
} vertex_batch;

/* Is a sample's position its index, but for the order of the axes? component: each axis's. Below 2^24
 * float holds indices exactly. */
static bool is_unit_grid(const surface_plan *plan, int component[3])
{
    unsigned taken = 0;
    if (plan->caps || surface_in_double(plan->type))
        return false;
    for (int a = 0; a < 3; a++) {
        if (plan->origin[a] != 0 || plan->dims[a] > 1 << 24)
            return false;
        component[a] = plan->step[a][1] == 1 ? 1 : plan->step[a][2] == 1 ? 2 : 0;
        taken |= 1u << component[a];
        for (int c = 0; c < 3; c++)
            if (plan->step[a][c] != (c == component[a] ? 1 : 0))
                return false;
    }
    return taken == 7;
}

static inline double batch_t(const surface_plan *plan, const vertex_batch *batch, uint64_t i)
{
    return surface_in_double(plan->type) ? batch->ends.at.wide.low[i]
                                         : (double)batch->ends.at.narrow.low[i];
}

static void place_unit(const surface_job *job, const vertex_batch *batch, float *restrict out)
{
    const workspace *space = job->space;
    const uint32_t *restrict column = batch->ends.x;
    const float *restrict t = batch->ends.at.narrow.low;
    uint32_t first = (uint32_t)(space->part->box.first[0] + batch->column);
    float *x = out + job->component[0], *y = out + job->component[1], *z = out + job->component[2];
    float at_y = (float)box_index(space, 1, batch->y), at_z = (float)box_index(space, 2, batch->z);
    for (uint64_t i = 0; i < batch->ends.count; i++) {
        float at_x = (float)(int32_t)(first + column[i]);
        x[3 * i] = batch->axis == 0 ? at_x + t[i] : at_x;
        y[3 * i] = batch->axis == 1 ? at_y + t[i] : at_y;
        z[3 * i] = batch->axis == 2 ? at_z + t[i] : at_z;
    }
}

static void place(const surface_job *job, const vertex_batch *batch, float *out)
{
    const surface_plan *plan = job->plan;
    const surface_box *box = &job->space->part->box;
    double pad = (double)job->space->pad, pad_below = (double)job->space->pad_below;
    double row[3] = {(double)box->first[0] + (double)batch->column - pad,
                     (double)box->first[1] + (double)batch->y - pad,
                     (double)box->first[2] + (double)batch->z - pad_below};
    for (uint64_t i = 0; i < batch->ends.count; i++) {
        double index[3] = {row[0] + (double)batch->ends.x[i], row[1], row[2]};
        index[batch->axis] += batch_t(plan, batch, i);
        if (plan->caps) /* an edge into the pad has its vertex on the border sample */
            for (int a = 0; a < 3; a++) {
                double low = (double)box->first[a], high = low + (double)(box->count[a] - 1);
                index[a] = index[a] < low ? low : index[a] > high ? high : index[a];
            }
        for (int c = 0; c < 3; c++)
            out[3 * i + (uint64_t)c] =
                (float)(plan->origin[c] + plan->step[2][c] * index[2] +
                        plan->step[1][c] * index[1] + plan->step[0][c] * index[0]);
    }
}

/* Side of the cap that the batch's edge at column x crosses: -1 where its lower end lies in the
 * pad, 1 where its upper end does, else 0. The cap's outward normal points to that side. */
static int cap_side(const workspace *space, const vertex_batch *batch, uint64_t x)
{
    uint64_t at[3] = {batch->column + x, batch->y, batch->z};
    uint64_t low = at[batch->axis];
    if (is_in_pad(space, batch->axis, low))
        return -1;
    return is_in_pad(space, batch->axis, low + 1) ? 1 : 0;
}

static void emit_normals(normal_queue *queue, const vertex_batch *batch)
{
    const surface_job *job = queue->job;
    const surface_plan *plan = job->plan;
    const workspace *space = job->space;
    uint32_t columns[NORMAL_LANES];
    float t[NORMAL_LANES];
    normal_edges edges = {.axis = batch->axis,
                          .y = box_index(space, 1, batch->y),
                          .z = box_index(space, 2, batch->z)};
    if (!space->pad && !surface_in_double(plan->type)) { /* ends has columns and t as needed */
        edges.column = space->part->box.first[0] + batch->column;
        edges.x = batch->ends.x;
        edges.t = batch->ends.at.narrow.low;
        edges.count = batch->ends.count;
        surface_normals_add(queue, &edges);
        return;
    }
    edges.x = columns;
    edges.t = t;
    for (uint64_t first = 0; first < batch->ends.count; first += edges.count) {
        edges.count = TML_MIN_OF(batch->ends.count - first, (uint64_t)NORMAL_LANES);
        for (uint64_t i = 0; i < edges.count; i++) {
            columns[i] = (uint32_t)box_index(space, 0, batch->column + batch->ends.x[first + i]);
            t[i] = (float)batch_t(plan, batch, first + i);
        }
        surface_normals_add(queue, &edges);
    }
    if (!space->pad)
        return;
    surface_normals_flush(queue); /* before cap normals replace some of its normals */
    for (uint64_t i = 0; i < batch->ends.count; i++) {
        int side = cap_side(space, batch, batch->ends.x[i]);
        if (!side)
            continue;
        const float(*rows)[3] = plan->normal_rows;
        tml_vec3 n = surface_cap_normal(
            tml_make3(rows[0][batch->axis], rows[1][batch->axis], rows[2][batch->axis]),
            (float)side);
        const float normal[3] = {n.x, n.y, n.z};
        surface_store_normals(plan, batch->first + i, 1, normal);
    }
}

static void emit_values(const surface_job *job, const vertex_batch *batch)
{
    const workspace *space = job->space;
    const uint64_t *dims = job->plan->dims;
    const tml_slot *attribute = job->plan->attribute;
    const tml_slot *values_slot = job->plan->vertex_values;
    const bool records = surface_layout_of(job->plan)->stride;
    uint64_t y[2] = {box_index(space, 1, batch->y),
                     box_index(space, 1, batch->y + (batch->axis == 1))};
    uint64_t z[2] = {box_index(space, 2, batch->z),
                     box_index(space, 2, batch->z + (batch->axis == 2))};
    const unsigned char *row[2];
    for (int end = 0; end < 2; end++)
        row[end] =
            (const unsigned char *)attribute->memory +
            (held_slice(job->plan, z[end]) * dims[1] + y[end]) * dims[0] * attribute->element_size;
    for (uint64_t first = 0; first < batch->ends.count; first += NORMAL_LANES) {
        uint64_t n = TML_MIN_OF(batch->ends.count - first, (uint64_t)NORMAL_LANES);
        uint32_t columns[NORMAL_LANES];
        float values[2][NORMAL_LANES];
        for (int end = 0; end < 2; end++) {
            uint64_t step = batch->column + (end && batch->axis == 0);
            for (uint64_t i = 0; i < n; i++)
                columns[i] = (uint32_t)box_index(space, 0, batch->ends.x[first + i] + step);
            const surface_stencil stencil = {
                .count = 1, .origin = row[end], .offsets = &(int64_t){0}};
            job->simd->gather[attribute->type](&stencil, columns, n, &values[end]);
        }
        float *out = records ? values[0] : (float *)values_slot->memory + batch->first + first;
        for (uint64_t i = 0; i < n; i++)
            out[i] = surface_mix(values[0][i], values[1][i],
                                 (float)batch_t(job->plan, batch, first + i));
        if (records)
            surface_store(values_slot, surface_layout_of(job->plan)->value, batch->first + first, n,
                          out, 1);
    }
}

/* Copies columns [first, first + count) of a row of the workspace, with the pad's. */
static void copy_padded(const surface_job *job, const unsigned char *row, uint64_t first,
                        uint64_t count, unsigned char *out)
{
    for (uint64_t i = 0; i < count; i++)
        memcpy(out + i * job->sample_size,
               row + box_index(job->space, 0, first + i) * job->sample_size, job->sample_size);
}

/* With labels t is 1/2 on every crossed edge. */
static void pack_labels(const surface_job *job, const surface_edges *edges, uint64_t words,
                        vertex_batch *batch)
{
    surface_ends *ends = &batch->ends;
    ends->count = 0;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t left = edges->words[batch->axis][w]; left; left &= left - 1) {
            if (surface_in_double(job->plan->type))
                ends->at.wide.low[ends->count] = 0.5;
            else
                ends->at.narrow.low[ends->count] = 0.5f;
            ends->x[ends->count++] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left);
        }
}

static void pack_ends(const surface_job *job, const surface_edges *edges, uint64_t words,
                      vertex_batch *batch)
{
    const workspace *space = job->space;
    const unsigned char *low =
        sample_row(job, box_index(space, 1, batch->y), box_index(space, 2, batch->z));
    const unsigned char *high = sample_row(job, box_index(space, 1, batch->y + (batch->axis == 1)),
                                           box_index(space, 2, batch->z + (batch->axis == 2)));
    _Alignas(64) unsigned char padded[2][(GROUP + 1) * 8];
    if (space->pad) {
        uint64_t count = TML_MIN_OF(64 * words + 1, space->size[0] - batch->column);
        copy_padded(job, low, batch->column, count, padded[0]);
        copy_padded(job, high, batch->column, count, padded[1]);
        low = padded[0];
        high = padded[1];
    } else {
        uint64_t offset = (space->part->box.first[0] + batch->column) * job->sample_size;
        low += offset;
        high += offset;
    }
    if (batch->axis == 0)
        high = low + job->sample_size;
    job->simd->pack[job->plan->type](low, high, edges, batch->axis, words, &batch->ends);
}

/* Prefetches the samples at both ends of a row's crossed edges: the hardware prefetcher cannot
 * predict them. Always inline: gcc drops calls of a function that has only prefetches. */
static inline __attribute__((always_inline)) void prefetch_edges(const surface_job *job, uint64_t y,
                                                                 uint64_t z, uint64_t first,
                                                                 const surface_edges *edges)
{
    const workspace *space = job->space;
    if (space->pad || job->plan->labels)
        return;
    const uint64_t *dims = job->plan->dims;
    const uint64_t own_y = box_index(space, 1, y), own_z = box_index(space, 2, z);
    const uint64_t y1 = TML_MIN_OF(own_y + 1, dims[1] - 1), z1 = TML_MIN_OF(own_z + 1, dims[2] - 1);
    const uint64_t offset = (space->part->box.first[0] + 64 * first) * job->sample_size;
    const uint64_t all = edges->runs[0] | edges->runs[1] | edges->runs[2];
    const unsigned char *around[4] = {sample_row(job, own_y, own_z), sample_row(job, y1, own_z),
                                      sample_row(job, own_y, z1), NULL};
    int count = 3;
    if (job->plan->vertex_normals) {
        /* The rows that gradients read around row y and did not read around the rows before. */
        around[0] = sample_row(job, TML_MIN_OF(own_y + 2, dims[1] - 1), own_z);
        around[1] = sample_row(job, y1, z1);
        around[2] = sample_row(job, y1, own_z > 0 ? own_z - 1 : 0);
        around[3] = sample_row(job, own_y, TML_MIN_OF(own_z + 2, dims[2] - 1));
        count = 4;
    }
    for (uint64_t runs = all; runs; runs &= runs - 1) {
        uint64_t at = offset + 16 * job->sample_size * (uint64_t)__builtin_ctzll(runs);
        for (int i = 0; i < count; i++)
            __builtin_prefetch(around[i] + at);
    }
}

/* Positions that go to records, by way of an array. Apart, so that only these calls have it on their
 * stack. */
static __attribute__((noinline)) void place_in_records(const surface_job *job,
                                                       const vertex_batch *batch)
{
    float positions[3 * ENDS];
    (job->is_unit ? place_unit : place)(job, batch, positions);
    surface_store(job->plan->positions, surface_layout_of(job->plan)->position, batch->first,
                  batch->ends.count, positions, 3);
}

/* Writes a batch's vertices from its packed ends. */
static void group_vertices(const surface_job *job, normal_queue *normals, vertex_batch *batch)
{
    const surface_plan *plan = job->plan;
    if (plan->labels) /* pack_labels set t */
        ;
    else if (surface_in_double(plan->type))
        job->simd->cross_wide(&batch->ends, job->space->part->iso);
    else
        job->simd->cross(&batch->ends, (float)job->space->part->iso);
    if (surface_layout_of(plan)->stride)
        place_in_records(job, batch);
    else
        (job->is_unit ? place_unit : place)(job, batch,
                                            (float *)plan->positions->memory + 3 * batch->first);
    if (plan->vertex_normals)
        emit_normals(normals, batch);
    if (plan->vertex_values)
        emit_values(job, batch);
}

/* Vertices of a row no wider than a group. All three axes are packed before the first is crossed:
 * pack's overlapping stores must reach the cache before cross loads whole vectors, since a load
 * across several stores cannot be forwarded. */
static void narrow_row_vertices(const surface_job *job, uint64_t y, uint64_t z, uint64_t first,
                                normal_queue *normals, const surface_edges *edges)
{
    vertex_batch batches[3];
    for (int axis = 0; axis < 3; axis++) {
        vertex_batch *batch = &batches[axis];
        batch->axis = axis;
        batch->y = y;
        batch->z = z;
        batch->column = 0;
        batch->first = first;
        batch->ends.count = 0;
        if (edges->runs[axis])
            (job->plan->labels ? pack_labels : pack_ends)(job, edges, job->space->words, batch);
        first += batch->ends.count;
    }
    for (int axis = 0; axis < 3; axis++)
        if (batches[axis].ends.count)
            group_vertices(job, normals, &batches[axis]);
}

/* Vertices of a row of several groups, axis by axis: the order of a row's vertices. */
static void wide_row_vertices(const surface_job *job, uint64_t y, uint64_t z, uint64_t first,
                              normal_queue *normals)
{
    vertex_batch batch;
    batch.y = y;
    batch.z = z;
    batch.first = first;
    for (batch.axis = 0; batch.axis < 3; batch.axis++)
        for (uint64_t w = 0; w < job->space->words; w += GROUP_WORDS) {
            surface_edges edges;
            uint64_t words = find_edges(job->simd, job->space, y, z, w, &edges);
            if (!edges.runs[batch.axis])
                continue;
            batch.column = 64 * w;
            (job->plan->labels ? pack_labels : pack_ends)(job, &edges, words, &batch);
            group_vertices(job, normals, &batch);
            batch.first += batch.ends.count;
        }
}

/* Prefetches a row's samples; out: the edges of its first group. */
static void prepare_row(const surface_job *job, uint64_t y, uint64_t z, surface_edges *out)
{
    for (uint64_t w = GROUP_WORDS; w < job->space->words; w += GROUP_WORDS) {
        find_edges(job->simd, job->space, y, z, w, out);
        prefetch_edges(job, y, z, w, out);
    }
    find_edges(job->simd, job->space, y, z, 0, out);
    prefetch_edges(job, y, z, 0, out);
}

/* Vertices of row y. Its chunk ends before row y_end and has total vertices. */
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
    surface_edges edges[ROWS_AHEAD]; /* ring: row y at y % ROWS_AHEAD */
    normal_queue normals;
    surface_normals_begin(&normals, job, base);
    uint64_t prepared = at.y_first; /* end of the rows that are prepared */
    for (uint64_t y = at.y_first; y < at.y_end; y++) {
        for (; prepared < at.y_end && prepared < y + ROWS_AHEAD; prepared++)
            if (row_vertex_count(entries, prepared, at.y_end, total))
                prepare_row(job, prepared, at.z, &edges[prepared % ROWS_AHEAD]);
        uint64_t first = base + entries[y].vertices;
        if (!row_vertex_count(entries, y, at.y_end, total))
            continue;
        if (space->words <= GROUP_WORDS)
            narrow_row_vertices(job, y, at.z, first, &normals, &edges[y % ROWS_AHEAD]);
        else
            wide_row_vertices(job, y, at.z, first, &normals);
    }
    surface_normals_flush(&normals);
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* Number of the first vertex on a row's edges, by axis. */
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

/* The case of the cell at a bit of word w of the rows. */
static unsigned case_of(const surface_rows *rows, uint64_t w, unsigned bit)
{
    unsigned index = 0;
    for (unsigned i = 0; i < 4; i++) {
        const surface_word *row = rows->row[i] + w;
        index |= (unsigned)(row[0] >> bit & 1) << (2 * i);
        index |= (unsigned)((bit < 63 ? row[0] >> (bit + 1) : row[1]) & 1) << (2 * i + 1);
    }
    return index;
}

/* With missing samples not every crossed edge has a vertex, and running counters do not hold: a
 * vertex number is the rank of its edge's bit. */
static uint32_t *triangles_with_missing(const surface_job *job, uint64_t y, uint64_t z,
                                        const uint64_t counters[SURFACE_COUNTERS], uint64_t base,
                                        uint32_t *out)
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
            const surface_case *entry = &job->cases[case_of(&rows, w, bit)];
            for (unsigned k = 0; k < entry->index_count; k++) {
                unsigned lane = entry->lanes[k] & 7, after = entry->lanes[k] >> 3;
                surface_word below = ((surface_word)1 << bit) - 1;
                below |= after ? (surface_word)1 << bit : 0;
                *out++ = (uint32_t)(before[lane] - base +
                                    (uint64_t)__builtin_popcountll(stream[lane] & below));
            }
        }
        for (int i = 0; i < 8; i++)
            before[i] += (uint64_t)__builtin_popcountll(stream[i]);
    }
    return out;
}

/* Writes the cell of each triangle of a row, from number first on. */
static void row_cells(const surface_job *job, uint64_t y, uint64_t z, uint64_t first)
{
    const workspace *space = job->space;
    const uint64_t *dims = job->plan->dims;
    const tml_slot *out = job->plan->triangle_cells;
    uint64_t row = (box_index(space, 1, y) + dims[1] * box_index(space, 2, z)) * dims[0];
    surface_rows rows = rows_at(space, y, z);
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
            unsigned corners = job->cases[case_of(&rows, w, bit)].index_count;
            for (unsigned k = 0; k < corners; k += 3, first++)
                if (out->type == TML_U64)
                    ((uint64_t *)out->memory)[first] = number;
                else
                    ((uint32_t *)out->memory)[first] = (uint32_t)number;
        }
    }
}

/* Indices of a stage, 16 KiB; how far a store may reach past a row's. */
enum { STAGE_INDICES = 4096, STAGE_SLACK = 16 };

/* A chunk's 32-bit indices on their way to memory, past the caches: count of them, which go to
 * to. */
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

/* Room for the next n indices, at most STAGE_INDICES, which go to to. What is in the stage already
 * goes right before that. */
static uint32_t *stage_take(index_stage *stage, uint64_t n, uint32_t *to)
{
    if (stage->count + n > STAGE_INDICES)
        stage_flush(stage);
    if (stage->count == 0)
        stage->to = to;
    stage->count += n;
    return stage->indices + stage->count - n;
}

/* Writes a row's indices, less base, to out; a store may reach up to end. */
static void row_triangles(const surface_job *job, uint64_t y, uint64_t z,
                          const uint64_t wide[SURFACE_COUNTERS], uint64_t base, uint32_t *out,
                          uint32_t *end)
{
    const workspace *space = job->space;
    if (space->cells) {
        triangles_with_missing(job, y, z, wide, base, out);
        return;
    }
    uint32_t counters[SURFACE_COUNTERS];
    for (int i = 0; i < SURFACE_COUNTERS; i++)
        counters[i] = (uint32_t)(wide[i] - base);
    surface_rows rows = rows_at(space, y, z);
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
         * their memory. Widening them from the front overwrites no offset before it is read. */
        uint64_t base = plan->indices64 ? wide[0] : 0;
        uint32_t *out = plan->indices64
                            ? (uint32_t *)((uint64_t *)plan->indices->memory + first) + n
                            : (uint32_t *)plan->indices->memory + first;
        uint32_t *end = out + n;
        /* A store of 16 32-bit indices may reach into the chunk's next rows, written later. */
        if (!plan->indices64)
            end = (uint32_t *)plan->indices->memory + 3 * (chunk_first + total);
        if (streams && n <= STAGE_INDICES) {
            out = stage_take(&stage, n, out);
            end = out + n + STAGE_SLACK;
        } else {
            stage_flush(&stage);
        }
        row_triangles(job, y, at.z, wide, base, out, end);
        if (plan->triangle_cells)
            row_cells(job, y, at.z, first / 3);
        if (plan->indices64)
            for (uint64_t i = 0; i < n; i++) {
                uint64_t value = base + out[i];
                memcpy((uint64_t *)plan->indices->memory + first + i, &value, sizeof value);
            }
    }
    stage_flush(&stage);
    cpu_stream_fence();
}

/* ---- the stage ------------------------------------------------------------------------------- */

/* Vertices slab by slab; a volume is one slab. A slab's vertices need a halo of one layer above,
 * their normals one layer below and two above. */
static tml_status emit_vertices(surface_job *job, double from, double to)
{
    const surface_plan *plan = job->plan;
    const workspace *space = job->space;
    uint64_t slices = plan->volume ? space->size[2] : field_slab_slices(plan);
    for (uint64_t z = space->own_first; z < space->own_end; z += slices) {
        uint64_t end = TML_MIN_OF(z + slices, space->own_end);
        uint64_t low = box_index(space, 2, z), high = box_index(space, 2, end - 1);
        uint64_t back = plan->vertex_normals && low > 0 ? 1 : 0;
        uint64_t ahead = plan->vertex_normals ? 2 : 1;
        high = TML_MIN_OF(high + ahead, plan->dims[2] - 1);
        double start = tml_seconds();
        tml_status status = window_load(job, low - back, high - (low - back) + 1);
        if (plan->field)
            surface_time(plan->result, "field", tml_seconds() - start);
        if (status != TML_OK)
            return status;
        if (!run_chunks(job, z, end, vertices_task, "vertices",
                        from + (to - from) * (double)z / (double)space->size[2],
                        from + (to - from) * (double)end / (double)space->size[2]))
            return TML_ERROR_CANCELLED;
    }
    return TML_OK;
}

tml_status surface_emit(surface_job *job, double from, double to)
{
    const workspace *space = job->space;
    double middle = (from + to) / 2;
    if (space->part->vertex_count == 0) /* a slab may have vertices and no triangles */
        return TML_OK;
    job->is_unit = is_unit_grid(job->plan, job->component);
    tml_status status = emit_vertices(job, from, middle);
    if (status != TML_OK)
        return status;
    return run_chunks(job, space->own_first, space->own_end, triangles_task, "triangles", middle,
                      to)
               ? TML_OK
               : TML_ERROR_CANCELLED;
}
