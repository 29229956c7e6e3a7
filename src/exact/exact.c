/* How two triangles meet, case by case. All cases use two kinds of decisions of exact_signs.h: on
 * which side a point lies; and, for two intervals on one line, which end of one lies before which
 * end of the other.
 *
 * Cases are distinguished by the triangles' dimension. 2: with area. 1 (segments) and 0 (points)
 * share their code: two ends that may be equal. */
#include "exact/exact.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The intersection of the triangles. */
typedef struct meeting {
    tml_collide_class kind;
    int dimension;     /* 0: a point; 1: a segment; 2: an area; undefined for NONE */
    exact_cut ends[2]; /* for dimension 0, both equal; for 2, unused */
} meeting;

static const meeting NO_MEETING = {.kind = TML_COLLIDE_CLASS_NONE, .dimension = -1};

static exact_cut vertex_cut(int i)
{
    return (exact_cut){.from = i, .to = i, .axis = -1};
}

static meeting meeting_of(tml_collide_class kind, int dimension, exact_cut first, exact_cut second)
{
    return (meeting){kind, dimension, {first, dimension ? second : first}};
}

/* ---- a triangle across a plane or line ------------------------------------------------------- */

/* The section of a triangle with a plane, or with a line in the triangle's plane: a segment from
 * edge apex-first to edge apex-second. The apex is a vertex that is alone on its side. If there is
 * none, one vertex lies on the plane, with both others on one side of it: that vertex is the apex,
 * and is the whole section. */
typedef struct section {
    int apex, first, second;  /* vertices, in the triangle's order */
    int side;                 /* the apex's side; if that is 0, the side opposite to the others' */
    bool is_point, is_proper; /* the part is the apex; there are vertices on both sides */
} section;

/* side[i]: of vertex base + i, not all of one sign, not all 0. */
static section section_of(int base, const int side[3])
{
    int apex = -1;
    for (int i = 0; i < 3 && apex < 0; i++)
        if (side[i] != 0 && side[(i + 1) % 3] != side[i] && side[(i + 2) % 3] != side[i])
            apex = i;
    bool is_point = apex < 0;
    if (is_point)
        apex = side[0] == 0 ? 0 : side[1] == 0 ? 1 : 2;
    int next = (apex + 1) % 3, last = (apex + 2) % 3;
    return (section){.apex = base + apex,
                     .first = base + next,
                     .second = base + last,
                     .side = is_point ? -side[next] : side[apex],
                     .is_point = is_point,
                     .is_proper =
                         !is_point && (side[next] == -side[apex] || side[last] == -side[apex])};
}

static bool is_same_side(const int side[3])
{
    return side[0] != 0 && side[0] == side[1] && side[0] == side[2];
}

static bool is_zero(const int side[3])
{
    return side[0] == 0 && side[1] == 0 && side[2] == 0;
}

/* ---- two areas ------------------------------------------------------------------------------- */

/* Two triangles in one plane: the interiors of convex polygons are disjoint if and only if the line
 * of an edge separates them. */
static meeting meet_in_plane(exact_points *points)
{
    int axis = exact_axis(points, 0, 1, 2);
    bool is_apart = false;
    for (int base = 0; base < EXACT_POINTS; base += 3) {
        int inside = exact_turn(points, axis, base, base + 1, base + 2);
        for (int i = 0; i < 3; i++) {
            int most = -1; /* largest sign of a vertex; 1: inside of this edge */
            for (int k = 0; k < 3; k++) {
                int turn = exact_turn(points, axis, base + i, base + (i + 1) % 3, 3 - base + k);
                most = turn * inside > most ? turn * inside : most;
            }
            if (most < 0)
                return NO_MEETING;
            is_apart |= most == 0;
        }
    }
    if (!is_apart)
        return (meeting){.kind = TML_COLLIDE_CLASS_COPLANAR, .dimension = 2};

    /* The triangles' common points lie on one line, and in an edge or a vertex of each triangle, so
     * the ends are vertices. */
    int least = -1, greatest = -1;
    for (int base = 0; base < EXACT_POINTS; base += 3) {
        int inside = exact_turn(points, axis, base, base + 1, base + 2);
        for (int k = 3 - base; k < EXACT_POINTS - base; k++) {
            bool is_within = true;
            for (int i = 0; i < 3; i++)
                is_within &=
                    exact_turn(points, axis, base + i, base + (i + 1) % 3, k) * inside >= 0;
            if (!is_within)
                continue;
            if (least < 0 || exact_order(points, k, least) < 0)
                least = k;
            if (greatest < 0 || exact_order(points, k, greatest) > 0)
                greatest = k;
        }
    }
    assert(least >= 0);
    return meeting_of(TML_COLLIDE_CLASS_TOUCHING, exact_order(points, least, greatest) != 0,
                      vertex_cut(least), vertex_cut(greatest));
}

