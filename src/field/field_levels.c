/* Makes the levels of a plan: each one's bins, and the words by which points find their bins. */
#include <math.h>
#include <string.h>

#include "field/field_internal.h"
#include "kernels/real64_host.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"
#include "kernels/real64_bins.k.h"

#include "kernels/kernel_end.h"

_Static_assert(FIELD_BINS_LEVELS + FIELD_BINS_LEVEL * FIELD_MAX_LEVELS == FIELD_PLAN_WORDS &&
                   FIELD_BINS_LEVELS == FIELD_PLAN_LEVELS,
               "the plan's words are numbered otherwise");

/* A level has at most BINS_A_POINT bins per point; above MANY_BINS, half as many per point; but
 * never fewer than MIN_BINS. So bins are as small as bricks where points are dense or many, and a
 * few points in a huge grid need only kilobytes. */
enum { BINS_A_POINT = 8, MIN_BINS = 4096, MANY_BINS = 1 << 22 };

/* A reach below this many samples meets a sample only by rounding. */
static const double smallest_reach = 0x1p-20;

/* Added to a level's support, as a factor and in samples. Rounding to float then never hides a
 * point's bin from one brick if another brick finds it. */
static const double support_slack = 0x1p-9;

static void put_doubles(field_plan *plan, uint32_t at, const double *values, size_t count)
{
    memcpy(plan->words + at, values, count * sizeof *values);
}

/* Sets the matrix from world to samples, the extents and the frame. */
static void plan_frame(field_plan *plan, const tml_grid *grid)
{
    double matrix[9], inverse[9], step[3][3];
    field_grid_steps(grid, step);
    for (int i = 0; i < 9; i++)
        matrix[i] = step[i % 3][i / 3];
    field_invert(matrix, inverse);
    double widest = 0.0, last[3];
    for (int a = 0; a < 3; a++) {
        const double *row = inverse + 3 * a;
        plan->extent[a] = sqrt(field_dot(row, row));
        widest = fmax(widest, plan->extent[a]);
        last[a] = (double)(int64_t)(plan->dims[a] - 1);
    }
    put_doubles(plan, FIELD_BINS_INVERSE, inverse, 9);
    put_doubles(plan, FIELD_BINS_ORIGIN, grid->origin, 3);
    put_doubles(plan, FIELD_BINS_EXTENT, plan->extent, 3);
    put_doubles(plan, FIELD_BINS_LAST, last, 3);
    put_doubles(plan, FIELD_BINS_WIDEST, &widest, 1);

    field_frame_of(step, &plan->frame);
    /* Rounding errors of a pure rotation become exactly 0. Engines are faster without shear. */
    double *sheared[] = {&plan->frame.xy, &plan->frame.xz, &plan->frame.yz};
    for (size_t i = 0; i < TML_ARRAY_SIZE(sheared); i++)
        if (fabs(*sheared[i]) < 1e-12 * plan->frame.xx)
            *sheared[i] = 0.0;
}

/* Sets the bins of a level whose points have at most that reach: the smallest cubes that are at
 * least a brick, wider than a quarter of the support, and at most max_bins. A brick then reads at
 * most 10 bins along an axis. */
static void plan_level(field_plan *plan, field_level *level, double reach, uint64_t max_bins)
{
    double narrowest = INFINITY;
    level->reach = reach;
    for (int a = 0; a < 3; a++) {
        level->support[a] = reach * plan->extent[a] * (1.0 + support_slack) + support_slack;
        narrowest = fmin(narrowest, level->support[a]);
    }
    level->first_bin = plan->bin_count;
    level->edge_log2 = FIELD_BRICK_LOG2;
    for (uint64_t bins;; level->edge_log2++) {
        uint64_t edge = (uint64_t)1 << level->edge_log2;
        bins = 1;
        for (int a = 0; a < 3; a++) {
            level->bins[a] = (plan->dims[a] - 1) / edge + 1;
            bins *= level->bins[a];
        }
        if (bins == 1 || (bins <= max_bins && 4.0 * (double)edge > narrowest)) {
            plan->bin_count += bins;
            return;
        }
    }
}

static void put_level(field_plan *plan, uint32_t l)
{
    const field_level *level = &plan->levels[l];
    uint32_t *to = plan->words + FIELD_BINS_LEVELS + FIELD_BINS_LEVEL * l;
    to[0] = (uint32_t)level->first_bin;
    to[1] = level->edge_log2;
    for (int a = 0; a < 3; a++) {
        to[2 + a] = (uint32_t)level->bins[a];
        to[5 + a] = (uint32_t)fmin(ceil(level->support[a]), (double)plan->dims[a]);
    }
}

