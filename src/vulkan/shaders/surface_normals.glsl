/* Gradients at samples, and normals from them. Neighbours are those of the whole volume, whatever the
 * region; what NaN neighbours do is as on the CPU: they count as not there. */
layout(constant_id = 5) const uint NORMALS = 0u; /* tml_normals */
const uint NORMALS_FORWARD = 1u, NORMALS_SOBEL = 3u;

/* A sample as the gradient sees it; positions past the border are those on it. */
float gradient_sample(ivec3 at, uvec3 iso)
{
    uvec3 dims = uvec3(args.dim_x, args.dim_y, args.dim_z);
    uvec3 p = uvec3(clamp(at, ivec3(0), ivec3(dims) - 1));
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
    ivec3 here = ivec3(at), dims = ivec3(int(args.dim_x), int(args.dim_y), int(args.dim_z));
    for (int axis = 0; axis < 3; axis++) {
        ivec3 step = ivec3(axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0);
        bool has_low = here[axis] > 0, has_high = here[axis] + 1 < dims[axis];
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
        g[axis] = surface_difference(low, high, steps);
    }
    return g;
}

vec3 vertex_normal(uvec3 low, uvec3 high, float t, uvec3 iso)
{
    vec3 rows[3];
    for (uint i = 0u; i < 3u; i++)
        rows[i] = vec3(head_float(SURFACE_HEAD_NORMALS + 3u * i),
                       head_float(SURFACE_HEAD_NORMALS + 3u * i + 1u),
                       head_float(SURFACE_HEAD_NORMALS + 3u * i + 2u));
    vec3 ends[2];
    for (int end = 0; end < 2; end++)
        ends[end] = gradient(end == 0 ? low : high, iso);
    return surface_normal(surface_mix3(ends[0], ends[1], t), rows[0], rows[1], rows[2]);
}

/* A cap's: outward along the axis, side -1 or 1. */
vec3 cap_normal(int axis, float side)
{
    vec3 n;
    for (int c = 0; c < 3; c++)
        n[c] = -side * head_float(SURFACE_HEAD_NORMALS + 3u * uint(c) + uint(axis));
    return n / length(n);
}
