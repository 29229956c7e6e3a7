/* Sign bits of a workspace's samples, in words of 32 columns. READ: a SURFACE_READ_... */
#include "surface.glsl"

ARGS_USE(surface_bits_args)

/* A team of lanes makes TEAM_WORDS words: with READ_ANY 32, which share a word of nan_words;
 * otherwise those of eight loads by 32 lanes. A team of fewer than 32 lanes does so in PARTS
 * parts. */
const uint TEAM = SUBGROUP < 32u ? SUBGROUP : 32u;
const uint PARTS = 32u / TEAM;
#if READ == SURFACE_READ_ANY
const uint TEAM_WORDS = 32u;
#else
/* A load is 16 bytes of samples, which make one of the UNITS units of a word. */
const uint LOADS = 8u;
#    if READ == SURFACE_READ_WORDS
const uint UNITS = 8u;
#    else
const uint UNITS = TYPE_SIZE_LOG2(TYPE) == 0u ? 2u : 4u;
#    endif
const uint UNIT_BITS = 32u / UNITS;
const uint BATCHES = LOADS / UNITS; /* words per lane */
const uint BATCHES_MAX = 4u;
const uint TEAM_WORDS = PARTS * BATCHES * TEAM;
#endif

uvec2 limit = uvec2(args.limit_low, args.limit_high);
uvec2 range = uvec2(args.range_low, args.range_high);
uint keep = args.keep;
float iso = uintBitsToFloat(args.iso_bits);

uint row_words()
{
    return (args.size_x + 31u) / 32u;
}

/* Returns the team's bits of a ballot. */
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

/* Requests surface_cells after a NaN. All threads that find a NaN write the same values. */
void note_nan()
{
    uint groups = args.size_y * args.size_z;
    uint threads = (groups * row_words() + GROUP - 1u) / GROUP;
    store_word(args.states, SURFACE_STATE_NAN, 1u);
    store_word(args.states, SURFACE_STATE_GROUPS, min(threads, 32768u));
    store_word(args.states, SURFACE_STATE_GROUPS + 1u, (threads + 32767u) / 32768u);
    store_word(args.states, SURFACE_STATE_GROUPS + 2u, 1u);
}

/* Decides word w of a row by its brick's range: 1 all inside, 0 all outside, 2 undecided. */
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

#if READ == SURFACE_READ_ANY
/* ---- any volume ------------------------------------------------------------------------------ */

/* Writes the team's words that the brick index decides. Returns a bit per word that must be read. A
 * lane looks up PARTS words. */
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

