/* Codes of elements' segments, four per texel, in the order of indices. The code is the first
 * element of the segment. An element in no segment is a segment by itself. Elements past the length
 * stay behind all others. */
#include "gl_common.glsl"

uniform highp usampler2D begins; /* of segments_begins.frag */
uniform highp usampler2D indices;

layout(location = 0) out highp uvec4 codes;

const uint NONE = 0xffffffffu;

uint code_at(uint i)
{
    uint begin = i == NONE ? NONE : tml_load_word(begins, i);
    return begin == NONE ? i : begin;
}

void main()
{
    uvec4 at = load_quad(indices, tml_texel());
    codes = uvec4(code_at(at.x), code_at(at.y), code_at(at.z), code_at(at.w));
}
