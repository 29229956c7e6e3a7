/* What texelFetch gives, for tests: four floats a texel. */
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform texture2D picture;
layout(set = 0, binding = 1, std430) writeonly buffer result {
    vec4 texels[];
};

void main()
{
    int width = textureSize(picture, 0).x, i = int(gl_GlobalInvocationID.x);
    if (i < width * textureSize(picture, 0).y)
        texels[i] = texelFetch(picture, ivec2(i % width, i / width), 0);
}
