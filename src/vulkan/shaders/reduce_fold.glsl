/* Folds of elements of any scalar type (kernels/stream.k.h says which there are), in a fixed tree, so
 * that float sums are the same in every run and for every shape of the work: reduce and segments
 * share this.
 *
 * A stretch is read in pieces of 16 bytes. Piece 256 * k + t of a tile is the t-th invocation's k-th.
 * A float sum adds the tile's eight rows k in pairs, then the elements within a piece in pairs, then
 * the 256 pieces in pairs. Elements past the end are neutral, and zeros do not change a sum, so that
 * a short stretch may leave out what it does not have.
 *
 * Before an operation over the subgroup nothing branches by lane: values are loaded for all lanes, and
 * then chosen. Some drivers do not bring lanes together again as soon as they could. */
#extension GL_EXT_control_flow_attributes : require

layout(constant_id = 0) const uint FOLD_KIND = 0u;
layout(constant_id = 1) const uint SIZE_LOG2 = 2u; /* of an element: 0 ... 3 */
layout(constant_id = 2) const bool IS_SIGNED = false;
layout(constant_id = 3) const bool IS_FLOAT = false;
layout(constant_id = 4) const bool LARGEST = false;
layout(constant_id = 5) const uint FOLD_TO = 0u;
layout(constant_id = 6) const bool IS_MEAN = false;

const uint PIECES = 8u;
const uint PIECE_LOG2 = 4u - SIZE_LOG2; /* elements in a piece */
const uint TILE_LOG2 = FOLD_TILE_LOG2 - SIZE_LOG2;
const uint SIGN_BIT = SIZE_LOG2 == 0u ? 0x80u : SIZE_LOG2 == 1u ? 0x8000u : 0x80000000u;

/* A number of 64 bits (float: low; double: both) and, for WHERE, a position. */
struct fold_state {
    uvec2 number;
    uint at;
};

/* ---- elements -------------------------------------------------------------------------------- */

/* The sign bits of the elements in an even or odd word. */
uint sign_bits(uint parity)
{
    if (SIZE_LOG2 == 0u)
        return 0x80808080u;
    if (SIZE_LOG2 == 1u)
        return 0x80008000u;
    return SIZE_LOG2 == 2u || parity == 1u ? 0x80000000u : 0u;
}

/* What stands for elements that are not there. */
uint neutral_word(uint parity)
{
    if (FOLD_KIND == FOLD_SUM)
        return IS_SIGNED ? sign_bits(parity) : 0u;
    if (FOLD_KIND < FOLD_BEST)
        return 0u;
    if (IS_FLOAT)
        return ~sign_bits(parity); /* a NaN */
    uint smallest = IS_SIGNED ? sign_bits(parity) : 0u;
    return LARGEST ? smallest : ~smallest;
}

/* Word i of count elements, at least one, that begin at any multiple of their size. */
uint load_word(uvec2 address, uint i, uint count)
{
    if (SIZE_LOG2 >= 2u) {
        bool is_there = (SIZE_LOG2 == 2u ? i : i >> 1) < count;
        uint whole = LOAD_U32(address, is_there ? i : 0u);
        return is_there ? whole : neutral_word(i & 1u);
    }
    uint first = i << (2u - SIZE_LOG2);
    uint bits = (min(max(count, first) - first, 4u >> SIZE_LOG2)) << (3u + SIZE_LOG2);
    uint here = bits > 0u ? i : 0u;
    uint shift = (address.x & 3u) << 3;
    uint word = LOAD_U32(address, here) >> shift;
    if (shift != 0u) { /* the same in all lanes */
        uint next = LOAD_U32(address, bits > 32u - shift ? here + 1u : here);
        word |= next << (32u - shift);
    }
    return bits == 32u ? word : bitfieldInsert(neutral_word(0u), word, 0, int(bits));
}
uvec4 load_piece(uvec2 address, uint piece, uint count)
{
    uvec4 words;
    for (uint c = 0u; c < 4u; c++) /* left rolled: drivers compile this many times over */
        words[c] = load_word(address, (piece << 2) + c, count);
    return words;
}

