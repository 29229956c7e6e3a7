/* The point of a triangle that is nearest to another point, in doubles: the same bits on the host
 * and on every device with doubles. Each operation below rounds once, so devices must not fuse
 * operations (PRECISE). Devices may round quotients and square roots differently, so both are
 * corrected here. Not for GLSL ES, which has no doubles. */
#ifdef TML_GLSL
#    define COLLIDE_DOUBLE(x) double(x)

/* The rounding error of product = a * b, exactly, by Veltkamp's halves of 26 bits (Dekker 1971). */
double collide_rounding_of(double product, double a, double b)
{
    precise double c = 134217729.0 * a;
    precise double d = 134217729.0 * b;
    precise double a_over = c - a;
    precise double b_over = d - b;
    precise double a_high = c - a_over;
    precise double b_high = d - b_over;
    precise double a_low = a - a_high;
    precise double b_low = b - b_high;
    precise double error =
        ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return error;
}

/* Added to a positive number, this rounds to the number's neighbour. */
double collide_step_of(double x)
{
    precise double step = x * 1.1113193e-16; /* 2^-53 and a little */
    return step;
}

/* a / b, correctly rounded. The remainder, computed exactly, gives the error of the device's
 * quotient and then decides which neighbour is nearer. */
double collide_quotient(double a, double b)
{
    precise double first = a / b;
    if (!(first != 0.0))
        return first; /* a zero keeps its sign */
    double over = abs(a);
    double under = abs(b);
    precise double quotient = abs(first);
    precise double product = quotient * under;
    precise double rest = (over - product) - collide_rounding_of(product, quotient, under);
    precise double better = quotient + rest / under;
    precise double up = better + collide_step_of(better);
    precise double down = better - collide_step_of(better);
    precise double again = better * under;
    precise double left = (over - again) - collide_rounding_of(again, better, under);
    precise double above = 0.5 * (up - better) * under;
    precise double below = 0.5 * (better - down) * under;
    double nearest = left > above ? up : left < -below ? down : better;
    return first < 0.0 ? -nearest : nearest;
}

double collide_root(double x)
{
    if (!(x > 0.0))
        return 0.0;
    precise double root = sqrt(x);
    precise double product = root * root;
    precise double rest = (x - product) - collide_rounding_of(product, root, root);
    precise double better = root + rest / (2.0 * root);
    precise double up = better + collide_step_of(better);
    precise double down = better - collide_step_of(better);
    precise double again = better * better;
    precise double left = (x - again) - collide_rounding_of(again, better, better);
    precise double above = better * (up - better);
    precise double below = better * (better - down);
    return left > above ? up : left <= -below ? down : better;
}
#else
/* By Veltkamp's halves if there is no fast fma. */
static inline double collide_rounding_of(double product, double a, double b)
{
#    ifdef FP_FAST_FMA
    return fma(a, b, -product);
#    else
    double c = 0x1.0000002p+27 * a, d = 0x1.0000002p+27 * b;
    double a_high = c - (c - a), b_high = d - (d - b), a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#    endif
}
#    define COLLIDE_DOUBLE(x)      ((double)(x))
#    define collide_quotient(a, b) ((a) / (b))
#    define collide_root(x)        sqrt(x)
#endif

/* The nearest point of the edge from a to b. t: its position on the edge, from 0 to 1; squared: the
 * square of its distance. a and b are relative to the point. */
STRUCT_BEGIN(collide_edge_place)
double t;
double squared;
STRUCT_END(collide_edge_place)

FUNCTION(collide_edge_place)
collide_edge_nearest(double ax, double ay, double az, double bx, double by, double bz)
{
    PRECISE double ex = bx - ax;
    PRECISE double ey = by - ay;
    PRECISE double ez = bz - az;
    PRECISE double along = -(ax * ex + ay * ey + az * ez);
    PRECISE double length = ex * ex + ey * ey + ez * ez;
    PRECISE double t = collide_quotient(along, length > 0.0 ? length : 1.0);
    t = t > 0.0 ? t : 0.0;
    t = t < 1.0 ? t : 1.0;
    /* The far end itself, since the rounded sum may differ from it. */
    PRECISE double x = t == 1.0 ? bx : ax + t * ex;
    PRECISE double y = t == 1.0 ? by : ay + t * ey;
    PRECISE double z = t == 1.0 ? bz : az + t * ez;
    PRECISE double squared = x * x + y * y + z * z;
    collide_edge_place place;
    place.t = t;
    place.squared = squared;
    return place;
}

/* The nearest point of a triangle's plane, and the square of its distance; -1 if the point does not
 * project into the triangle. */
STRUCT_BEGIN(collide_face_place)
double x;
double y;
double z;
double squared;
STRUCT_END(collide_face_place)

