/* The surface program: checks the desc, resolves a plan, runs the stages, and owns the outputs. The
 * engine's part (surface_parts.c) counts and then emits. In between the outputs are allocated at
 * their exact sizes. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "core/matrix.h"
#include "stream/stream_internal.h"
#include "surface/slab_components.h"
#include "surface/surface_on_host.h"

enum { ISOVALUES_MAX = 64, LABELS_MAX = 65536 };

const tml_type surface_index_types[] = {TML_VEC(TML_F32, 2), TML_TYPE_NONE};

void surface_time_in(tml_surface_stage *stages, uint32_t *count, const char *stage, double seconds)
{
    uint32_t i = 0;
    while (i < *count && strcmp(stages[i].name, stage) != 0)
        i++;
    if (i == SURFACE_STAGES)
        return;
    if (i == *count)
        stages[(*count)++] = (tml_surface_stage){stage, 0};
    stages[i].seconds += seconds;
}

void surface_time(tml_surface_result *result, const char *stage, double seconds)
{
    surface_time_in(result->stages, &result->stage_count, stage, seconds);
}

/* ---- checks and resolving -------------------------------------------------------------------- */

static tml_status invalid(tml_context *tml, const char *what)
{
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "tml_surface: %s", what);
}

/* Replaces a zeroed spacing by 1 and a zeroed direction by the identity, and checks both. */
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

/* Counts the samples of a grid. Refuses empty grids and sizes that no buffer has. */
tml_status surface_check_dims(tml_context *tml, const char *call, const uint64_t dims[3],
                              uint64_t *count)
{
    if (dims[0] == 0 || dims[1] == 0 || dims[2] == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: grid.dims is %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         ", needs at least one sample on each axis",
                         call, dims[0], dims[1], dims[2]);
    /* A layer's rows and a row's columns are numbered with 32 bits. */
    if (dims[0] > INT32_MAX || dims[1] > INT32_MAX || dims[2] > INT32_MAX ||
        dims[0] * dims[1] > UINT32_MAX / 4 || !tml_mul(dims[0] * dims[1], dims[2], count))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: grid.dims is %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         ", 2^30 samples or more in a slice",
                         call, dims[0], dims[1], dims[2]);
    return TML_OK;
}

/* The columns of direction * spacing, and its inverse transpose, which transforms normals. */
tml_status surface_resolve_axes(tml_context *tml, const char *call, const tml_grid *grid,
                                const double position_origin[3], bool flip, surface_plan *plan)
{
    double m[9], inverse[9]; /* m + 3 * a: step along axis a */
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            m[3 * a + c] = plan->step[a][c] = grid->direction[3 * c + a] * grid->spacing[a];
    double determinant = tml_invert3(m, inverse);
    if (determinant == 0 || !isfinite(determinant))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: grid.direction has no inverse: its columns lie in a plane", call);
    for (int c = 0; c < 3; c++) {
        if (!isfinite(position_origin[c]))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.position_origin[%d] is not finite", call, c);
        plan->origin[c] = grid->origin[c] - position_origin[c];
        for (int a = 0; a < 3; a++)
            plan->normal_rows[c][a] = (float)((flip ? 1 : -1) * inverse[3 * c + a]);
    }
    /* A mirrored grid reverses the orientation of every triangle, and so does desc.flip. */
    plan->flip_winding = (determinant < 0) != flip;
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

/* A buffer of a desc that may be left out. */
typedef struct optional_buffer {
    const char *field;
    tml_buffer buffer;
    const tml_type *types;
    uint64_t count;
    const tml_slot **slot; /* set if the buffer is given */
    bool samples;          /* a volume, mask or attribute: surface_check_samples */
} optional_buffer;

static tml_status check_optional(tml_context *tml, const char *call, const optional_buffer *buffers,
                                 size_t count)
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

/* Resolves volume or field, grid, mask, attribute and index. */
static tml_status resolve_input(tml_context *tml, const tml_surface_desc *desc, tml_grid *grid,
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
        if ((status = tml_field_resolve(tml, desc->field, field, NULL)) != TML_OK ||
            (status = surface_resolve_grid(tml, "tml_surface", &field->grid, grid)) != TML_OK ||
            (status = surface_check_dims(tml, "tml_surface", grid->dims, &count)) != TML_OK)
            return status;
        plan->type = TML_F32;
    }
    memcpy(plan->dims, grid->dims, sizeof plan->dims);
    const optional_buffer optional[] = {
        {"desc.mask", desc->mask, stream_flag_types, count, &plan->mask, true},
        {"desc.attribute", desc->attribute, stream_scalar_types, count, &plan->attribute, true},
        {"desc.index", desc->index, surface_index_types, surface_brick_count(plan->dims),
         &plan->index, false}};
    return check_optional(tml, "tml_surface", optional, TML_ARRAY_SIZE(optional));
}

static bool wants_labels(const tml_surface_desc *desc)
{
    return desc->label_count > 0 || desc->all_labels;
}

/* Makes the parts array, which the caller frees. */
tml_status surface_resolve_parts(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan)
{
    surface_box region = {{0}, {0}};
    tml_status status =
        surface_resolve_region(tml, "tml_surface", &desc->region, plan->dims, &region);
    if (status != TML_OK)
        return status;
    bool labels = wants_labels(desc);
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
    /* A word of 64 sign bits must be a row of one brick: bricks begin at the volume's column 0. */
    if (region.first[0] % SURFACE_BRICK_X != 0 || labels)
        plan->index = NULL;
    return TML_OK;
}

/* ---- the engine ------------------------------------------------------------------------------ */

