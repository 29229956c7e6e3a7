/* tml_gather and tml_scatter on Vulkan: one dispatch of shaders/gather_scatter.comp per payload and
 * pass. */
#include "vulkan/vulkan_internal.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

static size_t vk_gather_scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    vk_passes_take(tml, &((const tml_gather_desc *)desc)->length, &arena);
    return arena.size;
}

tml_status vk_gather_pass(tml_context *tml, const vk_gather *gather, const vk_pass *pass,
                          bool unordered)
{
    const gather_scatter_args args = {
        .ordered = gather->ordered + pass->first * gather->size,
        .placed = gather->placed,
        .indices = gather->indices + pass->first * (gather->is_wide ? 8 : 4),
        .length_at = pass->length,
        .bound = pass->bound,
        .range_low = (uint32_t)gather->range,
        .range_high = (uint32_t)(gather->range >> 32),
    };
    return vk_dispatch(tml, &(vk_dispatch_info){
                                .module = &vk_shader_gather_scatter,
                                .spec_count = 3,
                                .specs = {gather->size, gather->is_wide, gather->scatters},
                                .args = &args,
                                .args_size = sizeof args,
                                .groups = TML_CEIL_DIV((uint64_t)pass->bound, MAP_ITEMS),
                                .indirect = vk_pass_grid(pass, MAP_ITEMS),
                                .unordered = unordered,
                            });
}

static vk_gather gather_of(const tml_context *tml, const tml_gather_desc *desc,
                           const tml_payload *payload, bool scatters)
{
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    const tml_slot *ordered = tml_slot_of(tml, scatters ? payload->in : payload->out);
    const tml_slot *placed = tml_slot_of(tml, scatters ? payload->out : payload->in);
    return (vk_gather){.ordered = vk_slot_address(ordered),
                       .placed = vk_slot_address(placed),
                       .indices = vk_slot_address(indices),
                       .range = placed->count,
                       .size = (uint32_t)ordered->element_size,
                       .is_wide = indices->type == TML_U64,
                       .scatters = scatters};
}

static tml_status vk_gather_run(tml_context *tml, const tml_gather_desc *desc, bool scatters,
                                void *scratch)
{
    vk_arena arena = vk_arena_of(scratch);
    vk_passes passes = vk_passes_take(tml, &desc->length, &arena);
    tml_status status = vk_passes_begin(tml, &desc->length, &passes);
    for (uint64_t n = 0; n < passes.count && !status; n++) {
        vk_pass pass = vk_pass_at(&passes, n);
        for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++)
            if (!tml_buffer_is_none(desc->payloads[p].in)) {
                const vk_gather gather = gather_of(tml, desc, &desc->payloads[p], scatters);
                status = vk_gather_pass(tml, &gather, &pass, n + p > 0);
            }
    }
    return status;
}

static tml_status gather_run(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)size;
    return vk_gather_run(tml, desc, false, scratch);
}

static tml_status scatter_run(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)size;
    return vk_gather_run(tml, desc, true, scratch);
}

const tml_engine_op vk_op_gather = {NULL, vk_gather_scratch_size, gather_run};
const tml_engine_op vk_op_scatter = {NULL, vk_gather_scratch_size, scatter_run};
