/* Folds of elements of any scalar type (gpu/fold_layout.k.h lists them), shared by reduce and
 * segments. The reduction tree is fixed, so that float sums are the same in every run and for every
 * grid.
 *
 * A range is loaded in pieces of 16 bytes: piece 256 * k + t of a tile is the k-th piece of
 * invocation t. A float sum adds the tile's eight rows k in pairs, then the elements within a piece
 * in pairs, then the 256 pieces in pairs. Elements past the end are neutral. A short range may omit
 * them, since zeros do not change a sum.
 *
 * No divergent branch precedes a subgroup operation, since some drivers reconverge late: all
 * invocations load, then select. */
#include "gpu/fold_layout.k.h"
#include "kernels/half.k.h"
#extension GL_EXT_control_flow_attributes : require

layout(constant_id = 0) const uint FOLD_KIND = 0u;
layout(constant_id = 1) const uint SIZE_LOG2 = 2u; /* log2 of an element's bytes: 0 ... 3 */
layout(constant_id = 2) const bool IS_SIGNED = false;
layout(constant_id = 3) const bool IS_FLOAT = false;
layout(constant_id = 4) const bool LARGEST = false;
layout(constant_id = 5) const uint FOLD_TO = 0u;
layout(constant_id = 6) const bool IS_MEAN = false;

#include "gpu/fold.glsl"

const uint PIECES = 8u;
const uint PIECE_LOG2 = 4u - SIZE_LOG2; /* elements in a piece */
const uint TILE_LOG2 = FOLD_TILE_LOG2 - SIZE_LOG2;

/* ---- elements -------------------------------------------------------------------------------- */

/* Word i at an address that is a multiple of four. The word is in memory; it is in shared memory if
 * FOLD_STAGED is defined (to a number of words) and the address has this high word. */
#ifdef FOLD_STAGED
const uint STAGED = 0xffffffffu;
shared uint staged[FOLD_STAGED];
#endif
uint fetch_word(uvec2 address, uint i)
{
#ifdef FOLD_STAGED
    if (address.y == STAGED)
        return staged[(address.x >> 2) + i];
#endif
    return LOAD_U32(address, i);
}

/* Word i of an array of count elements, at least one, at an address that is any multiple of the
 * element size; neutral past the array's end. */
uint load_word(uvec2 address, uint i, uint count)
{
    if (SIZE_LOG2 >= 2u) {
        bool is_there = (SIZE_LOG2 == 2u ? i : i >> 1) < count;
        uint whole = fetch_word(address, is_there ? i : 0u);
        return is_there ? whole : neutral_word(i & 1u);
    }
    uint first = i << (2u - SIZE_LOG2);
    uint bits = (min(max(count, first) - first, 4u >> SIZE_LOG2)) << (3u + SIZE_LOG2);
    uint here = bits > 0u ? i : 0u;
    uint shift = (address.x & 3u) << 3;
    uint word = fetch_word(address, here) >> shift;
    if (shift != 0u) {
        uint next = fetch_word(address, bits > 32u - shift ? here + 1u : here);
        word |= next << (32u - shift);
    }
    return bits == 32u ? word : bitfieldInsert(neutral_word(0u), word, 0, int(bits));
}
uvec4 load_piece(uvec2 address, uint piece, uint count)
{
    uvec4 words;
    for (uint c = 0u; c < 4u; c++) /* not unrolled, since drivers inline this function many times */
        words[c] = load_word(address, (piece << 2) + c, count);
    return words;
}

uvec4 neutral_piece()
{
    return uvec4(neutral_word(0u), neutral_word(1u), neutral_word(0u), neutral_word(1u));
}

/* All invocations receive the fold over the subgroup. */
fold_state fold_subgroup(fold_state f)
{
    if (FOLD_KIND == FOLD_REAL) {
        for (uint step = 1u; step < SUBGROUP; step <<= 1) {
            precise float sum = uintBitsToFloat(f.number.x) +
                                uintBitsToFloat(subgroupShuffleXor(f.number.x, step));
            f.number.x = floatBitsToUint(sum);
        }
#ifdef WITH_DOUBLE
    } else if (FOLD_KIND == FOLD_DOUBLE) {
        for (uint step = 1u; step < SUBGROUP; step <<= 1) {
            uvec2 other = subgroupShuffleXor(f.number, step);
            precise double sum = packDouble2x32(f.number) + packDouble2x32(other);
            f.number = unpackDouble2x32(sum);
        }
#endif
    } else if (FOLD_KIND < FOLD_BEST) {
        f.number = subgroup_sum64(f.number);
    } else {
        bool is_mine = true;
        if (SIZE_LOG2 == 3u) {
            uint top = subgroupMin(f.number.y);
            is_mine = f.number.y == top;
            f.number.y = top;
        }
        uint low = subgroupMin(is_mine ? f.number.x : 0xffffffffu);
        is_mine = is_mine && f.number.x == low;
        f.number.x = low;
        if (FOLD_KIND == FOLD_WHERE)
            f.at = subgroupMin(is_mine ? f.at : 0xffffffffu);
    }
    return f;
}

