/* tml_surface_labels: checks the desc, resolves it into a plan of the surface net, and owns the
 * outputs. The host takes the plan's steps for every engine. */
#include <inttypes.h>
#include <math.h>

#include "core/call.h"
#include "stream/stream_internal.h"
#include "surface/surface_nets.h"

#define CALL "tml_surface_labels"
enum { SMOOTH_MAX = 1000 };
static const tml_type integer_types[] = {TML_U8,  TML_I8,  TML_U16, TML_I16,      TML_U32,
                                         TML_I32, TML_U64, TML_I64, TML_TYPE_NONE};

/* ---- what the steps share --------------------------------------------------------------------- */

void *nets_alloc(nets_plan *plan, uint64_t count, size_t size)
{
    void *memory = tml_alloc_array(plan->tml, count, size);
    if (!memory) {
        (void)tml_error(plan->tml, TML_ERROR_OUT_OF_MEMORY,
                        CALL ": no memory for %" PRIu64 " times %zu bytes; give a smaller region",
                        count, size);
        return NULL;
    }
    plan->memory += count * size;
    plan->result->scratch_size = TML_MAX_OF(plan->result->scratch_size, plan->memory);
    return memory;
}

void nets_free(nets_plan *plan, void *memory, uint64_t count, size_t size)
{
    if (!memory)
        return;
    tml_free(plan->tml, memory, count * size);
    plan->memory -= count * size;
}

void nets_time(const nets_plan *plan, const char *stage, double seconds)
{
    surface_time_in(plan->result->stages, &plan->result->stage_count, stage, seconds);
}

bool nets_report(const nets_plan *plan, const char *stage, double fraction)
{
    const double from = plan->progress_from, to = plan->progress_to;
    if (tml_progress(plan->tml, stage, from + (to - from) * fraction))
        return true;
    (void)tml_error(plan->tml, TML_ERROR_CANCELLED, CALL ": cancelled");
    return false;
}

tml_status nets_run_layers(nets_plan *plan, const char *stage, uint32_t part, uint32_t parts,
                           uint64_t count, tml_task_fn task)
{
    const uint64_t batch = 8 * (uint64_t)tml_concurrency(plan->tml);
    const double start = tml_seconds();
    for (plan->first_layer = 0; plan->first_layer < count; plan->first_layer += batch) {
        const uint64_t some = TML_MIN_OF(batch, count - plan->first_layer);
        tml_parallel_for(plan->tml, (uint32_t)some, task, plan);
        /* Tasks that see the call cancelled leave their layers undefined. */
        const double done = (double)(plan->first_layer + some) / (double)count;
        if (!nets_report(plan, stage, (part + done) / parts))
            return TML_ERROR_CANCELLED;
    }
    nets_time(plan, stage, tml_seconds() - start);
    return TML_OK;
}

/* ---- checks and resolving -------------------------------------------------------------------- */

static tml_status invalid(tml_context *tml, const char *what)
{
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, CALL ": %s", what);
}

static tml_status check_label(tml_context *tml, tml_type type, const char *field, uint64_t number,
                              uint64_t label)
{
    if (surface_label(type, label) == label)
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     CALL ": %s[%" PRIu64 "] is %" PRIu64 ", which is no value of type %s", field,
                     number, label, tml_type_name(type));
}

