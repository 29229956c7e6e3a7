/* What every program of commands does (program.c, bench/bench_main.c): the options that all commands share, messages
 * and exit codes, finding the command and running it. */
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cli.h"
#include "files.h"
#include "options/words.h"
#include "other_names.h"
#include "pipeline_cache.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"
#include "standard_files.h"
#include "system.h"

#ifdef TML_GL
#    include <trommel/gl.h>
#endif
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

enum { MAX_COMMANDS = 32 };

/* ---- shared by the commands ------------------------------------------------------------------ */

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

/* What the context's log hook works with. */
static struct {
    bool quiet, strict;
    char error[512];   /* the latest: of a context that did not open it is all there is */
    uint32_t warnings; /* of the library */
} log_state;

static char failure[2048]; /* the first message of it, for JSON */

static const char *running; /* the command's name; NULL: none yet */

const char *cli_name(void)
{
    return running ? running : cli_this_program.name;
}

typedef enum message_kind { MESSAGE_WARNING, MESSAGE_ERROR, MESSAGE_USAGE } message_kind;

void cli_keep_failure(const char *message)
{
    if (!failure[0])
        snprintf(failure, sizeof failure, "%.*s", (int)strcspn(message, "\n"), message);
}

/* One piece of text, since other processes may say something, too. */
static void print_message(message_kind kind, const char *format, va_list values)
{
    char text[4096];
    size_t room = sizeof text - 128, used;
    progress_clear();
    snprintf(text, room, "%s: %s%s%s", cli_this_program.name, running ? running : "",
             running ? ": " : "", kind == MESSAGE_WARNING ? "warning: " : "");
    used = strlen(text);
    vsnprintf(text + used, room - used, format, values);
    standard_names_in(text + used, room - used);
    if (kind != MESSAGE_WARNING)
        cli_keep_failure(text + used);
    used = strlen(text);
    snprintf(text + used, sizeof text - used, "\n");
    used = strlen(text);
    if (kind == MESSAGE_USAGE)
        snprintf(text + used, sizeof text - used, "Try '%s%s%s --help'.\n", cli_this_program.name,
                 running ? " " : "", running ? running : "");
    if (kind == MESSAGE_WARNING ? ranks_mine() == 0 : !ranks_keep_message(text))
        fputs(text, stderr);
}

/* Has this text been printed? A file may be opened twice, to look at it and to read it. */
static bool was_printed(const char *text)
{
    enum { REMEMBERED = 64 };
    static uint64_t printed[REMEMBERED];
    static uint32_t count;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 1099511628211u;
    for (uint32_t i = 0; i < count && i < REMEMBERED; i++)
        if (printed[i] == hash)
            return true;
    printed[count++ % REMEMBERED] = hash;
    return false;
}

static void print_warning(const char *format, ...) TML_FORMAT(1, 2);
static void print_warning(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message(MESSAGE_WARNING, format, values);
    va_end(values);
}

void cli_warn(const char *format, ...)
{
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (!log_state.quiet && !was_printed(text))
        print_warning("%s", text);
}

int(cli_error)(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message(MESSAGE_ERROR, format, values);
    va_end(values);
    return CLI_FAILED;
}

int cli_usage(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message(MESSAGE_USAGE, format, values);
    va_end(values);
    return CLI_USAGE;
}

int(cli_fail)(tml_context *tml, tml_status status)
{
    if (status == TML_OK)
        return CLI_OK;
    if (status == TML_ERROR_CANCELLED) {
        cli_error("cancelled");
        return CLI_CANCELLED;
    }
    const char *detail = cli_last_error(tml);
    return cli_error("%s", *detail ? detail : tml_status_text(status));
}

/* The call's name, "tml_volume_load: ", and fields help a programmer, not a user of the program. Good for three more
 * messages. */
static const char *for_users(const char *message)
{
    static char texts[4][2048];
    static unsigned next;
    const char *colon = strncmp(message, "tml_", 4) == 0 ? strstr(message, ": ") : NULL;
    return words_for_users(colon ? colon + 2 : message, texts[next++ % 4], sizeof texts[0]);
}

bool cli_is_strict(void)
{
    return log_state.strict;
}

uint32_t cli_warnings(void)
{
    return log_state.warnings;
}

const char *cli_last_error(const tml_context *tml)
{
    return for_users(tml_last_error(tml));
}

