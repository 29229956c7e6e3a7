/* The outputs of calls whose output sizes are known only during the call. */
#include <inttypes.h>

#include "stream/desc.h"
#include "surface/surface_internal.h"

tml_status surface_outputs_check(tml_context *tml, const char *call, const surface_output *outputs,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const surface_output *out = &outputs[i];
        if (!out->wanted || tml_buffer_is_none(out->given))
            continue;
        const tml_type types[] = {out->type, TML_TYPE_NONE};
        tml_status status = tml_check_buffer(tml, call, out->field, out->given, types, 0);
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

tml_status surface_outputs_make(tml_context *tml, const char *call, surface_output *outputs,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        surface_output *out = &outputs[i];
        if (!out->wanted)
            continue;
        uint64_t room;
        if (!tml_buffer_is_none(out->given)) {
            tml_buffer_describe(tml, out->given, NULL, &room);
            if (room < out->count)
                return tml_error(tml, TML_ERROR_CAPACITY,
                                 "%s: %s has %" PRIu64 " elements, needs %" PRIu64, call,
                                 out->field, room, out->count);
            *out->result = out->given;
            continue;
        }
        const tml_buffer_desc desc = {.type = out->type, .count = out->count, .label = out->field};
        tml_status status = tml_buffer_create(tml, &desc, out->result);
        if (status != TML_OK)
            return status;
        out->created = true;
    }
    for (size_t i = 0; i < count; i++) {
        const surface_output *from = outputs[i].is_within ? &outputs[0] : &outputs[i];
        *outputs[i].slot = from->wanted ? tml_slot_of(tml, *from->result) : NULL;
    }
    return TML_OK;
}

/* Outputs are in the order of the result's handles. */
uint32_t surface_outputs_owned(const surface_output *outputs, size_t count)
{
    uint32_t owned = 0;
    for (size_t i = 0; i < count; i++)
        owned |= (uint32_t)outputs[i].created << i;
    return owned;
}

void surface_outputs_destroy(tml_context *tml, surface_output *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outputs[i].created) {
            tml_buffer_destroy(tml, *outputs[i].result);
            *outputs[i].result = (tml_buffer){0, 0};
            outputs[i].created = false;
        }
}

/* ---- of a surface ---------------------------------------------------------------------------- */

/* The volume and what belongs to it, the field, and the types of outputs, which depend on the desc,
 * are checked before. */
#define ROW(field, ...) DESC_ROW(tml_surface_desc, field, __VA_ARGS__)
#define INPUT(field)    ROW(field, DESC_IN, .is_optional = true, .is_anywhere = true)
#define OUTPUT(field)   ROW(field, DESC_OUT, .is_optional = true)
#define OF_FIELD(field) DESC_ROW(tml_field_desc, field, DESC_IN)
static const desc_row field_rows[] = {OF_FIELD(points),    OF_FIELD(radii),
                                      OF_FIELD(densities), OF_FIELD(shapes[0]),
                                      OF_FIELD(shapes[1]), OF_FIELD(length.device)};
static const desc_table field_table = {field_rows, TML_ARRAY_SIZE(field_rows)};
static const desc_row rows[] = {
    [SURFACE_OUT_VERTICES] = OUTPUT(mesh.positions),
    [SURFACE_OUT_NORMALS] = OUTPUT(mesh.normals),
    [SURFACE_OUT_VALUES] = OUTPUT(mesh.values),
    [SURFACE_OUT_INDICES] = OUTPUT(mesh.indices),
    [SURFACE_OUT_CELLS] = OUTPUT(triangle_cells),
    ROW(counts, DESC_OUT, .is_optional = true, .types = stream_count_types,
        .count = DESC_CONSTANT(2)),
    ROW(draw, DESC_OUT, .is_optional = true, .types = stream_u32_types, .count = DESC_CONSTANT(5)),
    INPUT(volume),
    INPUT(mask),
    INPUT(attribute),
    INPUT(index),
    ROW(field, DESC_WITHIN, .within = &field_table),
    ROW(iso_buffer, DESC_IN, .is_optional = true, .types = stream_f32_types, .count = DESC_LENGTH)};