static tml_status resolve_labels(tml_context *tml, const tml_surface_labels_desc *desc,
                                 nets_plan *plan)
{
    if ((desc->labels != NULL) != (desc->label_count > 0))
        return invalid(tml, "desc.labels and desc.label_count go together");
    tml_status status = check_label(tml, plan->type, "desc.background", 0, desc->background);
    for (uint64_t i = 0; i < desc->label_count && status == TML_OK; i++) {
        status = check_label(tml, plan->type, "desc.labels", i, desc->labels[i]);
        if (status == TML_OK && i &&
            !surface_label_less(plan->type, desc->labels[i - 1], desc->labels[i]))
            return invalid(tml, "desc.labels must ascend, without repeats");
    }
    for (uint64_t i = 0; i < 2 && desc->between && status == TML_OK; i++)
        status = check_label(tml, plan->type, "desc.between", i, desc->between[i]);
    if (status == TML_OK && desc->between && desc->between[0] == desc->between[1])
        return invalid(tml, "desc.between has the same label twice, needs two");
    if (status == TML_OK && desc->separate && (desc->between || desc->no_background))
        return invalid(tml, "desc.separate goes with neither desc.between nor desc.no_background, "
                            "which leave meshes open");
    if (status == TML_OK && desc->manifold && !desc->separate)
        return invalid(tml, "desc.manifold needs desc.separate: shared vertices are not split");
    plan->background = desc->background;
    plan->chosen = desc->labels;
    plan->chosen_count = desc->label_count;
    plan->between = desc->between;
    plan->no_background = desc->no_background;
    return status;
}

static tml_status resolve_smoothing(tml_context *tml, const tml_surface_labels_desc *desc,
                                    nets_plan *plan)
{
    const double relaxation = desc->relaxation == 0 ? 0.5 : desc->relaxation;
    const double bound = desc->bound == 0 ? 1 : desc->bound;
    if (desc->smooth > SMOOTH_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": desc.smooth is %" PRIu32 " iterations, needs at most %d",
                         desc->smooth, SMOOTH_MAX);
    if (!(relaxation > 0 && relaxation <= 1))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": desc.relaxation is %g, needs a number above 0 and at most 1",
                         relaxation);
    if (!(bound > 0 && bound <= 1))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": desc.bound is %g, needs a number above 0 and at most 1, where a "
                              "cell ends",
                         bound);
    plan->iterations = desc->smooth;
    plan->relaxation = (float)relaxation;
    plan->bound = (int16_t)(bound * NETS_HALF);
    return TML_OK;
}

static tml_status resolve(tml_context *tml, const tml_surface_labels_desc *desc, nets_plan *plan)
{
    tml_grid grid = {0};
    surface_plan axes = {0};
    uint64_t count = 0;
    tml_status status = tml_refuse_recording(tml, CALL, NULL);
    if (status == TML_OK)
        status = surface_resolve_grid(tml, CALL, &desc->grid, &grid);
    if (status == TML_OK)
        status = surface_check_dims(tml, CALL, grid.dims, &count);
    if (status == TML_OK)
        status =
            tml_check_buffer_anywhere(tml, CALL, "desc.volume", desc->volume, integer_types, count);
    if (status == TML_OK)
        status = surface_resolve_axes(tml, CALL, &grid, desc->position_origin, false, &axes);
    if (status == TML_OK)
        status = surface_resolve_region(tml, CALL, &desc->region, grid.dims, &plan->box);
    if (status != TML_OK)
        return status;
    tml_buffer_describe(tml, desc->volume, &plan->type, NULL);
    memcpy(plan->dims, grid.dims, sizeof plan->dims);
    memcpy(plan->origin, axes.origin, sizeof plan->origin);
    memcpy(plan->step, axes.step, sizeof plan->step);
    plan->flip_winding = axes.flip_winding;
    plan->pad = desc->caps || desc->separate;
    plan->separate = desc->separate;
    plan->manifold = desc->manifold;
    for (int a = 0; a < 3; a++)
        plan->size[a] = plan->box.count[a] + 2 * plan->pad;
    plan->words = TML_CEIL_DIV(plan->size[0], 64);
    plan->sample_size = tml_type_size(plan->type);
    plan->is_signed = tml_type_is_signed(plan->type);
    const uint64_t group_first = 64 * ((plan->words - 1) / NETS_GROUP * NETS_GROUP);
    for (uint64_t x = group_first; x + 1 < plan->size[0]; x++)
        plan->last_cells[(x - group_first) / 64] |= (nets_word)1 << x % 64;
    plan->quads = desc->quads;
    plan->indices64 = desc->indices64;
    status = resolve_labels(tml, desc, plan);
    return status == TML_OK ? resolve_smoothing(tml, desc, plan) : status;
}

