/* The result of a fold, from its whole blocks and the elements after them: of a stream, of each
 * component, or of each segment (SEGMENTED). LEVELS: number of levels of blocks, 0 to 5. */
#include "gl_common.glsl"
#include "gl_fold.glsl"
#ifdef SEGMENTED
#include "gl_segments.glsl"
#endif

uniform highp usampler2D folded; /* words */
uniform highp usampler2D states1;
uniform highp usampler2D states2;
uniform highp usampler2D states3;
uniform highp usampler2D states4;
uniform highp usampler2D states5;

layout(location = 0) out highp uvec4 result;

/* Joins the blocks that a level leaves over with rest, which follows them. */
fold_state join_level(highp usampler2D states, uint number, uint first, uint count, fold_state rest)
{
    uint level = BLOCK_LOG2 + 6u * (number - 1u), size = 1u << level;
    uint blocks = count >> level, whole = number < uint(LEVELS) ? blocks & ~63u : 0u;
    uint at = ((first + size - 1u) >> level) + whole;
    return fold_rest_of_states(states, at, blocks - whole, rest);
}

void main()
{
#ifdef SEGMENTED
    segment span = segment_at(tml_texel());
    uint first = span.first, count = span.count;
#else
    uint first = 0u, count = stream_length();
#    if COMPONENTS > 1
    component = tml_texel();
#    endif
#endif
    uint whole = LEVELS > 0 ? count >> BLOCK_LOG2 << BLOCK_LOG2 : 0u;
    fold_state f = fold_rest(folded, first + whole, count - whole);
#if LEVELS > 0
    f = join_level(states1, 1u, first, count, f);
#endif
#if LEVELS > 1
    f = join_level(states2, 2u, first, count, f);
#endif
#if LEVELS > 2
    f = join_level(states3, 3u, first, count, f);
#endif
#if LEVELS > 3
    f = join_level(states4, 4u, first, count, f);
#endif
#if LEVELS > 4
    f = join_level(states5, 5u, first, count, f);
#endif
    result = result_bits(f, count);
}
