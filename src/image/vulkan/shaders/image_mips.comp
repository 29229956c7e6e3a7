/* Makes several levels in one pass, as means of four texels (AREA), where sizes are even.
 * Workgroups stride over tiles of 64 x 64 texels, and make each tile's part of up to six levels.
 * The last workgroup to finish makes further levels, if the last of these levels fits one tile.
 *
 * An invocation makes two levels from 4 x 4 texels. Invocations are in Morton order: four
 * neighbours in a square have consecutive numbers, and so do four such squares. The first
 * invocations make the later levels, fewer each time, while the others continue with the next tile.
 * Measured dead ends on an H200: lanes that shuffle texels from the second level on (10 of 45 us
 * for 4096 x 4096 bytes: all lanes issue the work of a quarter of them), and one workgroup per tile
 * (another 10 us: each one waits until its stores are visible before it counts itself as done). */
#define ARGS image_mips_args
#include "image_mips.glsl"
#include "last.glsl"

const uint TILE_SIDE = IMAGE_TILE_SIDE;
const uint LANE_SIDE = 4u; /* side of an invocation's square, in texels of the level read */
const bool IN_CODES =
    TYPE == IMAGE_TYPE_U8 && !IS_SRGB && OUT_TYPE == IMAGE_TYPE_U8 && !OUT_IS_SRGB;

/* Texels that invocations share: of the second level, then of the fourth. */
shared vec4 texels[GROUP + GROUP / 16u];

vec4 paired(vec4 a, vec4 b)
{
    return vec4(image_paired(a.x, b.x), image_paired(a.y, b.y), image_paired(a.z, b.z),
                image_paired(a.w, b.w));
}
vec4 paired(vec4 a, vec4 b, vec4 c, vec4 d)
{
    return paired(paired(a, b), paired(c, d));
}

/* The place of number i in Morton order. Its even bits are the column, its odd bits the row. */
uint even_bits(uint i)
{
    i &= 0x55u;
    i = (i | i >> 1) & 0x33u;
    return (i | i >> 2) & 0x0fu;
}
uvec2 place_of(uint i)
{
    return uvec2(even_bits(i), even_bits(i >> 1));
}

