/* A record: the statistics of some pixels without their histogram. Include after gl_common.glsl.
 *
 * A record is stored in four textures, one quad in each. A picture has fewer than 2^32 pixels, so
 * only sums of weights need more than one word. The high words of two of these are below 2^8 and
 * share a word. The least and the most luminance are keys, which are ordered as the floats: they
 * start as infinities, which GLSL ES may not compare correctly. A tile's record fits two quads
 * (image_tiles.frag). */
#include "kernels/image_moments.k.h"

struct image_record {
    uvec4 kinds; /* IMAGE_POSITIVE to IMAGE_NAN */
    uint infinite;
    uvec2 weight, log_weight, whole, fraction; /* 64 bits each */
    uint least, most;
    image_moments moments;
};

const uint KEY_OF_INFINITY = 0xff800000u, KEY_OF_MINUS_INFINITY = 0x007fffffu;

uint key_of_float(float x)
{
    uint bits = floatBitsToUint(x);
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}
uint float_bits_of_key(uint key)
{
    return (key & 0x80000000u) != 0u ? key & 0x7fffffffu : ~key;
}

image_moments moments_of(float weight, float mean, float square)
{
    image_moments m;
    m.weight = weight;
    m.mean = mean;
    m.square = square;
    return m;
}

image_record record_of_nothing()
{
    image_record r;
    r.kinds = uvec4(0u);
    r.infinite = 0u;
    r.weight = r.log_weight = r.whole = r.fraction = uvec2(0u);
    r.least = KEY_OF_INFINITY;
    r.most = KEY_OF_MINUS_INFINITY;
    r.moments = moments_of(0.0, 0.0, 0.0);
    return r;
}

image_record record_join(image_record a, image_record b)
{
    image_record r;
    r.kinds = a.kinds + b.kinds;
    r.infinite = a.infinite + b.infinite;
    r.weight = add64(a.weight, b.weight);
    r.log_weight = add64(a.log_weight, b.log_weight);
    r.whole = add64(a.whole, b.whole);
    r.fraction = add64(a.fraction, b.fraction);
    r.least = min(a.least, b.least);
    r.most = max(a.most, b.most);
    r.moments = image_moments_join(a.moments, b.moments);
    return r;
}

float weight_of(uvec2 weight)
{
    return float(weight.y) * 4294967296.0 + float(weight.x);
}

/* ---- as quads -------------------------------------------------------------------------------- */

image_record record_of_quads(uvec4 a, uvec4 b, uvec4 c, uvec4 d)
{
    image_record r;
    r.kinds = a;
    r.infinite = b.x;
    r.weight = uvec2(b.y, b.w & 0xffffu);
    r.log_weight = uvec2(b.z, b.w >> 16);
    r.whole = c.xy;
    r.fraction = c.zw;
    r.least = d.x;
    r.most = d.y;
    r.moments = moments_of(weight_of(r.weight), uintBitsToFloat(d.z), uintBitsToFloat(d.w));
    return r;
}
uvec4 record_quad1(image_record r)
{
    return uvec4(r.infinite, r.weight.x, r.log_weight.x, r.weight.y | r.log_weight.y << 16);
}
uvec4 record_quad2(image_record r)
{
    return uvec4(r.whole, r.fraction);
}
uvec4 record_quad3(image_record r)
{
    return uvec4(r.least, r.most, floatBitsToUint(r.moments.mean),
                 floatBitsToUint(r.moments.square));
}

/* A tile's sums in one quad. x: six bits per count of a kind. y: 16 bits each for weight and log
 * weight. z: 24 bits for the whole stops, 8 for the fraction's high word. w: the fraction's low
 * word. */
uvec4 tile_quad(image_record r)
{
    uint kinds = r.kinds.x | r.kinds.y << 6 | r.kinds.z << 12 | r.kinds.w << 18 | r.infinite << 24;
    return uvec4(kinds, r.weight.x | r.log_weight.x << 16,
                 (r.whole.x & 0x00ffffffu) | r.fraction.y << 24, r.fraction.x);
}
image_record record_of_tile(uvec4 sums, uvec4 rest)
{
    image_record r;
    r.kinds = (uvec4(sums.x) >> uvec4(0u, 6u, 12u, 18u)) & 63u;
    r.infinite = sums.x >> 24;
    r.weight = uvec2(sums.y & 0xffffu, 0u);
    r.log_weight = uvec2(sums.y >> 16, 0u);
    int whole = int(sums.z << 8) >> 8;
    r.whole = uvec2(uint(whole), uint(whole >> 31));
    r.fraction = uvec2(sums.w, sums.z >> 24);
    r.least = rest.x;
    r.most = rest.y;
    r.moments = moments_of(float(r.weight.x), uintBitsToFloat(rest.z), uintBitsToFloat(rest.w));
    return r;
}
