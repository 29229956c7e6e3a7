/* Component i of words; if there are four components, component i modulo 4. */
#ifndef PARTS_GLSL
#define PARTS_GLSL
uint part_of(uint value, uint i)
{
    return value;
}
uint part_of(uvec2 value, uint i)
{
    return i == 0u ? value.x : value.y;
}
uint part_of(uvec3 value, uint i)
{
    return i == 2u ? value.z : part_of(value.xy, i);
}
uint part_of(uvec4 value, uint i)
{
    return (i & 2u) == 0u ? part_of(value.xy, i & 1u) : part_of(value.zw, i & 1u);
}
#endif
