/* tml_histogram on Vulkan: one dispatch of shaders/histogram.comp per pass, after a dispatch that
 * maps the pass if a kernel gives the bins. */
#include "vulkan/vulkan_internal.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

enum {
    COPIES_MOST = 16,
    /* Pieces of 16 bytes per invocation: enough to amortize a workgroup's start and end, which take
     * a step per bin. An invocation counts more once the grid has GROUPS_ENOUGH workgroups. */
    QUADS_LEAST = 8,
    QUADS_MOST = 1024,
    ELEMENTS_A_BIN = 8,
    GROUPS_ENOUGH = 2048,
};

/* Elements in a pass with a kernel: their bins (16 MiB) should stay in a cache until counted. */
static const uint64_t made_items = (uint64_t)1 << 22;

typedef struct histogram_layout {
    vk_passes passes;
    vk_address made; /* a pass's bins from the kernel */
    vk_kernel_use use;
} histogram_layout;

static histogram_layout lay_out(tml_context *tml, const tml_histogram_desc *desc, vk_arena *arena)
{
    uint64_t items = vk_caps_of(tml)->pass_items;
    if (desc->kernel)
        items = TML_MIN_OF(items, made_items);
    histogram_layout l = {.passes = vk_passes_take_of(&desc->length, items, arena)};
    if (desc->kernel)
        l.made = vk_take(arena, TML_MIN_OF(desc->length.count, items), sizeof(uint32_t));
    l.use =
        (vk_kernel_use){desc->kernel, &desc->params, desc->in, vk_params_take(desc->kernel, arena)};
    return l;
}

static bool histogram_supports(tml_context *tml, const void *desc)
{
    const tml_kernel *kernel = ((const tml_histogram_desc *)desc)->kernel;
    return !kernel || vk_kernel_supported(tml, kernel);
}

static size_t histogram_scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    lay_out(tml, desc, &arena);
    return arena.size;
}

static tml_status count_pass(tml_context *tml, const tml_histogram_desc *desc, const vk_pass *pass,
                             vk_address in, size_t size)
{
    uint32_t per_quad = 16 / (uint32_t)size, copies = 0;
    if (desc->bins <= HISTOGRAM_SHARED)
        for (copies = 1; copies < COPIES_MOST && 2 * copies * desc->bins <= HISTOGRAM_SHARED;)
            copies *= 2;
    uint64_t quads = pass->bound ? (pass->bound + in % 16 / size) / per_quad + 1 : 0;
    uint64_t each = TML_MAX_OF(quads / (VK_GROUP * GROUPS_ENOUGH), (uint64_t)QUADS_LEAST);
    if (copies)
        each = TML_MAX_OF(each, (uint64_t)desc->bins * ELEMENTS_A_BIN / (VK_GROUP * per_quad));
    each = TML_MIN_OF(each, (uint64_t)QUADS_MOST);
    histogram_args args = {.in_at = in,
                           .counts = vk_address_of(tml, desc->out),
                           .length_at = pass->length,
                           .bound = pass->bound,
                           .bins = desc->bins,
                           .each = (uint32_t)each};
    uint64_t share = VK_GROUP * each;
    return vk_dispatch(tml, &(vk_dispatch_info){
                                .module = &vk_shader_histogram,
                                .spec_count = 2,
                                .specs = {(uint32_t)__builtin_ctzll(size), copies},
                                .args = &args,
                                .args_size = sizeof args,
                                .groups = TML_CEIL_DIV(quads, share),
                                .unordered = pass->first > 0 && !desc->kernel,
                            });
}

static tml_status histogram_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_histogram_desc *desc = argument;
    vk_arena arena = vk_arena_of(scratch);
    histogram_layout l = lay_out(tml, desc, &arena);
    const tml_slot *in = tml_slot_of(tml, desc->in[0]);
    const vk_module *module; /* found first: a kernel that is refused leaves the counts unchanged */
    tml_status status =
        desc->kernel ? vk_kernel_module(tml, desc->kernel, VK_KERNEL_MAP, &module) : TML_OK;
    if (!status)
        status = vk_passes_begin(tml, &desc->length, &l.passes);
    if (!status)
        status = vk_params_store(tml, &desc->params, NULL, l.use.stored);
    if (!status)
        status = vk_fill(tml, vk_address_of(tml, desc->out), desc->bins, 0);
    for (uint64_t p = 0; p < l.passes.count && !status; p++) {
        vk_pass pass = vk_pass_at(&l.passes, p);
        if (desc->kernel) {
            status = vk_map_pass(tml, &l.use, &pass, &l.made, false);
            if (!status)
                status = count_pass(tml, desc, &pass, l.made, sizeof(uint32_t));
        } else {
            status =
                count_pass(tml, desc, &pass, vk_slot_address(in) + pass.first * in->element_size,
                           in->element_size);
        }
    }
    return status;
}

const tml_engine_op vk_op_histogram = {histogram_supports, histogram_scratch_size, histogram_run};
