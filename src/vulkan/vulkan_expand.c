/* tml_expand on Vulkan. LOOK_BACK: a workgroup takes a tile of sources, scans its counts, finds the
 * index of the tile's first output by decoupled look-back, and writes the outputs.
 * REDUCE_THEN_SCAN: dispatches of their own reduce the counts of each tile and scan the sums first.
 * In both, a last dispatch writes the outputs of heavy tiles (EXPAND_LIGHT), a workgroup per block
 * of outputs. Its indirect grid is computed on the device, and is empty if no tile is heavy.
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016; Baxter:
 * moderngpu, load-balancing search. 2013. */
#include "gpu/kernel_glue.h"
#include "vulkan/vulkan_locate.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_expand.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

/* A pass's sum must fit the 60 bits of a look-back state: 2^28 counts of 32 bits do. */
static const uint64_t most_sources = (uint64_t)1 << 28;
/* The emit kernel's source index has 32 bits. */
static const uint64_t most_indices = (uint64_t)1 << 32;

static uint64_t pieces(uint64_t count, uint64_t piece)
{
    return count / piece + (count % piece != 0);
}

static uint32_t vk_expand_tiles(uint64_t sources)
{
    return (uint32_t)pieces(sources, EXPAND_SOURCES);
}

/* ---- shared with vulkan_locate.c ------------------------------------------------------------- */

static vk_kernel_use use_of(const tml_expand_desc *desc, const tml_kernel *kernel,
                            const vk_expand_outputs *outputs)
{
    bool is_stored = kernel->out_count > 1 || kernel_uses_matrix(kernel);
    return (vk_kernel_use){kernel, &desc->params, desc->in, is_stored ? outputs->params : 0};
}

tml_status vk_expand_counts_record(tml_context *tml, const tml_expand_desc *desc,
                                   const vk_expand_outputs *outputs, const vk_pass *pass,
                                   vk_address made, vk_expand_counts *out)
{
    if (!desc->count_kernel) {
        const tml_slot *slot = tml_slot_of(tml, desc->counts);
        *out = (vk_expand_counts){vk_slot_address(slot) + pass->first * slot->element_size,
                                  (uint32_t)slot->element_size};
        return TML_OK;
    }
    *out = (vk_expand_counts){made, sizeof(uint32_t)};
    const vk_kernel_use use = use_of(desc, desc->count_kernel, outputs);
    return vk_map_pass(tml, &use, pass, &made, false);
}

static bool takes_rank(const tml_kernel *kernel)
{
    for (uint32_t p = 0; p < kernel->param_count; p++)
        if (kernel->params[p] == TML_PARAM_RANK)
            return true;
    return false;
}

void vk_expand_outputs_take(tml_context *tml, const tml_expand_desc *desc, vk_arena *arena,
                            vk_expand_outputs *out)
{
    *out = (vk_expand_outputs){.capacity = tml_expand_capacity(tml, desc),
                               .rank = vk_address_of(tml, desc->rank)};
    out->params = vk_params_take(desc->count_kernel, arena);
    if (!out->params)
        out->params = vk_params_take(desc->emit_kernel, arena);
    if (!out->params && desc->emit_kernel && desc->emit_kernel->out_count > 1)
        out->params = vk_take(arena, PARAMS_WORDS + OUTS_WORDS, sizeof(uint32_t));
    if (!tml_buffer_is_none(desc->out_first))
        out->first = vk_take(arena, 1, sizeof(uint64_t));
    const tml_slot *source = tml_slot_of(tml, desc->source);
    if (source && source->type == TML_U64)
        out->source64 = vk_slot_address(source);
    else if (source)
        out->source = vk_slot_address(source);
    if (!desc->emit_kernel)
        return;
    if (!source || source->type == TML_U64)
        out->source = vk_take(arena, out->capacity, sizeof(uint32_t));
    if (tml_buffer_is_none(desc->rank) && takes_rank(desc->emit_kernel))
        out->rank = vk_take(arena, out->capacity, sizeof(uint32_t));
    uint64_t items = vk_caps_of(tml)->pass_items;
    out->passes = (vk_passes){.count = TML_MAX_OF(pieces(out->capacity, items), (uint64_t)1),
                              .bound = out->capacity,
                              .items = items};
    out->passes.total = vk_take(arena, 1, sizeof(uint64_t));
    out->passes.lengths = vk_take(arena, out->passes.count, VK_PASS_SIZE);
    out->before = out->passes;
    if (out->first) {
        out->before.total = vk_take(arena, 1, sizeof(uint64_t));
        out->before.lengths = vk_take(arena, out->passes.count, VK_PASS_SIZE);
    }
}

