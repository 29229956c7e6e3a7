/* The base of a pyramid of counts, from a kernel. */
#include "gl_common.glsl"
#include "gl_kernel.glsl"
#include "kernel_glue.glsl"

uint count_at(uint i)
{
    return kernel_at(i, i, 0u);
}
#include "counts_base.glsl"
