/* tml_surface_labels: checks the desc, resolves it into a plan of the surface net, and creates the
 * outputs. The device makes the net if it can (surface_nets_device.c). Otherwise the host does, for
 * any engine. */
#include <inttypes.h>
#include <math.h>

#include "core/call.h"
#include "labels/surface_nets.h"
#include "stream/desc.h"

#define CALL "tml_surface_labels"

/* ---- checks and resolving -------------------------------------------------------------------- */

enum { VOLUME, SHARING, SMOOTH, RELAXATION, BOUND, POSITIONS, INDICES, FACE_LABELS, ROWS };
static const tml_type integer_types[] = {TML_U8,  TML_I8,  TML_U16, TML_I16,      TML_U32,
                                         TML_I32, TML_U64, TML_I64, TML_TYPE_NONE};
static const desc_range smooth_range = {0, 1000, "at most 1000 iterations"},
                        relaxation_range = {0, 1, "a number above 0 and at most 1 (0: 0.5)"},
                        bound_range = {0, 1, "a number above 0 and at most 1 (0: 1)"};
/* The types of outputs depend on the desc: see describe_outputs. */
static const desc_row rows[ROWS] = {
    [VOLUME] = DESC_ROW(tml_surface_labels_desc, volume, DESC_IN, .types = integer_types,
                        .count = DESC_LENGTH, .is_anywhere = true),
    [SHARING] = DESC_ROW(tml_surface_labels_desc, sharing, DESC_ENUM, .of = "tml_labels_sharing",
                         .most = TML_LABELS_MANIFOLD),
    [SMOOTH] = DESC_ROW(tml_surface_labels_desc, smooth, DESC_U32, .range = &smooth_range),
    [RELAXATION] =
        DESC_ROW(tml_surface_labels_desc, relaxation, DESC_F64, .range = &relaxation_range),
    [BOUND] = DESC_ROW(tml_surface_labels_desc, bound, DESC_F64, .range = &bound_range),
    [POSITIONS] = DESC_ROW(tml_surface_labels_desc, mesh.positions, DESC_OUT, .is_optional = true),
    [INDICES] = DESC_ROW(tml_surface_labels_desc, mesh.indices, DESC_OUT, .is_optional = true),
    [FACE_LABELS] = DESC_ROW(tml_surface_labels_desc, face_labels, DESC_OUT, .is_optional = true)};

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
    if (status == TML_OK && desc->sharing != TML_LABELS_SHARED &&
        (desc->between || desc->inner_only))
        return invalid(tml, "desc.sharing is not TML_LABELS_SHARED, and goes with neither "
                            "desc.between nor desc.inner_only, which leave meshes open");
    plan->background = desc->background;
    plan->chosen = desc->labels;
    plan->chosen_count = desc->label_count;
    plan->between = desc->between;
    plan->inner_only = desc->inner_only;
    return status;
}

/* Chooses the rates of two iterations. An iteration moves all vertices forward by lambda and back
 * by mu, so that waves longer than a few cells keep their height (Taubin: A Signal Processing
 * Approach to Fair Surface Design. 1995). Two lambdas alternate: 1/2 removes the net's shortest
 * waves, a larger one waves twice as long. The pass band of 0.02 compensates for the volume that is
 * lost by clamping vertices to cells.
 * Measured: 16 iterations change the volumes of an atlas of 22 organs by +0.6 % on average and by
 * 2.3 % at most. Forward moves alone shrink them by 4.1 % and 11.9 %. A ball of radius 3 keeps 98 %
 * of its volume instead of 60 %. */
static void choose_rates(double relaxation, float rates[NETS_RATES])
{
    const double lambdas[2] = {fmin(relaxation, 0.5),
                               fmin(1.8 * relaxation, 0.8 + 0.2 * relaxation)};
    for (int i = 0; i < 2; i++) {
        rates[2 * i] = (float)lambdas[i];
        rates[2 * i + 1] = (float)(lambdas[i] / (0.02 * lambdas[i] - 1));
    }
}

static void resolve_smoothing(const tml_surface_labels_desc *desc, nets_plan *plan)
{
    const double bound = desc->bound == 0 ? 1 : desc->bound;
    plan->moves = 2 * desc->smooth;
    choose_rates(desc->relaxation == 0 ? 0.5 : desc->relaxation, plan->rates);
    plan->bound = (int16_t)fmin(bound * NETS_HALF, NETS_HALF - NETS_MARGIN);
}

