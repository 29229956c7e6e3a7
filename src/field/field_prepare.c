/* tml_field_prepare: makes a field of points ready for a surface.
 *
 * Order: radius, if the spacing is a share of it -> grid -> densities, over the points that reach
 * into the grid's box -> shapes, on the same grid. */
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "field/field_internal.h"
#include "stream/desc.h"

static const char call[] = "tml_field_prepare";

static const desc_row rows[] = {
    DESC_ROW(tml_field_prepare_desc, cell, DESC_F64,
             .range = &(const desc_range){0, 1e30, "a share of the radius, such as 0.25"}),
    DESC_ROW(tml_field_prepare_desc, smoothing, DESC_F64,
             .range = &(const desc_range){0, 1, "0 to 1, or 0 for 0.9"}),
    DESC_ROW(tml_field_prepare_desc, ratio, DESC_F64, .is_optional = true,
             .range = &(const desc_range){1, 64, "1 to 64, or 0 for 4"}),
    DESC_ROW(tml_field_prepare_desc, lone, DESC_F64, .is_optional = true,
             .range =
                 &(const desc_range){0.125, TML_FIELD_SHAPES_REACH, "0.125 to 1.5, or 0 for 0.5"})};

/* Sets the radius, and the spacing as a share of it. */
static tml_status choose_cell(tml_context *tml, double cell, tml_field_desc *field)
{
    tml_field_desc any = *field, resolved;
    if (cell == 0)
        return TML_OK;
    any.resolution = 0;
    memset(any.grid.spacing, 0, sizeof any.grid.spacing);
    tml_status status = field->radius > 0 ? TML_OK : field_resolve_desc(tml, &any, &resolved, NULL);
    if (status != TML_OK)
        return status;
    field->radius = field->radius > 0 ? field->radius : resolved.radius;
    for (int axis = 0; axis < 3; axis++)
        field->grid.spacing[axis] = cell * field->radius;
    return TML_OK;
}

/* Finds densities, and the isovalue of a field with densities. Uses the lattice and the box that
 * the caller gave. */
static tml_status find_densities(tml_context *tml, const tml_field_desc *given,
                                 tml_field_prepared *out)
{
    tml_field_desc all = out->balls;
    const uint64_t count = tml_slot_of(tml, given->points)->count;
    memcpy(all.grid.origin, given->grid.origin, sizeof all.grid.origin);
    memcpy(all.lower, given->lower, sizeof all.lower);
    memcpy(all.upper, given->upper, sizeof all.upper);
    tml_status status = tml_buffer_make(tml, TML_F32, count, NULL, "densities", &out->owned[0]);
    TML_THEN(status, field_densities_find(tml, &all, out->owned[0]));
    out->balls.densities = out->owned[0];
    return status ? status : field_resolve_desc(tml, &out->balls, &out->balls, &out->iso);
}

/* Makes the field of ellipsoids, on the grid of the field of balls. */
static tml_status make_shapes(tml_context *tml, field_shapes_desc desc, tml_field_prepared *out)
{
    static const char *const labels[] = {"centres", "densities", "shapes", "shapes"};
    tml_field_desc balls = out->balls, *field = &out->field;
    tml_buffer *made = out->owned + 1, copy = {0, 0};
    const tml_slot *points = tml_slot_of(tml, balls.points);
    tml_status status = TML_OK;
    for (int i = 0; i < 4 && status == TML_OK; i++)
        status = tml_buffer_make(tml, i == 1 ? TML_F32 : TML_VEC(TML_F32, 3), points->count, NULL,
                                 labels[i], &made[i]);
    if (status == TML_OK && points->on_host) {
        status = tml_copy_to_device(tml, balls.points, "points", &copy);
        balls.points = copy;
    }
    desc.field = &balls;
    desc.centres = made[0];
    desc.densities = made[1];
    memcpy(desc.shapes, made + 2, sizeof desc.shapes);
    TML_THEN(status, field_shapes_find(tml, &desc));
    tml_buffer_destroy(tml, copy);
    field->points = desc.centres;
    field->densities = desc.densities;
    memcpy(field->shapes, desc.shapes, sizeof field->shapes);
    field->radius *= TML_FIELD_SHAPES_REACH;
    return status;
}

static tml_status field_prepare_run(tml_context *tml, const tml_field_prepare_desc *desc,
                                    tml_field_prepared *out)
{
    const bool has_densities = !tml_buffer_is_none(desc->field.densities);
    tml_field_prepare_desc d = *desc;
    tml_field_desc field = d.field;
    const field_shapes_desc shapes = {.smoothing = d.smoothing != 0 ? d.smoothing : 0.9,
                                      .ratio = d.ratio != 0 ? d.ratio : 4,
                                      .lone = d.lone != 0 ? d.lone : 0.5,
                                      .fewest = d.fewest ? d.fewest : 12};
    desc_numbers numbers = {0};
    tml_status status =
        tml_refuse_recording(tml, call, "prepare the field before; the host looks at the points");
    TML_THEN(status, desc_check(tml, call, &DESC_TABLE(rows), &d, &numbers));
    if (status == TML_OK && d.shapes && !d.densities && !has_densities)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: desc.shapes needs desc.densities, or desc.field.densities", call);
    if (FIELD_HAS_WEIGHTS && d.shapes)
        TML_THEN(status, field_shapes_check(tml, &field));
    TML_THEN(status, choose_cell(tml, d.cell, &field));
    TML_THEN(status, field_resolve_desc(tml, &field, &out->balls, &out->iso));
    if (FIELD_HAS_WEIGHTS && status == TML_OK && d.densities && !has_densities)
        status = find_densities(tml, &field, out);
    out->field = out->balls;
    out->balls.shapes[0] = out->balls.shapes[1] = (tml_buffer){0, 0};
    if (FIELD_HAS_WEIGHTS && status == TML_OK && d.shapes)
        status = make_shapes(tml, shapes, out);
    if (status != TML_OK)
        tml_field_prepared_free(tml, out);
    return status;
}

tml_status tml_field_prepare(tml_context *tml, const tml_field_prepare_desc *desc,
                             tml_field_prepared *out)
{
    if (out)
        memset(out, 0, sizeof *out);
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, field_prepare_run(tml, desc, out));
}

void tml_field_prepared_free(tml_context *tml, tml_field_prepared *prepared)
{
    if (!tml || !prepared)
        return;
    for (size_t i = 0; i < TML_ARRAY_SIZE(prepared->owned); i++)
        tml_buffer_destroy(tml, prepared->owned[i]);
    memset(prepared, 0, sizeof *prepared);
}
