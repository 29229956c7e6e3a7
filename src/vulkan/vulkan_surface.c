/* The surface on the Vulkan engine: sign bits, counts, places, then vertices and triangles.
 *
 * The volume is read once, into one bit a sample (surface_bits.comp); the rest works on words of bits,
 * which stay in the device's cache. Rows are counted in chunks (surface_count.comp), one workgroup
 * places the chunks (surface_scan.comp), and each tile with something in it is emitted by one
 * subgroup (surface_emit.comp). Where samples are missing, which the device finds out by itself,
 * surface_cells.comp marks the cells that have all their corners. Formulas and order are the CPU
 * engine's. */
#include <inttypes.h>
#include <string.h>

#include "surface/surface_internal.h"
#include "vulkan/vulkan_field.h"
#include "vulkan_shaders.h"

#include "kernels/kernel.h"

#include "kernels/surface_args.k.h"

#include "kernels/kernel_end.h"

enum { HEAD_SIZE = 4 * (SURFACE_HEAD_WORDS + SURFACE_TABLE_WORDS) };

/* ---- workspaces ------------------------------------------------------------------------------ */

typedef struct workspace {
    const surface_part *part;
    uint32_t pad;
    uint32_t size[3]; /* samples, with the pad */
    uint32_t words;   /* in a row */
    uint64_t word_count;
    uint32_t width_log2, segments; /* lanes of a row; how often a row fills them */
    uint32_t chunk_count;
    vk_address head, bits, nan_words, present, cells, rows, row_segments, chunks, list;
} workspace;

typedef struct surface_job {
    tml_context *tml;
    const surface_plan *plan;
    vk_address scratch;
    vk_address volume; /* of the whole volume's first sample */
    vk_address totals; /* SURFACE_TOTAL_WORDS a part */
    bool may_miss;     /* samples may be missing: mask, or NaN */
} surface_job;

static bool may_miss_samples(const surface_plan *plan)
{
    return plan->mask || tml_type_is_float(plan->type);
}

static uint32_t log2_ceil(uint32_t n)
{
    uint32_t log2 = 0;
    while (log2 < 31 && (uint32_t)1 << log2 < n)
        log2++;
    return log2;
}

static void workspace_layout(tml_context *tml, const surface_plan *plan, const surface_part *part,
                             vk_arena *arena, workspace *out)
{
    *out = (workspace){.part = part, .pad = plan->caps ? 1 : 0};
    for (int a = 0; a < 3; a++)
        out->size[a] = (uint32_t)part->box.count[a] + 2 * out->pad;
    out->words = (out->size[0] + 31) / 32;
    uint64_t rows = (uint64_t)out->size[1] * out->size[2];
    out->word_count = rows * out->words;
    uint32_t lanes_log2 = TML_MIN_OF(log2_ceil(vk_caps_of(tml)->subgroup), 5u);
    out->width_log2 = TML_MIN_OF(log2_ceil(out->words), lanes_log2);
    uint32_t width = 1u << out->width_log2;
    out->segments = (out->words + width - 1) / width;
    uint32_t chunk_rows = 1u << SURFACE_CHUNK_LOG2(out->width_log2);
    out->chunk_count = (uint32_t)((rows + chunk_rows - 1) / chunk_rows);
    out->head = vk_take(arena, 1, HEAD_SIZE);
    out->bits = vk_take(arena, out->word_count, sizeof(uint32_t));
    if (may_miss_samples(plan)) {
        out->nan_words = vk_take(arena, (out->word_count + 31) / 32, sizeof(uint32_t));
        out->present = vk_take(arena, out->word_count, sizeof(uint32_t));
        out->cells = vk_take(arena, out->word_count, sizeof(uint32_t));
    }
    out->rows = vk_take(arena, rows, 16);
    if (out->segments > 1)
        out->row_segments = vk_take(arena, rows * out->segments, 16);
    out->chunks = vk_take(arena, out->chunk_count, 16);
    out->list = vk_take(arena, (uint64_t)out->chunk_count * 64, sizeof(uint32_t));
}

