/* Stores a histogram of histogram_add.frag to an array of u32, or of u64 if WIDE. */
#include "gl_common.glsl"

uniform highp usampler2D counts0, counts1, counts2, counts3;

layout(location = 0) out highp uint word;

void main()
{
    uint bin = tml_texel();
#ifdef WIDE
    if ((bin & 1u) == 1u) {
        word = 0u;
        return;
    }
    bin >>= 1;
#endif
    uint group = bin >> 4;
    uvec4 counts = load_quad(counts0, group);
    if ((bin & 12u) == 4u)
        counts = load_quad(counts1, group);
    if ((bin & 12u) == 8u)
        counts = load_quad(counts2, group);
    if ((bin & 12u) == 12u)
        counts = load_quad(counts3, group);
    uvec2 two = (bin & 2u) == 0u ? counts.xy : counts.zw;
    word = (bin & 1u) == 0u ? two.x : two.y;
}