double cli_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_take_message(void *user, tml_log_level level, const char *message)
{
    (void)user;
    if (level == TML_LOG_WARNING) {
        log_state.warnings++;
        cli_warn("%s", for_users(message));
    }
    if (level == TML_LOG_ERROR)
        snprintf(log_state.error, sizeof log_state.error, "%s", message);
}

/* Of the GPUs of an engine the one for this process: those of a machine take them in turn. Writes the number
 * that tml_open takes; false where there is no GPU. */
static bool choose_by_rank(tml_engine_kind engine, char *number, size_t size)
{
    enum { DEVICES_MAX = 64 };
    tml_device_info devices[DEVICES_MAX];
    uint32_t gpus[DEVICES_MAX], gpu_count = 0, count = tml_devices(devices, DEVICES_MAX);
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        bool is_wanted = engine == TML_ENGINE_AUTO || devices[i].engine == engine;
        bool is_other = gpu_count && devices[gpus[0]].engine != devices[i].engine;
        if (is_wanted && !is_other && !devices[i].is_software &&
            devices[i].engine != TML_ENGINE_CPU)
            gpus[gpu_count++] = i;
    }
    if (gpu_count)
        snprintf(number, size, "%" PRIu32, gpus[ranks_here() % gpu_count]);
    return gpu_count > 0;
}

double cli_file_size(const char *path)
{
    system_file info;
    return system_examine(path, &info) ? (double)info.size : 0;
}

static bool is_worth_a_gpu(const cli_common *common, const cli_work *work)
{
    if (!work || !(work->cpu_seconds > 0))
        return false;
    const double threads = common->threads ? (double)common->threads : system_processors();
    return speeds_prefer_gpu(speeds_here(), work, threads, common->no_cache);
}

tml_context *cli_open(const cli_common *common, const cli_work *work)
{
    tml_engine_kind engine = (tml_engine_kind)common->backend;
    if (common->gl_path)
        engine = TML_ENGINE_GL;
    if (engine == TML_ENGINE_AUTO && !common->device && !is_worth_a_gpu(common, work))
        engine = TML_ENGINE_CPU;
    tml_context *tml = NULL;
    const char *device = common->device;
    char number[16];
    if (device && strcmp(device, "by-rank") == 0) {
        device = number;
        if (common->backend == TML_ENGINE_CPU) {
            cli_error("--device by-rank is for GPUs; a surface in slabs or shares is made on "
                      "one where --backend vulkan is given");
            return NULL;
        }
        if (!choose_by_rank((tml_engine_kind)common->backend, number, sizeof number)) {
            cli_error("--device by-rank: there is no GPU here for --backend %s",
                      common->backend == TML_ENGINE_VULKAN ? "vulkan"
                      : common->backend == TML_ENGINE_GL   ? "gl"
                                                           : "auto");
            return NULL;
        }
    }
    log_state.error[0] = '\0';
    log_state.quiet = common->quiet;
    tml_open_desc desc = {
        .engine = engine,
        .device = device,
        .threads = common->threads ? (uint32_t)common->threads : ranks_threads(),
        .log = cli_take_message,
        .progress = progress_show,
#ifdef TML_VULKAN
        .vulkan = &(tml_vulkan_desc){.kernels = cli_this_program.kernels,
                                     .memory_limit = common->device_memory},
#endif
#ifdef TML_GL
        .gl = &(tml_gl_desc){.path = (tml_gl_path)common->gl_path},
#endif
    };
    tml_status status = tml_open(&desc, &tml);
    if (status != TML_OK) {
        const char *text = for_users(log_state.error);
        cli_error("cannot start: %s", *text ? text : tml_status_text(status));
        return NULL;
    }
    if (!common->no_cache)
        pipeline_cache_load(tml);
    progress_start(common->quiet);
    progress_catch_signals(tml);
    return tml;
}

/* in_place: the buffer is over the caller's memory and not a copy. */
static tml_status lend(tml_context *tml, bool in_place, tml_type type, uint64_t count,
                       const void *data, const char *label, tml_buffer *out)
{
    tml_buffer_desc desc = {.type = type, .count = count, .label = label};
    if (in_place && count > 0)
        desc.host = (void *)(uintptr_t)data; /* only read */
    else
        desc.data = data;
    return tml_buffer_create(tml, &desc, out);
}

