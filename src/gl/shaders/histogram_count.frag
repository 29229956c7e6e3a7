/* Counts a chunk of elements of SIZE bytes in 16 bins. Fragment chunk * groups + group counts bins
 * 16 * group to 16 * group + 15, four per target. Within a block, 16 counters of one byte each stay
 * in four registers; a block has as many elements as a byte can count. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "histogram_bytes.glsl"

uniform highp usampler2D bins; /* a bin per element */
uniform uvec2 groups;          /* for divide() */
uniform uint first_chunk, chunk_words;

layout(location = 0) out highp uvec4 counts0;
layout(location = 1) out highp uvec4 counts1;
layout(location = 2) out highp uvec4 counts2;
layout(location = 3) out highp uvec4 counts3;

const uint EACH = 4u / uint(SIZE); /* elements in a word */
const uint BLOCK = 240u / EACH;    /* words */
const uint MASK = 0xffffffffu >> (32u - 8u * uint(SIZE));

void main()
{
    uint chunk = divide(tml_texel(), groups), first_bin = (tml_texel() - chunk * groups.x) << 4;
    uint length = stream_length();
    uint words = length / EACH + (length % EACH != 0u ? 1u : 0u);
    uint first = min((first_chunk + chunk) * chunk_words, words);
    uint end = min(first + chunk_words, words);
    counts0 = counts1 = counts2 = counts3 = uvec4(0u);
    for (uint block = first; block < end; block += BLOCK) {
        uvec4 bytes = uvec4(0u);
        uint block_end = min(block + BLOCK, end);
        for (uint w = block; w < block_end; w++) {
            uint word = tml_load_word(bins, w);
            for (uint e = 0u; e < EACH; e++) {
                uint bin = (word >> (e * 8u * uint(SIZE))) & MASK;
                count_bin(w * EACH + e < length ? bin - first_bin : 16u, bytes);
            }
        }
        counts0 += counts_of(bytes.x);
        counts1 += counts_of(bytes.y);
        counts2 += counts_of(bytes.z);
        counts3 += counts_of(bytes.w);
    }
}
