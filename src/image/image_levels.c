/* The sizes and positions of the levels of mip chains. */
#include "image/image_internal.h"

static uint32_t levels_of(uint32_t width, uint32_t height)
{
    uint32_t levels = 1;
    for (uint32_t longest = TML_MAX_OF(width, height); longest > 1; longest /= 2)
        levels++;
    return levels;
}

uint32_t tml_mip_level(uint32_t width, uint32_t height, uint32_t level, uint32_t *level_width,
                       uint32_t *level_height, uint64_t *first)
{
    const uint32_t levels = levels_of(width, height);
    uint64_t at = 0;
    level = TML_MIN_OF(level, levels);
    for (uint32_t k = 0; k < level; k++) {
        at += k > 0 ? (uint64_t)width * height : 0;
        width = TML_MAX_OF(width / 2, 1u);
        height = TML_MAX_OF(height / 2, 1u);
    }
    if (level_width)
        *level_width = width;
    if (level_height)
        *level_height = height;
    if (first)
        *first = at;
    return levels;
}

uint64_t image_mips_first(const image_mips_plan *plan, uint32_t level)
{
    uint64_t first, begin = 0;
    tml_mip_level(plan->in.width, plan->in.height, level, NULL, NULL, &first);
    if (plan->is_last)
        tml_mip_level(plan->in.width, plan->in.height, plan->levels - 1, NULL, NULL, &begin);
    return first - begin;
}
