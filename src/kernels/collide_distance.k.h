/* The distance of two meshes on the device: what of a pair of nodes is near enough. Uses collide_stream.k.h and
 * collide_triangle_distance.k.h.
 *
 * A pair of the stream is (node of a, node of b, pose, bits of a distance): the meshes are no farther apart under that
 * pose. 0 there: they certainly meet, and the pair stands for its pose; the pose's other pairs are dropped.
 *
 * The words of the view: of tree a, then of b, what follows here; then the poses. */
#define COLLIDE_VIEW_LEVELS 0u
#define COLLIDE_VIEW_LEAST  1u /* as collide_leaf_lanes has them */
#define COLLIDE_VIEW_MORE   2u
#define COLLIDE_VIEW_GROUPS                                                                        \
    8u /* and twice a level: its first group; and how many boxes it has, 8 at most */
#define COLLIDE_VIEW_WORDS 34u
#define COLLIDE_VIEW_POSES 68u
#define COLLIDE_VIEW_POSE  12u

/* Bits of a step: the pairs' levels, and which sides it splits. */
#define COLLIDE_NEAR_LEVEL_BITS 0xffu
#define COLLIDE_NEAR_B_SHIFT    8u
#define COLLIDE_NEAR_SPLITS_A   0x10000u
#define COLLIDE_NEAR_SPLITS_B   0x20000u

#define COLLIDE_NEAR_MET     0u
#define COLLIDE_NEAR_DROPPED 0xffffffffu

/* The last word of a pair, which is the first of its pose or not, once known is known of that; 0: they cross. */
FUNCTION(uint) collide_near_bound(float known, float error, uint bound, bool is_first)
{
    if (known == 0.0f || bound == COLLIDE_NEAR_MET)
        return is_first ? COLLIDE_NEAR_MET : COLLIDE_NEAR_DROPPED;
    return floatBitsToUint(min(known + error, uintBitsToFloat(bound)));
}

FUNCTION(collide_rows) collide_near_rows(tml_words view, uint pose)
{
    return collide_rows_at(view, COLLIDE_VIEW_POSES + COLLIDE_VIEW_POSE * pose);
}

/* tree: 0 or the words of one view, for b. */
FUNCTION(collide_box)
collide_near_box(tml_words boxes, tml_words view, uint tree, uint level, uint node)
{
    return collide_box_at(boxes, tml_word(view, tree + COLLIDE_VIEW_GROUPS + 2u * level), node);
}

FUNCTION(uint) collide_near_lanes(tml_words view, uint tree, uint level)
{
    return tml_word(view, tree + COLLIDE_VIEW_GROUPS + 2u * level + 1u);
}

FUNCTION(float) collide_near_gap(float low, float high, float other_low, float other_high)
{
    return max(max(low - other_high, other_low - high), 0.0f);
}

/* The square of the distance of two boxes; at most that: 2^-19 of it is taken off for rounding. */
FUNCTION(float) collide_near_squared(collide_box p, collide_box q)
{
    float x = collide_near_gap(p.low.x, p.high.x, q.low.x, q.high.x);
    float y = collide_near_gap(p.low.y, p.high.y, q.low.y, q.high.y);
    float z = collide_near_gap(p.low.z, p.high.z, q.low.z, q.high.z);
    return (x * x + y * y + z * z) * 0.9999980926513672f;
}

/* A square that is above this one is of a distance that is above. */
FUNCTION(float) collide_near_reach(float above)
{
    return above * above * 1.0000019073486328f + 1e-36f;
}

/* Which way a greedy descent goes: nearest boxes first, and of those that meet, nearest middles. */
FUNCTION(float) collide_near_order(collide_box p, collide_box q)
{
    vec3 low = sub3(p.low, q.high);
    vec3 high = sub3(p.high, q.low);
    vec3 between = scale3(add3(low, high), 0.5f);
    return collide_near_squared(p, q) + dot3(between, between) * 0.0009765625f;
}

