/* tml_search on Vulkan: one dispatch of shaders/search.comp per pass of queries. */
#include "vulkan/vulkan_internal.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

static size_t search_scratch_size(tml_context *tml, const void *argument)
{
    vk_arena arena = {0};
    vk_passes_take(tml, &((const tml_search_resolved *)argument)->desc.length, &arena);
    return arena.size;
}

tml_status vk_search_pass(tml_context *tml, const tml_search_resolved *resolved,
                          const vk_pass *pass, vk_address out, bool is_wide, bool unordered)
{
    const tml_search_desc *desc = &resolved->desc;
    const tml_slot *sorted = tml_slot_of(tml, desc->sorted);
    const tml_slot *length = tml_slot_of(tml, desc->sorted_length.device);
    uint64_t count = desc->sorted_length.count;
    search_args args = {.sorted = vk_slot_address(sorted),
                        .queries =
                            vk_address_of(tml, desc->queries) + pass->first * sorted->element_size,
                        .out_at = out,
                        .length_at = pass->length,
                        .bound = pass->bound,
                        .count_low = (uint32_t)count,
                        .count_high = (uint32_t)(count >> 32),
                        .flip_low = (uint32_t)resolved->flip,
                        .flip_high = (uint32_t)(resolved->flip >> 32),
                        .real_flip_low = (uint32_t)resolved->real_flip,
                        .real_flip_high = (uint32_t)(resolved->real_flip >> 32)};
    if (length)
        args.sorted_length =
            vk_slot_address(length) + desc->sorted_length.device_index * length->element_size;
    return vk_dispatch(
        tml, &(vk_dispatch_info){
                 .module = &vk_shader_search,
                 .spec_count = 6,
                 .specs = {(uint32_t)sorted->element_size, length && length->type == TML_U64,
                           is_wide, desc->upper, resolved->as_bins, resolved->minus_zero != 0},
                 .args = &args,
                 .args_size = sizeof args,
                 .groups = TML_CEIL_DIV((uint64_t)pass->bound, MAP_ITEMS),
                 .indirect = vk_pass_grid(pass, MAP_ITEMS),
                 .unordered = unordered,
             });
}

static tml_status search_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_search_resolved *resolved = argument;
    const tml_slot *out = tml_slot_of(tml, resolved->desc.out);
    vk_arena arena = vk_arena_of(scratch);
    vk_passes passes = vk_passes_take(tml, &resolved->desc.length, &arena);
    (void)size;
    tml_status status = vk_passes_begin(tml, &resolved->desc.length, &passes);
    for (uint64_t n = 0; n < passes.count && !status; n++) {
        vk_pass pass = vk_pass_at(&passes, n);
        status = vk_search_pass(tml, resolved, &pass,
                                vk_slot_address(out) + pass.first * out->element_size,
                                out->type == TML_U64, n > 0);
    }
    return status;
}

const tml_engine_op vk_op_search = {NULL, search_scratch_size, search_run};
