/* Field on the CPU: bricks of 8x8x8 samples gather points from the bins that their support touches.
 *
 * A brick stays in the L1 cache while points are added one by one. A point is added to the layers
 * and rows that its support's bounding box meets. It adds exactly 0 to samples outside its reach,
 * so the result does not depend on which of those samples a brick or slab skips. */
#include <math.h>
#include <string.h>

#include "cpu/cpu_parts.h"
#include "field/field_internal.h"

#include "kernels/kernel.h"

#include "kernels/field.k.h"

#include "kernels/kernel_end.h"

enum { NEAR_POINTS = 256 }; /* tested together; numbered by a byte */

typedef float brick_plane[FIELD_BRICK][FIELD_BRICK];
typedef brick_plane brick_samples[FIELD_BRICK];

/* The samples of a brick to evaluate. */
typedef struct brick_part {
    uint64_t base[3];      /* the brick's first sample */
    int first[3], last[3]; /* from base, both ends inclusive */
} brick_part;

/* The points of a bin, relative to a brick. */
typedef struct brick_points {
    const field_point *points;
    const float *densities;           /* NULL: none */
    const field_shape_record *shapes; /* NULL: none */
    uint64_t count;
    float corner[3]; /* the bin's first sample, relative to the brick's */
} brick_points;

/* The plan's lengths in float. */
typedef struct brick_frame {
    float xx, xy, xz, yy, yz, zz; /* field_plan.frame */
    float extent[3];              /* field_plan.extent */
    float margin;
    bool sheared; /* layers differ in x or y, too */
} brick_frame;

/* Finds the samples of [first, last] within support of centre, and possibly one more below. There
 * is at least one. */
ALWAYS_INLINE void samples_within(float support, float centre, int first, int last, int *from,
                                  int *to)
{
    float low = centre - support, high = centre + support;
    *from = low > (float)first ? (int)low : first;
    *to = high < (float)last ? (int)high : last;
}

/* Computes squared xy distances of a layer's samples from a point. (x0, y0): the first sample
 * relative to the point. */
ALWAYS_INLINE void square_plane(float x0, float y0, float xx, float xy, float yy,
                                brick_plane squares)
{
    float *to = &squares[0][0];
    for (int m = 0; m < FIELD_BRICK * FIELD_BRICK; m++) {
        float i = (float)(m % FIELD_BRICK), j = (float)(m / FIELD_BRICK);
        float x = i * xx + j * xy + x0, y = j * yy + y0;
        to[m] = x * x + y * y;
    }
}

/* Adds a point to count samples, which are whole rows of a layer. This is the hot loop. Compilers
 * vectorise one long flat loop best. */
ALWAYS_INLINE void add_rows(int formula, const float *restrict squares, float z_square, float reach,
                            float margin, bool has_share, float share, size_t count,
                            float *restrict samples)
{
    for (size_t m = 0; m < count; m++) {
        float term = field_term(formula, squares[m] + z_square, reach, margin);
        samples[m] = field_join(formula, samples[m], has_share ? share * term : term);
    }
}

/* Lists the points of a bin, from first on, whose support box meets a brick. Avoids branches, which
 * would be mispredicted. Returns the number of listed points. */
ALWAYS_INLINE uint32_t find_near(bool has_shape, const brick_frame *frame, const brick_part *brick,
                                 const brick_points *bin, uint64_t first, uint32_t count,
                                 uint8_t list[NEAR_POINTS])
{
    uint8_t is_near[NEAR_POINTS];
    const field_point *points = bin->points + first;
    float low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = (float)brick->first[a];
        high[a] = (float)brick->last[a];
    }
    for (uint32_t p = 0; p < count; p++) {
        const float reach = points[p].reach,
                    *own = has_shape ? bin->shapes[first + p].support : NULL;
        const float x = points[p].position[0] + bin->corner[0];
        const float y = points[p].position[1] + bin->corner[1];
        const float z = points[p].position[2] + bin->corner[2];
        const float sx = has_shape ? own[0] : field_support(reach, frame->extent[0]);
        const float sy = has_shape ? own[1] : field_support(reach, frame->extent[1]);
        const float sz = has_shape ? own[2] : field_support(reach, frame->extent[2]);
        is_near[p] = (x + sx >= low[0]) & (x - sx <= high[0]) & (y + sy >= low[1]) &
                     (y - sy <= high[1]) & (z + sz >= low[2]) & (z - sz <= high[2]);
    }
    uint32_t found = 0;
    for (uint32_t p = 0; p < count; p++) {
        list[found] = (uint8_t)p;
        found += is_near[p];
    }
    return found;
}