/* Scratch for a stage. Asks for less while the device has less memory than its driver reported. */
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
        plan->progress_first = from;
        plan->progress_last = to;
        return surface_host_run(tml, plan);
    }
    if (stage == SURFACE_END) /* of a call that may have failed or be cancelled; needs no scratch */
        return op->run(tml, plan, NULL, 0);
    tml_status status = stream_begin_op(tml, "tml_surface", op, "no surfaces", plan);
    if (status != TML_OK)
        return status;
    plan->progress_first = from;
    plan->progress_last = to;
    size_t size;
    void *scratch;
    status = stage_scratch(tml, plan, op, &size, &scratch);
    if (status == TML_OK)
        status = op->run(tml, plan, scratch, size);
    plan->kept_scratch = size;
    return status;
}

/* Finds the parts' boxes, or with all_labels the parts, from the mapped volume. */
static tml_status find_labels(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan)
{
    void *samples = NULL;
    tml_status status = tml_buffer_map(tml, desc->volume, &samples);
    if (status != TML_OK)
        return status;
    plan->progress_first = 0.0;
    plan->progress_last = 0.1;
    status = surface_labels(tml, plan, samples);
    tml_buffer_unmap(tml, desc->volume);
    return status;
}

/* A box of one sample on an axis has no cell, unless caps pad it: it is cut to a single sample. */
void surface_drop_flat_parts(surface_plan *plan)
{
    for (uint32_t p = 0; p < plan->part_count; p++) {
        surface_box *box = &plan->parts[p].box;
        for (int a = 0; a < 3 && !plan->caps; a++)
            if (box->count[a] < 2)
                box->count[0] = box->count[1] = box->count[2] = 1;
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Makes outputs. Frees the scratch where the device is full: EMIT can run with less. */
static tml_status outputs_make_first(tml_context *tml, surface_plan *plan, surface_output *outputs,
                                     size_t count)
{
    tml_status status = surface_outputs_make(tml, "tml_surface", outputs, count);
    if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY && tml_reserved(tml) > 0) {
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

/* Cell numbers are those of samples. */
static bool cells_are_wide(const surface_plan *plan)
{
    return plan->dims[0] * plan->dims[1] * plan->dims[2] > (uint64_t)UINT32_MAX + 1;
}

enum { OUT_VERTICES, OUT_NORMALS, OUT_VALUES, OUT_INDICES, OUT_CELLS, OUTPUTS };

/* u64 where it is given, or where u32 could not number the samples. */
static tml_type cell_type(const tml_context *tml, const tml_surface_desc *desc,
                          const surface_plan *plan)
{
    const tml_slot *given = tml_slot_of(tml, desc->triangle_cells);
    bool is_wide = given ? given->type == TML_U64 : cells_are_wide(plan);
    return is_wide ? TML_U64 : TML_U32;
}

/* What desc asks for; a page never does. */
static surface_layout layout_wanted(const tml_surface_desc *desc)
{
    if (!SURFACE_LAYOUTS)
        return (surface_layout){0};
    surface_layout layout = {.octahedral = desc->octahedral_normals,
                             .indices16 = desc->indices16 && !desc->soup};
    if (desc->vertex_stride) {
        layout.stride = desc->vertex_stride;
        layout.position = desc->position_offset;
        layout.normal = desc->normal_offset;
        layout.value = desc->value_offset;
    }
    return layout;
}

static uint32_t normal_size(const surface_layout *layout)
{
    return layout->octahedral ? 4 : 12;
}

/* Checks what desc says of records, normals and indices. */
static tml_status check_layout(tml_context *tml, const char *call, const tml_surface_desc *desc,
                               const surface_plan *plan)
{
    if (!SURFACE_LAYOUTS)
        return TML_OK;
    const surface_layout layout = layout_wanted(desc);
    const struct {
        const char *name;
        bool exists;
        uint32_t at, size;
    } parts[] = {{"position_offset", true, desc->position_offset, 12},
                 {"normal_offset", desc->normals != TML_NORMALS_NONE, desc->normal_offset,
                  normal_size(&layout)},
                 {"value_offset", plan->attribute != NULL, desc->value_offset, 4}};
    const uint32_t stride = desc->vertex_stride;
    if ((stride || layout.octahedral || layout.indices16) && !surface_engine(tml)->emits_layouts)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: desc.vertex_stride, octahedral_normals and indices16: %s has packed "
                         "arrays of f32 and u32 alone; use the integer path or another engine",
                         call, tml->engine->tier(tml));
    if (desc->indices16 && desc->indices64)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.indices16 and desc.indices64 are both set; choose one", call);
    if (stride % 4 || stride > 64)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.vertex_stride is %" PRIu32
                         ", needs a multiple of 4, at most 64, or 0 for arrays of their own",
                         call, stride);
    for (size_t i = 0; i < TML_ARRAY_SIZE(parts); i++) {
        const uint32_t at = parts[i].at, size = parts[i].size;
        if (!stride && at)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.%s is %" PRIu32 ", but without vertex_stride there are no "
                             "records; set it, or leave the offsets 0",
                             call, parts[i].name, at);
        if (!stride || !parts[i].exists)
            continue;
        if (at % 4 || at > stride || size > stride - at)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.%s is %" PRIu32 ", needs a multiple of 4 with %" PRIu32
                             " bytes behind it in a vertex_stride of %" PRIu32,
                             call, parts[i].name, at, size, stride);
        for (size_t k = 0; k < i; k++)
            if (parts[k].exists && at < parts[k].at + parts[k].size && parts[k].at < at + size)
                return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                                 "%s: desc.%s is %" PRIu32 " (%" PRIu32 " bytes) and %s is %" PRIu32
                                 " (%" PRIu32 "): they overlap; move one",
                                 call, parts[i].name, at, size, parts[k].name, parts[k].at,
                                 parts[k].size);
    }
    if (stride &&
        (!tml_buffer_is_none(desc->vertex_normals) || !tml_buffer_is_none(desc->vertex_values)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: with desc.vertex_stride normals and values are in vertices; leave "
                         "vertex_normals and vertex_values zeroed",
                         call);
    return TML_OK;
}

