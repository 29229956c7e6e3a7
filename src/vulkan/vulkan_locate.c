/* Compact, partition and expand by HISTOPYRAMID: count each source's outputs, build the pyramid,
 * find each output's source, gather. Kept plain: steps and names are those of cpu_locate.c and
 * cpu_histopyramid.c.
 *
 * Sums are u32 and saturate at 2^32 - 1. There are fewer outputs than that, so only the exact total
 * of an expansion, if the caller asks for it, requires a sum of its own. */
#include "vulkan/vulkan_locate.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_locate.k.h"

#include "kernels/kernel_end.h"
#include "vulkan/vulkan_compact.h"
#include "vulkan_shaders.h"

enum { FAN = 4 }; /* children of a cell: one load of 16 bytes */

static const uint64_t most_items = (uint64_t)1 << 30; /* sources, outputs */

/* The pyramid, in scratch. */
typedef struct locate_state {
    uint32_t count;    /* sources by the bound; at least 1 */
    uint32_t padded;   /* count, rounded up to a multiple of FAN */
    vk_address counts; /* u32: the base level; the levels above follow */
    /* After build: */
    vk_address total; /* u32 */
    uint32_t apex, apex_at;
} locate_state;

#define PADDED(count) (((count) + (FAN - 1u)) & ~(FAN - 1u))

static tml_status dispatch(tml_context *tml, const vk_module *module, const void *args,
                           size_t args_size, uint64_t items)
{
    return vk_dispatch(tml, &(vk_dispatch_info){.module = module,
                                                .args = args,
                                                .args_size = (uint32_t)args_size,
                                                .groups = TML_CEIL_DIV(items, VK_GROUP)});
}

/* ---- levels ---------------------------------------------------------------------------------- */

static uint64_t pyramid_cells(uint32_t count)
{
    uint64_t cells = PADDED(count);
    do {
        count = PADDED(count) / FAN;
        cells += PADDED(count);
    } while (count > 1);
    return cells;
}

static tml_status build_levels(tml_context *tml, locate_state *state)
{
    tml_status status = TML_OK;
    uint32_t count = state->count, at = 0;
    state->apex = 0;
    do {
        uint32_t parents_at = at + PADDED(count);
        count = PADDED(count) / FAN;
        const histopyramid_sum_args args = {
            .children = state->counts + (vk_address)at * sizeof(uint32_t),
            .parents = state->counts + (vk_address)parents_at * sizeof(uint32_t),
            .count = count,
            .padded = PADDED(count)};
        status =
            dispatch(tml, &vk_shader_histopyramid_sum, &args, sizeof args, (uint64_t)args.padded);
        at = parents_at;
        state->apex++;
    } while (count > 1 && status == TML_OK);
    state->apex_at = at;
    state->total = state->counts + (vk_address)at * sizeof(uint32_t);
    return status;
}

/* ---- locating -------------------------------------------------------------------------------- */

static locate_state take_state(uint64_t bound, vk_arena *arena)
{
    uint32_t count = (uint32_t)TML_MAX_OF(bound, (uint64_t)1);
    return (locate_state){.count = count,
                          .padded = PADDED(count),
                          .counts = vk_take(arena, pyramid_cells(count), sizeof(uint32_t))};
}

/* bytes: size of a count; 0: the counts are keep bits, inverted if others. */
static tml_status count_sources(tml_context *tml, const locate_state *state, const vk_pass *pass,
                                vk_address from, uint32_t bytes, bool others)
{
    const locate_counts_args args = {.from = from,
                                     .counts = state->counts,
                                     .length_at = pass->length,
                                     .bound = pass->bound,
                                     .padded = state->padded};
    return vk_dispatch(
        tml, &(vk_dispatch_info){.module = &vk_shader_locate_counts,
                                 .spec_count = 2,
                                 .specs = {[LOCATE_BYTES] = bytes, [LOCATE_OTHERS] = others},
                                 .args = &args,
                                 .args_size = sizeof args,
                                 .groups = TML_CEIL_DIV((uint64_t)state->padded, VK_GROUP)});
}

