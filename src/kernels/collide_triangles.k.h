/* Triangle intersection in floats: COLLIDE_NO, COLLIDE_CROSSING or COLLIDE_UNSURE. Exact arithmetic
 * decides the unsure pairs (exact/exact.h, which also defines "crossing").
 *
 * Error bound. Let u = 2^-23, the relative rounding error of any device in any rounding mode. Every
 * sign needed here is that of a determinant of three vertex differences, or of a dot product of
 * two. Each term takes at most 10 roundings: 3 differences, 2 products, and 5 sums in any order
 * that a compiler chooses; fewer with fused multiply-adds. The determinant's error is thus at most
 * 11 u times the sum of the terms' magnitudes. That sum is rounded with as small an error:
 * COLLIDE_RELATIVE is 16 u.
 *
 * Range. One power of two scales all differences without rounding: the largest then lies in [1, 2),
 * all others are below 4, and nothing overflows. Devices may flush magnitudes below 2^-126 to 0. If
 * all differences are below 2^-63 the pair is unsure, so before scaling a flush costs at most
 * 2^-126 2^63 = 2^-63 of the largest difference, for each end and for the difference itself: 2^-61
 * in a scaled difference, or 6 * 3 * 4^2 * 2^-61 < 2^-52 in a determinant. COLLIDE_ABSOLUTE is
 * 2^-48. After scaling, a product flushed to 0 loses 2^-126 times less than 2^10. The bits of the
 * largest difference reveal infinite and NaN coordinates, and overflow: such a pair is unsure. */
#define COLLIDE_NO       0u
#define COLLIDE_CROSSING 1u
#define COLLIDE_UNSURE   2u

#define COLLIDE_RELATIVE 1.9073486328125e-6f    /* 2^-19 */
#define COLLIDE_ABSOLUTE 3.552713678800501e-15f /* 2^-48 */

FUNCTION(vec3) collide_abs3(vec3 a)
{
    return VEC3(abs(a.x), abs(a.y), abs(a.z));
}

FUNCTION(uint) collide_largest_bits(uint largest, vec3 a)
{
    uint x = floatBitsToUint(a.x) & 0x7fffffffu;
    uint y = floatBitsToUint(a.y) & 0x7fffffffu;
    uint z = floatBitsToUint(a.z) & 0x7fffffffu;
    return max(max(largest, x), max(y, z));
}

/* The power of two that scales the largest difference, given by its bits, into [1, 2). 0 outside
 * the range in which the error bound holds. */
FUNCTION(float) collide_scale(uint largest)
{
    uint exponent = largest >> 23u;
    if (exponent < 64u || exponent > 252u)
        return 0.0f;
    return uintBitsToFloat((254u - exponent) << 23u);
}

FUNCTION(vec3) collide_edge(vec3 start, vec3 end, float scale)
{
    return scale3(collide_difference(end, start), scale);
}

FUNCTION(int) collide_sign(float value, float error)
{
    return value > error ? 1 : value < -error ? -1 : 0;
}

/* Sign of det[a, b, c] of scaled differences; 0 if it is uncertain. */
FUNCTION(int) collide_det_sign(vec3 a, vec3 b, vec3 c)
{
    vec3 p = collide_abs3(a);
    vec3 q = collide_abs3(b);
    float terms = (p.y * q.z + p.z * q.y) * abs(c.x) + (p.z * q.x + p.x * q.z) * abs(c.y) +
                  (p.x * q.y + p.y * q.x) * abs(c.z);
    return collide_sign(dot3(cross3(a, b), c), COLLIDE_RELATIVE * terms + COLLIDE_ABSOLUTE);
}

/* The apex: the one vertex of a triangle that is alone on its side of a plane. And the two edges
 * from the apex, in the triangle's winding order. */
STRUCT_BEGIN(collide_apex)
vec3 vertex;
vec3 first;
vec3 second;
int side;
STRUCT_END(collide_apex)