/* ---- outputs --------------------------------------------------------------------------------- */

enum { OUT_VERTICES, OUT_INDICES, OUT_LABELS, OUTPUTS };

typedef struct nets_outputs {
    surface_output list[OUTPUTS];
    tml_slot *slots[OUTPUTS];
    void *memory[OUTPUTS];
} nets_outputs;

static void describe_outputs(const tml_surface_labels_desc *desc, const nets_plan *plan,
                             tml_surface_labels_result *result, nets_outputs *out)
{
    const tml_type index = plan->indices64 ? TML_U64 : TML_U32;
    const surface_output list[OUTPUTS] = {
        {.field = "desc.vertices",
         .given = desc->vertices,
         .type = TML_VEC(TML_F32, 3),
         .count = result->vertex_count,
         .result = &result->vertices},
        {.field = "desc.indices",
         .given = desc->indices,
         .type = plan->quads ? TML_VEC(index, 4) : TML_VEC(index, 3),
         .count = result->face_count,
         .result = &result->indices},
        {.field = "desc.face_labels",
         .given = desc->face_labels,
         .type = TML_VEC(plan->type, 2),
         .count = result->face_count,
         .result = &result->face_labels}};
    memcpy(out->list, list, sizeof list);
    for (int i = 0; i < OUTPUTS; i++) {
        out->list[i].wanted = true;
        out->list[i].slot = &out->slots[i];
    }
}

/* Checks the given outputs' types, and that they overlap neither one another nor the volume. */
static tml_status check_outputs(tml_context *tml, const tml_surface_labels_desc *desc,
                                const nets_outputs *outputs)
{
    const tml_slot *volume = tml_slot_of(tml, desc->volume);
    const stream_field written[OUTPUTS] = {{"desc.vertices", desc->vertices},
                                           {"desc.indices", desc->indices},
                                           {"desc.face_labels", desc->face_labels}};
    const stream_input read[] = {
        {"desc.volume", volume->on_host ? (tml_buffer){0, 0} : desc->volume, 0}};
    tml_status status = surface_outputs_check(tml, CALL, outputs->list, OUTPUTS);
    return status == TML_OK ? stream_check_memory(tml, CALL, written, OUTPUTS, read, 1) : status;
}

static tml_status map_outputs(tml_context *tml, nets_outputs *outputs, nets_plan *plan)
{
    tml_status status = TML_OK;
    for (int i = 0; i < OUTPUTS && status == TML_OK; i++)
        status = tml_buffer_map(tml, *outputs->list[i].result, &outputs->memory[i]);
    plan->positions = outputs->memory[OUT_VERTICES];
    plan->indices = outputs->memory[OUT_INDICES];
    plan->face_labels = outputs->memory[OUT_LABELS];
    return status;
}

static void unmap_outputs(tml_context *tml, const nets_outputs *outputs)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (outputs->memory[i])
            tml_buffer_unmap(tml, *outputs->list[i].result);
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status run_step(nets_plan *plan, double from, double to, tml_status (*step)(nets_plan *))
{
    plan->progress_from = from;
    plan->progress_to = to;
    return step(plan);
}

/* Smooths the net and writes its places: in the memory of the vertices where those are the net's,
 * else in its own. Faces are written from places. */
static tml_status place_and_emit(nets_plan *plan)
{
    const bool is_whole = plan->kept.edges == plan->net.edges;
    const bool has_own = plan->separate || (!is_whole && plan->iterations);
    const uint64_t count = has_own ? nets_vertices(plan, &plan->net) : 0;
    unsigned char *own = count ? nets_alloc(plan, count, NETS_STATE) : NULL;
    if (count && !own)
        return TML_ERROR_OUT_OF_MEMORY;
    plan->state = own ? own : (unsigned char *)plan->positions;
    plan->places = plan->separate ? (float *)(void *)own : plan->positions;
    tml_status status = run_step(plan, 0.25, 0.75, plan->steps->place);
    if (status == TML_OK)
        status =
            run_step(plan, 0.75, 1, plan->separate ? plan->steps->emit_parts : plan->steps->emit);
    nets_free(plan, own, count, NETS_STATE);
    return status;
}

