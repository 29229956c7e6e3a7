/* Sorts a stream of one tile by all digits, in one workgroup. */
#include "sort_tile.glsl"

/* Permutes x into the order of the ranks. */
#define EXCHANGE(ranks, x)                                                                         \
    [[unroll]] for (uint w = 0u; w < WINDOWS; w++) {                                               \
        barrier();                                                                                 \
        STAGE(w, ranks, x)                                                                         \
        barrier();                                                                                 \
        [[unroll]] for (uint r = 0u; r < ITEMS; r++) {                                             \
            uint at = first_in_tile() + r * SUBGROUP - w * WINDOW;                                 \
            if (at < WINDOW)                                                                       \
                unstage(at, moved_##x[r]);                                                         \
        }                                                                                          \
    }                                                                                              \
    [[unroll]] for (uint r = 0u; r < ITEMS; r++)                                                   \
        x[r] = moved_##x[r];

void main()
{
    uint count = stream_length(args.length_at, args.bound);
    code_t codes[ITEMS], moved_codes[ITEMS];
    uint values[ITEMS], moved_values[ITEMS], ranks[RANK_WORDS];
    if (group_index() != 0u || count == 0u)
        return;
    load_codes(0u, count, codes);
    load_values(0u, count, values);
    for (uint shift = FIRST_BIT; shift < END_BIT; shift += DIGIT_BITS) {
        uint in_bin = rank_in_sections(codes, shift, ranks);
        rank_in_tile(codes, shift, in_bin, ranks);
        EXCHANGE(ranks, codes)
        if (VALUES != SORT_VALUES_NONE) {
            EXCHANGE(ranks, values)
        }
    }
    [[unroll]] for (uint r = 0u; r < ITEMS; r++) {
        uint i = first_in_tile() + r * SUBGROUP;
        if (i < count && !is_none(args.keys_out))
            store_code(i, codes[r]);
        if (i < count && VALUES != SORT_VALUES_NONE)
            store_value(i, values[r]);
    }
}
