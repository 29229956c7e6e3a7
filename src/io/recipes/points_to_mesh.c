/* Makes a mesh file from a file of points: tml_points_to_mesh.
 *
 * Order: read -> positions near 0 -> field (tml_field_prepare) -> the caller's decision -> surface
 * (tml_surface_save).
 *
 * Positions are relative to an origin near the points, since floats are coarse far from 0. The
 * lattice passes through the file's 0 all the same, so that frames of a fluid share it. */
#include <math.h>

#include <trommel/points.h>

#include "io/io_internal.h"
#include "io/io_system.h"
#include "io/recipes/surface_save.h"

static const char call[] = "tml_points_to_mesh";

typedef struct points_conversion {
    tml_context *tml;
    const tml_points_mesh_desc *desc;
    tml_buffer points, radii, carried[TML_MESH_MAX_ATTRIBUTES];
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES];
    uint32_t attribute_count;
    tml_field_prepared field;
    tml_surface_desc given, surface;
    tml_points read;
    tml_surface_saved *out;
} points_conversion;

static void points_add_stage(points_conversion *c, const char *name, double start)
{
    c->out->stages[c->out->stage_count++] =
        (tml_surface_stage){.name = name, .seconds = tml_io_seconds() - start};
}

static tml_status points_load(points_conversion *c, const char *path)
{
    tml_points *p = &c->read;
    const double start = tml_io_seconds();
    tml_load_desc load = c->desc->load ? *c->desc->load : (tml_load_desc){0};
    load.recenter = true;
    tml_status status = tml_points_load(c->tml, path, &load, p);
    points_add_stage(c, "load", start);
    return status;
}

/* Creates a buffer of the points' memory, in place unless the engine is OpenGL. */
static tml_status points_lend(const points_conversion *c, tml_type type, void *data,
                              const char *label, tml_buffer *out)
{
    tml_device_info device;
    tml_buffer_desc desc = {.type = type, .count = c->read.count, .label = label};
    tml_context_describe(c->tml, &device);
    if (device.engine != TML_ENGINE_GL && desc.count)
        desc.host = data;
    else
        desc.data = data;
    return tml_buffer_create(c->tml, &desc, out);
}

/* ---- the field ------------------------------------------------------------------------------- */

/* Makes the grid and the box relative to the points' origin. */
static void place_grid(const points_conversion *c, tml_field_desc *field)
{
    const double *origin = c->read.origin;
    const bool has_spacing = field->grid.spacing[0] > 0 || c->desc->cell > 0;
    if (!field->resolution && !has_spacing)
        field->resolution = TML_POINTS_RESOLUTION;
    for (int axis = 0; axis < 3; axis++) {
        const bool is_given = field->lower[axis] != 0 || field->upper[axis] != 0;
        field->grid.origin[axis] = -origin[axis];
        field->lower[axis] -= is_given ? origin[axis] : 0;
        field->upper[axis] -= is_given ? origin[axis] : 0;
    }
}

static tml_status points_prepare(points_conversion *c)
{
    const tml_points_mesh_desc *desc = c->desc;
    const tml_points *p = &c->read;
    const bool is_shaped = desc->kind == TML_POINTS_ANISOTROPIC;
    const bool is_density = desc->kind == TML_POINTS_DENSITY || is_shaped;
    const double start = tml_io_seconds();
    tml_field_prepare_desc prepare = {
        .field = {.radius = desc->field.radius,
                  .kind =
                      desc->kind == TML_POINTS_DISTANCE ? TML_FIELD_DISTANCE : TML_FIELD_KERNEL_SUM,
                  .kernel = is_density ? TML_FIELD_CUBIC_SPLINE : desc->field.kernel,
                  .margin = desc->field.margin,
                  .resolution = desc->field.resolution},
        .cell = desc->cell,
        .densities = is_density,
        .shapes = is_shaped};
    tml_field_desc *field = &prepare.field;
    memcpy(field->grid.spacing, desc->field.grid.spacing, sizeof field->grid.spacing);
    memcpy(field->lower, desc->field.lower, sizeof field->lower);
    memcpy(field->upper, desc->field.upper, sizeof field->upper);
    place_grid(c, field);
    tml_status status = points_lend(c, TML_VEC(TML_F32, 3), p->positions, "points", &c->points);
    if (status == TML_OK && p->radii && desc->field.radius == 0)
        status = points_lend(c, TML_F32, p->radii, "radii", &c->radii);
    field->points = c->points;
    field->radii = c->radii;
    TML_THEN(status, tml_field_prepare(c->tml, &prepare, &c->field));
    c->out->isovalue = c->given.isovalue_count ? c->given.isovalues[0] : c->field.iso;
    points_add_stage(c, "spacing", start);
    return status;
}