tml_status vk_expand_emit(tml_context *tml, const tml_expand_desc *desc,
                          const vk_expand_outputs *outputs, vk_address total)
{
    const tml_kernel *kernel = desc->emit_kernel;
    if (!kernel || outputs->capacity == 0)
        return TML_OK;
    const vk_module *module;
    tml_status status = vk_kernel_module(tml, kernel, VK_KERNEL_MAP, &module);
    if (status != TML_OK)
        return status;
    const vk_kernel_use use = use_of(desc, kernel, outputs);
    bool is_stored = kernel->out_count > 1;
    const vk_passes *passes = &outputs->passes;
    status = vk_passes_read(tml, total, true, passes);
    if (status == TML_OK && outputs->first)
        status = vk_passes_read(tml, outputs->first, true, &outputs->before);
    for (uint64_t p = 0; p < passes->count && status == TML_OK; p++) {
        vk_pass pass = vk_pass_at(passes, p);
        vk_address outs[TML_MAX_OUTS] = {0};
        for (uint32_t k = 0; k < tml_kernel_outs(kernel); k++)
            outs[k] = vk_address_of(tml, tml_expand_out(desc, k)) +
                      pass.first * tml_type_size(tml_kernel_out_type(kernel, k));
        if (is_stored)
            status = vk_params_store(tml, &desc->params, outs + 1, use.stored);
        map_args args = {.out_at = outs[0],
                         .length_at = pass.length,
                         .source = outputs->source + pass.first * sizeof(uint32_t),
                         .bound = pass.bound};
        if (outputs->rank)
            args.rank = outputs->rank + pass.first * sizeof(uint32_t);
        if (outputs->first)
            args.skip = vk_pass_at(&outputs->before, p).length;
        vk_kernel_args(tml, &use, 0, args.in, &args.values, args.word_counts);
        vk_dispatch_info info = {.module = module,
                                 .spec_count = VK_KERNEL_SPECS + 1,
                                 .args = &args,
                                 .args_size = sizeof args,
                                 .groups = pieces(pass.bound, MAP_ITEMS),
                                 .indirect = vk_pass_grid(&pass, MAP_ITEMS),
                                 .unordered = p > 0 && !is_stored};
        vk_kernel_specs(tml, kernel, desc->in, info.specs);
        info.specs[VK_KERNEL_SPECS] = is_stored ? MAP_OUTS_STORED : MAP_BY_SOURCE;
        if (status == TML_OK)
            status = vk_dispatch(tml, &info);
    }
    return status;
}

_Static_assert(EXPAND_SOURCES == 2 * MAP_ITEMS, "vk_pass_grid has a grid of tiles");

/* ---- steps ----------------------------------------------------------------------------------- */

static tml_status record(tml_context *tml, const vk_module *module, const expand_args *args,
                         uint32_t count_size, bool is_one_pass, uint64_t groups, vk_address grid)
{
    return vk_dispatch(
        tml,
        &(vk_dispatch_info){
            .module = module,
            .spec_count = EXPAND_SPECS,
            .specs = {[EXPAND_SPEC_COUNT_SIZE] = count_size, [EXPAND_SPEC_ONE_PASS] = is_one_pass},
            .look = is_one_pass ? LOOK_EXPAND : LOOK_NONE,
            .args = args,
            .args_size = sizeof *args,
            .groups = groups,
            .indirect = grid});
}

