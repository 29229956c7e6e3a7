/* Gathers a soup from a welded mesh. A workgroup handles one block of triangles at a time. An
 * invocation loads a triangle's indices; then adjacent invocations write adjacent words. */
#include "surface.glsl"

ARGS_USE(surface_soup_args)

layout(constant_id = 2) const uint BOUNDED = 0u; /* 1: triangles may name vertices past the room */
layout(constant_id = 3) const uint VERTEX_WORDS = 3u; /* per position or record */
layout(constant_id = 4) const uint NORMAL_WORDS = 3u;

const uint BLOCK = SURFACE_SOUP_BLOCK;
const uint NO_VERTEX = 0xffffffffu;
shared uint corners[3u * BLOCK];

/* Loads the corners of the invocation's triangle; none of them if one is past the room. */
void load_corners(uvec2 indices, uint triangle)
{
    uvec3 corner;
    [[unroll]] for (uint i = 0u; i < 3u; i++)
        corner[i] = words_at(indices).v[3u * triangle + i];
    if (BOUNDED != 0u && any(greaterThanEqual(corner, uvec3(args.vertex_room))))
        corner = uvec3(NO_VERTEX);
    [[unroll]] for (uint i = 0u; i < 3u; i++)
        corners[3u * triangle + i] = corner[i];
}

/* Writes the elements of a block's corners. words: per element of the array. */
void gather(uvec2 from, uvec2 to, uint words, uint count, uint block)
{
    to = add64(to, mul_add64(block, 12u * BLOCK * words, 0u));
    for (uint w = gl_LocalInvocationID.x; w < count * words; w += GROUP) {
        uint corner = corners[w / words], value = 0u;
        if (BOUNDED == 0u || corner != NO_VERTEX)
            value = LOAD_U32(address_of(from, corner, 4u * words), w % words);
        words_at(to).v[w] = value;
    }
}

void main()
{
    uvec2 end = uvec2(args.triangles_low, args.triangles_high);
    if (!is_none(args.total)) {
        uvec2 total = load64(address_of_word(args.total, 2u));
        if (less64(total, end))
            end = total;
    }
    uint blocks = end.x / BLOCK | end.y << 24;
    blocks += end.x % BLOCK != 0u ? 1u : 0u;
    for (uint block = group_index(); block < blocks; block += args.groups) {
        uint count = min(sub64(end, mul_add64(block, BLOCK, 0u)).x, BLOCK);
        if (block + 1u < blocks)
            count = BLOCK;
        if (gl_LocalInvocationID.x < count)
            load_corners(add64(args.indices, mul_add64(block, 12u * BLOCK, 0u)),
                         gl_LocalInvocationID.x);
        barrier();
        gather(args.positions, args.to_positions, VERTEX_WORDS, 3u * count, block);
        if (!is_none(args.normals))
            gather(args.normals, args.to_normals, NORMAL_WORDS, 3u * count, block);
        if (!is_none(args.values))
            gather(args.values, args.to_values, 1u, 3u * count, block);
        barrier();
    }
}
