/* The distance of two meshes on the device: which pairs of nodes are near enough to hold it. Uses
 * collide_stream.k.h and collide_triangle_distance.k.h.
 *
 * An element of the stream is a pair: node of a, node of b, pose, and the bits of an upper bound of
 * the meshes' distance under that pose. If the bound is 0, the meshes certainly meet; that pair
 * then represents its pose, and the pose's other pairs are dropped.
 *
 * The view's words: those of tree a (listed below), those of tree b, the number of poses, then for
 * each pose its matrix and the words listed below. */
#define COLLIDE_VIEW_LEVELS 0u
#define COLLIDE_VIEW_LEAST  1u /* as collide_leaf_lanes has them */
#define COLLIDE_VIEW_MORE   2u
#define COLLIDE_VIEW_GROUPS                                                                        \
    8u /* plus 2 * level: the level's first group; then its number of boxes, at most 8 */
#define COLLIDE_VIEW_WORDS 34u
#define COLLIDE_VIEW_COUNT 68u
#define COLLIDE_VIEW_POSES 69u
#define COLLIDE_VIEW_ERROR 12u /* error bound of distances in doubles */
#define COLLIDE_VIEW_LIMIT 13u /* distances above it need not be computed */
#define COLLIDE_VIEW_STATE 14u
#define COLLIDE_VIEW_POSE  16u

#define COLLIDE_POSE_ABSENT   0u
#define COLLIDE_POSE_USABLE   1u
#define COLLIDE_POSE_UNUSABLE 2u /* not finite, or it moves b beyond 2^100 */

/* Bits of a step: the pairs' levels, and which sides it splits. */
#define COLLIDE_NEAR_LEVEL_BITS 0xffu
#define COLLIDE_NEAR_B_SHIFT    8u
#define COLLIDE_NEAR_SPLITS_A   0x10000u
#define COLLIDE_NEAR_SPLITS_B   0x20000u

#define COLLIDE_NEAR_MET     0u
#define COLLIDE_NEAR_DROPPED 0xffffffffu

/* The new last word of a pair, given the upper bound known for its pose; known is 0 if the meshes
 * cross. is_first: the pair is its pose's first, which then represents the pose. */
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

FUNCTION(float) collide_near_of_pose(tml_words view, uint pose, uint word)
{
    return tml_word_float(view, COLLIDE_VIEW_POSES + COLLIDE_VIEW_POSE * pose + word);
}

/* Bounds the differences of coordinates along an axis. row: the pose's row of that axis; b: the box
 * of b before the pose; a_low, a_high: the ends of a's box. */
FUNCTION(float) collide_near_reach_along(vec4 row, collide_box b, float a_low, float a_high)
{
    return abs(row.w) + max(abs(a_low), abs(a_high)) +
           abs(row.x) * max(abs(b.low.x), abs(b.high.x)) +
           abs(row.y) * max(abs(b.low.y), abs(b.high.y)) +
           abs(row.z) * max(abs(b.low.z), abs(b.high.z));
}

/* A word after a pose's matrix. a, b: the roots' boxes; limit: the same for all poses. */
FUNCTION(uint)
collide_near_pose_word(collide_rows rows, collide_box a, collide_box b, float limit, uint word)
{
    float x = collide_near_reach_along(rows.x, b, a.low.x, a.high.x);
    float y = collide_near_reach_along(rows.y, b, a.low.y, a.high.y);
    float z = collide_near_reach_along(rows.z, b, a.low.z, a.high.z);
    float most = 1.2676506e30f;                                  /* 2^100 */
    float error = max(max(x, y), z) * 5.6843964e-14f + 7.9e-31f; /* 2^-44 and a little; 2^-100 */
    bool is_usable = x <= most && y <= most && z <= most;
    if (word == COLLIDE_VIEW_ERROR)
        return floatBitsToUint(error);
    if (word == COLLIDE_VIEW_LIMIT)
        return floatBitsToUint((limit + error) * 1.0000009536743164f + 7.9e-31f);
    if (word == COLLIDE_VIEW_STATE)
        return is_usable ? COLLIDE_POSE_USABLE : COLLIDE_POSE_UNUSABLE;
    return 0u;
}

/* tree: 0 for a; COLLIDE_VIEW_WORDS for b. */
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

/* A lower bound of the squared distance of two boxes: 2^-19 of the square is subtracted for
 * rounding. */
FUNCTION(float) collide_near_squared(collide_box p, collide_box q)
{
    float x = collide_near_gap(p.low.x, p.high.x, q.low.x, q.high.x);
    float y = collide_near_gap(p.low.y, p.high.y, q.low.y, q.high.y);
    float z = collide_near_gap(p.low.z, p.high.z, q.low.z, q.high.z);
    return (x * x + y * y + z * z) * 0.9999980926513672f;
}

/* If a square is above this bound, its root is above the argument. */
FUNCTION(float) collide_near_reach(float above)
{
    return above * above * 1.0000019073486328f + 1e-36f;
}

/* The order of a greedy descent: the nearest boxes first; among boxes that meet, those with the
 * nearest centres. */
FUNCTION(float) collide_near_order(collide_box p, collide_box q)
{
    vec3 low = sub3(p.low, q.high);
    vec3 high = sub3(p.high, q.low);
    vec3 between = scale3(add3(low, high), 0.5f);
    return collide_near_squared(p, q) + dot3(between, between) * 0.0009765625f;
}

