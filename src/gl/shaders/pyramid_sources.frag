/* Descends a HistoPyramid for four outputs a texel: their sources and, RANKS, their ranks. With
 * PYRAMID_OTHERS the items without outputs follow those with one, up to the stream's length. */
#include "gl_common.glsl"
#include "gl_pyramid.glsl"

layout(location = 0) out highp uvec4 sources;
#ifdef RANKS
layout(location = 1) out highp uvec4 ranks;
#endif

pyramid_cursor seek(uint j, uint total)
{
#ifdef PYRAMID_OTHERS
    pyramid_others = j >= total;
    if (pyramid_others)
        j -= total;
#endif
    return pyramid_seek(j);
}

void main()
{
    uint first = 4u * tml_texel(), total = pyramid_total();
#ifdef PYRAMID_OTHERS
    uint end = stream_length();
#else
    uint end = total;
#endif
    uvec4 source = uvec4(0xffffffffu), rank = uvec4(0u);
    pyramid_cursor cursor;
    cursor.texel = 0u;
    cursor.left = uvec4(0u);
    cursor.rank = 0u;
    for (uint j = first; j < first + 4u; j++) {
        pyramid_spot spot;
        spot.item = 0xffffffffu;
        spot.rank = 0u;
        if (j < end) {
            if (pyramid_is_used_up(cursor))
                cursor = seek(j, total);
            spot = pyramid_next(cursor);
        }
        source = uvec4(source.yzw, spot.item);
        rank = uvec4(rank.yzw, spot.rank);
    }
    sources = source;
#ifdef RANKS
    ranks = rank;
#endif
}
