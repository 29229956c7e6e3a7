/* From a points' file to a mesh's file: tml_points_to_mesh.
 *
 * Order: read -> positions near 0 -> field (tml_field_prepare) -> the caller's decision -> surface,
 * in slabs (tml_surface_save) or whole (tml_surface_save_whole).
 *
 * Positions are counted from an origin of the points' own, since floats are coarse far from 0. The
 * lattice goes through the file's 0 all the same, so that frames of a fluid share it. */
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
    tml_surface_desc surface;
    tml_points_mesh_result *out;
} points_conversion;

static void points_add_stage(points_conversion *c, const char *name, double start)
{
    c->out->stages[c->out->stage_count++] =
        (tml_surface_stage){.name = name, .seconds = tml_io_seconds() - start};
}

static tml_status points_load(points_conversion *c, const char *path)
{
    tml_points *p = &c->out->points;
    const double start = tml_io_seconds();
    tml_load_desc load = c->desc->load ? *c->desc->load : (tml_load_desc){0};
    load.recenter = true;
    tml_status status = tml_points_load(c->tml, path, &load, p);
    points_add_stage(c, "load", start);
    return status;
}

/* A buffer over the points' memory, where the engine reads it from the host. */
static tml_status points_lend(const points_conversion *c, tml_type type, void *data,
                              const char *label, tml_buffer *out)
{
    tml_device_info device;
    tml_buffer_desc desc = {.type = type, .count = c->out->points.count, .label = label};
    tml_context_describe(c->tml, &device);
    if (device.engine != TML_ENGINE_GL && desc.count)
        desc.host = data;
    else
        desc.data = data;
    return tml_buffer_create(c->tml, &desc, out);
}

/* ---- the field ------------------------------------------------------------------------------- */

/* Places of the file's coordinates, from the points' origin. */
static void place_grid(const points_conversion *c, tml_field_desc *field)
{
    const double *origin = c->out->points.origin;
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
    const tml_points *p = &c->out->points;
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
    c->out->field = c->field.balls;
    c->out->isovalue = desc->isovalues && desc->isovalue_count ? desc->isovalues[0] : c->field.iso;
    points_add_stage(c, "spacing", start);
    return status;
}

/* What the points carry. */
static tml_status lend_carried(points_conversion *c)
{
    const tml_points *p = &c->out->points;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < p->attribute_count && status == TML_OK; i++) {
        const tml_point_attribute *from = &p->attributes[i];
        const uint32_t n = c->attribute_count;
        if (!from->values)
            continue;
        if (n == TML_MESH_MAX_ATTRIBUTES)
            return tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.load names more than the %d attributes that a mesh has",
                             call, TML_MESH_MAX_ATTRIBUTES);
        c->attributes[n] = (tml_mesh_attribute){.name = from->name, .components = from->components};
        c->attribute_count++;
        status = points_lend(c, from->components > 1 ? TML_VEC(TML_F32, from->components) : TML_F32,
                             from->values, from->name, &c->carried[n]);
    }
    return status;
}

/* ---- the surface ----------------------------------------------------------------------------- */

static void describe_surface(points_conversion *c)
{
    const tml_points_mesh_desc *desc = c->desc;
    const double *spacing = c->field.field.grid.spacing;
    c->surface = (tml_surface_desc){.field = &c->field.field,
                                    .region = desc->surface.region,
                                    .iso = c->field.iso,
                                    .isovalues = desc->isovalue_count ? desc->isovalues : NULL,
                                    .isovalue_count = desc->isovalues ? desc->isovalue_count : 0,
                                    .topology = desc->surface.topology,
                                    .normals = desc->surface.normals,
                                    .soup = desc->surface.soup,
                                    .caps = desc->surface.caps,
                                    .flip = desc->surface.flip,
                                    .indices64 = desc->surface.indices64,
                                    .drop_degenerate = desc->surface.drop_degenerate,
                                    .largest_component = desc->surface.largest_component,
                                    .collapse = desc->collapse *
                                                fmin(spacing[0], fmin(spacing[1], spacing[2]))};
}

