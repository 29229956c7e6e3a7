/* Distances to a mesh at the samples of a grid, on the device. Sides: lines along x are followed
 * through the tree, and each records the samples at which it has crossed a triangle. Distances:
 * blocks of samples near the mesh search the tree. The numbers of the slots' triangles are followed
 * by the grid's words, and these by the samples' coordinates along x, y and z. */
#define COLLIDE_GRID_DIMS    0u
#define COLLIDE_GRID_WINDING 3u /* not 0: the winding rule decides sides */
#define COLLIDE_GRID_BAND    4u
#define COLLIDE_GRID_BLOCKS  5u /* large blocks along x and y */
#define COLLIDE_GRID_WORDS   7u
#define COLLIDE_GRID_EDGE                                                                          \
    4u /* samples along a block's edge; with 8, half as many samples more would be searched */
#define COLLIDE_GRID_PARTS 4u /* blocks along the edge of a large block */

#define COLLIDE_LINE_END    0xffffffffu /* no crossing; or a line that the host has decided */
#define COLLIDE_LINE_UNSURE 0xfffffffeu
#define COLLIDE_LINE_BACK                                                                          \
    0x80000000u /* flag of a crossing: the triangle's normal points towards lower x */

FUNCTION(uint) collide_grid_dim(tml_words plan, uint grid, uint axis)
{
    return tml_word(plan, grid + COLLIDE_GRID_DIMS + axis);
}

/* The coordinate of sample i along an axis. */
FUNCTION(float) collide_grid_at(tml_words plan, uint grid, uint axis, uint i)
{
    uint at = grid + COLLIDE_GRID_WORDS + i;
    if (axis > 0u)
        at += collide_grid_dim(plan, grid, 0u);
    if (axis > 1u)
        at += collide_grid_dim(plan, grid, 1u);
    return tml_word_float(plan, at);
}

/* The first sample at which the line through p has crossed the slot's triangle, with
 * COLLIDE_LINE_BACK where it applies; LINE_END if the line misses the triangle; or LINE_UNSURE. */
FUNCTION(uint)
collide_line_slot(vec3 p, tml_words triangles, tml_words plan, uint grid, uint slot)
{
    collide_box box = collide_box_of(collide_corner_at(triangles, slot, 0u),
                                     collide_corner_at(triangles, slot, 1u),
                                     collide_corner_at(triangles, slot, 2u));
    uint count = collide_grid_dim(plan, grid, 0u);
    if (!(box.low.y <= p.y && p.y <= box.high.y && box.low.z <= p.z && p.z <= box.high.z))
        return COLLIDE_LINE_END;
    uint first = 0u;
    uint end = count;
    while (first < end) {
        uint middle = (first + end) / 2u;
        if (collide_grid_at(plan, grid, 0u, middle) < box.low.x)
            first = middle + 1u;
        else
            end = middle;
    }
    for (uint i = first; i < count; i++) {
        p.x = collide_grid_at(plan, grid, 0u, i);
        uint crossed = collide_ray_slot(p, triangles, slot, 0u, true, true);
        if (crossed == 0x80000000u)
            return COLLIDE_LINE_UNSURE;
        if (crossed != 0u)
            return crossed == 1u ? i : i | COLLIDE_LINE_BACK;
        if (p.x > box.high.x)
            return COLLIDE_LINE_END;
    }
    return COLLIDE_LINE_END;
}

/* The crossings of a line. count: how many, or LINE_UNSURE; first: the first four that the walk
 * finds; last: the one that it finds last. */
STRUCT_BEGIN(collide_crossings)
uint count;
uint last;
uvec4 first;
STRUCT_END(collide_crossings)

/* Number k of the first four. */
FUNCTION(uint) collide_crossing_of(uvec4 first, uint k)
{
    if (k < 2u)
        return k == 0u ? first.x : first.y;
    return k == 2u ? first.z : first.w;
}

