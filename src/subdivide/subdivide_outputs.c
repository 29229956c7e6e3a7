/* The buffers of a result, created where the caller gave none. */
#include <string.h>

#include "core/call.h"
#include "stream/desc.h"
#include "subdivide/subdivide_internal.h"

tml_type subdivide_value_type(uint32_t components)
{
    return components == 1 ? TML_F32 : TML_VEC(TML_F32, components);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The handles of tml_subdivide_buffers, in their order, and what else an enqueued call has. */
enum {
    POSITIONS,
    NORMALS,
    VALUES,
    INDICES,
    ATTRIBUTES,
    CHANNEL_VALUES = ATTRIBUTES + (int)TML_SUBDIVIDE_MAX_ATTRIBUTES,
    CHANNEL_INDICES = CHANNEL_VALUES + (int)TML_SUBDIVIDE_MAX_CHANNELS,
    ORIGINS = CHANNEL_INDICES + (int)TML_SUBDIVIDE_MAX_CHANNELS,
    HANDLES,
    COUNTS = HANDLES,
    DRAW,
    CAMERA
};
_Static_assert(HANDLES * sizeof(tml_buffer) == sizeof(tml_subdivide_buffers) && HANDLES <= 32,
               "tml_subdivide_result.owned has a bit for each");

#define OPTIONAL(field, ...)                                                                       \
    DESC_ROW(tml_subdivide_adaptive_desc, field, __VA_ARGS__, .is_optional = true)
#define OUTPUT(handle) OPTIONAL(buffers.handle, DESC_OUT)
#define FOUR(handles, a, b, c, d)                                                                  \
    OUTPUT(handles[a]), OUTPUT(handles[b]), OUTPUT(handles[c]), OUTPUT(handles[d])
/* The types of a mesh's buffers depend on the subdivider. */
static const desc_row rows[] = {
    [POSITIONS] = OUTPUT(mesh.positions),
    [NORMALS] = OUTPUT(mesh.normals),
    [VALUES] = OUTPUT(mesh.values),
    [INDICES] = OUTPUT(mesh.indices),
    [ATTRIBUTES] = FOUR(attributes, 0, 1, 2, 3),
    FOUR(attributes, 4, 5, 6, 7),
    [CHANNEL_VALUES] = FOUR(channel_values, 0, 1, 2, 3),
    [CHANNEL_INDICES] = FOUR(channel_indices, 0, 1, 2, 3),
    [ORIGINS] = OUTPUT(origins),
    [COUNTS] = OPTIONAL(counts, DESC_OUT, .types = stream_u32_types, .count = DESC_CONSTANT(3)),
    [DRAW] = OPTIONAL(draw, DESC_OUT, .types = stream_u32_types, .count = DESC_CONSTANT(5)),
    [CAMERA] = OPTIONAL(camera_buffer, DESC_IN, .types = stream_f32_types,
                        .count = DESC_CONSTANT(TML_SUBDIVIDE_CAMERA_FLOATS))};
#undef OPTIONAL
#undef OUTPUT
#undef FOUR

/* Checks that outputs overlap neither one another nor the camera. enqueue: the desc of an enqueued
 * call, whose other buffers are checked, too; or NULL. */
static tml_status check_apart(tml_context *tml, const char *call, const tml_subdivide_buffers *all,
                              const tml_subdivide_adaptive_desc *enqueue)
{
    tml_subdivide_adaptive_desc checked = {.budget = 0};
    desc_numbers numbers = {0};
    if (enqueue)
        checked = *enqueue;
    checked.buffers = *all;
    return desc_check(tml, call, &DESC_TABLE(rows), &checked, &numbers);
}

/* ---- handles --------------------------------------------------------------------------------- */

static tml_buffer handle_at(const tml_subdivide_buffers *buffers, size_t i)
{
    tml_buffer handle;
    memcpy(&handle, (const char *)buffers + i * sizeof handle, sizeof handle);
    return handle;
}

void subdivide_buffers_destroy(tml_context *tml, const tml_subdivide_buffers *buffers)
{
    for (size_t i = 0; i < HANDLES; i++)
        tml_buffer_destroy(tml, handle_at(buffers, i));
}

void subdivide_outputs_deliver(const subdivide_outputs *outputs, tml_subdivide_result *out)
{
    out->buffers = outputs->buffers;
    out->owned = 0;
    for (size_t i = 0; i < HANDLES; i++)
        out->owned |= (uint32_t)!tml_buffer_is_none(handle_at(&outputs->created, i)) << i;
}

static void result_free(tml_context *tml, tml_subdivide_result *result)
{
    for (size_t i = 0; i < HANDLES; i++)
        if (result->owned >> i & 1)
            tml_buffer_destroy(tml, handle_at(&result->buffers, i));
    *result = (tml_subdivide_result){.vertex_count = 0};
}

void tml_subdivide_free(tml_context *tml, tml_subdivide_result *result)
{
    if (TML_ENTER(tml, result) != TML_OK)
        return;
    result_free(tml, result);
    (void)tml_leave(tml, TML_OK);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Buffer number i of a result: the caller's, after checks. If there is none, creates one. */
static tml_status output(tml_context *tml, const char *call, const tml_subdivide_buffers *given,
                         uint32_t i, tml_type type, uint64_t count, subdivide_outputs *out)
{
    const tml_type types[] = {type, TML_TYPE_NONE};
    const char *name = rows[i].name;
    tml_buffer buffer = handle_at(given, i);
    tml_status status;
    if (tml_buffer_is_none(buffer)) {
        status = tml_refuse_recording(tml, call, "give every buffer of the mesh");
        TML_THEN(status,
                 tml_buffer_make(tml, type, count, NULL, name + strlen("desc.buffers."), &buffer));
        ((tml_buffer *)&out->created)[i] = buffer;
    } else {
        status = tml_check_buffer(tml, call, name, buffer, types, 0);
        if (status == TML_OK && stream_count_of(tml, buffer) < count)
            return tml_error(tml, TML_ERROR_CAPACITY, "%s: %s has room for %llu, needs %llu", call,
                             name, (unsigned long long)stream_count_of(tml, buffer),
                             (unsigned long long)count);
    }
    ((tml_buffer *)&out->buffers)[i] = buffer;
    return status;
}

tml_status subdivide_outputs_create(tml_subdivider *subdivider, const char *call,
                                    const tml_subdivide_buffers *given, bool normals, bool origins,
                                    const subdivide_counts *counts, subdivide_outputs *out)
{
    tml_context *tml = subdivider->tml;
    const tml_type vec3_type = TML_VEC(TML_F32, 3), triple_type = TML_VEC(TML_U32, 3);
    *out = (subdivide_outputs){.buffers = {.origins = {0, 0}}};
    tml_status status = output(tml, call, given, POSITIONS, vec3_type, counts->vertices, out);
    TML_THEN(status, output(tml, call, given, INDICES, triple_type, counts->triangles, out));
    if (status == TML_OK && normals)
        status = output(tml, call, given, NORMALS, vec3_type, counts->vertices, out);
    if (status == TML_OK && origins)
        status = output(tml, call, given, ORIGINS, TML_VEC(TML_U32, 2), counts->triangles, out);
    for (uint32_t v = 1; status == TML_OK && v < subdivider->value_count; v++) {
        const subdivide_values *values = &subdivider->values[v];
        const tml_type type = subdivide_value_type(values->components);
        if (values->topology == 0) {
            status = output(tml, call, given, ATTRIBUTES + subdivider->attribute_slots[v - 1], type,
                            counts->vertices, out);
            continue;
        }
        const uint32_t c = subdivider->channel_slots[values->topology - 1];
        status = output(tml, call, given, CHANNEL_VALUES + c, type,
                        counts->values[values->topology - 1], out);
        TML_THEN(status, output(tml, call, given, CHANNEL_INDICES + c, triple_type,
                                counts->triangles, out));
    }
    TML_THEN(status, check_apart(tml, call, &out->buffers, NULL));
    if (status != TML_OK) {
        subdivide_buffers_destroy(tml, &out->created);
        *out = (subdivide_outputs){.buffers = {.origins = {0, 0}}};
    }
    return status;
}

tml_status subdivide_outputs_given(tml_subdivider *subdivider, const char *call,
                                   const tml_subdivide_adaptive_desc *desc,
                                   tml_subdivide_buffers *out)
{
    tml_context *tml = subdivider->tml;
    subdivide_outputs outputs;
    tml_status status =
        subdivide_outputs_create(subdivider, call, &desc->buffers, desc->normals, desc->origins,
                                 &(subdivide_counts){.vertices = 0}, &outputs);
    for (size_t i = 0; i < HANDLES && status == TML_OK; i++)
        if (!tml_buffer_is_none(handle_at(&outputs.created, i)))
            status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                               "%s: %s is not given; an enqueued call makes no buffers", call,
                               rows[i].name);
    subdivide_buffers_destroy(tml, &outputs.created);
    *out = outputs.buffers;
    return status ? status : check_apart(tml, call, out, desc);
}

tml_buffer subdivide_output_of(const tml_subdivider *subdivider,
                               const tml_subdivide_buffers *buffers, uint32_t v)
{
    uint32_t topology = subdivider->values[v].topology;
    if (v == 0)
        return buffers->mesh.positions;
    if (topology == 0)
        return buffers->attributes[subdivider->attribute_slots[v - 1]];
    return buffers->channel_values[subdivider->channel_slots[topology - 1]];
}

tml_buffer subdivide_indices_of(const tml_subdivider *subdivider,
                                const tml_subdivide_buffers *buffers, uint32_t topology)
{
    if (topology == 0)
        return buffers->mesh.indices;
    return buffers->channel_indices[subdivider->channel_slots[topology - 1]];
}