#undef ROW
#undef INPUT
#undef OUTPUT
#undef OF_FIELD

/* Cells are numbered like samples. */
static bool cells_are_wide(const surface_plan *plan)
{
    return plan->dims[0] * plan->dims[1] * plan->dims[2] > (uint64_t)UINT32_MAX + 1;
}

/* Returns the given buffer's type. Without one, returns u64 if u32 cannot number the samples. */
static tml_type cell_type(const tml_context *tml, const tml_surface_desc *desc,
                          const surface_plan *plan)
{
    const tml_slot *given = tml_slot_of(tml, desc->triangle_cells);
    bool is_wide = given ? given->type == TML_U64 : cells_are_wide(plan);
    return is_wide ? TML_U64 : TML_U32;
}

surface_layout surface_layout_wanted(const tml_surface_desc *desc)
{
    if (!SURFACE_LAYOUTS)
        return (surface_layout){0};
    const tml_vertex_layout *asked = &desc->layout;
    surface_layout layout = {.octahedral = asked->octahedral_normals,
                             .indices16 = asked->indices16 && !desc->soup};
    if (asked->stride) {
        layout.stride = asked->stride;
        layout.position = asked->position_offset;
        layout.normal = asked->normal_offset;
        layout.value = asked->value_offset;
    }
    return layout;
}

/* Checks the desc's vertex layout, normals and indices. */
static tml_status check_layout(tml_context *tml, const char *call, const tml_surface_desc *desc,
                               const surface_plan *plan)
{
    if (!SURFACE_LAYOUTS)
        return TML_OK;
    const surface_layout layout = surface_layout_wanted(desc);
    const struct {
        const char *name;
        bool exists;
        uint32_t at, size;
    } parts[] = {{"position_offset", true, desc->layout.position_offset, 12},
                 {"normal_offset", desc->normals != TML_NORMALS_NONE, desc->layout.normal_offset,
                  surface_normal_size(&layout)},
                 {"value_offset", plan->attribute != NULL, desc->layout.value_offset, 4}};
    const uint32_t stride = desc->layout.stride;
    if ((stride || layout.octahedral || layout.indices16) && !surface_engine(tml)->emits_layouts)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: desc.layout.stride, octahedral_normals and indices16: %s has packed "
                         "arrays of f32 and u32 alone; use the integer path or another engine",
                         call, tml->engine->tier(tml));
    if (desc->layout.indices16 && desc->indices64)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.layout.indices16 and desc.indices64 are both set; choose one",
                         call);
    if (stride % 4 || stride > 64)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.layout.stride is %" PRIu32
                         ", needs a multiple of 4, at most 64, or 0 for arrays of their own",
                         call, stride);
    for (size_t i = 0; i < TML_ARRAY_SIZE(parts); i++) {
        const uint32_t at = parts[i].at, size = parts[i].size;
        if (!stride && at)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.layout.%s is %" PRIu32 ", but without a stride there are no "
                             "records; set it, or leave the offsets 0",
                             call, parts[i].name, at);
        if (!stride || !parts[i].exists)
            continue;
        if (at % 4 || at > stride || size > stride - at)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: desc.layout.%s is %" PRIu32
                             ", needs a multiple of 4 with %" PRIu32
                             " bytes behind it in a stride of %" PRIu32,
                             call, parts[i].name, at, size, stride);
        for (size_t k = 0; k < i; k++)
            if (parts[k].exists && at < parts[k].at + parts[k].size && parts[k].at < at + size)
                return tml_error(
                    tml, TML_ERROR_INVALID_ARGUMENT,
                    "%s: desc.layout.%s is %" PRIu32 " (%" PRIu32 " bytes) and %s is %" PRIu32
                    " (%" PRIu32 "): they overlap; move one",
                    call, parts[i].name, at, size, parts[k].name, parts[k].at, parts[k].size);
    }
    if (stride &&
        (!tml_buffer_is_none(desc->mesh.normals) || !tml_buffer_is_none(desc->mesh.values)))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: with desc.layout.stride normals and values are in mesh.positions; "
                         "leave mesh.normals and mesh.values zeroed",
                         call);
    return TML_OK;
}

