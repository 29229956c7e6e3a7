/* Sign bits: one of each sample of a workspace, in words of 32 columns. READ: how, SURFACE_READ_... */
#include "surface.glsl"

ARGS_USE(surface_bits_args)

/* Lanes that make words together. A team makes 32 words, which have one word of nan_words. */
const uint TEAM = SUBGROUP < 32u ? SUBGROUP : 32u;
const uint TEAM_WORDS = 32u;
const uint PARTS = 32u / TEAM; /* of a word, one ballot each */
const uint BATCH = 8u;         /* loads of a lane in flight */

uvec2 limit = uvec2(args.limit_low, args.limit_high);
uvec2 range = uvec2(args.range_low, args.range_high);
uint keep = args.keep;
float iso = uintBitsToFloat(args.iso_bits);

uint row_words()
{
    return (args.size_x + 31u) / 32u;
}

/* The team's bits of a ballot. */
uint team_ballot(bool value)
{
    uvec4 all = subgroupBallot(value);
    if (SUBGROUP <= 32u)
        return all.x;
    uint team = gl_SubgroupInvocationID / 32u;
    return team == 0u ? all.x : team == 1u ? all.y : team == 2u ? all.z : all.w;
}

void clear_states(uint thread, uint threads)
{
    for (uint i = thread; i < args.clear_count; i += threads)
        store_word(args.clear, i, 0u);
}

/* A NaN was met: the cells must be marked. All who meet one write the same. */
void note_nan()
{
    uint groups = args.size_y * args.size_z;
    uint threads = (groups * row_words() + GROUP - 1u) / GROUP;
    store_word(args.states, SURFACE_STATE_NAN, 1u);
    store_word(args.states, SURFACE_STATE_GROUPS, min(threads, 32768u));
    store_word(args.states, SURFACE_STATE_GROUPS + 1u, (threads + 32767u) / 32768u);
    store_word(args.states, SURFACE_STATE_GROUPS + 2u, 1u);
}

/* What the index knows of the brick that holds column 32 * w of a row: 1 all inside, 0 all outside,
 * 2 it must be read. */
uint index_answer(uint w, uint y, uint z)
{
    uint bricks_x = (args.dim_x + 63u) / 64u, bricks_y = (args.dim_y + 3u) / 4u;
    uint by = (y + (args.index_place & 3u)) / 4u, bz = (z + (args.index_place >> 2)) / 4u;
    uint brick = w / 2u + bricks_x * (by + bricks_y * bz);
    uint low = words_at(args.index).v[2u * brick], high = words_at(args.index).v[2u * brick + 1u];
    uint key = key_of(TYPE_F32, uvec2(floatBitsToUint(iso), 0u)).x;
    if (key_of(TYPE_F32, uvec2(high, 0u)).x < key)
        return 0u;
    return key_of(TYPE_F32, uvec2(low, 0u)).x >= key ? 1u : 2u;
}

/* Writes those of the team's words that the index knows, and returns which must be read, a bit each.
 * Each lane asks for words of its own. */
uint write_known(uint first, uint lane, uint count)
{
    uint read = 0u, words = row_words();
    for (uint part = 0u; part < PARTS; part++) {
        uint word = first + part * TEAM + lane, answer = 0u;
        if (word < count) {
            uint row = word / words, w = word - row * words;
            row_place place = place_of_row(row, args.size_y);
            answer = index_answer(w, place.y, place.z);
            uint inside = answer == 1u ? low_bits(args.size_x - 32u * w) & keep : 0u;
            if (answer != 2u)
                store_word(args.bits, word, inside);
        }
        read |= team_ballot(answer == 2u) << (part * TEAM);
    }
    return read;
}

#if READ == SURFACE_READ_ANY
/* ---- any volume ------------------------------------------------------------------------------ */