/* Totals and a field's samples, then the workspaces; labels take turns in one place. */
static void layout_head(const surface_plan *plan, vk_arena *arena, surface_job *job)
{
    job->totals = vk_take(arena, plan->part_count, 4 * SURFACE_TOTAL_WORDS);
    if (plan->field)
        job->volume = vk_take(arena, plan->dims[0] * plan->dims[1] * plan->dims[2], sizeof(float));
}

static workspace workspace_of(const surface_job *job, uint32_t part)
{
    vk_arena arena = {job->scratch, 0};
    surface_job ignored;
    workspace space;
    layout_head(job->plan, &arena, &ignored);
    for (uint32_t p = job->plan->labels ? part : 0; p <= part; p++)
        workspace_layout(job->tml, job->plan, &job->plan->parts[p], &arena, &space);
    return space;
}

static size_t surface_scratch_size(tml_context *tml, const void *desc)
{
    const surface_plan *plan = desc;
    if (plan->stage == SURFACE_INDEX)
        return 0;
    vk_arena start = {0, 0};
    surface_job job;
    workspace space;
    layout_head(plan, &start, &job);
    vk_arena arena = start;
    size_t size = start.size;
    for (uint32_t p = 0; p < plan->part_count; p++) {
        if (plan->labels)
            arena = start;
        workspace_layout(tml, plan, &plan->parts[p], &arena, &space);
        size = TML_MAX_OF(size, arena.size);
    }
    return size;
}

/* ---- dispatches ------------------------------------------------------------------------------ */

static uint64_t groups_of(uint64_t items, uint64_t items_a_group)
{
    return (items + items_a_group - 1) / items_a_group;
}

/* The options that all shaders of a part share. */
static uint32_t options_of(const surface_job *job)
{
    const surface_plan *plan = job->plan;
    return (plan->caps ? SURFACE_PAD : 0) | (job->may_miss ? SURFACE_NAN : 0) |
           (plan->mask ? SURFACE_MASK : 0) | (plan->labels ? SURFACE_LABEL : 0) |
           (plan->iso_on_device ? SURFACE_HELD_LIMITS : 0);
}

static surface_limits limits_of(const surface_job *job, const surface_part *part)
{
    return job->plan->labels ? surface_limits_of_label(job->plan->type, part->label)
                             : surface_limits_of(job->plan->type, part->iso);
}

/* Do the bits of the box's samples, in whole words, lie like the samples in memory? */
static uint32_t read_form(const surface_job *job, const workspace *space, vk_address first)
{
    const surface_plan *plan = job->plan;
    const surface_box *box = &space->part->box;
    size_t size = tml_type_size(plan->type);
    if (space->pad || plan->mask || box->count[0] != plan->dims[0] ||
        box->count[1] != plan->dims[1] || box->count[0] % 32 != 0)
        return SURFACE_READ_ANY;
    if (size == 4)
        return SURFACE_READ_WORDS;
    return size < 4 && plan->type != TML_F16 && first % 16 == 0 ? SURFACE_READ_NARROW
                                                                : SURFACE_READ_ANY;
}

