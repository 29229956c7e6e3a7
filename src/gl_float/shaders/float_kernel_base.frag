/* The base of a HistoPyramid from a user's kernel: keep flags, or counts. */
#include "float_common.glsl"
#include "float_kernel.glsl"
#include "kernel_glue.glsl"

float number_of(bool keep)
{
    return keep ? 1.0 : 0.0;
}
float number_of(int count)
{
    return float(count);
}
float count_of(float item)
{
    return number_of(kernel_at(int(item), int(item), 0));
}
#include "float_base.glsl"
