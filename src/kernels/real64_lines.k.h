/* Lines against triangles in doubles. The arguments are floats, so a difference of two is rounded
 * only once. */
#define REAL64_FLOAT_NAN 0x7fc00000u

STRUCT_BEGIN(real64_vec3)
uvec2 x;
uvec2 y;
uvec2 z;
STRUCT_END(real64_vec3)

FUNCTION(real64_vec3) real64_vec3_of(uvec3 bits)
{
    real64_vec3 v;
    v.x = real64_of_float(bits.x);
    v.y = real64_of_float(bits.y);
    v.z = real64_of_float(bits.z);
    return v;
}

FUNCTION(real64_vec3)
real64_subtract3(real64_vec3 p, real64_vec3 q)
{
    real64_vec3 v;
    v.x = real64_subtract(p.x, q.x);
    v.y = real64_subtract(p.y, q.y);
    v.z = real64_subtract(p.z, q.z);
    return v;
}

FUNCTION(real64_vec3) real64_cross3(real64_vec3 p, real64_vec3 q)
{
    real64_vec3 v;
    v.x = real64_subtract(real64_multiply(p.y, q.z), real64_multiply(p.z, q.y));
    v.y = real64_subtract(real64_multiply(p.z, q.x), real64_multiply(p.x, q.z));
    v.z = real64_subtract(real64_multiply(p.x, q.y), real64_multiply(p.y, q.x));
    return v;
}

FUNCTION(uvec2) real64_dot3(real64_vec3 p, real64_vec3 q)
{
    return real64_add(real64_add(real64_multiply(p.x, q.x), real64_multiply(p.y, q.y)),
                      real64_multiply(p.z, q.z));
}

FUNCTION(real64_vec3) real64_vec3_at(vec4 v)
{
    return real64_vec3_of(UVEC3(floatBitsToUint(v.x), floatBitsToUint(v.y), floatBitsToUint(v.z)));
}

FUNCTION(uvec2) real64_magnitude(uvec2 a)
{
    return UVEC2(a.x, a.y & 0x7fffffffu);
}

FUNCTION(uvec2) real64_farther(uvec2 a, uvec2 b)
{
    uint is_b = 0u - real64_is_nearer(a, b);
    return UVEC2(a.x ^ ((a.x ^ b.x) & is_b), (a.y ^ ((a.y ^ b.y) & is_b)) & 0x7fffffffu);
}

FUNCTION(uvec2) real64_farthest3(real64_vec3 p)
{
    return real64_farther(real64_farther(p.x, p.y), p.z);
}

/* A quotient, rounded nearly correctly although devices divide less exactly. Without PRECISE, a
 * compiler may combine a / b + r / b into (a + r) / b, as NVIDIA's does, and r is lost. */
FUNCTION(float) real64_quotient(float a, float b)
{
    PRECISE float about = a / b;
    uvec2 product = real64_multiply(real64_of_float(floatBitsToUint(about)),
                                    real64_of_float(floatBitsToUint(b)));
    uvec2 rest = real64_subtract(real64_of_float(floatBitsToUint(a)), product);
    PRECISE float more = uintBitsToFloat(real64_to_float(rest)) / b;
    PRECISE float quotient = about + more;
    return quotient;
}

/* Error bound of a determinant of vectors p, q and r, which is a sum of six products. Three
 * differences, two products and three sums are rounded, so each product has an error below 2^-49 of
 * the product of the vectors' largest components. 2^-46 of that product bounds the total. */

/* Does the ray's line pass through the triangle? 1: yes; 0: no; 2: doubles cannot decide. */
FUNCTION(uint)
real64_line_passes(real64_vec3 a, real64_vec3 b, real64_vec3 c, real64_vec3 origin, real64_vec3 way)
{
    uint signs = 0u; /* bit 0: an edge with a determinant above 0; bit 1: below; bit 2: unsure */
    uvec2 way_far = real64_farthest3(way);
    for (uint i = 0u; i < 3u; i++) {
        real64_vec3 from = real64_subtract3(a, origin);
        real64_vec3 edge = real64_subtract3(b, a);
        uvec2 d = real64_dot3(way, real64_cross3(from, edge));
        uvec2 size = real64_multiply(real64_farthest3(from), real64_farthest3(edge));
        uvec2 off = real64_scale(real64_multiply(size, way_far), -46);
        uint is_sure = real64_less(off, real64_magnitude(d));
        signs |= is_sure << (d.y >> 31u) | (1u - is_sure) << 2u;
        real64_vec3 first = a;
        a = b;
        b = c;
        c = first;
    }
    if ((signs & 3u) == 3u)
        return 0u;
    return (signs & 4u) != 0u ? 2u : 1u;
}

/* The bits of t, rounded to float, at which the ray meets the triangle's plane; NaN's bits if
 * doubles cannot decide the rounding. Rounding the quotient n / m of determinants to f is decided
 * if n - f m is certainly below half of m times the last place of f. */
