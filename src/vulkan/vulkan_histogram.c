/* tml_histogram on Vulkan: one dispatch of shaders/histogram.comp per pass. If a kernel or edges
 * determine the bins, a dispatch before it computes the pass's bins. Float weights are added as
 * integers (kernels/histogram.k.h): dispatches before find the largest weight, and one after
 * converts the sums to floats. */
#include "vulkan/vulkan_internal.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"

#include "kernels/kernel_end.h"
#include "vulkan_shaders.h"

enum {
    /* Tables per workgroup, for few bins, and the words of all tables; more would cost resident
     * workgroups. (H100, 2^26 elements, 256 bins in 16 / 8 / 4 / 2 copies: .137 .123 .120 .119
     * ms.) */
    COPIES_MOST = 16,
    COPIES_WORDS = 1024,
    /* Pieces of 16 bytes per invocation: enough to amortise a workgroup's start and end, which take
     * a step per bin. Once the grid has GROUPS_ENOUGH workgroups, an invocation counts more
     * pieces. */
    QUADS_LEAST = 8,
    QUADS_MOST = 1024,
    ELEMENTS_A_BIN = 8,
    GROUPS_ENOUGH = 2048,
    /* Words of narrow counters, two bins per word; and the most ranges of bins, since the elements
     * are read once per range. Not for short streams, which have few elements per bin. (H100, 2^28
     * elements: 0.7 ms per range; by the device's atomics 3.2 ms, or 0.6 if all elements are in one
     * bin.) */
    NARROW_WORDS = HISTOGRAM_SHARED,
    PARTS_MOST = 4,
    NARROW_ELEMENTS_A_BIN = 8,
    CACHE_WORDS = HISTOGRAM_SHARED,
};

/* Elements per pass if bins are computed first: the bins (16 MiB) should stay in a cache until they
 * are counted. */
static const uint64_t made_items = (uint64_t)1 << 22;

typedef struct histogram_layout {
    vk_passes passes;
    vk_address made;    /* a pass's bins of a kernel or edges; else 0 */
    vk_address largest; /* of float weights; else 0 */
    vk_address sums;    /* u32 or u64 a bin */
    uint32_t length_log2;
    vk_kernel_use use;
    bool makes, is_real, is_wide;
} histogram_layout;

static histogram_layout vk_histogram_lay_out(tml_context *tml, const tml_histogram_desc *desc,
                                             vk_arena *arena)
{
    const tml_slot *weights = tml_slot_of(tml, desc->weights), *out = tml_slot_of(tml, desc->out);
    histogram_layout l = {.makes = desc->kernel || !tml_buffer_is_none(desc->edges),
                          .is_real = weights && weights->type == TML_F32,
                          .sums = vk_slot_address(out)};
    l.is_wide = l.is_real || out->type == TML_U64;
    while (l.is_real && desc->length.count > (uint64_t)1 << l.length_log2)
        l.length_log2++;
    uint64_t items = vk_caps_of(tml)->pass_items;
    if (l.makes)
        items = TML_MIN_OF(items, made_items);
    l.passes = vk_passes_take_of(&desc->length, items, arena);
    if (l.makes)
        l.made = vk_take(arena, TML_MIN_OF(desc->length.count, items), sizeof(uint32_t));
    l.use =
        (vk_kernel_use){desc->kernel, &desc->params, desc->in, vk_params_take(desc->kernel, arena)};
    if (l.is_real) {
        l.largest = vk_take(arena, 1, sizeof(uint32_t));
        l.sums = vk_take(arena, desc->bins, sizeof(uint64_t));
    }
    return l;
}

static bool histogram_supports(tml_context *tml, const void *argument)
{
    const tml_kernel *kernel = ((const tml_histogram_resolved *)argument)->desc.kernel;
    return !kernel || vk_kernel_supported(tml, kernel);
}

static size_t histogram_scratch_size(tml_context *tml, const void *argument)
{
    vk_arena arena = {0};
    vk_histogram_lay_out(tml, &((const tml_histogram_resolved *)argument)->desc, &arena);
    return arena.size;
}

/* The way of counting: copies of tables; ranges of narrow counters (parts); or, with neither, a
 * cache. */
typedef struct counting {
    uint32_t copies, parts, words;
} counting;

static counting choose_counting(const tml_histogram_desc *desc, uint64_t bound, bool is_wide)
{
    bool is_weighted = !tml_buffer_is_none(desc->weights);
    uint64_t words = (uint64_t)desc->bins * (is_weighted && is_wide ? 2 : 1);
    uint64_t parts = TML_CEIL_DIV((uint64_t)desc->bins, (uint64_t)2 * NARROW_WORDS);
    counting c = {.words = CACHE_WORDS};
    if (words <= HISTOGRAM_SHARED) {
        for (c.copies = 1; c.copies < COPIES_MOST && 2 * c.copies * words <= COPIES_WORDS;)
            c.copies *= 2;
        c.words = (uint32_t)words * c.copies;
    } else if (!is_weighted && parts <= PARTS_MOST && bound / NARROW_ELEMENTS_A_BIN >= desc->bins) {
        c.parts = (uint32_t)parts;
        c.words = NARROW_WORDS;
    }
    return c;
}

