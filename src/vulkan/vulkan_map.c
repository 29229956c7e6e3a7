/* tml_map on Vulkan: one dispatch of the kernel's map form per pass. */
#include "vulkan/vulkan_internal.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"

/* Elements per workgroup. A kernel that reads whole arrays may follow long chains of dependent
 * loads. Each of its elements gets an invocation of its own, so that few elements occupy the device
 * and none waits for another element's chain. */
static uint32_t items_of(const tml_kernel *kernel)
{
    bool reads_arrays = false;
    for (uint32_t p = 0; p < kernel->param_count; p++)
        reads_arrays |= kernel->params[p] == TML_PARAM_WORDS;
    bool makes_bytes = kernel->out_count == 0 && tml_type_size(kernel->result) == 1;
    return reads_arrays && !makes_bytes ? VK_GROUP : MAP_ITEMS;
}

tml_status vk_map_pass(tml_context *tml, const vk_kernel_use *use, const vk_pass *pass,
                       const vk_address *outs, bool unordered)
{
    const vk_module *module;
    tml_status status = vk_kernel_module(tml, use->kernel, VK_KERNEL_MAP, &module);
    if (status != TML_OK)
        return status;
    map_args args = {.out_at = outs[0], .length_at = pass->length, .bound = pass->bound};
    if (use->kernel->out_count > 0)
        args.source = outs[1], args.rank = outs[2], args.skip = outs[3];
    const uint32_t items = items_of(use->kernel);
    vk_dispatch_info info = {.module = module,
                             .spec_count = VK_KERNEL_SPECS + 2,
                             .args = &args,
                             .args_size = sizeof args,
                             .groups = TML_CEIL_DIV((uint64_t)pass->bound, items),
                             .indirect = vk_pass_grid(pass, items),
                             .unordered = unordered};
    vk_kernel_specs(tml, use->kernel, use->in, info.specs);
    info.specs[VK_KERNEL_SPECS] = MAP_IN_ORDER;
    info.specs[VK_KERNEL_SPECS + 1] = items / VK_GROUP;
    vk_kernel_args(tml, use, pass->first, args.in, &args.values, args.word_counts);
    return vk_dispatch(tml, &info);
}

static bool map_supports(tml_context *tml, const void *desc)
{
    return vk_kernel_supported(tml, ((const tml_map_desc *)desc)->kernel);
}

static size_t map_scratch_size(tml_context *tml, const void *desc)
{
    const tml_map_desc *d = desc;
    vk_arena arena = {0, 0};
    vk_passes_take(tml, &d->length, &arena);
    vk_params_take(d->kernel, &arena);
    return arena.size;
}

static tml_status map_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch_size;
    const tml_map_desc *d = desc;
    vk_arena arena = vk_arena_of(scratch);
    vk_passes passes = vk_passes_take(tml, &d->length, &arena);
    const vk_kernel_use use = {d->kernel, &d->params, d->in, vk_params_take(d->kernel, &arena)};
    tml_status status = vk_passes_lend(tml, &d->length, &passes);
    TML_THEN(status, vk_params_store(tml, use.params, NULL, use.stored));
    for (uint64_t p = 0; p < passes.count && status == TML_OK; p++) {
        vk_pass pass = vk_pass_at(&passes, p);
        vk_address outs[TML_MAX_OUTS] = {0};
        for (uint32_t k = 0; k < tml_kernel_outs(d->kernel); k++) {
            const tml_slot *out = tml_slot_of(tml, d->out[k]);
            outs[k] = vk_slot_address(out) + pass.first * out->element_size;
        }
        status = vk_map_pass(tml, &use, &pass, outs, p > 0);
    }
    return status;
}

const tml_engine_op vk_op_map = {map_supports, map_scratch_size, map_run};
