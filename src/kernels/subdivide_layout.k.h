/* Subdivide: the numbers that the formulas (subdivide.k.h) and the host share. C and GLSL read it before them. */
#ifndef TML_SUBDIVIDE_LAYOUT_K_H
#define TML_SUBDIVIDE_LAYOUT_K_H

#define LOOP_NONE     0xffffffffu
#define LOOP_OUTSIDE  0xfffffffeu
#define LOOP_INFINITE 10.0f /* sharpness that levels do not wear off */

/* Bits of a call's flags. */
#define LOOP_REFINED 1u /* neighbours are the middles of edges, not their other ends */
#define LOOP_PINNED  2u /* new vertices of a boundary are corners */
#define LOOP_LINEAR  4u /* no smoothing at all */

#endif
