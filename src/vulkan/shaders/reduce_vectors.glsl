/* Folds each component of vectors whose components have 4 or 8 bytes. The number of pieces in a row
 * of a tile is chosen so that, in every row, a given element of an invocation's piece belongs to
 * the same component. */
layout(constant_id = 7) const uint COMPONENTS = 2u;
#define COMPONENTS_MOST 4

const uint ROW = FOLD_ROW(COMPONENTS);
const uint EACH = 16u >> SIZE_LOG2; /* elements in a piece: 4 or 2 */
const uint TILE = PIECES * ROW * EACH / COMPONENTS;
/* Elements at a distance of COMPONENTS in a piece belong to the same component. */
const uint SLOTS = COMPONENTS < EACH ? COMPONENTS : EACH;

fold_state state_of(uvec4 piece, uint e, uint at)
{
    if (SIZE_LOG2 == 3u) {
        uvec2 x = e == 0u ? piece.xy : piece.zw;
        if (FOLD_KIND >= FOLD_BEST)
            x = key64_of(x);
        if (FOLD_KIND == FOLD_REAL)
            x = uvec2(floatBitsToUint(wide_to_float(x)), 0u);
        return fold_state(x, at);
    }
    uint x = piece[e];
    if (FOLD_KIND >= FOLD_BEST)
        x = key_of(x);
    if (FOLD_KIND == FOLD_SUM && IS_SIGNED)
        x ^= SIGN_BIT;
    return fold_state(uvec2(x, 0u), at);
}

/* Joins the elements of piece i of a tile with slots. at: position of the tile's first vector. */
void join_piece(inout fold_state slots[4], uvec4 piece, uint i, uint at)
{
    fold_state states[4];
    [[unroll]] for (uint e = 0u; e < EACH; e++)
        states[e] = state_of(piece, e, at + (i * EACH + e) / COMPONENTS);
    [[unroll]] for (uint e = COMPONENTS; e < EACH; e++)
        states[e - COMPONENTS] = fold_join(states[e - COMPONENTS], states[e]);
    [[unroll]] for (uint e = 0u; e < SLOTS; e++)
        slots[e] = fold_join(slots[e], states[e]);
}

/* Folds this invocation's elements of a tile of an array of count vectors. */
void fold_components(uvec2 address, uint tile, uint count, out fold_state f[4])
{
    uint t = gl_LocalInvocationID.x, own = min(t, ROW - 1u), at = tile * TILE;
    uvec2 from = address_of(address, tile, PIECES * ROW * 16u);
    fold_state slots[4];
    [[unroll]] for (uint e = 0u; e < SLOTS; e++)
        slots[e] = fold_nothing();
    if ((from.x & 15u) == 0u && at + TILE <= count) {
        uvec4 pieces[PIECES];
        [[unroll]] for (uint k = 0u; k < PIECES; k++)
            pieces[k] = quads_at(from).v[own + k * ROW];
        [[unroll]] for (uint k = 0u; k < PIECES; k++)
            join_piece(slots, pieces[k], own + k * ROW, at);
    } else {
        uint elements = (count - at) * COMPONENTS;
        for (uint k = 0u; k < PIECES; k++)
            join_piece(slots, load_piece(from, own + k * ROW, elements), own + k * ROW, at);
    }
    [[unroll]] for (uint c = 0u; c < COMPONENTS; c++) {
        uint slot = (c + 3u * COMPONENTS * ROW - own * EACH) % COMPONENTS;
        f[c] = fold_nothing();
        [[unroll]] for (uint e = 0u; e < SLOTS; e++)
            f[c] = fold_choose(e == slot && t < ROW, slots[e], f[c]);
    }
}
