/* Descends a classic pyramid. Included after gl_common.glsl. PARTIAL_SUMS as in
 * classic_level.frag. */
uniform highp sampler2D base;
uniform highp sampler2D low; /* levels 0, 2, 4 ... */
uniform highp sampler2D high;
uniform int levels; /* above the base */

/* A texel, and a key: an output's number among the outputs below the texel. down: moves to the
 * child that contains the output. */
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
/* The sums of a texel's children, except the last, which has every key that the others do not
 * have. */
vec4 children(highp sampler2D level, ivec2 first)
{
    return vec4(texelFetch(level, first, 0).x, texelFetch(level, first + ivec2(1, 0), 0).x,
                texelFetch(level, first + ivec2(0, 1), 0).x, 0.0);
}
#    define SUMS(level, left, spot) children(level, 2 * spot.at + ivec2(left, 0))
#endif

/* The element from which output key comes, and the key among that element's outputs. */
classic_spot classic_descend(uint key)
{
    classic_spot spot;
    spot.at = ivec2(0);
    spot.key = float(key);
    /* The next level to be fetched, and its side, which is its first column. */
#ifdef PARTIAL_SUMS
    int level = levels, left = 1;
#else
    int level = levels - 1, left = 2; /* the apex holds only the total */
#endif
    if ((level & 1) != 0) {
        spot = down(SUMS(low, left, spot), spot);
        left *= 2;
        level--;
    }
    for (; level > 0; level -= 2) {
        spot = down(SUMS(high, left, spot), spot);
        spot = down(SUMS(low, 2 * left, spot), spot);
        left *= 4;
    }
    spot = down(SUMS(base, 0, spot), spot);
    return spot;
}
