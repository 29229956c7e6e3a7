/* The shaders of a part in the current slab: sign bits, counts and prefix sums, then vertices and
 * triangles. See vulkan_surface.c. */
#include <string.h>

#include "surface/surface_topology.h"
#include "surface/vulkan/vulkan_surface_internal.h"
#include "surface_vulkan_shaders.h"

#include "kernels/kernel.h"

#include "surface/gpu/surface_args.k.h"
#include "surface/gpu/surface_options.k.h"

#include "kernels/kernel_end.h"

_Static_assert(SURFACE_NARROW_VERTICES == SURFACE_VERTICES16 &&
                   SURFACE_NORMALS_NONE == TML_NORMALS_NONE &&
                   SURFACE_NORMALS_FORWARD == TML_NORMALS_FORWARD &&
                   SURFACE_NORMALS_SOBEL == TML_NORMALS_SOBEL,
               "shaders number the normals otherwise");

/* ---- counts ---------------------------------------------------------------------------------- */

static uint64_t groups_of(uint64_t items, uint64_t items_a_group)
{
    return TML_CEIL_DIV(items, items_a_group);
}

/* Returns the options of all shaders of a part. */
static uint32_t options_of(const vk_surface_job *job)
{
    const surface_plan *plan = job->plan;
    return (plan->caps ? SURFACE_PAD : 0) | (job->may_miss ? SURFACE_NAN : 0) |
           (plan->mask ? SURFACE_MASK : 0) | (plan->labels ? SURFACE_LABEL : 0) |
           (plan->device.iso ? SURFACE_HELD_LIMITS : 0);
}

/* READ_WORDS and READ_NARROW require that bit i of all words is sample i of the volume's memory. */
static uint32_t read_form(const vk_surface_job *job, const vk_workspace *space, vk_address first)
{
    const surface_plan *plan = job->plan;
    const surface_box *box = &space->part->box;
    size_t size = tml_type_size(plan->type);
    if (space->pad || plan->mask || box->count[0] != plan->dims[0] ||
        box->count[1] != plan->dims[1] || box->count[0] % 32 != 0)
        return SURFACE_READ_ANY;
    if (first % 16 != 0 || plan->type == TML_F16 || size > 4)
        return SURFACE_READ_ANY;
    /* Eight lanes share a word of 32-bit samples. */
    bool is_narrow = size < 4, is_shared = vk_caps_of(job->tml)->subgroup >= 8;
    return is_narrow ? SURFACE_READ_NARROW : is_shared ? SURFACE_READ_WORDS : SURFACE_READ_ANY;
}

static tml_status make_bits(const vk_surface_job *job, const vk_workspace *space,
                            const vk_states *states)
{
    const surface_plan *plan = job->plan;
    const uint64_t *first = space->part->box.first;
    uint64_t first_z = space->first_z;
    uint64_t sample = (first_z * plan->dims[1] + first[1]) * plan->dims[0] + first[0];
    surface_limits limits = surface_limits_of_part(job->plan, space->part);
    surface_bits_args args = {
        .volume = job->sources[SOURCE_VOLUME].at + sample * tml_type_size(plan->type),
        .mask = plan->mask ? job->sources[SOURCE_MASK].at + sample : 0,
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
        .slab = space->slab,
    };
    memcpy(&args.iso_bits, &limits.index_iso, sizeof args.iso_bits);
    uint32_t options = options_of(job), form = read_form(job, space, args.volume);
    if (plan->index && !space->pad) {
        uint64_t bricks_x = TML_CEIL_DIV(plan->dims[0], SURFACE_BRICK_X);
        uint64_t bricks_y = TML_CEIL_DIV(plan->dims[1], SURFACE_BRICK_Y);
        uint64_t brick =
            first[0] / SURFACE_BRICK_X +
            bricks_x * (first[1] / SURFACE_BRICK_Y + bricks_y * (first_z / SURFACE_BRICK_Z));
        args.index = vk_slot_address(plan->index) + 2 * sizeof(float) * brick;
        args.index_place = (uint32_t)(first[1] % SURFACE_BRICK_Y | first_z % SURFACE_BRICK_Z << 2);
        options |= SURFACE_INDEXED;
    }
    static const vk_module *const modules[] = {[SURFACE_READ_ANY] = &vk_shader_surface_bits,
                                               [SURFACE_READ_WORDS] = &vk_shader_surface_bits_words,
                                               [SURFACE_READ_NARROW] =
                                                   &vk_shader_surface_bits_narrow};
    uint32_t team = TML_MIN_OF(vk_caps_of(job->tml)->subgroup, 32u);
    size_t size = tml_type_size(plan->type);
    uint32_t team_words = form == SURFACE_READ_NARROW ? 32 * (4 / (uint32_t)size) : 32;
    return vk_dispatch(
        job->tml,
        &(vk_dispatch_info){.module = modules[form],
                            .spec_count = 2,
                            .specs = {plan->type, options},
                            .args = &args,
                            .args_size = sizeof args,
                            .groups = groups_of(space->word_count, VK_GROUP / team * team_words),
                            .unordered = true /* overlaps make_table */});
}