/* Records the reduction of each tile's counts and the scan of the sums to places and total. */
static tml_status record_places(tml_context *tml, const expand_args *args, uint32_t count_size)
{
    uint32_t per_group = VK_GROUP / vk_caps_of(tml)->subgroup;
    tml_status status = record(tml, &vk_shader_expand_sum, args, count_size, false,
                               pieces(vk_expand_tiles(args->bound), per_group), 0);
    return status ? status : record(tml, &vk_shader_expand_scan, args, count_size, false, 1, 0);
}

static void set_reported(tml_context *tml, const tml_expand_desc *desc, expand_args *args)
{
    const tml_slot *slot = tml_slot_of(tml, desc->total);
    if (slot) {
        args->reported = vk_slot_address(slot);
        args->wide = slot->type == TML_U64;
    }
}

/* Control words, the total (u64), and places (u64, one more than tiles). */
size_t vk_expand_total_scratch(uint32_t count)
{
    return (EXPAND_CONTROL + 2 + 2 * ((size_t)vk_expand_tiles(count) + 1)) * sizeof(uint32_t);
}

vk_address vk_expand_sum_at(vk_address scratch)
{
    return scratch + EXPAND_CONTROL * sizeof(uint32_t);
}

tml_status vk_expand_total(tml_context *tml, const tml_expand_desc *desc, vk_address counts,
                           uint32_t count, vk_address first, vk_address scratch)
{
    if (tml_buffer_is_none(desc->total) && !first)
        return TML_OK;
    expand_args args = {.counts = counts,
                        .bound = count,
                        .control = scratch,
                        .base = first,
                        .total = vk_expand_sum_at(scratch),
                        .places = scratch + (EXPAND_CONTROL + 2) * sizeof(uint32_t)};
    set_reported(tml, desc, &args);
    return record_places(tml, &args, sizeof(uint32_t));
}

/* ---- the operation --------------------------------------------------------------------------- */

typedef struct expand_layout {
    vk_passes passes;
    vk_address made;    /* a pass's counts from count_kernel */
    vk_address control; /* and look-back states, while recording */
    vk_address places;  /* output offsets of a pass's tiles */
    vk_address totals;  /* u64 per pass: outputs up to its end */
    vk_expand_outputs outputs;
} expand_layout;

static expand_layout vk_expand_lay_out(tml_context *tml, const tml_expand_desc *desc,
                                       vk_arena *arena)
{
    expand_layout l = {.control = 0};
    uint64_t items = TML_MIN_OF(vk_caps_of(tml)->pass_items, most_sources);
    uint64_t longest = TML_MIN_OF(desc->length.count, items);
    l.passes = vk_passes_take_of(&desc->length, items, arena);
    l.totals = vk_take(arena, l.passes.count, sizeof(uint64_t));
    l.places = vk_take(arena, (uint64_t)vk_expand_tiles(longest) + 1, sizeof(uint64_t));
    uint32_t states = desc->method == TML_METHOD_LOOK_BACK ? 2 * vk_expand_tiles(longest) : 0;
    l.control = vk_take(arena, EXPAND_CONTROL + states, sizeof(uint32_t));
    if (desc->count_kernel)
        l.made = vk_take(arena, longest, sizeof(uint32_t));
    vk_expand_outputs_take(tml, desc, arena, &l.outputs);
    return l;
}

static bool expand_supports(tml_context *tml, const void *desc)
{
    const tml_expand_desc *d = desc;
    if (d->count_kernel && !vk_kernel_supported(tml, d->count_kernel))
        return false;
    if (d->emit_kernel &&
        (d->length.count > most_indices || !vk_kernel_supported(tml, d->emit_kernel)))
        return false;
    if (d->method == TML_METHOD_HISTOPYRAMID)
        return vk_locate_expand_supports(tml, d);
    return d->method == TML_METHOD_REDUCE_THEN_SCAN || d->method == TML_METHOD_LOOK_BACK;
}