static tml_status make_bits(const surface_job *job, const workspace *space, const vk_states *states)
{
    const surface_plan *plan = job->plan;
    const uint64_t *first = space->part->box.first;
    uint64_t sample = (first[2] * plan->dims[1] + first[1]) * plan->dims[0] + first[0];
    surface_limits limits = limits_of(job, space->part);
    surface_bits_args args = {
        .volume = job->volume + sample * tml_type_size(plan->type),
        .mask = plan->mask ? vk_slot_address(plan->mask) + sample : 0,
        .bits = space->bits,
        .nan_words = space->nan_words,
        .present = space->present,
        .states = states->words,
        .clear = states->clear,
        .head = space->head,
        .clear_count = states->clear_count,
        .dim_x = (uint32_t)plan->dims[0],
        .dim_y = (uint32_t)plan->dims[1],
        .size_x = space->size[0],
        .size_y = space->size[1],
        .size_z = space->size[2],
        .limit_low = (uint32_t)limits.limit,
        .limit_high = (uint32_t)(limits.limit >> 32),
        .range_low = (uint32_t)limits.range,
        .range_high = (uint32_t)(limits.range >> 32),
        .keep = limits.is_none ? 0 : UINT32_MAX,
    };
    memcpy(&args.iso_bits, &limits.index_iso, sizeof args.iso_bits);
    uint32_t options = options_of(job), form = read_form(job, space, args.volume);
    if (plan->index && !space->pad) {
        uint64_t bricks_x = (plan->dims[0] + SURFACE_BRICK_X - 1) / SURFACE_BRICK_X;
        uint64_t bricks_y = (plan->dims[1] + SURFACE_BRICK_Y - 1) / SURFACE_BRICK_Y;
        uint64_t brick =
            first[0] / SURFACE_BRICK_X +
            bricks_x * (first[1] / SURFACE_BRICK_Y + bricks_y * (first[2] / SURFACE_BRICK_Z));
        args.index = vk_slot_address(plan->index) + 2 * sizeof(float) * brick;
        args.index_place = (uint32_t)(first[1] % SURFACE_BRICK_Y | first[2] % SURFACE_BRICK_Z << 2);
        options |= SURFACE_INDEXED;
    }
    static const vk_module *const modules[] = {[SURFACE_READ_ANY] = &vk_shader_surface_bits,
                                               [SURFACE_READ_WORDS] = &vk_shader_surface_bits_words,
                                               [SURFACE_READ_NARROW] =
                                                   &vk_shader_surface_bits_narrow};
    uint32_t team = TML_MIN_OF(vk_caps_of(job->tml)->subgroup, 32u);
    return vk_dispatch(job->tml, &(vk_dispatch_info){
                                     .module = modules[form],
                                     .spec_count = 2,
                                     .specs = {plan->type, options},
                                     .args = &args,
                                     .args_size = sizeof args,
                                     .groups = groups_of(space->word_count, VK_GROUP / team * 32)});
}

static tml_status mark_cells(const surface_job *job, const workspace *space,
                             const vk_states *states)
{
    if (!job->may_miss)
        return TML_OK;
    const surface_cells_args args = {.nan_words = space->nan_words,
                                     .present = space->present,
                                     .cells = space->cells,
                                     .size_x = space->size[0],
                                     .size_y = space->size[1],
                                     .size_z = space->size[2]};
    bool always = job->plan->mask != NULL;
    return vk_dispatch(
        job->tml,
        &(vk_dispatch_info){.module = &vk_shader_surface_cells,
                            .args = &args,
                            .args_size = sizeof args,
                            .groups = groups_of(space->word_count, VK_GROUP),
                            .indirect = always ? 0 : states->words + 4 * SURFACE_STATE_GROUPS});
}

static tml_status count_rows(const surface_job *job, const workspace *space,
                             const vk_states *states)
{
    const surface_plan *plan = job->plan;
    surface_count_args args = {.bits = space->bits,
                               .cells = space->cells,
                               .states = states->words,
                               .rows = space->rows,
                               .segments = space->row_segments,
                               .chunks = space->chunks,
                               .list = space->list,
                               .head = space->head,
                               .size_x = space->size[0],
                               .size_y = space->size[1],
                               .size_z = space->size[2]};
    float place[12];
    for (int c = 0; c < 3; c++) {
        place[c] = (float)plan->origin[c];
        for (int a = 0; a < 3; a++)
            place[3 + 3 * a + c] = (float)plan->step[a][c];
    }
    memcpy(&args.place0, place, sizeof place);
    return vk_dispatch(job->tml,
                       &(vk_dispatch_info){.module = &vk_shader_surface_count,
                                           .spec_count = 4,
                                           .specs = {plan->type, options_of(job), space->width_log2,
                                                     space->segments > 1},
                                           .args = &args,
                                           .args_size = sizeof args,
                                           .groups = space->chunk_count});
}

