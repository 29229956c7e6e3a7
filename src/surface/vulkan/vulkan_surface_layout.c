/* The layout of the surface's scratch, and the thickness of slabs.
 *
 * If it fits, scratch holds all samples that are not on the device and the workspaces of all parts;
 * EMIT then uses what COUNT left. Otherwise the volume is processed in slabs of layers: parts share
 * one workspace, host samples have a double buffer, and EMIT uploads and counts again. */
#include <inttypes.h>

#include "surface/vulkan/vulkan_surface_internal.h"

#include "kernels/kernel.h"

#include "surface/gpu/surface_args.k.h"
#include "surface/gpu/surface_options.k.h"

#include "kernels/kernel_end.h"

enum { HEAD_SIZE = 4 * (SURFACE_HEAD_WORDS + SURFACE_TABLE_WORDS) };

/* The most scratch for slabs. More would not be faster, and the mesh needs device memory, too. */
static const uint64_t slab_scratch = (uint64_t)1 << 30;

/* ---- workspaces ------------------------------------------------------------------------------ */

static uint32_t log2_ceil(uint32_t n)
{
    uint32_t log2 = 0;
    while (log2 < 31 && (uint32_t)1 << log2 < n)
        log2++;
    return log2;
}

/* Lays out a workspace of this many layers, pads included. */
static void workspace_take(const vk_surface_job *job, const surface_part *part, uint64_t layers,
                           vk_arena *arena, vk_workspace *out)
{
    surface_space of_part = surface_space_of(job->plan, part);
    *out = (vk_workspace){.part = part, .pad = (uint32_t)of_part.pad};
    for (int a = 0; a < 2; a++)
        out->size[a] = (uint32_t)of_part.size[a];
    out->size[2] = (uint32_t)layers;
    out->words = (out->size[0] + 31) / 32;
    uint64_t rows = out->size[1] * layers;
    out->word_count = rows * out->words;
    uint32_t lanes_log2 = TML_MIN_OF(log2_ceil(vk_caps_of(job->tml)->subgroup), 5u);
    out->width_log2 = TML_MIN_OF(log2_ceil(out->words), lanes_log2);
    uint32_t width = 1u << out->width_log2;
    out->segments = TML_CEIL_DIV(out->words, width);
    uint32_t chunk_rows = 1u << SURFACE_CHUNK_LOG2(out->width_log2);
    out->chunk_count = (uint32_t)TML_CEIL_DIV(rows, chunk_rows);
    out->head = vk_take(arena, 1, HEAD_SIZE);
    out->bits = vk_take(arena, out->word_count, sizeof(uint32_t));
    if (job->may_miss) {
        out->nan_words = vk_take(arena, (out->word_count + 31) / 32, sizeof(uint32_t));
        out->present = vk_take(arena, out->word_count, sizeof(uint32_t));
        out->cells = vk_take(arena, out->word_count, sizeof(uint32_t));
    }
    out->before = vk_take(arena, out->word_count, sizeof(uint32_t));
    out->rows = vk_take(arena, rows, 16);
    if (out->segments > 1)
        out->row_segments = vk_take(arena, rows * out->segments, 16);
    out->chunks = vk_take(arena, out->chunk_count, 16);
    out->places = vk_take(arena, out->chunk_count, 16);
    /* A chunk's list entries, padded to whole subgroups. */
    uint64_t listed =
        TML_ALIGN_UP((uint64_t)chunk_rows * out->words, vk_caps_of(job->tml)->subgroup);
    out->list = vk_take(arena, out->chunk_count * listed, 2 * sizeof(uint32_t));
    if (job->plan->trilinear) {
        out->open_words = vk_take(arena, out->word_count, sizeof(uint32_t));
        out->meshes = vk_take(arena, out->word_count, 32);
        out->own = vk_take(arena, out->word_count, sizeof(uint32_t));
        out->own_rows = vk_take(arena, rows, sizeof(uint32_t));
    }
}

/* Returns the largest number of layers of a part's workspace. */
static uint64_t most_layers(const vk_surface_job *job, const surface_part *part)
{
    uint64_t layers = surface_space_of(job->plan, part).size[2];
    return job->is_whole ? layers : surface_held_most(job->thickness, layers);
}

/* Returns whether all parts share one workspace. Labels always do, as they may be thousands. */
static bool takes_turns(const vk_surface_job *job)
{
    return job->plan->labels || !job->is_whole;
}

/* Returns the part's workspace in the current slab. */
static vk_workspace workspace_cut(const vk_surface_job *job, const surface_part *part,
                                  vk_arena *arena)
{
    surface_space of_part = surface_space_of(job->plan, part);
    /* With missing samples, x- and y-edges depend on the cells of the layer below. */
    surface_slab cut = surface_slab_of(&of_part, job->own_first, job->own_end, job->may_miss);
    vk_workspace space;
    workspace_take(job, part, cut.to - cut.from, arena, &space);
    space.slab =
        SURFACE_SLAB((uint32_t)(cut.own_first - cut.from), (uint32_t)(cut.to - cut.own_end),
                     (uint32_t)cut.pad_low, (uint32_t)cut.pad_high);
    space.first_z = cut.z_first;
    return space;
}

