/* Isosurfaces in slabs: the engine's part runs COUNT and EMIT on a plan of the slab's layers.
 *
 * A slab emits the vertices on edges whose lower end is in an own layer, and the triangles of cells
 * whose lowest corner is in one. The halo is described in surface_space.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream/stream_internal.h"
#include "surface/slab_isosurface.h"
#include "surface/surface_space.h"

enum {
    PIECE_POSITIONS,
    PIECE_NORMALS,
    PIECE_VALUES,
    PIECE_INDICES,
    PIECE_MEANS,
    PIECE_ARRAYS = PIECE_MEANS + TML_FIELD_MAX_ATTRIBUTES
};
_Static_assert((int)TML_FIELD_MAX_ATTRIBUTES <= (int)TML_MESH_MAX_ATTRIBUTES,
               "a piece has room for the means");

typedef struct isosurface_slabs {
    surface_plan plan;
    void *kept; /* plan.kept */
    tml_field_desc field;
    field_means *means; /* of desc.field_values; NULL: none */
    /* The outputs of the current slab; the parts follow one another in each array. */
    tml_type types[PIECE_ARRAYS]; /* TML_TYPE_NONE: not requested */
    tml_buffer buffers[PIECE_ARRAYS];
    uint8_t *memory[PIECE_ARRAYS]; /* the mapped buffer, or a copy */
    size_t copied[PIECE_ARRAYS];   /* bytes of the copy; 0: mapped */
} isosurface_slabs;

/* ---- checks ---------------------------------------------------------------------------------- */

static tml_status check_options(tml_context *tml, const tml_surface_slabs_desc *desc)
{
    const tml_surface_desc *surface = desc->surface;
    if (!surface_engine(tml)->takes_slabs)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_slabs: the %s engine does not take slabs; open the CPU or "
                         "the Vulkan engine",
                         tml->engine->name);
    if (surface->field && !surface_engine(tml)->numbers_slabs)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_slabs: desc.surface.field: the %s engine takes no slabs of "
                         "fields; open the CPU engine",
                         tml->engine->name);
    if (surface->all_labels || surface->largest_component || surface->drop_degenerate ||
        surface->collapse > 0)
        return slab_error(
            tml, TML_ERROR_UNSUPPORTED,
            "desc.surface asks for all_labels, largest_component, collapse or "
            "drop_degenerate, which need the whole volume or mesh; tml_surface has it");
    if (SURFACE_LAYOUTS &&
        (surface->layout.stride || surface->layout.octahedral_normals || surface->layout.indices16))
        return slab_error(tml, TML_ERROR_UNSUPPORTED,
                          "desc.surface.layout asks for stride, octahedral_normals or indices16; "
                          "pieces are packed arrays");
    if (surface->cells)
        return slab_error(tml, TML_ERROR_UNSUPPORTED,
                          "desc.surface.cells: pieces have none; tml_surface makes them");
    if (surface->field &&
        (!tml_buffer_is_none(surface->volume) || desc->type || !tml_buffer_is_none(surface->mask) ||
         desc->has_mask || !tml_buffer_is_none(surface->attribute) || desc->attribute_type ||
         !tml_buffer_is_none(surface->index) || surface->label_count))
        return slab_error(tml, TML_ERROR_UNSUPPORTED,
                          "desc.surface.field stands instead of a volume, and has no mask, "
                          "attribute, index or labels");
    if (!surface->field && slab_has_field_values(desc))
        return slab_error(tml, TML_ERROR_INVALID_ARGUMENT,
                          "desc.field_values are of a field's points; needs desc.surface.field");
    if (!tml_buffer_is_none(surface->mesh.positions) ||
        !tml_buffer_is_none(surface->mesh.normals) || !tml_buffer_is_none(surface->mesh.values) ||
        !tml_buffer_is_none(surface->mesh.indices) || !tml_buffer_is_none(surface->triangle_cells))
        return slab_error(tml, TML_ERROR_INVALID_ARGUMENT,
                          "desc.surface has output buffers; the mesh goes to desc.write");
    tml_status status = surface_refuse_enqueued(tml, "tml_surface_slabs", surface);
    TML_THEN(status, surface_check_choices(tml, "tml_surface_slabs", surface, false));
    return status;
}

