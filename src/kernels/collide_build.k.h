/* Building and refitting a tree with stream operations: the triangles of a mesh, the halving of
 * ranges, the slots, the boxes and the slabs. */

/* n elements lie in blocks: first `more` blocks of least + 1 elements, then blocks of least
 * elements. Returns the block of element at, the block's first element and its size. Ranges that
 * are halved d times, with the left half never the smaller, are such blocks, with least = n / 2^d
 * and more = n mod 2^d; a range's block has the range's number with its d bits reversed. */
FUNCTION(uvec3) collide_block(uint at, uint least, uint more)
{
    uint larger = more * (least + 1u);
    if (at < larger)
        return UVEC3(at / (least + 1u), at - at % (least + 1u), least + 1u);
    return UVEC3(more + (at - larger) / least, at - (at - larger) % least, least);
}

/* The extent of a block along an axis. first: where the block's part of order begins for axis 0. */
FUNCTION(float)
collide_extent(tml_words order, tml_words middles, uint first, uint size, uint axis, uint count)
{
    uint low = tml_word(order, first + axis * size);
    uint high = tml_word(order, first + axis * size + size - 1u);
    return tml_word_float(middles, axis * count + high) -
           tml_word_float(middles, axis * count + low);
}

/* A factor for lengths in a box, so that products of three of them do not overflow. */
FUNCTION(float) collide_box_scale(collide_box box)
{
    vec3 sides = sub3(box.high, box.low);
    float longest = max(max(sides.x, sides.y), sides.z);
    return longest > 1e-37f ? 1.0f / longest : 0.0f;
}

/* A triangle's normal, twice its area long, in lengths multiplied by scale. */
FUNCTION(vec3) collide_scaled_normal(vec3 a, vec3 b, vec3 c, float scale)
{
    vec3 u = scale3(sub3(b, a), scale);
    vec3 v = scale3(sub3(c, a), scale);
    return VEC3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
}

FUNCTION(vec3) collide_leaf_normal(tml_words triangles, uint slot, float scale)
{
    return collide_scaled_normal(collide_corner_at(triangles, slot, 0u),
                                 collide_corner_at(triangles, slot, 1u),
                                 collide_corner_at(triangles, slot, 2u), scale);
}

/* 1 if a normal points to the same side as the leaf's largest normal, else -1. */
FUNCTION(float) collide_normal_sign(vec3 normal, vec3 largest)
{
    return dot3(normal, largest) < 0.0f ? -1.0f : 1.0f;
}

/* Scales a direction to a slab's normal, whose largest component is 1 or -1. Returns zeros if the
 * direction is too short. */
FUNCTION(vec3) collide_slab_direction(vec3 direction)
{
    float largest = max(max(abs(direction.x), abs(direction.y)), abs(direction.z));
    if (!(largest > 1e-30f))
        return VEC3(0.0f, 0.0f, 0.0f);
    return VEC3(direction.x / largest, direction.y / largest, direction.z / largest);
}

/* A leaf's slab. Its normal is the sum of the triangles' normals, weighted by area; a normal that
 * points away from the largest triangle's normal is reversed first, so that the two faces of a
 * sheet do not cancel. */
FUNCTION(collide_slab) collide_leaf_slab(tml_words triangles, uint leaf, collide_box box)
{
    float scale = collide_box_scale(box);
    vec3 largest = VEC3(0.0f, 0.0f, 0.0f);
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        vec3 normal = collide_leaf_normal(triangles, COLLIDE_WIDTH * leaf + i, scale);
        if (dot3(normal, normal) > dot3(largest, largest))
            largest = normal;
    }
    vec3 sum = VEC3(0.0f, 0.0f, 0.0f);
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        vec3 normal = collide_leaf_normal(triangles, COLLIDE_WIDTH * leaf + i, scale);
        sum = add3(sum, scale3(normal, collide_normal_sign(normal, largest)));
    }
    collide_slab slab;
    slab.normal = collide_slab_direction(sum);
    slab.low = 3e38f;
    slab.high = -3e38f;
    for (uint i = 0u; i < 3u * COLLIDE_WIDTH; i++) {
        vec2 along = collide_along(
            slab.normal, collide_corner_at(triangles, COLLIDE_WIDTH * leaf + i / 3u, i % 3u));
        slab.low = min(slab.low, along.x);
        slab.high = max(slab.high, along.y);
    }
    return slab;
}

/* The box of a leaf's triangles; [-2^120, 2^120] along each axis if a triangle has an unusable
 * coordinate. */
FUNCTION(collide_box) collide_leaf_box(tml_words triangles, uint leaf)
{
    collide_box box = collide_box_of(collide_corner_at(triangles, COLLIDE_WIDTH * leaf, 0u),
                                     collide_corner_at(triangles, COLLIDE_WIDTH * leaf, 1u),
                                     collide_corner_at(triangles, COLLIDE_WIDTH * leaf, 2u));
    bool is_usable = true;
    for (uint i = 0u; i < COLLIDE_TRIANGLE_WORDS; i++)
        if (!mesh_bits_are_usable(tml_word(triangles, COLLIDE_TRIANGLE_WORDS * leaf + i)))
            is_usable = false;
    for (uint i = 3u; i < 3u * COLLIDE_WIDTH; i++) {
        vec3 p = collide_corner_at(triangles, COLLIDE_WIDTH * leaf + i / 3u, i % 3u);
        box.low = VEC3(min(box.low.x, p.x), min(box.low.y, p.y), min(box.low.z, p.z));
        box.high = VEC3(max(box.high.x, p.x), max(box.high.y, p.y), max(box.high.z, p.z));
    }
    if (!is_usable) {
        box.high = VEC3(1.329227995784916e36f, 1.329227995784916e36f, 1.329227995784916e36f);
        box.low = scale3(box.high, -1.0f);
    }
    return box;
}