static void put_double(uint32_t *words, double x)
{
    memcpy(words, &x, sizeof x);
}

static void fill_constants(nets_plan *plan)
{
    uint32_t *words = plan->constants;
    const uint64_t labels[3] = {plan->background, plan->between ? plan->between[0] : 0,
                                plan->between ? plan->between[1] : 0};
    const uint32_t label_words[3] = {NETS_BACKGROUND, NETS_BETWEEN, NETS_BETWEEN + 2};
    words[NETS_WORDS] = (uint32_t)plan->words32;
    words[NETS_PAD] = (uint32_t)plan->pad;
    for (uint32_t a = 0; a < 3; a++) {
        words[NETS_SIZE + a] = (uint32_t)plan->size[a];
        words[NETS_COUNT + a] = (uint32_t)plan->box.count[a];
        words[NETS_FIRST + a] = (uint32_t)plan->box.first[a];
        put_double(&words[NETS_ORIGIN + 2 * a], plan->axes.origin[a]);
        for (uint32_t c = 0; c < 3; c++)
            put_double(&words[NETS_STEPS + 6 * a + 2 * c], plan->axes.step[a][c]);
        words[label_words[a]] = (uint32_t)labels[a];
        words[label_words[a] + 1] = (uint32_t)(labels[a] >> 32);
    }
    words[NETS_STRIDES] = (uint32_t)plan->dims[0];
    words[NETS_STRIDES + 1] = (uint32_t)(plan->dims[0] * plan->dims[1]);
    words[NETS_BYTES] = (uint32_t)plan->sample_size;
    words[NETS_SIGNED] = plan->is_signed;
    for (size_t i = 0; i < 8 / plan->sample_size; i++)
        nets_store(&words[NETS_PATTERN], i, plan->sample_size, plan->background);
    words[NETS_FLIP] = plan->axes.flip_winding;
    words[NETS_CHOOSES] = plan->chosen != NULL;
    words[NETS_NO_BACK] = plan->inner_only;
    words[NETS_HAS_BETWEEN] = plan->between != NULL;
}

tml_status nets_resolve(tml_context *tml, const tml_surface_labels_desc *desc, tml_type read,
                        nets_plan *plan)
{
    tml_grid grid = {0};
    tml_surface_labels_desc checked = *desc;
    desc_numbers numbers = {0};
    const uint32_t first = read ? VOLUME + 1 : VOLUME; /* a volume that is read is no buffer */
    const desc_table table = {rows + first, ROWS - first};
    tml_status status = tml_refuse_recording(tml, CALL, NULL);
    TML_THEN(status, surface_resolve_grid(tml, CALL, &desc->grid, &grid));
    TML_THEN(status, surface_check_dims(tml, CALL, grid.dims, &numbers.of[DESC_LENGTH]));
    if (status == TML_OK && grid.dims[2] >= UINT32_MAX - 1)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         CALL ": %" PRIu64
                              " layers; a net has fewer than 2^32 - 1; give a part of them",
                         grid.dims[2]);
    if (status == TML_OK && tml_type_is_float(read))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         CALL ": labels are of type %s, need an integer's", tml_type_name(read));
    TML_THEN(status, desc_check(tml, CALL, &table, &checked, &numbers));
    TML_THEN(status,
             surface_check_axes(tml, CALL, &grid, desc->position_origin, false, &plan->axes));
    TML_THEN(status, surface_resolve_region(tml, CALL, &desc->region, grid.dims, &plan->box));
    if (status != TML_OK)
        return status;
    plan->type = read ? read : tml_slot_of(tml, desc->volume)->type;
    memcpy(plan->dims, grid.dims, sizeof plan->dims);
    for (int c = 0; c < 3; c++)
        plan->axes.origin[c] += 0.0; /* turns -0 into 0, so that no sum with it is -0 */
    plan->separate = desc->sharing != TML_LABELS_SHARED;
    plan->manifold = desc->sharing == TML_LABELS_MANIFOLD;
    plan->pad = desc->caps || plan->separate;
    for (int a = 0; a < 3; a++)
        plan->size[a] = plan->box.count[a] + 2 * plan->pad;
    plan->face_layers[1] = nets_cells(plan, 2);
    plan->words = TML_CEIL_DIV(plan->size[0], 64);
    plan->words32 = plan->pad + TML_CEIL_DIV(plan->box.count[0] + plan->pad, 32);
    plan->sample_size = tml_type_size(plan->type);
    plan->is_signed = tml_type_is_signed(plan->type);
    const uint64_t group_first = 64 * ((plan->words - 1) / NETS_GROUP * NETS_GROUP);
    for (uint64_t x = group_first; x + 1 < plan->size[0]; x++)
        plan->last_cells[(x - group_first) / 64] |= (nets_word)1 << x % 64;
    plan->quads = desc->quads;
    plan->indices64 = desc->indices64;
    resolve_smoothing(desc, plan);
    status = resolve_labels(tml, desc, plan);
    fill_constants(plan);
    return status;
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* In the order of the result's handles. Nets have neither normals nor values. */
enum { OUT_POSITIONS, OUT_NORMALS, OUT_VALUES, OUT_INDICES, OUT_LABELS, OUTPUTS };

