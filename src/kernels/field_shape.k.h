/* A point's kernel as an ellipsoid that follows the distribution of the points near it.
 *
 * After: Yu, Turk: Reconstructing surfaces of particle-based fluids using anisotropic kernels.
 * 2013. As there, the axes' lengths are proportional to the eigenvalues of the covariance, not to
 * their roots. Their factor k_s, which maps a full neighbourhood's covariance to the identity, is a
 * known constant here: in a ball with weights 1 - q^3, the variance along each axis is 0.15 of the
 * squared radius. */

/* Bounds of half the longest axis, in radii. */
#define FIELD_SHAPE_LEAST 0.5f
#define FIELD_SHAPE_MOST  1.5f /* TML_FIELD_SHAPES_REACH */

/* A symmetric matrix in the basis u v w. */
STRUCT_BEGIN(field_axes)
vec3 diagonal; /* xx yy zz */
vec3 others;   /* yz xz xy */
vec3 u;
vec3 v;
vec3 w;
STRUCT_END(field_axes)

/* Rotates the first two axes so that xy becomes 0 (a step of Jacobi's method), and then moves the
 * first axis to the end, so that the next call treats the next pair. */
FUNCTION(field_axes) field_axes_turned(field_axes a)
{
    float difference = a.diagonal.y - a.diagonal.x;
    float twice = difference < 0.0f ? -2.0f * a.others.z : 2.0f * a.others.z;
    float size = abs(difference) + sqrt(difference * difference + twice * twice);
    float t = size > 0.0f ? twice / size : 0.0f;
    float c = 1.0f / sqrt(1.0f + t * t);
    float s = t * c;
    field_axes r;
    r.diagonal = VEC3(a.diagonal.y + t * a.others.z, a.diagonal.z, a.diagonal.x - t * a.others.z);
    r.others = VEC3(c * a.others.y - s * a.others.x, 0.0f, s * a.others.y + c * a.others.x);
    r.u = add3(scale3(a.u, s), scale3(a.v, c));
    r.v = a.w;
    r.w = sub3(scale3(a.u, c), scale3(a.v, s));
    return r;
}

/* The eigenvalues of a symmetric matrix, as the diagonal, and its eigenvectors. */
FUNCTION(field_axes) field_axes_of(vec3 diagonal, vec3 others)
{
    field_axes a;
    a.diagonal = diagonal;
    a.others = others;
    a.u = VEC3(1.0f, 0.0f, 0.0f);
    a.v = VEC3(0.0f, 1.0f, 0.0f);
    a.w = VEC3(0.0f, 0.0f, 1.0f);
    for (int turn = 0; turn < 15; turn++) /* five of each pair; more change nothing */
        a = field_axes_turned(a);
    return a;
}

STRUCT_BEGIN(field_shape)
vec3 move; /* from the point to its centre, in reaches of the moments */
vec3 diagonal;
vec3 others;
float volume; /* of the ellipsoid, over that of the ball */
STRUCT_END(field_shape)

/* The shape from the moments around a point. The moments have a reach of FIELD_SHAPE_MOST radii. */
FUNCTION(field_shape)
field_shape_of(field_mean_sum moments, float smoothing, float flattest, float lone, float fewest)
{
    vec3 mean = VEC3(moments.a.x, moments.a.y, moments.a.z);
    field_axes axes =
        field_axes_of(VEC3(moments.b.x - mean.x * mean.x, moments.b.y - mean.y * mean.y,
                           moments.b.z - mean.z * mean.z),
                      VEC3(moments.c.x - mean.y * mean.z, moments.c.y - mean.x * mean.z,
                           moments.c.z - mean.x * mean.y));
    vec3 lengths = VEC3(lone, lone, lone);
    if (moments.d.x * moments.weight > fewest + 0.5f) {
        vec3 found = scale3(axes.diagonal, 1.0f / 0.15f);
        float longest =
            clamp(max(found.x, max(found.y, found.z)), FIELD_SHAPE_LEAST, FIELD_SHAPE_MOST);
        float least = longest * flattest;
        lengths = VEC3(clamp(found.x, least, longest), clamp(found.y, least, longest),
                       clamp(found.z, least, longest));
    }
    vec3 f = VEC3(FIELD_SHAPE_MOST / lengths.x, FIELD_SHAPE_MOST / lengths.y,
                  FIELD_SHAPE_MOST / lengths.z);
    vec3 u = axes.u;
    vec3 v = axes.v;
    vec3 w = axes.w;
    field_shape r;
    r.move = scale3(mean, -smoothing);
    r.diagonal = VEC3(f.x * u.x * u.x + f.y * v.x * v.x + f.z * w.x * w.x,
                      f.x * u.y * u.y + f.y * v.y * v.y + f.z * w.y * w.y,
                      f.x * u.z * u.z + f.y * v.z * v.z + f.z * w.z * w.z);
    r.others = VEC3(f.x * u.y * u.z + f.y * v.y * v.z + f.z * w.y * w.z,
                    f.x * u.x * u.z + f.y * v.x * v.z + f.z * w.x * w.z,
                    f.x * u.x * u.y + f.y * v.x * v.y + f.z * w.x * w.y);
    r.volume = lengths.x * lengths.y * lengths.z;
    return r;
}
