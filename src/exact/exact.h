/* The exact answer to how two triangles meet, for any finite float vertices: subnormals, and
 * exponents that differ by hundreds, included. Nothing is rounded before a decision, there is no
 * epsilon.
 *
 * A triangle is the closed convex hull of its three vertices, taken as the real points that the
 * floats stand for. With "interior" for the triangle without its three edges, the classes are
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
 * So the class does not depend on the order of the two triangles, nor on the order of vertices
 * within them, nor on a scale by a power of two (while that makes no float overflow or lose bits).
 *
 * After: Guigue, Devillers: Fast and Robust Triangle-Triangle Overlap Test Using Orientation
 * Predicates. 2003 (everything follows from signs of determinants), with the cases of zero signs
 * made out. */
#ifndef COLLIDE_EXACT_H
#define COLLIDE_EXACT_H

#include <trommel/collide.h>

#include "exact/exact_signs.h"

/* a and b: three vertices of x, y, z each, finite. segment, or NULL: gets the two ends of what the
 * triangles have in common, x, y, z each, the lexicographically lesser first, equal when it is one
 * point; NaNs where that is nothing (NONE) or an area (COPLANAR). Each coordinate is the exact one
 * rounded to the nearest float, ties to even, zeros positive, so segments, too, are the same for
 * any order of the input. (Ends that are vertices are hence exact. With denormals flushed by the
 * caller, such results are flushed.) Reentrant; allocates nothing; uses some 3 KiB of stack. */
tml_collide_class collide_exact(const float a[9], const float b[9], float segment[6]);

/* For two triangles of one mesh that share corners (vertices in one place; -0 is 0): as
 * collide_exact, but NONE also when they have nothing in common outside of the corner or the edge
 * that they share. segment is that of the whole intersection, of which the shared corner or edge is
 * part. The same as collide_exact with no corner shared, and with three different ones, when they
 * are one triangle twice: COPLANAR, or DEGENERATE. */
tml_collide_class collide_exact_neighbours(const float a[9], const float b[9], float segment[6]);

#endif
