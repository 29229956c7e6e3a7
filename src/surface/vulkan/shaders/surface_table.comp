/* Expands the case table in one workgroup, while others make sign bits. A shader with constant
 * tables copies them to each lane's private memory, which takes longer than their use. */
#include "kernel.glsl"
#include "surface/gpu/surface_args.k.h"
#include "surface/gpu/surface_options.k.h"
#include "common.glsl"
#include "surface_tables.k.h"
#include "kernels/surface_open.k.h"

ARGS_USE(surface_table_args)

/* Writes a case: 16 bits per triangle, with four bits per corner (surface_case_corner). The last 16
 * bits are the number of triangles. */
void write_case(uint index)
{
    uint entry[4] = uint[4](0u, 0u, 0u, surface_case_count[index] << 16);
    for (uint i = 0u; i < 3u * surface_case_count[index]; i++) {
        uint edge = surface_case_edges[2u * index + i / 8u] >> (4u * (i % 8u)) & 0xfu;
        uint triangle = i / 3u;
        entry[triangle / 2u] |= surface_case_corner(index, edge)
                                << (16u * (triangle & 1u) + 4u * (i - 3u * triangle));
    }
    for (uint i = 0u; i < 4u; i++)
        store_word(args.head, SURFACE_HEAD_WORDS + 4u * index + i, entry[i]);
}

/* Writes origin and steps, and the isovalue. */
void write_head()
{
    float place[12] = float[12](args.place0, args.place1, args.place2, args.place3, args.place4,
                                args.place5, args.place6, args.place7, args.place8, args.place9,
                                args.place10, args.place11);
    uint iso[4] = uint[4](args.iso0, args.iso1, args.iso2, args.iso3);
    for (uint i = 0u; i < 12u; i++)
        store_word(args.head, SURFACE_HEAD_PLACE + i, floatBitsToUint(place[i]));
    for (uint i = 0u; i < 4u; i++)
        store_word(args.head, SURFACE_HEAD_EXACT_ISO + i, iso[i]);
}

void main()
{
    if (group_index() != 0u)
        return;
    write_case(gl_LocalInvocationID.x);
    if (gl_LocalInvocationID.x == 0u)
        write_head();
}
