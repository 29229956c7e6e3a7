/* Writes the words of stats (TML_STATS_... of trommel/image.h) from the record of all pixels and
 * their histogram. */
#include "gl_common.glsl"
#include "gl_image_record.glsl"
#include "kernels/image.k.h"

uniform highp usampler2D records0, records1, records2, records3;
uniform highp usampler2D lows, highs;
uniform uint what; /* TML_MEASURE_... */
uniform int histogram_low;
uniform uint bin_log2;
uniform float least_counted;
uniform uvec2 slots; /* bytes that image_bins.frag counted, or 0 if it counted weights */

layout(location = 0) out highp uint word;

const uint LOG = 1u, MEAN = 2u, HISTOGRAM = 4u;

uint part_of(uvec2 number, uint part)
{
    return part == 0u ? number.x : number.y;
}

uvec2 negative64(uvec2 a)
{
    return add64(~a, uvec2(1u, 0u));
}

image_record record()
{
    return record_of_quads(load_quad(records0, 0u), load_quad(records1, 0u),
                           load_quad(records2, 0u), load_quad(records3, 0u));
}

uint bin_word(uint bin, uint part, image_record r)
{
    uvec4 low4 = load_quad(lows, bin >> 2), high4 = load_quad(highs, bin >> 2);
    uint i = bin & 3u;
    uvec2 count = i < 2u ? (i == 0u ? uvec2(low4.x, high4.x) : uvec2(low4.y, high4.y))
                         : (i == 2u ? uvec2(low4.z, high4.z) : uvec2(low4.w, high4.w));
    /* The first bin also counted pixels without a logarithm, and slots without a pixel. */
    if (bin == 0u && (slots.x | slots.y) != 0u)
        count = add64(count, add64(r.log_weight, negative64(slots)));
    return part_of(count, part);
}

/* Returns word w, of words 12 to 29. */
uint sum_word(uint w, image_record r)
{
    uint part = w & 1u;
    bool logs = (what & LOG) != 0u, means = (what & MEAN) != 0u;
    if (w < 14u)
        return part_of(r.weight, part);
    if (w < 20u)
        return logs ? part_of(w < 16u ? r.log_weight : w < 18u ? r.whole : r.fraction, part) : 0u;
    if (w < 22u)
        return float_bits_of_key(part == 0u ? r.least : r.most);
    if (w < 26u) {
        float weight = r.moments.weight;
        float deviation = weight > 0.0 ? r.moments.square / weight : 0.0;
        return means && part == 0u ? floatBitsToUint(w < 24u ? r.moments.mean : deviation) : 0u;
    }
    return w < 28u ? (part == 0u ? uint(histogram_low) : bin_log2)
                   : (part == 0u ? floatBitsToUint(least_counted) : what);
}

void main()
{
    uint w = tml_texel(), part = w & 1u;
    image_record r = record();
    if (w >= 30u) {
        word = (what & HISTOGRAM) != 0u ? bin_word((w - 30u) >> 1, part, r) : 0u;
        return;
    }
    if (w >= 12u) {
        word = sum_word(w, r);
        return;
    }
    uint pixels = r.kinds.x + r.kinds.y + r.kinds.z + r.kinds.w + r.infinite;
    uint count = w < 2u    ? pixels
                 : w < 4u  ? r.kinds.x
                 : w < 6u  ? r.kinds.y
                 : w < 8u  ? r.kinds.z
                 : w < 10u ? r.kinds.w
                           : r.infinite;
    word = part == 0u ? count : 0u;
}