/* slots->layout: of the outputs. own: none that the caller gave. */
static void outputs_describe(const tml_context *tml, const tml_surface_desc *desc,
                             const surface_plan *plan, bool own, uint64_t vertex_count,
                             uint64_t triangle_count, tml_surface_result *result,
                             surface_plan *slots, surface_output outputs[OUTPUTS])
{
    const tml_buffer none = {0, 0};
    const surface_layout *layout = surface_layout_of(slots);
    const bool has_normals = desc->normals != TML_NORMALS_NONE, has_values = plan->attribute;
    const bool apart = !layout->stride;
    tml_type index_type = plan->indices64 ? TML_U64 : layout->indices16 ? TML_U16 : TML_U32;
    outputs[OUT_VERTICES] =
        (surface_output){.field = "desc.vertices",
                         .wanted = true,
                         .given = own ? none : desc->vertices,
                         .type = apart ? TML_VEC(TML_F32, 3) : TML_RECORD(layout->stride),
                         .count = vertex_count,
                         .result = &result->vertices,
                         .slot = &slots->positions};
    outputs[OUT_NORMALS] =
        (surface_output){.field = "desc.vertex_normals",
                         .wanted = has_normals && apart,
                         .is_within = has_normals && !apart,
                         .given = own ? none : desc->vertex_normals,
                         .type = layout->octahedral ? TML_VEC(TML_I16, 2) : TML_VEC(TML_F32, 3),
                         .count = vertex_count,
                         .result = &result->vertex_normals,
                         .slot = &slots->vertex_normals};
    outputs[OUT_VALUES] = (surface_output){.field = "desc.vertex_values",
                                           .wanted = has_values && apart,
                                           .is_within = has_values && !apart,
                                           .given = own ? none : desc->vertex_values,
                                           .type = TML_F32,
                                           .count = vertex_count,
                                           .result = &result->vertex_values,
                                           .slot = &slots->vertex_values};
    outputs[OUT_INDICES] = (surface_output){.field = "desc.indices",
                                            .wanted = own || !desc->soup,
                                            .given = own ? none : desc->indices,
                                            .type = TML_VEC(index_type, 3),
                                            .count = triangle_count,
                                            .result = &result->indices,
                                            .slot = &slots->indices};
    outputs[OUT_CELLS] = (surface_output){.field = "desc.triangle_cells",
                                          .wanted = desc->cells,
                                          .given = own ? none : desc->triangle_cells,
                                          .type = cell_type(tml, desc, plan),
                                          .count = triangle_count,
                                          .result = &result->triangle_cells,
                                          .slot = &slots->triangle_cells};
}

/* Checks that the engine numbers cells and that the given buffer holds the numbers. */
static tml_status check_cells(tml_context *tml, const char *call, const tml_surface_desc *desc,
                              const surface_plan *plan)
{
    if (!desc->cells)
        return TML_OK;
    if (!surface_engine(tml)->emits_cells)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: desc.cells: %s has none; use the integer path or another engine",
                         call, tml->engine->tier(tml));
    if (cells_are_wide(plan) && cell_type(tml, desc, plan) == TML_U32)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: desc.triangle_cells has elements of u32; the cells of more than 2^32 "
                         "samples need u64",
                         call);
    return TML_OK;
}

/* Checks that the given outputs overlap neither one another nor an input. enqueue: the desc of
 * tml_surface_enqueue, or NULL. */
static tml_status check_apart(tml_context *tml, const char *call, const tml_surface_desc *desc,
                              const surface_output outputs[OUTPUTS],
                              const tml_surface_enqueue_desc *enqueue)
{
    static const tml_surface_enqueue_desc no_enqueue;
    static const tml_field_desc no_field;
    const tml_field_desc *field = desc->field ? desc->field : &no_field;
    enqueue = enqueue ? enqueue : &no_enqueue;
    stream_field written[OUTPUTS + 2] = {[OUTPUTS] = {"desc.counts", enqueue->counts},
                                         {"desc.draw", enqueue->draw}};
    stream_input read[] = {{"desc.volume", desc->volume, 0},
                           {"desc.mask", desc->mask, 0},
                           {"desc.attribute", desc->attribute, 0},
                           {"desc.index", desc->index, 0},
                           {"desc.field.points", field->points, 0},
                           {"desc.field.radii", field->radii, 0},
                           {"desc.field.densities", field->densities, 0},
                           {"desc.field.shapes[0]", field->shapes[0], 0},
                           {"desc.field.shapes[1]", field->shapes[1], 0},
                           {"desc.field.length.device", field->length.device, 0},
                           {"desc.iso", enqueue->iso, 0}};
    for (size_t i = 0; i < TML_ARRAY_SIZE(read); i++) {
        const tml_slot *slot = tml_slot_of(tml, read[i].buffer);
        if (slot && slot->on_host) /* outputs lie elsewhere */
            read[i].buffer = (tml_buffer){0, 0};
    }
    for (int i = 0; i < OUTPUTS; i++)
        if (outputs[i].wanted)
            written[i] = (stream_field){outputs[i].field, outputs[i].given};
    return stream_check_memory(tml, call, written, TML_ARRAY_SIZE(written), read,
                               TML_ARRAY_SIZE(read));
}

/* The engine's mesh, in intermediate buffers mapped on the host. */
typedef struct mapped_mesh {
    tml_buffer buffers[OUTPUTS];
    void *memory[OUTPUTS];
} mapped_mesh;