/* The children of pair x, y that are near enough: bit 8 j + i of 64 is for child i of a and j of b. A side that is not
 * split is its only child. */
FUNCTION(uvec2)
collide_near_children(uvec4 pair, tml_words a_boxes, tml_words b_boxes, tml_words view, uint levels)
{
    bool splits_a = (levels & COLLIDE_NEAR_SPLITS_A) != 0u;
    bool splits_b = (levels & COLLIDE_NEAR_SPLITS_B) != 0u;
    uint a_level = (levels & COLLIDE_NEAR_LEVEL_BITS) - (splits_a ? 1u : 0u);
    uint b_level =
        (levels >> COLLIDE_NEAR_B_SHIFT & COLLIDE_NEAR_LEVEL_BITS) - (splits_b ? 1u : 0u);
    uint a_first = splits_a ? COLLIDE_WIDTH * pair.x : pair.x;
    uint b_first = splits_b ? COLLIDE_WIDTH * pair.y : pair.y;
    uint a_lanes = splits_a ? collide_near_lanes(view, 0u, a_level) : 1u;
    uint b_lanes = splits_b ? collide_near_lanes(view, COLLIDE_VIEW_WORDS, b_level) : 1u;
    collide_rows rows = collide_near_rows(view, pair.z);
    float reach = collide_near_reach(uintBitsToFloat(pair.w));
    uvec2 met = UVEC2(0u, 0u);
    if (pair.w == COLLIDE_NEAR_MET || pair.w == COLLIDE_NEAR_DROPPED)
        return UVEC2(pair.w == COLLIDE_NEAR_MET ? 1u : 0u, 0u);
    for (uint j = 0u; j < b_lanes; j++) {
        collide_box b_box = collide_move_box(
            rows, collide_near_box(b_boxes, view, COLLIDE_VIEW_WORDS, b_level, b_first + j));
        uint row = 0u;
        for (uint i = 0u; i < a_lanes; i++) {
            collide_box a_box = collide_near_box(a_boxes, view, 0u, a_level, a_first + i);
            if (collide_near_squared(a_box, b_box) <= reach)
                row |= 1u << i;
        }
        if (j < 4u)
            met.x |= row << (8u * j);
        else
            met.y |= row << (8u * j - 32u);
    }
    return met;
}

/* The k-th set bit of 64. */
FUNCTION(uint) collide_near_bit(uvec2 met, uint k)
{
    uint before = popcount32(met.x);
    uint left = k < before ? met.x : met.y;
    uint count = k < before ? k : k - before;
    for (uint i = 0u; i < count; i++)
        left &= left - 1u;
    return lowest_bit32(left) + (k < before ? 0u : 32u);
}

/* A pair of leaves that is near, found by taking the nearest child of one side after the other. */
FUNCTION(uvec4)
collide_near_leaves(uvec4 pair, tml_words a_boxes, tml_words b_boxes, tml_words view, uint levels)
{
    uint a_level = levels & COLLIDE_NEAR_LEVEL_BITS;
    uint b_level = levels >> COLLIDE_NEAR_B_SHIFT & COLLIDE_NEAR_LEVEL_BITS;
    collide_rows rows = collide_near_rows(view, pair.z);
    collide_box a_box = collide_near_box(a_boxes, view, 0u, a_level, pair.x);
    collide_box b_box = collide_move_box(
        rows, collide_near_box(b_boxes, view, COLLIDE_VIEW_WORDS, b_level, pair.y));
    while (max(a_level, b_level) > 1u) {
        bool splits_b = b_level >= a_level;
        uint tree = splits_b ? COLLIDE_VIEW_WORDS : 0u;
        uint level = (splits_b ? b_level : a_level) - 1u;
        uint first = COLLIDE_WIDTH * (splits_b ? pair.y : pair.x);
        uint lanes = collide_near_lanes(view, tree, level);
        uint nearest = 0u;
        float least = 0.0f;
        collide_box taken = a_box;
        for (uint i = 0u; i < lanes; i++) {
            collide_box box = a_box;
            float order = 0.0f;
            if (splits_b) {
                box =
                    collide_move_box(rows, collide_near_box(b_boxes, view, tree, level, first + i));
                order = collide_near_order(a_box, box);
            } else {
                box = collide_near_box(a_boxes, view, tree, level, first + i);
                order = collide_near_order(box, b_box);
            }
            if (i == 0u || order < least) {
                least = order;
                nearest = i;
                taken = box;
            }
        }
        if (splits_b) {
            b_level = level;
            b_box = taken;
            pair.y = first + nearest;
        } else {
            a_level = level;
            a_box = taken;
            pair.x = first + nearest;
        }
    }
    return pair;
}