/* Creates buffers of the attributes. */
static tml_status lend_carried(points_conversion *c)
{
    const tml_points *p = &c->read;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < p->attribute_count && status == TML_OK; i++) {
        const tml_mesh_attribute *from = &p->attributes[i];
        const uint32_t n = c->attribute_count;
        if (!from->data)
            continue;
        if (n == TML_MESH_MAX_ATTRIBUTES)
            return tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.load names more than the %d attributes that a mesh has",
                             call, TML_MESH_MAX_ATTRIBUTES);
        c->attributes[n] = (tml_mesh_attribute){.name = from->name, .components = from->components};
        c->attribute_count++;
        status = points_lend(c, from->components > 1 ? TML_VEC(TML_F32, from->components) : TML_F32,
                             from->data, from->name, &c->carried[n]);
    }
    return status;
}

/* ---- the surface ----------------------------------------------------------------------------- */

static void describe_surface(points_conversion *c)
{
    const tml_surface_desc *given = &c->given;
    const double *spacing = c->field.field.grid.spacing;
    c->surface = (tml_surface_desc){.field = &c->field.field,
                                    .region = given->region,
                                    .iso = c->field.iso,
                                    .isovalues = given->isovalues,
                                    .isovalue_count = given->isovalue_count,
                                    .topology = given->topology,
                                    .normals = given->normals,
                                    .soup = given->soup,
                                    .caps = given->caps,
                                    .flip = given->flip,
                                    .indices64 = given->indices64,
                                    .drop_degenerate = given->drop_degenerate,
                                    .largest_component = given->largest_component,
                                    .collapse = c->desc->collapse *
                                                fmin(spacing[0], fmin(spacing[1], spacing[2]))};
}

static tml_status points_save(points_conversion *c, const char *path)
{
    const tml_points_mesh_desc *desc = c->desc;
    tml_surface_save_desc save = desc->save;
    tml_status status =
        desc->decide ? desc->decide(desc->user, &c->read, &c->field.balls, c->out, &save) : TML_OK;
    if (status != TML_OK)
        return status;
    if (save.making == TML_MAKE_SLABS && (!path || save.smooth || desc->collapse > 0))
        return tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.save.making: in slabs there is never a whole mesh: they need a "
                         "mesh's path, and exclude desc.save.smooth and desc.collapse",
                         call);
    describe_surface(c);
    save = save_of_recipe(&save);
    save.making = save.making == TML_MAKE_SLABS ? TML_MAKE_SLABS : TML_MAKE_WHOLE;
    save.slabs.surface = &c->surface;
    memcpy(save.slabs.field_values, c->carried, sizeof c->carried);
    save.field = &c->field.balls;
    save.file.mesh.attributes = c->attributes;
    save.file.mesh.attribute_count = c->attribute_count;
    memcpy(save.file.mesh.origin, c->read.origin, sizeof save.file.mesh.origin);
    return tml_surface_save_more(c->tml, path, &save, c->out);
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status points_run(points_conversion *c, const char *path, const char *mesh_path)
{
    const tml_points *p = &c->read;
    tml_side *failed = &c->out->failed;
    *failed = TML_SIDE_SOURCE;
    tml_status status = points_load(c, path);
    if (status != TML_OK)
        return status;
    *failed = TML_SIDE_SURFACE;
    if (c->desc->kind == TML_POINTS_ANISOTROPIC && p->radii && c->desc->field.radius == 0)
        return tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s: an anisotropic field, and the points have radii of their own; "
                         "give them one by desc.field.radius",
                         call, path);
    status = points_prepare(c);
    TML_THEN(status, lend_carried(c));
    if (status != TML_OK)
        return status;
    *failed = TML_SIDE_NONE;
    return save_fails(failed, TML_SIDE_SURFACE, points_save(c, mesh_path));
}

tml_status tml_points_to_mesh(tml_context *tml, const char *path, const char *mesh_path,
                              const tml_points_mesh_desc *desc, tml_points *points,
                              tml_field_desc *field, tml_surface_saved *out)
{
    static const tml_points_mesh_desc defaults;
    memset(out, 0, sizeof *out);
    points_conversion c = {.tml = tml, .desc = desc ? desc : &defaults, .out = out};
    if (c.desc->save.slabs.surface)
        c.given = *c.desc->save.slabs.surface;
    if (!c.given.isovalues || !c.given.isovalue_count) {
        c.given.isovalues = NULL;
        c.given.isovalue_count = 0;
    }
    tml_status status = points_run(&c, path, mesh_path);
    if (field) {
        *field = c.field.balls;
        field->points = field->radii = field->densities = (tml_buffer){0, 0};
    }
    tml_field_prepared_free(tml, &c.field);
    tml_buffer_destroy(tml, c.points);
    tml_buffer_destroy(tml, c.radii);
    for (uint32_t i = 0; i < c.attribute_count; i++)
        tml_buffer_destroy(tml, c.carried[i]);
    if (points) {
        *points = c.read;
        points->positions = points->radii = points->values = NULL;
        points->attributes = NULL;
        points->attribute_count = 0;
    }
    tml_points_free(tml, &c.read);
    return status;
}
