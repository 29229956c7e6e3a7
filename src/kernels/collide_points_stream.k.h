/* The side of a point with respect to a mesh, on the device. One thread follows the point's ray
 * down the tree's boxes. It tests all children of a node at a time and keeps the children to visit
 * as bits, which replace a stack. The children of box i of a level are boxes 8 i to 8 i + 7 of the
 * level below.
 *
 * The plan's words, all that the walk needs to know of the tree: */
#define COLLIDE_PLAN_LEVELS 0u
#define COLLIDE_PLAN_LEAST  1u /* as collide_leaf_lanes has them */
#define COLLIDE_PLAN_MORE   2u
#define COLLIDE_PLAN_LOW    3u /* the tree's box */
#define COLLIDE_PLAN_HIGH   6u
#define COLLIDE_PLAN_GROUPS 9u  /* plus the level's number: the level's first group */
#define COLLIDE_PLAN_BEHIND 22u /* the first word after the numbers of the slots' triangles */
#define COLLIDE_PLAN_WORDS  24u

/* Sides, as in tml_tree_side; and the code for a point that exact arithmetic must decide. */
#define COLLIDE_OUTSIDE     0u
#define COLLIDE_INSIDE      1u
#define COLLIDE_SIDE_UNSURE 3u

/* Factors that bound the squared distance of boxes from below and from above. A difference, its
 * square and the sums take at most 7 roundings of 2^-23 each. Flushes to 0 only lower the
 * result. */
#define COLLIDE_BELOW 0.9999980926513672f /* 1 - 2^-19 */
#define COLLIDE_ABOVE 1.0000019073486328f

/* Rotates the coordinates so that axis comes first. */
FUNCTION(vec3) collide_from_axis(vec3 p, uint axis)
{
    if (axis == 0u)
        return p;
    return axis == 1u ? VEC3(p.y, p.z, p.x) : VEC3(p.z, p.x, p.y);
}

/* The direction of the shortest way out of the tree's box: the axis, plus 4 towards lower
 * coordinates; 8 if the point is outside the box. */
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

/* A lane's coordinates in a group, rotated so that axis comes first. */
FUNCTION(vec3) collide_lane_from_axis(tml_words groups, uint at, uint axis)
{
    uint next = axis < 2u ? axis + 1u : 0u;
    uint last = 3u - axis - next;
    return VEC3(tml_word_float(groups, at + COLLIDE_WIDTH * axis),
                tml_word_float(groups, at + COLLIDE_WIDTH * next),
                tml_word_float(groups, at + COLLIDE_WIDTH * last));
}

/* A bit for each of four numbers that is at most x, and at least x respectively. */
FUNCTION(uint) collide_at_most(vec4 v, float x)
{
    return U(v.x <= x) | U(v.y <= x) << 1u | U(v.z <= x) << 2u | U(v.w <= x) << 3u;
}

FUNCTION(uint) collide_at_least(vec4 v, float x)
{
    return U(v.x >= x) | U(v.y >= x) << 1u | U(v.z >= x) << 2u | U(v.w >= x) << 3u;
}

/* A bit for each box of a group whose lower end along an axis is at most x, and whose upper end is
 * at least x respectively. */
FUNCTION(uint) collide_begin_by(tml_words boxes, uint group, uint axis, float x)
{
    uint at = (COLLIDE_BOX_WORDS * group + COLLIDE_WIDTH * axis) / 4u;
    return collide_at_most(tml_word_vec4(boxes, at), x) |
           collide_at_most(tml_word_vec4(boxes, at + 1u), x) << 4u;
}

FUNCTION(uint) collide_end_after(tml_words boxes, uint group, uint axis, float x)
{
    uint at = (COLLIDE_BOX_WORDS * group + COLLIDE_HIGH_WORDS + COLLIDE_WIDTH * axis) / 4u;
    return collide_at_least(tml_word_vec4(boxes, at), x) |
           collide_at_least(tml_word_vec4(boxes, at + 1u), x) << 4u;
}

/* A bit for each box of a group that the ray meets. */
FUNCTION(uint) collide_ray_boxes(vec3 p, tml_words boxes, uint group, uint axis, bool is_back)
{
    uint next = axis < 2u ? axis + 1u : 0u;
    uint last = 3u - axis - next;
    uint ahead = is_back ? collide_begin_by(boxes, group, axis, p.x)
                         : collide_end_after(boxes, group, axis, p.x);
    return ahead & collide_begin_by(boxes, group, next, p.y) &
           collide_end_after(boxes, group, next, p.y) & collide_begin_by(boxes, group, last, p.z) &
           collide_end_after(boxes, group, last, p.z);
}

