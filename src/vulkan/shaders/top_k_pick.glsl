/* The digits of a code from the highest on, and the digit in whose bin a rank lies. */
#include "group.glsl"
#include "count_digit.glsl"

shared uint table[TOP_K_BINS];
shared uint picked, picked_rest;

uint digit_of(uvec2 code, uint shift)
{
    return (shift < 32u ? code.x >> shift : code.y >> (shift - 32u)) & (TOP_K_BINS - 1u);
}
/* Are the digits of a code above the digit at shift those of the prefix? */
bool has_prefix(uvec2 code, uvec2 prefix, uint shift)
{
    uint end = shift + TOP_K_DIGIT;
    uvec2 higher = uvec2(end < 32u ? 0xffffffffu << end : 0u,
                         end >= 64u ? 0u : 0xffffffffu << (max(end, 32u) - 32u));
    return ((code ^ prefix) & higher) == uvec2(0u);
}
uvec2 with_digit(uvec2 prefix, uint digit, uint shift)
{
    return shift < 32u ? uvec2(prefix.x | digit << shift, prefix.y)
                       : uvec2(prefix.x, prefix.y | digit << (shift - 32u));
}
/* The bin of the rest-th element, counted from 1. rest becomes the element's rank in that bin.
 * counted: for invocation t, the number of elements in bin t. All invocations of the workgroup call
 * it. */
uint pick(uint counted, inout uint rest)
{
    uint total, before = scan_group(counted, total);
    if (gl_LocalInvocationID.x == 0u) {
        picked = 0u;
        picked_rest = 0u;
    }
    barrier();
    if (before < rest && rest <= before + counted) {
        picked = gl_LocalInvocationID.x;
        picked_rest = rest - before;
    }
    barrier();
    rest = picked_rest;
    return picked;
}
