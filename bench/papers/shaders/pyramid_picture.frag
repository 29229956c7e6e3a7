/* A band of the picture of a HistoPyramid: the nodes of one level from left to right, in several
 * rows if there are more nodes than columns. A node's colour shows the fraction of kept items below
 * it: nearly black for none, light yellow for all. BASE: the band is the base. */
#include "gl_common.glsl"

uniform highp usampler2D level;
uniform uint width_log2; /* of the picture */
uniform uint band;       /* the band's first pixel */
uniform uint first;      /* texel of the level's first node */
uniform uint nodes;      /* 0: the background */
uniform uint node_rows;  /* rows of pixels that a row of nodes takes */
uniform uint items_log2; /* items below a node */
uniform uint items;      /* of the stream */

layout(location = 0) out highp uint pixel;

uint ones_of(uint node)
{
    uvec4 sums = load_quad(level, first + node);
#ifdef BASE
    return popcount32(sums.x) + popcount32(sums.y) + popcount32(sums.z) + popcount32(sums.w);
#else
    return sums.w;
#endif
}

vec3 color_of(float share)
{
    vec3 a = vec3(8.0, 8.0, 24.0), b = vec3(87.0, 16.0, 110.0), c = vec3(188.0, 55.0, 84.0);
    vec3 d = vec3(249.0, 142.0, 9.0), e = vec3(252.0, 255.0, 164.0);
    float at = 4.0 * share;
    vec3 low = mix(mix(a, b, min(at, 1.0)), c, clamp(at - 1.0, 0.0, 1.0));
    return mix(mix(low, d, clamp(at - 2.0, 0.0, 1.0)), e, clamp(at - 3.0, 0.0, 1.0));
}

void main()
{
    uint width = 1u << width_log2, i = tml_texel() - band, x = i & (width - 1u);
    pixel = 0xffffffffu;
    uint node = (i >> width_log2) / node_rows * width + x;
    if (nodes <= width) {
        node = x * nodes >> width_log2;
        bool is_gap = (x + 1u) * nodes >> width_log2 != node; /* between wide nodes */
        if (is_gap && 8u * nodes <= width)
            return;
    }
    if (node >= nodes)
        return;
    uint below = min(1u << items_log2, items - (node << items_log2));
    uvec3 rgb = uvec3(color_of(float(ones_of(node)) / float(max(below, 1u))) + 0.5);
    pixel = rgb.x | rgb.y << 8 | rgb.z << 16 | 0xff000000u;
}