static tml_status mesh_map(tml_context *tml, const tml_surface_result *work, mapped_mesh *out)
{
    *out = (mapped_mesh){{work->vertices, work->vertex_normals, work->vertex_values, work->indices,
                          work->triangle_cells},
                         {NULL}};
    tml_status status = TML_OK;
    for (int i = 0; i < OUTPUTS && status == TML_OK; i++)
        if (!tml_buffer_is_none(out->buffers[i]))
            status = tml_buffer_map(tml, out->buffers[i], &out->memory[i]);
    return status;
}

static void mesh_unmap(tml_context *tml, const mapped_mesh *mesh)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (mesh->memory[i])
            tml_buffer_unmap(tml, mesh->buffers[i]);
}

/* Copies the mesh to the final outputs. */
static tml_status mesh_copy(tml_context *tml, const mesh_arrays *mesh, const tml_surface_result *to)
{
    const struct {
        const void *in;
        tml_buffer out;
        uint64_t count;
    } arrays[] = {{mesh->positions, to->vertices, mesh->vertex_count},
                  {mesh->normals, to->vertex_normals, mesh->vertex_count},
                  {mesh->values, to->vertex_values, mesh->vertex_count},
                  {mesh->indices, to->indices, mesh->triangle_count}};
    tml_status status = TML_OK;
    for (size_t i = 0; i < TML_ARRAY_SIZE(arrays) && status == TML_OK; i++)
        if (!tml_buffer_is_none(arrays[i].out) && arrays[i].count)
            status = tml_buffer_write(tml, arrays[i].out, 0, arrays[i].count, arrays[i].in);
    return status;
}

/* Gathers the final outputs of a soup from the mesh: on the host, as the CPU engine does. */
static tml_status mesh_gather(tml_context *tml, const mesh_arrays *mesh,
                              const tml_surface_result *to)
{
    enum { ARRAYS = OUT_VALUES + 1 };
    void *const from[ARRAYS] = {mesh->positions, mesh->normals, mesh->values};
    const tml_buffer buffers[ARRAYS] = {to->vertices, to->vertex_normals, to->vertex_values};
    const tml_slot indices = {.memory = mesh->indices};
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
                               .positions = outs[OUT_VERTICES],
                               .vertex_normals = outs[OUT_NORMALS],
                               .vertex_values = outs[OUT_VALUES],
                               .welded = {&in[OUT_VERTICES], &in[OUT_NORMALS], &in[OUT_VALUES],
                                          &indices, mesh->vertex_count, mesh->triangle_count}};
    if (status == TML_OK && mesh->triangle_count)
        status = surface_parts_of[PART_CPU].op->run(tml, &plan, NULL, 0);
    for (int i = 0; i < ARRAYS; i++)
        if (out[i].memory)
            tml_buffer_unmap(tml, buffers[i]);
    return status;
}

/* Lays out a packed mesh: normals and indices where they are, records in memory that *records gets. */
static tml_status mesh_lay_out(tml_context *tml, const surface_layout *layout, mesh_arrays *mesh,
                               unsigned char **records)
{
    if (!SURFACE_LAYOUTS)
        return TML_OK;
    tml_slot memory[OUT_INDICES] = {{.memory = mesh->positions},
                                    {.memory = mesh->normals, .element_size = normal_size(layout)}};
    surface_plan plan = {.layout = *layout, .vertex_normals = &memory[OUT_NORMALS]};
    if (layout->stride) {
        memory[OUT_VERTICES].element_size = layout->stride;
        memory[OUT_VERTICES].memory = *records =
            tml_alloc_array(tml, mesh->vertex_count, layout->stride);
        if (!*records && mesh->vertex_count)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_surface: no memory for %" PRIu64 " vertices of %" PRIu32 " bytes",
                             mesh->vertex_count, layout->stride);
        plan.vertex_normals = &memory[OUT_VERTICES];
        surface_store(&memory[OUT_VERTICES], layout->position, 0, mesh->vertex_count,
                      mesh->positions, 3);
        if (mesh->values)
            surface_store(&memory[OUT_VERTICES], layout->value, 0, mesh->vertex_count, mesh->values,
                          1);
    }
    if (mesh->normals && (layout->stride || layout->octahedral))
        surface_store_normals(&plan, 0, mesh->vertex_count, mesh->normals);
    if (layout->stride)
        mesh->positions = (float *)(void *)*records;
    if (layout->indices16)
        surface_store_indices16(mesh->indices, mesh->indices, mesh->triangle_count);
    return TML_OK;
}

/* With 16 bits there may be too many vertices to number. */
static tml_status check_indices16(tml_context *tml, const surface_layout *layout,
                                  uint64_t vertex_count)
{
    if (!layout->indices16 || vertex_count <= SURFACE_VERTICES16)
        return TML_OK;
    return tml_error(tml, TML_ERROR_CAPACITY,
                     "tml_surface: %" PRIu64
                     " vertices; desc.indices16 numbers at most %d; leave it out, or surface a "
                     "region at a time",
                     vertex_count, SURFACE_VERTICES16);
}

/* A soup has three vertices a triangle. */
static void count_corners(tml_surface_result *result)
{
    result->vertex_count = 3 * result->triangle_count;
    for (uint32_t p = 0; p < result->part_count; p++) {
        result->parts[p].vertex_first = 3 * result->parts[p].triangle_first;
        result->parts[p].vertex_count = 3 * result->parts[p].triangle_count;
    }
}

/* Filters the mesh in work's buffers and copies it to the final outputs. On every engine the host
 * does this. */
