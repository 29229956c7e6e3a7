/* Shared by all commands: the program's table, the common options, opening the context that these
 * name, messages, exit codes. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "options/options.h"
#include "speeds.h"

#include <trommel/extend.h>
#include <trommel/trommel.h>

#define CLI_PROGRAM "trommel"

/* Usual endings of file names, for shell completion. */
#define CLI_VOLUMES                                                                                \
    ".nrrd .nhdr .nii .hdr .img .mha .mhd .mrc .map .rec .ccp4 .npy .vtk .vti .tif .tiff .dcm "    \
    ".raw .gz"
#define CLI_POINTS   ".ply .xyz .txt .csv .pcd .las .laz .vtk .vtu .bgeo"
#define CLI_MESHES   ".obj .ply .stl .off .glb .gltf .vtp"
#define CLI_PICTURES ".hdr .pic .pfm .png .jpg .jpeg .exr"

/* FOUND: success, and something that --fail-if names was found. */
enum cli_exit { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_FOUND = 3, CLI_CANCELLED = 130 };

/* Options of every command. Each command's argument struct begins with a cli_common. */
typedef struct cli_common {
    uint32_t backend; /* tml_engine_kind */
    const char *device;
    uint64_t threads;
    uint64_t memory;        /* most bytes of memory for an input; 0: no limit */
    uint64_t device_memory; /* most bytes of a GPU's memory; 0: no limit */
    uint32_t gl_path;       /* tml_gl_path */
    bool no_cache;
    bool strict; /* refuse files that could be read only by omitting or assuming something */
    bool json;
    bool quiet;
} cli_common;

/* A command. To add one, define it in cli/commands/cmd_<name>.c, declare it below and list it in
 * command_table.c:
 *
 *     typedef struct foo_args { cli_common common; bool fast; } foo_args;
 *     static const opt foo_options[] = {
 *         {OPT_FLAG, "fast", 0, NULL, "do it fast", offsetof(foo_args, fast)}, {0}};
 *     static int foo_run(tml_context *tml, const void *args, char **operands) { ... }
 *     const cli_command cmd_foo = {{"foo", "IN", "Does foo", ..., foo_options},
 *                                  sizeof(foo_args), .run_on = foo_run};
 *
 * run and run_on return a cli_exit. */
typedef struct cli_command {
    opt_command options;
    size_t args_size;
    /* Either run, or run_on, which gets a context that is opened and closed for it. */
    int (*run)(void *args, char **operands, uint32_t operand_count);
    int (*run_on)(tml_context *tml, const void *args, char **operands);
    /* Optional; called before the context is opened. Refuses what the option table cannot refuse,
     * and estimates the work (cli_open). */
    int (*prepare)(const void *args, char **operands, uint32_t operand_count, cli_work *work);
    bool takes_ranks; /* several processes can run it together (ranks.h) */
} cli_command;

extern const opt cli_shared_options[]; /* options for cli_common */

extern const cli_command cmd_surface, cmd_index, cmd_draw, cmd_collide, cmd_distance, cmd_rays,
    cmd_subdivide, cmd_exposure, cmd_mips, cmd_convert, cmd_info, cmd_devices, cmd_compact,
    cmd_scan, cmd_sort, cmd_reduce;

/* Words typed instead of a command, "mesh|isosurface", and the end of a sentence about them. */
typedef struct cli_moved {
    const char *names, *what;
} cli_moved;

typedef struct cli_program_args {
    bool version;
    bool man;
    bool json_fields;
    const char *completion;
} cli_program_args;

/* The running program: trommel (program.c) or trommel-bench (bench/bench_program.c). */
typedef struct cli_program {
    const char *name;
    const struct tml_vulkan_kernel *kernels; /* kernels of its commands; NULL: none */
} cli_program;
extern const cli_program cli_this_program;

