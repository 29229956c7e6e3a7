/* Subdivide: constants that the formulas (subdivide.k.h) and the host share. C and GLSL include
 * this file first. */
#ifndef TML_SUBDIVIDE_LAYOUT_K_H
#define TML_SUBDIVIDE_LAYOUT_K_H

#define LOOP_NONE     0xffffffffu
#define LOOP_OUTSIDE  0xfffffffeu
#define LOOP_INFINITE 10.0f /* least sharpness that levels do not reduce */

/* Bits of a call's flags. */
#define LOOP_REFINED 1u /* neighbours are edge points, of the next level, not far ends of edges */
#define LOOP_PINNED  2u /* new boundary vertices are corners */
#define LOOP_LINEAR  4u /* linear subdivision, without smoothing */

/* Words of an adaptive level's sizes. */
#define LEVEL_TRIANGLES 0u
#define LEVEL_HALVES    1u
#define LEVEL_SHORT     2u /* not 0: there was no room for this level, or for one before it */
#define LEVEL_SIZES     3u

#endif
