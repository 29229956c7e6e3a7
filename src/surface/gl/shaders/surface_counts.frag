/* The triangle count of each word of 32 cells. ACTIVE: also the number of active cells. */
#include "gl_surface.glsl"
#include "gl_surface_missing.glsl"

uniform highp usampler2D bits;
layout(location = 0) out highp uvec4 triangles;
#ifdef ACTIVE
layout(location = 1) out highp uvec4 active_cells;
#endif

void main()
{
    triangles = uvec4(0u);
#ifdef ACTIVE
    active_cells = uvec4(0u);
#endif
    quad_place place = place_of_quad(tml_texel());
    if (place.y + 1u == size.y || place.z + 1u == size.z)
        return;
    uint row0 = place.row, row1 = row0 + 1u, row2 = row0 + size.y, row3 = row2 + 1u, q = place.q;
    uvec4 c0 = row_quad(bits, row0, q), c1 = row_quad(bits, row1, q);
    uvec4 c2 = row_quad(bits, row2, q), c3 = row_quad(bits, row3, q);
    uvec4 s0 = step_quad(c0, row_next(bits, row0, q)), s1 = step_quad(c1, row_next(bits, row1, q));
    uvec4 s2 = step_quad(c2, row_next(bits, row2, q)), s3 = step_quad(c3, row_next(bits, row3, q));
    uvec4 cells = (c0 | s0 | c1 | s1 | c2 | s2 | c3 | s3) &
                  ~(c0 & s0 & c1 & s1 & c2 & s2 & c3 & s3) & columns_below(q, size.x - 1u);
    if (is_zero(cells))
        return;
#ifdef MISSING
    if (some_are_missing())
        cells &= row_quad(whole_cells, row0, q);
#endif
    for (uint w = 0u; w < 4u; w++) {
        uint count = cells.x == 0u ? 0u
                                   : surface_triangles(c0.x, s0.x, c1.x, s1.x, c2.x, s2.x, c3.x,
                                                       s3.x, cells.x);
        triangles = uvec4(triangles.yzw, count);
#ifdef ACTIVE
        active_cells.x += popcount32(cells.x);
#endif
        c0 = c0.yzwx;
        c1 = c1.yzwx;
        c2 = c2.yzwx;
        c3 = c3.yzwx;
        s0 = s0.yzwx;
        s1 = s1.yzwx;
        s2 = s2.yzwx;
        s3 = s3.yzwx;
        cells = cells.yzwx;
    }
}