/* The level to read, and the levels to make from it. */
struct source {
    bool is_floats;
    uvec2 floats;
    uint width, height;
    uint first; /* the chain's first texel of the first level made */
    uint levels;
    uvec2 last_floats; /* memory for the last level's floats, or none */
};
/* The chain's first texel of a level. Level 1 is the first one made. */
uint level_first(source from, uint level)
{
    uint first = from.first;
    for (uint k = 1u; k < level; k++)
        first += (from.width >> k) * (from.height >> k);
    return first;
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* Loads the bits of four adjacent texels, from column x on. at: the address of the first. Texels
 * after the row's end get any value. */
void load_row(source from, uvec2 at, uint x, out uint words[PIXEL_SIZE])
{
    bool is_whole = (OPTIONS & IMAGE_IN_WORDS) != 0u && x + 4u <= from.width;
    if (is_whole && (OPTIONS & IMAGE_IN_QUADS) != 0u && PIXEL_SIZE % 4u == 0u) {
        [[unroll]] for (uint q = 0u; q < PIXEL_SIZE / 4u; q++) {
            uvec4 quad = quads_at(at).v[q];
            [[unroll]] for (uint i = 0u; i < 4u; i++)
                words[4u * q + i] = quad[i];
        }
    } else if (is_whole) {
        [[unroll]] for (uint i = 0u; i < PIXEL_SIZE; i++)
            words[i] = LOAD_U32(at, i);
    } else {
        uint edge[16];
        [[unroll]] for (uint i = 0u; i < PIXEL_SIZE; i++)
            edge[i] = 0u;
        [[unroll]] for (uint p = 0u; p < 4u; p++)
            put_pixel(edge, p, PIXEL_SIZE,
                      load_pixel(address_of(at, min(p, from.width - 1u - x), PIXEL_SIZE)));
        [[unroll]] for (uint i = 0u; i < PIXEL_SIZE; i++)
            words[i] = edge[i];
    }
}
uvec4 row_bits(uint words[PIXEL_SIZE], uint p)
{
    [[unroll]] for (uint i = 0u; i < PIXEL_SIZE; i++)
        loaded[i] = words[i];
    return loaded_pixel(p * PIXEL_SIZE);
}

/* ---- stores ---------------------------------------------------------------------------------- */

layout(buffer_reference, std430, buffer_reference_align = 8) buffer pair_at {
    uvec2 bits;
};

/* Stores the code of texel (x, y) of a level, unless it is outside the level.
 * level  counted from the level read
 * first  the chain's first texel of the level */
void put_code(source from, uint level, uint first, uint x, uint y, uvec4 code)
{
    uint width = from.width >> level, height = from.height >> level;
    if (x < width && y < height)
        store_code(first + y * width + x, code);
}
/* Stores the codes of two adjacent texels of level 1. The first one is in an even column. */
void put_codes(source from, uint x, uint y, uvec4 left, uvec4 right)
{
    uint width = from.width >> 1, height = from.height >> 1;
    uint i = from.first + y * width + x;
    uvec2 at = address_of(args.out_at, i - args.skip, OUT_PIXEL_SIZE);
    bool is_pair = x + 1u < width && y < height && i >= args.skip;
    if (OUT_PIXEL_SIZE == 4u && is_pair && (at.x & 7u) == 0u) {
        pair_at(at).bits = uvec2(left.x, right.x);
        return;
    }
    put_code(from, 1u, from.first, x, y, left);
    put_code(from, 1u, from.first, x + 1u, y, right);
}
/* Stores a texel as floats if it belongs to the last level and last_floats is given. */
void put_floats(source from, uint level, uint x, uint y, vec4 texel)
{
    uint width = from.width >> level, height = from.height >> level;
    if (level == from.levels && !is_none(from.last_floats) && x < width && y < height)
        store_floats(from.last_floats, y * width + x, texel);
}
void put(source from, uint level, uint first, uvec2 place, vec4 texel)
{
    put_code(from, level, first, place.x, place.y, pixel_code(texel));
    put_floats(from, level, place.x, place.y, texel);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* Sums of 8-bit codes, two channels per word: of one texel; their mean as a texel; their mean as a
 * code. */
uvec2 codes_of(uint texel)
{
    return uvec2(image_even_codes(texel), image_odd_codes(texel));
}
vec4 codes_texel(uvec2 sums, uint log2_count)
{
    vec4 sum = vec4(sums.x & 0xffffu, sums.y & 0xffffu, sums.x >> 16, sums.y >> 16);
    return sum * (1.0 / (255.0 * float(1u << log2_count)));
}
uvec4 codes_mean(uvec2 sums, uint log2_count)
{
    return uvec4(image_codes_mean(sums.x, sums.y, log2_count), 0u, 0u, 0u);
}

/* Makes the first two levels from LANE_SIDE * LANE_SIDE texels, from (x, y) on. Returns the texel
 * of the second level. For linear bytes, in integers. */
vec4 first_levels_of_codes(source from, uint x, uint y)
{
    uint words[LANE_SIDE][PIXEL_SIZE];
    uint inside = min(x, from.width - 1u);
    uvec2 row = source_at(inside, min(y, from.height - 1u));
    [[unroll]] for (uint r = 0u; r < LANE_SIDE; r++) {
        load_row(from, row, inside, words[r]);
        if (y + r + 1u < from.height)
            row = address_add(row, args.row_bytes_low, args.row_bytes_high);
    }
    uvec2 sums[4];
    [[unroll]] for (uint q = 0u; q < 4u; q++) {
        sums[q] = uvec2(0u);
        [[unroll]] for (uint i = 0u; i < 4u; i++)
            sums[q] += codes_of(row_bits(words[(q & 2u) + (i >> 1)], 2u * (q & 1u) + (i & 1u)).x);
    }
    [[unroll]] for (uint q = 0u; q < 4u; q += 2u)
        put_codes(from, x / 2u, (y + q) / 2u, codes_mean(sums[q], 2u),
                  codes_mean(sums[q + 1u], 2u));
    if (from.levels == 1u) {
        [[unroll]] for (uint q = 0u; q < 4u; q++)
            put_floats(from, 1u, x / 2u + (q & 1u), y / 2u + (q >> 1), codes_texel(sums[q], 2u));
        return vec4(0.0);
    }
    uvec2 sum = sums[0] + sums[1] + sums[2] + sums[3];
    vec4 texel = codes_texel(sum, 4u);
    put_code(from, 2u, level_first(from, 2u), x / 4u, y / 4u, codes_mean(sum, 4u));
    put_floats(from, 2u, x / 4u, y / 4u, texel);
    return texel;
}
/* As first_levels_of_codes, for any type, two rows at a time: more rows need too many registers. */
vec4 first_levels_of_texels(source from, uint x, uint y)
{
    vec4 texel = vec4(0.0);
    uint inside = min(x, from.width - 1u);
    [[dont_unroll]] for (uint upper = 0u; upper < LANE_SIDE; upper += 2u) {
        vec4 read[2][4];
        [[unroll]] for (uint r = 0u; r < 2u; r++) {
            uint row = min(y + upper + r, from.height - 1u);
            if (from.is_floats) {
                [[unroll]] for (uint p = 0u; p < 4u; p++)
                    read[r][p] = float_texel(from.floats,
                                             row * from.width + min(x + p, from.width - 1u));
            } else {
#ifdef IMAGE_SAMPLED
                [[unroll]] for (uint p = 0u; p < 4u; p++)
                    read[r][p] = source_texel(min(x + p, from.width - 1u), row);
#else
                uint words[PIXEL_SIZE];
                load_row(from, source_at(inside, row), inside, words);
                [[unroll]] for (uint p = 0u; p < 4u; p++)
                    read[r][p] = texel_of(row_bits(words, p));
#endif
            }
        }
        vec4 left = paired(read[0][0], read[0][1], read[1][0], read[1][1]);
        vec4 right = paired(read[0][2], read[0][3], read[1][2], read[1][3]);
        uint below = (y + upper) / 2u;
        put_codes(from, x / 2u, below, pixel_code(left), pixel_code(right));
        put_floats(from, 1u, x / 2u, below, left);
        put_floats(from, 1u, x / 2u + 1u, below, right);
        vec4 both = paired(left, right);
        texel = upper == 0u ? both : paired(texel, both);
    }
    if (from.levels > 1u)
        put(from, 2u, level_first(from, 2u), uvec2(x, y) / 4u, texel);
    return texel;
}

/* Makes texel t of a level from four of the count texels in shared memory, from at on. Every fourth
 * invocation also makes a texel of the next level, and returns it. The other results are undefined.
 * Stores both texels. */
vec4 next_levels(source from, uvec2 tile, uint level, uint at, uint count)
{
    uint t = gl_LocalInvocationID.x, side = TILE_SIDE >> level;
    uint corner = at + 4u * min(t, count / 4u - 1u);
    bool is_one = t < count / 4u;
    vec4 texel =
        paired(texels[corner], texels[corner + 1u], texels[corner + 2u], texels[corner + 3u]);
    vec4 next = paired(texel, subgroupShuffleXor(texel, 1u));
    next = paired(next, subgroupShuffleXor(next, 2u));
    uint first = level_first(from, level);
    if (is_one)
        put(from, level, first, tile * side + place_of(t), texel);
    if (is_one && (t & 3u) == 0u && level < from.levels) {
        first += (from.width >> level) * (from.height >> level);
        put(from, level + 1u, first, tile * (side >> 1) + place_of(t >> 2), next);
    }
    return next;
}

/* Makes all levels of one tile. from.levels is uniform over the workgroup. */
void make_tile(source from, uvec2 tile)
{
    uint t = gl_LocalInvocationID.x;
    uvec2 corner = tile * TILE_SIDE + LANE_SIDE * place_of(t);
    vec4 texel;
    if (IN_CODES && !from.is_floats)
        texel = first_levels_of_codes(from, corner.x, corner.y);
    else
        texel = first_levels_of_texels(from, corner.x, corner.y);
    if (from.levels < 3u)
        return;
    texels[t] = texel;
    barrier();
    uint at = 0u, count = GROUP;
    for (uint level = 3u;; level += 2u) {
        if (t < max(count / 4u, SUBGROUP))
            texel = next_levels(from, tile, level, at, count);
        if (level + 1u >= from.levels)
            break;
        at += count;
        count /= 16u;
        if (t < 4u * count && (t & 3u) == 0u)
            texels[at + t / 4u] = texel;
        barrier();
    }
    if (from.levels < 5u)
        barrier(); /* the next tile overwrites texels that may not have been read yet */
}

void main()
{
    uint group = group_index();
    uint all_groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group * GROUP + gl_LocalInvocationID.x; i < args.clear_count;
         i += all_groups * GROUP)
        store_word(args.clear, i, 0u);
    if (group >= args.groups)
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
    for (uint tile = group;; tile += args.groups) {
        if (tile >= args.tiles) {
            if (from.is_floats || args.more_levels == 0u)
                return;
            memoryBarrierBuffer();
            barrier();
            if (!is_last_of(args.states, args.groups, 1u))
                return;
            /* The last workgroup continues with the floats of the last level, which fit one
             * tile. */
            from.first = level_first(from, args.levels + 1u);
            from.is_floats = true;
            from.width >>= args.levels;
            from.height >>= args.levels;
            from.levels = args.more_levels;
            from.last_floats = args.more_floats;
        }
        make_tile(from, from.is_floats ? uvec2(0u)
                                       : uvec2(tile % args.tiles_x, tile / args.tiles_x));
    }
}
