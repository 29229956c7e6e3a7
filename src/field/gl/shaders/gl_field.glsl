/* Shared by the field's shaders: finds the bins that the support of a box of samples touches. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "kernels/field.k.h"
#include "field/gpu/field_bins.glsl"

uniform highp usampler2D starts; /* field_plan.device */
uniform highp usampler2D plan;
uniform uint level_count;

const uint PLAN_LEVELS = 52u; /* FIELD_PLAN_LEVELS */

bin_box bins_near(uint level, uvec3 first, uvec3 last)
{
    uint at = PLAN_LEVELS + 8u * level;
    uvec4 low = uvec4(LOAD_U32(plan, at), LOAD_U32(plan, at + 1u), LOAD_U32(plan, at + 2u),
                      LOAD_U32(plan, at + 3u));
    uvec4 high = uvec4(LOAD_U32(plan, at + 4u), LOAD_U32(plan, at + 5u),
                       LOAD_U32(plan, at + 6u), LOAD_U32(plan, at + 7u));
    return bins_of_level(low, high, first, last);
}
uint first_of_row(bin_box box, uint y, uint z)
{
    return box.first_bin + box.first.x +
           box.bins.x * (box.first.y + y + box.bins.y * (box.first.z + z));
}
