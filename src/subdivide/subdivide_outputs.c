/* The buffers of a result, created where the caller gave none. */
#include <stdio.h>
#include <string.h>

#include "core/call.h"
#include "stream/stream_internal.h"
#include "subdivide/subdivide_internal.h"

tml_type subdivide_value_type(uint32_t components)
{
    return components == 1 ? TML_F32 : TML_VEC(TML_F32, components);
}

enum { HANDLES = sizeof(tml_subdivide_buffers) / sizeof(tml_buffer) };
_Static_assert(HANDLES <= 32, "tml_subdivide_result.owned has a bit for each");

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

static const char *handle_name(size_t i, char text[48])
{
    static const struct {
        const char *name;
        size_t at; /* index of the field's first handle */
        bool is_array;
    } fields[] = {
#define FIELD(name, is_array)                                                                      \
    {#name, offsetof(tml_subdivide_buffers, name) / sizeof(tml_buffer), is_array}
        FIELD(mesh.positions, false), FIELD(mesh.normals, false), FIELD(mesh.values, false),
        FIELD(mesh.indices, false),   FIELD(attributes, true),    FIELD(channel_values, true),
        FIELD(channel_indices, true), FIELD(origins, false),
#undef FIELD
    };
    size_t f = TML_ARRAY_SIZE(fields) - 1;
    while (fields[f].at > i)
        f--;
    snprintf(text, 48, fields[f].is_array ? "desc.buffers.%s[%zu]" : "desc.buffers.%s",
             fields[f].name, i - fields[f].at);
    return text;
}

/* Checks that outputs overlap neither one another nor the camera. enqueue: the desc of an enqueued
 * call, or NULL. */
static tml_status check_apart(tml_context *tml, const char *call, const tml_subdivide_buffers *all,
                              const tml_subdivide_adaptive_desc *enqueue)
{
    char names[HANDLES][48];
    stream_field written[HANDLES + 2];
    stream_input read = {"desc.camera_buffer", {0, 0}, 0};
    for (size_t i = 0; i < HANDLES; i++)
        written[i] = (stream_field){handle_name(i, names[i]), handle_at(all, i)};
    if (!enqueue)
        return stream_check_memory(tml, call, written, HANDLES, NULL, 0);
    written[HANDLES] = (stream_field){"desc.counts", enqueue->counts};
    written[HANDLES + 1] = (stream_field){"desc.draw", enqueue->draw};
    if (enqueue->criterion == TML_SPLIT_PIXELS)
        read.buffer = enqueue->camera_buffer;
    return stream_check_memory(tml, call, written, HANDLES + 2, &read, 1);
}

/* Returns the caller's buffer in *out, after checks. If there is none, creates one and returns it
 * in both *out and *created. */
static tml_status output(tml_context *tml, const char *call, const char *field, tml_buffer given,
                         tml_type type, uint64_t count, tml_buffer *out, tml_buffer *created)
{
    const tml_type types[] = {type, TML_TYPE_NONE};
    if (tml_buffer_is_none(given)) {
        tml_status status = tml_refuse_recording(tml, call, "give every buffer of the mesh");
        if (status != TML_OK)
            return status;
        status = tml_buffer_make(tml, type, count, NULL, field, created);
        *out = *created;
        return status;
    }
    char name[48];
    snprintf(name, sizeof name, "desc.buffers.%s", field);
    tml_status status = tml_check_buffer(tml, call, name, given, types, 0);
    if (status != TML_OK)
        return status;
    if (stream_count_of(tml, given) < count)
        return tml_error(tml, TML_ERROR_CAPACITY, "%s: %s has room for %llu, needs %llu", call,
                         name, (unsigned long long)stream_count_of(tml, given),
                         (unsigned long long)count);
    *out = given;
    return TML_OK;
}

tml_status subdivide_outputs_create(tml_subdivider *subdivider, const char *call,
                                    const tml_subdivide_buffers *given, bool normals, bool origins,
                                    const subdivide_counts *counts, subdivide_outputs *out)
{
    tml_context *tml = subdivider->tml;
    const tml_type vec3_type = TML_VEC(TML_F32, 3), triple_type = TML_VEC(TML_U32, 3);
    tml_subdivide_buffers *to = &out->buffers, *made = &out->created;
    *out = (subdivide_outputs){.buffers = {.origins = {0, 0}}};
    tml_status status = output(tml, call, "mesh.positions", given->mesh.positions, vec3_type,
                               counts->vertices, &to->mesh.positions, &made->mesh.positions);
    TML_THEN(status, output(tml, call, "mesh.indices", given->mesh.indices, triple_type,
                            counts->triangles, &to->mesh.indices, &made->mesh.indices));
    if (status == TML_OK && normals)
        status = output(tml, call, "mesh.normals", given->mesh.normals, vec3_type, counts->vertices,
                        &to->mesh.normals, &made->mesh.normals);
    if (status == TML_OK && origins)
        status = output(tml, call, "origins", given->origins, TML_VEC(TML_U32, 2),
                        counts->triangles, &to->origins, &made->origins);
    for (uint32_t v = 1; status == TML_OK && v < subdivider->value_count; v++) {
        const subdivide_values *values = &subdivider->values[v];
        tml_type type = subdivide_value_type(values->components);
        char name[32];
        if (values->topology == 0) {
            uint32_t a = subdivider->attribute_slots[v - 1];
            snprintf(name, sizeof name, "attributes[%u]", a);
            status = output(tml, call, name, given->attributes[a], type, counts->vertices,
                            &to->attributes[a], &made->attributes[a]);
            continue;
        }
        uint32_t c = subdivider->channel_slots[values->topology - 1];
        snprintf(name, sizeof name, "channel_values[%u]", c);
        status = output(tml, call, name, given->channel_values[c], type,
                        counts->values[values->topology - 1], &to->channel_values[c],
                        &made->channel_values[c]);
        snprintf(name, sizeof name, "channel_indices[%u]", c);
        TML_THEN(status,
                 output(tml, call, name, given->channel_indices[c], triple_type, counts->triangles,
                        &to->channel_indices[c], &made->channel_indices[c]));
    }
    TML_THEN(status, check_apart(tml, call, to, NULL));
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
    char name[48];
    tml_status status =
        subdivide_outputs_create(subdivider, call, &desc->buffers, desc->normals, desc->origins,
                                 &(subdivide_counts){.vertices = 0}, &outputs);
    for (size_t i = 0; i < HANDLES && status == TML_OK; i++)
        if (!tml_buffer_is_none(handle_at(&outputs.created, i)))
            status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                               "%s: %s is not given; an enqueued call makes no buffers", call,
                               handle_name(i, name));
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
