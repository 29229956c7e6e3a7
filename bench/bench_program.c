/* The program trommel-bench: its name, and the kernels that its jobs use. */
#include "../cli/cli.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel bench_kernels[]; /* made by trommel_add_kernels() */
#endif

const cli_program cli_this_program = {
    .name = "trommel-bench",
#ifdef TML_VULKAN
    .kernels = bench_kernels,
#endif
};
