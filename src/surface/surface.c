/* tml_surface: runs the stages of a plan, filters and lays out the mesh, and owns the outputs. The
 * engine's part (surface_parts.c) counts, then emits. In between, the outputs are allocated at
 * their exact sizes. */
#include <inttypes.h>
#include <string.h>

#include "core/call.h"
#include "stream/stream_internal.h"
#include "surface/slab_components.h"
#include "surface/surface_on_host.h"

/* ---- the engine ------------------------------------------------------------------------------ */

/* Gets scratch for a stage; less if the device has less memory than its driver reported. */
static tml_status stage_scratch(tml_context *tml, surface_plan *plan, const tml_engine_op *op,
                                size_t *size, void **scratch)
{
    *scratch = NULL;
    plan->scratch_limit = SIZE_MAX;
    for (*size = op->scratch_size ? op->scratch_size(tml, plan) : 0; *size;) {
        tml_status status = tml_scratch(tml, "tml_surface", *size, scratch);
        if (status != TML_ERROR_OUT_OF_DEVICE_MEMORY)
            return status;
        plan->scratch_limit = *size / 2;
        size_t less = op->scratch_size(tml, plan);
        if (less >= *size)
            return tml_error(tml, status,
                             "tml_surface: %zu bytes of scratch, and it works with no less: %s",
                             *size, tml_last_error(tml));
        *size = less;
    }
    return TML_OK;
}

tml_status surface_run_stage(tml_context *tml, surface_plan *plan, surface_stage stage, double from,
                             double to)
{
    const tml_engine_op *op = surface_engine(tml)->op;
    plan->stage = stage;
    if (SURFACE_HAS_TRILINEAR && plan->host && stage != SURFACE_SOUP) {
        plan->progress.first = from;
        plan->progress.last = to;
        return surface_host_run(tml, plan);
    }
    if (stage == SURFACE_END) /* the call may have failed or been cancelled; needs no scratch */
        return op->run(tml, plan, NULL, 0);
    tml_status status = stream_begin_op(tml, "tml_surface", op, "no surfaces", plan);
    if (status != TML_OK)
        return status;
    plan->progress.first = from;
    plan->progress.last = to;
    size_t size;
    void *scratch;
    status = stage_scratch(tml, plan, op, &size, &scratch);
    if (status == TML_OK && !tml_only_measures(tml))
        status = op->run(tml, plan, scratch, size);
    plan->kept_scratch = size;
    return status;
}

/* Finds the parts' boxes in the mapped volume; with all_labels, the parts too. */
static tml_status find_labels(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan)
{
    void *samples = NULL;
    tml_status status = tml_buffer_map(tml, desc->volume, &samples);
    if (status != TML_OK)
        return status;
    plan->progress.first = 0.0;
    plan->progress.last = 0.1;
    status = surface_labels(tml, plan, samples);
    tml_buffer_unmap(tml, desc->volume);
    return status;
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Makes outputs. If the device is full, frees the scratch first, as EMIT can run with less. */
static tml_status outputs_make_first(tml_context *tml, surface_plan *plan, surface_output *outputs,
                                     size_t count)
{
    tml_status status = surface_outputs_make(tml, "tml_surface", outputs, count);
    if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY && tml->scratch_size > 0) {
        surface_outputs_destroy(tml, outputs, count);
        tml_scratch_release(tml);
        plan->kept_scratch = 0;
        status = surface_outputs_make(tml, "tml_surface", outputs, count);
    }
    if (status != TML_ERROR_OUT_OF_DEVICE_MEMORY)
        return status;
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++)
        if (outputs[i].wanted && tml_buffer_is_none(outputs[i].given))
            size += outputs[i].count * tml_type_size(outputs[i].type);
    return tml_error(tml, status, "tml_surface: the mesh is %" PRIu64 " bytes, too many: %s", size,
                     tml_last_error(tml));
}

/* ---- after the engine: filters, soup --------------------------------------------------------- */

/* The engine's mesh, in intermediate buffers mapped on the host. */
typedef struct mapped_mesh {
    tml_buffer buffers[SURFACE_OUTS];
    void *memory[SURFACE_OUTS];
} mapped_mesh;