typedef struct nets_outputs {
    surface_output list[OUTPUTS];
    tml_slot *slots[OUTPUTS];
    void *memory[OUTPUTS];
} nets_outputs;

static void describe_outputs(const tml_surface_labels_desc *desc, const nets_plan *plan,
                             tml_surface_result *result, nets_outputs *out)
{
    const tml_type index = plan->indices64 ? TML_U64 : TML_U32;
    const surface_output list[OUTPUTS] = {
        [OUT_POSITIONS] = {.field = "desc.mesh.positions",
                           .wanted = true,
                           .given = desc->mesh.positions,
                           .type = TML_VEC(TML_F32, 3),
                           .count = result->vertex_count,
                           .result = &result->mesh.positions},
        [OUT_INDICES] = {.field = "desc.mesh.indices",
                         .wanted = true,
                         .given = desc->mesh.indices,
                         .type = plan->quads ? TML_VEC(index, 4) : TML_VEC(index, 3),
                         .count = result->triangle_count,
                         .result = &result->mesh.indices},
        [OUT_LABELS] = {.field = "desc.face_labels",
                        .wanted = true,
                        .given = desc->face_labels,
                        .type = TML_VEC(plan->type, 2),
                        .count = result->triangle_count,
                        .result = &result->face_labels}};
    memcpy(out->list, list, sizeof list);
    for (int i = 0; i < OUTPUTS; i++)
        out->list[i].slot = &out->slots[i];
}

static tml_status map_outputs(tml_context *tml, nets_outputs *outputs, nets_plan *plan)
{
    tml_status status = TML_OK;
    for (int i = 0; i < OUTPUTS && status == TML_OK; i++)
        if (outputs->list[i].wanted)
            status = tml_buffer_map(tml, *outputs->list[i].result, &outputs->memory[i]);
    plan->positions = outputs->memory[OUT_POSITIONS];
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

tml_status nets_run_step(nets_plan *plan, double from, double to, tml_status (*step)(nets_plan *))
{
    const double length = plan->call_to - plan->call_from;
    plan->progress_from = plan->call_from + length * from;
    plan->progress_to = plan->call_from + length * to;
    return step(plan);
}

tml_status nets_place_and_emit(nets_plan *plan)
{
    const bool is_whole = plan->kept.edges == plan->net.edges;
    const bool has_own = plan->separate || (!is_whole && plan->moves);
    const uint64_t count = has_own ? nets_vertices(plan, &plan->net) : 0;
    unsigned char *own = count ? nets_alloc(plan, count, NETS_STATE) : NULL;
    if (count && !own)
        return TML_ERROR_OUT_OF_MEMORY;
    plan->state = own ? own : (unsigned char *)plan->positions;
    plan->places = plan->separate ? (float *)(void *)own : plan->positions;
    tml_status status = nets_run_step(plan, 0.25, 0.75, nets_on_host->place);
    TML_THEN(status, nets_run_step(plan, 0.75, 1,
                                   plan->separate ? nets_on_host->emit_parts : nets_on_host->emit));
    nets_free(plan, own, count, NETS_STATE);
    return status;
}

static tml_status count_on_host(nets_plan *plan)
{
    tml_surface_result *out = plan->result;
    tml_status status = nets_run_step(plan, 0, 0.2, nets_on_host->count);
    if (status != TML_OK)
        return status;
    out->vertex_count = nets_vertices(plan, &plan->kept);
    out->triangle_count = nets_faces(plan, &plan->kept) * nets_rows(plan);
    return plan->separate && out->triangle_count
               ? nets_run_step(plan, 0.2, 0.25, nets_on_host->count_parts)
               : TML_OK;
}

static tml_status write_on_host(nets_plan *plan, nets_outputs *outputs)
{
    tml_status status = map_outputs(plan->tml, outputs, plan);
    TML_THEN(status, nets_place_and_emit(plan));
    unmap_outputs(plan->tml, outputs);
    return status;
}

/* Returns a bit, SURFACE_OUT_..., for each output that the call created. */
static uint32_t owned_outputs(const surface_output list[OUTPUTS])
{
    return (uint32_t)list[OUT_POSITIONS].created << SURFACE_OUT_VERTICES |
           (uint32_t)list[OUT_INDICES].created << SURFACE_OUT_INDICES |
           (uint32_t)list[OUT_LABELS].created << SURFACE_OUT_LABELS;
}

static tml_status extract(nets_plan *plan, const tml_surface_labels_desc *desc, bool on_device)
{
    tml_context *tml = plan->tml;
    tml_surface_result *out = plan->result;
    nets_outputs outputs = {0};
    tml_status status = TML_OK;
    if (plan->words)
        status = on_device ? nets_device_count(plan, desc->volume) : count_on_host(plan);
    if (status != TML_OK)
        return status;
    if (out->vertex_count > (uint64_t)UINT32_MAX + 1 && !plan->indices64)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         CALL ": %" PRIu64 " vertices need 64-bit indices; set desc.indices64",
                         out->vertex_count);
    describe_outputs(desc, plan, out, &outputs);
    status = surface_outputs_make(tml, CALL, outputs.list, OUTPUTS);
    if (status == TML_OK && out->triangle_count)
        status = on_device ? nets_device_write(plan, out->mesh.positions, out->mesh.indices,
                                               out->face_labels)
                           : write_on_host(plan, &outputs);
    if (status == TML_OK)
        out->owned = owned_outputs(outputs.list);
    else
        surface_outputs_destroy(tml, outputs.list, OUTPUTS);
    return status;
}