void surface_outputs_describe(const tml_context *tml, const tml_surface_desc *desc,
                              const surface_plan *plan, bool own, uint64_t vertex_count,
                              uint64_t triangle_count, tml_surface_result *result,
                              surface_plan *slots, surface_output outputs[SURFACE_OUTS])
{
    const surface_layout *layout = surface_layout_of(slots);
    const bool has_normals = desc->normals != TML_NORMALS_NONE, has_values = plan->attribute;
    const bool apart = !layout->stride;
    tml_type index_type = plan->indices64 ? TML_U64 : layout->indices16 ? TML_U16 : TML_U32;
    outputs[SURFACE_OUT_VERTICES] =
        (surface_output){.wanted = true,
                         .type = apart ? TML_VEC(TML_F32, 3) : TML_RECORD(layout->stride),
                         .count = vertex_count,
                         .result = &result->mesh.positions,
                         .slot = &slots->mesh.positions};
    outputs[SURFACE_OUT_NORMALS] =
        (surface_output){.wanted = has_normals && apart,
                         .is_within = has_normals && !apart,
                         .type = layout->octahedral ? TML_VEC(TML_I16, 2) : TML_VEC(TML_F32, 3),
                         .count = vertex_count,
                         .result = &result->mesh.normals,
                         .slot = &slots->mesh.vertex_normals};
    outputs[SURFACE_OUT_VALUES] = (surface_output){.wanted = has_values && apart,
                                                   .is_within = has_values && !apart,
                                                   .type = TML_F32,
                                                   .count = vertex_count,
                                                   .result = &result->mesh.values,
                                                   .slot = &slots->mesh.vertex_values};
    outputs[SURFACE_OUT_INDICES] = (surface_output){.wanted = own || !desc->soup,
                                                    .type = TML_VEC(index_type, 3),
                                                    .count = triangle_count,
                                                    .result = &result->mesh.indices,
                                                    .slot = &slots->mesh.indices};
    outputs[SURFACE_OUT_CELLS] = (surface_output){.wanted = desc->cells,
                                                  .type = cell_type(tml, desc, plan),
                                                  .count = triangle_count,
                                                  .result = &result->triangle_cells,
                                                  .slot = &slots->mesh.triangle_cells};
    for (int i = 0; i < SURFACE_OUTS; i++) {
        outputs[i].field = rows[i].name;
        if (!own)
            memcpy(&outputs[i].given, (const char *)desc + rows[i].offset, sizeof(tml_buffer));
    }
}

/* Checks that the engine numbers cells, and that the given buffer's type can hold the numbers. */
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

tml_status surface_check_buffers(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                 const surface_output outputs[SURFACE_OUTS])
{
    tml_surface_desc checked = *desc;
    desc_numbers numbers = {.of[DESC_LENGTH] = desc->iso_index + 1};
    for (int i = 0; i < SURFACE_OUTS; i++)
        if (!outputs[i].wanted)
            memset((char *)&checked + rows[i].offset, 0, sizeof(tml_buffer));
    return desc_check(tml, call, &DESC_TABLE(rows), &checked, &numbers);
}

tml_status surface_refuse_enqueued(tml_context *tml, const char *call, const tml_surface_desc *desc)
{
    if (tml_buffer_is_none(desc->iso_buffer) && tml_buffer_is_none(desc->counts) &&
        tml_buffer_is_none(desc->draw))
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: desc.iso_buffer, counts or draw is given, and only tml_surface_enqueue "
                     "uses those; leave them zeroed, or call it",
                     call);
}

tml_status surface_outputs_resolve(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                   surface_plan *plan, tml_surface_result *result,
                                   surface_output outputs[SURFACE_OUTS])
{
    tml_status status = check_layout(tml, call, desc, plan);
    if (status != TML_OK)
        return status;
    surface_outputs_describe(tml, desc, plan, false, 0, 0, result, plan, outputs);
    status = surface_outputs_check(tml, call, outputs, SURFACE_OUTS);
    return status ? status : check_cells(tml, call, desc, plan);
}