static tml_status place_chunks(const surface_job *job, const workspace *space, uint32_t part,
                               const vk_states *states)
{
    const surface_plan *plan = job->plan;
    vk_address total = job->totals + 4 * SURFACE_TOTAL_WORDS * part;
    surface_scan_args args = {.chunks = space->chunks,
                              .head = space->head,
                              .states = states->words,
                              .base = part ? total - 4 * SURFACE_TOTAL_WORDS : 0,
                              .total = total,
                              .draw = plan->draw ? vk_slot_address(plan->draw) : 0,
                              .counts = plan->counts ? vk_slot_address(plan->counts) : 0,
                              .chunk_count = space->chunk_count,
                              .wide_counts = plan->counts && plan->counts->type == TML_U64,
                              .vertex_room_low = (uint32_t)plan->vertex_capacity,
                              .vertex_room_high = (uint32_t)(plan->vertex_capacity >> 32),
                              .triangle_room_low = (uint32_t)plan->triangle_capacity,
                              .triangle_room_high = (uint32_t)(plan->triangle_capacity >> 32),
                              .segments = space->segments | (plan->mask ? 0x80000000u : 0)};
    memcpy(&args.normal0, plan->normal_rows, sizeof plan->normal_rows);
    return vk_dispatch(job->tml, &(vk_dispatch_info){.module = &vk_shader_surface_scan,
                                                     .args = &args,
                                                     .args_size = sizeof args,
                                                     .groups = 1});
}

/* Everything up to the part's totals. */
static tml_status count_part(const surface_job *job, const workspace *space, uint32_t part)
{
    vk_states states;
    tml_status status = vk_take_states(job->tml, SURFACE_STATE_WORDS, &states);
    if (status == TML_OK)
        status = make_bits(job, space, &states);
    if (status == TML_OK)
        status = mark_cells(job, space, &states);
    if (status == TML_OK)
        status = count_rows(job, space, &states);
    if (status == TML_OK)
        status = place_chunks(job, space, part, &states);
    return status;
}

static vk_address address_or_none(const tml_slot *slot)
{
    return slot ? vk_slot_address(slot) : 0;
}

static tml_status emit_part(const surface_job *job, const workspace *space)
{
    const surface_plan *plan = job->plan;
    surface_limits limits = limits_of(job, space->part);
    const surface_box *box = &space->part->box;
    surface_emit_args args = {
        .volume = job->volume,
        .attributes = address_or_none(plan->attribute),
        .positions = vk_slot_address(plan->positions),
        .normals = address_or_none(plan->vertex_normals),
        .values = address_or_none(plan->vertex_values),
        .indices = vk_slot_address(plan->indices),
        .head = space->head,
        .bits_at = (uint32_t)((space->bits - space->head) / 256),
        .cells_at = (uint32_t)((space->cells - space->head) / 256),
        .rows_at = (uint32_t)((space->rows - space->head) / 256),
        .segments_at = (uint32_t)((space->row_segments - space->head) / 256),
        .chunks_at = (uint32_t)((space->chunks - space->head) / 256),
        .list_at = (uint32_t)((space->list - space->head) / 256),
        .size_x = space->size[0],
        .size_y = space->size[1],
        .size_z = space->size[2],
        .dim_x = (uint32_t)plan->dims[0],
        .dim_y = (uint32_t)plan->dims[1],
        .dim_z = (uint32_t)plan->dims[2],
        .first_x = (uint32_t)box->first[0],
        .first_y = (uint32_t)box->first[1],
        .first_z = (uint32_t)box->first[2],
        .iso0 = limits.iso_words[0],
        .iso1 = limits.iso_words[1],
        .iso2 = limits.iso_words[2],
    };
    uint32_t options = options_of(job) | (plan->flip_winding ? SURFACE_FLIP : 0) |
                       (plan->indices64 ? SURFACE_WIDE : 0) |
                       (plan->vertex_values ? SURFACE_ATTRIBUTE : 0);
    tml_type attribute = plan->attribute ? plan->attribute->type : TML_F32;
    bool is_double = plan->type == TML_F64 || attribute == TML_F64;
    tml_normals normals = plan->vertex_normals ? plan->normals : TML_NORMALS_NONE;
    bool is_full = plan->vertex_normals || plan->vertex_values;
    return vk_dispatch(
        job->tml, &(vk_dispatch_info){.module = is_double ? &vk_shader_surface_emit_f64
                                                : is_full ? &vk_shader_surface_emit_full
                                                          : &vk_shader_surface_emit,
                                      .spec_count = 6,
                                      .specs = {plan->type, options, space->width_log2,
                                                space->segments > 1, attribute, (uint32_t)normals},
                                      .args = &args,
                                      .args_size = sizeof args,
                                      .groups = 1,
                                      .indirect = space->head + 4 * SURFACE_HEAD_GROUPS});
}

