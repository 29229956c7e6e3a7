/* Rays against triangles in floats: does the ray's line pass through a triangle? After: Woop,
 * Benthin, Wald: Watertight Ray/Triangle Intersection. 2013 (the shear), with bounds on the
 * rounding errors of the signs.
 *
 * Corners are relative to the ray's origin. The axes are permuted so that the ray's direction is
 * largest along z. The shear x' = x - s.x z, y' = y - s.y z, where s holds the direction's x and y
 * divided by its z, maps the ray's line to the z axis. An edge's sign is then that of a 2x2
 * determinant of its sheared ends. */

#define COLLIDE_CAST_MET    1u /* certainly */
#define COLLIDE_CAST_UNSURE 2u

/* The largest magnitude of the coordinates. */
FUNCTION(float) collide_farthest(vec3 p)
{
    return max(max(abs(p.x), abs(p.y)), abs(p.z));
}

/* Let u = 2^-24, and let m be the largest magnitude of the corners' coordinates. A sheared
 * coordinate has an error below 6 u m: 2 u m from the differences to the origin, u m from the
 * slope, and 3 u m from the product and the difference. d = 2^-21 m + 2^-120 bounds it; 2^-120
 * covers values flushed to 0. Let n <= 2 m be the largest magnitude of the sheared coordinates. An
 * edge's determinant then has an error below 3 d n + 2 d d because of its points, and below 4 u n n
 * <= d n because of its own roundings. One more d n covers the rounding of the bound. From n = 2^62
 * on, products may overflow. */
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