static tml_status mesh_map(tml_context *tml, const tml_surface_result *work, mapped_mesh *out)
{
    *out = (mapped_mesh){{work->mesh.positions, work->mesh.normals, work->mesh.values,
                          work->mesh.indices, work->triangle_cells},
                         {NULL}};
    tml_status status = TML_OK;
    for (int i = 0; i < SURFACE_OUTS && status == TML_OK; i++)
        if (!tml_buffer_is_none(out->buffers[i]))
            status = tml_buffer_map(tml, out->buffers[i], &out->memory[i]);
    return status;
}

static void mesh_unmap(tml_context *tml, const mapped_mesh *mesh)
{
    for (int i = 0; i < SURFACE_OUTS; i++)
        if (mesh->memory[i])
            tml_buffer_unmap(tml, mesh->buffers[i]);
}

/* Copies the mesh to the final outputs. */
static tml_status mesh_copy(tml_context *tml, const tml_mesh *mesh, const tml_surface_result *to)
{
    const struct {
        const void *in;
        tml_buffer out;
        uint64_t count;
    } arrays[] = {{mesh->positions, to->mesh.positions, mesh->vertex_count},
                  {mesh->normals, to->mesh.normals, mesh->vertex_count},
                  {mesh->values, to->mesh.values, mesh->vertex_count},
                  {mesh->indices, to->mesh.indices, mesh->triangle_count}};
    tml_status status = TML_OK;
    for (size_t i = 0; i < TML_ARRAY_SIZE(arrays) && status == TML_OK; i++)
        if (!tml_buffer_is_none(arrays[i].out) && arrays[i].count)
            status = tml_buffer_write(tml, arrays[i].out, 0, arrays[i].count, arrays[i].in);
    return status;
}

/* Gathers the final outputs of a soup from the mesh: on the host, by the CPU engine's part. */
static tml_status mesh_gather(tml_context *tml, const tml_mesh *mesh, const tml_surface_result *to)
{
    enum { ARRAYS = SURFACE_OUT_VALUES + 1 };
    void *const from[ARRAYS] = {mesh->positions, mesh->normals, mesh->values};
    const tml_buffer buffers[ARRAYS] = {to->mesh.positions, to->mesh.normals, to->mesh.values};
    tml_slot indices = {.memory = mesh->indices};
    tml_slot in[ARRAYS] = {{0}}, out[ARRAYS] = {{0}}, *outs[ARRAYS] = {NULL};
    tml_status status = TML_OK;
    for (int i = 0; i < ARRAYS && mesh->triangle_count && status == TML_OK; i++) {
        if (tml_buffer_is_none(buffers[i]))
            continue;
        in[i].memory = from[i];
        in[i].element_size = tml_slot_of(tml, buffers[i])->element_size;
        status = tml_buffer_map(tml, buffers[i], &out[i].memory);
        outs[i] = &out[i];
    }
    const surface_plan plan = {.stage = SURFACE_SOUP,
                               .type = TML_F32,
                               .indices64 = mesh->indices64,
                               .mesh = {.positions = outs[SURFACE_OUT_VERTICES],
                                        .vertex_normals = outs[SURFACE_OUT_NORMALS],
                                        .vertex_values = outs[SURFACE_OUT_VALUES]},
                               .welded = {{&in[SURFACE_OUT_VERTICES], &in[SURFACE_OUT_NORMALS],
                                           &in[SURFACE_OUT_VALUES], &indices, NULL},
                                          mesh->vertex_count,
                                          mesh->triangle_count}};
    if (status == TML_OK && mesh->triangle_count)
        status = surface_parts_of[PART_CPU].op->run(tml, &plan, NULL, 0);
    for (int i = 0; i < ARRAYS; i++)
        if (out[i].memory)
            tml_buffer_unmap(tml, buffers[i]);
    return status;
}

/* Lays out a packed mesh: normals and indices in place, records in memory that *records
 * receives. */