uvec4 neutral_piece()
{
    return uvec4(neutral_word(0u), neutral_word(1u), neutral_word(0u), neutral_word(1u));
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* element: in the low bits. -0 and 0 have one place. */
uint key_of(uint element)
{
    uint key = element;
    if (IS_FLOAT) {
        uint sign = SIGN_BIT, infinity = SIZE_LOG2 == 1u ? 0x7c00u : 0x7f800000u;
        uint magnitude = element & (sign - 1u);
        if (FOLD_KIND == FOLD_WHERE)
            key = magnitude == 0u ? 0u : key;
        key = (key & sign) != 0u ? (sign - 1u) - magnitude : key | sign;
        key = LARGEST ? ~key : key;
        return magnitude > infinity ? 0xffffffffu : key;
    } else if (IS_SIGNED) {
        key ^= SIGN_BIT;
    }
    return LARGEST ? ~key : key;
}
uint element_of(uint key)
{
    if (LARGEST)
        key = ~key;
    if (IS_FLOAT)
        return (key & SIGN_BIT) != 0u ? key ^ SIGN_BIT : (~key & (SIGN_BIT - 1u)) | SIGN_BIT;
    return IS_SIGNED ? key ^ SIGN_BIT : key;
}

uvec2 key64_of(uvec2 element)
{
    uvec2 key = element;
    if (IS_FLOAT) {
        /* Any low bits count as one more above an infinity's. */
        uint magnitude = (element.y & 0x7fffffffu) + (element.x != 0u ? 1u : 0u);
        if (FOLD_KIND == FOLD_WHERE)
            key.y = magnitude == 0u ? 0u : key.y;
        key = (key.y & 0x80000000u) != 0u ? ~key : uvec2(key.x, key.y | 0x80000000u);
        key = LARGEST ? ~key : key;
        return magnitude > 0x7ff00000u ? uvec2(0xffffffffu) : key;
    } else if (IS_SIGNED) {
        key.y ^= 0x80000000u;
    }
    return LARGEST ? ~key : key;
}
uvec2 element64_of(uvec2 key)
{
    if (LARGEST)
        key = ~key;
    if (IS_FLOAT)
        return (key.y & 0x80000000u) != 0u ? uvec2(key.x, key.y ^ 0x80000000u) : ~key;
    return IS_SIGNED ? uvec2(key.x, key.y ^ 0x80000000u) : key;
}

bool is_nowhere(fold_state f)
{
    return IS_FLOAT && f.number.x == 0xffffffffu && (SIZE_LOG2 < 3u || f.number.y == 0xffffffffu);
}

/* ---- joining --------------------------------------------------------------------------------- */

fold_state fold_nothing()
{
    bool is_best = FOLD_KIND >= FOLD_BEST;
    return fold_state(is_best ? uvec2(0xffffffffu) : uvec2(0u), 0xffffffffu);
}

fold_state fold_choose(bool first, fold_state a, fold_state b)
{
    return fold_state(uvec2(first ? a.number.x : b.number.x, first ? a.number.y : b.number.y),
                      first ? a.at : b.at);
}

bool key_less(fold_state a, fold_state b)
{
    bool low = a.number.x < b.number.x;
    if (SIZE_LOG2 < 3u)
        return low;
    bool high = a.number.y < b.number.y;
    return a.number.y == b.number.y ? low : high;
}

/* b's elements come after a's. Nothing (at is the largest) gives way to an element with the last of
 * keys. */
fold_state fold_join(fold_state a, fold_state b)
{
    if (FOLD_KIND == FOLD_REAL) {
        precise float sum = uintBitsToFloat(a.number.x) + uintBitsToFloat(b.number.x);
        a.number.x = floatBitsToUint(sum);
        return a;
    }
#ifdef WITH_DOUBLE
    if (FOLD_KIND == FOLD_DOUBLE) {
        precise double sum = packDouble2x32(a.number) + packDouble2x32(b.number);
        a.number = unpackDouble2x32(sum);
        return a;
    }
#endif
    if (FOLD_KIND < FOLD_BEST) {
        a.number = add64(a.number, b.number);
        return a;
    }
    bool was_nothing = FOLD_KIND == FOLD_WHERE && a.at == 0xffffffffu;
    bool is_better = key_less(b, a);
    return fold_choose(is_better || was_nothing, b, a);
}

/* All lanes get the fold of all lanes. */
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
        /* In parts of 16 bits, which 128 lanes cannot carry out of 32. */
        uint low = subgroupAdd(f.number.x & 0xffffu);
        uint high = subgroupAdd(f.number.x >> 16);
        uint top = subgroupAdd(f.number.y);
        f.number = add64(uvec2(low, top), uvec2(high << 16, high >> 16));
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

/* The first subgroup's lanes get the fold of the workgroup. Before it is used again there must be a
 * barrier. */
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

float wide_to_float(uvec2 n)
{
    bool minus = IS_SIGNED && (n.y & 0x80000000u) != 0u;
    if (minus)
        n = add64(~n, uvec2(1u, 0u));
    float x = float(n.y) * 4294967296.0 + float(n.x);
    return minus ? -x : x;
}

/* A piece's elements, of which those of lower bits are added up. */
vec4 piece_reals(uvec4 piece)
{
    if (SIZE_LOG2 == 2u)
        return uintBitsToFloat(piece);
    if (SIZE_LOG2 == 3u)
        return vec4(wide_to_float(piece.xy), wide_to_float(piece.zw), 0.0, 0.0);
    vec4 sums;
    for (uint c = 0u; c < 4u; c++) {
        precise float sum = stream_half(piece[c] & 0xffffu) + stream_half(piece[c] >> 16);
        sums[c] = sum;
    }
    return sums;
}

/* BEST and WHERE: element by element, in the order of their positions, the first of which is at. */
fold_state fold_piece(fold_state f, uvec4 piece, uint at)
{
    for (uint c = 0u; c < 4u; c++) {
        fold_state next = fold_state(uvec2(0u), at);
        if (SIZE_LOG2 == 3u) {
            next.number = key64_of(c == 0u ? piece.xy : piece.zw);
            next.at += c;
            if (c < 2u)
                f = fold_join(f, next);
        } else if (SIZE_LOG2 == 2u) {
            next.number.x = key_of(piece[c]);
            next.at += c;
            f = fold_join(f, next);
        } else {
            for (uint e = 0u; e < 4u >> SIZE_LOG2; e++) {
                next.number.x =
                    key_of(bitfieldExtract(piece[c], int(e << (3u + SIZE_LOG2)), 8 << SIZE_LOG2));
                next.at = at + (c << (2u - SIZE_LOG2)) + e;
                f = fold_join(f, next);
            }
        }
    }
    return f;
}

uvec4 biased(uvec4 piece)
{
    return IS_SIGNED ? piece ^ sign_bits(0u) : piece;
}

/* Eight values that come one after the other, added up in pairs of pairs: what waits for the rest of
 * its pair. */
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

/* Adds piece k, which begins at position at. by_rows: the pieces are the rows of a tile, so that each
 * element of a piece has a sum of its own; otherwise they follow one another. */
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

/* Folds a tile of count elements at address into the first subgroup's lanes. */
fold_state fold_tile(uvec2 address, uint tile, uint count)
{
    uint first = (tile << (FOLD_TILE_LOG2 - 4u)) + gl_LocalInvocationID.x;
    bool plain = (address.x & 15u) == 0u && (tile + 1u) << TILE_LOG2 <= count;
    piece_fold fold;
#ifndef FOLD_ROLLED /* by shaders that would hold too many copies of this */
    if (plain && FOLD_KIND < FOLD_BEST) { /* all loads first, then what is light on registers */
        uvec4 pieces[PIECES];
        [[unroll]] for (uint k = 0u; k < PIECES; k++)
            pieces[k] = quads_at(address).v[first + k * GROUP];
        [[unroll]] for (uint k = 0u; k < PIECES; k++)
            add_piece(fold, pieces[k], k, 0u, true);
        return fold_group(end_pieces(fold));
    }
#endif
    for (uint k = 0u; k < PIECES; k++) {
        uint i = first + k * GROUP;
        uvec4 piece = plain ? quads_at(address).v[i] : load_piece(address, i, count);
        add_piece(fold, piece, k, i << PIECE_LOG2, true);
    }
    return fold_group(end_pieces(fold));
}

/* ---- results --------------------------------------------------------------------------------- */

/* A float's bits to those of the double of the same value. */
uvec2 float_to_double(float x)
{
    uint bits = floatBitsToUint(x), sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u)
        return uvec2(magnitude << 29, sign | 0x7ff00000u | (magnitude & 0x7fffffu) >> 3);
    if (magnitude < 0x00800000u) {
        if (magnitude == 0u)
            return uvec2(0u, sign);
        int top = findMSB(magnitude); /* the value is magnitude * 2^-149 */
        uint fraction = (magnitude << (23 - top)) & 0x7fffffu;
        return uvec2(fraction << 29, sign | uint(top + 874) << 20 | fraction >> 3);
    }
    return uvec2(magnitude << 29, sign | ((magnitude >> 3) + 0x38000000u));
}

