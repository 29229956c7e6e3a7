/* Makes one level of any size, or all remaining small levels in one workgroup. AREA filters along
 * both axes at once. KAISER reads many texels, so it filters along x to floats and then along y. */
#define ARGS image_mips_level_args
#include "image_mips.glsl"

const uint ALONG_X = 0u, ALONG_Y = 1u, ALONG_BOTH = 2u;

/* The level to read: the picture, or floats in scratch. */
struct source {
    bool is_floats;
    uvec2 floats;
    uint width, height;
};

/* Floats to which this dispatch does not store, so that loads may be cached. */
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer old_floats_at {
    vec4 v[];
};

vec4 old_float_texel(uvec2 floats, uint i)
{
    return old_floats_at(address_of(floats, i, 16u)).v[0];
}

vec4 texel_at(source from, uint x, uint y)
{
    if (!from.is_floats)
        return source_texel(x, y);
    uint i = y * from.width + x;
    return args.levels > 1u ? float_texel(from.floats, i) : old_float_texel(from.floats, i);
}

/* ---- KAISER ---------------------------------------------------------------------------------- */

/* Weights cost more than loads of texels, so a workgroup computes the weights of a tile once. A
 * tile has SIDE texels along the axis and ACROSS texels across it. */
const uint SIDE = IMAGE_KAISER_SIDE, ACROSS = IMAGE_KAISER_ACROSS;
const uint TAPS = uint(IMAGE_KAISER_END - IMAGE_KAISER_FIRST); /* the other taps have weight 0 */
const uint BEFORE = uint(IMAGE_KAISER_BEFORE - IMAGE_KAISER_FIRST);
shared float weights[SIDE * TAPS];

void find_weights(uint begin, uint size, uint old_size)
{
    for (uint k = gl_LocalInvocationID.x; k < SIDE * TAPS; k += GROUP) {
        uint i = begin + k / TAPS;
        uint j = 2u * i + k % TAPS - BEFORE; /* below 0 it wraps to a large number */
        weights[k] = i < size && j < old_size ? image_kaiser(i, j, old_size) : 0.0;
    }
}

/* Adds up the taps of load(j). Loads do not depend on weights, so many are in flight. A tap outside
 * the level has weight 0 and loads the last texel instead. A product with weight 0 is not added,
 * because 0 times NaN is NaN. */
#define ADD_TAPS(load)                                                                             \
    [[unroll]] for (uint tap = 0u; tap < TAPS; tap++) {                                            \
        uint j = min(2u * i + tap - BEFORE, last); /* below 0: large */                            \
        float weight = weights[at + tap];                                                          \
        vec4 texel = load;                                                                         \
        sum += weight != 0.0 ? weight * texel : vec4(0.0);                                         \
        total += weight;                                                                           \
    }

/* New texel i along the axis, in line o across it, with the weights from at on. */
vec4 kaiser_texel(source from, uint axis, uint i, uint o, uint at)
{
    vec4 sum = vec4(0.0);
    float total = 0.0;
    uint last = (axis == ALONG_X ? from.width : from.height) - 1u;
    uint step_x = axis == ALONG_X ? 1u : 0u, step_y = 1u - step_x;
    uint x = axis == ALONG_X ? 0u : o, y = axis == ALONG_X ? o : 0u;
    if (!from.is_floats)
        ADD_TAPS(source_texel(x + j * step_x, y + j * step_y))
    else if (args.levels > 1u)
        ADD_TAPS(float_texel(from.floats, (y + j * step_y) * from.width + x + j * step_x))
    else
        ADD_TAPS(old_float_texel(from.floats, (y + j * step_y) * from.width + x + j * step_x))
    return sum / total;
}

/* Halves a level along one axis, to width x height. Stores floats to "to", if given. Along y it
 * also stores codes to the chain, from texel first on. */
void kaiser_level(source from, uint axis, uint width, uint height, uint first, uvec2 to)
{
    uint t = gl_LocalInvocationID.x;
    uint size = axis == ALONG_X ? width : height, across = axis == ALONG_X ? height : width;
    uint old_size = axis == ALONG_X ? from.width : from.height;
    uint rows = (across + ACROSS - 1u) / ACROSS;
    uint tiles = (size + SIDE - 1u) / SIDE * rows;
    uint lane_x = t % SIDE, lane_y = t / SIDE;
    uint lane = axis == ALONG_X ? lane_x : lane_y;
    for (uint tile = group_index(); tile < tiles; tile += gl_NumWorkGroups.x * gl_NumWorkGroups.y) {
        uint begin = tile / rows * SIDE, i = begin + lane;
        barrier();
        find_weights(begin, size, old_size);
        barrier();
        uint end = min((tile % rows + 1u) * ACROSS, across);
        uint o = tile % rows * ACROSS + (axis == ALONG_X ? lane_y : lane_x);
        for (; i < size && o < end; o += GROUP / SIDE) {
            vec4 texel = kaiser_texel(from, axis, i, o, lane * TAPS);
            uint number = axis == ALONG_X ? o * width + i : i * width + o;
            if (axis != ALONG_X)
                store_code(first + number, pixel_code(texel));
            if (!is_none(to))
                store_floats(to, number, texel);
        }
    }
}

/* ---- AREA ------------------------------------------------------------------------------------ */

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
    image_taps across = image_taps_of(x, from.width);
    image_taps down = image_taps_of(y, from.height);
    vec4 rows[3];
    for (uint j = 0u; j < 3u; j++) {
        vec4 texels[3];
        for (uint i = 0u; i < 3u; i++)
            texels[i] = texel_at(from, tap_place(across, i), tap_place(down, j));
        rows[j] = tapped(across, texels);
    }
    return tapped(down, rows);
}

void tapped_level(source from, uint width, uint height, uint first, uvec2 to)
{
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index() * GROUP + gl_LocalInvocationID.x; i < width * height;
         i += groups * GROUP) {
        vec4 texel = tapped_texel(from, i % width, i / width);
        store_code(first + i, pixel_code(texel));
        if (!is_none(to))
            store_floats(to, i, texel);
    }
}

void main()
{
    image_begin();
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
        if (is_kaiser)
            kaiser_level(from, axis, width, height, first, to);
        else
            tapped_level(from, width, height, first, to);
        if (args.levels == 1u)
            return;
        /* There is one workgroup, and it reads what it stored. */
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