static tml_status mesh_lay_out(tml_context *tml, const surface_layout *layout, tml_mesh *mesh,
                               unsigned char **records)
{
    if (!SURFACE_LAYOUTS)
        return TML_OK;
    tml_slot memory[SURFACE_OUT_INDICES] = {
        {.memory = mesh->positions},
        {.memory = mesh->normals, .element_size = surface_normal_size(layout)}};
    surface_plan plan = {.layout = *layout, .mesh.vertex_normals = &memory[SURFACE_OUT_NORMALS]};
    if (layout->stride) {
        memory[SURFACE_OUT_VERTICES].element_size = layout->stride;
        memory[SURFACE_OUT_VERTICES].memory = *records =
            tml_alloc_array(tml, mesh->vertex_count, layout->stride);
        if (!*records && mesh->vertex_count)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_surface: no memory for %" PRIu64 " vertices of %" PRIu32 " bytes",
                             mesh->vertex_count, layout->stride);
        plan.mesh.vertex_normals = &memory[SURFACE_OUT_VERTICES];
        surface_store(&memory[SURFACE_OUT_VERTICES], layout->position, 0, mesh->vertex_count,
                      mesh->positions, 3);
        if (mesh->values)
            surface_store(&memory[SURFACE_OUT_VERTICES], layout->value, 0, mesh->vertex_count,
                          mesh->values, 1);
    }
    if (mesh->normals && (layout->stride || layout->octahedral))
        surface_store_normals(&plan, 0, mesh->vertex_count, mesh->normals);
    if (layout->stride)
        mesh->positions = (float *)(void *)*records;
    if (layout->indices16)
        surface_store_indices16(mesh->indices, mesh->indices, mesh->triangle_count);
    return TML_OK;
}

/* Checks that 16-bit indices can number the vertices. */
static tml_status check_indices16(tml_context *tml, const surface_layout *layout,
                                  uint64_t vertex_count)
{
    if (!layout->indices16 || vertex_count <= SURFACE_VERTICES16)
        return TML_OK;
    return tml_error(
        tml, TML_ERROR_CAPACITY,
        "tml_surface: %" PRIu64
        " vertices; desc.layout.indices16 numbers at most %d; leave it out, or surface a "
        "region at a time",
        vertex_count, SURFACE_VERTICES16);
}

/* Counts a soup's vertices, three per triangle. */
static void count_corners(tml_surface_result *result)
{
    result->vertex_count = 3 * result->triangle_count;
    for (uint32_t p = 0; p < result->part_count; p++) {
        result->parts[p].vertex_first = 3 * result->parts[p].triangle_first;
        result->parts[p].vertex_count = 3 * result->parts[p].triangle_count;
    }
}

/* Filters the mesh in work's buffers, and copies it to the final outputs. The host does this for
 * every engine. */
static tml_status filter_mesh(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                              const tml_surface_result *work, tml_surface_result *result)
{
    mapped_mesh mapped;
    surface_plan final = *plan;
    surface_output outputs[SURFACE_OUTS] = {{0}};
    unsigned char *records = NULL;
    final.layout = surface_layout_wanted(desc);
    tml_status status = mesh_map(tml, work, &mapped);
    tml_mesh mesh = {.positions = mapped.memory[SURFACE_OUT_VERTICES],
                     .normals = mapped.memory[SURFACE_OUT_NORMALS],
                     .values = mapped.memory[SURFACE_OUT_VALUES],
                     .indices = mapped.memory[SURFACE_OUT_INDICES],
                     .indices64 = plan->indices64,
                     .vertex_count = result->vertex_count,
                     .triangle_count = result->triangle_count,
                     .parts = result->parts,
                     .part_count = result->part_count};
    const mesh_rows cells = {mapped.memory[SURFACE_OUT_CELLS],
                             plan->mesh.triangle_cells ? plan->mesh.triangle_cells->element_size
                                                       : 0};
    TML_THEN(status,
             mesh_filter(tml, &mesh, &cells, desc->largest_component, desc->drop_degenerate, NULL));
    if (status == TML_OK && SURFACE_LAYOUTS && desc->collapse > 0)
        status = mesh_collapse(tml, &mesh, &cells, desc->collapse);
    if (status == TML_OK) {
        result->vertex_count = mesh.vertex_count;
        result->triangle_count = mesh.triangle_count;
        if (desc->soup)
            count_corners(result);
        surface_outputs_describe(tml, desc, plan, false, result->vertex_count,
                                 result->triangle_count, result, &final, outputs);
        status = check_indices16(tml, surface_layout_of(&final), result->vertex_count);
    }
    TML_THEN(status, outputs_make_first(tml, plan, outputs, SURFACE_OUTS));
    const uint64_t vertices = mesh.vertex_count;
    TML_THEN(status, mesh_lay_out(tml, surface_layout_of(&final), &mesh, &records));
    TML_THEN(status, (desc->soup ? mesh_gather : mesh_copy)(tml, &mesh, result));
    tml_free(tml, records, vertices * surface_layout_of(&final)->stride);
    if (status == TML_OK && desc->cells && mesh.triangle_count)
        status = tml_buffer_write(tml, result->triangle_cells, 0, mesh.triangle_count, cells.rows);
    mesh_unmap(tml, &mapped);
    if (status != TML_OK)
        surface_outputs_destroy(tml, outputs, SURFACE_OUTS);
    result->owned = surface_outputs_owned(outputs, SURFACE_OUTS);
    return status;
}

