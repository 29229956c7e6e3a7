/* Writes a word per brick of 8 x 8 x 8 samples: 1 if its bins have points, otherwise 0. */
#include "gl_field.glsl"

uniform uvec2 bricks_x, bricks_y; /* divisors */
out highp uint is_near;

void main()
{
    uint row = divide(tml_texel(), bricks_x);
    uint z = divide(row, bricks_y);
    uvec3 base =
        BRICK * uvec3(tml_texel() - row * bricks_x.x, row - z * bricks_y.x, z);
    is_near = 0u;
    for (uint level = 0u; level < level_count && is_near == 0u; level++) {
        bin_box box = bins_near(level, base, base + BRICK - 1u);
        for (uint bz = 0u; bz < box.count.z; bz++)
            for (uint by = 0u; by < box.count.y && is_near == 0u; by++) {
                uint bin = first_of_row(box, by, bz);
                if (LOAD_U32(starts, bin) != LOAD_U32(starts, bin + box.count.x))
                    is_near = 1u;
            }
    }
}