ALWAYS_INLINE void add_point(int formula, bool has_share, bool has_shape, const brick_frame *frame,
                             const brick_part *brick, const brick_points *bin, uint64_t p,
                             brick_samples samples)
{
    const field_point *point = &bin->points[p];
    const field_shape_record *shape = has_shape ? &bin->shapes[p] : NULL;
    float reach = point->reach, position[3], support[3];
    for (int a = 0; a < 3; a++) {
        support[a] = has_shape ? shape->support[a] : field_support(reach, frame->extent[a]);
        position[a] = point->position[a] + bin->corner[a];
    }
    float share = has_share && bin->densities ? field_share(bin->densities[p]) : 1.0f;

    /* From here on, lengths are in units of the reach. (Measured dead end: a test of the ball in
     * place of its box skips a fifth more points, but costs more than it saves.) */
    float unit = 1.0f / reach;
    float xx = frame->xx * unit, xy = frame->xy * unit, xz = frame->xz * unit;
    float yy = frame->yy * unit, yz = frame->yz * unit, zz = frame->zz * unit;
    if (has_shape) {
        const float *own = shape->frame;
        share = shape->share;
        xx = own[0], xy = own[1], xz = own[2], yy = own[3], yz = own[4], zz = own[5];
    }
    float px = xx * position[0] + xy * position[1] + xz * position[2];
    float py = yy * position[1] + yz * position[2];
    float pz = zz * position[2];

    /* All layers have one range of rows. (Measured dead end: a range per layer skips a fifth of the
     * rows, but its mispredicted branches cost more.) */
    int k_from, k_to, j_from, j_to;
    samples_within(support[2], position[2], brick->first[2], brick->last[2], &k_from, &k_to);
    samples_within(support[1], position[1], brick->first[1], brick->last[1], &j_from, &j_to);
    size_t count = (size_t)(j_to - j_from + 1) * FIELD_BRICK;
    brick_plane squares;
    const bool is_sheared = has_shape || frame->sheared;
    if (!is_sheared)
        square_plane(-px, -py, xx, xy, yy, squares);
    for (int k = k_from; k <= k_to; k++) {
        float z = (float)k * zz - pz;
        if (is_sheared)
            square_plane((float)k * xz - px, (float)k * yz - py, xx, xy, yy, squares);
        add_rows(formula, &squares[j_from][0], z * z, reach, frame->margin, has_share, share, count,
                 &samples[k][j_from][0]);
    }
}

ALWAYS_INLINE void add_points(int formula, bool has_share, bool has_shape, const brick_frame *frame,
                              const brick_part *brick, const brick_points *bin,
                              brick_samples samples)
{
    for (uint64_t first = 0; first < bin->count; first += NEAR_POINTS) {
        uint8_t list[NEAR_POINTS];
        const uint32_t count = (uint32_t)TML_MIN_OF(bin->count - first, (uint64_t)NEAR_POINTS);
        const uint32_t found = find_near(has_shape, frame, brick, bin, first, count, list);
        for (uint32_t n = 0; n < found; n++)
            add_point(formula, has_share, has_shape, frame, brick, bin, first + list[n], samples);
    }
}

/* The formula is a constant in most calls, so the inner loop does not branch on it. It is a
 * variable only if densities or shapes are used with another kernel than the cubic spline. Without
 * densities, the other kernels have code without shares, which cost them 5 %. */
ALWAYS_INLINE void add_bin(int formula, const brick_frame *frame, const brick_part *brick,
                           const brick_points *bin, brick_samples samples)
{
    if (FIELD_HAS_WEIGHTS && bin->shapes && formula == FIELD_SPLINE)
        add_points(FIELD_SPLINE, true, true, frame, brick, bin, samples);
    else if (FIELD_HAS_WEIGHTS && bin->shapes)
        add_points(formula, true, true, frame, brick, bin, samples);
    else if (formula == FIELD_SPLINE)
        add_points(FIELD_SPLINE, FIELD_HAS_WEIGHTS, false, frame, brick, bin, samples);
    else if (FIELD_HAS_WEIGHTS && bin->densities)
        add_points(formula, true, false, frame, brick, bin, samples);
    else if (formula == FIELD_POLY6)
        add_points(FIELD_POLY6, false, false, frame, brick, bin, samples);
    else if (formula == FIELD_METABALL)
        add_points(FIELD_METABALL, false, false, frame, brick, bin, samples);
    else if (formula == FIELD_DISTANCE)
        add_points(FIELD_DISTANCE, false, false, frame, brick, bin, samples);
    else
        add_points(FIELD_WENDLAND_C2, false, false, frame, brick, bin, samples);
}

