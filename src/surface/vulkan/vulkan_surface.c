/* The surface on the Vulkan engine: sign bits, counts, prefix sums, then vertices and triangles.
 *
 * The volume is read once, into one sign bit a sample (surface_bits.comp). The other shaders work
 * on words of sign bits, which stay in the device's cache. surface_count.comp counts chunks of
 * rows, surface_scan.comp computes the chunks' prefix sums. Subgroups emit the active words, a word
 * a lane (surface_vertices.glsl, surface_triangles.comp). A volume or field that does not fit the
 * device goes through in slabs of layers (vulkan_surface_layout.c); a slab's numbers follow those
 * of the slab before. Where the device finds missing samples, surface_cells.comp marks the cells
 * whose corners are all present. With the trilinear interpolant's topology surface_open.comp lists
 * the words with ambiguous cells before they are counted, surface_meshes.comp chooses these cells'
 * meshes by floats, surface_meshes_exact.comp those that floats do not tell, and surface_own.comp
 * emits the vertices in them. Formulas and order are the CPU engine's. */
#include <inttypes.h>
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

/* ---- dispatches ------------------------------------------------------------------------------ */

static uint64_t groups_of(uint64_t items, uint64_t items_a_group)
{
    return TML_CEIL_DIV(items, items_a_group);
}

/* Options for all shaders of a part. */
static uint32_t options_of(const vk_surface_job *job)
{
    const surface_plan *plan = job->plan;
    return (plan->caps ? SURFACE_PAD : 0) | (job->may_miss ? SURFACE_NAN : 0) |
           (plan->mask ? SURFACE_MASK : 0) | (plan->labels ? SURFACE_LABEL : 0) |
           (plan->iso_on_device ? SURFACE_HELD_LIMITS : 0);
}

/* READ_WORDS and READ_NARROW need bit i of all words to be sample i of the volume's memory. */
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
                            .unordered = true /* beside the table */});
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

/* Offset of an array of the workspace from its head, in the units of args ..._at. */
static uint32_t place_in(const vk_workspace *space, vk_address part)
{
    return (uint32_t)((part - space->head) / 256);
}

static vk_address total_of(const vk_surface_job *job, uint32_t part)
{
    return job->totals + (vk_address)4 * SURFACE_TOTAL_WORDS * part;
}

static tml_status count_rows(const vk_surface_job *job, const vk_workspace *space, uint32_t part,
                             const vk_states *states)
{
    const surface_plan *plan = job->plan;
    /* Base: totals of the part before; in slabs, of this part's slabs so far. */
    uint32_t before = job->is_whole ? part - 1 : part;
    const surface_count_args args = {
        .bits = space->bits,
        .cells = space->cells,
        .states = states->words,
        .base = job->is_whole && part == 0 ? 0 : total_of(job, before),
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

/* Workgroups for the list of words with open cells, each with some: at most more than a device has
 * at a time. */
static uint32_t open_groups_of(const vk_workspace *space)
{
    return (uint32_t)TML_MIN_OF(groups_of(space->word_count, VK_GROUP), (uint64_t)1024);
}

/* Lists the words with open cells and chooses the meshes of these. */
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
                                      .exact_list = space->before, /* until rows are counted */
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

/* Stretches of chunks for the scan, and the multiple of chunks in a stretch. */
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
        .total = total_of(job, part),
        .draw = plan->draw ? vk_slot_address(plan->draw) : 0,
        .counts = plan->counts ? vk_slot_address(plan->counts) : 0,
        .chunk_count = space->chunk_count,
        .stretch = (uint32_t)stretch,
        .counts_form = (plan->counts && plan->counts->type == TML_U64 ? SURFACE_COUNTS_WIDE : 0) |
                       (plan->soup ? SURFACE_COUNTS_SOUP : 0),
        .vertex_room_low = (uint32_t)plan->vertex_capacity,
        .vertex_room_high = (uint32_t)(plan->vertex_capacity >> 32),
        .triangle_room_low = (uint32_t)plan->triangle_capacity,
        .triangle_room_high = (uint32_t)(plan->triangle_capacity >> 32),
        .is_masked = plan->mask != NULL};
    memcpy(&args.normal0, plan->normal_rows, sizeof plan->normal_rows);
    return vk_dispatch(job->tml,
                       &(vk_dispatch_info){.module = &vk_shader_surface_scan,
                                           .args = &args,
                                           .args_size = sizeof args,
                                           .groups = groups_of(space->chunk_count, stretch)});
}

