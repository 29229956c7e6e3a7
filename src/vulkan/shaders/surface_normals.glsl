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

/* The 3x3 of a plane across an axis, smoothed. A missing sample counts as the plane's centre; a
 * missing centre makes the plane missing. */
float plane9(ivec3 at, int axis, uvec3 iso)
{
    ivec3 u = axis == 0 ? ivec3(0, 1, 0) : ivec3(1, 0, 0);
    ivec3 v = axis == 2 ? ivec3(0, 1, 0) : ivec3(0, 0, 1);
    float centre = gradient_sample(at, iso), corners = 0.0, edges = 0.0;
    for (int i = 0; i < 9; i++) {
        int du = i % 3 - 1, dv = i / 3 - 1;
        if (du == 0 && dv == 0)
            continue;
        float s = gradient_sample(at + du * u + dv * v, iso);
        s = is_nan(s) ? centre : s;
        if (du != 0 && dv != 0)
            corners += s;
        else
            edges += s;
    }
    return surface_smooth9(corners, edges, centre);
}

float tap(ivec3 at, int axis, uvec3 iso)
{
    return NORMALS == NORMALS_SOBEL ? plane9(at, axis, iso) : gradient_sample(at, iso);
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
        float low = tap(has_low ? here - step : here, axis, iso);
        float high = tap(has_high ? here + step : here, axis, iso);
        if (is_nan(low) || is_nan(high)) {
            float middle = tap(here, axis, iso);
            steps -= (is_nan(low) ? 1u : 0u) + (is_nan(high) ? 1u : 0u);
            low = is_nan(low) ? middle : low;
            high = is_nan(high) ? middle : high;
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
    vec3 g = surface_mix3(gradient(low, iso), gradient(high, iso), t);
    return surface_normal(g, rows[0], rows[1], rows[2]);
}

/* A cap's: outward along the axis, side -1 or 1. */
vec3 cap_normal(int axis, float side)
{
    vec3 n;
    for (int c = 0; c < 3; c++)
        n[c] = -side * head_float(SURFACE_HEAD_NORMALS + 3u * uint(c) + uint(axis));
    return n / length(n);
}