/* Word after word; a lane looks at column 32 * w + lane. */
void read_team(uint first, uint lane, uint count)
{
    uint words = row_words(), size_log2 = type_size_log2(TYPE);
    uint pad = has(SURFACE_PAD) ? 1u : 0u;
    uint layers =
        args.size_z - SURFACE_SLAB_PAD_LOW(args.slab) - SURFACE_SLAB_PAD_HIGH(args.slab);
    uint word_nans = 0u;
    uint unknown = 0xffffffffu;
    if (has(SURFACE_INDEXED))
        unknown = write_known(first, lane, count);
    for (uint j = 0u; j < TEAM_WORDS; j++) {
        bool is_read = (unknown >> j & 1u) != 0u;
        /* A mask's bytes are looked at all the same. */
        if (has(SURFACE_INDEXED) && !has(SURFACE_MASK) && !any_lane(is_read))
            continue;
        uint word = first + j;
        uint row = word / words, w = word - row * words;
        row_place place = place_of_row(row, args.size_y);
        /* Past the box and in the pad these wrap round or are too large. */
        uint y = place.y - pad, z = place.z - SURFACE_SLAB_PAD_LOW(args.slab);
        bool in_row = word < count && y < args.size_y - 2u * pad && z < layers;
        uvec2 first_in_row = mul_add64(y + z * args.dim_y, args.dim_x, 0u);
        uvec2 samples = element_at(args.volume, first_in_row, size_log2);
        uint bits = 0u, present = 0u;
        for (uint part = 0u; part < PARTS; part++) {
            uint column = 32u * w + part * TEAM + lane;
            uint x = column - pad;
            bool exists = in_row && x < args.size_x - 2u * pad;
            bool is_in = false, is_there = column < args.size_x; /* the pad is always there */
            if (exists) {
                if (is_read) {
                    uvec2 raw = raw_at(TYPE, samples, x);
                    bool is_missing = raw_is_nan(TYPE, raw);
                    is_in = is_inside(TYPE, raw, limit, range) && keep != 0u;
                    is_there = !is_missing;
                }
                if (has(SURFACE_MASK)) {
                    uvec2 mask = add64(args.mask, first_in_row);
                    is_there = is_there && (tml_load_byte(mask, x) & 0xffu) != 0u;
                }
            }
            bits |= team_ballot(is_in) << (part * TEAM);
            if (has(SURFACE_NAN))
                present |= team_ballot(is_there) << (part * TEAM);
        }
        bool stores = lane == 0u && word < count;
        if (stores && is_read)
            store_word(args.bits, word, bits);
        if (has(SURFACE_NAN)) {
            uint all = low_bits(args.size_x - min(args.size_x, 32u * w));
            bool is_missing = (present & all) != all;
            if (stores && is_missing)
                store_word(args.present, word, present & all);
            word_nans |= word < count && is_missing ? 1u << j : 0u;
        }
    }
    if (has(SURFACE_NAN) && lane == 0u && first < count) {
        store_word(args.nan_words, first / 32u, word_nans);
        if (word_nans != 0u)
            note_nan();
    }
}

#elif READ == SURFACE_READ_WORDS
/* ---- 32-bit samples -------------------------------------------------------------------------- */

/* Writes the words of present of those of the team's words (a bit each) that have NaNs, and returns
 * which those are. Reads them again: this is rare, and keeping them would cost registers always. */
uint find_nans(uvec2 at, uint first, uint lane, uint words)
{
    uint found = 0u;
    while (any_lane(words != 0u)) {
        bool has_word = words != 0u;
        uint j = has_word ? uint(findLSB(words)) : 0u, present = 0u;
        words &= words - 1u;
        for (uint part = 0u; part < PARTS; part++) {
            bool is_there = true;
            if (has_word) {
                uint raw = words_at(at).v[32u * j + TEAM * part + lane];
                is_there = !raw_is_nan(TYPE_F32, uvec2(raw, 0u));
            }
            present |= team_ballot(is_there) << (part * TEAM);
        }
        bool misses = present != 0xffffffffu;
        found |= misses ? 1u << j : 0u;
        if (misses && lane == 0u)
            words_at(args.present).v[first + j] = present;
    }
    return found;
}

/* Some of the team's words: their numbers in it, whether there is one, and their bits. */
struct word_batch {
    uint j[BATCH];
    bool exists[BATCH];
    uint bits[BATCH];
};

/* Fills in the batch's bits and returns which words have NaNs, whose words of present it writes. */
uint read_batch(inout word_batch batch, uvec2 at, uint first, uint lane)
{
    [[unroll]] for (uint b = 0u; b < BATCH; b++)
        batch.bits[b] = 0u;
    uint largest = 0u; /* of the samples' magnitudes */
    [[unroll]] for (uint part = 0u; part < PARTS; part++) {
        uint raw[BATCH];
        [[unroll]] for (uint b = 0u; b < BATCH; b++) {
            raw[b] = 0u;
            if (batch.exists[b])
                raw[b] = words_at(at).v[32u * batch.j[b] + TEAM * part + lane];
        }
        [[unroll]] for (uint b = 0u; b < BATCH; b++) {
            batch.bits[b] |= team_ballot(is_inside(TYPE, uvec2(raw[b], 0u), limit, range)) << (part * TEAM);
            largest = max(largest, raw[b] & 0x7fffffffu);
        }
    }
    [[unroll]] for (uint b = 0u; b < BATCH; b++)
        batch.bits[b] &= keep;
    if (TYPE != TYPE_F32 || !has(SURFACE_NAN) || !any_lane(largest > 0x7f800000u))
        return 0u;
    uint words = 0u;
    [[unroll]] for (uint b = 0u; b < BATCH; b++)
        words |= batch.exists[b] ? 1u << batch.j[b] : 0u;
    return find_nans(at, first, lane, words);
}

