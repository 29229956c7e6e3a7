/* The words of a kernel's output that is not bool. OUT: the number of the output to draw, if there
 * are several; OUT_SIZE: its bytes. Included after kernel_glue.glsl. */
#include "parts.glsl"

#ifndef OUT
#define OUT 0
#define OUT_SIZE KERNEL_SIZE
#endif
#if OUT == 0
#define KERNEL_VALUE(result) KERNEL_OUT_0(result)
#elif OUT == 1
#define KERNEL_VALUE(result) KERNEL_OUT_1(result)
#elif OUT == 2
#define KERNEL_VALUE(result) KERNEL_OUT_2(result)
#else
#define KERNEL_VALUE(result) KERNEL_OUT_3(result)
#endif

const uint OUT_WORDS = uint(OUT_SIZE) / 4u;
uint out_word(KERNEL_RESULT result, uint part)
{
    return part_of(kernel_words(KERNEL_VALUE(result)), part);
}
