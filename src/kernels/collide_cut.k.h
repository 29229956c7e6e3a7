/* The nearest triangle to each sample of a block that is small compared with the mesh. First a cut
 * through the tree is made: a set of nodes that contains everything within the band around the
 * block. Each sample then searches only the nodes of the cut. Uses collide_volume.k.h and
 * collide_nearest_stream.k.h. */
#define COLLIDE_CUT      16u
#define COLLIDE_CUT_MOST 15u /* nodes of a cut; word 0 is its block */

/* The cut's nodes are leaves, unless there are more than COLLIDE_CUT_MOST. */
STRUCT_BEGIN(collide_cut)
uint count;
uint nodes[COLLIDE_CUT];
STRUCT_END(collide_cut)

FUNCTION(collide_cut)
collide_cut_about(collide_box about, float most, tml_words boxes, tml_words plan)
{
    collide_cut cut;
    collide_cut next;
    cut.count = 1u;
    cut.nodes[0] = collide_root_node(plan);
    for (uint level = tml_word(plan, COLLIDE_PLAN_LEVELS); level > 0u; level--) {
        next.count = 0u;
        for (uint i = 0u; i < cut.count; i++) {
            uint node = cut.nodes[i];
            uint index = node & ((1u << COLLIDE_LEVEL_SHIFT) - 1u);
            uint met = 0u;
            bool is_split = node >> COLLIDE_LEVEL_SHIFT == level + 1u;
            if (is_split)
                met = collide_boxes_in_reach(about, most, boxes,
                                             tml_word(plan, COLLIDE_PLAN_GROUPS + level) + index);
            if (!is_split || next.count + popcount32(met) + cut.count - i - 1u > COLLIDE_CUT_MOST) {
                next.nodes[next.count] = node;
                next.count += 1u;
            } else {
                while (met != 0u) {
                    next.nodes[next.count] =
                        level << COLLIDE_LEVEL_SHIFT | (COLLIDE_WIDTH * index + lowest_bit32(met));
                    next.count += 1u;
                    met &= met - 1u;
                }
            }
        }
        cut = next;
    }
    return cut;
}

/* A lower bound of the square of a node's distance. */
FUNCTION(float) collide_node_apart(vec3 point, uint node, tml_words boxes, tml_words plan)
{
    uint level = node >> COLLIDE_LEVEL_SHIFT;
    if (level > tml_word(plan, COLLIDE_PLAN_LEVELS))
        return 0.0f;
    collide_box box = collide_box_at(boxes, tml_word(plan, COLLIDE_PLAN_GROUPS + level),
                                     node & ((1u << COLLIDE_LEVEL_SHIFT) - 1u));
    return collide_box_apart(point, box.low, box.high);
}

/* Sorts the cut's nodes by their distance from the point, the nearest first. */
FUNCTION(collide_cut)
collide_cut_sorted(collide_cut cut, vec3 point, tml_words boxes, tml_words plan)
{
    float apart[COLLIDE_CUT];
    for (uint i = 0u; i < cut.count; i++) {
        uint node = cut.nodes[i];
        float here = collide_node_apart(point, node, boxes, plan);
        uint to = i;
        while (to > 0u && apart[to - 1u] > here) {
            apart[to] = apart[to - 1u];
            cut.nodes[to] = cut.nodes[to - 1u];
            to -= 1u;
        }
        apart[to] = here;
        cut.nodes[to] = node;
    }
    return cut;
}

/* Four words of the stored cut, from word first on: the block, the nodes, then zeros. */
FUNCTION(uvec4) collide_cut_words(collide_cut cut, uint block, uint first)
{
    uvec4 words = UVEC4(first == 0u ? block : 0u, 0u, 0u, 0u);
    if (first > 0u && first - 1u < cut.count)
        words.x = cut.nodes[first - 1u];
    if (first < cut.count)
        words.y = cut.nodes[first];
    if (first + 1u < cut.count)
        words.z = cut.nodes[first + 1u];
    if (first + 2u < cut.count)
        words.w = cut.nodes[first + 2u];
    return words;
}

