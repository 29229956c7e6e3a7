/* The surface on the Vulkan engine: sign bits, counts, prefix sums, then vertices and triangles.
 *
 * The volume is read once, into one sign bit per sample (surface_bits.comp). The other shaders work
 * on words of sign bits, which stay in the device's cache. surface_count.comp counts chunks of
 * rows. surface_scan.comp computes the chunks' prefix sums. Subgroups emit the active words, one
 * word per lane (surface_vertices.glsl, surface_triangles.comp). If the device finds missing
 * samples, surface_cells.comp marks the cells whose corners are all present.
 *
 * With TRILINEAR, surface_open.comp lists the words with ambiguous cells before words are counted.
 * surface_meshes.comp chooses these cells' meshes by floats, surface_meshes_exact.comp those that
 * floats cannot decide, and surface_own.comp emits the vertices in the cells.
 *
 * A volume or field that does not fit the device is processed in slabs of layers
 * (vulkan_surface_layout.c). A slab's numbers follow those of the previous slab. Formulas and order
 * are the CPU engine's. */
#include <inttypes.h>
#include <string.h>

#include "surface/vulkan/vulkan_surface_internal.h"
#include "surface_vulkan_shaders.h"

#include "kernels/kernel.h"

#include "surface/gpu/surface_args.k.h"
#include "surface/gpu/surface_options.k.h"

#include "kernels/kernel_end.h"

/* ---- soups ----------------------------------------------------------------------------------- */

/* The most workgroups that gather, each some blocks of triangles: more than run at a time. */
enum { SOUP_GROUPS_MAX = 4096 };

/* Gathers the plan's outputs from a welded mesh: triangle_count triangles, or total's if fewer. */
static tml_status gather_soup(tml_context *tml, const surface_plan *plan,
                              const surface_outputs *welded, uint64_t triangle_count,
                              vk_address total)
{
    const surface_layout *layout = surface_layout_of(plan);
    const surface_outputs to = surface_addresses_of(&plan->mesh);
    const bool apart = !layout->stride;
    uint64_t groups =
        TML_MIN_OF(TML_CEIL_DIV(triangle_count, SURFACE_SOUP_BLOCK), (uint64_t)SOUP_GROUPS_MAX);
    const surface_soup_args args = {
        .indices = welded->indices,
        .positions = welded->positions,
        .normals = apart ? welded->normals : 0,
        .values = apart ? welded->values : 0,
        .to_positions = to.positions,
        .to_normals = to.normals, /* used if welded has normals */
        .to_values = to.values,
        .total = total,
        .triangles_low = (uint32_t)triangle_count,
        .triangles_high = (uint32_t)(triangle_count >> 32),
        .vertex_room = (uint32_t)TML_MIN_OF(plan->vertex_capacity, (uint64_t)UINT32_MAX),
        .groups = (uint32_t)groups,
    };
    return vk_dispatch(tml, &(vk_dispatch_info){.module = &vk_shader_surface_soup,
                                                .spec_count = 5,
                                                .specs = {plan->type, 0, total != 0,
                                                          layout->stride ? layout->stride / 4 : 3,
                                                          layout->octahedral ? 1 : 3},
                                                .args = &args,
                                                .args_size = sizeof args,
                                                .groups = groups});
}

static tml_status run_soup(tml_context *tml, const surface_plan *plan)
{
    const surface_outputs welded = surface_addresses_of(&plan->welded.mesh);
    if (plan->indices64)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface: desc.soup: %" PRIu64 " vertices before their triangles; on "
                         "Vulkan at most 2^32; surface a region at a time",
                         plan->welded.vertex_count);
    return gather_soup(tml, plan, &welded, plan->welded.triangle_count, 0);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Double buffer for host samples: a slab replaces the slab before the previous one. */
typedef struct slab_turn {
    uint32_t place;
    vk_mark last_use[2];
} slab_turn;