static tml_status count_pass(tml_context *tml, const tml_histogram_desc *desc,
                             const histogram_layout *l, const vk_pass *pass)
{
    const tml_slot *in = tml_slot_of(tml, desc->in[0]), *weights = tml_slot_of(tml, desc->weights);
    size_t size = l->makes ? sizeof(uint32_t) : in->element_size;
    vk_address at = l->makes ? l->made : vk_slot_address(in) + pass->first * size;
    uint32_t per_quad = 16 / (uint32_t)size;
    counting c = choose_counting(desc, pass->bound, l->is_wide);
    uint64_t quads = pass->bound ? (pass->bound + at % 16 / size) / per_quad + 1 : 0;
    uint64_t each = TML_MAX_OF(quads / (VK_GROUP * GROUPS_ENOUGH), (uint64_t)QUADS_LEAST);
    uint64_t bins = c.copies || c.parts ? desc->bins : c.words / 2;
    each = TML_MAX_OF(each, bins * ELEMENTS_A_BIN / (VK_GROUP * per_quad));
    each = TML_MIN_OF(each, (uint64_t)QUADS_MOST);
    histogram_args args = {.in_at = at,
                           .counts = l->sums,
                           .length_at = pass->length,
                           .largest = l->largest,
                           .bound = pass->bound,
                           .bins = desc->bins,
                           .each = (uint32_t)each,
                           .length_log2 = l->length_log2};
    if (weights)
        args.weights = vk_slot_address(weights) + pass->first * weights->element_size;
    return vk_dispatch(tml,
                       &(vk_dispatch_info){
                           .module = &vk_shader_histogram,
                           .spec_count = 6,
                           .specs = {(uint32_t)__builtin_ctzll(size), c.copies, c.parts,
                                     weights ? weights->type : 0, l->is_wide, c.words},
                           .args = &args,
                           .args_size = sizeof args,
                           .groups = TML_CEIL_DIV(quads, VK_GROUP * each) * TML_MAX_OF(c.parts, 1u),
                           .unordered = pass->first > 0 && !l->makes,
                       });
}

/* Computes the bins of a pass's elements, if they are not given. */
static tml_status make_bins(tml_context *tml, const tml_histogram_resolved *resolved,
                            const histogram_layout *l, const vk_pass *pass)
{
    const tml_histogram_desc *desc = &resolved->desc;
    return desc->kernel ? vk_map_pass(tml, &l->use, pass, &l->made, false)
           : l->makes   ? vk_search_pass(tml, &resolved->search, pass, l->made, false, false)
                        : TML_OK;
}

static tml_status find_largest(tml_context *tml, const tml_histogram_desc *desc,
                               const histogram_layout *l)
{
    tml_status status = vk_fill(tml, l->largest, 1, 0);
    for (uint64_t p = 0; p < l->passes.count && !status; p++) {
        vk_pass pass = vk_pass_at(&l->passes, p);
        const histogram_largest_args args = {.weights = vk_address_of(tml, desc->weights) +
                                                        pass.first * sizeof(float),
                                             .largest = l->largest,
                                             .length_at = pass.length,
                                             .bound = pass.bound};
        status = vk_dispatch(
            tml, &(vk_dispatch_info){.module = &vk_shader_histogram_largest,
                                     .args = &args,
                                     .args_size = sizeof args,
                                     .groups = TML_CEIL_DIV(pass.bound, HISTOGRAM_LARGEST),
                                     .unordered = p > 0});
    }
    return status;
}

static tml_status store_floats(tml_context *tml, const tml_histogram_desc *desc,
                               const histogram_layout *l)
{
    const histogram_floats_args args = {.to = vk_address_of(tml, desc->out),
                                        .sums = l->sums,
                                        .largest = l->largest,
                                        .bins = desc->bins,
                                        .length_log2 = l->length_log2};
    return vk_dispatch(tml,
                       &(vk_dispatch_info){.module = &vk_shader_histogram_floats,
                                           .args = &args,
                                           .args_size = sizeof args,
                                           .groups = TML_CEIL_DIV((uint64_t)desc->bins, VK_GROUP)});
}

static tml_status histogram_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_histogram_resolved *resolved = argument;
    const tml_histogram_desc *desc = &resolved->desc;
    vk_arena arena = vk_arena_of(scratch);
    histogram_layout l = vk_histogram_lay_out(tml, desc, &arena);
    const vk_module *module; /* found first: a kernel that is refused leaves the counts unchanged */
    tml_status status =
        desc->kernel ? vk_kernel_module(tml, desc->kernel, VK_KERNEL_MAP, &module) : TML_OK;
    if (!status)
        status = vk_passes_begin(tml, &desc->length, &l.passes);
    if (!status && l.is_real)
        status = find_largest(tml, desc, &l);
    if (!status)
        status = vk_params_store(tml, &desc->params, NULL, l.use.stored);
    if (!status)
        status = vk_fill(tml, l.sums, (uint64_t)desc->bins * (l.is_wide ? 2 : 1), 0);
    for (uint64_t p = 0; p < l.passes.count && !status; p++) {
        vk_pass pass = vk_pass_at(&l.passes, p);
        status = make_bins(tml, resolved, &l, &pass);
        if (!status)
            status = count_pass(tml, desc, &l, &pass);
    }
    return status || !l.is_real ? status : store_floats(tml, desc, &l);
}

const tml_engine_op vk_op_histogram = {histogram_supports, histogram_scratch_size, histogram_run};
