/* Collide: the numbers that the kernels (collide_stream.k.h) and the host share, in words of 32 bits. C and
 * GLSL read it before them. */
#ifndef TML_COLLIDE_LAYOUT_K_H
#define TML_COLLIDE_LAYOUT_K_H

#define COLLIDE_WIDTH          8u  /* children of a node, triangles of a leaf, lanes of a group */
#define COLLIDE_WIDTH_LOG2     3u
#define COLLIDE_BOX_WORDS      48u /* a group of boxes: low x of each, low y, low z, high x ... */
#define COLLIDE_HIGH_WORDS     24u /* where the highs begin in it */
#define COLLIDE_TRIANGLE_WORDS 72u /* a group of triangles: x of each one's first corner, y ... */
#define COLLIDE_CORNER_WORDS   24u /* from one corner to the next in it */
#define COLLIDE_SLAB_WORDS     5u  /* a leaf's slab (collide.k.h): normal, low, high */
#define COLLIDE_POSE_WORDS     28u /* a collide_pose (collide_internal.h) */

/* Bits of a split's levels (collide_breadth.c): those of a's and b's nodes that come out, as slots' bits; and
 * whether a mesh meets itself. */
#define COLLIDE_LEVEL_BITS    0xffu
#define COLLIDE_LEVEL_B_SHIFT 8u
#define COLLIDE_IS_SELF       0x10000u

#define COLLIDE_UNSURE_POSE 0x80000000u /* in a pair of triangles: its pose's highest bit */

#endif
