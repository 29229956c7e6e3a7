/* Descends a classic pyramid once for each output and fetches its element. */
#include "gl_common.glsl"

uniform highp usampler2D values;
uniform highp sampler2D base;
uniform highp sampler2D low; /* levels 0, 2, 4 ... */
uniform highp sampler2D high;
uniform highp usampler2D totals;
uniform int levels; /* above the base */
uniform uint side;
uniform uint row_log2; /* of values */

layout(location = 0) out highp uint value;

/* From a texel and a key to the child that the key lies in and the key there. */
struct classic_spot {
    ivec2 at;
    float key;
};

classic_spot down(vec4 sums, classic_spot spot)
{
    float ab = sums.x + sums.y, abc = ab + sums.z;
    int child = int(spot.key >= sums.x) + int(spot.key >= ab) + int(spot.key >= abc);
    spot.key -= child == 0 ? 0.0 : child == 1 ? sums.x : child == 2 ? ab : abc;
    spot.at = 2 * spot.at + ivec2(child & 1, child >> 1);
    return spot;
}

#ifdef PARTIAL_SUMS
#    define SUMS(level, left, spot) texelFetch(level, spot.at + ivec2(left, 0), 0)
#else
/* The sums of a texel's children. */
vec4 children(highp sampler2D level, ivec2 first)
{
    return vec4(texelFetch(level, first, 0).x, texelFetch(level, first + ivec2(1, 0), 0).x,
                texelFetch(level, first + ivec2(0, 1), 0).x,
                texelFetch(level, first + ivec2(1, 1), 0).x);
}
#    define SUMS(level, left, spot) children(level, 2 * spot.at + ivec2(left, 0))
#endif

void main()
{
    uint j = tml_texel();
    if (j >= load_quad(totals, 0u).x)
        discard;
    classic_spot spot;
    spot.at = ivec2(0);
    spot.key = float(j);
    /* The next level to be fetched, and half its side, which is the column that it begins with. */
#ifdef PARTIAL_SUMS
    int level = levels, left = 0;
#else
    int level = levels - 1, left = 1; /* the apex is but the total */
#endif
    int grown = left == 0 ? 1 : 2;
    if ((level & 1) != 0) {
        spot = down(SUMS(low, left, spot), spot);
        left = grown;
        grown *= 2;
        level--;
    }
    for (; level > 0; level -= 2) {
        spot = down(SUMS(high, left, spot), spot);
        spot = down(SUMS(low, grown, spot), spot);
        left = 2 * grown;
        grown *= 4;
    }
    spot = down(SUMS(base, 0, spot), spot);
    uint i = uint(spot.at.y) * side + uint(spot.at.x);
    value = texelFetch(values, ivec2(int(i & ((1u << row_log2) - 1u)), int(i >> row_log2)), 0).x;
}
