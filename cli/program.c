/* The trommel program: its commands, each in cmd_<name>.c, and its own options. */
#include "cli.h"

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel cli_kernels[]; /* made by trommel_add_kernels() */
#endif

static const cli_command *const commands[] = {
    &cmd_surface,   &cmd_convert,  &cmd_index,  &cmd_draw, &cmd_collide, &cmd_distance, &cmd_rays,
    &cmd_subdivide, &cmd_exposure, &cmd_mips,   &cmd_info, &cmd_devices, &cmd_compact,
    &cmd_scan,      &cmd_sort,     &cmd_reduce, NULL,
};

static const cli_moved moved[] = {
    {"bench", "a program of its own, trommel-bench, which is built beside " CLI_PROGRAM
              " and not installed"},
    {0},
};

static const opt program_options[] = {
    {OPT_SECTION, .help = "Options"},
    {OPT_FLAG, "version", 'V', .help = "print the version and end",
     .offset = offsetof(cli_program_args, version)},
    {OPT_FLAG, "man",
     .help = "print the man page of the program, or of the command that follows: " CLI_PROGRAM
             " --man surface | man -l -",
     .offset = offsetof(cli_program_args, man)},
    {OPT_TEXT, "completion", .choices = "bash|zsh|fish",
     .help = "print a completion script: source <(" CLI_PROGRAM " --completion bash)",
     .offset = offsetof(cli_program_args, completion)},
    {OPT_HELP, "help", 'h', .help = "print this and end"},
    {0},
};

static const opt_command program = {
    .operands = "COMMAND ...",
    .summary = "Meshes from volumes and point clouds, collision and subdivision of meshes, "
               "exposure of pictures, "
               "and streams reduced, scanned, sorted and compacted",
    .about =
        "'" CLI_PROGRAM
        " COMMAND -h' shows a command's most used options, --help all. An output appears when "
        "it is complete, under its name; one that is an input, by whatever name, or another "
        "output is refused before any work. \"-\" as an input is standard input; as an output, "
        "\"-.glb\" is standard output in the format of that ending, and the summary goes to "
        "standard error.",
    .options = program_options,
};

const cli_program cli_this_program = {
    .name = CLI_PROGRAM,
    .options = &program,
    .commands = commands,
    .moved = moved,
#ifdef TML_VULKAN
    .kernels = cli_kernels,
#endif
};
