/* A point against a tree on the device: one thread follows its ray through the boxes, from each to the next in order, so
 * that it needs no stack. The children of box i of a level are boxes 8 i to 8 i + 7 of the level below.
 *
 * Words of a plan: what the walk has to know of the tree. */
#define COLLIDE_PLAN_LEVELS 0u
#define COLLIDE_PLAN_LEAST  1u /* as collide_leaf_lanes has them */
#define COLLIDE_PLAN_MORE   2u
#define COLLIDE_PLAN_LOW    3u /* the tree's box */
#define COLLIDE_PLAN_HIGH   6u
#define COLLIDE_PLAN_GROUPS 9u  /* and the level's number: its first group */
#define COLLIDE_PLAN_BEHIND 22u /* where that begins which stands behind slots' triangles */
#define COLLIDE_PLAN_WORDS  24u

/* Sides, as tml_tree_side has them; and what exact arithmetic has to tell. */
#define COLLIDE_OUTSIDE     0u
#define COLLIDE_INSIDE      1u
#define COLLIDE_SIDE_UNSURE 3u

/* Bounds of a square of a distance of boxes: a difference, its square and the sums have at most 7 roundings of 2^-23
 * each, and what is flushed to 0 makes them less. */
#define COLLIDE_BELOW 0.9999980926513672f /* 1 - 2^-19 */
#define COLLIDE_ABOVE 1.0000019073486328f

/* Coordinates from an axis on. */
FUNCTION(vec3) collide_from_axis(vec3 p, uint axis)
{
    if (axis == 0u)
        return p;
    return axis == 1u ? VEC3(p.y, p.z, p.x) : VEC3(p.z, p.x, p.y);
}

/* The way out of the tree's box that is nearest, as an axis; 4 more towards lower coordinates; 8: not in the box. */
FUNCTION(uint) collide_ray_way(vec3 p, vec3 low, vec3 high)
{
    vec3 below = sub3(p, low);
    vec3 above = sub3(high, p);
    if (!(p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y &&
          p.z <= high.z))
        return 8u;
    float x = min(below.x, above.x);
    float y = min(below.y, above.y);
    float z = min(below.z, above.z);
    if (x <= y && x <= z)
        return below.x < above.x ? 4u : 0u;
    if (y <= z)
        return below.y < above.y ? 5u : 1u;
    return below.z < above.z ? 6u : 2u;
}

/* Coordinates of a lane of a group from an axis on. */
FUNCTION(vec3) collide_lane_from_axis(tml_words groups, uint at, uint axis)
{
    uint next = axis < 2u ? axis + 1u : 0u;
    uint last = 3u - axis - next;
    return VEC3(tml_word_float(groups, at + COLLIDE_WIDTH * axis),
                tml_word_float(groups, at + COLLIDE_WIDTH * next),
                tml_word_float(groups, at + COLLIDE_WIDTH * last));
}

FUNCTION(bool)
collide_ray_box(vec3 p, tml_words boxes, uint group, uint box, uint axis, bool is_back)
{
    uint at = COLLIDE_BOX_WORDS * (group + box / COLLIDE_WIDTH) + box % COLLIDE_WIDTH;
    vec3 low = collide_lane_from_axis(boxes, at, axis);
    vec3 high = collide_lane_from_axis(boxes, at + COLLIDE_HIGH_WORDS, axis);
    bool is_ahead = is_back ? low.x <= p.x : high.x >= p.x;
    return is_ahead && low.y <= p.y && high.y >= p.y && low.z <= p.z && high.z >= p.z;
}

/* A slot's crossing in the lower bits: 1 or 0 for the even-odd rule; for the other one also -1, modulo 2^31. Bit 31 alone
 * where it is unsure. */
