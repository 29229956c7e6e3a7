/* Water of particles in a tank that is tilted to and fro. Where their field is denser than water at
 * rest, they move down its slope: the field is that of which the page makes the surface, and the
 * one thing that they know of one another. web/lib/flood.js reads this text as GLSL,
 * bench/papers/papers_web.c as C, each for its engine.
 *
 * p.f: seconds a step, seconds since the start, spacing of particles at rest, 1 / the field of
 * water at rest. p.u: samples along a side of the field, whose cube goes from -1 to 1; numbers of
 * particles along x and z at the start.
 *
 * After: Monaghan: Simulating Free Surface Flows with SPH. 1994, with the slope of samples in place
 * of neighbours. */
/* clang-format off */
TML_LIBRARY(flood,
    FUNCTION(vec3) flood_tank() { return VEC3(0.9f, 0.9f, 0.55f); }
    /* Of what a particle reaches, the share that is not behind a wall; room: to the nearer one. A
     * particle that reaches across a wall would take the water for thin there. */
    FUNCTION(float) flood_share(float room, float spacing) { return min(1.0f, 0.5f + room / (3.0f * spacing)); }
    /* That share's slope, as part of it. */
    FUNCTION(float) flood_share_slope(float at, float half_side, float spacing) {
        float share = flood_share(half_side - abs(at), spacing);
        return share < 1.0f ? -sign(at) / (3.0f * spacing * share) : 0.0f;
    }
    FUNCTION(float) flood_bounce(float speed, float at, float half_side, float seconds) {
        float v = clamp(speed, -2.5f, 2.5f);
        return abs(at + seconds * v) > half_side ? -0.2f * v : v;
    }
    /* Sample of a cube, x fastest. */
    FUNCTION(float) flood_sample(tml_words field, uint n, uint x, uint y, uint z) {
        return tml_word_float(field, x + n * (y + n * z));
    }
    FUNCTION(float) flood_place(float at, uint n) {
        return clamp((at + 1.0f) * 0.5f * F(n - 1u), 0.0f, F(n) - 1.001f);
    }
    /* Between two samples. */
    FUNCTION(vec2) flood_mix(vec2 a, vec2 b, float t) { return VEC2(mix(a.x, b.x, t), mix(a.y, b.y, t)); }
    FUNCTION(vec2) flood_row(tml_words field, uint n, uint x, uint y, uint z) {
        return VEC2(flood_sample(field, n, x, y, z), flood_sample(field, n, x + 1u, y, z));
    }
    /* The field and its slope: linear between the eight samples around. */
    FUNCTION(vec4) flood_field(tml_words field, uint n, vec3 at) {
        float px = flood_place(at.x, n), py = flood_place(at.y, n), pz = flood_place(at.z, n);
        uint x = U(px), y = U(py), z = U(pz);
        float tx = px - F(x), ty = py - F(y), tz = pz - F(z), steps = 0.5f * F(n - 1u);
        vec2 a = flood_row(field, n, x, y, z), b = flood_row(field, n, x, y + 1u, z);
        vec2 c = flood_row(field, n, x, y, z + 1u), d = flood_row(field, n, x, y + 1u, z + 1u);
        vec2 near = flood_mix(a, b, ty), far = flood_mix(c, d, ty);
        vec2 low = flood_mix(a, c, tz), high = flood_mix(b, d, tz);
        vec2 all = flood_mix(near, far, tz);
        return VEC4((all.y - all.x) * steps,
                    (mix(high.x, high.y, tx) - mix(low.x, low.y, tx)) * steps,
                    (mix(far.x, far.y, tx) - mix(near.x, near.y, tx)) * steps, mix(all.x, all.y, tx));
    }
)
TML_KERNEL_WITH(flood, vec3, flood_start, (tml_index index, tml_params p), {
    uint i = U(index), wide = p.u[1], deep = p.u[2];
    vec3 tank = flood_tank();
    return VEC3(p.f[2] * (F(i % wide) + 0.35f + 0.3f * tml_random_float(i, 0u)) - tank.x,
                p.f[2] * (F(i / (wide * deep)) + 0.35f + 0.3f * tml_random_float(i, 1u)) - tank.y,
                p.f[2] * (F(i / wide % deep) + 0.35f + 0.3f * tml_random_float(i, 2u)) - tank.z);
})
TML_KERNEL_WITH(flood, vec3, flood_velocity, (vec3 at, vec3 v, tml_words field, tml_params p), {
    float seconds = p.f[0], spacing = p.f[2], tilt = 0.62f * sin(1.05f * p.f[1]);
    vec3 tank = flood_tank();
    vec4 water = flood_field(field, p.u[0], at);
    float share = flood_share(tank.x - abs(at.x), spacing) * flood_share(tank.y - abs(at.y), spacing) *
                  flood_share(tank.z - abs(at.z), spacing);
    float density = water.w * p.f[3] / share;
    float push = -4.0f * clamp(4.0f * (density - 1.0f), 0.0f, 1.0f);
    vec3 slope = VEC3(water.x * p.f[3] / share - density * flood_share_slope(at.x, tank.x, spacing),
                      water.y * p.f[3] / share - density * flood_share_slope(at.y, tank.y, spacing),
                      water.z * p.f[3] / share - density * flood_share_slope(at.z, tank.z, spacing));
    vec3 pull = VEC3(2.0f * sin(tilt), -2.0f * cos(tilt), 0.44f * sin(0.71f * p.f[1]));
    float kept = 1.0f - 1.6f * seconds;
    vec3 speed = scale3(add3(v, scale3(add3(pull, scale3(slope, push)), seconds)), kept);
    return VEC3(flood_bounce(speed.x, at.x, tank.x, seconds), flood_bounce(speed.y, at.y, tank.y, seconds),
                flood_bounce(speed.z, at.z, tank.z, seconds));
})
TML_KERNEL_WITH(flood, vec3, flood_position, (vec3 at, vec3 v, tml_params p), {
    vec3 tank = flood_tank(), to = add3(at, scale3(v, p.f[0]));
    return VEC3(clamp(to.x, -tank.x, tank.x), clamp(to.y, -tank.y, tank.y), clamp(to.z, -tank.z, tank.z));
})
/* clang-format on */
