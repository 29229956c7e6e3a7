/* Shared by the shaders of reduce and segmented reduce: folds of up to 64 consecutive items, in
 * rows of eight. Included after gl_common.glsl.
 *
 * The reduction tree: 64 words are a block, 64 blocks are a block of the next level, and so on,
 * counted from the first element of the stream or segment. The items that a level leaves over are
 * folded separately, and their result is joined as one more item after the whole blocks of the
 * level above. A float sum is pairwise within a block. So the tree depends only on the number of
 * elements, and a stream and a segment of the same elements have the same sum, bit by bit.
 *
 * Vectors have COMPONENTS of 4 or 8 bytes each. Blocks and results are made per component, and lie
 * next to each other as the components do. The tree of each component is that of a stream of this
 * component alone.
 *
 * SEGMENTED: the first element may be anywhere in a word. */
#include "gpu/fold_layout.k.h"
#include "kernels/half.k.h"
#include "gpu/fold.glsl"

const uint BLOCK_LOG2 = 8u - SIZE_LOG2; /* elements in 64 words */

/* ---- components ------------------------------------------------------------------------------ */

#if COMPONENTS == 1
const uint component = 0u;
#else
uint component; /* that this texel folds */
#endif

/* Where the component has its word or state i. */
uint word_in_vectors(uint i)
{
    uint parity = SIZE_LOG2 == 3u ? i & 1u : 0u;
    uint element = SIZE_LOG2 == 3u ? i >> 1 : i, at = element * uint(COMPONENTS) + component;
    return SIZE_LOG2 == 3u ? at << 1 | parity : at;
}
uint load_folded(highp usampler2D words, uint i)
{
    return tml_load_word(words, COMPONENTS == 1 ? i : word_in_vectors(i));
}
uvec4 load_state(highp usampler2D states, uint i)
{
    return load_quad(states, i * uint(COMPONENTS) + component);
}

/* ---- rows of eight --------------------------------------------------------------------------- */

/* The fold so far; for floats, also the rows whose pair is not yet complete. */
struct fold_run {
    fold_state f;
    vec3 waiting;
};

fold_run run_begin()
{
    return fold_run(fold_nothing(), vec3(0.0));
}

void run_add_real(inout fold_run run, uint row, float sum)
{
    if ((row & 1u) == 0u) {
        run.waiting.x = sum;
        return;
    }
    float two = run.waiting.x + sum;
    if ((row & 2u) == 0u) {
        run.waiting.y = two;
        return;
    }
    float four = run.waiting.y + two;
    run.waiting.z = row == 3u ? four : run.waiting.z + four;
}

/* The fold of all rows. rows: their number. */
fold_state run_end(fold_run run, uint rows)
{
    fold_state f = run.f;
    if (FOLD_KIND == FOLD_REAL) {
        float sum = (rows & 1u) != 0u ? run.waiting.x : 0.0;
        sum = (rows & 2u) != 0u ? run.waiting.y + sum : sum;
        sum = (rows & 4u) != 0u ? run.waiting.z + sum : sum;
        f.number.x = floatBitsToUint(rows == 8u ? run.waiting.z : sum);
    }
    return f;
}

/* ---- rows of words --------------------------------------------------------------------------- */

float reals_of_word(uint word)
{
    return SIZE_LOG2 == 1u ? tml_half_to_float(word & 0xffffu) + tml_half_to_float(word >> 16)
                           : uintBitsToFloat(word);
}
float reals_of_words(uvec4 w)
{
    if (SIZE_LOG2 == 3u)
        return wide_to_float(w.xy) + wide_to_float(w.zw);
    return (reals_of_word(w.x) + reals_of_word(w.y)) + (reals_of_word(w.z) + reals_of_word(w.w));
}

/* Sums of integers of up to 32 bits, by halfwords, whose sums over 64 words do not overflow. Signed
 * integers are biased to unsigned ones. x holds the low halfwords, y the high ones of 32-bit
 * elements. */
