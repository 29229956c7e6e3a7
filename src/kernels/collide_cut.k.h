/* The nearest triangle to points of a block that is small beside the mesh: first a cut through the tree, of nodes in which
 * all is that may be within the band about the block, then each point looks into these. Uses collide_volume.k.h and
 * collide_nearest_stream.k.h. */
#define COLLIDE_CUT      16u
#define COLLIDE_CUT_MOST 15u /* nodes of a cut; word 0 is its block */

/* Leaves, unless there are too many. */
STRUCT_BEGIN(collide_cut)
uint count;
uint nodes[COLLIDE_CUT];
STRUCT_END(collide_cut)

/* Which children of a node on a level are in reach. */
FUNCTION(uint)
collide_children_in_reach(collide_box about, float most, uint level, uint node, tml_words boxes,
                          tml_words plan)
{
    uint group = tml_word(plan, COLLIDE_PLAN_GROUPS + level);
    uint met = 0u;
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        collide_box box = collide_box_at(boxes, group, COLLIDE_WIDTH * node + i);
        if (collide_boxes_apart(about, box) <= most && box.low.x <= box.high.x)
            met |= 1u << i;
    }
    return met;
}

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
                met = collide_children_in_reach(about, most, level, index, boxes, plan);
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

/* Not more than the square of a node's distance. */
FUNCTION(float) collide_node_apart(vec3 point, uint node, tml_words boxes, tml_words plan)
{
    uint level = node >> COLLIDE_LEVEL_SHIFT;
    if (level > tml_word(plan, COLLIDE_PLAN_LEVELS))
        return 0.0f;
    collide_box box = collide_box_at(boxes, tml_word(plan, COLLIDE_PLAN_GROUPS + level),
                                     node & ((1u << COLLIDE_LEVEL_SHIFT) - 1u));
    return collide_box_apart(point, box.low, box.high);
}

/* Nearest the point first. */
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

/* Four of its words: the block, then nodes, then zeros. */
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

/* The square of the band, as the host has it. */
FUNCTION(double) collide_band_limit(tml_words plan, uint grid)
{
    double band = COLLIDE_DOUBLE(tml_word_float(plan, grid + COLLIDE_GRID_BAND));
    return band * band;
}

/* The nearest triangle in the nodes of a cut, which begins at this word, that is not farther than found.squared. */
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
