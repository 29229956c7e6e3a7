/* Field: checks descs, resolves them, and calls the engine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "field/field_internal.h"
#include "stream/desc.h"

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* Constants of automatic grids. */
enum {
    STEPS_A_RADIUS = 8,        /* steps per median radius */
    MIN_RESOLUTION = 64,       /* samples along the longest side */
    MAX_RESOLUTION = 512,      /* the same */
    BORDER_STEPS = 2,          /* beyond the outermost reach: every surface closes inside */
    FEWEST_STEPS_A_RADIUS = 3, /* per automatic radius: no point falls between samples */
};

/* Most samples of a grid: 2^40. */
static const uint64_t max_samples = (uint64_t)1 << 40;

/* ---- input ----------------------------------------------------------------------------------- */

/* Returns whether point i is finite and its radius, if it has one, is within the limits. */
static bool usable(const field_input *input, uint64_t i)
{
    const float *p = input->points + 3 * i;
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]) &&
           (!input->radii || (input->radii[i] >= (float)FIELD_MIN_LENGTH &&
                              input->radii[i] <= (float)FIELD_MAX_LENGTH));
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const desc_range lengths = {FIELD_MIN_LENGTH, FIELD_MAX_LENGTH,
                                   "1e-30 to 1e30, or 0 for automatic"};
enum { LENGTH, POINTS, RADII, DENSITIES, KIND, KERNEL, RADIUS, MARGIN, SHAPES_0, SHAPES_1 };
static const desc_row rows[] = {
    [LENGTH] = DESC_ROW(tml_field_desc, length, DESC_LENGTHS, .like = DESC_LIKE(POINTS)),
    [POINTS] = DESC_ROW(tml_field_desc, points, DESC_IN, .is_anywhere = true,
                        .types = stream_f32x3_types, .count = DESC_LENGTH),
    [RADII] = DESC_ROW(tml_field_desc, radii, DESC_IN, .is_optional = true, .is_anywhere = true,
                       .types = stream_f32_types, .count = DESC_LENGTH),
    [DENSITIES] = DESC_ROW(tml_field_desc, densities, DESC_IN, .is_optional = true,
                           .is_anywhere = true, .types = stream_f32_types, .count = DESC_LENGTH),
    [KIND] = DESC_ROW(tml_field_desc, kind, DESC_ENUM, .of = "tml_field_kind",
                      .most = TML_FIELD_DISTANCE),
    [KERNEL] = DESC_ROW(tml_field_desc, kernel, DESC_ENUM, .of = "tml_field_kernel",
                        .most = TML_FIELD_CUBIC_SPLINE),
    [RADIUS] = DESC_ROW(tml_field_desc, radius, DESC_F64, .is_optional = true, .range = &lengths),
    [MARGIN] = DESC_ROW(tml_field_desc, margin, DESC_F64, .is_optional = true, .range = &lengths),
    /* The last rows, which a field without shapes does not have. */
    [SHAPES_0] = DESC_ROW(tml_field_desc, shapes[0], DESC_IN, .is_anywhere = true,
                          .types = stream_f32x3_types, .count = DESC_LENGTH),
    [SHAPES_1] = DESC_ROW(tml_field_desc, shapes[1], DESC_IN, .is_anywhere = true,
                          .types = stream_f32x3_types, .count = DESC_LENGTH)};

static bool is_length(double value)
{
    return value >= FIELD_MIN_LENGTH && value <= FIELD_MAX_LENGTH;
}

static tml_status check_length(tml_context *tml, const char *field, double value)
{
    return is_length(value) ? TML_OK
                            : tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                                        "tml_field: desc.%s is %g, needs %g to %g", field, value,
                                        FIELD_MIN_LENGTH, FIELD_MAX_LENGTH);
}

static bool all_zero(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != 0.0)
            return false;
    return true;
}

