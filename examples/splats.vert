#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
/* A corner of a splat's square, three standard deviations from the centre. */
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer uints {
    uint v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer vec4s {
    vec4 v[];
};
layout(push_constant) uniform view {
    mat4 clip;
    vec2 focal;
    uvec2 order, places, colours; /* addresses */
};
layout(location = 0) out vec2 away; /* from the centre, in standard deviations */
layout(location = 1) flat out vec4 colour;

void main()
{
    uint splat = uints(order).v[gl_InstanceIndex];
    vec4 place = vec4s(places).v[splat]; /* the centre, and a standard deviation */
    away = 3.0 * (2.0 * vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) - 1.0);
    colour = vec4s(colours).v[splat];
    gl_Position = clip * vec4(place.xyz, 1.0);
    gl_Position.xy += away * place.w * focal;
}
