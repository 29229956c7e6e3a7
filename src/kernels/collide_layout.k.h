/* Collide: layout constants, in words of 32 bits, that the kernels (collide_stream.k.h) and the
 * host share. C and GLSL include this file first. */
#ifndef TML_COLLIDE_LAYOUT_K_H
#define TML_COLLIDE_LAYOUT_K_H

#define COLLIDE_WIDTH      8u /* children of a node, triangles of a leaf, lanes of a group */
#define COLLIDE_WIDTH_LOG2 3u
#define COLLIDE_BOX_WORDS                                                                          \
    48u /* a group of boxes: each one's low x, then low y, low z, high x ... */
#define COLLIDE_HIGH_WORDS     24u /* offset of high x in a group */
#define COLLIDE_TRIANGLE_WORDS 72u /* a group of triangles: each one's x of corner 0, then y ... */
#define COLLIDE_CORNER_WORDS   24u /* from one corner to the next in a group */
#define COLLIDE_SLAB_WORDS     5u  /* a leaf's slab (collide.k.h): normal, low, high */
#define COLLIDE_POSE_WORDS     28u /* a collide_pose (collide_internal.h) */

/* Bits of the level word of a split (collide_pairs_breadth.c): for the nodes of a and of b after
 * the split, the shift from a node's number to its first slot; and whether a mesh is tested against
 * itself. */
#define COLLIDE_LEVEL_BITS    0xffu
#define COLLIDE_LEVEL_B_SHIFT 8u
#define COLLIDE_IS_SELF       0x10000u

#define COLLIDE_UNSURE_POSE 0x80000000u /* highest bit of the pose in an unsure pair of triangles */

#endif
