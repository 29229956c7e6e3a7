/* Several levels in one pass, where the sizes are even: each workgroup reads a tile of 64 x 64 texels and
 * makes its part of up to six levels; the last workgroup goes on from what all have left, where that
 * fits a tile. Means of four, for which it does not matter whether the filter is AREA or BOX. */
#define ARGS image_mips_args
#include "image_mips.glsl"
#include "last.glsl"

const uint TILE_SIDE = IMAGE_TILE_SIDE;

shared vec4 texels[256];

vec4 paired(vec4 a, vec4 b)
{
    return vec4(image_paired(a.x, b.x), image_paired(a.y, b.y), image_paired(a.z, b.z),
                image_paired(a.w, b.w));
}
vec4 paired(vec4 a, vec4 b, vec4 c, vec4 d)
{
    return paired(paired(a, b), paired(c, d));
}

/* The level that is read, and those that are made of it. */
struct source {
    bool is_floats;
    uvec2 floats;
    uint width, height;
    uint first; /* the chain's texel where the levels begin */
    uint levels;
    uvec2 last_floats; /* of the last one made; none: they go no further */
};

/* Four texels side by side; those outside of the level are anything. */
void load_row(source from, uint x, uint y, out vec4 row[4])
{
    y = min(y, from.height - 1u);
    if (from.is_floats) {
        [[unroll]] for (uint p = 0u; p < 4u; p++)
            row[p] = float_texel(from.floats, y * from.width + min(x + p, from.width - 1u));
        return;
    }
    bool is_whole = (OPTIONS & IMAGE_IN_WORDS) != 0u && x + 4u <= from.width;
    if (!is_whole) {
        [[unroll]] for (uint p = 0u; p < 4u; p++)
            row[p] = source_texel(min(x + p, from.width - 1u), y);
        return;
    }
    uvec2 at = source_at(x, y);
    if ((OPTIONS & IMAGE_IN_QUADS) != 0u && PIXEL_SIZE % 4u == 0u) {
        [[unroll]] for (uint q = 0u; q < PIXEL_SIZE / 4u; q++) {
            uvec4 quad = quads_at(at).v[q];
            [[unroll]] for (uint i = 0u; i < 4u; i++)
                loaded[4u * q + i] = quad[i];
        }
    } else {
        [[unroll]] for (uint i = 0u; i < PIXEL_SIZE; i++)
            loaded[i] = LOAD_U32(at, i);
    }
    [[unroll]] for (uint p = 0u; p < 4u; p++)
        row[p] = texel_of(loaded_pixel(p * PIXEL_SIZE));
}

/* Stores a texel of level "level" from this one, 1 being the next, if there is such a texel. */
void put(source from, uint level, uint first, uint x, uint y, vec4 texel)
{
    uint width = from.width >> level, height = from.height >> level;
    if (x >= width || y >= height)
        return;
    store_texel(first + y * width + x, texel);
    if (level == from.levels && !is_none(from.last_floats))
        store_floats(from.last_floats, y * width + x, texel);
}

/* One tile; levels are from.levels, which are the same for all invocations. */
void make_tile(source from, uint tile_x, uint tile_y)
{
    uint t = gl_LocalInvocationID.x;
    uint x = t & 15u, y = t >> 4;
    uint first = from.first;
    vec4 made[4];
    [[unroll]] for (uint half_y = 0u; half_y < 2u; half_y++) {
        vec4 upper[4], lower[4];
        load_row(from, tile_x * TILE_SIDE + 4u * x, tile_y * TILE_SIDE + 4u * y + 2u * half_y,
                 upper);
        load_row(from, tile_x * TILE_SIDE + 4u * x, tile_y * TILE_SIDE + 4u * y + 2u * half_y + 1u,
                 lower);
        [[unroll]] for (uint half_x = 0u; half_x < 2u; half_x++) {
            vec4 texel = paired(upper[2u * half_x], upper[2u * half_x + 1u], lower[2u * half_x],
                                lower[2u * half_x + 1u]);
            made[2u * half_y + half_x] = texel;
            put(from, 1u, first, tile_x * (TILE_SIDE / 2u) + 2u * x + half_x,
                tile_y * (TILE_SIDE / 2u) + 2u * y + half_y, texel);
        }
    }
    if (from.levels == 1u)
        return;
    first += (from.width >> 1) * (from.height >> 1);
    vec4 texel = paired(made[0], made[1], made[2], made[3]);
    put(from, 2u, first, tile_x * (TILE_SIDE / 4u) + x, tile_y * (TILE_SIDE / 4u) + y, texel);
    texels[t] = texel;
    for (uint level = 3u; level <= from.levels; level++) {
        first += (from.width >> (level - 1u)) * (from.height >> (level - 1u));
        uint side = TILE_SIDE >> level;
        bool is_mine = t < side * side;
        x = t % side;
        y = t / side;
        uint corner = is_mine ? 4u * side * y + 2u * x : 0u;
        barrier();
        texel = paired(texels[corner], texels[corner + 1u], texels[corner + 2u * side],
                       texels[corner + 2u * side + 1u]);
        barrier();
        if (is_mine) {
            texels[t] = texel;
            put(from, level, first, tile_x * side + x, tile_y * side + y, texel);
        }
    }
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint tile = group_index();
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = tile * GROUP + t; i < args.clear_count; i += groups * GROUP)
        store_word(args.clear, i, 0u);
    if (tile >= args.tiles)
        return;
    image_begin();
    source from;
    from.is_floats = false;
    from.floats = args.floats;
    from.width = args.width;
    from.height = args.height;
    from.first = args.first;
    from.levels = args.levels;
    from.last_floats = args.floats;
    /* Once, and the last workgroup twice: the second time from the floats. */
    for (uint turn = 0u; turn < 2u; turn++) {
        make_tile(from, from.is_floats ? 0u : tile % args.tiles_x,
                  from.is_floats ? 0u : tile / args.tiles_x);
        if (from.is_floats || args.more_levels == 0u)
            return;
        memoryBarrierBuffer();
        barrier();
        if (!is_last_of(args.states, args.tiles, 1u))
            return;
        for (uint level = 1u; level <= args.levels; level++)
            from.first += (args.width >> level) * (args.height >> level);
        from.is_floats = true;
        from.width >>= args.levels;
        from.height >>= args.levels;
        from.levels = args.more_levels;
        from.last_floats = args.more_floats;
    }
}
