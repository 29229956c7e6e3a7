/* One level of a fold: whole blocks of 64 words, or (FROM_STATES) of 64 blocks of the level below.
 * Texel t holds the block whose last element is one of the 1 << level elements from t << level on.
 * For a stream, that is block t; for vectors, consecutive texels hold the components of a block.
 * For segments that do not overlap (SEGMENTED), only the segment of element t << level can have
 * such a block. Texels without a block are undefined. */
#include "gl_common.glsl"
#include "gl_fold.glsl"
#ifdef SEGMENTED
#include "gl_segments.glsl"
#endif

uniform highp usampler2D folded; /* words or states */
uniform uint level;              /* log2 of the elements in a block */

layout(location = 0) out highp uvec4 state;

void main()
{
    uint t = tml_texel();
#if COMPONENTS > 1
    component = t % uint(COMPONENTS);
    t /= uint(COMPONENTS);
#endif
    uint first = 0u;
#ifdef SEGMENTED
    segment span = segment_at(segment_search(t << level, 0u, segment_count));
    first = span.first;
    uint size = 1u << level;
    uint block = t - ((first + size - 1u) >> level);
    if (first > t << level || span.count >> level <= block)
        discard;
#else
    uint block = t;
#endif
#ifdef FROM_STATES
    uint below = level - 6u, size_below = 1u << below;
    fold_state f = fold_states(folded, ((first + size_below - 1u) >> below) + (block << 6));
#else
    fold_state f = fold_block(folded, first + (block << level));
#endif
    state = state_bits(f);
}
