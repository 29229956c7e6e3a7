/* Normals of surface vertices: the gradients at both ends of an edge, interpolated at t. Away from
 * the volume's border and from NaN, central differences need only six differences per vertex, of
 * samples at fixed offsets. All other vertices go through a queue, which gathers the samples around
 * them. Both ways compute in vectors (cpu_surface_normals.h). */
#include <stdlib.h>
#include <string.h>

#include "surface/cpu/cpu_surface_internal.h"

/* Returns i + step, clamped to [0, count). */
static uint64_t clamped(uint64_t i, int step, uint64_t count)
{
    if (step < 0 && i == 0)
        return 0;
    return TML_MIN_OF(i + (uint64_t)(int64_t)step, count - 1);
}

static void forget_borders(normal_queue *queue)
{
    for (int end = 0; end < 2; end++)
        for (int a = 0; a < 3; a++)
            for (int lane = 0; lane < SURFACE_LANES; lane++)
                queue->around.at[end][a][lane] = queue->around.dims[a] / 2;
    queue->has_border = false;
}

/* Returns whether gradients may read a NaN sample. The sign bits' ROW_NAN flags cover the part's
 * box, but a gradient reads one sample past its edge on every side. */
static bool may_be_nan(const surface_job *job)
{
    const workspace *space = job->space;
    const surface_box *box = &space->part->box;
    const uint64_t *dims = job->plan->dims;
    if (job->plan->labels || tml_scalar_kind_of(job->plan->type) != SCALAR_FLOAT)
        return false;
    uint64_t z = box_index(space, 2, space->own_first);
    uint64_t z_end = box_index(space, 2, space->own_end - 1) + 3;
    bool is_known = box->count[0] == dims[0] && box->count[1] == dims[1] &&
                    box->first[2] <= (z > 0 ? z - 1 : 0) &&
                    box->first[2] + box->count[2] >= TML_MIN_OF(z_end, dims[2]);
    return space->present || !is_known;
}

void surface_normals_begin(normal_queue *queue, const surface_job *job)
{
    const surface_plan *plan = job->plan;
    queue->job = job;
    queue->count = queue->clamped_count = 0;
    if (plan->normals == TML_NORMALS_NONE)
        return;
    for (int a = 0; a < 3; a++) {
        queue->around.dims[a] = plan->dims[a] > 1 ? 3 : 1;
        queue->strides[a] = a == 0 ? 1 : queue->strides[a - 1] * (int64_t)plan->dims[a - 1];
    }
    forget_borders(queue);
    queue->has_nan = may_be_nan(job);
    queue->stencil.count = 2 * surface_neighbour_count(plan->normals, queue->has_nan);
    for (int k = 0; k < NEIGHBOURS; k++) {
        const int d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        if (plan->normals != TML_NORMALS_SOBEL && abs(d[0]) + abs(d[1]) + abs(d[2]) > 1)
            continue;
        uint32_t s = surface_neighbour(plan->normals, d[0], d[1], d[2]);
        if (s >= queue->stencil.count / 2)
            continue;
        for (int8_t end = 0; end < 2; end++, s += queue->stencil.count / 2) {
            queue->neighbours[s].end = end;
            int64_t offset = 0;
            for (int a = 0; a < 3; a++) {
                queue->neighbours[s].d[a] = (int8_t)d[a];
                if (plan->normals != TML_NORMALS_FORWARD || d[a] > 0)
                    offset += queue->strides[a] * d[a];
            }
            for (int axis = 0; axis < 3; axis++)
                queue->offsets[axis][s] = offset + (end ? queue->strides[axis] : 0);
        }
    }
}

/* Computes the offsets to the neighbours of edge i, each clamped to the volume. If the edge is not
 * on the border along x, they hold for all such edges of the row. */
static const int64_t *clamp_offsets(normal_queue *queue, const normal_edges *edges, uint64_t i)
{
    const surface_job *job = queue->job;
    const uint64_t *dims = job->plan->dims;
    const uint64_t own = row_number(job, edges->y, edges->z) + edges->x[i];
    int64_t *offsets = queue->clamped[queue->clamped_count++];
    for (uint32_t s = 0; s < queue->stencil.count; s++) {
        const int8_t *d = queue->neighbours[s].d;
        uint64_t at[3] = {edges->x[i], edges->y, edges->z};
        at[edges->axis] = clamped(at[edges->axis], queue->neighbours[s].end, dims[edges->axis]);
        for (int a = 0; a < 3; a++)
            if (job->plan->normals != TML_NORMALS_FORWARD || d[a] > 0 || at[a] + 1 >= dims[a])
                at[a] = clamped(at[a], d[a], dims[a]);
        offsets[s] = (int64_t)(row_number(job, at[1], at[2]) + at[0] - own);
    }
    return offsets;
}

/* Sets around.at for n edges from edge first on. Their ends may be on the border. */
static void note_border(normal_queue *queue, const normal_edges *edges, uint64_t first, uint64_t n)
{
    queue->has_border = true;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at[3] = {edges->x[first + i], edges->y, edges->z};
        for (int end = 0; end < 2; end++)
            for (int a = 0; a < 3; a++) {
                uint64_t dim = queue->job->plan->dims[a];
                uint64_t number = clamped(at[a], end && a == edges->axis, dim);
                queue->around.at[end][a][queue->count + i] = number == 0        ? 0
                                                             : number + 1 < dim ? 1
                                                                                : 2;
            }
    }
}

