/* Triangles that do not meet are nearest at a vertex of one and a face of the other, at two edges,
 * or at a vertex and an edge: 6 + 9 + 18 pairs of them, of which only the nearest counts.
 *
 * Error. Let u = 2^-53 and D be the largest distance of two of the six vertices. Differences of
 * vertices are rounded, which is as if each vertex of the pair at hand were moved by up to u D;
 * that moves the distance by no more. For the rest, normals n of faces and of pairs of edges are
 * the only thing to be careful with: as slivers and nearly parallel edges have normals that are
 * small differences of products, these are computed to 2 u of each component. Then
 *   - h = n . r / |n|, with r a difference of vertices, is off by less than 16 u D;
 *   - the line on which a point passes from inside a face to outside, e x r . n = 0 with e an edge,
 *     is off by less than 16 u D, and a point that much beside the face is that much farther from
 *     the edge at most;
 *   - the same holds of the place along an edge that is nearest the other edge's line: it is off by
 *     at most 16 u D / sin(angle) along the edge, hence 16 u D across the other one. As the
 *     distance is least there, it grows to no more than sqrt(h^2 + (16 u D)^2);
 *   - the place on an edge nearest a vertex is off by 8 u D, likewise where the distance is least.
 * With sqrt(3) between D and the largest difference of coordinates, and sums of 3 such errors at
 * most, all this is below 2^-46 of the latter.
 *
 * After: Ericson: Real-Time Collision Detection. 2005 (closest features); Kahan's difference of
 * products, in Jeannerod, Louvet, Muller: Further Analysis of Kahan's Algorithm. 2013. */
#include "collide/triangle_distance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "collide/exact.h"

typedef struct vec {
    double x, y, z;
} vec;

static vec subtract(vec a, vec b)
{
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}
static double dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static vec cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* a + t b */
static vec step(vec a, double t, vec b)
{
    return (vec){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z};
}

/* What a * b was rounded by, exactly: by Veltkamp's halves of 26 bits (Dekker 1971) where there is
 * no fast fma. Differences of floats and products of two of them overflow nowhere here. */
static double rounding_of(double product, double a, double b)
{
#ifdef FP_FAST_FMA
    return fma(a, b, -product);
#else
    double c = 0x1.0000002p+27 * a, d = 0x1.0000002p+27 * b;
    double a_high = c - (c - a), b_high = d - (d - b), a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

/* a d - b c, within 2 u of itself. */
static double accurate_det(double a, double b, double c, double d)
{
    double ad = a * d, bc = b * c;
    return (ad - bc) + (rounding_of(ad, a, d) - rounding_of(bc, b, c));
}

static vec accurate_cross(vec a, vec b)
{
    return (vec){accurate_det(a.y, a.z, b.y, b.z), accurate_det(a.z, a.x, b.z, b.x),
                 accurate_det(a.x, a.y, b.x, b.y)};
}

typedef struct triangle {
    vec at[3];
    vec edge[3]; /* from vertex i to the next */
    vec low, high;
} triangle;

static triangle load_triangle(const float vertices[9])
{
    triangle t;
    for (int i = 0; i < 3; i++)
        t.at[i] = (vec){vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]};
    for (int i = 0; i < 3; i++)
        t.edge[i] = subtract(t.at[(i + 1) % 3], t.at[i]);
    const vec *v = t.at;
    t.low = (vec){fmin(v[0].x, fmin(v[1].x, v[2].x)), fmin(v[0].y, fmin(v[1].y, v[2].y)),
                  fmin(v[0].z, fmin(v[1].z, v[2].z))};
    t.high = (vec){fmax(v[0].x, fmax(v[1].x, v[2].x)), fmax(v[0].y, fmax(v[1].y, v[2].y)),
                   fmax(v[0].z, fmax(v[1].z, v[2].z))};
    return t;
}

/* The nearest pair of points so far. */
typedef struct nearest {
    double squared;
    vec a, b;
} nearest;

