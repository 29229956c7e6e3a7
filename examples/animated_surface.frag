#version 450
/* One light from the upper right, and a sky that is brighter than the ground. */
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 seen;
layout(location = 2) in vec3 facing;
layout(location = 0) out vec4 colour; /* linear; the attachment is sRGB */

void main()
{
    vec3 normal = normalize(facing), light = normalize(vec3(0.5, 0.8, 0.7));
    float direct = max(dot(normal, light), 0.0), sky = 0.5 + 0.5 * normal.y;
    float shine = pow(max(dot(normal, normalize(light - normalize(seen))), 0.0), 60.0);
    float open = smoothstep(0.1, 0.95, length(place)); /* little light reaches the middle */
    vec3 tint = mix(vec3(0.8, 0.16, 0.05), vec3(0.9, 0.62, 0.3), open);
    vec3 lit = mix(vec3(0.06, 0.05, 0.08), vec3(0.25, 0.3, 0.4), sky) + vec3(0.85, 0.8, 0.7) * direct;
    colour = vec4(tint * lit * mix(0.25, 1.0, open) + 0.25 * shine * open, 1.0);
}