uvec2 sums_of_words(uvec4 a, uvec4 b)
{
    uint raise = IS_SIGNED ? sign_bits(0u) : 0u;
    a ^= raise;
    b ^= raise;
    uvec4 low, high;
    if (SIZE_LOG2 == 0u) {
        low =
            (a & 0x00ff00ffu) + (a >> 8 & 0x00ff00ffu) + (b & 0x00ff00ffu) + (b >> 8 & 0x00ff00ffu);
        uint two = (low.x + low.y) + (low.z + low.w);
        return uvec2((two & 0xffffu) + (two >> 16), 0u);
    }
    low = (a & 0xffffu) + (b & 0xffffu);
    high = (a >> 16) + (b >> 16);
    uvec2 sums = uvec2((low.x + low.y) + (low.z + low.w), (high.x + high.y) + (high.z + high.w));
    return SIZE_LOG2 == 1u ? uvec2(sums.x + sums.y, 0u) : sums;
}

fold_state fold_words(fold_state f, uvec4 w, uint at)
{
    if (SIZE_LOG2 == 3u) {
        f = fold_join(f, fold_state(key64_of(w.xy), at));
        return fold_join(f, fold_state(key64_of(w.zw), at + 1u));
    }
    const uint step = 4u >> SIZE_LOG2;
    f = fold_word(f, w.x, at);
    f = fold_word(f, w.y, at + step);
    f = fold_word(f, w.z, at + 2u * step);
    return fold_word(f, w.w, at + 3u * step);
}

/* Adds the words a and b, whose first element has position at. */
void run_add_words(inout fold_run run, uint row, uvec4 a, uvec4 b, uint at)
{
    if (FOLD_KIND == FOLD_REAL) {
        run_add_real(run, row, reals_of_words(a) + reals_of_words(b));
    } else if (FOLD_KIND == FOLD_SUM64) {
        run.f.number =
            add64(run.f.number, add64(add64(a.xy, a.zw), add64(b.xy, b.zw)));
    } else if (FOLD_KIND == FOLD_SUM) {
        run.f.number += sums_of_words(a, b);
    } else {
        run.f = fold_words(run.f, a, at);
        run.f = fold_words(run.f, b, at + (16u >> SIZE_LOG2));
    }
}
fold_state run_of_words_end(fold_run run, uint rows)
{
    fold_state f = run_end(run, rows);
    if (FOLD_KIND == FOLD_SUM)
        f.number = add64(uvec2(f.number.x, 0u), uvec2(f.number.y << 16, f.number.y >> 16));
    return f;
}

/* The word of an array's element, and the element's shift in it. */
struct word_place {
    uint word;
    uint shift;
};
word_place place_of(uint element)
{
    if (SIZE_LOG2 >= 2u)
        return word_place(element << (SIZE_LOG2 - 2u), 0u);
    uint first_byte = element << SIZE_LOG2;
    return word_place(first_byte >> 2, (first_byte & 3u) << 3);
}

uvec4 words_at(highp usampler2D words, word_place place, uint i)
{
    uint at = place.word + i;
    uvec4 w = uvec4(load_folded(words, at), load_folded(words, at + 1u),
                    load_folded(words, at + 2u), load_folded(words, at + 3u));
#ifdef SEGMENTED
    if (SIZE_LOG2 < 2u) {
        uvec4 next = uvec4(w.yzw, load_folded(words, at + 4u));
        w = (w >> place.shift) | (next << (31u - place.shift)) << 1;
    }
#endif
    return w;
}

/* Folds a block of whole elements. */
fold_state fold_block(highp usampler2D words, uint element)
{
    word_place place = place_of(element);
    fold_run run = run_begin();
    for (uint row = 0u; row < 8u; row++) {
        uvec4 a = words_at(words, place, 8u * row), b = words_at(words, place, 8u * row + 4u);
        run_add_words(run, row, a, b, element + (row << (5u - SIZE_LOG2)));
    }
    return run_of_words_end(run, 8u);
}

/* Word i of count elements; neutral past them. */
uint keep_there(uint word, uint i, uint count)
{
    if (SIZE_LOG2 >= 2u)
        return i >> (SIZE_LOG2 - 2u) < count ? word : neutral_word(i & 1u);
    uint before = i << (2u - SIZE_LOG2), there = min(max(count, before) - before, 4u >> SIZE_LOG2);
    uint mask = there == 4u >> SIZE_LOG2 ? 0xffffffffu : (1u << (there << (3u + SIZE_LOG2))) - 1u;
    return (word & mask) | (neutral_word(0u) & ~mask);
}
uvec4 words_there(highp usampler2D words, word_place place, uint i, uint count)
{
    uvec4 w = words_at(words, place, i);
    return uvec4(keep_there(w.x, i, count), keep_there(w.y, i + 1u, count),
                 keep_there(w.z, i + 2u, count), keep_there(w.w, i + 3u, count));
}

