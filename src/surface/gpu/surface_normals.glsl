/* Gradients at samples, and normals from them, for the shaders of both GPU engines, which have before it
 * surface_samples.glsl, NORMALS (a tml_normals), uvec2 sample_at(uvec3), uvec3 volume_dims() and
 * vec3 normal_row(uint). Neighbours are those of the whole volume, whatever the region; what NaN
 * neighbours do is as on the CPU: they count as not there. */
const uint NORMALS_FORWARD = 1u, NORMALS_SOBEL = 3u;

/* Components by number: some drivers are slow to index vectors, or wrong. */
int pick3(ivec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}
float pick3(vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/* A sample as the gradient sees it; positions past the border are those on it. */
float gradient_sample(ivec3 at, uvec3 iso)
{
    uvec3 p = uvec3(clamp(at, ivec3(0), ivec3(volume_dims()) - 1));
    uvec2 raw = sample_at(p);
    if (has(SURFACE_LABEL))
        return key_of(TYPE, raw) == iso.xy ? 1.0 : 0.0;
    return number_of(TYPE, raw);
}

/* What is differenced along an axis: a sample or, for Sobel, the 3x3 of the plane across the axis,
 * smoothed. There a missing sample counts as the plane's centre; a missing centre makes the plane
 * missing. (Everything here is looped over and not written out: drivers take it all into one
 * function.) */
float tap(ivec3 at, int axis, uvec3 iso)
{
    ivec3 u = axis == 0 ? ivec3(0, 1, 0) : ivec3(1, 0, 0);
    ivec3 v = axis == 2 ? ivec3(0, 1, 0) : ivec3(0, 0, 1);
    float centre = 0.0, corners = 0.0, edges = 0.0;
    int count = NORMALS == NORMALS_SOBEL ? 9 : 1;
    for (int i = 0; i < count; i++) {
        int place = i == 0 ? 4 : i <= 4 ? i - 1 : i; /* the centre first */
        int du = place % 3 - 1, dv = place / 3 - 1;
        float s = gradient_sample(at + du * u + dv * v, iso);
        if (i == 0)
            centre = s;
        s = is_nan(s) ? centre : s;
        if (du != 0 && dv != 0)
            corners += s;
        else if (i != 0)
            edges += s;
    }
    return NORMALS == NORMALS_SOBEL ? surface_smooth9(corners, edges, centre) : centre;
}

vec3 gradient(uvec3 at, uvec3 iso)
{
    vec3 g = vec3(0.0);
    ivec3 here = ivec3(at), dims = ivec3(volume_dims());
    for (int axis = 0; axis < 3; axis++) {
        ivec3 step = ivec3(axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0);
        bool has_low = pick3(here, axis) > 0;
        bool has_high = pick3(here, axis) + 1 < pick3(dims, axis);
        if (NORMALS == NORMALS_FORWARD && has_high)
            has_low = false; /* backward at the last sample */
        uint steps = (has_low ? 1u : 0u) + (has_high ? 1u : 0u);
        float low = 0.0, high = 0.0;
        for (int side = 0; side < 3; side++) {
            if (side == 2 && !is_nan(low) && !is_nan(high))
                break;
            ivec3 place = side == 0 && has_low ? here - step : side == 1 && has_high ? here + step : here;
            float s = tap(place, axis, iso);
            if (side == 0) {
                low = s;
            } else if (side == 1) {
                high = s;
            } else { /* one-sided where a neighbour is missing */
                steps -= (is_nan(low) ? 1u : 0u) + (is_nan(high) ? 1u : 0u);
                low = is_nan(low) ? s : low;
                high = is_nan(high) ? s : high;
            }
        }
        float difference = surface_difference(low, high, steps);
        g = axis == 0 ? vec3(difference, g.yz) : axis == 1 ? vec3(g.x, difference, g.z)
                                                           : vec3(g.xy, difference);
    }
    return g;
}

vec3 vertex_normal(uvec3 low, uvec3 high, float t, uvec3 iso)
{
    vec3 first = vec3(0.0), second = vec3(0.0);
    for (int end = 0; end < 2; end++) {
        first = second;
        second = gradient(end == 0 ? low : high, iso);
    }
    return surface_normal(surface_mix3(first, second, t), normal_row(0u), normal_row(1u),
                          normal_row(2u));
}

/* A cap's: outward along the axis, side -1 or 1. */
vec3 cap_normal(int axis, float side)
{
    vec3 n = -side * vec3(pick3(normal_row(0u), axis), pick3(normal_row(1u), axis),
                          pick3(normal_row(2u), axis));
    return n / length(n);
}
