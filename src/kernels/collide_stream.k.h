/* Kernels that work on one pair of a stream, and the arrays that the pair indexes. A pair is two
 * nodes, or two triangle slots, and a pose. A group holds the boxes of eight siblings: one
 * coordinate of all eight, then the next (src/tree/tree_nodes.h). */

STRUCT_BEGIN(collide_box)
vec3 low;
vec3 high;
STRUCT_END(collide_box)

STRUCT_BEGIN(collide_rows)
vec4 x;
vec4 y;
vec4 z;
STRUCT_END(collide_rows)

FUNCTION(vec3) collide_lane3(tml_words groups, uint at)
{
    return VEC3(tml_word_float(groups, at), tml_word_float(groups, at + COLLIDE_WIDTH),
                tml_word_float(groups, at + 2u * COLLIDE_WIDTH));
}

/* Box number i of the level whose groups begin at group. */
FUNCTION(collide_box) collide_box_at(tml_words groups, uint group, uint i)
{
    uint at = COLLIDE_BOX_WORDS * (group + i / COLLIDE_WIDTH) + i % COLLIDE_WIDTH;
    collide_box box;
    box.low = collide_lane3(groups, at);
    box.high = collide_lane3(groups, at + COLLIDE_HIGH_WORDS);
    return box;
}

FUNCTION(vec4) collide_row_at(tml_words poses, uint at)
{
    return VEC4(tml_word_float(poses, at), tml_word_float(poses, at + 1u),
                tml_word_float(poses, at + 2u), tml_word_float(poses, at + 3u));
}

/* A pose's matrix, at the pose's first word, or its inverse, 12 words further on. */
FUNCTION(collide_rows) collide_rows_at(tml_words poses, uint at)
{
    collide_rows rows;
    rows.x = collide_row_at(poses, at);
    rows.y = collide_row_at(poses, at + 4u);
    rows.z = collide_row_at(poses, at + 8u);
    return rows;
}

FUNCTION(vec3) collide_move(collide_rows rows, vec3 p)
{
    return VEC3(collide_pose_row(rows.x, p), collide_pose_row(rows.y, p),
                collide_pose_row(rows.z, p));
}

FUNCTION(collide_box) collide_move_box(collide_rows rows, collide_box box)
{
    collide_box moved;
    moved.low = VEC3(collide_pose_low(rows.x, box.low, box.high),
                     collide_pose_low(rows.y, box.low, box.high),
                     collide_pose_low(rows.z, box.low, box.high));
    moved.high = VEC3(collide_pose_high(rows.x, box.low, box.high),
                      collide_pose_high(rows.y, box.low, box.high),
                      collide_pose_high(rows.z, box.low, box.high));
    return moved;
}

FUNCTION(collide_box) collide_widen(collide_box box, vec3 margin)
{
    box.low = sub3(box.low, margin);
    box.high = add3(box.high, margin);
    return box;
}

FUNCTION(float) collide_box_gap(collide_box p, collide_box q)
{
    return collide_gap(p.low, p.high, q.low, q.high);
}

FUNCTION(collide_box) collide_box_of(vec3 p, vec3 q, vec3 r)
{
    collide_box box;
    box.low = VEC3(min(min(p.x, q.x), r.x), min(min(p.y, q.y), r.y), min(min(p.z, q.z), r.z));
    box.high = VEC3(max(max(p.x, q.x), r.x), max(max(p.y, q.y), r.y), max(max(p.z, q.z), r.z));
    return box;
}

/* For a mesh tested against itself: is the first slot of node a at most the last slot of node b? A
 * shift of 3 bits per level maps a node to its slots. */
FUNCTION(bool) collide_in_order(uint a, uint a_shift, uint b, uint b_shift)
{
    if (a_shift >= b_shift)
        return a << (a_shift - b_shift) <= b;
    return a <= ((b + 1u) << (b_shift - a_shift)) - 1u;
}

