/* Cells with missing corners, in the variant MISSING. Include it after gl_surface.glsl. */
#ifdef MISSING
uniform highp usampler2D missing_any; /* quad 0 is not zero: samples are missing */
uniform highp usampler2D whole_cells; /* cells with all corners; 0: no sample is missing */

bool some_are_missing()
{
    return !is_zero(load_quad(missing_any, 0u));
}

/* Return the cells with all corners at (y, z); 0 past the border, to which y and z of -1 wrap. */
uvec4 whole_at(uint y, uint z, uint q)
{
    return y < size.y && z < size.z ? row_quad(whole_cells, y + size.y * z, q) : uvec4(0u);
}
uint whole_before(uint y, uint z, uint q)
{
    return y < size.y && z < size.z && q != 0u ? row_quad(whole_cells, y + size.y * z, q - 1u).w
                                               : 0u;
}

/* Returns the edges along an axis at a place that touch a cell with all corners. */
uvec4 allowed_edges(uint axis, quad_place place)
{
    uint y = place.y, z = place.z, q = place.q;
    uvec4 here = whole_at(y, z, q);
    uint before = whole_before(y, z, q);
    if (axis != 1u) {
        here |= whole_at(y - 1u, z, q);
        before |= whole_before(y - 1u, z, q);
    }
    if (axis != 2u) {
        here |= whole_at(y, z - 1u, q);
        before |= whole_before(y, z - 1u, q);
    }
    if (axis == 0u)
        return here | whole_at(y - 1u, z - 1u, q);
    /* A y- or z-edge touches cells at x and x - 1. */
    return here | here << 1 | uvec4(before, here.xyz) >> 31;
}
#endif