/* Builds the pyramid. total, a u64, receives the sum of the counts, at most limit. */
static tml_status build(tml_context *tml, locate_state *state, uint64_t limit, vk_address total)
{
    tml_status status = build_levels(tml, state);
    const lengths_args args = {
        .from = state->total, .total = total, .bound_low = (uint32_t)limit, .pass_log2 = 1};
    return status ? status : dispatch(tml, &vk_shader_lengths, &args, sizeof args, 1);
}

static tml_status locate(tml_context *tml, const locate_state *state, locate_args *args,
                         uint64_t limit)
{
    args->state = state->counts;
    args->limit = (uint32_t)limit;
    args->count = state->count;
    args->apex = state->apex;
    args->apex_at = state->apex_at;
    return dispatch(tml, &vk_shader_histopyramid_locate, args, sizeof *args, limit);
}

/* ---- compact and partition ------------------------------------------------------------------- */

typedef struct compact_layout {
    vk_passes passes;
    vk_keep_bits bits;
    vk_address params; /* the kernel's, if it uses their matrix */
    locate_state state;
    vk_address source;   /* u32 of each output */
    vk_address total[2]; /* u64: kept, rejected */
    vk_address first;    /* u64: where outputs begin; 0: at 0 */
} compact_layout;

static compact_layout vk_locate_lay_out(const tml_compact_desc *desc, vk_arena *arena)
{
    compact_layout l = {.passes = vk_passes_take_of(&desc->length, most_items, arena)};
    l.bits = vk_keep_take(arena, desc->length.count);
    l.params = vk_params_take(desc->keep.kernel, arena);
    l.state = take_state(desc->length.count, arena);
    l.source = vk_take(arena, desc->length.count, sizeof(uint32_t));
    l.total[0] = vk_take(arena, 1, sizeof(uint64_t));
    l.total[1] = vk_take(arena, 1, sizeof(uint64_t));
    if (!tml_buffer_is_none(desc->out_first))
        l.first = vk_take(arena, 1, sizeof(uint64_t));
    return l;
}

bool vk_locate_compact_supports(tml_context *tml, const tml_compact_desc *desc)
{
    return desc->length.count <= most_items && vk_keep_supported(tml, &desc->keep);
}

size_t vk_locate_compact_scratch_size(tml_context *tml, const tml_compact_desc *desc)
{
    (void)tml;
    vk_arena arena = {0, 0};
    vk_locate_lay_out(desc, &arena);
    return arena.size;
}

static uint32_t room_of(const tml_slot *slot)
{
    return (uint32_t)TML_MIN_OF(slot->count, most_items);
}

static tml_status gather(tml_context *tml, const tml_payload *payload, const compact_layout *l,
                         vk_address total, vk_address first)
{
    const tml_slot *out = tml_slot_of(tml, payload->out);
    const gather_args args = {.from = vk_address_of(tml, payload->in),
                              .to = vk_slot_address(out),
                              .source = l->source,
                              .total = total,
                              .first = first,
                              .room = room_of(out)};
    /* One workgroup more, since the first one begins at a multiple of four elements. */
    return vk_dispatch(
        tml, &(vk_dispatch_info){
                 .module = &vk_shader_gather,
                 .spec_count = 1,
                 .specs = {(uint32_t)out->element_size},
                 .args = &args,
                 .args_size = sizeof args,
                 .groups = TML_MIN_OF(l->passes.bound, (uint64_t)args.room) / GATHER_ELEMENTS + 2});
}

/* Locates and writes the kept elements or, if others, the rejected ones after them. */
static tml_status write_part(tml_context *tml, const tml_compact_desc *desc, compact_layout *l,
                             bool others)
{
    vk_pass pass = vk_pass_at(&l->passes, 0);
    vk_address total = l->total[others], first = others ? l->total[0] : l->first;
    locate_args args = {.total = total, .first = first, .source = l->source};
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    if (indices) {
        args.indices = vk_slot_address(indices);
        args.room = room_of(indices);
        args.wide = indices->type == TML_U64;
    }
    tml_status status = count_sources(tml, &l->state, &pass, l->bits.words, 0, others);
    TML_THEN(status, build(tml, &l->state, pass.bound, total));
    TML_THEN(status, locate(tml, &l->state, &args, pass.bound));
    for (size_t p = 0; p < TML_MAX_PAYLOADS && status == TML_OK; p++)
        if (!tml_buffer_is_none(desc->payloads[p].out))
            status = gather(tml, &desc->payloads[p], l, total, first);
    return status;
}