/* s0, s1, s2: the sides of the vertices, 1 or -1, not all the same. */
FUNCTION(collide_apex)
collide_find_apex(vec3 v0, vec3 v1, vec3 v2, int s0, int s1, int s2, float scale)
{
    bool is_0 = s1 == s2;
    bool is_1 = s0 == s2;
    collide_apex apex;
    vec3 first = v1;
    vec3 second = v2;
    apex.vertex = v0;
    apex.side = s0;
    if (!is_0) {
        if (is_1) {
            apex.side = s1;
            apex.vertex = v1;
            first = v2;
            second = v0;
        } else {
            apex.side = s2;
            apex.vertex = v2;
            first = v0;
            second = v1;
        }
    }
    apex.first = collide_edge(apex.vertex, first, scale);
    apex.second = collide_edge(apex.vertex, second, scale);
    return apex;
}

/* Do two triangles meet, each of which has vertices on both sides of the other's plane? Each
 * triangle meets the planes' common line in an interval between the two edges from its apex.
 * exact.c (meet_areas, order_on_line) derives the order of the four ends of the intervals along
 * that line, whose direction is (normal of a) x (normal of b). */
FUNCTION(uint) collide_on_line(collide_apex a, collide_apex b, float scale)
{
    vec3 step = collide_edge(a.vertex, b.vertex, scale);
    bool is_a_positive = a.side > 0;
    bool is_b_positive = b.side > 0;
    vec3 a_low = a.first;
    vec3 a_high = a.second;
    vec3 b_low = b.second;
    vec3 b_high = b.first;
    if (is_a_positive) {
        a_low = a.second;
        a_high = a.first;
    }
    if (is_b_positive) {
        b_low = b.first;
        b_high = b.second;
    }
    int sides = a.side * b.side;
    int b_after = collide_det_sign(a_high, step, b_low) * sides;
    int a_before = collide_det_sign(a_low, step, b_high) * sides;
    if (b_after > 0 || a_before < 0)
        return COLLIDE_NO;
    return b_after < 0 && a_before > 0 ? COLLIDE_CROSSING : COLLIDE_UNSURE;
}

/* Does a plane normal to axis certainly separate the triangles? The axis may be inexact, since only
 * the errors of the projections count. A projection is at most 2 (|x| + |y| + |z|) and has an error
 * of 4 u of that; 16 u covers two projections with the flushed parts of their vertices. Vertices
 * are relative to a's first vertex. */
FUNCTION(bool) collide_is_parted(vec3 axis, vec3 a1, vec3 a2, vec3 b0, vec3 b1, vec3 b2)
{
    float size = abs(axis.x) + abs(axis.y) + abs(axis.z);
    float error = 2.0f * COLLIDE_RELATIVE * size;
    float p1 = dot3(axis, a1);
    float p2 = dot3(axis, a2);
    float q0 = dot3(axis, b0);
    float q1 = dot3(axis, b1);
    float q2 = dot3(axis, b2);
    float a_low = min(0.0f, min(p1, p2));
    float a_high = max(0.0f, max(p1, p2));
    float b_low = min(q0, min(q1, q2));
    float b_high = max(q0, max(q1, q2));
    /* Components of a tiny axis may have been flushed to 0. */
    return size > 1e-18f && (b_low - a_high > error || a_low - b_high > error);
}

/* Are the triangles' bounds along a coordinate disjoint? Comparisons do not round. */
FUNCTION(bool) collide_is_apart(float a0, float a1, float a2, float b0, float b1, float b2)
{
    return max(a0, max(a1, a2)) < min(b0, min(b1, b2)) ||
           max(b0, max(b1, b2)) < min(a0, min(a1, a2));
}