static tml_status filter_mesh(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                              const tml_surface_result *work, tml_surface_result *result)
{
    mapped_mesh mapped;
    surface_plan final = *plan;
    surface_output outputs[OUTPUTS] = {{0}};
    unsigned char *records = NULL;
    final.layout = layout_wanted(desc);
    tml_status status = mesh_map(tml, work, &mapped);
    mesh_arrays mesh = {.positions = mapped.memory[OUT_VERTICES],
                        .normals = mapped.memory[OUT_NORMALS],
                        .values = mapped.memory[OUT_VALUES],
                        .indices = mapped.memory[OUT_INDICES],
                        .indices64 = plan->indices64,
                        .vertex_count = result->vertex_count,
                        .triangle_count = result->triangle_count,
                        .parts = result->parts,
                        .part_count = result->part_count};
    const mesh_rows cells = {mapped.memory[OUT_CELLS],
                             plan->triangle_cells ? plan->triangle_cells->element_size : 0};
    if (status == TML_OK)
        status = mesh_filter(tml, &mesh, &cells, desc->largest_component, desc->drop_degenerate);
    if (status == TML_OK) {
        result->vertex_count = mesh.vertex_count;
        result->triangle_count = mesh.triangle_count;
        if (desc->soup)
            count_corners(result);
        outputs_describe(tml, desc, plan, false, result->vertex_count, result->triangle_count,
                         result, &final, outputs);
        status = check_indices16(tml, surface_layout_of(&final), result->vertex_count);
    }
    if (status == TML_OK)
        status = outputs_make_first(tml, plan, outputs, OUTPUTS);
    const uint64_t vertices = mesh.vertex_count;
    if (status == TML_OK)
        status = mesh_lay_out(tml, surface_layout_of(&final), &mesh, &records);
    if (status == TML_OK)
        status = (desc->soup ? mesh_gather : mesh_copy)(tml, &mesh, result);
    tml_free(tml, records, vertices * surface_layout_of(&final)->stride);
    if (status == TML_OK && desc->cells && mesh.triangle_count)
        status = tml_buffer_write(tml, result->triangle_cells, 0, mesh.triangle_count, cells.rows);
    mesh_unmap(tml, &mapped);
    if (status != TML_OK)
        surface_outputs_destroy(tml, outputs, OUTPUTS);
    result->owned = surface_outputs_owned(outputs, OUTPUTS);
    return status;
}

/* What a soup is gathered from: the outputs of EMIT. */
static surface_welded welded_of(const surface_plan *plan, uint64_t vertex_count,
                                uint64_t triangle_count)
{
    const bool apart = !surface_layout_of(plan)->stride;
    return (surface_welded){plan->positions,
                            apart ? plan->vertex_normals : NULL,
                            apart ? plan->vertex_values : NULL,
                            plan->indices,
                            vertex_count,
                            triangle_count};
}

/* Has the engine gather the final outputs from the welded mesh in the plan's. Cells are final. */
static tml_status gather_mesh(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                              tml_surface_result *result)
{
    surface_plan final = *plan;
    surface_output outputs[OUTPUTS];
    final.welded = welded_of(plan, result->vertex_count, result->triangle_count);
    count_corners(result);
    outputs_describe(tml, desc, plan, false, result->vertex_count, result->triangle_count, result,
                     &final, outputs);
    tml_status status = outputs_make_first(tml, plan, outputs, OUT_CELLS);
    if (status == TML_OK)
        status = surface_run_stage(tml, &final, SURFACE_SOUP, 1.0, 1.0);
    if (status != TML_OK)
        surface_outputs_destroy(tml, outputs, OUT_CELLS);
    result->owned = surface_outputs_owned(outputs, OUT_CELLS);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

double surface_part_value(const surface_plan *plan, const surface_part *part)
{
    if (!plan->labels)
        return part->iso;
    return tml_type_is_signed(plan->type) ? (double)(int64_t)part->label : (double)part->label;
}

static size_t parts_size(uint32_t count)
{
    return count * sizeof(tml_surface_part);
}

/* Exclusive prefix sums of the parts' counts; the result gets the totals. */
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
        out->parts[p] =
            (tml_surface_part){surface_part_value(plan, part), part->vertex_first,
                               part->vertex_count, part->triangle_first, part->triangle_count};
    }
    return TML_OK;
}

