/* A tree built and fitted as streams: the triangles of a mesh, the halving of ranges, slots, boxes
 * and slabs. */

/* Of n elements in blocks, more of them of least + 1 and then the others of least: the block that
 * element at is in, its first element and its size. Ranges halved d times, the left half not the
 * smaller, are such blocks in the order of their numbers' d bits reversed, with n / 2^d for least
 * and n mod 2^d for more. */
FUNCTION(uvec3) collide_block(uint at, uint least, uint more)
{
    uint larger = more * (least + 1u);
    if (at < larger)
        return UVEC3(at / (least + 1u), at - at % (least + 1u), least + 1u);
    return UVEC3(more + (at - larger) / least, at - (at - larger) % least, least);
}

/* Along an axis, the extent of a block whose elements' order along it begins at first. */
FUNCTION(float)
collide_extent(tml_words order, tml_words middles, uint first, uint size, uint axis, uint count)
{
    uint low = tml_word(order, first + axis * size);
    uint high = tml_word(order, first + axis * size + size - 1u);
    return tml_word_float(middles, axis * count + high) -
           tml_word_float(middles, axis * count + low);
}

/* What lengths in a box are multiplied by, so that products of three do not overflow. */
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

/* 1 if a normal points as the leaf's largest, else -1. */
FUNCTION(float) collide_normal_sign(vec3 normal, vec3 largest)
{
    return dot3(normal, largest) < 0.0f ? -1.0f : 1.0f;
}

/* A direction as a slab's normal: its largest component 1 or -1; zeros if it is too short to have
 * one. */
FUNCTION(vec3) collide_slab_direction(vec3 direction)
{
    float largest = max(max(abs(direction.x), abs(direction.y)), abs(direction.z));
    if (!(largest > 1e-30f))
        return VEC3(0.0f, 0.0f, 0.0f);
    return VEC3(direction.x / largest, direction.y / largest, direction.z / largest);
}

/* A leaf's slab: across the sum of its triangles' normals, weighted by area and each reversed if it
 * points away from the largest triangle's. So the two faces of a sheet do not cancel. */
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

/* The box of a leaf's triangles; of 2^120 each way where one of them has a coordinate that is not
 * usable. */
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
