/* The two passes of own_vulkan_exposure.c's own: what a renderer would draw into its HDR target,
 * and its last pass, which exposes by the state that the library left. */
#version 450
#extension GL_GOOGLE_include_directive : require
#include <trommel/trommel.glsl>
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba16f) uniform image2D target;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D shown;
layout(set = 0, binding = 2) readonly buffer scene {
    float light;
};
layout(push_constant) uniform constants {
    uvec2 state; /* the address of the exposure's state */
    uint pass;
};

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(shown);
    if (any(greaterThanEqual(at, size)))
        return;
    if (pass == 0u) { /* a dark half, and one four times as bright */
        imageStore(target, at, vec4(vec3(2 * at.x < size.x ? light : 4.0 * light), 1.0));
        return;
    }
    vec3 colour = imageLoad(target, at).rgb * tml_float(state, 0u); /* TML_EXPOSURE_SCALE */
    imageStore(shown, at, vec4(colour / (1.0 + colour), 1.0)); /* Reinhard */
}
