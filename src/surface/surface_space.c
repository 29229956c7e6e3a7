/* The layers and pads of workspaces. See surface_space.h. */
#include "surface/surface_space.h"

surface_space surface_space_of(const surface_plan *plan, const surface_part *part)
{
    const uint64_t *first = part->box.first, *count = part->box.count;
    surface_space out = {.pad = plan->caps, .box_z = first[2]};
    out.pad_low = out.pad && !part->no_pad_below;
    out.pad_high = out.pad && !part->no_pad_above;
    for (int a = 0; a < 2; a++)
        out.size[a] = count[a] + 2 * out.pad;
    out.size[2] = count[2] + out.pad_low + out.pad_high;
    out.own_first = part->before;
    out.own_end = out.size[2] - part->after;
    out.z_first = first[2] + part->before;
    out.z_end = first[2] + count[2] - part->after + (part->after ? out.pad_high : 0);
    return out;
}

surface_slab surface_slab_of(const surface_space *space, uint64_t first, uint64_t end,
                             bool looks_below)
{
    uint64_t to_space = space->pad_low - space->box_z; /* modulo 2^64 */
    surface_slab out = {.own_first = first <= space->z_first ? space->own_first : first + to_space,
                        .own_end = end >= space->z_end ? space->own_end : end + to_space};
    out.from = looks_below ? surface_held_first(out.own_first) : out.own_first;
    out.to = surface_held_end(out.own_end, space->size[2]);
    out.pad_low = space->pad_low && out.from == 0;
    out.pad_high = space->pad_high && out.to == space->size[2];
    out.z_first = space->box_z + out.from - (out.pad_low ? 0 : space->pad_low);
    return out;
}

bool surface_may_miss(const surface_plan *plan)
{
    return plan->mask || tml_type_is_float(plan->type);
}