/* The program's commands, which only main.c reads (command_table.c, bench/bench_main.c). */
typedef struct cli_command_table {
    const opt_command *options;         /* the program's own options, for cli_program_args */
    const cli_command *const *commands; /* NULL at the end */
    const cli_moved *moved;             /* ends with {0}; NULL: none */
    /* For a file where a command belongs: writes the end of a sentence "PATH is ..." and returns
     * true; returns false if there is no such file. NULL: main.c does not look for files. */
    bool (*explain_file)(const char *path, char *out, size_t size);
} cli_command_table;
extern const cli_command_table cli_commands;

/* Size of a file in bytes; 0 if it does not exist. */
double cli_file_size(const char *path);

/* Opens the context that the options name, with progress bar and Ctrl-C attached.
 * work: with --backend auto and no --device, a GPU is opened if it would be faster (speeds.h).
 * NULL: no GPU, since the command mostly reads and writes files.
 * Returns: NULL on failure, which is printed; the command then returns CLI_FAILED. */
tml_context *cli_open(const cli_common *common, const cli_work *work);
void cli_close(tml_context *tml);
tml_device_info cli_device(const tml_context *tml);
/* Makes a read-only buffer from memory that outlives it: in place on the CPU, a copy on a GPU. */
tml_status cli_lend(tml_context *tml, tml_type type, uint64_t count, const void *data,
                    const char *label, tml_buffer *out);
/* Makes a buffer on the device. data: copied into it; NULL: leaves it undefined. */
tml_status cli_make_buffer(tml_context *tml, tml_type type, uint64_t count, const void *data,
                           const char *label, tml_buffer *out);
/* As cli_lend, for the inputs of surfaces, which may exceed a GPU's memory: makes no copy if the
 * engine can read them from the host. */
tml_status cli_lend_input(tml_context *tml, tml_type type, uint64_t count, const void *data,
                          const char *label, tml_buffer *out);
/* Maps a kernel over an array of any length on the host. Goes piece by piece if the device has its
 * own memory. out: count elements of out_type. */
tml_status cli_map(tml_context *tml, const tml_kernel *kernel, tml_type type, uint64_t count,
                   const void *data, tml_type out_type, void *out);

/* Log hook of contexts: prints each distinct warning once, and keeps an error for cli_open. */
void cli_take_message(void *user, tml_log_level level, const char *message);
/* Whether --strict is given: for the readers' desc.strict. */
bool cli_is_strict(void);
/* Number of warnings from the library so far, for readers without desc.strict. */
uint32_t cli_warnings(void);
/* Name of the running command: "surface". */
const char *cli_name(void);
/* Prints the context's last error as "trommel: command: message". Returns the exit code for status:
 * CLI_OK for TML_OK, CLI_CANCELLED for TML_ERROR_CANCELLED. */
int cli_fail(tml_context *tml, tml_status status);
/* The message that cli_fail would print. */
const char *cli_last_error(const tml_context *tml);
/* As TML_THEN, but for exit codes. */
#define CLI_THEN(code, call)                                                                       \
    do {                                                                                           \
        if ((code) == CLI_OK)                                                                      \
            (code) = (call);                                                                       \
    } while (0)
/* Print "trommel: command: ..." to stderr, and return CLI_FAILED or CLI_USAGE. */
int cli_error(const char *format, ...) TML_FORMAT(1, 2);
int cli_usage(const char *format, ...) TML_FORMAT(1, 2);
/* Prints "trommel: command: warning: ...", once per text, and not with --quiet. */
void cli_warn(const char *format, ...) TML_FORMAT(1, 2);

/* clang-tidy analyses one file at a time, and must be told what these return. */
#ifdef __clang_analyzer__
#    define tml_error(tml, status, ...)                                                            \
        ((void)tml_error(tml, status, __VA_ARGS__), (tml_status)(status))
#    define cli_fail(tml, status) (cli_fail(tml, status), (status) == TML_OK ? CLI_OK : CLI_FAILED)
#    define cli_error(...)        (cli_error(__VA_ARGS__), CLI_FAILED)
#endif

/* Seconds on a monotonic clock. */
double cli_now(void);

#endif