FUNCTION(triangle_corners) collide_near_triangle(tml_words triangles, uint slot)
{
    triangle_corners t;
    t.a = collide_corner_at(triangles, slot, 0u);
    t.b = collide_corner_at(triangles, slot, 1u);
    t.c = collide_corner_at(triangles, slot, 2u);
    return t;
}

FUNCTION(triangle_corners)
collide_near_posed(collide_rows rows, tml_words triangles, uint slot)
{
    triangle_corners t = collide_near_triangle(triangles, slot);
    t.a = collide_move(rows, t.a);
    t.b = collide_move(rows, t.b);
    t.c = collide_move(rows, t.c);
    return t;
}

FUNCTION(collide_box) collide_near_box_of(triangle_corners t)
{
    return collide_box_of(t.a, t.b, t.c);
}

FUNCTION(vec2) collide_near_bounds(triangle_corners s, triangle_corners t)
{
    return triangle_bounds(s.a, s.b, s.c, t.a, t.b, t.c);
}

/* No more than the distance of the meshes: that of two triangles of a pair of leaves which are near; 0 if they certainly
 * cross. */
FUNCTION(float)
collide_near_above(uvec4 leaves, tml_words a_triangles, tml_words b_triangles, tml_words view)
{
    collide_rows rows = collide_near_rows(view, leaves.z);
    triangle_corners s = collide_near_triangle(a_triangles, COLLIDE_WIDTH * leaves.x);
    collide_box box = collide_near_box_of(s);
    triangle_corners t = s;
    float least = 0.0f;
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        triangle_corners other =
            collide_near_posed(rows, b_triangles, COLLIDE_WIDTH * leaves.y + i);
        float order = collide_near_order(box, collide_near_box_of(other));
        if (i == 0u || order < least) {
            least = order;
            t = other;
        }
    }
    box = collide_near_box_of(t);
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        triangle_corners other = collide_near_triangle(a_triangles, COLLIDE_WIDTH * leaves.x + i);
        float order = collide_near_order(collide_near_box_of(other), box);
        if (i == 0u || order < least) {
            least = order;
            s = other;
        }
    }
    vec2 bounds = collide_near_bounds(s, t);
    if (bounds.x == 0.0f && collide_triangles(s.a, s.b, s.c, t.a, t.b, t.c) == COLLIDE_CROSSING)
        return 0.0f;
    return bounds.y;
}

/* Bounds of g . (p - origin), of rounded numbers. */
FUNCTION(vec2) collide_near_along(vec3 g, vec3 origin, vec3 p)
{
    vec3 r = collide_difference(p, origin);
    float along = dot3(g, r);
    float error = (abs(r.x) + abs(r.y) + abs(r.z)) * 1.9073486328125e-6f + 1e-36f;
    return VEC2(along - error, along + error);
}

FUNCTION(float) collide_near_low(vec3 g, vec3 origin, triangle_corners t)
{
    return min(min(collide_near_along(g, origin, t.a).x, collide_near_along(g, origin, t.b).x),
               collide_near_along(g, origin, t.c).x);
}

