/* The commands of trommel-bench. */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include "../cli/cli.h"

extern const cli_command bench_cmd_streams, bench_cmd_surface, bench_cmd_image, bench_cmd_collide,
    bench_cmd_subdivide, bench_cmd_files, bench_cmd_paths;

#endif