FUNCTION(uint)
real64_line_t(real64_vec3 a, real64_vec3 b, real64_vec3 c, real64_vec3 origin, real64_vec3 way)
{
    real64_vec3 u = real64_subtract3(b, a);
    real64_vec3 v = real64_subtract3(c, a);
    real64_vec3 from = real64_subtract3(a, origin);
    real64_vec3 normal = real64_cross3(u, v);
    uvec2 m = real64_dot3(normal, way);
    int down = 1023 - I(real64_exponent(m));
    m = real64_scale(m, down); /* from 1 to 2 */
    uvec2 n = real64_scale(real64_dot3(normal, from), down);
    uvec2 size = real64_scale(real64_multiply(real64_farthest3(u), real64_farthest3(v)), down - 46);
    float divisor = uintBitsToFloat(real64_to_float(m));
    PRECISE float about = uintBitsToFloat(real64_to_float(n)) / divisor;
    uvec2 rest = real64_subtract(n, real64_multiply(real64_of_float(floatBitsToUint(about)), m));
    PRECISE float more = uintBitsToFloat(real64_to_float(rest)) / divisor;
    PRECISE float t = about + more; /* as in real64_quotient */
    uint bits = floatBitsToUint(t);
    uint exponent = bits >> 23u & 0xffu;
    uvec2 quotient = real64_of_float(bits);
    uvec2 product = real64_multiply(quotient, m);
    rest = real64_magnitude(real64_subtract(n, product));
    uvec2 off = real64_multiply(
        size, real64_add(real64_farthest3(from),
                         real64_multiply(real64_magnitude(quotient), real64_farthest3(way))));
    off = real64_add(off, real64_scale(real64_magnitude(product), -51));
    uvec2 least =
        real64_subtract(real64_magnitude(m), real64_multiply(size, real64_farthest3(way)));
    /* half the last place; just below a power of two, it is half as much */
    int place = I(exponent) - 151 - ((bits & 0x7fffffu) == 0u ? 1 : 0);
    uint is_sure = real64_less(real64_add(rest, off), real64_scale(least, place));
    /* from 2^-100 to 2^101: not flushed to 0 by any device */
    bool fits = down < 700 && exponent >= 27u && exponent < 228u;
    return is_sure != 0u && fits ? bits : REAL64_FLOAT_NAN;
}

/* a / b, for b other than 0. */
FUNCTION(uvec2) real64_divide(uvec2 a, uvec2 b)
{
    uvec2 m = real64_significand(a);
    uvec2 n = real64_significand(b);
    int exponent = I(real64_exponent(a)) - I(real64_exponent(b)) + 1023;
    if (m.y < n.y || (m.y == n.y && m.x < n.x)) {
        m = real64_shift_left(m, 1u);
        exponent -= 1;
    }
    uvec2 quotient = UVEC2(0u, 0u);
    for (uint i = 0u; i < 57u; i++) {
        quotient = real64_shift_left(quotient, 1u);
        if (m.y > n.y || (m.y == n.y && m.x >= n.x)) {
            m = UVEC2(m.x - n.x, m.y - n.y - U(m.x < n.x));
            quotient.x |= 1u;
        }
        m = real64_shift_left(m, 1u);
    }
    quotient.x |= min(m.x | m.y, 1u);
    return real64_round((a.y ^ b.y) & 0x80000000u, exponent * I(real64_is_other_than_zero(a)),
                        quotient);
}

/* Barycentric weights of the second and third corner at the point where the ray meets the
 * triangle's plane: the determinant of the edge opposite the corner, divided by the sum of all
 * three, as in tree_cast_hits.c. */
FUNCTION(vec2)
real64_line_weights(real64_vec3 a, real64_vec3 b, real64_vec3 c, real64_vec3 origin,
                    real64_vec3 way)
{
    real64_vec3 p = real64_subtract3(a, origin);
    real64_vec3 q = real64_subtract3(b, origin);
    real64_vec3 r = real64_subtract3(c, origin);
    uvec2 parts[3];
    uvec2 sum = UVEC2(0u, 0u);
    for (uint i = 0u; i < 3u; i++) {
        parts[i] = real64_dot3(way, real64_cross3(q, r));
        sum = real64_add(sum, parts[i]);
        real64_vec3 first = p;
        p = q;
        q = r;
        r = first;
    }
    uint weights[2];
    for (uint k = 0u; k < 2u; k++) {
        uint bits = real64_is_other_than_zero(sum) == 0u
                        ? 0u
                        : real64_to_float(real64_divide(parts[k + 1u], sum));
        weights[k] = bits > 0x7fffffffu ? 0u : min(bits, 0x3f800000u);
    }
    return VEC2(uintBitsToFloat(weights[0]), uintBitsToFloat(weights[1]));
}