/* A slot's crossing in the lower 31 bits: 0 or 1 for the even-odd rule; 0, 1 or -1 (modulo 2^31)
 * for the winding rule. If the crossing is unsure, bit 31 alone is set. */
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

/* A depth-first walk of a tree; its state is the children of one node that are left to visit. */
STRUCT_BEGIN(collide_walk)
uint level;  /* of the children; 0: the walk is at its end */
uint node;   /* their parent's number */
uint left;   /* a bit for each child */
uvec4 above; /* the bits of the ancestors' levels, a byte each, the parent's lowest */
STRUCT_END(collide_walk)

FUNCTION(collide_walk) collide_walk_from(uint level)
{
    collide_walk walk;
    walk.level = level;
    walk.node = 0u;
    walk.left = 0u;
    walk.above = UVEC4(0u, 0u, 0u, 0u);
    return walk;
}

/* The group of the children's boxes. */
FUNCTION(uint) collide_walk_group(collide_walk walk, tml_words plan)
{
    return tml_word(plan, COLLIDE_PLAN_GROUPS + walk.level) + walk.node;
}

/* The number of the first child that is left. */
FUNCTION(uint) collide_walk_next(collide_walk walk)
{
    return COLLIDE_WIDTH * walk.node + lowest_bit32(walk.left);
}

/* Descends to the children of the next child; the caller sets their bits in left. */
FUNCTION(collide_walk) collide_walk_down(collide_walk walk)
{
    uvec4 a = walk.above;
    walk.node = collide_walk_next(walk);
    walk.above = UVEC4(a.x << 8u | (walk.left & (walk.left - 1u)), a.y << 8u | a.x >> 24u,
                       a.z << 8u | a.y >> 24u, a.w << 8u | a.z >> 24u);
    walk.left = 0u;
    walk.level -= 1u;
    return walk;
}

/* Ascends to the siblings of the node that are left to visit, in a tree of so many levels. */
FUNCTION(collide_walk) collide_walk_up(collide_walk walk, uint levels)
{
    uvec4 a = walk.above;
    walk.node /= COLLIDE_WIDTH;
    walk.left = a.x & 0xffu;
    walk.above =
        UVEC4(a.x >> 8u | a.y << 24u, a.y >> 8u | a.z << 24u, a.z >> 8u | a.w << 24u, a.w >> 8u);
    walk.level = walk.level < levels ? walk.level + 1u : 0u;
    return walk;
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
    collide_walk walk = collide_walk_from(way < 8u ? levels : 0u);
    uint sum = 0u;
    if (walk.level > 0u)
        walk.left = collide_ray_boxes(p, boxes, collide_walk_group(walk, plan), axis, is_back);
    while (walk.level > 0u) {
        if (walk.left == 0u) {
            walk = collide_walk_up(walk, levels);
        } else if (walk.level > 1u) {
            walk = collide_walk_down(walk);
            walk.left = collide_ray_boxes(p, boxes, collide_walk_group(walk, plan), axis, is_back);
        } else {
            uint leaf = collide_walk_next(walk);
            uint lanes = collide_leaf_lanes(tml_word(plan, COLLIDE_PLAN_LEAST),
                                            tml_word(plan, COLLIDE_PLAN_MORE), leaf);
            for (uint lane = 0u; lane < lanes; lane++) {
                uint more = collide_ray_slot(p, triangles, COLLIDE_WIDTH * leaf + lane, axis,
                                             is_back, is_winding);
                if (more == 0x80000000u)
                    return COLLIDE_SIDE_UNSURE;
                sum = (sum + more) & 0x7fffffffu;
            }
            walk.left &= walk.left - 1u;
        }
    }
    return (is_winding ? sum != 0u : (sum & 1u) != 0u) ? COLLIDE_INSIDE : COLLIDE_OUTSIDE;
}

/* Is a coordinate so small that devices may flush it, or a difference, to 0? */
FUNCTION(bool) collide_is_small(float x)
{
    uint bits = floatBitsToUint(x) & 0x7fffffffu;
    return bits != 0u && bits < 0x0d800000u; /* 2^-100 */
}

FUNCTION(bool) collide_is_finite(float x)
{
    return (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u;
}
