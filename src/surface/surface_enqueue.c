/* tml_surface_enqueue: a surface whose counts stay on the device. For an engine without
 * SURFACE_ENQUEUE, it calls tml_surface. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "core/call.h"
#include "stream/stream_internal.h"
#include "surface/surface_internal.h"

typedef struct enqueue_job {
    surface_plan plan;
    surface_part part;
    tml_field_desc field; /* desc.field, resolved */
    tml_surface_result result;
    surface_output outputs[SURFACE_OUTS];
} enqueue_job;

static uint64_t room_in(const tml_slot *slot, uint64_t room)
{
    return slot ? TML_MIN_OF(slot->count, room) : room;
}

/* Sets the capacities. A soup's welded mesh has at most as many vertices as its triangles have
 * corners, and at most one per edge of the box, pads included; with TRILINEAR more, in cells. */
static tml_status find_room(tml_context *tml, surface_plan *plan)
{
    uint64_t vertices = room_in(plan->mesh.positions, UINT64_MAX);
    vertices = room_in(plan->mesh.vertex_normals, vertices);
    vertices = room_in(plan->mesh.vertex_values, vertices);
    plan->vertex_capacity = vertices;
    plan->triangle_capacity =
        room_in(plan->mesh.indices, room_in(plan->mesh.triangle_cells, UINT64_MAX));
    if (!plan->soup)
        return TML_OK;
    const uint64_t *box = plan->parts[0].box.count, pad = plan->caps ? 2 : 0;
    uint64_t edges = 3 * (box[0] + pad) * (box[1] + pad) * (box[2] + pad);
    plan->triangle_capacity = TML_MIN_OF(plan->triangle_capacity, vertices / 3);
    plan->vertex_capacity = 3 * plan->triangle_capacity;
    if (!plan->trilinear)
        plan->vertex_capacity = TML_MIN_OF(plan->vertex_capacity, edges);
    if (plan->vertex_capacity <= UINT32_MAX)
        return TML_OK;
    return tml_error(tml, TML_ERROR_UNSUPPORTED,
                     "tml_surface_enqueue: desc.mesh.positions has room for a soup of %" PRIu64
                     " triangles, whose welded mesh may have 2^32 vertices and more; give it less",
                     plan->triangle_capacity);
}

/* Resolves the outputs, the isovalue on the device, counts and draw arguments. */
static tml_status enqueue_resolve_buffers(tml_context *tml, const tml_surface_desc *desc,
                                          enqueue_job *job)
{
    surface_plan *plan = &job->plan;
    tml_status status =
        surface_outputs_resolve(tml, "tml_surface_enqueue", desc, plan, &job->result, job->outputs);
    for (int i = 0; i < SURFACE_OUTS && status == TML_OK; i++)
        if (job->outputs[i].wanted && tml_buffer_is_none(job->outputs[i].given))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_surface_enqueue: %s is no buffer; it makes none itself",
                             job->outputs[i].field);
    TML_THEN(status, surface_outputs_make(tml, "tml_surface", job->outputs, SURFACE_OUTS));
    if (status != TML_OK)
        return status;
    if (desc->iso_index == UINT64_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface_enqueue: desc.iso_index is %" PRIu64
                         ", needs an element of desc.iso_buffer",
                         desc->iso_index);
    status = surface_check_buffers(tml, "tml_surface_enqueue", desc, job->outputs);
    if (status != TML_OK)
        return status;
    plan->device = (surface_on_device){tml_slot_of(tml, desc->counts), tml_slot_of(tml, desc->draw),
                                       tml_slot_of(tml, desc->iso_buffer), desc->iso_index};
    return find_room(tml, plan);
}