/* COUNT, by the engine or the host: *host, where the engine cannot tell what topology there is. */
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
    bool has_filter = desc->largest_component || desc->drop_degenerate;
    plan->soup = desc->soup && !has_filter && surface_engine(tml)->emits_soups;
    if ((status = run_count(tml, desc, plan, host)) != TML_OK ||
        (status = place_parts(tml, plan, out)) != TML_OK)
        return status;
    if (has_filter) /* which works on packed arrays */
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

    /* Filters shrink the mesh and soups grow it: both start from intermediate buffers. */
    bool finish = has_filter || (desc->soup && !plan->soup);
    surface_output outputs[OUTPUTS];
    tml_surface_result work = {0};
    outputs_describe(tml, desc, plan, finish, out->vertex_count, out->triangle_count,
                     finish ? &work : out, plan, outputs);
    if (!has_filter) {
        outputs[OUT_CELLS].given = desc->triangle_cells;
        outputs[OUT_CELLS].result = &out->triangle_cells;
    }
    status = outputs_make_first(tml, plan, outputs, OUTPUTS);
    if (status == TML_OK)
        status = surface_run_stage(tml, plan, SURFACE_EMIT, 0.5, 1.0);
    double start = tml_seconds();
    if (status == TML_OK && finish)
        status = has_filter ? filter_mesh(tml, desc, plan, &work, out)
                            : gather_mesh(tml, desc, plan, out);
    if (finish)
        surface_time(out, has_filter ? "clean-up" : "soup", tml_seconds() - start);
    bool leaves = status == TML_OK && !has_filter; /* cells, or all */
    if (leaves)
        out->owned |=
            surface_outputs_owned(outputs, OUTPUTS) & (finish ? 1u << OUT_CELLS : UINT32_MAX);
    surface_outputs_destroy(tml, outputs, !leaves ? OUTPUTS : finish ? OUT_CELLS : 0);
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
                         .layout = layout_wanted(desc),
                         .vertex_capacity = UINT64_MAX,
                         .triangle_capacity = UINT64_MAX,
                         .kept = &kept,
                         .progress_reached = &progress,
                         .result = out};
    tml_grid grid = {0};
    tml_field_desc field;
    tml_surface_result unused;
    surface_output outputs[OUTPUTS];
    surface_host host = {.scratch = NULL};
    tml_status status = tml_refuse_recording(tml, "tml_surface", "record tml_surface_enqueue");
    if (status == TML_OK)
        status = surface_check_topology(tml, "tml_surface", desc,
                                        surface_engine(tml)->trilinear && !desc->field);
    if (status == TML_OK)
        status = resolve_input(tml, desc, &grid, &field, &plan);
    if (status == TML_OK)
        status = surface_resolve_axes(tml, "tml_surface", &grid, desc->position_origin, desc->flip,
                                      &plan);
    if (status == TML_OK && (uint32_t)desc->normals > TML_NORMALS_SOBEL)
        status = invalid(tml, "desc.normals is none of TML_NORMALS_...");
    if (status == TML_OK)
        status = check_layout(tml, "tml_surface", desc, &plan);
    if (status == TML_OK) {
        outputs_describe(tml, desc, &plan, false, 0, 0, &unused, &plan, outputs);
        status = surface_outputs_check(tml, "tml_surface", outputs, OUTPUTS);
    }
    if (status == TML_OK)
        status = check_cells(tml, "tml_surface", desc, &plan);
    if (status == TML_OK)
        status = check_apart(tml, "tml_surface", desc, outputs, NULL);
    if (status == TML_OK)
        status = surface_resolve_parts(tml, desc, &plan);
    if (status == TML_OK && desc->field)
        status = field_plan_create(tml, &field, &plan.field);
    if (SURFACE_HAS_TRILINEAR && status == TML_OK && plan.trilinear &&
        surface_engine(tml)->trilinear == SURFACE_TRILINEAR_ON_HOST)
        status = surface_host_begin(tml, desc, &plan, &host);
    if (status == TML_OK)
        status = extract(tml, desc, &plan, &host, out);

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

/* ---- counts on the device -------------------------------------------------------------------- */

typedef struct enqueue_job {
    surface_plan plan;
    surface_part part;
    tml_field_desc field; /* resolved, of a desc with a field */
    tml_surface_result result;
    surface_output outputs[OUTPUTS];
} enqueue_job;

static uint64_t room_in(const tml_slot *slot, uint64_t room)
{
    return slot ? TML_MIN_OF(slot->count, room) : room;
}

/* Sets the capacities. A soup's welded mesh has no more vertices than its triangles have corners, and
 * one on an edge of the box, pad counted, at most; TRILINEAR more, in cells. */
static tml_status find_room(tml_context *tml, surface_plan *plan)
{
    uint64_t vertices = room_in(plan->positions, UINT64_MAX);
    vertices = room_in(plan->vertex_normals, vertices);
    vertices = room_in(plan->vertex_values, vertices);
    plan->vertex_capacity = vertices;
    plan->triangle_capacity = room_in(plan->indices, room_in(plan->triangle_cells, UINT64_MAX));
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
                     "tml_surface_enqueue: desc.surface.vertices has room for a soup of %" PRIu64
                     " triangles, whose welded mesh may have 2^32 vertices and more; give it less",
                     plan->triangle_capacity);
}

/* The outputs, the isovalue on the device, counts and draw arguments. */
static tml_status enqueue_resolve_buffers(tml_context *tml, const tml_surface_enqueue_desc *desc,
                                          enqueue_job *job)
{
    static const tml_type iso_types[] = {TML_F32, TML_TYPE_NONE};
    const tml_surface_desc *surface = desc->surface;
    surface_plan *plan = &job->plan;
    tml_status status = check_layout(tml, "tml_surface_enqueue", surface, plan);
    if (status != TML_OK)
        return status;
    outputs_describe(tml, surface, plan, false, 0, 0, &job->result, plan, job->outputs);
    for (int i = 0; i < OUTPUTS; i++)
        if (job->outputs[i].wanted && tml_buffer_is_none(job->outputs[i].given))
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_surface_enqueue: %s is no buffer; it makes none itself",
                             job->outputs[i].field);
    if ((status = surface_outputs_check(tml, "tml_surface_enqueue", job->outputs, OUTPUTS)) !=
            TML_OK ||
        (status = check_cells(tml, "tml_surface_enqueue", surface, plan)) != TML_OK ||
        (status = surface_outputs_make(tml, "tml_surface", job->outputs, OUTPUTS)) != TML_OK)
        return status;
    if (desc->iso_index == UINT64_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface_enqueue: desc.iso_index is %" PRIu64
                         ", needs an element of desc.iso",
                         desc->iso_index);
    const optional_buffer optional[] = {
        {"desc.iso", desc->iso, iso_types, desc->iso_index + 1, &plan->iso_on_device, false},
        {"desc.counts", desc->counts, stream_count_types, 2, &plan->counts, false},
        {"desc.draw", desc->draw, stream_mask_types, 5, &plan->draw, false}};
    status = check_optional(tml, "tml_surface_enqueue", optional, TML_ARRAY_SIZE(optional));
    if (status == TML_OK)
        status = check_apart(tml, "tml_surface_enqueue", surface, job->outputs, desc);
    if (status != TML_OK)
        return status;
    plan->iso_index = desc->iso_index;
    return find_room(tml, plan);
}

