/* The options that all commands have in common. */
#include "cli.h"

const opt cli_shared_options[] = {
    {OPT_SECTION, .help = "Device and limits", .group = OPT_ENGINE},
    {OPT_CHOICE, "backend", .group = OPT_ENGINE, .choices = "auto|cpu|vulkan|gl",
     .help =
         "engine to run on; auto: a GPU where it shortens the whole command, as with millions of "
         "points; gl: OpenGL ES",
     .fallback = "auto", .offset = offsetof(cli_common, backend)},
    {OPT_TEXT, "device", .group = OPT_ENGINE, .argument = "NAME",
     .help =
         "part of a device's name, or its number (" CLI_PROGRAM " devices lists them); by-rank: "
         "of several processes (" CLI_PROGRAM "-mpi), each machine's take its GPUs in turn",
     .offset = offsetof(cli_common, device)},
    {OPT_COUNT, "threads", .group = OPT_ENGINE, .argument = "N", .least = 0, .most = 1024,
     .fallback = "0", .help = "worker threads of the CPU engine; 0: one for each processor",
     .offset = offsetof(cli_common, threads)},
    {OPT_BYTES, "memory", .group = OPT_MEMORY, .argument = "SIZE",
     .help = "refuse an input that needs more memory than this, such as 512M or 4G; surface goes "
             "through a volume that does in slabs",
     .offset = offsetof(cli_common, memory)},
    {OPT_FLAG, "strict", .group = OPT_MEMORY,
     .help = "refuse a file of which something would be left out or assumed, instead of a warning",
     .offset = offsetof(cli_common, strict)},
    {OPT_BYTES, "device-memory", .group = OPT_ENGINE, .excludes = "backend=cpu|backend=gl",
     .argument = "SIZE",
     .help = "take no more than this of a GPU's memory on Vulkan; surfaces of larger volumes are "
             "made in slabs",
     .offset = offsetof(cli_common, device_memory)},
    {OPT_CHOICE, "gl-path", .group = OPT_ENGINE, .excludes = "backend=cpu|backend=vulkan",
     .choices = "auto|integer|float|float-packed|packed", .fallback = "auto",
     .help = "how values travel through textures, on OpenGL ES, instead of the best way that its "
             "device passes the tests of (" CLI_PROGRAM " devices --verbose)",
     .offset = offsetof(cli_common, gl_path)},
    {OPT_FLAG, "no-cache", .group = OPT_ENGINE, .excludes = "backend=cpu",
     .help = "neither read nor keep what a GPU's driver compiled (in $XDG_CACHE_HOME/trommel or "
             "~/.cache/trommel)",
     .offset = offsetof(cli_common, no_cache)},
    {OPT_SECTION, .help = "Messages"},
    {OPT_FLAG, "json", .group = OPT_JSON, .help = "print the summary as one JSON object",
     .offset = offsetof(cli_common, json)},
    {OPT_FLAG, "quiet", 'q', .group = OPT_QUIET,
     .help = "print no summary and no progress; errors still show",
     .offset = offsetof(cli_common, quiet)},
    {OPT_HELP, "help", 'h',
     .help = "--help: print this and end; -h: the most used options, a line each"},
    {0},
};
