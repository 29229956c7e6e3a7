/* What the commands of a program share: its table, the common options, opening the context they
 * name, messages, exit codes. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "options/options.h"
#include "speeds.h"

#include <trommel/extend.h>
#include <trommel/trommel.h>

#define CLI_PROGRAM "trommel"

/* How files are usually named, for shells' completions. */
#define CLI_VOLUMES                                                                                \
    ".nrrd .nhdr .nii .hdr .img .mha .mhd .mrc .map .rec .ccp4 .npy .vtk .vti .tif .tiff .dcm "    \
    ".raw .gz"
#define CLI_POINTS   ".ply .xyz .txt .csv .pcd .las .laz .vtk .vtu .bgeo"
#define CLI_MESHES   ".obj .ply .stl .off .glb .gltf .vtp"
#define CLI_PICTURES ".hdr .pic .pfm .png .jpg .jpeg .exr"

/* FOUND: done, and what --fail-if names was found. */
enum cli_exit { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_FOUND = 3, CLI_CANCELLED = 130 };

/* Options of every command. Each command's argument struct starts with one of these. */
typedef struct cli_common {
    uint32_t backend; /* tml_engine_kind */
    const char *device;
    uint64_t threads;
    uint64_t memory;        /* bytes that an input may take in memory; 0: no limit */
    uint64_t device_memory; /* bytes of a GPU's memory to take; 0: no limit */
    uint32_t gl_path;       /* tml_gl_path */
    bool no_cache;
    bool strict; /* refuse files of which something would be left out or assumed */
    bool json;
    bool quiet;
} cli_common;

/* A command. A new one is defined in cli/commands/cmd_<name>.c, declared below and listed in
 * command_table.c:
 *
 *     typedef struct foo_args { cli_common common; bool fast; } foo_args;
 *     static const opt foo_options[] = {
 *         {OPT_FLAG, "fast", 0, NULL, "do it fast", offsetof(foo_args, fast)}, {0}};
 *     static int foo_run(tml_context *tml, const void *args, char **operands) { ... }
 *     const cli_command cmd_foo = {{"foo", "IN", "Does foo", ..., foo_options},
 *                                  sizeof(foo_args), .run_on = foo_run};
 *
 * What runs returns one of cli_exit. */
typedef struct cli_command {
    opt_command options;
    size_t args_size;
    /* Either run_on, in a context that is opened and closed for it, or run. */
    int (*run)(void *args, char **operands, uint32_t operand_count);
    int (*run_on)(tml_context *tml, const void *args, char **operands);
    /* Optional, before the context is opened: refuses what the table cannot, and estimates the work
     * (cli_open). */
    int (*prepare)(const void *args, char **operands, uint32_t operand_count, cli_work *work);
    bool takes_ranks; /* several processes can do it together (ranks.h) */
} cli_command;

extern const opt cli_shared_options[]; /* the options behind cli_common */

extern const cli_command cmd_surface, cmd_index, cmd_draw, cmd_collide, cmd_distance, cmd_rays,
    cmd_subdivide, cmd_exposure, cmd_mips, cmd_convert, cmd_info, cmd_devices, cmd_compact,
    cmd_scan, cmd_sort, cmd_reduce;

/* What people type where a command belongs: "mesh|isosurface", and the end of a sentence about
 * it. */
typedef struct cli_moved {
    const char *names, *what;
} cli_moved;

typedef struct cli_program_args {
    bool version;
    bool man;
    bool json_fields;
    const char *completion;
} cli_program_args;

/* The program that runs: trommel (program.c) or trommel-bench (bench/bench_program.c). */
typedef struct cli_program {
    const char *name;
    const struct tml_vulkan_kernel *kernels; /* of its commands; NULL: none */
} cli_program;
extern const cli_program cli_this_program;

