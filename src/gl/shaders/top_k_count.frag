/* Counts a digit of the elements in a chunk whose codes have the prefix, as histogram_count.frag
 * counts bins. */
#include "gl_common.glsl"
#include "histogram_bytes.glsl"
#include "top_k_code.glsl"

uniform uint first_chunk, chunk_words; /* words: elements */

layout(location = 0) out highp uvec4 counts0;
layout(location = 1) out highp uvec4 counts1;
layout(location = 2) out highp uvec4 counts2;
layout(location = 3) out highp uvec4 counts3;

const uint BLOCK = 240u;

void main()
{
    uvec2 prefix = load_quad(state, 0u).xy;
    uint end_bit = shift + 4u, length = stream_length();
    uvec2 higher = uvec2(end_bit < 32u ? 0xffffffffu << end_bit : 0u,
                         end_bit >= 64u ? 0u : 0xffffffffu << (max(end_bit, 32u) - 32u));
    uint first = min((first_chunk + tml_texel()) * chunk_words, length);
    uint end = min(first + chunk_words, length);
    counts0 = counts1 = counts2 = counts3 = uvec4(0u);
    for (uint block = first; block < end; block += BLOCK) {
        uvec4 bytes = uvec4(0u);
        uint block_end = min(block + BLOCK, end);
        for (uint i = block; i < block_end; i++) {
            uvec2 code = code_at(keys, i);
            uint digit = (shift < 32u ? code.x >> shift : code.y >> (shift - 32u)) & 15u;
            count_bin(((code ^ prefix) & higher) == uvec2(0u) ? digit : 16u, bytes);
        }
        counts0 += counts_of(bytes.x);
        counts1 += counts_of(bytes.y);
        counts2 += counts_of(bytes.z);
        counts3 += counts_of(bytes.w);
    }
}