/* Sets the grid's defaults and checks the rest. dims may stay zero. */
static tml_status check_grid(tml_context *tml, tml_grid *grid)
{
    static const char *const spacing_names[] = {"grid.spacing[0]", "grid.spacing[1]",
                                                "grid.spacing[2]"};
    bool automatic = grid->dims[0] == 0 && grid->dims[1] == 0 && grid->dims[2] == 0;
    if (!automatic && all_zero(grid->spacing, 3))
        grid->spacing[0] = grid->spacing[1] = grid->spacing[2] = 1.0;
    if (all_zero(grid->direction, 9))
        memcpy(grid->direction, identity, sizeof identity);
    for (int a = 0; a < 3 && !(automatic && all_zero(grid->spacing, 3)); a++) {
        tml_status status = check_length(tml, spacing_names[a], grid->spacing[a]);
        if (status != TML_OK)
            return status;
    }
    double inverse[9];
    if (!field_invert(grid->direction, inverse))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_field: desc.grid.direction has no inverse; its columns are the axes' "
                         "directions, zeroed means the identity");
    for (int a = 0; a < 3; a++) {
        const double *d = grid->direction, *row = inverse + 3 * a;
        double spacing = grid->spacing[a] != 0.0 ? grid->spacing[a] : 1.0;
        double step = spacing * hypot(hypot(d[a], d[3 + a]), d[6 + a]);
        double between_planes = spacing / hypot(hypot(row[0], row[1]), row[2]);
        if (!is_length(step) || !is_length(between_planes))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_field: desc.grid.direction: samples along axis %d are %g apart "
                             "and their planes %g, needs %g to %g",
                             a, step, between_planes, FIELD_MIN_LENGTH, FIELD_MAX_LENGTH);
    }
    if (automatic)
        return TML_OK;
    uint64_t samples = 1;
    for (int a = 0; a < 3; a++) {
        if (!isfinite(grid->origin[a]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_field: desc.grid.origin[%d] is %g, needs a finite number", a,
                             grid->origin[a]);
        if (grid->dims[a] == 0 || !tml_mul(samples, grid->dims[a], &samples) ||
            samples > max_samples)
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "tml_field: desc.grid.dims are %llu x %llu x %llu, need 1 to 2^40 samples "
                "in all, or all 0 for automatic",
                (unsigned long long)grid->dims[0], (unsigned long long)grid->dims[1],
                (unsigned long long)grid->dims[2]);
    }
    return TML_OK;
}

static tml_status check_bounds(tml_context *tml, const tml_field_desc *desc)
{
    bool automatic = desc->grid.dims[0] == 0 && desc->grid.dims[1] == 0 && desc->grid.dims[2] == 0;
    for (int a = 0; a < 3; a++) {
        double lower = desc->lower[a], upper = desc->upper[a];
        if (lower == 0.0 && upper == 0.0)
            continue;
        if (!(lower < upper))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_field: desc.lower[%d] is %g and upper %g; needs the smaller "
                             "first, or both 0 for the points' own",
                             a, lower, upper);
        if (!automatic)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_field: desc.lower and upper are for automatic grids, whose "
                             "grid.dims are 0");
    }
    return TML_OK;
}

static tml_status field_check_desc(tml_context *tml, tml_field_desc *desc)
{
    const bool has_shapes =
        !tml_buffer_is_none(desc->shapes[0]) || !tml_buffer_is_none(desc->shapes[1]);
    const desc_table table = {rows, has_shapes ? TML_ARRAY_SIZE(rows) : SHAPES_0};
    desc_numbers numbers = {0};
    tml_status status = desc_check(tml, "tml_field", &table, desc, &numbers);
    if (status == TML_OK && desc->kind != TML_FIELD_KERNEL_SUM &&
        (has_shapes || !tml_buffer_is_none(desc->densities)))
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "tml_field: desc.densities and shapes need desc.kind KERNEL_SUM");
    if (status == TML_OK && desc->resolution > 0 && desc->resolution < FIELD_BRICK)
        status =
            tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                      "tml_field: desc.resolution is %u, needs at least %d, or 0 for automatic",
                      desc->resolution, FIELD_BRICK);
    TML_THEN(status, check_bounds(tml, desc));
    return status ? status : check_grid(tml, &desc->grid);
}

/* ---- resolution ------------------------------------------------------------------------------ */

/* A box along the grid's directions. */
typedef struct grid_box {
    double low[3], high[3];
} grid_box;

/* Samples that a grid has beyond the ends of a box. A given end has none. */
typedef struct grid_border {
    int below[3], above[3];
} grid_border;

static double longest_side(const grid_box *box)
{
    double longest = 0.0;
    for (int a = 0; a < 3; a++)
        longest = fmax(longest, box->high[a] - box->low[a]);
    return longest;
}

/* inverse: of the direction matrix. unit[a]: half-width along axis a of a sphere of radius 1. */
typedef struct grid_axes {
    double inverse[9];
    double unit[3];
} grid_axes;