static tml_engine_kind engine_of(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    return device.engine;
}

tml_status cli_lend(tml_context *tml, tml_type type, uint64_t count, const void *data,
                    const char *label, tml_buffer *out)
{
    return lend(tml, engine_of(tml) == TML_ENGINE_CPU, type, count, data, label, out);
}

tml_status cli_lend_input(tml_context *tml, tml_type type, uint64_t count, const void *data,
                          const char *label, tml_buffer *out)
{
    return lend(tml, engine_of(tml) != TML_ENGINE_GL, type, count, data, label, out);
}

tml_status cli_map(tml_context *tml, const tml_kernel *kernel, tml_type type, uint64_t count,
                   const void *data, tml_type out_type, void *out)
{
    enum { PIECE = 1 << 24 };
    tml_status status = TML_OK;
    for (uint64_t first = 0; first < count && status == TML_OK; first += PIECE) {
        uint64_t piece = count - first < PIECE ? count - first : PIECE;
        tml_buffer in, result = {0, 0};
        status = cli_lend(tml, type, piece, (const char *)data + first * tml_type_size(type),
                          "piece of the input", &in);
        if (status == TML_OK)
            status = tml_buffer_create(tml, &(tml_buffer_desc){.type = out_type, .count = piece},
                                       &result);
        if (status == TML_OK)
            status = tml_map(tml, &(tml_map_desc){.kernel = kernel, .in = {in}, .out = result});
        if (status == TML_OK)
            status = tml_buffer_read(tml, result, (char *)out + first * tml_type_size(out_type));
        tml_buffer_destroy(tml, in);
        tml_buffer_destroy(tml, result);
    }
    return status;
}

void cli_close(tml_context *tml)
{
    progress_clear();
    progress_catch_signals(NULL);
    pipeline_cache_save(tml);
    tml_close(tml);
}

/* ---- the program itself ---------------------------------------------------------------------- */

static void print_commands(FILE *out)
{
    opt_print_help(cli_this_program.options, out);
    fputs("\nCommands:\n", out);
    for (const cli_command *const *c = cli_this_program.commands; *c; c++)
        fprintf(out, "  %-10s %s\n", (*c)->options.name, (*c)->options.summary);
}

/* The command of that name; otherwise a message that may name the one meant. */
static const cli_command *find_command(const char *name)
{
    const cli_command *nearest = NULL;
    uint32_t nearest_distance = 3; /* further away is no help */
    for (const cli_command *const *c = cli_this_program.commands; *c; c++) {
        uint32_t distance = opt_distance(name, (*c)->options.name);
        if (distance == 0 || strcasecmp(name, (*c)->options.name) == 0)
            return *c;
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = *c;
        }
    }
    const cli_moved *moved = cli_this_program.moved;
    char text[1024];
    while (moved && moved->names && !other_name_is_among(moved->names, name))
        moved++;
    if (cli_this_program.explain_file && cli_this_program.explain_file(name, text, sizeof text))
        cli_usage("%s is %s", name, text);
    else if (moved && moved->names)
        cli_usage("%s is %s", name, moved->what);
    else if (nearest)
        cli_usage("unknown command \"%s\"; did you mean %s?", name, nearest->options.name);
    else if (strpbrk(name, "./\\"))
        cli_usage("%s is neither a command nor a file that is there", name);
    else
        cli_usage("unknown command \"%s\"; '%s --help' lists them", name, cli_this_program.name);
    return NULL;
}

/* Of a line that may be wrong, too. */
static bool asks_json(int argc, char **argv)
{
    bool asks = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        asks |= strcmp(argv[i], "--json") == 0;
    return asks;
}

