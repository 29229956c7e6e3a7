/* Moves elements to their positions in a pass of a sort, four per texel. */
#include "gl_common.glsl"

uniform highp usampler2D sources0, sources1, sources2, sources3; /* of sort_sources.frag */
uniform highp usampler2D codes, indices;

layout(location = 0) out highp uvec4 moved_codes;
layout(location = 1) out highp uvec4 moved_indices;

uint part_at(highp usampler2D quads, uint i)
{
    return tml_component(load_quad(quads, i >> 2), i & 3u);
}

void main()
{
    uint target = tml_texel() & 3u, texel = tml_texel() >> 2;
    uvec4 from = load_quad(sources0, texel);
    if (target == 1u)
        from = load_quad(sources1, texel);
    if (target == 2u)
        from = load_quad(sources2, texel);
    if (target == 3u)
        from = load_quad(sources3, texel);
    moved_codes = uvec4(part_at(codes, from.x), part_at(codes, from.y), part_at(codes, from.z),
                        part_at(codes, from.w));
    moved_indices = uvec4(part_at(indices, from.x), part_at(indices, from.y),
                          part_at(indices, from.z), part_at(indices, from.w));
}
