/* Scan on the Vulkan engine. */
#include "vulkan/vulkan_internal.h"
#include "vulkan_shaders.h"

#include "kernels/kernel.h"

#include "kernels/stream.k.h"

#include "kernels/kernel_end.h"

/* ---- counts ---------------------------------------------------------------------------------- */

/* One workgroup is done with so many counts before three dispatches would be. */
enum { COUNTS_FOR_ONE_GROUP = 2 * COUNTS_TILE };

static uint32_t counts_tiles(uint32_t count)
{
    return count / COUNTS_TILE + (count % COUNTS_TILE != 0);
}

size_t vk_scan_counts_scratch(uint32_t count)
{
    vk_arena arena = {0};
    while (count > COUNTS_FOR_ONE_GROUP) {
        count = counts_tiles(count);
        vk_take(&arena, count, sizeof(uint32_t));
    }
    return arena.size;
}

static tml_status scan_counts_step(tml_context *tml, uint32_t mode, const scan_counts_args *args)
{
    return vk_dispatch(tml, &(vk_dispatch_info){
                                .module = &vk_shader_scan_counts,
                                .spec_count = 1,
                                .specs = {mode},
                                .args = args,
                                .args_size = sizeof *args,
                                .groups = mode == COUNTS_ALL ? 1 : counts_tiles(args->count),
                            });
}

tml_status vk_scan_counts(tml_context *tml, vk_address values, uint32_t count, vk_address scratch,
                          vk_address base, vk_address total)
{
    if (count <= COUNTS_FOR_ONE_GROUP)
        return scan_counts_step(
            tml, COUNTS_ALL,
            &(scan_counts_args){.values = values, .base = base, .total = total, .count = count});

    vk_arena arena = {scratch, 0};
    uint32_t tiles = counts_tiles(count);
    scan_counts_args args = {.values = values, .count = count};
    args.sums = vk_take(&arena, tiles, sizeof(uint32_t));
    tml_status status = scan_counts_step(tml, COUNTS_SUMS, &args);
    if (!status)
        status = vk_scan_counts(tml, args.sums, tiles, scratch + arena.size, base, total);
    return status ? status : scan_counts_step(tml, COUNTS_ADD, &args);
}