/* Checks the desc and resolves it into a plan with one part. */
static tml_status enqueue_resolve(tml_context *tml, const tml_surface_enqueue_desc *desc,
                                  enqueue_job *job)
{
    const tml_surface_desc *surface = desc->surface;
    surface_plan *plan = &job->plan;
    if (!surface)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface_enqueue: desc.surface is NULL, needs what tml_surface takes");
    *job = (enqueue_job){.plan = {.stage = SURFACE_ENQUEUE,
                                  .scratch_limit = SIZE_MAX,
                                  .progress_last = 1,
                                  .caps = surface->caps,
                                  .trilinear = surface->topology == TML_TOPOLOGY_TRILINEAR,
                                  .normals = surface->normals,
                                  .soup = surface->soup,
                                  .layout = layout_wanted(surface),
                                  .indices64 = surface->indices64 && !surface->soup}};
    plan->result = &job->result;
    plan->parts = &job->part;
    plan->part_count = plan->part_capacity = 1;
    if (wants_labels(surface) || surface->isovalues || surface->largest_component ||
        surface->drop_degenerate)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_enqueue: desc.surface asks for labels, several isovalues or "
                         "a filter; tml_surface does those");
    if ((uint32_t)surface->normals > TML_NORMALS_SOBEL || !isfinite(surface->iso))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_surface_enqueue: desc.surface.normals is none of TML_NORMALS_..., or "
                         "iso is not finite");
    tml_grid grid = {0};
    tml_status status = surface_check_topology(tml, "tml_surface_enqueue", surface, false);
    if (status == TML_OK && surface->field)
        status = field_resolve_enqueued(tml, "tml_surface_enqueue", "desc.surface.field",
                                        surface->field, &job->field);
    if (status == TML_OK)
        status = resolve_input(tml, surface, &grid, &job->field, plan);
    if (status == TML_OK)
        status = surface_resolve_axes(tml, "tml_surface", &grid, surface->position_origin,
                                      surface->flip, plan);
    if (status == TML_OK)
        status = surface_resolve_region(tml, "tml_surface_enqueue", &surface->region, plan->dims,
                                        &job->part.box);
    if (status != TML_OK)
        return status;
    if ((plan->volume && plan->volume->on_host) || (plan->mask && plan->mask->on_host) ||
        (plan->attribute && plan->attribute->on_host))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface_enqueue: volume, mask or attribute lies on the host "
                         "(tml_buffer_desc.host); tml_surface reads it there");
    job->part.iso = surface->iso;
    if (job->part.box.first[0] % SURFACE_BRICK_X != 0)
        plan->index = NULL;
    surface_drop_flat_parts(plan);
    return enqueue_resolve_buffers(tml, desc, job);
}

