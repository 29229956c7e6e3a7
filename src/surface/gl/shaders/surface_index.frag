/* Smallest and largest sample of each brick (64 x 4 x 4), a word each: floats rounded outward. */
#define OPTIONS 0u
#include "gl_surface.glsl"
#include "gl_surface_volume.glsl"
#include "surface/gpu/surface_samples.glsl"

uniform highp usampler2D volume;
uniform uvec3 dims;
uniform uvec2 bricks_x, bricks_y; /* divisors */
out highp uint word;

void main()
{
    uint brick = tml_texel() >> 1, row = divide(brick, bricks_x), bz = divide(row, bricks_y);
    uvec3 first = uvec3(64u, 4u, 4u) * uvec3(brick - row * bricks_x.x, row - bz * bricks_y.x, bz);
    uvec3 end = min(first + uvec3(64u, 4u, 4u), dims);
    uint least = 0xffffffffu, largest = 0u;
    for (uint z = first.z; z < end.z; z++)
        for (uint y = first.y; y < end.y; y++)
            for (uint x = first.x; x < end.x; x++) {
                uvec2 keys = brick_keys(TYPE, raw_at(TYPE, volume, (y + dims.y * z) * dims.x + x));
                least = min(least, keys.x);
                largest = max(largest, keys.y);
            }
    uint key = (tml_texel() & 1u) == 0u ? least : largest;
    word = (key & 0x80000000u) != 0u ? key ^ 0x80000000u : ~key;
}
