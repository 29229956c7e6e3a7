/* Rays from a point along axis x, against triangles, in floats. Such a ray meets a triangle if the
 * point's other two coordinates (y, z) lie in the triangle's projection.
 *
 * If the point lies on the projection of an edge or a vertex, it counts as moved by (e^2, e), with
 * e infinitely small. An edge is passed if exactly one of its ends has a y above the point's. It is
 * passed above the point if it is passed at a z greater than the point's. A triangle is met if an
 * odd number of its edges is passed above the point. So exactly one of the two triangles that share
 * an edge is met, and a closed mesh is crossed as often as the moved ray crosses it.
 *
 * All comparisons of coordinates are exact. The rest are signs of determinants of differences from
 * the point, of degree 2 and 3. Floats decide a sign if the determinant exceeds the error bound of
 * collide_triangles.k.h (which also holds for fewer terms). If products overflow, no value exceeds
 * the bound. If one of two factors underflows, the loss is below COLLIDE_UNDERFLOW. Exact
 * arithmetic decides the unsure signs. */
#define COLLIDE_UNDERFLOW 9.4039548065783e-38f /* 2^-123: eight times the smallest normal number */

/* Result of collide_ray_triangle, in bits. */
#define COLLIDE_RAY_MET    1u
#define COLLIDE_RAY_ALONG  2u /* its normal points along the axis, if it is met */
#define COLLIDE_RAY_UNSURE 4u
#define COLLIDE_RAY_BEFORE 8u  /* the whole triangle is ahead of the point */
#define COLLIDE_RAY_AROUND 16u /* its box contains the point */

/* An edge's contribution to the test of a triangle, in bits. Bit 0: the edge passes above the
 * point. Bit 1: so it does, and its first end has the greater y. Bit 2: unsure. The ends are
 * relative to the point; a_up, b_up: the end's y is above 0. */
FUNCTION(uint) collide_ray_edge(uint a_up, float ay, float az, uint b_up, float by, float bz)
{
    uint passes = a_up ^ b_up;
    uint a_over = U(az > 0.0f);
    uint b_over = U(bz > 0.0f);
    float ab = ay * bz;
    float ba = az * by;
    float turn = ab - ba;
    float error = (abs(ab) + abs(ba)) * COLLIDE_RELATIVE + COLLIDE_UNDERFLOW;
    uint left = U(turn > error);
    uint right = U(turn < -error);
    uint mixed = a_over ^ b_over;
    uint above = passes & ((a_over & b_over) | (mixed & ((a_up & left) | (b_up & right))));
    return above | (above & a_up) << 1u | (passes & mixed & ((left | right) ^ 1u)) << 2u;
}

/* Coordinates are in the order of the ray's axes. is_back: the ray goes towards lower
 * coordinates. */
FUNCTION(uint) collide_ray_triangle(vec3 p, vec3 a, vec3 b, vec3 c, bool is_back)
{
    float y0 = a.y - p.y;
    float y1 = b.y - p.y;
    float y2 = c.y - p.y;
    float z0 = a.z - p.z;
    float z1 = b.z - p.z;
    float z2 = c.z - p.z;
    float low = min(min(a.x, b.x), c.x);
    float high = max(max(a.x, b.x), c.x);
    uint up0 = U(y0 > 0.0f);
    uint up1 = U(y1 > 0.0f);
    uint up2 = U(y2 > 0.0f);
    uint ab = collide_ray_edge(up0, y0, z0, up1, y1, z1);
    uint bc = collide_ray_edge(up1, y1, z1, up2, y2, z2);
    uint ca = collide_ray_edge(up2, y2, z2, up0, y0, z0);
    uint any = ab | bc | ca;
    uint before = is_back ? U(high < p.x) : U(low > p.x);
    uint past = is_back ? U(low > p.x) : U(high < p.x);
    uint around = U(low <= p.x) & U(high >= p.x);
    around &= U(min(min(y0, y1), y2) <= 0.0f) & U(max(max(y0, y1), y2) >= 0.0f);
    around &= U(min(min(z0, z1), z2) <= 0.0f) & U(max(max(z0, z1), z2) >= 0.0f);
    uint ahead = past ^ 1u;
    uint met = (ab ^ bc ^ ca) & 1u;
    return (met & ahead) | (any & 2u) | (any & (ahead << 2u)) | before << 3u | around << 4u;
}

/* The side of a triangle's plane on which the point lies. Bit 0: the determinant of the corners,
 * relative to the point, is above 0. Bit 1: it is below 0. Neither: unsure. */
FUNCTION(uint) collide_ray_side(vec3 p, vec3 a, vec3 b, vec3 c)
{
    float ax = a.x - p.x;
    float ay = a.y - p.y;
    float az = a.z - p.z;
    float bx = b.x - p.x;
    float by = b.y - p.y;
    float bz = b.z - p.z;
    float cx = c.x - p.x;
    float cy = c.y - p.y;
    float cz = c.z - p.z;
    float sum = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
    float terms = abs(ax) * (abs(by * cz) + abs(bz * cy)) +
                  abs(ay) * (abs(bz * cx) + abs(bx * cz)) + abs(az) * (abs(bx * cy) + abs(by * cx));
    float size = abs(ax) + abs(ay) + abs(az);
    float error = terms * COLLIDE_RELATIVE + size * COLLIDE_UNDERFLOW + COLLIDE_UNDERFLOW;
    return U(sum > error) | U(sum < -error) << 1u;
}