/* A partition is two compactions: of the kept elements, then of the rejected ones after them. */
tml_status vk_locate_compact(tml_context *tml, const tml_compact_desc *desc, void *scratch)
{
    vk_arena arena = vk_arena_of(scratch);
    compact_layout l = vk_locate_lay_out(desc, &arena);
    vk_pass pass = vk_pass_at(&l.passes, 0);
    pass.grids = 0; /* no indirect grid */
    tml_status status = vk_passes_begin(tml, &desc->length, &l.passes);
    if (status == TML_OK && l.first)
        status = vk_first_read(tml, desc->out_first, l.first);
    TML_THEN(status, vk_params_store(tml, &desc->keep.params, NULL, l.params));
    TML_THEN(status, vk_keep_record(tml, &desc->keep, l.params, &pass, &l.bits));
    TML_THEN(status, write_part(tml, desc, &l, false));
    if (status == TML_OK && desc->partition)
        status = write_part(tml, desc, &l, true);
    return status ? status : vk_store_end(tml, desc->count, l.total[0], l.first);
}

/* ---- expand ---------------------------------------------------------------------------------- */

typedef struct expand_layout {
    vk_passes passes;
    locate_state state;
    vk_address sums; /* scratch for the exact total */
    vk_address total;
    vk_expand_outputs outputs;
} expand_layout;

static expand_layout lay_out_expand(tml_context *tml, const tml_expand_desc *desc, vk_arena *arena)
{
    expand_layout l = {.passes = vk_passes_take_of(&desc->length, most_items, arena)};
    l.state = take_state(desc->length.count, arena);
    l.sums = vk_take(arena, vk_expand_total_scratch(l.state.count), 1);
    l.total = vk_take(arena, 1, sizeof(uint64_t));
    vk_expand_outputs_take(tml, desc, arena, &l.outputs);
    return l;
}

bool vk_locate_expand_supports(tml_context *tml, const tml_expand_desc *desc)
{
    return desc->length.count <= most_items && tml_expand_capacity(tml, desc) <= most_items;
}

size_t vk_locate_expand_scratch_size(tml_context *tml, const tml_expand_desc *desc)
{
    vk_arena arena = {0, 0};
    lay_out_expand(tml, desc, &arena);
    return arena.size;
}

tml_status vk_locate_expand(tml_context *tml, const tml_expand_desc *desc, void *scratch)
{
    vk_arena arena = vk_arena_of(scratch);
    expand_layout l = lay_out_expand(tml, desc, &arena);
    vk_pass pass = vk_pass_at(&l.passes, 0);
    locate_args args = {.total = l.total,
                        .source = l.outputs.source,
                        .skip = l.outputs.first,
                        .source64 = l.outputs.source64,
                        .rank = l.outputs.rank};
    vk_expand_counts counts;
    tml_status status = vk_passes_begin(tml, &desc->length, &l.passes);
    if (status == TML_OK && l.outputs.first)
        status = vk_first_read(tml, desc->out_first, l.outputs.first);
    TML_THEN(status, vk_params_store(tml, &desc->params, NULL, l.outputs.params));
    TML_THEN(status,
             vk_expand_counts_record(tml, desc, &l.outputs, &pass, l.state.counts, &counts));
    TML_THEN(status, count_sources(tml, &l.state, &pass, counts.at, counts.size, false));
    TML_THEN(status,
             vk_expand_total(tml, desc, l.state.counts, l.state.count, l.outputs.first, l.sums));
    TML_THEN(status, build(tml, &l.state, l.outputs.capacity, l.total));
    TML_THEN(status, locate(tml, &l.state, &args, l.outputs.capacity));
    vk_address end = l.outputs.first ? vk_expand_sum_at(l.sums) : l.total;
    return status ? status : vk_expand_emit(tml, desc, &l.outputs, end);
}
