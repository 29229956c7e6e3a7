/* Two bounds of the distance of two triangles, in floats: the distance certainly lies between them.
 * Uses collide_triangles.k.h.
 *
 * Upper bound: the distance of any point of one triangle and any point of the other. Lower bound:
 * the gap between the triangles along any direction. Floats choose the two points that seem
 * nearest, and the direction from one to the other. Slivers and nearly parallel edges make that
 * choice poor, which widens the bounds but never breaks them.
 *
 * Error. Let u = 2^-23, the relative rounding error of any device in any rounding mode; that of a
 * quotient or a square root is 3 u. Vertices are relative to one of them, and scaled by a power of
 * two so that the largest coordinate, D, is in [1, 2); this rounds each by u D. A point on an edge,
 * p + s d, has an error of up to 7 u D along an axis. A point on a face, p + s e + t f with s + t
 * within 2 u of 1, has one of up to 15 u D. The difference of two such points has an error of up to
 * 18 u D, and its length of up to 32 u D; the length, at most 4 D, is rounded by 8 u. Along a
 * direction g, each vertex has an error of up to 11 u |g| D, and the gap of up to 25 u |g| D. The
 * quotient, at most 4 D, is rounded by 11 u, though only where the gap is above 0. All of this is
 * below 2^-16 + 2^-18. Values that devices flush to 0 are below 2^-60. */
#define TRIANGLE_ERROR 1.9073486328125e-5f /* 2^-16 + 2^-18 */

STRUCT_BEGIN(triangle_corners)
vec3 a;
vec3 b;
vec3 c;
STRUCT_END(triangle_corners)

/* A point of each triangle: the nearest pair so far. */
STRUCT_BEGIN(triangle_near)
vec3 p;
vec3 q;
float squared; /* their distance, as rounded */
STRUCT_END(triangle_near)

FUNCTION(triangle_near) triangle_nearer(triangle_near best, vec3 p, vec3 q)
{
    vec3 gap = sub3(p, q);
    float squared = dot3(gap, gap);
    if (squared < best.squared) {
        best.p = p;
        best.q = q;
        best.squared = squared;
    }
    return best;
}

FUNCTION(float) triangle_part(float along, float whole)
{
    return along > 0.0f && whole > 0.0f ? min(along / whole, 1.0f) : 0.0f;
}

/* Edges from p along d and from q along e. */
FUNCTION(triangle_near) triangle_edges(triangle_near best, vec3 p, vec3 d, vec3 q, vec3 e)
{
    vec3 r = sub3(p, q);
    float dd = dot3(d, d);
    float ee = dot3(e, e);
    float de = dot3(d, e);
    float dr = dot3(d, r);
    float er = dot3(e, r);
    float s = triangle_part(de * er - dr * ee, dd * ee - de * de);
    float t = triangle_part(de * s + er, ee);
    s = triangle_part(de * t - dr, dd); /* if t is at an end, or s was inexact */
    return triangle_nearer(best, add3(p, scale3(d, s)), add3(q, scale3(e, t)));
}

/* A vertex and a face, if the vertex projects into the face. The face's edges are not tested. */
FUNCTION(triangle_near)
triangle_face(triangle_near best, vec3 p, triangle_corners t, bool is_swapped)
{
    vec3 e = sub3(t.b, t.a);
    vec3 f = sub3(t.c, t.a);
    vec3 r = sub3(p, t.a);
    vec3 n = cross3(e, f);
    float nn = dot3(n, n);
    float v = dot3(cross3(r, f), n);
    float w = dot3(cross3(e, r), n);
    if (nn > 0.0f && v >= 0.0f && w >= 0.0f && v + w <= nn) {
        v = min(v / nn, 1.0f);
        w = min(w / nn, 1.0f - v);
        vec3 q = add3(t.a, add3(scale3(e, v), scale3(f, w)));
        if (is_swapped)
            best = triangle_nearer(best, q, p);
        else
            best = triangle_nearer(best, p, q);
    }
    return best;
}

FUNCTION(triangle_near) triangle_edge(triangle_near best, vec3 p, vec3 d, triangle_corners t)
{
    best = triangle_edges(best, p, d, t.a, sub3(t.b, t.a));
    best = triangle_edges(best, p, d, t.b, sub3(t.c, t.b));
    return triangle_edges(best, p, d, t.c, sub3(t.a, t.c));
}