static tml_status source_load(const vk_surface_job *job, surface_source *source,
                              const slab_turn *turn)
{
    if (!source->host && !source->is_field)
        return TML_OK;
    surface_source_place(job, source, turn->place);
    uint64_t layers = source->end - source->first;
    vk_address to = source->copies[turn->place];
    if (source->is_field)
        return field_slab(job->tml, job->plan->field, source->first, layers, (void *)(uintptr_t)to);
    return vk_upload(job->tml, to, (size_t)(layers * source->slice),
                     source->host + (source->first - source->held_first) * source->slice,
                     turn->last_use[turn->place]);
}

/* Loads the samples that the stage needs. COUNT needs no attribute. EMIT of the whole volume finds
 * volume and mask in scratch. */
static tml_status load_samples(vk_surface_job *job, const slab_turn *turn)
{
    bool counts = job->plan->stage == SURFACE_COUNT || !job->is_whole;
    bool emits = job->plan->stage == SURFACE_EMIT;
    surface_source *sources = job->sources;
    tml_status status = TML_OK;
    if (counts)
        status = source_load(job, &sources[SOURCE_VOLUME], turn);
    if (status == TML_OK && counts)
        status = source_load(job, &sources[SOURCE_MASK], turn);
    if (status == TML_OK && emits)
        status = source_load(job, &sources[SOURCE_ATTRIBUTE], turn);
    return status;
}

/* ---- totals ---------------------------------------------------------------------------------- */

/* The totals in a device buffer and on the host. */
typedef struct totals_copy {
    tml_buffer buffer;
    uint64_t *words;
    size_t size;
} totals_copy;

static tml_status totals_open(const vk_surface_job *job, totals_copy *out)
{
    uint64_t count = (uint64_t)job->plan->part_count * SURFACE_TOTAL_WORDS / 2;
    *out = (totals_copy){.size = count * sizeof(uint64_t)};
    const tml_buffer_desc desc = {.type = TML_U64, .count = count, .label = "surface totals"};
    tml_status status = tml_buffer_create(job->tml, &desc, &out->buffer);
    out->words = status == TML_OK ? tml_alloc(job->tml, out->size) : NULL;
    if (status == TML_OK && !out->words)
        status =
            tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY, "tml_surface: no memory for the totals");
    return status;
}

static void totals_close(const vk_surface_job *job, totals_copy *totals)
{
    tml_free(job->tml, totals->words, totals->size);
    tml_buffer_destroy(job->tml, totals->buffer);
}

/* Reads the totals back, and waits. In slabs they are the part's own, else inclusive prefixes. */
static tml_status read_totals(const vk_surface_job *job)
{
    const surface_plan *plan = job->plan;
    tml_context *tml = job->tml;
    totals_copy totals;
    if (plan->part_count == 0)
        return TML_OK;
    tml_status status = totals_open(job, &totals);
    TML_THEN(status, vk_copy(tml, vk_address_of(tml, totals.buffer), job->totals, totals.size));
    TML_THEN(status, tml_buffer_read(tml, totals.buffer, totals.words));
    uint64_t before[3] = {0, 0, 0};
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        const uint64_t *total = totals.words + (size_t)p * SURFACE_TOTAL_WORDS / 2;
        surface_part *part = &plan->parts[p];
        part->vertex_count = total[0] - before[0];
        part->triangle_count = total[1] - before[1];
        part->active_cells = total[2] - before[2];
        part->is_undecided = plan->trilinear && total[3] != 0;
        if (job->is_whole)
            memcpy(before, total, sizeof before);
    }
    totals_close(job, &totals);
    return status;
}

/* For EMIT in slabs: each part's totals begin at its place in the outputs. */
static tml_status write_totals(const vk_surface_job *job)
{
    const surface_plan *plan = job->plan;
    tml_context *tml = job->tml;
    totals_copy totals;
    if (plan->part_count == 0)
        return TML_OK;
    tml_status status = totals_open(job, &totals);
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        uint64_t *total = totals.words + (size_t)p * SURFACE_TOTAL_WORDS / 2;
        total[0] = plan->parts[p].vertex_first;
        total[1] = plan->parts[p].triangle_first;
        total[2] = total[3] = 0;
    }
    if (status == TML_OK)
        status =
            tml_buffer_write(tml, totals.buffer, 0, totals.size / sizeof(uint64_t), totals.words);
    TML_THEN(status, vk_copy(tml, job->totals, vk_address_of(tml, totals.buffer), totals.size));
    totals_close(job, &totals);
    return status;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Returns whether this stage needs the part in the current slab. */