/* Every word. */
uint read_all(uvec2 at, uint first, uint lane, uint count)
{
    uint word_nans = 0u;
    word_batch batch;
    for (uint j = 0u; j < TEAM_WORDS; j += BATCH) {
        [[unroll]] for (uint b = 0u; b < BATCH; b++) {
            batch.j[b] = j + b;
            batch.exists[b] = first + j + b < count;
        }
        word_nans |= read_batch(batch, at, first, lane);
        if (lane == 0u) {
            if (first + j + BATCH <= count) {
                quads_at(args.bits).v[(first + j) / 4u] =
                    uvec4(batch.bits[0], batch.bits[1], batch.bits[2], batch.bits[3]);
                quads_at(args.bits).v[(first + j) / 4u + 1u] =
                    uvec4(batch.bits[4], batch.bits[5], batch.bits[6], batch.bits[7]);
            } else {
                [[unroll]] for (uint b = 0u; b < BATCH; b++)
                    if (batch.exists[b])
                        store_word(args.bits, first + j + b, batch.bits[b]);
            }
        }
    }
    return word_nans;
}

/* Words that the index cannot tell, however far apart. */
uint read_unknown(uvec2 at, uint first, uint lane, uint count)
{
    uint left = write_known(first, lane, count), word_nans = 0u;
    word_batch batch;
    while (any_lane(left != 0u)) {
        [[unroll]] for (uint b = 0u; b < BATCH; b++) {
            batch.exists[b] = left != 0u;
            batch.j[b] = batch.exists[b] ? uint(findLSB(left)) : 0u;
            left &= left - 1u;
        }
        word_nans |= read_batch(batch, at, first, lane);
        [[unroll]] for (uint b = 0u; b < BATCH; b++)
            if (lane == 0u && batch.exists[b])
                store_word(args.bits, first + batch.j[b], batch.bits[b]);
    }
    return word_nans;
}

/* Samples lie as their bits do: the team's begin at sample 32 * first. */
void read_team(uint first, uint lane, uint count)
{
    uvec2 at = element_at(args.volume, uvec2(first << 5, first >> 27), 2u);
    uint word_nans = has(SURFACE_INDEXED) ? read_unknown(at, first, lane, count)
                                          : read_all(at, first, lane, count);
    if (has(SURFACE_NAN) && lane == 0u && first < count) {
        store_word(args.nan_words, first / 32u, word_nans);
        if (word_nans != 0u)
            note_nan();
    }
}

#else
/* ---- 8- and 16-bit samples ------------------------------------------------------------------- */

/* Sixteen bytes of samples a lane, whose bits are a half or a quarter of a word. */
void read_team(uint first, uint lane, uint count)
{
    bool is_byte = TYPE <= TYPE_I8;
    const uint units = is_byte ? 2u : 4u; /* of a word */
    uint size_log2 = is_byte ? 0u : 1u;
    uvec2 at = element_at(args.volume, uvec2(first << 5, first >> 27), size_log2);
    uint limit4 = limit.x * 0x01010101u, flip4 = TYPE == TYPE_I8 ? 0x80808080u : 0u;
    /* Bytes are compared with one limit: keys from it on, or, of a range in between, those from it
     * on that are not from past the range on. */
    uint end4 = (limit.x + range.x + 1u) * 0x01010101u;
    bool has_end = limit.x + range.x < 0xffu;
    uint unknown = 0xffffffffu;
    if (has(SURFACE_INDEXED))
        unknown = write_known(first, lane, count);
    for (uint u = lane; u < TEAM_WORDS * units; u += TEAM) {
        uint word = first + u / units;
        bool is_read = word < count && (unknown >> (u / units) & 1u) != 0u;
        uint bits = 0u;
        if (is_read) {
            uvec4 v = quads_at(at).v[u];
            [[unroll]] for (uint k = 0u; k < 4u; k++) {
                uint four = v[k];
                if (is_byte) {
                    uint inside = bytes_inside(four ^ flip4, limit4);
                    if (has_end)
                        inside &= ~bytes_inside(four ^ flip4, end4);
                    bits |= inside << (4u * k);
                } else {
                    bits |= halves_inside(TYPE, four, limit.x, range.x) << (2u * k);
                }
            }
        }
        bits <<= (u % units) * (32u / units);
        bits |= subgroupShuffleXor(bits, 1u);
        if (!is_byte)
            bits |= subgroupShuffleXor(bits, 2u);
        if (is_read && u % units == 0u)
            store_word(args.bits, word, bits & keep);
    }
}

#endif

void main()
{
    uint thread = group_index() * GROUP + gl_LocalInvocationID.x;
    uint team = thread / TEAM, lane = thread % TEAM;
    uint count = row_words() * args.size_y * args.size_z;
    uint groups = (count + GROUP / TEAM * TEAM_WORDS - 1u) / (GROUP / TEAM * TEAM_WORDS);
    if (group_index() >= groups)
        return;
    clear_states(thread, groups * GROUP);
    if (has(SURFACE_HELD_LIMITS)) {
        uvec2 head = address_of_word(args.head, SURFACE_HEAD_LIMITS);
        limit = load64(head);
        range = load64(address_of_word(head, 2u));
        keep = LOAD_U32(head, 4u);
        iso = LOAD_F32(args.head, SURFACE_HEAD_INDEX_ISO);
    }
    uint first = team * TEAM_WORDS;
    read_team(first, lane, count);
}