/* ---- stages ---------------------------------------------------------------------------------- */

static tml_status step_done(const surface_job *job, const char *stage, uint32_t part)
{
    const surface_plan *plan = job->plan;
    double done = (part + 1.0) / plan->part_count;
    if (tml_progress(job->tml, stage,
                     plan->progress_first + (plan->progress_last - plan->progress_first) * done))
        return TML_OK;
    return tml_error(job->tml, TML_CANCELLED, "tml_surface: cancelled");
}

/* Brings the totals to the host; waits. */
static tml_status read_totals(const surface_job *job)
{
    const surface_plan *plan = job->plan;
    tml_context *tml = job->tml;
    if (plan->part_count == 0)
        return TML_OK;
    uint64_t words = (uint64_t)plan->part_count * SURFACE_TOTAL_WORDS / 2;
    tml_buffer buffer;
    const tml_buffer_desc desc = {.type = TML_U64, .count = words, .label = "surface totals"};
    tml_status status = tml_buffer_create(tml, &desc, &buffer);
    if (status != TML_OK)
        return status;
    size_t size = words * sizeof(uint64_t);
    uint64_t *totals = tml_alloc(tml, size);
    if (!totals)
        status = tml_error(tml, TML_OUT_OF_MEMORY, "tml_surface: no memory for the totals");
    if (status == TML_OK)
        status = vk_copy(tml, vk_address_of(tml, buffer), job->totals, size);
    if (status == TML_OK)
        status = tml_read(tml, buffer, totals);
    uint64_t vertices = 0, triangles = 0;
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        const uint64_t *total = totals + (size_t)p * SURFACE_TOTAL_WORDS / 2;
        surface_part *part = &plan->parts[p];
        part->vertex_count = total[0] - vertices;
        part->triangle_count = total[1] - triangles;
        part->active_cells = total[2];
        vertices = total[0];
        triangles = total[1];
    }
    tml_free(tml, totals, size);
    tml_buffer_destroy(tml, buffer);
    return status;
}

static tml_status run_count(surface_job *job)
{
    const surface_plan *plan = job->plan;
    double start = tml_seconds();
    tml_status status = TML_OK;
    if (plan->field)
        status = vk_field_slab(job->tml, plan->field, 0, plan->dims[2], job->volume);
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        workspace space = workspace_of(job, p);
        status = count_part(job, &space, p);
        if (status == TML_OK)
            status = step_done(job, "counts", p);
    }
    if (status == TML_OK)
        status = read_totals(job);
    if (status == TML_OK)
        surface_time(plan->result, "counts", tml_seconds() - start);
    return status;
}

static tml_status run_emit(surface_job *job)
{
    const surface_plan *plan = job->plan;
    double start = tml_seconds();
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        workspace space = workspace_of(job, p);
        if (plan->parts[p].triangle_count > 0) {
            /* Labels share a workspace: what another one left there is made again. */
            if (plan->labels)
                status = count_part(job, &space, p);
            if (status == TML_OK)
                status = emit_part(job, &space);
        }
        if (status == TML_OK)
            status = step_done(job, "vertices and triangles", p);
    }
    if (status == TML_OK)
        surface_time(plan->result, "vertices and triangles", tml_seconds() - start);
    return status;
}