/* The case table and the head. make_bits, next, is not ordered after it. */
static tml_status make_table(const vk_surface_job *job, const vk_workspace *space)
{
    const surface_plan *plan = job->plan;
    surface_table_args args = {.head = space->head};
    float place[12];
    for (int c = 0; c < 3; c++) {
        place[c] = (float)plan->origin[c];
        for (int a = 0; a < 3; a++)
            place[3 + 3 * a + c] = (float)plan->step[a][c];
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

/* Runs the shaders up to the part's totals. */
static tml_status count_part(const vk_surface_job *job, const vk_workspace *space, uint32_t part)
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

/* What the shaders that write vertices have in common. */
static vk_dispatch_info vertex_dispatch(const vk_surface_job *job, const vk_workspace *space)
{
    const surface_plan *plan = job->plan;
    const surface_layout *layout = surface_layout_of(plan);
    const uint32_t options = options_of(job) | (plan->vertex_values ? SURFACE_ATTRIBUTE : 0) |
                             (plan->vertex_normals && layout->octahedral ? SURFACE_OCTAHEDRAL : 0);
    const tml_normals normals = plan->vertex_normals ? plan->normals : TML_NORMALS_NONE;
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
    bool is_full = plan->vertex_normals || plan->vertex_values;
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
    const tml_slot *cells = plan->triangle_cells;
    uint32_t options = options_of(job) | (plan->flip_winding ? SURFACE_FLIP : 0) |
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
                            .unordered = true /* beside the vertices */});
}

/* The vertices in open cells. */
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
    info.unordered = true; /* beside the others */
    return vk_dispatch(job->tml, &info);
}

static tml_status emit_part(const vk_surface_job *job, const vk_workspace *space)
{
    tml_status status = emit_vertices(job, space);
    TML_THEN(status, emit_triangles(job, space));
    return status == TML_OK && job->plan->trilinear ? emit_own(job, space) : status;
}

/* ---- soups ----------------------------------------------------------------------------------- */

/* Workgroups that gather, each some blocks of triangles: more than a device has at a time. */
enum { SOUP_GROUPS_MAX = 4096 };

static vk_address address_or_none(const tml_slot *slot)
{
    return slot ? vk_slot_address(slot) : 0;
}

