#version 450
/* One light from the upper right, and a sky that is brighter than the ground. */
layout(location = 0) in vec3 facing;
layout(location = 1) flat in vec3 tint;
layout(location = 0) out vec4 colour; /* linear; the attachment is sRGB */

void main()
{
    vec3 normal = normalize(facing);
    float direct = max(dot(normal, normalize(vec3(0.5, 0.8, 0.3))), 0.0), sky = 0.5 + 0.5 * normal.y;
    colour = vec4(tint * (0.15 + 0.25 * sky + 0.6 * direct), 1.0);
}
