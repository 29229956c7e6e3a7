/* Descends a HistoPyramid for four outputs per texel: their sources and, with RANKS, their ranks.
 *   PYRAMID_OTHERS  items without outputs follow the items with one, up to the stream's length
 *   OUT_FIRST       outputs begin at an element that is on the device (located_end.frag)
 *   TWO_PLANES      items are the elements twice, plane_items apart, and there are at most as many
 *                   outputs as w of "limit" says */
#include "gl_common.glsl"
#include "gl_pyramid.glsl"

layout(location = 0) out highp uvec4 sources;
#ifdef RANKS
layout(location = 1) out highp uvec4 ranks;
#endif

#ifdef OUT_FIRST
uniform highp usampler2D ends;
#endif

#ifdef TWO_PLANES
uniform highp usampler2D limit;
uniform uint plane_items;
uint element_of(uint item)
{
    return item < plane_items ? item : item - plane_items;
}
#else
#    define element_of(item) (item)
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

#ifdef RANKS
#    define TAKE_RANK(part, spot) rank.part = spot.rank;
#else
#    define TAKE_RANK(part, spot)
#endif
/* Stores output k of the four, if it is the next one and the cursor is not used up. */
#define TAKE(part, k)                                                                              \
    if (j == first + k && j < end && !pyramid_is_used_up(cursor)) {                                \
        pyramid_spot spot = pyramid_next(cursor);                                                  \
        source.part = element_of(spot.item);                                                       \
        TAKE_RANK(part, spot)                                                                      \
        j++;                                                                                       \
    }

void main()
{
    uint first = 4u * tml_texel(), total = pyramid_total(), begin = 0u;
#ifdef TWO_PLANES
    total = min(total, load_quad(limit, 0u).w);
#endif
#ifdef OUT_FIRST
    begin = load_quad(ends, 0u).z;
#endif
#ifdef PYRAMID_OTHERS
    uint end = min(first + 4u, stream_length());
#else
    uint end = min(first + 4u, add_clamped(begin, total));
#endif
    uvec4 source = uvec4(0xffffffffu), rank = uvec4(0u);
    /* A round processes all outputs of the base texel to which it descends; usually one round is
     * enough. */
    uint j = max(first, begin);
    while (j < end) {
        pyramid_cursor cursor = seek(j - begin, total);
        TAKE(x, 0u)
        TAKE(y, 1u)
        TAKE(z, 2u)
        TAKE(w, 3u)
    }
    sources = source;
#ifdef RANKS
    ranks = rank;
#endif
}
