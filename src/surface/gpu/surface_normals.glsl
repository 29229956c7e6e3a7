/* Normals for the shaders of both GPU engines. Include it after surface_args.k.h,
 * surface_samples.glsl, NORMALS (a tml_normals), uvec2 sample_at(uvec3), uvec3 volume_dims() and
 * vec3 normal_row(uint). */

/* Returns component axis of v. Some drivers index vectors slowly or wrongly. */
float pick3(vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/* Returns the sample at a position clamped to the volume; with labels 1 for the label, else 0. */
float gradient_sample(ivec3 at, uvec3 iso)
{
    uvec3 p = uvec3(clamp(at, ivec3(0), ivec3(volume_dims()) - 1));
    uvec2 raw = sample_at(p);
    if (has(SURFACE_LABEL))
        return key_of(TYPE, raw) == iso.xy ? 1.0 : 0.0;
    return number_of(TYPE, raw);
}

#define GRADIENT_PARAMS    ivec3 here, uvec3 iso
#define GRADIENT_ARGS      here, iso
#define GRADIENT_SAMPLE(d) gradient_sample(here + (d), iso)
#define GRADIENT_IS_NAN(s) is_nan(s)
#define GRADIENT_STEP(has) ((has) ? 1 : 0)
#define GRADIENT_ARE_THERE(a, b) (!is_nan(a) && !is_nan(b))
#define GRADIENT_CHOOSE(c, a, b) ((c) ? (a) : (b))
#define GRADIENT_FORWARD   (NORMALS == SURFACE_NORMALS_FORWARD)
#define GRADIENT_SOBEL     (NORMALS == SURFACE_NORMALS_SOBEL)
#define GRADIENT_UNROLL_TAPS
#define GRADIENT_UNROLL_SIDES
#include "kernels/surface_gradient.k.h"

vec3 vertex_normal(uvec3 low, uvec3 high, float t, uvec3 iso)
{
    vec3 first = vec3(0.0), second = vec3(0.0);
    for (int end = 0; end < 2; end++) {
        first = second;
        ivec3 at = ivec3(end == 0 ? low : high);
        second = surface_gradient(at, iso, at, ivec3(volume_dims()));
    }
    return surface_normal(surface_mix3(first, second, t), normal_row(0u), normal_row(1u),
                          normal_row(2u));
}

vec3 cap_normal(int axis, float side)
{
    return surface_cap_normal(vec3(pick3(normal_row(0u), axis), pick3(normal_row(1u), axis),
                                   pick3(normal_row(2u), axis)), side);
}