/* Finds all crossings of a line, or the first `want`. */
FUNCTION(collide_crossings)
collide_line(uint line, uint want, tml_words boxes, tml_words triangles, tml_words plan)
{
    uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
    uint levels = tml_word(plan, COLLIDE_PLAN_LEVELS);
    uint high = collide_grid_dim(plan, grid, 1u);
    vec3 p = VEC3(collide_grid_at(plan, grid, 0u, collide_grid_dim(plan, grid, 0u) - 1u),
                  collide_grid_at(plan, grid, 1u, line % high),
                  collide_grid_at(plan, grid, 2u, line / high));
    collide_walk walk = collide_walk_from(levels);
    collide_crossings found;
    found.count = 0u;
    found.last = COLLIDE_LINE_END;
    found.first = UVEC4(COLLIDE_LINE_END, COLLIDE_LINE_END, COLLIDE_LINE_END, COLLIDE_LINE_END);
    walk.left = collide_ray_boxes(p, boxes, collide_walk_group(walk, plan), 0u, true);
    while (walk.level > 0u) {
        if (walk.left == 0u) {
            walk = collide_walk_up(walk, levels);
        } else if (walk.level > 1u) {
            walk = collide_walk_down(walk);
            walk.left = collide_ray_boxes(p, boxes, collide_walk_group(walk, plan), 0u, true);
        } else {
            uint leaf = collide_walk_next(walk);
            uint lanes = collide_leaf_lanes(tml_word(plan, COLLIDE_PLAN_LEAST),
                                            tml_word(plan, COLLIDE_PLAN_MORE), leaf);
            for (uint lane = 0u; lane < lanes; lane++) {
                uint crossing =
                    collide_line_slot(p, triangles, plan, grid, COLLIDE_WIDTH * leaf + lane);
                if (crossing == COLLIDE_LINE_UNSURE) {
                    found.count = COLLIDE_LINE_UNSURE;
                    return found;
                }
                if (crossing != COLLIDE_LINE_END) {
                    found.last = crossing;
                    if (found.count == 0u)
                        found.first.x = crossing;
                    if (found.count == 1u)
                        found.first.y = crossing;
                    if (found.count == 2u)
                        found.first.z = crossing;
                    if (found.count == 3u)
                        found.first.w = crossing;
                    found.count += 1u;
                    if (found.count == want)
                        return found;
                }
            }
            walk.left &= walk.left - 1u;
        }
    }
    return found;
}

/* The first sample of a block along each axis. Blocks are numbered within their large block, large
 * blocks along x, y and z. */
FUNCTION(uvec3) collide_block_first(tml_words plan, uint grid, uint block)
{
    uint parts = COLLIDE_GRID_PARTS;
    uint wide = tml_word(plan, grid + COLLIDE_GRID_BLOCKS);
    uint high = tml_word(plan, grid + COLLIDE_GRID_BLOCKS + 1u);
    uint large = block / (parts * parts * parts);
    uint part = block % (parts * parts * parts);
    return UVEC3(COLLIDE_GRID_EDGE * (parts * (large % wide) + part % parts),
                 COLLIDE_GRID_EDGE * (parts * (large / wide % high) + part / parts % parts),
                 COLLIDE_GRID_EDGE * (parts * (large / wide / high) + part / (parts * parts)));
}

/* The number of block at, counted over the near large blocks in the list large. */
FUNCTION(uint) collide_block_number(tml_words large, uint at)
{
    uint parts = COLLIDE_GRID_PARTS * COLLIDE_GRID_PARTS * COLLIDE_GRID_PARTS;
    return tml_word(large, at / parts) * parts + at % parts;
}

FUNCTION(uvec4) collide_words4(tml_words words, uint at)
{
    return UVEC4(tml_word(words, at), tml_word(words, at + 1u), tml_word(words, at + 2u),
                 tml_word(words, at + 3u));
}

