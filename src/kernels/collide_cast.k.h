/* Rays against triangles: does the ray's line pass through a triangle? After: Woop, Benthin, Wald:
 * Watertight Ray/Triangle Intersection. 2013 (the shear), with bounds on what rounding does to the
 * signs.
 *
 * Corners are relative to the ray's origin, with axes in an order, x y z, in which the ray's
 * direction is largest along z. Sheared by x' = x - s.x z, y' = y - s.y z, where s is the
 * direction's x and y by its z, the line is the z axis. So an edge's sign is that of a determinant
 * of two of the plane's points. */

#define COLLIDE_CAST_MET    1u /* certainly */
#define COLLIDE_CAST_UNSURE 2u

/* The farthest that any coordinate is from 0. */
FUNCTION(float) collide_farthest(vec3 p)
{
    return max(max(abs(p.x), abs(p.y)), abs(p.z));
}

/* With u = 2^-24, and m the farthest coordinate of the corners, a sheared coordinate is off by less
 * than 6 u m: the differences from the origin by 2 u m, the slope by u m, product and difference by
 * 3 u m; 2^-21 m is d here, and 2^-120 covers what is flushed to 0. Let n be the farthest sheared
 * coordinate, n <= 2 m. An edge's determinant is then off by less than 3 d n + 2 d d because of its
 * points, and by 4 u n n <= d n because of its own roundings; a d n is left for the rounding of the
 * bound. From n = 2^62 on products may overflow. */
FUNCTION(float) collide_cast_moved(vec3 a, vec3 b, vec3 c)
{
    float m = max(max(collide_farthest(a), collide_farthest(b)), collide_farthest(c));
    return m * 4.76837158203125e-7f + 7.52316384526264e-37f;
}

FUNCTION(float) collide_cast_bound(float d, float n)
{
    return d * (5.0f * n + 2.0f * d) + 7.52316384526264e-37f;
}

FUNCTION(uint) collide_cast_code(vec2 s, vec3 a, vec3 b, vec3 c)
{
    float d = collide_cast_moved(a, b, c);
    float ax = a.x - s.x * a.z;
    float ay = a.y - s.y * a.z;
    float bx = b.x - s.x * b.z;
    float by = b.y - s.y * b.z;
    float cx = c.x - s.x * c.z;
    float cy = c.y - s.y * c.z;
    float low_x = min(min(ax, bx), cx);
    float low_y = min(min(ay, by), cy);
    float high_x = max(max(ax, bx), cx);
    float high_y = max(max(ay, by), cy);
    float n = max(max(abs(low_x), abs(high_x)), max(abs(low_y), abs(high_y)));
    float bound = collide_cast_bound(d, n);
    uint fits = U(n < 4.611686018427388e18f);
    float ab = ax * by - ay * bx;
    float bc = bx * cy - by * cx;
    float ca = cx * ay - cy * ax;
    float least = min(min(ab, bc), ca);
    float most = max(max(ab, bc), ca);
    uint met = (U(least > bound) | U(most < -bound)) & fits;
    uint missed = (U(least < -bound) & U(most > bound) & fits) | U(low_x > d) | U(high_x < -d) |
                  U(low_y > d) | U(high_y < -d);
    return met * COLLIDE_CAST_MET | ((met | missed) ^ 1u) * COLLIDE_CAST_UNSURE;
}