static size_t expand_scratch_size(tml_context *tml, const void *desc)
{
    const tml_expand_desc *d = desc;
    if (d->method == TML_METHOD_HISTOPYRAMID)
        return vk_locate_expand_scratch_size(tml, d);
    vk_arena arena = {0, 0};
    vk_expand_lay_out(tml, d, &arena);
    return arena.size;
}

static tml_status expand_pass(tml_context *tml, const tml_expand_desc *desc, const expand_layout *l,
                              uint64_t number)
{
    vk_pass pass = vk_pass_at(&l->passes, number);
    bool is_one_pass = desc->method == TML_METHOD_LOOK_BACK;
    uint32_t tiles = vk_expand_tiles(pass.bound);
    uint64_t capacity = l->outputs.capacity;
    expand_args args = {.length_at = pass.length,
                        .control = l->control,
                        .places = l->places,
                        .base = number > 0 ? l->totals + (number - 1) * sizeof(uint64_t)
                                           : l->outputs.first,
                        .total = l->totals + number * sizeof(uint64_t),
                        .source = l->outputs.source,
                        .source64 = l->outputs.source64,
                        .rank = l->outputs.rank,
                        .bound = pass.bound,
                        .first_low = (uint32_t)pass.first,
                        .first_high = (uint32_t)(pass.first >> 32),
                        .capacity_low = (uint32_t)capacity,
                        .capacity_high = (uint32_t)(capacity >> 32)};
    if (number + 1 == l->passes.count)
        set_reported(tml, desc, &args);
    vk_expand_counts counts;
    tml_status status = vk_expand_counts_record(tml, desc, &l->outputs, &pass, l->made, &counts);
    args.counts = counts.at;
    if (status == TML_OK && is_one_pass) {
        vk_states states;
        status = vk_take_states(tml, EXPAND_CONTROL + 2 * tiles, l->control, &states);
        args.control = states.words;
        args.clear = states.clear;
        args.clear_count = states.clear_count;
    } else if (status == TML_OK) {
        status = record_places(tml, &args, counts.size);
    }
    if (status == TML_OK && (is_one_pass || capacity > 0))
        status = record(tml, &vk_shader_expand, &args, counts.size, is_one_pass,
                        is_one_pass ? TML_MAX_OF(tiles, 1u) : tiles,
                        vk_pass_grid(&pass, EXPAND_SOURCES));
    if (status == TML_OK && capacity > 0 && tiles > 0)
        status = vk_dispatch(
            tml, &(vk_dispatch_info){.module = &vk_shader_expand_heavy,
                                     .spec_count = EXPAND_SPECS,
                                     .specs = {[EXPAND_SPEC_COUNT_SIZE] = counts.size},
                                     .args = &args,
                                     .args_size = sizeof args,
                                     .groups = (capacity >> EXPAND_BLOCK_LOG2) + 1,
                                     .indirect = args.control + EXPAND_GRID * sizeof(uint32_t)});
    return status;
}

static tml_status expand_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch_size;
    const tml_expand_desc *d = desc;
    if (d->method == TML_METHOD_HISTOPYRAMID)
        return vk_locate_expand(tml, d, scratch);
    vk_arena arena = vk_arena_of(scratch);
    expand_layout l = vk_expand_lay_out(tml, d, &arena);
    tml_status status = vk_passes_lend(tml, &d->length, &l.passes);
    if (status == TML_OK && l.outputs.first)
        status = vk_first_read(tml, d->out_first, l.outputs.first);
    if (status == TML_OK)
        status = vk_params_store(tml, &d->params, NULL, l.outputs.params);
    for (uint64_t p = 0; p < l.passes.count && status == TML_OK; p++)
        status = expand_pass(tml, d, &l, p);
    if (status == TML_OK)
        status =
            vk_expand_emit(tml, d, &l.outputs, l.totals + (l.passes.count - 1) * sizeof(uint64_t));
    return status;
}

const tml_engine_op vk_op_expand = {expand_supports, expand_scratch_size, expand_run};
