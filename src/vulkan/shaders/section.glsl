/* Tiles of 4-byte elements in registers. A tile is cut into sections, one a subgroup. A lane holds
 * eight quads of its section, and lane l's quad k is the section's quad k * SUBGROUP + l, so that
 * loads are coalesced; bits 4 * k ... 4 * k + 3 of its keep bits are that quad's. Kept elements
 * pass through a small share of shared memory, so that stores are coalesced, too. What matters on
 * GPUs is to ask for little of it: it bounds how many workgroups are at work at once. */
#extension GL_EXT_control_flow_attributes : require

const uint QUADS = 8u;
const uint SECTION = 4u * QUADS * SUBGROUP;
const uint TILE_QUADS = TILE_ITEMS / 4u;
const uint WINDOW = 8u * SUBGROUP; /* elements of a section that are staged at a time, at most */

shared uvec4 staged[2u * GROUP];
shared uint section_counts[SUBGROUPS_MAX];

/* Elements that precede a lane's in its section, and the sections' sums, are packed, some quads to a
 * word: word s holds quads s, s + SPLIT, s + 2 * SPLIT ... in fields that 4 * SUBGROUP fits. */
const uint FIELD = SUBGROUP > 32u ? 16u : 8u;
const uint SPLIT = FIELD / 4u;
const uint FIELD_MASK = SUBGROUP > 32u ? 0x000f000fu : 0x0f0f0f0fu;

uint before_lane[4], of_quad[4];

uint field(uint packed, uint quad)
{
    return packed >> (quad / SPLIT * FIELD) & ((1u << FIELD) - 1u);
}

/* The tile's quad that is the lane's quad k. */
uint quad_at(uint k)
{
    return subgroup_index() * (SECTION / 4u) + k * SUBGROUP + gl_SubgroupInvocationID;
}

/* Of the first count elements, those of a quad that begins at element i, as bits. */
uint valid_bits(uint i, uint count)
{
    return i >= count ? 0u : count - i >= 4u ? 15u : (1u << (count - i)) - 1u;
}

/* Ranks the section's set bits; returns how many there are. */
uint rank_section(uint bits)
{
    uint pairs = bits - (bits >> 1 & 0x55555555u);
    uint counts = (pairs & 0x33333333u) + (pairs >> 2 & 0x33333333u); /* one a nibble */
    uint sum = 0u;
    [[unroll]] for (uint s = 0u; s < 4u; s++) {
        if (s < SPLIT) {
            uint own = counts >> (4u * s) & FIELD_MASK;
            uint with_own = subgroupInclusiveAdd(own);
            before_lane[s] = with_own - own;
            of_quad[s] = subgroupShuffle(with_own, SUBGROUP - 1u);
            for (uint f = 0u; f < 32u / FIELD; f++)
                sum += of_quad[s] >> (f * FIELD) & ((1u << FIELD) - 1u);
        }
    }
    return sum;
}

/* Puts the elements with ranks from begin on into the subgroup's share, as many whole rows of quads
 * as fit, and sets next to the rank after them. begin is zero or an earlier next; a row always fits. */
#define STAGE(begin, next, bits, value_of)                                                         \
    {                                                                                              \
        uint share = subgroup_index() * WINDOW, before_quad = 0u;                                  \
        [[unroll]] for (uint k = 0u; k < QUADS; k++) {                                             \
            uint with_quad = before_quad + field(of_quad[k % SPLIT], k);                           \
            if (before_quad >= (begin) && with_quad <= (begin) + WINDOW) {                         \
                uint slot = share + before_quad - (begin) + field(before_lane[k % SPLIT], k);      \
                next = with_quad;                                                                  \
                [[unroll]] for (uint j = 0u; j < 4u; j++) {                                        \
                    if (((bits) >> (4u * k + j) & 1u) != 0u) {                                     \
                        staged[slot >> 2][slot & 3u] = value_of(k, j);                             \
                        slot++;                                                                    \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            before_quad = with_quad;                                                               \
        }                                                                                          \
        subgroupBarrier();                                                                         \
    }

/* Stores the first count of what is staged, which may be none, from an address on: whole quads of
 * the output by the lanes, and what lies before and behind them by some. */
void store_staged(uvec2 to, uint count)
{
    uint share = subgroup_index() * (WINDOW / 4u), lane = gl_SubgroupInvocationID;
    uint head = min(-(to.x >> 2) & 3u, count);
    uint quads = (count - head) / 4u, tail = (count - head) & 3u;
    uvec2 aligned = address_of_word(to, head);
    for (uint q = lane; q < quads; q += SUBGROUP) {
        uvec4 quad = staged[share + q];
        if (head != 0u) {
            uvec4 high = staged[share + q + 1u];
            quad = head == 1u   ? uvec4(quad.yzw, high.x)
                   : head == 2u ? uvec4(quad.zw, high.xy)
                                : uvec4(quad.w, high.xyz);
        }
        quads_at(aligned).v[q] = quad;
    }
    for (uint l = lane; l < head + tail; l += SUBGROUP) {
        uint i = l < head ? l : l + 4u * quads;
        words_at(to).v[i] = staged[share + (i >> 2)][i & 3u];
    }
    subgroupBarrier();
}

/* Tells the other subgroups how many a section has: before is what precedes this one in the tile,
 * the result what the tile has. */
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