/* Resolves volume, mask and attribute, buffers of the whole volume or read, and the brick index. */
static tml_status resolve_samples(slab_producer *p, uint64_t count)
{
    const tml_surface_slabs_desc *desc = p->desc;
    const tml_surface_desc *surface = desc->surface;
    surface_plan *plan = &((isosurface_slabs *)p->state)->plan;
    const slab_given given[SLAB_SOURCES] = {
        {"desc.surface.volume", surface->volume, desc->type},
        {"desc.surface.mask", surface->mask, desc->has_mask ? TML_U8 : TML_TYPE_NONE},
        {"desc.surface.attribute", surface->attribute, desc->attribute_type}};
    const surface_optional buffers[] = {
        {given[0].field, given[0].buffer, stream_scalar_types, count, &plan->volume, true},
        {given[1].field, given[1].buffer, stream_u8_types, count, &plan->mask, true},
        {given[2].field, given[2].buffer, stream_scalar_types, count, &plan->attribute, true},
        {"desc.surface.index", surface->index, surface_index_types, surface_brick_count(plan->dims),
         &plan->index, false}};
    tml_status status = slab_samples_resolve(p, given, plan->dims);
    TML_THEN(status,
             surface_check_optional(p->tml, "tml_surface_slabs", buffers, TML_ARRAY_SIZE(buffers)));
    if (status == TML_OK)
        plan->type = p->samples.field   ? TML_F32
                     : p->samples.reads ? desc->type
                                        : plan->volume->type;
    return status;
}

/* Checks desc.field_values, and stores their types. */
static tml_status resolve_field_values(slab_producer *p, isosurface_slabs *iso)
{
    tml_status status = TML_OK;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES && status == TML_OK; i++) {
        const tml_buffer values = p->desc->field_values[i];
        char name[32];
        if (tml_buffer_is_none(values))
            continue;
        snprintf(name, sizeof name, "desc.field_values[%d]", i);
        status = field_means_check(p->tml, &iso->field, "tml_surface_slabs", name, values);
        tml_buffer_describe(p->tml, values, &iso->types[PIECE_MEANS + i], NULL);
    }
    return status;
}

static tml_status resolve_isosurface(slab_producer *p, isosurface_slabs *iso)
{
    const tml_surface_desc *surface = p->desc->surface;
    surface_plan *plan = &iso->plan;
    tml_grid grid = {0};
    uint64_t count = 0;
    iso->field.grid = surface->grid;
    tml_status status = check_options(p->tml, p->desc);
    if (status == TML_OK && surface->field) {
        status = field_resolve_desc(p->tml, surface->field, &iso->field, NULL);
        p->samples.field = &iso->field;
    }
    TML_THEN(status, surface_resolve_grid(p->tml, "tml_surface_slabs", &iso->field.grid, &grid));
    TML_THEN(status, surface_check_dims(p->tml, "tml_surface_slabs", grid.dims, &count));
    memcpy(plan->dims, grid.dims, sizeof grid.dims);
    TML_THEN(status, resolve_samples(p, count));
    TML_THEN(status, surface_check_axes(p->tml, "tml_surface", &grid, surface->position_origin,
                                        surface->flip, &plan->axes));
    TML_THEN(status, surface_resolve_parts(p->tml, surface, plan));
    if (status == TML_OK && surface->field)
        status = resolve_field_values(p, iso);
    return status;
}

