/* How users' kernels load elements, and the memory layout of their results: shared by the GPU
 * engines. Included after ADDRESS and kernel_word(address, i) are defined; see kernel_glue.h. */
#include "kernels/types.k.h"

#define kernel_is_word(type) (type == TYPE_U32 || type == TYPE_I32 || type == TYPE_F32)

uint kernel_load_uint(uint type, ADDRESS address, uint i)
{
    if (type == TYPE_U8)
        return LOAD_U8(address, i);
    if (type == TYPE_U16)
        return LOAD_U16(address, i);
    return kernel_word(address, i);
}
int kernel_load_int(uint type, ADDRESS address, uint i)
{
    if (type == TYPE_I8)
        return LOAD_I8(address, i);
    if (type == TYPE_I16)
        return LOAD_I16(address, i);
    return int(kernel_word(address, i));
}
float kernel_load_float(uint type, ADDRESS address, uint i)
{
    if (type == TYPE_F16)
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