/* p: of the triangle that is a, unless is_swapped. */
static void offer(nearest *best, double squared, vec p, vec q, bool is_swapped)
{
    if (squared < best->squared)
        *best = (nearest){squared, is_swapped ? q : p, is_swapped ? p : q};
}

static void vertex_to_edges(nearest *best, vec p, const triangle *t, bool is_swapped)
{
    for (int i = 0; i < 3; i++) {
        vec r = subtract(p, t->at[i]);
        double along = dot(r, t->edge[i]), length = dot(t->edge[i], t->edge[i]);
        double s = along <= 0 ? 0 : along >= length ? 1 : along / length;
        /* The far end itself: computed as a sum it may be beside it. */
        vec q = s == 1 ? t->at[(i + 1) % 3] : step(t->at[i], s, t->edge[i]);
        vec gap = subtract(p, q);
        offer(best, dot(gap, gap), p, q, is_swapped);
    }
}

static void vertex_to_face(nearest *best, vec p, const triangle *t, vec normal, bool is_swapped)
{
    for (int i = 0; i < 3; i++)
        if (dot(cross(t->edge[i], subtract(p, t->at[i])), normal) < 0)
            return;
    double square = dot(normal, normal), height = dot(subtract(p, t->at[0]), normal);
    offer(best, height * (height / square), p, step(p, -height / square, normal), is_swapped);
}

static void edge_to_edge(nearest *best, vec p, vec d, vec q, vec e)
{
    vec normal = accurate_cross(d, e), r = subtract(q, p);
    double square = dot(normal, normal);
    double s = dot(cross(r, e), normal), t = dot(cross(r, d), normal);
    if (!(square > 0 && s >= 0 && s <= square && t >= 0 && t <= square))
        return; /* nearest at an end, or parallel: then at an end, too */
    double height = dot(r, normal);
    offer(best, height * (height / square), step(p, s / square, d), step(q, t / square, e), false);
}

static nearest nearest_of(const triangle *a, const triangle *b)
{
    nearest best = {INFINITY, a->at[0], b->at[0]};
    for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
        const triangle *from = is_swapped ? b : a, *to = is_swapped ? a : b;
        vec normal = accurate_cross(to->edge[0], to->edge[1]);
        for (int i = 0; i < 3; i++) {
            vertex_to_edges(&best, from->at[i], to, is_swapped);
            if (dot(normal, normal) > 0)
                vertex_to_face(&best, from->at[i], to, normal, is_swapped);
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            edge_to_edge(&best, a->at[i], a->edge[i], b->at[k], b->edge[k]);
    return best;
}

static double gap(double low, double high, double other_low, double other_high)
{
    return fmax(0, fmax(low - other_high, other_low - high));
}

static void store_point(float out[3], vec p)
{
    out[0] = (float)p.x, out[1] = (float)p.y, out[2] = (float)p.z;
}

bool collide_triangle_distance(const float a[9], const float b[9], double limit,
                               collide_nearest *out)
{
    triangle s = load_triangle(a), t = load_triangle(b);
    vec box = {gap(s.low.x, s.high.x, t.low.x, t.high.x), gap(s.low.y, s.high.y, t.low.y, t.high.y),
               gap(s.low.z, s.high.z, t.low.z, t.high.z)};
    double box_squared = dot(box, box);
    if (sqrt(box_squared) > limit * (1 + 0x1p-50))
        return false;

    if (box_squared == 0) {
        float segment[6];
        tml_collide_class kind = collide_exact(a, b, segment);
        if (kind == TML_COLLIDE_CLASS_COPLANAR) /* where edges cross, or a vertex in a face */
            store_point(segment, nearest_of(&s, &t).a);
        if (kind != TML_COLLIDE_CLASS_NONE) {
            out->distance = 0;
            memcpy(out->a, segment, sizeof out->a);
            memcpy(out->b, segment, sizeof out->b);
            return true;
        }
    }
    nearest best = nearest_of(&s, &t);
    double distance = fmax(sqrt(best.squared), DBL_MIN); /* they do not meet */
    if (distance > limit)
        return false;
    out->distance = distance;
    store_point(out->a, best.a);
    store_point(out->b, best.b);
    return true;
}
