/* The trommel program: its name, and the kernels of its commands. */
#include "cli.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel cli_kernels[]; /* made by trommel_add_kernels() */
#endif

const cli_program cli_this_program = {
    .name = CLI_PROGRAM,
#ifdef TML_VULKAN
    .kernels = cli_kernels,
#endif
};
