#version 450
/* Water under a bright sky: it mirrors more the flatter it is seen, is dark where it is seen into,
 * and foams where it is fast. */
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 seen;
layout(location = 2) in vec3 facing;
layout(location = 3) in vec3 moving;
layout(location = 0) out vec4 colour; /* linear; the attachment is sRGB */

void main()
{
    vec3 normal = normalize(facing), light = normalize(vec3(0.5, 0.8, 0.7)), away = normalize(-seen);
    float across = 1.0 - max(dot(normal, away), 0.0);
    float mirrored = 0.04 + 0.96 * across * across * across * across * across;
    vec3 sky = mix(vec3(0.10, 0.16, 0.22), vec3(0.65, 0.8, 0.95), 0.5 + 0.5 * reflect(-away, normal).y);
    vec3 deep = vec3(0.01, 0.10, 0.17) + vec3(0.05, 0.28, 0.34) * max(dot(normal, light), 0.0);
    float shine = pow(max(dot(normal, normalize(light + away)), 0.0), 120.0);
    float foam = smoothstep(0.9, 2.1, length(moving));
    vec3 lit = mix(deep, vec3(0.75, 0.83, 0.86) * (0.3 + 0.7 * max(dot(normal, light), 0.0)), 0.8 * foam);
    colour = vec4(mix(lit, sky, mirrored) + 0.6 * shine, 1.0);
}