FUNCTION(triangle_corners) triangle_between(vec3 a, vec3 b, vec3 c, vec3 origin)
{
    triangle_corners t;
    t.a = collide_difference(a, origin);
    t.b = collide_difference(b, origin);
    t.c = collide_difference(c, origin);
    return t;
}

FUNCTION(triangle_corners) triangle_scaled(triangle_corners t, float scale)
{
    t.a = scale3(t.a, scale);
    t.b = scale3(t.b, scale);
    t.c = scale3(t.c, scale);
    return t;
}

FUNCTION(uint) triangle_largest_bits(uint largest, triangle_corners t)
{
    return collide_largest_bits(collide_largest_bits(collide_largest_bits(largest, t.a), t.b), t.c);
}

/* Where along g a triangle begins. */
FUNCTION(float) triangle_low(vec3 g, triangle_corners t)
{
    return min(min(dot3(g, t.a), dot3(g, t.b)), dot3(g, t.c));
}

/* The bounds (x: lower, y: upper) for vertices scaled by a power of two, whose largest difference
 * has the bits given. s and t: the triangles of at.p and at.q. */
FUNCTION(vec2)
triangle_bounds_of(triangle_near at, triangle_corners s, triangle_corners t, uint largest)
{
    vec3 g = sub3(at.p, at.q);
    float length = sqrt(at.squared);
    float apart = 0.0f;
    float unscale = uintBitsToFloat(largest & 0x7f800000u);
    if (at.squared > 1e-24f) /* else g means little */
        apart = (triangle_low(g, s) + triangle_low(VEC3(-g.x, -g.y, -g.z), t)) / length -
                TRIANGLE_ERROR;
    return VEC2(max(apart, 0.0f) * unscale, (length + TRIANGLE_ERROR) * unscale);
}

/* Bounds of the distance of two triangles. x: lower; y: upper. They are 0 and infinity if a
 * coordinate is infinite or NaN, or if the triangles are too large or too small for floats. */
FUNCTION(vec2) triangle_bounds(vec3 a0, vec3 a1, vec3 a2, vec3 b0, vec3 b1, vec3 b2)
{
    triangle_corners s = triangle_between(a0, a1, a2, a0);
    triangle_corners t = triangle_between(b0, b1, b2, a0);
    uint largest = triangle_largest_bits(triangle_largest_bits(0u, s), t);
    float scale = collide_scale(largest);
    if (scale == 0.0f)
        return VEC2(0.0f, uintBitsToFloat(0x7f800000u));
    s = triangle_scaled(s, scale);
    t = triangle_scaled(t, scale);
    triangle_near best;
    best.p = s.a;
    best.q = t.a;
    best.squared = 64.0f; /* farther than any */
    best = triangle_edge(best, s.a, sub3(s.b, s.a), t);
    best = triangle_edge(best, s.b, sub3(s.c, s.b), t);
    best = triangle_edge(best, s.c, sub3(s.a, s.c), t);
    best = triangle_face(best, s.a, t, false);
    best = triangle_face(best, s.b, t, false);
    best = triangle_face(best, s.c, t, false);
    best = triangle_face(best, t.a, s, true);
    best = triangle_face(best, t.b, s, true);
    best = triangle_face(best, t.c, s, true);
    return triangle_bounds_of(best, s, t, largest);
}

/* The same for a point and a triangle. */
FUNCTION(vec2) triangle_point_bounds(vec3 p, vec3 a, vec3 b, vec3 c)
{
    triangle_corners t = triangle_between(a, b, c, p);
    uint largest = triangle_largest_bits(0u, t);
    float scale = collide_scale(largest);
    if (scale == 0.0f)
        return VEC2(0.0f, uintBitsToFloat(0x7f800000u));
    t = triangle_scaled(t, scale);
    vec3 none = VEC3(0.0f, 0.0f, 0.0f);
    triangle_corners s = t;
    triangle_near best;
    s.a = none;
    s.b = none;
    s.c = none;
    best.p = none;
    best.q = t.a;
    best.squared = 64.0f;
    best = triangle_edge(best, none, none, t);
    best = triangle_face(best, none, t, false);
    return triangle_bounds_of(best, s, t, largest);
}
