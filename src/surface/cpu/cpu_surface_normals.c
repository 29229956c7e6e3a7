/* Normals of surface vertices: the gradients at both ends of an edge, interpolated at t. A queue
 * gathers the samples around the edges of a chunk's vertices. The normals of a full queue are
 * computed in vectors (cpu_surface_normals.h). */
#include <stdlib.h>

#include "surface/cpu/cpu_surface_internal.h"

/* i + step, clamped to [0, count). */
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
            for (int lane = 0; lane < NORMAL_LANES; lane++)
                queue->around.at[end][a][lane] = queue->around.dims[a] / 2;
    queue->around.has_border = false;
}

/* May a sample that the gradients read be NaN? The sign bits' ROW_NAN flags cover the part's box; a
 * gradient reads one sample past its edge on every side. */
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

void surface_normals_begin(normal_queue *queue, const surface_job *job, uint64_t first)
{
    const surface_plan *plan = job->plan;
    const int64_t strides[3] = {1, (int64_t)plan->dims[0],
                                (int64_t)(plan->dims[0] * plan->dims[1])};
    queue->job = job;
    queue->first = first;
    queue->around.count = 0;
    if (plan->normals == TML_NORMALS_NONE)
        return;
    for (int a = 0; a < 3; a++)
        queue->around.dims[a] = plan->dims[a] > 1 ? 3 : 1;
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
                    offset += strides[a] * d[a];
            }
            for (int axis = 0; axis < 3; axis++)
                queue->offsets[axis][s] =
                    (int64_t)job->sample_size * (offset + (end ? strides[axis] : 0));
        }
    }
}

/* Sets the stencil for the edges of a row that are not on the border along x; is_column: for edge i
 * alone. Near the volume's border each neighbour is clamped to the volume. */
static void set_stencil(normal_queue *queue, const normal_edges *edges, bool is_column, uint64_t i)
{
    const surface_job *job = queue->job;
    const uint64_t *dims = job->plan->dims;
    const tml_normals kind = job->plan->normals;
    const int64_t size = (int64_t)job->sample_size, column = (int64_t)edges->column;
    const unsigned char *origin = sample_row(job, edges->y, edges->z) + column * size;
    queue->stencil.origin = origin;
    queue->stencil.axis = edges->axis;
    queue->stencil.is_inner = !is_column;
    if (!is_column && edges->y > 0 && edges->y + 2 < dims[1] && edges->z > 0 &&
        edges->z + 2 < dims[2]) {
        queue->stencil.offsets = queue->offsets[edges->axis];
        return;
    }
    queue->stencil.offsets = queue->clamped;
    for (uint32_t s = 0; s < queue->stencil.count; s++) {
        const int8_t *d = queue->neighbours[s].d;
        uint64_t at[3] = {edges->column + edges->x[i], edges->y, edges->z};
        at[edges->axis] = clamped(at[edges->axis], queue->neighbours[s].end, dims[edges->axis]);
        for (int a = 0; a < 3; a++)
            if (kind != TML_NORMALS_FORWARD || d[a] > 0 || at[a] + 1 >= dims[a])
                at[a] = clamped(at[a], d[a], dims[a]);
        /* No neighbour of an inner column is clamped along x, so one offset serves every column. */
        queue->clamped[s] =
            sample_row(job, at[1], at[2]) - origin + ((int64_t)at[0] - (int64_t)edges->x[i]) * size;
    }
}

/* Gathers the samples around edges [first, first + n) into the lanes from lane on. With labels, a
 * sample is 1 where it equals the part's label, else 0. */
static void gather(normal_queue *queue, const normal_edges *edges, uint64_t first, uint64_t n,
                   uint64_t lane)
{
    const surface_job *job = queue->job;
    const surface_stencil *stencil = &queue->stencil;
    const uint32_t *columns = edges->x + first;
    float(*out)[NORMAL_LANES] = (void *)&queue->around.samples[0][lane];
    if (!job->plan->labels) {
        job->simd->gather[job->plan->type](stencil, columns, n, out);
        return;
    }
    const uint64_t label = surface_bits_at(&job->space->part->label, 0, job->sample_size);
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < stencil->count; k++)
            out[k][i] = surface_bits_at(stencil->origin + stencil->offsets[k], columns[i],
                                        job->sample_size) == label
                            ? 1.0f
                            : 0.0f;
}

/* Sets around.at for n edges from edge first on, some of which may have ends on the border. */
static void note_border(normal_queue *queue, const normal_edges *edges, uint64_t first, uint64_t n)
{
    surface_around *around = &queue->around;
    queue->around.has_border = true;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at[3] = {edges->column + edges->x[first + i], edges->y, edges->z};
        for (int end = 0; end < 2; end++)
            for (int a = 0; a < 3; a++) {
                uint64_t dim = queue->job->plan->dims[a];
                uint64_t number = clamped(at[a], end && a == edges->axis, dim);
                around->at[end][a][around->count + i] = number == 0 ? 0 : number + 1 < dim ? 1 : 2;
            }
    }
}

/* Adds n edges from edge first on to the queue, which has room for them. */
static void add(normal_queue *queue, const normal_edges *edges, uint64_t first, uint64_t n)
{
    const uint64_t *dims = queue->job->plan->dims;
    const uint32_t *x = edges->x + first;
    const uint64_t column = edges->column;
    uint64_t lane = queue->around.count, inner = 0, inner_end = n;
    memcpy(queue->around.t + lane, edges->t + first, n * sizeof *edges->t);
    /* Columns ascend: those on the border are the first and the last ones. */
    while (inner < inner_end && column + x[inner] == 0)
        inner++;
    while (inner_end > inner && column + x[inner_end - 1] + (edges->axis == 0) + 1 >= dims[0])
        inner_end--;
    if (inner < inner_end) {
        set_stencil(queue, edges, false, first + inner);
        gather(queue, edges, first + inner, inner_end - inner, lane + inner);
    }
    for (uint64_t i = 0; i < n; i++)
        if (i < inner || i >= inner_end) {
            set_stencil(queue, edges, true, first + i);
            gather(queue, edges, first + i, 1, lane + i);
        }
    if (inner > 0 || inner_end < n || edges->y == 0 || edges->y + 2 >= dims[1] || edges->z == 0 ||
        edges->z + 2 >= dims[2])
        note_border(queue, edges, first, n);
    queue->around.count += (uint32_t)n;
}

void surface_normals_add(normal_queue *queue, const normal_edges *edges)
{
    for (uint64_t first = 0; first < edges->count;) {
        uint64_t room = NORMAL_LANES - queue->around.count;
        uint64_t n = TML_MIN_OF(edges->count - first, room);
        add(queue, edges, first, n);
        first += n;
        if (n == room)
            surface_normals_flush(queue);
    }
}

void surface_normals_flush(normal_queue *queue)
{
    const surface_plan *plan = queue->job->plan;
    uint32_t count = queue->around.count;
    if (count == 0)
        return;
    float normals[3 * NORMAL_LANES];
    const bool in_place = !surface_layout_of(plan)->stride && !surface_layout_of(plan)->octahedral;
    queue->job->simd->normals(plan->normals, queue->has_nan, &queue->around, plan->normal_rows,
                              in_place ? (float *)plan->vertex_normals->memory + 3 * queue->first
                                       : normals);
    if (!in_place)
        surface_store_normals(plan, queue->first, count, normals);
    queue->first += count;
    queue->around.count = 0;
    if (queue->around.has_border)
        forget_borders(queue);
}