static bool is_wanted(const vk_surface_job *job, const surface_part *part)
{
    uint64_t first = part->box.first[2], end = first + part->box.count[2];
    return first < job->own_end && end > job->own_first &&
           (job->plan->stage == SURFACE_COUNT || part->vertex_count > 0);
}

static tml_status run_part(const vk_surface_job *job, uint32_t p)
{
    vk_workspace space = surface_workspace(job, p);
    bool emits = job->plan->stage == SURFACE_EMIT;
    /* If another part or slab overwrote a shared workspace, EMIT counts again. */
    bool counts = !emits || job->plan->labels || !job->is_whole;
    tml_status status = counts ? surface_count_part(job, &space, p) : TML_OK;
    return status == TML_OK && emits ? surface_emit_part(job, &space) : status;
}

static tml_status run_whole(vk_surface_job *job, const char *stage)
{
    const surface_plan *plan = job->plan;
    const slab_turn turn = {0};
    tml_status status = load_samples(job, &turn);
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        if (is_wanted(job, &plan->parts[p]))
            status = run_part(job, p);
        TML_THEN(status, surface_step_done(job->tml, plan, stage, (p + 1.0) / plan->part_count));
    }
    return status;
}

/* Advances to the next slab with a part. Returns false at the end. */
static bool next_slab(vk_surface_job *job)
{
    const surface_plan *plan = job->plan;
    for (;;) {
        job->own_first = job->own_end;
        job->own_end = TML_MIN_OF(job->own_first + job->thickness, job->z_end);
        if (job->own_first == job->own_end)
            return false;
        for (uint32_t p = 0; p < plan->part_count; p++)
            if (is_wanted(job, &plan->parts[p]))
                return true;
    }
}

/* Runs all slabs. The host copies the next slab while the device computes one. */
static tml_status run_in_slabs(vk_surface_job *job, const char *stage)
{
    const surface_plan *plan = job->plan;
    slab_turn turn = {0};
    tml_status status =
        plan->stage == SURFACE_EMIT
            ? write_totals(job)
            : vk_fill(job->tml, job->totals, plan->part_count * SURFACE_TOTAL_WORDS, 0);
    job->own_end = job->own_first;
    bool goes_on = next_slab(job);
    if (status == TML_OK && goes_on)
        status = load_samples(job, &turn);
    while (status == TML_OK && goes_on) {
        for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++)
            if (is_wanted(job, &plan->parts[p]))
                status = run_part(job, p);
        TML_THEN(status, vk_mark_here(job->tml, &turn.last_use[turn.place]));
        double done = (double)(job->own_end - job->z_first) / (double)(job->z_end - job->z_first);
        TML_THEN(status, surface_step_done(job->tml, plan, stage, done));
        turn.place = 1 - turn.place;
        goes_on = next_slab(job);
        if (status == TML_OK && goes_on)
            status = load_samples(job, &turn);
    }
    return status;
}

static tml_status run_stage(vk_surface_job *job, const char *stage)
{
    const surface_plan *plan = job->plan;
    double start = tml_seconds();
    tml_status status = plan->trilinear ? surface_prepare_open(job) : TML_OK;
    TML_THEN(status, job->is_whole ? run_whole(job, stage) : run_in_slabs(job, stage));
    if (status == TML_OK && plan->stage == SURFACE_COUNT)
        status = read_totals(job);
    if (status == TML_OK)
        surface_time(plan->result, stage, tml_seconds() - start);
    return status;
}

