/* Expands the case table in one workgroup, while others make sign bits. A shader that has constant
 * tables copies them to each lane's private memory, which takes longer than their use. */
#include "kernel.glsl"
#include "surface/gpu/surface_args.k.h"
#include "common.glsl"
#include "surface_tables.k.h"

ARGS_USE(surface_table_args)

/* A case is 16 bits a triangle, four of them a corner: the number of the cell's counter of the
 * edge's stream; plus 8 where the corner's edge lies one step along x and the counter's edge is
 * crossed, so that its vertex is the next one. The last 16 bits of a case count its triangles. */
uint case_corner(uint index, uint edge)
{
    uint axis = edge / 4u, place = edge % 4u;
    if (axis == 0u)
        return place;
    uint stream = 2u + 2u * axis + place / 2u;
    if ((place & 1u) == 0u)
        return stream;
    /* Corners of the cell at both ends of the counter's edge. */
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
