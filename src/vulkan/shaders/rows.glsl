/* Tiles of 4-byte elements in registers. A tile is cut into sections, one a subgroup, and a section into
 * rows of one element a lane, side by side in memory, so that loads are coalesced. What is kept of a
 * row goes side by side, too, straight from the registers: a row is one store to the one or two
 * lines of memory where the row before ended.
 *
 * On a large GPU what counts is how many workgroups are at work at once, hence few registers and no
 * shared memory: to stage elements there, and to load and store 16 bytes at once, took 1.1 times as
 * long where few were kept and 1.2 times where most were (2^28 elements on an H200). */
#extension GL_EXT_control_flow_attributes : require

const uint ROWS = 32u; /* bit r of a lane's bits is about its element of row r */
const uint SECTION = ROWS * SUBGROUP;

shared uint section_counts[SUBGROUPS_MAX];

/* Where the lane's element of the section's first row is. */
uint section_first(uint tile)
{
    return tile * TILE_ITEMS + subgroup_index() * SECTION + gl_SubgroupInvocationID;
}

/* The rows whose element, the first of which is at first, comes before element count. */
uint rows_before(uint first, uint count)
{
    uint rows = first < count ? (count - first + (SUBGROUP - 1u)) / SUBGROUP : 0u;
    return rows >= ROWS ? 0xffffffffu : (1u << rows) - 1u;
}

/* Those of the lane's elements whose rows' bits are set; zeros in place of the others. */
#define LOAD_KEPT_ROWS(address, first, bits, v)                                                    \
    {                                                                                              \
        uvec2 rows_from = address_of_word(address, first);                                         \
        [[unroll]] for (uint r = 0u; r < ROWS; r++) {                                              \
            v[r] = 0u;                                                                             \
            if (((bits) >> r & 1u) != 0u)                                                          \
                v[r] = words_at(rows_from).v[r * SUBGROUP];                                        \
        }                                                                                          \
    }

/* The elements before count. The end of a stream goes its own way: clamped places would cost registers,
 * and with them a workgroup in five (up to 10 % of the time of 2^28 elements). */
void load_rows(uvec2 address, uint first, uint count, out uint v[ROWS])
{
    if (first - gl_SubgroupInvocationID + SECTION <= count) {
        uvec2 at = address_of_word(address, first);
        [[unroll]] for (uint r = 0u; r < ROWS; r++)
            v[r] = words_at(at).v[r * SUBGROUP];
    } else {
        LOAD_KEPT_ROWS(address, first, rows_before(first, count), v)
    }
}

/* From a section's bits in the order of its elements, 32 to a word and a word a lane. */
uint rows_of_words(uint word)
{
    uint lane = gl_SubgroupInvocationID, bits = 0u;
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        uint i = r * SUBGROUP + lane;
        bits |= (subgroupShuffle(word, i / 32u) >> (i % 32u) & 1u) << r;
    }
    return bits;
}

/* Tells the other subgroups how many a section has: before is what precedes this one in the tile,
 * the result what the tile has. Holds a barrier; before it is used again there must be another. */
uint count_tile(uint in_section, out uint before)
{
    if (gl_SubgroupInvocationID == 0u)
        section_counts[subgroup_index()] = in_section;
    barrier();
    uint sum = 0u;
    before = 0u;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
        before += s < subgroup_index() ? section_counts[s] : 0u;
        sum += section_counts[s];
    }
    return sum;
}

/* The set bits of the section's first count, which are those of the first rows and lanes. */
uint first_of_rows(uint bits, uint count)
{
    uint before = 0u;
    for (uint r = 0u; r < ROWS; r++) {
        uvec4 mask = subgroupBallot((bits >> r & 1u) != 0u);
        if (before + subgroupBallotExclusiveBitCount(mask) >= count)
            bits &= ~(1u << r);
        before += subgroupBallotBitCount(mask);
    }
    return bits;
}

/* Stores value, an expression of the row r, for all set bits in their order from an address on. */
#define STORE_ROWS(to, bits, value)                                                                \
    {                                                                                              \
        uint before_row = 0u;                                                                      \
        [[unroll]] for (uint r = 0u; r < ROWS; r++) {                                              \
            bool is_stored = ((bits) >> r & 1u) != 0u;                                             \
            uvec4 mask = subgroupBallot(is_stored);                                                \
            uint slot = before_row + subgroupBallotExclusiveBitCount(mask);                        \
            before_row += subgroupBallotBitCount(mask);                                            \
            if (is_stored)                                                                         \
                words_at(to).v[slot] = value;                                                      \
        }                                                                                          \
    }