/* Runs one subgroup per brick. */
static tml_status run_index(tml_context *tml, const surface_plan *plan)
{
    const surface_index_args args = {.volume = vk_slot_address(plan->volume),
                                     .bricks = vk_slot_address(plan->bricks),
                                     .dim_x = (uint32_t)plan->dims[0],
                                     .dim_y = (uint32_t)plan->dims[1],
                                     .dim_z = (uint32_t)plan->dims[2]};
    return vk_dispatch(
        tml, &(vk_dispatch_info){.module = &vk_shader_surface_index,
                                 .spec_count = 1,
                                 .specs = {plan->type},
                                 .args = &args,
                                 .args_size = sizeof args,
                                 .groups = TML_CEIL_DIV(plan->bricks->count,
                                                        VK_GROUP / vk_caps_of(tml)->subgroup)});
}

/* Records everything from the isovalue to the draw arguments, without reading back. */
static tml_status run_enqueue(vk_surface_job *job)
{
    const surface_plan *plan = job->plan;
    vk_workspace space = surface_workspace(job, 0);
    const slab_turn turn = {0};
    tml_status status =
        plan->field ? source_load(job, &job->sources[SOURCE_VOLUME], &turn) : TML_OK;
    if (status == TML_OK && plan->device.iso) {
        const surface_iso_args args = {.iso = vk_slot_address(plan->device.iso) +
                                              sizeof(float) * plan->device.iso_index,
                                       .head = space.head};
        status = vk_dispatch(job->tml, &(vk_dispatch_info){.module = &vk_shader_surface_iso,
                                                           .spec_count = 1,
                                                           .specs = {plan->type},
                                                           .args = &args,
                                                           .args_size = sizeof args,
                                                           .groups = 1});
    }
    TML_THEN(status, surface_count_part(job, &space, 0));
    TML_THEN(status, surface_emit_part(job, &space));
    if (status == TML_OK && plan->soup)
        status = gather_soup(job->tml, plan, &job->out, plan->triangle_capacity,
                             surface_total_of(job, 0));
    return status;
}

/* Checks the number of rows, which shaders hold in 32 bits, and shaderFloat64. */
static tml_status vk_surface_check(tml_context *tml, const surface_plan *plan)
{
    bool is_double = plan->type == TML_F64 || (plan->attribute && plan->attribute->type == TML_F64);
    if (plan->stage != SURFACE_INDEX && is_double && !vk_caps_of(tml)->float64)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface: f64 samples need shaderFloat64, which %s lacks",
                         tml->device.name);
    const uint64_t *dims = plan->dims;
    if (dims[1] * dims[2] > UINT32_MAX)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface: %" PRIu64 " x %" PRIu64
                         " rows: on Vulkan a volume has less than 2^32",
                         dims[1], dims[2]);
    return TML_OK;
}

static tml_status surface_run(tml_context *tml, const void *desc, void *scratch,
                              size_t scratch_size)
{
    const surface_plan *plan = desc;
    tml_status status = vk_surface_check(tml, plan);
    if (status != TML_OK)
        return status;
    if (plan->stage == SURFACE_INDEX)
        return run_index(tml, plan);
    if (plan->stage == SURFACE_SOUP)
        return run_soup(tml, plan);
    if (plan->trilinear && plan->parts[0].box.count[0] + 2 > SURFACE_OPEN_COLUMNS_MAX) {
        plan->parts[0].is_undecided = true;
        return TML_OK;
    }
    vk_surface_job job;
    status = surface_job_begin(tml, plan, scratch, scratch_size, &job);
    if (status != TML_OK)
        return status;
    if (plan->stage == SURFACE_ENQUEUE)
        return run_enqueue(&job);
    plan->result->scratch_size = TML_MAX_OF(plan->result->scratch_size, scratch_size);
    return run_stage(&job, plan->stage == SURFACE_COUNT ? "counts" : "vertices and triangles");
}

const tml_engine_op vk_op_surface = {
    .scratch_size = surface_scratch_size,
    .run = surface_run,
};
