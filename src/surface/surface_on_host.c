/* Surfaces that the host computes for another engine. See surface_on_host.h. */
#include "surface/surface_on_host.h"

static tml_status array_make(tml_context *tml, const tml_slot *like, surface_host_array *out)
{
    out->slot = *like;
    out->size = like->size;
    out->memory = out->slot.memory = tml_alloc_array(tml, like->size, 1);
    if (out->memory || like->size == 0)
        return TML_OK;
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_surface: no memory for a copy of %zu bytes, on which the host works",
                     like->size);
}

static void array_free(tml_context *tml, surface_host_array *array)
{
    if (array->memory)
        tml_free(tml, array->memory, array->size);
    *array = (surface_host_array){0};
}

tml_status surface_host_begin(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                              surface_host *host)
{
    const struct {
        tml_buffer buffer;
        const tml_slot **slot;
    } inputs[SURFACE_HOST_INPUTS] = {{desc->volume, &plan->volume},
                                     {desc->mask, &plan->mask},
                                     {desc->attribute, &plan->attribute}};
    tml_status status = TML_OK;
    plan->host = host;
    plan->index = NULL; /* it is in device memory */
    for (int i = 0; i < SURFACE_HOST_INPUTS && status == TML_OK; i++) {
        const tml_slot *slot = *inputs[i].slot;
        if (!slot || slot->on_host)
            continue;
        status = array_make(tml, slot, &host->inputs[i]);
        if (status == TML_OK && slot->size)
            status = tml_buffer_read(tml, inputs[i].buffer, host->inputs[i].memory);
        *inputs[i].slot = &host->inputs[i].slot;
    }
    return status;
}

static tml_status emit(tml_context *tml, surface_plan *plan)
{
    surface_host *host = plan->host;
    tml_slot **const slots[SURFACE_HOST_OUTPUTS] = {
        &plan->mesh.positions, &plan->mesh.vertex_normals, &plan->mesh.vertex_values,
        &plan->mesh.indices, &plan->mesh.triangle_cells};
    tml_slot *devices[SURFACE_HOST_OUTPUTS];
    tml_status status = TML_OK;
    for (int i = 0; i < SURFACE_HOST_OUTPUTS; i++) {
        devices[i] = *slots[i];
        if (!devices[i] || status != TML_OK)
            continue;
        int same = 0; /* vertices in records share a slot */
        while (devices[same] != devices[i])
            same++;
        if (same == i)
            status = array_make(tml, devices[i], &host->outputs[i]);
        if (same == i && status == TML_OK && devices[i]->size) /* for bytes not written */
            status =
                tml->engine->read(tml, devices[i], 0, devices[i]->size, host->outputs[i].memory);
        *slots[i] = &host->outputs[same].slot;
    }
    TML_THEN(status,
             surface_parts_of[PART_CPU].op->run(tml, plan, host->scratch, host->scratch_size));
    for (int i = 0; i < SURFACE_HOST_OUTPUTS; i++) {
        *slots[i] = devices[i];
        if (status == TML_OK && host->outputs[i].memory && devices[i]->size)
            status =
                tml->engine->write(tml, devices[i], 0, devices[i]->size, host->outputs[i].memory);
        array_free(tml, &host->outputs[i]);
    }
    return status;
}

tml_status surface_host_run(tml_context *tml, surface_plan *plan)
{
    const tml_engine_op *op = surface_parts_of[PART_CPU].op;
    surface_host *host = plan->host;
    if (plan->stage == SURFACE_EMIT)
        return emit(tml, plan);
    if (plan->stage == SURFACE_COUNT) {
        host->scratch_size = op->scratch_size(tml, plan);
        host->scratch = tml_alloc_array(tml, host->scratch_size, 1);
        if (!host->scratch)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_surface: no memory for %zu bytes of scratch on the host",
                             host->scratch_size);
    }
    return op->run(tml, plan, host->scratch, host->scratch_size);
}

void surface_host_end(tml_context *tml, surface_host *host)
{
    for (int i = 0; i < SURFACE_HOST_INPUTS; i++)
        array_free(tml, &host->inputs[i]);
    if (host->scratch)
        tml_free(tml, host->scratch, host->scratch_size);
}