static tml_status extract(nets_plan *plan, const tml_surface_labels_desc *desc,
                          tml_surface_labels_result *out)
{
    tml_context *tml = plan->tml;
    nets_outputs outputs = {0};
    tml_status status = TML_OK;
    for (int a = 0; a < 3; a++)
        if (plan->size[a] < 2)
            plan->words = 0; /* without cells */
    if (plan->words) {
        status = run_step(plan, 0, 0.2, plan->steps->count);
        if (status != TML_OK)
            return status;
        out->vertex_count = nets_vertices(plan, &plan->kept);
        out->face_count = nets_faces(plan, &plan->kept) * (plan->quads ? 1 : 2);
        if (plan->separate && out->face_count)
            status = run_step(plan, 0.2, 0.25, plan->steps->count_parts);
        if (status != TML_OK)
            return status;
    }
    if (out->vertex_count > (uint64_t)UINT32_MAX + 1 && !plan->indices64)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         CALL ": %" PRIu64 " vertices need 64-bit indices; set desc.indices64",
                         out->vertex_count);
    describe_outputs(desc, plan, out, &outputs);
    status = surface_outputs_make(tml, CALL, outputs.list, OUTPUTS);
    if (status == TML_OK && out->face_count) {
        status = map_outputs(tml, &outputs, plan);
        if (status == TML_OK)
            status = place_and_emit(plan);
        unmap_outputs(tml, &outputs);
    }
    if (status == TML_OK)
        out->owned = surface_outputs_owned(outputs.list, OUTPUTS);
    else
        surface_outputs_destroy(tml, outputs.list, OUTPUTS);
    return status;
}

static tml_status surface_labels_of(tml_context *tml, const tml_surface_labels_desc *desc,
                                    tml_surface_labels_result *out)
{
    const nets_steps *own = nets_steps_of[tml->engine->part];
    nets_plan plan = {.tml = tml, .result = out, .steps = own ? own : nets_steps_of[PART_CPU]};
    nets_outputs outputs = {0};
    void *samples = NULL;
    tml_status status = resolve(tml, desc, &plan);
    if (status == TML_OK) {
        describe_outputs(desc, &plan, out, &outputs);
        status = check_outputs(tml, desc, &outputs);
    }
    if (status == TML_OK)
        status = tml_buffer_map(tml, desc->volume, &samples);
    plan.samples = samples;
    if (status == TML_OK)
        status = extract(&plan, desc, out);
    plan.steps->release(&plan);
    if (samples)
        tml_buffer_unmap(tml, desc->volume);
    if (status != TML_OK) { /* CAPACITY: the caller gets the counts */
        tml_free(tml, out->parts, out->part_count * sizeof *out->parts);
        const tml_surface_labels_result counts = {.vertex_count = out->vertex_count,
                                                  .face_count = out->face_count};
        *out = status == TML_ERROR_CAPACITY ? counts : (tml_surface_labels_result){.owned = 0};
    }
    return status;
}

tml_status tml_surface_labels(tml_context *tml, const tml_surface_labels_desc *desc,
                              tml_surface_labels_result *out)
{
    if (out)
        *out = (tml_surface_labels_result){.owned = 0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, surface_labels_of(tml, desc, out));
}

void tml_surface_labels_free(tml_context *tml, tml_surface_labels_result *result)
{
    if (TML_ENTER(tml, result) != TML_OK)
        return;
    const tml_buffer buffers[OUTPUTS] = {result->vertices, result->indices, result->face_labels};
    for (int i = 0; i < OUTPUTS; i++)
        if (result->owned >> i & 1)
            tml_buffer_destroy(tml, buffers[i]);
    tml_free(tml, result->parts, result->part_count * sizeof *result->parts);
    *result = (tml_surface_labels_result){.owned = 0};
    (void)tml_leave(tml, TML_OK);
}