/* The box of a block of edge^3 samples. It is empty if the block is outside the grid. */
FUNCTION(collide_box) collide_block_box(tml_words plan, uint grid, uvec3 first, uint edge)
{
    collide_box box;
    uint wide = collide_grid_dim(plan, grid, 0u);
    uint high = collide_grid_dim(plan, grid, 1u);
    uint deep = collide_grid_dim(plan, grid, 2u);
    box.low = VEC3(1.0f, 1.0f, 1.0f);
    box.high = VEC3(-1.0f, -1.0f, -1.0f);
    if (first.x < wide && first.y < high && first.z < deep) {
        box.low =
            VEC3(collide_grid_at(plan, grid, 0u, first.x), collide_grid_at(plan, grid, 1u, first.y),
                 collide_grid_at(plan, grid, 2u, first.z));
        box.high = VEC3(collide_grid_at(plan, grid, 0u, min(first.x + edge, wide) - 1u),
                        collide_grid_at(plan, grid, 1u, min(first.y + edge, high) - 1u),
                        collide_grid_at(plan, grid, 2u, min(first.z + edge, deep) - 1u));
    }
    return box;
}

/* A lower bound of the squared distance of two boxes. */
FUNCTION(float) collide_boxes_apart(collide_box a, collide_box b)
{
    float x = max(max(b.low.x - a.high.x, a.low.x - b.high.x), 0.0f);
    float y = max(max(b.low.y - a.high.y, a.low.y - b.high.y), 0.0f);
    float z = max(max(b.low.z - a.high.z, a.low.z - b.high.z), 0.0f);
    return (x * x + y * y + z * z) * COLLIDE_BELOW;
}

/* An upper bound of the square of the band. */
FUNCTION(float) collide_band_squared(tml_words plan, uint grid)
{
    float band = tml_word_float(plan, grid + COLLIDE_GRID_BAND);
    return band * band * COLLIDE_ABOVE + 1.0e-36f;
}

/* A bit for each box of a group whose squared distance from `about` may be at most `most`. */
FUNCTION(uint) collide_boxes_in_reach(collide_box about, float most, tml_words boxes, uint group)
{
    uint met = 0u;
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        collide_box box = collide_box_at(boxes, group, i);
        met |= U(collide_boxes_apart(about, box) <= most && box.low.x <= box.high.x) << i;
    }
    return met;
}

/* May a triangle be within the band around a sample of the box? Decided by the triangles' boxes. */
FUNCTION(bool)
collide_is_in_reach(collide_box about, float most, tml_words boxes, tml_words triangles,
                    tml_words plan)
{
    uint levels = tml_word(plan, COLLIDE_PLAN_LEVELS);
    collide_walk walk = collide_walk_from(about.low.x <= about.high.x ? levels : 0u);
    if (walk.level > 0u)
        walk.left = collide_boxes_in_reach(about, most, boxes, collide_walk_group(walk, plan));
    while (walk.level > 0u) {
        if (walk.left == 0u) {
            walk = collide_walk_up(walk, levels);
        } else if (walk.level > 1u) {
            walk = collide_walk_down(walk);
            walk.left = collide_boxes_in_reach(about, most, boxes, collide_walk_group(walk, plan));
        } else {
            uint leaf = collide_walk_next(walk);
            uint lanes = collide_leaf_lanes(tml_word(plan, COLLIDE_PLAN_LEAST),
                                            tml_word(plan, COLLIDE_PLAN_MORE), leaf);
            for (uint lane = 0u; lane < lanes; lane++) {
                uint slot = COLLIDE_WIDTH * leaf + lane;
                collide_box box = collide_box_of(collide_corner_at(triangles, slot, 0u),
                                                 collide_corner_at(triangles, slot, 1u),
                                                 collide_corner_at(triangles, slot, 2u));
                if (collide_boxes_apart(about, box) <= most)
                    return true;
            }
            walk.left &= walk.left - 1u;
        }
    }
    return false;
}