/* Returns the outputs of EMIT, from which a soup is gathered. */
static surface_welded welded_of(const surface_plan *plan, uint64_t vertex_count,
                                uint64_t triangle_count)
{
    surface_welded out = {plan->mesh, vertex_count, triangle_count};
    if (surface_layout_of(plan)->stride)
        out.mesh.vertex_normals = out.mesh.vertex_values = NULL;
    return out;
}

/* Makes the engine gather the final outputs from the welded mesh in the plan's. Cells are final. */
static tml_status gather_mesh(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                              tml_surface_result *result)
{
    surface_plan final = *plan;
    surface_output outputs[SURFACE_OUTS];
    final.welded = welded_of(plan, result->vertex_count, result->triangle_count);
    count_corners(result);
    surface_outputs_describe(tml, desc, plan, false, result->vertex_count, result->triangle_count,
                             result, &final, outputs);
    tml_status status = outputs_make_first(tml, plan, outputs, SURFACE_OUT_CELLS);
    TML_THEN(status, surface_run_stage(tml, &final, SURFACE_SOUP, 1.0, 1.0));
    if (status != TML_OK)
        surface_outputs_destroy(tml, outputs, SURFACE_OUT_CELLS);
    result->owned = surface_outputs_owned(outputs, SURFACE_OUT_CELLS);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

double surface_part_value(const surface_plan *plan, const surface_part *part)
{
    if (!plan->labels)
        return part->iso;
    return surface_label_value(tml_type_is_signed(plan->type), part->label);
}

static size_t parts_size(uint32_t count)
{
    return count * sizeof(tml_mesh_part);
}

/* Computes exclusive prefix sums of the parts' counts. The result receives the totals. */
static tml_status place_parts(tml_context *tml, surface_plan *plan, tml_surface_result *out)
{
    out->parts = tml_alloc_array(tml, plan->part_count, sizeof *out->parts);
    out->part_count = plan->part_count;
    if (!out->parts && plan->part_count)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_surface: no memory for the table of parts");
    for (uint32_t p = 0; p < plan->part_count; p++) {
        surface_part *part = &plan->parts[p];
        part->vertex_first = out->vertex_count;
        part->triangle_first = out->triangle_count;
        out->vertex_count += part->vertex_count;
        out->triangle_count += part->triangle_count;
        out->active_cells += part->active_cells;
        out->parts[p] = (tml_mesh_part){
            surface_part_value(plan, part), part->vertex_first,   part->vertex_count,
            part->triangle_first,           part->triangle_count, plan->labels ? part->label : 0};
    }
    return TML_OK;
}

/* Runs COUNT on the engine; on *host instead, if the engine cannot decide the topology. */
static tml_status run_count(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                            surface_host *host)
{
    tml_status status = surface_run_stage(tml, plan, SURFACE_COUNT, 0.1, 0.5);
    bool is_decided = true;
    for (uint32_t p = 0; p < plan->part_count; p++)
        is_decided = is_decided && !plan->parts[p].is_undecided;
    if (!SURFACE_HAS_TRILINEAR || status != TML_OK || is_decided)
        return status;
    status = surface_host_begin(tml, desc, plan, host);
    return status == TML_OK ? surface_run_stage(tml, plan, SURFACE_COUNT, 0.1, 0.5) : status;
}

static tml_status extract(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                          surface_host *host, tml_surface_result *out)
{
    tml_status status = TML_OK;
    if (plan->labels)
        status = find_labels(tml, desc, plan);
    if (status != TML_OK)
        return status;
    surface_drop_flat_parts(plan);
    bool has_filter =
        desc->largest_component || desc->drop_degenerate || (SURFACE_LAYOUTS && desc->collapse > 0);
    plan->soup = desc->soup && !has_filter && surface_engine(tml)->emits_soups;
    if ((status = run_count(tml, desc, plan, host)) != TML_OK ||
        (status = place_parts(tml, plan, out)) != TML_OK)
        return status;
    if (has_filter) /* filters use packed arrays */
        plan->layout = (surface_layout){0};
    status = check_indices16(tml, surface_layout_of(plan), out->vertex_count);
    if (status != TML_OK)
        return status;
    bool too_many = out->vertex_count > (uint64_t)UINT32_MAX + 1;
    if (too_many && !desc->indices64 && !desc->soup)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface: %" PRIu64
                         " vertices need 64-bit indices; set desc.indices64",
                         out->vertex_count);
    plan->indices64 = (desc->indices64 && !desc->soup) || too_many;

    /* Filters shrink the mesh and soups grow it, so both start from intermediate buffers. */
    bool finish = has_filter || (desc->soup && !plan->soup);
    surface_output outputs[SURFACE_OUTS];
    tml_surface_result work = {0};
    surface_outputs_describe(tml, desc, plan, finish, out->vertex_count, out->triangle_count,
                             finish ? &work : out, plan, outputs);
    if (!has_filter) {
        outputs[SURFACE_OUT_CELLS].given = desc->triangle_cells;
        outputs[SURFACE_OUT_CELLS].result = &out->triangle_cells;
    }
    status = outputs_make_first(tml, plan, outputs, SURFACE_OUTS);
    TML_THEN(status, surface_run_stage(tml, plan, SURFACE_EMIT, 0.5, 1.0));
    double start = tml_seconds();
    if (status == TML_OK && finish)
        status = has_filter ? filter_mesh(tml, desc, plan, &work, out)
                            : gather_mesh(tml, desc, plan, out);
    if (finish)
        surface_time(out, has_filter ? "clean-up" : "soup", tml_seconds() - start);
    bool leaves = status == TML_OK && !has_filter; /* cells, or all outputs */
    if (leaves)
        out->owned |= surface_outputs_owned(outputs, SURFACE_OUTS) &
                      (finish ? 1u << SURFACE_OUT_CELLS : UINT32_MAX);
    surface_outputs_destroy(tml, outputs, !leaves ? SURFACE_OUTS : finish ? SURFACE_OUT_CELLS : 0);
    return status;
}