/* The order of two points along d = m x n, where m and n are the normals of a and b. The first
 * point is where the edge from a's apex to a_end passes through b's plane; the second is where the
 * edge from b's apex to b_end passes through a's plane. 1: in this order; 0: the same point; -1: in
 * the other order. With u and w the two edges and l d the step from the first point to the second,
 * det[u, l d, w] = l (u.n) (w.m), and the signs of (u.n) and (w.m) are minus those of the apexes'
 * sides. */
static int order_on_line(exact_points *points, const section *a, int a_end, const section *b,
                         int b_end)
{
    return exact_side(points, a->apex, a_end, b->apex, b_end) * a->side * b->side;
}

/* The section's end on the edge from the apex to vertex `end`; that vertex itself if it lies in the
 * plane. */
static exact_cut section_end(const section *a, int end, const int *sides_of_a, int base,
                             exact_cut by)
{
    if (a->is_point)
        return vertex_cut(a->apex);
    if (sides_of_a[end - base] == 0)
        return vertex_cut(end);
    by.from = a->apex;
    by.to = end;
    return by;
}

static meeting meet_areas(exact_points *points)
{
    int side_a[3], side_b[3];
    for (int i = 0; i < 3; i++)
        side_a[i] = exact_side(points, 3, 4, 5, i);
    if (is_same_side(side_a))
        return NO_MEETING;
    if (is_zero(side_a))
        return meet_in_plane(points);
    for (int i = 0; i < 3; i++)
        side_b[i] = exact_side(points, 0, 1, 2, 3 + i);
    if (is_same_side(side_b))
        return NO_MEETING;

    /* Both sections lie on the common line of the planes, with direction (normal of a) x (normal of
     * b). Along it, if the apex is on the positive side, the end on the first edge comes last. */
    section a = section_of(0, side_a), b = section_of(3, side_b);
    int a_low = a.side > 0 ? a.second : a.first, a_high = a.side > 0 ? a.first : a.second;
    int b_low = b.side > 0 ? b.first : b.second, b_high = b.side > 0 ? b.second : b.first;
    int b_after = order_on_line(points, &a, a_high, &b, b_low);  /* b begins after a ends */
    int a_before = order_on_line(points, &a, a_low, &b, b_high); /* a begins before b ends */
    if (b_after > 0 || a_before < 0)
        return NO_MEETING;

    exact_cut by_b = {.axis = -1, .u = 3, .v = 4, .w = 5}, by_a = {.axis = -1, .v = 1, .w = 2};
    exact_cut a_ends[2] = {section_end(&a, a_low, side_a, 0, by_b),
                           section_end(&a, a_high, side_a, 0, by_b)};
    exact_cut b_ends[2] = {section_end(&b, b_low, side_b, 3, by_a),
                           section_end(&b, b_high, side_b, 3, by_a)};
    if (a.is_point || b.is_point)
        return meeting_of(TML_COLLIDE_CLASS_TOUCHING, 0, a.is_point ? a_ends[0] : b_ends[0],
                          a_ends[0]);
    if (b_after == 0)
        return meeting_of(TML_COLLIDE_CLASS_TOUCHING, 0, a_ends[1], a_ends[1]);
    if (a_before == 0)
        return meeting_of(TML_COLLIDE_CLASS_TOUCHING, 0, a_ends[0], a_ends[0]);
    bool is_b_first = order_on_line(points, &a, a_low, &b, b_low) > 0;
    bool is_b_last = order_on_line(points, &a, a_high, &b, b_high) < 0;
    return meeting_of(a.is_proper && b.is_proper ? TML_COLLIDE_CLASS_CROSSING
                                                 : TML_COLLIDE_CLASS_TOUCHING,
                      1, is_b_first ? b_ends[0] : a_ends[0], is_b_last ? b_ends[1] : a_ends[1]);
}

/* ---- a segment or point with an area --------------------------------------------------------- */

static bool is_within_area(exact_points *points, int axis, int base, int p)
{
    int inside = exact_turn(points, axis, base, base + 1, base + 2);
    for (int i = 0; i < 3; i++)
        if (exact_turn(points, axis, base + i, base + (i + 1) % 3, p) * inside < 0)
            return false;
    return true;
}