static int run_on_context(const cli_command *command, const void *args, char **operands,
                          uint32_t operand_count)
{
    cli_work work = {0};
    int code = command->prepare ? command->prepare(args, operands, operand_count, &work) : CLI_OK;
    if (code != CLI_OK)
        return code;
    tml_context *tml = cli_open(args, &work);
    if (!tml)
        return CLI_FAILED;
    code = command->run_on(tml, args, operands);
    cli_close(tml);
    return code;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    uint32_t operand_count;
    running = command->options.name;
    fields_begin(asks_json(argc, argv) ? FIELDS_JSON : FIELDS_NONE, running);
    if (ranks_count() > 1 && !command->takes_ranks)
        return cli_usage("is work for one process, %" PRIu32 " were started; use '%s %s'",
                         ranks_count(), cli_this_program.name, command->options.name);
    system_file file;
    if (argc == 2 && strcmp(argv[1], "help") == 0 && !system_examine(argv[1], &file)) {
        opt_print_help(&command->options, stdout);
        return CLI_OK;
    }
    void *args = calloc(1, command->args_size);
    if (!args)
        return cli_error("out of memory");
    opt_outcome outcome = opt_parse(&command->options, argc, argv, args, &operand_count);
    int code = outcome == OPT_REFUSED ? CLI_USAGE : CLI_OK;
    const cli_common *common = args;
    log_state.quiet = common->quiet;
    log_state.strict = common->strict;
    fields_begin(common->json ? FIELDS_JSON : common->quiet ? FIELDS_NONE : FIELDS_TEXT, running);
    if (outcome == OPT_RUN)
        code = standard_files_begin(&command->options, args, argv + 1, operand_count);
    if (outcome == OPT_RUN && code == CLI_OK)
        code = files_check(&command->options, args, argv + 1, operand_count);
    if (outcome == OPT_RUN && code == CLI_OK)
        code = command->run ? command->run(args, argv + 1, operand_count)
                            : run_on_context(command, args, argv + 1, operand_count);
    code = standard_files_end(code);
    free(args);
    return code;
}

static int run_program(int argc, char **argv)
{
    const opt_command *tables[MAX_COMMANDS + 1] = {0}, *program = cli_this_program.options;
    cli_program_args args = {0};
    uint32_t operand_count;

    for (size_t i = 0; i < MAX_COMMANDS && cli_this_program.commands[i]; i++)
        tables[i] = &cli_this_program.commands[i]->options;
    opt_outcome outcome = opt_parse(program, argc, argv, &args, &operand_count);
    if (outcome == OPT_REFUSED)
        return CLI_USAGE;
    if (args.version)
        printf("%s %d.%d.%d\n", cli_this_program.name, TML_VERSION_MAJOR, TML_VERSION_MINOR,
               TML_VERSION_PATCH);
    if (operand_count && !args.man)
        return cli_usage("unexpected argument \"%s\"", argv[1]);
    const cli_command *command = operand_count ? find_command(argv[1]) : NULL;
    if (operand_count && !command)
        return CLI_USAGE;
    if (args.man)
        opt_print_man(program, tables, command ? &command->options : NULL, stdout);
    if (args.completion)
        opt_print_completion(program, tables, args.completion, stdout);
    return CLI_OK;
}

static bool asks_help(const char *text)
{
    return strcmp(text, "help") == 0 || strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

int main(int argc, char **argv)
{
    system_begin(argc, argv);
    ranks_begin(&argc, &argv);
    fields_begin(asks_json(argc, argv) ? FIELDS_JSON : FIELDS_NONE, NULL);
    setlocale(LC_CTYPE, ""); /* whether the terminal shows UTF-8; numbers stay in the C locale */
    int code;
    if (argc < 2) {
        if (ranks_mine() == 0) {
            print_commands(stderr);
            fprintf(stderr, "\n%s: give a command, such as '%s %s --help'\n", cli_this_program.name,
                    cli_this_program.name, cli_this_program.commands[0]->options.name);
        }
        code = CLI_USAGE;
    } else if (asks_help(argv[1]) && argc > 2) {
        const cli_command *command = find_command(argv[2]);
        if (command)
            (strcmp(argv[1], "-h") ? opt_print_help : opt_print_short_help)(&command->options,
                                                                            stdout);
        code = command ? CLI_OK : CLI_USAGE;
    } else if (asks_help(argv[1])) {
        print_commands(stdout);
        code = CLI_OK;
    } else if (argv[1][0] == '-') {
        code = run_program(argc, argv);
    } else {
        const cli_command *command = find_command(argv[1]);
        code = command ? run_command(command, argc - 1, argv + 1) : CLI_USAGE;
    }
    /* A full disk or a closed pipe shows itself only here; or before, and is remembered. */
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (!is_written && code == CLI_OK)
        code = cli_error("cannot write the output: is the disk full?");
    code = ranks_end(code);
    fields_end(code, failure);
    is_written = fflush(stdout) == 0 && !ferror(stdout);
    return is_written || code != CLI_OK ? code : CLI_FAILED;
}
