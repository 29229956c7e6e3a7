/* If samples are missing, marks the cells whose eight corners are present. */
#include "gl_surface.glsl"

uniform highp usampler2D missing, missing_any;
out highp uvec4 whole;

void main()
{
    whole = uvec4(0u);
    if (is_zero(load_quad(missing_any, 0u)))
        return;
    quad_place place = place_of_quad(tml_texel());
    if (place.y + 1u == size.y || place.z + 1u == size.z)
        return;
    uvec4 gone = uvec4(0u);
    for (uint k = 0u; k < 4u; k++) {
        uint row = place.row + (k & 1u) + (k >> 1) * size.y;
        uvec4 here = row_quad(missing, row, place.q);
        gone |= here | step_quad(here, row_next(missing, row, place.q));
    }
    whole = columns_below(place.q, size.x - 1u) & ~gone;
}
