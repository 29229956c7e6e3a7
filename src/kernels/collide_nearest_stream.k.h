/* The triangle of a tree that is nearest to a point, on the device. One thread visits the boxes,
 * the nearest first, and skips every box that is certainly farther, by floats, than the nearest
 * triangle so far. Triangles that may be the nearest are compared in doubles, as on the host. The
 * plan's words are followed by the numbers of the triangles in its slots. */
#define COLLIDE_STACK       96u /* a node's children on each of 12 levels */
#define COLLIDE_LEVEL_SHIFT 28u
#define COLLIDE_NONE        0xffffffffu
#define COLLIDE_LEFT_OVER   0xfffffffeu /* in place of a triangle: the host answers for the point */

STRUCT_BEGIN(collide_found)
double squared;
uint slot;
uint id;
STRUCT_END(collide_found)

/* An upper bound of the double. */
FUNCTION(float) collide_not_less(double x)
{
    return F(x) * COLLIDE_ABOVE + 1.0e-36f;
}

/* No triangle yet; only triangles at most that far will be found. */
FUNCTION(collide_found) collide_found_none(double squared)
{
    collide_found found;
    found.squared = squared;
    found.slot = COLLIDE_NONE;
    found.id = COLLIDE_NONE;
    return found;
}

/* A lower bound of the squared distance between the point and the box. */
FUNCTION(float) collide_box_apart(vec3 p, vec3 low, vec3 high)
{
    float x = max(max(low.x - p.x, p.x - high.x), 0.0f);
    float y = max(max(low.y - p.y, p.y - high.y), 0.0f);
    float z = max(max(low.z - p.z, p.z - high.z), 0.0f);
    return (x * x + y * y + z * z) * COLLIDE_BELOW;
}

FUNCTION(double) collide_corners_apart(vec3 p, vec3 a, vec3 b, vec3 c)
{
    double x = COLLIDE_DOUBLE(p.x);
    double y = COLLIDE_DOUBLE(p.y);
    double z = COLLIDE_DOUBLE(p.z);
    return collide_triangle_apart(
        COLLIDE_DOUBLE(a.x) - x, COLLIDE_DOUBLE(a.y) - y, COLLIDE_DOUBLE(a.z) - z,
        COLLIDE_DOUBLE(b.x) - x, COLLIDE_DOUBLE(b.y) - y, COLLIDE_DOUBLE(b.z) - z,
        COLLIDE_DOUBLE(c.x) - x, COLLIDE_DOUBLE(c.y) - y, COLLIDE_DOUBLE(c.z) - z);
}

/* The nearer of found and the triangle in a slot. If both are equally near, the lower number
 * wins. */
FUNCTION(collide_found)
collide_nearer(collide_found found, vec3 point, uint slot, tml_words triangles, tml_words plan)
{
    uint id = tml_word(plan, COLLIDE_PLAN_WORDS + slot);
    double squared = collide_corners_apart(point, collide_corner_at(triangles, slot, 0u),
                                           collide_corner_at(triangles, slot, 1u),
                                           collide_corner_at(triangles, slot, 2u));
    if (squared < found.squared || (squared == found.squared && id < found.id)) {
        found.squared = squared;
        found.slot = slot;
        found.id = id;
    }
    return found;
}

/* The nearest of found and a leaf's triangles. If several are equally near, the lowest number wins.
 * Floats first exclude the triangles that are certainly farther than another one. One or two
 * usually remain for doubles, which take most of the time. */