FUNCTION(uint)
collide_triangles(vec3 a0, vec3 a1, vec3 a2, vec3 b0, vec3 b1, vec3 b2)
{
    vec3 e1 = collide_difference(a1, a0);
    vec3 e2 = collide_difference(a2, a0);
    vec3 d0 = collide_difference(b0, a0);
    vec3 d1 = collide_difference(b1, a0);
    vec3 d2 = collide_difference(b2, a0);
    uint largest = collide_largest_bits(0u, e1);
    largest = collide_largest_bits(largest, e2);
    largest = collide_largest_bits(largest, d0);
    largest = collide_largest_bits(largest, d1);
    largest = collide_largest_bits(largest, d2);
    float scale = collide_scale(largest);
    if (scale == 0.0f)
        return COLLIDE_UNSURE;
    if (collide_is_apart(a0.x, a1.x, a2.x, b0.x, b1.x, b2.x) ||
        collide_is_apart(a0.y, a1.y, a2.y, b0.y, b1.y, b2.y) ||
        collide_is_apart(a0.z, a1.z, a2.z, b0.z, b1.z, b2.z))
        return COLLIDE_NO;

    /* Sides of b's vertices to a's plane, then of a's vertices to b's plane. */
    e1 = scale3(e1, scale);
    e2 = scale3(e2, scale);
    d0 = scale3(d0, scale);
    d1 = scale3(d1, scale);
    d2 = scale3(d2, scale);
    int b_side0 = collide_det_sign(e1, e2, d0);
    int b_side1 = collide_det_sign(e1, e2, d1);
    int b_side2 = collide_det_sign(e1, e2, d2);
    if (b_side0 != 0 && b_side0 == b_side1 && b_side0 == b_side2)
        return COLLIDE_NO;
    vec3 f1 = collide_edge(b0, b1, scale);
    vec3 f2 = collide_edge(b0, b2, scale);
    int a_side0 = -collide_det_sign(f1, f2, d0);
    int a_side1 = collide_det_sign(f1, f2, collide_edge(b0, a1, scale));
    int a_side2 = collide_det_sign(f1, f2, collide_edge(b0, a2, scale));
    if (a_side0 != 0 && a_side0 == a_side1 && a_side0 == a_side2)
        return COLLIDE_NO;

    if (b_side0 * b_side1 * b_side2 != 0 && a_side0 * a_side1 * a_side2 != 0)
        return collide_on_line(collide_find_apex(a0, a1, a2, a_side0, a_side1, a_side2, scale),
                               collide_find_apex(b0, b1, b2, b_side0, b_side1, b_side2, scale),
                               scale);

    /* A vertex lies on or near the other triangle's plane. The normal of an edge within either
     * plane may then separate the triangles. */
    vec3 n = cross3(e1, e2);
    if (collide_is_parted(cross3(n, e1), e1, e2, d0, d1, d2) ||
        collide_is_parted(cross3(n, e2), e1, e2, d0, d1, d2) ||
        collide_is_parted(cross3(n, sub3(e2, e1)), e1, e2, d0, d1, d2))
        return COLLIDE_NO;
    n = cross3(f1, f2);
    if (collide_is_parted(cross3(n, f1), e1, e2, d0, d1, d2) ||
        collide_is_parted(cross3(n, f2), e1, e2, d0, d1, d2) ||
        collide_is_parted(cross3(n, sub3(f2, f1)), e1, e2, d0, d1, d2))
        return COLLIDE_NO;
    return COLLIDE_UNSURE;
}

/* ---- triangles of one mesh ------------------------------------------------------------------- */

/* Do triangles c a1 a2 and c b1 b2 meet outside their shared corner c? The common line of their
 * planes passes through c. */
FUNCTION(uint) collide_at_corner(vec3 c, vec3 a1, vec3 a2, vec3 b1, vec3 b2)
{
    vec3 p = collide_difference(a1, c);
    vec3 q = collide_difference(a2, c);
    vec3 r = collide_difference(b1, c);
    vec3 s = collide_difference(b2, c);
    uint largest = collide_largest_bits(collide_largest_bits(0u, p), q);
    float scale = collide_scale(collide_largest_bits(collide_largest_bits(largest, r), s));
    if (scale == 0.0f)
        return COLLIDE_UNSURE;
    p = scale3(p, scale);
    q = scale3(q, scale);
    r = scale3(r, scale);
    s = scale3(s, scale);
    int r_side = collide_det_sign(p, q, r);
    int s_side = collide_det_sign(p, q, s);
    if (r_side * s_side > 0)
        return COLLIDE_NO;
    int p_side = collide_det_sign(r, s, p);
    int q_side = collide_det_sign(r, s, q);
    if (p_side * q_side > 0)
        return COLLIDE_NO;
    if (r_side * s_side * p_side * q_side == 0)
        return COLLIDE_UNSURE;
    /* Let d be (normal of a) x (normal of b). From c, the common line runs inside a along p_side *
     * d, and inside b along -r_side * d: the point x of p q with normal_b . x = 0 is a multiple of
     * (normal_b . p) q - (normal_b . q) p = normal_b x (q x p) = d, positive if normal_b . p is. */
    return p_side * r_side < 0 ? COLLIDE_CROSSING : COLLIDE_NO;
}