SIMD_INSTANTIATE(void, add_bin,
                 (int formula, const brick_frame *frame, const brick_part *brick,
                  const brick_points *bin, brick_samples samples),
                 add_bin(formula, frame, brick, bin, samples))

typedef void (*add_bin_fn)(int formula, const brick_frame *frame, const brick_part *brick,
                           const brick_points *bin, brick_samples samples);
static const add_bin_fn add_bin_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(add_bin);

/* A row of bricks along x, with the bins that its support touches along y and z. */
typedef struct brick_row {
    const field_plan *plan;
    brick_frame frame;
    add_bin_fn add_bin;
    brick_part brick; /* the current brick; y and z are those of the row */
    uint64_t bin_first[FIELD_MAX_LEVELS][3], bin_last[FIELD_MAX_LEVELS][3];
} brick_row;

/* The starts of the bins in row (y, z). */
static const uint64_t *bin_starts(const field_plan *plan, const field_level *level, uint64_t y,
                                  uint64_t z)
{
    return plan->starts + level->first_bin + level->bins[0] * (y + level->bins[1] * z);
}

/* Returns whether the bins that samples [first, last] of the row touch have a point, in any
 * level. */
static bool row_has_points(const brick_row *row, uint64_t first, uint64_t last)
{
    for (uint32_t l = 0; l < row->plan->level_count; l++) {
        const field_level *level = &row->plan->levels[l];
        uint64_t x_first, x_last;
        field_level_reach(level, 0, first, last, &x_first, &x_last);
        for (uint64_t z = row->bin_first[l][2]; z <= row->bin_last[l][2]; z++)
            for (uint64_t y = row->bin_first[l][1]; y <= row->bin_last[l][1]; y++) {
                const uint64_t *starts = bin_starts(row->plan, level, y, z);
                if (starts[x_first] != starts[x_last + 1])
                    return true;
            }
    }
    return false;
}

/* Returns whether all samples of the brick are at least the limit; false if there is no limit. More
 * points never lower a sample: their terms are at least 0, or the largest term counts. Samples are
 * tested from the last one on, because the last ones reach the limit last. A partial brick always
 * returns false. */
static bool is_all_inside(const float *limit, brick_samples samples)
{
    for (int row = FIELD_BRICK * FIELD_BRICK; limit && row-- > 0;) {
        const float *at = &samples[0][0][0] + row * FIELD_BRICK;
        bool all = true;
        for (int i = 0; i < FIELD_BRICK; i++)
            all &= at[i] >= *limit;
        if (!all)
            return false;
    }
    return limit;
}

/* Adds a level's points to the row's current brick. limit: NULL, or stops as soon as all samples
 * are at least *limit. */
static void gather_level(brick_row *row, uint32_t l, const float *limit, brick_samples samples)
{
    const field_plan *plan = row->plan;
    const field_level *level = &plan->levels[l];
    const brick_part *brick = &row->brick;
    uint64_t x_first, x_last;
    field_level_reach(level, 0, brick->base[0] + (uint64_t)brick->first[0],
                      brick->base[0] + (uint64_t)brick->last[0], &x_first, &x_last);
    for (uint64_t z = row->bin_first[l][2]; z <= row->bin_last[l][2]; z++)
        for (uint64_t y = row->bin_first[l][1]; y <= row->bin_last[l][1]; y++) {
            const uint64_t *starts = bin_starts(plan, level, y, z);
            if (starts[x_first] == starts[x_last + 1])
                continue;
            const uint64_t at[3] = {x_first, y, z};
            brick_points bin;
            for (int a = 0; a < 3; a++)
                bin.corner[a] =
                    (float)((double)(at[a] << level->edge_log2) - (double)brick->base[a]);
            for (uint64_t x = x_first; x <= x_last; x++) {
                bin.points = plan->points + starts[x];
                bin.densities =
                    FIELD_HAS_WEIGHTS && plan->densities ? plan->densities + starts[x] : NULL;
                bin.shapes = FIELD_HAS_WEIGHTS && plan->shapes ? plan->shapes + starts[x] : NULL;
                bin.count = starts[x + 1] - starts[x];
                if (bin.count)
                    row->add_bin(plan->formula, &row->frame, brick, &bin, samples);
                if (bin.count && is_all_inside(limit, samples))
                    return;
                bin.corner[0] += (float)((uint64_t)1 << level->edge_log2);
            }
        }
}

