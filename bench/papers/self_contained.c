/* Triangles that carry their neighbours, for Loop subdivision without a mesh. A record has twelve
 * points of four floats, 192 bytes: corners A, B, C, and the other nine points of the surrounding
 * triangles, in a ring: AB (across edge AB), ABB and BBC (at B), BC, BCC, ACC (at C), AC, AAC, AAB
 * (at A). All valences are six, as in the chapter's listing. Each point of a child is computed from
 * the parent's record alone. So a level is one map, and a stream of triangles can be filtered
 * without regard to neighbours.
 *
 * The price: 192 bytes per triangle, and each point is computed once for every triangle around it.
 * These triangles add in different orders, so the mesh comes apart by last bits. (The chapter sorts
 * the summands, which this program does not.) The library's half-edges find neighbours by
 * arithmetic, and compute a point once.
 *
 * After: Horn: Stream Reduction Operations for GPGPU Applications. GPU Gems 2, chapter 36, listing
 * 36-5. 2005; Loop: Smooth Subdivision Surfaces Based on Triangles. 1987. */
#include "papers_internal.h"

#include <trommel/kernel_begin.h>

/* How a child's points are computed from the parent's: 0xqpyx is the edge point of edge xy, with p
 * and q across it; if x equals y, it is the vertex point of that corner. First the child at corner
 * A, then the child in the middle. */
/* clang-format off */
TML_LIBRARY(selves,
    TABLE_BEGIN(uint, selves_rules, 24)
        0x0000u, 0x3210u, 0x9120u, 0xb130u, 0x4031u, 0x0011u, 0x6021u, 0x0022u, 0x8092u, 0xa290u, 0xb9a0u, 0x3ab0u,
        0x3210u, 0x6021u, 0x9102u, 0x0011u, 0x5261u, 0x7162u, 0x0022u, 0x8092u, 0xa290u, 0x0000u, 0xb130u, 0x4031u
    TABLE_END

    /* Point number of a record that is read as if it began at corner turn. */
    FUNCTION(vec4) selves_point(uint number, uint turn, uint record, tml_words records)
    {
        uint turned = number < 3u ? (number + turn) % 3u : 3u + (number - 3u + 3u * turn) % 9u;
        return tml_word_vec4(records, 12u * record + turned);
    }
    /* The vertex point of corner `turn`; for A, from the neighbours B, C, AC, AAC, AAB and AB. */
    FUNCTION(vec4) selves_corner(uint turn, uint record, tml_words records)
    {
        vec4 sum = add4(selves_point(1u, turn, record, records), selves_point(2u, turn, record, records));
        for (uint number = 9u; number < 12u; number++)
            sum = add4(sum, selves_point(number, turn, record, records));
        sum = add4(sum, selves_point(3u, turn, record, records));
        return add4(scale4(selves_point(0u, turn, record, records), 0.625f), scale4(sum, 0.0625f));
    }
    FUNCTION(vec4) selves_made(uint rule, uint turn, uint record, tml_words records)
    {
        uint x = rule & 15u;
        uint y = (rule >> 4) & 15u;
        if (x == y)
            return selves_corner((x + turn) % 3u, record, records);
        vec4 ends = add4(selves_point(x, turn, record, records), selves_point(y, turn, record, records));
        vec4 across = add4(selves_point((rule >> 8) & 15u, turn, record, records),
                           selves_point(rule >> 12, turn, record, records));
        return add4(scale4(ends, 0.375f), scale4(across, 0.125f));
    }
)
/* clang-format on */

TML_KERNEL_WITH(selves, vec4, selves_child, (tml_index i, tml_words records), {
    uint triangle = U(i) / 12u;
    uint number = U(i) - 12u * triangle;
    uint child = triangle & 3u;
    uint turn = child;
    if (child == 3u) {
        number += 12u;
        turn = 0u;
    }
    return selves_made(selves_rules[number], turn, triangle >> 2, records);
})

#include <trommel/kernel_end.h>

tml_status papers_self_split(tml_context *tml, uint64_t triangle_count, tml_buffer in,
                             tml_buffer out)
{
    papers_learn(tml);
    return tml_map(tml, &(tml_map_desc){.kernel = TML_USE(selves_child),
                                        .in = {in},
                                        .length.count = 48 * triangle_count,
                                        .out = {out}});
}

/* The point x A + y B + z C of a lattice of triangles that is wound into a torus. corners: A, B and
 * C as (i, k), a ring's number and a point's number within it; weights: x, y, z. */
static uint32_t lattice_point(const int64_t corners[3][2], const int weights[3], uint32_t around,
                              uint32_t across)
{
    int64_t at[2] = {2 * (int64_t)around, 2 * (int64_t)across}; /* not below 0 */
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 2; k++)
            at[k] += weights[c] * corners[c][k];
    return (uint32_t)(at[0] % around * across + at[1] % across);
}

void papers_self_torus(const float *points, uint32_t around, uint32_t across, float *records)
{
    /* Corners, then the ring, as sums of corners. */
    static const int sums[12][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},  {1, 1, -1},
                                    {0, 2, -1}, {-1, 2, 0}, {-1, 1, 1}, {-1, 0, 2},
                                    {0, -1, 2}, {1, -1, 1}, {2, -1, 0}, {2, 0, -1}};
    for (uint32_t t = 0; t < 2 * around * across; t++) {
        int64_t i = t / 2 / across, k = t / 2 % across, is_second = t % 2;
        const int64_t corners[3][2] = {{i, k}, {i + 1, k + is_second}, {i + !is_second, k + 1}};
        for (int n = 0; n < 12; n++, records += 4) {
            const float *from =
                points + 3 * (size_t)lattice_point(corners, sums[n], around, across);
            for (int c = 0; c < 4; c++)
                records[c] = c < 3 ? from[c] : 0;
        }
    }
}