FUNCTION(uint)
collide_ray_slot(vec3 p, tml_words triangles, uint slot, uint axis, bool is_back, bool is_winding)
{
    uint at = COLLIDE_TRIANGLE_WORDS * (slot / COLLIDE_WIDTH) + slot % COLLIDE_WIDTH;
    vec3 a = collide_lane_from_axis(triangles, at, axis);
    vec3 b = collide_lane_from_axis(triangles, at + COLLIDE_CORNER_WORDS, axis);
    vec3 c = collide_lane_from_axis(triangles, at + 2u * COLLIDE_CORNER_WORDS, axis);
    uint code = collide_ray_triangle(p, a, b, c, is_back);
    uint side = (code & COLLIDE_RAY_AROUND) != 0u ? collide_ray_side(p, a, b, c) : 4u;
    uint along = code >> 1u & 1u;
    bool is_before = (code & COLLIDE_RAY_BEFORE) != 0u;
    if (side < 4u)
        is_before = ((side & 1u) ^ along) == (is_back ? 1u : 0u);
    if (side == 0u || (code & COLLIDE_RAY_UNSURE) != 0u)
        return 0x80000000u;
    if ((code & COLLIDE_RAY_MET) == 0u || !is_before)
        return 0u;
    return is_winding && along == 0u ? 0x7fffffffu : 1u;
}

/* After a box of a level, or a slot of level 0, in order, whose inside is done: the next one's level and number; a level
 * above levels: there is none. */
FUNCTION(uvec2) collide_walk_on(uint level, uint at, uint levels)
{
    uint next = at + 1u;
    if (level >= levels)
        return UVEC2(levels + 1u, 0u);
    uint climb = min(lowest_bit32(next) / COLLIDE_WIDTH_LOG2, levels - level);
    level += climb;
    return UVEC2(level == levels ? levels + 1u : level, next >> (COLLIDE_WIDTH_LOG2 * climb));
}

/* The last slot of a leaf where this one has the leaf's last triangle. */
FUNCTION(uint) collide_walk_slot(uint slot, uint least, uint more)
{
    bool is_last =
        slot % COLLIDE_WIDTH + 1u >= collide_leaf_lanes(least, more, slot / COLLIDE_WIDTH);
    return is_last ? slot | (COLLIDE_WIDTH - 1u) : slot;
}

/* The side of a point. One loop, in which each turn looks at a box or a triangle. */
FUNCTION(uint)
collide_point_side(vec3 point, tml_words boxes, tml_words triangles, tml_words plan,
                   bool is_winding)
{
    uint way = collide_ray_way(point, tml_word_vec3(plan, COLLIDE_PLAN_LOW / 3u),
                               tml_word_vec3(plan, COLLIDE_PLAN_HIGH / 3u));
    uint levels = tml_word(plan, COLLIDE_PLAN_LEVELS);
    uint least = tml_word(plan, COLLIDE_PLAN_LEAST);
    uint most = tml_word(plan, COLLIDE_PLAN_MORE);
    uint axis = way & 3u;
    bool is_back = (way & 4u) != 0u;
    vec3 p = collide_from_axis(point, axis);
    uvec2 node = UVEC2(way < 8u ? levels : levels + 1u, 0u);
    uint sum = 0u;
    while (node.x <= levels) {
        bool goes_down = false;
        uint at = node.y;
        if (node.x == 0u) {
            uint more = collide_ray_slot(p, triangles, at, axis, is_back, is_winding);
            if (more == 0x80000000u)
                return COLLIDE_SIDE_UNSURE;
            sum = (sum + more) & 0x7fffffffu;
            at = collide_walk_slot(at, least, most);
        } else {
            uint group = tml_word(plan, COLLIDE_PLAN_GROUPS + node.x);
            goes_down = collide_ray_box(p, boxes, group, at, axis, is_back);
        }
        node = goes_down ? UVEC2(node.x - 1u, at * COLLIDE_WIDTH)
                         : collide_walk_on(node.x, at, levels);
    }
    return (is_winding ? sum != 0u : (sum & 1u) != 0u) ? COLLIDE_INSIDE : COLLIDE_OUTSIDE;
}

/* Whether a coordinate is so small that devices may take it, or a difference, for 0. */
FUNCTION(bool) collide_is_small(float x)
{
    uint bits = floatBitsToUint(x) & 0x7fffffffu;
    return bits != 0u && bits < 0x0d800000u; /* 2^-100 */
}

FUNCTION(bool) collide_is_finite(float x)
{
    return (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u;
}