/* The last word of a pose's first pair. best: for each pose, the least distance found so far. */
FUNCTION(uint) collide_near_first_bound(tml_words best, tml_words view, uint pose)
{
    uint at = COLLIDE_VIEW_POSES + COLLIDE_VIEW_POSE * pose;
    if (tml_word(view, at + COLLIDE_VIEW_STATE) != COLLIDE_POSE_USABLE)
        return COLLIDE_NEAR_DROPPED;
    return collide_near_bound(tml_word_float(best, pose),
                              tml_word_float(view, at + COLLIDE_VIEW_ERROR),
                              tml_word(view, at + COLLIDE_VIEW_LIMIT), true);
}

FUNCTION(uvec4) collide_near_pair_at(tml_words pairs, uint i)
{
    return UVEC4(tml_word(pairs, 4u * i), tml_word(pairs, 4u * i + 1u),
                 tml_word(pairs, 4u * i + 2u), tml_word(pairs, 4u * i + 3u));
}

/* A child of a pair, one of 8; if both sides are split, one of 64. */
FUNCTION(uvec4) collide_near_child_of(uvec4 pair, uint child, uint splits)
{
    bool splits_a = (splits & COLLIDE_NEAR_SPLITS_A) != 0u;
    if (splits_a)
        pair.x = COLLIDE_WIDTH * pair.x + child % COLLIDE_WIDTH;
    if ((splits & COLLIDE_NEAR_SPLITS_B) != 0u)
        pair.y = COLLIDE_WIDTH * pair.y + (splits_a ? child / COLLIDE_WIDTH : child);
    return pair;
}

/* Is the pair of nodes on these levels near enough? If the pair represents its pose, only its first
 * child is. */
FUNCTION(bool)
collide_near_is_in(uvec4 pair, bool is_first, tml_words a_boxes, tml_words b_boxes, tml_words view,
                   uint levels)
{
    uint a_level = levels & COLLIDE_NEAR_LEVEL_BITS;
    uint b_level = levels >> COLLIDE_NEAR_B_SHIFT & COLLIDE_NEAR_LEVEL_BITS;
    if (pair.w == COLLIDE_NEAR_MET || pair.w == COLLIDE_NEAR_DROPPED)
        return pair.w == COLLIDE_NEAR_MET && is_first;
    collide_box a_box = collide_near_box(a_boxes, view, 0u, a_level, pair.x);
    collide_box b_box = collide_near_box(b_boxes, view, COLLIDE_VIEW_WORDS, b_level, pair.y);
    if (!(a_box.low.x <= a_box.high.x && b_box.low.x <= b_box.high.x))
        return false;
    b_box = collide_move_box(collide_near_rows(view, pair.z), b_box);
    return collide_near_squared(a_box, b_box) <= collide_near_reach(uintBitsToFloat(pair.w));
}

/* Descends to a pair of leaves that are near each other: splits the higher node, and follows its
 * nearest child. */
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

/* An upper bound of the meshes' distance: the distance of two triangles of a pair of leaves, chosen
 * greedily; 0 if the two certainly cross. */
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

/* As collide_near_is_in, for a leaf of a and the triangle in a slot of b. */
FUNCTION(bool)
collide_near_is_leaf(uvec4 pair, bool is_first, tml_words a_boxes, tml_words b_triangles,
                     tml_words view)
{
    uint lanes = collide_leaf_lanes(tml_word(view, COLLIDE_VIEW_WORDS + COLLIDE_VIEW_LEAST),
                                    tml_word(view, COLLIDE_VIEW_WORDS + COLLIDE_VIEW_MORE),
                                    pair.y / COLLIDE_WIDTH);
    if (pair.w == COLLIDE_NEAR_MET || pair.w == COLLIDE_NEAR_DROPPED)
        return pair.w == COLLIDE_NEAR_MET && is_first;
    if (pair.y % COLLIDE_WIDTH >= lanes)
        return false;
    collide_box box = collide_near_box_of(
        collide_near_posed(collide_near_rows(view, pair.z), b_triangles, pair.y));
    return collide_near_squared(collide_near_box(a_boxes, view, 0u, 1u, pair.x), box) <=
           collide_near_reach(uintBitsToFloat(pair.w));
}

/* As collide_near_is_in, for the triangles in two slots. */
FUNCTION(bool)
collide_near_is_triangle(uvec4 pair, bool is_first, tml_words a_triangles, tml_words b_triangles,
                         tml_words view)
{
    uint lanes = collide_leaf_lanes(tml_word(view, COLLIDE_VIEW_LEAST),
                                    tml_word(view, COLLIDE_VIEW_MORE), pair.x / COLLIDE_WIDTH);
    float above = uintBitsToFloat(pair.w);
    if (pair.w == COLLIDE_NEAR_MET || pair.w == COLLIDE_NEAR_DROPPED)
        return pair.w == COLLIDE_NEAR_MET && is_first;
    if (pair.x % COLLIDE_WIDTH >= lanes)
        return false;
    triangle_corners s = collide_near_triangle(a_triangles, pair.x);
    triangle_corners t = collide_near_posed(collide_near_rows(view, pair.z), b_triangles, pair.y);
    if (collide_near_squared(collide_near_box_of(s), collide_near_box_of(t)) >
        collide_near_reach(above))
        return false;
    return collide_near_bounds(s, t).x <= above;
}