/* Folds fewer elements than a block has. */
fold_state fold_rest(highp usampler2D words, uint element, uint count)
{
    word_place place = place_of(element);
    uint rows = ((count << SIZE_LOG2) + 31u) >> 5;
    fold_run run = run_begin();
    for (uint row = 0u; row < rows; row++) {
        uvec4 a = words_there(words, place, 8u * row, count);
        uvec4 b = words_there(words, place, 8u * row + 4u, count);
        run_add_words(run, row, a, b, element + (row << (5u - SIZE_LOG2)));
    }
    return run_of_words_end(run, rows);
}

/* ---- rows of states -------------------------------------------------------------------------- */

uvec4 state_bits(fold_state f)
{
    return uvec4(f.number, f.at, 0u);
}
fold_state state_of(uvec4 bits)
{
    return fold_state(bits.xy, bits.z);
}
float real_of(uvec4 bits)
{
    return uintBitsToFloat(bits.x);
}

fold_state fold_states(highp usampler2D states, uint first)
{
    fold_run run = run_begin();
    for (uint row = 0u; row < 8u; row++) {
        uint at = first + 8u * row;
        uvec4 a = load_state(states, at), b = load_state(states, at + 1u);
        uvec4 c = load_state(states, at + 2u), d = load_state(states, at + 3u);
        uvec4 e = load_state(states, at + 4u), f = load_state(states, at + 5u);
        uvec4 g = load_state(states, at + 6u), h = load_state(states, at + 7u);
        if (FOLD_KIND == FOLD_REAL) {
            run_add_real(run, row,
                         ((real_of(a) + real_of(b)) + (real_of(c) + real_of(d))) +
                             ((real_of(e) + real_of(f)) + (real_of(g) + real_of(h))));
        } else {
            run.f = fold_join(fold_join(run.f, state_of(a)), state_of(b));
            run.f = fold_join(fold_join(run.f, state_of(c)), state_of(d));
            run.f = fold_join(fold_join(run.f, state_of(e)), state_of(f));
            run.f = fold_join(fold_join(run.f, state_of(g)), state_of(h));
        }
    }
    return run_end(run, 8u);
}

/* State i of count; rest is state count. */
fold_state state_there(highp usampler2D states, uint first, uint i, uint count, fold_state rest)
{
    fold_state f = state_of(load_state(states, first + min(i, count - 1u)));
    return fold_choose(i < count, f, fold_choose(i == count, rest, fold_nothing()));
}
float real_there(highp usampler2D states, uint first, uint i, uint count, fold_state rest)
{
    return uintBitsToFloat(state_there(states, first, i, count, rest).number.x);
}

/* Folds fewer states than a block has, and then rest. */
fold_state fold_rest_of_states(highp usampler2D states, uint first, uint count, fold_state rest)
{
    if (FOLD_KIND != FOLD_REAL) {
        fold_state f = fold_nothing();
        for (uint i = 0u; i < count; i++)
            f = fold_join(f, state_of(load_state(states, first + i)));
        return fold_join(f, rest);
    }
    if (count == 0u)
        return rest;
    uint rows = (count >> 3) + 1u;
    fold_run run = run_begin();
    for (uint row = 0u; row < rows; row++) {
        uint i = 8u * row;
        float sum = ((real_there(states, first, i, count, rest) +
                      real_there(states, first, i + 1u, count, rest)) +
                     (real_there(states, first, i + 2u, count, rest) +
                      real_there(states, first, i + 3u, count, rest))) +
                    ((real_there(states, first, i + 4u, count, rest) +
                      real_there(states, first, i + 5u, count, rest)) +
                     (real_there(states, first, i + 6u, count, rest) +
                      real_there(states, first, i + 7u, count, rest)));
        run_add_real(run, row, sum);
    }
    return run_end(run, rows);
}

/* ---- results --------------------------------------------------------------------------------- */

/* The bits of the fold of count elements. Positions count from the array's first element. */
uvec4 result_bits(fold_state f, uint count)
{
    /* The sign of a zero sum depends on which zeros were added. */
    if (FOLD_KIND == FOLD_REAL && f.number.x == 0x80000000u)
        f.number.x = 0u;
    return uvec4(fold_result(f, uvec2(0u), uvec2(count, 0u)), 0u, 0u);
}