/* One subgroup a brick. */
static tml_status run_index(const surface_job *job)
{
    const surface_plan *plan = job->plan;
    const surface_index_args args = {.volume = job->volume,
                                     .bricks = vk_slot_address(plan->bricks),
                                     .dim_x = (uint32_t)plan->dims[0],
                                     .dim_y = (uint32_t)plan->dims[1],
                                     .dim_z = (uint32_t)plan->dims[2]};
    return vk_dispatch(
        job->tml,
        &(vk_dispatch_info){
            .module = &vk_shader_surface_index,
            .spec_count = 1,
            .specs = {plan->type},
            .args = &args,
            .args_size = sizeof args,
            .groups = groups_of(plan->bricks->count, VK_GROUP / vk_caps_of(job->tml)->subgroup)});
}

/* From the isovalue to the draw arguments, with nothing for the host in between. */
static tml_status run_enqueue(const surface_job *job)
{
    const surface_plan *plan = job->plan;
    workspace space = workspace_of(job, 0);
    tml_status status = TML_OK;
    if (plan->iso_on_device) {
        const surface_iso_args args = {.iso = vk_slot_address(plan->iso_on_device) +
                                              sizeof(float) * plan->iso_index,
                                       .head = space.head};
        status = vk_dispatch(job->tml, &(vk_dispatch_info){.module = &vk_shader_surface_iso,
                                                           .spec_count = 1,
                                                           .specs = {plan->type},
                                                           .args = &args,
                                                           .args_size = sizeof args,
                                                           .groups = 1});
    }
    if (status == TML_OK)
        status = count_part(job, &space, 0);
    if (status == TML_OK)
        status = emit_part(job, &space);
    return status;
}

/* What the shaders number with 32 bits, and types that the device lacks. */
static tml_status check(tml_context *tml, const surface_plan *plan)
{
    bool is_double = plan->type == TML_F64 || (plan->attribute && plan->attribute->type == TML_F64);
    if (plan->stage != SURFACE_INDEX && is_double && !vk_caps_of(tml)->float64)
        return tml_error(tml, TML_UNSUPPORTED,
                         "tml_surface: f64 samples need shaderFloat64, which %s lacks",
                         tml->device.name);
    const uint64_t *dims = plan->dims;
    if (dims[1] * dims[2] > UINT32_MAX)
        return tml_error(tml, TML_UNSUPPORTED,
                         "tml_surface: %" PRIu64 " x %" PRIu64
                         " rows: on Vulkan a volume has less than 2^32",
                         dims[1], dims[2]);
    for (uint32_t p = 0; p < plan->part_count; p++) {
        const surface_box *box = &plan->parts[p].box;
        uint64_t rows = (box->count[1] + 2) * (box->count[2] + 2);
        uint64_t words = (box->count[0] + 2 + 31) / 32;
        if (box->count[0] + 2 > SURFACE_COLUMNS_MAX || rows > INT32_MAX ||
            rows * words > UINT32_MAX)
            return tml_error(
                tml, TML_UNSUPPORTED,
                "tml_surface: %" PRIu64 " x %" PRIu64 " x %" PRIu64
                " samples: on Vulkan a row has at most 2^20, rows times slices and "
                "words of 32 samples number at most 2^31 and 2^32; surface a region at "
                "a time",
                box->count[0], box->count[1], box->count[2]);
    }
    return TML_OK;
}

static tml_status surface_run(tml_context *tml, const void *desc, void *scratch,
                              size_t scratch_size)
{
    const surface_plan *plan = desc;
    tml_status status = check(tml, plan);
    if (status != TML_OK)
        return status;
    vk_arena arena = vk_arena_of(scratch);
    surface_job job = {
        .tml = tml, .plan = plan, .scratch = arena.base, .may_miss = may_miss_samples(plan)};
    layout_head(plan, &arena, &job);
    if (plan->volume)
        job.volume = vk_slot_address(plan->volume);
    switch (plan->stage) {
    case SURFACE_COUNT:
        plan->result->scratch_size = scratch_size;
        return run_count(&job);
    case SURFACE_EMIT:
        return run_emit(&job);
    case SURFACE_ENQUEUE:
        return run_enqueue(&job);
    default:
        return run_index(&job);
    }
}

const tml_engine_op vk_op_surface = {
    .scratch_size = surface_scratch_size,
    .run = surface_run,
};
