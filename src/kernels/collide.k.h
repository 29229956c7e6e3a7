/* Collide formulas: what a pose does to a vertex and to a box, and when boxes are apart.
 *
 * A pose is three rows (m.x m.y m.z | m.w). Each operation on floats that stands here rounds, and rounding
 * never changes the order of two numbers; so a row, which rises or falls with each coordinate, takes its
 * smallest rounded value over a box at the corner that the signs of m choose. The box of a posed box is
 * therefore exact for the rounded vertices in it, and needs no widening. */

FUNCTION(float) collide_pose_row(vec4 row, vec3 p)
{
    PRECISE float xy = rounded_product(row.x, p.x) + rounded_product(row.y, p.y);
    PRECISE float xyz = xy + rounded_product(row.z, p.z);
    PRECISE float moved = xyz + row.w;
    return moved;
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

/* The widest of the gaps between two boxes along the axes; they meet when it is not above 0. The sign of a
 * rounded difference is that of the difference. */
FUNCTION(float) collide_gap(vec3 a_low, vec3 a_high, vec3 b_low, vec3 b_high)
{
    float x = max(a_low.x - b_high.x, b_low.x - a_high.x);
    float y = max(a_low.y - b_high.y, b_low.y - a_high.y);
    float z = max(a_low.z - b_high.z, b_low.z - a_high.z);
    return max(max(x, y), z);
}

/* The points p with low <= normal . p <= high: what lies between two planes. A leaf's triangles do, and where a
 * surface is smooth they lie close together across one direction, whichever it is; boxes along the axes
 * cannot tell two such leaves apart that run side by side. */
STRUCT_BEGIN(collide_slab)
vec3 normal; /* the largest component is 1 or -1, or all are 0 */
float low;
float high;
STRUCT_END(collide_slab)

/* Where a point certainly lies along a normal, from x to y. Three products and two sums are rounded, by less
 * than 2^-23 of the terms' magnitudes each, and so is the end: 2^-21 in all; 2^-20 also pays for the
 * rounding of the bound, and 2^-120 for products that are flushed. */
FUNCTION(vec2) collide_along(vec3 normal, vec3 p)
{
    float x = normal.x * p.x;
    float y = normal.y * p.y;
    float z = normal.z * p.z;
    float along = x + y + z;
    float bound = (abs(x) + abs(y) + abs(z)) * 9.5367431640625e-7f + 7.52316384526264e-37f;
    return VEC2(along - bound, along + bound);
}

/* Above 0 only if a triangle lies beside the slab. The sign of a rounded difference is that of the
 * difference. */
FUNCTION(float) collide_slab_gap(collide_slab slab, vec3 a, vec3 b, vec3 c)
{
    vec2 p = collide_along(slab.normal, a);
    vec2 q = collide_along(slab.normal, b);
    vec2 r = collide_along(slab.normal, c);
    return max(min(min(p.x, q.x), r.x) - slab.high, slab.low - max(max(p.y, q.y), r.y));
}

/* A triangle's plane, for telling on which side of it a point lies. bound holds what an error of the normal
 * can do to a point's side, for each unit of the point's distance along an axis. */
STRUCT_BEGIN(collide_plane)
vec3 at;
vec3 normal;
vec3 bound;
STRUCT_END(collide_plane)

/* The side's value is a determinant of three differences. Each of its six products goes through at most 8
 * roundings (3 differences, 2 products, 3 sums; fewer where sums and products are fused), so it is wrong
 * by less than 8.01 * 2^-24 of the sum of their magnitudes; 2^-20 is twice that, which also pays for the
 * rounding of the bound itself. Products that underflow, or are flushed, lose less than 2^-126 each: 2^-120
 * at the end pays for the last ones, and 2^-100 for those of the normal (2^-120 would do, but times a small
 * distance that is a subnormal number, which takes processors a hundred times as long). */
FUNCTION(collide_plane) collide_plane_of(vec3 a, vec3 b, vec3 c)
{
    vec3 u = sub3(b, a);
    vec3 v = sub3(c, a);
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

/* How far p is on the plane's upper side for certain, in the plane's own unit, in x; on the lower side, in y;
 * above 0 is certain. z is the bound itself: from 2^100 on, or NaN, something may have overflowed. */
FUNCTION(vec3) collide_sides(collide_plane plane, vec3 p)
{
    vec3 w = sub3(p, plane.at);
    float side = plane.normal.x * w.x + plane.normal.y * w.y + plane.normal.z * w.z;
    float bound = plane.bound.x * abs(w.x) + plane.bound.y * abs(w.y) + plane.bound.z * abs(w.z) +
                  7.52316384526264e-37f;
    return VEC3(side - bound, -side - bound, bound);
}
