/* A tile of a sort in registers: the ranks of its digits, and moves within the tile. Each subgroup
 * has a section of the tile, which has ITEMS rows of consecutive elements, one per lane. So loads
 * are coalesced, and an element's rank depends on the preceding rows and the preceding lanes. */
#define SORT_ARGS sort_args
#include "sort_key.glsl"
#include "sort_store.glsl"

layout(constant_id = 5) const uint ITEMS = 16u;
const uint TILE = ITEMS * GROUP;
#define FIRST_BIT (args.bits & 0xffu)
#define END_BIT   (args.bits >> 8)

/* Elements move through shared memory by windows of half a tile. Larger tiles need fewer
 * look-backs, and store longer runs of elements together; but shared memory limits the resident
 * workgroups. NVIDIA's driver reserves 48 KiB of it per multiprocessor for them. */
const uint WINDOWS = 2u, WINDOW_ITEMS = ITEMS / WINDOWS, WINDOW = WINDOW_ITEMS * GROUP;
const uint POOL = WINDOW * SORT_WORDS > SORT_COUNTERS ? WINDOW * SORT_WORDS : SORT_COUNTERS;
shared uint pool[POOL]; /* first the counters of each subgroup's bins, then codes or values */
shared uint bins[SORT_BINS];

/* Ranks of the lane's elements, two per word, since registers limit the resident workgroups,
 * too. */
const uint RANK_WORDS = (ITEMS + 1u) / 2u;
#define RANK_AT(ranks, r)                                                                          \
    (((r) & 1u) != 0u ? ranks[(r) / 2u] >> 16 : ranks[(r) / 2u] & 0xffffu)
#define SET_RANK(ranks, r, rank)                                                                   \
    ranks[(r) / 2u] = ((r) & 1u) != 0u ? (ranks[(r) / 2u] & 0xffffu) | (rank) << 16                \
                                       : (ranks[(r) / 2u] & 0xffff0000u) | (rank)

/* For a tile of a long segment: the segment's first element, from which elements are counted. */
uint stream_first = 0u;

/* A tile of a stream or of a long segment: its number there; the elements of the stream or segment;
 * the number of tiles from one bin's counts to the next (column); the states and the bases. */
struct tile_place {
    uint tile, count, column;
    uvec2 states, bases;
};
tile_place place_of(uint tile, uint count)
{
    if (SPANS == 0u)
        return tile_place(tile, count, args.tiles, args.states, args.bases);
    uvec4 span = quads_at(args.spans).v[tile];
    stream_first = span.x;
    return tile_place(span.w, span.y, (span.y + (TILE - 1u)) / TILE,
                      address_of_word(args.states, (tile - span.w) * BINS),
                      address_of(args.bases, span.z, 4u * BINS));
}

/* Index in the tile of the lane's element in row 0. */
uint first_in_tile()
{
    return subgroup_index() * (ITEMS * SUBGROUP) + gl_SubgroupInvocationID;
}

/* Codes past the stream's end are the largest, so they come last. A full tile has a branch of its
 * own (rows.glsl says why). */
void load_codes(uint tile, uint count, out code_t codes[ITEMS])
{
    uint first = tile * TILE + first_in_tile();
    if ((tile + 1u) * TILE <= count) {
        [[unroll]] for (uint r = 0u; r < ITEMS; r++)
            codes[r] = load_code(stream_first + first + r * SUBGROUP);
    } else {
        [[unroll]] for (uint r = 0u; r < ITEMS; r++) {
            codes[r] = LARGEST;
            if (first + r * SUBGROUP < count)
                codes[r] = load_code(stream_first + first + r * SUBGROUP);
        }
    }
}

/* first: the part's first element. Values past the stream's end are undefined. */
void load_values(uint tile, uint count, out uint values[ITEMS])
{
    uint first = tile * TILE + first_in_tile();
    [[unroll]] for (uint r = 0u; r < ITEMS; r++) {
        values[r] = args.first + stream_first + first + r * SUBGROUP;
        if (VALUES == SORT_VALUES_MOVED && first + r * SUBGROUP < count)
            values[r] = words_at(args.values).v[stream_first + first + r * SUBGROUP];
    }
}