/* Reads word after word: a lane reads columns 32 * w + part * TEAM + lane. */
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
        /* A mask must be read for all words. */
        if (has(SURFACE_INDEXED) && !has(SURFACE_MASK) && !any_lane(is_read))
            continue;
        uint word = first + j;
        uint row = word / words, w = word - row * words;
        row_place place = place_of_row(row, args.size_y);
        /* In the pad and past the box, these wrap below zero or are too large. */
        uint y = place.y - pad, z = place.z - SURFACE_SLAB_PAD_LOW(args.slab);
        bool in_row = word < count && y < args.size_y - 2u * pad && z < layers;
        uvec2 first_in_row = mul_add64(y + z * args.dim_y, args.dim_x, 0u);
        uvec2 samples = element_at(args.volume, first_in_row, size_log2);
        uint bits = 0u, present = 0u;
        for (uint part = 0u; part < PARTS; part++) {
            uint column = 32u * w + part * TEAM + lane;
            uint x = column - pad;
            bool exists = in_row && x < args.size_x - 2u * pad;
            bool is_in = false, is_there = column < args.size_x; /* the pad is always present */
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

#else
/* ---- bit i is sample i of memory ------------------------------------------------------------- */

/* Returns the sign bits of a load's samples. */
uint inside_of(uvec4 v)
{
    uint bits = 0u;
#if READ == SURFACE_READ_WORDS
    /* Floats: v >= limit. flip maps floats with the limit's sign to keys. Other floats get wrong
     * keys, which compare right. NaNs may get a 1, which read_team clears. */
    if (TYPE == TYPE_F32) {
        uint flip = (limit.x & 0x80000000u) != 0u ? 0x80000000u : 0xffffffffu;
        [[unroll]] for (uint k = 0u; k < 4u; k++)
            bits |= (v[k] ^ flip) >= limit.x ? 1u << k : 0u;
        return bits;
    }
    [[unroll]] for (uint k = 0u; k < 4u; k++)
        bits |= is_inside(TYPE, uvec2(v[k], 0u), limit, range) ? 1u << k : 0u;
#else
    if (UNITS == 4u) {
        [[unroll]] for (uint k = 0u; k < 4u; k++)
            bits |= halves_inside(TYPE, v[k], limit.x, range.x) << (2u * k);
        return bits;
    }
    uint limit4 = limit.x * 0x01010101u, flip4 = TYPE_IS_SIGNED(TYPE) ? 0x80808080u : 0u;
    /* Inside: bytes >= limit; if the range ends below 255, not those >= its end. */
    uint end4 = (limit.x + range.x + 1u) * 0x01010101u;
    bool has_end = limit.x + range.x < 0xffu;
    [[unroll]] for (uint k = 0u; k < 4u; k++) {
        uint inside = bytes_inside(v[k] ^ flip4, limit4);
        if (has_end)
            inside &= ~bytes_inside(v[k] ^ flip4, end4);
        bits |= inside << (4u * k);
    }
#endif
    return bits;
}

/* Transposes UNITS words among UNITS adjacent lanes: unit i of a lane's parts belongs to the word
 * of lane i. Returns the lane's word. */
uint gather_word(uint parts, uint lane)
{
    reconverge();
    [[unroll]] for (uint step = 4u; step > 0u; step >>= 1) {
        if (step >= UNITS)
            continue;
        uint width = step * UNIT_BITS;
        uint mask = width == 16u ? 0x0000ffffu : width == 8u ? 0x00ff00ffu : 0x0f0f0f0fu;
        uint other = subgroupShuffleXor(parts, step);
        parts = (lane & step) == 0u ? (parts & mask) | (other & mask) << width
                                    : (other >> width & mask) | (parts & ~mask);
    }
    return parts;
}

/* Returns the number in a batch of the word that gather_word returns in the lane. */
uint own_word(uint lane)
{
    return lane % UNITS * (TEAM / UNITS) + lane / UNITS;
}

#if READ == SURFACE_READ_WORDS
/* Returns the lane's word of bits of samples that are not NaN. Reads the samples again: NaNs are
 * rare, and keeping the samples would always cost registers. reads: a bit per load. */
uint find_nans(uvec2 at, uint part, uint lane, uint reads)
{
    uint there = 0u;
    for (uint j = 0u; j < LOADS; j++) {
        uint bits = 0xfu;
        if ((reads >> j & 1u) != 0u) {
            uvec4 v = quads_at(at).v[(LOADS * part + j) * TEAM + lane];
            [[unroll]] for (uint k = 0u; k < 4u; k++)
                bits &= raw_is_nan(TYPE_F32, uvec2(v[k], 0u)) ? ~(1u << k) : 0xfu;
        }
        there |= bits << (UNIT_BITS * j);
    }
    return gather_word(there, lane);
}

/* Writes the lane's word of present if it has a NaN. Returns a bit for each of the 32 words from
 * first on that has one. */
uint note_nans(uint first, uint word, uint there)
{
    bool misses = there != 0xffffffffu;
    if (misses)
        store_word(args.present, word, there);
    uint found = misses ? 1u << (word - first) : 0u;
    reconverge();
    for (uint step = TEAM / 2u; step > 0u; step >>= 1)
        found |= subgroupShuffleXor(found, step);
    return found;
}
#endif

/* Makes the team's words. Their samples begin at sample 32 * first. */
void read_team(uint first, uint lane, uint count)
{
    uvec2 at = element_at(args.volume, uvec2(first << 5, first >> 27), type_size_log2(TYPE));
    bool is_whole = first + TEAM_WORDS <= count;
    uint word_nans = 0u;
    [[unroll]] for (uint part = 0u; part < PARTS; part++) {
        uint part_first = first + part * BATCHES * TEAM;
        /* The loads to do, and those of the lane's words that the brick index decides. */
        uint reads = 0u, known[BATCHES_MAX];
        [[unroll]] for (uint b = 0u; b < BATCHES_MAX; b++) {
            known[b] = 0u;
            if (b >= BATCHES || !has(SURFACE_INDEXED))
                continue;
            uint word = part_first + b * TEAM + own_word(lane), answer = 0u;
            if (word < count) {
                uint row = word / row_words();
                row_place place = place_of_row(row, args.size_y);
                answer = index_answer(word - row * row_words(), place.y, place.z);
            }
            reconverge();
            known[b] = answer == 1u ? 0xffffffffu : 0u;
            uint unknown = team_ballot(answer == 2u) >> (lane & ~(UNITS - 1u));
            reads |= (unknown & low_bits(UNITS)) << (b * UNITS);
        }
        if (!has(SURFACE_INDEXED)) {
            [[unroll]] for (uint j = 0u; j < LOADS; j++)
                reads |= is_whole || part_first + (j * TEAM + lane) / UNITS < count ? 1u << j : 0u;
        }

        uvec4 v[LOADS];
        if (is_whole && !has(SURFACE_INDEXED)) {
            [[unroll]] for (uint j = 0u; j < LOADS; j++)
                v[j] = quads_at(at).v[(LOADS * part + j) * TEAM + lane];
        } else {
            [[unroll]] for (uint j = 0u; j < LOADS; j++) {
                v[j] = uvec4(0u);
                if ((reads >> j & 1u) != 0u)
                    v[j] = quads_at(at).v[(LOADS * part + j) * TEAM + lane];
            }
        }
        uint packed[BATCHES_MAX], largest = 0u; /* the largest magnitude */
        [[unroll]] for (uint b = 0u; b < BATCHES_MAX; b++)
            packed[b] = 0u;
        [[unroll]] for (uint j = 0u; j < LOADS; j++) {
            if (!has(SURFACE_INDEXED) || (reads >> j & 1u) != 0u)
                packed[j / UNITS] |= inside_of(v[j]) << (j % UNITS * UNIT_BITS);
            if (has(SURFACE_NAN)) {
                uvec4 magnitude = v[j] & 0x7fffffffu;
                largest =
                    max(largest, max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w)));
            }
        }
        uint there = 0xffffffffu;
#if READ == SURFACE_READ_WORDS
        if (has(SURFACE_NAN) && any_lane(largest > 0x7f800000u)) {
            there = find_nans(at, part, lane, reads);
            word_nans |= note_nans(first, part_first + own_word(lane), there);
        }
#endif
        [[unroll]] for (uint b = 0u; b < BATCHES_MAX; b++) {
            if (b >= BATCHES)
                continue;
            uint word = part_first + b * TEAM + own_word(lane);
            uint bits = gather_word(packed[b], lane) & there;
            if (has(SURFACE_INDEXED))
                bits |= known[b];
            if (is_whole || word < count)
                store_word(args.bits, word, bits & keep);
        }
    }
    if (has(SURFACE_NAN) && lane == 0u && first < count) {
        store_word(args.nan_words, first / 32u, word_nans);
        if (word_nans != 0u)
            note_nan();
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
