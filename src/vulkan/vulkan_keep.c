/* Keep bits on Vulkan, from a kernel, flags or a mask (vulkan_compact.h). */
#include "vulkan/vulkan_compact.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

uint64_t vk_keep_tiles(uint64_t bound)
{
    return TML_MAX_OF(bound / TILE_ITEMS + (bound % TILE_ITEMS != 0), (uint64_t)1);
}

vk_keep_bits vk_keep_take(vk_arena *arena, uint64_t bound)
{
    vk_keep_bits bits = {.tiles = vk_keep_tiles(bound)};
    bits.words = vk_take(arena, bits.tiles, TILE_WORDS * sizeof(uint32_t));
    bits.counts = vk_take(arena, bits.tiles, sizeof(uint32_t));
    bits.scan_scratch = vk_take(arena, vk_scan_counts_scratch((uint32_t)bits.tiles), 1);
    return bits;
}

vk_keep_bits vk_keep_of_pass(const vk_keep_bits *all, const vk_pass *pass, bool is_reused)
{
    uint64_t tile = is_reused ? 0 : pass->first / TILE_ITEMS;
    return (vk_keep_bits){
        .words = all->words + tile * TILE_WORDS * sizeof(uint32_t),
        .counts = all->counts + tile * sizeof(uint32_t),
        .tiles = vk_keep_tiles(pass->bound),
        .scan_scratch = all->scan_scratch,
    };
}

bool vk_keep_supported(tml_context *tml, const tml_keep *keep)
{
    return !keep->kernel || vk_kernel_supported(tml, keep->kernel);
}

tml_status vk_keep_dispatch(tml_context *tml, vk_dispatch_info *info, const vk_pass *pass,
                            const vk_keep_bits *bits)
{
    info->groups = bits->tiles;
    info->indirect = vk_pass_grid(pass, TILE_ITEMS);
    info->spec_count = VK_KERNEL_SPECS;
    tml_status status = TML_OK;
    if (info->indirect)
        status = vk_fill(tml, bits->counts, bits->tiles, 0);
    TML_THEN(status, vk_dispatch(tml, info));
    if (status != TML_OK || !bits->totals)
        return status;
    return vk_scan_counts(tml, bits->counts, (uint32_t)bits->tiles, bits->scan_scratch,
                          bits->is_first ? 0 : bits->totals, bits->totals + sizeof(uint64_t));
}

vk_kernel_use vk_keep_use(const tml_keep *keep, vk_address params)
{
    return (vk_kernel_use){keep->kernel, &keep->params, keep->in, params};
}

tml_status vk_keep_record(tml_context *tml, const tml_keep *keep, vk_address params,
                          const vk_pass *pass, const vk_keep_bits *bits)
{
    keep_args args = {
        .bits = bits->words,
        .counts = bits->counts,
        .length_at = pass->length,
        .bound = pass->bound,
    };
    vk_dispatch_info info = {.args = &args, .args_size = sizeof args};
    if (keep->kernel) {
        tml_status status = vk_kernel_module(tml, keep->kernel, VK_KERNEL_KEEP, &info.module);
        if (status != TML_OK)
            return status;
        vk_kernel_specs(tml, keep->kernel, keep->in, info.specs);
        const vk_kernel_use use = vk_keep_use(keep, params);
        vk_kernel_args(tml, &use, pass->first, args.in, &args.values, args.word_counts);
    } else if (!tml_buffer_is_none(keep->flags)) {
        info.module = &vk_shader_flags_keep;
        args.in[0] = vk_address_of(tml, keep->flags) + pass->first;
        info.specs[0] = args.in[0] % 16 == 0;
    } else {
        info.module = &vk_shader_mask_keep;
        args.in[0] = vk_address_of(tml, keep->mask) + pass->first / 8;
    }
    return vk_keep_dispatch(tml, &info, pass, bits);
}
