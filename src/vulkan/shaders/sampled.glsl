/* The caller-owned image that a dispatch reads (vk_dispatch_info.sampled). */
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform texture2D sampled;

/* The texel at (x, y), which must be inside. */
vec4 sampled_texel(uint x, uint y)
{
    return texelFetch(sampled, ivec2(x, y), 0);
}