void store_real(uvec2 address, uint i, float x)
{
    if (FOLD_TO == FOLD_TO_F64)
        store64(address_of(address, i, 8u), float_to_double(x));
    else
        store_word(address, i, floatBitsToUint(x));
}

float count_to_float(uvec2 n)
{
    return float(n.y) * 4294967296.0 + float(n.x);
}

const uint NAN_BITS = 0x7fc00000u;

void store_sum(uvec2 address, uint i, uvec2 number, uvec2 count)
{
#ifdef WITH_DOUBLE
    bool is_double = FOLD_KIND == FOLD_DOUBLE || (IS_MEAN && FOLD_KIND == FOLD_SUM);
    if (is_double) {
        double x;
        if (FOLD_KIND == FOLD_DOUBLE) {
            x = packDouble2x32(number);
        } else {
            bool minus = IS_SIGNED && (number.y & 0x80000000u) != 0u;
            if (minus)
                number = add64(~number, uvec2(1u, 0u));
            x = double(number.y) * 4294967296.0lf + double(number.x);
            if (minus)
                x = -x;
        }
        if (IS_MEAN)
            x /= double(count.y) * 4294967296.0lf + double(count.x);
        if (FOLD_TO == FOLD_TO_F64)
            store64(address_of(address, i, 8u), unpackDouble2x32(x));
        else
            store_word(address, i, floatBitsToUint(float(x)));
        return;
    }
#endif
    if (FOLD_KIND == FOLD_REAL || IS_MEAN) {
        float x;
        if (FOLD_KIND == FOLD_REAL) {
            x = uintBitsToFloat(number.x);
        } else {
            bool minus = IS_SIGNED && (number.y & 0x80000000u) != 0u;
            if (minus)
                number = add64(~number, uvec2(1u, 0u));
            x = minus ? -count_to_float(number) : count_to_float(number);
        }
        store_real(address, i, IS_MEAN ? x / count_to_float(count) : x);
        return;
    }
    store64(address_of(address, i, 8u), number);
}