static tml_status surface(tml_context *tml, const tml_surface_desc *desc, tml_surface_result *out)
{
    void *kept = NULL;
    double progress = 0;
    surface_plan plan = {.caps = desc->caps,
                         .trilinear = desc->topology == TML_TOPOLOGY_TRILINEAR,
                         .normals = desc->normals,
                         .indices64 = desc->indices64,
                         .layout = surface_layout_wanted(desc),
                         .vertex_capacity = UINT64_MAX,
                         .triangle_capacity = UINT64_MAX,
                         .kept = &kept,
                         .progress.reached = &progress,
                         .result = out};
    tml_grid grid = {0};
    tml_field_desc field;
    tml_surface_result unused;
    surface_output outputs[SURFACE_OUTS];
    surface_host host = {.scratch = NULL};
    tml_status status = tml_refuse_recording(tml, "tml_surface", "record tml_surface_enqueue");
    TML_THEN(status, surface_refuse_enqueued(tml, "tml_surface", desc));
    TML_THEN(status, surface_check_choices(tml, "tml_surface", desc,
                                           surface_engine(tml)->trilinear && !desc->field));
    TML_THEN(status, surface_resolve_input(tml, desc, &grid, &field, &plan));
    TML_THEN(status, surface_check_axes(tml, "tml_surface", &grid, desc->position_origin,
                                        desc->flip, &plan.axes));
    TML_THEN(status, surface_outputs_resolve(tml, "tml_surface", desc, &plan, &unused, outputs));
    TML_THEN(status, surface_check_buffers(tml, "tml_surface", desc, outputs));
    TML_THEN(status, surface_resolve_parts(tml, desc, &plan));
    if (status == TML_OK && desc->field)
        status = field_plan_create(tml, &field, &plan.field);
    if (SURFACE_HAS_TRILINEAR && status == TML_OK && plan.trilinear &&
        surface_engine(tml)->trilinear == SURFACE_TRILINEAR_ON_HOST)
        status = surface_host_begin(tml, desc, &plan, &host);
    TML_THEN(status, extract(tml, desc, &plan, &host, out));

    if (kept)
        (void)!surface_run_stage(tml, &plan, SURFACE_END, 1.0, 1.0);
    if (SURFACE_HAS_TRILINEAR)
        surface_host_end(tml, &host);
    if (plan.field)
        field_plan_destroy(tml, plan.field);
    tml_free(tml, plan.parts, plan.part_capacity * sizeof *plan.parts);
    if (status != TML_OK) { /* CAPACITY: the caller gets the counts */
        uint64_t vertices = out->vertex_count, triangles = out->triangle_count;
        tml_free(tml, out->parts, parts_size(out->part_count));
        *out = (tml_surface_result){0};
        if (status == TML_ERROR_CAPACITY) {
            out->vertex_count = vertices;
            out->triangle_count = triangles;
        }
    }
    return status;
}