FUNCTION(collide_found)
collide_leaf_nearest(collide_found found, vec3 point, tml_words triangles, tml_words plan,
                     uint leaf)
{
    uint lanes = collide_leaf_lanes(tml_word(plan, COLLIDE_PLAN_LEAST),
                                    tml_word(plan, COLLIDE_PLAN_MORE), leaf);
    float most = collide_not_less(found.squared);
    float below[COLLIDE_WIDTH];
    for (uint lane = 0u; lane < lanes; lane++) {
        uint slot = COLLIDE_WIDTH * leaf + lane;
        vec3 a = collide_corner_at(triangles, slot, 0u);
        vec3 b = collide_corner_at(triangles, slot, 1u);
        vec3 c = collide_corner_at(triangles, slot, 2u);
        collide_box box = collide_box_of(a, b, c);
        below[lane] = collide_box_apart(point, box.low, box.high);
        if (below[lane] <= most) {
            vec2 bounds = triangle_point_bounds(point, a, b, c);
            below[lane] = max(below[lane], bounds.x * bounds.x * COLLIDE_BELOW);
            most = min(most, bounds.y * bounds.y * COLLIDE_ABOVE + 1.0e-36f);
        }
    }
    for (uint lane = 0u; lane < lanes; lane++) {
        if (below[lane] <= most) {
            found = collide_nearer(found, point, COLLIDE_WIDTH * leaf + lane, triangles, plan);
            most = min(most, collide_not_less(found.squared));
        }
    }
    return found;
}

/* The nearest triangle in a node, if it is no farther than found.squared. node: its level and its
 * number; node_apart: a lower bound of the square of its distance. */
FUNCTION(collide_found)
collide_find_in(collide_found found, vec3 point, uint node, float node_apart, tml_words boxes,
                tml_words triangles, tml_words plan)
{
    float apart[COLLIDE_STACK];
    uint nodes[COLLIDE_STACK];
    uint count = 1u;
    apart[0] = node_apart;
    nodes[0] = node;
    while (count > 0u) {
        count -= 1u;
        float most = collide_not_less(found.squared);
        uint level = (nodes[count] >> COLLIDE_LEVEL_SHIFT) - 1u;
        uint index = nodes[count] & ((1u << COLLIDE_LEVEL_SHIFT) - 1u);
        if (apart[count] <= most && level == 0u)
            found = collide_leaf_nearest(found, point, triangles, plan, index);
        else if (apart[count] <= most) {
            uint first = count;
            uint at = COLLIDE_BOX_WORDS * (tml_word(plan, COLLIDE_PLAN_GROUPS + level) + index);
            for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
                vec3 low = collide_lane3(boxes, at + i);
                vec3 high = collide_lane3(boxes, at + i + COLLIDE_HIGH_WORDS);
                float here = collide_box_apart(point, low, high);
                if (here <= most && low.x <= high.x) {
                    uint to = count; /* the nearest last */
                    while (to > first && apart[to - 1u] < here) {
                        apart[to] = apart[to - 1u];
                        nodes[to] = nodes[to - 1u];
                        to -= 1u;
                    }
                    apart[to] = here;
                    nodes[to] = level << COLLIDE_LEVEL_SHIFT | (COLLIDE_WIDTH * index + i);
                    count += 1u;
                }
            }
        }
    }
    return found;
}

/* The group of boxes that contains the root, as a node. */
FUNCTION(uint) collide_root_node(tml_words plan)
{
    return (tml_word(plan, COLLIDE_PLAN_LEVELS) + 1u) << COLLIDE_LEVEL_SHIFT;
}

/* The nearest triangle, if it is no farther than found.squared. */
FUNCTION(collide_found)
collide_find(collide_found found, vec3 point, tml_words boxes, tml_words triangles, tml_words plan)
{
    return collide_find_in(found, point, collide_root_node(plan), 0.0f, boxes, triangles, plan);
}

/* Can floats decide nothing about the point? So it is where the point is so far away that squares
 * overflow, or so near an axis that devices may flush a coordinate to 0. */
FUNCTION(bool) collide_is_odd(vec3 p)
{
    float size = max(max(abs(p.x), abs(p.y)), abs(p.z));
    return !(size <= 1.0e12f) || collide_is_small(p.x) || collide_is_small(p.y) ||
           collide_is_small(p.z);
}

/* May a device flush the number to 0 when it rounds it to float? */
FUNCTION(bool) collide_is_lost(double x)
{
    return x != 0.0 && x < 1.0e-37 && x > -1.0e-37;
}
