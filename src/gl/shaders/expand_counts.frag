/* The base of a pyramid of counts, from an array of counts of SIZE bytes. */
#include "gl_common.glsl"

uniform highp usampler2D counts;

uint count_at(uint i)
{
#if SIZE == 1
    return LOAD_U8(counts, i);
#elif SIZE == 2
    return LOAD_U16(counts, i);
#else
    return LOAD_U32(counts, i);
#endif
}
#include "counts_base.glsl"