/* Splits one node of a pair: bit i of the result is set if its child i meets the other node.
 *   split   the boxes of the split node's tree; its children's level begins at group split_group
 *           and has child_count boxes
 *   others  the boxes of the other node's tree; its level begins at group other_group
 * Boxes are compared in both nodes' frames, moved by the pose or its inverse. In b's frame, b's
 * boxes are widened by the pose's margin. */
FUNCTION(uint)
collide_split_node(uvec3 pair, tml_words split, uint split_group, uint child_count,
                   tml_words others, uint other_group, tml_words poses, bool splits_b)
{
    uint pose = COLLIDE_POSE_WORDS * pair.z;
    uint parent = splits_b ? pair.y : pair.x;
    uint other = splits_b ? pair.x : pair.y;
    collide_rows child_rows = collide_rows_at(poses, splits_b ? pose : pose + 12u);
    collide_rows other_rows = collide_rows_at(poses, splits_b ? pose + 12u : pose);
    vec3 margin = VEC3(tml_word_float(poses, pose + 24u), tml_word_float(poses, pose + 25u),
                       tml_word_float(poses, pose + 26u));
    collide_box other_own = collide_box_at(others, other_group, other);
    collide_box other_moved = collide_move_box(other_rows, other_own);
    if (!splits_b)
        other_own = collide_widen(other_own, margin);
    uint met = 0u;
    for (uint i = 0u; i < COLLIDE_WIDTH; i++) {
        uint child = COLLIDE_WIDTH * parent + i;
        if (child < child_count) {
            collide_box own = collide_box_at(split, split_group, child);
            collide_box moved = collide_move_box(child_rows, own);
            if (splits_b)
                own = collide_widen(own, margin);
            float gap = max(collide_box_gap(moved, other_own), collide_box_gap(own, other_moved));
            if (gap <= 0.0f)
                met |= 1u << i;
        }
    }
    return met;
}

/* A leaf's slab. The slabs of all leaves follow the tree's boxes, from word first on. */
FUNCTION(collide_slab) collide_slab_at(tml_words boxes, uint first, uint leaf)
{
    uint at = first + COLLIDE_SLAB_WORDS * leaf;
    collide_slab slab;
    slab.normal = VEC3(tml_word_float(boxes, at), tml_word_float(boxes, at + 1u),
                       tml_word_float(boxes, at + 2u));
    slab.low = tml_word_float(boxes, at + 3u);
    slab.high = tml_word_float(boxes, at + 4u);
    return slab;
}

/* A corner of the triangle in a slot. */
FUNCTION(vec3) collide_corner_at(tml_words triangles, uint slot, uint corner)
{
    return collide_lane3(triangles, COLLIDE_TRIANGLE_WORDS * (slot / COLLIDE_WIDTH) +
                                        COLLIDE_CORNER_WORDS * corner + slot % COLLIDE_WIDTH);
}

FUNCTION(uint) collide_reverse_bits(uint x)
{
    x = (x >> 1u & 0x55555555u) | (x & 0x55555555u) << 1u;
    x = (x >> 2u & 0x33333333u) | (x & 0x33333333u) << 2u;
    x = (x >> 4u & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4u;
    x = (x >> 8u & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8u;
    return x >> 16u | x << 16u;
}

/* How many triangles a leaf has. The host halves the triangles at each level, the left half never
 * the smaller. With n triangles and 2^k leaves, a leaf has n / 2^k triangles, and one more if its
 * number, with the k bits reversed, is less than n mod 2^k. least: n / 2^k; more: n mod 2^k,
 * shifted left by 32 - k. */
FUNCTION(uint) collide_leaf_lanes(uint least, uint more, uint leaf)
{
    return least + (collide_reverse_bits(leaf) < more ? 1u : 0u);
}

/* The children of a pair that meet: bits of certain ones, and of unsure ones. */
FUNCTION(uint) collide_children(uint met, uint mask)
{
    return ((met & mask) | (met & mask) >> 8u) & 0xffu;
}