/* Do triangles p q a and q p b meet outside their shared edge p q? Only if they are coplanar. */
FUNCTION(uint) collide_at_edge(vec3 p, vec3 q, vec3 a, vec3 b)
{
    vec3 e = collide_difference(q, p);
    vec3 f = collide_difference(a, p);
    vec3 g = collide_difference(b, p);
    uint largest = collide_largest_bits(collide_largest_bits(0u, e), f);
    float scale = collide_scale(collide_largest_bits(largest, g));
    if (scale == 0.0f)
        return COLLIDE_UNSURE;
    int side = collide_det_sign(scale3(e, scale), scale3(f, scale), scale3(g, scale));
    return side != 0 ? COLLIDE_NO : COLLIDE_UNSURE;
}

/* Equality by bits, since devices may flush subnormals to 0. -0 equals 0. */
FUNCTION(bool) collide_is_equal(float a, float b)
{
    uint x = floatBitsToUint(a);
    uint y = floatBitsToUint(b);
    return x == y || ((x | y) & 0x7fffffffu) == 0u;
}
FUNCTION(bool) collide_is_same(vec3 a, vec3 b)
{
    return collide_is_equal(a.x, b.x) && collide_is_equal(a.y, b.y) && collide_is_equal(a.z, b.z);
}

/* As collide_triangles, for two triangles of one mesh: also COLLIDE_NO if they meet only in a
 * shared corner or edge. Vertices with equal positions are shared. */
FUNCTION(uint)
collide_neighbours(vec3 a0, vec3 a1, vec3 a2, vec3 b0, vec3 b1, vec3 b2)
{
    bool is_a0 = collide_is_same(a0, b0) || collide_is_same(a0, b1) || collide_is_same(a0, b2);
    bool is_a1 = collide_is_same(a1, b0) || collide_is_same(a1, b1) || collide_is_same(a1, b2);
    bool is_a2 = collide_is_same(a2, b0) || collide_is_same(a2, b1) || collide_is_same(a2, b2);
    int shared_count = (is_a0 ? 1 : 0) + (is_a1 ? 1 : 0) + (is_a2 ? 1 : 0);
    if (shared_count == 0)
        return collide_triangles(a0, a1, a2, b0, b1, b2);
    if (shared_count == 3)
        return COLLIDE_UNSURE;
    /* c: a's only shared corner, or its only unshared one. */
    bool is_shared = shared_count == 1;
    vec3 c = a0;
    vec3 p = a1;
    vec3 q = a2;
    if (is_a1 == is_shared) {
        c = a1;
        p = a2;
        q = a0;
    } else if (is_a2 == is_shared) {
        c = a2;
        p = a0;
        q = a1;
    }
    if (is_shared) {
        if (collide_is_same(c, b0))
            return collide_at_corner(c, p, q, b1, b2);
        if (collide_is_same(c, b1))
            return collide_at_corner(c, p, q, b2, b0);
        return collide_at_corner(c, p, q, b0, b1);
    }
    if (!collide_is_same(p, b0) && !collide_is_same(q, b0))
        return collide_at_edge(p, q, c, b0);
    if (!collide_is_same(p, b1) && !collide_is_same(q, b1))
        return collide_at_edge(p, q, c, b1);
    if (!collide_is_same(p, b2) && !collide_is_same(q, b2))
        return collide_at_edge(p, q, c, b2);
    return COLLIDE_UNSURE;
}