vk_workspace surface_workspace(const vk_surface_job *job, uint32_t part)
{
    const surface_plan *plan = job->plan;
    vk_arena arena = job->spaces;
    vk_workspace others;
    for (uint32_t p = takes_turns(job) ? part : 0; p < part; p++)
        workspace_take(job, &plan->parts[p], most_layers(job, &plan->parts[p]), &arena, &others);
    return workspace_cut(job, &plan->parts[part], &arena);
}

/* ---- samples --------------------------------------------------------------------------------- */

void surface_source_place(const vk_surface_job *job, surface_source *source, uint32_t copy)
{
    source->first = surface_held_first(job->own_first);
    source->end = surface_held_end(job->own_end, job->plan->dims[2]);
    source->at = source->copies[copy] - source->first * source->slice;
}

static void source_take(const vk_surface_job *job, const tml_slot *slot, bool is_field,
                        vk_arena *arena, surface_source *out)
{
    const uint64_t *dims = job->plan->dims;
    *out = (surface_source){.is_field = is_field};
    if (!slot && !is_field)
        return;
    out->slice = dims[0] * dims[1] * (slot ? slot->element_size : sizeof(float));
    if (slot && !slot->on_host) {
        out->at = vk_slot_address(slot);
        return;
    }
    out->held_first = job->plan->held_first;
    out->host = slot ? vk_slot_host(slot) : NULL;
    uint64_t layers = surface_held_most(job->thickness, dims[2]);
    out->copies[0] = out->copies[1] = vk_take(arena, layers, out->slice);
    if (slot && !job->is_whole)
        out->copies[1] = vk_take(arena, layers, out->slice);
    surface_source_place(job, out, 0);
}

/* ---- all of scratch -------------------------------------------------------------------------- */

/* Returns a job without addresses. thickness: layers per slab; 0 for the whole volume. */
static vk_surface_job job_of(tml_context *tml, const surface_plan *plan, uint64_t thickness)
{
    vk_surface_job job = {.tml = tml,
                          .plan = plan,
                          .may_miss = surface_may_miss(plan),
                          .is_whole = thickness == 0,
                          .z_first = UINT64_MAX};
    for (uint32_t p = 0; p < plan->part_count; p++) {
        surface_space of_part = surface_space_of(plan, &plan->parts[p]);
        job.z_first = TML_MIN_OF(job.z_first, of_part.z_first);
        job.z_end = TML_MAX_OF(job.z_end, of_part.z_end);
    }
    job.z_first = TML_MIN_OF(job.z_first, job.z_end);
    job.thickness = thickness ? thickness : job.z_end - job.z_first;
    job.own_first = job.z_first;
    job.own_end = TML_MIN_OF(job.z_first + job.thickness, job.z_end);
    return job;
}

static vk_address address_or_none(const tml_slot *slot)
{
    return slot ? vk_slot_address(slot) : 0;
}

surface_outputs surface_addresses_of(const surface_arrays *mesh)
{
    return (surface_outputs){address_or_none(mesh->positions),
                             address_or_none(mesh->vertex_normals),
                             address_or_none(mesh->vertex_values), address_or_none(mesh->indices),
                             address_or_none(mesh->triangle_cells)};
}

/* Takes the array of a vertex attribute in a welded mesh in scratch. */
static vk_address array_take(const surface_plan *plan, const tml_slot *slot, vk_arena *arena)
{
    return slot ? vk_take(arena, plan->vertex_capacity, slot->element_size) : 0;
}

static surface_outputs outputs_take(const surface_plan *plan, vk_arena *arena)
{
    if (plan->stage != SURFACE_EMIT && plan->stage != SURFACE_ENQUEUE)
        return (surface_outputs){0};
    const surface_layout *layout = surface_layout_of(plan);
    surface_outputs out = surface_addresses_of(&plan->mesh);
    if (plan->soup) {
        out.positions = array_take(plan, plan->mesh.positions, arena);
        out.normals = out.values = out.positions;
        if (!layout->stride) {
            out.normals = array_take(plan, plan->mesh.vertex_normals, arena);
            out.values = array_take(plan, plan->mesh.vertex_values, arena);
        }
        out.indices = vk_take(arena, plan->triangle_capacity, 3 * sizeof(uint32_t));
    }
    return out;
}