/* Computes the bounding box of spheres around the usable points; scale: factor of their radii.
 * Returns the number of usable points. */
static uint64_t bounds(const field_input *input, const grid_axes *axes, double radius, double scale,
                       grid_box *out)
{
    uint64_t count = 0;
    for (int a = 0; a < 3; a++)
        out->low[a] = INFINITY, out->high[a] = -INFINITY;
    for (uint64_t i = 0; i < input->count; i++) {
        if (!usable(input, i))
            continue;
        count++;
        const float *p = input->points + 3 * i;
        double r = scale * (input->radii ? fmin((double)input->radii[i], radius) : radius);
        for (int a = 0; a < 3; a++) {
            const double *row = axes->inverse + 3 * a;
            double at = row[0] * (double)p[0] + row[1] * (double)p[1] + row[2] * (double)p[2];
            const double low = at - r * axes->unit[a], high = at + r * axes->unit[a];
            out->low[a] = TML_MIN_OF(low, out->low[a]);
            out->high[a] = TML_MAX_OF(high, out->high[a]);
        }
    }
    return count;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The largest radius of the usable points. The input has radii. */
static double largest_radius(const field_input *input)
{
    float largest = 0.0f;
    for (uint64_t i = 0; i < input->count; i++)
        if (usable(input, i))
            largest = fmaxf(largest, input->radii[i]);
    return (double)largest;
}

/* The median of up to 4096 evenly spread radii, of usable points. */
static double median_radius(const field_input *input, double radius)
{
    enum { SAMPLES = 4096 };
    float samples[SAMPLES];
    size_t found = 0;
    if (!input->radii)
        return radius;
    uint64_t stride = input->count / SAMPLES + 1;
    for (uint64_t i = 0; i < input->count; i += stride)
        if (usable(input, i))
            samples[found++] = input->radii[i];
    qsort(samples, found, sizeof *samples, compare_floats);
    return found ? (double)samples[found / 2] : 0.0;
}

/* Replaces the ends of the points' box by desc.lower and upper, where these are finite. */
static tml_status bound_box(tml_context *tml, const tml_field_desc *desc, grid_box *box,
                            grid_border *border)
{
    for (int a = 0; a < 3; a++) {
        double lower = desc->lower[a], upper = desc->upper[a];
        bool is_given = lower != 0.0 || upper != 0.0;
        bool has_lower = is_given && isfinite(lower), has_upper = is_given && isfinite(upper);
        border->below[a] = has_lower ? 0 : BORDER_STEPS;
        border->above[a] = has_upper ? 0 : BORDER_STEPS;
        if (has_lower)
            box->low[a] = lower;
        if (has_upper)
            box->high[a] = upper;
        if (!(box->low[a] <= box->high[a]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_field: desc.%s[%d] is %g, but the points reach only to %g",
                             has_lower ? "lower" : "upper", a, has_lower ? lower : upper,
                             has_lower ? box->high[a] : box->low[a]);
    }
    return TML_OK;
}

/* The smallest step at which no side has more samples than that. */
static double step_of(const grid_box *box, const grid_border *border, double samples)
{
    double step = 0.0;
    for (int a = 0; a < 3; a++) {
        double steps = samples - 1 - border->below[a] - border->above[a];
        step = fmax(step, (box->high[a] - box->low[a]) / fmax(steps, 1));
    }
    return step;
}

/* Sets an automatic desc.radius: the largest of radii or, without radii, a multiple of the points'
 * spacing. On an automatic grid the radius is large enough that no point falls between the samples
 * of the finest grid. */
static tml_status resolve_radius(tml_context *tml, tml_field_desc *desc, const field_input *input,
                                 const grid_box *box)
{
    if (input->radii && desc->radius == 0.0)
        desc->radius = largest_radius(input);
    if (desc->radius > 0.0)
        return TML_OK;
    double spacing;
    tml_status status = field_spacing(tml, input->points, input->count, &spacing);
    if (status != TML_OK)
        return status;
    if (spacing == 0.0)
        spacing = 1.0; /* all points coincide: any radius will do */
    desc->radius = desc->kind == TML_FIELD_KERNEL_SUM ? 2.0 * spacing : spacing;
    if (desc->grid.dims[0] == 0 && desc->grid.spacing[0] == 0.0) {
        grid_box bounded = *box;
        grid_border border;
        status = bound_box(tml, desc, &bounded, &border);
        if (status != TML_OK)
            return status;
        int steps = desc->resolution ? (int)TML_MIN_OF(desc->resolution, 1u << 30) : MAX_RESOLUTION;
        steps -= 1 + 2 * BORDER_STEPS + 2 * FEWEST_STEPS_A_RADIUS;
        double step = longest_side(&bounded) / TML_MAX_OF(steps, 1);
        if (desc->radius < FEWEST_STEPS_A_RADIUS * step) {
            tml_log(tml, TML_LOG_WARNING,
                    "tml_field: the points' spacing is %g, too fine for the grid: the radius is "
                    "raised from %g to %g, and what is smaller is lost; give a larger "
                    "desc.resolution, or desc.radius",
                    spacing, desc->radius, FEWEST_STEPS_A_RADIUS * step);
            desc->radius = FEWEST_STEPS_A_RADIUS * step;
        }
    }
    desc->radius = fmax(desc->radius, FIELD_MIN_LENGTH);
    return check_length(tml, "radius (automatic)", desc->radius);
}

/* The samples of a grid along one axis. */
typedef struct grid_line {
    double first, steps;
} grid_line;

/* Centres the samples over the box. The slack keeps rounding from adding a step to a whole
 * quotient, so that resolution is exact. */
static grid_line centred_line(double low, double high, double spacing, int below, int above)
{
    double quotient = (high - low) / spacing;
    double steps = ceil(quotient - 0x1p-40 * quotient) + below + above;
    double shift = 0.5 * (above - below) * spacing;
    return (grid_line){0.5 * (low + high) - 0.5 * steps * spacing + shift, steps};
}

/* Samples at whole numbers of steps from the anchor; first is in steps. If the lower end is not
 * given, the samples start where a brick begins. The samples then fall into the same bricks for
 * every box, and sum their points in the same order. */
static grid_line lattice_line(double low, double high, double spacing, double anchor, int below,
                              int above)
{
    double first = floor((low - anchor) / spacing + 0x1p-20) - below;
    double last = ceil((high - anchor) / spacing - 0x1p-20) + above;
    if (below)
        first = floor(first / FIELD_BRICK) * FIELD_BRICK;
    return (grid_line){first, fmax(last - first, 1)};
}

/* Sets an automatic grid over the box, which includes the points' reach. */
static tml_status resolve_grid(tml_context *tml, tml_field_desc *desc, uint64_t points,
                               double typical_radius, const double inverse[9], grid_box *box)
{
    grid_border border;
    tml_status status = bound_box(tml, desc, box, &border);
    if (status != TML_OK)
        return status;
    tml_grid *grid = &desc->grid;
    double longest = longest_side(box), samples = 1.0, farthest = 0.0, first[3];
    bool is_lattice = grid->spacing[0] != 0.0;
    if (!is_lattice) {
        double many = STEPS_A_RADIUS * longest / typical_radius;
        many =
            desc->resolution ? desc->resolution : fmin(fmax(many, MIN_RESOLUTION), MAX_RESOLUTION);
        double step = step_of(box, &border, many);
        grid->spacing[0] = grid->spacing[1] = grid->spacing[2] = step;
    }
    for (int a = 0; a < 3; a++) {
        const double *row = inverse + 3 * a, *o = grid->origin;
        double anchor = row[0] * o[0] + row[1] * o[1] + row[2] * o[2];
        grid_line line = is_lattice ? lattice_line(box->low[a], box->high[a], grid->spacing[a],
                                                   anchor, border.below[a], border.above[a])
                                    : centred_line(box->low[a], box->high[a], grid->spacing[a],
                                                   border.below[a], border.above[a]);
        samples *= line.steps + 1;
        grid->dims[a] = line.steps < (double)max_samples ? (uint64_t)line.steps + 1 : 0;
        first[a] = is_lattice ? line.first * grid->spacing[a] : line.first;
        farthest = is_lattice ? fmax(farthest, fabs(line.first)) : 0.0;
    }
    if (!(samples <= (double)max_samples))
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_field: %llu points span %g x %g x %g, which at a spacing of %g needs %g "
            "samples, more than 2^40; give a larger desc.grid.spacing, or desc.lower and upper "
            "that "
            "leave outliers out",
            (unsigned long long)points, box->high[0] - box->low[0], box->high[1] - box->low[1],
            box->high[2] - box->low[2], grid->spacing[0], samples);
    if (farthest > 0x1p50)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_field: the points are %g steps of desc.grid.spacing from "
                         "desc.grid.origin, needs at most 2^50; give an origin near them, or a "
                         "larger spacing",
                         farthest);
    for (int row = 0; row < 3; row++) {
        const double *d = grid->direction + 3 * row;
        double offset = d[0] * first[0] + d[1] * first[1] + d[2] * first[2];
        grid->origin[row] = is_lattice ? grid->origin[row] + offset : offset;
    }
    if (desc->resolution == 0 && typical_radius < grid->spacing[0])
        tml_log(
            tml, TML_LOG_WARNING,
            "tml_field: %llu points span %g but their radius is only %g: many will fall between "
            "the samples, %g apart; give a larger desc.radius, a smaller desc.grid.spacing, a "
            "larger "
            "desc.resolution, or bounds (desc.lower) that leave outliers out",
            (unsigned long long)points, longest, typical_radius, grid->spacing[0]);
    return check_grid(tml, grid);
}

