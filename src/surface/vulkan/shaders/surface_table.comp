/* The case table, by one workgroup, while the sign bits are made: a shader that holds the table's
 * sources has them in each lane's own memory, which takes longer than all it does with them. */
#include "kernel.glsl"
#include "surface/gpu/surface_args.k.h"
#include "common.glsl"
#include "surface_tables.k.h"

ARGS_USE(surface_table_args)

/* How a case's triangles take their corners: sixteen bits each, four for a corner: which of the eight
 * counters of a cell (its edges' streams), and 8 where one is added, because the edge lies one step
 * along x and the counter's own edge is crossed. The number of triangles is in the last sixteen. */
uint case_corner(uint index, uint edge)
{
    uint axis = edge / 4u, place = edge % 4u;
    if (axis == 0u)
        return place;
    uint stream = 2u + 2u * axis + place / 2u;
    if ((place & 1u) == 0u)
        return stream;
    /* Of the counter's own edge: its lower corner, and the one along the axis. */
    uint low = axis == 1u ? (place & 2u) << 1 : place & 2u;
    uint high = low | 1u << axis;
    bool crossed = (index >> low & 1u) != (index >> high & 1u);
    return stream | (crossed ? 8u : 0u);
}
void write_case(uint index)
{
    uint entry[4] = uint[4](0u, 0u, 0u, surface_case_count[index] << 16);
    for (uint i = 0u; i < 3u * surface_case_count[index]; i++) {
        uint edge = surface_case_edges[2u * index + i / 8u] >> (4u * (i % 8u)) & 0xfu;
        uint triangle = i / 3u;
        entry[triangle / 2u] |= case_corner(index, edge)
                                << (16u * (triangle & 1u) + 4u * (i - 3u * triangle));
    }
    for (uint i = 0u; i < 4u; i++)
        store_word(args.head, SURFACE_HEAD_WORDS + 4u * index + i, entry[i]);
}

void main()
{
    if (group_index() == 0u)
        write_case(gl_LocalInvocationID.x);
}