/* Copies u32 or u64 to u32 or u64. */
static tml_status copy_cells(tml_context *tml, tml_buffer from, tml_buffer to, uint64_t count)
{
    const bool is_wide = tml_slot_of(tml, from)->type == TML_U64;
    const bool to_wide = tml_slot_of(tml, to)->type == TML_U64;
    void *in = NULL, *out = NULL;
    tml_status status = tml_buffer_map(tml, from, &in);
    if (status == TML_OK)
        status = tml_buffer_map(tml, to, &out);
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

/* Copies as much of a result as the caller's buffers hold; of a soup its cells. */
static tml_status copy_what_fits(tml_context *tml, const enqueue_job *job,
                                 const tml_surface_result *mesh)
{
    const surface_plan *plan = &job->plan;
    uint64_t vertices = TML_MIN_OF(mesh->vertex_count, plan->vertex_capacity);
    uint64_t triangles = TML_MIN_OF(mesh->triangle_count, plan->triangle_capacity);
    const struct {
        tml_buffer from, to;
        uint64_t count;
    } arrays[OUT_CELLS] = {{mesh->vertices, job->outputs[OUT_VERTICES].given, vertices},
                           {mesh->vertex_normals, job->outputs[OUT_NORMALS].given, vertices},
                           {mesh->vertex_values, job->outputs[OUT_VALUES].given, vertices},
                           {mesh->indices, job->outputs[OUT_INDICES].given, triangles}};
    tml_status status = TML_OK;
    if (plan->triangle_cells && triangles)
        status = copy_cells(tml, mesh->triangle_cells, job->outputs[OUT_CELLS].given, triangles);
    for (int i = 0; i < OUT_CELLS && !plan->soup && status == TML_OK; i++) {
        void *memory = NULL;
        if (tml_buffer_is_none(arrays[i].from) || arrays[i].count == 0)
            continue;
        status = tml_buffer_map(tml, arrays[i].from, &memory);
        if (status == TML_OK) {
            if (i == OUT_INDICES && surface_layout_of(plan)->indices16) /* the call's own memory */
                surface_store_indices16(memory, memory, arrays[i].count);
            status = tml_buffer_write(tml, arrays[i].to, 0, arrays[i].count, memory);
            tml_buffer_unmap(tml, arrays[i].from);
        }
    }
    return status;
}

/* The soup from its welded mesh. */
static tml_status gather_what_fits(tml_context *tml, const enqueue_job *job,
                                   const tml_surface_result *mesh)
{
    surface_plan plan = job->plan;
    plan.welded = (surface_welded){tml_slot_of(tml, mesh->vertices),
                                   tml_slot_of(tml, mesh->vertex_normals), /* NULL in records */
                                   tml_slot_of(tml, mesh->vertex_values),
                                   tml_slot_of(tml, mesh->indices),
                                   TML_MIN_OF(mesh->vertex_count, plan.vertex_capacity),
                                   TML_MIN_OF(mesh->triangle_count, plan.triangle_capacity)};
    return surface_run_stage(tml, &plan, SURFACE_SOUP, 1, 1);
}

/* mesh: welded. */
static tml_status write_enqueued_counts(tml_context *tml, const tml_surface_enqueue_desc *desc,
                                        const enqueue_job *job, const tml_surface_result *mesh)
{
    const uint64_t wide[2] = {job->plan.soup ? 3 * mesh->triangle_count : mesh->vertex_count,
                              mesh->triangle_count};
    uint32_t narrow[2];
    for (int i = 0; i < 2; i++)
        narrow[i] = (uint32_t)TML_MIN_OF(wide[i], (uint64_t)UINT32_MAX);
    tml_status status = TML_OK;
    if (job->plan.counts)
        status = tml_buffer_write(tml, desc->counts, 0, 2,
                                  job->plan.counts->type == TML_U64 ? (const void *)wide : narrow);
    if (status != TML_OK || !job->plan.draw)
        return status;
    uint64_t triangles = TML_MIN_OF(mesh->triangle_count, job->plan.triangle_capacity);
    const uint32_t draw[5] = {(uint32_t)TML_MIN_OF(3 * triangles, (uint64_t)UINT32_MAX), 1, 0, 0,
                              0};
    return tml_buffer_write(tml, desc->draw, 0, 5, draw);
}

/* For engines without ENQUEUE: tml_surface, then a copy of as much as fits. */
static tml_status enqueue_at_once(tml_context *tml, const tml_surface_enqueue_desc *desc,
                                  enqueue_job *job)
{
    tml_surface_desc whole = *desc->surface;
    tml_surface_result mesh = {0};
    whole.soup = false;
    whole.indices64 = job->plan.indices64;
    whole.indices16 = false; /* there may be too many vertices */
    if (job->plan.iso_on_device) {
        float iso;
        tml_status status = tml_buffer_read_range(tml, desc->iso, desc->iso_index, 1, &iso);
        if (status != TML_OK)
            return status;
        if (isnan(iso))
            return write_enqueued_counts(tml, desc, job, &mesh);
        whole.iso = fmin(fmax((double)iso, -DBL_MAX), DBL_MAX);
    }
    whole.vertices = whole.vertex_normals = whole.vertex_values = whole.indices =
        whole.triangle_cells = (tml_buffer){0, 0};
    tml_status status = tml_surface(tml, &whole, &mesh);
    if (status != TML_OK)
        return status;
    status = copy_what_fits(tml, job, &mesh);
    if (status == TML_OK && job->plan.soup)
        status = gather_what_fits(tml, job, &mesh);
    if (status == TML_OK)
        status = write_enqueued_counts(tml, desc, job, &mesh);
    tml_surface_free(tml, &mesh);
    return status;
}

static size_t enqueue_scratch_size(tml_context *tml, const tml_surface_enqueue_desc *desc)
{
    enqueue_job job;
    if (enqueue_resolve(tml, desc, &job) != TML_OK)
        return 0;
    const tml_engine_op *op = surface_engine(tml)->op;
    if (!stream_supports_op(tml, op, &job.plan))
        job.plan.stage = SURFACE_COUNT;
    else if (desc->surface->field)
        return field_scratch_size_before(tml, "tml_surface_enqueue", &job.field, &job.plan.field,
                                         op, &job.plan);
    return op && op->scratch_size ? op->scratch_size(tml, &job.plan) : 0;
}

size_t tml_surface_enqueue_scratch_size(tml_context *tml, const tml_surface_enqueue_desc *desc)
{
    if (TML_ENTER(tml, desc) != TML_OK)
        return 0;
    size_t size = enqueue_scratch_size(tml, desc);
    (void)tml_leave(tml, TML_OK);
    return size;
}

static tml_status enqueue(tml_context *tml, const tml_surface_enqueue_desc *desc)
{
    enqueue_job job;
    tml_status status = enqueue_resolve(tml, desc, &job);
    if (status != TML_OK)
        return status;
    const tml_engine_op *op = surface_engine(tml)->op;
    if (!stream_supports_op(tml, op, &job.plan))
        return enqueue_at_once(tml, desc, &job);
    if (desc->surface->field)
        return field_run_after(tml, "tml_surface_enqueue", &job.field, (tml_buffer){0, 0},
                               &job.plan.field, op, &job.plan);
    return surface_run_stage(tml, &job.plan, SURFACE_ENQUEUE, 0, 1);
}

tml_status tml_surface_enqueue(tml_context *tml, const tml_surface_enqueue_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, enqueue(tml, desc));
}

static void result_free(tml_context *tml, tml_surface_result *result)
{
    const tml_buffer buffers[OUTPUTS] = {[OUT_VERTICES] = result->vertices,
                                         [OUT_NORMALS] = result->vertex_normals,
                                         [OUT_VALUES] = result->vertex_values,
                                         [OUT_INDICES] = result->indices,
                                         [OUT_CELLS] = result->triangle_cells};
    for (int i = 0; i < OUTPUTS; i++)
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

static tml_status make_index(tml_context *tml, const tml_surface_index_desc *desc, tml_buffer *out)
{
    tml_surface_result ignored = {0};
    surface_plan plan = {.result = &ignored};
    uint64_t count = 0;
    tml_status status = surface_check_dims(tml, "tml_surface_index", desc->grid.dims, &count);
    if (status == TML_OK)
        status = tml_check_buffer(tml, "tml_surface_index", "desc.volume", desc->volume,
                                  stream_scalar_types, count);
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

tml_status tml_surface_index(tml_context *tml, const tml_surface_index_desc *desc, tml_buffer *out)
{
    if (out)
        *out = (tml_buffer){0, 0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, make_index(tml, desc, out));
}