/* The square of the band, computed as on the host. */
FUNCTION(double) collide_band_limit(tml_words plan, uint grid)
{
    double band = COLLIDE_DOUBLE(tml_word_float(plan, grid + COLLIDE_GRID_BAND));
    return band * band;
}

/* The nearest triangle in the nodes of the cut at word first, if it is no farther than
 * found.squared. */
FUNCTION(collide_found)
collide_find_in_cut(collide_found found, vec3 point, tml_words cuts, uint first, tml_words boxes,
                    tml_words triangles, tml_words plan)
{
    for (uint i = 1u; i < COLLIDE_CUT; i++) {
        uint node = tml_word(cuts, first + i);
        if (node == 0u)
            return found;
        float apart = collide_node_apart(point, node, boxes, plan);
        if (apart <= collide_not_less(found.squared))
            found = collide_find_in(found, point, node, apart, boxes, triangles, plan);
    }
    return found;
}

/* A sample of a block near the mesh. place: its number in the grid, COLLIDE_NONE outside the grid.
 * cut: the word at which its block's cut begins. */
STRUCT_BEGIN(collide_sample)
vec3 point;
uint place;
uint cut;
STRUCT_END(collide_sample)

/* Sample number `at` of the blocks to which the cuts belong. */
FUNCTION(collide_sample) collide_sample_at(tml_words cuts, uint at, tml_words plan)
{
    uint edge = COLLIDE_GRID_EDGE;
    uint grid = tml_word(plan, COLLIDE_PLAN_BEHIND);
    uint inner = at % (edge * edge * edge);
    uint cut = COLLIDE_CUT * (at / (edge * edge * edge));
    uvec3 first = collide_block_first(plan, grid, tml_word(cuts, cut));
    uint x = first.x + inner % edge;
    uint y = first.y + inner / edge % edge;
    uint z = first.z + inner / (edge * edge);
    uint wide = collide_grid_dim(plan, grid, 0u);
    uint high = collide_grid_dim(plan, grid, 1u);
    collide_sample here;
    here.point = VEC3(0.0f, 0.0f, 0.0f);
    here.place = COLLIDE_NONE;
    here.cut = cut;
    if (x < wide && y < high && z < collide_grid_dim(plan, grid, 2u)) {
        here.point = VEC3(collide_grid_at(plan, grid, 0u, x), collide_grid_at(plan, grid, 1u, y),
                          collide_grid_at(plan, grid, 2u, z));
        here.place = x + wide * (y + high * z);
    }
    return here;
}

/* The distance of the nearest triangle, at most the band. */
FUNCTION(float)
collide_distance_of(collide_found found, vec3 point, float band, tml_words triangles)
{
    collide_place place = collide_place_of(point, collide_corner_at(triangles, found.slot, 0u),
                                           collide_corner_at(triangles, found.slot, 1u),
                                           collide_corner_at(triangles, found.slot, 2u));
    return min(F(collide_root(place.squared)), band);
}

/* ---- in two steps ------------------------------------------------------------------------------
 * Doubles take a hundred times as long as floats, and more registers. So floats search the cut
 * first and list the triangles that may be the nearest: at most four, since few samples have
 * more. */
#define COLLIDE_MORE 0xfffffffeu

STRUCT_BEGIN(collide_open)
float most; /* upper bound of the nearest triangle's squared distance */
float lost; /* lower bound for the triangles that found no slot */
uvec4 slots;
vec4 below; /* lower bounds of the slots' squared distances */
STRUCT_END(collide_open)

