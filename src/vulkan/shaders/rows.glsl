/* Tiles of 4-byte elements in registers. A tile has one section per subgroup. A section has ROWS
 * rows of one element per lane, consecutive in memory, so that loads are coalesced. The kept
 * elements of a row are stored consecutively as well, directly from registers: storing a row
 * touches the one or two cache lines where the previous row ended.
 *
 * Occupancy limits a large GPU, so this uses few registers and no shared memory. What did not help:
 * staging elements in shared memory, with loads and stores of 16 bytes, took 1.1 times as long if
 * few elements were kept, and 1.2 times if most were (2^28 elements on an H200). */
#extension GL_EXT_control_flow_attributes : require

const uint ROWS = 32u; /* bit r of a lane's bits belongs to its element of row r */
const uint SECTION = ROWS * SUBGROUP;

shared uint section_counts[SUBGROUPS_MAX];

/* Index of the lane's element in the section's first row. */
uint section_first(uint tile)
{
    return tile * TILE_ITEMS + subgroup_index() * SECTION + gl_SubgroupInvocationID;
}

/* A bit for each row whose element comes before count. first: the index of the element in row 0. */
uint rows_before(uint first, uint count)
{
    uint rows = first < count ? (count - first + (SUBGROUP - 1u)) / SUBGROUP : 0u;
    return rows >= ROWS ? 0xffffffffu : (1u << rows) - 1u;
}

/* Loads the lane's elements whose bits are set; the others become 0. */
#define LOAD_KEPT_ROWS(address, first, bits, v)                                                    \
    {                                                                                              \
        uvec2 rows_from = address_of_word(address, first);                                         \
        [[unroll]] for (uint r = 0u; r < ROWS; r++) {                                              \
            v[r] = 0u;                                                                             \
            if (((bits) >> r & 1u) != 0u)                                                          \
                v[r] = words_at(rows_from).v[r * SUBGROUP];                                        \
        }                                                                                          \
    }

/* Loads the elements before count. The stream's end has a branch of its own: clamping all indices
 * would cost registers, and thereby a fifth of the resident workgroups (up to 10 % of the time of
 * 2^28 elements). */
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

/* Row bits from a section's bits in element order, a word of 32 per lane. */
uint rows_of_words(uint word)
{
    uint lane = gl_SubgroupInvocationID, bits = 0u;
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        uint i = r * SUBGROUP + lane;
        bits |= (subgroupShuffle(word, i / 32u) >> (i % 32u) & 1u) << r;
    }
    return bits;
}

/* Scans the subgroups' counts. before receives the sum of the sections before this one; returns the
 * sum of the tile. Has one barrier; another must precede the next call. */
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

/* Clears all but the first count set bits of a section, in element order. */
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

/* Stores value, an expression in the row r, for each set bit, consecutively in the elements'
 * order. */
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