static void fill(float *out, uint64_t count, float value)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = value;
}

/* The address of sample (x, j, k) of the row's bricks. out: the first layer to evaluate. */
static float *row_out(const brick_row *row, float *out, uint64_t x, int j, int k)
{
    const uint64_t *dims = row->plan->dims;
    uint64_t slice = (uint64_t)(k - row->brick.first[2]);
    return out + x + (slice * dims[1] + row->brick.base[1] + (uint64_t)j) * dims[0];
}

/* Evaluates the row's brick at x. limit: as in gather_level. */
static void evaluate_brick(brick_row *row, uint64_t x, const float *limit, float *out)
{
    const field_plan *plan = row->plan;
    brick_part *brick = &row->brick;
    brick->base[0] = x;
    brick->first[0] = 0;
    brick->last[0] = (int)TML_MIN_OF(plan->dims[0] - x, (uint64_t)FIELD_BRICK) - 1;
    _Alignas(64) brick_samples samples;
    fill(&samples[0][0][0], sizeof samples / sizeof(float), plan->background);
    for (uint32_t l = 0; l < plan->level_count; l++)
        gather_level(row, l, limit, samples);
    for (int k = brick->first[2]; k <= brick->last[2]; k++)
        for (int j = brick->first[1]; j <= brick->last[1]; j++)
            memcpy(row_out(row, out, x, j, k), samples[k][j],
                   (size_t)(brick->last[0] + 1) * sizeof(float));
}

/* Evaluates row y_brick of bricks in layers [z_first, z_last], which lie in one layer of bricks.
 * marks  of the row's bricks, or NULL
 * out    layer z_first */
static void evaluate_row(brick_row *row, uint64_t y_brick, uint64_t z_first, uint64_t z_last,
                         uint8_t *marks, const float *limit, float *out)
{
    const field_plan *plan = row->plan;
    const uint64_t bricks = field_bricks_along(plan->dims[0]), end = plan->dims[0] - 1;
    brick_part *brick = &row->brick;
    if (marks && !limit && !memchr(marks, FIELD_MARKED, bricks))
        return;
    brick->base[1] = y_brick * FIELD_BRICK;
    brick->base[2] = z_first / FIELD_BRICK * FIELD_BRICK;
    brick->first[1] = 0;
    brick->last[1] = (int)TML_MIN_OF(plan->dims[1] - brick->base[1], (uint64_t)FIELD_BRICK) - 1;
    brick->first[2] = (int)(z_first - brick->base[2]);
    brick->last[2] = (int)(z_last - brick->base[2]);
    for (uint32_t l = 0; l < plan->level_count; l++)
        for (int a = 1; a < 3; a++)
            field_level_reach(&plan->levels[l], a, brick->base[a] + (uint64_t)brick->first[a],
                              brick->base[a] + (uint64_t)brick->last[a], &row->bin_first[l][a],
                              &row->bin_last[l][a]);

    const bool has_points = row_has_points(row, 0, end);
    if (!has_points && limit)
        memset(marks, 0, bricks);
    else if (!has_points && !marks)
        for (int k = brick->first[2]; k <= brick->last[2]; k++)
            fill(row_out(row, out, 0, 0, k), (uint64_t)(brick->last[1] + 1) * plan->dims[0],
                 plan->background);
    else
        for (uint64_t b = 0, x = 0; b < bricks; b++, x += FIELD_BRICK) {
            if (limit)
                marks[b] =
                    row_has_points(row, x, TML_MIN_OF(x + FIELD_BRICK - 1, end)) ? FIELD_MARKED : 0;
            if (!marks || marks[b])
                evaluate_brick(row, x, limit, out);
        }
}

