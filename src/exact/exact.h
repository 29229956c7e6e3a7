/* Decides exactly how two triangles meet, for any finite float vertices, including subnormals and
 * exponents that differ by hundreds. Nothing is rounded before a decision; there is no epsilon.
 *
 * A triangle is the closed convex hull of its three vertices, as real points. Its interior is the
 * triangle without its three edges. The classes are
 *
 *   NONE        no point in common.
 *   CROSSING    both have area, lie in different planes, and their interiors have a point in
 *               common. (Then they share a segment, and each has points on both sides of the
 *               other's plane.)
 *   COPLANAR    both have area, lie in one plane, and their interiors have a point in common. (Then
 *               they share an area.)
 *   TOUCHING    both have area and points in common, but their interiors have none: a vertex or an
 *               edge of one lies on the other, or two edges meet. In a point or in a segment.
 *   DEGENERATE  one or both have no area (three vertices on a line: a segment or a point), and they
 *               meet.
 *
 * The class does not depend on the order of the two triangles, on the order of the vertices within
 * each, or on a scale by a power of two (as long as no float overflows or loses bits).
 *
 * After: Guigue, Devillers: Fast and Robust Triangle-Triangle Overlap Test Using Orientation
 * Predicates. 2003 (everything follows from signs of determinants), extended to cases with zero
 * signs. */
#ifndef COLLIDE_EXACT_H
#define COLLIDE_EXACT_H

#include <trommel/collide.h>

#include "exact/exact_signs.h"

/* Decides how triangles a and b meet.
 *   a, b     three vertices of x, y, z each, finite
 *   segment  NULL, or receives the two ends of the intersection, x, y, z each, the
 *            lexicographically lesser first; equal ends if the intersection is a point; NaNs if it
 *            is nothing (NONE) or an area (COPLANAR)
 * Each coordinate is the exact one rounded to the nearest float, ties to even, zeros positive. So
 * the segment does not depend on the order of the input either, and ends that are vertices are
 * exact. (If the caller flushes denormals, such results are flushed.) Reentrant; allocates nothing;
 * uses about 3 KiB of stack. */
tml_collide_class collide_exact(const float a[9], const float b[9], float segment[6]);

/* As collide_exact, for two triangles of one mesh that may share corners (vertices with equal
 * positions; -0 equals 0): also NONE if they have nothing in common outside a shared corner or
 * edge. segment is that of the whole intersection, which includes the shared corner or edge. The
 * result equals that of collide_exact if no corner is shared, or if all three are: the triangles
 * are then the same, and COPLANAR or DEGENERATE. */
tml_collide_class collide_exact_neighbours(const float a[9], const float b[9], float segment[6]);

#endif
