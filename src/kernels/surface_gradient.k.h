/* Gradients at samples. Neighbours come from the whole volume; outside it, the border's samples
 * repeat. A NaN sample counts as missing. The including C file or shader defines
 *   GRADIENT_PARAMS, GRADIENT_ARGS    the source of samples, as parameters and as arguments
 *   GRADIENT_SAMPLE(d)                the sample at offset d (an ivec3) from the current one, as a
 *                                     float
 *   GRADIENT_IS_NAN(s)                s: a sample or a sum of samples
 *   GRADIENT_STEP(has)                step to a neighbour: 1, or 0 if the volume has none there; or
 *                                     always 1, if the source repeats the border's samples itself
 *   GRADIENT_ARE_THERE(a, b)          neither is NaN, or a cheaper sufficient test
 *   GRADIENT_CHOOSE(c, a, b)          c ? a : b of floats
 *   GRADIENT_FORWARD, GRADIENT_SOBEL  bool, the kind of differences; neither: central ones
 *   GRADIENT_UNROLL_TAPS, GRADIENT_UNROLL_SIDES  before loops: an unroll pragma in C, nothing in
 *                                                GLSL */
#ifdef GRADIENT_SAMPLE

/* The offset of d steps along an axis, and u and v steps along the two others. */
FUNCTION(ivec3) surface_steps(int axis, int d, int u, int v)
{
    return IVEC3(axis == 0 ? d : u, axis == 1 ? d : axis == 0 ? u : v, axis == 2 ? d : v);
}

/* The term of a difference d steps along an axis: the sample there, or for Sobel the smoothed 3x3
 * neighbourhood in the plane normal to the axis. The value of the plane's centre replaces a missing
 * sample; a missing centre makes the term NaN. */
FUNCTION(float) surface_tap(GRADIENT_PARAMS, int axis, int d)
{
    float centre = 0.0f, corners = 0.0f, edges = 0.0f;
    int count = GRADIENT_SOBEL ? 9 : 1;
    GRADIENT_UNROLL_TAPS
    for (int i = 0; i < count; i++) {
        int place = i == 0 ? 4 : i <= 4 ? i - 1 : i; /* the centre first */
        int u = place % 3 - 1, v = place / 3 - 1;
        float s = GRADIENT_SAMPLE(surface_steps(axis, d, u, v));
        if (i == 0)
            centre = s;
        s = GRADIENT_CHOOSE(GRADIENT_IS_NAN(s), centre, s);
        if (u != 0 && v != 0)
            corners += s;
        else if (i != 0)
            edges += s;
    }
    return GRADIENT_SOBEL ? surface_smooth9(corners, edges, centre) : centre;
}

/* The derivative per grid step, from the differences to the samples one step before and after. */
FUNCTION(float) surface_central(float difference)
{
    return difference * 0.5f;
}

/* Derivative along an axis of count samples, at index i, per grid step. The divisor is the number
 * of grid steps between the two terms: 2 inside, 1 at a border; with 0, in a volume one thick, the
 * result is 0. */
FUNCTION(float) surface_slope(GRADIENT_PARAMS, int axis, int i, int count)
{
    bool has_high = i + 1 < count;
    bool has_low = GRADIENT_FORWARD && has_high ? false : i > 0; /* backward at the last sample */
    uint steps = U(has_low) + U(has_high);
    float low = 0.0f, high = 0.0f;
    GRADIENT_UNROLL_SIDES
    for (int side = 0; side < 3; side++) {
        if (side == 2 && GRADIENT_ARE_THERE(low, high))
            break;
        int d = side == 0 ? -GRADIENT_STEP(has_low) : side == 1 ? GRADIENT_STEP(has_high) : 0;
        float s = surface_tap(GRADIENT_ARGS, axis, d);
        if (side == 0) {
            low = s;
        } else if (side == 1) {
            high = s;
        } else { /* one-sided difference if a neighbour is missing */
            bool lacks_low = GRADIENT_IS_NAN(low), lacks_high = GRADIENT_IS_NAN(high);
            steps -= U(lacks_low) + U(lacks_high);
            low = GRADIENT_CHOOSE(lacks_low, s, low);
            high = GRADIENT_CHOOSE(lacks_high, s, high);
        }
    }
    float difference = high - low;
    return GRADIENT_CHOOSE(steps == 2u, surface_central(difference),
                           GRADIENT_CHOOSE(steps == 1u, difference, 0.0f));
}

/* Gradient at the current sample, whose index is at in a volume of dims samples. */
FUNCTION(vec3) surface_gradient(GRADIENT_PARAMS, ivec3 at, ivec3 dims)
{
    float x = 0.0f, y = 0.0f, z = 0.0f;
    GRADIENT_UNROLL_SIDES
    for (int axis = 0; axis < 3; axis++) {
        int i = axis == 0 ? at.x : axis == 1 ? at.y : at.z;
        int count = axis == 0 ? dims.x : axis == 1 ? dims.y : dims.z;
        float slope = surface_slope(GRADIENT_ARGS, axis, i, count);
        x = axis == 0 ? slope : x;
        y = axis == 1 ? slope : y;
        z = axis == 2 ? slope : z;
    }
    return VEC3(x, y, z);
}

#endif