static brick_row row_of(const field_plan *plan)
{
    brick_row row = {.plan = plan, .add_bin = add_bin_for[tml_simd_level()]};
    row.frame = (brick_frame){.xx = (float)plan->frame.xx,
                              .xy = (float)plan->frame.xy,
                              .xz = (float)plan->frame.xz,
                              .yy = (float)plan->frame.yy,
                              .yz = (float)plan->frame.yz,
                              .zz = (float)plan->frame.zz,
                              .margin = plan->margin,
                              .sheared = plan->frame.xz != 0.0 || plan->frame.yz != 0.0};
    for (int a = 0; a < 3; a++)
        row.frame.extent[a] = (float)plan->extent[a];
    return row;
}

/* The layers that a call evaluates, with the arguments of cpu_field_bricks. */
typedef struct slab_job {
    tml_context *tml;
    const field_plan *plan;
    uint64_t first, end;
    uint8_t *marks;
    const float *limit;
    float *out;
    uint64_t first_row; /* the row of task 0; rows are numbered y fastest */
} slab_job;

static uint64_t brick_rows_of(const slab_job *job)
{
    return field_bricks_along(job->plan->dims[1]) *
           (field_bricks_along(job->end) - job->first / FIELD_BRICK);
}

static void row_task(void *argument, uint32_t index)
{
    const slab_job *job = argument;
    const uint64_t *dims = job->plan->dims, rows = field_bricks_along(dims[1]);
    const uint64_t number = job->first_row + index;
    uint64_t from = (job->first / FIELD_BRICK + number / rows) * FIELD_BRICK;
    const uint64_t to = TML_MIN_OF(from + FIELD_BRICK, job->end);
    from = TML_MAX_OF(from, job->first);
    brick_row row = row_of(job->plan);
    if (!job->tml || !tml_is_cancelled(job->tml))
        evaluate_row(&row, number % rows, from, to - 1,
                     FIELD_HAS_MARKS && job->marks
                         ? job->marks + number * field_bricks_along(dims[0])
                         : NULL,
                     FIELD_HAS_MARKS ? job->limit : NULL,
                     job->out + (from - job->first) * dims[0] * dims[1]);
}

void cpu_field_slab(const field_plan *plan, uint64_t z_first, uint64_t z_count, float *out)
{
    slab_job job = {.plan = plan, .first = z_first, .end = z_first + z_count, .out = out};
    for (uint64_t rows = brick_rows_of(&job); job.first_row < rows; job.first_row++)
        row_task(&job, 0);
}

tml_status cpu_field_bricks(tml_context *tml, const field_plan *plan, uint64_t z_first,
                            uint64_t z_count, uint8_t *marks, const float *limit, float *out)
{
    slab_job job = {.tml = tml,
                    .plan = plan,
                    .first = z_first,
                    .end = z_first + z_count,
                    .marks = marks,
                    .limit = limit,
                    .out = out};
    tml_parallel_for(tml, (uint32_t)brick_rows_of(&job), row_task, &job);
    return tml_is_cancelled(tml) ? tml_error(tml, TML_ERROR_CANCELLED, "tml_field: cancelled")
                                 : TML_OK;
}

tml_status cpu_field_slabs(tml_context *tml, const field_plan *plan, uint64_t z_first,
                           uint64_t z_count, void *out)
{
    return cpu_field_bricks(tml, plan, z_first, z_count, NULL, NULL, out);
}

/* ---- the operation --------------------------------------------------------------------------- */

static tml_status field_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch;
    (void)scratch_size;
    /* Progress is reported between batches of rows. A cancelled call leaves rows out. */
    enum { BATCHES = 64 };
    const field_plan *plan = desc;
    slab_job job = {
        .tml = tml, .plan = plan, .end = plan->dims[2], .out = cpu_memory(tml, plan->out)};
    uint64_t rows = brick_rows_of(&job);
    bool goes_on = true;
    for (uint32_t batch = 0; batch < BATCHES && goes_on; batch++) {
        goes_on = tml_progress(tml, "field", (double)batch / BATCHES);
        job.first_row = rows / BATCHES * batch + rows % BATCHES * batch / BATCHES;
        uint64_t end = rows / BATCHES * (batch + 1) + rows % BATCHES * (batch + 1) / BATCHES;
        if (goes_on)
            tml_parallel_for(tml, (uint32_t)(end - job.first_row), row_task, &job);
    }
    if (!goes_on || tml_is_cancelled(tml))
        return tml_error(tml, TML_ERROR_CANCELLED,
                         "tml_field: cancelled; its outputs are undefined");
    (void)!tml_progress(tml, "field", 1.0);
    return TML_OK;
}

const tml_engine_op cpu_op_field = {.run = field_run};
