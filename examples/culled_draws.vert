#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
/* A vertex of the object whose draw this is: its number is the command's firstInstance. */
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer vec4s {
    vec4 v[];
};
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(push_constant) uniform view {
    mat4 clip;
    uvec2 objects; /* address: centres and radii */
};
layout(location = 0) out vec3 facing;
layout(location = 1) flat out vec3 tint;

void main()
{
    vec4 object = vec4s(objects).v[gl_InstanceIndex];
    float hue = fract(float(gl_InstanceIndex) * 0.618034) * 6.2831853;
    facing = normal;
    tint = 0.55 + 0.35 * cos(vec3(0.0, 2.1, 4.2) + hue);
    gl_Position = clip * vec4(object.xyz + object.w * position, 1.0);
}
