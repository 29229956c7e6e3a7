/* tml_expand on Vulkan. LOOK_BACK: a workgroup scans the counts of a tile of sources, finds the
 * index of the tile's first output by decoupled look-back, and writes the outputs.
 * REDUCE_THEN_SCAN: separate dispatches first reduce the counts of each tile and scan the sums. In
 * both, a last dispatch writes the outputs of heavy tiles (EXPAND_LIGHT), one workgroup per block
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

/* A pass's sum must fit the 60 bits of a look-back state; the sum of 2^28 counts of 32 bits
 * does. */
static const uint64_t most_sources = (uint64_t)1 << 28;
/* The emit kernel's source index has 32 bits. */
static const uint64_t most_indices = (uint64_t)1 << 32;

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
        vk_expand_report(tml, desc, &args);
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
        status = vk_expand_places(tml, &args, counts.size);
    }
    if (status == TML_OK && (is_one_pass || capacity > 0))
        status = vk_expand_record(tml, &vk_shader_expand, &args, counts.size, is_one_pass,
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
    TML_THEN(status, vk_params_store(tml, &d->params, NULL, l.outputs.params));
    for (uint64_t p = 0; p < l.passes.count && status == TML_OK; p++)
        status = expand_pass(tml, d, &l, p);
    if (status == TML_OK)
        status =
            vk_expand_emit(tml, d, &l.outputs, l.totals + (l.passes.count - 1) * sizeof(uint64_t));
    return status;
}

const tml_engine_op vk_op_expand = {expand_supports, expand_scratch_size, expand_run};
