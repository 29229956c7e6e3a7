/* A fragment makes a triangle: its vertex numbers, and its cell. */
#include "gl_surface.glsl"
#include "gl_surface_missing.glsl"
#include "gl_pyramid.glsl"
#include "gl_cases.glsl"
#include "gl_surface_place.glsl"

uniform highp usampler2D bits, edges, firsts;
uniform uint first;        /* number of the first triangle in the part */
uniform uint vertex_first; /* number of the part's first vertex */
out highp uvec4 corners;

/* Returns the number of the vertex on an edge of the cell at (column, row). number: the edge's. */
uint vertex_on(uint number, uint column, uint row)
{
    cell_edge edge = edge_of(number);
    row += edge.corner.y + size.y * edge.corner.z;
    column += edge.corner.x;
    uint quad = (3u * row + edge.axis) * quads.x + (column >> 7);
    uvec4 below = columns_below(0u, column & 127u);
    return word_of(load_quad(firsts, quad >> 2), quad & 3u) +
           count_bits(load_quad(edges, quad) & below);
}

void main()
{
    corners = uvec4(0u);
    uint key = first + tml_texel();
    if (key >= pyramid_total())
        return;
    pyramid_spot spot = pyramid_locate(key);
    quad_place place = place_of_quad(spot.item >> 2);
    uint w = spot.item & 3u;
    uvec4 here = uvec4(0u), step = uvec4(0u); /* words of the four rows, at x and x + 1 */
    for (uint k = 0u; k < 4u; k++) {
        uint row = place.row + (k & 1u) + (k >> 1) * size.y;
        uvec4 quad = row_quad(bits, row, place.q);
        uint word = word_of(quad, w);
        uint next = w < 3u ? word_of(quad, w + 1u) : row_next(bits, row, place.q);
        here = uvec4(here.yzw, word);
        step = uvec4(step.yzw, surface_step_x(word, next));
    }
    uint x_cells = word_of(columns_below(place.q, size.x - 1u), w);
    uint cells =
        x_cells & surface_active(here.x, step.x, here.y, step.y, here.z, step.z, here.w, step.w);
#ifdef MISSING
    if (some_are_missing())
        cells &= word_of(row_quad(whole_cells, place.row, place.q), w);
#endif
    /* Binary search for the cell: as many columns as have at most spot.rank triangles together. */
    uint bit = 0u, before = 0u;
    for (uint width = 16u; width > 0u; width >>= 1) {
        uint count = surface_triangles(here.x, step.x, here.y, step.y, here.z, step.z, here.w,
                                       step.w, cells & low_bits(bit + width));
        if (count <= spot.rank) {
            bit += width;
            before = count;
        }
    }
    uvec4 low = here >> bit & 1u, high = step >> bit & 1u;
    uint index = low.x | high.x << 1 | low.y << 2 | high.y << 3 | low.z << 4 | high.z << 5 |
                 low.w << 6 | high.w << 7;
    uvec4 entry = load_quad(cases, index);
    uint column = 128u * place.q + 32u * w + bit;
    for (uint k = 0u; k < 3u; k++) {
        uint turned = has(SURFACE_FLIP) && k != 0u ? 3u - k : k;
        uint edge = case_edge(entry, 3u * (spot.rank - before) + turned);
        corners = uvec4(corners.yz, vertex_first + vertex_on(edge, column, place.row), 0u);
    }
    if (has(SURFACE_CELL_OF))
        corners.w = number_at(volume_place(uvec3(column, place.y, place.z)));
}
