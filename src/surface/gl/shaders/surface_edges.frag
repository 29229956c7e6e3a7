/* Crossed edges in the order of the vertices: per row, quads of x-edges, of y-edges, of z-edges. */
#include "gl_surface.glsl"
#include "gl_surface_missing.glsl"

uniform highp usampler2D bits;
out highp uvec4 edges;

void main()
{
    uint part = divide(tml_texel(), quads), row = part / 3u, axis = part - 3u * row;
    quad_place place;
    place.q = tml_texel() - part * quads.x;
    place.row = row;
    place.z = divide(row, size_y);
    place.y = row - place.z * size_y.x;
    uvec4 here = row_quad(bits, row, place.q);
    if (axis == 0u)
        edges = (here ^ step_quad(here, row_next(bits, row, place.q))) &
                columns_below(place.q, size.x - 1u);
    else if (axis == 1u)
        edges = place.y + 1u < size.y ? here ^ row_quad(bits, row + 1u, place.q) : uvec4(0u);
    else
        edges = place.z + 1u < size.z ? here ^ row_quad(bits, row + size.y, place.q) : uvec4(0u);
#ifdef MISSING
    if (!is_zero(edges) && some_are_missing())
        edges &= allowed_edges(axis, place);
#endif
}