/* p and q lie in the plane of the triangle that starts at base. */
static meeting meet_segment_in_plane(exact_points *points, int p, int q, int base)
{
    int axis = exact_axis(points, base, base + 1, base + 2), turn[3];
    if (exact_order(points, p, q) == 0)
        return is_within_area(points, axis, base, p)
                   ? meeting_of(TML_COLLIDE_CLASS_DEGENERATE, 0, vertex_cut(p), vertex_cut(p))
                   : NO_MEETING;
    for (int i = 0; i < 3; i++)
        turn[i] = exact_turn(points, axis, p, q, base + i);
    if (is_same_side(turn))
        return NO_MEETING;

    /* The triangle's section with the line p q. For a point x on that line, det[apex - end, x -
     * apex] times the apex's side has the sign of x's position relative to the section's end, along
     * q - p. */
    section area = section_of(base, turn);
    bool is_second_last =
        area.side * exact_turn(points, axis, base, base + 1, base + 2) > 0 || area.is_point;
    int low = is_second_last ? area.first : area.second;
    int high = is_second_last ? area.second : area.first;
    int p_to_low = exact_turn(points, axis, area.apex, low, p) * area.side;
    int p_to_high = exact_turn(points, axis, area.apex, high, p) * area.side;
    int q_to_low = exact_turn(points, axis, area.apex, low, q) * area.side;
    int q_to_high = exact_turn(points, axis, area.apex, high, q) * area.side;
    if (p_to_high > 0 || q_to_low < 0)
        return NO_MEETING;
    exact_cut by = {.axis = axis, .u = p, .v = q};
    exact_cut begin = p_to_low < 0 ? section_end(&area, low, turn, base, by) : vertex_cut(p);
    exact_cut end = q_to_high > 0 ? section_end(&area, high, turn, base, by) : vertex_cut(q);
    bool is_point = area.is_point || p_to_high == 0 || q_to_low == 0;
    return meeting_of(TML_COLLIDE_CLASS_DEGENERATE, !is_point,
                      p_to_high == 0  ? vertex_cut(p)
                      : q_to_low == 0 ? vertex_cut(q)
                                      : begin,
                      end);
}

static meeting meet_segment_area(exact_points *points, int p, int q, int base)
{
    int side_p = exact_side(points, base, base + 1, base + 2, p);
    int side_q = exact_side(points, base, base + 1, base + 2, q);
    if (side_p == 0 && side_q == 0)
        return meet_segment_in_plane(points, p, q, base);
    if (side_p * side_q > 0)
        return NO_MEETING;
    bool has_positive = false,
         has_negative = false; /* edges that the line p q passes on that side */
    for (int i = 0; i < 3; i++) {
        int side = exact_side(points, p, q, base + i, base + (i + 1) % 3);
        has_positive |= side > 0;
        has_negative |= side < 0;
    }
    if (has_positive && has_negative)
        return NO_MEETING;
    exact_cut cut = side_p == 0   ? vertex_cut(p)
                    : side_q == 0 ? vertex_cut(q)
                                  : (exact_cut){p, q, -1, base, base + 1, base + 2};
    return meeting_of(TML_COLLIDE_CLASS_DEGENERATE, 0, cut, cut);
}

/* ---- segments and points --------------------------------------------------------------------- */

/* An axis along which three of the two segments' ends are not projected to one line; -1 if all four
 * ends lie on one line. */
static int axis_of_segments(exact_points *points, const int p[2], const int q[2])
{
    int axis = exact_axis(points, p[0], p[1], q[0]);
    if (axis < 0)
        axis = exact_axis(points, p[0], p[1], q[1]);
    if (axis < 0)
        axis = exact_axis(points, q[0], q[1], p[0]);
    return axis < 0 ? exact_axis(points, q[0], q[1], p[1]) : axis;
}

