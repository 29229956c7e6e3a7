/* A slab of a surface net. It owns layers of cells, whose vertices are its own, and the faces of
 * the layers of samples above them, so that these name vertices of its own and of the next slab's
 * first layer. What is wrong at the border of the samples that it looks at goes in by a layer a
 * move, two an iteration. */
#include <string.h>

#include "labels/surface_nets.h"

static void *slab_alloc(nets_slab *slab, int output, uint64_t count, size_t size)
{
    slab->sizes[output] = count * size;
    slab->outputs[output] = count ? nets_alloc(&slab->plan, count, size) : NULL;
    return slab->outputs[output];
}

tml_status nets_slab_count(const nets_plan *whole, const void *samples, uint64_t first,
                           uint64_t end, nets_slab *out)
{
    const uint64_t pad = whole->pad, layers = whole->box.count[2];
    const uint64_t cells = layers - 1 + 2 * pad; /* of the whole */
    const uint64_t own_first = first ? first + pad : 0, own_end = TML_MIN_OF(end + pad, cells);
    const uint64_t low = nets_held_first(whole, first), high = nets_held_end(whole, end);
    nets_plan *plan = &out->plan;
    *out = (nets_slab){.plan = *whole};
    plan->result = &out->result;
    plan->samples = samples;
    plan->box.first[2] += low;
    plan->layer_first = plan->box.first[2];
    plan->box.count[2] = high - low;
    plan->size[2] = high - low + 2 * pad;
    plan->constants[NETS_FIRST + 2] = (uint32_t)plan->box.first[2];
    out->cells[0] = own_first - low;
    out->cells[1] = own_end - low;
    plan->face_layers[1] = TML_MIN_OF(out->cells[1] + 1, nets_cells(plan, 2));
    plan->face_layers[0] = TML_MIN_OF(out->cells[0] + (own_first > 0), plan->face_layers[1]);
    tml_status status = nets_run_step(plan, 0, 0.3, nets_on_host->count);
    if (status != TML_OK)
        return status;
    const uint64_t *vertices = plan->kept.vertex_first, *faces = plan->kept.face_first;
    out->vertex_count = vertices[out->cells[1]] - vertices[out->cells[0]];
    out->face_count = nets_rows(plan) * (faces[plan->face_layers[1]] - faces[plan->face_layers[0]]);
    return TML_OK;
}

tml_status nets_slab_write(nets_slab *slab, uint64_t vertex_base)
{
    nets_plan *plan = &slab->plan;
    const uint64_t before = plan->kept.vertex_first[slab->cells[0]];
    const uint64_t first = plan->kept.face_first[plan->face_layers[0]];
    const size_t index_size = plan->indices64 ? sizeof(uint64_t) : sizeof(uint32_t);
    plan->positions = slab_alloc(slab, 0, nets_vertices(plan, &plan->kept), 3 * sizeof(float));
    plan->indices = slab_alloc(slab, 1, slab->face_count, nets_corners(plan) * index_size);
    plan->face_labels = slab_alloc(slab, 2, slab->face_count, 2 * plan->sample_size);
    for (int i = 0; i < NETS_SLAB_OUTPUTS; i++)
        if (slab->sizes[i] && !slab->outputs[i])
            return TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t z = 0; z <= plan->size[2]; z++) /* faces are numbered from its first one on */
        plan->kept.face_first[z] -= first;
    tml_status status = nets_place_and_emit(plan);
    const uint64_t corners = nets_corners(plan) * slab->face_count;
    for (uint64_t i = 0; i < corners && status == TML_OK; i++) {
        if (plan->indices64)
            ((uint64_t *)plan->indices)[i] += vertex_base - before;
        else
            ((uint32_t *)plan->indices)[i] += (uint32_t)(vertex_base - before);
    }
    slab->positions = plan->positions ? plan->positions + 3 * before : NULL;
    return status;
}

void nets_slab_free(nets_slab *slab)
{
    for (int i = 0; i < NETS_SLAB_OUTPUTS; i++)
        nets_free(&slab->plan, slab->outputs[i], slab->sizes[i], 1);
    nets_on_host->release(&slab->plan);
}