/* Among the lanes with the same digit: how many precede this lane, and how many there are. */
uint rank_in_row(uint digit, out uint count)
{
    if (SUBGROUP <= 32u) {
        uint same = 0xffffffffu >> (32u - min(SUBGROUP, 32u));
        [[unroll]] for (uint b = 0u; b < 8u; b++) {
            if (b < DIGIT_BITS) {
                bool bit = (digit >> b & 1u) != 0u;
                same &= subgroupBallot(bit).x ^ (bit ? 0u : 0xffffffffu);
            }
        }
        count = popcount32(same);
        return popcount32(same & gl_SubgroupLtMask.x);
    }
    uvec4 same = subgroupBallot(true);
    for (uint b = 0u; b < DIGIT_BITS; b++) {
        bool bit = (digit >> b & 1u) != 0u;
        same &= subgroupBallot(bit) ^ uvec4(bit ? 0u : 0xffffffffu);
    }
    count = subgroupBallotBitCount(same);
    return subgroupBallotExclusiveBitCount(same);
}

/* Ranks of the elements in their section, among elements with the same digit. Invocation t receives
 * the number of the tile's elements in bin t; the counters then hold the number in preceding
 * sections. Ranks within rows are computed first, since they depend on nothing; then the counters
 * are updated, row after row. (H100, 2^28 u32 keys in tiles of 16 rows: 8.7 ms if the first lane of
 * a digit adds its count by an atomic and the other lanes use its result, 8.5 as here, 8.2 with two
 * ranks per word.) */
uint rank_in_sections(code_t codes[ITEMS], uint shift, out uint ranks[RANK_WORDS])
{
    uint t = gl_LocalInvocationID.x, row = subgroup_index() * BINS;
    barrier();
    for (uint i = t; i < GROUP / SUBGROUP * BINS; i += GROUP)
        pool[i] = 0u;
    barrier();
    [[unroll]] for (uint r = 0u; r < ITEMS; r++) {
        uint count, rank = rank_in_row(digit_of(codes[r], shift, END_BIT), count);
        SET_RANK(ranks, r, rank | count << 8);
    }
    [[unroll]] for (uint r = 0u; r < ITEMS; r++) {
        uint digit = digit_of(codes[r], shift, END_BIT), both = RANK_AT(ranks, r);
        uint before = pool[row + digit];
        subgroupBarrier();
        if ((both & 0xffu) == 0u)
            pool[row + digit] = before + (both >> 8);
        subgroupBarrier();
        SET_RANK(ranks, r, before + (both & 0xffu));
    }
    barrier();
    uint sum = 0u;
    for (uint s = 0u; s < GROUP / SUBGROUP && t < BINS; s++) {
        uint here = pool[s * BINS + t];
        pool[s * BINS + t] = sum;
        sum += here;
    }
    return sum;
}

/* Completes the ranks to ranks in the tile. sum: the result of rank_in_sections. Returns the number
 * of the tile's elements in bins before bin t. The pool is unused afterwards. */
uint rank_in_tile(code_t codes[ITEMS], uint shift, uint in_bin, inout uint ranks[RANK_WORDS])
{
    uint t = gl_LocalInvocationID.x, row = subgroup_index() * BINS, total;
    uint before = scan_group(in_bin, total);
    for (uint s = 0u; s < GROUP / SUBGROUP && t < BINS; s++)
        pool[s * BINS + t] += before;
    barrier();
    [[unroll]] for (uint r = 0u; r < ITEMS; r++) {
        uint in_sections = pool[row + digit_of(codes[r], shift, END_BIT)];
        SET_RANK(ranks, r, RANK_AT(ranks, r) + in_sections);
    }
    barrier();
    return before;
}

/* Adds the tile's elements in each bin to bins, which are 0. */
void count_tile(uint tile, uint count)
{
    uint first = tile * TILE + gl_LocalInvocationID.x;
    [[unroll]] for (uint r = 0u; r < ITEMS; r++) {
        uint i = first + r * GROUP;
        uint digit =
            digit_of(load_code(stream_first + min(i, count - 1u)), FIRST_BIT, END_BIT);
        COUNT_DIGIT(bins[digit], digit, i < count)
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

void stage(uint at, uint value)
{
    pool[at] = value;
}
void unstage(uint at, out uint value)
{
    value = pool[at];
}
#if SORT_WORDS == 2
void stage(uint at, uvec2 code)
{
    pool[at] = code.x;
    pool[WINDOW + at] = code.y;
}
void unstage(uint at, out uvec2 code)
{
    code = uvec2(pool[at], pool[WINDOW + at]);
}
#endif

/* Puts the elements of x whose ranks are in a window into the pool. */
#define STAGE(window, ranks, x)                                                                    \
    [[unroll]] for (uint r = 0u; r < ITEMS; r++)                                                   \
        if (RANK_AT(ranks, r) - (window) * WINDOW < WINDOW)                                        \
            stage(RANK_AT(ranks, r) - (window) * WINDOW, x[r]);