/* p and q: the lesser end first. */
static meeting meet_segments(exact_points *points, const int p[2], const int q[2])
{
    int axis = axis_of_segments(points, p, q);
    if (axis < 0) {
        int begin = exact_order(points, p[0], q[0]) > 0 ? p[0] : q[0];
        int end = exact_order(points, p[1], q[1]) < 0 ? p[1] : q[1];
        int order = exact_order(points, begin, end);
        return order > 0 ? NO_MEETING
                         : meeting_of(TML_COLLIDE_CLASS_DEGENERATE, order < 0, vertex_cut(begin),
                                      vertex_cut(end));
    }
    if (exact_side(points, p[0], p[1], q[0], q[1]) != 0)
        return NO_MEETING;
    int turn[2], other[2];
    for (int i = 0; i < 2; i++) {
        turn[i] = exact_turn(points, axis, p[0], p[1], q[i]);
        other[i] = exact_turn(points, axis, q[0], q[1], p[i]);
    }
    if (turn[0] * turn[1] > 0 || other[0] * other[1] > 0)
        return NO_MEETING;
    exact_cut cut = turn[0] == 0   ? vertex_cut(q[0])
                    : turn[1] == 0 ? vertex_cut(q[1])
                                   : (exact_cut){q[0], q[1], axis, p[0], p[1], 0};
    return meeting_of(TML_COLLIDE_CLASS_DEGENERATE, 0, cut, cut);
}

/* ---- triangles of any kind ------------------------------------------------------------------- */

/* The ends of a triangle that has no area, the lesser first. */
static void find_ends(const exact_points *points, int base, int ends[2])
{
    ends[0] = ends[1] = base;
    for (int i = base + 1; i < base + 3; i++) {
        if (exact_order(points, i, ends[0]) < 0)
            ends[0] = i;
        if (exact_order(points, i, ends[1]) > 0)
            ends[1] = i;
    }
}

static meeting meet(exact_points *points)
{
    bool has_area_a = exact_axis(points, 0, 1, 2) >= 0,
         has_area_b = exact_axis(points, 3, 4, 5) >= 0;
    if (has_area_a && has_area_b)
        return meet_areas(points);
    int a[2], b[2];
    find_ends(points, 0, a);
    find_ends(points, 3, b);
    if (has_area_b)
        return meet_segment_area(points, a[0], a[1], 3);
    if (has_area_a)
        return meet_segment_area(points, b[0], b[1], 0);
    return meet_segments(points, a, b);
}

static bool is_less(const float a[3], const float b[3])
{
    for (int c = 0; c < 3; c++)
        if (a[c] != b[c])
            return a[c] < b[c];
    return false;
}

static tml_collide_class exact_report(exact_points *points, const meeting *found, float segment[6])
{
    if (!segment)
        return found->kind;
    if (found->dimension < 0 || found->dimension > 1) {
        for (int i = 0; i < 6; i++)
            segment[i] = NAN;
        return found->kind;
    }
    float ends[2][3];
    exact_cut_round(points, &found->ends[0], ends[0]);
    exact_cut_round(points, &found->ends[1], ends[1]);
    bool is_swapped = is_less(ends[1], ends[0]);
    memcpy(segment, ends[is_swapped], sizeof ends[0]);
    memcpy(segment + 3, ends[!is_swapped], sizeof ends[1]);
    return found->kind;
}

tml_collide_class collide_exact(const float a[9], const float b[9], float segment[6])
{
    exact_points points;
    exact_points_load(&points, a, b);
    meeting found = meet(&points);
    return exact_report(&points, &found, segment);
}

tml_collide_class collide_exact_neighbours(const float a[9], const float b[9], float segment[6])
{
    exact_points points;
    exact_points_load(&points, a, b);
    int shared[3], shared_count = 0; /* different places, vertices of a */
    for (int i = 0; i < 3; i++) {
        bool is_shared = false, is_new = true;
        for (int k = 3; k < EXACT_POINTS; k++)
            is_shared |= exact_order(&points, i, k) == 0;
        for (int k = 0; k < shared_count; k++)
            is_new &= exact_order(&points, i, shared[k]) != 0;
        if (is_shared && is_new)
            shared[shared_count++] = i;
    }
    meeting found = meet(&points);
    /* With one shared corner, the triangles share nothing else if they meet in a point. With a
     * shared edge, they share nothing else if they meet in a segment; unless both are segments,
     * whose intersection may be another segment. */
    bool is_all_shared = shared_count == 1 && found.dimension == 0;
    if (shared_count == 2 && found.dimension == 1) {
        is_all_shared = true;
        for (int i = 0; i < 2; i++) {
            int end = found.ends[i].from;
            assert(end == found.ends[i].to || found.kind != TML_COLLIDE_CLASS_DEGENERATE);
            is_all_shared &= found.kind != TML_COLLIDE_CLASS_DEGENERATE ||
                             exact_order(&points, end, shared[0]) == 0 ||
                             exact_order(&points, end, shared[1]) == 0;
        }
    }
    if (is_all_shared)
        found = NO_MEETING;
    return exact_report(&points, &found, segment);
}
