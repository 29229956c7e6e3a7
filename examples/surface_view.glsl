/* A vertex of the surface in view: turned about the volume's upright axis, seen from a little
 * above. */
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
#ifdef CARRIED
layout(location = 2) in vec3 carried;
layout(location = 3) out vec3 moving;
#endif
layout(push_constant) uniform view
{
    float angle;  /* radians */
    float aspect; /* width by height */
};
layout(location = 0) out vec3 place; /* in the volume, which is -1 ... 1 */
layout(location = 1) out vec3 seen;  /* from the camera, which looks along -z */
layout(location = 2) out vec3 facing;

const float TILT = 0.45, DISTANCE = 4.0, FOCAL = 3.6, NEAR = 2.0, FAR = 6.0;

vec3 turn(vec3 v)
{
    float c = cos(angle), s = sin(angle);
    vec3 upright = vec3(c * v.x - s * v.y, v.z, -(s * v.x + c * v.y));
    return vec3(upright.x, cos(TILT) * upright.y - sin(TILT) * upright.z,
                sin(TILT) * upright.y + cos(TILT) * upright.z);
}

/* normals are (tml_vertex_layout.octahedral_normals) */
layout(constant_id = 0) const bool OCTAHEDRAL = false;

vec3 octahedral(vec2 v)
{
    vec3 n = vec3(v, 1.0 - abs(v.x) - abs(v.y));
    float t = max(-n.z, 0.0);
    return normalize(n + vec3(n.x < 0.0 ? t : -t, n.y < 0.0 ? t : -t, 0.0));
}

void main()
{
    place = position;
    seen = turn(position) - vec3(0.0, 0.0, DISTANCE);
    facing = turn(OCTAHEDRAL ? octahedral(normal.xy) : normal);
#ifdef CARRIED
    moving = carried;
#endif
    gl_Position = vec4(seen.x * FOCAL / aspect, -seen.y * FOCAL,
                       (-seen.z - NEAR) * FAR / (FAR - NEAR), -seen.z);
}
