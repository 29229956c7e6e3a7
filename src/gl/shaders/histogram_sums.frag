/* The sum of a bin, from the sorted codes of elements: the number of elements that have the bin's
 * code. WEIGHTED: the difference of the inclusive sums of weights at the ends of these elements.
 * WIDE: two words. REAL: a float. */
#include "gl_common.glsl"
#include "kernels/histogram.k.h"
#include "located.glsl"

#ifdef WEIGHTED
uniform highp usampler2D low_words, high_words;
#endif
#ifdef REAL
uniform highp usampler2D largest;
uniform uint length_log2;
#endif

layout(location = 0) out highp uint word;

/* How many of the stream's codes are below a code. The codes are passed as "sources". */
uint place_of(uint code)
{
    uint place = 0u;
    for (uint left = stream_length(); left > 0u; left >>= 1) {
        uint next = place + left - (left >> 1);
        place = source_of(next - 1u) < code ? next : place;
    }
    return place;
}

uvec2 sum_before(uint place)
{
#ifdef WEIGHTED
    uint last = place - 1u;
    return place == 0u ? uvec2(0u)
                       : uvec2(part_of(load_quad(low_words, last >> 2), last),
                               part_of(load_quad(high_words, last >> 2), last));
#else
    return uvec2(place, 0u);
#endif
}

void main()
{
    uint bin = tml_texel(), part = 0u;
#ifdef WIDE
    part = bin & 1u;
    bin >>= 1;
#endif
    uvec2 sum =
        add64(sum_before(place_of(bin + 1u)), histogram_negative(sum_before(place_of(bin))));
#ifdef REAL
    sum.x = histogram_float(sum, histogram_shift(tml_load_word(largest, 0u), length_log2));
#endif
    word = part == 0u ? sum.x : sum.y;
}
