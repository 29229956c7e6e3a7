/* Results of segments that may overlap: each by one fragment, block after block in the tree of
 * gl_fold.glsl, which a binary counter follows: what waits at d is the sum of 2^d blocks. Drivers that
 * end loops early (65,535 times in a fragment) make a fragment stop after 4096 blocks, a section; what
 * waits for more lies in textures from draw to draw. LAST: what is left over, and the result. */
#define SEGMENTED
#include "gl_common.glsl"
#include "gl_fold.glsl"
#include "gl_segments.glsl"

uniform highp usampler2D folded;
uniform highp usampler2D waiting0;
uniform highp usampler2D waiting1;
uniform highp usampler2D waiting2;
uniform uint section;

const uint SECTION_LOG2 = 12u; /* blocks */

/* Floats: sums that wait. Else the state so far, in bits. */
uint waiting[24];
fold_state so_far;

void load_waiting(uint i, uvec4 quad)
{
    waiting[i] = quad.x;
    waiting[i + 1u] = quad.y;
    waiting[i + 2u] = quad.z;
    waiting[i + 3u] = quad.w;
}
uvec4 waiting_quad(uint i)
{
    return uvec4(waiting[i], waiting[i + 1u], waiting[i + 2u], waiting[i + 3u]);
}

void add_blocks(segment span, uint begin, uint end)
{
    for (uint b = begin; b < end; b++) {
        fold_state f = fold_block(folded, span.first + (b << BLOCK_LOG2));
        if (FOLD_KIND == FOLD_REAL) {
            float sum = uintBitsToFloat(f.number.x);
            uint d = 0u;
            for (uint bits = b; (bits & 1u) != 0u; bits >>= 1) {
                sum = uintBitsToFloat(waiting[d]) + sum;
                d++;
            }
            waiting[d] = floatBitsToUint(sum);
        } else {
            so_far = fold_join(so_far, f);
        }
    }
}

#ifdef LAST
layout(location = 0) out highp uvec4 result;
#else
layout(location = 0) out highp uvec4 out0;
layout(location = 1) out highp uvec4 out1;
layout(location = 2) out highp uvec4 out2;
#endif

void main()
{
    uint s = tml_texel();
    segment span = segment_at(s);
    uint blocks = span.count >> BLOCK_LOG2;
    so_far = fold_nothing();
#ifndef FIRST
    if (FOLD_KIND == FOLD_REAL) {
        load_waiting(12u, load_quad(waiting0, s));
        load_waiting(16u, load_quad(waiting1, s));
        load_waiting(20u, load_quad(waiting2, s));
    } else {
        so_far = state_of(load_quad(waiting0, s));
    }
#endif
#ifdef LAST
    add_blocks(span, blocks >> SECTION_LOG2 << SECTION_LOG2, blocks);
    uint whole = blocks << BLOCK_LOG2;
    fold_state f = fold_rest(folded, span.first + whole, span.count - whole);
    if (FOLD_KIND == FOLD_REAL) {
        float sum = uintBitsToFloat(f.number.x);
        for (uint d = 0u; d < 24u; d++)
            sum = (blocks >> d & 1u) != 0u ? uintBitsToFloat(waiting[d]) + sum : sum;
        f.number.x = floatBitsToUint(sum);
    } else {
        f = fold_join(so_far, f);
    }
    result = result_bits(f, span.count);
#else
    uint begin = section << SECTION_LOG2, end = begin + (1u << SECTION_LOG2);
    add_blocks(span, begin, end <= blocks ? end : begin);
    if (FOLD_KIND != FOLD_REAL)
        load_waiting(12u, state_bits(so_far));
    out0 = waiting_quad(12u);
    out1 = waiting_quad(16u);
    out2 = waiting_quad(20u);
#endif
}
