/* The distance of two triangles that do not meet, in doubles. The host and every device with
 * doubles compute the same bits. Uses collide_nearest.k.h; each operation rounds once, as there.
 *
 * The nearest points of two triangles that do not meet lie at a vertex of one and a face of the
 * other (6 pairs), on two edges (9 pairs), or at a vertex and on an edge (18 pairs). The distance
 * is the least of the 33.
 *
 * Error. Let u = 2^-53, and let D be the largest distance between two of the six vertices. A
 * rounded difference of vertices equals the exact difference after each vertex of the pair moves by
 * at most u D, and the distance changes by no more than that. Slivers and nearly parallel edges
 * need care: their normals n (of a face, or of a pair of edges) are small differences of products,
 * so each component of n is computed to a relative error of 2 u. Then
 * - h = n . r / |n|, with r a difference of vertices, has an error below 16 u D;
 * - a point leaves a face across edge e where (e x r) . n = 0. That line has an error below 16 u D.
 *   A point so far outside the face is farther from the edge by at most that error;
 * - the point of an edge nearest to the other edge's line has an error of at most 16 u D /
 *   sin(angle) along its edge, which is 16 u D across the other edge. The distance is least there,
 *   so it grows to at most sqrt(h^2 + (16 u D)^2);
 * - the point of an edge nearest to a vertex has an error of at most 8 u D, again where the
 *   distance is least.
 *
 * D is at most sqrt(3) times the largest difference of coordinates, and at most 3 such errors add
 * up: the total is below 2^-46 of the largest difference of coordinates.
 *
 * After: Ericson: Real-Time Collision Detection. 2005 (closest features); Kahan's difference of
 * products, in Jeannerod, Louvet, Muller: Further Analysis of Kahan's Algorithm. 2013. */
STRUCT_BEGIN(collide_spot)
double x;
double y;
double z;
STRUCT_END(collide_spot)

FUNCTION(collide_spot) collide_spot_of(double x, double y, double z)
{
    collide_spot spot;
    spot.x = x;
    spot.y = y;
    spot.z = z;
    return spot;
}

FUNCTION(collide_spot) collide_spot_at(vec3 p)
{
    return collide_spot_of(COLLIDE_DOUBLE(p.x), COLLIDE_DOUBLE(p.y), COLLIDE_DOUBLE(p.z));
}

FUNCTION(collide_spot) collide_spot_less(collide_spot a, collide_spot b)
{
    PRECISE double x = a.x - b.x;
    PRECISE double y = a.y - b.y;
    PRECISE double z = a.z - b.z;
    return collide_spot_of(x, y, z);
}

FUNCTION(double) collide_spot_dot(collide_spot a, collide_spot b)
{
    PRECISE double x = a.x * b.x;
    PRECISE double y = a.y * b.y;
    PRECISE double z = a.z * b.z;
    PRECISE double xy = x + y;
    PRECISE double sum = xy + z;
    return sum;
}

/* a d - b c */
FUNCTION(double) collide_spot_det(double a, double b, double c, double d)
{
    PRECISE double ad = a * d;
    PRECISE double bc = b * c;
    PRECISE double det = ad - bc;
    return det;
}

FUNCTION(collide_spot) collide_spot_cross(collide_spot a, collide_spot b)
{
    return collide_spot_of(collide_spot_det(a.y, a.z, b.y, b.z),
                           collide_spot_det(a.z, a.x, b.z, b.x),
                           collide_spot_det(a.x, a.y, b.x, b.y));
}

/* a d - b c, within 2 u of itself. */
FUNCTION(double) collide_accurate_det(double a, double b, double c, double d)
{
    PRECISE double ad = a * d;
    PRECISE double bc = b * c;
    PRECISE double det = ad - bc;
    PRECISE double error = collide_rounding_of(ad, a, d) - collide_rounding_of(bc, b, c);
    PRECISE double better = det + error;
    return better;
}

FUNCTION(collide_spot) collide_accurate_cross(collide_spot a, collide_spot b)
{
    return collide_spot_of(collide_accurate_det(a.y, a.z, b.y, b.z),
                           collide_accurate_det(a.z, a.x, b.z, b.x),
                           collide_accurate_det(a.x, a.y, b.x, b.y));
}

/* a + t b */
FUNCTION(collide_spot) collide_spot_along(collide_spot a, double t, collide_spot b)
{
    PRECISE double tx = t * b.x;
    PRECISE double ty = t * b.y;
    PRECISE double tz = t * b.z;
    PRECISE double x = a.x + tx;
    PRECISE double y = a.y + ty;
    PRECISE double z = a.z + tz;
    return collide_spot_of(x, y, z);
}

STRUCT_BEGIN(collide_spots)
collide_spot a;
collide_spot b;
collide_spot c;
STRUCT_END(collide_spots)

FUNCTION(collide_spots) collide_spots_at(vec3 a, vec3 b, vec3 c)
{
    collide_spots t;
    t.a = collide_spot_at(a);
    t.b = collide_spot_at(b);
    t.c = collide_spot_at(c);
    return t;
}

/* The nearest pair of points so far. */
STRUCT_BEGIN(collide_apart)
double squared;
collide_spot a;
collide_spot b;
STRUCT_END(collide_apart)

/* p: the point on triangle a, unless is_swapped. */
FUNCTION(collide_apart)
collide_apart_offer(collide_apart best, double squared, collide_spot p, collide_spot q,
                    bool is_swapped)
{
    if (squared < best.squared) {
        best.squared = squared;
        best.a = p;
        best.b = q;
        if (is_swapped) {
            best.a = q;
            best.b = p;
        }
    }
    return best;
}