/* Returns whether a checked desc has both radius and grid, so that nothing is found from the
 * points. */
static bool is_given(const tml_field_desc *desc)
{
    return desc->grid.dims[0] != 0 && (desc->radius > 0.0 || !tml_buffer_is_none(desc->radii));
}

static void resolve_rest(tml_field_desc *desc)
{
    const double *spacing = desc->grid.spacing;
    for (int a = 0; a < 3; a++)
        desc->lower[a] = desc->upper[a] = 0.0; /* they are in the grid now */
    if (desc->margin == 0.0)
        desc->margin = 2.0 * fmax(fmax(spacing[0], spacing[1]), spacing[2]);
}

static tml_status field_resolve(tml_context *tml, tml_field_desc *desc, const field_input *input)
{
    grid_axes axes;
    field_invert(desc->grid.direction, axes.inverse); /* checked before */
    for (int a = 0; a < 3; a++) {
        const double *row = axes.inverse + 3 * a;
        axes.unit[a] = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
    }
    grid_box box;
    uint64_t points = bounds(input, &axes, 0.0, 0.0, &box);
    if (points == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_field: none of desc.points' %llu points is finite%s",
                         (unsigned long long)input->count,
                         input->radii ? " and has a radius between 1e-30 and 1e30" : "");
    tml_status status = resolve_radius(tml, desc, input, &box);
    if (status == TML_OK && desc->grid.dims[0] == 0) {
        bounds(input, &axes, desc->radius, 1.0, &box);
        status =
            resolve_grid(tml, desc, points, median_radius(input, desc->radius), axes.inverse, &box);
    }
    return status;
}