void store_best(uvec2 address, uint i, fold_state f, bool is_empty)
{
    if (SIZE_LOG2 == 3u) {
        uvec2 element = element64_of(f.number);
        if (is_nowhere(f))
            element = uvec2(0u, is_empty ? (LARGEST ? 0xfff00000u : 0x7ff00000u) : 0x7ff80000u);
        store64(address_of(address, i, 8u), element);
        return;
    }
    uint element = element_of(f.number.x);
    if (is_nowhere(f)) {
        uint special = is_empty ? (LARGEST ? 0xff800000u : 0x7f800000u) : NAN_BITS;
        /* A half's sign, exponent and first digits are where a float's are. */
        element = SIZE_LOG2 == 1u ? (special >> 16 & 0x8000u) | (special >> 13 & 0x7e00u) |
                                        (is_empty ? 0x7c00u : 0x7e00u)
                                  : special;
    }
    if (SIZE_LOG2 == 2u)
        store_word(address, i, element);
    else if (SIZE_LOG2 == 1u)
        store_half(address, i, element);
    else
        store_byte(address, i, element);
}

/* Writes element i of the result: of count elements, with positions counted from first. */
void fold_store(uvec2 address, uint i, fold_state f, uvec2 first, uvec2 count)
{
    bool is_empty = (count.x | count.y) == 0u;
    if (FOLD_KIND == FOLD_WHERE) {
        uvec2 at = is_empty || is_nowhere(f) ? uvec2(0xffffffffu) : add64(first, uvec2(f.at, 0u));
        if (FOLD_TO == FOLD_TO_U64)
            store64(address_of(address, i, 8u), at);
        else
            store_word(address, i, at.x);
    } else if (FOLD_KIND == FOLD_BEST) {
        store_best(address, i, f, is_empty);
    } else if (IS_MEAN && is_empty) {
        store_real(address, i, uintBitsToFloat(NAN_BITS));
    } else {
        uvec2 sum = f.number;
        if (FOLD_KIND == FOLD_SUM && IS_SIGNED) { /* count * 2^(bits - 1) */
            uint shift = (8u << SIZE_LOG2) - 1u;
            uvec2 extra = uvec2(count.x << shift, count.y << shift | count.x >> (32u - shift));
            sum = add64(sum, add64(~extra, uvec2(1u, 0u)));
        }
        store_sum(address, i, sum, count);
    }
}