static tml_status extract_on_host(nets_plan *plan, const tml_surface_labels_desc *desc)
{
    void *samples = NULL;
    tml_status status = tml_buffer_map(plan->tml, desc->volume, &samples);
    plan->samples = samples;
    TML_THEN(status, extract(plan, desc, false));
    nets_on_host->release(plan);
    if (samples)
        tml_buffer_unmap(plan->tml, desc->volume);
    return status;
}

/* Sets *is_done to false if memory is short; the host then makes the net. */
static tml_status extract_on_device(nets_plan *plan, const tml_surface_labels_desc *desc,
                                    bool *is_done)
{
    tml_status status = extract(plan, desc, true);
    nets_device_end(plan);
    *is_done = status != TML_ERROR_OUT_OF_MEMORY && status != TML_ERROR_OUT_OF_DEVICE_MEMORY;
    if (*is_done)
        return status;
    *plan->result = (tml_surface_result){.owned = 0};
    return TML_OK;
}

static tml_status surface_labels_of(tml_context *tml, const tml_surface_labels_desc *desc,
                                    tml_surface_result *out)
{
    double progress = 0;
    nets_plan plan = {
        .tml = tml, .result = out, .call_to = 1, .progress_to = 1, .progress = &progress};
    nets_outputs outputs = {0};
    bool is_done = false;
    tml_status status = nets_resolve(tml, desc, TML_TYPE_NONE, &plan);
    if (status == TML_OK) {
        describe_outputs(desc, &plan, out, &outputs);
        status = surface_outputs_check(tml, CALL, outputs.list, OUTPUTS);
    }
    for (int a = 0; a < 3; a++)
        if (plan.size[a] < 2)
            plan.words = 0; /* no cells */
    if (NETS_HAS_DEVICE && status == TML_OK && plan.words && nets_run_on_device(&plan))
        status = extract_on_device(&plan, desc, &is_done);
    if (status == TML_OK && !is_done)
        status = extract_on_host(&plan, desc);
    if (status != TML_OK) { /* for CAPACITY, the caller needs the counts */
        tml_free(tml, out->parts, out->part_count * sizeof *out->parts);
        const tml_surface_result counts = {.vertex_count = out->vertex_count,
                                           .triangle_count = out->triangle_count};
        *out = status == TML_ERROR_CAPACITY ? counts : (tml_surface_result){.owned = 0};
    }
    return status;
}

tml_status tml_surface_labels(tml_context *tml, const tml_surface_labels_desc *desc,
                              tml_surface_result *out)
{
    if (out)
        *out = (tml_surface_result){.owned = 0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, surface_labels_of(tml, desc, out));
}