FUNCTION(collide_face_place)
collide_face_nearest(double ax, double ay, double az, double bx, double by, double bz, double cx,
                     double cy, double cz)
{
    PRECISE double ux = bx - ax;
    PRECISE double uy = by - ay;
    PRECISE double uz = bz - az;
    PRECISE double vx = cx - ax;
    PRECISE double vy = cy - ay;
    PRECISE double vz = cz - az;
    PRECISE double nx = uy * vz - uz * vy;
    PRECISE double ny = uz * vx - ux * vz;
    PRECISE double nz = ux * vy - uy * vx;
    PRECISE double ab =
        (ay * bz - az * by) * nx + (az * bx - ax * bz) * ny + (ax * by - ay * bx) * nz;
    PRECISE double bc =
        (by * cz - bz * cy) * nx + (bz * cx - bx * cz) * ny + (bx * cy - by * cx) * nz;
    PRECISE double ca =
        (cy * az - cz * ay) * nx + (cz * ax - cx * az) * ny + (cx * ay - cy * ax) * nz;
    PRECISE double square = nx * nx + ny * ny + nz * nz;
    PRECISE double height = ax * nx + ay * ny + az * nz;
    PRECISE double part = collide_quotient(height, square > 0.0 ? square : 1.0);
    PRECISE double squared = height * part;
    PRECISE double x = part * nx;
    PRECISE double y = part * ny;
    PRECISE double z = part * nz;
    double least = ab < bc ? ab : bc;
    least = least < ca ? least : ca;
    collide_face_place place;
    place.x = x;
    place.y = y;
    place.z = z;
    place.squared = square > 0.0 && least >= 0.0 ? squared : -1.0;
    return place;
}

/* The square of the distance between a triangle and the point to which its corners are relative. */
FUNCTION(double)
collide_triangle_apart(double ax, double ay, double az, double bx, double by, double bz, double cx,
                       double cy, double cz)
{
    double ab = collide_edge_nearest(ax, ay, az, bx, by, bz).squared;
    double bc = collide_edge_nearest(bx, by, bz, cx, cy, cz).squared;
    double ca = collide_edge_nearest(cx, cy, cz, ax, ay, az).squared;
    double face = collide_face_nearest(ax, ay, az, bx, by, bz, cx, cy, cz).squared;
    double least = ab < bc ? ab : bc;
    least = least < ca ? least : ca;
    return face >= 0.0 && face < least ? face : least;
}

/* The point of a triangle nearest to a given point, and the tml_tree_feature on which it lies. */
STRUCT_BEGIN(collide_place)
double x;
double y;
double z;
double squared;
uint feature;
STRUCT_END(collide_place)

/* Replaces place by the edge's nearest point unless that point is farther. */
FUNCTION(collide_place)
collide_place_on_edge(collide_place place, uint i, vec3 point, vec3 a, vec3 b)
{
    double px = COLLIDE_DOUBLE(point.x);
    double py = COLLIDE_DOUBLE(point.y);
    double pz = COLLIDE_DOUBLE(point.z);
    double ax = COLLIDE_DOUBLE(a.x);
    double ay = COLLIDE_DOUBLE(a.y);
    double az = COLLIDE_DOUBLE(a.z);
    double bx = COLLIDE_DOUBLE(b.x);
    double by = COLLIDE_DOUBLE(b.y);
    double bz = COLLIDE_DOUBLE(b.z);
    collide_edge_place edge =
        collide_edge_nearest(ax - px, ay - py, az - pz, bx - px, by - py, bz - pz);
    PRECISE double x = ax + edge.t * (bx - ax);
    PRECISE double y = ay + edge.t * (by - ay);
    PRECISE double z = az + edge.t * (bz - az);
    if (!(place.squared >= 0.0) || edge.squared <= place.squared) {
        place.squared = edge.squared;
        place.feature = edge.t == 0.0 ? 4u + i : edge.t == 1.0 ? 4u + (i + 1u) % 3u : 1u + i;
        place.x = edge.t == 1.0 ? bx : x;
        place.y = edge.t == 1.0 ? by : y;
        place.z = edge.t == 1.0 ? bz : z;
    }
    return place;
}

FUNCTION(collide_place) collide_place_of(vec3 point, vec3 a, vec3 b, vec3 c)
{
    double px = COLLIDE_DOUBLE(point.x);
    double py = COLLIDE_DOUBLE(point.y);
    double pz = COLLIDE_DOUBLE(point.z);
    collide_face_place face = collide_face_nearest(
        COLLIDE_DOUBLE(a.x) - px, COLLIDE_DOUBLE(a.y) - py, COLLIDE_DOUBLE(a.z) - pz,
        COLLIDE_DOUBLE(b.x) - px, COLLIDE_DOUBLE(b.y) - py, COLLIDE_DOUBLE(b.z) - pz,
        COLLIDE_DOUBLE(c.x) - px, COLLIDE_DOUBLE(c.y) - py, COLLIDE_DOUBLE(c.z) - pz);
    PRECISE double x = face.x + px;
    PRECISE double y = face.y + py;
    PRECISE double z = face.z + pz;
    collide_place place;
    place.x = x;
    place.y = y;
    place.z = z;
    place.squared = face.squared;
    place.feature = 0u;
    place = collide_place_on_edge(place, 0u, point, a, b);
    place = collide_place_on_edge(place, 1u, point, b, c);
    return collide_place_on_edge(place, 2u, point, c, a);
}