tml_status field_resolve_desc(tml_context *tml, const tml_field_desc *desc,
                              tml_field_desc *resolved, double *iso)
{
    tml_field_desc result = *desc;
    tml_status status = field_check_desc(tml, &result);
    if (status != TML_OK)
        return status;
    if (!tml_buffer_is_none(result.radii)) /* rounded as radii are: the largest is not cut */
        result.radius = fmin((double)(float)result.radius, FIELD_MAX_LENGTH);
    if (!is_given(&result)) {
        field_input input;
        status = field_map(tml, &result, &input);
        if (status != TML_OK)
            return status;
        status = field_resolve(tml, &result, &input);
        field_unmap(tml, &result);
        if (status != TML_OK)
            return status;
    }
    resolve_rest(&result);
    *resolved = result;
    if (iso)
        *iso = result.kind != TML_FIELD_KERNEL_SUM    ? 0.0
               : tml_buffer_is_none(result.densities) ? 0.5
                                                      : 0.6;
    return TML_OK;
}

tml_status field_find_radius(tml_context *tml, tml_field_desc *resolved)
{
    field_input input;
    if (resolved->radius > 0.0)
        return TML_OK;
    tml_status status = field_map(tml, resolved, &input);
    if (status != TML_OK)
        return status;
    resolved->radius = fmax(largest_radius(&input), FIELD_MIN_LENGTH);
    field_unmap(tml, resolved);
    return TML_OK;
}