tml_status tml_surface(tml_context *tml, const tml_surface_desc *desc, tml_surface_result *out)
{
    if (out)
        *out = (tml_surface_result){0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, surface(tml, desc, out));
}

static void result_free(tml_context *tml, tml_surface_result *result)
{
    const tml_buffer buffers[] = {[SURFACE_OUT_VERTICES] = result->mesh.positions,
                                  [SURFACE_OUT_NORMALS] = result->mesh.normals,
                                  [SURFACE_OUT_VALUES] = result->mesh.values,
                                  [SURFACE_OUT_INDICES] = result->mesh.indices,
                                  [SURFACE_OUT_CELLS] = result->triangle_cells,
                                  [SURFACE_OUT_LABELS] = result->face_labels};
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        if (result->owned >> i & 1)
            tml_buffer_destroy(tml, buffers[i]);
    surface_seams_free(tml, result->seams, result->part_count);
    tml_free(tml, result->parts, parts_size(result->part_count));
    *result = (tml_surface_result){0};
}

void tml_surface_free(tml_context *tml, tml_surface_result *result)
{
    if (TML_ENTER(tml, result) != TML_OK)
        return;
    result_free(tml, result);
    (void)tml_leave(tml, TML_OK);
}

static tml_status make_index(tml_context *tml, const tml_surface_desc *desc, tml_buffer *out)
{
    tml_surface_result ignored = {0};
    surface_plan plan = {.result = &ignored};
    uint64_t count = 0;
    tml_status status = surface_check_dims(tml, "tml_surface_index", desc->grid.dims, &count);
    TML_THEN(status, tml_check_buffer(tml, "tml_surface_index", "desc.volume", desc->volume,
                                      stream_scalar_types, count));
    if (status != TML_OK)
        return status;
    memcpy(plan.dims, desc->grid.dims, sizeof plan.dims);
    const tml_buffer_desc buffer = {.type = TML_VEC(TML_F32, 2),
                                    .count = surface_brick_count(plan.dims),
                                    .label = "surface index"};
    if ((status = tml_buffer_create(tml, &buffer, out)) != TML_OK)
        return status;
    plan.volume = tml_slot_of(tml, desc->volume);
    plan.type = plan.volume->type;
    plan.bricks = tml_slot_of(tml, *out);
    status = surface_run_stage(tml, &plan, SURFACE_INDEX, 0.0, 1.0);
    if (status != TML_OK) {
        tml_buffer_destroy(tml, *out);
        *out = (tml_buffer){0, 0};
    }
    return status;
}

tml_status tml_surface_index(tml_context *tml, const tml_surface_desc *desc, tml_buffer *out)
{
    if (out)
        *out = (tml_buffer){0, 0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, make_index(tml, desc, out));
}
