/* Completes this engine's kernel templates (vulkan_kernel_glue.h). Also compiled into the build
 * tool. */
#include "vulkan/vulkan_kernel_glue.h"

#include <stdio.h>

size_t vk_kernel_shader(const tml_kernel *kernel, kernel_place place, const char *text, char *out,
                        size_t capacity)
{
    bool float64 = kernel_uses_float64(kernel), int64 = kernel_uses_int64(kernel);
    char head[128];
    snprintf(head, sizeof head, "#version 460\n%s%s%s%s",
             float64 || int64 ? "#define TML_WIDE\n" : "",
             float64 ? "#define KERNEL_FLOAT64\n" : "", int64 ? "#define KERNEL_INT64\n" : "",
             KERNEL_LINES(kernel));
    return kernel_glue(kernel, head, "args.in", place, text, out, capacity);
}
