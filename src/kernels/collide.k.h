/* Collide formulas: a pose applied to a vertex and to a box, and separation by boxes, slabs and
 * planes.
 *
 * A pose is a 3x4 matrix of three rows (m.x m.y m.z | m.w). Rounding is monotonic, and a row is
 * monotonic in each coordinate: over a box, the rounded row is smallest at the corner that the
 * signs of m select. The posed box therefore bounds the rounded posed vertices exactly and needs no
 * widening. */

FUNCTION(float) collide_pose_row(vec4 row, vec3 p)
{
    PRECISE float xy = rounded_product(row.x, p.x) + rounded_product(row.y, p.y);
    PRECISE float xyz = xy + rounded_product(row.z, p.z);
    PRECISE float moved = xyz + row.w;
    /* Without PRECISE, the product also prevents that a later sum is merged with this one. */
    return rounded_product(moved, 1.0f);
}

/* The difference of two rounded vertices. Without PRECISE a compiler may simplify (p + t) - (q + t)
 * to p - q, as NVIDIA's does; the determinant of such differences can have another sign than the
 * determinant of the rounded vertices. */
FUNCTION(vec3) collide_difference(vec3 p, vec3 q)
{
    PRECISE float x = p.x - q.x;
    PRECISE float y = p.y - q.y;
    PRECISE float z = p.z - q.z;
    return VEC3(x, y, z);
}

FUNCTION(float) collide_pose_low(vec4 row, vec3 low, vec3 high)
{
    return collide_pose_row(row, VEC3(row.x < 0.0f ? high.x : low.x, row.y < 0.0f ? high.y : low.y,
                                      row.z < 0.0f ? high.z : low.z));
}

FUNCTION(float) collide_pose_high(vec4 row, vec3 low, vec3 high)
{
    return collide_pose_low(row, high, low);
}

/* The largest gap between two boxes along an axis; the boxes meet if it is not above 0. Rounding
 * never reverses the sign of a difference. */
FUNCTION(float) collide_gap(vec3 a_low, vec3 a_high, vec3 b_low, vec3 b_high)
{
    float x = max(a_low.x - b_high.x, b_low.x - a_high.x);
    float y = max(a_low.y - b_high.y, b_low.y - a_high.y);
    float z = max(a_low.z - b_high.z, b_low.z - a_high.z);
    return max(max(x, y), z);
}

/* A slab: the points p with low <= normal . p <= high, between two parallel planes. A leaf's slab
 * bounds its triangles and is thin where the surface is smooth. It separates close, parallel leaves
 * whose axis-aligned boxes overlap. */
STRUCT_BEGIN(collide_slab)
vec3 normal; /* the largest component is 1 or -1, or all are 0 */
float low;
float high;
STRUCT_END(collide_slab)

/* An interval [x, y] that certainly contains normal . p. Three products, two sums and the
 * interval's end are rounded, by less than 2^-23 of the terms' magnitudes each: 2^-21 in all. 2^-20
 * also covers the rounding of the bound, and 2^-120 covers products flushed to 0. Rounded alike
 * everywhere, so that every engine tests the same pairs of triangles. */
FUNCTION(vec2) collide_along(vec3 normal, vec3 p)
{
    float x = rounded_product(normal.x, p.x);
    float y = rounded_product(normal.y, p.y);
    float z = rounded_product(normal.z, p.z);
    PRECISE float along = x + y + z;
    PRECISE float size = abs(x) + abs(y) + abs(z);
    PRECISE float bound = rounded_product(size, 9.5367431640625e-7f) + 7.52316384526264e-37f;
    PRECISE float low = along - bound;
    PRECISE float high = along + bound;
    return VEC2(low, high);
}

/* Above 0 only if triangle a b c certainly lies outside the slab. Rounding never reverses the sign
 * of a difference. */
FUNCTION(float) collide_slab_gap(collide_slab slab, vec3 a, vec3 b, vec3 c)
{
    vec2 p = collide_along(slab.normal, a);
    vec2 q = collide_along(slab.normal, b);
    vec2 r = collide_along(slab.normal, c);
    return max(min(min(p.x, q.x), r.x) - slab.high, slab.low - max(max(p.y, q.y), r.y));
}

/* A triangle's plane, for tests of a point's side. bound: the error of the side that the normal
 * causes, for each unit of the point's distance from at along an axis. */
STRUCT_BEGIN(collide_plane)
vec3 at;
vec3 normal;
vec3 bound;
STRUCT_END(collide_plane)

/* A point's side is the sign of a determinant of three differences. Each of its six products takes
 * at most 8 roundings (3 differences, 2 products, 3 sums; fewer if products and sums are fused).
 * The determinant's error is thus below 8.01 * 2^-24 of the sum of the products' magnitudes; 2^-20
 * is twice that and also covers the rounding of the bound. A product that underflows or is flushed
 * loses less than 2^-126: 2^-120 covers those of the side, 2^-100 those of the normal. (2^-120
 * would do for the normal, but its product with a small distance is subnormal, which takes
 * processors a hundred times as long.) */
FUNCTION(collide_plane) collide_plane_of(vec3 a, vec3 b, vec3 c)
{
    vec3 u = collide_difference(b, a);
    vec3 v = collide_difference(c, a);
    float yz = u.y * v.z;
    float zy = u.z * v.y;
    float zx = u.z * v.x;
    float xz = u.x * v.z;
    float xy = u.x * v.y;
    float yx = u.y * v.x;
    collide_plane plane;
    plane.at = a;
    plane.normal = VEC3(yz - zy, zx - xz, xy - yx);
    plane.bound = VEC3((abs(yz) + abs(zy)) * 9.5367431640625e-7f + 7.888609052210118e-31f,
                       (abs(zx) + abs(xz)) * 9.5367431640625e-7f + 7.888609052210118e-31f,
                       (abs(xy) + abs(yx)) * 9.5367431640625e-7f + 7.888609052210118e-31f);
    return plane;
}

/* x above 0: p certainly lies on the normal's side of the plane; y above 0: certainly on the other
 * side. z is the error bound: if z is NaN or at least 2^100, a value may have overflowed. */
FUNCTION(vec3) collide_sides(collide_plane plane, vec3 p)
{
    vec3 w = collide_difference(p, plane.at);
    float side = plane.normal.x * w.x + plane.normal.y * w.y + plane.normal.z * w.z;
    float bound = plane.bound.x * abs(w.x) + plane.bound.y * abs(w.y) + plane.bound.z * abs(w.z) +
                  7.52316384526264e-37f;
    return VEC3(side - bound, -side - bound, bound);
}