/* What main.c alone reads: the program's commands (command_table.c, bench/bench_main.c). */
typedef struct cli_command_table {
    const opt_command *options;         /* the program's own, of cli_program_args */
    const cli_command *const *commands; /* NULL at the end */
    const cli_moved *moved;             /* ends with {0}; NULL: none */
    /* Of a file in the place of a command: the end of a sentence "PATH is ..."; false where
     * there is none. NULL: nothing is said of files. */
    bool (*explain_file)(const char *path, char *out, size_t size);
} cli_command_table;
extern const cli_command_table cli_commands;

/* Bytes of a file; 0 where there is none. */
double cli_file_size(const char *path);

/* Opens the context that the options name, with the progress bar and Ctrl-C attached. With
 * --backend auto and no --device, a GPU is opened where that is faster for the work (speeds.h);
 * NULL: it never is, since reading and writing files is most of what the command does. On failure
 * prints why and returns NULL: the command then returns CLI_FAILED. */
tml_context *cli_open(const cli_common *common, const cli_work *work);
void cli_close(tml_context *tml);
tml_device_info cli_device(const tml_context *tml);
/* A buffer that is only read, over memory that outlives it: in place on the CPU, copied to a
 * GPU. */
tml_status cli_lend(tml_context *tml, tml_type type, uint64_t count, const void *data,
                    const char *label, tml_buffer *out);
/* A buffer of the device. data: copied into it; NULL: it holds nothing yet. */
tml_status cli_make_buffer(tml_context *tml, tml_type type, uint64_t count, const void *data,
                           const char *label, tml_buffer *out);
/* As cli_lend, for the inputs of surfaces, which may be larger than a GPU's memory: they are not
 * copied where the engine reads them from the host. */
tml_status cli_lend_input(tml_context *tml, tml_type type, uint64_t count, const void *data,
                          const char *label, tml_buffer *out);
/* A kernel over an array on the host, of any length: piece by piece where the device has memory of
 * its own. out: count elements of out_type. */
tml_status cli_map(tml_context *tml, const tml_kernel *kernel, tml_type type, uint64_t count,
                   const void *data, tml_type out_type, void *out);

/* Of a context's log: warnings are printed, each text once; an error is kept for cli_open. */
void cli_take_message(void *user, tml_log_level level, const char *message);
/* Is --strict given? For the strict field of the readers' descs. */
bool cli_is_strict(void);
/* Warnings of the library so far, for readers without such a field. */
uint32_t cli_warnings(void);
/* Of the command that runs: "surface". */
const char *cli_name(void);
/* Prints the context's last error as "trommel: command: message" and returns the exit code that
 * belongs to status (CLI_OK for TML_OK, CLI_CANCELLED for TML_ERROR_CANCELLED). */
int cli_fail(tml_context *tml, tml_status status);
/* The message that cli_fail would print. */
const char *cli_last_error(const tml_context *tml);
/* As TML_THEN, of exit codes. */
#define CLI_THEN(code, call)                                                                       \
    do {                                                                                           \
        if ((code) == CLI_OK)                                                                      \
            (code) = (call);                                                                       \
    } while (0)
/* Prints "trommel: command: ..." to stderr and returns CLI_FAILED, or CLI_USAGE. */
int cli_error(const char *format, ...) TML_FORMAT(1, 2);
int cli_usage(const char *format, ...) TML_FORMAT(1, 2);
/* Prints "trommel: command: warning: ...", unless --quiet is given or it was printed before. */
void cli_warn(const char *format, ...) TML_FORMAT(1, 2);

/* clang-tidy sees one file at a time, and must be told what these return. */
#ifdef __clang_analyzer__
#    define tml_error(tml, status, ...)                                                            \
        ((void)tml_error(tml, status, __VA_ARGS__), (tml_status)(status))
#    define cli_fail(tml, status) (cli_fail(tml, status), (status) == TML_OK ? CLI_OK : CLI_FAILED)
#    define cli_error(...)        (cli_error(__VA_ARGS__), CLI_FAILED)
#endif

/* Seconds on a clock that never jumps. */
double cli_now(void);

#endif