/* Checks the desc and resolves it into a plan with one part. */
static tml_status enqueue_resolve(tml_context *tml, const tml_surface_desc *desc, enqueue_job *job)
{
    surface_plan *plan = &job->plan;
    *job = (enqueue_job){.plan = {.stage = SURFACE_ENQUEUE,
                                  .scratch_limit = SIZE_MAX,
                                  .progress.last = 1,
                                  .caps = desc->caps,
                                  .trilinear = desc->topology == TML_TOPOLOGY_TRILINEAR,
                                  .normals = desc->normals,
                                  .soup = desc->soup,
                                  .layout = surface_layout_wanted(desc),
                                  .indices64 = desc->indices64 && !desc->soup}};
    plan->result = &job->result;
    plan->parts = &job->part;
    plan->part_count = plan->part_capacity = 1;
    if (surface_wants_labels(desc) || desc->isovalues || desc->largest_component ||
        desc->drop_degenerate || desc->collapse > 0)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_enqueue: desc asks for labels, several isovalues or "
                         "a filter; tml_surface does those");
    if (!isfinite(desc->iso))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface_enqueue: desc.iso is %g, needs a finite number", desc->iso);
    tml_grid grid = {0};
    tml_status status = surface_check_choices(tml, "tml_surface_enqueue", desc, false);
    if (status == TML_OK && desc->field)
        status = field_resolve_enqueued(tml, "tml_surface_enqueue", "desc.field", desc->field,
                                        &job->field);
    TML_THEN(status, surface_resolve_input(tml, desc, &grid, &job->field, plan));
    TML_THEN(status, surface_check_axes(tml, "tml_surface", &grid, desc->position_origin,
                                        desc->flip, &plan->axes));
    TML_THEN(status, surface_resolve_region(tml, "tml_surface_enqueue", &desc->region, plan->dims,
                                            &job->part.box));
    if (status != TML_OK)
        return status;
    if ((plan->volume && plan->volume->on_host) || (plan->mask && plan->mask->on_host) ||
        (plan->attribute && plan->attribute->on_host))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_enqueue: volume, mask or attribute lies on the host "
                         "(tml_buffer_desc.host); tml_surface reads it there");
    job->part.iso = desc->iso;
    if (job->part.box.first[0] % SURFACE_BRICK_X != 0)
        plan->index = NULL;
    surface_drop_flat_parts(plan);
    return enqueue_resolve_buffers(tml, desc, job);
}

/* Copies cell numbers of u32 or u64 to u32 or u64. */
static tml_status copy_cells(tml_context *tml, tml_buffer from, tml_buffer to, uint64_t count)
{
    const bool is_wide = tml_slot_of(tml, from)->type == TML_U64;
    const bool to_wide = tml_slot_of(tml, to)->type == TML_U64;
    void *in = NULL, *out = NULL;
    tml_status status = tml_buffer_map(tml, from, &in);
    TML_THEN(status, tml_buffer_map(tml, to, &out));
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        uint64_t cell = is_wide ? ((uint64_t *)in)[i] : ((uint32_t *)in)[i];
        if (to_wide)
            ((uint64_t *)out)[i] = cell;
        else
            ((uint32_t *)out)[i] = (uint32_t)cell;
    }
    if (out)
        tml_buffer_unmap(tml, to);
    if (in)
        tml_buffer_unmap(tml, from);
    return status;
}

/* Copies as much of a result as the caller's buffers hold. For a soup, copies only the cells. */
static tml_status copy_what_fits(tml_context *tml, const enqueue_job *job,
                                 const tml_surface_result *made)
{
    const surface_plan *plan = &job->plan;
    uint64_t vertices = TML_MIN_OF(made->vertex_count, plan->vertex_capacity);
    uint64_t triangles = TML_MIN_OF(made->triangle_count, plan->triangle_capacity);
    const struct {
        tml_buffer from, to;
        uint64_t count;
    } arrays[SURFACE_OUT_CELLS] = {
        {made->mesh.positions, job->outputs[SURFACE_OUT_VERTICES].given, vertices},
        {made->mesh.normals, job->outputs[SURFACE_OUT_NORMALS].given, vertices},
        {made->mesh.values, job->outputs[SURFACE_OUT_VALUES].given, vertices},
        {made->mesh.indices, job->outputs[SURFACE_OUT_INDICES].given, triangles}};
    tml_status status = TML_OK;
    if (plan->mesh.triangle_cells && triangles)
        status =
            copy_cells(tml, made->triangle_cells, job->outputs[SURFACE_OUT_CELLS].given, triangles);
    for (int i = 0; i < SURFACE_OUT_CELLS && !plan->soup && status == TML_OK; i++) {
        void *memory = NULL;
        if (tml_buffer_is_none(arrays[i].from) || arrays[i].count == 0)
            continue;
        status = tml_buffer_map(tml, arrays[i].from, &memory);
        if (status == TML_OK) {
            if (i == SURFACE_OUT_INDICES &&
                surface_layout_of(plan)->indices16) /* memory is the call's own */
                surface_store_indices16(memory, memory, arrays[i].count);
            status = tml_buffer_write(tml, arrays[i].to, 0, arrays[i].count, memory);
            tml_buffer_unmap(tml, arrays[i].from);
        }
    }
    return status;
}

