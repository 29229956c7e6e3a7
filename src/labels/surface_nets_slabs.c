/* A surface net as a producer of slabs. A slab owns layers of cells with their vertices, and the
 * faces of the layers of samples above these cells. Its faces use own vertices, and vertices of the
 * next slab's first layer. Vertices next to the border of the held samples are wrong, and each of
 * an iteration's two moves carries the error one layer inwards. */
#include <string.h>

#include "labels/labels_slabs.h"
#include "labels/surface_nets.h"

enum { NETS_SLAB_OUTPUTS = 3 };
typedef struct nets_slab {
    nets_plan plan;
    tml_surface_result result; /* only stages and scratch_size are used */
    uint64_t cells[2];         /* [first, end): own layers of cells, numbered as in plan */
    uint64_t vertex_count, face_count;
    float *positions; /* of own vertices; plan has indices and labels */
    void *outputs[NETS_SLAB_OUTPUTS];
    uint64_t sizes[NETS_SLAB_OUTPUTS];
} nets_slab;

typedef struct nets_slabs {
    nets_plan whole;
    slab_part part;
    nets_slab slab; /* the current one */
} nets_slabs;

/* Layers that a slab reads below and above its own. */
static uint64_t nets_halo_below(const nets_plan *plan)
{
    return plan->moves + (uint64_t)1;
}
static uint64_t nets_halo_above(const nets_plan *plan)
{
    return plan->moves + (uint64_t)3;
}
static uint64_t nets_held_first(const nets_plan *plan, uint64_t own_first)
{
    return own_first - TML_MIN_OF(own_first, nets_halo_below(plan));
}

/* ---- a slab ---------------------------------------------------------------------------------- */

static void *slab_alloc(nets_slab *slab, int output, uint64_t count, size_t size)
{
    slab->sizes[output] = count * size;
    slab->outputs[output] = count ? nets_alloc(&slab->plan, count, size) : NULL;
    return slab->outputs[output];
}

/* Counts the vertices and faces of a slab.
 * samples     from layer nets_held_first(whole, first) of whole's box on
 * first, end  the slab's own layers: [first, end) of whole's box */
