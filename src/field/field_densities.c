/* Recipes for particles, made of public calls: densities, which are the sums of kernels at the
 * points; and tml_field_smooth_weights, which turns such sums into the weights of a surface's
 * smoothing.
 *
 * After: Monaghan: Smoothed Particle Hydrodynamics. 1992; Loeschner, Boettcher, Jeske, Bender:
 * Weighted Laplacian Smoothing for Surface Reconstruction of Particle-based Fluids. 2023. */
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "field/field_internal.h"

/* Finds the sum of the field's kernels at each of its points. */
static tml_status sum_kernels(tml_context *tml, const tml_field_desc *field, bool exact_reach,
                              tml_buffer out)
{
    const tml_slot *slot = tml_slot_of(tml, field->points);
    tml_field_mean_desc mean = {.field = field,
                                .positions = field->points,
                                .length = field->length,
                                .weights = out,
                                .exact_reach = exact_reach};
    tml_buffer copy = {0, 0};
    tml_status status = TML_OK;
    if (slot && slot->on_host) { /* tml_field_mean requires positions on the device */
        status = tml_copy_to_device(tml, field->points, "positions", &copy);
        mean.positions = copy;
    }
    TML_THEN(status, tml_field_mean(tml, &mean));
    tml_buffer_destroy(tml, copy);
    return status;
}

/* ---- densities ------------------------------------------------------------------------------- */

/* Makes a field that exists only for its bins, of all points that may reach into the box. */
static tml_status fit_bins(tml_context *tml, const tml_field_desc *given, tml_field_desc *out)
{
    tml_field_desc field = *given, resolved = *given;
    field.densities = field.shapes[0] = field.shapes[1] = (tml_buffer){0, 0};
    field.resolution = 0;
    for (int axis = 0; axis < 3; axis++) {
        field.grid.dims[axis] = 0;
        field.grid.spacing[axis] = 0;
    }
    tml_status status =
        field.radius > 0.0 ? TML_OK : field_resolve_desc(tml, &field, &resolved, NULL);
    if (status != TML_OK)
        return status;
    field.radius = resolved.radius;
    for (int axis = 0; axis < 3; axis++) {
        const bool is_given = field.lower[axis] != 0 || field.upper[axis] != 0;
        field.grid.spacing[axis] = field.radius / FIELD_BIN_SAMPLES;
        field.lower[axis] -= is_given ? field.radius : 0;
        field.upper[axis] += is_given ? field.radius : 0;
    }
    return field_resolve_desc(tml, &field, out, NULL);
}

tml_status field_densities_find(tml_context *tml, const tml_field_desc *field, tml_buffer out)
{
    tml_field_desc fitted;
    tml_status status = fit_bins(tml, field, &fitted);
    return status == TML_OK ? sum_kernels(tml, &fitted, true, out) : status;
}

/* ---- weights of smoothing -------------------------------------------------------------------- */

static tml_status find_median(tml_context *tml, tml_buffer sums, uint64_t count, float *median)
{
    tml_buffer sorted = {0, 0};
    tml_status status = tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_F32, .count = count, .label = "crowding"}, &sorted);
    TML_THEN(status, tml_sort(tml, &(tml_sort_desc){.keys = sums, .sorted = sorted}));
    TML_THEN(status, tml_buffer_read_range(tml, sorted, count / 2, 1, median));
    tml_buffer_destroy(tml, sorted);
    return status;
}

/* Turns sums of kernels into weights: 0 at a lone point, 1 where the neighbours' sum is at least
 * half that at the median point. */
static tml_status weigh(tml_context *tml, tml_buffer sums, uint64_t count)
{
    float median = 0;
    void *mapped = NULL;
    tml_status status = find_median(tml, sums, count, &median);
    TML_THEN(status, tml_buffer_map(tml, sums, &mapped));
    if (status != TML_OK)
        return status;
    const float half = (median - 1) / 2;
    float *sum = mapped;
    for (uint64_t i = 0; i < count; i++) {
        const float x = half > 0 ? fminf(fmaxf((sum[i] - 1) / half, 0), 1) : 0;
        sum[i] = x * x * x * (x * (x * 6 - 15) + 10);
    }
    tml_buffer_unmap(tml, sums);
    return TML_OK;
}

static tml_status smooth_weights(tml_context *tml, const tml_field_mean_desc *at, tml_buffer out)
{
    const tml_slot *points = tml_slot_of(tml, at->field->points);
    const uint64_t count = points ? points->count : 0;
    tml_field_mean_desc mean = {.field = at->field, .positions = at->positions};
    tml_buffer sums = {0, 0};
    if (!tml_buffer_is_none(at->field->length.device) ||
        (at->field->length.count && at->field->length.count != count))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_field_smooth_weights: field.length is %llu, needs all of the points, "
                         "%llu",
                         (unsigned long long)at->field->length.count, (unsigned long long)count);
    tml_status status = tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_F32, .count = count, .label = "crowding"}, &sums);
    TML_THEN(status, sum_kernels(tml, at->field, false, sums));
    TML_THEN(status, weigh(tml, sums, count));
    memcpy(mean.position_origin, at->position_origin, sizeof mean.position_origin);
    mean.values[0] = sums;
    mean.means[0] = out;
    TML_THEN(status, tml_field_mean(tml, &mean));
    tml_buffer_destroy(tml, sums);
    return status;
}

tml_status tml_field_smooth_weights(tml_context *tml, const tml_field_desc *field,
                                    tml_buffer vertices, const double position_origin[3],
                                    tml_buffer out)
{
    tml_status status = TML_ENTER(tml, field);
    if (status != TML_OK)
        return status;
    tml_field_mean_desc at = {.field = field, .positions = vertices};
    if (position_origin)
        memcpy(at.position_origin, position_origin, sizeof at.position_origin);
    return tml_leave(tml, smooth_weights(tml, &at, out));
}
