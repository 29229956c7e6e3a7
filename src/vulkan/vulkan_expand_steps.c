/* Steps that all methods of tml_expand on Vulkan share: counts, the layout of outputs, the emit
 * kernel, sums. */
#include "gpu/kernel_glue.h"
#include "vulkan/vulkan_locate.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_expand.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

static uint64_t pieces(uint64_t count, uint64_t piece)
{
    return count / piece + (count % piece != 0);
}

uint32_t vk_expand_tiles(uint64_t sources)
{
    return (uint32_t)pieces(sources, EXPAND_SOURCES);
}

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
            outs[k] = vk_address_of(tml, desc->out[k]) +
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
        TML_THEN(status, vk_dispatch(tml, &info));
    }
    return status;
}

_Static_assert(EXPAND_SOURCES == 2 * MAP_ITEMS, "vk_pass_grid has a grid of tiles");

/* ---- steps ----------------------------------------------------------------------------------- */

tml_status vk_expand_record(tml_context *tml, const vk_module *module, const expand_args *args,
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

tml_status vk_expand_places(tml_context *tml, const expand_args *args, uint32_t count_size)
{
    uint32_t per_group = VK_GROUP / vk_caps_of(tml)->subgroup;
    tml_status status = vk_expand_record(tml, &vk_shader_expand_sum, args, count_size, false,
                                         pieces(vk_expand_tiles(args->bound), per_group), 0);
    return status ? status
                  : vk_expand_record(tml, &vk_shader_expand_scan, args, count_size, false, 1, 0);
}

void vk_expand_report(tml_context *tml, const tml_expand_desc *desc, expand_args *args)
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
    vk_expand_report(tml, desc, &args);
    return vk_expand_places(tml, &args, sizeof(uint32_t));
}