FUNCTION(collide_apart)
collide_vertex_to_edge(collide_apart best, collide_spot p, collide_spot from, collide_spot to,
                       bool is_swapped)
{
    collide_spot edge = collide_spot_less(to, from);
    double along = collide_spot_dot(collide_spot_less(p, from), edge);
    double length = collide_spot_dot(edge, edge);
    collide_spot q = from;
    if (along >= length &&
        along > 0.0) /* the far end itself, since the rounded sum may differ from it */
        q = to;
    else if (along > 0.0) {
        double s = collide_quotient(along, length);
        q = s == 1.0 ? to : collide_spot_along(from, s, edge);
    }
    collide_spot gap = collide_spot_less(p, q);
    return collide_apart_offer(best, collide_spot_dot(gap, gap), p, q, is_swapped);
}

/* Does a point lie on the inner side of a face's edge, or above it? */
FUNCTION(bool)
collide_is_over_edge(collide_spot p, collide_spot from, collide_spot to, collide_spot normal)
{
    collide_spot across =
        collide_spot_cross(collide_spot_less(to, from), collide_spot_less(p, from));
    return !(collide_spot_dot(across, normal) < 0.0);
}

FUNCTION(collide_apart)
collide_vertex_to_face(collide_apart best, collide_spot p, collide_spots t, collide_spot normal,
                       bool is_swapped)
{
    if (!collide_is_over_edge(p, t.a, t.b, normal) || !collide_is_over_edge(p, t.b, t.c, normal) ||
        !collide_is_over_edge(p, t.c, t.a, normal))
        return best;
    double square = collide_spot_dot(normal, normal);
    double height = collide_spot_dot(collide_spot_less(p, t.a), normal);
    double part = collide_quotient(height, square);
    PRECISE double squared = height * part;
    return collide_apart_offer(best, squared, p, collide_spot_along(p, -part, normal), is_swapped);
}

FUNCTION(collide_apart)
collide_vertex_to_triangle(collide_apart best, collide_spot p, collide_spots t, collide_spot normal,
                           bool is_swapped)
{
    best = collide_vertex_to_edge(best, p, t.a, t.b, is_swapped);
    best = collide_vertex_to_edge(best, p, t.b, t.c, is_swapped);
    best = collide_vertex_to_edge(best, p, t.c, t.a, is_swapped);
    if (collide_spot_dot(normal, normal) > 0.0)
        best = collide_vertex_to_face(best, p, t, normal, is_swapped);
    return best;
}

FUNCTION(collide_apart)
collide_vertices_to_triangle(collide_apart best, collide_spots s, collide_spots t, bool is_swapped)
{
    collide_spot normal =
        collide_accurate_cross(collide_spot_less(t.b, t.a), collide_spot_less(t.c, t.b));
    best = collide_vertex_to_triangle(best, s.a, t, normal, is_swapped);
    best = collide_vertex_to_triangle(best, s.b, t, normal, is_swapped);
    return collide_vertex_to_triangle(best, s.c, t, normal, is_swapped);
}

/* Edges from p to p_end and from q to q_end. */
FUNCTION(collide_apart)
collide_edge_to_edge(collide_apart best, collide_spot p, collide_spot p_end, collide_spot q,
                     collide_spot q_end)
{
    collide_spot d = collide_spot_less(p_end, p);
    collide_spot e = collide_spot_less(q_end, q);
    collide_spot r = collide_spot_less(q, p);
    collide_spot normal = collide_accurate_cross(d, e);
    double square = collide_spot_dot(normal, normal);
    double s = collide_spot_dot(collide_spot_cross(r, e), normal);
    double t = collide_spot_dot(collide_spot_cross(r, d), normal);
    if (!(square > 0.0 && s >= 0.0 && s <= square && t >= 0.0 && t <= square))
        return best; /* nearest at an end; parallel edges are nearest at an end, too */
    double height = collide_spot_dot(r, normal);
    PRECISE double squared = height * collide_quotient(height, square);
    return collide_apart_offer(best, squared, collide_spot_along(p, collide_quotient(s, square), d),
                               collide_spot_along(q, collide_quotient(t, square), e), false);
}

FUNCTION(collide_apart)
collide_edge_to_edges(collide_apart best, collide_spot p, collide_spot p_end, collide_spots t)
{
    best = collide_edge_to_edge(best, p, p_end, t.a, t.b);
    best = collide_edge_to_edge(best, p, p_end, t.b, t.c);
    return collide_edge_to_edge(best, p, p_end, t.c, t.a);
}

FUNCTION(collide_apart) collide_apart_of(collide_spots s, collide_spots t)
{
    collide_apart best;
    best.squared = COLLIDE_DOUBLE(uintBitsToFloat(0x7f800000u));
    best.a = s.a;
    best.b = t.a;
    best = collide_vertices_to_triangle(best, s, t, false);
    best = collide_vertices_to_triangle(best, t, s, true);
    best = collide_edge_to_edges(best, s.a, s.b, t);
    best = collide_edge_to_edges(best, s.b, s.c, t);
    return collide_edge_to_edges(best, s.c, s.a, t);
}

/* Not 0, as they do not meet. */
FUNCTION(double) collide_apart_distance(double squared)
{
    double distance = collide_root(squared);
    double tiny = COLLIDE_DOUBLE(uintBitsToFloat(0x00800000u)); /* 2^-126 */
    PRECISE double square = tiny * tiny;
    PRECISE double fourth = square * square;
    PRECISE double eighth = fourth * fourth;
    PRECISE double least = eighth * COLLIDE_DOUBLE(6.103515625e-5f); /* 2^-1022 */
    return distance > least ? distance : least;
}