void field_plan_levels(field_plan *plan, double smallest, double largest, uint64_t bound)
{
    bound = TML_MIN_OF(bound, (uint64_t)FIELD_MAX_BINS);
    uint64_t max_bins =
        TML_MIN_OF(BINS_A_POINT * bound, TML_MAX_OF((uint64_t)MANY_BINS, BINS_A_POINT / 2 * bound));
    max_bins = TML_MIN_OF(max_bins, (uint64_t)FIELD_MAX_BINS);
    max_bins = TML_MAX_OF(max_bins, (uint64_t)MIN_BINS);
    put_doubles(plan, FIELD_BINS_LARGEST, &largest, 1);
    double widest, reach = largest;
    memcpy(&widest, plan->words + FIELD_BINS_WIDEST, sizeof widest);
    uint32_t most = 1;
    for (; most < FIELD_MAX_LEVELS && reach * widest > FIELD_BRICK; reach /= 4.0)
        most++;
    plan->words[FIELD_BINS_COUNT] = most;
    plan->level_count =
        smallest <= largest ? field_level_of(plan->words, real64_to_float(smallest)) + 1 : 0;
    plan->words[FIELD_BINS_COUNT] = plan->level_count;
    for (uint32_t l = 0; l < plan->level_count; l++, largest /= 4.0) {
        plan_level(plan, &plan->levels[l], largest, max_bins);
        put_level(plan, l);
    }
    plan->words[FIELD_BINS_NONE] = (uint32_t)plan->bin_count;
}

void field_plan_begin(const tml_field_desc *resolved, field_plan *plan)
{
    *plan = (field_plan){.background = 0.0f};
    memcpy(plan->dims, resolved->grid.dims, sizeof plan->dims);
    bool distance = resolved->kind == TML_FIELD_DISTANCE;
    _Static_assert((int)TML_FIELD_WENDLAND_C2 == FIELD_WENDLAND_C2 &&
                       (int)TML_FIELD_POLY6 == FIELD_POLY6 &&
                       (int)TML_FIELD_METABALL == FIELD_METABALL &&
                       (int)TML_FIELD_CUBIC_SPLINE == FIELD_SPLINE,
                   "the kernels are numbered otherwise");
    plan->formula = distance ? FIELD_DISTANCE : (int)resolved->kernel;
    plan->margin = distance ? (float)resolved->margin : 0.0f;
    plan->background = -plan->margin + 0.0f; /* +0, not -0 */
    uint64_t layer = field_bricks_along(plan->dims[0]) * field_bricks_along(plan->dims[1]);
    uint64_t bricks = layer * field_bricks_along(plan->dims[2]);
    plan->device.brick_room = TML_MAX_OF(layer, TML_MIN_OF(bricks, (uint64_t)FIELD_LIST_BRICKS));

    const double radius = tml_buffer_is_none(resolved->radii) ? resolved->radius : 0.0;
    const double margin = (double)plan->margin;
    const double lengths[2] = {FIELD_MIN_LENGTH, FIELD_MAX_LENGTH}, no_limit = INFINITY;
    put_doubles(plan, FIELD_BINS_RADIUS, &radius, 1);
    put_doubles(plan, FIELD_BINS_MARGIN, &margin, 1);
    put_doubles(plan, FIELD_BINS_LEAST, lengths, 2);
    put_doubles(plan, FIELD_BINS_NEAR, &smallest_reach, 1);
    put_doubles(plan, FIELD_BINS_LARGEST, &no_limit, 1);
    plan_frame(plan, &resolved->grid);
}

void field_plan_known(const tml_field_desc *resolved, field_plan *plan)
{
    const double reach = field_reach_of(plan->words, resolved->radius);
    const double least = tml_buffer_is_none(resolved->radii) ? reach : (double)plan->margin;
    field_plan_levels(plan, reach > 0.0 ? least : INFINITY, reach, resolved->length.count);
}

void field_level_reach(const field_level *level, int axis, uint64_t first, uint64_t last,
                       uint64_t *bin_first, uint64_t *bin_last)
{
    uint32_t bins = (uint32_t)level->bins[axis];
    *bin_first = field_bin_along((double)first - level->support[axis], level->edge_log2, bins);
    *bin_last = field_bin_along((double)last + level->support[axis], level->edge_log2, bins);
}

float field_background(const field_plan *plan)
{
    return plan->background;
}

bool field_slab_is_empty(const field_plan *plan, uint64_t z_first, uint64_t z_count)
{
    if (!plan->starts && plan->level_count > 0)
        return false;
    for (uint32_t l = 0; l < plan->level_count && z_count > 0; l++) {
        const field_level *level = &plan->levels[l];
        uint64_t first, last, layer = level->bins[0] * level->bins[1];
        field_level_reach(level, 2, z_first, z_first + z_count - 1, &first, &last);
        if (plan->starts[level->first_bin + first * layer] !=
            plan->starts[level->first_bin + (last + 1) * layer])
            return false;
    }
    return true;
}
