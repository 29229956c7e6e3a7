/* trommel-bench: measures the speed of the library and the command on this machine. Its commands
 * are in bench/cmd_*.c. */
#include "bench_commands.h"

static const cli_command *const commands[] = {
    &bench_cmd_streams,
    &bench_cmd_surface,
    &bench_cmd_image,
    &bench_cmd_collide,
    &bench_cmd_subdivide,
#ifndef _WIN32
    &bench_cmd_files,
#endif
#ifdef TML_GL
    &bench_cmd_paths,
#endif
    NULL,
};

static const opt program_options[] = {
    {OPT_SECTION, .help = "Options"},
    {OPT_FLAG, "version", 'V', .help = "print the version and end",
     .offset = offsetof(cli_program_args, version)},
    {OPT_HELP, "help", 'h', .help = "print this and end"},
    {0},
};

static const opt_command program = {
    .operands = "COMMAND ...",
    .summary = "Measures what the library and the command do on this machine",
    .about = "A row's runs alternate with those of what it is compared with. Rows appear as they "
             "are made; Ctrl-C ends a run, and the rows that were made stay.",
    .options = program_options,
};

const cli_command_table cli_commands = {
    .options = &program,
    .commands = commands,
};