static tml_status save_slabs(points_conversion *c, const char *path)
{
    const tml_surface_save_desc *given = c->desc->slabs;
    tml_surface_saved saved;
    tml_surface_save_desc desc = {.slabs = {.surface = &c->surface,
                                            .write = given->slabs.write,
                                            .user = given->slabs.user,
                                            .memory = given->slabs.memory,
                                            .slab_layers = given->slabs.slab_layers,
                                            .components = c->desc->components},
                                  .mesh = {.attributes = c->attributes,
                                           .attribute_count = c->attribute_count,
                                           .comment = c->desc->comment,
                                           .up = c->desc->up,
                                           .edit = given->mesh.edit,
                                           .user = given->mesh.user,
                                           .team = given->mesh.team},
                                  .keeps_empty = c->desc->keeps_empty};
    memcpy(desc.mesh.origin, c->out->points.origin, sizeof desc.mesh.origin);
    memcpy(desc.slabs.field_values, c->carried, sizeof c->carried);
    const double start = tml_io_seconds();
    tml_status status = tml_surface_save(c->tml, path, &desc, &saved);
    c->out->whole.seconds = tml_io_seconds() - start;
    c->out->whole.surface = saved.surface;
    c->out->whole.is_empty = saved.is_empty;
    c->out->whole.failed = saved.failed;
    return status;
}

static tml_status save_whole(points_conversion *c, const char *path)
{
    tml_surface_whole_desc desc = {.surface = &c->surface,
                                   .field = &c->field.balls,
                                   .smooth = c->desc->smooth,
                                   .mesh = {.attributes = c->attributes,
                                            .attribute_count = c->attribute_count,
                                            .comment = c->desc->comment,
                                            .up = c->desc->up},
                                   .components = c->desc->components,
                                   .keeps_empty = c->desc->keeps_empty,
                                   .edit = c->desc->edit,
                                   .user = c->desc->user};
    memcpy(desc.mesh.origin, c->out->points.origin, sizeof desc.mesh.origin);
    memcpy(desc.field_values, c->carried, sizeof c->carried);
    return tml_surface_save_whole(c->tml, path, &desc, &c->out->whole);
}

static tml_status points_save(points_conversion *c, const char *path)
{
    const tml_points_mesh_desc *desc = c->desc;
    bool in_slabs = desc->slabs != NULL;
    tml_status status = desc->decide ? desc->decide(desc->user, c->out, &in_slabs) : TML_OK;
    if (status != TML_OK)
        return status;
    c->out->in_slabs = in_slabs = in_slabs && desc->slabs;
    if (in_slabs && (!path || desc->smooth || desc->collapse > 0))
        return tml_error(c->tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.slabs needs a mesh's path, and excludes desc.smooth and "
                         "desc.collapse: in slabs there is never a whole mesh",
                         call);
    describe_surface(c);
    return in_slabs ? save_slabs(c, path) : save_whole(c, path);
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status points_run(points_conversion *c, const char *path, const char *mesh_path)
{
    const tml_points *p = &c->out->points;
    tml_side *failed = &c->out->whole.failed;
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
                              const tml_points_mesh_desc *desc, tml_points_mesh_result *out)
{
    static const tml_points_mesh_desc defaults;
    memset(out, 0, sizeof *out);
    points_conversion c = {.tml = tml, .desc = desc ? desc : &defaults, .out = out};
    tml_status status = points_run(&c, path, mesh_path);
    tml_field_prepared_free(tml, &c.field);
    tml_buffer_destroy(tml, c.points);
    tml_buffer_destroy(tml, c.radii);
    for (uint32_t i = 0; i < c.attribute_count; i++)
        tml_buffer_destroy(tml, c.carried[i]);
    out->field.points = out->field.radii = out->field.densities = (tml_buffer){0, 0};
    tml_points said = out->points;
    tml_points_free(tml, &out->points);
    said.positions = said.radii = said.values = NULL;
    said.attributes = NULL;
    said.attribute_count = 0;
    out->points = said;
    return status;
}

void tml_points_mesh_free(tml_context *tml, tml_points_mesh_result *result)
{
    tml_surface_whole_free(tml, &result->whole);
}