FUNCTION(float) collide_near_high(vec3 g, vec3 origin, triangle_corners t)
{
    return max(max(collide_near_along(g, origin, t.a).y, collide_near_along(g, origin, t.b).y),
               collide_near_along(g, origin, t.c).y);
}

/* The same as collide_near_children for the triangles of two leaves: near enough by their boxes, and along a line from
 * leaf to leaf. */
FUNCTION(uvec2)
collide_near_triangles(uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view)
{
    collide_rows rows = collide_near_rows(view, pair.z);
    uint a_first = COLLIDE_WIDTH * pair.x;
    uint b_first = COLLIDE_WIDTH * pair.y;
    uint a_lanes = collide_leaf_lanes(tml_word(view, COLLIDE_VIEW_LEAST),
                                      tml_word(view, COLLIDE_VIEW_MORE), pair.x);
    uint b_lanes =
        collide_leaf_lanes(tml_word(view, COLLIDE_VIEW_WORDS + COLLIDE_VIEW_LEAST),
                           tml_word(view, COLLIDE_VIEW_WORDS + COLLIDE_VIEW_MORE), pair.y);
    float above = uintBitsToFloat(pair.w);
    float reach = collide_near_reach(above);
    uvec2 met = UVEC2(0u, 0u);
    if (pair.w == COLLIDE_NEAR_MET || pair.w == COLLIDE_NEAR_DROPPED)
        return UVEC2(pair.w == COLLIDE_NEAR_MET ? 1u : 0u, 0u);
    triangle_corners one = collide_near_triangle(a_triangles, a_first);
    triangle_corners other = collide_near_triangle(a_triangles, a_first + a_lanes - 1u);
    vec3 origin = scale3(add3(one.a, other.b), 0.5f);
    one = collide_near_posed(rows, b_triangles, b_first);
    other = collide_near_posed(rows, b_triangles, b_first + b_lanes - 1u);
    vec3 g = sub3(origin, scale3(add3(one.a, other.b), 0.5f));
    float size = max(max(abs(g.x), abs(g.y)), abs(g.z));
    bool has_line = size > 1e-15f && size < 1e15f;
    g = scale3(g, has_line ? 0.9999980926513672f / sqrt(dot3(g, g)) : 0.0f);
    /* All of a, against which a triangle of b comes first. */
    collide_box leaf = collide_near_box_of(other);
    float leaf_low = 0.0f;
    for (uint i = 0u; i < a_lanes; i++) {
        triangle_corners s = collide_near_triangle(a_triangles, a_first + i);
        collide_box box = collide_near_box_of(s);
        float low = collide_near_low(g, origin, s);
        if (i == 0u) {
            leaf = box;
            leaf_low = low;
        }
        leaf.low = VEC3(min(leaf.low.x, box.low.x), min(leaf.low.y, box.low.y),
                        min(leaf.low.z, box.low.z));
        leaf.high = VEC3(max(leaf.high.x, box.high.x), max(leaf.high.y, box.high.y),
                         max(leaf.high.z, box.high.z));
        leaf_low = min(leaf_low, low);
    }
    for (uint j = 0u; j < b_lanes; j++) {
        triangle_corners t = collide_near_posed(rows, b_triangles, b_first + j);
        collide_box b_box = collide_near_box_of(t);
        float beyond = collide_near_high(g, origin, t) + above * 1.0000019073486328f;
        uint row = 0u;
        uint lanes = a_lanes;
        if (collide_near_squared(leaf, b_box) > reach || leaf_low > beyond)
            lanes = 0u;
        for (uint i = 0u; i < lanes; i++) {
            triangle_corners s = collide_near_triangle(a_triangles, a_first + i);
            if (collide_near_squared(collide_near_box_of(s), b_box) <= reach &&
                collide_near_low(g, origin, s) <= beyond)
                row |= 1u << i;
        }
        if (j < 4u)
            met.x |= row << (8u * j);
        else
            met.y |= row << (8u * j - 32u);
    }
    return met;
}
