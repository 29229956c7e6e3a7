/* Field formulas: the term of one point at a sample, and how a sample combines the terms of its
 * points.
 *
 * q is the distance divided by the point's reach (the kernel's support radius; for FIELD_DISTANCE,
 * the radius plus the margin). From q = 1 on, every term equals the background, so engines skip the
 * point.
 *
 * After: Wendland: Piecewise polynomial, positive definite and compactly supported radial functions
 * of minimal degree. 1995; Mueller, Charypar, Gross: Particle-Based Fluid Simulation for
 * Interactive Applications. 2003 (poly6); Nishimura et al.: Object Modeling by Distribution
 * Function and a Method of Image Generation. 1985 (metaball); Monaghan: Smoothed particle
 * hydrodynamics. 1992 (cubic spline). All are scaled to 1 at the centre. */
#define FIELD_WENDLAND_C2 0
#define FIELD_POLY6       1
#define FIELD_METABALL    2
#define FIELD_SPLINE      3
#define FIELD_DISTANCE    4 /* signed distance to the union of spheres */

FUNCTION(float) wendland_c2(float q)
{
    float t = max(1.0f - q, 0.0f);
    float t2 = t * t;
    return t2 * t2 * (4.0f * q + 1.0f);
}

FUNCTION(float) poly6(float q2)
{
    float t = max(1.0f - q2, 0.0f);
    return t * t * t;
}

FUNCTION(float) metaball(float q)
{
    float t = max(1.0f - q, 0.0f);
    return q < 1.0f / 3.0f ? 1.0f - 3.0f * q * q : 1.5f * t * t;
}

FUNCTION(float) cubic_spline(float q)
{
    float t = max(1.0f - q, 0.0f);
    return q < 0.5f ? 1.0f - 6.0f * q * q * t : 2.0f * t * t * t;
}

/* A point's term at squared relative distance q2. Only FIELD_DISTANCE uses reach and margin, which
 * are in world units. */
FUNCTION(float) field_term(int formula, float q2, float reach, float margin)
{
    if (formula == FIELD_POLY6)
        return poly6(q2);
    float q = sqrt(q2);
    if (formula == FIELD_WENDLAND_C2)
        return wendland_c2(q);
    if (formula == FIELD_METABALL)
        return metaball(q);
    if (formula == FIELD_SPLINE)
        return cubic_spline(q);
    return reach * max(1.0f - q, 0.0f) - margin;
}

/* The factor of a point's term, from the point's density; 0 if the density is out of range. */
FUNCTION(float) field_share(float density)
{
    return density >= 1e-30f && density <= 1e30f ? 1.0f / density : 0.0f;
}

FUNCTION(float) field_join(int formula, float sample_value, float term)
{
    return formula == FIELD_DISTANCE ? max(sample_value, term) : sample_value + term;
}

/* Half the width of a point's support box along an axis, in samples. extent: the same for a reach
 * of 1. The box is widened by 2^-20 of the reach and 2^-10 of a sample, so that rounding excludes
 * no sample within the support from any slab. */
FUNCTION(float) field_support(float reach, float extent)
{
    float wide = reach + reach * 9.5367431640625e-7f;
    return wide * extent + 9.765625e-4f;
}

/* Does the support box around a position meet the box of samples from first to last? */
FUNCTION(bool) field_is_near(vec3 position, vec3 support, vec3 first, vec3 last)
{
    bool x = position.x + support.x >= first.x && position.x - support.x <= last.x;
    bool y = position.y + support.y >= first.y && position.y - support.y <= last.y;
    bool z = position.z + support.z >= first.z && position.z - support.z <= last.z;
    return x && y && z;
}