/* Adds edges [first, end), whose neighbours have the same offsets. */
static void add(normal_queue *queue, const normal_edges *edges, uint64_t first, uint64_t end,
                bool is_border)
{
    const uint64_t row = row_number(queue->job, edges->y, edges->z);
    while (first < end) {
        uint64_t lane = queue->count, n = TML_MIN_OF(end - first, SURFACE_LANES - lane);
        const int64_t *offsets = queue->offsets[edges->axis];
        if (is_border) {
            offsets = clamp_offsets(queue, edges, first);
            note_border(queue, edges, first, n);
        }
        for (uint64_t i = 0; i < n; i++, lane++, first++) {
            queue->stencil.sample[lane] = row + edges->x[first];
            queue->stencil.offsets[lane] = offsets;
            queue->number[lane] = edges->number + first;
            queue->t[lane] = edges->t[first];
        }
        queue->count = lane;
        if (lane == SURFACE_LANES || queue->clamped_count == BORDER_STENCILS)
            surface_normals_flush(queue);
    }
}

void surface_normals_add(normal_queue *queue, const normal_edges *edges)
{
    const uint64_t *dims = queue->job->plan->dims;
    const uint32_t *x = edges->x;
    uint64_t inner = 0, inner_end = edges->count;
    /* Columns ascend, so border columns are the first and the last ones. */
    while (inner < inner_end && x[inner] == 0)
        inner++;
    while (inner_end > inner && (uint64_t)x[inner_end - 1] + (edges->axis == 0) + 1 >= dims[0])
        inner_end--;
    for (uint64_t i = 0; i < inner; i++)
        add(queue, edges, i, i + 1, true);
    add(queue, edges, inner, inner_end,
        edges->y == 0 || edges->y + 2 >= dims[1] || edges->z == 0 || edges->z + 2 >= dims[2]);
    for (uint64_t i = inner_end; i < edges->count; i++)
        add(queue, edges, i, i + 1, true);
}

static bool has_plain_normals(const surface_plan *plan)
{
    const surface_layout *layout = surface_layout_of(plan);
    return !layout->stride && !layout->octahedral;
}

bool surface_normals_usual(normal_queue *queue, surface_lanes *lanes, const float *t,
                           uint64_t border, uint64_t first)
{
    const surface_job *job = queue->job;
    const surface_plan *plan = job->plan;
    const uint64_t inner = ~border & UINT64_MAX >> (SURFACE_LANES - lanes->count);
    if (plan->normals != TML_NORMALS_CENTRAL || queue->has_nan || plan->labels ||
        !job->simd->differences[plan->type] || !inner)
        return false;
    /* Edges on the border read samples of an edge away from it; theirs may be out of bounds. */
    for (unsigned safe = (unsigned)__builtin_ctzll(inner); border; border &= border - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(border);
        lanes->sample[0][lane] = lanes->sample[0][safe];
        lanes->sample[1][lane] = lanes->sample[1][safe];
    }
    job->simd->differences[plan->type](job->window.samples, lanes, queue->strides,
                                       queue->around.samples);
    float normals[3 * SURFACE_LANES];
    const bool in_place = has_plain_normals(plan);
    job->simd->usual_normals(&queue->around, t, lanes->count, plan->axes.normal_rows,
                             in_place ? (float *)plan->mesh.vertex_normals->memory + 3 * first
                                      : normals);
    if (!in_place)
        surface_store_normals(plan, first, lanes->count, normals);
    return true;
}

/* Reads the samples around the vertices. With labels, a sample reads as 1 if it equals the part's
 * label, otherwise as 0. */
static void gather(normal_queue *queue)
{
    const surface_job *job = queue->job;
    const surface_stencil *stencil = &queue->stencil;
    const unsigned char *samples = job->window.samples;
    if (!job->plan->labels) {
        job->simd->gather[job->plan->type](samples, stencil, queue->count, queue->around.samples);
        return;
    }
    const uint64_t label = surface_bits_at(&job->space->part->label, 0, job->sample_size);
    for (uint64_t i = 0; i < queue->count; i++)
        for (uint32_t k = 0; k < stencil->count; k++) {
            uint64_t number = stencil->sample[i] + (uint64_t)stencil->offsets[i][k];
            bool is_label = surface_bits_at(samples, number, job->sample_size) == label;
            queue->around.samples[k][i] = is_label ? 1.0f : 0.0f;
        }
}

void surface_normals_flush(normal_queue *queue)
{
    const surface_plan *plan = queue->job->plan;
    if (queue->count == 0)
        return;
    float normals[SURFACE_LANES][3];
    gather(queue);
    queue->job->simd->normals(plan->normals, queue->has_nan, &queue->around, queue->t, queue->count,
                              plan->axes.normal_rows, normals[0]);
    for (uint64_t i = 0; i < queue->count; i++)
        if (has_plain_normals(plan))
            memcpy((float *)plan->mesh.vertex_normals->memory + 3 * queue->number[i], normals[i],
                   sizeof normals[i]);
        else
            surface_store_normals(plan, queue->number[i], 1, normals[i]);
    queue->count = queue->clamped_count = 0;
    if (queue->has_border)
        forget_borders(queue);
}