shared uvec2 fold_numbers[SUBGROUPS_MAX];
shared uint fold_places[SUBGROUPS_MAX];

void fold_keep(uint i, fold_state f)
{
    fold_numbers[i] = f.number;
    if (FOLD_KIND == FOLD_WHERE)
        fold_places[i] = f.at;
}
fold_state fold_kept(uint i, uint count)
{
    uint j = min(i, count - 1u);
    fold_state f = fold_state(fold_numbers[j], 0u);
    if (FOLD_KIND == FOLD_WHERE)
        f.at = fold_places[j];
    return fold_choose(i < count, f, fold_nothing());
}

/* Folds over the workgroup; the first subgroup receives the result. A barrier must precede the next
 * call. */
fold_state fold_group(fold_state f)
{
    uint t = gl_LocalInvocationID.x;
    f = fold_subgroup(f);
    if (subgroupElect())
        fold_keep(subgroup_index(), f);
    barrier();
    uint count = GROUP / SUBGROUP;
    for (; count > SUBGROUP; count /= SUBGROUP) {
        f = fold_subgroup(fold_kept(t, count));
        barrier();
        if (t < count && subgroupElect())
            fold_keep(subgroup_index(), f);
        barrier();
    }
    return fold_subgroup(fold_kept(t, count));
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A piece's elements as floats; those of 16 bits are added in pairs. */
vec4 piece_reals(uvec4 piece)
{
    if (SIZE_LOG2 == 2u)
        return uintBitsToFloat(piece);
    if (SIZE_LOG2 == 3u)
        return vec4(wide_to_float(piece.xy), wide_to_float(piece.zw), 0.0, 0.0);
    vec4 sums;
    for (uint c = 0u; c < 4u; c++) {
        precise float sum =
            tml_half_to_float(piece[c] & 0xffffu) + tml_half_to_float(piece[c] >> 16);
        sums[c] = sum;
    }
    return sums;
}

/* BEST and WHERE: joins the elements in the order of their positions. at: the position of the
 * first. */
fold_state fold_piece(fold_state f, uvec4 piece, uint at)
{
    if (SIZE_LOG2 == 3u) {
        f = fold_join(f, fold_state(key64_of(piece.xy), at));
        return fold_join(f, fold_state(key64_of(piece.zw), at + 1u));
    }
    for (uint c = 0u; c < 4u; c++)
        f = fold_word(f, piece[c], at + (c << (2u - SIZE_LOG2)));
    return f;
}

uvec4 biased(uvec4 piece)
{
    return IS_SIGNED ? piece ^ sign_bits(0u) : piece;
}

/* Pairwise summation of eight consecutive values: the partial sums whose other half is not yet
 * complete. */
struct pairs {
    vec4 x[3];
#ifdef WITH_DOUBLE
    dvec2 wide[3];
#endif
};

#define ADD_IN_PAIRS(kept, k, value)                                                               \
    if ((k & 1u) == 0u) {                                                                          \
        kept[0] = value;                                                                           \
    } else {                                                                                       \
        value = kept[0] + value;                                                                   \
        if ((k & 2u) == 0u) {                                                                      \
            kept[1] = value;                                                                       \
        } else {                                                                                   \
            value = kept[1] + value;                                                               \
            kept[2] = k == 3u ? value : kept[2] + value;                                           \
        }                                                                                          \
    }

/* An invocation's fold of up to PIECES pieces, begun with k == 0. */
struct piece_fold {
    fold_state f;
    pairs reals;
};

/* Adds piece k, whose first element has position at. by_rows: pieces are rows of a tile, and each
 * element of a piece has a sum of its own; otherwise the pieces are consecutive. */
void add_piece(inout piece_fold fold, uvec4 piece, uint k, uint at, bool by_rows)
{
    if (k == 0u)
        fold.f = fold_nothing();
    if (FOLD_KIND == FOLD_REAL) {
        precise vec4 x = piece_reals(piece);
        if (!by_rows)
            x = vec4((x.x + x.y) + (x.z + x.w), 0.0, 0.0, 0.0);
        ADD_IN_PAIRS(fold.reals.x, k, x)
#ifdef WITH_DOUBLE
    } else if (FOLD_KIND == FOLD_DOUBLE) {
        precise dvec2 x = dvec2(packDouble2x32(piece.xy), packDouble2x32(piece.zw));
        if (!by_rows)
            x = dvec2(x.x + x.y, 0.0lf);
        ADD_IN_PAIRS(fold.reals.wide, k, x)
#endif
    } else if (FOLD_KIND == FOLD_SUM64) {
        fold.f.number = add64(fold.f.number, add64(piece.xy, piece.zw));
    } else if (FOLD_KIND == FOLD_SUM && SIZE_LOG2 == 2u) {
        uvec4 x = biased(piece);
        uvec2 high;
        uint top;
        uvec2 low = uaddCarry(x.xz, x.yw, high);
        low.x = uaddCarry(low.x, low.y, top);
        fold.f.number = add64(fold.f.number, uvec2(low.x, high.x + high.y + top));
    } else if (FOLD_KIND == FOLD_SUM && SIZE_LOG2 == 1u) {
        uvec4 x = biased(piece);
        x = (x & 0xffffu) + (x >> 16);
        fold.f.number.x += (x.x + x.y) + (x.z + x.w);
    } else if (FOLD_KIND == FOLD_SUM) {
        uvec4 x = biased(piece);
        x = (x & 0x00ff00ffu) + ((x >> 8) & 0x00ff00ffu);
        uint two = (x.x + x.y) + (x.z + x.w);
        fold.f.number.x += (two & 0xffffu) + (two >> 16);
    } else {
        fold.f = fold_piece(fold.f, piece, at);
    }
}
/* After the last of PIECES pieces. */
fold_state end_pieces(piece_fold fold)
{
    if (FOLD_KIND == FOLD_REAL) {
        precise vec4 x = fold.reals.x[2];
        precise float sum = (x.x + x.y) + (x.z + x.w);
        fold.f.number.x = floatBitsToUint(sum);
    }
#ifdef WITH_DOUBLE
    if (FOLD_KIND == FOLD_DOUBLE) {
        precise double sum = fold.reals.wide[2].x + fold.reals.wide[2].y;
        fold.f.number = unpackDouble2x32(sum);
    }
#endif
    return fold.f;
}

/* Folds this invocation's elements of a tile of an array of count elements. */
fold_state fold_own(uvec2 address, uint tile, uint count)
{
    uint first = (tile << (FOLD_TILE_LOG2 - 4u)) + gl_LocalInvocationID.x;
    bool plain = (address.x & 15u) == 0u && (tile + 1u) << TILE_LOG2 <= count;
    piece_fold fold;
#ifndef FOLD_ROLLED /* defined by shaders that would inline this too often */
    /* all loads first, since these folds need few registers */
    if (plain && FOLD_KIND < FOLD_BEST) {
        uvec4 pieces[PIECES];
        [[unroll]] for (uint k = 0u; k < PIECES; k++)
            pieces[k] = quads_at(address).v[first + k * GROUP];
        [[unroll]] for (uint k = 0u; k < PIECES; k++)
            add_piece(fold, pieces[k], k, 0u, true);
        return end_pieces(fold);
    }
#endif
    for (uint k = 0u; k < PIECES; k++) {
        uint i = first + k * GROUP;
        uvec4 piece = plain ? quads_at(address).v[i] : load_piece(address, i, count);
        add_piece(fold, piece, k, i << PIECE_LOG2, true);
    }
    return end_pieces(fold);
}

/* Folds a tile of an array of count elements; the first subgroup receives the result. */
fold_state fold_tile(uvec2 address, uint tile, uint count)
{
    return fold_group(fold_own(address, tile, count));
}

/* ---- results --------------------------------------------------------------------------------- */

/* Stores result i, of a fold of count elements whose positions count from first. */
void fold_store(uvec2 address, uint i, fold_state f, uvec2 first, uvec2 count)
{
    uvec2 result = fold_result(f, first, count);
    bool is_same = FOLD_TO == FOLD_TO_SAME;
    if (is_same ? SIZE_LOG2 == 3u : FOLD_TO == FOLD_TO_F64 || FOLD_TO == FOLD_TO_U64)
        store64(address_of(address, i, 8u), result);
    else if (!is_same || SIZE_LOG2 == 2u)
        store_word(address, i, result.x);
    else if (SIZE_LOG2 == 1u)
        store_half(address, i, result.x);
    else
        store_byte(address, i, result.x);
}

/* Partial results are exchanged between workgroups, so their memory is coherent. */
layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer results_at {
    uvec4 v[];
};
void put_result(uvec2 results, uint i, fold_state f)
{
    results_at(results).v[i] = uvec4(f.number, f.at, 0u);
}
fold_state get_result(uvec2 results, uint i)
{
    uvec4 result = results_at(results).v[i];
    return fold_state(result.xy, result.z);
}