tml_status field_resolve_enqueued(tml_context *tml, const char *name_of_call, const char *name,
                                  const tml_field_desc *desc, tml_field_desc *resolved)
{
    if (!field_parts_of[tml->engine->part].field)
        return tml_refuse(tml, name_of_call, "no fields");
    if (desc->grid.dims[0] == 0 || !(desc->radius > 0.0))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s needs radius (of radii the largest) and grid.dims: the host would "
                         "have to look at the points; tml_field_prepare finds both",
                         name_of_call, name);
    tml_status status = field_resolve_desc(tml, desc, resolved, NULL);
    if (status != TML_OK || tml->engine->is_host || field_bins_on_device(tml, resolved))
        return status;
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "%s: %s has shapes, or its points, radii or densities lie on the host "
                     "(tml_buffer_desc.host), "
                     "are more than 2^30, or "
                     "a side of its grid has more than 2^28 samples",
                     name_of_call, name);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

typedef struct field_call {
    const char *name;
    bool enqueues; /* without a wait */
} field_call;
static const field_call field_now = {"tml_field", false},
                        field_enqueued = {"tml_field_enqueue", true},
                        field_compiled = {"tml_field", true}; /* while a frame is prepared */

static tml_status check_call(tml_context *tml, const field_call *call, const tml_field_desc *desc,
                             tml_buffer out, tml_field_desc *resolved)
{
    if (!field_parts_of[tml->engine->part].field)
        return tml_refuse(tml, call->name, "no fields");
    tml_status status = TML_OK;
    if (call->enqueues) {
        status = field_resolve_enqueued(tml, call->name, "desc", desc, resolved);
    } else {
        status = tml_refuse_recording(tml, call->name, "record tml_field_enqueue");
        TML_THEN(status, field_resolve_desc(tml, desc, resolved, NULL));
    }
    if (status != TML_OK)
        return status;
    const uint64_t *dims = resolved->grid.dims;
    status = tml_check_buffer(tml, call->name, "out", out, stream_f32_types,
                              dims[0] * dims[1] * dims[2]);
    const struct {
        const char *name;
        tml_buffer buffer;
    } inputs[] = {{"desc.points", desc->points},       {"desc.radii", desc->radii},
                  {"desc.densities", desc->densities}, {"desc.shapes[0]", desc->shapes[0]},
                  {"desc.shapes[1]", desc->shapes[1]}, {"desc.length.device", desc->length.device}};
    for (size_t i = 0; i < TML_ARRAY_SIZE(inputs); i++)
        TML_THEN(status, stream_check_apart(tml, call->name, "out", out, inputs[i].name,
                                            inputs[i].buffer, false));
    return status;
}

static tml_status evaluate(tml_context *tml, const field_call *call, const tml_field_desc *desc,
                           tml_buffer out)
{
    const tml_engine_op *op = field_parts_of[tml->engine->part].field;
    tml_field_desc resolved;
    field_plan *plan;
    bool is_preparing = tml_prepare_pause(tml); /* the host reads the points */
    tml_status status = check_call(tml, call, desc, out, &resolved);
    tml_prepare_resume(tml, is_preparing);
    if (status != TML_OK || tml_only_measures(tml))
        return status;
    if (field_bins_on_device(tml, &resolved)) {
        status = field_run_after(tml, call->name, &resolved, out, NULL, op, NULL);
        if (status != TML_ERROR_OUT_OF_DEVICE_MEMORY || call->enqueues)
            return status;
    }
    is_preparing = tml_prepare_pause(tml); /* the host makes the plan */
    status = field_plan_create(tml, &resolved, &plan);
    tml_prepare_resume(tml, is_preparing);
    if (status != TML_OK)
        return status;
    plan->out = out;
    status = stream_run_op(tml, call->name, op, "no fields", plan, (tml_buffer){0, 0});
    field_plan_destroy(tml, plan);
    return status;
}

tml_status tml_field(tml_context *tml, const tml_field_desc *desc, tml_buffer out)
{
    tml_status status = TML_ENTER(tml, desc);
    if (status != TML_OK)
        return status;
    const tml_slot *points = tml_slot_of(tml, desc->points);
    const bool is_read = !points || !points->on_host; /* back, to find the radius or the grid */
    return tml_leave(
        tml, evaluate(tml, tml->is_preparing && is_read ? &field_compiled : &field_now, desc, out));
}

tml_status tml_field_enqueue(tml_context *tml, const tml_field_desc *desc, tml_buffer out)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, evaluate(tml, &field_enqueued, desc, out));
}
