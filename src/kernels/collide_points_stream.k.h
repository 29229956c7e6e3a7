/* A point against a tree on the device: one thread follows its ray through the boxes, from each to the next in order, so
 * that it needs no stack. The children of box i of a level are boxes 8 i to 8 i + 7 of the level below.
 *
 * Words of a plan: what the walk has to know of the tree. */
#define COLLIDE_PLAN_LEVELS 0u
#define COLLIDE_PLAN_LEAST  1u /* as collide_leaf_lanes has them */
#define COLLIDE_PLAN_MORE   2u
#define COLLIDE_PLAN_LOW    3u /* the tree's box */
#define COLLIDE_PLAN_HIGH   6u
#define COLLIDE_PLAN_GROUPS 9u /* and the level's number: its first group */
#define COLLIDE_PLAN_WORDS  24u

/* Sides, as tml_tree_side has them; and what exact arithmetic has to tell. */
#define COLLIDE_OUTSIDE     0u
#define COLLIDE_INSIDE      1u
#define COLLIDE_SIDE_UNSURE 3u

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

FUNCTION(bool) collide_ray_box(vec3 p, collide_box box, uint axis, bool is_back)
{
    vec3 low = collide_from_axis(box.low, axis);
    vec3 high = collide_from_axis(box.high, axis);
    bool is_ahead = is_back ? low.x <= p.x : high.x >= p.x;
    return is_ahead && low.y <= p.y && high.y >= p.y && low.z <= p.z && high.z >= p.z;
}

/* A leaf's crossings in the lower bits: their number for the even-odd rule, else how often the ray goes the one way more
 * than the other; and bit 31 where that is unsure. */
FUNCTION(uint)
collide_ray_leaf(vec3 p, tml_words triangles, uint leaf, uint lanes, uint axis, bool is_back,
                 bool is_winding)
{
    uint sum = 0u;
    bool is_unsure = false;
    for (uint i = 0u; i < lanes; i++) {
        uint slot = COLLIDE_WIDTH * leaf + i;
        vec3 a = collide_from_axis(collide_corner_at(triangles, slot, 0u), axis);
        vec3 b = collide_from_axis(collide_corner_at(triangles, slot, 1u), axis);
        vec3 c = collide_from_axis(collide_corner_at(triangles, slot, 2u), axis);
        uint code = collide_ray_triangle(p, a, b, c, is_back);
        uint along = code >> 1u & 1u;
        uint before = code >> 3u & 1u;
        if ((code & COLLIDE_RAY_AROUND) != 0u) {
            uint side = collide_ray_side(p, a, b, c);
            if (side == 0u)
                is_unsure = true;
            before |= is_back ? (side & 1u) ^ along : ((side & 1u) ^ along) ^ 1u;
        }
        if ((code & COLLIDE_RAY_UNSURE) != 0u)
            is_unsure = true;
        if ((code & COLLIDE_RAY_MET) != 0u && before != 0u)
            sum += is_winding && along == 0u ? 0x7fffffffu : 1u;
    }
    return is_unsure ? 0x80000000u : sum & 0x7fffffffu;
}

/* The side of a point. */
FUNCTION(uint)
collide_point_side(vec3 point, tml_words boxes, tml_words triangles, tml_words plan,
                   bool is_winding)
{
    uint way = collide_ray_way(point, tml_word_vec3(plan, COLLIDE_PLAN_LOW / 3u),
                               tml_word_vec3(plan, COLLIDE_PLAN_HIGH / 3u));
    uint levels = tml_word(plan, COLLIDE_PLAN_LEVELS);
    uint axis = way & 3u;
    bool is_back = (way & 4u) != 0u;
    vec3 p = collide_from_axis(point, axis);
    uint level = way < 8u ? levels : levels + 1u;
    uint box = 0u;
    uint sum = 0u;
    while (level <= levels) {
        uint group = tml_word(plan, COLLIDE_PLAN_GROUPS + level);
        bool is_met = collide_ray_box(p, collide_box_at(boxes, group, box), axis, is_back);
        if (is_met && level > 1u) {
            level -= 1u;
            box *= COLLIDE_WIDTH;
        } else {
            if (is_met) {
                uint lanes = collide_leaf_lanes(tml_word(plan, COLLIDE_PLAN_LEAST),
                                                tml_word(plan, COLLIDE_PLAN_MORE), box);
                uint more = collide_ray_leaf(p, triangles, box, lanes, axis, is_back, is_winding);
                if (more == 0x80000000u)
                    return COLLIDE_SIDE_UNSURE;
                sum += more;
            }
            if (level == levels)
                level += 1u;
            box += 1u;
            while (level < levels && box % COLLIDE_WIDTH == 0u) {
                box /= COLLIDE_WIDTH;
                level += 1u;
                if (level == levels)
                    level += 1u;
            }
        }
    }
    bool is_inside = is_winding ? (sum & 0x7fffffffu) != 0u : (sum & 1u) != 0u;
    return is_inside ? COLLIDE_INSIDE : COLLIDE_OUTSIDE;
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
