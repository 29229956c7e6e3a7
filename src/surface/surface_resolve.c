/* Shared by tml_surface, tml_surface_enqueue and tml_surface_slabs: checks a desc, and resolves it
 * into a plan. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "core/matrix.h"
#include "stream/desc.h"
#include "surface/surface_internal.h"

enum { ISOVALUES_MAX = 64, LABELS_MAX = 65536 };

const tml_type surface_index_types[] = {TML_VEC(TML_F32, 2), TML_TYPE_NONE};

static tml_status invalid(tml_context *tml, const char *what)
{
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "tml_surface: %s", what);
}

/* Checks spacing and direction. A zeroed spacing becomes 1, a zeroed direction the identity. */
tml_status surface_resolve_grid(tml_context *tml, const char *call, const tml_grid *grid,
                                tml_grid *out)
{
    *out = *grid;
    bool no_direction = true;
    for (int i = 0; i < 9; i++) {
        no_direction = no_direction && grid->direction[i] == 0;
        if (!isfinite(grid->direction[i]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: grid.direction[%d] is not finite", call, i);
    }
    for (int i = 0; i < 3; i++) {
        if (no_direction)
            out->direction[4 * i] = 1;
        if (grid->spacing[0] == 0 && grid->spacing[1] == 0 && grid->spacing[2] == 0)
            out->spacing[i] = 1;
        if (!(out->spacing[i] > 0) || !isfinite(out->spacing[i]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: grid.spacing[%d] is %g, needs a positive number", call, i,
                             out->spacing[i]);
        if (!isfinite(grid->origin[i]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: grid.origin[%d] is not finite",
                             call, i);
    }
    return TML_OK;
}

/* Counts the samples of a grid. Refuses empty grids and grids too large for a buffer. */
tml_status surface_check_dims(tml_context *tml, const char *call, const uint64_t dims[3],
                              uint64_t *count)
{
    if (dims[0] == 0 || dims[1] == 0 || dims[2] == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: grid.dims is %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         ", needs at least one sample on each axis",
                         call, dims[0], dims[1], dims[2]);
    /* The rows of a layer and the columns of a row are numbered with 32 bits. */
    if (dims[0] > INT32_MAX || dims[1] > INT32_MAX || dims[2] > INT32_MAX ||
        dims[0] * dims[1] > UINT32_MAX / 4 || !tml_mul(dims[0] * dims[1], dims[2], count))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: grid.dims is %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         ", 2^30 samples or more in a slice",
                         call, dims[0], dims[1], dims[2]);
    return TML_OK;
}

/* Computes the columns of direction * spacing, and its inverse transpose, for normals. */
tml_status surface_check_axes(tml_context *tml, const char *call, const tml_grid *grid,
                              const double position_origin[3], bool flip, surface_axes *out)
{
    double m[9], inverse[9]; /* m + 3 * a: the step along axis a */
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            m[3 * a + c] = out->step[a][c] = grid->direction[3 * c + a] * grid->spacing[a];
    double determinant = tml_invert3(m, inverse);
    if (determinant == 0 || !isfinite(determinant))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: grid.direction has no inverse: its columns lie in a plane", call);
    for (int c = 0; c < 3; c++) {
        if (!isfinite(position_origin[c]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.position_origin[%d] is not finite", call, c);
        out->origin[c] = grid->origin[c] - position_origin[c];
        for (int a = 0; a < 3; a++)
            out->normal_rows[c][a] = (float)((flip ? 1 : -1) * inverse[3 * c + a]);
    }
    /* A mirrored grid reverses the orientation of all triangles; so does desc.flip. */
    out->flip_winding = (determinant < 0) != flip;
    return TML_OK;
}

tml_status surface_resolve_region(tml_context *tml, const char *call, const tml_region *region,
                                  const uint64_t dims[3], surface_box *box)
{
    for (int a = 0; a < 3; a++) {
        uint64_t first = region->first[a], count = region->count[a];
        if (first >= dims[a] || count > dims[a] - first)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: region on axis %d is [%" PRIu64 ", +%" PRIu64
                             "), outside the volume's %" PRIu64 " samples",
                             call, a, first, count, dims[a]);
        box->first[a] = first;
        box->count[a] = count ? count : dims[a] - first;
    }
    return TML_OK;
}

uint64_t surface_brick_count(const uint64_t dims[3])
{
    return TML_CEIL_DIV(dims[0], SURFACE_BRICK_X) * TML_CEIL_DIV(dims[1], SURFACE_BRICK_Y) *
           TML_CEIL_DIV(dims[2], SURFACE_BRICK_Z);
}

tml_status surface_check_samples(tml_context *tml, const char *call, const char *field,
                                 tml_buffer buffer, const tml_type *types, uint64_t count)
{
    return (surface_engine(tml)->reads_host_volumes ? tml_check_buffer_anywhere : tml_check_buffer)(
        tml, call, field, buffer, types, count);
}

tml_status surface_check_optional(tml_context *tml, const char *call,
                                  const surface_optional *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tml_buffer_is_none(buffers[i].buffer))
            continue;
        tml_status status = (buffers[i].samples ? surface_check_samples : tml_check_buffer)(
            tml, call, buffers[i].field, buffers[i].buffer, buffers[i].types, buffers[i].count);
        if (status != TML_OK)
            return status;
        *buffers[i].slot = tml_slot_of(tml, buffers[i].buffer);
    }
    return TML_OK;
}

tml_status surface_resolve_input(tml_context *tml, const tml_surface_desc *desc, tml_grid *grid,
                                 tml_field_desc *field, surface_plan *plan)
{
    uint64_t count = 0;
    tml_status status = TML_OK;
    bool has_volume = !tml_buffer_is_none(desc->volume);
    if (has_volume == (desc->field != NULL))
        return invalid(tml, "needs either desc.volume or desc.field");
    if (has_volume) {
        if ((status = surface_resolve_grid(tml, "tml_surface", &desc->grid, grid)) != TML_OK ||
            (status = surface_check_dims(tml, "tml_surface", grid->dims, &count)) != TML_OK ||
            (status = surface_check_samples(tml, "tml_surface", "desc.volume", desc->volume,
                                            stream_scalar_types, count)) != TML_OK)
            return status;
        plan->volume = tml_slot_of(tml, desc->volume);
        plan->type = plan->volume->type;
    } else {
        if (!tml_buffer_is_none(desc->mask) || !tml_buffer_is_none(desc->attribute) ||
            !tml_buffer_is_none(desc->index) || desc->label_count || desc->all_labels)
            return tml_error(
                tml, TML_ERROR_UNSUPPORTED,
                "tml_surface: mask, attribute, index and labels need desc.volume; evaluate "
                "the field into one with tml_field");
        if ((status = field_resolve_desc(tml, desc->field, field, NULL)) != TML_OK ||
            (status = surface_resolve_grid(tml, "tml_surface", &field->grid, grid)) != TML_OK ||
            (status = surface_check_dims(tml, "tml_surface", grid->dims, &count)) != TML_OK)
            return status;
        plan->type = TML_F32;
    }
    memcpy(plan->dims, grid->dims, sizeof plan->dims);
    const surface_optional optional[] = {
        {"desc.mask", desc->mask, stream_u8_types, count, &plan->mask, true},
        {"desc.attribute", desc->attribute, stream_scalar_types, count, &plan->attribute, true},
        {"desc.index", desc->index, surface_index_types, surface_brick_count(plan->dims),
         &plan->index, false}};
    return surface_check_optional(tml, "tml_surface", optional, TML_ARRAY_SIZE(optional));
}

/* Makes the parts array, which the caller frees. */
tml_status surface_resolve_parts(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan)
{
    surface_box region = {{0}, {0}};
    tml_status status =
        surface_resolve_region(tml, "tml_surface", &desc->region, plan->dims, &region);
    if (status != TML_OK)
        return status;
    bool labels = surface_wants_labels(desc);
    if (labels && (desc->isovalues || desc->isovalue_count))
        return invalid(tml, "desc has labels and isovalues; give one of them");
    if (desc->label_count && (desc->all_labels || !desc->labels))
        return invalid(tml, "desc.label_count needs desc.labels, and not all_labels");
    if (!labels && (desc->isovalues != NULL) != (desc->isovalue_count > 0))
        return invalid(tml, "desc.isovalues and desc.isovalue_count go together");
    if (desc->isovalue_count > ISOVALUES_MAX || desc->label_count > LABELS_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface: %" PRIu32 " isovalues and %" PRIu32
                         " labels, at most %d and %d; make several calls",
                         desc->isovalue_count, desc->label_count, ISOVALUES_MAX, LABELS_MAX);
    if (labels && tml_type_is_float(plan->type))
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_surface: desc.volume (with labels) has elements of %s, needs integers",
            tml_type_name(plan->type));
    plan->labels = labels;
    plan->all_labels = desc->all_labels;
    plan->part_capacity = desc->all_labels       ? LABELS_MAX
                          : desc->label_count    ? desc->label_count
                          : desc->isovalue_count ? desc->isovalue_count
                                                 : 1;
    plan->parts = tml_alloc_array(tml, plan->part_capacity, sizeof *plan->parts);
    if (!plan->parts)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_surface: no memory for %" PRIu32 " parts", plan->part_capacity);
    plan->part_count = desc->all_labels ? 1 : plan->part_capacity;
    for (uint32_t p = 0; p < plan->part_count; p++) {
        surface_part *part = &plan->parts[p];
        *part = (surface_part){.box = region};
        if (desc->label_count) {
            part->label = desc->labels[p];
            if (surface_label(plan->type, part->label) != part->label)
                return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                                 "tml_surface: desc.labels[%" PRIu32 "] is %" PRIu64
                                 ", which is no value of type %s",
                                 p, part->label, tml_type_name(plan->type));
            if (p && !surface_label_less(plan->type, part[-1].label, part->label))
                return invalid(tml, "desc.labels must ascend, without repeats");
        } else if (!labels) {
            part->iso = desc->isovalues ? desc->isovalues[p] : desc->iso;
            if (!isfinite(part->iso))
                return invalid(tml, "an isovalue is not a finite number");
        }
    }
    /* A word of 64 sign bits must lie in one brick, and bricks begin at column 0 of the volume. */
    if (region.first[0] % SURFACE_BRICK_X != 0 || labels)
        plan->index = NULL;
    return TML_OK;
}

/* Without caps, a box of one sample on an axis has no cell. It is cut to a single sample. */
void surface_drop_flat_parts(surface_plan *plan)
{
    for (uint32_t p = 0; p < plan->part_count; p++) {
        surface_box *box = &plan->parts[p].box;
        for (int a = 0; a < 3 && !plan->caps; a++)
            if (box->count[a] < 2)
                box->count[0] = box->count[1] = box->count[2] = 1;
    }
}

static const desc_range collapse_range = {0, DBL_MAX, "a finite length, or 0 for none"};
static const desc_row rows[] = {
    DESC_ROW(tml_surface_desc, topology, DESC_ENUM, .of = "tml_topology",
             .most = TML_TOPOLOGY_TRILINEAR),
    DESC_ROW(tml_surface_desc, normals, DESC_ENUM, .of = "tml_normals", .most = TML_NORMALS_SOBEL),
    DESC_ROW(tml_surface_desc, collapse, DESC_F64, .range = &collapse_range)};

tml_status surface_check_choices(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                 bool on_host)
{
    tml_surface_desc checked = *desc;
    desc_numbers numbers = {0};
    const tml_status status = desc_check(tml, call, &DESC_TABLE(rows), &checked, &numbers);
    return status || desc->topology == TML_TOPOLOGY_SEPARATED
               ? status
               : surface_check_trilinear(tml, call, desc, on_host);
}