/* Gathers the soup from its welded mesh, as far as the caller's buffers hold it. */
static tml_status gather_what_fits(tml_context *tml, const enqueue_job *job,
                                   const tml_surface_result *made)
{
    surface_plan plan = job->plan;
    plan.welded = (surface_welded){{tml_slot_of(tml, made->mesh.positions),
                                    tml_slot_of(tml, made->mesh.normals), /* NULL in records */
                                    tml_slot_of(tml, made->mesh.values),
                                    tml_slot_of(tml, made->mesh.indices), NULL},
                                   TML_MIN_OF(made->vertex_count, plan.vertex_capacity),
                                   TML_MIN_OF(made->triangle_count, plan.triangle_capacity)};
    return surface_run_stage(tml, &plan, SURFACE_SOUP, 1, 1);
}

/* mesh: the welded mesh. */
static tml_status write_enqueued_counts(tml_context *tml, const tml_surface_desc *desc,
                                        const enqueue_job *job, const tml_surface_result *mesh)
{
    const uint64_t wide[2] = {job->plan.soup ? 3 * mesh->triangle_count : mesh->vertex_count,
                              mesh->triangle_count};
    uint32_t narrow[2];
    for (int i = 0; i < 2; i++)
        narrow[i] = (uint32_t)TML_MIN_OF(wide[i], (uint64_t)UINT32_MAX);
    tml_status status = TML_OK;
    if (job->plan.device.counts)
        status = tml_buffer_write(tml, desc->counts, 0, 2,
                                  job->plan.device.counts->type == TML_U64 ? (const void *)wide
                                                                           : narrow);
    if (status != TML_OK || !job->plan.device.draw)
        return status;
    uint64_t triangles = TML_MIN_OF(mesh->triangle_count, job->plan.triangle_capacity);
    const uint32_t draw[5] = {(uint32_t)TML_MIN_OF(3 * triangles, (uint64_t)UINT32_MAX), 1, 0, 0,
                              0};
    return tml_buffer_write(tml, desc->draw, 0, 5, draw);
}

/* For engines without ENQUEUE: calls tml_surface, and copies what fits. */
static tml_status enqueue_at_once(tml_context *tml, const tml_surface_desc *desc, enqueue_job *job)
{
    tml_surface_desc whole = *desc;
    tml_surface_result mesh = {0};
    whole.soup = false;
    whole.indices64 = job->plan.indices64;
    whole.layout.indices16 = false; /* the mesh may have too many vertices */
    if (job->plan.device.iso) {
        float iso;
        tml_status status = tml_buffer_read_range(tml, desc->iso_buffer, desc->iso_index, 1, &iso);
        if (status != TML_OK)
            return status;
        if (isnan(iso))
            return write_enqueued_counts(tml, desc, job, &mesh);
        whole.iso = fmin(fmax((double)iso, -DBL_MAX), DBL_MAX);
    }
    whole.mesh = (tml_mesh_buffers){0};
    whole.triangle_cells = whole.iso_buffer = whole.counts = whole.draw = (tml_buffer){0, 0};
    tml_status status = tml_surface(tml, &whole, &mesh);
    if (status != TML_OK)
        return status;
    status = copy_what_fits(tml, job, &mesh);
    if (status == TML_OK && job->plan.soup)
        status = gather_what_fits(tml, job, &mesh);
    TML_THEN(status, write_enqueued_counts(tml, desc, job, &mesh));
    tml_surface_free(tml, &mesh);
    return status;
}

/* For engines without ENQUEUE: measures the scratch of COUNT. */
static tml_status enqueue_measure(tml_context *tml, enqueue_job *job)
{
    const tml_engine_op *op = surface_engine(tml)->op;
    job->plan.stage = SURFACE_COUNT;
    if (op && op->scratch_size)
        (void)tml_prepare_scratch(tml, op->scratch_size(tml, &job->plan));
    return TML_OK;
}

static tml_status enqueue(tml_context *tml, const tml_surface_desc *desc)
{
    enqueue_job job;
    tml_status status = enqueue_resolve(tml, desc, &job);
    if (status != TML_OK)
        return status;
    const tml_engine_op *op = surface_engine(tml)->op;
    if (!stream_supports_op(tml, op, &job.plan))
        return tml->is_preparing ? enqueue_measure(tml, &job) : enqueue_at_once(tml, desc, &job);
    if (desc->field)
        return field_run_after(tml, "tml_surface_enqueue", &job.field, (tml_buffer){0, 0},
                               &job.plan.field, op, &job.plan);
    return surface_run_stage(tml, &job.plan, SURFACE_ENQUEUE, 0, 1);
}

tml_status tml_surface_enqueue(tml_context *tml, const tml_surface_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, enqueue(tml, desc));
}
