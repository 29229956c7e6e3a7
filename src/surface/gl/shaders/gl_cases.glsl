/* The case table of surface_cases.frag, and a cell's edges. Include it after gl_common.glsl. */
uniform highp usampler2D cases;

/* Returns the edge of corner i of a case's triangles. */
uint case_edge(uvec4 entry, uint i)
{
    return (i < 8u ? entry.x : entry.y) >> (4u * (i & 7u)) & 0xfu;
}

/* An edge from a corner of the cell, one step along axis. */
struct cell_edge {
    uint axis;
    uvec3 corner;
};
cell_edge edge_of(uint number)
{
    cell_edge edge;
    edge.axis = number >> 2;
    uint low = number & 1u, high = number >> 1 & 1u;
    edge.corner = edge.axis == 0u   ? uvec3(0u, low, high)
                  : edge.axis == 1u ? uvec3(low, 0u, high)
                                    : uvec3(low, high, 0u);
    return edge;
}
