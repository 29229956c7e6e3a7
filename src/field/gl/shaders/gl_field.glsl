/* What the field's shaders share: the bins that a box of samples looks into. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "kernels/field.k.h"

uniform highp usampler2D starts; /* field_plan.device */
uniform highp usampler2D levels;
uniform uint level_count;

const uint BRICK = 8u;

/* The bins of a level that hold what may reach a box of samples: count along each axis, from first
 * on. */
struct bin_box {
    uvec3 first;
    uvec3 count;
    uvec3 bins;
    uint first_bin;
    uint edge_log2;
};
bin_box bins_near(uint level, uvec3 first, uvec3 last)
{
    uint at = 8u * level;
    bin_box box;
    box.first_bin = LOAD_U32(levels, at);
    box.edge_log2 = LOAD_U32(levels, at + 1u);
    box.bins = uvec3(LOAD_U32(levels, at + 2u), LOAD_U32(levels, at + 3u), LOAD_U32(levels, at + 4u));
    uvec3 support =
        uvec3(LOAD_U32(levels, at + 5u), LOAD_U32(levels, at + 6u), LOAD_U32(levels, at + 7u));
    uvec3 last_bin = min((last + support) >> box.edge_log2, box.bins - 1u);
    box.first = min((first - min(first, support)) >> box.edge_log2, last_bin);
    box.count = last_bin - box.first + 1u;
    return box;
}
uint first_of_row(bin_box box, uint y, uint z)
{
    return box.first_bin + box.first.x +
           box.bins.x * (box.first.y + y + box.bins.y * (box.first.z + z));
}