/* Gathers the plan's outputs from a welded mesh: of so many triangles, or fewer by the total. */
static tml_status gather_soup(tml_context *tml, const surface_plan *plan,
                              const surface_outputs *welded, uint64_t triangle_count,
                              vk_address total)
{
    const surface_layout *layout = surface_layout_of(plan);
    const bool apart = !layout->stride;
    uint64_t groups =
        TML_MIN_OF(groups_of(triangle_count, SURFACE_SOUP_BLOCK), (uint64_t)SOUP_GROUPS_MAX);
    const surface_soup_args args = {
        .indices = welded->indices,
        .positions = welded->positions,
        .normals = apart ? welded->normals : 0,
        .values = apart ? welded->values : 0,
        .to_positions = vk_slot_address(plan->positions),
        .to_normals = address_or_none(plan->vertex_normals), /* used where there are welded ones */
        .to_values = address_or_none(plan->vertex_values),
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
    const surface_outputs welded = {
        .positions = vk_slot_address(plan->welded.positions),
        .normals = address_or_none(plan->welded.vertex_normals),
        .values = address_or_none(plan->welded.vertex_values),
        .indices = vk_slot_address(plan->welded.indices),
    };
    if (plan->indices64)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_surface: desc.soup: %" PRIu64 " vertices before their triangles; on "
                         "Vulkan at most 2^32; surface a region at a time",
                         plan->welded.vertex_count);
    return gather_soup(tml, plan, &welded, plan->welded.triangle_count, 0);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Double buffer for host samples: a slab takes the place of the slab before the previous one. */
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

/* COUNT reads no attribute. EMIT of the whole volume finds volume and mask in scratch. */
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

/* Reads the totals back; waits. In slabs they are the part's own, else inclusive prefixes. */
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

/* For EMIT in slabs: each part's totals start at its place in the outputs. */
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

/* done: fraction of this stage. */
static tml_status step_done(const vk_surface_job *job, const char *stage, double done)
{
    const surface_plan *plan = job->plan;
    if (surface_report(job->tml, plan, stage,
                       plan->progress_first + (plan->progress_last - plan->progress_first) * done))
        return TML_OK;
    return tml_error(job->tml, TML_ERROR_CANCELLED, "tml_surface: cancelled");
}

/* Does this stage need the part in the current slab? */
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
    /* Another part or slab overwrote a shared workspace: EMIT counts again. */
    bool counts = !emits || job->plan->labels || !job->is_whole;
    tml_status status = counts ? count_part(job, &space, p) : TML_OK;
    return status == TML_OK && emits ? emit_part(job, &space) : status;
}

static tml_status run_whole(vk_surface_job *job, const char *stage)
{
    const surface_plan *plan = job->plan;
    const slab_turn turn = {0};
    tml_status status = load_samples(job, &turn);
    for (uint32_t p = 0; p < plan->part_count && status == TML_OK; p++) {
        if (is_wanted(job, &plan->parts[p]))
            status = run_part(job, p);
        TML_THEN(status, step_done(job, stage, (p + 1.0) / plan->part_count));
    }
    return status;
}

/* Advances to the next slab that has a part; false at the end. */
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

/* The host copies the next slab while the device computes one. */
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
        TML_THEN(status, step_done(job, stage, done));
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

/* One subgroup a brick. */
static tml_status run_index(tml_context *tml, const surface_plan *plan)
{
    const surface_index_args args = {.volume = vk_slot_address(plan->volume),
                                     .bricks = vk_slot_address(plan->bricks),
                                     .dim_x = (uint32_t)plan->dims[0],
                                     .dim_y = (uint32_t)plan->dims[1],
                                     .dim_z = (uint32_t)plan->dims[2]};
    return vk_dispatch(
        tml, &(vk_dispatch_info){
                 .module = &vk_shader_surface_index,
                 .spec_count = 1,
                 .specs = {plan->type},
                 .args = &args,
                 .args_size = sizeof args,
                 .groups = groups_of(plan->bricks->count, VK_GROUP / vk_caps_of(tml)->subgroup)});
}

/* Records everything from the isovalue to the draw arguments, without a host read-back. */
static tml_status run_enqueue(vk_surface_job *job)
{
    const surface_plan *plan = job->plan;
    vk_workspace space = surface_workspace(job, 0);
    const slab_turn turn = {0};
    tml_status status =
        plan->field ? source_load(job, &job->sources[SOURCE_VOLUME], &turn) : TML_OK;
    if (status == TML_OK && plan->iso_on_device) {
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
    TML_THEN(status, count_part(job, &space, 0));
    TML_THEN(status, emit_part(job, &space));
    if (status == TML_OK && plan->soup)
        status = gather_soup(job->tml, plan, &job->out, plan->triangle_capacity, total_of(job, 0));
    return status;
}

/* Checks the number of rows, which has 32 bits in shaders, and shaderFloat64. */
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
