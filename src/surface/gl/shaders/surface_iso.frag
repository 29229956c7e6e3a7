/* The limits of an isovalue in device memory, in three texels: limit and range; keep and
 * index_bits; the isovalue's three words. */
#include "gl_surface.glsl"
#include "surface/gpu/surface_limits.glsl"

uniform highp usampler2D isovalues;
uniform uint iso_index;
out highp uvec4 limits;

void main()
{
    held_limits held = hold_limits(tml_load_word(isovalues, iso_index));
    limits = tml_texel() == 0u   ? uvec4(held.limit, held.range)
             : tml_texel() == 1u ? uvec4(held.keep, held.index_bits, 0u, 0u)
                                 : uvec4(held.words, 0u);
}
