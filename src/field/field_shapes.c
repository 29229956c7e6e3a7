/* Finds ellipsoids that follow the surface. A map over the points, whose kernel reads the bins as
 * those of tml_field_mean do. */

#include "core/call.h"
#include "field/field_internal.h"
#include "stream/stream_internal.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"
#include "kernels/field_mean.k.h"
/* Uses the formulas above. */
#include "kernels/field_shape.k.h"

#include "field_shape_library.h"

/* clang-format off */
/* p.f: smoothing; shortest over longest axis; radius of a lone point; reach of the moments. p.u[0]:
 * fewest. */
TML_KERNEL_OUTS_WITH(field_shape, (vec3 centre, vec3 diagonal, vec3 others, float density),
                     field_point_shape,
                     (vec3 at, tml_words plan, tml_words points, float density, tml_params p), {
    field_shape shape = field_shape_of(field_mean(at, plan, points, points, FIELD_MEAN_MOMENTS),
                                       p.f[0], p.f[1], p.f[2], F(p.u[0]));
    field_point_shape_out o;
    o.centre = add3(at, scale3(shape.move, p.f[3]));
    o.diagonal = shape.diagonal;
    o.others = shape.others;
    o.density = density * shape.volume;
    return o;
})
/* clang-format on */

#include "kernels/kernel_end.h"

static const char call[] = "tml_field_prepare";

tml_status field_shapes_check(tml_context *tml, const tml_field_desc *field)
{
    if (tml->engine->tier)
        return tml_refuse(tml, call, "no fields");
    if (field->kind != TML_FIELD_KERNEL_SUM || !tml_buffer_is_none(field->radii) ||
        !tml_buffer_is_none(field->shapes[0]))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.shapes needs desc.field.kind KERNEL_SUM, and neither "
                         "desc.field.radii nor shapes: its points have one radius",
                         call);
    return TML_OK;
}

/* Finds the shapes. The neighbourhoods are the kernels of a field that exists only for its bins. */
static tml_status find_shapes(tml_context *tml, const field_shapes_desc *desc, tml_length length)
{
    const double radius = desc->field->radius, reach = 2.0 * radius,
                 step = reach / FIELD_BIN_SAMPLES;
    tml_field_desc near = {.points = desc->field->points,
                           .radius = reach,
                           .grid.spacing = {step, step, step},
                           .length = desc->field->length};
    tml_status status = field_resolve_desc(tml, &near, &near, NULL);
    if (status != TML_OK)
        return status;
    tml_map_desc map = {.kernel = TML_USE(field_point_shape),
                        .params = {.f = {(float)desc->smoothing, (float)(1.0 / desc->ratio),
                                         (float)desc->lone, (float)reach},
                                   .u = {desc->fewest}},
                        .in = {desc->field->points, {0, 0}, {0, 0}, desc->field->densities},
                        .out = {desc->centres, desc->shapes[0], desc->shapes[1], desc->densities},
                        .length = length};
    return field_map_near(tml, call, &near, &map);
}

tml_status field_shapes_find(tml_context *tml, const field_shapes_desc *desc)
{
    const tml_length length = desc->field->length; /* is resolved */
    return length.count ? find_shapes(tml, desc, length) : TML_OK;
}