FUNCTION(collide_open) collide_open_take(collide_open open, uint slot, float below, float above)
{
    open.most = min(open.most, above);
    if (open.below.x > open.most) {
        open.slots.x = slot;
        open.below.x = below;
    } else if (open.below.y > open.most) {
        open.slots.y = slot;
        open.below.y = below;
    } else if (open.below.z > open.most) {
        open.slots.z = slot;
        open.below.z = below;
    } else if (open.below.w > open.most) {
        open.slots.w = slot;
        open.below.w = below;
    } else {
        open.lost = min(open.lost, below);
    }
    return open;
}

FUNCTION(collide_open)
collide_open_leaf(collide_open open, vec3 point, uint leaf, tml_words triangles, tml_words plan)
{
    uint lanes = collide_leaf_lanes(tml_word(plan, COLLIDE_PLAN_LEAST),
                                    tml_word(plan, COLLIDE_PLAN_MORE), leaf);
    for (uint lane = 0u; lane < lanes; lane++) {
        uint slot = COLLIDE_WIDTH * leaf + lane;
        vec3 a = collide_corner_at(triangles, slot, 0u);
        vec3 b = collide_corner_at(triangles, slot, 1u);
        vec3 c = collide_corner_at(triangles, slot, 2u);
        collide_box box = collide_box_of(a, b, c);
        float below = collide_box_apart(point, box.low, box.high);
        if (below <= open.most) {
            vec2 bounds = triangle_point_bounds(point, a, b, c);
            below = max(below, bounds.x * bounds.x * COLLIDE_BELOW);
            if (below <= open.most)
                open = collide_open_take(open, slot, below,
                                         bounds.y * bounds.y * COLLIDE_ABOVE + 1.0e-36f);
        }
    }
    return open;
}

/* The triangles within the band that may be the nearest to a point; unused entries are
 * COLLIDE_NONE. The first is COLLIDE_MORE if there are more than four, or if a node of the cut is
 * higher than the leaves' parents. */
FUNCTION(uvec4)
collide_open_in_cut(vec3 point, tml_words cuts, uint first, tml_words boxes, tml_words triangles,
                    tml_words plan)
{
    collide_open open;
    uvec4 found;
    open.most = collide_not_less(collide_band_limit(plan, tml_word(plan, COLLIDE_PLAN_BEHIND)));
    open.lost = uintBitsToFloat(0x7f800000u);
    open.slots = UVEC4(COLLIDE_NONE, COLLIDE_NONE, COLLIDE_NONE, COLLIDE_NONE);
    open.below = VEC4(open.lost, open.lost, open.lost, open.lost);
    for (uint i = 1u; i < COLLIDE_CUT; i++) {
        uint node = tml_word(cuts, first + i);
        if (node == 0u)
            break;
        if (collide_node_apart(point, node, boxes, plan) <= open.most) {
            uint level = node >> COLLIDE_LEVEL_SHIFT;
            uint index = node & ((1u << COLLIDE_LEVEL_SHIFT) - 1u);
            uint group = tml_word(plan, COLLIDE_PLAN_GROUPS + 1u);
            uint leaf = level == 1u ? index : COLLIDE_WIDTH * index;
            uint end = level == 1u ? leaf + 1u : leaf + COLLIDE_WIDTH;
            if (level > 2u)
                return UVEC4(COLLIDE_MORE, COLLIDE_NONE, COLLIDE_NONE, COLLIDE_NONE);
            while (leaf < end) {
                collide_box box = collide_box_at(boxes, group, leaf);
                if (level == 1u || (collide_box_apart(point, box.low, box.high) <= open.most &&
                                    box.low.x <= box.high.x))
                    open = collide_open_leaf(open, point, leaf, triangles, plan);
                leaf += 1u;
            }
        }
    }
    found.x = open.below.x <= open.most ? open.slots.x : COLLIDE_NONE;
    found.y = open.below.y <= open.most ? open.slots.y : COLLIDE_NONE;
    found.z = open.below.z <= open.most ? open.slots.z : COLLIDE_NONE;
    found.w = open.below.w <= open.most ? open.slots.w : COLLIDE_NONE;
    if (open.lost <= open.most)
        found.x = COLLIDE_MORE;
    return found;
}
