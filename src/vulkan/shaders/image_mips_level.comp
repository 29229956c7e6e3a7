/* One level, whatever its size: an invocation for each texel. AREA and BOX take them from both axes at
 * once; KAISER, which needs many, goes along x to floats and then along y. Or all that is left of a
 * chain, by one workgroup, once the levels are small. */
#define ARGS image_mips_level_args
#include "image_mips.glsl"

const uint ALONG_X = 0u, ALONG_Y = 1u, ALONG_BOTH = 2u;

/* The level that is read: the picture's, or floats in scratch. */
struct source {
    bool is_floats;
    uvec2 floats;
    uint width, height;
};

vec4 texel_at(source from, uint x, uint y)
{
    return from.is_floats ? float_texel(from.floats, y * from.width + x) : source_texel(x, y);
}

vec4 tapped(image_taps taps, vec4 texels[3])
{
    vec4 sum;
    for (uint c = 0u; c < 4u; c++)
        sum[c] = image_tapped(taps, texels[0][c], texels[1][c], texels[2][c]);
    return sum;
}
uint tap_place(image_taps taps, uint tap)
{
    return tap == 0u ? taps.first : tap == 1u ? taps.middle : taps.last;
}
vec4 tapped_texel(source from, uint x, uint y)
{
    image_taps across = image_taps_of(args.filter_kind, x, from.width);
    image_taps down = image_taps_of(args.filter_kind, y, from.height);
    vec4 rows[3];
    for (uint j = 0u; j < 3u; j++) {
        vec4 texels[3];
        for (uint i = 0u; i < 3u; i++)
            texels[i] = texel_at(from, tap_place(across, i), tap_place(down, j));
        rows[j] = tapped(across, texels);
    }
    return tapped(down, rows);
}

/* Texel (x, y) of what is half as wide or high. */
vec4 kaiser_texel(source from, uint axis, uint x, uint y)
{
    uint i = axis == ALONG_X ? x : y, size = axis == ALONG_X ? from.width : from.height;
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (uint tap = 0u; tap < uint(IMAGE_KAISER_TAPS); tap++) {
        uint j = 2u * i + tap - uint(IMAGE_KAISER_BEFORE); /* before the first: far past the last */
        float weight = j < size ? image_kaiser(i, j, size) : 0.0;
        if (weight == 0.0)
            continue; /* and not 0 times what may be NaN */
        weights += weight;
        sum += weight * texel_at(from, axis == ALONG_X ? j : x, axis == ALONG_X ? y : j);
    }
    return sum / weights;
}

void main()
{
    image_begin();
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    bool is_kaiser = args.filter_kind == IMAGE_MIP_KAISER;
    source from;
    from.is_floats = (OPTIONS & IMAGE_IN_FLOATS) != 0u;
    from.floats = args.in_at;
    from.width = args.width;
    from.height = args.height;
    uint axis = is_kaiser ? args.axis : ALONG_BOTH;
    uint first = args.first;
    uvec2 floats = args.floats, other_floats = args.more_floats;
    for (uint level = 0u; level < args.levels;) {
        uint width = axis == ALONG_Y ? from.width : max(from.width >> 1, 1u);
        uint height = axis == ALONG_X ? from.height : max(from.height >> 1, 1u);
        uvec2 to = axis == ALONG_X && args.levels > 1u ? args.across : floats;
        for (uint i = group_index() * GROUP + gl_LocalInvocationID.x; i < width * height;
             i += groups * GROUP) {
            uint y = i / width, x = i - y * width;
            vec4 texel = is_kaiser ? kaiser_texel(from, axis, x, y) : tapped_texel(from, x, y);
            if (axis != ALONG_X)
                store_texel(first + i, texel);
            if (!is_none(to))
                store_floats(to, i, texel);
        }
        if (args.levels == 1u)
            return;
        /* One workgroup: what it stored is the next step's. */
        memoryBarrierBuffer();
        barrier();
        from.is_floats = true;
        from.floats = to;
        from.width = width;
        from.height = height;
        if (axis == ALONG_X) {
            axis = ALONG_Y;
            continue;
        }
        axis = is_kaiser ? ALONG_X : ALONG_BOTH;
        first += width * height;
        floats = other_floats;
        other_floats = from.floats;
        level++;
    }
}