static tml_status describe_parts(slab_producer *p, const surface_plan *plan)
{
    p->parts = tml_alloc_array(p->tml, plan->part_count, sizeof *p->parts);
    if (!p->parts)
        return slab_error(p->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the table of parts");
    p->part_count = plan->part_count;
    p->region = plan->parts[0].box;
    for (uint32_t i = 0; i < plan->part_count; i++)
        p->parts[i] = (slab_part){.value = surface_part_value(plan, &plan->parts[i]),
                                  .label = plan->labels ? plan->parts[i].label : 0};
    return TML_OK;
}

static void describe_pieces(slab_producer *p, isosurface_slabs *iso)
{
    const surface_plan *plan = &iso->plan;
    const bool has_values = plan->attribute || p->desc->attribute_type;
    iso->types[PIECE_POSITIONS] = TML_VEC(TML_F32, 3);
    iso->types[PIECE_NORMALS] = plan->normals ? TML_VEC(TML_F32, 3) : TML_TYPE_NONE;
    iso->types[PIECE_VALUES] = has_values ? TML_F32 : TML_TYPE_NONE;
    iso->types[PIECE_INDICES] = TML_VEC(plan->indices64 ? TML_U64 : TML_U32, 3);
    for (int i = 0; i < PIECE_ARRAYS; i++)
        if (i != PIECE_INDICES && iso->types[i])
            p->vertex_size += tml_type_size(iso->types[i]);
    /* With TRILINEAR, two bytes per open cell hold its mesh, which has at least two triangles. */
    p->triangle_size = tml_type_size(iso->types[PIECE_INDICES]) + plan->trilinear;
    /* A sample, including a pad's, owns at most three edges and one cell. The cell has at most five
     * triangles; with TRILINEAR, at most 24 triangles and six vertices of its own. */
    p->vertices_most = plan->trilinear ? 9 : 3;
    p->triangles_most = plan->trilinear ? 24 : 6;
}

/* ---- slabs ----------------------------------------------------------------------------------- */

static tml_status isosurface_begin(slab_producer *p)
{
    isosurface_slabs *iso = p->state;
    tml_buffer all[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t count = 0;
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        if (iso->types[PIECE_MEANS + i])
            all[count++] = p->desc->field_values[i];
    return count ? field_means_create(p->tml, &iso->field, p->desc->surface->position_origin, all,
                                      count, &iso->means)
                 : TML_OK;
}

static uint64_t isosurface_scratch_size(slab_producer *p, uint64_t held)
{
    surface_plan *plan = &((isosurface_slabs *)p->state)->plan;
    const tml_engine_op *op = surface_engine(p->tml)->op;
    for (uint32_t i = 0; i < plan->part_count; i++) { /* scratch as for a region of held layers */
        surface_part *part = &plan->parts[i];
        *part = (surface_part){.iso = part->iso, .label = part->label, .box = p->region};
        part->box.count[2] = TML_MIN_OF(held, p->region.count[2]);
    }
    plan->stage = SURFACE_COUNT;
    uint64_t size = op->scratch_size ? op->scratch_size(p->tml, plan) : 0;
    if (surface_may_miss(plan) || p->desc->has_mask) /* bits for missing samples */
        size += held * plan->dims[0] * plan->dims[1] / 4;
    return size;
}

/* Cuts a part to the slab with these own layers, plus its halo. */
static void cut_part(const slab_producer *p, const surface_plan *plan, const slab_layers *at,
                     surface_part *part)
{
    surface_space region = surface_space_of(plan, &(surface_part){.box = p->region});
    surface_slab cut = surface_slab_of(&region, at->own_first, at->own_end, true);
    part->box = p->region;
    part->box.first[2] = cut.z_first;
    part->box.count[2] = cut.to - cut.from - cut.pad_low - cut.pad_high;
    part->no_pad_below = !cut.pad_low;
    part->no_pad_above = !cut.pad_high;
    part->before = (uint32_t)(cut.own_first - cut.from);
    part->after = (uint32_t)(cut.to - cut.own_end);
}

static tml_status isosurface_count(slab_producer *p, const slab_layers *at)
{
    surface_plan *plan = &((isosurface_slabs *)p->state)->plan;
    const tml_slot **const slots[SLAB_SOURCES] = {&plan->volume, &plan->mask, &plan->attribute};
    const double middle = (at->from + at->to) / 2;
    for (int i = 0; i < SLAB_SOURCES; i++)
        *slots[i] = tml_slot_of(p->tml, at->samples[i]);
    plan->held_first = at->held_first;
    plan->held_count = at->held_end - at->held_first;
    for (uint32_t i = 0; i < plan->part_count; i++)
        cut_part(p, plan, at, &plan->parts[i]);
    tml_status status = surface_run_stage(p->tml, plan, SURFACE_COUNT, at->from, middle);
    p->progress = middle;
    p->result->scratch_size = TML_MAX_OF(p->result->scratch_size, p->tml->scratch_size);
    for (uint32_t i = 0; i < plan->part_count; i++) {
        p->parts[i].vertex_count = plan->parts[i].vertex_count;
        p->parts[i].triangle_count = plan->parts[i].triangle_count;
        p->parts[i].active_cells = plan->parts[i].active_cells;
    }
    return status;
}

/* Maps an output of an engine whose memory is on the host. Copies the output of another engine, as
 * unmapping it would write it back to the device. */
static tml_status piece_fetch(slab_producer *p, isosurface_slabs *iso, int array)
{
    const tml_slot *slot = tml_slot_of(p->tml, iso->buffers[array]);
    if (surface_engine(p->tml)->numbers_slabs)
        return tml_buffer_map(p->tml, iso->buffers[array], (void **)&iso->memory[array]);
    if (slot->size == 0)
        return TML_OK;
    iso->memory[array] = tml_alloc(p->tml, slot->size);
    if (!iso->memory[array])
        return slab_error(p->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a piece of the mesh");
    iso->copied[array] = slot->size;
    return tml_buffer_read(p->tml, iso->buffers[array], iso->memory[array]);
}

/* Adds vertex_base to the indices of each part, modulo 2^32 or 2^64. */
static void raise_indices(const isosurface_slabs *iso)
{
    for (uint32_t i = 0; i < iso->plan.part_count; i++) {
        const surface_part *part = &iso->plan.parts[i];
        uint64_t first = 3 * part->triangle_first, end = first + 3 * part->triangle_count;
        uint64_t *wide = (void *)iso->memory[PIECE_INDICES];
        uint32_t *narrow = (void *)iso->memory[PIECE_INDICES];
        for (uint64_t k = first; k < end; k++)
            if (iso->plan.indices64)
                wide[k] += part->vertex_base;
            else
                narrow[k] += (uint32_t)part->vertex_base;
    }
}

/* Computes the means at the vertices. The engine's memory is on the host. */
static tml_status find_means(slab_producer *p, isosurface_slabs *iso)
{
    if (!iso->means)
        return TML_OK;
    double start = tml_seconds();
    tml_buffer outs[TML_FIELD_MAX_ATTRIBUTES];
    uint32_t count = 0;
    for (int i = PIECE_MEANS; i < PIECE_ARRAYS; i++)
        if (iso->types[i])
            outs[count++] = iso->buffers[i];
    tml_status status = field_means_at(p->tml, iso->means, iso->buffers[PIECE_POSITIONS], outs);
    surface_time(p->result, "attributes", tml_seconds() - start);
    return status;
}

/* Sets the places of the parts, and creates buffers for the outputs. */
static tml_status place_parts(slab_producer *p, isosurface_slabs *iso)
{
    surface_plan *plan = &iso->plan;
    tml_slot **const slots[PIECE_MEANS] = {&plan->mesh.positions, &plan->mesh.vertex_normals,
                                           &plan->mesh.vertex_values, &plan->mesh.indices};
    uint64_t vertices = 0, triangles = 0;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < plan->part_count; i++) {
        plan->parts[i].vertex_first = p->parts[i].vertex_first;
        plan->parts[i].triangle_first = p->parts[i].triangle_first;
        plan->parts[i].vertex_base = p->parts[i].vertex_base;
        vertices += p->parts[i].vertex_count;
        triangles += p->parts[i].triangle_count;
    }
    for (int i = 0; i < PIECE_ARRAYS && status == TML_OK; i++) {
        const tml_buffer_desc desc = {.type = iso->types[i],
                                      .count = i == PIECE_INDICES ? triangles : vertices,
                                      .label = "piece of a surface"};
        if (i < PIECE_MEANS)
            *slots[i] = NULL;
        if (!desc.type)
            continue;
        status = tml_buffer_create(p->tml, &desc, &iso->buffers[i]);
        if (i < PIECE_MEANS)
            *slots[i] = tml_slot_of(p->tml, iso->buffers[i]);
    }
    return status;
}

static tml_status isosurface_emit(slab_producer *p, const slab_layers *at, tml_mesh *out)
{
    isosurface_slabs *iso = p->state;
    const double middle = (at->from + at->to) / 2;
    tml_status status = place_parts(p, iso);
    TML_THEN(status, surface_run_stage(p->tml, &iso->plan, SURFACE_EMIT, middle, at->to));
    TML_THEN(status, find_means(p, iso));
    for (int i = 0; i < PIECE_ARRAYS && status == TML_OK; i++)
        if (iso->types[i])
            status = piece_fetch(p, iso, i);
    if (status == TML_OK && !surface_engine(p->tml)->numbers_slabs)
        raise_indices(iso);
    out->positions = (float *)iso->memory[PIECE_POSITIONS];
    out->normals = (float *)iso->memory[PIECE_NORMALS];
    out->values = (float *)iso->memory[PIECE_VALUES];
    out->indices = iso->memory[PIECE_INDICES]; /* NULL if the slab has no triangles */
    for (int i = PIECE_MEANS; i < PIECE_ARRAYS; i++)
        if (iso->types[i])
            out->attributes[out->attribute_count++] = (tml_mesh_attribute){
                NULL, tml_type_components(iso->types[i]), (float *)iso->memory[i]};
    memcpy(out->origin, p->desc->surface->position_origin, sizeof out->origin);
    return status;
}

static void isosurface_end(slab_producer *p, const slab_layers *at)
{
    isosurface_slabs *iso = p->state;
    (void)at;
    if (iso->kept) /* EMIT did not run */
        (void)!surface_run_stage(p->tml, &iso->plan, SURFACE_END, 1.0, 1.0);
    for (int i = 0; i < PIECE_ARRAYS; i++) {
        if (iso->copied[i])
            tml_free(p->tml, iso->memory[i], iso->copied[i]);
        else if (iso->memory[i])
            tml_buffer_unmap(p->tml, iso->buffers[i]);
        tml_buffer_destroy(p->tml, iso->buffers[i]);
        iso->buffers[i] = (tml_buffer){0, 0};
        iso->memory[i] = NULL;
        iso->copied[i] = 0;
    }
}

static void isosurface_close(slab_producer *p)
{
    isosurface_slabs *iso = p->state;
    field_means_destroy(p->tml, iso->means);
    tml_free(p->tml, p->parts, p->part_count * sizeof *p->parts);
    tml_free(p->tml, iso->plan.parts, iso->plan.part_capacity * sizeof *iso->plan.parts);
    tml_free(p->tml, iso, sizeof *iso);
}

static const slab_verbs isosurface_verbs = {
    .begin = isosurface_begin,
    .scratch_size = isosurface_scratch_size,
    .count = isosurface_count,
    .emit = isosurface_emit,
    .end = isosurface_end,
    .close = isosurface_close,
};

tml_status isosurface_slabs_open(slab_producer *out)
{
    const tml_surface_desc *surface = out->desc->surface;
    isosurface_slabs *iso = tml_alloc(out->tml, sizeof *iso);
    if (!iso)
        return slab_error(out->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the call's plan");
    *iso = (isosurface_slabs){.plan = {.caps = surface->caps,
                                       .trilinear = surface->topology == TML_TOPOLOGY_TRILINEAR,
                                       .normals = surface->normals,
                                       .indices64 = surface->indices64 || surface->soup,
                                       .vertex_capacity = UINT64_MAX,
                                       .triangle_capacity = UINT64_MAX,
                                       .kept = &iso->kept,
                                       .progress.reached = &out->progress,
                                       .result = out->result}};
    out->verbs = &isosurface_verbs;
    out->state = iso;
    tml_status status = resolve_isosurface(out, iso);
    TML_THEN(status, describe_parts(out, &iso->plan));
    if (status != TML_OK)
        return status;
    describe_pieces(out, iso);
    out->caps = surface->caps;
    out->halo_below = SURFACE_LAYERS_BELOW;
    out->halo_above = SURFACE_LAYERS_ABOVE;
    out->held_end = iso->plan.dims[2];
    out->indices64 = iso->plan.indices64;
    out->soup = surface->soup;
    return TML_OK;
}