static tml_status nets_slab_count(const nets_plan *whole, const void *samples, uint64_t first,
                                  uint64_t end, nets_slab *out)
{
    const uint64_t pad = whole->pad, layers = whole->box.count[2];
    const uint64_t cells = layers - 1 + 2 * pad; /* layers of cells in whole */
    const uint64_t own_first = first ? first + pad : 0, own_end = TML_MIN_OF(end + pad, cells);
    const uint64_t low = nets_held_first(whole, first),
                   high = TML_MIN_OF(end + nets_halo_above(whole), layers);
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

/* Writes the counted vertices and faces. Own vertices are numbered from vertex_base on. */
static tml_status nets_slab_write(nets_slab *slab, uint64_t vertex_base)
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
    for (uint64_t z = 0; z <= plan->size[2]; z++) /* numbers faces from the slab's first on */
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

static void nets_slab_free(nets_slab *slab)
{
    for (int i = 0; i < NETS_SLAB_OUTPUTS; i++)
        nets_free(&slab->plan, slab->outputs[i], slab->sizes[i], 1);
    nets_on_host->release(&slab->plan);
}

/* ---- the producer ---------------------------------------------------------------------------- */

static tml_status nets_slabs_check(tml_context *tml, const tml_surface_slabs_desc *desc)
{
    const tml_surface_labels_desc *net = desc->boundaries;
    if (net->sharing != TML_LABELS_SHARED)
        return slab_error(tml, TML_ERROR_UNSUPPORTED,
                          "desc.boundaries asks for separate; tml_surface_labels makes them");
    if (net->quads && desc->components)
        return slab_error(tml, TML_ERROR_UNSUPPORTED,
                          "desc.boundaries asks for quads, and desc.components counts triangles");
    if (desc->has_mask || desc->attribute_type || slab_has_field_values(desc))
        return slab_error(tml, TML_ERROR_INVALID_ARGUMENT,
                          "desc.boundaries have neither mask nor attribute");
    if (!tml_buffer_is_none(net->mesh.positions) || !tml_buffer_is_none(net->mesh.indices) ||
        !tml_buffer_is_none(net->face_labels))
        return slab_error(tml, TML_ERROR_INVALID_ARGUMENT,
                          "desc.boundaries has output buffers; the mesh goes to desc.write");
    return TML_OK;
}

/* Returns the bytes of bits and of counts per row; vertices are not included. */
static uint64_t nets_slabs_scratch_size(slab_producer *p, uint64_t held)
{
    const nets_plan *plan = &((nets_slabs *)p->state)->whole;
    const uint64_t selects = plan->between || plan->inner_only;
    const uint64_t planes = 3 + (plan->chosen != NULL) + 3 * selects;
    return held * plan->size[1] * (planes * plan->words * sizeof(nets_word) + 8 * (1 + selects));
}

static tml_status nets_slabs_count(slab_producer *p, const slab_layers *at)
{
    nets_slabs *nets = p->state;
    nets_plan *whole = &nets->whole;
    const uint64_t first = whole->box.first[2], own_first = at->own_first - first;
    const uint64_t layer = whole->dims[0] * whole->dims[1] * whole->sample_size;
    const uint64_t skipped = first + nets_held_first(whole, own_first) - at->held_first;
    void *samples = NULL;
    whole->call_from = at->from;
    whole->call_to = at->to;
    nets->slab = (nets_slab){.plan = *whole};
    tml_status status = tml_buffer_map(p->tml, at->samples[TML_SURFACE_VOLUME], &samples);
    TML_THEN(status, nets_slab_count(whole, (const uint8_t *)samples + skipped * layer, own_first,
                                     at->own_end - first, &nets->slab));
    nets->part.vertex_count = nets->part.active_cells = nets->slab.vertex_count;
    nets->part.triangle_count = nets->slab.face_count;
    return status;
}

static tml_status nets_slabs_emit(slab_producer *p, const slab_layers *at, tml_mesh *out)
{
    nets_slabs *nets = p->state;
    (void)at;
    tml_status status = nets_slab_write(&nets->slab, nets->part.vertex_base);
    out->positions = nets->slab.positions;
    out->indices = nets->slab.plan.indices;
    out->face_labels = nets->slab.plan.face_labels;
    out->face_label_type = nets->slab.plan.type;
    memcpy(out->origin, p->desc->boundaries->position_origin, sizeof out->origin);
    return status;
}

static void nets_slabs_end(slab_producer *p, const slab_layers *at)
{
    nets_slab *slab = &((nets_slabs *)p->state)->slab;
    tml_surface_result *out = p->result;
    for (uint32_t i = 0; i < slab->result.stage_count; i++)
        surface_time_in(out->stages, &out->stage_count, slab->result.stages[i].name,
                        slab->result.stages[i].seconds);
    out->scratch_size = TML_MAX_OF(out->scratch_size, slab->result.scratch_size);
    nets_slab_free(slab);
    tml_buffer_unmap(p->tml, at->samples[TML_SURFACE_VOLUME]);
}

static void nets_slabs_close(slab_producer *p)
{
    tml_free(p->tml, p->state, sizeof(nets_slabs));
}

static const slab_verbs nets_verbs = {
    .scratch_size = nets_slabs_scratch_size,
    .count = nets_slabs_count,
    .emit = nets_slabs_emit,
    .end = nets_slabs_end,
    .close = nets_slabs_close,
};

/* Checks the desc and resolves it into a plan of the whole net. */
static tml_status nets_slabs_resolve(slab_producer *p, nets_plan *plan)
{
    const tml_surface_labels_desc *net = p->desc->boundaries;
    const slab_given given[SLAB_SOURCES] = {{"desc.boundaries.volume", net->volume, p->desc->type}};
    tml_grid grid = {0};
    uint64_t count = 0;
    tml_status status = nets_slabs_check(p->tml, p->desc);
    TML_THEN(status, surface_resolve_grid(p->tml, "tml_surface_slabs", &net->grid, &grid));
    TML_THEN(status, surface_check_dims(p->tml, "tml_surface_slabs", grid.dims, &count));
    TML_THEN(status, slab_samples_resolve(p, given, grid.dims));
    TML_THEN(status,
             nets_resolve(p->tml, net, p->samples.reads ? p->desc->type : TML_TYPE_NONE, plan));
    return status;
}

tml_status nets_slabs_open(slab_producer *out)
{
    nets_slabs *nets = tml_alloc(out->tml, sizeof *nets);
    if (!nets)
        return slab_error(out->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the call's plan");
    nets_plan *plan = &nets->whole;
    *nets = (nets_slabs){.whole = {.tml = out->tml, .progress = &out->progress}};
    out->verbs = &nets_verbs;
    out->state = nets;
    tml_status status = nets_slabs_resolve(out, plan);
    if (status != TML_OK)
        return status;
    const size_t index_size = plan->indices64 ? sizeof(uint64_t) : sizeof(uint32_t);
    out->region = plan->box;
    out->caps = plan->pad > 0;
    out->halo_below = nets_halo_below(plan);
    out->halo_above = nets_halo_above(plan);
    out->held_first = plan->box.first[2];
    out->held_end = plan->box.first[2] + plan->box.count[2];
    out->parts = &nets->part;
    out->part_count = 1;
    out->vertices_most = 3; /* a sample has three edges, each at most a face of two triangles */
    out->triangles_most = 6;
    out->indices64 = plan->indices64;
    out->quads = plan->quads;
    /* A vertex also has a state during smoothing; a face also has two labels. */
    out->vertex_size = 3 * sizeof(float) + NETS_STATE;
    out->triangle_size = nets_corners(plan) * index_size + 2 * plan->sample_size;
    return TML_OK;
}