static tml_status mark_cells(const vk_surface_job *job, const vk_workspace *space,
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

/* Returns the offset of an array from the workspace's head, in the unit of args ..._at. */
static uint32_t place_in(const vk_workspace *space, vk_address part)
{
    return (uint32_t)((part - space->head) / 256);
}

vk_address surface_total_of(const vk_surface_job *job, uint32_t part)
{
    return job->totals + (vk_address)4 * SURFACE_TOTAL_WORDS * part;
}

static tml_status count_rows(const vk_surface_job *job, const vk_workspace *space, uint32_t part,
                             const vk_states *states)
{
    const surface_plan *plan = job->plan;
    /* Base: totals of the previous part; in slabs, of this part's slabs so far. */
    uint32_t before = job->is_whole ? part - 1 : part;
    const surface_count_args args = {
        .bits = space->bits,
        .cells = space->cells,
        .states = states->words,
        .base = job->is_whole && part == 0 ? 0 : surface_total_of(job, before),
        .head = space->head,
        .tables = job->tables,
        .rows_at = place_in(space, space->rows),
        .before_at = place_in(space, space->before),
        .segments_at = place_in(space, space->row_segments),
        .chunks_at = place_in(space, space->chunks),
        .list_at = place_in(space, space->list),
        .meshes_at = place_in(space, space->meshes),
        .own_at = place_in(space, space->own),
        .own_rows_at = place_in(space, space->own_rows),
        .size_x = space->size[0],
        .size_y = space->size[1],
        .size_z = space->size[2],
        .slab = space->slab,
    };
    static const vk_module *const modules[2][2] = {
        {&vk_shader_surface_count, &vk_shader_surface_count_wide},
        {&vk_shader_surface_count_open, &vk_shader_surface_count_wide_open}};
    return vk_dispatch(
        job->tml, &(vk_dispatch_info){.module = modules[plan->trilinear][space->segments > 1],
                                      .spec_count = 5,
                                      .specs = {plan->type, options_of(job), space->width_log2,
                                                space->segments > 1, space->words % 4 == 0 ? 4 : 1},
                                      .args = &args,
                                      .args_size = sizeof args,
                                      .groups = space->chunk_count});
}

/* Returns the number of workgroups for the list of words with open cells, each some words: at most
 * more than a device runs at a time. */
static uint32_t open_groups_of(const vk_workspace *space)
{
    return (uint32_t)TML_MIN_OF(groups_of(space->word_count, VK_GROUP), (uint64_t)1024);
}

/* Lists the words with open cells, and chooses the meshes of the cells. */
static tml_status find_meshes_of(const vk_surface_job *job, const vk_workspace *space,
                                 const vk_states *states)
{
    const surface_plan *plan = job->plan;
    const surface_box *box = &space->part->box;
    const uint32_t lane_words = space->words % 4 == 0 ? 4 : 1;
    const double iso = space->part->iso;
    const surface_open_args open = {.bits = space->bits,
                                    .states = states->words,
                                    .list = space->open_words,
                                    .size_x = space->size[0],
                                    .size_y = space->size[1],
                                    .size_z = space->size[2],
                                    .slab = space->slab};
    const surface_meshes_args args = {.bits = space->bits,
                                      .cells = space->cells,
                                      .states = states->words,
                                      .list = space->open_words,
                                      .exact_list = space->before, /* free until rows are counted */
                                      .head = space->head,
                                      .volume = job->sources[SOURCE_VOLUME].at,
                                      .tables = job->tables,
                                      .iso = (float)iso,
                                      .iso_rest = (float)(iso - (double)(float)iso),
                                      .undecided_at = place_in(space, space->own), /* likewise */
                                      .meshes_at = place_in(space, space->meshes),
                                      .size_x = space->size[0],
                                      .size_y = space->size[1],
                                      .size_z = space->size[2],
                                      .slab = space->slab,
                                      .dim_x = (uint32_t)plan->dims[0],
                                      .dim_y = (uint32_t)plan->dims[1],
                                      .first_x = (uint32_t)box->first[0],
                                      .first_y = (uint32_t)box->first[1],
                                      .first_z = (uint32_t)space->first_z,
                                      .groups = open_groups_of(space)};
    const uint32_t options = options_of(job), is_segmented = space->segments > 1;
    tml_status status = vk_dispatch(
        job->tml, &(vk_dispatch_info){
                      .module = &vk_shader_surface_open,
                      .spec_count = 5,
                      .specs = {plan->type, options, space->width_log2, is_segmented, lane_words},
                      .args = &open,
                      .args_size = sizeof open,
                      .groups = groups_of(space->word_count, VK_GROUP * lane_words)});
    static const vk_module *const modules[] = {&vk_shader_surface_meshes,
                                               &vk_shader_surface_meshes_exact};
    for (size_t i = 0; i < TML_ARRAY_SIZE(modules) && status == TML_OK; i++)
        status = vk_dispatch(
            job->tml,
            &(vk_dispatch_info){.module = modules[i],
                                .spec_count = 4,
                                .specs = {plan->type, options, space->width_log2, is_segmented},
                                .args = &args,
                                .args_size = sizeof args,
                                .groups = args.groups});
    return status;
}

/* The most stretches of chunks in the scan; a stretch is a multiple of STRETCH_MIN chunks. */
enum { STRETCHES_MAX = 64, STRETCH_MIN = 1024 };

static tml_status place_chunks(const vk_surface_job *job, const vk_workspace *space, uint32_t part,
                               const vk_states *states)
{
    const surface_plan *plan = job->plan;
    uint64_t stretch =
        groups_of(groups_of(space->chunk_count, STRETCHES_MAX), STRETCH_MIN) * STRETCH_MIN;
    surface_scan_args args = {
        .chunks = space->chunks,
        .places = space->places,
        .head = space->head,
        .states = states->words,
        .total = surface_total_of(job, part),
        .draw = plan->device.draw ? vk_slot_address(plan->device.draw) : 0,
        .counts = plan->device.counts ? vk_slot_address(plan->device.counts) : 0,
        .chunk_count = space->chunk_count,
        .stretch = (uint32_t)stretch,
        .counts_form =
            (plan->device.counts && plan->device.counts->type == TML_U64 ? SURFACE_COUNTS_WIDE
                                                                         : 0) |
            (plan->soup ? SURFACE_COUNTS_SOUP : 0),
        .vertex_room_low = (uint32_t)plan->vertex_capacity,
        .vertex_room_high = (uint32_t)(plan->vertex_capacity >> 32),
        .triangle_room_low = (uint32_t)plan->triangle_capacity,
        .triangle_room_high = (uint32_t)(plan->triangle_capacity >> 32),
        .is_masked = plan->mask != NULL};
    memcpy(&args.normal0, plan->axes.normal_rows, sizeof plan->axes.normal_rows);
    return vk_dispatch(job->tml,
                       &(vk_dispatch_info){.module = &vk_shader_surface_scan,
                                           .args = &args,
                                           .args_size = sizeof args,
                                           .groups = groups_of(space->chunk_count, stretch)});
}

/* Makes the case table and the head. make_bits, which is next, may overlap this. */
static tml_status make_table(const vk_surface_job *job, const vk_workspace *space)
{
    const surface_plan *plan = job->plan;
    surface_table_args args = {.head = space->head};
    float place[12];
    for (int c = 0; c < 3; c++) {
        place[c] = (float)plan->axes.origin[c];
        for (int a = 0; a < 3; a++)
            place[3 + 3 * a + c] = (float)plan->axes.step[a][c];
    }
    memcpy(&args.place0, place, sizeof place);
    if (plan->trilinear) {
        uint32_t iso[4];
        topology_split(space->part->iso, iso);
        memcpy(&args.iso0, iso, sizeof iso);
    }
    return vk_dispatch(job->tml, &(vk_dispatch_info){.module = &vk_shader_surface_table,
                                                     .args = &args,
                                                     .args_size = sizeof args,
                                                     .groups = 1});
}

tml_status surface_count_part(const vk_surface_job *job, const vk_workspace *space, uint32_t part)
{
    vk_states states;
    tml_status status = vk_take_states(job->tml, SURFACE_STATE_WORDS, job->states, &states);
    TML_THEN(status, make_table(job, space));
    TML_THEN(status, make_bits(job, space, &states));
    TML_THEN(status, mark_cells(job, space, &states));
    if (status == TML_OK && job->plan->trilinear)
        status = find_meshes_of(job, space, &states);
    TML_THEN(status, count_rows(job, space, part, &states));
    TML_THEN(status, place_chunks(job, space, part, &states));
    return status;
}

/* ---- vertices and triangles ------------------------------------------------------------------ */

/* Returns what is common to the dispatches that write vertices. */
static vk_dispatch_info vertex_dispatch(const vk_surface_job *job, const vk_workspace *space)
{
    const surface_plan *plan = job->plan;
    const surface_layout *layout = surface_layout_of(plan);
    const uint32_t options =
        options_of(job) | (plan->mesh.vertex_values ? SURFACE_ATTRIBUTE : 0) |
        (plan->mesh.vertex_normals && layout->octahedral ? SURFACE_OCTAHEDRAL : 0);
    const tml_normals normals = plan->mesh.vertex_normals ? plan->normals : TML_NORMALS_NONE;
    return (vk_dispatch_info){.spec_count = 7,
                              .specs = {plan->type, options, space->width_log2, space->segments > 1,
                                        plan->attribute ? plan->attribute->type : TML_F32,
                                        (uint32_t)normals, layout->stride}};
}

static tml_status emit_vertices(const vk_surface_job *job, const vk_workspace *space)
{
    const surface_plan *plan = job->plan;
    surface_limits limits = surface_limits_of_part(job->plan, space->part);
    const surface_box *box = &space->part->box;
    const surface_vertices_args args = {
        .volume = job->sources[SOURCE_VOLUME].at,
        .attributes = job->sources[SOURCE_ATTRIBUTE].at,
        .positions = job->out.positions + surface_layout_of(plan)->position,
        .normals = job->out.normals + surface_layout_of(plan)->normal,
        .values = job->out.values + surface_layout_of(plan)->value,
        .head = space->head,
        .bits_at = place_in(space, space->bits),
        .cells_at = place_in(space, space->cells),
        .rows_at = place_in(space, space->rows),
        .before_at = place_in(space, space->before),
        .segments_at = place_in(space, space->row_segments),
        .chunks_at = place_in(space, space->places),
        .list_at = place_in(space, space->list),
        .size_x = space->size[0],
        .size_y = space->size[1],
        .size_z = space->size[2],
        .dim_x = (uint32_t)plan->dims[0],
        .dim_y = (uint32_t)plan->dims[1],
        .dim_z = (uint32_t)plan->dims[2],
        .first_x = (uint32_t)box->first[0],
        .first_y = (uint32_t)box->first[1],
        .first_z = (uint32_t)space->first_z,
        .iso0 = limits.iso_words[0],
        .iso1 = limits.iso_words[1],
        .iso2 = limits.iso_words[2],
    };
    bool is_double = plan->type == TML_F64 || (plan->attribute && plan->attribute->type == TML_F64);
    bool is_full = plan->mesh.vertex_normals || plan->mesh.vertex_values;
    vk_dispatch_info info = vertex_dispatch(job, space);
    info.module = is_double ? &vk_shader_surface_vertices_f64
                  : is_full ? &vk_shader_surface_vertices_full
                            : &vk_shader_surface_vertices;
    info.args = &args;
    info.args_size = sizeof args;
    info.groups = 1;
    info.indirect = space->head + 4 * SURFACE_HEAD_GROUPS;
    return vk_dispatch(job->tml, &info);
}

static tml_status emit_triangles(const vk_surface_job *job, const vk_workspace *space)
{
    const surface_plan *plan = job->plan;
    const surface_box *box = &space->part->box;
    const surface_triangles_args args = {
        .indices = job->out.indices,
        .triangle_cells = job->out.cells,
        .head = space->head,
        .tables = job->tables,
        .bits_at = place_in(space, space->bits),
        .cells_at = place_in(space, space->cells),
        .rows_at = place_in(space, space->rows),
        .before_at = place_in(space, space->before),
        .segments_at = place_in(space, space->row_segments),
        .chunks_at = place_in(space, space->places),
        .list_at = place_in(space, space->list),
        .size_x = space->size[0],
        .size_y = space->size[1],
        .size_z = space->size[2],
        .dim_x = (uint32_t)plan->dims[0],
        .dim_y = (uint32_t)plan->dims[1],
        .first_x = (uint32_t)box->first[0],
        .first_y = (uint32_t)box->first[1],
        .first_z = (uint32_t)space->first_z,
        .meshes_at = place_in(space, space->meshes),
        .own_at = place_in(space, space->own),
        .own_rows_at = place_in(space, space->own_rows),
    };
    const tml_slot *cells = plan->mesh.triangle_cells;
    uint32_t options = options_of(job) | (plan->axes.flip_winding ? SURFACE_FLIP : 0) |
                       (plan->indices64 ? SURFACE_WIDE : 0) |
                       (surface_layout_of(plan)->indices16 ? SURFACE_NARROW : 0) |
                       (cells ? SURFACE_CELL_OF : 0) |
                       (cells && cells->type == TML_U64 ? SURFACE_CELL_WIDE : 0);
    return vk_dispatch(
        job->tml,
        &(vk_dispatch_info){.module = plan->trilinear ? &vk_shader_surface_triangles_open
                                                      : &vk_shader_surface_triangles,
                            .spec_count = 4,
                            .specs = {plan->type, options, space->width_log2, space->segments > 1},
                            .args = &args,
                            .args_size = sizeof args,
                            .groups = 1,
                            .indirect = space->head + 4 * SURFACE_HEAD_GROUPS,
                            .unordered = true /* overlaps the vertices */});
}

/* Writes the vertices in open cells. */
static tml_status emit_own(const vk_surface_job *job, const vk_workspace *space)
{
    const surface_plan *plan = job->plan;
    const surface_layout *layout = surface_layout_of(plan);
    const surface_box *box = &space->part->box;
    const surface_own_args args = {
        .volume = job->sources[SOURCE_VOLUME].at,
        .attributes = job->sources[SOURCE_ATTRIBUTE].at,
        .positions = job->out.positions + layout->position,
        .normals = job->out.normals + layout->normal,
        .values = job->out.values + layout->value,
        .head = space->head,
        .tables = job->tables,
        .list = space->open_words,
        .bits_at = place_in(space, space->bits),
        .cells_at = place_in(space, space->cells),
        .chunks_at = place_in(space, space->places),
        .meshes_at = place_in(space, space->meshes),
        .own_at = place_in(space, space->own),
        .own_rows_at = place_in(space, space->own_rows),
        .size_x = space->size[0],
        .size_y = space->size[1],
        .size_z = space->size[2],
        .slab = space->slab,
        .dim_x = (uint32_t)plan->dims[0],
        .dim_y = (uint32_t)plan->dims[1],
        .first_x = (uint32_t)box->first[0],
        .first_y = (uint32_t)box->first[1],
        .first_z = (uint32_t)space->first_z,
        .groups = open_groups_of(space),
    };
    vk_dispatch_info info = vertex_dispatch(job, space);
    info.module = &vk_shader_surface_own;
    info.args = &args;
    info.args_size = sizeof args;
    info.groups = args.groups;
    info.unordered = true; /* overlaps the others */
    return vk_dispatch(job->tml, &info);
}

tml_status surface_emit_part(const vk_surface_job *job, const vk_workspace *space)
{
    tml_status status = emit_vertices(job, space);
    TML_THEN(status, emit_triangles(job, space));
    return status == TML_OK && job->plan->trilinear ? emit_own(job, space) : status;
}