/* Sets the job's addresses. Returns the bytes of scratch that the job uses. */
static size_t job_take(vk_surface_job *job, vk_arena arena)
{
    const surface_plan *plan = job->plan;
    job->totals = vk_take(&arena, plan->part_count, 4 * SURFACE_TOTAL_WORDS);
    job->states = vk_take(&arena, SURFACE_STATE_WORDS, sizeof(uint32_t));
    source_take(job, plan->volume, plan->field != NULL, &arena, &job->sources[SOURCE_VOLUME]);
    source_take(job, plan->mask, false, &arena, &job->sources[SOURCE_MASK]);
    source_take(job, plan->attribute, false, &arena, &job->sources[SOURCE_ATTRIBUTE]);
    job->out = outputs_take(plan, &arena);
    job->spaces = arena;
    size_t size = arena.size;
    for (uint32_t p = 0; p < plan->part_count; p++) {
        if (takes_turns(job))
            arena = job->spaces;
        vk_workspace space;
        workspace_take(job, &plan->parts[p], most_layers(job, &plan->parts[p]), &arena, &space);
        size = TML_MAX_OF(size, arena.size);
    }
    return size;
}

static size_t scratch_with(tml_context *tml, const surface_plan *plan, uint64_t thickness)
{
    vk_surface_job job = job_of(tml, plan, thickness);
    return job_take(&job, (vk_arena){0, 0});
}

/* Returns whether shaders can number the rows, with 31 bits, and the words, with 32. */
static bool is_numbered(tml_context *tml, const surface_plan *plan, uint64_t thickness)
{
    vk_surface_job job = job_of(tml, plan, thickness);
    for (uint32_t p = 0; p < plan->part_count; p++) {
        const surface_box *box = &plan->parts[p].box;
        uint64_t rows = (box->count[1] + 2) * (most_layers(&job, &plan->parts[p]) + 2);
        uint64_t words = (box->count[0] + 2 + 31) / 32;
        if (box->count[0] + 2 > SURFACE_COLUMNS_MAX || rows > INT32_MAX ||
            rows * words > UINT32_MAX)
            return false;
    }
    return true;
}

/* Returns the layers of the thickest slab whose scratch fits in size; at least 1. */
static uint64_t thickness_for(tml_context *tml, const surface_plan *plan, uint64_t size)
{
    vk_surface_job all = job_of(tml, plan, 0);
    uint64_t fits = 1, too_many = all.thickness + 1;
    while (fits + 1 < too_many) {
        uint64_t middle = fits + (too_many - fits) / 2;
        if (scratch_with(tml, plan, middle) <= size && is_numbered(tml, plan, middle))
            fits = middle;
        else
            too_many = middle;
    }
    return fits;
}

/* Returns whether the whole volume is processed at once, so that EMIT uses what COUNT left. */
static bool is_whole(tml_context *tml, const surface_plan *plan, size_t whole, uint64_t room)
{
    if (plan->stage == SURFACE_ENQUEUE)
        return true;
    if (plan->stage == SURFACE_EMIT)
        return plan->kept_scratch == whole;
    return whole <= room && is_numbered(tml, plan, 0);
}

size_t surface_scratch_size(tml_context *tml, const void *desc)
{
    const surface_plan *plan = desc;
    if (plan->stage == SURFACE_INDEX || plan->stage == SURFACE_SOUP)
        return 0;
    size_t whole = scratch_with(tml, plan, 0);
    uint64_t room = TML_MIN_OF(vk_scratch_room(tml), (uint64_t)plan->scratch_limit);
    if (is_whole(tml, plan, whole, room))
        return whole;
    uint64_t thickness = thickness_for(tml, plan, TML_MIN_OF(room, slab_scratch));
    uint64_t layers = job_of(tml, plan, 0).thickness;
    if (layers > 0) { /* slabs of equal thickness */
        uint64_t slabs = TML_CEIL_DIV(layers, thickness);
        thickness = TML_CEIL_DIV(layers, slabs);
    }
    return scratch_with(tml, plan, thickness);
}

tml_status surface_job_begin(tml_context *tml, const surface_plan *plan, void *scratch,
                             size_t scratch_size, vk_surface_job *out)
{
    size_t whole = scratch_with(tml, plan, 0);
    uint64_t thickness = 0;
    if (!is_whole(tml, plan, whole, scratch_size))
        thickness = thickness_for(tml, plan, scratch_size);
    if (!is_numbered(tml, plan, thickness)) {
        const surface_box *box = &plan->parts[0].box;
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface: %" PRIu64 " x %" PRIu64 " x %" PRIu64
                         " samples: on Vulkan a row has at most 2^20, and four layers at most 2^31 "
                         "rows and 2^32 words of 32 samples; surface a region at a time",
                         box->count[0], box->count[1], box->count[2]);
    }
    *out = job_of(tml, plan, thickness);
    (void)job_take(out, vk_arena_of(scratch));
    return TML_OK;
}
