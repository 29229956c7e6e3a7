/* How users' kernels read elements and how their results lie in memory: what the GPU engines share.
 * Stands after ADDRESS and kernel_word(address, i) are defined; see kernel_glue.h. */
/* tml_type, as <trommel/core.h> counts them. */
const uint KERNEL_U8 = 1u, KERNEL_I8 = 2u, KERNEL_U16 = 3u, KERNEL_I16 = 4u, KERNEL_F16 = 9u;
#define kernel_is_word(type) (type == 5u || type == 6u || type == 10u)

uint kernel_load_uint(uint type, ADDRESS address, uint i)
{
    if (type == KERNEL_U8)
        return LOAD_U8(address, i);
    if (type == KERNEL_U16)
        return LOAD_U16(address, i);
    return kernel_word(address, i);
}
int kernel_load_int(uint type, ADDRESS address, uint i)
{
    if (type == KERNEL_I8)
        return LOAD_I8(address, i);
    if (type == KERNEL_I16)
        return LOAD_I16(address, i);
    return int(kernel_word(address, i));
}
float kernel_load_float(uint type, ADDRESS address, uint i)
{
    if (type == KERNEL_F16)
        return LOAD_F16(address, i);
    return uintBitsToFloat(kernel_word(address, i));
}
float kernel_float_of(uint word)
{
    return uintBitsToFloat(word);
}
int kernel_int_of(uint word)
{
    return int(word);
}
uint kernel_uint_of(uint word)
{
    return word;
}

uint kernel_words(float x)
{
    return floatBitsToUint(x);
}
uint kernel_words(int x)
{
    return uint(x);
}
uint kernel_words(uint x)
{
    return x;
}
uvec2 kernel_words(uvec2 x)
{
    return x;
}
uvec3 kernel_words(uvec3 x)
{
    return x;
}
uvec4 kernel_words(uvec4 x)
{
    return x;
}
uvec2 kernel_words(vec2 x)
{
    return floatBitsToUint(x);
}
uvec3 kernel_words(vec3 x)
{
    return floatBitsToUint(x);
}
uvec4 kernel_words(vec4 x)
{
    return floatBitsToUint(x);
}
