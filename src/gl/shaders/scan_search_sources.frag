/* A binary search in running counts for each of four outputs: their sources and, RANKS, their ranks.
 * With OTHERS the items that count 0 follow those that count 1, up to the stream's length. */
#include "gl_common.glsl"

uniform highp usampler2D running; /* counts of the items up to each */
uniform highp usampler2D totals;
uniform uint item_count;

layout(location = 0) out highp uvec4 sources;
#ifdef RANKS
layout(location = 1) out highp uvec4 ranks;
#endif

uint running_at(uint i, bool others)
{
    uint sum = tml_load_word(running, i);
    return others ? i + 1u - sum : sum;
}

/* The first item whose running count is above the key. */
uint search(uint key, bool others)
{
    uint low = 0u, high = item_count - 1u;
    while (low < high) {
        uint middle = low + ((high - low) >> 1);
        if (running_at(middle, others) > key)
            high = middle;
        else
            low = middle + 1u;
    }
    return low;
}

void main()
{
    uint first = 4u * tml_texel(), total = load_quad(totals, 0u).x;
#ifdef OTHERS
    uint end = stream_length();
#else
    uint end = total;
#endif
    uvec4 source = uvec4(0xffffffffu), rank = uvec4(0u);
    for (uint j = first; j < first + 4u; j++) {
        uint item = 0xffffffffu, k = 0u;
        if (j < end) {
            bool others = j >= total;
            k = others ? j - total : j;
            item = search(k, others);
#ifdef RANKS
            if (item > 0u)
                k -= running_at(item - 1u, false);
#endif
        }
        source = uvec4(source.yzw, item);
        rank = uvec4(rank.yzw, k);
    }
    sources = source;
#ifdef RANKS
    ranks = rank;
#endif
}
