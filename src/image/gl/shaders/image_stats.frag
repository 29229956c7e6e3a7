/* The stats' words (TML_STATS_... of trommel/image.h) from the record of all pixels and their
 * histogram or, BLOCKS, from what image_blocks.frag ends with. */
#include "gl_common.glsl"
#include "gl_image_record.glsl"
#include "kernels/image.k.h"

uniform highp usampler2D records0, records1, records2, records3;
uniform highp usampler2D lows, highs;
uniform uint what; /* TML_MEASURE_... */
uniform int histogram_low;
uniform uint bin_log2;
uniform float least_counted;
uniform uvec2 slots; /* codes that image_bins.frag counted; 0: those with a weight alone */
uniform uint pixel_count;
uniform float padding; /* of blocks: padded over true number of pixels */

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

uvec2 product64(uint a, uint b)
{
    uint low = (a & 0xffffu) * (b & 0xffffu), high = (a >> 16) * (b >> 16);
    uint middle0 = (a >> 16) * (b & 0xffffu), middle1 = (a & 0xffffu) * (b >> 16);
    uvec2 sum = add64(uvec2(low, high), uvec2(middle0 << 16, middle0 >> 16));
    return add64(sum, uvec2(middle1 << 16, middle1 >> 16));
}

image_record record()
{
#ifdef BLOCKS
    image_record r = record_of_nothing();
    vec2 means = uintBitsToFloat(load_quad(records0, 0u).xy) * padding;
    int stops = int(floor(means.x * 16777216.0 + 0.5)), whole = image_log2_whole(stops);
    uvec2 product = product64(pixel_count, uint(abs(whole)));
    r.weight = r.log_weight = uvec2(pixel_count, 0u);
    r.whole = whole < 0 ? negative64(product) : product;
    r.fraction = product64(pixel_count, image_log2_fraction(stops));
    r.moments = moments_of(0.0, means.y, 0.0);
    return r;
#else
    return record_of_quads(load_quad(records0, 0u), load_quad(records1, 0u),
                           load_quad(records2, 0u), load_quad(records3, 0u));
#endif
}

uint bin_word(uint bin, uint part, image_record r)
{
    uvec4 low4 = load_quad(lows, bin >> 2), high4 = load_quad(highs, bin >> 2);
    uint i = bin & 3u;
    uvec2 count = i < 2u ? (i == 0u ? uvec2(low4.x, high4.x) : uvec2(low4.y, high4.y))
                         : (i == 2u ? uvec2(low4.z, high4.z) : uvec2(low4.w, high4.w));
    /* Pixels without a logarithm, and places without a pixel, are in the first bin. */
    if (bin == 0u && (slots.x | slots.y) != 0u)
        count = add64(count, add64(r.log_weight, negative64(slots)));
    return part_of(count, part);
}

/* Word 12 and those after it, up to the histogram's. */
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
#ifdef BLOCKS
    uint pixels = pixel_count;
#else
    uint pixels = r.kinds.x + r.kinds.y + r.kinds.z + r.kinds.w + r.infinite;
#endif
    uint count = w < 2u    ? pixels
                 : w < 4u  ? r.kinds.x
                 : w < 6u  ? r.kinds.y
                 : w < 8u  ? r.kinds.z
                 : w < 10u ? r.kinds.w
                           : r.infinite;
    word = part == 0u ? count : 0u;
}
